//! Every way to calibrate many classes at once, through the whole pipeline.

use crate::common;

use calibrant::calibration::{CalibratorKind, ClassBuffers, MulticlassKind};
use calibrant::corpus::Content;
use calibrant::pipeline::{CalibrationNote, FitSettings, Model};
use calibrant::scorers::NaiveBayesKind;
use calibrant::{FitError, Probability};
use common::{
    check_probabilities, documents, fit_batches, fitted, multi_label_documents, naive_bayes,
    with_classifier,
};

const TOGETHER: [MulticlassKind; 5] = [
    MulticlassKind::SharedCurve,
    MulticlassKind::Temperature,
    MulticlassKind::Vector,
    MulticlassKind::Coupling,
    MulticlassKind::Dirichlet,
];

fn settings(multiclass: MulticlassKind, bayes: bool) -> FitSettings {
    let plain = if bayes {
        with_classifier(naive_bayes(NaiveBayesKind::Multinomial))
    } else {
        FitSettings::default()
    };
    FitSettings {
        multiclass,
        ..plain
    }
}

const TEXTS: [&str; 4] = ["w1 w2 w3 w4 w5", "w7 w7 w7 w8", "w0 w30 w31 unheard", ""];

/// Base and terms add up to the log-odds of the very probability that is predicted.
#[track_caller]
fn check_explanations(model: &Model) {
    for text in TEXTS {
        let said = model.predict(text);
        for (class, said) in said.iter().enumerate() {
            let explanation = model.explain(&Content::Text(text.to_owned()), class);
            let terms: f64 = explanation.terms.iter().map(|term| term.log_odds).sum();
            let sum = explanation.base_log_odds + terms;
            assert!((sum - said.log_odds()).abs() < 1e-6, "{sum} {said:?}");
            assert!((explanation.calibrated_log_odds - said.log_odds()).abs() < 1e-9);
        }
    }
}

#[test]
fn every_way_predicts_explains_and_survives_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for class_count in [2, 4] {
        let documents = documents(240, class_count, 80, 3);
        for kind in TOGETHER {
            for bayes in [false, true] {
                let model = fitted(&documents, &settings(kind, bayes));
                let single = model.as_single().unwrap();
                let joint = single.class_calibrator().unwrap();
                assert_eq!(joint.kind(), kind);
                assert!(single.calibrators().is_empty());
                let summary = model.summary();
                assert_eq!(summary.multiclass.as_ref().unwrap().chosen, kind);
                assert!(
                    summary
                        .classes
                        .iter()
                        .all(|class| class.calibration == CalibrationNote::Joint)
                );
                assert_eq!(summary.borrowed().count(), 0);
                // Better than knowing nothing.
                let loss = summary.held_out.log_loss;
                assert!(
                    loss < 0.9 * (class_count as f64).ln(),
                    "{}: {loss}",
                    kind.name()
                );
                check_explanations(&model);
                model.save(&path).unwrap();
                let opened = Model::open(&path).unwrap();
                for text in TEXTS {
                    check_probabilities(&opened, text);
                    assert_eq!(opened.predict(text), model.predict(text));
                }
            }
        }
    }
}

#[test]
fn auto_weighs_its_ways_and_is_never_much_worse_than_one_against_the_rest() {
    for bayes in [false, true] {
        let documents = documents(400, 5, 120, 9);
        let each = fitted(&documents, &settings(MulticlassKind::OneVsRest, bayes));
        assert_eq!(each.summary().multiclass, None);
        let auto = fitted(&documents, &settings(MulticlassKind::Auto, bayes));
        let tried = &auto.summary().multiclass.as_ref().unwrap().tried;
        let kinds: Vec<MulticlassKind> = tried.iter().map(|way| way.kind).collect();
        assert_eq!(kinds, MulticlassKind::POOLED);
        let known = each.summary().held_out.log_loss;
        assert!(auto.summary().held_out.log_loss < known + 0.02);
        check_explanations(&auto);
        TEXTS
            .iter()
            .for_each(|text| check_probabilities(&auto, text));
        // Without a word it is what one gets.
        let usual = fitted(&documents, &settings(MulticlassKind::default(), bayes));
        assert!(usual.to_bytes().unwrap() == auto.to_bytes().unwrap());
    }
}

#[test]
fn curves_that_are_to_rise_leave_the_classes_together() {
    for bayes in [false, true] {
        let documents = documents(400, 5, 120, 9);
        let rising = |multiclass| FitSettings {
            monotone: true,
            ..settings(multiclass, bayes)
        };
        let model = fitted(&documents, &rising(MulticlassKind::Auto));
        let tried = &model.summary().multiclass.as_ref().unwrap().tried;
        // A matrix may fall, and is left out.
        assert!(
            tried
                .iter()
                .all(|way| way.kind != MulticlassKind::Dirichlet)
        );
        let joint = model.as_single().unwrap().class_calibrator().unwrap();
        let (mut buffer, even) = (ClassBuffers::default(), Probability::from_log_odds(0.0));
        let mut said = vec![even; 5];
        for class in 0..5 {
            for rest in [-3.0, -0.5, 0.0] {
                let mut scores = vec![rest; 5];
                let own: Vec<f64> = (-80..=40)
                    .map(|step| {
                        scores[class] = 0.05 * f64::from(step);
                        joint.probabilities_into(&scores, &mut buffer, &mut said);
                        said[class].log_odds()
                    })
                    .collect();
                let rises = own.is_sorted_by(|a, b| b - a >= -1e-9);
                assert!(rises, "{bayes} {class} {rest}: {own:?}");
            }
        }
        check_explanations(&model);
        let refused = fit_batches(&documents, &rising(MulticlassKind::Dirichlet), 50);
        assert!(matches!(refused, Err(FitError::BadSetting { value, .. }) if value == "dirichlet"));
    }
}

