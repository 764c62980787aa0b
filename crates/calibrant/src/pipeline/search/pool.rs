//! Several fits to the same documents as one model, where that is clearly better than the default alone.

use serde::{Deserialize, Serialize};

use super::trials::Kept;
use crate::calibration::{CalibrationNote, CalibratorKind, LogOddsPool, MemberForecasts};
use crate::corpus::{Fields, Folds};
use crate::evaluation::{Forecasts, evaluate_without_chance};
use crate::pipeline::class_spread::spreads_of_classes;
use crate::pipeline::fit::check_survives;
use crate::pipeline::paired_losses::PairedLosses;
use crate::pipeline::pooled::{pooled, pools_without_folds};
use crate::pipeline::summary::shape_of;
use crate::pipeline::training_corpus::PreparedCorpus;
use crate::pipeline::{
    ClassSummary, CombinedMember, CombinedModel, FitSettings, HeldOutMeasures, TrainingSummary,
};
use crate::{FitError, Probability};

/// What a search expects of the pool of the best beside the default.
///
/// # When it misleads
/// The same held-out documents chose what is pooled, so that the pool looks a little better than it is; its weights, at
/// least, never saw the document that they are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchGain {
    /// Held-out log loss of the pool, by weights that were fitted without the document's fold.
    pub log_loss: f64,
    /// Held-out log loss of the default on the same documents.
    pub default_log_loss: f64,
    /// Standard error of the difference, over documents, or over groups where there are any.
    pub standard_error: f64,
}

impl SearchGain {
    /// Whether the pool is better than the default by more than chance would have it.
    ///
    /// ```
    /// use calibrant::pipeline::SearchGain;
    /// let gain = |log_loss| SearchGain { log_loss, default_log_loss: 0.5, standard_error: 0.01 };
    /// assert!(gain(0.475).is_clear()); // by hand: 2.5 standard errors lower
    /// assert!(!gain(0.499).is_clear()); // a tenth of one
    /// ```
    pub fn is_clear(&self) -> bool {
        self.default_log_loss - self.log_loss > CLEAR * self.standard_error
    }
}

/// So many standard errors: what is pooled was chosen by the same documents, and one would too often be luck.
const CLEAR: f64 = 2.0;
/// A member that counts less is not worth its time at every prediction.
const LEAST_WEIGHT: f64 = 0.05;
/// With more forecasts than these of one fit, a part of the documents decides the weights.
const MOST_FORECASTS: usize = 2_000_000;

/// The documents that decide about pools: all, or a part of them where there are very many.
pub(super) struct HeldOut<'a> {
    corpus: &'a PreparedCorpus,
    folds: Folds,
    rows: Vec<u32>,
}

/// A pool, its members by their places among what was kept, and what it gains.
pub(super) struct Pooled {
    pool: LogOddsPool,
    pub(super) members: Vec<usize>,
    pub(super) gain: SearchGain,
    stated: Forecasts,
    /// By row: what it belongs to.
    units: Vec<u32>,
}

impl<'a> HeldOut<'a> {
    pub(super) fn of(corpus: &'a PreparedCorpus, settings: &FitSettings) -> Result<Self, FitError> {
        let labels = &corpus.labels;
        let folds = corpus
            .documents
            .folds(labels, settings.folds, settings.seed)?;
        let forecasts = labels.of_row.len() * labels.class_count;
        // Documents are numbered in the order of their hashes: every so many is a fair part.
        let step = forecasts.div_ceil(MOST_FORECASTS).max(1) as u32;
        let rows = (0..).zip(&corpus.documents.of_row);
        let rows = rows.filter(|(_, document)| *document % step == 0);
        Ok(Self {
            corpus,
            folds,
            rows: rows.map(|(row, _)| row).collect(),
        })
    }

    /// What is needed of the forecasts of all rows.
    pub(super) fn part_of(&self, forecasts: Vec<Probability>) -> Vec<Probability> {
        let labels = &self.corpus.labels;
        if self.rows.len() == labels.of_row.len() {
            return forecasts;
        }
        let classes = |&row: &u32| {
            let first = row as usize * labels.class_count;
            forecasts[first..first + labels.class_count].iter().copied()
        };
        self.rows.iter().flat_map(classes).collect()
    }

