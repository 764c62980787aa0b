//! Probabilities that anybody states: measured, compared and decided by.

use calibrant::decision::{CostEntry, DecisionCosts};
use calibrant::evaluation::{
    BootstrapSettings, CompareSettings, EvaluationOptions, Forecasts, StatedCell, StatedTable,
    compare_groups, evaluate_with,
};
use calibrant::report::{AnsweredShares, DecisionCurve};
use calibrant::{RowLabels, Task};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use serde::Serialize;

use crate::{errors, json, pool};

/// Probabilities, truth and weights, checked for what would make them nonsense.
fn forecasts(
    probabilities: &PyReadonlyArray2<'_, f64>,
    names: Vec<String>,
    labels: &PyReadonlyArray1<'_, u32>,
    starts: Option<&PyReadonlyArray1<'_, i64>>,
    weights: Option<&PyReadonlyArray1<'_, f64>>,
) -> PyResult<Forecasts> {
    let numbers = labels.as_slice()?;
    let (task, labels): (Task, RowLabels) = match starts {
        None => (
            Task::SingleLabel,
            numbers.iter().map(std::slice::from_ref).collect(),
        ),
        Some(starts) => {
            let starts = starts.as_slice()?;
            let own = |ends: &[i64]| numbers.get(ends[0] as usize..ends[1] as usize);
            let rows: Option<Vec<&[u32]>> = starts.windows(2).map(own).collect();
            let rows = rows.ok_or_else(|| errors::general("labels that do not fit together"))?;
            (Task::MultiLabel, rows.into_iter().collect())
        }
    };
    let stated = probabilities.as_slice()?;
    let cells: Option<Vec<StatedCell>> = stated.iter().map(|&p| StatedCell::of_number(p)).collect();
    let Some(cells) = cells else {
        let is_bad = |p: &f64| StatedCell::of_number(*p).is_none();
        let place = stated.iter().position(is_bad).unwrap_or_default();
        let row = place / names.len().max(1);
        return Err(errors::general(format!(
            "row {row} states {}, which is no probability",
            stated[place]
        )));
    };
    // Zeros and ones count as they do in tables that the program reads.
    let settled = StatedTable::settle(task, names.len(), &cells);
    Ok(Forecasts {
        task,
        class_names: names,
        probabilities: settled.probabilities,
        labels,
        weights: match weights {
            Some(weights) => Some(weights.as_slice()?.to_vec()),
            None => None,
        },
    })
}

#[derive(Serialize)]
struct Measured {
    #[serde(flatten)]
    evaluation: calibrant::Evaluation,
    answered: AnsweredShares,
    decision_curves: Vec<DecisionCurve>,
}

/// Groups as numbers, `None` where there are none.
fn together(groups: Option<&PyReadonlyArray1<'_, u64>>) -> PyResult<Vec<Option<u64>>> {
    match groups {
        None => Ok(Vec::new()),
        Some(groups) => Ok(groups
            .as_slice()?
            .iter()
            .map(|&group| Some(group))
            .collect()),
    }
}

/// Measures stated probabilities against the truth.
#[pyfunction]
#[pyo3(signature = (probabilities, names, labels, starts, weights, groups, costs, bootstrap))]
#[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
pub(crate) fn evaluate_forecasts(
    py: Python<'_>,
    probabilities: PyReadonlyArray2<'_, f64>,
    names: Vec<String>,
    labels: PyReadonlyArray1<'_, u32>,
    starts: Option<PyReadonlyArray1<'_, i64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    groups: Option<PyReadonlyArray1<'_, u64>>,
    costs: &str,
    bootstrap: Option<usize>,
) -> PyResult<String> {
    let forecasts = forecasts(
        &probabilities,
        names,
        &labels,
        starts.as_ref(),
        weights.as_ref(),
    )?;
    let costs: Vec<CostEntry> = json::read(costs)?;
    let names = forecasts.class_names.iter().map(String::as_str);
    let options = EvaluationOptions {
        costs: match costs.is_empty() {
            true => None,
            false => {
                let costs = DecisionCosts::new(&costs, forecasts.task, names);
                Some(costs.map_err(errors::general)?)
            }
        },
        bootstrap: match bootstrap {
            Some(0) => None,
            Some(replicates) => Some(BootstrapSettings {
                replicates: Some(replicates),
                ..BootstrapSettings::default()
            }),
            None => Some(BootstrapSettings::default()),
        },
        groups: together(groups.as_ref())?,
        ..EvaluationOptions::default()
    };
    let measured = pool::run(py, || {
        let evaluation = evaluate_with(&forecasts, &options)?;
        Ok::<_, calibrant::evaluation::EvaluationError>(Measured {
            evaluation,
            answered: AnsweredShares::of(&forecasts, &options.groups),
            decision_curves: DecisionCurve::of_classes(&forecasts, true),
        })
    })?;
    json::write(&measured.map_err(errors::general)?)
}

/// Holds several lists of probabilities for the same rows against each other.
#[pyfunction]
#[pyo3(signature = (systems, names, labels, starts, weights, groups, settings))]
#[allow(clippy::too_many_arguments)] // One call of the package, which names them all.
pub(crate) fn compare_forecasts(
    py: Python<'_>,
    systems: Vec<(String, PyReadonlyArray2<'_, f64>)>,
    names: Vec<String>,
    labels: PyReadonlyArray1<'_, u32>,
    starts: Option<PyReadonlyArray1<'_, i64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    groups: Option<PyReadonlyArray1<'_, u64>>,
    settings: &str,
) -> PyResult<String> {
    let settings: CompareSettings = json::read(settings)?;
    let mut stated = Vec::new();
    for (name, probabilities) in &systems {
        let one = forecasts(
            probabilities,
            names.clone(),
            &labels,
            starts.as_ref(),
            weights.as_ref(),
        )?;
        stated.push((name.as_str(), one));
    }
    let groups = together(groups.as_ref())?;
    let named: Vec<(&str, &Forecasts)> = stated.iter().map(|(name, one)| (*name, one)).collect();
    let compared = pool::run(py, || compare_groups(&named, &groups, &settings))?;
    json::write(&compared.map_err(errors::general)?)
}

/// The decision of least expected cost for each row of probabilities: the actions, which one is taken, and its expected cost.
#[pyfunction]
pub(crate) fn decide(
    probabilities: PyReadonlyArray2<'_, f64>,
    names: Vec<String>,
    costs: &str,
) -> PyResult<(Vec<String>, Vec<u32>, Vec<f64>)> {
    let costs: Vec<CostEntry> = json::read(costs)?;
    let words = names.iter().map(String::as_str);
    let costs = DecisionCosts::new(&costs, Task::SingleLabel, words).map_err(errors::general)?;
    if !costs.fields().is_empty() {
        return Err(errors::general(
            "costs of a column (`@FIELD`) need a model that reads documents with that column",
        ));
    }
    let matrix = costs.of_document(0, &[]);
    let (mut taken, mut expected) = (Vec::new(), Vec::new());
    for row in probabilities.as_slice()?.chunks_exact(names.len().max(1)) {
        let usual = (0..row.len()).reduce(|best, class| match row[class] > row[best] {
            true => class,
            false => best,
        });
        let (action, cost) = matrix.cheapest(row, usual.unwrap_or_default());
        taken.push(action as u32);
        expected.push(cost);
    }
    Ok((costs.actions().to_vec(), taken, expected))
}