#[test]
fn a_calibrator_that_is_named_is_used_for_every_class() {
    let documents = documents(240, 3, 80, 3);
    let named = |multiclass| FitSettings {
        calibrator: CalibratorKind::AsymmetricLaplace,
        ..settings(multiclass, false)
    };
    let auto = fitted(&documents, &named(MulticlassKind::Auto));
    assert!(auto.as_single().unwrap().class_calibrator().is_none());
    let each = fitted(&documents, &named(MulticlassKind::OneVsRest));
    assert_eq!(auto.predict(TEXTS[0]), each.predict(TEXTS[0]));
}

#[test]
fn documents_with_several_labels_have_no_classes_together() {
    let documents = multi_label_documents(100, 3, 2);
    for kind in TOGETHER {
        let outcome = fit_batches(&documents, &settings(kind, false), 50);
        let refused = matches!(outcome, Err(FitError::BadSetting { .. }));
        assert!(refused, "{}", kind.name());
    }
}

#[test]
fn labels_have_their_curves_alone_or_weighed_with_one_for_all() {
    let documents = multi_label_documents(300, 3, 2);
    let notes = |kind| -> Vec<CalibrationNote> {
        let model = fitted(&documents, &settings(kind, false));
        let classes = model.summary().classes.iter();
        classes.map(|class| class.calibration).collect()
    };
    assert_eq!(notes(MulticlassKind::OneVsRest), [CalibrationNote::Own; 3]);
    let weighed = [CalibrationNote::Weighed, CalibrationNote::Common];
    let together = notes(MulticlassKind::Auto);
    assert!(
        together.iter().any(|note| weighed.contains(note)),
        "{together:?}"
    );
}

#[test]
fn the_order_of_documents_changes_no_byte() {
    let documents = documents(120, 3, 60, 4);
    let mut reversed = documents.clone();
    reversed.reverse();
    for kind in TOGETHER.into_iter().chain([MulticlassKind::Auto]) {
        let settings = settings(kind, false);
        let one = fitted(&documents, &settings).to_bytes().unwrap();
        let other = fit_batches(&reversed, &settings, 17)
            .unwrap()
            .to_bytes()
            .unwrap();
        assert!(one == other, "{}", kind.name());
    }
}

#[test]
fn a_class_with_a_single_document_is_no_obstacle() {
    let mut documents = documents(90, 3, 40, 6);
    documents.push(common::document("w1 w5 w9 lonely words", &["rare"]));
    for kind in TOGETHER.into_iter().chain([MulticlassKind::Auto]) {
        for bayes in [false, true] {
            let model = fitted(&documents, &settings(kind, bayes));
            assert_eq!(model.class_count(), 4);
            TEXTS
                .iter()
                .for_each(|text| check_probabilities(&model, text));
        }
    }
}

/// Of margins a line per class stands beside the curve for all: choosing a curve for each of 150 classes took five times as long as learning.
#[test]
fn no_curve_is_chosen_for_each_of_many_classes() {
    let model = fitted(&documents(900, 30, 200, 5), &FitSettings::default());
    let summary = model.summary().multiclass.as_ref().unwrap();
    let each = summary
        .tried
        .iter()
        .find(|way| way.kind == MulticlassKind::OneVsRest);
    assert_eq!(each.unwrap().curves, Some(CalibratorKind::Platt));
}

#[test] // Classes of one document got three times their share.
fn classes_of_a_single_document_get_about_their_share() {
    let mut rows = documents(600, 4, 80, 3);
    for rare in 0..20 {
        let mut one = documents(1, 4, 80, 100 + rare).remove(0);
        one.labels = vec![format!("rare {rare}")];
        rows.push(one);
    }
    let model = fitted(&rows, &FitSettings::default());
    let rare: Vec<usize> = (model.class_names().enumerate())
        .filter(|(_, name)| name.starts_with("rare"))
        .map(|(class, _)| class)
        .collect();
    assert_eq!(rare.len(), 20);
    let fresh = documents(1000, 4, 80, 9);
    let stated = fresh.iter().map(|document| {
        let said = model.predict(document.content.as_text().unwrap());
        rare.iter().map(|&class| said[class].value()).sum::<f64>()
    });
    let share = stated.sum::<f64>() / 1000.0 / (20.0 / 620.0);
    assert!((0.3..2.0).contains(&share), "{share}");
}
