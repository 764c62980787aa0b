//! One labelled document, whatever file it came from.

/// What a document holds: words still to be analysed, or features somebody else has counted.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text, the wanted fields joined by line breaks.
    Text(String),
    /// Features as the svmlight format gives them: (index, value), by rising index.
    Features(Vec<(u32, f32)>),
}

impl Content {
    /// The text, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(text) => Some(text),
            Content::Features(_) => None,
        }
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
    /// How much the document counts in fitting; 1 where the file does not say.
    pub weight: f64,
    /// Where the row starts: physical line from 1, row number in Parquet, 1 in a folder of files.
    pub line: u64,
}
