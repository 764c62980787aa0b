//! Errors as a person sees them: what happened, and what to do next.

use std::io::{self, Write};

use calibrant::corpus::{FoldError, ReadError};
use calibrant::decision::OtherError;
use calibrant::evaluation::EvaluationError;
use calibrant::index::IndexError;
use calibrant::jobs::{
    EvaluateError, ExplainError, PredictError, PriorError, WritePredictionsError,
};
use calibrant::pipeline::CombineError;
use calibrant::saved::{SavedFileError, SavedKind, SavedProblem, WriteError};
use calibrant::{CalibrationError, FitError};

/// The next step where a field is not there, for every command that reads documents.
const FIELD_OPTIONS: &str = "name fields with --text, --label, --id, --weight and --where";

/// The next step where a row cannot be read.
const SKIP_BAD_ROWS: &str = "--skip-bad-rows skips such rows and counts them";

#[derive(Debug)]
pub(crate) struct CliError {
    message: String,
    hint: Option<String>,
    closed_pipe: bool,
}

impl CliError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            closed_pipe: false,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// For commands that read every row or none.
    pub(crate) fn without_skipping(mut self) -> Self {
        if self.hint.as_deref() == Some(SKIP_BAD_ROWS) {
            self.hint =
                Some("fix that line; such files are read completely or not at all".to_owned());
        }
        if self
            .hint
            .as_ref()
            .is_some_and(|hint| hint.starts_with("--encoding"))
        {
            self.hint = Some("save that file as UTF-8".to_owned());
        }
        self
    }

    /// Whether standard output was closed by its reader, as `| head` does: not an error.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }

    pub(crate) fn show(&self) {
        let mut stderr = io::stderr().lock();
        let _ = writeln!(stderr, "error: {}", self.message);
        if let Some(hint) = &self.hint {
            let _ = writeln!(stderr, "hint: {hint}");
        }
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self {
            closed_pipe: error.kind() == io::ErrorKind::BrokenPipe,
            ..Self::new(error.to_string())
        }
    }
}

impl From<ReadError> for CliError {
    fn from(error: ReadError) -> Self {
        if let ReadError::BadRow(row) = &error
            && let Some(field) = row.field_of_categories()
        {
            let hint = format!("--categorical {field} reads it as a category; {SKIP_BAD_ROWS}");
            return Self::new(error.to_string()).hint(hint);
        }
        if let ReadError::BadRow(row) = &error
            && row.has_empty_label()
        {
            let hint =
                "fill the label in, or leave out --empty-labels error to leave such rows out";
            return Self::new(error.to_string()).hint(hint);
        }
        if let ReadError::InvalidUtf8 { likely, .. } = &error {
            // To skip such rows would lose every text with such a letter.
            let hint = format!("--encoding {likely} reads it so");
            return Self::new(error.to_string()).hint(hint);
        }
        let hint = match &error {
            ReadError::NotFound { .. } => Some("check the path; `-` reads from standard input"),
            ReadError::UnknownField { .. } | ReadError::FieldNeverCame { .. } => {
                Some(FIELD_OPTIONS)
            }
            ReadError::BadRow(row) if row.is_cut_off() => {
                Some("save or copy the file again, whole")
            }
            ReadError::BadRow(_) => Some(SKIP_BAD_ROWS),
            ReadError::MixedDecimals { .. }
            | ReadError::AmbiguousComma { .. }
            | ReadError::AmbiguousPoint { .. } => Some(
                "give --decimal point or --decimal comma; what was printed before this is not to be used",
            ),
            ReadError::UnknownFormat { .. } => Some("name the format with --format"),
            ReadError::NoSheet { .. } => Some("name one of them with --sheet, or its number"),
            ReadError::Spreadsheet { .. }
            | ReadError::OldSpreadsheet { .. }
            | ReadError::UnpackedTooLarge { .. } => Some("save the sheet as CSV and give that"),
            _ => None,
        };
        Self {
            hint: hint.map(str::to_owned),
            ..Self::new(error.to_string())
        }
    }
}

impl From<FitError> for CliError {
    fn from(error: FitError) -> Self {
        let hint = match &error {
            FitError::OneClass { .. } => Some("check --label, --where and --classes"),
            FitError::NoLabels { .. } => Some("name the label field with --label"),
            FitError::NoFeatures => Some("lower --min-df or check --text"),
            FitError::UniqueLabels { .. } => Some(
                "name the field that holds the classes with --label; --allow-unique-labels learns these anyway",
            ),
            FitError::SeveralLabels { .. } => Some("--labels several learns each label separately"),
            FitError::NegativeFeature { .. } => {
                Some("use --classifier svm or logistic for such features")
            }
            FitError::NumbersForCounts { .. } => Some(
                "use --classifier svm or logistic; numbers, not vectors, can be read with --categorical instead",
            ),
            FitError::NoRule { .. } => Some(
                "write a rule for it, learn only classes that have one with --classes, or let another --classifier use the rules as features",
            ),
            FitError::RulesAlone { .. } => {
                Some("leave the field out, or use --classifier svm or logistic with --rules")
            }
            FitError::Folds(FoldError::OneGroup) => {
                Some("name a --group that divides the rows more finely, or leave it out")
            }
            FitError::Folds(_) => Some("use fewer --folds, or more documents"),
            FitError::BadSetting {
                setting: "the class weights",
                ..
            } => Some("leave --class-weight out; --weight FIELD weighs documents"),
            _ => None,
        };
        Self {
            hint: hint.map(str::to_owned),
            ..Self::new(error.to_string())
        }
    }
}

