//! `calibrant evaluate --html`

use std::path::Path;

use calibrant::calibration::{Calibrator, SavedCalibrator};
use calibrant::evaluation::{Evaluation, Forecasts};
use calibrant::pipeline::{CalibrationNote, Model};
use calibrant::report::{ClassScores, Report, ReportInput};

use crate::arguments::EvaluateArguments;
use crate::error::CliError;
use crate::output::{check_target_of, write_whole};

const OPTION: &str = "--html";
/// Classes whose scores are shown: the most frequent ones of the training documents.
const SHOWN_CLASSES: usize = 6;

/// A report to be written, and the scores that it needs.
pub(crate) struct EvaluatePage<'a> {
    path: &'a Path,
    /// Outputs of the scorer whose scores are kept.
    outputs: Vec<usize>,
    /// Their scores, document after document.
    scores: Vec<f64>,
}

impl<'a> EvaluatePage<'a> {
    /// Nothing where no page was asked for. A wrong place is refused before any work. `measured` is the model
    /// with its classes that are measured; there is none where probabilities came as a table.
    pub(crate) fn wanted(
        arguments: &'a EvaluateArguments,
        measured: Option<(&Model, &[usize])>,
    ) -> Result<Option<Self>, CliError> {
        let Some(path) = arguments.html.as_deref() else {
            return Ok(None);
        };
        check_target_of(OPTION, path, &arguments.file)?;
        if let (Ok(target), Ok(model)) = (path.canonicalize(), arguments.model.canonicalize())
            && target == model
        {
            return Err(CliError::new(format!(
                "`{}` holds the model and would be overwritten",
                path.display()
            ))
            .hint(format!("choose another {OPTION}")));
        }
        // A combination has no scores of its own.
        let mut outputs = Vec::new();
        if let Some((model, classes)) = measured
            && let Some(model) = model.as_single()
        {
            let all = 0..model.calibrators().len();
            outputs.extend(all.filter(|&output| classes.contains(&model.class_of_output(output))));
            let positives =
                |output: usize| model.summary().classes[model.class_of_output(output)].positives;
            outputs.sort_by_key(|&output| std::cmp::Reverse(positives(output)));
            outputs.truncate(SHOWN_CLASSES);
        }
        Ok(Some(Self {
            path,
            outputs,
            scores: Vec::new(),
        }))
    }

    /// The outputs whose scores are kept.
    pub(crate) fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// Keeps the scores of one document, as many as there are [`Self::outputs`].
    pub(crate) fn keep(&mut self, scores: &[f64]) {
        self.scores.extend_from_slice(scores);
    }

    /// Writes the report.
    pub(crate) fn write(
        &self,
        arguments: &EvaluateArguments,
        model: Option<&Model>,
        forecasts: &Forecasts,
        evaluation: &Evaluation,
        notes: Vec<String>,
    ) -> Result<(), CliError> {
        let report = Report::new(ReportInput {
            title: format!("Evaluation of {}", file_name(&arguments.model)),
            facts: facts(arguments, model),
            notes,
            forecasts,
            evaluation,
            scores: model.map_or_else(Vec::new, |model| self.class_scores(model, forecasts)),
        })?;
        write_whole(OPTION, report.to_html().as_bytes(), self.path)
    }

    fn class_scores<'m>(&self, model: &'m Model, forecasts: &Forecasts) -> Vec<ClassScores<'m>> {
        let width = self.outputs.len();
        let mut shown = Vec::new();
        let Some(model) = model.as_single() else {
            return shown;
        };
        for (place, &output) in self.outputs.iter().enumerate() {
            let summary = &model.summary().classes[model.class_of_output(output)];
            let class = forecasts
                .class_names
                .iter()
                .position(|name| *name == summary.label);
            let Some(class) = class else {
                continue;
            };
            let examples = self
                .scores
                .chunks_exact(width)
                .zip(forecasts.labels.iter())
                .enumerate()
                .map(|(document, (scores, labels))| {
                    let weights = forecasts.weights.as_ref();
                    let weight = weights.map_or(1.0, |weights| weights[document]);
                    (scores[place], labels.contains(&(class as u32)), weight)
                });
            let method = summary.calibrator.name().replace('_', " ");
            let name = match summary.calibration {
                CalibrationNote::Own => method,
                CalibrationNote::Weighed => {
                    format!("{method}, weighed with one curve for all labels")
                }
                CalibrationNote::Common => "one curve for all labels".to_owned(),
                CalibrationNote::Pooled => "borrowed of other classes".to_owned(),
                CalibrationNote::Drawn => format!("{method}, its slope drawn to what is usual"),
                CalibrationNote::Guess => "a guessed slope".to_owned(),
                CalibrationNote::MadeToRise => format!("{method}, made to rise"),
                CalibrationNote::PriorOnly => "the class's share".to_owned(),
                // All classes have a calibrator together, which is no curve of one score; this one stands beside.
                CalibrationNote::Joint => "the class alone against the rest".to_owned(),
            };
            let calibrator: &dyn Calibrator = &model.calibrators()[output];
            let mut calibrators = vec![(name, calibrator)];
            // Log-odds can be drawn without a calibrator; margins, cosines and shares of votes cannot.
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
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn facts(arguments: &EvaluateArguments, model: Option<&Model>) -> Vec<(String, String)> {
    let test = match arguments.file.as_str() {
        "-" => "standard input".to_owned(),
        file => file_name(Path::new(file)),
    };
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let Some(model) = model else {
        return vec![
            fact("probabilities", file_name(&arguments.model)),
            fact("tested on", test),
        ];
    };
    let summary = model.summary();
    vec![
        fact("model", file_name(&arguments.model)),
        fact(
            "learned from",
            format!(
                "{} documents, {} features, {}",
                summary.documents,
                summary.features,
                model.learner_name()
            ),
        ),
        fact("tested on", test),
    ]
}
