//! A few new labels for an old model: what they gain where something moved, and what they lose where nothing did.
//!
//! A model is fitted to the training documents of a corpus and asked about its test documents, which are made to drift: some classes
//! are thinned (label shift), labels are drawn from a tempered probability (surer or less sure than stated; the truth is then known), or
//! nothing is done beyond what time did (20 Newsgroups and Reuters are divided by date). So many of the drifted documents are drawn at random and
//! labelled; the others measure. `--choose` tries constants on other corpora than those that are quoted.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::calibration::{MemberForecasts, Recalibration, RecalibrationTrial};
use calibrant::corpus::{Document, Fields};
use calibrant::evaluation::Forecasts;
use calibrant::numeric::Random;
use calibrant::pipeline::{FitSettings, TrainingCorpus, fit};
use calibrant::{NoProgress, Probability, Task};
use clap::Args;
use serde::Serialize;

use crate::data::{Corpus, sms_spam};

#[derive(Args)]
pub(crate) struct Options {
    /// One JSON array on standard output: drift, labels, losses
    #[arg(long)]
    json: bool,
    /// So many draws of labelled documents
    #[arg(long, default_value_t = 100, value_name = "N")]
    draws: usize,
    /// Instead of measuring, try constants on the corpora that choose (IMDb, emoji)
    #[arg(long)]
    choose: bool,
}

const LABELLED: [usize; 4] = [5, 20, 100, 500];
/// Folds of the cross-validation, as the program has them.
const FOLDS: usize = 10;
/// Test documents of a drift.
const MOST: usize = 4_000;

/// Drifted documents with what an old model says of them.
struct Drift {
    name: String,
    forecasts: Forecasts,
}

