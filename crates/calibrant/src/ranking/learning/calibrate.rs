//! Probabilities of relevance for a learned ranking.

use super::candidates::side_by_side;
use super::splits::{fold_of_queries, split_queries};
use super::{RankFitError, RankModel, RankParameters};
use crate::Progress;
use crate::corpus::{CanonicalTable, RankingTable};
use crate::progress::{Stage, Unshown, step};
use crate::ranking::{HeldOutRankings, Relevance, RelevanceSettings};

/// Scores of documents by models that have not learned from the documents' queries.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOutRankScores {
    /// One score per row of the table.
    pub scores: Vec<f64>,
    /// The fold that each query was in.
    pub fold_of_query: Vec<u8>,
}

/// More parts would hold out single queries of even the largest tables.
const MOST_FOLDS: usize = 100;

impl RankModel {
    /// Scores of every row of a table by models that have not learned from the row's query: queries are divided
    /// into `folds` by their names and the settings' seed, and each fold is ranked by a model fitted on the others. Unjudged documents
    /// have NaN where the settings leave them out.
    ///
    /// ```
    /// use calibrant::ranking::RankingTable;
    /// use calibrant::NoProgress;
    /// use calibrant::ranking::learning::{RankModel, RankParameters};
    /// let queries = [("p".into(), 2), ("q".into(), 2)];
    /// let values = vec![1.0, 0.0, 3.0, 0.0];
    /// let table = RankingTable::new(vec!["f".into()], &queries, &["a", "b", "a", "b"], vec![1, 0, 1, 0], values)?;
    /// let settings = RankParameters { c: vec![0.05], tolerance: 1e-9, ..RankParameters::default() };
    /// let held_out = RankModel::held_out_scores(&table, &settings, 2, &NoProgress)?;
    /// // By hand: the model of `p` alone has the weight 0.1 (see `fit_with`), so `a` in `q` scores 0.3.
    /// assert!((held_out.scores[2] - 0.3).abs() < 1e-8 && held_out.scores[3] == 0.0);
    /// assert_ne!(held_out.fold_of_query[0], held_out.fold_of_query[1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)] // For tests.
    pub fn held_out_scores(
        table: &RankingTable,
        settings: &RankParameters,
        folds: usize,
        progress: &dyn Progress,
    ) -> Result<HeldOutRankScores, RankFitError> {
        let canonical = CanonicalTable::new(table, settings.unjudged);
        let found = held_out(&canonical.table, settings, folds, progress)?;
        let mut scores = vec![f64::NAN; table.row_count()];
        for (&row, score) in canonical.rows.iter().zip(found.scores) {
            scores[row] = score;
        }
        let mut fold_of_query = vec![0; table.query_count()];
        for (&query, fold) in canonical.queries.iter().zip(found.fold_of_query) {
            fold_of_query[query] = fold;
        }
        Ok(HeldOutRankScores {
            scores,
            fold_of_query,
        })
    }

    /// The same model with a curve from scores to the probability of relevance.
    ///
    /// The curve is fitted to scores of `table`, which the model was fitted on, by models that have
    /// not seen the query, with the model's `C`; validation queries, which it has not learned from, are added as they are. As in
    /// [`RankModel::fit_with`], the order of the tables does not matter.
    pub fn calibrated(
        self,
        table: &RankingTable,
        validation: Option<&RankingTable>,
        how: &RelevanceSettings,
        folds: usize,
        progress: &dyn Progress,
    ) -> Result<Self, RankFitError> {
        let relevance = self.relevance_curve(table, validation, how, folds, progress)?;
        Ok(Self {
            relevance: Some(relevance),
            ..self
        })
    }

    pub(super) fn relevance_curve(
        &self,
        table: &RankingTable,
        validation: Option<&RankingTable>,
        how: &RelevanceSettings,
        folds: usize,
        progress: &dyn Progress,
    ) -> Result<Relevance, RankFitError> {
        let settings = RankParameters {
            c: vec![self.summary.chosen_trial().c],
            folds: None,
            ..self.settings.clone()
        };
        let table = CanonicalTable::new(table, settings.unjudged).table;
        let HeldOutRankScores {
            mut scores,
            mut fold_of_query,
        } = held_out(&table, &settings, folds, progress)?;
        let queries = table.queries().iter();
        let mut queries: Vec<_> = queries.map(|query| query.rows.clone()).collect();
        let mut labels = table.grades().to_vec();
        if let Some(validation) = validation {
            let validation = CanonicalTable::new(validation, settings.unjudged).table;
            let start = scores.len();
            scores.extend(self.scores_by_known(&validation));
            labels.extend(validation.grades());
            let of = fold_of_queries(
                validation.queries(),
                folds.clamp(1, MOST_FOLDS),
                settings.seed,
            );
            fold_of_query.extend(of.into_iter().map(|fold| fold as u8));
            for query in validation.queries() {
                queries.push(start + query.rows.start..start + query.rows.end);
            }
        }
        let is_relevant = |&label: &i32| label >= settings.relevant_from;
        let relevant: Vec<bool> = labels.iter().map(is_relevant).collect();
        Ok(how.fit(&HeldOutRankings {
            scores: &scores,
            relevant: &relevant,
            queries: &queries,
            fold_of_query: &fold_of_query,
        })?)
    }
}

/// Scores of a table in canonical order.
fn held_out(
    table: &RankingTable,
    settings: &RankParameters,
    folds: usize,
    progress: &dyn Progress,
) -> Result<HeldOutRankScores, RankFitError> {
    let folds = folds.min(MOST_FOLDS);
    let parts = split_queries(table, folds, settings.seed)?;
    let stage = Stage::begin(progress, "calibrating", Some(parts.len() as u64));
    let found = side_by_side(table, parts.iter().collect(), |part| {
        let rest = table.select(&part.rest);
        let model = RankModel::fit_with(&rest, None, settings, &Unshown(progress))?;
        step(progress, 1)?;
        Ok(model.scores_by_known(&table.select(&part.held)))
    })?;
    drop(stage);
    let mut scores = vec![0.0; table.row_count()];
    let mut fold_of_query = vec![0; table.query_count()];
    for (fold, (part, found)) in parts.iter().zip(found).enumerate() {
        let mut found = found.into_iter();
        for &query in &part.held {
            fold_of_query[query] = fold as u8;
            for score in &mut scores[table.queries()[query].rows.clone()] {
                *score = found.next().unwrap_or(0.0);
            }
        }
    }
    Ok(HeldOutRankScores {
        scores,
        fold_of_query,
    })
}
