//! Suspect labels as a page for a browser.

use calibrant::jobs::{RereadReport, SuspectList};
use calibrant::plot::{Block, Section, Table, page};

use super::{summary, yield_sentence};
use crate::table::probability;

/// Texts are cut after so many characters.
const SHOWN_TEXT: usize = 400;

/// A page with more rows than this is slow to open; the files have all.
const MOST_ROWS: usize = 2_000;

/// The whole page. Equal lists give equal pages.
pub(super) fn render(file: &str, list: &SuspectList, reread: Option<&RereadReport>) -> String {
    let mut blocks = vec![Block::Paragraph(format!("{}.", summary(list)))];
    blocks.extend(reread.map(|found| Block::Paragraph(format!("{}.", yield_sentence(found)))));
    blocks.push(Block::Paragraph(
        "Each label was held against probabilities of a model that had learned neither from the document nor from its copies. The model knows words; \
         a reader knows more, so fewer labels are wrong than it doubts. The words speak for the likelier label and against the given one."
            .to_owned(),
    ));
    let key = list
        .suspects
        .first()
        .map_or("row", |first| first.key.column());
    let copied = list.suspects.iter().any(|suspect| suspect.copies > 1);
    let mut header = vec!["", key, "given → likelier", "probabilities", "words for it"];
    if copied {
        header.push("rows");
    }
    header.push("text");
    let rows = list.suspects.iter().take(MOST_ROWS).enumerate();
    let rows = rows.map(|(place, suspect)| {
        let mut row = vec![
            (place + 1).to_string(),
            suspect.key.text().into_owned(),
            format!("{} → {}", suspect.given, suspect.likely),
            format!(
                "{} → {}",
                probability(suspect.given_probability),
                probability(suspect.likely_probability)
            ),
            suspect.words.join(", "),
        ];
        if copied {
            row.push(suspect.copies.to_string());
        }
        row.push(shortened(&suspect.text));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let left_out = list.suspects.len() - rows.len();
    let header = header.into_iter().map(str::to_owned).collect();
    let caption = String::new();
    let table = Block::Table(Table {
        caption,
        header,
        rows,
    });
    let mut listed = vec![table];
    if left_out > 0 {
        listed.push(Block::Paragraph(format!(
            "{left_out} more are not shown here; the list as a file has all."
        )));
    }
    let section = |heading: &str, blocks| Section {
        heading: heading.to_owned(),
        blocks,
    };
    page(
        &format!("Suspect labels in {file}"),
        &[section("", blocks), section("The list", listed)],
    )
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_TEXT) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
