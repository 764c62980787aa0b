use super::*;
use crate::Probability;
use crate::numeric::Random;

/// Labels drawn from log-odds, which a system then states with an error of its own.
fn systems(
    task: Task,
    classes: usize,
    documents: usize,
    noises: &[f64],
    weighted: bool,
) -> Vec<Forecasts> {
    let mut random = Random::from_seed(17);
    let truths: Vec<Vec<f64>> = (0..documents)
        .map(|_| (0..classes).map(|_| 1.5 * random.normal() - 0.5).collect())
        .collect();
    let labels: Vec<Vec<u32>> = truths
        .iter()
        .map(|truth| match task {
            Task::SingleLabel => {
                let draws: Vec<f64> = truth
                    .iter()
                    .map(|value| value - (-random.open_uniform().ln()).ln())
                    .collect();
                let best = (0..classes).max_by(|&a, &b| draws[a].total_cmp(&draws[b]));
                vec![best.unwrap() as u32]
            }
            Task::MultiLabel => (0..classes as u32)
                .filter(|&class| random.uniform() < crate::numeric::sigmoid(truth[class as usize]))
                .collect(),
        })
        .collect();
    let weights: Option<Vec<f64>> =
        weighted.then(|| (0..documents).map(|_| 0.5 + random.uniform()).collect());
    noises
        .iter()
        .map(|noise| {
            let probabilities = truths
                .iter()
                .flat_map(|truth| {
                    let stated: Vec<f64> =
                        truth.iter().map(|v| v + noise * random.normal()).collect();
                    let mut log_odds = stated.clone();
                    if task == Task::SingleLabel {
                        crate::numeric::log_odds_against_rest(&stated, &mut log_odds);
                    }
                    log_odds.into_iter().map(Probability::from_log_odds)
                })
                .collect();
            Forecasts {
                task,
                class_names: (0..classes).map(|class| class.to_string()).collect(),
                probabilities,
                labels: labels.clone().into(),
                weights: weights.clone(),
            }
        })
        .collect()
}

fn named(forecasts: &[Forecasts]) -> Vec<(&'static str, &Forecasts)> {
    ["a", "b", "c", "d"].into_iter().zip(forecasts).collect()
}

#[test]
fn means_are_those_of_the_evaluation() {
    for (task, classes) in [
        (Task::SingleLabel, 2),
        (Task::SingleLabel, 4),
        (Task::MultiLabel, 3),
    ] {
        for weighted in [false, true] {
            let forecasts = systems(task, classes, 400, &[0.3, 1.0], weighted);
            let comparison = compare(&named(&forecasts), &CompareSettings::default()).unwrap();
            assert_eq!(comparison.weighted, weighted);
            for (system, forecasts) in comparison.systems.iter().zip(&forecasts) {
                let evaluation = evaluate(forecasts).unwrap();
                assert!((system.log_loss.mean - evaluation.log_loss).abs() < 1e-12);
                assert!((system.brier.mean - evaluation.brier).abs() < 1e-12);
                if !weighted {
                    assert_eq!(system.errors.sum, evaluation.errors as f64);
                    let sum = evaluation.log_loss * evaluation.decisions as f64;
                    assert!((system.log_loss.sum - sum).abs() < 1e-9);
                }
                if let Some(accuracy) = evaluation.accuracy {
                    assert!((system.errors.mean - (1.0 - accuracy)).abs() < 1e-12);
                }
                assert!(system.auc.is_some_and(|auc| auc > 0.6 && auc < 1.0));
            }
        }
    }
}

