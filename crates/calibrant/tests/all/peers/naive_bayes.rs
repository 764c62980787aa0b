//! Naive Bayes beside scikit-learn's.

use calibrant::Task;
use calibrant::features::SparseMatrix;
use calibrant::numeric::Random;
use calibrant::problem::{ClassFactors, ClassLabels, Targets};
use calibrant::scorers::{ClassLearner, NaiveBayes, NaiveBayesKind, Smoothing};
use serde_json::{Value, json};

use super::data::{
    check_near, counts_of, numbers, random_classes, random_counts, reuters, rows_as_json,
};
use super::python::ask;

/// Closed forms in `f64` on both sides: only the order of sums differs.
const TOLERANCE: f64 = 1e-12;

fn name(kind: NaiveBayesKind) -> &'static str {
    match kind {
        NaiveBayesKind::Multinomial => "multinomial",
        NaiveBayesKind::Bernoulli => "bernoulli",
        NaiveBayesKind::Complement => "complement",
    }
}

fn learner(kind: NaiveBayesKind, alpha: f64) -> NaiveBayes {
    NaiveBayes {
        kind,
        smoothing: Smoothing::Laplace { alpha },
    }
}

/// Outputs of our model, row by row.
fn outputs(
    learner: NaiveBayes,
    rows: &SparseMatrix,
    labels: &ClassLabels,
    weights: &[f64],
) -> Vec<Vec<f64>> {
    let everyone: Vec<u32> = (0..rows.row_count() as u32).collect();
    let factors = ClassFactors::equal(labels.output_count());
    let targets = Targets::new(labels, weights, &factors);
    let presence = rows.clone().map_rows(|_, values| values.fill(1.0));
    let rows = if learner.presence_only() {
        // Counts would be taken for more than presence, and are refused.
        assert!(learner.fit(&targets.among(rows, &everyone)).is_err());
        &presence
    } else {
        rows
    };
    let fitted = learner.fit(&targets.among(rows, &everyone)).unwrap();
    let model = fitted.scorer.as_linear().unwrap();
    rows.rows()
        .map(|row| {
            let mut outputs = vec![0.0; model.output_count()];
            model.outputs_into(row, &mut outputs);
            outputs
        })
        .collect()
}

/// Our outputs of a row against joint log-probabilities; two classes share an output, their difference.
#[track_caller]
fn check_row(what: &str, ours: &[f64], joint: &[f64]) {
    let scale = joint
        .iter()
        .fold(1.0, |scale: f64, value| scale.max(value.abs()));
    if ours.len() == joint.len() {
        for (&ours, &theirs) in ours.iter().zip(joint) {
            check_near(what, ours, theirs, TOLERANCE, scale);
        }
    } else {
        assert_eq!((ours.len(), joint.len()), (1, 2), "{what}");
        check_near(what, ours[0], joint[1] - joint[0], TOLERANCE, scale);
    }
}

/// Every kind and smoothing on the same rows, one class a row.
#[track_caller]
fn check(rows: &SparseMatrix, classes: &[usize], class_count: usize, weights: &[f64]) {
    let labels = ClassLabels {
        task: Task::SingleLabel,
        class_count,
        of_row: classes.iter().map(|&class| vec![class as u32]).collect(),
    };
    let kinds = [
        NaiveBayesKind::Multinomial,
        NaiveBayesKind::Bernoulli,
        NaiveBayesKind::Complement,
    ];
    let cases: Vec<(NaiveBayesKind, f64)> = kinds
        .into_iter()
        .flat_map(|kind| [(kind, 1.0), (kind, 0.05)])
        .collect();
    let asked: Vec<Value> = cases
        .iter()
        .map(|&(kind, alpha)| {
            json!({"kind": name(kind), "alpha": alpha, "labels": classes, "prior": null})
        })
        .collect();
    let question = json!({"rows": rows_as_json(rows), "weights": weights, "cases": asked});
    let Some(answers) = ask("naive_bayes.py", &question) else {
        return;
    };
    for (number, &(kind, alpha)) in cases.iter().enumerate() {
        let joint = numbers(&answers[number]);
        let ours = outputs(learner(kind, alpha), rows, &labels, weights);
        assert_eq!(joint.len(), ours.len() * class_count);
        for (row, (ours, joint)) in ours.iter().zip(joint.chunks(class_count)).enumerate() {
            check_row(&format!("{kind:?} {alpha}, row {row}"), ours, joint);
        }
    }
}

