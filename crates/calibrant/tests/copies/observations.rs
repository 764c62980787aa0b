//! Rows that agree because there is little to see of them are no copies.

use super::{fitted, surprise, with_classifier};
use crate::common::document;
use calibrant::corpus::Document;
use calibrant::features::{Weighting, WeightingSettings};
use calibrant::numeric::Random;
use calibrant::pipeline::{Acquaintance, Classifier, FitSettings, PredictBuffers};
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
        let (mut known, mut room) = (Acquaintance::default(), PredictBuffers::default());
        for row in &test {
            model.count_known(&row.content, &mut room, &mut known);
        }
        assert_eq!(known.learned_from(), None, "{name}");
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
        let (mut known, mut room) = (Acquaintance::default(), PredictBuffers::default());
        for row in &rows {
            model.count_known(&row.content, &mut room, &mut known);
        }
        assert_eq!(known.learned_from(), Some(400));
    }
    assert_eq!(fitted(&rows, &FitSettings::default()).summary().copies, 0);
}
