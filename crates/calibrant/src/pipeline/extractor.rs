//! New text to rows, as the training documents were turned into rows.

use super::document_key::key_of_terms;
use super::training_corpus::{match_rules, side_cells};
use crate::corpus::ContentRef;
use crate::features::{
    BatchCounter, ColumnSpace, FittedSideColumns, FittedWeighting, RowView, TermSum, UnknownCells,
    Vocabulary, Weighting,
};
use crate::rules::{MatchBuffers, RuleMatcher};
use crate::text::{AnalyzerBuffers, CompiledAnalyzer};

/// Analyzer, vocabulary (or hashing) and weighting of a fitted model.
#[derive(Debug)]
pub struct FeatureExtractor {
    pub(super) analyzer: CompiledAnalyzer,
    pub(super) space: ColumnSpace,
    pub(super) vocabulary: Option<Vocabulary>,
    pub(super) weighting: FittedWeighting,
    /// Columns behind those of the text.
    pub(super) side: Option<FittedSideColumns>,
    /// What fills the columns of rules.
    pub(super) rules: Option<RuleMatcher>,
}

/// Buffers for one document, reused between calls.
#[derive(Debug, Default)]
pub struct ExtractorBuffers {
    analyzer: AnalyzerBuffers,
    found: Vec<u32>,
    entries: Vec<(u32, f32)>,
    columns: Vec<u32>,
    values: Vec<f32>,
    rules: MatchBuffers,
    strengths: Vec<f32>,
}

impl ExtractorBuffers {
    /// Whether the last row had no entry.
    pub(super) fn row_is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}

impl FeatureExtractor {
    /// How many features there are.
    pub fn feature_count(&self) -> usize {
        let side = self.side.as_ref();
        self.term_count() + side.map_or(0, FittedSideColumns::column_count)
    }

    /// How many of the features are terms (or hashed columns); they come first.
    pub fn term_count(&self) -> usize {
        self.weighting.document_frequencies().len()
    }

    /// The columns beside the text.
    pub fn side_columns(&self) -> Option<&FittedSideColumns> {
        self.side.as_ref()
    }

    /// The name of every feature: the term, or what stands beside the text. Hashed terms have none.
    pub fn feature_names(&self) -> Vec<Option<String>> {
        let terms = (0..self.term_count() as u32).map(|column| {
            let vocabulary = self.vocabulary.as_ref()?;
            Some(vocabulary.term(column).to_owned())
        });
        let side = self.side.as_ref().map(FittedSideColumns::column_names);
        terms.chain(side.into_iter().flatten().map(Some)).collect()
    }

    /// Adds the cells of a document that hold nothing the training documents had.
    pub(super) fn add_unknown_cells(&self, content: ContentRef<'_>, to: &mut UnknownCells) {
        if let Some(side) = &self.side {
            side.add_unknown(&side_cells(content, &[]), to);
        }
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

    /// The column of a feature that comes by number, which is its name; spelt out without an allocation.
    fn numbered_column(&self, number: u32) -> Option<u32> {
        let mut digits = [0u8; 10];
        let mut first = digits.len();
        let mut rest = number;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.column(std::str::from_utf8(&digits[first..]).ok()?)
    }

    /// A hash of what a model sees of a document: its terms, also those that are not features, and what stands
    /// beside the text. Training documents had theirs by the same rule.
    pub(super) fn document_key(
        &self,
        content: ContentRef<'_>,
        buffers: &mut ExtractorBuffers,
    ) -> u128 {
        let presence_only = self.weighting.settings().weighting == Weighting::Binary;
        let terms = match content {
            ContentRef::Features(features) => TermSum::of_features(features, presence_only),
            ContentRef::Text(_) | ContentRef::Record(_) => {
                let text = content.as_text().unwrap_or_default();
                if presence_only {
                    let mut counter = BatchCounter::new(&self.analyzer, self.space);
                    counter.count_text(text);
                    counter.last_sum(true)
                } else {
                    self.sum_of_terms(text, &mut buffers.analyzer)
                }
            }
        };
        buffers.strengths.clear();
        if let Some(rules) = &self.rules {
            buffers.strengths.resize(rules.rule_count(), 0.0);
            match_rules(rules, content, &mut buffers.rules, &mut buffers.strengths);
        }
        key_of_terms(content, terms, &buffers.strengths)
    }

    /// What a text's terms add up to, each as often as it comes.
    fn sum_of_terms(&self, text: &str, buffer: &mut AnalyzerBuffers) -> TermSum {
        let mut terms = TermSum::default();
        self.analyzer
            .for_each_term(text, buffer, |term| match self.space {
                ColumnSpace::Vocabulary => terms.add(term),
                ColumnSpace::Hashed { bits } => {
                    terms.add_column(ColumnSpace::hashed_column(term, bits));
                }
            });
        terms
    }

    /// The row of a document; what the training documents lacked is left out.
    pub fn row<'a, 'b>(
        &self,
        content: impl Into<ContentRef<'a>>,
        buffers: &'b mut ExtractorBuffers,
    ) -> RowView<'b> {
        let content = content.into();
        let ExtractorBuffers {
            analyzer,
            found,
            entries,
            columns,
            values,
            rules: buffer,
            strengths,
        } = buffers;
        columns.clear();
        values.clear();
        match content {
            ContentRef::Text(_) | ContentRef::Record(_) => {
                let text = content.as_text().unwrap_or_default();
                found.clear();
                self.analyzer
                    .for_each_term(text, analyzer, |term| found.extend(self.column(term)));
                found.sort_unstable();
                for run in found.chunk_by(|a, b| a == b) {
                    columns.push(run[0]);
                    values.push(run.len() as f32);
                }
            }
            ContentRef::Features(features) => {
                entries.clear();
                entries.extend(
                    features.iter().filter_map(|&(number, value)| {
                        Some((self.numbered_column(number)?, value))
                    }),
                );
                entries.sort_unstable_by_key(|&(column, _)| column);
                for run in entries.chunk_by(|a, b| a.0 == b.0) {
                    columns.push(run[0].0);
                    values.push(run.iter().map(|&(_, value)| value).sum());
                }
            }
        }
        self.weighting.apply_row(columns, values);
        if let Some(side) = &self.side {
            if let Some(rules) = &self.rules {
                strengths.resize(rules.rule_count(), 0.0);
                match_rules(rules, content, buffer, strengths);
            }
            let first = self.term_count() as u32;
            side.for_each_entry(&side_cells(content, strengths), |column, value| {
                columns.push(first + column);
                values.push(value);
            });
        }
        RowView::of_rising(columns, values)
    }
}
