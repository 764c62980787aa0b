//! How fast AdaBoost learns and scores, in seconds as JSON.
//!
//! `calibrant-bench boosting TRAIN TEST real|discrete ROUNDS THREADS SCORES`, where both files
//! are svmlight with classes numbered from 0, and the test rows' scores are written as rows of `f64`.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use calibrant::corpus::{Content, Document, Format, ReadOptions, Source, read_all};
use calibrant::features::SparseMatrix;
use calibrant::problem::{ClassFactors, ClassLabels, Targets};
use calibrant::scorers::{AdaBoost, BoostingKind, ClassLearner, SavedScorer, ScorerBuffers};
use calibrant::{NoProgress, Task};
use rayon::prelude::*;
use serde_json::json;

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [train, test, kind, rounds, threads, scores] = arguments else {
        return Err(
            "usage: calibrant-bench boosting TRAIN TEST real|discrete ROUNDS THREADS SCORES".into(),
        );
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.parse()?)
        .build_global()?;
    let learner = AdaBoost {
        kind: match kind.as_str() {
            "real" => BoostingKind::Real,
            "discrete" => BoostingKind::Discrete,
            _ => return Err(format!("`{kind}` is neither real nor discrete").into()),
        },
        rounds: rounds.parse()?,
    };
    let train = read(Path::new(train))?;
    let test = read(Path::new(test))?;
    let column_count = 1 + columns(&train).chain(columns(&test)).max().unwrap_or(0);
    let (rows, of_row) = table(&train, column_count as usize)?;
    let class_count = 1 + of_row
        .iter()
        .flatten()
        .max()
        .map_or(0, |&class| class as usize);
    let labels = ClassLabels {
        task: Task::MultiLabel,
        class_count,
        of_row: of_row.into(),
    };
    let factors = ClassFactors {
        by_output: vec![(1.0, 1.0); class_count],
    };
    let members: Vec<u32> = (0..rows.row_count() as u32).collect();
    let weights = vec![1.0; members.len()];

    let start = Instant::now();
    let problem = Targets::new(&labels, &weights, &factors).among(&rows, &members);
    let scorer = learner.fit(&problem)?.scorer;
    let fit = start.elapsed().as_secs_f64();

    let (rows, _) = table(&test, column_count as usize)?;
    let mut outputs = vec![0.0; rows.row_count() * class_count];
    let start = Instant::now();
    outputs
        .par_chunks_mut(class_count)
        .enumerate()
        .with_min_len(64)
        .for_each_init(ScorerBuffers::default, |buffer, (row, outputs)| {
            scorer.outputs_into(rows.row(row), buffer, outputs);
        });
    let predict = start.elapsed().as_secs_f64();

    let bytes: Vec<u8> = outputs
        .iter()
        .flat_map(|score| score.to_le_bytes())
        .collect();
    std::fs::write(scores, bytes)?;
    let committees = match &scorer {
        SavedScorer::Stumps(scorer) => scorer.models(),
        _ => &[],
    };
    let stumps: usize = committees.iter().map(|model| model.stumps().len()).sum();
    println!(
        "{}",
        json!({"fit": fit, "predict": predict, "stumps": stumps, "entries": rows.entry_count()})
    );
    Ok(())
}

fn read(path: &Path) -> Result<Vec<Document>, Box<dyn Error>> {
    let options = ReadOptions {
        format: Some(Format::SvmLight),
        ..ReadOptions::default()
    };
    Ok(read_all(&Source::Path(path.to_owned()), &options, &NoProgress)?.0)
}

fn features(document: &Document) -> &[(u32, f32)] {
    match &document.content {
        Content::Features(features) => features,
        Content::Text(_) | Content::Record(_) => &[],
    }
}

fn columns(documents: &[Document]) -> impl Iterator<Item = u32> {
    let entries = documents.iter().flat_map(features);
    entries.map(|&(column, _)| column)
}

type Table = (SparseMatrix, Vec<Vec<u32>>);

fn table(documents: &[Document], column_count: usize) -> Result<Table, Box<dyn Error>> {
    let rows = documents.iter().map(|document| features(document).to_vec());
    let rows = SparseMatrix::from_rows(column_count, rows);
    let mut of_row = Vec::with_capacity(documents.len());
    for document in documents {
        let classes = document.labels.iter().map(|label| label.parse());
        let mut classes = classes.collect::<Result<Vec<u32>, _>>()?;
        classes.sort_unstable();
        of_row.push(classes);
    }
    Ok((rows, of_row))
}
