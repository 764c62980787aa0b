//! All measures of one set of forecasts.

use super::SortedForecasts;
use super::bootstrap::{Bootstrap, BootstrapSettings, bootstrap_rows};
use super::calibration::Calibration;
use super::calibration_error::{BesidePerfect, error_of, error_of_perfect};
use super::class_wise::{against_rest, class_rankings, mean_of, points_of_class, top_label_error};
use super::confusion::ConfusionMatrix;
use super::costs::{CostDraws, CostReport};
use super::error_likelihood::ErrorLikelihood;
use super::forecasts::{EvaluationError, Forecasts, Row};
use super::losses::sum_of_mean;
use super::per_class::{ClassEvaluation, Tally, macro_f1, micro_f1, ratio, tally};
use super::units::{FEWEST_UNITS, Units};
use crate::decision::DecisionCosts;
use crate::numeric::StableSum;
use crate::{Task, parallel};
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

/// What was measured. Counts are of documents or decisions; everything else uses
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
    /// Wrong decisions, counted without weights.
    pub errors: usize,
    /// Every class against the rest, in the order of the class names.
    pub classes: Vec<ClassEvaluation>,
    /// The hits of all classes together as a share of all predictions; 0 without predictions.
    #[serde(default)]
    pub micro_precision: f64,
    /// The hits of all classes together as a share of all labels; 0 without labels.
    #[serde(default)]
    pub micro_recall: f64,
    /// Mean precision over the classes that have a positive or a prediction.
    #[serde(default)]
    pub macro_precision: f64,
    /// Mean recall over the classes that have a positive or a prediction.
    #[serde(default)]
    pub macro_recall: f64,
    /// [`Self::log_loss`] in bits: the cross-entropy.
    #[serde(default)]
    pub log_loss_bits: f64,
    /// The weighted sum of which [`Self::log_loss`] is the mean, in units of a mean weight of 1 a document.
    #[serde(default)]
    pub log_loss_sum: f64,
    /// The weighted sum of which [`Self::brier`] is the mean, in the same units.
    #[serde(default)]
    pub brier_sum: f64,
    /// All that needs more than one look at the forecasts.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub further: Option<Further>,
}

/// What [`evaluate`] measures beyond the basics. In JSON these stand beside the other measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Further {
    /// Wrong decisions beside what the probabilities lead one to expect.
    pub error_likelihood: ErrorLikelihood,
    /// Mean area under the ROC curve of classes against the rest, over those with both outcomes.
    pub macro_auc: Option<f64>,
    /// Mean average precision of classes against the rest, over those with a positive.
    pub macro_average_precision: Option<f64>,
    /// Mean expected calibration error of classes against the rest.
    pub classwise_ece: BesidePerfect,
    /// Expected calibration error of the most probable class, separately for every decision;
    /// single-label only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_label_ece: Option<BesidePerfect>,
    /// All measures of the most probable class's probability (single-label) or of every decision
    /// (multi-label) as yes-or-no forecasts.
    pub calibration: Calibration,
    /// With two exclusive classes: all measures of the second class's probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration_of_second: Option<Calibration>,
    /// Which class was taken for which; single-label only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confusion: Option<ConfusionMatrix>,
    /// What decisions cost, where costs were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<CostReport>,
    /// Intervals, where they were asked for; absent where documents are in fewer than three groups, or in groups of such
    /// different weights that they are worth less than three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Bootstrap>,
}

/// What to measure beside the usual.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EvaluationOptions {
    /// What decisions cost.
    pub costs: Option<DecisionCosts>,
    /// The numbers of [`DecisionCosts::fields`], document by document; empty where costs are the same for all.
    pub amounts: Vec<f64>,
    /// Intervals by drawing documents.
    pub bootstrap: Option<BootstrapSettings>,
    /// For each document the group that it is drawn and counted with, `None` for those that stand for themselves;
    /// empty where all do.
    pub groups: Vec<Option<u64>>,
    /// For each document a number that it shares with its copies, `None` where it has none; empty where no document has
    /// any. Copies are distinguished here from other documents of a group, whose equal forecasts are a coincidence.
    pub copies: Vec<Option<u64>>,
}

