//! Which learner, terms, weighting and cost of errors? Those whose pool forecasts unseen documents best.

mod chooser;
mod contenders;
mod gain;
mod held_out;
mod kept;
mod names;
mod pool;
pub(super) mod sample;
mod seconds;
mod trials;
mod views;

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::fit::with_text_named;
use super::training_corpus::PreparedCorpus;
use super::{ClassWeights, Classifier, FitSettings, Model, TriedSettings};
use crate::corpus::Fields;
use crate::features::{Weighting, WeightingSettings};
use crate::{FitError, Progress, Task};
use chooser::Chooser;
use held_out::HeldOut;
use sample::Part;
use trials::{Choice, Ground, Trials};
use views::PreparedView;

pub use contenders::Contender;
pub use gain::SearchGain;
pub(crate) use views::SearchCorpus;
pub use views::{LeftOut, LeftOutTerms, SearchCounter};

/// What a search may try, and for how long.
///
/// # Method
/// The first contender is fitted with its usual weighting to every view of the documents (words, characters, pairs of
/// words: see [`SearchCounter`]), the others to the words, the best of them to the other views; then the best of different
/// kinds with other weightings and costs (`c`, or its equivalent), in steps of 4, then 2, then 1.4 as long as it
/// helps. Slow learners come after fast ones.
/// Each trial is a complete fit: its forecasts come from scorers and curves that never saw the document's fold. With
/// many documents this is done on a stratified sample (drawn by the documents' content), and only the
/// default and the best few are fitted to everything.
///
/// The default and the best of each kind are then pooled as [`LogOddsPool`](crate::calibration::LogOddsPool) does, with
/// weights of least held-out log loss; members with small weights are dropped, and so is the later of two that make the same forecasts. If
/// the pool is no better than the best single fit, that fit replaces it. To measure the gain, each half of the
/// documents chooses members and weights for the other in trials of its own, or the sample for all others. Unless the choice is
/// better than the default by more than two standard errors, the result is the default: see [`SearchGain`].
///
/// # When it misleads
/// Two standard errors are occasionally exceeded by chance. If it matters, measure the model on documents that took no part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// The learners; the first is always fitted.
    pub learners: Vec<Contender>,
    /// Only this weighting.
    pub weighting: Option<Weighting>,
    /// Only rows of unit length, or only rows as they are.
    pub l2_norm: Option<bool>,
    /// No trial starts that would probably end after this time.
    #[serde(with = "seconds")]
    pub time_budget: Duration,
    /// The size of the sample for the first trials, used if there are at least twice as many documents.
    pub sample: usize,
    /// How many trials of different kinds (learner and terms) go on to other weightings and costs.
    pub finalists: usize,
    /// How many trials of different kinds may be in the pool beside the default.
    pub members: usize,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            learners: Contender::usual(),
            weighting: None,
            l2_norm: None,
            time_budget: Duration::from_secs(300),
            sample: 5000,
            finalists: 3,
            members: 7,
        }
    }
}

/// A trial and the time it took, which no model file keeps: equal documents and settings give equal
/// files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// What was tried, and how well it forecast.
    #[serde(flatten)]
    pub tried: TriedSettings,
    /// How long the fit took, with those to both halves of the documents where these choose for each other.
    pub seconds: f64,
}

/// What a search ends with.
#[derive(Debug)]
pub(crate) struct Found {
    /// A combination of the best, the best alone, or the default; its summary lists the trials, says which of them is the
    /// default, and what is gained.
    pub model: Model,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// Whether the time budget left trials out.
    pub out_of_time: bool,
    /// Terms that were not tried.
    pub left_out: Vec<LeftOutTerms>,
}

/// Tries learners, terms, weightings and costs by cross-validated log loss, and pools the best.
///
/// `base` sets everything else: analyzer, limits, calibrator, folds, seed; its learner and weighting
/// are ignored. The documents are counted once for all trials; the time to count terms that were not
/// requested is part of the time budget. The same documents and settings give
/// the same model wherever the same trials fit into the time.
pub(crate) fn search(
    corpus: impl Into<SearchCorpus>,
    fields: &Fields,
    base: &FitSettings,
    search: &SearchSettings,
    progress: &dyn Progress,
) -> Result<Found, FitError> {
    let corpus = corpus.into();
    let start = Instant::now();
    let spent = corpus.spent_seconds();
    let clock = || spent + start.elapsed().as_secs_f64();
    search_by_clock(corpus, fields, base, search, progress, &clock)
}

