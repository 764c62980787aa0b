//! Softmax regression whose parameters are held together as firmly as the data ask for.

use crate::CalibrationError;
use crate::solvers::{QuadraticPenalty, SoftmaxRows, SoftmaxSolution, newton_softmax};

/// Parameters of one kind: drawn, so to say, from one normal distribution around their centre.
pub(super) struct Group {
    pub(super) places: Vec<usize>,
    /// What they are drawn to.
    pub(super) centre: f64,
    /// The standard deviation to begin with.
    pub(super) spread: f64,
    /// The largest standard deviation that is believed; keeps everything finite where the examples
    /// alone would not, as with a class that has none.
    pub(super) most: f64,
    /// Whether they are drawn to their own mean, which is drawn to the centre by `most` alone.
    pub(super) around_mean: bool,
}

/// Fits all parameters and the spread of each group (empirical Bayes).
///
/// # Formula
/// ```text
/// θ  minimises  log loss + Σ_groups Σ_i (θ_i - m)² / 2τ²        for given spreads τ
/// τ² = Σ_i (θ_i - m)² / γ,   γ = Σ_i (1 - v_i/τ²)               for given θ
/// ```
/// in turn until the spreads stay. `v_i` is the variance that the examples leave to `θ_i`, so that `γ`
/// counts the parameters that the examples rather than the spread decide on. Groups that need not differ
/// shrink together, those that must are left alone, and no strength has to be searched for.
///
/// # Reference
/// MacKay, Neural Computation 4 (1992), "Bayesian interpolation", section 4.
pub(super) fn fit_groups(
    method: &'static str,
    rows: &impl SoftmaxRows,
    groups: &[Group],
    start: Option<Shrunken>,
    tolerance: f64,
) -> Result<Shrunken, CalibrationError> {
    let count = rows.class_count() * rows.width();
    let mut centres = vec![0.0; count];
    for group in groups {
        group.places.iter().for_each(|&i| centres[i] = group.centre);
    }
    let (mut parameters, mut spreads) = match start {
        Some(near) => (near.parameters, near.spreads),
        None => (
            centres.clone(),
            groups.iter().map(|group| group.spread).collect(),
        ),
    };
    let mut before: Vec<Option<f64>> = vec![None; groups.len()];
    for _ in 0..MOST_ROUNDS {
        let penalty = penalty(groups, &spreads, &centres);
        let solution = newton_softmax(method, rows, &penalty, parameters, ROUGH.max(tolerance))?;
        let steps = steps_of_spreads(groups, &spreads, &solution, rows);
        parameters = solution.parameters;
        let arrived = steps.iter().all(|step| step.abs() < 0.03);
        for (number, step) in steps.into_iter().enumerate() {
            let step = match before[number].take().map(|before| step / before) {
                // Steps that shrink by a constant factor: to where they lead.
                Some(ratio) if ratio > 0.0 && ratio < 0.85 => step / (1.0 - ratio),
                _ => {
                    before[number] = Some(step);
                    step
                }
            };
            let group = &groups[number];
            spreads[number] = (spreads[number] * step.clamp(-1.6, 1.6).exp())
                .clamp(1e-3 * group.most, group.most);
        }
        if arrived {
            break;
        }
    }
    let penalty = penalty(groups, &spreads, &centres);
    let solution = newton_softmax(method, rows, &penalty, parameters, tolerance)?;
    Ok(Shrunken {
        parameters: solution.parameters,
        spreads,
    })
}

/// Fitted parameters with the spread of each group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shrunken {
    pub(super) parameters: Vec<f64>,
    pub(super) spreads: Vec<f64>,
}

const MOST_ROUNDS: usize = 12;
/// The tolerance while spreads still move.
const ROUGH: f64 = 1e-4;

impl Group {
    /// How far each parameter is from what it is drawn to.
    fn departures<'a>(&'a self, parameters: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let centre = if self.around_mean {
            let sum: f64 = self.places.iter().map(|&i| parameters[i]).sum();
            sum / self.places.len() as f64
        } else {
            self.centre
        };
        self.places.iter().map(move |&i| parameters[i] - centre)
    }
}

/// By what the logarithm of each spread should move; nothing where it is at a bound already.
fn steps_of_spreads(
    groups: &[Group],
    spreads: &[f64],
    solution: &SoftmaxSolution,
    rows: &impl SoftmaxRows,
) -> Vec<f64> {
    let variances = solution.variances(rows);
    let step = |(group, &spread): (&Group, &f64)| {
        let variance = spread * spread;
        let decided: f64 = group
            .places
            .iter()
            .map(|&i| (1.0 - variances[i] / variance).max(0.0))
            .sum();
        let squares: f64 = group.departures(&solution.parameters).map(|d| d * d).sum();
        let step = 0.5 * (squares / decided / variance).ln();
        let highest = (group.most / spread).ln();
        if step.is_nan() {
            return 0.0;
        }
        step.clamp(highest + 1e-3f64.ln(), highest)
    };
    groups.iter().zip(spreads).map(step).collect()
}

fn penalty(groups: &[Group], spreads: &[f64], centres: &[f64]) -> QuadraticPenalty {
    let mut penalty = QuadraticPenalty {
        strengths: vec![0.0; centres.len()],
        centres: centres.to_vec(),
        shared: Vec::new(),
        relief: 0.0,
    };
    for (group, spread) in groups.iter().zip(spreads) {
        let strength = 1.0 / (spread * spread);
        group
            .places
            .iter()
            .for_each(|&i| penalty.strengths[i] = strength);
        if group.around_mean {
            // The mean as one parameter with the spread `most`.
            let of_mean = 1.0 / (group.places.len() as f64 * group.most * group.most);
            penalty.relief = (strength - of_mean).max(0.0);
            penalty.shared.clone_from(&group.places);
        }
    }
    penalty
}
