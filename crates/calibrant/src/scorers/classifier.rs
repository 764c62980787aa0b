//! The registry of learners: one line each.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use calibrant_calibration::{Named, UnknownName};
use serde::{Deserialize, Serialize};

use super::learner::{ClassLearner, Variant};
use super::{
    AdaBoost, LinearSvm, LogisticRegression, NaiveBayes, NearestNeighbours, Perceptron, Rocchio,
    Rules,
};
use crate::features::WeightingSettings;

/// Makes the enum of all learners and what asks each for its own answer.
macro_rules! learners {
    ($($(#[$meta:meta])* $variant:ident($learner:ty) = $tag:literal,)*) => {
        /// The learner behind the scores.
        // The tag must not be `kind`: naive Bayes has a field of that name, and the two would collide.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "learner")]
        pub enum Classifier {
            $($(#[$meta])* #[serde(rename = $tag)] $variant($learner),)*
        }

        impl Classifier {
            /// The word by which files know the learner.
            pub fn tag(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $tag,)*
                }
            }

            /// What all learners have in common.
            pub(crate) fn learner(&self) -> &dyn ClassLearner {
                match self {
                    $(Self::$variant(learner) => learner,)*
                }
            }

            fn learner_mut(&mut self) -> &mut dyn ClassLearner {
                match self {
                    $(Self::$variant(learner) => learner,)*
                }
            }

            fn variants() -> Vec<Variant<Classifier>> {
                let mut all = Vec::new();
                $(all.extend(<$learner>::variants().into_iter().map(|variant| Variant {
                    learner: Self::$variant(variant.learner),
                    name: variant.name,
                    aliases: variant.aliases,
                    place: variant.place,
                }));)*
                all
            }
        }

        $(impl From<$learner> for Classifier {
            fn from(learner: $learner) -> Self {
                Self::$variant(learner)
            }
        })*
    };
}

learners! {
    /// A linear support vector machine.
    LinearSvm(LinearSvm) = "linear_svm",
    /// Logistic regression.
    LogisticRegression(LogisticRegression) = "logistic_regression",
    /// Naive Bayes.
    NaiveBayes(NaiveBayes) = "naive_bayes",
    /// The strength of each class's own rule; only its calibration is learned.
    Rules(Rules) = "rules",
    /// The nearest centroid.
    Rocchio(Rocchio) = "rocchio",
    /// A committee of decision stumps.
    AdaBoost(AdaBoost) = "adaboost",
    /// Training documents that vote.
    NearestNeighbours(NearestNeighbours) = "nearest_neighbours",
    /// Averaged or voted perceptrons.
    Perceptron(Perceptron) = "perceptron",
}

impl Default for Classifier {
    fn default() -> Self {
        Self::LinearSvm(LinearSvm::default())
    }
}

impl Classifier {
    /// Its name in reports.
    pub fn name(&self) -> &'static str {
        self.learner().name()
    }

    /// The weighting that suits the learner.
    pub fn usual_weighting(&self) -> WeightingSettings {
        self.learner().usual_weighting()
    }

    /// What a search tries, the cheap and promising first.
    pub fn searched() -> Vec<Self> {
        let mut searched: Vec<(u32, Self)> = Self::variants()
            .into_iter()
            .filter_map(|variant| Some((variant.place?, variant.learner)))
            .collect();
        searched.sort_by_key(|&(place, _)| place);
        searched.into_iter().map(|(_, learner)| learner).collect()
    }

    /// The learner with this seed, if it draws anything.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.learner_mut().set_seed(seed);
        self
    }

    /// The cost of errors that was requested.
    pub(crate) fn asked_cost(&self) -> Option<f64> {
        self.learner().cost()?.asked
    }

    /// The cost of errors, the default if none was requested; `None` if the learner has none.
    pub(crate) fn cost(&self) -> Option<f64> {
        let cost = self.learner().cost()?;
        Some(cost.asked.unwrap_or(cost.usual))
    }

    /// The learner with this cost of errors, if it has one.
    pub(crate) fn at_cost(mut self, cost: f64) -> Self {
        if self.cost().is_some()
            && let Some((_, own)) = self.learner_mut().tuned()
        {
            *own = cost;
        }
        self
    }

    /// The learner with the default cost of errors if none was requested.
    pub(crate) fn with_settled_cost(self) -> Self {
        self.cost().map_or(self, |cost| self.at_cost(cost))
    }

    /// The setting that a search varies.
    pub(crate) fn tuned(&mut self) -> Option<(&'static str, &mut f64)> {
        self.learner_mut().tuned()
    }

    /// The setting that a search varies, by name, and its current value.
    pub(crate) fn tuned_setting(&self) -> Option<(&'static str, f64)> {
        let mut copy = *self;
        copy.tuned().map(|(name, value)| (name, *value))
    }
}

