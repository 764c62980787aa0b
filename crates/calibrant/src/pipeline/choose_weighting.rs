//! Which weighting of terms, where none is asked for?

use super::FitSettings;
use super::search::sample::sample;
use super::settings_trial::{FEWEST, SettingsTrial};
use super::summary::TriedWeighting;
use super::training_corpus::PreparedCorpus;
use crate::Progress;
use crate::corpus::Fields;
use crate::features::{Weighting, WeightingSettings};
use crate::progress::Stage;

/// With twice as many documents or more, about so many decide.
pub(super) const SAMPLE: usize = 1000;

/// Settings that say how terms are weighed, and how they came about.
pub(super) struct ChosenWeighting {
    pub(super) settings: FitSettings,
    /// The documents without the rarest terms, where those did harm.
    pub(super) narrowed: Option<PreparedCorpus>,
    /// What was tried; empty where nothing was.
    pub(super) tried: Vec<TriedWeighting>,
    /// The trial with the weighting that was chosen.
    pub(super) lead: Option<SettingsTrial>,
    /// Whether trials were made on a sample.
    pub(super) sampled: bool,
}

/// The settings with a weighting of terms.
///
/// # Method
/// How much a rare word tells differs from corpus to corpus more than anything else that could be a default. So a
/// linear learner that was not told is fitted with each of three weightings, to a sample where there are
/// many documents, with one curve for all classes, and one takes the lead where its held-out log loss is lower by a standard
/// error. Likewise terms of a single document are left out; this is asked only of all documents, since terms of a single
/// document of a sample are others.
///
/// What it gains is measured by `calibrant-experiments defaults --only svm,log-tf-idf`. What a thousand documents prefer,
/// ten thousand do, too.
pub(super) fn with_weighting(
    corpus: &PreparedCorpus,
    fields: &Fields,
    settings: FitSettings,
    progress: &dyn Progress,
) -> ChosenWeighting {
    let few = corpus.documents.count < FEWEST;
    let no_terms = corpus.numbered_features || corpus.arranged.counts.entry_count() == 0;
    if settings.weighting.is_some()
        || !settings.classifier.learner().weighs_columns()
        || few
        || no_terms
    {
        return ChosenWeighting {
            settings,
            narrowed: None,
            tried: Vec::new(),
            lead: None,
            sampled: false,
        };
    }
    let stage = Stage::begin(progress, "choosing a weighting", None);
    let mut trials = Trials::new(corpus, fields, settings, progress);
    let usual = trials.settings.effective_weighting();
    for weighting in [usual.weighting, Weighting::USUAL_BM25, Weighting::LogTf] {
        trials.hold(WeightingSettings { weighting, ..usual }, 1);
    }
    let chosen = trials.best.as_ref().map_or(usual, |best| best.weighting);
    let rarest_are_open = trials.settings.limits.min_documents.is_none()
        && trials.settings.hash_bits.is_none()
        && corpus.limits.min_documents == Some(1)
        && trials.sample.is_none();
    if rarest_are_open {
        trials.hold(chosen, 2);
    }
    drop(stage);
    trials.choose(corpus, usual)
}

/// The trial that leads.
struct Best {
    weighting: WeightingSettings,
    /// The least number of documents with a term.
    least: u32,
    trial: SettingsTrial,
}

struct Trials<'a> {
    sample: Option<PreparedCorpus>,
    corpus: &'a PreparedCorpus,
    fields: &'a Fields,
    settings: FitSettings,
    progress: &'a dyn Progress,
    best: Option<Best>,
    tried: Vec<TriedWeighting>,
}

impl<'a> Trials<'a> {
    fn new(
        corpus: &'a PreparedCorpus,
        fields: &'a Fields,
        settings: FitSettings,
        progress: &'a dyn Progress,
    ) -> Self {
        // Terms of the corpus are features in the sample even where only one of its documents has them.
        let mut of_sample = settings.clone();
        of_sample.limits.min_documents = Some(1);
        Self {
            sample: sample(corpus, &of_sample, SAMPLE),
            corpus,
            fields,
            settings,
            progress,
            best: None,
            tried: Vec::new(),
        }
    }

    /// Fits and remembers how well it went; what cannot be fitted is no candidate.
    fn hold(&mut self, weighting: WeightingSettings, least: u32) {
        let corpus = self.sample.as_ref().unwrap_or(self.corpus);
        let narrowed = (least > 1).then(|| corpus.with_terms_of(least));
        let corpus = narrowed.as_ref().unwrap_or(corpus);
        let settings = FitSettings {
            weighting: Some(weighting),
            ..self.settings.clone()
        };
        let trial = SettingsTrial::of(corpus, self.fields, &settings, self.progress);
        let Some(trial) = trial else { return };
        let log_loss = trial.log_loss;
        let leader = self.best.as_ref().map(|best| &best.trial);
        if leader.is_none_or(|leader| trial.leads(leader, corpus)) {
            self.best = Some(Best {
                weighting,
                least,
                trial,
            });
        }
        self.tried.push(TriedWeighting {
            weighting,
            min_documents: least,
            documents: corpus.documents.row_count(),
            log_loss,
            chosen: false,
        });
    }

    fn choose(mut self, corpus: &PreparedCorpus, usual: WeightingSettings) -> ChosenWeighting {
        let (weighting, least, lead) = match self.best {
            Some(best) => (best.weighting, best.least, Some(best.trial)),
            None => (usual, 1, None),
        };
        for tried in &mut self.tried {
            tried.chosen = tried.weighting == weighting && tried.min_documents == least;
        }
        ChosenWeighting {
            settings: FitSettings {
                weighting: Some(weighting),
                ..self.settings
            },
            narrowed: (least > 1).then(|| corpus.with_terms_of(least)),
            tried: self.tried,
            lead,
            sampled: self.sample.is_some(),
        }
    }
}

#[cfg(test)]
mod tests;
