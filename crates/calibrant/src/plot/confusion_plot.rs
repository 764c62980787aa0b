//! Which classes are taken for which.

use super::svg::{Anchor, Svg, plain, shorten_middle, shorten_to, text_width};

/// Up to this many classes fit into a figure of ordinary width.
const FEW_CLASSES: usize = 12;
const NARROW: f64 = 560.0;
const WIDE: f64 = 1_000.0;
/// Room above the columns for the heading.
const TOP: f64 = 52.0;
/// Size of the names of classes.
const LABEL: f64 = 11.0;
/// The darkest a cell gets: text in the colour of text stays readable on it, light or dark.
const DARKEST: f64 = 0.6;

/// What [`confusion_plot`] draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfusionPlot {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// The classes.
    pub names: Vec<String>,
    /// How much of each true class (row) was decided to be which (column), row after row.
    pub counts: Vec<f64>,
}

impl ConfusionPlot {
    /// More classes than this cannot be read: see [`ConfusionTable::most_confused`](crate::evaluation::ConfusionTable::most_confused).
    pub const MOST_CLASSES: usize = 30;

    /// Whether the figure needs the whole width of a page.
    pub(crate) fn is_wide(&self) -> bool {
        self.names.len() > FEW_CLASSES
    }
}

/// Draws a confusion matrix as a heat map with numbers: a row for every true class, a column
/// for every decision. The darker a cell, the larger its share of the row; right
/// decisions are on the diagonal and in another colour.
///
/// ```
/// use calibrant::plot::{ConfusionPlot, confusion_plot};
/// let svg = confusion_plot(&ConfusionPlot {
///     names: vec!["ham".into(), "spam".into()],
///     counts: vec![8.0, 2.0, 1.0, 9.0],
///     ..ConfusionPlot::default()
/// });
/// assert!(svg.contains("ham taken for spam: 2 of 10"));
/// ```
pub fn confusion_plot(plot: &ConfusionPlot) -> String {
    let matrix = Matrix::of(plot);
    let count = matrix.names.len();
    let width = if plot.is_wide() { WIDE } else { NARROW };
    let mut svg = Svg::new();
    let title = shorten_to(&plot.title, width - 30.0, 14.5);
    svg.text("heading", (14.0, 24.0), Anchor::Start, &title);
    let names = matrix.names.iter();
    let longest = names
        .map(|name| text_width(name, LABEL))
        .fold(0.0, f64::max);
    let (left, band) = (
        (longest + 46.0).clamp(80.0, 236.0),
        (longest + 16.0).min(150.0),
    );
    let grid = Grid {
        left,
        top: TOP + band,
        cell: ((width - left - 14.0) / count.max(1) as f64).min(64.0),
        height: ((width - left - 14.0) / count.max(1) as f64).clamp(20.0, 40.0),
    };
    let (right, bottom) = grid.corner(count, count);
    for (index, name) in matrix.names.iter().enumerate() {
        let (x, _) = grid.corner(0, index);
        let (_, y) = grid.corner(index, 0);
        let row = shorten_middle(name, left - 40.0, LABEL);
        let at = (left - 7.0, y + grid.height / 2.0 + 4.0);
        svg.sized_text("", at, Anchor::End, &row, LABEL);
        let column = shorten_middle(name, band - 10.0, LABEL);
        let at = (x + grid.cell / 2.0 + 4.0, grid.top - 7.0);
        svg.text_turned("tick", at, Anchor::Start, &column, true);
    }
    let middle = (left + right) / 2.0;
    svg.text("label", (middle, TOP - 6.0), Anchor::Middle, "decided");
    let at = (16.0, (grid.top + bottom) / 2.0);
    svg.text_turned("label", at, Anchor::Middle, "true", true);
    for row in 0..count {
        for column in 0..count {
            draw_cell(&mut svg, &matrix, &grid, row, column);
        }
    }
    svg.rectangle("frame", (left, grid.top), (right - left, bottom - grid.top));
    svg.finish(width, bottom + 14.0, &plot.title, &plot.description)
}

struct Grid {
    left: f64,
    top: f64,
    cell: f64,
    height: f64,
}

