//! The comparison as a page for a browser.

use calibrant::jobs::CompareReport;
use calibrant::plot::{Block, Section, Table, page};
use calibrant::report::{SystemReliability, differences_section, reliability_section};

use super::terminal::{
    COPIES, PAIR_COLUMNS, copies_sentence, heading, legend, pair_legend, pair_rows, system_columns,
    system_rows,
};
use crate::output::unknown_label_notes;

/// The whole page. Equal comparisons give equal pages. The systems stand in the order of the report.
pub(super) fn render(report: &CompareReport, systems: &[SystemReliability]) -> String {
    let comparison = &report.comparison;
    let mut summary = vec![Block::Paragraph(heading(comparison))];
    if let Some(sentence) = report.ledger.and_then(|note| note.sentence()) {
        summary.push(Block::Paragraph(format!("Note: {sentence}.")));
    }
    if report.documents_left_out > 0 {
        let fate = ["is not measured", "are not measured"];
        let notes = unknown_label_notes(
            &report.unknown_labels,
            report.documents_left_out,
            "systems",
            fate,
        );
        summary.extend(
            notes
                .iter()
                .map(|note| Block::Paragraph(format!("{note}."))),
        );
    }
    summary.extend(copies_sentence(report.copies, COPIES).map(Block::Paragraph));
    summary.push(named_table(
        &system_columns(comparison),
        system_rows(comparison),
    ));
    summary.extend(
        legend(comparison, report.grouped)
            .into_iter()
            .map(Block::Paragraph),
    );
    let rows = comparison.pairs.iter().flat_map(pair_rows).collect();
    let mut pairs = vec![named_table(&PAIR_COLUMNS, rows)];
    pairs.extend(
        pair_legend(comparison, report.grouped)
            .into_iter()
            .map(Block::Paragraph),
    );
    let section = |heading: &str, blocks| Section {
        heading: heading.to_owned(),
        blocks,
    };
    page(
        "Systems compared",
        &[
            section("Systems", summary),
            reliability_section(comparison, systems),
            differences_section(comparison),
            section("Pairs", pairs),
        ],
    )
}

fn named_table(header: &[&str], rows: Vec<Vec<String>>) -> Block {
    Block::Table(Table {
        caption: String::new(),
        header: header.iter().map(|&name| name.to_owned()).collect(),
        rows,
    })
}
