//! What every system lost, document by document and decision by decision.

use std::cmp::Ordering;

use crate::Task;
use crate::evaluation::forecasts::{Forecasts, Row};
use crate::evaluation::significance::SignTest;
use crate::evaluation::units::Units;

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

    /// Who was closer, over all decisions, by each loss. Documents that are one piece of evidence have one vote together
    /// (with several labels, one per class): that of most of them.
    ///
    /// Log loss and the squared error of a yes-or-no decision both fall as its probability comes
    /// closer to the truth, so that the log-odds decide both, to the last bit.
    pub(super) fn sign_tests(&self, other: &Self, units: &Units) -> [SignTest; 3] {
        let decisions = match self.task {
            Task::SingleLabel => 1,
            Task::MultiLabel => self.rows.first().map_or(0, |row| row.probabilities.len()),
        };
        let mut counts = [[0u64; 3]; 3];
        let mut votes = vec![[0i64; 3]; decisions];
        let mut belongs = vec![false; decisions];
        for unit in 0..units.count() {
            votes.fill([0; 3]);
            for &row in units.documents(unit) {
                self.vote(other, row as usize, &mut belongs, &mut votes);
            }
            for votes in &votes {
                for (counts, vote) in counts.iter_mut().zip(votes) {
                    counts[place(vote.cmp(&0))] += 1;
                }
            }
        }
        counts.map(|[losses, ties, wins]| SignTest::of_counts(wins, losses, ties))
    }

    /// Adds the votes of one row's decisions, by each loss. `belongs` is a buffer, false everywhere.
    fn vote(&self, other: &Self, row: usize, belongs: &mut [bool], votes: &mut [[i64; 3]]) {
        let (ours, theirs) = (&self.rows[row], &other.rows[row]);
        match self.task {
            Task::SingleLabel => {
                let label = ours.labels.first().map_or(0, |&label| label as usize);
                let by = |loss: Loss| {
                    let (ours, theirs) = (self.of_documents(loss), other.of_documents(loss));
                    theirs[row].total_cmp(&ours[row]) as i64
                };
                votes[0][0] += closer(ours, theirs, label, true) as i64;
                votes[0][1] += by(Loss::Squared);
                votes[0][2] += by(Loss::Errors);
            }
            Task::MultiLabel => {
                let labels = || ours.labels.iter().map(|&label| label as usize);
                labels().for_each(|label| belongs[label] = true);
                for (class, votes) in votes.iter_mut().enumerate() {
                    let belongs = belongs[class];
                    let closer = closer(ours, theirs, class, belongs) as i64;
                    let wrong =
                        |row: &Row<'_>| (row.probabilities[class].log_odds() > 0.0) != belongs;
                    votes[0] += closer;
                    votes[1] += closer;
                    votes[2] += wrong(theirs).cmp(&wrong(ours)) as i64;
                }
                labels().for_each(|label| belongs[label] = false);
            }
        }
    }

    /// What was lost more than by another, in the mean of each unit.
    pub(super) fn differences(&self, other: &Self, loss: Loss, units: &Units) -> Vec<f64> {
        let (ours, theirs) = (self.of_documents(loss), other.of_documents(loss));
        let difference = |&row: &u32| ours[row as usize] - theirs[row as usize];
        (0..units.count())
            .map(|unit| {
                let rows = units.documents(unit);
                rows.iter().map(difference).sum::<f64>() / rows.len() as f64
            })
            .collect()
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
