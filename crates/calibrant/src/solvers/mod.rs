//! Optimisers. They know numbers and rows, no text.

mod linear_problem;
mod logistic_dual;
mod newton_logistic;
mod svm_dual;

pub use linear_problem::{Convergence, LinearProblem, Solution, SolverLimits};
pub use logistic_dual::solve_logistic;
pub use newton_logistic::newton_logistic;
pub use svm_dual::{HingeLoss, solve_svm};
