//! Ways to learn a ranking, and how they do on queries that were held out.

use std::collections::HashSet;

use super::cost_path::{CostPath, PathTask};
use super::fit::first_best;
use super::parameters::{USUAL_COSTS, USUAL_FOLDS};
use super::splits::{Split, split_queries};
use super::summary::CostChoice;
use super::validation::PrecisionSum;
use super::{RankFitError, RankParameters};
use crate::Progress;
use crate::corpus::{CanonicalTable, JudgedShare, QueryRows, RankingTable, Unjudged};
use crate::parallel;
use crate::progress::Stage;

/// What is learned from and chosen by, in an order of its own.
pub(super) struct JudgedTables {
    pub(super) train: RankingTable,
    pub(super) validation: Option<RankingTable>,
    /// How much of the training table was judged.
    pub(super) share: JudgedShare,
}

/// Settings with the models of all queries and of all but each part, for every cost.
pub(super) struct Candidate {
    pub(super) settings: RankParameters,
    pub(super) whole: CostPath,
    parts: Vec<Part>,
    /// On the queries that were not learned from, a sum for each cost.
    pub(super) held_out: Vec<PrecisionSum>,
}

struct Part {
    split: Split,
    path: CostPath,
}

impl JudgedTables {
    pub(super) fn new(
        table: &RankingTable,
        validation: Option<&RankingTable>,
        unjudged: Unjudged,
    ) -> Self {
        Self {
            train: CanonicalTable::new(table, unjudged).table,
            validation: validation.map(|table| CanonicalTable::new(table, unjudged).table),
            share: table.judged_share(),
        }
    }

    /// Validation queries that were learned from would make every `C` look good.
    pub(super) fn check_apart(&self) -> Result<(), RankFitError> {
        let Some(validation) = &self.validation else {
            return Ok(());
        };
        let columns: HashSet<&String> = self.train.features().iter().collect();
        if !validation
            .features()
            .iter()
            .any(|name| columns.contains(name))
        {
            return Err(RankFitError::OtherFeatures {
                found: validation.features().to_vec(),
                expected: self.train.features().to_vec(),
            });
        }
        let queries = self.train.queries().iter();
        let known: HashSet<&str> = queries.map(|query| query.id.as_str()).collect();
        let shared = |query: &&QueryRows| known.contains(query.id.as_str());
        match validation.queries().iter().find(shared) {
            Some(query) => Err(RankFitError::SharedQuery {
                id: query.id.clone(),
            }),
            None => Ok(()),
        }
    }
}

impl Candidate {
    /// All costs that are tried first, for each of several settings.
    pub(super) fn fit(
        tables: &JudgedTables,
        ways: &[RankParameters],
        progress: &dyn Progress,
    ) -> Result<Vec<Self>, RankFitError> {
        let table = &tables.train;
        let wholes = side_by_side(table, ways.iter().collect(), |settings| {
            PathTask {
                table,
                settings,
                progress,
            }
            .begin(&settings.c)
        })?;
        let is_choice = ways.len() > 1 || wholes.iter().any(|whole| whole.costs.len() > 1);
        if is_choice {
            check_validation(tables, ways[0].relevant_from)?;
        }
        // The parts of every way, one after the other.
        let mut tasks = Vec::new();
        for (number, (way, whole)) in ways.iter().zip(&wholes).enumerate() {
            if let Some(folds) = fold_count(way, whole.costs.len(), tables) {
                let splits = split_queries(table, folds, way.seed)?;
                tasks.extend(splits.into_iter().map(|split| (number, split)));
            }
        }
        let parts = side_by_side(table, tasks, |(way, split)| {
            let (settings, rest) = (&ways[way], table.select(&split.rest));
            let task = PathTask {
                table: &rest,
                settings,
                progress,
            };
            let path = task.begin(&wholes[way].costs)?;
            Ok((way, Part { split, path }))
        })?;
        let mut candidates: Vec<Self> = ways
            .iter()
            .zip(wholes)
            .map(|(settings, whole)| Self {
                settings: settings.clone(),
                whole,
                parts: Vec::new(),
                held_out: Vec::new(),
            })
            .collect();
        for (way, part) in parts {
            candidates[way].parts.push(part);
        }
        for candidate in &mut candidates {
            candidate.measure(tables);
        }
        Ok(candidates)
    }

    /// How many times a `C` is solved for at first: the steps of [`Candidate::fit`].
    pub(super) fn steps(tables: &JudgedTables, ways: &[RankParameters]) -> usize {
        let of_way = |way: &RankParameters| {
            let costs = match way.c.len() {
                0 => USUAL_COSTS.len(),
                given => given,
            };
            costs * (1 + fold_count(way, costs, tables).unwrap_or(0))
        };
        ways.iter().map(of_way).sum()
    }

