//! `calibrant inspect` of a ranking model.

use std::io::Write;
use std::path::Path;

use calibrant::ranking::Relevance;
use calibrant::ranking::learning::{FunctionCurve, RankModel, RankSettings, RankSummary};
use calibrant::saved::SavedKind;

use super::fit::{grades, relevance_line, write_settings_tried, write_trials};
use crate::arguments::InspectArguments;
use crate::error::CliError;
use crate::output::stdout;
use crate::table::{decimal, table};

const RANKING_VERSION: u32 = SavedKind::Ranking.version();

#[derive(serde::Serialize)]
struct RankReport<'a> {
    kind: SavedKind,
    format_version: u32,
    file_bytes: u64,
    settings: &'a RankSettings,
    summary: &'a RankSummary,
    bias: f64,
    functions: &'a [FunctionCurve],
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<&'a Relevance>,
}

/// Shows a ranking model.
pub(crate) fn run(
    arguments: &InspectArguments,
    path: &Path,
    model: &RankModel,
) -> Result<(), CliError> {
    if arguments.terms.is_some() {
        return Err(
            CliError::new("a ranking model knows columns, not terms").hint("leave out --terms")
        );
    }
    let file_bytes = std::fs::metadata(path)?.len();
    let curves = model.curves();
    let mut out = stdout();
    if arguments.json {
        let report = RankReport {
            kind: SavedKind::Ranking,
            format_version: RANKING_VERSION,
            file_bytes,
            settings: model.settings(),
            summary: model.summary(),
            bias: model.bias(),
            functions: &curves,
            relevance: model.relevance(),
        };
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    let summary = model.summary();
    writeln!(
        out,
        "{} (ranking model, {file_bytes} bytes, format {RANKING_VERSION})",
        path.display()
    )?;
    let mut rows = table(&["", ""], 2);
    let mut add = |name: &str, value: String| {
        rows.add_row(vec![name.to_owned(), value]);
    };
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
    add("bins a column", model.settings().features.bins.to_string());
    add("grades", grades(model.settings().every_grade).to_owned());
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
    add("columns", model.features().functions().len().to_string());
    add("features", model.features().dimension().to_string());
    add("training MAP", decimal(summary.training_map));
    if model.settings().loss.is_accuracy() {
        add("bias", format!("{:+.4}", model.bias()));
    }
    writeln!(out, "{}", rows.to_string().trim_start())?;
    if let Some(relevance) = model.relevance() {
        writeln!(out, "{}", relevance_line(relevance))?;
    }
    writeln!(out, "\nWhat was chosen (*), and among what")?;
    write_settings_tried(&mut out, model)?;
    write_trials(&mut out, summary)?;
    write_curves(&mut out, &curves)?;
    Ok(out.flush()?)
}

fn write_curves(out: &mut impl Write, curves: &[FunctionCurve]) -> Result<(), CliError> {
    let plain = curves.iter().all(|curve| curve.slope.is_some());
    if plain {
        let mut rows = table(&["column", "weight"], 1);
        for curve in curves {
            let weight = format!("{:+.5}", curve.slope.unwrap_or(0.0));
            rows.add_row(vec![curve.function.clone(), weight]);
        }
        writeln!(out, "\n{rows}")?;
        return Ok(());
    }
    writeln!(
        out,
        "\nwhat a value adds to the score, from its lowest bin to its highest"
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
            curve.function.clone(),
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
