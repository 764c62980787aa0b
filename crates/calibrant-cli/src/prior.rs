//! Prior shift on the command line: which shares, from where, and what is said about them.

use calibrant::calibration::{
    HeldOutShape, PriorEstimate, PriorShift, ShiftFit, complete_priors, estimate_priors_learned,
    estimate_priors_of_each_learned, large_moves, shifted_of_each,
};
use calibrant::{Probability, Task};

use crate::arguments::{AdaptPrior, PriorArguments};
use crate::error::CliError;
use crate::output::{note, warn};

/// The level of the test whether the shares differ from training.
const LEVEL: f64 = 0.05;
/// How many classes a note lists.
const CLASSES_SHOWN: usize = 30;

/// What to do about priors.
pub(crate) enum PriorPlan {
    /// Nothing.
    Keep,
    /// The shares are known.
    Shift {
        shift: PriorShift,
        old: Vec<f64>,
        new: Vec<f64>,
    },
    /// They are estimated once all documents have been seen.
    Estimate {
        old: Vec<f64>,
        when: AdaptPrior,
        /// How many examples the probabilities were learned from.
        examples: usize,
        /// How sure held-out forecasts were, to tell whether documents still look alike.
        shape: Option<HeldOutShape>,
    },
}

/// What was done about priors, for reports.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct PriorReport {
    /// Whether probabilities were shifted (of any class, where each stands on its own).
    pub(crate) applied: bool,
    pub(crate) classes: Vec<String>,
    pub(crate) old: Vec<f64>,
    pub(crate) new: Vec<f64>,
    /// One for exclusive classes, one a class otherwise; none where shares were given.
    pub(crate) tests: Vec<PriorEstimate>,
    /// Whether a change of shares is a fair account of these documents; absent where the model cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fit: Option<ShiftFit>,
    /// What to check.
    pub(crate) warnings: Vec<String>,
}

impl PriorPlan {
    /// From the arguments. `negative` is a class without an output: the one beside a single
    /// positive one.
    pub(crate) fn new(
        arguments: &PriorArguments,
        task: Task,
        classes: &[&str],
        negative: Option<&str>,
        (old, examples, shape): (Vec<f64>, usize, Option<&HeldOutShape>),
    ) -> Result<Self, CliError> {
        if let Some(when) = arguments.adapt_prior {
            let shape = shape.cloned();
            return Ok(Self::Estimate {
                old,
                when,
                examples,
                shape,
            });
        }
        if arguments.prior.is_empty() {
            return Ok(Self::Keep);
        }
        let mut given = Vec::new();
        for part in &arguments.prior {
            let parsed = part
                .rsplit_once('=')
                .and_then(|(class, share)| Some((class, share.trim().parse::<f64>().ok()?)));
            let Some((class, share)) = parsed else {
                return Err(
                    CliError::new(format!("--prior: `{part}` is not CLASS=SHARE"))
                        .hint("for example --prior spam=0.3"),
                );
            };
            if !(share > 0.0 && share < 1.0) {
                return Err(CliError::new(format!(
                    "--prior: the share of `{class}` must be above 0 and below 1, not {share}"
                )));
            }
            let found = classes.iter().position(|name| *name == class);
            match found {
                Some(number) => given.push((number, share)),
                None if negative == Some(class) => given.push((0, 1.0 - share)),
                None => {
                    let names: Vec<&str> =
                        classes.iter().copied().chain(negative).take(20).collect();
                    return Err(
                        CliError::new(format!("--prior: there is no class `{class}`"))
                            .hint(format!("the classes are {}", names.join(", "))),
                    );
                }
            }
        }
        let new = complete_priors(task, &old, &given)
            .map_err(|error| CliError::new(format!("--prior: {error}")))?;
        Ok(Self::Shift {
            shift: PriorShift::between(task, &old, &new)?,
            old,
            new,
        })
    }

    /// The shift that needs no look at the documents.
    pub(crate) fn known_shift(&self) -> Option<&PriorShift> {
        match self {
            Self::Shift { shift, .. } => Some(shift),
            Self::Keep | Self::Estimate { .. } => None,
        }
    }

    /// Whether all documents must be seen first.
    pub(crate) fn must_see_all(&self) -> bool {
        matches!(self, Self::Estimate { .. })
    }

    /// The shift for these documents, as given or as estimated from them; says on standard error what
    /// was found. `what` names the documents.
    pub(crate) fn decide(
        &self,
        what: &str,
        task: Task,
        classes: &[&str],
        probabilities: &[Probability],
        weights: Option<&[f64]>,
    ) -> Result<Decided, CliError> {
        let (old, when, examples, shape) = match self {
            Self::Keep => return Ok(Decided::default()),
            Self::Shift { shift, old, new } => {
                return Ok(Decided {
                    shift: Some(shift.clone()),
                    report: Some(PriorReport {
                        applied: new != old,
                        classes: owned(classes),
                        old: old.clone(),
                        new: new.clone(),
                        tests: Vec::new(),
                        fit: None,
                        warnings: Vec::new(),
                    }),
                });
            }
            Self::Estimate {
                old,
                when,
                examples,
                shape,
            } => (old, *when, *examples, shape.as_ref()),
        };
        let (mut new, tests) = estimated(task, (old, examples), when, probabilities, weights)?;
        let fit = match (shape, old.as_slice(), new.as_slice()) {
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
            warnings.extend(large_moves(classes, old, &new, fit.is_some()));
        }
        let report = PriorReport {
            applied: new != *old,
            classes: owned(classes),
            old: old.clone(),
            new,
            tests,
            fit,
            warnings,
        };
        say(what, task, when, &report);
        report.warnings.iter().for_each(|warning| warn(warning));
        let shift = report
            .applied
            .then(|| PriorShift::between(task, old, &report.new))
            .transpose()?;
        Ok(Decided {
            shift,
            report: Some(report),
        })
    }
}

