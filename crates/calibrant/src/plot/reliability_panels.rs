//! Reliability class by class, in small.

use super::frame::PlotArea;
use super::reliability_diagram::{Ruler, draw_series};
use super::reliability_series::{ReliabilitySeries, Scale};
use super::svg::{Anchor, Svg, shorten_to};

/// More classes are not shown.
const MOST_PANELS: usize = 12;
const COLUMNS: usize = 4;
const WIDTH: f64 = 1_000.0;
const SIDE: f64 = 196.0;
const LEFT: f64 = 46.0;
const GAP: f64 = 48.0;
const TOP: f64 = 48.0;

/// What [`reliability_panels`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReliabilityPanels {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// One class each, its name above its panel; twelve at most are drawn.
    pub classes: Vec<ReliabilitySeries>,
}

/// Draws a small reliability diagram for every class, without histograms, for a figure as wide as
/// a page.
///
/// ```
/// use calibrant::plot::{ReliabilityPanels, ReliabilitySeries, reliability_panels};
/// let class = ReliabilitySeries { name: "wheat".into(), ..ReliabilitySeries::default() };
/// let svg = reliability_panels(&ReliabilityPanels { classes: vec![class], ..Default::default() });
/// assert!(svg.contains(">wheat</text>"));
/// ```
pub fn reliability_panels(panels: &ReliabilityPanels) -> String {
    let mut svg = Svg::new();
    let title = shorten_to(&panels.title, WIDTH - 60.0, 14.5);
    svg.text("heading", (LEFT, 24.0), Anchor::Start, &title);
    let shown = &panels.classes[..panels.classes.len().min(MOST_PANELS)];
    let columns = shown.len().clamp(1, COLUMNS);
    let rows = shown.len().div_ceil(COLUMNS);
    for (index, class) in shown.iter().enumerate() {
        let left = LEFT + (SIDE + GAP - 4.0) * (index % columns) as f64;
        let top = TOP + 18.0 + (SIDE + GAP) * (index / columns) as f64;
        draw_panel(&mut svg, class, (left, top));
    }
    let height = TOP + (SIDE + GAP) * rows as f64 + 8.0;
    svg.finish(WIDTH, height, &panels.title, &panels.description)
}

fn draw_panel(svg: &mut Svg, class: &ReliabilitySeries, (left, top): (f64, f64)) {
    let ruler = Ruler::new(Scale::Linear, &[]);
    let bottom = top + SIDE;
    let right = left + SIDE;
    let area = PlotArea {
        x: ruler.axis(left, right),
        y: ruler.axis(bottom, top),
        x_label: "",
        y_label: "",
    };
    for value in [0.25, 0.5, 0.75] {
        let (x, y) = (area.x.at(value), area.y.at(value));
        svg.path("grid", &format!("M{x} {top}V{bottom}M{left} {y}H{right}"));
    }
    for (value, label) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
        let (x, y) = (area.x.at(value), area.y.at(value));
        svg.text("tick", (x, bottom + 14.0), Anchor::Middle, label);
        svg.text("tick", (left - 6.0, y + 4.0), Anchor::End, label);
    }
    svg.rectangle("frame", (left, top), (SIDE, SIDE));
    svg.line("ideal", (left, bottom), (right, top));
    let name = shorten_to(&class.name, SIDE, 12.0);
    svg.text("", (left, top - 7.0), Anchor::Start, &name);
    draw_series(svg, 0, class, &ruler, &area, 3.2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::ReliabilityPoint;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    #[test]
    fn there_is_a_panel_for_each_of_twelve_classes() {
        let class = |number: usize| ReliabilitySeries {
            name: format!("class {number}"),
            points: vec![ReliabilityPoint {
                stated: 0.5,
                observed: 0.5,
                lower: 0.3,
                upper: 0.7,
                consistent: Some((0.4, 0.6)),
                count: 10,
            }],
            histogram: vec![],
        };
        let svg = reliability_panels(&ReliabilityPanels {
            title: "Classes".into(),
            classes: (0..40).map(class).collect(),
            ..ReliabilityPanels::default()
        });
        check_svg(&svg);
        assert_eq!(svg.matches("class=\"s1 mark\"").count(), 12);
        // By hand: the first panel is 196 wide from (46, 66) on; its middle is (144, 164).
        assert!(
            svg.contains("class=\"s1 mark\" d=\"M140.8 164a3.2"),
            "{svg}"
        );
        check_svg(&reliability_panels(&ReliabilityPanels::default()));
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
            check_svg(&reliability_panels(&ReliabilityPanels { classes: vec![class], ..Default::default() }));
        }
    }
}
