//! New text to rows, as the training documents were turned into rows.

use crate::corpus::Content;
use crate::features::{ColumnSpace, FittedWeighting, RowView, Vocabulary};
use crate::text::{AnalyzerBuffers, CompiledAnalyzer};

/// Analyzer, vocabulary (or hashing) and weighting of a fitted model.
#[derive(Debug)]
pub struct FeatureExtractor {
    pub(super) analyzer: CompiledAnalyzer,
    pub(super) space: ColumnSpace,
    pub(super) vocabulary: Option<Vocabulary>,
    pub(super) weighting: FittedWeighting,
}

/// Room for one document, reused from one to the next.
#[derive(Debug, Default)]
pub struct ExtractorBuffers {
    analyzer: AnalyzerBuffers,
    found: Vec<u32>,
    entries: Vec<(u32, f32)>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl FeatureExtractor {
    /// How many features there are.
    pub fn feature_count(&self) -> usize {
        self.weighting.document_frequencies().len()
    }

    /// The vocabulary, unless features are hashed.
    pub fn vocabulary(&self) -> Option<&Vocabulary> {
        self.vocabulary.as_ref()
    }

    /// The weighting.
    pub fn weighting(&self) -> &FittedWeighting {
        &self.weighting
    }

    /// The analyzer.
    pub fn analyzer(&self) -> &CompiledAnalyzer {
        &self.analyzer
    }

    /// The column of a term, if it is a feature.
    #[inline]
    pub fn column(&self, term: &str) -> Option<u32> {
        match (self.space, &self.vocabulary) {
            (ColumnSpace::Hashed { bits }, _) => Some(ColumnSpace::hashed_column(term, bits)),
            (ColumnSpace::Vocabulary, Some(vocabulary)) => vocabulary.get(term),
            (ColumnSpace::Vocabulary, None) => None,
        }
    }

    /// The row of a document; what the training documents lacked is left out.
    pub fn row<'b>(&self, content: &Content, buffers: &'b mut ExtractorBuffers) -> RowView<'b> {
        let ExtractorBuffers {
            analyzer,
            found,
            entries,
            columns,
            values,
        } = buffers;
        columns.clear();
        values.clear();
        match content {
            Content::Text(text) => {
                found.clear();
                self.analyzer
                    .for_each_term(text, analyzer, |term| found.extend(self.column(term)));
                found.sort_unstable();
                for run in found.chunk_by(|a, b| a == b) {
                    columns.push(run[0]);
                    values.push(run.len() as f32);
                }
            }
            Content::Features(features) => {
                entries.clear();
                entries.extend(features.iter().filter_map(|&(number, value)| {
                    Some((self.column(&number.to_string())?, value))
                }));
                entries.sort_unstable_by_key(|&(column, _)| column);
                for run in entries.chunk_by(|a, b| a.0 == b.0) {
                    columns.push(run[0].0);
                    values.push(run.iter().map(|&(_, value)| value).sum());
                }
            }
        }
        self.weighting.apply_row(columns, values);
        RowView::of_rising(columns, values)
    }
}
