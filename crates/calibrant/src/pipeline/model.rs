//! The whole path from text to probabilities as one value.

use super::calibrate_classes::{combine, joint_scores_into};
use super::extractor::{ExtractorBuffers, FeatureExtractor};
use super::{ClassSummary, FitSettings, TrainingSummary};
use crate::calibration::{Calibrator, ClassRoom, SavedCalibrator, SavedMulticlassCalibrator};
use crate::corpus::{Content, Fields};
use crate::scorers::{SavedScorer, ScorerRoom};
use crate::{Probability, Task};

/// A fitted, calibrated classifier.
#[derive(Debug)]
pub struct Model {
    pub(super) settings: FitSettings,
    pub(super) fields: Fields,
    pub(super) extractor: FeatureExtractor,
    pub(super) scorer: SavedScorer,
    pub(super) calibrators: Calibrators,
    pub(super) summary: TrainingSummary,
}

/// Scores to probabilities: output by output, or all classes together.
#[derive(Debug, Clone)]
pub(super) struct Calibrators {
    /// One an output; none where there is a joint one.
    pub(super) of_outputs: Vec<SavedCalibrator>,
    pub(super) joint: Option<SavedMulticlassCalibrator>,
}

/// Room for one prediction, reused from one document to the next.
#[derive(Debug, Default)]
pub struct PredictBuffers {
    pub(super) extractor: ExtractorBuffers,
    pub(super) scorer: ScorerRoom,
    scores: Vec<f64>,
    outputs: Vec<Probability>,
    room: Vec<f64>,
    classes: ClassRoom,
}

impl PredictBuffers {
    /// The scores behind the last prediction, one an output of the scorer: those that
    /// [`Model::calibrators`] turned into probabilities.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The probabilities of the outputs, each against the rest; empty where all classes are calibrated
    /// together.
    pub(super) fn outputs(&self) -> &[Probability] {
        &self.outputs
    }
}

impl Model {
    pub(super) fn new(
        settings: FitSettings,
        fields: Fields,
        extractor: FeatureExtractor,
        scorer: SavedScorer,
        calibrators: Calibrators,
        summary: TrainingSummary,
    ) -> Self {
        Self {
            settings,
            fields,
            extractor,
            scorer,
            calibrators,
            summary,
        }
    }

    /// What it was fitted with.
    pub fn settings(&self) -> &FitSettings {
        &self.settings
    }

    /// The fields of the training file that it learned from.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// What its training was like.
    pub fn summary(&self) -> &TrainingSummary {
        &self.summary
    }

    /// Text to rows.
    pub fn extractor(&self) -> &FeatureExtractor {
        &self.extractor
    }

    /// Rows to scores.
    pub fn scorer(&self) -> &SavedScorer {
        &self.scorer
    }

    /// Scores to probabilities, one an output; none where all classes have a calibrator together.
    pub fn calibrators(&self) -> &[SavedCalibrator] {
        &self.calibrators.of_outputs
    }

    /// The calibrator of all classes together, where there is one.
    pub fn class_calibrator(&self) -> Option<&SavedMulticlassCalibrator> {
        self.calibrators.joint.as_ref()
    }

    /// The class that an output of the scorer speaks for: two exclusive classes share one, which
    /// speaks for the second.
    pub fn class_of_output(&self, output: usize) -> usize {
        if self.scorer.output_count() < self.class_count() {
            output + 1
        } else {
            output
        }
    }

    /// One label a document or several.
    pub fn task(&self) -> Task {
        self.summary.task
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.summary.classes.len()
    }

    /// The names of the classes, in the order of predictions.
    pub fn class_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.summary
            .classes
            .iter()
            .map(|class| class.label.as_str())
    }

    /// The share that each class had among the training documents, by their weights. With one label
    /// a document the shares sum to one; a class that all documents or none have is put half a
    /// document away from that.
    pub fn priors(&self) -> Vec<f64> {
        let documents = self.summary.documents as f64;
        let half = 0.5 / documents.max(1.0);
        let share = |class: &ClassSummary| {
            let share = class.prior.unwrap_or(class.positives as f64 / documents);
            share.clamp(half, 1.0 - half)
        };
        let mut priors: Vec<f64> = self.summary.classes.iter().map(share).collect();
        if self.task() == Task::SingleLabel {
            let sum: f64 = priors.iter().sum();
            priors.iter_mut().for_each(|prior| *prior /= sum);
        }
        priors
    }

    /// The probability of each class, in the order of [`Self::class_names`].
    pub fn predict(&self, text: &str) -> Vec<Probability> {
        let mut classes = vec![Probability::from_log_odds(0.0); self.class_count()];
        self.predict_into(
            &Content::Text(text.to_owned()),
            &mut PredictBuffers::default(),
            &mut classes,
        );
        classes
    }

    /// Fills `classes` with the probability of each class.
    ///
    /// # Panics
    /// If `classes` is not as long as there are classes.
    pub fn predict_into(
        &self,
        content: &Content,
        buffers: &mut PredictBuffers,
        classes: &mut [Probability],
    ) {
        assert_eq!(classes.len(), self.class_count());
        let row = self.extractor.row(content, &mut buffers.extractor);
        buffers.scores.resize(self.scorer.output_count(), 0.0);
        self.scorer
            .scores_into(row, &mut buffers.scorer, &mut buffers.scores);
        if let Some(joint) = &self.calibrators.joint {
            buffers.room.resize(classes.len(), 0.0);
            joint_scores_into(self.scorer.link(), &buffers.scores, &mut buffers.room);
            joint.probabilities_into(&buffers.room, &mut buffers.classes, classes);
            return;
        }
        buffers.outputs.clear();
        buffers.outputs.extend(
            self.calibrators
                .of_outputs
                .iter()
                .zip(&buffers.scores)
                .map(|(calibrator, &score)| calibrator.probability(score)),
        );
        combine(self.task(), &buffers.outputs, classes, &mut buffers.room);
    }
}
