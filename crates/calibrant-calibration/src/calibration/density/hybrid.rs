//! Exponential towards the other class, Gaussian away from it.

use serde::{Deserialize, Serialize};

use super::mode_search::{Deviations, best_mode};
use super::{
    ClassScores, Decay, Density, LN_HALF_AREA, Side, finite, kept_finite, kept_positive, positive,
};
use crate::CalibrationError;
use crate::numeric::log_sum_exp;

/// Density that decays exponentially on the side of its mode that faces the other class and as a
/// normal density on the other side.
///
/// # Formula
/// ```text
/// p(s) = exp(-β|s-θ|) / K       on the inner side
/// p(s) = exp(-(s-θ)²/2σ²) / K   on the outer side,   K = 1/β + σ√(π/2)
/// ```
/// The inner side is the left one for positives and the right one for negatives: between the modes
/// lie the hard cases, with long tails, and beyond them the easy ones. With `d` the sum of inner
/// distances and `q` that of squared outer ones times `π/2`, both divided by `N`, the sum of
/// weights, the likeliest parameters for a mode satisfy
/// ```text
/// 1/β = √(dK),   σ√(π/2) = (qK)^⅓,   K = √(dK) + (qK)^⅓
/// ```
/// With `K = x⁶` the last is `x⁴ = √d x + q^⅓`, which has one positive root; Newton's steps from
/// above it fall to it. The likelihood then falls with `ln K + 1/(2βK)`. The best mode may lie
/// between two scores; it is found by halving the few intervals where a bound from below allows
/// for something better, to 14 digits of `K exp(1/(2βK))`.
///
/// # When it misleads
/// It takes it for granted that positives score higher. A side without any deviation gets a
/// little, tied to the spread of all scores.
///
/// # Reference
/// Bennett, SIGIR 2003, names it as future work in section 5; the formulas are ours.
///
/// ```
/// use calibrant_calibration::calibration::{ClassScores, Density, Hybrid, Side};
/// let outer = (2.0 / std::f64::consts::PI).sqrt();
/// let scores = ClassScores::new(&[(-2.0, 1.0), (0.0, 6.0), (outer, 1.0)], Side::Left, 0.1)?;
/// let density = Hybrid::fit(&scores)?;
/// // By hand: at 0, d = 2/8 and q = (π/2)(2/π)/8 = 1/8, so that K = 1 solves K = √K/2 + ∛K/2:
/// // each side has half of the area.
/// assert!(density.mode().abs() < 1e-6);
/// assert!((density.inner_rate() - 2.0).abs() < 1e-6);
/// assert!((density.outer_deviation() - 0.5 * outer).abs() < 1e-6);
/// assert!(density.ln_pdf(0.0).abs() < 1e-6 && (density.ln_pdf(-3.0) + 6.0).abs() < 1e-5);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct Hybrid {
    mode: f64,
    inner: Side,
    inner_rate: f64,
    outer_deviation: f64,
    ln_peak: f64,
}

impl Hybrid {
    /// From the mode, the side that faces the other class, the rate there and the width on the
    /// other side; both must be positive.
    pub fn new(
        mode: f64,
        inner: Side,
        inner_rate: f64,
        outer_deviation: f64,
    ) -> Result<Self, CalibrationError> {
        finite("the mode", mode)?;
        positive("the inner rate", inner_rate)?;
        positive("the outer deviation", outer_deviation)?;
        Ok(Self::kept(mode, inner, inner_rate, outer_deviation))
    }

    /// From a fit, whose numbers a unit may have taken beyond `f64`.
    fn kept(mode: f64, inner: Side, inner_rate: f64, outer_deviation: f64) -> Self {
        let inner_rate = kept_positive(inner_rate);
        let outer_deviation = kept_positive(outer_deviation);
        let areas = [-inner_rate.ln(), outer_deviation.ln() + LN_HALF_AREA];
        Self {
            mode: kept_finite(mode),
            inner,
            inner_rate,
            outer_deviation,
            ln_peak: -log_sum_exp(&areas),
        }
    }

    /// The side that faces the other class.
    pub fn inner(&self) -> Side {
        self.inner
    }

    /// The decay rate on the inner side.
    pub fn inner_rate(&self) -> f64 {
        self.inner_rate
    }

    /// The width of the outer side.
    pub fn outer_deviation(&self) -> f64 {
        self.outer_deviation
    }
}

