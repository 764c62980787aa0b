use super::testing::{class_fit, one_score_fit, one_score_table, settings};
use super::*;
use crate::evaluation::evaluate;
use crate::{CalibrationError, FitError};

fn probability(calibrator: &ScoreCalibrator, score: f64) -> f64 {
    let mut out = [Probability::from_log_odds(0.0)];
    calibrator.probabilities_into(&[score], &mut ScoreBuffers::default(), &mut out);
    out[0].value()
}

#[test]
fn scores_become_the_probabilities_that_made_the_labels() {
    let table = one_score_table(20_000, 3);
    let fit = ScoreCalibrator::fit(table.clone(), &settings(&["no", "yes"], &["s"])).unwrap();
    let calibrator = &fit.calibrator;
    assert_eq!(calibrator.summary().method, "spline"); // which is next to a line here
    for score in [-2.0, -0.5, 0.0, 1.0, 3.0] {
        let truth = crate::numeric::sigmoid(2.0 * score);
        assert!((probability(calibrator, score) - truth).abs() < 0.02);
    }
    let forecasts = calibrator.forecasts(fit.cross_validated, &table.labels, table.weights);
    let measured = evaluate(&forecasts).unwrap();
    let remembered = &calibrator.summary().cross_validated;
    assert_eq!(measured.log_loss, remembered.log_loss);
    assert!((calibrator.priors()[0] - 0.5).abs() < 0.02);
}

#[test]
fn probabilities_are_taken_as_log_odds_unless_told_otherwise() {
    let mut table = one_score_table(2000, 4);
    // Stated by a forecaster that is too timid by half; some rounded to the ends.
    for score in &mut table.scores {
        *score = (crate::numeric::sigmoid(*score) * 100.0).round() / 100.0;
    }
    table.scores[0] = 1.0;
    table.scores[1] = 0.0;
    let mut settings = settings(&["no", "yes"], &["s"]);
    settings.method = CalibratorKind::Platt;
    let fit = ScoreCalibrator::fit(table.clone(), &settings).unwrap();
    assert!(fit.calibrator.scale().is_probability());
    let ScoreCurve::OneScore(held) = fit.calibrator.curve() else {
        panic!("{:?}", fit.calibrator.curve());
    };
    let SavedCalibrator::Platt(curve) = held.curve() else {
        panic!("{held:?}");
    };
    assert!((curve.slope - 2.0).abs() < 0.25, "{curve:?}");
    settings.score_is = ScoreIs::Number;
    let fit = ScoreCalibrator::fit(table, &settings).unwrap();
    assert_eq!(fit.calibrator.scale(), ScoreScale::Number);
}

#[test]
fn the_order_of_rows_makes_no_difference() {
    let table = one_score_table(300, 5);
    let reversed = ScoreTable {
        scores: table.scores.iter().rev().copied().collect(),
        labels: table.labels.iter().rev().copied().collect(),
        weights: table.weights.clone(),
    };
    let settings = settings(&["no", "yes"], &["s"]);
    let there = ScoreCalibrator::fit(table, &settings).unwrap();
    let back = ScoreCalibrator::fit(reversed, &settings).unwrap();
    assert_eq!(
        there.calibrator.to_bytes().unwrap(),
        back.calibrator.to_bytes().unwrap()
    );
    let mut forecasts = back.cross_validated;
    forecasts.reverse();
    assert_eq!(there.cross_validated, forecasts);
}

