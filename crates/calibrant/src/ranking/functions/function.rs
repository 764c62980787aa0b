//! The retrieval functions and their parameters.

use serde::{Deserialize, Serialize};

use super::prepared::PreparedFunction;
use super::statistics::{CollectionStatistics, DocumentStatistics, QueryTerm};

/// A formula that scores a document for a query by the terms that they share.
///
/// # Formula
/// Sums run over the distinct terms of the query that some document of the collection has. `tf` is the
/// count of the term in the document and `qtf` in the query, `df` the number of documents that have it,
/// `ctf` its count in the whole collection, `p = ctf/total`; `L` is the length of the document in terms,
/// `U` its number of distinct ones, `avg` the mean length, `N` the number of documents.
/// ```text
/// cosine             Σ (1+ln tf)(1+ln qtf) ln(N/df) / (|d| |q|)             over terms with tf > 0
/// tf-idf             Σ qtf · tf · ln(N/df)
/// bm25               Σ idf · (k1+1) tf / (tf + k1 (1-b + b L/avg)) · (k3+1) qtf / (k3+qtf)
/// dirichlet          Σ qtf · ln((tf + µ p) / (L + µ))
/// jelinek-mercer     Σ qtf · ln((1-λ) tf/L + λ p)
/// absolute-discount  Σ qtf · ln(max(tf-δ, 0)/L + δ U/L · p)
/// ```
/// `|d|` is the length of the vector of all weights `1+ln tf` of the document, `|q|` that of the query's weights
/// `(1+ln qtf) ln(N/df)`: the scheme `lnc.ltc`, where the rarity of a term is counted once.
///
/// # Defaults
/// `k1 = 1.2`, `b = 0.75`, `k3 = 7`; `λ = 0.5`, `δ = 0.5` as LETOR has them. BM25's idf is `ln(1 + (N-df+½)/(df+½))`,
/// which is never negative ([`Bm25Idf::Positive`]); LETOR's ([`Bm25Idf::Robertson`]) punishes documents for words
/// that more than half of them have. `µ = 1000`, where LETOR takes 50 for its abstracts of a hundred words: the
/// best value grows with the length of documents (Zhai and Lafferty found 500 to 4000 for news).
///
/// # When it misleads
/// Scores of different functions, or of one function for different queries, are not on one scale. `tf-idf` does not
/// look at the length of a document and favours long ones. The three language models give logarithms of probabilities,
/// which are negative; they have a value for documents without any term of the query, too, as have the
/// others (0). An empty document (`L = 0`) is taken to have `tf/L = 0` and `U/L = 1`.
///
/// # Reference
/// Robertson et al., Okapi at TREC-3, 1995; Zhai and Lafferty, ACM TOIS 22(2), 2004, section 3; Manning, Raghavan and
/// Schütze, *Introduction to Information Retrieval*, 2008, section 6.4.3 (`lnc.ltc`); Liu et al., LETOR, 2007.
///
/// ```
/// use calibrant::ranking::functions::*;
/// let collection = CollectionStatistics { document_count: 10, total_terms: 100 };
/// let statistics = TermStatistics { document_frequency: 2, collection_frequency: 5 };
/// let query = [QueryTerm { count: 1, statistics }];
/// let document = DocumentStatistics { length: 20, unique_length: 8, norm: 4.0 };
/// let score = |function: RetrievalFunction| function.score(&collection, &query, &document, &[3]);
/// assert!((score(RetrievalFunction::TfIdf) - 3.0 * 5f64.ln()).abs() < 1e-12); // tf · ln(10/2)
/// // By hand: p = 5/100, and (3 + 1000·0.05) / (20 + 1000) = 53/1020.
/// assert!((score(RetrievalFunction::dirichlet()) - (53.0f64 / 1020.0).ln()).abs() < 1e-12);
/// // By hand: half of 3/20 and half of 1/20 is 1/10.
/// assert!((score(RetrievalFunction::jelinek_mercer()) - 0.1f64.ln()).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "function", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RetrievalFunction {
    /// Cosine of the angle between document and query.
    Cosine,
    /// Counts weighted by rarity.
    TfIdf,
    /// Okapi BM25.
    Bm25 {
        /// How soon more occurrences stop to help; 0 looks at presence alone.
        k1: f64,
        /// How much long documents are held back, from 0 (not at all) to 1.
        b: f64,
        /// The same as `k1` for repeated words of the query.
        k3: f64,
        /// How rarity is counted.
        idf: Bm25Idf,
    },
    /// Query likelihood with a Dirichlet prior.
    Dirichlet {
        /// How many terms of the collection are added to each document; above 0.
        mu: f64,
    },
    /// Query likelihood, mixed linearly with the collection.
    JelinekMercer {
        /// The share of the collection, between 0 and 1.
        lambda: f64,
    },
    /// Query likelihood with a constant taken off each count and given to the collection.
    AbsoluteDiscount {
        /// What is taken off, above 0 and at most 1.
        delta: f64,
    },
}

/// How BM25 counts the rarity of a term that `df` of `N` documents have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bm25Idf {
    /// `ln(1 + (N-df+½)/(df+½))`: always above 0.
    #[default]
    Positive,
    /// `ln((N-df+½)/(df+½))`: negative where more than half of all documents have the term.
    Robertson,
}

