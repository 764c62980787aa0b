use std::io::Write;
use std::path::Path;

use super::*;
use crate::NoProgress;
use crate::corpus::Document;
use crate::evaluation::{CompareSettings, evaluate};
use crate::jobs::testing::{file_of, model_of, three_classes};
use crate::jobs::{
    AdaptPrior, System, SystemError, SystemSettings, TableError, ask_systems, compare_systems,
};

/// A model of most of the documents, and the others, one of which has a label that the model does not know.
fn model_and_test() -> (Model, Vec<Document>) {
    let mut documents = three_classes();
    let mut test = documents.split_off(40);
    let model = model_of(&documents);
    test[3] = Document::new("snow and ice").label("winter").id("w");
    (model, test)
}

fn source(file: &tempfile::NamedTempFile) -> Source {
    Source::Path(file.path().to_owned())
}

fn measured<'m>(
    model: &'m Model,
    test: &[Document],
    settings: &EvaluateSettings,
) -> Result<Evaluated<'m>, EvaluateError> {
    let file = file_of(test);
    let options = ReadOptions::default();
    evaluate_source(model, &source(&file), &options, settings, &NoProgress)
}

/// The model's predictions as a file.
fn predictions(
    model: &Model,
    test: &[Document],
    folder: &Path,
    ending: &str,
) -> std::path::PathBuf {
    let path = folder.join(format!("said.{ending}"));
    let mut out = std::fs::File::create(&path).unwrap();
    let (said, _) = Predictor::new(model).predict_batch(test).unwrap();
    if ending == "csv" {
        writeln!(out, "id,food,sport,weather").unwrap();
    }
    for prediction in &said {
        if ending == "csv" {
            let crate::jobs::DocumentKey::Id(id) = prediction.key.clone().unwrap() else {
                panic!("the documents have identifiers");
            };
            let of = |class| prediction.of_class(class).unwrap().probability;
            let (food, sport, weather) = (of("food"), of("sport"), of("weather"));
            writeln!(out, "{id},{food},{sport},{weather}").unwrap();
        } else {
            writeln!(out, "{}", serde_json::to_string(prediction).unwrap()).unwrap();
        }
    }
    path
}

