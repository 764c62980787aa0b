//! Cells of a table to numbers and categories.

use super::error::{READ_AS_CATEGORY, RowProblem};
use super::plan::{Plan, Value};
use super::{Fields, Record};

/// Numbers beyond this are no measurements, and their squares could overflow.
const LARGEST: f64 = 1e100;

/// Where the cells of a record are among the columns that are read.
#[derive(Debug, Clone)]
pub(super) struct SideSlots {
    numeric: Vec<usize>,
    categorical: Vec<usize>,
    vectors: Vec<usize>,
    asked: Vec<usize>,
}

impl SideSlots {
    /// `slot` gives each field its place.
    pub(super) fn new(fields: &Fields, mut slot: impl FnMut(&str) -> usize) -> Self {
        let mut slots = |names: &[String]| names.iter().map(|name| slot(name)).collect();
        Self {
            numeric: slots(&fields.numeric),
            categorical: slots(&fields.categorical),
            vectors: slots(&fields.vector),
            asked: slots(&fields.asked),
        }
    }

    /// Whether a column holds vectors, and no other cells.
    pub(super) fn is_vector(&self, column: usize) -> bool {
        let mut others = self
            .numeric
            .iter()
            .chain(&self.categorical)
            .chain(&self.asked);
        self.vectors.contains(&column) && !others.any(|&at| at == column)
    }

    /// The cells of one row, without its text.
    pub(super) fn cells<R>(
        &self,
        plan: &Plan<R>,
        values: &[Value<'_>],
        line: u64,
    ) -> Result<Record, RowProblem> {
        let columns = &plan.columns;
        let in_field = |at: usize| move |reason: String| RowProblem::in_field(&columns[at], reason);
        let numbers = self
            .numeric
            .iter()
            .map(|&at| {
                let read = |cell: &str| plan.decimals.number(at, line, cell);
                number(&values[at], read).map_err(in_field(at))
            })
            .collect::<Result<_, _>>()?;
        let categories = self
            .categorical
            .iter()
            .map(|&at| category(&values[at]).map_err(in_field(at)))
            .collect::<Result<_, _>>()?;
        let vectors = self
            .vectors
            .iter()
            .map(|&at| vector(&values[at]).map_err(in_field(at)))
            .collect::<Result<_, _>>()?;
        let asked = self
            .asked
            .iter()
            .map(|&at| Ok(written(&values[at]).map_err(in_field(at))?.to_owned()))
            .collect::<Result<_, _>>()?;
        Ok(Record {
            text: None,
            numbers,
            categories,
            vectors,
            asked,
        })
    }
}

/// What stands in a cell; nothing where the row has no such cell.
fn written<'v>(value: &'v Value<'_>) -> Result<&'v str, String> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Scalar(printed) => Ok(printed),
        Value::Absent | Value::Null => Ok(""),
        Value::List(_) | Value::Numbers(_) => {
            Err("is a list; a cell must be a string or a number".into())
        }
        Value::Nested => Err("is nested; a cell must be a string or a number".into()),
    }
}

/// The ways in which tables say that a cell is missing.
fn says_missing(cell: &str) -> bool {
    matches!(cell, "" | "?" | "NA" | "N/A" | "null" | "NULL")
}

/// A number, or `None` where it is missing; truth values count as 1 and 0.
fn number(value: &Value<'_>, read: impl Fn(&str) -> Option<f64>) -> Result<Option<f64>, String> {
    let cell = written(value)?.trim();
    if says_missing(cell) || cell.eq_ignore_ascii_case("nan") {
        return Ok(None);
    }
    match (value, cell) {
        (Value::Scalar(_), "true") => return Ok(Some(1.0)),
        (Value::Scalar(_), "false") => return Ok(Some(0.0)),
        _ => {}
    }
    let shown: String = cell.chars().take(40).collect();
    // A number of JSON or Parquet is one already.
    let number = match value {
        Value::Scalar(printed) => printed.parse().ok(),
        _ => read(cell),
    };
    match number {
        // Zero has one sign here, so that equal cells are equal documents.
        Some(number) if number.abs() <= LARGEST => Ok(Some(number + 0.0)),
        Some(_) => Err(format!(
            "`{shown}` is not a number between -1e100 and 1e100"
        )),
        None => Err(format!(
            "`{shown}` is not a number; {READ_AS_CATEGORY}, or leave the cell empty where the number is missing"
        )),
    }
}

