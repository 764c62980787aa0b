//! What was said and what was true, checked before anything is measured.

use super::class_wise::points_of_class;
use crate::numeric::StableSum;
use crate::{Probability, RowLabels, Task, parallel};

/// What was said and what was true.
///
/// Labels are positions in `class_names`. In a multi-label document a label that
/// is repeated counts once. A document with weight zero counts as absent.
///
/// ```
/// use calibrant_calibration::{Probability, Task, evaluation::{Forecasts, evaluate}};
/// let forecasts = Forecasts {
///     task: Task::MultiLabel,
///     class_names: vec!["wheat".into()],
///     probabilities: vec![Probability::from_log_odds(0.0), Probability::from_log_odds(0.0)],
///     labels: [vec![0], vec![]].into(),
///     weights: None,
/// };
/// // By hand: even odds cost ln 2 whatever happens, and miss by 0.5 each time.
/// let evaluation = evaluate(&forecasts)?;
/// assert!((evaluation.log_loss - 2f64.ln()).abs() < 1e-15);
/// assert_eq!(evaluation.brier, 0.25);
/// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Forecasts {
    /// Whether documents have exactly one label or any number.
    pub task: Task,
    /// The classes, in the order of the probabilities.
    pub class_names: Vec<String>,
    /// Row by row: the probability of `class` for `document` is at
    /// `document * class_count + class`.
    pub probabilities: Vec<Probability>,
    /// The true labels of every document.
    pub labels: RowLabels,
    /// How much every document counts; all alike if absent.
    pub weights: Option<Vec<f64>>,
}

/// Why forecasts cannot be evaluated. Documents are counted from zero.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// There is nothing to measure.
    #[error("there are no documents to evaluate (or all have weight zero); give at least one")]
    NoDocuments,
    /// There are no classes.
    #[error("there are no classes to evaluate; give the class names of the probabilities")]
    NoClasses,
    /// The table of probabilities does not fit the documents and classes.
    #[error(
        "{documents} documents and {classes} classes need {documents} x {classes} probabilities, found {found}"
    )]
    ProbabilityCount {
        /// Rows of labels.
        documents: usize,
        /// Class names.
        classes: usize,
        /// Probabilities given.
        found: usize,
    },
    /// There are not as many weights as documents.
    #[error("{documents} documents need as many weights, found {found}")]
    WeightCount {
        /// Rows of labels.
        documents: usize,
        /// Weights given.
        found: usize,
    },
    /// A weight is negative, infinite or not a number.
    #[error(
        "document {} has weight {weight}; weights must be finite and not negative",
        document + 1
    )]
    BadWeight {
        /// Which document, from 0; messages count from 1.
        document: usize,
        /// Its weight.
        weight: f64,
    },
    /// A label names no class.
    #[error(
        "document {} has label number {label}, but there are only {classes} classes",
        document + 1
    )]
    UnknownLabel {
        /// Which document, from 0; messages count from 1.
        document: usize,
        /// The label given.
        label: u32,
        /// How many classes there are.
        classes: usize,
    },
    /// A single-label document without exactly one label.
    #[error(
        "document {} has {found} labels; single-label evaluation needs exactly one (evaluate as multi-label instead?)",
        document + 1
    )]
    LabelCount {
        /// Which document, from 0; messages count from 1.
        document: usize,
        /// Labels given.
        found: usize,
    },
    /// The costs themselves cannot be used.
    #[error(transparent)]
    Costs(#[from] crate::decision::CostError),
    /// The costs are for other classes.
    #[error(
        "the costs are for {found} classes, or for another number of labels a document, but there are {needed} classes"
    )]
    CostSize {
        /// Classes that there are.
        needed: usize,
        /// Classes that costs are given for.
        found: usize,
    },
    /// The probabilities of a single-label document do not sum to one.
    #[error(
        "the probabilities of document {} sum to {sum:.4}; single-label probabilities must sum to 1 (evaluate as multi-label instead?)",
        document + 1
    )]
    RowSum {
        /// Which document, from 0; messages count from 1.
        document: usize,
        /// What its probabilities sum to.
        sum: f64,
    },
    /// There are not two systems to compare.
    #[error("a comparison needs at least two systems, found {found}")]
    TooFewSystems {
        /// How many there are.
        found: usize,
    },
    /// Two systems have one name.
    #[error("two systems are called `{name}`; give each its own name")]
    RepeatedName {
        /// The name.
        name: String,
    },
    /// Two systems did not answer the same questions.
    #[error("`{first}` and `{second}` have different {what}, so they cannot be compared")]
    NotTheSame {
        /// The first system.
        first: String,
        /// The one that does not fit.
        second: String,
        /// In what they differ.
        what: &'static str,
    },
    /// A setting is outside what makes sense.
    #[error("{setting} must be {requirement}, not {value}")]
    BadSetting {
        /// The name of the setting.
        setting: &'static str,
        /// What it must be.
        requirement: &'static str,
        /// What it is.
        value: String,
    },
}

