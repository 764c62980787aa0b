//! Rankings against each other, query by query.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::precision::total;
use super::{RankingValue, RunEvaluation};
use crate::evaluation::{
    PairedTTest, RandomisationTest, WilcoxonTest, paired_t_test, randomisation_test,
    wilcoxon_signed_rank,
};

/// Which system the others are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// The one that is given first.
    #[default]
    First,
    /// The one with the largest mean; of equals the first.
    Best,
}

named! {
    Baseline, "a baseline";
    First = "first", "The one given first";
    Best = "best", "The one with the largest mean";
}

/// Draws of the randomisation test where not all swaps are counted.
const DRAWS: u64 = 100_000;

/// Several systems by one measure on the same queries, each held against one of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankingComparison {
    /// The measure.
    pub measure: String,
    /// The queries that all systems have.
    pub queries: usize,
    /// The system that the others are held against, by number.
    pub baseline: usize,
    /// The systems in the order given.
    pub systems: Vec<ComparedRanking>,
}

/// A system in a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRanking {
    /// Its name.
    pub name: String,
    /// Its mean over the queries.
    pub mean: f64,
    /// How it compares with the baseline; absent for the baseline itself.
    pub against_baseline: Option<RankingDifference>,
}

/// A system against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankingDifference {
    /// Its mean, less the baseline's.
    pub difference: f64,
    /// Queries where it is better.
    pub wins: usize,
    /// Queries where it is worse.
    pub losses: usize,
    /// Queries where both are equal.
    pub ties: usize,
    /// Wilcoxon's signed-rank test.
    pub wilcoxon: WilcoxonTest,
    /// Student's test of pairs.
    pub t_test: PairedTTest,
    /// Fisher's randomisation test.
    pub randomisation: RandomisationTest,
}

/// Why systems could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RankingComparisonError {
    /// There must be two systems at least.
    #[error("there is nothing to compare with {systems} system; give at least two")]
    Systems {
        /// How many there are.
        systems: usize,
    },
    /// No query is in all systems.
    #[error("no query was measured for all systems")]
    NothingInCommon,
    /// A system lacks the measure, or has no value of it for single queries.
    #[error("`{name}` has no values of `{measure}` for single queries")]
    NoMeasure {
        /// The system.
        name: String,
        /// The measure.
        measure: String,
    },
    /// Systems have values for different numbers of queries.
    #[error("`{name}` has {found} values where {expected} are needed: one for each query")]
    Queries {
        /// The system.
        name: String,
        /// Its values.
        found: usize,
        /// The values of the first system.
        expected: usize,
    },
}

/// Holds systems against one of them by their values for the same queries, in the same order.
///
/// All tests are two-sided. Their p-values are those of single comparisons: with many systems some will be small by luck.
///
/// # When it misleads
/// A difference that is significant may still be too small to matter, and the tests know nothing of other queries than
/// those that could have been drawn instead of these.
///
/// # Reference
/// Wins and losses with Wilcoxon's test are how Yue, Finley, Radlinski & Joachims, SIGIR 2007, compare rankings.
///
/// ```
/// use calibrant::evaluation::ranking::{Baseline, compare_rankings};
/// let first = ("base".to_owned(), vec![0.1, 0.2, 0.3, 0.4, 0.5]);
/// let second = ("new".to_owned(), vec![0.2, 0.4, 0.6, 0.3, 0.5]);
/// let found = compare_rankings("map", &[first, second], Baseline::First, 1)?;
/// let new = found.systems[1].against_baseline.as_ref().unwrap();
/// assert_eq!((new.wins, new.losses, new.ties), (3, 1, 1));
/// assert!((new.difference - 0.1).abs() < 1e-12); // by hand: (0.1 + 0.2 + 0.3 - 0.1) / 5
/// # Ok::<(), calibrant::evaluation::ranking::RankingComparisonError>(())
/// ```
pub fn compare_rankings(
    measure: &str,
    systems: &[(String, Vec<f64>)],
    baseline: Baseline,
    seed: u64,
) -> Result<RankingComparison, RankingComparisonError> {
    if systems.len() < 2 {
        return Err(RankingComparisonError::Systems {
            systems: systems.len(),
        });
    }
    let expected = systems[0].1.len();
    let unequal = systems.iter().find(|(_, values)| values.len() != expected);
    if let Some((name, values)) = unequal {
        return Err(RankingComparisonError::Queries {
            name: name.clone(),
            found: values.len(),
            expected,
        });
    }
    let mean = |values: &[f64]| total(values.iter().copied()) / expected.max(1) as f64;
    let baseline = match baseline {
        Baseline::First => 0,
        Baseline::Best => (1..systems.len()).fold(0, |best, number| {
            match mean(&systems[number].1) > mean(&systems[best].1) {
                true => number,
                false => best,
            }
        }),
    };
    let base = &systems[baseline].1;
    let compared = systems.iter().enumerate().map(|(number, (name, values))| {
        let differences: Vec<f64> = values
            .iter()
            .zip(base)
            .map(|(own, base)| own - base)
            .collect();
        let count = |wanted: fn(f64) -> bool| {
            differences
                .iter()
                .filter(|difference| wanted(**difference))
                .count()
        };
        let against_baseline = (number != baseline).then(|| RankingDifference {
            difference: mean(values) - mean(base),
            wins: count(|difference| difference > 0.0),
            losses: count(|difference| difference < 0.0),
            ties: count(|difference| difference == 0.0),
            wilcoxon: wilcoxon_signed_rank(&differences),
            t_test: paired_t_test(&differences),
            randomisation: randomisation_test(&differences, DRAWS, seed),
        });
        ComparedRanking {
            name: name.clone(),
            mean: mean(values),
            against_baseline,
        }
    });
    Ok(RankingComparison {
        measure: measure.to_owned(),
        queries: expected,
        baseline,
        systems: compared.collect(),
    })
}

