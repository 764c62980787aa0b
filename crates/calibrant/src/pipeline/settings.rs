//! Everything that decides what a model becomes, in one serialisable value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calibration::{CalibratorKind, MulticlassKind};
use crate::decision::ThresholdCosts;
use crate::features::{
    ColumnSpace, DocumentFrequencyLimits, Selection, SelectionScope, Weighting, WeightingSettings,
};
use crate::multiclass::{CodeSettings, Decode};
use crate::rules::{RuleMatcher, RuleSet};
use crate::scorers::naive_bayes::not_presence;
use crate::scorers::{Classifier, Reads};
use crate::text::Analyzer;
use crate::{FitError, Task};

/// The weights of classes in training. Calibration does not use them, so
/// probabilities refer to the documents as they are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassWeights {
    /// Equal weights.
    #[default]
    Equal,
    /// Both sides of every binary problem have the same total weight.
    Balanced,
    /// The positives of the named classes are weighted by these factors.
    Given(BTreeMap<String, f64>),
}

/// What to fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitSettings {
    /// Text to terms.
    pub analyzer: Analyzer,
    /// Which terms become features.
    pub limits: DocumentFrequencyLimits,
    /// A hashed space of `2^bits` columns instead of a vocabulary.
    pub hash_bits: Option<u32>,
    /// How counts become values. If absent, linear learners use the one of three with the lowest held-out log loss, others
    /// their default.
    pub weighting: Option<WeightingSettings>,
    /// A selection of discriminative terms.
    pub selection: Option<Selection>,
    /// The text of a rules file; each rule's strength is a feature. Fields that it names have to be
    /// read, as [`Fields::asked`](crate::corpus::Fields::asked).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// The weight of numbers and categories relative to text of unit length: a factor above 0 and at most 1.
    /// If absent, it is 1; for learners by similarity (nearest neighbours, Rocchio), which do not weight
    /// columns individually, the one with the lowest held-out log loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_factor: Option<f64>,
    /// The length that vectors are brought to, where text has the length 1. If absent, it is 0.5, which was measured; for
    /// learners by similarity beside words the factor of side columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_factor: Option<f64>,
    /// The learner.
    pub classifier: Classifier,
    /// An output code around the learner, for single-label documents; one-vs-rest if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeSettings>,
    /// Weights of the classes in training.
    pub class_weights: ClassWeights,
    /// The calibration method.
    pub calibrator: CalibratorKind,
    /// Whether every curve is made monotone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub monotone: bool,
    /// How the classes of single-label documents are calibrated together.
    pub multiclass: MulticlassKind,
    /// The costs of mistakes about a single class, for the thresholds below which a document belongs to no class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_cost: Option<ThresholdCosts>,
    /// Folds of the cross-fitting for calibration.
    pub folds: usize,
    /// Only these classes; all that occur if absent.
    pub classes: Option<Vec<String>>,
    /// One label per document or several; detected from the data if absent.
    pub task: Option<Task>,
    /// Labels that differ in case or space alone are one class, called as most documents spell it (of equals by the order of
    /// bytes). The model remembers it and holds the labels of test documents against its classes in the same way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fold_labels: bool,
    /// Learn even where most documents have a label of their own, which is then rather a name than a class.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_unique_labels: bool,
    /// The seed of folds and of the order in which learners visit rows.
    pub seed: u64,
    /// Whether the model keeps a small filter of its training documents, to count how many documents
    /// of a test set it has seen.
    #[serde(skip_serializing_if = "is_true")]
    pub training_keys: bool,
}

fn is_true(value: &bool) -> bool {
    *value
}

