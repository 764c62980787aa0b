//! Models from arrays, beside models from the same numbers in a file.

use calibrant::corpus::{ContentRef, Document, Fields, ReadOptions, Source, read_all};
use calibrant::features::{Csr, CsrError, SparseMatrix};
use calibrant::jobs::{
    EvaluateSettings, Evaluated, ExplainError, PredictError, Predictor, evaluate_documents,
    evaluate_source, explain, explain_row, fit_rows, predict_rows,
};
use calibrant::numeric::Random;
use calibrant::pipeline::{
    FitSettings, Model, PredictBuffers, RowClasses, TrainingCorpus, TrainingRows, fit,
};
use calibrant::scorers::LearnerName;
use calibrant::{FitError, NoProgress, Probability, RowLabels};

/// Rows of three classes with a few columns of each class's own, some of them twice over.
struct Rows {
    starts: Vec<i32>,
    columns: Vec<i32>,
    values: Vec<f32>,
    classes: Vec<u32>,
}

fn rows(count: usize) -> Rows {
    let mut random = Random::from_seed(17);
    let mut rows = Rows {
        starts: vec![0],
        columns: Vec::new(),
        values: Vec::new(),
        classes: Vec::new(),
    };
    for row in 0..count {
        let class = random.below(3);
        // Every tenth row is a copy of a common pattern.
        let chosen: Vec<usize> = (0..30)
            .filter(|column| match row % 10 {
                0 => column % 10 == class,
                _ => random.uniform() < if column % 3 == class { 0.4 } else { 0.15 },
            })
            .collect();
        for column in chosen {
            rows.columns.push(column as i32);
            rows.values.push((1 + random.below(4)) as f32 / 2.0);
        }
        rows.starts.push(rows.columns.len() as i32);
        rows.classes.push(class as u32);
    }
    rows
}

impl Rows {
    fn csr(&self) -> Csr<'_, i32, i32, f32> {
        Csr::new(&self.starts, &self.columns, &self.values).unwrap()
    }

    /// The same in the format of a file.
    fn svmlight(&self) -> String {
        let line = |row: usize| {
            let range = self.starts[row] as usize..self.starts[row + 1] as usize;
            let entries: Vec<String> = range
                .map(|entry| format!("{}:{}", self.columns[entry], self.values[entry]))
                .collect();
            format!("{} {}\n", self.classes[row], entries.join(" "))
        };
        (0..self.classes.len()).map(line).collect()
    }

    fn documents(&self) -> Vec<Document> {
        let source = Source::bytes("rows.svmlight", self.svmlight().into_bytes());
        let options = ReadOptions::default();
        read_all(&source, &options, &NoProgress).unwrap().0
    }
}

fn fit_documents(documents: Vec<Document>, settings: &FitSettings) -> Model {
    let corpus = TrainingCorpus::of_documents(settings, documents).unwrap();
    fit(corpus, Fields::default(), settings, &NoProgress).unwrap()
}

/// The file that a model is saved in.
fn bytes(model: &Model) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.calibrant");
    model.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn with(name: &str) -> FitSettings {
    let name: LearnerName = name.parse().unwrap();
    FitSettings {
        classifier: name.classifier(),
        ..FitSettings::default()
    }
}

