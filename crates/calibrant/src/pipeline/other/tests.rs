use super::*;
use crate::NoProgress;
use crate::corpus::Content;
use crate::corpus::{Document, Fields};
use crate::decision::ThresholdCosts;
use crate::numeric::Random;
use crate::pipeline::{TrainingCorpus, fit};

fn document(words: &str, label: &str) -> Document {
    Document::new(words).label(label)
}

/// Three topics with words of their own and many that they share.
fn documents(count: usize) -> Vec<Document> {
    documents_of(count, 3)
}

/// One word of so many is the topic's own.
fn documents_of(count: usize, one_of: usize) -> Vec<Document> {
    let mut random = Random::from_seed(5);
    let mut below = |bound: usize| random.below(bound);
    (0..count)
        .map(|number| {
            let class = number % 3;
            let words: Vec<String> = (0..12)
                .map(|_| match below(one_of) {
                    0 => format!("own{class}x{}", below(20)),
                    _ => format!("shared{}", below(60)),
                })
                .collect();
            document(&words.join(" "), ["a", "b", "c"][class])
        })
        .collect()
}

fn model(settings: &FitSettings) -> Model {
    model_of(documents(300), settings)
}

fn model_of(documents: Vec<Document>, settings: &FitSettings) -> Model {
    let corpus = TrainingCorpus::of_documents(settings, documents).unwrap();
    fit(corpus, Fields::default(), settings, &NoProgress).unwrap()
}

#[test]
fn other_comes_first_exactly_where_the_best_class_misses_its_threshold() {
    let model = model(&FitSettings::default());
    for rule in [
        OtherRule::Loss(0.05),
        OtherRule::Loss(0.3),
        OtherRule::Balanced,
    ] {
        let thresholds = model.other_thresholds(rule).unwrap();
        let mut buffers = PredictBuffers::default();
        let mut open = vec![Probability::from_log_odds(0.0); 4];
        let mut closed = open[..3].to_vec();
        for text in [
            "own0x1 own0x2 own0x3",
            "shared1 shared2",
            "unheard of",
            "own0x1 own1x1 own2x2",
        ] {
            let content = Content::Text(text.to_owned());
            let above = model.predict_open_into(&content, &thresholds, &mut buffers, &mut open);
            model.predict_into(&content, &mut buffers, &mut closed);
            let first = (0..4).max_by(|&a, &b| open[a].value().total_cmp(&open[b].value()));
            assert_eq!(first == Some(3), above < 0.0, "{text}: {open:?}");
            let sum: f64 = open.iter().map(|p| p.value()).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
            // The classes keep their proportions.
            let known = 1.0 - open[3].value();
            for (open, closed) in open.iter().zip(&closed) {
                assert!((open.value() - closed.value() * known).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn the_loss_that_was_asked_for_is_the_loss_among_known_documents() {
    let model = model(&FitSettings::default());
    let thresholds = model.other_thresholds(OtherRule::Loss(0.2)).unwrap();
    let mut buffers = PredictBuffers::default();
    let mut classes = vec![Probability::from_log_odds(0.0); 4];
    // Fresh documents of the same kind: those after the first 300 are new draws.
    let fresh = documents(1500).split_off(300);
    let lost = fresh
        .iter()
        .filter(|document| {
            model.predict_open_into(&document.content, &thresholds, &mut buffers, &mut classes)
                < 0.0
        })
        .count();
    let share = lost as f64 / fresh.len() as f64;
    assert!((0.1..0.3).contains(&share), "{share}");
}

#[test]
fn costs_move_the_thresholds_and_survive_the_file() {
    let costs = |false_positive, false_negative| FitSettings {
        other_cost: Some(ThresholdCosts {
            false_positive,
            false_negative,
        }),
        ..FitSettings::default()
    };
    // Topics that can be mistaken: else one threshold would suit all costs.
    let careful = model_of(documents_of(300, 6), &costs(20.0, 1.0));
    let daring = model_of(documents_of(300, 6), &costs(1.0, 20.0));
    let of = |model: &Model| model.other_thresholds(OtherRule::LeastCost).unwrap();
    for (careful, daring) in of(&careful).iter().zip(of(&daring)) {
        assert!(*careful >= daring, "{careful} {daring}");
    }
    let sum = |thresholds: Vec<f64>| thresholds.iter().sum::<f64>();
    assert!(sum(of(&careful)) > sum(of(&daring)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.calibrant");
    careful.save(&path).unwrap();
    assert_eq!(of(&Model::open(&path).unwrap()), of(&careful));
    let plain = model(&FitSettings::default());
    assert_eq!(
        plain.other_thresholds(OtherRule::LeastCost),
        Err(OtherError::NoCosts)
    );
    assert_eq!(
        plain.other_thresholds(OtherRule::Loss(1.5)),
        Err(OtherError::BadShare)
    );
}
