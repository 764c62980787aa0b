//! Output codes through the whole path: learned, calibrated, saved, explained.

use crate::common;

use calibrant::FitError;
use calibrant::calibration::{CalibratorKind, MulticlassKind};
use calibrant::corpus::{Content, Document};
use calibrant::multiclass::{BinaryOutput, CodeDesign, CodeSettings, ColumnWeights, Decode};
use calibrant::numeric::Random;
use calibrant::pipeline::{Classifier, FitSettings, Model};
use calibrant::scorers::{AdaBoost, NaiveBayesKind, Rocchio, SavedScorer};
use common::{
    check_probabilities, documents, fit_batches, fitted, multi_label_documents, naive_bayes,
    with_classifier,
};

fn coded(settings: FitSettings, code: CodeSettings) -> FitSettings {
    FitSettings {
        code: Some(code),
        ..settings
    }
}

fn design(design: CodeDesign) -> CodeSettings {
    CodeSettings {
        design,
        ..CodeSettings::default()
    }
}

/// Every design, decoding, answer and weight, over several learners.
fn setups() -> Vec<(String, FitSettings)> {
    let svm = || with_classifier(Classifier::default());
    let mut setups = Vec::new();
    for one in CodeDesign::ALL {
        setups.push((one.name().to_owned(), coded(svm(), design(one))));
    }
    for output in BinaryOutput::ALL {
        for weights in ColumnWeights::ALL {
            let code = CodeSettings {
                output,
                weights,
                ..design(CodeDesign::Exhaustive)
            };
            setups.push((format!("{output:?} {weights:?}"), coded(svm(), code)));
        }
    }
    let least_squares = CodeSettings {
        decode: Decode::LeastSquares,
        ..design(CodeDesign::RandomDense)
    };
    for calibrator in [CalibratorKind::None, CalibratorKind::Auto] {
        let settings = FitSettings {
            calibrator,
            ..coded(svm(), least_squares)
        };
        setups.push((format!("least squares {}", calibrator.name()), settings));
    }
    let boost = AdaBoost {
        rounds: 5,
        ..AdaBoost::default()
    };
    for learner in [
        Classifier::Rocchio(Rocchio::default()),
        Classifier::AdaBoost(boost),
        naive_bayes(NaiveBayesKind::Multinomial),
        naive_bayes(NaiveBayesKind::Bernoulli),
        naive_bayes(NaiveBayesKind::Complement),
    ] {
        for one in [CodeDesign::Bch, CodeDesign::RandomSparse] {
            let name = format!("{} {}", learner.name(), one.name());
            setups.push((name, coded(with_classifier(learner), design(one))));
        }
    }
    let together = FitSettings {
        multiclass: MulticlassKind::Auto,
        ..coded(svm(), design(CodeDesign::Bch))
    };
    setups.push(("all classes together".into(), together));
    setups
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(work)
}

#[test]
fn a_saved_model_is_the_same_model_whatever_the_threads_and_the_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let documents = documents(90, 5, 40, 1);
    let mut shuffled = documents.clone();
    Random::from_seed(3).shuffle(&mut shuffled);
    for (name, settings) in setups() {
        let model = with_threads(1, || fitted(&documents, &settings));
        let again = with_threads(3, || fit_batches(&shuffled, &settings, 17).unwrap());
        assert!(
            again.to_bytes().unwrap() == model.to_bytes().unwrap(),
            "{name}"
        );
        model.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        assert!(
            opened.to_bytes().unwrap() == model.to_bytes().unwrap(),
            "{name}"
        );
        for text in ["w1 w2 w3", "w4 w4 unheard", ""] {
            assert_eq!(opened.predict(text), model.predict(text), "{name}");
            check_probabilities(&opened, text);
        }
    }
}

