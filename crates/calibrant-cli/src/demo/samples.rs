//! A letter or two to look at, with what was stated and what is true.

use calibrant::Probability;
use calibrant::corpus::Content;
use calibrant::evaluation::Forecasts;
use serde::Serialize;

use super::inbox::{TestInbox, row, top_class};

/// Letters longer than this are not shown.
const MOST_CHARACTERS: usize = 640;

/// A letter with all that is said of it.
#[derive(Debug, Serialize)]
pub(super) struct Sample {
    pub(super) why: &'static str,
    pub(super) text: String,
    pub(super) label: String,
    /// The most probable class first.
    pub(super) probabilities: Vec<ClassProbabilities>,
}

/// What is true of a class, and what each forecaster says.
#[derive(Debug, Serialize)]
pub(super) struct ClassProbabilities {
    pub(super) class: String,
    #[serde(rename = "true")]
    pub(super) truth: f64,
    pub(super) stated: Vec<f64>,
}

/// Chooses short letters: the mistake that the first forecaster was surest of, and the letter whose
/// two likeliest classes are closest to each other while the first forecaster has no doubt.
pub(super) fn choose_samples(test: &TestInbox, forecasts: &[Forecasts]) -> Vec<Sample> {
    let Some(first) = forecasts.first() else {
        return Vec::new();
    };
    let short = |&letter: &usize| text_of(test, letter).chars().count() <= MOST_CHARACTERS;
    let surest = |letter: usize| {
        let stated = row(first, letter);
        let top = top_class(stated);
        (top, stated[top])
    };
    let mistake = (0..test.letters.len())
        .filter(short)
        .filter(|&letter| surest(letter).0 != test.label_of(letter))
        .max_by(|&a, &b| log_odds(surest(a).1).total_cmp(&log_odds(surest(b).1)));
    let toss_up = (0..test.letters.len())
        .filter(short)
        .filter(|&letter| Some(letter) != mistake && surest(letter).1.value() > 0.99)
        .min_by(|&a, &b| lead(test.truth_of(a)).total_cmp(&lead(test.truth_of(b))));
    let mut samples = Vec::new();
    if let Some(letter) = mistake {
        let why = "Among short letters, the mistake of which raw naive Bayes was most certain";
        samples.push(sample(why, letter, test, forecasts));
    }
    if let Some(letter) = toss_up {
        let why = "In truth a toss-up, but raw naive Bayes has no doubt";
        samples.push(sample(why, letter, test, forecasts));
    }
    samples
}

fn log_odds(probability: Probability) -> f64 {
    probability.log_odds()
}

/// How far the most probable class is ahead of the next.
fn lead(probabilities: &[Probability]) -> f64 {
    let mut values: Vec<f64> = probabilities.iter().map(|p| p.value()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values.first().unwrap_or(&0.0) - values.get(1).unwrap_or(&0.0)
}

fn text_of(test: &TestInbox, letter: usize) -> &str {
    test.letters
        .get(letter)
        .and_then(Content::as_text)
        .unwrap_or_default()
}

fn sample(why: &'static str, letter: usize, test: &TestInbox, forecasts: &[Forecasts]) -> Sample {
    let names = &test.truth.class_names;
    let mut probabilities: Vec<ClassProbabilities> = names
        .iter()
        .enumerate()
        .map(|(class, name)| ClassProbabilities {
            class: name.clone(),
            truth: test.truth_of(letter)[class].value(),
            stated: forecasts
                .iter()
                .map(|forecasts| row(forecasts, letter)[class].value())
                .collect(),
        })
        .collect();
    probabilities.sort_by(|a, b| b.truth.total_cmp(&a.truth));
    Sample {
        why,
        text: text_of(test, letter).trim_end().to_owned(),
        label: names[test.label_of(letter)].clone(),
        probabilities,
    }
}
