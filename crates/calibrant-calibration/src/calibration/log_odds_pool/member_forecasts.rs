//! What several models say about the same held-out examples.

use super::evidence;
use crate::{CalibrationError, Probability, Task};

/// Forecasts of several models for examples that none of them learned from, with the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberForecasts {
    task: Task,
    member_count: usize,
    class_count: usize,
    /// Example after example, member after member, class after class.
    evidence: Vec<f64>,
    labels: Vec<Vec<u32>>,
    weights: Vec<f64>,
}

impl MemberForecasts {
    /// None yet.
    pub fn new(task: Task, member_count: usize, class_count: usize) -> Self {
        Self {
            task,
            member_count,
            class_count,
            evidence: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Adds an example: for each member the probability of each class.
    pub fn push(
        &mut self,
        members: &[&[Probability]],
        labels: &[u32],
        weight: f64,
    ) -> Result<(), CalibrationError> {
        let classes = members.iter().map(|classes| classes.len());
        let whole = members.len() == self.member_count
            && classes.clone().all(|classes| classes == self.class_count);
        if !whole {
            return Err(CalibrationError::LengthMismatch {
                left_name: "the table of members and classes",
                left: self.member_count * self.class_count,
                right_name: "an example",
                right: classes.sum(),
            });
        }
        let bad = |setting, requirement, value: String| {
            Err(CalibrationError::BadSetting {
                setting,
                requirement,
                value,
            })
        };
        if !(weight.is_finite() && weight > 0.0) {
            return bad("a weight", "a positive number", weight.to_string());
        }
        let unknown = labels
            .iter()
            .find(|&&label| label as usize >= self.class_count);
        if let Some(label) = unknown {
            return bad("a label", "the number of a class", label.to_string());
        }
        if self.task == Task::SingleLabel && labels.len() != 1 {
            let found = labels.len().to_string();
            return bad("the number of labels", "one an example", found);
        }
        let mut labels = labels.to_vec();
        labels.sort_unstable();
        labels.dedup();
        let stated = members.iter().flat_map(|classes| classes.iter());
        self.evidence
            .extend(stated.map(|&probability| evidence(self.task, probability)));
        self.labels.push(labels);
        self.weights.push(weight);
        Ok(())
    }

    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// One label an example or several.
    pub fn task(&self) -> Task {
        self.task
    }

    /// How many models there are.
    pub fn member_count(&self) -> usize {
        self.member_count
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// The labels of every example, rising.
    pub fn labels(&self) -> &[Vec<u32>] {
        &self.labels
    }

    /// How much every example counts.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// What the members say about an example, member after member.
    pub fn evidence(&self, row: usize) -> &[f64] {
        let width = self.member_count * self.class_count;
        &self.evidence[row * width..][..width]
    }
}
