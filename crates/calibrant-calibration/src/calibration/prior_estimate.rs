//! How common are the classes here? Estimated from forecasts for documents without labels.

use serde::{Deserialize, Serialize};

use super::prior_shift::check_priors;
use crate::numeric::{StableSum, chi_square_tail, normal_cdf};
use crate::parallel;
use crate::{CalibrationError, Probability, Task};

/// Shares of classes that unlabelled documents speak for, and whether they speak for a change at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorEstimate {
    /// The shares in training.
    pub old: Vec<f64>,
    /// The shares that make the documents likeliest, with pseudo-documents of the old shares where there are any; never below half a document.
    pub new: Vec<f64>,
    /// Twice the gain in log-likelihood over the old shares; divided by how much less forecasts that were learned from few examples can be believed.
    pub statistic: f64,
    /// How many shares were free.
    pub degrees_of_freedom: usize,
    /// How often a statistic as large comes by chance where nothing has changed; of forecasts that were learned, the larger of that and of how often
    /// their mean is as far from the old share.
    pub p_value: f64,
    /// Passes over the documents.
    pub passes: usize,
    /// Whether the log-likelihood, with that of pseudo-documents, is within [`GAP_TOLERANCE`] of its maximum.
    pub converged: bool,
}

impl PriorEstimate {
    /// Whether the test speaks against the old shares at this level.
    pub fn is_shifted(&self, level: f64) -> bool {
        self.p_value < level
    }
}

/// Estimates the shares of exclusive classes from calibrated forecasts for documents without labels.
///
/// # Formula
/// ```text
/// L(π) = Σ_i w_i ln Σ_c p_ic π_c/π⁰_c          the log-likelihood, concave in π
/// g_c  = 1/N Σ_i w_i (p_ic/π⁰_c) / Σ_k p_ik π_k/π⁰_k,    N = Σ w_i
/// π_c ← π_c g_c                                one step of EM
/// 2 (L(π) - L(π⁰))  ~  chi-square, K-1 degrees of freedom, if nothing has changed
/// ```
/// No shares are better than the present ones by more than `N (max g - 1)` nats, so it stops when
/// that is at most [`GAP_TOLERANCE`]: the statistic is then right to twice that. Every third step
/// goes on in the direction of the two before it, where that does not lose likelihood.
///
/// Weights are scaled to the effective number of documents `(Σw)²/Σw²`, which the test then counts.
///
/// # When it misleads
/// It believes the forecasts. Where they are poorly calibrated, as they are for many classes, for
/// neural networks without calibration and far from the training data, the estimate can be worse
/// than no adjustment at all. The test also takes training shares and forecasts as known exactly:
/// with many more documents here than there were in training it finds a shift in what is only
/// their error. And it assumes that the look of each class is unchanged; see
/// [`PriorShift`](super::PriorShift).
///
/// # Reference
/// Saerens, Latinne & Decaestecker, Neural Computation 14 (2002), sections 2.2 and 2.3. When it
/// fails: Esuli, Molinari & Sebastiani, ACM TOIS 39 (2020); why calibration comes first: Alexandari,
/// Kundaje & Shrikumar, ICML 2020. The extrapolation: Varadhan & Roland 2008.
///
/// ```
/// use calibrant_calibration::{Probability, calibration::estimate_priors};
/// // Forecasts that are all but certain: three of four documents are of the second class.
/// let forecasts: Vec<Probability> = (0..400)
///     .flat_map(|i| {
///         let p = Probability::from_log_odds(if i % 4 == 0 { -20.0 } else { 20.0 });
///         [p.complement(), p]
///     })
///     .collect();
/// let estimate = estimate_priors(&[0.5, 0.5], &forecasts, None)?;
/// assert!((estimate.new[1] - 0.75).abs() < 1e-6);
/// // By hand: 2 · (100 ln(0.25/0.5) + 300 ln(0.75/0.5)) = 104.65, with one degree of freedom.
/// assert!((estimate.statistic - 104.65).abs() < 0.01);
/// assert!(estimate.p_value < 1e-20);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
pub fn estimate_priors(
    old: &[f64],
    probabilities: &[Probability],
    weights: Option<&[f64]>,
) -> Result<PriorEstimate, CalibrationError> {
    let weights = Weights::new(weights, probabilities.len(), old.len())?;
    exclusive(old, probabilities, &weights, None)
}

