//! Documents to probabilities, with the most probable classes, other shares and `other` as asked for.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::content::{Readable, Unreadable};
use super::decide::{AskReport, Decider};
use super::prediction::{DocumentKey, DocumentKeys, Prediction};
use super::predictions::free_separator;
use super::promises::{
    Answerer, AskF, AskSets, BestDecisions, CalibrationExamples, FAverage, PromiseCounts,
    PromiseError, PromiseSummary, SetMaker, SetRoom,
};
use crate::corpus::{
    ContentRef, Document, Fields, Kept, KeptRow, LabelNeed, ReadError, ReadOptions, ReadSummary,
    Source, read_kept_batches,
};
use crate::decision::{
    ASK, AskBudget, Certify, CostEntry, CostError, OtherError, OtherRule, PriorChoice, PriorError,
    PriorPlan, PriorReport,
};
use crate::features::UnknownCells;
use crate::numeric::StableSum;
use crate::pipeline::{Model, PredictBuffers};
use crate::{CalibrationError, FitError, Probability, Progress};

/// What is asked of predictions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PredictSettings {
    /// How many of the most probable classes; `None` means all.
    pub top: Option<NonZeroUsize>,
    /// Whether the learner's own scores are wanted, too.
    pub scores: bool,
    /// What to do about classes that are no longer as common as in training.
    pub prior: PriorChoice,
    /// When a document belongs to none of the classes; `None` never says so.
    pub other: Option<OtherRule>,
    /// What decisions cost; with any, each document gets the decision of least expected cost.
    pub costs: Vec<CostEntry>,
    /// How many documents a person has time for; each of them gets [`ASK`].
    pub ask: Option<AskBudget>,
    /// Sets that hold the true class with a stated probability; not combined with `other`.
    pub sets: Option<AskSets>,
    /// Answers only where few of them are wrong, else [`ASK`]; not combined with `costs`, `other` or other shares.
    pub max_error: Option<Certify>,
    /// Yes or no about every label so that F is largest; not combined with `costs`.
    pub f_beta: Option<AskF>,
}

impl From<CalibrationError> for PredictError {
    fn from(error: CalibrationError) -> Self {
        Self::Fit(error.into())
    }
}

