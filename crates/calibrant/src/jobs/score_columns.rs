//! A file of scores as columns.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::Progress;
use crate::corpus::{
    ReadError, ReadOptions, ReadSummary, ScoredRow, Source, alike_labels, folded_label, read_scores,
};
use crate::pipeline::ScoreTable;

/// Scores, labels and weights of all rows of a table that any classifier wrote.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScoreColumns {
    /// Row by row, one for each field.
    pub scores: Vec<f64>,
    /// The label of each row, as a position in `names`.
    pub labels: Vec<u32>,
    /// The distinct labels, in the order in which they first occur.
    pub names: Vec<LabelName>,
    /// How much each row counts.
    pub weights: Vec<f64>,
    /// What rows belong to; empty unless a field for it was named.
    pub groups: Vec<Option<String>>,
    /// Whether labels that differ in case or space alone became one.
    pub folded: bool,
}

/// A label that occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelName {
    /// The label.
    pub name: String,
    /// Where it first occurs: the line from 1, the row in Parquet.
    pub line: u64,
}

impl ScoreColumns {
    /// Reads the fields [`ReadOptions::scores`] and the label of every row.
    ///
    /// ```
    /// use calibrant::NoProgress;
    /// use calibrant::corpus::{ReadOptions, Source};
    /// use calibrant::jobs::ScoreColumns;
    /// let table = Source::bytes("s.csv", *b"s,label\n0.5,yes\n-1,no\n2,yes\n");
    /// let options = ReadOptions { scores: vec!["s".into()], ..ReadOptions::default() };
    /// let (columns, _) = ScoreColumns::read(&table, &options, &NoProgress)?;
    /// assert_eq!(columns.scores, [0.5, -1.0, 2.0]);
    /// assert_eq!(columns.labels, [0, 1, 0]);
    /// assert_eq!(columns.names[1].name, "no");
    /// # Ok::<(), calibrant::corpus::ReadError>(())
    /// ```
    pub fn read(
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<(Self, ReadSummary), ReadError> {
        let mut all = Self::default();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let read = read_scores(
            source,
            options,
            progress,
            |rows| Self::of_batch(rows, options.fields.group.is_some()),
            |batch| {
                all.append(batch, &mut numbers);
                ControlFlow::Continue(())
            },
        )?;
        if options.fold_labels {
            all.fold_labels();
        }
        Ok((all, read))
    }

    /// Makes one of labels that differ in case or space alone, called as most rows spell it.
    fn fold_labels(&mut self) {
        self.folded = true;
        let mut counts = vec![0; self.names.len()];
        for &label in &self.labels {
            counts[label as usize] += 1;
        }
        let spelt = self.names.iter().map(|label| label.name.as_str());
        let sets = alike_labels(spelt.zip(counts));
        let kept: HashMap<String, &str> = sets
            .iter()
            .map(|set| (folded_label(set[0]), set[0]))
            .collect();
        let mut names: Vec<LabelName> = Vec::new();
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut of_label = Vec::new();
        for label in &self.names {
            let name = kept[&folded_label(&label.name)];
            let number = *numbers.entry(name).or_insert_with(|| {
                names.push(LabelName {
                    name: name.to_owned(),
                    line: label.line,
                });
                names.len() as u32 - 1
            });
            of_label.push(number);
        }
        for label in &mut self.labels {
            *label = of_label[*label as usize];
        }
        self.names = names;
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

    /// The table that a calibrator is fitted to, where `class_of` tells the class of each label.
    pub(super) fn table(&self, class_of: &[u32]) -> ScoreTable {
        let labels = self.labels.iter();
        ScoreTable {
            scores: self.scores.clone(),
            labels: labels.map(|&label| class_of[label as usize]).collect(),
            weights: self.weights.clone(),
        }
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        self.labels.len()
    }
}
