//! Experiments on real corpora; not published.
//!
//! The corpora are looked for in the folder that `CALIBRANT_DATA` names (default `../shared/data`).

mod bennett;
mod cascade;
mod certify;
mod corpora;
mod costs;
mod data;
mod defaults;
mod ecoc;
mod intervals;
mod known_truth;
mod league;
mod letor;
mod oracle_speed;
mod other;
mod outlook;
mod rare_slopes;
mod recalibrate;
mod scored;
mod sets;
mod shares;
mod small;
mod speed;
mod suspects;
mod svm_map;

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
    /// Whether decisions by random costs are cheaper from calibrated probabilities than from raw scores, or than the most probable class
    Costs(costs::Options),
    /// How often the 95 % intervals that are printed hold the truth, on simulated test sets
    Intervals {
        /// One JSON array on standard output: world, documents, sets, intervals
        #[arg(long)]
        json: bool,
        /// So many test sets of each size (by default 1,000 of 200 documents, 500 of 1,000, 200 of 5,000)
        #[arg(long, value_name = "N")]
        sets: Option<usize>,
    },
    /// Every calibrator on simulated scores whose true posterior is known
    KnownTruth {
        /// One JSON object on standard output: set, size, method
        #[arg(long)]
        json: bool,
        /// Leave out larger sets
        #[arg(long, default_value_t = 1_000_000, value_name = "N")]
        largest: usize,
        /// Also write the draws to this folder
        #[arg(long, value_name = "FOLDER")]
        export: Option<PathBuf>,
    },
    /// Every calibrator on the scores of naive Bayes and the support vector machine over all corpora
    League {
        /// One JSON object on standard output: corpus, classifier, method
        #[arg(long)]
        json: bool,
        /// Also write the scores to this folder
        #[arg(long, value_name = "FOLDER")]
        export: Option<PathBuf>,
    },
    /// Learned rankings on the LETOR collections, every loss, official folds
    Letor {
        /// One JSON object on standard output: collection, way
        #[arg(long)]
        json: bool,
        /// Only these ways: a loss, map-bins-50, map-chosen, map-chosen-exactly
        #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Seconds to find the most violated ranking for average precision, two ways
    OracleSpeed {
        /// One JSON object on standard output
        #[arg(long)]
        json: bool,
        /// Relevant documents
        #[arg(long, default_value_t = 1_000, value_name = "N")]
        relevant: usize,
        /// Other documents
        #[arg(long, default_value_t = 100_000, value_name = "N")]
        others: usize,
    },
    /// What `fit` gives without options, beside scikit-learn's pipelines, on many corpora and sizes
    Defaults(defaults::Options),
    /// How many documents of unknown classes are noticed, and what that costs in known ones
    Other {
        /// One JSON object on standard output: set, classifier, measures
        #[arg(long)]
        json: bool,
    },
    /// Whether a sure stop is reached as often as it says: learned rankings, and reviews with few labelled texts
    Outlook(outlook::Options),
    /// Probabilities from error-correcting output codes: margins beside least squares, on tables
    Ecoc(ecoc::Options),
    /// Rankings learned for average precision beside other losses and the functions that they combine
    SvmMap(svm_map::Options),
    /// How often answers with a stated error rate keep it, and how much is answered of what could be
    Certify(certify::Options),
    /// Sets with a stated coverage on every corpus: what was asked for beside what was seen
    Sets(sets::Options),
    /// How often intervals of shares hold the truth, and cascades of sources keep their promise, on simulated documents
    Shares(shares::Options),
    /// A few new labels for an old model: what they gain where something moved, and what they lose where nothing did
    Recalibrate(recalibrate::Options),
    /// Which slopes are right for classes with one to four training documents
    RareSlopes(rare_slopes::Options),
    /// Log loss by number of training documents, least document frequency and cost of errors
    Small(small::Options),
    /// Whether cascades on real corpora keep their promise, and what they cost beside single sources and fixed thresholds
    Cascade(cascade::Options),
    /// Which of flipped labels are found, and how often reading a sample of the list again holds the true yield
    Suspects(suspects::Options),
    /// Seconds to fit and to apply each calibrator, and to measure what it says, once
    Speed {
        /// One JSON object on standard output
        #[arg(long)]
        json: bool,
        /// How many scores
        #[arg(long, default_value_t = 1_000_000, value_name = "N")]
        count: usize,
        /// Also write scores, labels and stated probabilities to this folder
        #[arg(long, value_name = "FOLDER")]
        export: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let data = std::env::var_os("CALIBRANT_DATA")
        .map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let result = match Arguments::parse().experiment {
        Experiment::Corpora { json } => corpora::run(&data, json),
        Experiment::Costs(options) => costs::run(&data, &options),
        Experiment::Bennett { json } => bennett::run(&data, json),
        Experiment::Intervals { json, sets } => intervals::run(json, sets),
        Experiment::KnownTruth {
            json,
            largest,
            export,
        } => known_truth::run(json, largest, export.as_deref()),
        Experiment::Defaults(options) => defaults::run(&options),
        Experiment::Cascade(options) => cascade::run(&data, &options),
        Experiment::Suspects(options) => suspects::run(&data, &options),
        Experiment::Outlook(options) => outlook::run(&data, &options),
        Experiment::Ecoc(options) => ecoc::run(&data, &options),
        Experiment::Speed {
            json,
            count,
            export,
        } => speed::run(json, count, export.as_deref()),
        Experiment::Certify(options) => certify::run(&data, &options),
        Experiment::Sets(options) => sets::run(&data, &options),
        Experiment::Shares(options) => shares::run(&options),
        Experiment::Recalibrate(options) => recalibrate::run(&data, &options),
        Experiment::RareSlopes(options) => rare_slopes::run(&data, &options),
        Experiment::Small(options) => small::run(&data, &options),
        Experiment::SvmMap(options) => svm_map::run(&data, &options),
        Experiment::Letor { json, only } => letor::run(&data, json, &only),
        Experiment::OracleSpeed {
            json,
            relevant,
            others,
        } => oracle_speed::run(json, relevant, others),
        Experiment::Other { json } => other::run(&data, json),
        Experiment::League { json, export } => league::run(&data, json, export.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
