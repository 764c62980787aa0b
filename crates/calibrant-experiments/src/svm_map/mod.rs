//! The experiments of Yue, Finley, Radlinski & Joachims (SIGIR 2007): rankings learned for average precision beside
//! other support vector machines and beside the functions that they combine.
//!
//! The paper's web pages are not public. Small collections with documents, queries and judgements stand in
//! for them, with the paper's fifteen functions, and the lists of 21 TREC systems for its submissions.

pub(crate) mod collections;
mod protocol;
mod tables;

use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::ranking::learning::QueryScale;
use clap::Args;

use collections::COLLECTIONS;
use protocol::Protocol;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// One JSON object on standard output: collection, method
    #[arg(long)]
    pub(crate) json: bool,
    /// Only these collections
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) collections: Vec<String>,
    /// Only these methods, beside svm_map
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Draws of training, validation and test queries
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub(crate) trials: usize,
    /// Queries of a draw to learn from (the paper has ten); half as many choose C
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) training: usize,
    /// Thresholds a function
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub(crate) bins: usize,
    /// What is done to the values of functions before they are cut into bins: as-given (the paper), standard, percentile, min-max
    #[arg(long, default_value = "as-given", value_name = "SCALE", value_parser = scale)]
    pub(crate) scale: QueryScale,
    /// Where the draws begin
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
}

fn scale(name: &str) -> Result<QueryScale, String> {
    serde_json::from_value(name.into())
        .map_err(|_| "one of as-given, standard, percentile and min-max is needed".to_owned())
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let known = |name: &&String| {
        !COLLECTIONS
            .iter()
            .any(|collection| collection.name == **name)
    };
    if let Some(name) = options.collections.iter().find(known) {
        let names = COLLECTIONS.map(|collection| collection.name).join(", ");
        return Err(format!("there is no collection `{name}`; there are {names}").into());
    }
    let protocol = Protocol {
        trials: options.trials,
        training: options.training,
        bins: options.bins,
        scale: options.scale,
        seed: options.seed,
        methods: options.methods.clone(),
    };
    let mut out = std::io::stdout().lock();
    let mut all = serde_json::Map::new();
    for collection in COLLECTIONS {
        if !options.collections.is_empty()
            && !options
                .collections
                .iter()
                .any(|name| name == collection.name)
        {
            continue;
        }
        let Some(judged) = collection.read(data)? else {
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: {} is not in {}",
                collection.name,
                data.display()
            );
            continue;
        };
        let (queries, drawn) = (judged.table.query_count(), protocol.drawn());
        if queries <= drawn {
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: {} has {queries} queries, and {drawn} are learned from and chosen by",
                collection.name
            );
            continue;
        }
        let outcome = protocol.run(&judged)?;
        if options.json {
            all.insert(collection.name.to_owned(), outcome.json());
        } else {
            outcome.print(collection.name, &mut out)?;
            out.flush()?;
        }
    }
    if options.json {
        serde_json::to_writer(&mut out, &all)?;
        writeln!(out)?;
    }
    Ok(())
}
