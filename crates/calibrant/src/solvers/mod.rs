//! Optimisers. They know numbers and rows, no text. Those of curves and small problems are the calibration crate's.

mod borrowed_rows;
mod cutting_planes;
mod descent_rows;
mod dual_descent;
mod hinge_loss;
mod logistic_loss;
mod members;
mod primal;

pub use borrowed_rows::BorrowedRows;
pub use calibrant_calibration::solvers::*;
pub use cutting_planes::{
    CuttingPlaneSolution, CuttingPlanes, PlaneSet, Round, Slack, StructuredProblem,
    solve_cutting_planes, unit_cost,
};
pub use descent_rows::DescentRows;
pub use dual_descent::{
    Convergence, DualLoss, Lane, LaneSolution, LinearProblem, SolverLimits, Visit,
    solve_side_by_side, solve_while_wanted,
};
pub use hinge_loss::{HingeLoss, HingeLossDual};
pub use logistic_loss::LogisticLossDual;
pub use members::Members;
pub(crate) use primal::DenseScores;
pub use primal::{PrimalOutput, PrimalProblem, PrimalSolution, SmoothLoss, solve_primal};
