//! From the probabilities of a document to the decision of least expected cost.

use std::borrow::Cow;

use serde::Serialize;

use super::prediction::{Decision, Prediction, RunnerUp, best_order};
use crate::decision::{ASK, CostEntry, CostError, CostMatrix, Decided, DecisionCosts};
use crate::{Probability, Task};

/// What asking a person about some of the documents is expected to save.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AskReport {
    /// How many documents a person is asked about.
    pub asked: usize,
    /// What all decisions together are expected to cost.
    pub expected_cost: f64,
    /// What they would be expected to cost if nobody were asked.
    pub expected_cost_without: f64,
    /// Whether costs were given: else every wrong answer counts 1 and every question nothing.
    pub by_costs: bool,
}

/// Costs for the classes of a model.
#[derive(Debug, Clone)]
pub(super) struct Decider<'m> {
    entries: Vec<CostEntry>,
    costs: DecisionCosts,
    /// The classes, or `no` and `yes`.
    truths: Vec<&'m str>,
}

/// One document, or one label of it, for a decision.
struct Question {
    stated: Vec<f64>,
    usual: usize,
    label: usize,
}

impl<'m> Decider<'m> {
    /// `names` are the classes, with `other` where it can be said. Without entries what is wrong costs 1.
    pub(super) fn new(
        entries: &[CostEntry],
        task: Task,
        names: &[&'m str],
    ) -> Result<Self, CostError> {
        Ok(Self {
            entries: entries.to_vec(),
            costs: DecisionCosts::new(entries, task, names.iter().copied())?,
            truths: match task {
                Task::SingleLabel => names.to_vec(),
                Task::MultiLabel => vec!["no", "yes"],
            },
        })
    }

    /// What was written.
    pub(super) fn entries(&self) -> &[CostEntry] {
        &self.entries
    }

    /// The fields that costs are read from.
    pub(super) fn fields(&self) -> &[String] {
        self.costs.fields()
    }

    /// Whether so many numbers of a document are what costs are made of.
    pub(super) fn check(&self, amounts: &[f64]) -> Result<(), CostError> {
        let (needed, found) = (self.fields().len(), amounts.len());
        match needed == found {
            true => Ok(()),
            false => Err(CostError::Amounts { needed, found }),
        }
    }

    /// Decides about a document, or about each of its labels that `said` shows. `probabilities` are of all classes. `asked` says
    /// whether a person has time for the document; `None` leaves that to the costs.
    pub(super) fn decide(
        &self,
        probabilities: &[Probability],
        amounts: &[f64],
        asked: Option<bool>,
        said: &mut Prediction<'m>,
    ) {
        match self.costs.task() {
            Task::SingleLabel => {
                let question = self.question(probabilities, 0);
                said.decision = Some(self.decision(&question, amounts, asked));
            }
            Task::MultiLabel => {
                let shown = best_order(probabilities, said.classes.len());
                for (class, label) in said.classes.iter_mut().zip(shown) {
                    let question = self.question(probabilities, label);
                    class.decision = Some(self.decision(&question, amounts, asked));
                }
            }
        }
    }

    /// What a document is expected to cost without asking, and with it.
    pub(super) fn without_and_with(
        &self,
        probabilities: &[Probability],
        amounts: &[f64],
    ) -> (f64, f64) {
        let questions = match self.costs.task() {
            Task::SingleLabel => 1,
            Task::MultiLabel => probabilities.len(),
        };
        let (mut without, mut with) = (0.0, 0.0);
        for label in 0..questions {
            let question = self.question(probabilities, label);
            let costs = self.costs.of_document(label, amounts);
            without += self.without_asking(&costs, &question).expected_cost;
            with += self.cost_of_asking(&costs, &question);
        }
        (without, with)
    }

    fn question(&self, probabilities: &[Probability], label: usize) -> Question {
        match self.costs.task() {
            Task::SingleLabel => Question {
                stated: probabilities.iter().map(|p| p.value()).collect(),
                usual: best_order(probabilities, 1).first().copied().unwrap_or(0),
                label,
            },
            Task::MultiLabel => {
                let p = probabilities[label];
                Question {
                    stated: vec![p.complement().value(), p.value()],
                    usual: usize::from(p.log_odds() > 0.0),
                    label,
                }
            }
        }
    }

    fn decision(&self, question: &Question, amounts: &[f64], asked: Option<bool>) -> Decision<'m> {
        let costs = self.costs.of_document(question.label, amounts);
        let Some(asked) = asked else {
            return self.named(costs.decide(&question.stated, question.usual));
        };
        let decided = self.without_asking(&costs, question);
        if !asked {
            return self.named(decided);
        }
        Decision {
            expected_cost: Some(self.cost_of_asking(&costs, question)),
            runner_up: Some(RunnerUp {
                action: self.action(decided.action),
                expected_cost: decided.expected_cost,
            }),
            ..Decision::new(ASK)
        }
    }

    fn without_asking(&self, costs: &CostMatrix, question: &Question) -> Decided {
        costs.decide_without(&question.stated, question.usual, self.costs.ask())
    }

    /// Nothing where costs do not say.
    fn cost_of_asking(&self, costs: &CostMatrix, question: &Question) -> f64 {
        let ask = self.costs.ask();
        ask.map_or(0.0, |ask| costs.expected(&question.stated, ask))
    }

    fn named(&self, decided: Decided) -> Decision<'m> {
        Decision {
            action: self.action(decided.action),
            expected_cost: Some(decided.expected_cost),
            runner_up: decided.runner_up.map(|(action, expected_cost)| RunnerUp {
                action: self.action(action),
                expected_cost,
            }),
        }
    }

    fn action(&self, action: usize) -> Cow<'m, str> {
        match self.truths.get(action) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(self.costs.actions()[action].clone()),
        }
    }
}
