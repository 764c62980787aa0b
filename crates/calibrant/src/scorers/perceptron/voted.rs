//! Every stage of a perceptron's weights votes.

use serde::{Deserialize, Serialize};

use super::train::{Examples, Mistakes};
use crate::FitError;
use crate::features::RowView;
use crate::saved::Storage;
use crate::saved::{NamedTensor, TensorReader};
use crate::scorers::Link;
use crate::scorers::postings::{Postings, lists_follow_one_another};
use crate::scorers::saved::{ClassScorer, OpenScorer, ScorerBuffers};

/// Half a vote on either side keeps the score finite.
const HALF: f64 = 0.5;

/// The mistakes of voted perceptrons, from which all their stages follow.
///
/// A stage's weights are the sum of all mistakes up to it, so its margin is a running sum of
/// dot products with single rows. One pass over the postings of a row's terms gives the dot products with all
/// rows that were ever a mistake of any class; then one running sum a class gives the vote of every stage.
#[derive(Debug, Clone)]
pub struct VotedScorer {
    /// The rows that were a mistake of any output.
    postings: Postings,
    /// Where the stages of each output begin, and of each stage: the row that led to it,
    /// what the row was added with, how many votes the stage has.
    stage_starts: Storage<u64>,
    stage_rows: Storage<u32>,
    stage_steps: Storage<f64>,
    stage_votes: Storage<f64>,
    link: Link,
}

/// What a model file says of a [`VotedScorer`] beside its arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VotedDescription {
    /// How outputs become scores.
    pub link: Link,
    /// How many rows were a mistake of any output.
    pub rows: u32,
}

/// Votes for and against; a margin of exactly 0 gives half its votes to each.
#[derive(Debug, Clone, Copy, Default)]
struct Ballot {
    ahead: f64,
    against: f64,
}

impl Ballot {
    fn add(&mut self, margin: f64, votes: f64) {
        if margin > 0.0 {
            self.ahead += votes;
        } else if margin < 0.0 {
            self.against += votes;
        } else {
            self.ahead += 0.5 * votes;
            self.against += 0.5 * votes;
        }
    }

    fn score(self) -> f64 {
        (self.ahead + HALF).ln() - (self.against + HALF).ln()
    }
}

impl VotedScorer {
    pub(super) fn new(examples: &Examples<'_>, mistakes: &[Mistakes]) -> Result<Self, FitError> {
        let mut wrong: Vec<u32> = mistakes
            .iter()
            .flat_map(|mistakes| mistakes.list.iter().map(|mistake| mistake.row))
            .collect();
        wrong.sort_unstable();
        wrong.dedup();
        let columns: Vec<u32> = (0..examples.problem.rows.column_count() as u32).collect();
        let rows = examples
            .problem
            .rows
            .rearranged(&wrong, &columns, columns.len());
        let mut stage_starts = vec![0u64];
        let (mut stage_rows, mut stage_steps, mut stage_votes) = (vec![], vec![], vec![]);
        for mistakes in mistakes {
            for (mistake, votes) in mistakes.stages() {
                let place = wrong.partition_point(|&row| row < mistake.row);
                stage_rows.push(place as u32);
                stage_steps.push(mistake.step);
                stage_votes.push(votes);
            }
            stage_starts.push(stage_rows.len() as u64);
        }
        let finite = stage_steps.iter().all(|step: &f64| step.is_finite())
            && rows.values().iter().all(|value| value.is_finite());
        if !finite {
            return Err(FitError::Overflow);
        }
        Ok(Self {
            postings: Postings::of(&rows),
            stage_starts: Storage::Owned(stage_starts),
            stage_rows: Storage::Owned(stage_rows),
            stage_steps: Storage::Owned(stage_steps),
            stage_votes: Storage::Owned(stage_votes),
            link: Link::of(examples.problem.labels),
        })
    }

    /// How many stages an output has.
    pub fn stage_count(&self, output: usize) -> usize {
        self.stages(output).len()
    }

    /// The row, the step and the votes of each stage of an output.
    fn stages(&self, output: usize) -> impl DoubleEndedIterator<Item = Stage> + ExactSizeIterator {
        let range = self.stage_starts[output] as usize..self.stage_starts[output + 1] as usize;
        let (rows, steps) = (
            &self.stage_rows[range.clone()],
            &self.stage_steps[range.clone()],
        );
        let votes = &self.stage_votes[range];
        (0..rows.len()).map(move |place| Stage {
            row: rows[place] as usize,
            step: steps[place],
            votes: votes[place],
        })
    }

    /// The dot products of a row with all rows that were a mistake.
    fn dots<'a>(&self, row: RowView<'_>, buffer: &'a mut ScorerBuffers) -> &'a [f64] {
        buffer.numbers.clear();
        buffer.numbers.resize(self.postings.row_count(), 0.0);
        for (column, value) in row.entries() {
            let (rows, values) = self.postings.list(column);
            for (&other, &other_value) in rows.iter().zip(values) {
                buffer.numbers[other as usize] += value * f64::from(other_value);
            }
        }
        &buffer.numbers
    }
}

impl ClassScorer for VotedScorer {
    /// How many outputs there are.
    fn output_count(&self) -> usize {
        self.stage_starts.len() - 1
    }

    /// How outputs become scores.
    fn link(&self) -> Link {
        self.link
    }

    /// How many features there are.
    fn feature_count(&self) -> usize {
        self.postings.column_count()
    }

