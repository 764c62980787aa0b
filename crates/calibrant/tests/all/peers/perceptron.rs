//! Perceptrons beside scikit-learn's, which keeps the last weights.

use calibrant::Task;
use calibrant::problem::{ClassFactors, ClassLabels, Targets};
use calibrant::scorers::{ClassLearner, Perceptron};
use serde_json::json;

use super::data::{log_tf_idf_of_both, numbers, part_of_reuters, rows_as_json};
use super::neighbours::Newsgroups;
use super::python::ask;

const TOPICS: [&str; 10] = [
    "earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn",
];

#[test]
fn the_average_is_at_least_as_accurate_on_twenty_newsgroups() {
    let Some(posts) = Newsgroups::get() else {
        return;
    };
    let question = json!({
        "train": rows_as_json(&posts.train), "test": rows_as_json(&posts.test),
        "problems": [{"train": posts.train_classes, "test": posts.test_classes}],
    });
    let Some(answer) = ask("perceptron.py", &question) else {
        return;
    };
    let theirs = numbers(&answer)[0];
    let members: Vec<u32> = (0..posts.train.row_count() as u32).collect();
    let weights = vec![1.0; members.len()];
    let (labels, factors) = (posts.labels(), ClassFactors::equal(20));
    let problem = Targets::new(&labels, &weights, &factors).among(&posts.train, &members);
    let scorer = Perceptron::default().fit(&problem).unwrap().scorer;
    let ours = posts.accuracy(&scorer);
    assert!(ours >= theirs, "ours {ours}, theirs {theirs}");
}

#[test]
fn the_average_and_the_vote_make_no_more_errors_on_ten_reuters_topics() {
    let (Some(train), Some(test)) = (part_of_reuters("train"), part_of_reuters("test")) else {
        return;
    };
    let topics_of = |labels: &[String]| -> Vec<u32> {
        let topics = TOPICS.iter().enumerate();
        topics
            .filter(|(_, topic)| labels.iter().any(|label| label == *topic))
            .map(|(number, _)| number as u32)
            .collect()
    };
    let of_train: Vec<Vec<u32>> = train.iter().map(|story| topics_of(&story.labels)).collect();
    let of_test: Vec<Vec<u32>> = test.iter().map(|story| topics_of(&story.labels)).collect();
    let (train, test) = log_tf_idf_of_both(&train, &test);
    let is = |stories: &[Vec<u32>], topic: u32| -> Vec<bool> {
        stories
            .iter()
            .map(|topics| topics.contains(&topic))
            .collect()
    };
    let problems: Vec<_> = (0..10)
        .map(|topic| json!({"train": is(&of_train, topic), "test": is(&of_test, topic)}))
        .collect();
    let question = json!({
        "train": rows_as_json(&train), "test": rows_as_json(&test), "problems": problems,
    });
    let Some(answer) = ask("perceptron.py", &question) else {
        return;
    };
    let theirs = numbers(&answer).iter().sum::<f64>() / 10.0;
    let members: Vec<u32> = (0..train.row_count() as u32).collect();
    let labels = ClassLabels {
        task: Task::MultiLabel,
        class_count: 10,
        of_row: of_train.into(),
    };
    for voted in [false, true] {
        let settings = Perceptron {
            voted,
            ..Perceptron::default()
        };
        let weights = vec![1.0; members.len()];
        let factors = ClassFactors::equal(10);
        let problem = Targets::new(&labels, &weights, &factors).among(&train, &members);
        let scorer = settings.fit(&problem).unwrap().scorer;
        let mut right = 0;
        for (row, topics) in test.rows().zip(&of_test) {
            for (topic, score) in scorer.output_scores(row).into_iter().enumerate() {
                right += usize::from((score > 0.0) == topics.contains(&(topic as u32)));
            }
        }
        let ours = right as f64 / (10 * of_test.len()) as f64;
        assert!(
            ours >= theirs,
            "voted {voted}: ours {ours}, theirs {theirs}"
        );
    }
}
