use std::cell::Cell;
use std::collections::BTreeMap;

use super::*;
use crate::NoProgress;
use crate::calibration::CalibratorKind;
use crate::corpus::{Content, Document};
use crate::features::WeightingSettings;
use crate::numeric::Random;
use crate::pipeline::{ClassWeights, Classifier, fit};
use crate::scorers::{LinearSvm, NaiveBayes};

fn documents(count: usize, class_count: usize, seed: u64) -> Vec<Document> {
    let mut random = Random::from_seed(seed);
    (0..count)
        .map(|_| {
            let class = random.below(class_count);
            let words: Vec<String> = (0..10)
                .map(|_| match random.below(3) {
                    0 => format!("own{class}x{}", random.below(6)),
                    _ => format!("any{}", random.below(30)),
                })
                .collect();
            Document {
                id: None,
                content: Content::Text(words.join(" ")),
                labels: vec![format!("class {class}")],
                labels_were_list: false,
                weight: 1.0,
                group: None,
                line: 1,
            }
        })
        .collect()
}

fn base() -> FitSettings {
    FitSettings {
        calibrator: CalibratorKind::Platt,
        folds: 3,
        ..FitSettings::default()
    }
}

fn corpus(documents: Vec<Document>) -> TrainingCorpus {
    TrainingCorpus::of_documents(&base(), documents).unwrap()
}

/// As long as it takes.
fn endless() -> SearchSettings {
    SearchSettings {
        time_budget: Duration::from_secs(1 << 40),
        ..SearchSettings::default()
    }
}

fn one(classifier: Classifier, tuned: bool) -> Vec<Contender> {
    vec![Contender { classifier, tuned }]
}

fn settings_of(model: &Model) -> &FitSettings {
    model.as_single().unwrap().settings()
}

#[track_caller]
fn found(documents: Vec<Document>, base: &FitSettings, settings: &SearchSettings) -> Found {
    let corpus = TrainingCorpus::of_documents(base, documents).unwrap();
    search(corpus, &Fields::default(), base, settings, &NoProgress).unwrap()
}

#[test]
fn without_time_the_first_learner_is_fitted_as_fit_would() {
    let settings = SearchSettings {
        time_budget: Duration::ZERO,
        sample: 10,
        ..SearchSettings::default()
    };
    let all = documents(90, 3, 1);
    let found = found(all.clone(), &base(), &settings);
    assert_eq!(found.trials.len(), 1);
    assert!(found.out_of_time && found.trials[0].tried.chosen);
    let plain = fit(corpus(all), Fields::default(), &base(), &NoProgress).unwrap();
    assert_eq!(settings_of(&found.model), settings_of(&plain));
    assert_eq!(
        found.model.predict("own1x2 any3"),
        plain.predict("own1x2 any3")
    );
}

#[test]
fn every_log_loss_is_that_of_a_fit_with_those_settings() {
    let all = documents(90, 3, 2);
    let found = found(all.clone(), &base(), &endless());
    let least = found
        .trials
        .iter()
        .filter_map(|trial| trial.tried.log_loss)
        .fold(f64::INFINITY, f64::min);
    assert_eq!(found.model.summary().held_out.log_loss, least);
    let chosen: Vec<&Trial> = found.trials.iter().filter(|t| t.tried.chosen).collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(chosen[0].tried.log_loss, Some(least));
    assert_eq!(
        settings_of(&found.model).classifier,
        chosen[0].tried.classifier
    );
    for trial in found.trials.iter().step_by(5) {
        let settings = FitSettings {
            classifier: trial.tried.classifier,
            weighting: Some(trial.tried.weighting),
            ..base()
        };
        let again = fit(
            corpus(all.clone()),
            Fields::default(),
            &settings,
            &NoProgress,
        );
        let loss = again.unwrap().summary().held_out.log_loss;
        assert_eq!(trial.tried.log_loss, Some(loss), "{trial:?}");
    }
    let kept: Vec<TriedSettings> = found.trials.into_iter().map(|t| t.tried).collect();
    assert_eq!(found.model.summary().search, kept);
}

