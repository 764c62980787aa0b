//! One path from text to probabilities: an extractor, a scorer, its calibrators.

use super::calibrate_classes::{combine, joint_scores_into};
use super::combined_model::CombinedBuffers;
use super::document_key::key_as_written;
use super::extractor::{ExtractorBuffers, FeatureExtractor};
use super::training_keys::found_in_any;
use super::{FitSettings, ModelRecalibration, TrainingKeys, TrainingSummary};
use crate::calibration::{Calibrator, ClassBuffers, SavedCalibrator, SavedMulticlassCalibrator};
use crate::corpus::{ContentRef, Fields};
use crate::scorers::{Reads, SavedScorer, ScorerBuffers};
use crate::{Probability, Task};

/// One fitted learner with its calibrators: what `fit` makes, and what combinations are made of.
#[derive(Debug)]
pub struct SingleModel {
    pub(super) settings: FitSettings,
    pub(super) fields: Fields,
    pub(super) extractor: FeatureExtractor,
    pub(super) scorer: SavedScorer,
    pub(super) calibrators: Calibrators,
    pub(super) summary: TrainingSummary,
    /// What it learned from; `None` where it was not to be kept.
    pub(super) training_keys: Option<TrainingKeys>,
    /// What is kept of held-out forecasts: see [`PromiseTables`](super::PromiseTables).
    pub(super) promises: Option<Vec<u8>>,
    /// What new labels made of its probabilities.
    pub(super) recalibration: Option<ModelRecalibration>,
    /// The documents that these came with, one filter a time; none where no filter was to be kept.
    pub(super) recalibration_keys: Vec<TrainingKeys>,
}

/// Scores to probabilities: output by output, or all classes together.
#[derive(Debug, Clone)]
pub(super) struct Calibrators {
    /// One per output; beside a joint one they only tell how well the best class looks, and there may be none.
    pub(super) of_outputs: Vec<SavedCalibrator>,
    pub(super) joint: Option<SavedMulticlassCalibrator>,
}

/// Buffers for one prediction, reused between calls.
#[derive(Debug, Default)]
pub struct PredictBuffers {
    pub(super) extractor: ExtractorBuffers,
    pub(super) scorer: ScorerBuffers,
    pub(super) scores: Vec<f64>,
    outputs: Vec<Probability>,
    buffer: Vec<f64>,
    corrected: Vec<f64>,
    classes: ClassBuffers,
    pub(super) combined: CombinedBuffers,
}

impl PredictBuffers {
    /// Whether the document of the last prediction held nothing that the model, or any model of a combination, knows.
    pub(crate) fn knew_nothing(&self) -> bool {
        match self.combined.members() {
            [] => self.extractor.row_is_empty(),
            members => members.iter().all(Self::knew_nothing),
        }
    }

    /// Forgets the scores of an earlier prediction.
    pub(super) fn clear(&mut self) {
        self.scores.clear();
        self.outputs.clear();
    }
}

