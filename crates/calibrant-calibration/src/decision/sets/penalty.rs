//! The penalty of large sets, given or chosen.

use super::score::{Ranked, score_of};
use super::{CalibrationRows, SetKind};
use crate::CalibrationError;
use crate::numeric::Random;
use serde::{Deserialize, Serialize};

/// What classes beyond the first few cost in sets of the kind `raps`.
///
/// # Formula
/// ```text
/// added to the sum of probabilities of a class at rank o:   weight · max(0, o - free)
/// ```
///
/// # Reference
/// Angelopoulos, Bates, Jordan and Malik, ICLR 2021, section 2 and appendix E (how `weight` and `free` are chosen).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Penalty {
    /// What each further class costs.
    pub weight: f64,
    /// How many classes cost nothing.
    pub free: u32,
}

/// The weights that are tried, as in the paper.
const WEIGHTS: [f64; 5] = [0.001, 0.01, 0.1, 0.2, 0.5];
/// One of so many calibration examples helps to choose, and is not used again.
const ONE_OF: usize = 5;
/// So many choose at most: a penalty is a rough thing.
const MOST_CHOOSING: usize = 2_000;
/// Whatever is drawn, is drawn alike every time.
const SEED: u64 = 0x5e75;

impl Penalty {
    /// A penalty, if its numbers make sense.
    pub(super) fn check(self) -> Result<(), CalibrationError> {
        match self.weight.is_finite() && self.weight >= 0.0 {
            true => Ok(()),
            false => Err(CalibrationError::BadSetting {
                setting: "penalty",
                requirement: "a finite number that is not negative",
                value: self.weight.to_string(),
            }),
        }
    }

    /// At rank `rank`, counted from 1.
    pub(super) fn at(self, rank: usize) -> f64 {
        self.weight * rank.saturating_sub(self.free as usize) as f64
    }

    /// The penalty with the smallest sets on a part of the rows, and which rows are left for calibration.
    ///
    /// `free` is the rank that holds the true class in the wanted share of documents; the weight is the one of five with the
    /// smallest sets, the lighter of equals.
    pub(super) fn choose(rows: &CalibrationRows<'_>, coverage: f64) -> (Self, Vec<usize>) {
        let mut order: Vec<usize> = (0..rows.labels.len()).collect();
        Random::from_seed(SEED).shuffle(&mut order);
        let (choosing, rest) = order.split_at((order.len() / ONE_OF).min(MOST_CHOOSING));
        let mut rest = rest.to_vec();
        rest.sort_unstable();
        let mut ranked = Ranked::default();
        let mut ranks: Vec<usize> = Vec::new();
        for &row in choosing {
            ranked.rank(rows.row(row));
            ranks.push(ranked.place(rows.labels[row]).rank);
        }
        ranks.sort_unstable();
        let wanted = (coverage * (ranks.len() + 1) as f64).ceil() as usize;
        let free = ranks.get(wanted.max(1) - 1).or(ranks.last());
        let free = free.map_or(1, |&rank| rank as u32);
        let mut best = Self {
            weight: WEIGHTS[0],
            free,
        };
        let mut smallest = usize::MAX;
        for weight in WEIGHTS {
            let penalty = Self { weight, free };
            let size = total_size(rows, choosing, coverage, penalty);
            if size < smallest {
                (best, smallest) = (penalty, size);
            }
        }
        (best, rest)
    }
}

/// How large the sets of these rows are together, by the threshold that they themselves give.
fn total_size(
    rows: &CalibrationRows<'_>,
    choosing: &[usize],
    coverage: f64,
    penalty: Penalty,
) -> usize {
    let mut ranked = Ranked::default();
    let (mut own, mut all) = (Vec::new(), Vec::new());
    for &row in choosing {
        let probabilities = rows.row(row);
        ranked.rank(probabilities);
        for class in 0..probabilities.len() as u32 {
            let place = ranked.place(class);
            let score = score_of(SetKind::Raps, Some(penalty), place, 0.0);
            all.push(score);
            if class == rows.labels[row] {
                own.push(score);
            }
        }
    }
    own.sort_by(f64::total_cmp);
    let wanted = (coverage * (own.len() + 1) as f64).ceil() as usize;
    let threshold = own.get(wanted.max(1) - 1).copied();
    let threshold = threshold.unwrap_or(f64::INFINITY);
    all.iter().filter(|&&score| score <= threshold).count()
}
