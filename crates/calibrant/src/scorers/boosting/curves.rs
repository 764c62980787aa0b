//! The stumps of each feature put together: a step curve for each output that asks about it.

use super::stump::AdaBoostModel;

/// For each feature and output, what a value adds to the output beyond what zero adds.
///
/// Stumps of one feature sum to a function that is constant between thresholds. A row's entry finds its
/// step by bisection, and features that a row does not have cost nothing.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    /// Where the curves of each feature begin; one more at the end.
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
    /// The curves of committees, one an output, whose columns lie below `feature_count`; `None`
    /// where there are too many stumps or a sum is not finite.
    pub(super) fn new(models: &[AdaBoostModel], feature_count: usize) -> Option<Self> {
        let count: usize = models.iter().map(|model| model.stumps.len()).sum();
        u32::try_from(count.checked_mul(2)?).ok()?;
        let mut jumps = Vec::with_capacity(count);
        for (output, model) in models.iter().enumerate() {
            let jump = |stump: &super::Stump| Jump {
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
            starts: vec![0; feature_count + 1],
            outputs: Vec::new(),
            first_steps: vec![0],
            uppers: Vec::with_capacity(2 * count),
            heights: Vec::with_capacity(2 * count),
        };
        for jumps in jumps.chunk_by(|a, b| (a.column, a.output) == (b.column, b.output)) {
            *curves.starts.get_mut(jumps[0].column as usize + 1)? += 1;
            curves.push(jumps);
        }
        for feature in 0..feature_count {
            curves.starts[feature + 1] += curves.starts[feature];
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

    /// How many features there are.
    pub(super) fn feature_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// What a value of a feature adds, output by output. Features beyond the last add nothing.
    #[inline]
    pub(super) fn steps(&self, feature: usize, value: f64) -> impl Iterator<Item = (usize, f64)> {
        let curves = match self.starts.get(feature..).unwrap_or_default() {
            [first, end, ..] => *first as usize..*end as usize,
            _ => 0..0,
        };
        curves.map(move |curve| {
            let steps = self.first_steps[curve] as usize..self.first_steps[curve + 1] as usize;
            let step = self.uppers[steps.clone()].partition_point(|&upper| value > upper);
            let height = self.heights[steps].get(step).copied().unwrap_or(0.0);
            (self.outputs[curve] as usize, height)
        })
    }
}
