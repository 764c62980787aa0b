//! What a model remembers of its training.

use serde::{Deserialize, Serialize};

use super::{Classifier, SearchGain};
use crate::Task;
use crate::calibration::{
    CalibrationNote, CalibratorKind, HeldOutShape, LogOddsSpread, MulticlassKind, Tried, Weighed,
};
use crate::decision::KnownDocuments;
use crate::evaluation::{Evaluation, Forecasts, LossUnit};
use crate::features::WeightingSettings;
use crate::solvers::Convergence;
use crate::text::Analyzer;

/// One class of the training documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassSummary {
    /// Its name.
    pub label: String,
    /// Training documents that have it.
    pub positives: usize,
    /// Its share of the documents' weight; absent where all weigh alike and none is a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<f64>,
    /// Its calibration method; none of its own where all classes have a calibrator together.
    pub calibrator: CalibratorKind,
    /// Where the calibrator comes from.
    pub calibration: CalibrationNote,
    /// How much its own curve counts beside one for all labels; absent where nothing is weighed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_weight: Option<f64>,
    /// Whether all its documents were held out together, as those of one group are: what is said of it was never
    /// tried on documents that a scorer of the class had not seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_one_fold: bool,
    /// Every method that was tried, with its cross-validated log loss unless it was dropped before.
    pub tried: Vec<Tried>,
    /// How far stated log-odds of the class may be off on more documents like these, for how long to read a list ordered by them; absent in older
    /// files, and where nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<LogOddsSpread>,
    /// How the solver ended at its worst over the whole and the folds; absent for naive Bayes.
    pub convergence: Option<Convergence>,
}

/// Measures on the training documents, each forecast by scorers and curves that were fitted
/// without the document's fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutMeasures {
    /// Share of documents whose likeliest class is right (one label per document).
    pub accuracy: Option<f64>,
    /// F1 over all decisions.
    pub micro_f1: f64,
    /// Mean F1 over classes.
    pub macro_f1: f64,
    /// Mean log loss in nats, over documents or decisions.
    pub log_loss: f64,
    /// What the log loss is a mean over.
    pub log_loss_over: LossUnit,
    /// Brier score.
    pub brier: f64,
    /// Expected calibration error.
    pub ece: f64,
}

impl From<&Evaluation> for HeldOutMeasures {
    fn from(evaluation: &Evaluation) -> Self {
        Self {
            accuracy: evaluation.accuracy,
            micro_f1: evaluation.micro_f1,
            macro_f1: evaluation.macro_f1,
            log_loss: evaluation.log_loss,
            log_loss_over: evaluation.log_loss_over,
            brier: evaluation.brier,
            ece: evaluation.ece,
        }
    }
}

/// How all classes together were calibrated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MulticlassSummary {
    /// The way.
    pub chosen: MulticlassKind,
    /// Every way that was tried with its cross-validated log loss and its weight.
    pub tried: Vec<Weighed>,
}

/// Settings that a search tried, and how well they forecast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriedSettings {
    /// How texts become terms, where it is not as the settings say.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "Analyzer::save_option",
        deserialize_with = "Analyzer::of_saved_option"
    )]
    pub analyzer: Option<Analyzer>,
    /// The learner.
    pub classifier: Classifier,
    /// The weighting.
    pub weighting: WeightingSettings,
    /// How many documents took part: all, or a sample of them.
    pub documents: usize,
    /// Cross-validated log loss in nats, over documents or decisions; absent where the fit failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
    /// Why the fit failed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether the model, or a member of it, is fitted with these settings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chosen: bool,
}

/// A weighting of terms that was tried because none was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriedWeighting {
    /// The weighting.
    pub weighting: WeightingSettings,
    /// Terms in fewer documents were left out.
    pub min_documents: u32,
    /// How many documents took part: all, or a sample of them.
    pub documents: usize,
    /// Cross-validated log loss in nats, over documents or decisions, with one simple calibrator.
    pub log_loss: f64,
    /// Whether the model is fitted with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chosen: bool,
}

