//! How one ranking is learned, with nothing left open.

use serde::{Deserialize, Serialize};

use super::{BIN_LIMIT, FeatureSettings, GradeUse, QueryScale, RankFitError, RankLoss};
use crate::FitError;
use crate::corpus::{RankingTable, Unjudged};

/// How one ranking is learned, with no setting left open but `C`: what [`RankModel::fit_with`](super::RankModel::fit_with) takes, and what a
/// model keeps of the settings that were chosen. See [`RankSettings`](super::RankSettings) for those of a user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankParameters {
    /// What the ranking is to be good at.
    pub loss: RankLoss,
    /// Values of `C`, the cost of errors against large weights; of several, the one with the best mean average
    /// precision on queries that were not learned from is chosen. None stands for [`USUAL_COSTS`] and, where the greatest of them is the
    /// best, for [`FURTHER_COSTS`].
    pub c: Vec<f64>,
    /// Which features are made of the table's columns.
    pub features: FeatureSettings,
    /// The least grade of a relevant document.
    pub relevant_from: i32,
    /// Whether every grade from `relevant_from` on counts as a question of its own (see [`RankProblem::new`](super::RankProblem::new)): with grades 0, 1
    /// and 2, average precision is learned with documents from 1 on relevant and, as much, with those of 2 alone. Without it, and in every
    /// measure, a document is relevant or not.
    #[serde(default)]
    pub every_grade: bool,
    /// Learning ends when the objective is within this part of the least possible one.
    pub tolerance: f64,
    /// In how many folds queries are divided to choose `C`. Without a number: five where there is no validation
    /// table, none where there is one; with a number, validation queries and held-out training queries count together. With one `C` there is
    /// nothing to choose, and folds are only made, to measure it, where a number is given.
    pub folds: Option<usize>,
    /// Where the division into folds begins.
    pub seed: u64,
    /// What becomes of documents that nobody judged.
    #[serde(default)]
    pub unjudged: Unjudged,
}

/// The values of `C` that are tried where none is given, in units of
/// [`RankProblem::unit_cost`](super::RankProblem::unit_cost): so the same
/// range suits one feature per column and fifty. Below them weights only shrink and the ranking stays as it is.
pub const USUAL_COSTS: [f64; 7] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// The values that follow, in the same units, as long as the greatest one tried is the best: up to ten million.
pub const FURTHER_COSTS: [f64; 9] = [1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7];

/// Folds to divide queries into where there is no validation table and no number is given.
pub(super) const USUAL_FOLDS: usize = 5;

/// With as many validation queries, no training queries are held out to choose between settings as well.
const ENOUGH_QUERIES: usize = 500;

/// Bins per column, where they are tried.
const TRIED_BINS: usize = 10;

/// What `C` may be.
pub(super) const COST_RANGE: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// Which settings are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenSettings {
    /// Whether columns are cut into ten bins.
    pub(super) bins: bool,
    /// Whether every grade is a question of its own: for losses that look at relevance alone (`map`, `roc`, `rr`), where there are
    /// several grades.
    pub(super) every_grade: bool,
}

impl OpenSettings {
    /// Everything that can be chosen.
    #[cfg(test)]
    pub(super) const ALL: Self = Self {
        bins: true,
        every_grade: true,
    };
    /// All is settled.
    pub(super) const NONE: Self = Self {
        bins: false,
        every_grade: false,
    };
}

impl Default for RankParameters {
    fn default() -> Self {
        Self {
            loss: RankLoss::default(),
            c: Vec::new(),
            features: FeatureSettings::default(),
            relevant_from: 1,
            every_grade: false,
            tolerance: 1e-3,
            folds: None,
            seed: 0,
            unjudged: Unjudged::default(),
        }
    }
}

impl RankParameters {
    /// These settings with what is open set in every way that is worth trying, the given way first. Where there are several, all
    /// are judged by the same queries.
    pub(super) fn variations(
        &self,
        open: OpenSettings,
        table: &RankingTable,
        validation: Option<&RankingTable>,
    ) -> Vec<Self> {
        let by_grade = Self {
            every_grade: true,
            ..self.clone()
        };
        let asks_for_relevance = !self.loss.is_graded() && !self.loss.is_accuracy();
        let may_grade =
            open.every_grade && asks_for_relevance && by_grade.relevant_levels(table).len() > 1;
        let bins = if open.bins {
            TRIED_BINS
        } else {
            self.features.bins
        };
        let mut all: Vec<Self> = Vec::new();
        for every_grade in [self.every_grade, may_grade || self.every_grade] {
            for bins in [self.features.bins, bins] {
                let features = FeatureSettings {
                    bins,
                    ..self.features
                };
                let settings = Self {
                    every_grade,
                    features,
                    ..self.clone()
                };
                if !all.contains(&settings) {
                    all.push(settings);
                }
            }
        }
        let are_enough = |table: &RankingTable| table.query_count() >= ENOUGH_QUERIES;
        if all.len() > 1 && self.folds.is_none() && !validation.is_some_and(are_enough) {
            let folds = Some(USUAL_FOLDS.min(table.query_count())).filter(|&folds| folds > 1);
            all.iter_mut().for_each(|settings| settings.folds = folds);
        }
        all
    }

