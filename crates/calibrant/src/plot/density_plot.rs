//! How scores of the class and of the others are distributed, and what was fitted to them.

use super::axis::Axis;
use super::curve::{Curve, draw_curve};
use super::frame::{Key, LEFT, PlotArea, RIGHT, WIDTH, heading_and_keys, pattern, series_class};
use super::svg::{Svg, pair, plain};

/// Height of the plotting area.
const HEIGHT: f64 = 250.0;
/// More cells than this are not drawn.
const MOST_CELLS: usize = 400;

/// A density from one score to another, as counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensityCell {
    /// Lower end.
    pub from: f64,
    /// Upper end.
    pub to: f64,
    /// The share of the scores that lie in between, divided by the width.
    pub density: f64,
}

/// One kind of examples: the positives, say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DensityGroup {
    /// Its name in the legend.
    pub name: String,
    /// What was counted, from left to right.
    pub cells: Vec<DensityCell>,
    /// What was fitted. Curves of the same name in several groups share a pattern and a
    /// place in the legend.
    pub curves: Vec<Curve>,
}

/// What [`density_plot`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DensityPlot {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// What the scores are.
    pub x_label: String,
    /// The kinds of examples, usually two.
    pub groups: Vec<DensityGroup>,
}

/// Draws class-conditional densities: steps for what was counted, lines for what was fitted.
/// Each kind of examples has the area one, however many there are. Curves may leave the
/// figure at the top: the counted densities decide how high it is.
///
/// # Reference
/// After figure 4 of Bennett, SIGIR 2003.
///
/// ```
/// use calibrant::plot::{DensityCell, DensityGroup, DensityPlot, density_plot};
/// let cells = vec![DensityCell { from: 0.0, to: 0.5, density: 2.0 }];
/// let svg = density_plot(&DensityPlot {
///     title: "Scores of wheat".into(),
///     groups: vec![DensityGroup { name: "wheat".into(), cells, curves: vec![] }],
///     ..DensityPlot::default()
/// });
/// assert!(svg.contains("0 to 0.5000: density 2"));
/// ```
pub fn density_plot(plot: &DensityPlot) -> String {
    let mut svg = Svg::new();
    let mut fitted: Vec<&str> = Vec::new();
    for curve in plot.groups.iter().flat_map(|group| &group.curves) {
        if !fitted.contains(&curve.name.as_str()) {
            fitted.push(&curve.name);
        }
    }
    let mut keys: Vec<(Key, &str)> = Vec::new();
    for (index, group) in plot.groups.iter().enumerate() {
        keys.push((Key::Area(index), &group.name));
    }
    for (number, name) in fitted.iter().enumerate() {
        // The grey of the sixth colour stands for all groups.
        keys.push((Key::Line(5, number), name));
    }
    let top = heading_and_keys(&mut svg, &plot.title, &keys, WIDTH);
    let bottom = top + HEIGHT;
    let cells: Vec<Vec<DensityCell>> = plot.groups.iter().map(drawable).collect();
    let ends = cells.iter().flatten().flat_map(|cell| [cell.from, cell.to]);
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let highest = cells.iter().flatten().map(|cell| cell.density);
    let area = PlotArea {
        x: Axis::new(low, high, LEFT, WIDTH - RIGHT),
        y: Axis::around(
            highest.map(|density| 1.04 * density).chain([0.0]),
            bottom,
            top,
        ),
        x_label: &plot.x_label,
        y_label: "density",
    };
    area.draw(&mut svg);
    for (index, (group, cells)) in plot.groups.iter().zip(&cells).enumerate() {
        draw_steps(&mut svg, index, group, cells, &area);
    }
    for (index, group) in plot.groups.iter().enumerate() {
        for curve in &group.curves {
            let number = fitted.iter().position(|name| *name == curve.name);
            let class = series_class(index, "stroke") + pattern(number.unwrap_or(0));
            draw_curve(&mut svg, &class, &curve.points, &area.x, &area.y);
        }
    }
    svg.finish(WIDTH, bottom + 48.0, &plot.title, &plot.description)
}

fn drawable(group: &DensityGroup) -> Vec<DensityCell> {
    let good = |cell: &&DensityCell| {
        [cell.from, cell.to, cell.density]
            .iter()
            .all(|value| value.is_finite())
            && cell.from <= cell.to
            && cell.density >= 0.0
    };
    group
        .cells
        .iter()
        .filter(good)
        .take(MOST_CELLS)
        .copied()
        .collect()
}

/// One outline, and over it an unseen column for each cell that tells its numbers.
fn draw_steps(
    svg: &mut Svg,
    index: usize,
    group: &DensityGroup,
    cells: &[DensityCell],
    area: &PlotArea<'_>,
) {
    let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
        return;
    };
    let place = |x: f64, y: f64| (area.x.at_clamped(x), area.y.at_clamped(y));
    let mut corners = vec![pair(place(first.from, 0.0))];
    for cell in cells {
        corners.push(pair(place(cell.from, cell.density)));
        corners.push(pair(place(cell.to, cell.density)));
    }
    corners.push(pair(place(last.to, 0.0)));
    let outline = format!("M{}", corners.join("L"));
    svg.path(&series_class(index, "area"), &outline);
    for cell in cells.iter().filter(|cell| cell.density > 0.0) {
        let (left, top) = place(cell.from, cell.density);
        let (right, bottom) = place(cell.to, 0.0);
        let note = format!(
            "{}, {} to {}: density {}",
            group.name,
            plain(cell.from),
            plain(cell.to),
            plain(cell.density)
        );
        let size = (right - left, bottom - top);
        svg.faded_rectangle("heat", (left, top), size, 0.0, &note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    fn group(name: &str, shift: f64) -> DensityGroup {
        DensityGroup {
            name: name.into(),
            cells: (0..4)
                .map(|i| DensityCell {
                    from: shift + f64::from(i),
                    to: shift + f64::from(i + 1),
                    density: 0.25,
                })
                .collect(),
            curves: vec![Curve::sample("fitted", shift, shift + 4.0, 2_000, |_| 0.2)],
        }
    }

    #[test]
    fn steps_and_curves_are_drawn_once_each() {
        let svg = density_plot(&DensityPlot {
            title: "earn".into(),
            x_label: "score".into(),
            groups: vec![group("others", -4.0), group("earn", 0.0)],
            ..DensityPlot::default()
        });
        check_svg(&svg);
        assert_eq!(svg.matches("class=\"s1 area\" d=").count(), 1);
        assert_eq!(svg.matches("class=\"s2 stroke\" d=").count(), 1);
        assert_eq!(svg.matches(">fitted</text>").count(), 1);
        // Lines with many points are thinned.
        assert!(svg.len() < 30_000, "{}", svg.len());
        // By hand: the second group starts in the middle of 404 units from 58 on.
        assert!(svg.contains("class=\"s2 area\" d=\"M260 "), "{svg}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_numbers_and_names_give_a_well_formed_figure(
            cells in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..20),
            points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20),
            name in "[^i]*",
        ) {
            let cells = cells.into_iter()
                .map(|(from, to, density)| DensityCell { from, to, density }).collect();
            check_svg(&density_plot(&DensityPlot {
                title: name.clone(),
                description: name.clone(),
                x_label: name.clone(),
                groups: vec![DensityGroup { name: name.clone(), cells, curves: vec![Curve { name, points }] }],
            }));
        }
    }
}
