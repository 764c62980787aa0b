use super::*;
use crate::NoProgress;
use crate::features::{DenseRows, SparseMatrix};
use crate::numeric::Random;
use crate::solvers::{DualLoss, solve_side_by_side};
use crate::solvers::{HingeLoss, HingeLossDual, Lane, LinearProblem, LogisticLossDual, Members};

const TIGHT: SolverLimits = SolverLimits {
    relative_gap: 1e-9,
    max_passes: 5000,
};
const LOSSES: [SmoothLoss; 2] = [SmoothLoss::Logistic, SmoothLoss::SquaredHinge];

/// Rows of seven columns that hang together, with their labels.
fn generated(row_count: usize) -> (Vec<f64>, Vec<bool>) {
    let mut random = Random::from_seed(7);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..row_count {
        let common = random.normal();
        let row: Vec<f64> = (1..8)
            .map(|column| common + random.normal() / f64::from(column))
            .collect();
        labels.push(row[0] - row[3] + 0.5 * random.normal() > 0.3);
        values.extend(row);
    }
    (values, labels)
}

fn solve(rows: &dyn RowSource, labels: &[bool], loss: SmoothLoss, constant: f64) -> PrimalSolution {
    let problem = PrimalProblem {
        rows,
        weights: &[],
        members: None,
        constant,
        loss,
    };
    let output = PrimalOutput {
        labels: &|row| labels[row],
        costs: (2.0, 0.5),
        start: None,
    };
    let solved = solve_primal(&problem, &[output], &TIGHT, &NoProgress);
    solved.unwrap().remove(0)
}

#[test]
fn gradients_agree_with_differences() {
    let (values, labels) = generated(301);
    let rows = DenseRows::new(&values, 7).unwrap();
    for (loss, constant) in LOSSES
        .into_iter()
        .flat_map(|loss| [(loss, 2.0), (loss, f64::INFINITY)])
    {
        let weights: Vec<f64> = (0..301).map(|row| 0.5 + f64::from(row % 3)).collect();
        let problem = PrimalProblem {
            rows: &rows,
            weights: &weights,
            members: None,
            constant,
            loss,
        };
        let outputs = [PrimalOutput {
            labels: &|row| labels[row],
            costs: (2.0, 0.5),
            start: None,
        }];
        let objective = Objective::new(&problem, &outputs);
        let value = |point: &Point| objective.evaluate(&[(0, point)]).remove(0);
        let point: Point = (0..8).map(|column| 0.1 * f64::from(column) - 0.2).collect();
        let found = value(&point);
        for column in 0..8 {
            let moved = |by: f64| {
                let mut moved = point.clone();
                moved[column] += by;
                value(&moved).value
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            let error = (slope - found.gradient[column]).abs();
            assert!(error < 1e-5 * slope.abs().max(1.0), "{column}: {error}");
        }
    }
}

/// The same problem in the dual.
fn in_the_dual(rows: &SparseMatrix, labels: &[bool], loss: impl DualLoss) -> f64 {
    let problem = LinearProblem {
        rows,
        squared_norms: &[],
        weights: &[],
        members: Members::All,
        constant: 1.0,
    };
    let lane = Lane {
        labels: &|row| labels[row],
        costs: (2.0, 0.5),
        start: None,
        keeps_duals: false,
    };
    let limits = SolverLimits {
        relative_gap: 1e-6,
        ..TIGHT
    };
    solve_side_by_side::<1, _>(&problem, &[lane], loss, &limits, 1)[0]
        .convergence
        .objective
}

#[test]
fn primal_and_dual_meet_and_the_gap_says_so() {
    let (values, labels) = generated(500);
    let dense = DenseRows::new(&values, 7).unwrap();
    let sparse = SparseMatrix::from_rows(
        7,
        values
            .chunks(7)
            .map(|row| (0..).zip(row.iter().map(|&value| value as f32)).collect()),
    );
    for loss in LOSSES {
        let dual = match loss {
            SmoothLoss::Logistic => in_the_dual(&sparse, &labels, LogisticLossDual),
            SmoothLoss::SquaredHinge => {
                in_the_dual(&sparse, &labels, HingeLossDual(HingeLoss::SquaredHinge))
            }
        };
        let primal = solve(&dense, &labels, loss, 1.0);
        let end = primal.convergence;
        assert!(end.converged && end.relative_gap <= 1e-9, "{end:?}");
        assert!(
            (end.objective / dual - 1.0).abs() < 3e-6,
            "{loss:?} {end:?} {dual}"
        );
        // Rows of another kind, by the plain loop.
        let other = solve(&sparse, &labels, loss, 1.0);
        assert!((other.convergence.objective / end.objective - 1.0).abs() < 1e-6);
    }
}

#[test]
fn a_free_bias_is_no_worse_and_its_slope_vanishes() {
    let (values, labels) = generated(400);
    let rows = DenseRows::new(&values, 7).unwrap();
    for loss in LOSSES {
        let bound = solve(&rows, &labels, loss, 1.0);
        let free = solve(&rows, &labels, loss, f64::INFINITY);
        let none = solve(&rows, &labels, loss, 0.0);
        assert!(free.convergence.converged && none.bias == 0.0);
        assert!(free.convergence.objective <= bound.convergence.objective);
        assert!(bound.convergence.objective <= none.convergence.objective);
        let slope: f64 = values
            .chunks(7)
            .zip(&labels)
            .map(|(row, &label)| {
                let score: f64 = row.iter().zip(&free.weights).map(|(x, w)| x * w).sum();
                let (sign, cost) = if label { (1.0, 2.0) } else { (-1.0, 0.5) };
                sign * cost * loss.value_and_slope(sign * (score + free.bias)).1
            })
            .sum();
        assert!(slope.abs() < 0.05, "{loss:?} {slope}");
    }
}

#[test]
fn threads_change_no_bit() {
    let (values, labels) = generated(3000);
    let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
    let rows = DenseRows::new(&values, 7).unwrap();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let solved = |loss| solve(&rows, &labels, loss, 1.0);
        pool.unwrap()
            .install(|| LOSSES.map(solved).map(|solution| solution.weights))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn losses_worked_by_hand() {
    let (value, slope) = SmoothLoss::Logistic.value_and_slope(0.0);
    assert!((value - 2f64.ln()).abs() < 1e-15 && slope == -0.5);
    assert_eq!(SmoothLoss::SquaredHinge.value_and_slope(-1.0), (4.0, -4.0));
    assert_eq!(SmoothLoss::SquaredHinge.value_and_slope(1.5), (0.0, 0.0));
    assert_eq!(SmoothLoss::Logistic.value_and_slope(-800.0), (800.0, -1.0));
}
