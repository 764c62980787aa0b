//! Reliability in small: one of several diagrams side by side.

use super::frame::PlotArea;
use super::reliability_diagram::{Ruler, draw_series};
use super::reliability_series::{ReliabilitySeries, Scale};
use super::svg::{Anchor, Svg, shorten_to};

const WIDTH: f64 = 240.0;
const SIDE: f64 = 200.0;
const LEFT: f64 = 30.0;
const TOP: f64 = 28.0;

/// Draws a small reliability diagram without a histogram, with the name of the series above it: one of
/// [`Block::Panels`](super::Block::Panels). The description is for those who cannot see the figure.
///
/// ```
/// use calibrant::plot::{ReliabilitySeries, reliability_panel};
/// let class = ReliabilitySeries { name: "wheat".into(), ..ReliabilitySeries::default() };
/// assert!(reliability_panel(&class, "Wheat against the rest.").contains(">wheat</text>"));
/// ```
pub fn reliability_panel(series: &ReliabilitySeries, description: &str) -> String {
    let mut svg = Svg::new();
    let ruler = Ruler::new(Scale::Linear, &[]);
    let (bottom, right) = (TOP + SIDE, LEFT + SIDE);
    let area = PlotArea {
        x: ruler.axis(LEFT, right),
        y: ruler.axis(bottom, TOP),
        x_label: "",
        y_label: "",
    };
    for value in [0.25, 0.5, 0.75] {
        let (x, y) = (area.x.at(value), area.y.at(value));
        svg.path("grid", &format!("M{x} {TOP}V{bottom}M{LEFT} {y}H{right}"));
    }
    for (value, label) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
        let (x, y) = (area.x.at(value), area.y.at(value));
        svg.text("tick", (x, bottom + 14.0), Anchor::Middle, label);
        svg.text("tick", (LEFT - 6.0, y + 4.0), Anchor::End, label);
    }
    svg.rectangle("frame", (LEFT, TOP), (SIDE, SIDE));
    svg.line("ideal", (LEFT, bottom), (right, TOP));
    let name = shorten_to(&series.name, SIDE, 12.0);
    svg.text("", (LEFT, TOP - 7.0), Anchor::Start, &name);
    draw_series(&mut svg, 0, series, &ruler, &area, 3.2);
    svg.finish(WIDTH, bottom + 22.0, &series.name, description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::ReliabilityPoint;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    #[test]
    fn a_panel_shows_its_points() {
        let svg = reliability_panel(
            &ReliabilitySeries {
                name: "class <1>".into(),
                points: vec![ReliabilityPoint {
                    stated: 0.5,
                    observed: 0.5,
                    lower: 0.3,
                    upper: 0.7,
                    consistent: Some((0.4, 0.6)),
                    count: 10,
                }],
                histogram: vec![],
            },
            "One point.",
        );
        check_svg(&svg);
        // By hand: the panel is 200 wide from (30, 28) on; its middle is (130, 128).
        assert!(
            svg.contains("class=\"s1 mark\" d=\"M126.8 128a3.2"),
            "{svg}"
        );
        assert!(
            svg.contains("<title>class &lt;1&gt;</title>")
                && svg.contains("<desc>One point.</desc>")
        );
        check_svg(&reliability_panel(&ReliabilitySeries::default(), ""));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_numbers_give_a_well_formed_figure(
            points in prop::collection::vec((any::<f64>(), any::<f64>(), any::<Option<(f64, f64)>>()), 0..20)
        ) {
            let points = points.into_iter().map(|(stated, observed, consistent)| ReliabilityPoint {
                stated, observed, lower: stated, upper: observed, consistent, count: 1,
            }).collect();
            let class = ReliabilitySeries { name: "x".into(), points, histogram: vec![] };
            check_svg(&reliability_panel(&class, "x"));
        }
    }
}
