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
            _ => Ok(()),
        }
    }

    fn fields(self) -> Vec<String> {
        let fields = self.model.fields();
        let names = fields.numeric.iter().chain(&fields.categorical);
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        match names.is_empty() {
            true => vec!["numbered features".to_owned()],
            false => names,
        }
    }
}
