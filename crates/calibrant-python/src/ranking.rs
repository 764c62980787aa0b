//! Rankings: learned, asked, measured, and looked ahead.

use std::path::PathBuf;
use std::sync::Arc;

use calibrant::corpus::{Qrels, RankingTable, Run, Source};
use calibrant::jobs::Inspection;
use calibrant::jobs::rankings::{
    OutlookSettings, QuerySpreads, RankEvaluateSettings, RankPredictSettings, RankPredictions,
    RankSource, RankTraining, evaluate_rankings, outlook,
};
use calibrant::ranking::learning::{RankModel, RankSettings};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::model::PyModel;
use crate::raise::Raise;
use crate::source::{SourceArgument, sources};
use crate::watch::watch;
use crate::{errors, json, pool};

/// A learned ranking.
#[pyclass(frozen, name = "RankModel", module = "calibrant._calibrant")]
pub(crate) struct PyRankModel {
    pub(crate) model: Arc<RankModel>,
}

impl From<RankModel> for PyRankModel {
    fn from(model: RankModel) -> Self {
        Self {
            model: Arc::new(model),
        }
    }
}

/// LETOR files, or runs where there are any.
fn rows(
    tables: Vec<SourceArgument>,
    runs: Vec<SourceArgument>,
    qrels: Option<SourceArgument>,
) -> RankSource {
    match runs.is_empty() {
        true => RankSource::Letor(sources(tables)),
        false => RankSource::Runs {
            runs: sources(runs),
            qrels: qrels.map(Into::into),
        },
    }
}

#[pymethods]
impl PyRankModel {
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let model = RankModel::from_bytes(bytes).map_err(Raise::raise)?;
        Ok(model.into())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes().map_err(Raise::raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.model.save(&path).map_err(Raise::raise)
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.model.features().columns().to_vec()
    }

    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.relevance().is_some()
    }

    fn summary(&self) -> PyResult<String> {
        json::write(self.model.summary())
    }

    fn inspect(&self) -> PyResult<String> {
        let bytes = self.model.to_bytes().map_err(Raise::raise)?.len() as u64;
        json::write(&Inspection::of_ranking(&self.model, bytes))
    }

    /// Documents in the order of their scores, query by query; and what the tables lacked.
    #[pyo3(signature = (tables, runs, settings, in_order=false))]
    fn predict(
        &self,
        py: Python<'_>,
        tables: Vec<SourceArgument>,
        runs: Vec<SourceArgument>,
        settings: &str,
        in_order: bool,
    ) -> PyResult<(String, String)> {
        let settings: RankPredictSettings = json::read(settings)?;
        let rows = rows(tables, runs, None);
        let found = pool::run(py, || RankPredictions::read(&self.model, &rows, settings))?;
        let found = found.map_err(Raise::raise)?;
        let facts = serde_json::json!({
            "unknown": found.unknown,
            "missing": found.missing,
            "by_number": found.by_number,
        });
        if in_order {
            let stated = found.probabilities.as_ref();
            let stated: Option<Vec<f64>> =
                stated.map(|all| all.iter().map(|p| p.value()).collect());
            let said = json::write(&(&found.scores, stated))?;
            return Ok((said, facts.to_string()));
        }
        let ranked: Vec<_> = found.ranked().collect();
        Ok((json::write(&ranked)?, facts.to_string()))
    }

    /// The same as the text of a run.
    fn predict_run(
        &self,
        py: Python<'_>,
        tables: Vec<SourceArgument>,
        runs: Vec<SourceArgument>,
        settings: &str,
        name: &str,
        probabilities: bool,
    ) -> PyResult<Vec<u8>> {
        let settings: RankPredictSettings = json::read(settings)?;
        let rows = rows(tables, runs, None);
        let found = pool::run(py, || RankPredictions::read(&self.model, &rows, settings))?;
        let found = found.map_err(Raise::raise)?;
        let run = found.run(name, probabilities).map_err(Raise::raise)?;
        let mut lines = Vec::new();
        run.write(&mut lines).map_err(errors::general)?;
        Ok(lines)
    }
}

