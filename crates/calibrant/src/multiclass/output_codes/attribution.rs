//! How much each column moved the score of a class.

use super::decoder::{DecodeBuffers, Decoder};
use super::settings::Decode;

/// Points of the way at which the slopes of least squares are taken.
const POINTS: usize = 8;

impl Decoder {
    /// For each column, how much the score of a class changes for each unit by which the column's
    /// binary score moved on the way from one row's binary scores to another's.
    ///
    /// # Formula
    /// ```text
    /// slope_t = ∂S/∂f_t · (f_t(to) - f_t(from)) / (to_t - from_t)
    /// ```
    /// A margin is linear in the answers while the nearest other class stays the same, and
    /// `∂S/∂f_t` is taken at `to`. Least squares bends: there it is the mean along the
    /// straight line between the answers (integrated gradients, Sundararajan, Taly & Yan 2017).
    pub fn slopes(&self, class: usize, from: &[f64], to: &[f64]) -> Vec<f64> {
        let (mut start, mut end) = (Vec::new(), Vec::new());
        self.answers_into(from, &mut start);
        self.answers_into(to, &mut end);
        let of_answers = match self.settings().decode {
            Decode::Margin => self.margin_slopes(&end, class),
            Decode::LeastSquares => self.mean_slopes(class, &start, &end),
        };
        (0..to.len())
            .map(|t| {
                let way = to[t] - from[t];
                let of_answer = if way.abs() > 1e-9 * (1.0 + to[t].abs()) {
                    (end[t] - start[t]) / way
                } else {
                    let h = 1e-6 * (1.0 + to[t].abs());
                    (self.answer(t, to[t] + h) - self.answer(t, to[t] - h)) / (2.0 * h)
                };
                of_answers[t] * of_answer
            })
            .collect()
    }

    /// `∂S/∂f_t` by differences, mean over points of the way.
    fn mean_slopes(&self, class: usize, start: &[f64], end: &[f64]) -> Vec<f64> {
        let mut buffer = DecodeBuffers::default();
        let mut scores = vec![0.0; self.code().class_count()];
        let mut slopes = vec![0.0; end.len()];
        let h = 1e-6;
        let mut at = |answers: &[f64]| {
            buffer.answers.clear();
            buffer.answers.extend_from_slice(answers);
            self.decode_into(&mut buffer, &mut scores);
            scores[class]
        };
        let mut here = vec![0.0; end.len()];
        for point in 0..POINTS {
            let share = (point as f64 + 0.5) / POINTS as f64;
            for t in 0..end.len() {
                here[t] = start[t] + share * (end[t] - start[t]);
            }
            for t in 0..end.len() {
                let middle = here[t];
                here[t] = middle + h;
                let above = at(&here);
                here[t] = middle - h;
                let below = at(&here);
                here[t] = middle;
                slopes[t] += (above - below) / (2.0 * h * POINTS as f64);
            }
        }
        slopes
    }
}
