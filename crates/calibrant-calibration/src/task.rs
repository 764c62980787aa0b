//! What kind of answer is asked of a classifier.

use serde::{Deserialize, Serialize};

/// Whether a document belongs to exactly one class or to any number of them.
///
/// ```
/// use calibrant_calibration::Task;
/// assert_eq!(Task::MultiLabel.to_string(), "multi-label");
/// assert_eq!(serde_json::to_string(&Task::SingleLabel).unwrap(), "\"single_label\"");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Every document has exactly one label; the probabilities of a document sum to one.
    SingleLabel,
    /// A document has any number of labels, none included; every class is a yes-or-no question.
    MultiLabel,
}

impl std::fmt::Display for Task {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Task::SingleLabel => "single-label",
            Task::MultiLabel => "multi-label",
        })
    }
}
