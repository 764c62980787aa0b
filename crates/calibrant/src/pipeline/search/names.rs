//! Settings in a few words.

use crate::pipeline::{Classifier, TriedSettings};
use crate::text::Analyzer;

impl TriedSettings {
    /// The learner and its cost: `linear SVM, c 0.5`.
    pub fn learner_name(&self) -> String {
        learner(&self.classifier)
    }

    /// What terms are: `words, 1 to 2` or `characters, 2 to 5`; `as set` where the settings say.
    pub fn terms_name(&self) -> String {
        match &self.analyzer {
            Some(analyzer) => terms(analyzer),
            None => "as set".to_owned(),
        }
    }

    /// The weighting: `log_tf_idf, unit length`.
    pub fn weighting_name(&self) -> String {
        self.weighting.name()
    }

    /// All of it in a line.
    pub(super) fn name(&self) -> String {
        let mut name = format!("{}, {}", self.learner_name(), self.weighting_name());
        if self.analyzer.is_some() {
            name = format!("{name}, {}", self.terms_name());
        }
        name
    }
}

pub(super) fn terms(analyzer: &Analyzer) -> String {
    let (what, range) = match analyzer.char_ngrams {
        Some(range) if analyzer.char_ngrams_across => ("characters across words", range),
        Some(range) => ("characters", range),
        None => ("words", analyzer.word_ngrams),
    };
    format!("{what}, {} to {}", range.min, range.max)
}

pub(super) fn learner(classifier: &Classifier) -> String {
    let name = classifier.name();
    match classifier.tuned_setting() {
        Some((setting, value)) => format!("{name}, {setting} {value}"),
        None => name.to_owned(),
    }
}
