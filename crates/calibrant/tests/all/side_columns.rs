//! Promises of models with columns beside the text, and of rules.

use crate::common;

use calibrant::corpus::Document;
use calibrant::pipeline::{Classifier, CountedBatch, FitSettings, Model, TrainingCorpus, fit};
use calibrant::scorers::LogisticRegression;
use calibrant::{FitError, NoProgress};
use common::{documents, fitted_beside, with_side_columns};

fn logistic() -> FitSettings {
    FitSettings {
        classifier: Classifier::LogisticRegression(LogisticRegression::default()),
        rules: Some("\"class 0\": w0 OR w3\n\"class 1\": \"w1 w4\"".into()),
        ..FitSettings::default()
    }
}

#[test]
fn equal_documents_give_equal_bytes_in_any_order_and_batches() {
    let beside = with_side_columns(&documents(60, 3, 12, 5));
    let whole = fitted_beside(&beside, &logistic(), 60).to_bytes().unwrap();
    let mut turned: Vec<Document> = beside.clone();
    turned.reverse();
    assert!(fitted_beside(&turned, &logistic(), 7).to_bytes().unwrap() == whole);
}

#[test]
fn saved_models_answer_as_before() {
    let beside = with_side_columns(&documents(60, 3, 12, 5));
    let model = fitted_beside(&beside, &logistic(), 60);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    model.save(&path).unwrap();
    let again = Model::open(&path).unwrap();
    for document in &beside {
        for class in 0..3 {
            let (before, after) = (
                model.explain(&document.content, class),
                again.explain(&document.content, class),
            );
            assert_eq!(before, after);
            let parts: f64 = after.terms.iter().map(|term| term.log_odds).sum();
            let sum = after.base_log_odds + parts;
            assert!((sum - after.calibrated_log_odds).abs() < 1e-9);
            assert!(after.terms.iter().all(|term| !term.term.is_empty()));
        }
    }
}

#[test]
fn numbers_and_values_are_named_in_explanations() {
    let beside = with_side_columns(&documents(60, 2, 12, 5));
    let model = fitted_beside(&beside, &logistic(), 60);
    let explained = model.explain(&beside[1].content, 0);
    let has = |name: &str| explained.terms.iter().any(|term| term.term == name);
    assert!(
        has("size=1.25") && has("less=-1.25") && has("kind=kind 1"),
        "{explained:?}"
    );
    let explained = model.explain(&beside[0].content, 0);
    let has = |name: &str| explained.terms.iter().any(|term| term.term == name);
    assert!(
        has("less is missing") && has("kind is missing"),
        "{explained:?}"
    );
}

#[test]
fn documents_counted_without_the_rules_are_refused() {
    let settings = logistic();
    let without = FitSettings {
        rules: None,
        ..settings.clone()
    };
    let counter = calibrant::pipeline::DocumentCounter::new(&without).unwrap();
    let mut corpus = TrainingCorpus::new(settings.column_space());
    let batch: CountedBatch = counter.count(documents(30, 2, 8, 1));
    corpus.add(batch);
    let error = fit(corpus, Default::default(), &settings, &NoProgress).unwrap_err();
    assert!(
        matches!(
            error,
            FitError::BadSetting {
                setting: "the documents",
                ..
            }
        ),
        "{error}"
    );
}
