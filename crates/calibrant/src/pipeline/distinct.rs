//! Which rows are one document, and which documents belong together.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::observations::Observations;
use crate::RowLabels;
use crate::numeric::{Links, relative_weights};
use crate::parallel;
use crate::problem::ClassLabels;
use crate::problem::{FoldError, Folds};

/// What decides which rows are the same, beside what a model sees of them: one entry per row of the file in every list.
pub(super) struct Identities<'a> {
    /// Of content and labels as written; rows are put in the order of these.
    pub(super) orders: Orders<'a>,
    /// How many words the text begins with; empty where there are no texts.
    pub(super) words: &'a [u8],
    /// Of the group, zero where there is none; empty where no row has one.
    pub(super) groups: &'a [u128],
    /// Empty where all weigh 1.
    pub(super) weights: &'a [f64],
    /// With fewer different contents than folds nothing could be held out: each row is then its own document.
    pub(super) folds: usize,
}

/// Keys of content and labels.
#[derive(Clone, Copy)]
pub(super) enum Orders<'a> {
    Listed(&'a [u128]),
    /// Worked out anew each time, where a list would be large.
    Asked(&'a (dyn Fn(u32) -> u128 + Sync)),
}

impl Orders<'_> {
    fn of(self, row: u32) -> u128 {
        match self {
            Self::Listed(keys) => keys[row as usize],
            Self::Asked(key) => key(row),
        }
    }
}

/// Rows that are left when copies have become weights, in no order yet.
pub(super) struct Kept {
    rows: Vec<u32>,
    copies: Copies,
    /// For rows of documents that have several: the first row of the document.
    document_of: HashMap<u32, u32>,
    /// Documents that are no copies of each other though they look alike are not remembered.
    observations: Observations,
    /// For each row of the file, whether it is the first of its document.
    is_first: Vec<bool>,
}

/// Rows that are left when copies have become weights.
pub(super) struct Distinct {
    /// For each of them, a row of the file that says the same.
    pub(super) rows: Vec<u32>,
    /// The classes of each.
    pub(super) classes: RowLabels,
    pub(super) documents: Documents,
    /// For each row of the file, whether it is the first of its document.
    pub(super) is_first: Vec<bool>,
}

/// The documents behind rows: a document with two different labels has two rows.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    /// By row; in rising order. None once they have served.
    pub(super) keys: Vec<u128>,
    /// By row, 1 a document on average.
    pub(super) weights: Vec<f64>,
    /// By row: how many rows of the file it stands for; `None` where each stands for itself.
    pub(super) copies: Option<Vec<u32>>,
    /// By row: the number of its document; documents are numbered by their first rows. `None` where each row is one.
    pub(super) of_row: Option<Vec<u32>>,
    /// How many documents there are.
    pub(super) count: usize,
    /// By document: those of one number belong together. `None` where each stands for itself.
    pub(super) together: Option<Vec<u32>>,
}

