//! Calibrators of very many examples: the curve is fitted to all, everything else is found out on some of them.

use super::fit::scale_of;
use super::{ScoreCalibrator, ScoreCurve, ScoreFit, ScoreIs, ScoreSettings, ScoreTable};
use crate::calibration::{
    CalibrationNote, Calibrator, CalibratorKind, HeldOutScores, SavedCalibrator, ScoreScale,
};
use crate::numeric::relative_weights;
use crate::progress::Stage;
use crate::{FitError, Named, Probability, parallel};

/// From so many examples on, what is known from a tenth of them hardly changes: the standard error of a log loss is below a thousandth of
/// a nat, and curves that differ by less are equally good.
const MANY: usize = 200_000;

/// About so many are looked at to choose among methods.
const SAMPLE: usize = 100_000;

/// Where there is nothing to choose, half as many say how good the method is.
const SAMPLE_OF_NAMED: usize = SAMPLE / 2;

/// Every class must be one in so many among those.
const LEAST: usize = 50;

/// Of examples that weigh so much more than the mean some are not like all.
const MOST_WEIGHT: f64 = 10.0;

/// Whether a table of one score per row is so large that some of it tell which method is best.
pub(super) fn is_large(table: &ScoreTable, settings: &ScoreSettings) -> bool {
    let rows = table.labels.len();
    let one_each = table.scores.len() == rows && table.weights.len() == rows;
    let one_score = settings.fields.scores.len() == 1 && settings.classes.len() == 2 && one_each;
    let mean = table.weights.iter().sum::<f64>() / rows.max(1) as f64;
    let alike = table
        .weights
        .iter()
        .all(|&weight| weight <= MOST_WEIGHT * mean);
    one_score && alike && rows >= MANY && settings.method != CalibratorKind::None
}

/// Chooses the method, cross-validates and measures it on a sample that is spread evenly along the score, and fits it to all
/// examples. Forecasts are held out as ever: those of the sample come from the other folds, those of the rest from the curve of the
/// sample, which has not seen them.
pub(super) fn fit(
    table: ScoreTable,
    settings: &ScoreSettings,
    stage: &Stage<'_>,
) -> Result<ScoreFit, FitError> {
    let usual = |table: ScoreTable, settings: &ScoreSettings| {
        Ok(ScoreCalibrator::fit_in_folds(table, None, settings, stage)?.0)
    };
    if !is_sound(&table) {
        return usual(table, settings);
    }
    let many = Many::of(table)?;
    stage.step(0)?;
    let settings = ScoreSettings {
        score_is: what_they_are(settings.score_is, many.rising.scores()),
        ..settings.clone()
    };
    let by_name = settings.method != CalibratorKind::Auto;
    let (rows, sample) = many.sample(if by_name { SAMPLE_OF_NAMED } else { SAMPLE });
    let of_class = |class: u32| {
        let labels = sample.labels.iter();
        labels.filter(|&&label| label == class).count()
    };
    if LEAST * of_class(0).min(of_class(1)) < sample.labels.len() {
        return usual(many.into_table(), &settings);
    }
    // What was asked for by name can be fitted to all at once.
    let scale = scale_of(settings.score_is, &sample.scores, true);
    let refit = |method| many.refit(method, scale, &settings);
    let (fit, whole) = parallel::both(
        || ScoreCalibrator::fit_in_folds(sample, None, &settings, stage),
        || by_name.then(|| refit(settings.method)),
    );
    let (fit, note) = fit?;
    let ScoreFit {
        mut calibrator,
        cross_validated,
    } = fit;
    let curve = match (&calibrator.curve, note) {
        (ScoreCurve::OneScore(curve), CalibrationNote::Own) => curve,
        // What is made of scores that tell nothing is not a method that could be fitted again.
        _ => return usual(many.into_table(), &settings),
    };
    let chosen = CalibratorKind::from_word(&calibrator.summary.method);
    let chosen = chosen.unwrap_or(CalibratorKind::Platt);
    let (mut said, (whole, totals)) = parallel::both(
        || many.said(|score| curve.probability(calibrator.scale.apply(score))),
        || {
            let totals = super::fit::totals(&many.labels, many.given.weights(), 2);
            (whole.unwrap_or_else(|| refit(chosen)), totals)
        },
    );
    for (&row, &forecast) in rows.iter().zip(&cross_validated) {
        said[row] = forecast;
    }
    stage.step(0)?;
    calibrator.curve = ScoreCurve::OneScore(whole?);
    let summary = &mut calibrator.summary;
    summary.measured = Some(summary.examples);
    summary.examples = many.labels.len();
    (summary.class_counts, summary.class_weights) = totals;
    calibrator.check_survives()?;
    Ok(ScoreFit {
        calibrator,
        cross_validated: said,
    })
}

