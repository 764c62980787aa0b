//! What a person gets without naming an option, beside what scikit-learn's pipelines give, on many corpora.
//!
//! `bench/defaults_corpora.py` prepares the corpora, `bench/defaults_peers.py` writes what the peers state. Here the
//! program is run, both sides' written probabilities are measured by the same code, and a page is made of it. Every cell is
//! kept as a line of JSON: a run that is broken off goes on where it stopped, and a changed program is measured again
//! without its peers.

mod acceptance;
mod cell;
mod corpus;
mod measure;
mod ours;
mod page;
mod peers;
mod split;
mod store;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use cell::{Cell, Size};
use corpus::{Half, PreparedCorpus};
use ours::{Program, Way};
use store::Store;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program to measure (default: `calibrant` beside this one)
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Where `bench/defaults_corpora.py` has put the corpora
    #[arg(long, default_value = "target/corpora", value_name = "FOLDER")]
    prepared: PathBuf,
    /// Where `bench/defaults_peers.py` has put what the peers state, and where outcomes are kept
    #[arg(long, default_value = "target/defaults", value_name = "FOLDER")]
    results: PathBuf,
    /// Only these corpora
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    corpora: Vec<String>,
    /// Only these ways of fitting
    #[arg(long, value_name = "WAY,…", value_delimiter = ',', value_enum)]
    only: Vec<Way>,
    /// Only these numbers of training documents
    #[arg(
        long,
        value_name = "N,…,all",
        value_delimiter = ',',
        default_value = "300,1000,3000,10000,all"
    )]
    sizes: Vec<Size>,
    /// How many draws of training and test documents
    #[arg(long, default_value_t = 5, value_name = "N")]
    draws: u64,
    /// Cells where a tenth of the training documents stands twice
    #[arg(long, default_value = "both", value_name = "WHICH")]
    copies: Copies,
    /// Run nothing: measure what the peers have written, and make the page
    #[arg(long)]
    page_only: bool,
    /// Where the page goes
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// The outcomes of this program on the page, by the key that a run prints (default: those of --program)
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Copies {
    No,
    Yes,
    Both,
}

pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let corpora = corpus::list(&options.prepared, &options.corpora)?;
    let mut store = Store::open(&options.results)?;
    let program = match &options.key {
        Some(_) => None,
        None => Some(Program::find(options.program.as_deref())?),
    };
    let key = options
        .key
        .clone()
        .or_else(|| program.as_ref().map(|program| program.key.clone()))
        .unwrap_or_default();
    writeln!(std::io::stderr(), "outcomes of program {key}")?;
    if let (Some(program), false) = (&program, options.page_only) {
        run_ours(options, &corpora, program, &mut store)?;
    }
    for about in &corpora {
        let folder = options.results.join("peers").join(&about.name);
        if folder.exists() {
            peers::measure_all(
                &PreparedCorpus::read(&options.prepared, about)?,
                &folder,
                &mut store,
            )?;
        }
    }
    let table = page::page(&corpora, store.outcomes(), &key);
    match &options.page {
        Some(path) => std::fs::write(path, table)?,
        None => write!(std::io::stdout().lock(), "{table}")?,
    }
    Ok(())
}

/// The smallest first, so that a run that is broken off has whole rows of the table.
fn run_ours(
    options: &Options,
    corpora: &[corpus::About],
    program: &Program,
    store: &mut Store,
) -> Result<(), Box<dyn Error>> {
    for &size in &options.sizes {
        for about in corpora {
            let mut corpus = None;
            for (draw, copies) in draws(options, about.half) {
                let cell = Cell {
                    corpus: about.name.clone(),
                    size,
                    draw,
                    copies,
                };
                let is_new = |way: &Way| !store.has(&cell, way.name(), Some(&program.key));
                let ways = Way::of(size, copies, &options.only).into_iter();
                let ways: Vec<Way> = ways.filter(is_new).collect();
                if ways.is_empty() {
                    continue;
                }
                let corpus = match &mut corpus {
                    Some(corpus) => corpus,
                    none => none.insert(PreparedCorpus::read(&options.prepared, about)?),
                };
                if !corpus.sizes().contains(&size) {
                    break;
                }
                for way in ways {
                    let outcome = ours::run(program, way, corpus, &cell)?;
                    writeln!(std::io::stderr(), "{}", outcome.line())?;
                    store.add(outcome)?;
                }
            }
        }
    }
    Ok(())
}

fn draws(options: &Options, half: Half) -> Vec<(u64, bool)> {
    // A split that came with the corpus is one draw.
    if half == Half::Beside {
        return vec![(0, false)];
    }
    let copies: &[bool] = match options.copies {
        Copies::No => &[false],
        Copies::Yes => &[true],
        Copies::Both => &[false, true],
    };
    let each = |&copies: &bool| (0..options.draws).map(move |draw| (draw, copies));
    copies.iter().flat_map(each).collect()
}
