//! What calibration does to every classifier on every corpus.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use calibrant::NoProgress;
use calibrant::calibration::CalibratorKind;
use calibrant::corpus::Document;
use calibrant::evaluation::{Evaluation, Forecasts, evaluate};
use calibrant::pipeline::{Classifier, FitSettings, Model, TrainingCorpus, fit};
use calibrant::scorers::{LinearSvm, LogisticRegression, NaiveBayes};

use crate::data::{CORPORA, Corpus};

#[derive(serde::Serialize)]
struct Outcome {
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    micro_f1: f64,
    macro_f1: f64,
    log_loss: f64,
    brier: f64,
    ece: f64,
    ece_of_perfect: f64,
    fit_seconds: f64,
}

type Outcomes = BTreeMap<&'static str, BTreeMap<&'static str, BTreeMap<&'static str, Outcome>>>;

pub(crate) fn run(data: &Path, json: bool) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut all: Outcomes = BTreeMap::new();
    if !json {
        writeln!(
            out,
            "{:<13} {:<20} {:<11} {:>8} {:>8} {:>9} {:>8} {:>8} {:>8}",
            "corpus",
            "classifier",
            "calibrator",
            "accuracy",
            "micro-F1",
            "log loss",
            "Brier",
            "ECE",
            "seconds"
        )?;
    }
    for corpus in CORPORA {
        let Some((training, test)) = corpus.read(data)? else {
            continue;
        };
        for (name, classifier) in [
            ("naive_bayes", Classifier::NaiveBayes(NaiveBayes::default())),
            (
                "logistic_regression",
                Classifier::LogisticRegression(LogisticRegression::default()),
            ),
            ("linear_svm", Classifier::LinearSvm(LinearSvm::default())),
        ] {
            for (calibration, kind) in [
                ("raw", CalibratorKind::None),
                ("auto", CalibratorKind::Auto),
            ] {
                let outcome = measure(corpus, classifier, kind, &training, &test)?;
                if !json {
                    writeln!(
                        out,
                        "{:<13} {:<20} {:<11} {:>8} {:>8.4} {:>9.4} {:>8.4} {:>8.4} {:>8.2}",
                        corpus.name,
                        name,
                        calibration,
                        outcome
                            .accuracy
                            .map(|accuracy| format!("{accuracy:.4}"))
                            .unwrap_or_default(),
                        outcome.micro_f1,
                        outcome.log_loss,
                        outcome.brier,
                        outcome.ece,
                        outcome.fit_seconds,
                    )?;
                }
                all.entry(corpus.name)
                    .or_default()
                    .entry(name)
                    .or_default()
                    .insert(calibration, outcome);
            }
        }
    }
    if json {
        serde_json::to_writer(&mut out, &all)?;
        writeln!(out)?;
    }
    Ok(())
}

fn measure(
    corpus: &Corpus,
    classifier: Classifier,
    calibrator: CalibratorKind,
    training: &[Document],
    test: &[Document],
) -> Result<Outcome, Box<dyn Error>> {
    let settings = FitSettings {
        classifier,
        calibrator,
        classes: corpus.classes(),
        ..FitSettings::default()
    };
    let start = Instant::now();
    let counted = TrainingCorpus::of_documents(&settings, training.to_vec())?;
    let model = fit(counted, corpus.fields(), &settings, &NoProgress)?;
    let fit_seconds = start.elapsed().as_secs_f64();
    let Evaluation {
        accuracy,
        micro_f1,
        macro_f1,
        log_loss,
        brier,
        ece,
        ece_of_perfect,
        ..
    } = evaluate(&forecasts(&model, test))?;
    Ok(Outcome {
        accuracy,
        micro_f1,
        macro_f1,
        log_loss,
        brier,
        ece,
        ece_of_perfect,
        fit_seconds,
    })
}

pub(crate) fn forecasts(model: &Model, test: &[Document]) -> Forecasts {
    // Weights of test documents have no part in these measures.
    Forecasts {
        weights: None,
        ..model.forecast_documents(test).forecasts
    }
}
