//! Small corpora and models for the tests of jobs.

use crate::NoProgress;
use crate::corpus::{Document, Fields};
use crate::pipeline::{FitSettings, Model, TrainingCorpus, fit};

/// Some sixty short documents of three classes, with identifiers; a few are hard to tell.
pub(super) fn three_classes() -> Vec<Document> {
    let words = [
        ("food", "bread soup cheese"),
        ("sport", "goal match team"),
        ("weather", "rain wind sun"),
    ];
    (0..60)
        .map(|number| {
            let (label, own) = words[number % 3];
            let (_, other) = words[(number / 3) % 3];
            let own: Vec<&str> = own.split(' ').collect();
            let text = format!(
                "{} {} {other} day{}",
                own[number % 2],
                own[(number / 2) % 3],
                number % 7
            );
            Document::new(text).label(label).id(format!("d{number}"))
        })
        .collect()
}

/// A model of them.
pub(super) fn model_of(documents: &[Document]) -> Model {
    model_with(documents, Fields::default())
}

/// The same of documents with cells beside the text.
pub(super) fn model_with(documents: &[Document], fields: Fields) -> Model {
    let settings = FitSettings::default();
    let corpus = TrainingCorpus::of_documents(&settings, documents.to_vec()).unwrap();
    fit(corpus, fields, &settings, &NoProgress).unwrap()
}

/// The documents as a file of JSON Lines.
pub(super) fn file_of(documents: &[Document]) -> tempfile::NamedTempFile {
    let lines: String = documents
        .iter()
        .map(|document| {
            let text = document.content.as_text().unwrap_or_default();
            let mut row = serde_json::json!({"text": text, "label": document.labels.first()});
            if document.labels_were_list {
                row["label"] = document.labels.clone().into();
            }
            if let Some(id) = &document.id {
                row["id"] = id.clone().into();
            }
            format!("{row}\n")
        })
        .collect();
    let file = tempfile::Builder::new()
        .suffix(".jsonl")
        .tempfile()
        .unwrap();
    std::fs::write(file.path(), lines).unwrap();
    file
}
