//! Optimisers of curves and small problems. They know numbers alone.

mod cholesky;
mod newton_logistic;
mod newton_softmax;
mod parts;
mod pool_adjacent_violators;
mod simplex_least_squares;

#[doc(hidden)]
pub use cholesky::Factor;
#[doc(hidden)]
pub use newton_logistic::logistic_expansion;
pub use newton_logistic::newton_logistic;
pub use newton_logistic::newton_logistic_of;
pub use newton_softmax::{QuadraticPenalty, SoftmaxRows, SoftmaxSolution, newton_softmax};
pub use parts::sum_in_parts;
pub use pool_adjacent_violators::{Pool, pool_adjacent_violators, pool_weighted_sums};
pub use simplex_least_squares::{SimplexBuffers, SimplexLeastSquares};
