//! Do as many decisions turn out wrong as the probabilities say?

use super::forecasts::{Forecasts, Row};
use super::losses::sum_of_mean;
use crate::numeric::StableSum;
use crate::{Probability, Task};
use serde::{Deserialize, Serialize};

/// The wrong decisions beside what the stated probabilities lead one to expect. All sums are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ErrorLikelihood {
    /// Wrong decisions.
    pub observed: f64,
    /// Wrong decisions to be expected.
    pub expected: f64,
    /// The standard deviation of their number.
    pub deviation: f64,
    /// How many standard deviations more were wrong than expected; `None` where nothing is open.
    pub z: Option<f64>,
    /// The log-likelihood (nats) of exactly these decisions being wrong and the others right.
    pub ln_likelihood: f64,
    /// Its mean if the stated probabilities are right.
    pub expected_ln_likelihood: f64,
    /// Its standard deviation if they are.
    pub ln_likelihood_deviation: f64,
}

impl Forecasts {
    /// Compares the errors with the stated chances of error.
    ///
    /// # Formula
    /// ```text
    /// e = 1 - p of the most probable class     single label
    /// e = min(p, 1-p) of each decision         several labels
    /// expected = Σ w e     deviation = √ Σ w² e (1-e)
    /// ln likelihood = Σ w (ln e if wrong, else ln(1-e))
    /// ```
    ///
    /// # When it misleads
    /// Decisions are taken as independent. Too sure here and too timid there cancel in the count (less
    /// so in the likelihood).
    pub(super) fn error_likelihood(&self, rows: &[Row<'_>]) -> ErrorLikelihood {
        let scale = self.largest_weight();
        let mut sums = Sums::default();
        match self.task {
            Task::SingleLabel => {
                for row in rows {
                    let top = row.top_class();
                    let right = row.labels.first().is_some_and(|&l| l as usize == top);
                    sums.add(row.probabilities[top].complement(), !right, row.weight);
                }
            }
            Task::MultiLabel => {
                for (probability, happened, weight) in self.points_of(rows) {
                    let error = Probability::from_log_odds(-probability.log_odds().abs());
                    sums.add(error, happened != (probability.log_odds() > 0.0), weight);
                }
            }
        }
        sums.finish(scale)
    }
}

#[derive(Default)]
struct Sums {
    observed: StableSum,
    expected: StableSum,
    variance: StableSum,
    ln_likelihood: StableSum,
    expected_ln_likelihood: StableSum,
    ln_likelihood_variance: StableSum,
}

impl Sums {
    #[inline]
    fn add(&mut self, error: Probability, wrong: bool, weight: f64) {
        let (e, right) = (error.value(), error.complement().value());
        let variance = weight * weight * e * right;
        if wrong {
            self.observed.add(weight);
        }
        self.expected.add(weight * e);
        self.variance.add(variance);
        self.ln_likelihood.add(-weight * error.log_loss(wrong));
        self.expected_ln_likelihood
            .add(weight * (e * error.ln() + right * error.complement().ln()));
        self.ln_likelihood_variance
            .add(variance * error.log_odds() * error.log_odds());
    }

    fn finish(self, scale: f64) -> ErrorLikelihood {
        let scaled = |sum: StableSum| sum_of_mean(sum.total().abs(), scale);
        let root = |sum: StableSum| sum_of_mean(sum.total().max(0.0).sqrt(), scale);
        let z = (self.observed.total() - self.expected.total()) / self.variance.total().sqrt();
        ErrorLikelihood {
            observed: scaled(self.observed),
            expected: scaled(self.expected),
            deviation: root(self.variance),
            z: z.is_finite().then_some(z),
            ln_likelihood: -scaled(self.ln_likelihood),
            expected_ln_likelihood: -scaled(self.expected_ln_likelihood),
            ln_likelihood_deviation: root(self.ln_likelihood_variance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecasts(task: Task, table: &[[f64; 3]], labels: &[&[u32]]) -> Forecasts {
        Forecasts {
            task,
            class_names: ["a", "b", "c"].map(String::from).to_vec(),
            probabilities: table
                .iter()
                .flatten()
                .map(|p| Probability::from_log_odds((p / (1.0 - p)).ln()))
                .collect(),
            labels: labels.iter().map(|labels| labels.to_vec()).collect(),
            weights: Some(vec![2.0; labels.len()]),
        }
    }

    #[test] // By hand: errors have chances 0.4 and 0.2, the second happened; everything counts twice.
    fn single_labels_agree_with_the_hand() {
        let forecasts = forecasts(
            Task::SingleLabel,
            &[[0.6, 0.3, 0.1], [0.1, 0.8, 0.1]],
            &[&[0], &[2]],
        );
        let found = forecasts.error_likelihood(&forecasts.rows());
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(found.observed, 2.0);
        near(found.expected, 1.2);
        near(found.deviation, 2.0 * (0.24f64 + 0.16).sqrt());
        near(found.z.unwrap(), 0.4 / 0.4f64.sqrt());
        near(found.ln_likelihood, 2.0 * (0.6f64 * 0.2).ln());
        let entropy = |e: f64| e * e.ln() + (1.0 - e) * (1.0 - e).ln();
        near(
            found.expected_ln_likelihood,
            2.0 * (entropy(0.4) + entropy(0.2)),
        );
    }

    #[test] // By hand: six decisions with chances .4 .3 .1 .1 .2 .5; only "b" of the first is wrong.
    fn several_labels_agree_with_the_hand() {
        let forecasts = forecasts(
            Task::MultiLabel,
            &[[0.6, 0.3, 0.1], [0.1, 0.8, 0.5]],
            &[&[0, 1], &[1]],
        );
        let found = forecasts.error_likelihood(&forecasts.rows());
        assert!((found.observed - 2.0).abs() < 1e-12 && (found.expected - 3.2).abs() < 1e-12);
        let likelihood = 0.6f64 * 0.3 * 0.9 * 0.9 * 0.8 * 0.5;
        assert!((found.ln_likelihood - 2.0 * likelihood.ln()).abs() < 1e-12);
    }
}
