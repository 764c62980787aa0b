//! The part of a text that speaks of a query.

use std::ops::Range;

use hashbrown::HashMap;
use serde::Serialize;

use super::error::IndexError;
use super::query_terms::QueryTerms;
use super::search::{AnalysisIndex, SearchIndex};
use crate::ranking::functions::Analysis;
use crate::text::{AnalyzerBuffers, CompiledAnalyzer, FIELD_BREAK};

/// Words of a text that are looked at; the rest of a very long one is not shown.
const WORDS_READ: usize = 20_000;

/// A few words of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The words, with single spaces between them.
    pub text: String,
    /// Which bytes of it are words of the query.
    pub marks: Vec<Range<usize>>,
}

impl SearchIndex {
    /// The run of `length` words in which the most, and rarest, terms of the query stand; the first such run.
    pub fn snippet(
        &self,
        query: &str,
        analysis: Analysis,
        text: &str,
        length: usize,
    ) -> Result<Snippet, IndexError> {
        let index = self.analysis(analysis);
        let terms = QueryTerms::new(query, index)?;
        Ok(SnippetTerms::new(&terms, index, self.document_count()).snippet(text, length))
    }
}

/// The terms of a query, as they are looked for in texts.
pub(super) struct SnippetTerms<'a> {
    analyzer: &'a CompiledAnalyzer,
    /// A number and a weight for each.
    weights: HashMap<&'a str, (usize, f64)>,
}

impl<'a> SnippetTerms<'a> {
    pub(super) fn new(terms: &'a QueryTerms, index: &'a AnalysisIndex, documents: u64) -> Self {
        let names = terms.names.iter().zip(&terms.terms).enumerate();
        let weights = names.map(|(number, (name, term))| {
            let frequency = term.statistics.document_frequency;
            let weight = (1.0 + documents as f64 / (frequency as f64 + 1.0)).ln();
            (name.as_str(), (number, weight))
        });
        Self {
            analyzer: &index.analyzer,
            weights: weights.collect(),
        }
    }

    /// The run of `length` words in which the most, and rarest, of the terms stand.
    pub(super) fn snippet(&self, text: &str, length: usize) -> Snippet {
        let mut buffers = AnalyzerBuffers::default();
        let words: Vec<(&str, Option<(usize, f64)>)> = text
            .split(|c: char| c.is_whitespace() || c == FIELD_BREAK)
            .filter(|word| !word.is_empty())
            .take(WORDS_READ)
            .map(|word| {
                let mut found = None;
                self.analyzer.for_each_term(word, &mut buffers, |term| {
                    found = found.or_else(|| self.weights.get(term).copied());
                });
                (word, found)
            })
            .collect();
        let matches: Vec<Option<(usize, f64)>> = words.iter().map(|&(_, found)| found).collect();
        let window = best_window(&matches, length.max(1), self.weights.len());
        let mut snippet = Snippet {
            text: String::new(),
            marks: Vec::new(),
        };
        for (word, found) in &words[window] {
            if !snippet.text.is_empty() {
                snippet.text.push(' ');
            }
            let start = snippet.text.len();
            snippet.text.push_str(word);
            if found.is_some() {
                snippet.marks.push(start..snippet.text.len());
            }
        }
        snippet
    }
}

/// The first run of at most `length` words whose distinct terms weigh most.
fn best_window(matches: &[Option<(usize, f64)>], length: usize, term_count: usize) -> Range<usize> {
    let mut counts = vec![0u32; term_count];
    let mut weight = 0.0;
    let mut best = (0.0, 0);
    for (end, found) in matches.iter().enumerate() {
        if let Some((term, value)) = *found {
            counts[term] += 1;
            if counts[term] == 1 {
                weight += value;
            }
        }
        if let Some((term, value)) = end.checked_sub(length).and_then(|out| matches[out]) {
            counts[term] -= 1;
            if counts[term] == 0 {
                weight -= value;
            }
        }
        // Rounding must not move the window.
        if weight > best.0 + 1e-9 {
            best = (weight, end);
        }
    }
    let start = (best.1 + 1).saturating_sub(length);
    // The run ends with the last match: move it on as far again as it begins before the first one.
    let first = matches[start..].iter().position(Option::is_some);
    let start = start + first.filter(|&first| first < length).unwrap_or(0) / 2;
    let start = start.min(matches.len().saturating_sub(length));
    start..(start + length).min(matches.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_the_heaviest_terms() {
        let term = |number, weight| Some((number, weight));
        let mut matches = vec![None; 40];
        matches[3] = term(0, 1.0);
        matches[20] = term(0, 1.0);
        matches[22] = term(1, 5.0);
        let window = best_window(&matches, 8, 2);
        assert!(window.contains(&20) && window.contains(&22) && window.len() == 8);
        assert_eq!(best_window(&[None, None], 8, 0), 0..2);
        assert_eq!(best_window(&[], 8, 0), 0..0);
    }
}
