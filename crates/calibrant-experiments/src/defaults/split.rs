//! How a corpus is divided: the same numbers as `bench/defaults_splits.py`.

/// At most so many documents are tested on, and at most a third.
pub(super) const MOST_TEST_ROWS: usize = 3_000;

const TEST: u64 = 1;
const TRAINING: u64 = 2;

/// Numbers of rows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) training: Vec<usize>,
    pub(super) test: Vec<usize>,
}

impl Split {
    /// The training rows, and a tenth of them again if copies are wanted.
    pub(super) fn training_with(&self, copies: bool) -> impl Iterator<Item = usize> {
        let again = if copies { self.training.len() / 10 } else { 0 };
        let rows = self.training.iter().chain(&self.training[..again]);
        rows.copied()
    }
}

/// Whole groups at random until a third of the rows is tested on; all other groups at random, row by row, to learn from. The
/// group that the boundary cuts is learned from in no part.
pub(super) fn draw_split(groups: &[u64], draw: u64) -> Split {
    let mut rows: Vec<usize> = (0..groups.len()).collect();
    rows.sort_by_key(|&row| (lot(draw, TEST, groups[row]), lot(draw, TEST, row as u64)));
    let mut training = rows.split_off((groups.len() / 3).min(MOST_TEST_ROWS));
    let last = rows.last().map(|&row| groups[row]);
    training.retain(|&row| Some(groups[row]) != last);
    training.sort_by_key(|&row| lot(draw, TRAINING, row as u64));
    Split {
        training,
        test: rows,
    }
}

/// SplitMix64's mixed numbers, with the place instead of a state.
fn lot(draw: u64, purpose: u64, number: u64) -> u64 {
    let place = number
        .wrapping_add((draw * 16 + purpose) << 40)
        .wrapping_add(1);
    let mut z = place.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The first three numbers of SplitMix64 from the state 0, as its author's program gives them.
    #[test]
    fn lots_are_those_of_the_published_generator() {
        let from_zero = |n: u64| lot(0, 0, n);
        assert_eq!(from_zero(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(from_zero(1), 0x6E78_9E6A_A1B9_65F4);
        assert_eq!(from_zero(2), 0x06C4_5D18_8009_454F);
    }

    #[test]
    fn groups_are_not_divided_and_no_row_is_in_both_parts() {
        let groups: Vec<u64> = (0..300).map(|row| row / 7).collect();
        let split = draw_split(&groups, 3);
        assert_eq!(split.test.len(), 100);
        for &row in &split.training {
            assert!(split.test.iter().all(|&test| groups[test] != groups[row]));
        }
        assert!(split.training.len() >= 194, "at most one group is dropped");
        assert_ne!(split, draw_split(&groups, 4));
    }

    // Worked out by `bench/defaults_splits.py` (`lot` and `lexsort`) for twelve rows in groups of two.
    #[test]
    fn the_peers_script_draws_the_same_rows() {
        let groups: Vec<u64> = (0..12).map(|row| row / 2).collect();
        let split = draw_split(&groups, 1);
        assert_eq!(split.test, [11, 10, 0, 1]);
        assert_eq!(split.training, [7, 6, 8, 4, 3, 9, 2, 5]);
    }
}
