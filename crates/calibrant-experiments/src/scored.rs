//! Binary problems as a calibrator sees them: scores to fit on, scores to be judged by.

use std::error::Error;

use calibrant::calibration::HeldOutScores;
use calibrant::corpus::{Document, Fields};
use calibrant::pipeline::{ExtractorBuffers, FitSettings, TrainingCorpus, fit_keeping_scores};
use calibrant::{NoProgress, Task};

/// One class against the rest.
pub(crate) struct BinaryProblem {
    pub(crate) class: String,
    /// Scores of the training documents by models that had not seen them.
    pub(crate) held_out: HeldOutScores,
    pub(crate) test_scores: Vec<f64>,
    pub(crate) test_labels: Vec<bool>,
}

/// Fits one classifier per class, whatever else a document belongs to, and scores the test documents.
pub(crate) fn binary_problems(
    settings: &FitSettings,
    fields: Fields,
    training: &[Document],
    test: &[Document],
) -> Result<Vec<BinaryProblem>, Box<dyn Error>> {
    let settings = FitSettings {
        task: Some(Task::MultiLabel),
        ..settings.clone()
    };
    let counted = TrainingCorpus::of_documents(&settings, training.to_vec())?;
    let (model, held_out) = fit_keeping_scores(counted, fields, &settings, &NoProgress)?;
    let mut problems: Vec<BinaryProblem> = model
        .class_names()
        .zip(held_out)
        .map(|(class, held_out)| BinaryProblem {
            class: class.to_owned(),
            held_out,
            test_scores: Vec::with_capacity(test.len()),
            test_labels: Vec::with_capacity(test.len()),
        })
        .collect();
    let mut buffers = ExtractorBuffers::default();
    let model = model.as_single().ok_or("a combination has no scores")?;
    for document in test {
        let row = model.extractor().row(&document.content, &mut buffers);
        let scores = model.scorer().output_scores(row);
        for (problem, score) in problems.iter_mut().zip(scores) {
            problem.test_scores.push(score);
            problem
                .test_labels
                .push(document.labels.contains(&problem.class));
        }
    }
    Ok(problems)
}
