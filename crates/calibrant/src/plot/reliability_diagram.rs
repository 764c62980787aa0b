//! What was stated against how often it came true.

use super::axis::Axis;
use super::frame::{LEFT, PlotArea, RIGHT, WIDTH, draw_x_axis, heading_and_legend, series_class};
use super::svg::{Svg, pair};
use crate::Probability;
use crate::evaluation::{ReliabilityBin, reliability};

/// Columns of the histogram of stated probabilities.
const HISTOGRAM_CELLS: usize = 40;
/// Height of one series' histogram strip.
const STRIP: f64 = 46.0;

/// One forecaster in a reliability diagram.
#[derive(Debug, Clone, PartialEq)]
pub struct ReliabilitySeries {
    /// Its name in the legend.
    pub name: String,
    /// What was stated and observed, from left to right; bins with numbers that are not
    /// finite are left out.
    pub bins: Vec<ReliabilityBin>,
    /// The weight of the forecasts in cells of equal width from 0 to 1.
    pub histogram: Vec<f64>,
}

impl ReliabilitySeries {
    /// From forecasts, whether they came true, and their weights.
    ///
    /// ```
    /// use calibrant::{Probability, plot::ReliabilitySeries};
    /// let p = Probability::from_log_odds(0.0);
    /// let series = ReliabilitySeries::new("coin", &[(p, true, 1.0), (p, false, 1.0)], 10);
    /// assert_eq!((series.bins[0].stated, series.bins[0].observed), (0.5, 0.5));
    /// assert_eq!(series.histogram.iter().sum::<f64>(), 2.0);
    /// ```
    pub fn new(name: &str, points: &[(Probability, bool, f64)], bins: usize) -> Self {
        let mut histogram = vec![0.0; HISTOGRAM_CELLS];
        for (probability, _, weight) in points {
            if weight.is_finite() && *weight > 0.0 {
                let cell = (probability.value() * HISTOGRAM_CELLS as f64) as usize;
                histogram[cell.min(HISTOGRAM_CELLS - 1)] += weight;
            }
        }
        Self {
            name: name.to_owned(),
            bins: reliability(points, bins),
            histogram,
        }
    }
}

/// What [`reliability_diagram`] draws.
#[derive(Debug, Clone, PartialEq)]
pub struct ReliabilityPlot {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// One forecaster each; colours come round again after six.
    pub series: Vec<ReliabilitySeries>,
}

/// Draws a reliability diagram: for every bin a point at the stated probability and
/// the observed share with its 95 % interval, the diagonal on which a calibrated
/// forecaster lies, and below it how often which probabilities were stated.
///
/// ```
/// use calibrant::plot::{ReliabilityPlot, reliability_diagram};
/// let svg = reliability_diagram(&ReliabilityPlot {
///     title: "R&D".into(),
///     description: String::new(),
///     series: vec![],
/// });
/// assert!(svg.starts_with("<svg ") && svg.contains("R&amp;D"));
/// ```
pub fn reliability_diagram(plot: &ReliabilityPlot) -> String {
    let mut svg = Svg::new();
    let names: Vec<&str> = plot
        .series
        .iter()
        .map(|series| series.name.as_str())
        .collect();
    let top = heading_and_legend(&mut svg, &plot.title, &names);
    let side = WIDTH - LEFT - RIGHT;
    let bottom = top + side;
    let x = Axis::new(0.0, 1.0, LEFT, LEFT + side);
    let area = PlotArea {
        x,
        y: Axis::new(0.0, 1.0, bottom, top),
        x_label: "stated probability",
        y_label: "share that came true",
    };
    area.draw_without_x_axis(&mut svg);
    svg.line("ideal", (LEFT, bottom), (LEFT + side, top));
    for (index, series) in plot.series.iter().enumerate() {
        draw_series(&mut svg, index, series, &area);
    }
    let mut next = bottom;
    for (index, series) in plot.series.iter().enumerate() {
        next += 10.0;
        draw_strip(&mut svg, index, &series.histogram, &x, next);
        next += STRIP;
    }
    draw_x_axis(&mut svg, &x, next, area.x_label);
    svg.finish(WIDTH, next + 48.0, &plot.title, &plot.description)
}

