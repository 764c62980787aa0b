//! The cheapest thresholds that a test shows to be right often enough.

use serde::{Deserialize, Serialize};

use crate::numeric::{Random, binomial_at_most, exact_upper_share};

use super::path::{Candidate, paths};
use super::tiers::check_tiers;
use super::{CascadeError, CascadePolicy, CascadeTier, TierRule};

/// What is asked of [`certify_cascade`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CascadeSettings {
    /// The share of wrong answers that is allowed: 0.02.
    pub risk: f64,
    /// The chance that more are wrong all the same: 0.05.
    pub miss: f64,
    /// This share of the documents is set aside to choose the policies that are tested; 0 chooses them by the confidences
    /// (never the truth) of the documents of the test.
    pub set_aside: f64,
    /// The seed by which documents are set aside.
    pub seed: u64,
}

impl Default for CascadeSettings {
    fn default() -> Self {
        Self {
            risk: 0.02,
            miss: 0.05,
            set_aside: 0.0,
            seed: 0,
        }
    }
}

/// On what the statement rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CascadeBasis {
    /// Policies were chosen by other documents than those of the test: it holds as stated.
    SetAside,
    /// Policies were chosen by confidences of the documents of the test, without their truth: it holds nearly as stated.
    SameDocuments,
    /// Nothing had to be tested: every answer is the truth by definition.
    Truth,
}

/// A policy, and what is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CascadeReport {
    /// Who answers what.
    pub policy: CascadePolicy,
    /// What was asked.
    pub settings: CascadeSettings,
    /// On what the statement rests.
    pub basis: CascadeBasis,
    /// Documents of the test.
    pub documents: usize,
    /// Wrong answers among them.
    pub errors: usize,
    /// The share of wrong answers is at most this, as surely as the policy was tested.
    pub upper_risk: f64,
    /// What a document costs on average.
    pub cost: f64,
    /// What each tier does.
    pub tiers: Vec<TierReport>,
    /// What each source would cost alone.
    pub single: Vec<SingleSource>,
}

/// What a tier does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TierReport {
    /// Its name.
    pub name: String,
    /// The share of documents that it is asked about.
    pub asked: f64,
    /// The share of documents that it answers.
    pub answered: f64,
    /// Wrong answers among these, in the test.
    pub errors: usize,
    /// What it costs for each document of all, on average.
    pub cost: f64,
}

/// A source that answers every document alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SingleSource {
    /// Its name.
    pub name: String,
    /// What a document costs.
    pub cost: f64,
    /// The share of its answers that was wrong.
    pub error: f64,
    /// Whether a test of it alone, at the whole chance of a miss, would show that it is right often enough.
    pub passes: bool,
    /// What the cascade saves for each document; below zero where it costs more.
    pub saving: f64,
}