impl From<CombineError> for CliError {
    fn from(error: CombineError) -> Self {
        let hint = match &error {
            CombineError::Fit(FitError::NoDocuments) => {
                "check --label and --where: no document has a label that the models know"
            }
            CombineError::Fit(error) => return error.clone().into(),
            CombineError::Nested { .. } => "combine the models that it was made of",
            CombineError::Tasks { .. } => "fit them again with the same --labels",
            CombineError::Classes { .. } => {
                "fit them on files with the same labels, or with the same --classes"
            }
            CombineError::Fields { .. } => "fit them again on the same fields",
            _ => "`calibrant combine MODEL MODEL --data FILE -o OUT`",
        };
        Self::new(error.to_string()).hint(hint)
    }
}

impl From<PriorError> for CliError {
    fn from(error: PriorError) -> Self {
        let said = Self::new(format!("--prior: {error}"));
        match error {
            PriorError::NoClass { known, .. } => {
                let names: Vec<&str> = known.iter().take(20).map(String::as_str).collect();
                said.hint(format!("the classes are {}", names.join(", ")))
            }
            _ => said,
        }
    }
}

impl From<WritePredictionsError> for CliError {
    fn from(error: WritePredictionsError) -> Self {
        match error {
            WritePredictionsError::Io(error) => error.into(),
            WritePredictionsError::File(error) => error.into(),
            WritePredictionsError::Json(error) => error.into(),
            WritePredictionsError::Ending { .. } => {
                Self::new(error.to_string()).hint("use .csv, .tsv, .jsonl, .parquet or .xlsx")
            }
            WritePredictionsError::Encoding { .. } => {
                Self::new(error.to_string()).hint("leave out --like-input to write UTF-8")
            }
            WritePredictionsError::NewField { .. } => {
                Self::new(error.to_string()).hint("write to a file with the ending .jsonl")
            }
            _ => Self::new(error.to_string()),
        }
    }
}

impl From<PredictError> for CliError {
    fn from(error: PredictError) -> Self {
        match error {
            PredictError::Read(error) => error.into(),
            PredictError::Prior(error) => error.into(),
            PredictError::Fit(error) => error.into(),
            PredictError::Other(OtherError::Joint) => Self::new(format!("--other: {error}"))
                .hint("fit it with `--multiclass auto` or `one_vs_rest`"),
            PredictError::Other(OtherError::NoCosts) => {
                Self::new(format!("--other: {error}")).hint("fit it with `--other-cost`")
            }
            PredictError::Other(_) => Self::new(format!("--other: {error}")),
            PredictError::Costs(error) => error.into(),
            PredictError::AskIsAClass => {
                Self::new(format!("--ask: {error}")).hint("rename that label and fit again")
            }
            PredictError::OtherIsAClass => {
                Self::new(format!("--other: {error}")).hint("rename that label and fit again")
            }
            PredictError::Promise(error) => error.into(),
            PredictError::OtherWithPrior => Self::new(
                "--other cannot be used with --prior or --adapt-prior",
            )
            .hint(
                "shifted priors say how common the known classes are, not whether there are others",
            ),
            PredictError::NoText { .. } => Self::new(error.to_string())
                .hint("give documents with those fields, or fit the model on text"),
            PredictError::NoFeatures => Self::new(error.to_string())
                .hint("give documents with the fields that the model was fitted on"),
            PredictError::NoScores => Self::new(error.to_string())
                .hint("leave out --scores, or predict with its members one by one"),
            _ => Self::new(error.to_string()),
        }
    }
}

/// The next step where a class is not known.
const LIST_CLASSES: &str = "`calibrant inspect MODEL` lists its classes";

impl From<EvaluateError> for CliError {
    fn from(error: EvaluateError) -> Self {
        let said = Self::new(error.to_string());
        match error {
            EvaluateError::NoClass { .. } => said.hint(LIST_CLASSES),
            EvaluateError::ExclusiveClasses => Self::new(
                "--classes needs a multi-label model: the classes of this one exclude each other",
            )
            .hint("use --where to choose documents"),
            EvaluateError::Predict(error) => error.into(),
            EvaluateError::Measure(error) => error.into(),
            EvaluateError::Costs(error) => error.into(),
            _ => said,
        }
    }
}

