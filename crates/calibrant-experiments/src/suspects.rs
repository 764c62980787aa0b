//! Which labels are wrong? 5 % of labels flipped, found again by held-out probabilities; and how often reading a sample of the list again
//! holds the true yield.
//!
//! `bench/suspects_peers.py FOLDER` measures cleanlab on the probabilities that `--export FOLDER` writes.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use calibrant::NoProgress;
use calibrant::corpus::{Document, Fields};
use calibrant::decision::{Suspects, wrong_among};
use calibrant::numeric::Random;
use calibrant::pipeline::{FitSettings, TrainingCorpus, fit_keeping_forecasts};
use clap::Args;
use serde::Serialize;

use crate::data::Corpus;

#[derive(Args)]
pub(crate) struct Options {
    /// One JSON array on standard output
    #[arg(long)]
    json: bool,
    /// Only these corpora
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_values = ["20newsgroups", "ag-news", "imdb", "tweet-emoji"])]
    corpora: Vec<String>,
    /// So many documents of each
    #[arg(long, default_value_t = 3_000, value_name = "N")]
    documents: usize,
    /// So many times
    #[arg(long, default_value_t = 10, value_name = "N")]
    repetitions: usize,
    /// Also write probabilities, labels and flips to this folder
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,
}

/// The share of labels that are flipped.
const FLIPPED: f64 = 0.05;

#[derive(Serialize)]
struct Cell {
    corpus: String,
    noise: &'static str,
    repetition: usize,
    flipped: usize,
    /// Flipped labels among the first so many.
    precision: f64,
    /// The same by the probability of the label alone.
    by_probability: f64,
    /// In how many of 100 samples of 30 the interval held the true number among the first so many.
    reread_held: usize,
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = &options.export {
        std::fs::create_dir_all(folder)?;
    }
    let mut out = std::io::stdout().lock();
    let mut cells = Vec::new();
    for name in &options.corpora {
        let Some((documents, _)) = Corpus::named(name).read(data)? else {
            continue;
        };
        for noise in ["random", "confused"] {
            for repetition in 0..options.repetitions {
                let mut random = Random::from_seed(1_000 + repetition as u64);
                let mut drawn = documents.clone();
                random.shuffle(&mut drawn);
                drawn.truncate(options.documents);
                let cell = measure(name, noise, repetition, drawn, &mut random, options)?;
                if !options.json {
                    writeln!(
                        out,
                        "{name} {noise} {repetition}: {} flipped, precision {:.4}, by the label's probability {:.4}; \
                         reading 30 again held the yield in {} of 100",
                        cell.flipped, cell.precision, cell.by_probability, cell.reread_held
                    )?;
                    out.flush()?;
                }
                cells.push(cell);
            }
        }
    }
    if options.json {
        serde_json::to_writer(&mut out, &cells)?;
        writeln!(out)?;
    }
    Ok(())
}

/// What a fit of these documents says of each, with rows as they were given.
struct HeldOut {
    classes: usize,
    rows: Vec<usize>,
    labels: Vec<u32>,
    probabilities: Vec<f64>,
}

fn held_out(documents: &[Document]) -> Result<HeldOut, Box<dyn Error>> {
    let settings = FitSettings::default();
    let corpus = TrainingCorpus::of_documents(&settings, documents.to_vec())?;
    let (_, held) = fit_keeping_forecasts(corpus, Fields::default(), &settings, &NoProgress)?;
    let forecasts = held.forecasts;
    Ok(HeldOut {
        classes: forecasts.class_names.len(),
        rows: held.rows.iter().map(|&row| row as usize).collect(),
        labels: forecasts.labels.iter().map(|row| row[0]).collect(),
        probabilities: forecasts.probabilities.iter().map(|p| p.value()).collect(),
    })
}

