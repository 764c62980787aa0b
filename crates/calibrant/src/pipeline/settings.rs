//! Everything that decides what a model becomes, in one serialisable value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calibration::{CalibratorKind, MulticlassKind};
use crate::decision::ThresholdCosts;
use crate::features::{
    ColumnSpace, DocumentFrequencyLimits, Selection, SelectionScope, Weighting, WeightingSettings,
};
use crate::multiclass::CodeSettings;
use crate::rules::{RuleMatcher, RuleSet};
use crate::scorers::naive_bayes::not_presence;
use crate::scorers::{
    AdaBoost, LinearSvm, LogisticRegression, NaiveBayes, NaiveBayesKind, NearestNeighbours,
    Perceptron, Rocchio, Smoothing,
};
use crate::text::Analyzer;
use crate::{FitError, Task};

/// The learner behind the scores.
// The tag must not be `kind`: naive Bayes has a field of that name, and the two would collide.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "learner")]
pub enum Classifier {
    /// Naive Bayes.
    NaiveBayes(NaiveBayes),
    /// A linear support vector machine.
    LinearSvm(LinearSvm),
    /// Logistic regression.
    LogisticRegression(LogisticRegression),
    /// The strength of each class's own rule; nothing is learned but how far it can be trusted.
    Rules,
    /// The nearest centre.
    Rocchio(Rocchio),
    /// A committee of decision stumps.
    #[serde(rename = "adaboost")]
    AdaBoost(AdaBoost),
    /// Training documents that vote.
    NearestNeighbours(NearestNeighbours),
    /// Averaged or voted perceptrons.
    Perceptron(Perceptron),
}

/// Whether a term is there.
const PRESENCE: WeightingSettings = WeightingSettings {
    weighting: Weighting::Binary,
    l2_norm: false,
};

impl Default for Classifier {
    fn default() -> Self {
        Self::LinearSvm(LinearSvm::default())
    }
}

impl Classifier {
    /// The weighting that suits the learner: presence for Bernoulli naive Bayes, counts for the other
    /// kinds, `(1 + ln tf) idf` of unit length for all else.
    pub fn usual_weighting(&self) -> WeightingSettings {
        match self {
            Self::NaiveBayes(learner) if learner.presence_only() => PRESENCE,
            Self::NaiveBayes(_) => WeightingSettings {
                weighting: Weighting::Tf,
                l2_norm: false,
            },
            _ => WeightingSettings {
                weighting: Weighting::LogTfIdf,
                l2_norm: true,
            },
        }
    }

    /// Whether it finds a weight for each column, whatever the scale of the values.
    pub(super) fn weighs_columns(&self) -> bool {
        matches!(
            self,
            Self::LinearSvm(_) | Self::LogisticRegression(_) | Self::Perceptron(_)
        )
    }

    /// The price of errors that was asked for.
    pub(super) fn asked_price(&self) -> Option<f64> {
        match self {
            Self::LinearSvm(learner) => learner.c,
            Self::LogisticRegression(learner) => learner.c,
            _ => None,
        }
    }

    /// The price of errors, the usual one where none was asked for; nothing where the learner has none.
    pub(super) fn price(&self) -> Option<f64> {
        match self {
            Self::LinearSvm(learner) => Some(learner.c.unwrap_or(LinearSvm::USUAL_C)),
            Self::LogisticRegression(learner) => {
                Some(learner.c.unwrap_or(LogisticRegression::USUAL_C))
            }
            _ => None,
        }
    }

    /// The learner with this price of errors, if it has one.
    pub(super) fn at_price(mut self, price: f64) -> Self {
        match &mut self {
            Self::LinearSvm(learner) => learner.c = Some(price),
            Self::LogisticRegression(learner) => learner.c = Some(price),
            _ => {}
        }
        self
    }

    /// The learner with the usual price of errors where none was asked for.
    pub(super) fn with_settled_price(self) -> Self {
        self.price().map_or(self, |price| self.at_price(price))
    }

    /// Whether it compares rows as wholes, so that a column without meaning hides those that have one.
    pub(super) fn by_similarity(&self) -> bool {
        matches!(self, Self::Rocchio(_) | Self::NearestNeighbours(_))
    }

    /// Whether it looks at which terms are there, whatever their weight.
    pub(super) fn presence_only(&self) -> bool {
        matches!(self, Self::NaiveBayes(learner) if learner.presence_only())
    }

