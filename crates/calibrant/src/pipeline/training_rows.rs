//! Rows of numbers as a training corpus, without a document or a string in between.

use super::distinct::Orders;
use super::document_key::{key_of_group, key_of_terms};
use super::learned_keys::LearnedKeys;
use super::training_corpus::{DocumentCounter, PreparedCorpus, content_key};
use super::training_keys::EachKey;
use super::{FitSettings, TrainingCorpus, TrainingKeys};
use crate::corpus::ContentRef;
use crate::features::{BatchCounts, RowCells, RowSource, TermSum, tidy_row_into};
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

    /// The names of a row's classes, in order.
    fn labels_of<'n>(&self, row: usize, names: &'n [String]) -> Vec<&'n str> {
        let classes = self.classes_of(row).iter();
        let mut labels: Vec<&str> = classes
            .map(|&class| names[class as usize].as_str())
            .collect();
        labels.sort_unstable();
        labels.dedup();
        labels
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
    counts: BatchCounts,
    /// The key of each row with its labels, and its key without.
    keys: Vec<(u128, u128)>,
}

impl TrainingCorpus {
    /// All rows at once: the corpus that the same rows would give as numbered features in a file.
    pub fn of_rows(settings: &FitSettings, rows: &TrainingRows<'_>) -> Result<Self, FitError> {
        let RowsToLearn { names, numbers } = RowsToLearn::of(settings, rows)?;
        let counter = DocumentCounter::new(settings)?;
        let count_part = |part: std::ops::Range<usize>| {
            let numbers = part.map(|row| numbers.number(row));
            count(&counter, rows, &names, numbers)
        };
        let parts = parallel::map_ranges(numbers.count, ROWS_AT_ONCE, count_part);
        let mut corpus = Self::labelled(settings, rows, &names, &numbers);
        corpus.presence_only = counter.presence_only();
        corpus.words = vec![0; numbers.count];
        for part in parts {
            corpus.counts.merge(part.counts);
            for (key, document) in part.keys {
                corpus.side.push(RowCells::default());
                corpus.keys.push(key);
                corpus.documents.push(document);
            }
        }
        if corpus.weights.is_empty() {
            corpus.weights = vec![1.0; numbers.count];
        }
        Ok(corpus)
    }

    /// The rows in order, copies put together, and nothing counted: of the rows themselves nothing is kept but their numbers. While it is
    /// found out which are the same there are some 50 bytes per row, afterwards half as many.
    pub(super) fn order_of_rows(
        settings: &FitSettings,
        rows: &TrainingRows<'_>,
    ) -> Result<PreparedCorpus, FitError> {
        let RowsToLearn { names, numbers } = RowsToLearn::of(settings, rows)?;
        let corpus = Self::labelled(settings, rows, &names, &numbers);
        let mut documents = vec![0; numbers.count];
        parallel::map_chunks_mut(&mut documents, ROWS_AT_ONCE, |part, documents| {
            let mut entries = Vec::new();
            for (offset, document) in documents.iter_mut().enumerate() {
                let row = numbers.number(part * ROWS_AT_ONCE + offset);
                rows.rows.row_into(row, &mut entries);
                let sum = TermSum::of_features(&entries, false);
                *document = key_of_terms(ContentRef::Features(&entries), sum, &[]);
            }
        });
        let order_of = |row: u32| {
            let mut entries = Vec::new();
            let row = numbers.number(row as usize);
            tidy_row_into(rows.rows, row, &mut entries);
            let labels = rows.labels_of(row, &names);
            content_key(ContentRef::Features(&entries), labels)
        };
        let learned = |each: EachKey<'_>| LearnedKeys::by_counts(TrainingKeys::of_each(each));
        let orders = Orders::Asked(&order_of);
        let order = corpus.order_by(settings, documents.into(), orders, learned)?;
        let mut prepared = order.without_counts();
        let place = |row: &mut u32| *row = numbers.number(*row as usize) as u32;
        prepared.rows.iter_mut().for_each(place);
        Ok(prepared)
    }

    /// Labels, groups and weights of rows, as far as there are any.
    fn labelled(
        settings: &FitSettings,
        rows: &TrainingRows<'_>,
        names: &[String],
        numbers: &RowNumbers,
    ) -> Self {
        let mut corpus = Self::new(settings.column_space());
        corpus.any_features = numbers.count > 0;
        corpus.any_list = matches!(rows.classes, RowClasses::Several(_));
        let mut label_of_class = vec![None; names.len()];
        for row in (0..numbers.count).map(|row| numbers.number(row)) {
            let labels = rows.classes_of(row).iter().map(|&class| {
                let class = class as usize;
                *label_of_class[class].get_or_insert_with(|| corpus.label_number(&names[class]))
            });
            let labels: Vec<u32> = labels.collect();
            corpus.labels.push(labels);
        }
        let numbers = || (0..numbers.count).map(|row| numbers.number(row));
        if let Some(groups) = rows.groups {
            corpus.groups = numbers()
                .map(|row| key_of_group(&groups[row].to_string()))
                .collect();
        }
        if let Some(weights) = rows.weights {
            corpus.weights = numbers().map(|row| weights[row]).collect();
        }
        corpus
    }
}

/// What of rows is learned from.
struct RowsToLearn {
    /// Of all classes that rows speak of.
    names: Vec<String>,
    numbers: RowNumbers,
}

impl RowsToLearn {
    fn of(settings: &FitSettings, rows: &TrainingRows<'_>) -> Result<Self, FitError> {
        rows.check()?;
        if settings.rules.is_some() {
            return Err(FitError::BadSetting {
                setting: "the rules",
                requirement: "absent where rows of numbers are learned from, which have no text",
                value: "given".into(),
            });
        }
        Ok(Self {
            names: rows.names()?,
            numbers: RowNumbers::of(rows),
        })
    }
}

/// The rows that weigh anything.
struct RowNumbers {
    count: usize,
    /// `None` where it is all of them.
    listed: Option<Vec<u32>>,
}

impl RowNumbers {
    fn of(rows: &TrainingRows<'_>) -> Self {
        let all = rows.rows.row_count();
        let weights = rows.weights.filter(|weights| weights.contains(&0.0));
        let listed = weights.map(|weights| {
            let rows = (0..).zip(weights);
            let weighing = rows.filter(|&(_, &weight)| weight != 0.0);
            weighing.map(|(row, _)| row).collect::<Vec<u32>>()
        });
        Self {
            count: listed.as_ref().map_or(all, Vec::len),
            listed,
        }
    }

    fn number(&self, row: usize) -> usize {
        match &self.listed {
            None => row,
            Some(listed) => listed[row] as usize,
        }
    }
}

/// Counts some rows; parts are put together in order.
fn count(
    counter: &DocumentCounter,
    rows: &TrainingRows<'_>,
    names: &[String],
    numbers: impl Iterator<Item = usize>,
) -> CountedRows {
    let mut batch = counter.batch();
    let mut entries = Vec::new();
    let mut keys = Vec::new();
    for row in numbers {
        tidy_row_into(rows.rows, row, &mut entries);
        batch.count_features(&entries);
        let content = ContentRef::Features(&entries);
        let sum = batch.last_sum(counter.presence_only());
        keys.push((
            content_key(content, rows.labels_of(row, names)),
            key_of_terms(content, sum, &[]),
        ));
    }
    CountedRows {
        counts: batch.finish(),
        keys,
    }
}