fn draw_series(svg: &mut Svg, index: usize, series: &ReliabilitySeries, area: &PlotArea<'_>) {
    let place =
        |stated: f64, observed: f64| (area.x.at_clamped(stated), area.y.at_clamped(observed));
    let bins: Vec<&ReliabilityBin> = series.bins.iter().filter(is_finite).collect();
    let points: Vec<String> = bins
        .iter()
        .map(|bin| pair(place(bin.stated, bin.observed)))
        .collect();
    if !points.is_empty() {
        svg.path(
            &series_class(index, "stroke"),
            &format!("M{}", points.join("L")),
        );
    }
    for bin in &bins {
        let (low, high) = (place(bin.stated, bin.lower), place(bin.stated, bin.upper));
        let cap = |at: (f64, f64)| format!("M{}h6", pair((at.0 - 3.0, at.1)));
        let data = format!("M{}L{}{}{}", pair(low), pair(high), cap(low), cap(high));
        svg.path(&series_class(index, "whisker"), &data);
    }
    for bin in &bins {
        let note = format!(
            "{}: stated {:.3}, came true {:.3} ({:.3} to {:.3}), {} forecasts",
            series.name, bin.stated, bin.observed, bin.lower, bin.upper, bin.count
        );
        svg.marker(index, place(bin.stated, bin.observed), 4.0, &note);
    }
}

/// Whether a bin can be drawn at all.
fn is_finite(bin: &&ReliabilityBin) -> bool {
    [bin.stated, bin.observed, bin.lower, bin.upper]
        .iter()
        .all(|value| value.is_finite())
}

/// Heights are square roots, because most forecasts of a good classifier are close to
/// the ends and would leave the middle invisible.
fn draw_strip(svg: &mut Svg, index: usize, histogram: &[f64], x: &Axis, top: f64) {
    let bottom = top + STRIP;
    let usable = |weight: f64| {
        if weight.is_finite() {
            weight.max(0.0)
        } else {
            0.0
        }
    };
    let largest = histogram.iter().copied().map(usable).fold(0.0, f64::max);
    if largest > 0.0 {
        let width = 1.0 / histogram.len() as f64;
        for (cell, &weight) in histogram.iter().enumerate() {
            let height = (usable(weight) / largest).sqrt() * (STRIP - 2.0);
            if height > 0.0 {
                let left = x.at(cell as f64 * width);
                let size = (x.at(width) - x.at(0.0) - 1.0, height.max(0.75));
                svg.rectangle(
                    &series_class(index, "bar"),
                    (left + 0.5, bottom - size.1),
                    size,
                );
            }
        }
    }
    svg.line("frame", (x.at(0.0), bottom), (x.at(1.0), bottom));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use crate::plot::well_formed::check_svg;

    fn sample(name: &str, sharpness: f64) -> ReliabilitySeries {
        let mut random = Random::from_seed(4);
        let points: Vec<(Probability, bool, f64)> = (0..2_000)
            .map(|_| {
                let log_odds = 2.0 * random.normal();
                let happened = random.uniform() < Probability::from_log_odds(log_odds).value();
                (
                    Probability::from_log_odds(sharpness * log_odds),
                    happened,
                    1.0,
                )
            })
            .collect();
        ReliabilitySeries::new(name, &points, 15)
    }

    #[test]
    fn the_diagram_is_well_formed_and_shows_every_bin() {
        let svg = reliability_diagram(&ReliabilityPlot {
            title: "Raw and calibrated".into(),
            description: "Two forecasters.".into(),
            series: vec![sample("raw", 3.0), sample("calibrated", 1.0)],
        });
        check_svg(&svg);
        assert_eq!(svg.matches(" forecasts</title>").count(), 30);
        assert!(svg.len() < 60_000, "{}", svg.len());
    }

    #[test]
    fn hostile_names_and_numbers_do_no_harm() {
        let hostile = "</title><script>alert('\"&]]>\u{0}\u{1b}\u{ffff}</script>";
        let mut series = sample(hostile, 1.0);
        series.bins[0].stated = f64::NAN;
        series.bins[1].observed = f64::INFINITY;
        series.bins[2].lower = f64::NEG_INFINITY;
        series.histogram[3] = f64::NAN;
        let svg = reliability_diagram(&ReliabilityPlot {
            title: hostile.into(),
            description: hostile.into(),
            series: vec![series],
        });
        check_svg(&svg);
    }

    #[test]
    fn a_diagram_without_forecasts_is_still_a_diagram() {
        let empty = ReliabilitySeries {
            name: String::new(),
            bins: vec![],
            histogram: vec![],
        };
        for series in [vec![], vec![empty]] {
            check_svg(&reliability_diagram(&ReliabilityPlot {
                title: String::new(),
                description: String::new(),
                series,
            }));
        }
    }
}