/// The name of a learner, on the command line and in settings.
///
/// ```
/// use calibrant::scorers::LearnerName;
/// let name: LearnerName = "knn".parse()?;
/// assert_eq!(name, "nearest-neighbours".parse()?); // an alias
/// assert_eq!(name.classifier().name(), "nearest neighbours");
/// assert!("kmeans".parse::<LearnerName>().is_err());
/// # Ok::<(), calibrant::UnknownName>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LearnerName {
    name: &'static str,
    help: &'static str,
    aliases: &'static [&'static str],
    classifier: Classifier,
}

impl LearnerName {
    /// All names, in the order of the registry.
    pub fn all() -> Vec<Self> {
        Self::members().to_vec()
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A description, in a sentence without a full stop.
    pub fn help(&self) -> &'static str {
        self.help
    }

    /// Other names for the same.
    pub fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    /// The learner with its default settings.
    pub fn classifier(&self) -> Classifier {
        self.classifier
    }
}

impl PartialEq for LearnerName {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for LearnerName {}

impl fmt::Display for LearnerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Named for LearnerName {
    const WHAT: &'static str = "a learner";

    fn members() -> &'static [Self] {
        static ALL: OnceLock<Vec<LearnerName>> = OnceLock::new();
        ALL.get_or_init(|| {
            let named = |variant: Variant<Classifier>| {
                let (name, help) = variant.name?;
                Some(Self {
                    name,
                    help,
                    aliases: variant.aliases,
                    classifier: variant.learner,
                })
            };
            let variants = Classifier::variants().into_iter();
            variants.filter_map(named).collect()
        })
    }

    fn word(self) -> &'static str {
        self.name
    }

    fn other_words(self) -> &'static [&'static str] {
        self.aliases
    }

    fn sentence(self) -> &'static str {
        self.help
    }
}

impl FromStr for LearnerName {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::from_word(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_learner_has_one_name_and_is_found_by_it() {
        let all = LearnerName::all();
        let names: Vec<&str> = all.iter().map(LearnerName::name).collect();
        assert_eq!(
            names,
            [
                "svm",
                "logistic",
                "naive-bayes",
                "bernoulli-naive-bayes",
                "complement-naive-bayes",
                "rules",
                "rocchio",
                "adaboost",
                "knn",
                "perceptron"
            ]
        );
        for name in all {
            let tag = serde_json::to_value(name.classifier()).unwrap();
            assert_eq!(tag["learner"], name.classifier().tag());
            assert_eq!(name.name().parse(), Ok(name));
            assert_eq!(name.name().replace('-', "_").parse(), Ok(name));
            assert!(!name.help().is_empty());
            assert!(name.classifier().learner().check().is_ok());
        }
    }

    #[test]
    fn a_search_tries_the_cheap_and_promising_first() {
        let names: Vec<&str> = Classifier::searched()
            .iter()
            .map(Classifier::name)
            .collect();
        assert_eq!(
            names,
            [
                "linear SVM",
                "linear SVM on log-count ratios",
                "complement naive Bayes",
                "naive Bayes",
                "logistic regression",
                "Rocchio",
                "averaged perceptron",
                "nearest neighbours",
                "AdaBoost"
            ]
        );
    }

    #[test] // Margins, cosines, shares of votes and half log-odds are not log-odds.
    fn scores_that_are_log_odds_are_known() {
        let states = |name: &str| {
            let name: LearnerName = name.parse().unwrap();
            name.classifier().learner().states_log_odds()
        };
        for name in ["logistic", "naive-bayes", "bernoulli-naive-bayes", "knn"] {
            assert!(states(name), "{name}");
        }
        for name in ["svm", "perceptron", "rocchio", "adaboost", "rules"] {
            assert!(!states(name), "{name}");
        }
        let voted = Perceptron {
            voted: true,
            ..Perceptron::default()
        };
        assert!(voted.states_log_odds()); // the logarithm of votes for over votes against
    }

    #[test]
    fn a_cost_is_settled_only_where_there_is_one() {
        let svm = Classifier::default();
        assert_eq!((svm.asked_cost(), svm.cost()), (None, Some(0.5)));
        assert_eq!(svm.with_settled_cost().asked_cost(), Some(0.5));
        let bayes = Classifier::from(NaiveBayes::default());
        assert_eq!(bayes.at_cost(3.0), bayes); // alpha is no cost of errors
        assert_eq!(bayes.tuned_setting(), Some(("alpha", 1.0)));
    }

    #[test]
    fn rules_are_saved_as_they_always_were() {
        let json = serde_json::to_string(&Classifier::Rules(Rules {})).unwrap();
        assert_eq!(json, r#"{"learner":"rules"}"#);
        assert_eq!(
            serde_json::from_str::<Classifier>(&json).unwrap(),
            Classifier::Rules(Rules {})
        );
    }
}
