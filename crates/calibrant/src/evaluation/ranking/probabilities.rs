//! Rankings whose scores are probabilities of relevance: are they right?

use serde::Serialize;

use super::{JudgedList, Mark};
use crate::corpus::{JudgedQuery, JudgedShare, Qrels, RankingTable, Run, Unjudged};
use crate::evaluation::{Calibration, SortedForecasts, StatedCell, StatedEnds, StatedTable};
use crate::numeric::StableSum;
use crate::{Probability, Task};

/// Stated probabilities of relevance of one query's documents, and which are relevant.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedRelevance {
    /// The query's name.
    pub id: String,
    /// A probability between 0 and 1 and whether the document is relevant.
    pub documents: Vec<(f64, bool)>,
}

/// How many relevant documents a query was said to have, and has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryReliability {
    /// The query's name.
    pub id: String,
    /// The documents with a probability.
    pub documents: usize,
    /// The sum of their probabilities: how many relevant ones are expected.
    pub expected: f64,
    /// How many of them are relevant.
    pub observed: usize,
    /// Log loss of the query's documents, nats, the mean.
    pub log_loss: f64,
}

/// Probabilities of relevance against the truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RelevanceForecasts {
    /// All documents of all queries together, each counting once.
    pub calibration: Calibration,
    /// Documents that were said to be relevant for certain (1) or not at all (0), and that were the opposite. Their log loss would be
    /// infinite, and follows from what zeros and ones count as.
    pub certain_and_wrong: usize,
    /// What zeros and ones count as, by the rule of [`StatedTable`].
    pub stated_ends: StatedEnds,
    /// The mean over queries of how far the expected number of relevant documents is from the observed one.
    pub count_error: f64,
    /// The mean over queries of the expected number less the observed one: above 0, too many are promised.
    pub count_excess: f64,
    /// Each query.
    pub queries: Vec<QueryReliability>,
}

/// Measures probabilities of relevance: proper scores, calibration, and the number of relevant documents by query.
///
/// # Formula
/// With `p` stated and `y` 1 for relevant documents, 0 for others, the expected number of relevant documents of a query is `Σ p`, the
/// observed one `Σ y`. For proper scores see [`SortedForecasts::losses`], for calibration [`SortedForecasts::calibration`].
///
/// # When it misleads
/// Only documents that are listed count: a system that leaves out what it is unsure about looks better. Documents of a query hang together,
/// and so calibration over all documents can be right while every query is wrong, half of them too high and half too low; look at
/// [`RelevanceForecasts::count_error`].
///
/// ```
/// use calibrant::evaluation::ranking::{StatedRelevance, measure_relevance};
/// let query = StatedRelevance { id: "q".into(), documents: vec![(0.75, true), (0.75, false)] };
/// let found = measure_relevance(&[query]);
/// assert_eq!((found.queries[0].expected, found.queries[0].observed), (1.5, 1));
/// assert_eq!(found.count_excess, 0.5);
/// assert!((found.calibration.losses.brier - (0.0625 + 0.5625) / 2.0).abs() < 1e-12);
/// ```
pub fn measure_relevance(queries: &[StatedRelevance]) -> RelevanceForecasts {
    let all = || queries.iter().flat_map(|query| &query.documents);
    let cell = |&(stated, _): &(f64, bool)| {
        StatedCell::of_number(stated.clamp(0.0, 1.0)).unwrap_or(StatedCell::Zero)
    };
    let cells: Vec<StatedCell> = all().map(cell).collect();
    let table = StatedTable::settle(Task::MultiLabel, 1, &cells);
    let settled = table.probabilities.iter();
    let points: Vec<(Probability, bool, f64)> = settled
        .zip(all())
        .map(|(&probability, &(_, relevant))| (probability, relevant, 1.0))
        .collect();
    let certain = |&&(stated, relevant): &&(f64, bool)| match relevant {
        true => stated <= 0.0,
        false => stated >= 1.0,
    };
    let certain_and_wrong = queries
        .iter()
        .flat_map(|query| &query.documents)
        .filter(certain)
        .count();
    let mut left = table.probabilities.as_slice();
    let by_query: Vec<QueryReliability> = queries
        .iter()
        .map(|query| {
            let (own, others) = left.split_at(query.documents.len());
            left = others;
            reliability_of(query, own)
        })
        .collect();
    let count = by_query.len().max(1) as f64;
    let excess = |query: &QueryReliability| query.expected - query.observed as f64;
    let errors = by_query.iter().map(|query| excess(query).abs());
    RelevanceForecasts {
        calibration: SortedForecasts::new(&points).calibration(),
        certain_and_wrong,
        stated_ends: table.ends,
        count_error: errors.collect::<StableSum>().total() / count,
        count_excess: by_query.iter().map(excess).collect::<StableSum>().total() / count,
        queries: by_query,
    }
}

