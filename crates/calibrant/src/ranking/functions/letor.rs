//! The fifteen numbers that LETOR 3.0 gives for each stream of a document.

use super::function::{Bm25Idf, RetrievalFunction};
use super::statistics::{CollectionStatistics, DocumentStatistics, QueryTerm};

/// A feature of the LETOR 3.0 collections, from the statistics of one stream (title, abstract or both).
///
/// # Formula
/// In the symbols of [`RetrievalFunction`], sums over the words of the query, repeats included:
/// ```text
///  1  Σ tf                  2  Σ ln(1+tf)
///  3  Σ tf/L                4  Σ ln(1+tf/L)               (0 if L = 0)
///  5  Σ ln(N/df)            6  Σ ln ln(N/df)              7  Σ ln(N/ctf + 1)
///  8  Σ ln(1 + tf/L ln(N/df))      9  Σ tf ln(N/df)      10  Σ ln(1 + tf/L N/ctf)
/// 11  BM25 with the idf of Robertson      12  its logarithm
/// 13  Dirichlet, µ = 50    14  Jelinek-Mercer, λ = 0.5   15  absolute discount, δ = 0.5
/// ```
/// # When it misleads
/// 11 to 15 are missing (`NULL`) where the stream has no word of the query; so is 12 where BM25 is not above 0.
///
/// # Reference
/// Qin, Liu, Xu and Li, LETOR, Information Retrieval 13, 2010, Table 3. The parameters are those that give the
/// published values of OHSUMED, which our tests reproduce from its term statistics.
///
/// ```
/// use calibrant::ranking::functions::*;
/// let collection = CollectionStatistics { document_count: 8, total_terms: 100 };
/// let statistics = TermStatistics { document_frequency: 2, collection_frequency: 2 };
/// let query = [QueryTerm { count: 1, statistics }];
/// let document = DocumentStatistics { length: 10, unique_length: 9, norm: 0.0 };
/// let value = |feature: LetorFeature, tf| feature.value(&collection, &query, &document, &[tf]);
/// assert_eq!(value(LetorFeature::TermFrequency, 3), Some(3.0));
/// assert_eq!(value(LetorFeature::TfIdf, 3), Some(3.0 * 4f64.ln())); // by hand: N/df = 4
/// assert_eq!(value(LetorFeature::Bm25, 0), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LetorFeature {
    /// 1: how often words of the query occur.
    TermFrequency,
    /// 2: the logarithms of that.
    LogTermFrequency,
    /// 3: how often they occur, for the length of the stream.
    RelativeFrequency,
    /// 4: the logarithms of that.
    LogRelativeFrequency,
    /// 5: how rare they are, by documents.
    InverseDocumentFrequency,
    /// 6: the logarithms of that.
    LogInverseDocumentFrequency,
    /// 7: how rare they are, by occurrences.
    InverseCollectionFrequency,
    /// 8: 3 times 5, word by word, logarithms.
    LogRelativeTfIdf,
    /// 9: 1 times 5, word by word.
    TfIdf,
    /// 10: 3 times the inverse share of occurrences, word by word, logarithms.
    LogRelativeTfIcf,
    /// 11: BM25.
    Bm25,
    /// 12: its logarithm.
    LogBm25,
    /// 13: the likelihood of the query, smoothed by Dirichlet's rule.
    Dirichlet,
    /// 14: the same, smoothed by linear interpolation.
    JelinekMercer,
    /// 15: the same, smoothed by absolute discounting.
    AbsoluteDiscount,
}

impl LetorFeature {
    /// The features in the order of their numbers, 1 to 15.
    pub const ALL: [Self; 15] = [
        Self::TermFrequency,
        Self::LogTermFrequency,
        Self::RelativeFrequency,
        Self::LogRelativeFrequency,
        Self::InverseDocumentFrequency,
        Self::LogInverseDocumentFrequency,
        Self::InverseCollectionFrequency,
        Self::LogRelativeTfIdf,
        Self::TfIdf,
        Self::LogRelativeTfIcf,
        Self::Bm25,
        Self::LogBm25,
        Self::Dirichlet,
        Self::JelinekMercer,
        Self::AbsoluteDiscount,
    ];

    /// The retrieval function behind features 9 and 11 to 15, with LETOR's parameters.
    pub const fn function(self) -> Option<RetrievalFunction> {
        match self {
            Self::TfIdf => Some(RetrievalFunction::TfIdf),
            Self::Bm25 | Self::LogBm25 => Some(RetrievalFunction::Bm25 {
                k1: 1.2,
                b: 0.75,
                k3: 7.0,
                idf: Bm25Idf::Robertson,
            }),
            Self::Dirichlet => Some(RetrievalFunction::Dirichlet { mu: 50.0 }),
            Self::JelinekMercer => Some(RetrievalFunction::jelinek_mercer()),
            Self::AbsoluteDiscount => Some(RetrievalFunction::absolute_discount()),
            _ => None,
        }
    }

    /// The value for one document; `None` where LETOR writes `NULL` or the formula has no finite value.
    /// `frequencies` holds the `tf` of each term of the query.
    pub fn value(
        self,
        collection: &CollectionStatistics,
        query: &[QueryTerm],
        document: &DocumentStatistics,
        frequencies: &[u32],
    ) -> Option<f64> {
        let value = match self.function() {
            Some(function) => {
                let matched = query.iter().zip(frequencies).any(|(_, &tf)| tf > 0);
                if !matched && self != Self::TfIdf {
                    return None;
                }
                let score = function.score(collection, query, document, frequencies);
                if self == Self::LogBm25 {
                    score.ln()
                } else {
                    score
                }
            }
            None => self.sum(collection, query, document, frequencies),
        };
        value.is_finite().then_some(value)
    }

    /// The sum over the words of the query of features that are not a retrieval function.
    fn sum(
        self,
        collection: &CollectionStatistics,
        query: &[QueryTerm],
        document: &DocumentStatistics,
        frequencies: &[u32],
    ) -> f64 {
        let documents = collection.document_count as f64;
        let length = document.length as f64;
        let known = query.iter().enumerate();
        let known = known.filter(|(_, term)| term.statistics.is_known());
        known
            .map(|(number, term)| {
                let tf = f64::from(frequencies.get(number).copied().unwrap_or(0));
                let relative = if length > 0.0 { tf / length } else { 0.0 };
                let idf = (documents / term.statistics.document_frequency as f64).ln();
                let icf = documents / term.statistics.collection_frequency as f64;
                let summand = match self {
                    Self::TermFrequency => tf,
                    Self::LogTermFrequency => tf.ln_1p(),
                    Self::RelativeFrequency => relative,
                    Self::LogRelativeFrequency => relative.ln_1p(),
                    Self::InverseDocumentFrequency => idf,
                    Self::LogInverseDocumentFrequency => idf.ln(),
                    Self::InverseCollectionFrequency => icf.ln_1p(),
                    Self::LogRelativeTfIdf => (relative * idf).ln_1p(),
                    Self::LogRelativeTfIcf => (relative * icf).ln_1p(),
                    _ => 0.0,
                };
                f64::from(term.count) * summand
            })
            .sum()
    }
}
