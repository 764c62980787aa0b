//! Runs the program in a cell, as a person would: two commands, no options but the way's.

use std::error::Error;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::ValueEnum;
use serde::Deserialize;

use super::cell::{Cell, Outcome, Size};
use super::corpus::PreparedCorpus;
use super::measure::Stated;
use super::split::Split;

/// Ways of fitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Way {
    /// `fit` without an option
    Svm,
    /// `fit --classifier logistic`
    Logistic,
    /// `fit --classifier naive-bayes`
    NaiveBayes,
    /// `fit --search --time-budget 30`
    Search,
    /// `fit --weighting log-tf-idf --min-df 1`: what choosing a weighting gains. Only where it is asked for
    LogTfIdf,
}

impl Way {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Svm => "svm",
            Self::Logistic => "logistic",
            Self::NaiveBayes => "naive_bayes",
            Self::Search => "search",
            Self::LogTfIdf => "log_tf_idf",
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Svm => &[],
            Self::Logistic => &["--classifier", "logistic"],
            Self::NaiveBayes => &["--classifier", "naive-bayes"],
            Self::Search => &["--search", "--time-budget", "30"],
            Self::LogTfIdf => &["--weighting", "log-tf-idf", "--min-df", "1"],
        }
    }

    /// The ways of a cell, of those asked for if any are: searches take long, so two sizes without copies must do.
    pub(super) fn of(size: Size, copies: bool, only: &[Self]) -> Vec<Self> {
        let searched = [Size::Documents(1_000), Size::Documents(10_000)];
        let searched = searched.contains(&size) && !copies;
        let usual = [Self::Svm, Self::Logistic, Self::NaiveBayes, Self::Search];
        let asked = if only.is_empty() { &usual } else { only };
        let of_cell = |way: &&Self| **way != Self::Search || searched;
        asked.iter().filter(of_cell).copied().collect()
    }
}

/// A program and the key that its outcomes are kept under.
pub(super) struct Program {
    path: PathBuf,
    pub(super) key: String,
}

impl Program {
    /// The program given, or the one beside this one.
    pub(super) fn find(given: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let path = match given {
            Some(path) => path.to_owned(),
            None => std::env::current_exe()?.with_file_name("calibrant"),
        };
        let bytes = std::fs::read(&path).map_err(|error| {
            format!(
                "{}: {error}; `cargo build --release -p calibrant-cli` makes it, --program names another",
                path.display()
            )
        })?;
        let key = blake3::hash(&bytes).to_hex()[..12].to_owned();
        // It is run in another folder.
        let path = std::path::absolute(path)?;
        Ok(Self { path, key })
    }
}

/// Fits, predicts and measures.
pub(super) fn run(
    program: &Program,
    way: Way,
    corpus: &PreparedCorpus,
    cell: &Cell,
) -> Result<Outcome, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let split = corpus.split(cell.size, cell.draw);
    let file = |name: &str| folder.path().join(name);
    write_lines(
        &file("training.jsonl"),
        corpus,
        split.training_with(cell.copies),
    )?;
    write_lines(&file("test.jsonl"), corpus, split.test.iter().copied())?;
    let (clock, cpu) = (Instant::now(), cpu_of_children());
    let fitted = Command::new(&program.path)
        .current_dir(&folder)
        .args([
            "fit",
            "training.jsonl",
            "--text",
            "text",
            "--label",
            "label",
        ])
        .args(way.options())
        .args(["-o", "model.calibrant"])
        .output()?;
    let mut outcome = Outcome {
        cell: cell.clone(),
        way: way.name().to_owned(),
        program: Some(program.key.clone()),
        refused: None,
        measures: None,
        cpu: 0.0,
        wall: 0.0,
    };
    if fitted.status.success() {
        let predicted = Command::new(&program.path)
            .current_dir(&folder)
            .args(["predict", "model.calibrant", "test.jsonl", "--id", "id"])
            .args(["-o", "stated.jsonl"])
            .output()?;
        if predicted.status.success() {
            outcome.measures = Some(measure(&file("stated.jsonl"), corpus, &split)?);
        } else {
            outcome.refused = Some(said(&predicted.stderr));
        }
    } else {
        outcome.refused = Some(said(&fitted.stderr));
    }
    outcome.wall = clock.elapsed().as_secs_f64();
    outcome.cpu = cpu_of_children() - cpu;
    Ok(outcome)
}

fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let error = text.lines().find(|line| line.starts_with("error"));
    error.or(text.lines().last()).unwrap_or_default().to_owned()
}

fn write_lines(
    path: &Path,
    corpus: &PreparedCorpus,
    rows: impl Iterator<Item = usize>,
) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    for row in rows {
        writeln!(out, "{}", corpus.lines[row])?;
    }
    out.flush()
}

#[derive(Deserialize)]
struct Prediction {
    classes: Vec<StatedClass>,
}

#[derive(Deserialize)]
struct StatedClass {
    label: String,
    probability: f64,
}

fn measure(
    path: &Path,
    corpus: &PreparedCorpus,
    split: &Split,
) -> Result<super::cell::Measures, Box<dyn Error>> {
    let mut classes: Vec<String> = Vec::new();
    let mut probabilities = Vec::new();
    for line in BufReader::new(std::fs::File::open(path)?).lines() {
        let mut row: Prediction = serde_json::from_str(&line?)?;
        // The most probable comes first; a table wants the same order in every row.
        row.classes.sort_by(|a, b| a.label.cmp(&b.label));
        if classes.is_empty() {
            classes = row
                .classes
                .iter()
                .map(|class| class.label.clone())
                .collect();
        }
        probabilities.extend(row.classes.iter().map(|class| class.probability));
    }
    let labels = split.test.iter().map(|&row| corpus.labels[row].as_slice());
    Stated {
        classes: &classes,
        probabilities: &probabilities,
        labels: labels.collect(),
        several: corpus.about.several,
        training: split.training.len(),
    }
    .measure()
}

/// Seconds that children of this process which have ended used, to a hundredth; nothing where there is no `/proc`.
fn cpu_of_children() -> f64 {
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in brackets may contain spaces; children's user and system time are fields 16 and 17.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = fields.split_whitespace().skip(13).take(2);
    ticks
        .filter_map(|field| field.parse::<f64>().ok())
        .sum::<f64>()
        / TICKS_A_SECOND
}
