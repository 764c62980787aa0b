//! What becomes a feature by default, and how much it counts.

use crate::common;

use calibrant::calibration::CalibratorKind;
use calibrant::corpus::{Content, Document, Fields, Record};
use calibrant::features::{DocumentFrequencyLimits, UnknownCells, Weighting, WeightingSettings};
use calibrant::numeric::Random;
use calibrant::pipeline::{
    Classifier, DocumentCounter, FitSettings, Model, PredictBuffers, TrainingCorpus, fit,
};
use calibrant::scorers::{NaiveBayesKind, NearestNeighbours, Rocchio};
use calibrant::{FitError, NoProgress};
use common::{document, documents, fit_batches, fitted, naive_bayes, with_classifier};

fn bernoulli() -> FitSettings {
    with_classifier(naive_bayes(NaiveBayesKind::Bernoulli))
}

#[test]
fn to_bernoulli_a_word_is_there_or_not() {
    let once = documents(60, 2, 30, 5);
    let repeated: Vec<Document> = once
        .iter()
        .map(|once| {
            let text = once.content.as_text().unwrap();
            Document {
                content: Content::Text(format!("{text} {text} {text}")),
                ..once.clone()
            }
        })
        .collect();
    let settings = FitSettings {
        calibrator: CalibratorKind::None,
        ..bernoulli()
    };
    let (once, repeated) = (fitted(&once, &settings), fitted(&repeated, &settings));
    assert_eq!(once.predict("w1 w2 w2 w2"), once.predict("w2 w1"));
    for (a, b) in once.predict("w1 w4").iter().zip(repeated.predict("w1 w4")) {
        assert!((a.log_odds() - b.log_odds()).abs() < 1e-12);
    }
}

/// `ln P(c) + Σ_w ln P(w there or not | c)`, word by word.
fn by_brute_force(documents: &[Document], vocabulary: &[&str], text: &str) -> f64 {
    let has = |text: &str, word: &str| text.split(' ').any(|other| other == word);
    let joint = |class: &str| {
        let members: Vec<&str> = documents
            .iter()
            .filter(|document| document.labels[0] == class)
            .map(|document| document.content.as_text().unwrap())
            .collect();
        let prior = members.len() as f64 / documents.len() as f64;
        let words = vocabulary.iter().map(|word| {
            let with = members.iter().filter(|text| has(text, word)).count() as f64;
            let there = (with + 1.0) / (members.len() as f64 + 2.0);
            if has(text, word) {
                there.ln()
            } else {
                (1.0 - there).ln()
            }
        });
        prior.ln() + words.sum::<f64>()
    };
    joint("yes") - joint("no")
}

#[test]
fn bernoulli_gives_the_log_odds_of_brute_force_absent_words_included() {
    let texts = [
        ("corn corn wheat", "yes"),
        ("corn ship ship ship", "yes"),
        ("wheat corn money", "yes"),
        ("ship money", "no"),
        ("money money corn", "no"),
        ("ship oil oil", "no"),
        ("oil", "no"),
    ];
    let documents: Vec<Document> = texts
        .iter()
        .map(|(text, label)| document(text, &[label]))
        .collect();
    let settings = FitSettings {
        calibrator: CalibratorKind::None,
        folds: 2,
        ..bernoulli()
    };
    let model = fitted(&documents, &settings);
    assert_eq!(
        model.as_single().unwrap().settings().weighting,
        Some(WeightingSettings {
            weighting: Weighting::Binary,
            l2_norm: false
        })
    );
    let vocabulary = ["corn", "wheat", "ship", "money", "oil"];
    for text in [
        "corn corn corn",
        "money ship",
        "",
        "oil oil corn wheat money ship",
    ] {
        let expected = by_brute_force(&documents, &vocabulary, text);
        let found = model.predict(text)[1].log_odds();
        assert!(
            (found - expected).abs() < 1e-12,
            "{text}: {found} {expected}"
        );
    }
}

#[test]
fn bernoulli_refuses_a_weighting_that_says_more_than_presence() {
    for (weighting, l2_norm) in [
        (Weighting::Tf, false),
        (Weighting::LogTfIdf, true),
        (Weighting::Binary, true),
    ] {
        let settings = FitSettings {
            weighting: Some(WeightingSettings { weighting, l2_norm }),
            ..bernoulli()
        };
        let error = fit_batches(&documents(30, 2, 20, 1), &settings, 30).unwrap_err();
        assert!(matches!(error, FitError::BadSetting { .. }), "{error}");
        assert!(error.to_string().contains("Bernoulli"), "{error}");
    }
}

