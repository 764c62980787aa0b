//! What a model's probabilities promise of documents whose labels nobody knows.

use serde::Serialize;

use super::predict::PredictError;
use super::test_set::{Ask, Said};
use crate::corpus::{LabelNeed, ReadError, ReadOptions, ReadSummary, Source, read_batches};
use crate::decision::{PriorChoice, PriorPlan, PriorReport};
use crate::evaluation::Forecasts;
use crate::features::UnknownCells;
use crate::pipeline::Model;
use crate::report::{AnsweredShares, DecisionCurve};
use crate::{Progress, RowLabels, Task};

/// Expected numbers; as JSON what `evaluate --without-labels --json` prints. They hold while the probabilities are calibrated for these documents,
/// which only labels can show.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ExpectedReport {
    /// Documents.
    pub documents: usize,
    /// One label per document or several.
    pub task: Task,
    /// The share of documents that is expected to be answered rightly: the mean probability of the likeliest class, or of all decisions about a
    /// document being right where it may have several labels, if labels were independent (a product; the interval likewise).
    pub expected_accuracy: f64,
    /// From where ...
    pub lower: f64,
    /// ... to where it will lie in 95 of 100 such files, if the probabilities are right.
    pub upper: f64,
    /// How many wrong decisions are expected.
    pub expected_errors: f64,
    /// The standard deviation of their number.
    pub deviation: f64,
    /// The accuracy that was seen on held-out documents when the model was fitted; null with several labels per document.
    pub held_out_accuracy: Option<f64>,
    /// How often the surest answers are expected to be right.
    pub answered: AnsweredShares,
    /// What acting on each class is expected to be worth.
    pub decision_curves: Vec<DecisionCurve>,
    /// The classes.
    pub classes: Vec<ExpectedClass>,
    /// What was done about the classes' shares; absent where nothing was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<PriorReport>,
    /// Malformed rows that were skipped.
    pub bad_rows: u64,
}

/// What is expected of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectedClass {
    /// Its name.
    pub label: String,
    /// Documents that are given it.
    pub decided: usize,
    /// Documents that are expected to have it: the sum of its probabilities.
    pub expected: f64,
}

/// What is expected, with what belongs around it.
#[derive(Debug, Clone)]
pub struct Expected {
    /// The numbers.
    pub report: ExpectedReport,
    /// What was read.
    pub read: ReadSummary,
    /// Cells beside the text that mean nothing to the model.
    pub unknown_cells: UnknownCells,
}

/// Why nothing can be expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpectError {
    /// The documents could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Predictions cannot be made.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// There is nothing to speak of.
    #[error("there are no documents")]
    NoDocuments,
}

/// Reads documents without their labels and says what the model's probabilities promise of them. Weights of documents do not count: promises are
/// of documents. Fields that `options` do not name are those that the model learned from.
///
/// ```
/// use calibrant::corpus::{ReadOptions, Source};
/// use calibrant::jobs::expect_source;
/// use calibrant::{Document, FitSettings, NoProgress, fit};
/// let model = fit((0..40).map(|i| match i % 2 {
///     0 => Document::new(format!("lunch at noon {i}")).label("ham"),
///     _ => Document::new(format!("win big money {i}")).label("spam"),
/// }), &FitSettings::default())?;
/// let new = Source::bytes("new.csv", *b"text\nlunch\nbig money\n");
/// let found = expect_source(&model, &new, &ReadOptions::default(), &Default::default(), &NoProgress)?;
/// let report = found.report;
/// assert_eq!(report.documents, 2);
/// // Expected errors and expected accuracy are two ways to say the same.
/// assert!((report.expected_errors - 2.0 * (1.0 - report.expected_accuracy)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn expect_source(
    model: &Model,
    source: &Source,
    options: &ReadOptions,
    prior: &PriorChoice,
    progress: &dyn Progress,
) -> Result<Expected, ExpectError> {
    let plan = PriorPlan::new(prior, model.trained_shares()).map_err(PredictError::from)?;
    let mut options = options.clone();
    options.fields = options.fields.completed_by(model.fields());
    options.labels_required = LabelNeed::Ignored;
    let ask = Ask::plain(model);
    let mut said = Said::default();
    let read = read_batches(
        source,
        &options,
        progress,
        |documents| Said::of(&ask, &documents).0,
        |batch| said.append(batch),
    )?;
    let width = model.class_count();
    let documents = said.probabilities.len() / width.max(1);
    if documents == 0 {
        return Err(ExpectError::NoDocuments);
    }
    let decided = plan.decide(&said.probabilities, None);
    let decided = decided.map_err(PredictError::from)?;
    let mut probabilities = said.probabilities;
    decided.apply(width, &mut probabilities);
    let mut labels = RowLabels::new();
    (0..documents).for_each(|_| labels.push(std::iter::empty()));
    let forecasts = Forecasts {
        task: model.task(),
        class_names: model.class_names().map(str::to_owned).collect(),
        probabilities,
        labels,
        weights: None,
    };
    let mut report = expected(&forecasts);
    report.prior = decided.report;
    report.bad_rows = read.bad_row_count;
    report.held_out_accuracy = model.summary().held_out.accuracy;
    Ok(Expected {
        report,
        read,
        unknown_cells: said.unknown_cells,
    })
}

