//! Errors of jobs as exceptions: the texts of the library, with the next step in words of Python.

use calibrant::corpus::{FoldError, ReadError};
use calibrant::decision::{CascadeError, CostError, OtherError, PrevalenceError};
use calibrant::evaluation::EvaluationError;
use calibrant::evaluation::ranking::RunEvaluationError;
use calibrant::index::IndexError;
use calibrant::jobs::rankings::{RankEvaluateError, RankPredictError, RankRowsError};
use calibrant::jobs::search::SearchError;
use calibrant::jobs::{
    CalibrateError, CascadeJobError, CheckRulesError, CombineJobError, EvaluateError, ExpectError,
    ExplainError, FitJobError, InspectError, PredictError, PrevalenceJobError, PriorError,
    PromiseError, RecalibrateJobError, RereadError, SplitError, SystemError, TableError,
    WritePredictionsError, listed,
};
use calibrant::pipeline::{CombineError, RecalibrateError};
use calibrant::ranking::learning::RankFitError;
use calibrant::saved::{SavedFileError, SavedProblem};
use calibrant::{CalibrationError, FitError};
use pyo3::PyErr;
use pyo3::exceptions::PyFileNotFoundError;

use crate::errors;

/// Something that went wrong in the library.
pub(crate) trait Raise: std::fmt::Display + Sized {
    /// The exception.
    fn raise(self) -> PyErr;
}

/// A message with the next step.
fn hinted(message: impl std::fmt::Display, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{message}\nhint: {hint}"),
        None => message.to_string(),
    }
}

fn general(message: impl std::fmt::Display, hint: &str) -> PyErr {
    errors::general(hinted(message, Some(hint)))
}

impl Raise for ReadError {
    fn raise(self) -> PyErr {
        let hint = match &self {
            Self::Cancelled => None,
            Self::NotFound { .. } => {
                return PyFileNotFoundError::new_err(self.to_string());
            }
            Self::InvalidUtf8 { likely, .. } => {
                let hint = format!("encoding=\"{likely}\" reads it so");
                return errors::read(hinted(&self, Some(&hint)));
            }
            Self::UnknownField { .. } | Self::FieldNeverCame { .. } => {
                Some("name fields with text=…, label=…, id=…, weight=…, group=… and where=…")
            }
            Self::BadRow(row) => {
                if let Some(field) = row.field_of_categories() {
                    let hint = format!("categorical=[\"{field}\"] reads it as a category");
                    return errors::read(hinted(&self, Some(&hint)));
                }
                Some(match (row.has_empty_label(), row.is_cut_off()) {
                    (true, _) => "fill the label in, or leave out empty_labels=\"error\"",
                    (_, true) => "save or copy the file again, whole",
                    _ => "skip_bad_rows=True skips such rows and counts them",
                })
            }
            Self::MixedDecimals { .. }
            | Self::AmbiguousComma { .. }
            | Self::AmbiguousPoint { .. } => Some("give decimal=\"point\" or decimal=\"comma\""),
            Self::UnknownFormat { .. } => Some("name the format with format=…"),
            Self::NoSheet { .. } => Some("name one of them with sheet=…, or its number"),
            Self::Spreadsheet { .. }
            | Self::OldSpreadsheet { .. }
            | Self::UnpackedTooLarge { .. } => Some("save the sheet as CSV and give that"),
            _ => None,
        };
        errors::read(hinted(&self, hint))
    }
}

impl Raise for FitError {
    fn raise(self) -> PyErr {
        let hint = match &self {
            Self::OneClass { .. } => Some("check label=…, where=… and classes=…"),
            Self::NoLabels { .. } => Some("name the label field with label=…"),
            Self::NoFeatures => Some("lower min_df or check text=…"),
            Self::UniqueLabels { .. } => Some(
                "name the field that holds the classes with label=…; allow_unique_labels=True learns these anyway",
            ),
            Self::SeveralLabels { .. } => Some("labels=\"several\" learns each label separately"),
            Self::NegativeFeature { .. } => {
                Some("use classifier=\"svm\" or \"logistic\" for such features")
            }
            Self::NumbersForCounts { .. } => Some(
                "use classifier=\"svm\" or \"logistic\", or read the field with categorical=… instead",
            ),
            Self::Folds(FoldError::OneGroup) => {
                Some("name a group that divides the rows more finely, or leave it out")
            }
            Self::Folds(_) => Some("use fewer folds, or more documents"),
            _ => None,
        };
        errors::fit(hinted(&self, hint))
    }
}

impl Raise for CalibrationError {
    fn raise(self) -> PyErr {
        FitError::from(self).raise()
    }
}

