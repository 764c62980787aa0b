//! New scores to written probabilities.

use calibrant::corpus::LabelNeed;
use calibrant::jobs::{
    PredictionColumns, PredictionWriter, PriorPlan, PriorReport, apply_scores_live,
};
use calibrant::pipeline::ScoreCalibrator;

use super::{note_ends, score_fields};
use crate::arguments::CalibrateArguments;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::output::{count_of, note};
use crate::predict::{note_filtered, note_whole_input, prediction_writer, warn_without_id};
use crate::prior::show_prior;
use crate::progress::TerminalProgress;

/// Predictions that wait for their name.
pub(super) struct Predictions {
    pub(super) writer: PredictionWriter<'static>,
    pub(super) rows: u64,
    pub(super) prior: Option<PriorReport>,
}

/// Reads the scores and writes their probabilities, all rows in order, to a file without a name yet.
pub(super) fn apply(
    arguments: &CalibrateArguments,
    calibrator: &ScoreCalibrator,
    plan: &PriorPlan,
    file: &str,
) -> Result<Predictions, CliError> {
    let fields = score_fields(arguments, calibrator)?;
    let mut options = arguments.reading.options(fields, LabelNeed::Ignored);
    options.keep = arguments.results.keep;
    options.as_they_come = arguments.predictions.is_none();
    let columns = match calibrator.is_binary() {
        true => PredictionColumns::Positive {
            interval: calibrator.has_interval(),
        },
        false => PredictionColumns::Classes {
            scores: false,
            decisions: false,
            sets: None,
        },
    };
    let columns = arguments.results.columns(None, None, columns);
    let path = arguments.predictions.as_deref();
    note_whole_input(file, path, plan.must_see_all().then_some("--adapt-prior"));
    let mut writer = prediction_writer(path, path.is_none() && arguments.json, columns)?;
    let (source, progress) = (input::source(file), TerminalProgress::default());
    let applied = apply_scores_live(
        calibrator,
        &source,
        &options,
        plan,
        &progress,
        |prediction| match prediction {
            Some(prediction) => Ok::<_, CliError>(writer.write_scored(&prediction)?),
            None => Ok(writer.flush()?),
        },
    )?;
    if let Some(report) = &applied.prior {
        show_prior(file, report);
    }
    warn_bad_rows(&applied.read);
    note_filtered(arguments.results.keep, &applied.read);
    warn_without_id(file, applied.without_id, applied.examples);
    note_ends(file, applied.at_ends, calibrator);
    note_rescaled(file, applied.rescaled);
    Ok(Predictions {
        writer,
        rows: applied.examples,
        prior: applied.prior,
    })
}

fn note_rescaled(file: &str, rescaled: usize) {
    if rescaled > 0 {
        note(&format!(
            "{file}: stated probabilities that do not sum to one are normalised: {}",
            count_of(rescaled, "row")
        ));
    }
}
