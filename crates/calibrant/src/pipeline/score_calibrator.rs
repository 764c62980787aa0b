//! Scores of any classifier in the world to probabilities: no text, no features.

mod fit;
mod grouped;
mod many;
mod notes;
mod stated;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;

pub use notes::ScoreNote;

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::HeldOutMeasures;
use crate::calibration::{
    Calibrator, CalibratorKind, ChoiceRules, ClassBuffers, HeldOutShape, MulticlassKind,
    SavedCalibrator, SavedMulticlassCalibrator, ScoreScale,
};
use crate::decision::TrainedShares;
use crate::evaluation::{Forecasts, StatedCell, StatedEnds, exclusive_into};
use crate::{Probability, Task};
use stated::{Outputs, as_stated, cell, scale_row, softmax_into};

/// Scores of examples that the classifier did not learn from, with their labels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreTable {
    /// Row by row: one score, or one per class.
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

named! {
    ScoreIs, "a kind of score";
    Auto = "auto", "Probabilities if all lie between 0 and 1, else numbers";
    Number = "number" | "log_odds", "Any real number, such as a margin";
    Probability = "probability", "A probability, which becomes log-odds first";
}

/// How to fit a [`ScoreCalibrator`].
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreSettings {
    /// The classes. Where there is one score per row: the negative, then the positive one.
    pub classes: Vec<String>,
    /// The fields that the scores come from: one, or one per class in the order of the classes.
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
    /// Labels that differ in case or space alone are one, also where the calibrator is measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fold_labels: bool,
}

/// A method and how well it forecast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriedMethod {
    /// Its name.
    pub method: String,
    /// Its cross-validated log loss, in nats per example; absent where it was dropped before, since it was not significantly ahead even on the examples
    /// that it was fitted to.
    pub log_loss: Option<f64>,
    /// How much it counts, where several are weighed; zero if it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// How a calibrator was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreSummary {
    /// Examples that it was fitted to.
    pub examples: usize,
    /// How many groups they come from, where groups were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
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
    /// On how many examples, spread evenly along the score, methods were compared and forecasts measured; absent where on all. The
    /// curve is fitted to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<usize>,
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
    /// One score per class to probabilities that sum to one.
    ClassScores(SavedMulticlassCalibrator),
    /// One score per class, left as it is: stated probabilities normalised, or the softmax of numbers.
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

/// Buffers for one example, reused between calls.
#[derive(Debug, Clone, Default)]
pub struct ScoreBuffers {
    scores: Vec<f64>,
    log_odds: Vec<f64>,
    classes: ClassBuffers,
}

impl ScoreCalibrator {
    /// The classes; where there is one score per row, the negative and the positive one.
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

    /// Whether there is one score per row, for the positive class.
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

    /// What it knows of the classes' shares in training, for a [`PriorPlan`](crate::decision::PriorPlan).
    pub fn trained_shares(&self) -> TrainedShares {
        let summary = &self.summary;
        TrainedShares {
            task: self.task(),
            classes: self.outputs().to_vec(),
            negative: self.is_binary().then(|| self.classes[0].clone()),
            shares: self.priors(),
            examples: summary.groups.unwrap_or(summary.examples),
            shape: summary.held_out_shape.clone(),
        }
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
        buffer: &mut ScoreBuffers,
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
                buffer.scores.clear();
                buffer.scores.extend_from_slice(scores);
                scale_row(self.scale, self.zeros.as_deref(), &mut buffer.scores);
                curve.probabilities_into(&buffer.scores, &mut buffer.classes, out);
            }
            ScoreCurve::AsStated => self.as_stated_into(scores, buffer, out),
        }
    }

    fn as_stated_into(&self, scores: &[f64], buffer: &mut ScoreBuffers, out: &mut [Probability]) {
        assert!(scores.len() == self.classes.len() && out.len() == scores.len());
        let (ScoreScale::ClassProbability { .. }, Some(zeros)) = (self.scale, &self.zeros) else {
            softmax_into(scores, buffer, out);
            return;
        };
        let ln_zeros: Vec<f64> = zeros.iter().map(|zero| zero.ln()).collect();
        let cells: Vec<StatedCell> = scores.iter().map(|&score| cell(score)).collect();
        exclusive_into(&cells, &ln_zeros, &mut buffer.log_odds, out);
    }

    /// Whether stated probabilities of a row sum to one, but for rounding; scores of other kinds need not.
    pub(crate) fn is_whole_row(&self, scores: &[f64]) -> bool {
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
    /// or normalised by the softmax; stated probabilities are taken at their word, zeros and ones
    /// by the rule of [`StatedTable`](crate::evaluation::StatedTable), which then says what it did.
    pub(crate) fn as_stated(&self, scores: &[f64]) -> (Vec<Probability>, Option<StatedEnds>) {
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
    /// // The score says nothing: forecasts are near one half (folds drawn at random are not quite even),
    /// // and by hand the log loss of one half is ln 2.
    /// let forecasts = fit.calibrator.forecasts(fit.cross_validated, &[1, 0, 1, 0].repeat(5), vec![1.0; 20]);
    /// assert!((evaluate(&forecasts)?.log_loss - 2f64.ln()).abs() < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// One score per row speaks of two classes, and its forecasts are measured as forecasts of two classes are
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
