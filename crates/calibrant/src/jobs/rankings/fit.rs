//! Judged documents to a ranking model.

use serde::Serialize;

use super::rows::{RankRows, RankRowsError, RankSource};
use crate::Progress;
use crate::corpus::{RankingTable, Source};
use crate::ranking::learning::{RankFitError, RankModel, RankSettings, RankSummary};

/// What a ranking is learned from and chosen by.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::corpus::Source;
/// use calibrant::jobs::rankings::{RankSource, RankTraining};
/// use calibrant::ranking::learning::RankSettings;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("train.letor");
/// let rows = |query: usize| format!("1 qid:{query} 1:3\n0 qid:{query} 1:1\n0 qid:{query} 1:2\n");
/// let text: String = (0..8).map(rows).collect();
/// std::fs::write(&path, format!("# features: 1=bm25\n{text}"))?;
/// let train = RankSource::Letor(vec![Source::Path(path)]);
/// let settings = RankSettings::default();
/// let fit = RankTraining::read(&train, None, &settings)?.fit(&settings, &NoProgress)?;
/// assert_eq!(fit.model.features().columns(), ["bm25"]);
/// assert_eq!(fit.summary().training_map, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RankTraining {
    /// Learned from.
    pub rows: RankRows,
    /// Chosen by, never learned from.
    pub validation: Option<RankingTable>,
}

/// A ranking model, and what is to be said about how it came about.
#[derive(Debug, Clone, Serialize)]
pub struct RankFit {
    /// The model, which keeps its own summary.
    #[serde(serialize_with = "summary_alone", rename = "summary")]
    pub model: RankModel,
    /// How many validation queries were only measured, because there was nothing to choose.
    pub validation_only_measured: Option<usize>,
}

fn summary_alone<S: serde::Serializer>(
    model: &RankModel,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    model.summary().serialize(serializer)
}

impl RankFit {
    /// How the model came about.
    pub fn summary(&self) -> &RankSummary {
        self.model.summary()
    }
}

impl RankTraining {
    /// Reads training rows, and validation rows as a LETOR file. Where only one of the two files names its columns, they are found by number.
    pub fn read(
        train: &RankSource,
        validation: Option<&Source>,
        settings: &RankSettings,
    ) -> Result<Self, RankRowsError> {
        let rows = train.read(settings.relevant_from)?;
        let validation = match validation {
            Some(source) => {
                let letor = RankSource::Letor(vec![source.clone()]);
                let table = letor.read(settings.relevant_from)?.table;
                Some(table.matched_by_number(rows.table.features()))
            }
            None => None,
        };
        Ok(Self { rows, validation })
    }

    /// Learns the ranking.
    pub fn fit(
        &self,
        settings: &RankSettings,
        progress: &dyn Progress,
    ) -> Result<RankFit, RankFitError> {
        let validation = self.validation.as_ref();
        Ok(RankFit {
            model: RankModel::fit(&self.rows.table, validation, settings, progress)?,
            validation_only_measured: self.idle_validation(settings),
        })
    }

    /// How many validation queries have nothing to choose, and are only measured.
    pub fn idle_validation(&self, settings: &RankSettings) -> Option<usize> {
        let validation = self.validation.as_ref();
        let idle = validation.filter(|_| !settings.leaves_a_choice());
        idle.map(RankingTable::query_count)
    }
}
