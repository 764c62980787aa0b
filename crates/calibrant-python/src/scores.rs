//! The scores of others: calibrators of them.

use std::path::PathBuf;
use std::sync::Arc;

use calibrant::Named;
use calibrant::calibration::{CalibratorKind, MulticlassKind};
use calibrant::corpus::{Fields, LabelNeed, Source};
use calibrant::jobs::{
    AppliedScores, CalibrateError, CalibrateReport, CalibrateSettings, Inspection, LabelGuess,
    MeasuredOn, MeasuredScores, PredictionColumns, PredictionFormat, PredictionWriter, PriorChoice,
    PriorPlan, PriorReport, RowColumns, ScorePrediction, apply_scores, fit_scores, forecast_scores,
    listed, measure_scores, read_examples,
};
use calibrant::pipeline::ScoreCalibrator;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::fit_source::read_facts;
use crate::raise::Raise;
use crate::source::{ReadWords, SourceArgument};
use crate::watch::watch;
use crate::{errors, json, pages};

/// From scores of others to probabilities.
#[pyclass(frozen, name = "ScoreCalibrator", module = "calibrant._calibrant")]
pub(crate) struct PyScoreCalibrator {
    pub(crate) calibrator: Arc<ScoreCalibrator>,
}

impl From<ScoreCalibrator> for PyScoreCalibrator {
    fn from(calibrator: ScoreCalibrator) -> Self {
        Self {
            calibrator: Arc::new(calibrator),
        }
    }
}

#[pymethods]
impl PyScoreCalibrator {
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let calibrator = ScoreCalibrator::from_bytes(bytes).map_err(Raise::raise)?;
        Ok(calibrator.into())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.calibrator.to_bytes().map_err(Raise::raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.calibrator.save(&path).map_err(Raise::raise)
    }

    #[getter]
    fn class_names(&self) -> Vec<String> {
        self.calibrator.classes().to_vec()
    }

    #[getter]
    fn score_fields(&self) -> Vec<String> {
        self.calibrator.fields().scores.clone()
    }

    #[getter]
    fn is_binary(&self) -> bool {
        self.calibrator.is_binary()
    }

    #[getter]
    fn method(&self) -> String {
        self.calibrator.summary().method.clone()
    }

    fn inspect(&self) -> PyResult<String> {
        let bytes = self.calibrator.to_bytes().map_err(Raise::raise)?.len() as u64;
        json::write(&Inspection::of_calibrator(&self.calibrator, bytes))
    }

    /// What the calibrator was fitted to, without measures.
    fn report(&self) -> PyResult<String> {
        json::write(&CalibrateReport::of(&self.calibrator, None))
    }

    /// Scores to probabilities: text of JSON Lines (none where they go to a file), and what was done.
    #[pyo3(signature = (source, reading, fields, prior, rows, output=None, progress=None))]
    #[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
    fn apply(
        &self,
        py: Python<'_>,
        source: SourceArgument,
        reading: &str,
        fields: Vec<String>,
        prior: &str,
        rows: Option<&str>,
        output: Option<PathBuf>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Option<Vec<u8>>, String)> {
        let calibrator = &*self.calibrator;
        let source = source.into();
        let plan = self.plan(prior)?;
        let reading: ReadWords = json::read(reading)?;
        let rows: Option<RowColumns> = rows.map(json::read).transpose()?;
        let mut options = reading.options(&Fields::default(), LabelNeed::Ignored)?;
        options.scores = fields;
        options.keep = rows.is_some_and(|rows| rows.keep);
        let columns = match (rows, calibrator.is_binary()) {
            (Some(rows), _) => PredictionColumns::Rows(rows),
            (None, true) => PredictionColumns::Positive {
                interval: calibrator.has_interval(),
            },
            (None, false) => PredictionColumns::Classes {
                scores: false,
                decisions: false,
                sets: None,
            },
        };
        let mut bytes = Vec::new();
        let applied = watch(py, progress, |progress| -> PyResult<AppliedScores> {
            if output.is_none() && rows.is_none() {
                let write = |prediction: ScorePrediction<'_>| -> Result<(), Stopped> {
                    serde_json::to_writer(&mut bytes, &prediction).map_err(Stopped::json)?;
                    bytes.push(b'\n');
                    Ok(())
                };
                let applied = apply_scores(calibrator, &source, &options, &plan, progress, write);
                return applied.map_err(|stopped| stopped.0);
            }
            let mut writer = match &output {
                Some(path) => PredictionWriter::create(path, columns).map_err(Raise::raise)?,
                None => PredictionWriter::new(&mut bytes, PredictionFormat::JsonLines, columns),
            };
            let write = |prediction: ScorePrediction<'_>| -> Result<(), Stopped> {
                let written = writer.write_scored(&prediction);
                written.map_err(|error| Stopped(error.raise()))
            };
            let applied = apply_scores(calibrator, &source, &options, &plan, progress, write);
            let applied = applied.map_err(|stopped| stopped.0)?;
            writer.finish().map_err(Raise::raise)?;
            Ok(applied)
        })??;
        let mut summary = read_facts(&applied.read);
        summary["examples"] = json!(applied.examples);
        summary["without_id"] = json!(applied.without_id);
        summary["prior"] = json!(applied.prior);
        Ok((output.is_none().then_some(bytes), summary.to_string()))
    }

    /// Measures the calibrator on other examples: the report, and a page where one is asked for.
    #[pyo3(signature = (source, reading, fields, prior, page=false, progress=None))]
    #[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
    fn measure(
        &self,
        py: Python<'_>,
        source: SourceArgument,
        reading: &str,
        fields: Vec<String>,
        prior: &str,
        page: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<String>)> {
        let calibrator = &*self.calibrator;
        let source = Source::from(source);
        let plan = self.plan(prior)?;
        let reading: ReadWords = json::read(reading)?;
        let options = reading.options(&Fields::default(), LabelNeed::Required)?;
        watch(py, progress, |progress| {
            let read = read_examples(calibrator, &source, fields, &options, progress);
            let (examples, _) = read.map_err(Raise::raise)?;
            let mut after = forecast_scores(calibrator, &examples.scores);
            let weights = reading.weight.is_some().then_some(&examples.weights[..]);
            let decided = plan.decide(&after, weights).map_err(Raise::raise)?;
            decided.apply(calibrator.outputs().len(), &mut after);
            let file = source.name();
            let measured = measure_scores(calibrator, MeasuredOn::Test, &file, examples, after);
            let measured = measured.map_err(Raise::raise)?;
            report(calibrator, &measured, decided.report.as_ref(), &[], page)
        })?
    }
}

