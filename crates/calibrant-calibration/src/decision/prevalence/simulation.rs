//! How often do the intervals hold the truth? Pools whose truth is known.

use serde::{Deserialize, Serialize};

use crate::numeric::{Random, sigmoid};
use crate::parallel;

use super::draw::random_places;
use super::estimate::{ClassColumn, ClassSample};
use super::{PrevalenceMethod, PrevalenceSettings, PrevalenceTarget};

/// A pool that is made up: how rare the class is, how well it is told apart, and how its probabilities are stated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrevalenceWorld {
    /// Documents of the pool.
    pub documents: usize,
    /// The share of the class, about.
    pub share: f64,
    /// How far apart the scores of the two kinds lie, in standard deviations; 0 tells nothing.
    pub separation: f64,
    /// Stated log-odds are so many times the true ones: 1 is calibrated, 3 is too sure.
    pub slope: f64,
    /// This is added to stated log-odds.
    pub shift: f64,
    /// Whether only 0 or 1 is stated, whichever is likelier.
    pub hard: bool,
}

/// What a simulation found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrevalenceCoverage {
    /// Samples drawn.
    pub draws: usize,
    /// Those whose interval held the truth.
    pub covered: usize,
    /// Those for which the truth lay below the interval.
    pub below: usize,
    /// Those for which it lay above.
    pub above: usize,
    /// The mean width of the intervals.
    pub width: f64,
    /// The mean width of those of labels alone.
    pub labels_alone_width: f64,
    /// Samples for which PPI++ was taken.
    pub prediction_powered: usize,
    /// The mean width of these, as a share of that of labels alone in the same samples.
    pub powered_ratio: f64,
    /// How far stated probabilities and labels of the pool go together (Pearson's correlation).
    pub correlation: f64,
    /// The true share.
    pub share: f64,
    /// The mean of the estimates.
    pub estimate: f64,
}

impl PrevalenceCoverage {
    /// The share of samples whose interval held the truth.
    pub fn coverage(&self) -> f64 {
        self.covered as f64 / self.draws.max(1) as f64
    }
}

impl PrevalenceWorld {
    /// One document: its truth and what is stated.
    fn document(&self, random: &mut Random) -> (bool, f64) {
        let label = random.uniform() < self.share;
        let half = 0.5 * self.separation;
        let score = random.normal() + if label { half } else { -half };
        // Two normal curves of the same spread: log-odds are a line in the score.
        let log_odds = self.separation * score + (self.share / (1.0 - self.share)).ln();
        let stated = sigmoid(self.slope * log_odds + self.shift);
        match self.hard {
            true => (label, f64::from(u8::from(stated >= 0.5))),
            false => (label, stated),
        }
    }

    /// So many documents.
    pub fn pool(&self, random: &mut Random) -> (Vec<bool>, Vec<f64>) {
        (0..self.documents).map(|_| self.document(random)).unzip()
    }
}

/// Draws samples of a made-up pool (or, for the share of the source, pools and samples anew) and counts how often the
/// interval held the truth. The switch between methods takes part.
pub fn simulate_prevalence(
    world: &PrevalenceWorld,
    labelled: usize,
    settings: &PrevalenceSettings,
    draws: usize,
    seed: u64,
) -> PrevalenceCoverage {
    let (truth, stated) = world.pool(&mut Random::from_seed(seed));
    if settings.target == PrevalenceTarget::Documents {
        return resample_prevalence(&truth, &stated, labelled, settings, draws, seed);
    }
    let one = |draw: usize| {
        let mut random = random_of(seed, draw);
        let (truth, stated) = world.pool(&mut random);
        let sample = draw_some(&truth, &stated, labelled, &mut random);
        Draw::of(&ClassColumn::new(sorted(&stated)), &sample, settings)
    };
    let all: Vec<Draw> = parallel::map_indices(draws, one);
    summary(&all, world.share, correlation(&truth, &stated))
}

