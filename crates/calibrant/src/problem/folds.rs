//! Divides documents into folds that all look alike.

mod spread;

use crate::RowLabels;
use spread::{Spread, Units};

/// Which fold every document belongs to.
///
/// Every class is spread evenly over the folds, and the division depends on what the documents
/// say, never on the order they come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    count: usize,
    assignment: Vec<u8>,
}

/// Why documents cannot be divided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldError {
    /// The number of folds is not supported.
    #[error("{found} folds were asked for; it must be between 2 and 255")]
    FoldCount {
        /// The number asked for.
        found: usize,
    },
    /// Some folds would be empty.
    #[error(
        "{documents} documents (copies count as one) cannot fill {folds} folds; use fewer folds"
    )]
    TooFewDocuments {
        /// Different documents there are.
        documents: usize,
        /// Folds asked for.
        folds: usize,
    },
    /// Some folds would be empty, since groups are not divided.
    #[error(
        "{groups} groups cannot fill {folds} folds; use fewer folds, or a field that divides the documents more finely"
    )]
    TooFewGroups {
        /// Groups there are.
        groups: usize,
        /// Folds asked for.
        folds: usize,
    },
    /// Nothing can be left out where everything belongs together.
    #[error(
        "all documents belong to one group, and groups are not divided: there is nothing to leave out"
    )]
    OneGroup,
    /// There is not one group per document.
    #[error("{keys} documents come with {groups} numbers of groups")]
    GroupCount {
        /// Documents.
        keys: usize,
        /// Numbers of groups.
        groups: usize,
    },
    /// There is not one set of labels per document.
    #[error("{keys} documents come with {labels} sets of labels")]
    LengthMismatch {
        /// Documents.
        keys: usize,
        /// Sets of labels.
        labels: usize,
    },
    /// A label is not the number of a class.
    #[error("document {document} has label {label}, but there are only {class_count} classes")]
    UnknownLabel {
        /// The position of the document.
        document: usize,
        /// Its label.
        label: u32,
        /// Classes there are.
        class_count: usize,
    },
}

impl Folds {
    /// Spreads every class evenly over the folds, for one label per document or for several.
    ///
    /// `keys[i]` is a hash of what document `i` says; equal keys are interchangeable. Classes
    /// are taken from the rarest to the commonest, since the rare ones leave the least choice. Their
    /// documents, in an order drawn from the seed and the key, go to the fold that has the fewest of
    /// the class so far; ties go to the fold with the fewest documents, then to chance.
    /// Documents without labels fill up at the end.
    ///
    /// With one label per document, a class's counts in two folds differ by at most one, and so
    /// do the sizes of folds.
    ///
    /// # When it misleads
    /// Near-copies (a message and a reply that quotes it) may fall into different folds, and then held-out
    /// scores are too good; [`Self::stratified_together`] keeps them on one side.
    ///
    /// ```
    /// use calibrant::{RowLabels, corpus::Folds};
    /// let keys: Vec<u128> = (0..10).collect();
    /// let labels: RowLabels = (0..10).map(|i| vec![u32::from(i >= 4)]).collect(); // 4 and 6
    /// let folds = Folds::stratified(&keys, &labels, 2, 2, 7)?;
    /// let rare_in_fold_0 = (0..4).filter(|&document| folds.of(document) == 0).count();
    /// assert_eq!(rare_in_fold_0, 2); // by hand: 4 / 2
    /// # Ok::<(), calibrant::corpus::FoldError>(())
    /// ```
    pub fn stratified(
        keys: &[u128],
        labels: &RowLabels,
        class_count: usize,
        fold_count: usize,
        seed: u64,
    ) -> Result<Folds, FoldError> {
        check(keys, labels, class_count, fold_count)?;
        Ok(Spread::over(
            &Units::singles(keys, labels),
            class_count,
            fold_count,
            seed,
        ))
    }

