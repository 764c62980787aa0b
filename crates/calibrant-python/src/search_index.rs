//! Indexes: built, and searched.

use std::path::PathBuf;
use std::sync::Arc;

use calibrant::corpus::{Fields, LabelNeed, Qrels, Query, QueryFormat, TopicField, read_queries};
use calibrant::index::{DocumentFormat, DocumentOptions, IndexSettings, SearchIndex, build_index};
use calibrant::jobs::Inspection;
use calibrant::jobs::search::{
    RunSettings, SearchBy, SearchSettings, search, search_all, search_features, search_run,
};
use calibrant::ranking::Unjudged;
use calibrant::ranking::functions::BaseFunction;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::raise::Raise;
use crate::ranking::PyRankModel;
use crate::source::{ReadWords, SourceArgument, sources, word};
use crate::watch::watch;
use crate::{errors, json, pool};

/// An index of documents, opened.
#[pyclass(frozen, name = "SearchIndex", module = "calibrant._calibrant")]
pub(crate) struct PySearchIndex {
    index: Arc<SearchIndex>,
}

impl From<SearchIndex> for PySearchIndex {
    fn from(index: SearchIndex) -> Self {
        Self {
            index: Arc::new(index),
        }
    }
}

/// How documents are read for an index.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct IndexWords {
    title: Option<String>,
    numbered: bool,
    #[serde(deserialize_with = "word")]
    format: Option<DocumentFormat>,
}

/// Writes the index of documents to a folder.
#[pyfunction]
#[pyo3(signature = (given, target, settings, reading, words, progress=None))]
pub(crate) fn index_documents(
    py: Python<'_>,
    given: Vec<SourceArgument>,
    target: PathBuf,
    settings: &str,
    reading: &str,
    words: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let sources = sources(given);
    let settings: IndexSettings = json::read(settings)?;
    let reading: ReadWords = json::read(reading)?;
    let words: IndexWords = json::read(words)?;
    let options = DocumentOptions {
        format: words.format,
        reading: reading.options(&Fields::default(), LabelNeed::Required)?,
        title: words.title,
        numbered: words.numbered,
    };
    let built = watch(py, progress, |progress| {
        build_index(&sources, &target, settings, &options, progress)
    })?;
    let (summary, bad_rows) = built.map_err(Raise::raise)?;
    let mut summary = serde_json::to_value(&summary).map_err(errors::general)?;
    summary["bad_rows"] = json!(bad_rows);
    Ok(summary.to_string())
}

/// Queries of a file, in its own format or as its first line tells.
fn queries(
    source: SourceArgument,
    format: Option<&str>,
    topic_fields: &[String],
) -> PyResult<Vec<Query>> {
    let format = format.map(str::parse::<QueryFormat>).transpose();
    let fields = topic_fields.iter().map(|field| field.parse::<TopicField>());
    let fields: Vec<TopicField> = fields.collect::<Result<_, _>>().map_err(errors::general)?;
    let format = format.map_err(errors::general)?;
    read_queries(&source.into(), format, &fields).map_err(Raise::raise)
}

/// Functions by name; `all` stands for the fifteen of the paper.
fn functions(names: &[String]) -> PyResult<Vec<BaseFunction>> {
    let mut functions = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => functions.extend(BaseFunction::paper()),
            name => functions.push(name.parse().map_err(|error| {
                errors::general(format!(
                    "function {name}: {error}\nhint: for example \"bm25.stems\""
                ))
            })?),
        }
    }
    Ok(functions)
}

/// By the model, or else by the function.
fn by<'a>(
    function: Option<&String>,
    model: Option<&'a PyRankModel>,
    depth: Option<usize>,
) -> PyResult<SearchBy<'a>> {
    if let Some(model) = model {
        let depth = depth.unwrap_or(SearchBy::DEPTH);
        return Ok(SearchBy::Model {
            model: &model.model,
            depth,
        });
    }
    let function = match function {
        Some(name) => functions(std::slice::from_ref(name))?.into_iter().next(),
        None => None,
    };
    Ok(SearchBy::Function(
        function.unwrap_or_else(BaseFunction::bm25_stems),
    ))
}

#[pymethods]
impl PySearchIndex {
    #[staticmethod]
    #[pyo3(signature = (path, verify=true))]
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<Self> {
        let index = pool::run(py, || match verify {
            true => SearchIndex::open(&path),
            false => SearchIndex::open_unverified(&path),
        })?;
        Ok(index.map_err(Raise::raise)?.into())
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.index.path().to_owned()
    }

