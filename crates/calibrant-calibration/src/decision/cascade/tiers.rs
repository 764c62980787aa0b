//! The sources of answers, and what they said of documents whose truth is known.

use crate::numeric::Random;

/// A source of answers: what asking it costs, and how it did on documents whose truth is known.
///
/// All tiers of a cascade tell of the same documents, in the same order.
#[derive(Debug, Clone, PartialEq)]
pub struct CascadeTier {
    /// Its name in reports.
    pub name: String,
    /// What it costs to ask it about one document.
    pub cost: f64,
    /// The probability that its answer is right, as it states it, for each document. The last tier answers all, and needs none.
    pub confidences: Vec<f64>,
    /// Whether its answer was right, for each document; empty for a source whose answers are the truth, which must come last.
    pub right: Vec<bool>,
}

impl CascadeTier {
    /// A source whose answers are the truth: what a person says, if that is what answers are to agree with.
    pub fn truth(name: &str, cost: f64) -> Self {
        Self {
            name: name.to_owned(),
            cost,
            confidences: Vec::new(),
            right: Vec::new(),
        }
    }

    /// A last source of which only the accuracy is known: which of its answers are wrong is drawn, so that a test
    /// counts its mistakes as often as they happen.
    ///
    /// ```
    /// use calibrant_calibration::decision::CascadeTier;
    /// let person = CascadeTier::with_accuracy("person", 1.0, 0.97, 10_000, 1);
    /// let wrong = person.right.iter().filter(|right| !**right).count();
    /// assert!(wrong.abs_diff(300) < 60); // expected 300, with a spread of 17
    /// ```
    pub fn with_accuracy(
        name: &str,
        cost: f64,
        accuracy: f64,
        documents: usize,
        seed: u64,
    ) -> Self {
        let mut random = Random::from_seed(seed);
        let right = (0..documents).map(|_| random.uniform() < accuracy);
        Self {
            right: right.collect(),
            ..Self::truth(name, cost)
        }
    }

    /// Whether its answer to this document was right.
    pub(crate) fn is_right(&self, document: usize) -> bool {
        self.right.get(document).copied().unwrap_or(true)
    }
}

/// Why no cascade can be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CascadeError {
    /// One source alone, or more than can be tried in all combinations.
    #[error("a cascade needs from two to {most} sources, not {found}")]
    Tiers {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Lists that belong together differ in length.
    #[error("{tier}: {found} entries where there are {expected} documents")]
    Length {
        /// The source.
        tier: String,
        /// The documents.
        expected: usize,
        /// The entries.
        found: usize,
    },
    /// Nothing was asked of anybody, so nothing can be shown.
    #[error("there are no documents whose truth is known")]
    NoDocuments,
    /// A confidence is no probability.
    #[error("{tier}: {value} is not a probability (document {document})")]
    BadConfidence {
        /// The source.
        tier: String,
        /// Which document.
        document: usize,
        /// What it stated.
        value: f64,
    },
    /// A setting is outside what makes sense.
    #[error("{setting} must be {requirement}, not {value}")]
    BadSetting {
        /// Its name.
        setting: &'static str,
        /// What it must be.
        requirement: &'static str,
        /// What it is.
        value: f64,
    },
    /// No policy could be shown to be right often enough.
    #[error(
        "no policy can be shown to be wrong in at most {risk} of all answers by {documents} documents; \
         at least {needed} are needed even where nothing is wrong"
    )]
    NotCertified {
        /// The share of wrong answers that was allowed.
        risk: f64,
        /// Documents of the test.
        documents: usize,
        /// How many documents would do if none of the answers were wrong.
        needed: usize,
    },
}

/// More sources have too many combinations.
pub(crate) const MOST_TIERS: usize = 6;

/// Holds the tiers against each other; gives the number of documents.
pub(crate) fn check_tiers(tiers: &[CascadeTier]) -> Result<usize, CascadeError> {
    let found = tiers.len();
    if !(2..=MOST_TIERS).contains(&found) {
        let most = MOST_TIERS;
        return Err(CascadeError::Tiers { found, most });
    }
    let expected = tiers[0].confidences.len();
    if expected == 0 {
        return Err(CascadeError::NoDocuments);
    }
    for (place, tier) in tiers.iter().enumerate() {
        let last = place + 1 == found;
        let lengths = [tier.confidences.len(), tier.right.len()];
        for found in lengths {
            if found != expected && !(last && found == 0) {
                let tier = tier.name.clone();
                return Err(CascadeError::Length {
                    tier,
                    expected,
                    found,
                });
            }
        }
        let bad = tier
            .confidences
            .iter()
            .position(|c| !(0.0..=1.0).contains(c));
        if let Some(document) = bad {
            let (tier, value) = (tier.name.clone(), tier.confidences[document]);
            return Err(CascadeError::BadConfidence {
                tier,
                document,
                value,
            });
        }
        if !(tier.cost >= 0.0 && tier.cost <= 1e100) {
            return Err(CascadeError::BadSetting {
                setting: "a cost",
                requirement: "a number from 0 on",
                value: tier.cost,
            });
        }
    }
    Ok(expected)
}
