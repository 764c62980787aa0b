//! What chance alone would do to a forecaster whose probabilities are right.

use super::SortedForecasts;
use crate::numeric::Random;
use std::ops::Range;

/// How many sets of outcomes are drawn for a mean.
pub(super) const DRAWS: usize = 200;
const SEED: u64 = 0x63_616c_6962_7261;

/// Outcomes drawn from the stated probabilities for one bin of forecasts: the gap `Σ w (y - p)`.
///
/// A bin in which the outcomes of many forecasts are open has a gap that is normal to well within
/// what matters here, with variance `Σ w² p (1-p)`, and is drawn as such. Any other bin is drawn
/// forecast by forecast, from one surprise to the next.
pub(super) struct PerfectBin {
    deviation: f64,
    normal: bool,
    /// As many draws as a bin can afford: fewer than asked for where very unequal weights forbid
    /// the normal curve to a bin of very many open forecasts.
    draws: usize,
    unsurprised: f64,
    runs: Vec<Run>,
}

/// Forecasts whose chance of surprise is alike, within a factor of two.
struct Run {
    forecasts: Range<usize>,
    largest_chance: f64,
    /// `ln(1 - largest_chance)`.
    ln_no_candidate: f64,
}

impl PerfectBin {
    /// `enough` is how many open forecasts of equal weight make a gap normal: the mean of its size is
    /// then wrong by less than `1 / (10 enough)`.
    pub(super) fn new(forecasts: &SortedForecasts, bin: Range<usize>, enough: f64) -> Self {
        let variance = forecasts.sum(bin.clone(), |i| forecasts.variance(i));
        let fourth = forecasts.sum(bin.clone(), |i| {
            forecasts.variance(i) * forecasts.weights[i] * forecasts.weights[i]
        });
        let normal = variance * variance >= enough * fourth;
        let mut found = Self {
            deviation: variance.sqrt(),
            normal,
            draws: usize::MAX,
            unsurprised: 0.0,
            runs: Vec::new(),
        };
        if !normal {
            let surprises = forecasts.sum(bin.clone(), |i| forecasts.surprise[i]);
            found.draws = (2e5 / surprises.max(1.0)) as usize + 20;
            found.unsurprised = forecasts.sum(bin.clone(), |i| {
                let sign = if forecasts.log_odds[i] > 0.0 {
                    1.0
                } else {
                    -1.0
                };
                sign * forecasts.weights[i] * forecasts.surprise[i]
            });
            found.runs = runs(&forecasts.surprise, bin);
        }
        found
    }

    /// The mean size of the gap.
    pub(super) fn mean_size(&self, forecasts: &SortedForecasts, random: &mut Random) -> f64 {
        if self.normal {
            return self.deviation * (2.0 / std::f64::consts::PI).sqrt();
        }
        let draws = DRAWS.min(self.draws);
        let total: f64 = (0..draws).map(|_| self.draw(forecasts, random).abs()).sum();
        total / draws as f64
    }

    /// As many gaps as asked for (repeated from the start where the bin affords fewer).
    pub(super) fn gaps(
        &self,
        forecasts: &SortedForecasts,
        count: usize,
        random: &mut Random,
    ) -> Vec<f64> {
        let drawn = count.min(self.draws);
        let mut gaps: Vec<f64> = (0..drawn).map(|_| self.draw(forecasts, random)).collect();
        (drawn..count).for_each(|i| gaps.push(gaps[i % drawn]));
        gaps
    }

    /// Whether the gap is taken as normal, and then its standard deviation.
    pub(super) fn normal_deviation(&self) -> Option<f64> {
        self.normal.then_some(self.deviation)
    }

