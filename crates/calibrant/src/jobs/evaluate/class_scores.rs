//! Scores with the curves that turn them into probabilities, for the figures of a report.

use crate::calibration::{Calibrator, SavedCalibrator};
use crate::evaluation::Forecasts;
use crate::pipeline::{CalibrationNote, ClassSummary, Model, SingleModel};
use crate::report::ClassScores;
use crate::{Probability, Task};

/// A curve as new labels corrected it.
struct Corrected<'m> {
    curve: &'m SavedCalibrator,
    slope: f64,
    intercept: f64,
}

impl<'m> Corrected<'m> {
    /// The curve of an output after the model's recalibration, where it has one and that moves each class along a line of its own: where documents
    /// may have several labels, and of two classes. Of more classes that exclude each other, what becomes of one depends on all.
    fn of(model: &'m SingleModel, output: usize) -> Option<Self> {
        let correction = &model.recalibration()?.correction;
        let intercepts = correction.intercepts();
        let class = model.class_of_output(output);
        let intercept = match (model.summary().task, intercepts) {
            (Task::MultiLabel, _) => intercepts[class],
            (Task::SingleLabel, [_, _]) => intercepts[class] - intercepts[1 - class],
            (Task::SingleLabel, _) => return None,
        };
        Some(Self {
            curve: &model.calibrators()[output],
            slope: correction.slope(),
            intercept,
        })
    }
}

impl Calibrator for Corrected<'_> {
    fn probability(&self, score: f64) -> Probability {
        let stated = self.curve.probability(score).log_odds();
        Probability::from_log_odds(self.slope * stated + self.intercept)
    }
}

/// The outputs whose scores are shown: of the wanted classes the most frequent in training. A combination has no scores of
/// its own.
pub(super) fn shown_outputs(model: &Model, wanted: &[usize], most: usize) -> Vec<usize> {
    let Some(model) = model.as_single() else {
        return Vec::new();
    };
    let all = 0..model.calibrators().len();
    let mut outputs: Vec<usize> = all
        .filter(|&output| wanted.contains(&model.class_of_output(output)))
        .collect();
    let positives =
        |output: usize| model.summary().classes[model.class_of_output(output)].positives;
    outputs.sort_by_key(|&output| std::cmp::Reverse(positives(output)));
    outputs.truncate(most);
    outputs
}

/// The scores of these outputs, document after document, with their calibrators.
pub(super) fn class_scores<'m>(
    model: &'m Model,
    outputs: &[usize],
    scores: &[f64],
    forecasts: &Forecasts,
) -> Vec<ClassScores<'m>> {
    let Some(model) = model.as_single() else {
        return Vec::new();
    };
    let mut shown = Vec::new();
    for (place, &output) in outputs.iter().enumerate() {
        let summary = &model.summary().classes[model.class_of_output(output)];
        let mut names = forecasts.class_names.iter();
        let Some(class) = names.position(|name| *name == summary.label) else {
            continue;
        };
        let rows = scores
            .chunks_exact(outputs.len())
            .zip(forecasts.labels.iter());
        let examples = rows.enumerate().map(|(document, (scores, labels))| {
            let weights = forecasts.weights.as_ref();
            let weight = weights.map_or(1.0, |weights| weights[document]);
            (scores[place], labels.contains(&(class as u32)), weight)
        });
        let curve = &model.calibrators()[output];
        let name = curve_name(summary);
        let mut calibrators: Vec<(String, Box<dyn Calibrator + 'm>)> = Vec::new();
        match (model.recalibration(), Corrected::of(model, output)) {
            (_, Some(corrected)) => {
                calibrators.push((
                    format!("{name}, corrected by new labels"),
                    Box::new(corrected),
                ));
                calibrators.push((format!("{name}, before"), Box::new(curve)));
            }
            (Some(_), None) => {
                calibrators.push((format!("{name}, before new labels"), Box::new(curve)));
            }
            (None, None) => calibrators.push((name, Box::new(curve))),
        }
        let states_log_odds = model.settings().states_log_odds();
        if states_log_odds && *curve != SavedCalibrator::Identity {
            let without = Box::new(SavedCalibrator::Identity);
            calibrators.push(("without calibration".to_owned(), without));
        }
        shown.push(ClassScores {
            class: summary.label.clone(),
            examples: examples.collect(),
            calibrators,
        });
    }
    shown
}

fn curve_name(summary: &ClassSummary) -> String {
    let method = summary.calibrator.name().replace('_', " ");
    match summary.calibration {
        CalibrationNote::Own => method,
        CalibrationNote::Weighed => {
            format!("{method}, averaged with one curve for all labels")
        }
        CalibrationNote::Common => "one curve for all labels".to_owned(),
        CalibrationNote::Pooled => "borrowed from other classes".to_owned(),
        CalibrationNote::Drawn => {
            format!("{method}, with its slope shrunk towards a typical value")
        }
        CalibrationNote::Guess => "a guessed slope".to_owned(),
        CalibrationNote::MadeToRise => format!("{method}, made to increase"),
        CalibrationNote::PriorOnly => "the class's share".to_owned(),
        // All classes have a calibrator together, which is no curve of one score; this one stands beside.
        CalibrationNote::Joint => "the class alone against the rest".to_owned(),
    }
}
