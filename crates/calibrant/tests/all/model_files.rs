//! Model files that were cut, changed or forged: an error, or a model that works. Never a panic.

use crate::common;

use std::path::PathBuf;

use calibrant::calibration::MulticlassKind;
use calibrant::corpus::{Content, Document, Record};
use calibrant::multiclass::{CodeDesign, CodeSettings, Decode};
use calibrant::pipeline::{Acquaintance, Classifier, FORMAT_VERSION, FitSettings, Model};
use calibrant::saved::{SavedFileError, SavedProblem};
use calibrant::scorers::{
    BoostingKind, NaiveBayesKind, NearestNeighbours, Perceptron, Rocchio, Rules,
};
use common::forged::Parts;
use common::{
    adaboost, check_probabilities, combined, documents, fitted, fitted_beside,
    multi_label_documents, naive_bayes, with_classifier, with_side_columns,
};
use proptest::prelude::*;
use safetensors::tensor::Dtype;
use serde_json::{Value, json};

/// A file that is written again for every try.
struct Scratch {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        Self {
            _folder: folder,
            path,
        }
    }

    fn open(&self, bytes: &[u8]) -> Result<Model, SavedFileError> {
        std::fs::write(&self.path, bytes).unwrap();
        Model::open(&self.path)
    }
}

/// Small models of every shape: one output and several, `f32` and `f64`, hashed, multi-label, every
/// calibrator of classes together, output codes with one base and with several.
fn models() -> Vec<Vec<u8>> {
    use MulticlassKind::{Coupling, Dirichlet, Temperature, Vector};
    let bayes = with_classifier(naive_bayes(NaiveBayesKind::Multinomial));
    let boosted = with_classifier(adaboost(BoostingKind::Real));
    let hashed = FitSettings {
        hash_bits: Some(4),
        ..FitSettings::default()
    };
    let together = |multiclass| FitSettings {
        multiclass,
        ..FitSettings::default()
    };
    let coded = |design, decode, settings: &FitSettings| FitSettings {
        code: Some(CodeSettings {
            design,
            decode,
            ..CodeSettings::default()
        }),
        ..settings.clone()
    };
    let plain = FitSettings::default();
    let centres = with_classifier(Classifier::Rocchio(Rocchio::default()));
    let neighbours = with_classifier(Classifier::NearestNeighbours(NearestNeighbours::default()));
    let voted = with_classifier(Classifier::Perceptron(Perceptron {
        voted: true,
        ..Perceptron::default()
    }));
    let dense = coded(CodeDesign::RandomDense, Decode::LeastSquares, &plain);
    let pairs = coded(CodeDesign::AllPairs, Decode::Margin, &bayes);
    let several = coded(CodeDesign::OneVsAll, Decode::Margin, &centres);
    let with_rules = |classifier| FitSettings {
        rules: Some("\"class 0\": w0 OR w3*\n\"class 1\": w1 AND NOT w2\n\"class 2\": w2".into()),
        classifier,
        ..FitSettings::default()
    };
    let beside = with_side_columns(&documents(30, 3, 8, 1));
    vec![
        fitted(&documents(40, 4, 8, 1), &dense).to_bytes().unwrap(),
        fitted(&documents(40, 4, 8, 1), &pairs).to_bytes().unwrap(),
        fitted(&documents(40, 4, 8, 1), &several)
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 2, 8, 1), &FitSettings::default())
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 3, 8, 1), &FitSettings::default())
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 3, 8, 1), &bayes).to_bytes().unwrap(),
        fitted(&documents(30, 2, 8, 1), &bayes).to_bytes().unwrap(),
        fitted(&documents(30, 3, 8, 1), &hashed).to_bytes().unwrap(),
        fitted(&multi_label_documents(30, 2, 1), &bayes)
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 2, 8, 1), &together(Temperature))
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 3, 8, 1), &together(Vector))
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 3, 8, 1), &together(Dirichlet))
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 3, 8, 1), &together(Coupling))
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 2, 8, 1), &boosted)
            .to_bytes()
            .unwrap(),
        fitted(&multi_label_documents(30, 3, 1), &boosted)
            .to_bytes()
            .unwrap(),
        fitted_beside(&beside, &with_rules(Classifier::default()), 30)
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 3, 8, 1), &with_rules(Rules {}.into()))
            .to_bytes()
            .unwrap(),
        both(&documents(60, 3, 8, 1), &[&plain, &bayes])
            .to_bytes()
            .unwrap(),
        both(&documents(60, 2, 8, 1), &[&hashed, &together(Temperature)])
            .to_bytes()
            .unwrap(),
        both(&multi_label_documents(60, 3, 1), &[&plain, &boosted])
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 2, 8, 1), &neighbours)
            .to_bytes()
            .unwrap(),
        fitted(&multi_label_documents(30, 3, 1), &neighbours)
            .to_bytes()
            .unwrap(),
        fitted(&documents(30, 3, 8, 1), &voted).to_bytes().unwrap(),
    ]
}