    /// One gap.
    ///
    /// Most decisions of a multi-label classifier are almost certainly "no", so drawing each outcome by
    /// itself would spend nearly all its time on outcomes that never surprise. Instead each run is
    /// jumped through from candidate to candidate by geometric steps at the run's largest chance, and a
    /// candidate is accepted with its own chance over the largest. This gives each forecast exactly its
    /// own chance, at a cost of the number of surprises.
    pub(super) fn draw(&self, forecasts: &SortedForecasts, random: &mut Random) -> f64 {
        if self.normal {
            return self.deviation * random.normal();
        }
        let mut gap = self.unsurprised;
        for run in &self.runs {
            let mut position = run.forecasts.start;
            loop {
                let skipped = (random.open_uniform().ln() / run.ln_no_candidate).floor();
                // Also false for the infinity that a vanishing chance may give.
                if skipped < (run.forecasts.end - position) as f64 {
                    position += skipped as usize;
                } else {
                    break;
                }
                if random.uniform() * run.largest_chance < forecasts.surprise[position] {
                    let weight = forecasts.weights[position];
                    gap += if forecasts.log_odds[position] > 0.0 {
                        -weight
                    } else {
                        weight
                    };
                }
                position += 1;
            }
        }
        gap
    }
}

fn runs(chances: &[f64], bin: Range<usize>) -> Vec<Run> {
    // The binary exponent; chances that never come up need no telling apart.
    let octave = |chance: &f64| (chance.to_bits() >> 52).max(1023 - 60);
    let mut runs = Vec::new();
    let mut start = bin.start;
    for run in chances[bin].chunk_by(|a, b| octave(a) == octave(b)) {
        let largest_chance = run.iter().copied().fold(0.0, f64::max);
        runs.push(Run {
            forecasts: start..start + run.len(),
            largest_chance,
            ln_no_candidate: (-largest_chance).ln_1p(),
        });
        start += run.len();
    }
    runs
}

/// Enough open forecasts for the mean size of a gap.
pub(super) const ENOUGH_FOR_MEANS: f64 = 50.0;
/// Enough open forecasts for the ends of an interval of gaps.
pub(super) const ENOUGH_FOR_ENDS: f64 = 200.0;

/// The generator of everything that is drawn: equal forecasts give equal draws.
pub(super) fn generator() -> Random {
    Random::from_seed(SEED)
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::testing::*;
    use super::*;

    #[test]
    fn the_normal_curve_and_the_jumps_agree_on_heavy_bins() {
        for (centre, weighted) in [(0.0, false), (-4.0, true), (3.0, true)] {
            let sorted = SortedForecasts::new(&drawn(7, 6_000, (centre, 1.0), 1.0, weighted));
            let whole = 0..sorted.len();
            let quick = PerfectBin::new(&sorted, whole.clone(), ENOUGH_FOR_MEANS);
            let slow = PerfectBin::new(&sorted, whole, f64::INFINITY);
            assert!(quick.normal && !slow.normal);
            let mut random = Random::from_seed(2);
            let gaps: Vec<f64> = (0..4_000)
                .map(|_| slow.draw(&sorted, &mut random))
                .collect();
            let mean = gaps.iter().map(|gap| gap.abs()).sum::<f64>() / 4_000.0;
            let expected = quick.mean_size(&sorted, &mut random);
            assert!((mean / expected - 1.0).abs() < 0.05, "{mean} {expected}"); // 4 standard errors
            let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / 4_000.0;
            assert!((square / quick.deviation.powi(2) - 1.0).abs() < 0.1);
        }
    }

    #[test] // By hand: one coin of probability 1/4 misses by 3/4 a quarter of the time, else by 1/4.
    fn a_single_forecast_is_not_taken_for_normal() {
        let sorted = SortedForecasts::new(&[(at(0.25), true, 5.0)]);
        let bin = PerfectBin::new(&sorted, 0..1, ENOUGH_FOR_MEANS);
        assert!(!bin.normal);
        let mean = bin
            .gaps(&sorted, 20_000, &mut generator())
            .iter()
            .map(|g| g.abs())
            .sum::<f64>()
            / 20_000.0;
        assert!((mean - 0.375).abs() < 0.01, "{mean}");
    }
}