#[test]
fn sign_tests_agree_with_counting_decisions_one_by_one() {
    let forecasts = systems(Task::MultiLabel, 3, 200, &[0.2, 0.8], false);
    let comparison = compare(&named(&forecasts), &CompareSettings::default()).unwrap();
    let (mut wins, mut right_alone, mut squared_wins) = (0, [0, 0], 0);
    for document in 0..200 {
        for class in 0..3 {
            let belongs = forecasts[0].labels[document].contains(&class);
            let said = [0, 1].map(|system: usize| {
                forecasts[system].probabilities[document * 3 + class as usize]
            });
            let loss = said.map(|p| p.log_loss(belongs));
            wins += u64::from(loss[0] < loss[1]);
            let squared = said.map(|p| (p.value() - f64::from(u8::from(belongs))).powi(2));
            squared_wins += u64::from(squared[0] < squared[1]);
            let right = said.map(|p| (p.log_odds() > 0.0) == belongs);
            right_alone[0] += u64::from(right[0] && !right[1]);
            right_alone[1] += u64::from(right[1] && !right[0]);
        }
    }
    let pair = &comparison.pairs[0];
    assert_eq!(pair.log_loss.sign, SignTest::of_counts(wins, 600 - wins, 0));
    assert_eq!(pair.brier.sign.wins, squared_wins);
    assert_eq!(pair.mcnemar.only_first_right, right_alone[0]);
    assert_eq!(pair.mcnemar.only_second_right, right_alone[1]);
    assert_eq!(pair.errors.sign.p_value, pair.mcnemar.p_value);
}

#[test]
fn the_clearly_best_is_marked_and_equals_are_not() {
    let mut forecasts = systems(Task::SingleLabel, 3, 2_000, &[0.0, 2.0], false);
    forecasts.push(forecasts[1].clone());
    let comparison = compare(&named(&forecasts), &CompareSettings::default()).unwrap();
    assert_eq!(comparison.pairs.len(), 3);
    let [a, b, c] = &comparison.systems[..] else {
        panic!()
    };
    assert!(a.log_loss.best && a.log_loss.significantly_best);
    assert_eq!(a.log_loss.significantly_better_than, ["b", "c"]);
    for system in [b, c] {
        assert!(!system.log_loss.best && system.log_loss.significantly_better_than.is_empty());
    }
    let equals = &comparison.pairs[2].log_loss;
    assert_eq!((equals.sign.ties, equals.sign.p_value), (2_000, 1.0));
    assert_eq!((equals.difference, equals.wilcoxon.p_value), (0.0, 1.0));
    assert_eq!(equals.bootstrap.unwrap().p_value, 1.0);
    let clear = comparison.pairs[0].log_loss.bootstrap.unwrap();
    assert!(clear.lower < comparison.pairs[0].log_loss.difference && clear.upper < 0.0);
}

#[test] // Closer on nine documents of ten and ruinous on the tenth: wins, but no mark.
fn wins_without_the_better_sum_earn_no_mark() {
    let of = |log_odds: &dyn Fn(usize) -> f64| Forecasts {
        task: Task::MultiLabel,
        class_names: vec!["x".into()],
        probabilities: (0..100)
            .map(|n| Probability::from_log_odds(log_odds(n)))
            .collect(),
        labels: vec![vec![0]; 100].into(),
        weights: None,
    };
    let bold = of(&|n| if n % 10 == 0 { -500.0 } else { 3.0 });
    let careful = of(&|_| 2.0);
    let comparison = compare(
        &[("bold", &bold), ("careful", &careful)],
        &CompareSettings::default(),
    )
    .unwrap();
    let sign = comparison.pairs[0].log_loss.sign;
    assert_eq!((sign.wins, sign.losses), (90, 10));
    assert!(sign.p_value < 0.01);
    assert!(comparison.systems[1].log_loss.best);
    for system in &comparison.systems {
        assert!(!system.log_loss.significantly_best, "{}", system.name);
    }
}

