//! Scores of any classifier in the world to probabilities: no text, no features.

mod notes;

pub use notes::ScoreNote;

use serde::{Deserialize, Serialize};

use super::HeldOutMeasures;
use crate::calibration::{
    CalibrationNote, Calibrator, CalibratorKind, ChoiceRules, ClassRoom, HeldOutClassScores,
    HeldOutScores, HeldOutShape, MulticlassKind, SavedCalibrator, SavedMulticlassCalibrator,
    ScoreScale, calibrate_one,
};
use crate::evaluation::{
    Forecasts, RowZeros, StatedCell, StatedEnds, StatedTable, evaluate_without_chance,
    exclusive_into,
};
use crate::numeric::{log_odds_against_rest, relative_weights};
use crate::{FitError, Probability, Task};
use grouped::GroupedScores;

/// Scores of examples that the classifier did not learn from, with their labels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreTable {
    /// Row by row: one score, or one a class.
    pub scores: Vec<f64>,
    /// The class of each row, as a position in [`ScoreSettings::classes`].
    pub labels: Vec<u32>,
    /// How much each row counts.
    pub weights: Vec<f64>,
}

/// What a score's number line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreIs {
    /// Probabilities if all scores lie between 0 and 1 and not all at the ends, else numbers.
    #[default]
    Auto,
    /// Any real number.
    Number,
    /// A probability.
    Probability,
}

/// How to fit a [`ScoreCalibrator`].
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreSettings {
    /// The classes. Where there is one score a row: the negative, then the positive one.
    pub classes: Vec<String>,
    /// The fields that the scores come from: one, or one a class in the order of the classes.
    pub fields: ScoreFields,
    /// What the scores are.
    pub score_is: ScoreIs,
    /// The method for one score, and for each class against the rest.
    pub method: CalibratorKind,
    /// The way for several classes.
    pub multiclass: MulticlassKind,
    /// What a choice for one score must keep to.
    pub rules: ChoiceRules,
}

/// Which fields of a file hold what.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreFields {
    /// The scores.
    pub scores: Vec<String>,
    /// The label.
    pub label: Option<String>,
    /// The weight.
    pub weight: Option<String>,
}

/// A method and how well it forecast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriedMethod {
    /// Its name.
    pub method: String,
    /// Its cross-validated log loss, in nats an example, unless it was dropped.
    pub log_loss: f64,
    /// How much it counts, where several are weighed; zero if it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Whether it was not cross-validated, because it could not win even on the examples that it was fitted to; the log loss is that of these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
}

/// How a calibrator was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreSummary {
    /// Examples that it was fitted to.
    pub examples: usize,
    /// Examples of each class.
    pub class_counts: Vec<usize>,
    /// Total weight of each class's examples; an example weighs 1 on average.
    pub class_weights: Vec<f64>,
    /// The method that was chosen.
    pub method: String,
    /// Every method that was tried.
    pub tried: Vec<TriedMethod>,
    /// What the choice had to keep to.
    pub rules: ChoiceRules,
    /// Measures of forecasts by curves that were fitted to the other folds.
    pub cross_validated: HeldOutMeasures,
    /// How sure the forecasts of each class's examples were, to tell whether new ones look alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out_shape: Option<HeldOutShape>,
    /// What the user of the calibrator should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<ScoreNote>,
    /// The version of calibrant that fitted it.
    pub calibrant_version: String,
}

/// Scores to probabilities, as it is saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct ScoreCalibrator {
    classes: Vec<String>,
    fields: ScoreFields,
    scale: ScoreScale,
    /// What a stated 0 of each class counts as at most, where there is one probability a class: its row may ask for less.
    /// Absent in files of version 1, where the scale says it for all classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zeros: Option<Vec<f64>>,
    curve: ScoreCurve,
    summary: ScoreSummary,
}

