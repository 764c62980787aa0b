//! Calibrators of very many examples: the curve is fitted to all, everything else is found out on some of them.

use super::{ScoreCalibrator, ScoreCurve, ScoreFit, ScoreIs, ScoreSettings, ScoreTable};
use crate::calibration::{
    CalibrationNote, Calibrator, CalibratorKind, ChoiceRules, HeldOutScores, SavedCalibrator,
};
use crate::numeric::relative_weights;
use crate::progress::Stage;
use crate::{FitError, Named, parallel};

/// From so many examples on, what is known from a tenth of them hardly changes: the standard error of a log loss is below a thousandth of
/// a nat, and curves that differ by less are equally good.
const MANY: usize = 200_000;

/// About so many are looked at.
const SAMPLE: usize = 100_000;

/// Every class must have as many examples among those.
const LEAST: usize = 2_000;

/// Whether a table of one score per row is so large that some of it tell which method is best.
pub(super) fn is_large(table: &ScoreTable, settings: &ScoreSettings) -> bool {
    let one_score = settings.fields.scores.len() == 1 && table.scores.len() == table.labels.len();
    one_score && table.labels.len() >= MANY && settings.method != CalibratorKind::None
}

/// Chooses the method, cross-validates and measures it on a sample that is spread evenly along the score, and fits it to all
/// examples. Forecasts are held out as ever: those of the sample come from the other folds, those of the rest from the curve of the
/// sample, which has not seen them.
pub(super) fn fit(
    table: ScoreTable,
    settings: &ScoreSettings,
    stage: &Stage<'_>,
) -> Result<ScoreFit, FitError> {
    let Some((all, order)) = sorted(&table)? else {
        return Ok(ScoreCalibrator::fit_in_folds(table, None, settings, stage)?.0);
    };
    stage.step(0)?;
    let every = all.len() / SAMPLE;
    let places: Vec<usize> = (every / 2..all.len()).step_by(every).collect();
    let rows: Vec<usize> = places.iter().map(|&place| order[place] as usize).collect();
    let sample = ScoreTable {
        scores: rows.iter().map(|&row| table.scores[row]).collect(),
        labels: rows.iter().map(|&row| table.labels[row]).collect(),
        weights: rows.iter().map(|&row| table.weights[row]).collect(),
    };
    let of_class = |class: u32| {
        sample
            .labels
            .iter()
            .filter(|&&label| label == class)
            .count()
    };
    let settings = ScoreSettings {
        score_is: what_they_are(settings.score_is, all.scores()),
        ..settings.clone()
    };
    if of_class(0).min(of_class(1)) < LEAST {
        return Ok(ScoreCalibrator::fit_in_folds(table, None, &settings, stage)?.0);
    }
    let (fit, note) = ScoreCalibrator::fit_in_folds(sample, None, &settings, stage)?;
    let ScoreFit {
        mut calibrator,
        cross_validated,
    } = fit;
    let curve = match (&calibrator.curve, note) {
        (ScoreCurve::OneScore(curve), CalibrationNote::Own) => curve,
        // What is made of scores that tell nothing is not a method that could be fitted again.
        _ => return Ok(ScoreCalibrator::fit_in_folds(table, None, &settings, stage)?.0),
    };
    let apply = |score: f64| calibrator.scale.apply(score);
    let mut said = parallel::map(&table.scores, |&score| curve.probability(apply(score)));
    for (&row, &forecast) in rows.iter().zip(&cross_validated) {
        said[row] = forecast;
    }
    let whole = refit(&calibrator, all, settings.rules)?;
    stage.step(0)?;
    let weights = relative_weights(&table.weights, table.weights.len() as f64);
    let (counts, weights) = super::fit::totals(&table.labels, &weights, 2);
    let summary = &mut calibrator.summary;
    summary.measured = Some(summary.examples);
    summary.examples = table.labels.len();
    summary.class_counts = counts;
    summary.class_weights = weights;
    calibrator.curve = ScoreCurve::OneScore(whole);
    calibrator.check_survives()?;
    Ok(ScoreFit {
        calibrator,
        cross_validated: said,
    })
}

/// The examples by rising score, and where each stood; `None` for what the usual way has an error for.
fn sorted(table: &ScoreTable) -> Result<Option<(HeldOutScores, Vec<u32>)>, FitError> {
    let ScoreTable {
        scores,
        labels,
        weights,
    } = table;
    let are_sound = weights.len() == labels.len()
        && weights
            .iter()
            .all(|&weight| weight > 0.0 && weight.is_finite())
        && labels.iter().all(|&label| label < 2)
        && scores.iter().all(|score| score.is_finite());
    if !are_sound {
        return Ok(None);
    }
    let truths = labels.iter().map(|&label| label == 1).collect();
    let weights = relative_weights(weights, weights.len() as f64);
    let all = HeldOutScores::assume_weighted(scores.clone(), truths, weights)?;
    Ok(Some(all.sorted()))
}

/// The method that was chosen, fitted to all examples.
fn refit(
    chosen: &ScoreCalibrator,
    all: HeldOutScores,
    rules: ChoiceRules,
) -> Result<SavedCalibrator, FitError> {
    let method = CalibratorKind::from_word(&chosen.summary.method);
    let method = method.unwrap_or(CalibratorKind::Platt);
    if !chosen.scale.is_probability() {
        return Ok(method.fit_within(&all, rules)?);
    }
    let scale = |score: &f64| chosen.scale.apply(*score);
    let scores: Vec<f64> = all.scores().iter().map(scale).collect();
    let scaled =
        HeldOutScores::assume_weighted(scores, all.labels().to_vec(), all.weights().to_vec())?;
    Ok(method.fit_within(&scaled, rules)?)
}

