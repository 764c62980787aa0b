//! The expected calibration error, and what it would be by chance alone.

use super::equal_mass::{EqualMass, Point};
use crate::Probability;
use crate::numeric::{Random, StableSum};
use std::ops::Range;

/// The expected calibration error: the mean, over bins of about equal weight, of the
/// distance between the mean stated probability and the share that came true.
///
/// # Formula
/// ```text
/// Σ_bins | Σ_{i in bin} w_i (y_i - p_i) |  /  Σ_i w_i
/// ```
///
/// # When it misleads
/// It is never zero on real data, even for a perfect forecaster: compare it with
/// [`calibration_error_of_perfect`]. It depends on the number of bins, and forecasting the
/// overall share for everything makes it zero; read it beside log loss.
///
/// ```
/// use calibrant::{Probability, evaluation::calibration_error};
/// let p = Probability::from_log_odds(3f64.ln()); // 0.75
/// let points = [(p, true, 1.0), (p, false, 1.0)];
/// assert!((calibration_error(&points, 15) - 0.25).abs() < 1e-12); // |0.75 - 0.5|
/// ```
pub fn calibration_error(points: &[(Probability, bool, f64)], bins: usize) -> f64 {
    error_of(&EqualMass::new(points, bins))
}

/// The mean calibration error that a perfectly calibrated forecaster of the same
/// stated probabilities would show: 200 sets of outcomes are drawn from the stated
/// probabilities, independently, and each is measured like the real one. What came
/// true in `points` is not looked at. Equal input gives equal output.
pub fn calibration_error_of_perfect(points: &[(Probability, bool, f64)], bins: usize) -> f64 {
    error_of_perfect(&EqualMass::new(points, bins))
}

/// How many sets of outcomes are drawn.
const DRAWS: usize = 200;
const SEED: u64 = 0x63_616c_6962_7261;

pub(super) fn error_of(cut: &EqualMass) -> f64 {
    let mut error = StableSum::default();
    for bin in &cut.bins {
        let gap: StableSum = cut.points[bin.clone()]
            .iter()
            .map(|&(probability, happened, weight)| weight * gap(probability, happened))
            .collect();
        error.add(gap.total().abs());
    }
    if cut.bins.is_empty() {
        0.0
    } else {
        error.total() / cut.weight
    }
}

/// `y - p`, without cancellation when `p` is close to one.
fn gap(probability: Probability, happened: bool) -> f64 {
    if happened {
        probability.complement().value()
    } else {
        -probability.value()
    }
}

pub(super) fn error_of_perfect(cut: &EqualMass) -> f64 {
    if cut.bins.is_empty() {
        return 0.0;
    }
    let chances: Vec<f64> = cut.points.iter().map(|point| surprise(point.0)).collect();
    let bins: Vec<UnsurprisedBin> = cut
        .bins
        .iter()
        .map(|bin| UnsurprisedBin::new(&cut.points, &chances, bin.clone()))
        .collect();
    let mut random = Random::from_seed(SEED);
    let mut total = StableSum::default();
    for _ in 0..DRAWS {
        for bin in &bins {
            total.add(bin.draw_gap(&cut.points, &chances, &mut random).abs());
        }
    }
    total.total() / (DRAWS as f64 * cut.weight)
}

/// A bin in which every forecast's likelier outcome happened, from which a draw
/// departs by a few surprises.
///
/// Most decisions of a multi-label classifier are almost certainly "no", so drawing each
/// outcome by itself would spend nearly all its time on outcomes that never surprise.
/// Instead forecasts whose chance of surprise is alike (within a factor of two) form a
/// run; within it we jump from candidate to candidate by geometric steps at the run's
/// largest chance, and accept a candidate with its own chance over the largest. This
/// gives each forecast exactly its own chance, at a cost of the number of surprises.
struct UnsurprisedBin {
    gap: f64,
    runs: Vec<Run>,
}

struct Run {
    points: Range<usize>,
    largest_chance: f64,
    /// `ln(1 - largest_chance)`.
    ln_no_candidate: f64,
}

/// The chance that the less likely outcome happens, at most one half.
fn surprise(probability: Probability) -> f64 {
    Probability::from_log_odds(-probability.log_odds().abs()).value()
}

