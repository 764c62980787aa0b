//! What decisions cost, for every ratio of the two costs.

use super::axis::Axis;
use super::curve::draw_curve;
use super::frame::{Key, LEFT, PlotArea, RIGHT, WIDTH, heading_and_keys, series_class};
use super::svg::Svg;
use crate::evaluation::CostPoint;

/// Height of the plotting area.
const HEIGHT: f64 = 320.0;
/// Higher costs are not shown: nobody would decide so.
const HIGHEST: f64 = 1.2;

/// What [`cost_plot`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CostPlot {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// The costs at one ratio each, in the order of the ratios.
    pub points: Vec<CostPoint>,
    /// What deciding "yes" everywhere is called.
    pub always_yes: String,
    /// What deciding "no" everywhere is called.
    pub always_no: String,
    /// What stands below the axis.
    pub x_label: String,
}

/// Draws what decisions cost against how many times as dear a miss is as a false alarm: by the
/// stated probabilities, by the best threshold in hindsight, and by deciding alike everywhere.
/// Costs are shown as shares of the cheaper of the two ways to decide alike everywhere, so
/// that these stand at 1: above it forecasts do harm. The distance from the dotted line is what
/// better calibration could still save.
///
/// ```
/// use calibrant::plot::{CostPlot, cost_plot};
/// let svg = cost_plot(&CostPlot { title: "What mistakes cost".into(), ..CostPlot::default() });
/// assert!(svg.contains("What mistakes cost"));
/// ```
pub fn cost_plot(plot: &CostPlot) -> String {
    let mut svg = Svg::new();
    let keys = [
        (Key::Line(0, 0), "as the probabilities say"),
        (Key::Line(1, 2), "best threshold in hindsight"),
        (Key::Ideal, &plot.always_yes),
        (Key::Line(5, 3), &plot.always_no),
    ];
    let top = heading_and_keys(&mut svg, &plot.title, &keys, WIDTH);
    let bottom = top + HEIGHT;
    let points: Vec<&CostPoint> = plot
        .points
        .iter()
        .filter(|point| point.ln_cost_ratio.is_finite())
        .collect();
    let ratios = points.iter().map(|point| point.ln_cost_ratio);
    let (low, high) = ratios.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let area = PlotArea {
        x: Axis::of_ratios(low, high, LEFT, WIDTH - RIGHT),
        y: Axis::new(0.0, HIGHEST, bottom, top),
        x_label: &plot.x_label,
        y_label: "cost, where deciding alike everywhere is 1",
    };
    area.draw(&mut svg);
    let mut line = |class: &str, cost: fn(&CostPoint) -> f64| {
        // Nothing by nothing is not a number, and leaves a gap.
        let share = |point: &CostPoint| cost(point) / point.always_yes.min(point.always_no);
        let line: Vec<(f64, f64)> = points
            .iter()
            .map(|point| (point.ln_cost_ratio, share(point)))
            .collect();
        draw_curve(&mut svg, class, &line, &area.x, &area.y);
    };
    line("ideal", |point| point.always_yes);
    line(&(series_class(5, "stroke") + " mixed"), |point| {
        point.always_no
    });
    line(&(series_class(1, "stroke") + " dotted"), |point| {
        point.least
    });
    line(&series_class(0, "stroke"), |point| point.cost);
    svg.finish(WIDTH, bottom + 48.0, &plot.title, &plot.description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    #[test]
    fn all_four_lines_are_drawn() {
        let points = (-60..=60)
            .map(|i| {
                let ln_cost_ratio = f64::from(i) / 10.0;
                let threshold = 1.0 / (1.0 + ln_cost_ratio.exp());
                CostPoint {
                    ln_cost_ratio,
                    threshold,
                    cost: 0.1,
                    least: 0.05,
                    always_yes: threshold * 0.5,
                    always_no: (1.0 - threshold) * 0.5,
                }
            })
            .collect();
        let svg = cost_plot(&CostPlot {
            title: "cost".into(),
            points,
            always_yes: "all".into(),
            always_no: "none".into(),
            ..CostPlot::default()
        });
        check_svg(&svg);
        for class in ["ideal", "s6 stroke mixed", "s2 stroke dotted", "s1 stroke"] {
            let class = format!("class=\"{class}\" ");
            assert_eq!(svg.matches(&class).count(), 2, "{class}"); // legend and line
        }
        for label in [">1/100<", ">1/10<", ">1<", ">10<", ">100<"] {
            assert!(svg.contains(label));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_numbers_give_a_well_formed_figure(
            points in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), any::<f64>()), 0..20)
        ) {
            let points = points.into_iter().map(|(ln_cost_ratio, cost, least, always)| CostPoint {
                ln_cost_ratio, threshold: 0.5, cost, least, always_yes: always, always_no: cost,
            }).collect();
            check_svg(&cost_plot(&CostPlot { points, ..CostPlot::default() }));
        }
    }
}
