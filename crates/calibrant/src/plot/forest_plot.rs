//! Differences and how sure they are, one below the other.

use super::axis::Axis;
use super::frame::{RIGHT, WIDTH, draw_x_axis, series_class};
use super::svg::{Anchor, Svg, pair, plain, shorten_middle, shorten_to, text_width};

/// Height of one difference.
const ROW: f64 = 20.0;
/// Where the heading ends and the two directions are named.
const DIRECTIONS: f64 = 44.0;
/// Where the first row begins.
const TOP: f64 = 54.0;
/// Size of the names of rows.
const LABEL: f64 = 11.0;
/// The least and the most room for names.
const NAMES: (f64, f64) = (60.0, 210.0);
/// Between the two names of a row.
const LESS: &str = " − ";

/// One thing less another, and between which numbers the difference may lie.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForestRow {
    /// What the difference is of.
    pub first: String,
    /// What is taken from it.
    pub second: String,
    /// The difference; one that is not finite is not drawn.
    pub difference: f64,
    /// The ends of its interval, if there is one.
    pub interval: Option<(f64, f64)>,
}

impl ForestRow {
    /// Whether there is an interval, and zero lies outside it.
    ///
    /// ```
    /// use calibrant::plot::ForestRow;
    /// let row = |interval| ForestRow { difference: -0.2, interval, ..ForestRow::default() };
    /// assert!(row(Some((-0.3, -0.1))).leaves_out_zero());
    /// assert!(!row(Some((-0.5, 0.1))).leaves_out_zero() && !row(None).leaves_out_zero());
    /// ```
    pub fn leaves_out_zero(&self) -> bool {
        self.interval
            .is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    fn finite_interval(&self) -> Option<(f64, f64)> {
        self.interval
            .filter(|(low, high)| low.is_finite() && high.is_finite())
    }

    fn note(&self) -> String {
        let ends = self.interval.map_or(String::new(), |(low, high)| {
            format!(" ({} to {})", plain(low), plain(high))
        });
        format!(
            "{}{LESS}{}: {}{ends}",
            self.first,
            self.second,
            plain(self.difference)
        )
    }
}

/// What [`forest_plot`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForestPlot {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// What the numbers across are.
    pub x_label: String,
    /// What numbers below zero mean, in a few words.
    pub below: String,
    /// What numbers above zero mean.
    pub above: String,
    /// The differences, from top to bottom.
    pub rows: Vec<ForestRow>,
}

/// Draws differences with their intervals around a line at zero. A marker is filled where the
/// interval leaves out zero, hollow where it does not or where there is none.
///
/// ```
/// use calibrant::plot::{ForestPlot, ForestRow, forest_plot};
/// let svg = forest_plot(&ForestPlot {
///     rows: vec![ForestRow {
///         first: "svm".into(),
///         second: "bayes".into(),
///         difference: -0.25,
///         interval: Some((-0.5, 0.125)),
///     }],
///     ..ForestPlot::default()
/// });
/// assert!(svg.contains("<title>svm − bayes: -0.2500 (-0.5000 to 0.1250)</title>"));
/// ```
pub fn forest_plot(plot: &ForestPlot) -> String {
    let mut svg = Svg::new();
    let title = shorten_to(&plot.title, WIDTH - 2.0 * RIGHT, 14.5);
    svg.text("heading", (RIGHT, 24.0), Anchor::Start, &title);
    let labels: Vec<String> = plot.rows.iter().map(label).collect();
    let longest = labels.iter().map(|label| text_width(label, LABEL));
    let left = RIGHT + longest.fold(NAMES.0, f64::max).min(NAMES.1) + 8.0;
    let right = WIDTH - RIGHT;
    let bottom = TOP + ROW * plot.rows.len().max(1) as f64;
    let drawn = plot.rows.iter().flat_map(|row| {
        let (low, high) = row.interval.unwrap_or((0.0, 0.0));
        [row.difference, low, high]
    });
    let x = Axis::around(drawn.chain([0.0]), left, right);
    for (value, _) in x.ticks(5) {
        svg.line("grid", (x.at(value), TOP), (x.at(value), bottom));
    }
    svg.rectangle("frame", (left, TOP), (right - left, bottom - TOP));
    let zero = x.at_clamped(0.0);
    svg.line("ideal", (zero, TOP), (zero, bottom));
    let room = (right - left) / 2.0 - 4.0;
    let below = shorten_to(&format!("← {}", plot.below), room, LABEL);
    let above = shorten_to(&format!("{} →", plot.above), room, LABEL);
    if !plot.below.is_empty() {
        svg.text("tick", (left, DIRECTIONS), Anchor::Start, &below);
    }
    if !plot.above.is_empty() {
        svg.text("tick", (right, DIRECTIONS), Anchor::End, &above);
    }
    for (number, (row, label)) in plot.rows.iter().zip(&labels).enumerate() {
        let y = TOP + ROW * (number as f64 + 0.5);
        svg.sized_text("", (left - 8.0, y + 4.0), Anchor::End, label, LABEL);
        draw_row(&mut svg, row, &x, y);
    }
    draw_x_axis(&mut svg, &x, bottom, &plot.x_label);
    svg.finish(WIDTH, bottom + 48.0, &plot.title, &plot.description)
}

