//! Learning a ranking.

use super::settings::{PRICE_RANGE, USUAL_FOLDS, USUAL_PRICES};
use super::summary::{CostChoice, RankSummary, RankTrial};
use super::validation::PrecisionSum;
use super::{FeatureMap, RankFitError, RankModel, RankProblem, RankSettings};
use crate::numeric::Random;
use crate::ranking::RankingTable;
use crate::solvers::{CuttingPlanes, PlaneSet, Round, StructuredProblem, solve_cutting_planes};

/// Where learning stands, told after every round of the solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankStage {
    /// The part of the queries that is held out, from 1, with their number; none for the model itself.
    pub fold: Option<(usize, usize)>,
    /// The price of errors that is being tried.
    pub c: f64,
    /// Primal, dual and planes.
    pub round: Round,
}

impl RankModel {
    /// Learns a ranking from judged documents.
    ///
    /// # Formula
    /// ```text
    /// min over w of  ½|w|² + C/n Σ_q max over rankings y of [ Δ_q(y) - w·(ψ_q(best) - ψ_q(y)) ]
    /// ```
    /// over the `n` queries with something to learn from; see [`RankLoss`](super::RankLoss) for `Δ`, the oracles for `ψ`, and
    /// [`solve_cutting_planes`] for the solver. `C` is tried from the least to the greatest value, each beginning
    /// with the planes of the last; the one with the best mean average precision on queries that were not
    /// learned from is kept (the smaller of equals). Validation queries are never learned from.
    ///
    /// # When it misleads
    /// With a handful of validation queries the choice of `C` is mostly luck: `folds` adds the training
    /// queries, each held out once. The bound that is minimised is not the loss itself: with a `C` too small, weights
    /// remain near zero and every ranking counts as wrong.
    ///
    /// # Reference
    /// Yue, Finley, Radlinski & Joachims, A Support Vector Method for Optimizing Average Precision, SIGIR 2007.
    ///
    /// ```
    /// use calibrant::ranking::RankingTable;
    /// use calibrant::ranking::learning::{RankModel, RankSettings};
    /// let table = RankingTable::new(
    ///     vec!["bm25".into()], &[("q".into(), 2)], &["a", "b"], vec![1, 0], vec![1.0, 0.0],
    /// )?;
    /// let settings = RankSettings { c: vec![0.05], tolerance: 1e-9, ..RankSettings::default() };
    /// let model = RankModel::fit(&table, None, &settings, &mut |_| {})?;
    /// // By hand: the one wrong ranking has loss ½ and ψ(best) - ψ(y) = 2, so the objective is
    /// // ½w² + 0.05 max(0, ½ - 2w), least at w = 0.05 · 2 = 0.1.
    /// assert!((model.scores(&table)[0] - 0.1).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit(
        table: &RankingTable,
        validation: Option<&RankingTable>,
        settings: &RankSettings,
        on_stage: &mut dyn FnMut(&RankStage),
    ) -> Result<Self, RankFitError> {
        settings.check()?;
        check_apart(table, validation)?;
        let whole = path(table, &settings.c, settings, None, on_stage)?;
        let costs = whole.costs.clone();
        let several = costs.len() > 1;
        let folds = match (settings.folds, validation) {
            (Some(folds), _) => Some(folds),
            (None, None) if several => Some(table.query_count().clamp(2, USUAL_FOLDS)),
            _ => None,
        };
        let mut held_out = vec![PrecisionSum::default(); costs.len()];
        if let Some(validation) = validation {
            whole.measure(validation, settings, &mut held_out);
        }
        if let Some(folds) = folds {
            for (fold, (rest, held)) in split_queries(table, folds, settings.seed)?
                .into_iter()
                .enumerate()
            {
                let part = path(
                    &table.select(&rest),
                    &costs,
                    settings,
                    Some((fold + 1, folds)),
                    on_stage,
                )?;
                part.measure(&table.select(&held), settings, &mut held_out);
            }
        }
        let choice = match (validation, folds) {
            _ if !several => CostChoice::Given,
            (Some(_), None) => CostChoice::Validation,
            (Some(_), Some(_)) => CostChoice::Both,
            (None, _) => CostChoice::CrossValidation,
        };
        let queries = held_out[0].queries;
        if several && held_out[0].with_relevant == 0 {
            return Err(RankFitError::NothingToChooseBy {
                queries,
                relevant_from: settings.relevant_from,
            });
        }
        let chosen = (0..costs.len()).fold(0, |best, trial| {
            if held_out[trial].mean() > held_out[best].mean() {
                trial
            } else {
                best
            }
        });
        let trials = whole.ends.iter().zip(&costs).zip(&held_out);
        let trials = trials.map(|((&(end, converged), &c), held_out)| RankTrial {
            c,
            rounds: end.round,
            planes: end.planes,
            primal: end.primal,
            dual: end.dual,
            converged,
            held_out_map: (queries > 0).then(|| held_out.mean()),
        });
        let labels = table.labels().iter();
        let mut summary = RankSummary {
            calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
            queries: table.query_count(),
            skipped_queries: whole.skipped,
            documents: table.row_count(),
            relevant_documents: labels
                .filter(|&&label| label >= settings.relevant_from)
                .count(),
            missing_values: table.missing_count(),
            choice_queries: queries,
            choice,
            trials: trials.collect(),
            chosen,
            training_map: 0.0,
        };
        let mut training = [PrecisionSum::default()];
        let weights = &whole.weights[chosen];
        measure_weights(&whole.map, weights, table, settings, &mut training[0]);
        summary.training_map = training[0].mean();
        let settings = RankSettings {
            c: costs,
            ..settings.clone()
        };
        Ok(Self::new(settings, whole.map, weights.clone(), summary))
    }

    /// Fits with each of several settings and keeps the model that ranks queries better that it has not learned from, the
    /// earlier one of equals. With it come the held-out mean average precisions of all, in the order of `candidates`.
    ///
    /// All should choose by the same queries, as [`RankSettings::variations`] do, or their figures mean different things.
    ///
    /// # When it misleads
    /// The best of several held-out figures is a little too good to be true. Measure on queries that had no part in the choice.
    pub fn fit_best_of(
        table: &RankingTable,
        validation: Option<&RankingTable>,
        candidates: &[RankSettings],
        on_stage: &mut dyn FnMut(&RankStage),
    ) -> Result<(Self, Vec<f64>), RankFitError> {
        let mut best: Option<Self> = None;
        let mut held_out = Vec::with_capacity(candidates.len());
        for settings in candidates {
            let model = Self::fit(table, validation, settings, on_stage)?;
            let precision = model.summary().chosen_trial().held_out_map;
            if precision.is_none() && candidates.len() > 1 {
                // A single query with a single C.
                let queries = table.query_count();
                return Err(RankFitError::TooManyFolds { queries, folds: 2 });
            }
            let precision = precision.unwrap_or(0.0);
            if held_out.iter().all(|&other| precision > other) {
                best = Some(model);
            }
            held_out.push(precision);
        }
        match best {
            Some(best) => Ok((best, held_out)),
            None => Err(RankFitError::Setting(crate::FitError::BadSetting {
                setting: "the candidates",
                requirement: "at least one",
                value: "none".into(),
            })),
        }
    }
}