/// The fitted method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreCurve {
    /// One score to the probability of the positive class.
    OneScore(SavedCalibrator),
    /// One score a class to probabilities that sum to one.
    ClassScores(SavedMulticlassCalibrator),
    /// One score a class, left as it is: stated probabilities brought to a sum of one, or the softmax of numbers.
    AsStated,
}

/// As a file has it, before it is believed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    classes: Vec<String>,
    fields: ScoreFields,
    scale: ScoreScale,
    #[serde(default)]
    zeros: Option<Vec<f64>>,
    curve: ScoreCurve,
    summary: ScoreSummary,
}

impl TryFrom<Written> for ScoreCalibrator {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let Written {
            classes,
            fields,
            scale,
            zeros,
            curve,
            summary,
        } = written;
        let (score_count, scale_fits) = match &curve {
            ScoreCurve::OneScore(_) => {
                let fits = !matches!(scale, ScoreScale::ClassProbability { .. });
                (1, fits && classes.len() == 2)
            }
            ScoreCurve::ClassScores(curve) => {
                let fits = !matches!(scale, ScoreScale::Probability { .. });
                (classes.len(), fits && curve.class_count() == classes.len())
            }
            ScoreCurve::AsStated => (
                classes.len(),
                !matches!(scale, ScoreScale::Probability { .. }),
            ),
        };
        let is_share = |&zero: &f64| zero > 0.0 && zero < 1.0;
        let zeros_fit = zeros
            .as_ref()
            .is_none_or(|zeros| zeros.len() == classes.len() && zeros.iter().all(is_share));
        let mut distinct: Vec<&String> = classes.iter().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let weights = &summary.class_weights;
        let fits = scale_fits
            && zeros_fit
            && classes.len() >= 2
            && distinct.len() == classes.len()
            && fields.scores.len() == score_count
            && summary.class_counts.len() == classes.len()
            && weights.len() == classes.len()
            && weights.iter().all(|weight| *weight >= 0.0)
            && weights.iter().sum::<f64>() > 0.0
            && weights.iter().sum::<f64>().is_finite();
        if !fits {
            return Err("its parts do not fit together");
        }
        Ok(Self {
            classes,
            fields,
            scale,
            zeros,
            curve,
            summary,
        })
    }
}

/// A fit, and what it says of its own examples without having seen them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreFit {
    /// What was fitted.
    pub calibrator: ScoreCalibrator,
    /// For each example, output after output, what a curve fitted to the other folds says of it.
    pub cross_validated: Vec<Probability>,
}

/// Room for one example, reused from one to the next.
#[derive(Debug, Clone, Default)]
pub struct ScoreRoom {
    scores: Vec<f64>,
    log_odds: Vec<f64>,
    classes: ClassRoom,
}

impl ScoreCalibrator {
    /// Fits the method, or the best of all, to scores that were not learned from. The order of rows
    /// makes no difference, and of weights only the ratios count: a row weighs 1 on average.
    pub fn fit(table: ScoreTable, settings: &ScoreSettings) -> Result<ScoreFit, FitError> {
        Self::fit_in_folds(table, None, settings)
    }

    /// As [`Self::fit`], for rows that belong together: rows of one group are never on both sides of a fold, and
    /// rows of one group with equal scores and labels are copies of one example, which count once with all their
    /// weight. `groups` has an entry a row, `None` for rows that stand for themselves.
    pub fn fit_grouped(
        table: ScoreTable,
        groups: &[Option<String>],
        settings: &ScoreSettings,
    ) -> Result<ScoreFit, FitError> {
        check_settings(settings, &table.labels)?;
        let width = settings.fields.scores.len();
        check_table(&table.scores, &table.labels, &table.weights, width)?;
        check_stated(settings, &table.scores)?;
        let counts = totals(&table.labels, &table.weights, settings.classes.len()).0;
        let grouped = GroupedScores::new(table, groups, width)?;
        let folds = grouped.folds(settings.classes.len())?;
        let mut fit = Self::fit_in_folds(grouped.table.clone(), Some(folds), settings)?;
        fit.calibrator.summary.examples = counts.iter().sum();
        fit.calibrator.summary.class_counts = counts;
        fit.cross_validated = grouped.of_rows(&fit.cross_validated);
        Ok(fit)
    }

