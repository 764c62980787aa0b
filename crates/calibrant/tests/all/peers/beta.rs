//! Beta calibration beside betacal's, and plain logistic regression beside scikit-learn's.

use calibrant::calibration::{
    Beta, BetaKind, CalibrationMethod, Calibrator, HeldOutScores, LogisticCurve, Squash,
};
use calibrant::numeric::Random;
use serde_json::{Value, json};

use super::data::{check_near, numbers};
use super::python::ask;

#[track_caller]
fn check(what: &str, curve: &impl Calibrator, scores: &[f64], theirs: &Value) {
    let theirs = numbers(theirs);
    assert_eq!(theirs.len(), scores.len());
    for (&score, theirs) in scores.iter().zip(theirs) {
        let ours = curve.probability(score).value();
        check_near(&format!("{what} at {score}"), ours, theirs, 1e-6, 1.0);
    }
}

/// Overlapping heaps of log-odds, more spread out on one side.
fn heaps(random: &mut Random, rows: usize, unit: f64, shift: f64) -> (Vec<f64>, Vec<bool>) {
    let labels: Vec<bool> = (0..rows).map(|row| row % 3 == 0).collect();
    let scores = labels
        .iter()
        .map(|&label| {
            let (mean, spread) = if label { (1.0, 1.0) } else { (-1.5, 2.0) };
            unit * (mean + spread * random.normal()) + shift
        })
        .collect();
    (scores, labels)
}

#[test]
fn log_odds_get_the_probabilities_of_betacal() {
    let mut random = Random::from_seed(41);
    let cases: Vec<HeldOutScores> = [
        (300, 1.0, 0.0),
        (3000, 2.0, 1.0),
        (60, 0.5, -1.0),
        (900, -1.0, 0.5),
        (600, 1.0, -4.0),
    ]
    .into_iter()
    .map(|(rows, unit, shift)| {
        let (scores, labels) = heaps(&mut random, rows, unit, shift);
        let weights = scores
            .iter()
            .map(|_| 0.2 + 2.0 * random.uniform())
            .collect();
        HeldOutScores::assume_weighted(scores, labels, weights).unwrap()
    })
    .collect();
    let asked: Vec<Value> = cases
        .iter()
        .map(|held_out| {
            json!({"scores": held_out.scores(), "labels": held_out.labels(), "weights": held_out.weights()})
        })
        .collect();
    let Some(answers) = ask("beta.py", &json!({"cases": asked})) else {
        return;
    };
    for (number, held_out) in cases.iter().enumerate() {
        for (kind, name) in [
            (BetaKind::Abm, "abm"),
            (BetaKind::Ab, "ab"),
            (BetaKind::Am, "am"),
        ] {
            let squash = Squash::AsGiven;
            let curve = Beta { kind, squash }.fit(held_out).unwrap();
            let what = format!("case {number}, {name}");
            let theirs = &answers[number][name];
            check(&what, &curve, held_out.scores(), theirs);
        }
        let curve = LogisticCurve.fit(held_out).unwrap();
        let what = format!("case {number}, the line");
        let theirs = &answers[number]["line"];
        check(&what, &curve, held_out.scores(), theirs);
    }
}