#[test]
fn explanations_add_up_and_move_with_the_document() {
    let documents = documents(90, 5, 40, 1);
    for (name, settings) in setups() {
        let model = fitted(&documents, &settings);
        let mut moved = 0.0;
        for document in &documents[..3] {
            for class in 0..5 {
                let told = model.explain(&document.content, class);
                let parts: f64 = told.terms.iter().map(|term| term.log_odds).sum();
                let sum = told.base_log_odds + parts;
                let gap = (sum - told.calibrated_log_odds).abs();
                assert!(gap < 1e-9 * (1.0 + sum.abs()), "{name}: {gap}");
                moved += told
                    .terms
                    .iter()
                    .map(|term| term.log_odds.abs())
                    .sum::<f64>();
            }
        }
        assert!(moved > 0.0, "{name}");
    }
}

/// Which share of fresh documents is decided rightly.
fn accuracy(model: &Model, fresh: &[Document]) -> f64 {
    let names: Vec<String> = model.class_names().map(str::to_owned).collect();
    let right = |document: &&Document| {
        let Content::Text(text) = &document.content else {
            return false;
        };
        let said = model.predict(text);
        let top =
            (0..said.len()).max_by(|&a, &b| said[a].log_odds().total_cmp(&said[b].log_odds()));
        top.is_some_and(|top| names[top] == document.labels[0])
    };
    fresh.iter().filter(right).count() as f64 / fresh.len() as f64
}

#[test]
fn codes_decide_as_well_as_each_class_against_the_rest() {
    let (training, fresh) = (documents(400, 6, 60, 1), documents(400, 6, 60, 2));
    let plain = with_classifier(Classifier::default());
    let usual = accuracy(&fitted(&training, &plain), &fresh);
    assert!(usual > 0.8, "{usual}");
    for one in CodeDesign::ALL {
        for decode in Decode::ALL {
            if decode == Decode::LeastSquares && one.is_sparse() {
                continue;
            }
            let code = CodeSettings {
                decode,
                ..design(one)
            };
            let model = fitted(&training, &coded(plain.clone(), code));
            let found = accuracy(&model, &fresh);
            assert!(
                found > usual - 0.05,
                "{} {decode:?}: {found} {usual}",
                one.name()
            );
        }
    }
}

#[test]
fn a_code_of_each_class_against_the_rest_has_the_scorers_of_no_code() {
    let documents = documents(90, 4, 40, 1);
    let plain = with_classifier(Classifier::default());
    let without = fitted(&documents, &plain);
    let with = fitted(&documents, &coded(plain, design(CodeDesign::OneVsAll)));
    let SavedScorer::OutputCodes(coded) = with.as_single().unwrap().scorer() else {
        panic!("no code");
    };
    let mut buffers = Default::default();
    let without = without.as_single().unwrap();
    for document in &documents {
        let row = without.extractor().row(&document.content, &mut buffers);
        let expected = without.scorer().output_scores(row);
        let mut binary = vec![0.0; 4];
        coded.binary_into(row, &mut Default::default(), &mut binary);
        for (binary, expected) in binary.iter().zip(expected) {
            assert!((binary - expected).abs() < 1e-6, "{binary} {expected}");
        }
    }
}

#[test]
fn classes_of_one_document_and_codes_that_cannot_be_are_learned_or_refused() {
    let mut rare = documents(40, 3, 20, 1);
    rare.push(common::document("w1 rare", &["only one"]));
    rare.push(common::document("w2 rare", &["only other"]));
    for (name, settings) in setups() {
        let model = fit_batches(&rare, &settings, 100);
        let model = model.unwrap_or_else(|error| panic!("{name}: {error}"));
        check_probabilities(&model, "rare w1");
    }
    let settings = coded(FitSettings::default(), CodeSettings::default());
    for documents in [documents(40, 2, 20, 1), multi_label_documents(40, 3, 1)] {
        let refused = fit_batches(&documents, &settings, 100);
        assert!(matches!(refused, Err(FitError::BadSetting { .. })));
    }
}
