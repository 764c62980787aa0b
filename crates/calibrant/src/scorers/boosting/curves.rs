//! The stumps of each feature put together: a step curve for each output that asks about it.

use std::ops::Range;

use super::stump::{AdaBoostModel, Stump};
use crate::features::RowView;

/// For each feature and output, what a value adds to the output beyond what zero adds.
///
/// Stumps of one feature sum to a function that is constant between thresholds. A row's entry finds its
/// step by bisection, and features that a row does not have cost nothing.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    /// The features that any stump asks about, rising. Only these take memory, whatever features there are.
    columns: Vec<u32>,
    /// Where the curves of each of them begin; one more at the end.
    starts: Vec<u32>,
    /// The output of each curve.
    outputs: Vec<u32>,
    /// Where the steps of each curve begin; one more at the end.
    first_steps: Vec<u32>,
    /// The largest value of each step; infinite for the last of a curve.
    uppers: Vec<f64>,
    /// What each step adds.
    heights: Vec<f64>,
}

/// A jump of a curve.
struct Jump {
    column: u32,
    output: u32,
    threshold: f64,
    height: f64,
}

impl Curves {
    /// The curves of committees, one per output; `None` where there are too many stumps or a sum is
    /// not finite.
    pub(super) fn new(models: &[AdaBoostModel]) -> Option<Self> {
        let count: usize = models.iter().map(|model| model.stumps.len()).sum();
        u32::try_from(count.checked_mul(2)?).ok()?;
        let mut jumps = Vec::with_capacity(count);
        for (output, model) in models.iter().enumerate() {
            let jump = |stump: &Stump| Jump {
                column: stump.column,
                output: output as u32,
                threshold: stump.threshold,
                height: stump.above - stump.below,
            };
            jumps.extend(model.stumps.iter().map(jump));
        }
        // Stable: jumps at one place are added in the order of the rounds.
        jumps.sort_by(|a, b| {
            (a.column, a.output)
                .cmp(&(b.column, b.output))
                .then(a.threshold.total_cmp(&b.threshold))
        });
        let mut curves = Self {
            columns: Vec::new(),
            starts: vec![0],
            outputs: Vec::new(),
            first_steps: vec![0],
            uppers: Vec::with_capacity(2 * count),
            heights: Vec::with_capacity(2 * count),
        };
        for of_column in jumps.chunk_by(|a, b| a.column == b.column) {
            for jumps in of_column.chunk_by(|a, b| a.output == b.output) {
                curves.push(jumps);
            }
            curves.columns.push(of_column[0].column);
            curves.starts.push(curves.outputs.len() as u32);
        }
        let finite = curves.heights.iter().all(|height| height.is_finite());
        finite.then_some(curves)
    }

    /// Appends the curve of jumps in rising order. Heights are summed from zero outwards, so that the
    /// step which holds zero is exactly zero.
    fn push(&mut self, jumps: &[Jump]) {
        let first = self.heights.len();
        let zero = jumps.partition_point(|jump| jump.threshold < 0.0);
        self.uppers.extend(jumps.iter().map(|jump| jump.threshold));
        self.uppers.push(f64::INFINITY);
        self.heights.resize(first + jumps.len() + 1, 0.0);
        let heights = &mut self.heights[first..];
        for step in zero..jumps.len() {
            heights[step + 1] = heights[step] + jumps[step].height;
        }
        for step in (0..zero).rev() {
            heights[step] = heights[step + 1] - jumps[step].height;
        }
        self.outputs.push(jumps[0].output);
        self.first_steps.push(self.heights.len() as u32);
    }

    /// For each entry of the row that a stump asks about, in order: its place in the row, and
    /// what it adds, output by output.
    #[inline]
    pub(super) fn for_each_step(&self, row: RowView<'_>, mut act: impl FnMut(usize, usize, f64)) {
        let mut first = 0;
        for (place, (column, value)) in row.entries().enumerate() {
            // Columns of a row rise: what lies behind is never looked at again.
            first += self.columns[first..].partition_point(|&other| (other as usize) < column);
            match self.columns.get(first) {
                None => return,
                Some(&found) if found as usize == column => {}
                Some(_) => continue,
            }
            for curve in self.starts[first] as usize..self.starts[first + 1] as usize {
                let steps = self.steps(curve);
                let step = self.uppers[steps.clone()].partition_point(|&upper| value > upper);
                // The last step has no upper end, so that there always is one.
                let height = self.heights[steps].get(step).copied().unwrap_or(0.0);
                act(place, self.outputs[curve] as usize, height);
            }
        }
    }

    /// For each feature that an output's stumps ask about, the step that is farthest from that of zero.
    pub(super) fn farthest_steps(&self, output: usize) -> Vec<(u32, f64)> {
        let mut found = Vec::new();
        for (place, &column) in self.columns.iter().enumerate() {
            for curve in self.starts[place] as usize..self.starts[place + 1] as usize {
                if self.outputs[curve] as usize == output {
                    let farthest = |best: f64, &height: &f64| {
                        if height.abs() > best.abs() {
                            height
                        } else {
                            best
                        }
                    };
                    let heights = self.heights[self.steps(curve)].iter();
                    found.push((column, heights.fold(0.0, farthest)));
                }
            }
        }
        found
    }

    fn steps(&self, curve: usize) -> Range<usize> {
        self.first_steps[curve] as usize..self.first_steps[curve + 1] as usize
    }
}
