//! Every document of a source, read and predicted in parallel.

use std::ops::ControlFlow;

use super::rows::{Buffers, Rows};
use super::{PredictError, Predictor};
use crate::Progress;
use crate::corpus::{
    ContentRef, Document, Kept, LabelNeed, ReadOptions, ReadSummary, Source, read_kept_batches,
};
use crate::decision::PriorReport;
use crate::features::UnknownCells;
use crate::jobs::decide::AskReport;
use crate::jobs::prediction::{DocumentKeys, Prediction};
use crate::jobs::promises::{PromiseCounts, PromiseSummary};

/// What a source of documents was like.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PredictSummary {
    /// What was read.
    pub read: ReadSummary,
    /// How many documents were predicted.
    pub documents: u64,
    /// How many of them have an empty identifier where others have one.
    pub without_id: u64,
    /// Cells beside the text that mean nothing to the model.
    pub unknown_cells: UnknownCells,
    /// Documents in which the model knows nothing at all.
    pub unknown_documents: Option<UnknownDocuments>,
    /// What was done about the classes' shares, where something was asked for.
    pub prior: Option<PriorReport>,
    /// Which documents a person is asked about, where that was wanted.
    pub asked: Option<AskReport>,
    /// What was promised, on which data, and what came of it.
    pub promises: PromiseSummary,
}

/// Documents that are empty, or hold no term of the model and nothing else that it goes by: their probabilities are those of an empty text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownDocuments {
    /// How many.
    pub documents: u64,
    /// Where the first of them starts: the line from 1, the row of Parquet or a sheet.
    pub first_line: u64,
}

impl UnknownDocuments {
    /// Adds those of later documents.
    pub(super) fn add(all: &mut Option<Self>, later: Option<Self>) {
        match (all, later) {
            (Some(all), Some(later)) => all.documents += later.documents,
            (all, later) => *all = all.or(later),
        }
    }
}

impl<'m> Predictor<'m> {
    /// Every document of a source, in its order, to `sink` on the calling thread. Documents are read and predicted in
    /// parallel and go on as soon as they can; only shares that must be estimated hold them back until all are read.
    /// Labels and weights have no part in predicting and are not looked at; fields that `options` do not name are those that
    /// the model learned from.
    pub fn predict_source<E: From<PredictError>>(
        &self,
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
        mut sink: impl FnMut(Prediction<'m>) -> Result<(), E>,
    ) -> Result<PredictSummary, E> {
        self.predict_live(source, options, progress, |prediction| {
            prediction.map_or(Ok(()), &mut sink)
        })
    }

    /// As [`Self::predict_source`]; `sink` is also told, by `None`, where a batch ends: with [`ReadOptions::as_they_come`] whoever writes
    /// the source may wait for answers to what is written so far.
    pub fn predict_live<E: From<PredictError>>(
        &self,
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
        mut sink: impl FnMut(Option<Prediction<'m>>) -> Result<(), E>,
    ) -> Result<PredictSummary, E> {
        let options = self.reading(options);
        let mut keys = DocumentKeys::new(options.fields.asks_for_id());
        let mut held = Rows::default();
        let mut unknown_cells = UnknownCells::default();
        let mut unknown_documents: Option<UnknownDocuments> = None;
        let mut failure = None;
        let mut counts = PromiseCounts::default();
        let map = |documents| self.predict_kept(documents, options.keep);
        let read = read_kept_batches(source, &options, progress, map, |batch| {
            let (mut rows, chosen) = match batch {
                Ok(batch) => batch,
                Err(error) => {
                    failure = Some(error.into());
                    return ControlFlow::Break(());
                }
            };
            unknown_cells.merge(std::mem::take(&mut rows.unknown));
            UnknownDocuments::add(&mut unknown_documents, rows.unknown_documents);
            let Some(chosen) = chosen else {
                held.append(rows);
                return ControlFlow::Continue(());
            };
            let mut kept = rows.kept.into_iter();
            let named = rows.ids.into_iter().zip(chosen);
            let mut said = named.map(|((id, row), prediction)| {
                counts.count(&prediction);
                let prediction = prediction.with_key(keys.next(id, row));
                prediction.with_row(kept.next().flatten())
            });
            let sent = said.try_for_each(|prediction| sink(Some(prediction)));
            match sent.and_then(|()| sink(None)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        let read = read.map_err(PredictError::from)?;
        if let Some(error) = failure {
            return Err(error);
        }
        let prior = self.shift_all(&mut held)?;
        let (chosen, asked) = self.choose_asked(&held);
        let ids = std::mem::take(&mut held.ids);
        let mut kept = std::mem::take(&mut held.kept).into_iter();
        let best = self.best_decisions(&held);
        let ids = ids.into_iter();
        for prediction in self.predictions(&held, &chosen, ids, &mut keys, best.as_ref()) {
            counts.count(&prediction);
            sink(Some(prediction.with_row(kept.next().flatten())))?;
        }
        let (sets, answers) = (self.sets.as_ref(), self.answerer.as_ref());
        let f_beta = best.map(|best| best.summary);
        Ok(PredictSummary {
            read,
            documents: keys.documents(),
            without_id: keys.without_id(),
            unknown_cells,
            unknown_documents,
            prior,
            asked,
            promises: counts.summary(self.model, sets, answers, f_beta),
        })
    }

    /// Predicts some documents; the best are chosen where that need not wait for all.
    fn predict_kept(
        &self,
        documents: Vec<Kept<Document>>,
        keep: bool,
    ) -> Result<(Rows, Option<Vec<Prediction<'m>>>), PredictError> {
        let mut rows = Rows::default();
        let mut buffers = Buffers::default();
        for Kept { row, kept } in documents {
            let content = ContentRef::from(&row);
            self.readable.check(content)?;
            self.model.count_unknown_cells(content, &mut rows.unknown);
            self.add_row(content, &mut buffers, &mut rows);
            rows.amounts.extend(row.amounts);
            rows.count_unknown(&buffers, row.line);
            rows.ids.push((row.id, row.row));
            rows.kept.extend(keep.then_some(kept));
        }
        // The best are chosen here, on many threads.
        let chosen = (!self.must_see_all()).then(|| self.all_chosen(&rows));
        Ok((rows, chosen))
    }

    /// How documents are read: fields that are not named are those that the model learned from, and labels are not looked at.
    fn reading(&self, options: &ReadOptions) -> ReadOptions {
        let mut options = options.clone();
        options.labels_required = LabelNeed::Ignored;
        options.own_id = true;
        options.as_they_come &= !self.must_see_all();
        options.fields = options.fields.completed_by(&self.fields());
        options.fields.weight = None;
        options.fields.amounts = self
            .decider
            .as_ref()
            .map_or_else(Vec::new, |decider| decider.fields().to_vec());
        options
    }
}
