//! Counts to feature values.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::SparseMatrix;

/// How a term's count in a document becomes the value of its feature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Weighting {
    /// 1 for a term that occurs.
    Binary,
    /// The count itself.
    Tf,
    /// `1 + ln tf`.
    LogTf,
    /// `tf · idf`.
    TfIdf,
    /// `(1 + ln tf) · idf`.
    LogTfIdf,
    /// Okapi BM25 as a document weight.
    Bm25 {
        /// How soon repeating a term stops adding (1.2 is usual).
        k1: f64,
        /// How much long documents are discounted, 0 to 1 (0.75 is usual).
        b: f64,
    },
}

named! {
    Weighting, "a weighting of terms";
    Binary = "binary", "1 for a term that occurs";
    Tf = "tf", "The count";
    LogTf = "log_tf", "1 + ln(count)";
    TfIdf = "tf_idf", "The count times the inverse document frequency";
    LogTfIdf = "log_tf_idf", "1 + ln(count), times the inverse document frequency";
    Bm25 { k1: 1.2, b: 0.75 } = "bm25", "Okapi BM25 as a document weight";
}

impl Weighting {
    /// BM25 with the constants that are usual.
    pub const USUAL_BM25: Self = Self::Bm25 { k1: 1.2, b: 0.75 };
}

/// A weighting and whether rows are scaled to unit length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightingSettings {
    /// The weight of a term in a document.
    pub weighting: Weighting,
    /// Whether each row is divided by its Euclidean length.
    pub l2_norm: bool,
}

impl WeightingSettings {
    /// In a word: `log_tf_idf`.
    pub fn short_name(&self) -> &'static str {
        self.weighting.name()
    }

    /// Whether a row's values depend on the row alone: on no document frequency, mean length or norm.
    pub(crate) fn is_of_row_alone(&self) -> bool {
        let by_itself = matches!(
            self.weighting,
            Weighting::Binary | Weighting::Tf | Weighting::LogTf
        );
        by_itself && !self.l2_norm
    }

    /// In a few words: `log_tf_idf, unit length`.
    pub fn name(&self) -> String {
        let name = self.short_name();
        let length = if self.l2_norm { ", unit length" } else { "" };
        format!("{name}{length}")
    }
}

/// A weighting with what it learned from the training documents.
///
/// # Formula
/// ```text
/// idf        = ln((1 + N) / (1 + df)) + 1              (TfIdf, LogTfIdf)
/// BM25       = idf' · tf (k1 + 1) / (tf + k1 (1 - b + b · length / mean length))
///   idf'     = ln(1 + (N - df + 1/2) / (df + 1/2))
/// ```
/// `N` documents, `df` of them with the term; a document's length is the sum of its counts over
/// the features.
///
/// # When it misleads
/// A term that the training documents lack has no feature: it neither adds to a score nor to a
/// row's length.
///
/// ```
/// use calibrant::features::{FittedWeighting, SparseMatrix, Weighting, WeightingSettings};
/// let counts = SparseMatrix::from_rows(2, [vec![(0, 3.0), (1, 1.0)], vec![(0, 1.0)], vec![(0, 1.0)]]);
/// let settings = WeightingSettings { weighting: Weighting::TfIdf, l2_norm: false };
/// let weighted = FittedWeighting::fit(settings, &counts).apply(counts);
/// // By hand: term 0 is everywhere, idf = ln(4/4) + 1 = 1; term 1 has idf = ln(4/2) + 1.
/// assert_eq!(weighted.row(0).values(), &[3.0, (2f64.ln() + 1.0) as f32]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FittedWeighting {
    settings: WeightingSettings,
    document_count: u64,
    total_length: f64,
    document_frequencies: Vec<u32>,
    idf: Vec<f64>,
}

impl FittedWeighting {
    /// Learns document frequencies and the mean length.
    pub fn fit(settings: WeightingSettings, counts: &SparseMatrix) -> Self {
        let total_length = counts
            .rows()
            .map(|row| row.values.iter().map(|&v| f64::from(v)).sum::<f64>())
            .sum();
        Self::from_parts(
            settings,
            counts.row_count() as u64,
            total_length,
            counts.document_frequencies(),
        )
    }

    /// From what a model file keeps.
    pub fn from_parts(
        settings: WeightingSettings,
        document_count: u64,
        total_length: f64,
        document_frequencies: Vec<u32>,
    ) -> Self {
        let n = document_count as f64;
        let idf = match settings.weighting {
            Weighting::Binary | Weighting::Tf | Weighting::LogTf => Vec::new(),
            Weighting::TfIdf | Weighting::LogTfIdf => document_frequencies
                .iter()
                .map(|&df| ((1.0 + n) / (1.0 + f64::from(df))).ln() + 1.0)
                .collect(),
            Weighting::Bm25 { .. } => document_frequencies
                .iter()
                .map(|&df| ((n - f64::from(df)).max(0.0) + 0.5) / (f64::from(df) + 0.5))
                .map(f64::ln_1p)
                .collect(),
        };
        Self {
            settings,
            document_count,
            total_length,
            document_frequencies,
            idf,
        }
    }

