//! Seconds to fit and to apply each calibrator, and to measure what it says.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use calibrant::Probability;
use calibrant::calibration::{Calibrator, CalibratorKind, HeldOutScores};
use calibrant::evaluation::SortedForecasts;

use crate::known_truth::{first_set, write_floats};

/// One run of everything on scores that are not sorted yet; `export` is a folder for scores, labels and
/// stated probabilities, so that other programs can be timed on the same ones.
pub(crate) fn run(json: bool, count: usize, export: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let (scores, labels) = first_set(count);
    let held_out = HeldOutScores::assume(scores.clone(), labels.clone())?;
    let mut table: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    let mut stated: Vec<Probability> = Vec::new();
    for &kind in CalibratorKind::METHODS
        .iter()
        .chain(&[CalibratorKind::Auto])
    {
        let start = Instant::now();
        let calibrator = kind.fit(&held_out)?;
        let fit = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let said: Vec<Probability> = scores.iter().map(|&s| calibrator.probability(s)).collect();
        let predict = start.elapsed().as_secs_f64();
        table.insert(
            kind.name(),
            BTreeMap::from([("fit", fit), ("predict", predict)]),
        );
        if kind == CalibratorKind::AsymmetricLaplace {
            stated = said;
        }
    }
    if let Some(folder) = export {
        std::fs::create_dir_all(folder)?;
        write_floats(&folder.join("scores.f64"), &scores)?;
        let values: Vec<f64> = stated.iter().map(|p| p.value()).collect();
        write_floats(&folder.join("stated.f64"), &values)?;
        let labels: Vec<u8> = labels.iter().map(|&label| label.into()).collect();
        std::fs::write(folder.join("labels.u8"), labels)?;
    }
    let report = report_seconds(stated, &labels)?;
    table.insert("report", BTreeMap::from([("report", report)]));
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, &table)?;
        writeln!(out)?;
    } else {
        for (name, times) in &table {
            let times: Vec<String> = times.iter().map(|(k, t)| format!("{k} {t:.4} s")).collect();
            writeln!(out, "{name:<24} {}", times.join("  "))?;
        }
    }
    Ok(())
}

/// The whole report of yes-or-no forecasts: losses and their parts, calibration errors beside a perfect
/// forecaster's, slope and intercept, tests, ranking, bands.
fn report_seconds(stated: Vec<Probability>, labels: &[bool]) -> Result<f64, Box<dyn Error>> {
    let points: Vec<(Probability, bool, f64)> = stated
        .into_iter()
        .zip(labels)
        .map(|(probability, &label)| (probability, label, 1.0))
        .collect();
    let start = Instant::now();
    let calibration = SortedForecasts::new(&points).calibration();
    let seconds = start.elapsed().as_secs_f64();
    // Used, so that it cannot be left out.
    if calibration.count != points.len() {
        return Err("some forecasts were not measured".into());
    }
    Ok(seconds)
}