/// With a clock that tests can set.
fn search_by_clock(
    corpus: SearchCorpus,
    fields: &Fields,
    base: &FitSettings,
    search: &SearchSettings,
    progress: &dyn Progress,
    clock: &dyn Fn() -> f64,
) -> Result<Found, FitError> {
    let Some(first) = search.learners.first() else {
        return Err(FitError::BadSetting {
            setting: "the learners of the search",
            requirement: "at least one",
            value: "none".into(),
        });
    };
    let base = FitSettings {
        classifier: first.classifier,
        weighting: None,
        ..base.clone()
    };
    // A learner that takes no class weights fails in its own trial; the others go on.
    let unweighted = FitSettings {
        class_weights: ClassWeights::Equal,
        ..base.clone()
    };
    unweighted.check()?;
    base.check_numbers()?;
    if base.other_cost.is_some() {
        return Err(FitError::BadSetting {
            setting: "the costs of `other`",
            requirement: "left out of a search, since a pool has no thresholds",
            value: "given".into(),
        });
    }
    let fields = &match corpus.as_asked() {
        Some(corpus) => with_text_named(fields.clone(), corpus),
        None => fields.clone(),
    };
    let (views, left_out) = corpus.prepare(&base)?;
    let asked = &views[0].corpus;
    let limit = search.time_budget.as_secs_f64();
    let held_out = HeldOut::of(asked, &base)?;
    let time = (limit, clock);
    let plan = Plan {
        search,
        view_count: views.len(),
        numbered_features: asked.numbered_features,
        complements_differ: asked.labels.task == Task::SingleLabel && asked.labels.class_count > 2,
    };
    let has_time = clock() < limit;
    let sampled = has_time.then(|| Part::sample(&views, &base, search.sample));
    let sampled = sampled.flatten();
    let halves = (has_time && sampled.is_none()).then(|| Part::halves(&views, &base));
    let halves = halves.flatten();
    let choosers = choosers(sampled.as_ref(), halves.as_ref(), &base, search.members);
    let trials = Trials::new(&base, &views, held_out, fields, progress, time, search);
    let mut trials = trials.with_choosers(choosers.unwrap_or_default());
    match &sampled {
        None => plan.explore(&mut trials, &Ground::whole(&views)),
        Some(part) => plan.sample_first(&mut trials, &part.corpora, &views),
    }
    let found = trials.finish()?;
    Ok(Found { left_out, ..found })
}

/// The sample, or both halves; nobody where there are too few documents in one of them.
fn choosers<'a>(
    sampled: Option<&'a Part>,
    halves: Option<&'a [Part; 2]>,
    base: &FitSettings,
    members: usize,
) -> Result<Vec<Chooser<'a>>, FitError> {
    let sampled = sampled.into_iter();
    let sampled = sampled.map(|part| Chooser::before(part, base, members));
    let halves = halves.into_iter().flatten();
    let halves = halves.map(|part| Chooser::along(part, base, members));
    sampled.chain(halves).collect()
}

/// In which order things are tried.
struct Plan<'a> {
    search: &'a SearchSettings,
    view_count: usize,
    numbered_features: bool,
    /// Whether the complement of a class is more than one other class.
    complements_differ: bool,
}

/// Coarse to fine.
const COARSE: f64 = 4.0;
const FINE: [f64; 2] = [2.0, 1.4];
/// In steps of the coarse factor, a way of 4^6 = 4096 from the usual cost.
const MOST_STEPS: usize = 6;
/// So many learners beside the first see the other views.
const LEARNERS_IN_ALL_VIEWS: usize = 2;

