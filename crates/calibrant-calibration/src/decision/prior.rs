//! Classes that are no longer as common as in training: which shares, from where, and whether to shift to them.

use serde::{Deserialize, Serialize};

use crate::calibration::{
    HeldOutShape, PriorEstimate, PriorShift, ShiftFit, complete_priors, estimate_priors_learned,
    estimate_priors_of_each_learned, large_moves, shifted_of_each,
};
use crate::{CalibrationError, Probability, Task, named};

/// What to do about the classes' shares.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorChoice {
    /// They are taken to be those of training.
    #[default]
    Keep,
    /// These classes' shares are known; classes that are not named share the rest as before.
    Given(Vec<(String, f64)>),
    /// They are estimated from the documents themselves.
    Estimated(AdaptPrior),
}

impl PriorChoice {
    /// Whether shares may be shifted at all.
    pub fn is_given(&self) -> bool {
        match self {
            Self::Keep => false,
            Self::Given(shares) => !shares.is_empty(),
            Self::Estimated(_) => true,
        }
    }
}

/// When estimated shares are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdaptPrior {
    /// If the test rejects the shares of training at [`PriorPlan::LEVEL`], and a change of shares explains the documents.
    Tested,
    /// Whatever the test says.
    Always,
}

named! {
    AdaptPrior, "a way to adapt priors";
    Tested = "tested", "If the likelihood-ratio test rejects the training priors at the 5 % level";
    Always = "always", "Whatever the test says";
}

/// What training says about the classes' shares: of a calibrated model, or of a calibrator of scores.
#[derive(Debug, Clone)]
pub struct TrainedShares {
    /// Whether classes exclude each other.
    pub task: Task,
    /// The classes, in the order of probabilities.
    pub classes: Vec<String>,
    /// A class without a probability of its own: the one beside a single positive one.
    pub negative: Option<String>,
    /// The share of each class in training.
    pub shares: Vec<f64>,
    /// How many examples the probabilities were learned from.
    pub examples: usize,
    /// How sure held-out forecasts were, to tell whether documents still look alike.
    pub shape: Option<HeldOutShape>,
}

/// Why shares cannot be shifted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PriorError {
    /// A share is given for what is not a class.
    #[error("there is no class `{class}`")]
    NoClass {
        /// What was named.
        class: String,
        /// The classes that there are.
        known: Vec<String>,
    },
    /// A share that no class can have.
    #[error("the share of `{class}` must be above 0 and below 1, not {share}")]
    BadShare {
        /// Which class.
        class: String,
        /// What was given.
        share: f64,
    },
    /// The shares do not go together, or the documents do not allow an estimate.
    #[error(transparent)]
    Fit(#[from] CalibrationError),
}

/// What to do about the classes' shares, checked against those of training.
#[derive(Debug, Clone)]
pub struct PriorPlan {
    trained: TrainedShares,
    step: Step,
}

#[derive(Debug, Clone)]
enum Step {
    Keep,
    Shift { shift: PriorShift, new: Vec<f64> },
    Estimate(AdaptPrior),
}

/// What was done about the classes' shares.
#[derive(Debug, Clone, Serialize)]
pub struct PriorReport {
    /// Whether probabilities were shifted (of any class, where each stands on its own).
    pub applied: bool,
    /// The classes.
    pub classes: Vec<String>,
    /// Their shares in training.
    pub old: Vec<f64>,
    /// Their shares now.
    pub new: Vec<f64>,
    /// One for exclusive classes, one per class otherwise; none where shares were given.
    pub tests: Vec<PriorEstimate>,
    /// Whether a change of shares is a fair account of these documents; absent where the model cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<ShiftFit>,
    /// What to check.
    pub warnings: Vec<String>,
    /// Whether classes exclude each other.
    #[serde(skip)]
    pub task: Task,
    /// When estimates were to be believed; `None` where shares were given.
    #[serde(skip)]
    pub when: Option<AdaptPrior>,
}

