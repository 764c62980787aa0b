//! What every system's decisions would have cost.

use super::{
    BootstrapDifference, CompareSettings, ComparedSystem, Comparison, LossDifference, MarkedLoss,
    winner,
};
use crate::Task;
use crate::decision::DecisionCosts;
use crate::evaluation::forecasts::{EvaluationError, Forecasts, Row};
use crate::evaluation::significance::{Resamples, SignTest, wilcoxon_signed_rank};
use crate::evaluation::units::Units;
use crate::numeric::StableSum;

/// What decisions cost on the documents of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct CostsOfDocuments<'a> {
    /// The costs.
    pub costs: &'a DecisionCosts,
    /// The numbers of [`DecisionCosts::fields`], document by document; empty where costs are the same for all.
    pub amounts: &'a [f64],
}

/// As [`compare_groups`](super::compare_groups), also by the mean cost of each system's decisions of least expected cost.
///
/// ```
/// use calibrant_calibration::{Probability, Task, evaluation::{CompareSettings, CostsOfDocuments, Forecasts, compare_with_costs}};
/// use calibrant_calibration::decision::{CostEntry, DecisionCosts};
/// let said = |log_odds: f64| Forecasts {
///     task: Task::SingleLabel,
///     class_names: vec!["ham".into(), "spam".into()],
///     probabilities: [-log_odds, log_odds].map(Probability::from_log_odds).repeat(10),
///     labels: vec![vec![0]; 10].into(),
///     weights: None,
/// };
/// let costs = DecisionCosts::new(&[CostEntry::new("ham", "spam", 20.0)], Task::SingleLabel, ["ham", "spam"])?;
/// let costs = CostsOfDocuments { costs: &costs, amounts: &[] };
/// let systems = [("sure", &said(4.0)), ("unsure", &said(1.0))];
/// let found = compare_with_costs(&systems, &[], costs, &CompareSettings::default())?;
/// // By hand: 0.982 spam is worth 0.018 · 20 < 0.982, 0.731 is not; both call it spam, and all is ham.
/// let means = found.systems.iter().map(|system| system.cost.as_ref().unwrap().mean);
/// assert_eq!(means.collect::<Vec<_>>(), [20.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare_with_costs(
    systems: &[(&str, &Forecasts)],
    groups: &[Option<u64>],
    costs: CostsOfDocuments<'_>,
    settings: &CompareSettings,
) -> Result<Comparison, EvaluationError> {
    let mut comparison = super::compare_groups(systems, groups, settings)?;
    let rows = systems[0].1.rows();
    let columns: Vec<Vec<f64>> = systems
        .iter()
        .map(|(_, forecasts)| forecasts.costs_of_rows(costs))
        .collect::<Result<_, _>>()?;
    let in_document = match comparison.task {
        Task::SingleLabel => 1.0,
        Task::MultiLabel => systems[0].1.class_names.len() as f64,
    };
    for (system, column) in comparison.systems.iter_mut().zip(&columns) {
        system.cost = Some(unmarked(&rows, column, in_document));
    }
    add_pairs(&mut comparison, &columns, &rows, groups, settings);
    mark(&mut comparison, settings.level);
    Ok(comparison)
}

impl Forecasts {
    /// What the decisions of least expected cost really cost, in the mean of each row.
    fn costs_of_rows(&self, given: CostsOfDocuments<'_>) -> Result<Vec<f64>, EvaluationError> {
        let CostsOfDocuments { costs, amounts } = given;
        self.check_costs(costs, amounts)?;
        let rows = self.rows();
        let mut sums = vec![(0.0, 0.0); rows.len()];
        self.each_decision(&rows, costs, amounts, |decision| {
            let (best, _) = decision.costs.cheapest(decision.stated, decision.likelier);
            let (sum, count) = &mut sums[decision.row];
            *sum += decision.costs.cost(decision.truth, best);
            *count += 1.0;
        });
        Ok(sums.into_iter().map(|(sum, count)| sum / count).collect())
    }
}

