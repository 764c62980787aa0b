//! Settings in the words of the program, for front ends whose users know those.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use crate::calibration::{CalibratorKind, MulticlassKind};
use crate::decision::ThresholdCosts;
use crate::features::{
    DocumentFrequencyLimits, Selection, SelectionMeasure, SelectionScope, Weighting,
    WeightingSettings,
};
use crate::multiclass::{BinaryOutput, CodeDesign, CodeSettings, ColumnWeights, Decode};
use crate::pipeline::{ClassWeights, FitSettings};
use crate::scorers::{
    Approximate, BoostingKind, Classifier, LearnerName, Nearness, NeighbourCount, Smoothing, Vote,
};
use crate::solvers::HingeLoss;
use crate::text::{Analyzer, Language, NgramRange, Segmentation};
use crate::{FitError, Task};

/// [`FitSettings`] as options of `calibrant fit`, by their long names with underscores for dashes and in the same words. What is
/// absent is as by default; an option of another learner than the one that learns is refused.
///
/// ```
/// use calibrant::jobs::FitWords;
/// let words: FitWords = serde_json::from_str(r#"{"classifier": "knn", "neighbours": 15, "stem": "english"}"#)?;
/// let settings = words.settings()?;
/// assert_eq!(settings.classifier.name(), "nearest neighbours");
/// let words: FitWords = serde_json::from_str(r#"{"classifier": "rocchio", "c": 2.0}"#)?;
/// assert_eq!(words.settings().unwrap_err().to_string(), "c must be absent with the classifier `rocchio`; it is 2");
/// assert!(serde_json::from_str::<FitWords>(r#"{"calibrator": "plat"}"#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitWords {
    /// The learner.
    #[serde(deserialize_with = "word")]
    pub classifier: Option<LearnerName>,
    /// The cost of errors.
    pub c: Option<f64>,
    /// The SVM's loss.
    #[serde(deserialize_with = "word")]
    pub loss: Option<HingeLoss>,
    log_count_ratio: Option<f64>,
    /// The relative duality gap at which solvers stop.
    pub tolerance: Option<f64>,
    /// The most passes over the data.
    pub max_passes: Option<usize>,
    /// Additive smoothing of naive Bayes.
    pub alpha: Option<f64>,
    /// Extra words that naive Bayes smooths with.
    pub word_prior: Option<f64>,
    #[serde(deserialize_with = "word")]
    nearness: Option<Nearness>,
    rounds: Option<usize>,
    #[serde(deserialize_with = "word")]
    boosting: Option<BoostingKind>,
    neighbours: Option<NeighbourWords>,
    #[serde(deserialize_with = "word")]
    vote: Option<Vote>,
    approximate: Option<bool>,
    epochs: Option<usize>,
    voted: Option<bool>,
    class_weight: Option<ClassWeightWords>,
    classes: Option<Vec<String>>,
    labels: Option<LabelWords>,
    #[serde(deserialize_with = "word")]
    calibrator: Option<CalibratorKind>,
    monotone: bool,
    #[serde(deserialize_with = "word")]
    multiclass: Option<MulticlassKind>,
    other_cost: Option<(f64, f64)>,
    folds: Option<usize>,
    seed: Option<u64>,
    keep_case: bool,
    fold_accents: bool,
    #[serde(deserialize_with = "word")]
    stem: Option<Language>,
    #[serde(deserialize_with = "word")]
    stop_words: Option<Language>,
    min_word_length: Option<usize>,
    #[serde(deserialize_with = "word")]
    segmentation: Option<Segmentation>,
    no_emoji: bool,
    no_signs: bool,
    word_ngrams: Option<NgramWords>,
    char_ngrams: Option<NgramWords>,
    char_ngrams_across: bool,
    hash_bits: Option<u32>,
    min_df: Option<u32>,
    max_df: Option<f64>,
    max_features: Option<usize>,
    /// The weight of a term.
    #[serde(deserialize_with = "word")]
    pub weighting: Option<Weighting>,
    bm25_k1: Option<f64>,
    bm25_b: Option<f64>,
    /// Whether rows are scaled to unit length.
    pub l2_norm: Option<bool>,
    #[serde(deserialize_with = "word")]
    select: Option<SelectionMeasure>,
    select_terms: Option<usize>,
    select_per_class: bool,
    #[serde(deserialize_with = "word")]
    code: Option<CodeDesign>,
    code_length: Option<usize>,
    #[serde(deserialize_with = "word")]
    decode: Option<Decode>,
    #[serde(deserialize_with = "word")]
    code_output: Option<BinaryOutput>,
    #[serde(deserialize_with = "word")]
    code_weights: Option<ColumnWeights>,
    /// The text of the rules, not the name of their file.
    rules: Option<String>,
    side_factor: Option<f64>,
    fold_labels: bool,
    allow_unique_labels: bool,
    vector_factor: Option<f64>,
}

