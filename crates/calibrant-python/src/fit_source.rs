//! Models from files: fitted, searched for, asked, and explained.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use calibrant::corpus::{Content, LabelNeed, ReadError, ReadOptions, ReadSummary, Source};
use calibrant::jobs::{
    CalibrationExamples, FitReport, FitWords, PredictError, PredictSettings, PredictSummary,
    Prediction, PredictionColumns, PredictionFormat, PredictionWriter, Predictor, RowColumns,
    WritePredictionsError, explain, fit_source as fit, read_row, search_source,
};
use calibrant::pipeline::{Contender, FitSettings, Model, SearchSettings};
use calibrant::rules::RuleSet;
use calibrant::scorers::Classifier;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::PyModel;
use crate::raise::Raise;
use crate::source::{ReadWords, SourceArgument};
use crate::watch::watch;
use crate::{errors, json, like};

/// What fitting a file takes beside [`FitWords`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FitExtras {
    search: bool,
    time_budget: Option<f64>,
    no_training_keys: bool,
}

/// Settings and reading options of a fit, checked.
pub(crate) fn fit_job(
    source: &Source,
    reading: &str,
    words: &str,
    like: Option<&PyModel>,
) -> PyResult<(FitWords, FitSettings, ReadOptions)> {
    let reading: ReadWords = json::read(reading)?;
    let given: Value = json::read(words)?;
    let mut words: FitWords = json::read(words)?;
    if let Some(like) = like {
        words = like::with_learner(words, like)?;
    }
    let mut settings = words.settings().map_err(Raise::raise)?;
    if let Some(like) = like {
        settings = like::under(like, &settings, &given)?;
    }
    let asked = match &settings.rules {
        Some(rules) => {
            let rules = rules.parse::<RuleSet>();
            rules
                .map_err(|error| errors::fit(format!("the rules, {error}")))?
                .fields()
        }
        None => Vec::new(),
    };
    let mut options = reading.training(source, asked)?;
    if let Some(like) = like {
        like::remember(like, &mut options)?;
    }
    Ok((words, settings, options))
}

/// What a search may try: what was given is kept.
fn search_plan(words: &FitWords, budget: Option<f64>) -> PyResult<SearchSettings> {
    let usual = SearchSettings::default();
    let tuned = |classifier: &Classifier| match classifier {
        Classifier::NaiveBayes(_) => words.alpha.is_none() && words.word_prior.is_none(),
        _ => words.c.is_none(),
    };
    let learners = match words.classifier {
        Some(_) => vec![words.classifier().map_err(Raise::raise)?],
        None => {
            let usual = usual.learners.iter().map(|one| one.classifier);
            usual.map(|one| as_asked(words, one)).collect()
        }
    };
    let time_budget = match budget {
        None => usual.time_budget,
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .map_err(|_| errors::general("time_budget must be a number of seconds, 0 or more"))?,
    };
    // Settings hold the weighting with its parameters.
    let weighting = words.settings().map_err(Raise::raise)?.weighting;
    Ok(SearchSettings {
        learners: learners
            .into_iter()
            .map(|classifier| Contender {
                classifier,
                tuned: tuned(&classifier),
            })
            .collect(),
        weighting: weighting
            .filter(|_| words.weighting.is_some())
            .map(|w| w.weighting),
        l2_norm: words.l2_norm,
        time_budget,
        ..usual
    })
}

/// A learner with the costs and limits that were given.
fn as_asked(words: &FitWords, mut classifier: Classifier) -> Classifier {
    let limits = match &mut classifier {
        Classifier::LinearSvm(svm) => {
            svm.c = words.c;
            svm.loss = words.loss.unwrap_or(svm.loss);
            &mut svm.limits
        }
        Classifier::LogisticRegression(logistic) => {
            logistic.c = words.c;
            &mut logistic.limits
        }
        _ => return classifier,
    };
    limits.relative_gap = words.tolerance.unwrap_or(limits.relative_gap);
    limits.max_passes = words.max_passes.unwrap_or(limits.max_passes);
    classifier
}