#[test]
fn every_learner_is_tried_with_every_weighting_and_no_trial_twice() {
    let found = found(documents(60, 2, 3), &base(), &endless());
    let tried: Vec<&TriedSettings> = found.trials.iter().map(|trial| &trial.tried).collect();
    for contender in Contender::usual() {
        let own = tried
            .iter()
            .filter(|tried| contender.is_like(&tried.classifier));
        let mut weightings: Vec<String> = own.map(|tried| tried.weighting_name()).collect();
        weightings.sort();
        weightings.dedup();
        assert_eq!(weightings.len(), 6, "{weightings:?}");
    }
    for (place, trial) in tried.iter().enumerate() {
        let before = &tried[..place];
        assert!(
            !before.iter().any(|other| {
                (other.classifier, other.weighting) == (trial.classifier, trial.weighting)
            }),
            "{trial:?}"
        );
    }
}

#[test]
fn what_is_given_stays_as_it_is() {
    let svm = Classifier::LinearSvm(LinearSvm {
        c: 2.0,
        ..LinearSvm::default()
    });
    let settings = SearchSettings {
        learners: one(svm, false),
        weighting: Some(Weighting::Binary),
        l2_norm: Some(false),
        ..endless()
    };
    let found = found(documents(60, 2, 4), &base(), &settings);
    assert_eq!(found.trials.len(), 1);
    assert_eq!(found.trials[0].tried.classifier, svm);
    let binary = WeightingSettings {
        weighting: Weighting::Binary,
        l2_norm: false,
    };
    assert_eq!(settings_of(&found.model).weighting, Some(binary));
    assert!(!found.out_of_time);
}

#[test] // The price starts a thousand times too low.
fn prices_are_climbed_until_they_help_no_more() {
    let timid = Classifier::LinearSvm(LinearSvm {
        c: 0.0005,
        ..LinearSvm::default()
    });
    let settings = SearchSettings {
        learners: one(timid, true),
        weighting: Some(Weighting::LogTfIdf),
        ..endless()
    };
    let found = found(documents(150, 3, 5), &base(), &settings);
    let losses = found.trials.iter().map(|trial| trial.tried.log_loss);
    let losses: Vec<f64> = losses.map(Option::unwrap).collect();
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(least < losses[0] - 0.01, "{losses:?}");
    assert!((4..20).contains(&losses.len()), "{losses:?}");
}

#[test]
fn many_documents_are_sampled_first_and_the_best_few_see_all() {
    let mut all = documents(200, 3, 6);
    // One document of a class of its own has to be in the sample.
    all[7].labels = vec!["rare".into()];
    let settings = SearchSettings {
        sample: 50,
        finalists: 2,
        ..endless()
    };
    let found = found(all, &base(), &settings);
    let sizes: Vec<usize> = found.trials.iter().map(|t| t.tried.documents).collect();
    let small = sizes.iter().take_while(|&&size| size != 200).count();
    assert!(sizes[..small].iter().all(|&size| (50..=52).contains(&size)));
    assert!(sizes[small..].iter().all(|&size| size == 200));
    assert!(small > 30 && sizes.len() > small + 1, "{sizes:?}");
    assert_eq!(found.model.summary().documents, 200);
    assert_eq!(found.model.summary().classes.len(), 4);
    let chosen = found.trials.iter().position(|trial| trial.tried.chosen);
    assert!(chosen.unwrap() >= small);
}

#[test]
fn the_order_of_documents_does_not_matter() {
    let mut all = documents(120, 2, 7);
    let settings = SearchSettings {
        sample: 40,
        ..endless()
    };
    let first = found(all.clone(), &base(), &settings).model.to_bytes();
    all.reverse();
    all.rotate_left(31);
    let second = found(all, &base(), &settings).model.to_bytes();
    assert!(first == second);
}

/// A clock that runs on by the same amount each time it is looked at: three times a trial.
fn by_ticks(documents: Vec<Document>, ticks: f64, limit: u64, sample: usize) -> Found {
    let now = Cell::new(0.0);
    let clock = || {
        now.set(now.get() + ticks);
        now.get()
    };
    let settings = SearchSettings {
        time_budget: Duration::from_secs(limit),
        sample,
        ..SearchSettings::default()
    };
    let fields = Fields::default();
    search_by_clock(
        corpus(documents),
        &fields,
        &base(),
        &settings,
        &NoProgress,
        &clock,
    )
    .unwrap()
}

