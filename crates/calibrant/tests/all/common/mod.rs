//! What the tests of the pipeline share: small corpora and every way to learn from them.

pub(crate) mod data_file;
pub(crate) mod forged;
pub(crate) mod memory;
pub(crate) mod parity;
pub(crate) mod rankings;

use calibrant::calibration::{CalibratorKind, MulticlassKind};
use calibrant::corpus::{Content, Document, Fields, Record};
use calibrant::features::{
    DocumentFrequencyLimits, Selection, SelectionMeasure, SelectionScope, Weighting,
    WeightingSettings,
};
use calibrant::numeric::Random;
use calibrant::pipeline::{
    ClassWeights, Classifier, CombineError, CombineSettings, Combiner, DocumentCounter,
    FitSettings, HeldOutDocuments, Model, TrainingCorpus, fit,
};
use calibrant::scorers::{
    AdaBoost, Approximate, BoostingKind, LinearSvm, LogisticRegression, NaiveBayes, NaiveBayesKind,
    NearestNeighbours, NeighbourCount, Perceptron, Smoothing, Vote,
};
use calibrant::solvers::HingeLoss;
use calibrant::{FitError, NoProgress};

pub(crate) fn document(text: &str, labels: &[&str]) -> Document {
    Document {
        id: None,
        content: Content::Text(text.to_owned()),
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
        labels_were_list: false,
        weight: 1.0,
        group: None,
        amounts: Vec::new(),
        line: 1,
        row: 0,
    }
}

/// Texts of 12 words out of `word_count`, where each class prefers words of its own.
pub(crate) fn documents(
    count: usize,
    class_count: usize,
    word_count: usize,
    seed: u64,
) -> Vec<Document> {
    let mut random = Random::from_seed(seed);
    (0..count)
        .map(|_| {
            let class = random.below(class_count);
            let words: Vec<String> = (0..12)
                .map(|_| {
                    let word = random.below(word_count);
                    if random.uniform() < 0.5 {
                        format!("w{word}")
                    } else {
                        format!("w{}", word - word % class_count + class)
                    }
                })
                .collect();
            document(&words.join(" "), &[&format!("class {class}")])
        })
        .collect()
}

/// The same with none to all of the classes a document.
pub(crate) fn multi_label_documents(count: usize, class_count: usize, seed: u64) -> Vec<Document> {
    let mut random = Random::from_seed(seed);
    let mut documents = documents(count, class_count, 40, seed);
    for document in &mut documents {
        document.labels_were_list = true;
        for class in 0..class_count {
            let label = format!("class {class}");
            if random.below(4) == 0 && !document.labels.contains(&label) {
                document.labels.push(label);
            }
        }
        if random.below(8) == 0 {
            document.labels.clear();
        }
        document.labels.sort();
    }
    documents
}

/// Fits documents that come in batches of the given size.
pub(crate) fn fit_batches(
    documents: &[Document],
    settings: &FitSettings,
    batch: usize,
) -> Result<Model, FitError> {
    fit_fields(documents, Fields::default(), settings, batch)
}

pub(crate) fn fit_fields(
    documents: &[Document],
    fields: Fields,
    settings: &FitSettings,
    batch: usize,
) -> Result<Model, FitError> {
    let counter = DocumentCounter::new(settings)?;
    let mut corpus = TrainingCorpus::new(settings.column_space());
    for batch in documents.chunks(batch.max(1)) {
        corpus.add(counter.count(batch.to_vec()));
    }
    fit(corpus, fields, settings, &NoProgress)
}

/// The same documents with two numbers and a category beside the text, some of them missing.
pub(crate) fn with_side_columns(documents: &[Document]) -> Vec<Document> {
    let beside = |(number, document): (usize, &Document)| {
        let size = number as f64 * 0.25 + document.labels.len() as f64;
        let record = Record {
            text: document.content.as_text().map(str::to_owned),
            numbers: vec![Some(size), (number % 3 > 0).then_some(-size)],
            categories: vec![(number % 4 > 0).then(|| format!("kind {}", number % 4))],
            ..Record::default()
        };
        Document {
            content: Content::Record(Box::new(record)),
            ..document.clone()
        }
    };
    documents.iter().enumerate().map(beside).collect()
}

/// Fits documents [`with_side_columns`], which come in batches of the given size.
#[track_caller]
pub(crate) fn fitted_beside(documents: &[Document], settings: &FitSettings, batch: usize) -> Model {
    let fields = Fields {
        numeric: vec!["size".into(), "less".into()],
        categorical: vec!["kind".into()],
        ..Fields::default()
    };
    fit_fields(documents, fields, settings, batch).unwrap()
}

#[track_caller]
pub(crate) fn fitted(documents: &[Document], settings: &FitSettings) -> Model {
    fit_batches(documents, settings, documents.len()).unwrap()
}

pub(crate) fn naive_bayes(kind: NaiveBayesKind) -> Classifier {
    Classifier::NaiveBayes(NaiveBayes {
        kind,
        ..NaiveBayes::default()
    })
}

pub(crate) fn adaboost(kind: BoostingKind) -> Classifier {
    Classifier::AdaBoost(AdaBoost { kind, rounds: 25 })
}

pub(crate) fn with_classifier(classifier: Classifier) -> FitSettings {
    FitSettings {
        classifier,
        limits: DocumentFrequencyLimits {
            min_documents: Some(1),
            ..DocumentFrequencyLimits::default()
        },
        ..FitSettings::default()
    }
}