fn owned(classes: &[&str]) -> Vec<String> {
    classes.iter().map(|&name| name.to_owned()).collect()
}

impl PriorReport {
    /// What was done to the probabilities, if anything was.
    pub(crate) fn sentence(&self) -> Option<String> {
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
                "probabilities are shifted to other shares of the classes, {whence}: {}{more}",
                moved[..moved.len().min(NAMED)].join(", ")
            )
        })
    }
}

/// What a look at the documents led to.
#[derive(Default)]
pub(crate) struct Decided {
    shift: Option<PriorShift>,
    /// What was given or estimated.
    pub(crate) report: Option<PriorReport>,
}

impl Decided {
    /// Shifts rows of this many probabilities, if there is anything to shift.
    pub(crate) fn apply(&self, class_count: usize, probabilities: &mut [Probability]) {
        if let Some(shift) = &self.shift {
            let mut room = Vec::new();
            for row in probabilities.chunks_exact_mut(class_count) {
                shift.apply(row, &mut room);
            }
        }
    }
}

/// The shares to shift to, as the tests decide, and the tests.
fn estimated(
    task: Task,
    (old, examples): (&[f64], usize),
    when: AdaptPrior,
    probabilities: &[Probability],
    weights: Option<&[f64]>,
) -> Result<(Vec<f64>, Vec<PriorEstimate>), CliError> {
    Ok(match task {
        Task::SingleLabel => {
            let estimate = estimate_priors_learned(old, probabilities, weights, examples)?;
            let shifted = estimate.is_shifted(LEVEL) || when == AdaptPrior::Always;
            let new = if shifted {
                estimate.new.clone()
            } else {
                old.to_vec()
            };
            (new, vec![estimate])
        }
        Task::MultiLabel => {
            let estimates = estimate_priors_of_each_learned(old, probabilities, weights, examples)?;
            let shifted = shifted_of_each(&estimates, LEVEL);
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
        AdaptPrior::Tested => "probabilities are left as they are; --adapt-prior=always insists",
        AdaptPrior::Always => "probabilities are shifted all the same, as asked",
    };
    format!(
        "a change of the classes' shares does not explain these documents: it moves stated probabilities by {:.4} on average \
         and leaves them off by {:.4} more than chance does (chi-square {:.1}, {} degrees of freedom, p-value {:.1e}). Documents \
         of some class look different from those in training; {done}. To check: label a few dozen of them, drawn at \
         random, and count, or `calibrant evaluate` them",
        fit.explained, fit.unexplained, fit.statistic, fit.degrees_of_freedom, fit.p_value
    )
}

fn say(what: &str, task: Task, when: AdaptPrior, report: &PriorReport) {
    let test = |estimate: &PriorEstimate| {
        let freedom = match estimate.degrees_of_freedom {
            1 => "1 degree of freedom".to_owned(),
            more => format!("{more} degrees of freedom"),
        };
        let p_value = match estimate.p_value {
            none if none < 1e-300 => "below 1e-300".to_owned(),
            tiny if tiny < 1e-3 => format!("{tiny:.1e}"),
            plain => format!("{plain:.3}"),
        };
        format!(
            "likelihood-ratio statistic {:.2}, {freedom}; larger p-value of this and of the stated mean {p_value}",
            estimate.statistic
        )
    };
    if report.tests.iter().any(|estimate| !estimate.converged) {
        warn("the estimate of the priors has not converged; judge it with care");
    }
    // What would not move is neither believed nor disbelieved.
    let moves = report
        .tests
        .iter()
        .any(|estimate| estimate.is_shifted(LEVEL));
    let unfair = moves && report.fit.is_some_and(|fit| !fit.is_fair());
    let verdict = |applied: bool| match (applied, when) {
        (true, AdaptPrior::Tested) => "shifted",
        (true, AdaptPrior::Always) => "shifted, as asked",
        (false, _) if unfair => "not believed, probabilities left as they are",
        (false, _) => "no shift found, probabilities left as they are",
    };
    let shares = |class: usize, estimated: f64| {
        format!(
            "  {}: {:.4} in training, {estimated:.4} here",
            report.classes[class], report.old[class]
        )
    };
    match (task, report.tests.as_slice()) {
        (Task::SingleLabel, [estimate]) => {
            note(&format!(
                "priors of {what}: {}: {}",
                test(estimate),
                verdict(report.applied)
            ));
            for (class, &share) in estimate.new.iter().enumerate().take(CLASSES_SHOWN) {
                note(&shares(class, share));
            }
        }
        (_, estimates) => {
            let level = match estimates.len() {
                1 => String::new(),
                _ => format!(
                    ", tested at {:.0} % for all of them together",
                    100.0 * LEVEL
                ),
            };
            note(&format!("priors of {what}, each class on its own{level}:"));
            for (class, estimate) in estimates.iter().enumerate().take(CLASSES_SHOWN) {
                let applied = report.new[class] != report.old[class];
                note(&format!(
                    "{}; {}: {}",
                    shares(class, estimate.new[1]),
                    test(estimate),
                    verdict(applied)
                ));
            }
        }
    }
    if report.classes.len() > CLASSES_SHOWN {
        note(&format!(
            "  and {} more classes",
            report.classes.len() - CLASSES_SHOWN
        ));
    }
}
