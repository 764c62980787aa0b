//! Which columns a code may have, and how many.

use super::matrix::{CodeMatrix, with_positive_first};
use crate::FitError;

/// How many columns with both sides there are that are neither the same nor opposite, at most
/// [`CodeMatrix::MAX_LENGTH`].
pub(super) fn possible_columns(class_count: usize, sparse: bool) -> usize {
    let count = if sparse {
        // All of three sides, less those without `+` and those without `-`, and all zeros were
        // taken off twice; then half, for opposites.
        let all = 3usize.checked_pow(class_count as u32);
        let one_sided = 2usize.checked_pow(class_count as u32 + 1);
        all.zip(one_sided)
            .map(|(all, one_sided)| (all + 1 - one_sided) / 2)
    } else {
        let all = 2usize.checked_pow(class_count.saturating_sub(1) as u32);
        all.map(|all| all - 1)
    };
    count.unwrap_or(usize::MAX).min(CodeMatrix::MAX_LENGTH)
}

/// All columns with both sides, opposites once; for few classes only (`None` otherwise).
pub(super) fn every_column(class_count: usize, sparse: bool) -> Option<Vec<Vec<i8>>> {
    let (sides, most): (&[i8], usize) = if sparse {
        (&[1, -1, 0], 9)
    } else {
        (&[1, -1], 16)
    };
    if class_count > most {
        return None;
    }
    let all = sides.len().pow(class_count as u32);
    let column = |number: usize| -> Vec<i8> {
        let mut left = number;
        let entry = |_| {
            let side = sides[left % sides.len()];
            left /= sides.len();
            side
        };
        (0..class_count).map(entry).collect()
    };
    let columns = (0..all).map(column).filter(|column| {
        let both = column.contains(&1) && column.contains(&-1);
        both && with_positive_first(column.clone()) == *column
    });
    Some(columns.collect())
}

/// `factor · log₂ classes`, rounded up.
pub(super) fn usual_length(class_count: usize, factor: f64) -> usize {
    (factor * (class_count as f64).log2()).ceil() as usize
}

/// More columns than there can be.
pub(super) fn too_long(most: usize, wanted: usize) -> FitError {
    FitError::BadSetting {
        setting: "the code length",
        requirement: "at most the number of distinct splits of the classes (give no length for the default)",
        value: format!("{wanted} (at most {most} here)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possible_columns_are_counted_as_they_are_listed() {
        for class_count in 3..8 {
            for sparse in [false, true] {
                let columns = every_column(class_count, sparse).unwrap();
                assert_eq!(columns.len(), possible_columns(class_count, sparse));
            }
        }
        assert_eq!(possible_columns(3, false), 3);
        assert_eq!(possible_columns(400, true), CodeMatrix::MAX_LENGTH);
        assert!(every_column(17, false).is_none() && every_column(10, true).is_none());
    }
}
