//! What decisions cost when some errors are worse than others.

use super::forecasts::{EvaluationError, Forecasts, Row};
use super::losses::sum_of_mean;
use crate::Task;
use crate::decision::CostMatrix;
use crate::numeric::StableSum;
use serde::{Deserialize, Serialize};

/// Mean costs (per document for single-label forecasts, per decision for multi-label ones; weighted).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostReport {
    /// Of the decisions that the stated probabilities say are cheapest.
    pub mean_cost: f64,
    /// The same in sum.
    pub sum: f64,
    /// What those decisions cost according to the stated probabilities: far from
    /// [`Self::mean_cost`] means that the probabilities cannot be trusted with these costs.
    pub stated_mean_cost: f64,
    /// Of deciding for what is most probable.
    pub mean_cost_of_most_probable: f64,
    /// Of the constant decision that is cheapest on these documents.
    pub mean_cost_of_constant: f64,
    /// What that decision is: a class, or "yes" or "no".
    pub constant: String,
    /// Of knowing the truth.
    pub mean_cost_of_perfect: f64,
    /// Decisions that differ from the most probable.
    pub changed: usize,
}

/// Decides by expected cost and adds up what it really costs.
///
/// # Formula
/// ```text
/// decide d that minimises  Σ_t P(t) cost(t, d);  ties go to what is most probable
/// ```
///
/// # When it misleads
/// The cheapest constant decision is chosen on the documents that are measured, so it looks a little
/// better than it is.
///
/// ```
/// use calibrant_calibration::{Probability, Task, decision::CostMatrix, evaluation::{Forecasts, cost_report}};
/// let p = Probability::from_log_odds(4f64.ln()); // 0.8 spam, but it is ham
/// let forecasts = Forecasts {
///     task: Task::SingleLabel,
///     class_names: vec!["ham".into(), "spam".into()],
///     probabilities: vec![p.complement(), p],
///     labels: vec![vec![0]].into(),
///     weights: None,
/// };
/// let costs = CostMatrix::new(2, vec![0.0, 20.0, 1.0, 0.0])?;
/// let report = cost_report(&forecasts, &costs)?;
/// // By hand: "spam" would cost 0.2 · 20 = 4 on average, "ham" 0.8 · 1.
/// assert_eq!((report.mean_cost, report.mean_cost_of_most_probable), (0.0, 20.0));
/// assert!((report.stated_mean_cost - 0.8).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
/// ```
pub fn cost_report(
    forecasts: &Forecasts,
    costs: &CostMatrix,
) -> Result<CostReport, EvaluationError> {
    forecasts.check()?;
    forecasts.cost_report(&forecasts.rows(), costs)
}

impl Forecasts {
    pub(super) fn cost_report(
        &self,
        rows: &[Row<'_>],
        costs: &CostMatrix,
    ) -> Result<CostReport, EvaluationError> {
        let classes = self.class_names.len();
        let needed = match self.task {
            Task::SingleLabel => classes,
            Task::MultiLabel => 2,
        };
        if costs.size() != needed {
            return Err(EvaluationError::CostSize {
                needed,
                found: costs.size(),
            });
        }
        let mut sums = CostSums::new(costs);
        match self.task {
            Task::SingleLabel => {
                let mut stated = vec![0.0; classes];
                for row in rows {
                    for (stated, probability) in stated.iter_mut().zip(row.probabilities) {
                        *stated = probability.value();
                    }
                    let truth = row.labels.first().map_or(0, |&label| label as usize);
                    sums.add(&stated, truth, row.top_class(), row.weight);
                }
            }
            Task::MultiLabel => {
                for (probability, happened, weight) in self.points_of(rows) {
                    let stated = [probability.complement().value(), probability.value()];
                    let likelier = usize::from(probability.log_odds() > 0.0);
                    sums.add(&stated, usize::from(happened), likelier, weight);
                }
            }
        }
        let name = |decision: usize| match self.task {
            Task::SingleLabel => self.class_names[decision].clone(),
            Task::MultiLabel => ["no", "yes"][decision.min(1)].to_owned(),
        };
        Ok(sums.report(name))
    }
}

struct CostSums<'a> {
    costs: &'a CostMatrix,
    /// The least cost of each truth, whatever is decided.
    perfect: Vec<f64>,
    weight: StableSum,
    decided: StableSum,
    stated: StableSum,
    likelier: StableSum,
    of_perfect: StableSum,
    truths: Vec<StableSum>,
    changed: usize,
}

impl<'a> CostSums<'a> {
    fn new(costs: &'a CostMatrix) -> Self {
        Self {
            costs,
            perfect: (0..costs.size()).map(|truth| costs.least(truth)).collect(),
            weight: StableSum::default(),
            decided: StableSum::default(),
            stated: StableSum::default(),
            likelier: StableSum::default(),
            of_perfect: StableSum::default(),
            truths: vec![StableSum::default(); costs.size()],
            changed: 0,
        }
    }

    fn add(&mut self, stated: &[f64], truth: usize, likelier: usize, weight: f64) {
        let (best, least) = self.costs.cheapest(stated, likelier);
        self.weight.add(weight);
        self.decided.add(weight * self.costs.cost(truth, best));
        self.stated.add(weight * least);
        self.likelier.add(weight * self.costs.cost(truth, likelier));
        self.of_perfect.add(weight * self.perfect[truth]);
        self.truths[truth].add(weight);
        self.changed += usize::from(best != likelier);
    }

