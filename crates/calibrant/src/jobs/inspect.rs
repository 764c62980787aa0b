//! What a saved file holds, as data.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Combination, PolicyFile, Saved};
use crate::calibration::{SavedCalibrator, SavedMulticlassCalibrator};
use crate::corpus::Fields;
#[cfg(feature = "index")]
use crate::index::{AnalysisCounts, INDEX_VERSION, IndexSettings, SearchIndex};
use crate::pipeline::{
    CALIBRATOR_VERSION, CombinedModel, FORMAT_VERSION, FitSettings, Model, ModelRecalibration,
    ScoreCalibrator, SingleModel, TermsError, TrainingSummary,
};
use crate::ranking::Relevance;
use crate::ranking::learning::{FeatureCurve, RankModel, RankParameters, RankSummary};
use crate::saved::SavedKind;
use crate::scorers::ScorerDescription;

/// A model, combination, calibrator, ranking, index or policy laid open, as `calibrant inspect --json` writes it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Inspection<'a> {
    /// A model of texts.
    Model(Box<ModelInspection<'a>>),
    /// Several models combined.
    Combination(Box<CombinationInspection<'a>>),
    /// A calibrator of scores.
    Calibrator(Box<CalibratorInspection<'a>>),
    /// A learned ranking.
    Ranking(Box<RankingInspection<'a>>),
    /// A search index.
    #[cfg(feature = "index")]
    Index(Box<IndexInspection<'a>>),
    /// Which of several sources answers what.
    Policy(Box<PolicyInspection<'a>>),
}

/// A policy of several sources of answers.
#[derive(Debug, Serialize)]
pub struct PolicyInspection<'a> {
    /// `policy`.
    pub kind: &'static str,
    /// The version of the format.
    pub format_version: u32,
    /// The size of the file.
    pub file_bytes: u64,
    /// The policy, and what was certified.
    #[serde(flatten)]
    pub policy: &'a PolicyFile,
}

/// Why something cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// A model cannot name its terms.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// Only models of texts have terms with weights.
    #[error("{}", without_terms(*kind))]
    NoTerms {
        /// What was to be shown.
        kind: SavedKind,
    },
}

fn without_terms(kind: SavedKind) -> &'static str {
    match kind {
        SavedKind::Combination => "a combination has no terms of its own",
        SavedKind::Calibrator => "a calibrator of scores knows no terms",
        SavedKind::Ranking => "a ranking model knows columns, not terms",
        SavedKind::Index => "the terms of an index have no weights",
        SavedKind::Policy => "a policy knows no terms",
        SavedKind::Model => "this model has no terms",
    }
}

fn refuse_terms(terms: Option<usize>, kind: SavedKind) -> Result<(), InspectError> {
    match terms {
        Some(_) => Err(InspectError::NoTerms { kind }),
        None => Ok(()),
    }
}

/// A model of texts.
#[derive(Debug, Serialize)]
pub struct ModelInspection<'a> {
    /// `model`.
    pub kind: &'static str,
    /// The version of the file format.
    pub format_version: u32,
    /// The size of the file.
    pub file_bytes: u64,
    /// How it was fitted.
    pub settings: &'a FitSettings,
    /// What its scorer keeps beside tensors.
    pub scorer: ScorerDescription,
    /// Which fields mean what.
    pub fields: &'a Fields,
    /// What the training was like.
    pub summary: &'a TrainingSummary,
    /// The calibrator of each output.
    pub calibrators: &'a [SavedCalibrator],
    /// The calibrator of all classes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_calibrator: Option<&'a SavedMulticlassCalibrator>,
    /// What new labels made of the probabilities after the fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalibration: Option<&'a ModelRecalibration>,
    /// The strongest terms of each class, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terms: Option<BTreeMap<String, Vec<(String, f64)>>>,
    /// The model itself.
    #[serde(skip)]
    pub model: &'a SingleModel,
}

/// Several models combined.
#[derive(Debug, Serialize)]
pub struct CombinationInspection<'a> {
    /// `combination`.
    pub kind: &'static str,
    /// The version of the file format.
    pub format_version: u32,
    /// The size of the file.
    pub file_bytes: u64,
    /// Which fields mean what.
    pub fields: &'a Fields,
    /// How they were combined.
    pub summary: &'a TrainingSummary,
    /// The models and how much each counts.
    #[serde(flatten)]
    pub combination: Combination<'a>,
    /// What new labels made of the probabilities since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalibration: Option<&'a ModelRecalibration>,
    /// The combination itself.
    #[serde(skip)]
    pub model: &'a CombinedModel,
}