    /// Finds settings of the learner that make no sense.
    fn check(&self) -> Result<(), FitError> {
        let positive = |setting, value: f64| {
            if value.is_finite() && value > 0.0 {
                return Ok(());
            }
            Err(FitError::BadSetting {
                setting,
                requirement: "a positive number",
                value: value.to_string(),
            })
        };
        let limits = match self {
            Self::NaiveBayes(learner) => {
                return match learner.smoothing {
                    Smoothing::Laplace { alpha } => positive("alpha", alpha),
                    Smoothing::CorpusPrior { strength } => {
                        positive("the strength of the word prior", strength)
                    }
                };
            }
            Self::Rules | Self::Rocchio(_) => return Ok(()),
            Self::AdaBoost(learner) => return learner.check(),
            Self::NearestNeighbours(learner) => return learner.check(),
            Self::Perceptron(learner) => return learner.check(),
            Self::LinearSvm(learner) => learner.limits,
            Self::LogisticRegression(learner) => learner.limits,
        };
        if let Some(c) = self.asked_price() {
            positive("c", c)?;
        }
        if let Self::LinearSvm(LinearSvm {
            log_count_ratio: Some(alpha),
            ..
        }) = self
        {
            positive("the smoothing of log-count ratios", *alpha)?;
        }
        // A tolerance of zero is a fair wish: all the passes that are allowed.
        if limits.relative_gap != 0.0 {
            positive("the tolerance", limits.relative_gap)?;
        }
        positive("the number of passes", limits.max_passes as f64)
    }

    /// Its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NaiveBayes(learner) => match learner.kind {
                NaiveBayesKind::Multinomial => "naive Bayes",
                NaiveBayesKind::Bernoulli => "Bernoulli naive Bayes",
                NaiveBayesKind::Complement => "complement naive Bayes",
            },
            Self::LinearSvm(learner) if learner.log_count_ratio.is_some() => {
                "linear SVM on log-count ratios"
            }
            Self::LinearSvm(_) => "linear SVM",
            Self::LogisticRegression(_) => "logistic regression",
            Self::Rules => "rules",
            Self::Rocchio(_) => "Rocchio",
            Self::AdaBoost(_) => "AdaBoost",
            Self::NearestNeighbours(_) => "nearest neighbours",
            Self::Perceptron(learner) if learner.voted => "voted perceptron",
            Self::Perceptron(_) => "averaged perceptron",
        }
    }

    /// Whether a class's score is a weighted sum of the row's values.
    pub fn is_linear(&self) -> bool {
        match self {
            Self::NaiveBayes(_)
            | Self::LinearSvm(_)
            | Self::LogisticRegression(_)
            | Self::Rules => true,
            Self::Perceptron(learner) => !learner.voted,
            Self::Rocchio(_) | Self::AdaBoost(_) | Self::NearestNeighbours(_) => false,
        }
    }
}