/// Why nothing can be predicted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// The documents cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something is wrong with the shares of classes.
    #[error(transparent)]
    Prior(#[from] PriorError),
    /// Shares cannot be estimated from these documents.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The model does not allow such a rule.
    #[error(transparent)]
    Other(#[from] OtherError),
    /// The costs cannot be used with the model.
    #[error(transparent)]
    Costs(#[from] CostError),
    /// Something cannot be promised.
    #[error(transparent)]
    Promise(#[from] PromiseError),
    /// A class is called as documents of none of the classes would be.
    #[error("the model already has a class named `{}`", Predictor::OTHER)]
    OtherIsAClass,
    /// A class is called as asking a person is.
    #[error("the model already has a class named `{ASK}`")]
    AskIsAClass,
    /// The documents most worth a person's time are told from all.
    #[error("the documents most worth a person's time are chosen from many, not from one")]
    AskAboutOne,
    /// Shifted shares say how common the known classes are, not whether there are others.
    #[error("a rule for documents of no class cannot be combined with other class priors")]
    OtherWithPrior,
    /// With `other` there are more classes than scores.
    #[error("scores cannot be combined with a rule for documents of no class")]
    OtherWithScores,
    /// A combination has no learner of its own.
    #[error("a combination of models has no scores of its own")]
    NoScores,
    /// A text for a model that reads none.
    #[error("the model reads no text, only {}", fields.join(", "))]
    NoText {
        /// What it reads.
        fields: Vec<String>,
    },
    /// Numbered features for a model that reads none.
    #[error("the model reads no numbered features: it was fitted on text or named columns")]
    NoFeatures,
    /// Shares are estimated from many documents.
    #[error("class priors are estimated from many documents, not from one")]
    OneDocument,
}

impl From<Unreadable> for PredictError {
    fn from(content: Unreadable) -> Self {
        match content {
            Unreadable::Text(fields) => Self::NoText { fields },
            Unreadable::Features => Self::NoFeatures,
        }
    }
}

/// A model with what is asked of its predictions.
///
/// ```
/// use calibrant::jobs::Predictor;
/// use calibrant::{NoProgress, corpus::{Document, Fields}, pipeline::{FitSettings, TrainingCorpus, fit}};
/// let documents = (0..40).map(|i| match i % 2 {
///     0 => Document::new(format!("lunch at noon {i}")).label("ham"),
///     _ => Document::new(format!("win big money {i}")).label("spam"),
/// });
/// let settings = FitSettings::default();
/// let corpus = TrainingCorpus::of_documents(&settings, documents.collect())?;
/// let model = fit(corpus, Fields::default(), &settings, &NoProgress)?;
/// let prediction = Predictor::new(&model).top(1).predict_text("win money")?;
/// assert_eq!(prediction.classes[0].label, "spam");
/// assert!(prediction.classes[0].probability > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Predictor<'m> {
    model: &'m Model,
    top: Option<NonZeroUsize>,
    scores: bool,
    plan: Option<PriorPlan>,
    thresholds: Option<Vec<f64>>,
    /// The classes, and `other` where it can be said.
    names: Vec<&'m str>,
    decider: Option<Decider<'m>>,
    ask: Option<AskBudget>,
    sets: Option<SetMaker>,
    answerer: Option<Answerer>,
    f_beta: Option<AskF>,
    readable: Readable<'m>,
}

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
    fn add(all: &mut Option<Self>, later: Option<Self>) {
        match (all, later) {
            (Some(all), Some(later)) => all.documents += later.documents,
            (all, later) => *all = all.or(later),
        }
    }
}

/// Probabilities of some documents before the most probable are chosen.
#[derive(Default)]
struct Rows {
    /// The identifier of each document, and the number of its row.
    ids: Vec<(Option<String>, u64)>,
    /// The rows as they stand in the file, where they are kept.
    kept: Vec<Option<KeptRow>>,
    /// Document by document, class by class.
    probabilities: Vec<Probability>,
    /// The same of the learner's scores; empty where they are not wanted.
    scores: Vec<f64>,
    /// The numbers of the fields that costs are read from.
    amounts: Vec<f64>,
    /// Document by document, the classes in its set; empty where sets are not wanted.
    sets: Vec<Vec<u32>>,
    unknown: UnknownCells,
    unknown_documents: Option<UnknownDocuments>,
}

/// One document of them.
#[derive(Clone, Copy, Default)]
struct Row<'r> {
    probabilities: &'r [Probability],
    scores: &'r [f64],
    amounts: &'r [f64],
    /// Whether a person is asked about it; `None` leaves that to the costs.
    asked: Option<bool>,
    /// The classes in its set, where sets are wanted.
    set: Option<&'r [u32]>,
    /// What is decided about labels by the best F.
    best: Option<&'r BestDecisions>,
}

impl Rows {
    /// Counts the document of the last prediction if the model knew nothing of it.
    fn count_unknown(&mut self, buffers: &Buffers, line: u64) {
        let one = UnknownDocuments {
            documents: 1,
            first_line: line,
        };
        let unknown = buffers.predict.knew_nothing().then_some(one);
        UnknownDocuments::add(&mut self.unknown_documents, unknown);
    }
}

/// Buffers of one thread.
#[derive(Default)]
struct Buffers {
    predict: PredictBuffers,
    shift: Vec<f64>,
    sets: SetRoom,
}

impl<'m> Predictor<'m> {
    /// What documents of none of the classes are called.
    pub const OTHER: &'static str = "other";

    /// All classes of a model, as they are.
    pub fn new(model: &'m Model) -> Self {
        Self {
            model,
            top: None,
            scores: false,
            plan: None,
            thresholds: None,
            names: model.class_names().collect(),
            decider: None,
            ask: None,
            sets: None,
            answerer: None,
            f_beta: None,
            readable: Readable::of(model),
        }
    }

    /// As the settings say.
    pub fn with_settings(
        model: &'m Model,
        settings: &PredictSettings,
    ) -> Result<Self, PredictError> {
        Self::with_examples(model, settings, None)
    }

