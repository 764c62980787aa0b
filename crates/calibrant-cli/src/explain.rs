//! `calibrant explain`

use std::io::{Read, Write};
use std::ops::ControlFlow;

use calibrant::corpus::{Content, LabelNeed, read_batches_until};
use calibrant::pipeline::{Explanation, Model};

use crate::arguments::ExplainArguments;
use crate::error::CliError;
use crate::input;
use crate::output::stdout;
use crate::progress::TerminalProgress;
use crate::table::{probability, table};

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), CliError> {
    let model = Model::open(&arguments.model)?;
    let content = content(arguments, &model)?;
    let explanations: Vec<Explanation> = classes(arguments, &model, &content)?
        .into_iter()
        .map(|class| model.explain(&content, class))
        .collect();
    let mut out = stdout();
    if arguments.json {
        serde_json::to_writer(&mut out, &explanations)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    for explanation in &explanations {
        show(&mut out, explanation, arguments.terms)?;
    }
    Ok(out.flush()?)
}

fn content(arguments: &ExplainArguments, model: &Model) -> Result<Content, CliError> {
    let Some((file, row)) = arguments.file.as_ref().zip(arguments.row) else {
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
        return Ok(Content::Text(text));
    };
    let fields = arguments.reading.fields(model.fields());
    let options = arguments.reading.options(fields, LabelNeed::Ignored);
    let mut number = 0;
    let mut found = None;
    let progress = TerminalProgress::default();
    read_batches_until(
        &input::source(file),
        &options,
        &progress,
        |documents| documents,
        |documents| {
            for document in documents {
                number += 1;
                if number == row.get() {
                    found = Some(document.content);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        },
    )?;
    found.ok_or_else(|| {
        CliError::new(format!(
            "{file}: there is no row {row}; {number} rows were read"
        ))
    })
}

fn classes(
    arguments: &ExplainArguments,
    model: &Model,
    content: &Content,
) -> Result<Vec<usize>, CliError> {
    if arguments.class.is_empty() {
        let mut probabilities =
            vec![calibrant::Probability::from_log_odds(0.0); model.class_count()];
        model.predict_into(
            content,
            &mut calibrant::pipeline::PredictBuffers::default(),
            &mut probabilities,
        );
        let best = (0..probabilities.len()).fold(0, |best, class| {
            if probabilities[class] > probabilities[best] {
                class
            } else {
                best
            }
        });
        return Ok(vec![best]);
    }
    arguments
        .class
        .iter()
        .map(|name| {
            model
                .class_names()
                .position(|class| class == name)
                .ok_or_else(|| {
                    CliError::new(format!("the model has no class `{name}`"))
                        .hint("`calibrant inspect MODEL` lists its classes")
                })
        })
        .collect()
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
            "The sum is the class against the rest; bringing all classes to a sum of one makes it {:+.3}.",
            explanation.log_odds
        )?;
    }
    if explanation.unknown_terms > 0 {
        writeln!(
            out,
            "{} terms of this text are unknown to the model.",
            explanation.unknown_terms
        )?;
    }
    Ok(())
}
