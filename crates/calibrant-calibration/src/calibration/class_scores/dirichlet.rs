//! Every class's score for every class: a full matrix, drawn to its diagonal.

use serde::{Deserialize, Serialize};

use super::held_out::Part;
use super::shrinkage::{Group, Shrunken, fit_groups};
use super::vector::usable_factor;
use super::{ClassBuffers, HeldOutClassScores, tame};
use crate::CalibrationError;
use crate::numeric::log_sum_exp;
use crate::solvers::SoftmaxRows;

/// Fits a matrix and an intercept over log-probabilities.
///
/// # Formula
/// ```text
/// P(class c) ∝ exp(Σ_j W_cj x_j + b_c),     x = log-softmax(β s)
/// ```
/// `β` is the best single factor ([`super::Temperature`]), so that `W = I`, `b = 0` is temperature
/// scaling. The diagonal is drawn to its mean, the rest of the matrix and the intercepts to zero, each
/// as firmly as the examples say (empirical Bayes), which takes the place of a search for the two
/// strengths of the paper's "off-diagonal and intercept" regularisation.
///
/// # When it misleads
/// It has `K² + K` parameters. With fewer than some ten examples for each of them the shrinking
/// leaves little of the matrix, and [`super::VectorScaling`] says the same with less.
///
/// # Reference
/// Kull, Perello-Nieto, Kängsepp, Silva Filho, Song & Flach, NeurIPS 2019, sections 3 and 4.
///
/// ```
/// use calibrant_calibration::calibration::{Dirichlet, HeldOutClassScores};
/// // The score is right three times of four, whichever class it speaks for: by hand, odds of 3.
/// let scores = [1.0, 0.0, 0.0, 1.0].repeat(400);
/// let labels = [0, 1, 0, 1, 0, 1, 1, 0].repeat(100);
/// let calibrator = Dirichlet.fit(&HeldOutClassScores::assume(scores, 2, labels)?)?;
/// let mut ln_odds = 0.0;
/// for (j, x) in [0.75f64.ln(), 0.25f64.ln()].into_iter().enumerate() {
///     ln_odds += (calibrator.weight(0, j) - calibrator.weight(1, j)) * x;
/// }
/// assert!((ln_odds + calibrator.intercepts()[0] - calibrator.intercepts()[1] - 3f64.ln()).abs() < 1e-3);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dirichlet;

/// A matrix and an intercept over log-probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct DirichletCalibrator {
    inverse_temperature: f64,
    /// Class after class the weights of all log-probabilities.
    matrix: Vec<f64>,
    intercepts: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    inverse_temperature: f64,
    matrix: Vec<f64>,
    intercepts: Vec<f64>,
}

impl TryFrom<Unchecked> for DirichletCalibrator {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked {
            inverse_temperature,
            matrix,
            intercepts,
        } = read;
        let classes = intercepts.len();
        let finite = matrix
            .iter()
            .chain(&intercepts)
            .all(|value| value.is_finite())
            && inverse_temperature.is_finite()
            && inverse_temperature >= 0.0;
        if !finite || classes < 2 || classes.checked_mul(classes) != Some(matrix.len()) {
            return Err("there must be a square matrix with an intercept for each of its rows");
        }
        Ok(Self {
            inverse_temperature,
            matrix,
            intercepts,
        })
    }
}

impl DirichletCalibrator {
    /// The factor `β` of the scores.
    pub fn inverse_temperature(&self) -> f64 {
        self.inverse_temperature
    }

    /// What a class's log-weight takes of another's log-probability.
    pub fn weight(&self, class: usize, other: usize) -> f64 {
        self.matrix[class * self.intercepts.len() + other]
    }

    /// The intercept of each class.
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.intercepts.len()
    }

    pub(super) fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        let mut x = std::mem::take(&mut buffer.more);
        x.clear();
        x.extend_from_slice(scores);
        log_softmax(&mut x, self.inverse_temperature);
        let lines = self.matrix.chunks_exact(x.len()).zip(&self.intercepts);
        buffer.fill(lines.map(|(weights, intercept)| {
            let sum: f64 = weights.iter().zip(&x).map(|(weight, x)| weight * x).sum();
            sum + intercept
        }));
        buffer.more = x;
    }
}

/// Scores to log-probabilities by a factor, none below -1e6.
fn log_softmax(x: &mut [f64], factor: f64) {
    let top = x.iter().map(|&x| tame(x)).fold(f64::NEG_INFINITY, f64::max);
    x.iter_mut()
        .for_each(|x| *x = (factor * (tame(*x) - top)).max(-1e6));
    let total = log_sum_exp(x);
    x.iter_mut().for_each(|x| *x -= total);
}

impl Dirichlet {
    /// Fits matrix and intercepts.
    pub fn fit(
        &self,
        held_out: &HeldOutClassScores,
    ) -> Result<DirichletCalibrator, CalibrationError> {
        let (arranged, _) = held_out.arranged();
        Ok(self.fit_part(&arranged.whole(), None)?.0)
    }

