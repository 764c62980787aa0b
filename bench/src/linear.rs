//! Linear learners on arrays in memory: `linear solve|fit ARRAYS LEARNER C GAP [INTERCEPT]`.
//!
//! `ARRAYS.y` holds classes (u32); beside it are `ARRAYS.indptr`, `ARRAYS.indices` (i32) and `ARRAYS.data` (f64), or `ARRAYS.x` (f32, as
//! many columns as it has rows of `ARRAYS.y`), all as raw little-endian numbers. `LEARNER` is `hinge`, `squared_hinge` or `logistic`.
//! Prints one line of JSON; `RAYON_NUM_THREADS` says how many threads.

use std::error::Error;
use std::fs;
use std::time::Instant;

use calibrant::NoProgress;
use calibrant::features::{Csr, DenseRows, RowSource};
use calibrant::jobs::{SolveSettings, fit_rows, predict_rows, solve_rows};
use calibrant::pipeline::{FitSettings, TrainingRows};
use calibrant::scorers::{Classifier, HingeLoss, LinearSvm, LogisticRegression, SolverLimits};

/// Numbers of a file.
fn numbers<T, const BYTES: usize>(
    path: &str,
    of: fn([u8; BYTES]) -> T,
) -> Result<Vec<T>, Box<dyn Error>> {
    let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(bytes.as_chunks().0.iter().map(|&chunk| of(chunk)).collect())
}

fn learner(name: &str, c: f64, relative_gap: f64) -> Result<Classifier, Box<dyn Error>> {
    let limits = SolverLimits {
        relative_gap,
        ..SolverLimits::default()
    };
    let c = Some(c);
    let svm = |loss| LinearSvm {
        c,
        loss,
        limits,
        ..LinearSvm::default()
    };
    Ok(match name {
        "hinge" => Classifier::LinearSvm(svm(HingeLoss::Hinge)),
        "squared_hinge" => Classifier::LinearSvm(svm(HingeLoss::SquaredHinge)),
        "logistic" => Classifier::LogisticRegression(LogisticRegression { c, limits, seed: 0 }),
        _ => return Err(format!("no learner {name}").into()),
    })
}

/// Most bytes that the program has held so far.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    1024 * kilobytes.unwrap_or(0u64)
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [what, arrays, name, c, gap, rest @ ..] = arguments else {
        return Err("usage: linear solve|fit ARRAYS LEARNER C GAP [INTERCEPT]".into());
    };
    let classifier = learner(name, c.parse()?, gap.parse()?)?;
    let intercept_scaling = rest.first().map_or(Ok(1.0), |text| text.parse())?;
    let classes = numbers(&format!("{arrays}.y"), u32::from_le_bytes)?;
    let dense = format!("{arrays}.x");
    if fs::exists(&dense)? {
        let values = numbers(&dense, f32::from_le_bytes)?;
        let rows = DenseRows::new(&values, values.len() / classes.len().max(1))?;
        return timed(what, &rows, &classes, classifier, intercept_scaling);
    }
    let starts = numbers(&format!("{arrays}.indptr"), i32::from_le_bytes)?;
    let columns = numbers(&format!("{arrays}.indices"), i32::from_le_bytes)?;
    let values = numbers(&format!("{arrays}.data"), f64::from_le_bytes)?;
    let rows = Csr::new(&starts, &columns, &values)?;
    timed(what, &rows, &classes, classifier, intercept_scaling)
}

fn timed(
    what: &str,
    rows: &dyn RowSource,
    classes: &[u32],
    classifier: Classifier,
    intercept_scaling: f64,
) -> Result<(), Box<dyn Error>> {
    let before = peak_bytes();
    let start = Instant::now();
    let mut report = serde_json::Map::new();
    if what == "solve" {
        let settings = SolveSettings {
            classifier,
            intercept_scaling,
        };
        let solved = solve_rows(rows, classes, None, &settings, &NoProgress)?;
        report.insert("seconds".into(), start.elapsed().as_secs_f64().into());
        let objective: f64 = solved.convergence.iter().map(|end| end.objective).sum();
        let passes: Vec<usize> = solved.convergence.iter().map(|end| end.passes).collect();
        report.insert("objective".into(), objective.into());
        report.insert("passes".into(), passes.into());
    } else {
        let settings = FitSettings {
            classifier,
            ..FitSettings::default()
        };
        let model = fit_rows(&TrainingRows::new(rows, classes), &settings, &NoProgress)?;
        report.insert("seconds".into(), start.elapsed().as_secs_f64().into());
        let held_out = model.summary().held_out.log_loss;
        report.insert("held_out_log_loss".into(), held_out.into());
        let start = Instant::now();
        let forecasts = predict_rows(&model, rows)?;
        report.insert("forecasts".into(), forecasts.len().into());
        report.insert(
            "predict_seconds".into(),
            start.elapsed().as_secs_f64().into(),
        );
    }
    report.insert("more_bytes".into(), (peak_bytes() - before).into());
    println!("{}", serde_json::Value::Object(report));
    Ok(())
}
