//! Forecasts, cut into the bins that a reliability diagram shows.

use crate::Probability;
use crate::evaluation::{ReliabilityBin, reliability};
use crate::numeric::order_bits;

/// Columns of the histogram of stated probabilities.
const HISTOGRAM_CELLS: usize = 40;
/// Cells of equal width that bins are made of.
const WIDTHS: f64 = 15.0;
/// Log-odds beyond this are shown at the edge.
pub(super) const FARTHEST: f64 = 12.0;
/// How much `Σ p(1-p)` a bin needs on an axis of log-odds: with less, a perfect forecaster
/// would often show 0, whose log-odds lie nowhere.
const LEAST_SPREAD: f64 = 4.0;
/// How many forecasts a bin needs on an axis of probabilities.
const LEAST_COUNT: usize = 20;

/// How probabilities are laid along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By their log-odds, which shows the rare and the almost certain.
    LogOdds,
}

/// Forecasts of about the same probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityPoint {
    /// The mean of the stated probabilities.
    pub stated: f64,
    /// The share that came true.
    pub observed: f64,
    /// Lower end of an interval of the share that came true.
    pub lower: f64,
    /// Upper end of it.
    pub upper: f64,
    /// The range of shares that a perfect forecaster would show in 95 of 100 cases, if known.
    pub consistent: Option<(f64, f64)>,
    /// How many forecasts there are.
    pub count: usize,
}

impl From<&ReliabilityBin> for ReliabilityPoint {
    fn from(bin: &ReliabilityBin) -> Self {
        Self {
            stated: bin.stated,
            observed: bin.observed,
            lower: bin.lower,
            upper: bin.upper,
            consistent: Some((bin.consistent_lower, bin.consistent_upper)),
            count: bin.count,
        }
    }
}

impl ReliabilityPoint {
    /// What no forecasts show.
    const NOTHING: Self = Self {
        stated: f64::NAN,
        observed: f64::NAN,
        lower: f64::NAN,
        upper: f64::NAN,
        consistent: None,
        count: 0,
    };

    /// Whether it can be drawn at all.
    pub(super) fn is_finite(&self) -> bool {
        [self.stated, self.observed, self.lower, self.upper]
            .iter()
            .all(|value| value.is_finite())
    }

    /// Whether the share lies outside what a perfect forecaster would usually show.
    pub fn is_surprising(&self) -> bool {
        self.consistent
            .is_some_and(|(low, high)| self.observed < low - 1e-12 || self.observed > high + 1e-12)
    }
}

/// The weight of the forecasts from one probability to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistogramCell {
    /// Lower end.
    pub from: f64,
    /// Upper end.
    pub to: f64,
    /// The sum of the weights of the forecasts in between.
    pub weight: f64,
}

/// One forecaster in a reliability diagram.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReliabilitySeries {
    /// Its name in the legend.
    pub name: String,
    /// What was stated and observed, from left to right; those with numbers that are not
    /// finite are left out.
    pub points: Vec<ReliabilityPoint>,
    /// How often which probabilities were stated.
    pub histogram: Vec<HistogramCell>,
}

type Forecast = (Probability, bool, f64);

impl ReliabilitySeries {
    /// From forecasts, whether they came true, and their weights: bins of equal weight.
    ///
    /// ```
    /// use calibrant::{Probability, plot::ReliabilitySeries};
    /// let p = Probability::from_log_odds(0.0);
    /// let series = ReliabilitySeries::new("coin", &[(p, true, 1.0), (p, false, 1.0)], 10);
    /// assert_eq!((series.points[0].stated, series.points[0].observed), (0.5, 0.5));
    /// assert_eq!(series.points[0].consistent, Some((0.0, 1.0))); // two coins may show anything
    /// ```
    pub fn new(name: &str, forecasts: &[Forecast], bins: usize) -> Self {
        let bins = reliability(forecasts, bins);
        Self {
            name: name.to_owned(),
            points: bins.iter().map(ReliabilityPoint::from).collect(),
            histogram: histogram(forecasts, Scale::Linear, (0.0, 1.0)),
        }
    }

