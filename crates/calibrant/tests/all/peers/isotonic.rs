//! Isotonic regression beside scikit-learn's.

use calibrant::calibration::{CalibrationMethod, Calibrator, HeldOutScores, Isotonic};
use calibrant::numeric::{Random, sigmoid};
use serde_json::{Value, json};

use super::data::{check_near, numbers};
use super::python::ask;

const TOLERANCE: f64 = 1e-6;

/// Scores that labels lean to; rounded ones are tied.
fn drawn(
    random: &mut Random,
    count: usize,
    lean: f64,
    rounded: bool,
    weighted: bool,
) -> HeldOutScores {
    let scores: Vec<f64> = (0..count)
        .map(|_| 3.0 * random.normal())
        .map(|score| if rounded { score.round() } else { score })
        .collect();
    let labels = scores
        .iter()
        .map(|score| random.uniform() < sigmoid(score + lean))
        .collect();
    let weights = (0..count)
        .map(|_| {
            if weighted {
                0.2 + 2.0 * random.uniform()
            } else {
                1.0
            }
        })
        .collect();
    HeldOutScores::assume_weighted(scores, labels, weights).unwrap()
}

#[test]
fn scores_get_the_probabilities_of_scikit_learn_but_for_zero_and_one() {
    let mut random = Random::from_seed(41);
    let mut cases = Vec::new();
    for (count, lean) in [(10, 0.0), (60, 0.5), (300, -4.0), (3000, 1.0)] {
        for (rounded, weighted) in [(false, false), (true, false), (false, true), (true, true)] {
            let held_out = drawn(&mut random, count, lean, rounded, weighted);
            let mut asked = held_out.scores().to_vec();
            asked.extend((-200..200).map(|i| f64::from(i) / 10.0));
            cases.push((held_out, asked));
        }
    }
    let questions: Vec<Value> = cases
        .iter()
        .map(|(held_out, asked)| {
            json!({
                "scores": held_out.scores(),
                "labels": held_out.labels(),
                "weights": held_out.weights(),
                "asked": asked,
            })
        })
        .collect();
    let Some(answers) = ask("isotonic.py", &json!({"cases": questions})) else {
        return;
    };
    for (number, (held_out, asked)) in cases.iter().enumerate() {
        let curve = Isotonic.fit(held_out).unwrap();
        let theirs = numbers(&answers[number]);
        assert_eq!(theirs.len(), asked.len());
        // Ours is theirs, but kept off zero and one where theirs gets there.
        let floor = curve.probability(f64::NEG_INFINITY).value();
        let ceiling = curve.probability(f64::INFINITY).value();
        let mut inside = 0;
        for (&score, theirs) in asked.iter().zip(theirs) {
            let what = format!("case {number} at {score}");
            let expected = theirs.clamp(floor, ceiling);
            inside += usize::from(theirs == expected);
            let ours = curve.probability(score).value();
            check_near(&what, ours, expected, TOLERANCE, 1.0);
        }
        assert!(inside > 0);
    }
}
