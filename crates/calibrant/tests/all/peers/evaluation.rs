//! Measures beside scikit-learn's.

use calibrant::evaluation::{Forecasts, evaluate};
use calibrant::numeric::Random;
use calibrant::{Probability, Task};
use serde_json::json;

use super::data::check_near;
use super::python::ask;

const TOLERANCE: f64 = 1e-9;

/// Forecasts that lean to the truth, of documents with random labels.
fn forecasts(seed: u64, task: Task, class_count: usize, weighted: bool) -> Forecasts {
    let mut random = Random::from_seed(seed);
    let document_count = 400;
    let mut labels = Vec::new();
    let mut probabilities = Vec::new();
    for _ in 0..document_count {
        // The last class never occurs where there are more than three.
        let occurring = if class_count > 3 {
            class_count - 1
        } else {
            class_count
        };
        let of_document: Vec<u32> = match task {
            Task::SingleLabel => vec![random.below(occurring) as u32],
            Task::MultiLabel => (0..occurring as u32)
                .filter(|_| random.below(4) == 0)
                .collect(),
        };
        let leaning: Vec<f64> = (0..class_count)
            .map(|class| {
                let belongs = of_document.contains(&(class as u32));
                2.0 * random.normal() + if belongs { 2.0 } else { -1.0 }
            })
            .collect();
        match task {
            Task::SingleLabel => {
                let total: f64 = leaning.iter().map(|value| value.exp()).sum();
                probabilities.extend(leaning.iter().map(|value| {
                    let p = value.exp() / total;
                    Probability::from_log_odds((p / (1.0 - p)).ln())
                }));
            }
            Task::MultiLabel => {
                probabilities.extend(leaning.into_iter().map(Probability::from_log_odds));
            }
        }
        labels.push(of_document);
    }
    let weights = weighted.then(|| {
        labels
            .iter()
            .map(|_| 0.2 + 2.0 * random.uniform())
            .collect()
    });
    Forecasts {
        task,
        class_names: (0..class_count).map(|class| class.to_string()).collect(),
        probabilities,
        labels: labels.into(),
        weights,
    }
}

#[track_caller]
fn check(task: Task, class_count: usize) {
    for weighted in [false, true] {
        let forecasts = forecasts(21, task, class_count, weighted);
        let ours = evaluate(&forecasts).unwrap();
        let rows: Vec<Vec<f64>> = forecasts
            .probabilities
            .chunks(class_count)
            .map(|row| row.iter().map(|p| p.value()).collect())
            .collect();
        let weights = forecasts
            .weights
            .unwrap_or_else(|| vec![1.0; forecasts.labels.len()]);
        let question = json!({
            "single_label": task == Task::SingleLabel, "probabilities": rows,
            "labels": forecasts.labels.iter().collect::<Vec<_>>(), "weights": weights,
        });
        let Some(theirs) = ask("evaluation.py", &question) else {
            return;
        };
        let measures = [
            ("accuracy", ours.accuracy),
            ("log_loss", Some(ours.log_loss)),
            ("brier", Some(ours.brier)),
            ("micro_f1", Some(ours.micro_f1)),
            ("macro_f1", Some(ours.macro_f1)),
        ];
        for (name, ours) in measures {
            assert_eq!(ours.is_some(), theirs[name].is_number(), "{name}");
            if let Some(ours) = ours {
                let theirs = theirs[name].as_f64().unwrap();
                let what = format!("{name} of {class_count} classes, weighted: {weighted}");
                check_near(&what, ours, theirs, TOLERANCE, theirs);
            }
        }
    }
}

#[test]
fn measures_of_two_exclusive_classes_are_scikit_learns() {
    check(Task::SingleLabel, 2);
}

#[test]
fn measures_of_many_exclusive_classes_are_scikit_learns() {
    check(Task::SingleLabel, 3);
    check(Task::SingleLabel, 7);
}

#[test]
fn measures_of_several_labels_are_scikit_learns() {
    check(Task::MultiLabel, 2);
    check(Task::MultiLabel, 6);
}
