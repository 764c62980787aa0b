//! `calibrant rank predict`

use std::io::Write;

use calibrant::Probability;
use calibrant::ranking::learning::RankModel;
use calibrant::ranking::{RankingTable, RunBuilder};

use super::reading;
use crate::arguments::RankPredictArguments;
use crate::error::CliError;
use crate::output::{check_target, note, stdout, warn, write_pieces};

pub(crate) fn run(arguments: &RankPredictArguments) -> Result<(), CliError> {
    let model = RankModel::open(&arguments.model)?;
    if let Some(output) = &arguments.output {
        for file in arguments.test.iter().chain(&arguments.runs) {
            check_target(output, file)?;
        }
        check_target(output, &arguments.model.to_string_lossy())?;
    }
    let table = match arguments.runs.is_empty() {
        true => reading::letor(&arguments.test)?,
        false => reading::runs(&arguments.runs, None, 1)?.table,
    };
    if let Err(unknown) = model.check_functions(&table) {
        if !arguments.ignore_unknown {
            return Err(CliError::new(unknown.to_string()).hint(
                "--ignore-unknown goes on without them; columns are found by number, or by the run's name",
            ));
        }
        note(&format!("{} columns are passed over", unknown.count));
    }
    check_missing(&model, &table, arguments)?;
    let scores = model.scores(&table);
    let probabilities = model.probabilities(&table, &scores);
    if arguments.probabilities && probabilities.is_none() {
        return Err(
            CliError::new("the model says no probabilities of relevance")
                .hint("fit it without `--calibrator none`, on enough queries to hold some out"),
        );
    }
    let run = arguments.run || !arguments.runs.is_empty();
    let write = |out: &mut dyn Write| match &probabilities {
        _ if arguments.json => write_json(&table, &scores, probabilities.as_deref(), out),
        Some(probabilities) if arguments.probabilities && run => {
            let stated: Vec<f64> = probabilities.iter().map(|p| p.value()).collect();
            write_run(&table, &stated, &arguments.name, out)
        }
        Some(probabilities) if arguments.probabilities => {
            for (score, probability) in scores.iter().zip(probabilities) {
                writeln!(out, "{score}\t{}", probability.value())?;
            }
            Ok(())
        }
        _ if run => write_run(&table, &scores, &arguments.name, out),
        _ => write_scores(&scores, out),
    };
    match &arguments.output {
        Some(path) => write_pieces("--output", path, write),
        None => {
            let mut out = stdout();
            write(&mut out)?;
            Ok(out.flush()?)
        }
    }
}

/// A run that was left out by mistake changes every score. (In LETOR files a column may just be zero everywhere.)
fn check_missing(
    model: &RankModel,
    table: &RankingTable,
    arguments: &RankPredictArguments,
) -> Result<(), CliError> {
    let missing = model.missing_functions(table);
    let Some(first) = missing.first() else {
        return Ok(());
    };
    let what = format!(
        "{} of the {} columns that the model was fitted on are missing, the first of them `{first}`",
        missing.len(),
        model.features().functions().len()
    );
    if arguments.runs.is_empty() || arguments.ignore_missing {
        warn(&format!("{what}; they count as missing for every document"));
        return Ok(());
    }
    Err(CliError::new(what).hint(
        "give every run with --from-run; --ignore-missing goes on without. A column is a run's name, the last word of its lines",
    ))
}

fn write_scores(scores: &[f64], out: &mut dyn Write) -> Result<(), CliError> {
    for score in scores {
        writeln!(out, "{score}")?;
    }
    Ok(())
}

/// The documents of each query by falling score, of equals the first of the table.
fn write_json(
    table: &RankingTable,
    scores: &[f64],
    probabilities: Option<&[Probability]>,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    for query in table.queries() {
        let mut rows: Vec<usize> = query.rows.clone().collect();
        rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        for (place, row) in rows.into_iter().enumerate() {
            let line = Line {
                query: &query.id,
                document: table.document(row),
                rank: place + 1,
                score: scores[row],
                probability: probabilities.map(|all| all[row].value()),
            };
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

#[derive(serde::Serialize)]
struct Line<'a> {
    query: &'a str,
    document: &'a str,
    rank: usize,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
}

fn write_run(
    table: &RankingTable,
    scores: &[f64],
    name: &str,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let bad = |error: calibrant::ranking::RunProblem| {
        CliError::new(error.to_string()).hint(
            "a run needs names: `# NAME` or `#docid = NAME` at the end of a LETOR line; without --run none are needed",
        )
    };
    let mut run = RunBuilder::new(name).map_err(bad)?;
    for query in table.queries() {
        for row in query.rows.clone() {
            run.push(&query.id, table.document(row), scores[row])
                .map_err(bad)?;
        }
    }
    let mut lines = Vec::new();
    run.finish().map_err(bad)?.write(&mut lines)?;
    Ok(out.write_all(&lines)?)
}
