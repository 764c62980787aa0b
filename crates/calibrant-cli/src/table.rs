//! Plain tables for the terminal.

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
