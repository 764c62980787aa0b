//! Neighbours to votes, votes to scores.

use serde::{Deserialize, Serialize};

use super::index::NeighbourIndex;
use super::search::{Approximate, Neighbour, SearchBuffers};
use super::{NearestNeighbours, NeighbourCount, Vote};
use crate::FitError;
use crate::features::RowView;
use crate::problem::Problem;
use crate::saved::{NamedTensor, Storage, TensorReader};
use crate::scorers::Link;
use crate::scorers::postings::lists_follow_one_another;
use crate::scorers::saved::{ClassScorer, OpenScorer, ScorerBuffers};

/// Training rows that vote on the classes of a row: see [`NearestNeighbours`].
#[derive(Debug, Clone)]
pub struct NeighbourScorer {
    index: NeighbourIndex,
    /// The outputs that each row is a positive of.
    label_starts: Storage<u64>,
    labels: Storage<u32>,
    row_weights: Storage<f64>,
    /// The share of each output's positives, above 0 and below 1.
    priors: Vec<f64>,
    /// What a vote of a positive and of a negative counts, output after output.
    factors: Vec<f64>,
    description: NeighbourDescription,
}

/// The few numbers of a [`NeighbourScorer`] that are not arrays.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighbourDescription {
    /// How many neighbours vote.
    pub k: usize,
    /// What a neighbour's vote counts.
    pub vote: Vote,
    /// How much of the index a search may skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approximate: Option<Approximate>,
    /// How outputs become scores.
    pub link: Link,
}

impl NeighbourScorer {
    /// Indexes the rows; `k` is at least 1 and, where it is to be chosen, not chosen yet.
    pub(super) fn new(
        settings: &NearestNeighbours,
        problem: &Problem<'_>,
    ) -> Result<Self, FitError> {
        let Problem {
            rows,
            labels,
            weights,
            factors,
            members,
            ..
        } = *problem;
        let outputs = labels.output_count();
        let total: f64 = members.iter().map(|&row| weights[row as usize]).sum();
        let mean = total / members.len().max(1) as f64;
        if !mean.is_finite() {
            return Err(FitError::Overflow);
        }
        let row_weights: Vec<f64> = members
            .iter()
            .map(|&row| weights[row as usize] / mean)
            .collect();

        let mirror = outputs < labels.class_count;
        let mut label_starts = vec![0u64];
        let mut row_labels = Vec::new();
        let mut positives = vec![0.0; outputs];
        for (&member, weight) in members.iter().zip(&row_weights) {
            for &class in &labels.of_row[member as usize] {
                // Two exclusive classes share an output, which speaks for the second.
                let output = if mirror {
                    class.checked_sub(1)
                } else {
                    Some(class)
                };
                if let Some(output) = output {
                    row_labels.push(output);
                    positives[output as usize] += weight;
                }
            }
            label_starts.push(row_labels.len() as u64);
        }
        let all: f64 = row_weights.iter().sum();
        let prior = |(positives, &(more, less)): (f64, &(f64, f64))| {
            let (positives, negatives) = (more * positives, less * (all - positives).max(0.0));
            let share = (positives + 0.5) / (positives + negatives + 1.0);
            share.clamp(1e-12, 1.0 - 1e-12)
        };
        let priors: Vec<f64> = positives
            .into_iter()
            .zip(&factors.by_output)
            .map(prior)
            .collect();
        let factors: Vec<f64> = factors
            .by_output
            .iter()
            .flat_map(|&(more, less)| [more, less])
            .collect();
        if !votes_stay_finite(&row_weights, &factors) || !priors.iter().all(|p| p.is_finite()) {
            return Err(FitError::Overflow);
        }
        Ok(Self {
            index: NeighbourIndex::build(rows, members)?,
            label_starts: Storage::Owned(label_starts),
            labels: Storage::Owned(row_labels),
            row_weights: Storage::Owned(row_weights),
            priors,
            factors,
            description: NeighbourDescription {
                k: match settings.k {
                    NeighbourCount::Fixed(k) => k.max(1),
                    NeighbourCount::Chosen => 1,
                },
                vote: settings.vote,
                approximate: settings.approximate,
                link: Link::of(labels),
            },
        })
    }