/// What stopped the application of a calibrator.
struct Stopped(PyErr);

impl Stopped {
    fn json(error: serde_json::Error) -> Self {
        Self(errors::general(error))
    }
}

impl From<CalibrateError> for Stopped {
    fn from(error: CalibrateError) -> Self {
        Self(error.raise())
    }
}

impl PyScoreCalibrator {
    fn plan(&self, prior: &str) -> PyResult<PriorPlan> {
        let choice: PriorChoice = json::read(prior)?;
        PriorPlan::new(&choice, self.calibrator.trained_shares()).map_err(Raise::raise)
    }
}

fn report(
    calibrator: &ScoreCalibrator,
    measured: &MeasuredScores,
    prior: Option<&PriorReport>,
    notes: &[String],
    page: bool,
) -> PyResult<(String, Option<String>)> {
    let mut report = CalibrateReport::of(calibrator, Some(measured));
    if let Some(measures) = &mut report.measures {
        measures.prior = prior;
    }
    report.notes = notes;
    let page = page.then(|| pages::calibration(calibrator, measured, notes));
    Ok((json::write(&report)?, page.transpose()?))
}

/// Fits a calibrator to a table of scores, and measures it by cross-validation.
#[pyfunction]
#[pyo3(signature = (source, reading, settings, page=false, progress=None))]
pub(crate) fn calibrate_scores(
    py: Python<'_>,
    source: SourceArgument,
    reading: &str,
    settings: &str,
    page: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyScoreCalibrator, String, Option<String>)> {
    let source = Source::from(source);
    let reading: ReadWords = json::read(reading)?;
    let settings: CalibrateSettings = json::read(settings)?;
    let options = reading.options(&Fields::default(), LabelNeed::Required)?;
    let (calibrator, report, page) = watch(py, progress, |progress| {
        let fitted = fit_scores(&source, &options, &settings, progress).map_err(Raise::raise)?;
        let notes: Vec<String> = fitted.guess.iter().filter_map(said_of_labels).collect();
        let calibrator = fitted.calibrator;
        let measured = measure_scores(
            &calibrator,
            MeasuredOn::CrossValidation,
            &source.name(),
            fitted.examples,
            fitted.cross_validated,
        );
        let measured = measured.map_err(Raise::raise)?;
        let (report, page) = report(&calibrator, &measured, None, &notes, page)?;
        Ok::<_, PyErr>((calibrator, report, page))
    })??;
    Ok((calibrator.into(), report, page))
}

/// What was decided about labels that nobody explained.
fn said_of_labels(guess: &LabelGuess) -> Option<String> {
    match guess {
        LabelGuess::AgainstRest { positive, others } => Some(format!(
            "`{positive}` against all other labels: {}",
            listed(others)
        )),
        LabelGuess::ByAlphabet { positive, negative } => Some(format!(
            "`{positive}` is taken as the positive label, `{negative}` as the negative one: a guess, by alphabetical order; positive=… overrides it"
        )),
        _ => None,
    }
}

/// Whether a word is a method for one score.
#[pyfunction]
pub(crate) fn is_calibrator(word: &str) -> bool {
    CalibratorKind::from_word(word).is_ok()
}

/// Whether a word is a method for scores of all classes together.
#[pyfunction]
pub(crate) fn is_class_calibrator(word: &str) -> bool {
    MulticlassKind::from_word(word).is_ok()
}
