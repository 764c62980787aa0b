//! The Laplace density.

use serde::{Deserialize, Serialize};

use super::{ClassScores, Decay, Density, Side, finite, kept_finite, kept_positive, positive};
use crate::CalibrationError;

/// The Laplace density: one exponential decay on both sides of the median.
///
/// # Formula
/// ```text
/// p(s) = exp(-|s-θ|/b) / 2b,   θ = median,   b = Σ w |s-θ| / N
/// ```
/// with `N` the sum of weights. Where half of the weight lies on either side of a gap, every
/// point of the gap is as likely, and the median is its middle. The distances add up to at
/// least that of one example that is as far away as scores are in the mean.
///
/// # When it misleads
/// Scores of text classifiers rarely decay alike on both sides: the side that faces the other
/// class is the steeper one.
///
/// # Reference
/// Bennett, SIGIR 2003, section 3.2, where it is what the asymmetric ones are compared with.
///
/// ```
/// use calibrant_calibration::calibration::{ClassScores, Density, Laplace, Side};
/// let scores = ClassScores::new(&[(5.0, 1.0), (0.0, 1.0), (1.0, 1.0)], Side::Left, 0.1)?;
/// let d = Laplace::fit(&scores)?;
/// assert_eq!(d.median(), 1.0); // by hand: distances 1, 0 and 4
/// assert!((d.deviation() - 5.0 / 3.0).abs() < 1e-15);
/// assert!((d.ln_pdf(6.0) - ((0.3f64).ln() - 3.0)).abs() < 1e-14); // 1/2b = 0.3, 5/b = 3
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct Laplace {
    median: f64,
    deviation: f64,
    rate: f64,
    ln_peak: f64,
}

impl Laplace {
    /// From median and mean absolute deviation, which must be positive.
    pub fn new(median: f64, deviation: f64) -> Result<Self, CalibrationError> {
        finite("the median", median)?;
        positive("the deviation", deviation)?;
        Ok(Self::kept(median, deviation))
    }

    /// From a fit, whose numbers a unit may have taken beyond `f64`.
    fn kept(median: f64, deviation: f64) -> Self {
        let deviation = kept_positive(deviation);
        Self {
            median: kept_finite(median),
            deviation,
            rate: kept_positive(deviation.recip()),
            ln_peak: -deviation.ln() - std::f64::consts::LN_2,
        }
    }

    /// The median, where it is highest.
    pub fn median(&self) -> f64 {
        self.median
    }

    /// The mean absolute deviation.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }
}

/// The middle of the points with at most half of the weight on either side.
fn median(class: &ClassScores) -> f64 {
    let half = 0.5 * class.total();
    let mut sum = 0.0;
    let mut reached = None;
    for (score, weight) in class.examples() {
        if let Some(left) = reached {
            return 0.5 * (left + score);
        }
        sum += weight;
        if sum > half {
            return score;
        }
        if sum == half {
            reached = Some(score);
        }
    }
    class.scores()[class.scores().len() - 1]
}

impl Density for Laplace {
    const NAME: &'static str = "Laplace";

    fn fit(class: &ClassScores) -> Result<Self, CalibrationError> {
        let median = median(class);
        let deviations: f64 = class
            .examples()
            .map(|(score, weight)| weight * (score - median).abs())
            .sum();
        let deviations = deviations.max(2.0 * class.least_deviation());
        Ok(Self::kept(median, deviations / class.total()))
    }

    fn rescaled(&self, unit: f64) -> Self {
        Self::kept(self.median * unit, self.deviation * unit)
    }

    #[inline]
    fn mode(&self) -> f64 {
        self.median
    }

    #[inline]
    fn ln_peak(&self) -> f64 {
        self.ln_peak
    }

    #[inline]
    fn decay(&self, _: Side) -> Decay {
        Decay::Exponential { rate: self.rate }
    }
}

/// What is saved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    median: f64,
    deviation: f64,
}

impl TryFrom<Parameters> for Laplace {
    type Error = CalibrationError;

    fn try_from(saved: Parameters) -> Result<Self, CalibrationError> {
        Self::new(saved.median, saved.deviation)
    }
}

impl From<Laplace> for Parameters {
    fn from(density: Laplace) -> Self {
        Self {
            median: density.median,
            deviation: density.deviation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighted_median_is_that_of_repeated_scores() {
        for (examples, expected) in [
            (vec![(0.0, 1.0), (1.0, 1.0)], 0.5),
            (vec![(0.0, 3.0), (1.0, 2.0), (9.0, 1.0)], 0.5),
            (vec![(0.0, 3.0), (1.0, 3.0), (9.0, 1.0)], 1.0),
            (vec![(2.0, 0.5)], 2.0),
        ] {
            let class = ClassScores::new(&examples, Side::Left, 1.0).unwrap();
            assert_eq!(median(&class), expected, "{examples:?}");
        }
    }
}