/// How far the probabilities of a single-label document may be from summing to
/// one: enough for a table printed with few digits, not for unnormalised scores.
const ROW_SUM_TOLERANCE: f64 = 0.05;

/// One document that counts.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) probabilities: &'a [Probability],
    pub(super) labels: &'a [u32],
    /// Divided by the largest weight, so that no sum of weighted losses overflows.
    pub(super) weight: f64,
    /// Its place in the forecasts.
    pub(super) document: usize,
}

impl Row<'_> {
    /// The class with the largest probability, the first of equals.
    pub(super) fn top_class(&self) -> usize {
        let mut top = 0;
        for (class, probability) in self.probabilities.iter().enumerate() {
            if probability.log_odds() > self.probabilities[top].log_odds() {
                top = class;
            }
        }
        top
    }
}

impl Forecasts {
    /// Every probability that calibration is judged by, with whether it came true and
    /// its weight, ready for [`super::reliability`]: the top probability of each
    /// document for single-label forecasts, every decision for multi-label ones.
    ///
    /// ```
    /// use calibrant_calibration::{Probability, Task, evaluation::Forecasts};
    /// let p = Probability::from_log_odds(2.0);
    /// let forecasts = Forecasts {
    ///     task: Task::SingleLabel,
    ///     class_names: vec!["ham".into(), "spam".into()],
    ///     probabilities: vec![p, p.complement()],
    ///     labels: [vec![1]].into(),
    ///     weights: None,
    /// };
    /// assert_eq!(forecasts.calibration_points()?, [(p, false, 1.0)]); // ham was said, spam was true
    /// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
    /// ```
    pub fn calibration_points(&self) -> Result<Vec<(Probability, bool, f64)>, EvaluationError> {
        self.check()?;
        let mut points = self.points_of(&self.rows());
        let mean = self.mean_weight();
        points.iter_mut().for_each(|point| point.2 *= mean);
        Ok(points)
    }

    /// The probability of one class and whether it came true, document by document, with its weight.
    pub fn class_points(
        &self,
        class: usize,
    ) -> Result<Vec<(Probability, bool, f64)>, EvaluationError> {
        self.check()?;
        let (rows, mean) = (self.rows(), self.mean_weight());
        let points = points_of_class(&rows, class);
        Ok(points
            .map(|(p, belongs, weight)| (p, belongs, weight * mean))
            .collect())
    }

    /// As [`Self::calibration_points`], of checked rows and with their scaled weights.
    pub(super) fn points_of(&self, rows: &[Row<'_>]) -> Vec<(Probability, bool, f64)> {
        match self.task {
            Task::SingleLabel => rows
                .iter()
                .map(|row| {
                    let top = row.top_class();
                    let happened = row
                        .labels
                        .first()
                        .is_some_and(|&label| label as usize == top);
                    (row.probabilities[top], happened, row.weight)
                })
                .collect(),
            Task::MultiLabel => {
                let mut points = Vec::with_capacity(rows.len() * self.class_names.len());
                let mut is_label = vec![false; self.class_names.len()];
                for row in rows {
                    row.labels
                        .iter()
                        .for_each(|&label| is_label[label as usize] = true);
                    for (&probability, &happened) in row.probabilities.iter().zip(&is_label) {
                        points.push((probability, happened, row.weight));
                    }
                    row.labels
                        .iter()
                        .for_each(|&label| is_label[label as usize] = false);
                }
                points
            }
        }
    }

    /// The documents whose weight is above zero, with weights of a mean of 1: only their ratios count, and what is
    /// added up is in documents. Only after [`Self::check`].
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        let (largest, share) = (self.largest_weight(), self.mean_of_shares());
        self.labels
            .iter()
            .zip(self.probabilities.chunks_exact(self.class_names.len()))
            .enumerate()
            .map(|(document, (labels, probabilities))| {
                let weight = self
                    .weights
                    .as_ref()
                    .map_or(1.0, |weights| weights[document] / largest / share);
                Row {
                    probabilities,
                    labels,
                    weight,
                    document,
                }
            })
            .filter(|row| row.weight > 0.0)
            .collect()
    }

