//! How fast nearest neighbours and perceptrons learn and predict, in seconds as JSON.
//!
//! `calibrant-bench neighbours TRAIN TEST K THREADS TIMES`, where both files are svmlight with
//! classes numbered from 0, one per row. Reading is not timed; of the TIMES runs the median is shown.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use calibrant::corpus::{Content, Format, ReadOptions, Source, read_all};
use calibrant::features::SparseMatrix;
use calibrant::problem::{ClassFactors, ClassLabels, Targets};
use calibrant::scorers::{
    Approximate, ClassLearner, NearestNeighbours, NeighbourCount, Perceptron, SavedScorer,
    ScorerBuffers, Vote,
};
use calibrant::{NoProgress, Task};
use rayon::prelude::*;
use serde_json::{Value, json};

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [train, test, k, threads, times] = arguments else {
        return Err("usage: calibrant-bench neighbours TRAIN TEST K THREADS TIMES".into());
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.parse()?)
        .build_global()?;
    let times = times.parse::<usize>()?.max(1);
    let (train, of_train) = read(Path::new(train))?;
    let (test, of_test) = read(Path::new(test))?;
    let class_count = 1 + of_train.iter().max().map_or(0, |&class| class as usize);
    let labels = ClassLabels {
        task: Task::SingleLabel,
        class_count,
        of_row: of_train.iter().map(|&class| vec![class]).collect(),
    };
    let factors = ClassFactors {
        by_output: vec![(1.0, 1.0); labels.output_count()],
    };
    let members: Vec<u32> = (0..train.row_count() as u32).collect();
    let weights = vec![1.0; members.len()];
    let problem = Targets::new(&labels, &weights, &factors).among(&train, &members);

    let mut report = serde_json::Map::new();
    let mut measure = |name: &str, fit: &dyn Fn() -> Result<SavedScorer, Box<dyn Error>>| {
        let start = Instant::now();
        let scorer = fit()?;
        let learning = start.elapsed().as_secs_f64();
        let mut seconds = Vec::new();
        let mut accuracy = 0.0;
        for _ in 0..times {
            let start = Instant::now();
            let found = predict(&scorer, &test);
            seconds.push(start.elapsed().as_secs_f64());
            let right = found.iter().zip(&of_test).filter(|(a, b)| a == b).count();
            accuracy = right as f64 / of_test.len().max(1) as f64;
        }
        seconds.sort_by(f64::total_cmp);
        let predicting = seconds[seconds.len() / 2];
        let figures: Value = json!({"fit": learning, "predict": predicting, "accuracy": accuracy});
        report.insert(name.to_owned(), figures);
        Ok::<(), Box<dyn Error>>(())
    };
    let count = NeighbourCount::Fixed(k.parse()?);
    for (name, vote, approximate) in [
        ("majority", Vote::Majority, None),
        ("similarity", Vote::Similarity, None),
        ("approximate", Vote::Majority, Some(Approximate::default())),
    ] {
        let settings = NearestNeighbours {
            k: count,
            vote,
            approximate,
            ..NearestNeighbours::default()
        };
        measure(name, &|| Ok(settings.fit(&problem)?.scorer))?;
    }
    for (name, voted) in [("averaged perceptron", false), ("voted perceptron", true)] {
        let settings = Perceptron {
            voted,
            ..Perceptron::default()
        };
        measure(name, &|| Ok(settings.fit(&problem)?.scorer))?;
    }
    println!("{}", Value::Object(report));
    Ok(())
}

/// The class with the highest score, of equals the first.
fn predict(scorer: &SavedScorer, rows: &SparseMatrix) -> Vec<u32> {
    let one = |(buffer, scores): &mut (ScorerBuffers, Vec<f64>), row: usize| {
        scorer.scores_into(rows.row(row), buffer, scores);
        let second = scores.len() == 1 && scores[0] > 0.0;
        let best = (0..scores.len()).fold(0, |best, class| {
            if scores[class] > scores[best] {
                class
            } else {
                best
            }
        });
        if second { 1 } else { best as u32 }
    };
    (0..rows.row_count())
        .into_par_iter()
        .with_min_len(64)
        .map_init(
            || (ScorerBuffers::default(), vec![0.0; scorer.output_count()]),
            one,
        )
        .collect()
}

/// Rows and their classes. Both files have as many columns as any feature number needs.
fn read(path: &Path) -> Result<(SparseMatrix, Vec<u32>), Box<dyn Error>> {
    let options = ReadOptions {
        format: Some(Format::SvmLight),
        ..ReadOptions::default()
    };
    let source = Source::Path(path.to_owned());
    let (documents, _) = read_all(&source, &options, &NoProgress)?;
    let mut rows = Vec::new();
    let mut classes = Vec::new();
    let mut columns = 0;
    for document in &documents {
        let Content::Features(features) = &document.content else {
            return Err("a row is no list of numbers".into());
        };
        let last = features.iter().map(|&(column, _)| column).max();
        columns = columns.max(last.map_or(0, |last| last as usize + 1));
        rows.push(features.clone());
        let label = document.labels.first().ok_or("a row has no label")?;
        classes.push(label.parse()?);
    }
    Ok((SparseMatrix::from_rows(columns, rows), classes))
}
