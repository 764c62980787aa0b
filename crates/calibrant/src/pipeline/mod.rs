//! The whole path as one value: fit, predict, explain, save, open.

mod calibrate_classes;
mod calibrator_file;
mod choose_cost;
mod choose_damping;
mod choose_weighting;
mod class_spread;
mod combine;
mod combined_model;
mod distinct;
mod document_key;
mod explain;
mod explain_combined;
mod explain_joint;
mod extractor;
mod fit;
mod fit_borrowed;
mod fit_code;
mod fit_per_class;
mod fit_scorer;
mod fold_rows;
mod label_classes;
mod label_matcher;
mod learned_keys;
mod model;
mod model_file;
mod observations;
mod other;
mod output_scores;
mod paired_losses;
mod pooled;
mod promises;
mod recalibrate;
mod row_scorer;
mod rule_columns;
mod score_calibrator;
mod search;
mod settings;
mod settings_trial;
mod side_factor;
mod single_model;
mod strongest_terms;
mod summary;
mod test_documents;
mod training_corpus;
mod training_keys;
mod training_rows;

// Documented in `calibration` and `scorers`.
#[doc(hidden)]
pub use crate::calibration::CalibrationNote;
#[doc(hidden)]
pub use crate::scorers::Classifier;
pub(crate) use calibrator_file::CALIBRATOR_VERSION;
pub use combine::{CombineError, CombineSettings, Combiner, ForecastBatch, HeldOutDocuments};
pub use combined_model::{CombinedMember, CombinedModel};
pub(crate) use document_key::ContentKeys;
pub use explain::{Explanation, TermContribution};
pub use fit::{HeldOutForecasts, fit};
pub(crate) use fit_borrowed::fit_training_rows;
pub use model::Model;
pub(crate) use output_scores::OutputScores;
pub use promises::PromiseTables;
pub(crate) use promises::{best, draw_key_of};
pub use recalibrate::{
    ModelRecalibration, RecalibrateError, RecalibrateSettings, Recalibrated, Recalibrator,
};
pub(crate) use row_scorer::RowScorer;
pub use score_calibrator::{
    ScoreBuffers, ScoreCalibrator, ScoreCurve, ScoreFields, ScoreFit, ScoreIs, ScoreNote,
    ScoreSettings, ScoreSummary, ScoreTable, TriedMethod,
};
pub(crate) use search::search;
pub use search::{Contender, LeftOut, LeftOutTerms, SearchGain, SearchSettings, Trial};
pub use settings::{ClassWeights, FitSettings};
pub use single_model::SingleModel;
pub use strongest_terms::TermsError;
pub use summary::{
    ClassSummary, HeldOutMeasures, MulticlassSummary, TrainingSummary, TriedCost, TriedSettings,
    TriedWeighting,
};
pub use test_documents::TestDocuments;
pub use training_corpus::{CountedBatch, DocumentCounter, TrainingCorpus};
pub use training_keys::{Acquaintance, TrainingKeys};
pub use training_rows::{RowClasses, TrainingRows};

// Not part of the documented interface: steps of fitting and predicting, for tests, experiments and what is timed.
#[doc(hidden)]
pub use extractor::ExtractorBuffers;
#[doc(hidden)]
pub use fit::{fit_keeping_forecasts, fit_keeping_scores};
#[doc(hidden)]
pub use label_matcher::LabelMatcher;
#[doc(hidden)]
pub use model_file::FORMAT_VERSION;
#[doc(hidden)]
pub use observations::leading_words;
#[doc(hidden)]
pub use search::SearchCounter;
#[doc(hidden)]
pub use single_model::PredictBuffers;
