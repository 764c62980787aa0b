//! Temperature scaling beside scikit-learn's.

use calibrant::Probability;
use calibrant::calibration::{
    ClassBuffers, HeldOutClassScores, SavedMulticlassCalibrator, Temperature,
};
use calibrant::numeric::Random;
use serde_json::{Value, json};

use super::data::{check_near, numbers};
use super::python::ask;

/// Theirs searches by values alone, which leaves about this much open.
const TOLERANCE: f64 = 1e-6;

/// Scores that lean to the right class, by more or less.
fn made_up(
    random: &mut Random,
    examples: usize,
    class_count: usize,
    lean: f64,
    unit: f64,
) -> HeldOutClassScores {
    let labels: Vec<u32> = (0..examples)
        .map(|_| random.below(class_count) as u32)
        .collect();
    let mut scores = Vec::new();
    for &label in &labels {
        for class in 0..class_count as u32 {
            let right = if class == label { lean } else { 0.0 };
            scores.push(unit * (random.normal() + right));
        }
    }
    let weights = labels.iter().map(|_| 0.1 + random.uniform()).collect();
    HeldOutClassScores::assume_weighted(scores, class_count, labels, weights).unwrap()
}

#[test]
fn made_up_scores_get_the_factor_and_the_probabilities_of_scikit_learn() {
    let mut random = Random::from_seed(41);
    let mut cases = Vec::new();
    for class_count in [2, 3, 20] {
        for (lean, unit) in [(0.3, 1.0), (1.5, 0.02), (3.0, 10.0)] {
            cases.push(made_up(&mut random, 400, class_count, lean, unit));
        }
    }
    let asked: Vec<Value> = cases
        .iter()
        .map(|case| {
            json!({
                "scores": case.scores(), "class_count": case.class_count(),
                "labels": case.labels(), "weights": case.weights(),
            })
        })
        .collect();
    let Some(answers) = ask("temperature.py", &json!({"cases": asked})) else {
        return;
    };
    for (number, case) in cases.iter().enumerate() {
        let calibrator = Temperature.fit(case).unwrap();
        let theirs = answers[number]["inverse_temperature"].as_f64().unwrap();
        let ours = calibrator.inverse_temperature();
        check_near(
            &format!("factor {number}"),
            ours / theirs,
            1.0,
            TOLERANCE,
            1.0,
        );
        let calibrator = SavedMulticlassCalibrator::Temperature(calibrator);
        let theirs = numbers(&answers[number]["probabilities"]);
        assert_eq!(theirs.len(), case.scores().len());
        let mut buffer = ClassBuffers::default();
        let mut said = vec![Probability::from_log_odds(0.0); case.class_count()];
        for (row, theirs) in theirs.chunks_exact(case.class_count()).enumerate() {
            calibrator.probabilities_into(case.row(row), &mut buffer, &mut said);
            for (ours, &theirs) in said.iter().zip(theirs) {
                check_near(
                    &format!("{number}, {row}"),
                    ours.value(),
                    theirs,
                    TOLERANCE,
                    1.0,
                );
            }
        }
    }
}
