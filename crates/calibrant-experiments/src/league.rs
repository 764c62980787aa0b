//! Every calibrator on the scores of two classifiers over every corpus.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use calibrant::calibration::{Calibrator, CalibratorKind, PlattCalibrator, SavedCalibrator};
use calibrant::pipeline::{Classifier, FitSettings};
use calibrant::scorers::{LinearSvm, NaiveBayes};

use crate::data::{ALL_CORPORA, load};
use crate::known_truth::write_floats;
use crate::scored::{BinaryProblem, binary_problems};

#[derive(serde::Serialize)]
struct Cell {
    /// Nats per decision.
    log_loss: f64,
    brier: f64,
    fit_seconds: f64,
    predict_seconds: f64,
    /// What `auto` chose, and how often.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    chosen: BTreeMap<&'static str, usize>,
}

type Table = BTreeMap<String, BTreeMap<&'static str, BTreeMap<&'static str, Cell>>>;

/// Measures every calibrator; `export` is a folder for the scores, so that other programs can be measured on
/// the same ones.
pub(crate) fn run(data: &Path, json: bool, export: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut table = Table::new();
    for name in ALL_CORPORA {
        let divisions = load(name, data)?;
        if divisions.is_empty() {
            continue;
        }
        for (classifier, learner) in [
            ("naive_bayes", Classifier::NaiveBayes(NaiveBayes::default())),
            ("linear_svm", Classifier::LinearSvm(LinearSvm::default())),
        ] {
            let mut problems = Vec::new();
            for corpus in &divisions {
                let settings = FitSettings {
                    classifier: learner,
                    classes: corpus.classes.clone(),
                    calibrator: CalibratorKind::None,
                    ..FitSettings::default()
                };
                problems.extend(binary_problems(
                    &settings,
                    corpus.fields.clone(),
                    &corpus.training,
                    &corpus.test,
                )?);
            }
            if let Some(folder) = export {
                write_problems(&folder.join(format!("{name}-{classifier}")), &problems)?;
            }
            let mut cells = BTreeMap::new();
            for kind in CalibratorKind::METHODS
                .iter()
                .copied()
                .chain([CalibratorKind::Auto])
            {
                cells.insert(kind.name(), measure(&problems, kind)?);
            }
            if !json {
                writeln!(out, "\n{name}, {classifier}")?;
                let mut rows: Vec<_> = cells.iter().collect();
                rows.sort_by(|a, b| a.1.log_loss.total_cmp(&b.1.log_loss));
                for (method, cell) in rows {
                    writeln!(
                        out,
                        "{method:<24} {:>9.5} {:>9.5} {:>9.3} s {:>9.3} s",
                        cell.log_loss, cell.brier, cell.fit_seconds, cell.predict_seconds
                    )?;
                }
                out.flush()?;
            }
            table
                .entry((*name).to_owned())
                .or_default()
                .insert(classifier, cells);
        }
    }
    if json {
        serde_json::to_writer(&mut out, &table)?;
        writeln!(out)?;
    }
    Ok(())
}

fn measure(problems: &[BinaryProblem], kind: CalibratorKind) -> Result<Cell, Box<dyn Error>> {
    let (mut log_loss, mut brier, mut decisions) = (0.0, 0.0, 0usize);
    let (mut fit_seconds, mut predict_seconds) = (0.0, 0.0);
    let mut chosen: BTreeMap<&'static str, usize> = BTreeMap::new();
    for problem in problems {
        let start = Instant::now();
        let choice = match kind {
            CalibratorKind::Auto => kind.choose(&problem.held_out).map(|choice| {
                *chosen.entry(choice.chosen.name()).or_default() += 1;
                choice.calibrator
            }),
            _ => kind.fit(&problem.held_out),
        };
        let calibrator = choice.unwrap_or_else(|_| {
            // A class without positives among the training documents: all that is known is its rarity.
            SavedCalibrator::Platt(PlattCalibrator {
                slope: 0.0,
                intercept: problem.held_out.ln_prior_odds(),
            })
        });
        fit_seconds += start.elapsed().as_secs_f64();
        let start = Instant::now();
        let stated: Vec<_> = problem
            .test_scores
            .iter()
            .map(|&score| calibrator.probability(score))
            .collect();
        predict_seconds += start.elapsed().as_secs_f64();
        for (probability, &label) in stated.iter().zip(&problem.test_labels) {
            log_loss += probability.log_loss(label);
            let missed_by = if label {
                probability.complement().value()
            } else {
                probability.value()
            };
            brier += missed_by * missed_by;
        }
        decisions += stated.len();
    }
    Ok(Cell {
        log_loss: log_loss / decisions as f64,
        brier: brier / decisions as f64,
        fit_seconds,
        predict_seconds,
        chosen,
    })
}

/// Scores as little-endian doubles, labels as bytes, one file per class and part.
fn write_problems(folder: &Path, problems: &[BinaryProblem]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (number, problem) in problems.iter().enumerate() {
        let bytes = |labels: &[bool]| labels.iter().map(|&l| u8::from(l)).collect::<Vec<u8>>();
        let at = |part: &str| folder.join(format!("{number:03}-{part}"));
        write_floats(&at("held-out.f64"), problem.held_out.scores())?;
        std::fs::write(at("held-out.u8"), bytes(problem.held_out.labels()))?;
        write_floats(&at("test.f64"), &problem.test_scores)?;
        std::fs::write(at("test.u8"), bytes(&problem.test_labels))?;
    }
    Ok(())
}