    /// Weighs all, then once more without those that hardly count.
    pub(super) fn pool(&self, kept: &[Kept]) -> Result<Pooled, FitError> {
        let all: Vec<usize> = (0..kept.len()).collect();
        let weights = LogOddsPool::fit(&self.forecasts(kept, &all)?, |_| true)?;
        let counts = |place: &usize| weights.weights()[*place] >= LEAST_WEIGHT;
        let mut members: Vec<usize> = all.into_iter().filter(counts).collect();
        if members.is_empty() {
            members.push(0);
        }
        let forecasts = self.forecasts(kept, &members)?;
        let pool = LogOddsPool::fit(&forecasts, |_| true)?;
        let fold_of = |row: usize| self.folds.of(self.rows[row] as usize);
        let fold_pools = pools_without_folds(&forecasts, self.folds.count(), fold_of)?;
        let names = self.corpus.class_names.clone();
        let stated = pooled(names, &forecasts, |row| &fold_pools[fold_of(row)]);
        let gain = self.gain(&stated, &kept[0].forecasts);
        let units = self.corpus.documents.units();
        Ok(Pooled {
            pool,
            members,
            gain,
            stated,
            units: self.rows.iter().map(|&row| units[row as usize]).collect(),
        })
    }

    fn forecasts(&self, kept: &[Kept], members: &[usize]) -> Result<MemberForecasts, FitError> {
        let labels = &self.corpus.labels;
        let count = labels.class_count;
        let mut forecasts = MemberForecasts::new(labels.task, members.len(), count);
        for (place, &row) in self.rows.iter().enumerate() {
            let classes = place * count..(place + 1) * count;
            let stated: Vec<&[Probability]> = members
                .iter()
                .map(|&member| &kept[member].forecasts[classes.clone()])
                .collect();
            let row = row as usize;
            forecasts.push(
                &stated,
                &labels.of_row[row],
                self.corpus.documents.weights[row],
            )?;
        }
        Ok(forecasts)
    }

    /// What is gained by stating this in place of what the default states.
    pub(super) fn gain(&self, stated: &Forecasts, default: &[Probability]) -> SearchGain {
        let rows = self.rows.iter().map(|&row| row as usize);
        let pair = PairedLosses::of(self.corpus, rows, &stated.probabilities, default);
        SearchGain {
            log_loss: pair.log_loss,
            default_log_loss: pair.other,
            standard_error: pair.standard_error,
        }
    }
}

impl Pooled {
    /// The members as one model.
    pub(super) fn model(self, kept: Vec<Kept>, fields: Fields) -> Result<CombinedModel, FitError> {
        let mut members: Vec<CombinedMember> = Vec::new();
        for (place, kept) in kept.into_iter().enumerate() {
            if self.members.contains(&place) {
                let mut model = kept.model;
                // All learned from the same documents: one filter of them will do.
                if !members.is_empty() {
                    model.training_keys = None;
                }
                members.push(CombinedMember {
                    name: kept.name,
                    log_loss: kept.log_loss,
                    model,
                });
            }
        }
        let first = members.first().ok_or(FitError::NoDocuments)?;
        let features = members.iter().map(|member| member.model.summary().features);
        let summary = TrainingSummary {
            features: features.sum(),
            multiclass: None,
            known_documents: None,
            ..self.summary(first.model.summary())?
        };
        check_survives(&summary)?;
        check_survives(&self.pool)?;
        Ok(CombinedModel {
            members,
            pool: self.pool,
            fields: Fields {
                group: None,
                ..fields
            },
            summary,
            training_keys: None,
        })
    }

    /// As that of a member, with what is expected of the pool.
    fn summary(&self, of_member: &TrainingSummary) -> Result<TrainingSummary, FitError> {
        let mut rows_of = vec![Vec::new(); of_member.classes.len()];
        for (row, labels) in (0..).zip(&self.stated.labels) {
            for &label in labels {
                rows_of[label as usize].push(row);
            }
        }
        let spreads = spreads_of_classes(&self.stated, &rows_of, &self.units);
        let classes = of_member.classes.iter().zip(spreads);
        let classes = classes.map(|(class, spread)| ClassSummary {
            calibrator: CalibratorKind::None,
            calibration: CalibrationNote::Joint,
            own_weight: None,
            tried: Vec::new(),
            spread,
            convergence: None,
            ..class.clone()
        });
        Ok(TrainingSummary {
            classes: classes.collect(),
            held_out: HeldOutMeasures::from(&evaluate_without_chance(&self.stated)?),
            held_out_shape: shape_of(&self.stated),
            ..of_member.clone()
        })
    }
}
