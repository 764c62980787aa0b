use super::*;
use crate::calibration::ThreePiece;
use crate::numeric::{Random, sigmoid};
use proptest::prelude::*;

fn drawn(count: usize, seed: u64, truth: impl Fn(f64) -> f64) -> HeldOutScores {
    let mut random = Random::from_seed(seed);
    let scores: Vec<f64> = (0..count).map(|_| 1.5 * random.normal()).collect();
    let labels = scores
        .iter()
        .map(|&s| random.uniform() < sigmoid(truth(s)))
        .collect();
    HeldOutScores::assume(scores, labels).unwrap()
}

/// The mean loss beyond that of the truth itself, at scores as they are drawn.
fn excess(calibrator: &impl Calibrator, truth: impl Fn(f64) -> f64) -> f64 {
    let mut random = Random::from_seed(77);
    let scores = (0..4000).map(|_| 1.5 * random.normal());
    let losses = scores.map(|s| {
        let p = Probability::from_log_odds(truth(s));
        let stated = calibrator.probability(s);
        p.value() * (p.ln() - stated.ln())
            + p.complement().value() * (p.complement().ln() - stated.complement().ln())
    });
    losses.sum::<f64>() / 4000.0
}

fn curved(s: f64) -> f64 {
    -2.0 + 4.0 * (1.2 * s).tanh() + 0.2 * s
}

#[test]
fn a_curved_truth_is_followed_closer_than_by_lines() {
    let held_out = drawn(20_000, 3, curved);
    let spline = excess(&Spline::default().fit(&held_out).unwrap(), curved);
    let three = excess(&ThreePiece.fit(&held_out).unwrap(), curved);
    let platt = excess(&Platt.fit(&held_out).unwrap(), curved);
    // A curve of five or so parameters costs about 5 / 2n beyond the truth.
    assert!(spline < 6e-4, "{spline}");
    assert!(
        spline < 0.7 * three && three < platt,
        "{spline} {three} {platt}"
    );
}

#[test]
fn a_straight_truth_costs_little_more_than_a_line() {
    let straight = |s: f64| 1.2 * s - 1.0;
    let (mut spline, mut platt) = (0.0, 0.0);
    for seed in 0..10 {
        let held_out = drawn(500, seed, straight);
        spline += excess(&Spline::default().fit(&held_out).unwrap(), straight);
        platt += excess(&Platt.fit(&held_out).unwrap(), straight);
    }
    // By hand: a line costs 2 / 2n = 0.002 an example; three parameters more cost 0.003.
    assert!(spline < 3.0 * platt, "{spline} {platt}");
}

#[test]
fn a_million_examples_are_grouped_without_harm() {
    // The same truth from few groups of many examples and from the examples one by one.
    let held_out = drawn(300_000, 4, curved);
    let spline = excess(&Spline::default().fit(&held_out).unwrap(), curved);
    assert!(spline < 4e-5, "{spline}");
    let scale = Standard::of(&held_out);
    let line = scale.redo(&Platt.fit(&held_out).unwrap());
    let (groups, knots) = summarise(&held_out.rising(), &scale, &line);
    assert!(
        groups.len() <= 513 && groups.len() > 400,
        "{}",
        groups.len()
    );
    assert_eq!(knots.len(), KNOTS);
    let total: f64 = groups.iter().map(|group| group.weight).sum();
    assert!((total - 300_000.0).abs() < 1e-6);
}

#[test]
fn the_curve_rises_where_it_must() {
    for truth in [|s: f64| -s, |s: f64| 1.0 - s * s, |s: f64| (4.0 * s).sin()] {
        for count in [60, 3000] {
            let held_out = drawn(count, 8, truth);
            let curve = Spline::default().fit(&held_out).unwrap();
            let log_odds: Vec<f64> = (-300..300)
                .map(|i| curve.probability(f64::from(i) / 30.0).log_odds())
                .collect();
            assert!(log_odds.is_sorted_by(|a, b| *a <= b + 1e-12));
        }
    }
    // Without the promise it follows the truth.
    let free = Spline { monotone: false };
    let curve = free.fit(&drawn(3000, 8, |s| -s)).unwrap();
    assert!(curve.probability(1.0) < curve.probability(-1.0));
}

#[test]
fn the_unit_of_the_score_does_not_matter() {
    let held_out = drawn(2000, 5, curved);
    let plain = Spline::default().fit(&held_out).unwrap();
    for (unit, shift) in [(50.0, 7.0), (1e-9, 0.0), (1e200, -3e200)] {
        let moved = held_out.scores().iter().map(|s| unit * s + shift).collect();
        let moved = HeldOutScores::assume(moved, held_out.labels().to_vec()).unwrap();
        let moved = Spline::default().fit(&moved).unwrap();
        for s in [-7.0, -0.5, 0.1, 0.9, 4.0] {
            let expected = plain.probability(s).log_odds();
            let found = moved.probability(unit * s + shift).log_odds();
            assert!(
                (expected - found).abs() < 1e-5 * (1.0 + expected.abs()),
                "{expected} {found}"
            );
        }
    }
}

