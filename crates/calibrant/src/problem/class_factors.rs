//! How much the sides of a class's problem count.

/// How much more the positives and the negatives of each class count in training.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassFactors {
    /// `(positives, negatives)` for each output.
    pub by_output: Vec<(f64, f64)>,
}

impl ClassFactors {
    /// All sides alike.
    pub fn equal(output_count: usize) -> Self {
        Self {
            by_output: vec![(1.0, 1.0); output_count],
        }
    }

    /// Whether all sides count alike.
    pub fn are_equal(&self) -> bool {
        self.by_output.iter().all(|&sides| sides == (1.0, 1.0))
    }
}
