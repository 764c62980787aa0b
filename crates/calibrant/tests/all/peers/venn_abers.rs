//! Venn-Abers prediction beside the package `venn-abers`.

use calibrant::calibration::{
    CalibrationMethod, Calibrator, CrossVennAbers, HeldOutScores, IntervalCalibrator, VennAbers,
};
use calibrant::numeric::{Random, rising_order, sigmoid};
use serde_json::{Value, json};

use super::data::{check_near, numbers};
use super::python::ask;

const TOLERANCE: f64 = 1e-9;

fn drawn(random: &mut Random, count: usize, lean: f64, rounded: bool) -> HeldOutScores {
    let scores: Vec<f64> = (0..count)
        .map(|_| sigmoid(2.0 * random.normal() + lean))
        .map(|score| {
            if rounded {
                (20.0 * score).round() / 20.0
            } else {
                score
            }
        })
        .collect();
    // Overconfident scores: the truth is nearer to one half.
    let labels = scores
        .iter()
        .map(|score| random.uniform() < 0.1 + 0.8 * score)
        .collect();
    HeldOutScores::assume(scores, labels).unwrap()
}

/// Five in turn over the examples of each label by rising score.
fn folds_in_turn(held_out: &HeldOutScores) -> Vec<usize> {
    let mut seen = [0; 2];
    let mut folds = vec![0; held_out.len()];
    for example in rising_order(held_out.scores()) {
        let example = example as usize;
        let seen = &mut seen[usize::from(held_out.labels()[example])];
        folds[example] = *seen % 5;
        *seen += 1;
    }
    folds
}

/// Asks the package for every set of scores and hands on its answers.
fn ask_for(
    cases: &[HeldOutScores],
    asked: &[f64],
    folds: fn(&HeldOutScores) -> Vec<usize>,
) -> Option<Value> {
    let questions: Vec<Value> = cases
        .iter()
        .map(|held_out| {
            json!({
                "scores": held_out.scores(),
                "labels": held_out.labels(),
                "folds": folds(held_out),
                "asked": asked,
            })
        })
        .collect();
    ask("venn_abers_intervals.py", &json!({"cases": questions}))
}

fn cases() -> (Vec<HeldOutScores>, Vec<f64>) {
    let mut random = Random::from_seed(51);
    let mut cases = Vec::new();
    for (count, lean) in [(40, 0.0), (150, -3.0), (1000, 1.0)] {
        for rounded in [false, true] {
            cases.push(drawn(&mut random, count, lean, rounded));
        }
    }
    (cases, (-20..=220).map(|i| f64::from(i) / 200.0).collect())
}

#[test]
fn scores_get_the_intervals_of_the_package() {
    let (cases, asked) = cases();
    let Some(answers) = ask_for(&cases, &asked, |held_out| vec![0; held_out.len()]) else {
        return;
    };
    for (number, held_out) in cases.iter().enumerate() {
        let calibrator = VennAbers.fit(held_out).unwrap();
        let lower = numbers(&answers[number]["lower"]);
        let upper = numbers(&answers[number]["upper"]);
        let merged = numbers(&answers[number]["merged"]);
        for (place, &score) in asked.iter().enumerate() {
            let (low, high) = calibrator.interval(score);
            let probability = calibrator.probability(score);
            for (end, ours, theirs) in [
                ("lower", low, lower[place]),
                ("upper", high, upper[place]),
                ("merged", probability, merged[place]),
            ] {
                let what = format!("case {number} at {score}, {end}");
                check_near(&what, ours.value(), theirs, TOLERANCE, 1.0);
            }
        }
    }
}

#[test]
fn folds_are_merged_as_the_package_merges_them() {
    let (cases, asked) = cases();
    let Some(answers) = ask_for(&cases, &asked, folds_in_turn) else {
        return;
    };
    for (number, held_out) in cases.iter().enumerate() {
        let folds = folds_in_turn(held_out).into_iter().map(|fold| fold as u8);
        let held_out = held_out.clone().with_folds(folds.collect()).unwrap();
        let calibrator = CrossVennAbers.fit(&held_out).unwrap();
        let merged = numbers(&answers[number]["merged"]);
        for (&score, &theirs) in asked.iter().zip(&merged) {
            let ours = calibrator.probability(score).value();
            let what = format!("case {number} at {score}");
            check_near(&what, ours, theirs, TOLERANCE, 1.0);
        }
    }
}
