//! Promises of predictions, from documents to sets, answers and decisions: kept as often as stated, whatever they rest on.

use crate::common;

use calibrant::NoProgress;
use calibrant::corpus::{Document, Fields};
use calibrant::decision::{ASK, Certify, SetKind};
use calibrant::inbox::{InboxSettings, SimulatedInbox};
use calibrant::jobs::{
    AskF, AskSets, CalibrationExamples, FAverage, PredictError, PredictSettings, Predictor,
    PriorChoice, PromiseError, SeenPromises,
};
use calibrant::numeric::exact_lower_share;
use calibrant::pipeline::{
    FitSettings, HeldOutDocuments, Model, RecalibrateSettings, Recalibrator, TrainingCorpus, fit,
};
use common::{combined, documents, fitted, multi_label_documents};

/// Messages whose classes overlap, with their labels.
fn inbox(count: usize, seed: u64) -> Vec<Document> {
    inbox_of(15.0, count, seed)
}

/// The more words, the easier.
fn inbox_of(median_words: f64, count: usize, seed: u64) -> Vec<Document> {
    let settings = InboxSettings {
        message_count: count,
        median_words,
        ..InboxSettings::default()
    };
    let inbox = SimulatedInbox::new(&settings, seed).unwrap();
    let names = inbox.class_names;
    let messages = inbox.messages.into_iter();
    messages
        .map(|message| Document::new(message.text).label(names[message.label].clone()))
        .collect()
}

fn model(documents: Vec<Document>) -> Model {
    let settings = FitSettings::default();
    let corpus = TrainingCorpus::of_documents(&settings, documents).unwrap();
    fit(corpus, Fields::default(), &settings, &NoProgress).unwrap()
}

fn seen(predictor: &Predictor<'_>, test: &[Document]) -> f64 {
    let (predictions, _) = predictor.predict_batch(test).unwrap();
    let held = predictions
        .iter()
        .zip(test)
        .filter(|(prediction, document)| {
            let set = prediction.set.as_ref().unwrap();
            set.iter().any(|label| *label == document.labels[0])
        });
    held.count() as f64 / test.len() as f64
}

#[test] // The small version of `calibrant-experiments sets`.
fn sets_hold_the_true_class_as_often_as_promised() {
    let model = model(inbox(1_500, 1));
    let (calibration, test) = (inbox(1_000, 2), inbox(1_000, 3));
    let examples = CalibrationExamples::of_documents(&model, &calibration).unwrap();
    assert!(examples.len() > 990 && examples.learned == 0);
    for kind in SetKind::ALL {
        for coverage in [0.8, 0.95] {
            let asked = AskSets {
                coverage,
                kind,
                ..AskSets::default()
            };
            let allowed = 3.0 * (coverage * (1.0 - coverage) * 2.0 / 1_000.0f64).sqrt();
            let of_file = Predictor::new(&model).sets(asked, Some(&examples)).unwrap();
            let difference = seen(&of_file, &test) - coverage;
            assert!(difference.abs() < allowed, "{kind} {coverage} {difference}");
            let kept = Predictor::new(&model).sets(asked, None).unwrap();
            let difference = seen(&kept, &test) - coverage;
            assert!(
                difference.abs() < 1.5 * allowed,
                "{kind} {coverage} {difference}"
            );
            let by_class = AskSets {
                class_by_class: true,
                keep_top: true,
                ..asked
            };
            let found = model.forecast_documents(&test);
            let of_classes =
                SeenPromises::of(&model, &found, (Some(by_class), None), Some(&examples));
            for class in of_classes.unwrap().unwrap().sets.unwrap().classes {
                let (n, miss) = (class.documents as f64, coverage * (1.0 - coverage));
                // As many of a class calibrate as are tested, nearly.
                let allowed = 3.0 * (miss * 2.0 / n).sqrt();
                assert!(
                    n < 50.0 || class.coverage - coverage > -allowed,
                    "{class:?}"
                );
            }
            let by_class = Predictor::new(&model).sets(by_class, None).unwrap();
            assert!(seen(&by_class, &test) - coverage > -1.5 * allowed);
            // A document by itself has the set that it has among others.
            let (batch, _) = of_file.predict_batch(&test[..5]).unwrap();
            for (document, prediction) in test.iter().zip(&batch) {
                assert_eq!(of_file.predict(document).unwrap().set, prediction.set);
            }
        }
    }
}