#[test]
fn a_source_is_measured_as_its_documents_are() {
    let (model, test) = model_and_test();
    let found = measured(&model, &test, &EvaluateSettings::default()).unwrap();
    let by_hand = model.forecast_documents(&test);
    assert_eq!(by_hand.forecasts.labels.len(), test.len() - 1);
    let plain = evaluate(&by_hand.forecasts).unwrap();
    assert_eq!(found.report.evaluation.log_loss, plain.log_loss);
    assert_eq!(found.report.documents_left_out, 1);
    assert_eq!(found.report.unknown_labels["winter"], 1);
    // By hand: the mean of -ln P(label).
    let classes: Vec<&str> = model.class_names().collect();
    let mut sum = 0.0;
    for document in test.iter().filter(|d| d.labels[0] != "winter") {
        let class = classes.iter().position(|name| *name == document.labels[0]);
        sum -= model.predict(document)[class.unwrap()].ln();
    }
    let mean = sum / (test.len() - 1) as f64;
    assert!(
        (plain.log_loss - mean).abs() < 1e-12,
        "{} {mean}",
        plain.log_loss
    );
    let json = serde_json::to_value(&found.report).unwrap();
    for key in [
        "log_loss",
        "unknown_labels",
        "documents_left_out",
        "bad_rows",
        "copies",
        "learned_from",
        "ledger",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
}

#[test]
fn shares_costs_scores_and_other_are_as_asked() {
    let (model, test) = model_and_test();
    let settings = EvaluateSettings {
        prior: PriorChoice::Estimated(AdaptPrior::Always),
        costs: vec![CostEntry::new("*", "ask", 0.3)],
        bootstrap: Some(0),
        shown_scores: 2,
        ..EvaluateSettings::default()
    };
    let found = measured(&model, &test, &settings).unwrap();
    let further = found.report.evaluation.further.as_ref().unwrap();
    assert!(found.report.prior.is_some() && further.costs.is_some());
    assert_eq!(found.scores.len(), 2);
    assert!(
        found
            .scores
            .iter()
            .all(|shown| shown.examples.len() == test.len() - 1)
    );
    let settings = EvaluateSettings {
        other: Some(OtherRule::Loss(0.1)),
        ..EvaluateSettings::default()
    };
    let found = measured(&model, &test, &settings).unwrap();
    let other = found.report.other.unwrap();
    assert_eq!((other.known, other.unknown), (test.len() - 1, 1));
    for (settings, expected) in [
        (
            EvaluateSettings {
                classes: vec!["food".into()],
                ..EvaluateSettings::default()
            },
            "are exclusive",
        ),
        (
            EvaluateSettings {
                prior: PriorChoice::Given(vec![("food".into(), 0.5)]),
                other: Some(OtherRule::Balanced),
                ..EvaluateSettings::default()
            },
            "cannot be combined with",
        ),
    ] {
        let refused = Evaluator::new(&model, &settings).err().unwrap().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn a_table_of_a_models_predictions_is_as_good_as_the_model() {
    let (model, test) = model_and_test();
    let of_model = measured(&model, &test, &EvaluateSettings::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.calibrant");
    model.save(&saved).unwrap();
    let file = file_of(&test);
    for ending in ["csv", "jsonl"] {
        let table = predictions(&model, &test, folder.path(), ending);
        let systems = System::open(&[table, saved.clone()]).unwrap();
        assert_eq!(
            (systems[0].name.as_str(), systems[1].name.as_str()),
            ("said", "a")
        );
        let ask = |systems: &[System]| {
            let settings = SystemSettings::default();
            ask_systems(
                systems,
                &source(&file),
                &ReadOptions::default(),
                &settings,
                &NoProgress,
            )
        };
        let both = ask(&systems).unwrap();
        assert_eq!(both.left_out, 1);
        let report = compare_systems(&systems, both, &[], &CompareSettings::default()).unwrap();
        assert!(report.comparison.pairs[0].log_loss.difference.abs() < 1e-12);
        let alone = ask(&systems[..1]);
        if ending == "csv" {
            // Alone, a table must have a column for every label of the test set.
            assert!(matches!(
                alone,
                Err(SystemError::Table(TableError::NoColumns { .. }))
            ));
            continue;
        }
        let found = Evaluated::of_table(alone.unwrap(), &[], None)
            .unwrap()
            .report;
        let difference = found.evaluation.log_loss - of_model.report.evaluation.log_loss;
        assert!(difference.abs() < 1e-12);
    }
}

#[test]
fn what_is_wrong_with_a_table_is_said_with_its_file_and_counted_from_one() {
    let (_, test) = model_and_test();
    let file = file_of(&test[..2]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.csv");
    let ask = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let systems = System::open(std::slice::from_ref(&path)).unwrap();
        let settings = SystemSettings::default();
        ask_systems(
            &systems,
            &source(&file),
            &ReadOptions::default(),
            &settings,
            &NoProgress,
        )
        .unwrap_err()
    };
    let labels = (&test[0].labels[0], &test[1].labels[0]);
    let header = format!("{},{}\n", labels.0, labels.1);
    let sum = ask(&format!("{header}0.5,0.5\n0.79,0.79\n")).to_string();
    assert!(
        sum.contains("document 2 of") && sum.contains("wrong.csv") && sum.contains("1.58"),
        "{sum}"
    );
    let bad = ask(&format!("{header}0.5,0.5\nmany,0.5\n"));
    let SystemError::Table(TableError::NotAProbability { line, value, .. }) = bad else {
        panic!("{bad}");
    };
    assert_eq!((line, value.as_str()), (3, "many"));
    let few = ask(&format!("{header}0.5,0.5\n"));
    assert!(matches!(
        few,
        SystemError::Table(TableError::RowCount {
            rows: 1,
            documents: 2,
            ..
        })
    ));
}
