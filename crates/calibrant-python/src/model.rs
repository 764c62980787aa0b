//! Models of texts and of rows.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use calibrant::corpus::{Document, Fields};
use calibrant::decision::{ASK, Certified, Certify, CostEntry, PriorReport};
use calibrant::jobs::{
    CalibrationExamples, EvaluateSettings, FitWords, Inspection, PredictSettings, Prediction,
    Predictor, SolveSettings, Trainer, evaluate_documents, explain, explain_row, fit_rows,
    parse_costs, predict_rows, solve_rows,
};
use calibrant::pipeline::{FitSettings, Model, PredictBuffers, RowClasses, TrainingRows};
use calibrant::{Probability, RowLabels, Task};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rayon::prelude::*;

use crate::documents::{Columns, Rows};
use crate::rows::Matrix;
use crate::watch::watch;
use crate::{errors, json, pool};

/// Rows that a thread predicts before it takes others.
const ROWS_AT_ONCE: usize = 64;
/// So few texts are predicted on the spot: to wake other threads takes longer.
const FEW: usize = 8;

/// Certified thresholds that a model remembers.
const MOST_CERTIFIED: usize = 64;

/// A fitted model: classifier and calibration together.
#[pyclass(frozen, name = "Model", module = "calibrant._calibrant")]
pub(crate) struct PyModel {
    pub(crate) model: Arc<Model>,
    /// Log-odds from which on answers are given, by what was asked of them: to find them takes longer than thousands of predictions.
    certified: Mutex<Vec<(Certify, f64)>>,
}

impl From<Arc<Model>> for PyModel {
    fn from(model: Arc<Model>) -> Self {
        Self {
            model,
            certified: Mutex::default(),
        }
    }
}

impl From<Model> for PyModel {
    fn from(model: Model) -> Self {
        Arc::new(model).into()
    }
}

/// What a prediction is asked for.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Probability,
    LogOdds,
    Score,
}

impl Wanted {
    fn of(word: &str) -> PyResult<Self> {
        match word {
            "probability" => Ok(Self::Probability),
            "log_odds" => Ok(Self::LogOdds),
            "score" => Ok(Self::Score),
            _ => Err(errors::general(format!(
                "`{word}` is none of probability, log_odds and score"
            ))),
        }
    }
}

/// Rows by classes, as an array that owns what Rust has written.
pub(crate) fn table<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    width: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = values.len().checked_div(width).unwrap_or(0);
    values.into_pyarray(py).reshape([rows, width])
}

/// Probabilities as plain numbers, in the place where they stood.
pub(crate) fn plain(forecasts: Vec<Probability>, log_odds: bool) -> Vec<f64> {
    // `Probability` is one f64, so that this reuses the buffer.
    let number = |p: Probability| if log_odds { p.log_odds() } else { p.value() };
    forecasts.into_iter().map(number).collect()
}

#[pymethods]
impl PyModel {
    #[staticmethod]
    fn open(path: PathBuf) -> PyResult<Self> {
        let model = Model::open(&path).map_err(errors::saved)?;
        Ok(model.into())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let model = Model::from_bytes(bytes).map_err(errors::saved)?;
        Ok(model.into())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes().map_err(errors::saved)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.model.save(&path).map_err(errors::saved)
    }

    /// Copies and pickles go through the file format, which is data and never code.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }

    #[getter]
    fn class_names(&self) -> Vec<&str> {
        self.model.class_names().collect()
    }

    #[getter]
    fn several_labels(&self) -> bool {
        self.model.task() == Task::MultiLabel
    }

    #[getter]
    fn reads_text(&self) -> bool {
        self.model.reads_text()
    }

    #[getter]
    fn learner_name(&self) -> String {
        self.model.learner_name()
    }

    #[getter]
    fn is_combination(&self) -> bool {
        self.model.as_single().is_none()
    }

    /// The shares of the classes in training.
    #[getter]
    fn priors(&self) -> Vec<f64> {
        self.model.priors()
    }

    fn summary(&self) -> PyResult<String> {
        json::write(self.model.summary())
    }

    fn fields(&self) -> PyResult<String> {
        json::write(self.model.fields())
    }

    #[pyo3(signature = (terms=None))]
    fn inspect(&self, terms: Option<usize>) -> PyResult<String> {
        let bytes = self.model.to_bytes().map_err(errors::saved)?.len() as u64;
        let inspection = Inspection::of_model(&self.model, bytes, terms);
        json::write(&inspection.map_err(errors::general)?)
    }

    /// One text, on the spot: the probability of every class.
    fn predict_one(&self, text: &str) -> PyResult<Vec<f64>> {
        self.check_text()?;
        let said = self.model.predict(text);
        Ok(said.into_iter().map(|p| p.value()).collect())
    }

