//! Documents to an index.

use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use tantivy::indexer::NoMergePolicy;
use tantivy::store::Compressor;
use tantivy::{Index, IndexWriter, SegmentReader, TantivyDocument};

use super::document::{AnalyzedDocument, DocumentAnalyzer};
use super::document_ids::write_document_ids;
use super::error::IndexError;
use super::manifest::{AnalysisCounts, FileEntry, MANIFEST, Manifest, describe_files, part_names};
use super::schema::{IndexFields, register_tokenizer};
use super::target::{check_target, move_into_place};
use super::term_counts::write_collection_frequencies;
use crate::ranking::functions::{Analysis, CollectionStatistics};
use crate::saved::{self, TemporaryFolder};
use crate::text::{Language, WordRules};

/// How documents are indexed. Saved with the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IndexSettings {
    /// Whose stems; Porter's rules of 1980 for English by default.
    pub stemmer: Language,
    /// Whose stop words; English ones by default.
    pub stop_words: Language,
    /// Whether titles and texts are kept to be shown; yes by default.
    pub store_text: bool,
    /// What is a word where Unicode's boundaries are not enough; indexes that were made before there was a choice have
    /// [`WordRules::before`].
    pub words: WordRules,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self {
            stemmer: Language::Porter,
            stop_words: Language::English,
            store_text: true,
            words: WordRules::default(),
        }
    }
}

/// The longest identifier, in bytes.
pub(super) const LONGEST_ID: usize = 1024;

/// What an index came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndexSummary {
    /// Documents, empty ones included.
    pub documents: u64,
    /// Documents without a single word.
    pub empty_documents: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Terms under each analysis.
    pub analyses: Vec<AnalysisCounts>,
}

/// Memory of the search engine before it writes what it has to disk.
const ENGINE_BYTES: usize = 256 << 20;

/// Writes an index. Nothing is at its place before [`IndexBuilder::finish`].
///
/// ```
/// use calibrant::index::{IndexBuilder, IndexDocument, IndexSettings, SearchIndex};
/// use calibrant::ranking::functions::BaseFunction;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("fruit");
/// let mut builder = IndexBuilder::create(&path, IndexSettings::default())?;
/// for (id, text) in [("a", "Green apples"), ("b", "A pear and an apple, an apple"), ("c", "Plums")] {
///     let (id, text) = (id.to_owned(), text.to_owned());
///     builder.add("fruit", IndexDocument { id, text, ..IndexDocument::default() })?;
/// }
/// builder.finish()?;
/// let index = SearchIndex::open(&path)?;
/// let hits = index.search("apple", &"tf-idf.stems".parse()?, 10)?;
/// assert_eq!((hits[0].id.as_str(), hits[1].id.as_str()), ("b", "a"));
/// assert!((hits[0].score - 2.0 * 1.5f64.ln()).abs() < 1e-12); // by hand: tf 2, two of three documents
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IndexBuilder {
    target: PathBuf,
    settings: IndexSettings,
    analyzer: DocumentAnalyzer,
    fields: IndexFields,
    /// Stands before the folder, so that its threads have ended when the folder goes.
    writer: IndexWriter,
    /// Gone with the builder, unless it is moved to its place.
    folder: TemporaryFolder,
    totals: [u64; 3],
    document_count: u64,
    empty_count: u64,
    /// The hash of every identifier, and where it was given: number of the file, line.
    ids: HashMap<[u8; 16], (u32, u64), foldhash::fast::FixedState>,
    files: Vec<String>,
}

