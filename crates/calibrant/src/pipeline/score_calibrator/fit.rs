//! Fitting a calibrator to a table of scores.

use super::grouped::GroupedScores;
use super::many::{self, is_large};
use super::stated::{Outputs, as_stated, scale_row};
use super::{
    HeldOutMeasures, ScoreCalibrator, ScoreCurve, ScoreFit, ScoreIs, ScoreNote, ScoreSettings,
    ScoreSummary, ScoreTable, TriedMethod,
};
use crate::calibration::{
    CalibrationNote, CalibratorKind, HeldOutClassScores, HeldOutScores, MulticlassKind,
    SavedCalibrator, ScoreScale, calibrate_one,
};
use crate::evaluation::evaluate_beside_perfect;
use crate::numeric::relative_weights;
use crate::pipeline::summary::shape_of;
use crate::progress::Stage;
use crate::{CalibrationError, FitError, NoProgress, Probability, Progress, parallel};

impl ScoreCalibrator {
    /// Fits the method, or the best of all, to scores that were not learned from. The order of rows
    /// makes no difference, and of weights only the ratios count: a row weighs 1 on average.
    pub fn fit(table: ScoreTable, settings: &ScoreSettings) -> Result<ScoreFit, FitError> {
        Self::fit_watched(table, None, settings, &NoProgress)
    }

    /// As [`Self::fit`], for rows that belong together: rows of one group are never on both sides of a fold, and
    /// rows of one group with equal scores and labels are copies of one example, which count once with all their
    /// weight. `groups` has an entry per row, `None` for rows that stand for themselves.
    pub fn fit_grouped(
        table: ScoreTable,
        groups: &[Option<String>],
        settings: &ScoreSettings,
    ) -> Result<ScoreFit, FitError> {
        Self::fit_watched(table, Some(groups), settings, &NoProgress)
    }

    /// As [`Self::fit`], or [`Self::fit_grouped`] where there are groups, for those who want to know how far it is, or to end it.
    pub fn fit_watched(
        table: ScoreTable,
        groups: Option<&[Option<String>]>,
        settings: &ScoreSettings,
        progress: &dyn Progress,
    ) -> Result<ScoreFit, FitError> {
        let stage = Stage::begin(progress, "calibrating", None);
        match groups {
            None if is_large(&table, settings) => many::fit(table, settings, &stage),
            None => Ok(Self::fit_in_folds(table, None, settings, &stage)?.0),
            Some(groups) => Self::fit_in_groups(table, groups, settings, &stage),
        }
    }

    fn fit_in_groups(
        table: ScoreTable,
        groups: &[Option<String>],
        settings: &ScoreSettings,
        stage: &Stage<'_>,
    ) -> Result<ScoreFit, FitError> {
        check_settings(settings, &table.labels)?;
        let width = settings.fields.scores.len();
        check_table(&table.scores, &table.labels, &table.weights, width)?;
        check_stated(settings, &table.scores)?;
        let counts = totals(&table.labels, &table.weights, settings.classes.len()).0;
        let grouped = GroupedScores::new(table, groups, width)?;
        let folds = grouped.folds(settings.classes.len())?;
        let (mut fit, _) = Self::fit_in_folds(grouped.table.clone(), Some(folds), settings, stage)?;
        fit.calibrator.summary.examples = counts.iter().sum();
        fit.calibrator.summary.groups = Some(grouped.group_count());
        fit.calibrator.summary.class_counts = counts;
        fit.cross_validated = grouped.of_rows(&fit.cross_validated);
        Ok(fit)
    }

