//! What can be chosen about learning a ranking.

use serde::{Deserialize, Serialize};

use super::parameters::OpenSettings;
use super::{Choice, FeatureSettings, GradeUse, QueryScale, RankLoss, RankParameters};
use crate::calibration::CalibratorKind;
use crate::corpus::Unjudged;

/// Settings of [`RankModel::fit`](super::RankModel::fit). What is left open is chosen on held-out queries: bins, the use of grades and
/// `C` by mean average precision, the curve from scores to probabilities by log loss.
///
/// The default is that of `calibrant rank fit`:
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::ranking::RankingTable;
/// use calibrant::ranking::learning::{Choice, RankModel, RankSettings};
/// let queries: Vec<(String, usize)> = (0..10).map(|query| (format!("q{query}"), 4)).collect();
/// let names: Vec<String> = (0..40).map(|row| format!("d{row}")).collect();
/// let grades: Vec<i32> = (0..40).map(|row| i32::from(row % 4 == 0)).collect();
/// let values: Vec<f32> = (0..40).map(|row| if row % 4 == 0 { 3.0 } else { (row % 7) as f32 / 3.0 }).collect();
/// let table = RankingTable::new(vec!["bm25".into()], &queries, &names, grades, values)?;
/// let settings = RankSettings::default();
/// assert_eq!(settings.bins, Choice::Auto);
/// let model = RankModel::fit(&table, None, &settings, &NoProgress)?;
/// assert_eq!(model.summary().settings_tried.len(), 2); // slopes, or ten bins
/// assert!(model.relevance().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankSettings {
    /// What the ranking is to be good at.
    pub loss: RankLoss,
    /// Values of `C`, the cost of errors against large weights, to choose from; none stands for
    /// [`USUAL_COSTS`](super::USUAL_COSTS) and, where the greatest of them is the best, [`FURTHER_COSTS`](super::FURTHER_COSTS).
    pub c: Vec<f64>,
    /// What is done to values first.
    pub scale: QueryScale,
    /// How many thresholds each column is cut at; 0 learns one slope per column. `Auto` chooses between 0 and 10.
    pub bins: Choice<usize>,
    /// What grades above the smallest relevant one are for.
    pub grades: Choice<GradeUse>,
    /// The smallest grade of a relevant document.
    pub relevant_from: i32,
    /// Learning ends when the objective is within this part of the least possible one.
    pub tolerance: f64,
    /// In how many folds queries are divided to choose by; see [`RankParameters::folds`].
    pub folds: Option<usize>,
    /// Where the division into folds begins.
    pub seed: u64,
    /// What becomes of documents that nobody judged.
    pub unjudged: Unjudged,
    /// How scores become probabilities of relevance. With `Auto` a model of too few queries does without them
    /// (see [`RankSummary::no_probabilities`](super::RankSummary::no_probabilities)); `None` never has them.
    pub calibrator: CalibratorKind,
    /// Folds of queries that are held out one after the other for that.
    pub calibration_folds: usize,
}

impl Default for RankSettings {
    fn default() -> Self {
        let parameters = RankParameters::default();
        Self {
            loss: parameters.loss,
            c: parameters.c,
            scale: parameters.features.scale,
            bins: Choice::Auto,
            grades: Choice::Auto,
            relevant_from: parameters.relevant_from,
            tolerance: parameters.tolerance,
            folds: parameters.folds,
            seed: parameters.seed,
            unjudged: parameters.unjudged,
            calibrator: CalibratorKind::Auto,
            calibration_folds: 5,
        }
    }
}

impl RankSettings {
    /// Whether validation queries have anything to choose.
    pub(crate) fn leaves_a_choice(&self) -> bool {
        self.open() != OpenSettings::NONE || self.folds.is_some() || self.c.len() != 1
    }

    /// What is given; what is open as plain as can be.
    pub(super) fn given(&self) -> RankParameters {
        RankParameters {
            loss: self.loss,
            c: self.c.clone(),
            features: FeatureSettings {
                scale: self.scale,
                bins: self.bins.given().unwrap_or(0),
            },
            relevant_from: self.relevant_from,
            every_grade: self.grades == Choice::Given(GradeUse::Every),
            tolerance: self.tolerance,
            folds: self.folds,
            seed: self.seed,
            unjudged: self.unjudged,
        }
    }

    /// What is open.
    pub(super) fn open(&self) -> OpenSettings {
        OpenSettings {
            bins: self.bins.is_auto(),
            every_grade: self.grades.is_auto(),
        }
    }
}
