//! One slack an example.

use std::ops::ControlFlow;

use super::{
    CuttingPlaneSolution, CuttingPlanes, PlaneSet, Round, Standing, StructuredProblem, dot,
};
use crate::parallel;

pub(super) fn solve<P: StructuredProblem + ?Sized>(
    problem: &P,
    settings: &CuttingPlanes,
    planes: &mut PlaneSet,
    on_round: &mut dyn FnMut(&Round) -> ControlFlow<()>,
) -> CuttingPlaneSolution {
    let count = problem.example_count();
    let capacity = settings.c / count as f64;
    let mut standing = Standing::new(settings.tolerance, problem.dimension());
    planes.scale_to(capacity, count, problem.dimension());
    while !standing.is_over(settings.round_limit) {
        planes.optimise(capacity, count, standing.inner_tolerance());
        let (weights, dual) = planes.mixture(problem.dimension());
        let found = parallel::map_indices(count, |example| {
            let mut direction = vec![0.0; problem.dimension()];
            let range = example..example + 1;
            let loss = problem.add_most_violated(&weights, range, &mut direction);
            (direction, loss)
        });
        planes.drop_idle();
        let mut slack_sum = 0.0;
        for (example, (direction, loss)) in found.into_iter().enumerate() {
            let slack = (loss - dot(&weights, &direction)).max(0.0);
            slack_sum += slack;
            // A plane that is there already would add nothing.
            if slack > planes.slack_of(&weights, example) + 1e-12 {
                planes.push(direction, loss, example);
            }
        }
        let primal = 0.5 * dot(&weights, &weights) + capacity * slack_sum;
        standing.take(weights, primal, dual, planes.len());
        if on_round(&standing.end).is_break() {
            break;
        }
    }
    standing.solution()
}