impl IndexBuilder {
    /// Begins an index that will stand at `target`: where nothing is, or an empty folder, or an index, which is
    /// then replaced.
    pub fn create(target: &Path, settings: IndexSettings) -> Result<Self, IndexError> {
        let analyzer = DocumentAnalyzer::new(&settings)?;
        let parent = check_target(target)?;
        let folder = TemporaryFolder::new_in(&parent, ".calibrant-index-")
            .map_err(IndexError::io("write to", &parent))?;
        let fields = IndexFields::new();
        let begin = IndexError::engine("begin an index");
        let index = Index::builder()
            .schema(fields.schema.clone())
            .settings(tantivy::IndexSettings {
                docstore_compression: Compressor::Lz4,
                ..tantivy::IndexSettings::default()
            })
            .create_in_dir(folder.path())
            .map_err(&begin)?;
        register_tokenizer(&index);
        // One thread numbers documents in the order in which they come. Analysis, which costs most, is ours
        // and runs on many.
        let writer: IndexWriter = index
            .writer_with_num_threads(1, ENGINE_BYTES)
            .map_err(&begin)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self {
            target: target.to_owned(),
            settings,
            analyzer,
            fields,
            writer,
            folder,
            totals: [0; 3],
            document_count: 0,
            empty_count: 0,
            ids: HashMap::default(),
            files: Vec::new(),
        })
    }

    /// Finds terms; with it, many threads can prepare documents for [`IndexBuilder::add_analyzed`].
    pub(crate) fn analyzer(&self) -> DocumentAnalyzer {
        self.analyzer.clone()
    }

    /// Analyses and adds one document; `file` is named in messages.
    pub fn add(
        &mut self,
        file: &str,
        document: super::document::IndexDocument,
    ) -> Result<(), IndexError> {
        let analyzed = self.analyzer.analyze(document, &mut Default::default());
        self.add_analyzed(file, analyzed)
    }

    /// Adds a document; `file` is named in messages.
    pub(crate) fn add_analyzed(
        &mut self,
        file: &str,
        analyzed: AnalyzedDocument,
    ) -> Result<(), IndexError> {
        let AnalyzedDocument { document, analyses } = analyzed;
        self.claim_id(file, &document.id, document.line)?;
        let limit = u64::from(u32::MAX) / 2;
        if self.document_count >= limit {
            return Err(IndexError::TooManyDocuments { limit });
        }
        let mut row = TantivyDocument::new();
        row.add_text(self.fields.id, &document.id);
        row.add_u64(self.fields.ordinal, self.document_count);
        if self.settings.store_text {
            if let Some(title) = &document.title {
                row.add_text(self.fields.title, title);
            }
            row.add_text(self.fields.text, &document.text);
        }
        for (number, (terms, statistics)) in analyses.iter().enumerate() {
            let fields = self.fields.analyses[number];
            row.add_text(fields.terms, terms);
            row.add_u64(fields.length, statistics.length);
            row.add_u64(fields.unique_length, statistics.unique_length);
            row.add_f64(fields.norm, statistics.norm);
            self.totals[number] += statistics.length;
        }
        self.empty_count += u64::from(analyses[0].1.length == 0);
        self.writer
            .add_document(row)
            .map_err(IndexError::engine("add a document"))?;
        self.document_count += 1;
        Ok(())
    }

    /// Remembers an identifier, or says where it was given before.
    fn claim_id(&mut self, file: &str, id: &str, line: u64) -> Result<(), IndexError> {
        let file = file.to_owned();
        if id.is_empty() {
            return Err(IndexError::MissingId { file, line });
        }
        if id.len() > LONGEST_ID {
            return Err(IndexError::LongId {
                file,
                line,
                bytes: id.len(),
                limit: LONGEST_ID,
            });
        }
        if self.files.last() != Some(&file) {
            self.files.push(file.clone());
        }
        let number = self.files.len() as u32 - 1;
        // Half of a BLAKE3 hash: no two identifiers in the world have the same.
        let hash = *blake3::hash(id.as_bytes()).as_bytes();
        let mut key = [0; 16];
        key.copy_from_slice(&hash[..16]);
        match self.ids.entry(key) {
            hashbrown::hash_map::Entry::Vacant(place) => {
                place.insert((number, line));
                Ok(())
            }
            hashbrown::hash_map::Entry::Occupied(place) => {
                let (first_file, first_line) = *place.get();
                Err(IndexError::DuplicateId {
                    id: id.to_owned(),
                    file,
                    line,
                    first_file: self.files[first_file as usize].clone(),
                    first_line,
                })
            }
        }
    }

    /// Completes the index and moves it to its place.
    pub fn finish(mut self) -> Result<IndexSummary, IndexError> {
        if self.document_count == 0 {
            return Err(IndexError::NoDocuments);
        }
        let finish = IndexError::engine("finish the index");
        self.ids = HashMap::default();
        self.writer.commit().map_err(&finish)?;
        let index = self.writer.index().clone();
        self.merge_segments(&index)?;
        self.writer.wait_merging_threads().map_err(&finish)?;

        let segments = index.searchable_segments().map_err(&finish)?;
        let [segment] = segments.as_slice() else {
            let left = format!("{} segments are left", segments.len());
            return Err(IndexError::engine("finish the index")(left));
        };
        let segment = SegmentReader::open(segment).map_err(&finish)?;
        let ids = segment.fast_fields().str("id").map_err(&finish)?;
        let ids = ids.ok_or_else(|| IndexError::engine("finish the index")("ids are missing"))?;
        write_document_ids(&ids, self.folder.path())?;
        let mut analyses = Vec::new();
        for analysis in Analysis::ALL {
            let number = analysis as usize;
            let field = self.fields.analyses[number].terms;
            let term_count =
                write_collection_frequencies(&segment, field, self.folder.path(), analysis)?;
            let collection = CollectionStatistics {
                document_count: self.document_count,
                total_terms: self.totals[number],
            };
            analyses.push(AnalysisCounts {
                analysis,
                collection,
                term_count,
            });
        }
        drop((ids, segment, segments, index));

        let folder = self.folder.path();
        remove_locks(folder)?;
        let files = describe_files(folder, &part_names(folder)?)?;
        let bytes = files.iter().map(|file: &FileEntry| file.bytes).sum();
        let manifest = Manifest {
            calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: self.settings,
            document_count: self.document_count,
            analyses: analyses.clone(),
            files,
        };
        let path = folder.join(MANIFEST);
        let bytes_of_manifest = manifest
            .to_bytes()
            .map_err(IndexError::saved(&self.target))?;
        saved::write_file(&path, &bytes_of_manifest)
            .map_err(|error| IndexError::io("write", &self.target)(error.source))?;
        move_into_place(self.folder, &self.target)?;
        Ok(IndexSummary {
            documents: self.document_count,
            empty_documents: self.empty_count,
            bytes,
            analyses,
        })
    }

    /// Makes one segment of several, documents in the order in which they came.
    fn merge_segments(&mut self, index: &Index) -> Result<(), IndexError> {
        let merge = IndexError::engine("merge the index");
        let mut segments = Vec::new();
        for segment in index.searchable_segments().map_err(&merge)? {
            let reader = SegmentReader::open(&segment).map_err(&merge)?;
            let ordinals = reader.fast_fields().u64("ordinal").map_err(&merge)?;
            segments.push((ordinals.min_value(), segment.id()));
        }
        if segments.len() < 2 {
            return Ok(());
        }
        segments.sort_unstable_by_key(|&(first, _)| first);
        let ids: Vec<_> = segments.into_iter().map(|(_, id)| id).collect();
        self.writer.merge(&ids).wait().map_err(&merge)?;
        self.writer.garbage_collect_files().wait().map_err(&merge)?;
        Ok(())
    }
}

/// What the engine leaves behind.
fn remove_locks(folder: &Path) -> Result<(), IndexError> {
    let entries = std::fs::read_dir(folder).map_err(IndexError::io("read", folder))?;
    for entry in entries {
        let path = entry.map_err(IndexError::io("read", folder))?.path();
        if path.extension().is_some_and(|ending| ending == "lock") {
            std::fs::remove_file(&path).map_err(IndexError::io("remove", &path))?;
        }
    }
    Ok(())
}