#[derive(Serialize)]
struct Row {
    drift: String,
    documents: usize,
    labels: usize,
    /// Mean log loss on the documents that were not labelled.
    old: f64,
    /// The same after `recalibrate`.
    new: f64,
    /// The standard error of the mean difference over draws.
    standard_error: f64,
    /// By a correction that was fitted to all drifted documents: about the best that a line can do.
    best: f64,
    /// Draws in which the old curves were given up.
    changed: f64,
    /// Draws that ended more than one per cent worse than the old model.
    worse: f64,
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let drifts = drifts(data, options.choose)?;
    let mut out = std::io::stdout().lock();
    if options.choose {
        return choose(&drifts, options.draws, &mut out);
    }
    let mut rows = Vec::new();
    for drift in &drifts {
        for labels in LABELLED {
            rows.extend(measure(drift, labels, options.draws)?);
        }
    }
    if options.json {
        serde_json::to_writer(&mut out, &rows)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(
        out,
        "{:<44} {:>6} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8}",
        "drift", "labels", "old", "new", "± s.e.", "best", "changed", "worse"
    )?;
    for row in &rows {
        writeln!(
            out,
            "{:<44} {:>6} {:>9.4} {:>9.4} {:>9.4} {:>9.4} {:>8.2} {:>8.2}",
            row.drift,
            row.labels,
            row.old,
            row.new,
            row.standard_error,
            row.best,
            row.changed,
            row.worse
        )?;
    }
    Ok(())
}

fn drifts(data: &Path, choose: bool) -> Result<Vec<Drift>, Box<dyn Error>> {
    let mut drifts = Vec::new();
    let names: &[&str] = match choose {
        true => &["imdb", "tweet-emoji"],
        false => &["sms-spam", "ag-news", "20newsgroups", "reuters-10"],
    };
    for name in names {
        let Some(forecasts) = asked(data, name)? else {
            continue;
        };
        let named = |drift: &str| format!("{name}, {drift}");
        drifts.push(Drift {
            name: named("as it is"),
            forecasts: forecasts.clone(),
        });
        drifts.push(Drift {
            name: named("some classes a quarter as common"),
            forecasts: thinned(&forecasts),
        });
        for (slope, drift) in [
            (1.0, "labels drawn as stated"),
            (0.5, "labels drawn, half as sure"),
            (1.5, "labels drawn, surer by half"),
        ] {
            drifts.push(Drift {
                name: named(drift),
                forecasts: drawn(&forecasts, slope),
            });
        }
    }
    Ok(drifts)
}

/// What a model of the training documents says of test documents.
fn asked(data: &Path, name: &str) -> Result<Option<Forecasts>, Box<dyn Error>> {
    let mut settings = FitSettings::default();
    let (training, mut test, fields): (Vec<Document>, Vec<Document>, Fields) = match name {
        "sms-spam" => {
            let (test, training): (Vec<_>, Vec<_>) =
                sms_spam(data)?.into_iter().partition(|(_, fold)| *fold < 2);
            let bare = |part: Vec<(Document, usize)>| part.into_iter().map(|(d, _)| d).collect();
            (bare(training), bare(test), Fields::default())
        }
        _ => {
            let corpus = Corpus::named(name);
            let Some((training, test)) = corpus.read(data)? else {
                return Ok(None);
            };
            settings.classes = corpus.classes();
            (training, test, corpus.fields())
        }
    };
    if training.is_empty() {
        return Ok(None);
    }
    // Not the first ones: files are sorted by class.
    let mut random = Random::from_seed(1);
    for place in (1..test.len()).rev() {
        test.swap(place, random.below(place + 1));
    }
    test.truncate(MOST);
    let corpus = TrainingCorpus::of_documents(&settings, training)?;
    let model = fit(corpus, fields, &settings, &NoProgress)?;
    Ok(Some(model.forecast_documents(&test).forecasts))
}

fn rows_of(forecasts: &Forecasts, rows: &[usize]) -> Forecasts {
    let width = forecasts.class_names.len();
    let row = |&row: &usize| forecasts.probabilities[row * width..(row + 1) * width].to_vec();
    Forecasts {
        probabilities: rows.iter().flat_map(row).collect(),
        labels: forecasts.labels.of_rows(rows.iter().copied()),
        weights: None,
        ..forecasts.clone()
    }
}

/// Three in four documents of every second class are gone.
fn thinned(forecasts: &Forecasts) -> Forecasts {
    let mut seen = 0;
    let rows: Vec<usize> = (0..forecasts.labels.len())
        .filter(|&row| {
            let rarer = forecasts.labels[row].iter().any(|label| label % 2 == 0);
            seen += usize::from(rarer);
            !rarer || seen % 4 == 0
        })
        .collect();
    rows_of(forecasts, &rows)
}

/// Labels are drawn after what is stated has been tempered.
fn drawn(forecasts: &Forecasts, slope: f64) -> Forecasts {
    let width = forecasts.class_names.len();
    let mut random = Random::from_seed(7);
    let labels: Vec<Vec<u32>> = forecasts
        .probabilities
        .chunks_exact(width)
        .map(|row| match forecasts.task {
            Task::MultiLabel => (0..width)
                .filter(|&class| {
                    let p = Probability::from_log_odds(slope * row[class].log_odds());
                    random.uniform() < p.value()
                })
                .map(|class| class as u32)
                .collect(),
            Task::SingleLabel => {
                let weights: Vec<f64> = row.iter().map(|p| (slope * p.ln()).exp()).collect();
                let mut left = random.uniform() * weights.iter().sum::<f64>();
                let place = weights.iter().position(|weight| {
                    left -= weight;
                    left < 0.0
                });
                vec![place.unwrap_or(width - 1) as u32]
            }
        })
        .collect();
    Forecasts {
        labels: labels.into(),
        ..forecasts.clone()
    }
}

fn stated(forecasts: &Forecasts, rows: &[usize]) -> Result<MemberForecasts, Box<dyn Error>> {
    let width = forecasts.class_names.len();
    let mut stated = MemberForecasts::new(forecasts.task, 1, width);
    for &row in rows {
        let classes = &forecasts.probabilities[row * width..(row + 1) * width];
        stated.push(&[classes], &forecasts.labels[row], 1.0)?;
    }
    Ok(stated)
}

/// The mean log loss of a correction, per document or decision.
fn loss(forecasts: &Forecasts, rows: &[usize], correction: &Recalibration) -> f64 {
    let width = forecasts.class_names.len();
    let mut buffer = Vec::new();
    let mut sum = 0.0;
    for &row in rows {
        let mut classes = forecasts.probabilities[row * width..(row + 1) * width].to_vec();
        correction.apply(forecasts.task, &mut buffer, &mut classes);
        let labels = &forecasts.labels[row];
        sum -= match forecasts.task {
            Task::SingleLabel => classes[labels[0] as usize].ln(),
            Task::MultiLabel => {
                let of_class = classes.iter().enumerate().map(|(class, p)| {
                    match labels.contains(&(class as u32)) {
                        true => p.ln(),
                        false => p.complement().ln(),
                    }
                });
                of_class.sum::<f64>() / width as f64
            }
        };
    }
    sum / rows.len() as f64
}

/// Which documents are labelled in a draw, and which measure.
fn division(count: usize, labels: usize, draw: usize) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = Random::from_seed(1_000 + draw as u64);
    for place in (1..count).rev() {
        order.swap(place, random.below(place + 1));
    }
    let measured = order.split_off(labels);
    (order, measured)
}

