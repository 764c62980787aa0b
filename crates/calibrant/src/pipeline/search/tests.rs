mod choice;

use std::cell::Cell;
use std::collections::BTreeMap;

use super::*;
use crate::NoProgress;
use crate::calibration::CalibratorKind;
use crate::corpus::{Content, Document};
use crate::features::WeightingSettings;
use crate::numeric::Random;
use crate::pipeline::{ClassWeights, Classifier, TrainingCorpus, fit};
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
            Document::new(words.join(" ")).label(format!("class {class}"))
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

/// The trials that went into the model.
fn chosen(found: &Found) -> Vec<&TriedSettings> {
    let tried = found.trials.iter().map(|trial| &trial.tried);
    tried.filter(|tried| tried.chosen).collect()
}

#[test]
fn every_log_loss_is_that_of_a_fit_with_those_settings() {
    let all = documents(90, 3, 2);
    let found = found(all.clone(), &base(), &endless());
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
fn every_learner_is_tried_the_best_with_every_weighting_and_no_trial_twice() {
    let found = found(documents(60, 3, 3), &base(), &endless());
    let tried: Vec<&TriedSettings> = found.trials.iter().map(|trial| &trial.tried).collect();
    let mut with_all = 0;
    for contender in Contender::usual() {
        let own = tried
            .iter()
            .filter(|tried| contender.is_like(&tried.classifier));
        let mut weightings: Vec<String> = own.map(|tried| tried.weighting_name()).collect();
        weightings.sort();
        weightings.dedup();
        assert!(!weightings.is_empty(), "{contender:?}");
        with_all += usize::from(weightings.len() == 6);
    }
    assert!(with_all >= endless().finalists, "{with_all}");
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

/// Words of one class share a beginning, and hardly one comes twice: only characters can tell.
fn inflected(count: usize, seed: u64) -> Vec<Document> {
    let mut random = Random::from_seed(seed);
    let mut all = documents(count, 2, seed);
    for document in &mut all {
        let stem = if document.labels[0] == "class 1" {
            "wander"
        } else {
            "harvest"
        };
        let words: Vec<String> = (0..6)
            .map(|_| match random.below(6) {
                0 => format!("{stem}{}", random.below(100_000)),
                _ => format!("any{}", random.below(30)),
            })
            .collect();
        document.content = Content::Text(words.join(" "));
    }
    all
}

fn found_in_all_views(documents: Vec<Document>, settings: &SearchSettings) -> Found {
    let counter = SearchCounter::new(&base()).unwrap();
    let mut corpus = counter.corpus(&base());
    // In two batches, as a reader hands them on.
    let rest = documents[documents.len() / 2..].to_vec();
    corpus.add(counter.count(documents[..documents.len() / 2].to_vec()));
    corpus.add(counter.count(rest));
    search(corpus, &Fields::default(), &base(), settings, &NoProgress).unwrap()
}

fn few_learners() -> SearchSettings {
    let learners = [
        Classifier::LinearSvm(LinearSvm::default()),
        Classifier::NaiveBayes(NaiveBayes::default()),
    ];
    SearchSettings {
        learners: learners
            .map(|classifier| Contender {
                classifier,
                tuned: false,
            })
            .to_vec(),
        weighting: Some(Weighting::LogTfIdf),
        ..endless()
    }
}

#[test]
fn what_only_characters_can_tell_is_found_and_is_as_good_as_it_says() {
    let found = found_in_all_views(inflected(400, 21), &few_learners());
    let gain = found.model.summary().search_gain.unwrap();
    assert!(gain.is_clear(), "{gain:?}");
    let characters = |tried: &&TriedSettings| tried.terms_name().starts_with("characters");
    assert!(chosen(&found).iter().any(characters));
    let members = match &found.model {
        Model::Combined(model) => model.members().len(),
        Model::Single(_) => 1,
    };
    assert_eq!(chosen(&found).len(), members);
    assert!((found.model.summary().held_out.log_loss - gain.log_loss).abs() < 1e-12);
    let default = found.trials[0].tried.log_loss.unwrap();
    assert!((default - gain.default_log_loss).abs() < 1e-12);

    // Fresh documents: the gain that was stated comes, within four of its standard errors.
    let fresh = inflected(2_000, 22);
    let plain = fit(
        corpus(inflected(400, 21)),
        Fields::default(),
        &base(),
        &NoProgress,
    )
    .unwrap();
    let loss = |model: &Model, document: &Document| {
        let Content::Text(text) = &document.content else {
            panic!("a text");
        };
        let class = usize::from(document.labels[0] == "class 1");
        -model.predict(text)[class].ln()
    };
    let gained: Vec<f64> = fresh
        .iter()
        .map(|document| loss(&plain, document) - loss(&found.model, document))
        .collect();
    let mean = gained.iter().sum::<f64>() / gained.len() as f64;
    let stated = gain.default_log_loss - gain.log_loss;
    assert!(
        (mean - stated).abs() < 4.0 * gain.standard_error,
        "{mean} {gain:?}"
    );
}

#[test]
fn where_nothing_is_clearly_better_the_default_is_the_answer() {
    let mut lucky = 0;
    for seed in 5..9 {
        // Classes at random: there is nothing to find.
        let mut all = documents(120, 2, 23);
        let mut random = Random::from_seed(seed);
        for document in &mut all {
            document.labels = vec![format!("class {}", random.below(2))];
        }
        let found = found_in_all_views(all.clone(), &few_learners());
        if found
            .model
            .summary()
            .search_gain
            .is_some_and(|gain| gain.is_clear())
        {
            lucky += 1;
            continue;
        }
        let asked = FitSettings {
            weighting: Some(WeightingSettings {
                weighting: Weighting::LogTfIdf,
                l2_norm: true,
            }),
            ..base()
        };
        let plain = fit(corpus(all), Fields::default(), &asked, &NoProgress).unwrap();
        assert_eq!(
            found.model.predict("own1x2 any3"),
            plain.predict("own1x2 any3")
        );
        assert_eq!(chosen(&found).len(), 1);
    }
    assert!(lucky <= 1, "{lucky} of 4");
}

#[test]
fn views_are_those_of_plain_fits_and_their_order_of_documents_is_one() {
    let all = inflected(150, 24);
    let found = found_in_all_views(all.clone(), &few_learners());
    let mut terms: Vec<String> = found.trials.iter().map(|t| t.tried.terms_name()).collect();
    terms.sort();
    terms.dedup();
    assert_eq!(
        terms,
        [
            "as set",
            "characters across words, 2 to 5",
            "characters, 2 to 5",
            "words, 1 to 2"
        ]
    );
    for trial in found.trials.iter().filter(|t| t.tried.analyzer.is_some()) {
        let settings = FitSettings {
            analyzer: trial.tried.analyzer.clone().unwrap(),
            classifier: trial.tried.classifier,
            weighting: Some(trial.tried.weighting),
            ..base()
        };
        let again = TrainingCorpus::of_documents(&settings, all.clone()).unwrap();
        let again = fit(again, Fields::default(), &settings, &NoProgress).unwrap();
        let loss = again.summary().held_out.log_loss;
        assert_eq!(trial.tried.log_loss, Some(loss), "{trial:?}");
    }
    // N-grams that were asked for stay as they are.
    let mut pairs = base();
    pairs.analyzer.word_ngrams.max = 2;
    let counter = SearchCounter::new(&pairs).unwrap();
    assert_eq!(counter.way_count(), 1);
}

#[test]
fn what_is_given_stays_as_it_is() {
    let svm = Classifier::LinearSvm(LinearSvm {
        c: Some(2.0),
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

#[test] // The cost starts a thousand times too low.
fn costs_are_climbed_until_they_help_no_more() {
    let timid = Classifier::LinearSvm(LinearSvm {
        c: Some(0.0005),
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
    assert!(small > 15 && sizes.len() > small + 1, "{sizes:?}");
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
    let first = found(all.clone(), &base(), &settings)
        .model
        .to_bytes()
        .unwrap();
    all.reverse();
    all.rotate_left(31);
    let second = found(all, &base(), &settings).model.to_bytes().unwrap();
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
        corpus(documents).into(),
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
    // three a trial: number n asks at 3n - 2, and a seventh would have asked at 19 for one second.
    assert_eq!(part.trials.len(), 6);
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
    // By hand: all documents are four times the sample and take four seconds, and the default and the best two others
    // are to see them. Number n asks at 3n - 1, and with 8 or 12 seconds kept that is below 40 up to 9 or 10.
    let small = found.trials.iter().filter(|t| t.tried.documents < 200);
    let small = small.count();
    assert!((9..=10).contains(&small), "{small}");
    // Every refusal is a look at the clock, too: after them there is time for the default alone.
    assert_eq!(found.trials[small].tried.documents, 200);
    let default = Classifier::default().with_settled_cost();
    assert_eq!(found.trials[small].tried.classifier, default);
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
    for tried in chosen(&found) {
        assert_eq!(tried.weighting.weighting, Weighting::Tf);
    }
    // Naive Bayes refuses negative values, and the others go on.
    let failed = found.trials.iter().filter(|t| t.tried.failure.is_some());
    assert!(failed.count() >= 1);
    assert!(found.trials.iter().any(|t| t.tried.failure.is_none()));
}

#[test]
fn copies_change_nothing() {
    let once = inflected(120, 31);
    let thrice: Vec<Document> = [once.clone(), once.clone(), once.clone()].concat();
    let [once, thrice] = [once, thrice].map(|all| found_in_all_views(all, &few_learners()));
    let losses = |found: &Found| -> Vec<f64> {
        let tried = found.trials.iter().map(|trial| trial.tried.log_loss);
        tried.map(Option::unwrap).collect()
    };
    assert_eq!(losses(&once).len(), losses(&thrice).len());
    for (once, thrice) in losses(&once).iter().zip(losses(&thrice)) {
        assert!((once - thrice).abs() < 1e-6, "{once} {thrice}");
    }
    let [once, thrice] = [once, thrice].map(|found| found.model.summary().search_gain.unwrap());
    assert!((once.log_loss - thrice.log_loss).abs() < 1e-6);
    assert!((once.standard_error - thrice.standard_error).abs() < 1e-6);
}

#[test]
fn a_search_or_fit_that_nobody_wants_any_more_ends_as_cancelled() {
    use crate::FitError;
    use crate::progress::EndsAfter;
    for questions in [0, 1, 4, 20] {
        let progress = EndsAfter::questions(questions);
        let all = documents(150, 3, 1);
        let outcome = search(
            corpus(all),
            &Fields::default(),
            &base(),
            &endless(),
            &progress,
        );
        assert_eq!(outcome.map(|_| ()).unwrap_err(), FitError::Cancelled);
        // With terms weighed by trials, which are ended like all else.
        for settings in [base(), FitSettings::default()] {
            let progress = EndsAfter::questions(questions);
            let all = documents(150, 3, 1);
            let outcome = fit(corpus(all), Fields::default(), &settings, &progress);
            assert_eq!(outcome.map(|_| ()).unwrap_err(), FitError::Cancelled);
        }
    }
}