/// Whether every entry is one that the usual way has no error for.
fn is_sound(table: &ScoreTable) -> bool {
    let ScoreTable {
        scores,
        labels,
        weights,
    } = table;
    let parts = parallel::map_parts(labels.len(), |part| {
        weights[part.clone()]
            .iter()
            .all(|&weight| weight > 0.0 && weight.is_finite())
            && labels[part.clone()].iter().all(|&label| label < 2)
            && scores[part].iter().all(|score| score.is_finite())
    });
    parts.into_iter().all(|is_sound| is_sound)
}

/// A table of very many examples.
struct Many {
    labels: Vec<u32>,
    /// In the order they came in; weights are 1 on average.
    given: HeldOutScores,
    rising: HeldOutScores,
    /// Where each of those stood.
    order: Vec<u32>,
}

impl Many {
    fn of(table: ScoreTable) -> Result<Self, FitError> {
        let ScoreTable {
            scores,
            labels,
            weights,
        } = table;
        let truths = labels.iter().map(|&label| label == 1).collect();
        let weights = match weights.iter().all(|&weight| weight == 1.0) {
            true => weights,
            false => relative_weights(&weights, weights.len() as f64),
        };
        let given = HeldOutScores::assume_weighted(scores, truths, weights)?;
        let (rising, order) = given.sorted();
        Ok(Self {
            labels,
            given,
            rising,
            order,
        })
    }

    fn into_table(self) -> ScoreTable {
        ScoreTable {
            scores: self.given.scores().to_vec(),
            labels: self.labels,
            weights: self.given.weights().to_vec(),
        }
    }

    /// The rows of a sample of about so many that is spread evenly along the score, and the sample.
    fn sample(&self, about: usize) -> (Vec<usize>, ScoreTable) {
        let every = self.order.len() / about;
        let places = (every / 2..self.order.len()).step_by(every);
        let rows: Vec<usize> = places.map(|place| self.order[place] as usize).collect();
        let sample = ScoreTable {
            scores: rows.iter().map(|&row| self.given.scores()[row]).collect(),
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
            weights: rows.iter().map(|&row| self.given.weights()[row]).collect(),
        };
        (rows, sample)
    }

    /// What a curve says of each example.
    fn said(&self, curve: impl Fn(f64) -> Probability + Sync) -> Vec<Probability> {
        let scores = self.given.scores();
        let unset = Probability::from_log_odds(0.0);
        parallel::fill(scores.len(), unset, |row| curve(scores[row]))
    }

    /// A method that was asked for, or chosen, fitted to all examples.
    fn refit(
        &self,
        method: CalibratorKind,
        scale: ScoreScale,
        settings: &ScoreSettings,
    ) -> Result<SavedCalibrator, FitError> {
        let fit = |held_out: &HeldOutScores| {
            let asked = settings.method;
            Ok(asked.fit_chosen(method, held_out, settings.rules)?)
        };
        let rising = &self.rising;
        if !scale.is_probability() {
            return fit(rising);
        }
        let scores = parallel::map(rising.scores(), |&score| scale.apply(score));
        let (labels, weights) = (rising.labels().to_vec(), rising.weights().to_vec());
        fit(&HeldOutScores::assume_weighted(scores, labels, weights)?)
    }
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
    use crate::calibration::{ChoiceRules, MulticlassKind};
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
            (CalibratorKind::Platt, true),
            (CalibratorKind::Auto, false),
            (CalibratorKind::Auto, true),
            (CalibratorKind::Spline, false),
            (CalibratorKind::ThreePiece, false),
            (CalibratorKind::Isotonic, false),
            (CalibratorKind::Isotonic, true),
        ] {
            let table = table(MANY + 77, as_probabilities);
            let fit = ScoreCalibrator::fit(table.clone(), &settings(method)).unwrap();
            let summary = fit.calibrator.summary();
            assert_eq!(summary.examples, table.labels.len());
            assert_eq!(summary.class_counts.iter().sum::<usize>(), summary.examples);
            assert!(summary.measured.unwrap() >= SAMPLE_OF_NAMED);
            let (usual, _) = ScoreCalibrator::fit_in_folds(
                table.clone(),
                None,
                &settings(method),
                &Stage::begin(&crate::NoProgress, "test", None),
            )
            .unwrap();
            assert_eq!(summary.method, usual.calibrator.summary().method);
            // The same examples, the same curve but for the zero of the scale; held where they end.
            let ends: &[f64] = if as_probabilities {
                &[]
            } else {
                &[-1e3, -12.0, 11.0, 1e3]
            };
            for &at in [0.2, 0.5, 0.9].iter().chain(ends) {
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
    fn the_number_of_threads_makes_no_difference() {
        for method in [CalibratorKind::Auto, CalibratorKind::Isotonic] {
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let fit = || ScoreCalibrator::fit(table(MANY, true), &settings(method));
                pool.build().unwrap().install(fit).unwrap()
            };
            assert!(on(1) == on(3), "{method}");
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
