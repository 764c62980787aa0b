//! One kernel for every linear model with many classes.

use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};

use super::length_damping::LengthDamping;
use super::saved::{ClassScorer, OpenScorer, ScorerBuffers};
use crate::features::RowView;
use crate::problem::ClassLabels;
use crate::saved::{NamedTensor, Storage, TensorReader};

/// How outputs become one score per class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// Each output is the score of its class against the rest.
    Independent,
    /// One output for two classes: it speaks for the second, its negative for the first.
    Mirror,
    /// Outputs are joint log-probabilities; a class's score is its log-odds against the rest:
    /// `s_c = a_c - ln Σ_{k≠c} e^{a_k}`.
    AgainstRest,
}

impl Link {
    /// For scorers of each class against the rest: two exclusive classes share an output.
    pub(crate) fn of(labels: &ClassLabels) -> Self {
        if labels.output_count() < labels.class_count {
            Self::Mirror
        } else {
            Self::Independent
        }
    }
}

/// Weights, feature after feature: the outputs' weights of one feature lie side by side, so that
/// a row's entry touches one short run of memory however many classes there are.
#[derive(Debug, Clone)]
pub enum WeightMatrix {
    /// Learned by an optimiser whose tolerance is far above `f32`'s rounding.
    Single(Storage<f32>),
    /// Computed in closed form (naive Bayes), where every digit counts.
    Double(Storage<f64>),
}

impl WeightMatrix {
    /// How many weights there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn at(&self, place: usize) -> f64 {
        match self {
            Self::Single(values) => f64::from(values[place]),
            Self::Double(values) => values[place],
        }
    }
}

/// What a file keeps of weights beside the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearDescription {
    /// How outputs become scores.
    pub link: Link,
    /// How much less terms say where there are many of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<LengthDamping>,
}

/// A linear model of all classes.
#[derive(Debug, Clone)]
pub struct LinearClassScorer {
    weights: WeightMatrix,
    biases: Vec<f64>,
    link: Link,
    damping: Option<LengthDamping>,
}

impl LinearClassScorer {
    /// From weights in feature-major order; `None` if their number is not a multiple of the
    /// number of outputs, or the link does not fit.
    pub fn new(weights: WeightMatrix, biases: Vec<f64>, link: Link) -> Option<Self> {
        let fits = !biases.is_empty()
            && weights.len().is_multiple_of(biases.len())
            && (link != Link::Mirror || biases.len() == 1)
            && (link != Link::AgainstRest || biases.len() >= 2);
        fits.then_some(Self::from_parts(weights, biases, link))
    }

    /// Several scorers as one that has the outputs of them all, in order; `None` if they do not know
    /// the same features, their outputs are joint, or they depend on the length of a row.
    pub(crate) fn beside(scorers: &[&Self]) -> Option<Self> {
        let features = scorers.first()?.feature_count();
        let fits = |scorer: &&&Self| {
            scorer.feature_count() == features
                && scorer.link != Link::AgainstRest
                && scorer.damping.is_none()
        };
        if !scorers.iter().all(|scorer| fits(&scorer)) {
            return None;
        }
        let biases: Vec<f64> = scorers
            .iter()
            .flat_map(|scorer| scorer.biases.iter().copied())
            .collect();
        let all = (0..features).flat_map(|feature| {
            scorers.iter().flat_map(move |scorer| {
                (0..scorer.output_count()).map(move |output| scorer.weight(feature, output))
            })
        });
        let is_single = |scorer: &&Self| matches!(scorer.weights, WeightMatrix::Single(_));
        let weights = if scorers.iter().all(is_single) {
            WeightMatrix::Single(Storage::Owned(all.map(|weight| weight as f32).collect()))
        } else {
            WeightMatrix::Double(Storage::Owned(all.collect()))
        };
        Some(Self::from_parts(weights, biases, Link::Independent))
    }