impl Raise for SavedFileError {
    fn raise(self) -> PyErr {
        match &self.problem {
            SavedProblem::NotFound => PyFileNotFoundError::new_err(self.to_string()),
            SavedProblem::UnknownVersion { .. } => errors::saved(hinted(
                &self,
                Some("a newer calibrant wrote it: update this one"),
            )),
            _ => errors::saved(self),
        }
    }
}

impl Raise for FitJobError {
    fn raise(self) -> PyErr {
        match self {
            Self::Read(error) => error.raise(),
            Self::Fit(error) => error.raise(),
            error => errors::fit(error),
        }
    }
}

impl Raise for PriorError {
    fn raise(self) -> PyErr {
        match &self {
            Self::NoClass { known, .. } => {
                let hint = format!("the classes are {}", listed(known));
                general(format!("prior: {self}"), &hint)
            }
            _ => errors::general(format!("prior: {self}")),
        }
    }
}

impl Raise for CostError {
    fn raise(self) -> PyErr {
        errors::general(format!("costs: {self}"))
    }
}

impl Raise for PromiseError {
    fn raise(self) -> PyErr {
        let hint = match &self {
            Self::NothingKept => {
                "give labelled documents that it has not seen with calibration=…; or fit it again"
            }
            Self::TooFewForSets { .. } => {
                "ask for less, sets=0.8; or label more documents for calibration=…"
            }
            Self::NotCertified {
                needed: Some(_), ..
            } => "label more documents for calibration=…, or allow more errors",
            Self::NotCertified { .. } => "allow more errors: a larger max_error",
            Self::Strangers { .. } => {
                "leave such rows out; sets then speak of documents of known classes"
            }
            Self::Common { .. } => "give other documents: `calibrant.split` divides a table",
            Self::KindOfLabels => "leave out set_kind and per_class",
            Self::SharesOfLabels | Self::AnswersWithPrior => "leave out prior and adapt_prior",
            Self::SetsWithEstimate => {
                "give the shares with prior={class: share}; or leave out adapt_prior"
            }
            Self::WithOther => "leave out other",
            Self::TwoDecisions => "leave out costs and ask, or max_error, or f_beta",
            Self::OneLabel => "leave out f_beta",
            Self::Learned { .. } => {
                "take documents that it was not fitted on; `calibrant.split` sets some aside"
            }
            Self::NoExamples => "name the field with the labels: label=…",
            _ => return errors::general(self),
        };
        general(self, hint)
    }
}

impl Raise for PredictError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read(error) => return error.raise(),
            Self::Prior(error) => return error.raise(),
            Self::Fit(error) => return error.raise(),
            Self::Costs(error) => return error.raise(),
            Self::Promise(error) => return error.raise(),
            Self::Other(OtherError::Joint) => "fit it with multiclass=\"auto\" or \"one_vs_rest\"",
            Self::Other(OtherError::NoCosts) => "fit it with other_cost=…",
            Self::AskIsAClass | Self::OtherIsAClass => "rename that label and fit again",
            Self::OtherWithPrior => {
                "shifted priors say how common the known classes are, not whether there are others"
            }
            Self::NoText { .. } => "give documents with those fields, or fit the model on text",
            Self::NoFeatures => "give documents with the fields that the model was fitted on",
            Self::NoScores => "leave out scores, or predict with its members one by one",
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for ExplainError {
    fn raise(self) -> PyErr {
        match self {
            Self::Read(error) => error.raise(),
            Self::NoText { .. } => {
                general(self, "take the document from a table with those fields")
            }
            error => errors::general(error),
        }
    }
}

impl Raise for EvaluationError {
    fn raise(self) -> PyErr {
        match self {
            Self::Costs(error) => error.raise(),
            error => errors::general(error),
        }
    }
}

impl Raise for EvaluateError {
    fn raise(self) -> PyErr {
        match self {
            Self::Predict(error) => error.raise(),
            Self::Measure(error) => error.raise(),
            Self::Costs(error) => error.raise(),
            error => errors::general(error),
        }
    }
}

impl Raise for ExpectError {
    fn raise(self) -> PyErr {
        match self {
            Self::Read(error) => error.raise(),
            Self::Predict(error) => error.raise(),
            error => errors::general(error),
        }
    }
}

impl Raise for TableError {
    fn raise(self) -> PyErr {
        let hint = match &self {
            Self::Read(_) => None,
            Self::NoColumns { .. } => Some("name the columns after the classes (or `proba_CLASS`)"),
            Self::NoIdColumn { .. } | Self::NoIdentifier { .. } => {
                Some("without id=… rows are taken in the order of the test set")
            }
            Self::NotAProbability { .. } => {
                Some("probabilities are numbers from 0 to 1; classes=[…] names their columns")
            }
            Self::MissingClass { .. } => {
                Some("every document needs every class: predict without top")
            }
            Self::Sum { .. } => Some("labels=\"several\" measures each class separately"),
            Self::RowCount { .. } => Some(
                "rows must be in the order of the test set; a column `id` in both, or id=…, joins them instead",
            ),
            _ => None,
        };
        match self {
            Self::Read(error) => error.raise(),
            error => errors::general(hinted(error, hint)),
        }
    }
}

