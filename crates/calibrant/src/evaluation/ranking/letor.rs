//! Measures as the LETOR collections count them.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::precision::total;
use crate::corpus::RankingTable;
use crate::parallel;

/// NDCG and precision are given after 1 to this many documents.
pub const LETOR_CUTS: usize = 10;

/// Which LETOR tool is followed where they differ: in lists shorter than the cut.
///
/// # When it misleads
/// Version 4 computes NDCG@k only up to the length of the list, so that a query with fewer than `k` documents counts **0**,
/// however good its list. In MQ2008, where half of the queries have fewer than ten documents, this halves NDCG@10. Published figures follow it;
/// compare like with like, and never a figure of one version with one of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LetorCounting {
    /// Versions 2 and 3: a shorter list is measured as it is.
    Three,
    /// Version 4: NDCG@k of a list with fewer than `k` documents is 0.
    Four,
}

named! {
    LetorCounting, "a version of LETOR";
    Three = "3" | "three", "Versions 2 and 3: a short list is measured as it is";
    Four = "4" | "four", "Version 4: NDCG@k of a list shorter than k is 0";
}

/// The measures of one query, or their means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LetorQuery {
    /// The query's name.
    pub id: String,
    /// NDCG after 1, 2, … documents.
    pub ndcg: [f64; LETOR_CUTS],
    /// Precision after 1, 2, … documents.
    pub precision: [f64; LETOR_CUTS],
    /// Average precision.
    pub average_precision: f64,
}

/// Scores of a table's rows against its grades.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LetorEvaluation {
    /// Which tool's counting.
    pub counting: LetorCounting,
    /// The queries in the order of the table.
    pub queries: Vec<LetorQuery>,
    /// The means over all queries; its name is `all`.
    pub mean: LetorQuery,
    /// Queries without any relevant row, which count 0.
    pub without_relevant: usize,
    /// Queries with fewer than [`LETOR_CUTS`] rows.
    pub short: usize,
}

/// Why scores could not be measured.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LetorError {
    /// There must be a score for each row.
    #[error(
        "there are {scores} scores and {rows} rows; every row needs one, in the order of the file"
    )]
    Count {
        /// Scores.
        scores: usize,
        /// Rows.
        rows: usize,
    },
    /// A score is not a number.
    #[error("score {number} is not a number")]
    NotANumber {
        /// Which, from 1.
        number: usize,
    },
}

/// Measures scores of a table's rows as LETOR does.
///
/// # Formula
/// Rows of a query are put in order of falling scores; equal scores keep the order of the file. With labels `y_i` by rank,
/// ```text
/// NDCG@k = DCG@k / DCG@k of the best order,   DCG@k = Σ_{i<=k} (2^y_i - 1) · d_i,   d_1 = 1, d_i = 1/log2(i)
/// P@k    = relevant among the first k / k
/// AP     = 1/R · Σ_{relevant} precision at its rank
/// ```
/// A row is relevant for P and AP if its label is at least `relevant_from`. Ranks 1 **and** 2 are not discounted. Means are over **all**
/// queries; one without relevant rows counts 0. Published figures are means of the five test folds, not of the queries.
///
/// # When it misleads
/// Ties keep the file's order: a constant score earns what the file's order is worth. In some files relevant rows come first.
///
/// # Reference
/// Qin, Liu, Xu & Li, LETOR: a benchmark collection for research on learning to rank, Information Retrieval 2010; the
/// discounts are those that reproduce its published figures.
///
/// ```
/// use calibrant::evaluation::ranking::{LetorCounting, evaluate_letor};
/// use calibrant::ranking::RankingTable;
/// let table = RankingTable::new(
///     vec!["1".into()], &[("q".into(), 3)], &["a", "b", "c"], vec![0, 2, 1], vec![0.0; 3])?;
/// let found = evaluate_letor(&table, &[0.9, 0.8, 0.7], LetorCounting::Three, 1)?;
/// // By hand: labels 0 2 1; DCG@2 = 0 + 3, best 3 + 1; AP = (1/2 + 2/3) / 2.
/// assert_eq!(found.mean.ndcg[1], 0.75);
/// assert!((found.mean.average_precision - 7.0 / 12.0).abs() < 1e-15);
/// // NDCG@4 of three documents: as they are, or nothing.
/// assert!(found.mean.ndcg[3] > 0.7);
/// assert_eq!(evaluate_letor(&table, &[0.9, 0.8, 0.7], LetorCounting::Four, 1)?.mean.ndcg[3], 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate_letor(
    table: &RankingTable,
    scores: &[f64],
    counting: LetorCounting,
    relevant_from: i32,
) -> Result<LetorEvaluation, LetorError> {
    if scores.len() != table.row_count() {
        return Err(LetorError::Count {
            scores: scores.len(),
            rows: table.row_count(),
        });
    }
    if let Some(at) = scores.iter().position(|score| score.is_nan()) {
        return Err(LetorError::NotANumber { number: at + 1 });
    }
    let queries: Vec<LetorQuery> = parallel::map(table.queries(), |query| {
        let mut order: Vec<usize> = query.rows.clone().collect();
        order.sort_by(|&a, &b| {
            let by_score = scores[b].partial_cmp(&scores[a]);
            by_score.unwrap_or(std::cmp::Ordering::Equal)
        });
        let labels: Vec<i32> = order.iter().map(|&row| table.grades()[row]).collect();
        measure(&query.id, &labels, counting, relevant_from)
    });
    let has_relevant = |labels: &[i32]| labels.iter().any(|&label| label >= relevant_from);
    let rows = table.queries().iter().map(|query| query.rows.clone());
    Ok(LetorEvaluation {
        counting,
        mean: mean(&queries),
        without_relevant: rows
            .clone()
            .filter(|rows| !has_relevant(&table.grades()[rows.clone()]))
            .count(),
        short: rows.filter(|rows| rows.len() < LETOR_CUTS).count(),
        queries,
    })
}

