//! A calibration error without bins.

use super::SortedForecasts;
use serde::{Deserialize, Serialize};

/// The smooth calibration error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SmoothError {
    /// The error.
    pub value: f64,
    /// The width of smoothing, which is about the error itself.
    pub bandwidth: f64,
    /// About what a perfect forecaster of the same stated probabilities would show.
    pub of_perfect: f64,
}

impl SortedForecasts {
    /// The smooth calibration error; all zero without forecasts.
    ///
    /// # Formula
    /// ```text
    /// smECE_σ = ∫ | Σ_i w_i (p_i - y_i) K_σ(t, p_i) | dt / Σ_i w_i      reported at σ = smECE_σ
    /// ```
    /// `K_σ` is the normal density of width `σ`, reflected at 0 and 1. The larger the error the wider
    /// the smoothing that shows it, so there is one width at which both agree; it is found by halving,
    /// to 1/1024. Sums are taken on a grid of at least 1001 points (a tenth of `σ` or finer), so the cost
    /// is one pass over the forecasts for each grid and a bounded amount for each width.
    ///
    /// For the perfect forecaster the sum at `t` is taken as normal with variance
    /// `Σ w² p (1-p) K²`, and the same search is done over the mean of its size.
    ///
    /// # When it misleads
    /// Miscalibration at a scale below its own size is smoothed away, for example alternately too high
    /// and too low.
    ///
    /// # Reference
    /// Błasiok & Nakkiran, ICLR 2024. Equal to the authors' relplot within their grid; they count
    /// mass that lies exactly on 0 or 1 half.
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// // Everything is said to be 0.9 sure and half comes true: by hand, the error is 0.4 at any width.
    /// let p = Probability::from_log_odds(9f64.ln());
    /// let points: Vec<_> = (0..1000).map(|i| (p, i % 2 == 0, 1.0)).collect();
    /// let error = SortedForecasts::new(&points).smooth_error();
    /// assert!((error.value - 0.4).abs() < 1e-6);
    /// assert!((error.bandwidth - 0.4).abs() < 1e-3);
    /// ```
    pub fn smooth_error(&self) -> SmoothError {
        if self.is_empty() {
            return SmoothError {
                value: 0.0,
                bandwidth: 0.0,
                of_perfect: 0.0,
            };
        }
        // Both searches begin on the coarsest grid, and mostly stay there.
        let coarse = Grid::new(self, COARSE);
        let mut finer: Option<Grid> = None;
        let (bandwidth, value) =
            search(|width| on_grid(self, &coarse, &mut finer, width, |grid| grid.error(width)));
        let (_, of_perfect) = search(|width| {
            on_grid(self, &coarse, &mut finer, width, |grid| {
                grid.error_of_perfect(width)
            })
        });
        SmoothError {
            value,
            bandwidth,
            of_perfect,
        }
    }
}

/// The least number of steps between 0 and 1.
const COARSE: usize = 1000;
/// Widths below this are not distinguished.
const LEAST_WIDTH: f64 = 0.001;
/// Halvings of the search.
const HALVINGS: usize = 10;

/// The width that equals the error at it, to within the last halving, and the error there.
fn search(mut error_at: impl FnMut(f64) -> f64) -> (f64, f64) {
    let (mut low, mut high) = (0.0, 1.0);
    let mut error_at_high = error_at(high);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let error = error_at(middle);
        if middle < LEAST_WIDTH || middle < error {
            low = middle;
        } else {
            (high, error_at_high) = (middle, error);
        }
    }
    (high, error_at_high.min(1.0))
}

/// Uses the coarse grid where it is fine enough for the width, else one that is made and kept.
fn on_grid(
    forecasts: &SortedForecasts,
    coarse: &Grid,
    finer: &mut Option<Grid>,
    width: f64,
    of: impl Fn(&Grid) -> f64,
) -> f64 {
    // Even, so that the middle of the kernel is on the grid.
    let steps = 2 * (5.0 / width).round() as usize;
    if steps <= COARSE {
        return of(coarse);
    }
    if finer.as_ref().is_none_or(|grid| grid.steps != steps) {
        *finer = Some(Grid::new(forecasts, steps));
    }
    finer.as_ref().map_or(0.0, of)
}

