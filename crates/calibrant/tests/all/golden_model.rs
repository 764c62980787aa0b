//! Model files of past format versions must still be read, and say what they said.
//!
//! The files under `testdata/models` are kept as they are. `CALIBRANT_REGENERATE=1` writes those of
//! the present version anew, which is right only before that version is released.

use crate::common;

use std::path::PathBuf;

use calibrant::Task;
use calibrant::decision::Certify;
use calibrant::jobs::{AskSets, PredictSettings, Predictor};
use calibrant::multiclass::{CodeDesign, CodeSettings};
use calibrant::pipeline::{
    Classifier, FORMAT_VERSION, FitSettings, HeldOutDocuments, Model, RecalibrateSettings,
    Recalibrator,
};
use calibrant::scorers::{AdaBoost, NaiveBayesKind, NearestNeighbours, Perceptron, Rocchio};
use calibrant::text::{Analyzer, Language, NgramRange};
use common::{
    bursty_documents, documents, fitted, fitted_beside, multi_label_documents, naive_bayes,
    with_classifier, with_side_columns,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Expected {
    classes: Vec<String>,
    answers: Vec<Answer>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    text: String,
    probabilities: Vec<f64>,
    /// What the model promises by the forecasts that it keeps; absent in models of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    promised: Option<Promised>,
}

/// The set of classes that holds the true one in four of five cases, and where classes exclude each other, what is answered if at most one
/// answer in five may be wrong.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Promised {
    set: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

const TEXTS: [&str; 6] = [
    "w1 w2 w3 w4 w5",
    "W7, w7; w8 and the w11!",
    "w0 w100 w200 w30 w31 w32 w33",
    "nothing that was heard before",
    "w12 w15 w18 w21 w24 w27 w30 w33 w36 w39",
    "",
];

fn path(name: &str, ending: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/models");
    PathBuf::from(folder).join(format!("{name}.{ending}"))
}

/// What the files were fitted with.
fn fit_anew(name: &str) -> Model {
    match name {
        "format-1" => {
            let settings = FitSettings {
                analyzer: Analyzer {
                    stemmer: Some(Language::English),
                    stop_words: Some(Language::English),
                    word_ngrams: NgramRange { min: 1, max: 2 },
                    ..Analyzer::default()
                },
                ..FitSettings::default()
            };
            fitted(&documents(150, 3, 150, 1), &settings)
        }
        "format-1-hashed" => {
            let settings = FitSettings {
                hash_bits: Some(8),
                ..with_classifier(naive_bayes(NaiveBayesKind::Multinomial))
            };
            fitted(&multi_label_documents(150, 3, 1), &settings)
        }
        "format-1-naive-bayes" => {
            let settings = with_classifier(naive_bayes(NaiveBayesKind::Bernoulli));
            fitted(&documents(150, 2, 100, 1), &settings)
        }
        "format-2-rocchio" => of_three(Classifier::Rocchio(Rocchio::default())),
        "format-2-neighbours" => {
            of_three(Classifier::NearestNeighbours(NearestNeighbours::default()))
        }
        "format-2-voted" => of_three(Classifier::Perceptron(Perceptron {
            voted: true,
            ..Perceptron::default()
        })),
        "format-2-adaboost" => of_three(Classifier::AdaBoost(AdaBoost {
            rounds: 20,
            ..AdaBoost::default()
        })),
        "format-2-code" => {
            let settings = FitSettings {
                code: Some(CodeSettings {
                    design: CodeDesign::RandomDense,
                    ..CodeSettings::default()
                }),
                ..FitSettings::default()
            };
            fitted(&documents(120, 4, 60, 1), &settings)
        }
        // All classes together, held where the examples end.
        "format-3-together" => fitted(&documents(300, 3, 60, 1), &FitSettings::default()),
        "format-3-second-pass" => {
            let settings = with_classifier(naive_bayes(NaiveBayesKind::Multinomial));
            fitted(&documents(600, 3, 60, 1), &settings)
        }
        // Terms that say less in long documents.
        "format-4-length" => {
            let settings = with_classifier(naive_bayes(NaiveBayesKind::Multinomial));
            let model = fitted(&bursty_documents(400, 3, 1), &settings);
            let scorer = model
                .as_single()
                .and_then(|single| single.scorer().as_linear());
            assert!(scorer.unwrap().damping().is_some());
            model
        }
        // Probabilities corrected by new labels.
        "format-4-recalibrated" => recalibrated(),
        // With tables of held-out forecasts, for sets and certified answers.
        "format-4-promises" => fitted(&documents(300, 3, 60, 1), &FitSettings::default()),
        "format-4-promises-labels" => {
            fitted(&multi_label_documents(300, 4, 1), &FitSettings::default())
        }
        // Each label's own curve, weighed with one for all.
        "format-3-labels" => fitted(&multi_label_documents(300, 6, 1), &FitSettings::default()),
        _ => {
            let settings = FitSettings {
                rules: Some("\"class 0\": w0 OR w3*\n\"class 1\": w1\n\"class 2\": w2".into()),
                ..FitSettings::default()
            };
            fitted_beside(&with_side_columns(&documents(120, 3, 60, 1)), &settings, 50)
        }
    }
}

fn recalibrated() -> Model {
    let model = fitted(&documents(200, 3, 60, 1), &FitSettings::default());
    let recalibrator = Recalibrator::new(model);
    let mut new = HeldOutDocuments::default();
    let mut others = documents(400, 3, 60, 2);
    others.retain(|document| document.labels != ["class 1"]);
    recalibrator.add(recalibrator.forecast(others), &mut new);
    let found = recalibrator.recalibrate(new, &RecalibrateSettings::default());
    found.unwrap().model
}

fn of_three(classifier: Classifier) -> Model {
    fitted(&documents(120, 3, 60, 1), &with_classifier(classifier))
}

fn probabilities(model: &Model, text: &str) -> Vec<f64> {
    model.predict(text).iter().map(|p| p.value()).collect()
}

fn promised(model: &Model, text: &str) -> Promised {
    let one_label = model.task() == Task::SingleLabel;
    let settings = PredictSettings {
        sets: Some(AskSets {
            coverage: 0.8,
            ..AskSets::default()
        }),
        max_error: one_label.then_some(Certify {
            max_error: 0.2,
            certainty: 0.9,
        }),
        ..PredictSettings::default()
    };
    let predictor = Predictor::with_settings(model, &settings).unwrap();
    let said = predictor.predict_text(text).unwrap();
    Promised {
        set: said
            .set
            .unwrap()
            .iter()
            .map(|class| class.to_string())
            .collect(),
        answer: said.decision.map(|decision| decision.action.into_owned()),
    }
}

fn regenerate(name: &str) {
    let model = fit_anew(name);
    model.save(&path(name, "calibrant")).unwrap();
    let answers = TEXTS.iter().map(|text| Answer {
        text: (*text).to_owned(),
        probabilities: probabilities(&model, text),
        promised: name.contains("promises").then(|| promised(&model, text)),
    });
    let expected = Expected {
        classes: model.class_names().map(str::to_owned).collect(),
        answers: answers.collect(),
    };
    let json = serde_json::to_string_pretty(&expected).unwrap();
    std::fs::write(path(name, "json"), json + "\n").unwrap();
}

#[track_caller]
fn check(name: &str) {
    let present = name.starts_with(&format!("format-{FORMAT_VERSION}"));
    if present && std::env::var_os("CALIBRANT_REGENERATE").is_some_and(|wish| wish == "1") {
        regenerate(name);
    }
    let model = Model::open(&path(name, "calibrant")).unwrap();
    let expected = std::fs::read_to_string(path(name, "json")).unwrap();
    let expected: Expected = serde_json::from_str(&expected).unwrap();
    assert_eq!(model.class_names().collect::<Vec<_>>(), expected.classes);
    assert!(!expected.answers.is_empty());
    for answer in &expected.answers {
        let found = probabilities(&model, &answer.text);
        assert_eq!(found.len(), answer.probabilities.len());
        for (found, expected) in found.iter().zip(&answer.probabilities) {
            assert!(
                (found - expected).abs() < 1e-12,
                "{:?}: {found} {expected}",
                answer.text
            );
        }
        if let Some(expected) = &answer.promised {
            assert_eq!(promised(&model, &answer.text), *expected);
        }
    }
}

#[test]
fn a_model_of_format_1_says_what_it_said() {
    check("format-1");
}

#[test]
fn a_hashed_multi_label_model_of_format_1_says_what_it_said() {
    check("format-1-hashed");
}

#[test]
fn a_two_class_naive_bayes_model_of_format_1_says_what_it_said() {
    check("format-1-naive-bayes");
}

#[test]
fn models_of_every_scorer_of_format_2_say_what_they_said() {
    for name in [
        "format-2-rocchio",
        "format-2-neighbours",
        "format-2-voted",
        "format-2-adaboost",
        "format-2-code",
        "format-2-side-columns",
    ] {
        check(name);
    }
}

#[test]
fn models_of_format_3_say_what_they_said() {
    for name in [
        "format-3-together",
        "format-3-second-pass",
        "format-3-labels",
    ] {
        check(name);
    }
}

#[test]
fn a_model_of_format_4_says_what_it_said() {
    check("format-4-length");
    check("format-4-recalibrated");
    let model = Model::open(&path("format-4-recalibrated", "calibrant")).unwrap();
    assert_eq!(model.recalibration().unwrap().times, 1);
}

#[test]
fn models_of_format_4_keep_their_promises() {
    for (name, answers) in [
        ("format-4-promises", true),
        ("format-4-promises-labels", false),
    ] {
        check(name);
        let bytes = std::fs::read(path(name, "calibrant")).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        assert!(tensors.tensor("promises").is_ok(), "{name}");
        let expected = std::fs::read_to_string(path(name, "json")).unwrap();
        let expected: Expected = serde_json::from_str(&expected).unwrap();
        let promised = expected
            .answers
            .iter()
            .map(|answer| answer.promised.as_ref().unwrap());
        let promised: Vec<&Promised> = promised.collect();
        assert!(promised.iter().all(|said| said.answer.is_some() == answers));
        // Neither all sets nor all answers are alike: a table that is not read would be noticed.
        let differ =
            |of: fn(&Promised) -> String| promised.iter().any(|said| of(said) != of(promised[0]));
        assert!(differ(|said| said.set.join(",")));
        assert!(!answers || differ(|said| said.answer.clone().unwrap_or_default()));
    }
}
