//! The ledger of evaluations, in a file beside the models that it speaks of.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::systems::System;
use crate::evaluation::{
    LEDGER_FILE_NAME, Ledger, LedgerEntry, LedgerNote, TestSetHash, content_hash, utc_time,
};
use crate::pipeline::{Model, SingleModel};

/// One system that has been measured.
#[derive(Debug, Clone)]
pub struct Look<'a> {
    /// The model file, or the file of probabilities.
    pub path: &'a Path,
    /// The learner's name, or `probabilities`.
    pub classifier: String,
    /// What was measured.
    pub log_loss: f64,
}

impl<'a> Look<'a> {
    /// At a model (`None` for a file of probabilities).
    pub fn new(path: &'a Path, model: Option<&Model>, log_loss: f64) -> Self {
        Self {
            path,
            classifier: model.map_or_else(|| "probabilities".to_owned(), learner_name),
            log_loss,
        }
    }

    /// At one of several systems.
    pub fn at(system: &'a System, log_loss: f64) -> Self {
        Self::new(&system.path, system.model.as_ref(), log_loss)
    }
}

/// Why no ledger is kept somewhere.
#[derive(Debug, thiserror::Error)]
#[error("no ledger of evaluations is kept: `{}`: {error}", path.display())]
pub struct LedgerProblem {
    /// Where.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
}

impl LedgerProblem {
    fn new(path: &Path, error: io::Error) -> Self {
        Self {
            path: path.to_owned(),
            error,
        }
    }
}

/// The learner's name as model files write it.
fn learner_name(model: &Model) -> String {
    let tag = |model: &SingleModel| model.settings().classifier.tag();
    model.as_single().map_or("combination", tag).to_owned()
}

/// Says how often the test set was evaluated before, and writes down that it was now, in a file beside each of the systems.
/// No evaluation fails because of its ledger: what goes wrong is listed in `problems`. `None` where there is no ledger.
pub fn record_looks(
    test_set: &TestSetHash,
    looks: &[Look<'_>],
    problems: &mut Vec<LedgerProblem>,
) -> Option<LedgerNote> {
    let test_set_hash = test_set.to_hex();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let time = utc_time(now.map_or(0, |since| since.as_secs()));
    let mut lines: BTreeMap<PathBuf, String> = BTreeMap::new();
    for look in looks {
        // What is not an ordinary file has no folder of its own to keep a ledger in.
        if !look.path.metadata().is_ok_and(|found| found.is_file()) {
            continue;
        }
        let model_hash = match File::open(look.path).and_then(content_hash) {
            Ok(hash) => hash,
            Err(error) => {
                problems.push(LedgerProblem::new(look.path, error));
                continue;
            }
        };
        let name = look.path.file_name().unwrap_or_default();
        let entry = LedgerEntry {
            time: time.clone(),
            test_set: test_set_hash.clone(),
            rows: test_set.rows(),
            model: name.to_string_lossy().into_owned(),
            model_hash,
            classifier: look.classifier.clone(),
            log_loss: look.log_loss,
        };
        match entry.line() {
            Ok(line) => *lines.entry(ledger_of(look.path)).or_default() += &line,
            Err(error) => problems.push(LedgerProblem::new(look.path, error)),
        }
    }
    let mut ledger: Option<Ledger> = None;
    for (path, lines) in &lines {
        match read_and_append(path, lines) {
            Ok(before) => ledger.get_or_insert_default().merge(before),
            Err(error) => problems.push(LedgerProblem::new(path, error)),
        }
    }
    Some(ledger?.note(&test_set_hash))
}

fn ledger_of(model: &Path) -> PathBuf {
    let folder = model
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // Two ways to write one folder are one ledger.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.join(LEDGER_FILE_NAME)
}

/// What the ledger said before, after adding lines to it in one write.
fn read_and_append(path: &Path, lines: &str) -> io::Result<Ledger> {
    // Opening a pipe would wait for its other end: looked at first.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is not an ordinary file"));
    }
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)?;
    let length = file.metadata()?.len();
    // Of a ledger that is too long the end is read; the line that is cut in two is passed over.
    file.seek(SeekFrom::Start(length.saturating_sub(Ledger::MOST_BYTES)))?;
    let ledger = Ledger::read(&file)?;
    // A last line that was cut short must not swallow the first of ours.
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let line_break = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{line_break}{lines}").as_bytes())?;
    Ok(ledger)
}