impl Identities<'_> {
    /// Rows that are equal in what a model sees, of which `documents` has the keys, and in their classes become one row with their weights
    /// added up. Rows with equal content and other classes stay, as rows of one document. `classes_of` is `None` for rows that take no part.
    /// What is kept is then to be put [in order](Kept::in_order), for which `documents` need not be there any more.
    pub(super) fn keep(
        &self,
        documents: &[u128],
        classes_of: impl Fn(u32) -> Option<Vec<u32>>,
    ) -> Kept {
        let mut order: Vec<u32> = (0..documents.len() as u32).collect();
        order.sort_unstable_by_key(|&row| documents[row as usize]);
        let is_same = |&a: &u32, &b: &u32| documents[a as usize] == documents[b as usize];
        let runs = || order.chunk_by(is_same);
        let words_of = |row: u32| self.words.get(row as usize).copied().unwrap_or(0);
        let observations = Observations::among(runs, documents, words_of, &classes_of, self.folds);
        let is_observation = |row: u32| observations.has(documents[row as usize]);
        let mut is_first = vec![false; order.len()];
        let mut kept: Vec<u32> = Vec::with_capacity(order.len());
        let mut copies = Copies::new();
        // Documents of several rows, which have to find each other again.
        let mut document_of = HashMap::new();
        for run in runs() {
            let before = kept.len();
            if let &[row] = run {
                kept.extend(classes_of(row).map(|_| row));
                is_first[row as usize] = true;
                continue;
            }
            let with_classes = run.iter().filter_map(|&row| Some((classes_of(row)?, row)));
            let with_classes = with_classes.collect();
            if !is_observation(run[0]) {
                is_first[run[0] as usize] = true;
                self.merge(with_classes, &mut kept, &mut copies);
                if kept.len() > before + 1 {
                    let of_run = kept[before..].iter();
                    document_of.extend(of_run.map(|&row| (row, kept[before])));
                }
            } else {
                self.thin(with_classes, observations.times(), &mut kept, &mut copies);
                kept[before..]
                    .iter()
                    .for_each(|&row| is_first[row as usize] = true);
                // Rows that take no part are still documents of the file.
                let without = run.iter().filter(|&&row| classes_of(row).is_none());
                without.for_each(|&row| is_first[row as usize] = true);
            }
        }
        Kept {
            rows: kept,
            copies,
            document_of,
            observations,
            is_first,
        }
    }

    fn weight(&self, row: u32) -> f64 {
        self.weights.get(row as usize).copied().unwrap_or(1.0)
    }

    /// The order of rows, which what they say decides. `own` and `other` are their keys.
    fn compare(&self, (own, a): (u128, u32), (other, b): (u128, u32)) -> Ordering {
        let group = |row: u32| self.groups.get(row as usize);
        own.cmp(&other)
            .then_with(|| self.weight(a).total_cmp(&self.weight(b)))
            .then_with(|| group(a).cmp(&group(b)))
    }

    /// Of the rows of one document keeps one for each set of classes.
    fn merge(&self, rows: Vec<(Vec<u32>, u32)>, kept: &mut Vec<u32>, copies: &mut Copies) {
        let rows = self.by_classes(rows);
        for same in rows.chunk_by(|(a, _), (b, _)| a == b) {
            let first = same[0].1;
            kept.push(first);
            if same.len() > 1 {
                let others = same[1..].iter().map(|&(_, row)| row);
                copies.insert(first, others.collect());
            }
        }
    }

    /// Of observations that all come so many times keeps one of each.
    fn thin(
        &self,
        mut rows: Vec<(Vec<u32>, u32)>,
        times: usize,
        kept: &mut Vec<u32>,
        copies: &mut Copies,
    ) {
        if times > 1 {
            rows = self.by_classes(rows);
        }
        for same in rows.chunks(times) {
            kept.push(same[0].1);
            if same.len() > 1 {
                let others = same[1..].iter().map(|&(_, row)| row);
                copies.insert(same[0].1, others.collect());
            }
        }
    }

    /// Rows by their classes, those of the same in their order.
    fn by_classes(&self, rows: Vec<(Vec<u32>, u32)>) -> Vec<(Vec<u32>, u32)> {
        let with_keys = rows
            .into_iter()
            .map(|(classes, row)| (classes, self.orders.of(row), row));
        let mut rows: Vec<(Vec<u32>, u128, u32)> = with_keys.collect();
        rows.sort_unstable_by(|(a_classes, a_key, a), (b_classes, b_key, b)| {
            let in_order = || self.compare((*a_key, *a), (*b_key, *b));
            a_classes.cmp(b_classes).then_with(in_order)
        });
        rows.into_iter()
            .map(|(classes, _, row)| (classes, row))
            .collect()
    }
}

impl Kept {
    /// What a model sees of each document that it is to remember, in any order.
    pub(super) fn for_each_remembered(&self, documents: &[u128], each: &mut dyn FnMut(u128)) {
        let is_another = |row: u32| {
            self.document_of
                .get(&row)
                .is_some_and(|&first| first != row)
        };
        for &row in self.rows.iter().filter(|&&row| !is_another(row)) {
            let key = documents[row as usize];
            if !self.observations.has(key) {
                each(key);
            }
        }
    }

