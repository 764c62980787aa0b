//! How much less does a term say in a long document?

use super::fit_scorer::Training;
use crate::calibration::{CalibrationMethod, Calibrator, CalibratorKind, HeldOutScores, Isotonic};
use crate::corpus::Folds;
use crate::scorers::{LengthDamping, LinearClassScorer, NaiveBayesHeldOut};

/// The exponents that are tried beside 0.
const EXPONENTS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
/// Scores that decide; more would tell nothing.
const MOST_SCORES: usize = 1 << 17;

impl Training<'_> {
    /// A scorer whose terms say as much less in long documents as held-out log loss asks for, with its held-out scores.
    ///
    /// # Method
    /// For each exponent the likeliest rising curve is fitted to every output's held-out scores, since some curve will set right what a
    /// curve can. The exponent with the least log loss over all outputs is taken, if its gain over counting every term in full is
    /// more than two standard errors.
    ///
    /// Who names a calibrator, or wants none, wants the learner's own scores.
    pub(super) fn damped(
        &self,
        scorer: LinearClassScorer,
        said: &NaiveBayesHeldOut,
        folds: &Folds,
    ) -> (LinearClassScorer, Vec<Vec<f64>>) {
        let held_out = Said {
            said,
            folds,
            scorer: &scorer,
        };
        let asked = self.finer.is_some() && self.settings.calibrator == CalibratorKind::Auto;
        let damping = if asked { self.choose(&held_out) } else { None };
        let every: Vec<usize> = (0..said.lengths.len()).collect();
        let out_of_fold = held_out.scores(&every, damping);
        (scorer.with_damping(damping), out_of_fold)
    }

    fn choose(&self, held_out: &Said<'_>) -> Option<LengthDamping> {
        let rows = held_out.said.lengths.len();
        let scores = rows * held_out.scorer.output_count();
        let some: Vec<usize> = (0..rows).step_by(scores.div_ceil(MOST_SCORES)).collect();
        let usual = held_out.said.lengths.iter().sum::<f64>() / rows as f64;
        let losses = |damping| self.losses(&some, held_out.scores(&some, damping));
        let in_full = losses(None);
        let (mut best, mut chosen) = (in_full.clone(), None);
        for exponent in EXPONENTS {
            let damping = LengthDamping { exponent, usual };
            let found = losses(Some(damping));
            if found.iter().sum::<f64>() < best.iter().sum::<f64>() {
                (best, chosen) = (found, Some(damping));
            }
        }
        chosen.filter(|_| surely_less(&best, &in_full))
    }

    /// The log loss of each row, over all outputs.
    fn losses(&self, rows: &[usize], scores: Vec<Vec<f64>>) -> Vec<f64> {
        let weights: Vec<f64> = rows.iter().map(|&row| self.weights[row]).collect();
        let mut losses = vec![0.0; rows.len()];
        for (output, scores) in scores.into_iter().enumerate() {
            let membership = self.labels.membership(self.labels.class_of_output(output));
            let labels = rows.iter().map(|&row| membership[row]).collect();
            // An output with one side only has nothing to say of lengths.
            let curve = HeldOutScores::assume_weighted(scores, labels, weights.clone())
                .and_then(|held_out| Ok((Isotonic.fit(&held_out)?, held_out)));
            let Ok((curve, held_out)) = curve else {
                continue;
            };
            for (loss, (score, label, weight)) in losses.iter_mut().zip(held_out.examples()) {
                *loss += weight * curve.probability(score).log_loss(label);
            }
        }
        losses
    }
}

/// What was said of rows by models that had not seen them.
struct Said<'a> {
    said: &'a NaiveBayesHeldOut,
    folds: &'a Folds,
    scorer: &'a LinearClassScorer,
}

impl Said<'_> {
    /// Output after output the scores of some rows.
    fn scores(&self, rows: &[usize], damping: Option<LengthDamping>) -> Vec<Vec<f64>> {
        let outputs = self.scorer.output_count();
        let mut scores = vec![vec![0.0; rows.len()]; outputs];
        let mut of_row = vec![0.0; outputs];
        for (place, &row) in rows.iter().enumerate() {
            let factor = damping.map_or(1.0, |damping| damping.factor(self.said.lengths[row]));
            let (fold, link) = (self.folds.of(row), self.scorer.link());
            self.said.scores_into(row, fold, factor, link, &mut of_row);
            for (column, &score) in scores.iter_mut().zip(&of_row) {
                column[place] = score;
            }
        }
        scores
    }
}

/// Whether losses are less by more than two standard errors of the difference.
fn surely_less(losses: &[f64], others: &[f64]) -> bool {
    let gains = || others.iter().zip(losses).map(|(other, loss)| other - loss);
    let gain: f64 = gains().sum();
    let mean = gain / losses.len() as f64;
    let squares: f64 = gains().map(|gain| (gain - mean).powi(2)).sum();
    gain > 2.0 * squares.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // By hand: gains of 0.3 and -0.1 in turn have the sum 20 and the standard error 0.2 · √200 = 2.83.
    fn a_gain_must_be_more_than_two_standard_errors() {
        let others = vec![1.0; 200];
        let gaining = |gain: f64| -> Vec<f64> {
            let gains = [gain + 0.2, gain - 0.2].repeat(100);
            gains.iter().map(|gain| 1.0 - gain).collect()
        };
        assert!(surely_less(&gaining(0.1), &others));
        assert!(!surely_less(&gaining(0.028), &others)); // by hand: 5.6 beside 5.66
        assert!(!surely_less(&others, &others));
    }
}
