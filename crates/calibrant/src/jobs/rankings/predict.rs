//! Documents ranked by a model.

use serde::{Deserialize, Serialize};

use super::rows::{RankRowsError, RankSource};
use crate::Probability;
use crate::corpus::{RankingTable, Run, RunBuilder, RunProblem};
use crate::ranking::learning::{RankModel, UnknownFeatures};

/// What is passed over where columns and model do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankPredictSettings {
    /// Go on without columns that the model does not know.
    pub ignore_unknown: bool,
    /// Go on where runs are missing that the model was fitted on.
    pub ignore_missing: bool,
}

/// Why documents could not be ranked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RankPredictError {
    /// There are no rows.
    #[error(transparent)]
    Rows(#[from] RankRowsError),
    /// The model does not know all columns.
    #[error(transparent)]
    Unknown(#[from] UnknownFeatures),
    /// Runs that the model was fitted on are missing: every score would change.
    #[error(
        "{} of the {known} columns that the model was fitted on are missing, the first of them `{}`",
        missing.len(),
        missing.first().map_or("", String::as_str)
    )]
    Missing {
        /// The columns.
        missing: Vec<String>,
        /// How many columns the model was fitted on.
        known: usize,
    },
    /// The rows have numbered columns only, the model has named ones, and there are not as many.
    #[error(
        "the file has {found} columns without names, and the model was fitted on {known} named columns"
    )]
    ColumnCount {
        /// How many columns the rows have.
        found: usize,
        /// How many columns the model was fitted on.
        known: usize,
    },
    /// The model has no curve from scores to probabilities.
    #[error("the model has no probabilities of relevance")]
    NoProbabilities,
    /// The rows cannot be written as a run.
    #[error(transparent)]
    Run(#[from] RunProblem),
}

/// The documents of many queries with their scores, in the order of the rows.
#[derive(Debug, Clone)]
pub struct RankPredictions {
    /// The rows.
    pub table: RankingTable,
    /// One score per row.
    pub scores: Vec<f64>,
    /// One probability of relevance per row, where the model has a curve for that.
    pub probabilities: Option<Vec<Probability>>,
    /// Columns that the model does not know, and that were passed over.
    pub unknown: Vec<String>,
    /// Columns that the model was fitted on and the rows lack; their values count as missing.
    pub missing: Vec<String>,
    /// Whether the rows do not name their columns and those of the model were found by number.
    pub by_number: bool,
}

/// A document in a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RankedDocument<'a> {
    /// The query.
    pub query: &'a str,
    /// The document.
    pub document: &'a str,
    /// Its place, from 1.
    pub rank: usize,
    /// Its score.
    pub score: f64,
    /// The probability that it is relevant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
}

impl RankPredictions {
    /// Reads rows and scores them.
    ///
    /// In LETOR files a column may just be zero everywhere, so a missing one is only reported; a run that is missing is an error unless the
    /// settings say otherwise. Where only the file or only the model has names for columns, they are found by number; a file without
    /// names must have as many columns as a model with names, unless the settings say otherwise.
    pub fn read(
        model: &RankModel,
        source: &RankSource,
        settings: RankPredictSettings,
    ) -> Result<Self, RankPredictError> {
        let table = source.read(model.settings().relevant_from)?.table;
        let columns = model.features().columns();
        let (table, by_number) = match source {
            RankSource::Letor(_) => {
                let found = table.feature_count();
                let unnamed = table.is_numbered();
                let table = table.matched_by_number(columns);
                let by_number = unnamed && !table.is_numbered();
                let known = columns.len();
                let refused = (found < known && !settings.ignore_missing)
                    || (found > known && !settings.ignore_unknown);
                if by_number && refused {
                    return Err(RankPredictError::ColumnCount { found, known });
                }
                (table, by_number)
            }
            RankSource::Runs { .. } => (table, false),
        };
        let unknown = match model.check_features(&table) {
            Err(error) if !settings.ignore_unknown => return Err(error.into()),
            Err(error) => error.unknown,
            Ok(()) => Vec::new(),
        };
        let missing = model.missing_features(&table).into_iter();
        let missing: Vec<String> = missing.map(str::to_owned).collect();
        let may_miss = matches!(source, RankSource::Letor(_)) || settings.ignore_missing;
        if !missing.is_empty() && !may_miss {
            let known = model.features().columns().len();
            return Err(RankPredictError::Missing { missing, known });
        }
        let scores = model.scores_by_known(&table);
        Ok(Self {
            probabilities: model.probabilities(&table, &scores),
            table,
            scores,
            unknown,
            missing,
            by_number,
        })
    }

    /// The probabilities, or an error where the model says none.
    pub fn stated(&self) -> Result<&[Probability], RankPredictError> {
        let stated = self.probabilities.as_deref();
        stated.ok_or(RankPredictError::NoProbabilities)
    }

    /// The documents of each query by falling score, of equals the first of the table.
    pub fn ranked(&self) -> impl Iterator<Item = RankedDocument<'_>> {
        self.table.queries().iter().flat_map(|query| {
            let mut rows: Vec<usize> = query.rows.clone().collect();
            rows.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
            let places = rows.into_iter().enumerate();
            places.map(|(place, row)| RankedDocument {
                query: &query.id,
                document: self.table.document(row),
                rank: place + 1,
                score: self.scores[row],
                probability: self.probabilities.as_ref().map(|all| all[row].value()),
            })
        })
    }

    /// A run of this name, with probabilities instead of scores if they are wanted.
    pub fn run(&self, name: &str, probabilities: bool) -> Result<Run, RankPredictError> {
        let stated = match probabilities {
            true => Some(self.stated()?),
            false => None,
        };
        let mut run = RunBuilder::new(name)?;
        for query in self.table.queries() {
            for row in query.rows.clone() {
                let score = stated.map_or(self.scores[row], |all| all[row].value());
                run.push(&query.id, self.table.document(row), score)?;
            }
        }
        Ok(run.finish()?)
    }
}