/// What a look at the documents led to.
#[derive(Debug, Clone, Default)]
pub struct DecidedPrior {
    shift: Option<PriorShift>,
    /// What was given or estimated; `None` where nothing was asked for.
    pub report: Option<PriorReport>,
}

impl PriorPlan {
    /// The level of the test whether the shares differ from training; for all classes together where each stands on its own.
    pub const LEVEL: f64 = 0.05;

    /// Checks a choice against the shares of training.
    pub fn new(choice: &PriorChoice, trained: TrainedShares) -> Result<Self, PriorError> {
        let step = match choice {
            PriorChoice::Estimated(when) => Step::Estimate(*when),
            PriorChoice::Given(shares) if !shares.is_empty() => {
                let new = given(shares, &trained)?;
                Step::Shift {
                    shift: PriorShift::between(trained.task, &trained.shares, &new)?,
                    new,
                }
            }
            PriorChoice::Keep | PriorChoice::Given(_) => Step::Keep,
        };
        Ok(Self { trained, step })
    }

    /// The shift that needs no look at the documents.
    pub fn known_shift(&self) -> Option<&PriorShift> {
        match &self.step {
            Step::Shift { shift, .. } => Some(shift),
            Step::Keep | Step::Estimate(_) => None,
        }
    }

    /// Whether all documents must be seen first.
    pub fn must_see_all(&self) -> bool {
        matches!(self.step, Step::Estimate(_))
    }

    /// The shift for these documents, as given or as estimated from them. `probabilities` has one per class, document by
    /// document.
    pub fn decide(
        &self,
        probabilities: &[Probability],
        weights: Option<&[f64]>,
    ) -> Result<DecidedPrior, CalibrationError> {
        let trained = &self.trained;
        let report = |new: Vec<f64>| PriorReport {
            applied: new != trained.shares,
            classes: trained.classes.clone(),
            old: trained.shares.clone(),
            new,
            tests: Vec::new(),
            fit: None,
            warnings: Vec::new(),
            task: trained.task,
            when: None,
        };
        let when = match &self.step {
            Step::Keep => return Ok(DecidedPrior::default()),
            Step::Shift { shift, new } => {
                return Ok(DecidedPrior {
                    shift: Some(shift.clone()),
                    report: Some(report(new.clone())),
                });
            }
            Step::Estimate(when) => *when,
        };
        let old = &trained.shares;
        let (mut new, tests) = estimated(trained, when, probabilities, weights)?;
        let fit = match (&trained.shape, old.as_slice(), new.as_slice()) {
            (Some(shape), [old], [new]) => {
                Some(shape.fit_of_second(*old, *new, probabilities, weights)?)
            }
            (Some(shape), _, _) => Some(shape.fit(old, &new, probabilities, weights)?),
            (None, _, _) => None,
        };
        let moved = new != *old;
        let mut warnings = Vec::new();
        if let Some(fit) = fit.filter(|fit| moved && !fit.is_fair()) {
            if when == AdaptPrior::Tested {
                new.clone_from(old);
            }
            warnings.push(not_a_shift(&fit, when));
        } else if moved {
            let names: Vec<&str> = trained.classes.iter().map(String::as_str).collect();
            warnings.extend(large_moves(&names, old, &new, fit.is_some()));
        }
        let report = PriorReport {
            tests,
            fit,
            warnings,
            when: Some(when),
            ..report(new)
        };
        let shift = report
            .applied
            .then(|| PriorShift::between(trained.task, old, &report.new))
            .transpose()?;
        Ok(DecidedPrior {
            shift,
            report: Some(report),
        })
    }
}

impl DecidedPrior {
    /// Shifts rows of this many probabilities, if there is anything to shift.
    pub fn apply(&self, class_count: usize, probabilities: &mut [Probability]) {
        if let Some(shift) = &self.shift {
            let mut buffer = Vec::new();
            for row in probabilities.chunks_exact_mut(class_count) {
                shift.apply(row, &mut buffer);
            }
        }
    }
}

