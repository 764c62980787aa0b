//! One query: what was found, and why.

use std::io::{IsTerminal, Write};

use calibrant::index::{Hit, ScoreExplanation, SearchIndex, Snippet};
use calibrant::ranking::functions::BaseFunction;
use serde::Serialize;

use crate::arguments::RetrievalArguments;
use crate::error::CliError;
use crate::output::{note, stdout};
use crate::table::table;

/// Words of a text that are shown.
const SNIPPET_WORDS: usize = 30;

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    function: String,
    documents: u64,
    hits: Vec<ShownHit>,
}

#[derive(Serialize)]
struct ShownHit {
    rank: usize,
    #[serde(flatten)]
    hit: Hit,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<Snippet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<ScoreExplanation>,
}

pub(super) fn run(
    index: &SearchIndex,
    query: &str,
    function: &BaseFunction,
    top: usize,
    arguments: &RetrievalArguments,
) -> Result<(), CliError> {
    let mut hits = Vec::new();
    for (place, hit) in index.search(query, function, top)?.into_iter().enumerate() {
        let stored = index.stored(&hit.id)?.unwrap_or_default();
        let snippet = match &stored.text {
            Some(text) => Some(index.snippet(query, function.analysis, text, SNIPPET_WORDS)?),
            None => None,
        };
        let explanation = match arguments.explain {
            true => index.explain(query, function, &hit.id)?,
            false => None,
        };
        hits.push(ShownHit {
            rank: place + 1,
            hit,
            title: stored.title,
            snippet,
            explanation,
        });
    }
    let mut out = stdout();
    if arguments.json {
        let answer = Answer {
            query,
            function: function.to_string(),
            documents: index.document_count(),
            hits,
        };
        serde_json::to_writer(&mut out, &answer)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    if hits.is_empty() {
        note("no document has a word of the query");
    }
    let bold = std::io::stdout().is_terminal();
    for hit in &hits {
        write!(out, "{}. {}  {:.4}", hit.rank, hit.hit.id, hit.hit.score)?;
        match &hit.title {
            Some(title) => writeln!(out, "  {}", printable(title))?,
            None => writeln!(out)?,
        }
        if let Some(snippet) = hit.snippet.as_ref().filter(|found| !found.text.is_empty()) {
            writeln!(out, "   {}", marked(snippet, bold))?;
        }
        if let Some(explanation) = &hit.explanation {
            show_parts(&mut out, explanation)?;
        }
    }
    Ok(out.flush()?)
}

/// A document's text must not steer the terminal.
fn printable(text: &str) -> String {
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
