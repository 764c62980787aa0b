use super::*;
use crate::NoProgress;
use crate::corpus::Document;
use crate::numeric::Random;
use crate::pipeline::{Classifier, TrainingCorpus, fit};
use crate::scorers::{LogisticRegression, NaiveBayes};

/// Documents of two classes with words that `words` draws for a class and a number.
fn documents(
    count: usize,
    words: impl Fn(&mut Random, bool, usize) -> Vec<String>,
) -> Vec<Document> {
    let mut random = Random::from_seed(3);
    (0..count)
        .map(|number| {
            let class = number % 2 == 1;
            Document {
                line: number as u64 + 1,
                ..Document::new(words(&mut random, class, number).join(" ")).label(if class {
                    "yes"
                } else {
                    "no"
                })
            }
        })
        .collect()
}

/// Common words tell the class, rare ones are at random.
fn manners(count: usize) -> Vec<Document> {
    documents(count, |random, class, _| {
        let common = (0..12).map(|word| {
            let likely = if (word % 2 == 1) == class { 70 } else { 50 };
            (random.below(100) < likely).then(|| format!("common{word}"))
        });
        let mut words: Vec<String> = common.flatten().collect();
        words.extend((0..12).map(|_| format!("rare{}", random.below(400))));
        words
    })
}

/// A few rare words tell the class, common ones are at random.
fn topics(count: usize) -> Vec<Document> {
    documents(count, |random, class, _| {
        let first = if class { 0 } else { 100 };
        let mut words: Vec<String> = (0..3)
            .map(|_| format!("topic{}", first + random.below(100)))
            .collect();
        words.extend((0..25).map(|_| format!("common{}", random.below(40))));
        words
    })
}

fn tried(documents: Vec<Document>, settings: &FitSettings) -> (FitSettings, Vec<TriedWeighting>) {
    let corpus = TrainingCorpus::of_documents(settings, documents).unwrap();
    let model = fit(corpus, Fields::default(), settings, &NoProgress).unwrap();
    let single = model.as_single().unwrap();
    (
        single.settings().clone(),
        single.summary().weightings.clone(),
    )
}

#[test]
fn common_words_that_tell_the_class_are_not_weighed_down() {
    for classifier in [
        Classifier::default(),
        Classifier::LogisticRegression(LogisticRegression::default()),
    ] {
        let settings = FitSettings {
            classifier,
            ..FitSettings::default()
        };
        let (chosen, tried) = tried(manners(400), &settings);
        assert_eq!(chosen.effective_weighting().weighting, Weighting::LogTf);
        assert_eq!(tried.iter().filter(|tried| tried.chosen).count(), 1);
        let best = tried
            .iter()
            .min_by(|a, b| a.log_loss.total_cmp(&b.log_loss));
        assert!(best.unwrap().chosen);
    }
}

#[test]
fn rare_words_that_tell_the_class_are_weighed_up() {
    let (chosen, tried) = tried(topics(400), &FitSettings::default());
    assert_ne!(chosen.effective_weighting().weighting, Weighting::LogTf);
    assert!(tried.len() >= 3);
}

#[test]
fn words_of_a_single_document_are_left_out_where_they_do_harm() {
    let junk = documents(400, |random, class, number| {
        let first = if class { 0 } else { 20 };
        let mut words: Vec<String> = (0..3)
            .map(|_| format!("topic{}", (first + random.below(30)) % 40))
            .collect();
        words.extend((0..20).map(|word| format!("junk{number}x{word}")));
        words
    });
    let (chosen, _) = tried(junk.clone(), &FitSettings::default());
    assert_eq!(chosen.limits.min_documents, Some(2));
    // Not where the number was asked for.
    let mut settings = FitSettings::default();
    settings.limits.min_documents = Some(1);
    let (chosen, tried) = tried(junk, &settings);
    assert_eq!(chosen.limits.min_documents, Some(1));
    assert!(tried.iter().all(|tried| tried.min_documents == 1));
}

#[test]
fn many_documents_are_judged_by_a_sample() {
    let (chosen, tried) = tried(manners(3000), &FitSettings::default());
    assert_eq!(chosen.effective_weighting().weighting, Weighting::LogTf);
    assert!(
        tried
            .iter()
            .all(|tried| (500..2000).contains(&tried.documents))
    );
}

#[test]
fn nothing_is_tried_where_there_is_nothing_to_choose() {
    let asked = FitSettings {
        weighting: Some(WeightingSettings {
            weighting: Weighting::TfIdf,
            l2_norm: true,
        }),
        ..FitSettings::default()
    };
    let bayes = FitSettings {
        classifier: Classifier::NaiveBayes(NaiveBayes::default()),
        ..FitSettings::default()
    };
    for (count, settings) in [(400, asked), (400, bayes), (80, FitSettings::default())] {
        let usual = settings.effective_weighting();
        let (chosen, tried) = tried(manners(count), &settings);
        assert_eq!(chosen.effective_weighting(), usual);
        assert!(tried.is_empty());
    }
}
