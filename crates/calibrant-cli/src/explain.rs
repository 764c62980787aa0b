//! `calibrant explain`

use std::io::{Read, Write};

use calibrant::corpus::{Content, Fields, LabelNeed};
use calibrant::jobs::{explain, read_row};
use calibrant::pipeline::{Explanation, Model};

use crate::arguments::ExplainArguments;
use crate::error::CliError;
use crate::input;
use crate::output::{print_json, stdout};
use crate::progress::TerminalProgress;
use crate::table::{probability, table};

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), CliError> {
    let model = Model::open(&arguments.model)?;
    let content = content(arguments, &model)?;
    let explanations = explain(&model, &content, &arguments.class)?;
    if arguments.json {
        return print_json(&explanations);
    }
    let mut out = stdout();
    for explanation in &explanations {
        show(&mut out, explanation, arguments.terms)?;
    }
    Ok(out.flush()?)
}

fn content(arguments: &ExplainArguments, model: &Model) -> Result<Content, CliError> {
    if let Some((file, row)) = arguments.file.as_ref().zip(arguments.row) {
        let fields = arguments.reading.fields(&Fields::default());
        let options = arguments.reading.options(fields, LabelNeed::Ignored);
        let source = input::source(file);
        let progress = TerminalProgress::default();
        return Ok(read_row(model, &source, &options, row, &progress)?);
    }
    let text = arguments.input.join(" ");
    if text != "-" {
        return Ok(Content::Text(text));
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(64 << 20)
        .read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        CliError::new(format!(
            "standard input is not UTF-8 after byte {}",
            error.utf8_error().valid_up_to()
        ))
    })?;
    Ok(Content::Text(text))
}

fn show(out: &mut impl Write, explanation: &Explanation, most: usize) -> Result<(), CliError> {
    writeln!(
        out,
        "{}: probability {} (log-odds {:+.2})",
        explanation.label,
        probability(explanation.probability),
        explanation.log_odds
    )?;
    let mut rows = table(&["term", "count", "score", "log-odds"], 1);
    let signed = |value: f64| format!("{value:+.3}");
    rows.add_row(vec![
        "(without any term)".to_owned(),
        String::new(),
        String::new(),
        signed(explanation.base_log_odds),
    ]);
    for side in [1.0, -1.0] {
        let terms: Vec<_> = explanation
            .terms
            .iter()
            .filter(|term| term.log_odds * side > 0.0)
            .collect();
        for term in terms.iter().take(most) {
            rows.add_row(vec![
                term.term.clone(),
                term.count.to_string(),
                signed(term.score),
                signed(term.log_odds),
            ]);
        }
        if terms.len() > most {
            let (score, log_odds) = terms[most..].iter().fold((0.0, 0.0), |sum, term| {
                (sum.0 + term.score, sum.1 + term.log_odds)
            });
            let which = if side > 0.0 { "for" } else { "against" };
            rows.add_row(vec![
                format!("({} more terms {which})", terms.len() - most),
                String::new(),
                signed(score),
                signed(log_odds),
            ]);
        }
    }
    rows.add_row(vec![
        "sum".to_owned(),
        String::new(),
        String::new(),
        signed(explanation.calibrated_log_odds),
    ]);
    writeln!(out, "{rows}")?;
    if (explanation.calibrated_log_odds - explanation.log_odds).abs() > 1e-9 {
        writeln!(
            out,
            "The sum is for the class against the rest; normalising over all classes makes it {:+.3}.",
            explanation.log_odds
        )?;
    }
    if explanation.unknown_terms > 0 {
        writeln!(
            out,
            "{} unknown to the model.",
            match explanation.unknown_terms {
                1 => "1 term of this text is".to_owned(),
                more => format!("{more} terms of this text are"),
            }
        )?;
    }
    Ok(())
}
