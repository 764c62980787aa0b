//! Scores that any classifier gave, beside the label they were given for: rows of numbers.

use std::ops::ControlFlow;

use super::driver::{Batches, Driver, read_mapped};
use super::error::RowProblem;
use super::plan::{Plan, Row, Value};
use super::source::{Opened, open};
use super::{Format, Kept, ReadError, ReadOptions, ReadSummary, Source};
use crate::Progress;

/// One row of a file of scores.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredRow {
    /// The identifier, where the file has a field for it.
    pub id: Option<String>,
    /// The scores, in the order of [`ReadOptions::scores`]; all finite.
    pub scores: Vec<f64>,
    /// The label; absent only where labels are not required.
    pub label: Option<String>,
    /// How much the row counts; 1 where the file does not say.
    pub weight: f64,
    /// What the row belongs to, where the file has a field for it.
    pub group: Option<String>,
    /// Where the row starts: physical line from 1, row number in Parquet.
    pub line: u64,
    /// Which row of the file it is, from 1: rows that were skipped, filtered or left out count, the header and blank lines do not.
    pub row: u64,
}

/// Reads the fields [`ReadOptions::scores`] of every row as numbers; otherwise as
/// [`read_batches`](super::read_batches) does: in order, in parallel, never the whole file at once.
///
/// A score that is missing, not a number or not finite is a malformed row, and so is a row
/// with several labels. A row without its label is left out and counted where labels are required. Text formats without named
/// fields (fastText, svmlight, folders) hold no scores.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::corpus::{ReadOptions, Source, read_scores};
/// use std::ops::ControlFlow;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scores.csv");
/// std::fs::write(&path, "margin,label\n1.5,yes\n-2,no\n")?;
/// let options = ReadOptions { scores: vec!["margin".into()], ..ReadOptions::default() };
/// let mut total = 0.0;
/// read_scores(&Source::Path(path), &options, &NoProgress, |batch| batch, |batch| {
///     total += batch.iter().map(|row| row.scores[0]).sum::<f64>();
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(total, -0.5); // by hand: 1.5 - 2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_scores<T: Send>(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
    map: impl Fn(Vec<ScoredRow>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<ReadSummary, ReadError> {
    read_mapped(map, sink, |batches| {
        read_score_rows(source, options, progress, batches)
    })
}

/// As [`read_scores`], with the rows themselves where [`ReadOptions::keep`] asks for them.
pub(crate) fn read_kept_scores<T: Send>(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
    map: impl Fn(Vec<Kept<ScoredRow>>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<ReadSummary, ReadError> {
    read_mapped(map, sink, |batches| {
        read_score_rows(source, options, progress, batches)
    })
}

fn read_score_rows<R: Row>(
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
    batches: Batches<'_, R>,
) -> Result<ReadSummary, ReadError> {
    let file = source.name();
    let without_fields = |format: Format| ReadError::NoNumbers {
        file: file.clone(),
        format,
    };
    let mut driver = Driver::new(&file, options, progress, batches);
    match open(source, options)? {
        Opened::Folder(_) => Err(without_fields(Format::Folder)),
        Opened::Stream(stream, format) => match format {
            Format::Csv | Format::Tsv => driver.delimited(stream, format),
            Format::JsonLines => driver.json_lines(stream),
            Format::Parquet => driver.parquet(stream),
            Format::Xlsx | Format::Ods => driver.spreadsheet(stream, format),
            Format::FastText | Format::SvmLight | Format::Folder => Err(without_fields(format)),
        },
    }
}

impl Row for ScoredRow {
    /// A score without its label teaches nothing.
    const WITHOUT_LABEL: bool = false;

    fn lacks_label(&self) -> bool {
        self.label.is_none()
    }

    fn number(&mut self) -> &mut u64 {
        &mut self.row
    }

    fn content_fields(options: &ReadOptions, _has: impl Fn(&str) -> bool) -> Vec<&str> {
        options.scores.iter().map(String::as_str).collect()
    }

    fn of<P: Row>(plan: &Plan<P>, values: &[Value<'_>], line: u64) -> Result<Self, RowProblem> {
        let scores = plan
            .content
            .iter()
            .map(|&at| {
                let problem = |reason| RowProblem::in_field(&plan.columns[at], reason);
                let score = number(&values[at], |cell| plan.decimals.number(at, line, cell))
                    .map_err(problem)?;
                if plan.scores_are_probabilities && !(0.0..=1.0).contains(&score) {
                    return Err(problem(format!(
                        "a probability must lie between 0 and 1, found {score:?}"
                    )));
                }
                Ok(score)
            })
            .collect::<Result<Vec<f64>, RowProblem>>()?;
        if plan.scores_are_probabilities
            && scores.len() > 1
            && scores.iter().all(|&score| score == 0.0)
        {
            return Err(RowProblem::malformed("the probability of every class is 0"));
        }
        Ok(Self {
            id: plan.id(values)?,
            scores,
            label: label(plan, values)?,
            weight: plan.weight(values, line)?,
            group: plan.group(values)?,
            line,
            row: 0,
        })
    }
}

fn number(value: &Value<'_>, read: impl Fn(&str) -> Option<f64>) -> Result<f64, String> {
    let written = match value {
        Value::Text(text) => text.trim(),
        Value::Scalar(printed) => printed.as_str(),
        Value::Absent | Value::Null => "",
        Value::List(_) | Value::Numbers(_) | Value::Nested => {
            return Err("a score must be a number, found a list or an object".into());
        }
    };
    if written.is_empty() {
        return Err("the score is missing".into());
    }
    // A number of JSON or Parquet is one already.
    let number = match value {
        Value::Scalar(printed) => printed.parse().ok(),
        _ => read(written),
    };
    match number {
        Some(score) if score.is_finite() => Ok(score),
        _ => {
            let shown: String = written.chars().take(40).collect();
            Err(format!("a score must be a finite number, found `{shown}`"))
        }
    }
}

fn label<P: Row>(plan: &Plan<P>, values: &[Value<'_>]) -> Result<Option<String>, RowProblem> {
    let Some(at) = plan.label else {
        return Ok(None);
    };
    // By far the most rows: one plain value, without the list that labels are gathered in.
    let label = match &values[at] {
        Value::Text(text) => Some(text.trim().to_owned()),
        Value::Scalar(printed) => Some(printed.clone()),
        _ => {
            let (mut labels, _) = plan.labels(values)?;
            if labels.len() > 1 {
                let reason = format!("one label is needed, found {}", labels.join(", "));
                return Err(RowProblem::in_field(&plan.columns[at], reason));
            }
            labels.pop()
        }
    };
    let label = label.filter(|label| !label.is_empty());
    if label.is_none() {
        plan.refuse_empty_label()?;
    }
    Ok(label)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::data_type::{BoolType, DoubleType, FloatType};

    use super::super::testing::{gzip, write_parquet};
    use super::super::{EmptyLabels, Fields, LabelNeed};
    use super::*;
    use crate::NoProgress;

    fn read(
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<(Vec<ScoredRow>, ReadSummary), ReadError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let mut rows = Vec::new();
        let source = Source::Path(file.path().to_owned());
        let summary = read_scores(
            &source,
            options,
            &NoProgress,
            |batch| batch,
            |batch| {
                rows.extend(batch);
                ControlFlow::Continue(())
            },
        )?;
        Ok((rows, summary))
    }

    fn options(scores: &[&str]) -> ReadOptions {
        ReadOptions {
            scores: scores.iter().map(|&name| name.to_owned()).collect(),
            ..ReadOptions::default()
        }
    }

    fn csv(scores: &[&str]) -> ReadOptions {
        ReadOptions {
            format: Some(Format::Csv),
            ..options(scores)
        }
    }

    fn columns(rows: &[ScoredRow]) -> (Vec<f64>, Vec<&str>) {
        (
            rows.iter().flat_map(|row| row.scores.clone()).collect(),
            rows.iter()
                .map(|row| row.label.as_deref().unwrap_or("-"))
                .collect(),
        )
    }

    #[test]
    fn every_format_with_named_fields_gives_the_same_numbers() {
        let expected = (vec![0.25, -3.0, 1e-7, 4.0], vec!["true", "false"]);
        let text = "b,label,a\n-3,true,0.25\n 4. ,false,1E-7\n";
        let (rows, _) = read(text.as_bytes(), &csv(&["a", "b"])).unwrap();
        assert_eq!(columns(&rows), expected);
        assert_eq!(rows[1].line, 3);
        let (rows, _) = read(&gzip(text.as_bytes()), &csv(&["a", "b"])).unwrap();
        assert_eq!(columns(&rows), expected);
        let text = "{\"a\": 0.25, \"b\": -3, \"label\": true}\n{\"label\": [false], \"b\": \"4\", \"a\": 1e-7}\n";
        let (rows, _) = read(text.as_bytes(), &options(&["a", "b"])).unwrap();
        assert_eq!(columns(&rows), expected);
        let schema = "message m { required double a; required float b; required boolean label; }";
        let bytes = write_parquet(schema, |group| {
            let mut column = group.next_column().unwrap().unwrap();
            let batch = column.typed::<DoubleType>();
            batch.write_batch(&[0.25, 1e-7], None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let batch = column.typed::<FloatType>();
            batch.write_batch(&[-3.0, 4.0], None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let batch = column.typed::<BoolType>();
            batch.write_batch(&[true, false], None, None).unwrap();
            column.close().unwrap();
        });
        let (rows, _) = read(&bytes, &options(&["a", "b"])).unwrap();
        assert_eq!(columns(&rows), expected);
    }

    #[test]
    fn what_is_no_finite_number_is_named_with_line_and_field() {
        for (written, said) in [
            ("", "the score is missing"),
            (" ", "the score is missing"),
            ("NaN", "found `NaN`"),
            ("inf", "found `inf`"),
            ("-Infinity", "finite number"),
            ("1e999", "found `1e999`"),
            ("1;5", "found `1;5`"),
        ] {
            let text = format!("s,label\n1,a\n{written},b\n2,b\n");
            let error = read(text.as_bytes(), &csv(&["s"])).unwrap_err().to_string();
            assert!(error.contains("line 3, field `s`: "), "{error}");
            assert!(error.contains(said), "{error}");
            let skipping = ReadOptions {
                skip_bad_rows: true,
                ..csv(&["s"])
            };
            let (rows, summary) = read(text.as_bytes(), &skipping).unwrap();
            assert_eq!((rows.len(), summary.bad_row_count), (2, 1));
        }
        for row in [
            r#"{"s": null, "label": 1}"#,
            r#"{"label": 1}"#,
            r#"{"s": [1], "label": 1}"#,
            r#"{"s": 1e400, "label": 1}"#,
        ] {
            let text = format!("{{\"s\": 1, \"label\": 0}}\n{row}\n");
            let error = read(text.as_bytes(), &options(&["s"])).unwrap_err();
            assert!(error.to_string().contains("line 2"), "{error}");
        }
    }

    #[test]
    fn labels_are_needed_where_they_are_required_and_only_one_of_them() {
        let text = b"s,label\n1,a\n2,\n";
        let (rows, summary) = read(text, &csv(&["s"])).unwrap();
        assert_eq!((columns(&rows).1, summary.rows), (vec!["a"], 1));
        let unlabelled = summary.unlabelled.unwrap();
        assert_eq!((unlabelled.rows, unlabelled.first_line), (1, 3));
        let strict = ReadOptions {
            empty_labels: EmptyLabels::Error,
            ..csv(&["s"])
        };
        let error = read(text, &strict).unwrap_err().to_string();
        assert!(error.ends_with("line 3, field `label`: the label is empty"));
        let error = read(b"s,label\n1,\n", &csv(&["s"])).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("none of the 1 rows has a label")
        );
        let lenient = ReadOptions {
            labels_required: LabelNeed::Ignored,
            ..csv(&["s"])
        };
        assert_eq!(columns(&read(text, &lenient).unwrap().0).1, ["-", "-"]);
        let several = br#"{"s": 1, "label": ["a", "b"]}"#;
        let error = read(several, &options(&["s"])).unwrap_err().to_string();
        assert!(error.contains("one label is needed"), "{error}");
    }

    #[test]
    fn probabilities_lie_between_zero_and_one() {
        let checked = ReadOptions {
            scores_are_probabilities: true,
            ..csv(&["s"])
        };
        assert!(read(b"s,label\n0,a\n1,b\n", &checked).is_ok());
        let error = read(b"s,label\n0.5,a\n1.01,b\n", &checked).unwrap_err();
        assert!(error.to_string().contains("line 3, field `s`"), "{error}");
        // One 0 is a statement, and a 0 for every class is none.
        assert!(read(b"s,t,label\n0,0,a\n", &csv(&["s", "t"])).is_ok());
        let checked = ReadOptions {
            scores_are_probabilities: true,
            ..csv(&["s", "t"])
        };
        let error = read(b"s,t,label\n0,1,a\n0,0.0,b\n", &checked).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("line 3: the probability of every class is 0"),
            "{error}"
        );
    }

    #[test]
    fn fields_are_checked_and_formats_without_fields_are_refused() {
        let outcome = read(b"s,label\n1,a\n", &csv(&["margin"]));
        assert!(matches!(outcome, Err(ReadError::UnknownField { field, .. }) if field == "margin"));
        let weighted = ReadOptions {
            fields: Fields {
                weight: Some("w".into()),
                id: Some("key".into()),
                ..Fields::default()
            },
            ..csv(&["s"])
        };
        let (rows, _) = read(b"key,w,s,label\nk,2,1,a\n", &weighted).unwrap();
        assert_eq!((rows[0].id.as_deref(), rows[0].weight), (Some("k"), 2.0));
        let error = read(b"__label__a 1 2\n", &options(&["s"])).unwrap_err();
        assert!(error.to_string().contains("no named fields"), "{error}");
    }
}
