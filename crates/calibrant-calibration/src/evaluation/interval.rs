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
        Self::reaching(value, crate::numeric::NORMAL_975 * standard_error)
    }

    /// Estimate and interval from half its width; `None` unless all is finite.
    pub(super) fn reaching(value: f64, half: f64) -> Option<Self> {
        (value.is_finite() && half.is_finite()).then_some(Self {
            value,
            lower: value - half,
            upper: value + half,
        })
    }

    /// The estimate with an interval from the spread of its replicates: normal on a scale without ends, `forth` leading
    /// there and `back` from there. The interval then stays where the measure can be, and covers better than the middle
    /// 95 % of the replicates do, which with 200 documents are a little too narrow. `reach` is half the interval in
    /// deviations of the replicates. `None` unless all is finite.
    pub(super) fn of_replicates(
        value: f64,
        replicates: &[f64],
        reach: f64,
        forth: impl Fn(f64) -> f64,
        back: impl Fn(f64) -> f64,
    ) -> Option<Self> {
        let there: Vec<f64> = replicates
            .iter()
            .map(|&replicate| forth(replicate))
            .collect();
        let count = there.len() as f64;
        let mean = there.iter().sum::<f64>() / count;
        let squares: f64 = there.iter().map(|x| (x - mean) * (x - mean)).sum();
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
        let at = Self::reaching(forth(value), reach * deviation)?;
        let (lower, upper) = (back(at.lower), back(at.upper));
        (value.is_finite() && lower.is_finite() && upper.is_finite()).then_some(Self {
            value,
            lower: lower.min(value),
            upper: upper.max(value),
        })
    }

    /// Of a loss, which is above zero: by its logarithm.
    pub(super) fn of_loss(value: f64, replicates: &[f64], reach: f64) -> Option<Self> {
        let forth = |loss: f64| loss.max(f64::MIN_POSITIVE).ln();
        Self::of_replicates(value, replicates, reach, forth, f64::exp)
    }

    /// Of a share among so many documents: by its log-odds, half a document from the ends at most. `None` where every
    /// replicate is at one end: how far the truth may be from it cannot be seen there.
    pub(super) fn of_share(
        value: f64,
        replicates: &[f64],
        reach: f64,
        documents: usize,
    ) -> Option<Self> {
        if replicates.iter().all(|&r| r == value) && (value <= 0.0 || value >= 1.0) {
            return None;
        }
        let least = 0.5 / documents.max(1) as f64;
        let forth = |share: f64| {
            let share = share.clamp(least, 1.0 - least);
            (share / (1.0 - share)).ln()
        };
        Self::of_replicates(value, replicates, reach, forth, crate::numeric::sigmoid)
    }

    /// Of a share of so many independent cases, by Wilson's score; `reach` is half the interval in standard errors.
    pub(super) fn wilson(value: f64, count: f64, reach: f64) -> Self {
        let (lower, upper) = super::reliability::score_interval(value, count, reach);
        Self {
            value,
            lower: lower.min(value),
            upper: upper.max(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::NORMAL_975;

    #[test] // By hand: replicates e and 1/e of a loss of 1 have logarithms ±1, whose deviation is √2.
    fn a_loss_has_its_interval_by_logarithms() {
        let e = 1f64.exp();
        let found = Interval::of_loss(1.0, &[e, 1.0 / e], NORMAL_975).unwrap();
        let half = 1.959_963_984_540_054 * 2f64.sqrt();
        assert!((found.upper.ln() - half).abs() < 1e-9 && (found.lower.ln() + half).abs() < 1e-9);
        assert_eq!(
            Interval::of_loss(0.7, &[0.7, 0.7], 3.0).map(|i| (i.lower, i.upper)),
            Some((0.7, 0.7))
        );
    }

    #[test]
    fn a_share_stays_a_share_and_an_end_has_no_interval() {
        let found = Interval::of_share(0.98, &[0.99, 0.97, 1.0, 0.95], NORMAL_975, 100).unwrap();
        assert!(0.0 < found.lower && found.lower < 0.98 && found.upper < 1.0);
        assert_eq!(Interval::of_share(1.0, &[1.0, 1.0], NORMAL_975, 100), None);
        // By hand: with nothing among ten, Wilson's upper end is z²/(10 + z²).
        let z2 = 1.959_963_984_540_054f64.powi(2);
        assert!((Interval::wilson(0.0, 10.0, NORMAL_975).upper - z2 / (10.0 + z2)).abs() < 1e-9);
    }
}
