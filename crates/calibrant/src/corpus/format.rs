//! The file formats, their names and the endings they are known by.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How a corpus is written down.
///
/// ```
/// use calibrant::corpus::Format;
/// assert_eq!(Format::of_path("reviews.jsonl.gz".as_ref()), Some(Format::JsonLines));
/// assert_eq!(Format::of_path("reviews.txt".as_ref()), None); // could be anything
/// assert_eq!("jsonl".parse(), Ok(Format::JsonLines));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Comma-separated values with a header line; quoted fields may hold line breaks.
    Csv,
    /// Tab-separated values with a header line; one line is one row.
    Tsv,
    /// One JSON object per line.
    #[serde(alias = "jsonl")]
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Lines of `__label__a __label__b text`.
    #[serde(alias = "fasttext")]
    FastText,
    /// A folder with one subfolder of text files per class.
    Folder,
    /// Lines of `label index:value ...`.
    #[serde(alias = "svmlight")]
    SvmLight,
}

impl Format {
    /// Every format, in the order messages list them.
    pub const ALL: [Format; 7] = [
        Format::Csv,
        Format::Tsv,
        Format::JsonLines,
        Format::Parquet,
        Format::FastText,
        Format::Folder,
        Format::SvmLight,
    ];

    /// The name used on the command line and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::JsonLines => "jsonl",
            Format::Parquet => "parquet",
            Format::FastText => "fasttext",
            Format::Folder => "folder",
            Format::SvmLight => "svmlight",
        }
    }

    /// The format an ending stands for; `.gz` and `.zst` are looked through.
    ///
    /// Looks at the name only. Endings that say nothing (`.txt`, `.data`) give `None`,
    /// and the first bytes of the file have to decide.
    pub fn of_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = [".gz", ".zst", ".zstd"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "csv" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "jsonl" | "ndjson" | "jsonlines" | "json" => Some(Format::JsonLines),
            "parquet" | "pq" => Some(Format::Parquet),
            "fasttext" | "ft" => Some(Format::FastText),
            "svm" | "svmlight" | "libsvm" => Some(Format::SvmLight),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a known format; it must be csv, tsv, jsonl, parquet, fasttext, folder or svmlight"
)]
pub struct UnknownFormatName(pub String);

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Format::ALL
            .into_iter()
            .find(|format| format.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownFormatName(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_parsed_from_its_own_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert!(
            "xml"
                .parse::<Format>()
                .unwrap_err()
                .to_string()
                .contains("parquet")
        );
    }

    #[test]
    fn endings_are_looked_up_below_the_compression() {
        let format = |name: &str| Format::of_path(Path::new(name));
        assert_eq!(format("a/b.CSV"), Some(Format::Csv));
        assert_eq!(format("b.tsv.zst"), Some(Format::Tsv));
        assert_eq!(format("b.parquet.gz"), Some(Format::Parquet));
        assert_eq!(format("train.svm"), Some(Format::SvmLight));
        assert_eq!(format("corpus.ft"), Some(Format::FastText));
        assert_eq!(format("csv"), None);
        assert_eq!(format("b.gz"), None);
        assert_eq!(format(""), None);
    }

    #[test]
    fn names_in_files_are_snake_case() {
        assert_eq!(
            serde_json::to_string(&Format::JsonLines).unwrap(),
            "\"json_lines\""
        );
        assert_eq!(
            serde_json::from_str::<Format>("\"jsonl\"").unwrap(),
            Format::JsonLines
        );
    }
}
