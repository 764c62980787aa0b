//! Optimisers. They know numbers and rows, no text.

mod cholesky;
mod cutting_planes;
mod dual_descent;
mod hinge_loss;
mod logistic_loss;
mod newton_logistic;
mod newton_softmax;
mod parts;
mod pool_adjacent_violators;
mod simplex_least_squares;

pub(crate) use cholesky::Factor;
pub use cutting_planes::{
    CuttingPlaneSolution, CuttingPlanes, PlaneSet, Round, Slack, StructuredProblem,
    solve_cutting_planes, unit_price,
};
pub use dual_descent::{
    Convergence, DualLoss, Lane, LaneSolution, LinearProblem, SolverLimits, Visit,
    solve_side_by_side,
};
pub use hinge_loss::{HingeLoss, HingeLossDual};
pub use logistic_loss::LogisticLossDual;
pub(crate) use newton_logistic::logistic_expansion;
pub use newton_logistic::newton_logistic;
pub use newton_softmax::{QuadraticPenalty, SoftmaxRows, SoftmaxSolution, newton_softmax};
pub use parts::sum_in_parts;
pub use pool_adjacent_violators::{Pool, pool_adjacent_violators, pool_weighted_sums};
pub use simplex_least_squares::{SimplexLeastSquares, SimplexRoom};
