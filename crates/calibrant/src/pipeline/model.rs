//! From text to probabilities as one value: a single path, or several combined.

use super::{
    Acquaintance, ClassSummary, CombinedModel, Explanation, ModelRecalibration, OutputScores,
    PredictBuffers, SingleModel, TrainingKeys, TrainingSummary,
};
use crate::corpus::{ContentRef, Fields};
use crate::decision::TrainedShares;
use crate::features::UnknownCells;
use crate::{Probability, Task};

/// A fitted, calibrated classifier.
#[derive(Debug)]
pub enum Model {
    /// One learner with its calibrators.
    Single(Box<SingleModel>),
    /// Several, weighted.
    Combined(Box<CombinedModel>),
}

impl From<SingleModel> for Model {
    fn from(model: SingleModel) -> Self {
        Self::Single(Box::new(model))
    }
}

impl From<CombinedModel> for Model {
    fn from(model: CombinedModel) -> Self {
        Self::Combined(Box::new(model))
    }
}

impl Model {
    /// The one path that it is; `None` for a combination.
    pub fn as_single(&self) -> Option<&SingleModel> {
        match self {
            Self::Single(model) => Some(model),
            Self::Combined(_) => None,
        }
    }

    /// The combination that it is; `None` for a single path.
    pub fn as_combined(&self) -> Option<&CombinedModel> {
        match self {
            Self::Single(_) => None,
            Self::Combined(model) => Some(model),
        }
    }

    /// The learner's name in reports, or those of all members.
    pub fn learner_name(&self) -> String {
        match self {
            Self::Single(model) => model.settings().classifier.name().to_owned(),
            Self::Combined(model) => {
                let members = model.members().iter();
                let names: Vec<&str> = members
                    .map(|member| member.model().settings().classifier.name())
                    .collect();
                format!("combination of {}", names.join(", "))
            }
        }
    }

    /// Whether labels that differ in case or space alone are one to it.
    pub(crate) fn folds_labels(&self) -> bool {
        match self {
            Self::Single(model) => model.settings().fold_labels,
            Self::Combined(model) => {
                let mut members = model.members().iter();
                members.any(|member| member.model().settings().fold_labels)
            }
        }
    }

    /// Whether it was asked for some of the training documents' classes only.
    pub(crate) fn chose_classes(&self) -> bool {
        match self {
            Self::Single(model) => model.settings().classes.is_some(),
            Self::Combined(model) => {
                let mut members = model.members().iter();
                members.any(|member| member.model().settings().classes.is_some())
            }
        }
    }

    /// Whether it reads rows of numbered features: a model of words does not.
    ///
    /// A file of an earlier version does not say what it learned from; then only terms that are not numbers tell.
    pub fn reads_features(&self) -> bool {
        let reads = |model: &SingleModel| {
            let vocabulary = model.extractor().vocabulary();
            let is_word = |term: &str| term.parse::<u32>().is_err();
            let has_words = || vocabulary.is_some_and(|terms| terms.terms().any(is_word));
            model.summary().numbered_features || !(self.fields().has_side_columns() || has_words())
        };
        match self {
            Self::Single(model) => reads(model),
            Self::Combined(model) => model.members().iter().all(|member| reads(member.model())),
        }
    }

    /// Whether it reads texts: a model of numbers and categories, or of numbered features, does not.
    pub fn reads_text(&self) -> bool {
        let numbered = match self {
            Self::Single(model) => model.summary().numbered_features,
            Self::Combined(model) => {
                let mut members = model.members().iter();
                members.any(|member| member.model().summary().numbered_features)
            }
        };
        if numbered {
            return false;
        }
        let fields = self.fields();
        let terms = match self {
            Self::Single(model) => model.extractor().term_count(),
            Self::Combined(model) => {
                let members = model.members().iter();
                members
                    .map(|member| member.model().extractor().term_count())
                    .sum()
            }
        };
        !fields.has_side_columns() || !fields.text.is_empty() || terms > 0
    }

    /// The fields of the training file that it learned from.
    pub fn fields(&self) -> &Fields {
        match self {
            Self::Single(model) => model.fields(),
            Self::Combined(model) => model.fields(),
        }
    }

    /// What its training was like.
    pub fn summary(&self) -> &TrainingSummary {
        match self {
            Self::Single(model) => model.summary(),
            Self::Combined(model) => model.summary(),
        }
    }

    pub(super) fn summary_mut(&mut self) -> &mut TrainingSummary {
        match self {
            Self::Single(model) => &mut model.summary,
            Self::Combined(model) => &mut model.summary,
        }
    }

    /// What new labels made of its probabilities after the fit; `None` where there were none.
    pub fn recalibration(&self) -> Option<&ModelRecalibration> {
        match self {
            Self::Single(model) => model.recalibration.as_ref(),
            Self::Combined(model) => model.recalibration.as_ref(),
        }
    }

