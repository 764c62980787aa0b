//! A folder with one subfolder per class, each holding one text file per document.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::RowProblem;
use super::pieces::PieceSource;
use super::plan::{Plan, Value};
use super::rows::Parsed;
use super::source::{path_error, read_small_file};
use super::{Document, ReadError, ReadOptions};

/// How many files make a piece.
const FILES_PER_PIECE: usize = 128;

/// One document still to be read.
pub(super) struct Entry {
    path: PathBuf,
    label: String,
}

/// Lists the class folders one after the other, files by name. Read are files that end in
/// `.txt` or have no ending, both also with `.gz` or `.zst` behind; hidden ones are not.
pub(super) struct Folder {
    /// Class folders still to be listed, last first.
    classes: Vec<PathBuf>,
    /// Files still to be handed out, last first.
    files: Vec<Entry>,
    /// Bytes of text so far; counted by [`FolderFormat`], which reads the files.
    bytes: Arc<AtomicU64>,
}

impl Folder {
    pub(super) fn new(root: &Path, bytes: Arc<AtomicU64>) -> Result<Self, ReadError> {
        let mut classes = sorted_children(root, |path| path.is_dir())?;
        if classes.is_empty() {
            return Err(ReadError::IsDirectory {
                path: root.to_owned(),
                hint: "a folder needs one subfolder of text files per class",
            });
        }
        classes.reverse();
        Ok(Self {
            classes,
            files: Vec::new(),
            bytes,
        })
    }
}

impl PieceSource for Folder {
    type Piece = Vec<Entry>;

    fn next_piece(&mut self) -> Result<Option<Vec<Entry>>, ReadError> {
        let mut piece = Vec::new();
        while piece.len() < FILES_PER_PIECE {
            if let Some(file) = self.files.pop() {
                piece.push(file);
            } else if let Some(class) = self.classes.pop() {
                let label = file_name(&class);
                let mut paths = sorted_children(&class, is_text_file)?;
                paths.reverse();
                let entry = |path| Entry {
                    path,
                    label: label.clone(),
                };
                self.files = paths.into_iter().map(entry).collect();
            } else {
                break;
            }
        }
        Ok((!piece.is_empty()).then_some(piece))
    }

    fn bytes_read(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn weight(piece: &Vec<Entry>) -> usize {
        piece.len() << 13
    }
}

/// What the parts of a text file in a folder are called.
pub(super) const FOLDER_FIELDS: [&str; 3] = ["text", "label", "id"];

/// Reads the files of a piece. The fields are `text`, `label` (the class folder) and `id` (the
/// path below the root).
pub(super) struct FolderFormat {
    plan: Plan,
    bytes: Arc<AtomicU64>,
}

impl FolderFormat {
    pub(super) fn new(
        file: &str,
        options: &ReadOptions,
        bytes: Arc<AtomicU64>,
    ) -> Result<Self, ReadError> {
        let available = FOLDER_FIELDS.map(str::to_owned);
        let mut options = options.clone();
        // Where a document comes from is always known; say so unless told otherwise.
        options.fields.id.get_or_insert_with(|| "id".to_owned());
        let plan = Plan::resolve(file, &options, &available)?;
        Ok(Self { plan, bytes })
    }

    pub(super) fn parse(
        &self,
        entries: Vec<Entry>,
        options: &ReadOptions,
    ) -> Result<Parsed, ReadError> {
        let mut parsed = Parsed::default();
        for entry in entries {
            let file = entry.path.display().to_string();
            let (outcome, bytes) =
                match read_small_file(&entry.path, options.max_row_bytes, options.layout.encoding)?
                {
                    None => (Err(RowProblem::too_long()), Vec::new()),
                    Some(bytes) => {
                        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                        (self.document(&entry, &bytes), bytes)
                    }
                };
            parsed.push(outcome, &file, 1, &bytes, options)?;
        }
        Ok(parsed)
    }

