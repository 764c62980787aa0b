//! Files of documents to an index.

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::build::{IndexBuilder, IndexSettings, IndexSummary};
use super::document::{AnalyzedDocument, DocumentAnalyzer, IndexDocument};
use super::error::IndexError;
use crate::Progress;
use crate::corpus::{
    Content, Document, Format, LabelNeed, ReadError, ReadOptions, Source, open_lines,
    read_batches_until, read_trec_documents,
};
use crate::parallel;
use crate::progress::Stage;
use crate::text::AnalyzerBuffers;

/// How documents are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum DocumentFormat {
    /// One of the formats of [`crate::corpus`].
    Corpus(Format),
    /// Documents of the Text REtrieval Conference, see [`crate::corpus::TrecDocuments`].
    Trec,
}

/// A name that is not a format of documents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a format of documents; it must be csv, tsv, jsonl, parquet, xlsx, ods, fasttext, folder or trec"
)]
pub struct UnknownDocumentFormat(pub String);

impl FromStr for DocumentFormat {
    type Err = UnknownDocumentFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == "trec" {
            return Ok(Self::Trec);
        }
        match name.parse() {
            // Rows of numbers have no words.
            Ok(Format::SvmLight) | Err(_) => Err(UnknownDocumentFormat(name.to_owned())),
            Ok(format) => Ok(Self::Corpus(format)),
        }
    }
}

impl TryFrom<String> for DocumentFormat {
    type Error = UnknownDocumentFormat;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

impl From<DocumentFormat> for String {
    fn from(format: DocumentFormat) -> Self {
        format.to_string()
    }
}

impl fmt::Display for DocumentFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corpus(format) => format.fmt(formatter),
            Self::Trec => formatter.write_str("trec"),
        }
    }
}

/// How files of documents are read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DocumentOptions {
    /// The format, if the name and the first bytes shall not decide.
    pub format: Option<DocumentFormat>,
    /// Fields, filters and limits. Without a field for identifiers it is `id`; labels are not read.
    pub reading: ReadOptions,
    /// A field to show as the title; TREC documents have their own.
    pub title: Option<String>,
    /// Documents are called 1, 2, … in their order, whatever the files say.
    pub numbered: bool,
}

/// Reads all documents of the sources and writes their index to `target`.
///
/// Reading and analysis run on all threads; the answer of the index does not depend on how many. Malformed rows are
/// errors, or counted where `skip_bad_rows` is set: the second part of the answer.
pub fn build_index(
    sources: &[Source],
    target: &Path,
    settings: IndexSettings,
    options: &DocumentOptions,
    progress: &dyn Progress,
) -> Result<(IndexSummary, u64), IndexError> {
    let builder = IndexBuilder::create(target, settings)?;
    let mut sink = Sink {
        analyzer: builder.analyzer(),
        builder,
        numbered: options.numbered,
        count: 0,
        bad_rows: 0,
    };
    for source in sources {
        let format = match options.format {
            Some(format) => Some(format),
            None => sniff(source)?,
        };
        match format {
            Some(DocumentFormat::Trec) => {
                check_no_fields(source, options)?;
                for source in files_below(source)? {
                    sink.trec(&source, options, progress)?;
                }
            }
            Some(DocumentFormat::Corpus(format)) => {
                sink.corpus(source, Some(format), options, progress)?;
            }
            None => sink.corpus(source, None, options, progress)?,
        }
    }
    let stage = Stage::begin(progress, "writing", None);
    // From here on the index is made whole; before, nothing of it is in its place.
    stage.step(0)?;
    Ok((sink.builder.finish()?, sink.bad_rows))
}