    fn fit_in_folds(
        table: ScoreTable,
        folds: Option<Vec<u8>>,
        settings: &ScoreSettings,
    ) -> Result<ScoreFit, FitError> {
        let class_count = settings.classes.len();
        let ScoreTable {
            mut scores,
            labels,
            weights,
        } = table;
        let one_score = settings.fields.scores.len() == 1;
        check_settings(settings, &labels)?;
        check_table(&scores, &labels, &weights, settings.fields.scores.len())?;
        check_stated(settings, &scores)?;
        let weights = relative_weights(&weights, weights.len() as f64);
        let (class_counts, class_weights) = totals(&labels, &weights, class_count);
        if let [only] = *present(&class_counts) {
            return Err(FitError::OneClass {
                class: settings.classes[only].clone(),
                documents: labels.len(),
            });
        }
        let by_name = !matches!(settings.method, CalibratorKind::Auto | CalibratorKind::None);
        if one_score && by_name && class_counts.iter().any(|&count| count < 2) {
            // A fold without the only example of a class would leave none to learn from.
            return Err(FitError::TooFewExamples {
                method: "cross-validation",
                needed: 2,
                positives: class_counts[1],
                negatives: class_counts[0],
            });
        }
        let scale = scale_of(settings.score_is, &scores, one_score);
        let mut notes = ScoreNote::of(&scores, &labels, &class_counts, &settings.classes);
        notes.extend(ScoreNote::of_folds(
            folds.as_deref(),
            &labels,
            &settings.classes,
        ));
        let output_count = if one_score { 1 } else { class_count };
        let stated = as_stated(scale, output_count, &scores);
        let zeros = match scale {
            ScoreScale::ClassProbability { .. } => stated.1.map(|ends| ends.zero_counts_as),
            _ => None,
        };
        let width = settings.fields.scores.len();
        for row in scores.chunks_exact_mut(width) {
            scale_row(scale, zeros.as_deref(), row);
        }
        let Fitted {
            curve,
            method,
            mut tried,
            cross_validated,
            failed,
            note,
        } = fit_curve(settings, scores, folds, &labels, &weights, stated.0)?;
        notes.extend(failed);
        let notes = ScoreNote::with_calibration(notes, note, &class_counts, &settings.classes);
        let outputs = Outputs::of(&settings.classes, one_score);
        let forecasts = outputs.forecasts(cross_validated.clone(), &labels, weights);
        let evaluation = evaluate_without_chance(&forecasts)?;
        if tried.is_empty() {
            tried.push(TriedMethod {
                method: method.to_owned(),
                log_loss: evaluation.log_loss,
                weight: None,
                dropped: false,
            });
        }
        let summary = ScoreSummary {
            examples: labels.len(),
            class_counts,
            class_weights,
            method: method.to_owned(),
            tried,
            rules: settings.rules,
            cross_validated: HeldOutMeasures::from(&evaluation),
            held_out_shape: super::summary::shape_of(&forecasts),
            notes,
            calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let calibrator = Self {
            classes: settings.classes.clone(),
            fields: settings.fields.clone(),
            scale,
            zeros,
            curve,
            summary,
        };
        // JSON has no infinities: what holds one is better refused now than when it is opened.
        let json = serde_json::to_string(&calibrator).map_err(|_| FitError::Overflow)?;
        serde_json::from_str::<Self>(&json).map_err(|_| FitError::Overflow)?;
        Ok(ScoreFit {
            calibrator,
            cross_validated,
        })
    }

    /// The classes; where there is one score a row, the negative and the positive one.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The fields that it was fitted to.
    pub fn fields(&self) -> &ScoreFields {
        &self.fields
    }

    /// What the scores are.
    pub fn scale(&self) -> ScoreScale {
        self.scale
    }

    /// The fitted method.
    pub fn curve(&self) -> &ScoreCurve {
        &self.curve
    }

    /// How it was fitted.
    pub fn summary(&self) -> &ScoreSummary {
        &self.summary
    }

    /// Whether there is one score a row, for the positive class.
    pub fn is_binary(&self) -> bool {
        matches!(self.curve, ScoreCurve::OneScore(_))
    }

    /// The classes that get a probability: the positive one alone, or all.
    pub fn outputs(&self) -> &[String] {
        Outputs::of(&self.classes, self.is_binary()).names
    }

    /// How the outputs belong together: exclusive, or one on its own.
    pub fn task(&self) -> Task {
        Outputs::of(&self.classes, self.is_binary()).task
    }

    /// The share that each output had among the examples; at least half an example's.
    pub fn priors(&self) -> Vec<f64> {
        let summary = &self.summary;
        let total: f64 = summary.class_weights.iter().sum();
        let least = 0.5 / (summary.examples as f64 + 1.0);
        let shares: Vec<f64> = summary
            .class_weights
            .iter()
            .map(|weight| (weight / total).max(least))
            .collect();
        let sum: f64 = shares.iter().sum();
        let first = self.classes.len() - self.outputs().len();
        shares[first..].iter().map(|share| share / sum).collect()
    }

    /// Fills `out` with the probability of each output.
    ///
    /// # Panics
    /// If there are not as many scores as fields, or not as many places as outputs.
    pub fn probabilities_into(
        &self,
        scores: &[f64],
        room: &mut ScoreRoom,
        out: &mut [Probability],
    ) {
        match &self.curve {
            ScoreCurve::OneScore(SavedCalibrator::Identity) => {
                assert!(scores.len() == 1 && out.len() == 1);
                out[0] = Probability::from_log_odds(self.scale.log_odds_as_stated(scores[0]));
            }
            ScoreCurve::OneScore(curve) => {
                assert!(scores.len() == 1 && out.len() == 1);
                out[0] = curve.probability(self.scale.apply(scores[0]));
            }
            ScoreCurve::ClassScores(curve) => {
                room.scores.clear();
                room.scores.extend_from_slice(scores);
                scale_row(self.scale, self.zeros.as_deref(), &mut room.scores);
                curve.probabilities_into(&room.scores, &mut room.classes, out);
            }
            ScoreCurve::AsStated => self.as_stated_into(scores, room, out),
        }
    }

    fn as_stated_into(&self, scores: &[f64], room: &mut ScoreRoom, out: &mut [Probability]) {
        assert!(scores.len() == self.classes.len() && out.len() == scores.len());
        let (ScoreScale::ClassProbability { .. }, Some(zeros)) = (self.scale, &self.zeros) else {
            softmax_into(scores, room, out);
            return;
        };
        let ln_zeros: Vec<f64> = zeros.iter().map(|zero| zero.ln()).collect();
        let cells: Vec<StatedCell> = scores.iter().map(|&score| cell(score)).collect();
        exclusive_into(&cells, &ln_zeros, &mut room.log_odds, out);
    }

    /// Whether stated probabilities of a row sum to one, but for rounding; scores of other kinds need not.
    pub fn is_whole_row(&self, scores: &[f64]) -> bool {
        match self.scale {
            ScoreScale::ClassProbability { .. } => {
                (scores.iter().sum::<f64>() - 1.0).abs() <= StatedEnds::WORTH_SAYING
            }
            _ => true,
        }
    }

    /// Whether it leaves scores as they are.
    pub fn is_identity(&self) -> bool {
        matches!(
            self.curve,
            ScoreCurve::AsStated | ScoreCurve::OneScore(SavedCalibrator::Identity)
        )
    }

    /// What scores of a whole table say by themselves, output after output: plain numbers are read as log-odds,
    /// or brought to a sum of one by the softmax; stated probabilities are taken at their word, zeros and ones
    /// by the rule of [`StatedTable`], which then says what it did.
    pub fn as_stated(&self, scores: &[f64]) -> (Vec<Probability>, Option<StatedEnds>) {
        as_stated(self.scale, self.outputs().len(), scores)
    }

    /// The two probabilities between which that of the positive class lies, for methods that give
    /// such an interval.
    pub fn interval(&self, scores: &[f64]) -> Option<(Probability, Probability)> {
        match (&self.curve, scores) {
            (ScoreCurve::OneScore(curve), &[score]) => curve.interval(self.scale.apply(score)),
            _ => None,
        }
    }

    /// Whether [`Self::interval`] gives anything.
    pub fn has_interval(&self) -> bool {
        matches!(&self.curve, ScoreCurve::OneScore(curve) if curve.has_interval())
    }

    /// Forecasts for examples with these labels, ready to be measured.
    ///
    /// ```
    /// # use calibrant::pipeline::{ScoreCalibrator, ScoreFields, ScoreIs, ScoreSettings, ScoreTable};
    /// use calibrant::calibration::{CalibratorKind, ChoiceRules, MulticlassKind};
    /// use calibrant::evaluation::evaluate;
    /// let table = ScoreTable {
    ///     scores: vec![1.0, 1.0, -1.0, -1.0].repeat(5),
    ///     labels: vec![1, 0, 1, 0].repeat(5),
    ///     weights: vec![1.0; 20],
    /// };
    /// let settings = ScoreSettings {
    ///     classes: vec!["ham".into(), "spam".into()],
    ///     fields: ScoreFields { scores: vec!["margin".into()], ..ScoreFields::default() },
    ///     score_is: ScoreIs::Auto,
    ///     method: CalibratorKind::Platt,
    ///     multiclass: MulticlassKind::Auto,
    ///     rules: ChoiceRules::default(),
    /// };
    /// let fit = ScoreCalibrator::fit(table, &settings)?;
    /// // The score says nothing: forecasts are near one half (folds drawn by lot are not quite even),
    /// // and by hand the log loss of one half is ln 2.
    /// let forecasts = fit.calibrator.forecasts(fit.cross_validated, &[1, 0, 1, 0].repeat(5), vec![1.0; 20]);
    /// assert!((evaluate(&forecasts)?.log_loss - 2f64.ln()).abs() < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// One score a row speaks of two classes, and its forecasts are measured as forecasts of two classes are
    /// everywhere.
    pub fn forecasts(
        &self,
        probabilities: Vec<Probability>,
        labels: &[u32],
        weights: Vec<f64>,
    ) -> Forecasts {
        Outputs::of(&self.classes, self.is_binary()).forecasts(probabilities, labels, weights)
    }
}

/// The classes that get a probability.
struct Outputs<'a> {
    names: &'a [String],
    classes: &'a [String],
    task: Task,
}

