//! Platt's curve beside scikit-learn's.

use calibrant::calibration::{CalibrationMethod, Calibrator, HeldOutScores, Platt};
use calibrant::corpus::Folds;
use calibrant::features::SparseMatrix;
use calibrant::numeric::Random;
use calibrant::problem::{ClassFactors, ClassLabels, Targets};
use calibrant::scorers::{ClassLearner, LinearSvm, NaiveBayes};
use serde_json::{Value, json};

use super::data::{check_near, counts_of, log_tf_idf, numbers, reuters};
use super::python::ask;

/// Theirs stops when a gradient of about one per row is below 1e-6; ours goes on to the end.
const TOLERANCE: f64 = 1e-6;

#[track_caller]
fn check(cases: &[(&str, HeldOutScores)]) {
    let asked: Vec<Value> = cases
        .iter()
        .map(|(_, held_out)| {
            json!({"scores": held_out.scores(), "labels": held_out.labels(), "weights": held_out.weights()})
        })
        .collect();
    let Some(answers) = ask("platt.py", &json!({"cases": asked})) else {
        return;
    };
    for (number, (what, held_out)) in cases.iter().enumerate() {
        let curve = Platt.fit(held_out).unwrap();
        let theirs = numbers(&answers[number]);
        assert_eq!(theirs.len(), held_out.len());
        for (&score, theirs) in held_out.scores().iter().zip(theirs) {
            let ours = curve.probability(score).value();
            check_near(&format!("{what} at {score}"), ours, theirs, TOLERANCE, 1.0);
        }
    }
}

/// Two overlapping heaps of scores.
fn heaps(
    random: &mut Random,
    positives: usize,
    negatives: usize,
    unit: f64,
) -> (Vec<f64>, Vec<bool>) {
    let labels: Vec<bool> = (0..positives + negatives)
        .map(|row| row < positives)
        .collect();
    let scores = labels
        .iter()
        .map(|&label| unit * (1.5 * random.normal() + if label { 1.0 } else { -1.0 }))
        .collect();
    (scores, labels)
}

#[test]
fn made_up_scores_get_the_probabilities_of_scikit_learn() {
    let mut random = Random::from_seed(31);
    let plain = heaps(&mut random, 120, 300, 1.0);
    let small = heaps(&mut random, 3, 40, 0.05);
    let large = heaps(&mut random, 200, 200, 40.0);
    let weights: Vec<f64> = plain
        .0
        .iter()
        .map(|_| 0.2 + 2.0 * random.uniform())
        .collect();
    let assume = |(scores, labels): (Vec<f64>, Vec<bool>)| HeldOutScores::assume(scores, labels);
    check(&[
        (
            "weighted",
            HeldOutScores::assume_weighted(plain.0.clone(), plain.1.clone(), weights).unwrap(),
        ),
        ("plain", assume(plain).unwrap()),
        ("small", assume(small).unwrap()),
        ("large", assume(large).unwrap()),
    ]);
}

#[test]
fn held_out_scores_of_real_stories_get_the_probabilities_of_scikit_learn() {
    let Some(mut stories) = reuters() else { return };
    stories.truncate(4000);
    let labels: Vec<bool> = stories
        .iter()
        .map(|story| story.labels.iter().any(|label| label == "crude"))
        .collect();
    let classes = labels.iter().map(|&label| [u32::from(label)]).collect();
    let keys: Vec<u128> = (0..stories.len() as u128).collect();
    let folds = Folds::stratified(&keys, &classes, 2, 5, 1).unwrap();
    let counts = counts_of(&stories);
    // Naive Bayes' scores are in the hundreds, the machine's about one.
    let bayes = held_out(&NaiveBayes::default(), &counts, &labels, &folds);
    let svm = held_out(
        &LinearSvm::default(),
        &log_tf_idf(counts.clone()),
        &labels,
        &folds,
    );
    check(&[("naive Bayes", bayes), ("support vector machine", svm)]);
}

/// Scores of rows, each by a scorer that did not learn from its fold.
fn held_out(
    learner: &dyn ClassLearner,
    rows: &SparseMatrix,
    labels: &[bool],
    folds: &Folds,
) -> HeldOutScores {
    let weights = vec![1.0; labels.len()];
    let (classes, factors) = (ClassLabels::of_one_class(labels), ClassFactors::equal(1));
    let targets = Targets::new(&classes, &weights, &factors);
    let mut scores = vec![0.0; labels.len()];
    for fold in 0..folds.count() {
        let (members, held_out) = folds.split(fold);
        let fitted = learner.fit(&targets.among(rows, &members)).unwrap();
        for row in held_out {
            scores[row as usize] = fitted.scorer.output_scores(rows.row(row as usize))[0];
        }
    }
    HeldOutScores::assume(scores, labels.to_vec()).unwrap()
}
