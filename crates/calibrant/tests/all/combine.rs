//! Several models as one: no worse than the best of them, explained to the last part, the same whatever
//! the order of the documents.

use crate::common;

use calibrant::Task;
use calibrant::corpus::{Content, Document, Fields};
use calibrant::pipeline::{Classifier, CombineError, FitSettings, Model, TrainingCorpus, fit};
use calibrant::scorers::{NaiveBayesKind, Rocchio};
use calibrant::{FitError, NoProgress};
use common::{
    check_probabilities, combined, document, documents, fitted, multi_label_documents, naive_bayes,
    with_classifier,
};

fn svm() -> FitSettings {
    with_classifier(Classifier::default())
}

fn bayes() -> FitSettings {
    with_classifier(naive_bayes(NaiveBayesKind::Multinomial))
}

/// Corpora of two and of four classes, and one of several labels, with documents to hold out.
fn corpora() -> Vec<(Vec<Document>, Vec<Document>)> {
    let divided = |mut all: Vec<Document>| {
        let held_out = all.split_off(all.len() / 2);
        (all, held_out)
    };
    vec![
        divided(documents(600, 2, 60, 1)),
        divided(documents(600, 4, 60, 1)),
        divided(multi_label_documents(600, 3, 1)),
    ]
}

fn weights(model: &Model) -> &[f64] {
    model.as_combined().unwrap().pool().weights()
}

#[test]
fn a_combination_is_no_worse_than_its_best_member() {
    for (training, held_out) in corpora() {
        let members = vec![fitted(&training, &svm()), fitted(&training, &bayes())];
        let model = combined(members, &held_out).unwrap();
        let members = model.as_combined().unwrap().members().iter();
        let best = members.map(|m| m.log_loss()).fold(f64::INFINITY, f64::min);
        let found = model.summary().held_out.log_loss;
        // Weights of folds are not those of all: a hair is allowed.
        assert!(found <= best + 0.01, "{found} {best}");
        assert!(weights(&model).iter().all(|&weight| weight >= 0.0));
        assert!(weights(&model).iter().sum::<f64>() > 0.5);
        assert_eq!(model.summary().documents, held_out.len());
    }
}

#[test]
fn a_model_and_itself_say_what_it_says() {
    for (training, held_out) in corpora() {
        let alone = fitted(&training, &svm());
        let twice = vec![fitted(&training, &svm()), fitted(&training, &svm())];
        let model = combined(twice, &held_out).unwrap();
        let [first, second] = [weights(&model)[0], weights(&model)[1]];
        assert!((first - second).abs() < 1e-6, "{first} {second}");
        // Its calibration on some hundred documents is not perfect, so neither is the sum.
        assert!((first + second - 1.0).abs() < 0.4, "{first} {second}");
        let (mut apart, mut count) = (0.0, 0.0);
        for document in &held_out[..50] {
            let Content::Text(text) = &document.content else {
                panic!("no text");
            };
            for (ours, own) in model.predict(text).iter().zip(alone.predict(text)) {
                apart += (ours.value() - own.value()).abs();
                count += 1.0;
            }
        }
        assert!(apart / count < 0.15, "{apart} {count}");
    }
}

#[test]
fn a_member_that_learned_nonsense_gets_hardly_any_weight() {
    let (training, held_out) = corpora().swap_remove(1);
    let mut nonsense = training.clone();
    for (place, document) in nonsense.iter_mut().enumerate() {
        document.labels = vec![format!("class {}", place % 4)];
    }
    let raw = FitSettings {
        calibrator: calibrant::calibration::CalibratorKind::None,
        ..bayes()
    };
    let members = vec![fitted(&training, &svm()), fitted(&nonsense, &raw)];
    let model = combined(members, &held_out).unwrap();
    assert!(weights(&model)[1] < 0.05, "{:?}", weights(&model));
}

#[test]
fn saved_combinations_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("both");
    for (training, held_out) in corpora() {
        let centres = with_classifier(Classifier::Rocchio(Rocchio::default()));
        let members = vec![fitted(&training, &centres), fitted(&training, &bayes())];
        let model = combined(members, &held_out).unwrap();
        model.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        assert!(opened.to_bytes().unwrap() == model.to_bytes().unwrap());
        assert_eq!(opened.summary(), model.summary());
        for text in ["w1 w2 w3", "", "unheard of"] {
            assert_eq!(opened.predict(text), model.predict(text));
            check_probabilities(&opened, text);
        }
        let priors: f64 = opened.priors().iter().sum();
        assert_eq!(
            opened.task() == Task::SingleLabel,
            (priors - 1.0).abs() < 1e-9
        );
    }
}