#[test] // Shares of classes are changed by leaving documents out.
fn sets_for_other_shares_are_those_of_the_new_ones() {
    let model = model(inbox(1_500, 1));
    let rare = model.class_names().next().unwrap().to_owned();
    let mut common = false;
    let test: Vec<Document> = inbox(4_000, 4)
        .into_iter()
        .filter(|document| {
            common = !common;
            document.labels[0] != rare || common
        })
        .collect();
    let share = test.iter().filter(|d| d.labels[0] == rare).count() as f64 / test.len() as f64;
    let choice = PriorChoice::Given(vec![(rare, share)]);
    let predictor = Predictor::new(&model).prior(&choice).unwrap();
    let asked = AskSets::default();
    let predictor = predictor.sets(asked, None).unwrap();
    assert!((seen(&predictor, &test) - 0.9).abs() < 0.03);
    let (_, summary) = predictor.predict_batch(&test[..2]).unwrap();
    assert!(summary.is_some());
}

#[test]
fn answers_are_wrong_as_seldom_as_certified() {
    let model = model(inbox_of(60.0, 1_500, 1));
    let (calibration, test) = (inbox_of(60.0, 2_000, 5), inbox_of(60.0, 2_000, 6));
    let examples = CalibrationExamples::of_documents(&model, &calibration).unwrap();
    let asked = Certify {
        max_error: 0.1,
        certainty: 0.95,
    };
    for given in [Some(&examples), None] {
        let predictor = Predictor::new(&model).max_error(asked, given).unwrap();
        let (predictions, _) = predictor.predict_batch(&test).unwrap();
        let (mut answered, mut wrong) = (0, 0);
        for (prediction, document) in predictions.iter().zip(&test) {
            let action = &prediction.decision.as_ref().unwrap().action;
            if action != ASK {
                assert_eq!(*action, prediction.classes[0].label);
                answered += 1;
                wrong += u64::from(*action != document.labels[0]);
            }
        }
        assert!(answered > 500, "{answered}");
        assert!(
            exact_lower_share(wrong, answered, 0.01) < 0.1,
            "{wrong} of {answered}"
        );
    }
    let impossible = Certify {
        max_error: 0.001,
        certainty: 0.95,
    };
    let refused = Predictor::new(&model).max_error(impossible, Some(&examples));
    let Err(PredictError::Promise(PromiseError::NotCertified {
        found,
        least,
        needed,
        ..
    })) = refused
    else {
        panic!("granted");
    };
    // By hand: ln 0.05 / ln 0.999 = 2,994.2.
    assert_eq!((found, least), (examples.len() as u64, 2_995));
    assert!(needed.is_none_or(|needed| needed >= least));
}

