//! Vectors as features, alone and beside words.

use crate::common;

use calibrant::FitError;
use calibrant::corpus::{Document, Fields, Record};
use calibrant::jobs::{ExplainError, PredictError, Predictor, explain};
use calibrant::numeric::Random;
use calibrant::pipeline::{Classifier, FitSettings, Model};
use calibrant::scorers::{LogisticRegression, NaiveBayes, NearestNeighbours, Perceptron, Rocchio};
use common::{fit_fields, with_classifier};

/// 120 documents of two classes, whose vectors point to different sides.
fn documents(words: bool) -> Vec<Document> {
    let mut random = Random::from_seed(3);
    let document = |number: usize| {
        let class = number % 2;
        let mut noise = || random.uniform() as f32 - 0.5;
        let side = if class == 0 { 0.6 } else { -0.6 };
        let record = Record::new().vector([side + noise(), noise(), 2.0 * noise(), noise()]);
        let record = match words {
            true => record.text(format!("w{} w{}", number % 7, number % 5)),
            false => record,
        };
        Document::new(record).label(["north", "south"][class])
    };
    (0..120).map(document).collect()
}

fn fields() -> Fields {
    Fields {
        vector: vec!["embedding".into()],
        ..Fields::default()
    }
}

fn logistic() -> FitSettings {
    with_classifier(Classifier::LogisticRegression(LogisticRegression::default()))
}

fn fitted(documents: &[Document], settings: &FitSettings) -> Model {
    fit_fields(documents, fields(), settings, 50).unwrap()
}

#[test]
fn a_score_is_the_dot_product_with_the_vector_brought_to_its_length() {
    let settings = FitSettings {
        vector_factor: Some(3.0),
        ..logistic()
    };
    let model = fitted(&documents(false), &settings);
    let single = model.as_single().unwrap();
    let scorer = single.scorer().as_linear().unwrap();
    // By hand: the length of (3, 0, 4, 0) is 5, and 3/5 of it is (1.8, 0, 2.4, 0).
    let weight = |column: usize| scorer.weight(column, 0);
    let parts = 1.8 * weight(0) + 2.4 * weight(2);
    let content = Document::new(Record::new().vector([3.0, 0.0, 4.0, 0.0]));
    let explained = model.explain(&content.content, 1);
    assert_eq!(explained.terms.len(), 1);
    let term = &explained.terms[0];
    assert_eq!((term.term.as_str(), term.count), ("embedding", 1.0));
    assert!((term.score - parts).abs() < 1e-6, "{} {parts}", term.score);
    assert!((term.value - 3.0).abs() < 1e-6, "{}", term.value);
    let names = single.extractor().feature_names();
    assert_eq!(names[3].as_deref(), Some("embedding[3]"));
    // A longer vector of the same direction says the same.
    let longer = Document::new(Record::new().vector([30.0, 0.0, 40.0, 0.0]));
    let again = model.explain(&longer.content, 1);
    assert!((again.score - explained.score).abs() < 1e-6);
}

#[test]
fn learners_of_values_learn_from_vectors_and_others_refuse_them() {
    for words in [false, true] {
        let documents = documents(words);
        for classifier in [
            Classifier::default(),
            logistic().classifier,
            Classifier::Perceptron(Perceptron::default()),
            Classifier::NearestNeighbours(NearestNeighbours::default()),
            Classifier::Rocchio(Rocchio::default()),
        ] {
            let name = classifier.name();
            let model = fitted(&documents, &with_classifier(classifier));
            let accuracy = model.summary().held_out.accuracy.unwrap();
            assert!(accuracy > 0.8, "{name}: {accuracy}");
            assert_eq!(model.fields().vector_lengths, [4]);
            let lists = model.as_single().unwrap().strongest_terms(3);
            let mut named = lists.into_iter().flatten().flatten();
            assert!(named.all(|(term, _)| !term.starts_with("embedding")));
        }
        let bayes = with_classifier(Classifier::NaiveBayes(NaiveBayes::default()));
        let error = fit_fields(&documents, fields(), &bayes, 50).unwrap_err();
        assert!(
            matches!(&error, FitError::NumbersForCounts { field } if field == "embedding"),
            "{error}"
        );
    }
}

#[test]
fn vectors_of_several_lengths_are_refused_whatever_batch_they_are_in() {
    let mut documents = documents(true);
    let odd = Document::new(Record::new().text("w1").vector([1.0, 2.0]));
    documents.push(odd.label("north"));
    for batch in [7, 200] {
        let error = fit_fields(&documents, fields(), &logistic(), batch).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`embedding` must have one length"),
            "{error}"
        );
    }
    documents.pop();
    let model = fitted(&documents, &logistic());
    let odd = Record::new().text("w1").vector([1.0, 2.0]);
    let predicted = Predictor::new(&model).predict_content(&odd);
    assert!(matches!(
        predicted,
        Err(PredictError::VectorLength {
            found: 2,
            learned: 4,
            ..
        })
    ));
    let explained = explain(&model, &odd, &[]);
    assert!(matches!(explained, Err(ExplainError::VectorLength { .. })));
}

#[test]
fn models_are_saved_and_vectors_are_part_of_a_document() {
    let mut all = documents(true);
    // The same words with another vector are another document; the very same is a copy.
    let words = || Record::new().text("w0 w0");
    all.push(Document::new(words().vector([1.0, 0.0, 0.0, 0.0])).label("north"));
    all.push(Document::new(words().vector([0.0, 1.0, 0.0, 0.0])).label("north"));
    all.push(Document::new(words().vector([0.0, 1.0, 0.0, 0.0])).label("north"));
    // A vector that is missing, and one without direction, tell the same.
    all.push(
        Document::new(Record {
            vectors: vec![None],
            ..words()
        })
        .label("north"),
    );
    all.push(Document::new(words().vector([0.0; 4])).label("north"));
    let model = fitted(&all, &logistic());
    assert_eq!(model.summary().copies, 2);
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.fields(), model.fields());
    for document in &all {
        assert_eq!(
            model.explain(&document.content, 1),
            again.explain(&document.content, 1)
        );
    }
    let mut turned = all.clone();
    turned.reverse();
    let turned = fit_fields(&turned, fields(), &logistic(), 9).unwrap();
    assert!(turned.to_bytes().unwrap() == model.to_bytes().unwrap());
    // A weight of 2 is the document twice.
    let mut heavy = all.clone();
    heavy[3].weight = 2.0;
    let mut twice = all.clone();
    twice.push(all[3].clone());
    let row = &all[5].content;
    let [heavy, twice] = [heavy, twice].map(|rows| fitted(&rows, &logistic()).explain(row, 1));
    assert!(
        (heavy.score - twice.score).abs() < 1e-3,
        "{} {}",
        heavy.score,
        twice.score
    );
}
