//! A mean of few labels, made sharper by many predictions.

use serde::{Deserialize, Serialize};

use crate::numeric::{StableSum, normal_cdf, student_reach};

use super::PrevalenceTarget;

/// Sums over numbers: how many, their mean, and the sum of squares around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments {
    pub(crate) count: f64,
    pub(crate) mean: f64,
    pub(crate) squares: f64,
}

impl Moments {
    pub(crate) fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let sum: StableSum = values.iter().copied().collect();
        let mean = sum.total() / count.max(1.0);
        let squares: StableSum = values.iter().map(|v| (v - mean) * (v - mean)).collect();
        Self {
            count,
            mean,
            squares: squares.total(),
        }
    }

    /// Those of the others, once these are taken out of all.
    pub(crate) fn without(&self, taken: &Self) -> Self {
        let count = (self.count - taken.count).max(0.0);
        if count < 1.0 {
            return Self {
                count: 0.0,
                mean: 0.0,
                squares: 0.0,
            };
        }
        let mean = (self.count * self.mean - taken.count * taken.mean) / count;
        let apart = taken.mean - mean;
        let between = taken.count * count / self.count * apart * apart;
        let squares = (self.squares - taken.squares - between).max(0.0);
        Self {
            count,
            mean,
            squares,
        }
    }

    /// The mean square around the mean.
    pub(crate) fn variance(&self) -> f64 {
        match self.count >= 1.0 {
            true => self.squares / self.count,
            false => 0.0,
        }
    }
}

/// A share by labels and predictions together, with what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PpiMean {
    /// The estimate.
    pub mean: f64,
    /// How much the predictions count, from 0 (labels alone) to 1.
    pub lambda: f64,
    /// The standard error.
    pub standard_error: f64,
}

/// How much predictions should count.
///
/// # Formula
/// ```text
/// λ* = Cov(Y, f) / ((1 + n/N) Var(f)),   clipped to [0, 1]
/// ```
/// `Y`, `f` labels and predictions of the `n` labelled; `N` predictions of others; variances over the labelled and the
/// others together.
pub fn ppi_lambda(labels: &[f64], predictions: &[f64], others: &[f64]) -> f64 {
    let (sample, other) = (Moments::of(predictions), Moments::of(others));
    lambda_of(labels, predictions, &sample, &other)
}

pub(crate) fn lambda_of(
    labels: &[f64],
    predictions: &[f64],
    sample: &Moments,
    others: &Moments,
) -> f64 {
    let mean = Moments::of(labels).mean;
    let products = labels.iter().zip(predictions);
    let covariance = products
        .map(|(y, f)| (y - mean) * (f - sample.mean))
        .sum::<f64>()
        / sample.count.max(1.0);
    let count = sample.count + others.count;
    let apart = sample.mean - others.mean;
    let between = sample.count * others.count / count.max(1.0) * apart * apart;
    let variance = (sample.squares + others.squares + between) / (count - 1.0).max(1.0);
    let ratio = match others.count > 0.0 {
        true => 1.0 + sample.count / others.count,
        false => return 0.0,
    };
    let lambda = covariance / (ratio * variance);
    match lambda.is_finite() {
        true => lambda.clamp(0.0, 1.0),
        false => 0.0,
    }
}

/// The mean of `Y` in the source from which labelled and other documents were drawn (PPI++).
///
/// # Formula
/// ```text
/// θ̂ = λ mean_N(f) + mean_n(Y - λf),   SE² = λ² Var_N(f)/N + Var_n(Y - λf)/n
/// ```
/// The interval of the paper is θ̂ ± z SE with the normal quantile z ([`PpiMean::normal_interval`]).
///
/// # When it misleads
/// Where few of the labelled disagree with their predictions: at a prevalence of 1 % with good predictions and 200 labels
/// an interval of nominally 95 % held the truth in 41 % of all draws, since most samples show no disagreement at all.
/// [`estimate_prevalence`](super::estimate_prevalence) goes to exact ends there. And where the predictor learned from
/// the same labels: use predictions of models that did not.
///
/// # Reference
/// Angelopoulos, Duchi and Zrnic, PPI++: Efficient Prediction-Powered Inference (2023), section 2 and the mean of its
/// examples.
///
/// ```
/// use calibrant_calibration::decision::ppi_mean;
/// // By hand: 0.5 · mean(0.2, 0.4) + mean(1 - 0.5 · 0.8, 0 - 0.5 · 0.2) = 0.15 + (0.6 - 0.1)/2 = 0.4,
/// // squared error 0.25 · 0.01/2 + 0.35²/2.
/// let found = ppi_mean(&[1.0, 0.0], &[0.8, 0.2], &[0.2, 0.4], 0.5);
/// assert!((found.mean - 0.4).abs() < 1e-15);
/// assert!((found.standard_error - (0.00125f64 + 0.06125).sqrt()).abs() < 1e-15);
/// ```
pub fn ppi_mean(labels: &[f64], predictions: &[f64], others: &[f64], lambda: f64) -> PpiMean {
    source_mean(labels, predictions, &Moments::of(others), lambda, 0.0)
}

impl PpiMean {
    /// θ̂ ± z SE, as in the paper; not cut off at 0 and 1.
    pub fn normal_interval(&self, confidence: f64) -> (f64, f64) {
        let reach = normal_reach(confidence) * self.standard_error;
        (self.mean - reach, self.mean + reach)
    }

