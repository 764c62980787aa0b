//! Bytes of every kind of saved file that were cut, changed or forged: a value that works or an error. Never a panic, a
//! hang, or more memory than the file warrants.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use calibrant::Probability;
use calibrant::corpus::Content;
use calibrant::jobs::{Saved, open_any_bytes};
use calibrant::pipeline::{Model, ScoreCalibrator};
use calibrant::ranking::learning::RankModel;
use calibrant::saved::{SavedKind, SavedProblem, kind_of};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::forged::{Parts, text_file};
use crate::common::memory::most_held;
use crate::common::rankings::table;

/// The bytes of every golden file.
fn files() -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut paths: Vec<PathBuf> = ["models", "saved"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "calibrant"))
        .collect();
    paths.sort();
    let named = paths.into_iter().map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read(path).unwrap())
    });
    named.collect()
}

/// Opens bytes in every way; whatever they give is used. Says whether they are something.
fn survives(bytes: &[u8]) -> bool {
    let begun = Instant::now();
    let (outcome, held) = most_held(|| {
        let _ = Model::from_bytes(bytes).is_ok();
        let _ = RankModel::from_bytes(bytes).is_ok();
        let _ = ScoreCalibrator::from_bytes(bytes).is_ok();
        open_any_bytes(bytes)
    });
    assert!(
        held < (64 << 20) + 64 * bytes.len(),
        "{held} bytes of memory for {} in the file",
        bytes.len()
    );
    let works = match outcome {
        Ok(saved) => {
            use_saved(&saved);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    };
    assert!(begun.elapsed() < Duration::from_secs(60));
    works
}

/// Asks for everything that a front end would.
fn use_saved(saved: &Saved) {
    match saved {
        Saved::Model(model) => {
            for text in ["w1 w2 w3 w3", "", "corn and oil"] {
                for probability in model.predict(text) {
                    assert!((0.0..=1.0).contains(&probability.value()));
                }
                for class in 0..model.class_count().min(4) {
                    let _ = model.explain(&Content::Text(text.to_owned()), class);
                }
            }
            let _ = model.to_bytes();
        }
        Saved::Ranking(model) => {
            let table = table(5, 3, 3);
            if let Ok(scores) = model.scores(&table) {
                let _ = model.probabilities(&table, &scores);
            }
            let _ = (model.curves(), model.to_bytes());
        }
        Saved::Calibrator(calibrator) => {
            let width = match calibrator.is_binary() {
                true => 1,
                false => calibrator.classes().len(),
            };
            let mut out = vec![Probability::from_log_odds(0.0); calibrator.outputs().len()];
            for score in [0.0, 0.3, 1.0, -7.5, 1e300, f64::NAN, f64::INFINITY] {
                let scores = vec![score; width];
                calibrator.probabilities_into(&scores, &mut Default::default(), &mut out);
                let _ = calibrator.interval(&scores);
            }
            let _ = (calibrator.priors(), calibrator.to_bytes());
        }
        Saved::Policy(policy) => {
            let in_use = policy.with_model(None).unwrap();
            for confidence in [0.0, 0.7, 1.0, f64::NAN, f64::INFINITY] {
                let _ = in_use.decide("a", "corn", confidence);
            }
            let _ = policy.to_bytes();
        }
        _ => panic!("another kind"),
    }
}

/// Kinds that are one JSON document.
fn is_text(bytes: &[u8]) -> Option<SavedKind> {
    kind_of(bytes).filter(|kind| [SavedKind::Calibrator, SavedKind::Policy].contains(kind))
}

#[test]
fn golden_files_of_every_kind_are_among_those_tried() {
    let found: Vec<SavedKind> = files()
        .iter()
        .filter_map(|(_, bytes)| kind_of(bytes))
        .collect();
    for kind in SavedKind::ALL {
        // The manifest of an index has a folder of its own.
        assert!(kind == SavedKind::Index || found.contains(&kind), "{kind}");
    }
    for (name, bytes) in files() {
        assert!(survives(&bytes), "{name}");
    }
}

#[test]
fn every_cut_is_noticed() {
    for (name, bytes) in files() {
        let step = (bytes.len() / 97).max(1);
        for length in (0..bytes.len() - 1).step_by(step) {
            assert!(!survives(&bytes[..length]), "{name} cut to {length}");
        }
    }
}

#[test]
fn lengths_of_headers_that_lie_are_noticed() {
    for (name, bytes) in files() {
        if is_text(&bytes).is_some() {
            continue;
        }
        let right = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        for lie in [
            0,
            1,
            right - 1,
            right + 1,
            bytes.len() as u64,
            100_000_000,
            u64::from(u32::MAX),
            1 << 62,
            u64::MAX - 7,
            u64::MAX,
        ] {
            let mut forged = bytes.clone();
            forged[..8].copy_from_slice(&lie.to_le_bytes());
            assert!(!survives(&forged), "{name} with {lie} for {right}");
        }
    }
}

/// A file of arrays around any header.
fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), data].concat()
}