    /// The settings it was fitted with.
    pub fn settings(&self) -> WeightingSettings {
        self.settings
    }

    /// In how many training documents each feature occurs.
    pub fn document_frequencies(&self) -> &[u32] {
        &self.document_frequencies
    }

    /// How many documents it was fitted on, and the sum of their lengths.
    pub fn collection_size(&self) -> (u64, f64) {
        (self.document_count, self.total_length)
    }

    /// Turns one row of counts into values, in place.
    pub fn apply_row(&self, columns: &[u32], values: &mut [f32]) {
        // Most terms come once: no logarithm for those.
        let log_tf = |tf: f64| {
            if tf > 0.0 && tf != 1.0 {
                1.0 + tf.ln()
            } else {
                tf
            }
        };
        let idf = |column: u32| self.idf[column as usize];
        let each = |values: &mut [f32], weight: &dyn Fn(u32, f64) -> f64| {
            for (&column, value) in columns.iter().zip(values) {
                *value = weight(column, f64::from(*value)) as f32;
            }
        };
        match self.settings.weighting {
            Weighting::Tf => {}
            Weighting::Binary => each(values, &|_, tf| if tf == 0.0 { 0.0 } else { 1.0 }),
            Weighting::LogTf => each(values, &|_, tf| log_tf(tf)),
            Weighting::TfIdf => each(values, &|column, tf| tf * idf(column)),
            Weighting::LogTfIdf => each(values, &|column, tf| log_tf(tf) * idf(column)),
            Weighting::Bm25 { k1, b } => {
                let length: f64 = values.iter().map(|&v| f64::from(v)).sum();
                let mean = (self.total_length / (self.document_count.max(1) as f64))
                    .max(f64::MIN_POSITIVE);
                let discount = k1 * (1.0 - b + b * length / mean);
                each(values, &|column, tf| {
                    idf(column) * tf * (k1 + 1.0) / (tf + discount).max(f64::MIN_POSITIVE)
                });
            }
        }
        if self.settings.l2_norm {
            let norm = values
                .iter()
                .map(|&v| f64::from(v) * f64::from(v))
                .sum::<f64>()
                .sqrt();
            if norm > 0.0 && norm.is_finite() {
                let scale = 1.0 / norm;
                values
                    .iter_mut()
                    .for_each(|v| *v = (f64::from(*v) * scale) as f32);
            }
        }
    }

    /// Turns a matrix of counts into feature values.
    pub fn apply(&self, counts: SparseMatrix) -> SparseMatrix {
        counts.map_rows(|columns, values| self.apply_row(columns, values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(weighting: Weighting, l2_norm: bool) -> SparseMatrix {
        let counts = SparseMatrix::from_rows(2, [vec![(0, 3.0), (1, 1.0)], vec![(0, 1.0)], vec![]]);
        FittedWeighting::fit(WeightingSettings { weighting, l2_norm }, &counts).apply(counts)
    }

    #[track_caller]
    fn check(weighting: Weighting, l2_norm: bool, expected: &[f64]) {
        let matrix = weighted(weighting, l2_norm);
        for (value, expected) in matrix.row(0).values.iter().zip(expected) {
            assert!(
                (f64::from(*value) - expected).abs() < 1e-6,
                "{value} {expected}"
            );
        }
    }

    #[test] // N = 3, df = 2 and 1; lengths 4, 1, 0: the mean is 5/3.
    fn each_weighting_gives_the_number_worked_by_hand() {
        check(Weighting::Binary, false, &[1.0, 1.0]);
        check(Weighting::Tf, false, &[3.0, 1.0]);
        check(Weighting::LogTf, false, &[1.0 + 3f64.ln(), 1.0]);
        let idf = [(4.0f64 / 3.0).ln() + 1.0, 2f64.ln() + 1.0];
        check(Weighting::TfIdf, false, &[3.0 * idf[0], idf[1]]);
        check(
            Weighting::LogTfIdf,
            false,
            &[(1.0 + 3f64.ln()) * idf[0], idf[1]],
        );
        let norm = (9.0f64 + 1.0).sqrt();
        check(Weighting::Tf, true, &[3.0 / norm, 1.0 / norm]);
        let idf = [(1.0f64 + 1.5 / 2.5).ln(), (1.0f64 + 2.5 / 1.5).ln()];
        let discount = 1.2 * (0.25 + 0.75 * 4.0 / (5.0 / 3.0));
        check(
            Weighting::Bm25 { k1: 1.2, b: 0.75 },
            false,
            &[
                idf[0] * 3.0 * 2.2 / (3.0 + discount),
                idf[1] * 2.2 / (1.0 + discount),
            ],
        );
    }

    #[test]
    fn an_empty_row_stays_empty() {
        assert_eq!(weighted(Weighting::LogTfIdf, true).row(2).values.len(), 0);
    }
}
