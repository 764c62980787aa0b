//! Calibrators of scores that any classifier gave.

use std::path::PathBuf;
use std::sync::Arc;

use calibrant::calibration::{CalibratorKind, ChoiceRules, MulticlassKind};
use calibrant::jobs::CalibrateReport;
use calibrant::pipeline::{
    ScoreBuffers, ScoreCalibrator, ScoreFields, ScoreIs, ScoreNote, ScoreSettings, ScoreTable,
};
use calibrant::{Named, Probability, parallel};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::model::table;
use crate::watch::watch;
use crate::{errors, json, pool};

/// Rows that a thread calibrates before it takes others.
const ROWS_AT_ONCE: usize = 4096;

/// A fitted calibrator: scores to probabilities.
#[pyclass(frozen, name = "Calibrator", module = "calibrant._calibrant")]
pub(crate) struct PyCalibrator {
    pub(crate) calibrator: Arc<ScoreCalibrator>,
}

impl From<ScoreCalibrator> for PyCalibrator {
    fn from(calibrator: ScoreCalibrator) -> Self {
        Self {
            calibrator: Arc::new(calibrator),
        }
    }
}

#[pymethods]
impl PyCalibrator {
    #[staticmethod]
    fn open(path: PathBuf) -> PyResult<Self> {
        let calibrator = ScoreCalibrator::open(&path).map_err(errors::saved)?;
        Ok(calibrator.into())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let calibrator = ScoreCalibrator::from_bytes(bytes).map_err(errors::saved)?;
        Ok(calibrator.into())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.calibrator.to_bytes().map_err(errors::saved)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.calibrator.save(&path).map_err(errors::saved)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }

    #[getter]
    fn class_names(&self) -> Vec<String> {
        self.calibrator.classes().to_vec()
    }

    #[getter]
    fn is_binary(&self) -> bool {
        self.calibrator.is_binary()
    }

    #[getter]
    fn method(&self) -> &str {
        &self.calibrator.summary().method
    }

    fn report(&self) -> PyResult<String> {
        json::write(&CalibrateReport::of(&self.calibrator, None))
    }

    /// What the user should know: each with what it is about, and in a sentence.
    fn notes(&self) -> Vec<(&'static str, String)> {
        let about = |note: &ScoreNote| match note {
            ScoreNote::Backwards { .. } | ScoreNote::ConstantScore { .. } => "scores",
            ScoreNote::FewExamples { .. } | ScoreNote::UsualSlope { .. } => "few",
            ScoreNote::OneFold { .. } => "folds",
            ScoreNote::NotFitted { .. } => "choice",
            ScoreNote::FarOff { .. } => "curve",
        };
        let notes = self.calibrator.summary().notes.iter();
        notes.map(|note| (about(note), note.sentence())).collect()
    }

    /// The curve and how it was fitted, as the calibrator's file has them.
    fn description(&self) -> PyResult<String> {
        json::write(&*self.calibrator)
    }

    /// One score per row, or one per class, to probabilities of all classes: of two, both are stated.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray2<'py, f64>,
        log_odds: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.numbers(py, scores.as_slice()?, log_odds)?;
        table(py, values, self.calibrator.classes().len())
    }

    /// The interval of the probability of the positive class, where the method has one.
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        if !self.calibrator.has_interval() {
            return Ok(None);
        }
        let mut ends = Vec::with_capacity(2 * scores.len()?);
        for score in scores.as_slice()? {
            let interval = self.calibrator.interval(std::slice::from_ref(score));
            let (low, high) = interval.map_or((f64::NAN, f64::NAN), |(low, high)| {
                (low.value(), high.value())
            });
            ends.extend([low, high]);
        }
        table(py, ends, 2).map(Some)
    }
}

impl PyCalibrator {
    fn numbers(&self, py: Python<'_>, scores: &[f64], log_odds: bool) -> PyResult<Vec<f64>> {
        let calibrator = &*self.calibrator;
        let (width, outputs) = (calibrator.fields().scores.len(), calibrator.outputs().len());
        let classes = calibrator.classes().len();
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(errors::general(
                "scores must be finite; some are NaN or infinite",
            ));
        }
        let count = scores.len() / width.max(1);
        let one = |scores: &[f64], values: &mut [f64]| {
            let mut buffer = ScoreBuffers::default();
            let mut said = vec![Probability::from_log_odds(0.0); outputs];
            let rows = scores.chunks_exact(width);
            for (scores, values) in rows.zip(values.chunks_exact_mut(classes)) {
                calibrator.probabilities_into(scores, &mut buffer, &mut said);
                state(&said, values, log_odds);
            }
        };
        let mut values = vec![0.0; count * classes];
        if count < ROWS_AT_ONCE {
            one(scores, &mut values);
            return Ok(values);
        }
        pool::run(py, || {
            scores
                .par_chunks(width * ROWS_AT_ONCE)
                .zip(values.par_chunks_mut(classes * ROWS_AT_ONCE))
                .for_each(|(scores, values)| one(scores, values));
        })?;
        Ok(values)
    }
}

