//! AdaBoost over decision stumps.

mod committee;
mod curves;
mod search;
mod sorted_columns;
mod stump;
mod stump_scorer;
#[cfg(test)]
mod tests;

pub use stump::AdaBoostModel;
pub(crate) use stump_scorer::{StumpDescription, StumpScorer};

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use self::committee::boost;
use self::search::{LeastError, LeastNormalizer};
use self::sorted_columns::SortedColumns;
use super::Link;
use super::learner::{ClassLearner, Fitted, Variant};
use crate::FitError;
use crate::parallel;
use crate::problem::Problem;

/// What a stump of a committee says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoostingKind {
    /// Yes or no, with one weight for the whole stump.
    Discrete,
    /// A real number on each side of the threshold: how sure it is there.
    Real,
    /// As [`Self::Discrete`], but the score is divided by the sum of all weights: the share of the votes for
    /// less the share against, from -1 to 1.
    Shares,
}

named! {
    BoostingKind, "a kind of boosting";
    Real = "real", "A stump says how sure it is on each side of its threshold";
    Discrete = "discrete", "A stump says yes or no, with one weight";
    Shares = "shares", "As discrete, with scores that are shares of the votes";
}

/// AdaBoost: stumps one after another, each learned from the rows that those before it got wrong.
///
/// A stump asks whether one feature lies above a threshold and answers with one of two values.
///
/// # Formula
/// With `y = ±1` and weights `D` that sum to one, each round adds a stump `h` and reweights the rows:
/// ```text
/// F(x) = Σ_t h_t(x)          D(i) <- D(i) exp(-y_i h(x_i)) / Z          the score is F(x)
/// ```
/// `W₊` and `W₋` are the weights of the positive and negative rows on a side of the threshold.
/// ```text
/// discrete   h = ±α by side, α = ½ ln((1 - e) / e);   the stump of least error e = Σ_sides min(W₊, W₋)
/// real       h = ½ ln((W₊ + ε) / (W₋ + ε)) by side;   the stump of least Z = 2 Σ_sides √(W₊ W₋)
/// ```
/// with `ε = 1/m` for `m` rows. Thresholds lie midway between neighbouring values; the lowest column, then the
/// lowest threshold, wins where two stumps are equally good. One answer for all rows stands for
/// election too. The committee is complete where no stump is better than none (`e = ½`, `Z = 1`), or
/// where one makes no error: rows would keep their shares and the same stump would come for ever. Its `α` is then
/// that of the error `1/(m + 2)`.
///
/// The score is the plain sum, not divided by the number of rounds, nor by the sum of `α` unless
/// [`BoostingKind::Shares`] asks for that.
///
/// # When it misleads
/// `2F(x)` is a log-odds only in the limit of endless data. On the training rows margins keep
/// growing with the rounds, and `1 / (1 + exp(-2F))` drifts to zero and one: calibrate it on held-out scores.
/// Wrong labels gather weight round by round until stumps are spent on them.
///
/// # Reference
/// Freund & Schapire, JCSS 1997 (discrete); Schapire & Singer, Machine Learning 1999, sections 4.1
/// and 4.2 (real, `ε`); Friedman, Hastie & Tibshirani, Annals of Statistics 2000 (as log-odds).
///
/// ```
/// use calibrant::features::SparseMatrix;
/// use calibrant::problem::{ClassFactors, ClassLabels, Targets};
/// use calibrant::scorers::{AdaBoost, BoostingKind, ClassLearner};
/// // Four rows of one feature: 1, 2, 3, 4, of which the last two and the first are positive.
/// let rows = SparseMatrix::from_rows(1, [1.0, 2.0, 3.0, 4.0].map(|value| vec![(0, value)]));
/// let positive = [true, false, true, true];
/// let (labels, factors) = (ClassLabels::of_one_class(&positive), ClassFactors::equal(1));
/// let problem = Targets::new(&labels, &[1.0; 4], &factors).among(&rows, &[0, 1, 2, 3]);
/// let once = AdaBoost { kind: BoostingKind::Discrete, rounds: 1 };
/// let scorer = once.fit(&problem)?.scorer;
/// // By hand: "always yes" and "above 2.5" are wrong once in four; always yes stands first.
/// assert!((scorer.output_scores(rows.row(1))[0] - 0.5 * 3f64.ln()).abs() < 1e-12);
/// let thrice = AdaBoost { rounds: 3, ..once }.fit(&problem)?.scorer;
/// let right = (0..4).all(|row| (thrice.output_scores(rows.row(row))[0] > 0.0) == positive[row]);
/// assert!(right); // three stumps do what one cannot
/// # Ok::<(), calibrant::FitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdaBoost {
    /// What a stump says.
    pub kind: BoostingKind,
    /// How many stumps at most.
    pub rounds: usize,
}

