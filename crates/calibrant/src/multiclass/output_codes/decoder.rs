//! Binary scores to one score per class.

use super::settings::{BinaryOutput, CodeSettings, Decode};
use crate::calibration::{Calibrator, PlattCalibrator};
use crate::multiclass::CodeMatrix;
use crate::solvers::{SimplexBuffers, SimplexLeastSquares};

/// Turns the scores of a code's binary problems into one score per class.
///
/// # Formula
/// With the code `M`, the answers `f` from -1 to 1 (see [`BinaryOutput`]) and weights `α` of the
/// columns,
/// ```text
/// D(c) = Σ_t α_t |M(c,t)| (1 - M(c,t) f_t) / 2  /  Σ_t α_t |M(c,t)|
/// ρ(c) = min_{c'≠c} D(c') - D(c)
/// ```
/// `D` is the distance to the code word of a class, from 0 to 1; columns that leave the class out do
/// not count. The decision is the class with the least distance, and the score of a class is its
/// margin `ρ`: above zero for the decision and below for all others. A sigmoid of `ρ`, fitted for each
/// class on margins of documents that were not learned from, is the probability that Sobolev,
/// Vezhnevets & Vezhnevets propose; any other calibrator may take its place. Their answers are real
/// numbers, as ours are unless [`BinaryOutput::Sign`] is asked for.
///
/// With [`Decode::LeastSquares`] the score is instead the log-odds of `z_c`, where `z` are the class
/// probabilities that explain the probabilities `p_t = (1 + f_t) / 2` of the columns best (Kong &
/// Dietterich 1997):
/// ```text
/// min |A z - p|²  over  z >= 0, Σ z = 1,   A(t,c) = 1 if M(c,t) = 1, else 0
/// ```
/// kept a millionth away from 0 and 1. Without a further calibrator these are their probabilities.
///
/// # When it misleads
/// Least squares often answers exactly zero for most classes, which no evidence of a finite sample
/// supports; and where columns are few or alike it leaves a choice, which falls on the evenest answer.
#[derive(Debug, Clone)]
pub struct Decoder {
    code: CodeMatrix,
    settings: CodeSettings,
    /// `α`.
    weights: Vec<f64>,
    /// One per column, or none where none is needed.
    curves: Vec<PlattCalibrator>,
    /// `α_t M(c,t) / 2 Σ_t α_t |M(c,t)|`, class after class: `D(c) = ½ - Σ_t of these times f_t`.
    pull: Vec<f64>,
    least_squares: Option<SimplexLeastSquares>,
}

/// Buffers for one decoding, reused between calls.
#[derive(Debug, Clone, Default)]
pub struct DecodeBuffers {
    pub(super) answers: Vec<f64>,
    pub(super) simplex: SimplexBuffers,
}

/// Class probabilities by least squares are kept this far from 0 and 1.
const LEAST: f64 = 1e-6;

impl Decoder {
    /// The most classes that least squares takes: its time grows with their cube.
    pub const MOST_LEAST_SQUARES: usize = 1024;

    /// From parts; `None` if they do not fit together: one positive weight per column, and curves
    /// where the settings need them.
    pub fn new(
        code: CodeMatrix,
        settings: CodeSettings,
        weights: Vec<f64>,
        curves: Vec<PlattCalibrator>,
    ) -> Option<Self> {
        let length = code.length();
        let usable = |weight: &f64| weight.is_finite() && *weight > 0.0;
        let fits = weights.len() == length
            && weights.iter().all(usable)
            && curves.len() == if settings.needs_curves() { length } else { 0 }
            && curves
                .iter()
                .all(|curve| curve.slope.is_finite() && curve.intercept.is_finite())
            && (settings.decode != Decode::LeastSquares
                || code.is_dense() && code.class_count() <= Self::MOST_LEAST_SQUARES);
        if !fits {
            return None;
        }
        let mut pull = Vec::with_capacity(code.entries().len());
        for class in 0..code.class_count() {
            let entries = code.row(class).iter().zip(&weights);
            let taken = entries.map(|(&entry, weight)| f64::from(entry.abs()) * weight);
            let taken = taken.sum::<f64>().max(f64::MIN_POSITIVE);
            let entries = code.row(class).iter().zip(&weights);
            pull.extend(entries.map(|(&entry, weight)| 0.5 * f64::from(entry) * weight / taken));
        }
        let least_squares = match settings.decode {
            Decode::Margin => None,
            Decode::LeastSquares => {
                let columns = (0..length).flat_map(|column| code.column(column));
                let sides = columns.map(|entry| f64::from(u8::from(entry == 1)));
                Some(SimplexLeastSquares::new(
                    code.class_count(),
                    sides.collect(),
                )?)
            }
        };
        Some(Self {
            code,
            settings,
            weights,
            curves,
            pull,
            least_squares,
        })
    }