    fn document(&self, entry: &Entry, bytes: &[u8]) -> Result<Option<Document>, RowProblem> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| RowProblem::invalid_utf8(error.valid_up_to()))?;
        let id = format!("{}/{}", entry.label, file_name(&entry.path));
        let value = |column: &String| {
            Value::Text(Cow::Borrowed(match column.as_str() {
                "text" => text,
                "id" => id.as_str(),
                _ => entry.label.as_str(),
            }))
        };
        let values: Vec<Value<'_>> = self.plan.columns.iter().map(value).collect();
        self.plan.row(&values, 1)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The children that are wanted and not hidden, by name.
fn sorted_children(
    folder: &Path,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, ReadError> {
    let mut names: Vec<OsString> = Vec::new();
    for child in std::fs::read_dir(folder).map_err(|error| path_error(folder, error))? {
        names.push(
            child
                .map_err(|error| path_error(folder, error))?
                .file_name(),
        );
    }
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    names.sort_unstable();
    let paths = names.into_iter().map(|name| folder.join(name));
    Ok(paths.filter(|path| wanted(path)).collect())
}

fn is_text_file(path: &Path) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    let name = [".gz", ".zst"]
        .iter()
        .find_map(|e| name.strip_suffix(e))
        .unwrap_or(&name);
    (name.ends_with(".txt") || !name.contains('.')) && path.is_file()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::{gzip, text_of, zstandard};
    use super::super::{Fields, NoRowsReason, ReadError, ReadOptions, Source, read_all};
    use super::*;
    use crate::NoProgress;

    fn read(root: &Path, options: &ReadOptions) -> Result<Vec<Document>, ReadError> {
        let source = Source::Path(root.to_owned());
        read_all(&source, options, &NoProgress).map(|(documents, _)| documents)
    }

    fn corpus() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for class in ["spam", "ham", ".git"] {
            fs::create_dir(root.path().join(class)).unwrap();
        }
        let write = |name: &str, bytes: &[u8]| fs::write(root.path().join(name), bytes).unwrap();
        write("spam/2.txt", b"two");
        write("spam/10.txt.gz", &gzip(b"ten"));
        write("spam/notes.pdf", b"not a text");
        write("ham/49960", b"no ending");
        write("ham/b.txt.zst", &zstandard(b"\xEF\xBB\xBFpacked"));
        write("ham/empty.txt", b"");
        write(".git/x.txt", b"hidden");
        write("readme.txt", b"beside the classes");
        root
    }

    #[test]
    fn classes_and_files_come_in_the_order_of_their_names() {
        let root = corpus();
        let documents = read(root.path(), &ReadOptions::default()).unwrap();
        let ids: Vec<&str> = documents.iter().filter_map(|d| d.id.as_deref()).collect();
        let expected = [
            "ham/49960",
            "ham/b.txt.zst",
            "ham/empty.txt",
            "spam/10.txt.gz",
            "spam/2.txt",
        ];
        assert_eq!(ids, expected);
        assert_eq!(
            text_of(&documents),
            ["no ending", "packed", "", "ten", "two"]
        );
        assert_eq!(
            (
                documents[0].labels[0].as_str(),
                documents[4].labels[0].as_str()
            ),
            ("ham", "spam")
        );
    }

    #[test]
    fn many_files_are_read_in_order() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        for number in 0..300 {
            let name = format!("a/{number:04}.txt");
            fs::write(root.path().join(name), number.to_string()).unwrap();
        }
        let documents = read(root.path(), &ReadOptions::default()).unwrap();
        let expected: Vec<String> = (0..300).map(|number: i32| number.to_string()).collect();
        assert_eq!(text_of(&documents), expected);
    }

    #[test]
    fn filters_and_fields_use_the_fixed_names() {
        let root = corpus();
        let filters = vec!["label=spam".parse().unwrap()];
        let options = ReadOptions {
            filters,
            ..ReadOptions::default()
        };
        assert_eq!(read(root.path(), &options).unwrap().len(), 2);
        let fields = Fields {
            label: Some("class".into()),
            ..Fields::default()
        };
        let outcome = read(
            root.path(),
            &ReadOptions {
                fields,
                ..ReadOptions::default()
            },
        );
        assert!(matches!(outcome, Err(ReadError::UnknownField { field, .. }) if field == "class"));
    }

    #[test]
    fn a_folder_without_classes_or_without_files_is_explained() {
        let root = tempfile::tempdir().unwrap();
        let error = read(root.path(), &ReadOptions::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("one subfolder of text files per class"),
            "{error}"
        );
        fs::create_dir(root.path().join("a")).unwrap();
        let outcome = read(root.path(), &ReadOptions::default());
        let Err(ReadError::NoRows { reason, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(reason, NoRowsReason::NoFiles);
    }

    #[test]
    fn bad_files_are_named() {
        let root = corpus();
        fs::write(root.path().join("ham/c.txt"), b"ok\nb\xFFd").unwrap();
        let error = read(root.path(), &ReadOptions::default()).unwrap_err();
        assert!(
            matches!(
                error,
                ReadError::InvalidUtf8 {
                    line: 2,
                    column: 2,
                    ..
                }
            ),
            "{error}"
        );
        assert!(error.to_string().contains("c.txt"));
        let skipping = ReadOptions {
            skip_bad_rows: true,
            ..ReadOptions::default()
        };
        assert_eq!(read(root.path(), &skipping).unwrap().len(), 5);
        let short = ReadOptions {
            max_row_bytes: 4,
            ..skipping
        };
        assert!(matches!(
            read(root.path(), &short),
            Err(ReadError::RowTooLong { .. })
        ));
    }
}
