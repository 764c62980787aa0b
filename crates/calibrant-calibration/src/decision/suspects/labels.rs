//! Which labels were given, or left out, most likely by mistake, where documents may have several?

use serde::{Deserialize, Serialize};

use super::super::stated::check_stated;
use super::first_doubted;
use crate::{CalibrationError, RowLabels};

/// A label that a document has, and probably should not, or the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LabelSuspect {
    /// Which example, from 0.
    pub row: usize,
    /// Which label.
    pub label: u32,
    /// Whether the example has it.
    pub given: bool,
    /// The probability that this is right.
    pub given_probability: f64,
    /// How suspect it is: larger is worse.
    pub score: f64,
}

/// Labels of examples, and labels that they lack, that are less probable than not, the most suspect first: [`Suspects`](super::Suspects) for each
/// label by itself, put into one order.
///
/// # Formula
/// ```text
/// score = -ln q       q = p where the label was given, 1 - p where not
/// ```
///
/// # When it misleads
/// As [`Suspects`](super::Suspects) does. Labels that people forget are the rule where there are many: most of the list are then labels to be
/// added.
///
/// ```
/// use calibrant_calibration::{RowLabels, decision::suspect_labels};
/// let labels = RowLabels::from([vec![0], vec![], vec![]]);
/// let found = suspect_labels(&[0.9, 0.8, 0.1], 1, &labels)?;
/// // By hand: of the two without the label the first probably has it: q = 0.2.
/// assert_eq!((found.len(), found[0].row, found[0].given), (1, 1, false));
/// assert!((found[0].score + 0.2f64.ln()).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
pub fn suspect_labels(
    probabilities: &[f64],
    label_count: usize,
    labels: &RowLabels,
) -> Result<Vec<LabelSuspect>, CalibrationError> {
    check_stated(probabilities, label_count, labels.len())?;
    let mut given = vec![false; label_count];
    let mut doubted = Vec::new();
    for (row, (own, of_row)) in probabilities
        .chunks_exact(label_count)
        .zip(labels.iter())
        .enumerate()
    {
        given.fill(false);
        for &label in of_row {
            *given
                .get_mut(label as usize)
                .ok_or_else(|| super::unknown_label(label))? = true;
        }
        for (label, (&p, &given)) in own.iter().zip(&given).enumerate() {
            let q = if given { p } else { 1.0 - p };
            if q < 0.5 {
                let label = label as u32;
                doubted.push(LabelSuspect {
                    row,
                    label,
                    given,
                    given_probability: q,
                    score: super::score(1.0, q, 2),
                });
            }
        }
    }
    doubted.sort_by(|a, b| first_doubted(a.score, b.score, a.row, b.row));
    Ok(doubted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Suspects;

    #[test] // One label is two classes.
    fn one_label_is_ranked_as_two_classes_are() {
        let p = [0.9, 0.2, 0.7, 0.05, 0.4, 0.6, 0.3];
        let has = [true, true, false, false, true, false, true];
        let rows = has.map(|has| if has { vec![0] } else { vec![] });
        let several = suspect_labels(&p, 1, &RowLabels::from(rows)).unwrap();
        let two: Vec<f64> = p.iter().flat_map(|p| [1.0 - p, *p]).collect();
        let labels: Vec<u32> = has.iter().map(|&has| u32::from(has)).collect();
        let one = Suspects::find(&two, 2, &labels).unwrap();
        let expected: Vec<(usize, f64)> = one
            .ranked()
            .iter()
            .filter(|suspect| suspect.other_probability > suspect.given_probability)
            .map(|suspect| (suspect.row, suspect.score))
            .collect();
        let found: Vec<(usize, f64)> = several.iter().map(|s| (s.row, s.score)).collect();
        assert_eq!(found, expected);
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn odd_tables_are_refused() {
        assert!(suspect_labels(&[], 1, &RowLabels::from(Vec::<Vec<u32>>::new())).is_err());
        assert!(suspect_labels(&[0.5], 1, &RowLabels::from([vec![1]])).is_err());
        assert!(suspect_labels(&[0.5, 0.5], 1, &RowLabels::from([vec![0]])).is_err());
        assert!(suspect_labels(&[f64::NAN], 1, &RowLabels::from([vec![0]])).is_err());
    }
}
