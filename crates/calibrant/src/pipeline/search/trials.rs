//! Runs trials while there is time, and remembers them.

use super::contenders::same_but_for_price;
use super::{Found, Trial, names};
use crate::corpus::Fields;
use crate::features::WeightingSettings;
use crate::pipeline::fit::fit_prepared;
use crate::pipeline::training_corpus::PreparedCorpus;
use crate::pipeline::{Classifier, FitSettings, Model, TriedSettings};
use crate::{FitError, Progress};

/// What one trial is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub(super) classifier: Classifier,
    pub(super) weighting: WeightingSettings,
}

impl Choice {
    /// Whether only the price differs.
    pub(super) fn same_pair(&self, other: &Self) -> bool {
        self.weighting == other.weighting && same_but_for_price(&self.classifier, &other.classifier)
    }
}

/// The documents of a trial.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    corpus: &'a PreparedCorpus,
    /// How many times more documents there are in all; 1 where these are all.
    times_more: f64,
    is_whole: bool,
}

impl<'a> Ground<'a> {
    pub(super) fn whole(corpus: &'a PreparedCorpus) -> Self {
        Self {
            corpus,
            times_more: 1.0,
            is_whole: true,
        }
    }

    pub(super) fn sample_of(sample: &'a PreparedCorpus, whole: &PreparedCorpus) -> Self {
        Self {
            corpus: sample,
            times_more: whole.labels.of_row.len() as f64 / sample.labels.of_row.len().max(1) as f64,
            is_whole: false,
        }
    }
}

struct Done {
    choice: Choice,
    trial: Trial,
    is_whole: bool,
    /// The seconds that all documents would take, by this trial.
    seconds_for_all: f64,
}

/// The trials so far, and the best model among those with all documents.
pub(super) struct Trials<'a> {
    base: &'a FitSettings,
    fields: &'a Fields,
    progress: &'a dyn Progress,
    limit: f64,
    clock: &'a dyn Fn() -> f64,
    done: Vec<Done>,
    best: Option<(usize, f64, Model)>,
    first_failure: Option<FitError>,
    out_of_time: bool,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        base: &'a FitSettings,
        fields: &'a Fields,
        progress: &'a dyn Progress,
        limit: f64,
        clock: &'a dyn Fn() -> f64,
    ) -> Self {
        Self {
            base,
            fields,
            progress,
            limit,
            clock,
            done: Vec::new(),
            best: None,
            first_failure: None,
            out_of_time: false,
        }
    }

    pub(super) fn has_model(&self) -> bool {
        self.best.is_some()
    }

    /// The log loss of a trial that was done.
    pub(super) fn log_loss(&self, ground: &Ground<'_>, choice: &Choice) -> Option<f64> {
        self.of(ground)
            .find(|done| done.choice == *choice)
            .and_then(|done| done.trial.tried.log_loss)
    }

    /// All that forecast, the best first, of equals the first that was tried.
    pub(super) fn ranking(&self, ground: &Ground<'_>) -> Vec<Choice> {
        let mut ranked: Vec<(f64, Choice)> = self
            .of(ground)
            .filter_map(|done| Some((done.trial.tried.log_loss?, done.choice)))
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.into_iter().map(|(_, choice)| choice).collect()
    }

    fn of(&self, ground: &Ground<'_>) -> impl Iterator<Item = &Done> {
        let is_whole = ground.is_whole;
        self.done
            .iter()
            .filter(move |done| done.is_whole == is_whole)
    }

    /// Fits, unless it was done before or there is no time left. The log loss, if there is one.
    pub(super) fn attempt(&mut self, ground: &Ground<'_>, choice: &Choice) -> Option<f64> {
        if self.of(ground).any(|done| done.choice == *choice) {
            return self.log_loss(ground, choice);
        }
        if !self.has_time(ground, choice) {
            self.out_of_time = true;
            return None;
        }
        let settings = FitSettings {
            classifier: choice.classifier,
            weighting: Some(choice.weighting),
            ..self.base.clone()
        };
        let announced = Announced {
            inner: self.progress,
            what: format!(
                "trial {}: {}, {}",
                self.done.len() + 1,
                names::learner(&choice.classifier),
                choice.weighting.name()
            ),
        };
        let start = (self.clock)();
        let fields = self.fields.clone();
        let fit = fit_prepared(ground.corpus, fields, &settings, &announced, false);
        let seconds = (self.clock)() - start;
        let (log_loss, failure) = match fit {
            Ok((model, _)) => {
                let loss = model.summary().held_out.log_loss;
                let least = self.best.as_ref().map_or(f64::INFINITY, |best| best.1);
                // The first model is kept whatever it says.
                if ground.is_whole && (loss < least || self.best.is_none()) {
                    self.best = Some((self.done.len(), loss, model));
                }
                (Some(loss).filter(|loss| loss.is_finite()), None)
            }
            Err(error) => {
                let failure = error.to_string();
                self.first_failure.get_or_insert(error);
                (None, Some(failure))
            }
        };
        let tried = TriedSettings {
            classifier: choice.classifier,
            weighting: choice.weighting,
            documents: ground.corpus.documents.row_count(),
            log_loss,
            failure,
            chosen: false,
        };
        self.done.push(Done {
            choice: *choice,
            trial: Trial { tried, seconds },
            is_whole: ground.is_whole,
            seconds_for_all: seconds * ground.times_more,
        });
        log_loss
    }

    /// A model there must be; all else has to fit into the time, by what the last trial of the learner
    /// took. Trials on a sample leave enough to fit the best so far to everything.
    fn has_time(&self, ground: &Ground<'_>, choice: &Choice) -> bool {
        if ground.is_whole && self.best.is_none() {
            return true;
        }
        let kind = std::mem::discriminant(&choice.classifier);
        let last = self
            .done
            .iter()
            .rev()
            .find(|done| std::mem::discriminant(&done.choice.classifier) == kind);
        let expected = last.map_or(0.0, |done| done.seconds_for_all / ground.times_more);
        let reserve = if ground.is_whole {
            0.0
        } else {
            let finished = self
                .of(ground)
                .filter(|done| done.trial.tried.failure.is_none());
            let best = finished.min_by(|a, b| {
                let loss = |done: &Done| done.trial.tried.log_loss.unwrap_or(f64::INFINITY);
                loss(a).total_cmp(&loss(b))
            });
            best.map_or(0.0, |best| best.seconds_for_all)
        };
        (self.clock)() + expected + reserve < self.limit
    }

    /// The best model, which remembers all trials.
    pub(super) fn finish(mut self) -> Result<Found, FitError> {
        let Some((winner, _, mut model)) = self.best.take() else {
            return Err(self.first_failure.unwrap_or(FitError::NoDocuments));
        };
        let mut trials: Vec<Trial> = self.done.into_iter().map(|done| done.trial).collect();
        trials[winner].tried.chosen = true;
        model.summary_mut().search = trials.iter().map(|trial| trial.tried.clone()).collect();
        Ok(Found {
            model,
            trials,
            out_of_time: self.out_of_time,
        })
    }
}

/// Says with every stage which trial it belongs to.
struct Announced<'a> {
    inner: &'a dyn Progress,
    what: String,
}

impl Progress for Announced<'_> {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.inner.begin(&format!("{}, {stage}", self.what), total);
    }

    fn advance(&self, amount: u64) {
        self.inner.advance(amount);
    }

    fn end(&self) {
        self.inner.end();
    }
}