/// Measures forecasts against the truth, in `O(n log n)` of the decisions.
///
/// ```
/// use calibrant_calibration::{Probability, Task, evaluation::{Forecasts, evaluate}};
/// let p = Probability::from_log_odds(3f64.ln()); // 3 to 1
/// let evaluation = evaluate(&Forecasts {
///     task: Task::SingleLabel,
///     class_names: vec!["ham".into(), "spam".into()],
///     probabilities: vec![p, p.complement(), p, p.complement()],
///     labels: vec![vec![0], vec![1]].into(),
///     weights: None,
/// })?;
/// // By hand: 0.75 was given to the truth once, 0.25 once.
/// assert_eq!(evaluation.accuracy, Some(0.5));
/// assert!((evaluation.log_loss - (-(0.75f64 * 0.25).ln() / 2.0)).abs() < 1e-12);
/// assert!((evaluation.brier - (0.25f64.powi(2) + 0.75f64.powi(2)) / 2.0).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
/// ```
pub fn evaluate(forecasts: &Forecasts) -> Result<Evaluation, EvaluationError> {
    evaluate_with(forecasts, &EvaluationOptions::default())
}

/// As [`evaluate`], with costs or intervals where asked for.
pub fn evaluate_with(
    forecasts: &Forecasts,
    options: &EvaluationOptions,
) -> Result<Evaluation, EvaluationError> {
    measure(forecasts, Depth::All(options))
}

/// As [`evaluate`] but without all that takes more than a look: there is nothing in
/// [`Evaluation::further`], and [`Evaluation::ece_of_perfect`] is not a number.
pub fn evaluate_without_chance(forecasts: &Forecasts) -> Result<Evaluation, EvaluationError> {
    measure(forecasts, Depth::Look)
}

/// As [`evaluate_without_chance`] but with [`Evaluation::ece_of_perfect`].
pub fn evaluate_beside_perfect(forecasts: &Forecasts) -> Result<Evaluation, EvaluationError> {
    measure(forecasts, Depth::BesidePerfect)
}

/// How much is measured.
enum Depth<'a> {
    Look,
    BesidePerfect,
    All(&'a EvaluationOptions),
}

fn measure(forecasts: &Forecasts, depth: Depth<'_>) -> Result<Evaluation, EvaluationError> {
    forecasts.check()?;
    let rows = forecasts.rows();
    let class_count = forecasts.class_names.len();
    let total_weight = rows
        .iter()
        .map(|row| row.weight)
        .collect::<StableSum>()
        .total();
    let ((tallies, errors, of_labels), (points, cut)) = parallel::both(
        || tally(forecasts, &rows),
        || {
            let points = SortedForecasts::new(&forecasts.points_of(&rows));
            let cut = points.equal_mass(ECE_BINS);
            (points, cut)
        },
    );
    let seen = |tally: &&Tally| tally.is_seen();
    let present = |tally: &&Tally| tally.positives > 0;
    let probability = probability_measures(forecasts.task, of_labels, &tallies, total_weight);
    let single = forecasts.task == Task::SingleLabel;
    let mut classes: Vec<ClassEvaluation> = forecasts
        .class_names
        .iter()
        .zip(&tallies)
        .map(|(label, tally)| tally.evaluation(label, total_weight))
        .collect();
    let (macro_precision, macro_recall) = macro_precision_and_recall(&classes, &tallies);
    let weight_of = |of: fn(&Tally) -> StableSum| {
        let totals = tallies.iter().map(|tally| of(tally).total());
        totals.collect::<StableSum>().total()
    };
    let hits = weight_of(|tally| tally.hit_weight);
    let further = match depth {
        Depth::All(options) => Some(further(forecasts, &rows, &points, &mut classes, options)?),
        _ => None,
    };
    let ece_of_perfect = match (&further, depth) {
        (Some(further), _) => further.calibration.ece_equal_mass.of_perfect,
        (None, Depth::BesidePerfect) => error_of_perfect(&points, &cut),
        (None, _) => f64::NAN,
    };
    let losses = total_weight * if single { 1.0 } else { class_count as f64 };
    Ok(Evaluation {
        task: forecasts.task,
        documents: rows.len(),
        decisions: if single {
            rows.len()
        } else {
            rows.len() * class_count
        },
        accuracy: single.then(|| hits / total_weight),
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
        ece_of_perfect,
        errors,
        classes,
        micro_precision: ratio(hits, weight_of(|tally| tally.predicted_weight)),
        micro_recall: ratio(hits, weight_of(|tally| tally.positive_weight)),
        macro_precision,
        macro_recall,
        log_loss_bits: probability.log_loss / std::f64::consts::LN_2,
        log_loss_sum: sum_of_mean(probability.log_loss, losses),
        brier_sum: sum_of_mean(probability.brier, losses),
        further,
    })
}

