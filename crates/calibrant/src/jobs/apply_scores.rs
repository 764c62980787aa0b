//! New scores to probabilities.

use std::ops::ControlFlow;

use serde::Serialize;

use super::{
    CalibrateError, DecidedPrior, DocumentKey, DocumentKeys, Prediction, PriorPlan, PriorReport,
};
use crate::corpus::{
    Kept, KeptRow, LabelNeed, ReadOptions, ReadSummary, ScoredRow, Source, read_kept_scores,
};
use crate::pipeline::{ScoreBuffers, ScoreCalibrator};
use crate::{Probability, Progress};

/// The probability of the positive class of one example.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PositivePrediction<'a> {
    /// Which example it is.
    #[serde(flatten)]
    pub key: DocumentKey,
    /// Whose probability it is.
    pub class: &'a str,
    /// The other class; no part of its JSON.
    #[serde(skip)]
    pub negative: &'a str,
    /// The probability of the positive class.
    pub probability: f64,
    /// The same as log-odds, which lose nothing near 0 and 1.
    pub log_odds: f64,
    /// Where the probability may begin, by methods that say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Where the probability may end, by methods that say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// The row of the table that it is of, where [`ReadOptions::keep`] asks for it; no part of its JSON.
    #[serde(skip)]
    pub kept: Option<Box<KeptRow>>,
}

/// What a calibrator says of one example; as JSON a line of `calibrate --apply --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ScorePrediction<'a> {
    /// There is one score per example: that of the positive class.
    Positive(PositivePrediction<'a>),
    /// There is one score per class.
    Classes(Prediction<'a>),
}

/// What was read and done.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AppliedScores {
    /// What was read.
    pub read: ReadSummary,
    /// How many examples there were.
    pub examples: u64,
    /// How many of them have an empty identifier.
    pub without_id: u64,
    /// Rows of stated probabilities that do not sum to one.
    pub rescaled: usize,
    /// Probabilities that are stated as 0 or 1.
    pub at_ends: usize,
    /// What was estimated about the classes' shares.
    pub prior: Option<PriorReport>,
}

/// Some rows and what is said of them.
#[derive(Default)]
struct Batch {
    /// The identifier of each, and the number of its row.
    ids: Vec<(Option<String>, u64)>,
    /// One per row, where they are kept.
    kept: Vec<Option<KeptRow>>,
    /// Row by row, output after output.
    probabilities: Vec<Probability>,
    /// One per row, where the calibrator gives them.
    intervals: Vec<(Probability, Probability)>,
    rescaled: usize,
    at_ends: usize,
}

impl Batch {
    fn of(rows: Vec<Kept<ScoredRow>>, calibrator: &ScoreCalibrator) -> Self {
        let outputs = calibrator.outputs().len();
        let mut buffer = ScoreBuffers::default();
        let even = Probability::from_log_odds(0.0);
        let mut batch = Self {
            probabilities: vec![even; rows.len() * outputs],
            ..Self::default()
        };
        let places = batch.probabilities.chunks_exact_mut(outputs);
        for (Kept { row, kept }, out) in rows.into_iter().zip(places) {
            calibrator.probabilities_into(&row.scores, &mut buffer, out);
            batch.at_ends += calibrator.scale().count_at_ends(&row.scores);
            batch.rescaled += usize::from(!calibrator.is_whole_row(&row.scores));
            batch.intervals.extend(calibrator.interval(&row.scores));
            batch.ids.push((row.id, row.row));
            batch.kept.push(kept);
        }
        batch
    }

    fn shift(&mut self, outputs: usize, decided: &DecidedPrior) {
        decided.apply(outputs, &mut self.probabilities);
        for (lower, upper) in &mut self.intervals {
            decided.apply(1, std::slice::from_mut(lower));
            decided.apply(1, std::slice::from_mut(upper));
        }
    }

    fn append(&mut self, later: Self) {
        self.ids.extend(later.ids);
        self.kept.extend(later.kept);
        self.probabilities.extend(later.probabilities);
        self.intervals.extend(later.intervals);
    }

