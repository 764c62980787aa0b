//! One fit of several that are held against each other to choose a setting.

use super::FitSettings;
use super::fit::fit_prepared;
use super::paired_losses::PairedLosses;
use super::training_corpus::PreparedCorpus;
use crate::calibration::{CalibratorKind, MulticlassKind};
use crate::corpus::Fields;
use crate::progress::Unshown;
use crate::{Probability, Progress, Task};

/// With fewer documents the usual settings are taken: they could not tell.
pub(super) const FEWEST: usize = 100;
/// So many standard errors lower must a held-out log loss be to take the lead.
const SURE: f64 = 1.0;

/// How well a fit forecast documents that it had not seen.
pub(super) struct SettingsTrial {
    /// How many documents took part, copies included.
    pub(super) documents: usize,
    /// Held-out log loss.
    pub(super) log_loss: f64,
    /// Held-out micro-F1; of exclusive classes that is the accuracy.
    pub(super) micro_f1: f64,
    /// Held-out forecasts, row after row.
    forecasts: Vec<Probability>,
}

impl SettingsTrial {
    /// Fits with simple curves, which are distinguished by nothing but the settings; what cannot be fitted is no candidate.
    /// Nothing is chosen inside it: a cost of errors that was not asked for is the usual one.
    pub(super) fn of(
        corpus: &PreparedCorpus,
        fields: &Fields,
        settings: &FitSettings,
        progress: &dyn Progress,
    ) -> Option<Self> {
        let settings = FitSettings {
            weighting: Some(settings.effective_weighting()),
            classifier: settings.classifier.with_settled_cost(),
            calibrator: CalibratorKind::Platt,
            multiclass: multiclass(corpus),
            other_cost: None,
            training_keys: false,
            ..settings.clone()
        };
        let fitted =
            fit_prepared(corpus, fields.clone(), &settings, &Unshown(progress), false).ok()?;
        let held_out = &fitted.model.summary().held_out;
        Some(Self {
            documents: corpus.documents.row_count(),
            log_loss: held_out.log_loss,
            micro_f1: held_out.micro_f1,
            forecasts: fitted.forecasts,
        })
    }

    /// Whether it takes the lead from another on the same documents.
    pub(super) fn leads(&self, other: &Self, corpus: &PreparedCorpus) -> bool {
        let rows = 0..corpus.labels.of_row.len();
        PairedLosses::of(corpus, rows, &self.forecasts, &other.forecasts).is_lower_by(SURE)
    }
}

/// One curve for many classes; two share a line, and labels have one each.
fn multiclass(corpus: &PreparedCorpus) -> MulticlassKind {
    let labels = &corpus.labels;
    match labels.task {
        Task::SingleLabel if labels.class_count > 2 => MulticlassKind::SharedCurve,
        Task::SingleLabel | Task::MultiLabel => MulticlassKind::Auto,
    }
}
