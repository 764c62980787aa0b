//! Documents to probabilities, with the most probable classes, other shares and `other` as asked for.

mod error;
mod rows;
mod source;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use self::rows::{Buffers, Row, Rows};
use super::content::Readable;
use super::decide::Decider;
use super::prediction::{DocumentKey, DocumentKeys, Prediction};
use super::predictions::free_separator;
use super::promises::{
    Answerer, AskF, AskSets, CalibrationExamples, FAverage, PromiseError, SetMaker,
};
use crate::corpus::{ContentRef, Document, Fields};
use crate::decision::{
    ASK, AskBudget, Certify, CostEntry, OtherRule, PriorChoice, PriorPlan, PriorReport,
};
use crate::parallel;
use crate::pipeline::Model;

pub use error::PredictError;
pub use source::{PredictSummary, UnknownDocuments};

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
        /// Documents per piece of work; results do not depend on it.
        const PIECE: usize = 64;
        for document in documents {
            self.readable.check(ContentRef::from(document))?;
            self.check_amounts(&document.amounts)?;
        }
        let mut rows = Rows::default();
        let pieces = parallel::map_chunks(documents, PIECE, |piece| {
            let mut rows = Rows::default();
            let mut buffers = Buffers::default();
            for document in piece {
                self.add_row(ContentRef::from(document), &mut buffers, &mut rows);
                rows.amounts.extend(&document.amounts);
            }
            rows
        });
        pieces.into_iter().for_each(|piece| rows.append(piece));
        let report = self.shift_all(&mut rows)?;
        let (asked, _) = self.choose_asked(&rows);
        let mut keys = DocumentKeys::new(false);
        let ids = documents.iter().map(|document| (document.id.clone(), 0));
        let best = self.best_decisions(&rows);
        let predictions = self.predictions(&rows, &asked, ids, &mut keys, best.as_ref());
        Ok((predictions.collect(), report))
    }

    /// Whether nothing can be said before all documents are read: the classes' shares are estimated from them, the documents to ask about are
    /// chosen among all, or F is taken over all.
    pub fn must_see_all(&self) -> bool {
        self.ask.is_some() || self.must_estimate() || self.f_beta.is_some()
    }

    fn must_estimate(&self) -> bool {
        self.plan.as_ref().is_some_and(PriorPlan::must_see_all)
    }
}

#[cfg(test)]
#[path = "predict/tests.rs"]
mod tests;
