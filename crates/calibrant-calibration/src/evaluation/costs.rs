//! What decisions cost when some errors are worse than others.

use super::Interval;
use super::forecasts::{EvaluationError, Forecasts, Row};
use super::hindsight::{Candidate, HindsightThreshold, ThresholdOf, best_threshold};
use super::losses::sum_of_mean;
use super::significance::{BootstrapDifference, Resamples};
use crate::Task;
use crate::decision::{CostError, CostMatrix, DecisionCosts};
use crate::numeric::StableSum;
use serde::{Deserialize, Serialize};

/// Mean costs (per document for single-label forecasts, per decision for multi-label ones; weighted).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostReport {
    /// Of the decisions that the stated probabilities say are cheapest.
    pub mean_cost: f64,
    /// The ends of its 95 % interval, by drawing documents (or groups); absent where no intervals were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The same in sum.
    pub sum: f64,
    /// What those decisions cost according to the stated probabilities: far from
    /// [`Self::mean_cost`] means that the probabilities cannot be trusted with these costs.
    pub stated_mean_cost: f64,
    /// Of deciding for what is most probable: always to answer, and never to think of costs.
    pub mean_cost_of_most_probable: f64,
    /// The interval of what is saved against that (below zero: saved), both on the same draws of documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_to_most_probable: Option<Interval>,
    /// Of the constant decision that is cheapest on these documents.
    pub mean_cost_of_constant: f64,
    /// What that decision is: an action, which may be a class, or "yes" or "no".
    pub constant: String,
    /// The interval of what is saved against that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_to_constant: Option<Interval>,
    /// Of never answering, that is, of asking a person always; absent where that has no cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_cost_of_asking: Option<f64>,
    /// The threshold that would have been cheapest: of asking a person below it where that has a cost, else for the second of two
    /// classes; absent where there is neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_threshold: Option<HindsightThreshold>,
    /// Of knowing the truth.
    pub mean_cost_of_perfect: f64,
    /// Decisions that differ from the most probable.
    pub changed: usize,
    /// Every action, how often it was taken and what it cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionCost>,
}

/// One action in a [`CostReport`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionCost {
    /// The action.
    pub action: String,
    /// How many decisions were for it.
    pub decisions: usize,
    /// Their share, by weight.
    pub share: f64,
    /// What they cost in the mean; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_cost: Option<f64>,
    /// What they cost in the mean by the stated probabilities; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_mean_cost: Option<f64>,
    /// What it would cost in the mean if it were taken always.
    pub mean_cost_if_always: f64,
}

/// Decides by expected cost and adds up what it really costs.
///
/// `amounts` has the numbers of [`DecisionCosts::fields`] of every document, one document after the other; empty where costs
/// are the same for all.
///
/// # Formula
/// ```text
/// decide a that minimises  Σ_t P(t) cost(t, a);  ties go to what is most probable
/// ```
///
/// # When it misleads
/// The cheapest constant decision and the best threshold are chosen on the documents that are measured, so they look a little
/// better than they are.
///
/// ```
/// use calibrant_calibration::{Probability, Task, evaluation::{Forecasts, cost_report}};
/// use calibrant_calibration::decision::{CostEntry, DecisionCosts};
/// let p = Probability::from_log_odds(4f64.ln()); // 0.8 spam, but it is ham
/// let forecasts = Forecasts {
///     task: Task::SingleLabel,
///     class_names: vec!["ham".into(), "spam".into()],
///     probabilities: vec![p.complement(), p],
///     labels: vec![vec![0]].into(),
///     weights: None,
/// };
/// let lost = CostEntry::new("ham", "spam", 20.0);
/// let costs = DecisionCosts::new(&[lost], Task::SingleLabel, ["ham", "spam"])?;
/// let report = cost_report(&forecasts, &costs, &[])?;
/// // By hand: "spam" would cost 0.2 · 20 = 4 on average, "ham" 0.8 · 1.
/// assert_eq!((report.mean_cost, report.mean_cost_of_most_probable), (0.0, 20.0));
/// assert!((report.stated_mean_cost - 0.8).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
/// ```
pub fn cost_report(
    forecasts: &Forecasts,
    costs: &DecisionCosts,
    amounts: &[f64],
) -> Result<CostReport, EvaluationError> {
    forecasts.check()?;
    forecasts.cost_report(&forecasts.rows(), costs, amounts, None)
}

