//! Labelled documents that neither scorer nor curve has seen, for promises to rest on.

use std::collections::HashSet;

use super::{AskSets, PromiseError};
use crate::corpus::{Document, ReadError, ReadOptions, ReadSummary, Source};
use crate::decision::{
    CalibrationRows, CalibrationSource, Certified, Certify, LabelSetTable, SetSettings, SetTable,
};
use crate::jobs::LabelledForecasts;
use crate::pipeline::{Model, TestDocuments, best, draw_key_of};
use crate::{Progress, RowLabels, Task};

/// What a model says of labelled documents that it has not seen. Copies of a document count once, and those of documents that it learned from do not count.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CalibrationExamples {
    width: usize,
    /// Document by document, class by class.
    probabilities: Vec<f64>,
    labels: RowLabels,
    /// The log-odds of each document's most probable class, and whether it is the true one.
    confidences: Vec<f64>,
    right: Vec<bool>,
    /// What names each document in draws.
    keys: Vec<u64>,
    /// How many documents are copies of others, and count no more.
    pub copies: usize,
    /// How many have no label, or several where the model gives one.
    pub left_out: usize,
    /// How many distinct documents have a label that the model does not know: whatever it answers is wrong.
    pub strangers: usize,
    /// How many of the documents the model has learned from (or seems to have, by chance): they are left out.
    pub learned: usize,
    /// Whether some of those that are left may be such, too: of very many training documents a model remembers a part.
    partly_seen: bool,
    /// What was read; `None` for documents in memory.
    pub read: Option<ReadSummary>,
}

impl CalibrationExamples {
    /// Reads labelled documents and asks the model about them. Fields that `options` do not name are those that the model
    /// learned from.
    pub fn read(
        model: &Model,
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Result<Self, PromiseError>, ReadError> {
        Ok(Self::of(model, model.forecast(source, options, progress)?))
    }

    /// The same for documents in memory.
    pub fn of_documents(model: &Model, documents: &[Document]) -> Result<Self, PromiseError> {
        Self::of(model, model.forecast_documents(documents))
    }

    /// From forecasts of a model.
    pub fn of(model: &Model, found: LabelledForecasts) -> Result<Self, PromiseError> {
        let width = model.class_count();
        let all = found.forecasts.labels.len();
        let (learned, documents) = (found.known.learned_from(), all + found.left_out);
        // Short texts come again by themselves; what the model mostly knows is no new file.
        if let Some(learned) = learned
            && learned * 2 > documents
        {
            return Err(PromiseError::Learned { learned, documents });
        }
        // Some of them only look so by chance: who is left out does not depend on labels.
        let is_known = |row: usize| found.learned[row];
        let partly_seen = learned.is_some() && found.known.looked_up < found.known.documents;
        let learned = (0..all).filter(|&row| is_known(row)).count();
        let first = found.documents.firsts();
        let is_first = |row: usize| first.get(row).copied().unwrap_or(true);
        let kept = || (0..all).filter(|&row| is_first(row) && !is_known(row));
        let copies = (0..all).filter(|&row| !is_first(row) && !is_known(row));
        let copies = copies.count();
        let row = |row: usize| &found.forecasts.probabilities[row * width..(row + 1) * width];
        let labels = found.forecasts.labels.of_rows(kept());
        if labels.is_empty() {
            return Err(match learned {
                0 => PromiseError::NoExamples,
                learned => PromiseError::Learned { learned, documents },
            });
        }
        let answer = |(place, labels): (usize, &[u32])| {
            let (class, confidence) = best(row(place));
            (confidence, labels.first() == Some(&(class as u32)))
        };
        let (mut confidences, mut right): (Vec<f64>, Vec<bool>) =
            kept().zip(labels.iter()).map(answer).unzip();
        let strangers = found.strangers.distinct();
        // Whatever is answered to a label that the model does not know is wrong.
        confidences.extend(&strangers);
        right.resize(confidences.len(), false);
        let key = |row: usize| {
            found
                .documents
                .keys
                .get(row)
                .copied()
                .unwrap_or(row as u128)
        };
        Ok(Self {
            width,
            probabilities: kept().flat_map(row).map(|p| p.value()).collect(),
            confidences,
            right,
            keys: kept().map(|row| draw_key_of(key(row))).collect(),
            copies,
            labels,
            left_out: found.left_out - found.strangers.len(),
            strangers: strangers.len(),
            learned,
            partly_seen,
            read: found.read,
        })
    }

    /// How many of these documents are among the examples, by what models see of them.
    pub(super) fn common(&self, documents: &TestDocuments) -> usize {
        let own: HashSet<u64> = self.keys.iter().copied().collect();
        let keys = documents.keys.iter().map(|&key| draw_key_of(key));
        keys.filter(|key| own.contains(key)).count()
    }

    /// Where they come from.
    pub(super) fn source(&self) -> CalibrationSource {
        match self.partly_seen {
            false => CalibrationSource::Unseen,
            true => CalibrationSource::PartlySeen,
        }
    }

    /// How many answers there are to learn from: also those to documents whose label the model does not know.
    pub(super) fn answers(&self) -> usize {
        self.right.len()
    }

    /// How many there are, of labels that the model knows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    pub(super) fn set_table(
        &self,
        model: &Model,
        asked: &AskSets,
    ) -> Result<SetTable, PromiseError> {
        debug_assert_eq!(model.task(), Task::SingleLabel);
        if self.strangers > 0 {
            let documents = self.strangers;
            return Err(PromiseError::Strangers { documents });
        }
        let labels: Vec<u32> = self
            .labels
            .iter()
            .filter_map(|own| own.first())
            .copied()
            .collect();
        let rows = CalibrationRows {
            keys: Some(&self.keys),
            ..CalibrationRows::new(&self.probabilities, self.width, &labels)
        };
        let settings = SetSettings {
            kind: asked.kind,
            class_by_class: asked.class_by_class,
            keep_top: asked.keep_top,
            penalty_coverage: asked.coverage,
            model_key: model.draw_key(),
            ..SetSettings::default()
        };
        Ok(SetTable::fit(settings, &rows, self.source())?)
    }

    pub(super) fn label_table(&self) -> Result<LabelSetTable, PromiseError> {
        if self.labels.iter().all(<[u32]>::is_empty) {
            return Err(PromiseError::NoLabels);
        }
        let source = self.source();
        let table = LabelSetTable::fit(&self.probabilities, self.width, &self.labels, source);
        Ok(table?)
    }

    pub(super) fn certify(&self, asked: &Certify) -> Result<Certified, PromiseError> {
        Ok(asked.threshold(&self.confidences, &self.right)?)
    }
}