/// As [`estimate_priors`], for forecasts of a model that was calibrated on so many examples, and so is not known exactly.
///
/// # Formula
/// ```text
/// L(π) + κ Σ_c π⁰_c ln π_c                     is made greatest,  κ = 30 K (1 + N/m)
/// 2 (L(π) - L(π⁰)) / (1 + N/m)                 ~  chi-square, K-1 degrees of freedom
/// z_c = (p̄_c - π⁰_c) / √(var p_c/N + π⁰_c (1 - π⁰_c)/m),   the least of K p-values times K (of two classes, which say the same, as it is)
/// ```
/// with the `m` examples of the calibrator. The larger of both p-values counts: what `N` documents say is no surer than what
/// `m` examples say of the forecasts, and where stated probabilities are what they were on average, a likelihood that wants other
/// shares feeds on the forecasts' own errors. Where they say little, as of weak models and many classes, the pseudo-documents `κ`
/// keep shares from running away.
///
/// # Where 30 comes from
/// Of 3, 10 and 30 for IMDb, SMS, R52, 20 Newsgroups and Debian's sections, 300 and 1,000 training documents, test documents as they are and with half of the
/// classes made three times rarer.
///
/// ```
/// use calibrant_calibration::{Probability, calibration::estimate_priors_learned};
/// let sure = |second: bool| Probability::from_log_odds(if second { 20.0 } else { -20.0 });
/// let forecasts: Vec<Probability> = (0..400).flat_map(|i| { let p = sure(i % 4 > 0); [p.complement(), p] }).collect();
/// // By hand: 300 of 400 and 30 · 2 · (1 + 400/400) · 0.5 of 120 pseudo-documents.
/// let estimate = estimate_priors_learned(&[0.5, 0.5], &forecasts, None, 400)?;
/// assert!((estimate.new[1] - (300.0 + 60.0) / 520.0).abs() < 1e-6);
/// assert!(estimate.p_value < 1e-10);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
pub fn estimate_priors_learned(
    old: &[f64],
    probabilities: &[Probability],
    weights: Option<&[f64]>,
    examples: usize,
) -> Result<PriorEstimate, CalibrationError> {
    let weights = Weights::new(weights, probabilities.len(), old.len())?;
    exclusive(old, probabilities, &weights, Some(examples))
}

fn exclusive(
    old: &[f64],
    probabilities: &[Probability],
    weights: &Weights,
    examples: Option<usize>,
) -> Result<PriorEstimate, CalibrationError> {
    check_priors(Task::SingleLabel, old)?;
    let mut ratios = vec![0.0; probabilities.len()];
    let fill = |(): &mut (), number: usize, ratios: &mut [f64]| {
        let row = &probabilities[number * old.len()..][..old.len()];
        // Ratios to the largest: one of them is 1, and what underflows would not count.
        let largest = row.iter().map(|p| p.ln()).fold(f64::NEG_INFINITY, f64::max);
        for ((ratio, p), old) in ratios.iter_mut().zip(row).zip(old) {
            *ratio = (p.ln() - largest).exp() / old;
        }
    };
    parallel::for_each_row_mut(&mut ratios, old.len(), || (), fill);
    let doubt = examples.map(|examples| Doubt::new(examples, weights, old.len()));
    let likelihood = Likelihood {
        ratios,
        weights,
        class_count: old.len(),
        held: doubt.map(|doubt| (doubt.pseudo, old)),
    };
    let estimate = likelihood.estimate(old);
    Ok(match doubt {
        Some(doubt) => doubt.judged(estimate, |class| {
            probabilities
                .iter()
                .skip(class)
                .step_by(old.len())
                .map(|p| p.value())
        }),
        None => estimate,
    })
}

/// How far forecasts that were learned from so many examples can be believed.
#[derive(Clone, Copy)]
struct Doubt<'a> {
    examples: f64,
    factor: f64,
    /// Pseudo-documents of the old shares.
    pseudo: f64,
    weights: &'a Weights,
}

/// Pseudo-documents per class.
const PSEUDO: f64 = 30.0;

