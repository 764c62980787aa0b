//! A document on its way into an index: read, then analysed.

use hashbrown::HashMap;

use super::build::IndexSettings;
use super::schema::SEPARATOR;
use crate::corpus::TrecDocument;
use crate::ranking::functions::{Analysis, DocumentStatistics};
use crate::text::{Analyzer, AnalyzerBuffers, AnalyzerError, CompiledAnalyzer};

/// A document as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexDocument {
    /// What it is called; no two documents of an index are called the same.
    pub id: String,
    /// A title to show, where there is one. Only `text` is searched.
    pub title: Option<String>,
    /// What is searched.
    pub text: String,
    /// Where it starts in its file, for messages.
    pub line: u64,
}

impl From<TrecDocument> for IndexDocument {
    fn from(document: TrecDocument) -> Self {
        Self {
            id: document.id,
            title: document.title,
            text: document.text,
            line: document.line,
        }
    }
}

/// The terms of a document under every analysis, ready to be added.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnalyzedDocument {
    pub(super) document: IndexDocument,
    /// In the order of [`Analysis::ALL`]; the terms end with [`SEPARATOR`] each.
    pub(super) analyses: [(String, DocumentStatistics); 3],
}

/// Finds the terms of documents; several threads may share one.
#[derive(Debug, Clone)]
pub(crate) struct DocumentAnalyzer {
    analyzers: [CompiledAnalyzer; 3],
}

impl DocumentAnalyzer {
    /// The three analyses of an index.
    pub(crate) fn new(settings: &IndexSettings) -> Result<Self, AnalyzerError> {
        let compile = |analysis: Analysis| {
            let analyzer = Analyzer {
                words: settings.words,
                ..analysis.analyzer(settings.stemmer, settings.stop_words)
            };
            analyzer.compile()
        };
        let [plain, stems, stems_no_stop] = Analysis::ALL.map(compile);
        Ok(Self {
            analyzers: [plain?, stems?, stems_no_stop?],
        })
    }

    /// The analyzer of one analysis.
    pub(super) fn analyzer(&self, analysis: Analysis) -> &CompiledAnalyzer {
        &self.analyzers[analysis as usize]
    }

    /// Finds and counts the terms of a document.
    pub(crate) fn analyze(
        &self,
        document: IndexDocument,
        buffers: &mut AnalyzerBuffers,
    ) -> AnalyzedDocument {
        let analyses = [0, 1, 2].map(|number: usize| {
            let mut terms = String::with_capacity(document.text.len());
            self.analyzers[number].for_each_term(&document.text, buffers, |term| {
                terms.push_str(term);
                terms.push(SEPARATOR);
            });
            let mut counts: HashMap<&str, u32, foldhash::fast::FixedState> = HashMap::default();
            for term in terms.split_terminator(SEPARATOR) {
                *counts.entry(term).or_insert(0) += 1;
            }
            let mut counts: Vec<u32> = counts.into_values().collect();
            let statistics = DocumentStatistics::of_counts(&mut counts);
            (terms, statistics)
        });
        AnalyzedDocument { document, analyses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_keeps_the_rules_of_words_that_it_was_made_with() {
        let terms = |settings: &IndexSettings| {
            let analyzer = DocumentAnalyzer::new(settings).unwrap();
            analyzer.analyzer(Analysis::Plain).terms("C++ 😀 電子郵件")
        };
        let old = IndexSettings {
            words: crate::text::WordRules::before(),
            ..IndexSettings::default()
        };
        assert_eq!(terms(&old), ["c", "電", "子", "郵", "件"]);
        let new = IndexSettings::default();
        let saved = serde_json::to_string(&new).unwrap();
        let opened: IndexSettings = serde_json::from_str(&saved).unwrap();
        assert_eq!(terms(&opened), terms(&new));
        let found = terms(&new);
        assert!(
            ["c++", "😀", "電子"]
                .iter()
                .all(|word| found.iter().any(|term| term == word))
        );
    }

    #[test]
    fn every_analysis_counts_its_own_terms() {
        let analyzer = DocumentAnalyzer::new(&IndexSettings::default()).unwrap();
        let document = IndexDocument {
            id: "1".into(),
            text: "The foxes and the fox".into(),
            ..IndexDocument::default()
        };
        let analyzed = analyzer.analyze(document, &mut AnalyzerBuffers::default());
        let [plain, stems, stems_no_stop] = &analyzed.analyses;
        assert_eq!(plain.0, "the\nfoxes\nand\nthe\nfox\n");
        assert_eq!((plain.1.length, plain.1.unique_length), (5, 4));
        assert_eq!(stems.0, "the\nfox\nand\nthe\nfox\n");
        assert_eq!((stems.1.length, stems.1.unique_length), (5, 3));
        assert_eq!(stems_no_stop.0, "fox\nfox\n");
        assert_eq!(stems_no_stop.1.norm, 1.0 + 2f64.ln()); // by hand: one term, twice
    }
}