impl Plan<'_> {
    /// The default and the best few of the sample on everything, then the cost once more: it depends on how much
    /// there is to learn from.
    fn sample_first(
        &self,
        trials: &mut Trials<'_>,
        samples: &[PreparedCorpus],
        views: &[PreparedView],
    ) {
        let small = Ground::sample_of(samples, views);
        self.explore(trials, &small);
        let whole = Ground::whole(views);
        trials.attempt_default(&whole, &self.default());
        for member in self.best_of_kinds(trials, &small, self.search.members) {
            trials.attempt(&whole, &member);
        }
        for step in FINE {
            self.climb_from_the_best(trials, &whole, step);
        }
        // Whatever went wrong with the sample, its documents are not all there are.
        if !trials.has_model() {
            self.explore(trials, &whole);
        }
    }

    /// What promises most for its time comes first: a budget cuts off the end.
    fn explore(&self, trials: &mut Trials<'_>, ground: &Ground<'_>) {
        let mut contenders = self.contenders();
        trials.attempt_default(ground, &self.default());
        if let Some(first) = contenders.next() {
            self.attempt_usual(trials, ground, first, 1..self.view_count);
        }
        let (slow, others) = contenders.partition(|contender| contender.is_slow());
        let ranked = self.ranked(trials, ground, others);
        self.second_weightings(trials, ground);
        for contender in ranked.into_iter().take(LEARNERS_IN_ALL_VIEWS) {
            self.attempt_usual(trials, ground, contender, 1..self.view_count);
        }
        self.second_weightings(trials, ground);
        self.ranked(trials, ground, slow);
        for finalist in self.finalists(trials, ground) {
            self.climb(trials, ground, &finalist, COARSE);
        }
        for finalist in self.finalists(trials, ground) {
            for weighting in self.weightings_of(&finalist.classifier) {
                let choice = Choice {
                    weighting,
                    ..finalist
                };
                trials.attempt(ground, &choice);
            }
        }
        for step in FINE {
            self.climb_from_the_best(trials, ground, step);
        }
    }

    /// What a plain fit of the first learner would try.
    fn default(&self) -> Choice {
        let first = &self.search.learners[0];
        let usual = first.classifier.usual_weighting();
        self.usual(first, 0).unwrap_or(Choice {
            view: 0,
            classifier: first.classifier.with_settled_cost(),
            weighting: WeightingSettings {
                weighting: self.search.weighting.unwrap_or(usual.weighting),
                l2_norm: self.search.l2_norm.unwrap_or(usual.l2_norm),
            },
        })
    }

    /// The learners, without those that would say what another says.
    fn contenders(&self) -> impl Iterator<Item = &Contender> {
        let complements_differ = self.complements_differ;
        let learners = self.search.learners.iter().enumerate();
        learners
            .filter(move |(place, learner)| {
                *place == 0
                    || complements_differ
                    || !learner.classifier.learner().needs_three_classes()
            })
            .map(|(_, learner)| learner)
    }

    /// Tries learners as they are usually used; the best first, of equals the first.
    fn ranked<'c>(
        &self,
        trials: &mut Trials<'_>,
        ground: &Ground<'_>,
        contenders: Vec<&'c Contender>,
    ) -> Vec<&'c Contender> {
        let mut ranked: Vec<(f64, &Contender)> = Vec::new();
        for contender in contenders {
            let loss = self.attempt_usual(trials, ground, contender, 0..1);
            ranked.push((loss.unwrap_or(f64::INFINITY), contender));
        }
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.into_iter().map(|(_, contender)| contender).collect()
    }

    /// The weighting that comes next for the best of each kind.
    fn second_weightings(&self, trials: &mut Trials<'_>, ground: &Ground<'_>) {
        for finalist in self.finalists(trials, ground) {
            if let Some(&weighting) = self.weightings_of(&finalist.classifier).get(1) {
                let choice = Choice {
                    weighting,
                    ..finalist
                };
                trials.attempt(ground, &choice);
            }
        }
    }

    /// A learner with its usual weighting in some views; the log loss in the last of them.
    fn attempt_usual(
        &self,
        trials: &mut Trials<'_>,
        ground: &Ground<'_>,
        contender: &Contender,
        views: std::ops::Range<usize>,
    ) -> Option<f64> {
        let mut loss = None;
        for view in views {
            let usual = self.usual(contender, view);
            loss = usual.and_then(|usual| trials.attempt(ground, &usual));
        }
        loss
    }

    fn usual(&self, contender: &Contender, view: usize) -> Option<Choice> {
        let weighting = self.weightings(contender).into_iter().next()?;
        Some(Choice {
            view,
            classifier: contender.classifier.with_settled_cost(),
            weighting,
        })
    }

    fn weightings(&self, contender: &Contender) -> Vec<WeightingSettings> {
        contender.weightings(
            self.numbered_features,
            self.search.weighting,
            self.search.l2_norm,
        )
    }

    fn weightings_of(&self, classifier: &Classifier) -> Vec<WeightingSettings> {
        let mut own = self.search.learners.iter();
        let own = own.find(|contender| contender.is_like(classifier));
        own.map(|contender| self.weightings(contender))
            .unwrap_or_default()
    }

    fn finalists(&self, trials: &Trials<'_>, ground: &Ground<'_>) -> Vec<Choice> {
        self.best_of_kinds(trials, ground, self.search.finalists)
    }

    /// The best of each kind, at its best weighting and cost.
    fn best_of_kinds(&self, trials: &Trials<'_>, ground: &Ground<'_>, most: usize) -> Vec<Choice> {
        let mut best: Vec<Choice> = Vec::new();
        for choice in trials.ranking(ground) {
            if !best.iter().any(|better| better.is_kin(&choice)) {
                best.push(choice);
            }
        }
        best.truncate(most.max(1));
        best
    }

    fn climb_from_the_best(&self, trials: &mut Trials<'_>, ground: &Ground<'_>, step: f64) {
        if let Some(best) = trials.ranking(ground).into_iter().next() {
            self.climb(trials, ground, &best, step);
        }
    }

    /// Higher costs as long as they help; if none does, lower ones.
    fn climb(&self, trials: &mut Trials<'_>, ground: &Ground<'_>, from: &Choice, step: f64) {
        let is_tuned = self
            .search
            .learners
            .iter()
            .any(|contender| contender.tuned && contender.is_like(&from.classifier));
        let Some(mut least) = trials.log_loss(ground, from).filter(|_| is_tuned) else {
            return;
        };
        let mut here = *from;
        for factor in [step, 1.0 / step] {
            let mut moved = false;
            for _ in 0..MOST_STEPS {
                let Some(classifier) = contenders::at_cost(&here.classifier, factor) else {
                    break;
                };
                let next = Choice { classifier, ..here };
                match trials.attempt(ground, &next) {
                    Some(loss) if loss < least => (here, least, moved) = (next, loss, true),
                    _ => break,
                }
            }
            if moved {
                break;
            }
        }
    }
}