impl PriorReport {
    /// Whether an estimate that would move shares is not believed, since a change of shares does not explain the documents.
    pub fn is_disbelieved(&self) -> bool {
        // What would not move is neither believed nor disbelieved.
        let mut tests = self.tests.iter();
        let moves = tests.any(|estimate| estimate.is_shifted(PriorPlan::LEVEL));
        moves && self.fit.is_some_and(|fit| !fit.is_fair())
    }

    /// What was done to the probabilities, if anything was.
    pub fn sentence(&self) -> Option<String> {
        /// How many classes are named.
        const NAMED: usize = 5;
        let shares = self.classes.iter().zip(self.old.iter().zip(&self.new));
        let moved: Vec<String> = shares
            .filter(|(_, (old, new))| old != new)
            .map(|(class, (old, new))| format!("`{class}` from {old:.4} to {new:.4}"))
            .collect();
        let more = match moved.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let whence = match self.tests.is_empty() {
            true => "as given",
            false => "as estimated",
        };
        (self.applied && !moved.is_empty()).then(|| {
            format!(
                "probabilities are shifted to other class priors, {whence}: {}{more}",
                moved[..moved.len().min(NAMED)].join(", ")
            )
        })
    }
}

/// All shares, where those of some classes are given.
fn given(shares: &[(String, f64)], trained: &TrainedShares) -> Result<Vec<f64>, PriorError> {
    let mut numbered = Vec::new();
    for (class, share) in shares {
        if !(*share > 0.0 && *share < 1.0) {
            return Err(PriorError::BadShare {
                class: class.clone(),
                share: *share,
            });
        }
        let found = trained.classes.iter().position(|name| name == class);
        match found {
            Some(number) => numbered.push((number, *share)),
            None if trained.negative.as_ref() == Some(class) => numbered.push((0, 1.0 - share)),
            None => {
                let known = trained.classes.iter().chain(&trained.negative).cloned();
                return Err(PriorError::NoClass {
                    class: class.clone(),
                    known: known.collect(),
                });
            }
        }
    }
    let all = complete_priors(trained.task, &trained.shares, &numbered);
    Ok(all?)
}

/// The shares to shift to, as the tests decide, and the tests.
fn estimated(
    trained: &TrainedShares,
    when: AdaptPrior,
    probabilities: &[Probability],
    weights: Option<&[f64]>,
) -> Result<(Vec<f64>, Vec<PriorEstimate>), CalibrationError> {
    let (old, examples) = (trained.shares.as_slice(), trained.examples);
    let level = PriorPlan::LEVEL;
    Ok(match trained.task {
        Task::SingleLabel => {
            let estimate = estimate_priors_learned(old, probabilities, weights, examples)?;
            let shifted = estimate.is_shifted(level) || when == AdaptPrior::Always;
            let new = if shifted {
                estimate.new.clone()
            } else {
                old.to_vec()
            };
            (new, vec![estimate])
        }
        Task::MultiLabel => {
            let estimates = estimate_priors_of_each_learned(old, probabilities, weights, examples)?;
            let shifted = shifted_of_each(&estimates, level);
            let new = estimates.iter().zip(old).zip(shifted);
            let new = new.map(|((estimate, &old), shifted)| {
                if shifted || when == AdaptPrior::Always {
                    estimate.new[1]
                } else {
                    old
                }
            });
            (new.collect(), estimates)
        }
    })
}

