//! A step function of the score.

use serde::{Deserialize, Serialize};

use crate::Probability;

/// Edges, rising, and the height of each step (log-odds, mostly): one more than there are edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedSteps")]
pub(super) struct Steps {
    edges: Vec<f64>,
    heights: Vec<f64>,
}

impl Steps {
    /// `None` where edges do not rise, the numbers of edges and steps do not fit, or a number is
    /// not finite. Neighbouring steps of the same height become one.
    pub(super) fn new(mut edges: Vec<f64>, mut heights: Vec<f64>) -> Option<Self> {
        let usable = heights.len() == edges.len() + 1
            && edges.iter().all(|edge| edge.is_finite())
            && heights
                .iter()
                .all(|height| height.abs() <= Probability::MAX_LOG_ODDS)
            && edges.windows(2).all(|pair| pair[0] < pair[1]);
        if !usable {
            return None;
        }
        let mut step = 0;
        edges.retain(|_| {
            step += 1;
            heights[step] != heights[step - 1]
        });
        heights.dedup();
        edges.shrink_to_fit();
        heights.shrink_to_fit();
        Some(Self { edges, heights })
    }

    /// The same steps with other heights, which are finite.
    pub(super) fn map(&self, height: impl Fn(f64) -> f64) -> Self {
        Self {
            edges: self.edges.clone(),
            heights: self.heights.iter().map(|&old| height(old)).collect(),
        }
    }

    /// The mean of at least one step function, itself one.
    pub(super) fn mean_of(parts: &[&Self]) -> Self {
        let mean = |of: &dyn Fn(&Self) -> f64| {
            parts.iter().map(|part| of(part)).sum::<f64>() / parts.len() as f64
        };
        let mut edges: Vec<f64> = parts.iter().flat_map(|part| part.edges.clone()).collect();
        edges.sort_unstable_by(f64::total_cmp);
        edges.dedup();
        let mut heights = Vec::with_capacity(edges.len() + 1);
        heights.push(mean(&|part| part.heights[0]));
        heights.extend(
            edges
                .iter()
                .map(|&edge| mean(&|part| part.right_at_edges(edge))),
        );
        Self { edges, heights }
    }

    /// Where one step ends and the next begins, rising.
    pub(super) fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.heights.len()
    }

    /// Whether no step is lower than the one before.
    pub(super) fn rises(&self) -> bool {
        self.heights.is_sorted()
    }

    /// The height at a score; at an edge that of the step to its right.
    #[inline]
    pub(super) fn right_at_edges(&self, score: f64) -> f64 {
        self.heights[self.edges.partition_point(|&edge| edge <= score)]
    }

    /// The height at a score; at an edge that of the step to its left.
    #[inline]
    pub(super) fn left_at_edges(&self, score: f64) -> f64 {
        self.heights[self.edges.partition_point(|&edge| edge < score)]
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSteps {
    edges: Vec<f64>,
    heights: Vec<f64>,
}

impl TryFrom<SavedSteps> for Steps {
    type Error = &'static str;

    fn try_from(saved: SavedSteps) -> Result<Self, Self::Error> {
        Self::new(saved.edges, saved.heights)
            .ok_or("steps need finite numbers, rising edges and one more height than edges")
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
                heights: vec![-1.0, 3.0]
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
    fn the_mean_of_steps_is_their_mean_everywhere() {
        let parts = [
            Steps::new(vec![0.0, 1.0], vec![-1.0, 0.0, 3.0]).unwrap(),
            Steps::new(vec![], vec![1.0]).unwrap(),
            Steps::new(vec![-0.0, 0.5], vec![-4.0, 2.0, 7.0]).unwrap(),
        ];
        let mean = Steps::mean_of(&parts.each_ref());
        for score in [-1.0, 0.0, 0.2, 0.5, 0.7, 1.0, 2.0] {
            let right: f64 = parts.iter().map(|part| part.right_at_edges(score)).sum();
            let left: f64 = parts.iter().map(|part| part.left_at_edges(score)).sum();
            assert!((mean.right_at_edges(score) - right / 3.0).abs() < 1e-15);
            assert!((mean.left_at_edges(score) - left / 3.0).abs() < 1e-15);
        }
    }

    #[test]
    fn bad_steps_are_refused() {
        for (edges, heights) in [
            (vec![], vec![]),
            (vec![1.0], vec![1.0]),
            (vec![1.0, 1.0], vec![1.0, 2.0, 3.0]),
            (vec![f64::NAN], vec![1.0, 2.0]),
            (vec![1.0], vec![1.0, f64::NAN]),
            (vec![1.0], vec![1.0, 1e16]),
        ] {
            assert_eq!(Steps::new(edges, heights), None);
        }
    }
}