/// The weights for each of several `C`, rising.
struct CostPath {
    map: FeatureMap,
    costs: Vec<f64>,
    weights: Vec<Vec<f64>>,
    ends: Vec<(Round, bool)>,
    skipped: usize,
}

fn path(
    table: &RankingTable,
    costs: &[f64],
    settings: &RankSettings,
    fold: Option<(usize, usize)>,
    on_stage: &mut dyn FnMut(&RankStage),
) -> Result<CostPath, RankFitError> {
    if table.function_count() == 0 {
        return Err(RankFitError::NoFunctions);
    }
    let map = FeatureMap::fit(settings.effective_features(), table, settings.relevant_from);
    let rows = map.rows(table);
    let queries: Vec<_> = table
        .queries()
        .iter()
        .map(|query| query.rows.clone())
        .collect();
    let levels = settings.relevant_levels(table);
    let problem = RankProblem::new(&rows, &queries, table.labels(), &levels, settings.loss)?;
    if problem.example_count() == 0 || map.dimension() == 0 {
        return Err(RankFitError::NothingToLearn {
            queries: table.query_count(),
            relevant_from: settings.relevant_from,
        });
    }
    let costs = usable_costs(costs, &problem);
    let mut planes = PlaneSet::default();
    let mut weights = Vec::with_capacity(costs.len());
    let mut ends = Vec::with_capacity(costs.len());
    for &c in &costs {
        let solver = CuttingPlanes {
            c,
            tolerance: settings.tolerance,
            ..CuttingPlanes::default()
        };
        let found = solve_cutting_planes(&problem, &solver, &mut planes, &mut |&round| {
            on_stage(&RankStage { fold, c, round });
        });
        if !found.weights.iter().all(|weight| weight.is_finite()) {
            return Err(crate::FitError::Overflow.into());
        }
        ends.push((found.end, found.converged));
        weights.push(found.weights);
    }
    let skipped = problem.skipped();
    Ok(CostPath {
        map,
        costs,
        weights,
        ends,
        skipped,
    })
}

