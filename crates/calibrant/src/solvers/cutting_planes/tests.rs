//! The solver against problems whose answers are known another way.

use proptest::prelude::*;

use super::*;
use crate::numeric::Random;

/// A linear support vector machine as a structured problem: an example has two outputs.
struct Hinges {
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
}

impl Hinges {
    fn random(seed: u64, rows: usize, width: usize) -> Self {
        let mut random = Random::from_seed(seed);
        let labels: Vec<f64> = (0..rows)
            .map(|_| if random.uniform() < 0.5 { 1.0 } else { -1.0 })
            .collect();
        let rows = labels
            .iter()
            .map(|label| (0..width).map(|_| random.normal() + 0.3 * label).collect())
            .collect();
        Self { rows, labels }
    }

    fn objective(&self, weights: &[f64], c: f64) -> f64 {
        let hinges = self.rows.iter().zip(&self.labels).map(|(row, label)| {
            let score: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
            (1.0 - label * score).max(0.0)
        });
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        0.5 * squares + c * hinges.sum::<f64>() / self.rows.len() as f64
    }

    /// Projected coordinate ascent on the dual of the same problem, run to the end: an independent solver.
    fn by_coordinates(&self, c: f64) -> Vec<f64> {
        let capacity = c / self.rows.len() as f64;
        let mut weights = vec![0.0; self.rows[0].len()];
        let mut shares = vec![0.0; self.rows.len()];
        for _ in 0..20_000 {
            for (example, row) in self.rows.iter().enumerate() {
                let label = self.labels[example];
                let score: f64 = row.iter().zip(&weights).map(|(x, w)| x * w).sum();
                let length: f64 = row.iter().map(|x| x * x).sum();
                let wanted = shares[example] + (1.0 - label * score) / length;
                let share = wanted.clamp(0.0, capacity);
                for (weight, x) in weights.iter_mut().zip(row) {
                    *weight += (share - shares[example]) * label * x;
                }
                shares[example] = share;
            }
        }
        weights
    }
}

impl StructuredProblem for Hinges {
    fn example_count(&self) -> usize {
        self.rows.len()
    }

    fn dimension(&self) -> usize {
        self.rows[0].len()
    }

    fn add_most_violated(
        &self,
        weights: &[f64],
        range: Range<usize>,
        direction: &mut [f64],
    ) -> f64 {
        let mut loss = 0.0;
        for example in range {
            let (row, label) = (&self.rows[example], self.labels[example]);
            let score: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
            if label * score < 1.0 {
                loss += 1.0;
                for (sum, x) in direction.iter_mut().zip(row) {
                    *sum += label * x;
                }
            }
        }
        loss
    }
}

fn solved(problem: &Hinges, c: f64, tolerance: f64, slack: Slack) -> CuttingPlaneSolution {
    let settings = CuttingPlanes {
        c,
        tolerance,
        slack,
        ..CuttingPlanes::default()
    };
    solve_cutting_planes(problem, &settings, &mut PlaneSet::default(), &mut |_| {
        ControlFlow::Continue(())
    })
}

#[test]
fn both_formulations_reach_what_an_independent_solver_finds() {
    for (seed, c) in [(1, 0.1), (2, 1.0), (3, 20.0)] {
        let problem = Hinges::random(seed, 30, 4);
        let best = problem.objective(&problem.by_coordinates(c), c);
        for slack in [Slack::One, Slack::EachExample] {
            let found = solved(&problem, c, 1e-7, slack);
            assert!(found.converged, "{slack:?} {c} {:?}", found.end);
            let objective = problem.objective(&found.weights, c);
            assert!((objective - found.end.primal).abs() <= 1e-9 * objective);
            assert!(
                (objective - best).abs() <= 2e-7 * best,
                "{objective} {best}"
            );
            assert!(found.end.dual <= best + 1e-9);
        }
    }
}

#[test]
fn one_slack_needs_far_fewer_planes() {
    let problem = Hinges::random(7, 200, 5);
    let one = solved(&problem, 10.0, 1e-4, Slack::One);
    let each = solved(&problem, 10.0, 1e-4, Slack::EachExample);
    assert!(one.converged && each.converged);
    assert!((one.end.primal - each.end.primal).abs() <= 2e-4 * one.end.primal);
    assert!(2 * one.end.planes < each.end.planes);
}

#[test]
fn planes_of_another_cost_remain_valid() {
    let problem = Hinges::random(5, 100, 6);
    let mut planes = PlaneSet::default();
    let settings = |c| CuttingPlanes {
        c,
        tolerance: 1e-5,
        ..CuttingPlanes::default()
    };
    solve_cutting_planes(&problem, &settings(3.0), &mut planes, &mut |_| {
        ControlFlow::Continue(())
    });
    let warm = solve_cutting_planes(&problem, &settings(10.0), &mut planes, &mut |_| {
        ControlFlow::Continue(())
    });
    let cold = solved(&problem, 10.0, 1e-5, Slack::One);
    assert!(warm.converged && cold.converged);
    assert!((warm.end.primal - cold.end.primal).abs() <= 2e-5 * cold.end.primal);
    // Planes of another formulation cannot be used, and are forgotten.
    let each = CuttingPlanes {
        slack: Slack::EachExample,
        ..settings(10.0)
    };
    let other = solve_cutting_planes(&problem, &each, &mut planes, &mut |_| {
        ControlFlow::Continue(())
    });
    assert!((other.end.primal - cold.end.primal).abs() <= 2e-5 * cold.end.primal);
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let problem = Hinges::random(11, 300, 8);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| solved(&problem, 5.0, 1e-6, Slack::One).weights)
    };
    assert_eq!(with(1), with(7));
}