/// Both names, each cut in the middle where there is too little room.
fn label(row: &ForestRow) -> String {
    let whole = format!("{}{LESS}{}", row.first, row.second);
    let most = NAMES.1;
    if text_width(&whole, LABEL) <= most {
        return whole;
    }
    // A short name leaves its room to the other.
    let room = most - text_width(LESS, LABEL);
    let of = |name: &str, other: &str| {
        let left_over = room - text_width(other, LABEL).min(room / 2.0);
        shorten_middle(name, left_over, LABEL)
    };
    format!(
        "{}{LESS}{}",
        of(&row.first, &row.second),
        of(&row.second, &row.first)
    )
}

fn draw_row(svg: &mut Svg, row: &ForestRow, x: &Axis, y: f64) {
    if let Some((low, high)) = row.finite_interval() {
        let (from, to) = (x.at_clamped(low), x.at_clamped(high));
        let cap = |at: f64| format!("M{}v8", pair((at, y - 4.0)));
        let line = format!(
            "M{}L{}{}{}",
            pair((from, y)),
            pair((to, y)),
            cap(from),
            cap(to)
        );
        svg.path(&series_class(0, "stroke"), &line);
    }
    if row.difference.is_finite() {
        let at = (x.at_clamped(row.difference), y);
        match row.leaves_out_zero() {
            true => svg.marker(0, at, 4.5, &row.note()),
            false => svg.hollow_marker(0, at, 4.5, &row.note()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    fn row(first: &str, second: &str, difference: f64, interval: Option<(f64, f64)>) -> ForestRow {
        ForestRow {
            first: first.into(),
            second: second.into(),
            difference,
            interval,
        }
    }

    #[test] // By hand: names have 60, so that the axis has 480 - 18 - 86 = 376 from 86 on for -1 to 1.
    fn differences_stand_where_they_should() {
        let svg = forest_plot(&ForestPlot {
            title: "Log loss".into(),
            below: "first is better".into(),
            above: "second is better".into(),
            rows: vec![
                row("a", "b", -0.5, Some((-1.0, -0.25))),
                row("a", "c", 0.0, Some((-1.0, 1.0))),
                row("b", "c", 0.5, None),
            ],
            ..ForestPlot::default()
        });
        check_svg(&svg);
        // The first row's middle is at 64, its marker (radius 4.5) at 86 + 94 = 180 and filled.
        assert!(svg.contains("class=\"s1 mark\" d=\"M175.5 64a"), "{svg}");
        assert!(svg.contains("class=\"s1 stroke\" d=\"M86 64L227 64M86 60v8M227 60v8\""));
        // What may be zero, or is not known, is hollow; the line at zero is at 274.
        assert!(svg.contains("class=\"s1 hollow\" d=\"M269.5 84a"));
        assert!(svg.contains("class=\"s1 hollow\" d=\"M363.5 104a"));
        assert!(svg.contains("class=\"ideal\" d=\"M274 54L274 114\""));
        assert_eq!(svg.matches(" stroke\"").count(), 2);
        assert!(svg.contains("← first is better") && svg.contains("second is better →"));
    }

    #[test]
    fn a_short_name_leaves_its_room_to_the_other() {
        let long = "a-very-long-name-of-a-system-indeed";
        let short = label(&row("svm", long, 0.0, None));
        assert!(short.starts_with("svm − a-very-long-"), "{short}");
        assert!(text_width(&short, LABEL) <= NAMES.1);
        let both = label(&row(long, long, 0.0, None));
        assert_eq!(both.matches('…').count(), 2, "{both}");
        assert!(text_width(&both, LABEL) <= NAMES.1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_rows_give_a_well_formed_figure(
            rows in prop::collection::vec((any::<f64>(), any::<Option<(f64, f64)>>()), 0..40),
            name in "[^i]*",
        ) {
            let rows = rows.into_iter().map(|(difference, interval)| row(&name, &name, difference, interval));
            check_svg(&forest_plot(&ForestPlot {
                title: name.clone(),
                description: name.clone(),
                x_label: name.clone(),
                below: name.clone(),
                above: name.clone(),
                rows: rows.collect(),
            }));
        }
    }
}