#[test]
fn classes_get_probabilities_that_sum_to_one() {
    let fit = class_fit();
    let calibrator = &fit.calibrator;
    assert_eq!(
        (calibrator.task(), calibrator.outputs().len()),
        (Task::SingleLabel, 3)
    );
    let mut buffer = ScoreBuffers::default();
    let mut out = [Probability::from_log_odds(0.0); 3];
    for scores in [[1.0, 2.0, 3.0], [0.0; 3], [1e308, -1e308, 0.0]] {
        calibrator.probabilities_into(&scores, &mut buffer, &mut out);
        let sum: f64 = out.iter().map(|p| p.value()).sum();
        assert!((sum - 1.0).abs() < 1e-9);
        let (stated, _) = calibrator.as_stated(&scores);
        let sum: f64 = stated.iter().map(|p| p.value()).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
    // By hand: e : 1 : 1.
    let (stated, ends) = calibrator.as_stated(&[1.0, 0.0, 0.0]);
    assert_eq!(ends, None);
    let e = 1f64.exp();
    assert!((stated[0].value() - e / (e + 2.0)).abs() < 1e-12);
    assert!(
        calibrator
            .priors()
            .iter()
            .all(|prior| (prior - 1.0 / 3.0).abs() < 1e-12)
    );
    assert_eq!(calibrator.interval(&[0.0; 3]), None);
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let fit = |scores: &[f64], labels: &[u32], settings: &ScoreSettings| {
        let table = ScoreTable {
            scores: scores.to_vec(),
            labels: labels.to_vec(),
            weights: vec![1.0; labels.len()],
        };
        ScoreCalibrator::fit(table, settings)
    };
    let one = settings(&["no", "yes"], &["s"]);
    assert_eq!(fit(&[], &[], &one), Err(FitError::NoDocuments));
    let outcome = fit(&[1.0, 2.0], &[1, 1], &one);
    assert!(matches!(outcome, Err(FitError::OneClass { class, .. }) if class == "yes"));
    // A method that was asked for by name is not replaced, however few examples there are.
    let mut platt = one.clone();
    platt.method = CalibratorKind::Platt;
    let outcome = fit(&[1.0, 2.0, 3.0], &[0, 1, 0], &platt);
    assert!(matches!(
        outcome,
        Err(FitError::Calibration(CalibrationError::TooFewExamples {
            positives: 1,
            ..
        }))
    ));
    assert!(fit(&[1.0, f64::NAN, 1.0, 2.0], &[0, 1, 0, 1], &one).is_err());
    assert!(fit(&[1.0], &[0, 1, 0, 1], &one).is_err());
    assert!(fit(&[1.0, 2.0], &[0, 2], &one).is_err());
    assert!(fit(&[1.0, 2.0], &[0, 1], &settings(&["a", "b", "c"], &["s"])).is_err());
    assert!(fit(&[1.0, 2.0], &[0, 1], &settings(&["a"], &["s"])).is_err());
    assert!(fit(&[1.0; 6], &[0, 1], &settings(&["a", "b", "c"], &["x", "y"])).is_err());
}

#[test]
fn degenerate_scores_give_finite_probabilities() {
    for scores in [
        vec![0.0; 12],
        vec![1e308; 12],
        (0..12)
            .map(|i| if i % 2 == 0 { 1e308 } else { -1e308 })
            .collect(),
        (0..12).map(|i| f64::from(i % 2)).collect(),
        (0..12).map(|i| f64::from(1 - i % 2)).collect(),
    ] {
        let table = ScoreTable {
            scores: scores.clone(),
            labels: (0..12).map(|i| i % 2).collect(),
            weights: vec![1.0; 12],
        };
        let fit = match ScoreCalibrator::fit(table, &settings(&["no", "yes"], &["s"])) {
            Ok(fit) => fit,
            // Slopes beyond all bounds are refused with their name.
            Err(error) => {
                assert!(
                    matches!(error, FitError::Overflow | FitError::NotConverged { .. }),
                    "{error}"
                );
                continue;
            }
        };
        for score in [-1e308, -1.0, 0.0, 0.5, 1.0, 1e308] {
            let p = probability(&fit.calibrator, score);
            assert!(p > 0.0 && p < 1.0, "{scores:?} {score} {p}");
        }
    }
}

#[test]
fn weights_make_the_priors() {
    let mut table = one_score_table(60, 1);
    let plain = one_score_fit().calibrator.priors()[0];
    for (weight, label) in table.weights.iter_mut().zip(&table.labels) {
        *weight = if *label == 1 { 3.0 } else { 1.0 };
    }
    let fit = ScoreCalibrator::fit(table, &settings(&["no", "yes"], &["s"])).unwrap();
    // By hand: three times the odds.
    let odds = 3.0 * plain / (1.0 - plain);
    assert!((fit.calibrator.priors()[0] - odds / (1.0 + odds)).abs() < 1e-12);
}

#[test] // A stated 0.63 of five classes came out as 0.566.
fn none_leaves_what_is_stated_as_it_is() {
    let rows = [
        [0.63, 0.2, 0.1, 0.05, 0.02],
        [0.1, 0.5, 0.2, 0.1, 0.1],
        [1e-9, 0.3, 0.3, 0.3, 0.1 - 1e-9],
    ];
    let table = ScoreTable {
        scores: rows.concat(),
        labels: vec![0, 1, 2],
        weights: vec![1.0; 3],
    };
    let mut settings = settings(&["a", "b", "c", "d", "e"], &["a", "b", "c", "d", "e"]);
    settings.method = CalibratorKind::None;
    let fit = ScoreCalibrator::fit(table, &settings).unwrap();
    assert!(fit.calibrator.is_identity());
    let mut out = [Probability::from_log_odds(0.0); 5];
    for row in rows {
        fit.calibrator
            .probabilities_into(&row, &mut ScoreBuffers::default(), &mut out);
        for (found, stated) in out.iter().zip(row) {
            assert!((found.value() - stated).abs() < 1e-12, "{found:?} {stated}");
        }
    }
    // By hand: -ln 0.63, -ln 0.5 and -ln 0.3.
    let loss = -(0.63f64 * 0.5 * 0.3).ln() / 3.0;
    assert!((fit.calibrator.summary().cross_validated.log_loss - loss).abs() < 1e-12);
    let saved = serde_json::to_string(&fit.calibrator).unwrap();
    assert_eq!(
        serde_json::from_str::<ScoreCalibrator>(&saved).unwrap(),
        fit.calibrator
    );
}

#[test]
fn none_leaves_one_probability_as_it_is_even_beyond_those_it_saw() {
    let table = ScoreTable {
        scores: vec![0.4, 0.6, 0.3, 0.7],
        labels: vec![0, 1, 0, 1],
        weights: vec![1.0; 4],
    };
    let mut settings = settings(&["no", "yes"], &["s"]);
    settings.method = CalibratorKind::None;
    let fit = ScoreCalibrator::fit(table, &settings).unwrap();
    for stated in [1e-12, 0.3, 0.5, 0.999_999] {
        assert!((probability(&fit.calibrator, stated) / stated - 1.0).abs() < 1e-9);
    }
    // By hand: half of 0.3, and of 1 - 0.7.
    assert!((probability(&fit.calibrator, 0.0) - 0.15).abs() < 1e-12);
    assert!((probability(&fit.calibrator, 1.0) - 0.85).abs() < 1e-12);
}

#[test]
fn a_zero_counts_alike_in_the_curve_and_in_what_is_measured() {
    let table = ScoreTable {
        scores: [
            [0.0, 0.4, 0.6],
            [0.2, 0.8, 0.0],
            [0.5, 0.3, 0.2],
            [0.1, 0.2, 0.7],
        ]
        .repeat(3)
        .concat(),
        labels: [2, 1, 0, 2].repeat(3),
        weights: vec![1.0; 12],
    };
    let mut settings = settings(&["a", "b", "c"], &["a", "b", "c"]);
    settings.multiclass = MulticlassKind::Temperature;
    let fit = ScoreCalibrator::fit(table, &settings).unwrap();
    let (_, ends) = fit
        .calibrator
        .as_stated(&[0.0, 0.4, 0.6, 0.2, 0.8, 0.0, 0.1, 0.2, 0.7]);
    let stored = fit.calibrator.zeros.as_ref().unwrap();
    // By hand: half of 0.1, 0.2 and 0.2 among all rows; of these three half of 0.1, 0.2 and 0.6.
    for (found, expected) in stored.iter().zip([0.05, 0.1, 0.1]) {
        assert!((found - expected).abs() < 1e-12);
    }
    assert!((ends.unwrap().zero_counts_as[2] - 0.3).abs() < 1e-12);
}

/// Ten votes for one of twenty classes. A zero of the last class, of which nothing but 0.6 is stated, came out above a 0.1.
#[test]
fn zeros_stay_below_what_is_stated_beside_them_with_and_without_a_curve() {
    let names: Vec<String> = (0..20).map(|class| format!("c{class}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut scores = Vec::new();
    let mut labels = Vec::new();
    for row in 0..120_usize {
        let mut stated = [0.0; 20];
        if row % 12 == 0 {
            (stated[19], stated[row % 7]) = (0.6, 0.4);
        } else {
            stated[row % 19] = 0.7;
            for place in 1..4 {
                stated[(row + 5 * place) % 19] += 0.1;
            }
        }
        scores.extend(stated);
        labels.push(if row % 12 == 0 {
            19
        } else {
            ((row + 5 * usize::from(row % 5 == 0)) % 19) as u32
        });
    }
    let table = ScoreTable {
        weights: vec![1.0; labels.len()],
        labels,
        scores: scores.clone(),
    };
    let mut settings = settings(&names, &names);
    for method in [CalibratorKind::None, CalibratorKind::Auto] {
        settings.method = method;
        settings.multiclass = MulticlassKind::Temperature;
        let fit = ScoreCalibrator::fit(table.clone(), &settings).unwrap();
        let (mut buffer, mut out) = (
            ScoreBuffers::default(),
            vec![Probability::from_log_odds(0.0); 20],
        );
        for row in scores.chunks(20) {
            fit.calibrator
                .probabilities_into(row, &mut buffer, &mut out);
            for (a, b) in (0..20).flat_map(|a| (0..20).map(move |b| (a, b))) {
                if row[a] < row[b] {
                    assert!(out[a] < out[b], "{method:?} {row:?} {out:?}");
                }
            }
        }
    }
    // By hand: sixteen zeros share 0.05 at the most.
    settings.method = CalibratorKind::None;
    let fit = ScoreCalibrator::fit(table, &settings).unwrap();
    let found = fit.cross_validated[20 + 1].value();
    assert!((0.7 * 0.95 - 1e-12..0.7).contains(&found), "{found}");
}

fn slope(calibrator: &ScoreCalibrator) -> f64 {
    let ScoreCurve::OneScore(held) = calibrator.curve() else {
        panic!("{:?}", calibrator.curve());
    };
    let SavedCalibrator::Platt(line) = held.curve() else {
        panic!("{held:?}");
    };
    line.slope
}

/// The positives have the least scores of all: a curve that only followed them would fall.
#[test]
fn hardly_any_examples_give_a_curve_that_rises_and_a_note_that_says_so() {
    for positives in 1..5 {
        let table = ScoreTable {
            scores: (0..60).map(|row| f64::from(row) / 20.0 - 1.5).collect(),
            labels: (0..60).map(|row| u32::from(row < positives)).collect(),
            weights: vec![1.0; 60],
        };
        let fit = ScoreCalibrator::fit(table.clone(), &settings(&["no", "yes"], &["s"])).unwrap();
        assert!(slope(&fit.calibrator) > 0.0, "{positives}");
        let notes = &fit.calibrator.summary().notes;
        let expected = ScoreNote::UsualSlope {
            class: "yes".into(),
            examples: positives as usize,
            guess: positives <= 2,
        };
        assert!(notes.contains(&expected), "{notes:?}");
        let few = |note: &ScoreNote| matches!(note, ScoreNote::FewExamples { class, .. } if class == "yes");
        assert!(!notes.iter().any(few), "{notes:?}");
        let falls = |note: &ScoreNote| matches!(note, ScoreNote::Backwards { rises: false, .. });
        assert!(!notes.iter().any(falls), "{notes:?}");
        // What is said adds up to the examples.
        let stated = table
            .scores
            .iter()
            .map(|&s| probability(&fit.calibrator, s));
        let sum: f64 = stated.sum();
        assert!((sum - f64::from(positives)).abs() < 1e-5, "{sum}");
        let back: ScoreCalibrator =
            serde_json::from_str(&serde_json::to_string(&fit.calibrator).unwrap()).unwrap();
        assert_eq!(back, fit.calibrator);
    }
}

#[test]
fn a_class_in_one_group_gets_the_usual_slope_and_a_note() {
    let table = one_score_table(200, 8);
    let group = |(row, &label): (usize, &u32)| match label {
        1 => "the only one".to_owned(),
        _ => format!("g{}", row % 20),
    };
    let groups: Vec<Option<String>> = table
        .labels
        .iter()
        .enumerate()
        .map(group)
        .map(Some)
        .collect();
    let settings = settings(&["no", "yes"], &["s"]);
    let fit = ScoreCalibrator::fit_grouped(table.clone(), &groups, &settings).unwrap();
    let summary = fit.calibrator.summary();
    assert_eq!(summary.method, "platt");
    assert!(slope(&fit.calibrator) > 0.0);
    assert!(
        matches!(&summary.notes[..], [ScoreNote::OneFold { class, .. }] if class == "yes"),
        "{:?}",
        summary.notes
    );
    // Where groups divide both classes there is nothing to say.
    let even: Vec<Option<String>> = (0..200).map(|row| Some(format!("g{}", row % 20))).collect();
    let fit = ScoreCalibrator::fit_grouped(table.clone(), &even, &settings).unwrap();
    assert_eq!(fit.calibrator.summary().notes, []);
    // And where all are one group there is nothing to leave out.
    let one = vec![Some("all".to_owned()); 200];
    let refused = ScoreCalibrator::fit_grouped(table, &one, &settings);
    assert_eq!(
        refused.unwrap_err(),
        FitError::Folds(crate::corpus::FoldError::OneGroup)
    );
}

#[test]
fn a_calibrator_that_nobody_wants_any_more_is_not_fitted() {
    use crate::progress::EndsAfter;
    for questions in 0..3 {
        let progress = EndsAfter::questions(questions);
        let table = one_score_table(60, 1);
        let outcome =
            ScoreCalibrator::fit_watched(table, None, &settings(&["no", "yes"], &["s"]), &progress);
        assert_eq!(outcome.unwrap_err(), FitError::Cancelled);
    }
}