fn number(said: Probability, log_odds: bool) -> f64 {
    if log_odds {
        said.log_odds()
    } else {
        said.value()
    }
}

/// States what is said of all classes; where it is the second of two alone, its complement comes before it.
fn state(said: &[Probability], values: &mut [f64], log_odds: bool) {
    if let (&[second], [no, yes]) = (said, &mut *values) {
        (*no, *yes) = (
            number(second.complement(), log_odds),
            number(second, log_odds),
        );
        return;
    }
    for (value, said) in values.iter_mut().zip(said) {
        *value = number(*said, log_odds);
    }
}

/// How to fit, in the program's words.
#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CalibrateWords {
    method: String,
    multiclass: String,
    score_is: String,
    monotone: bool,
}

impl Default for CalibrateWords {
    fn default() -> Self {
        Self {
            method: "auto".into(),
            multiclass: "auto".into(),
            score_is: "auto".into(),
            monotone: false,
        }
    }
}

/// Fits a calibrator to scores of examples that the classifier did not learn from. `scores` has one row per example, of one score or
/// of one per class. Gives what curves fitted to the other folds say of each example, too.
#[pyfunction]
#[pyo3(signature = (scores, labels, classes, weights, groups, words, progress=None))]
#[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
pub(crate) fn fit_calibrator<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray2<'py, f64>,
    labels: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<Vec<Option<String>>>,
    words: &str,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(PyCalibrator, Bound<'py, PyArray2<f64>>)> {
    let words: CalibrateWords = json::read(words)?;
    let width = scores.as_array().ncols();
    let labels = labels.as_slice()?.to_vec();
    let scores_of = |class: &String| format!("score_{class}");
    let settings = ScoreSettings {
        fields: ScoreFields {
            scores: match width {
                1 => vec!["score".to_owned()],
                _ => classes.iter().map(scores_of).collect(),
            },
            ..ScoreFields::default()
        },
        classes,
        score_is: ScoreIs::from_word(&words.score_is).map_err(errors::general)?,
        method: CalibratorKind::from_word(&words.method).map_err(errors::general)?,
        multiclass: MulticlassKind::from_word(&words.multiclass).map_err(errors::general)?,
        rules: ChoiceRules {
            monotone: words.monotone,
        },
    };
    let examples = ScoreTable {
        scores: scores.as_slice()?.to_vec(),
        weights: match weights {
            Some(weights) => weights.as_slice()?.to_vec(),
            None => vec![1.0; labels.len()],
        },
        labels,
    };
    let groups = groups.as_deref();
    let fit = watch(py, progress, |progress| {
        ScoreCalibrator::fit_watched(examples, groups, &settings, progress)
    })?;
    let fit = fit.map_err(errors::fit)?;
    let (outputs, classes) = (
        fit.calibrator.outputs().len(),
        fit.calibrator.classes().len(),
    );
    let said = &fit.cross_validated;
    let mut values = vec![0.0; said.len() / outputs.max(1) * classes];
    pool::run(py, || {
        parallel::for_each_row_mut(
            &mut values,
            classes,
            || (),
            |(), row, values| state(&said[row * outputs..(row + 1) * outputs], values, false),
        );
    })?;
    Ok((fit.calibrator.into(), table(py, values, classes)?))
}

/// The names of a closed set with a sentence for each: calibration methods, ways for several classes, kinds of scores.
#[pyfunction]
pub(crate) fn names(set: &str) -> PyResult<Vec<(&'static str, &'static str)>> {
    fn all<T: Named>() -> Vec<(&'static str, &'static str)> {
        let members = T::members().iter();
        members.map(|one| (one.word(), one.sentence())).collect()
    }
    Ok(match set {
        "classifier" => all::<calibrant::scorers::LearnerName>(),
        "calibrator" => all::<CalibratorKind>(),
        "multiclass" => all::<MulticlassKind>(),
        "score_is" => all::<ScoreIs>(),
        "weighting" => all::<calibrant::features::Weighting>(),
        "code" => all::<calibrant::multiclass::CodeDesign>(),
        _ => return Err(errors::general(format!("there is no set `{set}`"))),
    })
}