    /// As the settings say; what is promised rests on these examples, or on what the model keeps of its held-out forecasts.
    pub fn with_examples(
        model: &'m Model,
        settings: &PredictSettings,
        examples: Option<&CalibrationExamples>,
    ) -> Result<Self, PredictError> {
        let mut predictor = Self::new(model);
        predictor.top = settings.top;
        if settings.scores {
            predictor = predictor.scores()?;
        }
        if let Some(rule) = settings.other {
            predictor = predictor.other(rule)?;
        }
        if !settings.costs.is_empty() {
            predictor = predictor.costs(&settings.costs)?;
        }
        if let Some(budget) = settings.ask {
            predictor = predictor.ask(budget)?;
        }
        predictor = predictor.prior(&settings.prior)?;
        if let Some(asked) = settings.sets {
            predictor = predictor.sets(asked, examples)?;
        }
        if let Some(asked) = settings.max_error {
            predictor = predictor.max_error(asked, examples)?;
        }
        match settings.f_beta {
            Some(asked) => predictor.f_beta(asked),
            None => Ok(predictor),
        }
    }

    /// Only the `most` probable classes, at least one.
    pub fn top(mut self, most: usize) -> Self {
        self.top = NonZeroUsize::new(most.max(1));
        self
    }

    /// With the learner's own score of each class, before calibration.
    pub fn scores(mut self) -> Result<Self, PredictError> {
        if self.model.as_single().is_none() {
            return Err(PredictError::NoScores);
        }
        if self.thresholds.is_some() {
            return Err(PredictError::OtherWithScores);
        }
        self.scores = true;
        Ok(self)
    }

    /// For classes that are no longer as common as in training.
    pub fn prior(mut self, choice: &PriorChoice) -> Result<Self, PredictError> {
        if choice.is_given() && self.thresholds.is_some() {
            return Err(PredictError::OtherWithPrior);
        }
        if choice.is_given() && self.answerer.is_some() {
            return Err(PromiseError::AnswersWithPrior.into());
        }
        if choice.is_given() && self.sets.is_some() {
            return Err(PromiseError::SetsWithEstimate.into());
        }
        let plan = PriorPlan::new(choice, self.model.trained_shares())?;
        self.plan = choice.is_given().then_some(plan);
        Ok(self)
    }

    /// With one class more, [`Self::OTHER`], for documents of none of the classes.
    pub fn other(mut self, rule: OtherRule) -> Result<Self, PredictError> {
        if self.model.class_names().any(|class| class == Self::OTHER) {
            return Err(PredictError::OtherIsAClass);
        }
        if self.plan.is_some() {
            return Err(PredictError::OtherWithPrior);
        }
        if self.scores {
            return Err(PredictError::OtherWithScores);
        }
        if self.sets.is_some() || self.answerer.is_some() {
            return Err(PromiseError::WithOther.into());
        }
        self.thresholds = Some(self.model.other_thresholds(rule)?);
        self.names = self.model.class_names().chain([Self::OTHER]).collect();
        match self.decider.take() {
            Some(decider) => self.costs(decider.entries()),
            None => Ok(self),
        }
    }