/// `auto`, or how many neighbours vote.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum NeighbourWords {
    /// So many.
    Fixed(usize),
    /// `auto`.
    Word(String),
}

/// One label per document or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelWords {
    /// Every document has exactly one.
    One,
    /// A document has any number, none included.
    Several,
}

/// `balanced`, or factors for the positives of some classes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ClassWeightWords {
    /// `balanced`.
    Word(String),
    /// By class.
    Given(BTreeMap<String, f64>),
}

/// How many neighbours make a term: `N`, or the fewest and the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum NgramWords {
    /// One number.
    One(usize),
    /// From the first to the second.
    Range(usize, usize),
}

impl NgramWords {
    /// A single number means `least` to that number, or that number alone.
    fn range(self, least: Option<usize>) -> NgramRange {
        match self {
            Self::One(max) => NgramRange {
                min: least.unwrap_or(max),
                max,
            },
            Self::Range(min, max) => NgramRange { min, max },
        }
    }
}

/// A member of a closed set by its word.
fn word<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    let member = |text: String| text.parse().map_err(serde::de::Error::custom);
    text.map(member).transpose()
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

impl FitWords {
    /// The seed of folds and of the order in which learners visit rows.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The settings that these words mean, checked.
    pub fn settings(&self) -> Result<FitSettings, FitError> {
        let classifier = self.classifier()?;
        let usual = FitSettings::default();
        let settings = FitSettings {
            analyzer: self.analyzer()?,
            limits: DocumentFrequencyLimits {
                min_documents: self.min_df,
                max_share: self.max_df.unwrap_or(usual.limits.max_share),
                max_features: self.max_features,
            },
            hash_bits: self.hash_bits,
            weighting: self.weighting(&classifier)?,
            selection: self.selection()?,
            rules: self.rules.clone(),
            side_factor: self.side_factor,
            vector_factor: self.vector_factor,
            classifier,
            code: self.code()?,
            class_weights: self.class_weights()?,
            calibrator: self.calibrator.unwrap_or(usual.calibrator),
            monotone: self.monotone,
            multiclass: self.multiclass.unwrap_or(usual.multiclass),
            other_cost: self
                .other_cost
                .map(|(false_positive, false_negative)| ThresholdCosts {
                    false_positive,
                    false_negative,
                }),
            folds: self.folds.unwrap_or(usual.folds),
            classes: self.classes.clone(),
            task: self.labels.map(|labels| match labels {
                LabelWords::One => Task::SingleLabel,
                LabelWords::Several => Task::MultiLabel,
            }),
            fold_labels: self.fold_labels,
            allow_unique_labels: self.allow_unique_labels,
            seed: self.seed.unwrap_or(usual.seed),
            training_keys: usual.training_keys,
        };
        settings.check()?;
        Ok(settings)
    }