/// Every learner alone.
pub(crate) fn learners() -> Vec<(&'static str, FitSettings)> {
    let hinge = LinearSvm {
        loss: HingeLoss::Hinge,
        ..LinearSvm::default()
    };
    let corpus_prior = NaiveBayes {
        smoothing: Smoothing::CorpusPrior { strength: 5.0 },
        ..NaiveBayes::default()
    };
    let neighbours = NearestNeighbours::default();
    let few = NearestNeighbours {
        k: NeighbourCount::Fixed(3),
        vote: Vote::Majority,
        approximate: Some(Approximate::default()),
        ..neighbours
    };
    let perceptron = |voted| {
        Classifier::Perceptron(Perceptron {
            voted,
            ..Perceptron::default()
        })
    };
    [
        ("svm", Classifier::default()),
        ("svm with hinge loss", Classifier::LinearSvm(hinge)),
        (
            "logistic regression",
            Classifier::LogisticRegression(LogisticRegression::default()),
        ),
        ("naive Bayes", naive_bayes(NaiveBayesKind::Multinomial)),
        ("Bernoulli", naive_bayes(NaiveBayesKind::Bernoulli)),
        ("complement", naive_bayes(NaiveBayesKind::Complement)),
        ("corpus prior", Classifier::NaiveBayes(corpus_prior)),
        ("AdaBoost", adaboost(BoostingKind::Real)),
        ("discrete AdaBoost", adaboost(BoostingKind::Discrete)),
        ("neighbours", Classifier::NearestNeighbours(neighbours)),
        ("some neighbours", Classifier::NearestNeighbours(few)),
        ("perceptron", perceptron(false)),
        ("voted perceptron", perceptron(true)),
    ]
    .into_iter()
    .map(|(name, classifier)| (name, with_classifier(classifier)))
    .collect()
}

/// Every learner, and with them every selection, hashing, weighting and calibrator.
pub(crate) fn setups() -> Vec<(&'static str, FitSettings)> {
    let mut setups = learners();
    let plain = |learner: usize| learners().swap_remove(learner).1;
    for (learner, measure, scope) in [
        (
            0,
            SelectionMeasure::MutualInformation,
            SelectionScope::Global,
        ),
        (2, SelectionMeasure::ChiSquare, SelectionScope::PerClass),
        (
            3,
            SelectionMeasure::MutualInformation,
            SelectionScope::PerClass,
        ),
        (
            4,
            SelectionMeasure::DocumentFrequency,
            SelectionScope::Global,
        ),
        (
            0,
            SelectionMeasure::ConditionalMutualInformation,
            SelectionScope::PerClass,
        ),
        (
            5,
            SelectionMeasure::ConditionalMutualInformation,
            SelectionScope::Global,
        ),
    ] {
        let selection = Selection {
            measure,
            scope,
            count: 15,
        };
        let settings = FitSettings {
            selection: Some(selection),
            ..plain(learner)
        };
        setups.push(("selection", settings));
    }
    for learner in [0, 3, 4, 7] {
        let settings = FitSettings {
            hash_bits: Some(7),
            ..plain(learner)
        };
        setups.push(("hashing", settings));
    }
    for (weighting, l2_norm) in [
        (Weighting::Bm25 { k1: 1.2, b: 0.75 }, false),
        (Weighting::TfIdf, true),
        (Weighting::Binary, false),
        (Weighting::LogTf, false),
    ] {
        let settings = FitSettings {
            weighting: Some(WeightingSettings { weighting, l2_norm }),
            class_weights: ClassWeights::Balanced,
            ..plain(0)
        };
        setups.push(("weighting", settings));
    }
    for calibrator in [
        CalibratorKind::Platt,
        CalibratorKind::AsymmetricLaplace,
        CalibratorKind::None,
    ] {
        let settings = FitSettings {
            calibrator,
            ..plain(3)
        };
        setups.push(("calibrator", settings));
    }
    for learner in [0, 3] {
        let settings = FitSettings {
            multiclass: MulticlassKind::Auto,
            ..plain(learner)
        };
        setups.push(("classes together", settings));
    }
    setups
}

/// Asserts that a model says something sensible of a text.
#[track_caller]
pub(crate) fn check_probabilities(model: &Model, text: &str) {
    let classes = model.predict(text);
    assert_eq!(classes.len(), model.class_count());
    let mut sum = 0.0;
    for class in &classes {
        let value = class.value();
        assert!(value > 0.0 && value < 1.0, "{value} for {text:?}");
        assert!(class.log_odds().is_finite());
        sum += value;
    }
    if model.task() == calibrant::Task::SingleLabel {
        assert!((sum - 1.0).abs() < 1e-9, "{sum} for {text:?}");
    }
}

/// Models, named by their numbers, combined by what they say of documents in batches of seven.
pub(crate) fn combined(models: Vec<Model>, held_out: &[Document]) -> Result<Model, CombineError> {
    let named = models.into_iter().enumerate();
    let combiner = Combiner::new(named.map(|(n, model)| (n.to_string(), model)).collect())?;
    let mut documents = HeldOutDocuments::default();
    for batch in held_out.chunks(7) {
        combiner.add(combiner.forecast(batch.to_vec()), &mut documents);
    }
    combiner.combine(documents, &CombineSettings::default())
}

/// Letters that say the same thing one to twenty times: sums over all words grow, and what they tell does not.
pub(crate) fn bursty_documents(count: usize, classes: usize, seed: u64) -> Vec<Document> {
    let mut drawn = documents(count, classes, 60, seed);
    for (place, document) in drawn.iter_mut().enumerate() {
        let text = document.content.as_text().unwrap_or_default();
        let again = format!("{text} ").repeat(1 + place * place % 20);
        document.content = Content::Text(again);
    }
    drawn
}
