//! Outcomes, one line of JSON each: ours in `ours.jsonl`, the peers' in `peers.jsonl`.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::cell::{Cell, Outcome};

pub(super) struct Store {
    folder: PathBuf,
    outcomes: Vec<Outcome>,
}

impl Store {
    pub(super) fn open(folder: &Path) -> Result<Self, Box<dyn Error>> {
        std::fs::create_dir_all(folder)?;
        let mut outcomes = Vec::new();
        for name in ["ours.jsonl", "peers.jsonl"] {
            let path = folder.join(name);
            if !path.exists() {
                continue;
            }
            for (number, line) in std::fs::read_to_string(&path)?.lines().enumerate() {
                let outcome = serde_json::from_str(line)
                    .map_err(|error| format!("{} line {}: {error}", path.display(), number + 1))?;
                outcomes.push(outcome);
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            outcomes,
        })
    }

    pub(super) fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    pub(super) fn has(&self, cell: &Cell, way: &str, program: Option<&str>) -> bool {
        self.outcomes.iter().any(|outcome| {
            outcome.cell == *cell && outcome.way == way && outcome.program.as_deref() == program
        })
    }

    /// Kept at once, so that nothing is lost when the run is broken off.
    pub(super) fn add(&mut self, outcome: Outcome) -> Result<(), Box<dyn Error>> {
        let name = if outcome.program.is_some() {
            "ours.jsonl"
        } else {
            "peers.jsonl"
        };
        let mut line = serde_json::to_string(&outcome)?;
        line.push('\n');
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.folder.join(name))?
            .write_all(line.as_bytes())?;
        self.outcomes.push(outcome);
        Ok(())
    }
}
