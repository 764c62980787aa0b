//! Files of queries.

use std::collections::HashMap;

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::topics::{TopicField, TopicReader};
use crate::corpus::{BadRow, NoRowsReason, ReadError, Source, each_line};

/// What somebody asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// What the query is called in runs and judgements.
    pub id: String,
    /// Its words.
    pub text: String,
}

/// How a file of queries is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryFormat {
    /// One JSON object a line, with `id` (text or a whole number) and `text`.
    JsonLines,
    /// An identifier, a tab and the text on each line; no header.
    Tsv,
    /// Topics of the Text REtrieval Conference: `<top> <num> … <title> … </top>`.
    Topics,
}

named! {
    QueryFormat, "a format of queries";
    JsonLines = "jsonl" | "json_lines", "A JSON object per line, with id and text";
    Tsv = "tsv", "An identifier, a tab and the text on each line";
    Topics = "topics", "Topics of the Text REtrieval Conference";
}

impl QueryFormat {
    /// Told by the first line that is not blank.
    fn of_line(line: &str) -> Self {
        match line.trim_start().as_bytes().first() {
            Some(b'{') => Self::JsonLines,
            Some(b'<') => Self::Topics,
            _ => Self::Tsv,
        }
    }
}

/// Reads a file of queries, which may be compressed, in the order of the file. Without `format`, the first line that is
/// not blank tells it. Of topics, `fields` are joined to the text of the query.
///
/// A line that is not understood, a query without an identifier and an identifier that comes twice are errors that name the line.
/// A query may be empty; it finds nothing.
///
/// ```
/// use calibrant::corpus::{Source, TopicField, read_queries};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("topics.txt");
/// std::fs::write(&path, "<top>\n<num> Number: 451\n<title> Bengal cat\n<desc> What is it?\n</top>\n")?;
/// let queries = read_queries(&Source::Path(path), None, &[TopicField::Title])?;
/// assert_eq!((queries[0].id.as_str(), queries[0].text.as_str()), ("451", "Bengal cat"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_queries(
    source: &Source,
    format: Option<QueryFormat>,
    fields: &[TopicField],
) -> Result<Vec<Query>, ReadError> {
    let mut format = format;
    let mut queries: Vec<Query> = Vec::new();
    let mut lines: HashMap<String, u64> = HashMap::new();
    let mut topics = TopicReader::new(fields);
    let mut last_line = 0;
    each_line(source, |line| {
        last_line = line.number;
        let bad = |number, reason| bad_row(line.file, number, reason);
        if format.is_none() && line.text.trim().is_empty() {
            return Ok(());
        }
        let format = *format.get_or_insert_with(|| QueryFormat::of_line(line.text));
        if format == QueryFormat::Topics {
            topics
                .line(line.number, line.text)
                .map_err(|(number, reason)| bad(number, reason))?;
        } else if !line.text.trim().is_empty() {
            let query = match format {
                QueryFormat::JsonLines => from_json(line.text),
                _ => from_tsv(line.text),
            };
            let query = query.map_err(|reason| bad(line.number, reason))?;
            claim(&mut lines, &query, line.number).map_err(|reason| bad(line.number, reason))?;
            queries.push(query);
        }
        for (number, query) in topics.finished.drain(..) {
            claim(&mut lines, &query, number).map_err(|reason| bad(number, reason))?;
            queries.push(query);
        }
        Ok(())
    })?;
    let file = source.name();
    if let Err((number, reason)) = topics.end() {
        return Err(bad_row(&file, number, reason));
    }
    if queries.is_empty() {
        return Err(ReadError::NoRows {
            file,
            reason: NoRowsReason::Blank,
        });
    }
    Ok(queries)
}

fn bad_row(file: &str, line: u64, reason: String) -> ReadError {
    ReadError::BadRow(BadRow {
        sheet: None,
        file: file.to_owned(),
        line,
        column: None,
        field: None,
        reason,
    })
}

/// Remembers where an identifier stands.
fn claim(lines: &mut HashMap<String, u64>, query: &Query, line: u64) -> Result<(), String> {
    if query.id.is_empty() {
        return Err("the query has no id".to_owned());
    }
    match lines.insert(query.id.clone(), line) {
        Some(first) => Err(format!(
            "the query id `{}` already occurs in line {first}",
            query.id
        )),
        None => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Identifier {
    Text(String),
    Number(i64),
}

#[derive(Deserialize)]
struct JsonQuery {
    id: Identifier,
    text: String,
}

fn from_json(line: &str) -> Result<Query, String> {
    let query: JsonQuery = serde_json::from_str(line)
        .map_err(|error| format!("{error}; a query is {{\"id\": …, \"text\": …}}"))?;
    let id = match query.id {
        Identifier::Text(id) => id,
        Identifier::Number(id) => id.to_string(),
    };
    Ok(Query {
        id: id.trim().to_owned(),
        text: query.text,
    })
}

fn from_tsv(line: &str) -> Result<Query, String> {
    let (id, text) = line
        .split_once('\t')
        .ok_or("there is no tab; a query is an id, a tab and its text")?;
    Ok(Query {
        id: id.trim().to_owned(),
        text: text.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<Query>, ReadError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let source = Source::Path(file.path().to_owned());
        read_queries(&source, None, &[TopicField::Title])
    }

    fn pairs(bytes: &[u8]) -> Vec<(String, String)> {
        let queries = read(bytes).unwrap();
        queries.into_iter().map(|q| (q.id, q.text)).collect()
    }

    #[test]
    fn the_first_line_tells_the_format() {
        let expected = [("7".to_owned(), "red fox".to_owned())];
        assert_eq!(pairs(b"\n{\"id\": 7, \"text\": \"red fox\"}\n"), expected);
        assert_eq!(pairs(b"{\"text\":\"red fox\",\"id\":\"7\"}"), expected);
        assert_eq!(pairs(b"\n7\tred fox\n\n"), expected);
        let topics =
            b"<top>\n<num> Number: 7\n<title> red\nfox\n\n<desc> Description:\nno\n</top>\n";
        assert_eq!(pairs(topics), expected);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, pieces) in [
            ("a\tx\nb\ty\na\tz\n", vec!["line 3", "`a`", "line 1"]),
            ("a\tx\nb y\n", vec!["line 2", "no tab"]),
            ("\tx\n", vec!["line 1", "no id"]),
            ("{\"id\":1}\n", vec!["line 1", "text"]),
            ("{\"id\":1,\"text\":\"x\"}\n7\ty\n", vec!["line 2"]),
            ("\n\n", vec!["has no rows"]),
            (
                "<top>\n<num> 1\n<title> x\n</top>\n<top>\n<num> 1\n<title> y\n</top>\n",
                vec!["line 5", "`1`", "line 1"],
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            for piece in pieces {
                assert!(error.contains(piece), "{text:?}: {error}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_queries_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }

        #[test]
        fn any_tags_are_queries_or_an_error(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "<top>", "</top>", "<num>", "<title>", "<desc>", "</title>", " 5 ", "x", "\n", "<", ">", "é",
                ]),
                0..40,
            ),
        ) {
            let _ = read(pieces.concat().as_bytes());
        }
    }
}
