//! A slope and an intercept for each class.

use serde::{Deserialize, Serialize};

use super::held_out::Part;
use super::shrinkage::{Group, Shrunken, fit_groups};
use super::{ClassBuffers, HeldOutClassScores, Temperature, tame};
use crate::CalibrationError;
use crate::solvers::{SoftmaxRows, sum_in_parts};

/// Fits a slope and an intercept for each class, all together.
///
/// # Formula
/// ```text
/// P(class c) ∝ exp(a_c x_c + b_c),     x_c = β (s_c - m)
/// ```
/// `β` is the best single factor ([`Temperature`]) and `m` the mean of all scores, so that `a_c = 1` and
/// `b_c = 0` is temperature scaling. Slopes are drawn to their mean and intercepts to zero, as firmly
/// as the examples say they are alike (empirical Bayes): a few hundred examples give little more than
/// a temperature, many give each class its own line.
///
/// # When it misleads
/// Scores enter one by one: a class that is mistaken for one certain other needs
/// [`super::Dirichlet`] or [`super::PairwiseCoupling`]. With slopes that differ, a summand common
/// to all classes of an example matters, as it does for scores of one class against the rest.
///
/// # Reference
/// Guo, Pleiss, Sun & Weinberger, ICML 2017, section 4.2 (without any shrinking).
///
/// ```
/// use calibrant_calibration::calibration::{HeldOutClassScores, VectorScaling};
/// // Scores tell nothing; class 1 is right three times of four.
/// let held_out = HeldOutClassScores::assume(vec![0.0; 8000], 2, [1, 1, 0, 1].repeat(1000))?;
/// let calibrator = VectorScaling.fit(&held_out)?;
/// let odds = calibrator.intercepts()[1] - calibrator.intercepts()[0];
/// assert!((odds - 3f64.ln()).abs() < 0.02); // by hand: ln 3, drawn a little to zero
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VectorScaling;

/// A slope and an intercept for each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct VectorCalibrator {
    inverse_temperature: f64,
    centre: f64,
    slopes: Vec<f64>,
    intercepts: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    inverse_temperature: f64,
    centre: f64,
    slopes: Vec<f64>,
    intercepts: Vec<f64>,
}

impl TryFrom<Unchecked> for VectorCalibrator {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked {
            inverse_temperature,
            centre,
            slopes,
            intercepts,
        } = read;
        let finite = slopes
            .iter()
            .chain(&intercepts)
            .all(|value| value.is_finite())
            && centre.is_finite()
            && inverse_temperature.is_finite();
        if !finite || slopes.len() < 2 || slopes.len() != intercepts.len() {
            return Err("every class, and there are at least two, needs a slope and an intercept");
        }
        Ok(Self {
            inverse_temperature,
            centre: tame(centre),
            slopes,
            intercepts,
        })
    }
}

impl VectorCalibrator {
    /// The factor `β` that brings scores to the unit of log-probabilities.
    pub fn inverse_temperature(&self) -> f64 {
        self.inverse_temperature
    }

    /// The score `m` that intercepts stand at.
    pub fn centre(&self) -> f64 {
        self.centre
    }

    /// The slope of each class, in units of the factor.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// The intercept of each class.
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.slopes.len()
    }

    pub(super) fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        let lines = self.slopes.iter().zip(&self.intercepts);
        buffer.fill(lines.zip(scores).map(|((slope, intercept), &score)| {
            slope * centred(tame(score), self.centre, self.inverse_temperature) + intercept
        }));
    }
}

/// `β (s - m)`, kept within what a line can be trusted for.
#[inline]
fn centred(score: f64, centre: f64, factor: f64) -> f64 {
    (factor * (score - centre)).clamp(-1e6, 1e6)
}

impl VectorScaling {
    /// Fits the lines.
    pub fn fit(&self, held_out: &HeldOutClassScores) -> Result<VectorCalibrator, CalibrationError> {
        let (arranged, _) = held_out.arranged();
        Ok(self.fit_part(&arranged.whole(), None)?.0)
    }