/// The cheapest policy that is shown to be wrong in at most a share `risk` of all answers, with probability `1 - miss`.
///
/// # Method
/// A path of threshold vectors is fixed by confidences and costs alone: those that no other beats both in stated risk and in
/// cost, from the least stated risk on. Along the path the overall number of wrong answers is tested exactly, until a
/// test fails; every policy before that is certified. Where there are several tiers before the last one, that path has four
/// fifths of `miss`, and paths of each set of tiers alone share the rest, in case one source is not as good as it says. The cheapest
/// of all certified policies is taken.
///
/// # Formula
/// ```text
/// a policy passes if P(Bin(n, risk) ≤ errors) ≤ the path's part of miss
/// ```
/// If a policy with a risk above `risk` is certified, then on its path the first such policy was; its test passes with
/// a probability of that part at most, since nothing decided which policy that is but the fixed path. A path
/// needs no division among its steps, and its strict end has power, since every test counts all `n` documents: what
/// is not answered early is answered last. Where the last source is the truth, handing on everything needs no test.
///
/// # When it misleads
/// Documents must be drawn as those to come will be, and neither models nor their calibration may have learned from them. With
/// `set_aside = 0` the path is made from the confidences of the same documents: the thresholds then follow their quantiles a
/// little, so the chance of a miss is `miss` only nearly (simulations show it kept). Confidences that are
/// not calibrated make a bad path, which costs money, not validity: calibrate them first.
///
/// # Reference
/// Fixed sequences as in Angelopoulos, Bates, Candès, Jordan and Lei, Learn then Test (2021), section 2; cascades with
/// guaranteed agreement: Jung, Brahman and Choi, Trust or Escalate (ICLR 2025), who test tier by tier.
///
/// ```
/// use calibrant_calibration::decision::{CascadeSettings, CascadeTier, TierRule, certify_cascade};
/// // Sure of every second document, and right there; else right in half of all cases.
/// let sure = |place: usize| place % 2 == 0;
/// let model = CascadeTier {
///     name: "model".to_owned(),
///     cost: 0.01,
///     confidences: (0..400).map(|place| if sure(place) { 0.99 } else { 0.5 }).collect(),
///     right: (0..400).map(|place| sure(place) || place % 4 == 1).collect(),
/// };
/// let found = certify_cascade(&[model, CascadeTier::truth("person", 1.0)], &CascadeSettings::default())?;
/// assert_eq!(found.policy.rules, [TierRule::From(0.99), TierRule::All]);
/// assert!((found.cost - 0.51).abs() < 1e-12); // by hand: 0.01 for all, and 1 for every second
/// # Ok::<(), calibrant_calibration::decision::CascadeError>(())
/// ```
pub fn certify_cascade(
    tiers: &[CascadeTier],
    settings: &CascadeSettings,
) -> Result<CascadeReport, CascadeError> {
    let documents = check_tiers(tiers)?;
    check_settings(settings)?;
    let (design, test) = divide(documents, settings);
    let last = &tiers[tiers.len() - 1];
    let truth_last = last.right.is_empty();
    let paths = paths(tiers, usize::from(truth_last), &design);
    let most = paths.iter().map(|path| path.part).fold(0.0, f64::max);
    let mut best: Option<Certified> = None;
    for path in paths {
        let miss = path.part * settings.miss;
        for candidate in path.policies {
            let errors = errors(tiers, &candidate, &test);
            if binomial_at_most(errors as u64, test.len() as u64, settings.risk) > miss {
                break;
            }
            let cost = cost(tiers, &candidate, &test);
            if best.as_ref().is_none_or(|best| cost < best.cost) {
                let upper_risk = exact_upper_share(errors as u64, test.len() as u64, miss);
                best = Some(Certified {
                    candidate,
                    errors,
                    upper_risk,
                    cost,
                });
            }
        }
    }
    let basis = match settings.set_aside > 0.0 {
        true => CascadeBasis::SetAside,
        false => CascadeBasis::SameDocuments,
    };
    // Handing on everything to the truth is always right, and may be cheapest.
    let report = Report {
        tiers,
        settings,
        test: &test,
    };
    match best.filter(|best| !truth_last || best.cost < last.cost) {
        Some(best) => Ok(report.of(&best, basis)),
        None if truth_last => {
            let candidate = Candidate::all_to_last(last.cost);
            let (errors, upper_risk, cost) = (0, 0.0, last.cost);
            let all = Certified {
                candidate,
                errors,
                upper_risk,
                cost,
            };
            Ok(report.of(&all, CascadeBasis::Truth))
        }
        None => Err(CascadeError::NotCertified {
            risk: settings.risk,
            documents: test.len(),
            needed: ((most * settings.miss).ln() / (-settings.risk).ln_1p()).ceil() as usize,
        }),
    }
}

/// A policy that passed its test.
struct Certified {
    candidate: Candidate,
    errors: usize,
    upper_risk: f64,
    cost: f64,
}

