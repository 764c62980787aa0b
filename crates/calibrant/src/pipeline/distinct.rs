//! Which rows are one document, and which documents belong together.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::observations::Observations;
use crate::RowLabels;
use crate::numeric::{Links, relative_weights};
use crate::problem::ClassLabels;
use crate::problem::{FoldError, Folds};

/// What decides which rows are the same: one entry per row of the file in every list.
pub(super) struct Identities<'a> {
    /// Of content and labels as written; rows are put in the order of these.
    pub(super) orders: &'a [u128],
    /// Of what a model sees.
    pub(super) documents: &'a [u128],
    /// How many words the text begins with.
    pub(super) words: &'a [u8],
    /// Of the group, zero where there is none; empty where no row has one.
    pub(super) groups: &'a [u128],
    pub(super) weights: &'a [f64],
    /// With fewer different contents than folds nothing could be held out: each row is then its own document.
    pub(super) folds: usize,
}

/// Rows that are left when copies have become weights.
pub(super) struct Distinct {
    /// For each of them, a row of the file that says the same.
    pub(super) rows: Vec<u32>,
    /// The classes of each.
    pub(super) classes: RowLabels,
    pub(super) documents: Documents,
    /// By document: what a model sees of it; zero where rows that look alike are no copies.
    pub(super) seen: Vec<u128>,
    /// For each row of the file, whether it is the first of its document.
    pub(super) is_first: Vec<bool>,
}

/// The documents behind rows: a document with two different labels has two rows.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    /// By row; in rising order.
    pub(super) keys: Vec<u128>,
    /// By row, 1 a document on average.
    pub(super) weights: Vec<f64>,
    /// By row: how many rows of the file it stands for.
    pub(super) copies: Vec<u32>,
    /// By row: the number of its document; documents are numbered by their first rows.
    pub(super) of_row: Vec<u32>,
    /// How many documents there are.
    pub(super) count: usize,
    /// By document: those of one number belong together. `None` where each stands for itself.
    pub(super) together: Option<Vec<u32>>,
}

