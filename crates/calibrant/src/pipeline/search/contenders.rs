//! Learners that are worth a try, and what can be turned on them.

use crate::features::{Weighting, WeightingSettings};
use crate::pipeline::Classifier;
use crate::scorers::{
    AdaBoost, LinearSvm, LogisticRegression, NaiveBayes, NaiveBayesKind, NearestNeighbours,
    Perceptron, Rocchio, Smoothing,
};

/// A learner that a search tries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contender {
    /// The learner, with the settings to begin with.
    pub classifier: Classifier,
    /// Whether its price of errors (or what stands in its place) may be changed.
    pub tuned: bool,
}

/// Prices are kept within these bounds.
const PRICES: std::ops::RangeInclusive<f64> = 1e-5..=1e6;

/// All weightings, those that are most often best first.
const WEIGHTINGS: [Weighting; 6] = [
    Weighting::LogTfIdf,
    Weighting::Bm25 { k1: 1.2, b: 0.75 },
    Weighting::TfIdf,
    Weighting::LogTf,
    Weighting::Binary,
    Weighting::Tf,
];

impl Contender {
    /// Every learner that is worth a try, the cheap and promising first.
    pub fn usual() -> Vec<Self> {
        let naive_bayes = |kind| {
            Classifier::NaiveBayes(NaiveBayes {
                kind,
                ..NaiveBayes::default()
            })
        };
        [
            Classifier::LinearSvm(LinearSvm::default()),
            Classifier::LinearSvm(LinearSvm {
                log_count_ratio: Some(1.0),
                ..LinearSvm::default()
            }),
            naive_bayes(NaiveBayesKind::Complement),
            naive_bayes(NaiveBayesKind::Multinomial),
            Classifier::LogisticRegression(LogisticRegression::default()),
            Classifier::Rocchio(Rocchio::default()),
            Classifier::Perceptron(Perceptron::default()),
            Classifier::NearestNeighbours(NearestNeighbours::default()),
            Classifier::AdaBoost(AdaBoost::default()),
        ]
        .map(|classifier| Self {
            classifier,
            tuned: true,
        })
        .to_vec()
    }

    /// Whether it takes many times as long as a linear model.
    pub(super) fn is_slow(&self) -> bool {
        times_as_long(&self.classifier) > 2.0
    }

    /// Whether it learns from the complement of each class.
    pub(super) fn is_complement(&self) -> bool {
        matches!(&self.classifier, Classifier::NaiveBayes(learner) if learner.kind == NaiveBayesKind::Complement)
    }

    /// Whether a learner is this one but for its price.
    pub(super) fn is_like(&self, other: &Classifier) -> bool {
        same_but_for_price(&self.classifier, other)
    }

    /// Whether it is about how often terms come, which values of other kinds do not say.
    fn counts_terms(&self) -> bool {
        matches!(&self.classifier, Classifier::LinearSvm(svm) if svm.log_count_ratio.is_some())
    }

    /// The weightings to try, the learner's usual one first; none where it has nothing to say.
    pub(super) fn weightings(
        &self,
        numbered_features: bool,
        only: Option<Weighting>,
        l2_norm: Option<bool>,
    ) -> Vec<WeightingSettings> {
        let usual = self.classifier.usual_weighting();
        if self.classifier == Classifier::Rules {
            return vec![usual]; // It looks at no terms.
        }
        if numbered_features && self.counts_terms() {
            return Vec::new();
        }
        let mut all: Vec<WeightingSettings> = if self.classifier.presence_only() {
            vec![usual] // All others would say more than that a term is there.
        } else if numbered_features {
            // Values of their own, which may be negative: taken as they are, or at unit length.
            let tf = |l2_norm| WeightingSettings {
                weighting: Weighting::Tf,
                l2_norm,
            };
            vec![tf(false), tf(true)]
        } else {
            let others = WEIGHTINGS.map(|weighting| WeightingSettings { weighting, ..usual });
            std::iter::once(usual).chain(others).collect()
        };
        for settings in &mut all {
            settings.weighting = only.unwrap_or(settings.weighting);
            settings.l2_norm = l2_norm.unwrap_or(settings.l2_norm);
        }
        let mut distinct: Vec<WeightingSettings> = Vec::new();
        for settings in all {
            if !distinct.contains(&settings) {
                distinct.push(settings);
            }
        }
        distinct
    }
}

/// About how many times as long as a linear SVM a learner takes, to guess by before it was tried.
pub(super) fn times_as_long(classifier: &Classifier) -> f64 {
    match classifier {
        Classifier::NearestNeighbours(_) => 10.0,
        Classifier::AdaBoost(_) => 25.0,
        Classifier::LinearSvm(svm) if svm.log_count_ratio.is_some() => 2.0,
        Classifier::Perceptron(_) => 1.5,
        _ => 1.0,
    }
}

/// What can be turned on a learner: the larger, the closer the training rows are fitted, or the
/// other way round.
fn price(classifier: &mut Classifier) -> Option<&mut f64> {
    match classifier {
        Classifier::LinearSvm(learner) => Some(learner.c.get_or_insert(LinearSvm::USUAL_C)),
        Classifier::LogisticRegression(learner) => {
            Some(learner.c.get_or_insert(LogisticRegression::USUAL_C))
        }
        Classifier::NaiveBayes(learner) => Some(match &mut learner.smoothing {
            Smoothing::Laplace { alpha } => alpha,
            Smoothing::CorpusPrior { strength } => strength,
        }),
        _ => None,
    }
}

/// The learner at another price, which is rounded to three digits: nothing where there is no price
/// or it would leave its bounds.
pub(super) fn at_price(classifier: &Classifier, factor: f64) -> Option<Classifier> {
    let mut changed = *classifier;
    let price = price(&mut changed)?;
    *price = format!("{:.2e}", *price * factor).parse().ok()?;
    PRICES.contains(price).then_some(changed)
}

/// What can be turned, by name.
pub(super) fn named_price(classifier: &Classifier) -> Option<(&'static str, f64)> {
    let name = match classifier {
        Classifier::NaiveBayes(NaiveBayes {
            smoothing: Smoothing::CorpusPrior { .. },
            ..
        }) => "word prior",
        Classifier::NaiveBayes(_) => "alpha",
        _ => "c",
    };
    let mut classifier = *classifier;
    price(&mut classifier).map(|price| (name, *price))
}

pub(super) fn same_but_for_price(a: &Classifier, b: &Classifier) -> bool {
    let neutral = |classifier: &Classifier| {
        let mut classifier = *classifier;
        if let Some(price) = price(&mut classifier) {
            *price = 1.0;
        }
        classifier
    };
    neutral(a) == neutral(b)
}