impl<'a> Outputs<'a> {
    fn of(classes: &'a [String], one_score: bool) -> Self {
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

    fn forecasts(
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
        Forecasts {
            task: Task::SingleLabel,
            class_names: self.classes.to_vec(),
            probabilities,
            labels: labels.iter().map(|&label| vec![label]).collect(),
            weights: Some(weights),
        }
    }
}

fn cell(score: f64) -> StatedCell {
    StatedCell::of_number(score.clamp(0.0, 1.0)).unwrap_or(StatedCell::Zero)
}

/// Turns the scores of a row into those that a calibrator sees. A stated 0 counts as it does where it is measured, so
/// that no curve finds it above a number that was stated.
fn scale_row(scale: ScoreScale, zeros: Option<&[f64]>, row: &mut [f64]) {
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

fn as_stated(
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
            let mut room = ScoreRoom::default();
            let rows = scores.chunks_exact(outputs);
            for (row, out) in rows.zip(out.chunks_exact_mut(outputs)) {
                softmax_into(row, &mut room, out);
            }
            return (out, None);
        }
    };
    (table.probabilities, Some(table.ends))
}

fn softmax_into(scores: &[f64], room: &mut ScoreRoom, out: &mut [Probability]) {
    let limit = Probability::MAX_LOG_ODDS;
    room.scores.clear();
    room.scores
        .extend(scores.iter().map(|score| score.clamp(-limit, limit)));
    room.log_odds.clear();
    room.log_odds.resize(scores.len(), 0.0);
    log_odds_against_rest(&room.scores, &mut room.log_odds);
    for (out, &log_odds) in out.iter_mut().zip(&room.log_odds) {
        *out = Probability::from_log_odds(log_odds);
    }
}

