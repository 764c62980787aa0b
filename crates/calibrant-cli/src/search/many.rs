//! Many queries: answers, runs, and tables of features.

use std::io::Write;
use std::path::{Path, PathBuf};

use calibrant::corpus::{
    Qrels, Query, RankedQuery, RankingTable, Run, check_identifier, read_queries,
};
use calibrant::jobs::search::{
    RunSettings, SearchBy, SearchFeatures, search_all, search_features, search_run,
};
use calibrant::ranking::functions::BaseFunction;
use calibrant::ranking::learning::RankModel;
use calibrant::saved::check_writable;

use crate::arguments::RetrievalArguments;
use crate::error::CliError;
use crate::input;
use crate::output::{check_target_of, note, stdout, write_whole};
use crate::progress::TerminalProgress;
use crate::rank::tell_judged;

/// Shows the answers to all queries.
pub(super) fn show(arguments: &RetrievalArguments, by: SearchBy<'_>) -> Result<(), CliError> {
    let queries = queries(arguments)?;
    let index = super::open(arguments)?;
    let mut out = stdout();
    let mut empty = 0;
    search_all(&index, &queries, by, super::settings(arguments), |answer| {
        empty += usize::from(answer.hits.is_empty());
        if !arguments.json {
            let id = answer.id.as_deref().unwrap_or_default();
            writeln!(out, "query {id}: {}", super::show::printable(&answer.query))?;
        }
        super::show_answer(&mut out, &answer, arguments)?;
        if !arguments.json {
            writeln!(out)?;
        }
        Ok::<(), CliError>(())
    })?;
    out.flush()?;
    tell_empty(empty, "no document contains any of their words");
    Ok(())
}

fn queries(arguments: &RetrievalArguments) -> Result<Vec<Query>, CliError> {
    let Some(file) = &arguments.queries else {
        return Err(CliError::new("there are no queries"));
    };
    Ok(read_queries(
        &input::source(file),
        arguments.query_format,
        &arguments.topic_fields,
    )?)
}

/// Writes runs or features.
pub(super) fn run(
    arguments: &RetrievalArguments,
    functions: &[BaseFunction],
    model: Option<&RankModel>,
) -> Result<(), CliError> {
    let Some(file) = &arguments.queries else {
        return Err(CliError::new("there are no queries"));
    };
    let target = Target::new(arguments, functions, file)?;
    for function in functions {
        super::by(*function, model, arguments).check()?;
    }
    let queries = queries(arguments)?;
    for query in &queries {
        check_identifier("query", &query.id)
            .map_err(|problem| CliError::new(format!("{file}: {problem}")))?;
    }
    let settings = RunSettings {
        name: arguments.run_name.clone(),
        probabilities: arguments.probabilities,
        ..RunSettings::default()
    };
    let settings = RunSettings {
        top: arguments.top.map_or(settings.top, usize::from),
        ..settings
    };
    match target {
        Target::Features(path) => {
            let qrels = match &arguments.qrels {
                Some(file) => Some(Qrels::read(&input::source(file))?),
                None => None,
            };
            let judgements = qrels.as_ref().map(|qrels| (qrels, arguments.unjudged));
            let index = super::open(arguments)?;
            let found = search_features(&index, &queries, functions, settings.top, judgements)?;
            tell_features(&found, arguments);
            write_features(&found.table, &path)
        }
        Target::Run(path) => {
            let index = super::open(arguments)?;
            let by = super::by(functions[0], model, arguments);
            let progress = TerminalProgress::default();
            let run = search_run(&index, &queries, by, &settings, &progress)?;
            if model.is_some() && arguments.top.is_none() {
                note_cut(&run, settings.top);
            }
            write_run(&run, queries.len(), &path)
        }
        Target::Runs(folder) => {
            let index = super::open(arguments)?;
            std::fs::create_dir_all(&folder).map_err(|error| {
                CliError::new(format!("cannot make `{}`: {error}", folder.display()))
                    .hint("choose another --run")
            })?;
            for function in functions {
                let settings = RunSettings {
                    // Each run has a name of its own.
                    name: settings
                        .name
                        .as_ref()
                        .map(|name| format!("{name}.{function}")),
                    ..settings.clone()
                };
                let by = SearchBy::Function(*function);
                let progress = TerminalProgress::default();
                let run = search_run(&index, &queries, by, &settings, &progress)?;
                write_run(&run, queries.len(), &folder.join(run_name(function)))?;
            }
            Ok(())
        }
    }
}

/// The file of a function's run; parameters are written without the colon, which some systems do not take.
fn run_name(function: &BaseFunction) -> String {
    format!("{}.run", function.to_string().replace(':', "-"))
}