#[test]
fn neither_order_nor_repeats_for_weights_matter() {
    let held_out = drawn(400, 6, curved);
    let curve = Spline::default().fit(&held_out).unwrap();
    let reversed = |list: &[f64]| list.iter().rev().copied().collect::<Vec<f64>>();
    let labels: Vec<bool> = held_out.labels().iter().rev().copied().collect();
    let again = HeldOutScores::assume(reversed(held_out.scores()), labels.clone()).unwrap();
    assert_eq!(Spline::default().fit(&again).unwrap(), curve);

    let twice = HeldOutScores::assume(
        [reversed(held_out.scores()), reversed(held_out.scores())].concat(),
        [labels.clone(), labels.clone()].concat(),
    );
    let weights = vec![2.0; labels.len()];
    let heavy = HeldOutScores::assume_weighted(reversed(held_out.scores()), labels, weights);
    let twice = Spline::default().fit(&twice.unwrap()).unwrap();
    let heavy = Spline::default().fit(&heavy.unwrap()).unwrap();
    for s in [-4.0, -1.0, 0.0, 0.5, 6.0] {
        let (a, b) = (
            twice.probability(s).log_odds(),
            heavy.probability(s).log_odds(),
        );
        assert!((a - b).abs() < 1e-5 * (1.0 + a.abs()), "{a} {b}");
    }
}

#[test]
fn scores_that_say_little_give_a_sensible_curve() {
    let fit = |scores: Vec<f64>, labels: Vec<bool>| {
        Spline::default().fit(&HeldOutScores::assume(scores, labels).unwrap())
    };
    // All equal: near the share of positives, and flat.
    let curve = fit(vec![3.0; 40], (0..40).map(|i| i % 4 == 0).collect()).unwrap();
    assert!((curve.probability(3.0).value() - 0.25).abs() < 0.05);
    // Two values: each near its own share.
    let scores = (0..400).map(|i| f64::from(i % 2)).collect();
    let labels = (0..400)
        .map(|i| if i % 2 == 0 { i % 10 == 0 } else { i % 10 < 8 })
        .collect();
    let curve = fit(scores, labels).unwrap();
    assert!(
        (curve.probability(0.0).value() - 0.2).abs() < 0.02,
        "{curve:?}"
    );
    assert!(
        (curve.probability(1.0).value() - 0.8).abs() < 0.02,
        "{curve:?}"
    );
    // One positive, on top.
    let curve = fit(
        (0..50).map(f64::from).collect(),
        (0..50).map(|i| i == 49).collect(),
    )
    .unwrap();
    assert!(curve.probability(49.0) > curve.probability(10.0));
    // Separated.
    let curve = fit(
        (0..50).map(f64::from).collect(),
        (0..50).map(|i| i >= 25).collect(),
    )
    .unwrap();
    let (low, high) = (
        curve.probability(0.0).value(),
        curve.probability(49.0).value(),
    );
    assert!(
        low < 0.1 && low > 1e-9 && high > 0.9 && high < 1.0 - 1e-9,
        "{low} {high}"
    );
    assert!(matches!(
        fit(vec![1.0, 2.0], vec![true; 2]),
        Err(CalibrationError::TooFewExamples { .. })
    ));
}

#[test]
fn a_file_cannot_hold_a_curve_that_is_none() {
    for bad in [
        r#"{"knots":[],"values":[],"slopes":[]}"#,
        r#"{"knots":[1.0,1.0],"values":[0.0,0.0],"slopes":[0.0,0.0]}"#,
        r#"{"knots":[2.0,1.0],"values":[0.0,0.0],"slopes":[0.0,0.0]}"#,
        r#"{"knots":[1.0],"values":[0.0,0.0],"slopes":[0.0]}"#,
        r#"{"knots":[1.0],"values":[0.0],"slopes":[]}"#,
        r#"{"knots":[1.0],"values":[null],"slopes":[0.0]}"#,
        r#"{"knots":[1.0],"values":[0.0],"slopes":[1e999]}"#,
        r#"{"knots":[1.0],"values":[0.0],"slopes":[0.0],"more":1}"#,
    ] {
        assert!(
            serde_json::from_str::<SplineCalibrator>(bad).is_err(),
            "{bad}"
        );
    }
    assert!(SplineCalibrator::new(vec![0.0], vec![f64::NAN], vec![0.0]).is_err());
}

fn any_score() -> impl Strategy<Value = f64> {
    prop_oneof![
        -1e308f64..1e308,
        -1.0f64..1.0,
        -1e-300f64..1e-300,
        (-3i8..3).prop_map(f64::from),
    ]
}

proptest! {
    #[test]
    fn any_scores_give_a_curve_that_can_be_kept(
        examples in prop::collection::vec((any_score(), any::<bool>(), 0.01f64..100.0), 2..60),
        monotone in any::<bool>(),
        asked in prop::collection::vec(any_score(), 20),
    ) {
        let labels: Vec<bool> = examples.iter().map(|example| example.1).collect();
        prop_assume!(labels.contains(&true) && labels.contains(&false));
        let held_out = HeldOutScores::assume_weighted(
            examples.iter().map(|example| example.0).collect(),
            labels,
            examples.iter().map(|example| example.2).collect(),
        ).unwrap();
        let curve = Spline { monotone }.fit(&held_out).unwrap();
        let json = serde_json::to_string(&curve).unwrap();
        prop_assert_eq!(&serde_json::from_str::<SplineCalibrator>(&json).unwrap(), &curve);
        let mut asked = asked;
        asked.sort_by(f64::total_cmp);
        let log_odds: Vec<f64> = asked.iter().map(|&s| curve.probability(s).log_odds()).collect();
        prop_assert!(log_odds.iter().all(|z| z.is_finite()));
        if monotone {
            prop_assert!(log_odds.is_sorted_by(|a, b| *a <= b + 1e-9 * (1.0 + a.abs())), "{:?}", log_odds);
        }
    }
}
