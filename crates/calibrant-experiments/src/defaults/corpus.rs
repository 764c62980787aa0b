//! Prepared corpora: one file of JSON Lines each, and a line about it.

use std::error::Error;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cell::Size;
use super::split::{MOST_TEST_ROWS, Split, draw_split};

/// What a corpus was used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Half {
    /// Constants were chosen on it.
    Choosing,
    /// Nothing was chosen on it.
    Reporting,
    /// A split that is shifted: shown, neither chosen by nor counted.
    Beside,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct About {
    pub(super) name: String,
    pub(super) half: Half,
    pub(super) several: bool,
    pub(super) rows: usize,
    pub(super) classes: usize,
}

/// The corpora that are there, in the order of their names; those asked for that are not are an error.
pub(super) fn list(folder: &Path, only: &[String]) -> Result<Vec<About>, Box<dyn Error>> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(|error| {
        format!(
            "{}: {error}; `bench/run defaults` or bench/defaults_corpora.py prepares the corpora",
            folder.display()
        )
    })?;
    for entry in entries {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".about.json") {
            let about: About = serde_json::from_slice(&std::fs::read(&path)?)?;
            found.push(about);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(name) = only.iter().find(|&n| found.iter().all(|a| a.name != *n)) {
        let names: Vec<&str> = found.iter().map(|about| about.name.as_str()).collect();
        return Err(format!("no corpus `{name}`; there are {}", names.join(", ")).into());
    }
    found.retain(|about| only.is_empty() || only.contains(&about.name));
    Ok(found)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Labels {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
struct Row {
    label: Labels,
    group: u64,
    split: Option<String>,
}

/// A corpus in memory: its lines as they are, and what a split needs to know of them.
pub(super) struct PreparedCorpus {
    pub(super) about: About,
    pub(super) lines: Vec<String>,
    pub(super) labels: Vec<Vec<String>>,
    groups: Vec<u64>,
    /// Whether a row is a test row, where the corpus came divided.
    given: Option<Vec<bool>>,
}

impl PreparedCorpus {
    pub(super) fn read(folder: &Path, about: &About) -> Result<Self, Box<dyn Error>> {
        let text = std::fs::read_to_string(folder.join(format!("{}.jsonl", about.name)))?;
        let mut corpus = Self {
            about: about.clone(),
            lines: Vec::new(),
            labels: Vec::new(),
            groups: Vec::new(),
            given: None,
        };
        let mut given = Vec::new();
        for line in text.split('\n').filter(|line| !line.is_empty()) {
            let row: Row = serde_json::from_str(line)?;
            corpus.labels.push(match row.label {
                Labels::One(label) => vec![label],
                Labels::Several(labels) => labels,
            });
            corpus.groups.push(row.group);
            corpus.lines.push(line.to_owned());
            given.extend(row.split.map(|split| split == "test"));
        }
        if given.len() == corpus.lines.len() {
            corpus.given = Some(given);
        }
        Ok(corpus)
    }

    /// Sizes that the corpus is large enough for, and all, unless that is hardly another one.
    pub(super) fn sizes(&self) -> Vec<Size> {
        if self.given.is_some() {
            return vec![Size::All];
        }
        let rest = self.lines.len() - (self.lines.len() / 3).min(MOST_TEST_ROWS);
        let fits = |size: &Size| matches!(size, Size::Documents(count) if *count <= rest);
        let mut sizes: Vec<Size> = Size::GIVEN.into_iter().filter(fits).collect();
        match sizes.last() {
            Some(Size::Documents(largest)) if 10 * rest <= 11 * largest => {}
            _ => sizes.push(Size::All),
        }
        sizes
    }

    /// Rows to learn from and to test on.
    pub(super) fn split(&self, size: Size, draw: u64) -> Split {
        if let Some(given) = &self.given {
            let rows = |wanted: bool| (0..given.len()).filter(move |&row| given[row] == wanted);
            return Split {
                training: rows(false).collect(),
                test: rows(true).collect(),
            };
        }
        let mut split = draw_split(&self.groups, draw);
        if let Size::Documents(count) = size {
            split.training.truncate(count);
        }
        split
    }
}