/// A calibrator of scores.
#[derive(Debug, Serialize)]
pub struct CalibratorInspection<'a> {
    /// `calibrator`.
    pub kind: &'static str,
    /// The version of the file format.
    pub format_version: u32,
    /// The size of the file.
    pub file_bytes: u64,
    /// The calibrator itself.
    #[serde(flatten)]
    pub calibrator: &'a ScoreCalibrator,
}

/// A learned ranking.
#[derive(Debug, Serialize)]
pub struct RankingInspection<'a> {
    /// `ranking`.
    pub kind: &'static str,
    /// The version of the file format.
    pub format_version: u32,
    /// The size of the file.
    pub file_bytes: u64,
    /// How it was learned.
    pub settings: &'a RankParameters,
    /// What the learning was like.
    pub summary: &'a RankSummary,
    /// What is added to every score.
    pub bias: f64,
    /// What each column adds to the score.
    pub functions: Vec<FeatureCurve>,
    /// The curve from scores to probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<&'a Relevance>,
    /// The ranking itself.
    #[serde(skip)]
    pub model: &'a RankModel,
}

/// A search index.
#[cfg(feature = "index")]
#[derive(Debug, Serialize)]
pub struct IndexInspection<'a> {
    /// `index`.
    pub kind: &'static str,
    /// The version of the format.
    pub format_version: u32,
    /// The size of all files of its folder.
    pub file_bytes: u64,
    /// How documents were indexed.
    pub settings: &'a IndexSettings,
    /// How many documents there are.
    pub documents: u64,
    /// What each analysis of their texts comes to.
    pub analyses: &'a [AnalysisCounts],
}

impl<'a> Inspection<'a> {
    /// Lays open whatever was saved; with so many `terms` of each class, where they are asked for.
    pub fn of(
        saved: &'a Saved,
        file_bytes: u64,
        terms: Option<usize>,
    ) -> Result<Self, InspectError> {
        let refused = || refuse_terms(terms, saved.kind());
        match saved {
            Saved::Model(model) => Self::of_model(model, file_bytes, terms),
            Saved::Ranking(model) => refused().map(|()| Self::of_ranking(model, file_bytes)),
            Saved::Calibrator(calibrator) => {
                refused().map(|()| Self::of_calibrator(calibrator, file_bytes))
            }
            Saved::Policy(policy) => refused().map(|()| {
                Self::Policy(Box::new(PolicyInspection {
                    kind: SavedKind::Policy.name(),
                    format_version: SavedKind::Policy.version(),
                    file_bytes,
                    policy,
                }))
            }),
        }
    }

    /// Lays an index open; the terms of one have no weights that could be shown.
    #[cfg(feature = "index")]
    pub fn of_index(
        index: &'a SearchIndex,
        file_bytes: u64,
        terms: Option<usize>,
    ) -> Result<Self, InspectError> {
        refuse_terms(terms, SavedKind::Index)?;
        Ok(Self::Index(Box::new(IndexInspection {
            kind: SavedKind::Index.name(),
            format_version: INDEX_VERSION,
            file_bytes,
            settings: index.settings(),
            documents: index.document_count(),
            analyses: index.analyses(),
        })))
    }

    /// Lays a model or combination open; with so many `terms` of each class, where they are asked for.
    pub fn of_model(
        model: &'a Model,
        file_bytes: u64,
        terms: Option<usize>,
    ) -> Result<Self, InspectError> {
        match model {
            Model::Single(model) => Self::of_single(model, file_bytes, terms),
            Model::Combined(model) => {
                refuse_terms(terms, SavedKind::Combination)?;
                Ok(Self::Combination(Box::new(CombinationInspection {
                    kind: "combination",
                    format_version: FORMAT_VERSION,
                    file_bytes,
                    fields: model.fields(),
                    summary: model.summary(),
                    combination: Combination::of(model),
                    recalibration: model.recalibration(),
                    model,
                })))
            }
        }
    }

