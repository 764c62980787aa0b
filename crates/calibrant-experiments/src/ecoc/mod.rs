//! Probabilities from error-correcting output codes: the margin's sigmoid beside least squares.
//!
//! After Sobolev, Vezhnevets & Vezhnevets: the tables of the UCI repository, AdaBoost over stumps as the
//! binary learner, sigmoids fitted for each class on three folds.

mod measure;
mod page;
mod tables;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use calibrant::corpus::{Content, Document};
use calibrant::multiclass::{BinaryOutput, CodeDesign, CodeSettings, ColumnWeights};
use calibrant::pipeline::Classifier;
use calibrant::scorers::{AdaBoost, BoostingKind};
use clap::Args;

use measure::{Measures, Outcome, Setup, WAYS};
use tables::{Division, TABLES};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// One JSON object on standard output: table, way
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write calibration diagrams to this page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write training and test rows to this folder (svmlight, classes by number)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) export: Option<PathBuf>,
    /// Only these tables
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) tables: Vec<String>,
    /// Stumps a binary problem
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) rounds: usize,
    /// Folds of the held-out scores; the paper's number by default
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) folds: usize,
    /// Stumps that say how sure they are
    #[arg(long)]
    pub(crate) real: bool,
    /// The code
    #[arg(long, default_value = "random_dense", value_name = "DESIGN")]
    pub(crate) code: String,
    /// What of a binary score counts in distances
    #[arg(long, default_value = "probability", value_name = "WHAT")]
    pub(crate) output: String,
    /// How much the columns count in distances
    #[arg(long, default_value = "accuracy", value_name = "HOW")]
    pub(crate) weights: String,
}

impl Options {
    fn setup(&self) -> Result<Setup, Box<dyn Error>> {
        let design = CodeDesign::ALL.iter().find(|all| all.name() == self.code);
        let output = BinaryOutput::ALL
            .iter()
            .find(|all| all.name() == self.output);
        let weights = ColumnWeights::ALL
            .iter()
            .find(|all| all.name() == self.weights);
        let kind = if self.real {
            BoostingKind::Real
        } else {
            BoostingKind::Discrete
        };
        Ok(Setup {
            classifier: Classifier::AdaBoost(AdaBoost {
                kind,
                rounds: self.rounds,
            }),
            folds: self.folds,
            design: *design.ok_or_else(|| format!("there is no code `{}`", self.code))?,
            code: CodeSettings {
                output: *output.ok_or_else(|| format!("there is no output `{}`", self.output))?,
                weights: *weights
                    .ok_or_else(|| format!("there are no weights `{}`", self.weights))?,
                ..CodeSettings::default()
            },
        })
    }
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let setup = options.setup()?;
    let mut out = std::io::stdout().lock();
    let mut all: BTreeMap<&'static str, BTreeMap<&'static str, Measures>> = BTreeMap::new();
    let mut sections = Vec::new();
    for table in TABLES {
        let wanted = options.tables.is_empty() || options.tables.iter().any(|t| t == table.name);
        let divisions = if wanted { table.divisions(data)? } else { None };
        let Some(divisions) = divisions else {
            continue;
        };
        if let Some(folder) = &options.export {
            export(&folder.join(table.name), &divisions)?;
        }
        let mut outcomes: Vec<(&'static str, Outcome)> = Vec::new();
        for way in WAYS {
            outcomes.push((way.name, way.measure(&setup, &divisions)?));
        }
        if !options.json {
            print(&mut out, table.name, &outcomes)?;
        }
        sections.push(page::section(table.name, &outcomes));
        let measures = outcomes
            .into_iter()
            .map(|(way, outcome)| (way, outcome.measures));
        all.insert(table.name, measures.collect());
    }
    if let Some(path) = &options.html {
        let learner = format!("AdaBoost with {} stumps", options.rounds);
        std::fs::write(path, page::whole(&learner, sections))?;
    }
    if options.json {
        serde_json::to_writer(&mut out, &all)?;
        writeln!(out)?;
    }
    Ok(())
}

fn print(
    out: &mut dyn Write,
    name: &str,
    outcomes: &[(&'static str, Outcome)],
) -> std::io::Result<()> {
    let columns = outcomes.iter().find_map(|(_, o)| o.measures.code_length);
    writeln!(
        out,
        "\n{name}: {} test rows, {} columns\n{:<28} {:>9} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8}",
        outcomes.first().map_or(0, |(_, o)| o.measures.test_rows),
        columns.unwrap_or(0),
        "way",
        "log loss",
        "Brier",
        "cw ECE",
        "perfect",
        "raw",
        "accuracy",
        "µs/row",
        "decode"
    )?;
    for (way, outcome) in outcomes {
        let m = &outcome.measures;
        writeln!(
            out,
            "{way:<28} {:>9.4} {:>8.4} {:>8.4} {:>8.4} {:>8.4} {:>9.4} {:>8.2} {:>8.2}",
            m.log_loss,
            m.brier,
            m.classwise_ece,
            m.classwise_ece_of_perfect,
            m.classwise_ece_raw.unwrap_or(m.classwise_ece),
            m.accuracy,
            m.microseconds_per_row,
            m.decode_microseconds_per_row.unwrap_or(0.0),
        )?;
    }
    out.flush()
}

/// `0-train.svm`, `0-test.svm` and so on; test rows of classes that do not train are left out.
fn export(folder: &Path, divisions: &[Division]) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    for (number, division) in divisions.iter().enumerate() {
        let mut classes: Vec<&str> = division
            .training
            .iter()
            .map(|document| document.labels[0].as_str())
            .collect();
        classes.sort_unstable();
        classes.dedup();
        let parts = [("train", &division.training), ("test", &division.test)];
        for (part, documents) in parts {
            let rows: Vec<String> = documents
                .iter()
                .filter_map(|document| svmlight(document, &classes))
                .collect();
            let path = folder.join(format!("{number}-{part}.svm"));
            std::fs::write(path, rows.join("\n") + "\n")?;
        }
    }
    Ok(())
}

fn svmlight(document: &Document, classes: &[&str]) -> Option<String> {
    let class = classes.binary_search(&document.labels[0].as_str()).ok()?;
    let Content::Features(features) = &document.content else {
        return None;
    };
    let features = features
        .iter()
        .map(|(number, value)| format!(" {number}:{value}"));
    Some(format!("{class}{}", features.collect::<String>()))
}
