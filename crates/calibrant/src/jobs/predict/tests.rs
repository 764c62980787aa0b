use super::*;
use crate::NoProgress;
use crate::corpus::{ReadOptions, Source};
use crate::jobs::AdaptPrior;
use crate::jobs::testing::{file_of, model_of, three_classes};

fn of_source<'m>(
    predictor: &Predictor<'m>,
    documents: &[Document],
) -> (Vec<Prediction<'m>>, PredictSummary) {
    let file = file_of(documents);
    let options = ReadOptions::default();
    let mut all = Vec::new();
    let source = Source::Path(file.path().to_owned());
    let summary = predictor
        .predict_source(&source, &options, &NoProgress, |prediction| {
            all.push(prediction);
            Ok::<(), PredictError>(())
        })
        .unwrap();
    (all, summary)
}

#[test]
fn a_text_a_document_a_batch_and_a_source_are_predicted_alike() {
    let documents = three_classes();
    let model = model_of(&documents);
    for predictor in [
        Predictor::new(&model),
        Predictor::new(&model).top(2).scores().unwrap(),
        Predictor::new(&model)
            .prior(&PriorChoice::Given(vec![("food".into(), 0.6)]))
            .unwrap(),
        Predictor::new(&model).other(OtherRule::Loss(0.1)).unwrap(),
    ] {
        let (all, summary) = of_source(&predictor, &documents);
        assert_eq!(summary.documents, documents.len() as u64);
        assert_eq!(predictor.predict_batch(&documents).unwrap().0, all);
        for (document, prediction) in documents.iter().zip(&all) {
            assert_eq!(predictor.predict(document).unwrap(), *prediction);
            let text = document.content.as_text().unwrap();
            assert_eq!(
                predictor.predict_text(text).unwrap().classes,
                prediction.classes
            );
            assert!(
                prediction
                    .classes
                    .is_sorted_by(|a, b| a.log_odds >= b.log_odds)
            );
        }
    }
}

#[test]
fn probabilities_are_the_models_and_the_rest_is_as_asked() {
    let documents = three_classes();
    let model = model_of(&documents);
    let text = documents[0].content.as_text().unwrap();
    let plain = model.predict(text);
    let all = Predictor::new(&model).predict_text(text).unwrap();
    assert_eq!(all.classes.len(), 3);
    for (name, probability) in model.class_names().zip(&plain) {
        let found = all.of_class(name).unwrap();
        assert_eq!(
            (found.probability, found.log_odds),
            (probability.value(), probability.log_odds())
        );
        assert_eq!(found.score, None);
    }
    let best = Predictor::new(&model).top(1).predict_text(text).unwrap();
    assert_eq!(best.classes, all.classes[..1]);
    let scored = Predictor::new(&model)
        .scores()
        .unwrap()
        .predict_text(text)
        .unwrap();
    assert!(scored.classes.iter().all(|class| class.score.is_some()));
    let open = Predictor::new(&model).other(OtherRule::Loss(0.1)).unwrap();
    let open = open.predict_text(text).unwrap();
    let sum: f64 = open.classes.iter().map(|class| class.probability).sum();
    assert!(
        open.classes.len() == 4 && open.of_class("other").is_some() && (sum - 1.0).abs() < 1e-12
    );
}

#[test]
fn estimated_shares_need_all_documents() {
    let documents = three_classes();
    let model = model_of(&documents);
    // Twice as much food as in training.
    let skewed: Vec<Document> = documents
        .iter()
        .filter(|d| d.labels[0] == "food")
        .cloned()
        .collect();
    let choice = PriorChoice::Estimated(AdaptPrior::Always);
    let predictor = Predictor::new(&model).prior(&choice).unwrap();
    assert!(matches!(
        predictor.predict(&documents[0]),
        Err(PredictError::OneDocument)
    ));
    let (batch, report) = predictor.predict_batch(&skewed).unwrap();
    let report = report.unwrap();
    assert!(report.applied && report.new[0] > report.old[0]);
    let (all, summary) = of_source(&predictor, &skewed);
    assert_eq!((batch, report.new), (all, summary.prior.unwrap().new));
}

#[test]
fn what_cannot_go_together_is_refused() {
    let documents = three_classes();
    let model = model_of(&documents);
    let given = PriorChoice::Given(vec![("food".into(), 0.6)]);
    let settings = PredictSettings {
        prior: given.clone(),
        other: Some(OtherRule::Balanced),
        ..PredictSettings::default()
    };
    let refused = Predictor::with_settings(&model, &settings);
    assert!(matches!(refused, Err(PredictError::OtherWithPrior)));
    let other = Predictor::new(&model).other(OtherRule::Balanced).unwrap();
    assert!(matches!(
        other.clone().prior(&given),
        Err(PredictError::OtherWithPrior)
    ));
    assert!(matches!(other.scores(), Err(PredictError::OtherWithScores)));
    let mut named = documents;
    named
        .iter_mut()
        .filter(|d| d.labels[0] == "food")
        .for_each(|d| d.labels[0] = "other".into());
    let model = model_of(&named);
    let refused = Predictor::new(&model).other(OtherRule::Balanced);
    assert!(matches!(refused, Err(PredictError::OtherIsAClass)));
}

#[test]
fn a_sink_that_fails_ends_the_reading() {
    let documents = three_classes();
    let model = model_of(&documents);
    let file = file_of(&documents);
    let source = Source::Path(file.path().to_owned());
    let mut seen = 0;
    let stopped = Predictor::new(&model).predict_source(
        &source,
        &ReadOptions::default(),
        &NoProgress,
        |_| {
            seen += 1;
            Err(PredictError::NoScores)
        },
    );
    assert!(matches!(stopped, Err(PredictError::NoScores)) && seen == 1);
}
