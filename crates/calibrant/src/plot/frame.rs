//! What all figures share: heading, plotting area, ticks, labels, legend.

use super::axis::Axis;
use super::svg::{Anchor, Svg, series_number, shorten, shorten_to, text_width};

/// Width of every figure, in the units of its view box.
pub(super) const WIDTH: f64 = 480.0;
/// Room left of the plotting area.
pub(super) const LEFT: f64 = 58.0;
/// Room right of the plotting area.
pub(super) const RIGHT: f64 = 18.0;
/// Where the first legend line would be; the heading is above.
const LEGEND_TOP: f64 = 44.0;
const LEGEND_LINE: f64 = 18.0;

/// The sample that stands before a name in a legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Key {
    /// The marker of a series.
    Marker(usize),
    /// A line of a series in the pattern of a number (see [`pattern`]).
    Line(usize, usize),
    /// A filled stretch of a series.
    Area(usize),
    /// A faint band of a series.
    Band(usize),
    /// The dashed line of an ideal.
    Ideal,
}

/// The pattern of the line with this number, so that lines can be told apart without colour.
pub(super) fn pattern(number: usize) -> &'static str {
    ["", " dashed", " dotted", " mixed"][number % 4]
}

/// Writes the heading and a legend of markers; gives the height they take.
pub(super) fn heading_and_legend(svg: &mut Svg, title: &str, names: &[&str]) -> f64 {
    let entries: Vec<(Key, &str)> = names
        .iter()
        .enumerate()
        .map(|(series, &name)| (Key::Marker(series), name))
        .collect();
    heading_and_keys(svg, title, &entries, WIDTH)
}

/// Writes the heading and a legend of anything, in a figure of some width; gives the height they
/// take.
pub(super) fn heading_and_keys(
    svg: &mut Svg,
    title: &str,
    entries: &[(Key, &str)],
    width: f64,
) -> f64 {
    let title = shorten_to(title, width - LEFT - RIGHT, 14.5);
    svg.text("heading", (LEFT, 24.0), Anchor::Start, &title);
    if entries.is_empty() {
        return LEGEND_TOP - 4.0;
    }
    // Entries stand side by side while they fit.
    let (mut x, mut y) = (LEFT + 5.0, LEGEND_TOP);
    for &(key, name) in entries {
        let sample = match key {
            Key::Marker(_) => 15.0,
            _ => 31.0,
        };
        let name = shorten_to(name, width - LEFT - RIGHT - sample, 12.0);
        let needed = sample + text_width(&name, 12.0);
        if x + needed > width - RIGHT + 8.0 && x > LEFT + 5.0 {
            x = LEFT + 5.0;
            y += LEGEND_LINE;
        }
        draw_key(svg, key, (x, y - 4.0));
        let room = sample - 5.0;
        svg.text("legend", (x + room, y), Anchor::Start, &name);
        x += needed + 14.0;
    }
    y + 14.0
}

fn draw_key(svg: &mut Svg, key: Key, (x, y): (f64, f64)) {
    let (from, to) = ((x - 5.0, y), (x + 19.0, y));
    match key {
        Key::Marker(series) => svg.marker(series, (x, y), 4.5, ""),
        Key::Line(series, number) => {
            let class = series_class(series, "stroke") + pattern(number);
            svg.line(&class, from, to);
        }
        Key::Area(series) => svg.rectangle(
            &series_class(series, "area"),
            (from.0, y - 5.0),
            (24.0, 10.0),
        ),
        Key::Band(series) => svg.rectangle(
            &series_class(series, "band"),
            (from.0, y - 5.0),
            (24.0, 10.0),
        ),
        Key::Ideal => svg.line("ideal", from, to),
    }
}

/// Grid, frame, ticks and labels of a plotting area.
pub(super) struct PlotArea<'a> {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) x_label: &'a str,
    pub(super) y_label: &'a str,
}

impl PlotArea<'_> {
    /// Draws the area with both axes.
    pub(super) fn draw(&self, svg: &mut Svg) {
        self.draw_without_x_axis(svg);
        draw_x_axis(svg, &self.x, self.y.at(self.y.low), self.x_label);
    }

    /// Draws the area whose x axis is written further down, under what follows.
    pub(super) fn draw_without_x_axis(&self, svg: &mut Svg) {
        let (left, right) = (self.x.at(self.x.low), self.x.at(self.x.high));
        let (bottom, top) = (self.y.at(self.y.low), self.y.at(self.y.high));
        for (value, _) in self.x.ticks(5) {
            let x = self.x.at(value);
            svg.line("grid", (x, top), (x, bottom));
        }
        for (value, label) in self.y.ticks(5) {
            let y = self.y.at(value);
            svg.line("grid", (left, y), (right, y));
            svg.text("tick", (left - 7.0, y + 4.0), Anchor::End, &label);
        }
        svg.rectangle("frame", (left, top), (right - left, bottom - top));
        let at = (16.0, (top + bottom) / 2.0);
        svg.text_turned(
            "label",
            at,
            Anchor::Middle,
            &shorten(self.y_label, 48),
            true,
        );
    }
}

/// Numbers and label under a plotting area that ends at `bottom`.
pub(super) fn draw_x_axis(svg: &mut Svg, x: &Axis, bottom: f64, label: &str) {
    for (value, label) in x.ticks(5) {
        svg.text("tick", (x.at(value), bottom + 16.0), Anchor::Middle, &label);
    }
    let middle = (x.at(x.low) + x.at(x.high)) / 2.0;
    svg.text(
        "label",
        (middle, bottom + 36.0),
        Anchor::Middle,
        &shorten(label, 60),
    );
}

/// The class names of a stroke of a series.
pub(super) fn series_class(series: usize, kind: &str) -> String {
    format!("s{} {kind}", series_number(series))
}
