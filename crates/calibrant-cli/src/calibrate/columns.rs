//! A file of scores as columns.

use std::collections::HashMap;
use std::ops::ControlFlow;

use calibrant::corpus::{ReadError, ReadOptions, ReadSummary, ScoredRow, read_scores};

use crate::error::CliError;
use crate::input;
use crate::progress::TerminalProgress;

/// Scores, labels and weights of all rows.
#[derive(Default)]
pub(super) struct Columns {
    /// Row by row, one for each field.
    pub(super) scores: Vec<f64>,
    /// Positions in `names`.
    labels: Vec<u32>,
    /// The distinct labels, as they came.
    pub(super) names: Vec<LabelName>,
    pub(super) weights: Vec<f64>,
    /// What rows belong to; empty unless it was asked for.
    pub(super) groups: Vec<Option<String>>,
}

/// A label that occurs.
pub(super) struct LabelName {
    pub(super) name: String,
    /// Where it first occurs.
    pub(super) line: u64,
}

impl Columns {
    /// Reads the whole file.
    pub(super) fn read(file: &str, options: &ReadOptions) -> Result<(Self, ReadSummary), CliError> {
        let mut all = Self::default();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let read = read_scores(
            &input::source(file),
            options,
            &TerminalProgress::default(),
            |rows| Self::of_batch(rows, options.fields.group.is_some()),
            |batch| {
                all.append(batch, &mut numbers);
                ControlFlow::Continue(())
            },
        );
        Ok((all, read.map_err(read_error)?))
    }

    fn of_batch(rows: Vec<ScoredRow>, with_groups: bool) -> Self {
        let mut columns = Self::default();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for row in rows {
            columns.scores.extend(row.scores);
            columns.weights.push(row.weight);
            if with_groups {
                columns.groups.push(row.group);
            }
            let name = row.label.unwrap_or_default();
            let number = numbers.get(&name).copied().unwrap_or_else(|| {
                let number = columns.names.len() as u32;
                numbers.insert(name.clone(), number);
                let line = row.line;
                columns.names.push(LabelName { name, line });
                number
            });
            columns.labels.push(number);
        }
        columns
    }

    fn append(&mut self, later: Self, numbers: &mut HashMap<String, u32>) {
        let renumbered: Vec<u32> = later
            .names
            .into_iter()
            .map(|label| match numbers.get(&label.name) {
                Some(&number) => number,
                None => {
                    let number = self.names.len() as u32;
                    numbers.insert(label.name.clone(), number);
                    self.names.push(label);
                    number
                }
            })
            .collect();
        let labels = later.labels.iter().map(|&label| renumbered[label as usize]);
        self.labels.extend(labels);
        self.scores.extend(later.scores);
        self.weights.extend(later.weights);
        self.groups.extend(later.groups);
    }

    /// The class of each row, where `class_of` tells the class of each label.
    pub(super) fn classes(&self, class_of: &[u32]) -> Vec<u32> {
        let labels = self.labels.iter();
        labels.map(|&label| class_of[label as usize]).collect()
    }

    pub(super) fn row_count(&self) -> usize {
        self.labels.len()
    }
}

/// As other commands say it, but with the options that this one has.
pub(super) fn read_error(error: ReadError) -> CliError {
    let unknown = matches!(error, ReadError::UnknownField { .. });
    let error = CliError::from(error);
    if unknown {
        error.hint("name fields with --score, --label, --weight, --group, --id and --where")
    } else {
        error
    }
}