impl Default for FitSettings {
    fn default() -> Self {
        Self {
            analyzer: Analyzer::default(),
            limits: DocumentFrequencyLimits::default(),
            hash_bits: None,
            weighting: None,
            selection: None,
            rules: None,
            side_factor: None,
            vector_factor: None,
            classifier: Classifier::default(),
            code: None,
            class_weights: ClassWeights::default(),
            calibrator: CalibratorKind::Auto,
            monotone: false,
            multiclass: MulticlassKind::Auto,
            other_cost: None,
            folds: 5,
            classes: None,
            task: None,
            fold_labels: false,
            allow_unique_labels: false,
            seed: 0,
            training_keys: true,
        }
    }
}

impl FitSettings {
    /// The weighting that will be used.
    pub fn effective_weighting(&self) -> WeightingSettings {
        self.weighting
            .unwrap_or_else(|| self.classifier.usual_weighting())
    }

    /// Where terms become columns.
    pub fn column_space(&self) -> ColumnSpace {
        self.hash_bits
            .map_or(ColumnSpace::Vocabulary, |bits| ColumnSpace::Hashed { bits })
    }

    /// Which parts of a document the learner uses.
    pub(super) fn reads(&self) -> Reads {
        self.classifier.learner().reads()
    }

    /// Whether scores can be read as log-odds before any calibration. Margins, cosines and distances cannot, whatever
    /// probabilities may be made of them; a code's classes have log-odds where they are decoded by least squares.
    pub fn states_log_odds(&self) -> bool {
        match &self.code {
            Some(code) => code.decode == Decode::LeastSquares,
            None => self.classifier.learner().states_log_odds(),
        }
    }

    /// The rules, if there are any.
    pub(crate) fn rule_set(&self) -> Result<Option<RuleSet>, FitError> {
        let rules = self.rules.as_deref().map(str::parse).transpose();
        rules.map_err(FitError::Rules)
    }

    /// The rules, ready to be matched with texts that are analysed as these settings say.
    pub(crate) fn rule_matcher(&self) -> Result<Option<RuleMatcher>, FitError> {
        let matcher = |rules: RuleSet| RuleMatcher::new(&rules, &self.analyzer);
        let rules = self.rule_set()?.map(matcher).transpose();
        rules.map_err(FitError::Rules)
    }

    /// Finds settings that make no sense before any work is done.
    pub fn check(&self) -> Result<(), FitError> {
        if self.reads() == Reads::Presence
            && let Some(asked) = self.weighting
            && asked != self.classifier.usual_weighting()
        {
            return Err(not_presence(asked.name()));
        }
        self.multiclass.check()?;
        self.check_saved()
    }

    /// What the settings of a model file must be like. Those of before may hold what is refused today:
    /// Bernoulli naive Bayes that was learned from presence and scores counts.
    pub(super) fn check_saved(&self) -> Result<(), FitError> {
        self.check_features()?;
        self.classifier.learner().check()?;
        self.check_code()?;
        self.check_rules()?;
        self.check_learner_fits()?;
        self.check_numbers()
    }

    fn check_features(&self) -> Result<(), FitError> {
        if let Some(bits) = self.hash_bits
            && !(1..=28).contains(&bits)
        {
            return bad("the number of hash bits", "1 to 28", bits.to_string());
        }
        if self.hash_bits.is_some() && self.limits.max_features.is_some() {
            let setting = "the maximum number of features";
            return bad(setting, "absent with hashing", "given");
        }
        let above_zero_and_at_most_one = |share: f64| share > 0.0 && share <= 1.0;
        if !above_zero_and_at_most_one(self.limits.max_share) {
            let share = self.limits.max_share.to_string();
            let setting = "the largest share of documents";
            return bad(setting, "above 0 and at most 1", share);
        }
        if let Some(Weighting::Bm25 { k1, b }) = self.weighting.map(|settings| settings.weighting)
            && !(k1.is_finite() && k1 >= 0.0 && (0.0..=1.0).contains(&b))
        {
            let requirement = "k1 >= 0 and b from 0 to 1";
            return bad("BM25's k1 and b", requirement, format!("{k1} and {b}"));
        }
        if let Some(factor) = self.side_factor
            && !above_zero_and_at_most_one(factor)
        {
            let setting = "the factor of side columns";
            return bad(setting, "above 0 and at most 1", factor.to_string());
        }
        if let Some(factor) = self.vector_factor
            && !(factor > 0.0 && factor <= 1e6)
        {
            let setting = "the factor of vectors";
            return bad(setting, "above 0 and at most 1e6", factor.to_string());
        }
        if self.selection.is_some_and(|selection| selection.count == 0) {
            return bad("the number of selected terms", "at least 1", "0");
        }
        Ok(())
    }