/// A score that is not a probability.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("line {line}: the score {score} is not a probability; probabilities lie between 0 and 1")]
pub struct NotAProbability {
    /// Where it stands: the line of the run, or the number of the score from 1.
    pub line: u64,
    /// The score.
    pub score: f64,
}

/// Stated probabilities with what became of queries and documents that nobody judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatedByRun {
    /// The queries with a judgement.
    pub queries: Vec<StatedRelevance>,
    /// How much was judged.
    pub judged: JudgedShare,
}

/// The scores of a run's judged queries, as probabilities.
pub(crate) fn stated_by_run(
    qrels: &Qrels,
    run: &Run,
    relevant_from: i32,
    unjudged: Unjudged,
) -> Result<StatedByRun, NotAProbability> {
    let mut queries = Vec::new();
    let mut share = JudgedShare::default();
    for ranked in run.queries() {
        for (&score, &line) in ranked.scores().iter().zip(ranked.lines()) {
            if !(0.0..=1.0).contains(&score) {
                return Err(NotAProbability { line, score });
            }
        }
        let judged = qrels.query(ranked.id());
        let Some(judged) = judged.filter(JudgedQuery::has_judgement) else {
            share.unjudged_queries += 1;
            continue;
        };
        let list = JudgedList::of_query(judged, Some(ranked), relevant_from, usize::MAX);
        share.documents += list.retrieved();
        let nobody = |mark: &Mark| mark.grade().is_none();
        share.unjudged_documents += list.marks().iter().filter(|mark| nobody(mark)).count();
        let kept = |mark: &Mark| unjudged == Unjudged::Zero || !nobody(mark);
        let relevant = |mark: &Mark| mark.grade().is_some_and(|grade| grade >= relevant_from);
        let documents = ranked.scores().iter().zip(list.marks());
        queries.push(StatedRelevance {
            id: ranked.id().to_owned(),
            documents: documents
                .filter(|(_, mark)| kept(mark))
                .map(|(&score, mark)| (score, relevant(mark)))
                .collect(),
        });
    }
    Ok(StatedByRun {
        queries,
        judged: share,
    })
}

/// Scores of a table's rows, as probabilities. Unjudged rows count as not relevant or are left out; rows without a
/// score, and scores without a row, are passed over.
pub(crate) fn stated_by_scores(
    table: &RankingTable,
    scores: &[f64],
    relevant_from: i32,
    unjudged: Unjudged,
) -> Result<Vec<StatedRelevance>, NotAProbability> {
    if let Some(at) = scores.iter().position(|score| !(0.0..=1.0).contains(score)) {
        return Err(NotAProbability {
            line: at as u64 + 1,
            score: scores[at],
        });
    }
    let (table, kept) = table.judged(unjudged);
    let stated = table.queries().iter().map(|query| {
        let rows = query.rows.clone();
        let documents = rows.filter_map(|row| {
            let score = scores.get(kept[row])?;
            Some((*score, table.grades()[row] >= relevant_from))
        });
        StatedRelevance {
            id: query.id.clone(),
            documents: documents.collect(),
        }
    });
    Ok(stated.collect())
}

fn reliability_of(query: &StatedRelevance, settled: &[Probability]) -> QueryReliability {
    let documents = query.documents.len();
    let stated = query.documents.iter().map(|(stated, _)| *stated);
    let losses = query
        .documents
        .iter()
        .zip(settled)
        .map(|(&(_, relevant), probability)| probability.log_loss(relevant));
    QueryReliability {
        id: query.id.clone(),
        documents,
        expected: stated.collect::<StableSum>().total(),
        observed: query
            .documents
            .iter()
            .filter(|(_, relevant)| *relevant)
            .count(),
        log_loss: losses.collect::<StableSum>().total() / documents.max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_and_wrong_is_counted_and_stays_finite() {
        let query = |id: &str, documents: &[(f64, bool)]| StatedRelevance {
            id: id.to_owned(),
            documents: documents.to_vec(),
        };
        let found = measure_relevance(&[
            query("a", &[(0.0, true), (1.0, true), (0.5, false)]),
            query("b", &[(1.0, false), (0.0, false)]),
        ]);
        assert_eq!(found.certain_and_wrong, 2);
        // By hand: 0.5 is all that is stated between, so a 0 counts as 0.25 and a 1 as 0.75.
        let log_loss = -(0.25f64 * 0.75 * 0.5 * 0.25 * 0.75).ln() / 5.0;
        assert!((found.calibration.losses.log_loss - log_loss).abs() < 1e-12);
        assert_eq!(found.queries[0].expected, 1.5);
        // By hand: |1.5 - 2| and |1 - 0|, halved; (-0.5 + 1) / 2.
        assert_eq!((found.count_error, found.count_excess), (0.75, 0.25));
        assert!(measure_relevance(&[]).queries.is_empty());
    }
}
