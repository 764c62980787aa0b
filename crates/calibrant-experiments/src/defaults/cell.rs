//! One cell of the experiment: a corpus, a number of training documents, a draw.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(super) enum Size {
    Documents(usize),
    All,
}

impl Size {
    pub(super) const GIVEN: [Self; 4] = [
        Self::Documents(300),
        Self::Documents(1_000),
        Self::Documents(3_000),
        Self::Documents(10_000),
    ];
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" {
            return Ok(Self::All);
        }
        let size = text.parse().ok().map(Self::Documents);
        size.filter(|size| Self::GIVEN.contains(size))
            .ok_or_else(|| "sizes are 300, 1000, 3000, 10000 and all".to_owned())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Documents(count) => write!(f, "{count}"),
            Self::All => f.write_str("all"),
        }
    }
}

impl From<Size> for String {
    fn from(size: Size) -> Self {
        size.to_string()
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) corpus: String,
    pub(super) size: Size,
    pub(super) draw: u64,
    pub(super) copies: bool,
}

impl Cell {
    /// The folder that the peers' script gives it.
    pub(super) fn folder(&self) -> String {
        let copies = if self.copies { "-copies" } else { "" };
        format!("{}-{}{copies}", self.size, self.draw)
    }

    /// The cell of a folder.
    pub(super) fn of_folder(corpus: &str, folder: &str) -> Option<Self> {
        let (rest, copies) = match folder.strip_suffix("-copies") {
            Some(rest) => (rest, true),
            None => (folder, false),
        };
        let (size, draw) = rest.split_once('-')?;
        Some(Self {
            corpus: corpus.to_owned(),
            size: size.parse().ok()?,
            draw: draw.parse().ok()?,
            copies,
        })
    }
}

/// What one way of fitting gave in one cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Outcome {
    #[serde(flatten)]
    pub(super) cell: Cell,
    pub(super) way: String,
    /// The program's key; peers have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<String>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
    #[serde(default, flatten)]
    pub(super) measures: Option<Measures>,
    /// Seconds of all processors, and on the clock.
    pub(super) cpu: f64,
    pub(super) wall: f64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Measures {
    /// Training documents, copies not counted.
    pub(super) training: usize,
    pub(super) test: usize,
    /// Test documents of classes that the training part has not.
    pub(super) left_out: usize,
    pub(super) classes: usize,
    pub(super) log_loss: f64,
    pub(super) brier: f64,
    pub(super) ece: f64,
    pub(super) ece_of_perfect: f64,
    pub(super) errors: f64,
    pub(super) expected_errors: f64,
    /// (observed - expected errors) / √(Σ e(1-e) · (1 + test/training)).
    pub(super) z: f64,
}

impl Outcome {
    pub(super) fn line(&self) -> String {
        let Cell { corpus, .. } = &self.cell;
        let what = match (&self.measures, &self.refused) {
            (Some(m), _) => format!(
                "log loss {:.5}, ECE {:.4} (perfect {:.4}), z {:+.1}",
                m.log_loss, m.ece, m.ece_of_perfect, m.z
            ),
            (None, refused) => refused.clone().unwrap_or_default(),
        };
        let (way, cpu) = (&self.way, self.cpu);
        format!(
            "{corpus} {} {way}: {what}; {cpu:.2} CPU s",
            self.cell.folder()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_cells() {
        for folder in ["300-0", "all-4-copies", "10000-2"] {
            let cell = Cell::of_folder("r52", folder).expect("a cell");
            assert_eq!(cell.folder(), folder);
        }
        assert_eq!(Cell::of_folder("r52", "301-0"), None);
        assert_eq!(Cell::of_folder("r52", "all"), None);
    }
}
