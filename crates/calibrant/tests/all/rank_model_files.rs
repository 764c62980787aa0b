//! Ranking models as files: what was saved comes back, and what was cut, changed or forged is an error.

use crate::common;

use std::collections::HashMap;

use calibrant::pipeline::Model;
use calibrant::ranking::learning::{
    FeatureSettings, QueryScale, RankLoss, RankModel, RankParameters,
};
use calibrant::saved::{SavedKind, SavedProblem};
use common::rankings::{fit, quick, table};
use safetensors::SafeTensors;
use serde_json::{Value, json};

#[test]
fn models_come_back_from_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let table = table(8, 15, 3);
    for loss in RankLoss::ALL {
        for (bins, scale) in [
            (0, QueryScale::AsGiven),
            (7, QueryScale::AsGiven),
            (0, QueryScale::Standard),
            (5, QueryScale::MinMax),
        ] {
            let settings = RankParameters {
                features: FeatureSettings { scale, bins },
                ..quick(loss)
            };
            let model = fit(&table, &settings);
            model.save(&path).unwrap();
            let opened = RankModel::open(&path).unwrap();
            assert_eq!(
                opened.scores(&table).unwrap(),
                model.scores(&table).unwrap()
            );
            assert_eq!(opened.to_bytes().unwrap(), model.to_bytes().unwrap());
            assert_eq!(opened.summary(), model.summary());
            assert!(matches!(
                Model::open(&path),
                Err(error) if error.found_kind() == Some(SavedKind::Ranking)
            ));
        }
    }
}

/// The file's description and arrays with a checksum that fits, whatever was done to them.
fn forged(bytes: &[u8], change: impl Fn(&mut Value), drop: Option<&str>, cut: usize) -> Vec<u8> {
    let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
    let envelope = &header.metadata().as_ref().unwrap()["calibrant"];
    let mut envelope: Value = serde_json::from_str(envelope).unwrap();
    change(&mut envelope["model"]);
    let json = envelope["model"].to_string();
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let mut names = tensors.names();
    names.sort_unstable();
    names.retain(|name| Some(*name) != drop);
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(&(envelope["version"].as_u64().unwrap() as u32).to_le_bytes());
    part(json.as_bytes());
    let mut views = Vec::new();
    for name in names {
        let view = tensors.tensor(name).unwrap();
        let size = view.dtype().bitsize() / 8;
        let kept = view.shape()[0].saturating_sub(if name == "weights" { cut } else { 0 });
        let data = &view.data()[..kept * size];
        part(name.as_bytes());
        part(data);
        views.push((
            name.to_owned(),
            safetensors::tensor::TensorView::new(view.dtype(), vec![kept], data).unwrap(),
        ));
    }
    let checksum = hasher.finalize().to_hex().to_string();
    let text = format!(
        r#"{{"version":{},"checksum":"{checksum}","model":{json}}}"#,
        envelope["version"]
    );
    safetensors::serialize(views, Some(HashMap::from([("calibrant".to_owned(), text)]))).unwrap()
}

#[test]
fn forged_files_are_errors_or_models_that_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let table = table(9, 10, 3);
    let features = FeatureSettings {
        bins: 4,
        ..FeatureSettings::default()
    };
    let bytes = fit(
        &table,
        &RankParameters {
            features,
            ..quick(RankLoss::Accuracy)
        },
    )
    .to_bytes()
    .unwrap();
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        RankModel::open(&path)
    };
    let untouched = open(&forged(&bytes, |_| (), None, 0)).unwrap();
    assert_eq!(untouched.scores(&table).unwrap().len(), table.row_count());
    let changes: [fn(&mut Value); 8] = [
        |model| model["ranking"]["summary"]["chosen"] = json!(99),
        |model| model["ranking"]["summary"]["trials"] = json!([]),
        |model| model["ranking"]["functions"] = json!(["1"]),
        |model| model["ranking"]["functions"] = json!(["1", "1", "1"]),
        |model| model["ranking"]["settings"]["loss"] = json!("map"),
        |model| model["ranking"]["settings"]["features"]["bins"] = json!(0),
        |model| model["ranking"]["settings"]["c"] = json!([]),
        |model| model["ranking"] = json!({}),
    ];
    for change in changes {
        assert!(matches!(
            open(&forged(&bytes, change, None, 0)),
            Err(error) if matches!(error.problem, SavedProblem::Damaged { .. })
        ));
    }
    for name in ["weights", "thresholds", "thresholds.ends", "standard"] {
        assert!(
            open(&forged(&bytes, |_| (), Some(name), 0)).is_err(),
            "{name}"
        );
    }
    assert!(open(&forged(&bytes, |_| (), None, 1)).is_err());
    for end in (0..bytes.len()).step_by(97) {
        assert!(open(&bytes[..end]).is_err());
        let mut flipped = bytes.clone();
        flipped[end] ^= 0x40;
        if let Ok(model) = open(&flipped) {
            assert!(
                model
                    .scores(&table)
                    .unwrap()
                    .iter()
                    .all(|score| score.is_finite())
            );
        }
    }
}