fn measure(drift: &Drift, labels: usize, draws: usize) -> Result<Option<Row>, Box<dyn Error>> {
    let forecasts = &drift.forecasts;
    let count = forecasts.labels.len();
    if count < 2 * labels {
        return Ok(None);
    }
    let identity = Recalibration::identity(forecasts.class_names.len());
    let all: Vec<usize> = (0..count).collect();
    let best = Recalibration::fit_held(&stated(forecasts, &all)?, |_| true, 0.1, 0.1)?;
    let (mut old, mut new, mut least, mut gains) = (0.0, 0.0, 0.0, Vec::new());
    let (mut changed, mut worse) = (0, 0);
    for draw in 0..draws {
        let (labelled, others) = division(count, labels, draw);
        let folds = FOLDS.min(labels);
        let examples = stated(forecasts, &labelled)?;
        let trial = RecalibrationTrial::new(&examples, folds, |row| row % folds, |row| row)?;
        let before = loss(forecasts, &others, &identity);
        let after = match trial.is_better() {
            true => loss(forecasts, &others, &trial.found),
            false => before,
        };
        changed += usize::from(trial.is_better());
        worse += usize::from(after > 1.01 * before);
        old += before;
        new += after;
        least += loss(forecasts, &others, &best);
        gains.push(before - after);
    }
    let all = draws as f64;
    let gain = gains.iter().sum::<f64>() / all;
    let squares: f64 = gains.iter().map(|own| (own - gain).powi(2)).sum();
    Ok(Some(Row {
        drift: drift.name.clone(),
        documents: count,
        labels,
        old: old / all,
        new: new / all,
        standard_error: (squares / (all - 1.0).max(1.0) / all).sqrt(),
        best: least / all,
        changed: changed as f64 / all,
        worse: worse as f64 / all,
    }))
}

const SLOPES: [f64; 3] = [4.0, 16.0, 64.0];
const INTERCEPTS: [f64; 4] = [1.0, 2.0, 4.0, 16.0];
const GATES: [f64; 4] = [f64::NEG_INFINITY, 0.0, 0.5, 1.0];

/// The mean over drifts of what is left of the way from the old log loss to the best, as parts of the old one, in per cent.
fn choose(drifts: &[Drift], draws: usize, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    writeln!(
        out,
        "{:>6} {:>10} {:>6}  log loss beside the old one's, per cent, at {LABELLED:?} labels; the worst drift",
        "slope", "intercepts", "gate"
    )?;
    for slope in SLOPES {
        for intercept in INTERCEPTS {
            let mut sums = [[(0.0, f64::NEG_INFINITY); LABELLED.len()]; GATES.len()];
            for drift in drifts {
                for (place, labels) in LABELLED.into_iter().enumerate() {
                    let found = tried(drift, labels, draws, (slope, intercept))?;
                    for (gate, change) in found.into_iter().enumerate() {
                        let cell = &mut sums[gate][place];
                        cell.0 += change / drifts.len() as f64;
                        cell.1 = cell.1.max(change);
                    }
                }
            }
            for (gate, cells) in GATES.iter().zip(sums) {
                let cells = cells.map(|(mean, worst)| format!("{mean:+.2} ({worst:+.2})"));
                writeln!(
                    out,
                    "{slope:>6} {intercept:>10} {gate:>6}  {}",
                    cells.join("  ")
                )?;
            }
            out.flush()?;
        }
    }
    Ok(())
}

/// For each gate, by how many per cent the log loss changes in the mean of draws.
fn tried(
    drift: &Drift,
    labels: usize,
    draws: usize,
    (slope, intercept): (f64, f64),
) -> Result<[f64; GATES.len()], Box<dyn Error>> {
    let forecasts = &drift.forecasts;
    let identity = Recalibration::identity(forecasts.class_names.len());
    let (mut old, mut new) = (0.0, [0.0; GATES.len()]);
    for draw in 0..draws {
        let (labelled, mut others) = division(forecasts.labels.len(), labels, draw);
        others.truncate(1_000);
        let examples = stated(forecasts, &labelled)?;
        let fitted = |takes_part: &dyn Fn(usize) -> bool| {
            Recalibration::fit_held(&examples, takes_part, slope, intercept)
        };
        let folds = FOLDS.min(labels);
        let mut gains = Vec::new();
        for fold in 0..folds {
            let without = fitted(&|row| row % folds != fold)?;
            for row in (fold..labels).step_by(folds) {
                let own = [labelled[row]];
                gains.push(loss(forecasts, &own, &identity) - loss(forecasts, &own, &without));
            }
        }
        let mean = gains.iter().sum::<f64>() / gains.len() as f64;
        let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
        let error = (squares / (gains.len() as f64 - 1.0)).sqrt() / (gains.len() as f64).sqrt();
        let before = loss(forecasts, &others, &identity);
        let after = loss(forecasts, &others, &fitted(&|_| true)?);
        old += before;
        for (gate, new) in GATES.iter().zip(&mut new) {
            // Everything passes the first gate, whatever the error is.
            let passes = gate.is_infinite() || mean > gate * error;
            *new += if passes { after } else { before };
        }
    }
    Ok(new.map(|new| 100.0 * (new / old - 1.0)))
}
