//! `calibrant index`

use std::io::Write;

use calibrant::corpus::{Fields, ReadOptions, Source};
use calibrant::index::{AnalysisCounts, DocumentOptions, IndexSettings, build_index};
use calibrant::text::WordRules;

use crate::arguments::{IndexArguments, all_fields};
use crate::error::CliError;
use crate::input;
use crate::output::{print_json, stdout, warn};
use crate::progress::TerminalProgress;
use crate::table::table;

pub(crate) fn run(arguments: &IndexArguments) -> Result<(), CliError> {
    let sources: Vec<Source> = arguments
        .files
        .iter()
        .map(|file| input::source(file))
        .collect();
    if sources
        .iter()
        .filter(|source| !source.can_be_read_again())
        .count()
        > 1
    {
        return Err(CliError::new("standard input can be read only once")
            .hint("give `-` once among the files"));
    }
    let options = DocumentOptions {
        format: arguments.format,
        reading: ReadOptions {
            fields: Fields {
                text: all_fields(&arguments.text),
                id: arguments.id.clone(),
                ..Fields::default()
            },
            ..arguments.rows.options()
        },
        title: arguments.title.clone(),
        numbered: arguments.numbered,
    };
    let settings = IndexSettings {
        stemmer: arguments.stemmer,
        stop_words: arguments.stop_words,
        store_text: !arguments.no_text,
        words: WordRules {
            segmentation: arguments.segmentation,
            ..WordRules::default()
        },
    };
    let progress = TerminalProgress::default();
    let (summary, bad_rows) =
        build_index(&sources, &arguments.output, settings, &options, &progress)?;
    if bad_rows > 0 {
        warn(&format!("{bad_rows} malformed rows were skipped"));
    }
    if arguments.json {
        return print_json(&summary);
    }
    let mut out = stdout();
    writeln!(
        out,
        "{}: {} documents ({} without a word), {} bytes",
        arguments.output.display(),
        summary.documents,
        summary.empty_documents,
        summary.bytes
    )?;
    write_analyses(&mut out, &summary.analyses)?;
    Ok(out.flush()?)
}

/// What each analysis of the texts comes to.
pub(crate) fn write_analyses(
    out: &mut impl Write,
    analyses: &[AnalysisCounts],
) -> Result<(), CliError> {
    let mut rows = table(&["analysis", "terms", "distinct", "mean length"], 1);
    for counts in analyses {
        rows.add_row(vec![
            counts.analysis.to_string(),
            counts.collection.total_terms.to_string(),
            counts.term_count.to_string(),
            format!("{:.1}", counts.collection.average_length()),
        ]);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}
