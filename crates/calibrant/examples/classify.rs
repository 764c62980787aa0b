//! Learn a classifier from a labelled file, keep it, and ask it about new documents.
//!
//! `cargo run --example classify -- train.csv new.csv` (any format: CSV, JSON Lines, Parquet, ...); without files it takes the tickets of `testdata/`.
#![allow(clippy::print_stdout)]

use std::error::Error;

use calibrant::jobs::PredictError;
use calibrant::{FitSettings, Model, NoProgress, Predictor, ReadOptions, Source, fit_source};

fn main() -> Result<(), Box<dyn Error>> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/parity/data/");
    let mut files = std::env::args().skip(1);
    let train = files
        .next()
        .unwrap_or_else(|| format!("{data}tickets.jsonl"));
    let new = files
        .next()
        .unwrap_or_else(|| format!("{data}tickets-new.jsonl"));

    // Fields `text` and `label` unless the options name others.
    let options = ReadOptions::default();
    // The defaults: a linear support vector machine, calibrated on documents that it had not seen.
    let train = Source::Path(train.into());
    let fitted = fit_source(&train, &options, &FitSettings::default(), &NoProgress)?;
    let model = fitted.model;
    println!("{} documents", fitted.read.rows);
    let held_out = &model.summary().held_out;
    println!("held-out log loss {:.3}", held_out.log_loss);

    // A model is one file; opening it checks all of it.
    let path = std::env::temp_dir().join("classify-example.calibrant");
    model.save(&path)?;
    let model = Model::open(&path)?;
    std::fs::remove_file(&path)?;

    // One text ...
    let predictor = Predictor::new(&model).top(2);
    let prediction = predictor.predict_text("the invoice shows a wrong amount")?;
    for class in &prediction.classes {
        println!("{:>10}  {:.3}", class.label, class.probability);
    }
    // ... or a file of any size, in its order. The JSON is that of `calibrant predict --json`.
    predictor.predict_source(
        &Source::Path(new.into()),
        &options,
        &NoProgress,
        |prediction| -> Result<(), PredictError> {
            println!("{}", serde_json::json!(prediction));
            Ok(())
        },
    )?;
    Ok(())
}
