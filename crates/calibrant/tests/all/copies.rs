//! A copy of a document is the same document with more weight, in everything.

use crate::common;
mod corpora;
mod observations;

use calibrant::calibration::MulticlassKind;
use calibrant::corpus::Document;
use calibrant::features::DocumentFrequencyLimits;
use calibrant::numeric::Random;
use calibrant::pipeline::{Acquaintance, Classifier, FitSettings, Model, PredictBuffers};
use calibrant::scorers::{NaiveBayesKind, Rocchio};
use common::{
    bursty_documents, document, documents, fit_batches, fitted, learners, multi_label_documents,
    naive_bayes, setups, with_classifier,
};

/// The log-odds of every class for some texts.
fn log_odds(model: &Model, texts: &[Document]) -> Vec<f64> {
    let predict = |document: &Document| model.predict(document.content.as_text().unwrap());
    let classes = texts.iter().flat_map(predict);
    classes.map(|class| class.log_odds()).collect()
}

#[track_caller]
fn same_forecasts(name: &str, one: &Model, other: &Model, texts: &[Document]) {
    for (a, b) in log_odds(one, texts).iter().zip(log_odds(other, texts)) {
        assert!((a - b).abs() < 1e-6, "{name}: {a} and {b}");
    }
    let (one, other) = (&one.summary().held_out, &other.summary().held_out);
    assert!(
        (one.log_loss - other.log_loss).abs() < 1e-9,
        "{name}: {one:?} {other:?}"
    );
}

fn repeated(documents: &[Document], times: impl Fn(usize) -> usize) -> Vec<Document> {
    let rows = documents.iter().enumerate();
    rows.flat_map(|(row, document)| vec![document.clone(); times(row)])
        .collect()
}

fn weighted(documents: &[Document], weight: impl Fn(usize) -> f64) -> Vec<Document> {
    let rows = documents.iter().enumerate();
    rows.map(|(row, document)| Document {
        weight: weight(row),
        ..document.clone()
    })
    .collect()
}

fn all_setups() -> Vec<(&'static str, FitSettings)> {
    let mut all = setups();
    all.push((
        "Rocchio",
        with_classifier(Classifier::Rocchio(Rocchio::default())),
    ));
    all
}

#[test]
fn every_row_three_times_is_every_row_once() {
    let texts = documents(20, 3, 30, 99);
    for (corpus, once) in [
        ("one label", documents(60, 3, 30, 4)),
        ("two classes", documents(60, 2, 30, 4)),
        ("several", multi_label_documents(60, 3, 4)),
    ] {
        let thrice = repeated(&once, |_| 3);
        for (name, settings) in all_setups() {
            let each = [MulticlassKind::Auto, MulticlassKind::OneVsRest];
            if corpus == "several" && !each.contains(&settings.multiclass) {
                continue;
            }
            let (a, b) = (fitted(&once, &settings), fitted(&thrice, &settings));
            same_forecasts(&format!("{name}, {corpus}"), &a, &b, &texts);
            let (a, b) = (a.summary(), b.summary());
            assert_eq!((a.documents, a.copies), (60, 0));
            assert_eq!((b.documents, b.copies), (180, 120));
            assert_eq!(3 * a.classes[0].positives, b.classes[0].positives);
        }
    }
}

#[test]
fn what_terms_say_in_long_documents_does_not_depend_on_copies() {
    let settings = with_classifier(naive_bayes(NaiveBayesKind::Multinomial));
    let damping = |model: &Model| {
        let scorer = model.as_single().unwrap().scorer();
        scorer.as_linear().unwrap().damping()
    };
    // What is said once and what is said twenty times tell the same.
    let once = bursty_documents(400, 3, 1);
    let thrice = fitted(&repeated(&once, |_| 3), &settings);
    let once = fitted(&once, &settings);
    assert!(damping(&once).is_some_and(|found| found.exponent >= 0.5));
    assert_eq!(damping(&once), damping(&thrice));
    same_forecasts("bursts", &once, &thrice, &bursty_documents(30, 3, 2));
    // Words that are drawn one by one each say as much as the first.
    let drawn = fitted(&documents(400, 3, 60, 1), &settings);
    assert_eq!(damping(&drawn), None);
}

#[test]
fn weights_are_repetitions_and_only_their_ratios_count() {
    let texts = documents(20, 3, 30, 98);
    for (corpus, plain) in [
        ("one label", documents(50, 3, 30, 5)),
        ("two classes", documents(50, 2, 30, 5)),
        ("several", multi_label_documents(50, 3, 5)),
    ] {
        let often = repeated(&plain, |row| 1 + row % 3);
        let heavy = weighted(&plain, |row| (1 + row % 3) as f64);
        let light = weighted(&plain, |row| (1 + row % 3) as f64 * 1e-6);
        let equal = weighted(&plain, |_| 1.0 / 50.0);
        for (name, settings) in learners() {
            let name = format!("{name}, {corpus}");
            let of_weights = fitted(&heavy, &settings);
            same_forecasts(&name, &fitted(&often, &settings), &of_weights, &texts);
            same_forecasts(&name, &fitted(&light, &settings), &of_weights, &texts);
            let unweighted = fitted(&plain, &settings);
            assert_eq!(
                unweighted.to_bytes().unwrap(),
                fitted(&equal, &settings).to_bytes().unwrap(),
                "{name}"
            );
        }
    }
}