impl<'a> Doubt<'a> {
    fn new(examples: usize, weights: &'a Weights, class_count: usize) -> Self {
        let examples = examples.max(1) as f64;
        let factor = 1.0 + weights.total / examples;
        Self {
            examples,
            factor,
            pseudo: PSEUDO * class_count as f64 * factor,
            weights,
        }
    }

    /// The estimate with what its test is worth. `stated` gives a class's probabilities, document after document.
    fn judged<I: Iterator<Item = f64>>(
        self,
        mut estimate: PriorEstimate,
        stated: impl Fn(usize) -> I,
    ) -> PriorEstimate {
        estimate.statistic /= self.factor;
        let by_likelihood = chi_square_tail(estimate.statistic, estimate.degrees_of_freedom);
        let count = estimate.old.len();
        let least = (0..count).map(|class| self.by_mean(estimate.old[class], || stated(class)));
        let least = least.fold(1.0, f64::min);
        // Two classes say the same.
        let by_means = least * if count > 2 { count as f64 } else { 1.0 };
        estimate.p_value = by_likelihood.max(by_means.min(1.0));
        estimate
    }

    /// How often a mean as far from the old share comes by chance.
    fn by_mean<I: Iterator<Item = f64>>(self, old: f64, stated: impl Fn() -> I) -> f64 {
        let weights = self.weights;
        let weight = |row: usize| weights.of_row.as_ref().map_or(1.0, |all| all[row]);
        let mean_of = |of: &dyn Fn(f64) -> f64| {
            let each = stated().enumerate().map(|(row, p)| weight(row) * of(p));
            each.collect::<StableSum>().total() / weights.total
        };
        let mean = mean_of(&|p| p);
        let variance = mean_of(&|p| (p - mean).powi(2));
        let error = variance / weights.total + old * (1.0 - old) / self.examples;
        2.0 * normal_cdf(-(mean - old).abs() / error.sqrt())
    }
}

/// As [`estimate_priors`], class by class: each is there or not, whatever the others are.
pub fn estimate_priors_of_each(
    old: &[f64],
    probabilities: &[Probability],
    weights: Option<&[f64]>,
) -> Result<Vec<PriorEstimate>, CalibrationError> {
    each(old, probabilities, weights, None)
}

/// As [`estimate_priors_learned`], class by class: each is there or not, whatever the others are.
pub fn estimate_priors_of_each_learned(
    old: &[f64],
    probabilities: &[Probability],
    weights: Option<&[f64]>,
    examples: usize,
) -> Result<Vec<PriorEstimate>, CalibrationError> {
    each(old, probabilities, weights, Some(examples))
}

fn each(
    old: &[f64],
    probabilities: &[Probability],
    weights: Option<&[f64]>,
    examples: Option<usize>,
) -> Result<Vec<PriorEstimate>, CalibrationError> {
    check_priors(Task::MultiLabel, old)?;
    let weights = Weights::new(weights, probabilities.len(), old.len())?;
    let estimate = |class: usize| {
        let old = [1.0 - old[class], old[class]];
        let rows = probabilities.chunks_exact(weights.class_count);
        let ratios = rows.flat_map(|row| {
            let p = row[class];
            let largest = p.ln().max(p.complement().ln());
            [
                (p.complement().ln() - largest).exp() / old[0],
                (p.ln() - largest).exp() / old[1],
            ]
        });
        let doubt = examples.map(|examples| Doubt::new(examples, &weights, 2));
        let likelihood = Likelihood {
            ratios: ratios.collect(),
            weights: &weights,
            class_count: 2,
            held: doubt.map(|doubt| (doubt.pseudo, &old[..])),
        };
        let estimate = likelihood.estimate(&old);
        match doubt {
            Some(doubt) => doubt.judged(estimate, |side| {
                let rows = probabilities
                    .iter()
                    .skip(class)
                    .step_by(weights.class_count);
                rows.map(move |p| {
                    if side == 1 {
                        p.value()
                    } else {
                        p.complement().value()
                    }
                })
            }),
            None => estimate,
        }
    };
    Ok((0..old.len()).map(estimate).collect())
}

