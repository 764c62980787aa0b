//! Which cost of errors, where none is asked for?

use super::FitSettings;
use super::choose_weighting;
use super::search::sample::sample;
use super::settings_trial::{FEWEST, SettingsTrial};
use super::summary::TriedCost;
use super::training_corpus::PreparedCorpus;
use crate::Progress;
use crate::corpus::Fields;
use crate::progress::Stage;

/// With twice as many documents or more, about so many decide.
const SAMPLE: usize = 3000;
/// Higher costs are tried where the held-out micro-F1 (the accuracy, of exclusive classes) is at least this.
const EASY: f64 = 0.95;
/// The costs that are tried one after the other, as long as each is better than the one before, in units of the usual one.
const FACTORS: [f64; 2] = [2.0, 4.0];

/// Which documents a trial was made on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    All,
    Sample,
}

impl Ground {
    pub(super) fn of(sampled: bool) -> Self {
        match sampled {
            true => Self::Sample,
            false => Self::All,
        }
    }
}

/// The settings with a cost of errors, and what was tried.
///
/// # Method
/// The usual cost suits most corpora within a per cent or two of their log loss, and few documents tell no better. The
/// exception are classes that are distinguished easily: nearly all that is left to learn is in the few documents near the boundary,
/// and at the usual cost they are not heard. So where the first trial is nearly always right, twice the cost is tried,
/// then four times, and takes the lead where its held-out log loss is lower by a standard error. Lower costs are not tried: what they
/// gain on few documents is lost with many.
///
/// Settled on corpora that choose: of eleven questions with yes or no made of them (one of the largest topics of Reuters
/// against the rest, groups of 20 Newsgroups against each other, sections of Debian), held-out and test log loss agreed on the direction,
/// and three had a tenth less with a higher cost.
pub(super) fn with_cost_of_errors(
    corpus: &PreparedCorpus,
    fields: &Fields,
    settings: FitSettings,
    lead: Option<(SettingsTrial, Ground)>,
    progress: &dyn Progress,
) -> (FitSettings, Vec<TriedCost>) {
    let usual = settings.classifier.cost();
    let is_open = settings.classifier.asked_cost().is_none() && settings.code.is_none();
    let (Some(usual), true) = (usual.filter(|_| is_open), corpus.documents.count >= FEWEST) else {
        return (settled(settings), Vec::new());
    };
    let stage = Stage::begin(progress, "choosing a cost of errors", None);
    let tried = trials(corpus, fields, &settings, lead, usual, progress);
    drop(stage);
    let chosen = tried.iter().find(|tried| tried.chosen);
    let cost = chosen.map_or(usual, |tried| tried.c);
    let classifier = settings.classifier.at_cost(cost);
    let settings = FitSettings {
        classifier,
        ..settings
    };
    (settings, tried)
}

fn settled(settings: FitSettings) -> FitSettings {
    FitSettings {
        classifier: settings.classifier.with_settled_cost(),
        ..settings
    }
}

/// What was tried, with the one that was chosen marked; nothing where the classes are not easy to separate.
fn trials(
    corpus: &PreparedCorpus,
    fields: &Fields,
    settings: &FitSettings,
    lead: Option<(SettingsTrial, Ground)>,
    usual: f64,
    progress: &dyn Progress,
) -> Vec<TriedCost> {
    // Terms of the corpus are features in the sample even where only one of its documents has them.
    let mut of_sample = settings.clone();
    of_sample.limits.min_documents = Some(1);
    let is_easy = |trial: &(SettingsTrial, Ground)| trial.0.micro_f1 >= EASY;
    let first = lead.or_else(|| {
        let few = sample(corpus, &of_sample, choose_weighting::SAMPLE);
        let trial = SettingsTrial::of(few.as_ref().unwrap_or(corpus), fields, settings, progress)?;
        Some((trial, Ground::of(few.is_some())))
    });
    let Some((first, ground)) = first.filter(is_easy) else {
        return Vec::new();
    };
    let drawn = sample(corpus, &of_sample, SAMPLE);
    let is_of_these = drawn.is_none() && ground == Ground::All;
    let corpus = drawn.as_ref().unwrap_or(corpus);
    let usual_trial = if is_of_these {
        Some(first)
    } else {
        SettingsTrial::of(corpus, fields, settings, progress)
    };
    let Some(mut leader) = usual_trial else {
        return Vec::new();
    };
    let tried = |c: f64, trial: &SettingsTrial| TriedCost {
        c,
        documents: trial.documents,
        log_loss: trial.log_loss,
        chosen: false,
    };
    let mut all = vec![tried(usual, &leader)];
    let mut chosen = 0;
    for factor in FACTORS {
        let cost = usual * factor;
        let at_cost = FitSettings {
            classifier: settings.classifier.at_cost(cost),
            ..settings.clone()
        };
        let Some(trial) = SettingsTrial::of(corpus, fields, &at_cost, progress) else {
            break;
        };
        all.push(tried(cost, &trial));
        if !trial.leads(&leader, corpus) {
            break;
        }
        chosen = all.len() - 1;
        leader = trial;
    }
    all[chosen].chosen = true;
    all
}

#[cfg(test)]
mod tests;