/// Draws samples of a pool whose truth is known, and counts how often the interval held its share of the class.
pub fn resample_prevalence(
    truth: &[bool],
    stated: &[f64],
    labelled: usize,
    settings: &PrevalenceSettings,
    draws: usize,
    seed: u64,
) -> PrevalenceCoverage {
    let settings = PrevalenceSettings {
        target: PrevalenceTarget::Documents,
        ..*settings
    };
    let column = ClassColumn::new(sorted(stated));
    let one = |draw: usize| {
        let sample = draw_some(truth, stated, labelled, &mut random_of(seed, draw));
        Draw::of(&column, &sample, &settings)
    };
    let all: Vec<Draw> = parallel::map_indices(draws, one);
    let share = truth.iter().filter(|&&label| label).count() as f64 / truth.len().max(1) as f64;
    summary(&all, share, correlation(truth, stated))
}

/// The random numbers of one draw.
fn random_of(seed: u64, draw: usize) -> Random {
    Random::from_seed(seed ^ (draw as u64 + 1).wrapping_mul(0x9E37_79B9))
}

/// What one sample gave.
struct Draw {
    ends: (f64, f64),
    share: f64,
    /// The width by labels alone.
    alone: f64,
    /// Whether PPI++ was taken.
    powered: bool,
}

impl Draw {
    fn of(column: &ClassColumn, sample: &ClassSample, settings: &PrevalenceSettings) -> Self {
        let found = column.estimate(sample, 1, settings);
        let alone = found.labels_alone.unwrap_or((0.0, 1.0));
        Self {
            ends: (found.low, found.high),
            share: found.share,
            alone: alone.1 - alone.0,
            powered: found.method == PrevalenceMethod::PredictionPowered,
        }
    }

    fn width(&self) -> f64 {
        self.ends.1 - self.ends.0
    }
}

fn summary(all: &[Draw], share: f64, correlation: f64) -> PrevalenceCoverage {
    let slack = 1e-12;
    let above = all
        .iter()
        .filter(|draw| share > draw.ends.1 + slack)
        .count();
    let below = all
        .iter()
        .filter(|draw| share < draw.ends.0 - slack)
        .count();
    let powered = || all.iter().filter(|draw| draw.powered);
    let of_powered = powered().map(Draw::width).sum::<f64>();
    let count = all.len().max(1) as f64;
    PrevalenceCoverage {
        draws: all.len(),
        covered: all.len() - above - below,
        below,
        above,
        width: all.iter().map(Draw::width).sum::<f64>() / count,
        labels_alone_width: all.iter().map(|draw| draw.alone).sum::<f64>() / count,
        prediction_powered: powered().count(),
        powered_ratio: of_powered / powered().map(|draw| draw.alone).sum::<f64>(),
        correlation,
        share,
        estimate: all.iter().map(|draw| draw.share).sum::<f64>() / count,
    }
}

fn sorted(stated: &[f64]) -> Vec<f64> {
    let mut sorted = stated.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// A simple random sample.
fn draw_some(truth: &[bool], stated: &[f64], labelled: usize, random: &mut Random) -> ClassSample {
    let places = random_places(truth.len(), labelled, random);
    ClassSample {
        predictions: places.iter().map(|&place| stated[place]).collect(),
        labels: places.iter().map(|&place| truth[place]).collect(),
    }
}

fn correlation(truth: &[bool], stated: &[f64]) -> f64 {
    let count = truth.len() as f64;
    let p = truth.iter().filter(|&&label| label).count() as f64 / count;
    let mean = stated.iter().sum::<f64>() / count;
    let pairs = truth.iter().zip(stated);
    let together = pairs
        .map(|(&label, f)| (f64::from(u8::from(label)) - p) * (f - mean))
        .sum::<f64>();
    let spread = stated.iter().map(|f| (f - mean) * (f - mean)).sum::<f64>();
    let of_truth = p * (1.0 - p) * count;
    match spread * of_truth > 0.0 {
        true => together / (spread * of_truth).sqrt(),
        false => 0.0,
    }
}