    /// Documents by classes: probabilities, log-odds or the learner's scores.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, PyDict>,
        wanted: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let wanted = self.wanted(wanted)?;
        let columns = Columns::of(table)?;
        let rows = columns.read()?;
        if rows.only_text().is_some() {
            self.check_text()?;
        }
        let width = self.model.class_count();
        let is_small = rows.len() <= FEW;
        let values = pool::run_unless_small(py, is_small, || self.numbers(&rows, wanted))?;
        self::table(py, values, width)
    }

    /// Rows of a matrix by classes.
    fn predict_rows<'py>(
        &self,
        py: Python<'py>,
        matrix: &Bound<'py, PyAny>,
        wanted: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let wanted = self.wanted(wanted)?;
        let matrix = Matrix::of(matrix)?;
        let width = self.model.class_count();
        let values = matrix.with_rows(|rows| {
            if wanted == Wanted::Score {
                let mut values = vec![0.0; rows.row_count() * width];
                return pool::run(py, || {
                    values
                        .par_chunks_mut((width * ROWS_AT_ONCE).max(1))
                        .enumerate()
                        .for_each(|(part, values)| {
                            let mut entries = Vec::new();
                            self.fill(part, values, wanted, |row, fill| {
                                rows.row_into(row, &mut entries);
                                fill((&entries[..]).into());
                            });
                        });
                    values
                });
            }
            let said = pool::run(py, || predict_rows(&self.model, rows))?;
            let said = said.map_err(errors::general)?;
            Ok(plain(said, wanted == Wanted::LogOdds))
        })?;
        self::table(py, values, width)
    }

    /// Predictions as the program prints them, with decisions, sets and answers as asked for: a list of JSON, and what was done
    /// about the classes' shares.
    fn predictions(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyDict>,
        settings: &str,
        examples: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(String, String)> {
        let (predictions, prior) = self.said(py, table, settings, examples)?;
        Ok((json::write(&predictions)?, json::write(&prior)?))
    }

    /// What to do with each document, as a number of the actions that there are.
    fn decisions<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'_, PyDict>,
        settings: &str,
        examples: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Vec<String>, Bound<'py, PyArray1<u32>>)> {
        let (predictions, _) = self.said(py, table, settings, examples)?;
        let mut actions: Vec<String> = Vec::new();
        let mut numbers = Vec::with_capacity(predictions.len());
        for prediction in &predictions {
            let decision = prediction.decision.as_ref();
            let action = decision.map_or(ASK, |decision| decision.action.as_ref());
            let known = actions.iter().position(|known| known == action);
            let number = known.unwrap_or_else(|| {
                actions.push(action.to_owned());
                actions.len() - 1
            });
            numbers.push(number as u32);
        }
        Ok((actions, numbers.into_pyarray(py)))
    }

    /// The log-odds above which an answer is given so that few are wrong, by the model's own held-out forecasts; `None` where a
    /// prediction says why there are none.
    fn certified(&self, py: Python<'_>, max_error: f64, certainty: f64) -> PyResult<Option<f64>> {
        let asked = Certify {
            max_error,
            certainty,
        };
        let known = || {
            self.certified
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((_, threshold)) = known().iter().find(|(known, _)| *known == asked) {
            return Ok(Some(*threshold));
        }
        let found = pool::run(py, || {
            let tables = self.model.promise_tables();
            let table = tables.as_ref().and_then(|tables| tables.answers());
            table.map(|table| asked.threshold_from(table))
        })?;
        match found {
            Some(Ok(Certified::Granted(found))) => {
                let mut known = known();
                // Few are asked for again and again; whoever tries hundreds need not keep them.
                if known.len() >= MOST_CERTIFIED {
                    known.clear();
                }
                known.push((asked, found.threshold));
                Ok(Some(found.threshold))
            }
            _ => Ok(None),
        }
    }

    /// Why a document gets the probabilities of these classes; of the most probable one where none is named.
    fn explain(&self, table: &Bound<'_, PyDict>, classes: Vec<String>) -> PyResult<String> {
        let columns = Columns::of(table)?;
        let rows = columns.read()?;
        if rows.len() != 1 {
            return Err(errors::general("one document is explained at a time"));
        }
        let content = rows.content(0);
        let explained = explain(&self.model, &content, &classes).map_err(errors::general)?;
        json::write(&explained)
    }

    /// Why a row of a matrix gets the probability of a class.
    fn explain_row(
        &self,
        matrix: &Bound<'_, PyAny>,
        row: usize,
        class: usize,
        names: Vec<String>,
    ) -> PyResult<String> {
        let matrix = Matrix::of(matrix)?;
        matrix.with_rows(|rows| {
            if row >= rows.row_count() || class >= self.model.class_count() {
                return Err(errors::general("there is no such row or class"));
            }
            let explained = explain_row(&self.model, rows, row, class, &names);
            json::write(&explained.map_err(errors::general)?)
        })
    }

    /// Measures of the model on labelled documents.
    fn evaluate(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyDict>,
        settings: &str,
    ) -> PyResult<String> {
        let settings: EvaluateSettings = json::read(settings)?;
        let documents = Columns::of(table)?.documents()?;
        let report = pool::run(py, || {
            evaluate_documents(&self.model, &documents, &settings).map(|found| found.report)
        })?;
        json::write(&report.map_err(errors::general)?)
    }
}

