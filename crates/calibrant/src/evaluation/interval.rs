//! An estimate with its interval.

use serde::{Deserialize, Serialize};

/// An estimate with the ends of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Interval {
    /// Estimate and interval from a standard error, by the normal curve; `None` unless all is finite.
    pub(super) fn normal(value: f64, standard_error: f64) -> Option<Self> {
        let half = crate::numeric::NORMAL_975 * standard_error;
        (value.is_finite() && half.is_finite()).then_some(Self {
            value,
            lower: value - half,
            upper: value + half,
        })
    }

    /// The estimate with the middle 95 % of its replicates, which are sorted; interpolates between
    /// neighbours.
    pub(super) fn percentile(value: f64, sorted: &[f64]) -> Option<Self> {
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let (left, right) = (place.floor() as usize, place.ceil() as usize);
            sorted[left] + (place - place.floor()) * (sorted[right] - sorted[left])
        };
        Some(Self {
            value,
            lower: at(0.025),
            upper: at(0.975),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // By hand: of 0, 1, ..., 40 the ends are at 1 and 39.
    fn percentiles_agree_with_the_hand() {
        let values: Vec<f64> = (0..=40).map(f64::from).collect();
        let found = Interval::percentile(7.0, &values).unwrap();
        assert!((found.lower - 1.0).abs() < 1e-12 && (found.upper - 39.0).abs() < 1e-12);
        assert_eq!(Interval::percentile(7.0, &[]), None);
        assert_eq!(Interval::percentile(7.0, &[3.0]).unwrap().lower, 3.0);
    }
}