#[test]
fn the_order_of_rows_and_systems_leaves_no_trace() {
    let forecasts = systems(Task::MultiLabel, 3, 300, &[0.2, 0.3], true);
    let one = compare(&named(&forecasts), &CompareSettings::default()).unwrap();
    let turned: Vec<Forecasts> = forecasts
        .iter()
        .map(|forecasts| Forecasts {
            probabilities: forecasts
                .probabilities
                .chunks(3)
                .rev()
                .flatten()
                .copied()
                .collect(),
            labels: forecasts.labels.iter().rev().collect(),
            weights: forecasts
                .weights
                .as_ref()
                .map(|w| w.iter().rev().copied().collect()),
            ..forecasts.clone()
        })
        .collect();
    let other = compare(&named(&turned), &CompareSettings::default()).unwrap();
    assert_eq!(one.pairs[0].log_loss.sign, other.pairs[0].log_loss.sign);
    assert_eq!(one.pairs[0].brier.wilcoxon, other.pairs[0].brier.wilcoxon);
    let (one_draw, other_draw) = (
        one.pairs[0].log_loss.bootstrap,
        other.pairs[0].log_loss.bootstrap,
    );
    assert_eq!(one_draw, other_draw);
    let swapped = [("b", &forecasts[1]), ("a", &forecasts[0])];
    let swapped = compare(&swapped, &CompareSettings::default()).unwrap();
    let (ours, theirs) = (
        one_draw.unwrap(),
        swapped.pairs[0].log_loss.bootstrap.unwrap(),
    );
    assert!((ours.lower + theirs.upper).abs() < 1e-12);
}

