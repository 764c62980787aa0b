//! Rows that agree because there is little to see of them are no copies.

use super::{fitted, surprise, with_classifier};
use crate::common::document;
use calibrant::corpus::Document;
use calibrant::features::{Weighting, WeightingSettings};
use calibrant::numeric::Random;
use calibrant::pipeline::{
    Acquaintance, Classifier, FitSettings, Model, PredictBuffers, TestDocuments, leading_words,
};
use calibrant::scorers::{LogisticRegression, NaiveBayes};

/// Answers of one word, each of which goes with the class by a probability of its own.
fn answers(count: usize, seed: u64) -> Vec<Document> {
    let mut random = Random::from_seed(seed);
    (0..count)
        .map(|_| {
            let word = random.below(25);
            let class = random.below(100) < 10 + 80 * word / 24;
            let label = if class { "yes" } else { "no" };
            document(&format!("answer{word}"), &[label])
        })
        .collect()
}

/// The documents as `evaluate` sees them.
fn test_documents(model: &Model, rows: &[Document]) -> TestDocuments {
    let (mut known, mut buffer) = (Acquaintance::default(), PredictBuffers::default());
    let mut documents = TestDocuments::default();
    for (number, row) in rows.iter().enumerate() {
        let key = model.count_known(&row.content, &mut buffer, &mut known);
        documents.see(number, key, leading_words(&row.content));
        documents.push_labels(&row.labels);
    }
    documents
}

/// The share of rows that the model gets right.
fn accuracy(model: &Model, rows: &[Document]) -> f64 {
    let right = |row: &&Document| {
        let classes = model.predict(row.content.as_text().unwrap());
        let top = (0..classes.len())
            .max_by(|&a, &b| classes[a].log_odds().total_cmp(&classes[b].log_odds()));
        model.class_names().nth(top.unwrap()) == Some(row.labels[0].as_str())
    };
    rows.iter().filter(right).count() as f64 / rows.len() as f64
}

/// Films that several people rated, every rating a row. What they think of a film shows in its text a little.
fn rated_films(films: usize, ratings: usize, seed: u64) -> Vec<Document> {
    let mut random = Random::from_seed(seed);
    let mut rows = Vec::new();
    for film in 0..films {
        let good = random.below(2) == 0;
        let mut words: Vec<String> = (0..12)
            .map(|_| match random.below(12) {
                0 => format!("{}{}", if good { "fine" } else { "dull" }, random.below(30)),
                _ => format!("any{}", random.below(800)),
            })
            .collect();
        words.push(format!("film{seed}x{film}"));
        for _ in 0..ratings {
            let liked = good == (random.below(100) < 85);
            rows.push(document(
                &words.join(" "),
                &[if liked { "good" } else { "bad" }],
            ));
        }
    }
    rows
}

#[test]
fn ratings_of_a_text_lie_on_one_side_of_every_fold() {
    let (training, others) = (rated_films(150, 12, 1), rated_films(150, 12, 2));
    let model = fitted(&training, &with_classifier(Classifier::default()));
    assert_eq!(model.summary().copies, 150 * 11);
    let (promised, found) = (
        model.summary().held_out.accuracy.unwrap(),
        accuracy(&model, &others),
    );
    assert!((promised - found).abs() < 0.1, "{promised:.3} {found:.3}");
    assert_eq!(test_documents(&model, &others).copies(), 150 * 11);
}

#[test]
fn texts_that_come_once_do_not_make_observations_of_copies() {
    let mut random = Random::from_seed(9);
    let mut noise = |count: usize, times: usize, name: &str| -> Vec<Document> {
        let texts = (0..count).flat_map(|text| {
            let label = if random.below(2) == 0 { "a" } else { "b" };
            vec![document(&format!("{name}{text} {name}x{text}"), &[label]); times]
        });
        texts.collect()
    };
    let mut rows = noise(30, 1, "once");
    rows.extend(noise(10, 100, "often"));
    let model = fitted(&rows, &with_classifier(Classifier::default()));
    assert_eq!(model.summary().copies, 10 * 99);
    assert_eq!(test_documents(&model, &rows).copies(), 10 * 99);
}

#[test]
fn answers_of_a_word_are_observations() {
    let (training, test) = (answers(2000, 1), answers(1000, 2));
    for classifier in [
        Classifier::default(),
        Classifier::LogisticRegression(LogisticRegression::default()),
        Classifier::NaiveBayes(NaiveBayes::default()),
    ] {
        let name = classifier.name();
        let settings = with_classifier(classifier);
        let model = fitted(&training, &settings);
        assert_eq!(model.summary().copies, 0, "{name}");
        let z = surprise(&model, &test, training.len());
        assert!(z.abs() <= 3.0, "{name}: z = {z:.2}");
        // By hand: a twenty-fifth of the answers each, at probabilities of 0.1 to 0.9, has an entropy of 0.55 nats.
        let loss = model.summary().held_out.log_loss;
        assert!(loss < 0.6, "{name}: {loss:.3}");
        let (mut known, mut buffer) = (Acquaintance::default(), PredictBuffers::default());
        for row in &test {
            model.count_known(&row.content, &mut buffer, &mut known);
        }
        assert_eq!(known.learned_from(), None, "{name}");
        // Fitting and measuring agree about what is a copy.
        let measured = test_documents(&model, &test);
        assert_eq!(measured.copies(), 0, "{name}");
        assert!(measured.together().is_empty() && measured.copied().is_empty());
    }
}

#[test]
fn one_that_sees_presence_alone_takes_repeated_words_for_a_copy() {
    let mut random = Random::from_seed(5);
    let mut rows = Vec::new();
    for number in 0..200 {
        let words: Vec<String> = (0..6).map(|_| format!("w{}", random.below(300))).collect();
        let label = if number % 2 == 0 { "a" } else { "b" };
        let once = words.join(" ");
        rows.push(document(&once, &[label]));
        rows.push(document(
            &format!("{once} {} {}", words[0], words[1]),
            &[label],
        ));
    }
    let binary = FitSettings {
        weighting: Some(WeightingSettings {
            weighting: Weighting::Binary,
            l2_norm: true,
        }),
        ..FitSettings::default()
    };
    for hash_bits in [None, Some(18)] {
        let settings = FitSettings {
            hash_bits,
            ..binary.clone()
        };
        let model = fitted(&rows, &settings);
        assert_eq!(model.summary().copies, 200);
        let (mut known, mut buffer) = (Acquaintance::default(), PredictBuffers::default());
        for row in &rows {
            model.count_known(&row.content, &mut buffer, &mut known);
        }
        assert_eq!(known.learned_from(), Some(400));
    }
    assert_eq!(fitted(&rows, &FitSettings::default()).summary().copies, 0);
}