#[test]
fn bounds_close_in_on_each_other_round_by_round() {
    let problem = Hinges::random(13, 60, 5);
    let settings = CuttingPlanes {
        c: 10.0,
        tolerance: 1e-6,
        ..CuttingPlanes::default()
    };
    let mut last: Option<Round> = None;
    let found = solve_cutting_planes(
        &problem,
        &settings,
        &mut PlaneSet::default(),
        &mut |round| {
            assert!(round.dual <= round.primal + 1e-9);
            if let Some(last) = last {
                assert!(round.primal <= last.primal && round.dual >= last.dual);
            }
            last = Some(*round);
            ControlFlow::Continue(())
        },
    );
    assert!(found.converged && found.end == last.unwrap());
}

#[test]
fn rounds_that_are_no_longer_wanted_are_not_made() {
    let problem = Hinges::random(13, 60, 5);
    let settings = CuttingPlanes::default();
    let mut rounds = 0;
    let found = solve_cutting_planes(&problem, &settings, &mut PlaneSet::default(), &mut |_| {
        rounds += 1;
        ControlFlow::Break(())
    });
    assert_eq!((rounds, found.end.round), (1, 1));
}

#[test]
fn nothing_to_learn_from_gives_weights_of_zero() {
    struct Nothing;
    impl StructuredProblem for Nothing {
        fn example_count(&self) -> usize {
            0
        }
        fn dimension(&self) -> usize {
            2
        }
        fn add_most_violated(&self, _: &[f64], _: Range<usize>, _: &mut [f64]) -> f64 {
            0.0
        }
    }
    let settings = CuttingPlanes::default();
    let found = solve_cutting_planes(&Nothing, &settings, &mut PlaneSet::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    assert_eq!(found.weights, [0.0, 0.0]);
    assert!(found.converged);
}

/// The value of the program over planes `(direction, loss, group)` by an interior-point solver: the least of
/// `½α'Pα - d'α` subject to `-α <= 0` and `Σ_{k in group} α_k <= capacity`.
fn by_interior_point(planes: &[(Vec<f64>, f64, usize)], capacity: f64, groups: usize) -> f64 {
    use clarabel::algebra::CscMatrix;
    use clarabel::solver::{
        DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
    };
    let count = planes.len();
    let products: Vec<Vec<f64>> = planes
        .iter()
        .map(|a| planes.iter().map(|b| dot(&a.0, &b.0)).collect())
        .collect();
    let losses: Vec<f64> = planes.iter().map(|plane| -plane.1).collect();
    let row = |of: &dyn Fn(usize) -> f64| (0..count).map(of).collect::<Vec<f64>>();
    let signs = (0..count).map(|k| row(&|other| if other == k { -1.0 } else { 0.0 }));
    let rooms = (0..groups).map(|group| row(&|k| f64::from(planes[k].2 == group)));
    let limits: Vec<Vec<f64>> = signs.chain(rooms).collect();
    let right: Vec<f64> = [vec![0.0; count], vec![capacity; groups]].concat();
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-9)
        .tol_gap_rel(1e-9)
        .tol_feas(1e-10)
        .build();
    let mut solver = DefaultSolver::new(
        &CscMatrix::from(&products).to_triu(),
        &losses,
        &CscMatrix::from(&limits),
        &right,
        &[SupportedConeT::NonnegativeConeT(count + groups)],
        settings.unwrap(),
    )
    .unwrap();
    solver.solve();
    assert_eq!(solver.solution.status, SolverStatus::Solved);
    -solver.solution.obj_val
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// More planes than dimensions are the rule late in a path, so the optimal mixture is not the only one; its
    /// value is.
    #[test]
    fn the_program_over_planes_has_the_value_an_interior_point_solver_finds(
        planes in prop::collection::vec((prop::collection::vec(-2.0f64..2.0, 5), 0.0f64..2.0, 0usize..3), 1..25),
        groups in 1usize..4,
        capacity in 0.01f64..50.0,
    ) {
        let planes: Vec<_> = planes.into_iter().map(|(g, loss, group)| (g, loss, group % groups)).collect();
        let mut set = PlaneSet::default();
        set.scale_to(capacity, groups, 5);
        for (direction, loss, group) in &planes {
            set.push(direction.clone(), *loss, *group);
        }
        set.optimise(capacity, groups, 1e-9);
        let (weights, found) = set.mixture(5);
        let best = by_interior_point(&planes, capacity, groups);
        prop_assert!((found - best).abs() <= 1e-7 * (1.0 + best), "{} {}", found, best);
        // What the mixture says of any weights' objective is a bound from below, and that of its own weights one from above.
        let slacks: f64 = (0..groups).map(|group| set.slack_of(&weights, group)).sum();
        let above = 0.5 * dot(&weights, &weights) + capacity * slacks;
        prop_assert!(above >= best - 1e-7 * (1.0 + best), "{} {}", above, best);
    }
}
