//! Scores whose true posterior is known: how far is each calibrator from it?
//!
//! A tenth are positive. In A, B and C both classes have asymmetric Laplace scores: in A the true log-odds rise,
//! in B they turn up again on the far left, so that no rising curve is right, and C is A times thirty. In D both
//! classes are mixtures of two bell curves, which none of the density families is.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::calibration::{Calibrator, CalibratorKind, HeldOutScores, SavedCalibrator};
use calibrant::numeric::{Random, sigmoid, softplus};

const POSITIVE_SHARE: f64 = 0.1;
/// Fresh scores that the excess is measured on.
const FRESH: usize = 1_000_000;
/// How many examples, and how often drawn again.
const SIZES: [(usize, u64); 3] = [(10_000, 20), (100_000, 20), (1_000_000, 5)];
/// How often for the family that the scores are drawn from: its excess is mostly luck, and only the mean of
/// many draws says what it is.
const DRAWS_OF_THE_TRUE_FAMILY: u64 = 100;
/// Draws that other programs are given.
const SHARED_DRAWS: u64 = 2;

/// The scores of one class.
enum Truth {
    /// Mode, left rate, right rate.
    AsymmetricLaplace(f64, f64, f64),
    /// Weight, mean and deviation of each bell.
    Bells([(f64, f64, f64); 2]),
}

impl Truth {
    fn draw(&self, random: &mut Random) -> f64 {
        match *self {
            Self::AsymmetricLaplace(mode, left, right) => {
                let to_the_left = random.uniform() < right / (left + right);
                let exponential = -random.open_uniform().ln();
                if to_the_left {
                    mode - exponential / left
                } else {
                    mode + exponential / right
                }
            }
            Self::Bells(bells) => {
                let (_, mean, deviation) = bells[usize::from(random.uniform() >= bells[0].0)];
                mean + deviation * random.normal()
            }
        }
    }

    /// Up to a constant that both classes share.
    fn ln_pdf(&self, score: f64) -> f64 {
        match *self {
            Self::AsymmetricLaplace(mode, left, right) => {
                let rate = if score <= mode { left } else { right };
                (left * right / (left + right)).ln() - rate * (score - mode).abs()
            }
            Self::Bells(bells) => {
                let ln = |(weight, mean, deviation): (f64, f64, f64)| {
                    weight.ln()
                        - deviation.ln()
                        - 0.5 * ((score - mean) / deviation).powi(2)
                        - 0.5 * std::f64::consts::TAU.ln()
                };
                let (a, b) = (ln(bells[0]), ln(bells[1]));
                a.max(b) + (-(a - b).abs()).exp().ln_1p()
            }
        }
    }
}

struct KnownTruth {
    name: &'static str,
    negative: Truth,
    positive: Truth,
    factor: f64,
}

const SETS: [KnownTruth; 4] = [
    KnownTruth {
        name: "A",
        negative: Truth::AsymmetricLaplace(-1.0, 1.0, 3.0),
        positive: Truth::AsymmetricLaplace(0.5, 1.5, 1.0),
        factor: 1.0,
    },
    KnownTruth {
        name: "B",
        negative: Truth::AsymmetricLaplace(-1.0, 1.5, 3.0),
        positive: Truth::AsymmetricLaplace(0.5, 0.9, 1.0),
        factor: 1.0,
    },
    KnownTruth {
        name: "C",
        negative: Truth::AsymmetricLaplace(-1.0, 1.0, 3.0),
        positive: Truth::AsymmetricLaplace(0.5, 1.5, 1.0),
        factor: 30.0,
    },
    KnownTruth {
        name: "D",
        negative: Truth::Bells([(0.9, -1.0, 0.5), (0.1, 0.3, 0.4)]),
        positive: Truth::Bells([(0.7, 0.8, 0.6), (0.3, -0.3, 0.5)]),
        factor: 1.0,
    },
];

impl KnownTruth {
    /// Scores, labels and true log-odds. A and C come from the same draws.
    fn draw(&self, count: usize, seed: u64) -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let mut random = Random::from_seed(seed);
        let prior = (POSITIVE_SHARE / (1.0 - POSITIVE_SHARE)).ln();
        let mut drawn = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let label = random.uniform() < POSITIVE_SHARE;
            let class = if label {
                &self.positive
            } else {
                &self.negative
            };
            let score = class.draw(&mut random);
            drawn.0.push(self.factor * score);
            drawn.1.push(label);
            drawn
                .2
                .push(self.positive.ln_pdf(score) - self.negative.ln_pdf(score) + prior);
        }
        drawn
    }
}

/// Scores and labels of set A.
pub(crate) fn first_set(count: usize) -> (Vec<f64>, Vec<bool>) {
    let (scores, labels, _) = SETS[0].draw(count, 1);
    (scores, labels)
}

#[derive(serde::Serialize)]
struct Excess {
    /// Nats a score above the log loss of the true posterior, mean over draws.
    excess: f64,
    /// The standard deviation between draws.
    deviation: f64,
    /// Fresh scores, over all draws, that were given exactly 0 or 1.
    zeros_and_ones: usize,
    /// What `auto` chose, and how often.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    chosen: BTreeMap<&'static str, usize>,
}