#[test]
fn a_budget_cuts_the_tail_off() {
    let all = documents(60, 2, 8);
    let whole = by_ticks(all.clone(), 0.0, 1, 5000);
    let part = by_ticks(all, 1.0, 20, 5000);
    assert!(part.out_of_time && !whole.out_of_time);
    // By hand: one look for the sample, two for the first trial, which does not ask for time, then
    // three a trial: number n asks at 3n - 2, and an eighth would have asked at 22.
    assert_eq!(part.trials.len(), 7);
    for (part, whole) in part.trials.iter().zip(&whole.trials) {
        assert_eq!(part.tried.classifier, whole.tried.classifier);
        assert_eq!(part.tried.log_loss, whole.tried.log_loss);
        assert_eq!(part.seconds, 1.0);
    }
}

#[test]
fn trials_on_a_sample_leave_time_for_a_fit_to_everything() {
    let found = by_ticks(documents(200, 2, 9), 1.0, 40, 50);
    assert!(found.out_of_time);
    assert_eq!(found.trials.last().unwrap().tried.documents, 200);
    // By hand: all documents are four times the sample and take four seconds. Number n asks at
    // 3n - 1 and expects one second for a learner that is known by then: 3n + 4 is below 40 up to 11.
    let small = found.trials.iter().filter(|t| t.tried.documents < 200);
    assert_eq!(small.count(), 11);
}

#[test]
fn a_learner_that_fails_is_told_and_left_behind() {
    let weighted = FitSettings {
        class_weights: ClassWeights::Given(BTreeMap::from([("class 1".to_owned(), 2.0)])),
        ..base()
    };
    let settings = SearchSettings {
        learners: [
            Classifier::NaiveBayes(NaiveBayes::default()),
            Classifier::LinearSvm(LinearSvm::default()),
        ]
        .map(|classifier| Contender {
            classifier,
            tuned: false,
        })
        .to_vec(),
        weighting: Some(Weighting::Tf),
        ..endless()
    };
    let all = documents(60, 2, 10);
    let found = found(all.clone(), &weighted, &settings);
    let told = |failure: &str| failure.contains("class weights");
    let mut failures = found
        .trials
        .iter()
        .filter_map(|t| t.tried.failure.as_deref());
    assert!(failures.any(told));
    let chosen = found.trials.iter().find(|t| t.tried.chosen).unwrap();
    assert!(chosen.tried.failure.is_none());

    let only_bayes = SearchSettings {
        learners: one(Classifier::NaiveBayes(NaiveBayes::default()), true),
        ..settings
    };
    let fields = Fields::default();
    let corpus = corpus(all);
    let error = search(corpus, &fields, &weighted, &only_bayes, &NoProgress).unwrap_err();
    assert!(error.to_string().contains("class weights"), "{error}");
}

#[test]
fn a_search_needs_a_learner() {
    let nobody = SearchSettings {
        learners: Vec::new(),
        ..SearchSettings::default()
    };
    let corpus = corpus(documents(20, 2, 11));
    let error = search(corpus, &Fields::default(), &base(), &nobody, &NoProgress).unwrap_err();
    assert!(error.to_string().contains("at least one"), "{error}");
}

#[test]
fn numbered_features_keep_their_values() {
    let mut all = documents(60, 2, 12);
    let mut random = Random::from_seed(3);
    for document in &mut all {
        let sign = if document.labels[0] == "class 1" {
            1.0
        } else {
            -1.0
        };
        let value = sign + 2.0 * random.uniform() as f32 - 1.0;
        document.content = Content::Features(vec![(1, value), (2, 1.0)]);
    }
    let found = found(all, &base(), &endless());
    let used = settings_of(&found.model).weighting.unwrap();
    assert_eq!(used.weighting, Weighting::Tf);
    // Naive Bayes refuses negative values, and the others go on.
    let failed = found.trials.iter().filter(|t| t.tried.failure.is_some());
    assert!(failed.count() >= 2);
}
