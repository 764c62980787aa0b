//! Model files opened by Python's safetensors, without calibrant.

use calibrant::NoProgress;
use calibrant::calibration::CalibratorKind;
use calibrant::corpus::{Content, Document, Fields};
use calibrant::numeric::Random;
use calibrant::pipeline::{
    Classifier, ExtractorBuffers, FORMAT_VERSION, FitSettings, Model, TrainingCorpus, fit,
};
use calibrant::scorers::{LinearSvm, NaiveBayes};
use serde_json::json;

use super::data::{check_near, numbers};
use super::python::ask;

/// Feature values are rounded to `f32` here and kept whole there.
const TOLERANCE: f64 = 1e-5;

/// Documents of made-up words; each class prefers some.
fn documents(class_count: usize, several: bool) -> Vec<Document> {
    let mut random = Random::from_seed(41);
    (0..300)
        .map(|line| {
            let class = random.below(class_count);
            let words: Vec<String> = (0..10 + random.below(30))
                .map(|_| {
                    let word = (random.uniform().powi(2) * 80.0) as usize;
                    format!("wört{}", (word + 9 * class * random.below(2)) % 100)
                })
                .collect();
            let mut labels = vec![format!("class {class}")];
            if several && random.below(3) == 0 {
                labels = (class..class_count)
                    .map(|class| format!("class {class}"))
                    .collect();
            }
            Document {
                id: None,
                content: Content::Text(words.join(" ")),
                labels,
                labels_were_list: several,
                weight: 1.0,
                group: None,
                amounts: Vec::new(),
                line,
                row: 0,
            }
        })
        .collect()
}

#[track_caller]
fn check(classifier: Classifier, class_count: usize, several: bool, weight_type: &str) {
    let settings = FitSettings {
        classifier,
        weighting: Some(classifier.usual_weighting()),
        calibrator: CalibratorKind::Platt,
        ..FitSettings::default()
    };
    let documents = documents(class_count, several);
    let corpus = TrainingCorpus::of_documents(&settings, documents.clone()).unwrap();
    let fitted = fit(corpus, Fields::default(), &settings, &NoProgress).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.calibrant");
    fitted.save(&path).unwrap();
    let model = Model::open(&path).unwrap();
    let texts: Vec<&str> = documents
        .iter()
        .take(50)
        .filter_map(|document| document.content.as_text())
        .collect();
    let single = model.as_single().unwrap();
    let terms: Vec<Vec<String>> = texts
        .iter()
        .map(|text| single.extractor().analyzer().terms(text))
        .collect();
    let Some(answer) = ask("model_file.py", &json!({"path": path, "documents": terms})) else {
        return;
    };
    assert_eq!(answer["version"], json!(FORMAT_VERSION));
    assert_eq!(answer["weight_type"], json!(weight_type));
    assert_eq!(
        answer["classes"],
        json!(model.class_names().collect::<Vec<_>>())
    );
    let mut buffers = ExtractorBuffers::default();
    for (text, theirs) in texts.iter().zip(answer["documents"].as_array().unwrap()) {
        let row = single
            .extractor()
            .row(&Content::Text((*text).to_owned()), &mut buffers);
        let ours = single.scorer().output_scores(row);
        let scores = numbers(&theirs["scores"]);
        assert_eq!(ours.len(), scores.len());
        for (&ours, theirs) in ours.iter().zip(scores) {
            check_near("score", ours, theirs, TOLERANCE, 1f64.max(theirs.abs()));
        }
        let ours = model.predict(*text);
        let probabilities = numbers(&theirs["probabilities"]);
        assert_eq!(ours.len(), probabilities.len());
        for (ours, theirs) in ours.iter().zip(probabilities) {
            check_near("probability", ours.value(), theirs, TOLERANCE, 1.0);
        }
    }
}

#[test]
fn a_machine_for_many_classes_scores_the_same_in_python() {
    check(
        Classifier::LinearSvm(LinearSvm::default()),
        4,
        false,
        "float32",
    );
}

#[test]
fn a_machine_for_two_classes_scores_the_same_in_python() {
    check(
        Classifier::LinearSvm(LinearSvm::default()),
        2,
        false,
        "float32",
    );
}

#[test]
fn a_machine_for_several_labels_scores_the_same_in_python() {
    check(
        Classifier::LinearSvm(LinearSvm::default()),
        3,
        true,
        "float32",
    );
}

#[test]
fn naive_bayes_scores_the_same_in_python() {
    check(
        Classifier::NaiveBayes(NaiveBayes::default()),
        4,
        false,
        "float64",
    );
}
