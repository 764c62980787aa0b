//! Cascades on real corpora: our model, a simulated second source of known accuracy, a person. How often is the promise kept, and what does it cost beside
//! single sources and beside thresholds that were fixed in advance?

use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::NoProgress;
use calibrant::corpus::Fields;
use calibrant::decision::{CascadeOutcome, CascadeSettings, CascadeTier, resample_cascade};
use calibrant::numeric::Random;
use calibrant::pipeline::{FitSettings, TrainingCorpus, fit};
use clap::Args;
use serde::Serialize;

use crate::data::Corpus;

#[derive(Args)]
pub(crate) struct Options {
    /// One JSON array on standard output
    #[arg(long)]
    json: bool,
    /// So many calibration sets
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    draws: usize,
    /// Documents of each
    #[arg(long, default_value_t = 2_000, value_name = "N")]
    documents: usize,
    /// Train on at most so many documents
    #[arg(long, default_value_t = 4_000, value_name = "N")]
    training: usize,
}

/// Thresholds that somebody might fix in advance.
const FIXED: [f64; 6] = [0.8, 0.9, 0.95, 0.98, 0.99, 0.999];

const COSTS: [f64; 3] = [0.001, 0.02, 1.0];

#[derive(Serialize)]
struct Cell {
    corpus: &'static str,
    second_accuracy: f64,
    risk: f64,
    set_aside: f64,
    found: CascadeOutcome,
    /// Pairs of thresholds with the share of wrong answers and the cost over all documents.
    fixed: Vec<(f64, f64, f64, f64)>,
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut cells = Vec::new();
    for corpus in ["20newsgroups", "ag-news"] {
        let Some(model) = model_tier(data, corpus, options.training)? else {
            continue;
        };
        for separation in [2.5, 4.0] {
            let second = second_tier(model.right.len(), separation);
            let right = second.right.iter().filter(|right| **right).count();
            let second_accuracy = right as f64 / second.right.len() as f64;
            let tiers = [
                model.clone(),
                second,
                CascadeTier::truth("person", COSTS[2]),
            ];
            let fixed = fixed_pairs(&tiers);
            for (risk, set_aside) in [(0.02, 0.0), (0.02, 0.3), (0.05, 0.0), (0.05, 0.3)] {
                let settings = CascadeSettings {
                    risk,
                    set_aside,
                    ..CascadeSettings::default()
                };
                let found =
                    resample_cascade(&tiers, options.documents, &settings, options.draws, 5)?;
                let cell = Cell {
                    corpus,
                    second_accuracy,
                    risk,
                    set_aside,
                    found,
                    fixed: fixed.clone(),
                };
                if !options.json {
                    show(&mut out, &cell)?;
                }
                cells.push(cell);
            }
        }
    }
    if options.json {
        serde_json::to_writer(&mut out, &cells)?;
        return Ok(writeln!(out)?);
    }
    show_fixed(&mut out, &cells)
}

/// Who fixes thresholds in advance does so for every corpus and second source: which pairs keep to the risk everywhere, and what do they cost?
fn show_fixed(out: &mut impl Write, cells: &[Cell]) -> Result<(), Box<dyn Error>> {
    for risk in [0.02, 0.05] {
        let of_risk = || {
            let own = cells.iter();
            own.filter(move |cell| cell.risk == risk && cell.set_aside == 0.0)
        };
        let count = of_risk().count();
        let pairs = of_risk().next().map_or(0, |cell| cell.fixed.len());
        let mean = |cost: &dyn Fn(&Cell) -> f64| of_risk().map(cost).sum::<f64>() / count as f64;
        let keeps = |pair: &usize| of_risk().all(|cell| cell.fixed[*pair].2 <= risk);
        let costs = (0..pairs).filter(keeps);
        let costs: Vec<f64> = costs.map(|pair| mean(&|cell| cell.fixed[pair].3)).collect();
        let ours = mean(&|cell| cell.found.cost);
        writeln!(
            out,
            "risk {risk}: of {pairs} fixed pairs {} keep to it in all {count} worlds, {} of these at less than our mean cost {ours:.4}; the cheapest costs {:.4}",
            costs.len(),
            costs.iter().filter(|&&cost| cost < ours).count(),
            costs.iter().copied().fold(f64::INFINITY, f64::min),
        )?;
    }
    Ok(())
}