    /// The learner, with the options that were given for it.
    pub fn classifier(&self) -> Result<Classifier, FitError> {
        let mut classifier = match self.classifier {
            Some(name) => name.classifier(),
            None => Classifier::default(),
        };
        match &mut classifier {
            Classifier::LinearSvm(svm) => {
                svm.c = self.c;
                svm.loss = self.loss.unwrap_or(svm.loss);
                svm.log_count_ratio = self.log_count_ratio;
                svm.limits.relative_gap = self.tolerance.unwrap_or(svm.limits.relative_gap);
                svm.limits.max_passes = self.max_passes.unwrap_or(svm.limits.max_passes);
            }
            Classifier::LogisticRegression(logistic) => {
                let limits = &mut logistic.limits;
                logistic.c = self.c;
                limits.relative_gap = self.tolerance.unwrap_or(limits.relative_gap);
                limits.max_passes = self.max_passes.unwrap_or(limits.max_passes);
            }
            Classifier::NaiveBayes(bayes) => {
                bayes.smoothing = match (self.word_prior, self.alpha) {
                    (Some(strength), _) => Smoothing::CorpusPrior { strength },
                    (None, Some(alpha)) => Smoothing::Laplace { alpha },
                    (None, None) => bayes.smoothing,
                };
            }
            Classifier::Rocchio(rocchio) => {
                rocchio.nearness = self.nearness.unwrap_or(rocchio.nearness);
            }
            Classifier::AdaBoost(boosting) => {
                boosting.rounds = self.rounds.unwrap_or(boosting.rounds);
                boosting.kind = self.boosting.unwrap_or(boosting.kind);
            }
            Classifier::NearestNeighbours(neighbours) => {
                neighbours.k = self.neighbour_count()?.unwrap_or(neighbours.k);
                neighbours.vote = self.vote.unwrap_or(neighbours.vote);
                let approximate = self.approximate.unwrap_or(false);
                neighbours.approximate = approximate.then(Approximate::default);
            }
            Classifier::Perceptron(perceptron) => {
                perceptron.epochs = self.epochs.unwrap_or(perceptron.epochs);
                perceptron.voted = self.voted.unwrap_or(perceptron.voted);
            }
            // A learner without options of its own has nothing to take.
            _ => {}
        }
        self.refuse_others(&classifier)?;
        Ok(classifier)
    }

    /// Refuses options that the learner does not take.
    fn refuse_others(&self, classifier: &Classifier) -> Result<(), FitError> {
        use Classifier as C;
        let shown = |value: Option<f64>| value.map(|value| value.to_string());
        let given = |is: bool| is.then(|| "given".to_owned());
        let linear = matches!(classifier, C::LinearSvm(_) | C::LogisticRegression(_));
        let svm = matches!(classifier, C::LinearSvm(_));
        let bayes = matches!(classifier, C::NaiveBayes(_));
        let boosting = matches!(classifier, C::AdaBoost(_));
        let neighbours = matches!(classifier, C::NearestNeighbours(_));
        let perceptron = matches!(classifier, C::Perceptron(_));
        let options = [
            ("c", linear, shown(self.c)),
            ("tolerance", linear, shown(self.tolerance)),
            ("max_passes", linear, given(self.max_passes.is_some())),
            ("loss", svm, given(self.loss.is_some())),
            ("log_count_ratio", svm, shown(self.log_count_ratio)),
            ("alpha", bayes, shown(self.alpha)),
            ("word_prior", bayes, shown(self.word_prior)),
            (
                "nearness",
                matches!(classifier, C::Rocchio(_)),
                given(self.nearness.is_some()),
            ),
            ("rounds", boosting, given(self.rounds.is_some())),
            ("boosting", boosting, given(self.boosting.is_some())),
            ("neighbours", neighbours, given(self.neighbours.is_some())),
            ("vote", neighbours, given(self.vote.is_some())),
            ("approximate", neighbours, given(self.approximate.is_some())),
            ("epochs", perceptron, given(self.epochs.is_some())),
            ("voted", perceptron, given(self.voted.is_some())),
        ];
        let name = self.classifier.map_or("svm", |name| name.name());
        for (setting, takes, value) in options {
            if let (false, Some(value)) = (takes, value) {
                return Err(FitError::UnusedSetting {
                    setting,
                    classifier: name,
                    value,
                });
            }
        }
        Ok(())
    }

    fn neighbour_count(&self) -> Result<Option<NeighbourCount>, FitError> {
        match &self.neighbours {
            None => Ok(None),
            Some(NeighbourWords::Fixed(count)) if *count > 0 => {
                Ok(Some(NeighbourCount::Fixed(*count)))
            }
            Some(NeighbourWords::Word(text)) if text == "auto" => Ok(Some(NeighbourCount::Chosen)),
            Some(other) => {
                let value = match other {
                    NeighbourWords::Fixed(count) => count.to_string(),
                    NeighbourWords::Word(text) => text.clone(),
                };
                bad("neighbours", "a whole number from 1 on, or auto", value)?;
                Ok(None)
            }
        }
    }

