//! Text to features.

use std::path::PathBuf;

use calibrant::features::{
    DocumentFrequencyLimits, Selection, SelectionMeasure, SelectionScope, Weighting,
    WeightingSettings,
};
use calibrant::text::{Analyzer, Language, NgramRange, Segmentation, WordRules};
use clap::Args;

use super::SpellingArguments;
use super::choice::{choice, stop_language};
use super::field_list::FieldList;
use crate::error::CliError;

#[derive(Debug, Args)]
#[command(next_help_heading = "Text and features")]
pub(crate) struct FeatureArguments {
    /// Fields with numbers, as features beside the text or instead of it; `*` is every field not named otherwise
    /// that is not an identifier
    #[arg(long, value_name = "FIELD,…")]
    pub(crate) numeric: Vec<FieldList>,
    /// Fields with one of a set of values, as features beside the text or instead of it; `*` is every field not named otherwise
    /// that is not an identifier; integral numbers are one value however they are written (1, 1.0, 1e0)
    #[arg(long, value_name = "FIELD,…")]
    pub(crate) categorical: Vec<FieldList>,
    /// Fields with vectors, such as embeddings, as features beside the text or instead of it: lists of numbers in Parquet and JSON,
    /// `[0.5, -1.25, …]` in other files; all vectors of a field have one length
    #[arg(long, value_name = "FIELD,…")]
    pub(crate) vector: Vec<FieldList>,
    /// The length that vectors are scaled to, where text has the length 1 (default: 0.5; for knn and rocchio beside words the
    /// --side-factor)
    #[arg(long, allow_negative_numbers = true, value_name = "X")]
    pub(crate) vector_factor: Option<f64>,
    /// The weight of --numeric and --categorical columns relative to text of unit length, above 0 and at most 1 (default: 1;
    /// for knn and rocchio the one of five with the least held-out log loss)
    #[arg(long, allow_negative_numbers = true, value_name = "X")]
    pub(crate) side_factor: Option<f64>,
    /// A file with a Boolean query for each category; how strongly each matches is a feature (or, with --classifier rules, the score)
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) spelling: SpellingArguments,
    /// Drop the stop words of this language
    #[arg(long, value_name = "LANGUAGE", value_parser = stop_language)]
    pub(crate) stop_words: Option<Language>,
    /// Drop words with fewer characters (ideographs always stay)
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_word_length: usize,
    /// What a word is in Chinese, Japanese, Thai, Lao, Khmer and Burmese, which have no spaces between words
    #[arg(long, value_parser = choice::<Segmentation>(), default_value = WordRules::default().segmentation.name())]
    pub(crate) segmentation: Segmentation,
    /// Leave out emoji, which are words otherwise
    #[arg(long)]
    pub(crate) no_emoji: bool,
    /// Take C++ and C# for the word c
    #[arg(long)]
    pub(crate) no_signs: bool,
    /// Word n-grams: N for 1 to N, or MIN-MAX
    #[arg(long, value_name = "N|MIN-MAX", default_value = "1", value_parser = ngrams_from_one)]
    pub(crate) word_ngrams: NgramRange,
    /// Character n-grams within words, instead of words: N, or MIN-MAX
    #[arg(long, value_name = "N|MIN-MAX", value_parser = ngrams)]
    pub(crate) char_ngrams: Option<NgramRange>,
    /// Let character n-grams cross word boundaries
    #[arg(long, requires = "char_ngrams")]
    pub(crate) char_ngrams_across: bool,
    /// Hash terms into 2^BITS columns: bounded memory, no vocabulary
    #[arg(long, allow_negative_numbers = true, value_name = "BITS")]
    pub(crate) hash_bits: Option<u32>,
    /// Leave out terms in fewer documents (default: 1 below 10,000 documents, or 2 if that lowers the held-out log loss and no --weighting is given; 2 from there on)
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub(crate) min_df: Option<u32>,
    /// Leave out terms in more than this share of documents
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "SHARE",
        default_value_t = 1.0
    )]
    pub(crate) max_df: f64,
    /// Keep at most this many terms, the most frequent by document
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub(crate) max_features: Option<usize>,
    /// The weight of a term (default: binary for Bernoulli naive Bayes, which takes no other; tf for naive Bayes
    /// and numbered features; for the SVM, logistic regression and the perceptron log_tf_idf, unless bm25 or log_tf has a held-out
    /// log loss on about a thousand documents that is lower by a standard error; else log_tf_idf)
    #[arg(long, value_parser = choice::<Weighting>())]
    pub(crate) weighting: Option<Weighting>,
    /// With --weighting bm25: its k1 (default: 1.2)
    #[arg(long, allow_negative_numbers = true, value_name = "X")]
    pub(crate) bm25_k1: Option<f64>,
    /// With --weighting bm25: its b (default: 0.75)
    #[arg(long, allow_negative_numbers = true, value_name = "X")]
    pub(crate) bm25_b: Option<f64>,
    /// Scale rows to unit length (default: yes for SVM and logistic regression, no for naive Bayes)
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    pub(crate) l2_norm: Option<bool>,
    /// Keep only the terms that separate the classes best by this measure
    #[arg(long, value_parser = choice::<SelectionMeasure>(), requires = "select_terms")]
    pub(crate) select: Option<SelectionMeasure>,
    /// How many terms to select
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "K",
        requires = "select"
    )]
    pub(crate) select_terms: Option<usize>,
    /// Select K terms per class
    #[arg(long, requires = "select")]
    pub(crate) select_per_class: bool,
}

