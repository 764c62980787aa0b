//! Prior shift on the command line: what is asked for, and what is said about it.

use calibrant::Task;
use calibrant::calibration::PriorEstimate;
use calibrant::jobs::{AdaptPrior, PriorChoice, PriorPlan, PriorReport};

use crate::arguments::PriorArguments;
use crate::error::CliError;
use crate::output::{note, warn};

/// How many classes a note lists.
const CLASSES_SHOWN: usize = 30;

/// What the arguments ask for.
pub(crate) fn choice(arguments: &PriorArguments) -> Result<PriorChoice, CliError> {
    if let Some(when) = arguments.adapt_prior {
        return Ok(PriorChoice::Estimated(when));
    }
    if arguments.prior.is_empty() {
        return Ok(PriorChoice::Keep);
    }
    let shares = arguments.prior.iter().map(|part| {
        let parsed = part
            .rsplit_once('=')
            .and_then(|(class, share)| Some((class.to_owned(), share.trim().parse().ok()?)));
        parsed.ok_or_else(|| {
            CliError::new(format!("--prior: `{part}` is not CLASS=SHARE"))
                .hint("for example --prior spam=0.3")
        })
    });
    Ok(PriorChoice::Given(shares.collect::<Result<_, _>>()?))
}

/// Says on standard error what was estimated, and what to check. `what` names the documents.
pub(crate) fn show_prior(what: &str, report: &PriorReport) {
    let Some(when) = report.when else {
        return; // The shares were given.
    };
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
            "likelihood-ratio statistic {:.2}, {freedom}; the larger p-value of this and of the test of means {p_value}",
            estimate.statistic
        )
    };
    if report.tests.iter().any(|estimate| !estimate.converged) {
        warn("the estimate of the priors has not converged; treat it with caution");
    }
    let unfair = report.is_disbelieved();
    let verdict = |applied: bool| match (applied, when) {
        (true, AdaptPrior::Tested) => "shifted",
        (true, AdaptPrior::Always) => "shifted, as asked",
        (false, _) if unfair => "rejected, probabilities left unchanged",
        (false, _) => "no shift found, probabilities left unchanged",
    };
    let shares = |class: usize, estimated: f64| {
        format!(
            "  {}: {:.4} in training, {estimated:.4} here",
            report.classes[class], report.old[class]
        )
    };
    match (report.task, report.tests.as_slice()) {
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
                    100.0 * PriorPlan::LEVEL
                ),
            };
            note(&format!("priors of {what}, each class separately{level}:"));
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
    report.warnings.iter().for_each(|warning| warn(warning));
    if unfair && when == AdaptPrior::Tested {
        note("--adapt-prior=always shifts anyway");
    } else if !unfair && !report.warnings.is_empty() {
        note("--prior CLASS=SHARE gives known shares");
    }
}
