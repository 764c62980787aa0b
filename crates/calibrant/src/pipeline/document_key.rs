//! When are two documents the same? When a model cannot distinguish them.

use super::FitSettings;
use super::training_corpus::side_cells;
use crate::FitError;
use crate::corpus::ContentRef;
use crate::features::{Cells, RowCells, TermSum, one_spelling};
use crate::text::{AnalyzerBuffers, CompiledAnalyzer};

/// A hash of what a model sees of a document: its terms with their counts, in whatever order, and the cells
/// beside the text, with a bit for whether there are terms. Labels, weights and identifiers are no part of it.
pub(super) fn key_of_terms(content: ContentRef<'_>, terms: TermSum, strengths: &[f32]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(match content {
        ContentRef::Features(_) => b"f",
        ContentRef::Text(_) | ContentRef::Record(_) => b"t",
    });
    hasher.update(&terms.value().to_le_bytes());
    add_cells(&mut hasher, &side_cells(content, strengths));
    let words = !matches!(content, ContentRef::Features(_)) && terms != TermSum::default();
    marked(first_half(&hasher), words)
}

/// Tells documents apart as models by default settings do.
pub(crate) struct ContentKeys {
    analyzer: CompiledAnalyzer,
}

impl ContentKeys {
    pub(crate) fn new() -> Result<Self, FitError> {
        Ok(Self {
            analyzer: FitSettings::default().analyzer.compile()?,
        })
    }

    /// The key of a document; equal ones are copies.
    pub(crate) fn key(&self, content: ContentRef<'_>, buffers: &mut AnalyzerBuffers) -> u128 {
        let terms = match content {
            ContentRef::Features(features) => TermSum::of_features(features, false),
            ContentRef::Text(_) | ContentRef::Record(_) => {
                let mut terms = TermSum::default();
                let text = content.as_text().unwrap_or_default();
                let analyzer = &self.analyzer;
                analyzer.for_each_term(text, buffers, |term| terms.add(term));
                terms
            }
        };
        key_of_terms(content, terms, &[])
    }
}

/// Whether the model sees words of the document with this key.
pub(super) fn has_words(key: u128) -> bool {
    key & 1 == 1
}

/// A key whose lowest bit says whether there are words.
pub(super) fn marked(key: u128, words: bool) -> u128 {
    (key & !1) | u128::from(words)
}

/// A hash of the document as it came, for models that see no terms: rules alone, of which many different
/// documents fulfil the same.
pub(super) fn key_as_written(content: ContentRef<'_>) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"w");
    content.for_each_part(|letter, bytes| {
        hasher.update(&[letter]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    });
    let words = content.as_text().is_some_and(|text| !text.is_empty());
    marked(first_half(&hasher), words)
}

/// The name of a group as a key; never zero, which stands for no group.
pub(super) fn key_of_group(name: &str) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"g");
    hasher.update(name.as_bytes());
    first_half(&hasher).max(1)
}

/// What is missing at the end of a list counts as never having been there.
fn add_cells(hasher: &mut blake3::Hasher, cells: &RowCells<'_>) {
    for column in 0..cells.numbers.len() {
        if let Some(number) = cells.number(column) {
            hasher.update(b"n");
            hasher.update(&(column as u64).to_le_bytes());
            hasher.update(&number.to_bits().to_le_bytes());
        }
    }
    for column in 0..cells.categories.len() {
        if let Some(category) = cells.category(column).map(one_spelling) {
            hasher.update(b"c");
            hasher.update(&(column as u64).to_le_bytes());
            hasher.update(&(category.len() as u64).to_le_bytes());
            hasher.update(category.as_bytes());
        }
    }
    for column in 0..cells.vectors.len() {
        // A vector of zeros is as good as none.
        let vector = cells.vector(column).unwrap_or_default();
        if vector.iter().any(|&x| x != 0.0) {
            hasher.update(b"v");
            hasher.update(&(column as u64).to_le_bytes());
            hasher.update(&(vector.len() as u64).to_le_bytes());
            vector.iter().for_each(|x| {
                hasher.update(&(x + 0.0).to_bits().to_le_bytes());
            });
        }
    }
    for (rule, strength) in cells.strengths.iter().enumerate() {
        if *strength > 0.0 {
            hasher.update(b"r");
            hasher.update(&(rule as u64).to_le_bytes());
            hasher.update(&strength.to_bits().to_le_bytes());
        }
    }
}

pub(super) fn first_half(hasher: &blake3::Hasher) -> u128 {
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    u128::from_le_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Content, Record};

    fn record(numbers: &[Option<f64>], categories: &[Option<&str>]) -> Content {
        Content::Record(Box::new(Record {
            numbers: numbers.to_vec(),
            categories: categories.iter().map(|c| c.map(str::to_owned)).collect(),
            ..Record::default()
        }))
    }

    fn key(content: &Content, strengths: &[f32]) -> u128 {
        key_of_terms(content.into(), TermSum::default(), strengths)
    }

    #[test]
    fn cells_tell_documents_apart_and_cells_that_are_missing_do_not() {
        let plain = key(&record(&[Some(1.0)], &[Some("a")]), &[]);
        assert_eq!(
            plain,
            key(&record(&[Some(1.0), None], &[Some("a"), None]), &[0.0])
        );
        let [one, again, other] = ["1", "1.0", "01"].map(|k| key(&record(&[], &[Some(k)]), &[]));
        assert_eq!(one, again, "a category has one spelling");
        assert_ne!(one, other);
        let others = [
            key(&record(&[Some(2.0)], &[Some("a")]), &[]),
            key(&record(&[None, Some(1.0)], &[Some("a")]), &[]),
            key(&record(&[Some(1.0)], &[Some("b")]), &[]),
            key(&record(&[Some(1.0)], &[None, Some("a")]), &[]),
            key(&record(&[Some(1.0)], &[Some("a")]), &[1.0]),
        ];
        for (number, other) in others.iter().enumerate() {
            assert_ne!(plain, *other);
            assert!(!others[..number].contains(other));
        }
        // A text without terms and a record without cells look alike.
        assert_eq!(
            key(&record(&[], &[]), &[]),
            key(&Content::Text("…".into()), &[])
        );
        assert_ne!(
            key(&Content::Text(String::new()), &[]),
            key(&Content::Features(Vec::new()), &[])
        );
    }

    #[test]
    fn written_documents_differ_where_a_letter_does() {
        let text = |text: &str| key_as_written(text.into());
        assert_ne!(text("a b"), text("b a"));
        assert_ne!(key_of_group("a"), key_of_group("b"));
    }
}