    /// How many neighbours vote.
    pub fn k(&self) -> usize {
        self.description.k
    }

    pub(super) fn set_k(&mut self, k: usize) {
        self.description.k = k.max(1);
    }

    /// The rows that vote.
    pub fn index(&self) -> &NeighbourIndex {
        &self.index
    }

    pub(super) fn priors(&self) -> &[f64] {
        &self.priors
    }

    pub(super) fn row_weight(&self, row: u32) -> f64 {
        self.row_weights[row as usize]
    }

    /// The outputs that a row is a positive of.
    pub(super) fn outputs_of(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.labels[self.label_starts[row] as usize..self.label_starts[row + 1] as usize]
    }

    /// What a neighbour's vote counts.
    pub(super) fn vote(&self, neighbour: Neighbour) -> f64 {
        let weight = self.row_weight(neighbour.row);
        match self.description.vote {
            Vote::Majority => weight,
            Vote::Similarity => weight * neighbour.similarity,
        }
    }

    fn search<'a>(&self, row: RowView<'_>, buffer: &'a mut SearchBuffers) -> &'a [Neighbour] {
        match self.description.approximate {
            None => self.index.search(row, self.k(), buffer),
            Some(how) => self.index.search_approximately(row, self.k(), how, buffer),
        }
    }

    /// Both sides of an output's vote, with the one that is spread as the classes are.
    fn sides(&self, output: usize, votes: f64, all: f64) -> (f64, f64) {
        let prior = self.priors[output];
        (
            self.factors[2 * output] * votes + prior,
            self.factors[2 * output + 1] * (all - votes).max(0.0) + (1.0 - prior),
        )
    }
}

impl ClassScorer for NeighbourScorer {
    /// How many outputs there are.
    fn output_count(&self) -> usize {
        self.priors.len()
    }

    /// How outputs become scores.
    fn link(&self) -> Link {
        self.description.link
    }

    /// How many features there are.
    fn feature_count(&self) -> usize {
        self.index.column_count()
    }

    /// Fills `outputs`, one each.
    fn outputs_into(&self, row: RowView<'_>, buffer: &mut ScorerBuffers, outputs: &mut [f64]) {
        let ScorerBuffers {
            numbers: votes,
            search,
            ..
        } = buffer;
        votes.clear();
        votes.resize(self.output_count(), 0.0);
        let mut all = 0.0;
        for &neighbour in self.search(row, search) {
            let vote = self.vote(neighbour);
            all += vote;
            for &output in self.outputs_of(neighbour.row) {
                votes[output as usize] += vote;
            }
        }
        for (output, score) in outputs.iter_mut().enumerate() {
            let (ahead, against) = self.sides(output, votes[output], all);
            *score = ahead.ln() - against.ln();
        }
    }