/// Means over the classes that occur, or were decided for.
fn macro_precision_and_recall(classes: &[ClassEvaluation], tallies: &[Tally]) -> (f64, f64) {
    let mean_over_seen = |of: fn(&ClassEvaluation) -> f64| {
        let seen = classes
            .iter()
            .zip(tallies)
            .filter(|(_, tally)| tally.is_seen());
        mean_of(seen.map(|(class, _)| of(class))).unwrap_or(0.0)
    };
    (
        mean_over_seen(|class| class.precision.unwrap_or(0.0)),
        mean_over_seen(|class| class.recall.unwrap_or(0.0)),
    )
}

/// Everything that [`evaluate_without_chance`] leaves out; completes the measures of classes.
fn further(
    forecasts: &Forecasts,
    rows: &[Row<'_>],
    points: &SortedForecasts,
    classes: &mut [ClassEvaluation],
    options: &EvaluationOptions,
) -> Result<Further, EvaluationError> {
    let single = forecasts.task == Task::SingleLabel;
    // Costs that do not fit are better refused before the work than after it.
    let costs = match &options.costs {
        Some(costs) => {
            Some(forecasts.cost_report(rows, costs, &options.amounts, draws(options))?)
        }
        None => None,
    };
    let rankings = class_rankings(rows, classes.len());
    for (class, ranking) in classes.iter_mut().zip(&rankings) {
        class.auc = ranking.auc;
        class.average_precision = ranking.average_precision;
        class.ece = Some(ranking.ece.value);
        class.ece_of_perfect = Some(ranking.ece.of_perfect);
    }
    let mean = |of: fn(&BesidePerfect) -> f64| {
        mean_of(rankings.iter().map(|ranking| of(&ranking.ece))).unwrap_or(0.0)
    };
    let units = Units::of_rows(rows, &options.groups);
    let (calibration, calibration_of_second) = calibrations(forecasts, rows, points, &units);
    Ok(Further {
        error_likelihood: forecasts.error_likelihood(rows, &units, &options.copies),
        macro_auc: mean_of(rankings.iter().filter_map(|ranking| ranking.auc)),
        macro_average_precision: mean_of(
            rankings
                .iter()
                .filter_map(|ranking| ranking.average_precision),
        ),
        classwise_ece: BesidePerfect {
            value: mean(|ece| ece.value),
            of_perfect: mean(|ece| ece.of_perfect),
        },
        top_label_ece: single.then(|| top_label_error(rows, classes.len())),
        calibration,
        calibration_of_second,
        confusion: single.then(|| ConfusionMatrix::new(rows)),
        costs,
        bootstrap: options
            .bootstrap
            .as_ref()
            .filter(|_| units.all_alone() || units.worth(|row| rows[row].weight) >= FEWEST_UNITS)
            .map(|settings| bootstrap_rows(forecasts, rows, &options.groups, settings)),
    })
}

/// Intervals of costs, where intervals are asked for.
fn draws(options: &EvaluationOptions) -> Option<CostDraws<'_>> {
    let settings = options.bootstrap.as_ref()?;
    Some(CostDraws {
        groups: &options.groups,
        replicates: settings.replicates.unwrap_or(1_000).max(1),
        seed: settings.seed,
    })
}

/// Calibration of what is decided, and with two exclusive classes that of the second.
fn calibrations(
    forecasts: &Forecasts,
    rows: &[Row<'_>],
    points: &SortedForecasts,
    units: &Units,
) -> (Calibration, Option<Calibration>) {
    let mut calibration = points.calibration();
    let single = forecasts.task == Task::SingleLabel;
    let two = single && forecasts.class_names.len() == 2;
    let mut of_second = two.then(|| against_rest(rows, 1).calibration());
    if units.all_alone() {
        return (calibration, of_second);
    }
    let of_row = match single {
        true => 1,
        false => forecasts.class_names.len(),
    };
    let stated = forecasts.points_of(rows);
    calibration.line = calibration.line.between_units(&stated, of_row, units);
    if let Some(second) = &mut of_second {
        let stated: Vec<_> = points_of_class(rows, 1).collect();
        second.line = second.line.between_units(&stated, 1, units);
    }
    (calibration, of_second)
}

struct ProbabilityMeasures {
    log_loss: f64,
    brier: f64,
}

/// Log loss and Brier score as the task defines them. Both follow from the sums per
/// class, except the single-label log loss, which looks at the true class alone.
fn probability_measures(
    task: Task,
    of_labels: StableSum,
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
        Task::SingleLabel => ProbabilityMeasures {
            log_loss: of_labels.total() / total_weight,
            brier: if tallies.len() == 2 {
                brier / 2.0
            } else {
                brier
            },
        },
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