/// A category, or `None` where it is missing.
fn category(value: &Value<'_>) -> Result<Option<String>, String> {
    let cell = written(value)?.trim();
    Ok((!says_missing(cell)).then(|| cell.to_owned()))
}

/// A vector, or `None` where it is missing.
fn vector(value: &Value<'_>) -> Result<Option<Vec<f32>>, String> {
    let numbers = match value {
        Value::Absent | Value::Null => return Ok(None),
        Value::Numbers(numbers) => numbers.clone(),
        Value::List(elements) => parsed(elements.iter().map(String::as_str))?,
        Value::Text(text) if says_missing(text.trim()) => return Ok(None),
        Value::Text(text) => {
            let text = text.trim();
            let inside = text
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'));
            let inside = inside.ok_or_else(|| format!("`{}` is {NO_VECTOR}", shown(text)))?;
            let divided = |sign: char| sign == ',' || sign.is_whitespace();
            parsed(inside.split(divided).filter(|part| !part.is_empty()))?
        }
        Value::Scalar(printed) => return Err(format!("`{}` is {NO_VECTOR}", shown(printed))),
        Value::Nested => return Err(format!("is nested, {NO_VECTOR}")),
    };
    if numbers.is_empty() {
        return Err("is a vector without numbers; leave the cell empty where it is missing".into());
    }
    if let Some(place) = numbers.iter().position(|number| !number.is_finite()) {
        let number = numbers[place];
        return Err(format!(
            "number {place} of the vector, from 0, is {number}; it must be finite"
        ));
    }
    // Zero has one sign here, so that equal vectors are equal documents.
    Ok(Some(
        numbers.into_iter().map(|number| number + 0.0).collect(),
    ))
}

const NO_VECTOR: &str = "no list of numbers, such as [0.5, -1.25]";

fn shown(cell: &str) -> String {
    cell.chars().take(40).collect()
}

