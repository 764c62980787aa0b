//! Values seen within their query.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

/// What is done to the values of a column before features are made of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryScale {
    /// Nothing.
    #[default]
    AsGiven,
    /// Mean zero and standard deviation one over all training documents. (Bins do not depend on it.)
    Standard,
    /// The part of the query's other documents with a lower value, those with the same counted half: 0 for the
    /// lowest, 1 for the highest.
    Percentile,
    /// `(f - least) / (greatest - least)` over the query's documents; zero where all are equal.
    MinMax,
}

named! {
    QueryScale, "a scale";
    AsGiven = "as-given", "Nothing";
    Standard = "standard", "Mean 0 and spread 1 over all training documents";
    Percentile = "percentile", "The part of the query's documents with a lower value";
    MinMax = "min-max", "From the query's least value (0) to its greatest (1)";
}

impl QueryScale {
    /// Scales the rows of one query, `width` values each; missing ones stay missing.
    pub(super) fn apply(self, values: &mut [f32], width: usize) {
        for function in 0..width {
            match self {
                Self::AsGiven | Self::Standard => return,
                Self::Percentile => percentiles(values, function, width),
                Self::MinMax => min_max(values, function, width),
            }
        }
    }
}

fn percentiles(values: &mut [f32], function: usize, width: usize) {
    let mut sorted: Vec<f32> = (function..values.len())
        .step_by(width)
        .map(|at| values[at])
        .filter(|value| !value.is_nan())
        .collect();
    sorted.sort_unstable_by(f32::total_cmp);
    let others = sorted.len().saturating_sub(1);
    for at in (function..values.len()).step_by(width) {
        let value = values[at];
        if value.is_nan() {
            continue;
        }
        let below = sorted.partition_point(|&other| other < value);
        let equal = sorted.partition_point(|&other| other <= value) - below;
        values[at] = if others == 0 {
            0.5
        } else {
            ((below as f64 + 0.5 * (equal.max(1) - 1) as f64) / others as f64) as f32
        };
    }
}

fn min_max(values: &mut [f32], function: usize, width: usize) {
    let places = || (function..values.len()).step_by(width);
    let present = || {
        places()
            .map(|at| values[at])
            .filter(|value| !value.is_nan())
    };
    let least = f64::from(present().fold(f32::INFINITY, f32::min));
    let greatest = f64::from(present().fold(f32::NEG_INFINITY, f32::max));
    let spread = greatest - least;
    for at in (function..values.len()).step_by(width) {
        if !values[at].is_nan() {
            values[at] = if spread > 0.0 {
                ((f64::from(values[at]) - least) / spread) as f32
            } else {
                0.0
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(scale: QueryScale, values: &[f32]) -> Vec<f32> {
        let mut values = values.to_vec();
        scale.apply(&mut values, 1);
        values
    }

    #[test] // By hand; the second is the paper's example: 0.6 between 0.2 and 0.7 becomes 0.8.
    fn values_are_seen_within_their_query() {
        let found = scaled(
            QueryScale::Percentile,
            &[1.0, 3.0, 3.0, 9.0, f32::NAN, -5.0],
        );
        // Of four others: none lower, 1 lower, 2 lower and one equal, 4 lower.
        assert_eq!(found[..4], [0.25, 0.625, 0.625, 1.0]);
        assert!(found[4].is_nan());
        assert_eq!(found[5], 0.0);
        let found = scaled(QueryScale::MinMax, &[0.6, 0.2, 0.7]);
        assert!((found[0] - 0.8).abs() < 1e-6 && found[1..] == [0.0, 1.0]);
        assert_eq!(scaled(QueryScale::MinMax, &[4.0, 4.0]), [0.0, 0.0]);
        assert_eq!(scaled(QueryScale::Percentile, &[4.0]), [0.5]);
        assert_eq!(scaled(QueryScale::AsGiven, &[4.0]), [4.0]);
    }

    #[test]
    fn columns_do_not_mix() {
        let mut values = [1.0, 10.0, 2.0, 30.0, 3.0, 20.0];
        QueryScale::MinMax.apply(&mut values, 2);
        assert_eq!(values, [0.0, 0.0, 0.5, 1.0, 1.0, 0.5]);
    }
}