/// Learns a calibrated model from a file; with its report.
#[pyfunction]
#[pyo3(signature = (source, reading, words, extras, like=None, progress=None))]
pub(crate) fn fit_source(
    py: Python<'_>,
    source: SourceArgument,
    reading: &str,
    words: &str,
    extras: &str,
    like: Option<&PyModel>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyModel, String)> {
    let source = source.into();
    let extras: FitExtras = json::read(extras)?;
    let (words, mut settings, options) = fit_job(&source, reading, words, like)?;
    settings.training_keys = !extras.no_training_keys;
    let plan = match extras.search {
        true => Some(search_plan(&words, extras.time_budget)?),
        false => None,
    };
    let fitted = watch(py, progress, |progress| match &plan {
        Some(plan) => search_source(&source, &options, &settings, plan, progress),
        None => fit(&source, &options, &settings, progress),
    })?;
    let fitted = fitted.map_err(Raise::raise)?;
    let report = json::write(&FitReport::of(&fitted))?;
    Ok((fitted.model.into(), report))
}

/// What predictions are written as.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Shape {
    /// One row for each document, else what the program prints as JSON Lines.
    rows: bool,
    keep: bool,
    wide: bool,
    like_input: bool,
    top: Option<usize>,
}

/// What came of predicting a source.
#[derive(Serialize)]
struct Summary<'a> {
    documents: u64,
    rows: u64,
    filtered_rows: u64,
    bad_rows: u64,
    without_id: u64,
    unknown_documents: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prior: Option<&'a calibrant::jobs::PriorReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'a calibrant::jobs::AskReport>,
    promises: &'a calibrant::jobs::PromiseSummary,
}

impl<'a> Summary<'a> {
    fn of(summary: &'a PredictSummary) -> Self {
        Self {
            documents: summary.documents,
            rows: summary.read.rows,
            filtered_rows: summary.read.filtered,
            bad_rows: summary.read.bad_row_count,
            without_id: summary.without_id,
            unknown_documents: summary.unknown_documents.map_or(0, |found| found.documents),
            prior: summary.prior.as_ref(),
            asked: summary.asked.as_ref(),
            promises: &summary.promises,
        }
    }
}

/// What may stop a table of predictions.
pub(crate) enum Stopped {
    Predict(PredictError),
    Write(WritePredictionsError),
    Json(serde_json::Error),
}

impl From<PredictError> for Stopped {
    fn from(error: PredictError) -> Self {
        Self::Predict(error)
    }
}

impl Stopped {
    pub(crate) fn raise(self) -> PyErr {
        match self {
            Self::Predict(error) => error.raise(),
            Self::Write(error) => error.raise(),
            Self::Json(error) => errors::general(error),
        }
    }
}

/// Labelled documents that promises rest on, read as the others are, but for identifiers and filters.
pub(crate) fn examples(
    model: &Model,
    source: &Source,
    reading: &ReadWords,
    progress: &dyn calibrant::Progress,
) -> PyResult<CalibrationExamples> {
    let mut options = reading.options(&Default::default(), LabelNeed::Required)?;
    options.fields.id = None;
    let skip_bad_rows = options.skip_bad_rows;
    let found = options.read_beside(ReadError::is_of_layout, |options| {
        let options = ReadOptions {
            skip_bad_rows,
            ..options.clone()
        };
        CalibrationExamples::read(model, source, &options, progress)
    });
    found.map_err(Raise::raise)?.map_err(Raise::raise)
}