    fn report(self, name: impl Fn(usize) -> String) -> CostReport {
        let weight = self.weight.total();
        let constant_cost = |decision: usize| -> f64 {
            let truths = self.truths.iter().enumerate();
            let costs = truths.map(|(truth, sum)| sum.total() * self.costs.cost(truth, decision));
            costs.collect::<StableSum>().total() / weight
        };
        let mut constant = 0;
        for decision in 1..self.costs.size() {
            if constant_cost(decision) < constant_cost(constant) {
                constant = decision;
            }
        }
        let mean = |sum: StableSum| sum.total() / weight;
        let mean_cost = mean(self.decided);
        CostReport {
            mean_cost,
            sum: sum_of_mean(mean_cost.abs(), weight) * mean_cost.signum(),
            stated_mean_cost: mean(self.stated),
            mean_cost_of_most_probable: mean(self.likelier),
            mean_cost_of_constant: constant_cost(constant),
            constant: name(constant),
            mean_cost_of_perfect: mean(self.of_perfect),
            changed: self.changed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probability;
    use crate::numeric::{Random, log_odds_against_rest};

    fn drawn(task: Task, classes: usize, count: usize) -> Forecasts {
        let mut random = Random::from_seed(11);
        let mut probabilities = Vec::new();
        let mut labels = Vec::new();
        for _ in 0..count {
            let scores: Vec<f64> = (0..classes).map(|_| 1.5 * random.normal()).collect();
            let mut log_odds = scores.clone();
            if task == Task::SingleLabel {
                log_odds_against_rest(&scores, &mut log_odds);
            }
            let row: Vec<Probability> = log_odds
                .into_iter()
                .map(Probability::from_log_odds)
                .collect();
            let mut left = random.uniform();
            labels.push(match task {
                Task::SingleLabel => {
                    let draw = row.iter().position(|p| {
                        left -= p.value();
                        left < 0.0
                    });
                    vec![draw.unwrap_or(classes - 1) as u32]
                }
                Task::MultiLabel => (0..classes as u32)
                    .filter(|&class| random.uniform() < row[class as usize].value())
                    .collect(),
            });
            probabilities.extend(row);
        }
        Forecasts {
            task,
            class_names: (0..classes).map(|class| class.to_string()).collect(),
            probabilities,
            labels: labels.into(),
            weights: Some((0..count).map(|_| 0.5 + random.uniform()).collect()),
        }
    }

    #[test]
    fn equal_costs_leave_the_most_probable_and_cost_the_errors() {
        for (task, size) in [(Task::SingleLabel, 4), (Task::MultiLabel, 2)] {
            let forecasts = drawn(task, 4, 500);
            let report = cost_report(&forecasts, &CostMatrix::zero_one(size)).unwrap();
            let errors = super::super::evaluate(&forecasts).unwrap();
            assert_eq!(report.changed, 0);
            assert_eq!(report.mean_cost, report.mean_cost_of_most_probable);
            assert_eq!(report.mean_cost_of_perfect, 0.0);
            if let Some(accuracy) = errors.accuracy {
                assert!((report.mean_cost - (1.0 - accuracy)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn right_probabilities_make_the_cheapest_decisions_and_know_what_they_cost() {
        for (task, size) in [(Task::SingleLabel, 3), (Task::MultiLabel, 2)] {
            let forecasts = drawn(task, 3, 20_000);
            let costs = CostMatrix::zero_one(size).with_cost(0, 1, 9.0).unwrap();
            let report = cost_report(&forecasts, &costs).unwrap();
            assert!(report.mean_cost < report.mean_cost_of_most_probable);
            assert!(report.mean_cost < report.mean_cost_of_constant);
            assert!((report.mean_cost / report.stated_mean_cost - 1.0).abs() < 0.05);
            assert!(report.changed > 0);
        }
    }

    #[test] // By hand: 3 "no", 1 "yes"; yes for all costs 3 · 1 + 1 · (-8), no for all 0.
    fn benefits_and_constants_agree_with_the_hand() {
        let p = Probability::from_log_odds(-2.0);
        let forecasts = Forecasts {
            task: Task::MultiLabel,
            class_names: vec!["a".into(), "b".into()],
            probabilities: vec![p; 4],
            labels: [vec![], vec![1]].into(),
            weights: None,
        };
        let costs = CostMatrix::new(2, vec![0.0, 1.0, 0.0, -8.0]).unwrap();
        let report = cost_report(&forecasts, &costs).unwrap();
        assert_eq!(
            (report.mean_cost_of_constant, report.constant.as_str()),
            (-1.25, "yes")
        );
        assert_eq!(report.mean_cost_of_perfect, -2.0);
        // p = 0.119: yes is worth 0.881 - 0.954 < 0.
        assert_eq!(
            (report.mean_cost, report.changed, report.sum),
            (-1.25, 4, -5.0)
        );
    }

    #[test]
    fn costs_that_do_not_fit_are_refused() {
        let forecasts = drawn(Task::SingleLabel, 3, 5);
        assert!(cost_report(&forecasts, &CostMatrix::zero_one(2)).is_err());
    }
}