#[test]
fn what_the_model_cannot_tell_apart_is_a_copy() {
    let once = documents(40, 2, 30, 6);
    let mut twice = once.clone();
    for (row, document) in once.iter().enumerate() {
        // The same words in another order, other letters and an identifier.
        let text = document.content.as_text().unwrap();
        let mut words: Vec<&str> = text.split(' ').collect();
        words.reverse();
        let text = words.join(" -- ").to_uppercase();
        twice.push(Document {
            id: Some(row.to_string()),
            ..common::document(&text, &[document.labels[0].as_str()])
        });
    }
    let settings = with_classifier(Classifier::default());
    let (a, b) = (fitted(&once, &settings), fitted(&twice, &settings));
    assert_eq!((a.summary().copies, b.summary().copies), (0, 40));
    let documents = |model: &Model| {
        let extractor = model.as_single().unwrap().extractor();
        (
            extractor.weighting().collection_size(),
            extractor.weighting().document_frequencies().to_vec(),
        )
    };
    assert_eq!(documents(&a), documents(&b));
}

#[test]
fn document_frequencies_and_their_limits_count_documents_once() {
    // `rare` is in one document, which comes three times, once with another label.
    let mut rows = documents(40, 2, 30, 7);
    rows.extend(["class 0", "class 0", "class 1"].map(|label| document("rare w1", &[label])));
    let settings = FitSettings {
        limits: DocumentFrequencyLimits {
            min_documents: Some(2),
            ..DocumentFrequencyLimits::default()
        },
        ..FitSettings::default()
    };
    let model = fitted(&rows, &settings);
    let extractor = model.as_single().unwrap().extractor();
    let vocabulary = extractor.vocabulary().unwrap();
    assert!(vocabulary.get("rare").is_none() && vocabulary.get("w1").is_some());
    assert_eq!(extractor.weighting().collection_size().0, 41);
    let summary = model.summary();
    assert_eq!((summary.documents, summary.copies), (43, 2));
}

#[test]
fn bytes_depend_neither_on_the_order_of_copies_nor_on_threads() {
    let mut random = Random::from_seed(3);
    let mut rows = repeated(&documents(60, 3, 30, 8), |row| 1 + row % 3);
    for row in &mut rows {
        if random.below(10) == 0 {
            row.labels = vec![format!("class {}", random.below(3))];
        }
        row.weight = [1.0, 0.7, 0.1][random.below(3)];
    }
    for (name, settings) in learners().into_iter().step_by(3) {
        let bytes = fit_batches(&rows, &settings, 7)
            .unwrap()
            .to_bytes()
            .unwrap();
        random.shuffle(&mut rows);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let again = pool.install(|| {
            fit_batches(&rows, &settings, 50)
                .unwrap()
                .to_bytes()
                .unwrap()
        });
        assert!(bytes == again, "{name}");
    }
}

/// Two classes that are hard to distinguish, with many words of which each says little.
fn hard(count: usize, seed: u64) -> Vec<Document> {
    let mut random = Random::from_seed(seed);
    (0..count)
        .map(|_| {
            let class = random.below(2);
            let words: Vec<String> = (0..12)
                .map(|_| match random.below(12) {
                    0 => format!("own{}", random.below(40) * 2 + class),
                    _ => format!("any{}", random.below(1000)),
                })
                .collect();
            document(&words.join(" "), &[&format!("class {class}")])
        })
        .collect()
}

/// How far the errors on the test documents are from those that the forecasts promise, in standard errors.
fn surprise(model: &Model, test: &[Document], training_count: usize) -> f64 {
    let (mut observed, mut expected, mut variance) = (0.0, 0.0, 0.0);
    for document in test {
        let classes = model.predict(document.content.as_text().unwrap());
        let (top, p) = classes
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.log_odds().total_cmp(&b.1.log_odds()))
            .unwrap();
        let error = p.complement().value();
        let right = model.class_names().nth(top) == Some(document.labels[0].as_str());
        observed += f64::from(u8::from(!right));
        expected += error;
        variance += error * (1.0 - error);
    }
    let spread = variance * (1.0 + test.len() as f64 / training_count as f64);
    (observed - expected) / spread.sqrt()
}

