//! Which terms moved a document's probabilities?

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use super::content::{Readable, Unreadable};
use crate::Progress;
use crate::corpus::{
    Content, ContentRef, Document, LabelNeed, ReadError, ReadOptions, Source, read_batches_until,
};
use crate::pipeline::{Explanation, Model};

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// A class was named that the model does not have.
    #[error("the model has no class `{class}`")]
    NoClass {
        /// What was named.
        class: String,
    },
    /// A text for a model that reads none.
    #[error("the model reads no text, only {}", fields.join(", "))]
    NoText {
        /// What it reads.
        fields: Vec<String>,
    },
    /// Numbered features for a model that reads none.
    #[error("the model reads no numbered features: it was fitted on text or named columns")]
    NoFeatures,
    /// A vector has another length than those that the model learned from.
    #[error(
        "the vector `{field}` has {found} numbers, and those that the model learned from have {learned}"
    )]
    VectorLength {
        /// The field.
        field: String,
        /// How many numbers it has.
        found: usize,
        /// How many those have that the model learned from.
        learned: usize,
    },
    /// The file has no such row, or it is left out.
    #[error(
        "{file}: there is no row {row}{}; {rows} rows were read",
        if row.get() <= *rows { " among those that are asked for and well formed" } else { "" }
    )]
    NoRow {
        /// The file.
        file: String,
        /// The row that was asked for.
        row: NonZeroUsize,
        /// How many there are, those that are left out among them.
        rows: usize,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl From<Unreadable> for ExplainError {
    fn from(content: Unreadable) -> Self {
        match content {
            Unreadable::Text(fields) => Self::NoText { fields },
            Unreadable::Features => Self::NoFeatures,
            Unreadable::Vector {
                field,
                found,
                learned,
            } => Self::VectorLength {
                field,
                found,
                learned,
            },
        }
    }
}

/// Explains the probabilities of these classes for a document, or of the most probable class where none is named.
///
/// A model of numbers, categories or counted features alone is not asked about a bare text.
pub fn explain<'c>(
    model: &Model,
    content: impl Into<ContentRef<'c>>,
    classes: &[String],
) -> Result<Vec<Explanation>, ExplainError> {
    let content = content.into();
    Readable::of(model).check(content)?;
    let mut numbers = Vec::new();
    for name in classes {
        let found = model.class_names().position(|class| class == name);
        numbers.push(found.ok_or_else(|| ExplainError::NoClass {
            class: name.clone(),
        })?);
    }
    if classes.is_empty() {
        let said = model.predict(content);
        let best = (0..said.len()).reduce(|a, b| if said[b] > said[a] { b } else { a });
        numbers.extend(best);
    }
    let explained = numbers
        .into_iter()
        .map(|class| model.explain(content, class));
    Ok(explained.collect())
}

/// The content of one document of a source, by its row in the file, from 1 ([`Document::row`]). Fields that `options` do not
/// name are those that the model learned from.
pub fn read_row(
    model: &Model,
    source: &Source,
    options: &ReadOptions,
    row: NonZeroUsize,
    progress: &dyn Progress,
) -> Result<Content, ExplainError> {
    let mut options = options.clone();
    options.fields = options.fields.completed_by(model.fields());
    options.labels_required = LabelNeed::Ignored;
    let mut found = None;
    let read = read_batches_until(
        source,
        &options,
        progress,
        |documents| documents,
        |documents: Vec<Document>| {
            let mut documents = documents.into_iter();
            found = documents.find(|document| document.row >= row.get() as u64);
            match found {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        },
    )?;
    let file = source.name();
    let last = found.as_ref().map_or(0, |found| found.row);
    let rows = (read.rows + read.filtered + read.bad_row_count).max(last) as usize;
    let found = found.filter(|found| found.row == row.get() as u64);
    let found = found.ok_or(ExplainError::NoRow { file, row, rows })?;
    Ok(found.content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::corpus::{Fields, Record};
    use crate::jobs::testing::{file_of, model_of, model_with, three_classes};

    #[test]
    fn the_best_class_is_explained_unless_others_are_named() {
        let documents = three_classes();
        let model = model_of(&documents);
        let file = file_of(&documents);
        let row = NonZeroUsize::new(2).unwrap();
        let source = Source::Path(file.path().to_owned());
        let options = ReadOptions::default();
        let content = read_row(&model, &source, &options, row, &NoProgress).unwrap();
        assert_eq!(content, documents[1].content);
        let best = explain(&model, &content, &[]).unwrap();
        let said = model.predict(&content);
        assert_eq!(best.len(), 1);
        assert!(said.iter().all(|p| p.value() <= best[0].probability));
        let names = ["weather".to_owned(), "food".to_owned()];
        let two = explain(&model, &content, &names).unwrap();
        assert_eq!(
            (two[0].label.as_str(), two[1].label.as_str()),
            ("weather", "food")
        );
        let none = explain(&model, &content, &["snow".to_owned()]);
        assert!(matches!(none, Err(ExplainError::NoClass { class }) if class == "snow"));
        let far = NonZeroUsize::new(61).unwrap();
        let none = read_row(&model, &source, &options, far, &NoProgress);
        assert!(matches!(none, Err(ExplainError::NoRow { rows: 60, .. })));
    }

    #[test]
    fn a_model_of_numbers_alone_takes_no_text() {
        let documents: Vec<Document> = (0..40)
            .map(|number| {
                let label = ["low", "high"][number % 2];
                let value = number as f64 + 40.0 * (number % 2) as f64;
                Document::new(Record::new().number(value)).label(label)
            })
            .collect();
        let fields = Fields {
            numeric: vec!["size".into()],
            ..Fields::default()
        };
        let model = model_with(&documents, fields);
        let refused = explain(&model, "size", &[]).unwrap_err();
        assert!(refused.to_string().contains("`size`"), "{refused}");
        assert_eq!(explain(&model, &documents[0], &[]).unwrap()[0].label, "low");
    }
}