impl SingleModel {
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
            training_keys: None,
            promises: None,
            recalibration: None,
            recalibration_keys: Vec::new(),
        }
    }

    /// With a filter of what it learned from.
    pub(super) fn with_training_keys(self, training_keys: Option<TrainingKeys>) -> Self {
        Self {
            training_keys,
            ..self
        }
    }

    /// With what new labels made of its probabilities.
    pub(super) fn with_recalibration(
        self,
        recalibration: Option<ModelRecalibration>,
        recalibration_keys: Vec<TrainingKeys>,
    ) -> Self {
        Self {
            recalibration,
            recalibration_keys,
            ..self
        }
    }

    /// The filter of what it learned from, if it has one.
    pub fn training_keys(&self) -> Option<&TrainingKeys> {
        self.training_keys.as_ref()
    }

    /// Whether it learned from the document with this key, as far as its filter tells, and how likely the filter
    /// takes any document for one.
    pub(super) fn acquaintance(&self, key: u128) -> Option<(bool, f64)> {
        let filters = self.training_keys.iter().chain(&self.recalibration_keys);
        found_in_any(filters.filter_map(|keys| keys.look_up(key)))
    }

    /// What it was fitted with.
    pub fn settings(&self) -> &FitSettings {
        &self.settings
    }

    /// What new labels made of its probabilities; `None` where there were none.
    pub fn recalibration(&self) -> Option<&ModelRecalibration> {
        self.recalibration.as_ref()
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
    #[doc(hidden)] // For the program, tests and experiments.
    pub fn extractor(&self) -> &FeatureExtractor {
        &self.extractor
    }

    /// Rows to scores.
    #[doc(hidden)] // For the program, tests and experiments.
    pub fn scorer(&self) -> &SavedScorer {
        &self.scorer
    }

    /// Scores to probabilities of each class against the rest, one per output. Where all classes have a
    /// calibrator together they only tell how well the best class looks, and there may be none.
    pub fn calibrators(&self) -> &[SavedCalibrator] {
        &self.calibrators.of_outputs
    }

    /// The calibrator of all classes together, where there is one.
    pub fn class_calibrator(&self) -> Option<&SavedMulticlassCalibrator> {
        self.calibrators.joint.as_ref()
    }

    /// The class that an output of the scorer speaks for: two exclusive classes share one, which
    /// speaks for the second.
    pub(crate) fn class_of_output(&self, output: usize) -> usize {
        if self.scorer.output_count() < self.class_count() {
            output + 1
        } else {
            output
        }
    }

    /// One label per document or several.
    pub(super) fn task(&self) -> Task {
        self.summary.task
    }

    /// The names of the classes, in the order of predictions.
    pub fn class_names(&self) -> impl ExactSizeIterator<Item = &str> {
        let classes = self.summary.classes.iter();
        classes.map(|class| class.label.as_str())
    }

    /// How many classes there are.
    pub(super) fn class_count(&self) -> usize {
        self.summary.classes.len()
    }

    /// Documents with equal keys are the same to this model.
    pub(super) fn document_key(
        &self,
        content: ContentRef<'_>,
        buffers: &mut PredictBuffers,
    ) -> u128 {
        if self.settings.reads() == Reads::Rules {
            key_as_written(content)
        } else {
            self.extractor.document_key(content, &mut buffers.extractor)
        }
    }

    /// Fills `classes` with the probability of each class.
    pub(super) fn predict_into(
        &self,
        content: ContentRef<'_>,
        buffers: &mut PredictBuffers,
        classes: &mut [Probability],
    ) {
        assert_eq!(classes.len(), self.class_count());
        let row = self.extractor.row(content, &mut buffers.extractor);
        buffers.scores.resize(self.scorer.output_count(), 0.0);
        self.scorer
            .scores_into(row, &mut buffers.scorer, &mut buffers.scores);
        self.probabilities_into(buffers, classes);
    }

    /// Fills `classes` with the probability of each class, where the scores of the outputs are in the buffers.
    pub(super) fn probabilities_into(
        &self,
        buffers: &mut PredictBuffers,
        classes: &mut [Probability],
    ) {
        if let Some(joint) = &self.calibrators.joint {
            buffers.buffer.resize(classes.len(), 0.0);
            joint_scores_into(self.scorer.link(), &buffers.scores, &mut buffers.buffer);
            joint.probabilities_into(&buffers.buffer, &mut buffers.classes, classes);
        } else {
            buffers.outputs.clear();
            buffers.outputs.extend(
                self.calibrators
                    .of_outputs
                    .iter()
                    .zip(&buffers.scores)
                    .map(|(calibrator, &score)| calibrator.probability(score)),
            );
            combine(self.task(), &buffers.outputs, classes, &mut buffers.buffer);
        }
        if let Some(own) = &self.recalibration {
            own.correction
                .apply(self.task(), &mut buffers.corrected, classes);
        }
    }
}
