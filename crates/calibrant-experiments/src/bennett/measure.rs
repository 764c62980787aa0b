//! Every calibrator on the same scores.

use std::error::Error;

use calibrant::calibration::{
    Calibrator, CalibratorKind, PlattCalibrator, PooledCurve, SavedCalibrator,
};
use calibrant::evaluation::{CompareSettings, Forecasts, MarkedLoss, compare};
use calibrant::{Probability, Task};

use crate::scored::BinaryProblem;

/// Sums over all decisions, as the paper has them.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Outcome {
    #[serde(skip)]
    pub(super) method: &'static str,
    /// Sum of the logarithms of the probabilities of what was true.
    pub(super) log_loss_nats: f64,
    /// The same to base two.
    pub(super) log_loss_bits: f64,
    /// Sum of squared distances between probability and truth.
    pub(super) squared_error: f64,
    /// Decisions on the wrong side of one half.
    pub(super) errors: usize,
    /// Whether it is the best of the paper's methods, measure by measure; absent for other methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) marks: Option<Marks>,
    /// How far probabilities are from what all people would say, where many were asked (root mean square).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) distance_to_raters: Option<f64>,
}

/// How a method stands among those of the paper: the paper prints the best in bold and underlines what is
/// significantly better than all others, by the micro sign test at 0.01.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct Marks {
    pub(super) log_loss: Mark,
    pub(super) squared_error: Mark,
    pub(super) errors: Mark,
}

#[derive(Debug, Clone, Copy, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mark {
    NotBest,
    Best,
    SignificantlyBest,
}

impl From<&MarkedLoss> for Mark {
    fn from(loss: &MarkedLoss) -> Self {
        match (loss.best, loss.significantly_best) {
            (_, true) => Self::SignificantlyBest,
            (true, false) => Self::Best,
            (false, false) => Self::NotBest,
        }
    }
}

/// The methods of the paper's table.
const OF_THE_PAPER: [&str; 6] = [
    "gauss",
    "asymmetric_gauss",
    "laplace",
    "asymmetric_laplace",
    "logreg",
    "lr_noise",
];

/// The names of the paper's methods, then all others.
pub(super) fn methods() -> Vec<(&'static str, CalibratorKind)> {
    let mut methods = vec![("raw", CalibratorKind::None)];
    methods.extend(CalibratorKind::METHODS.iter().map(|&kind| match kind {
        CalibratorKind::Platt => ("lr_noise", kind),
        _ => (kind.name(), kind),
    }));
    methods.push(("auto", CalibratorKind::Auto));
    methods
}

pub(super) fn measure_all(
    problems: &[BinaryProblem],
    folds: usize,
) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let mut outcomes = Vec::new();
    let mut of_the_paper = Vec::new();
    for (name, kind) in methods() {
        let forecasts = forecasts(problems, kind, folds)?;
        outcomes.push(outcome(name, &forecasts));
        if OF_THE_PAPER.contains(&name) {
            of_the_paper.push((name, forecasts));
        }
    }
    let systems: Vec<(&str, &Forecasts)> = of_the_paper
        .iter()
        .map(|(name, forecasts)| (*name, forecasts))
        .collect();
    let settings = CompareSettings {
        bootstrap: 0,
        ..CompareSettings::default()
    };
    for system in compare(&systems, &settings)?.systems {
        let found = outcomes.iter_mut().find(|o| o.method == system.name);
        if let Some(outcome) = found {
            outcome.marks = Some(Marks {
                log_loss: Mark::from(&system.log_loss),
                squared_error: Mark::from(&system.brier),
                errors: Mark::from(&system.errors),
            });
        }
    }
    Ok(outcomes)
}

/// What a method says of every test document. A class with fewer positives than folds borrows the curve
/// of the rarer classes together, as in the program.
pub(super) fn forecasts(
    problems: &[BinaryProblem],
    kind: CalibratorKind,
    folds: usize,
) -> Result<Forecasts, Box<dyn Error>> {
    let held_out: Vec<_> = problems.iter().map(|p| p.held_out.clone()).collect();
    let pool = PooledCurve::fit(&held_out);
    let mut calibrators = Vec::new();
    for problem in problems {
        let rare = problem.held_out.positives() < folds && kind != CalibratorKind::None;
        calibrators.push(if rare {
            let nothing_known = PlattCalibrator {
                slope: 0.0,
                intercept: problem.held_out.ln_prior_odds(),
            };
            let borrowed = pool.as_ref().map(|pool| pool.for_class(&problem.held_out));
            SavedCalibrator::Platt(borrowed.unwrap_or(nothing_known))
        } else {
            kind.fit(&problem.held_out)?
        });
    }
    let documents = problems.first().map_or(0, |p| p.test_scores.len());
    let mut probabilities: Vec<Probability> = Vec::with_capacity(documents * problems.len());
    let mut labels = Vec::with_capacity(documents);
    for document in 0..documents {
        let mut here = Vec::new();
        for (class, (problem, calibrator)) in (0..).zip(problems.iter().zip(&calibrators)) {
            probabilities.push(calibrator.probability(problem.test_scores[document]));
            if problem.test_labels[document] {
                here.push(class);
            }
        }
        labels.push(here);
    }
    Ok(Forecasts {
        task: Task::MultiLabel,
        class_names: problems.iter().map(|p| p.class.clone()).collect(),
        probabilities,
        labels: labels.into(),
        weights: None,
    })
}

fn outcome(method: &'static str, forecasts: &Forecasts) -> Outcome {
    let class_count = forecasts.class_names.len();
    let (mut log_loss, mut squared, mut errors) = (0.0, 0.0, 0);
    for (row, labels) in forecasts
        .probabilities
        .chunks_exact(class_count)
        .zip(forecasts.labels.iter())
    {
        for (class, probability) in row.iter().enumerate() {
            let truth = labels.contains(&(class as u32));
            log_loss += probability.log_loss(truth);
            let missed_by = if truth {
                probability.complement().value()
            } else {
                probability.value()
            };
            squared += missed_by * missed_by;
            errors += usize::from(truth != (probability.log_odds() > 0.0));
        }
    }
    Outcome {
        method,
        log_loss_nats: -log_loss,
        log_loss_bits: -log_loss / std::f64::consts::LN_2,
        squared_error: squared,
        errors,
        marks: None,
        distance_to_raters: None,
    }
}
