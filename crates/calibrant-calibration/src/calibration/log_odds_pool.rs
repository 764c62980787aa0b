//! Forecasts of several models into one, in log-odds.

mod member_forecasts;
mod newton;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::numeric::log_odds_against_rest;
use crate::{CalibrationError, Probability, Task};

pub use member_forecasts::MemberForecasts;
pub(super) use newton::{Strengths, solve};

/// How much each of several models counts, and what each class gets besides.
///
/// # Formula
/// ```text
/// one label        P(c) ∝ exp(Σ_m w_m ln P_m(c) + b_c)
/// several labels   log-odds(c) = Σ_m w_m log-odds_m(c) + b_c
/// ```
/// with `w_m ≥ 0`. Weights and intercepts minimise
/// ```text
/// Σ_i v_i (log loss of example i) + 30 Σ_m (w_m - s_m)² + 25 Σ_c b_c²,   s_m ∝ exp(-¼ Σ_i v_i (log loss of m alone))
/// ```
/// over held-out examples whose weights `v_i` have a mean of one. With few examples the pool is near the best
/// model, or near an equal say for models that are equally good; two models that
/// say the same share their weight, a class without examples keeps a finite intercept, and with many
/// examples the last two sums hardly count. The problem is convex; Newton's method on the weights
/// that are free to move finds its only solution.
///
/// # When it misleads
/// Models that learned from the examples look better there than they are, and get too much weight.
/// A weighted mean of log-odds is never surer than the surest model unless the weights sum to more
/// than one, which they do where the models' mistakes are independent.
///
/// # Reference
/// Genest & Zidek, Statistical Science 1 (1986), on logarithmic opinion pools; Satopää et al.,
/// International Journal of Forecasting 30 (2014), on their weights.
///
/// ```
/// use calibrant_calibration::calibration::{LogOddsPool, MemberForecasts};
/// use calibrant_calibration::{Probability, Task};
/// let mut both = MemberForecasts::new(Task::MultiLabel, 2, 1);
/// for (truth, sure) in [(true, 2.0), (false, -2.0), (true, -2.0), (true, 2.0), (false, -2.0)] {
///     let informed = [Probability::from_log_odds(sure)];
///     let ignorant = [Probability::from_log_odds(0.0)];
///     let labels: &[u32] = if truth { &[0] } else { &[] };
///     both.push(&[&informed, &ignorant], labels, 1.0)?;
/// }
/// let pool = LogOddsPool::fit(&both, |_| true)?;
/// // By hand: alone, the informed one loses 4·ln(1 + e⁻²) + ln(1 + e²) nats and the ignorant one 5·ln 2, so that the
/// // latter's say is 1/(1 + e^(0.83/4)); what says nothing stays where no data would leave it.
/// let gain = 5.0 * 2f64.ln() - 4.0 * (-2f64).exp().ln_1p() - 2f64.exp().ln_1p();
/// assert!((pool.weights()[1] - 1.0 / (1.0 + (gain / 4.0).exp())).abs() < 1e-9);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogOddsPool {
    weights: Vec<f64>,
    intercepts: Vec<f64>,
}

/// Nothing that a fit gives is nearly as large.
const LARGEST: f64 = 1e9;

impl LogOddsPool {
    /// From the examples that take part (all, or all but a fold).
    pub fn fit(
        forecasts: &MemberForecasts,
        takes_part: impl Fn(usize) -> bool,
    ) -> Result<Self, CalibrationError> {
        let rows: Vec<u32> = (0..forecasts.len() as u32)
            .filter(|&row| takes_part(row as usize))
            .collect();
        if rows.is_empty() {
            return Err(CalibrationError::NoExamples);
        }
        let mut weights = newton::solve(forecasts, &rows, newton::Strengths::default())?;
        let intercepts = weights.split_off(forecasts.member_count());
        Ok(Self {
            weights,
            intercepts,
        })
    }

    /// What one member says alone.
    pub fn of_one(member: usize, member_count: usize, class_count: usize) -> Self {
        let mut weights = vec![0.0; member_count];
        weights[member] = 1.0;
        Self {
            weights,
            intercepts: vec![0.0; class_count],
        }
    }

    /// How much each model counts.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// What each class gets besides.
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// Whether it can belong to so many models and classes, whatever a file may say.
    pub fn is_sound(&self, member_count: usize, class_count: usize) -> bool {
        self.weights.len() == member_count
            && self.intercepts.len() == class_count
            && self.weights.iter().all(|w| (0.0..=LARGEST).contains(w))
            && self.intercepts.iter().all(|b| b.abs() <= LARGEST)
    }

    /// Fills `classes` from [`evidence`] of each member, member after member.
    pub fn pool_into(
        &self,
        task: Task,
        evidence: &[f64],
        buffer: &mut Vec<f64>,
        classes: &mut [Probability],
    ) {
        buffer.clear();
        buffer.extend_from_slice(&self.intercepts);
        for (row, weight) in evidence.chunks_exact(classes.len()).zip(&self.weights) {
            for (sum, evidence) in buffer.iter_mut().zip(row) {
                *sum += weight * evidence;
            }
        }
        if task == Task::SingleLabel {
            buffer.resize(2 * classes.len(), 0.0);
            let (ln_weights, log_odds) = buffer.split_at_mut(classes.len());
            log_odds_against_rest(ln_weights, log_odds);
            ln_weights.copy_from_slice(log_odds);
        }
        for (class, &log_odds) in classes.iter_mut().zip(buffer.iter()) {
            *class = Probability::from_log_odds(log_odds);
        }
    }
}

/// Beyond this a forecast says no more: nothing that is calibrated comes near.
const MOST_EVIDENCE: f64 = 1e4;

/// What a forecast brings to the pool: `ln P` where classes exclude each other, else log-odds.
pub fn evidence(task: Task, probability: Probability) -> f64 {
    let value = match task {
        Task::SingleLabel => probability.ln(),
        Task::MultiLabel => probability.log_odds(),
    };
    value.clamp(-MOST_EVIDENCE, MOST_EVIDENCE)
}
