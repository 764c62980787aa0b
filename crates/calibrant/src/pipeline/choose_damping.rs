//! How much less does a term say in a long document?

use super::distinct::Documents;
use super::paired_losses::UnitGains;
use crate::calibration::{CalibrationMethod, Calibrator, HeldOutScores, Isotonic};
use crate::parallel;
use crate::problem::{Folds, Targets};
use crate::scorers::{HeldOutOutputs, LengthDamping};

/// The exponents that are tried beside 0.
const EXPONENTS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
/// Offsets that are tried beside 1, in usual lengths, with the exponent that was best so far and with the largest.
const OFFSETS: [f64; 2] = [0.25, 1.0];
/// Scores that decide, unless that would leave fewer rows than the next.
const MOST_SCORES: usize = 1 << 17;
/// Rows that decide where there are many outputs; of these some do.
const LEAST_ROWS: usize = 1 << 13;
/// The share of rows that are shorter than the least length.
const SHORTEST: f64 = 0.01;
/// Standard errors, over documents or groups, that the gain must be more than.
const STANDARD_ERRORS: f64 = 2.0;

/// Rows whose truth is known, to judge by what was said of them while they were held out.
pub(super) struct DampingTrial<'a> {
    pub(super) targets: &'a Targets<'a>,
    /// Curves are fitted without each of these.
    pub(super) folds: &'a Folds,
    pub(super) documents: &'a Documents,
}

impl DampingTrial<'_> {
    /// How much less terms should say in long documents, by held-out log loss; nothing where every term counts in full.
    ///
    /// # Method
    /// For each exponent the likeliest rising curve is fitted to every output's held-out scores, since some curve will set right what a
    /// curve can; it is fitted without each fold, and judged by what it says of that. The exponent with the least log loss over all outputs
    /// is taken, then the offset likewise, if the gain over counting every term in full is more than two standard errors over documents, or groups.
    pub(super) fn choose(&self, said: &HeldOutOutputs<'_>) -> Option<LengthDamping> {
        let lengths = said.lengths();
        let (rows, outputs) = (lengths.len(), said.output_count());
        let most_rows = (MOST_SCORES / outputs.max(1)).max(LEAST_ROWS);
        let some: Vec<usize> = (0..rows).step_by(rows.div_ceil(most_rows).max(1)).collect();
        let step = (some.len() * outputs).div_ceil(MOST_SCORES).max(1);
        let of_outputs: Vec<usize> = (0..outputs).step_by(step).collect();
        let mut sorted = lengths.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let least = *sorted.get((SHORTEST * rows as f64) as usize)?;
        let usual = lengths.iter().sum::<f64>() / rows as f64;
        let losses = |damping| {
            let scores = said.scores(&some, damping);
            self.losses(&some, &of_outputs, &scores)
        };
        let in_full = losses(None);
        let (mut best, mut chosen) = (in_full.clone(), None::<LengthDamping>);
        let mut compare = |exponent: f64, offset: f64, chosen: &mut Option<LengthDamping>| {
            let damping = LengthDamping {
                exponent,
                usual,
                offset,
                least,
            };
            let found = losses(Some(damping));
            if found.iter().sum::<f64>() < best.iter().sum::<f64>() {
                (best, *chosen) = (found, Some(damping));
            }
        };
        for exponent in EXPONENTS {
            compare(exponent, 1.0, &mut chosen);
        }
        for share in OFFSETS {
            let strongest = EXPONENTS[EXPONENTS.len() - 1];
            let so_far = chosen.map_or(strongest, |damping| damping.exponent);
            for exponent in [so_far, strongest] {
                compare(exponent, (share * usual).max(1.0), &mut chosen);
                if so_far == strongest {
                    break;
                }
            }
        }
        let mut gains = UnitGains::new(self.documents);
        for (&row, (full, best)) in some.iter().zip(in_full.iter().zip(&best)) {
            gains.add(row, self.targets.weights[row], full - best);
        }
        let (gain, standard_error) = gains.mean_and_error();
        chosen.filter(|_| gain > STANDARD_ERRORS * standard_error)
    }

    /// The log loss of each row over some outputs, by curves that were fitted without the row's fold; `scores` come row by row.
    fn losses(&self, rows: &[usize], outputs: &[usize], scores: &[Vec<f64>]) -> Vec<f64> {
        let of_output = |&output: &usize| {
            let class = self.targets.labels.class_of_output(output) as u32;
            let label = |place: usize| self.targets.labels.of_row[rows[place]].contains(&class);
            let mut losses = vec![0.0; rows.len()];
            for fold in 0..self.folds.count() {
                let in_fold = |&place: &usize| self.folds.of(rows[place]) == fold;
                let (held_out, others): (Vec<usize>, Vec<usize>) =
                    (0..rows.len()).partition(in_fold);
                let curve = HeldOutScores::assume_weighted(
                    others.iter().map(|&place| scores[place][output]).collect(),
                    others.iter().map(|&place| label(place)).collect(),
                    others
                        .iter()
                        .map(|&p| self.targets.weights[rows[p]])
                        .collect(),
                )
                .and_then(|others| Isotonic.fit(&others));
                // Where all others are of one side, which does not depend on the exponent, there is nothing to learn.
                let Ok(curve) = curve else {
                    continue;
                };
                for place in held_out {
                    let forecast = curve.probability(scores[place][output]);
                    losses[place] =
                        self.targets.weights[rows[place]] * forecast.log_loss(label(place));
                }
            }
            losses
        };
        let mut sums = vec![0.0; rows.len()];
        // So many at once that memory stays small.
        for some in outputs.chunks(64) {
            let losses = parallel::map(some, of_output);
            for of_output in losses {
                sums.iter_mut()
                    .zip(of_output)
                    .for_each(|(sum, loss)| *sum += loss);
            }
        }
        sums
    }
}
