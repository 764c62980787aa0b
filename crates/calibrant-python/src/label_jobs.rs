//! Labels and files: what is probably wrong, how many there are of each class, how a file is divided, what rules are worth.

use std::path::PathBuf;
use std::sync::Arc;

use calibrant::corpus::{LabelNeed, Source};
use calibrant::decision::PrevalenceSettings;
use calibrant::jobs::{
    FitReport, FitWords, PlainTable, Pool, PredictionFormat, PrevalenceJobError, RereadError,
    SamplePlanSettings, SplitSettings, SuspectList, SuspectSettings, check_rules, find_suspects,
    split_source,
};
use calibrant::pipeline::Model;
use calibrant::rules::RuleSet;
use pyo3::prelude::*;

use crate::fit_source::fit_job;
use crate::model::PyModel;
use crate::raise::Raise;
use crate::source::{ReadWords, SourceArgument};
use crate::watch::watch;
use crate::{errors, json, pages};

/// A table as lines of JSON.
fn lines(table: &PlainTable) -> PyResult<Vec<u8>> {
    let bytes = table.to_bytes(PredictionFormat::JsonLines);
    bytes.map_err(Raise::raise)
}

/// A list of labels that are probably wrong, with the model that doubts them.
#[pyclass(frozen, name = "SuspectList", module = "calibrant._calibrant")]
pub(crate) struct PySuspectList {
    list: SuspectList,
    model: Arc<Model>,
    name: String,
    fit_report: String,
}

#[pymethods]
impl PySuspectList {
    fn report(&self) -> PyResult<String> {
        json::write(&self.list)
    }

    fn fit_report(&self) -> String {
        self.fit_report.clone()
    }

    fn model(&self) -> PyModel {
        self.model.clone().into()
    }

    fn table(&self) -> PyResult<Vec<u8>> {
        lines(&self.list.table())
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.list.table().save(&path).map_err(Raise::raise)
    }

    /// Labels of the list, drawn at random for a person to read again.
    fn sample(&self, size: usize, seed: u64) -> PyResult<Vec<u8>> {
        lines(&self.list.sample(size, seed))
    }

    /// How many labels of the list are really wrong, by a sample that was read again.
    #[pyo3(signature = (source, reading, certainty, progress=None))]
    fn reread(
        &self,
        py: Python<'_>,
        source: SourceArgument,
        reading: &str,
        certainty: f64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let source = source.into();
        let reading: ReadWords = json::read(reading)?;
        let options = reading.rows()?;
        let classes: Vec<&str> = self.model.class_names().collect();
        let found = watch(py, progress, |progress| {
            options.read_beside(RereadError::is_of_layout, |options| {
                self.list
                    .reread(&source, options, certainty, &classes, progress)
            })
        })?;
        json::write(&found.map_err(Raise::raise)?)
    }

    fn page(&self) -> String {
        pages::suspects(&self.name, &self.list)
    }
}

/// Fits a model and lists the labels that it doubts.
#[pyfunction]
#[pyo3(signature = (source, reading, words, most=None, progress=None))]
pub(crate) fn suspect_labels(
    py: Python<'_>,
    source: SourceArgument,
    reading: &str,
    words: &str,
    most: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PySuspectList> {
    let source = source.into();
    let (_, settings, options) = fit_job(&source, reading, words, None)?;
    let wanted = SuspectSettings {
        most,
        ..SuspectSettings::default()
    };
    let found = watch(py, progress, |progress| {
        find_suspects(&source, &options, &settings, &wanted, progress)
    })?;
    let (fitted, list) = found.map_err(Raise::raise)?;
    Ok(PySuspectList {
        list,
        fit_report: json::write(&FitReport::of(&fitted))?,
        model: Arc::new(fitted.model),
        name: source.name(),
    })
}

/// How many documents of each class a pool has: as labels of a sample say, or as the model states.
#[pyfunction]
#[pyo3(signature = (model, source, reading, settings, labelled=None, progress=None))]
#[allow(clippy::result_large_err)] // The library's error, once for a file.
pub(crate) fn prevalence_of(
    py: Python<'_>,
    model: &PyModel,
    source: SourceArgument,
    reading: &str,
    settings: &str,
    labelled: Option<SourceArgument>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let model = &*model.model;
    let source = source.into();
    let labelled: Option<Source> = labelled.map(Into::into);
    let reading: ReadWords = json::read(reading)?;
    let settings: PrevalenceSettings = json::read(settings)?;
    let options = reading.options(model.fields(), LabelNeed::Ignored)?;
    let report = watch(py, progress, |progress| {
        let pool = Pool::read(model, &source, &options, progress)?;
        match &labelled {
            Some(labelled) => options.read_beside(PrevalenceJobError::is_of_layout, |options| {
                pool.estimate(labelled, options, &settings, progress)
            }),
            None => pool.stated(),
        }
    })?;
    json::write(&report.map_err(Raise::raise)?)
}

/// How many documents of a pool to label for intervals of a width, and which: the plan, and the documents as lines of JSON.
#[pyfunction]
#[pyo3(signature = (model, source, reading, settings, progress=None))]
pub(crate) fn plan_labels(
    py: Python<'_>,
    model: &PyModel,
    source: SourceArgument,
    reading: &str,
    settings: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<u8>)> {
    let model = &*model.model;
    let source = source.into();
    let reading: ReadWords = json::read(reading)?;
    let settings: SamplePlanSettings = json::read(settings)?;
    let options = reading.options(model.fields(), LabelNeed::Ignored)?;
    let found = watch(py, progress, |progress| {
        let pool = Pool::read(model, &source, &options, progress).map_err(Raise::raise)?;
        let planned = pool.plan(&source, &options, &settings, progress);
        planned.map_err(Raise::raise)
    })?;
    let (report, sample) = found?;
    Ok((json::write(&report)?, lines(&sample)?))
}

/// Divides a file into two.
#[pyfunction]
#[pyo3(signature = (source, reading, settings, train, test, progress=None))]
pub(crate) fn split_file(
    py: Python<'_>,
    source: SourceArgument,
    reading: &str,
    settings: &str,
    train: PathBuf,
    test: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let source = source.into();
    let reading: ReadWords = json::read(reading)?;
    let settings: SplitSettings = json::read(settings)?;
    let options = reading.options(&Default::default(), LabelNeed::IfPresent)?;
    let places = [train, test];
    let report = watch(py, progress, |progress| {
        split_source(&source, &options, &settings, &places, progress)
    })?;
    json::write(&report.map_err(Raise::raise)?)
}

/// What rules are worth on labelled documents; `words` say how texts become terms.
#[pyfunction]
#[pyo3(signature = (rules, source, reading, words, progress=None))]
pub(crate) fn check_rule_set(
    py: Python<'_>,
    rules: &str,
    source: SourceArgument,
    reading: &str,
    words: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let source = source.into();
    let reading: ReadWords = json::read(reading)?;
    let words: FitWords = json::read(words)?;
    let analyzer = words.settings().map_err(Raise::raise)?.analyzer;
    let rules: RuleSet = rules
        .parse()
        .map_err(|error| errors::general(format!("the rules, {error}")))?;
    let options = reading.options(&Default::default(), LabelNeed::Required)?;
    let checked = watch(py, progress, |progress| {
        check_rules(&rules, &analyzer, &source, &options, progress)
    })?;
    let (report, _) = checked.map_err(Raise::raise)?;
    json::write(&report)
}