/// What lies on each point of a grid from 0 to 1, each forecast shared by its two neighbours.
struct Grid {
    steps: usize,
    /// `Σ w (p - y)`.
    residual: Vec<f64>,
    /// `Σ w`.
    density: Vec<f64>,
    /// `Σ w² p (1-p)`.
    variance: Vec<f64>,
}

impl Grid {
    fn new(forecasts: &SortedForecasts, steps: usize) -> Self {
        let mut grid = Self {
            steps,
            residual: vec![0.0; steps + 1],
            density: vec![0.0; steps + 1],
            variance: vec![0.0; steps + 1],
        };
        for i in 0..forecasts.len() {
            let place = forecasts.stated(i) * steps as f64;
            let left = (place as usize).min(steps - 1);
            let (right, weight) = (place - left as f64, forecasts.weights[i]);
            let (residual, variance) = (-weight * forecasts.gap(i), forecasts.variance(i));
            for (node, share) in [(left, 1.0 - right), (left + 1, right)] {
                grid.residual[node] += share * residual;
                grid.density[node] += share * weight;
                grid.variance[node] += share * variance;
            }
        }
        grid
    }

    /// `K(d)` for `d = 0, 1, ...` steps, up to where nothing is left or half the grid.
    fn kernel(&self, width: f64) -> Vec<f64> {
        let step = 1.0 / (self.steps as f64 * width);
        let reach = ((8.0 / step).ceil() as usize).min(self.steps / 2);
        (0..=reach)
            .map(|d| (-0.5 * (d as f64 * step).powi(2)).exp())
            .collect()
    }

    /// The points at which smoothed values are looked at: a tenth of the width apart, or 1/200.
    /// Each comes with its share in the sum: the ends count half, as the trapezoid rule has it.
    fn looked_at(&self, width: f64) -> impl Iterator<Item = (usize, f64)> + use<> {
        // Strides that divide the coarse grid, so that both ends are looked at.
        let stride = match (width / 10.0 * self.steps as f64) as usize {
            0 | 1 => 1,
            2..5 => 2,
            _ => 5,
        };
        let last = self.steps;
        (0..=last).step_by(stride).map(move |t| {
            let at_end = t == 0 || t == last;
            (t, if at_end { 0.5 } else { 1.0 })
        })
    }

    fn error(&self, width: f64) -> f64 {
        let kernel = self.kernel(width);
        let both_sides = mirrored(&kernel);
        let (residual, density) = (
            reflected(&self.residual, kernel.len() - 1),
            reflected(&self.density, kernel.len() - 1),
        );
        let (mut error, mut mass) = (0.0, 0.0);
        for (t, share) in self.looked_at(width) {
            let window = t..t + both_sides.len();
            error += share * dot(&residual[window.clone()], &both_sides).abs();
            mass += share * dot(&density[window], &both_sides);
        }
        if mass > 0.0 { error / mass } else { 0.0 }
    }

    fn error_of_perfect(&self, width: f64) -> f64 {
        let kernel = self.kernel(width);
        let reach = kernel.len() - 1;
        let both_sides = mirrored(&kernel);
        let squares: Vec<f64> = both_sides.iter().map(|k| k * k).collect();
        let density = reflected(&self.density, reach);
        let at = |distance: usize| kernel.get(distance).copied().unwrap_or(0.0);
        let (mut size, mut mass) = (0.0, 0.0);
        for (t, share) in self.looked_at(width) {
            mass += share * dot(&density[t..t + both_sides.len()], &both_sides);
            let variance = if t >= reach && t + reach <= self.steps {
                dot(&self.variance[t - reach..=t + reach], &squares)
            } else {
                // Near an end a forecast acts together with its own reflections.
                let places = t.saturating_sub(reach)..=(t + reach).min(self.steps);
                places
                    .map(|x| {
                        let pull = at(t.abs_diff(x)) + at(t + x) + at(2 * self.steps - t - x);
                        self.variance[x] * pull * pull
                    })
                    .sum()
            };
            size += share * variance.sqrt();
        }
        if mass > 0.0 {
            size * (2.0 / std::f64::consts::PI).sqrt() / mass
        } else {
            0.0
        }
    }
}

fn mirrored(kernel: &[f64]) -> Vec<f64> {
    let left = kernel.iter().skip(1).rev();
    left.chain(kernel).copied().collect()
}

