//! What every system lost, document by document and decision by decision.

use std::cmp::Ordering;

use crate::Task;
use crate::evaluation::forecasts::{Forecasts, Row};
use crate::evaluation::significance::SignTest;

/// Three ways to be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    Log,
    Squared,
    Errors,
}

impl Loss {
    pub(super) const ALL: [Loss; 3] = [Loss::Log, Loss::Squared, Loss::Errors];
}

/// The losses of one system on the documents that count.
pub(super) struct Losses<'a> {
    task: Task,
    rows: Vec<Row<'a>>,
    /// By [`Loss`], document by document: the mean over the document's decisions.
    of_documents: [Vec<f64>; 3],
}

impl<'a> Losses<'a> {
    pub(super) fn new(forecasts: &'a Forecasts) -> Self {
        let rows = forecasts.rows();
        let mut of_documents = [const { Vec::new() }; 3];
        let class_count = forecasts.class_names.len();
        let mut belongs = vec![false; class_count];
        for row in &rows {
            row.labels
                .iter()
                .for_each(|&label| belongs[label as usize] = true);
            for (losses, loss) in
                of_documents
                    .iter_mut()
                    .zip(losses_of(forecasts.task, row, &belongs))
            {
                losses.push(loss);
            }
            row.labels
                .iter()
                .for_each(|&label| belongs[label as usize] = false);
        }
        Self {
            task: forecasts.task,
            rows,
            of_documents,
        }
    }

    pub(super) fn of_documents(&self, loss: Loss) -> &[f64] {
        &self.of_documents[loss as usize]
    }

    pub(super) fn rows(&self) -> &[Row<'a>] {
        &self.rows
    }

    /// Who was closer, over all decisions, by each loss.
    ///
    /// Log loss and the squared error of a yes-or-no decision both fall as its probability comes
    /// closer to the truth, so that the log-odds decide both, to the last bit.
    pub(super) fn sign_tests(&self, other: &Self) -> [SignTest; 3] {
        match self.task {
            Task::SingleLabel => {
                let log = self.rows.iter().zip(&other.rows).map(|(ours, theirs)| {
                    let label = ours.labels.first().map_or(0, |&label| label as usize);
                    closer(ours, theirs, label, true)
                });
                let by = |loss| {
                    let pairs = self.of_documents(loss).iter().zip(other.of_documents(loss));
                    SignTest::of_outcomes(pairs.map(|(ours, theirs)| theirs.total_cmp(ours)))
                };
                [
                    SignTest::of_outcomes(log),
                    by(Loss::Squared),
                    by(Loss::Errors),
                ]
            }
            Task::MultiLabel => {
                let (mut closer_counts, mut error_counts) = ([0u64; 3], [0u64; 3]);
                let class_count = self.rows.first().map_or(0, |row| row.probabilities.len());
                let mut belongs = vec![false; class_count];
                for (ours, theirs) in self.rows.iter().zip(&other.rows) {
                    ours.labels
                        .iter()
                        .for_each(|&label| belongs[label as usize] = true);
                    for (class, &belongs) in belongs.iter().enumerate() {
                        closer_counts[place(closer(ours, theirs, class, belongs))] += 1;
                        let wrong =
                            |row: &Row<'_>| (row.probabilities[class].log_odds() > 0.0) != belongs;
                        error_counts[place(wrong(theirs).cmp(&wrong(ours)))] += 1;
                    }
                    ours.labels
                        .iter()
                        .for_each(|&label| belongs[label as usize] = false);
                }
                let test = |[losses, ties, wins]: [u64; 3]| SignTest::of_counts(wins, losses, ties);
                let closer = test(closer_counts);
                [closer, closer, test(error_counts)]
            }
        }
    }
}

/// Where an outcome is counted: losses, ties, wins.
fn place(outcome: Ordering) -> usize {
    (outcome as i8 + 1) as usize
}

/// Whose probability of a class is closer to the truth: `Greater` if ours.
fn closer(ours: &Row<'_>, theirs: &Row<'_>, class: usize, belongs: bool) -> Ordering {
    let (ours, theirs) = (ours.probabilities[class], theirs.probabilities[class]);
    let order = ours.log_odds().partial_cmp(&theirs.log_odds());
    let order = order.unwrap_or(Ordering::Equal);
    if belongs { order } else { order.reverse() }
}

/// Log loss, squared error and errors of one document, in the units of
/// [`crate::evaluation::Evaluation`].
fn losses_of(task: Task, row: &Row<'_>, belongs: &[bool]) -> [f64; 3] {
    let squared = row
        .probabilities
        .iter()
        .zip(belongs)
        .map(|(probability, &belongs)| {
            let missed_by = if belongs {
                probability.complement()
            } else {
                *probability
            };
            missed_by.value() * missed_by.value()
        });
    let squared: f64 = squared.sum();
    let class_count = row.probabilities.len() as f64;
    match task {
        Task::SingleLabel => {
            let label = row.labels.first().map_or(0, |&label| label as usize);
            let log = row.probabilities[label].log_loss(true);
            let squared = if belongs.len() == 2 {
                squared / 2.0
            } else {
                squared
            };
            [log, squared, f64::from(u8::from(row.top_class() != label))]
        }
        Task::MultiLabel => {
            let decisions = || row.probabilities.iter().zip(belongs);
            let log: f64 = decisions()
                .map(|(probability, &belongs)| probability.log_loss(belongs))
                .sum();
            let wrong = decisions()
                .filter(|(probability, belongs)| (probability.log_odds() > 0.0) != **belongs);
            [
                log / class_count,
                squared / class_count,
                wrong.count() as f64 / class_count,
            ]
        }
    }
}