/// Probabilities or numbers, told from all of them: from the least and the greatest, and whether any lies between.
fn what_they_are(asked: ScoreIs, rising: &[f64]) -> ScoreIs {
    let (Some(&least), Some(&greatest)) = (rising.first(), rising.last()) else {
        return asked;
    };
    let between = rising.partition_point(|&score| score <= 0.0);
    let inside = rising.get(between).is_some_and(|&score| score < 1.0);
    match asked {
        ScoreIs::Auto if inside && least >= 0.0 && greatest <= 1.0 => ScoreIs::Probability,
        ScoreIs::Auto => ScoreIs::Number,
        given => given,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ScoreFields;
    use super::*;
    use crate::Probability;
    use crate::calibration::MulticlassKind;
    use crate::numeric::Random;

    /// Scores whose true log-odds are `1.5 s - 0.5`.
    fn table(count: usize, as_probabilities: bool) -> ScoreTable {
        let mut random = Random::from_seed(3);
        let mut table = ScoreTable::default();
        for _ in 0..count {
            let score = 3.0 * random.normal();
            let truth = random.uniform() < crate::numeric::sigmoid(1.5 * score - 0.5);
            table.scores.push(match as_probabilities {
                true => crate::numeric::sigmoid(score),
                false => score,
            });
            table.labels.push(u32::from(truth));
            table.weights.push(1.0 + (count % 3) as f64);
        }
        table
    }

    fn settings(method: CalibratorKind) -> ScoreSettings {
        ScoreSettings {
            classes: vec!["no".into(), "yes".into()],
            fields: ScoreFields {
                scores: vec!["score".into()],
                ..ScoreFields::default()
            },
            score_is: ScoreIs::Auto,
            method,
            multiclass: MulticlassKind::Auto,
            rules: ChoiceRules::default(),
        }
    }

    #[test]
    fn the_curve_is_fitted_to_all_and_forecasts_are_held_out() {
        for (method, as_probabilities) in [
            (CalibratorKind::Platt, false),
            (CalibratorKind::Auto, false),
            (CalibratorKind::Isotonic, true),
        ] {
            let table = table(MANY + 77, as_probabilities);
            let fit = ScoreCalibrator::fit(table.clone(), &settings(method)).unwrap();
            let summary = fit.calibrator.summary();
            assert_eq!(summary.examples, table.labels.len());
            assert_eq!(summary.class_counts.iter().sum::<usize>(), summary.examples);
            assert!(summary.measured.unwrap() >= SAMPLE);
            let (usual, _) = ScoreCalibrator::fit_in_folds(
                table.clone(),
                None,
                &settings(method),
                &Stage::begin(&crate::NoProgress, "test", None),
            )
            .unwrap();
            assert_eq!(summary.method, usual.calibrator.summary().method);
            // The same examples, the same curve but for the zero of the scale.
            for at in [0.2, 0.5, 0.9] {
                let said = |calibrator: &ScoreCalibrator| {
                    let mut out = [Probability::from_log_odds(0.0)];
                    calibrator.probabilities_into(&[at], &mut Default::default(), &mut out);
                    out[0].log_odds()
                };
                let (ours, theirs) = (said(&fit.calibrator), said(&usual.calibrator));
                assert!(
                    (ours - theirs).abs() < 1e-6,
                    "{method} at {at}: {ours} {theirs}"
                );
            }
            let loss = |said: &[Probability]| {
                let pairs = said.iter().zip(&table.labels);
                let losses = pairs.map(|(p, &label)| match label {
                    1 => -p.ln(),
                    _ => -p.complement().ln(),
                });
                losses.sum::<f64>() / said.len() as f64
            };
            let difference = loss(&fit.cross_validated) - loss(&usual.cross_validated);
            assert!(difference.abs() < 1e-3, "{method}: {difference}");
        }
    }

    #[test]
    fn the_order_of_rows_makes_no_difference() {
        let table = table(MANY, false);
        let mut order: Vec<usize> = (0..MANY).collect();
        Random::from_seed(5).shuffle(&mut order);
        let shuffled = ScoreTable {
            scores: order.iter().map(|&row| table.scores[row]).collect(),
            labels: order.iter().map(|&row| table.labels[row]).collect(),
            weights: order.iter().map(|&row| table.weights[row]).collect(),
        };
        let settings = settings(CalibratorKind::Platt);
        let first = ScoreCalibrator::fit(table, &settings).unwrap();
        let second = ScoreCalibrator::fit(shuffled, &settings).unwrap();
        assert_eq!(first.calibrator, second.calibrator);
        for (place, &row) in order.iter().enumerate() {
            assert_eq!(second.cross_validated[place], first.cross_validated[row]);
        }
    }

    #[test]
    fn rare_classes_and_bad_tables_go_the_usual_way() {
        let mut rare = table(MANY, false);
        for label in &mut rare.labels[50..] {
            *label = 0;
        }
        let fit = ScoreCalibrator::fit(rare, &settings(CalibratorKind::Platt)).unwrap();
        assert_eq!(fit.calibrator.summary().measured, None);
        let mut bad = table(MANY, false);
        bad.scores[7] = f64::NAN;
        assert!(ScoreCalibrator::fit(bad, &settings(CalibratorKind::Auto)).is_err());
    }
}
