//! Figures and pages, as text: plain functions from numbers to SVG and HTML.
//!
//! Nothing is loaded from elsewhere and there are no scripts, so that a figure can be
//! saved, mailed, or put into any page. Colours are CSS variables
//! (`--calibrant-ink`, `--calibrant-series-1`, ...) with defaults for light and dark;
//! a page that sets the variables decides, and no variable needs to be set. All text is escaped.

mod answered_plot;
mod axis;
mod confusion_plot;
mod cost_plot;
mod curve;
mod density_plot;
mod forest_plot;
mod frame;
mod line_chart;
mod log_odds_plot;
mod log_odds_ticks;
mod page;
mod precision_recall_plot;
mod reliability_diagram;
mod reliability_panel;
mod reliability_series;
mod scatter_truth;
mod svg;
mod theme;

// What is hidden is drawn for our own pages: it serves the program and the experiments, and changes with them.
#[doc(hidden)]
pub use answered_plot::{AnsweredPlot, AnsweredPlotPoint, answered_plot};
#[doc(hidden)]
pub use confusion_plot::{ConfusionPlot, confusion_plot};
#[doc(hidden)]
pub use cost_plot::{CostPlot, cost_plot};
pub use curve::Curve;
pub use density_plot::{DensityCell, DensityGroup};
#[doc(hidden)]
pub use density_plot::{DensityPlot, density_plot};
#[doc(hidden)]
pub use forest_plot::{ForestPlot, ForestRow, forest_plot};
#[doc(hidden)]
pub use line_chart::{LineChart, LineSeries, line_chart};
pub use log_odds_plot::LogOddsPoint;
#[doc(hidden)]
pub use log_odds_plot::{LogOddsPlot, log_odds_plot};
#[doc(hidden)]
pub use page::{Block, Figure, Section, Table, page};
#[doc(hidden)]
pub use precision_recall_plot::{
    PrecisionRecallPlot, PrecisionRecallSeries, precision_recall_plot,
};
pub use reliability_diagram::{
    ReliabilityPlot, reliability_diagram, reliability_diagram_of_log_odds,
};
#[doc(hidden)]
pub use reliability_panel::reliability_panel;
pub use reliability_series::{HistogramCell, ReliabilityPoint, ReliabilitySeries, Scale};
#[doc(hidden)]
pub use scatter_truth::{TruthPlot, scatter_truth};
#[doc(hidden)]
pub use svg::escape;

#[cfg(test)]
pub(crate) mod well_formed;
