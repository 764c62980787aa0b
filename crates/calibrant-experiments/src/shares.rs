//! How often intervals of shares hold the truth, and how often certified cascades keep their promise: simulated documents
//! whose truth is known.

use std::error::Error;
use std::io::Write;

use calibrant::decision::{
    CascadeOutcome, CascadeSettings, CascadeWorld, PrevalenceCoverage, PrevalenceMethod,
    PrevalenceSettings, PrevalenceTarget, PrevalenceWorld, SimulatedTier, simulate_cascade,
    simulate_prevalence,
};
use clap::Args;
use serde::Serialize;

#[derive(Args)]
pub(crate) struct Options {
    /// One JSON object on standard output: shares, cascades
    #[arg(long)]
    json: bool,
    /// So many samples for every share
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    draws: usize,
    /// So many calibration sets for every cascade
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    sets: usize,
    /// The method of shares: auto, labels-alone, prediction-powered, stratified, stratified-exact
    #[arg(long, default_value = "auto", value_name = "METHOD")]
    method: PrevalenceMethod,
    /// Only these true shares; none leaves shares out
    #[arg(long, value_name = "SHARE,…", value_delimiter = ',', default_values_t = SHARES, num_args = 0..)]
    shares: Vec<f64>,
    /// Leave cascades out
    #[arg(long)]
    no_cascades: bool,
    /// The share of the source that documents are drawn from, rather than of the documents
    #[arg(long)]
    source: bool,
}

/// Name, separation, slope, shift, and whether only 0 or 1 is stated.
const PREDICTIONS: [(&str, f64, f64, f64, bool); 9] = [
    ("useless", 0.0, 1.0, 0.0, false),
    ("weak", 1.0, 1.0, 0.0, false),
    ("good", 3.0, 1.0, 0.0, false),
    ("nearly perfect", 5.0, 1.0, 0.0, false),
    ("too sure", 2.0, 3.0, 0.0, false),
    ("too high", 3.0, 1.0, 2.0, false),
    ("too low", 3.0, 1.0, -2.0, false),
    ("yes or no", 4.0, 1.0, 0.0, true),
    ("reversed", 2.0, -1.0, 0.0, false),
];
const SHARES: [f64; 5] = [0.005, 0.02, 0.1, 0.3, 0.5];
const LABELLED: [usize; 6] = [50, 100, 200, 500, 1_000, 2_000];

/// Noise that sources share, and the slope of their log-odds.
const SOURCES: [(f64, f64); 5] = [(0.0, 1.0), (0.3, 1.0), (0.6, 1.0), (0.3, 2.0), (0.3, 0.5)];

#[derive(Serialize)]
struct ShareCell {
    predictions: &'static str,
    world: PrevalenceWorld,
    labelled: usize,
    found: PrevalenceCoverage,
}

#[derive(Serialize)]
struct CascadeCell {
    world: CascadeWorld,
    settings: CascadeSettings,
    documents: usize,
    found: CascadeOutcome,
}

#[derive(Serialize)]
struct Report {
    shares: Vec<ShareCell>,
    cascades: Vec<CascadeCell>,
}

pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let shares = shares(options, &mut out)?;
    let cascades = match options.no_cascades {
        true => Vec::new(),
        false => cascades(options, &mut out)?,
    };
    if options.json {
        serde_json::to_writer(&mut out, &Report { shares, cascades })?;
        writeln!(out)?;
    }
    Ok(())
}

fn shares(options: &Options, out: &mut impl Write) -> Result<Vec<ShareCell>, Box<dyn Error>> {
    let target = match options.source {
        true => PrevalenceTarget::Source,
        false => PrevalenceTarget::Documents,
    };
    let method = options.method;
    let settings = PrevalenceSettings {
        method,
        target,
        ..PrevalenceSettings::default()
    };
    let mut cells = Vec::new();
    for &share in &options.shares {
        for (predictions, separation, slope, shift, hard) in PREDICTIONS {
            for labelled in LABELLED {
                let documents = if options.source { 4_000 } else { 20_000 };
                let world = PrevalenceWorld {
                    documents,
                    share,
                    separation,
                    slope,
                    shift,
                    hard,
                };
                let found = simulate_prevalence(&world, labelled, &settings, options.draws, 7);
                if !options.json {
                    writeln!(
                        out,
                        "share {share:<5} {predictions:14} {labelled:4} labels: held {:.4}, width {:.4}, {:.3} of labels alone; \
                         PPI++ in {:.3}; correlation {:.2}",
                        found.coverage(),
                        found.width,
                        found.width / found.labels_alone_width,
                        found.prediction_powered as f64 / found.draws.max(1) as f64,
                        found.correlation,
                    )?;
                }
                cells.push(ShareCell {
                    predictions,
                    world,
                    labelled,
                    found,
                });
            }
        }
    }
    Ok(cells)
}

fn cascades(options: &Options, out: &mut impl Write) -> Result<Vec<CascadeCell>, Box<dyn Error>> {
    let mut cells = Vec::new();
    for (shared, slope) in SOURCES {
        for (risk, documents) in [(0.02, 500), (0.02, 2_000), (0.05, 500), (0.05, 2_000)] {
            for set_aside in [0.0, 0.3] {
                let tier = |cost, separation| SimulatedTier {
                    cost,
                    separation,
                    slope,
                };
                let tiers = vec![tier(0.001, 2.5), tier(0.05, 3.5)];
                let world = CascadeWorld {
                    tiers,
                    person: 1.0,
                    shared,
                };
                let settings = CascadeSettings {
                    risk,
                    set_aside,
                    ..CascadeSettings::default()
                };
                let found = simulate_cascade(&world, documents, &settings, options.sets, 3);
                if !options.json {
                    let share = |count: usize| count as f64 / found.draws.max(1) as f64;
                    writeln!(
                        out,
                        "shared noise {shared}, slope {slope}, risk {risk}, {documents} documents, {set_aside} set aside: \
                         broken {:.3} at cost {:.4}; untested broken {:.3} at {:.4}; by what is stated {:.4} wrong at {:.4}; \
                         best {:.4}, one source {:.3}",
                        share(found.broken),
                        found.cost,
                        share(found.untested_broken),
                        found.untested_cost,
                        found.stated_risk,
                        found.stated_cost,
                        found.best_cost,
                        found.single_cost,
                    )?;
                }
                cells.push(CascadeCell {
                    world,
                    settings,
                    documents,
                    found,
                });
            }
        }
    }
    Ok(cells)
}
