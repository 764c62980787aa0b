//! Numbers along an axis.

use super::log_odds_ticks::{probability_ticks, ratio_ticks};

/// What the numbers along an axis are written as.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Written {
    /// As they are.
    Plainly,
    /// Log-odds, written as the probabilities they belong to.
    AsProbabilities,
    /// Logarithms, written as the ratios they belong to.
    AsRatios,
}

/// A stretch of numbers and where it lies on the drawing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    start: f64,
    end: f64,
    written: Written,
}

impl Axis {
    /// From `low` (drawn at `start`) to `high` (drawn at `end`). Ends that are equal or
    /// not finite are replaced by something that can be drawn.
    pub(super) fn new(low: f64, high: f64, start: f64, end: f64) -> Self {
        let (low, high) = if low.is_finite() && high.is_finite() {
            (low, high)
        } else {
            (0.0, 1.0)
        };
        // Differences of very large numbers would overflow.
        let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
        let room = (low.abs().max(high.abs()) * 1e-9).max(1e-12);
        let (low, high) = if high - low > room {
            (low, high)
        } else {
            (low - 0.5 * room.max(1.0), low + 0.5 * room.max(1.0))
        };
        Self {
            low,
            high,
            start,
            end,
            written: Written::Plainly,
        }
    }

    /// An axis of log-odds on which probabilities are written.
    pub(super) fn of_log_odds(low: f64, high: f64, start: f64, end: f64) -> Self {
        Self {
            written: Written::AsProbabilities,
            ..Self::new(low, high, start, end)
        }
    }

    /// An axis of natural logarithms on which the ratios themselves are written.
    pub(super) fn of_ratios(low: f64, high: f64, start: f64, end: f64) -> Self {
        Self {
            written: Written::AsRatios,
            ..Self::new(low, high, start, end)
        }
    }

    /// An axis around the values, ending at round numbers.
    pub(super) fn around(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let axis = Self::new(low, high, start, end);
        let step = axis.step(6);
        Self::new(
            (axis.low / step).floor() * step,
            (axis.high / step).ceil() * step,
            start,
            end,
        )
    }

    /// Where a number is drawn.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// As [`Self::at`], kept inside the axis.
    pub(super) fn at_clamped(&self, value: f64) -> f64 {
        self.at(if value.is_nan() {
            self.low
        } else {
            value.clamp(self.low, self.high)
        })
    }

    /// Round numbers along the axis with their labels, about `count` of them.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let length = (self.end - self.start).abs();
        match self.written {
            Written::Plainly => self.round_ticks(count),
            Written::AsProbabilities => probability_ticks(self.low, self.high, length),
            Written::AsRatios => ratio_ticks(self.low, self.high, length),
        }
    }

    fn round_ticks(&self, count: usize) -> Vec<(f64, String)> {
        let step = self.step(count);
        let first = (self.low / step - 1e-6).ceil();
        let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        let far = self.low.abs().max(self.high.abs());
        (0..=3 * count)
            .map(|index| (first + index as f64) * step)
            .take_while(|&value| value <= self.high + step * 1e-6)
            .map(|value| {
                let value = if value.abs() < step * 1e-6 {
                    0.0
                } else {
                    value
                };
                let label = if (1e-4..1e6).contains(&far) {
                    format!("{value:.decimals$}")
                } else {
                    format!("{value:.1e}")
                };
                (value, label)
            })
            .collect()
    }

    /// 1, 2 or 5 times a power of ten.
    fn step(&self, count: usize) -> f64 {
        let raw = (self.high - self.low) / count.max(1) as f64;
        let power = 10f64.powf(raw.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .find(|factor| factor * power >= raw * (1.0 - 1e-9));
        factor.unwrap_or(10.0) * power
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(low: f64, high: f64, count: usize, expected: &[&str]) {
        let labels: Vec<String> = Axis::new(low, high, 0.0, 100.0)
            .ticks(count)
            .into_iter()
            .map(|tick| tick.1)
            .collect();
        assert_eq!(labels, expected);
    }

    #[test]
    fn ticks_are_round_numbers() {
        check(0.0, 1.0, 5, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        check(0.0, 40.0, 4, &["0", "10", "20", "30", "40"]);
        check(-1.0, 1.0, 4, &["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        check(0.0, 2e7, 4, &["0.0e0", "5.0e6", "1.0e7", "1.5e7", "2.0e7"]);
    }

    #[test]
    fn an_axis_around_values_ends_at_round_numbers() {
        let axis = Axis::around([0.13, 0.87, f64::NAN].into_iter(), 0.0, 100.0);
        assert_eq!((axis.low, axis.high), (0.0, 1.0));
        assert_eq!(axis.at(0.25), 25.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn any_ends_give_finite_places_and_few_ticks(low in any::<f64>(), high in any::<f64>(), value in any::<f64>()) {
            for axis in [Axis::new(low, high, 0.0, 100.0), Axis::around([low, high].into_iter(), 0.0, 100.0)] {
                let place = axis.at_clamped(value);
                prop_assert!((-1.0..101.0).contains(&place), "{:?} {} {}", axis, value, place);
                prop_assert!(axis.ticks(5).len() <= 16);
            }
        }
    }
}