    /// Rows in the order of what they say: that of the file makes no difference.
    pub(super) fn in_order(
        mut self,
        identities: &Identities<'_>,
        classes_of: impl Fn(u32) -> Option<Vec<u32>>,
    ) -> Distinct {
        let mut keys = vec![0; self.rows.len()];
        parallel::map_chunks_mut(&mut keys, KEYS_AT_ONCE, |part, keys| {
            let rows = &self.rows[part * KEYS_AT_ONCE..];
            let each = keys.iter_mut().zip(rows);
            each.for_each(|(key, &row)| *key = identities.orders.of(row));
        });
        // Rows that are alike in everything may stand in any order.
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| {
            let [a, b] = [a, b].map(|place| (keys[place as usize], self.rows[place as usize]));
            identities.compare(a, b)
        });
        put_in_order(order, &mut keys, &mut self.rows);
        let mut classes = RowLabels::with_capacity(self.rows.len());
        classes.extend(self.rows.iter().filter_map(|&row| classes_of(row)));
        Distinct {
            classes,
            documents: self.number(keys, identities),
            rows: self.rows,
            is_first: self.is_first,
        }
    }

    fn number(&self, keys: Vec<u128>, identities: &Identities<'_>) -> Documents {
        let kept = &self.rows;
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut count = 0;
        let mut of_row = Vec::with_capacity(kept.len());
        for row in kept {
            let number = match self.document_of.get(row) {
                Some(&first) => *numbers.entry(first).or_insert(count),
                None => count,
            };
            count += u32::from(number == count);
            of_row.push(number);
        }
        let copies = &self.copies;
        let rows_of =
            |row: u32| std::iter::once(row).chain(copies.get(&row).into_iter().flatten().copied());
        let weight = |&row: &u32| {
            let sum: f64 = rows_of(row).map(|row| identities.weight(row)).sum();
            // Only ratios count: an infinite sum is as good as the largest number.
            sum.min(f64::MAX)
        };
        let weights: Vec<f64> = kept.iter().map(weight).collect();
        let together = (!identities.groups.is_empty()).then(|| {
            let groups = kept.iter().zip(&of_row).flat_map(|(&row, &document)| {
                rows_of(row).map(move |row| (document, identities.groups[row as usize]))
            });
            together(groups, count as usize)
        });
        let has_copies = !copies.is_empty();
        let count_of = |&row: &u32| rows_of(row).count() as u32;
        let copies = has_copies.then(|| kept.iter().map(count_of).collect());
        Documents {
            keys,
            weights: relative_weights(&weights, f64::from(count)),
            copies,
            of_row: ((count as usize) < kept.len()).then_some(of_row),
            count: count as usize,
            together,
        }
    }
}

/// So many keys are worked out by one thread at a time.
const KEYS_AT_ONCE: usize = 4096;

/// Puts both lists in an order of places, within the memory that they have.
fn put_in_order<A: Copy, B: Copy>(mut order: Vec<u32>, first: &mut [A], second: &mut [B]) {
    for start in 0..order.len() {
        let begun = (first[start], second[start]);
        let mut place = start;
        // Once round each circle of places; those that are done stand for themselves.
        loop {
            let from = std::mem::replace(&mut order[place], place as u32) as usize;
            if from == start {
                (first[place], second[place]) = begun;
                break;
            }
            (first[place], second[place]) = (first[from], second[from]);
            place = from;
        }
    }
}

/// Folds where one costs next to nothing.
const FINE_FOLDS: usize = 20;
/// Counts of terms by class that are cheap to copy for a fold.
const MOST_NUMBERS: usize = 1 << 24;

/// For rows that stand for others, the others.
type Copies = HashMap<u32, Vec<u32>>;

/// Documents of one group belong together, and so do groups that have a document in common.
fn together(groups: impl Iterator<Item = (u32, u128)>, document_count: usize) -> Vec<u32> {
    let mut links = Links::new(document_count);
    let mut first_of_group: HashMap<u128, u32> = HashMap::new();
    for (document, group) in groups {
        if group != 0 {
            let first = *first_of_group.entry(group).or_insert(document);
            links.join(first, document);
        }
    }
    (0..document_count as u32)
        .map(|document| links.root(document))
        .collect()
}

impl Documents {
    /// How many rows of the file there are.
    pub(super) fn row_count(&self) -> usize {
        match &self.copies {
            None => self.weights.len(),
            Some(copies) => copies.iter().map(|&copies| copies as usize).sum(),
        }
    }

    /// How many rows of the file a row stands for.
    pub(super) fn copies_of(&self, row: usize) -> u32 {
        self.copies.as_ref().map_or(1, |copies| copies[row])
    }

    /// How many of the file each row stands for.
    pub(super) fn copies(&self) -> Vec<u32> {
        let rows = 0..self.weights.len();
        rows.map(|row| self.copies_of(row)).collect()
    }

    /// The number of a row's document.
    pub(super) fn of_row(&self, row: usize) -> u32 {
        self.of_row
            .as_ref()
            .map_or(row as u32, |numbers| numbers[row])
    }

