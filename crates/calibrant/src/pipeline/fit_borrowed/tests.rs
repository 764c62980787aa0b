use super::*;
use crate::NoProgress;
use crate::features::{Csr, DenseRows};
use crate::jobs::predict_rows;
use crate::numeric::Random;
use crate::scorers::{Classifier, HingeLoss, LinearSvm, LogisticRegression};

const COLUMNS: usize = 12;

struct Generated {
    values: Vec<f64>,
    starts: Vec<i64>,
    columns: Vec<i32>,
    entries: Vec<f64>,
    classes: Vec<u32>,
}

/// Rows of classes that overlap, of few numbers each.
fn generated(seed: u64, row_count: usize, class_count: u32) -> Generated {
    let mut random = Random::from_seed(seed);
    let mut rows = Generated {
        values: Vec::new(),
        starts: vec![0],
        columns: Vec::new(),
        entries: Vec::new(),
        classes: Vec::new(),
    };
    for _ in 0..row_count {
        let class = random.below(class_count as usize) as u32;
        rows.classes.push(class);
        for column in 0..COLUMNS {
            let own = column as u32 % class_count == class;
            let there = random.uniform() < if own { 0.6 } else { 0.35 };
            let value = f64::from((0.2 + random.uniform()) as f32);
            let value = if there { value } else { 0.0 };
            rows.values.push(value);
            if there {
                rows.columns.push(column as i32);
                rows.entries.push(value);
            }
        }
        rows.starts.push(rows.columns.len() as i64);
    }
    rows
}

impl Generated {
    fn csr(&self) -> Csr<'_, i64, i32, f64> {
        Csr::new(&self.starts, &self.columns, &self.entries).unwrap()
    }

    fn dense(&self) -> DenseRows<'_, f64> {
        DenseRows::new(&self.values, COLUMNS).unwrap()
    }
}

fn learners() -> [FitSettings; 3] {
    let hinge = LinearSvm {
        c: Some(0.5),
        loss: HingeLoss::Hinge,
        ..LinearSvm::default()
    };
    let logistic = LogisticRegression {
        c: Some(1.0),
        ..LogisticRegression::default()
    };
    [
        Classifier::default(),
        Classifier::LinearSvm(hinge),
        Classifier::LogisticRegression(logistic),
    ]
    .map(|classifier| FitSettings {
        classifier,
        ..FitSettings::default()
    })
}

fn in_place(rows: &TrainingRows<'_>, settings: &FitSettings) -> Model {
    assert!(reads_in_place(settings));
    fit_training_rows(rows, settings, &NoProgress).unwrap()
}

fn log_loss(model: &Model) -> f64 {
    model.summary().held_out.log_loss
}

#[test]
fn held_out_log_loss_is_that_of_counted_rows() {
    for classes in [2, 3] {
        let rows = generated(5, 900, classes);
        let (csr, dense) = (rows.csr(), rows.dense());
        for settings in learners() {
            let training = TrainingRows::new(&csr, &rows.classes);
            let corpus = TrainingCorpus::of_rows(&settings, &training).unwrap();
            let counted = fit(corpus, Fields::default(), &settings, &NoProgress).unwrap();
            let expected = log_loss(&counted);
            for rows in [training, TrainingRows::new(&dense, &rows.classes)] {
                let found = log_loss(&in_place(&rows, &settings));
                assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
            }
        }
    }
}

#[test]
fn copies_are_weights_and_the_order_of_rows_says_nothing() {
    let rows = generated(9, 300, 2);
    let csr = rows.csr();
    let weights: Vec<f64> = (0..300).map(|row| f64::from(1 + row % 2)).collect();
    let copies = (0..300u32)
        .rev()
        .flat_map(|row| vec![row; 1 + row as usize % 2]);
    let copies: Vec<u32> = copies.collect();
    let classes: Vec<u32> = copies
        .iter()
        .map(|&row| rows.classes[row as usize])
        .collect();
    let written_out = OrderedRows::new(&csr, &copies);
    for settings in learners() {
        let weighed = TrainingRows {
            weights: Some(&weights),
            ..TrainingRows::new(&csr, &rows.classes)
        };
        let weighed = in_place(&weighed, &settings);
        let written_out = in_place(&TrainingRows::new(&written_out, &classes), &settings);
        let [a, b] = [&weighed, &written_out].map(|model| predict_rows(model, &csr).unwrap());
        for (a, b) in a.iter().zip(b) {
            assert!((a.value() - b.value()).abs() < 1e-6, "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_model_in_place_is_saved_opened_and_answers_alike_whatever_the_rows_are() {
    let rows = generated(3, 400, 3);
    let (csr, dense) = (rows.csr(), rows.dense());
    let settings = FitSettings::default();
    let model = in_place(&TrainingRows::new(&csr, &rows.classes), &settings);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    model.save(&path).unwrap();
    let opened = Model::open(&path).unwrap();
    let expected = predict_rows(&model, &csr).unwrap();
    for found in [
        predict_rows(&opened, &csr).unwrap(),
        predict_rows(&opened, &dense).unwrap(),
    ] {
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found.log_odds() - expected.log_odds()).abs() < 1e-6);
        }
    }
    // One row at a time goes the way of documents.
    let mut entries = Vec::new();
    csr.row_into(7, &mut entries);
    let mut buffers = super::super::PredictBuffers::default();
    let mut classes = expected[..3].to_vec();
    model.predict_into(&entries[..], &mut buffers, &mut classes);
    for (found, expected) in classes.iter().zip(&expected[21..24]) {
        assert!((found.log_odds() - expected.log_odds()).abs() < 1e-9);
    }
}

#[test]
fn threads_change_no_bit_of_a_model() {
    let rows = generated(4, 500, 3);
    let (csr, dense) = (rows.csr(), rows.dense());
    let with = |threads: usize, settings: &FitSettings| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let both: [&dyn RowSource; 2] = [&csr, &dense];
        pool.unwrap().install(|| {
            both.map(|source| {
                let model = in_place(&TrainingRows::new(source, &rows.classes), settings);
                predict_rows(&model, source).unwrap()
            })
        })
    };
    for settings in learners() {
        assert_eq!(with(1, &settings), with(3, &settings));
    }
}

#[test]
fn a_column_that_comes_twice_is_one_column_of_its_document() {
    // By hand: two rows; column 1 as two halves, and column 2 as what cancels out.
    let (starts, columns) = ([0i64, 4, 5], [1i32, 2, 1, 2, 1]);
    let twice = Csr::new(&starts, &columns, &[0.5f64, 1.0, 0.5, -1.0, 2.0]).unwrap();
    let (starts, columns) = ([0i64, 1, 2], [1i32, 1]);
    let once = Csr::new(&starts, &columns, &[1.0f64, 2.0]).unwrap();
    let said = |rows: &dyn RowSource| {
        let found = frequencies(rows, &[true, true]);
        found.document_frequencies()[..2].to_vec()
    };
    assert_eq!(said(&twice), [0, 2]);
    assert_eq!(said(&twice), said(&once));
}