#[track_caller]
fn refused(systems: &[(&str, &Forecasts)], settings: CompareSettings, message: &str) {
    let error = compare(systems, &settings)
        .expect_err("must be refused")
        .to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_names() {
    let usual = CompareSettings::default();
    let forecasts = systems(Task::MultiLabel, 2, 20, &[0.2, 0.3], false);
    let [a, b] = &forecasts[..] else { panic!() };
    refused(&[], usual, "at least two");
    refused(&[("a", a)], usual, "at least two");
    refused(&[("a", a), ("a", b)], usual, "`a`");
    let mut other = b.clone();
    other.class_names.swap(0, 1);
    refused(&[("a", a), ("b", &other)], usual, "different classes");
    let mut other = b.clone();
    let turned: &[u32] = match b.labels[3].is_empty() {
        true => &[0],
        false => &[],
    };
    let rows = b.labels.iter().enumerate();
    let rows = rows.map(|(row, own)| if row == 3 { turned } else { own });
    other.labels = rows.collect();
    refused(&[("a", a), ("b", &other)], usual, "different true labels");
    let mut other = b.clone();
    other.weights = Some(vec![1.0; 20]);
    refused(&[("a", a), ("b", &other)], usual, "different weights");
    for (level, confidence, bootstrap, message) in [
        (0.0, 0.95, 10, "level"),
        (f64::NAN, 0.95, 10, "level"),
        (0.01, 1.0, 10, "confidence"),
        (0.01, 0.95, usize::MAX, "resamples"),
    ] {
        let settings = CompareSettings {
            level,
            confidence,
            bootstrap,
            seed: 1,
        };
        refused(&[("a", a), ("b", b)], settings, message);
    }
}

#[test]
fn a_comparison_survives_being_written_down() {
    let forecasts = systems(Task::SingleLabel, 3, 50, &[0.2, 0.3], false);
    let comparison = compare(&named(&forecasts), &CompareSettings::default()).unwrap();
    let text = serde_json::to_string(&comparison).unwrap();
    assert_eq!(
        serde_json::from_str::<Comparison>(&text).unwrap(),
        comparison
    );
}

#[test]
fn certain_and_wrong_forecasts_stay_finite() {
    let of = |log_odds: f64| Forecasts {
        task: Task::MultiLabel,
        class_names: vec!["x".into()],
        probabilities: vec![Probability::from_log_odds(log_odds); 3],
        labels: vec![vec![0]; 3].into(),
        weights: Some(vec![1e300, 1e-300, 0.0]),
    };
    let forecasts = [of(f64::NEG_INFINITY), of(f64::INFINITY)];
    let comparison = compare(&named(&forecasts), &CompareSettings::default()).unwrap();
    let text = serde_json::to_string(&comparison).unwrap();
    assert!(!text.contains("null"), "{text}");
    assert_eq!(comparison.systems[0].auc, None);
}

#[test] // A difference of 0.00003 with a bootstrap p of 0.95 was marked as significant.
fn closer_most_of_the_time_is_no_mark_where_the_mean_may_differ_by_luck() {
    let of = |loss: &dyn Fn(usize) -> f64| Forecasts {
        task: Task::SingleLabel,
        class_names: vec!["no".into(), "yes".into()],
        probabilities: (0..300)
            .flat_map(|row| {
                let p = Probability::from_ln(-loss(row), (-(-loss(row)).exp()).ln_1p());
                [p.complement(), p]
            })
            .collect(),
        labels: vec![vec![1]; 300].into(),
        weights: None,
    };
    // A little closer 270 times, much farther 30 times, and hardly better in sum.
    let usual = of(&|_| 0.6);
    let often = of(&|row| match row % 10 {
        0 => 1.0,
        1 => 0.6 - 0.395,
        _ => 0.6 - 0.001,
    });
    let steady = of(&|_| 0.59);
    let marked = |better: &Forecasts, bootstrap: usize| {
        let settings = CompareSettings {
            bootstrap,
            ..CompareSettings::default()
        };
        let found = compare(&[("usual", &usual), ("other", better)], &settings).unwrap();
        let (sign, best) = (found.pairs[0].log_loss.sign, &found.systems[1].log_loss);
        assert!(sign.p_value < 1e-9 && best.best, "{sign:?} {best:?}");
        best.significantly_best
    };
    assert!(!marked(&often, 1000));
    assert!(marked(&steady, 1000));
    // Without draws nothing says otherwise.
    assert!(marked(&often, 0));
}

/// Every document four times, and the groups of those that are one.
fn four_copies(systems: &[Forecasts]) -> (Vec<Forecasts>, Vec<Option<u64>>) {
    let copied = systems.iter().map(|forecasts| Forecasts {
        probabilities: forecasts.probabilities.repeat(4),
        labels: std::iter::repeat_n(&forecasts.labels, 4)
            .flat_map(crate::RowLabels::iter)
            .collect(),
        ..forecasts.clone()
    });
    let documents = systems[0].labels.len() as u64;
    let groups = (0..4 * documents).map(|row| Some(row % documents));
    (copied.collect(), groups.collect())
}

#[test]
fn groups_are_drawn_in_place_of_documents() {
    let systems = systems(Task::SingleLabel, 3, 200, &[0.2, 1.0], false);
    let (copied, groups) = four_copies(&systems);
    let width = |systems: &[Forecasts], groups: &[Option<u64>]| {
        let named = [("a", &systems[0]), ("b", &systems[1])];
        let comparison = compare_groups(&named, groups, &CompareSettings::default()).unwrap();
        let found = comparison.pairs[0].log_loss.bootstrap.unwrap();
        found.upper - found.lower
    };
    let once = width(&systems, &[]);
    assert!((width(&copied, &groups) / once - 1.0).abs() < 0.1);
    assert!((width(&copied, &[]) / once - 0.5).abs() < 0.1); // By hand: 1/√4.
}

#[test]
fn copies_have_one_vote_in_every_test() {
    for task in [Task::SingleLabel, Task::MultiLabel] {
        let systems = systems(task, 3, 60, &[0.2, 1.0], false);
        let (copied, groups) = four_copies(&systems);
        let of = |systems: &[Forecasts], groups: &[Option<u64>]| {
            let named = [("a", &systems[0]), ("b", &systems[1])];
            let comparison = compare_groups(&named, groups, &CompareSettings::default()).unwrap();
            let pair = &comparison.pairs[0];
            let tests = [&pair.log_loss, &pair.brier, &pair.errors].map(|loss| loss.sign);
            (
                comparison.units,
                tests,
                pair.mcnemar,
                pair.log_loss.wilcoxon,
            )
        };
        let (once, together) = (of(&systems, &[]), of(&copied, &groups));
        assert_eq!(
            (once.0, once.1, once.2),
            (together.0, together.1, together.2)
        );
        // Means of four equal differences may be off in the last place.
        assert!((once.3.ln_p_value - together.3.ln_p_value).abs() < 1e-6);
        let apart = of(&copied, &[]);
        assert_eq!((apart.0, apart.1[0].wins), (240, 4 * once.1[0].wins));
        assert!(apart.1[0].ln_p_value < once.1[0].ln_p_value);
    }
}