    /// The number of each row's document.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        (0..self.weights.len()).map(|row| self.of_row(row))
    }

    /// How many groups there are, those of one document included; `None` where documents stand for themselves.
    pub(super) fn group_count(&self) -> Option<usize> {
        let together = self.together.as_ref()?;
        Some(
            (0..)
                .zip(together)
                .filter(|(own, root)| own == *root)
                .count(),
        )
    }

    /// How many rows of the file these rows stand for.
    pub(super) fn rows_of(&self, rows: &[u32]) -> usize {
        rows.iter()
            .map(|&row| self.copies_of(row as usize) as usize)
            .sum()
    }

    /// Rows of the file that say what an earlier one of the same document says.
    pub(super) fn copy_count(&self) -> usize {
        self.row_count() - self.count
    }

    /// By row: its group where there are groups, else its document.
    pub(super) fn units(&self) -> Vec<u32> {
        match &self.together {
            Some(groups) => {
                let documents = self.numbers();
                documents
                    .map(|document| groups[document as usize])
                    .collect()
            }
            None => self.numbers().collect(),
        }
    }

    /// For each row, whether it is the first of its document; the others count in no document frequency.
    pub(super) fn is_first(&self) -> Vec<bool> {
        let mut next = 0;
        self.numbers()
            .map(|document| {
                let first = document == next;
                next += u32::from(first);
                first
            })
            .collect()
    }

    /// Divides the rows. Rows of one document, and documents that belong together, are in one fold, and folds
    /// are balanced over documents.
    pub(super) fn folds(
        &self,
        labels: &ClassLabels,
        count: usize,
        seed: u64,
    ) -> Result<Folds, FoldError> {
        let classes = labels.class_count;
        if self.together.is_none() && self.of_row.is_none() {
            return Folds::stratified(&self.keys, &labels.of_row, classes, count, seed);
        }
        let (keys, of_document) = self.keys_and_labels(labels);
        let folds = match &self.together {
            None => Folds::stratified(&keys, &of_document, classes, count, seed)?,
            Some(together) => {
                Folds::stratified_together(&keys, &of_document, together, classes, count, seed)?
            }
        };
        Ok(self.folds_of_rows(folds))
    }

    /// From the folds of documents.
    fn folds_of_rows(&self, folds: Folds) -> Folds {
        match &self.of_row {
            None => folds,
            Some(numbers) => folds.of_each(numbers),
        }
    }

    /// Folds of rows, each divided further, as evenly as whole documents and groups allow, so that there are about twenty
    /// in all; the same folds where each would have to begin from too many numbers.
    pub(super) fn finer_folds(
        &self,
        folds: &Folds,
        labels: &ClassLabels,
        numbers: usize,
        seed: u64,
    ) -> Folds {
        if numbers > MOST_NUMBERS {
            return folds.clone();
        }
        let (keys, of_document) = self.keys_and_labels(labels);
        let mut fold_of_document = vec![0; keys.len()];
        for (row, document) in self.numbers().enumerate() {
            fold_of_document[document as usize] = folds.of(row) as u8;
        }
        let alone: Vec<u32> = (0..keys.len() as u32).collect();
        let together = self.together.as_ref().unwrap_or(&alone);
        let parts = FINE_FOLDS.div_ceil(folds.count());
        let folds = Folds::from_assignment(folds.count(), fold_of_document);
        self.folds_of_rows(folds.divided(
            &keys,
            &of_document,
            together,
            labels.class_count,
            parts,
            seed,
        ))
    }

    /// The key of each document, and the labels of all its rows.
    fn keys_and_labels(&self, labels: &ClassLabels) -> (Vec<u128>, RowLabels) {
        if self.of_row.is_none() {
            return (self.keys.clone(), labels.of_row.clone());
        }
        let mut keys = Vec::with_capacity(self.count);
        let mut of_document: Vec<Vec<u32>> = vec![Vec::new(); self.count];
        for (row, document) in self.numbers().enumerate() {
            if document as usize == keys.len() {
                keys.push(self.keys[row]);
            }
            of_document[document as usize].extend(&labels.of_row[row]);
        }
        for labels in &mut of_document {
            labels.sort_unstable();
            labels.dedup();
        }
        (keys, of_document.into())
    }

    /// Some of the rows.
    pub(super) fn part(&self, rows: &[u32]) -> Self {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut old = Vec::new();
        let of_row: Vec<u32> = rows
            .iter()
            .map(|&row| {
                let document = self.of_row(row as usize);
                *numbers.entry(document).or_insert_with(|| {
                    old.push(document as usize);
                    old.len() as u32 - 1
                })
            })
            .collect();
        let weights: Vec<f64> = rows.iter().map(|&row| self.weights[row as usize]).collect();
        let together = self.together.as_ref();
        let keys = rows.iter().filter_map(|&row| self.keys.get(row as usize));
        let copies = self.copies.as_ref();
        Self {
            keys: keys.copied().collect(),
            weights: relative_weights(&weights, old.len() as f64),
            copies: copies.map(|copies| rows.iter().map(|&row| copies[row as usize]).collect()),
            of_row: (old.len() < rows.len()).then_some(of_row),
            count: old.len(),
            together: together.map(|together| old.iter().map(|&d| together[d]).collect()),
        }
    }
}

#[cfg(test)]
mod tests;