/// The prices that are given, rising and each once, or the usual ones.
fn usable_costs(given: &[f64], problem: &RankProblem) -> Vec<f64> {
    let mut costs = given.to_vec();
    if costs.is_empty() {
        let unit = problem.unit_price();
        let (least, greatest) = (*PRICE_RANGE.start(), *PRICE_RANGE.end());
        costs = USUAL_PRICES
            .map(|price| readable(price * unit).clamp(least, greatest))
            .to_vec();
    }
    costs.sort_unstable_by(f64::total_cmp);
    costs.dedup();
    costs
}

/// To two digits: no ranking depends on more of them, and a person can repeat them.
fn readable(price: f64) -> f64 {
    format!("{price:.1e}").parse().unwrap_or(price)
}

impl CostPath {
    fn measure(&self, table: &RankingTable, settings: &RankSettings, sums: &mut [PrecisionSum]) {
        for (weights, sum) in self.weights.iter().zip(sums) {
            measure_weights(&self.map, weights, table, settings, sum);
        }
    }
}

fn measure_weights(
    map: &FeatureMap,
    weights: &[f64],
    table: &RankingTable,
    settings: &RankSettings,
    sum: &mut PrecisionSum,
) {
    let mut scores = vec![0.0; table.row_count()];
    let features = &weights[..map.dimension()];
    map.rows(table)
        .scores_into(features, 0..table.row_count(), &mut scores);
    sum.add_table(table, &scores, settings.relevant_from);
}

/// Validation queries that were learned from would make every `C` look good.
fn check_apart(
    table: &RankingTable,
    validation: Option<&RankingTable>,
) -> Result<(), RankFitError> {
    let Some(validation) = validation else {
        return Ok(());
    };
    let known: std::collections::HashSet<&str> = table
        .queries()
        .iter()
        .map(|query| query.id.as_str())
        .collect();
    let shared = |query: &&crate::ranking::QueryRows| known.contains(query.id.as_str());
    match validation.queries().iter().find(shared) {
        Some(query) => Err(RankFitError::SharedQuery {
            id: query.id.clone(),
        }),
        None => Ok(()),
    }
}

/// Queries outside and inside a part.
type Split = (Vec<usize>, Vec<usize>);

/// For each part the queries outside and inside it, both in the order of the table.
pub(super) fn split_queries(
    table: &RankingTable,
    folds: usize,
    seed: u64,
) -> Result<Vec<Split>, RankFitError> {
    let queries = table.query_count();
    if folds < 2 || folds > queries {
        return Err(RankFitError::TooManyFolds { queries, folds });
    }
    let mut order: Vec<usize> = (0..queries).collect();
    Random::from_seed(seed).shuffle(&mut order);
    let mut fold_of = vec![0; queries];
    for (place, &query) in order.iter().enumerate() {
        fold_of[query] = place % folds;
    }
    let split = |fold: usize| (0..queries).partition(|&query| fold_of[query] != fold);
    Ok((0..folds).map(split).collect())
}