impl Forecasts {
    pub(super) fn cost_report(
        &self,
        rows: &[Row<'_>],
        costs: &DecisionCosts,
        amounts: &[f64],
        draws: Option<CostDraws<'_>>,
    ) -> Result<CostReport, EvaluationError> {
        self.check_costs(costs, amounts)?;
        let mut sums = CostSums::new(costs, rows.len());
        self.each_decision(rows, costs, amounts, |decision| sums.add(&decision));
        let constant = sums.constant();
        let mut of_constant = vec![0.0; rows.len()];
        self.each_decision(rows, costs, amounts, |decision| {
            of_constant[decision.row] += decision.costs.cost(decision.truth, constant);
        });
        let in_row = match self.task {
            Task::SingleLabel => 1.0,
            Task::MultiLabel => self.class_names.len() as f64,
        };
        let columns = [&mut sums.decided_of_rows, &mut sums.likelier_of_rows];
        for column in columns.into_iter().chain([&mut of_constant]) {
            column.iter_mut().for_each(|cost| *cost /= in_row);
        }
        let drawn = draws.and_then(|draws| draws.of(rows, &sums, &of_constant));
        Ok(sums.report(constant, drawn))
    }

    /// Whether costs are for these classes, and amounts for these documents.
    pub(super) fn check_costs(
        &self,
        costs: &DecisionCosts,
        amounts: &[f64],
    ) -> Result<(), EvaluationError> {
        let (needed, found) = (self.class_names.len(), costs.class_count());
        if needed != found || costs.task() != self.task {
            return Err(EvaluationError::CostSize { needed, found });
        }
        let needed = self.labels.len() * costs.fields().len();
        if amounts.len() != needed {
            let found = amounts.len();
            return Err(CostError::Amounts { needed, found }.into());
        }
        Ok(())
    }

    /// Every decision of every row: one, or one for each label.
    pub(super) fn each_decision(
        &self,
        rows: &[Row<'_>],
        costs: &DecisionCosts,
        amounts: &[f64],
        mut each: impl FnMut(PricedDecision<'_>),
    ) {
        let fields = costs.fields().len();
        let amounts_of = |row: &Row<'_>| &amounts[row.document * fields..][..fields];
        let mut stated = vec![0.0; self.class_names.len().max(2)];
        for (number, row) in rows.iter().enumerate() {
            if self.task == Task::SingleLabel {
                for (stated, probability) in stated.iter_mut().zip(row.probabilities) {
                    *stated = probability.value();
                }
                each(PricedDecision {
                    row: number,
                    stated: &stated[..row.probabilities.len()],
                    truth: row.labels.first().map_or(0, |&label| label as usize),
                    likelier: row.top_class(),
                    weight: row.weight,
                    costs: &costs.of_document(0, amounts_of(row)),
                });
                continue;
            }
            for (label, probability) in row.probabilities.iter().enumerate() {
                let stated = [probability.complement().value(), probability.value()];
                each(PricedDecision {
                    row: number,
                    stated: &stated,
                    truth: usize::from(row.labels.contains(&(label as u32))),
                    likelier: usize::from(probability.log_odds() > 0.0),
                    weight: row.weight,
                    costs: &costs.of_document(label, amounts_of(row)),
                });
            }
        }
    }
}

/// One decision with what every action would cost.
pub(super) struct PricedDecision<'a> {
    /// Which row.
    pub(super) row: usize,
    /// The probabilities of the truths.
    pub(super) stated: &'a [f64],
    /// What is true.
    pub(super) truth: usize,
    /// What is most probable.
    pub(super) likelier: usize,
    /// The document's weight.
    pub(super) weight: f64,
    /// What actions cost here.
    pub(super) costs: &'a CostMatrix,
}

/// How intervals of costs are drawn.
#[derive(Clone, Copy)]
pub(super) struct CostDraws<'a> {
    /// For each document the group that it is drawn with.
    pub(super) groups: &'a [Option<u64>],
    /// How often.
    pub(super) replicates: usize,
    /// The seed.
    pub(super) seed: u64,
}

/// The mean cost, and what it is less than others, over draws of documents.
struct DrawnCosts {
    mean: BootstrapDifference,
    to_most_probable: BootstrapDifference,
    to_constant: BootstrapDifference,
}

impl CostDraws<'_> {
    /// `None` where there is too little to draw from.
    fn of(&self, rows: &[Row<'_>], sums: &CostSums<'_>, of_constant: &[f64]) -> Option<DrawnCosts> {
        let weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
        let group_of = |row: &Row<'_>| self.groups.get(row.document).copied().flatten();
        let groups: Vec<Option<u64>> = rows.iter().map(group_of).collect();
        let nothing = vec![0.0; rows.len()];
        let columns = [
            sums.decided_of_rows.as_slice(),
            &nothing,
            &sums.likelier_of_rows,
            of_constant,
        ];
        let drawn = Resamples::draw(&columns, &weights, &groups, self.replicates, self.seed);
        drawn.can_tell().then(|| DrawnCosts {
            mean: drawn.difference(0, 1, 0.95),
            to_most_probable: drawn.difference(0, 2, 0.95),
            to_constant: drawn.difference(0, 3, 0.95),
        })
    }
}

struct CostSums<'a> {
    costs: &'a DecisionCosts,
    weight: StableSum,
    stated: StableSum,
    of_perfect: StableSum,
    decided: StableSum,
    likelier: StableSum,
    /// Sums over the decisions of each row.
    decided_of_rows: Vec<f64>,
    likelier_of_rows: Vec<f64>,
    actions: Vec<ActionSums>,
    /// For the best threshold in hindsight, where there can be one.
    threshold_of: Option<ThresholdOf>,
    candidates: Vec<Candidate>,
    changed: usize,
}