impl PyModel {
    /// Predictions of all documents.
    fn said(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyDict>,
        settings: &str,
        examples: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Vec<Prediction<'_>>, Option<PriorReport>)> {
        let settings: PredictSettings = json::read(settings)?;
        let documents = Columns::of(table)?.documents()?;
        let examples = match examples {
            None => None,
            Some(examples) => {
                let documents = Columns::of(examples)?.documents()?;
                let found = pool::run(py, || {
                    CalibrationExamples::of_documents(&self.model, &documents)
                })?;
                Some(found.map_err(errors::general)?)
            }
        };
        let said = pool::run(py, || {
            Predictor::with_examples(&self.model, &settings, examples.as_ref())?
                .predict_batch(&documents)
        })?;
        said.map_err(errors::general)
    }

    fn check_text(&self) -> PyResult<()> {
        match self.model.reads_text() {
            true => Ok(()),
            false => Err(errors::general("the model reads no text")),
        }
    }

    fn wanted(&self, word: &str) -> PyResult<Wanted> {
        let wanted = Wanted::of(word)?;
        if wanted == Wanted::Score && self.model.as_single().is_none() {
            return Err(errors::general(
                "a combination has no scores of its own; ask for log-odds",
            ));
        }
        Ok(wanted)
    }

    /// Document after document, class after class.
    fn numbers(&self, rows: &Rows<'_>, wanted: Wanted) -> Vec<f64> {
        let width = self.model.class_count();
        let mut values = vec![0.0; rows.len() * width];
        let one = |part: usize, values: &mut [f64]| match rows.only_text() {
            Some(texts) => self.fill(part, values, wanted, |row, fill| {
                fill(texts.get(row).unwrap_or_default().into());
            }),
            None => self.fill(part, values, wanted, |row, fill| {
                fill((&rows.content(row)).into());
            }),
        };
        let size = (width * ROWS_AT_ONCE).max(1);
        match rows.len() <= FEW {
            true => one(0, &mut values),
            false => values
                .par_chunks_mut(size)
                .enumerate()
                .for_each(|(part, values)| one(part, values)),
        }
        values
    }

