//! Experiments on real corpora; not published.
//!
//! The corpora are looked for in the folder that `CALIBRANT_DATA` names (default `../shared/data`).

mod bennett;
mod corpora;
mod data;
mod scored;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Experiments on real corpora with calibrant")]
struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    /// Every classifier, raw and calibrated, on every text corpus that is there
    Corpora {
        /// One JSON object on standard output
        #[arg(long)]
        json: bool,
    },
    /// Bennett's Table 1: every calibrator on the scores of naive Bayes and the support vector machine
    Bennett {
        /// One JSON object on standard output: corpus, classifier, method
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    let data = std::env::var_os("CALIBRANT_DATA")
        .map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let result = match Arguments::parse().experiment {
        Experiment::Corpora { json } => corpora::run(&data, json),
        Experiment::Bennett { json } => bennett::run(&data, json),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
