//! Platt's curve beside scikit-learn's.

use calibrant::calibration::{CalibrationMethod, Calibrator, HeldOutScores, Platt};
use calibrant::corpus::Folds;
use calibrant::numeric::Random;
use calibrant::scorers::{Dataset, Learner, LinearSvm, NaiveBayes};
use serde_json::{Value, json};

use super::data::{check_near, counts_of, log_tf_idf, numbers, reuters};
use super::python::ask;

/// Theirs stops when a gradient of about one a row is below 1e-6; ours goes on to the end.
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
    let weights = vec![1.0; stories.len()];
    let data = Dataset::new(&counts, &labels, &weights).unwrap();
    // Naive Bayes' scores are in the hundreds, the machine's about one.
    let bayes = cross_fitted(&NaiveBayes::default(), &data, &folds);
    let rows = log_tf_idf(counts.clone());
    let data = Dataset::new(&rows, &labels, &weights).unwrap();
    let svm = cross_fitted(&LinearSvm::default(), &data, &folds);
    check(&[("naive Bayes", bayes), ("support vector machine", svm)]);
}

fn cross_fitted<L: Learner>(learner: &L, data: &Dataset<'_>, folds: &Folds) -> HeldOutScores {
    let (_, scores) = learner.cross_fit(data, folds).unwrap();
    let (labels, weights) = (data.labels().to_vec(), data.weights().to_vec());
    let held_out = HeldOutScores::assume_weighted(scores, labels, weights).unwrap();
    held_out.with_folds(folds.assignment().to_vec()).unwrap()
}