    /// Returns the spreads of slopes and intercepts as well.
    pub(super) fn fit_part(
        &self,
        part: &Part<'_>,
        start: Option<&(VectorCalibrator, Vec<f64>)>,
    ) -> Result<(VectorCalibrator, Vec<f64>), CalibrationError> {
        let factor = usable_factor(part)?;
        let centre = mean_score(part);
        let rows = OwnScores {
            part,
            factor,
            centre,
        };
        let classes = part.class_count();
        let groups = [
            Group {
                places: (0..classes).map(|class| 2 * class).collect(),
                centre: 1.0,
                spread: 0.3,
                most: 1.0,
                around_mean: true,
            },
            Group {
                places: (0..classes).map(|class| 2 * class + 1).collect(),
                centre: 0.0,
                spread: 1.0,
                most: 5.0,
                around_mean: false,
            },
        ];
        // The other calibrator's lines in these units.
        let start = start.map(|(near, spreads)| {
            let unit = near.inverse_temperature / factor;
            let lines = near.slopes.iter().zip(&near.intercepts);
            let line = |(slope, intercept): (&f64, &f64)| {
                let shift = near.inverse_temperature * (centre - near.centre);
                [slope * unit, intercept + slope * shift]
            };
            Shrunken {
                parameters: lines.flat_map(line).collect(),
                spreads: spreads.clone(),
            }
        });
        let start = start.filter(|start| start.parameters.iter().all(|value| value.abs() < 1e6));
        let tolerance = if start.is_some() { 1e-6 } else { 1e-9 };
        let fitted = fit_groups("vector scaling", &rows, &groups, start, tolerance)?;
        let lines = fitted.parameters;
        let every_other = |first: usize| lines[first..].iter().step_by(2).copied().collect();
        let calibrator = VectorCalibrator {
            inverse_temperature: factor,
            centre,
            slopes: every_other(0),
            intercepts: every_other(1),
        };
        Ok((calibrator, fitted.spreads))
    }
}

/// The best single factor; where scores mislead on the whole and it is next to nothing, one that at
/// least brings them to a size that slopes of either sign can work with.
pub(super) fn usable_factor(part: &Part<'_>) -> Result<f64, CalibrationError> {
    let (factor, scale) = Temperature.factor_and_scale(part)?;
    Ok(factor.max(0.1) / scale)
}

fn mean_score(part: &Part<'_>) -> f64 {
    let total: f64 = part.class_weights().iter().sum();
    let classes = part.class_count() as f64;
    sum_in_parts(
        part.places(),
        || 0.0,
        |sum, places| {
            for (scores, _, weight) in part.examples_of(places) {
                let mean = scores.iter().map(|score| score / classes).sum::<f64>();
                *sum += weight / total * mean;
            }
        },
        |sum, part| *sum += part,
    )
}

/// Each class sees its own score and a constant.
struct OwnScores<'a> {
    part: &'a Part<'a>,
    factor: f64,
    centre: f64,
}

impl OwnScores<'_> {
    #[inline]
    fn scores(&self, row: usize) -> impl Iterator<Item = f64> + '_ {
        let scores = self.part.held_out.row(row).iter();
        scores.map(|&score| centred(score, self.centre, self.factor))
    }
}

impl SoftmaxRows for OwnScores<'_> {
    fn class_count(&self) -> usize {
        self.part.class_count()
    }

    fn row_count(&self) -> usize {
        self.part.places()
    }

    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn place(&self, class: usize, feature: usize) -> usize {
        2 * class + feature
    }

    #[inline]
    fn example(&self, row: usize) -> Option<(usize, f64)> {
        self.part.example(row)
    }

    fn features_into(&self, row: usize, class: usize, out: &mut [f64]) {
        let score = self.part.held_out.row(row)[class];
        out.copy_from_slice(&[centred(score, self.centre, self.factor), 1.0]);
    }

    fn ln_weights_into(&self, row: usize, parameters: &[f64], out: &mut [f64]) {
        let lines = parameters.chunks_exact(2).zip(self.scores(row));
        for (out, (line, x)) in out.iter_mut().zip(lines) {
            *out = line[0] * x + line[1];
        }
    }

    fn add_pulls(&self, row: usize, pulls: &[f64], out: &mut [f64]) {
        let lines = out.chunks_exact_mut(2).zip(self.scores(row));
        for (pull, (line, x)) in pulls.iter().zip(lines) {
            line[0] += pull * x;
            line[1] += pull;
        }
    }
}
