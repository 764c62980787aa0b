//! Many queries: runs, and tables of features.

use std::io::Write;
use std::path::{Path, PathBuf};

use calibrant::index::{Query, SearchIndex, read_queries};
use calibrant::ranking::functions::BaseFunction;
use calibrant::ranking::learning::unlisted_relevant;
use calibrant::ranking::{JudgedShare, Qrels, RankingTable, check_identifier};
use calibrant::saved::check_writable;

use crate::arguments::RetrievalArguments;
use crate::error::CliError;
use crate::input;
use crate::output::{check_target_of, note, stdout, write_whole};
use crate::progress::TerminalProgress;
use crate::rank::tell_judged;

pub(super) fn run(
    arguments: &RetrievalArguments,
    functions: &[BaseFunction],
) -> Result<(), CliError> {
    let Some(file) = &arguments.queries else {
        return Err(CliError::new("there are no queries"));
    };
    let target = Target::new(arguments, functions, file)?;
    let queries = read_queries(
        &input::source(file),
        arguments.query_format,
        &arguments.topic_fields,
    )?;
    for query in &queries {
        check_identifier("query", &query.id)
            .map_err(|problem| CliError::new(format!("{file}: {problem}")))?;
    }
    let top = arguments.top.map_or(1000, std::num::NonZeroUsize::get);
    match target {
        Target::Features(path) => {
            let qrels = match &arguments.qrels {
                Some(file) => Some(Qrels::read(&input::source(file))?),
                None => None,
            };
            let index = super::open(arguments)?;
            let table = index.candidates(&queries, functions, top, qrels.as_ref())?;
            let judged = |query: &&Query| match &qrels {
                Some(qrels) => qrels.is_judged(&query.id),
                None => true,
            };
            let asked = queries.iter().filter(judged).count();
            tell_empty(asked - table.query_count(), "all functions");
            let unjudged_queries = queries.len() - asked;
            let table = match &qrels {
                Some(qrels) => graded(&table, qrels, unjudged_queries, arguments)?,
                None => table,
            };
            write_features(&table, &path)
        }
        Target::Run(path) => {
            let index = super::open(arguments)?;
            let bytes = run_of(&index, &queries, &functions[0], top)?;
            write_to("--run", &path, &bytes)
        }
        Target::Runs(folder) => {
            let index = super::open(arguments)?;
            std::fs::create_dir_all(&folder).map_err(|error| {
                CliError::new(format!("cannot make `{}`: {error}", folder.display()))
                    .hint("choose another --run")
            })?;
            for function in functions {
                let bytes = run_of(&index, &queries, function, top)?;
                write_to("--run", &folder.join(run_name(function)), &bytes)?;
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
        if functions.len() == 1 {
            check("--run", path)?;
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

fn run_of(
    index: &SearchIndex,
    queries: &[Query],
    function: &BaseFunction,
    top: usize,
) -> Result<Vec<u8>, CliError> {
    let progress = TerminalProgress::default();
    let run = index.run(queries, function, top, &progress)?;
    tell_empty(queries.len() - run.query_count(), &function.to_string());
    let mut bytes = Vec::new();
    run.write(&mut bytes)?;
    Ok(bytes)
}

fn tell_empty(count: usize, who: &str) {
    if count > 0 {
        note(&format!("{count} queries found nothing ({who})"));
    }
}

/// What was judged, and with it what was not if it is to be kept; said either way.
fn graded(
    table: &RankingTable,
    qrels: &Qrels,
    unjudged_queries: usize,
    arguments: &RetrievalArguments,
) -> Result<RankingTable, CliError> {
    let share = JudgedShare {
        unjudged_queries,
        ..table.judged_share()
    };
    tell_judged(None, &share, arguments.unjudged);
    let (kept, _) = table.judged(arguments.unjudged);
    if kept.row_count() == 0 {
        return Err(CliError::new("no document that was found is judged")
            .hint("check that queries and judgements name queries and documents alike"));
    }
    let vanished = table.query_count() - kept.query_count();
    if vanished > 0 {
        let queries = match vanished {
            1 => "1 query has no judged document among those found, and is left out".to_owned(),
            more => format!(
                "{more} queries have no judged document among those found, and are left out"
            ),
        };
        note(&queries);
    }
    // Of all queries: those that are left out have relevant documents, too.
    let unlisted = unlisted_relevant(table, qrels, 1);
    if unlisted > 0 {
        let were = match unlisted {
            1 => "1 relevant document was".to_owned(),
            more => format!("{more} relevant documents were"),
        };
        note(&format!(
            "{were} found by no function; nothing learned from the rest can list them"
        ));
    }
    Ok(kept)
}

fn write_features(table: &RankingTable, path: &Path) -> Result<(), CliError> {
    for row in 0..table.row_count() {
        check_identifier("document", table.document(row)).map_err(|problem| {
            CliError::new(problem.to_string())
                .hint("index the documents again with another --id, or with --numbered")
        })?;
    }
    let mut bytes = Vec::new();
    // A line that readers of the format pass over: which column is which.
    writeln!(bytes, "# functions: {}", table.functions().join(" "))?;
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
