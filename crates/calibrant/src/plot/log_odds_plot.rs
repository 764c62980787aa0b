//! Log-odds by score: what was counted, and what calibrators say.

use super::axis::Axis;
use super::curve::{Curve, draw_curve};
use super::frame::{Key, LEFT, PlotArea, RIGHT, WIDTH, heading_and_keys, pattern, series_class};
use super::svg::{Svg, pair, plain};

/// Height of the plotting area.
const HEIGHT: f64 = 290.0;
/// More points than this are not drawn.
const MOST_POINTS: usize = 200;
/// Log-odds beyond this would flatten the rest; no count of examples reaches so far.
const FARTHEST: f64 = 20.0;

/// Examples of about the same score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogOddsPoint {
    /// Their mean score.
    pub score: f64,
    /// The log-odds of the share that is positive; infinite where all are or none is.
    pub log_odds: f64,
    /// Lower end of its interval; may be infinite.
    pub lower: f64,
    /// Upper end of its interval; may be infinite.
    pub upper: f64,
    /// How many examples there are.
    pub count: usize,
}

/// What [`log_odds_plot`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LogOddsPlot {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// What the scores are.
    pub x_label: String,
    /// What was counted, from left to right.
    pub points: Vec<LogOddsPoint>,
    /// What calibrators say.
    pub curves: Vec<Curve>,
}

/// Draws counted log-odds with their intervals, and the curves of calibrators over them. A
/// bin in which no example, or every one, is positive has no log-odds: an arrow runs
/// from the end of its interval towards where they must lie.
///
/// # Reference
/// After figure 5 of Bennett, SIGIR 2003.
///
/// ```
/// use calibrant::plot::{Curve, LogOddsPlot, LogOddsPoint, log_odds_plot};
/// let svg = log_odds_plot(&LogOddsPlot {
///     title: "wheat".into(),
///     points: vec![LogOddsPoint { score: 0.0, log_odds: -1.0, lower: -2.0, upper: 0.5, count: 9 }],
///     curves: vec![Curve::sample("platt", -1.0, 1.0, 50, |score| 3.0 * score)],
///     ..LogOddsPlot::default()
/// });
/// assert!(svg.contains("platt") && svg.contains("log-odds -1 (-2 to 0.5000), 9 examples"));
/// ```
pub fn log_odds_plot(plot: &LogOddsPlot) -> String {
    let mut svg = Svg::new();
    let mut keys: Vec<(Key, &str)> = vec![(Key::Marker(5), "counted, with 95 % intervals")];
    for (number, curve) in plot.curves.iter().enumerate() {
        keys.push((Key::Line(number, number), &curve.name));
    }
    let top = heading_and_keys(&mut svg, &plot.title, &keys, WIDTH);
    let bottom = top + HEIGHT;
    let points: Vec<&LogOddsPoint> = plot
        .points
        .iter()
        .filter(|point| point.score.is_finite() && !point.log_odds.is_nan())
        .take(MOST_POINTS)
        .collect();
    // Curves reach as far as there is something to see; bins far out are drawn at the edge.
    let curve_ends = plot
        .curves
        .iter()
        .flat_map(|curve| curve.points.first().into_iter().chain(curve.points.last()))
        .map(|point| point.0);
    let mut ends: Vec<f64> = curve_ends.filter(|end| end.is_finite()).collect();
    if ends.is_empty() {
        ends.extend(points.iter().map(|point| point.score));
    }
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The ends of intervals count, but a single wide one must not flatten everything.
    let seen = points.iter().flat_map(|point| {
        let near = |end: f64| end.clamp(point.log_odds - 2.0, point.log_odds + 2.0);
        if point.log_odds.is_finite() {
            [near(point.lower), point.log_odds, near(point.upper)]
        } else {
            [point.lower, point.upper, f64::NAN]
        }
    });
    let seen = seen.filter(|value| value.is_finite());
    let y = Axis::around(
        seen.map(|value| value.clamp(-FARTHEST, FARTHEST))
            .chain([-1.0, 1.0]),
        bottom,
        top,
    );
    let area = PlotArea {
        x: Axis::new(low, high, LEFT, WIDTH - RIGHT),
        y,
        x_label: &plot.x_label,
        y_label: "log-odds of belonging",
    };
    area.draw(&mut svg);
    // Even odds.
    let middle = area.y.at(0.0);
    svg.line(
        "ideal",
        (area.x.at(area.x.low), middle),
        (area.x.at(area.x.high), middle),
    );
    for point in &points {
        draw_whisker(&mut svg, point, &area);
    }
    for (number, curve) in plot.curves.iter().enumerate() {
        let class = series_class(number, "stroke") + pattern(number);
        draw_curve(&mut svg, &class, &curve.points, &area.x, &area.y);
    }
    for point in points.iter().filter(|point| point.log_odds.is_finite()) {
        let at = (
            area.x.at_clamped(point.score),
            area.y.at_clamped(point.log_odds),
        );
        svg.marker(5, at, 3.4, &note(point));
    }
    svg.finish(WIDTH, bottom + 48.0, &plot.title, &plot.description)
}

