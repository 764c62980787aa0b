//! Figures and pages, as text: plain functions from numbers to SVG and HTML.
//!
//! Nothing is loaded from elsewhere and there are no scripts, so that a figure can be
//! saved, mailed, or put into any page. Colours are CSS variables
//! (`--calibrant-ink`, `--calibrant-series-1`, ...) with defaults for light and dark;
//! a page that sets the variables decides, and no variable needs to be set. All text is escaped.

mod axis;
mod consistency;
mod curve;
mod frame;
mod line_chart;
mod log_odds_ticks;
mod page;
mod reliability_diagram;
mod reliability_series;
mod scatter_truth;
mod svg;
mod theme;

pub use curve::Curve;
pub use line_chart::{LineChart, LineSeries, line_chart};
pub use page::{Block, Figure, Section, Table, page};
pub use reliability_diagram::{
    ReliabilityPlot, reliability_diagram, reliability_diagram_of_log_odds,
};
pub use reliability_series::{HistogramCell, ReliabilityPoint, ReliabilitySeries, Scale};
pub use scatter_truth::{TruthPlot, scatter_truth};
pub use svg::escape;

#[cfg(test)]
pub(crate) mod well_formed;
