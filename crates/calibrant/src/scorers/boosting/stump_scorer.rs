//! Committees of stumps for all classes.

use super::super::{ClassScorer, Link};
use super::curves::Curves;
use super::stump::AdaBoostModel;
use crate::features::RowView;

/// A committee of stumps for each output.
///
/// # Formula
/// ```text
/// F(x) = F(0) + Σ_j (f_j(x_j) - f_j(0))
/// ```
/// where `f_j` is the sum of the stumps that ask about feature `j`. The sum runs over the entries of
/// a row alone, and its parts explain the score.
#[derive(Debug, Clone)]
pub struct StumpScorer {
    models: Vec<AdaBoostModel>,
    /// The outputs of an empty row.
    bases: Vec<f64>,
    curves: Curves,
    link: Link,
}

impl StumpScorer {
    /// From one committee an output. `None` where a number is not finite, a feature is not below
    /// `feature_count`, or the link does not fit the number of committees.
    pub fn new(models: Vec<AdaBoostModel>, link: Link, feature_count: usize) -> Option<Self> {
        let fits = match link {
            Link::Independent => !models.is_empty(),
            Link::Mirror => models.len() == 1,
            Link::AgainstRest => false,
        };
        let sound = |model: &AdaBoostModel| {
            model.bias.is_finite()
                && model
                    .stumps
                    .iter()
                    .all(|stump| stump.is_finite() && (stump.column as usize) < feature_count)
        };
        if !fits || !models.iter().all(sound) {
            return None;
        }
        let base = |model: &AdaBoostModel| {
            let answers = model.stumps.iter().map(|stump| stump.answer(0.0));
            model.bias + answers.sum::<f64>()
        };
        let bases: Vec<f64> = models.iter().map(base).collect();
        if !bases.iter().all(|base| base.is_finite()) {
            return None;
        }
        Some(Self {
            curves: Curves::new(&models, feature_count)?,
            models,
            bases,
            link,
        })
    }

    /// The committees, one an output.
    pub fn models(&self) -> &[AdaBoostModel] {
        &self.models
    }

    /// How many outputs there are.
    pub fn output_count(&self) -> usize {
        self.models.len()
    }

    /// How many features there are.
    pub fn feature_count(&self) -> usize {
        self.curves.feature_count()
    }

    /// How outputs become scores.
    pub fn link(&self) -> Link {
        self.link
    }

    /// The outputs of a row without entries.
    pub fn bases(&self) -> &[f64] {
        &self.bases
    }

    /// Fills `outputs` (one each). Columns beyond the model's features add nothing.
    pub fn outputs_into(&self, row: RowView<'_>, outputs: &mut [f64]) {
        outputs.copy_from_slice(&self.bases);
        for (column, value) in row.entries() {
            for (output, height) in self.curves.steps(column, value) {
                outputs[output] += height;
            }
        }
    }

    /// Fills `parts` with what each entry of a row adds to an output: the output is that of
    /// an empty row and their sum.
    pub fn parts_into(&self, row: RowView<'_>, output: usize, parts: &mut [f64]) {
        for ((column, value), part) in row.entries().zip(parts) {
            let own = self.curves.steps(column, value);
            *part = own
                .filter(|&(other, _)| other == output)
                .map(|(_, height)| height)
                .sum();
        }
    }
}

impl ClassScorer for StumpScorer {
    fn class_count(&self) -> usize {
        match self.link {
            Link::Mirror => 2,
            _ => self.models.len(),
        }
    }

    fn scores_into(&self, row: RowView<'_>, scores: &mut [f64]) {
        let mut outputs = vec![0.0; self.output_count()];
        self.outputs_into(row, &mut outputs);
        match self.link {
            Link::Mirror => {
                scores[0] = -outputs[0];
                scores[1] = outputs[0];
            }
            _ => scores.copy_from_slice(&outputs),
        }
    }
}
