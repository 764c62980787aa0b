//! Scores of examples that belong together.

use super::ScoreTable;
use crate::FitError;
use crate::pipeline::document_key::key_of_group;
use crate::problem::Folds;

/// As many as are drawn where documents are not grouped; no more than there are groups.
const FOLDS: usize = 5;

/// A table without copies, and how to come back to its rows.
pub(super) struct GroupedScores {
    /// Copies put together.
    pub(super) table: ScoreTable,
    /// For each row that was given, its row in the table.
    row_of: Vec<u32>,
    keys: Vec<u128>,
    together: Vec<u32>,
}

impl GroupedScores {
    pub(super) fn new(
        given: ScoreTable,
        groups: &[Option<String>],
        score_count: usize,
    ) -> Result<Self, FitError> {
        let count = given.labels.len();
        if groups.len() != count {
            return Err(FitError::LengthMismatch {
                left_name: "labels",
                left: count,
                right_name: "groups",
                right: groups.len(),
            });
        }
        let group_keys: Vec<u128> = groups
            .iter()
            .map(|group| group.as_deref().map_or(0, key_of_group))
            .collect();
        let scores_of = |row: u32| &given.scores[row as usize * score_count..][..score_count];
        let bits = |row: u32| scores_of(row).iter().map(|score| score.to_bits());
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by(|&a, &b| {
            let own = |row: u32| (group_keys[row as usize], given.labels[row as usize]);
            let weight = |row: u32| given.weights[row as usize];
            own(a)
                .cmp(&own(b))
                .then_with(|| bits(a).cmp(bits(b)))
                .then_with(|| weight(a).total_cmp(&weight(b)))
        });
        let is_copy = |&a: &u32, &b: &u32| {
            let own = |row: u32| (group_keys[row as usize], given.labels[row as usize]);
            group_keys[a as usize] != 0 && own(a) == own(b) && bits(a).eq(bits(b))
        };
        let mut table = ScoreTable::default();
        let mut row_of = vec![0; count];
        let (mut keys, mut together) = (Vec::new(), Vec::new());
        let mut last_group = 0;
        for copies in order.chunk_by(is_copy) {
            let (row, first) = (table.labels.len() as u32, copies[0]);
            let group = group_keys[first as usize];
            // Rows of one group stand side by side; those without one stand for themselves.
            together.push(match together.last() {
                Some(&before) if group != 0 && group == last_group => before,
                _ => row,
            });
            last_group = group;
            keys.push(key_of_row(group, scores_of(first)));
            table.scores.extend_from_slice(scores_of(first));
            table.labels.push(given.labels[first as usize]);
            let weights = copies.iter().map(|&copy| given.weights[copy as usize]);
            table.weights.push(weights.sum::<f64>().min(f64::MAX));
            copies.iter().for_each(|&copy| row_of[copy as usize] = row);
        }
        Ok(Self {
            table,
            row_of,
            keys,
            together,
        })
    }

    /// Folds that divide no group; an error where there is only one.
    /// How many groups there are, rows that stand for themselves counted as one each.
    pub(super) fn group_count(&self) -> usize {
        let mut groups = self.together.clone();
        groups.sort_unstable();
        groups.dedup();
        groups.len()
    }

    pub(super) fn folds(&self, class_count: usize) -> Result<Vec<u8>, FitError> {
        let mut groups = self.together.clone();
        groups.dedup();
        let labels = self.table.labels.iter().map(|&label| [label]).collect();
        let folds = Folds::stratified_together(
            &self.keys,
            &labels,
            &self.together,
            class_count,
            FOLDS.min(groups.len()).max(2),
            0,
        )?;
        Ok(folds.assignment().to_vec())
    }

    /// What was said of the table's rows, for the rows that were given.
    pub(super) fn of_rows<T: Copy>(&self, said: &[T]) -> Vec<T> {
        let width = said.len() / self.table.labels.len().max(1);
        let rows = self.row_of.iter();
        rows.flat_map(|&row| said[row as usize * width..][..width].iter().copied())
            .collect()
    }
}

fn key_of_row(group: u128, scores: &[f64]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&group.to_le_bytes());
    for score in scores {
        hasher.update(&score.to_bits().to_le_bytes());
    }
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    u128::from_le_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> (ScoreTable, Vec<Option<String>>) {
        let rows = [
            (0.5, 1, 1.0, "a"),
            (0.5, 1, 2.0, "a"),
            (0.5, 0, 1.0, "a"),
            (0.5, 1, 1.0, ""),
            (0.5, 1, 1.0, ""),
            (0.7, 1, 1.0, "b"),
        ];
        let table = ScoreTable {
            scores: rows.iter().map(|row| row.0).collect(),
            labels: rows.iter().map(|row| row.1).collect(),
            weights: rows.iter().map(|row| row.2).collect(),
        };
        let groups = rows
            .iter()
            .map(|row| (!row.3.is_empty()).then(|| row.3.to_owned()));
        (table, groups.collect())
    }

    #[test]
    fn equal_rows_of_a_group_are_one_and_others_are_not() {
        let (table, groups) = table();
        let grouped = GroupedScores::new(table, &groups, 1).unwrap();
        assert_eq!(grouped.table.labels.len(), 5);
        let of = |row: usize| grouped.row_of[row] as usize;
        assert_eq!(of(0), of(1));
        assert_eq!(grouped.table.weights[of(0)], 3.0);
        assert_eq!(grouped.together[of(0)], grouped.together[of(2)]);
        assert_ne!(grouped.together[of(3)], grouped.together[of(4)]);
        assert_ne!(grouped.together[of(0)], grouped.together[of(5)]);
        let said: Vec<usize> = (0..5).collect();
        assert_eq!(grouped.of_rows(&said)[1], of(0));
    }

    #[test]
    fn a_group_for_each_row_is_needed() {
        let (table, _) = table();
        assert!(GroupedScores::new(table, &[], 1).is_err());
    }
}