#[test]
fn rows_give_the_model_of_the_same_numbers_in_a_file() {
    let rows = rows(150);
    let csr = rows.csr();
    // A linear SVM counts rows where terms have to come twice; else it reads them where they lie.
    let mut counted = with("svm");
    counted.limits.min_documents = Some(2);
    let names = ["naive-bayes", "bernoulli-naive-bayes", "rocchio"];
    for settings in names.map(with).into_iter().chain([counted]) {
        let name = settings.classifier.name();
        let of_file = fit_documents(rows.documents(), &settings);
        let training = TrainingRows::new(&csr, &rows.classes);
        let of_rows = fit_rows(&training, &settings, &NoProgress).unwrap();
        assert_eq!(bytes(&of_file), bytes(&of_rows), "{name}");
        let forecasts = predict_rows(&of_rows, &csr).unwrap();
        let (mut buffers, width) = (PredictBuffers::default(), of_file.class_count());
        let mut classes = vec![Probability::from_log_odds(0.0); width];
        for (document, stated) in rows.documents().iter().zip(forecasts.chunks(width)) {
            of_file.predict_into(document, &mut buffers, &mut classes);
            for (stated, expected) in stated.iter().zip(&classes) {
                assert!((stated.log_odds() - expected.log_odds()).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn rows_read_where_they_lie_are_forecast_as_the_same_numbers_in_a_file() {
    let rows = rows(400);
    let csr = rows.csr();
    for name in ["svm", "logistic"] {
        let settings = with(name);
        let of_file = fit_documents(rows.documents(), &settings);
        let training = TrainingRows::new(&csr, &rows.classes);
        let of_rows = fit_rows(&training, &settings, &NoProgress).unwrap();
        let [file, own] = [&of_file, &of_rows].map(|model| predict_rows(model, &csr).unwrap());
        for (file, own) in file.iter().zip(own) {
            assert!((file.value() - own.value()).abs() < 0.02, "{name}");
        }
    }
}

#[test]
fn the_types_of_the_arrays_change_nothing_and_the_order_of_entries_next_to_nothing() {
    let rows = rows(60);
    let settings = FitSettings::default();
    let csr = rows.csr();
    let expected = bytes(
        &fit_rows(
            &TrainingRows::new(&csr, &rows.classes),
            &settings,
            &NoProgress,
        )
        .unwrap(),
    );
    let starts: Vec<i64> = rows.starts.iter().map(|&start| start.into()).collect();
    let columns: Vec<usize> = rows.columns.iter().map(|&column| column as usize).collect();
    let values: Vec<f64> = rows.values.iter().map(|&value| value.into()).collect();
    let wide = Csr::new(&starts, &columns, &values).unwrap();
    let model = fit_rows(
        &TrainingRows::new(&wide, &rows.classes),
        &settings,
        &NoProgress,
    );
    assert_eq!(bytes(&model.unwrap()), expected);
    let matrix = SparseMatrix::from_rows(
        30,
        rows.starts.windows(2).map(|bounds| {
            let range = bounds[0] as usize..bounds[1] as usize;
            let columns = rows.columns[range.clone()]
                .iter()
                .map(|&column| column as u32);
            columns.zip(rows.values[range].iter().copied()).collect()
        }),
    );
    // Sums in another order may end a solver a pass earlier or later: the same to its gap, ten times as wide for folds.
    let fit = |rows: &TrainingRows<'_>| fit_rows(rows, &settings, &NoProgress).unwrap();
    let of_matrix = fit(&TrainingRows::new(&matrix, &rows.classes));
    let of_arrays = fit(&TrainingRows::new(&csr, &rows.classes));
    let [one, other] = [of_matrix, of_arrays].map(|model| predict_rows(&model, &csr).unwrap());
    for (one, other) in one.iter().zip(other) {
        let (one, other) = (one.value(), other.value());
        assert!((one - other).abs() < 0.02, "{one} {other}");
    }
}

#[test]
fn labels_weights_and_groups_are_those_of_documents() {
    let rows = rows(120);
    let weights: Vec<f64> = (0..120).map(|row| f64::from(1 + row % 3)).collect();
    let groups: Vec<u64> = (0..120).map(|row| row / 4).collect();
    let classes: Vec<Vec<u32>> = rows
        .classes
        .iter()
        .enumerate()
        .map(|(row, &class)| match row % 5 {
            0 => vec![],
            1 => vec![class, (class + 1) % 3],
            _ => vec![class],
        })
        .collect();
    let names = ["wheat", "acq", "oat"].map(str::to_owned);
    let documents = rows.documents().into_iter().enumerate();
    let documents = documents.map(|(row, document)| {
        let labels = classes[row]
            .iter()
            .map(|&class| names[class as usize].clone());
        let mut labels: Vec<String> = labels.collect();
        labels.sort();
        Document {
            labels,
            labels_were_list: true,
            weight: weights[row],
            group: Some(groups[row].to_string()),
            ..document
        }
    });
    let settings = with("naive-bayes");
    let of_documents = fit_documents(documents.collect(), &settings);
    let (csr, classes) = (rows.csr(), RowLabels::from(classes));
    let training = TrainingRows {
        classes: RowClasses::Several(&classes),
        class_names: &names,
        weights: Some(&weights),
        groups: Some(&groups),
        ..TrainingRows::new(&csr, &[])
    };
    let of_rows = fit_rows(&training, &settings, &NoProgress).unwrap();
    assert_eq!(bytes(&of_documents), bytes(&of_rows));
    assert_eq!(
        of_rows.class_names().collect::<Vec<_>>(),
        ["acq", "oat", "wheat"]
    );
}

#[test]
fn rows_without_weight_are_left_out_and_arrays_that_do_not_fit_are_refused() {
    let rows = rows(80);
    let settings = FitSettings::default();
    let csr = rows.csr();
    let weights: Vec<f64> = (0..80).map(|row| f64::from(u8::from(row < 60))).collect();
    let all = TrainingRows::new(&csr, &rows.classes);
    let weighed = TrainingRows {
        weights: Some(&weights),
        ..all
    };
    let few = Csr::new(&rows.starts[..61], &rows.columns, &rows.values).unwrap();
    let few = TrainingRows::new(&few, &rows.classes[..60]);
    let model = |rows: &TrainingRows<'_>| fit_rows(rows, &settings, &NoProgress);
    assert_eq!(
        bytes(&model(&weighed).unwrap()),
        bytes(&model(&few).unwrap())
    );
    let short = TrainingRows::new(&csr, &rows.classes[..79]);
    let refused = model(&short).unwrap_err();
    assert!(
        matches!(refused, FitError::LengthMismatch { .. }),
        "{refused}"
    );
    let names = ["one".to_owned()];
    let unnamed = TrainingRows {
        class_names: &names,
        ..all
    };
    assert!(matches!(model(&unnamed), Err(FitError::BadSetting { .. })));
    let falling = Csr::new(&[0, 5, 3], &rows.columns, &rows.values).unwrap_err();
    assert_eq!(falling, CsrError::BadStart { row: 2 });
}

#[test]
fn a_row_is_explained_by_the_names_of_its_columns() {
    let rows = rows(90);
    let csr = rows.csr();
    let training = TrainingRows::new(&csr, &rows.classes);
    let model = fit_rows(&training, &FitSettings::default(), &NoProgress).unwrap();
    let names: Vec<String> = (0..30).map(|column| format!("column {column}")).collect();
    let explanation = explain_row(&model, &csr, 4, 1, &names).unwrap();
    let sum: f64 = explanation.terms.iter().map(|term| term.log_odds).sum();
    let total = explanation.base_log_odds + sum;
    assert!((total - explanation.calibrated_log_odds).abs() < 1e-9);
    assert!(!explanation.terms.is_empty());
    assert!(
        explanation
            .terms
            .iter()
            .all(|term| term.term.starts_with("column "))
    );
    let unnamed = explain_row(&model, &csr, 4, 1, &[]).unwrap();
    assert!(
        unnamed
            .terms
            .iter()
            .all(|term| term.term.parse::<u32>().is_ok())
    );
}

#[test]
fn a_corpus_that_was_extended_gives_the_model_of_all_its_documents() {
    let texts = crate::common::documents(120, 3, 40, 5);
    for settings in [
        FitSettings::default(),
        with("naive-bayes"),
        FitSettings {
            hash_bits: Some(10),
            ..FitSettings::default()
        },
    ] {
        let all = fit_documents(texts.clone(), &settings);
        let corpus = |documents: &[Document]| {
            TrainingCorpus::of_documents(&settings, documents.to_vec()).unwrap()
        };
        let mut first = corpus(&texts[..70]);
        let alone = first
            .fit(Fields::default(), &settings, &NoProgress)
            .unwrap();
        assert_eq!(alone.summary().documents, 70);
        first.extend(corpus(&texts[70..])).unwrap();
        let extended = first
            .fit(Fields::default(), &settings, &NoProgress)
            .unwrap();
        assert_eq!(bytes(&all), bytes(&extended));
    }
    let hashed = FitSettings {
        hash_bits: Some(8),
        ..FitSettings::default()
    };
    let mut plain = TrainingCorpus::of_documents(&FitSettings::default(), texts.clone()).unwrap();
    let hashed = TrainingCorpus::of_documents(&hashed, texts).unwrap();
    assert!(plain.extend(hashed).is_err());
}

#[test]
fn rows_and_texts_are_answered_only_by_models_that_read_them() {
    let starts: Vec<usize> = (0..=40).collect();
    let columns: Vec<u32> = (0..40).map(|row| row % 2).collect();
    let values = vec![1.0f32; 40];
    let classes: Vec<u32> = (0..40).map(|row| row % 2).collect();
    let csr = Csr::new(&starts, &columns, &values).unwrap();
    let settings = FitSettings::default();
    let of_rows = fit_rows(&TrainingRows::new(&csr, &classes), &settings, &NoProgress).unwrap();
    let documents = (0..40).map(|i| match i % 2 {
        0 => Document::new(format!("lunch at noon {i}")).label("ham"),
        _ => Document::new(format!("win big money {i}")).label("spam"),
    });
    let of_text = calibrant::fit(documents, &settings).unwrap();

    let refused = Predictor::new(&of_rows).predict_text("1").unwrap_err();
    assert!(
        refused.to_string().contains("numbered features"),
        "{refused}"
    );
    let batch = [Document::new("1")];
    assert!(Predictor::new(&of_rows).predict_batch(&batch).is_err());
    assert!(explain(&of_rows, "1", &[]).is_err());
    assert!(matches!(
        predict_rows(&of_text, &csr),
        Err(PredictError::NoFeatures)
    ));
    assert!(matches!(
        explain_row(&of_text, &csr, 0, 0, &[]),
        Err(ExplainError::NoFeatures)
    ));
    assert!(
        Predictor::new(&of_text)
            .predict_content(&[(1, 1.0)][..])
            .is_err()
    );

    // What each does read, also after it was saved.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    of_rows.save(&path).unwrap();
    let opened = Model::open(&path).unwrap();
    assert!(opened.reads_features() && !opened.reads_text());
    assert!(predict_rows(&opened, &csr).is_ok());
    assert!(of_text.reads_text() && !of_text.reads_features());
    assert!(Predictor::new(&of_text).predict_text("money").is_ok());
}

#[test]
fn documents_in_memory_are_evaluated_as_a_file_of_them() {
    let documents = |from: usize| {
        let document = |i: usize| match i % 2 {
            0 => Document::new(format!("lunch at noon {i}")).label("ham"),
            _ => Document::new(format!("win big money {i}")).label("spam"),
        };
        (from..from + 40).map(document).collect::<Vec<Document>>()
    };
    let model = calibrant::fit(documents(0), &FitSettings::default()).unwrap();
    let mut file = "text,label\n".to_owned();
    for document in documents(30) {
        let ContentRef::Text(text) = ContentRef::from(&document) else {
            panic!("a text")
        };
        file.push_str(&format!("{text},{}\n", document.labels[0]));
    }
    let settings = EvaluateSettings::default();
    let in_memory = evaluate_documents(&model, &documents(30), &settings).unwrap();
    let source = Source::bytes("test.csv", file.into_bytes());
    let options = ReadOptions::default();
    let of_file = evaluate_source(&model, &source, &options, &settings, &NoProgress).unwrap();
    let json = |evaluated: &Evaluated<'_>| serde_json::to_string(&evaluated.report).unwrap();
    assert_eq!(json(&in_memory), json(&of_file));
    assert_eq!(in_memory.report.learned_from, of_file.report.learned_from);
}
