use super::*;
use crate::NoProgress;
use crate::corpus::{Content, Document};
use crate::numeric::Random;
use crate::pipeline::{Classifier, TrainingCorpus, TrainingSummary, fit};
use crate::scorers::{LinearSvm, LogisticRegression};

/// Two classes told by some of a few hundred words each, of which every document has a handful; `mixed` per cent of the words come from the
/// other class's.
fn documents(count: usize, mixed: usize) -> Vec<Document> {
    let mut random = Random::from_seed(5);
    (0..count)
        .map(|number| {
            let class = number % 2 == 1;
            let words: Vec<String> = (0..9)
                .map(|_| {
                    let other = random.below(100) < mixed;
                    let side = if class == other { "a" } else { "b" };
                    // Few words are common and many are rare.
                    let most = 1 + random.below(400);
                    let place = random.below(most);
                    format!("{side}{place}")
                })
                .collect();
            Document {
                line: number as u64 + 1,
                ..Document::new(words.join(" ")).label(if class { "yes" } else { "no" })
            }
        })
        .collect()
}

fn summary(documents: Vec<Document>, settings: &FitSettings) -> (Option<f64>, TrainingSummary) {
    let corpus = TrainingCorpus::of_documents(settings, documents).unwrap();
    let model = fit(corpus, Fields::default(), settings, &NoProgress).unwrap();
    let single = model.as_single().unwrap();
    (
        single.settings().classifier.asked_cost(),
        single.summary().clone(),
    )
}

fn with(classifier: Classifier) -> FitSettings {
    FitSettings {
        classifier,
        ..FitSettings::default()
    }
}

#[test]
fn classes_that_are_told_apart_easily_are_tried_with_more() {
    let learners = [
        (Classifier::default(), LinearSvm::USUAL_C),
        (
            Classifier::LogisticRegression(LogisticRegression::default()),
            LogisticRegression::USUAL_C,
        ),
    ];
    for (classifier, usual) in learners {
        let (cost, summary) = summary(documents(600, 20), &with(classifier));
        let costs = &summary.costs;
        assert!(costs.len() >= 2, "{costs:?}");
        assert_eq!((costs[0].c, costs[1].c), (usual, 2.0 * usual));
        let chosen: Vec<f64> = (costs.iter().filter(|tried| tried.chosen))
            .map(|tried| tried.c)
            .collect();
        assert_eq!(chosen, [cost.unwrap()]);
        assert!(costs.iter().all(|tried| tried.documents == 600));
        // Each was tried because the one before had taken the lead.
        let before_last = &costs[..costs.len() - 1];
        assert!(
            before_last
                .windows(2)
                .all(|pair| pair[1].log_loss < pair[0].log_loss)
        );
    }
}

/// Most documents have words that tell all by themselves, and a few only rare ones, which a wide margin hardly hears.
fn with_rare_words(count: usize) -> Vec<Document> {
    let mut random = Random::from_seed(5);
    let mut documents = documents(count, 0);
    for (number, document) in documents.iter_mut().enumerate() {
        let side = if number % 2 == 1 { "yes" } else { "no" };
        let mut words: Vec<String> = (0..12).map(|_| format!("n{}", random.below(300))).collect();
        match random.below(100) < 15 {
            true => words.extend((0..2).map(|_| format!("{side}rare{}", random.below(60)))),
            false => words.extend((0..3).map(|_| format!("{side}{}", random.below(4)))),
        }
        document.content = Content::Text(words.join(" "));
    }
    documents
}

#[test]
fn a_higher_cost_is_taken_where_held_out_documents_ask_for_it() {
    let (cost, summary) = summary(with_rare_words(1_500), &FitSettings::default());
    assert!(cost > Some(LinearSvm::USUAL_C), "{:?}", summary.costs);
    let chosen = summary.costs.iter().find(|tried| tried.chosen).unwrap();
    assert!(chosen.log_loss < summary.costs[0].log_loss);
    assert_eq!(cost, Some(chosen.c));
}

#[test]
fn the_usual_cost_stays_where_there_is_nothing_to_choose() {
    let usual = Some(LinearSvm::USUAL_C);
    // Hard classes, and few documents.
    for (count, mixed) in [(600, 42), (80, 20)] {
        let (cost, summary) = summary(documents(count, mixed), &FitSettings::default());
        assert_eq!((cost, summary.costs.len()), (usual, 0));
    }
    let asked = with(Classifier::LinearSvm(LinearSvm {
        c: Some(0.3),
        ..LinearSvm::default()
    }));
    let (cost, summary) = summary(documents(600, 20), &asked);
    assert_eq!((cost, summary.costs.len()), (Some(0.3), 0));
}

#[test] // A weighting that was asked for is no reason to leave the cost.
fn a_sample_decides_for_many_documents_whatever_the_weighting() {
    let mut settings = FitSettings::default();
    settings.weighting = Some(settings.effective_weighting());
    let (_, summary) = summary(documents(6_500, 8), &settings);
    assert!(summary.weightings.is_empty());
    assert!(!summary.costs.is_empty());
    let counts = summary.costs.iter().map(|tried| tried.documents);
    assert!(
        counts.clone().all(|count| (2_500..4_500).contains(&count)),
        "{:?}",
        summary.costs
    );
}