fn unmarked(rows: &[Row<'_>], column: &[f64], in_document: f64) -> MarkedLoss {
    let weight: StableSum = rows.iter().map(|row| row.weight).collect();
    let costs = rows.iter().zip(column).map(|(row, cost)| row.weight * cost);
    let sum = costs.collect::<StableSum>().total();
    MarkedLoss {
        mean: sum / weight.total(),
        sum: (sum * in_document).clamp(f64::MIN, f64::MAX),
        best: false,
        significantly_best: false,
        significantly_better_than: Vec::new(),
    }
}

fn add_pairs(
    comparison: &mut Comparison,
    columns: &[Vec<f64>],
    rows: &[Row<'_>],
    groups: &[Option<u64>],
    settings: &CompareSettings,
) {
    let units = Units::of_rows(rows, groups);
    let resamples = (settings.bootstrap > 0)
        .then(|| draw(columns, rows, groups, settings))
        .filter(Resamples::can_tell);
    let numbers = super::pair_numbers(columns.len());
    for (pair, &(first, second)) in comparison.pairs.iter_mut().zip(&numbers) {
        let [ours, theirs] = [first, second].map(|number| &comparison.systems[number]);
        let mean = |system: &ComparedSystem| system.cost.as_ref().map_or(0.0, |cost| cost.mean);
        let (sign, differences) = of_units(&columns[first], &columns[second], &units);
        pair.cost = Some(LossDifference {
            difference: mean(ours) - mean(theirs),
            sign,
            wilcoxon: wilcoxon_signed_rank(&differences),
            bootstrap: resamples.as_ref().map(|resamples| -> BootstrapDifference {
                resamples.difference(first, second, settings.confidence)
            }),
        });
    }
}

/// Which of two was cheaper in more of the documents of a unit, and by how much in their mean.
fn of_units(ours: &[f64], theirs: &[f64], units: &Units) -> (SignTest, Vec<f64>) {
    let mut counts = [0u64; 3];
    let mut differences = Vec::with_capacity(units.count());
    for unit in 0..units.count() {
        let rows = units.documents(unit);
        let (mut votes, mut sum) = (0i64, 0.0);
        for &row in rows {
            let (ours, theirs) = (ours[row as usize], theirs[row as usize]);
            votes += theirs.total_cmp(&ours) as i64;
            sum += ours - theirs;
        }
        counts[(votes.signum() + 1) as usize] += 1;
        differences.push(sum / rows.len() as f64);
    }
    let [losses, ties, wins] = counts;
    (SignTest::of_counts(wins, losses, ties), differences)
}

fn draw(
    columns: &[Vec<f64>],
    rows: &[Row<'_>],
    groups: &[Option<u64>],
    settings: &CompareSettings,
) -> Resamples {
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
    let group_of = |row: &Row<'_>| groups.get(row.document).copied().flatten();
    let groups: Vec<Option<u64>> = rows.iter().map(group_of).collect();
    let (draws, seed) = (settings.bootstrap, settings.seed);
    Resamples::draw(&columns, &weights, &groups, draws, seed)
}

/// Says of every cost whether it is the least, and than which others it is significantly less.
fn mark(comparison: &mut Comparison, level: f64) {
    let systems = &mut comparison.systems;
    let sum = |system: &ComparedSystem| system.cost.as_ref().map_or(f64::NAN, |cost| cost.sum);
    let sums: Vec<f64> = systems.iter().map(sum).collect();
    let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
    let numbers = super::pair_numbers(systems.len());
    for (&(first, second), pair) in numbers.iter().zip(&comparison.pairs) {
        let Some(found) = &pair.cost else { continue };
        let better = match winner(found, sums[first], sums[second], level) {
            Some(true) => (first, second),
            Some(false) => (second, first),
            None => continue,
        };
        let name = systems[better.1].name.clone();
        if let Some(cost) = &mut systems[better.0].cost {
            cost.significantly_better_than.push(name);
        }
    }
    let others = systems.len() - 1;
    for (system, &sum) in systems.iter_mut().zip(&sums) {
        if let Some(cost) = &mut system.cost {
            cost.best = sum == least;
            cost.significantly_best = cost.significantly_better_than.len() == others;
        }
    }
}
