//! Codes by chance, improved.

use std::collections::HashSet;

use super::columns::{every_column, possible_columns, too_long, usual_length};
use super::matrix::{CodeMatrix, with_positive_first};
use super::search::Draft;
use crate::FitError;
use crate::numeric::Random;

/// How many codes are drawn at most, and how many changes are tried to the best.
const DRAWS: usize = 50;
const TRIALS: usize = 2_000;
/// Additions that drawing and improving may take each, more or less.
const BUDGET: usize = 100_000_000;

/// Columns with sides drawn by chance: `+1` and `-1` alike, or `0` half of the time where `sparse`.
/// The best of several draws is improved one entry at a time.
///
/// # Reference
/// Lengths and probabilities as in Allwein, Schapire & Singer, JMLR 2000: `10 log₂ C` columns, and
/// `15 log₂ C` for sparse codes.
pub(super) fn random_code(
    class_count: usize,
    length: Option<usize>,
    sparse: bool,
    seed: u64,
) -> Result<CodeMatrix, FitError> {
    let possible = possible_columns(class_count, sparse);
    let factor = if sparse { 15.0 } else { 10.0 };
    let length = length.unwrap_or_else(|| usual_length(class_count, factor).min(possible));
    if length > possible || length == 0 {
        return Err(too_long(possible, length));
    }
    let mut random = Random::from_seed(seed);
    let cost = class_count * length * (class_count + length);
    let mut best: Option<(_, Draft)> = None;
    for _ in 0..(BUDGET / cost.max(1)).clamp(1, DRAWS) {
        let Some(columns) = draw_columns(class_count, length, sparse, &mut random) else {
            continue;
        };
        let draft = Draft::new(class_count, columns);
        if let Some((quality, _)) = draft.quality()
            && best.as_ref().is_none_or(|(best, _)| quality > *best)
        {
            best = Some((quality, draft));
        }
    }
    let Some((_, best)) = best else {
        return Err(too_short(class_count, length));
    };
    let cost = class_count * class_count + length * length;
    let trials = (BUDGET / cost).clamp(1, TRIALS);
    let columns = best.climb(trials, &mut random).columns();
    CodeMatrix::from_columns(class_count, &columns).map_err(|_| too_short(class_count, length))
}

fn too_short(class_count: usize, length: usize) -> FitError {
    FitError::BadSetting {
        setting: "the code length",
        requirement: "enough to distinguish all classes (give no length for the default)",
        value: format!("{length} for {class_count} classes"),
    }
}

/// Different columns with both sides; `None` if chance does not find so many.
fn draw_columns(
    class_count: usize,
    length: usize,
    sparse: bool,
    random: &mut Random,
) -> Option<Vec<Vec<i8>>> {
    let mut seen = HashSet::new();
    let mut columns = Vec::with_capacity(length);
    for _ in 0..50 * length {
        if columns.len() == length {
            return Some(columns);
        }
        let column: Vec<i8> = (0..class_count)
            .map(|_| match random.below(4) {
                0 => 1,
                1 => -1,
                2 if sparse => 0,
                3 if sparse => 0,
                2 => 1,
                _ => -1,
            })
            .collect();
        let both_sides = column.contains(&1) && column.contains(&-1);
        if both_sides && seen.insert(with_positive_first(column.clone())) {
            columns.push(column);
        }
    }
    // Nearly all columns that there are: the rest from a list.
    let mut others = every_column(class_count, sparse)?;
    random.shuffle(&mut others);
    for column in others {
        if columns.len() < length && seen.insert(column.clone()) {
            columns.push(column);
        }
    }
    (columns.len() == length).then_some(columns)
}