/// What would choose fields of TREC documents, which have none, is refused rather than passed over.
fn check_no_fields(source: &Source, options: &DocumentOptions) -> Result<(), IndexError> {
    let fields = &options.reading.fields;
    let given = [
        ("the text field", !fields.text.is_empty()),
        ("the id field", fields.id.is_some()),
        ("the title field", options.title.is_some()),
        ("a filter", !options.reading.filters.is_empty()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(IndexError::NoFields {
            file: source.name(),
            option,
        }),
    }
}

/// Takes documents in and numbers them.
struct Sink {
    analyzer: DocumentAnalyzer,
    builder: IndexBuilder,
    numbered: bool,
    count: u64,
    bad_rows: u64,
}

/// TREC documents that are analysed at once.
const BATCH_DOCUMENTS: usize = 1024;
const BATCH_BYTES: usize = 8 << 20;

impl Sink {
    fn add(&mut self, file: &str, mut analyzed: AnalyzedDocument) -> Result<(), IndexError> {
        self.count += 1;
        if self.numbered {
            analyzed.document.id = self.count.to_string();
        }
        self.builder.add_analyzed(file, analyzed)
    }

    fn corpus(
        &mut self,
        source: &Source,
        format: Option<Format>,
        options: &DocumentOptions,
        progress: &dyn Progress,
    ) -> Result<(), IndexError> {
        let mut reading = options.reading.clone();
        reading.format = format;
        reading.labels_required = LabelNeed::Ignored;
        if !options.numbered {
            reading.fields.id.get_or_insert_with(|| "id".to_owned());
        }
        reading.fields.asked = options.title.iter().cloned().collect();
        let file = source.name();
        let analyzer = self.analyzer.clone();
        let analyze = |batch: Vec<Document>| -> Vec<Result<AnalyzedDocument, IndexError>> {
            let mut buffers = AnalyzerBuffers::default();
            let documents = batch
                .into_iter()
                .map(|document| from_corpus(&file, document));
            documents
                .map(|document| Ok(analyzer.analyze(document?, &mut buffers)))
                .collect()
        };
        let mut outcome = Ok(());
        let summary = read_batches_until(source, &reading, progress, analyze, |batch| {
            for document in batch {
                if let Err(error) = document.and_then(|document| self.add(&file, document)) {
                    outcome = Err(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        outcome?;
        self.bad_rows += summary?.bad_row_count;
        Ok(())
    }

    fn trec(
        &mut self,
        source: &Source,
        options: &DocumentOptions,
        progress: &dyn Progress,
    ) -> Result<(), IndexError> {
        let file = source.name();
        let mut documents = read_trec_documents(source, options.reading.max_row_bytes)?;
        let stage = Stage::begin(progress, "reading", None);
        loop {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            let mut failed = None;
            while batch.len() < BATCH_DOCUMENTS && bytes < BATCH_BYTES {
                match documents.next() {
                    None => break,
                    Some(Ok(document)) => {
                        bytes += document.text.len();
                        batch.push(document);
                    }
                    Some(Err(ReadError::BadRow(_))) if options.reading.skip_bad_rows => {
                        self.bad_rows += 1;
                    }
                    Some(Err(error)) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            let last = batch.is_empty();
            let analyzed =
                parallel::map_owned_with(batch, AnalyzerBuffers::default, |buffers, document| {
                    self.analyzer.analyze(document.into(), buffers)
                });
            let added = analyzed
                .into_iter()
                .try_for_each(|document| self.add(&file, document));
            let go_on = stage.step(bytes as u64);
            match (added, failed) {
                (Err(error), _) => return Err(error),
                (Ok(()), Some(error)) => return Err(error.into()),
                (Ok(()), None) if last => return Ok(()),
                (Ok(()), None) => go_on?,
            }
        }
    }
}

fn from_corpus(file: &str, document: Document) -> Result<IndexDocument, IndexError> {
    let line = document.line;
    let (title, text) = match document.content {
        Content::Text(text) => (None, Some(text)),
        Content::Record(record) => (record.asked.into_iter().next(), record.text),
        Content::Features(_) => (None, None),
    };
    Ok(IndexDocument {
        id: document.id.unwrap_or_default(),
        title: title.filter(|title| !title.is_empty()),
        text: text.ok_or_else(|| IndexError::NoText {
            file: file.to_owned(),
            line,
        })?,
        line,
    })
}

/// Whether a file that says nothing by its name begins as TREC documents do.
fn sniff(source: &Source) -> Result<Option<DocumentFormat>, IndexError> {
    // Looking at the first bytes of what can be read once would take them.
    let is_folder = matches!(source, Source::Path(path) if path.is_dir());
    let named = Format::of_path(Path::new(&source.name())).is_some();
    if is_folder || named || !source.can_be_read_again() {
        return Ok(None);
    }
    let Some(mut lines) = open_lines(source)? else {
        return Ok(None);
    };
    let mut head = Vec::new();
    // The reader itself reports what cannot be read.
    let _ = std::io::Read::read_to_end(&mut std::io::Read::take(&mut lines, 4096), &mut head);
    let head = head.trim_ascii_start();
    let begins = head
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case(b"<doc>"));
    Ok(begins.then_some(DocumentFormat::Trec))
}

/// The source itself, or all files below it in the order of their names; hidden ones are left out.
fn files_below(source: &Source) -> Result<Vec<Source>, IndexError> {
    let Source::Path(root) = source else {
        return Ok(vec![source.clone()]);
    };
    if !root.is_dir() {
        return Ok(vec![source.clone()]);
    }
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(IndexError::io("read", &folder))?;
        for entry in entries {
            let entry = entry.map_err(IndexError::io("read", &folder))?;
            // Links are not followed: they may lead in circles.
            let kind = entry.file_type().map_err(IndexError::io("read", &folder))?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort_unstable();
    Ok(files.into_iter().map(Source::Path).collect())
}
