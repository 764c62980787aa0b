//! What every model promises, whatever it learned from: the same documents give the same bytes,
//! probabilities are probabilities, and corpora at the edge of sense are learned or refused.

use crate::common;

use calibrant::calibration::CalibratorKind;
use calibrant::corpus::{Content, Document, Fields};
use calibrant::numeric::Random;
use calibrant::pipeline::{
    Classifier, DocumentCounter, FitSettings, Model, TrainingCorpus, fit_keeping_scores,
};
use calibrant::scorers::{LinearSvm, LogisticRegression, NaiveBayesKind};
use calibrant::{CalibrationError, FitError, NoProgress};
use common::{
    check_probabilities, document, documents, fit_batches, fitted, learners, multi_label_documents,
    naive_bayes, setups, with_classifier,
};
use proptest::prelude::*;

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

#[track_caller]
fn check_same_bytes(name: &str, documents: &[Document], settings: &FitSettings) {
    let bytes = with_threads(1, || fitted(documents, settings).to_bytes().unwrap());
    assert!(bytes.len() > 500, "{name}: {} bytes", bytes.len());
    let mut shuffled = documents.to_vec();
    for (threads, batch) in [(1, 7), (2, 50), (5, 13)] {
        Random::from_seed(threads as u64).shuffle(&mut shuffled);
        let again = with_threads(threads, || fit_batches(&shuffled, settings, batch));
        assert!(
            again.unwrap().to_bytes().unwrap() == bytes,
            "{name} with {threads} threads"
        );
    }
}

#[test]
fn neither_threads_nor_batches_nor_the_order_of_documents_change_a_byte() {
    for class_count in [2, 4] {
        let documents = documents(120, class_count, 60, 1);
        for (name, settings) in setups() {
            check_same_bytes(name, &documents, &settings);
        }
    }
    let documents = multi_label_documents(120, 3, 1);
    for (name, settings) in setups() {
        check_same_bytes(name, &documents, &settings);
    }
}

#[test]
fn many_features_and_equal_documents_change_nothing_about_that() {
    // More features than one chunk of any parallel loop, and documents that come several times.
    let mut documents = documents(300, 3, 30_000, 2);
    documents.extend_from_within(..60);
    documents.extend_from_within(..20);
    for (name, settings) in learners() {
        check_same_bytes(name, &documents, &settings);
    }
}

#[test]
fn fractional_weights_change_nothing_about_that() {
    let mut random = Random::from_seed(4);
    let mut documents = documents(100, 3, 60, 3);
    for document in &mut documents {
        document.weight = 3.0 * random.open_uniform();
    }
    for (name, settings) in setups() {
        check_same_bytes(name, &documents, &settings);
    }
}

#[test]
fn zero_bytes_in_texts_and_labels_change_nothing_about_that() {
    // Chosen so that text and labels, run together with zero bytes between them, are all alike.
    let mut documents = documents(40, 2, 20, 5);
    for number in 0..10 {
        documents.push(document(&format!("a\0{number}"), &["b\0c"]));
        documents.push(document("a", &[&format!("{number}\0b\0c")]));
        documents.push(document(&format!("a\0{number}\0b"), &["c"]));
    }
    let (_, settings) = learners().swap_remove(3);
    check_same_bytes("naive Bayes", &documents, &settings);
}

#[test]
fn a_saved_model_is_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for documents in [documents(80, 3, 40, 1), multi_label_documents(80, 3, 2)] {
        for (name, settings) in setups() {
            let model = fitted(&documents, &settings);
            model.save(&path).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes == model.to_bytes().unwrap(), "{name}");
            let opened = Model::open(&path).unwrap();
            assert!(opened.to_bytes().unwrap() == bytes, "{name}");
            assert_eq!(opened.summary(), model.summary());
            for text in ["w1 w2 w3", "w4 w4 unheard", ""] {
                assert_eq!(opened.predict(text), model.predict(text), "{name}");
            }
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "temporary files were left behind");
}

#[cfg(unix)]
#[test]
fn a_model_is_never_saved_over_what_is_no_ordinary_file() {
    use std::os::unix::fs::FileTypeExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let model = fitted(&documents(30, 2, 20, 1), &FitSettings::default());
    assert!(model.save(&path).is_err());
    assert!(path.symlink_metadata().unwrap().file_type().is_socket());
    assert!(model.save(folder.path()).is_err());
}

#[test]
fn a_document_of_weight_two_is_the_document_twice_to_naive_bayes() {
    for kind in [
        NaiveBayesKind::Multinomial,
        NaiveBayesKind::Bernoulli,
        NaiveBayesKind::Complement,
    ] {
        for class_count in [2, 3] {
            let plain = documents(60, class_count, 30, 7);
            let mut twice = plain.clone();
            twice.extend_from_within(..20);
            let mut weighted = plain;
            weighted[..20]
                .iter_mut()
                .for_each(|document| document.weight = 2.0);
            let settings = FitSettings {
                calibrator: CalibratorKind::None,
                ..with_classifier(naive_bayes(kind))
            };
            let (twice, weighted) = (fitted(&twice, &settings), fitted(&weighted, &settings));
            for text in ["w1 w2 w3", "w0 w0 w17 w5", ""] {
                for (a, b) in twice.predict(text).iter().zip(weighted.predict(text)) {
                    assert!((a.log_odds() - b.log_odds()).abs() < 1e-9, "{kind:?}");
                }
            }
        }
    }
}