fn note(point: &LogOddsPoint) -> String {
    format!(
        "score {}: log-odds {} ({} to {}), {} examples",
        plain(point.score),
        plain(point.log_odds),
        plain(point.lower),
        plain(point.upper),
        point.count
    )
}

/// The interval, with a cap at each end; an end that is infinite gets an arrow instead.
fn draw_whisker(svg: &mut Svg, point: &LogOddsPoint, area: &PlotArea<'_>) {
    let x = area.x.at_clamped(point.score);
    let end = |value: f64, otherwise: f64| {
        let value = if value.is_nan() { otherwise } else { value };
        area.y.at_clamped(value)
    };
    let (low, high) = (
        end(point.lower, f64::NEG_INFINITY),
        end(point.upper, f64::INFINITY),
    );
    let mut data = format!("M{}L{}", pair((x, low)), pair((x, high)));
    for (value, y) in [(point.lower, low), (point.upper, high)] {
        if value.is_finite() && (area.y.low..=area.y.high).contains(&value) {
            data.push_str(&format!("M{}h5", pair((x - 2.5, y))));
        }
    }
    if !point.log_odds.is_finite() {
        // Upwards on the drawing is negative.
        let (from, away) = if point.log_odds < 0.0 {
            (low, -6.0)
        } else {
            (high, 6.0)
        };
        data.push_str(&format!(
            "M{}L{}L{}",
            pair((x - 3.5, from + away)),
            pair((x, from)),
            pair((x + 3.5, from + away))
        ));
    }
    svg.noted_path(&series_class(5, "whisker"), &data, &note(point));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    #[test]
    fn points_curves_and_arrows_are_drawn() {
        let point = |score: f64, log_odds: f64| LogOddsPoint {
            score,
            log_odds,
            lower: log_odds - 1.0,
            upper: if log_odds.is_finite() {
                log_odds + 1.0
            } else {
                -2.0
            },
            count: 20,
        };
        let svg = log_odds_plot(&LogOddsPlot {
            title: "earn".into(),
            points: vec![
                point(0.0, f64::NEG_INFINITY),
                point(1.0, 0.0),
                point(2.0, 3.0),
            ],
            curves: vec![
                Curve::sample("platt", 0.0, 2.0, 100, |s| 2.0 * s - 2.0),
                Curve::sample("three pieces", 0.0, 2.0, 100, |s| s),
            ],
            ..LogOddsPlot::default()
        });
        check_svg(&svg);
        assert_eq!(svg.matches("class=\"s6 mark\"").count(), 3); // two points and the legend
        assert_eq!(svg.matches("class=\"s6 whisker\"").count(), 3);
        // Once in the legend, once over the points, and never by colour alone.
        assert_eq!(svg.matches("class=\"s2 stroke dashed\"").count(), 2);
        // By hand: score 1 of 0 to 2 is in the middle of 404 units from 58 on; the axis
        // from -4 to 4 puts 0 in the middle of 290 units from the top at 58 + 18.
        assert!(svg.contains("class=\"s6 mark\" d=\"M256.6 "), "{svg}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_numbers_give_a_well_formed_figure(
            points in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), any::<f64>()), 0..20),
            curve in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20),
        ) {
            let points = points.into_iter().map(|(score, log_odds, lower, upper)| LogOddsPoint {
                score, log_odds, lower, upper, count: 3,
            }).collect();
            check_svg(&log_odds_plot(&LogOddsPlot {
                points,
                curves: vec![Curve { name: "x".into(), points: curve }],
                ..LogOddsPlot::default()
            }));
        }
    }
}
