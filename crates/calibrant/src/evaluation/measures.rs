//! All measures of one set of forecasts.

use super::SortedForecasts;
use super::calibration_error::{error_of, error_of_perfect};
use super::forecasts::{EvaluationError, Forecasts, Row};
use super::per_class::{ClassEvaluation, Tally, macro_f1, micro_f1, tally};
use crate::Task;
use crate::numeric::StableSum;
use serde::{Deserialize, Serialize};

/// How many bins the expected calibration error uses.
pub const ECE_BINS: usize = 15;

/// What a mean loss is a mean over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossUnit {
    /// Documents: single-label forecasts.
    Documents,
    /// Pairs of a document and a class: multi-label forecasts.
    Decisions,
}

/// What was measured. Counts are of documents or decisions; everything else heeds
/// the documents' weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The kind of forecasts.
    pub task: Task,
    /// Documents with a weight above zero.
    pub documents: usize,
    /// Decisions: one per document, or for multi-label forecasts one per document and class.
    pub decisions: usize,
    /// Share of documents whose most probable class (the first of equals) is the label;
    /// single-label only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// F1 of the counts of all classes together.
    pub micro_f1: f64,
    /// Mean F1 over the classes that have a positive or a prediction; classes with
    /// neither say nothing and are left out.
    pub macro_f1: f64,
    /// [`Self::micro_f1`] over only the classes that occur in the labels.
    pub micro_f1_present: f64,
    /// Mean F1 over only the classes that occur in the labels.
    pub macro_f1_present: f64,
    /// How many classes occur in the labels.
    pub classes_present: usize,
    /// Mean log loss in nats, from log-odds and never clipped.
    pub log_loss: f64,
    /// What [`Self::log_loss`] is a mean over.
    pub log_loss_over: LossUnit,
    /// Brier score, as [`Self::brier_definition`] says.
    pub brier: f64,
    /// In a sentence, which of the Brier scores in use this is.
    pub brier_definition: String,
    /// Expected calibration error of the most probable class (single-label) or of
    /// every decision (multi-label), over bins of equal mass.
    pub ece: f64,
    /// How many bins [`Self::ece`] asked for.
    pub ece_bins: usize,
    /// The mean of [`Self::ece`] that a perfectly calibrated forecaster of the same
    /// stated probabilities would show by chance.
    pub ece_of_perfect: f64,
    /// Wrong decisions.
    pub errors: usize,
    /// Every class against the rest, in the order of the class names.
    pub classes: Vec<ClassEvaluation>,
}

/// Measures forecasts against the truth, in `O(n log n)` of the decisions.
///
/// ```
/// use calibrant::{Probability, Task, evaluation::{Forecasts, evaluate}};
/// let p = Probability::from_log_odds(3f64.ln()); // 3 to 1
/// let evaluation = evaluate(&Forecasts {
///     task: Task::SingleLabel,
///     class_names: vec!["ham".into(), "spam".into()],
///     probabilities: vec![p, p.complement(), p, p.complement()],
///     labels: vec![vec![0], vec![1]],
///     weights: None,
/// })?;
/// // By hand: 0.75 was given to the truth once, 0.25 once.
/// assert_eq!(evaluation.accuracy, Some(0.5));
/// assert!((evaluation.log_loss - (-(0.75f64 * 0.25).ln() / 2.0)).abs() < 1e-12);
/// assert!((evaluation.brier - (0.25f64.powi(2) + 0.75f64.powi(2)) / 2.0).abs() < 1e-12);
/// # Ok::<(), calibrant::evaluation::EvaluationError>(())
/// ```
pub fn evaluate(forecasts: &Forecasts) -> Result<Evaluation, EvaluationError> {
    measure(forecasts, error_of_perfect)
}

/// As [`evaluate`] but without drawing outcomes for [`Evaluation::ece_of_perfect`], which is not a
/// number then.
pub(crate) fn evaluate_without_chance(
    forecasts: &Forecasts,
) -> Result<Evaluation, EvaluationError> {
    measure(forecasts, |_, _| f64::NAN)
}