    /// What each entry of the row did to an output.
    ///
    /// # Formula
    /// With the neighbours as they are, a cosine is a sum over the terms, `cos(x, x_i) = Σ_t x_t
    /// x_it`, and so are the votes: `V_c = Σ_t V_ct` (a majority's vote is shared as its cosine
    /// is). Let the row grow from nothing, `λx` with `λ` from 0 to 1: the score is then
    /// `ln (f₊ λ V_c + π) / (f₋ λ (V - V_c) + 1 - π)`, and the integral of its slope in each term is
    ///
    /// ```text
    /// V_ct/V_c · ln (1 + f₊ V_c/π)  -  (V_t - V_ct)/(V - V_c) · ln (1 + f₋ (V - V_c)/(1 - π))
    /// ```
    /// These parts and the log-odds of `π` add up to the score.
    fn parts_into(
        &self,
        row: RowView<'_>,
        output: usize,
        buffer: &mut ScorerBuffers,
        parts: &mut [f64],
    ) {
        parts.fill(0.0);
        let mut place_of_rank: Vec<(u32, usize)> = row
            .columns()
            .iter()
            .enumerate()
            .filter_map(|(place, &column)| Some((self.index.rank(column as usize)?, place)))
            .collect();
        place_of_rank.sort_unstable();
        // For and against, and what each entry of the row has in them.
        let mut sides = [(0.0, vec![0.0; parts.len()]), (0.0, vec![0.0; parts.len()])];
        for &neighbour in self.search(row, &mut buffer.search) {
            let positive = self.outputs_of(neighbour.row).contains(&(output as u32));
            let (sum, shares) = &mut sides[usize::from(!positive)];
            let vote = self.vote(neighbour);
            *sum += vote;
            let (ranks, values) = self.index.entries(neighbour.row);
            let mut of_cosine = Vec::new();
            for (rank, &value) in ranks.iter().zip(values) {
                if let Ok(found) = place_of_rank.binary_search_by_key(rank, |&(rank, _)| rank) {
                    let place = place_of_rank[found].1;
                    let product = f64::from(row.values()[place]) * f64::from(value);
                    of_cosine.push((place, product));
                }
            }
            let cosine: f64 = of_cosine.iter().map(|&(_, product)| product).sum();
            if cosine > 0.0 {
                for (place, product) in of_cosine {
                    shares[place] += vote * product / cosine;
                }
            }
        }
        let prior = self.priors[output];
        for (side, sign, base) in [(0, 1.0, prior), (1, -1.0, 1.0 - prior)] {
            let (sum, shares) = &sides[side];
            if *sum > 0.0 {
                let gained = (self.factors[2 * output + side] * sum / base).ln_1p();
                for (part, share) in parts.iter_mut().zip(shares) {
                    *part += sign * gained * share / sum;
                }
            }
        }
    }

    /// The numbers that a model file keeps.
    fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let mut tensors = self.index.tensors();
        tensors.extend([
            NamedTensor::vector("label_starts", &self.label_starts),
            NamedTensor::vector("labels", &self.labels),
            NamedTensor::vector("row_weights", &self.row_weights),
            NamedTensor::vector("priors", &self.priors),
            NamedTensor::vector("factors", &self.factors),
        ]);
        tensors
    }
}

impl OpenScorer for NeighbourScorer {
    type Description = NeighbourDescription;

    /// The few numbers that are not arrays.
    fn description(&self) -> NeighbourDescription {
        self.description
    }

    /// From a model file; `None` unless its arrays fit together.
    fn from_tensors(description: NeighbourDescription, reader: &TensorReader<'_>) -> Option<Self> {
        let index = NeighbourIndex::from_tensors(reader)?;
        let label_starts = reader.stored_vector::<u64>("label_starts")?;
        let labels = reader.stored_vector::<u32>("labels")?;
        let row_weights = reader.stored_vector::<f64>("row_weights")?;
        let priors = reader.vector::<f64>("priors")?;
        let factors = reader.vector::<f64>("factors")?;
        let outputs = priors.len();
        let sound = |how: Approximate| how.share > 0.0 && how.share <= 1.0 && how.candidates > 0;
        let fits = description.k > 0
            && description.approximate.is_none_or(sound)
            && match description.link {
                Link::Independent => outputs > 0,
                Link::Mirror => outputs == 1,
                Link::AgainstRest => false,
            }
            && label_starts.len() == index.row_count() + 1
            && lists_follow_one_another(&label_starts, labels.len(), labels.len())
            && labels.iter().all(|&label| (label as usize) < outputs)
            && row_weights.len() == index.row_count()
            && row_weights.iter().all(|weight| *weight >= 0.0)
            && priors.iter().all(|prior| *prior > 0.0 && *prior < 1.0)
            && factors.len() == 2 * outputs
            && factors.iter().all(|factor| *factor >= 0.0)
            && votes_stay_finite(&row_weights, &factors);
        fits.then_some(Self {
            index,
            label_starts,
            labels,
            row_weights,
            priors,
            factors,
            description,
        })
    }
}

/// Whether no sum of votes can grow beyond all bounds.
fn votes_stay_finite(row_weights: &[f64], factors: &[f64]) -> bool {
    let all: f64 = row_weights.iter().sum();
    // Similarities are at most 1, and in a forged file at most one an entry.
    factors
        .iter()
        .all(|factor| (1e12 * factor * all).is_finite())
}
