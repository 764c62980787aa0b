//! Vectors beside the text, such as embeddings, to columns.

use serde::{Deserialize, Serialize};

/// The vectors of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VectorColumns {
    pub(super) field: String,
    /// How many numbers each has, and so how many columns there are.
    pub(super) length: usize,
}

impl VectorColumns {
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        (0..self.length).map(|place| format!("{}[{place}]", self.field))
    }

    /// What the numbers of this vector are multiplied by, so that it has the wanted length; `None` where it has no direction or is
    /// none of these vectors.
    pub(super) fn scale(&self, vector: &[f32], wanted: f64) -> Option<f64> {
        if vector.len() != self.length {
            return None;
        }
        // Squares of f32 neither overflow nor vanish in f64.
        let squares: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        let norm = squares.sqrt();
        (norm > 0.0 && norm.is_finite()).then(|| wanted / norm)
    }
}