fn parsed<'a>(parts: impl Iterator<Item = &'a str>) -> Result<Vec<f32>, String> {
    let number = |part: &str| {
        let number = part.trim().parse::<f32>();
        number.map_err(|_| format!("`{}` in the vector is not a number", shown(part)))
    };
    parts.map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{parquet_file, read};
    use super::super::{Content, Document, Format, LabelNeed, ReadError, ReadOptions};
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn options(format: Format) -> ReadOptions {
        ReadOptions {
            fields: Fields {
                numeric: names(&["length", "rings"]),
                categorical: names(&["sex"]),
                ..Fields::default()
            },
            format: Some(format),
            ..ReadOptions::default()
        }
    }

    fn records(documents: &[Document]) -> Vec<&Record> {
        documents
            .iter()
            .map(|document| document.content.as_record().unwrap())
            .collect()
    }

    #[test]
    fn cells_come_from_every_format_with_named_fields() {
        let csv = "sex,length,rings,label\nM,0.5,15,old\n?,NA,,young\n F , 1e-2 ,nan,young\n";
        let tsv = csv.replace(',', "\t");
        let json = "{\"sex\":\"M\",\"length\":0.5,\"rings\":15,\"label\":\"old\"}\n\
                    {\"sex\":null,\"length\":\"NA\",\"label\":\"young\"}\n\
                    {\"sex\":\"F\",\"length\":1e-2,\"rings\":null,\"label\":\"young\"}\n";
        for (text, format) in [
            (csv, Format::Csv),
            (tsv.as_str(), Format::Tsv),
            (json, Format::JsonLines),
        ] {
            let (documents, _) = read(text.as_bytes(), &options(format)).unwrap();
            let records = records(&documents);
            assert_eq!(records[0].numbers, [Some(0.5), Some(15.0)], "{format}");
            assert_eq!(records[0].categories, [Some("M".to_owned())]);
            assert_eq!(records[0].text, None);
            assert_eq!(records[1].numbers, [None, None]);
            assert_eq!(records[1].categories, [None]);
            assert_eq!(records[2].numbers, [Some(0.01), None]);
            assert_eq!(records[2].categories, [Some("F".to_owned())]);
            assert_eq!(documents[2].labels, ["young"]);
        }
    }

    #[test]
    fn parquet_has_cells_too() {
        let bytes = parquet_file(&[("text", &["one", "two"]), ("label", &["a", "b"])]);
        let options = ReadOptions {
            fields: Fields {
                categorical: names(&["label"]),
                ..Fields::default()
            },
            labels_required: LabelNeed::Ignored,
            ..ReadOptions::default()
        };
        let (documents, _) = read(&bytes, &options).unwrap();
        let records = records(&documents);
        assert_eq!(records[1].categories, [Some("b".to_owned())]);
        assert_eq!(records[1].text.as_deref(), Some("two"));
    }

    #[test]
    fn text_is_read_where_there_is_some_and_demanded_where_it_is_named() {
        let csv = "text,length,rings,sex,label\nhello,1,2,M,a\n";
        let (documents, _) = read(csv.as_bytes(), &options(Format::Csv)).unwrap();
        assert_eq!(documents[0].content.as_text(), Some("hello"));
        let mut named = options(Format::Csv);
        named.fields.text = names(&["body"]);
        let error = read(csv.as_bytes(), &named).unwrap_err();
        assert!(matches!(error, ReadError::UnknownField { field, .. } if field == "body"));
    }

    #[test]
    fn a_cell_that_is_no_number_is_named_with_the_next_step() {
        let csv = "length,rings,sex,label\n1,2,M,a\n1,many,F,b\n";
        let error = read(csv.as_bytes(), &options(Format::Csv))
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with(
                "line 3, field `rings`: `many` is not a number; read the field as a category instead, or \
                 leave the cell empty where the number is missing"
            ),
            "{error}"
        );
        for (cell, said) in [
            ("inf", "between"),
            ("-1e101", "between"),
            ("0x10", "not a number"),
        ] {
            let csv = format!("length,rings,sex,label\n{cell},2,M,a\n");
            let error = read(csv.as_bytes(), &options(Format::Csv))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&format!("`{cell}` is")) && error.contains(said),
                "{error}"
            );
        }
        let json = "{\"length\":[1],\"rings\":2,\"sex\":\"M\",\"label\":\"a\"}";
        let error = read(json.as_bytes(), &options(Format::JsonLines))
            .unwrap_err()
            .to_string();
        assert!(error.contains("field `length`: is a list"), "{error}");
    }

    #[test]
    fn truth_values_are_numbers() {
        let json = "{\"length\":true,\"rings\":false,\"sex\":true,\"label\":\"a\"}";
        let (documents, _) = read(json.as_bytes(), &options(Format::JsonLines)).unwrap();
        let Content::Record(record) = &documents[0].content else {
            panic!("a record");
        };
        assert_eq!(record.numbers, [Some(1.0), Some(0.0)]);
        assert_eq!(record.categories, [Some("true".to_owned())]);
    }

    #[test]
    fn formats_without_named_fields_have_no_such_columns() {
        let error = read(b"__label__a word\n", &options(Format::FastText)).unwrap_err();
        assert!(matches!(error, ReadError::UnknownField { field, .. } if field == "length"));
        let error = read(b"1 1:2\n", &options(Format::SvmLight)).unwrap_err();
        assert!(matches!(error, ReadError::UnknownField { field, .. } if field == "length"));
    }
}
