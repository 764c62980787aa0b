//! Runs trials while there is time, and remembers them.

use super::contenders::{same_but_for_price, times_as_long};
use super::pool::HeldOut;
use super::views::PreparedView;
use super::{Found, SearchSettings, Trial};
use crate::corpus::Fields;
use crate::features::WeightingSettings;
use crate::pipeline::fit::fit_prepared;
use crate::pipeline::training_corpus::PreparedCorpus;
use crate::pipeline::{Classifier, FitSettings, Model, SingleModel, TriedSettings};
use crate::text::Analyzer;
use crate::{FitError, Probability, Progress};

/// What one trial is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    /// Which way of taking texts apart.
    pub(super) view: usize,
    pub(super) classifier: Classifier,
    pub(super) weighting: WeightingSettings,
}

impl Choice {
    /// Whether only price and weighting differ: such fits say much the same.
    pub(super) fn is_kin(&self, other: &Self) -> bool {
        self.view == other.view && same_but_for_price(&self.classifier, &other.classifier)
    }
}

/// The documents of trials, in every view.
pub(super) struct Ground<'a> {
    corpora: Vec<&'a PreparedCorpus>,
    /// How many times more documents there are in all; 1 where these are all.
    times_more: f64,
    is_whole: bool,
}

impl<'a> Ground<'a> {
    pub(super) fn whole(views: &'a [PreparedView]) -> Self {
        Self {
            corpora: views.iter().map(|view| &view.corpus).collect(),
            times_more: 1.0,
            is_whole: true,
        }
    }

    pub(super) fn sample_of(samples: &'a [PreparedCorpus], views: &[PreparedView]) -> Self {
        let rows = |corpus: &PreparedCorpus| corpus.labels.of_row.len() as f64;
        Self {
            corpora: samples.iter().collect(),
            times_more: rows(&views[0].corpus) / rows(&samples[0]).max(1.0),
            is_whole: false,
        }
    }

    /// How much there is to learn from in a view.
    fn cells(&self, view: usize) -> f64 {
        self.corpora[view].arranged.counts.entry_count().max(1) as f64
    }
}

/// A fit to all documents that may become a member of the pool.
pub(super) struct Kept {
    /// Among the trials.
    place: usize,
    choice: Choice,
    pub(super) name: String,
    pub(super) log_loss: f64,
    pub(super) model: SingleModel,
    /// For the documents that decide about pools, what they were given by scorers and curves that had not seen their
    /// folds.
    pub(super) forecasts: Vec<Probability>,
}

struct Done {
    choice: Choice,
    trial: Trial,
    is_whole: bool,
    /// The seconds that all documents would take, by this trial.
    seconds_for_all: f64,
}

