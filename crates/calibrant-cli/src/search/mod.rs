//! `calibrant search`

mod many;
mod show;

use std::io::{IsTerminal, Read, Write};

use calibrant::index::{DetailSettings, SearchIndex};
use calibrant::jobs::search::{SearchAnswer, SearchBy, SearchError, SearchSettings, search};
use calibrant::ranking::functions::BaseFunction;
use calibrant::ranking::learning::RankModel;

use crate::arguments::RetrievalArguments;
use crate::error::CliError;
use crate::output::{note, stdout};
use crate::rank::open_model;

pub(crate) fn run(arguments: &RetrievalArguments) -> Result<(), CliError> {
    let default = match arguments.features {
        Some(_) => BaseFunction::paper(),
        None => vec![BaseFunction::bm25_stems()],
    };
    let functions = functions(&arguments.function, default)?;
    let model = match &arguments.model {
        Some(path) => Some(open_model(path)?),
        None => None,
    };
    if arguments.run.is_some() || arguments.features.is_some() {
        return many::run(arguments, &functions, model.as_ref());
    }
    let [function] = functions.as_slice() else {
        return Err(
            CliError::new("one query is searched with one --function").hint(
                "several functions write runs or features of many queries: --queries FILE with --run or --features",
            ),
        );
    };
    let by = by(*function, model.as_ref(), arguments);
    by.check()?;
    if arguments.queries.is_some() {
        return many::show(arguments, by);
    }
    let query = query(&arguments.query)?;
    let index = open(arguments)?;
    let answer = search(&index, &query, by, settings(arguments))?;
    let mut out = stdout();
    show_answer(&mut out, &answer, arguments)?;
    Ok(out.flush()?)
}

/// By the model, or else by the function.
fn by<'a>(
    function: BaseFunction,
    model: Option<&'a RankModel>,
    arguments: &RetrievalArguments,
) -> SearchBy<'a> {
    match model {
        Some(model) => SearchBy::Model {
            model,
            depth: arguments.depth.map_or(SearchBy::DEPTH, usize::from),
        },
        None => SearchBy::Function(function),
    }
}

fn settings(arguments: &RetrievalArguments) -> SearchSettings {
    let usual = SearchSettings::default();
    SearchSettings {
        top: arguments.top.map_or(usual.top, usize::from),
        detail: DetailSettings {
            explain: arguments.explain,
            ..usual.detail
        },
    }
}

fn show_answer(
    out: &mut impl Write,
    answer: &SearchAnswer,
    arguments: &RetrievalArguments,
) -> Result<(), CliError> {
    if arguments.json {
        serde_json::to_writer(&mut *out, answer)?;
        writeln!(out)?;
        return Ok(());
    }
    if answer.hits.is_empty() && answer.id.is_none() {
        note("no document contains any word of the query");
    }
    show::hits(out, &answer.hits, std::io::stdout().is_terminal())
}

fn open(arguments: &RetrievalArguments) -> Result<SearchIndex, CliError> {
    Ok(match arguments.no_verify {
        true => SearchIndex::open_unverified(&arguments.index)?,
        false => SearchIndex::open(&arguments.index)?,
    })
}

impl From<SearchError> for CliError {
    fn from(error: SearchError) -> Self {
        let hint = match error {
            SearchError::Index(error) => return error.into(),
            SearchError::NoProbabilities => {
                "fit it without `--calibrator none`, on enough queries to hold some out"
            }
            SearchError::NothingJudged => {
                "check that queries and judgements use the same names for queries and documents"
            }
            _ => return Self::new(error.to_string()),
        };
        Self::new(error.to_string()).hint(hint)
    }
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
