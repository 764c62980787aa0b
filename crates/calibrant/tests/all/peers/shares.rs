//! Shares by labels and predictions beside ppi-python's.

use calibrant::decision::{ppi_lambda, ppi_mean};
use calibrant::numeric::Random;
use serde_json::json;

use super::data::{check_near, numbers};
use super::python::ask;

#[test]
fn shares_by_labels_and_predictions_are_those_of_ppi_python() {
    let mut random = Random::from_seed(21);
    let mut cases = Vec::new();
    for (labelled, others) in [(20, 30), (150, 4_000), (600, 500)] {
        for lean in [0.2, 1.0, 3.0] {
            let mut draw = || -> (f64, f64) {
                let label = f64::from(u8::from(random.uniform() < 0.3));
                let log_odds = lean * (2.0 * label - 1.0) + random.normal();
                (label, 1.0 / (1.0 + (-log_odds).exp()))
            };
            let (labels, predictions): (Vec<f64>, Vec<f64>) = (0..labelled).map(|_| draw()).unzip();
            let others: Vec<f64> = (0..others).map(|_| draw().1).collect();
            cases.push((labels, predictions, others));
        }
    }
    let asked = cases.iter().map(|(labels, predictions, others)| {
        json!({"labels": labels, "predictions": predictions, "others": others})
    });
    let Some(answer) = ask("shares.py", &asked.collect()) else {
        return;
    };
    for (number, (labels, predictions, others)) in cases.iter().enumerate() {
        let chosen = ppi_lambda(labels, predictions, others);
        for (place, lambda) in [chosen, 0.0, 0.5, 1.0].into_iter().enumerate() {
            let ours = ppi_mean(labels, predictions, others, lambda);
            let (low, high) = ours.normal_interval(0.95);
            let theirs = numbers(&answer[number][place]);
            for (ours, theirs) in [ours.mean, low, high].into_iter().zip(theirs) {
                check_near(
                    &format!("case {number}, λ = {lambda}"),
                    ours,
                    theirs,
                    1e-9,
                    1.0,
                );
            }
        }
    }
}
