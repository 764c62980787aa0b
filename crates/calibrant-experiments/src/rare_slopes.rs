//! How fast do log-odds rise with the score of a class that has one to four training documents?
//!
//! A class's documents and a few hundred others, drawn at random, are learned from; thousands of further documents tell which slope
//! would have been right. Slopes are in units of the mean absolute deviation of the held-out scores, which is all that is known of
//! them at the time. The prior of such slopes is chosen by this table.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::NoProgress;
use calibrant::calibration::{CalibrationMethod, HeldOutScores, LogisticCurve};
use calibrant::corpus::Document;
use calibrant::numeric::Random;
use calibrant::pipeline::{
    Classifier, FitSettings, PredictBuffers, TrainingCorpus, fit_keeping_scores,
};
use calibrant::scorers::NaiveBayes;
use calibrant::{Probability, Task};
use clap::Args;
use rayon::prelude::*;

use crate::data::Corpus;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Random draws for each class and number of documents
    #[arg(long, value_name = "N", default_value_t = 4)]
    draws: u64,
    /// Naive Bayes instead of the support vector machine
    #[arg(long)]
    naive_bayes: bool,
    /// One JSON object per line: corpus, class, positives, slope
    #[arg(long)]
    json: bool,
}

/// Corpora on which constants are chosen.
const CORPORA: [&str; 2] = ["20newsgroups", "reuters-10"];
/// Other documents that are learned from, and documents that tell the right slope.
const OTHERS: usize = 300;
const FURTHER: usize = 4000;
/// With fewer of the class among the further ones there is no right slope to speak of.
const LEAST_POSITIVES: usize = 20;

#[derive(serde::Serialize)]
struct Slope<'a> {
    corpus: &'a str,
    class: &'a str,
    positives: usize,
    slope: f64,
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut found: Vec<(usize, f64)> = Vec::new();
    for name in CORPORA {
        let corpus = Corpus::named(name);
        let Some((training, test)) = corpus.read(data)? else {
            continue;
        };
        let texts: Vec<Document> = training.into_iter().chain(test).collect();
        let mut classes: Vec<&String> = texts.iter().flat_map(|text| &text.labels).collect();
        classes.sort_unstable();
        classes.dedup();
        for class in classes {
            let cases: Vec<(usize, u64)> = (1..=4)
                .flat_map(|positives| (0..options.draws).map(move |draw| (positives, draw)))
                .collect();
            let slopes: Vec<Option<f64>> = cases
                .par_iter()
                .map(|&(positives, draw)| {
                    let seed = draw.wrapping_mul(10) + positives as u64;
                    let slope = slope(&texts, class, positives, seed, options.naive_bayes);
                    slope.map_err(|error| error.to_string())
                })
                .collect::<Result<_, String>>()?;
            for (&(positives, _), slope) in cases.iter().zip(slopes) {
                let Some(slope) = slope else { continue };
                found.push((positives, slope));
                if options.json {
                    let line = Slope {
                        corpus: name,
                        class,
                        positives,
                        slope,
                    };
                    writeln!(out, "{}", serde_json::to_string(&line)?)?;
                }
            }
        }
    }
    if !options.json {
        write_table(&mut out, &found)?;
    }
    Ok(())
}

/// The slope that fits further documents, per mean absolute deviation of the held-out scores.
fn slope(
    texts: &[Document],
    class: &str,
    positives: usize,
    seed: u64,
    naive_bayes: bool,
) -> Result<Option<f64>, Box<dyn Error>> {
    let has = |text: &Document| text.labels.iter().any(|label| label == class);
    let mut order: Vec<usize> = (0..texts.len()).collect();
    Random::from_seed(seed).shuffle(&mut order);
    let (own, others): (Vec<usize>, Vec<usize>) =
        order.into_iter().partition(|&text| has(&texts[text]));
    if own.len() < positives + LEAST_POSITIVES || others.len() < 2 * OTHERS {
        return Ok(None);
    }
    let learned = own[..positives].iter().chain(&others[..OTHERS]);
    let learned = learned.map(|&text| {
        let mut document = texts[text].clone();
        let label = if has(&document) { "yes" } else { "no" };
        document.labels = vec![label.to_owned()];
        document.labels_were_list = false;
        document
    });
    let mut settings = FitSettings {
        task: Some(Task::SingleLabel),
        ..FitSettings::default()
    };
    if naive_bayes {
        settings.classifier = Classifier::NaiveBayes(NaiveBayes::default());
    }
    let counted = TrainingCorpus::of_documents(&settings, learned.collect())?;
    let fields = Corpus::named(CORPORA[0]).fields();
    let (model, held_out) = fit_keeping_scores(counted, fields, &settings, &NoProgress)?;
    let further = own[positives..].iter().chain(&others[OTHERS..]);
    let further: Vec<usize> = further.copied().collect();
    // In the proportion that they come in, as far as they go.
    let every = further.len().div_ceil(FURTHER);
    let mut buffers = PredictBuffers::default();
    let mut stated = vec![Probability::from_log_odds(0.0); model.class_count()];
    let (mut scores, mut labels) = (Vec::new(), Vec::new());
    for &text in further.iter().step_by(every) {
        let said = model.predict_into(&texts[text], &mut buffers, &mut stated);
        scores.push(said.outputs()[0]);
        labels.push(has(&texts[text]));
    }
    if labels.iter().filter(|&&label| label).count() < LEAST_POSITIVES {
        return Ok(None);
    }
    let line = LogisticCurve.fit(&HeldOutScores::assume(scores, labels)?)?;
    Ok(held_out
        .first()
        .map(|held_out| line.slope * deviation(held_out.scores())))
}

fn deviation(scores: &[f64]) -> f64 {
    let count = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / count;
    scores.iter().map(|score| (score - mean).abs()).sum::<f64>() / count
}

fn write_table(out: &mut impl Write, found: &[(usize, f64)]) -> Result<(), Box<dyn Error>> {
    writeln!(
        out,
        "{:>9} {:>6} {:>7} {:>7} {:>24}",
        "positives", "cases", "rising", "median", "deviation of its log"
    )?;
    for positives in 1..=4 {
        let own = found.iter().filter(|case| case.0 == positives);
        let mut slopes: Vec<f64> = own.map(|case| case.1).collect();
        slopes.sort_by(f64::total_cmp);
        let Some(&median) = slopes.get(slopes.len() / 2) else {
            continue;
        };
        let logs: Vec<f64> = slopes
            .iter()
            .filter(|slope| **slope > 0.0)
            .map(|s| s.ln())
            .collect();
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let squares: f64 = logs.iter().map(|ln| (ln - mean) * (ln - mean)).sum();
        writeln!(
            out,
            "{positives:>9} {:>6} {:>7} {median:>7.3} {:>24.3}",
            slopes.len(),
            logs.len(),
            (squares / (count - 1.0)).sqrt()
        )?;
    }
    Ok(())
}
