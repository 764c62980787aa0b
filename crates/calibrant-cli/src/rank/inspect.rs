//! `calibrant inspect` of a ranking model.

use std::io::Write;
use std::path::Path;

use calibrant::jobs::RankingInspection;
use calibrant::ranking::learning::FeatureCurve;

use super::fit::{relevance_line, write_settings_tried, write_trials};
use crate::error::CliError;
use crate::table::{Facts, decimal, table};

/// Shows a ranking model.
pub(crate) fn write(
    out: &mut impl Write,
    path: &Path,
    inspection: &RankingInspection<'_>,
) -> Result<(), CliError> {
    let (model, summary) = (inspection.model, inspection.summary);
    writeln!(
        out,
        "{} (ranking model, {} bytes, format {})",
        path.display(),
        inspection.file_bytes,
        inspection.format_version
    )?;
    let mut facts = Facts::default();
    let mut add = |name: &str, value: String| facts.add(name, value);
    add(
        "fitted by",
        format!("calibrant {}", summary.calibrant_version),
    );
    add("loss", model.settings().loss.to_string());
    add("C", summary.chosen_trial().c.to_string());
    add(
        "scale",
        serde_json::to_string(&model.features().settings().scale)?,
    );
    add(
        "bins per column",
        model.settings().features.bins.to_string(),
    );
    add("grades", model.settings().grades().to_string());
    add(
        "queries",
        format!("{} ({} left out)", summary.queries, summary.skipped_queries),
    );
    add(
        "documents",
        format!(
            "{} ({} relevant)",
            summary.documents, summary.relevant_documents
        ),
    );
    add("columns", model.features().columns().len().to_string());
    add("features", model.features().dimension().to_string());
    add("training MAP", decimal(summary.training_map));
    if model.settings().loss.is_accuracy() {
        add("bias", format!("{:+.4}", model.bias()));
    }
    writeln!(out, "{facts}")?;
    if let Some(relevance) = model.relevance() {
        writeln!(out, "{}", relevance_line(relevance))?;
    }
    writeln!(out, "\nTrials, with the chosen one marked *")?;
    write_settings_tried(out, model)?;
    write_trials(out, summary)?;
    write_curves(out, &inspection.functions)
}

fn write_curves(out: &mut impl Write, curves: &[FeatureCurve]) -> Result<(), CliError> {
    let plain = curves.iter().all(|curve| curve.slope.is_some());
    if plain {
        let mut rows = table(&["column", "weight"], 1);
        for curve in curves {
            let weight = format!("{:+.5}", curve.slope.unwrap_or(0.0));
            rows.add_row(vec![curve.feature.clone(), weight]);
        }
        writeln!(out, "\n{rows}")?;
        return Ok(());
    }
    writeln!(
        out,
        "\ncontribution to the score, from the lowest bin to the highest"
    )?;
    let mut rows = table(
        &[
            "column",
            "curve",
            "least",
            "greatest",
            "first cut",
            "last cut",
        ],
        2,
    );
    for curve in curves {
        let levels: Vec<f64> = [0.0]
            .into_iter()
            .chain(curve.steps.iter().map(|step| step.1))
            .collect();
        let low = levels.iter().copied().fold(0.0, f64::min);
        let high = levels.iter().copied().fold(0.0, f64::max);
        let cut = |step: Option<&(f32, f64)>| {
            step.map_or_else(|| "-".to_owned(), |step| step.0.to_string())
        };
        rows.add_row(vec![
            curve.feature.clone(),
            drawn(&levels, low, high),
            format!("{low:+.4}"),
            format!("{high:+.4}"),
            cut(curve.steps.first()),
            cut(curve.steps.last()),
        ]);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}

/// At most 25 levels as bars of eight heights.
fn drawn(levels: &[f64], low: f64, high: f64) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let width = levels.len().min(25);
    (0..width)
        .map(|place| {
            let level = levels[place * (levels.len() - 1) / (width - 1).max(1)];
            let part = match high > low {
                true => (level - low) / (high - low),
                false => 0.0,
            };
            BARS[((part * 8.0) as usize).min(7)]
        })
        .collect()
}