    /// With the decision of least expected cost, by the probabilities as they are after other shares and [`Self::OTHER`].
    ///
    /// ```
    /// use calibrant::decision::CostEntry;
    /// use calibrant::jobs::Predictor;
    /// use calibrant::{Document, FitSettings, fit};
    /// let documents = (0..40).map(|i| match i % 2 {
    ///     0 => Document::new(format!("lunch at noon {i}")).label("ham"),
    ///     _ => Document::new(format!("win big money {i}")).label("spam"),
    /// });
    /// let model = fit(documents, &FitSettings::default())?;
    /// let costs = [CostEntry::new("ham", "spam", 1e6), CostEntry::new("*", "ask", 0.01)];
    /// let prediction = Predictor::new(&model).costs(&costs)?.predict_text("win money")?;
    /// let decision = prediction.decision.unwrap();
    /// assert_eq!((&*prediction.classes[0].label, &*decision.action), ("spam", "ask"));
    /// assert_eq!(decision.expected_cost, Some(0.01));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn costs(mut self, entries: &[CostEntry]) -> Result<Self, PredictError> {
        if self.answerer.is_some() || self.f_beta.is_some() {
            return Err(PromiseError::TwoDecisions.into());
        }
        let task = self.model.task();
        self.decider = Some(Decider::new(entries, task, &self.names)?);
        Ok(self)
    }

    /// With [`ASK`] as the decision about the documents that are most worth a person's time, and about no others. Without
    /// [`Self::costs`] every wrong answer counts alike: these are then the least sure.
    pub fn ask(mut self, budget: AskBudget) -> Result<Self, PredictError> {
        if self.names.contains(&ASK) {
            return Err(PredictError::AskIsAClass);
        }
        self.ask = Some(budget);
        match self.decider {
            Some(_) => Ok(self),
            None => self.costs(&[]),
        }
    }

    /// With a set of classes that holds the true one with a stated probability. What is promised rests on these examples, or on what
    /// the model keeps of its held-out forecasts. Shares of classes that are no longer those of training must be told before, by
    /// [`Self::prior`]: sets are then those for the new shares.
    pub fn sets(
        mut self,
        asked: AskSets,
        examples: Option<&CalibrationExamples>,
    ) -> Result<Self, PredictError> {
        if self.thresholds.is_some() {
            return Err(PromiseError::WithOther.into());
        }
        if self.plan.as_ref().is_some_and(PriorPlan::must_see_all) {
            return Err(PromiseError::SetsWithEstimate.into());
        }
        let shares = match &self.plan {
            Some(plan) => plan.decide(&[], None)?.report.map(|report| report.new),
            None => None,
        };
        self.sets = Some(SetMaker::new(
            self.model,
            asked,
            examples,
            shares.as_deref(),
        )?);
        Ok(self)
    }

    /// With an answer only where few answers are wrong, with a stated certainty; other documents are decided as [`ASK`].
    pub fn max_error(
        mut self,
        asked: Certify,
        examples: Option<&CalibrationExamples>,
    ) -> Result<Self, PredictError> {
        if self.thresholds.is_some() {
            return Err(PromiseError::WithOther.into());
        }
        if self.plan.is_some() {
            return Err(PromiseError::AnswersWithPrior.into());
        }
        if self.decider.is_some() || self.f_beta.is_some() {
            return Err(PromiseError::TwoDecisions.into());
        }
        if self.names.contains(&ASK) {
            return Err(PredictError::AskIsAClass);
        }
        self.answerer = Some(Answerer::new(self.model, asked, examples)?);
        Ok(self)
    }

    /// With yes or no about every label, so that the expected F is as large as can be. All documents must be seen first, unless
    /// F is taken document by document.
    pub fn f_beta(mut self, asked: AskF) -> Result<Self, PredictError> {
        if self.decider.is_some() || self.answerer.is_some() {
            return Err(PromiseError::TwoDecisions.into());
        }
        asked.check(self.model.task())?;
        self.f_beta = Some(asked);
        Ok(self)
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// What a set is joined by where it is one text: no class contains it.
    pub fn set_separator(&self) -> &'static str {
        free_separator(self.names.iter().copied())
    }

    /// The fields that predictions read of a file: those of training without label, weight and group.
    pub fn fields(&self) -> Fields {
        Fields {
            label: None,
            weight: None,
            group: None,
            ..self.model.fields().clone()
        }
    }

    /// One text. A model that reads no text is an error.
    pub fn predict_text(&self, text: &str) -> Result<Prediction<'m>, PredictError> {
        self.predict_content(ContentRef::from(text))
    }

    /// One document; where it has an identifier, so has the prediction.
    pub fn predict(&self, document: &Document) -> Result<Prediction<'m>, PredictError> {
        let prediction = self.predict_one(ContentRef::from(document), &document.amounts)?;
        Ok(match &document.id {
            Some(id) => prediction.with_key(DocumentKey::Id(id.clone())),
            None => prediction,
        })
    }

    /// One text, row of features or record. Shares that are to be estimated are an error: that takes many documents.
    pub fn predict_content<'c>(
        &self,
        content: impl Into<ContentRef<'c>>,
    ) -> Result<Prediction<'m>, PredictError> {
        self.predict_one(content.into(), &[])
    }

    fn predict_one(
        &self,
        content: ContentRef<'_>,
        amounts: &[f64],
    ) -> Result<Prediction<'m>, PredictError> {
        let together = self
            .f_beta
            .is_some_and(|asked| asked.average != FAverage::Samples);
        if self.must_estimate() || together {
            return Err(PredictError::OneDocument);
        }
        if self.ask.is_some() {
            return Err(PredictError::AskAboutOne);
        }
        self.readable.check(content)?;
        self.check_amounts(amounts)?;
        let mut rows = Rows::default();
        self.add_row(content, &mut Buffers::default(), &mut rows);
        let best = self.best_decisions(&rows);
        Ok(self.chosen(Row {
            probabilities: &rows.probabilities,
            scores: &rows.scores,
            amounts,
            asked: None,
            set: rows.sets.first().map(Vec::as_slice),
            best: best.as_ref(),
        }))
    }

    fn check_amounts(&self, amounts: &[f64]) -> Result<(), PredictError> {
        match &self.decider {
            Some(decider) => Ok(decider.check(amounts)?),
            None => Ok(()),
        }
    }

    /// Many documents, predicted in parallel, in their order. Each prediction has its document's identifier, or the number of
    /// its row if no document has one, as in the predictions of a file. The second value says what was done about the
    /// classes' shares; it is `None` unless [`Self::prior`] asked for something.
    pub fn predict_batch(
        &self,
        documents: &[Document],
    ) -> Result<(Vec<Prediction<'m>>, Option<PriorReport>), PredictError> {
        use rayon::prelude::*;
        /// Documents per piece of work; results do not depend on it.
        const PIECE: usize = 64;
        for document in documents {
            self.readable.check(ContentRef::from(document))?;
            self.check_amounts(&document.amounts)?;
        }
        let mut rows = Rows::default();
        let pieces: Vec<Rows> = documents
            .par_chunks(PIECE)
            .map(|piece| {
                let mut rows = Rows::default();
                let mut buffers = Buffers::default();
                for document in piece {
                    self.add_row(ContentRef::from(document), &mut buffers, &mut rows);
                    rows.amounts.extend(&document.amounts);
                }
                rows
            })
            .collect();
        pieces.into_iter().for_each(|piece| rows.append(piece));
        let report = self.shift_all(&mut rows)?;
        let (asked, _) = self.choose_asked(&rows);
        let mut keys = DocumentKeys::new(false);
        let ids = documents.iter().map(|document| (document.id.clone(), 0));
        let best = self.best_decisions(&rows);
        let predictions = self.predictions(&rows, &asked, ids, &mut keys, best.as_ref());
        Ok((predictions.collect(), report))
    }

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

    /// Whether nothing can be said before all documents are read: the classes' shares are estimated from them, the documents to ask about are
    /// chosen among all, or F is taken over all.
    pub fn must_see_all(&self) -> bool {
        self.ask.is_some() || self.must_estimate() || self.f_beta.is_some()
    }

    fn must_estimate(&self) -> bool {
        self.plan.as_ref().is_some_and(PriorPlan::must_see_all)
    }

    /// Which documents a person is asked about, and what that saves; nothing where that is left to the costs.
    fn choose_asked(&self, rows: &Rows) -> (Vec<bool>, Option<AskReport>) {
        use rayon::prelude::*;
        let (Some(budget), Some(decider)) = (self.ask, &self.decider) else {
            return (Vec::new(), None);
        };
        let all: Vec<Row<'_>> = self.rows(rows).collect();
        let costs: Vec<(f64, f64)> = all
            .par_iter()
            .map(|row| decider.without_and_with(row.probabilities, row.amounts))
            .collect();
        let worth: Vec<f64> = costs.iter().map(|(without, with)| without - with).collect();
        let chosen = budget.choose(&worth);
        let without: StableSum = costs.iter().map(|(without, _)| *without).collect();
        let paid = costs.iter().zip(&chosen);
        let paid = paid.map(|((without, with), &asked)| if asked { *with } else { *without });
        let report = AskReport {
            asked: chosen.iter().filter(|&&asked| asked).count(),
            expected_cost: paid.collect::<StableSum>().total(),
            expected_cost_without: without.total(),
            by_costs: !decider.entries().is_empty(),
        };
        (chosen, Some(report))
    }

    /// The documents one by one.
    fn rows<'r>(&self, rows: &'r Rows) -> impl Iterator<Item = Row<'r>> + use<'r, 'm> {
        let width = self.names.len();
        let fields = self
            .decider
            .as_ref()
            .map_or(0, |decider| decider.fields().len());
        let mut scores = rows.scores.chunks_exact(width);
        let stated = rows.probabilities.chunks_exact(width).enumerate();
        stated.map(move |(number, probabilities)| Row {
            probabilities,
            scores: scores.next().unwrap_or_default(),
            amounts: &rows.amounts[number * fields..(number + 1) * fields],
            asked: None,
            set: rows.sets.get(number).map(Vec::as_slice),
            best: None,
        })
    }

    /// The decisions of the best F for these documents, where they are asked for.
    fn best_decisions(&self, rows: &Rows) -> Option<BestDecisions> {
        let asked = self.f_beta?;
        Some(asked.decide(&rows.probabilities, self.names.len()))
    }

    /// Adds what the model says of one document, shifted where the shares are known.
    fn add_row(&self, content: ContentRef<'_>, buffers: &mut Buffers, rows: &mut Rows) {
        let first = rows.probabilities.len();
        let even = Probability::from_log_odds(0.0);
        rows.probabilities.resize(first + self.names.len(), even);
        let classes = &mut rows.probabilities[first..];
        if let Some(thresholds) = &self.thresholds {
            let model = self.model;
            model.predict_open_into(content, thresholds, &mut buffers.predict, classes);
            return;
        }
        let scores = self
            .model
            .predict_into(content, &mut buffers.predict, classes);
        if self.scores {
            rows.scores.extend(scores.of_classes());
        }
        if let Some(maker) = &self.sets {
            // By what calibration examples were judged by: the probabilities before any shift.
            let (model, room) = (self.model, &mut buffers.sets);
            let set = maker.set(model, content, classes, &mut buffers.predict, room);
            rows.sets.push(set.to_vec());
        }
        if let Some(shift) = self.plan.as_ref().and_then(PriorPlan::known_shift) {
            shift.apply(classes, &mut buffers.shift);
        }
    }

    /// Shifts all rows where that had to wait for them.
    fn shift_all(&self, rows: &mut Rows) -> Result<Option<PriorReport>, PredictError> {
        let Some(plan) = &self.plan else {
            return Ok(None);
        };
        let decided = plan.decide(&rows.probabilities, None)?;
        if plan.must_see_all() {
            decided.apply(self.names.len(), &mut rows.probabilities);
        }
        Ok(decided.report)
    }

    /// The most probable classes of one document.
    fn chosen(&self, row: Row<'_>) -> Prediction<'m> {
        let most = self.top.map_or(self.names.len(), NonZeroUsize::get);
        let mut said = Prediction::best_first(&self.names, row.probabilities, row.scores, most);
        if let Some(decider) = &self.decider {
            decider.decide(row.probabilities, row.amounts, row.asked, &mut said);
        }
        if let Some(answerer) = &self.answerer {
            said.decision = Some(answerer.decide(&self.names, row.probabilities));
        }
        if let Some(best) = row.best {
            best.decide(&self.names, row.probabilities, &mut said);
        }
        if let Some(set) = row.set {
            let labels = set.iter().map(|&class| self.names[class as usize].into());
            said.set = Some(labels.collect());
        }
        said
    }

    fn all_chosen(&self, rows: &Rows) -> Vec<Prediction<'m>> {
        self.rows(rows).map(|row| self.chosen(row)).collect()
    }

    fn predictions<'r>(
        &'r self,
        rows: &'r Rows,
        asked: &'r [bool],
        ids: impl Iterator<Item = (Option<String>, u64)> + 'r,
        keys: &'r mut DocumentKeys,
        best: Option<&'r BestDecisions>,
    ) -> impl Iterator<Item = Prediction<'m>> + 'r {
        let mut asked = asked.iter().copied();
        self.rows(rows).zip(ids).map(move |(row, (id, number))| {
            let asked = asked.next();
            let prediction = self.chosen(Row { asked, best, ..row });
            prediction.with_key(keys.next(id, number))
        })
    }
}

impl Rows {
    fn append(&mut self, later: Self) {
        self.ids.extend(later.ids);
        self.kept.extend(later.kept);
        self.probabilities.extend(later.probabilities);
        self.scores.extend(later.scores);
        self.amounts.extend(later.amounts);
        self.sets.extend(later.sets);
        self.unknown.merge(later.unknown);
    }
}

#[cfg(test)]
#[path = "predict/tests.rs"]
mod tests;