/// Two models of the first half of the documents, combined by the second.
fn both(documents: &[Document], settings: &[&FitSettings; 2]) -> Model {
    let (training, held_out) = documents.split_at(documents.len() / 2);
    let models = settings.map(|settings| fitted(training, settings));
    combined(models.into(), held_out).unwrap()
}

#[test]
fn every_changed_bit_is_noticed() {
    let scratch = Scratch::new();
    for bytes in [&models()[3], &models()[5]] {
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << (place % 8);
            assert!(scratch.open(&damaged).is_err(), "byte {place} was changed");
        }
    }
}

#[test]
fn every_cut_is_noticed() {
    let scratch = Scratch::new();
    let bytes = &models()[3];
    for length in 0..bytes.len() {
        assert!(scratch.open(&bytes[..length]).is_err(), "{length} bytes");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(scratch.open(&longer).is_err());
}

/// Uses everything a model offers.
fn use_model(model: &Model) {
    for text in ["w1 w2 w3 w3", "", "unheard of"] {
        check_probabilities(model, text);
        for class in 0..model.class_count() {
            let _ = model.explain(&Content::Text(text.to_owned()), class);
        }
    }
    let mut classes = model.predict("");
    let features = Content::Features(vec![(1, f32::NAN), (2, f32::INFINITY), (u32::MAX, -1.0)]);
    let record = Content::Record(Box::new(Record {
        text: Some("w1 w3".into()),
        numbers: vec![Some(f64::MAX), Some(f64::NAN), Some(1.0)],
        categories: vec![Some("kind 1".into()), None],
        vectors: vec![Some(vec![f32::NAN, 1.0]), None],
        asked: vec!["w2".into()],
    }));
    for content in [features, record] {
        model.predict_into(&content, &mut Default::default(), &mut classes);
        assert!(classes.iter().all(|p| p.value() > 0.0 && p.value() < 1.0));
    }
    let mut known = Acquaintance::default();
    model.count_known(
        &Content::Text("w1".into()),
        &mut Default::default(),
        &mut known,
    );
    assert_eq!(known.documents, 1);
    assert!(!model.to_bytes().unwrap().is_empty());
}

#[test]
fn the_helper_puts_models_together_again() {
    let scratch = Scratch::new();
    for bytes in models() {
        let model = scratch.open(&Parts::of(&bytes).file().unwrap()).unwrap();
        assert_eq!(model.to_bytes().unwrap(), bytes);
        use_model(&model);
    }
}

#[test]
fn later_and_impossible_versions_are_told_apart_from_damage() {
    let scratch = Scratch::new();
    for version in [0, FORMAT_VERSION + 1, u32::MAX] {
        let mut parts = Parts::of(&models()[0]);
        parts.version = version;
        let outcome = scratch.open(&parts.file().unwrap());
        assert!(
            matches!(outcome.unwrap_err().problem, SavedProblem::UnknownVersion { found, .. } if found == version)
        );
    }
}

#[test]
fn any_filter_of_training_documents_or_none_gives_a_model() {
    let scratch = Scratch::new();
    for bytes in models() {
        let whole = Parts::of(&bytes);
        for name in whole
            .tensors
            .keys()
            .filter(|name| name.ends_with("training_keys"))
        {
            for data in [
                vec![],
                vec![1],
                vec![1, 255, 63, 0, 0, 0, 0, 0, 7],
                vec![255; 40],
            ] {
                let mut forged = whole.clone();
                forged
                    .tensors
                    .insert(name.clone(), (Dtype::U8, vec![data.len()], data));
                use_model(&scratch.open(&forged.file().unwrap()).unwrap());
            }
            let mut without = whole.clone();
            without.tensors.remove(name);
            use_model(&scratch.open(&without.file().unwrap()).unwrap());
        }
    }
}

#[test]
fn forged_shapes_give_an_error() {
    let scratch = Scratch::new();
    for bytes in models() {
        let whole = Parts::of(&bytes);
        // The filter of training documents and what promises rest on are a help and no part of the model.
        let helps = |name: &String| {
            ["training_keys", "promises"]
                .iter()
                .any(|end| name.ends_with(end))
                || name.contains("recalibration_keys")
        };
        for name in whole.tensors.keys().filter(|name| !helps(name)) {
            let mut forged = whole.clone();
            forged.tensors.remove(name);
            assert!(
                scratch.open(&forged.file().unwrap()).is_err(),
                "without {name}"
            );

            let mut forged = whole.clone();
            let (dtype, shape, data) = forged.tensors.get_mut(name).unwrap();
            *dtype = Dtype::U8;
            *shape = vec![data.len(), 1, 1];
            assert!(
                scratch.open(&forged.file().unwrap()).is_err(),
                "{name} as cube"
            );

            let mut forged = whole.clone();
            let (_, shape, data) = forged.tensors.get_mut(name).unwrap();
            if data.is_empty() {
                continue;
            }
            let width = data.len() / shape.iter().product::<usize>();
            data.truncate(data.len() - width * shape[1..].iter().product::<usize>());
            shape[0] -= 1;
            assert!(
                scratch.open(&forged.file().unwrap()).is_err(),
                "{name} shorter"
            );
        }
    }
}

#[test]
fn forged_descriptions_give_an_error_or_a_working_model() {
    let scratch = Scratch::new();
    let changes: [(&str, Value); 46] = [
        ("/scorer/features", json!(u64::MAX)),
        ("/scorer/features", json!(0)),
        ("/scorer/link", json!("independent")),
        ("/scorer/link", json!("mirror")),
        ("/scorer/link", json!("against_rest")),
        ("/summary/task", json!("single_label")),
        ("/summary/task", json!("multi_label")),
        ("/summary/classes", json!([])),
        ("/calibrators", json!([])),
        (
            "/calibrators/0",
            json!({"kind": "platt", "slope": 1e308, "intercept": -1e308}),
        ),
        ("/document_count", json!(0)),
        ("/document_count", json!(u64::MAX)),
        ("/total_length", json!(-1e300)),
        ("/settings/hash_bits", json!(28)),
        ("/settings/hash_bits", json!(4)),
        ("/settings/hash_bits", Value::Null),
        ("/settings/hash_bits", json!(u32::MAX)),
        ("/settings/weighting", Value::Null),
        (
            "/settings/weighting/weighting",
            json!({"kind": "bm25", "k1": 1e308, "b": 1.0}),
        ),
        (
            "/settings/weighting/weighting",
            json!({"kind": "bm25", "k1": -1.0, "b": 7.0}),
        ),
        ("/settings/weighting/weighting", json!({"kind": "tf_idf"})),
        (
            "/settings/analyzer/char_ngrams",
            json!({"min": 1, "max": 1_000_000_000}),
        ),
        (
            "/settings/analyzer/word_ngrams",
            json!({"min": 0, "max": 0}),
        ),
        ("/settings/rules", Value::Null),
        ("/settings/rules", json!("a: b")),
        ("/settings/rules", json!("(".repeat(100_000))),
        ("/settings/classifier", json!({"learner": "rules"})),
        ("/side", Value::Null),
        ("/side/rules", json!([])),
        ("/side/factor", json!(-1.0)),
        ("/side/numeric/0/deviation", json!(0.0)),
        ("/side/numeric/0/deviation", json!(5e-324)),
        ("/side/numeric/0/mean", json!(1e308)),
        ("/side/numeric/1/missing", json!(false)),
        ("/side/categorical/0/values", json!(["z", "a", "a"])),
        ("/fields/numeric", json!([])),
        ("/settings/analyzer/min_token_chars", json!(u64::MAX)),
        ("/pool/weights", json!([])),
        ("/pool/weights", json!([1e300, 1.0])),
        ("/pool/weights/0", json!(-1.0)),
        ("/pool/weights/0", json!(1e9)),
        ("/pool/intercepts", json!([0.0])),
        ("/pool/intercepts/0", json!(-1e9)),
        ("/members", json!([])),
        ("/members/0/model/summary/classes/0/label", json!("another")),
        ("/members/1/model/summary/task", json!("multi_label")),
    ];
    for bytes in models() {
        let whole = Parts::of(&bytes);
        for (place, value) in &changes {
            let mut forged = whole.clone();
            let Some(target) = forged.description.pointer_mut(place) else {
                continue;
            };
            *target = value.clone();
            if let Ok(model) = scratch.open(&forged.file().unwrap()) {
                use_model(&model);
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Forgery {
    /// Sets bytes of a tensor.
    Bytes(prop::sample::Index, prop::sample::Index, Vec<u8>),
    /// Gives a tensor another first dimension, filled with zeros or cut.
    Resize(prop::sample::Index, usize),
    /// Replaces one number, word or list of the description.
    Replace(prop::sample::Index, Value),
    /// Leaves out one entry of the description.
    Remove(prop::sample::Index),
}

fn forgery() -> impl Strategy<Value = Forgery> {
    let index = any::<prop::sample::Index>;
    let value = prop_oneof![
        Just(json!(null)),
        Just(json!([])),
        Just(json!({})),
        Just(json!(true)),
        any::<u64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|x| json!(x)),
        (0u64..9).prop_map(|n| json!(n)),
        prop::sample::select(vec![
            "mirror",
            "independent",
            "against_rest",
            "multi_label",
            "single_label",
            "platt",
            "tf"
        ])
        .prop_map(|word| json!(word)),
    ];
    prop_oneof![
        (index(), index(), prop::collection::vec(any::<u8>(), 1..9))
            .prop_map(|(tensor, place, bytes)| Forgery::Bytes(tensor, place, bytes)),
        (index(), 0usize..40).prop_map(|(tensor, length)| Forgery::Resize(tensor, length)),
        (index(), value).prop_map(|(place, value)| Forgery::Replace(place, value)),
        index().prop_map(Forgery::Remove),
    ]
}

/// Every place of the description below `here`, as a JSON pointer.
fn places(here: &Value, path: String, into: &mut Vec<String>) {
    match here {
        Value::Object(map) => {
            for (name, value) in map {
                places(value, format!("{path}/{name}"), into);
            }
        }
        Value::Array(list) => {
            for (number, value) in list.iter().enumerate() {
                places(value, format!("{path}/{number}"), into);
            }
        }
        _ => {}
    }
    into.push(path);
}

fn forge(parts: &mut Parts, forgery: &Forgery) {
    let names: Vec<String> = parts.tensors.keys().cloned().collect();
    let mut all = Vec::new();
    places(&parts.description, String::new(), &mut all);
    match forgery {
        Forgery::Bytes(tensor, place, bytes) => {
            let (_, _, data) = parts.tensors.get_mut(tensor.get(&names)).unwrap();
            for (number, byte) in bytes.iter().enumerate() {
                if !data.is_empty() {
                    let place = (place.index(data.len()) + number) % data.len();
                    data[place] = *byte;
                }
            }
        }
        Forgery::Resize(tensor, length) => {
            let (dtype, shape, data) = parts.tensors.get_mut(tensor.get(&names)).unwrap();
            shape[0] = *length;
            data.resize(shape.iter().product::<usize>() * dtype.bitsize() / 8, 0);
        }
        Forgery::Replace(place, value) => {
            *parts
                .description
                .pointer_mut(&all[place.index(all.len())])
                .unwrap() = value.clone();
        }
        Forgery::Remove(place) => {
            let (parent, name) = place.get(&all).rsplit_once('/').unwrap_or_default();
            match parts.description.pointer_mut(parent) {
                Some(Value::Object(map)) => drop(map.remove(name)),
                Some(Value::Array(list)) => {
                    let number = name.parse::<usize>().unwrap_or_default();
                    drop(list.drain(number.min(list.len())..(number + 1).min(list.len())));
                }
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn forged_files_give_an_error_or_a_working_model(
        which in any::<prop::sample::Index>(),
        forgeries in prop::collection::vec(forgery(), 1..4),
    ) {
        thread_local! {
            static MODELS: Vec<Parts> = models().iter().map(|bytes| Parts::of(bytes)).collect();
        }
        let mut parts = MODELS.with(|models| which.get(models).clone());
        forgeries.iter().for_each(|forgery| forge(&mut parts, forgery));
        if let Some(Ok(model)) = parts.file().map(|bytes| Scratch::new().open(&bytes)) {
            use_model(&model);
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_model(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Scratch::new().open(&bytes).is_err());
    }

    #[test]
    fn arbitrary_headers_are_no_model(header in "\\PC{0,200}", rest in prop::collection::vec(any::<u8>(), 0..50)) {
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &rest].concat();
        prop_assert!(Scratch::new().open(&bytes).is_err());
    }
}
