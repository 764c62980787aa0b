//! Models and tables of probabilities: measured, held against each other, combined and corrected by new labels.

use std::path::PathBuf;

use calibrant::corpus::{LabelNeed, Source};
use calibrant::decision::{Certify, CostEntry, DecisionCosts, PriorChoice};
use calibrant::evaluation::{CompareSettings, LedgerNote, TestSetHash};
use calibrant::jobs::{
    AskSets, CombineReport, EvaluateSettings, Evaluated, Evaluator, Look, RecalibrateReport,
    SeenPromises, System, SystemSettings, ask_systems, combine_source, compare_systems,
    expect_source as expect, recalibrate_source, record_looks, system_names,
};
use calibrant::pipeline::{CombineSettings, Combiner, Model, RecalibrateSettings};
use calibrant::report::SystemReliability;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::fit_source::examples;
use crate::model::PyModel;
use crate::raise::Raise;
use crate::source::{ReadWords, SourceArgument};
use crate::watch::watch;
use crate::{json, pages};

/// A model in memory, or a file of a model or of probabilities.
#[derive(FromPyObject)]
pub(crate) enum SystemArgument {
    /// A model.
    Model(Py<PyModel>),
    /// A file.
    Path(PathBuf),
}

/// A model of one's own, for jobs that keep what they are given.
fn copy_of(model: &PyModel) -> PyResult<Model> {
    let bytes = model.model.to_bytes().map_err(Raise::raise)?;
    Model::from_bytes(&bytes).map_err(Raise::raise)
}

/// Systems by the names that they were given, or that their files have.
fn systems(given: Vec<(Option<String>, SystemArgument)>) -> PyResult<Vec<System>> {
    let path_of =
        |(number, (name, system)): (usize, &(Option<String>, SystemArgument))| match (system, name)
        {
            (SystemArgument::Path(path), _) => path.clone(),
            (SystemArgument::Model(_), Some(name)) => PathBuf::from(name),
            (SystemArgument::Model(_), None) => PathBuf::from(format!("model {}", number + 1)),
        };
    let paths: Vec<PathBuf> = given.iter().enumerate().map(path_of).collect();
    let names = system_names(&paths);
    let mut systems = Vec::new();
    for (((name, system), path), own) in given.into_iter().zip(paths).zip(names) {
        let mut one = match system {
            SystemArgument::Path(path) => {
                let opened = System::open(std::slice::from_ref(&path)).map_err(Raise::raise)?;
                opened.into_iter().next()
            }
            SystemArgument::Model(model) => Some(System {
                name: own.clone(),
                path,
                model: Some(copy_of(model.get())?),
            }),
        };
        if let Some(one) = &mut one {
            one.name = name.unwrap_or(own);
        }
        systems.extend(one);
    }
    Ok(systems)
}

/// Writes down beside the systems that the test set was looked at; how often it was before.
fn record(test_set: &TestSetHash, looks: &[Look<'_>]) -> Option<LedgerNote> {
    // No evaluation fails because of its ledger.
    record_looks(test_set, looks, &mut Vec::new())
}

/// What is measured of a model, with what is promised.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EvaluateWords {
    settings: EvaluateSettings,
    sets: Option<AskSets>,
    max_error: Option<Certify>,
    /// Texts and words of documents are left out of the page.
    no_texts: bool,
}