/// Of twenty documents each is scored by a model that was fitted to the nineteen others, not to sixteen of them.
#[test]
fn held_out_scores_of_naive_bayes_come_from_twenty_folds() {
    let documents = documents(20, 2, 30, 7);
    let settings = |calibrator| FitSettings {
        calibrator,
        ..with_classifier(naive_bayes(NaiveBayesKind::Multinomial))
    };
    let as_is = settings(CalibratorKind::None);
    let mut expected: Vec<f64> = (0..documents.len())
        .map(|left_out| {
            let mut others = documents.clone();
            let Content::Text(text) = others.remove(left_out).content else {
                panic!("no text");
            };
            fitted(&others, &as_is).predict(&text)[1].log_odds()
        })
        .collect();
    expected.sort_by(f64::total_cmp);
    let by_name = settings(CalibratorKind::Platt);
    let mut corpus = TrainingCorpus::new(by_name.column_space());
    corpus.add(DocumentCounter::new(&by_name).unwrap().count(documents));
    let (_, held_out) =
        fit_keeping_scores(corpus, Fields::default(), &by_name, &NoProgress).unwrap();
    let mut found = held_out[0].scores().to_vec();
    found.sort_by(f64::total_cmp);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

/// Corpora at the edge of what can be learned from, which must be learned from all the same.
fn strange_corpora() -> Vec<(&'static str, Vec<Document>)> {
    let usual = documents(40, 2, 20, 1);
    let with = |more: Vec<Document>| [usual.clone(), more].concat();
    let as_list = |mut documents: Vec<Document>| {
        documents
            .iter_mut()
            .for_each(|document| document.labels_were_list = true);
        documents
    };
    let everywhere: Vec<Document> = usual
        .iter()
        .map(|usual| Document {
            labels: vec![usual.labels[0].clone(), "every".into()],
            ..usual.clone()
        })
        .collect();
    let equal: Vec<Document> = (0..20)
        .map(|number| document("same words here", &[["a", "b"][number % 2]]))
        .collect();
    let one_feature: Vec<Document> = (0..20)
        .map(|number| document(["word", ""][number % 2], &[["a", "b"][number % 3 % 2]]))
        .collect();
    vec![
        (
            "a class with one positive",
            with(vec![document("w1 w2", &["once"])]),
        ),
        (
            "a class with fewer positives than folds",
            with(vec![
                document("w1 w2", &["rare"]),
                document("w3", &["rare"]),
            ]),
        ),
        (
            "two classes, one with one positive",
            [
                vec![document("w1 odd", &["once"])],
                usual
                    .iter()
                    .map(|usual| Document {
                        labels: vec!["rest".into()],
                        ..usual.clone()
                    })
                    .collect(),
            ]
            .concat(),
        ),
        (
            "a label with one positive",
            as_list(with(vec![document("w1", &["once"])])),
        ),
        ("a class of all documents", as_list(everywhere)),
        (
            "empty documents",
            with(vec![document("", &["class 0"]), document("", &["class 1"])]),
        ),
        ("documents that are all equal", equal),
        ("one feature only", one_feature),
        ("as many documents as folds", usual[..5].to_vec()),
        (
            "one label and documents without it",
            as_list(
                (0..20)
                    .map(|n| document(&format!("w{n} x"), &["a"][n % 2..]))
                    .collect(),
            ),
        ),
        (
            "labels that are empty or odd",
            (0..30)
                .map(|n| document(&format!("w{} x", n % 3), &[["", " ", "\u{0}🦀"][n % 3]]))
                .collect(),
        ),
        (
            "a text of one word a million times",
            with(vec![document(&"w1 ".repeat(1_000_000), &["class 0"])]),
        ),
        (
            "weights far apart",
            usual
                .iter()
                .enumerate()
                .map(|(n, usual)| Document {
                    weight: [1e-9, 1.0, 1e9][n % 3],
                    ..usual.clone()
                })
                .collect(),
        ),
        (
            "large features",
            usual
                .iter()
                .enumerate()
                .map(|(n, usual)| Document {
                    content: Content::Features(vec![
                        (1, 1e30),
                        (n as u32 + 2, 1e-30),
                        (u32::MAX, 1.0),
                    ]),
                    ..usual.clone()
                })
                .collect(),
        ),
    ]
}

fn distinct_texts(documents: &[Document]) -> usize {
    let texts = documents
        .iter()
        .filter_map(|document| document.content.as_text());
    texts.collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn strange_corpora_are_learned_from() {
    for (corpus, documents) in strange_corpora() {
        for (name, settings) in setups() {
            match fit_batches(&documents, &settings, 9) {
                Ok(model) => {
                    for text in ["w1 w2", "same words", "word", "", "unheard of"] {
                        check_probabilities(&model, text);
                    }
                    for class in 0..model.class_count() {
                        let explanation = model.explain(&Content::Text("w1 word".into()), class);
                        assert!(explanation.calibrated_log_odds.is_finite());
                    }
                    let losses = model.summary().held_out.log_loss;
                    assert!(losses.is_finite(), "{corpus}, {name}: {losses}");
                }
                // Where documents are all alike, no term can be selected.
                Err(FitError::NoFeatures) if settings.selection.is_some() => {}
                // Equal documents are one, and never on both sides of a fold.
                Err(FitError::Folds(_)) if distinct_texts(&documents) < settings.folds => {}
                // Features near the end of `f32` may overflow; that is said, not guessed around.
                Err(
                    FitError::Calibration(CalibrationError::BadScore { .. }) | FitError::Overflow,
                ) if corpus == "large features" => {}
                Err(error) => panic!("{corpus}, {name}: {error}"),
            }
        }
    }
}

#[test]
fn values_that_are_no_numbers_are_refused_without_a_panic() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let documents: Vec<Document> = (0..20u32)
            .map(|n| Document {
                content: Content::Features(vec![(n % 4, 1.0), (7, if n == 3 { bad } else { 1.0 })]),
                ..document("", &[["a", "b"][n as usize % 2]])
            })
            .collect();
        for (name, settings) in learners() {
            let outcome = fit_batches(&documents, &settings, 9);
            assert!(outcome.is_err(), "{name} learned from {bad}");
        }
    }
    for weight in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let mut documents = documents(30, 2, 20, 1);
        documents[4].weight = weight;
        for (name, settings) in learners() {
            let outcome = fit_batches(&documents, &settings, 9);
            let refused = matches!(outcome, Err(FitError::BadSetting { .. }));
            assert!(refused, "{name} learned with weight {weight}: {outcome:?}");
        }
    }
}

