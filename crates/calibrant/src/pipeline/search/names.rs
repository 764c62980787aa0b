//! Settings in a few words.

use super::contenders::named_price;
use crate::pipeline::{Classifier, TriedSettings};
use crate::scorers::NaiveBayesKind;

impl TriedSettings {
    /// The learner and its price: `linear SVM, c 0.5`.
    pub fn learner_name(&self) -> String {
        learner(&self.classifier)
    }

    /// The weighting: `log-tf-idf, unit length`.
    pub fn weighting_name(&self) -> String {
        self.weighting.name()
    }
}

pub(super) fn learner(classifier: &Classifier) -> String {
    let name = match classifier {
        Classifier::NaiveBayes(learner) => match learner.kind {
            NaiveBayesKind::Multinomial => "naive Bayes",
            NaiveBayesKind::Bernoulli => "Bernoulli naive Bayes",
            NaiveBayesKind::Complement => "complement naive Bayes",
        },
        other => other.name(),
    };
    match named_price(classifier) {
        Some((price, value)) => format!("{name}, {price} {value}"),
        None => name.to_owned(),
    }
}
