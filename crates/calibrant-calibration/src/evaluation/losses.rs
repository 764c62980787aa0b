//! Log loss, squared error and wrong decisions.

use super::SortedForecasts;
use crate::Probability;
use serde::{Deserialize, Serialize};

/// What yes-or-no forecasts cost, in all and on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Weighted sum of the log loss, nats.
    pub log_loss_sum: f64,
    /// Weighted mean of the log loss, nats.
    pub log_loss: f64,
    /// Weighted mean of the log loss, bits: the cross-entropy.
    pub log_loss_bits: f64,
    /// Weighted sum of the squared error.
    pub brier_sum: f64,
    /// Weighted mean of the squared error.
    pub brier: f64,
    /// Forecasts on the wrong side of one half (exactly one half says "no"), counted without weights.
    pub errors: usize,
    /// Their weighted share.
    pub error_rate: f64,
}

impl SortedForecasts {
    /// Log loss, Brier score and errors of yes-or-no forecasts. All zero without forecasts.
    ///
    /// # Formula
    /// ```text
    /// log loss  -Σ w ln P(what happened) / Σ w      Brier  Σ w (y - p)² / Σ w
    /// ```
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// let p = Probability::from_log_odds(3f64.ln()); // 0.75
    /// let losses = SortedForecasts::new(&[(p, true, 1.0), (p, false, 1.0)]).losses();
    /// // By hand: -log2(3/4) and -log2(1/4) = 0.415 and 2 bits.
    /// assert!((losses.log_loss_bits - (2.0 + 2.0 - 3f64.log2()) / 2.0).abs() < 1e-12);
    /// assert!((losses.brier - (0.0625 + 0.5625) / 2.0).abs() < 1e-12);
    /// assert_eq!((losses.errors, losses.error_rate), (1, 0.5));
    /// ```
    pub fn losses(&self) -> Losses {
        let log_loss = self.mean(|i| self.log_loss_of(i));
        let brier = self.mean(|i| self.gap(i) * self.gap(i));
        let erred = |i: usize| self.happened[i] != (self.log_odds[i] > 0.0);
        Losses {
            log_loss_sum: sum_of_mean(log_loss, self.total * self.scale),
            log_loss,
            log_loss_bits: log_loss / std::f64::consts::LN_2,
            brier_sum: sum_of_mean(brier, self.total * self.scale),
            brier,
            errors: (0..self.len()).filter(|&i| erred(i)).count(),
            error_rate: self.mean(|i| f64::from(u8::from(erred(i)))),
        }
    }

    #[inline]
    pub(super) fn log_loss_of(&self, i: usize) -> f64 {
        Probability::from_log_odds(self.log_odds[i]).log_loss(self.happened[i])
    }
}

/// A sum that is kept finite, so that it can be written and read back.
pub(super) fn sum_of_mean(mean: f64, weight: f64) -> f64 {
    if mean == 0.0 {
        0.0
    } else {
        (mean * weight).min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::testing::*;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn losses_are_finite_whatever_comes(points in any_points()) {
            let found = SortedForecasts::new(&points).losses();
            for number in [
                found.log_loss, found.log_loss_bits, found.log_loss_sum, found.brier, found.brier_sum, found.error_rate,
            ] {
                prop_assert!(number.is_finite() && number >= 0.0);
            }
        }

        #[test]
        fn a_whole_weight_is_repetition((whole, repeated) in whole_and_repeated()) {
            let (a, b) = (SortedForecasts::new(&whole).losses(), SortedForecasts::new(&repeated).losses());
            prop_assert!((a.log_loss_sum - b.log_loss_sum).abs() < 1e-9);
            prop_assert!((a.brier_sum - b.brier_sum).abs() < 1e-9);
            prop_assert!((a.error_rate - b.error_rate).abs() < 1e-12);
        }
    }
}
