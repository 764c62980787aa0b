//! How often answers are right, by the share that is answered.

use super::axis::Axis;
use super::curve::draw_curve;
use super::frame::{Key, LEFT, PlotArea, RIGHT, WIDTH, heading_and_keys, series_class};
use super::svg::{Svg, pair};

/// Height of the plotting area.
const HEIGHT: f64 = 280.0;

/// The accuracy of the surest answers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AnsweredPlotPoint {
    /// The share of documents that is answered.
    pub answered: f64,
    /// The share of the answers that is right; not a number where that is not known.
    pub accuracy: f64,
    /// The band around it.
    pub band: (f64, f64),
    /// What the probabilities state.
    pub stated: f64,
}

/// What [`answered_plot`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnsweredPlot {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// From the surest answers to all.
    pub points: Vec<AnsweredPlotPoint>,
    /// What the band is called.
    pub band: String,
    /// What the accuracy is called; empty where it is not known.
    pub accuracy: String,
}

/// Draws the accuracy of the answers over the share that is answered, with its band, beside what the probabilities state.
///
/// ```
/// use calibrant::plot::{AnsweredPlot, answered_plot};
/// let svg = answered_plot(&AnsweredPlot { title: "Answered".into(), ..AnsweredPlot::default() });
/// assert!(svg.contains("Answered"));
/// ```
pub fn answered_plot(plot: &AnsweredPlot) -> String {
    let mut svg = Svg::new();
    let mut keys = vec![(Key::Band(0), plot.band.as_str())];
    if !plot.accuracy.is_empty() {
        keys.push((Key::Line(0, 0), &plot.accuracy));
    }
    keys.push((Key::Line(1, 1), "as the probabilities state"));
    let top = heading_and_keys(&mut svg, &plot.title, &keys, WIDTH);
    let bottom = top + HEIGHT;
    let finite = |point: &&AnsweredPlotPoint| {
        [point.answered, point.band.0, point.band.1, point.stated]
            .iter()
            .all(|value| value.is_finite())
    };
    let points: Vec<&AnsweredPlotPoint> = plot.points.iter().filter(finite).collect();
    let lows = points.iter().flat_map(|point| [point.band.0, point.stated]);
    let area = PlotArea {
        x: Axis::new(0.0, 1.0, LEFT, WIDTH - RIGHT),
        y: Axis::around(lows.chain([1.0]), bottom, top),
        x_label: "share of documents answered by machine",
        y_label: "share of the answers that is right",
    };
    area.draw(&mut svg);
    let place = |x: f64, y: f64| pair((area.x.at_clamped(x), area.y.at_clamped(y)));
    if points.len() > 1 {
        let upper = points
            .iter()
            .map(|point| place(point.answered, point.band.1));
        let lower = points
            .iter()
            .rev()
            .map(|point| place(point.answered, point.band.0));
        let corners: Vec<String> = upper.chain(lower).collect();
        let data = format!("M{}z", corners.join("L"));
        svg.path(&series_class(0, "band"), &data);
    }
    let line = |of: fn(&AnsweredPlotPoint) -> f64| -> Vec<(f64, f64)> {
        points
            .iter()
            .map(|point| (point.answered, of(point)))
            .collect()
    };
    let stated = series_class(1, "stroke") + " dashed";
    draw_curve(
        &mut svg,
        &stated,
        &line(|point| point.stated),
        &area.x,
        &area.y,
    );
    let seen = series_class(0, "stroke");
    draw_curve(
        &mut svg,
        &seen,
        &line(|point| point.accuracy),
        &area.x,
        &area.y,
    );
    svg.finish(WIDTH, bottom + 48.0, &plot.title, &plot.description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_numbers_give_a_well_formed_figure(
            points in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), any::<f64>()), 0..20),
            name in any::<String>(),
        ) {
            let points = points.into_iter().map(|(answered, accuracy, low, stated)| AnsweredPlotPoint {
                answered, accuracy, band: (low, accuracy), stated,
            }).collect();
            check_svg(&answered_plot(&AnsweredPlot {
                title: name.clone(), description: name.clone(), points, band: name.clone(), accuracy: name,
            }));
        }
    }
}