#[derive(Clone, Default)]
struct ActionSums {
    decisions: usize,
    weight: StableSum,
    cost: StableSum,
    stated: StableSum,
    /// If it were taken always.
    always: StableSum,
}

impl<'a> CostSums<'a> {
    fn new(costs: &'a DecisionCosts, rows: usize) -> Self {
        let threshold_of = match (costs.ask(), costs.truth_count()) {
            (Some(_), _) => Some(ThresholdOf::MostProbable),
            (None, 2) => Some(ThresholdOf::Second),
            _ => None,
        };
        Self {
            costs,
            weight: StableSum::default(),
            stated: StableSum::default(),
            of_perfect: StableSum::default(),
            decided: StableSum::default(),
            likelier: StableSum::default(),
            decided_of_rows: vec![0.0; rows],
            likelier_of_rows: vec![0.0; rows],
            actions: vec![ActionSums::default(); costs.actions().len()],
            threshold_of,
            candidates: Vec::new(),
            changed: 0,
        }
    }

    fn add(&mut self, decision: &PricedDecision<'_>) {
        let PricedDecision {
            row,
            truth,
            likelier,
            weight,
            costs,
            stated,
        } = *decision;
        let (best, least) = costs.cheapest(stated, likelier);
        let (decided, of_likelier) = (costs.cost(truth, best), costs.cost(truth, likelier));
        self.weight.add(weight);
        self.decided.add(weight * decided);
        self.likelier.add(weight * of_likelier);
        self.decided_of_rows[row] += decided;
        self.likelier_of_rows[row] += of_likelier;
        self.stated.add(weight * least);
        self.of_perfect.add(weight * costs.least(truth));
        for (action, sums) in self.actions.iter_mut().enumerate() {
            sums.always.add(weight * costs.cost(truth, action));
        }
        let taken = &mut self.actions[best];
        taken.decisions += 1;
        taken.weight.add(weight);
        taken.cost.add(weight * decided);
        taken.stated.add(weight * least);
        let (probability, from, below) = match (self.threshold_of, self.costs.ask()) {
            (Some(ThresholdOf::MostProbable), Some(ask)) => {
                (stated[likelier], of_likelier, costs.cost(truth, ask))
            }
            (Some(_), _) => (stated[1], costs.cost(truth, 1), costs.cost(truth, 0)),
            (None, _) => (0.0, 0.0, 0.0),
        };
        if self.threshold_of.is_some() {
            self.candidates.push(Candidate {
                probability,
                weight,
                from: weight * from,
                below: weight * below,
            });
        }
        self.changed += usize::from(best != likelier);
    }

