//! New scores to written probabilities.

use std::ops::ControlFlow;

use calibrant::Probability;
use calibrant::corpus::{LabelNeed, ReadOptions, ScoredRow, read_scores};
use calibrant::jobs::{DecidedPrior, DocumentKeys, Prediction, PriorPlan, PriorReport};
use calibrant::pipeline::{ScoreBuffers, ScoreCalibrator};

use super::failure::read_error;
use super::{note_ends, output_names, score_fields};
use crate::arguments::CalibrateArguments;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::output::{count_of, note};
use crate::predict::warn_without_id;
use crate::predict::writer::{Layout, PositivePrediction, PredictionWriter};
use crate::prior::show_prior;
use crate::progress::TerminalProgress;

/// Predictions that wait for their name.
pub(super) struct Predictions {
    pub(super) writer: PredictionWriter,
    pub(super) rows: u64,
    pub(super) prior: Option<PriorReport>,
}

/// Some rows and what is said of them.
#[derive(Default)]
struct Batch {
    ids: Vec<Option<String>>,
    /// Row by row, output after output.
    probabilities: Vec<Probability>,
    /// One per row, where the calibrator gives them.
    intervals: Vec<(Probability, Probability)>,
    /// Rows of stated probabilities that do not sum to one.
    rescaled: usize,
    /// Probabilities that are stated as 0 or 1.
    at_ends: usize,
}

impl Batch {
    fn of(rows: Vec<ScoredRow>, calibrator: &ScoreCalibrator) -> Self {
        let outputs = calibrator.outputs().len();
        let mut room = ScoreBuffers::default();
        let even = Probability::from_log_odds(0.0);
        let mut batch = Self {
            probabilities: vec![even; rows.len() * outputs],
            ..Self::default()
        };
        let places = batch.probabilities.chunks_exact_mut(outputs);
        for (row, out) in rows.into_iter().zip(places) {
            calibrator.probabilities_into(&row.scores, &mut room, out);
            batch.at_ends += calibrator.scale().count_at_ends(&row.scores);
            batch.rescaled += usize::from(!calibrator.is_whole_row(&row.scores));
            batch.intervals.extend(calibrator.interval(&row.scores));
            batch.ids.push(row.id);
        }
        batch
    }

    fn shift(&mut self, outputs: usize, decided: &DecidedPrior) {
        decided.apply(outputs, &mut self.probabilities);
        for (lower, upper) in &mut self.intervals {
            decided.apply(1, std::slice::from_mut(lower));
            decided.apply(1, std::slice::from_mut(upper));
        }
    }

    fn append(&mut self, later: Self) {
        self.ids.extend(later.ids);
        self.probabilities.extend(later.probabilities);
        self.intervals.extend(later.intervals);
    }
}

/// Reads the scores and writes their probabilities, all rows in order, to a file without a name yet.
pub(super) fn apply(
    arguments: &CalibrateArguments,
    calibrator: &ScoreCalibrator,
    plan: &PriorPlan,
    file: &str,
) -> Result<Predictions, CliError> {
    let options = options_of(arguments, calibrator)?;
    let layout = if calibrator.is_binary() {
        Layout::Positive {
            interval: calibrator.has_interval(),
        }
    } else {
        Layout::Classes { scores: false }
    };
    let path = arguments.predictions.as_deref();
    let mut output = Output {
        writer: PredictionWriter::create(path, path.is_none() && arguments.json, layout)?,
        calibrator,
        keys: DocumentKeys::new(options.fields.id.is_some()),
    };
    let names = output_names(calibrator);
    let known = match plan.must_see_all() {
        true => DecidedPrior::default(),
        false => plan.decide(&[], None)?,
    };
    let mut held = Batch::default();
    let mut failure = None;
    let (mut rescaled, mut at_ends) = (0, 0);
    let read = read_scores(
        &input::source(file),
        &options,
        &TerminalProgress::default(),
        |rows| {
            let mut batch = Batch::of(rows, calibrator);
            batch.shift(names.len(), &known);
            batch
        },
        |batch| {
            rescaled += batch.rescaled;
            at_ends += batch.at_ends;
            if plan.must_see_all() {
                held.append(batch);
            } else if let Err(error) = output.write(batch) {
                failure = Some(error);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        },
    )
    .map_err(read_error)?;
    if let Some(error) = failure {
        return Err(error);
    }
    let mut prior = None;
    if plan.must_see_all() {
        let decided = plan.decide(&held.probabilities, None)?;
        if let Some(report) = &decided.report {
            show_prior(file, report);
        }
        held.shift(names.len(), &decided);
        prior = decided.report;
        output.write(held)?;
    }
    warn_bad_rows(&read);
    warn_without_id(file, output.keys.without_id(), output.keys.documents());
    note_ends(file, at_ends, calibrator);
    note_rescaled(file, rescaled);
    Ok(Predictions {
        writer: output.writer,
        rows: output.keys.documents(),
        prior,
    })
}

/// How the file is read: its own identifiers, and nothing that only counts in fitting.
fn options_of(
    arguments: &CalibrateArguments,
    calibrator: &ScoreCalibrator,
) -> Result<ReadOptions, CliError> {
    let mut options = arguments
        .reading
        .options(score_fields(arguments, calibrator)?, LabelNeed::Ignored);
    options.fields.weight = None;
    options.fields.group = None;
    options.own_id = true;
    options.scores_are_probabilities = calibrator.scale().is_probability();
    Ok(options)
}

fn note_rescaled(file: &str, rescaled: usize) {
    if rescaled > 0 {
        note(&format!(
            "{file}: {} of stated probabilities that do not sum to one; only their ratios count",
            count_of(rescaled, "row")
        ));
    }
}

struct Output<'a> {
    writer: PredictionWriter,
    calibrator: &'a ScoreCalibrator,
    keys: DocumentKeys,
}

impl Output<'_> {
    fn write(&mut self, batch: Batch) -> Result<(), CliError> {
        let names = self.calibrator.outputs();
        let labels: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut intervals = batch.intervals.into_iter();
        for (id, row) in batch
            .ids
            .into_iter()
            .zip(batch.probabilities.chunks_exact(names.len()))
        {
            let key = self.keys.next(id);
            if self.calibrator.is_binary() {
                self.writer.write_positive(&PositivePrediction {
                    key,
                    class: &names[0],
                    probability: row[0],
                    interval: intervals.next(),
                })?;
            } else {
                let prediction = Prediction::best_first(&labels, row, &[], row.len());
                self.writer.write(&prediction.with_key(key))?;
            }
        }
        Ok(())
    }
}