    /// As [`Self::stratified`], but documents with the same number in `together` (a thread, a customer, an
    /// author) are never divided: what was learned from one of them must not be tested on another.
    ///
    /// Such groups are dealt out instead of documents, the largest first, each to the fold with the fewest
    /// documents of its rarest class so far. Folds are as even as the sizes of the groups allow.
    ///
    /// ```
    /// use calibrant::corpus::Folds;
    /// let keys: Vec<u128> = (0..6).collect();
    /// let labels = vec![vec![0]; 6].into();
    /// let folds = Folds::stratified_together(&keys, &labels, &[7, 7, 7, 2, 2, 9], 1, 2, 0)?;
    /// assert!(folds.of(0) == folds.of(1) && folds.of(1) == folds.of(2));
    /// assert_eq!(folds.of(3), folds.of(5)); // by hand: 3 documents on one side leave 2 + 1 for the other
    /// assert_ne!(folds.of(0), folds.of(3));
    /// # Ok::<(), calibrant::corpus::FoldError>(())
    /// ```
    pub fn stratified_together(
        keys: &[u128],
        labels: &RowLabels,
        together: &[u32],
        class_count: usize,
        fold_count: usize,
        seed: u64,
    ) -> Result<Folds, FoldError> {
        check(keys, labels, class_count, fold_count)?;
        if together.len() != keys.len() {
            return Err(FoldError::GroupCount {
                keys: keys.len(),
                groups: together.len(),
            });
        }
        let units = Units::of(keys, labels, together);
        if units.count() == 1 {
            return Err(FoldError::OneGroup);
        }
        if units.count() < fold_count {
            return Err(FoldError::TooFewGroups {
                groups: units.count(),
                folds: fold_count,
            });
        }
        Ok(Spread::over(&units, class_count, fold_count, seed))
    }

    /// Folds that are known.
    pub(crate) fn from_assignment(count: usize, assignment: Vec<u8>) -> Self {
        Self { count, assignment }
    }

    /// The documents that stay when a fold is held out, and those of the fold; both rising.
    pub fn split(&self, fold: usize) -> (Vec<u32>, Vec<u32>) {
        (0..self.assignment.len() as u32).partition(|&document| self.of(document as usize) != fold)
    }

    /// Divides every fold into `parts` that look alike; documents with the same number in `together`, which must be in one
    /// fold, stay in one part. A fold of few documents has empty parts.
    pub(crate) fn divided(
        &self,
        keys: &[u128],
        labels: &RowLabels,
        together: &[u32],
        class_count: usize,
        parts: usize,
        seed: u64,
    ) -> Self {
        let mut assignment = self.assignment.clone();
        for fold in 0..self.count {
            let documents: Vec<usize> = (0..keys.len())
                .filter(|&document| self.of(document) == fold)
                .collect();
            let keys: Vec<u128> = documents.iter().map(|&i| keys[i]).collect();
            let labels = labels.of_rows(documents.iter().copied());
            let together: Vec<u32> = documents.iter().map(|&i| together[i]).collect();
            let units = Units::of(&keys, &labels, &together);
            let inside = Spread::over(&units, class_count, parts, seed);
            for (&document, &part) in documents.iter().zip(&inside.assignment) {
                assignment[document] = (fold * parts) as u8 + part;
            }
        }
        Self {
            count: self.count * parts,
            assignment,
        }
    }

    /// The folds of rows, of which `document_of` says whose they are.
    pub(crate) fn of_each(&self, document_of: &[u32]) -> Self {
        let fold = |&document: &u32| self.assignment[document as usize];
        Self {
            count: self.count,
            assignment: document_of.iter().map(fold).collect(),
        }
    }

    /// How many folds there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The fold of a document, from 0.
    ///
    /// # Panics
    /// If there is no such document.
    pub fn of(&self, document: usize) -> usize {
        usize::from(self.assignment[document])
    }

    /// The fold of every document.
    pub fn assignment(&self) -> &[u8] {
        &self.assignment
    }
}