#[test]
fn examples_that_were_learned_from_are_refused_and_copies_count_once() {
    let training = inbox(400, 1);
    let model = model(training.clone());
    let known = CalibrationExamples::of_documents(&model, &training);
    assert!(matches!(known, Err(PromiseError::Learned { learned, .. }) if learned > 390));
    let fresh = inbox(200, 9);
    let once = CalibrationExamples::of_documents(&model, &fresh).unwrap();
    // Some that it knows beside new ones: those are left out, and the promise is that of the others.
    let mixed = [fresh.clone(), training[..50].to_vec()].concat();
    let mixed = CalibrationExamples::of_documents(&model, &mixed).unwrap();
    assert!((48..=51).contains(&mixed.learned), "{}", mixed.learned);
    assert!(mixed.len() <= once.len() && mixed.len() + 2 >= once.len());
    let twice =
        CalibrationExamples::of_documents(&model, &[fresh.clone(), fresh].concat()).unwrap();
    assert_eq!((once.len(), twice.copies), (twice.len(), 200 + once.copies));
    // What was tested on what it rests on was not tested.
    let found = model.forecast_documents(&inbox(200, 9));
    let asked = (Some(AskSets::default()), None);
    assert!(matches!(
        SeenPromises::of(&model, &found, asked, Some(&once)),
        Err(PromiseError::Common { common: 200, .. })
    ));
    // Whatever is answered to a label that is not known is wrong, and no set holds it.
    let odd: Vec<Document> = (0..200)
        .map(|i| Document::new(format!("{} odd{i}", text_of(&training[i]))).label("eggs"))
        .collect();
    let mixed = CalibrationExamples::of_documents(&model, &[inbox(200, 9), odd.clone()].concat());
    let mixed = mixed.unwrap();
    assert_eq!((mixed.strangers, mixed.left_out), (200, 0));
    let certify = Certify {
        max_error: 0.2,
        certainty: 0.9,
    };
    let refused = Predictor::new(&model).max_error(certify, Some(&mixed));
    assert!(matches!(
        refused,
        Err(PredictError::Promise(PromiseError::NotCertified {
            found: 350..=400,
            ..
        }))
    ));
    let refused = Predictor::new(&model).sets(AskSets::default(), Some(&mixed));
    assert!(matches!(
        refused,
        Err(PredictError::Promise(PromiseError::Strangers {
            documents: 200
        }))
    ));
    // So it is on documents that are measured: as many more, each answered wrongly or not at all.
    let loose = Certify {
        max_error: 0.3,
        certainty: 0.9,
    };
    let seen = |documents: &[Document]| {
        let found = model.forecast_documents(documents);
        let seen = SeenPromises::of(&model, &found, (None, Some(loose)), Some(&once));
        seen.unwrap().unwrap().answers.unwrap()
    };
    let test = inbox(300, 11);
    let (known, both) = (seen(&test), seen(&[test.clone(), odd.clone()].concat()));
    assert_eq!((known.of_unknown_labels, both.of_unknown_labels), (0, 200));
    assert_eq!(both.documents, known.documents + 200);
    assert!(both.answered > known.answered);
    assert_eq!(both.wrong - known.wrong, both.answered - known.answered);
    let strangers = [Document::new("something else").label("eggs")];
    let none = CalibrationExamples::of_documents(&model, &strangers);
    assert_eq!(none.unwrap_err(), PromiseError::NoExamples);
}

fn text_of(document: &Document) -> String {
    document.content.as_text().unwrap_or_default().to_owned()
}

#[test]
fn documents_of_a_recalibration_are_known_from_then_on() {
    // Every second document of the first class is left out, so that there is something to correct.
    let model = model(inbox(600, 1));
    let rare = model.class_names().next().unwrap().to_owned();
    let mut keep = 0;
    let new: Vec<Document> = inbox(900, 5)
        .into_iter()
        .filter(|document| {
            keep += 1;
            document.labels[0] != rare || keep % 8 == 0
        })
        .collect();
    let recalibrator = Recalibrator::new(model);
    let mut found = HeldOutDocuments::default();
    recalibrator.add(recalibrator.forecast(new.clone()), &mut found);
    let found = recalibrator
        .recalibrate(found, &RecalibrateSettings::default())
        .unwrap();
    assert!(found.changed);
    let opened = Model::from_bytes(&found.model.to_bytes().unwrap()).unwrap();
    for model in [&found.model, &opened] {
        let known = CalibrationExamples::of_documents(model, &new);
        assert!(
            matches!(known, Err(PromiseError::Learned { .. })),
            "{known:?}"
        );
        assert!(CalibrationExamples::of_documents(model, &inbox(200, 9)).is_ok());
    }
}

#[test]
fn combinations_keep_tables_and_models_of_earlier_versions_ask_for_examples() {
    let all = documents(300, 3, 60, 1);
    let settings = FitSettings::default();
    let parts: Vec<Model> = [&all[..100], &all[100..200]]
        .iter()
        .map(|part| fitted(part, &settings))
        .collect();
    let pool = combined(parts, &all[200..]).unwrap();
    let asked = AskSets {
        coverage: 0.8,
        ..AskSets::default()
    };
    let sets = Predictor::new(&pool).sets(asked, None).unwrap();
    assert!(sets.predict_text("w1 w2").unwrap().set.is_some());
    // Saved and opened it says the same.
    let again = Model::from_bytes(&pool.to_bytes().unwrap()).unwrap();
    assert_eq!(again.promise_tables(), pool.promise_tables());
    let old = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/models/format-3-together.calibrant"
    );
    let old = Model::open(old.as_ref()).unwrap();
    let nothing = Predictor::new(&old).sets(asked, None);
    assert!(matches!(
        nothing,
        Err(PredictError::Promise(PromiseError::NothingKept))
    ));
    let examples = CalibrationExamples::of_documents(&old, &documents(60, 3, 60, 7)).unwrap();
    let sets = Predictor::new(&old).sets(asked, Some(&examples)).unwrap();
    assert!(sets.predict_text("w1 w2").unwrap().set.is_some());
}

