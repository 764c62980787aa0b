//! Files of every other kind than a single model, as an earlier program wrote them: they still open, and say what they
//! said. (Single models: `golden_model.rs`.)
//!
//! `testdata/saved` is kept as it is. A NAME has the file (an index is a folder), what was asked (`NAME.input.*`) and what
//! the program of that time answered (`NAME.expected.jsonl`, its `--json`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use calibrant::Probability;
use calibrant::corpus::Source;
use calibrant::index::SearchIndex;
use calibrant::jobs::{Saved, open_any, open_any_bytes};
use calibrant::pipeline::{Model, ScoreCalibrator};
use calibrant::ranking::RankingTable;
use calibrant::ranking::learning::RankModel;
use calibrant::saved::{SavedKind, kind_of};
use serde_json::Value;

pub(crate) fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/saved")
        .join(name)
}

fn expected(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place(&format!("{name}.expected.jsonl"))).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!lines.is_empty());
    lines
}

/// The cells of a table behind its first column.
fn rows(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(place(&format!("{name}.input.csv"))).unwrap();
    let cells = |line: &str| line.split(',').skip(1).map(str::to_owned).collect();
    text.lines().skip(1).map(cells).collect()
}

#[track_caller]
fn close(found: f64, expected: &Value) {
    let expected = expected.as_f64().unwrap();
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
        "{found} instead of {expected}"
    );
}

/// The file by each way to open it, which must come to the same; and its bytes again when it is saved.
fn opened(name: &str, kind: SavedKind) -> [Saved; 2] {
    let path = place(&format!("{name}.calibrant"));
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(kind_of(&bytes), Some(kind));
    let both = [open_any(&path).unwrap(), open_any_bytes(&bytes).unwrap()];
    for saved in &both {
        assert_eq!(saved.kind(), kind);
        let again = match saved {
            Saved::Model(model) => model.to_bytes(),
            Saved::Ranking(model) => model.to_bytes(),
            Saved::Calibrator(calibrator) => calibrator.to_bytes(),
            Saved::Policy(policy) => policy.to_bytes(),
            _ => panic!("another kind"),
        };
        assert!(again.unwrap() == bytes, "{name} is saved otherwise");
    }
    both
}

fn check_classes(names: &[&str], probabilities: &[Probability], expected: &Value) {
    let by_name: BTreeMap<&str, &Value> = expected["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| (class["label"].as_str().unwrap(), class))
        .collect();
    assert_eq!(by_name.len(), names.len());
    for (name, probability) in names.iter().zip(probabilities) {
        close(probability.value(), &by_name[name]["probability"]);
        close(probability.log_odds(), &by_name[name]["log_odds"]);
    }
}

fn check_calibrator(calibrator: &ScoreCalibrator, name: &str) {
    let names: Vec<&str> = calibrator.outputs().iter().map(String::as_str).collect();
    let mut out = vec![Probability::from_log_odds(0.0); names.len()];
    let (rows, expected) = (rows(name), expected(name));
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        let scores: Vec<f64> = row.iter().map(|cell| cell.parse().unwrap()).collect();
        calibrator.probabilities_into(&scores, &mut Default::default(), &mut out);
        if calibrator.is_binary() {
            assert_eq!(expected["class"], names[0]);
            close(out[0].value(), &expected["probability"]);
            close(out[0].log_odds(), &expected["log_odds"]);
        } else {
            check_classes(&names, &out, expected);
        }
    }
}

#[test]
fn calibrators_say_what_they_said() {
    for name in ["calibrator-4-two-classes", "calibrator-4-three-classes"] {
        for saved in opened(name, SavedKind::Calibrator) {
            let Saved::Calibrator(calibrator) = saved else {
                panic!("{name}")
            };
            check_calibrator(&calibrator, name);
        }
        let path = place(&format!("{name}.calibrant"));
        check_calibrator(&ScoreCalibrator::open(&path).unwrap(), name);
    }
}

fn check_ranking(model: &RankModel, name: &str) {
    let table = RankingTable::read(&Source::Path(place(&format!("{name}.input.letor")))).unwrap();
    let scores = model.scores(&table).unwrap();
    let probabilities = model.probabilities(&table, &scores);
    let expected = expected(name);
    assert_eq!(expected.len(), table.row_count());
    for row in 0..table.row_count() {
        let document = table.document(row);
        let found = expected.iter().find(|line| line["document"] == *document);
        let line = found.unwrap();
        close(scores[row], &line["score"]);
        match &probabilities {
            Some(all) => close(all[row].value(), &line["probability"]),
            None => assert!(line.get("probability").is_none()),
        }
    }
}

#[test]
fn rankings_with_and_without_a_relevance_curve_say_what_they_said() {
    for (name, calibrated) in [("ranking-4-relevance", true), ("ranking-4-plain", false)] {
        for saved in opened(name, SavedKind::Ranking) {
            let Saved::Ranking(model) = saved else {
                panic!("{name}")
            };
            assert_eq!(model.relevance().is_some(), calibrated);
            check_ranking(&model, name);
        }
        let bytes = std::fs::read(place(&format!("{name}.calibrant"))).unwrap();
        check_ranking(&RankModel::from_bytes(&bytes).unwrap(), name);
    }
}

#[test]
fn a_combination_says_what_it_said() {
    let name = "combination-4";
    let check = |model: &Model| {
        assert!(model.as_combined().is_some());
        let names: Vec<&str> = model.class_names().collect();
        let (rows, expected) = (rows(name), expected(name));
        assert_eq!(rows.len(), expected.len());
        for (row, expected) in rows.iter().zip(&expected) {
            check_classes(&names, &model.predict(&row[0]), expected);
        }
    };
    for saved in opened(name, SavedKind::Combination) {
        let Saved::Model(model) = saved else {
            panic!("{name}")
        };
        check(&model);
    }
    let bytes = std::fs::read(place("combination-4.calibrant")).unwrap();
    check(&Model::from_bytes(&bytes).unwrap());
}

#[test]
fn an_index_finds_what_it_found() {
    let index = SearchIndex::open(&place("index-1")).unwrap();
    for line in expected("index-1") {
        let function = line["function"].as_str().unwrap().parse().unwrap();
        let query = line["query"].as_str().unwrap();
        let hits = index.search(query, &function, 10).unwrap();
        let expected = line["hits"].as_array().unwrap();
        assert_eq!(hits.len(), expected.len(), "{query}");
        for (hit, expected) in hits.iter().zip(expected) {
            assert_eq!(expected["id"], *hit.id);
            close(hit.score, &expected["score"]);
        }
    }
    let manifest = std::fs::read(place("index-1/calibrant-index.json")).unwrap();
    assert_eq!(kind_of(&manifest), Some(SavedKind::Index));
    let error = open_any(&place("index-1")).unwrap_err();
    assert_eq!(error.found_kind(), Some(SavedKind::Index));
    let error = Model::open(&place("index-1")).unwrap_err().to_string();
    assert!(
        error.ends_with("is an index, not a model of texts"),
        "{error}"
    );
}

#[test]
fn policies_of_the_first_version_still_decide_as_they_did() {
    for saved in opened("policy-1", SavedKind::Policy) {
        let Saved::Policy(policy) = saved else {
            panic!("another kind")
        };
        let in_use = policy.with_model(None).unwrap();
        for asked in expected("policy-1") {
            let confidence = asked["confidence"].as_f64().unwrap();
            let decision = in_use.decide("a", asked["label"].as_str().unwrap(), confidence);
            assert_eq!(decision, asked["decision"].as_str().unwrap());
        }
    }
}