    /// Fills `outputs`, one each.
    fn outputs_into(&self, row: RowView<'_>, buffer: &mut ScorerBuffers, outputs: &mut [f64]) {
        let dots = self.dots(row, buffer);
        for (output, score) in outputs.iter_mut().enumerate() {
            let mut margin = 0.0;
            let mut ballot = Ballot::default();
            for stage in self.stages(output) {
                // Every row has one more entry, of value 1, for the bias.
                margin += stage.step * (dots[stage.row] + 1.0);
                ballot.add(margin, stage.votes);
            }
            *score = ballot.score();
        }
    }

    /// What each entry of the row did to an output.
    ///
    /// # Formula
    /// Without any term a stage votes by its bias alone. The terms bring some stages over to this side
    /// (`U`) and some to the other (`D`). Both groups move the score; what each moves is the mean of
    /// what it does before and after the other, so that the two add up. Within a group, a term has the share
    ///
    /// ```text
    /// Σ_{j∈U} votes_j v_jt x_t / Σ_{j∈U} votes_j v_j·x
    /// ```
    /// of it, where `v_j` are the weights of stage `j`; the sum below is not 0, because every stage in `U` has
    /// `v_j·x > 0`. These parts and the score without any term add up to the score.
    fn parts_into(
        &self,
        row: RowView<'_>,
        output: usize,
        buffer: &mut ScorerBuffers,
        parts: &mut [f64],
    ) {
        parts.fill(0.0);
        let dots = self.dots(row, buffer);
        let [mut nothing, mut only_up, mut only_down, mut everything] = [Ballot::default(); 4];
        let (mut bias, mut moved) = (0.0, 0.0);
        // For each stage, whether the terms bring it over, and to which side.
        let mut turns = Vec::with_capacity(self.stage_count(output));
        for stage in self.stages(output) {
            bias += stage.step;
            moved += stage.step * dots[stage.row];
            let turn = side(bias + moved) - side(bias);
            let (before, after) = (bias, bias + moved);
            nothing.add(before, stage.votes);
            everything.add(after, stage.votes);
            only_up.add(if turn > 0 { after } else { before }, stage.votes);
            only_down.add(if turn < 0 { after } else { before }, stage.votes);
            turns.push(turn.signum());
        }
        let [nothing, up, down, everything] =
            [nothing, only_up, only_down, everything].map(Ballot::score);
        for (direction, gained) in [
            (1, 0.5 * ((up - nothing) + (everything - down))),
            (-1, 0.5 * ((down - nothing) + (everything - up))),
        ] {
            // A mistake is part of its own stage and of all that follow.
            let mut later = 0.0;
            let mut pull = vec![0.0; self.postings.row_count()];
            for (stage, &turn) in self.stages(output).zip(&turns).rev() {
                if turn == direction {
                    later += stage.votes;
                }
                pull[stage.row] += stage.step * later;
            }
            let shares: Vec<f64> = row
                .entries()
                .map(|(column, value)| {
                    let (rows, values) = self.postings.list(column);
                    let pulls = rows.iter().zip(values);
                    let sum: f64 = pulls
                        .map(|(&other, &weight)| pull[other as usize] * f64::from(weight))
                        .sum();
                    value * sum
                })
                .collect();
            let sum: f64 = shares.iter().sum();
            if sum * f64::from(direction) > 0.0 {
                for (part, share) in parts.iter_mut().zip(shares) {
                    *part += gained * share / sum;
                }
            }
        }
    }

    /// The numbers that a model file keeps.
    fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let mut tensors = self.postings.tensors().to_vec();
        tensors.extend([
            NamedTensor::vector("stage_starts", &self.stage_starts),
            NamedTensor::vector("stage_rows", &self.stage_rows),
            NamedTensor::vector("stage_steps", &self.stage_steps),
            NamedTensor::vector("stage_votes", &self.stage_votes),
        ]);
        tensors
    }
}

impl OpenScorer for VotedScorer {
    type Description = VotedDescription;

    /// What a model file says beside the arrays.
    fn description(&self) -> VotedDescription {
        VotedDescription {
            link: self.link,
            rows: self.postings.row_count() as u32,
        }
    }

    /// From a model file; `None` unless its arrays fit together.
    fn from_tensors(description: VotedDescription, reader: &TensorReader<'_>) -> Option<Self> {
        let postings = Postings::from_tensors(reader, description.rows as usize)?;
        let stage_starts = reader.stored_vector::<u64>("stage_starts")?;
        let stage_rows = reader.stored_vector::<u32>("stage_rows")?;
        let stage_steps = reader.stored_vector::<f64>("stage_steps")?;
        let stage_votes = reader.stored_vector::<f64>("stage_votes")?;
        let outputs = stage_starts.len().checked_sub(1)?;
        let fits =
            match description.link {
                Link::Independent => outputs > 0,
                Link::Mirror => outputs == 1,
                Link::AgainstRest => false,
            } && lists_follow_one_another(&stage_starts, stage_rows.len(), stage_steps.len())
                && stage_votes.len() == stage_rows.len()
                && description.rows as usize <= stage_rows.len()
                && stage_rows.iter().all(|&row| row < description.rows)
                && stage_steps.iter().all(|step| step.is_finite())
                && stage_votes
                    .iter()
                    .all(|votes| *votes >= 0.0 && *votes <= MOST_VOTES);
        fits.then_some(Self {
            postings,
            stage_starts,
            stage_rows,
            stage_steps,
            stage_votes,
            link: description.link,
        })
    }
}

/// More votes than any training gives: sums of them stay finite.
const MOST_VOTES: f64 = 1e18;

struct Stage {
    row: usize,
    step: f64,
    votes: f64,
}

/// The sign of a margin, 0 where it has none.
fn side(margin: f64) -> i8 {
    i8::from(margin > 0.0) - i8::from(margin < 0.0)
}