    /// Returns the spreads of diagonal, matrix and intercepts as well.
    pub(super) fn fit_part(
        &self,
        part: &Part<'_>,
        start: Option<&(DirichletCalibrator, Vec<f64>)>,
    ) -> Result<(DirichletCalibrator, Vec<f64>), CalibrationError> {
        let factor = usable_factor(part)?;
        let classes = part.class_count();
        let mut x = part.held_out.scores().to_vec();
        x.chunks_exact_mut(classes)
            .for_each(|row| log_softmax(row, factor));
        let (mean, unit) = mean_and_unit(&x, part);
        x.iter_mut().for_each(|x| *x = (*x - mean) / unit);
        let rows = AllScores { part, x };
        let groups = groups(classes, unit);
        // The other calibrator's matrix, about the same centre.
        let start = start.map(|(near, spreads)| {
            let ratio = near.inverse_temperature / factor;
            let mut start = vec![0.0; classes * (classes + 1)];
            for class in 0..classes {
                let weights = &near.matrix[class * classes..][..classes];
                for (other, weight) in weights.iter().enumerate() {
                    start[other * classes + class] = weight * ratio * unit;
                }
                let sum: f64 = weights.iter().sum();
                start[classes * classes + class] = near.intercepts[class] + sum * ratio * mean;
            }
            Shrunken {
                parameters: start,
                spreads: spreads.clone(),
            }
        });
        let start = start.filter(|start| start.parameters.iter().all(|value| value.abs() < 1e6));
        let tolerance = if start.is_some() { 1e-5 } else { 1e-8 };
        let shrunken = fit_groups("Dirichlet calibration", &rows, &groups, start, tolerance)?;
        let fitted = shrunken.parameters;
        let mut matrix = vec![0.0; classes * classes];
        let mut intercepts = vec![0.0; classes];
        for class in 0..classes {
            let weights = &mut matrix[class * classes..][..classes];
            for (other, weight) in weights.iter_mut().enumerate() {
                *weight = fitted[other * classes + class] / unit;
            }
            intercepts[class] =
                fitted[classes * classes + class] - mean * weights.iter().sum::<f64>();
        }
        let calibrator = DirichletCalibrator {
            inverse_temperature: factor,
            matrix,
            intercepts,
        };
        Ok((calibrator, shrunken.spreads))
    }
}

/// The diagonal around its mean, the rest of the matrix and the intercepts around zero; for
/// log-probabilities divided by `unit`.
fn groups(classes: usize, unit: f64) -> [Group; 3] {
    let square = classes * classes;
    let on_diagonal = |place: &usize| place.is_multiple_of(classes + 1);
    [
        Group {
            places: (0..square).filter(on_diagonal).collect(),
            centre: unit,
            spread: 0.3 * unit,
            most: unit,
            around_mean: true,
        },
        Group {
            places: (0..square).filter(|place| !on_diagonal(place)).collect(),
            centre: 0.0,
            spread: 0.05 * unit,
            most: 0.5 * unit,
            around_mean: false,
        },
        Group {
            places: (square..square + classes).collect(),
            centre: 0.0,
            spread: 0.5,
            most: 5.0,
            around_mean: false,
        },
    ]
}

/// The mean of all log-probabilities and their mean distance from it.
fn mean_and_unit(x: &[f64], part: &Part<'_>) -> (f64, f64) {
    let classes = part.class_count() as f64;
    let mean_of = |value: &dyn Fn(f64) -> f64| {
        let (mut sum, mut total) = (0.0, 0.0);
        for (place, row) in x.chunks_exact(part.class_count()).enumerate() {
            if let Some((_, weight)) = part.example(place) {
                sum += weight * row.iter().map(|&x| value(x)).sum::<f64>() / classes;
                total += weight;
            }
        }
        sum / total
    };
    let mean = mean_of(&|x| x);
    let distance = mean_of(&|x| (x - mean).abs());
    (mean, if distance > 1e-3 { distance } else { 1.0 })
}

/// Every class sees all log-probabilities and a constant. Parameters stand feature after feature, so
/// that the classes' lie side by side.
struct AllScores<'a> {
    part: &'a Part<'a>,
    x: Vec<f64>,
}

impl AllScores<'_> {
    #[inline]
    fn row(&self, row: usize) -> &[f64] {
        let classes = self.part.class_count();
        &self.x[row * classes..][..classes]
    }
}

impl SoftmaxRows for AllScores<'_> {
    fn class_count(&self) -> usize {
        self.part.class_count()
    }

    fn row_count(&self) -> usize {
        self.part.places()
    }

    fn width(&self) -> usize {
        self.part.class_count() + 1
    }

    #[inline]
    fn place(&self, class: usize, feature: usize) -> usize {
        feature * self.part.class_count() + class
    }

    #[inline]
    fn example(&self, row: usize) -> Option<(usize, f64)> {
        self.part.example(row)
    }

    fn features_into(&self, row: usize, _class: usize, out: &mut [f64]) {
        let x = self.row(row);
        out[..x.len()].copy_from_slice(x);
        out[x.len()] = 1.0;
    }

    fn ln_weights_into(&self, row: usize, parameters: &[f64], out: &mut [f64]) {
        let x = self.row(row);
        out.copy_from_slice(&parameters[x.len() * x.len()..]);
        for (x, weights) in x.iter().zip(parameters.chunks_exact(x.len())) {
            for (out, weight) in out.iter_mut().zip(weights) {
                *out += x * weight;
            }
        }
    }

    fn add_pulls(&self, row: usize, pulls: &[f64], out: &mut [f64]) {
        let x = self.row(row).iter().chain(&[1.0]);
        for (x, out) in x.zip(out.chunks_exact_mut(pulls.len())) {
            for (out, pull) in out.iter_mut().zip(pulls) {
                *out += x * pull;
            }
        }
    }
}
