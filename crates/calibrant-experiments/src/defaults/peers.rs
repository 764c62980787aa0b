//! Measures what `bench/defaults_peers.py` has written.

use std::error::Error;
use std::path::Path;

use serde::Deserialize;

use super::cell::{Cell, Outcome};
use super::corpus::PreparedCorpus;
use super::measure::Stated;
use super::store::Store;

#[derive(Deserialize)]
struct Written {
    peer: String,
    #[serde(default)]
    classes: Vec<String>,
    refused: Option<String>,
    cpu: f64,
    wall: f64,
}

/// Every pipeline of every cell in the corpus's folder that has not been measured.
pub(super) fn measure_all(
    corpus: &PreparedCorpus,
    folder: &Path,
    store: &mut Store,
) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(cell) = Cell::of_folder(&corpus.about.name, &name) else {
            continue;
        };
        for file in std::fs::read_dir(&path)? {
            let file = file?.path();
            let peer = file.file_stem().unwrap_or_default().to_string_lossy();
            let finished = file.extension().is_some_and(|ending| ending == "json");
            if !finished || store.has(&cell, &peer, None) {
                continue;
            }
            let written: Written = serde_json::from_slice(&std::fs::read(&file)?)?;
            store.add(measure(corpus, &cell, &file, written)?)?;
        }
    }
    Ok(())
}

fn measure(
    corpus: &PreparedCorpus,
    cell: &Cell,
    file: &Path,
    written: Written,
) -> Result<Outcome, Box<dyn Error>> {
    let mut outcome = Outcome {
        cell: cell.clone(),
        way: written.peer,
        program: None,
        refused: written.refused,
        measures: None,
        cpu: written.cpu,
        wall: written.wall,
    };
    if outcome.refused.is_some() {
        return Ok(outcome);
    }
    let bytes = std::fs::read(file.with_extension("f64"))?;
    let (numbers, _) = bytes.as_chunks::<8>();
    let probabilities: Vec<f64> = numbers
        .iter()
        .map(|&eight| f64::from_le_bytes(eight))
        .collect();
    if probabilities
        .iter()
        .any(|p| !(-1e-9..=1.0 + 1e-9).contains(p))
    {
        outcome.refused = Some("states what is not a probability".to_owned());
        return Ok(outcome);
    }
    let split = corpus.split(cell.size, cell.draw);
    let stated = Stated {
        classes: &written.classes,
        probabilities: &probabilities,
        labels: split
            .test
            .iter()
            .map(|&row| corpus.labels[row].as_slice())
            .collect(),
        several: corpus.about.several,
        training: split.training.len(),
    };
    outcome.measures = Some(
        stated
            .measure()
            .map_err(|error| format!("{}: {error}", file.display()))?,
    );
    Ok(outcome)
}
