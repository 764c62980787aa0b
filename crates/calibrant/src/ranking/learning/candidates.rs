//! Ways to learn a ranking, and how they do on queries that were held out.

use std::collections::HashSet;

use rayon::prelude::*;

use super::cost_path::{CostPath, PathTask};
use super::fit::{RankStage, first_best};
use super::settings::USUAL_FOLDS;
use super::splits::{Split, split_queries};
use super::summary::CostChoice;
use super::validation::PrecisionSum;
use super::{RankFitError, RankSettings};
use crate::corpus::{CanonicalTable, JudgedShare, QueryRows, RankingTable, Unjudged};

/// What is learned from and chosen by, in an order of its own.
pub(super) struct JudgedTables {
    pub(super) train: RankingTable,
    pub(super) validation: Option<RankingTable>,
    /// How much of the training table was judged.
    pub(super) share: JudgedShare,
}

/// Settings with the models of all queries and of all but each part, for every price.
pub(super) struct Candidate {
    pub(super) settings: RankSettings,
    pub(super) whole: CostPath,
    parts: Vec<Part>,
    /// On the queries that were not learned from, a sum for each price.
    pub(super) held_out: Vec<PrecisionSum>,
}

struct Part {
    /// From 1, and how many there are.
    fold: (usize, usize),
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
    /// All prices that are tried first, for each of several settings.
    pub(super) fn fit(
        tables: &JudgedTables,
        ways: &[RankSettings],
        on_stage: &(dyn Fn(&RankStage) + Sync),
    ) -> Result<Vec<Self>, RankFitError> {
        let table = &tables.train;
        let wholes = side_by_side(table, ways.iter().collect(), |settings| {
            let fold = None;
            PathTask {
                table,
                settings,
                fold,
                on_stage,
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
                let numbered = (1..).zip(splits);
                tasks.extend(numbered.map(|(fold, split)| (number, (fold, folds), split)));
            }
        }
        let parts = side_by_side(table, tasks, |(way, fold, split)| {
            let (settings, rest) = (&ways[way], table.select(&split.rest));
            let task = PathTask {
                table: &rest,
                settings,
                fold: Some(fold),
                on_stage,
            };
            let path = task.begin(&wholes[way].costs)?;
            Ok((way, Part { fold, split, path }))
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

    /// Tries larger prices where the largest was the best and there are more; says whether there were.
    pub(super) fn grow(
        tables: &JudgedTables,
        candidates: &mut [Self],
        on_stage: &(dyn Fn(&RankStage) + Sync),
    ) -> Result<bool, RankFitError> {
        let table = &tables.train;
        let mut tasks: Vec<(&RankSettings, Option<&Split>, &mut CostPath, _, Vec<f64>)> =
            Vec::new();
        let mut grown = Vec::new();
        for (number, candidate) in candidates.iter_mut().enumerate() {
            let costs = candidate.further_prices();
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
                let (split, fold) = (Some(&part.split), Some(part.fold));
                tasks.push((settings, split, &mut part.path, fold, costs.clone()));
            }
            tasks.push((settings, None, whole, None, costs));
        }
        side_by_side(
            table,
            tasks,
            |(settings, split, path, fold, costs)| match split {
                None => PathTask {
                    table,
                    settings,
                    fold,
                    on_stage,
                }
                .extend(path, &costs),
                Some(split) => {
                    let rest = table.select(&split.rest);
                    PathTask {
                        table: &rest,
                        settings,
                        fold,
                        on_stage,
                    }
                    .extend(path, &costs)
                }
            },
        )?;
        for &number in &grown {
            candidates[number].measure(tables);
        }
        Ok(!grown.is_empty())
    }

    /// Prices to go on with: none where `C` was given, where the best is not the last, and at the end.
    fn further_prices(&self) -> Vec<f64> {
        let last = self.whole.costs.len() - 1;
        let measured = self.held_out[last].with_relevant > 0;
        match self.settings.c.is_empty() && measured && self.best_price() == last {
            true => self.whole.further_prices(),
            false => Vec::new(),
        }
    }

    /// Measures the prices that have not been measured yet.
    fn measure(&mut self, tables: &JudgedTables) {
        let settings = &self.settings;
        let first = self.held_out.len();
        for price in first..self.whole.costs.len() {
            let mut sum = PrecisionSum::default();
            if let Some(validation) = &tables.validation {
                self.whole.measure(price, validation, settings, &mut sum);
            }
            self.held_out.push(sum);
        }
        for part in &self.parts {
            let held = tables.train.select(&part.split.held);
            for (price, sum) in self.held_out.iter_mut().enumerate().skip(first) {
                part.path.measure(price, &held, settings, sum);
            }
        }
    }

    /// The price with the best mean average precision, the first of equals.
    pub(super) fn best_price(&self) -> usize {
        first_best(self.held_out.iter().map(PrecisionSum::mean))
    }

    /// How the price is chosen.
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

/// In how many parts the training queries are divided to measure prices by, if at all.
fn fold_count(settings: &RankSettings, prices: usize, tables: &JudgedTables) -> Option<usize> {
    match (settings.folds, &tables.validation) {
        (Some(folds), _) => Some(folds),
        (None, None) if prices > 1 => Some(tables.train.query_count().clamp(2, USUAL_FOLDS)),
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
    // All of them before the first error, so that it is always the same one.
    let all: Vec<Result<U, RankFitError>> = tasks.into_par_iter().map(fit).collect();
    all.into_iter().collect()
}
