//! The numbers that retrieval functions are made of.

use serde::{Deserialize, Serialize};

/// What a collection holds, under one analysis of its text.
///
/// ```
/// use calibrant::ranking::functions::CollectionStatistics;
/// let collection = CollectionStatistics { document_count: 4, total_terms: 10 };
/// assert_eq!(collection.average_length(), 2.5); // by hand: 10 / 4
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionStatistics {
    /// How many documents there are (`N`), empty ones included.
    pub document_count: u64,
    /// The sum of their lengths: every occurrence of every term.
    pub total_terms: u64,
}

impl CollectionStatistics {
    /// The mean length of a document; 0 for an empty collection.
    pub fn average_length(&self) -> f64 {
        if self.document_count == 0 {
            return 0.0;
        }
        self.total_terms as f64 / self.document_count as f64
    }
}

/// How common a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TermStatistics {
    /// How many documents have the term (`df`).
    pub document_frequency: u64,
    /// How often it occurs in all of them together (`ctf`).
    pub collection_frequency: u64,
}

impl TermStatistics {
    /// Whether some document has the term.
    pub fn is_known(&self) -> bool {
        self.document_frequency > 0 && self.collection_frequency > 0
    }
}

/// One distinct term of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryTerm {
    /// How often the query has it (`qtf`).
    pub count: u32,
    /// How common it is in the collection.
    pub statistics: TermStatistics,
}

/// What is known of a document besides the terms that it shares with a query.
///
/// ```
/// use calibrant::ranking::functions::DocumentStatistics;
/// // Three terms that occur once, once and twice.
/// let document = DocumentStatistics::of_counts(&mut [2, 1, 1]);
/// assert_eq!((document.length, document.unique_length), (4, 3));
/// let by_hand = (2.0 + (1.0 + 2f64.ln()).powi(2)).sqrt();
/// assert!((document.norm - by_hand).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DocumentStatistics {
    /// Its number of terms, repeats included (`L`).
    pub length: u64,
    /// Its number of distinct terms (`U`).
    pub unique_length: u64,
    /// The Euclidean length of its vector of weights `1 + ln tf`. Only the cosine asks for it.
    pub norm: f64,
}

impl DocumentStatistics {
    /// The statistics of a document whose distinct terms occur this often, in any order.
    /// The counts are sorted, so that the norm has the same bits whatever the order.
    pub fn of_counts(counts: &mut [u32]) -> Self {
        counts.sort_unstable();
        let squares: f64 = counts
            .iter()
            .filter(|&&count| count > 0)
            .map(|&count| (1.0 + f64::from(count).ln()).powi(2))
            .sum();
        Self {
            length: counts.iter().map(|&count| u64::from(count)).sum(),
            unique_length: counts.iter().filter(|&&count| count > 0).count() as u64,
            norm: squares.sqrt(),
        }
    }
}
