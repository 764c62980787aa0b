//! Scores with the curves that turn them into probabilities, for the figures of a report.

use crate::calibration::{Calibrator, SavedCalibrator};
use crate::evaluation::Forecasts;
use crate::pipeline::{CalibrationNote, ClassSummary, Model};
use crate::report::ClassScores;

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
        let calibrator: &dyn Calibrator = &model.calibrators()[output];
        let mut calibrators = vec![(curve_name(summary), calibrator)];
        let states_log_odds = model.settings().states_log_odds();
        if states_log_odds && model.calibrators()[output] != SavedCalibrator::Identity {
            calibrators.push(("without calibration".to_owned(), &SavedCalibrator::Identity));
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
