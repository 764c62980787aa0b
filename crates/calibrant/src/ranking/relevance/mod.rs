//! Probabilities of relevance from ranking scores.

mod frame;
mod imagined;
mod outlook;
#[cfg(test)]
mod tests;

pub use frame::ScoreFrame;
pub use outlook::Outlook;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::calibration::{
    Calibrator, CalibratorKind, HeldOutScores, LogOddsSpread, MonotoneCalibrator, SavedCalibrator,
};
use crate::parallel;
use crate::{FitError, Probability};

/// Scores of documents by rankers that did not learn from the documents' queries.
///
/// Folds are made of whole queries: documents of one query are more alike than those of two, and a ranker that
/// saw one of them has seen a part of the others' answer.
#[derive(Debug, Clone, Copy)]
pub struct HeldOutRankings<'a> {
    /// One score per document.
    pub scores: &'a [f64],
    /// Whether each document is relevant to its query.
    pub relevant: &'a [bool],
    /// The documents of each query.
    pub queries: &'a [Range<usize>],
    /// The fold of each query.
    pub fold_of_query: &'a [u8],
}

/// Turns ranking scores into probabilities: `P(relevant | query, document)`.
///
/// A ranker only orders the documents of one query; a score that is high for one query may be low
/// for the next. So scores are first put into a [`ScoreFrame`], which is chosen, unless it is given, by the log loss of
/// folds of queries that neither the ranker nor the curve has seen. The curve never falls, so that
/// probabilities rank as scores do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelevanceSettings {
    /// The kind of curve.
    pub calibrator: CalibratorKind,
    /// What of a score is compared between queries; the best where none is given.
    pub frame: Option<ScoreFrame>,
}

impl Default for RelevanceSettings {
    fn default() -> Self {
        Self {
            calibrator: CalibratorKind::Auto,
            frame: None,
        }
    }
}

/// A curve from ranking scores to probabilities of relevance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relevance {
    frame: ScoreFrame,
    curve: SavedCalibrator,
    summary: RelevanceSummary,
    /// How far what the curve says may be off in one query; absent in files of older versions, and where queries were few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spread: Option<LogOddsSpread>,
}

/// How a curve of relevance was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelevanceSummary {
    /// How many documents it was fitted to.
    pub documents: usize,
    /// How many of them are relevant.
    pub relevant: usize,
    /// How many queries they belong to.
    pub queries: usize,
    /// Mean log loss per document, of forecasts by curves that had not seen the query, for each frame that was tried.
    pub log_loss: Vec<(ScoreFrame, f64)>,
    /// The same for the share of relevant documents as everybody's probability.
    pub log_loss_of_share: f64,
}

impl HeldOutRankings<'_> {
    fn check(&self) -> Result<(), FitError> {
        let mismatch = |right_name, right| FitError::LengthMismatch {
            left_name: "scores",
            left: self.scores.len(),
            right_name,
            right,
        };
        if self.relevant.len() != self.scores.len() {
            return Err(mismatch("labels", self.relevant.len()));
        }
        if self.fold_of_query.len() != self.queries.len() {
            return Err(FitError::LengthMismatch {
                left_name: "queries",
                left: self.queries.len(),
                right_name: "folds",
                right: self.fold_of_query.len(),
            });
        }
        let mut next = 0;
        for rows in self.queries {
            if rows.start != next || rows.end < rows.start {
                return Err(mismatch("rows of queries", rows.start));
            }
            next = rows.end;
        }
        if next != self.scores.len() {
            return Err(mismatch("rows of queries", next));
        }
        Ok(())
    }

    /// The fold of every document.
    fn folds(&self) -> Vec<u8> {
        let queries = self.queries.iter().zip(self.fold_of_query);
        queries
            .flat_map(|(rows, &fold)| rows.clone().map(move |_| fold))
            .collect()
    }

    /// How far forecasts of documents are off, query by query.
    fn spread(&self, stated: &[Probability]) -> Option<LogOddsSpread> {
        let of_query = |rows: &Range<usize>| -> Vec<(f64, bool)> {
            let rows = rows.clone().filter(|&row| row < stated.len());
            rows.map(|row| (stated[row].log_odds(), self.relevant[row]))
                .collect()
        };
        let groups: Vec<_> = self.queries.iter().map(of_query).collect();
        LogOddsSpread::of_groups(&groups)
    }

    fn framed(&self, frame: ScoreFrame) -> Vec<f64> {
        let mut scores = self.scores.to_vec();
        for rows in self.queries {
            frame.apply(&mut scores[rows.clone()]);
        }
        scores
    }
}

impl RelevanceSettings {
    /// Fits a curve to held-out scores.
    pub fn fit(&self, held_out: &HeldOutRankings<'_>) -> Result<Relevance, FitError> {
        held_out.check()?;
        let folds = held_out.folds();
        let frames = match &self.frame {
            Some(frame) => std::slice::from_ref(frame),
            None => &ScoreFrame::ALL[..],
        };
        let mut found = parallel::try_map(frames, |&frame| {
            let scores = held_out.framed(frame);
            let stated = self.cross_fitted(&scores, held_out.relevant, &folds)?;
            let loss = mean_loss(&stated, held_out.relevant, &folds);
            Ok::<_, FitError>((frame, loss, stated))
        })?;
        let tried = found
            .iter()
            .map(|&(frame, loss, _)| (frame, loss))
            .collect();
        // The first of equals: the simpler frame.
        let best = (0..found.len()).min_by(|&a, &b| found[a].1.total_cmp(&found[b].1));
        let best = best.map(|best| found.swap_remove(best));
        let (frame, stated) = best.map_or((ScoreFrame::AsIs, Vec::new()), |best| (best.0, best.2));
        let spread = held_out.spread(&stated);
        let curve = self.curve(
            HeldOutScores::assume(held_out.framed(frame), held_out.relevant.to_vec())?
                .with_folds(folds)?,
        )?;
        let documents = held_out.scores.len();
        let relevant = held_out.relevant.iter().filter(|&&is| is).count();
        let share = relevant as f64 / documents as f64;
        let part = |share: f64| {
            if share > 0.0 {
                -share * share.ln()
            } else {
                0.0
            }
        };
        Ok(Relevance {
            frame,
            curve,
            spread,
            summary: RelevanceSummary {
                documents,
                relevant,
                queries: held_out.queries.len(),
                log_loss: tried,
                log_loss_of_share: part(share) + part(1.0 - share),
            },
        })
    }

