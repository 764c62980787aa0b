//! Round after round: the best stump, then new weights for the rows.

use super::search::{Criterion, Cut, Sides, Verdict, best_cuts};
use super::sorted_columns::SortedColumns;
use super::stump::{AdaBoostModel, Stump};
use crate::FitError;

/// A row that has less than this share of the weight no longer counts: numbers so small that they lose
/// digits would slow every round down.
const NOTHING: f64 = 1e-150;

/// Several outputs over the same rows.
pub(super) struct Problem<'a> {
    pub(super) columns: &'a SortedColumns,
    /// For each output the weight of each row, negative for its negatives.
    pub(super) signed_weights: &'a [Vec<f64>],
    pub(super) rounds: usize,
}

/// Boosts up to `L` outputs side by side. Each is computed by itself: how many there are changes no
/// bit of any.
pub(super) fn boost<C: Criterion, const L: usize>(
    problem: &Problem<'_>,
) -> Result<Vec<AdaBoostModel>, FitError> {
    let mut state = State::<L>::new(problem)?;
    for _ in 0..problem.rounds {
        if !state.round::<C>(problem.columns) {
            break;
        }
    }
    let mut models = Vec::from(state.models);
    models.truncate(problem.signed_weights.len());
    Ok(models)
}

struct State<const L: usize> {
    /// For each row, one signed weight a lane; those of a lane sum to one in magnitude.
    weights: Vec<[f64; L]>,
    totals: [Sides; L],
    models: [AdaBoostModel; L],
    open: [bool; L],
}

impl<const L: usize> State<L> {
    fn new(problem: &Problem<'_>) -> Result<Self, FitError> {
        let mut state = Self {
            weights: vec![[0.0; L]; problem.columns.row_count()],
            totals: [Sides::default(); L],
            models: std::array::from_fn(|_| AdaBoostModel::default()),
            open: [false; L],
        };
        for (lane, signed) in problem.signed_weights.iter().enumerate().take(L) {
            // Brought near one first: a sum of huge weights could overflow, one of tiny ones vanish.
            let largest = signed
                .iter()
                .fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
            if !signed.iter().all(|weight| weight.is_finite()) {
                return Err(FitError::Overflow);
            }
            state.open[lane] = largest > 0.0;
            if state.open[lane] {
                for (weights, &weight) in state.weights.iter_mut().zip(signed) {
                    weights[lane] = weight / largest;
                }
            }
        }
        state.normalize();
        Ok(state)
    }

    /// Normalises the weights of each lane.
    fn normalize(&mut self) {
        let mut sums = [0.0; L];
        for weights in &self.weights {
            for lane in 0..L {
                sums[lane] += weights[lane].abs();
            }
        }
        let factors = sums.map(|sum: f64| if sum > 0.0 { 1.0 / sum } else { 0.0 });
        let mut totals = [Sides::default(); L];
        for weights in &mut self.weights {
            for lane in 0..L {
                let weight = weights[lane] * factors[lane];
                let weight = if weight.abs() < NOTHING { 0.0 } else { weight };
                weights[lane] = weight;
                totals[lane].plus += if weight > 0.0 { weight } else { 0.0 };
                totals[lane].minus -= if weight < 0.0 { weight } else { 0.0 };
            }
        }
        self.totals = totals;
    }

    /// One stump for every lane that is still open; false where none is.
    fn round<C: Criterion>(&mut self, columns: &SortedColumns) -> bool {
        if !self.open.contains(&true) {
            return false;
        }
        // One answer for all rows is what a stump has to beat.
        let nothing = Sides::default();
        let to_beat: [f64; L] = std::array::from_fn(|lane| {
            if self.open[lane] {
                C::value(nothing, self.totals[lane])
            } else {
                0.0
            }
        });
        let cuts = best_cuts::<C, L>(columns, &self.weights, &self.totals, &to_beat);
        let mut answers_of_rest = [0.0; L];
        for (lane, cut) in cuts.into_iter().enumerate() {
            if self.open[lane] {
                answers_of_rest[lane] = self.add_stump::<C>(columns, lane, cut);
            }
        }
        // Rows beyond the thresholds have been moved by the difference already.
        let shrink = answers_of_rest.map(|answer: f64| (-answer).exp());
        let grow = answers_of_rest.map(f64::exp);
        for weights in &mut self.weights {
            for lane in 0..L {
                let weight = weights[lane];
                weights[lane] *= if weight > 0.0 {
                    shrink[lane]
                } else {
                    grow[lane]
                };
            }
        }
        self.normalize();
        true
    }

    /// Adds the stump of a cut (or one answer for all rows) to a lane's committee, reweights the rows
    /// of the part as far as its answer differs, and gives the answer of the rest.
    fn add_stump<C: Criterion>(
        &mut self,
        columns: &SortedColumns,
        lane: usize,
        cut: Option<Cut>,
    ) -> f64 {
        let part = cut.map_or_else(Sides::default, |cut| cut.part);
        let rest = self.totals[lane].without(part);
        let (for_part, for_rest) = match C::verdict(part, rest, columns.row_count()) {
            Verdict::Useless => {
                self.open[lane] = false;
                return 0.0;
            }
            Verdict::Perfect { part, rest } => {
                self.open[lane] = false;
                (part, rest)
            }
            Verdict::Useful { part, rest } => (part, rest),
        };
        let model = &mut self.models[lane];
        let Some(cut) = cut else {
            model.bias += for_rest;
            return for_rest;
        };
        let wing = columns.wing(cut.wing);
        let (threshold, rows) = columns.cut(wing, cut.cut);
        let (below, above) = if wing.part_is_below {
            (for_part, for_rest)
        } else {
            (for_rest, for_part)
        };
        model.stumps.push(Stump {
            column: wing.column,
            threshold,
            below,
            above,
        });
        let difference = for_part - for_rest;
        let (shrink, grow) = ((-difference).exp(), difference.exp());
        for &row in rows {
            let weight = &mut self.weights[row as usize][lane];
            *weight *= if *weight > 0.0 { shrink } else { grow };
        }
        for_rest
    }
}
