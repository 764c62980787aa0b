use proptest::prelude::*;

use super::*;
use crate::numeric::{Random, sigmoid};

/// Documents with old log-odds of classes; truths are drawn after a slope and intercepts.
fn drawn(
    task: Task,
    classes: usize,
    count: usize,
    seed: u64,
    truth: &Recalibration,
) -> MemberForecasts {
    let mut random = Random::from_seed(seed);
    let mut stated = MemberForecasts::new(task, 1, classes);
    let mut buffer = Vec::new();
    for _ in 0..count {
        let weights: Vec<f64> = (0..classes).map(|_| 2.0 * random.normal()).collect();
        let mut old: Vec<Probability> = match task {
            Task::MultiLabel => weights
                .iter()
                .map(|&w| Probability::from_log_odds(w))
                .collect(),
            Task::SingleLabel => {
                let mut against = vec![0.0; classes];
                log_odds_against_rest(&weights, &mut against);
                against
                    .into_iter()
                    .map(Probability::from_log_odds)
                    .collect()
            }
        };
        let kept = old.clone();
        truth.apply(task, &mut buffer, &mut old);
        let labels: Vec<u32> = match task {
            Task::MultiLabel => (0..classes as u32)
                .filter(|&class| random.uniform() < old[class as usize].value())
                .collect(),
            Task::SingleLabel => {
                let mut left = random.uniform();
                let place = old.iter().position(|p| {
                    left -= p.value();
                    left < 0.0
                });
                vec![place.unwrap_or(classes - 1) as u32]
            }
        };
        stated.push(&[&kept], &labels, 1.0).unwrap();
    }
    stated
}

fn line(slope: f64, intercepts: &[f64]) -> Recalibration {
    Recalibration {
        slope,
        intercepts: intercepts.to_vec(),
    }
}

#[test]
fn many_labels_find_the_line_that_made_them() {
    let truth = line(0.6, &[0.8, 0.0, -0.8]);
    for task in [Task::SingleLabel, Task::MultiLabel] {
        let stated = drawn(task, 3, 6_000, 1, &truth);
        let found = Recalibration::fit(&stated, |_| true).unwrap();
        assert!((found.slope() - 0.6).abs() < 0.04, "{found:?}");
        let middle = match task {
            // Only differences matter where classes exclude each other.
            Task::SingleLabel => found.intercepts().iter().sum::<f64>() / 3.0,
            Task::MultiLabel => 0.0,
        };
        for (found, truth) in found.intercepts().iter().zip(truth.intercepts()) {
            assert!((found - middle - truth).abs() < 0.15, "{found} {truth}");
        }
    }
}

#[test] // A few steps of golden-section search in each of the two parameters, by turns.
fn the_fit_has_the_least_penalised_loss() {
    let stated = drawn(Task::MultiLabel, 1, 60, 3, &line(0.5, &[1.0]));
    let value = |slope: f64, intercept: f64| {
        let here = line(slope, &[intercept]);
        let loss: f64 = (0..stated.len()).map(|row| here.loss(&stated, row)).sum();
        loss + 8.0 * (slope - 1.0).powi(2) + 2.0 * intercept.powi(2)
    };
    let found = Recalibration::fit(&stated, |_| true).unwrap();
    let (a, b) = (found.slope(), found.intercepts()[0]);
    let least = value(a, b);
    for (da, db) in [
        (1e-3, 0.0),
        (-1e-3, 0.0),
        (0.0, 1e-3),
        (0.0, -1e-3),
        (1e-3, -1e-3),
    ] {
        assert!(value(a + da, b + db) > least);
    }
}

/// The mean log loss beyond that of the truth: of the old forecasts, and of what is kept after `count` labels.
fn regret(truth: &Recalibration, classes: usize, count: usize, draws: u64) -> (f64, f64, f64) {
    let task = Task::SingleLabel;
    let fresh = drawn(task, classes, 1_000, 1_000, truth);
    let mean = |of: &Recalibration| {
        let losses = (0..fresh.len()).map(|row| of.loss(&fresh, row));
        losses.sum::<f64>() / fresh.len() as f64
    };
    let (old, best) = (mean(&Recalibration::identity(classes)), mean(truth));
    let (mut sum, mut squares) = (0.0, 0.0);
    for seed in 0..draws {
        let stated = drawn(task, classes, count, seed, truth);
        let trial =
            RecalibrationTrial::new(&stated, 5.min(count), |row| row % 5.min(count), |row| row);
        let trial = trial.unwrap();
        let kept = if trial.is_better() {
            mean(&trial.found)
        } else {
            old
        };
        sum += kept - best;
        squares += (kept - best).powi(2);
    }
    let count = draws as f64;
    let mean = sum / count;
    (
        old - best,
        mean,
        ((squares / count - mean * mean).max(0.0) / count).sqrt(),
    )
}