#[test]
fn shapes_in_headers_that_lie_are_noticed() {
    let shapes = [
        json!([u64::MAX, u64::MAX]),
        json!([1u64 << 40]),
        json!([0, u64::MAX]),
        json!([-1]),
        json!([]),
    ];
    for shape in shapes {
        for offsets in [json!([0, 8]), json!([8, 0]), json!([0, u64::MAX])] {
            let header = json!({
                "__metadata__": {"calibrant": "{\"version\":4,\"checksum\":\"\",\"model\":{}}"},
                "weights": {"dtype": "F64", "shape": shape, "data_offsets": offsets},
            });
            assert!(!survives(&with_header(&header.to_string(), &[0; 8])));
        }
    }
    let deep = format!("{}1{}", "[".repeat(500_000), "]".repeat(500_000));
    assert!(!survives(&with_header(&deep, &[])));
    let envelope = json!({"__metadata__": {"calibrant": deep}});
    assert!(!survives(&with_header(&envelope.to_string(), &[])));
    assert!(!survives(&text_file("calibrator", 4, &deep)));
}

#[test]
fn what_is_asked_for_and_what_is_there_are_both_said() {
    for (name, bytes) in files() {
        let found = kind_of(&bytes).unwrap();
        let errors = [
            Model::from_bytes(&bytes).err(),
            RankModel::from_bytes(&bytes).err(),
            ScoreCalibrator::from_bytes(&bytes).err(),
        ];
        let wanted = [SavedKind::Model, SavedKind::Ranking, SavedKind::Calibrator];
        for (error, wanted) in errors.into_iter().zip(wanted) {
            match error {
                None => assert!(found.serves_as(wanted), "{name}"),
                Some(error) => {
                    assert_eq!(error.kind, Some(wanted), "{name}");
                    assert_eq!(error.found_kind(), Some(found), "{name}: {error}");
                }
            }
        }
    }
    let error = RankModel::open("there/is/none".as_ref()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no ranking model at `there/is/none`"
    );
}

#[test]
fn a_pipe_of_something_else_is_not_read_to_its_end() {
    if cfg!(target_os = "linux") {
        // Endless, and never like one of ours.
        let error = Model::open("/dev/zero".as_ref()).unwrap_err();
        assert!(matches!(error.problem, SavedProblem::Foreign { .. }));
    }
}

/// All places in a description.
fn places(value: &Value, here: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, format!("{here}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (number, value) in list.iter().enumerate() {
                places(value, format!("{here}/{number}"), found);
            }
        }
        _ => {}
    }
    found.push(here);
}

/// What may stand anywhere in a forged description.
fn hostile() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!("")),
        Just(json!(true)),
        Just(json!(u64::MAX)),
        Just(json!(i64::MIN)),
        Just(json!(1e308)),
        Just(json!(-1e308)),
        Just(json!(5e-324)),
        Just(json!([0, 0, 0])),
        (-3i64..40).prop_map(|number| json!(number)),
        (-2.0f64..2.0).prop_map(|number| json!(number)),
    ]
}

/// A file with something else at one place of its description, or in its arrays, and a checksum that fits.
fn forge(bytes: &[u8], place: usize, value: &Value, noise: &[(usize, u8)]) -> Option<Vec<u8>> {
    let replace = |description: &mut Value| {
        let mut found = Vec::new();
        places(description, String::new(), &mut found);
        let target = description.pointer_mut(&found[place % found.len()]);
        *target.unwrap() = value.clone();
    };
    if let Some(kind) = is_text(bytes) {
        let whole: Value = serde_json::from_slice(bytes).unwrap();
        let mut description = whole[kind.name()].clone();
        replace(&mut description);
        let (name, version) = (kind.name(), kind.version());
        return Some(text_file(name, version, &description.to_string()));
    }
    let mut parts = Parts::of(bytes);
    if noise.is_empty() {
        replace(&mut parts.description);
    }
    for &(at, byte) in noise {
        let count = parts.tensors.len();
        let (_, (_, _, data)) = parts.tensors.iter_mut().nth(at % count)?;
        let length = data.len();
        if length > 0 {
            data[at / count % length] = byte;
        }
    }
    parts.file()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_changed_byte_is_noticed(
        file in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let files = files();
        let (name, bytes) = &files[file.index(files.len())];
        // The last of a calibrator is a line break, which says nothing.
        let at = at.index(bytes.len() - 1);
        prop_assume!(bytes[at] != byte);
        let mut changed = bytes.clone();
        changed[at] = byte;
        prop_assert!(!survives(&changed), "{name}, byte {at}");
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(!survives(&bytes));
        prop_assert!(!survives(&with_header(&String::from_utf8_lossy(&bytes), b"data")));
    }

    #[test]
    fn forged_descriptions_give_a_value_or_an_error(
        file in any::<prop::sample::Index>(),
        place in any::<usize>(),
        value in hostile(),
    ) {
        let files = files();
        let (_, bytes) = &files[file.index(files.len())];
        if let Some(forged) = forge(bytes, place, &value, &[]) {
            survives(&forged);
        }
    }

    #[test]
    fn forged_arrays_give_a_value_or_an_error(
        file in any::<prop::sample::Index>(),
        noise in prop::collection::vec((any::<usize>(), prop_oneof![Just(0u8), Just(0xff), Just(0x7f), any::<u8>()]), 1..6),
    ) {
        let files = files();
        let (_, bytes) = &files[file.index(files.len())];
        if let Some(forged) = forge(bytes, 0, &Value::Null, &noise) {
            survives(&forged);
        }
    }

    #[test]
    fn descriptions_that_are_not_json_give_an_error(text in "\\PC{0,60}") {
        prop_assert!(!survives(&text_file("calibrator", 4, &text)));
        let (_, bytes) = &files()[0];
        if let Some(forged) = Parts::of(bytes).file_of(&text) {
            prop_assert!(!survives(&forged));
        }
    }
}