    /// Tables of held-out forecasts are of the probabilities as they were, and go.
    /// The documents are remembered where those of the fit are.
    pub(super) fn set_recalibration(&mut self, found: ModelRecalibration, documents: TrainingKeys) {
        match self {
            Self::Single(model) => {
                (model.recalibration, model.promises) = (Some(found), None);
                if model.training_keys.is_some() {
                    model.recalibration_keys.push(documents);
                }
            }
            Self::Combined(model) => {
                (model.recalibration, model.promises) = (Some(found), None);
                let mut members = model.members.iter();
                if model.training_keys.is_some()
                    || members.any(|member| member.model.training_keys.is_some())
                {
                    model.recalibration_keys.push(documents);
                }
            }
        }
    }

    /// One label per document or several.
    pub fn task(&self) -> Task {
        self.summary().task
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.summary().classes.len()
    }

    /// The names of the classes, in the order of predictions.
    pub fn class_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.summary()
            .classes
            .iter()
            .map(|class| class.label.as_str())
    }

    /// What it knows of the classes' shares in training, for a [`PriorPlan`](crate::decision::PriorPlan).
    pub fn trained_shares(&self) -> TrainedShares {
        TrainedShares {
            task: self.task(),
            classes: self.class_names().map(str::to_owned).collect(),
            negative: None,
            shares: self.priors(),
            examples: self.summary().different_documents(),
            // That of the old probabilities is no measure for the new ones.
            shape: match self.recalibration() {
                None => self.summary().held_out_shape.clone(),
                Some(_) => None,
            },
        }
    }

    /// The share that each class had among the training documents, by their weights (for a
    /// combination: among those that decided its weights). With one label per document the shares sum to
    /// one; a class that all documents or none have is put half a document away from that. After a recalibration they are
    /// those that its probabilities imply.
    pub fn priors(&self) -> Vec<f64> {
        if let Some(own) = self.recalibration() {
            return own.shares.clone();
        }
        let summary = self.summary();
        let documents = summary.documents as f64;
        let half = 0.5 / (documents - summary.copies as f64).max(1.0);
        let share = |class: &ClassSummary| {
            let share = class.prior.unwrap_or(class.positives as f64 / documents);
            share.clamp(half, 1.0 - half)
        };
        let mut priors: Vec<f64> = self.summary().classes.iter().map(share).collect();
        if self.task() == Task::SingleLabel {
            let sum: f64 = priors.iter().sum();
            priors.iter_mut().for_each(|prior| *prior /= sum);
        }
        priors
    }

    /// Counts the cells of a document beside its text that hold nothing the training documents had.
    pub fn count_unknown_cells<'a>(
        &self,
        content: impl Into<ContentRef<'a>>,
        to: &mut UnknownCells,
    ) {
        let content = content.into();
        to.begin_document();
        match self {
            Self::Single(model) => model.extractor().add_unknown_cells(content, to),
            // Members learned from the same fields.
            Self::Combined(model) => {
                if let Some(first) = model.members().first() {
                    first.model().extractor().add_unknown_cells(content, to);
                }
            }
        }
    }

    /// The probability of each class, in the order of [`Self::class_names`].
    pub fn predict<'a>(&self, content: impl Into<ContentRef<'a>>) -> Vec<Probability> {
        let mut classes = vec![Probability::from_log_odds(0.0); self.class_count()];
        self.predict_into(content, &mut PredictBuffers::default(), &mut classes);
        classes
    }

    /// Fills `classes` with the probability of each class; gives the scores that they came from.
    ///
    /// # Panics
    /// If `classes` is not as long as there are classes.
    #[doc(hidden)] // `Predictor` is for users; this is what it calls.
    pub fn predict_into<'a, 'c>(
        &'a self,
        content: impl Into<ContentRef<'c>>,
        buffers: &'a mut PredictBuffers,
        classes: &mut [Probability],
    ) -> OutputScores<'a> {
        match self {
            Self::Single(model) => {
                model.predict_into(content.into(), buffers, classes);
                OutputScores::new(model, &buffers.scores)
            }
            Self::Combined(model) => {
                model.predict_into(content.into(), buffers, classes);
                OutputScores::none()
            }
        }
    }

    /// Counts whether the model learned from a document: from one that is the same in all that it sees. A
    /// combination knows what one of its models knows, and what decided its weights; after a recalibration what decided that. Models without a filter
    /// (old ones, or fitted without [`FitSettings::training_keys`](super::FitSettings::training_keys)) know nothing.
    ///
    /// Gives the document's key: documents that the model cannot distinguish have equal ones
    /// (see [`TestDocuments`](super::TestDocuments)).
    #[doc(hidden)] // For jobs and tests.
    pub fn count_known<'a>(
        &self,
        content: impl Into<ContentRef<'a>>,
        buffers: &mut PredictBuffers,
        counts: &mut Acquaintance,
    ) -> u128 {
        let content = content.into();
        let (key, found) = match self {
            Self::Single(model) => {
                let key = model.document_key(content, buffers);
                (key, model.acquaintance(key))
            }
            Self::Combined(model) => model.acquaintance(content, buffers),
        };
        counts.count(found);
        key
    }

    /// Explains the probability of a class (a number below [`Model::class_count`]).
    ///
    /// # Panics
    /// If there is no such class.
    pub fn explain<'a>(&self, content: impl Into<ContentRef<'a>>, class: usize) -> Explanation {
        let content = content.into();
        match self {
            Self::Single(model) => model.explain(content, class),
            Self::Combined(model) => model.explain(content, class),
        }
    }
}
