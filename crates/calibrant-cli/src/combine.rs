//! `calibrant combine`, and combinations in `calibrant inspect`

use std::collections::BTreeMap;
use std::io::Write;

use calibrant::corpus::{Fields, LabelNeed, read_batches};
use calibrant::pipeline::{
    Acquaintance, CombineSettings, CombinedModel, Combiner, FORMAT_VERSION, FitSettings,
    HeldOutDocuments, HeldOutMeasures, Model, TrainingSummary,
};
use calibrant::saved::SavedKind;

use crate::arguments::{CombineArguments, InspectArguments};
use crate::compare::names;
use crate::error::CliError;
use crate::fit::{searched_for, warn_bad_rows, warn_known, write_copies, write_trials};
use crate::input;
use crate::output::{check_target, count_of, loss_unit, stdout, unknown_label_notes, warn};
use crate::progress::TerminalProgress;
use crate::table::{decimal, table};

#[derive(serde::Serialize)]
struct CombineReport<'a> {
    model: String,
    model_bytes: u64,
    documents: usize,
    /// How many of them are copies.
    copies: usize,
    /// How many groups were held out together; absent without --group.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<usize>,
    documents_left_out: usize,
    bad_rows: u64,
    unknown_labels: &'a BTreeMap<String, usize>,
    /// For each model, about how many of the documents it had learned from; null where there is no sign of any.
    learned_from: Vec<Option<usize>>,
    #[serde(flatten)]
    combination: Combination<'a>,
    /// Cross-validated: by weights that were found without the document.
    held_out: &'a HeldOutMeasures,
}

#[derive(serde::Serialize)]
struct Combination<'a> {
    members: Vec<Member<'a>>,
    intercepts: BTreeMap<&'a str, f64>,
}

#[derive(serde::Serialize)]
struct Member<'a> {
    name: &'a str,
    weight: f64,
    /// Of the member alone, on the same documents.
    log_loss: f64,
    settings: &'a FitSettings,
}

impl<'a> Combination<'a> {
    fn of(model: &'a CombinedModel) -> Self {
        let pool = model.pool();
        let members = model.members().iter().zip(pool.weights());
        let classes = model.summary().classes.iter().zip(pool.intercepts());
        Self {
            members: members
                .map(|(member, &weight)| Member {
                    name: member.name(),
                    weight,
                    log_loss: member.log_loss(),
                    settings: member.model().settings(),
                })
                .collect(),
            intercepts: classes
                .map(|(class, &intercept)| (class.label.as_str(), intercept))
                .collect(),
        }
    }
}

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
    let mut models = Vec::new();
    for (path, name) in arguments.models.iter().zip(names(&arguments.models)) {
        models.push((name, Model::open(path)?));
    }
    let combiner = Combiner::new(models)?;
    let fields = Fields {
        group: arguments.group.clone(),
        ..arguments.reading.fields(combiner.fields())
    };
    let options = arguments.reading.options(fields, LabelNeed::Required);
    let progress = TerminalProgress::default();
    let mut documents = HeldOutDocuments::default();
    let read = read_batches(
        &input::source(&arguments.data),
        &options,
        &progress,
        |documents| combiner.forecast(documents),
        |batch| combiner.add(batch, &mut documents),
    )?;
    warn_bad_rows(&read);
    let unknown_labels = documents.unknown_labels.clone();
    let fate = ["takes no part", "take no part"];
    for note in unknown_label_notes(&unknown_labels, documents.left_out, "models", fate) {
        warn(&note);
    }
    for (name, known) in names(&arguments.models).iter().zip(&documents.known) {
        refuse_known(arguments, name, known)?;
        if warn_known(&format!("`{name}`"), known).is_some() {
            warn(&format!(
                "`{name}` therefore gets too much weight, and the log losses of `{name}` and of the combination are too low"
            ));
        }
    }
    let known: Vec<Option<usize>> = documents
        .known
        .iter()
        .map(Acquaintance::learned_from)
        .collect();
    let settings = CombineSettings {
        folds: arguments.folds,
        seed: arguments.seed,
    };
    let model = combiner.combine(documents, &settings)?;
    model.save(&arguments.output)?;
    let model_bytes = std::fs::metadata(&arguments.output)?.len();
    let Some(combined) = model.as_combined() else {
        return Ok(());
    };
    let summary = model.summary();
    let mut out = stdout();
    if arguments.json {
        let report = CombineReport {
            model: arguments.output.display().to_string(),
            model_bytes,
            documents: summary.documents,
            copies: summary.copies,
            groups: summary.groups,
            documents_left_out: summary.documents_left_out,
            bad_rows: read.bad_row_count,
            unknown_labels: &unknown_labels,
            learned_from: known,
            combination: Combination::of(combined),
            held_out: &summary.held_out,
        };
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    writeln!(
        out,
        "{} models combined on {}, {} classes ({})",
        combined.members().len(),
        count_of(summary.documents, "document"),
        summary.classes.len(),
        summary.task,
    )?;
    write_copies(&mut out, summary)?;
    write_members(&mut out, combined)?;
    writeln!(
        out,
        "\nwrote {} ({:.1} MB)",
        arguments.output.display(),
        model_bytes as f64 / 1e6
    )?;
    Ok(out.flush()?)
}

