//! `calibrant inspect`

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use calibrant::calibration::{SavedCalibrator, SavedMulticlassCalibrator};
use calibrant::corpus::Fields;
use calibrant::jobs::{Saved, open_any};
use calibrant::pipeline::{
    CALIBRATOR_VERSION, FORMAT_VERSION, FitSettings, Model, ScoreCalibrator, SingleModel,
    TrainingSummary,
};
use calibrant::saved::SavedKind;
use calibrant::scorers::{
    ClassScorer, LengthDamping, Link, SavedScorer, ScorerDescription, StumpScorer,
};

use crate::arguments::InspectArguments;
use crate::calibrate::write_origin;
use crate::combine::inspect_combination;
use crate::error::CliError;
use crate::fit::{
    describe_code, searched_for, write_classes, write_multiclass, write_prices, write_trials,
    write_weightings,
};
use crate::output::stdout;
use crate::table::{decimal, table};

#[derive(serde::Serialize)]
struct InspectReport<'a> {
    kind: SavedKind,
    format_version: u32,
    file_bytes: u64,
    settings: &'a FitSettings,
    scorer: ScorerDescription,
    fields: &'a Fields,
    summary: &'a TrainingSummary,
    calibrators: &'a [SavedCalibrator],
    #[serde(skip_serializing_if = "Option::is_none")]
    class_calibrator: Option<&'a SavedMulticlassCalibrator>,
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<BTreeMap<String, Vec<(String, f64)>>>,
}

pub(crate) fn run(arguments: &InspectArguments) -> Result<(), CliError> {
    let path = &arguments.model;
    let saved = match open_any(path) {
        Err(error) if error.found_kind() == Some(SavedKind::Index) && path.is_dir() => {
            return crate::index::inspect(arguments);
        }
        saved => saved?,
    };
    let model = match saved {
        Saved::Model(model) => model,
        Saved::Ranking(model) => return crate::rank::inspect::run(arguments, path, &model),
        Saved::Calibrator(found) => return calibrator(arguments, path, &found),
        _ => return Err(CliError::new("this kind of file cannot be shown")),
    };
    let file_bytes = std::fs::metadata(&arguments.model)?.len();
    let model = match &model {
        Model::Single(model) => model,
        Model::Combined(model) => return inspect_combination(arguments, model, file_bytes),
    };
    let terms = arguments
        .terms
        .map(|count| strongest_terms(model, count))
        .transpose()?;
    let mut out = stdout();
    if arguments.json {
        let report = InspectReport {
            kind: SavedKind::Model,
            format_version: FORMAT_VERSION,
            file_bytes,
            settings: model.settings(),
            scorer: model.scorer().description(),
            fields: model.fields(),
            summary: model.summary(),
            calibrators: model.calibrators(),
            class_calibrator: model.class_calibrator(),
            terms,
        };
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    let summary = model.summary();
    let settings = model.settings();
    writeln!(
        out,
        "{} ({:.1} MB, format {FORMAT_VERSION})",
        arguments.model.display(),
        file_bytes as f64 / 1e6
    )?;
    let mut rows = table(&["", ""], 2);
    let mut add = |name: &str, value: String| {
        rows.add_row(vec![name.to_owned(), value]);
    };
    add(
        "fitted by",
        format!("calibrant {}", summary.calibrant_version),
    );
    add("classifier", serde_json::to_string(&settings.classifier)?);
    if let SavedScorer::OutputCodes(coded) = model.scorer() {
        add("code", describe_code(coded.decoder().code(), model));
    }
    if let SavedScorer::Neighbours(scorer) = model.scorer() {
        add("neighbours that vote", scorer.k().to_string());
    }
    if let Some(damping) = model
        .scorer()
        .as_linear()
        .and_then(|scorer| scorer.damping())
    {
        let LengthDamping {
            exponent,
            usual,
            offset,
            least,
        } = damping;
        add(
            "terms by the document's length",
            format!(
                "× ({:.1} / (length + {offset:.1}))^{exponent}, length at least {least:.1}",
                usual + offset
            ),
        );
    }
    add("analyzer", serde_json::to_string(&settings.analyzer)?);
    add(
        "weighting",
        serde_json::to_string(&settings.effective_weighting())?,
    );
    add("fields", serde_json::to_string(model.fields())?);
    add("documents", summary.documents.to_string());
    add("features", summary.features.to_string());
    add("labels", summary.task.to_string());
    add("seed", settings.seed.to_string());
    // After a search it is that of documents for which others chose.
    let loss = match summary.search.is_empty() {
        true => "held-out log loss",
        false => "expected log loss",
    };
    add(loss, decimal(summary.held_out.log_loss));
    writeln!(out, "{}", rows.to_string().trim_start())?;
    write_weightings(&mut out, summary)?;
    write_prices(&mut out, summary)?;
    write_multiclass(&mut out, summary)?;
    write_classes(&mut out, summary)?;
    if !summary.search.is_empty() {
        writeln!(out, "\nchosen (*) among")?;
        write_trials(&mut out, &summary.search, None)?;
        writeln!(out, "\n{}", searched_for(summary))?;
    }
    for (class, terms) in terms.iter().flatten() {
        let terms: Vec<String> = terms
            .iter()
            .map(|(term, weight)| format!("{term} {weight:+.2}"))
            .collect();
        writeln!(out, "\n{class}: {}", terms.join(", "))?;
    }
    Ok(out.flush()?)
}

#[derive(serde::Serialize)]
struct CalibratorReport<'a> {
    kind: SavedKind,
    format_version: u32,
    file_bytes: u64,
    #[serde(flatten)]
    calibrator: &'a ScoreCalibrator,
}