#[test]
fn numbered_features_and_rules_are_there_or_not_to_bernoulli() {
    let mut random = Random::from_seed(2);
    let numbered: Vec<Document> = (0..60)
        .map(|number| {
            let features =
                (0..6).map(|feature| (feature * 2 + number % 2, 1.0 + random.below(4) as f32));
            Document {
                content: Content::Features(features.collect()),
                ..document("", &[["even", "odd"][number as usize % 2]])
            }
        })
        .collect();
    let model = fitted(&numbered, &bernoulli());
    let classes = |value: f32| {
        let mut classes = model.predict("");
        let content = Content::Features(vec![(0, value), (2, value)]);
        model.predict_into(&content, &mut PredictBuffers::default(), &mut classes);
        classes
    };
    assert_eq!(classes(1.0), classes(7.0));
    let settings = FitSettings {
        rules: Some("\"class 0\": w0 OR w3 OR w6 OR w9\n\"class 1\": w1 OR w4".into()),
        ..bernoulli()
    };
    let model = fitted(&documents(80, 2, 20, 3), &settings);
    assert_eq!(model.predict("w0 w0 w3 w6 w6"), model.predict("w0 w3 w6"));
}

fn features_of(documents: &[Document], limits: DocumentFrequencyLimits) -> (usize, Option<u32>) {
    let settings = FitSettings {
        calibrator: CalibratorKind::None,
        limits,
        ..with_classifier(naive_bayes(NaiveBayesKind::Multinomial))
    };
    let model = fitted(documents, &settings);
    let model = model.as_single().unwrap();
    (
        model.summary().features,
        model.settings().limits.min_documents,
    )
}

#[test]
fn rare_terms_are_features_where_documents_are_few() {
    // Every document has a word of its own beside three that are common.
    let corpus = |count: usize| -> Vec<Document> {
        (0..count)
            .map(|number| {
                let common = ["corn", "wheat", "oil"][number % 3];
                document(&format!("{common} own{number}"), &[["a", "b"][number % 2]])
            })
            .collect()
    };
    let usual = DocumentFrequencyLimits::default();
    let given = |least| DocumentFrequencyLimits {
        min_documents: Some(least),
        ..usual
    };
    let few = corpus(60);
    assert_eq!(features_of(&few, usual), (63, Some(1)));
    assert_eq!(features_of(&few, given(2)), (3, Some(2)));
    let many = corpus(12_000);
    assert_eq!(features_of(&many, usual), (3, Some(2)));
    assert_eq!(features_of(&many, given(1)), (12_003, Some(1)));
}

/// The documents with numbers and categories beside their texts.
fn beside(
    documents: &[Document],
    mut cells: impl FnMut(&Document) -> (Vec<Option<f64>>, Vec<Option<String>>),
) -> Vec<Document> {
    let mut with = |document: &Document| {
        let (numbers, categories) = cells(document);
        let record = Record {
            text: document.content.as_text().map(str::to_owned),
            numbers,
            categories,
            ..Record::default()
        };
        Document {
            content: Content::Record(Box::new(record)),
            ..document.clone()
        }
    };
    documents.iter().map(&mut with).collect()
}

fn fit_beside(documents: &[Document], fields: &Fields, settings: &FitSettings) -> Model {
    let mut corpus = TrainingCorpus::new(settings.column_space());
    corpus.add(
        DocumentCounter::new(settings)
            .unwrap()
            .count(documents.to_vec()),
    );
    fit(corpus, fields.clone(), settings, &NoProgress).unwrap()
}

fn accuracy(model: &Model) -> f64 {
    model.summary().held_out.accuracy.unwrap()
}

fn learners_by_similarity() -> [FitSettings; 2] {
    [
        Classifier::NearestNeighbours(NearestNeighbours::default()),
        Classifier::Rocchio(Rocchio::default()),
    ]
    .map(|classifier| FitSettings {
        calibrator: CalibratorKind::Platt,
        folds: 3,
        ..with_classifier(classifier)
    })
}