/// Learns a ranking from LETOR files, or from runs and judgements.
#[pyfunction]
#[pyo3(signature = (tables, runs, qrels, validation, settings, progress=None))]
pub(crate) fn fit_ranking(
    py: Python<'_>,
    tables: Vec<SourceArgument>,
    runs: Vec<SourceArgument>,
    qrels: Option<SourceArgument>,
    validation: Option<SourceArgument>,
    settings: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyRankModel, String)> {
    let settings: RankSettings = json::read(settings)?;
    let rows = rows(tables, runs, qrels);
    let validation: Option<Source> = validation.map(Into::into);
    let fitted = watch(py, progress, |progress| {
        let training = RankTraining::read(&rows, validation.as_ref(), &settings);
        let training = training.map_err(Raise::raise)?;
        training.fit(&settings, progress).map_err(Raise::raise)
    })??;
    let report = json::write(fitted.summary())?;
    Ok((fitted.model.into(), report))
}

/// Rankings against judgements, by trec_eval's measures or LETOR's.
#[pyfunction]
pub(crate) fn measure_rankings(
    py: Python<'_>,
    truth: SourceArgument,
    rankings: Vec<SourceArgument>,
    settings: &str,
) -> PyResult<String> {
    let (truth, rankings) = (Source::from(truth), sources(rankings));
    let settings: RankEvaluateSettings = json::read(settings)?;
    let measured = pool::run(py, || evaluate_rankings(&truth, &rankings, &settings))?;
    json::write(&measured.map_err(Raise::raise)?)
}

/// A model behind probabilities of relevance.
#[derive(FromPyObject)]
pub(crate) enum SpreadArgument {
    /// A ranking.
    Ranking(Py<PyRankModel>),
    /// A classifier with a class for each query.
    Model(Py<PyModel>),
    /// A file of either.
    Path(PathBuf),
}

impl SpreadArgument {
    fn spreads(self) -> PyResult<QuerySpreads> {
        Ok(match self {
            Self::Path(path) => QuerySpreads::open(&path).map_err(Raise::raise)?,
            Self::Ranking(model) => {
                let relevance = model.get().model.relevance();
                QuerySpreads::Ranker(relevance.and_then(|r| r.spread()).copied())
            }
            Self::Model(model) => {
                let classes = model.get().model.summary().classes.iter();
                let named = classes.map(|class| (class.label.clone(), class.spread));
                QuerySpreads::Classifier(named.collect())
            }
        })
    }
}

/// How much is left to find in the lists of a run, and where to stop reading.
#[pyfunction]
pub(crate) fn look_ahead(
    py: Python<'_>,
    run: SourceArgument,
    qrels: Option<SourceArgument>,
    model: Option<SpreadArgument>,
    settings: &str,
) -> PyResult<String> {
    let settings: OutlookSettings = json::read(settings)?;
    let source = Source::from(run);
    let run = Run::read(&source).map_err(Raise::raise)?;
    let qrels = qrels.map(|qrels| Qrels::read(&qrels.into()));
    let qrels = qrels.transpose().map_err(Raise::raise)?;
    let spreads = match model {
        Some(model) => model.spreads()?,
        None => QuerySpreads::Usual,
    };
    let found = pool::run(py, || outlook(&run, qrels.as_ref(), &spreads, &settings))?;
    let found = found.map_err(|error| {
        let file = source.name();
        errors::general(format!(
            "{file}, {error}\nhint: `RankModel.run(…, probabilities=True)` has probabilities as scores"
        ))
    })?;
    json::write(&found)
}

/// The text of a LETOR file with named columns, from columns of a table. Rows of a query are together; a grade of −1 says that nobody
/// judged the document.
#[pyfunction]
pub(crate) fn letor_lines(
    names: Vec<String>,
    queries: Vec<(String, usize)>,
    documents: Vec<String>,
    grades: Vec<i32>,
    values: Vec<f32>,
) -> PyResult<Vec<u8>> {
    let judged: Vec<bool> = grades.iter().map(|&grade| grade >= 0).collect();
    let grades = grades.into_iter().map(|grade| grade.max(0)).collect();
    let table = RankingTable::new(names, &queries, &documents, grades, values);
    let mut table = table.map_err(errors::general)?;
    if judged.contains(&false) {
        table = table.with_judged(judged).map_err(errors::general)?;
    }
    let mut lines = Vec::new();
    table.write_letor(&mut lines).map_err(errors::general)?;
    Ok(lines)
}