impl Identities<'_> {
    /// Rows that are equal in what a model sees and in their classes become one row with their weights added
    /// up. Rows with equal content and other classes stay, as rows of one document. The order of the file
    /// makes no difference. `classes_of` is `None` for rows that take no part.
    pub(super) fn distinct(&self, classes_of: impl Fn(u32) -> Option<Vec<u32>>) -> Distinct {
        let mut order: Vec<u32> = (0..self.orders.len() as u32).collect();
        order.sort_unstable_by_key(|&row| self.documents[row as usize]);
        let is_same = |&a: &u32, &b: &u32| self.documents[a as usize] == self.documents[b as usize];
        let runs: Vec<&[u32]> = order.chunk_by(is_same).collect();
        let words_of = |row: u32| self.words[row as usize];
        let observations =
            Observations::among(&runs, self.documents, words_of, &classes_of, self.folds);
        let is_observation = |row: u32| observations.has(self.documents[row as usize]);
        let mut is_first = vec![false; order.len()];
        let mut kept: Vec<u32> = Vec::with_capacity(runs.len());
        let mut copies = Copies::new();
        // Documents of several rows, which have to find each other again.
        let mut several = HashSet::new();
        for run in runs {
            if run.len() > 1 && !is_observation(run[0]) {
                is_first[run[0] as usize] = true;
                let with_classes = run.iter().filter_map(|&row| Some((classes_of(row)?, row)));
                let before = kept.len();
                self.merge(with_classes.collect(), &mut kept, &mut copies);
                if kept.len() > before + 1 {
                    several.insert(self.documents[run[0] as usize]);
                }
            } else {
                let with_classes = run.iter().filter_map(|&row| Some((classes_of(row)?, row)));
                let before = kept.len();
                self.thin(
                    with_classes.collect(),
                    observations.times(),
                    &mut kept,
                    &mut copies,
                );
                kept[before..]
                    .iter()
                    .for_each(|&row| is_first[row as usize] = true);
                // Rows that take no part are still documents of the file.
                let without = run.iter().filter(|&&row| classes_of(row).is_none());
                without.for_each(|&row| is_first[row as usize] = true);
            }
        }
        drop(order);
        // Rows that are alike in everything may stand in any order.
        kept.sort_unstable_by(|&a, &b| self.compare(a, b));
        let classes = kept.iter().filter_map(|&row| classes_of(row)).collect();
        let (documents, seen) = self.number(&kept, &copies, &several, is_observation);
        Distinct {
            rows: kept,
            classes,
            documents,
            seen,
            is_first,
        }
    }

    /// The order of rows, which what they say decides.
    fn compare(&self, a: u32, b: u32) -> Ordering {
        let group = |row: u32| self.groups.get(row as usize);
        let (own, other) = (a as usize, b as usize);
        self.orders[own]
            .cmp(&self.orders[other])
            .then_with(|| self.weights[own].total_cmp(&self.weights[other]))
            .then_with(|| group(a).cmp(&group(b)))
    }

    /// Of the rows of one document keeps one for each set of classes.
    fn merge(&self, mut rows: Vec<(Vec<u32>, u32)>, kept: &mut Vec<u32>, copies: &mut Copies) {
        rows.sort_unstable_by(|(a_classes, a), (b_classes, b)| {
            a_classes.cmp(b_classes).then_with(|| self.compare(*a, *b))
        });
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
            rows.sort_unstable_by(|(a_classes, a), (b_classes, b)| {
                a_classes.cmp(b_classes).then_with(|| self.compare(*a, *b))
            });
        }
        for same in rows.chunks(times) {
            kept.push(same[0].1);
            if same.len() > 1 {
                let others = same[1..].iter().map(|&(_, row)| row);
                copies.insert(same[0].1, others.collect());
            }
        }
    }

    fn number(
        &self,
        kept: &[u32],
        copies: &Copies,
        several: &HashSet<u128>,
        is_observation: impl Fn(u32) -> bool,
    ) -> (Documents, Vec<u128>) {
        let mut numbers: HashMap<u128, u32> = HashMap::new();
        let mut seen = Vec::with_capacity(kept.len());
        let mut of_row = Vec::with_capacity(kept.len());
        for &row in kept {
            let key = self.documents[row as usize];
            let next = seen.len() as u32;
            let observation = is_observation(row);
            let number = if several.contains(&key) {
                *numbers.entry(key).or_insert(next)
            } else {
                next
            };
            if number == next {
                seen.push(if observation { 0 } else { key });
            }
            of_row.push(number);
        }
        let rows_of =
            |row: u32| std::iter::once(row).chain(copies.get(&row).into_iter().flatten().copied());
        let weight = |&row: &u32| {
            let sum: f64 = rows_of(row).map(|row| self.weights[row as usize]).sum();
            // Only ratios count: an infinite sum is as good as the largest number.
            sum.min(f64::MAX)
        };
        let weights: Vec<f64> = kept.iter().map(weight).collect();
        let together = (!self.groups.is_empty()).then(|| {
            let groups = kept.iter().zip(&of_row).flat_map(|(&row, &document)| {
                rows_of(row).map(move |row| (document, self.groups[row as usize]))
            });
            together(groups, seen.len())
        });
        let documents = Documents {
            keys: kept.iter().map(|&row| self.orders[row as usize]).collect(),
            weights: relative_weights(&weights, seen.len() as f64),
            copies: kept
                .iter()
                .map(|&row| rows_of(row).count() as u32)
                .collect(),
            of_row,
            count: seen.len(),
            together,
        };
        (documents, seen)
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
        self.copies.iter().map(|&copies| copies as usize).sum()
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
            .map(|&row| self.copies[row as usize] as usize)
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
                let rows = self.of_row.iter();
                rows.map(|&document| groups[document as usize]).collect()
            }
            None => self.of_row.clone(),
        }
    }

    /// For each row, whether it is the first of its document; the others count in no document frequency.
    pub(super) fn is_first(&self) -> Vec<bool> {
        let mut next = 0;
        self.of_row
            .iter()
            .map(|&document| {
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
        if self.together.is_none() && self.count == self.of_row.len() {
            return Folds::stratified(&self.keys, &labels.of_row, classes, count, seed);
        }
        let (keys, of_document) = self.keys_and_labels(labels);
        let folds = match &self.together {
            None => Folds::stratified(&keys, &of_document, classes, count, seed)?,
            Some(together) => {
                Folds::stratified_together(&keys, &of_document, together, classes, count, seed)?
            }
        };
        Ok(folds.of_each(&self.of_row))
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
        for (row, &document) in self.of_row.iter().enumerate() {
            fold_of_document[document as usize] = folds.of(row) as u8;
        }
        let alone: Vec<u32> = (0..keys.len() as u32).collect();
        let together = self.together.as_ref().unwrap_or(&alone);
        let parts = FINE_FOLDS.div_ceil(folds.count());
        Folds::from_assignment(folds.count(), fold_of_document)
            .divided(
                &keys,
                &of_document,
                together,
                labels.class_count,
                parts,
                seed,
            )
            .of_each(&self.of_row)
    }

    /// The key of each document, and the labels of all its rows.
    fn keys_and_labels(&self, labels: &ClassLabels) -> (Vec<u128>, RowLabels) {
        if self.count == self.of_row.len() {
            return (self.keys.clone(), labels.of_row.clone());
        }
        let mut keys = Vec::with_capacity(self.count);
        let mut of_document: Vec<Vec<u32>> = vec![Vec::new(); self.count];
        for (row, &document) in self.of_row.iter().enumerate() {
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
                let document = self.of_row[row as usize];
                *numbers.entry(document).or_insert_with(|| {
                    old.push(document as usize);
                    old.len() as u32 - 1
                })
            })
            .collect();
        let weights: Vec<f64> = rows.iter().map(|&row| self.weights[row as usize]).collect();
        let together = self.together.as_ref();
        Self {
            keys: rows.iter().map(|&row| self.keys[row as usize]).collect(),
            weights: relative_weights(&weights, old.len() as f64),
            copies: rows.iter().map(|&row| self.copies[row as usize]).collect(),
            of_row,
            count: old.len(),
            together: together.map(|together| old.iter().map(|&d| together[d]).collect()),
        }
    }
}

#[cfg(test)]
mod tests;
