//! One query: what was found, and why.

use std::io::Write;

use calibrant::index::{ColumnPart, ScoreExplanation, Snippet};
use calibrant::jobs::search::SearchHit;

use crate::error::CliError;
use crate::table::{probability, table};

/// The documents, one below the other; words of the query in bold where that can be shown.
pub(super) fn hits(out: &mut impl Write, hits: &[SearchHit], bold: bool) -> Result<(), CliError> {
    for hit in hits {
        write!(out, "{}. {}  {:.4}", hit.rank, hit.id, hit.score)?;
        if let Some(stated) = hit.probability {
            write!(out, "  P(relevant) {}", probability(stated))?;
        }
        match &hit.title {
            Some(title) => writeln!(out, "  {}", printable(title))?,
            None => writeln!(out)?,
        }
        if let Some(snippet) = hit.snippet.as_ref().filter(|found| !found.text.is_empty()) {
            writeln!(out, "   {}", marked(snippet, bold))?;
        }
        if let Some(explanation) = &hit.explanation {
            show_parts(out, explanation)?;
        }
        if let Some(parts) = &hit.parts {
            show_columns(out, parts, hit.score)?;
        }
    }
    Ok(())
}

/// What each column says, and what the model makes of it; the rest of the score is the bias.
fn show_columns(out: &mut impl Write, parts: &[ColumnPart], score: f64) -> Result<(), CliError> {
    let mut rows = table(&["   column", "value", "part"], 1);
    for part in parts {
        rows.add_row(vec![
            format!("   {}", part.feature),
            format!("{:.4}", part.value),
            format!("{:+.4}", part.part),
        ]);
    }
    let sum = vec!["   score".to_owned(), String::new(), format!("{score:+.4}")];
    rows.add_row(sum);
    writeln!(out, "{rows}")?;
    Ok(())
}

/// A document's text must not steer the terminal.
pub(super) fn printable(text: &str) -> String {
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    shown.collect()
}

/// The words, those of the query in bold.
fn marked(snippet: &Snippet, bold: bool) -> String {
    if !bold {
        return printable(&snippet.text);
    }
    let mut shown = String::new();
    let mut done = 0;
    for mark in &snippet.marks {
        shown.push_str(&printable(&snippet.text[done..mark.start]));
        shown.push_str("\u{1b}[1m");
        shown.push_str(&printable(&snippet.text[mark.clone()]));
        shown.push_str("\u{1b}[0m");
        done = mark.end;
    }
    shown.push_str(&printable(&snippet.text[done..]));
    shown
}

fn show_parts(out: &mut impl Write, explanation: &ScoreExplanation) -> Result<(), CliError> {
    let mut rows = table(
        &[
            "   term",
            "in query",
            "in document",
            "documents",
            "in collection",
            "part",
        ],
        1,
    );
    for part in &explanation.parts {
        rows.add_row(vec![
            format!("   {}", printable(&part.term)),
            part.query_count.to_string(),
            part.frequency.to_string(),
            part.statistics.document_frequency.to_string(),
            part.statistics.collection_frequency.to_string(),
            format!("{:+.4}", part.part),
        ]);
    }
    let mut sum = vec![String::new(); 6];
    sum[0] = format!(
        "   sum ({} terms, {} distinct)",
        explanation.document.length, explanation.document.unique_length
    );
    sum[5] = format!("{:+.4}", explanation.score);
    rows.add_row(sum);
    writeln!(out, "{rows}")?;
    Ok(())
}
