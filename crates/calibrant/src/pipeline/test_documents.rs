//! Which documents of a test set are no further evidence?

use std::collections::HashMap;

use super::FitSettings;
use super::document_key::{has_words, marked};
use super::observations::Observations;
use crate::features::term_hash;
use crate::numeric::Links;

/// What makes documents of a test set hang together: copies say the same twice, and documents of a group (a
/// thread, a customer, an author) may well do so. What is a copy is decided as in fitting.
///
/// ```
/// use calibrant::pipeline::TestDocuments;
/// let documents = TestDocuments {
///     keys: vec![7, 8, 7, 9, 5],
///     groups: vec![None, Some(1), None, Some(1), None],
///     ..TestDocuments::default()
/// };
/// assert_eq!(documents.copies(), 1); // the third is the first again
/// let together = documents.together();
/// assert_eq!(together[0], together[2]);
/// assert_eq!(together[1], together[3]); // one group
/// assert_eq!(together[4], None); // stands for itself
/// assert_eq!(documents.copied()[1], None); // a group is no copy
/// ```
#[derive(Debug, Clone, Default)]
pub struct TestDocuments {
    /// What models see of each document, from [`Model::count_known`](super::Model::count_known); empty where that
    /// is not known. The lowest bit says whether there are words.
    pub keys: Vec<u128>,
    /// The group of each document, `None` for those without one; empty where no groups were asked for.
    pub groups: Vec<Option<u64>>,
    /// How many words each document begins with, from [`leading_words`](super::leading_words). What is not known is
    /// taken for many.
    pub words: Vec<u8>,
    /// A number for the labels of each document: equal ones have equal numbers. Empty where no document is taken to
    /// contradict another.
    pub labels: Vec<u64>,
}

impl TestDocuments {
    /// Adds what one more model sees of a document: documents are the same where no model can distinguish them.
    pub fn see(&mut self, document: usize, key: u128, words: u8) {
        /// Any odd number: what was seen before stays in the sum, and the order of models in it.
        const ODD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        if self.keys.len() <= document {
            self.keys.resize(document + 1, 0);
            self.words.resize(document + 1, 0);
        }
        let seen = &mut self.keys[document];
        let any_words = has_words(*seen) || has_words(key);
        *seen = marked(seen.wrapping_mul(ODD).wrapping_add(key), any_words);
        self.words[document] = self.words[document].max(words);
    }

    /// Adds the labels of the next document.
    pub fn push_labels(&mut self, labels: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        let hashes = labels.into_iter().map(|label| term_hash(label.as_ref()));
        self.labels.push(hashes.fold(0, u64::wrapping_add));
    }

    /// Some of the documents.
    pub fn part(&self, documents: &[usize]) -> Self {
        fn some<T: Copy>(all: &[T], documents: &[usize]) -> Vec<T> {
            let kept = documents.iter().filter_map(|&d| all.get(d));
            kept.copied().collect()
        }
        Self {
            keys: some(&self.keys, documents),
            groups: some(&self.groups, documents),
            words: some(&self.words, documents),
            labels: some(&self.labels, documents),
        }
    }

    /// How many documents are copies of earlier ones.
    pub fn copies(&self) -> usize {
        let mut copies = 0;
        self.for_each_copied(|rows| copies += rows.len() - 1);
        copies
    }

    /// For each document a number that it shares with its copies, `None` where there are none; empty where no document
    /// has any.
    pub fn copied(&self) -> Vec<Option<u64>> {
        let mut numbers = Vec::new();
        self.for_each_copied(|rows| {
            numbers.resize(self.keys.len(), None);
            for &row in rows {
                numbers[row as usize] = Some(self.keys[row as usize] as u64);
            }
        });
        numbers
    }

    /// For each document whether it is the first of those that are equal in content and labels; empty where none is a copy.
    pub(crate) fn firsts(&self) -> Vec<bool> {
        let mut firsts = Vec::new();
        self.for_each_copied(|rows| {
            firsts.resize(self.keys.len(), true);
            let label = |row: u32| self.labels.get(row as usize).copied();
            for (place, &row) in rows.iter().enumerate() {
                firsts[row as usize] = rows[..place]
                    .iter()
                    .all(|&other| label(other) != label(row));
            }
        });
        firsts
    }

    /// Visits the documents that come more than once, each with its copies.
    fn for_each_copied(&self, mut visit: impl FnMut(&[u32])) {
        let mut order: Vec<u32> = (0..self.keys.len() as u32).collect();
        order.sort_unstable_by_key(|&row| (self.keys[row as usize], row));
        let is_same = |&a: &u32, &b: &u32| self.keys[a as usize] == self.keys[b as usize];
        let runs = || order.chunk_by(is_same);
        let words_of = |row: u32| self.words.get(row as usize).copied().unwrap_or(u8::MAX);
        let label_of = |row: u32| self.labels.get(row as usize).copied();
        let folds = FitSettings::default().folds;
        let observations = Observations::among(runs, &self.keys, words_of, label_of, folds);
        for run in runs().filter(|run| run.len() > 1) {
            if !observations.has(self.keys[run[0] as usize]) {
                visit(run);
            } else if observations.times() > 1 {
                let mut rows = run.to_vec();
                rows.sort_by_key(|&row| (label_of(row), row));
                rows.chunks(observations.times()).for_each(&mut visit);
            }
        }
    }

