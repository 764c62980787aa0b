use super::*;
use crate::features::Csr;
use crate::progress::EndsAfter;
use crate::solvers::{BorrowedRows, HingeLoss, HingeLossDual, LogisticLossDual};

fn random_rows(seed: u64, labels: &[bool]) -> SparseMatrix {
    let mut random = Random::from_seed(seed);
    let row = |label: bool| {
        let mut entries = Vec::new();
        for column in 0..30 {
            let lean = if label && column < 5 { 0.4 } else { 0.1 };
            if random.uniform() < lean {
                entries.push((column, random.uniform() as f32 + 0.1));
            }
        }
        entries
    };
    SparseMatrix::from_rows(30, labels.iter().copied().map(row))
}

fn random_labels(seed: u64) -> Vec<bool> {
    let mut random = Random::from_seed(seed);
    (0..120).map(|_| random.uniform() < 0.3).collect()
}

const TIGHT: SolverLimits = SolverLimits {
    relative_gap: 1e-6,
    max_passes: 20_000,
};

fn check_warm_starts_and_lanes(loss: impl DualLoss) {
    for seed in 0..3 {
        let labels: Vec<Vec<bool>> = (0..4).map(|lane| random_labels(seed * 10 + lane)).collect();
        let rows = random_rows(seed, &labels[0]);
        let squared_norms: Vec<f64> = rows.rows().map(|row| row.squared_norm()).collect();
        let weights: Vec<f64> = (0..120).map(|row| 0.5 + f64::from(row % 3)).collect();
        let some: Vec<u32> = (0..120).filter(|row| row % 5 != 0).collect();
        let whole = LinearProblem {
            rows: &rows,
            squared_norms: &squared_norms,
            weights: &weights,
            members: Members::All,
            constant: 1.0,
        };
        let part = LinearProblem {
            members: Members::Listed(&some),
            ..whole
        };
        let asked: Vec<_> = labels
            .iter()
            .map(|labels| |row: usize| labels[row])
            .collect();
        let cold: Vec<Lane<'_>> = asked
            .iter()
            .map(|labels| Lane {
                labels,
                costs: (1.0, 0.7),
                start: None,
                keeps_duals: true,
            })
            .collect();
        let full = solve_side_by_side::<4, _>(&whole, &cold, loss, &TIGHT, seed);
        let warm: Vec<Lane<'_>> = cold
            .iter()
            .zip(&full)
            .map(|(lane, full)| Lane {
                start: Some(&full.duals),
                ..*lane
            })
            .collect();
        let warm_ends = solve_side_by_side::<4, _>(&part, &warm, loss, &TIGHT, seed);
        for (lane, warm_end) in cold.iter().zip(&warm_ends) {
            let [alone] = solve_side_by_side::<1, _>(&part, &[*lane], loss, &TIGHT, seed + 1)
                .try_into()
                .unwrap();
            assert!(warm_end.convergence.converged && alone.convergence.converged);
            let ratio = warm_end.convergence.objective / alone.convergence.objective;
            assert!((ratio - 1.0).abs() < 3e-6, "{ratio}");
        }
    }
}

#[test]
fn warm_or_cold_alone_or_side_by_side_the_objective_is_the_same() {
    check_warm_starts_and_lanes(HingeLossDual(HingeLoss::Hinge));
    check_warm_starts_and_lanes(HingeLossDual(HingeLoss::SquaredHinge));
    check_warm_starts_and_lanes(LogisticLossDual);
}

#[test]
fn giving_up_is_said() {
    let labels = random_labels(3);
    let rows = random_rows(3, &labels);
    let squared_norms: Vec<f64> = rows.rows().map(|row| row.squared_norm()).collect();
    let weights = [1.0; 120];
    let problem = LinearProblem {
        rows: &rows,
        squared_norms: &squared_norms,
        weights: &weights,
        members: Members::All,
        constant: 1.0,
    };
    let lane = Lane {
        labels: &|row| labels[row],
        costs: (100.0, 100.0),
        start: None,
        keeps_duals: false,
    };
    let limits = SolverLimits {
        relative_gap: 1e-9,
        max_passes: 2,
    };
    let solved = solve_side_by_side::<1, _>(
        &problem,
        &[lane],
        HingeLossDual(HingeLoss::Hinge),
        &limits,
        1,
    );
    let end = solved[0].convergence;
    assert!(!end.converged && end.passes == 2 && end.relative_gap > 1e-9);
    // Asked before each pass, and told no before the second.
    let loss = HingeLossDual(HingeLoss::Hinge);
    let ended = EndsAfter::questions(1);
    let ended = solve_while_wanted::<1, _>(&problem, &[lane], loss, &limits, 1, &ended);
    assert_eq!(ended.err(), Some(Cancelled));
}

#[test] // Borrowed rows have rules and steps of their own; here their columns fall, and the first comes twice, half each time.
fn borrowed_rows_come_to_the_same_objective() {
    for seed in 0..6 {
        let labels = random_labels(seed);
        let rows = random_rows(seed, &labels);
        let (mut starts, mut columns, mut values) = (vec![0i32], Vec::new(), Vec::new());
        for row in rows.rows() {
            for (column, value) in row.entries().collect::<Vec<_>>().into_iter().rev() {
                let times = if column < 6 { 2 } else { 1 };
                columns.extend(vec![column as i32; times]);
                values.extend(vec![value / times as f64; times]);
            }
            starts.push(columns.len() as i32);
        }
        let csr = Csr::new(&starts, &columns, &values).unwrap();
        let borrowed = BorrowedRows::new(&csr);
        let squared_norms: Vec<f64> = rows.rows().map(|row| row.squared_norm()).collect();
        for (own, other) in borrowed.norms().iter().zip(&squared_norms) {
            assert!((own - other).abs() < 1e-9 * (1.0 + other));
        }
        for (loss, cost) in [
            (HingeLoss::Hinge, 1.0),
            (HingeLoss::Hinge, 30.0),
            (HingeLoss::SquaredHinge, 3.0),
        ] {
            let lane = Lane {
                labels: &|row| labels[row],
                costs: (cost, 0.7 * cost),
                start: None,
                keeps_duals: false,
            };
            let folds: Vec<u8> = (0..120).map(|row| u8::from(row % 5 == 0)).collect();
            let members = Members::Outside {
                folds: &folds,
                fold: 1,
            };
            let ours = LinearProblem {
                rows: &rows,
                squared_norms: &squared_norms,
                weights: &[],
                members,
                constant: 1.0,
            };
            let theirs = LinearProblem {
                rows: &borrowed,
                squared_norms: &[],
                weights: &[],
                members,
                constant: 1.0,
            };
            let loss = HingeLossDual(loss);
            let ours = solve_side_by_side::<1, _>(&ours, &[lane], loss, &TIGHT, seed);
            let theirs = solve_side_by_side::<1, _>(&theirs, &[lane], loss, &TIGHT, seed);
            let (ours, theirs) = (ours[0].convergence, theirs[0].convergence);
            assert!(ours.converged && theirs.converged);
            assert!(
                (ours.objective / theirs.objective - 1.0).abs() < 3e-6,
                "{ours:?} {theirs:?}"
            );
        }
    }
}
