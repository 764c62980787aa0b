//! An index, opened: queries to ranked documents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tantivy::columnar::{Column, ColumnValues};
use tantivy::directory::MmapDirectory;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::store::StoreReader;
use tantivy::{
    DocId, DocSet, Index, InvertedIndexReader, SegmentReader, TERMINATED, TantivyDocument, Term,
};

use super::build::IndexSettings;
use super::document::DocumentAnalyzer;
use super::document_ids::DocumentIds;
use super::error::IndexError;
use super::manifest::{AnalysisCounts, Manifest};
use super::matches::{MatchVisitor, for_each_match};
use super::pruning::TermGains;
use super::query_terms::QueryTerms;
use super::schema::{IndexFields, LENGTH, NORM, UNIQUE_LENGTH, column_name};
use super::term_counts::CollectionFrequencies;
use super::top::{Scored, TopDocuments};
use crate::ranking::functions::{
    Analysis, BaseFunction, CollectionStatistics, DocumentStatistics, PreparedFunction,
};
use crate::text::CompiledAnalyzer;

/// An index that can be searched; any number of threads may share it.
///
/// Documents that have no term of a query are not found. Documents with equal scores stand in the order of their
/// identifiers as bytes, the larger first, as trec_eval has it; so do those at the end of a list that is cut.
/// The answer does not depend on the number of threads or on how the index was built.
///
/// See [`IndexBuilder`](super::IndexBuilder) for an example.
pub struct SearchIndex {
    path: PathBuf,
    manifest: Manifest,
    fields: IndexFields,
    segment: SegmentReader,
    ids: DocumentIds,
    id_ranks: Arc<dyn ColumnValues<u64>>,
    analyses: [AnalysisIndex; 3],
    store: StoreReader,
}

/// One analysis of the collection.
pub(super) struct AnalysisIndex {
    pub(super) analyzer: CompiledAnalyzer,
    pub(super) inverted: Arc<InvertedIndexReader>,
    pub(super) collection: CollectionStatistics,
    pub(super) collection_frequencies: CollectionFrequencies,
    lengths: Arc<dyn ColumnValues<u64>>,
    unique_lengths: Arc<dyn ColumnValues<u64>>,
    norms: Arc<dyn ColumnValues<f64>>,
}

impl AnalysisIndex {
    /// The exact statistics of a document.
    #[inline]
    pub(super) fn document(&self, document: DocId) -> DocumentStatistics {
        DocumentStatistics {
            length: self.lengths.get_val(document),
            unique_length: self.unique_lengths.get_val(document),
            norm: self.norms.get_val(document),
        }
    }
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The document's identifier.
    pub id: String,
    /// How well it answers the query.
    pub score: f64,
}

/// What an index kept of a document to show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct StoredText {
    /// The title, where there was one.
    pub title: Option<String>,
    /// The text; `None` in an index without texts.
    pub text: Option<String>,
}

/// Blocks of stored texts that are kept unpacked.
const STORE_BLOCKS: usize = 16;

