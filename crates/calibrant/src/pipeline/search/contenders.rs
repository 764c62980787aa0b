//! Learners that are worth a try, and what can be turned on them.

use serde::{Deserialize, Serialize};

use crate::features::{Weighting, WeightingSettings};
use crate::pipeline::Classifier;
use crate::scorers::Reads;

/// A learner that a search tries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// The learner, with the settings to begin with.
    pub classifier: Classifier,
    /// Whether its cost of errors (or what stands in its place) may be changed.
    pub tuned: bool,
}

/// Costs are kept within these bounds.
const COSTS: std::ops::RangeInclusive<f64> = 1e-5..=1e6;

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
        let usual = |classifier| Self {
            classifier,
            tuned: true,
        };
        Classifier::searched().into_iter().map(usual).collect()
    }

    /// Whether it takes many times as long as a linear model.
    pub(super) fn is_slow(&self) -> bool {
        self.classifier.learner().times_as_long() > 2.0
    }

    /// Whether a learner is this one but for its cost.
    pub(super) fn is_like(&self, other: &Classifier) -> bool {
        same_but_for_cost(&self.classifier, other)
    }

    /// The weightings to try, the learner's usual one first; none where it has nothing to say.
    pub(super) fn weightings(
        &self,
        numbered_features: bool,
        only: Option<Weighting>,
        l2_norm: Option<bool>,
    ) -> Vec<WeightingSettings> {
        let usual = self.classifier.usual_weighting();
        let reads = self.classifier.learner().reads();
        if reads == Reads::Rules {
            return vec![usual]; // It looks at no terms.
        }
        if numbered_features && reads == Reads::TermCounts {
            return Vec::new();
        }
        let mut all: Vec<WeightingSettings> = if reads == Reads::Presence {
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

/// The learner at another cost of errors (or what stands in its place), which is rounded to three digits: nothing where
/// there is none or it would leave its bounds.
pub(super) fn at_cost(classifier: &Classifier, factor: f64) -> Option<Classifier> {
    let mut changed = *classifier;
    let (_, cost) = changed.tuned()?;
    *cost = format!("{:.2e}", *cost * factor).parse().ok()?;
    COSTS.contains(cost).then_some(changed)
}

pub(super) fn same_but_for_cost(a: &Classifier, b: &Classifier) -> bool {
    let neutral = |classifier: &Classifier| {
        let mut classifier = *classifier;
        if let Some((_, cost)) = classifier.tuned() {
            *cost = 1.0;
        }
        classifier
    };
    neutral(a) == neutral(b)
}