    /// The code.
    pub fn code(&self) -> &CodeMatrix {
        &self.code
    }

    /// How it decodes.
    pub fn settings(&self) -> &CodeSettings {
        &self.settings
    }

    /// The weights of the columns.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Binary scores to probabilities, one per column; none where decoding needs none.
    pub fn curves(&self) -> &[PlattCalibrator] {
        &self.curves
    }

    /// Fills `scores`, one per class, from one binary score per column.
    ///
    /// # Panics
    /// If the lengths are not those of the code.
    pub fn scores_into(&self, binary: &[f64], buffer: &mut DecodeBuffers, scores: &mut [f64]) {
        self.answers_into(binary, &mut buffer.answers);
        self.decode_into(buffer, scores);
    }

    /// What distances or equations are made of: answers from -1 to 1, or probabilities.
    pub(super) fn answers_into(&self, binary: &[f64], answers: &mut Vec<f64>) {
        assert_eq!(binary.len(), self.code.length());
        answers.clear();
        answers.extend((0..binary.len()).map(|column| self.answer(column, binary[column])));
    }

    /// One of them.
    pub(super) fn answer(&self, column: usize, score: f64) -> f64 {
        let log_odds = || self.curves[column].probability(score).log_odds();
        let answer = match self.settings.output {
            BinaryOutput::Sign if score == 0.0 => 0.0,
            BinaryOutput::Sign => score.signum(),
            BinaryOutput::Clip => score.clamp(-1.0, 1.0),
            BinaryOutput::Tanh => score.tanh(),
            BinaryOutput::Probability => (0.5 * log_odds()).tanh(),
        };
        match self.settings.decode {
            Decode::Margin => answer,
            Decode::LeastSquares => 0.5 * (1.0 + answer),
        }
    }

    /// From the answers in the buffer.
    pub(super) fn decode_into(&self, buffer: &mut DecodeBuffers, scores: &mut [f64]) {
        match &self.least_squares {
            None => {
                self.distances(&buffer.answers, scores);
                to_margins(scores);
            }
            Some(equations) => {
                equations.solve_into(&buffer.answers, &mut buffer.simplex, scores);
                for score in scores {
                    let z = score.clamp(LEAST, 1.0 - LEAST);
                    *score = z.ln() - (-z).ln_1p();
                }
            }
        }
    }

    /// The distance of the answers to each code word.
    fn distances(&self, answers: &[f64], distances: &mut [f64]) {
        let rows = self.pull.chunks_exact(self.code.length());
        assert_eq!(rows.len(), distances.len());
        for (row, distance) in rows.zip(distances) {
            let pulled: f64 = row.iter().zip(answers).map(|(a, b)| a * b).sum();
            *distance = 0.5 - pulled;
        }
    }

    /// How fast a class's margin rises with each answer while the nearest other class stays the
    /// same: `∂ρ(c)/∂f_t`.
    pub(super) fn margin_slopes(&self, answers: &[f64], class: usize) -> Vec<f64> {
        let mut distances = vec![0.0; self.code.class_count()];
        self.distances(answers, &mut distances);
        let rival = (0..distances.len())
            .filter(|&other| other != class)
            .min_by(|&a, &b| distances[a].total_cmp(&distances[b]))
            .unwrap_or(class);
        let row = |class: usize| &self.pull[class * self.code.length()..][..self.code.length()];
        let slopes = row(class)
            .iter()
            .zip(row(rival))
            .map(|(own, other)| own - other);
        slopes.collect()
    }
}

/// The distance of the nearest other less the own one, for every class.
fn to_margins(distances: &mut [f64]) {
    let (mut least, mut second, mut nearest) = (f64::INFINITY, f64::INFINITY, 0);
    for (class, &distance) in distances.iter().enumerate() {
        if distance < least {
            (second, least, nearest) = (least, distance, class);
        } else if distance < second {
            second = distance;
        }
    }
    for (class, distance) in distances.iter_mut().enumerate() {
        let other = if class == nearest { second } else { least };
        *distance = other - *distance;
    }
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
