//! `calibrant fit`

use calibrant::FitError;
use calibrant::corpus::{LabelNeed, ReadError, ReadOptions};
use calibrant::jobs::{
    FitJobError, FittedModel, SearchOutcome, SuspectList, SuspectSettings, find_suspects,
    fit_source, rules_without_class, search_source,
};
use calibrant::pipeline::{FitSettings, LeftOut, SearchSettings};
use calibrant::saved::is_same_file;

use crate::arguments::{FitArguments, TrainingArguments};
use crate::error::CliError;
use crate::fit_report;
use crate::input;
use crate::output::{check_target, note, warn};
use crate::progress::TerminalProgress;
use crate::rules::{self, RulesFile};
use crate::side_columns;
use crate::suspects;

pub(crate) fn run(arguments: &FitArguments) -> Result<(), CliError> {
    let training = &arguments.training;
    let (job, rules) = FitJob::new(training, !arguments.no_training_keys)?;
    check_target(&arguments.output, &training.file)?;
    if let Some(path) = &arguments.suspects {
        suspects::check_list("--suspects", path, &training.file)?;
        if is_same_file(path, &arguments.output) {
            return Err(CliError::new("the list and the model would be one file")
                .hint("give --suspects and --output different names"));
        }
    }
    let progress = TerminalProgress::default();
    let (fitted, list) = if arguments.search.search {
        let plan = search_settings(arguments);
        let source = input::source(&training.file);
        let found = search_source(&source, &job.options, &job.settings, &plan, &progress)?;
        (found, None)
    } else if arguments.suspects.is_some() {
        let (fitted, list) = job.find_suspects(&SuspectSettings::default(), &progress)?;
        (fitted, Some(list))
    } else {
        let source = input::source(&training.file);
        let fitted = fit_source(&source, &job.options, &job.settings, &progress)?;
        (fitted, None)
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
    if let (Some(path), Some(list)) = (&arguments.suspects, &list) {
        list.table().save(path)?;
        note(&suspects::summary(list));
    }
    fit_report::report(arguments, &fitted)
}

/// What is fitted to which file, checked.
pub(crate) struct FitJob {
    file: String,
    pub(crate) settings: FitSettings,
    pub(crate) options: ReadOptions,
}

impl FitJob {
    /// Checks the arguments; with the rules that they name.
    pub(crate) fn new(
        training: &TrainingArguments,
        training_keys: bool,
    ) -> Result<(Self, Option<RulesFile>), CliError> {
        let rules = training.features.rules.as_deref();
        let mut rules = rules.map(rules::read).transpose()?;
        let mut settings = FitSettings {
            training_keys,
            ..settings(training, rules.as_ref())?
        };
        if let Some(remembered) = &training.remembered {
            settings = remembered.under(&settings)?;
            if rules.is_none()
                && let (Some(text), Ok(Some(set))) = (settings.rules.clone(), remembered.rule_set())
            {
                rules = Some(RulesFile { text, set });
            }
        }
        settings.check().map_err(|error| match error {
            FitError::Rules(error) => rules::mistake(training.features.rules.as_deref(), &error),
            error => error.into(),
        })?;
        let fields = side_columns::fields(training, rules.as_ref().map(|rules| &rules.set))?;
        let job = Self {
            file: training.file.clone(),
            settings,
            options: training
                .labels
                .with(training.reading.options(fields, LabelNeed::Required)),
        };
        Ok((job, rules))
    }

    /// Fits, and lists the labels that are probably wrong. Standard input is kept in memory, since it is read twice.
    pub(crate) fn find_suspects(
        &self,
        wanted: &SuspectSettings,
        progress: &TerminalProgress,
    ) -> Result<(FittedModel, SuspectList), CliError> {
        let source = input::source_to_read_twice(&self.file)?;
        let found = find_suspects(&source, &self.options, &self.settings, wanted, progress)?;
        Ok(found)
    }
}

impl From<FitJobError> for CliError {
    fn from(error: FitJobError) -> Self {
        match error {
            FitJobError::Read(error @ ReadError::UnknownField { .. }) => CliError::from(error).hint(
                "name fields with --text, --label, --id, --weight, --group, --numeric, --categorical, --vector and --where",
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
        learners: arguments.training.learning.contenders(),
        weighting: arguments.training.features.asked_weighting(),
        l2_norm: arguments.training.features.l2_norm,
        time_budget: arguments.search.time_budget.unwrap_or(usual.time_budget),
        ..usual
    }
}

fn settings(
    arguments: &TrainingArguments,
    rules: Option<&RulesFile>,
) -> Result<FitSettings, CliError> {
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
        vector_factor: arguments.features.vector_factor,
        classifier,
        code: arguments.code.settings(),
        class_weights: learning.class_weights()?,
        calibrator: learning.calibrator,
        monotone: learning.monotone,
        multiclass: learning.multiclass,
        other_cost: learning.other_cost,
        folds: learning.folds.folds,
        classes: (!learning.classes.is_empty()).then(|| learning.classes.clone()),
        task: learning.task(),
        fold_labels: arguments.labels.fold_labels,
        allow_unique_labels: arguments.allow_unique_labels,
        seed: learning.folds.seed,
        training_keys: true,
    })
}
