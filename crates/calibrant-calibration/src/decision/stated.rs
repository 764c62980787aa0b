//! Probabilities that are handed in with labels, before anything is made of them.

use crate::CalibrationError;

/// Whether so many rows have a probability between 0 and 1 for each of so many classes, and there are any.
pub(super) fn check_stated(
    probabilities: &[f64],
    class_count: usize,
    rows: usize,
) -> Result<(), CalibrationError> {
    if class_count == 0 || rows == 0 {
        return Err(CalibrationError::NoExamples);
    }
    if rows.checked_mul(class_count) != Some(probabilities.len()) {
        return Err(CalibrationError::LengthMismatch {
            left_name: "probabilities",
            left: probabilities.len() / class_count,
            right_name: "labels",
            right: rows,
        });
    }
    match probabilities.iter().position(|p| !(0.0..=1.0).contains(p)) {
        Some(position) => Err(CalibrationError::BadScore {
            position,
            value: probabilities[position],
        }),
        None => Ok(()),
    }
}