fn check_settings(settings: &ScoreSettings, labels: &[u32]) -> Result<(), FitError> {
    let class_count = settings.classes.len();
    let bad = |setting, requirement, value: usize| FitError::BadSetting {
        setting,
        requirement,
        value: value.to_string(),
    };
    let score_count = settings.fields.scores.len();
    if labels.is_empty() {
        return Err(FitError::NoDocuments);
    }
    if class_count < 2 {
        return Err(bad("the number of classes", "at least 2", class_count));
    }
    if score_count == 1 && class_count != 2 {
        return Err(bad(
            "the number of classes with one score a row",
            "2",
            class_count,
        ));
    }
    if score_count != 1 && score_count != class_count {
        return Err(bad(
            "the number of scores a row",
            "one, or one a class",
            score_count,
        ));
    }
    if let Some(&label) = labels.iter().find(|&&label| label as usize >= class_count) {
        return Err(bad(
            "a label",
            "below the number of classes",
            label as usize,
        ));
    }
    Ok(())
}

/// A method fitted to a table, and what it says of its own examples.
struct Fitted {
    curve: ScoreCurve,
    method: &'static str,
    /// Empty where there was nothing to try.
    tried: Vec<TriedMethod>,
    cross_validated: Vec<Probability>,
    /// Ways that could not be fitted.
    failed: Vec<ScoreNote>,
    /// Where the curve comes from.
    note: CalibrationNote,
}