/// Weights found on documents that a model has mostly learned from would be its own, whatever it is worth.
fn refuse_known(
    arguments: &CombineArguments,
    name: &str,
    known: &Acquaintance,
) -> Result<(), CliError> {
    match known.learned_from() {
        Some(count) if 2 * count > known.documents && !arguments.even_if_learned_from => {
            Err(CliError::new(format!(
                "`{name}` learned from about {count} of the {} documents of {}; weights need documents that no model has \
                 learned from",
                known.documents, arguments.data
            ))
            .hint("keep some documents back from every fit; --even-if-learned-from goes on all the same"))
        }
        _ => Ok(()),
    }
}

/// Weights and log losses, the combination's beside those of its models.
pub(crate) fn write_members(out: &mut impl Write, model: &CombinedModel) -> Result<(), CliError> {
    let held_out = &model.summary().held_out;
    let loss = format!("log loss (nats a {})", loss_unit(held_out.log_loss_over));
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
        (false, Some(_)) => "by documents without a say in the choice".to_owned(),
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

#[derive(serde::Serialize)]
struct InspectReport<'a> {
    kind: SavedKind,
    format_version: u32,
    file_bytes: u64,
    fields: &'a Fields,
    summary: &'a TrainingSummary,
    #[serde(flatten)]
    combination: Combination<'a>,
}

/// Shows a combination.
pub(crate) fn inspect_combination(
    arguments: &InspectArguments,
    model: &CombinedModel,
    file_bytes: u64,
) -> Result<(), CliError> {
    if arguments.terms.is_some() {
        return Err(CliError::new("a combination has no terms of its own").hint(
            "leave out --terms, inspect its models, or see one document with `calibrant explain`",
        ));
    }
    let mut out = stdout();
    if arguments.json {
        let report = InspectReport {
            kind: SavedKind::Combination,
            format_version: FORMAT_VERSION,
            file_bytes,
            fields: model.fields(),
            summary: model.summary(),
            combination: Combination::of(model),
        };
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    let summary = model.summary();
    writeln!(
        out,
        "{} (combination of {} models, {:.1} MB, format {FORMAT_VERSION})",
        arguments.model.display(),
        model.members().len(),
        file_bytes as f64 / 1e6
    )?;
    let mut rows = table(&["", ""], 2);
    let mut add = |name: &str, value: String| {
        rows.add_row(vec![name.to_owned(), value]);
    };
    add(
        "combined by",
        format!("calibrant {}", summary.calibrant_version),
    );
    add("fields", serde_json::to_string(model.fields())?);
    add("documents", summary.documents.to_string());
    add("labels", summary.task.to_string());
    writeln!(out, "{}", rows.to_string().trim_start())?;
    write_members(&mut out, model)?;
    let mut rows = table(&["class", "documents", "intercept"], 1);
    for (class, intercept) in summary.classes.iter().zip(model.pool().intercepts()) {
        rows.add_row(vec![
            class.label.clone(),
            class.positives.to_string(),
            format!("{intercept:+.4}"),
        ]);
    }
    writeln!(out, "\n{rows}")?;
    if !summary.search.is_empty() {
        writeln!(out, "\nchosen (*) among")?;
        write_trials(&mut out, &summary.search, None)?;
        writeln!(out, "\n{}", searched_for(summary))?;
    }
    Ok(out.flush()?)
}
