//! `calibrant fit`

use calibrant::FitError;
use calibrant::corpus::{LabelNeed, ReadError};
use calibrant::jobs::{FitJobError, SearchOutcome, fit_source, rules_without_class, search_source};
use calibrant::pipeline::{FitSettings, LeftOut, SearchSettings};

use crate::arguments::FitArguments;
use crate::error::CliError;
use crate::fit_report;
use crate::input;
use crate::output::{check_target, note, warn};
use crate::progress::TerminalProgress;
use crate::rules::{self, RulesFile};
use crate::side_columns;

pub(crate) fn run(arguments: &FitArguments) -> Result<(), CliError> {
    let rules = arguments.features.rules.as_deref();
    let rules = rules.map(rules::read).transpose()?;
    let settings = settings(arguments, rules.as_ref())?;
    settings.check().map_err(|error| match error {
        FitError::Rules(error) => rules::mistake(arguments.features.rules.as_deref(), &error),
        error => error.into(),
    })?;
    check_target(&arguments.output, &arguments.file)?;
    let fields = side_columns::fields(arguments, rules.as_ref().map(|rules| &rules.set))?;
    let options = arguments.reading.options(fields, LabelNeed::Required);
    let options = arguments.labels.with(options);
    let progress = TerminalProgress::default();
    let source = input::source(&arguments.file);
    let fitted = if arguments.search.search {
        let plan = search_settings(arguments);
        search_source(&source, &options, &settings, &plan, &progress)?
    } else {
        fit_source(&source, &options, &settings, &progress)?
    };
    if let Some(outcome) = &fitted.search {
        note_untried(outcome);
    }
    if let Some(rules) = &rules {
        let idle = rules_without_class(&rules.set, &fitted.model);
        if !idle.is_empty() {
            warn(&format!(
                "rules for categories that are not a class: {}",
                idle.join(", ")
            ));
        }
    }
    fitted.model.save(&arguments.output)?;
    fit_report::report(arguments, &fitted)
}

impl From<FitJobError> for CliError {
    fn from(error: FitJobError) -> Self {
        match error {
            FitJobError::Read(error @ ReadError::UnknownField { .. }) => CliError::from(error).hint(
                "name fields with --text, --label, --id, --weight, --group, --numeric, --categorical and --where",
            ),
            FitJobError::Read(error) => error.into(),
            FitJobError::Fit(error) => error.into(),
            error => CliError::new(error.to_string()),
        }
    }
}

/// What a search had no time or no memory for.
fn note_untried(found: &SearchOutcome) {
    if found.out_of_time {
        note(
            "the time budget ran out before all trials were done; --time-budget SECONDS gives more",
        );
    }
    for left_out in &found.left_out {
        let because = match left_out.because {
            LeftOut::NoTime => {
                "counting them took too much of the time budget; --time-budget SECONDS gives more"
            }
            _ => "there are too many of them in these documents",
        };
        note(&format!("{} were not tried: {because}", left_out.terms));
    }
}

/// What was given is kept, all else may be tried.
fn search_settings(arguments: &FitArguments) -> SearchSettings {
    let usual = SearchSettings::default();
    SearchSettings {
        learners: arguments.learning.contenders(),
        weighting: arguments.features.asked_weighting(),
        l2_norm: arguments.features.l2_norm,
        time_budget: arguments.search.time_budget.unwrap_or(usual.time_budget),
        ..usual
    }
}

fn settings(arguments: &FitArguments, rules: Option<&RulesFile>) -> Result<FitSettings, CliError> {
    let learning = &arguments.learning;
    arguments.features.check()?;
    let classifier = learning.classifier();
    Ok(FitSettings {
        analyzer: arguments.features.analyzer(),
        limits: arguments.features.limits(),
        hash_bits: arguments.features.hash_bits,
        weighting: arguments.features.weighting(classifier.usual_weighting()),
        selection: arguments.features.selection()?,
        rules: rules.map(|rules| rules.text.clone()),
        side_factor: arguments.features.side_factor,
        classifier,
        code: arguments.code.settings(),
        class_weights: learning.class_weights()?,
        calibrator: learning.calibrator,
        monotone: learning.monotone,
        multiclass: learning.multiclass,
        other_cost: learning.other_cost,
        folds: learning.folds,
        classes: (!learning.classes.is_empty()).then(|| learning.classes.clone()),
        task: learning.task(),
        fold_labels: arguments.labels.fold_labels,
        allow_unique_labels: arguments.allow_unique_labels,
        seed: learning.seed,
        training_keys: !arguments.no_training_keys,
    })
}