    fn of_single(
        model: &'a SingleModel,
        file_bytes: u64,
        terms: Option<usize>,
    ) -> Result<Self, InspectError> {
        let terms = terms
            .map(|count| model.strongest_terms(count))
            .transpose()?;
        let names = model.class_names().map(str::to_owned);
        Ok(Self::Model(Box::new(ModelInspection {
            kind: "model",
            format_version: FORMAT_VERSION,
            file_bytes,
            settings: model.settings(),
            scorer: model.scorer().description(),
            fields: model.fields(),
            summary: model.summary(),
            calibrators: model.calibrators(),
            class_calibrator: model.class_calibrator(),
            recalibration: model.recalibration(),
            terms: terms.map(|terms| names.zip(terms).collect()),
            model,
        })))
    }

    /// Lays a calibrator of scores open.
    pub fn of_calibrator(calibrator: &'a ScoreCalibrator, file_bytes: u64) -> Self {
        Self::Calibrator(Box::new(CalibratorInspection {
            kind: "calibrator",
            format_version: CALIBRATOR_VERSION,
            file_bytes,
            calibrator,
        }))
    }

    /// Lays a learned ranking open.
    pub fn of_ranking(model: &'a RankModel, file_bytes: u64) -> Self {
        Self::Ranking(Box::new(RankingInspection {
            kind: "ranking",
            format_version: FORMAT_VERSION,
            file_bytes,
            settings: model.settings(),
            summary: model.summary(),
            bias: model.bias(),
            functions: model.curves(),
            relevance: model.relevance(),
            model,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::corpus::{ReadOptions, Source};
    use crate::jobs::fit_source;
    use crate::pipeline::Classifier;
    use crate::scorers::{AdaBoost, LinearSvm, NaiveBayes, NearestNeighbours};

    fn model(classifier: Classifier, classes: usize) -> Model {
        let mut table = String::from("label,text\n");
        for number in 0..30 * classes {
            let class = number % classes;
            table.push_str(&format!("c{class},own{class} any w{}\n", number % 11));
        }
        let settings = FitSettings {
            classifier,
            folds: 3,
            ..FitSettings::default()
        };
        let source = Source::bytes("a.csv", table.into_bytes());
        let options = ReadOptions::default();
        fit_source(&source, &options, &settings, &NoProgress)
            .unwrap()
            .model
    }

    #[test]
    fn the_strongest_term_of_each_class_is_its_own() {
        for classifier in [
            Classifier::LinearSvm(LinearSvm::default()),
            Classifier::NaiveBayes(NaiveBayes::default()),
            Classifier::AdaBoost(AdaBoost::default()),
        ] {
            for classes in [2, 3] {
                let model = model(classifier, classes);
                let inspection = Inspection::of_model(&model, 7, Some(1)).unwrap();
                let Inspection::Model(inspection) = inspection else {
                    panic!("{inspection:?}");
                };
                for class in 0..classes {
                    let terms = &inspection.terms.as_ref().unwrap()[&format!("c{class}")];
                    let (term, strength) = &terms[0];
                    assert_eq!(terms.len(), 1);
                    // Of two classes a stump on the other's word, which is not there, says as much.
                    match classifier {
                        Classifier::AdaBoost(_) => {
                            assert!(term.starts_with("own") && *strength != 0.0, "{term}");
                        }
                        _ => assert!(*term == format!("own{class}") && *strength > 0.0, "{term}"),
                    }
                }
            }
        }
    }

    #[test]
    fn a_learner_without_weights_says_so_and_every_kind_is_named() {
        let model = model(
            Classifier::NearestNeighbours(NearestNeighbours::default()),
            2,
        );
        let error = Inspection::of_model(&model, 7, Some(3)).unwrap_err();
        assert!(error.to_string().ends_with("has no weights to show"));
        let inspection = Inspection::of_model(&model, 7, None).unwrap();
        let json = serde_json::to_value(&inspection).unwrap();
        assert_eq!(json["kind"], "model");
        assert_eq!(json["file_bytes"], 7);
        assert!(json.get("terms").is_none() && json.get("model").is_none());
    }
}