fn not_a_shift(fit: &ShiftFit, when: AdaptPrior) -> String {
    let done = match when {
        AdaptPrior::Tested => "probabilities are left unchanged; `always` overrides this",
        AdaptPrior::Always => "probabilities are shifted anyway, as requested",
    };
    format!(
        "a change of class priors does not explain these documents: it moves stated probabilities by {:.4} on average \
         and leaves them off by {:.4} more than chance does (chi-square {:.1}, {} degrees of freedom, p-value {:.1e}). Documents \
         of some class look different from those in training; {done}. To check: label a few dozen of them, drawn at random, and count them, or evaluate",
        fit.explained, fit.unexplained, fit.statistic, fit.degrees_of_freedom, fit.p_value
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trained(task: Task, shares: &[f64]) -> TrainedShares {
        TrainedShares {
            task,
            classes: ["a", "b", "c"][..shares.len()]
                .iter()
                .map(|&name| name.to_owned())
                .collect(),
            negative: None,
            shares: shares.to_vec(),
            examples: 1_000_000,
            shape: None,
        }
    }

    /// Forecasts that say `p` of the first class and the rest of the second.
    fn forecasts(p: f64, count: usize) -> Vec<Probability> {
        let of = Probability::from_log_odds((p / (1.0 - p)).ln());
        [of, of.complement()].repeat(count)
    }

    #[test]
    fn given_shares_are_completed_and_applied() {
        let choice = PriorChoice::Given(vec![("a".into(), 0.2)]);
        let plan = PriorPlan::new(&choice, trained(Task::SingleLabel, &[0.5, 0.5])).unwrap();
        assert!(plan.known_shift().is_some() && !plan.must_see_all());
        let decided = plan.decide(&[], None).unwrap();
        let report = decided.report.as_ref().unwrap();
        assert!(report.applied && (report.new[1] - 0.8).abs() < 1e-12);
        assert!(
            report
                .sentence()
                .unwrap()
                .contains("`a` from 0.5000 to 0.2000")
        );
        let mut stated = forecasts(0.5, 2);
        decided.apply(2, &mut stated);
        // By hand: even odds times (0.2/0.5) / (0.8/0.5) = 1/4.
        assert!(
            stated
                .iter()
                .step_by(2)
                .all(|p| (p.value() - 0.2).abs() < 1e-12)
        );
    }

    #[test]
    fn what_is_not_a_class_or_a_share_is_refused() {
        let of = |class: &str, share| {
            let choice = PriorChoice::Given(vec![(class.into(), share)]);
            PriorPlan::new(&choice, trained(Task::SingleLabel, &[0.5, 0.5]))
        };
        assert!(
            matches!(of("x", 0.1), Err(PriorError::NoClass { known, .. }) if known == ["a", "b"])
        );
        for share in [0.0, 1.0, f64::NAN, -3.0] {
            assert!(matches!(of("a", share), Err(PriorError::BadShare { .. })));
        }
        let mut one = trained(Task::MultiLabel, &[0.25]);
        one.negative = Some("no".into());
        let choice = PriorChoice::Given(vec![("no".into(), 0.9)]);
        let plan = PriorPlan::new(&choice, one).unwrap();
        let new = plan.decide(&[], None).unwrap().report.unwrap().new;
        assert!((new[0] - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_test_decides_unless_it_is_overruled() {
        let plan = |when| {
            PriorPlan::new(
                &PriorChoice::Estimated(when),
                trained(Task::SingleLabel, &[0.5, 0.5]),
            )
            .unwrap()
        };
        let applied = |when, p, count| {
            let decided = plan(when).decide(&forecasts(p, count), None).unwrap();
            decided.report.unwrap().applied
        };
        assert!(plan(AdaptPrior::Tested).must_see_all());
        // Two documents prove nothing, five hundred do.
        assert!(!applied(AdaptPrior::Tested, 0.6, 2));
        assert!(applied(AdaptPrior::Tested, 0.6, 500));
        assert!(applied(AdaptPrior::Always, 0.6, 2));
        let kept = PriorPlan::new(&PriorChoice::Keep, trained(Task::MultiLabel, &[0.5])).unwrap();
        assert!(
            kept.decide(&forecasts(0.9, 9), None)
                .unwrap()
                .report
                .is_none()
        );
    }
}