/// The probability of every class for every document of a source: text of JSON Lines (none where they go to a file) and a summary.
#[pyfunction]
#[pyo3(signature = (model, source, reading, settings, shape, calibration=None, output=None, progress=None))]
#[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
pub(crate) fn predict_source(
    py: Python<'_>,
    model: &PyModel,
    source: SourceArgument,
    reading: &str,
    settings: &str,
    shape: &str,
    calibration: Option<SourceArgument>,
    output: Option<PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Option<Vec<u8>>, String)> {
    let model = &*model.model;
    let source = source.into();
    let calibration: Option<Source> = calibration.map(Into::into);
    let reading: ReadWords = json::read(reading)?;
    let settings: PredictSettings = json::read(settings)?;
    let shape: Shape = json::read(shape)?;
    let decides = !settings.costs.is_empty()
        || settings.ask.is_some()
        || settings.max_error.is_some()
        || settings.f_beta.is_some();
    let (lines, summary) = watch(py, progress, |progress| {
        let examples = calibration
            .as_ref()
            .map(|source| examples(model, source, &reading, progress));
        let examples = examples.transpose()?;
        let predictor = Predictor::with_examples(model, &settings, examples.as_ref());
        let predictor = predictor.map_err(Raise::raise)?;
        let mut options = reading.options(&predictor.fields(), LabelNeed::Ignored)?;
        options.keep = shape.keep;
        let sets = settings.sets.map(|_| predictor.set_separator());
        let columns = match shape.rows {
            true => PredictionColumns::Rows(RowColumns {
                keep: shape.keep,
                wide: shape.wide,
                top: shape.top.unwrap_or(1),
                like_input: shape.like_input,
                sets,
            }),
            false => PredictionColumns::Classes {
                scores: settings.scores,
                decisions: decides,
                sets,
            },
        };
        let mut bytes = Vec::new();
        let summary = match (&output, shape.rows) {
            (None, false) => predictor
                .predict_source(&source, &options, progress, |prediction| {
                    serde_json::to_writer(&mut bytes, &prediction).map_err(Stopped::Json)?;
                    bytes.push(b'\n');
                    Ok(())
                })
                .map_err(Stopped::raise)?,
            _ => {
                let mut writer = match &output {
                    Some(path) => PredictionWriter::create(path, columns).map_err(Raise::raise)?,
                    None => PredictionWriter::new(&mut bytes, PredictionFormat::JsonLines, columns),
                };
                let write =
                    |prediction: Prediction<'_>| writer.write(&prediction).map_err(Stopped::Write);
                let summary = predictor.predict_source(&source, &options, progress, write);
                let summary = summary.map_err(Stopped::raise)?;
                writer.finish().map_err(Raise::raise)?;
                summary
            }
        };
        let lines = output.is_none().then_some(bytes);
        Ok::<_, PyErr>((lines, json::write(&Summary::of(&summary))?))
    })??;
    Ok((lines, summary))
}

/// Why a document gets the probabilities of these classes: a text, or a row of a source.
#[pyfunction]
#[pyo3(signature = (model, text, source, row, reading, classes))]
pub(crate) fn explain_source(
    model: &PyModel,
    text: Option<String>,
    source: Option<SourceArgument>,
    row: usize,
    reading: &str,
    classes: Vec<String>,
) -> PyResult<String> {
    let model = &*model.model;
    let content = match (text, source) {
        (Some(text), _) => Content::Text(text),
        (None, Some(source)) => {
            let reading: ReadWords = json::read(reading)?;
            let options = reading.options(&Default::default(), LabelNeed::Ignored)?;
            let row = NonZeroUsize::new(row)
                .ok_or_else(|| errors::general("rows are counted from 1 here"))?;
            let progress = calibrant::NoProgress;
            read_row(model, &source.into(), &options, row, &progress).map_err(Raise::raise)?
        }
        (None, None) => return Err(errors::general("there is nothing to explain")),
    };
    let explained = explain(model, &content, &classes).map_err(Raise::raise)?;
    json::write(&explained)
}

/// What was read, for reports that do not say it themselves.
pub(crate) fn read_facts(read: &ReadSummary) -> Value {
    json!({
        "rows": read.rows,
        "filtered_rows": read.filtered,
        "bad_rows": read.bad_row_count,
        "unlabelled_rows": read.unlabelled.map_or(0, |found| found.rows),
    })
}
