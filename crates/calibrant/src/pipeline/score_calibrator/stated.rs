//! What scores say by themselves.

use super::ScoreBuffers;
use crate::calibration::ScoreScale;
use crate::evaluation::{Forecasts, RowZeros, StatedCell, StatedEnds, StatedTable};
use crate::numeric::log_odds_against_rest;
use crate::{Probability, RowLabels, Task};

/// The classes that get a probability.
pub(super) struct Outputs<'a> {
    pub(super) names: &'a [String],
    classes: &'a [String],
    pub(super) task: Task,
}

impl<'a> Outputs<'a> {
    pub(super) fn of(classes: &'a [String], one_score: bool) -> Self {
        if one_score {
            Self {
                names: &classes[1..],
                classes,
                task: Task::MultiLabel,
            }
        } else {
            Self {
                names: classes,
                classes,
                task: Task::SingleLabel,
            }
        }
    }

    pub(super) fn forecasts(
        &self,
        probabilities: Vec<Probability>,
        labels: &[u32],
        weights: Vec<f64>,
    ) -> Forecasts {
        let probabilities = match self.task {
            Task::SingleLabel => probabilities,
            Task::MultiLabel => probabilities
                .into_iter()
                .flat_map(|positive| [positive.complement(), positive])
                .collect(),
        };
        let mut of_rows = RowLabels::new();
        labels.iter().for_each(|&label| of_rows.push([label]));
        Forecasts {
            task: Task::SingleLabel,
            class_names: self.classes.to_vec(),
            probabilities,
            labels: of_rows,
            weights: Some(weights),
        }
    }
}

pub(super) fn cell(score: f64) -> StatedCell {
    StatedCell::of_number(score.clamp(0.0, 1.0)).unwrap_or(StatedCell::Zero)
}

/// Turns the scores of a row into those that a calibrator sees. A stated 0 counts as it does where it is measured, so
/// that no curve finds it above a number that was stated.
pub(super) fn scale_row(scale: ScoreScale, zeros: Option<&[f64]>, row: &mut [f64]) {
    let of_row = match (scale, zeros) {
        (ScoreScale::ClassProbability { .. }, Some(zeros)) if row.iter().any(|&p| p <= 0.0) => {
            let cells: Vec<StatedCell> = row.iter().map(|&score| cell(score)).collect();
            // The curve sees the numbers as they are stated, not divided by their sum.
            Some((zeros, RowZeros::of(&cells, 1.0)))
        }
        _ => None,
    };
    for (class, score) in row.iter_mut().enumerate() {
        *score = match of_row {
            Some((zeros, of_row)) if *score <= 0.0 => of_row.ln(zeros[class].ln()),
            _ => scale.apply(*score),
        };
    }
}

pub(super) fn as_stated(
    scale: ScoreScale,
    outputs: usize,
    scores: &[f64],
) -> (Vec<Probability>, Option<StatedEnds>) {
    let cells = || scores.iter().map(|&score| cell(score)).collect::<Vec<_>>();
    let table = match scale {
        ScoreScale::Probability { .. } => StatedTable::settle(Task::MultiLabel, 1, &cells()),
        ScoreScale::ClassProbability { .. } => {
            StatedTable::settle(Task::SingleLabel, outputs, &cells())
        }
        ScoreScale::Number if outputs == 1 => {
            let stated = scores.iter().map(|&s| Probability::from_log_odds(s));
            return (stated.collect(), None);
        }
        ScoreScale::Number => {
            let mut out = vec![Probability::from_log_odds(0.0); scores.len()];
            let mut buffer = ScoreBuffers::default();
            let rows = scores.chunks_exact(outputs);
            for (row, out) in rows.zip(out.chunks_exact_mut(outputs)) {
                softmax_into(row, &mut buffer, out);
            }
            return (out, None);
        }
    };
    (table.probabilities, Some(table.ends))
}

pub(super) fn softmax_into(scores: &[f64], buffer: &mut ScoreBuffers, out: &mut [Probability]) {
    let limit = Probability::MAX_LOG_ODDS;
    buffer.scores.clear();
    buffer
        .scores
        .extend(scores.iter().map(|score| score.clamp(-limit, limit)));
    buffer.log_odds.clear();
    buffer.log_odds.resize(scores.len(), 0.0);
    log_odds_against_rest(&buffer.scores, &mut buffer.log_odds);
    for (out, &log_odds) in out.iter_mut().zip(&buffer.log_odds) {
        *out = Probability::from_log_odds(log_odds);
    }
}
