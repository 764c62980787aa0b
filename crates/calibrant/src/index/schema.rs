//! What the search engine keeps of a document.

use tantivy::Index;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};

use crate::ranking::functions::Analysis;

/// The name under which [`LineTokenizer`] is registered.
const TOKENIZER: &str = "calibrant-lines";

/// The fields of an index.
#[derive(Debug, Clone)]
pub(super) struct IndexFields {
    pub(super) schema: Schema,
    /// The identifier: a sorted dictionary, and searchable.
    pub(super) id: Field,
    /// The number of the document, from 0, in the order of the files.
    pub(super) ordinal: Field,
    pub(super) title: Field,
    pub(super) text: Field,
    /// In the order of [`Analysis::ALL`].
    pub(super) analyses: [AnalysisFields; 3],
}

/// The fields of one analysis: its terms, and the exact numbers that the engine would round.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnalysisFields {
    pub(super) terms: Field,
    pub(super) length: Field,
    pub(super) unique_length: Field,
    pub(super) norm: Field,
}

impl IndexFields {
    pub(super) fn new() -> Self {
        let mut builder = Schema::builder();
        let raw = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        let id_options = TextOptions::default()
            .set_indexing_options(raw)
            .set_fast("raw");
        let id = builder.add_text_field("id", id_options);
        let ordinal = builder.add_u64_field("ordinal", FAST);
        let title = builder.add_text_field("title", STORED);
        let text = builder.add_text_field("text", STORED);
        let analyses = Analysis::ALL.map(|analysis| {
            let counted = TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER)
                .set_fieldnorms(false)
                .set_index_option(IndexRecordOption::WithFreqs);
            let terms = TextOptions::default().set_indexing_options(counted);
            let name = |column| column_name(analysis, column);
            AnalysisFields {
                terms: builder.add_text_field(&name("terms"), terms),
                length: builder.add_u64_field(&name(LENGTH), FAST),
                unique_length: builder.add_u64_field(&name(UNIQUE_LENGTH), FAST),
                norm: builder.add_f64_field(&name(NORM), FAST),
            }
        });
        Self {
            schema: builder.build(),
            id,
            ordinal,
            title,
            text,
            analyses,
        }
    }
}

pub(super) const LENGTH: &str = "length";
pub(super) const UNIQUE_LENGTH: &str = "unique_length";
pub(super) const NORM: &str = "norm";

/// The name of a field of an analysis. The engine takes a dot for a path, so there is none in it.
pub(super) fn column_name(analysis: Analysis, column: &str) -> String {
    format!("{}_{column}", analysis.name().replace('-', "_"))
}

/// Lets the engine cut our terms apart.
pub(super) fn register_tokenizer(index: &Index) {
    index
        .tokenizers()
        .register(TOKENIZER, TextAnalyzer::from(LineTokenizer::default()));
}

/// What stands between two terms; no term has a line break.
pub(super) const SEPARATOR: char = '\n';

/// Terms that were found by our own analyzer, one a line. The engine counts them and does nothing else.
#[derive(Debug, Clone, Default)]
struct LineTokenizer {
    token: Token,
}

struct Lines<'a> {
    token: &'a mut Token,
    rest: &'a str,
}

impl Tokenizer for LineTokenizer {
    type TokenStream<'a> = Lines<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Lines<'a> {
        self.token.reset();
        Lines {
            token: &mut self.token,
            rest: text,
        }
    }
}

impl TokenStream for Lines<'_> {
    fn advance(&mut self) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        let (term, rest) = self.rest.split_once(SEPARATOR).unwrap_or((self.rest, ""));
        self.token.text.clear();
        self.token.text.push_str(term);
        // The first comes after `usize::MAX`, which stands for none.
        self.token.position = self.token.position.wrapping_add(1);
        self.rest = rest;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_cut_at_line_breaks() {
        let mut tokenizer = LineTokenizer::default();
        for (text, expected) in [
            ("one\ntwo\none\n", vec!["one", "two", "one"]),
            ("", vec![]),
            ("word", vec!["word"]),
        ] {
            let mut stream = tokenizer.token_stream(text);
            let mut found = Vec::new();
            while stream.advance() {
                found.push(stream.token().text.clone());
            }
            assert_eq!(found, expected);
        }
    }
}
