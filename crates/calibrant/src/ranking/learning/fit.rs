//! Learning a ranking.

use rayon::prelude::*;

use super::settings::{OpenSettings, PRICE_RANGE, USUAL_FOLDS, USUAL_PRICES};
use super::summary::{CostChoice, RankSummary, RankTrial, SettingsTried};
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
    /// let model = RankModel::fit(&table, None, &settings, &|_| {})?;
    /// // By hand: the one wrong ranking has loss ½ and ψ(best) - ψ(y) = 2, so the objective is
    /// // ½w² + 0.05 max(0, ½ - 2w), least at w = 0.05 · 2 = 0.1.
    /// assert!((model.scores(&table)[0] - 0.1).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit(
        table: &RankingTable,
        validation: Option<&RankingTable>,
        settings: &RankSettings,
        on_stage: &(dyn Fn(&RankStage) + Sync),
    ) -> Result<Self, RankFitError> {
        let ways = std::slice::from_ref(settings);
        let mut models = fit_all(table, validation, ways, on_stage)?;
        Ok(models.swap_remove(0))
    }

    /// From the models of all queries and of all but each part, for every price.
    fn choose_price(
        table: &RankingTable,
        validation: Option<&RankingTable>,
        settings: &RankSettings,
        whole: CostPath,
        held_out: Vec<PrecisionSum>,
    ) -> Result<Self, RankFitError> {
        let costs = whole.costs.clone();
        let several = costs.len() > 1;
        let folds = fold_count(settings, &costs, table, validation);
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
        let chosen = first_best(held_out.iter().map(PrecisionSum::mean));
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
            settings_tried: Vec::new(),
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

    /// As [`Self::fit`], with open settings chosen, too: of the models that each way gives, the one that best ranks queries it has not
    /// learned from is kept, the earlier one of equals (the settings as given come first). [`RankSummary::settings_tried`] tells all.
    ///
    /// They are chosen by the validation queries and, unless those are many, by held-out training queries as well.
    ///
    /// # When it misleads
    /// The best of several held-out figures is a little too good to be true. Measure on queries that had no part in the choice.
    pub fn fit_choosing(
        table: &RankingTable,
        validation: Option<&RankingTable>,
        settings: &RankSettings,
        open: OpenSettings,
        on_stage: &(dyn Fn(&RankStage) + Sync),
    ) -> Result<Self, RankFitError> {
        let ways = settings.variations(open, table, validation);
        let mut models = fit_all(table, validation, &ways, on_stage)?;
        if models.len() == 1 {
            return Ok(models.swap_remove(0));
        }
        let tried = models.iter().map(|model| {
            let settings = model.settings();
            Some(SettingsTried {
                every_grade: settings.every_grade,
                bins: settings.features.bins,
                held_out_map: model.summary().chosen_trial().held_out_map?,
            })
        });
        let Some(tried) = tried.collect::<Option<Vec<_>>>() else {
            // A single query with a single C.
            let queries = table.query_count();
            return Err(RankFitError::TooManyFolds { queries, folds: 2 });
        };
        let best = first_best(tried.iter().map(|way| way.held_out_map));
        let mut model = models.swap_remove(best);
        model.summary.settings_tried = tried;
        Ok(model)
    }
}

/// A model for each of several settings. Everything that can be fitted without the other is fitted side by side.
fn fit_all(
    table: &RankingTable,
    validation: Option<&RankingTable>,
    ways: &[RankSettings],
    on_stage: &(dyn Fn(&RankStage) + Sync),
) -> Result<Vec<RankModel>, RankFitError> {
    ways.iter().try_for_each(RankSettings::check)?;
    check_apart(table, validation)?;
    let wholes = side_by_side(table, ways.len(), |way| {
        path(table, &ways[way].c, &ways[way], None, on_stage)
    })?;
    let is_choice = ways.len() > 1 || wholes.iter().any(|whole| whole.costs.len() > 1);
    if let Some(validation) = validation.filter(|_| is_choice) {
        let relevant_from = ways[0].relevant_from;
        if !validation
            .labels()
            .iter()
            .any(|&label| label >= relevant_from)
        {
            let queries = validation.query_count();
            return Err(RankFitError::NothingToChooseBy {
                queries,
                relevant_from,
            });
        }
    }
    // The parts of every way, one after the other.
    let mut parts: Vec<(usize, (usize, usize), Split)> = Vec::new();
    for (number, (way, whole)) in ways.iter().zip(&wholes).enumerate() {
        if let Some(folds) = fold_count(way, &whole.costs, table, validation) {
            let splits = split_queries(table, folds, way.seed)?;
            let numbered = (1..).zip(splits);
            parts.extend(numbered.map(|(fold, split)| (number, (fold, folds), split)));
        }
    }
    let measured = side_by_side(table, parts.len(), |part| {
        let (way, fold, (rest, held)) = &parts[part];
        let (settings, costs) = (&ways[*way], &wholes[*way].costs);
        let path = path(&table.select(rest), costs, settings, Some(*fold), on_stage)?;
        let mut held_out = vec![PrecisionSum::default(); costs.len()];
        path.measure(&table.select(held), settings, &mut held_out);
        Ok(held_out)
    })?;
    let models = ways
        .iter()
        .zip(wholes)
        .enumerate()
        .map(|(number, (way, whole))| {
            let mut held_out = vec![PrecisionSum::default(); whole.costs.len()];
            if let Some(validation) = validation {
                whole.measure(validation, way, &mut held_out);
            }
            for (_, measured) in parts
                .iter()
                .zip(&measured)
                .filter(|(part, _)| part.0 == number)
            {
                held_out
                    .iter_mut()
                    .zip(measured)
                    .for_each(|(sum, part)| sum.add(part));
            }
            RankModel::choose_price(table, validation, way, whole, held_out)
        });
    models.collect()
}

/// The place of the greatest value, the first of equals.
fn first_best(values: impl Iterator<Item = f64>) -> usize {
    let places = values.enumerate();
    places
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map_or(0, |(place, _)| place)
}

/// In how many parts the training queries are divided to measure prices by, if at all.
fn fold_count(
    settings: &RankSettings,
    costs: &[f64],
    table: &RankingTable,
    validation: Option<&RankingTable>,
) -> Option<usize> {
    match (settings.folds, validation) {
        (Some(folds), _) => Some(folds),
        (None, None) if costs.len() > 1 => Some(table.query_count().clamp(2, USUAL_FOLDS)),
        _ => None,
    }
}

/// Tables with more values are fitted one after the other: each fit uses all threads then, and there is one copy at a time.
const MOST_VALUES_SIDE_BY_SIDE: usize = 10_000_000;

/// Several fits to parts of one table, in their order.
pub(super) fn side_by_side<T: Send>(
    table: &RankingTable,
    count: usize,
    fit: impl Fn(usize) -> Result<T, RankFitError> + Send + Sync,
) -> Result<Vec<T>, RankFitError> {
    if table.row_count() * table.function_count() > MOST_VALUES_SIDE_BY_SIDE {
        return (0..count).map(fit).collect();
    }
    // All of them before the first error, so that it is always the same one.
    let all: Vec<Result<T, RankFitError>> = (0..count).into_par_iter().map(fit).collect();
    all.into_iter().collect()
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
    on_stage: &(dyn Fn(&RankStage) + Sync),
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
