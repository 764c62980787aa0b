//! Plain tables for the terminal.

use std::fmt;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table whose columns after the first `left` are aligned to the right.
pub(crate) fn table(header: &[&str], left: usize) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.to_vec());
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if number >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Names and what is said of each, line by line. A long value leaves the other lines as short as they are.
#[derive(Default)]
pub(crate) struct Facts(Vec<(String, String)>);

impl Facts {
    pub(crate) fn add(&mut self, name: &str, value: String) {
        self.0.push((name.to_owned(), value));
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = self.0.iter().map(|(name, _)| name.chars().count()).max();
        let width = longest.unwrap_or(0);
        for (place, (name, value)) in self.0.iter().enumerate() {
            let end = if place == 0 { "" } else { "\n" };
            write!(f, "{end}{name:width$}  {value}")?;
        }
        Ok(())
    }
}

/// A number with four decimals.
pub(crate) fn decimal(value: f64) -> String {
    format!("{value:.4}")
}

/// A probability, with more digits near its ends.
pub(crate) fn probability(value: f64) -> String {
    if value < 1e-4 {
        format!("{value:.1e}")
    } else if value > 0.9999 {
        format!("1-{:.1e}", 1.0 - value)
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_pads_no_other_line() {
        let mut facts = Facts::default();
        facts.add("a", "x".repeat(500));
        facts.add("long name", "y".into());
        let text = facts.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "long name  y");
        assert_eq!(lines[0].len(), 500 + 11);
    }
}
