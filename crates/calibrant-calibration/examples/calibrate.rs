//! Make probabilities of the scores of any classifier, and see what that is worth.
//!
//! `cargo run -p calibrant-calibration --example calibrate`
#![allow(clippy::print_stdout)]

use std::ops::Range;

use calibrant_calibration::calibration::{Calibrator, CalibratorKind, HeldOutScores};
use calibrant_calibration::evaluation::SortedForecasts;
use calibrant_calibration::{CalibrationError, Probability};

/// Scores of a classifier that is twice as sure as it may be, with the truth.
fn examples(numbers: Range<u32>) -> (Vec<f64>, Vec<bool>) {
    // Multiples of irrational numbers are spread evenly, and look like chance.
    let drawn = |number: u32, step: f64| (f64::from(number) * step).fract();
    let example = |number| {
        let score = 8.0 * drawn(number, 5f64.sqrt()) - 4.0;
        let truth = Probability::from_log_odds(score / 2.0);
        (score, drawn(number, 2f64.sqrt()) < truth.value())
    };
    numbers.map(example).unzip()
}

/// The mean log loss of forecasts.
fn measure(name: &str, probabilities: &[Probability], labels: &[bool]) {
    let points = probabilities.iter().zip(labels);
    let points: Vec<_> = points.map(|(&p, &label)| (p, label, 1.0)).collect();
    let forecasts = SortedForecasts::new(&points);
    println!("{name:<12} log loss {:.4}", forecasts.losses().log_loss);
}

fn main() -> Result<(), CalibrationError> {
    // Examples that the classifier did not learn from: on others it looks better than it is.
    let (scores, labels) = examples(0..2000);
    let held_out = HeldOutScores::assume(scores, labels)?;
    // Tries several curves and takes the one that forecasts held-out examples best.
    let curve = CalibratorKind::Auto.fit(&held_out)?;

    let (scores, labels) = examples(2000..4000);
    let stated: Vec<_> = scores
        .iter()
        .map(|&s| Probability::from_log_odds(s))
        .collect();
    let calibrated: Vec<_> = scores.iter().map(|&s| curve.probability(s)).collect();
    measure("as stated", &stated, &labels);
    measure("calibrated", &calibrated, &labels);
    for score in [-2.0, 0.0, 2.0] {
        println!("score {score:>4}: {:.3}", curve.probability(score).value());
    }
    Ok(())
}
