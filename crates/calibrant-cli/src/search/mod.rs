//! `calibrant search`

mod many;
mod show;

use std::io::Read;

use calibrant::index::SearchIndex;
use calibrant::ranking::functions::BaseFunction;

use crate::arguments::RetrievalArguments;
use crate::error::CliError;

pub(crate) fn run(arguments: &RetrievalArguments) -> Result<(), CliError> {
    let default = match arguments.features {
        Some(_) => BaseFunction::paper(),
        None => vec![BaseFunction::bm25_stems()],
    };
    let functions = functions(&arguments.function, default)?;
    if arguments.queries.is_some() {
        return many::run(arguments, &functions);
    }
    let [function] = functions.as_slice() else {
        return Err(
            CliError::new("one query is searched with one --function").hint(
                "several functions write runs or features of many queries: --queries FILE with --run or --features",
            ),
        );
    };
    let query = query(&arguments.query)?;
    let index = open(arguments)?;
    let top = arguments.top.map_or(10, std::num::NonZeroUsize::get);
    show::run(&index, &query, function, top, arguments)
}

fn open(arguments: &RetrievalArguments) -> Result<SearchIndex, CliError> {
    Ok(match arguments.no_verify {
        true => SearchIndex::open_unverified(&arguments.index)?,
        false => SearchIndex::open(&arguments.index)?,
    })
}

/// The functions that were named, each once.
fn functions(names: &[String], default: Vec<BaseFunction>) -> Result<Vec<BaseFunction>, CliError> {
    if names.is_empty() {
        return Ok(default);
    }
    let mut functions: Vec<BaseFunction> = Vec::new();
    for name in names {
        let named = match name.as_str() {
            "all" => BaseFunction::paper(),
            name => vec![name.parse().map_err(|error| {
                CliError::new(format!("--function {name}: {error}"))
                    .hint("for example --function bm25.stems; `calibrant search --help` lists them")
            })?],
        };
        for function in named {
            if functions.contains(&function) {
                return Err(CliError::new(format!(
                    "--function {function} is given twice"
                )));
            }
            functions.push(function);
        }
    }
    Ok(functions)
}

fn query(words: &[String]) -> Result<String, CliError> {
    let text = words.join(" ");
    let text = match text.as_str() {
        "-" => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .take(1 << 20)
                .read_to_end(&mut bytes)?;
            String::from_utf8(bytes).map_err(|error| {
                CliError::new(format!(
                    "standard input is not UTF-8 after byte {}",
                    error.utf8_error().valid_up_to()
                ))
            })?
        }
        _ => text,
    };
    if text.trim().is_empty() {
        return Err(CliError::new("the query is empty")
            .hint("`calibrant search INDEX some words`, or --queries FILE"));
    }
    Ok(text)
}
