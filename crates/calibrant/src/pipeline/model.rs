//! The whole path from text to probabilities as one value.

use super::calibrate_classes::combine;
use super::extractor::{ExtractorBuffers, FeatureExtractor};
use super::{FitSettings, TrainingSummary};
use crate::calibration::{Calibrator, SavedCalibrator};
use crate::corpus::{Content, Fields};
use crate::scorers::LinearClassScorer;
use crate::{Probability, Task};

/// A fitted, calibrated classifier.
#[derive(Debug)]
pub struct Model {
    pub(super) settings: FitSettings,
    pub(super) fields: Fields,
    pub(super) extractor: FeatureExtractor,
    pub(super) scorer: LinearClassScorer,
    pub(super) calibrators: Vec<SavedCalibrator>,
    pub(super) summary: TrainingSummary,
}

/// Room for one prediction, reused from one document to the next.
#[derive(Debug, Default)]
pub struct PredictBuffers {
    pub(super) extractor: ExtractorBuffers,
    scores: Vec<f64>,
    outputs: Vec<Probability>,
    room: Vec<f64>,
}

impl PredictBuffers {
    /// The scores behind the last prediction, one an output of the scorer: those that
    /// [`Model::calibrators`] turned into probabilities.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }
}

impl Model {
    pub(super) fn new(
        settings: FitSettings,
        fields: Fields,
        extractor: FeatureExtractor,
        scorer: LinearClassScorer,
        calibrators: Vec<SavedCalibrator>,
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
    pub fn scorer(&self) -> &LinearClassScorer {
        &self.scorer
    }

    /// Scores to probabilities, one an output.
    pub fn calibrators(&self) -> &[SavedCalibrator] {
        &self.calibrators
    }

    /// The class that an output of the scorer speaks for: two exclusive classes share one, which
    /// speaks for the second.
    pub fn class_of_output(&self, output: usize) -> usize {
        if self.calibrators.len() < self.class_count() {
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
        buffers.scores = self.scorer.output_scores(row);
        buffers.outputs.clear();
        buffers.outputs.extend(
            self.calibrators
                .iter()
                .zip(&buffers.scores)
                .map(|(calibrator, &score)| calibrator.probability(score)),
        );
        combine(self.task(), &buffers.outputs, classes, &mut buffers.room);
    }
}
