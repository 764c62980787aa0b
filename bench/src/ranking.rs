//! How fast judgements and a run are read and measured, in seconds as JSON, with the values of every query.
//!
//! `calibrant-bench ranking QRELS RUN THREADS MEASURE…`

use std::error::Error;
use std::time::Instant;

use calibrant::corpus::Source;
use calibrant::evaluation::ranking::{
    MeasureSet, RankingValue, RunEvaluationOptions, evaluate_run,
};
use calibrant::ranking::{Qrels, Run};
use serde_json::{Map, Value, json};

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [qrels, run, threads, measures @ ..] = arguments else {
        return Err("usage: calibrant-bench ranking QRELS RUN THREADS MEASURE...".into());
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.parse()?)
        .build_global()?;
    let options = RunEvaluationOptions {
        measures: MeasureSet::parse(measures)?,
        ..RunEvaluationOptions::default()
    };
    let start = Instant::now();
    let qrels = Qrels::read(&Source::Path(qrels.into()))?;
    let run = Run::read(&Source::Path(run.into()))?;
    let read = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let found = evaluate_run(&qrels, &run, &options)?;
    let evaluate = start.elapsed().as_secs_f64();

    let mut values = Map::new();
    for query in &found.queries {
        let named = found.names.iter().zip(&query.values);
        let numbers = named.filter_map(|(name, value)| match value {
            RankingValue::Number(number) => Some((name.clone(), json!(number))),
            _ => None,
        });
        values.insert(query.id.clone(), Value::Object(numbers.collect()));
    }
    println!(
        "{}",
        json!({ "read": read, "evaluate": evaluate, "values": values })
    );
    Ok(())
}