    /// Tries larger costs where the largest was the best and there are more; says whether there were.
    pub(super) fn grow(
        tables: &JudgedTables,
        candidates: &mut [Self],
        progress: &dyn Progress,
    ) -> Result<bool, RankFitError> {
        let table = &tables.train;
        let mut tasks: Vec<(&RankParameters, Option<&Split>, &mut CostPath, Vec<f64>)> = Vec::new();
        let mut grown = Vec::new();
        for (number, candidate) in candidates.iter_mut().enumerate() {
            let costs = candidate.further_costs();
            if costs.is_empty() {
                continue;
            }
            grown.push(number);
            let Self {
                settings,
                whole,
                parts,
                ..
            } = candidate;
            for part in parts {
                tasks.push((settings, Some(&part.split), &mut part.path, costs.clone()));
            }
            tasks.push((settings, None, whole, costs));
        }
        if tasks.is_empty() {
            return Ok(false);
        }
        let steps: usize = tasks.iter().map(|task| task.3.len()).sum();
        let stage = Stage::begin(progress, "larger C", Some(steps as u64));
        side_by_side(table, tasks, |(settings, split, path, costs)| {
            let rest = split.map(|split| table.select(&split.rest));
            let task = PathTask {
                table: rest.as_ref().unwrap_or(table),
                settings,
                progress,
            };
            task.extend(path, &costs)
        })?;
        drop(stage);
        for &number in &grown {
            candidates[number].measure(tables);
        }
        Ok(true)
    }

    /// Costs to go on with: none where `C` was given, where the best is not the last, and at the end.
    fn further_costs(&self) -> Vec<f64> {
        let last = self.whole.costs.len() - 1;
        let measured = self.held_out[last].with_relevant > 0;
        match self.settings.c.is_empty() && measured && self.best_cost() == last {
            true => self.whole.further_costs(),
            false => Vec::new(),
        }
    }

    /// Measures the costs that have not been measured yet.
    fn measure(&mut self, tables: &JudgedTables) {
        let settings = &self.settings;
        let first = self.held_out.len();
        for cost in first..self.whole.costs.len() {
            let mut sum = PrecisionSum::default();
            if let Some(validation) = &tables.validation {
                self.whole.measure(cost, validation, settings, &mut sum);
            }
            self.held_out.push(sum);
        }
        for part in &self.parts {
            let held = tables.train.select(&part.split.held);
            for (cost, sum) in self.held_out.iter_mut().enumerate().skip(first) {
                part.path.measure(cost, &held, settings, sum);
            }
        }
    }

    /// The cost with the best mean average precision, the first of equals.
    pub(super) fn best_cost(&self) -> usize {
        first_best(self.held_out.iter().map(PrecisionSum::mean))
    }

    /// How the cost is chosen.
    pub(super) fn choice(&self, tables: &JudgedTables) -> CostChoice {
        match (&tables.validation, self.parts.is_empty()) {
            _ if self.whole.costs.len() == 1 => CostChoice::Given,
            (Some(_), true) => CostChoice::Validation,
            (Some(_), false) => CostChoice::Both,
            (None, _) => CostChoice::CrossValidation,
        }
    }
}

fn check_validation(tables: &JudgedTables, relevant_from: i32) -> Result<(), RankFitError> {
    let Some(validation) = &tables.validation else {
        return Ok(());
    };
    let mut labels = validation.grades().iter();
    match labels.any(|&label| label >= relevant_from) {
        true => Ok(()),
        false => Err(RankFitError::NothingToChooseBy {
            queries: validation.query_count(),
            relevant_from,
        }),
    }
}

/// In how many parts the training queries are divided to measure costs by, if at all.
fn fold_count(settings: &RankParameters, costs: usize, tables: &JudgedTables) -> Option<usize> {
    match (settings.folds, &tables.validation) {
        (Some(folds), _) => Some(folds),
        (None, None) if costs > 1 => Some(tables.train.query_count().clamp(2, USUAL_FOLDS)),
        _ => None,
    }
}

/// Tables with more values are fitted one after the other: each fit uses all threads then, and there is one copy at a time.
const MOST_VALUES_SIDE_BY_SIDE: usize = 10_000_000;

/// Several fits to parts of one table, in their order.
pub(super) fn side_by_side<T: Send, U: Send>(
    table: &RankingTable,
    tasks: Vec<T>,
    fit: impl Fn(T) -> Result<U, RankFitError> + Send + Sync,
) -> Result<Vec<U>, RankFitError> {
    if table.row_count() * table.feature_count() > MOST_VALUES_SIDE_BY_SIDE {
        return tasks.into_iter().map(fit).collect();
    }
    let all = parallel::map_owned(tasks, fit);
    all.into_iter().collect()
}
