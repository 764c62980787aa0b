//! `calibrant inspect`

use std::io::Write;
use std::path::Path;

use calibrant::index::SearchIndex;
use calibrant::jobs::{
    CalibratorInspection, CombinationInspection, IndexInspection, InspectError, Inspection,
    ModelInspection, open_any,
};
use calibrant::pipeline::{SingleModel, TermsError, TrainingSummary};
use calibrant::saved::SavedKind;
use calibrant::scorers::{LengthDamping, SavedScorer};

use crate::arguments::InspectArguments;
use crate::calibrate::write_origin;
use crate::cascade::write_policy;
use crate::combine::write_members;
use crate::error::CliError;
use crate::index::write_analyses;
use crate::output::{file_size, print_json, stdout};
use crate::recalibrate::write_recalibration;
use crate::table::{Facts, decimal, table};
use crate::training::{
    describe_code, searched_for, write_classes, write_costs, write_multiclass, write_trials,
    write_weightings,
};

pub(crate) fn run(arguments: &InspectArguments) -> Result<(), CliError> {
    let (path, terms) = (&arguments.model, arguments.terms);
    match open_any(path) {
        Err(error) if error.found_kind() == Some(SavedKind::Index) && path.is_dir() => {
            // Compares all of its files with their checksums.
            let index = SearchIndex::open(path)?;
            let inspection = Inspection::of_index(&index, index.file_bytes()?, terms);
            show(arguments, &inspection.map_err(failure)?)
        }
        saved => {
            let (saved, bytes) = (saved?, std::fs::metadata(path)?.len());
            let inspection = Inspection::of(&saved, bytes, terms);
            show(arguments, &inspection.map_err(failure)?)
        }
    }
}

fn failure(error: InspectError) -> CliError {
    let hint = match &error {
        InspectError::NoTerms {
            kind: SavedKind::Combination,
        } => "leave out --terms, inspect its models, or see one document with `calibrant explain`",
        InspectError::Terms(TermsError::NoWeights { .. }) => {
            "leave out --terms, or see one document with `calibrant explain`"
        }
        _ => "leave out --terms",
    };
    CliError::new(error.to_string()).hint(hint)
}

/// As JSON, or as text by the kind.
fn show(arguments: &InspectArguments, inspection: &Inspection<'_>) -> Result<(), CliError> {
    if arguments.json {
        return print_json(inspection);
    }
    let mut out = stdout();
    let path = &arguments.model;
    match inspection {
        Inspection::Model(model) => write_model(&mut out, path, model)?,
        Inspection::Combination(combination) => write_combination(&mut out, path, combination)?,
        Inspection::Calibrator(calibrator) => write_calibrator(&mut out, path, calibrator)?,
        Inspection::Ranking(ranking) => crate::rank::inspect::write(&mut out, path, ranking)?,
        Inspection::Index(index) => write_index(&mut out, path, index)?,
        Inspection::Policy(policy) => write_policy(&mut out, policy.policy)?,
        _ => {
            return Err(
                CliError::new("this kind of file cannot be shown as text").hint("add --json")
            );
        }
    }
    Ok(out.flush()?)
}

fn write_model(
    out: &mut impl Write,
    path: &Path,
    inspection: &ModelInspection<'_>,
) -> Result<(), CliError> {
    let (settings, summary) = (inspection.settings, inspection.summary);
    writeln!(
        out,
        "{} ({}, format {})",
        path.display(),
        file_size(inspection.file_bytes),
        inspection.format_version
    )?;
    let mut facts = Facts::default();
    facts.add(
        "fitted by",
        format!("calibrant {}", summary.calibrant_version),
    );
    facts.add("classifier", serde_json::to_string(&settings.classifier)?);
    add_scorer(&mut facts, inspection.model);
    facts.add("analyzer", serde_json::to_string(&settings.analyzer)?);
    facts.add(
        "weighting",
        serde_json::to_string(&settings.effective_weighting())?,
    );
    facts.add("fields", serde_json::to_string(inspection.fields)?);
    facts.add("documents", summary.documents.to_string());
    facts.add("features", summary.features.to_string());
    facts.add("labels", summary.task.to_string());
    facts.add("seed", settings.seed.to_string());
    // After a search it is that of documents for which others chose.
    let loss = match summary.search.is_empty() {
        true => "held-out log loss",
        false => "expected log loss",
    };
    facts.add(loss, decimal(summary.held_out.log_loss));
    writeln!(out, "{facts}")?;
    write_weightings(out, summary)?;
    write_costs(out, summary)?;
    write_multiclass(out, summary)?;
    write_classes(out, summary)?;
    write_recalibration(out, inspection.recalibration, summary)?;
    write_search(out, summary)?;
    for (class, terms) in inspection.terms.iter().flatten() {
        let terms: Vec<String> = terms
            .iter()
            .map(|(term, weight)| format!("{term} {weight:+.2}"))
            .collect();
        writeln!(out, "\n{class}: {}", terms.join(", "))?;
    }
    Ok(())
}

