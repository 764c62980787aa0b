//! Copies, repetitions and weights in corpora of real text, where they are at hand.

use std::sync::LazyLock;

use calibrant::corpus::{Document, Fields, ReadOptions, Source, read_all};
use calibrant::numeric::Random;
use calibrant::pipeline::{Classifier, FitSettings, Model};
use calibrant::scorers::LinearSvm;
use calibrant::solvers::SolverLimits;
use calibrant::{NoProgress, Task};

use super::{repeated, same_forecasts, weighted};
use crate::common::data_file::data_file;
use crate::common::fitted;

/// Documents of a file among the development data; none where the file is missing.
fn corpus(name: &str, text: &[&str], label: &str) -> Option<Vec<Document>> {
    let path = data_file(name)?;
    let fields = Fields {
        text: text.iter().map(|&field| field.to_owned()).collect(),
        label: Some(label.to_owned()),
        ..Fields::default()
    };
    let options = ReadOptions {
        fields,
        ..ReadOptions::default()
    };
    Some(
        read_all(&Source::Path(path), &options, &NoProgress)
            .unwrap()
            .0,
    )
}

/// Many classes of which one is right, two classes, and several labels per document; read once for all tests.
static CORPORA: LazyLock<Vec<(&'static str, Vec<Document>)>> = LazyLock::new(|| {
    [
        (
            "20newsgroups.jsonl.gz",
            &["subject", "text"][..],
            "label",
            Task::SingleLabel,
        ),
        ("imdb.jsonl.gz", &["text"], "label", Task::SingleLabel),
        (
            "reuters21578.jsonl.gz",
            &["title", "body"],
            "topics",
            Task::MultiLabel,
        ),
    ]
    .into_iter()
    .filter_map(|(name, text, label, task)| {
        let documents = corpus(name, text, label)?;
        let lists = documents.iter().any(|document| document.labels_were_list);
        assert_eq!(lists, task == Task::MultiLabel, "{name}");
        Some((name, documents))
    })
    .collect()
});

/// So many documents of each, drawn at random.
fn drawn(seed: u64, count: usize) -> impl Iterator<Item = (&'static str, Vec<Document>)> {
    CORPORA.iter().map(move |(name, documents)| {
        let mut order: Vec<usize> = (0..documents.len()).collect();
        Random::from_seed(seed).shuffle(&mut order);
        let chosen = order[..count].iter();
        (*name, chosen.map(|&row| documents[row].clone()).collect())
    })
}

/// A tenth of the rows once more, one in ten of those with the labels of another row.
fn with_copies(rows: &[Document], random: &mut Random) -> Vec<Document> {
    let mut all = rows.to_vec();
    for copy in 0..rows.len() / 10 {
        let mut row = rows[random.below(rows.len())].clone();
        if copy % 10 == 0 {
            row.labels
                .clone_from(&rows[random.below(rows.len())].labels);
        }
        all.push(row);
    }
    all
}

/// How far the errors on the test documents are from those that the forecasts promise, in standard errors: of the
/// likeliest class, or of each label that may be there or not.
fn surprise(model: &Model, test: &[Document], training_count: usize) -> f64 {
    let names: Vec<&str> = model.class_names().collect();
    let (mut observed, mut expected, mut variance) = (0.0, 0.0, 0.0);
    for document in test {
        let classes = model.predict(document.content.as_text().unwrap());
        let has = |class: usize| document.labels.iter().any(|label| label == names[class]);
        let mut count = |wrong: bool, chance: f64| {
            observed += f64::from(u8::from(wrong));
            expected += chance;
            variance += chance * (1.0 - chance);
        };
        if model.task() == Task::MultiLabel {
            for (class, p) in classes.iter().enumerate() {
                let yes = p.log_odds() > 0.0;
                let chance = if yes { p.complement() } else { *p };
                count(yes != has(class), chance.value());
            }
        } else {
            let likelihood = |&class: &usize| classes[class].log_odds();
            let top = (0..classes.len())
                .max_by(|a, b| likelihood(a).total_cmp(&likelihood(b)))
                .unwrap();
            count(!has(top), classes[top].complement().value());
        }
    }
    let spread = variance * (1.0 + test.len() as f64 / training_count as f64);
    (observed - expected) / spread.sqrt()
}

#[test]
fn a_tenth_of_copies_does_not_spoil_the_promise_on_real_text() {
    for seed in [1, 2] {
        for (name, documents) in drawn(seed, 6000) {
            let (training, test) = documents.split_at(3000);
            let rows = with_copies(training, &mut Random::from_seed(seed));
            let model = fitted(&rows, &FitSettings::default());
            let summary = model.summary();
            assert!(summary.copies >= 300, "{name}: {}", summary.copies);
            assert_eq!(
                summary.multiclass.is_some(),
                name.starts_with("20newsgroups"),
                "{name}: classes together where one of many is right"
            );
            let z = surprise(&model, test, 3000);
            assert!(z.abs() <= 3.0, "z = {z:.2} on {name}, seed {seed}");
        }
    }
}

#[test]
fn repetitions_and_weights_of_real_text_are_the_same() {
    // Solved far enough that what the last digits of weights change on the way leaves no trace.
    let settings = FitSettings {
        classifier: Classifier::LinearSvm(LinearSvm {
            limits: SolverLimits {
                relative_gap: 1e-8,
                max_passes: 3_000,
            },
            ..LinearSvm::default()
        }),
        ..FitSettings::default()
    };
    for (name, documents) in drawn(3, 250) {
        let (plain, test) = documents.split_at(150);
        let once = fitted(plain, &settings);
        let thrice = fitted(&repeated(plain, |_| 3), &settings);
        same_forecasts(name, &once, &thrice, test);
        let times = |row: usize| 1 + row % 3;
        let heavy = fitted(&weighted(plain, |row| times(row) as f64), &settings);
        let often = fitted(&repeated(plain, times), &settings);
        same_forecasts(name, &heavy, &often, test);
        for unit in [1.0 / 150.0, 1000.0] {
            let scaled = weighted(plain, |row| unit * times(row) as f64);
            same_forecasts(name, &heavy, &fitted(&scaled, &settings), test);
        }
    }
}
