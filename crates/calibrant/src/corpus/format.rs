//! The file formats, their names and the endings they are known by.

use std::path::Path;

use calibrant_calibration::named;
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
    /// A sheet of an Excel workbook.
    Xlsx,
    /// A sheet of an OpenDocument spreadsheet.
    Ods,
    /// Lines of `__label__a __label__b text`.
    #[serde(alias = "fasttext")]
    FastText,
    /// A folder with one subfolder of text files per class.
    Folder,
    /// Lines of `label index:value ...`.
    #[serde(alias = "svmlight")]
    SvmLight,
}

named! {
    Format, "a known format";
    Csv = "csv", "Comma-separated values with a header line";
    Tsv = "tsv", "Tab-separated values with a header line";
    JsonLines = "jsonl" | "json_lines", "A JSON object per line";
    Parquet = "parquet", "Apache Parquet";
    Xlsx = "xlsx", "A sheet of an Excel workbook";
    Ods = "ods", "A sheet of an OpenDocument spreadsheet";
    FastText = "fasttext" | "fast_text", "Lines of __label__a __label__b text";
    Folder = "folder", "A folder with a subfolder of text files per class";
    SvmLight = "svmlight" | "svm_light", "Lines of label index:value …";
}

impl Format {
    /// Whether its bytes are no text.
    pub(super) fn is_binary(self) -> bool {
        matches!(self, Format::Parquet | Format::Xlsx | Format::Ods)
    }

    /// Whether it is a sheet of a workbook.
    pub(super) fn is_spreadsheet(self) -> bool {
        matches!(self, Format::Xlsx | Format::Ods)
    }

    /// The cargo feature that reads it.
    pub(super) fn feature(self) -> &'static str {
        match self.is_spreadsheet() {
            true => "spreadsheet",
            false => self.name(),
        }
    }

    /// What a place in such a file is counted in: rows where there are no lines.
    pub fn unit(self) -> &'static str {
        match self.is_binary() {
            true => "row",
            false => "line",
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
            "xlsx" | "xlsm" => Some(Format::Xlsx),
            "ods" => Some(Format::Ods),
            "fasttext" | "ft" => Some(Format::FastText),
            "svm" | "svmlight" | "libsvm" => Some(Format::SvmLight),
            _ => None,
        }
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
