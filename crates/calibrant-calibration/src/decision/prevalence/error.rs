//! Why no share can be stated.

/// Why no share can be stated, or no sample planned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrevalenceError {
    /// Nothing was labelled.
    #[error("no document is labelled; a share needs labels of documents drawn at random")]
    NoLabels,
    /// There is no pool.
    #[error("the pool has no documents")]
    NoDocuments,
    /// Lists that belong together differ in length.
    #[error("{what}: {found} entries where {expected} were expected")]
    Length {
        /// The list.
        what: &'static str,
        /// How long it should be.
        expected: usize,
        /// How long it is.
        found: usize,
    },
    /// More documents are labelled than there are.
    #[error("{labelled} documents are labelled and the pool that holds them has {documents}")]
    SampleTooLarge {
        /// Labelled documents.
        labelled: usize,
        /// Documents of the pool, or of the stratum.
        documents: usize,
    },
    /// A stated probability is none.
    #[error("{value} is not a probability (document {document}, class {class})")]
    BadProbability {
        /// Which document.
        document: usize,
        /// Which class.
        class: usize,
        /// What was stated.
        value: f64,
    },
    /// A label or a stratum names something that is not there.
    #[error("{what} {number} is beyond the last one, {last}")]
    Unknown {
        /// What it names.
        what: &'static str,
        /// The number.
        number: usize,
        /// The last number that there is.
        last: usize,
    },
    /// The confidence is none.
    #[error("{confidence} is not a confidence; it must lie between 0 and 1, as 0.95 does")]
    BadConfidence {
        /// What was asked for.
        confidence: f64,
    },
    /// The method cannot be used with the way in which the sample was drawn.
    #[error("{method} needs a simple random sample; this one was drawn in strata")]
    NotForStrata {
        /// The method.
        method: super::PrevalenceMethod,
    },
    /// The wanted width cannot be had.
    #[error("{width} is not a width; it must lie between 0 and 1")]
    BadWidth {
        /// What was asked for.
        width: f64,
    },
}