#[test]
fn a_tenth_of_copies_some_with_another_label_does_not_spoil_the_promise() {
    let settings = FitSettings::default();
    for seed in 0..3 {
        let (once, test) = (hard(3000, seed), hard(2000, 1000 + seed));
        let mut rows = once.clone();
        let mut random = Random::from_seed(seed);
        for copy in 0..300 {
            let mut row = once[random.below(3000)].clone();
            if copy % 5 == 0 {
                row.labels = vec![format!("class {}", random.below(2))];
            }
            rows.push(row);
        }
        let model = fitted(&rows, &settings);
        let z = surprise(&model, &test, 3000);
        assert!(z.abs() <= 3.0, "z = {z:.2} with seed {seed}");
        assert!(model.summary().copies >= 300);
    }
}

#[test]
fn copies_on_both_sides_of_a_fold_would_be_noticed() {
    // A word of its own, which is too rare to be a feature, makes each copy another document.
    let once = hard(1500, 7);
    let marked = repeated(&once, |_| 3);
    let disguised: Vec<Document> = marked
        .iter()
        .enumerate()
        .map(|(number, row)| {
            let text = row.content.as_text().unwrap();
            document(&format!("{text} unique{number}"), &[&row.labels[0]])
        })
        .collect();
    let test = hard(1500, 8);
    let settings = FitSettings {
        limits: DocumentFrequencyLimits {
            min_documents: Some(2),
            ..DocumentFrequencyLimits::default()
        },
        ..FitSettings::default()
    };
    let z = |rows: &[Document]| surprise(&fitted(rows, &settings), &test, 1500);
    let (honest, leaking) = (z(&marked), z(&disguised));
    assert!(
        honest.abs() <= 3.0 && leaking > 8.0,
        "{honest:.2} {leaking:.2}"
    );
}

/// Threads of five messages that share words and, mostly, a label which nothing else tells.
fn threads(count: usize, seed: u64) -> Vec<Document> {
    let mut random = Random::from_seed(seed);
    let mut rows = Vec::new();
    for thread in 0..count {
        let label = format!("class {}", random.below(3));
        for _ in 0..5 {
            let mut words: Vec<String> = (0..6)
                .map(|_| format!("any{}", random.below(500)))
                .collect();
            words.extend((0..4).map(|word| format!("t{seed}x{thread}x{word}")));
            rows.push(Document {
                group: Some(format!("thread {thread}")),
                ..document(&words.join(" "), &[&label])
            });
        }
    }
    rows
}

#[test]
fn what_belongs_together_is_held_out_together() {
    let settings = FitSettings::default();
    let training = threads(120, 1);
    let apart: Vec<Document> = training
        .iter()
        .map(|row| Document {
            group: None,
            ..row.clone()
        })
        .collect();
    let test = threads(120, 2);
    let right = |model: &Model| {
        let hit = |row: &&Document| {
            let classes = model.predict(row.content.as_text().unwrap());
            let top =
                (0..3).max_by(|&a, &b| classes[a].log_odds().total_cmp(&classes[b].log_odds()));
            model.class_names().nth(top.unwrap()) == Some(row.labels[0].as_str())
        };
        test.iter().filter(hit).count() as f64 / test.len() as f64
    };
    let (grouped, apart) = (fitted(&training, &settings), fitted(&apart, &settings));
    let promised = |model: &Model| model.summary().held_out.accuracy.unwrap();
    // Nothing can be known of a new thread: a third is right by chance.
    assert!(
        promised(&apart) > right(&apart) + 0.3,
        "{} {}",
        promised(&apart),
        right(&apart)
    );
    assert!(
        (promised(&grouped) - right(&grouped)).abs() < 0.12,
        "{} {}",
        promised(&grouped),
        right(&grouped)
    );
    assert_eq!(
        (grouped.summary().groups, apart.summary().groups),
        (Some(120), None)
    );
    // Who asks for predictions need not know of threads.
    assert!(grouped.fields().group.is_none());
}

#[test]
fn a_model_knows_what_it_learned_from() {
    let (training, fresh) = (documents(300, 3, 900, 11), documents(300, 3, 900, 12));
    for settings in [
        FitSettings::default(),
        FitSettings {
            hash_bits: Some(12),
            ..FitSettings::default()
        },
    ] {
        let model = fitted(&training, &settings);
        let known = |model: &Model, documents: &[Document]| {
            let (mut counts, mut buffer) = (Acquaintance::default(), PredictBuffers::default());
            for row in documents {
                model.count_known(&row.content, &mut buffer, &mut counts);
            }
            counts.learned_from()
        };
        assert_eq!(known(&model, &training), Some(300));
        assert_eq!(known(&model, &fresh), None);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        model.save(&path).unwrap();
        assert_eq!(
            known(&Model::open(&path).unwrap(), &training[..150]),
            Some(150)
        );
        let without = FitSettings {
            training_keys: false,
            ..settings
        };
        assert_eq!(known(&fitted(&training, &without), &training), None);
    }
}