    /// Fills the numbers of a part of the rows; `content` hands each row's content to the function that it is given.
    fn fill(
        &self,
        part: usize,
        values: &mut [f64],
        wanted: Wanted,
        mut content: impl FnMut(usize, &mut dyn FnMut(calibrant::corpus::ContentRef<'_>)),
    ) {
        let width = self.model.class_count();
        let mut buffers = PredictBuffers::default();
        let mut classes = vec![Probability::from_log_odds(0.0); width];
        for (offset, values) in values.chunks_exact_mut(width).enumerate() {
            content(part * ROWS_AT_ONCE + offset, &mut |content| {
                let scores = self.model.predict_into(content, &mut buffers, &mut classes);
                match wanted {
                    Wanted::Score => {
                        let scores = scores.of_classes();
                        values.iter_mut().zip(scores).for_each(|(v, s)| *v = s);
                    }
                    _ => {
                        for (value, class) in values.iter_mut().zip(&classes) {
                            *value = match wanted {
                                Wanted::LogOdds => class.log_odds(),
                                _ => class.value(),
                            };
                        }
                    }
                }
            });
        }
    }
}

/// Settings in the program's words, or as models keep them (under the key `settings`).
pub(crate) fn settings_of(words: &str) -> PyResult<FitSettings> {
    words_of(words)?.settings().map_err(errors::fit)
}

/// Words that are understood; one that is not is named.
fn words_of(text: &str) -> PyResult<FitWords> {
    serde_json::from_str(text).or_else(|error| {
        let all: serde_json::Map<String, serde_json::Value> = json::read(text)?;
        let several = all.len() > 1;
        // Who asks about one word knows which.
        for (name, value) in all.into_iter().filter(|_| several) {
            let one = serde_json::Map::from_iter([(name.clone(), value)]);
            let one: Result<FitWords, _> = serde_json::from_value(one.into());
            if let Err(error) = one {
                return Err(errors::general(format!("{name}: {error}")));
            }
        }
        let text = error.to_string();
        Err(errors::general(
            text.split(" at line ").next().unwrap_or_default(),
        ))
    })
}

/// Learns a calibrated model from documents.
#[pyfunction]
#[pyo3(signature = (table, fields, words, progress=None))]
pub(crate) fn fit_documents(
    py: Python<'_>,
    table: &Bound<'_, PyDict>,
    fields: &str,
    words: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyModel> {
    let settings = settings_of(words)?;
    let fields: Fields = json::read(fields)?;
    let columns = Columns::of(table)?;
    let rows = columns.read()?;
    let mut trainer = Trainer::new(settings, fields).map_err(errors::fit)?;
    let model = watch(py, progress, |progress| {
        // Counting is shown, and ended, as everything behind it is.
        progress.begin("reading", Some(rows.len() as u64));
        let wanted = |_: &Document| progress.advance(1).is_continue();
        trainer.add(rows.weighted_documents().take_while(wanted));
        progress.end();
        trainer.fit(progress)
    })?;
    Ok(model.map_err(errors::fit)?.into())
}

/// Learns a calibrated model from rows of a matrix. `classes` are numbers of names, one per row, or those between two `starts`.
#[pyfunction]
#[pyo3(name = "fit_rows", signature = (matrix, names, classes, starts, weights, groups, words, progress=None))]
#[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
pub(crate) fn fit_matrix(
    py: Python<'_>,
    matrix: &Bound<'_, PyAny>,
    names: Vec<String>,
    classes: PyReadonlyArray1<'_, u32>,
    starts: Option<PyReadonlyArray1<'_, i64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    groups: Option<PyReadonlyArray1<'_, u64>>,
    words: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyModel> {
    let settings = settings_of(words)?;
    let matrix = Matrix::of(matrix)?;
    let numbers = classes.as_slice()?;
    let several: Option<RowLabels> = match &starts {
        None => None,
        Some(starts) => {
            let starts = starts.as_slice()?;
            let own = |ends: &[i64]| numbers.get(ends[0] as usize..ends[1] as usize);
            let rows: Option<Vec<&[u32]>> = starts.windows(2).map(own).collect();
            let rows = rows.ok_or_else(|| errors::general("labels that do not fit together"))?;
            Some(rows.into_iter().collect())
        }
    };
    let weights = weights
        .as_ref()
        .map(|weights| weights.as_slice())
        .transpose()?;
    let groups = groups
        .as_ref()
        .map(|groups| groups.as_slice())
        .transpose()?;
    matrix.with_rows(|rows| {
        let rows = TrainingRows {
            rows,
            classes: match &several {
                Some(several) => RowClasses::Several(several),
                None => RowClasses::One(numbers),
            },
            class_names: &names,
            weights,
            groups,
        };
        let model = watch(py, progress, |progress| {
            fit_rows(&rows, &settings, progress)
        })?;
        Ok(model.map_err(errors::fit)?.into())
    })
}

/// Coefficients (outputs by columns), intercepts, and how each output's solver ended as JSON.
type Solved<'py> = (Bound<'py, PyArray2<f64>>, Vec<f64>, String);

/// Solves a linear learner's problem on rows of a matrix, without folds and calibration.
#[pyfunction]
#[pyo3(name = "solve_rows", signature = (matrix, classes, weights, words, intercept_scaling, progress=None))]
pub(crate) fn solve_matrix<'py>(
    py: Python<'py>,
    matrix: &Bound<'py, PyAny>,
    classes: PyReadonlyArray1<'py, u32>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    words: &str,
    intercept_scaling: f64,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Solved<'py>> {
    let words = words_of(words)?;
    let settings = SolveSettings {
        classifier: words
            .classifier()
            .map_err(errors::fit)?
            .with_seed(words.seed()),
        intercept_scaling,
    };
    let matrix = Matrix::of(matrix)?;
    let classes = classes.as_slice()?;
    let weights = weights
        .as_ref()
        .map(|weights| weights.as_slice())
        .transpose()?;
    let solved = matrix.with_rows(|rows| {
        let solved = watch(py, progress, |progress| {
            solve_rows(rows, classes, weights, &settings, progress)
        })?;
        solved.map_err(errors::fit)
    })?;
    Ok((
        table(py, solved.coefficients, solved.column_count)?,
        solved.intercepts,
        json::write(&solved.convergence)?,
    ))
}

/// Costs as people write them, as JSON.
#[pyfunction]
pub(crate) fn read_costs(text: &str) -> PyResult<String> {
    let costs: Vec<CostEntry> = parse_costs(text).map_err(errors::general)?;
    json::write(&costs)
}

/// Checks settings in the program's words and gives them as models keep them.
#[pyfunction]
pub(crate) fn check_words(words: &str) -> PyResult<String> {
    json::write(&settings_of(words)?)
}
