//! Two forecasts of the same documents, held against each other document by document.

use super::distinct::Documents;
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
        let mut gains = UnitGains::new(documents);
        let pairs = stated.chunks_exact(labels.class_count);
        let pairs = pairs.zip(others.chunks_exact(labels.class_count));
        for (row, (stated, others)) in rows.zip(pairs) {
            let weight = documents.weights[row];
            let loss = |stated| loss(labels.task, stated, &labels.of_row[row]);
            let (stated, others) = (loss(stated), loss(others));
            total += weight;
            log_loss += weight * stated;
            other += weight * others;
            gains.add(row, weight, weight * (others - stated));
        }
        let (_, standard_error) = gains.mean_and_error();
        Self {
            log_loss: log_loss / total,
            other: other / total,
            standard_error,
        }
    }

    /// Whether the log loss is lower by more than so many standard errors.
    pub(super) fn is_lower_by(&self, standard_errors: f64) -> bool {
        self.other - self.log_loss > standard_errors * self.standard_error
    }
}

/// How much less one forecast loses than another, by what belongs together: rows of one document, or of one group.
pub(super) struct UnitGains<'a> {
    documents: &'a Documents,
    /// Weight, and weighted gain.
    units: Vec<(f64, f64)>,
}

impl<'a> UnitGains<'a> {
    pub(super) fn new(documents: &'a Documents) -> Self {
        let count = match &documents.together {
            // Of a part of the documents the numbers have gaps.
            Some(together) => together.iter().max().map_or(0, |&most| most as usize + 1),
            None => documents.count,
        };
        Self {
            documents,
            units: vec![(0.0, 0.0); count],
        }
    }

    /// Adds a row with its weight and what it gains, times that.
    pub(super) fn add(&mut self, row: usize, weight: f64, gain: f64) {
        let document = self.documents.of_row(row) as usize;
        let unit = match &self.documents.together {
            Some(together) => together[document] as usize,
            None => document,
        };
        self.units[unit].0 += weight;
        self.units[unit].1 += gain;
    }

    /// The gain for a weight of one, and its standard error.
    pub(super) fn mean_and_error(&self) -> (f64, f64) {
        let units = self.units.iter().filter(|unit| unit.0 > 0.0);
        let count = units.clone().count() as f64;
        let (total, sum) = (units.clone()).fold((0.0, 0.0), |(total, sum), (weight, gain)| {
            (total + weight, sum + gain)
        });
        let mean = sum / total;
        let squares = units.map(|(weight, gain)| (gain - weight * mean).powi(2));
        let squares: f64 = squares.sum::<f64>() * count / (count - 1.0).max(1.0);
        (mean, squares.sqrt() / total)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // By hand: pairs gain 0.4 and -0.4, so √(0.32 · 2/1) / 4; alone √(0.2 · 4/3) / 4.
    fn what_belongs_together_counts_once() {
        let mut documents = Documents {
            keys: Vec::new(),
            weights: vec![1.0; 4],
            copies: None,
            of_row: None,
            count: 4,
            together: Some(vec![0, 0, 2, 2]),
        };
        let error = |documents: &Documents| {
            let mut gains = UnitGains::new(documents);
            for (row, gain) in [0.3, 0.1, -0.1, -0.3].into_iter().enumerate() {
                gains.add(row, 1.0, gain);
            }
            let (mean, error) = gains.mean_and_error();
            assert!(mean.abs() < 1e-15);
            error
        };
        assert!((error(&documents) - 0.2).abs() < 1e-12);
        documents.together = None;
        assert!((error(&documents) - 0.129_099_444_873_580_5).abs() < 1e-12);
    }
}