/// The areas of both sides in units of the density's peak, from the mean inner distance and the
/// mean squared outer one times `π/2`.
fn areas(distance: f64, square: f64) -> (f64, f64) {
    let (linear, constant) = (distance.sqrt(), square.cbrt());
    // x⁴ - √d x - q^⅓ is convex, and positive at this start: Newton's steps never pass the root.
    let mut x = linear.cbrt() + constant.sqrt().sqrt();
    for _ in 0..60 {
        let cube = x * x * x;
        let step = (cube * x - linear * x - constant) / (4.0 * cube - linear);
        // Not a number where both are zero.
        if step.is_nan() || step <= 1e-16 * x {
            break;
        }
        x -= step;
    }
    // K = x⁶: √(dK) and (qK)^⅓.
    (linear * x * x * x, constant * x * x)
}

impl Density for Hybrid {
    const NAME: &'static str = "hybrid";

    fn fit(class: &ClassScores) -> Result<Self, CalibrationError> {
        let total = class.total();
        let per_example = std::f64::consts::FRAC_PI_2 / total;
        let inner_is_left = class.inner() == Side::Left;
        let sides = |left: &Deviations, right: &Deviations| {
            if inner_is_left {
                (left.first, right.second)
            } else {
                (right.first, left.second)
            }
        };
        let cost = |left: &Deviations, right: &Deviations| {
            let (distances, squares) = sides(left, right);
            let (inner, outer) = areas(distances / total, squares * per_example);
            let area = inner + outer;
            if area > 0.0 {
                area * (0.5 * inner / area).exp()
            } else {
                0.0
            }
        };
        let best = best_mode(class, cost);
        let (distances, squares) = sides(&best.left, &best.right);
        let (inner, outer) = areas(
            distances.max(class.least_deviation()) / total,
            squares.max(class.least_square()) * per_example,
        );
        Ok(Self::kept(
            best.at,
            class.inner(),
            inner.recip(),
            outer / std::f64::consts::FRAC_PI_2.sqrt(),
        ))
    }

    fn rescaled(&self, unit: f64) -> Self {
        Self::kept(
            self.mode * unit,
            self.inner,
            self.inner_rate / unit,
            self.outer_deviation * unit,
        )
    }

    #[inline]
    fn mode(&self) -> f64 {
        self.mode
    }

    #[inline]
    fn ln_peak(&self) -> f64 {
        self.ln_peak
    }

    #[inline]
    fn decay(&self, side: Side) -> Decay {
        if side == self.inner {
            Decay::Exponential {
                rate: self.inner_rate,
            }
        } else {
            Decay::Gaussian {
                deviation: self.outer_deviation,
            }
        }
    }
}

/// What is saved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    mode: f64,
    inner: Side,
    inner_rate: f64,
    outer_deviation: f64,
}

impl TryFrom<Parameters> for Hybrid {
    type Error = CalibrationError;

    fn try_from(saved: Parameters) -> Result<Self, CalibrationError> {
        Self::new(
            saved.mode,
            saved.inner,
            saved.inner_rate,
            saved.outer_deviation,
        )
    }
}

impl From<Hybrid> for Parameters {
    fn from(density: Hybrid) -> Self {
        Self {
            mode: density.mode,
            inner: density.inner,
            inner_rate: density.inner_rate,
            outer_deviation: density.outer_deviation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_areas_solve_their_equations(distance in 0.0f64..100.0, square in 0.0f64..100.0) {
            for (d, q) in [(distance, square), (distance, 0.0), (0.0, square), (1e-30, square)] {
                let (inner, outer) = areas(d, q);
                let sum = inner + outer;
                prop_assert!((inner - (d * sum).sqrt()).abs() <= 1e-12 * sum, "{} {}", d, q);
                prop_assert!((outer - (q * sum).cbrt()).abs() <= 1e-12 * sum, "{} {}", d, q);
            }
        }
    }

    #[test]
    fn the_parameters_of_many_draws_are_found_on_either_side() {
        let mut random = Random::from_seed(8);
        let mut draw = |truth: &Hybrid, sign: f64| {
            let area = truth.outer_deviation * std::f64::consts::FRAC_PI_2.sqrt();
            let outside = random.uniform() < area / (area + 1.0 / truth.inner_rate);
            let distance = if outside {
                random.normal().abs() * truth.outer_deviation
            } else {
                random.open_uniform().ln() / truth.inner_rate
            };
            (truth.mode + sign * distance, 1.0)
        };
        for (inner, sign) in [(Side::Left, 1.0), (Side::Right, -1.0)] {
            let truth = Hybrid::new(0.7, inner, 1.5, 0.4).unwrap();
            let examples: Vec<(f64, f64)> = (0..100_000).map(|_| draw(&truth, sign)).collect();
            let class = ClassScores::new(&examples, inner, 1.0).unwrap();
            let found = Hybrid::fit(&class).unwrap();
            assert!((found.mode - 0.7).abs() < 0.02, "{found:?}");
            assert!((found.inner_rate - 1.5).abs() < 0.05, "{found:?}");
            assert!((found.outer_deviation - 0.4).abs() < 0.02, "{found:?}");
        }
    }
}
