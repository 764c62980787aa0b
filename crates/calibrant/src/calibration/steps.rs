//! A step function of the score.

use serde::{Deserialize, Serialize};

use crate::Probability;

/// Edges, rising, and the log-odds of each step: one more than there are edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedSteps")]
pub(super) struct Steps {
    edges: Vec<f64>,
    log_odds: Vec<f64>,
}

impl Steps {
    /// `None` where edges do not rise, the numbers of edges and steps do not fit, or a number is
    /// not finite. Neighbouring steps of the same height become one.
    pub(super) fn new(mut edges: Vec<f64>, mut log_odds: Vec<f64>) -> Option<Self> {
        let usable = log_odds.len() == edges.len() + 1
            && edges.iter().all(|edge| edge.is_finite())
            && log_odds
                .iter()
                .all(|log_odds| log_odds.abs() <= Probability::MAX_LOG_ODDS)
            && edges.windows(2).all(|pair| pair[0] < pair[1]);
        if !usable {
            return None;
        }
        let mut step = 0;
        edges.retain(|_| {
            step += 1;
            log_odds[step] != log_odds[step - 1]
        });
        log_odds.dedup();
        edges.shrink_to_fit();
        log_odds.shrink_to_fit();
        Some(Self { edges, log_odds })
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.log_odds.len()
    }

    /// Whether no step is lower than the one before.
    pub(super) fn rises(&self) -> bool {
        self.log_odds.is_sorted()
    }

    /// The log-odds at a score; at an edge those of the step to its right.
    #[inline]
    pub(super) fn right_at_edges(&self, score: f64) -> f64 {
        self.log_odds[self.edges.partition_point(|&edge| edge <= score)]
    }

    /// The log-odds at a score; at an edge those of the step to its left.
    #[inline]
    pub(super) fn left_at_edges(&self, score: f64) -> f64 {
        self.log_odds[self.edges.partition_point(|&edge| edge < score)]
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSteps {
    edges: Vec<f64>,
    log_odds: Vec<f64>,
}

impl TryFrom<SavedSteps> for Steps {
    type Error = &'static str;

    fn try_from(saved: SavedSteps) -> Result<Self, Self::Error> {
        Self::new(saved.edges, saved.log_odds)
            .ok_or("steps need finite numbers, rising edges and one more log-odds than edges")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_become_one_step() {
        let steps = Steps::new(vec![0.0, 1.0, 2.0], vec![-1.0, -1.0, 3.0, 3.0]).unwrap();
        assert_eq!(
            steps,
            Steps {
                edges: vec![1.0],
                log_odds: vec![-1.0, 3.0]
            }
        );
        assert_eq!(
            (steps.right_at_edges(1.0), steps.left_at_edges(1.0)),
            (3.0, -1.0)
        );
        assert!(steps.rises());
        for score in [f64::NEG_INFINITY, f64::NAN, 1e308] {
            assert!(steps.right_at_edges(score).is_finite());
        }
    }

    #[test]
    fn bad_steps_are_refused() {
        for (edges, log_odds) in [
            (vec![], vec![]),
            (vec![1.0], vec![1.0]),
            (vec![1.0, 1.0], vec![1.0, 2.0, 3.0]),
            (vec![f64::NAN], vec![1.0, 2.0]),
            (vec![1.0], vec![1.0, f64::NAN]),
            (vec![1.0], vec![1.0, 1e16]),
        ] {
            assert_eq!(Steps::new(edges, log_odds), None);
        }
    }
}
