//! Examples by falling confidence: how many are above a threshold, and what they lose.

use crate::CalibrationError;
use crate::numeric::rising_order;
use serde::{Deserialize, Serialize};

/// Each step of a thinned table goes on to this many more examples.
const STEP: f64 = 1.01;

/// How many examples are above each of many confidences, and how many of these were answered wrongly: all that
/// [`Certify::threshold_from`](super::Certify::threshold_from) needs, in little room.
///
/// Thresholds are kept at ranks that follow from the number of examples alone, one in a hundred apart, so that what is read from
/// the table is what a search of all examples would have found at that rank.
///
/// ```
/// use calibrant_calibration::decision::AnswerTable;
/// let table = AnswerTable::new(&[0.9, 0.6, 0.8, 0.7], &[true, false, true, true])?;
/// assert_eq!((table.examples(), table.errors()), (4, 1));
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedAnswers")]
pub struct AnswerTable {
    /// Falling.
    thresholds: Vec<f64>,
    /// How many are above each.
    counts: Vec<u64>,
    /// What these lose.
    sums: Vec<f64>,
    /// How many there are, and what all of them lose.
    all: (u64, f64),
}

/// A table as it stands in a file, before it is checked.
#[derive(Deserialize)]
struct SavedAnswers {
    thresholds: Vec<f64>,
    counts: Vec<u64>,
    sums: Vec<f64>,
    all: (u64, f64),
}

impl TryFrom<SavedAnswers> for AnswerTable {
    type Error = CalibrationError;

    fn try_from(saved: SavedAnswers) -> Result<Self, CalibrationError> {
        let SavedAnswers {
            thresholds,
            counts,
            sums,
            all,
        } = saved;
        Self::from_parts(thresholds, counts, sums, all)
    }
}

impl AnswerTable {
    /// From confidences, larger where answers are surer, and whether each answer was right. Thinned where there are many.
    pub fn new(confidences: &[f64], right: &[bool]) -> Result<Self, CalibrationError> {
        Ok(Self::of_answers(confidences, right)?.thinned())
    }

    /// The same with every confidence that occurs.
    pub(super) fn of_answers(
        confidences: &[f64],
        right: &[bool],
    ) -> Result<Self, CalibrationError> {
        let wrong = right.iter().map(|&right| f64::from(u8::from(!right)));
        Self::of_losses(confidences, &wrong.collect::<Vec<f64>>())
    }

    /// Checks parts that come from elsewhere: thresholds (falling), how many examples are above each, how many of these are
    /// wrong, and both for all examples.
    pub fn from_parts(
        thresholds: Vec<f64>,
        counts: Vec<u64>,
        sums: Vec<f64>,
        all: (u64, f64),
    ) -> Result<Self, CalibrationError> {
        let rising = |pair: &[f64]| pair[0] <= pair[1];
        let fine = thresholds.windows(2).all(|pair| pair[0] > pair[1])
            && thresholds.iter().all(|threshold| threshold.is_finite())
            && counts.windows(2).all(|pair| pair[0] < pair[1])
            && sums.windows(2).all(rising)
            && sums.iter().zip(&counts).all(|(&sum, &count)| {
                (0.0..=count as f64).contains(&sum) && count < all.0 && sum <= all.1
            })
            && (0.0..=all.0 as f64).contains(&all.1)
            && all.0 <= 1 << 40
            && thresholds.len() == counts.len()
            && counts.len() == sums.len();
        match fine {
            true => Ok(Self {
                thresholds,
                counts,
                sums,
                all,
            }),
            false => Err(CalibrationError::BadSetting {
                setting: "table of answers",
                requirement: "falling thresholds with rising counts",
                value: "otherwise".to_owned(),
            }),
        }
    }

    /// Thresholds, how many examples are above each, and what these lose.
    pub fn parts(&self) -> (&[f64], &[u64], &[f64], (u64, f64)) {
        (&self.thresholds, &self.counts, &self.sums, self.all)
    }

    /// How many examples there are.
    pub fn examples(&self) -> u64 {
        self.all.0
    }

    /// How many of them were answered wrongly.
    pub fn errors(&self) -> u64 {
        self.all.1.ceil() as u64
    }

    /// Every confidence that occurs is a threshold.
    pub(super) fn of_losses(confidences: &[f64], losses: &[f64]) -> Result<Self, CalibrationError> {
        check(confidences, losses)?;
        let order = rising_order(confidences);
        let mut table = Self {
            thresholds: Vec::new(),
            counts: Vec::new(),
            sums: Vec::new(),
            all: (losses.len() as u64, 0.0),
        };
        for (count, &place) in (0..).zip(order.iter().rev()) {
            let confidence = confidences[place as usize];
            if table.thresholds.last() != Some(&confidence) {
                table.thresholds.push(confidence);
                table.counts.push(count);
                table.sums.push(table.all.1);
            }
            table.all.1 += losses[place as usize];
        }
        Ok(table)
    }

    /// With thresholds at some ranks only.
    fn thinned(self) -> Self {
        let mut kept: Vec<usize> = Vec::new();
        let mut rank = 1;
        while rank < self.all.0 {
            let place = self.place(rank);
            if kept.last() != Some(&place) {
                kept.push(place);
            }
            rank = ((rank as f64 * STEP) as u64).max(rank + 1);
        }
        Self {
            thresholds: kept.iter().map(|&place| self.thresholds[place]).collect(),
            counts: kept.iter().map(|&place| self.counts[place]).collect(),
            sums: kept.iter().map(|&place| self.sums[place]).collect(),
            all: self.all,
        }
    }

    /// The threshold with the most examples above it, `rank` at most. There is one at every rank of a table with any.
    fn place(&self, rank: u64) -> usize {
        let above = self.counts.partition_point(|&count| count <= rank);
        above.saturating_sub(1)
    }

    /// A threshold that at most `rank` examples are above, how many are, and what they lose. Answering all needs no threshold.
    pub(super) fn above(&self, rank: u64) -> (f64, u64, f64) {
        if rank >= self.all.0 || self.thresholds.is_empty() {
            return (f64::NEG_INFINITY, self.all.0, self.all.1);
        }
        // Those that tie with it are not above it.
        let place = self.place(rank);
        let (threshold, count) = (self.thresholds[place], self.counts[place]);
        match count <= rank {
            true => (threshold, count, self.sums[place]),
            false => (f64::MAX, 0, 0.0),
        }
    }
}

fn check(confidences: &[f64], losses: &[f64]) -> Result<(), CalibrationError> {
    if confidences.len() != losses.len() {
        return Err(CalibrationError::LengthMismatch {
            left_name: "confidences",
            left: confidences.len(),
            right_name: "answers",
            right: losses.len(),
        });
    }
    // A threshold below all is written as minus infinity: no example may be there.
    let bad = |confidence: &f64| !confidence.is_finite();
    match confidences.iter().position(bad) {
        Some(position) => Err(CalibrationError::BadScore {
            position,
            value: confidences[position],
        }),
        None => Ok(()),
    }
}
