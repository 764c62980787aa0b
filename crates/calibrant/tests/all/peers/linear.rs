//! Support vector machines and logistic regression beside LIBLINEAR.

use calibrant::features::SparseMatrix;
use calibrant::numeric::Random;
use calibrant::scorers::{ClassLearner, Fitted, LinearSvm, LogisticRegression};
use calibrant::solvers::HingeLoss;
use serde_json::json;

use super::data::{
    check_near, counts_of, fit_one_class, log_tf_idf, numbers, random_classes, random_counts,
    reuters, rows_as_json,
};
use super::python::ask;

/// What our solvers promise by default: a duality gap of at most this share of the objective.
const TOLERANCE: f64 = 1e-4;

#[derive(Debug, Clone, Copy)]
enum Loss {
    Hinge,
    SquaredHinge,
    Logistic,
}

fn fit(loss: Loss, c: f64, rows: &SparseMatrix, labels: &[bool], weights: &[f64]) -> Fitted {
    let svm = |loss| LinearSvm {
        c: Some(c),
        loss,
        ..LinearSvm::default()
    };
    let logistic = LogisticRegression {
        c: Some(c),
        ..LogisticRegression::default()
    };
    let learner: &dyn ClassLearner = match loss {
        Loss::Hinge => &svm(HingeLoss::Hinge),
        Loss::SquaredHinge => &svm(HingeLoss::SquaredHinge),
        Loss::Logistic => &logistic,
    };
    fit_one_class(learner, rows, labels, weights)
}

/// A loss, `C` and which rows are positive.
type Case = (Loss, f64, Vec<bool>);

/// Our objectives and LIBLINEAR's, all worked out from the weights by the script.
#[track_caller]
fn check(rows: &SparseMatrix, weights: &[f64], cases: &[Case]) {
    let mut models = Vec::new();
    let mut asked = Vec::new();
    for (loss, c, labels) in cases {
        let fitted = fit(*loss, *c, rows, labels, weights);
        let convergence = fitted.convergence[0];
        assert!(convergence.converged, "{loss:?}, C = {c}");
        let model = fitted.scorer.as_linear().unwrap();
        let of_columns: Vec<f64> = (0..rows.column_count())
            .map(|column| model.weight(column, 0))
            .collect();
        let name = match loss {
            Loss::Hinge => "hinge",
            Loss::SquaredHinge => "squared_hinge",
            Loss::Logistic => "logistic",
        };
        asked.push(json!({
            "loss": name, "c": c, "labels": labels,
            "weights": of_columns, "bias": model.biases()[0],
        }));
        models.push(fitted);
    }
    let question = json!({
        "rows": rows_as_json(rows), "weights": weights, "tolerance": 1e-5, "cases": asked,
    });
    let Some(answers) = ask("linear.py", &question) else {
        return;
    };
    for (number, (loss, c, _)) in cases.iter().enumerate() {
        let what = format!("case {number}: {loss:?}, C = {c}");
        let ours = answers[number]["ours"].as_f64().unwrap();
        // Weights are kept as f32, which moves the objective by far less than the gap.
        let recorded = models[number].convergence[0].objective;
        check_near(&format!("{what}, recorded"), recorded, ours, 1e-5, ours);
        for theirs in numbers(&answers[number]["theirs"]) {
            check_near(&what, ours, theirs, TOLERANCE, theirs);
        }
    }
}

fn random_problem(seed: u64, rows: usize) -> (SparseMatrix, Vec<bool>, Random) {
    let mut random = Random::from_seed(seed);
    let classes = random_classes(&mut random, rows, 3);
    let matrix = log_tf_idf(random_counts(&mut random, &classes, 200));
    // Some labels are wrong, so that no boundary separates them.
    let labels = classes
        .iter()
        .map(|&class| (class == 1) != (random.below(12) == 0))
        .collect();
    (matrix, labels, random)
}

#[test]
fn the_objective_is_liblinears_on_random_rows() {
    let (rows, labels, _) = random_problem(11, 400);
    let cases = [
        // With the plain hinge and a larger C, LIBLINEAR gives up after 1000 rounds, above our value.
        (Loss::Hinge, 0.1),
        (Loss::Hinge, 1.0),
        (Loss::SquaredHinge, 0.1),
        (Loss::SquaredHinge, 1.0),
        (Loss::SquaredHinge, 10.0),
        (Loss::Logistic, 0.1),
        (Loss::Logistic, 1.0),
        (Loss::Logistic, 10.0),
    ];
    let cases = cases.map(|(loss, c)| (loss, c, labels.clone()));
    check(&rows, &vec![1.0; labels.len()], &cases);
}

/// Every loss with the same `C` and labels.
fn every_loss(c: f64, labels: &[bool]) -> [Case; 3] {
    [Loss::Hinge, Loss::SquaredHinge, Loss::Logistic].map(|loss| (loss, c, labels.to_vec()))
}

#[test]
fn rows_of_any_length_are_solved_as_liblinear_solves_them() {
    let mut random = Random::from_seed(12);
    let classes = random_classes(&mut random, 150, 2);
    let rows = random_counts(&mut random, &classes, 40);
    let labels: Vec<bool> = classes.iter().map(|&class| class == 1).collect();
    check(&rows, &vec![1.0; labels.len()], &every_loss(0.01, &labels));
}

#[test]
fn a_weighted_row_counts_like_the_row_repeated() {
    let (rows, labels, mut random) = random_problem(13, 300);
    let weights: Vec<f64> = labels
        .iter()
        .map(|_| 1.0 + random.below(4) as f64)
        .collect();
    check(&rows, &weights, &every_loss(1.0, &labels));
}

#[test]
fn the_objective_is_liblinears_on_reuters() {
    let Some(stories) = reuters() else { return };
    let rows = log_tf_idf(counts_of(&stories));
    // A class of a third of the stories, a middling one and a small one.
    let mut cases = Vec::new();
    for topic in ["earn", "crude", "corn"] {
        let labels: Vec<bool> = stories
            .iter()
            .map(|story| story.labels.iter().any(|label| label == topic))
            .collect();
        cases.push((Loss::Hinge, 1.0, labels.clone()));
        cases.push((Loss::SquaredHinge, 0.5, labels.clone()));
        cases.push((Loss::Logistic, 10.0, labels));
    }
    check(&rows, &vec![1.0; stories.len()], &cases);
}
