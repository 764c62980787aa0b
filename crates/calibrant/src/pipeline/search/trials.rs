//! Runs trials while there is time, and remembers them.

use std::ops::ControlFlow;

use super::chooser::Chooser;
use super::contenders::same_but_for_cost;
use super::held_out::HeldOut;
use super::kept::{Kept, KeptFits, Subject};
use super::pool::Served;
use super::views::PreparedView;
use super::{Found, SearchSettings, Trial};
use crate::corpus::Fields;
use crate::features::WeightingSettings;
use crate::pipeline::fit::{Fitted, fit_prepared};
use crate::pipeline::training_corpus::PreparedCorpus;
use crate::pipeline::{Classifier, FitSettings, Model, TriedSettings};
use crate::progress::Stage;
use crate::text::Analyzer;
use crate::{FitError, Progress};

/// What one trial is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    /// Which way of taking texts apart.
    pub(super) view: usize,
    pub(super) classifier: Classifier,
    pub(super) weighting: WeightingSettings,
}

impl Choice {
    /// Whether only cost and weighting differ: such fits say much the same.
    pub(super) fn is_kin(&self, other: &Self) -> bool {
        self.view == other.view && same_but_for_cost(&self.classifier, &other.classifier)
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

struct Done {
    choice: Choice,
    is_default: bool,
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
    kept: KeptFits,
    /// Parts of the documents that choose for those outside them.
    choosers: Vec<Chooser<'a>>,
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
            kept: KeptFits::new(search.members),
            choosers: Vec::new(),
            held_out,
            open_weighting: search.weighting.is_none() && search.l2_norm.is_none(),
            fields,
            progress,
            limit,
            clock,
            done: Vec::new(),
            first_failure: None,
            out_of_time: false,
        }
    }

    pub(super) fn has_model(&self) -> bool {
        !self.kept.is_empty()
    }

