//! Lines over an axis of numbers.

use super::axis::Axis;
use super::frame::{LEFT, PlotArea, RIGHT, WIDTH, heading_and_legend, series_class};
use super::svg::{Svg, pair, plain};

/// Height of the plotting area.
const HEIGHT: f64 = 260.0;
/// Lines with more points than this are drawn without markers.
const MOST_MARKERS: usize = 60;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct LineSeries {
    /// Its name in the legend.
    pub name: String,
    /// The points, from left to right; those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

/// What [`line_chart`] draws.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// What the numbers across are.
    pub x_label: String,
    /// What the numbers upwards are.
    pub y_label: String,
    /// The lines; colours come round again after six.
    pub series: Vec<LineSeries>,
}

/// Draws lines over round axes that hold all points.
///
/// ```
/// use calibrant::plot::{LineChart, LineSeries, line_chart};
/// let svg = line_chart(&LineChart {
///     title: "Log loss".into(),
///     description: "It falls.".into(),
///     x_label: "documents".into(),
///     y_label: "nats".into(),
///     series: vec![LineSeries { name: "calibrated".into(), points: vec![(1.0, 0.9), (2.0, 0.4)] }],
/// });
/// assert!(svg.contains("calibrated"));
/// ```
pub fn line_chart(chart: &LineChart) -> String {
    let mut svg = Svg::new();
    let names: Vec<&str> = chart
        .series
        .iter()
        .map(|series| series.name.as_str())
        .collect();
    let top = heading_and_legend(&mut svg, &chart.title, &names);
    let bottom = top + HEIGHT;
    let lines: Vec<Vec<(f64, f64)>> = chart
        .series
        .iter()
        .map(|series| {
            series
                .points
                .iter()
                .copied()
                .filter(|p| p.0.is_finite() && p.1.is_finite())
                .collect()
        })
        .collect();
    let all = || lines.iter().flatten();
    let area = PlotArea {
        x: Axis::around(all().map(|point| point.0), LEFT, WIDTH - RIGHT),
        y: Axis::around(all().map(|point| point.1), bottom, top),
        x_label: &chart.x_label,
        y_label: &chart.y_label,
    };
    area.draw(&mut svg);
    for (index, line) in lines.iter().enumerate() {
        let places: Vec<(f64, f64)> = line
            .iter()
            .map(|&(x, y)| (area.x.at_clamped(x), area.y.at_clamped(y)))
            .collect();
        if places.len() > 1 {
            let data: Vec<String> = places.iter().map(|&place| pair(place)).collect();
            svg.path(
                &series_class(index, "stroke"),
                &format!("M{}", data.join("L")),
            );
        }
        if places.len() <= MOST_MARKERS {
            for (&place, &(x, y)) in places.iter().zip(line) {
                let note = format!("{}: {}, {}", chart.series[index].name, plain(x), plain(y));
                svg.marker(index, place, 3.6, &note);
            }
        }
    }
    svg.finish(WIDTH, bottom + 48.0, &chart.title, &chart.description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_points_and_names_give_a_well_formed_chart(
            points in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..30),
            name in any::<String>(),
        ) {
            check_svg(&line_chart(&LineChart {
                title: name.clone(),
                description: name.clone(),
                x_label: name.clone(),
                y_label: name.clone(),
                series: vec![LineSeries { name, points }],
            }));
        }
    }
}
