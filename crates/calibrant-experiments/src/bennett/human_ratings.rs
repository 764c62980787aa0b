//! Texts that many people rated: the share who call a text positive is an observed probability.
//!
//! A classifier learns from one rater a text, drawn by chance, as from any corpus that was labelled once. What
//! it says of test texts is then compared with what all their raters say. Texts of one article or product go
//! to one side together.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use calibrant::Probability;
use calibrant::corpus::{Content, Document, Fields};
use calibrant::numeric::Random;
use calibrant::pipeline::FitSettings;

use super::measure::{Outcome, forecasts, methods};
use super::{Table, classifiers};
use crate::data::found;
use crate::scored::binary_problems;

#[derive(serde::Deserialize)]
struct RatedText {
    id: String,
    text: String,
    ratings: Vec<i8>,
}

impl RatedText {
    /// The share of raters who call it positive.
    fn share(&self) -> f64 {
        self.ratings.iter().filter(|&&rating| rating > 0).count() as f64 / self.ratings.len() as f64
    }

    /// Every fifth article, product, or run of fifty sentences is for testing.
    fn is_for_testing(&self) -> bool {
        let number = self.id.rsplit('/').next().unwrap_or_default();
        let group: usize = match number.split_once('_') {
            Some((group, _)) => group.parse().unwrap_or(0),
            None => number.parse::<usize>().unwrap_or(0) / 50,
        };
        group % 5 == 4
    }

    fn document(&self, is_positive: bool) -> Document {
        Document {
            id: None,
            content: Content::Text(self.text.clone()),
            labels: if is_positive {
                vec!["positive".into()]
            } else {
                Vec::new()
            },
            labels_were_list: true,
            weight: 1.0,
            group: None,
            amounts: Vec::new(),
            line: 0,
            row: 0,
        }
    }
}

/// The texts of both sides.
pub(crate) struct RatedTexts {
    training: Vec<RatedText>,
    testing: Vec<RatedText>,
}

impl RatedTexts {
    /// Both sides as if one rater, drawn by chance, had labelled each text.
    pub(crate) fn one_rater_a_text(&self) -> (Vec<Document>, Vec<Document>) {
        let mut random = Random::from_seed(1);
        let mut label = |texts: &[RatedText]| -> Vec<Document> {
            texts
                .iter()
                .map(|text| {
                    let rater = (random.uniform() * text.ratings.len() as f64) as usize;
                    text.document(text.ratings[rater.min(text.ratings.len() - 1)] > 0)
                })
                .collect()
        };
        (label(&self.training), label(&self.testing))
    }
}

/// Reads all texts; nothing, and a loud line, where the file is missing.
pub(crate) fn read(data: &Path) -> Result<Option<RatedTexts>, Box<dyn Error>> {
    let Some(path) = found(data, "human_ratings.jsonl.gz")? else {
        return Ok(None);
    };
    let lines = BufReader::new(flate2::read::GzDecoder::new(File::open(path)?)).lines();
    let texts = lines
        .map(|line| Ok(serde_json::from_str::<RatedText>(&line?)?))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let (testing, training) = texts.into_iter().partition(RatedText::is_for_testing);
    Ok(Some(RatedTexts { training, testing }))
}

pub(super) fn run(
    data: &Path,
    table: &mut Table,
    mut out: Option<&mut dyn Write>,
) -> Result<(), Box<dyn Error>> {
    let Some(texts) = read(data)? else {
        return Ok(());
    };
    let (training, test) = texts.one_rater_a_text();
    let testing = &texts.testing;
    for (classifier, settings) in classifiers(1000) {
        let settings = FitSettings {
            classes: Some(vec!["positive".into()]),
            ..settings
        };
        let problems = binary_problems(&settings, Fields::default(), &training, &test)?;
        let mut outcomes = Vec::new();
        for (name, kind) in methods() {
            let stated = forecasts(&problems, kind, settings.folds)?.probabilities;
            outcomes.push(outcome(name, &stated, testing));
        }
        if let Some(out) = out.as_deref_mut() {
            print(out, classifier, &outcomes, testing)?;
        }
        table.entry("human_ratings".to_owned()).or_default().insert(
            classifier.to_owned(),
            outcomes
                .into_iter()
                .map(|o| (o.method.to_owned(), o))
                .collect(),
        );
    }
    Ok(())
}

/// Losses expected over the raters of each text; an error is a decision against most of them.
fn outcome(method: &'static str, stated: &[Probability], texts: &[RatedText]) -> Outcome {
    let (mut log_loss, mut squared, mut errors, mut distance) = (0.0, 0.0, 0, 0.0);
    for (probability, text) in stated.iter().zip(texts) {
        let share = text.share();
        log_loss +=
            share * probability.log_loss(true) + (1.0 - share) * probability.log_loss(false);
        let apart = (probability.value() - share).powi(2);
        squared += apart + share * (1.0 - share);
        errors += usize::from((probability.log_odds() > 0.0) != (share > 0.5));
        // The share of a few raters scatters about that of everyone; its expected square is taken off.
        distance += apart - share * (1.0 - share) / (text.ratings.len() as f64 - 1.0);
    }
    Outcome {
        method,
        log_loss_nats: -log_loss,
        log_loss_bits: -log_loss / std::f64::consts::LN_2,
        squared_error: squared,
        errors,
        marks: None,
        distance_to_raters: Some((distance / texts.len() as f64).max(0.0).sqrt()),
    }
}

fn print(
    out: &mut dyn Write,
    classifier: &str,
    outcomes: &[Outcome],
    texts: &[RatedText],
) -> std::io::Result<()> {
    let ln = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
    let least: f64 = texts
        .iter()
        .map(|text| ln(text.share()) + ln(1.0 - text.share()))
        .sum();
    writeln!(
        out,
        "\nhuman_ratings, {classifier}: {} texts; naming each text's own share would give {least:.2}",
        texts.len()
    )?;
    writeln!(
        out,
        "{:<24} {:>12} {:>10} {:>7} {:>20}",
        "method", "log loss", "squared", "errors", "distance to raters"
    )?;
    for outcome in outcomes {
        writeln!(
            out,
            "{:<24} {:>12.2} {:>10.2} {:>7} {:>20.4}",
            outcome.method,
            outcome.log_loss_nats,
            outcome.squared_error,
            outcome.errors,
            outcome.distance_to_raters.unwrap_or_default()
        )?;
    }
    Ok(())
}
