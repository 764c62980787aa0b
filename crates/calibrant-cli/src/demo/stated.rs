//! Stated against true, in bins of what was stated.

use calibrant::evaluation::Forecasts;
use serde::Serialize;

use super::inbox::TestInbox;
use crate::error::CliError;

/// Upper ends of the bins; the last bin holds what is beyond. They get narrow towards certainty,
/// because 0.99 and 0.9999 promise very different things.
const UPPER_ENDS: [f64; 7] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 0.999];

/// How many bins there are.
pub(super) const BIN_COUNT: usize = UPPER_ENDS.len() + 1;

/// Letters whose first choice was stated with about the same probability. Means are absent where
/// there are no letters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct StatedBin {
    /// The least stated probability that belongs here.
    pub(super) from: f64,
    /// Where the next bin begins.
    pub(super) to: f64,
    /// How many letters.
    pub(super) letters: usize,
    /// The mean stated probability of the first choice.
    pub(super) stated: Option<f64>,
    /// The mean true probability of the same class.
    #[serde(rename = "true")]
    pub(super) truth: Option<f64>,
    /// The share of letters that were of that class.
    pub(super) right: Option<f64>,
}

impl StatedBin {
    /// The range in words.
    pub(super) fn name(number: usize) -> String {
        let (from, to) = ends(number);
        match number {
            0 => format!("below {to}"),
            last if last == BIN_COUNT - 1 => format!("above {from}"),
            _ => format!("{from} to {to}"),
        }
    }
}

fn ends(number: usize) -> (f64, f64) {
    let from = match number {
        0 => 0.0,
        _ => UPPER_ENDS[(number - 1).min(UPPER_ENDS.len() - 1)],
    };
    (from, UPPER_ENDS.get(number).copied().unwrap_or(1.0))
}

/// Sorts the letters into bins by what `forecasts` say of their first choice.
pub(super) fn stated_against_true(
    forecasts: &Forecasts,
    test: &TestInbox,
) -> Result<Vec<StatedBin>, CliError> {
    let bins = forecasts.beside_truth(&test.truth.probabilities, &UPPER_ENDS)?;
    let bins = bins.into_iter().map(|bin| StatedBin {
        from: bin.from,
        to: bin.to,
        letters: bin.documents,
        stated: bin.stated,
        truth: bin.truth,
        right: bin.right,
    });
    Ok(bins.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bins_have_names_and_follow_on_each_other() {
        let names: Vec<String> = (0..BIN_COUNT).map(StatedBin::name).collect();
        assert_eq!(names[0], "below 0.5");
        assert_eq!(names[5], "0.9 to 0.99");
        assert_eq!(names[BIN_COUNT - 1], "above 0.999");
        for number in 1..BIN_COUNT {
            assert_eq!(ends(number - 1).1, ends(number).0);
        }
        assert_eq!((ends(0).0, ends(BIN_COUNT - 1).1), (0.0, 1.0));
    }

    #[test]
    fn whoever_states_the_truth_is_right_as_often_as_stated() {
        let test = TestInbox::new(1).unwrap();
        let bins = stated_against_true(&test.truth, &test).unwrap();
        assert_eq!(
            bins.iter().map(|bin| bin.letters).sum::<usize>(),
            test.letters.len()
        );
        for bin in bins.iter().filter(|bin| bin.letters > 0) {
            let (stated, truth) = (bin.stated.unwrap(), bin.truth.unwrap());
            assert_eq!(stated, truth);
            let error = (stated * (1.0 - stated) / bin.letters as f64).sqrt();
            assert!(
                (bin.right.unwrap() - stated).abs() < 4.5 * error + 1e-3,
                "{bin:?}"
            );
        }
    }
}