fn ngrams(text: &str) -> Result<NgramRange, String> {
    let number = |part: &str| {
        part.trim()
            .parse::<usize>()
            .map_err(|_| format!("`{part}` is not a number"))
    };
    match text.split_once('-') {
        Some((min, max)) => Ok(NgramRange {
            min: number(min)?,
            max: number(max)?,
        }),
        None => number(text).map(|n| NgramRange { min: n, max: n }),
    }
}

fn ngrams_from_one(text: &str) -> Result<NgramRange, String> {
    let range = ngrams(text)?;
    Ok(if text.contains('-') {
        range
    } else {
        NgramRange {
            min: 1,
            max: range.max,
        }
    })
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("say yes or no".into()),
    }
}

impl FeatureArguments {
    pub(crate) fn analyzer(&self) -> Analyzer {
        Analyzer {
            stop_words: self.stop_words,
            min_token_chars: self.min_word_length,
            word_ngrams: self.word_ngrams,
            char_ngrams: self.char_ngrams,
            char_ngrams_across: self.char_ngrams_across,
            words: WordRules {
                segmentation: self.segmentation,
                emoji: !self.no_emoji,
                signs: !self.no_signs,
            },
            ..self.spelling.analyzer()
        }
    }

    pub(crate) fn limits(&self) -> DocumentFrequencyLimits {
        DocumentFrequencyLimits {
            min_documents: self.min_df,
            max_share: self.max_df,
            max_features: self.max_features,
        }
    }

    /// Refuses constants of a weighting that was not asked for: a weighting that is chosen has its own.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        let given = [("--bm25-k1", self.bm25_k1), ("--bm25-b", self.bm25_b)];
        let given = given.into_iter().find(|(_, value)| value.is_some());
        match given {
            Some((option, _)) if !matches!(self.weighting, Some(Weighting::Bm25 { .. })) => {
                Err(CliError::new(format!("{option} needs --weighting bm25"))
                    .hint(format!("add --weighting bm25, or leave out {option}")))
            }
            _ => Ok(()),
        }
    }

    /// The weighting that was asked for.
    pub(crate) fn asked_weighting(&self) -> Option<Weighting> {
        self.weighting.map(|weighting| match weighting {
            Weighting::Bm25 { k1, b } => Weighting::Bm25 {
                k1: self.bm25_k1.unwrap_or(k1),
                b: self.bm25_b.unwrap_or(b),
            },
            other => other,
        })
    }

    /// What was asked for over what is usual.
    pub(crate) fn weighting(&self, usual: WeightingSettings) -> Option<WeightingSettings> {
        if self.weighting.is_none() && self.l2_norm.is_none() {
            return None;
        }
        Some(WeightingSettings {
            weighting: self.asked_weighting().unwrap_or(usual.weighting),
            l2_norm: self.l2_norm.unwrap_or(usual.l2_norm),
        })
    }

    pub(crate) fn selection(&self) -> Result<Option<Selection>, CliError> {
        let Some((measure, count)) = self.select.zip(self.select_terms) else {
            return Ok(None);
        };
        if self.hash_bits.is_some() {
            return Err(CliError::new("--select cannot be used with --hash-bits")
                .hint("leave out --hash-bits, or lower the number of bits instead"));
        }
        let scope = if self.select_per_class {
            SelectionScope::PerClass
        } else {
            SelectionScope::Global
        };
        Ok(Some(Selection {
            measure,
            scope,
            count,
        }))
    }
}