    fn __len__(&self) -> usize {
        self.index.document_count() as usize
    }

    fn inspect(&self) -> PyResult<String> {
        let bytes = self.index.file_bytes().map_err(Raise::raise)?;
        let inspection = Inspection::of_index(&self.index, bytes, None);
        json::write(&inspection.map_err(Raise::raise)?)
    }

    /// The answer to one query.
    #[pyo3(signature = (query, settings, function=None, model=None, depth=None))]
    fn search(
        &self,
        py: Python<'_>,
        query: &str,
        settings: &str,
        function: Option<String>,
        model: Option<&PyRankModel>,
        depth: Option<usize>,
    ) -> PyResult<String> {
        let settings: SearchSettings = json::read(settings)?;
        let by = by(function.as_ref(), model, depth)?;
        by.check().map_err(Raise::raise)?;
        let answer = pool::run(py, || search(&self.index, query, by, settings))?;
        json::write(&answer.map_err(Raise::raise)?)
    }

    /// The answers to many queries.
    #[pyo3(signature = (source, settings, format, topic_fields, function=None, model=None, depth=None))]
    #[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
    fn search_many(
        &self,
        py: Python<'_>,
        source: SourceArgument,
        settings: &str,
        format: Option<&str>,
        topic_fields: Vec<String>,
        function: Option<String>,
        model: Option<&PyRankModel>,
        depth: Option<usize>,
    ) -> PyResult<String> {
        let settings: SearchSettings = json::read(settings)?;
        let queries = queries(source, format, &topic_fields)?;
        let by = by(function.as_ref(), model, depth)?;
        let mut answers = Vec::new();
        let searched = pool::run(py, || {
            search_all(&self.index, &queries, by, settings, |answer| {
                answers.push(answer);
                Ok::<(), calibrant::index::IndexError>(())
            })
        })?;
        searched.map_err(Raise::raise)?;
        json::write(&answers)
    }

    /// The best documents of many queries, as the text of a run.
    #[pyo3(signature = (source, settings, format, topic_fields, function=None, model=None, depth=None, progress=None))]
    #[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
    fn run(
        &self,
        py: Python<'_>,
        source: SourceArgument,
        settings: &str,
        format: Option<&str>,
        topic_fields: Vec<String>,
        function: Option<String>,
        model: Option<&PyRankModel>,
        depth: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<u8>> {
        let settings: RunSettings = json::read(settings)?;
        let queries = queries(source, format, &topic_fields)?;
        let by = by(function.as_ref(), model, depth)?;
        let run = watch(py, progress, |progress| {
            search_run(&self.index, &queries, by, &settings, progress)
        })?;
        let mut lines = Vec::new();
        let run = run.map_err(Raise::raise)?;
        run.write(&mut lines).map_err(errors::general)?;
        Ok(lines)
    }

    /// The value of every function for every document that one of them found, as the text of a LETOR file; and what is to be known
    /// about judgements.
    #[pyo3(signature = (source, names, top, format, topic_fields, qrels=None, unjudged=None))]
    #[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
    fn features(
        &self,
        py: Python<'_>,
        source: SourceArgument,
        names: Vec<String>,
        top: usize,
        format: Option<&str>,
        topic_fields: Vec<String>,
        qrels: Option<SourceArgument>,
        unjudged: Option<&str>,
    ) -> PyResult<(Vec<u8>, String)> {
        let queries = queries(source, format, &topic_fields)?;
        let functions = match names.is_empty() {
            true => BaseFunction::paper(),
            false => functions(&names)?,
        };
        let unjudged = match unjudged {
            Some(word) => word.parse::<Unjudged>().map_err(errors::general)?,
            None => Unjudged::default(),
        };
        let qrels = qrels.map(|qrels| Qrels::read(&qrels.into()));
        let qrels = qrels.transpose().map_err(Raise::raise)?;
        let judgements = qrels.as_ref().map(|qrels| (qrels, unjudged));
        let found = pool::run(py, || {
            search_features(&self.index, &queries, &functions, top, judgements)
        })?;
        let found = found.map_err(Raise::raise)?;
        let facts = json!({
            "empty_queries": found.empty_queries,
            "vanished_queries": found.vanished_queries,
            "unlisted_relevant": found.unlisted_relevant,
        });
        let mut lines = Vec::new();
        let written = found.table.write_letor(&mut lines);
        written.map_err(errors::general)?;
        Ok((lines, facts.to_string()))
    }
}