/// Which of several classes have shifted, at a level for all of them together: the chance that any is named where
/// nothing has changed is at most `level`.
///
/// # Formula
/// Of `K` p-values the least must be below `level/K`, the next below `level/(K-1)` and so on, up to the first that is not.
///
/// # Reference
/// Holm, Scandinavian Journal of Statistics 6 (1979).
///
/// ```
/// use calibrant_calibration::calibration::{PriorEstimate, shifted_of_each};
/// let with = |p_value: f64| PriorEstimate {
///     old: vec![0.5; 2], new: vec![0.5; 2], statistic: 0.0, degrees_of_freedom: 1, p_value, passes: 1, converged: true,
/// };
/// // By hand: 0.02 is below 0.05/2 and 0.04 below 0.05; alone, 0.03 twice is not below 0.05/2.
/// assert_eq!(shifted_of_each(&[with(0.04), with(0.02)], 0.05), [true, true]);
/// assert_eq!(shifted_of_each(&[with(0.03), with(0.03)], 0.05), [false, false]);
/// ```
pub fn shifted_of_each(estimates: &[PriorEstimate], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..estimates.len()).collect();
    order.sort_by(|&a, &b| estimates[a].p_value.total_cmp(&estimates[b].p_value));
    let mut shifted = vec![false; estimates.len()];
    for (place, &class) in order.iter().enumerate() {
        if !estimates[class].is_shifted(level / (estimates.len() - place) as f64) {
            break;
        }
        shifted[class] = true;
    }
    shifted
}

/// How far, in nats over all documents, the log-likelihood may stay below its maximum.
pub const GAP_TOLERANCE: f64 = 1e-6;
const MOST_PASSES: usize = 3000;
/// No share goes below this on the way, so that it could come back.
const LEAST_SHARE: f64 = 1e-12;
/// Rows of a fixed piece of work: sums do not depend on the number of threads.
const CHUNK_ROWS: usize = 4096;

/// Weights that sum to the effective number of documents.
struct Weights {
    of_row: Option<Vec<f64>>,
    total: f64,
    class_count: usize,
}

impl Weights {
    fn new(
        weights: Option<&[f64]>,
        probabilities: usize,
        class_count: usize,
    ) -> Result<Self, CalibrationError> {
        let rows = probabilities / class_count.max(1);
        if class_count < 1 || rows == 0 {
            return Err(CalibrationError::NoExamples);
        }
        if rows * class_count != probabilities {
            return Err(CalibrationError::LengthMismatch {
                left_name: "the table of probabilities",
                left: probabilities,
                right_name: "whole rows of it",
                right: rows * class_count,
            });
        }
        let Some(weights) = weights else {
            return Ok(Self {
                of_row: None,
                total: rows as f64,
                class_count,
            });
        };
        if weights.len() != rows {
            return Err(CalibrationError::LengthMismatch {
                left_name: "documents",
                left: rows,
                right_name: "weights",
                right: weights.len(),
            });
        }
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if let Some(weight) = weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(CalibrationError::BadSetting {
                setting: "a weight",
                requirement: "a positive number",
                value: weight.to_string(),
            });
        }
        let sum = |power: i32| {
            let terms = weights.iter().map(|weight| (weight / largest).powi(power));
            terms.collect::<StableSum>().total()
        };
        let (sum, squares) = (sum(1), sum(2));
        let total = sum * sum / squares;
        let scale = total / sum;
        Ok(Self {
            of_row: Some(weights.iter().map(|w| w / largest * scale).collect()),
            total,
            class_count,
        })
    }
}

struct Likelihood<'a> {
    /// Row by row `p_c/π⁰_c`, each row in units of its own.
    ratios: Vec<f64>,
    weights: &'a Weights,
    class_count: usize,
    /// Pseudo-documents that have these shares.
    held: Option<(f64, &'a [f64])>,
}

/// What one look at all documents gives.
struct Look {
    log_likelihood: f64,
    /// With that of the pseudo-documents.
    objective: f64,
    /// By how much each share wants to grow.
    growth: Vec<f64>,
}

