//! Centres beside scikit-learn's, which turns text dense: a few thousand words are all it can take.

use calibrant::Task;
use calibrant::features::SparseMatrix;
use calibrant::problem::{ClassFactors, ClassLabels, Targets};
use calibrant::scorers::{ClassLearner, Nearness, Rocchio};
use serde_json::json;

use super::data::{log_tf_idf_of_both, numbers, part_of_reuters, rows_as_json};
use super::neighbours::Newsgroups;
use super::python::ask;

const WORDS: usize = 2000;

/// Training and test rows over the words that most training rows have.
fn frequent_words(train: &SparseMatrix, test: &SparseMatrix) -> (SparseMatrix, SparseMatrix) {
    let frequencies = train.document_frequencies();
    let mut columns: Vec<u32> = (0..train.column_count() as u32).collect();
    columns.sort_by_key(|&column| (std::cmp::Reverse(frequencies[column as usize]), column));
    columns.truncate(WORDS);
    columns.sort_unstable();
    (train.with_columns(&columns), test.with_columns(&columns))
}

#[track_caller]
fn check(train: &SparseMatrix, test: &SparseMatrix, of_train: &[u32], of_test: &[u32]) {
    let (train, test) = frequent_words(train, test);
    let question = json!({
        "train": rows_as_json(&train), "test": rows_as_json(&test), "train_classes": of_train,
    });
    let Some(answer) = ask("rocchio.py", &question) else {
        return;
    };
    let theirs: Vec<usize> = numbers(&answer)
        .iter()
        .map(|&class| class as usize)
        .collect();
    let labels = ClassLabels {
        task: Task::SingleLabel,
        class_count: *of_train.iter().max().unwrap() as usize + 1,
        of_row: of_train.iter().map(|&class| vec![class]).collect(),
    };
    let factors = ClassFactors {
        by_output: vec![(1.0, 1.0); labels.output_count()],
    };
    let members: Vec<u32> = (0..train.row_count() as u32).collect();
    let weights = vec![1.0; members.len()];
    let nearest = |nearness| -> Vec<usize> {
        let problem = Targets::new(&labels, &weights, &factors).among(&train, &members);
        let scorer = Rocchio { nearness }.fit(&problem).unwrap().scorer;
        let nearest = test.rows().map(|row| {
            let scores = scorer.output_scores(row);
            (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)))
        });
        nearest.map(|class| class.unwrap()).collect()
    };
    let by_distance = nearest(Nearness::Euclidean);
    let differ = by_distance.iter().zip(&theirs).filter(|(a, b)| a != b);
    let differ = differ.count();
    // Rows may lie between two centres as far as single precision can tell.
    assert!(
        1000 * differ <= theirs.len(),
        "{differ} of {}",
        theirs.len()
    );
    let right = |found: &[usize]| {
        let pairs = found.iter().zip(of_test);
        pairs
            .filter(|(found, truth)| **found == **truth as usize)
            .count()
    };
    let (ours, theirs) = (right(&nearest(Nearness::Cosine)), right(&theirs));
    assert!(ours >= theirs, "{ours} {theirs}");
}

#[test]
fn centres_are_scikit_learns_on_twenty_newsgroups() {
    let Some(posts) = Newsgroups::get() else {
        return;
    };
    check(
        &posts.train,
        &posts.test,
        &posts.train_classes,
        &posts.test_classes,
    );
}

#[test]
fn centres_are_scikit_learns_on_reuters_stories_of_one_topic() {
    let (Some(train), Some(test)) = (part_of_reuters("train"), part_of_reuters("test")) else {
        return;
    };
    const TOPICS: [&str; 8] = [
        "earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship",
    ];
    let topic = |labels: &[String]| match labels {
        [only] => TOPICS.iter().position(|topic| topic == only),
        _ => None,
    };
    let one_topic = |stories: Vec<calibrant::corpus::Document>| {
        let kept = stories.into_iter().filter_map(|story| {
            let topic = topic(&story.labels)? as u32;
            Some((story, topic))
        });
        kept.unzip::<_, _, Vec<_>, Vec<u32>>()
    };
    let ((train, of_train), (test, of_test)) = (one_topic(train), one_topic(test));
    let (train, test) = log_tf_idf_of_both(&train, &test);
    check(&train, &test, &of_train, &of_test);
}