/// How much the classes count in training. Calibration never sees these factors, so that
/// probabilities stay those of the documents as they are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassWeights {
    /// All alike.
    #[default]
    Equal,
    /// Both sides of every problem with the same total weight.
    Balanced,
    /// Positives of the named classes this many times more.
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
    /// A hashed space of `2^bits` columns in place of a vocabulary.
    pub hash_bits: Option<u32>,
    /// Counts to values. Absent, linear learners have the one of three with the least held-out log loss, others
    /// their usual one.
    pub weighting: Option<WeightingSettings>,
    /// A choice of terms that tell the classes apart.
    pub selection: Option<Selection>,
    /// The text of a rules file; each rule's strength is a feature. Fields that it names have to be
    /// read, as [`Fields::asked`](crate::corpus::Fields::asked).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// What numbers and categories count beside text of unit length: a factor above 0 and at most 1.
    /// Absent, it is 1; for learners by similarity (nearest neighbours, Rocchio), who give no column a
    /// weight of its own, the one of least held-out log loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_factor: Option<f64>,
    /// The learner.
    pub classifier: Classifier,
    /// An output code around the learner, for documents with one of several classes; each class
    /// against the rest if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeSettings>,
    /// Weights of the classes in training.
    pub class_weights: ClassWeights,
    /// The calibration method.
    pub calibrator: CalibratorKind,
    /// Whether a class's curve that would fall while the score rises is made to rise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub monotone: bool,
    /// How the classes of documents with one label come to probabilities together.
    pub multiclass: MulticlassKind,
    /// What mistakes about a single class cost, for thresholds beyond which a document is of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_cost: Option<ThresholdCosts>,
    /// Folds of the cross-fitting that calibration rests on.
    pub folds: usize,
    /// Only these classes; all that occur if absent.
    pub classes: Option<Vec<String>>,
    /// One label a document or several; told from the data if absent.
    pub task: Option<Task>,
    /// For folds and the order in which learners visit rows.
    pub seed: u64,
    /// Whether the model keeps a small filter of the documents it learned from, so that it can be said how many
    /// of a test set's it knows.
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

    /// The rules, if there are any.
    pub fn rule_set(&self) -> Result<Option<RuleSet>, FitError> {
        let rules = self.rules.as_deref().map(str::parse).transpose();
        rules.map_err(FitError::Rules)
    }

    /// The rules, ready to be matched with texts that are analysed as these settings say.
    pub fn rule_matcher(&self) -> Result<Option<RuleMatcher>, FitError> {
        let matcher = |rules: RuleSet| RuleMatcher::new(&rules, &self.analyzer);
        let rules = self.rule_set()?.map(matcher).transpose();
        rules.map_err(FitError::Rules)
    }

    /// What the classifier `rules` can do without, and the one thing it cannot.
    fn check_rules(&self) -> Result<(), FitError> {
        self.rule_matcher()?;
        if self.classifier != Classifier::Rules {
            return Ok(());
        }
        let bad = |setting, requirement, value: &str| FitError::BadSetting {
            setting,
            requirement,
            value: value.to_owned(),
        };
        if self.rules.is_none() {
            let requirement = "given where the classifier is `rules`";
            return Err(bad("the rules", requirement, "absent"));
        }
        if self.selection.is_some() {
            let requirement = "absent where the classifier is `rules`, which looks at no terms";
            return Err(bad("the selection of terms", requirement, "given"));
        }
        if self.class_weights != ClassWeights::Equal {
            let requirement = "equal where the classifier is `rules`, which learns nothing";
            return Err(bad("the weights of classes", requirement, "given"));
        }
        Ok(())
    }

    /// Finds settings that make no sense before any work is done.
    pub fn check(&self) -> Result<(), FitError> {
        if self.classifier.presence_only()
            && let Some(asked) = self.weighting
            && asked != PRESENCE
        {
            return Err(not_presence(asked.name()));
        }
        self.multiclass.check()?;
        self.check_saved()
    }

    /// What the settings of a model file must be like. Those of before may hold what is refused today:
    /// Bernoulli naive Bayes that was learned from presence and scores counts.
    pub(super) fn check_saved(&self) -> Result<(), FitError> {
        let bad = |setting, requirement, value: String| {
            Err(FitError::BadSetting {
                setting,
                requirement,
                value,
            })
        };
        if let Some(bits) = self.hash_bits
            && !(1..=28).contains(&bits)
        {
            return bad("the number of hash bits", "1 to 28", bits.to_string());
        }
        if self.hash_bits.is_some() && self.limits.max_features.is_some() {
            return bad(
                "the maximum number of features",
                "absent with hashing",
                "given".into(),
            );
        }
        if !(self.limits.max_share > 0.0 && self.limits.max_share <= 1.0) {
            return bad(
                "the largest share of documents",
                "above 0 and at most 1",
                self.limits.max_share.to_string(),
            );
        }
        if let Some(Weighting::Bm25 { k1, b }) = self.weighting.map(|settings| settings.weighting)
            && !(k1.is_finite() && k1 >= 0.0 && (0.0..=1.0).contains(&b))
        {
            return bad(
                "BM25's k1 and b",
                "k1 >= 0 and b from 0 to 1",
                format!("{k1} and {b}"),
            );
        }
        if let Some(factor) = self.side_factor
            && !(factor > 0.0 && factor <= 1.0)
        {
            return bad(
                "the factor of side columns",
                "above 0 and at most 1",
                factor.to_string(),
            );
        }
        if self.selection.is_some_and(|selection| selection.count == 0) {
            return bad("the number of selected terms", "at least 1", "0".into());
        }
        self.classifier.check()?;
        if let Some(code) = &self.code {
            code.check()?;
            if self.classifier == Classifier::Rules {
                return bad(
                    "the classifier",
                    "one that learns, with an output code: rules are of classes",
                    "rules".into(),
                );
            }
            if code.design.is_sparse()
                && matches!(self.classifier, Classifier::NearestNeighbours(_))
            {
                return bad(
                    "the code",
                    "one without zeros for nearest neighbours, whose rows would be kept once a column",
                    code.design.name().into(),
                );
            }
            if matches!(self.class_weights, ClassWeights::Given(_)) {
                return bad(
                    "the class weights",
                    "equal or balanced with an output code, whose problems are no classes",
                    "given for some".into(),
                );
            }
            if self.task == Some(Task::MultiLabel) {
                return bad(
                    "the labels",
                    "one a document with an output code",
                    "several".into(),
                );
            }
        }
        self.check_rules()?;
        if !self.classifier.is_linear()
            && self
                .selection
                .is_some_and(|selection| selection.scope == SelectionScope::PerClass)
        {
            return Err(super::fit_scorer::unselectable());
        }
        if let Some(costs) = self.other_cost
            && !(costs.false_positive.is_finite()
                && costs.false_negative.is_finite()
                && costs.false_positive > 0.0
                && costs.false_negative > 0.0)
        {
            return bad(
                "the costs of wrong and missed documents",
                "two positive numbers",
                format!("{} and {}", costs.false_positive, costs.false_negative),
            );
        }
        if !(2..=255).contains(&self.folds) {
            return bad("the number of folds", "2 to 255", self.folds.to_string());
        }
        if let ClassWeights::Given(weights) = &self.class_weights
            && let Some((class, weight)) = weights
                .iter()
                .find(|(_, weight)| !(weight.is_finite() && **weight > 0.0))
        {
            return bad(
                "a class weight",
                "a positive number",
                format!("{weight} (for `{class}`)"),
            );
        }
        Ok(())
    }
}
