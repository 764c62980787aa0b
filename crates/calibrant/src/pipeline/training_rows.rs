//! Rows of numbers as a training corpus, without a document or a string in between.

use super::document_key::{key_of_group, key_of_terms};
use super::training_corpus::{DocumentCounter, content_key};
use super::{FitSettings, TrainingCorpus};
use crate::corpus::ContentRef;
use crate::features::{BatchCounts, RowCells, RowSource, TermSum};
use crate::parallel;
use crate::{FitError, RowLabels};

/// So many rows are counted by one thread at a time.
const ROWS_AT_ONCE: usize = 1024;

/// Rows to learn from, as arrays.
#[derive(Clone, Copy)]
pub struct TrainingRows<'a> {
    /// The rows; the number of a column is the name of its feature.
    pub rows: &'a dyn RowSource,
    /// Their classes.
    pub classes: RowClasses<'a>,
    /// The names of the classes; their numbers where it is empty.
    pub class_names: &'a [String],
    /// How much each row counts, relative to the others; all alike if absent. Rows of weight zero are left out.
    pub weights: Option<&'a [f64]>,
    /// Rows with the same number are held out together.
    pub groups: Option<&'a [u64]>,
}

/// The classes of rows, by number.
#[derive(Debug, Clone, Copy)]
pub enum RowClasses<'a> {
    /// One per row.
    One(&'a [u32]),
    /// Any number per row.
    Several(&'a RowLabels),
}

impl<'a> TrainingRows<'a> {
    /// Rows of one class each, named by their numbers, that all count alike.
    pub fn new(rows: &'a dyn RowSource, classes: &'a [u32]) -> Self {
        Self {
            rows,
            classes: RowClasses::One(classes),
            class_names: &[],
            weights: None,
            groups: None,
        }
    }

    fn check(&self) -> Result<(), FitError> {
        let same_length = |right_name, right| match self.rows.row_count() {
            left if left == right => Ok(()),
            left => Err(FitError::LengthMismatch {
                left_name: "rows",
                left,
                right_name,
                right,
            }),
        };
        same_length(
            "classes",
            match self.classes {
                RowClasses::One(classes) => classes.len(),
                RowClasses::Several(classes) => classes.len(),
            },
        )?;
        if let Some(weights) = self.weights {
            same_length("weights", weights.len())?;
        }
        match self.groups {
            Some(groups) => same_length("groups", groups.len()),
            None => Ok(()),
        }
    }

    fn classes_of(&self, row: usize) -> &[u32] {
        match self.classes {
            RowClasses::One(classes) => std::slice::from_ref(&classes[row]),
            RowClasses::Several(classes) => &classes[row],
        }
    }

    /// The names of all classes that rows speak of, by number.
    fn names(&self) -> Result<Vec<String>, FitError> {
        let numbers = (0..self.rows.row_count()).flat_map(|row| self.classes_of(row));
        let count = numbers.max().map_or(0, |&most| most as usize + 1);
        if self.class_names.is_empty() {
            return Ok((0..count).map(|number| number.to_string()).collect());
        }
        if count > self.class_names.len() {
            return Err(FitError::BadSetting {
                setting: "a class",
                requirement: "a number below that of the class names",
                value: (count - 1).to_string(),
            });
        }
        Ok(self.class_names.to_vec())
    }
}

/// Some rows, counted.
struct CountedRows {
    counts: Option<BatchCounts>,
    /// The number of each row, its key with its labels, and its key without.
    keys: Vec<(usize, u128, u128)>,
}

impl TrainingCorpus {
    /// All rows at once: the corpus that the same rows would give as numbered features in a file.
    pub fn of_rows(settings: &FitSettings, rows: &TrainingRows<'_>) -> Result<Self, FitError> {
        Ok(Self::told_apart(settings, rows, true)?.0)
    }

    /// What says which rows are the same, without their counts where those are not asked for; beside it the numbers of the rows that
    /// weigh anything.
    pub(super) fn told_apart(
        settings: &FitSettings,
        rows: &TrainingRows<'_>,
        counted: bool,
    ) -> Result<(Self, Vec<u32>), FitError> {
        rows.check()?;
        if settings.rules.is_some() {
            return Err(FitError::BadSetting {
                setting: "the rules",
                requirement: "absent where rows of numbers are learned from, which have no text",
                value: "given".into(),
            });
        }
        let names = rows.names()?;
        let counter = DocumentCounter::new(settings)?;
        let weighs = |row: usize| rows.weights.is_none_or(|weights| weights[row] != 0.0);
        let numbers: Vec<u32> = (0..rows.rows.row_count() as u32)
            .filter(|&row| weighs(row as usize))
            .collect();
        let parts = parallel::map_chunks(&numbers, ROWS_AT_ONCE, |numbers| {
            count(&counter, rows, &names, numbers, counted)
        });
        let mut corpus = Self::new(settings.column_space());
        corpus.presence_only = counter.presence_only();
        corpus.any_features = !numbers.is_empty();
        corpus.any_list = matches!(rows.classes, RowClasses::Several(_));
        for part in parts {
            if let Some(counts) = part.counts {
                corpus.counts.merge(counts);
            }
            for (row, key, document) in part.keys {
                corpus.push_row(rows, &names, (row, key, document));
            }
        }
        Ok((corpus, numbers))
    }

    fn push_row(
        &mut self,
        rows: &TrainingRows<'_>,
        names: &[String],
        (row, key, document): (usize, u128, u128),
    ) {
        self.side.push(RowCells::default());
        if let Some(groups) = rows.groups {
            self.groups.push(key_of_group(&groups[row].to_string()));
        }
        self.keys.push(key);
        self.documents.push(document);
        self.words.push(0);
        self.weights
            .push(rows.weights.map_or(1.0, |weights| weights[row]));
        let classes = rows.classes_of(row);
        let labels: Vec<u32> = classes
            .iter()
            .map(|&class| self.label_number(&names[class as usize]))
            .collect();
        self.labels.push(labels);
    }
}

/// Counts some rows; parts are put together in order.
fn count(
    counter: &DocumentCounter,
    rows: &TrainingRows<'_>,
    names: &[String],
    numbers: &[u32],
    counted: bool,
) -> CountedRows {
    let mut batch = counter.batch();
    let mut entries = Vec::new();
    let mut keys = Vec::with_capacity(numbers.len());
    for row in numbers.iter().map(|&row| row as usize) {
        rows.rows.row_into(row, &mut entries);
        if counted {
            batch.count_features(&entries);
        }
        let content = ContentRef::Features(&entries);
        let mut labels: Vec<&str> = rows
            .classes_of(row)
            .iter()
            .map(|&class| names[class as usize].as_str())
            .collect();
        labels.sort_unstable();
        labels.dedup();
        let sum = match counted {
            true => batch.last_sum(counter.presence_only()),
            false => TermSum::of_features(&entries, counter.presence_only()),
        };
        keys.push((
            row,
            content_key(content, labels),
            key_of_terms(content, sum, &[]),
        ));
    }
    CountedRows {
        counts: counted.then(|| batch.finish()),
        keys,
    }
}
