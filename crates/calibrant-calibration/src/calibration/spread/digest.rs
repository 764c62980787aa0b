//! Forecasts of one group, counted in cells of log-odds.

use super::small::{Matrix2, Vector2};
use crate::numeric::softplus;

/// Log-odds beyond are taken for these: one in 160,000.
const FARTHEST: f64 = 12.0;
/// The width of a cell. Log-odds within one are taken for their mean.
const WIDTH: f64 = 0.25;
const CELLS: usize = (2.0 * FARTHEST / WIDTH) as usize + 1;

/// What is stated, within what is distinguished; NaN is the least.
pub(super) fn within(log_odds: f64) -> f64 {
    match log_odds.is_nan() {
        true => -FARTHEST,
        false => log_odds.clamp(-FARTHEST, FARTHEST),
    }
}

/// Counts of forecasts and of those that came true, by log-odds. It does not depend on the order of the forecasts, rounding aside.
#[derive(Debug, Clone)]
pub(super) struct Digest {
    /// Mean log-odds, weight, weight of what came true.
    cells: Vec<[f64; 3]>,
}

/// The log-likelihood of a line, its slope and the negative of its curvature.
pub(super) struct LineFit {
    pub(super) slope: Vector2,
    pub(super) information: Matrix2,
}

impl Digest {
    pub(super) fn of(group: &[(f64, bool)]) -> Self {
        Self::of_weighted(group.iter().map(|&(log_odds, came)| (log_odds, came, 1.0)))
    }

    pub(super) fn of_weighted(cases: impl Iterator<Item = (f64, bool, f64)>) -> Self {
        let mut cells = vec![[0.0; 3]; CELLS];
        for (log_odds, came, weight) in cases {
            let log_odds = within(log_odds);
            let cell = ((log_odds + FARTHEST) / WIDTH) as usize;
            let cell = &mut cells[cell.min(CELLS - 1)];
            cell[0] += weight * log_odds;
            cell[1] += weight;
            cell[2] += if came { weight } else { 0.0 };
        }
        cells.retain(|cell| cell[1] > 0.0);
        for cell in &mut cells {
            cell[0] /= cell[1];
        }
        Self { cells }
    }

    pub(super) fn has_cases(&self) -> bool {
        self.cells.iter().any(|cell| cell[2] > 0.0)
    }

    pub(super) fn has_others(&self) -> bool {
        self.cells.iter().any(|cell| cell[2] < cell[1])
    }

    /// The weight of what came true, and its log-odds with that weight.
    pub(super) fn cases(&self) -> (f64, f64) {
        let add = |(weight, sum), cell: &[f64; 3]| (weight + cell[2], sum + cell[2] * cell[0]);
        self.cells.iter().fold((0.0, 0.0), add)
    }

    /// With log-odds counted from a centre.
    pub(super) fn centred(mut self, centre: f64) -> Self {
        for cell in &mut self.cells {
            cell[0] -= centre;
        }
        self
    }

    pub(super) fn ln_likelihood(&self, [at_centre, slope]: Vector2) -> f64 {
        let of_cell = |cell: &[f64; 3]| {
            let log_odds = at_centre + slope * cell[0];
            cell[2] * log_odds - cell[1] * softplus(log_odds)
        };
        self.cells.iter().map(of_cell).sum()
    }

    pub(super) fn line_fit(&self, [at_centre, slope]: Vector2) -> LineFit {
        let mut fit = LineFit {
            slope: [0.0; 2],
            information: [[0.0; 2]; 2],
        };
        for &[place, weight, came] in &self.cells {
            let probability = 1.0 / (1.0 + (-(at_centre + slope * place)).exp());
            let excess = came - weight * probability;
            let curvature = weight * probability * (1.0 - probability);
            fit.slope[0] += excess;
            fit.slope[1] += excess * place;
            fit.information[0][0] += curvature;
            fit.information[0][1] += curvature * place;
            fit.information[1][1] += curvature * place * place;
        }
        fit.information[1][0] = fit.information[0][1];
        fit
    }
}