    /// The grades from which on documents are relevant: one, or each that occurs.
    pub(super) fn relevant_levels(&self, table: &RankingTable) -> Vec<i32> {
        let least = self.relevant_from;
        if !self.every_grade {
            return vec![least];
        }
        let labels = table.grades().iter().copied();
        let mut levels: Vec<i32> = labels.filter(|&label| label >= least).collect();
        levels.sort_unstable();
        levels.dedup();
        if levels.is_empty() {
            levels.push(least);
        }
        levels
    }

    /// What grades above the smallest relevant one are for.
    pub fn grades(&self) -> GradeUse {
        match self.every_grade {
            true => GradeUse::Every,
            false => GradeUse::One,
        }
    }

    /// The features that are made: `acc3` and `acc4` are defined by theirs.
    pub(crate) fn effective_features(&self) -> FeatureSettings {
        let scale = match self.loss {
            RankLoss::PercentileAccuracy => QueryScale::Percentile,
            RankLoss::MinMaxAccuracy => QueryScale::MinMax,
            _ => self.features.scale,
        };
        FeatureSettings {
            scale,
            ..self.features
        }
    }

    /// Whether every setting makes sense.
    pub(crate) fn check(&self) -> Result<(), RankFitError> {
        let bad = |setting, requirement, value: String| {
            Err(RankFitError::Setting(FitError::BadSetting {
                setting,
                requirement,
                value,
            }))
        };
        if let Some(c) = self.c.iter().find(|c| !COST_RANGE.contains(*c)) {
            return bad("C", "a number from 1e-12 to 1e12", c.to_string());
        }
        if !(1e-9..1.0).contains(&self.tolerance) {
            return bad(
                "the tolerance",
                "at least 1e-9 and below 1",
                self.tolerance.to_string(),
            );
        }
        if self.features.bins > BIN_LIMIT {
            return bad("bins", "at most 10000", self.features.bins.to_string());
        }
        if let Some(folds) = self.folds.filter(|folds| *folds < 2) {
            return bad("folds", "at least 2", folds.to_string());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query for each list of grades.
    fn table(grades: &[&[i32]]) -> RankingTable {
        let queries: Vec<(String, usize)> = grades
            .iter()
            .enumerate()
            .map(|(number, grades)| (format!("q{number}"), grades.len()))
            .collect();
        let labels = grades.concat();
        let values = vec![0.5; labels.len()];
        let names: Vec<String> = (0..labels.len()).map(|row| format!("d{row}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        RankingTable::new(vec!["f".into()], &queries, &names, labels, values).unwrap()
    }

    fn described(settings: &RankParameters, table: &RankingTable) -> Vec<(bool, usize)> {
        let all = settings.variations(OpenSettings::ALL, table, None);
        all.iter()
            .map(|one| (one.every_grade, one.features.bins))
            .collect()
    }

    #[test]
    fn variations_begin_with_the_settings_themselves_and_repeat_nothing() {
        let graded = table(&[&[0, 1, 2][..]; 6]);
        let map = RankParameters::default();
        assert_eq!(
            described(&map, &graded),
            [(false, 0), (false, 10), (true, 0), (true, 10)]
        );
        let pairs = RankParameters {
            loss: RankLoss::Pairs,
            ..map.clone()
        };
        assert_eq!(described(&pairs, &graded), [(false, 0), (false, 10)]);
        let bins = OpenSettings {
            every_grade: false,
            ..OpenSettings::ALL
        };
        assert_eq!(map.variations(bins, &graded, None).len(), 2);
        let settled = map.variations(OpenSettings::NONE, &graded, None);
        assert_eq!(settled, std::slice::from_ref(&map));
    }

    #[test]
    fn one_grade_is_no_choice_of_grades() {
        let map = RankParameters::default();
        for labels in [&[0, 1, 1][..], &[0, 2], &[0, 0], &[-1, 0, 1]] {
            let table = table(&[labels; 6]);
            assert_eq!(described(&map, &table), [(false, 0), (false, 10)]);
        }
        let high = RankParameters {
            relevant_from: 2,
            ..map
        };
        assert_eq!(described(&high, &table(&[&[0, 1, 2]])).len(), 2);
        assert_eq!(described(&high, &table(&[&[0, 2, 3]])).len(), 4);
    }

    #[test]
    fn choices_are_made_on_held_out_training_queries_unless_validation_queries_are_many() {
        let table_of = |queries: usize| table(&vec![&[0, 1][..]; queries]);
        let folds = |queries: usize, given: Option<usize>, validation: Option<usize>| {
            let settings = RankParameters {
                folds: given,
                ..RankParameters::default()
            };
            let validation = validation.map(table_of);
            let all =
                settings.variations(OpenSettings::ALL, &table_of(queries), validation.as_ref());
            assert!(all.iter().all(|one| one.folds == all[0].folds));
            all[0].folds
        };
        assert_eq!(folds(100, None, None), Some(5));
        assert_eq!(folds(3, None, Some(100)), Some(3));
        assert_eq!(folds(100, None, Some(500)), None);
        assert_eq!(folds(1, None, None), None);
        assert_eq!(folds(3, Some(9), Some(500)), Some(9));
    }
}