/// A cost of errors that was tried because none was asked for and the classes are easy to separate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriedCost {
    /// The cost.
    pub c: f64,
    /// How many documents took part: all, or a sample of them.
    pub documents: usize,
    /// Cross-validated log loss in nats, over documents or decisions, with one simple calibrator.
    pub log_loss: f64,
    /// Whether the model is fitted with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chosen: bool,
}

/// What the training was like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingSummary {
    /// One label per document or several.
    pub task: Task,
    /// Documents that were learned from, copies included.
    pub documents: usize,
    /// How many of them are copies: equal to an earlier one in all that the model sees, whatever their labels.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub copies: usize,
    /// How many groups never lay on both sides of a fold, documents without a group counted as one each; absent
    /// where none was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    /// Documents left out because their class was not asked for.
    pub documents_left_out: usize,
    /// Features of the model.
    pub features: usize,
    /// Whether the features came by number, as rows of an array or of an svmlight file do, instead of from text. False in
    /// older files, which do not say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub numbered_features: bool,
    /// Folds of the cross-fitting.
    pub folds: usize,
    /// Every class.
    pub classes: Vec<ClassSummary>,
    /// How all classes together were calibrated; absent where each was on its own from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiclass: Option<MulticlassSummary>,
    /// How well known documents look, for telling when one belongs to no class; absent where that has
    /// no meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_documents: Option<KnownDocuments>,
    /// What to expect on documents like these.
    pub held_out: HeldOutMeasures,
    /// On how many documents, spread evenly along the score, calibration methods were compared and forecasts measured; absent where on all.
    /// The curve is fitted to all, unless scores tell so little that it is made of them another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<usize>,
    /// How sure the forecasts of each class's documents were, to tell whether new documents look alike; absent with
    /// several labels per document, and where there are too few documents or too many classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out_shape: Option<HeldOutShape>,
    /// The weightings of terms that were tried; empty where one was asked for or nothing was to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weightings: Vec<TriedWeighting>,
    /// The costs of errors that were tried; empty where one was asked for or the usual one was taken as it is.
    #[serde(default, rename = "prices", skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<TriedCost>,
    /// What was tried before these settings were chosen; empty where nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<TriedSettings>,
    /// Which of `search` is the default, by its place: what a fit without a search would give, even if it failed.
    /// Absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_default: Option<usize>,
    /// What a search expects of the best that it found beside the default, whichever became the model; absent where the
    /// default was the best, and where its fit failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_gain: Option<SearchGain>,
    /// The version of calibrant that fitted the model.
    pub calibrant_version: String,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl TrainingSummary {
    /// How many different documents, or groups of them, were learned from.
    pub fn different_documents(&self) -> usize {
        let documents = self.documents - self.copies.min(self.documents);
        self.groups
            .map_or(documents, |groups| groups.min(documents))
    }

    /// Classes whose solver gave up before its tolerance.
    pub fn not_converged(&self) -> impl Iterator<Item = &ClassSummary> {
        self.classes
            .iter()
            .filter(|class| class.convergence.is_some_and(|end| !end.converged))
    }

    /// Classes whose calibrator is not their own.
    pub fn borrowed(&self) -> impl Iterator<Item = &ClassSummary> {
        self.noted(CalibrationNote::Pooled)
    }

    /// Classes whose calibrator came about in this way.
    pub fn noted(&self, note: CalibrationNote) -> impl Iterator<Item = &ClassSummary> {
        let classes = self.classes.iter();
        classes.filter(move |class| class.calibration == note)
    }
}

/// How sure held-out forecasts of each class's documents are; `None` with several labels per document.
pub(super) fn shape_of(forecasts: &Forecasts) -> Option<HeldOutShape> {
    if forecasts.task == Task::MultiLabel {
        return None;
    }
    let labels = forecasts.labels.iter();
    let even = vec![1.0; forecasts.labels.len()];
    HeldOutShape::of(
        forecasts.class_names.len(),
        &forecasts.probabilities,
        labels.map(|labels| labels.first().map_or(0, |&label| label as usize)),
        forecasts.weights.as_deref().unwrap_or(&even),
    )
}
