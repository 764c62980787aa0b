//! Queries with their documents as a structured problem.

use std::ops::Range;

use super::oracles::{
    NdcgOracle, PairOracle, SortedSides, TooManyOrders, most_violated_average_precision,
    most_violated_labels, most_violated_reciprocal_rank, most_violated_roc_area,
};
use super::{FeatureRows, RankLoss};
use crate::solvers::{self, StructuredProblem};

/// Queries whose rankings (or answers, for the accuracies) are to be learned, an example each.
#[derive(Debug)]
pub struct RankProblem<'a> {
    rows: &'a FeatureRows,
    queries: Vec<Query>,
    labels: &'a [i32],
    loss: RankLoss,
    /// Weights of relevant and of other documents, for the accuracies.
    label_weights: [f64; 2],
    /// The part of all weight that the lighter side, relevant documents or others, has together.
    lighter_share: f64,
    /// The weight of a pair, for pairs.
    pair_weight: f64,
    skipped: usize,
}

#[derive(Debug)]
struct Query {
    rows: Range<usize>,
    /// The least grade that is relevant.
    relevant_from: i32,
    oracle: Oracle,
}

#[derive(Debug)]
enum Oracle {
    Sides,
    Ndcg(NdcgOracle),
    Pairs(PairOracle),
}

impl<'a> RankProblem<'a> {
    /// The problem of these queries, given as ranges of rows. A document is relevant from a grade of `relevant_from` on; of several
    /// such grades, each makes an example of every query, so that a ranking counts as good only if the better documents stand
    /// before the merely relevant ones, too. (Losses of grades look at all grades once.)
    ///
    /// A query with relevant documents alone, or with none (with one grade alone, for losses of grades), says nothing about
    /// the order of documents: it is left out and counted. The accuracies use all queries, and the first of the grades.
    pub fn new(
        rows: &'a FeatureRows,
        queries: &[Range<usize>],
        labels: &'a [i32],
        relevant_from: &[i32],
        loss: RankLoss,
    ) -> Result<Self, TooManyOrders> {
        let Some(&first) = relevant_from.first() else {
            return Self::new(rows, queries, labels, &[1], loss);
        };
        let levels = match loss.is_graded() || loss.is_accuracy() {
            true => &relevant_from[..1],
            false => relevant_from,
        };
        let mut kept = Vec::new();
        let mut skipped = 0;
        let mut pair_count = 0;
        for rows in queries {
            let before = kept.len();
            let labels = &labels[rows.clone()];
            for &level in levels {
                let relevant = labels.iter().filter(|&&label| label >= level).count();
                let mixed = relevant > 0 && relevant < labels.len();
                let oracle = match loss {
                    RankLoss::Ndcg { cutoff } => {
                        let oracle = NdcgOracle::new(labels, cutoff.unwrap_or(usize::MAX))?;
                        (oracle.pair_count() > 0.0).then_some(Oracle::Ndcg(oracle))
                    }
                    RankLoss::Pairs => {
                        let oracle = PairOracle::new(labels);
                        pair_count += oracle.pair_count();
                        (oracle.pair_count() > 0).then_some(Oracle::Pairs(oracle))
                    }
                    loss if loss.is_accuracy() => (!rows.is_empty()).then_some(Oracle::Sides),
                    _ => mixed.then_some(Oracle::Sides),
                };
                kept.extend(oracle.map(|oracle| Query {
                    rows: rows.clone(),
                    relevant_from: level,
                    oracle,
                }));
            }
            skipped += usize::from(kept.len() == before);
        }
        let count = kept.len() as f64;
        let (label_weights, lighter_share) = label_weights(&kept, labels, first, loss);
        Ok(Self {
            rows,
            queries: kept,
            labels,
            loss,
            label_weights: label_weights.map(|weight| weight * count),
            lighter_share,
            pair_weight: count / (pair_count.max(1)) as f64,
            skipped,
        })
    }

