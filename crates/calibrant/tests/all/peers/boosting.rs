//! Discrete AdaBoost beside scikit-learn's.

use calibrant::features::SparseMatrix;
use calibrant::numeric::Random;
use calibrant::scorers::{AdaBoost, AdaBoostModel, BoostingKind, SavedScorer};
use serde_json::{Value, json};

use super::data::{check_near, fit_one_class, numbers, rows_as_json};
use super::python::ask;

struct Case {
    rows: SparseMatrix,
    labels: Vec<bool>,
    weights: Vec<f64>,
    rounds: usize,
}

/// Continuous and sparse columns with weights that are no round numbers: no two stumps are equally good.
fn made_up(seed: u64, row_count: usize, columns: u32, noise: f64, rounds: usize) -> Case {
    let mut random = Random::from_seed(seed);
    // The first two rows are one of each kind.
    let labels: Vec<bool> = (0..row_count)
        .map(|row| row == 0 || (row > 1 && random.below(3) == 0))
        .collect();
    let rows = labels.iter().map(|&label| {
        let lean = if label { 1.0 } else { -1.0 };
        let mut row = Vec::new();
        for column in 0..columns {
            // The later columns have more zeros and say less.
            if random.uniform() < 1.0 - 0.13 * f64::from(column) {
                let strength = 1.0 / (1.0 + f64::from(column));
                row.push((column, (lean * strength + noise * random.normal()) as f32));
            }
        }
        row
    });
    let rows = SparseMatrix::from_rows(columns as usize, rows.collect::<Vec<_>>());
    let weights = labels.iter().map(|_| 0.5 + random.uniform()).collect();
    Case {
        rows,
        labels,
        weights,
        rounds,
    }
}

impl Case {
    fn fit(&self) -> AdaBoostModel {
        let learner = AdaBoost {
            kind: BoostingKind::Discrete,
            rounds: self.rounds,
        };
        match fit_one_class(&learner, &self.rows, &self.labels, &self.weights).scorer {
            SavedScorer::Stumps(scorer) => scorer.models()[0].clone(),
            other => panic!("stumps, not {other:?}"),
        }
    }
}

/// Whether a committee is theirs, stump for stump; what is wrong otherwise. Members with one
/// answer for all rows are found in the bias.
fn compare(ours: &AdaBoostModel, theirs: &[Value]) -> Result<(), String> {
    let mut stumps = ours.stumps().iter();
    let mut bias = 0.0;
    for (round, their) in theirs.iter().enumerate() {
        let number = |name: &str| their[name].as_f64();
        let Some(threshold) = number("threshold") else {
            bias += number("above").unwrap();
            continue;
        };
        let our = stumps
            .next()
            .ok_or_else(|| format!("round {round}: {their}, ours none"))?;
        let near = |ours: f64, name: &str| (ours - number(name).unwrap()).abs() <= 1e-9;
        let same = Some(u64::from(our.column)) == their["column"].as_u64()
            && (our.threshold - threshold).abs() <= 1e-12
            && near(our.below, "below")
            && near(our.above, "above");
        if !same {
            return Err(format!("round {round}: ours {our:?}, theirs {their}"));
        }
    }
    if stumps.len() > 0 || (bias - ours.bias()).abs() > 1e-9 {
        return Err(format!("{} stumps left, bias {bias}", stumps.len()));
    }
    Ok(())
}

fn answers(cases: &[Case]) -> Option<Vec<Value>> {
    let asked: Vec<Value> = cases
        .iter()
        .map(|case| {
            json!({
                "rows": rows_as_json(&case.rows), "labels": case.labels, "weights": case.weights,
                "rounds": case.rounds,
            })
        })
        .collect();
    let answers = ask("boosting.py", &json!({ "cases": asked }))?;
    answers.as_array().cloned()
}

#[test]
fn stumps_and_scores_are_those_of_scikit_learns_adaboost_over_stumps_of_least_error() {
    let cases: Vec<Case> = (0..15)
        .map(|seed| {
            let noise = [0.8, 1.2, 2.0][seed as usize % 3];
            made_up(seed, 40 + 5 * seed as usize, 6, noise, 12)
        })
        .collect();
    let Some(answers) = answers(&cases) else {
        return;
    };
    for (number, (case, answer)) in cases.iter().zip(&answers).enumerate() {
        let ours = case.fit();
        let theirs = answer["least_error"].as_array().unwrap();
        if let Err(difference) = compare(&ours, theirs) {
            panic!("case {number}: {difference}");
        }
        // Theirs counts a vote for the one class and against the other, so twice, with weights
        // that are twice ours, and divides by their sum.
        let weight_sum = answer["weight_sum"].as_f64().unwrap();
        for (row, their) in numbers(&answer["scores"]).into_iter().enumerate() {
            let score = 4.0 * ours.score(case.rows.row(row)) / weight_sum;
            let what = format!("case {number}, row {row}");
            check_near(&what, score, their, 1e-9, 1.0);
        }
    }
}

#[test]
fn where_a_tree_splits_by_least_error_the_committee_is_scikit_learns_own() {
    let cases: Vec<Case> = (100..130)
        .map(|seed| made_up(seed, 18, 2, 1.2, 5))
        .collect();
    let Some(answers) = answers(&cases) else {
        return;
    };
    let mut same_splits = 0;
    for (number, (case, answer)) in cases.iter().zip(&answers).enumerate() {
        // Trees split by impurity, which is not always least where the error is. A stump without error
        // ends both committees, but there they give it the weight one.
        let trees = answer["trees"].as_array().unwrap();
        if answer["trees"] == answer["least_error"] && trees.len() == case.rounds {
            same_splits += 1;
            if let Err(difference) = compare(&case.fit(), trees) {
                panic!("case {number}: {difference}");
            }
        }
    }
    assert!(same_splits >= 3, "{same_splits} of {}", cases.len());
}
