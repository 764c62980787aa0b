use proptest::prelude::*;

use super::*;
use crate::NoProgress;
use crate::features::{Csr, DenseRows};
use crate::numeric::Random;
use crate::scorers::{HingeLoss, LinearSvm, LogisticRegression, SolverLimits};

const COLUMNS: usize = 6;

/// Dense rows of three classes, with zeros among them.
struct Generated {
    values: Vec<f64>,
    classes: Vec<u32>,
}

impl Generated {
    fn new(seed: u64, row_count: usize, class_count: u32) -> Self {
        let mut random = Random::from_seed(seed);
        let (mut values, mut classes) = (Vec::new(), Vec::new());
        for row in 0..row_count {
            let class = row as u32 % class_count;
            classes.push(class);
            for column in 0..COLUMNS {
                let lean = if column == class as usize { 1.0 } else { 0.0 };
                let value = lean + random.normal();
                // A single number that both kinds of values hold exactly.
                let value = f64::from(value as f32);
                values.push(if random.uniform() < 0.4 { 0.0 } else { value });
            }
        }
        Self { values, classes }
    }

    fn sparse(&self) -> (Vec<i32>, Vec<i64>, Vec<f64>) {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in self.values.chunks(COLUMNS) {
            for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                columns.push(column as i64);
                values.push(value);
            }
            starts.push(columns.len() as i32);
        }
        (starts, columns, values)
    }
}

fn learners() -> [Classifier; 3] {
    let limits = SolverLimits {
        relative_gap: 1e-7,
        max_passes: 20_000,
    };
    let svm = |loss| LinearSvm {
        c: Some(0.7),
        loss,
        limits,
        ..LinearSvm::default()
    };
    let logistic = LogisticRegression {
        c: Some(0.7),
        limits,
        seed: 0,
    };
    [
        Classifier::LinearSvm(svm(HingeLoss::Hinge)),
        Classifier::LinearSvm(svm(HingeLoss::SquaredHinge)),
        Classifier::LogisticRegression(logistic),
    ]
}

fn solve(
    rows: &dyn RowSource,
    classes: &[u32],
    weights: Option<&[f64]>,
    classifier: Classifier,
) -> LinearSolution {
    let settings = SolveSettings {
        classifier,
        ..SolveSettings::default()
    };
    let solved = solve_rows(rows, classes, weights, &settings, &NoProgress).unwrap();
    assert!(
        solved.convergence.iter().all(|end| end.converged),
        "{:?}",
        solved.convergence
    );
    solved
}

#[track_caller]
fn check_same(one: &LinearSolution, other: &LinearSolution) {
    assert_eq!(one.coefficients.len(), other.coefficients.len());
    for (a, b) in one.convergence.iter().zip(&other.convergence) {
        assert!(
            (a.objective / b.objective - 1.0).abs() < 1e-6,
            "{a:?} {b:?}"
        );
    }
    let all = |solution: &LinearSolution| {
        let intercepts = solution.intercepts.clone();
        [solution.coefficients.clone(), intercepts].concat()
    };
    for (a, b) in all(one).iter().zip(all(other)) {
        assert!((a - b).abs() < 0.02, "{a} {b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn dense_rows_and_the_same_sparse_ones_have_one_solution(seed in 0u64..1000, classes in 2u32..4) {
        let generated = Generated::new(seed, 90, classes);
        let single: Vec<f32> = generated.values.iter().map(|&value| value as f32).collect();
        let (starts, columns, values) = generated.sparse();
        let sparse = Csr::new(&starts, &columns, &values).unwrap();
        let dense = DenseRows::new(&single, COLUMNS).unwrap();
        let double = DenseRows::new(&generated.values, COLUMNS).unwrap();
        for learner in learners() {
            let of_sparse = solve(&sparse, &generated.classes, None, learner);
            check_same(&of_sparse, &solve(&dense, &generated.classes, None, learner));
            check_same(&of_sparse, &solve(&double, &generated.classes, None, learner));
        }
    }

    #[test]
    fn a_weight_of_two_is_the_row_twice_and_none_is_none(seed in 0u64..1000) {
        let generated = Generated::new(seed, 60, 2);
        let dense = DenseRows::new(&generated.values, COLUMNS).unwrap();
        let (starts, columns, values) = generated.sparse();
        let sparse = Csr::new(&starts, &columns, &values).unwrap();
        let weights: Vec<f64> = (0..60).map(|row| f64::from(row % 3)).collect();
        // The rows in another order, each as often as it weighs.
        let copies = (0..60usize).rev().flat_map(|row| vec![row; row % 3]);
        let copies: Vec<usize> = copies.collect();
        let row = |&row: &usize| generated.values[row * COLUMNS..][..COLUMNS].to_vec();
        let written_out: Vec<f64> = copies.iter().flat_map(row).collect();
        let classes: Vec<u32> = copies.iter().map(|&row| generated.classes[row]).collect();
        let written_out = DenseRows::new(&written_out, COLUMNS).unwrap();
        for learner in learners() {
            let expected = solve(&written_out, &classes, None, learner);
            for rows in [&dense as &dyn RowSource, &sparse] {
                let found = solve(rows, &generated.classes, Some(&weights), learner);
                check_same(&found, &expected);
            }
        }
    }
}

#[test]
fn columns_in_any_order_and_twice_are_added_up() {
    // By hand: the first row is (1 + 2, 4), whichever way it is written.
    let rows = Csr::new(&[0, 3, 4], &[1, 0, 0], &[4.0, 1.0, 2.0]);
    assert!(rows.is_err(), "the last row ends beyond the entries");
    let rows = Csr::new(&[0, 3, 3], &[1, 0, 0], &[4.0, 1.0, 2.0]).unwrap();
    assert_eq!(rows.squared_norm(0), 25.0);
    assert_eq!(rows.dot(0, &[10.0, 1.0]), 34.0);
    assert_eq!(rows.dot(0, &[10.0]), 30.0);
    assert_eq!((rows.column_count(), rows.entry_count()), (2, 3));
    let mut sums = [[0.0; 4]; 2];
    rows.add_lanes(0, [1.0, 0.0, 2.0, 0.0], &mut sums);
    assert_eq!(sums, [[3.0, 0.0, 6.0, 0.0], [4.0, 0.0, 8.0, 0.0]]);
    assert_eq!(rows.dot_lanes(0, &sums), [25.0, 0.0, 50.0, 0.0]);
}

#[test]
fn what_cannot_be_solved_is_said() {
    let settings = SolveSettings::default();
    let solve = |values: &[f64], classes: &[u32], weights: Option<&[f64]>| {
        let dense = DenseRows::new(values, 1).unwrap();
        let starts: Vec<i32> = (0..=values.len() as i32).collect();
        let columns = vec![0i32; values.len()];
        let sparse = Csr::new(&starts, &columns, values).unwrap();
        let [a, b] = [&dense as &dyn RowSource, &sparse].map(|rows| {
            solve_rows(rows, classes, weights, &settings, &NoProgress)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        });
        assert_eq!(a, b);
        a
    };
    let nan = solve(&[1.0, f64::NAN], &[0, 1], None);
    assert!(nan.contains("row 1, column 0"), "{nan}");
    assert!(solve(&[1.0, f64::INFINITY], &[0, 1], None).contains("row 1, column 0"));
    assert!(!solve(&[1.0, 2.0], &[0, 1], Some(&[1.0, -1.0])).is_empty());
    assert!(!solve(&[1.0, 2.0], &[0], None).is_empty());
    assert!(!solve(&[1.0, 2.0], &[0, 0], None).is_empty());
    assert!(!solve(&[], &[], None).is_empty());
}
