//! Whether a model can read what it is asked about.

use crate::corpus::ContentRef;
use crate::pipeline::Model;

/// Why a model cannot read a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// A text for a model that reads none: what it reads instead.
    Text(Vec<String>),
    /// Numbered features for a model of text or of named columns.
    Features,
    /// A vector of another length than those that the model learned from.
    Vector {
        field: String,
        found: usize,
        learned: usize,
    },
}

/// What a model reads, found out once for many documents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Readable<'m> {
    model: &'m Model,
    text: bool,
    features: bool,
}

impl<'m> Readable<'m> {
    pub(super) fn of(model: &'m Model) -> Self {
        Self {
            model,
            text: model.reads_text(),
            features: model.reads_features(),
        }
    }

    /// Refuses a bare text, or numbered features, that the model would silently ignore or take for something else.
    pub(super) fn check(self, content: ContentRef<'_>) -> Result<(), Unreadable> {
        match content {
            ContentRef::Text(_) if !self.text => Err(Unreadable::Text(self.fields())),
            ContentRef::Features(_) if !self.features => Err(Unreadable::Features),
            ContentRef::Record(record) => self.check_vectors(&record.vectors),
            _ => Ok(()),
        }
    }

    fn check_vectors(self, vectors: &[Option<Vec<f32>>]) -> Result<(), Unreadable> {
        let fields = self.model.fields();
        let learned = fields.vector.iter().zip(&fields.vector_lengths);
        for ((field, &learned), vector) in learned.zip(vectors) {
            let found = vector.as_ref().map_or(learned, Vec::len);
            if found != learned {
                let field = field.clone();
                return Err(Unreadable::Vector {
                    field,
                    found,
                    learned,
                });
            }
        }
        Ok(())
    }

    fn fields(self) -> Vec<String> {
        let fields = self.model.fields();
        let names: Vec<String> = fields
            .side_names()
            .map(|name| format!("`{name}`"))
            .collect();
        match names.is_empty() {
            true => vec!["numbered features".to_owned()],
            false => names,
        }
    }
}