impl Raise for SystemError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read(error) => return error.raise(),
            Self::Model(error) | Self::NotASystem(error) => return error.raise(),
            Self::Table(error) => return error.raise(),
            Self::LabelFields { .. } => "name the label field with label=…",
            Self::DocumentCounts { .. } => {
                "leave out skip_bad_rows, or name the text fields with text=…"
            }
            Self::TaskContradicted { .. } => {
                "labels=… is for tables of probabilities; models know it themselves"
            }
            Self::ExclusiveClasses { .. } => "use where=… to choose documents",
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for CalibrateError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read(error) => return error.raise(),
            Self::Fit(error) => return error.raise(),
            Self::Evaluation(error) => return error.raise(),
            Self::OneLabel { .. } => "check label=… and where=…",
            Self::ManyLabels { .. } => {
                "give one score per class, as score={class: field}; or positive=… to set one label against the rest"
            }
            Self::UnknownLabel { .. } => {
                "score={class: field} says which class a score field is for; where=… keeps only some rows"
            }
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for CombineError {
    fn raise(self) -> PyErr {
        let hint = match &self {
            Self::Fit(error) => return error.clone().raise(),
            Self::Nested { .. } => "combine the models that it was made of",
            Self::Tasks { .. } => "fit them again with the same labels",
            Self::Classes { .. } => "fit them on the same labels, or with the same classes",
            Self::Fields { .. } => "fit them again on the same fields",
            _ => return errors::general(self),
        };
        general(self, hint)
    }
}

impl Raise for CombineJobError {
    fn raise(self) -> PyErr {
        match self {
            Self::Read(error) => error.raise(),
            Self::Combine(error) => error.raise(),
            error => general(
                error,
                "keep some documents back from every fit; even_if_learned_from=True continues anyway",
            ),
        }
    }
}

impl Raise for RecalibrateJobError {
    fn raise(self) -> PyErr {
        match self {
            Self::Read(error) => error.raise(),
            Self::Recalibrate(RecalibrateError::Fit(error)) => error.raise(),
            Self::Recalibrate(error) => general(
                error,
                "label more documents, drawn at random from those to come",
            ),
            error => general(
                error,
                "label documents that came after the fit; even_if_learned_from=True continues anyway",
            ),
        }
    }
}

