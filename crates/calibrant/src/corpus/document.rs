//! One labelled document, whatever file it came from.

use std::borrow::Cow;

use crate::text::FIELD_BREAK;

/// What a document holds: words still to be analysed, features somebody else has counted, or a
/// record of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text, the wanted fields joined by a line break and [`FIELD_BREAK`](crate::text::FIELD_BREAK).
    Text(String),
    /// Features as the svmlight format gives them: (index, value), by rising index.
    Features(Vec<(u32, f32)>),
    /// Cells of a table beside a text, or without one.
    Record(Box<Record>),
}

/// The cells of one row that [`Fields`](super::Fields) asks for, each list in the order of the
/// fields there. What is missing is `None`; a list that is too short lacks what would follow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// The text fields, joined as in [`Content::Text`]; `None` where no text was asked for.
    pub text: Option<String>,
    /// The cells of [`Fields::numeric`](super::Fields::numeric).
    pub numbers: Vec<Option<f64>>,
    /// The cells of [`Fields::categorical`](super::Fields::categorical).
    pub categories: Vec<Option<String>>,
    /// The texts of [`Fields::asked`](super::Fields::asked); empty where a cell is.
    pub asked: Vec<String>,
}

impl Content {
    /// The text, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(text) => Some(text),
            Content::Features(_) => None,
            Content::Record(record) => record.text.as_deref(),
        }
    }

    /// The cells, if this is a record.
    pub fn as_record(&self) -> Option<&Record> {
        match self {
            Content::Record(record) => Some(record),
            _ => None,
        }
    }

    /// Hands on bytes that differ wherever contents do (marks between fields aside): a letter for the kind of a part, and the
    /// part. Whoever hashes them adds lengths, so that nothing can move between parts.
    pub(crate) fn for_each_part(&self, mut part: impl FnMut(u8, &[u8])) {
        match self {
            Content::Text(text) => part(b't', without_marks(text).as_bytes()),
            Content::Features(features) => {
                let bytes: Vec<u8> = features
                    .iter()
                    .flat_map(|(number, value)| {
                        [number.to_le_bytes(), value.to_bits().to_le_bytes()]
                    })
                    .flatten()
                    .collect();
                part(b'f', &bytes);
            }
            Content::Record(record) => {
                if let Some(text) = &record.text {
                    part(b't', without_marks(text).as_bytes());
                }
                for number in &record.numbers {
                    match number {
                        Some(number) => part(b'n', &number.to_bits().to_le_bytes()),
                        None => part(b'n', b""),
                    }
                }
                for category in &record.categories {
                    match category {
                        Some(category) => part(b'c', category.as_bytes()),
                        None => part(b'm', b""),
                    }
                }
                record
                    .asked
                    .iter()
                    .for_each(|text| part(b'a', text.as_bytes()));
            }
        }
    }
}

/// A text without the marks between its fields. They came late: keys of documents, and with them folds and
/// ledgers, are what they were without.
fn without_marks(text: &str) -> Cow<'_, str> {
    if text.contains(FIELD_BREAK) {
        Cow::Owned(text.replace(FIELD_BREAK, ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// One row of a corpus.
///
/// A document without labels is not the same as a document of an unknown class:
/// in multi-label data it is a negative example of every class. Whoever needs
/// exactly one label has to check it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The identifier, where the file has a field for it.
    pub id: Option<String>,
    /// Text or features.
    pub content: Content,
    /// The labels, sorted and without repeats; empty if the row has none.
    pub labels: Vec<String>,
    /// Whether the file wrote the labels as a list, which makes the corpus multi-label
    /// even where every row happens to have one label.
    pub labels_were_list: bool,
    /// How much the document counts in fitting; 1 where the file does not say. Only ratios matter.
    pub weight: f64,
    /// What the document belongs to (a thread, a customer, an author), where the file has a field for it.
    pub group: Option<String>,
    /// Where the row starts: physical line from 1, row number in Parquet, 1 in a folder of files.
    pub line: u64,
}
