//! One slack for all examples.

use super::{
    CuttingPlaneSolution, CuttingPlanes, PlaneSet, Round, StructuredProblem, dot,
    mean_most_violated,
};

pub(super) fn solve<P: StructuredProblem + ?Sized>(
    problem: &P,
    settings: &CuttingPlanes,
    planes: &mut PlaneSet,
    on_round: &mut dyn FnMut(&Round),
) -> CuttingPlaneSolution {
    let c = settings.c;
    let mut end = Round {
        round: 0,
        primal: f64::INFINITY,
        dual: f64::NEG_INFINITY,
        planes: 0,
    };
    let mut best = vec![0.0; problem.dimension()];
    planes.scale_to(c, 1, problem.dimension());
    let mut converged = false;
    while !converged && end.round < settings.round_limit.max(1) {
        // No more exact than the outer gap can use.
        let inner = if end.primal.is_finite() {
            (0.1 * end.gap()).max(0.1 * settings.tolerance * end.primal)
        } else {
            0.0
        };
        planes.optimise(c, 1, inner);
        let (weights, dual) = planes.mixture(problem.dimension());
        let (direction, loss) = mean_most_violated(problem, &weights);
        let slack = (loss - dot(&weights, &direction)).max(0.0);
        let primal = 0.5 * dot(&weights, &weights) + c * slack;
        end.round += 1;
        end.dual = end.dual.max(dual);
        if primal < end.primal || end.round == 1 {
            end.primal = primal;
            best = weights;
        }
        planes.drop_idle();
        planes.push(direction, loss, 0);
        end.planes = planes.len();
        converged = end.has_reached(settings.tolerance);
        on_round(&end);
    }
    CuttingPlaneSolution {
        weights: best,
        end,
        converged,
    }
}
