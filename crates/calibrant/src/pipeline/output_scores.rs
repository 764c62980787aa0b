//! What a learner itself says of a document, before calibration.

use super::SingleModel;
use crate::calibration::Calibrator;

/// The scores behind one prediction, borrowed from the buffers it was made in: they cannot outlive the next one.
#[derive(Debug, Clone, Copy)]
pub struct OutputScores<'a> {
    model: Option<&'a SingleModel>,
    scores: &'a [f64],
}

impl<'a> OutputScores<'a> {
    pub(super) fn new(model: &'a SingleModel, scores: &'a [f64]) -> Self {
        Self {
            model: Some(model),
            scores,
        }
    }

    /// A combination has no scores of its own.
    pub(super) fn none() -> Self {
        Self {
            model: None,
            scores: &[],
        }
    }

    /// One per output of the scorer: those that [`SingleModel::calibrators`] turned into probabilities. Empty for a
    /// combination.
    pub fn outputs(&self) -> &'a [f64] {
        self.scores
    }

    /// One per class. Two exclusive classes share a score: the first has it with the other sign. None for a combination.
    pub fn of_classes(&self) -> impl ExactSizeIterator<Item = f64> + use<'a> {
        let scores = self.scores;
        let count = self.model.map_or(0, SingleModel::class_count);
        let shared = scores.len() < count;
        (0..count).map(move |class| match shared {
            true if class == 0 => -scores[0],
            true => scores[0],
            false => scores[class],
        })
    }

    /// The class with the largest log-odds against the rest, and how far it is above its threshold, in log-odds.
    /// `thresholds` come from [`Model::other_thresholds`](super::Model::other_thresholds).
    pub fn above_thresholds(&self, thresholds: &[f64]) -> (usize, f64) {
        let calibrators = self.model.map_or(&[][..], SingleModel::calibrators);
        let said = calibrators.iter().zip(self.scores);
        let log_odds = said.map(|(calibrator, &score)| calibrator.probability(score).log_odds());
        let (best, largest) =
            log_odds
                .enumerate()
                .fold((0, f64::NEG_INFINITY), |best, (class, value)| {
                    if value > best.1 { (class, value) } else { best }
                });
        (best, largest - thresholds.get(best).copied().unwrap_or(0.0))
    }
}
