use super::testing::{class_fit, one_score_fit, one_score_table, settings};
use super::*;
use crate::evaluation::evaluate;

fn probability(calibrator: &ScoreCalibrator, score: f64) -> f64 {
    let mut out = [Probability::from_log_odds(0.0)];
    calibrator.probabilities_into(&[score], &mut ScoreRoom::default(), &mut out);
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
    let ScoreCurve::OneScore(SavedCalibrator::Platt(curve)) = fit.calibrator.curve() else {
        panic!("{:?}", fit.calibrator.curve());
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
    assert_eq!(there.calibrator.to_bytes(), back.calibrator.to_bytes());
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
    let mut room = ScoreRoom::default();
    let mut out = [Probability::from_log_odds(0.0); 3];
    for scores in [[1.0, 2.0, 3.0], [0.0; 3], [1e308, -1e308, 0.0]] {
        calibrator.probabilities_into(&scores, &mut room, &mut out);
        let sum: f64 = out.iter().map(|p| p.value()).sum();
        assert!((sum - 1.0).abs() < 1e-9);
        calibrator.uncalibrated_into(&scores, &mut room, &mut out);
        let sum: f64 = out.iter().map(|p| p.value()).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
    // By hand: e : 1 : 1.
    calibrator.uncalibrated_into(&[1.0, 0.0, 0.0], &mut room, &mut out);
    let e = 1f64.exp();
    assert!((out[0].value() - e / (e + 2.0)).abs() < 1e-12);
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
    let outcome = fit(&[1.0, 2.0, 3.0], &[0, 1, 0], &one);
    assert!(matches!(
        outcome,
        Err(FitError::TooFewExamples { positives: 1, .. })
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