impl Likelihood<'_> {
    fn look(&self, priors: &[f64]) -> Look {
        let rows = self.ratios.len() / self.class_count;
        let chunks = parallel::map_ranges(rows, CHUNK_ROWS, |rows| {
            let mut log_likelihood = StableSum::default();
            let mut growth = vec![StableSum::default(); self.class_count];
            for row in rows {
                let ratios = &self.ratios[row * self.class_count..][..self.class_count];
                let weight = self.weights.of_row.as_ref().map_or(1.0, |all| all[row]);
                let sum: f64 = ratios.iter().zip(priors).map(|(r, prior)| r * prior).sum();
                log_likelihood.add(weight * sum.ln());
                for (growth, ratio) in growth.iter_mut().zip(ratios) {
                    growth.add(weight * (ratio / sum));
                }
            }
            (log_likelihood, growth)
        });
        let log_likelihood: StableSum = chunks.iter().map(|chunk| chunk.0.total()).collect();
        let growth = (0..self.class_count).map(|class| {
            let parts = chunks.iter().map(|chunk| chunk.1[class].total());
            parts.collect::<StableSum>().total() / self.weights.total
        });
        let log_likelihood = log_likelihood.total();
        let mut look = Look {
            log_likelihood,
            objective: log_likelihood,
            growth: growth.collect(),
        };
        if let Some((pseudo, old)) = self.held {
            let total = self.weights.total + pseudo;
            for ((growth, &prior), &old) in look.growth.iter_mut().zip(priors).zip(old) {
                *growth = (self.weights.total * *growth + pseudo * old / prior) / total;
                look.objective += pseudo * old * prior.ln();
            }
        }
        look
    }

    fn gap(&self, look: &Look) -> f64 {
        let most = look.growth.iter().copied().fold(0.0, f64::max);
        let total = self.weights.total + self.held.map_or(0.0, |(pseudo, _)| pseudo);
        total * (most - 1.0)
    }

    fn estimate(&self, old: &[f64]) -> PriorEstimate {
        let start = self.look(old);
        let at_start = start.log_likelihood;
        let mut priors = old.to_vec();
        let mut look = start;
        let mut passes = 1;
        while self.gap(&look) > GAP_TOLERANCE && passes + 3 <= MOST_PASSES {
            let first = step(&priors, &look);
            let first_look = self.look(&first);
            let second = step(&first, &first_look);
            let far = extrapolated(&priors, &first, &second);
            let far_look = self.look(&far);
            passes += 2;
            if far_look.objective >= first_look.objective {
                (priors, look) = (far, far_look);
            } else {
                look = self.look(&second);
                priors = second;
                passes += 1;
            }
        }
        let converged = self.gap(&look) <= GAP_TOLERANCE;
        let statistic = (2.0 * (look.log_likelihood - at_start)).max(0.0);
        let degrees_of_freedom = self.class_count - 1;
        let least = 0.5 / (self.weights.total + 1.0);
        priors
            .iter_mut()
            .for_each(|prior| *prior = prior.max(least));
        normalise(&mut priors);
        PriorEstimate {
            old: old.to_vec(),
            new: priors,
            statistic,
            degrees_of_freedom,
            p_value: chi_square_tail(statistic, degrees_of_freedom),
            passes,
            converged,
        }
    }
}

/// One step of EM.
fn step(priors: &[f64], look: &Look) -> Vec<f64> {
    let mut next: Vec<f64> = priors
        .iter()
        .zip(&look.growth)
        .map(|(prior, growth)| (prior * growth).max(LEAST_SHARE))
        .collect();
    normalise(&mut next);
    next
}

/// Where the steps from `start` over `first` to `second` lead, if each is shorter than the one
/// before by about the same factor.
fn extrapolated(start: &[f64], first: &[f64], second: &[f64]) -> Vec<f64> {
    let (mut steps, mut bends) = (0.0, 0.0);
    for ((start, first), second) in start.iter().zip(first).zip(second) {
        steps += (first - start).powi(2);
        bends += (second - 2.0 * first + start).powi(2);
    }
    let length = (steps / bends).sqrt();
    if !(length.is_finite() && length > 1.0) {
        return second.to_vec();
    }
    let mut far: Vec<f64> = start
        .iter()
        .zip(first)
        .zip(second)
        .map(|((start, first), second)| {
            let (step, bend) = (first - start, second - 2.0 * first + start);
            let place = start + 2.0 * length * step + length * length * bend;
            // A share that would vanish is only brought near: whether it does is for EM to say.
            place.max(0.01 * second).max(LEAST_SHARE)
        })
        .collect();
    normalise(&mut far);
    far
}

fn normalise(priors: &mut [f64]) {
    let sum: f64 = priors.iter().sum();
    priors.iter_mut().for_each(|prior| *prior /= sum);
}

#[cfg(test)]
mod tests;
