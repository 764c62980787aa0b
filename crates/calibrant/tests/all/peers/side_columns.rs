//! Numbers and categories as features beside scikit-learn's StandardScaler, OneHotEncoder and
//! LogisticRegression.

use std::path::{Path, PathBuf};

use calibrant::NoProgress;
use calibrant::Probability;
use calibrant::corpus::{Document, Fields, ReadOptions, Source, field_names, read_all};
use calibrant::pipeline::{
    Classifier, ExtractorBuffers, FitSettings, Model, PredictBuffers, TrainingCorpus, fit,
};
use calibrant::scorers::LogisticRegression;
use serde_json::json;

use super::data::{check_near, numbers};
use super::python::ask;
use crate::common::data_file::data_file;

/// A table of the UCI repository.
fn table(name: &str) -> Option<PathBuf> {
    data_file(&format!("uci/{name}.csv.gz"))
}

fn documents(path: &Path, fields: &Fields) -> Vec<Document> {
    let options = ReadOptions {
        fields: fields.clone(),
        ..ReadOptions::default()
    };
    read_all(&Source::Path(path.to_owned()), &options, &NoProgress)
        .unwrap()
        .0
}

fn accuracy(model: &Model, documents: &[Document]) -> f64 {
    let names: Vec<&str> = model.class_names().collect();
    let mut buffers = PredictBuffers::default();
    let mut classes = vec![Probability::from_log_odds(0.0); names.len()];
    let right = documents.iter().filter(|document| {
        model.predict_into(&document.content, &mut buffers, &mut classes);
        let best = (0..names.len())
            .max_by(|&a, &b| classes[a].log_odds().total_cmp(&classes[b].log_odds()))
            .unwrap();
        document.labels == [names[best]]
    });
    right.count() as f64 / documents.len() as f64
}

/// Trains on one table and tests on another (or the same); the classes' accuracies may differ by
/// what calibration moves.
#[track_caller]
fn check(train: &str, test: &str, categorical: &[&str], tolerance: f64) {
    let (Some(train), Some(test)) = (table(train), table(test)) else {
        return;
    };
    let names = field_names(&Source::Path(train.clone()), &ReadOptions::default()).unwrap();
    let is_category = |name: &str| categorical.contains(&name);
    let fields = Fields {
        label: Some("class".into()),
        numeric: names
            .iter()
            .filter(|name| *name != "class" && !is_category(name))
            .cloned()
            .collect(),
        categorical: categorical.iter().map(|&name| name.to_owned()).collect(),
        ..Fields::default()
    };
    let c = 1.0;
    let settings = FitSettings {
        classifier: Classifier::LogisticRegression(LogisticRegression {
            c: Some(c),
            ..LogisticRegression::default()
        }),
        ..FitSettings::default()
    };
    let corpus = TrainingCorpus::of_documents(&settings, documents(&train, &fields)).unwrap();
    let model = fit(corpus, fields.clone(), &settings, &NoProgress).unwrap();
    let new = documents(&test, &fields);
    let question = json!({
        "train": train, "test": test, "numeric": fields.numeric,
        "categorical": fields.categorical, "c": c, "rows": 40,
        "columns": model.as_single().unwrap().extractor().side_columns().unwrap().column_names(),
    });
    let Some(answers) = ask("side_columns.py", &question) else {
        return;
    };
    let mut buffers = ExtractorBuffers::default();
    for (number, document) in new.iter().take(40).enumerate() {
        let theirs = numbers(&answers["rows"][number]);
        let mut ours = vec![0.0; theirs.len()];
        let row = model
            .as_single()
            .unwrap()
            .extractor()
            .row(&document.content, &mut buffers);
        row.entries()
            .for_each(|(column, value)| ours[column] = value);
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            check_near("a cell", ours, theirs, 1e-6, theirs.abs().max(1.0));
        }
    }
    let (ours, theirs) = (
        accuracy(&model, &new),
        answers["accuracy"].as_f64().unwrap(),
    );
    check_near("accuracy", ours, theirs, tolerance, 1.0);
}

#[test]
fn vehicles_are_told_apart_as_scikit_learn_does() {
    check("vehicle", "vehicle", &[], 0.02);
}

#[test]
fn pixels_are_told_apart_as_scikit_learn_does() {
    check("satimage-train", "satimage-test", &[], 0.02);
}

#[test]
fn shells_with_a_category_are_told_apart_as_scikit_learn_does() {
    check("abalone", "abalone", &["sex"], 0.02);
}
