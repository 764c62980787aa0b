//! A retrieval function with everything worked out that does not depend on the document.

use super::function::{Bm25Idf, RetrievalFunction};
use super::statistics::{CollectionStatistics, DocumentStatistics, QueryTerm};

/// A [`RetrievalFunction`] for one query and one collection.
///
/// The score is the sum of one part for each term of the query, added in their order: whoever adds
/// the parts up gets the score to the last bit. Language models have a part for a term that the
/// document lacks, too.
///
/// ```
/// use calibrant::ranking::functions::*;
/// let collection = CollectionStatistics { document_count: 10, total_terms: 100 };
/// let term = |df, ctf| QueryTerm {
///     count: 1,
///     statistics: TermStatistics { document_frequency: df, collection_frequency: ctf },
/// };
/// let prepared = RetrievalFunction::dirichlet().prepare(&collection, &[term(2, 5), term(1, 1)]);
/// let document = DocumentStatistics { length: 20, unique_length: 8, norm: 4.0 };
/// let factors = prepared.factors(&document);
/// let parts = [prepared.part(0, 3, &factors), prepared.part(1, 0, &factors)];
/// assert_eq!(parts[0] + parts[1], prepared.score(&document, &[3, 0]));
/// assert!((parts[1] - (10.0f64 / 1020.0).ln()).abs() < 1e-12); // by hand: µ·1/100 over 20 + µ
/// ```
#[derive(Debug, Clone)]
pub struct PreparedFunction {
    function: RetrievalFunction,
    average_length: f64,
    terms: Vec<PreparedTerm>,
}

#[derive(Debug, Clone, Copy)]
struct PreparedTerm {
    /// No document has the term: it is passed over.
    known: bool,
    /// What the term's part is multiplied by; weighs its rarity and its count in the query.
    weight: f64,
    /// `p`, the term's share in the collection; `µp` or `λp` where the formula says so.
    share: f64,
    /// The logarithm of that, for documents without the term.
    ln_share: f64,
}

/// What the formula makes of a document before it looks at terms.
#[derive(Debug, Clone, Copy)]
pub struct DocumentFactors {
    first: f64,
    second: f64,
}

impl PreparedFunction {
    pub(super) fn new(
        function: RetrievalFunction,
        collection: &CollectionStatistics,
        query: &[QueryTerm],
    ) -> Self {
        let mut terms: Vec<PreparedTerm> = query
            .iter()
            .map(|term| prepare_term(function, collection, term))
            .collect();
        if function == RetrievalFunction::Cosine {
            let norm = terms
                .iter()
                .map(|term| term.weight * term.weight)
                .sum::<f64>()
                .sqrt();
            // All weights are 0 if every document has every term: so are the scores then.
            if norm > 0.0 {
                terms.iter_mut().for_each(|term| term.weight /= norm);
            }
        }
        Self {
            function,
            average_length: collection.average_length(),
            terms,
        }
    }

    /// How many terms the query has, unknown ones included.
    pub fn term_count(&self) -> usize {
        self.terms.len()
    }

    /// What the formula needs of a document, once for all terms.
    #[inline]
    pub fn factors(&self, document: &DocumentStatistics) -> DocumentFactors {
        let length = document.length as f64;
        let (first, second) = match self.function {
            RetrievalFunction::TfIdf => (0.0, 0.0),
            RetrievalFunction::Cosine if document.norm > 0.0 => (document.norm.recip(), 0.0),
            RetrievalFunction::Cosine => (0.0, 0.0),
            RetrievalFunction::Bm25 { k1, b, .. } => {
                let relative = if self.average_length > 0.0 {
                    length / self.average_length
                } else {
                    0.0
                };
                (k1 * (1.0 - b + b * relative), k1 + 1.0)
            }
            RetrievalFunction::Dirichlet { mu } => ((length + mu).ln(), 0.0),
            RetrievalFunction::JelinekMercer { lambda } => {
                let one = if length > 0.0 { 1.0 / length } else { 0.0 };
                ((1.0 - lambda) * one, 0.0)
            }
            RetrievalFunction::AbsoluteDiscount { delta } => {
                let share = if length > 0.0 {
                    document.unique_length as f64 / length
                } else {
                    1.0
                };
                let one = if length > 0.0 { 1.0 / length } else { 0.0 };
                (one, delta * share)
            }
        };
        DocumentFactors { first, second }
    }