impl Raise for PrevalenceJobError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read(error) => return error.raise(),
            Self::Predict(error) => return error.raise(),
            Self::Prior(error) => return error.raise(),
            Self::NotInPool { .. } => {
                "label documents of the pool, drawn at random: `calibrant.plan_sample` draws them"
            }
            Self::Twice { .. } => "give each document once",
            Self::SameId { .. } => "name a field that tells documents apart with id=…",
            Self::NotLabelled { .. } => {
                "label every row that was drawn: leaving out the hard ones would make the sample no random one"
            }
            Self::UnknownLabel { .. } | Self::SeveralLabels { .. } => {
                "name the label field with label=…, and its separator with label_separator=…"
            }
            Self::Learned { .. } => {
                "fit the model without these documents, or use method=\"labels-alone\", which asks no model"
            }
            Self::OtherPlan { .. } => {
                "use the model and the pool that the sample was drawn with, and all of its rows"
            }
            Self::Prevalence(PrevalenceError::NotForStrata { .. }) => {
                "use method=\"auto\", \"stratified\" or \"stratified-exact\""
            }
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for CascadeJobError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read(error) => return error.raise(),
            Self::Predict(error) => return error.raise(),
            Self::Cascade(CascadeError::NotCertified { .. }) => {
                "give more documents, allow more errors with max_error=…, or add person=COST"
            }
            Self::Cascade(CascadeError::Tiers { .. }) => {
                "give several sources, and person=COST for who answers what is left"
            }
            Self::NoConfidence { .. } | Self::BadConfidence { .. } => {
                "`calibrant.calibrate` turns scores of any kind into probabilities"
            }
            Self::NoColumn { .. } => {
                "a table of answers has the columns `id` (or `row`), `label` and `probability`"
            }
            Self::NoAnswer { .. } => {
                "every source must have been asked about every document of the truth"
            }
            Self::NotOneLabel { .. } => "name the label field with label=…",
            Self::Learned { .. } => {
                "take documents that it was not fitted on; `calibrant.split` sets some aside"
            }
            Self::RowsFiltered => "name the field with the identifiers, id=…; or leave out where",
            Self::OtherModel { .. } => {
                "predict with the model of the policy, or make a policy for this one with `calibrant.cascade`"
            }
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for SplitError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read(error) => return error.raise(),
            Self::Write(error) => return error.raise(),
            Self::Fit(error) => return error.raise(),
            Self::OneUnit { .. } => "check text=…, group=… and time=…",
            Self::AmbiguousDate { .. } => "give date_order=\"day\" or date_order=\"month\"",
            Self::Moment { .. } => "fix that cell, or leave such rows out with where=…",
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for RereadError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read(error) => return error.raise(),
            Self::NoColumn { .. } => "give the sample with its column `correct` filled in",
            Self::NotRead { .. } => {
                "fill in every row: leaving out the hard ones would make the sample no random one"
            }
            Self::NotListed { .. } | Self::OtherList { .. } => {
                "use the same documents and settings, `most` among them, as when the sample was drawn"
            }
            Self::UnknownAnswer { .. } => {
                "write the label that is right: the given one, or another class"
            }
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for IndexError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read(error) => return error.raise(),
            Self::Saved(error) => return error.raise(),
            Self::MissingId { .. } => {
                "name the field with id=…, or use numbered=True to name documents 1, 2, …"
            }
            Self::DuplicateId { .. } => "name another field with id=…, or use numbered=True",
            Self::ModelColumns { .. } => {
                "fit the ranking again on what `SearchIndex.features` gives"
            }
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for SearchError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Index(error) => return error.raise(),
            Self::NoProbabilities => {
                "fit it without calibrator=\"none\", on enough queries to hold some out"
            }
            Self::NothingJudged => {
                "check that queries and judgements use the same names for queries and documents"
            }
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for RankRowsError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read { file, error } => match *error {
                error @ (ReadError::BadRow(_) | ReadError::InvalidUtf8 { .. }) => {
                    return errors::read(hinted(error, Some(file.line())));
                }
                error => return error.raise(),
            },
            Self::SameName { .. } => "give each run a name of its own",
            Self::NothingJudged => "check that runs and judgements use the same query names",
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for RankFitError {
    fn raise(self) -> PyErr {
        let hint = match &self {
            Self::NothingToLearn { .. } => Some("check the grades, relevant_from and unjudged"),
            Self::NothingToChooseBy { .. } => {
                Some("give one c, other validation queries, or another relevant_from")
            }
            Self::TooManyFolds { .. } => {
                Some("use fewer folds, or give validation queries, or one c with bins and grades")
            }
            Self::TooManyOrders(_) => Some("use loss=\"ndcg@10\""),
            Self::SharedQuery { .. } => Some("leave the query out of one of the two tables"),
            _ => None,
        };
        errors::fit(hinted(&self, hint))
    }
}

impl Raise for RankPredictError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Rows(error) => return error.raise(),
            Self::Unknown(_) => "ignore_unknown=True ignores them; columns are matched by name",
            Self::Missing { .. } => "give every run; ignore_missing=True continues without them",
            Self::ColumnCount { .. } => {
                "name the columns; ignore_missing=True and ignore_unknown=True take the last ones as missing, or ignore them"
            }
            Self::NoProbabilities => {
                "fit it without calibrator=\"none\", on enough queries to hold some out"
            }
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for RankEvaluateError {
    fn raise(self) -> PyErr {
        let hint = match self {
            Self::Read(error) => return error.raise(),
            Self::Measure(_) => "a measure has parameters after a point, such as P.5,10",
            Self::Run {
                error: RunEvaluationError::NothingInCommon { .. },
                ..
            }
            | Self::NothingJudged { .. } => {
                "judgements come first, then runs; are both of the same queries?"
            }
            Self::Run {
                error: RunEvaluationError::NoCollectionSize { .. },
                ..
            } => "collection_size=N gives the number of documents",
            Self::Comparison(_) => {
                "complete=True compares on all judged queries and counts those that a run lacks as 0"
            }
            Self::NotAProbability { .. } => "without probabilities=True scores may be any numbers",
            error => return errors::general(error),
        };
        general(self, hint)
    }
}

impl Raise for CheckRulesError {
    fn raise(self) -> PyErr {
        match self {
            Self::Read(error) => error.raise(),
            error => errors::general(format!("the rules, {error}")),
        }
    }
}

impl Raise for InspectError {
    fn raise(self) -> PyErr {
        general(self, "leave out terms")
    }
}

impl Raise for WritePredictionsError {
    fn raise(self) -> PyErr {
        match self {
            Self::Ending { .. } => general(self, "use .csv, .tsv, .jsonl, .parquet or .xlsx"),
            error => errors::general(error),
        }
    }
}