/// A parameter outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{parameter} of {function} is {value}; it must be {range}")]
pub struct ParameterError {
    /// The function's name.
    pub function: &'static str,
    /// The parameter's name.
    pub parameter: &'static str,
    /// What it was.
    pub value: f64,
    /// What it may be.
    pub range: &'static str,
}

impl RetrievalFunction {
    /// Okapi BM25 with `k1 = 1.2`, `b = 0.75`, `k3 = 7` and an idf that is never negative.
    pub const fn bm25() -> Self {
        Self::Bm25 {
            k1: 1.2,
            b: 0.75,
            k3: 7.0,
            idf: Bm25Idf::Positive,
        }
    }

    /// A Dirichlet prior with `µ = 1000`.
    pub const fn dirichlet() -> Self {
        Self::Dirichlet { mu: 1000.0 }
    }

    /// An even mixture, `λ = 0.5`.
    pub const fn jelinek_mercer() -> Self {
        Self::JelinekMercer { lambda: 0.5 }
    }

    /// A discount of one half.
    pub const fn absolute_discount() -> Self {
        Self::AbsoluteDiscount { delta: 0.5 }
    }

    /// Each function with its default parameters.
    pub const ALL: [Self; 6] = [
        Self::Cosine,
        Self::TfIdf,
        Self::bm25(),
        Self::dirichlet(),
        Self::jelinek_mercer(),
        Self::absolute_discount(),
    ];

    /// The name of the formula, without parameters.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::TfIdf => "tf-idf",
            Self::Bm25 { .. } => "bm25",
            Self::Dirichlet { .. } => "dirichlet",
            Self::JelinekMercer { .. } => "jelinek-mercer",
            Self::AbsoluteDiscount { .. } => "absolute-discount",
        }
    }

    /// Whether the parameters are in their ranges.
    pub fn check(&self) -> Result<(), ParameterError> {
        let check = |parameter, value: f64, good: bool, range| {
            if good && value.is_finite() {
                return Ok(());
            }
            Err(ParameterError {
                function: self.name(),
                parameter,
                value,
                range,
            })
        };
        match *self {
            Self::Cosine | Self::TfIdf => Ok(()),
            Self::Bm25 { k1, b, k3, .. } => {
                check("k1", k1, k1 >= 0.0, "0 or more")?;
                check("b", b, (0.0..=1.0).contains(&b), "from 0 to 1")?;
                check("k3", k3, k3 >= 0.0, "0 or more")
            }
            Self::Dirichlet { mu } => check("mu", mu, mu > 0.0, "above 0"),
            Self::JelinekMercer { lambda } => {
                let good = lambda > 0.0 && lambda < 1.0;
                check("lambda", lambda, good, "between 0 and 1")
            }
            Self::AbsoluteDiscount { delta } => {
                let good = delta > 0.0 && delta <= 1.0;
                check("delta", delta, good, "above 0 and at most 1")
            }
        }
    }

    /// Works out what is the same for all documents.
    #[doc(hidden)] // For the index.
    pub fn prepare(
        &self,
        collection: &CollectionStatistics,
        query: &[QueryTerm],
    ) -> PreparedFunction {
        PreparedFunction::new(*self, collection, query)
    }

    /// The score of one document; `frequencies` holds the `tf` of each term of the query.
    /// For many documents [`prepare`](Self::prepare) once.
    pub fn score(
        &self,
        collection: &CollectionStatistics,
        query: &[QueryTerm],
        document: &DocumentStatistics,
        frequencies: &[u32],
    ) -> f64 {
        self.prepare(collection, query).score(document, frequencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_outside_their_ranges_are_named() {
        for function in RetrievalFunction::ALL {
            assert_eq!(function.check(), Ok(()));
        }
        let bm25 = |k1, b, k3| RetrievalFunction::Bm25 {
            k1,
            b,
            k3,
            idf: Bm25Idf::Positive,
        };
        for (function, parameter) in [
            (bm25(-0.1, 0.5, 0.0), "k1"),
            (bm25(f64::NAN, 0.5, 0.0), "k1"),
            (bm25(1.0, 1.5, 0.0), "b"),
            (bm25(1.0, 0.5, f64::INFINITY), "k3"),
            (RetrievalFunction::Dirichlet { mu: 0.0 }, "mu"),
            (RetrievalFunction::JelinekMercer { lambda: 1.0 }, "lambda"),
            (RetrievalFunction::JelinekMercer { lambda: 0.0 }, "lambda"),
            (RetrievalFunction::AbsoluteDiscount { delta: 1.1 }, "delta"),
        ] {
            let error = function.check().unwrap_err();
            assert_eq!(error.parameter, parameter);
            assert!(error.to_string().contains("must be"), "{error}");
        }
    }

    #[test]
    fn functions_survive_being_saved() {
        for function in RetrievalFunction::ALL {
            let json = serde_json::to_string(&function).unwrap();
            assert_eq!(
                serde_json::from_str::<RetrievalFunction>(&json).unwrap(),
                function
            );
        }
    }
}
