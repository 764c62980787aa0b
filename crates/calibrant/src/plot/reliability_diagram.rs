//! What was stated against how often it came true.

use super::axis::Axis;
use super::frame::{
    Key, LEFT, PlotArea, RIGHT, WIDTH, draw_x_axis, heading_and_keys, series_class,
};
use super::reliability_series::{
    FARTHEST, HistogramCell, ReliabilityPoint, ReliabilitySeries, Scale,
};
use super::svg::{Svg, pair, plain};

/// Height of one series' histogram strip.
const STRIP: f64 = 46.0;

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
/// the observed share, the diagonal on which a calibrated forecaster lies, and below
/// it how often which probabilities were stated. Where a bin knows what a perfect forecaster
/// would show, a band shows it, and points outside the band are hollow; elsewhere
/// the point has a whisker from `lower` to `upper`.
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
    draw(plot, Scale::Linear)
}

/// As [`reliability_diagram`], with both axes laid out by log-odds: the one to look at where
/// nearly all probabilities are close to 0 or 1. Nothing of 0 can be shown there: a share of 0
/// or 1 is drawn at the edge.
pub fn reliability_diagram_of_log_odds(plot: &ReliabilityPlot) -> String {
    draw(plot, Scale::LogOdds)
}

fn draw(plot: &ReliabilityPlot, scale: Scale) -> String {
    let mut svg = Svg::new();
    let banded = |series: &ReliabilitySeries| series.points.iter().any(|p| p.consistent.is_some());
    let mut keys: Vec<(Key, &str)> = Vec::new();
    for (index, series) in plot.series.iter().enumerate() {
        keys.push((Key::Marker(index), series.name.as_str()));
    }
    if let Some(first) = plot.series.iter().position(banded) {
        keys.push((Key::Band(first), "90 % of perfect forecasters"));
    }
    let top = heading_and_keys(&mut svg, &plot.title, &keys, WIDTH);
    let side = WIDTH - LEFT - RIGHT;
    let bottom = top + side;
    let ruler = Ruler::new(scale, &plot.series);
    let area = PlotArea {
        x: ruler.axis(LEFT, LEFT + side),
        y: ruler.axis(bottom, top),
        x_label: "stated probability",
        y_label: "share that came true",
    };
    area.draw_without_x_axis(&mut svg);
    svg.line("ideal", (LEFT, bottom), (LEFT + side, top));
    for (index, series) in plot.series.iter().enumerate() {
        draw_series(&mut svg, index, series, &ruler, &area, 4.0);
    }
    let mut next = bottom;
    for (index, series) in plot.series.iter().enumerate() {
        next += 10.0;
        draw_strip(&mut svg, index, &series.histogram, &ruler, &area.x, next);
        next += STRIP;
    }
    draw_x_axis(&mut svg, &area.x, next, area.x_label);
    svg.finish(WIDTH, next + 48.0, &plot.title, &plot.description)
}

/// From probabilities to the numbers along the axes.
pub(super) struct Ruler {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Ruler {
    /// Wide enough for all points and for the histograms.
    pub(super) fn new(scale: Scale, series: &[ReliabilitySeries]) -> Self {
        let (low, high) = match scale {
            Scale::Linear => (0.0, 1.0),
            Scale::LogOdds => {
                let shown = series.iter().flat_map(|series| {
                    let cells = series
                        .histogram
                        .iter()
                        .flat_map(|cell| [cell.from, cell.to]);
                    let points = series.points.iter().flat_map(|p| [p.stated, p.observed]);
                    cells.chain(points)
                });
                shown
                    .filter(|p| 0.0 < *p && *p < 1.0)
                    .map(|p| log_odds(p).clamp(-FARTHEST, FARTHEST))
                    .fold((-2.2, 2.2), |(low, high): (f64, f64), x| {
                        (low.min(x - 0.3), high.max(x + 0.3))
                    })
            }
        };
        Self { scale, low, high }
    }