/// Fits the curve to scores as calibrators see them. `stated` is what they say by themselves.
fn fit_curve(
    settings: &ScoreSettings,
    scores: Vec<f64>,
    folds: Option<Vec<u8>>,
    labels: &[u32],
    weights: &[f64],
    stated: Vec<Probability>,
) -> Result<Fitted, FitError> {
    let one_score = settings.fields.scores.len() == 1;
    if settings.method == CalibratorKind::None {
        return Ok(Fitted {
            curve: if one_score {
                ScoreCurve::OneScore(SavedCalibrator::Identity)
            } else {
                ScoreCurve::AsStated
            },
            method: CalibratorKind::None.name(),
            tried: Vec::new(),
            cross_validated: stated,
            failed: Vec::new(),
            note: CalibrationNote::Own,
        });
    }
    if one_score {
        let truths = labels.iter().map(|&label| label == 1).collect();
        let mut held_out = HeldOutScores::assume_weighted(scores, truths, weights.to_vec())?;
        if let Some(folds) = folds {
            held_out = held_out.with_folds(folds)?;
        }
        let class = calibrate_one(&held_out, settings.method, settings.rules)?;
        let tried = class.tried.iter();
        return Ok(Fitted {
            tried: tried
                .map(|tried| TriedMethod {
                    method: tried.method.name().to_owned(),
                    log_loss: tried.log_loss,
                    weight: None,
                    dropped: tried.dropped,
                })
                .collect(),
            curve: ScoreCurve::OneScore(class.calibrator),
            method: class.kind.name(),
            cross_validated: class.forecasts,
            failed: Vec::new(),
            note: class.note,
        });
    }
    let mut held_out = HeldOutClassScores::assume_weighted(
        scores,
        settings.classes.len(),
        labels.to_vec(),
        weights.to_vec(),
    )?;
    if let Some(folds) = folds {
        held_out = held_out.with_folds(folds)?;
    }
    let choice = settings.multiclass.choose(&held_out, settings.method)?;
    let pooled = choice.chosen == MulticlassKind::Auto;
    let tried = choice.tried.iter().map(|way| TriedMethod {
        method: way.kind.name().to_owned(),
        log_loss: way.log_loss,
        weight: pooled.then_some(way.weight),
        dropped: false,
    });
    let failed = choice.failed.into_iter().map(|way| ScoreNote::NotFitted {
        method: way.kind.name().to_owned(),
        reason: way.reason,
    });
    Ok(Fitted {
        failed: failed.collect(),
        curve: ScoreCurve::ClassScores(choice.calibrator),
        method: choice.chosen.name(),
        tried: tried.collect(),
        cross_validated: choice.cross_validated,
        note: CalibrationNote::Joint,
    })
}