    /// How many queries were left out.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The cost `C` to count others in; see [`solvers::unit_cost`]. For the accuracies it is the cost at which the lighter
    /// side begins to count: with few relevant documents, a smaller one buys the answer that nothing is relevant.
    pub fn unit_cost(&self) -> f64 {
        let unit = solvers::unit_cost(self);
        if self.loss.is_accuracy() && self.lighter_share > 0.0 {
            unit / self.lighter_share
        } else {
            unit
        }
    }

    fn has_bias(&self) -> bool {
        self.loss.is_accuracy()
    }
}

/// Weights of a relevant and of another document that sum to one over all documents, and the lesser of the sums over
/// relevant and over other documents.
fn label_weights(
    queries: &[Query],
    labels: &[i32],
    relevant_from: i32,
    loss: RankLoss,
) -> ([f64; 2], f64) {
    let rows = queries.iter().flat_map(|query| &labels[query.rows.clone()]);
    let (positives, all) = rows.fold((0usize, 0usize), |(positives, all), &label| {
        (positives + usize::from(label >= relevant_from), all + 1)
    });
    let others = all - positives;
    let ratio = match loss {
        RankLoss::BalancedAccuracy if positives > 0 && others > 0 => {
            others as f64 / positives as f64
        }
        _ => 1.0,
    };
    let sides = [ratio * positives as f64, others as f64];
    let total = (sides[0] + sides[1]).max(1.0);
    ([ratio / total, 1.0 / total], sides[0].min(sides[1]) / total)
}

impl StructuredProblem for RankProblem<'_> {
    fn example_count(&self) -> usize {
        self.queries.len()
    }

    /// One weight per feature; for the accuracies a bias as well, as the weight of a feature that is always one.
    fn dimension(&self) -> usize {
        self.rows.dimension() + usize::from(self.has_bias())
    }

    fn add_most_violated(
        &self,
        weights: &[f64],
        range: Range<usize>,
        direction: &mut [f64],
    ) -> f64 {
        let features = self.rows.dimension();
        let bias = weights.get(features).copied().unwrap_or(0.0);
        let weighted = self.rows.with_weights(&weights[..features]);
        let mut sum = self.rows.sum();
        let mut bias_sum = 0.0;
        let mut loss = 0.0;
        let (mut scores, mut coefficients) = (Vec::new(), Vec::new());
        let (mut sides, mut before) = (SortedSides::default(), Vec::new());
        let mut relevant = Vec::new();
        for query in &self.queries[range] {
            let count = query.rows.len();
            scores.clear();
            scores.resize(count, 0.0);
            coefficients.clear();
            coefficients.resize(count, 0.0);
            weighted.scores_into(query.rows.clone(), &mut scores);
            let labels = self.labels[query.rows.clone()].iter();
            relevant.clear();
            relevant.extend(labels.map(|&label| label >= query.relevant_from));
            loss += match (&query.oracle, self.loss) {
                (Oracle::Ndcg(oracle), _) => oracle.most_violated(&scores, &mut coefficients),
                (Oracle::Pairs(oracle), _) => {
                    oracle.most_violated(&scores, self.pair_weight, &mut coefficients)
                }
                (Oracle::Sides, loss) if loss.is_accuracy() => {
                    scores.iter_mut().for_each(|score| *score += bias);
                    most_violated_labels(&scores, &relevant, self.label_weights, &mut coefficients)
                }
                (Oracle::Sides, loss) => {
                    sides.sort(&scores, &relevant);
                    let oracle = match loss {
                        RankLoss::RocArea => most_violated_roc_area,
                        RankLoss::ReciprocalRank => most_violated_reciprocal_rank,
                        _ => most_violated_average_precision,
                    };
                    oracle(&sides, &mut before, &mut coefficients)
                }
            };
            sum.add(&coefficients, query.rows.clone());
            if self.has_bias() {
                bias_sum += coefficients.iter().sum::<f64>();
            }
        }
        sum.add_to(&mut direction[..features]);
        if let Some(bias) = direction.get_mut(features) {
            *bias += bias_sum;
        }
        loss
    }
}