/// Measures a model on labelled documents: the report, and a page where one is asked for.
#[pyfunction]
#[pyo3(signature = (model, name, source, reading, words, calibration=None, page=None, ledger=None, progress=None))]
#[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
pub(crate) fn evaluate_source(
    py: Python<'_>,
    model: &PyModel,
    name: &str,
    source: SourceArgument,
    reading: &str,
    words: &str,
    calibration: Option<SourceArgument>,
    page: Option<&str>,
    ledger: Option<PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let model = &*model.model;
    let source = Source::from(source);
    let calibration: Option<Source> = calibration.map(Into::into);
    let reading: ReadWords = json::read(reading)?;
    let mut words: EvaluateWords = json::read(words)?;
    if page.is_some() {
        words.settings.shown_scores = pages::SHOWN_CLASSES;
        words.settings.worst_mistakes = pages::SHOWN_MISTAKES;
    }
    let options = reading.options(&Default::default(), LabelNeed::Required)?;
    let evaluator = Evaluator::new(model, &words.settings).map_err(Raise::raise)?;
    watch(py, progress, |progress| {
        let found = evaluator.forecast(&source, &options, progress);
        let found = found.map_err(Raise::raise)?;
        let examples = calibration
            .as_ref()
            .map(|source| examples(model, source, &reading, progress));
        let examples = examples.transpose()?;
        let asked = (words.sets, words.max_error);
        let seen = SeenPromises::of(model, &found, asked, examples.as_ref());
        let seen = seen.map_err(Raise::raise)?;
        let test_set = found.test_set;
        let mut evaluated = evaluator.measure(found).map_err(Raise::raise)?;
        evaluated.report.promises = seen;
        if let Some(path) = &ledger {
            let look = Look::new(path, Some(model), evaluated.report.evaluation.log_loss);
            evaluated.report.ledger = record(&test_set, &[look]);
        }
        if words.no_texts {
            for mistake in &mut evaluated.mistakes {
                mistake.text.clear();
                mistake.words.clear();
            }
        }
        let report = json::write(&evaluated.report)?;
        let page = page.map(|made| {
            let facts = pages::facts(Some(model), name, &source);
            pages::evaluation(evaluated, name, facts, made)
        });
        Ok((report, page.transpose()?))
    })?
}

/// Measures a table of probabilities on labelled documents.
#[pyfunction]
#[pyo3(signature = (path, name, source, reading, settings, costs, bootstrap=None, page=None, ledger=false, progress=None))]
#[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
pub(crate) fn evaluate_table(
    py: Python<'_>,
    path: PathBuf,
    name: &str,
    source: SourceArgument,
    reading: &str,
    settings: &str,
    costs: &str,
    bootstrap: Option<usize>,
    page: Option<&str>,
    ledger: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let source = Source::from(source);
    let reading: ReadWords = json::read(reading)?;
    let settings: SystemSettings = json::read(settings)?;
    let costs: Vec<CostEntry> = json::read(costs)?;
    let systems = System::open(&[path]).map_err(Raise::raise)?;
    let mut options = reading.options(&Default::default(), LabelNeed::Required)?;
    options.fields.amounts = DecisionCosts::fields_of(&costs);
    watch(py, progress, |progress| {
        let answers = ask_systems(&systems, &source, &options, &settings, progress);
        let answers = answers.map_err(Raise::raise)?;
        let test_set = answers.test_set;
        let evaluated = Evaluated::of_table(answers, &costs, bootstrap);
        let mut evaluated = evaluated.map_err(Raise::raise)?;
        if ledger {
            let log_loss = evaluated.report.evaluation.log_loss;
            let looks: Vec<_> = systems.iter().map(|one| Look::at(one, log_loss)).collect();
            evaluated.report.ledger = record(&test_set, &looks);
        }
        let report = json::write(&evaluated.report)?;
        let page = page.map(|made| {
            let facts = pages::facts(None, name, &source);
            pages::evaluation(evaluated, name, facts, made)
        });
        Ok((report, page.transpose()?))
    })?
}

/// Whether a file holds a model (of texts) rather than a table.
#[pyfunction]
pub(crate) fn open_system(path: PathBuf) -> PyResult<Option<PyModel>> {
    let model = calibrant::jobs::open_model(&path).map_err(Raise::raise)?;
    Ok(model.map(Into::into))
}

/// What a model's probabilities promise of documents without labels.
#[pyfunction]
#[pyo3(signature = (model, name, source, reading, prior, page=None, progress=None))]
#[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
pub(crate) fn expect_source(
    py: Python<'_>,
    model: &PyModel,
    name: &str,
    source: SourceArgument,
    reading: &str,
    prior: &str,
    page: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let model = &*model.model;
    let source = source.into();
    let reading: ReadWords = json::read(reading)?;
    let prior: PriorChoice = json::read(prior)?;
    let options = reading.options(&Default::default(), LabelNeed::Required)?;
    let found = watch(py, progress, |progress| {
        expect(model, &source, &options, &prior, progress).map_err(Raise::raise)
    })?;
    let report = found?.report;
    let page = page.map(|made| pages::expected(&report, name, made));
    Ok((json::write(&report)?, page))
}

