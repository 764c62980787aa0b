//! Which learner, weighting and price of errors? Whatever forecasts unseen documents best.

mod contenders;
mod names;
pub(super) mod sample;
mod trials;

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use serde::Serialize;

use super::fit::with_text_named;
use super::training_corpus::PreparedCorpus;
use super::{FitSettings, Model, TrainingCorpus, TriedSettings};
use crate::corpus::Fields;
use crate::features::Weighting;
use crate::{FitError, Progress};
use trials::{Choice, Ground, Trials};

pub use contenders::Contender;

/// What a search may try, and for how long.
///
/// # Method
/// Every contender is fitted with its usual weighting, then the best of them with the other
/// weightings, then the best pairs with other prices (`c`, or what stands in its place), in steps of
/// 4, then 2, then 1.4 as long as it helps. Each trial is a whole fit: its log loss is that of
/// forecasts by scorers and curves that never saw the document's fold. Where there are many
/// documents this is done on a sample (every class in proportion, drawn by the documents' content),
/// and only the best few are fitted to everything.
///
/// # When it misleads
/// The least of many log losses is a little too good: it was chosen for being small. With dozens of
/// trials on some thousand documents that is far less than the trials differ; measure the model
/// on documents that took no part where it matters.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSettings {
    /// The learners; the first is the one that is fitted if there is time for nothing else.
    pub learners: Vec<Contender>,
    /// Only this weighting.
    pub weighting: Option<Weighting>,
    /// Only rows of unit length, or only rows as they are.
    pub l2_norm: Option<bool>,
    /// No trial begins that would probably end after this time.
    pub time_budget: Duration,
    /// With twice as many documents or more, so many are tried on first.
    pub sample: usize,
    /// How many pairs of learner and weighting go on: to other prices, and from the sample to
    /// everything.
    pub finalists: usize,
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
    /// How long the fit took.
    pub seconds: f64,
}

/// What a search ends with.
#[derive(Debug)]
pub struct Found {
    /// The model with the least log loss, fitted to all documents; its summary lists the trials.
    pub model: Model,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// Whether the time budget left trials out.
    pub out_of_time: bool,
}

/// Tries learners, weightings and prices by cross-validated log loss, and fits the best.
///
/// `base` says everything else: analyzer, limits, calibrator, folds, seed; its learner and weighting
/// have no say. The documents are counted once for all trials. The same documents and settings give
/// the same model wherever the same trials fit into the time.
pub fn search(
    corpus: TrainingCorpus,
    fields: &Fields,
    base: &FitSettings,
    search: &SearchSettings,
    progress: &dyn Progress,
) -> Result<Found, FitError> {
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    search_by_clock(corpus, fields, base, search, progress, &clock)
}

/// With a clock that tests can set.
fn search_by_clock(
    corpus: TrainingCorpus,
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
    base.check()?;
    let fields = &with_text_named(fields.clone(), &corpus);
    let corpus = corpus.prepare(&base)?;
    let limit = search.time_budget.as_secs_f64();
    let mut trials = Trials::new(&base, fields, progress, limit, clock);
    let whole = Ground::whole(&corpus);
    let plan = Plan {
        search,
        numbered_features: corpus.numbered_features,
    };
    let sample = if clock() < limit {
        sample::sample(&corpus, &base, search.sample)
    } else {
        None
    };
    match &sample {
        None => plan.explore(&mut trials, &whole),
        Some(sample) => plan.sample_first(&mut trials, sample, &corpus),
    }
    trials.finish()
}

/// In which order things are tried.
struct Plan<'a> {
    search: &'a SearchSettings,
    numbered_features: bool,
}

/// Coarse to fine.
const COARSE: f64 = 4.0;
const FINE: [f64; 2] = [2.0, 1.4];
/// In steps of the coarse factor, a way of 4^6 = 4096 from the usual price.
const MOST_STEPS: usize = 6;

impl Plan<'_> {
    /// The best few of the sample on everything, then the price once more: it depends on how much
    /// there is to learn from.
    fn sample_first(
        &self,
        trials: &mut Trials<'_>,
        sample: &PreparedCorpus,
        whole: &PreparedCorpus,
    ) {
        let small = Ground::sample_of(sample, whole);
        self.explore(trials, &small);
        let whole = Ground::whole(whole);
        for finalist in self.finalists(trials, &small) {
            trials.attempt(&whole, &finalist);
        }
        for step in FINE {
            self.climb_from_the_best(trials, &whole, step);
        }
        // Whatever went wrong with the sample, its documents are not all there are.
        if !trials.has_model() {
            self.explore(trials, &whole);
        }
    }

    fn explore(&self, trials: &mut Trials<'_>, ground: &Ground<'_>) {
        let mut ranked: Vec<(f64, &Contender)> = Vec::new();
        for contender in &self.search.learners {
            let weightings = self.weightings(contender);
            let usual = weightings.first().map(|&weighting| Choice {
                classifier: contender.classifier,
                weighting,
            });
            let loss = usual.and_then(|usual| trials.attempt(ground, &usual));
            ranked.push((loss.unwrap_or(f64::INFINITY), contender));
        }
        // Stable: of equals the first stays first.
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, contender) in &ranked {
            for weighting in self.weightings(contender).into_iter().skip(1) {
                let choice = Choice {
                    classifier: contender.classifier,
                    weighting,
                };
                trials.attempt(ground, &choice);
            }
        }
        for finalist in self.finalists(trials, ground) {
            self.climb(trials, ground, &finalist, COARSE);
        }
        for step in FINE {
            self.climb_from_the_best(trials, ground, step);
        }
    }

    fn weightings(&self, contender: &Contender) -> Vec<crate::features::WeightingSettings> {
        contender.weightings(
            self.numbered_features,
            self.search.weighting,
            self.search.l2_norm,
        )
    }

    /// The best pairs of learner and weighting, each at its best price.
    fn finalists(&self, trials: &Trials<'_>, ground: &Ground<'_>) -> Vec<Choice> {
        let mut best: Vec<Choice> = Vec::new();
        for choice in trials.ranking(ground) {
            if !best.iter().any(|better| better.same_pair(&choice)) {
                best.push(choice);
            }
        }
        best.truncate(self.search.finalists.max(1));
        best
    }

    fn climb_from_the_best(&self, trials: &mut Trials<'_>, ground: &Ground<'_>, step: f64) {
        if let Some(best) = trials.ranking(ground).into_iter().next() {
            self.climb(trials, ground, &best, step);
        }
    }

    /// Higher prices as long as they help; if none does, lower ones.
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
                let Some(classifier) = contenders::at_price(&here.classifier, factor) else {
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