#[test]
fn what_is_fitted_with_numbers_without_measure_can_be_opened_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let plain = documents(40, 2, 20, 1);
    for weight in [1e-308, 1e300, 1e308] {
        let mut weighted = plain.clone();
        weighted[..30].iter_mut().for_each(|d| d.weight = weight);
        for (name, settings) in learners() {
            for calibrator in [CalibratorKind::Auto, CalibratorKind::None] {
                let settings = FitSettings {
                    calibrator,
                    ..settings.clone()
                };
                if let Ok(model) = fit_batches(&weighted, &settings, 9) {
                    model.save(&path).unwrap();
                    let opened = Model::open(&path);
                    assert!(opened.is_ok(), "{name}, {weight}: {opened:?}");
                }
            }
        }
    }
    for c in [1e-308, 1e200, 1e300, f64::MAX] {
        for classifier in [
            Classifier::LinearSvm(LinearSvm {
                c: Some(c),
                ..LinearSvm::default()
            }),
            Classifier::LogisticRegression(LogisticRegression {
                c: Some(c),
                ..LogisticRegression::default()
            }),
        ] {
            if let Ok(model) = fit_batches(&plain, &with_classifier(classifier), 9) {
                model.save(&path).unwrap();
                assert!(Model::open(&path).is_ok(), "{classifier:?}");
            }
        }
    }
}

#[test]
fn labels_that_repeat_count_once() {
    let plain = multi_label_documents(60, 3, 1);
    let mut repeated = plain.clone();
    for document in &mut repeated {
        let labels = document.labels.clone();
        document.labels.extend(labels);
    }
    let settings = FitSettings::default();
    let positives = |documents: &[Document]| -> Vec<usize> {
        let model = fitted(documents, &settings);
        model
            .summary()
            .classes
            .iter()
            .map(|class| class.positives)
            .collect()
    };
    assert_eq!(positives(&repeated), positives(&plain));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_text_has_probabilities(texts in prop::collection::vec(any::<String>(), 1..20), setup in 0usize..100) {
        let setups = setups();
        let (_, settings) = &setups[setup % setups.len()];
        let model = fitted(&documents(40, 3, 20, 1), settings);
        for text in &texts {
            check_probabilities(&model, text);
            check_probabilities(&model, &format!("w1 {text} w2 {text}w3"));
        }
    }

    #[test]
    fn any_texts_can_be_learned_from(texts in prop::collection::vec("\\PC{0,30}", 12..30), setup in 0usize..100) {
        let setups = setups();
        let (_, settings) = &setups[setup % setups.len()];
        let labels = ["a", "b", "c"];
        let documents: Vec<Document> = texts
            .iter()
            .enumerate()
            .map(|(number, text)| document(text, &[labels[number % 3]]))
            .collect();
        match fit_batches(&documents, settings, 4) {
            Ok(model) => texts.iter().for_each(|text| check_probabilities(&model, text)),
            Err(error) => prop_assert_eq!(error, FitError::NoFeatures),
        }
    }
}