impl Default for AdaBoost {
    fn default() -> Self {
        Self {
            kind: BoostingKind::Real,
            rounds: 200,
        }
    }
}

/// How many outputs are boosted side by side: a pass over the columns serves them all, and their
/// weights of a row fill a vector register.
const LANES: usize = 4;

/// A committee takes memory and time by its rounds; nobody needs more.
const MOST_ROUNDS: usize = 100_000;

impl AdaBoost {
    /// Boosts up to [`LANES`] outputs, given as signed weights of the rows.
    fn fit_lanes(
        &self,
        columns: &SortedColumns,
        signed_weights: &[Vec<f64>],
    ) -> Result<Vec<AdaBoostModel>, FitError> {
        let problem = committee::Problem {
            columns,
            signed_weights,
            rounds: self.rounds,
        };
        let alone = signed_weights.len() == 1;
        let mut models = match self.kind {
            BoostingKind::Real if alone => boost::<LeastNormalizer, 1>(&problem),
            BoostingKind::Real => boost::<LeastNormalizer, LANES>(&problem),
            BoostingKind::Discrete | BoostingKind::Shares if alone => {
                boost::<LeastError, 1>(&problem)
            }
            BoostingKind::Discrete | BoostingKind::Shares => boost::<LeastError, LANES>(&problem),
        }?;
        if self.kind == BoostingKind::Shares {
            models
                .iter_mut()
                .for_each(AdaBoostModel::divide_by_all_votes);
        }
        Ok(models)
    }
}

/// The members' weights, negative for those on the other side of an output.
fn signed_weights(problem: &Problem<'_>, output: usize) -> Vec<f64> {
    let class = problem.labels.class_of_output(output) as u32;
    let (positive, negative) = problem.factors.by_output[output];
    let sign = |&row: &u32| {
        let row = row as usize;
        if problem.labels.of_row[row].contains(&class) {
            problem.weights[row] * positive
        } else {
            -problem.weights[row] * negative
        }
    };
    problem.members.iter().map(sign).collect()
}

impl ClassLearner for AdaBoost {
    /// One committee for each output of the labels.
    fn fit(&self, problem: &Problem<'_>) -> Result<Fitted, FitError> {
        self.check()?;
        let columns = SortedColumns::new(problem.rows, problem.members)?;
        let outputs: Vec<usize> = (0..problem.labels.output_count()).collect();
        let blocks: Vec<&[usize]> = outputs.chunks(LANES).collect();
        let blocks = parallel::try_map(&blocks, |outputs| {
            let signed = outputs
                .iter()
                .map(|&output| signed_weights(problem, output));
            self.fit_lanes(&columns, &signed.collect::<Vec<_>>())
        })?;
        let models = blocks.into_iter().flatten().collect();
        let link = Link::of(problem.labels);
        let scorer = StumpScorer::new(models, link, problem.rows.column_count());
        Ok(scorer.ok_or(FitError::Overflow)?.into())
    }

    fn name(&self) -> &'static str {
        "AdaBoost"
    }

    fn variants() -> Vec<Variant<Self>> {
        let help = "AdaBoost over decision stumps";
        vec![Variant::named("adaboost", help, Self::default()).searched(80)]
    }

    fn check(&self) -> Result<(), FitError> {
        if (1..=MOST_ROUNDS).contains(&self.rounds) {
            return Ok(());
        }
        Err(FitError::BadSetting {
            setting: "the number of boosting rounds",
            requirement: "1 to 100000",
            value: self.rounds.to_string(),
        })
    }

    fn times_as_long(&self) -> f64 {
        25.0
    }
}