    /// From forecasts, whether they came true, and their weights: bins of equal width along
    /// the axis, widened where there are too few forecasts to say anything. Where nearly all
    /// forecasts are small, bins of equal weight would show next to nothing of the others.
    ///
    /// ```
    /// use calibrant::{Probability, plot::{ReliabilitySeries, Scale}};
    /// let at = |log_odds: f64| (Probability::from_log_odds(log_odds), log_odds > 0.0, 1.0);
    /// let forecasts: Vec<_> = (0..1000).map(|i| at(f64::from(i) / 50.0 - 10.0)).collect();
    /// let series = ReliabilitySeries::along("sharp", &forecasts, Scale::LogOdds);
    /// assert!(series.points[0].stated < 0.02 && series.points[0].observed == 0.0);
    /// ```
    pub fn along(name: &str, forecasts: &[Forecast], scale: Scale) -> Self {
        // Weights are divided by the largest, so that their squares do not overflow.
        let largest = largest_weight(forecasts);
        let mut sorted: Vec<Forecast> = forecasts
            .iter()
            .filter(counts)
            .map(|&(probability, happened, weight)| (probability, happened, weight / largest))
            .filter(|forecast| forecast.2 > 0.0)
            .collect();
        // The order of the input must leave no trace in the sums.
        sorted.sort_unstable_by_key(|forecast| {
            let odds = order_bits(forecast.0.log_odds());
            (odds, forecast.1, forecast.2.to_bits())
        });
        let range = match scale {
            Scale::Linear => (0.0, 1.0),
            Scale::LogOdds => log_odds_range(&sorted),
        };
        let step = match scale {
            Scale::Linear => 1.0 / WIDTHS,
            Scale::LogOdds => ((range.1 - range.0) / (1.6 * WIDTHS)).max(0.4),
        };
        let usual = sorted.iter().map(|f| f.2).sum::<f64>() / sorted.len() as f64;
        let mut points = Vec::new();
        let (mut start, mut next) = (0, 0);
        let mut bin = Gathered::default();
        for tied in sorted.chunk_by(|a, b| a.0.log_odds() == b.0.log_odds()) {
            let coordinate = along(scale, tied[0].0);
            if bin.is_full(scale, coordinate, step, usual) {
                points.push(point(&sorted[start..next]));
                bin = Gathered::default();
                start = next;
            }
            bin.add(coordinate, tied);
            next += tied.len();
        }
        // What is left at the end and too little to stand alone goes to the bin before it.
        if start < next {
            let alone = bin.is_full(scale, f64::INFINITY, step, usual);
            if !alone && let Some(last) = points.pop() {
                let before = last.count;
                bin = Gathered::default();
                start -= before;
                bin.add(0.0, &sorted[start..next]);
            }
            points.push(point(&sorted[start..next]));
        }
        Self {
            name: name.to_owned(),
            points,
            histogram: histogram(forecasts, scale, range),
        }
    }
}

fn largest_weight(forecasts: &[Forecast]) -> f64 {
    let weights = forecasts.iter().filter(counts).map(|forecast| forecast.2);
    weights.fold(0.0, f64::max)
}

fn counts(forecast: &&Forecast) -> bool {
    forecast.2.is_finite() && forecast.2 > 0.0
}

fn along(scale: Scale, probability: Probability) -> f64 {
    match scale {
        Scale::Linear => probability.value(),
        Scale::LogOdds => probability.log_odds(),
    }
}

/// A bin that grows to the right.
#[derive(Default)]
struct Gathered {
    from: Option<f64>,
    /// `Σ w p(1-p)`.
    spread: f64,
    count: usize,
}

impl Gathered {
    fn add(&mut self, coordinate: f64, forecasts: &[Forecast]) {
        self.from.get_or_insert(coordinate);
        self.count += forecasts.len();
        for &(probability, _, weight) in forecasts {
            self.spread += weight * probability.value() * probability.complement().value();
        }
    }

    /// Whether what comes next belongs to another bin: what is gathered can stand alone, and
    /// the next lies in another cell. Even odds are always a border, so that yes and no
    /// are never mixed.
    fn is_full(&self, scale: Scale, next: f64, step: f64, usual_weight: f64) -> bool {
        let Some(from) = self.from else {
            return false;
        };
        // The nudge keeps rounding from deciding about round probabilities.
        let cell = |value: f64| ((value + 1e-12) / step).floor();
        match scale {
            Scale::Linear => cell(next) > cell(from) && self.count >= LEAST_COUNT,
            Scale::LogOdds => {
                let crosses = from < 0.0 && next >= 0.0;
                let enough = self.spread / usual_weight >= LEAST_SPREAD;
                enough && (next - from >= step || crosses)
            }
        }
    }
}