    /// What an output code can be put around.
    fn check_code(&self) -> Result<(), FitError> {
        let Some(code) = &self.code else {
            return Ok(());
        };
        code.check()?;
        if self.reads() == Reads::Rules {
            let requirement = "one that learns, with an output code: rules are of classes";
            return bad("the classifier", requirement, self.classifier.name());
        }
        if code.design.is_sparse() && self.classifier.learner().keeps_rows() {
            let requirement = "one without zeros for nearest neighbours, whose rows would be kept once per column";
            return bad("the code", requirement, code.design.name());
        }
        if matches!(self.class_weights, ClassWeights::Given(_)) {
            let requirement =
                "equal or balanced with an output code, whose problems are not classes";
            return bad("the class weights", requirement, "given for some");
        }
        if self.task == Some(Task::MultiLabel) {
            let requirement = "one per document with an output code";
            return bad("the labels", requirement, "several");
        }
        Ok(())
    }

    /// What the classifier `rules` can do without, and the one thing it cannot.
    fn check_rules(&self) -> Result<(), FitError> {
        self.rule_matcher()?;
        if self.reads() != Reads::Rules {
            return Ok(());
        }
        if self.rules.is_none() {
            let requirement = "given where the classifier is `rules`";
            return bad("the rules", requirement, "absent");
        }
        if self.selection.is_some() {
            let requirement = "absent where the classifier is `rules`, which looks at no terms";
            return bad("the selection of terms", requirement, "given");
        }
        Ok(())
    }

    /// What the learner cannot take into account.
    fn check_learner_fits(&self) -> Result<(), FitError> {
        let learner = self.classifier.learner();
        let given = match &self.class_weights {
            ClassWeights::Equal => None,
            ClassWeights::Balanced => Some("balanced"),
            ClassWeights::Given(_) => Some("one for each class"),
        };
        if let (Some(given), Some(requirement)) = (given, learner.refuses_class_weights()) {
            return bad("the class weights", requirement, given);
        }
        let per_class = |selection: Selection| selection.scope == SelectionScope::PerClass;
        if !learner.is_linear() && self.selection.is_some_and(per_class) {
            return Err(super::fit_scorer::unselectable());
        }
        Ok(())
    }

    pub(super) fn check_numbers(&self) -> Result<(), FitError> {
        if let Some(costs) = self.other_cost
            && !(costs.false_positive.is_finite()
                && costs.false_negative.is_finite()
                && costs.false_positive > 0.0
                && costs.false_negative > 0.0)
        {
            let value = format!("{} and {}", costs.false_positive, costs.false_negative);
            let setting = "the costs of wrong and missed documents";
            return bad(setting, "two positive numbers", value);
        }
        if !(2..=255).contains(&self.folds) {
            return bad("the number of folds", "2 to 255", self.folds.to_string());
        }
        if let ClassWeights::Given(weights) = &self.class_weights
            && let Some((class, weight)) = weights
                .iter()
                .find(|(_, weight)| !(weight.is_finite() && **weight > 0.0))
        {
            let value = format!("{weight} (for `{class}`)");
            return bad("a class weight", "a positive number", value);
        }
        Ok(())
    }
}

fn bad(
    setting: &'static str,
    requirement: &'static str,
    value: impl Into<String>,
) -> Result<(), FitError> {
    Err(FitError::BadSetting {
        setting,
        requirement,
        value: value.into(),
    })
}
