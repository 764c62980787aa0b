//! The rows that a problem is learned from.

/// Which of all rows take part.
#[derive(Debug, Clone, Copy)]
pub enum Members<'a> {
    /// All of them.
    All,
    /// Those with these numbers, which rise.
    Listed(&'a [u32]),
    /// All but those of one fold.
    Outside {
        /// The fold of each row.
        folds: &'a [u8],
        /// The fold that is left out.
        fold: u8,
    },
}

impl<'a> From<Option<&'a [u32]>> for Members<'a> {
    fn from(listed: Option<&'a [u32]>) -> Self {
        listed.map_or(Self::All, Self::Listed)
    }
}

impl Members<'_> {
    /// How many there are.
    pub fn count(self, row_count: usize) -> usize {
        match self {
            Self::All => row_count,
            Self::Listed(rows) => rows.len(),
            Self::Outside { folds, fold } => folds.iter().filter(|&&own| own != fold).count(),
        }
    }

    /// Tells their numbers, which rise.
    #[inline]
    pub fn for_each(self, row_count: usize, mut each: impl FnMut(usize)) {
        match self {
            Self::All => (0..row_count).for_each(each),
            Self::Listed(rows) => rows.iter().for_each(|&row| each(row as usize)),
            Self::Outside { folds, fold } => {
                for (row, &own) in folds.iter().enumerate() {
                    if own != fold {
                        each(row);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fold_left_out_is_the_list_of_the_others() {
        let outside = Members::Outside {
            folds: &[0, 2, 1, 2, 0],
            fold: 2,
        };
        for (members, expected) in [
            (outside, vec![0, 2, 4]),
            (Members::Listed(&[0, 2, 4]), vec![0, 2, 4]),
            (None.into(), vec![0, 1, 2, 3, 4]),
        ] {
            let mut rows = Vec::new();
            members.for_each(5, |row| rows.push(row));
            assert_eq!(rows, expected);
            assert_eq!(members.count(5), expected.len());
        }
    }
}