/// What some scorers have beside their settings.
fn add_scorer(facts: &mut Facts, model: &SingleModel) {
    if let SavedScorer::OutputCodes(coded) = model.scorer() {
        facts.add("code", describe_code(coded.decoder().code(), model));
    }
    if let SavedScorer::Neighbours(scorer) = model.scorer() {
        facts.add("neighbours that vote", scorer.k().to_string());
    }
    let linear = model.scorer().as_linear();
    if let Some(damping) = linear.and_then(|scorer| scorer.damping()) {
        let LengthDamping {
            exponent,
            usual,
            offset,
            least,
        } = damping;
        facts.add(
            "terms by the document's length",
            format!(
                "× ({:.1} / (length + {offset:.1}))^{exponent}, length at least {least:.1}",
                usual + offset
            ),
        );
    }
}

fn write_search(out: &mut impl Write, summary: &TrainingSummary) -> Result<(), CliError> {
    if !summary.search.is_empty() {
        writeln!(out, "\nchosen (*) among")?;
        write_trials(out, &summary.search, None)?;
        writeln!(out, "\n{}", searched_for(summary))?;
    }
    Ok(())
}

fn write_combination(
    out: &mut impl Write,
    path: &Path,
    inspection: &CombinationInspection<'_>,
) -> Result<(), CliError> {
    let (model, summary) = (inspection.model, inspection.summary);
    writeln!(
        out,
        "{} (combination of {} models, {}, format {})",
        path.display(),
        model.members().len(),
        file_size(inspection.file_bytes),
        inspection.format_version
    )?;
    let mut facts = Facts::default();
    facts.add(
        "combined by",
        format!("calibrant {}", summary.calibrant_version),
    );
    facts.add("fields", serde_json::to_string(inspection.fields)?);
    facts.add("documents", summary.documents.to_string());
    facts.add("labels", summary.task.to_string());
    writeln!(out, "{facts}")?;
    write_members(out, model)?;
    let mut rows = table(&["class", "documents", "intercept"], 1);
    for (class, intercept) in summary.classes.iter().zip(model.pool().intercepts()) {
        rows.add_row(vec![
            class.label.clone(),
            class.positives.to_string(),
            format!("{intercept:+.4}"),
        ]);
    }
    writeln!(out, "\n{rows}")?;
    write_recalibration(out, inspection.recalibration, summary)?;
    write_search(out, summary)
}

fn write_calibrator(
    out: &mut impl Write,
    path: &Path,
    inspection: &CalibratorInspection<'_>,
) -> Result<(), CliError> {
    let calibrator = inspection.calibrator;
    let summary = calibrator.summary();
    writeln!(
        out,
        "{} (calibrator of scores, {} bytes, format {})",
        path.display(),
        inspection.file_bytes,
        inspection.format_version
    )?;
    write_origin(out, calibrator)?;
    for note in &summary.notes {
        writeln!(out, "\nnote: {}", note.sentence())?;
    }
    let mut facts = Facts::default();
    facts.add(
        "fitted by",
        format!("calibrant {}", summary.calibrant_version),
    );
    facts.add("classes", calibrator.classes().join(", "));
    facts.add("fields", serde_json::to_string(calibrator.fields())?);
    facts.add("scale", serde_json::to_string(&calibrator.scale())?);
    let curve = serde_json::to_string(calibrator.curve())?;
    facts.add("curve", shortened(&curve));
    let measures = &summary.cross_validated;
    facts.add(
        "cross-validated",
        format!(
            "log loss {}, Brier {}, ECE {}",
            decimal(measures.log_loss),
            decimal(measures.brier),
            decimal(measures.ece)
        ),
    );
    writeln!(out, "{facts}")?;
    Ok(())
}

fn write_index(
    out: &mut impl Write,
    path: &Path,
    inspection: &IndexInspection<'_>,
) -> Result<(), CliError> {
    writeln!(
        out,
        "{} (calibrant index of {} documents, {} bytes, format {})",
        path.display(),
        inspection.documents,
        inspection.file_bytes,
        inspection.format_version
    )?;
    let settings = serde_json::to_string(inspection.settings)?;
    writeln!(out, "settings: {settings}")?;
    write_analyses(out, inspection.analyses)
}

/// Curves may hold thousands of numbers; --json shows them all.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((end, _)) => format!(
            "{}… ({} characters; --json shows all)",
            &text[..end],
            text.len()
        ),
        None => text.to_owned(),
    }
}