impl From<ExplainError> for CliError {
    fn from(error: ExplainError) -> Self {
        let said = Self::new(error.to_string());
        match error {
            ExplainError::Read(error) => error.into(),
            ExplainError::NoClass { .. } => said.hint(LIST_CLASSES),
            ExplainError::NoText { .. } => {
                said.hint("take the document from a file with those fields: --file FILE --row N")
            }
            _ => said,
        }
    }
}

impl From<SavedFileError> for CliError {
    fn from(error: SavedFileError) -> Self {
        let hint = saved_hint(&error);
        Self {
            hint: hint.map(str::to_owned),
            ..Self::new(error.to_string())
        }
    }
}

/// The next step where a saved file is not what was asked for: it depends on what was.
fn saved_hint(error: &SavedFileError) -> Option<&'static str> {
    let wanted = error.kind.unwrap_or(SavedKind::Model);
    match &error.problem {
        SavedProblem::NotFound => Some(match wanted {
            SavedKind::Ranking => "`calibrant rank fit FILE -o MODEL` makes one",
            SavedKind::Calibrator => {
                "`calibrant calibrate FILE --score FIELD -o CALIBRATOR` makes one"
            }
            SavedKind::Index => {
                "`calibrant index DOCS -o DIR` makes one; the index comes first, then the query"
            }
            SavedKind::Combination => {
                "`calibrant combine MODEL MODEL --data FILE -o OUT` makes one"
            }
            SavedKind::Policy => "`calibrant cascade TRUTH --source NAME=FILE -o FILE` makes one",
            _ => "`calibrant fit FILE -o MODEL` makes one",
        }),
        SavedProblem::OtherKind { found } => Some(match found {
            SavedKind::Calibrator => {
                "`calibrant calibrate --calibrator FILE --apply SCORES` gives scores their probabilities"
            }
            SavedKind::Ranking => {
                "`calibrant rank predict MODEL FILE` scores documents, `calibrant inspect MODEL` shows it"
            }
            SavedKind::Index => "`calibrant search DIR QUERY` searches it",
            SavedKind::Policy => "`calibrant predict MODEL FILE --policy FILE` follows it",
            _ if wanted == SavedKind::Ranking => {
                "`calibrant predict MODEL FILE` gives texts their probabilities; `calibrant rank fit` makes ranking models"
            }
            _ => "`calibrant predict MODEL FILE` gives texts their probabilities",
        }),
        SavedProblem::Foreign { .. } => match wanted {
            SavedKind::Calibrator | SavedKind::Policy => None,
            SavedKind::Index => Some(
                "`calibrant index DOCS -o DIR` makes one; the index comes first, then the query",
            ),
            _ => Some("the model comes first, then the documents"),
        },
        SavedProblem::UnknownVersion { .. } => Some("a newer calibrant wrote it: update this one"),
        SavedProblem::Damaged { .. } => Some(match wanted {
            SavedKind::Index => "index the documents again",
            SavedKind::Policy => "fetch or make it again",
            _ => "fetch or fit it again",
        }),
        _ => None,
    }
}

impl From<WriteError> for CliError {
    fn from(error: WriteError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<IndexError> for CliError {
    fn from(error: IndexError) -> Self {
        let hint = match error {
            IndexError::Read(ReadError::UnknownField { .. }) => {
                "name fields with --text, --id and --title; --numbered needs no identifiers"
            }
            IndexError::Read(ReadError::UnknownFormat { .. }) => {
                "name the format with --format; --format trec reads TREC documents"
            }
            IndexError::Read(error) => return error.into(),
            IndexError::NoFields { .. } => {
                "leave out --text, --id, --title and --where; the id is <DOCNO>, the title <TITLE> or <HEADLINE>"
            }
            IndexError::MissingId { .. } => {
                "name the field with --id, or use --numbered to name documents 1, 2, …"
            }
            IndexError::DuplicateId { .. } => {
                "fix the file, name another field with --id, or use --numbered"
            }
            IndexError::ModelColumns { .. } => {
                "fit the ranking again on a file of `calibrant search --features`, whose first line names the columns"
            }
            IndexError::Saved(error) => return error.into(),
            IndexError::Io { action, .. } if action.starts_with("write") => {
                "choose another --output, or check its permissions"
            }
            IndexError::Occupied { .. } => "choose another --output, or move it away first",
            _ => return Self::new(error.to_string()),
        };
        Self::new(error.to_string()).hint(hint)
    }
}

impl From<CalibrationError> for CliError {
    fn from(error: CalibrationError) -> Self {
        FitError::from(error).into()
    }
}

impl From<EvaluationError> for CliError {
    fn from(error: EvaluationError) -> Self {
        match error {
            EvaluationError::Costs(error) => error.into(),
            error => Self::new(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> Self {
        Self {
            closed_pipe: error.io_error_kind() == Some(io::ErrorKind::BrokenPipe),
            ..Self::new(error.to_string())
        }
    }
}