/// Shows a calibrator of scores.
fn calibrator(
    arguments: &InspectArguments,
    path: &Path,
    calibrator: &ScoreCalibrator,
) -> Result<(), CliError> {
    if arguments.terms.is_some() {
        return Err(
            CliError::new("a calibrator of scores knows no terms").hint("leave out --terms")
        );
    }
    let file_bytes = std::fs::metadata(path)?.len();
    let mut out = stdout();
    if arguments.json {
        let report = CalibratorReport {
            kind: SavedKind::Calibrator,
            format_version: CALIBRATOR_VERSION,
            file_bytes,
            calibrator,
        };
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    let summary = calibrator.summary();
    writeln!(
        out,
        "{} (calibrator of scores, {file_bytes} bytes, format {CALIBRATOR_VERSION})",
        path.display()
    )?;
    write_origin(&mut out, calibrator)?;
    for note in &summary.notes {
        writeln!(out, "\nnote: {}", note.sentence())?;
    }
    let mut rows = table(&["", ""], 2);
    let mut add = |name: &str, value: String| {
        rows.add_row(vec![name.to_owned(), value]);
    };
    add(
        "fitted by",
        format!("calibrant {}", summary.calibrant_version),
    );
    add("classes", calibrator.classes().join(", "));
    add("fields", serde_json::to_string(calibrator.fields())?);
    add("scale", serde_json::to_string(&calibrator.scale())?);
    let curve = serde_json::to_string(calibrator.curve())?;
    add("curve", shortened(&curve));
    add(
        "cross-validated",
        format!(
            "log loss {}, Brier {}, ECE {}",
            decimal(summary.cross_validated.log_loss),
            decimal(summary.cross_validated.brier),
            decimal(summary.cross_validated.ece)
        ),
    );
    writeln!(out, "{}", rows.to_string().trim_start())?;
    Ok(out.flush()?)
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

/// For each class the terms with the largest weights (for joint models: above the classes' mean).
fn strongest_terms(
    model: &SingleModel,
    count: usize,
) -> Result<BTreeMap<String, Vec<(String, f64)>>, CliError> {
    let extractor = model.extractor();
    if extractor.vocabulary().is_none() {
        return Err(
            CliError::new("a model with hashed features does not know its terms")
                .hint("leave out --terms"),
        );
    }
    let features = extractor.feature_names();
    if let SavedScorer::Stumps(scorer) = model.scorer() {
        return Ok(strongest_steps(model, scorer, &features, count));
    }
    let Some(scorer) = model.scorer().as_linear() else {
        let what = match model.settings().code {
            Some(_) => "an output code",
            None => model.settings().classifier.name(),
        };
        return Err(CliError::new(format!("{what} has no weights to show"))
            .hint("leave out --terms, or see one document with `calibrant explain`"));
    };
    let outputs = scorer.output_count();
    let names: Vec<&str> = model.class_names().collect();
    let strongest = |class: usize| {
        let (output, sign) = match scorer.link() {
            Link::Mirror => (0, if class == 0 { -1.0 } else { 1.0 }),
            _ => (class, 1.0),
        };
        let weight = |feature: usize| {
            let mean = match scorer.link() {
                Link::AgainstRest => {
                    (0..outputs)
                        .map(|other| scorer.weight(feature, other))
                        .sum::<f64>()
                        / outputs as f64
                }
                _ => 0.0,
            };
            sign * (scorer.weight(feature, output) - mean)
        };
        let mut all: Vec<(usize, f64)> = (0..features.len())
            .map(|feature| (feature, weight(feature)))
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.into_iter()
            .take(count)
            .map(|(feature, weight)| (features[feature].clone().unwrap_or_default(), weight))
            .collect()
    };
    Ok(names
        .iter()
        .enumerate()
        .map(|(class, name)| ((*name).to_owned(), strongest(class)))
        .collect())
}

/// For each class the terms whose stumps can add most to its score.
fn strongest_steps(
    model: &SingleModel,
    scorer: &StumpScorer,
    features: &[Option<String>],
    count: usize,
) -> BTreeMap<String, Vec<(String, f64)>> {
    let strongest = |class: usize| {
        let (output, sign) = match scorer.link() {
            Link::Mirror => (0, if class == 0 { -1.0 } else { 1.0 }),
            _ => (class, 1.0),
        };
        let mut all = scorer.farthest_steps(output);
        all.sort_by(|a, b| (sign * b.1).total_cmp(&(sign * a.1)));
        all.into_iter()
            .take(count)
            .map(|(feature, step)| {
                let name = features.get(feature as usize).cloned().flatten();
                (name.unwrap_or_default(), sign * step)
            })
            .collect()
    };
    (model.class_names().enumerate())
        .map(|(class, name)| (name.to_owned(), strongest(class)))
        .collect()
}