/// Whether there are as many scores, labels and weights as belong together, and all are numbers.
fn check_table(
    scores: &[f64],
    labels: &[u32],
    weights: &[f64],
    width: usize,
) -> Result<(), FitError> {
    let mismatch = |left_name, left, right_name, right| FitError::LengthMismatch {
        left_name,
        left,
        right_name,
        right,
    };
    if scores.len() != labels.len() * width {
        let rows = scores.len() / width.max(1);
        return Err(mismatch("rows of scores", rows, "labels", labels.len()));
    }
    if weights.len() != labels.len() {
        return Err(mismatch("labels", labels.len(), "weights", weights.len()));
    }
    if let Some(position) = scores.iter().position(|score| !score.is_finite()) {
        return Err(FitError::BadScore {
            position,
            value: scores[position],
        });
    }
    let bad = |weight: &&f64| !(weight.is_finite() && **weight > 0.0);
    match weights.iter().find(bad) {
        Some(weight) => Err(FitError::BadSetting {
            setting: "a weight",
            requirement: "a positive number",
            value: weight.to_string(),
        }),
        None => Ok(()),
    }
}

/// Whether every row of stated probabilities states something.
fn check_stated(settings: &ScoreSettings, scores: &[f64]) -> Result<(), FitError> {
    let width = settings.fields.scores.len();
    if width < 2 || scale_of(settings.score_is, scores, false) == ScoreScale::Number {
        return Ok(());
    }
    let nothing = |row: &[f64]| row.iter().all(|&score| score == 0.0);
    match scores.chunks_exact(width).position(nothing) {
        Some(row) => Err(FitError::NothingStated { number: row + 1 }),
        None => Ok(()),
    }
}

fn totals(labels: &[u32], weights: &[f64], class_count: usize) -> (Vec<usize>, Vec<f64>) {
    let mut counts = vec![0; class_count];
    let mut sums = vec![crate::numeric::StableSum::default(); class_count];
    for (&label, &weight) in labels.iter().zip(weights) {
        counts[label as usize] += 1;
        sums[label as usize].add(weight);
    }
    (counts, sums.into_iter().map(|sum| sum.total()).collect())
}

/// The classes that have examples.
fn present(class_counts: &[usize]) -> Box<[usize]> {
    let classes = class_counts.iter().enumerate();
    classes
        .filter(|&(_, &count)| count > 0)
        .map(|(class, _)| class)
        .collect()
}

fn scale_of(score_is: ScoreIs, scores: &[f64], one_score: bool) -> ScoreScale {
    let probabilities = match score_is {
        ScoreIs::Number => false,
        ScoreIs::Probability => true,
        ScoreIs::Auto => {
            // Nothing but zeros and ones are decisions or counts.
            let inside = scores.iter().any(|score| *score > 0.0 && *score < 1.0);
            inside && scores.iter().all(|score| (0.0..=1.0).contains(score))
        }
    };
    match (probabilities, one_score) {
        (false, _) => ScoreScale::Number,
        (true, true) => ScoreScale::of_probabilities(scores),
        (true, false) => ScoreScale::of_class_probabilities(scores),
    }
}

mod grouped;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