    /// A curve that never falls, and holds where the examples end.
    fn curve(&self, held_out: HeldOutScores) -> Result<SavedCalibrator, FitError> {
        let curve = self.calibrator.fit(&held_out)?.held(&held_out);
        if curve.never_falls() {
            return Ok(curve);
        }
        let rising = MonotoneCalibrator::of(curve, &held_out);
        Ok(SavedCalibrator::Monotone(Box::new(rising)))
    }

    /// What curves say that were fitted without the document's fold.
    fn cross_fitted(
        &self,
        scores: &[f64],
        relevant: &[bool],
        folds: &[u8],
    ) -> Result<Vec<Probability>, FitError> {
        let of_fold = |fold: u8| -> Result<Vec<(usize, Probability)>, FitError> {
            let rest: Vec<usize> = (0..folds.len()).filter(|&row| folds[row] != fold).collect();
            if rest.len() == folds.len() {
                return Ok(Vec::new());
            }
            let held_out = HeldOutScores::assume(
                rest.iter().map(|&row| scores[row]).collect(),
                rest.iter().map(|&row| relevant[row]).collect(),
            )?
            .with_folds(rest.iter().map(|&row| folds[row]).collect())?;
            let curve = self.curve(held_out)?;
            let own = (0..folds.len()).filter(|&row| folds[row] == fold);
            Ok(own
                .map(|row| (row, curve.probability(scores[row])))
                .collect())
        };
        let last = folds.iter().copied().max().unwrap_or(0);
        let found = parallel::try_map_indices(usize::from(last) + 1, |fold| of_fold(fold as u8))?;
        let mut stated = vec![Probability::from_log_odds(0.0); folds.len()];
        for (row, probability) in found.into_iter().flatten() {
            stated[row] = probability;
        }
        Ok(stated)
    }
}

/// Mean log loss, added up fold by fold.
fn mean_loss(stated: &[Probability], relevant: &[bool], folds: &[u8]) -> f64 {
    let last = folds.iter().copied().max().unwrap_or(0);
    let of_fold = |fold: u8| -> f64 {
        let own = (0..folds.len()).filter(|&row| folds[row] == fold);
        own.map(|row| stated[row].log_loss(relevant[row])).sum()
    };
    (0..=last).map(of_fold).sum::<f64>() / stated.len().max(1) as f64
}

impl Relevance {
    /// The probability of each document of one query, given the scores of all its candidates.
    ///
    /// ```
    /// use calibrant::calibration::CalibratorKind;
    /// use calibrant::ranking::{HeldOutRankings, RelevanceSettings};
    /// // Four queries, each with a relevant document a little above an irrelevant one.
    /// let relevance = RelevanceSettings { calibrator: CalibratorKind::Platt, frame: None }.fit(&HeldOutRankings {
    ///     scores: &[1.0, 0.0, 5.0, 4.0, 3.0, 2.0, -1.0, -2.0],
    ///     relevant: &[true, false, true, false, true, false, true, false],
    ///     queries: &[0..2, 2..4, 4..6, 6..8],
    ///     fold_of_query: &[0, 1, 2, 3],
    /// })?;
    /// let found = relevance.probabilities(&[101.0, 100.0]);
    /// assert!(found[0].value() > 0.8 && found[1].value() < 0.2); // heights differ, steps do not
    /// # Ok::<(), calibrant::FitError>(())
    /// ```
    pub fn probabilities(&self, scores_of_query: &[f64]) -> Vec<Probability> {
        let mut scores = scores_of_query.to_vec();
        self.frame.apply(&mut scores);
        let curve = scores.iter().map(|&score| self.curve.probability(score));
        curve.collect()
    }

    /// What of a score is compared between queries.
    pub fn frame(&self) -> ScoreFrame {
        self.frame
    }

    /// The curve over scores in that frame.
    pub fn curve(&self) -> &SavedCalibrator {
        &self.curve
    }

    /// The name of the curve's family.
    pub fn curve_name(&self) -> String {
        let curve = match &self.curve {
            SavedCalibrator::Monotone(rising) => rising.inner.curve(),
            other => other.curve(),
        };
        // The tag that files have.
        match serde_json::to_value(curve) {
            Ok(serde_json::Value::Object(fields)) => match fields.get("method") {
                Some(serde_json::Value::String(name)) => name.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        }
    }

    /// How far its log-odds may be off in one query: between queries, and for what the curve itself does not know; learned from queries that
    /// neither ranker nor curve had seen. None where they were too few, and in files of older versions.
    pub fn spread(&self) -> Option<&LogOddsSpread> {
        self.spread.as_ref()
    }

    /// How it was fitted.
    pub fn summary(&self) -> &RelevanceSummary {
        &self.summary
    }
}
