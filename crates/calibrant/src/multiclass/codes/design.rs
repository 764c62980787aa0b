//! The designs of codes by name.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::bch::bch_code;
use super::columns::every_column;
use super::matrix::CodeMatrix;
use super::random::random_code;
use crate::FitError;

/// How a code matrix comes about.
///
/// ```
/// use calibrant::multiclass::CodeDesign;
/// let code = CodeDesign::Exhaustive.build(4, None, 0)?;
/// assert_eq!(code.length(), 7); // by hand: 2³ - 1 ways to divide four classes
/// assert_eq!(code.separation().rows, 4.0); // 2²
/// # Ok::<(), calibrant::FitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeDesign {
    /// Each class against all others: as many columns as classes, rows two places apart.
    OneVsAll,
    /// Each class against each other, the rest left out.
    AllPairs,
    /// Every way to divide the classes: `2^(C-1) - 1` columns, for 3 to 10 classes.
    Exhaustive,
    /// Sides by chance, the best of several draws improved step by step; `10 log₂ C` columns unless
    /// a length is given.
    #[default]
    RandomDense,
    /// As [`Self::RandomDense`], but half of the entries zero; `15 log₂ C` columns.
    RandomSparse,
    /// Words of a code of Bose, Chaudhuri and Hocquenghem (see [`super::BchCode`]), of length
    /// `2^m - 1`, cut where a shorter length is given.
    Bch,
}

named! {
    CodeDesign, "a design of output codes";
    OneVsAll = "one_vs_all", "Each class against all others";
    AllPairs = "all_pairs", "Each class against each other";
    Exhaustive = "exhaustive", "Every split of the classes (at most ten)";
    RandomDense = "random_dense", "Random sides, improved step by step";
    RandomSparse = "random_sparse", "As random_dense, with half of the classes left out of each problem";
    Bch = "bch", "Words of a Bose-Chaudhuri-Hocquenghem code";
}

impl CodeDesign {
    /// Whether a length can be given.
    pub(crate) fn takes_length(self) -> bool {
        matches!(self, Self::RandomDense | Self::RandomSparse | Self::Bch)
    }

    /// Whether it leaves classes out of problems.
    pub fn is_sparse(self) -> bool {
        matches!(self, Self::AllPairs | Self::RandomSparse)
    }

    /// The code for so many classes. Equal arguments give equal codes.
    pub fn build(
        self,
        class_count: usize,
        length: Option<usize>,
        seed: u64,
    ) -> Result<CodeMatrix, FitError> {
        if class_count < 3 {
            return Err(FitError::BadSetting {
                setting: "the number of classes",
                requirement: "3 or more for an output code (two classes need one scorer and no code)",
                value: class_count.to_string(),
            });
        }
        if let Some(length) = length {
            self.check_length(length)?;
        }
        match self {
            Self::OneVsAll => {
                let side = |class, column| if class == column { 1 } else { -1 };
                matrix_of(class_count, class_count, side)
            }
            Self::AllPairs => {
                let pairs: Vec<(usize, usize)> = (0..class_count)
                    .flat_map(|first| (first + 1..class_count).map(move |second| (first, second)))
                    .take(CodeMatrix::MAX_LENGTH + 1)
                    .collect();
                let side = |class, column: usize| match pairs[column] {
                    (first, _) if first == class => 1,
                    (_, second) if second == class => -1,
                    _ => 0,
                };
                matrix_of(class_count, pairs.len(), side)
            }
            Self::Exhaustive => {
                let all = (class_count <= 10).then(|| every_column(class_count, false));
                let Some(all) = all.flatten() else {
                    return Err(too_many_classes(
                        class_count,
                        "at most 10 for an exhaustive code (use random_dense or bch)",
                    ));
                };
                matrix_of(class_count, all.len(), |class, column| all[column][class])
            }
            Self::RandomDense => random_code(class_count, length, false, seed),
            Self::RandomSparse => random_code(class_count, length, true, seed),
            Self::Bch => bch_code(class_count, length, seed),
        }
    }

    /// Refuses lengths that no number of classes would allow.
    pub(crate) fn check_length(self, length: usize) -> Result<(), FitError> {
        let bad = |requirement| {
            Err(FitError::BadSetting {
                setting: "the code length",
                requirement,
                value: length.to_string(),
            })
        };
        if !self.takes_length() {
            return bad(
                "absent for one_vs_all, all_pairs and exhaustive codes, which have their own",
            );
        }
        if !(1..=CodeMatrix::MAX_LENGTH).contains(&length) {
            return bad("1 to 8192");
        }
        Ok(())
    }
}