impl Grid {
    fn corner(&self, row: usize, column: usize) -> (f64, f64) {
        (
            self.left + self.cell * column as f64,
            self.top + self.height * row as f64,
        )
    }
}

fn draw_cell(svg: &mut Svg, matrix: &Matrix, grid: &Grid, row: usize, column: usize) {
    let (value, total) = (matrix.at(row, column), matrix.row_total(row));
    if value <= 0.0 || total <= 0.0 {
        return;
    }
    let (x, y) = grid.corner(row, column);
    let right = row == column;
    let share = value / total;
    // Mistakes are few: by the root of their share they can be told apart.
    let shade = DARKEST * if right { share } else { share.sqrt() };
    let (truth, decided) = (&matrix.names[row], &matrix.names[column]);
    let note = if right {
        format!("{truth} recognised: {} of {}", plain(value), plain(total))
    } else {
        format!(
            "{truth} taken for {decided}: {} of {}",
            plain(value),
            plain(total)
        )
    };
    let class = if right { "s1 heat" } else { "s2 heat" };
    svg.faded_rectangle(class, (x, y), (grid.cell, grid.height), shade, &note);
    let text = short_count(value);
    let size = (grid.cell * 1.55 / text.chars().count() as f64).clamp(6.0, 12.5);
    let at = (x + grid.cell / 2.0, y + grid.height / 2.0 + 0.36 * size);
    svg.sized_text("", at, Anchor::Middle, &text, size);
}

/// A count in few characters.
fn short_count(value: f64) -> String {
    if value >= 1e15 {
        format!("{value:.0e}")
    } else if value >= 9_999_500.0 {
        format!("{:.0}M", value / 1e6)
    } else if value >= 99_999.5 {
        format!("{:.0}k", value / 1e3)
    } else if value == value.round() || value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 0.05 {
        format!("{value:.1}")
    } else {
        "<0.1".to_owned()
    }
}

struct Matrix {
    names: Vec<String>,
    counts: Vec<f64>,
}

impl Matrix {
    /// Missing counts are zero, and so are those that are no counts.
    fn of(plot: &ConfusionPlot) -> Self {
        let size = plot.names.len();
        let counts = (0..size * size).map(|cell| {
            let count = plot.counts.get(cell).copied().unwrap_or(0.0);
            if count.is_finite() {
                count.max(0.0)
            } else {
                0.0
            }
        });
        Self {
            names: plot.names.clone(),
            counts: counts.collect(),
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.counts[row * self.names.len() + column]
    }

    fn row_total(&self, row: usize) -> f64 {
        let size = self.names.len();
        self.counts[row * size..(row + 1) * size].iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::well_formed::check_svg;
    use proptest::prelude::*;

    #[test]
    fn cells_hold_their_numbers() {
        let svg = confusion_plot(&ConfusionPlot {
            title: "Confusion".into(),
            names: vec!["ham".into(), "spam".into()],
            counts: vec![8.0, 0.0, 1.5, 8.5],
            ..ConfusionPlot::default()
        });
        check_svg(&svg);
        assert!(svg.contains("<title>ham recognised: 8 of 8</title>"));
        assert!(svg.contains("<title>spam taken for ham: 1.5000 of 10</title>"));
        assert!(svg.contains(">8.5</text>"));
        assert_eq!(svg.matches(" heat\"").count(), 3); // what is zero stays empty
    }

    #[test]
    fn counts_are_short() {
        for (value, text) in [
            (3.0, "3"),
            (12_345.0, "12345"),
            (123_456.0, "123k"),
            (12_345_678.0, "12M"),
            (0.25, "0.2"),
            (0.001, "<0.1"),
            (1e300, "1e300"),
        ] {
            assert_eq!(short_count(value), text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_matrix_gives_a_well_formed_figure(
            names in prop::collection::vec("[^i]*", 0..40), counts in prop::collection::vec(any::<f64>(), 0..1000)
        ) {
            check_svg(&confusion_plot(&ConfusionPlot { names, counts, ..ConfusionPlot::default() }));
        }
    }
}
