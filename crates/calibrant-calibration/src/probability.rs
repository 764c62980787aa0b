//! A probability that keeps its log-odds.

use crate::numeric::{sigmoid, softplus};

/// A probability, kept as log-odds so that neither end is ever rounded away.
///
/// At log-odds 800 the plain value is exactly 1.0 in `f64` and a loss computed
/// from it would be infinite; from the log-odds it is exactly 800.
///
/// ```
/// use calibrant_calibration::Probability;
/// let p = Probability::from_log_odds(800.0);
/// assert_eq!(p.complement().ln(), -800.0); // by hand: ln(1/(1+e^800)) = -800
/// assert!(p.value() < 1.0); // the plain value is kept off the ends
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Probability {
    log_odds: f64,
}

impl Probability {
    /// The largest log-odds that is kept: beyond it a forecast says nothing more,
    /// and sums of losses must stay finite.
    pub const MAX_LOG_ODDS: f64 = 1e15;

    /// From log-odds; infinities are brought back to [`Self::MAX_LOG_ODDS`], and
    /// not-a-number (which no calibrator returns) becomes even odds.
    pub fn from_log_odds(log_odds: f64) -> Self {
        let log_odds = if log_odds.is_nan() { 0.0 } else { log_odds };
        Self {
            log_odds: log_odds.clamp(-Self::MAX_LOG_ODDS, Self::MAX_LOG_ODDS),
        }
    }

    /// From `ln p` and `ln (1 - p)`, which the caller knows separately.
    pub fn from_ln(ln_p: f64, ln_complement: f64) -> Self {
        Self::from_log_odds(ln_p - ln_complement)
    }

    /// `ln(p / (1 - p))`.
    #[inline]
    pub fn log_odds(self) -> f64 {
        self.log_odds
    }

    /// The plain value, strictly between 0 and 1.
    #[inline]
    pub fn value(self) -> f64 {
        sigmoid(self.log_odds).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0)
    }

    /// `ln p`, exact however small `p` is.
    #[inline]
    pub fn ln(self) -> f64 {
        -softplus(-self.log_odds)
    }

    /// The probability of the opposite.
    #[inline]
    pub fn complement(self) -> Self {
        Self {
            log_odds: -self.log_odds,
        }
    }

    /// Log loss (nats) of this forecast when the truth is `happened`.
    #[inline]
    pub fn log_loss(self, happened: bool) -> f64 {
        if happened {
            -self.ln()
        } else {
            -self.complement().ln()
        }
    }
}