    /// From parts that are known to fit together.
    pub(crate) fn from_parts(weights: WeightMatrix, biases: Vec<f64>, link: Link) -> Self {
        Self {
            weights,
            biases,
            link,
            damping: None,
        }
    }

    /// The same, with terms that say less where there are many of them.
    pub(crate) fn with_damping(self, damping: Option<LengthDamping>) -> Self {
        Self { damping, ..self }
    }

    /// How much less terms say where there are many of them; `None` where every term counts in full.
    pub fn damping(&self) -> Option<LengthDamping> {
        self.damping
    }

    /// What the weighted terms of a row are multiplied with.
    pub fn factor_of(&self, row: RowView<'_>) -> f64 {
        self.damping.map_or(1.0, |damping| {
            let known = row
                .entries()
                .filter(|entry| entry.0 < self.feature_count())
                .map(|(_, value)| value);
            damping.factor(known.sum())
        })
    }

    /// How many outputs the kernel computes.
    pub fn output_count(&self) -> usize {
        self.biases.len()
    }

    /// How many features there are.
    pub fn feature_count(&self) -> usize {
        self.weights.len() / self.biases.len()
    }

    /// The weights in feature-major order.
    pub fn weights(&self) -> &WeightMatrix {
        &self.weights
    }

    /// The outputs of an empty row.
    pub fn biases(&self) -> &[f64] {
        &self.biases
    }

    /// How outputs become scores.
    pub fn link(&self) -> Link {
        self.link
    }

    /// The weight of a feature for an output.
    pub fn weight(&self, feature: usize, output: usize) -> f64 {
        self.weights.at(feature * self.biases.len() + output)
    }

    /// Fills `outputs` (one each) before the link is applied. Columns beyond the model's features
    /// are unknown to it and add nothing.
    pub fn outputs_into(&self, row: RowView<'_>, outputs: &mut [f64]) {
        outputs.copy_from_slice(&self.biases);
        match &self.weights {
            WeightMatrix::Single(weights) => accumulate(weights, row, outputs),
            WeightMatrix::Double(weights) => accumulate(weights, row, outputs),
        }
        if self.damping.is_some() {
            let factor = self.factor_of(row);
            for (output, bias) in outputs.iter_mut().zip(&self.biases) {
                *output = bias + factor * (*output - bias);
            }
        }
    }
}

impl ClassScorer for LinearClassScorer {
    fn output_count(&self) -> usize {
        self.biases.len()
    }

    fn link(&self) -> Link {
        self.link
    }

    fn feature_count(&self) -> usize {
        self.weights.len() / self.biases.len()
    }

    fn outputs_into(&self, row: RowView<'_>, _buffer: &mut ScorerBuffers, outputs: &mut [f64]) {
        Self::outputs_into(self, row, outputs);
    }

    fn parts_into(
        &self,
        row: RowView<'_>,
        output: usize,
        _buffer: &mut ScorerBuffers,
        parts: &mut [f64],
    ) {
        let factor = self.factor_of(row);
        for ((column, value), part) in row.entries().zip(parts) {
            let known = column < self.feature_count();
            let weight = if known {
                self.weight(column, output)
            } else {
                0.0
            };
            *part = factor * value * weight;
        }
    }

    fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let shape = vec![self.feature_count(), self.output_count()];
        let weights = match &self.weights {
            WeightMatrix::Single(weights) => NamedTensor::shaped("weights", shape, weights),
            WeightMatrix::Double(weights) => NamedTensor::shaped("weights", shape, weights),
        };
        vec![NamedTensor::vector("biases", &self.biases), weights]
    }
}

impl OpenScorer for LinearClassScorer {
    type Description = LinearDescription;

    fn description(&self) -> LinearDescription {
        LinearDescription {
            link: self.link,
            damping: self.damping,
        }
    }