fn measure(id: &str, labels: &[i32], counting: LetorCounting, relevant_from: i32) -> LetorQuery {
    let mut best = labels.to_vec();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let found = gains(labels);
    let possible = gains(&best);
    let ndcg = std::array::from_fn(|place| {
        let cut = place + 1;
        let too_short = counting == LetorCounting::Four && labels.len() < cut;
        match too_short || possible[place] <= 0.0 {
            true => 0.0,
            false => found[place] / possible[place],
        }
    });
    let mut relevant_so_far = 0usize;
    let mut sum = 0.0;
    let mut precision = [0.0; LETOR_CUTS];
    for (rank, &label) in labels.iter().enumerate() {
        if label >= relevant_from {
            relevant_so_far += 1;
            sum += relevant_so_far as f64 / (rank + 1) as f64;
        }
        if let Some(place) = precision.get_mut(rank) {
            *place = relevant_so_far as f64 / (rank + 1) as f64;
        }
    }
    // Places behind the end of a short list hold nothing relevant.
    for (place, value) in precision.iter_mut().enumerate().skip(labels.len()) {
        *value = relevant_so_far as f64 / (place + 1) as f64;
    }
    LetorQuery {
        id: id.to_owned(),
        ndcg,
        precision,
        average_precision: match relevant_so_far {
            0 => 0.0,
            relevant => sum / relevant as f64,
        },
    }
}

/// Discounted gains after 1, 2, … documents.
fn gains(labels: &[i32]) -> [f64; LETOR_CUTS] {
    let mut sum = 0.0;
    std::array::from_fn(|place| {
        if let Some(&label) = labels.get(place) {
            // Larger labels than 60 would drown everything else; none below 0 gains anything.
            let gain = f64::from(label.clamp(0, 60)).exp2() - 1.0;
            sum += match place {
                0 => gain,
                _ => gain / ((place + 1) as f64).log2(),
            };
        }
        sum
    })
}

fn mean(queries: &[LetorQuery]) -> LetorQuery {
    let count = queries.len().max(1) as f64;
    let mean_of = |value: &dyn Fn(&LetorQuery) -> f64| total(queries.iter().map(value)) / count;
    LetorQuery {
        id: "all".to_owned(),
        ndcg: std::array::from_fn(|place| mean_of(&|query| query.ndcg[place])),
        precision: std::array::from_fn(|place| mean_of(&|query| query.precision[place])),
        average_precision: mean_of(&|query| query.average_precision),
    }
}
