//! A problem of many classes, as every learner is given it.

use super::{ClassFactors, ClassLabels};
use crate::features::SparseMatrix;

/// What is known of every row: its classes and how much it counts.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a> {
    /// The classes of the rows.
    pub labels: &'a ClassLabels,
    /// How much each row counts.
    pub weights: &'a [f64],
    /// How much more the sides of each output's problem count.
    pub factors: &'a ClassFactors,
    /// For each class, the column that holds the strength of its rule; empty where no rules speak of classes.
    pub rule_columns: &'a [Option<u32>],
}

impl<'a> Targets<'a> {
    /// Without rules.
    pub fn new(labels: &'a ClassLabels, weights: &'a [f64], factors: &'a ClassFactors) -> Self {
        Self {
            labels,
            weights,
            factors,
            rule_columns: &[],
        }
    }

    /// The problem of learning from some rows.
    pub fn among(&self, rows: &'a SparseMatrix, members: &'a [u32]) -> Problem<'a> {
        Problem {
            rows,
            labels: self.labels,
            weights: self.weights,
            factors: self.factors,
            rule_columns: self.rule_columns,
            members,
        }
    }
}

/// Rows with their classes, and which of them may be learned from.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// All rows.
    pub rows: &'a SparseMatrix,
    /// The classes of the rows.
    pub labels: &'a ClassLabels,
    /// How much each row counts.
    pub weights: &'a [f64],
    /// How much more the sides of each output's problem count.
    pub factors: &'a ClassFactors,
    /// For each class, the column that holds the strength of its rule; empty where no rules speak of classes.
    pub rule_columns: &'a [Option<u32>],
    /// The numbers of the rows to learn from, rising.
    pub members: &'a [u32],
}
