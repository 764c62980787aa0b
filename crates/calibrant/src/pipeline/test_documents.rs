//! Which documents of a test set are no further evidence?

use std::collections::HashMap;

use super::distinct::are_documents;
use crate::numeric::Links;

/// What makes documents of a test set hang together: copies say the same twice, and documents of a group (a
/// thread, a customer, an author) may well do so.
///
/// ```
/// use calibrant::pipeline::TestDocuments;
/// let documents = TestDocuments {
///     keys: vec![7, 8, 7, 9, 5],
///     groups: vec![None, Some(1), None, Some(1), None],
///     any_text: true,
/// };
/// assert_eq!(documents.copies(), 1); // the third is the first again
/// let together = documents.together();
/// assert_eq!(together[0], together[2]);
/// assert_eq!(together[1], together[3]); // one group
/// assert_eq!(together[4], None); // stands for itself
/// ```
#[derive(Debug, Clone, Default)]
pub struct TestDocuments {
    /// What models see of each document, from [`Model::count_known`](super::Model::count_known); empty where that
    /// is not known.
    pub keys: Vec<u128>,
    /// The group of each document, `None` for those without one; empty where no groups were asked for.
    pub groups: Vec<Option<u64>>,
    /// Whether any document has a text. Without texts, rows of a small table agree by chance.
    pub any_text: bool,
}

impl TestDocuments {
    /// Adds what one more model sees of a document: documents are the same where no model can tell them apart.
    pub fn see(&mut self, document: usize, key: u128) {
        /// Any odd number: what was seen before stays in the sum, and the order of models in it.
        const ODD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        if self.keys.len() <= document {
            self.keys.resize(document + 1, 0);
        }
        let seen = &mut self.keys[document];
        *seen = seen.wrapping_mul(ODD).wrapping_add(key);
    }

    /// Some of the documents.
    pub fn part(&self, documents: &[usize]) -> Self {
        let keys = documents.iter().filter_map(|&d| self.keys.get(d).copied());
        let groups = documents
            .iter()
            .filter_map(|&d| self.groups.get(d).copied());
        Self {
            keys: keys.collect(),
            groups: groups.collect(),
            any_text: self.any_text,
        }
    }

    /// How many documents are copies of earlier ones.
    pub fn copies(&self) -> usize {
        let mut keys = self.keys.clone();
        keys.sort_unstable();
        keys.dedup();
        if are_documents(keys.len(), self.keys.len(), self.any_text) {
            self.keys.len() - keys.len()
        } else {
            0
        }
    }

    /// For each document the number of those that it is drawn with, `None` where it stands for itself; empty where
    /// all do. Groups that share a document are one. The numbers do not depend on the order of documents.
    pub fn together(&self) -> Vec<Option<u64>> {
        let count = self.keys.len().max(self.groups.len());
        let mut links = Links::new(count);
        if self.copies() > 0 {
            let mut first_of: HashMap<u128, u32> = HashMap::new();
            for (document, &key) in (0..).zip(&self.keys) {
                links.join(*first_of.entry(key).or_insert(document), document);
            }
        }
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
            any_text: true,
        };
        assert!(different.together().is_empty());
        assert_eq!(different.copies(), 0);
    }

    #[test]
    fn documents_are_the_same_where_all_models_say_so() {
        let mut documents = TestDocuments::default();
        for (document, key) in [5, 5, 5].into_iter().enumerate() {
            documents.see(document, key);
        }
        for (document, key) in [3, 4, 3].into_iter().enumerate() {
            documents.see(document, key);
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
            keys: vec![1, 2, 2, 3, 4],
            groups: vec![Some(8), Some(8), Some(9), Some(9), None],
            any_text: true,
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

    #[test] // As in fitting: ten rows to a pattern or more, and no text.
    fn patterns_of_a_small_table_are_no_copies() {
        let documents = |any_text| TestDocuments {
            keys: (0..40).map(|row| row % 4).collect(),
            groups: Vec::new(),
            any_text,
        };
        assert_eq!(documents(false).copies(), 0);
        assert!(documents(false).together().is_empty());
        assert_eq!(documents(true).copies(), 36);
    }
}