impl SearchIndex {
    /// Opens an index and compares every file with its checksum, which reads them all once.
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        Self::open_checked(path, true)
    }

    /// Opens an index and looks only at the lengths of its files: quick, for an index that was checked before. With
    /// a damaged one anything may happen: wrong answers, or an abort of the search.
    pub fn open_unverified(path: &Path) -> Result<Self, IndexError> {
        Self::open_checked(path, false)
    }

    fn open_checked(path: &Path, contents: bool) -> Result<Self, IndexError> {
        let manifest = Manifest::read(path)?;
        manifest.check_files(path, contents)?;
        let damaged = |reason: &str| IndexError::damaged(path, reason);
        let open = IndexError::engine("open the index");
        let directory = MmapDirectory::open(path).map_err(IndexError::engine("open the folder"))?;
        let index = Index::open(directory.clone()).map_err(&open)?;
        let fields = IndexFields::new();
        if index.schema() != fields.schema {
            return Err(damaged("its fields are not those of this version"));
        }
        let segments = index.searchable_segments().map_err(&open)?;
        let [segment] = segments.as_slice() else {
            return Err(damaged("it does not have exactly one segment"));
        };
        // Opened without the engine's reader, which would write a lock: an index may be read-only.
        let segment = SegmentReader::open(segment).map_err(&open)?;
        if u64::from(segment.max_doc()) != manifest.document_count || segment.has_deletes() {
            return Err(damaged("its number of documents is wrong"));
        }
        let columns = segment.fast_fields();
        let id_ranks = columns.str("id").map_err(&open)?;
        let id_ranks = id_ranks.ok_or_else(|| damaged("it has no ids"))?;
        let id_ranks = id_ranks.ords().clone().first_or_default_col(0);
        let ids = DocumentIds::open(&directory, manifest.document_count)?;
        let ids = ids.ok_or_else(|| damaged("ids are missing"))?;
        let analyzer = DocumentAnalyzer::new(&manifest.settings)?;
        let open_analysis = |analysis: Analysis| -> Result<AnalysisIndex, IndexError> {
            let number = analysis as usize;
            let counts = manifest.analyses[number];
            let integers = |column| -> Result<Column<u64>, IndexError> {
                columns
                    .u64(&column_name(analysis, column))
                    .map_err(IndexError::engine("open a column"))
            };
            let inverted = segment
                .inverted_index(fields.analyses[number].terms)
                .map_err(IndexError::engine("open the terms"))?;
            let term_count = inverted.terms().num_terms() as u64;
            let frequencies = CollectionFrequencies::open(&directory, analysis, term_count)?;
            let norms = columns
                .f64(&column_name(analysis, NORM))
                .map_err(IndexError::engine("open a column"))?;
            Ok(AnalysisIndex {
                analyzer: analyzer.analyzer(analysis).clone(),
                collection: counts.collection,
                collection_frequencies: frequencies
                    .ok_or_else(|| damaged("counts of terms are missing"))?,
                lengths: integers(LENGTH)?.first_or_default_col(0),
                unique_lengths: integers(UNIQUE_LENGTH)?.first_or_default_col(0),
                norms: norms.first_or_default_col(0.0),
                inverted,
            })
        };
        let [plain, stems, stems_no_stop] = Analysis::ALL.map(open_analysis);
        let analyses = [plain?, stems?, stems_no_stop?];
        let store = segment
            .get_store_reader(STORE_BLOCKS)
            .map_err(IndexError::engine("open the texts"))?;
        Ok(Self {
            path: path.to_owned(),
            fields,
            ids,
            id_ranks,
            analyses,
            store,
            segment,
            manifest,
        })
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The size of all files of its folder.
    pub fn file_bytes(&self) -> Result<u64, IndexError> {
        let failed = |error| IndexError::io("read", &self.path)(error);
        let mut bytes = 0;
        for entry in std::fs::read_dir(&self.path).map_err(failed)? {
            let metadata = entry.and_then(|entry| entry.metadata());
            bytes += metadata.map_err(failed)?.len();
        }
        Ok(bytes)
    }

    /// How many documents there are, empty ones included.
    pub fn document_count(&self) -> u64 {
        self.manifest.document_count
    }

    /// How the documents were indexed.
    pub fn settings(&self) -> &IndexSettings {
        &self.manifest.settings
    }

    /// What each analysis comes to.
    pub fn analyses(&self) -> &[AnalysisCounts] {
        &self.manifest.analyses
    }

    pub(super) fn analysis(&self, analysis: Analysis) -> &AnalysisIndex {
        &self.analyses[analysis as usize]
    }

    /// The best `top` documents for a query, the best first. A query without a known term finds nothing.
    pub fn search(
        &self,
        text: &str,
        function: &BaseFunction,
        top: usize,
    ) -> Result<Vec<Hit>, IndexError> {
        let mut found = self.best(text, std::slice::from_ref(function), top)?;
        let scored = found.pop().unwrap_or_default();
        let hits = scored.into_iter().map(|scored| Hit {
            id: self.id(scored.document).to_owned(),
            score: scored.score,
        });
        Ok(hits.collect())
    }

    /// The best documents by each function; functions over one analysis share one walk over the postings.
    pub(super) fn best(
        &self,
        text: &str,
        functions: &[BaseFunction],
        top: usize,
    ) -> Result<Vec<Vec<Scored>>, IndexError> {
        let mut found: Vec<Vec<Scored>> = vec![Vec::new(); functions.len()];
        let top = top.min(self.segment.max_doc() as usize);
        for analysis in Analysis::ALL {
            let index = self.analysis(analysis);
            let chosen: Vec<usize> = (0..functions.len())
                .filter(|&number| functions[number].analysis == analysis)
                .collect();
            if chosen.is_empty() || top == 0 {
                continue;
            }
            let query = QueryTerms::new(text, index)?;
            let mut lists = BestLists {
                index,
                id_ranks: &*self.id_ranks,
                lists: Vec::new(),
            };
            for &number in &chosen {
                let function = functions[number].function;
                function.check()?;
                let function = function.prepare(&index.collection, &query.terms);
                lists.lists.push(BestList {
                    gains: TermGains::new(&function),
                    function,
                    top: TopDocuments::new(top),
                });
            }
            for_each_match(index, &query, &mut lists)?;
            for (number, list) in chosen.into_iter().zip(lists.lists) {
                found[number] = list.top.into_sorted();
            }
        }
        Ok(found)
    }

    /// The place of a document's identifier in the order of all.
    pub(super) fn id_rank(&self, document: DocId) -> u64 {
        self.id_ranks.get_val(document)
    }

    /// The identifier of a document.
    pub(super) fn id(&self, document: DocId) -> &str {
        self.ids.get(self.id_ranks.get_val(document))
    }

    /// The number of the document with this identifier.
    pub(super) fn find(&self, id: &str) -> Result<Option<DocId>, IndexError> {
        let look_up = IndexError::engine("look up an id");
        let term = Term::from_field_text(self.fields.id, id);
        let inverted = self
            .segment
            .inverted_index(self.fields.id)
            .map_err(IndexError::engine("open the ids"))?;
        let postings = inverted
            .read_postings(&term, IndexRecordOption::Basic)
            .map_err(look_up)?;
        let document = postings.map_or(TERMINATED, |postings| postings.doc());
        Ok((document != TERMINATED).then_some(document))
    }

    /// What the index kept of a document; `None` if it has no such document.
    pub fn stored(&self, id: &str) -> Result<Option<StoredText>, IndexError> {
        let document = self.find(id)?;
        document
            .map(|document| self.stored_at(document))
            .transpose()
    }

    /// What the index kept of a document.
    pub(super) fn stored_at(&self, document: DocId) -> Result<StoredText, IndexError> {
        let row: TantivyDocument = self
            .store
            .get(document)
            .map_err(IndexError::engine("read a text"))?;
        let text = |field| {
            let value = row.get_first(field)?;
            value.as_str().map(str::to_owned)
        };
        Ok(StoredText {
            title: text(self.fields.title),
            text: text(self.fields.text),
        })
    }
}

/// The best documents by several functions over one analysis.
struct BestLists<'a> {
    index: &'a AnalysisIndex,
    id_ranks: &'a dyn ColumnValues<u64>,
    lists: Vec<BestList>,
}

struct BestList {
    function: PreparedFunction,
    gains: TermGains,
    top: TopDocuments,
}

impl MatchVisitor for BestLists<'_> {
    fn visit(&mut self, document: DocId, counts: &[u32]) {
        let statistics = self.index.document(document);
        for list in &mut self.lists {
            let score = list.function.score(&statistics, counts);
            let id_rank = || self.id_ranks.get_val(document);
            list.top.push(score, document, id_rank);
        }
    }

    fn unmark_needed(&self, needless: &mut [bool]) {
        for list in &self.lists {
            list.gains.unmark_needed(list.top.floor(), needless);
        }
    }
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SearchIndex")
            .field("path", &self.path)
            .field("document_count", &self.manifest.document_count)
            .finish_non_exhaustive()
    }
}