    /// What the term adds to the score of a document that has it `frequency` times.
    ///
    /// # Panics
    /// If the query has no term of that number.
    #[inline]
    pub fn part(&self, term: usize, frequency: u32, factors: &DocumentFactors) -> f64 {
        let term = &self.terms[term];
        if !term.known {
            return 0.0;
        }
        let count = f64::from(frequency);
        match self.function {
            RetrievalFunction::TfIdf => term.weight * count,
            RetrievalFunction::Cosine if frequency == 0 => 0.0,
            RetrievalFunction::Cosine => term.weight * (1.0 + count.ln()) * factors.first,
            RetrievalFunction::Bm25 { .. } if frequency == 0 => 0.0,
            RetrievalFunction::Bm25 { .. } => {
                term.weight * (factors.second * count / (count + factors.first))
            }
            RetrievalFunction::Dirichlet { .. } => {
                let seen = if frequency == 0 {
                    term.ln_share
                } else {
                    (count + term.share).ln()
                };
                term.weight * (seen - factors.first)
            }
            RetrievalFunction::JelinekMercer { .. } => {
                let probability = if frequency == 0 {
                    term.ln_share
                } else {
                    (count * factors.first + term.share).ln()
                };
                term.weight * probability
            }
            RetrievalFunction::AbsoluteDiscount { delta } => {
                let discounted = (count - delta).max(0.0) * factors.first;
                term.weight * (discounted + factors.second * term.share).ln()
            }
        }
    }

    /// The most that a term can add to the score of any document that has it, or that lacks it: no [`part`](Self::part) is
    /// larger. Infinite where the formula knows no limit.
    ///
    /// # Formula
    /// ```text
    /// BM25         w (k1+1) tf / (tf + …) <= w (k1+1)                       or 0 for a term of negative weight
    /// cosine       w (1 + ln tf) / norm <= w                                (1 + ln tf is one of the norm's parts)
    /// models       a probability of a term is at most 1; without the term it is at most p, λp or δp
    /// ```
    ///
    /// # Panics
    /// If the query has no term of that number.
    pub fn most(&self, term: usize, present: bool) -> f64 {
        let term = &self.terms[term];
        if !term.known {
            return 0.0;
        }
        match self.function {
            RetrievalFunction::TfIdf
            | RetrievalFunction::Bm25 { .. }
            | RetrievalFunction::Cosine
                if !present =>
            {
                0.0
            }
            RetrievalFunction::TfIdf if term.weight > 0.0 => f64::INFINITY,
            RetrievalFunction::TfIdf => 0.0,
            RetrievalFunction::Bm25 { k1, .. } => (term.weight * (k1 + 1.0)).max(0.0),
            RetrievalFunction::Cosine => term.weight.max(0.0),
            _ if present => 0.0,
            // Of an empty document, where the model is the collection's.
            RetrievalFunction::Dirichlet { mu } => term.weight * (term.ln_share - mu.ln()),
            RetrievalFunction::JelinekMercer { .. } => term.weight * term.ln_share,
            RetrievalFunction::AbsoluteDiscount { delta } => {
                term.weight * (delta * term.share).ln()
            }
        }
    }

    /// The score of a document, whose `tf` for each term of the query are given.
    /// Frequencies that are left out are 0, further ones are not looked at.
    #[inline]
    pub fn score(&self, document: &DocumentStatistics, frequencies: &[u32]) -> f64 {
        let factors = self.factors(document);
        let frequency = |term: usize| frequencies.get(term).copied().unwrap_or(0);
        // A sum of nothing is -0, which `total_cmp` would set apart from other noughts.
        (0..self.terms.len()).fold(0.0, |sum, term| {
            sum + self.part(term, frequency(term), &factors)
        })
    }
}