    pub(super) fn axis(&self, start: f64, end: f64) -> Axis {
        match self.scale {
            Scale::Linear => Axis::new(self.low, self.high, start, end),
            Scale::LogOdds => Axis::of_log_odds(self.low, self.high, start, end),
        }
    }

    /// Where a probability lies along an axis of this ruler.
    fn along(&self, probability: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => probability,
            Scale::LogOdds => log_odds(probability),
        };
        place.clamp(self.low, self.high)
    }
}

fn log_odds(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// Band, line and markers of one forecaster.
pub(super) fn draw_series(
    svg: &mut Svg,
    index: usize,
    series: &ReliabilitySeries,
    ruler: &Ruler,
    area: &PlotArea<'_>,
    size: f64,
) {
    let place = |stated: f64, observed: f64| {
        (
            area.x.at(ruler.along(stated)),
            area.y.at(ruler.along(observed)),
        )
    };
    let points: Vec<&ReliabilityPoint> = series
        .points
        .iter()
        .filter(|point| point.is_finite())
        .collect();
    draw_band(svg, index, &points, &place);
    let line: Vec<String> = points
        .iter()
        .map(|point| pair(place(point.stated, point.observed)))
        .collect();
    if line.len() > 1 {
        svg.path(
            &series_class(index, "stroke"),
            &format!("M{}", line.join("L")),
        );
    }
    for point in points.iter().filter(|point| point.consistent.is_none()) {
        let low = place(point.stated, point.lower);
        let high = place(point.stated, point.upper);
        let cap = |at: (f64, f64)| format!("M{}h6", pair((at.0 - 3.0, at.1)));
        let data = format!("M{}L{}{}{}", pair(low), pair(high), cap(low), cap(high));
        svg.path(&series_class(index, "whisker"), &data);
    }
    for point in &points {
        let at = place(point.stated, point.observed);
        let note = note(&series.name, point);
        if point.is_surprising() {
            svg.hollow_marker(index, at, size, &note);
        } else {
            svg.marker(index, at, size, &note);
        }
    }
}

fn note(name: &str, point: &ReliabilityPoint) -> String {
    let perfect = point.consistent.map_or(String::new(), |(low, high)| {
        format!(
            "; a perfect forecaster would show {} to {}",
            plain(low),
            plain(high)
        )
    });
    format!(
        "{name}: stated {}, came true {} ({} to {}), {} forecasts{perfect}",
        plain(point.stated),
        plain(point.observed),
        plain(point.lower),
        plain(point.upper),
        point.count
    )
}

/// The band of a perfect forecaster: a stretch for a single bin, else from bin to bin.
fn draw_band(
    svg: &mut Svg,
    index: usize,
    points: &[&ReliabilityPoint],
    place: &dyn Fn(f64, f64) -> (f64, f64),
) {
    let ends: Vec<(f64, f64, f64)> = points
        .iter()
        .filter_map(|point| {
            let (low, high) = point.consistent?;
            (low.is_finite() && high.is_finite()).then_some((point.stated, low, high))
        })
        .collect();
    let class = series_class(index, "band");
    match ends.as_slice() {
        [] => {}
        &[(stated, low, high)] => {
            let (from, to) = (place(stated, high), place(stated, low));
            svg.rectangle(&class, (from.0 - 4.0, from.1), (8.0, to.1 - from.1));
        }
        several => {
            let upper = several.iter().map(|&(x, _, high)| pair(place(x, high)));
            let lower = several.iter().rev().map(|&(x, low, _)| pair(place(x, low)));
            let corners: Vec<String> = upper.chain(lower).collect();
            svg.path(&class, &format!("M{}z", corners.join("L")));
        }
    }
}

/// Heights are square roots, because most forecasts of a good classifier are close to
/// the ends and would leave the middle invisible.
fn draw_strip(
    svg: &mut Svg,
    index: usize,
    histogram: &[HistogramCell],
    ruler: &Ruler,
    x: &Axis,
    top: f64,
) {
    let bottom = top + STRIP;
    let usable = |cell: &HistogramCell| {
        if cell.weight.is_finite() {
            cell.weight.max(0.0)
        } else {
            0.0
        }
    };
    let largest = histogram.iter().map(usable).fold(0.0, f64::max);
    for cell in histogram {
        let height = (usable(cell) / largest).sqrt() * (STRIP - 2.0);
        // Also false for the zero by zero of an empty histogram.
        if height > 0.0 {
            let (left, right) = (x.at(ruler.along(cell.from)), x.at(ruler.along(cell.to)));
            let size = (right - left - 1.0, height.max(0.75));
            let note = format!(
                "{} to {}: {} forecasts by weight",
                plain(cell.from),
                plain(cell.to),
                plain(cell.weight)
            );
            svg.faded_rectangle(
                &series_class(index, "bar"),
                (left + 0.5, bottom - size.1),
                size,
                0.8,
                &note,
            );
        }
    }
    svg.line("frame", (x.at(x.low), bottom), (x.at(x.high), bottom));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probability;
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
        let plot = ReliabilityPlot {
            title: "Raw and calibrated".into(),
            description: "Two forecasters.".into(),
            series: vec![sample("raw", 3.0), sample("calibrated", 1.0)],
        };
        for svg in [
            reliability_diagram(&plot),
            reliability_diagram_of_log_odds(&plot),
        ] {
            check_svg(&svg);
            assert_eq!(svg.matches("a perfect forecaster would show").count(), 30);
            assert!(svg.len() < 60_000, "{}", svg.len());
        }
    }

    #[test] // By hand: the area is 404 wide from 58 on and starts at 58 from the top.
    fn points_stand_where_they_should() {
        let point = |consistent| ReliabilityPoint {
            stated: 0.25,
            observed: 0.75,
            lower: 0.5,
            upper: 1.0,
            consistent,
            count: 7,
        };
        let plot = |consistent| ReliabilityPlot {
            title: String::new(),
            description: String::new(),
            series: vec![ReliabilitySeries {
                name: "x".into(),
                points: vec![point(consistent)],
                histogram: vec![],
            }],
        };
        let svg = reliability_diagram(&plot(None));
        // The circle of radius 4 starts left of its centre (58 + 101, 58 + 101).
        assert!(svg.contains("class=\"s1 mark\" d=\"M155 159a4 4"), "{svg}");
        assert!(svg.contains("class=\"s1 whisker\" d=\"M159 260L159 58"));
        let svg = reliability_diagram(&plot(Some((0.25, 0.5))));
        assert!(svg.contains("class=\"s1 hollow\" d=\"M155 159a4 4"));
        assert!(svg.contains("class=\"s1 band\" x=\"155\" y=\"260\" width=\"8\" height=\"101\""));
    }

    #[test]
    fn hostile_names_and_numbers_do_no_harm() {
        let hostile = "</title><script>alert('\"&]]>\u{0}\u{1b}\u{ffff}</script>";
        let mut series = sample(hostile, 1.0);
        series.points[0].stated = f64::NAN;
        series.points[1].observed = f64::INFINITY;
        series.points[2].lower = f64::NEG_INFINITY;
        series.points[4].consistent = Some((f64::NAN, f64::INFINITY));
        series.histogram[3].weight = f64::NAN;
        series.histogram[5].from = f64::NAN;
        let plot = ReliabilityPlot {
            title: hostile.into(),
            description: hostile.into(),
            series: vec![series],
        };
        check_svg(&reliability_diagram(&plot));
        check_svg(&reliability_diagram_of_log_odds(&plot));
    }

    #[test]
    fn a_diagram_without_forecasts_is_still_a_diagram() {
        for series in [vec![], vec![ReliabilitySeries::default()]] {
            let plot = ReliabilityPlot {
                title: String::new(),
                description: String::new(),
                series,
            };
            check_svg(&reliability_diagram(&plot));
            check_svg(&reliability_diagram_of_log_odds(&plot));
        }
    }
}