    fn from_tensors(description: LinearDescription, reader: &TensorReader<'_>) -> Option<Self> {
        let LinearDescription { link, damping } = description;
        damping
            .is_none_or(|damping| damping.is_sound())
            .then_some(())?;
        let biases = reader.vector::<f64>("biases")?;
        let (weights, width) = match reader.dtype("weights")? {
            Dtype::F32 => {
                let (weights, _, width) = reader.stored_matrix("weights")?;
                (WeightMatrix::Single(weights), width)
            }
            Dtype::F64 => {
                let (weights, _, width) = reader.stored_matrix("weights")?;
                (WeightMatrix::Double(weights), width)
            }
            _ => return None,
        };
        (width == biases.len()).then_some(())?;
        Some(Self::new(weights, biases, link)?.with_damping(damping))
    }
}

fn accumulate<T: Copy + Into<f64>>(weights: &[T], row: RowView<'_>, outputs: &mut [f64]) {
    let width = outputs.len();
    for (column, value) in row.entries() {
        let Some(weights) = weights.get(column * width..(column + 1) * width) else {
            continue;
        };
        for (output, &weight) in outputs.iter_mut().zip(weights) {
            *output += value * weight.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::SparseMatrix;

    #[test]
    fn scorers_beside_each_other_keep_their_outputs() {
        let single = |weights: Vec<f32>, biases: Vec<f64>| {
            let weights = WeightMatrix::Single(Storage::Owned(weights));
            LinearClassScorer::new(weights, biases, Link::Independent).unwrap()
        };
        let one = single(vec![1.0, 2.0], vec![0.5]);
        let two = single(vec![3.0, 4.0, 5.0, 6.0], vec![-0.5, 1.5]);
        let both = LinearClassScorer::beside(&[&one, &two]).unwrap();
        let rows = SparseMatrix::from_rows(2, [vec![(0, 1.0), (1, 10.0)]]);
        let mut outputs = [0.0; 3];
        both.outputs_into(rows.row(0), &mut outputs);
        assert_eq!(outputs, [21.5, 52.5, 65.5]);
        assert!(LinearClassScorer::beside(&[&one, &single(vec![1.0], vec![0.0])]).is_none());
    }

    #[test] // By hand: three known terms, a factor of √(16 / 4) = 2: 0.5 + 2 · (1 · 1 + 2 · 3), and -0.5 + 2 · (2 + 2 · 4).
    fn terms_count_by_the_length_of_what_is_known() {
        let weights = WeightMatrix::Double(Storage::Owned(vec![1.0, 2.0, 3.0, 4.0]));
        let scorer = LinearClassScorer::new(weights, vec![0.5, -0.5], Link::Independent).unwrap();
        let damping = LengthDamping {
            exponent: 0.5,
            usual: 15.0,
            offset: 1.0,
            least: 0.0,
        };
        let scorer = scorer.with_damping(Some(damping));
        let rows = SparseMatrix::from_rows(9, [vec![(0, 1.0), (1, 2.0), (8, 100.0)], vec![]]);
        let mut outputs = [0.0; 2];
        scorer.outputs_into(rows.row(0), &mut outputs);
        assert_eq!(outputs, [14.5, 19.5]);
        scorer.outputs_into(rows.row(1), &mut outputs);
        assert_eq!(outputs, [0.5, -0.5]);
        assert!(LinearClassScorer::beside(&[&scorer]).is_none());
    }

    #[test]
    fn features_the_model_does_not_know_add_nothing() {
        let weights = WeightMatrix::Single(Storage::Owned(vec![1.0, 2.0, 3.0, 4.0]));
        let scorer = LinearClassScorer::new(weights, vec![0.5, -0.5], Link::Independent).unwrap();
        let rows = SparseMatrix::from_rows(9, [vec![(1, 2.0), (8, 100.0)]]);
        let mut scores = [0.0; 2];
        scorer.outputs_into(rows.row(0), &mut scores);
        assert_eq!(scores, [6.5, 7.5]);
    }
}
