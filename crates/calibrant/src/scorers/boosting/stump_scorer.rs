//! Committees of stumps for all classes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::super::{
    ClassScorer, Link, NamedTensor, OpenScorer, ScorerBuffers, Stored, TensorReader,
};
use super::curves::Curves;
use super::stump::{AdaBoostModel, Stump};
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
    feature_count: usize,
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
            curves: Curves::new(&models)?,
            models,
            bases,
            link,
            feature_count,
        })
    }

    /// The committees, one per output.
    pub fn models(&self) -> &[AdaBoostModel] {
        &self.models
    }

    /// The outputs of a row without entries.
    pub fn bases(&self) -> &[f64] {
        &self.bases
    }

    /// For each feature that an output's stumps ask about, what the value adds that moves the output
    /// farthest from where zero leaves it.
    pub fn farthest_steps(&self, output: usize) -> Vec<(u32, f64)> {
        self.curves.farthest_steps(output)
    }
}

impl ClassScorer for StumpScorer {
    /// How many outputs there are.
    fn output_count(&self) -> usize {
        self.models.len()
    }

    /// How outputs become scores.
    fn link(&self) -> Link {
        self.link
    }

    /// How many features there are.
    fn feature_count(&self) -> usize {
        self.feature_count
    }

    /// Fills `outputs` (one each). Columns beyond the model's features add nothing.
    fn outputs_into(&self, row: RowView<'_>, _buffer: &mut ScorerBuffers, outputs: &mut [f64]) {
        outputs.copy_from_slice(&self.bases);
        self.curves
            .for_each_step(row, |_, output, height| outputs[output] += height);
    }

    /// Fills `parts` with what each entry of a row adds to an output: the output is that of
    /// an empty row and their sum.
    fn parts_into(
        &self,
        row: RowView<'_>,
        output: usize,
        _buffer: &mut ScorerBuffers,
        parts: &mut [f64],
    ) {
        parts.fill(0.0);
        self.curves.for_each_step(row, |place, other, height| {
            if other == output {
                parts[place] += height;
            }
        });
    }

    fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let stumps = || self.models.iter().flat_map(|model| &model.stumps);
        let mut end = 0;
        let ends = self.models.iter().map(|model| {
            end += model.stumps.len() as u64;
            end
        });
        let numbers = stumps().flat_map(|stump| [stump.threshold, stump.below, stump.above]);
        let count = stumps().count();
        vec![
            owned(
                "stump_biases",
                None,
                self.models.iter().map(|model| model.bias),
            ),
            owned("stump_ends", None, ends),
            owned("stump_columns", None, stumps().map(|stump| stump.column)),
            owned("stump_numbers", Some(vec![count, 3]), numbers),
        ]
    }
}

impl OpenScorer for StumpScorer {
    type Description = StumpDescription;

    fn description(&self) -> StumpDescription {
        StumpDescription {
            link: self.link,
            features: self.feature_count as u64,
        }
    }

    fn from_tensors(description: StumpDescription, reader: &TensorReader<'_>) -> Option<Self> {
        let biases = reader.vector::<f64>("stump_biases")?;
        let ends = reader.vector::<u64>("stump_ends")?;
        let columns = reader.vector::<u32>("stump_columns")?;
        let (numbers, count, width) = reader.stored_matrix::<f64>("stump_numbers")?;
        let whole = count == columns.len()
            && width == 3
            && biases.len() == ends.len()
            && ends.is_sorted()
            && ends.last().copied() == Some(count as u64);
        if !whole {
            return None;
        }
        let mut stumps = columns
            .iter()
            .zip(numbers.chunks_exact(3))
            .map(|(&column, numbers)| Stump {
                column,
                threshold: numbers[0],
                below: numbers[1],
                above: numbers[2],
            });
        let mut first = 0;
        let mut models = Vec::with_capacity(biases.len());
        for (bias, end) in biases.into_iter().zip(ends) {
            let own = stumps.by_ref().take((end - first) as usize);
            models.push(AdaBoostModel {
                bias,
                stumps: own.collect(),
            });
            first = end;
        }
        Self::new(
            models,
            description.link,
            usize::try_from(description.features).ok()?,
        )
    }
}

/// What a file keeps of committees beside the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StumpDescription {
    link: Link,
    features: u64,
}

/// An array that is put together for the file.
fn owned<T: Stored>(
    name: &str,
    shape: Option<Vec<usize>>,
    values: impl Iterator<Item = T>,
) -> NamedTensor<'static> {
    let values: Vec<T> = values.collect();
    NamedTensor {
        name: name.to_owned(),
        dtype: T::DTYPE,
        shape: shape.unwrap_or_else(|| vec![values.len()]),
        bytes: Cow::Owned(bytemuck::cast_slice(&values).to_vec()),
    }
}