#[test]
fn where_nothing_moved_little_is_lost_and_where_it_did_much_is_won() {
    for (count, most) in [(5, 0.01), (20, 0.01), (100, 0.005), (500, 0.002)] {
        let (_, lost, error) = regret(&Recalibration::identity(3), 3, count, 30);
        assert!(lost < most + 2.0 * error, "{count}: {lost} {error}");
    }
    let shifted = line(0.5, &[1.5, 0.0, -1.5]);
    for (count, share) in [(20, 0.75), (100, 0.3), (500, 0.1)] {
        let (old, left, error) = regret(&shifted, 3, count, 12);
        assert!(left < share * old + 2.0 * error, "{count}: {left} of {old}");
    }
}

#[test]
fn two_corrections_in_a_row_are_one() {
    let (first, second) = (line(0.7, &[0.5, -0.2, 0.0]), line(1.3, &[0.0, 0.4, -1.0]));
    for task in [Task::SingleLabel, Task::MultiLabel] {
        let log_odds = match task {
            Task::SingleLabel => {
                let mut against = vec![0.0; 3];
                log_odds_against_rest(&[0.3, -1.0, 2.0], &mut against);
                against
            }
            Task::MultiLabel => vec![0.3, -1.0, 2.0],
        };
        let mut one: Vec<Probability> = log_odds
            .into_iter()
            .map(Probability::from_log_odds)
            .collect();
        let mut two = one.clone();
        let mut buffer = Vec::new();
        first.apply(task, &mut buffer, &mut one);
        second.apply(task, &mut buffer, &mut one);
        first.then(&second).apply(task, &mut buffer, &mut two);
        for (one, two) in one.iter().zip(&two) {
            assert!((one.log_odds() - two.log_odds()).abs() < 1e-9);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_labels_give_a_sound_correction(
        rows in prop::collection::vec((-800.0f64..800.0, any::<bool>(), 1e-3f64..1e3), 1..40)
    ) {
        let mut stated = MemberForecasts::new(Task::MultiLabel, 1, 1);
        for (log_odds, truth, weight) in rows {
            let labels: &[u32] = if truth { &[0] } else { &[] };
            stated.push(&[&[Probability::from_log_odds(log_odds)]], labels, weight).unwrap();
        }
        let found = Recalibration::fit(&stated, |_| true).unwrap();
        prop_assert!(found.is_sound(1));
        let mut classes = [Probability::from_log_odds(3.0)];
        found.apply(Task::MultiLabel, &mut Vec::new(), &mut classes);
        prop_assert!(classes[0].value().is_finite());
    }

    #[test] // A rising line keeps the order of documents.
    fn order_is_kept(log_odds in prop::collection::vec(-20.0f64..20.0, 2..10)) {
        let line = line(0.5, &[1.0]);
        let mut moved: Vec<f64> = log_odds.iter().map(|&x| {
            let mut p = [Probability::from_log_odds(x)];
            line.apply(Task::MultiLabel, &mut Vec::new(), &mut p);
            sigmoid(p[0].log_odds())
        }).collect();
        let mut order: Vec<usize> = (0..log_odds.len()).collect();
        order.sort_by(|&a, &b| log_odds[a].total_cmp(&log_odds[b]));
        let sorted: Vec<f64> = order.iter().map(|&place| moved[place]).collect();
        moved.sort_by(f64::total_cmp);
        prop_assert_eq!(sorted, moved);
    }
}

#[test]
fn several_forecasters_are_refused() {
    let stated = MemberForecasts::new(Task::MultiLabel, 2, 1);
    assert!(Recalibration::fit(&stated, |_| true).is_err());
}
