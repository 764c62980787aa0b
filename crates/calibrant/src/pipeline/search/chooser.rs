//! A part of the documents that chooses for those outside it.

use super::held_out::{Answer, HeldOut};
use super::kept::{Kept, KeptFits, Subject};
use super::sample::Part;
use crate::corpus::Fields;
use crate::pipeline::FitSettings;
use crate::pipeline::fit::{Fitted, fit_prepared};
use crate::{FitError, Progress};

/// A half of the documents, or a sample of them, with the trials on it.
///
/// Whoever chooses among many trials finds one that was lucky, and its luck is that of the documents that chose. Scorers
/// that learned from a document pass its luck on to the forecasts of others, so that it is not enough to choose without
/// a look at its own forecast: a document is told by an answer whose trials, members and weights it had no part in.
pub(super) struct Chooser<'a> {
    pub(super) part: &'a Part,
    held_out: HeldOut<'a>,
    kept: KeptFits,
    /// Whether every trial on all documents is made on this part, too.
    pub(super) fits_along: bool,
}

impl<'a> Chooser<'a> {
    /// Makes trials of its own along with those on all documents.
    pub(super) fn along(
        part: &'a Part,
        settings: &FitSettings,
        most: usize,
    ) -> Result<Self, FitError> {
        Ok(Self {
            fits_along: true,
            ..Self::before(part, settings, most)?
        })
    }

    /// Is told of the trials that are made on it before those on all documents.
    pub(super) fn before(
        part: &'a Part,
        settings: &FitSettings,
        most: usize,
    ) -> Result<Self, FitError> {
        Ok(Self {
            part,
            held_out: HeldOut::of(&part.corpora[0], settings)?,
            kept: KeptFits::new(most),
            fits_along: false,
        })
    }

    /// Fits what is tried on all documents to this part. What cannot be fitted is not chosen.
    pub(super) fn fit(
        &mut self,
        subject: Subject,
        fields: &Fields,
        settings: &FitSettings,
        progress: &dyn Progress,
    ) {
        let corpus = &self.part.corpora[subject.choice.view];
        if let Ok(fitted) = fit_prepared(corpus, fields.clone(), settings, progress, false) {
            self.take(subject, fitted);
        }
    }

    /// Takes a fit to this part up.
    pub(super) fn take(&mut self, subject: Subject, fitted: Fitted) {
        let kept = Kept {
            subject,
            name: String::new(),
            log_loss: fitted.model.summary().held_out.log_loss,
            model: None,
            forecasts: self.held_out.part_of(fitted.forecasts),
        };
        self.kept.add(kept, |_| false);
    }

    /// Whether it may choose what has these settings.
    pub(super) fn wants(&self, other: &Kept) -> bool {
        self.kept.wants(other)
    }

    /// What it would serve, of what was fitted to all documents; members are places there.
    pub(super) fn answer(&self, whole: &KeptFits) -> Option<Answer> {
        let is_there = |kept: &Kept| whole.place_of(kept).is_some();
        let Answer { members, pool } = self.held_out.answer(&self.kept, is_there)?.answer;
        let members = members.into_iter();
        let members = members.filter_map(|place| whole.place_of(self.kept.get(place)));
        Some(Answer {
            members: members.collect(),
            pool,
        })
    }
}