    /// The same with Student's quantile, which a small sample needs.
    pub(crate) fn student_interval(&self, confidence: f64, labelled: usize) -> (f64, f64) {
        let freedom = (labelled as f64 - 2.0).max(1.0);
        let reach = student_reach(confidence, freedom) * self.standard_error;
        (self.mean - reach, self.mean + reach)
    }
}

/// How far from zero a standard normal number lies with this probability at most.
pub(crate) fn normal_reach(confidence: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        match 2.0 * normal_cdf(-middle) > 1.0 - confidence {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The mean square of `Y - λf` around its mean; `spent` degrees of freedom are taken off.
fn residual(labels: &[f64], predictions: &[f64], lambda: f64, spent: f64) -> (f64, f64) {
    let pairs = labels.iter().zip(predictions);
    let residuals: Vec<f64> = pairs.map(|(y, f)| y - lambda * f).collect();
    let moments = Moments::of(&residuals);
    (
        moments.mean,
        moments.squares / (moments.count - spent).max(1.0),
    )
}

pub(crate) fn source_mean(
    labels: &[f64],
    predictions: &[f64],
    others: &Moments,
    lambda: f64,
    spent: f64,
) -> PpiMean {
    let (mean, variance) = residual(labels, predictions, lambda, spent);
    let of_others = match others.count > 0.0 {
        true => lambda * lambda * others.variance() / others.count,
        false => 0.0,
    };
    PpiMean {
        mean: lambda * others.mean + mean,
        lambda,
        standard_error: (of_others + variance / labels.len().max(1) as f64).sqrt(),
    }
}

/// The share of these documents, or of their source, with the best weight of the predictions.
///
/// # Formula
/// Of the source: as [`ppi_mean`] with [`ppi_lambda`]. Of `M = n + N` documents, `n` of them labelled:
/// ```text
/// θ̂ = mean_n(Y) + κ (mean_M(f) - mean_n(f)),   SE² = (1 - n/M) Var_n(Y - κf)/n,   κ = λ* (1 + n/N)
/// ```
/// which is the same estimate (`mean_M - mean_n` is `N/M` of `mean_N - mean_n`), and the regression estimator of sampling
/// theory; only the error differs, since what was labelled is known. Variances are taken over `n - 2`, and
/// Student's quantile is used, since λ is estimated.
pub(crate) fn ppi_interval(
    labels: &[f64],
    predictions: &[f64],
    all: &Moments,
    confidence: f64,
    target: PrevalenceTarget,
) -> (PpiMean, (f64, f64)) {
    let sample = Moments::of(predictions);
    let others = all.without(&sample);
    let lambda = lambda_of(labels, predictions, &sample, &others);
    let mut found = source_mean(labels, predictions, &others, lambda, 2.0);
    let left = others.count / all.count;
    if target == PrevalenceTarget::Documents && left == 0.0 {
        found.standard_error = 0.0; // everything was read
    } else if target == PrevalenceTarget::Documents {
        let (_, variance) = residual(labels, predictions, lambda / left, 2.0);
        found.standard_error = (left * variance / sample.count).sqrt();
    }
    (found, found.student_interval(confidence, labels.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    #[test]
    fn moments_of_the_others_are_those_counted_apart() {
        let mut random = Random::from_seed(3);
        let all: Vec<f64> = (0..500).map(|_| random.uniform()).collect();
        let left = Moments::of(&all).without(&Moments::of(&all[..120]));
        let counted = Moments::of(&all[120..]);
        assert!((left.mean - counted.mean).abs() < 1e-13);
        assert!((left.squares - counted.squares).abs() < 1e-11);
    }

    #[test]
    fn the_estimate_for_documents_is_that_for_their_source() {
        let mut random = Random::from_seed(4);
        let all: Vec<f64> = (0..900).map(|_| random.uniform()).collect();
        let labels: Vec<f64> = all[..300]
            .iter()
            .map(|&f| f64::from(u8::from(random.uniform() < f)))
            .collect();
        let of = |target| ppi_interval(&labels, &all[..300], &Moments::of(&all), 0.95, target).0;
        let (documents, source) = (
            of(PrevalenceTarget::Documents),
            of(PrevalenceTarget::Source),
        );
        assert_eq!(documents.mean, source.mean);
        assert!(documents.standard_error < source.standard_error);
        let kappa = documents.lambda * 1.5;
        let means = [&all[..], &all[..300], &labels[..]].map(|values| Moments::of(values).mean);
        let by_hand = means[2] + kappa * (means[0] - means[1]);
        assert!((documents.mean - by_hand).abs() < 1e-12);
    }

    #[test]
    fn predictions_that_say_nothing_count_nothing() {
        let labels = [1.0, 0.0, 0.0, 1.0];
        let found = ppi_lambda(&labels, &[0.3; 4], &[0.3; 9]);
        assert_eq!(found, 0.0);
        assert_eq!(ppi_lambda(&labels, &[0.1, 0.9, 0.9, 0.1], &[0.5, 0.4]), 0.0);
        assert_eq!(ppi_lambda(&labels, &[0.9, 0.1, 0.1, 0.9], &[]), 0.0);
    }
}