/// What probabilities promise, whatever the labels.
fn expected(forecasts: &Forecasts) -> ExpectedReport {
    let width = forecasts.class_names.len().max(1);
    let documents = forecasts.probabilities.len() / width;
    let mut classes: Vec<ExpectedClass> = forecasts
        .class_names
        .iter()
        .map(|label| ExpectedClass {
            label: label.clone(),
            decided: 0,
            expected: 0.0,
        })
        .collect();
    let (mut errors, mut variance) = (0.0, 0.0);
    for row in forecasts.probabilities.chunks_exact(width) {
        let mut top = 0;
        for (class, probability) in row.iter().enumerate() {
            classes[class].expected += probability.value();
            if probability.log_odds() > row[top].log_odds() {
                top = class;
            }
            if forecasts.task == Task::MultiLabel {
                let yes = probability.log_odds() > 0.0;
                classes[class].decided += usize::from(yes);
                let wrong = if yes {
                    probability.complement()
                } else {
                    *probability
                };
                errors += wrong.value();
                variance += wrong.value() * wrong.complement().value();
            }
        }
        if forecasts.task == Task::SingleLabel {
            classes[top].decided += 1;
            errors += row[top].complement().value();
            variance += row[top].value() * row[top].complement().value();
        }
    }
    let answered = AnsweredShares::expected(forecasts);
    let whole = answered.whole().copied();
    ExpectedReport {
        documents,
        task: forecasts.task,
        expected_accuracy: whole.map_or(0.0, |all| all.stated),
        lower: whole.map_or(0.0, |all| all.lower),
        upper: whole.map_or(1.0, |all| all.upper),
        expected_errors: errors,
        deviation: variance.sqrt(),
        held_out_accuracy: None,
        answered,
        decision_curves: DecisionCurve::of_classes(forecasts, false),
        classes,
        prior: None,
        bad_rows: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probability;
    use crate::numeric::Random;

    #[test] // Simulated truths of calibrated probabilities: the interval holds the share that comes true nineteen times in twenty.
    fn what_is_expected_comes_as_often_as_it_says() {
        let mut random = Random::from_seed(5);
        let mut held = 0;
        for _ in 0..400 {
            let odds: Vec<f64> = (0..120).map(|_| 2.0 * random.normal()).collect();
            let probabilities = odds.iter().flat_map(|&x| {
                let p = Probability::from_log_odds(x);
                [p.complement(), p]
            });
            let forecasts = Forecasts {
                task: Task::SingleLabel,
                class_names: vec!["a".into(), "b".into()],
                probabilities: probabilities.collect(),
                labels: vec![Vec::<u32>::new(); 120].into(),
                weights: None,
            };
            let report = expected(&forecasts);
            let sure = odds
                .iter()
                .map(|x| Probability::from_log_odds(x.abs()).value());
            let right = sure.filter(|&p| random.uniform() < p).count() as f64 / 120.0;
            held += usize::from(report.lower <= right && right <= report.upper);
            assert!(
                (report.expected_errors - 120.0 * (1.0 - report.expected_accuracy)).abs() < 1e-9
            );
        }
        assert!((370..=396).contains(&held), "{held} of 400");
    }
}
