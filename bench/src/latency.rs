//! How long a model takes to open and to predict, as JSON.
//!
//! `calibrant-bench latency MODEL TEXT_FILE DOCUMENTS TIMES`: opens the model,
//! predicts the one text of TEXT_FILE as often as TIMES says, and then all of DOCUMENTS, which are
//! divided by form feeds.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use calibrant::Probability;
use calibrant::corpus::Content;
use calibrant::pipeline::{Model, PredictBuffers};
use rayon::prelude::*;
use serde_json::{Value, json};

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [path, text, documents, times] = arguments else {
        return Err("usage: calibrant-bench latency MODEL TEXT_FILE DOCUMENTS TIMES".into());
    };
    let (path, times) = (Path::new(path), times.parse::<usize>()?.max(1));
    let text = std::fs::read_to_string(text)?;
    let documents = std::fs::read_to_string(documents)?;
    let contents: Vec<Content> = documents
        .split('\u{c}')
        .map(|document| Content::Text(document.to_owned()))
        .collect();
    // Opening checks the whole file, so it is done less often.
    let open = microseconds((times / 20).max(10), || {
        black_box(Model::open(path)).is_ok()
    });
    let model = Model::open(path)?;
    let predict = microseconds(times, || !black_box(model.predict(&text)).is_empty());
    let speed = |threads| -> Result<f64, Box<dyn Error>> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        let mut seconds: Vec<f64> = (0..5)
            .map(|_| {
                let start = Instant::now();
                pool.install(|| predict_all(&model, &contents));
                start.elapsed().as_secs_f64()
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        Ok(contents.len() as f64 / seconds[2])
    };
    let report = json!({
        "open": open,
        "predict": predict,
        "documents_per_second": {"one_thread": speed(1)?, "all_threads": speed(0)?},
    });
    println!("{report}");
    Ok(())
}

/// Median and 99th percentile of many runs, after one that does not count.
fn microseconds(times: usize, run: impl Fn() -> bool) -> Value {
    let mut good = run();
    let mut each: Vec<f64> = (0..times)
        .map(|_| {
            let start = Instant::now();
            good &= run();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    each.sort_by(f64::total_cmp);
    let at = |share: f64| each[((each.len() - 1) as f64 * share).ceil() as usize];
    json!({"median_us": at(0.5), "p99_us": at(0.99), "times": times, "good": good})
}

fn predict_all(model: &Model, contents: &[Content]) {
    contents.par_chunks(64).for_each(|contents| {
        let mut buffers = PredictBuffers::default();
        let mut classes = vec![Probability::from_log_odds(0.0); model.class_count()];
        for content in contents {
            model.predict_into(content, &mut buffers, &mut classes);
            black_box(&classes);
        }
    });
}
