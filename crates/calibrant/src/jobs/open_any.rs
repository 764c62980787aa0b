//! Whatever calibrant saved, opened as what it is.

use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

use super::PolicyFile;
use crate::pipeline::{Model, ScoreCalibrator};
use crate::ranking::learning::RankModel;
use crate::saved::{
    Saveable, SavedFileError, SavedKind, SavedProblem, in_memory, kind_of, map_file,
};

/// What a saved file holds.
#[derive(Debug)]
#[non_exhaustive]
pub enum Saved {
    /// A model of texts, or several combined.
    Model(Model),
    /// A learned ranking.
    Ranking(RankModel),
    /// A calibrator of scores.
    Calibrator(ScoreCalibrator),
    /// Which of several sources of answers answers what.
    Policy(PolicyFile),
}

impl Saved {
    /// What kind of file it came from.
    pub fn kind(&self) -> SavedKind {
        match self {
            Self::Model(Model::Single(_)) => SavedKind::Model,
            Self::Model(Model::Combined(_)) => SavedKind::Combination,
            Self::Ranking(_) => SavedKind::Ranking,
            Self::Calibrator(_) => SavedKind::Calibrator,
            Self::Policy(_) => SavedKind::Policy,
        }
    }

    fn read(map: &Arc<Mmap>) -> Result<Self, SavedFileError> {
        fn read<T: Saveable>(map: &Arc<Mmap>) -> Result<T, SavedFileError> {
            T::read(map).map_err(|problem| SavedFileError::new(T::KIND, problem))
        }
        match kind_of(map) {
            // The error of a foreign file says why it is not a model.
            Some(SavedKind::Model | SavedKind::Combination) | None => Ok(Self::Model(read(map)?)),
            Some(SavedKind::Ranking) => Ok(Self::Ranking(read(map)?)),
            Some(SavedKind::Calibrator) => Ok(Self::Calibrator(read(map)?)),
            Some(SavedKind::Policy) => Ok(Self::Policy(read(map)?)),
            // A manifest is nothing without the folder around it.
            Some(found @ SavedKind::Index) => {
                Err(SavedFileError::of_any(SavedProblem::OtherKind { found }))
            }
        }
    }
}

/// Opens a model, a combination, a ranking, a calibrator or a policy as what it is. An index is a folder, which
/// `SearchIndex::open` opens.
///
/// ```
/// use calibrant::jobs::open_any;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("table.csv");
/// std::fs::write(&path, "id,label,text\n")?;
/// let error = open_any(&path).unwrap_err();
/// assert!(error.is_foreign()); // a table, perhaps, but nothing that calibrant saved
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn open_any(path: &Path) -> Result<Saved, SavedFileError> {
    map_file(path)
        .map_err(SavedFileError::of_any)
        .and_then(|map| Saved::read(&map))
        .map_err(|error| error.at(path))
}

/// As [`open_any`], of bytes in memory.
pub fn open_any_bytes(bytes: &[u8]) -> Result<Saved, SavedFileError> {
    let map = in_memory(bytes).map_err(SavedFileError::of_any)?;
    Saved::read(&map)
}