fn matrix_of(
    class_count: usize,
    length: usize,
    side: impl Fn(usize, usize) -> i8,
) -> Result<CodeMatrix, FitError> {
    let requirement =
        "fewer for this code: it would have more than 8192 columns (use random_dense or bch)";
    if length > CodeMatrix::MAX_LENGTH {
        return Err(too_many_classes(class_count, requirement));
    }
    let entries = (0..class_count)
        .flat_map(|class| (0..length).map(move |column| (class, column)))
        .map(|(class, column)| side(class, column))
        .collect();
    CodeMatrix::new(class_count, entries).map_err(|_| too_many_classes(class_count, requirement))
}

fn too_many_classes(class_count: usize, requirement: &'static str) -> FitError {
    FitError::BadSetting {
        setting: "the number of classes",
        requirement,
        value: class_count.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exhaustive_codes_have_every_division_and_rows_as_far_apart_as_can_be() {
        for class_count in 3..=10 {
            let code = CodeDesign::Exhaustive.build(class_count, None, 0).unwrap();
            assert_eq!(code.length(), (1 << (class_count - 1)) - 1);
            let separation = code.separation();
            assert_eq!(separation.rows, f64::from(1 << (class_count - 2)));
            assert_eq!(separation.columns, 1.0);
        }
        assert!(CodeDesign::Exhaustive.build(11, None, 0).is_err());
    }

    #[test]
    fn pairs_have_one_class_on_each_side() {
        for class_count in 3..=20 {
            let code = CodeDesign::AllPairs.build(class_count, None, 0).unwrap();
            assert_eq!(code.length(), class_count * (class_count - 1) / 2);
            for column in 0..code.length() {
                let column = code.column(column);
                let count = |side| column.iter().filter(|&&entry| entry == side).count();
                assert_eq!((count(1), count(-1)), (1, 1));
            }
            // By hand: one place opposite, all others with a zero.
            let rows = 1.0 + 0.5 * (code.length() as f64 - 1.0);
            assert_eq!(code.separation().rows, rows);
        }
        assert!(CodeDesign::AllPairs.build(200, None, 0).is_err());
    }

    #[test]
    fn three_classes_have_every_code_and_two_have_none() {
        for design in CodeDesign::ALL {
            let code = design.build(3, None, 0).unwrap();
            assert_eq!(code.class_count(), 3, "{}", design.name());
            assert!(design.build(2, None, 0).is_err());
            assert!(design.build(0, None, 0).is_err());
            assert!(design.build(5, Some(0), 0).is_err());
            assert!(design.build(5, Some(100_000), 0).is_err());
        }
        assert!(CodeDesign::RandomDense.build(5, Some(16), 0).is_err());
        assert!(CodeDesign::RandomDense.build(5, Some(15), 0).is_ok());
        assert!(CodeDesign::RandomDense.build(9, Some(3), 0).is_err());
        assert!(CodeDesign::OneVsAll.build(5, Some(5), 0).is_err());
    }

    #[test]
    fn improved_codes_are_better_than_the_first_draw_and_bch_codes_are_good() {
        // Ten log₂ 20 columns; two random rows are 22 apart on average, and the closest of 190 pairs about 12.
        let dense = CodeDesign::RandomDense.build(20, None, 0).unwrap();
        assert_eq!(dense.length(), 44);
        assert!(dense.separation().rows >= 16.0, "{:?}", dense.separation());
        let bch = CodeDesign::Bch.build(20, None, 0).unwrap();
        assert!(bch.separation().rows >= 27.0, "{:?}", bch.separation());
        let cut = CodeDesign::Bch.build(20, Some(40), 0).unwrap();
        assert_eq!(cut.length(), 40);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_design_gives_a_checked_code_and_the_same_for_the_same_seed(
            design in prop::sample::select(CodeDesign::ALL.to_vec()),
            class_count in 3usize..40,
            length in prop::option::of(1usize..70),
            seed in any::<u64>(),
        ) {
            let length = length.filter(|_| design.takes_length());
            let Ok(code) = design.build(class_count, length, seed) else {
                // Only where no code can be: too many classes, or a length out of reach.
                let possible = 2usize.pow(class_count.min(20) as u32 - 1) - 1;
                prop_assert!(
                    design == CodeDesign::Exhaustive && class_count > 10
                        || length.is_some_and(|length| length > possible.min(3 * class_count) || length < 20),
                    "{} {} {:?}", design.name(), class_count, length
                );
                return Ok(());
            };
            prop_assert!(CodeMatrix::new(class_count, code.entries().to_vec()).is_ok());
            prop_assert!(length.is_none_or(|length| length == code.length()));
            prop_assert!(code.separation().rows > 0.0 && code.separation().columns > 0.0);
            prop_assert!(code.is_dense() || design.is_sparse());
            prop_assert_eq!(code, design.build(class_count, length, seed).unwrap());
        }
    }
}