    /// Hands the rows on, in their order.
    fn send<'c, E>(
        self,
        calibrator: &'c ScoreCalibrator,
        keys: &mut DocumentKeys,
        sink: &mut impl FnMut(Option<ScorePrediction<'c>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut kept = self.kept.into_iter();
        let negative = calibrator.classes().first().map_or("", String::as_str);
        let names: Vec<&str> = calibrator.outputs().iter().map(String::as_str).collect();
        let mut intervals = self.intervals.into_iter();
        let rows = self.probabilities.chunks_exact(names.len());
        for ((id, number), row) in self.ids.into_iter().zip(rows) {
            let key = keys.next(id, number);
            let kept = kept.next().flatten().map(Box::new);
            let prediction = if calibrator.is_binary() {
                let (lower, upper) = intervals.next().unzip();
                ScorePrediction::Positive(PositivePrediction {
                    key,
                    class: names[0],
                    negative,
                    probability: row[0].value(),
                    log_odds: row[0].log_odds(),
                    lower: lower.map(Probability::value),
                    upper: upper.map(Probability::value),
                    kept,
                })
            } else {
                let said = Prediction::best_first(&names, row, &[], row.len());
                ScorePrediction::Classes(Prediction {
                    kept,
                    ..said.with_key(key)
                })
            };
            sink(Some(prediction))?;
        }
        sink(None)
    }
}

/// Gives every example of a table its probabilities, in the order of the table, to `sink` on the calling thread. Examples go on as
/// soon as they can; only shares that must be estimated hold them back until all are read.
///
/// Labels, weights and groups have no part in it and are not looked at. Where `options` names no score fields, those are read that
/// the calibrator was fitted to. `plan` is one for [`ScoreCalibrator::trained_shares`].
pub fn apply_scores<'c, E: From<CalibrateError>>(
    calibrator: &'c ScoreCalibrator,
    source: &Source,
    options: &ReadOptions,
    plan: &PriorPlan,
    progress: &dyn Progress,
    mut sink: impl FnMut(ScorePrediction<'c>) -> Result<(), E>,
) -> Result<AppliedScores, E> {
    apply_scores_live(calibrator, source, options, plan, progress, |prediction| {
        prediction.map_or(Ok(()), &mut sink)
    })
}