enum Target {
    Features(PathBuf),
    Run(PathBuf),
    Runs(PathBuf),
}

impl Target {
    /// Where the answers go, checked before any work.
    fn new(
        arguments: &RetrievalArguments,
        functions: &[BaseFunction],
        queries: &str,
    ) -> Result<Self, CliError> {
        let check = |option: &str, path: &Path| match path.as_os_str() == "-" {
            true => Ok(()),
            false => check_target_of(option, path, queries),
        };
        if let Some(path) = &arguments.features {
            check("--features", path)?;
            if let Some(qrels) = arguments.qrels.as_ref().filter(|_| path.as_os_str() != "-") {
                check_target_of("--features", path, qrels)?;
            }
            return Ok(Self::Features(path.clone()));
        }
        let Some(path) = &arguments.run else {
            return Err(CliError::new("nothing is asked for").hint("give --run or --features"));
        };
        if functions.len() == 1 || arguments.model.is_some() {
            check("--run", path)?;
            if let Some(model) = arguments.model.as_ref().filter(|_| path.as_os_str() != "-") {
                check_target_of("--run", path, &model.to_string_lossy())?;
            }
            return Ok(Self::Run(path.clone()));
        }
        if path.as_os_str() == "-" || path.is_file() {
            return Err(CliError::new(format!(
                "{} functions write {} runs, and --run `{}` is not a folder",
                functions.len(),
                functions.len(),
                path.display()
            ))
            .hint("name a folder, or one --function"));
        }
        for function in functions {
            let file = path.join(run_name(function));
            if path.is_dir() {
                check("--run", &file)?;
            }
        }
        // A folder that is not there yet will stand in one that is.
        let mut parents =
            path.ancestors()
                .skip(1)
                .map(|folder| match folder.as_os_str().is_empty() {
                    true => Path::new("."),
                    false => folder,
                });
        if let Some(parent) = parents.find(|folder| folder.is_dir()) {
            check_writable(&parent.join("run"))
                .map_err(|error| CliError::from(error).hint("choose another --run"))?;
        }
        Ok(Self::Runs(path.clone()))
    }
}

fn write_run(run: &Run, queries: usize, path: &Path) -> Result<(), CliError> {
    tell_empty(queries - run.query_count(), run.name());
    let mut bytes = Vec::new();
    run.write(&mut bytes)?;
    write_to("--run", path, &bytes)
}

/// Says how many lists have the number of documents that nobody asked for, and may have had more.
fn note_cut(run: &Run, top: usize) {
    let is_cut = |query: &RankedQuery<'_>| query.document_count() >= top;
    let cut = run.queries().filter(is_cut).count();
    if cut > 0 {
        note(&format!(
            "the lists of {} end at {top} documents; --top N writes more or fewer",
            count_of_queries(cut)
        ));
    }
}

fn count_of_queries(count: usize) -> String {
    match count {
        1 => "1 query".to_owned(),
        more => format!("{more} queries"),
    }
}

fn tell_empty(count: usize, who: &str) {
    if count > 0 {
        note(&format!(
            "{} found nothing ({who})",
            count_of_queries(count)
        ));
    }
}

/// Says what was judged and found, and what not.
fn tell_features(found: &SearchFeatures, arguments: &RetrievalArguments) {
    tell_empty(found.empty_queries, "all functions");
    match &found.judged {
        Some(judged) => tell_judged(None, judged, arguments.unjudged),
        None => note("there are no judgements: every row has grade 0; --qrels FILE gives grades"),
    }
    match found.vanished_queries {
        0 => {}
        1 => note("1 query has no judged document among those found, and is left out"),
        more => note(&format!(
            "{more} queries have no judged document among those found, and are left out"
        )),
    }
    if found.unlisted_relevant > 0 {
        let were = match found.unlisted_relevant {
            1 => "1 relevant document was".to_owned(),
            more => format!("{more} relevant documents were"),
        };
        note(&format!(
            "{were} not found by any function; no ranking learned from these rows can list them"
        ));
    }
}

fn write_features(table: &RankingTable, path: &Path) -> Result<(), CliError> {
    for row in 0..table.row_count() {
        check_identifier("document", table.document(row)).map_err(|problem| {
            CliError::new(problem.to_string())
                .hint("index the documents again with another --id, or with --numbered")
        })?;
    }
    let mut bytes = Vec::new();
    table.write_letor(&mut bytes)?;
    write_to("--features", path, &bytes)
}

/// Writes to standard output, or beside the target with a rename at the end.
fn write_to(option: &str, path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    if path.as_os_str() == "-" {
        let mut out = stdout();
        out.write_all(bytes)?;
        return Ok(out.flush()?);
    }
    write_whole(option, bytes, path)
}