#[test]
fn parts_of_an_explanation_add_up() {
    for (training, held_out) in corpora() {
        let members = vec![fitted(&training, &svm()), fitted(&training, &bayes())];
        let model = combined(members, &held_out).unwrap();
        let exact = model.task() == Task::MultiLabel || model.class_count() == 2;
        for document in &held_out[..20] {
            for class in 0..model.class_count() {
                let found = model.explain(&document.content, class);
                let parts: f64 = found.terms.iter().map(|term| term.log_odds).sum();
                let sum = found.base_log_odds + parts;
                assert!((sum - found.calibrated_log_odds).abs() < 1e-9);
                if exact {
                    assert!((found.log_odds - sum).abs() < 1e-6, "{sum} {found:?}");
                }
                let mut names: Vec<&str> = found.terms.iter().map(|t| t.term.as_str()).collect();
                let all = names.len();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), all);
            }
        }
        let found = model.explain(&Content::Text("w1 unheard unheard".into()), 0);
        assert_eq!(found.unknown_terms, 1);
    }
}

#[test]
fn neither_order_nor_threads_change_a_byte() {
    for (training, mut held_out) in corpora() {
        let members = || vec![fitted(&training, &svm()), fitted(&training, &bayes())];
        let bytes = combined(members(), &held_out).unwrap().to_bytes().unwrap();
        held_out.reverse();
        held_out.rotate_left(17);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3);
        let again = pool
            .build()
            .unwrap()
            .install(|| combined(members(), &held_out));
        assert!(again.unwrap().to_bytes().unwrap() == bytes);
    }
}

#[test]
fn models_that_answer_different_questions_are_refused() {
    let two = || fitted(&documents(40, 2, 8, 1), &svm());
    let three = fitted(&documents(40, 3, 8, 1), &svm());
    let refused = |models| combined(models, &documents(40, 2, 8, 2)).unwrap_err();
    let error = refused(vec![two(), three]);
    assert_eq!(
        error.to_string(),
        "the classes of `0` and `1` differ: only `1` has class 2"
    );
    let several = fitted(&multi_label_documents(40, 2, 1), &svm());
    let error = refused(vec![two(), several]);
    assert!(matches!(error, CombineError::Tasks { .. }), "{error}");
    let both = combined(vec![two(), two()], &documents(40, 2, 8, 2)).unwrap();
    let error = refused(vec![two(), both]);
    assert_eq!(error, CombineError::Nested { member: "1".into() });
    let error = refused(Vec::new());
    assert_eq!(error, CombineError::MemberCount { found: 0 });
    let corpus = TrainingCorpus::of_documents(&svm(), documents(40, 2, 8, 1)).unwrap();
    let fields = Fields {
        text: vec!["subject".into()],
        ..Fields::default()
    };
    let subjects = fit(corpus, fields, &svm(), &NoProgress).unwrap();
    let error = refused(vec![two(), subjects]);
    assert_eq!(
        error.to_string(),
        "`0` reads the default text and `1` reads text subject"
    );
}

#[test]
fn documents_that_the_models_cannot_judge_take_no_part() {
    let models = || vec![fitted(&documents(40, 2, 8, 1), &svm())];
    let mut held_out = documents(30, 2, 8, 2);
    held_out.push(document("w1", &["elsewhere"]));
    held_out.push(document("w1", &[]));
    let model = combined(models(), &held_out).unwrap();
    assert_eq!(model.summary().documents, 30);
    assert_eq!(model.summary().documents_left_out, 2);
    let nothing = combined(models(), &held_out[30..]).unwrap_err();
    assert_eq!(nothing, CombineError::Fit(FitError::NoDocuments));
    let few = combined(models(), &held_out[..3]).unwrap_err();
    assert!(
        matches!(few, CombineError::Fit(FitError::Folds(_))),
        "{few}"
    );
}

#[test]
fn a_combination_has_no_class_of_its_own_for_others() {
    use calibrant::decision::{OtherError, OtherRule};
    let (training, held_out) = corpora().swap_remove(1);
    let model = combined(vec![fitted(&training, &svm())], &held_out).unwrap();
    let refused = model.other_thresholds(OtherRule::Balanced);
    assert_eq!(refused, Err(OtherError::Combined));
}
