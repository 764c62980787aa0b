//! Softmax regression whose parameters are held together as firmly as the data ask for.

use crate::FitError;
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
    start: Option<Vec<f64>>,
    tolerance: f64,
) -> Result<Vec<f64>, FitError> {
    let count = rows.class_count() * rows.width();
    let mut centres = vec![0.0; count];
    for group in groups {
        group.places.iter().for_each(|&i| centres[i] = group.centre);
    }
    let mut spreads: Vec<f64> = groups
        .iter()
        .map(|group| match &start {
            // Those of a calibrator that is near are about its own.
            Some(near) => group.bounded(
                (group.departures(near).map(|d| d * d).sum::<f64>() / group.places.len() as f64)
                    .sqrt(),
            ),
            None => group.spread,
        })
        .collect();
    let mut parameters = start.unwrap_or_else(|| centres.clone());
    for _ in 0..MOST_ROUNDS {
        let penalty = penalty(groups, &spreads, &centres);
        let solution = newton_softmax(method, rows, &penalty, parameters, ROUGH.max(tolerance))?;
        let next = next_spreads(groups, &spreads, &solution, rows);
        parameters = solution.parameters;
        let moved = spreads
            .iter()
            .zip(&next)
            .any(|(a, b)| (b / a).ln().abs() > 0.03);
        spreads = next;
        if !moved {
            break;
        }
    }
    let penalty = penalty(groups, &spreads, &centres);
    Ok(newton_softmax(method, rows, &penalty, parameters, tolerance)?.parameters)
}

const MOST_ROUNDS: usize = 10;
/// The tolerance while spreads still move.
const ROUGH: f64 = 1e-5;

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

    fn bounded(&self, spread: f64) -> f64 {
        if spread.is_finite() {
            spread.clamp(1e-3 * self.most, self.most)
        } else {
            self.most
        }
    }
}

fn next_spreads(
    groups: &[Group],
    spreads: &[f64],
    solution: &SoftmaxSolution,
    rows: &impl SoftmaxRows,
) -> Vec<f64> {
    let variances = solution.variances(rows);
    let next = |(group, &spread): (&Group, &f64)| {
        let variance = spread * spread;
        let decided: f64 = group
            .places
            .iter()
            .map(|&i| (1.0 - variances[i] / variance).max(0.0))
            .sum();
        let squares: f64 = group.departures(&solution.parameters).map(|d| d * d).sum();
        // A step at a time: far from the answer the formula overshoots.
        let factor = (squares / decided / variance).sqrt();
        group.bounded(
            spread
                * if factor.is_nan() {
                    1.0
                } else {
                    factor.clamp(0.2, 5.0)
                },
        )
    };
    groups.iter().zip(spreads).map(next).collect()
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