type Table = BTreeMap<&'static str, BTreeMap<usize, BTreeMap<&'static str, Excess>>>;

/// Measures every calibrator; `export` is a folder for the draws, so that other programs can be measured
/// on the same scores.
pub(crate) fn run(json: bool, largest: usize, export: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut table = Table::new();
    let methods: Vec<CalibratorKind> = CalibratorKind::METHODS
        .iter()
        .copied()
        .chain([CalibratorKind::Auto])
        .collect();
    for set in &SETS {
        let (fresh, _, truth) = set.draw(FRESH, 0);
        if let Some(folder) = export {
            std::fs::create_dir_all(folder)?;
            let file = |part: &str| folder.join(format!("{}-fresh-{part}.f64", set.name));
            write_floats(&file("scores"), &fresh)?;
            write_floats(&file("truth"), &truth)?;
        }
        for &(count, draws) in SIZES.iter().filter(|(count, _)| *count <= largest) {
            let mut excesses: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
            let mut ends: BTreeMap<&'static str, usize> = BTreeMap::new();
            let mut chosen: BTreeMap<&'static str, usize> = BTreeMap::new();
            for draw in 1..=draws {
                let (scores, labels, _) = set.draw(count, draw);
                if let Some(folder) = export.filter(|_| draw <= SHARED_DRAWS) {
                    let stem = folder.join(format!("{}-{count}-{draw}", set.name));
                    write_floats(&stem.with_extension("f64"), &scores)?;
                    let labels: Vec<u8> = labels.iter().map(|&label| label.into()).collect();
                    std::fs::write(stem.with_extension("u8"), labels)?;
                }
                let held_out = HeldOutScores::assume(scores, labels)?;
                for &method in &methods {
                    let calibrator = if method == CalibratorKind::Auto {
                        let choice = method.choose(&held_out)?;
                        *chosen.entry(choice.chosen.name()).or_default() += 1;
                        choice.calibrator
                    } else {
                        method.fit(&held_out)?
                    };
                    let (excess, at_the_ends) = excess(&calibrator, &fresh, &truth);
                    excesses.entry(method.name()).or_default().push(excess);
                    *ends.entry(method.name()).or_default() += at_the_ends;
                }
            }
            let truly = CalibratorKind::AsymmetricLaplace;
            for draw in draws + 1..=DRAWS_OF_THE_TRUE_FAMILY {
                let (scores, labels, _) = set.draw(count, draw);
                let calibrator = truly.fit(&HeldOutScores::assume(scores, labels)?)?;
                let (excess, at_the_ends) = excess(&calibrator, &fresh, &truth);
                excesses.entry(truly.name()).or_default().push(excess);
                *ends.entry(truly.name()).or_default() += at_the_ends;
            }
            let mut rows: Vec<(&'static str, Excess)> = excesses
                .into_iter()
                .map(|(name, values)| (name, summary(name, &values, ends[name], &chosen)))
                .collect();
            rows.sort_by(|a, b| a.1.excess.total_cmp(&b.1.excess));
            if !json {
                writeln!(out, "\n{} at {count} ({draws} draws)", set.name)?;
                show(&mut out, &rows)?;
            }
            table
                .entry(set.name)
                .or_default()
                .insert(count, rows.into_iter().collect());
        }
    }
    if json {
        serde_json::to_writer(&mut out, &table)?;
        writeln!(out)?;
    }
    Ok(())
}

fn show(out: &mut impl Write, rows: &[(&'static str, Excess)]) -> std::io::Result<()> {
    for (name, row) in rows {
        let note: Vec<String> = row
            .chosen
            .iter()
            .map(|(name, times)| format!("{name} {times}"))
            .collect();
        writeln!(
            out,
            "{name:<24} {:>10.2e} ± {:.1e}  {}",
            row.excess,
            row.deviation,
            note.join(", ")
        )?;
    }
    out.flush()
}

fn summary(
    name: &str,
    values: &[f64],
    zeros_and_ones: usize,
    chosen: &BTreeMap<&'static str, usize>,
) -> Excess {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Excess {
        excess: mean,
        deviation: (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt(),
        zeros_and_ones,
        chosen: if name == CalibratorKind::Auto.name() {
            chosen.clone()
        } else {
            BTreeMap::new()
        },
    }
}

/// Mean Kullback-Leibler divergence from the true posterior to what is stated, and how often 0 or 1 is stated.
fn excess(calibrator: &SavedCalibrator, scores: &[f64], truth: &[f64]) -> (f64, usize) {
    let (mut total, mut ends) = (0.0, 0);
    for (&score, &truth) in scores.iter().zip(truth) {
        let stated = calibrator.probability(score);
        ends += usize::from(!(stated.value() > 0.0 && stated.value() < 1.0));
        let p = sigmoid(truth);
        // p (ln p - ln q) + (1-p) (ln (1-p) - ln (1-q)), in log-odds.
        let (x, y) = (truth, stated.log_odds());
        total += p * (softplus(-y) - softplus(-x)) + sigmoid(-truth) * (softplus(y) - softplus(x));
    }
    (total / scores.len() as f64, ends)
}

pub(crate) fn write_floats(path: &Path, values: &[f64]) -> std::io::Result<()> {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    std::fs::write(path, bytes)
}
