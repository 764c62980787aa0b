//! Weights for one price of errors after the other.

use super::fit::RankStage;
use super::settings::{FURTHER_PRICES, PRICE_RANGE, USUAL_PRICES};
use super::validation::PrecisionSum;
use super::{FeatureMap, FeatureRows, RankFitError, RankProblem, RankSettings};
use crate::corpus::RankingTable;
use crate::solvers::{CuttingPlanes, PlaneSet, Round, StructuredProblem, solve_cutting_planes};

/// The weights for each of several `C`, rising; more can follow.
pub(super) struct CostPath {
    pub(super) map: FeatureMap,
    pub(super) costs: Vec<f64>,
    pub(super) weights: Vec<Vec<f64>>,
    pub(super) ends: Vec<(Round, bool)>,
    pub(super) skipped: usize,
    /// What usual prices are counted in.
    unit: f64,
    planes: PlaneSet,
}

/// Whose path it is, told while it is made.
pub(super) struct PathTask<'a> {
    pub(super) table: &'a RankingTable,
    pub(super) settings: &'a RankSettings,
    /// The part that is held out, from 1, and how many there are.
    pub(super) fold: Option<(usize, usize)>,
    pub(super) on_stage: &'a (dyn Fn(&RankStage) + Sync),
}

impl PathTask<'_> {
    /// Weights for these prices, or for the usual ones where there are none.
    pub(super) fn begin(&self, costs: &[f64]) -> Result<CostPath, RankFitError> {
        let (table, settings) = (self.table, self.settings);
        if table.feature_count() == 0 {
            return Err(RankFitError::NoFeatures);
        }
        let map = FeatureMap::fit(settings.effective_features(), table, settings.relevant_from);
        let rows = map.rows(table);
        let problem = self.problem(&rows)?;
        if problem.example_count() == 0 || map.dimension() == 0 {
            return Err(RankFitError::NothingToLearn {
                queries: table.query_count(),
                relevant_from: settings.relevant_from,
            });
        }
        let unit = problem.unit_price();
        let mut path = CostPath {
            map,
            costs: Vec::new(),
            weights: Vec::new(),
            ends: Vec::new(),
            skipped: problem.skipped(),
            unit,
            planes: PlaneSet::default(),
        };
        let costs = match costs.is_empty() {
            true => prices(&USUAL_PRICES, unit),
            false => rising(costs.to_vec()),
        };
        self.solve(&problem, &mut path, &costs)?;
        Ok(path)
    }

    /// Goes on with larger prices.
    pub(super) fn extend(&self, path: &mut CostPath, costs: &[f64]) -> Result<(), RankFitError> {
        let rows = path.map.rows(self.table);
        let problem = self.problem(&rows)?;
        self.solve(&problem, path, costs)
    }

    fn problem<'r>(&'r self, rows: &'r FeatureRows) -> Result<RankProblem<'r>, RankFitError> {
        let (table, settings) = (self.table, self.settings);
        let queries = table.queries().iter();
        let queries: Vec<_> = queries.map(|query| query.rows.clone()).collect();
        let levels = settings.relevant_levels(table);
        Ok(RankProblem::new(
            rows,
            &queries,
            table.grades(),
            &levels,
            settings.loss,
        )?)
    }

    fn solve(
        &self,
        problem: &RankProblem<'_>,
        path: &mut CostPath,
        costs: &[f64],
    ) -> Result<(), RankFitError> {
        for &c in costs {
            let solver = CuttingPlanes {
                c,
                tolerance: self.settings.tolerance,
                ..CuttingPlanes::default()
            };
            let found = solve_cutting_planes(problem, &solver, &mut path.planes, &mut |&round| {
                let fold = self.fold;
                (self.on_stage)(&RankStage { fold, c, round });
            });
            if !found.weights.iter().all(|weight| weight.is_finite()) {
                return Err(crate::FitError::Overflow.into());
            }
            path.costs.push(c);
            path.ends.push((found.end, found.converged));
            path.weights.push(found.weights);
        }
        Ok(())
    }
}

impl CostPath {
    /// The prices that come after the last one: a decade of them at once.
    pub(super) fn further_prices(&self) -> Vec<f64> {
        let last = self.costs.last().copied().unwrap_or(0.0);
        let mut further = prices(&FURTHER_PRICES, self.unit);
        further.retain(|&price| price > last);
        further.truncate(2);
        further
    }

    /// Adds the average precisions of a table's queries by the weights for one price.
    pub(super) fn measure(
        &self,
        price: usize,
        table: &RankingTable,
        settings: &RankSettings,
        sum: &mut PrecisionSum,
    ) {
        let mut scores = vec![0.0; table.row_count()];
        let features = &self.weights[price][..self.map.dimension()];
        self.map
            .rows(table)
            .scores_into(features, 0..table.row_count(), &mut scores);
        sum.add_table(table, &scores, settings.relevant_from);
    }
}

/// Prices in units, each once.
fn prices(units: &[f64], unit: f64) -> Vec<f64> {
    let (least, greatest) = (*PRICE_RANGE.start(), *PRICE_RANGE.end());
    let prices = units.iter().map(|price| readable(price * unit));
    rising(prices.map(|price| price.clamp(least, greatest)).collect())
}

fn rising(mut prices: Vec<f64>) -> Vec<f64> {
    prices.sort_unstable_by(f64::total_cmp);
    prices.dedup();
    prices
}

/// To two digits: no ranking depends on more of them, and a person can repeat them.
fn readable(price: f64) -> f64 {
    format!("{price:.1e}").parse().unwrap_or(price)
}