#[test]
fn several_classes_give_the_joint_log_probabilities_of_scikit_learn() {
    let mut random = Random::from_seed(1);
    let classes = random_classes(&mut random, 120, 4);
    let rows = random_counts(&mut random, &classes, 90);
    check(&rows, &classes, 4, &vec![1.0; classes.len()]);
}

#[test]
fn two_classes_give_their_difference() {
    let mut random = Random::from_seed(2);
    let classes = random_classes(&mut random, 80, 2);
    let rows = random_counts(&mut random, &classes, 60);
    check(&rows, &classes, 2, &vec![1.0; classes.len()]);
}

#[test]
fn weighted_rows_count_as_in_scikit_learn() {
    let mut random = Random::from_seed(3);
    let classes = random_classes(&mut random, 100, 3);
    let rows = random_counts(&mut random, &classes, 70);
    let weights: Vec<f64> = classes
        .iter()
        .map(|_| 0.1 + 3.0 * random.uniform())
        .collect();
    check(&rows, &classes, 3, &weights);
}

#[test]
fn real_counts_of_stories_with_one_topic_agree() {
    let Some(mut stories) = reuters() else { return };
    let names = [
        "acq", "crude", "earn", "grain", "interest", "money-fx", "trade",
    ];
    let class = |labels: &[String]| match labels {
        [only] => names.iter().position(|name| name == only),
        _ => None,
    };
    stories.retain(|story| class(&story.labels).is_some());
    stories.truncate(2500);
    let classes: Vec<usize> = stories
        .iter()
        .filter_map(|story| class(&story.labels))
        .collect();
    let rows = counts_of(&stories);
    assert!(rows.column_count() > 5000);
    check(&rows, &classes, names.len(), &vec![1.0; classes.len()]);
}

#[test] // scikit-learn knows no class against the rest with our prior, so it is told the prior.
fn topics_against_the_rest_agree_given_the_same_prior() {
    let Some(mut stories) = reuters() else { return };
    stories.truncate(3000);
    let names = ["earn", "wheat"];
    let rows = counts_of(&stories);
    let of_row: Vec<Vec<u32>> = stories
        .iter()
        .map(|story| {
            (0..names.len() as u32)
                .filter(|&class| {
                    story
                        .labels
                        .iter()
                        .any(|label| label == names[class as usize])
                })
                .collect()
        })
        .collect();
    let labels = ClassLabels {
        task: Task::MultiLabel,
        class_count: names.len(),
        of_row: of_row.into(),
    };
    let weights = vec![1.0; stories.len()];
    let mut cases = Vec::new();
    for kind in [NaiveBayesKind::Multinomial, NaiveBayesKind::Bernoulli] {
        for class in 0..names.len() {
            let members = labels.membership(class);
            let positives = members.iter().filter(|&&member| member).count() as f64;
            let prior = (positives + 1.0) / (stories.len() as f64 + 2.0);
            let asked = json!({
                "kind": name(kind), "alpha": 1.0,
                "labels": members.iter().map(|&member| u8::from(member)).collect::<Vec<_>>(),
                "prior": [1.0 - prior, prior],
            });
            cases.push((kind, class, asked));
        }
    }
    let asked: Vec<&Value> = cases.iter().map(|(_, _, asked)| asked).collect();
    let question = json!({"rows": rows_as_json(&rows), "weights": weights, "cases": asked});
    let Some(answers) = ask("naive_bayes.py", &question) else {
        return;
    };
    for (number, (kind, class, _)) in cases.iter().enumerate() {
        let ours = outputs(learner(*kind, 1.0), &rows, &labels, &weights);
        let joint = numbers(&answers[number]);
        assert_eq!(joint.len(), 2 * ours.len());
        for (row, (ours, joint)) in ours.iter().zip(joint.chunks(2)).enumerate() {
            let what = format!("{kind:?} {}, row {row}", names[*class]);
            check_row(&what, &ours[*class..=*class], joint);
        }
    }
}
