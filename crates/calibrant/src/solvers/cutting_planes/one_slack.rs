//! One slack for all examples.

use std::ops::ControlFlow;

use super::{
    CuttingPlaneSolution, CuttingPlanes, PlaneSet, Round, Standing, StructuredProblem, dot,
    mean_most_violated,
};

pub(super) fn solve<P: StructuredProblem + ?Sized>(
    problem: &P,
    settings: &CuttingPlanes,
    planes: &mut PlaneSet,
    on_round: &mut dyn FnMut(&Round) -> ControlFlow<()>,
) -> CuttingPlaneSolution {
    let c = settings.c;
    let mut standing = Standing::new(settings.tolerance, problem.dimension());
    planes.scale_to(c, 1, problem.dimension());
    while !standing.is_over(settings.round_limit) {
        planes.optimise(c, 1, standing.inner_tolerance());
        let (weights, dual) = planes.mixture(problem.dimension());
        let (direction, loss) = mean_most_violated(problem, &weights);
        let slack = (loss - dot(&weights, &direction)).max(0.0);
        let primal = 0.5 * dot(&weights, &weights) + c * slack;
        planes.drop_idle();
        planes.push(direction, loss, 0);
        standing.take(weights, primal, dual, planes.len());
        if on_round(&standing.end).is_break() {
            break;
        }
    }
    standing.solution()
}