    /// The constant action that is cheapest.
    fn constant(&self) -> usize {
        let always = |action: usize| self.actions[action].always.total();
        let better = |best: usize, action: usize| match always(action) < always(best) {
            true => action,
            false => best,
        };
        (1..self.actions.len()).fold(0, better)
    }

    fn report(self, constant: usize, drawn: Option<DrawnCosts>) -> CostReport {
        let weight = self.weight.total();
        let mean = |sum: StableSum| sum.total() / weight;
        let mean_cost = mean(self.decided);
        let always = |action: usize| self.actions[action].always.total() / weight;
        let less = |other: f64, of: fn(&DrawnCosts) -> &BootstrapDifference| {
            drawn.as_ref().map(|drawn| Interval {
                value: mean_cost - other,
                lower: of(drawn).lower,
                upper: of(drawn).upper,
            })
        };
        let mean_cost_of_most_probable = mean(self.likelier);
        let named = self.costs.actions().iter().zip(&self.actions);
        let actions = named.map(|(action, sums)| {
            let taken = sums.weight.total();
            let of_taken = |sum: StableSum| (sums.decisions > 0).then(|| sum.total() / taken);
            ActionCost {
                action: action.clone(),
                decisions: sums.decisions,
                share: taken / weight,
                mean_cost: of_taken(sums.cost),
                stated_mean_cost: of_taken(sums.stated),
                mean_cost_if_always: sums.always.total() / weight,
            }
        });
        CostReport {
            mean_cost,
            interval: less(0.0, |drawn| &drawn.mean),
            sum: sum_of_mean(mean_cost.abs(), weight) * mean_cost.signum(),
            stated_mean_cost: mean(self.stated),
            mean_cost_of_most_probable,
            difference_to_most_probable: less(mean_cost_of_most_probable, |drawn| {
                &drawn.to_most_probable
            }),
            mean_cost_of_constant: always(constant),
            constant: self.costs.actions()[constant].clone(),
            difference_to_constant: less(always(constant), |drawn| &drawn.to_constant),
            mean_cost_of_asking: self.costs.ask().map(always),
            best_threshold: self
                .threshold_of
                .and_then(|of| best_threshold(of, self.candidates.clone())),
            mean_cost_of_perfect: mean(self.of_perfect),
            changed: self.changed,
            actions: actions.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probability;
    use crate::decision::CostEntry;
    use crate::numeric::{Random, log_odds_against_rest};

    fn matrix(forecasts: &Forecasts, matrix: CostMatrix) -> DecisionCosts {
        let names = forecasts.class_names.iter().map(String::as_str);
        DecisionCosts::of_matrix(matrix, forecasts.task, names).unwrap()
    }

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
            let costs = matrix(&forecasts, CostMatrix::zero_one(size));
            let report = cost_report(&forecasts, &costs, &[]).unwrap();
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
            let report = cost_report(&forecasts, &matrix(&forecasts, costs), &[]).unwrap();
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
        let report = cost_report(&forecasts, &matrix(&forecasts, costs), &[]).unwrap();
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
        let two = DecisionCosts::zero_one(Task::SingleLabel, ["0", "1"]);
        assert!(cost_report(&forecasts, &two, &[]).is_err());
        let several = DecisionCosts::zero_one(Task::MultiLabel, ["0", "1", "2"]);
        assert!(cost_report(&forecasts, &several, &[]).is_err());
        let three = DecisionCosts::zero_one(Task::SingleLabel, ["0", "1", "2"]);
        assert!(cost_report(&forecasts, &three, &[1.0]).is_err());
    }

    #[test] // By hand: a wrong refund 50, other mistakes 5, a person 2.
    fn asking_and_thresholds_agree_with_the_hand() {
        let entries = [("*", "*", 5.0), ("*", "refund", 50.0), ("*", "ask", 2.0)]
            .map(|(truth, action, cost)| CostEntry::new(truth, action, cost));
        let names = ["order", "refund"];
        let costs = DecisionCosts::new(&entries, Task::SingleLabel, names).unwrap();
        // 0.99 refund and a refund; 0.9 refund and an order; 0.9 order and an order; 0.55 order and a refund.
        let stated =
            [0.99f64, 0.9, 0.1, 0.45].map(|p| Probability::from_log_odds((p / (1.0 - p)).ln()));
        let forecasts = Forecasts {
            task: Task::SingleLabel,
            class_names: names.map(str::to_owned).to_vec(),
            probabilities: stated.iter().flat_map(|p| [p.complement(), *p]).collect(),
            labels: [vec![1], vec![0], vec![0], vec![1]].into(),
            weights: None,
        };
        let report = cost_report(&forecasts, &costs, &[]).unwrap();
        // Refund costs 0.01 · 50 = 0.5; the second 0.1 · 50 = 5 as a refund, so ask; order 0.1 · 5 = 0.5; the last
        // 0.45 · 5 = 2.25, so ask.
        let taken: Vec<usize> = report
            .actions
            .iter()
            .map(|action| action.decisions)
            .collect();
        assert_eq!(taken, [1, 1, 2]);
        assert!((report.mean_cost - 4.0 / 4.0).abs() < 1e-12);
        assert!((report.stated_mean_cost - 5.0 / 4.0).abs() < 1e-12);
        assert!((report.mean_cost_of_most_probable - 55.0 / 4.0).abs() < 1e-12);
        assert_eq!(report.mean_cost_of_asking, Some(2.0));
        assert_eq!(
            (report.constant.as_str(), report.mean_cost_of_constant),
            ("ask", 2.0)
        );
        // Only the first is answered: 0 + 3 · 2.
        let best = report.best_threshold.unwrap();
        assert_eq!((best.of, best.mean_cost), (ThresholdOf::MostProbable, 1.5));
        assert!((best.threshold - 0.99).abs() < 1e-12 && best.share == 0.25);
        assert_eq!(report.changed, 2);
    }

    #[test] // By hand: missed fraud costs its amount, a check 10.
    fn amounts_of_documents_decide() {
        let missed: crate::decision::CostAmount = "@amount".parse().unwrap();
        let entries = [
            CostEntry::new("fraud", "fine", missed),
            CostEntry::new("fine", "fraud", 10.0),
        ];
        let costs = DecisionCosts::new(&entries, Task::SingleLabel, ["fine", "fraud"]).unwrap();
        let p = Probability::from_log_odds((0.1f64 / 0.9).ln());
        let forecasts = Forecasts {
            task: Task::SingleLabel,
            class_names: vec!["fine".into(), "fraud".into()],
            probabilities: vec![p.complement(), p, p.complement(), p],
            labels: [vec![1], vec![0]].into(),
            weights: None,
        };
        // 0.1 · 1000 > 0.9 · 10 > 0.1 · 20.
        let report = cost_report(&forecasts, &costs, &[1000.0, 20.0]).unwrap();
        assert_eq!((report.mean_cost, report.changed), (0.0, 1));
        assert_eq!(report.mean_cost_of_most_probable, 500.0);
        assert_eq!(report.best_threshold.unwrap().of, ThresholdOf::Second);
        assert!(cost_report(&forecasts, &costs, &[1000.0]).is_err());
    }

    #[test]
    fn intervals_hold_the_mean_and_what_is_saved() {
        let forecasts = drawn(Task::SingleLabel, 3, 2_000);
        let costs = matrix(
            &forecasts,
            CostMatrix::zero_one(3).with_cost(0, 1, 9.0).unwrap(),
        );
        let draws = CostDraws {
            groups: &[],
            replicates: 500,
            seed: 1,
        };
        let report = forecasts
            .cost_report(&forecasts.rows(), &costs, &[], Some(draws))
            .unwrap();
        let interval = report.interval.unwrap();
        assert!(interval.lower < report.mean_cost && report.mean_cost < interval.upper);
        // Stated probabilities are the truth here, and the stated mean is within the interval.
        assert!(
            interval.lower < report.stated_mean_cost && report.stated_mean_cost < interval.upper
        );
        assert!(report.difference_to_most_probable.unwrap().upper < 0.0);
        assert!(report.difference_to_constant.unwrap().upper < 0.0);
        let written = serde_json::to_string(&report).unwrap();
        assert_eq!(
            serde_json::from_str::<CostReport>(&written).unwrap(),
            report
        );
    }
}