    fn analyzer(&self) -> Result<Analyzer, FitError> {
        if self.char_ngrams_across && self.char_ngrams.is_none() {
            bad("char_ngrams_across", "absent without char_ngrams", "given")?;
        }
        let mut analyzer = Analyzer {
            lowercase: !self.keep_case,
            fold_accents: self.fold_accents,
            stemmer: self.stem,
            stop_words: self.stop_words,
            char_ngrams: self.char_ngrams.map(|ngrams| ngrams.range(None)),
            char_ngrams_across: self.char_ngrams_across,
            ..Analyzer::default()
        };
        if let Some(least) = self.min_word_length {
            analyzer.min_token_chars = least;
        }
        if let Some(ngrams) = self.word_ngrams {
            analyzer.word_ngrams = ngrams.range(Some(1));
        }
        if let Some(segmentation) = self.segmentation {
            analyzer.words.segmentation = segmentation;
        }
        analyzer.words.emoji = !self.no_emoji;
        analyzer.words.signs = !self.no_signs;
        Ok(analyzer)
    }

    fn weighting(&self, classifier: &Classifier) -> Result<Option<WeightingSettings>, FitError> {
        let of_bm25 = self.bm25_k1.is_some() || self.bm25_b.is_some();
        if of_bm25 && !matches!(self.weighting, Some(Weighting::Bm25 { .. })) {
            let requirement = "bm25 where bm25_k1 or bm25_b is given";
            let value = self.weighting.map_or("absent", |asked| asked.name());
            bad("weighting", requirement, value)?;
        }
        if self.weighting.is_none() && self.l2_norm.is_none() {
            return Ok(None);
        }
        let usual = classifier.usual_weighting();
        let weighting = match self.weighting {
            Some(Weighting::Bm25 { k1, b }) => Weighting::Bm25 {
                k1: self.bm25_k1.unwrap_or(k1),
                b: self.bm25_b.unwrap_or(b),
            },
            Some(other) => other,
            None => usual.weighting,
        };
        Ok(Some(WeightingSettings {
            weighting,
            l2_norm: self.l2_norm.unwrap_or(usual.l2_norm),
        }))
    }

    fn selection(&self) -> Result<Option<Selection>, FitError> {
        match (self.select, self.select_terms) {
            (Some(measure), Some(count)) => Ok(Some(Selection {
                measure,
                scope: match self.select_per_class {
                    true => SelectionScope::PerClass,
                    false => SelectionScope::Global,
                },
                count,
            })),
            (None, None) if !self.select_per_class => Ok(None),
            _ => {
                let requirement = "given together with select_terms, or both absent";
                bad("select", requirement, "one of them")?;
                Ok(None)
            }
        }
    }

    fn code(&self) -> Result<Option<CodeSettings>, FitError> {
        let Some(design) = self.code else {
            if self.code_length.is_some()
                || self.decode.is_some()
                || self.code_output.is_some()
                || self.code_weights.is_some()
            {
                let requirement = "given with code_length, decode, code_output or code_weights, which are of codes";
                bad("code", requirement, "absent")?;
            }
            return Ok(None);
        };
        Ok(Some(CodeSettings {
            design,
            length: self.code_length,
            decode: self.decode.unwrap_or_default(),
            output: self.code_output.unwrap_or_default(),
            weights: self.code_weights.unwrap_or_default(),
        }))
    }

    fn class_weights(&self) -> Result<ClassWeights, FitError> {
        Ok(match &self.class_weight {
            None => ClassWeights::Equal,
            Some(ClassWeightWords::Word(text)) if text == "balanced" => ClassWeights::Balanced,
            Some(ClassWeightWords::Given(weights)) => ClassWeights::Given(weights.clone()),
            Some(ClassWeightWords::Word(text)) => {
                let requirement = "`balanced`, or a factor for each of some classes";
                bad("class_weight", requirement, text)?;
                ClassWeights::Equal
            }
        })
    }
}