impl UnsurprisedBin {
    fn new(points: &[Point], chances: &[f64], bin: Range<usize>) -> Self {
        let gap: StableSum = points[bin.clone()]
            .iter()
            .map(|&(probability, _, weight)| {
                weight * gap(probability, probability.log_odds() > 0.0)
            })
            .collect();
        // The binary exponent; chances that never come up need no telling apart.
        let octave = |chance: &f64| (chance.to_bits() >> 52).max(1023 - 60);
        let mut runs = Vec::new();
        let mut start = bin.start;
        for run in chances[bin].chunk_by(|a, b| octave(a) == octave(b)) {
            let largest_chance = run.iter().copied().fold(0.0, f64::max);
            runs.push(Run {
                points: start..start + run.len(),
                largest_chance,
                ln_no_candidate: (-largest_chance).ln_1p(),
            });
            start += run.len();
        }
        Self {
            gap: gap.total(),
            runs,
        }
    }

    fn draw_gap(&self, points: &[Point], chances: &[f64], random: &mut Random) -> f64 {
        let mut gap = self.gap;
        for run in &self.runs {
            let mut position = run.points.start;
            loop {
                let skipped = (random.open_uniform().ln() / run.ln_no_candidate).floor();
                // Also false for the infinity that a vanishing chance may give.
                if skipped < (run.points.end - position) as f64 {
                    position += skipped as usize;
                } else {
                    break;
                }
                if random.uniform() * run.largest_chance < chances[position] {
                    let (probability, _, weight) = points[position];
                    gap += if probability.log_odds() > 0.0 {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(p: f64) -> Probability {
        Probability::from_log_odds((p / (1.0 - p)).ln())
    }

    #[test] // By hand: bins {0.1, 0.3} with one of two true, {0.6, 0.8} with none true.
    fn a_small_case_agrees_with_the_hand() {
        let points = [
            (at(0.1), true, 1.0),
            (at(0.3), false, 1.0),
            (at(0.6), false, 1.0),
            (at(0.8), false, 1.0),
        ];
        // |0.4 - 1| / 4 + |1.4 - 0| / 4
        assert!((calibration_error(&points, 2) - 0.5).abs() < 1e-12);
        assert_eq!(calibration_error(&[], 15), 0.0);
        assert_eq!(calibration_error_of_perfect(&[], 15), 0.0);
    }

    /// Draws every outcome by itself.
    fn perfect_by_brute_force(points: &[Point], bins: usize, draws: usize) -> f64 {
        let mut random = Random::from_seed(99);
        let mut drawn = points.to_vec();
        let mut total = 0.0;
        for _ in 0..draws {
            for point in &mut drawn {
                point.1 = random.uniform() < point.0.value();
            }
            total += calibration_error(&drawn, bins);
        }
        total / draws as f64
    }

    #[test]
    fn jumping_between_surprises_agrees_with_drawing_each_outcome() {
        let mut random = Random::from_seed(1);
        for (spread, centre) in [(1.0, 0.0), (3.0, -3.0), (0.1, 5.0), (20.0, 0.0)] {
            let points: Vec<Point> = (0..400)
                .map(|_| {
                    let log_odds = centre + spread * random.normal();
                    (
                        Probability::from_log_odds(log_odds),
                        false,
                        0.5 + random.uniform(),
                    )
                })
                .collect();
            let quick = calibration_error_of_perfect(&points, 15);
            let slow = perfect_by_brute_force(&points, 15, 2_000);
            // 200 draws of a sum over 15 bins vary by a few per cent of their mean.
            assert!(
                (quick / slow - 1.0).abs() < 0.08,
                "{quick} {slow} at {spread} {centre}"
            );
        }
    }

    #[test] // By hand: n fair coins in one bin; the mean of |share - 1/2| is about √(1/(2πn)).
    fn fair_coins_miss_by_the_textbook_amount() {
        let points = vec![(at(0.5), true, 1.0); 1_000];
        let expected = (1.0 / (2.0 * std::f64::consts::PI * 1_000.0)).sqrt();
        let found = calibration_error_of_perfect(&points, 15);
        assert!((found / expected - 1.0).abs() < 0.2, "{found} {expected}");
    }

    #[test]
    fn certain_forecasts_have_no_error_by_chance() {
        let points = vec![
            (Probability::from_log_odds(1e15), true, 1.0),
            (Probability::from_log_odds(-1e15), false, 3.0),
        ];
        assert!(calibration_error_of_perfect(&points, 15) < 1e-15);
        assert!(calibration_error(&points, 15) < 1e-15);
    }
}
