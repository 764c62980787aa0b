//! Precision against recall.

use super::axis::Axis;
use super::curve::{Curve, draw_curve};
use super::frame::{Key, LEFT, PlotArea, RIGHT, WIDTH, heading_and_keys, pattern, series_class};
use super::svg::{Svg, plain};

/// Height of the plotting area.
const HEIGHT: f64 = 320.0;

/// One curve of a [`PrecisionRecallPlot`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrecisionRecallSeries {
    /// The name, and `(recall, precision)` from the strictest threshold to the mildest.
    pub curve: Curve,
    /// Recall and precision of the decisions that are really taken.
    pub decided: Option<(f64, f64)>,
}

/// What [`precision_recall_plot`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrecisionRecallPlot {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// The curves; colours come round again after six, patterns after four.
    pub series: Vec<PrecisionRecallSeries>,
    /// The precision of deciding at random: the share of positives.
    pub chance: Option<f64>,
}

/// Draws precision against recall, one curve a series, with a marker where decisions are
/// really taken. Between two thresholds precision is that of the milder one, so the curve has steps.
///
/// ```
/// use calibrant::plot::{Curve, PrecisionRecallPlot, PrecisionRecallSeries, precision_recall_plot};
/// let curve = Curve { name: "wheat".into(), points: vec![(0.5, 1.0), (1.0, 0.8)] };
/// let svg = precision_recall_plot(&PrecisionRecallPlot {
///     series: vec![PrecisionRecallSeries { curve, decided: Some((0.5, 1.0)) }],
///     ..PrecisionRecallPlot::default()
/// });
/// assert!(svg.contains("wheat: decided at recall 0.5000, precision 1"));
/// ```
pub fn precision_recall_plot(plot: &PrecisionRecallPlot) -> String {
    let mut svg = Svg::new();
    let chance = plot.chance.filter(|share| share.is_finite());
    let mut keys: Vec<(Key, &str)> = Vec::new();
    for (number, series) in plot.series.iter().enumerate() {
        keys.push((Key::Line(number, number), &series.curve.name));
    }
    if chance.is_some() {
        keys.push((Key::Ideal, "by chance"));
    }
    let top = heading_and_keys(&mut svg, &plot.title, &keys, WIDTH);
    let bottom = top + HEIGHT;
    let area = PlotArea {
        x: Axis::new(0.0, 1.0, LEFT, WIDTH - RIGHT),
        y: Axis::new(0.0, 1.0, bottom, top),
        x_label: "recall: share of the positives that is found",
        y_label: "precision: share of the found that is right",
    };
    area.draw(&mut svg);
    if let Some(share) = chance {
        let y = area.y.at_clamped(share);
        svg.line("ideal", (area.x.at(0.0), y), (area.x.at(1.0), y));
    }
    for (number, series) in plot.series.iter().enumerate() {
        let class = series_class(number, "stroke") + pattern(number);
        draw_curve(
            &mut svg,
            &class,
            &stepped(&series.curve.points),
            &area.x,
            &area.y,
        );
    }
    for (number, series) in plot.series.iter().enumerate() {
        if let Some((recall, precision)) = series.decided
            && recall.is_finite()
            && precision.is_finite()
        {
            let note = format!(
                "{}: decided at recall {}, precision {}",
                series.curve.name,
                plain(recall),
                plain(precision)
            );
            let at = (area.x.at_clamped(recall), area.y.at_clamped(precision));
            svg.marker(number, at, 4.2, &note);
        }
    }
    svg.finish(WIDTH, bottom + 48.0, &plot.title, &plot.description)
}

/// Up or down first, then along; many points are close enough together to need no steps.
fn stepped(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() > 150 {
        return points.to_vec();
    }
    let mut steps = Vec::with_capacity(2 * points.len());
    let mut recall_before = 0.0;
    for &(recall, precision) in points {
        steps.push((recall_before, precision));
        steps.push((recall, precision));
        recall_before = recall;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    #[test]
    fn every_series_has_a_line_and_a_marker() {
        let series = |name: &str, points| PrecisionRecallSeries {
            curve: Curve {
                name: name.into(),
                points,
            },
            decided: Some((0.5, 0.5)),
        };
        let svg = precision_recall_plot(&PrecisionRecallPlot {
            title: "Found and right".into(),
            series: vec![
                series("all", vec![(0.5, 1.0), (1.0, 0.5)]),
                series(
                    "wheat",
                    (0..10_000).map(|i| (f64::from(i) / 1e4, 0.5)).collect(),
                ),
            ],
            chance: Some(0.1),
            ..PrecisionRecallPlot::default()
        });
        check_svg(&svg);
        assert!(svg.len() < 20_000, "{}", svg.len());
        assert_eq!(svg.matches("decided at recall").count(), 2);
        // By hand: 404 units across from 58 on, 320 down from 58: along the top to the middle,
        // then down to the middle, then along.
        assert!(svg.contains("d=\"M58 58L260 58L260 218L462 218\""), "{svg}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_numbers_give_a_well_formed_figure(
            points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20),
            decided in any::<Option<(f64, f64)>>(), chance in any::<Option<f64>>(),
        ) {
            check_svg(&precision_recall_plot(&PrecisionRecallPlot {
                series: vec![PrecisionRecallSeries { curve: Curve { name: "x".into(), points }, decided }],
                chance,
                ..PrecisionRecallPlot::default()
            }));
        }
    }
}