#[test]
fn a_column_of_noise_does_not_ruin_learners_by_similarity() {
    let texts = documents(150, 3, 60, 4);
    let mut random = Random::from_seed(9);
    let noisy = beside(&texts, |_| {
        let noise = (random.uniform() - 0.5) / random.open_uniform();
        (vec![Some(noise)], vec![Some(random.below(5).to_string())])
    });
    let fields = Fields {
        numeric: vec!["noise".into()],
        categorical: vec!["more".into()],
        ..Fields::default()
    };
    for settings in learners_by_similarity() {
        let name = settings.classifier.name();
        let alone = accuracy(&fitted(&texts, &settings));
        let with = accuracy(&fit_beside(&noisy, &fields, &settings));
        assert!(
            with > alone - 0.03,
            "{name}: {alone} alone, {with} beside noise"
        );
        let loud = FitSettings {
            side_factor: Some(1.0),
            ..settings
        };
        let drowned = accuracy(&fit_beside(&noisy, &fields, &loud));
        assert!(
            drowned < with - 0.1,
            "{name}: {drowned} as loud as the text, {with}"
        );
    }
}

#[test]
fn a_column_that_tells_the_classes_is_heard_by_learners_by_similarity() {
    // Half of the words mean nothing; the number is the class with some noise.
    let texts = documents(150, 3, 400, 4);
    let mut random = Random::from_seed(9);
    let telling = beside(&texts, |document| {
        let class: f64 = document.labels[0][6..].parse().unwrap();
        (vec![Some(class + 0.3 * random.uniform())], Vec::new())
    });
    let fields = Fields {
        numeric: vec!["size".into()],
        ..Fields::default()
    };
    for settings in learners_by_similarity() {
        let alone = accuracy(&fitted(&texts, &settings));
        let model = fit_beside(&telling, &fields, &settings);
        let with = accuracy(&model);
        let name = settings.classifier.name();
        assert!(
            with > alone + 0.1,
            "{name}: {alone} alone, {with} beside the number"
        );
        // What was chosen is kept, and given it is the same model.
        let chosen = model.as_single().unwrap().settings().clone();
        assert!(chosen.side_factor.is_some());
        assert!(
            fit_beside(&telling, &fields, &chosen).to_bytes().unwrap() == model.to_bytes().unwrap()
        );
    }
}

#[test]
fn fields_that_all_training_documents_share_are_no_second_intercept() {
    let texts = documents(90, 2, 40, 6);
    let shared = beside(&texts, |_| {
        let same = Some("same".to_owned());
        (vec![None, Some(7.0)], vec![same, None])
    });
    let fields = Fields {
        numeric: vec!["never".into(), "seven".into()],
        categorical: vec!["same".into(), "nothing".into()],
        ..Fields::default()
    };
    let settings = FitSettings {
        calibrator: CalibratorKind::None,
        ..FitSettings::default()
    };
    let model = fit_beside(&shared, &fields, &settings);
    let alone = fitted(&texts, &settings);
    assert_eq!(model.summary().features, alone.summary().features);
    // New documents lack what all had: it makes no difference.
    let mut classes = model.predict("");
    let new = Some("new".to_owned());
    for (numbers, categories) in [(vec![Some(3.0), None], vec![None, new]), (vec![], vec![])] {
        let record = Record {
            text: Some("w1 w2 w3".into()),
            numbers,
            categories,
            ..Record::default()
        };
        let content = Content::Record(Box::new(record));
        model.predict_into(&content, &mut PredictBuffers::default(), &mut classes);
        for (a, b) in classes.iter().zip(alone.predict("w1 w2 w3")) {
            // The rows come in another order, so the solver ends a little elsewhere.
            assert!((a.log_odds() - b.log_odds()).abs() < 0.02, "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_table_turned_into_reals_has_the_same_categories() {
    let texts = documents(120, 2, 200, 8);
    let shop = |document: &Document| {
        if document.labels[0] == "class 0" {
            3
        } else {
            12
        }
    };
    let fields = Fields {
        categorical: vec!["shop".into()],
        ..Fields::default()
    };
    let whole = beside(&texts, |document| {
        (vec![], vec![Some(shop(document).to_string())])
    });
    let real = beside(&texts, |document| {
        (vec![], vec![Some(format!("{}.0", shop(document)))])
    });
    let model = fit_beside(&whole, &fields, &FitSettings::default());
    let mut unknown = UnknownCells::default();
    for (whole, real) in whole.iter().zip(&real) {
        let mut classes = [model.predict(""), model.predict("")];
        let [a, b] = &mut classes;
        model.predict_into(&whole.content, &mut PredictBuffers::default(), a);
        model.predict_into(&real.content, &mut PredictBuffers::default(), b);
        assert_eq!(a, b);
        model.count_unknown_cells(&real.content, &mut unknown);
    }
    assert!(unknown.mostly().is_empty());
}