/// The values with `reach` reflected ones on either side; what lies on an end lies on its reflection too.
fn reflected(values: &[f64], reach: usize) -> Vec<f64> {
    let last = values.len() - 1;
    let left = values[1..=reach].iter().rev();
    let right = values[last - reach..last].iter().rev();
    let mut all: Vec<f64> = left.chain(values).chain(right).copied().collect();
    all[reach] *= 2.0;
    all[reach + last] *= 2.0;
    all
}

/// Eight sums side by side, which the processor adds at once.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (mut a, mut b) = (a.chunks_exact(8), b.chunks_exact(8));
    let mut sums = [0.0; 8];
    for (x, y) in a.by_ref().zip(b.by_ref()) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(x, y)| x * y)
        .sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::{Point, testing::*};
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    /// The definition, by a sum over every forecast at many places, with reflections on both sides.
    fn by_definition(points: &[Point], width: f64) -> f64 {
        let places = 2_000;
        let (mut error, mut mass) = (0.0, 0.0);
        for place in 0..places {
            let t = (f64::from(place) + 0.5) / f64::from(places);
            let (mut residual, mut density) = (0.0, 0.0);
            for &(p, happened, weight) in points {
                let p = p.value();
                let normal = |x: f64| (-0.5 * ((t - x) / width).powi(2)).exp();
                let kernel =
                    normal(p) + normal(-p) + normal(2.0 - p) + normal(p - 2.0) + normal(p + 2.0);
                residual += weight * (p - f64::from(u8::from(happened))) * kernel;
                density += weight * kernel;
            }
            error += residual.abs();
            mass += density;
        }
        error / mass
    }

    #[test]
    fn the_grid_agrees_with_the_definition() {
        for (seed, slope, weighted) in [(1, 1.0, false), (2, 2.0, true), (3, 0.5, true)] {
            let points = drawn(seed, 300, (-1.0, 2.0), slope, weighted);
            let sorted = SortedForecasts::new(&points);
            for width in [0.004, 0.01, 0.05, 0.1] {
                let mut finer = None;
                let coarse = Grid::new(&sorted, COARSE);
                let found = on_grid(&sorted, &coarse, &mut finer, width, |grid| {
                    grid.error(width)
                });
                let expected = by_definition(&points, width);
                assert!(
                    (found / expected - 1.0).abs() < 3e-3,
                    "{width}: {found} {expected}"
                );
            }
            let error = sorted.smooth_error();
            assert!((error.value - error.bandwidth).abs() < 2e-3, "{error:?}");
        }
    }

    #[test]
    fn what_a_perfect_forecaster_shows_agrees_with_drawing_outcomes() {
        for (centre, spread, count) in [(0.0, 1.0, 500), (-4.0, 2.0, 2_000), (0.0, 6.0, 1_000)] {
            let mut points = drawn(9, count, (centre, spread), 1.0, true);
            let said = SortedForecasts::new(&points).smooth_error().of_perfect;
            let mut random = Random::from_seed(8);
            let mut total = 0.0;
            for _ in 0..60 {
                redraw(&mut points, &mut random);
                total += SortedForecasts::new(&points).smooth_error().value;
            }
            let ratio = said / (total / 60.0);
            assert!((ratio - 1.0).abs() < 0.12, "{ratio} at {centre} {spread}");
        }
    }

    #[test] // Certain and right, and certain and wrong, at the very ends.
    fn the_ends_count_in_full() {
        let sure = crate::Probability::from_log_odds(1e15);
        let points = [(sure, true, 1.0), (sure.complement(), true, 1.0)];
        let found = SortedForecasts::new(&points).smooth_error();
        // By hand: an error of 1 for half of the mass.
        assert!((found.value - 0.5).abs() < 0.02, "{found:?}");
        assert!(found.of_perfect < 1e-3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn it_is_a_share_whatever_comes(points in any_points()) {
            let found = SortedForecasts::new(&points).smooth_error();
            prop_assert!((0.0..=1.0).contains(&found.value) && (0.0..=1.0).contains(&found.of_perfect));
        }

        #[test]
        fn a_whole_weight_is_repetition((whole, repeated) in whole_and_repeated()) {
            let (a, b) = (SortedForecasts::new(&whole).smooth_error(), SortedForecasts::new(&repeated).smooth_error());
            prop_assert!((a.value - b.value).abs() < 1e-9);
        }
    }
}