/// For each class, how often its documents are taken for each other one.
fn confusion(held: &HeldOut) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0.0; held.classes]; held.classes];
    for (own, &label) in held
        .probabilities
        .chunks_exact(held.classes)
        .zip(&held.labels)
    {
        for (class, p) in own.iter().enumerate() {
            if class != label as usize {
                sums[label as usize][class] += p;
            }
        }
    }
    sums
}

fn measure(
    name: &str,
    noise: &'static str,
    repetition: usize,
    mut documents: Vec<Document>,
    random: &mut Random,
    options: &Options,
) -> Result<Cell, Box<dyn Error>> {
    let mut names: Vec<String> = documents.iter().map(|d| d.labels[0].clone()).collect();
    names.sort_unstable();
    names.dedup();
    let weights = match noise {
        "random" => vec![vec![1.0; names.len()]; names.len()],
        _ => confusion(&held_out(&documents)?),
    };
    let mut wrong = vec![false; documents.len()];
    for (document, wrong) in documents.iter_mut().zip(&mut wrong) {
        if random.uniform() >= FLIPPED {
            continue;
        }
        let own = names.iter().position(|name| *name == document.labels[0]);
        let own = own.ok_or("a label without a name")?;
        let mut to: Vec<f64> = weights[own].clone();
        to[own] = 0.0;
        let mut at = random.uniform() * to.iter().sum::<f64>();
        let class = to.iter().position(|weight| {
            at -= weight;
            at < 0.0
        });
        let class = class.ok_or("a class without others")?;
        document.labels = vec![names[class].clone()];
        *wrong = true;
    }
    let held = held_out(&documents)?;
    let flips: Vec<bool> = held.rows.iter().map(|&row| wrong[row]).collect();
    let flipped = flips.iter().filter(|&&flip| flip).count();
    let suspects = Suspects::find(&held.probabilities, held.classes, &held.labels)?;
    let first: Vec<bool> = suspects.ranked()[..flipped]
        .iter()
        .map(|s| flips[s.row])
        .collect();
    let mut by_probability = suspects.ranked().to_vec();
    by_probability.sort_by(|a, b| a.given_probability.total_cmp(&b.given_probability));
    let share = |hits: usize| hits as f64 / flipped.max(1) as f64;
    let hits = |list: &[bool]| list.iter().filter(|&&flip| flip).count();
    let alone: Vec<bool> = by_probability[..flipped]
        .iter()
        .map(|s| flips[s.row])
        .collect();
    if let Some(folder) = &options.export {
        let stem = folder.join(format!("{name}-{noise}-{repetition}"));
        export(&stem, &held, &flips, suspects.ranked())?;
    }
    let mut reread_held = 0;
    let yielded = hits(&first) as u64;
    for _ in 0..100 {
        let mut list = first.clone();
        random.shuffle(&mut list);
        let read = list.len().min(30);
        let found = wrong_among(
            list.len() as u64,
            read as u64,
            hits(&list[..read]) as u64,
            0.95,
        );
        reread_held += usize::from((found.lower..=found.upper).contains(&yielded));
    }
    Ok(Cell {
        corpus: name.to_owned(),
        noise,
        repetition,
        flipped,
        precision: share(hits(&first)),
        by_probability: share(hits(&alone)),
        reread_held,
    })
}

/// Probabilities as numbers of eight bytes; classes, labels, flips and our order as JSON.
fn export(
    stem: &Path,
    held: &HeldOut,
    flips: &[bool],
    ranked: &[calibrant::decision::Suspect],
) -> Result<(), Box<dyn Error>> {
    let bytes: Vec<u8> = held
        .probabilities
        .iter()
        .flat_map(|p| p.to_le_bytes())
        .collect();
    std::fs::write(stem.with_extension("f64"), bytes)?;
    let order: Vec<usize> = ranked.iter().map(|suspect| suspect.row).collect();
    let about = serde_json::json!({
        "classes": held.classes, "labels": held.labels, "flipped": flips, "order": order,
    });
    std::fs::write(stem.with_extension("json"), about.to_string())?;
    Ok(())
}
