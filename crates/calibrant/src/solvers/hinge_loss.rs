//! The losses of support vector machines in the dual.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::{DualLoss, Visit};

/// The loss of a margin `m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HingeLoss {
    /// `max(0, 1 - m)`.
    Hinge,
    /// `max(0, 1 - m)²`.
    SquaredHinge,
}

named! {
    HingeLoss, "a loss of the SVM";
    Hinge = "hinge", "The hinge, max(0, 1 - margin)";
    SquaredHinge = "squared_hinge", "Its square";
}

/// A hinge loss as [`solve_side_by_side`](super::solve_side_by_side) sees it.
///
/// # Formula
/// ```text
/// minimise over α:  (|Σ y_i α_i x_i|² + Σ d_i α_i²) / 2 - Σ α_i       0 <= α_i <= u_i
///   hinge:          u_i = C_i,  d_i = 0
///   squared hinge:  u_i = ∞,    d_i = 1 / (2 C_i)
/// ```
/// One variable alone has a closed form: a Newton step, cut off at the ends of the box.
///
/// # Reference
/// Hsieh, Chang, Lin, Keerthi & Sundararajan, ICML 2008, with their shrinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HingeLossDual(
    /// Which hinge.
    pub HingeLoss,
);

impl HingeLossDual {
    /// `d_i` and `u_i`.
    #[inline]
    fn diagonal_and_bound(self, cost: f64) -> (f64, f64) {
        match self.0 {
            HingeLoss::Hinge => (0.0, cost),
            HingeLoss::SquaredHinge => (0.5 / cost, f64::INFINITY),
        }
    }
}

impl DualLoss for HingeLossDual {
    const TELLS_GAP: bool = true;

    fn end_of_flat_box(&self, cost: f64) -> Option<f64> {
        (self.0 == HingeLoss::Hinge).then_some(cost)
    }

    fn start(&self, _cost: f64) -> f64 {
        0.0
    }

    /// A small gap of the hinge falls with the spread of gradients itself: there guesses by its square would be tightened again and again.
    fn settled(&self, relative_gap: f64) -> f64 {
        let square = (7.0 * relative_gap.sqrt()).clamp(1e-6, 0.5);
        match self.0 {
            HingeLoss::Hinge if relative_gap < 1e-5 => square.min(100.0 * relative_gap),
            HingeLoss::Hinge | HingeLoss::SquaredHinge => square,
        }
    }

    #[inline]
    fn visit(
        &self,
        margin: f64,
        dual: f64,
        cost: f64,
        curvature: f64,
        (lowest, highest): (f64, f64),
    ) -> Visit {
        let (diagonal, bound) = self.diagonal_and_bound(cost);
        let slope = margin - 1.0 + diagonal * dual;
        let gradient = if dual <= 0.0 {
            if slope > highest {
                return Visit::AtRest;
            }
            slope.min(0.0)
        } else if dual >= bound {
            if slope < lowest {
                return Visit::AtRest;
            }
            slope.max(0.0)
        } else {
            slope
        };
        let moved = if gradient == 0.0 {
            dual
        } else {
            (dual - slope / (curvature + diagonal)).clamp(0.0, bound)
        };
        Visit::Moved {
            dual: moved,
            gradient,
        }
    }

    #[inline]
    fn objectives(&self, margin: f64, dual: f64, cost: f64) -> (f64, f64) {
        let slack = (1.0 - margin).max(0.0);
        let (diagonal, _) = self.diagonal_and_bound(cost);
        let loss = if self.0 == HingeLoss::Hinge {
            slack
        } else {
            slack * slack
        };
        (cost * loss, dual - 0.5 * diagonal * dual * dual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::SparseMatrix;
    use crate::solvers::{Lane, LinearProblem, Members, SolverLimits, solve_side_by_side};

    #[test] // One feature at ±1 and a bias, which is zero by symmetry.
    fn the_answer_worked_by_hand() {
        let rows = SparseMatrix::from_rows(1, [vec![(0, 1.0)], vec![(0, -1.0)]]);
        let problem = LinearProblem {
            rows: &rows,
            squared_norms: &[1.0, 1.0],
            weights: &[1.0, 1.0],
            members: Members::All,
            constant: 1.0,
        };
        let lane = Lane {
            labels: &|row| row == 0,
            costs: (0.25, 0.25),
            start: None,
            keeps_duals: false,
        };
        let limits = SolverLimits {
            relative_gap: 1e-9,
            max_passes: 10_000,
        };
        let solve = |loss| {
            solve_side_by_side::<1, _>(&problem, &[lane], HingeLossDual(loss), &limits, 1).remove(0)
        };
        // w²/2 + 2·C(1-w)² is least at w = 4C/(1+4C) = 1/2, where it is 1/8 + 1/8.
        let squared = solve(HingeLoss::SquaredHinge);
        assert!((squared.weights[0] - 0.5).abs() < 1e-4 && squared.bias.abs() < 1e-4);
        assert!((squared.convergence.objective - 0.25).abs() < 1e-6);
        // w²/2 + 2·C(1-w) is least at w = 2C = 1/2, where it is 1/8 + 1/4.
        let plain = solve(HingeLoss::Hinge);
        assert!((plain.weights[0] - 0.5).abs() < 1e-4);
        assert!((plain.convergence.objective - 0.375).abs() < 1e-6);
    }
}
