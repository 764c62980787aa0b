//! A loss in parts: what better calibration would save, what the forecasts tell, what is left to tell.

use super::SortedForecasts;
use crate::numeric::StableSum;
use crate::solvers::{Pool, pool_adjacent_violators};
use serde::{Deserialize, Serialize};

/// The parts of a mean loss: `loss = miscalibration - discrimination + uncertainty`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Decomposition {
    /// The mean loss itself.
    pub loss: f64,
    /// What the best rising map of the forecasts would save.
    pub miscalibration: f64,
    /// What the forecasts, so mapped, save over always stating the overall share.
    pub discrimination: f64,
    /// What always stating the overall share would cost.
    pub uncertainty: f64,
}

impl SortedForecasts {
    /// The Brier score and the log loss in parts, by refitting the forecasts isotonically.
    ///
    /// # Formula
    /// ```text
    /// miscalibration  S(p) - S(g)      g = the isotonic fit of the outcomes to the forecasts
    /// discrimination  S(r) - S(g)      r = the overall share that came true
    /// uncertainty     S(r)
    /// ```
    /// where the fit is 0 or 1 all outcomes agree with it, and the log loss there is exactly 0.
    ///
    /// # When it misleads
    /// The fit adapts to noise: a perfect forecaster shows a miscalibration of the order `n^(-2/3)`, and
    /// with a few dozen forecasts most of the loss can seem to be saved. No part is negative.
    ///
    /// # Reference
    /// Dimitriadis, Gneiting & Jordan, PNAS 118 (2021): "CORP".
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// let p = Probability::from_log_odds(3f64.ln()); // 0.75, and half came true
    /// let (brier, log_loss) = SortedForecasts::new(&[(p, true, 1.0), (p, false, 1.0)]).decompositions();
    /// assert!((brier.miscalibration - 0.0625).abs() < 1e-12); // by hand: (0.75 - 0.5)²
    /// assert_eq!((brier.discrimination, brier.uncertainty), (0.0, 0.25));
    /// assert!((log_loss.uncertainty - 2f64.ln()).abs() < 1e-12);
    /// ```
    pub fn decompositions(&self) -> (Decomposition, Decomposition) {
        let losses = self.losses();
        self.decompositions_with(&self.isotonic_pools(), losses.brier, losses.log_loss)
    }

    pub(super) fn decompositions_with(
        &self,
        pools: &[Pool],
        brier: f64,
        log_loss: f64,
    ) -> (Decomposition, Decomposition) {
        if self.is_empty() {
            let nothing = Decomposition::new(0.0, 0.0, 0.0);
            return (nothing, nothing);
        }
        let refitted = |loss: fn(f64, f64) -> f64| {
            let losses = pools
                .iter()
                .map(|pool| loss(pool.sum, pool.weight - pool.sum));
            losses.collect::<StableSum>().total() / self.total
        };
        let (yes, no) = (
            self.sum(0..self.len(), |i| {
                if self.happened[i] {
                    self.weights[i]
                } else {
                    0.0
                }
            }),
            self.sum(0..self.len(), |i| {
                if self.happened[i] {
                    0.0
                } else {
                    self.weights[i]
                }
            }),
        );
        (
            Decomposition::new(
                brier,
                refitted(brier_of_share),
                brier_of_share(yes, no) / self.total,
            ),
            Decomposition::new(
                log_loss,
                refitted(log_loss_of_share),
                log_loss_of_share(yes, no) / self.total,
            ),
        )
    }

    /// The isotonic fit of the outcomes; a pool's `end` counts forecasts.
    pub(super) fn isotonic_pools(&self) -> Vec<Pool> {
        let mut ends = Vec::new();
        let points = self.blocks().map(|block| {
            ends.push(block.end);
            let (yes, no) = self.outcomes(block);
            (yes / (yes + no), yes + no)
        });
        let mut pools = pool_adjacent_violators(points);
        for pool in &mut pools {
            pool.end = ends[pool.end - 1];
        }
        pools
    }
}

impl Decomposition {
    fn new(loss: f64, refitted: f64, constant: f64) -> Self {
        // Rounding must not make a saving of nothing a loss.
        Self {
            loss,
            miscalibration: (loss - refitted).max(0.0),
            discrimination: (constant - refitted).max(0.0),
            uncertainty: constant,
        }
    }
}

/// The squared error of stating the share of `yes` among `yes + no`.
fn brier_of_share(yes: f64, no: f64) -> f64 {
    yes * no.max(0.0) / (yes + no)
}

/// The log loss of stating that share.
fn log_loss_of_share(yes: f64, no: f64) -> f64 {
    let total = yes + no;
    let part = |weight: f64| {
        if weight > 0.0 {
            -weight * (weight / total).ln()
        } else {
            0.0
        }
    };
    part(yes) + part(no)
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::testing::*;
    use super::*;
    use proptest::prelude::*;

    #[test] // By hand: forecasts 0.2 0.4 0.6 0.8, outcomes 0 1 0 1; the fit is 0 ½ ½ 1.
    fn a_small_case_agrees_with_the_hand() {
        let points = [(0.2, false), (0.4, true), (0.6, false), (0.8, true)];
        let points: Vec<_> = points.iter().map(|&(p, y)| (at(p), y, 2.0)).collect();
        let (brier, log_loss) = SortedForecasts::new(&points).decompositions();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(brier.loss, (0.04 + 0.36 + 0.36 + 0.04) / 4.0);
        near(brier.miscalibration, 0.2 - 0.125);
        near(brier.discrimination, 0.25 - 0.125);
        near(log_loss.discrimination, 2f64.ln() - 2f64.ln() / 2.0);
        near(
            log_loss.miscalibration,
            -(0.8f64.ln() + 0.4f64.ln()) / 2.0 - 2f64.ln() / 2.0,
        );
    }

    proptest! {
        #[test]
        fn the_parts_add_up_and_none_is_negative(points in any_points()) {
            let (brier, log_loss) = SortedForecasts::new(&points).decompositions();
            for parts in [brier, log_loss] {
                for part in [parts.miscalibration, parts.discrimination, parts.uncertainty] {
                    prop_assert!(part >= 0.0 && part.is_finite());
                }
                let sum = parts.miscalibration - parts.discrimination + parts.uncertainty;
                prop_assert!((sum - parts.loss).abs() <= 1e-12 * (1.0 + parts.loss));
            }
        }

        #[test]
        fn a_whole_weight_is_repetition((whole, repeated) in whole_and_repeated()) {
            let (a, b) = (SortedForecasts::new(&whole).decompositions(), SortedForecasts::new(&repeated).decompositions());
            for (a, b) in [(a.0, b.0), (a.1, b.1)] {
                prop_assert!((a.miscalibration - b.miscalibration).abs() < 1e-12);
                prop_assert!((a.discrimination - b.discrimination).abs() < 1e-12);
            }
        }
    }
}