fn prepare_term(
    function: RetrievalFunction,
    collection: &CollectionStatistics,
    term: &QueryTerm,
) -> PreparedTerm {
    let known = term.statistics.is_known() && term.count > 0 && collection.total_terms > 0;
    if !known {
        return PreparedTerm {
            known,
            weight: 0.0,
            share: 0.0,
            ln_share: 0.0,
        };
    }
    let documents = collection.document_count as f64;
    let df = term.statistics.document_frequency as f64;
    let p = term.statistics.collection_frequency as f64 / collection.total_terms as f64;
    let count = f64::from(term.count);
    let rarity = (documents / df).ln();
    let (weight, share) = match function {
        RetrievalFunction::Cosine => ((1.0 + count.ln()) * rarity, 0.0),
        RetrievalFunction::TfIdf => (count * rarity, 0.0),
        RetrievalFunction::Bm25 { k3, idf, .. } => {
            // Statistics that contradict themselves (df above N) shall not give NaN.
            let odds = (documents - df).max(0.0) + 0.5;
            let odds = odds / (df + 0.5);
            let rarity = match idf {
                Bm25Idf::Positive => odds.ln_1p(),
                Bm25Idf::Robertson => odds.ln(),
            };
            (rarity * ((k3 + 1.0) * count / (k3 + count)), 0.0)
        }
        RetrievalFunction::Dirichlet { mu } => (count, mu * p),
        RetrievalFunction::JelinekMercer { lambda } => (count, lambda * p),
        RetrievalFunction::AbsoluteDiscount { .. } => (count, p),
    };
    PreparedTerm {
        known,
        weight,
        share,
        ln_share: share.ln(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::TermStatistics;
    use super::*;

    fn term(count: u32, df: u64, ctf: u64) -> QueryTerm {
        QueryTerm {
            count,
            statistics: TermStatistics {
                document_frequency: df,
                collection_frequency: ctf,
            },
        }
    }

    const COLLECTION: CollectionStatistics = CollectionStatistics {
        document_count: 10,
        total_terms: 100,
    };

    #[test]
    fn bm25_is_what_the_formula_says() {
        // By hand: L = avg, so the denominator is tf + k1; idf = ln(1 + 8.5/2.5); qtf 2 gives 16/9.
        let document = DocumentStatistics {
            length: 10,
            unique_length: 5,
            norm: 1.0,
        };
        let score = RetrievalFunction::bm25().score(&COLLECTION, &[term(2, 2, 5)], &document, &[3]);
        let expected = (1.0f64 + 8.5 / 2.5).ln() * (2.2 * 3.0 / 4.2) * (16.0 / 9.0);
        assert!((score - expected).abs() < 1e-12, "{score} {expected}");
    }

    #[test]
    fn the_cosine_of_a_document_with_itself_is_one_where_all_terms_are_equally_rare() {
        let document = DocumentStatistics::of_counts(&mut [1, 2, 4]);
        let query = [term(1, 2, 9), term(2, 2, 9), term(4, 2, 9)];
        let score = RetrievalFunction::Cosine.score(&COLLECTION, &query, &document, &[1, 2, 4]);
        assert!((score - 1.0).abs() < 1e-12, "{score}");
    }

    #[test]
    fn terms_that_nobody_has_change_nothing() {
        let document = DocumentStatistics::of_counts(&mut [1, 2]);
        for function in RetrievalFunction::ALL {
            let with = [term(1, 2, 9), term(3, 0, 0)];
            let with = function.score(&COLLECTION, &with, &document, &[2, 7]);
            let without = function.score(&COLLECTION, &with_first(), &document, &[2]);
            assert_eq!(with.to_bits(), without.to_bits(), "{function:?}");
        }
    }

    fn with_first() -> [QueryTerm; 1] {
        [term(1, 2, 9)]
    }

    proptest! {
        #[test]
        fn no_part_is_larger_than_the_most(
            counts in prop::collection::vec(1u32..60, 1..12),
            df in 1u64..50,
            extra in 0u64..400,
            query_count in 1u32..5,
        ) {
            let frequency = counts[0];
            let document = DocumentStatistics::of_counts(&mut counts.clone());
            let collection = CollectionStatistics {
                document_count: 50,
                total_terms: 50 + document.length.max(df + extra) * 2,
            };
            let query = [term(query_count, df, df + extra)];
            for function in RetrievalFunction::ALL {
                let prepared = function.prepare(&collection, &query);
                let factors = prepared.factors(&document);
                let close = |most: f64| most + 1e-12 * (1.0 + most.abs());
                let (with, without) = (prepared.part(0, frequency, &factors), prepared.part(0, 0, &factors));
                prop_assert!(with <= close(prepared.most(0, true)), "{function:?}");
                prop_assert!(without <= close(prepared.most(0, false)), "{function:?}");
            }
        }

        #[test]
        fn scores_are_finite_and_more_occurrences_never_hurt(
            documents in 1u64..1000,
            df in 1u64..1000,
            extra in 0u64..1000,
            total in 1u64..100_000,
            length in 0u64..1000,
            count in 1u32..20,
        ) {
            let df = df.min(documents);
            let collection = CollectionStatistics {
                document_count: documents,
                total_terms: total.max(df + extra),
            };
            let query = [term(count, df, df + extra)];
            for function in RetrievalFunction::ALL {
                let prepared = function.prepare(&collection, &query);
                let mut last = f64::NEG_INFINITY;
                for frequency in 0..=length.min(40) as u32 {
                    let document = DocumentStatistics {
                        length,
                        unique_length: length.min(7),
                        norm: 3.0,
                    };
                    let score = prepared.score(&document, &[frequency]);
                    prop_assert!(score.is_finite(), "{function:?} {score}");
                    prop_assert!(score >= last - 1e-12, "{function:?} {frequency}");
                    last = score;
                }
            }
        }
    }
}
