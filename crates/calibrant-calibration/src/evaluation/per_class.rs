//! One class against the rest.

use super::forecasts::{Forecasts, Row};
use crate::numeric::StableSum;
use crate::{Probability, Task};
use serde::{Deserialize, Serialize};

/// How one class fared against the rest. Counts are of documents; the other
/// measures use the documents' weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassEvaluation {
    /// The name of the class.
    pub label: String,
    /// Documents that belong to the class.
    pub positives: usize,
    /// Documents that were decided to belong to it: for single-label forecasts those
    /// where it has the largest probability, for multi-label ones those above one half.
    pub predicted: usize,
    /// Of those predicted, the share that belongs; absent where none was predicted.
    pub precision: Option<f64>,
    /// Of those that belong, the share that was predicted; absent where none belongs.
    pub recall: Option<f64>,
    /// The harmonic mean of precision and recall; 0 if one of them is absent, absent where both are.
    pub f1: Option<f64>,
    /// Mean log loss in nats of "belongs or not".
    pub log_loss: f64,
    /// Mean squared distance of the probability from 1 (belongs) or 0.
    pub brier: f64,
    /// Area under the ROC curve against the rest; absent where only one outcome was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// Average precision against the rest; absent where no document belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_precision: Option<f64>,
    /// Expected calibration error of "belongs or not", over bins of equal mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ece: Option<f64>,
    /// What [`Self::ece`] would be for a perfect forecaster, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ece_of_perfect: Option<f64>,
}

/// What is counted for one class; everything but the two counts is weighted.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) positives: usize,
    pub(super) predicted: usize,
    pub(super) positive_weight: StableSum,
    pub(super) predicted_weight: StableSum,
    pub(super) hit_weight: StableSum,
    pub(super) log_loss: StableSum,
    pub(super) brier: StableSum,
}

impl Tally {
    /// Whether the class occurs, or was decided for.
    pub(super) fn is_seen(&self) -> bool {
        self.positives > 0 || self.predicted > 0
    }

    /// `2 · hits / (positives + predicted)`, 0 where that is 0/0.
    pub(super) fn f1(&self) -> f64 {
        ratio(
            2.0 * self.hit_weight.total(),
            self.positive_weight.total() + self.predicted_weight.total(),
        )
    }

    pub(super) fn evaluation(&self, label: &str, total_weight: f64) -> ClassEvaluation {
        ClassEvaluation {
            label: label.to_owned(),
            positives: self.positives,
            predicted: self.predicted,
            precision: (self.predicted > 0)
                .then(|| ratio(self.hit_weight.total(), self.predicted_weight.total())),
            recall: (self.positives > 0)
                .then(|| ratio(self.hit_weight.total(), self.positive_weight.total())),
            f1: (self.positives > 0 || self.predicted > 0).then(|| self.f1()),
            log_loss: self.log_loss.total() / total_weight,
            brier: self.brier.total() / total_weight,
            auc: None,
            average_precision: None,
            ece: None,
            ece_of_perfect: None,
        }
    }
}

/// F1 of many classes' counts added up.
pub(super) fn micro_f1<'a>(tallies: impl Iterator<Item = &'a Tally>) -> f64 {
    let mut sum = Tally::default();
    for tally in tallies {
        sum.hit_weight.add(tally.hit_weight.total());
        sum.positive_weight.add(tally.positive_weight.total());
        sum.predicted_weight.add(tally.predicted_weight.total());
    }
    sum.f1()
}

/// The plain mean of the classes' F1, 0 without classes.
pub(super) fn macro_f1<'a>(tallies: impl Iterator<Item = &'a Tally>) -> f64 {
    let (mut sum, mut count) = (StableSum::default(), 0.0);
    for tally in tallies {
        sum.add(tally.f1());
        count += 1.0;
    }
    ratio(sum.total(), count)
}

/// A quotient that is 0 where it would be 0/0.
pub(super) fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 {
        numerator / denominator
    } else {
        0.0
    }
}

/// Tallies of all classes, the number of wrong decisions (documents for
/// single-label forecasts, document-class pairs for multi-label ones), and the log loss of the first label of each document.
pub(super) fn tally(forecasts: &Forecasts, rows: &[Row<'_>]) -> (Vec<Tally>, usize, StableSum) {
    let mut tallies = vec![Tally::default(); forecasts.class_names.len()];
    let mut is_label = vec![false; tallies.len()];
    let mut errors = 0;
    let mut of_labels = StableSum::default();
    // Of two classes that exclude each other both forecasts err alike, and one set of logarithms is enough.
    let missed = |by: Probability| (by, by.log_loss(false), by.value());
    let mut last = missed(Probability::from_log_odds(0.0));
    for row in rows {
        let first = row.labels.first().map_or(0, |&label| label as usize);
        row.labels
            .iter()
            .for_each(|&label| is_label[label as usize] = true);
        let top = row.top_class();
        if forecasts.task == Task::SingleLabel && !is_label[top] {
            errors += 1;
        }
        for (class, (tally, probability)) in tallies.iter_mut().zip(row.probabilities).enumerate() {
            let belongs = is_label[class];
            let predicted = match forecasts.task {
                Task::SingleLabel => class == top,
                Task::MultiLabel => probability.log_odds() > 0.0,
            };
            if forecasts.task == Task::MultiLabel && belongs != predicted {
                errors += 1;
            }
            if belongs {
                tally.positives += 1;
                tally.positive_weight.add(row.weight);
            }
            if predicted {
                tally.predicted += 1;
                tally.predicted_weight.add(row.weight);
            }
            if belongs && predicted {
                tally.hit_weight.add(row.weight);
            }
            let missed_by = if belongs {
                probability.complement()
            } else {
                *probability
            };
            if missed_by != last.0 {
                last = missed(missed_by);
            }
            let (_, loss, missed_by) = last;
            tally.log_loss.add(row.weight * loss);
            tally.brier.add(row.weight * missed_by * missed_by);
            if class == first {
                of_labels.add(row.weight * loss);
            }
        }
        row.labels
            .iter()
            .for_each(|&label| is_label[label as usize] = false);
    }
    (tallies, errors, of_labels)
}