/// The trials so far, and the best models among those with all documents.
pub(super) struct Trials<'a> {
    base: &'a FitSettings,
    analyzers: Vec<Option<Analyzer>>,
    held_out: HeldOut<'a>,
    /// Whether nobody has said how terms are weighed.
    open_weighting: bool,
    fields: &'a Fields,
    progress: &'a dyn Progress,
    limit: f64,
    clock: &'a dyn Fn() -> f64,
    done: Vec<Done>,
    /// The default, then the best of each kin.
    kept: Vec<Kept>,
    most_kept: usize,
    first_failure: Option<FitError>,
    out_of_time: bool,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        base: &'a FitSettings,
        views: &'a [PreparedView],
        held_out: HeldOut<'a>,
        fields: &'a Fields,
        progress: &'a dyn Progress,
        (limit, clock): (f64, &'a dyn Fn() -> f64),
        search: &SearchSettings,
    ) -> Self {
        Self {
            base,
            analyzers: views.iter().map(|view| view.analyzer.clone()).collect(),
            held_out,
            open_weighting: search.weighting.is_none() && search.l2_norm.is_none(),
            fields,
            progress,
            limit,
            clock,
            done: Vec::new(),
            kept: Vec::new(),
            most_kept: search.members.max(1),
            first_failure: None,
            out_of_time: false,
        }
    }

    pub(super) fn has_model(&self) -> bool {
        !self.kept.is_empty()
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
        let analyzer = self.analyzers[choice.view].clone();
        // The default comes first, and is what a plain fit would give.
        let is_open = self.open_weighting && self.of(ground).next().is_none();
        let settings = FitSettings {
            analyzer: analyzer.clone().unwrap_or(self.base.analyzer.clone()),
            classifier: choice.classifier,
            weighting: (!is_open).then_some(choice.weighting),
            ..self.base.clone()
        };
        let mut tried = TriedSettings {
            analyzer,
            classifier: choice.classifier,
            weighting: choice.weighting,
            documents: ground.corpora[0].documents.row_count(),
            log_loss: None,
            failure: None,
            chosen: false,
        };
        let mut choice = *choice;
        let announced = Announced {
            inner: self.progress,
            what: format!("trial {}: {}", self.done.len() + 1, tried.name()),
        };
        let start = (self.clock)();
        let corpus = ground.corpora[choice.view];
        let fit = fit_prepared(corpus, self.fields.clone(), &settings, &announced, false);
        let seconds = (self.clock)() - start;
        match fit {
            Ok(fitted) => {
                let loss = fitted.model.summary().held_out.log_loss;
                tried.log_loss = Some(loss).filter(|loss| loss.is_finite());
                if let Model::Single(model) = fitted.model {
                    choice.weighting = model.settings().effective_weighting();
                    tried.weighting = choice.weighting;
                    if ground.is_whole && (loss.is_finite() || self.kept.is_empty()) {
                        self.keep(Kept {
                            place: self.done.len(),
                            choice,
                            name: tried.name(),
                            log_loss: loss,
                            model: *model,
                            forecasts: self.held_out.part_of(fitted.forecasts),
                        });
                    }
                }
            }
            Err(error) => {
                tried.failure = Some(error.to_string());
                self.first_failure.get_or_insert(error);
            }
        }
        let log_loss = tried.log_loss;
        self.done.push(Done {
            choice,
            trial: Trial { tried, seconds },
            is_whole: ground.is_whole,
            seconds_for_all: seconds * ground.times_more,
        });
        log_loss
    }

    /// The first stays whatever it says; of each kin the best stays, and of these the best few.
    fn keep(&mut self, new: Kept) {
        let kin = |kept: &Kept| kept.choice.is_kin(&new.choice);
        if let Some(place) = self.kept.iter().skip(1).position(kin) {
            if new.log_loss < self.kept[place + 1].log_loss {
                self.kept[place + 1] = new;
            }
        } else {
            self.kept.push(new);
        }
        if self.kept.len() > 1 + self.most_kept {
            let worst = |a: &&usize, b: &&usize| {
                self.kept[**a].log_loss.total_cmp(&self.kept[**b].log_loss)
            };
            let places: Vec<usize> = (1..self.kept.len()).collect();
            if let Some(&worst) = places.iter().max_by(worst) {
                self.kept.remove(worst);
            }
        }
    }

    /// A model there must be; all else has to fit into the time, by what the last trial of the learner took. Trials on a
    /// sample leave enough to fit the default and the best so far to everything.
    fn has_time(&self, ground: &Ground<'_>, choice: &Choice) -> bool {
        if ground.is_whole && self.kept.is_empty() {
            return true;
        }
        let expected = self.expected_seconds(ground, choice);
        let reserve = if ground.is_whole {
            0.0
        } else {
            self.reserve(ground)
        };
        (self.clock)() + expected + reserve < self.limit
    }

    /// By the last trial of the learner, in the same view if there was one, or by any other.
    fn expected_seconds(&self, ground: &Ground<'_>, choice: &Choice) -> f64 {
        let is_like =
            |done: &&Done| same_but_for_price(&done.choice.classifier, &choice.classifier);
        let in_view = |done: &&Done| done.choice.view == choice.view;
        let all = self.done.iter().rev();
        let known = all.clone().filter(is_like);
        let last = known.clone().find(in_view).or_else(|| known.clone().next());
        let Some(done) = last
            .or_else(|| all.clone().find(in_view))
            .or_else(|| all.clone().next())
        else {
            return 0.0;
        };
        // A view that is new to the learner takes as much more time as there is more in it.
        let more = ground.cells(choice.view) / ground.cells(done.choice.view);
        let longer = times_as_long(&choice.classifier) / times_as_long(&done.choice.classifier);
        done.seconds_for_all / ground.times_more * more * longer
    }

    /// What all documents take for the default and the best two others.
    fn reserve(&self, ground: &Ground<'_>) -> f64 {
        let mut best: Vec<&Done> = Vec::new();
        let mut ranked: Vec<&Done> = self.of(ground).collect();
        let loss = |done: &Done| done.trial.tried.log_loss.unwrap_or(f64::INFINITY);
        ranked.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
        for done in ranked {
            let is_new = !best.iter().any(|better| better.choice.is_kin(&done.choice));
            if is_new && done.trial.tried.log_loss.is_some() && best.len() < RESERVED {
                best.push(done);
            }
        }
        let default = self.of(ground).next();
        let default = default.filter(|first| !best.iter().any(|done| std::ptr::eq(*done, *first)));
        let all = best.iter().copied().chain(default);
        all.map(|done| done.seconds_for_all).sum()
    }

    /// The pool of the best where it is clearly better than the default, else the default; either remembers all trials.
    pub(super) fn finish(self) -> Result<Found, FitError> {
        self.progress.begin("pooling", None);
        let pooled = match self.kept.len() {
            0 => return Err(self.first_failure.unwrap_or(FitError::NoDocuments)),
            1 => None,
            // Where weights cannot be found, there is the default.
            _ => self.held_out.pool(&self.kept).ok(),
        };
        let pooled = pooled.filter(|pooled| pooled.members != [0]);
        let gain = pooled.as_ref().map(|pooled| pooled.gain);
        let pooled = pooled.filter(|pooled| pooled.gain.is_clear());
        let members = pooled.as_ref().map_or(&[0][..], |pooled| &pooled.members);
        let mut trials: Vec<Trial> = self.done.into_iter().map(|done| done.trial).collect();
        for &member in members {
            trials[self.kept[member].place].tried.chosen = true;
        }
        let mut kept = self.kept;
        let mut model = match pooled {
            Some(pooled) => Model::from(pooled.model(kept, self.fields.clone())?),
            None => Model::from(kept.swap_remove(0).model),
        };
        let summary = model.summary_mut();
        summary.search = trials.iter().map(|trial| trial.tried.clone()).collect();
        summary.search_gain = gain;
        self.progress.end();
        Ok(Found {
            model,
            trials,
            out_of_time: self.out_of_time,
        })
    }
}

/// So many beside the default should find time to see all documents.
const RESERVED: usize = 2;

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