fn check_settings(settings: &CascadeSettings) -> Result<(), CascadeError> {
    let between = "between 0 and 1";
    let checks = [
        (
            "the allowed share of wrong answers",
            settings.risk,
            settings.risk > 0.0,
        ),
        ("the chance of a miss", settings.miss, settings.miss > 0.0),
        (
            "the share set aside",
            settings.set_aside,
            settings.set_aside >= 0.0,
        ),
    ];
    for (setting, value, above) in checks {
        if !(above && value < 1.0) {
            return Err(CascadeError::BadSetting {
                setting,
                requirement: between,
                value,
            });
        }
    }
    Ok(())
}

/// The documents that policies are chosen by, and those that they are tested on.
fn divide(documents: usize, settings: &CascadeSettings) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..documents).collect();
    if settings.set_aside == 0.0 {
        return (order.clone(), order);
    }
    Random::from_seed(settings.seed).shuffle(&mut order);
    let test = order.split_off((settings.set_aside * documents as f64).ceil() as usize);
    (order, test)
}

/// Wrong answers of a policy.
fn errors(tiers: &[CascadeTier], candidate: &Candidate, documents: &[usize]) -> usize {
    let wrong = |&&place: &&usize| !tiers[candidate.answers(tiers, place)].is_right(place);
    documents.iter().filter(wrong).count()
}

/// What a document costs under a policy.
fn cost(tiers: &[CascadeTier], candidate: &Candidate, documents: &[usize]) -> f64 {
    let paid = documents
        .iter()
        .map(|&place| candidate.cost_of(tiers, candidate.answers(tiers, place)));
    paid.sum::<f64>() / documents.len().max(1) as f64
}

struct Report<'a> {
    tiers: &'a [CascadeTier],
    settings: &'a CascadeSettings,
    test: &'a [usize],
}

impl Report<'_> {
    fn of(&self, found: &Certified, basis: CascadeBasis) -> CascadeReport {
        CascadeReport {
            policy: found.candidate.policy(self.tiers),
            settings: *self.settings,
            basis,
            documents: self.test.len(),
            errors: found.errors,
            upper_risk: found.upper_risk,
            cost: found.cost,
            tiers: self.tier_reports(&found.candidate),
            single: self.single(found.cost),
        }
    }

    fn tier_reports(&self, candidate: &Candidate) -> Vec<TierReport> {
        let all = self.test.len().max(1) as f64;
        let rules = candidate.policy(self.tiers).rules;
        let mut left = 1.0;
        let tiers = self.tiers.iter().enumerate();
        tiers
            .map(|(number, tier)| {
                let answered = self.test.iter().copied();
                let answered: Vec<usize> = answered
                    .filter(|&place| candidate.answers(self.tiers, place) == number)
                    .collect();
                let share = answered.len() as f64 / all;
                let asked = if rules[number] == TierRule::Skip {
                    0.0
                } else {
                    left
                };
                left -= share;
                TierReport {
                    name: tier.name.clone(),
                    asked,
                    answered: share,
                    errors: answered
                        .iter()
                        .filter(|&&place| !tier.is_right(place))
                        .count(),
                    cost: asked * tier.cost,
                }
            })
            .collect()
    }

    fn single(&self, cost: f64) -> Vec<SingleSource> {
        let one = |tier: &CascadeTier| {
            let wrong = self
                .test
                .iter()
                .filter(|&&place| !tier.is_right(place))
                .count();
            let (settings, count) = (self.settings, self.test.len());
            let tail = binomial_at_most(wrong as u64, count as u64, settings.risk);
            SingleSource {
                name: tier.name.clone(),
                cost: tier.cost,
                error: wrong as f64 / count.max(1) as f64,
                passes: tier.right.is_empty() || tail <= settings.miss,
                saving: tier.cost - cost,
            }
        };
        self.tiers.iter().map(one).collect()
    }
}

impl Candidate {
    fn policy(&self, tiers: &[CascadeTier]) -> CascadePolicy {
        let mut rules = vec![TierRule::Skip; tiers.len()];
        rules[tiers.len() - 1] = TierRule::All;
        for &(tier, from) in &self.thresholds {
            rules[tier] = TierRule::From(from);
        }
        CascadePolicy {
            tiers: tiers.iter().map(|tier| tier.name.clone()).collect(),
            rules,
        }
    }
}