fn measure(
    forecasts: &Forecasts,
    error_of_perfect: impl Fn(&SortedForecasts, &[std::ops::Range<usize>]) -> f64,
) -> Result<Evaluation, EvaluationError> {
    forecasts.check()?;
    let rows = forecasts.rows();
    let class_count = forecasts.class_names.len();
    let total_weight = rows
        .iter()
        .map(|row| row.weight)
        .collect::<StableSum>()
        .total();
    let (tallies, errors) = tally(forecasts, &rows);
    let points = SortedForecasts::new(&forecasts.points_of(&rows));
    let cut = points.equal_mass(ECE_BINS);
    let seen = |tally: &&Tally| tally.positives > 0 || tally.predicted > 0;
    let present = |tally: &&Tally| tally.positives > 0;
    let probability = probability_measures(forecasts.task, &rows, &tallies, total_weight);
    let single = forecasts.task == Task::SingleLabel;
    Ok(Evaluation {
        task: forecasts.task,
        documents: rows.len(),
        decisions: if single {
            rows.len()
        } else {
            rows.len() * class_count
        },
        accuracy: single.then(|| tallies.iter().map(|t| t.hit_weight).sum::<f64>() / total_weight),
        micro_f1: micro_f1(tallies.iter()),
        macro_f1: macro_f1(tallies.iter().filter(seen)),
        micro_f1_present: micro_f1(tallies.iter().filter(present)),
        macro_f1_present: macro_f1(tallies.iter().filter(present)),
        classes_present: tallies.iter().filter(present).count(),
        log_loss: probability.log_loss,
        log_loss_over: if single {
            LossUnit::Documents
        } else {
            LossUnit::Decisions
        },
        brier: probability.brier,
        brier_definition: brier_definition(forecasts.task, class_count).to_owned(),
        ece: error_of(&points, &cut),
        ece_bins: ECE_BINS,
        ece_of_perfect: error_of_perfect(&points, &cut),
        errors,
        classes: forecasts
            .class_names
            .iter()
            .zip(&tallies)
            .map(|(label, tally)| tally.evaluation(label, total_weight))
            .collect(),
    })
}

struct ProbabilityMeasures {
    log_loss: f64,
    brier: f64,
}

/// Log loss and Brier score as the task defines them. Both follow from the sums per
/// class, except the single-label log loss, which looks at the true class alone.
fn probability_measures(
    task: Task,
    rows: &[Row<'_>],
    tallies: &[Tally],
    total_weight: f64,
) -> ProbabilityMeasures {
    let sum = |of: fn(&Tally) -> StableSum| -> f64 {
        tallies
            .iter()
            .map(|tally| of(tally).total())
            .collect::<StableSum>()
            .total()
    };
    let brier = sum(|tally| tally.brier) / total_weight;
    let class_count = tallies.len() as f64;
    match task {
        Task::SingleLabel => {
            let losses = rows.iter().map(|row| {
                let label = row.labels.first().map_or(0, |&label| label as usize);
                row.weight * row.probabilities[label].log_loss(true)
            });
            ProbabilityMeasures {
                log_loss: losses.collect::<StableSum>().total() / total_weight,
                brier: if tallies.len() == 2 {
                    brier / 2.0
                } else {
                    brier
                },
            }
        }
        Task::MultiLabel => ProbabilityMeasures {
            log_loss: sum(|tally| tally.log_loss) / total_weight / class_count,
            brier: brier / class_count,
        },
    }
}

fn brier_definition(task: Task, class_count: usize) -> &'static str {
    match (task, class_count) {
        (Task::SingleLabel, 2) => {
            "mean over documents of the squared distance between the probability of one class and its truth (0 to 1)"
        }
        (Task::SingleLabel, _) => {
            "mean over documents of the squared distances between probability and truth, summed over classes (0 to 2)"
        }
        (Task::MultiLabel, _) => {
            "mean over decisions of the squared distance between probability and truth (0 to 1)"
        }
    }
}

#[cfg(test)]
mod tests;
