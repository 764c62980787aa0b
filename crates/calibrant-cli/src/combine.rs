//! `calibrant combine`

use std::io::Write;

use calibrant::jobs::{
    CombineJobError, CombineReport, CombinedModels, combine_source, system_names,
};
use calibrant::pipeline::{CombineSettings, CombinedModel, Combiner, Model};

use crate::arguments::{CombineArguments, FoldArguments};
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::labels::note_unlabelled;
use crate::output::{
    SavedReport, check_distinct, check_target, count_of, loss_unit, print_json, stdout,
    unknown_label_notes, warn, wrote,
};
use crate::progress::TerminalProgress;
use crate::table::{decimal, table};
use crate::training::{warn_known, write_copies};

pub(crate) fn run(arguments: &CombineArguments) -> Result<(), CliError> {
    check_target(&arguments.output, &arguments.data)?;
    for path in &arguments.models {
        if let (Ok(target), Ok(model)) = (arguments.output.canonicalize(), path.canonicalize())
            && target == model
        {
            return Err(CliError::new(format!(
                "`{}` holds one of the models and would be overwritten",
                path.display()
            ))
            .hint("choose another --output"));
        }
    }
    check_distinct(&arguments.models)?;
    let mut models = Vec::new();
    for (path, name) in arguments.models.iter().zip(system_names(&arguments.models)) {
        models.push((name, Model::open(path)?));
    }
    let combiner = Combiner::new(models)?;
    let held_out = &arguments.held_out;
    let options = arguments.empty.with(held_out.options(combiner.fields()));
    let FoldArguments { folds, seed } = held_out.folds;
    let settings = CombineSettings { folds, seed };
    let combined = combine_source(
        combiner,
        &input::source(&arguments.data),
        &options,
        &settings,
        held_out.even_if_learned_from,
        &TerminalProgress::default(),
    )?;
    warn_of(arguments, &combined);
    combined.model.save(&arguments.output)?;
    report(arguments, &combined)
}

impl From<CombineJobError> for CliError {
    fn from(error: CombineJobError) -> Self {
        match error {
            CombineJobError::Read(error) => error.into(),
            CombineJobError::Combine(error) => error.into(),
            error => CliError::new(error.to_string()).hint(
                "keep some documents back from every fit; --even-if-learned-from continues anyway",
            ),
        }
    }
}

/// What to beware of.
fn warn_of(arguments: &CombineArguments, combined: &CombinedModels) {
    warn_bad_rows(&combined.read);
    note_unlabelled(&combined.read, combined.model.task());
    let fate = ["takes no part", "take no part"];
    let (unknown, left_out) = (&combined.unknown_labels, combined.left_out);
    for note in unknown_label_notes(unknown, left_out, "models", fate) {
        warn(&note);
    }
    for (name, known) in system_names(&arguments.models).iter().zip(&combined.known) {
        if warn_known(&format!("`{name}`"), known).is_some() {
            warn(&format!(
                "`{name}` therefore gets too much weight, and the log losses of `{name}` and of the combination are too low"
            ));
        }
    }
}

fn report(arguments: &CombineArguments, combined: &CombinedModels) -> Result<(), CliError> {
    let summary = combined.model.summary();
    if arguments.json {
        return print_json(&SavedReport::new(
            &arguments.output,
            CombineReport::of(combined),
        )?);
    }
    let mut out = stdout();
    writeln!(
        out,
        "{} models combined on {}, {} classes ({})",
        arguments.models.len(),
        count_of(summary.documents, "document"),
        summary.classes.len(),
        summary.task,
    )?;
    write_copies(&mut out, summary)?;
    if let Some(model) = combined.model.as_combined() {
        write_members(&mut out, model)?;
    }
    writeln!(out, "\n{}", wrote(&arguments.output)?)?;
    Ok(out.flush()?)
}

/// Weights and log losses, the combination's beside those of its models.
pub(crate) fn write_members(out: &mut impl Write, model: &CombinedModel) -> Result<(), CliError> {
    let held_out = &model.summary().held_out;
    let loss = format!("log loss (nats per {})", loss_unit(held_out.log_loss_over));
    let mut rows = table(&["model", "learner", "weight", &loss], 2);
    for (member, weight) in model.members().iter().zip(model.pool().weights()) {
        rows.add_row(vec![
            member.name().to_owned(),
            member.model().settings().classifier.name().to_owned(),
            decimal(*weight),
            format!("{:.5}", member.log_loss()),
        ]);
    }
    let summary = model.summary();
    let how = match (summary.search.is_empty(), summary.search_gain) {
        (true, _) => format!("{}-fold cross-validated", summary.folds),
        // The figure of a search is that of documents for which others chose: see `searched_for`.
        (false, Some(_)) => "on documents that took no part in the choice".to_owned(),
        (false, None) => "held out".to_owned(),
    };
    rows.add_row(vec![
        "combination".to_owned(),
        how,
        String::new(),
        format!("{:.5}", held_out.log_loss),
    ]);
    writeln!(out, "\n{rows}")?;
    Ok(())
}
