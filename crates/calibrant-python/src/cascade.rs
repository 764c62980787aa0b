//! Which of several sources of answers answers what.

use std::path::PathBuf;
use std::sync::Arc;

use calibrant::corpus::{LabelNeed, Source};
use calibrant::decision::CascadeSettings;
use calibrant::jobs::{
    AnswerSource, CascadeJobError, Inspection, PolicyFile, Prediction, Predictor, Saved, Says,
    SourceAnswers, build_cascade,
};
use calibrant::pipeline::Model;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::fit_source::Stopped;
use crate::model::PyModel;
use crate::raise::Raise;
use crate::source::{ReadWords, SourceArgument};
use crate::watch::watch;
use crate::{errors, json};

/// Who answers what, with what was certified.
#[pyclass(frozen, name = "Policy", module = "calibrant._calibrant")]
pub(crate) struct PyPolicy {
    pub(crate) policy: Arc<PolicyFile>,
}

impl From<PolicyFile> for PyPolicy {
    fn from(policy: PolicyFile) -> Self {
        Self {
            policy: Arc::new(policy),
        }
    }
}

#[pymethods]
impl PyPolicy {
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let policy = PolicyFile::from_bytes(bytes).map_err(Raise::raise)?;
        Ok(policy.into())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.policy.to_bytes().map_err(Raise::raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.policy.save(&path).map_err(Raise::raise)
    }

    fn report(&self) -> PyResult<String> {
        json::write(&*self.policy)
    }

    fn inspect(&self) -> PyResult<String> {
        let bytes = self.policy.to_bytes().map_err(Raise::raise)?.len() as u64;
        let saved = Saved::Policy((*self.policy).clone());
        json::write(&Inspection::of(&saved, bytes, None).map_err(Raise::raise)?)
    }

    /// What the policy decides about every document of a source: lines of JSON with key, label, probability and decision.
    #[pyo3(signature = (model, source, reading, answers, part=None, progress=None))]
    #[allow(clippy::result_large_err)] // The library's error, once for a file.
    #[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
    fn follow(
        &self,
        py: Python<'_>,
        model: &PyModel,
        source: SourceArgument,
        reading: &str,
        answers: Vec<(String, SourceArgument)>,
        part: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<u8>> {
        let (policy, model) = (&*self.policy, &*model.model);
        let source = source.into();
        let answers: Vec<(String, Source)> = answers
            .into_iter()
            .map(|(name, source)| (name, source.into()))
            .collect();
        let reading: ReadWords = json::read(reading)?;
        let mut in_use = policy.with_model(part).map_err(Raise::raise)?;
        in_use.check_model(model).map_err(Raise::raise)?;
        let predictor = Predictor::new(model);
        let options = reading.options(&predictor.fields(), LabelNeed::Ignored)?;
        watch(py, progress, |progress| {
            let mut predictions: Vec<Prediction<'_>> = Vec::new();
            let read = predictor.predict_source(&source, &options, progress, |prediction| {
                predictions.push(prediction);
                Ok(())
            });
            read.map_err(Stopped::raise)?;
            let first = predictions.first().and_then(|first| first.key.as_ref());
            let column = first.map_or("row", |key| key.column());
            if column == "row" && !options.filters.is_empty() && !answers.is_empty() {
                return Err(CascadeJobError::RowsFiltered.raise());
            }
            for (name, source) in &answers {
                let last = policy.sources.last().is_some_and(|last| last.name == *name);
                let beside = reading.rows()?;
                let said = beside.read_beside(CascadeJobError::is_of_layout, |options| {
                    SourceAnswers::read(source, options, column, !last, progress)
                });
                let said = said.map_err(Raise::raise)?;
                in_use = in_use.answers(name, said).map_err(Raise::raise)?;
            }
            let mut lines = Vec::new();
            for prediction in &predictions {
                let (Some(key), Some(best)) = (&prediction.key, prediction.best()) else {
                    continue;
                };
                let key = key.text();
                let line = json!({
                    column: key,
                    "label": best.label,
                    "probability": best.probability,
                    "decision": in_use.decide(&key, &best.label, best.probability),
                });
                serde_json::to_writer(&mut lines, &line).map_err(errors::general)?;
                lines.push(b'\n');
            }
            Ok(lines)
        })?
    }
}

/// What a source of answers is.
#[derive(FromPyObject)]
pub(crate) enum SaysArgument {
    /// A model.
    Model(Py<PyModel>),
    /// A person, who is right so often.
    Person(f64),
    /// A table of documents, labels and confidences.
    Table(SourceArgument),
}

/// Makes a policy of several sources, cheap ones first. One that is nothing is a person whose answers are the truth.
#[pyfunction]
#[pyo3(signature = (source, given, reading, settings, progress=None))]
pub(crate) fn build_policy(
    py: Python<'_>,
    source: SourceArgument,
    given: Vec<(String, f64, Option<SaysArgument>)>,
    reading: &str,
    settings: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyPolicy> {
    let truth = source.into();
    let reading: ReadWords = json::read(reading)?;
    let settings: CascadeSettings = json::read(settings)?;
    let options = reading.options(&Default::default(), LabelNeed::Required)?;
    let mut sources = Vec::new();
    for (name, cost, says) in given {
        let says = match says {
            None => Says::Person { accuracy: None },
            Some(SaysArgument::Person(accuracy)) => Says::Person {
                accuracy: Some(accuracy),
            },
            Some(SaysArgument::Table(source)) => Says::Table(source.into()),
            Some(SaysArgument::Model(model)) => {
                let bytes = model.get().model.to_bytes().map_err(Raise::raise)?;
                let model = Model::from_bytes(&bytes).map_err(Raise::raise)?;
                Says::Model(Box::new(model))
            }
        };
        sources.push(AnswerSource { name, cost, says });
    }
    let built = watch(py, progress, |progress| {
        build_cascade(&truth, &options, &sources, &settings, progress).map_err(Raise::raise)
    })?;
    Ok(built?.policy.into())
}
