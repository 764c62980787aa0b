//! Cells of a table as they are written, by the names of their fields.

use crate::Progress;
use crate::corpus::{
    Content, Document, Fields, LabelNeed, ReadError, ReadOptions, Source, field_names, read_all,
};

/// One row: the cells that were asked for, in their order; `None` where one is empty or missing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CellRow {
    /// The line where it begins.
    pub(super) line: u64,
    pub(super) cells: Vec<Option<String>>,
}

impl CellRow {
    pub(super) fn cell(&self, at: usize) -> Option<&str> {
        self.cells.get(at)?.as_deref()
    }
}

/// Reads these fields of every row. The source is opened once for each call of this and of [`names_of`].
pub(super) fn read_cells(
    source: &Source,
    options: &ReadOptions,
    names: &[&str],
    progress: &dyn Progress,
) -> Result<Vec<CellRow>, ReadError> {
    let options = ReadOptions {
        fields: Fields {
            // Categories are cells as they are written; with them no text is asked for.
            categorical: names.iter().map(|&name| name.to_owned()).collect(),
            ..Fields::default()
        },
        labels_required: LabelNeed::Ignored,
        own_id: false,
        ..options.clone()
    };
    let (documents, _) = read_all(source, &options, progress)?;
    Ok(documents.into_iter().map(row).collect())
}

/// The names of the fields of a table.
pub(super) fn names_of(source: &Source, options: &ReadOptions) -> Result<Vec<String>, ReadError> {
    field_names(source, options)
}

fn row(document: Document) -> CellRow {
    let cells = match document.content {
        Content::Record(record) => record.categories,
        _ => Vec::new(),
    };
    let trimmed = |cell: Option<String>| {
        let text = cell?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    CellRow {
        line: document.line,
        cells: cells.into_iter().map(trimmed).collect(),
    }
}

/// A number as tables write it, with a point or a comma.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain = text.trim().parse().ok();
    plain.or_else(|| text.trim().replacen(',', ".", 1).parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;

    #[test]
    fn cells_are_read_by_name_from_every_kind_of_table() {
        let options = ReadOptions::default();
        for (name, text) in [
            ("a.csv", "id;note;p\n7; x ;0,5\n8;;1\n"),
            (
                "a.jsonl",
                "{\"id\": 7, \"note\": \"x\", \"p\": \"0,5\"}\n{\"p\": 1, \"id\": \"8\"}\n",
            ),
        ] {
            let source = Source::bytes(name, text.as_bytes());
            assert_eq!(names_of(&source, &options).unwrap(), ["id", "note", "p"]);
            let rows = read_cells(&source, &options, &["p", "note", "id"], &NoProgress).unwrap();
            let cells = |row: usize| (0..3).map(|at| rows[row].cell(at)).collect::<Vec<_>>();
            assert_eq!(cells(0), [Some("0,5"), Some("x"), Some("7")]);
            assert_eq!(cells(1), [Some("1"), None, Some("8")]);
        }
        assert_eq!(number("0,25"), Some(0.25));
        assert_eq!(number(" 1e-3 "), Some(0.001));
        assert_eq!(number("many"), None);
    }
}