/// One bin, measured; the band of a perfect forecaster is that of all other measures.
fn point(forecasts: &[Forecast]) -> ReliabilityPoint {
    let bin = reliability(forecasts, 1);
    let point = bin.first().map(ReliabilityPoint::from);
    ReliabilityPoint {
        count: forecasts.len(),
        ..point.unwrap_or(ReliabilityPoint::NOTHING)
    }
}

/// Where nearly all forecasts lie, with a little room; at least from 0.1 to 0.9.
fn log_odds_range(sorted: &[Forecast]) -> (f64, f64) {
    if sorted.is_empty() {
        return (-3.0, 3.0);
    }
    let at = |part: f64| {
        let place = part * (sorted.len() - 1) as f64;
        sorted[place as usize]
            .0
            .log_odds()
            .clamp(-FARTHEST, FARTHEST)
    };
    (
        (at(0.01) - 0.3).clamp(-FARTHEST, -2.2),
        (at(0.999) + 0.3).clamp(2.2, FARTHEST),
    )
}

/// The weights of the forecasts in cells of equal width; those outside go to the cells at the ends.
fn histogram(forecasts: &[Forecast], scale: Scale, (low, high): (f64, f64)) -> Vec<HistogramCell> {
    let width = (high - low) / HISTOGRAM_CELLS as f64;
    let mut weights = vec![0.0; HISTOGRAM_CELLS];
    for &(probability, _, weight) in forecasts.iter().filter(counts) {
        // Conversion keeps what lies below zero, or beyond all cells, in range.
        let cell = ((along(scale, probability) - low) / width) as usize;
        weights[cell.min(HISTOGRAM_CELLS - 1)] += weight;
    }
    let edge = |cell: usize| {
        let coordinate = low + width * cell as f64;
        match scale {
            Scale::Linear => coordinate,
            Scale::LogOdds => Probability::from_log_odds(coordinate).value(),
        }
    };
    let cells = weights.into_iter().enumerate();
    cells
        .map(|(cell, weight)| HistogramCell {
            from: edge(cell),
            to: edge(cell + 1),
            weight,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    /// Forecasts that are right about their chances, most of them near zero.
    fn perfect(count: usize) -> Vec<Forecast> {
        let mut random = Random::from_seed(5);
        (0..count)
            .map(|_| {
                let p = Probability::from_log_odds(-5.0 + 2.5 * random.normal());
                (p, random.uniform() < p.value(), 1.0)
            })
            .collect()
    }

    #[test]
    fn a_perfect_forecaster_mostly_stays_in_its_bands() {
        let forecasts = perfect(40_000);
        for scale in [Scale::Linear, Scale::LogOdds] {
            let series = ReliabilitySeries::along("x", &forecasts, scale);
            let outside = series.points.iter().filter(|point| point.is_surprising());
            assert!(outside.count() <= 4);
            assert!(
                (8..=30).contains(&series.points.len()),
                "{}",
                series.points.len()
            );
            let sum: usize = series.points.iter().map(|point| point.count).sum();
            assert_eq!(sum, forecasts.len());
            let weight: f64 = series.histogram.iter().map(|cell| cell.weight).sum();
            assert_eq!(weight, forecasts.len() as f64);
        }
    }

    #[test]
    fn a_forecaster_that_is_too_sure_leaves_its_bands() {
        let forecasts: Vec<Forecast> = perfect(40_000)
            .into_iter()
            .map(|(p, happened, w)| (Probability::from_log_odds(2.0 * p.log_odds()), happened, w))
            .collect();
        let series = ReliabilitySeries::along("x", &forecasts, Scale::LogOdds);
        assert!(
            2 * series.points.iter().filter(|p| p.is_surprising()).count() > series.points.len()
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_forecasts_in_any_order_give_the_same_sane_bins(
            forecasts in prop::collection::vec((any::<f64>(), any::<bool>(), any::<f64>()), 0..80)
        ) {
            let forecasts: Vec<Forecast> = forecasts.into_iter()
                .map(|(x, y, w)| (Probability::from_log_odds(x), y, w)).collect();
            let mut reversed = forecasts.clone();
            reversed.reverse();
            for scale in [Scale::Linear, Scale::LogOdds] {
                let series = ReliabilitySeries::along("x", &forecasts, scale);
                prop_assert_eq!(&series.points, &ReliabilitySeries::along("x", &reversed, scale).points);
                let largest = largest_weight(&forecasts);
                let good = forecasts.iter().filter(counts).filter(|f| f.2 / largest > 0.0).count();
                prop_assert_eq!(series.points.iter().map(|p| p.count).sum::<usize>(), good);
                prop_assert!(series.points.len() <= 40);
            }
        }
    }
}
