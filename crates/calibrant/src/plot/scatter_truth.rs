//! Stated against true probabilities, where the truth is known.

use super::axis::Axis;
use super::frame::{LEFT, PlotArea, RIGHT, WIDTH, heading_and_legend, series_class};
use super::svg::{Svg, pair};

/// Cells per side: few enough for a small file, enough to look smooth.
const CELLS: usize = 50;
/// Groups of stated probability whose mean truth is drawn.
const MEANS: usize = 20;
/// Steps of darkness.
const LEVELS: usize = 8;

/// What [`scatter_truth`] draws.
#[derive(Debug, Clone, PartialEq)]
pub struct TruthPlot {
    /// The heading, which is also the title for screen readers.
    pub title: String,
    /// A sentence for those who cannot see the figure.
    pub description: String,
    /// Stated and true probability of each decision. Points that are not finite are
    /// left out.
    pub points: Vec<(f64, f64)>,
    /// Which of the six series colours to use, counted from zero, so that a forecaster
    /// keeps its colour from figure to figure.
    pub colour: usize,
}

/// Draws stated (across) against true probabilities (up) as a map of cells, the darker
/// the more points fall into a cell; darkness follows the logarithm of their number.
/// The line with dots is the mean truth among points stated alike: it follows the dashed
/// diagonal where the forecaster is calibrated, however widely single points scatter.
/// The size of the file does not grow with the number of points.
///
/// ```
/// use calibrant::plot::{TruthPlot, scatter_truth};
/// let svg = scatter_truth(&TruthPlot {
///     title: "Truth".into(),
///     description: String::new(),
///     points: vec![(0.2, 0.3); 100_000],
///     colour: 0,
/// });
/// assert!(svg.len() < 10_000);
/// ```
pub fn scatter_truth(plot: &TruthPlot) -> String {
    let mut svg = Svg::new();
    let top = heading_and_legend(&mut svg, &plot.title, &[]);
    let side = WIDTH - LEFT - RIGHT;
    let bottom = top + side;
    let area = PlotArea {
        x: Axis::new(0.0, 1.0, LEFT, LEFT + side),
        y: Axis::new(0.0, 1.0, bottom, top),
        x_label: "stated probability",
        y_label: "true probability",
    };
    area.draw(&mut svg);
    draw_cells(&mut svg, plot, &area);
    svg.line("ideal", (LEFT, bottom), (LEFT + side, top));
    draw_means(&mut svg, plot, &area);
    svg.finish(WIDTH, bottom + 48.0, &plot.title, &plot.description)
}

/// The mean true probability in groups of equal width of the stated one.
fn draw_means(svg: &mut Svg, plot: &TruthPlot, area: &PlotArea<'_>) {
    let mut sums = [(0.0, 0.0, 0u64); MEANS];
    for (stated, truth) in finite_points(plot) {
        let sum = &mut sums[cell(stated, MEANS)];
        *sum = (sum.0 + stated, sum.1 + truth, sum.2 + 1);
    }
    let means: Vec<(f64, f64, u64)> = sums
        .iter()
        .filter(|sum| sum.2 > 0)
        .map(|&(stated, truth, count)| (stated / count as f64, truth / count as f64, count))
        .collect();
    let place = |mean: &(f64, f64, u64)| (area.x.at(mean.0), area.y.at(mean.1));
    let path: Vec<String> = means.iter().map(|mean| pair(place(mean))).collect();
    if !path.is_empty() {
        svg.path("mean", &format!("M{}", path.join("L")));
    }
    for mean in &means {
        let note = format!(
            "stated {:.3}, truth {:.3} on average, {} decisions",
            mean.0, mean.1, mean.2
        );
        svg.dot(place(mean), 3.6, &note);
    }
}

/// The points that can be drawn, brought into the square.
fn finite_points(plot: &TruthPlot) -> impl Iterator<Item = (f64, f64)> {
    let points = plot
        .points
        .iter()
        .filter(|point| point.0.is_finite() && point.1.is_finite());
    points.map(|point| (point.0.clamp(0.0, 1.0), point.1.clamp(0.0, 1.0)))
}

/// Which of `count` cells from 0 to 1 a number falls into.
fn cell(value: f64, count: usize) -> usize {
    ((value * count as f64) as usize).min(count - 1)
}

/// One path per level of darkness.
fn draw_cells(svg: &mut Svg, plot: &TruthPlot, area: &PlotArea<'_>) {
    let mut counts = vec![0u64; CELLS * CELLS];
    for (stated, truth) in finite_points(plot) {
        counts[cell(truth, CELLS) * CELLS + cell(stated, CELLS)] += 1;
    }
    let largest = counts.iter().copied().max().unwrap_or(0);
    let size = area.x.at(1.0 / CELLS as f64) - area.x.at(0.0);
    let mut paths = vec![String::new(); LEVELS];
    for (index, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let darkness = if largest > 1 {
            (count as f64).ln() / (largest as f64).ln()
        } else {
            1.0
        };
        let level = ((darkness * LEVELS as f64) as usize).min(LEVELS - 1);
        let (column, row) = (index % CELLS, index / CELLS);
        let corner = (
            area.x.at(column as f64 / CELLS as f64),
            area.y.at((row + 1) as f64 / CELLS as f64),
        );
        let side = super::svg::coordinate(size);
        paths[level].push_str(&format!("M{}h{side}v{side}h-{side}z", pair(corner)));
    }
    for (level, path) in paths
        .iter()
        .enumerate()
        .filter(|(_, path)| !path.is_empty())
    {
        svg.faded_path(
            &series_class(plot.colour, "heat"),
            path,
            0.1 + 0.8 * level as f64 / (LEVELS - 1) as f64,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use crate::plot::well_formed::check_svg;

    #[test]
    fn a_full_map_stays_small_and_well_formed() {
        let mut random = Random::from_seed(2);
        let points = (0..200_000)
            .map(|_| (random.uniform(), random.uniform()))
            .collect();
        let svg = scatter_truth(&TruthPlot {
            title: "<all> over".into(),
            description: "Every cell is used.".into(),
            points,
            colour: 7,
        });
        check_svg(&svg);
        assert!(svg.len() < 150_000, "{}", svg.len());
    }

    #[test]
    fn strange_points_do_no_harm() {
        let points = vec![
            (f64::NAN, 0.5),
            (2.0, -3.0),
            (f64::INFINITY, 0.1),
            (1.0, 1.0),
            (0.0, 0.0),
        ];
        for points in [points, vec![]] {
            check_svg(&scatter_truth(&TruthPlot {
                title: String::new(),
                description: String::new(),
                points,
                colour: 0,
            }));
        }
    }
}