/// Holds systems against each other.
#[pyfunction]
#[pyo3(signature = (source, given, reading, asked, costs, settings, page=false, ledger=false, progress=None))]
#[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
pub(crate) fn compare_source(
    py: Python<'_>,
    source: SourceArgument,
    given: Vec<(Option<String>, SystemArgument)>,
    reading: &str,
    asked: &str,
    costs: &str,
    settings: &str,
    page: bool,
    ledger: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let source = source.into();
    let reading: ReadWords = json::read(reading)?;
    let asked: SystemSettings = json::read(asked)?;
    let costs: Vec<CostEntry> = json::read(costs)?;
    let settings: CompareSettings = json::read(settings)?;
    let systems = systems(given)?;
    let mut options = reading.options(&Default::default(), LabelNeed::Required)?;
    options.fields.amounts = DecisionCosts::fields_of(&costs);
    watch(py, progress, |progress| {
        let answers = ask_systems(&systems, &source, &options, &asked, progress);
        let answers = answers.map_err(Raise::raise)?;
        let mut reliability = Vec::new();
        if page {
            for (system, forecasts) in systems.iter().zip(&answers.forecasts) {
                let of_system = SystemReliability::new(&system.name, forecasts);
                reliability.push(of_system.map_err(Raise::raise)?);
            }
        }
        let test_set = answers.test_set;
        let report = compare_systems(&systems, answers, &costs, &settings);
        let mut report = report.map_err(Raise::raise)?;
        if ledger {
            let measured = systems.iter().zip(&report.comparison.systems);
            let looks: Vec<_> = measured
                .map(|(system, found)| Look::at(system, found.log_loss.mean))
                .collect();
            report.ledger = record(&test_set, &looks);
        }
        let page = page.then(|| pages::comparison(&report, &reliability));
        Ok((json::write(&report)?, page))
    })?
}

/// Weighs several models by documents that none has learned from.
#[pyfunction]
#[pyo3(signature = (models, source, reading, settings, even_if_learned_from, progress=None))]
pub(crate) fn combine_models(
    py: Python<'_>,
    models: Vec<(Option<String>, SystemArgument)>,
    source: SourceArgument,
    reading: &str,
    settings: &str,
    even_if_learned_from: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyModel, String)> {
    let source = source.into();
    let reading: ReadWords = json::read(reading)?;
    let settings: CombineSettings = json::read(settings)?;
    let mut named = Vec::new();
    for system in systems(models)? {
        let model = match system.model {
            Some(model) => model,
            // A table is no model: this says so.
            None => Model::open(&system.path).map_err(Raise::raise)?,
        };
        named.push((system.name, model));
    }
    let combiner = Combiner::new(named).map_err(Raise::raise)?;
    let options = reading.options(combiner.fields(), LabelNeed::Required)?;
    let combined = watch(py, progress, |progress| {
        combine_source(
            combiner,
            &source,
            &options,
            &settings,
            even_if_learned_from,
            progress,
        )
    })?;
    let combined = combined.map_err(Raise::raise)?;
    let report = json::write(&CombineReport::of(&combined))?;
    Ok((combined.model.into(), report))
}

/// Corrects a model by new labels.
#[pyfunction]
#[pyo3(signature = (model, source, reading, settings, even_if_learned_from, progress=None))]
pub(crate) fn recalibrate_model(
    py: Python<'_>,
    model: &PyModel,
    source: SourceArgument,
    reading: &str,
    settings: &str,
    even_if_learned_from: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyModel, String)> {
    let source = source.into();
    let reading: ReadWords = json::read(reading)?;
    let settings: RecalibrateSettings = json::read(settings)?;
    let options = reading.options(&Default::default(), LabelNeed::Required)?;
    let model = copy_of(model)?;
    let found = watch(py, progress, |progress| {
        recalibrate_source(
            model,
            &source,
            &options,
            &settings,
            even_if_learned_from,
            progress,
        )
    })?;
    let found = found.map_err(Raise::raise)?;
    let report = json::write(&RecalibrateReport::of(&found))?;
    Ok((found.recalibrated.model.into(), report))
}
