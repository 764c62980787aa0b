//! Two forecasts of the same documents, held against each other document by document.

use super::training_corpus::PreparedCorpus;
use crate::{Probability, Task};

/// Mean log losses of two forecasts, and how sure their difference is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairedLosses {
    /// Of the forecasts that are judged.
    pub(super) log_loss: f64,
    /// Of those that they stand beside.
    pub(super) other: f64,
    /// Standard error of the difference, over documents, or over groups where there are any.
    pub(super) standard_error: f64,
}

impl PairedLosses {
    /// Forecasts of `rows`, class after class, beside others of the same rows.
    pub(super) fn of(
        corpus: &PreparedCorpus,
        rows: impl Iterator<Item = usize>,
        stated: &[Probability],
        others: &[Probability],
    ) -> Self {
        let (labels, documents) = (&corpus.labels, &corpus.documents);
        let mut total = 0.0;
        let (mut log_loss, mut other) = (0.0, 0.0);
        // By what belongs together: weight, and weighted difference.
        let unit_count = match &documents.together {
            // Of a part of the documents the numbers have gaps.
            Some(together) => together.iter().max().map_or(0, |&most| most as usize + 1),
            None => documents.count,
        };
        let mut units = vec![(0.0, 0.0); unit_count];
        let pairs = stated.chunks_exact(labels.class_count);
        let pairs = pairs.zip(others.chunks_exact(labels.class_count));
        for (row, (stated, others)) in rows.zip(pairs) {
            let weight = documents.weights[row];
            let loss = |stated| loss(labels.task, stated, &labels.of_row[row]);
            let (stated, others) = (loss(stated), loss(others));
            total += weight;
            log_loss += weight * stated;
            other += weight * others;
            let document = documents.of_row[row] as usize;
            let unit = match &documents.together {
                Some(together) => together[document] as usize,
                None => document,
            };
            units[unit].0 += weight;
            units[unit].1 += weight * (others - stated);
        }
        let difference = (other - log_loss) / total;
        let units = units.iter().filter(|unit| unit.0 > 0.0);
        let count = units.clone().count() as f64;
        let squares = units.map(|(weight, sum)| (sum - weight * difference).powi(2));
        let squares: f64 = squares.sum::<f64>() * count / (count - 1.0).max(1.0);
        Self {
            log_loss: log_loss / total,
            other: other / total,
            standard_error: squares.sqrt() / total,
        }
    }

    /// Whether the log loss is lower by more than so many standard errors.
    pub(super) fn is_lower_by(&self, standard_errors: f64) -> bool {
        self.other - self.log_loss > standard_errors * self.standard_error
    }
}

/// Log loss of one document: the mean over classes where it may have several.
fn loss(task: Task, stated: &[Probability], labels: &[u32]) -> f64 {
    match task {
        Task::SingleLabel => {
            let label = labels.first().and_then(|&label| stated.get(label as usize));
            label.map_or(0.0, |probability| -probability.ln())
        }
        Task::MultiLabel => {
            let of = |(class, stated): (u32, &Probability)| {
                if labels.contains(&class) {
                    -stated.ln()
                } else {
                    -stated.complement().ln()
                }
            };
            (0..).zip(stated).map(of).sum::<f64>() / stated.len() as f64
        }
    }
}