    /// The mean of the weights above zero as a share of the largest, which no sum can carry beyond all numbers.
    fn mean_of_shares(&self) -> f64 {
        let largest = self.largest_weight();
        let weights = self.weights.iter().flatten();
        let shares = weights.map(|weight| weight / largest);
        let (mut sum, mut count) = (StableSum::default(), 0usize);
        for share in shares.filter(|&share| share > 0.0) {
            sum.add(share);
            count += 1;
        }
        if count == 0 {
            1.0
        } else {
            sum.total() / count as f64
        }
    }

    fn mean_weight(&self) -> f64 {
        self.mean_of_shares() * self.largest_weight()
    }

    fn largest_weight(&self) -> f64 {
        self.weights
            .as_ref()
            .map_or(1.0, |weights| weights.iter().copied().fold(0.0, f64::max))
    }

    /// Finds the first thing that would make a measure meaningless.
    pub(super) fn check(&self) -> Result<(), EvaluationError> {
        let (documents, classes) = (self.labels.len(), self.class_names.len());
        if classes == 0 {
            return Err(EvaluationError::NoClasses);
        }
        if documents.checked_mul(classes) != Some(self.probabilities.len()) {
            let found = self.probabilities.len();
            return Err(EvaluationError::ProbabilityCount {
                documents,
                classes,
                found,
            });
        }
        if let Some(weights) = &self.weights {
            if weights.len() != documents {
                return Err(EvaluationError::WeightCount {
                    documents,
                    found: weights.len(),
                });
            }
            for (document, &weight) in weights.iter().enumerate() {
                if !(weight.is_finite() && weight >= 0.0) {
                    return Err(EvaluationError::BadWeight { document, weight });
                }
            }
        }
        if documents == 0 || self.largest_weight() == 0.0 {
            return Err(EvaluationError::NoDocuments);
        }
        for (document, labels) in self.labels.iter().enumerate() {
            if let Some(&label) = labels.iter().find(|&&label| label as usize >= classes) {
                return Err(EvaluationError::UnknownLabel {
                    document,
                    label,
                    classes,
                });
            }
            if self.task == Task::SingleLabel && labels.len() != 1 {
                return Err(EvaluationError::LabelCount {
                    document,
                    found: labels.len(),
                });
            }
        }
        if self.task == Task::SingleLabel {
            let bad = parallel::map_parts(documents, |part| {
                let rows =
                    self.probabilities[part.start * classes..part.end * classes].chunks(classes);
                let sums = rows.map(|row| row.iter().map(|probability| probability.value()).sum());
                part.zip(sums)
                    .find(|(_, sum): &(usize, f64)| (sum - 1.0).abs() > ROW_SUM_TOLERANCE)
            });
            if let Some((document, sum)) = bad.into_iter().flatten().next() {
                return Err(EvaluationError::RowSum { document, sum });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(task: Task, labels: Vec<Vec<u32>>) -> Forecasts {
        Forecasts {
            task,
            class_names: vec!["a".into(), "b".into()],
            probabilities: vec![Probability::from_log_odds(0.0); 2 * labels.len()],
            labels: labels.into(),
            weights: None,
        }
    }

    #[track_caller]
    fn refused(forecasts: &Forecasts, message: &str) {
        let error = forecasts.check().expect_err("must be refused").to_string();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_its_place() {
        refused(&even(Task::SingleLabel, vec![]), "no documents");
        refused(
            &even(Task::SingleLabel, vec![vec![0], vec![0, 1]]),
            "document 2 has 2 labels",
        );
        refused(
            &even(Task::MultiLabel, vec![vec![0], vec![2]]),
            "label number 2",
        );
        let mut forecasts = even(Task::SingleLabel, vec![vec![0], vec![1]]);
        forecasts.probabilities[3] = Probability::from_log_odds(3.0);
        refused(&forecasts, "document 2 sum to 1.45");
        forecasts.probabilities.pop();
        refused(&forecasts, "2 x 2 probabilities, found 3");
        let mut forecasts = even(Task::MultiLabel, vec![vec![], vec![1]]);
        forecasts.weights = Some(vec![1.0]);
        refused(&forecasts, "found 1");
        forecasts.weights = Some(vec![1.0, f64::NAN]);
        refused(&forecasts, "document 2 has weight NaN");
        forecasts.weights = Some(vec![0.0, 0.0]);
        refused(&forecasts, "weight zero");
        forecasts.class_names.clear();
        refused(&forecasts, "no classes");
    }
}