    /// For each document the number of those that it is drawn with, `None` where it stands for itself; empty where
    /// all do. Groups that share a document are one. The numbers do not depend on the order of documents.
    pub fn together(&self) -> Vec<Option<u64>> {
        let count = self.keys.len().max(self.groups.len());
        let mut links = Links::new(count);
        self.for_each_copied(|rows| rows.iter().for_each(|&row| links.join(rows[0], row)));
        let mut first_of: HashMap<u64, u32> = HashMap::new();
        for (document, group) in (0..).zip(&self.groups) {
            if let Some(group) = group {
                links.join(*first_of.entry(*group).or_insert(document), document);
            }
        }
        let roots: Vec<usize> = (0..count as u32)
            .map(|document| links.root(document) as usize)
            .collect();
        let mut sizes = vec![0usize; count];
        let mut numbers = vec![u64::MAX; count];
        for (document, &root) in roots.iter().enumerate() {
            let group = self.groups.get(document).copied().flatten();
            let key = self.keys.get(document).map(|&key| key as u64);
            sizes[root] += 1;
            numbers[root] = numbers[root].min(group.or(key).unwrap_or(u64::MAX));
        }
        if sizes.iter().all(|&size| size <= 1) {
            return Vec::new();
        }
        let number = |&root: &usize| (sizes[root] > 1).then_some(numbers[root]);
        roots.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hangs_together_by_itself() {
        assert!(TestDocuments::default().together().is_empty());
        let different = TestDocuments {
            keys: vec![1, 2, 3],
            groups: vec![Some(4), None, Some(5)],
            ..TestDocuments::default()
        };
        assert!(different.together().is_empty());
        assert_eq!(different.copies(), 0);
    }

    #[test]
    fn documents_are_the_same_where_all_models_say_so() {
        let mut documents = TestDocuments::default();
        for (document, key) in [5, 5, 5].into_iter().enumerate() {
            documents.see(document, key, 10);
        }
        // Their lowest bits say no more than that there are words.
        for (document, key) in [3, 7, 3].into_iter().enumerate() {
            documents.see(document, key, 10);
        }
        assert_eq!(documents.keys[0], documents.keys[2]);
        assert_ne!(documents.keys[0], documents.keys[1]);
        assert_eq!(
            (documents.copies(), documents.part(&[0, 1]).copies()),
            (1, 0)
        );
    }

    #[test]
    fn groups_that_share_a_document_are_one_whatever_the_order() {
        let documents = TestDocuments {
            keys: vec![1, 3, 3, 5, 7], // odd: texts
            groups: vec![Some(8), Some(8), Some(9), Some(9), None],
            ..TestDocuments::default()
        };
        let together = documents.together();
        assert_eq!(together, [Some(8), Some(8), Some(8), Some(8), None]);
        let mut backwards = documents.clone();
        backwards.keys.reverse();
        backwards.groups.reverse();
        let mut turned = backwards.together();
        turned.reverse();
        assert_eq!(together, turned);
    }

    #[test] // As in fitting: ten rows to a pattern or more.
    fn patterns_of_a_small_table_and_answers_of_a_word_are_no_copies() {
        let documents = |any_words: u128, words: u8, agree: bool| TestDocuments {
            keys: (0..60).map(|row| (row % 6) << 1 | any_words).collect(),
            words: vec![words; 60],
            labels: (0..60)
                .map(|row| if agree { row % 6 } else { row / 6 % 2 })
                .collect(),
            ..TestDocuments::default()
        };
        for agree in [false, true] {
            assert_eq!(documents(0, 0, agree).copies(), 0);
            assert!(documents(0, 0, agree).together().is_empty());
        }
        assert_eq!(documents(1, 1, false).copies(), 0);
        assert!(documents(1, 1, false).copied().is_empty());
        // Longer texts, and answers that never disagree, are documents.
        assert_eq!(documents(1, 5, false).copies(), 54);
        assert_eq!(documents(1, 1, true).copies(), 54);
        assert_eq!(documents(1, 5, false).copied().len(), 60);
    }

    #[test] // Two models see words: so do both together.
    fn words_stay_words_however_many_models_see_them() {
        let mut documents = TestDocuments::default();
        for key in [3, 5] {
            documents.see(0, key, 2);
        }
        documents.see(1, 4, 0);
        assert!(has_words(documents.keys[0]) && !has_words(documents.keys[1]));
        documents.push_labels(["a", "b"]);
        documents.push_labels(["b", "a"]);
        assert_eq!(documents.labels[0], documents.labels[1]);
    }
}