fn check(
    keys: &[u128],
    labels: &RowLabels,
    class_count: usize,
    fold_count: usize,
) -> Result<(), FoldError> {
    if !(2..=255).contains(&fold_count) {
        return Err(FoldError::FoldCount { found: fold_count });
    }
    if keys.len() != labels.len() {
        return Err(FoldError::LengthMismatch {
            keys: keys.len(),
            labels: labels.len(),
        });
    }
    if keys.len() < fold_count {
        return Err(FoldError::TooFewDocuments {
            documents: keys.len(),
            folds: fold_count,
        });
    }
    for (document, own) in labels.iter().enumerate() {
        if let Some(&label) = own.iter().find(|&&label| label as usize >= class_count) {
            return Err(FoldError::UnknownLabel {
                document,
                label,
                class_count,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::spread::mix;
    use super::*;
    use proptest::prelude::*;

    /// Counts of a class in every fold.
    fn counts(folds: &Folds, labels: &RowLabels, class: u32) -> Vec<usize> {
        let mut counts = vec![0; folds.count()];
        for (document, own) in labels.iter().enumerate() {
            if own.contains(&class) {
                counts[folds.of(document)] += 1;
            }
        }
        counts
    }

    fn range(counts: &[usize]) -> usize {
        counts.iter().max().unwrap() - counts.iter().min().unwrap()
    }

    fn sizes(folds: &Folds) -> Vec<usize> {
        let mut sizes = vec![0; folds.count()];
        folds
            .assignment()
            .iter()
            .for_each(|&fold| sizes[usize::from(fold)] += 1);
        sizes
    }

    #[test] // The first outputs of splitmix64 from state 0, as printed with the published generator.
    fn the_mixer_is_splitmix64() {
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(0x9E37_79B9_7F4A_7C15), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test] // Guards saved folds against a change of the hash.
    fn the_assignment_is_fixed_for_all_time() {
        let keys: Vec<u128> = (0..12).map(|n| n * 0x1234_5678_9ABC_DEF0_1357).collect();
        let labels: RowLabels = (0..12).map(|n| vec![n % 3]).collect();
        let folds = Folds::stratified(&keys, &labels, 3, 3, 42).unwrap();
        assert_eq!(folds.assignment(), [0, 1, 2, 2, 0, 1, 0, 2, 2, 1, 1, 0]);
        let other = Folds::stratified(&keys, &labels, 3, 3, 43).unwrap();
        assert_ne!(folds, other);
    }

    #[test]
    fn impossible_divisions_are_explained() {
        let labels = vec![vec![0]; 3].into();
        let divide = |folds, classes| Folds::stratified(&[1, 2, 3], &labels, classes, folds, 0);
        assert_eq!(divide(1, 1), Err(FoldError::FoldCount { found: 1 }));
        assert_eq!(divide(256, 1), Err(FoldError::FoldCount { found: 256 }));
        assert_eq!(
            divide(4, 1),
            Err(FoldError::TooFewDocuments {
                documents: 3,
                folds: 4
            })
        );
        let unknown = FoldError::UnknownLabel {
            document: 0,
            label: 0,
            class_count: 0,
        };
        assert_eq!(divide(2, 0), Err(unknown));
        let groups = |together: &[u32], folds| {
            Folds::stratified_together(&[1, 2, 3], &labels, together, 1, folds, 0)
        };
        assert_eq!(groups(&[4, 4, 4], 2), Err(FoldError::OneGroup));
        assert_eq!(
            groups(&[4, 4, 5], 3),
            Err(FoldError::TooFewGroups {
                groups: 2,
                folds: 3
            })
        );
        assert_eq!(
            groups(&[4], 2),
            Err(FoldError::GroupCount { keys: 3, groups: 1 })
        );
        let short = Folds::stratified(&[1, 2], &labels, 1, 2, 0);
        assert_eq!(short, Err(FoldError::LengthMismatch { keys: 2, labels: 3 }));
    }

    #[test]
    fn the_largest_number_of_folds_fills_them_all() {
        let keys: Vec<u128> = (0..255).collect();
        let folds = Folds::stratified(&keys, &vec![vec![]; 255].into(), 0, 255, 1).unwrap();
        assert_eq!(sizes(&folds), vec![1; 255]);
    }

    #[test]
    fn rare_labels_of_multi_label_data_are_spread() {
        // Label 0 is on every document, label 1 on every tenth, label 2 on every fiftieth.
        let labels: RowLabels = (0..500u32)
            .map(|n| {
                let rare = [(n % 10 == 0, 1), (n % 50 == 0, 2)];
                let rare = rare.into_iter().filter(|pair| pair.0).map(|pair| pair.1);
                std::iter::once(0).chain(rare).collect::<Vec<u32>>()
            })
            .collect();
        let keys: Vec<u128> = (0..500).collect();
        let folds = Folds::stratified(&keys, &labels, 3, 5, 9).unwrap();
        assert_eq!(counts(&folds, &labels, 2), [2; 5]);
        assert_eq!(counts(&folds, &labels, 1), [10; 5]);
        assert_eq!(sizes(&folds), [100; 5]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn single_labels_and_sizes_differ_by_at_most_one(
            labels in prop::collection::vec(0u32..6, 12..200),
            fold_count in 2usize..12,
            seed in any::<u64>(),
        ) {
            let labels: RowLabels =
                labels.into_iter().map(|l| if l == 5 { vec![] } else { vec![l] }).collect();
            let keys: Vec<u128> = (0..labels.len() as u128).collect();
            let folds = Folds::stratified(&keys, &labels, 5, fold_count, seed).unwrap();
            for class in 0..5 {
                prop_assert!(range(&counts(&folds, &labels, class)) <= 1);
            }
            prop_assert!(range(&sizes(&folds)) <= 1);
        }

        #[test]
        fn the_order_of_documents_does_not_matter(
            documents in prop::collection::vec((0u128..40, prop::collection::vec(0u32..4, 0..3)), 5..60),
            (fold_count, seed, rotation) in (2usize..5, any::<u64>(), any::<prop::sample::Index>()),
        ) {
            let divide = |documents: &[(u128, Vec<u32>)]| {
                let (keys, labels): (Vec<u128>, Vec<Vec<u32>>) = documents.iter().cloned().unzip();
                let folds = Folds::stratified(&keys, &labels.clone().into(), 4, fold_count, seed).unwrap();
                // Equal documents are interchangeable, so compare what is in which fold.
                let mut placed: Vec<(u128, Vec<u32>, usize)> = documents
                    .iter()
                    .enumerate()
                    .map(|(at, (key, own))| (*key, own.clone(), folds.of(at)))
                    .collect();
                placed.sort();
                placed
            };
            let mut permuted = documents.clone();
            permuted.rotate_left(rotation.index(documents.len()));
            permuted.reverse();
            prop_assert_eq!(divide(&documents), divide(&permuted));
        }

        #[test]
        fn groups_are_never_divided_and_fill_all_folds(
            documents in prop::collection::vec((0u32..25, 0u32..3), 30..120),
            (fold_count, seed, turn) in (2usize..5, any::<u64>(), any::<prop::sample::Index>()),
        ) {
            let labels: RowLabels = documents.iter().map(|document| [document.1]).collect();
            let together: Vec<u32> = documents.iter().map(|document| document.0).collect();
            let keys: Vec<u128> = (0..documents.len() as u128).map(|n| n * n).collect();
            let divide = |keys: &[u128], labels: &RowLabels, together: &[u32]| {
                Folds::stratified_together(keys, labels, together, 3, fold_count, seed)
            };
            let Ok(folds) = divide(&keys, &labels, &together) else {
                prop_assume!(false);
                return Ok(());
            };
            for (document, group) in together.iter().enumerate() {
                let first = together.iter().position(|other| other == group).unwrap();
                prop_assert_eq!(folds.of(document), folds.of(first));
            }
            prop_assert!(sizes(&folds).iter().all(|&size| size > 0));
            // Neither the order of documents nor the numbers of groups matter.
            let turn = turn.index(keys.len());
            let (mut keys, mut labels, mut together) = (keys, labels, together);
            keys.rotate_left(turn);
            labels = labels.of_rows((turn..keys.len()).chain(0..turn));
            together.rotate_left(turn);
            let renamed: Vec<u32> = together.iter().map(|group| 1000 - group).collect();
            let mut turned = divide(&keys, &labels, &renamed).unwrap().assignment().to_vec();
            turned.rotate_right(turn);
            prop_assert_eq!(folds.assignment(), turned);
        }

        #[test]
        fn parts_of_folds_lie_inside_them_and_divide_no_group(
            documents in prop::collection::vec((0u32..40, 0u32..3), 30..120),
            (fold_count, parts, seed) in (2usize..5, 1usize..6, any::<u64>()),
        ) {
            let labels: RowLabels = documents.iter().map(|document| [document.1]).collect();
            let together: Vec<u32> = documents.iter().map(|document| document.0).collect();
            let keys: Vec<u128> = (0..documents.len() as u128).map(|n| n * 31).collect();
            let folds = Folds::stratified_together(&keys, &labels, &together, 3, fold_count, seed);
            let Ok(folds) = folds else {
                prop_assume!(false);
                return Ok(());
            };
            let finer = folds.divided(&keys, &labels, &together, 3, parts, seed);
            prop_assert_eq!(finer.count(), fold_count * parts);
            for (document, group) in together.iter().enumerate() {
                prop_assert_eq!(finer.of(document) / parts, folds.of(document));
                let first = together.iter().position(|other| other == group).unwrap();
                prop_assert_eq!(finer.of(document), finer.of(first));
            }
            // The order of documents does not matter.
            let back = |list: &[u32]| list.iter().rev().copied().collect::<Vec<u32>>();
            let reversed = Folds::from_assignment(
                fold_count,
                folds.assignment().iter().rev().copied().collect(),
            );
            let keys: Vec<u128> = keys.into_iter().rev().collect();
            let labels = labels.of_rows((0..documents.len()).rev());
            let mut again = reversed
                .divided(&keys, &labels, &back(&together), 3, parts, seed)
                .assignment()
                .to_vec();
            again.reverse();
            prop_assert_eq!(finer.assignment(), again);
        }

        #[test]
        fn groups_of_one_are_documents(
            labels in prop::collection::vec(0u32..4, 10..60),
            seed in any::<u64>(),
        ) {
            let labels: RowLabels = labels.into_iter().map(|label| [label]).collect();
            let keys: Vec<u128> = (0..labels.len() as u128).map(|n| n * 77).collect();
            let alone: Vec<u32> = (0..labels.len() as u32).rev().collect();
            let folds = Folds::stratified(&keys, &labels, 4, 3, seed).unwrap();
            prop_assert_eq!(folds, Folds::stratified_together(&keys, &labels, &alone, 4, 3, seed).unwrap());
        }

        #[test]
        fn no_fold_is_empty_and_labels_are_spread_when_there_are_several(
            labels in prop::collection::vec(prop::collection::btree_set(0u32..5, 0..4), 40..150),
            seed in any::<u64>(),
        ) {
            let labels: Vec<Vec<u32>> = labels.into_iter().map(|l| l.into_iter().collect()).collect();
            let labels = RowLabels::from(labels);
            let keys: Vec<u128> = (0..labels.len() as u128).collect();
            let folds = Folds::stratified(&keys, &labels, 5, 5, seed).unwrap();
            prop_assert!(sizes(&folds).iter().all(|&size| size > 0));
            let rarest = (0..5).min_by_key(|&c| labels.iter().filter(|l| l.contains(&c)).count());
            prop_assert!(range(&counts(&folds, &labels, rarest.unwrap())) <= 1);
        }
    }
}
