//! Figures and pages, as text: plain functions from numbers to SVG and HTML.
//!
//! Nothing is loaded from elsewhere and there are no scripts, so that a figure can be
//! saved, mailed, or put into any page. Colours are CSS variables
//! (`--calibrant-ink`, `--calibrant-series-1`, ...) with defaults for light and dark;
//! a page that sets the variables decides, and no variable needs to be set. All text is escaped.

mod axis;
mod frame;
mod line_chart;
mod page;
mod reliability_diagram;
mod scatter_truth;
mod svg;
mod theme;

pub use line_chart::{LineChart, LineSeries, line_chart};
pub use page::{Block, Figure, Section, Table, page};
pub use reliability_diagram::{ReliabilityPlot, ReliabilitySeries, reliability_diagram};
pub use scatter_truth::{TruthPlot, scatter_truth};
pub use svg::escape;

#[cfg(test)]
pub(crate) mod well_formed;
