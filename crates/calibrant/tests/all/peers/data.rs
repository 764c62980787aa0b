//! Data that both sides compute from, and how answers are compared.

use std::sync::LazyLock;

use calibrant::NoProgress;
use calibrant::corpus::{Document, Fields, ReadOptions, Source, read_all};
use calibrant::features::{
    BatchCounter, ColumnSpace, CorpusCounts, DocumentFrequencyLimits, FittedWeighting,
    SparseMatrix, Weighting, WeightingSettings,
};
use calibrant::numeric::Random;
use calibrant::problem::{ClassFactors, ClassLabels, Targets};
use calibrant::scorers::{ClassLearner, Fitted};
use calibrant::text::Analyzer;
use serde_json::{Value, json};

use crate::common::data_file::data_file;

/// What a learner makes of all rows, of which some belong to one class.
pub(crate) fn fit_one_class(
    learner: &dyn ClassLearner,
    rows: &SparseMatrix,
    belongs: &[bool],
    weights: &[f64],
) -> Fitted {
    let members: Vec<u32> = (0..rows.row_count() as u32).collect();
    let (labels, factors) = (ClassLabels::of_one_class(belongs), ClassFactors::equal(1));
    let targets = Targets::new(&labels, weights, &factors);
    learner.fit(&targets.among(rows, &members)).unwrap()
}

/// Rows of small counts over words of very unequal frequency, each leaning to the class of its row.
pub(crate) fn random_counts(
    random: &mut Random,
    classes: &[usize],
    columns: usize,
) -> SparseMatrix {
    let rows = classes.iter().map(|&class| {
        let mut counts = vec![0f32; columns];
        for _ in 0..5 + random.below(60) {
            // Cubed, so that a few columns are frequent and most are rare.
            let column = (random.uniform().powi(3) * columns as f64) as usize;
            let moved = (column + 7 * class * random.below(2)) % columns;
            counts[moved] += 1.0;
        }
        let entries = counts.into_iter().enumerate();
        entries
            .filter(|&(_, count)| count > 0.0)
            .map(|(column, count)| (column as u32, count))
            .collect()
    });
    SparseMatrix::from_rows(columns, rows)
}

/// The class of each row, every class at least once.
pub(crate) fn random_classes(random: &mut Random, rows: usize, class_count: usize) -> Vec<usize> {
    (0..rows)
        .map(|row| {
            if row < class_count {
                row
            } else {
                // The smaller of two draws: classes of unequal size.
                random.below(class_count).min(random.below(class_count))
            }
        })
        .collect()
}

/// Rows of unit length, as learners on text see them.
pub(crate) fn log_tf_idf(counts: SparseMatrix) -> SparseMatrix {
    let settings = WeightingSettings {
        weighting: Weighting::LogTfIdf,
        l2_norm: true,
    };
    FittedWeighting::fit(settings, &counts).apply(counts)
}

/// The training stories of Reuters-21578, or `None` with a loud word where they are missing.
pub(crate) fn reuters() -> Option<Vec<Document>> {
    part_of_reuters("train")
}

/// A part of Reuters-21578: `train` or `test`.
pub(crate) fn part_of_reuters(split: &str) -> Option<Vec<Document>> {
    // Many tests want the same stories: each part is read once.
    static TRAIN: LazyLock<Option<Vec<Document>>> = LazyLock::new(|| reuters_read("train"));
    static TEST: LazyLock<Option<Vec<Document>>> = LazyLock::new(|| reuters_read("test"));
    match split {
        "train" => TRAIN.clone(),
        _ => TEST.clone(),
    }
}

fn reuters_read(split: &str) -> Option<Vec<Document>> {
    corpus("reuters21578.jsonl.gz", &["title", "body"], "topics", split)
}

/// A part of 20 Newsgroups: `train` or `test`.
pub(crate) fn part_of_newsgroups(split: &str) -> Option<Vec<Document>> {
    corpus(
        "20newsgroups.jsonl.gz",
        &["subject", "text"],
        "label",
        split,
    )
}

fn corpus(name: &str, text: &[&str], label: &str, split: &str) -> Option<Vec<Document>> {
    let path = data_file(name)?;
    let options = ReadOptions {
        fields: Fields {
            text: text.iter().map(|&field| field.to_owned()).collect(),
            label: Some(label.to_owned()),
            ..Fields::default()
        },
        filters: vec![format!("split={split}").parse().unwrap()],
        ..ReadOptions::default()
    };
    let (documents, _) = read_all(&Source::Path(path), &options, &NoProgress).unwrap();
    Some(documents)
}

/// Rows of unit length of training and test documents; document frequencies are those of training.
pub(crate) fn log_tf_idf_of_both(
    train: &[Document],
    test: &[Document],
) -> (SparseMatrix, SparseMatrix) {
    let counts = counts_of(&[train, test].concat());
    let columns: Vec<u32> = (0..counts.column_count() as u32).collect();
    let part = |rows: std::ops::Range<usize>| {
        let rows: Vec<u32> = rows.map(|row| row as u32).collect();
        counts.rearranged(&rows, &columns, columns.len())
    };
    let settings = WeightingSettings {
        weighting: Weighting::LogTfIdf,
        l2_norm: true,
    };
    let (train, test) = (part(0..train.len()), part(train.len()..counts.row_count()));
    let weighting = FittedWeighting::fit(settings, &train);
    (weighting.apply(train), weighting.apply(test))
}

/// Counts by our own counter; terms of one document alone are left out.
pub(crate) fn counts_of(documents: &[Document]) -> SparseMatrix {
    let analyzer = Analyzer::default().compile().unwrap();
    let mut counter = BatchCounter::new(&analyzer, ColumnSpace::Vocabulary);
    documents
        .iter()
        .for_each(|document| counter.count_text(document.content.as_text().unwrap()));
    let mut counts = CorpusCounts::new(ColumnSpace::Vocabulary);
    counts.merge(counter.finish());
    let order: Vec<u32> = (0..documents.len() as u32).collect();
    let two_documents = DocumentFrequencyLimits {
        min_documents: Some(2),
        ..DocumentFrequencyLimits::default()
    };
    counts.arrange(&order, &two_documents).counts.to_rows()
}

/// A matrix for a script: the parts of compressed sparse rows.
pub(crate) fn rows_as_json(rows: &SparseMatrix) -> Value {
    let mut starts = vec![0];
    for row in rows.rows() {
        starts.push(starts[starts.len() - 1] + row.columns().len());
    }
    let values: Vec<f64> = rows
        .rows()
        .flat_map(|row| row.entries().map(|(_, value)| value).collect::<Vec<_>>())
        .collect();
    json!({
        "column_count": rows.column_count(),
        "starts": starts,
        "columns": rows.columns(),
        "values": values,
    })
}

/// A list of numbers of an answer.
#[track_caller]
pub(crate) fn numbers(answer: &Value) -> Vec<f64> {
    let list = answer.as_array().unwrap();
    list.iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Ours and theirs differ by at most `tolerance` times `scale`.
#[track_caller]
pub(crate) fn check_near(what: &str, ours: f64, theirs: f64, tolerance: f64, scale: f64) {
    assert!(
        (ours - theirs).abs() <= tolerance * scale,
        "{what}: ours {ours}, theirs {theirs}, apart by {:e} of {scale}",
        (ours - theirs).abs() / scale
    );
}