fn show(out: &mut impl Write, cell: &Cell) -> Result<(), Box<dyn Error>> {
    let (found, risk) = (&cell.found, cell.risk);
    let kept = cell.fixed.iter().filter(|pair| pair.2 <= risk);
    let cheaper = kept.clone().filter(|pair| pair.3 < found.cost).count();
    let least = kept
        .clone()
        .map(|pair| pair.3)
        .fold(f64::INFINITY, f64::min);
    writeln!(
        out,
        "{} second source {:.3} right, risk {risk}, {} set aside: broken {:.3} of {} at cost {:.4} ({:.4} wrong); one source {:.3}; \
         by what is stated {:.4} wrong at {:.4}; of {} fixed pairs {} keep to the risk, {cheaper} of these cheaper, the cheapest {least:.4}; \
         untested {:.3} broken; best {:.4}",
        cell.corpus,
        cell.second_accuracy,
        cell.set_aside,
        found.broken as f64 / found.draws.max(1) as f64,
        found.draws,
        found.cost,
        found.risk,
        found.single_cost,
        found.stated_risk,
        found.stated_cost,
        cell.fixed.len(),
        kept.count(),
        found.untested_broken as f64 / found.draws.max(1) as f64,
        found.best_cost,
    )?;
    Ok(out.flush()?)
}

/// What our model says of the test documents.
fn model_tier(
    data: &Path,
    corpus: &str,
    most: usize,
) -> Result<Option<CascadeTier>, Box<dyn Error>> {
    let Some((mut training, test)) = Corpus::named(corpus).read(data)? else {
        return Ok(None);
    };
    Random::from_seed(1).shuffle(&mut training);
    training.truncate(most);
    let settings = FitSettings::default();
    let model = fit(
        TrainingCorpus::of_documents(&settings, training)?,
        Fields::default(),
        &settings,
        &NoProgress,
    )?;
    let names: Vec<&str> = model.class_names().collect();
    let mut tier = CascadeTier::truth("model", COSTS[0]);
    for document in &test {
        let said = model.predict(document);
        let best = (0..said.len()).reduce(|a, b| if said[b] > said[a] { b } else { a });
        let best = best.unwrap_or(0);
        tier.confidences.push(said[best].value());
        tier.right
            .push(document.labels.iter().any(|label| label == names[best]));
    }
    Ok(Some(tier))
}

/// A calibrated source whose log-odds are those of two normal scores so far apart.
fn second_tier(documents: usize, separation: f64) -> CascadeTier {
    let mut random = Random::from_seed(2);
    let mut tier = CascadeTier::truth("second", COSTS[1]);
    for _ in 0..documents {
        let score = 0.5 * separation + random.normal();
        let log_odds = (separation * score).abs();
        tier.confidences.push(1.0 / (1.0 + (-log_odds).exp()));
        tier.right.push(score > 0.0);
    }
    tier
}

/// Every pair of fixed thresholds: both, the share of wrong answers, the cost.
fn fixed_pairs(tiers: &[CascadeTier; 3]) -> Vec<(f64, f64, f64, f64)> {
    let documents = tiers[0].right.len();
    let pairs = FIXED
        .iter()
        .flat_map(|&first| FIXED.map(|second| (first, second)));
    pairs
        .map(|(first, second)| {
            let (mut wrong, mut paid) = (0, 0.0);
            for document in 0..documents {
                paid += COSTS[0];
                if tiers[0].confidences[document] >= first {
                    wrong += usize::from(!tiers[0].right[document]);
                    continue;
                }
                paid += COSTS[1];
                if tiers[1].confidences[document] >= second {
                    wrong += usize::from(!tiers[1].right[document]);
                    continue;
                }
                paid += COSTS[2];
            }
            let all = documents as f64;
            (first, second, wrong as f64 / all, paid / all)
        })
        .collect()
}