/// Holds runs that were measured on the same judgements against each other by one measure, on the queries that all of them have.
///
/// Means are those of these queries, and may differ from the runs' own where a run lacks queries; measure them with
/// [`RunEvaluationOptions::complete`](super::RunEvaluationOptions::complete) to compare them on all that are judged.
pub(crate) fn compare_runs(
    measure: &str,
    runs: &[(String, RunEvaluation)],
    baseline: Baseline,
    seed: u64,
) -> Result<RankingComparison, RankingComparisonError> {
    let Some((_, first)) = runs.first() else {
        return Err(RankingComparisonError::Systems { systems: 0 });
    };
    // Queries are in the order of their names: each run is searched by halving.
    let find = |run: &RunEvaluation, id: &str| {
        let found = run
            .queries
            .binary_search_by(|query| query.id.as_str().cmp(id));
        found.ok()
    };
    let common: Vec<&str> = first
        .queries
        .iter()
        .map(|query| query.id.as_str())
        .filter(|id| runs.iter().all(|(_, run)| find(run, id).is_some()))
        .collect();
    if common.is_empty() {
        return Err(RankingComparisonError::NothingInCommon);
    }
    let mut systems = Vec::with_capacity(runs.len());
    for (name, run) in runs {
        let missing = || RankingComparisonError::NoMeasure {
            name: name.clone(),
            measure: measure.to_owned(),
        };
        let all = run.per_query(measure).ok_or_else(missing)?;
        let values = common
            .iter()
            .filter_map(|id| find(run, id))
            .map(|at| all[at]);
        systems.push((name.clone(), values.collect()));
    }
    compare_rankings(measure, &systems, baseline, seed)
}

/// The measures of an evaluation that runs can be compared by: those that are means over queries.
pub(crate) fn comparable_measures(evaluation: &RunEvaluation) -> Vec<&str> {
    let named = evaluation.names.iter().enumerate();
    named
        .filter(|(column, _)| {
            let mean = matches!(evaluation.summary[*column], RankingValue::Number(_));
            let first = evaluation.queries.first();
            mean && first
                .is_some_and(|query| matches!(query.values[*column], RankingValue::Number(_)))
        })
        .map(|(_, name)| name.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(name: &str, values: &[f64]) -> (String, Vec<f64>) {
        (name.to_owned(), values.to_vec())
    }

    #[test]
    fn systems_that_do_not_fit_are_refused() {
        let one = [system("a", &[0.1])];
        assert!(compare_rankings("map", &one, Baseline::First, 1).is_err());
        assert!(compare_runs("map", &[], Baseline::First, 1).is_err());
        let uneven = [system("a", &[0.1]), system("b", &[0.1, 0.2])];
        let error = compare_rankings("map", &uneven, Baseline::Best, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`b` has 2 values where 1 are needed: one for each query"
        );
    }

    #[test]
    fn a_system_and_its_copy_are_equal() {
        let values = [0.3, 0.1, 0.9];
        let systems = [
            system("a", &values),
            system("b", &values),
            system("c", &[0.4; 3]),
        ];
        let found = compare_rankings("map", &systems, Baseline::First, 1).unwrap();
        assert!(found.systems[0].against_baseline.is_none());
        let copy = found.systems[1].against_baseline.as_ref().unwrap();
        assert_eq!((copy.difference, copy.ties), (0.0, 3));
        let p_values = [
            copy.wilcoxon.p_value,
            copy.t_test.p_value,
            copy.randomisation.p_value,
        ];
        assert_eq!(p_values, [1.0; 3]);
        // Of the best two the first.
        let best = compare_rankings("map", &systems, Baseline::Best, 1).unwrap();
        assert_eq!(best.baseline, 0);
    }
}
