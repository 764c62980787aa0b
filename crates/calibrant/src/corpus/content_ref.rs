//! A look at what a document holds, without owning it.

use std::borrow::Cow;

use super::{Content, Document, Record};
use crate::text::FIELD_BREAK;

/// A borrowed [`Content`]: what predictions are made from. A `&str`, features of a row, a record or a whole document
/// become one without being copied.
///
/// ```
/// use calibrant::corpus::{ContentRef, Document};
/// let document = Document::new("win big");
/// assert_eq!(ContentRef::from(&document), ContentRef::from("win big"));
/// assert_eq!(ContentRef::from(&[(3, 1.0)][..]).as_text(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ContentRef<'a> {
    /// As [`Content::Text`].
    Text(&'a str),
    /// As [`Content::Features`].
    Features(&'a [(u32, f32)]),
    /// As [`Content::Record`].
    Record(&'a Record),
}

impl<'a> ContentRef<'a> {
    /// The text, if there is one.
    pub fn as_text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Features(_) => None,
            Self::Record(record) => record.text.as_deref(),
        }
    }

    /// The cells, if this is a record.
    pub fn as_record(self) -> Option<&'a Record> {
        match self {
            Self::Record(record) => Some(record),
            _ => None,
        }
    }

    /// Hands on bytes that differ wherever contents do (marks between fields aside): a letter for the kind of a part, and the
    /// part. Whoever hashes them adds lengths, so that nothing can move between parts.
    pub(crate) fn for_each_part(self, mut part: impl FnMut(u8, &[u8])) {
        match self {
            Self::Text(text) => part(b't', without_marks(text).as_bytes()),
            Self::Features(features) => {
                let bytes: Vec<u8> = features
                    .iter()
                    .flat_map(|(number, value)| {
                        [number.to_le_bytes(), value.to_bits().to_le_bytes()]
                    })
                    .flatten()
                    .collect();
                part(b'f', &bytes);
            }
            Self::Record(record) => {
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
                for vector in &record.vectors {
                    let numbers = vector.iter().flatten();
                    let bytes: Vec<u8> = numbers.flat_map(|x| x.to_bits().to_le_bytes()).collect();
                    part(b'v', &bytes);
                }
                let asked = record.asked.iter();
                asked.for_each(|text| part(b'a', text.as_bytes()));
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

impl<'a> From<&'a str> for ContentRef<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for ContentRef<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [(u32, f32)]> for ContentRef<'a> {
    fn from(features: &'a [(u32, f32)]) -> Self {
        Self::Features(features)
    }
}

impl<'a> From<&'a Record> for ContentRef<'a> {
    fn from(record: &'a Record) -> Self {
        Self::Record(record)
    }
}

impl<'a> From<&'a Content> for ContentRef<'a> {
    fn from(content: &'a Content) -> Self {
        match content {
            Content::Text(text) => Self::Text(text),
            Content::Features(features) => Self::Features(features),
            Content::Record(record) => Self::Record(record),
        }
    }
}

impl<'a> From<&'a Document> for ContentRef<'a> {
    fn from(document: &'a Document) -> Self {
        Self::from(&document.content)
    }
}
