//! Which fields tell documents apart and say nothing else about them?

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::read_batches_until;
use super::{Document, Fields, LabelNeed, ReadError, ReadOptions, Source};
use crate::NoProgress;

/// At least so many rows have to differ.
const FEWEST: usize = 20;
/// At most so many rows are looked at.
const MOST: usize = 10_000;

/// Of these fields those that are identifiers: called `id`, or with another value in every row (of the
/// first ten thousand), which where fields are `numeric` are also whole numbers that rise from row to row.
///
/// ```
/// use calibrant::corpus::{ReadOptions, Source, identifier_fields};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("orders.csv");
/// let rows = (1..=30).map(|n| format!("{n},{},{}\n", 100 + n, n % 7));
/// std::fs::write(&path, format!("ID,order,items\n{}", rows.collect::<String>()))?;
/// let fields = ["ID", "order", "items"].map(str::to_owned);
/// let found = identifier_fields(&Source::Path(path), &ReadOptions::default(), &fields, true)?;
/// assert_eq!(found, ["ID", "order"]); // by hand: items come again, 101, 102, … do not
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn identifier_fields(
    source: &Source,
    reading: &ReadOptions,
    fields: &[String],
    numeric: bool,
) -> Result<Vec<String>, ReadError> {
    if fields.is_empty() {
        return Ok(Vec::new());
    }
    let options = ReadOptions {
        fields: Fields {
            categorical: fields.to_vec(),
            ..Fields::default()
        },
        format: reading.format,
        layout: reading.layout.clone(),
        labels_required: LabelNeed::Ignored,
        // What is wrong with a row will be said when it is read in earnest.
        skip_bad_rows: true,
        ..ReadOptions::default()
    };
    let mut columns: Vec<Column> = fields.iter().map(|_| Column::new(numeric)).collect();
    let mut rows = 0;
    let cells = |documents: Vec<Document>| -> Vec<Vec<Option<String>>> {
        let records = documents
            .iter()
            .filter_map(|document| document.content.as_record());
        records.map(|record| record.categories.clone()).collect()
    };
    let sink = |batch: Vec<Vec<Option<String>>>| {
        for row in batch.into_iter().take(MOST - rows) {
            rows += 1;
            for (column, cell) in columns.iter_mut().zip(row) {
                column.look_at(cell);
            }
        }
        if rows < MOST {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    match read_batches_until(source, &options, &NoProgress, cells, sink) {
        // A file without rows has no identifiers; reading it in earnest says so.
        Ok(_) | Err(ReadError::NoRows { .. }) => {}
        Err(error) => return Err(error),
    }
    let is_identifier = |(field, column): &(&String, Column)| {
        field.eq_ignore_ascii_case("id") || (rows >= FEWEST && column.tells_apart)
    };
    let fields = fields.iter().zip(columns).filter(is_identifier);
    Ok(fields.map(|(field, _)| field.clone()).collect())
}

/// What is known of a field so far.
struct Column {
    numeric: bool,
    /// Whether every row was unlike those before it.
    tells_apart: bool,
    seen: HashSet<String>,
    last: Option<f64>,
}

impl Column {
    fn new(numeric: bool) -> Self {
        Self {
            numeric,
            tells_apart: true,
            seen: HashSet::new(),
            last: None,
        }
    }

    fn look_at(&mut self, cell: Option<String>) {
        if !self.tells_apart {
            return;
        }
        self.tells_apart = match cell {
            None => false,
            Some(cell) if self.numeric => match cell.parse::<f64>() {
                Ok(number) if number.fract() == 0.0 => {
                    let rises = self.last.is_none_or(|last| number > last);
                    self.last = Some(number);
                    rises
                }
                _ => false,
            },
            Some(cell) => self.seen.insert(cell),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identifiers(rows: &str, fields: &[&str], numeric: bool) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, rows).unwrap();
        let fields: Vec<String> = fields.iter().map(|&field| field.to_owned()).collect();
        identifier_fields(
            &Source::Path(path),
            &ReadOptions::default(),
            &fields,
            numeric,
        )
        .unwrap()
    }

    #[test]
    fn what_comes_again_falls_or_is_missing_is_no_identifier() {
        let names = ["rising", "falling", "again", "gap", "real", "word"];
        let row = |n: usize| {
            let gap = if n == 25 {
                String::new()
            } else {
                n.to_string()
            };
            format!("{n},{},{},{gap},{n}.5,w{n}\n", 100 - n, n.min(29))
        };
        let rows: String = (1..=30).map(row).collect();
        let table = format!("{}\n{rows}", names.join(","));
        assert_eq!(identifiers(&table, &names, true), ["rising"]);
        // As categories all that never comes again are of no use.
        assert_eq!(
            identifiers(&table, &names, false),
            ["rising", "falling", "real", "word"]
        );
    }

    #[test]
    fn few_rows_prove_nothing_but_a_name_does() {
        let table = "id,size\n7,1\n7,2\n7,3\n";
        assert_eq!(identifiers(table, &["id", "size"], true), ["id"]);
        assert_eq!(identifiers("id,size\n", &["size"], true), [""; 0]);
        assert_eq!(identifiers(table, &[], true), [""; 0]);
    }
}
