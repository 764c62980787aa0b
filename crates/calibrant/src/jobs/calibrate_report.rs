//! What a calibration of scores has to tell.

use serde::Serialize;

use super::{MeasuredOn, MeasuredScores, PriorReport};
use crate::calibration::ScoreScale;
use crate::evaluation::{Evaluation, StatedEnds};
use crate::pipeline::{ScoreCalibrator, ScoreCurve};

/// A method, and by how much its cross-validated log loss is above that of the one chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriedCalibration<'a> {
    /// The method.
    pub method: &'a str,
    /// Null where it was dropped before it was cross-validated.
    pub log_loss: Option<f64>,
    /// Null where several are weighed and none is chosen, and where it was dropped.
    pub margin: Option<f64>,
    /// Whether it is the one.
    pub chosen: bool,
    /// How much it counts, where several are weighed; zero if it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// All methods that were tried, the chosen one first and then the best.
pub fn tried_calibrations(calibrator: &ScoreCalibrator) -> Vec<TriedCalibration<'_>> {
    let summary = calibrator.summary();
    let chosen = summary.tried.iter().find(|t| t.method == summary.method);
    let least = chosen.and_then(|chosen| chosen.log_loss);
    let mut all: Vec<TriedCalibration<'_>> = summary
        .tried
        .iter()
        .map(|tried| TriedCalibration {
            method: &tried.method,
            log_loss: tried.log_loss,
            margin: (tried.log_loss.zip(least)).map(|(loss, least)| loss - least),
            chosen: tried.method == summary.method,
            weight: tried.weight,
        })
        .collect();
    // The chosen one stands first even where another is better by less than the chance of it.
    let loss = |one: &TriedCalibration<'_>| one.log_loss.unwrap_or(f64::INFINITY);
    all.sort_by(|a, b| (b.chosen.cmp(&a.chosen)).then(loss(a).total_cmp(&loss(b))));
    all
}

/// What a calibrator was fitted to and how good it is; as JSON what `calibrate --json` prints.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CalibrateReport<'a> {
    /// The method that was chosen.
    pub method: &'a str,
    /// How good its probabilities are; absent where nothing was measured.
    #[serde(flatten)]
    pub measures: Option<CalibrateMeasures<'a>>,
    /// The classes; of a single score the negative one first.
    pub classes: &'a [String],
    /// The class that a single score speaks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive: Option<&'a str>,
    /// What was guessed, and what to beware of, in words of whoever reports.
    pub notes: &'a [String],
    /// The fields that hold scores.
    pub fields: &'a [String],
    /// What the scores are.
    pub scale: ScoreScale,
    /// Examples that the calibrator was fitted to.
    pub examples: usize,
    /// Examples of each class.
    pub class_counts: &'a [usize],
    /// What was tried.
    pub tried: Vec<TriedCalibration<'a>>,
    /// By curves that were fitted to the other folds.
    pub cross_validated_log_loss: f64,
    /// How many examples were given their probabilities; absent where none were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_predicted: Option<u64>,
    /// What was done about the classes' shares of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior_of_predictions: Option<&'a PriorReport>,
    /// The curve itself.
    pub calibrator: &'a ScoreCurve,
}

/// How good probabilities are, before and after.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CalibrateMeasures<'a> {
    /// After, in nats per example.
    pub log_loss: f64,
    /// After.
    pub brier: f64,
    /// After.
    pub ece: f64,
    /// Which examples were measured.
    pub measured_on: MeasuredOn,
    /// Where they come from.
    pub measured_file: &'a str,
    /// How many.
    pub measured_rows: usize,
    /// Of the calibrated probabilities.
    pub after: &'a Evaluation,
    /// Of the scores as they state probabilities by themselves.
    pub before: &'a Evaluation,
    /// What was done about stated zeros and ones before `before` was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_ends: Option<&'a StatedEnds>,
    /// What was done about the classes' shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<&'a PriorReport>,
}

impl<'a> CalibrateReport<'a> {
    /// Of a calibrator and, where it was measured, its measures.
    pub fn of(calibrator: &'a ScoreCalibrator, measured: Option<&'a MeasuredScores>) -> Self {
        let summary = calibrator.summary();
        let classes = calibrator.classes();
        Self {
            method: &summary.method,
            measures: measured.map(CalibrateMeasures::of),
            classes,
            positive: calibrator.is_binary().then(|| classes[1].as_str()),
            notes: &[],
            fields: &calibrator.fields().scores,
            scale: calibrator.scale(),
            examples: summary.examples,
            class_counts: &summary.class_counts,
            tried: tried_calibrations(calibrator),
            cross_validated_log_loss: summary.cross_validated.log_loss,
            rows_predicted: None,
            prior_of_predictions: None,
            calibrator: calibrator.curve(),
        }
    }
}

impl<'a> CalibrateMeasures<'a> {
    fn of(measured: &'a MeasuredScores) -> Self {
        Self {
            log_loss: measured.after.log_loss,
            brier: measured.after.brier,
            ece: measured.after.ece,
            measured_on: measured.on,
            measured_file: &measured.file,
            measured_rows: measured.after.documents,
            after: &measured.after,
            before: &measured.before,
            stated_ends: measured.stated.as_ref(),
            prior: None,
        }
    }
}