    /// Fits one of the methods, cross-validated over folds; says where the curve comes from, too.
    pub(super) fn fit_in_folds(
        table: ScoreTable,
        folds: Option<Vec<u8>>,
        settings: &ScoreSettings,
        stage: &Stage<'_>,
    ) -> Result<(ScoreFit, CalibrationNote), FitError> {
        stage.step(0)?;
        let classes = &settings.classes;
        let (mut scores, labels, weights) = (table.scores, table.labels, table.weights);
        let one_score = settings.fields.scores.len() == 1;
        check_settings(settings, &labels)?;
        check_table(&scores, &labels, &weights, settings.fields.scores.len())?;
        check_stated(settings, &scores)?;
        let weights = relative_weights(&weights, weights.len() as f64);
        let (class_counts, class_weights) = totals(&labels, &weights, classes.len());
        check_counts(settings, &class_counts, one_score)?;
        let scale = scale_of(settings.score_is, &scores, one_score);
        let mut notes = ScoreNote::of(&scores, &labels, &class_counts, classes);
        notes.extend(ScoreNote::of_folds(folds.as_deref(), &labels, classes));
        let output_count = if one_score { 1 } else { classes.len() };
        let stated = as_stated(scale, output_count, &scores);
        let zeros = match scale {
            ScoreScale::ClassProbability { .. } => stated.1.map(|ends| ends.zero_counts_as),
            _ => None,
        };
        for row in scores.chunks_exact_mut(settings.fields.scores.len()) {
            scale_row(scale, zeros.as_deref(), row);
        }
        let Fitted {
            curve,
            method,
            mut tried,
            cross_validated,
            failed,
            note,
        } = fit_curve(settings, scores, folds, &labels, &weights, stated.0)?;
        stage.step(0)?;
        notes.extend(failed);
        let mut notes = match settings.method {
            CalibratorKind::None => ScoreNote::without_curve(notes),
            _ => ScoreNote::with_calibration(notes, note, &class_counts, &settings.classes),
        };
        let forecasts =
            Outputs::of(classes, one_score).forecasts(cross_validated.clone(), &labels, weights);
        let (evaluation, shape) = parallel::both(
            || evaluate_beside_perfect(&forecasts),
            || shape_of(&forecasts),
        );
        let evaluation = evaluation?;
        if settings.method != CalibratorKind::None && !notes.iter().any(ScoreNote::is_one_fold) {
            notes.extend(ScoreNote::of_errors(method, &evaluation));
        }
        stage.step(0)?;
        if tried.is_empty() {
            tried.push(TriedMethod::alone(method, evaluation.log_loss));
        }
        let summary = ScoreSummary {
            examples: labels.len(),
            groups: None,
            class_counts,
            class_weights,
            method: method.to_owned(),
            tried,
            rules: settings.rules,
            cross_validated: HeldOutMeasures::from(&evaluation),
            held_out_shape: shape,
            measured: None,
            notes,
            calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let calibrator = Self {
            classes: settings.classes.clone(),
            fields: settings.fields.clone(),
            scale,
            zeros,
            curve,
            summary,
        };
        Ok((calibrator.with_forecasts(cross_validated)?, note))
    }

    /// What is fitted with what it says of its examples, once it is sure that it can be saved.
    fn with_forecasts(self, cross_validated: Vec<Probability>) -> Result<ScoreFit, FitError> {
        self.check_survives()?;
        Ok(ScoreFit {
            calibrator: self,
            cross_validated,
        })
    }

    /// JSON has no infinities: what holds one is better refused now than when it is opened.
    pub(super) fn check_survives(&self) -> Result<(), FitError> {
        let json = serde_json::to_string(self).map_err(|_| FitError::Overflow)?;
        serde_json::from_str::<Self>(&json).map_err(|_| FitError::Overflow)?;
        Ok(())
    }
}

fn check_settings(settings: &ScoreSettings, labels: &[u32]) -> Result<(), FitError> {
    let class_count = settings.classes.len();
    let bad = |setting, requirement, value: usize| FitError::BadSetting {
        setting,
        requirement,
        value: value.to_string(),
    };
    let score_count = settings.fields.scores.len();
    if labels.is_empty() {
        return Err(FitError::NoDocuments);
    }
    if class_count < 2 {
        return Err(bad("the number of classes", "at least 2", class_count));
    }
    if score_count == 1 && class_count != 2 {
        return Err(bad(
            "the number of classes with one score per row",
            "2",
            class_count,
        ));
    }
    if score_count != 1 && score_count != class_count {
        return Err(bad(
            "the number of scores per row",
            "one, or one per class",
            score_count,
        ));
    }
    if let Some(&label) = labels.iter().find(|&&label| label as usize >= class_count) {
        return Err(bad(
            "a label",
            "below the number of classes",
            label as usize,
        ));
    }
    Ok(())
}

/// A method fitted to a table, and what it says of its own examples.
struct Fitted {
    curve: ScoreCurve,
    method: &'static str,
    /// Empty where there was nothing to try.
    tried: Vec<TriedMethod>,
    cross_validated: Vec<Probability>,
    /// Ways that could not be fitted.
    failed: Vec<ScoreNote>,
    /// Where the curve comes from.
    note: CalibrationNote,
}

/// Fits the curve to scores as calibrators see them. `stated` is what they say by themselves.
fn fit_curve(
    settings: &ScoreSettings,
    scores: Vec<f64>,
    folds: Option<Vec<u8>>,
    labels: &[u32],
    weights: &[f64],
    stated: Vec<Probability>,
) -> Result<Fitted, FitError> {
    let one_score = settings.fields.scores.len() == 1;
    if settings.method == CalibratorKind::None {
        return Ok(Fitted {
            curve: if one_score {
                ScoreCurve::OneScore(SavedCalibrator::Identity)
            } else {
                ScoreCurve::AsStated
            },
            method: CalibratorKind::None.name(),
            tried: Vec::new(),
            cross_validated: stated,
            failed: Vec::new(),
            note: CalibrationNote::Own,
        });
    }
    if one_score {
        let truths = labels.iter().map(|&label| label == 1).collect();
        let mut held_out = HeldOutScores::assume_weighted(scores, truths, weights.to_vec())?;
        if let Some(folds) = folds {
            held_out = held_out.with_folds(folds)?;
        }
        let class = calibrate_one(&held_out, settings.method, settings.rules)?;
        let tried = class.tried.iter();
        return Ok(Fitted {
            tried: tried
                .map(|tried| TriedMethod {
                    method: tried.method.name().to_owned(),
                    log_loss: tried.log_loss,
                    weight: None,
                })
                .collect(),
            curve: ScoreCurve::OneScore(class.calibrator),
            method: class.kind.name(),
            cross_validated: class.forecasts,
            failed: Vec::new(),
            note: class.note,
        });
    }
    let mut held_out = HeldOutClassScores::assume_weighted(
        scores,
        settings.classes.len(),
        labels.to_vec(),
        weights.to_vec(),
    )?;
    if let Some(folds) = folds {
        held_out = held_out.with_folds(folds)?;
    }
    let choice = settings.multiclass.choose(&held_out, settings.method)?;
    let pooled = choice.chosen == MulticlassKind::Auto;
    let tried = choice.tried.iter().map(|way| TriedMethod {
        method: way.kind.name().to_owned(),
        log_loss: Some(way.log_loss),
        weight: pooled.then_some(way.weight),
    });
    let failed = choice.failed.into_iter().map(|way| ScoreNote::NotFitted {
        method: way.kind.name().to_owned(),
        reason: way.reason,
    });
    Ok(Fitted {
        failed: failed.collect(),
        curve: ScoreCurve::ClassScores(choice.calibrator),
        method: choice.chosen.name(),
        tried: tried.collect(),
        cross_validated: choice.cross_validated,
        note: CalibrationNote::Joint,
    })
}

impl ScoreNote {
    fn is_one_fold(&self) -> bool {
        matches!(self, Self::OneFold { .. })
    }
}

impl TriedMethod {
    /// The only method there was.
    fn alone(method: &str, log_loss: f64) -> Self {
        Self {
            method: method.to_owned(),
            log_loss: Some(log_loss),
            weight: None,
        }
    }
}

/// Two classes at least, and two examples of each where a method was asked for by name.
fn check_counts(
    settings: &ScoreSettings,
    class_counts: &[usize],
    one_score: bool,
) -> Result<(), FitError> {
    if let [only] = *present(class_counts) {
        return Err(FitError::OneClass {
            class: settings.classes[only].clone(),
            documents: class_counts.iter().sum(),
        });
    }
    let by_name = !matches!(settings.method, CalibratorKind::Auto | CalibratorKind::None);
    if one_score && by_name && class_counts.iter().any(|&count| count < 2) {
        // A fold without the only example of a class would leave none to learn from.
        let too_few = CalibrationError::TooFewExamples {
            method: "cross-validation",
            needed: 2,
            positives: class_counts[1],
            negatives: class_counts[0],
        };
        return Err(too_few.into());
    }
    Ok(())
}

/// Whether there are as many scores, labels and weights as belong together, and all are numbers.
fn check_table(
    scores: &[f64],
    labels: &[u32],
    weights: &[f64],
    width: usize,
) -> Result<(), FitError> {
    let mismatch = |left_name, left, right_name, right| FitError::LengthMismatch {
        left_name,
        left,
        right_name,
        right,
    };
    if scores.len() != labels.len() * width {
        let rows = scores.len() / width.max(1);
        return Err(mismatch("rows of scores", rows, "labels", labels.len()));
    }
    if weights.len() != labels.len() {
        return Err(mismatch("labels", labels.len(), "weights", weights.len()));
    }
    if let Some(position) = scores.iter().position(|score| !score.is_finite()) {
        let value = scores[position];
        return Err(CalibrationError::BadScore { position, value }.into());
    }
    let bad = |weight: &&f64| !(weight.is_finite() && **weight > 0.0);
    match weights.iter().find(bad) {
        Some(weight) => Err(FitError::BadSetting {
            setting: "a weight",
            requirement: "a positive number",
            value: weight.to_string(),
        }),
        None => Ok(()),
    }
}

/// Whether every row of stated probabilities states something.
fn check_stated(settings: &ScoreSettings, scores: &[f64]) -> Result<(), FitError> {
    let width = settings.fields.scores.len();
    if width < 2 || scale_of(settings.score_is, scores, false) == ScoreScale::Number {
        return Ok(());
    }
    let nothing = |row: &[f64]| row.iter().all(|&score| score == 0.0);
    match scores.chunks_exact(width).position(nothing) {
        Some(row) => Err(FitError::NothingStated { number: row + 1 }),
        None => Ok(()),
    }
}

pub(super) fn totals(
    labels: &[u32],
    weights: &[f64],
    class_count: usize,
) -> (Vec<usize>, Vec<f64>) {
    let mut counts = vec![0; class_count];
    let mut sums = vec![crate::numeric::StableSum::default(); class_count];
    for (&label, &weight) in labels.iter().zip(weights) {
        counts[label as usize] += 1;
        sums[label as usize].add(weight);
    }
    (counts, sums.into_iter().map(|sum| sum.total()).collect())
}

/// The classes that have examples.
fn present(class_counts: &[usize]) -> Box<[usize]> {
    let classes = class_counts.iter().enumerate();
    classes
        .filter(|&(_, &count)| count > 0)
        .map(|(class, _)| class)
        .collect()
}

pub(super) fn scale_of(score_is: ScoreIs, scores: &[f64], one_score: bool) -> ScoreScale {
    let probabilities = match score_is {
        ScoreIs::Number => false,
        ScoreIs::Probability => true,
        ScoreIs::Auto => {
            // Nothing but zeros and ones are decisions or counts.
            let inside = scores.iter().any(|score| *score > 0.0 && *score < 1.0);
            inside && scores.iter().all(|score| (0.0..=1.0).contains(score))
        }
    };
    match (probabilities, one_score) {
        (false, _) => ScoreScale::Number,
        (true, true) => ScoreScale::of_probabilities(scores),
        (true, false) => ScoreScale::of_class_probabilities(scores),
    }
}