#[test]
fn several_labels_have_sets_and_decisions_of_the_best_f() {
    let model = fitted(&multi_label_documents(400, 5, 1), &FitSettings::default());
    let test = multi_label_documents(400, 5, 2);
    let asked = AskSets::default();
    let sets = Predictor::new(&model).sets(asked, None).unwrap();
    let (predictions, _) = sets.predict_batch(&test).unwrap();
    let held: f64 = predictions
        .iter()
        .zip(&test)
        .map(|(prediction, document)| {
            let set = prediction.set.as_ref().unwrap();
            let found = document
                .labels
                .iter()
                .filter(|label| set.iter().any(|own| own == *label));
            found.count() as f64 / document.labels.len().max(1) as f64
                + f64::from(u8::from(document.labels.is_empty()))
        })
        .sum();
    assert!((held / 400.0 - 0.9).abs() < 0.05, "{}", held / 400.0);
    for average in FAverage::ALL {
        let ask = AskF { beta: 1.0, average };
        let predictor = Predictor::new(&model).f_beta(ask).unwrap();
        let (predictions, _) = predictor.predict_batch(&test).unwrap();
        let decided = |text: &str| {
            let all = predictions
                .iter()
                .flat_map(|prediction| &prediction.classes);
            all.filter(|class| class.decision.as_ref().unwrap().action == text)
                .count()
        };
        assert!(decided("yes") > 100 && decided("no") > 100);
        assert_eq!(decided("yes") + decided("no"), 2_000);
        let alone = predictor.predict(&test[0]);
        match average {
            FAverage::Samples => assert_eq!(alone.unwrap().classes, predictions[0].classes),
            _ => assert!(matches!(alone, Err(PredictError::OneDocument))),
        }
    }
    let answers = Predictor::new(&model).max_error(Certify::default(), None);
    assert!(matches!(
        answers,
        Err(PredictError::Promise(PromiseError::AnswersOfLabels))
    ));
}

#[test]
fn what_cannot_go_together_is_refused() {
    let model = fitted(&documents(200, 3, 60, 1), &FitSettings::default());
    let refused = |settings: PredictSettings| match Predictor::with_settings(&model, &settings) {
        Err(PredictError::Promise(error)) => error,
        other => panic!("{other:?}"),
    };
    let (sets, max_error) = (Some(AskSets::default()), Some(Certify::default()));
    let prior = PriorChoice::Given(vec![("class 0".into(), 0.5)]);
    let plain = PredictSettings::default;
    assert_eq!(
        refused(PredictSettings {
            max_error,
            prior,
            ..plain()
        }),
        PromiseError::AnswersWithPrior
    );
    let estimated = PriorChoice::Estimated(calibrant::jobs::AdaptPrior::Always);
    assert_eq!(
        refused(PredictSettings {
            sets,
            prior: estimated,
            ..plain()
        }),
        PromiseError::SetsWithEstimate
    );
    let other = Some(calibrant::decision::OtherRule::Loss(0.1));
    assert_eq!(
        refused(PredictSettings {
            sets,
            other,
            ..plain()
        }),
        PromiseError::WithOther
    );
    let costs = vec![calibrant::decision::CostEntry::new(
        "class 0", "class 1", 3.0,
    )];
    assert_eq!(
        refused(PredictSettings {
            max_error,
            costs,
            ..plain()
        }),
        PromiseError::TwoDecisions
    );
    let f_beta = Some(AskF {
        beta: 1.0,
        average: FAverage::Micro,
    });
    assert_eq!(
        refused(PredictSettings { f_beta, ..plain() }),
        PromiseError::OneLabel
    );
    let demanding = Some(AskSets {
        coverage: 0.999,
        ..AskSets::default()
    });
    assert!(matches!(
        refused(PredictSettings {
            sets: demanding,
            ..plain()
        }),
        PromiseError::TooFewForSets { needed: 999, .. }
    ));
    let kept = Predictor::new(&model)
        .sets(AskSets::default(), None)
        .unwrap();
    assert_eq!(kept.set_separator(), "|");
}