/// As [`apply_scores`]; `sink` is also told, by `None`, where a batch ends and who writes the table may wait for answers.
pub fn apply_scores_live<'c, E: From<CalibrateError>>(
    calibrator: &'c ScoreCalibrator,
    source: &Source,
    options: &ReadOptions,
    plan: &PriorPlan,
    progress: &dyn Progress,
    mut sink: impl FnMut(Option<ScorePrediction<'c>>) -> Result<(), E>,
) -> Result<AppliedScores, E> {
    let mut options = options_of(options, calibrator);
    options.as_they_come &= !plan.must_see_all();
    let outputs = calibrator.outputs().len();
    let mut keys = DocumentKeys::new(options.fields.asks_for_id());
    let known = match plan.must_see_all() {
        true => DecidedPrior::default(),
        false => plan.decide(&[], None).map_err(CalibrateError::from)?,
    };
    let mut held = Batch::default();
    let mut failure = None;
    let (mut rescaled, mut at_ends) = (0, 0);
    let map = |rows| {
        let mut batch = Batch::of(rows, calibrator);
        batch.shift(outputs, &known);
        batch
    };
    let read = read_kept_scores(source, &options, progress, map, |batch| {
        rescaled += batch.rescaled;
        at_ends += batch.at_ends;
        if plan.must_see_all() {
            held.append(batch);
        } else if let Err(error) = batch.send(calibrator, &mut keys, &mut sink) {
            failure = Some(error);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let read = read.map_err(CalibrateError::from)?;
    if let Some(error) = failure {
        return Err(error);
    }
    let mut prior = None;
    if plan.must_see_all() {
        let decided = plan.decide(&held.probabilities, None);
        let decided = decided.map_err(CalibrateError::from)?;
        held.shift(outputs, &decided);
        prior = decided.report;
        held.send(calibrator, &mut keys, &mut sink)?;
    }
    Ok(AppliedScores {
        read,
        examples: keys.documents(),
        without_id: keys.without_id(),
        rescaled,
        at_ends,
        prior,
    })
}

/// How the table is read: its own identifiers, and nothing that only counts in fitting.
fn options_of(options: &ReadOptions, calibrator: &ScoreCalibrator) -> ReadOptions {
    let mut options = options.clone();
    if options.scores.is_empty() {
        options.scores.clone_from(&calibrator.fields().scores);
    }
    options.labels_required = LabelNeed::Ignored;
    options.fields.weight = None;
    options.fields.group = None;
    options.own_id = true;
    options.scores_are_probabilities = calibrator.scale().is_probability();
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::jobs::{
        AdaptPrior, CalibrateSettings, ClassField, PriorChoice, fit_scores, forecast_scores,
    };

    fn calibrator() -> ScoreCalibrator {
        let mut table = String::from("s,label\n");
        for number in 0..60 {
            let label = ["no", "yes"][usize::from((number * 17) % 60 < number)];
            table.push_str(&format!("{},{label}\n", f64::from(number) / 10.0 - 3.0));
        }
        let settings = CalibrateSettings {
            scores: vec![ClassField {
                class: String::new(),
                field: "s".into(),
            }],
            ..CalibrateSettings::default()
        };
        let source = Source::bytes("s.csv", table.into_bytes());
        let options = ReadOptions::default();
        let fitted = fit_scores(&source, &options, &settings, &NoProgress).unwrap();
        fitted.calibrator
    }

    fn said<'c>(
        calibrator: &'c ScoreCalibrator,
        table: &'static str,
        choice: PriorChoice,
    ) -> (Vec<PositivePrediction<'c>>, AppliedScores) {
        let trained = calibrator.trained_shares();
        let plan = PriorPlan::new(&choice, trained).unwrap();
        let source = Source::bytes("new.csv", table.as_bytes());
        let mut all = Vec::new();
        let options = ReadOptions::default();
        let sink = |prediction| -> Result<(), CalibrateError> {
            match prediction {
                ScorePrediction::Positive(prediction) => all.push(prediction),
                ScorePrediction::Classes(other) => panic!("{other:?}"),
            }
            Ok(())
        };
        let applied = apply_scores(calibrator, &source, &options, &plan, &NoProgress, sink);
        let applied = applied.unwrap();
        (all, applied)
    }

    #[test]
    fn every_example_is_said_in_order_and_shifted_as_asked() {
        let calibrator = calibrator();
        let table = "s,id\n0.5,first\n-2,\n2.5,last\n";
        let (plain, applied) = said(&calibrator, table, PriorChoice::Keep);
        assert_eq!((applied.examples, applied.without_id), (3, 1));
        let expected = forecast_scores(&calibrator, &[0.5, -2.0, 2.5]);
        let found: Vec<f64> = plain.iter().map(|one| one.log_odds).collect();
        let expected: Vec<f64> = expected.iter().map(|p| p.log_odds()).collect();
        assert_eq!(found, expected);
        assert_eq!(plain[2].key, DocumentKey::Id("last".into()));
        let (share, old) = (0.1_f64, calibrator.priors()[0]);
        let (shifted, _) = said(
            &calibrator,
            table,
            PriorChoice::Given(vec![("yes".into(), share)]),
        );
        // By hand: the log-odds move by those of the new share against those of the old one.
        let moved = (share / (1.0 - share)).ln() - (old / (1.0 - old)).ln();
        for (plain, shifted) in plain.iter().zip(&shifted) {
            assert!((shifted.log_odds - plain.log_odds - moved).abs() < 1e-9);
        }
        let (held, applied) = said(
            &calibrator,
            table,
            PriorChoice::Estimated(AdaptPrior::Tested),
        );
        assert_eq!(held, plain, "three examples prove nothing");
        assert!(!applied.prior.unwrap().applied);
    }
}
