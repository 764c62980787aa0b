//! What came of promises on labelled documents.

use serde::{Deserialize, Serialize};

use super::{Answerer, AskSets, CalibrationExamples, PromiseError, SetMaker, SetRoom};
use crate::decision::{CalibrationSource, Certify, Guarantee};
use crate::jobs::LabelledForecasts;
use crate::numeric::{exact_lower_share, exact_upper_share};
use crate::pipeline::{Model, best, draw_key_of};

/// Sets beside the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenSets {
    /// What was asked for.
    pub asked: AskSets,
    /// What is promised, and on which data.
    pub guarantee: Guarantee,
    /// How many documents there were.
    pub documents: u64,
    /// The share whose set holds the true class; of several labels, the mean share of true labels that sets hold, over documents that have any.
    pub coverage: f64,
    /// The ends of the exact 95 % interval of that share; absent for several labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// How many classes a set has on average.
    pub mean_size: f64,
    /// The share of sets without any.
    pub empty: f64,
    /// What was seen of each class that came up, where each is promised its coverage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassCoverage>,
}

/// Sets of the documents of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassCoverage {
    /// The class.
    pub label: String,
    /// How many documents are of it.
    pub documents: u64,
    /// The share of them whose set holds it.
    pub coverage: f64,
}

/// Answers beside the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenAnswers {
    /// What was asked for.
    pub asked: Certify,
    /// On which data it rests.
    pub source: CalibrationSource,
    /// How many examples it rests on.
    pub examples: u64,
    /// The probability from which on answers are given.
    pub least_probability: f64,
    /// How many documents there were.
    pub documents: u64,
    /// How many of them have a label that the model does not know: an answer to such a document is wrong.
    #[serde(default)]
    pub of_unknown_labels: u64,
    /// How many of them are answered.
    pub answered: u64,
    /// How many of these wrongly.
    pub wrong: u64,
    /// The ends of the exact 95 % interval of the share of wrong answers.
    pub interval: (f64, f64),
}

/// What came of everything that was promised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenPromises {
    /// Sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets: Option<SeenSets>,
    /// Answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<SeenAnswers>,
}

impl SeenPromises {
    /// Asks for promises and holds them against labelled documents; nothing where nothing is asked for. They rest on `examples`, or on what
    /// the model keeps.
    pub fn of(
        model: &Model,
        found: &LabelledForecasts,
        (sets, max_error): (Option<AskSets>, Option<Certify>),
        examples: Option<&CalibrationExamples>,
    ) -> Result<Option<Self>, PromiseError> {
        if sets.is_none() && max_error.is_none() {
            return Ok(None);
        }
        if let Some(examples) = examples {
            let (common, documents) = (
                examples.common(&found.documents),
                found.documents.keys.len(),
            );
            // A few short texts come again by themselves.
            if common * 20 > documents || common * 20 > examples.len() {
                return Err(PromiseError::Common { common, documents });
            }
        }
        let maker = sets.map(|asked| SetMaker::new(model, asked, examples, None));
        let answerer = max_error.map(|asked| Answerer::new(model, asked, examples));
        Ok(Some(Self {
            sets: maker.transpose()?.map(|maker| seen_sets(&maker, found)),
            answers: answerer.transpose()?.map(|own| seen_answers(&own, found)),
        }))
    }
}

fn rows(found: &LabelledForecasts) -> impl Iterator<Item = (&[crate::Probability], &[u32])> {
    let width = found.forecasts.class_names.len().max(1);
    let rows = found.forecasts.probabilities.chunks_exact(width);
    rows.zip(found.forecasts.labels.iter())
}

fn interval(part: u64, all: u64) -> (f64, f64) {
    (
        exact_lower_share(part, all, 0.025),
        exact_upper_share(part, all, 0.025),
    )
}

fn seen_sets(maker: &SetMaker, found: &LabelledForecasts) -> SeenSets {
    let (mut held, mut classes, mut empty, mut documents) = (0.0, 0, 0, 0);
    let mut labelled = 0;
    let mut room = SetRoom::default();
    let names = &found.forecasts.class_names;
    let mut of_class = vec![(0, 0); names.len()];
    for (place, (row, labels)) in rows(found).enumerate() {
        let key = found.documents.keys.get(place).copied();
        let set = maker.set_of(row, draw_key_of(key.unwrap_or(place as u128)), &mut room);
        let in_set = labels.iter().filter(|label| set.contains(label)).count();
        if let [label] = labels {
            let (documents, held) = &mut of_class[*label as usize];
            *documents += 1;
            *held += in_set as u64;
        }
        // Nothing is promised where there is nothing to find.
        if !labels.is_empty() {
            held += in_set as f64 / labels.len() as f64;
            labelled += 1;
        }
        classes += set.len() as u64;
        empty += u64::from(set.is_empty());
        documents += 1;
    }
    let all = f64::max(documents as f64, 1.0);
    let several = maker.guarantee().several_labels;
    let by_class = names.iter().zip(of_class).filter(|(_, own)| own.0 > 0);
    let by_class = by_class.map(|(label, (documents, held))| ClassCoverage {
        label: label.clone(),
        documents,
        coverage: held as f64 / documents as f64,
    });
    SeenSets {
        classes: match maker.guarantee().class_by_class {
            true => by_class.collect(),
            false => Vec::new(),
        },
        asked: *maker.asked(),
        guarantee: maker.guarantee().clone(),
        documents,
        coverage: held / f64::max(labelled as f64, 1.0),
        interval: (!several).then(|| interval(held.round() as u64, labelled)),
        mean_size: classes as f64 / all,
        empty: empty as f64 / all,
    }
}

fn seen_answers(answerer: &Answerer, found: &LabelledForecasts) -> SeenAnswers {
    let (mut documents, mut answered, mut wrong) = (0, 0, 0);
    for (row, labels) in rows(found) {
        documents += 1;
        if answerer.answers(row) {
            answered += 1;
            wrong += u64::from(labels.first() != Some(&(best(row).0 as u32)));
        }
    }
    for confidence in found.strangers.confidences() {
        let is_answered = u64::from(answerer.answers_at(confidence));
        documents += 1;
        answered += is_answered;
        wrong += is_answered;
    }
    let summary = answerer.summary(documents, answered);
    SeenAnswers {
        asked: summary.asked,
        source: summary.source,
        examples: summary.examples,
        least_probability: summary.least_probability,
        documents,
        of_unknown_labels: found.strangers.len() as u64,
        answered,
        wrong,
        interval: interval(wrong, answered),
    }
}
