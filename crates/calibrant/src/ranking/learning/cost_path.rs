//! Weights for one cost of errors after the other.

use super::parameters::{COST_RANGE, FURTHER_COSTS, USUAL_COSTS};
use super::validation::PrecisionSum;
use super::{FeatureMap, FeatureRows, RankFitError, RankParameters, RankProblem};
use crate::Progress;
use crate::corpus::RankingTable;
use crate::progress::step;
use crate::solvers::{CuttingPlanes, PlaneSet, Round, StructuredProblem, solve_cutting_planes};

/// The weights for each of several `C`, rising; more can follow.
pub(super) struct CostPath {
    pub(super) map: FeatureMap,
    pub(super) costs: Vec<f64>,
    pub(super) weights: Vec<Vec<f64>>,
    pub(super) ends: Vec<(Round, bool)>,
    pub(super) skipped: usize,
    /// What usual costs are counted in.
    unit: f64,
    planes: PlaneSet,
}

/// Whose path it is; every `C` is one step of the progress.
pub(super) struct PathTask<'a> {
    pub(super) table: &'a RankingTable,
    pub(super) settings: &'a RankParameters,
    pub(super) progress: &'a dyn Progress,
}

impl PathTask<'_> {
    /// Weights for these costs, or for the usual ones where there are none.
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
        let unit = problem.unit_cost();
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
            true => in_units(&USUAL_COSTS, unit),
            false => rising(costs.to_vec()),
        };
        self.solve(&problem, &mut path, &costs)?;
        Ok(path)
    }

    /// Goes on with larger costs.
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
            // Who ended the rounds ends the path at the next question.
            let go_on = &mut |_: &Round| self.progress.advance(0);
            let found = solve_cutting_planes(problem, &solver, &mut path.planes, go_on);
            step(self.progress, 1)?;
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
    /// The costs that come after the last one: a decade of them at once.
    pub(super) fn further_costs(&self) -> Vec<f64> {
        let last = self.costs.last().copied().unwrap_or(0.0);
        let mut further = in_units(&FURTHER_COSTS, self.unit);
        further.retain(|&cost| cost > last);
        further.truncate(2);
        further
    }

    /// Adds the average precisions of a table's queries by the weights for one cost.
    pub(super) fn measure(
        &self,
        cost: usize,
        table: &RankingTable,
        settings: &RankParameters,
        sum: &mut PrecisionSum,
    ) {
        let mut scores = vec![0.0; table.row_count()];
        let features = &self.weights[cost][..self.map.dimension()];
        self.map
            .rows(table)
            .scores_into(features, 0..table.row_count(), &mut scores);
        sum.add_table(table, &scores, settings.relevant_from);
    }
}

/// Costs in units, each once.
fn in_units(units: &[f64], unit: f64) -> Vec<f64> {
    let (least, greatest) = (*COST_RANGE.start(), *COST_RANGE.end());
    let costs = units.iter().map(|cost| readable(cost * unit));
    rising(costs.map(|cost| cost.clamp(least, greatest)).collect())
}

fn rising(mut costs: Vec<f64>) -> Vec<f64> {
    costs.sort_unstable_by(f64::total_cmp);
    costs.dedup();
    costs
}

/// To two digits: no ranking depends on more of them, and a person can repeat them.
fn readable(cost: f64) -> f64 {
    format!("{cost:.1e}").parse().unwrap_or(cost)
}
