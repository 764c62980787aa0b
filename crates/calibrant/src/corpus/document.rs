//! One labelled document, whatever file it came from.

use super::ContentRef;

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
    /// The cells of [`Fields::vector`](super::Fields::vector).
    pub vectors: Vec<Option<Vec<f32>>>,
    /// The texts of [`Fields::asked`](super::Fields::asked); empty where a cell is.
    pub asked: Vec<String>,
}

impl Record {
    /// Without any cell.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this text.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// With one number more: cells are those of [`Fields::numeric`](super::Fields::numeric), in order.
    pub fn number(mut self, number: impl Into<Option<f64>>) -> Self {
        self.numbers.push(number.into());
        self
    }

    /// With one category more: cells are those of [`Fields::categorical`](super::Fields::categorical), in order.
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.categories.push(Some(category.into()));
        self
    }

    /// With one vector more: cells are those of [`Fields::vector`](super::Fields::vector), in order.
    pub fn vector(mut self, vector: impl Into<Vec<f32>>) -> Self {
        self.vectors.push(Some(vector.into()));
        self
    }

    /// With one cell more of [`Fields::categorical`](super::Fields::categorical), which is empty.
    pub fn no_category(mut self) -> Self {
        self.categories.push(None);
        self
    }
}

impl Content {
    /// The text, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        ContentRef::from(self).as_text()
    }

    /// The cells, if this is a record.
    pub fn as_record(&self) -> Option<&Record> {
        ContentRef::from(self).as_record()
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<(u32, f32)>> for Content {
    fn from(features: Vec<(u32, f32)>) -> Self {
        Self::Features(features)
    }
}

impl From<Record> for Content {
    fn from(record: Record) -> Self {
        Self::Record(Box::new(record))
    }
}

/// One row of a corpus.
///
/// A document without labels is not the same as a document of an unknown class:
/// in multi-label data it is a negative example of every class. Whoever needs
/// exactly one label has to check it.
///
/// ```
/// use calibrant::corpus::{Document, Record};
/// let mail = Document::new("win big").label("spam").id("m1").weight(2.0);
/// assert_eq!((mail.labels, mail.weight), (vec!["spam".to_owned()], 2.0));
/// let story = Document::new("wheat and oats").labels(["wheat", "oat", "wheat"]);
/// assert_eq!(story.labels, ["oat", "wheat"]); // sorted, without repeats
/// let order = Document::new(Record::new().text("late again").number(19.9).category("DE"));
/// assert_eq!(order.content.as_text(), Some("late again"));
/// ```
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
    /// The numbers of [`Fields::amounts`](super::Fields::amounts), which costs of decisions are made of.
    pub amounts: Vec<f64>,
    /// Where the row starts: physical line from 1, row number in Parquet, 1 in a folder of files.
    pub line: u64,
    /// Which row of the file it is, from 1: rows that were skipped, filtered or left out count, the header and blank lines do not.
    /// 0 for a document of no file.
    pub row: u64,
}

impl Document {
    /// A document without label, identifier or group, with a weight of 1: text, features or a [`Record`].
    pub fn new(content: impl Into<Content>) -> Self {
        Self {
            id: None,
            content: content.into(),
            labels: Vec::new(),
            labels_were_list: false,
            weight: 1.0,
            group: None,
            amounts: Vec::new(),
            line: 1,
            row: 0,
        }
    }

    /// With this label, beside those that it has.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.labels.push(label.into());
        self.labels.sort_unstable();
        self.labels.dedup();
        self
    }

    /// With these labels instead of those that it has, as a list: a corpus with such documents is multi-label.
    pub fn labels(mut self, labels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.labels = labels.into_iter().map(Into::into).collect();
        self.labels.sort_unstable();
        self.labels.dedup();
        self.labels_were_list = true;
        self
    }

    /// With this identifier.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// With one amount more: they are those of [`Fields::amounts`](super::Fields::amounts), in order.
    pub fn amount(mut self, amount: f64) -> Self {
        self.amounts.push(amount);
        self
    }

    /// With this weight.
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// With what it belongs to.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }
}