    /// With parts of the documents that choose for those outside them.
    pub(super) fn with_choosers(mut self, choosers: Vec<Chooser<'a>>) -> Self {
        self.choosers = choosers;
        self
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

    /// Fits what a plain fit would give, with which all else is compared; once.
    pub(super) fn attempt_default(&mut self, ground: &Ground<'_>, choice: &Choice) {
        if !self.of(ground).any(|done| done.is_default) {
            self.fit(ground, choice, true);
        }
    }

    /// Fits, unless it was done before or there is no time left. The log loss, if there is one.
    pub(super) fn attempt(&mut self, ground: &Ground<'_>, choice: &Choice) -> Option<f64> {
        if self.of(ground).any(|done| done.choice == *choice) {
            return self.log_loss(ground, choice);
        }
        self.fit(ground, choice, false)
    }

    fn fit(&mut self, ground: &Ground<'_>, choice: &Choice, is_default: bool) -> Option<f64> {
        if !self.has_time(ground, choice) {
            self.out_of_time = true;
            return None;
        }
        let analyzer = self.analyzers[choice.view].clone();
        let is_open = self.open_weighting && is_default;
        let settings = FitSettings {
            analyzer: analyzer.clone().unwrap_or(self.base.analyzer.clone()),
            // The default chooses its cost as a plain fit does.
            classifier: match is_default {
                true => self.base.classifier,
                false => choice.classifier,
            },
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
        let mut subject = Subject {
            place: self.done.len(),
            choice: *choice,
            is_default,
        };
        let announced = Announced {
            inner: self.progress,
            what: format!("trial {}: {}", self.done.len() + 1, tried.name()),
        };
        let start = (self.clock)();
        let corpus = ground.corpora[choice.view];
        match fit_prepared(corpus, self.fields.clone(), &settings, &announced, false) {
            Ok(fitted) => {
                let loss = fitted.model.summary().held_out.log_loss;
                tried.log_loss = Some(loss).filter(|loss| loss.is_finite());
                if let Model::Single(model) = &fitted.model {
                    tried.weighting = model.settings().effective_weighting();
                    subject.choice.weighting = tried.weighting;
                    if let Some(cost) = model.settings().classifier.cost() {
                        tried.classifier = tried.classifier.at_cost(cost);
                        subject.choice.classifier = tried.classifier;
                    }
                }
                if ground.is_whole {
                    self.fit_along(subject, &settings, &announced);
                    self.keep(subject, tried.name(), fitted);
                } else if let Some(chooser) = self.choosers.first_mut() {
                    chooser.take(subject, fitted);
                }
            }
            Err(error) => {
                tried.failure = Some(error.to_string());
                self.first_failure.get_or_insert(error);
            }
        }
        let seconds = (self.clock)() - start;
        let log_loss = tried.log_loss;
        self.done.push(Done {
            choice: subject.choice,
            is_default,
            trial: Trial { tried, seconds },
            is_whole: ground.is_whole,
            seconds_for_all: seconds * ground.times_more,
        });
        log_loss
    }

    /// The same trial on the parts that choose for others.
    fn fit_along(&mut self, subject: Subject, settings: &FitSettings, progress: &dyn Progress) {
        let choosers = self.choosers.iter_mut();
        for chooser in choosers.filter(|chooser| chooser.fits_along) {
            chooser.fit(subject, self.fields, settings, progress);
        }
    }

    /// A fit to all documents, with its forecasts for as long as somebody may choose it.
    fn keep(&mut self, subject: Subject, name: String, fitted: Fitted) {
        let log_loss = fitted.model.summary().held_out.log_loss;
        let Model::Single(model) = fitted.model else {
            return;
        };
        let kept = Kept {
            subject,
            name,
            log_loss,
            model: Some(*model),
            forecasts: self.held_out.part_of(fitted.forecasts),
        };
        let choosers = &self.choosers;
        let is_wanted = |kept: &Kept| choosers.iter().any(|chooser| chooser.wants(kept));
        self.kept.add(kept, is_wanted);
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
        let is_like = |done: &&Done| same_but_for_cost(&done.choice.classifier, &choice.classifier);
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
        let longer = choice.classifier.learner().times_as_long()
            / done.choice.classifier.learner().times_as_long();
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
        let default = self.of(ground).find(|done| done.is_default);
        let default = default.filter(|first| !best.iter().any(|done| std::ptr::eq(*done, *first)));
        let all = best.iter().copied().chain(default);
        all.map(|done| done.seconds_for_all).sum()
    }

    /// The best that was found where it is clearly better than the default, else the default; either remembers all
    /// trials.
    pub(super) fn finish(self) -> Result<Found, FitError> {
        let stage = Stage::begin(self.progress, "choosing", None);
        // Trials that were ended look like trials that failed.
        stage.step(0)?;
        let Some(stated) = self.held_out.answer(&self.kept, |_| true) else {
            return Err(self.first_failure.unwrap_or(FitError::NoDocuments));
        };
        let answers = self.choosers.iter().map(|chooser| {
            let answer = chooser.answer(&self.kept);
            (chooser.part.rows.as_slice(), answer)
        });
        let answers: Vec<_> = answers.collect();
        let judgement = self.held_out.judgement(&self.kept, &answers);
        let default = self.kept.default();
        let other = default.filter(|&default| stated.answer.members != [default]);
        let gain = other.zip(judgement.as_ref()).map(|(default, judgement)| {
            let default = &self.kept.get(default).forecasts;
            self.held_out.gain(judgement, default)
        });
        // Without a default there is nothing that something else would have to be better than.
        let default = default.filter(|_| gain.is_none_or(|gain| !gain.is_clear()));
        let members = default.map_or(stated.answer.members.clone(), |default| vec![default]);
        let is_default = |done: &Done| done.is_whole && done.is_default;
        let search_default = self.done.iter().position(is_default);
        let mut trials: Vec<Trial> = self.done.into_iter().map(|done| done.trial).collect();
        for &member in &members {
            trials[self.kept.get(member).subject.place].tried.chosen = true;
        }
        let served = Served {
            answer: stated.answer,
            stated: self.held_out.forecasts(stated.probabilities),
            units: self.held_out.units(),
            expected: judgement.map(|judgement| self.held_out.forecasts_of(judgement)),
        };
        let mut kept = self.kept.into_inner();
        let mut model = match default {
            Some(default) => {
                let model = kept.swap_remove(default).model;
                Model::from(model.ok_or(FitError::NoDocuments)?)
            }
            None => served.model(kept, self.fields.clone())?,
        };
        let summary = model.summary_mut();
        summary.search = trials.iter().map(|trial| trial.tried.clone()).collect();
        summary.search_default = search_default;
        summary.search_gain = gain;
        drop(stage);
        Ok(Found {
            model,
            trials,
            out_of_time: self.out_of_time,
            left_out: Vec::new(),
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

    fn advance(&self, amount: u64) -> ControlFlow<()> {
        self.inner.advance(amount)
    }

    fn end(&self) {
        self.inner.end();
    }
}
