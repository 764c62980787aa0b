//! Probabilities as somebody wrote them down, with their zeros and ones.

use serde::Serialize;

use crate::numeric::log_odds_against_rest;
use crate::{Probability, Task};

/// How far outside 0 to 1 rounding may have carried a stated probability.
const SLACK: f64 = 1e-6;
/// Rows of exclusive classes whose sum is off by no more than this stay as they are.
const SUM_SLACK: f64 = 1e-6;
/// Where a table states nothing between 0 and 1, an end is this far off: the least that a double can
/// tell from 1, `2^-53`, in logarithm.
const LN_NOTHING_ELSE: f64 = -36.736_800_569_677_1;

/// One number of a table of stated probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StatedCell {
    /// Exactly 0, which no log loss survives.
    Zero,
    /// Exactly 1.
    One,
    /// Anything between.
    Inside(Probability),
}

impl StatedCell {
    /// A plain number; `None` unless it lies between 0 and 1, but for rounding.
    pub fn of_number(value: f64) -> Option<Self> {
        if !(-SLACK..=1.0 + SLACK).contains(&value) {
            return None;
        }
        Some(if value <= 0.0 {
            Self::Zero
        } else if value >= 1.0 {
            Self::One
        } else {
            Self::Inside(Probability::from_ln(value.ln(), (-value).ln_1p()))
        })
    }

    /// Log-odds, which lose nothing; `None` for what is not a number.
    pub fn of_log_odds(value: f64) -> Option<Self> {
        (!value.is_nan()).then(|| Self::Inside(Probability::from_log_odds(value)))
    }

    /// The same said of the opposite.
    pub fn complement(self) -> Self {
        match self {
            Self::Zero => Self::One,
            Self::One => Self::Zero,
            Self::Inside(probability) => Self::Inside(probability.complement()),
        }
    }

    /// The logarithm of the number itself.
    fn ln(self) -> f64 {
        match self {
            Self::Zero => f64::NEG_INFINITY,
            Self::One => 0.0,
            Self::Inside(probability) => probability.ln(),
        }
    }
}

/// What was done about the ends of a table, and about rows that do not sum to one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatedEnds {
    /// Numbers that are exactly 0.
    pub zeros: usize,
    /// Numbers that are exactly 1.
    pub ones: usize,
    /// What a 0 counts as, class by class.
    pub zero_counts_as: Vec<f64>,
    /// By how much a 1 falls short of 1, class by class. Of exclusive classes a 1 gives up no more than the zeros
    /// beside it get.
    pub one_falls_short_by: Vec<f64>,
    /// Rows of exclusive classes that did not sum to one and were divided by their sum.
    pub rows_rescaled: usize,
    /// The row whose sum is farthest from one, counted from 0, with its sum; absent where none was rescaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub farthest_row: Option<(usize, f64)>,
}

impl StatedEnds {
    /// Sums that are off by no more than rounding would carry them are not worth a word.
    pub const WORTH_SAYING: f64 = 1e-3;

    /// What was done, in sentences without a full stop; none where nothing was.
    pub fn sentences(&self) -> Vec<String> {
        let mut said = Vec::new();
        let number = |count: usize, end: &str| match count {
            1 => format!("1 probability is written as {end} and counts as"),
            more => format!("{more} probabilities are written as {end} and count as"),
        };
        if self.zeros > 0 {
            said.push(format!(
                "{} {}, half the least other number that is stated of the class",
                number(self.zeros, "0"),
                range(&self.zero_counts_as)
            ));
        }
        if self.ones > 0 && self.zeros == 0 {
            said.push(format!(
                "{} 1 less {}, half of what the largest other number of the class falls short by",
                number(self.ones, "1"),
                range(&self.one_falls_short_by)
            ));
        } else if self.ones > 0 {
            said.push(format!(
                "{} 1 less {}",
                number(self.ones, "1"),
                if self.zero_counts_as.len() == 1 {
                    range(&self.one_falls_short_by)
                } else {
                    "what the zeros beside it count as".to_owned()
                }
            ));
        }
        if let Some((row, sum)) = self
            .farthest_row
            .filter(|row| (row.1 - 1.0).abs() > Self::WORTH_SAYING)
        {
            let rows = match self.rows_rescaled {
                1 => "1 row does not sum to one and is divided by its sum".to_owned(),
                more => format!("{more} rows do not sum to one and are divided by their sum"),
            };
            said.push(format!(
                "{rows}; the farthest, row {}, sums to {sum:.4}",
                row + 1
            ));
        }
        said
    }
}

fn range(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    if most <= least * (1.0 + 1e-9) {
        format!("{least:.2e}")
    } else {
        format!("{least:.2e} to {most:.2e}")
    }
}

/// Stated probabilities that can be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedTable {
    /// Row by row.
    pub probabilities: Vec<Probability>,
    /// What was done about zeros and ones.
    pub ends: StatedEnds,
}

impl StatedTable {
    /// Gives stated zeros and ones a value, by one rule wherever probabilities are measured.
    ///
    /// # Formula
    /// ```text
    /// a 0 of class c counts as  ½ min { p : p > 0 stated of c }
    /// a 1 of class c counts as  1 - ½ min { 1 - p : p < 1 stated of c }     each class on its own
    ///                           1 - what the zeros of its row count as      exclusive classes
    /// ```
    /// Nobody means "never" by a 0: it was most likely rounded, and then stands for half a step or less. Rows of
    /// exclusive classes are divided by their sum. Where nothing else is stated of a class the whole table decides,
    /// and where that states nothing but zeros and ones, the least number that a double can tell from 1 does.
    /// Everything else comes out as it was stated.
    ///
    /// # When it misleads
    /// Log loss is at the mercy of this rule wherever a stated 0 comes true. The Brier score is not.
    ///
    /// ```
    /// use calibrant::{Task, evaluation::{StatedCell, StatedTable}};
    /// let stated = [0.0, 1.0, 0.98, 0.02].map(|p| StatedCell::of_number(p).unwrap());
    /// let table = StatedTable::settle(Task::SingleLabel, 2, &stated);
    /// // By hand: of the first class 0.98 is the least that was stated, so its 0 counts as 0.49.
    /// assert!((table.probabilities[0].value() - 0.49).abs() < 1e-12);
    /// assert!((table.probabilities[1].value() - 0.51).abs() < 1e-12);
    /// assert!((table.probabilities[3].value() - 0.02).abs() < 1e-12);
    /// ```
    pub fn settle(task: Task, class_count: usize, cells: &[StatedCell]) -> Self {
        let class_count = class_count.max(1);
        let ln_zeros = ln_ends(class_count, cells, |cell| cell);
        let ln_ones = ln_ends(class_count, cells, StatedCell::complement);
        let count = |end| cells.iter().filter(|&&cell| cell == end).count();
        let mut table = Self {
            probabilities: Vec::with_capacity(cells.len()),
            ends: StatedEnds {
                zeros: count(StatedCell::Zero),
                ones: count(StatedCell::One),
                zero_counts_as: ln_zeros.iter().map(|ln| ln.exp()).collect(),
                one_falls_short_by: ln_ones.iter().map(|ln| ln.exp()).collect(),
                rows_rescaled: 0,
                farthest_row: None,
            },
        };
        let mut room = Vec::new();
        for (row, cells) in cells.chunks(class_count).enumerate() {
            match task {
                Task::MultiLabel => {
                    table.probabilities.extend(
                        cells
                            .iter()
                            .zip(&ln_zeros)
                            .zip(&ln_ones)
                            .map(|((&cell, &zero), &one)| on_its_own(cell, zero, one)),
                    );
                }
                Task::SingleLabel => table.push_exclusive(row, cells, &ln_zeros, &mut room),
            }
        }
        table
    }

    fn push_exclusive(
        &mut self,
        row: usize,
        cells: &[StatedCell],
        ln_zeros: &[f64],
        room: &mut Vec<f64>,
    ) {
        let first = self.probabilities.len();
        let even = Probability::from_log_odds(0.0);
        self.probabilities.resize(first + cells.len(), even);
        let sum = exclusive_into(cells, ln_zeros, room, &mut self.probabilities[first..]);
        if (sum - 1.0).abs() > SUM_SLACK {
            self.ends.rows_rescaled += 1;
            let farther =
                |&(_, farthest): &(usize, f64)| (sum - 1.0).abs() > (farthest - 1.0).abs();
            if self.ends.farthest_row.as_ref().is_none_or(farther) {
                self.ends.farthest_row = Some((row, sum));
            }
        }
    }
}

/// One row of exclusive classes: zeros get their value, and the others share what is left. A row that is whole
/// stays as it is. Returns what the stated numbers sum to.
pub(crate) fn exclusive_into(
    cells: &[StatedCell],
    ln_zeros: &[f64],
    room: &mut Vec<f64>,
    out: &mut [Probability],
) -> f64 {
    let sum: f64 = cells.iter().map(|cell| cell.ln().exp()).sum();
    let whole = |cell: &StatedCell| matches!(cell, StatedCell::Inside(_));
    if (sum - 1.0).abs() <= SUM_SLACK && cells.iter().all(whole) {
        for (out, &cell) in out.iter_mut().zip(cells) {
            *out = on_its_own(cell, 0.0, 0.0);
        }
        return sum;
    }
    let zero = |(&cell, &ln): (&StatedCell, &f64)| match cell {
        StatedCell::Zero => ln.exp(),
        _ => 0.0,
    };
    let of_zeros: f64 = cells.iter().zip(ln_zeros).map(zero).sum();
    // Where zeros would get everything (there is nothing but zeros, or very many), all are in proportion.
    let left = if of_zeros < 1.0 && sum > 0.0 {
        (-of_zeros).ln_1p() - sum.ln()
    } else {
        0.0
    };
    room.clear();
    room.extend(cells.iter().zip(ln_zeros).map(|(cell, &ln)| match cell {
        StatedCell::Zero => ln,
        other => other.ln() + left,
    }));
    room.resize(2 * cells.len(), 0.0);
    let (ln_weights, log_odds) = room.split_at_mut(cells.len());
    log_odds_against_rest(ln_weights, log_odds);
    for (out, &log_odds) in out.iter_mut().zip(log_odds.iter()) {
        *out = Probability::from_log_odds(log_odds);
    }
    sum
}

fn on_its_own(cell: StatedCell, ln_zero: f64, ln_one: f64) -> Probability {
    let of_ln = |ln: f64| Probability::from_ln(ln, (-ln.exp()).ln_1p());
    match cell {
        StatedCell::Zero => of_ln(ln_zero),
        StatedCell::One => of_ln(ln_one).complement(),
        StatedCell::Inside(probability) => probability,
    }
}

/// Half the least number that is stated of each class, in logarithm; `side` turns to the other end.
fn ln_ends(
    class_count: usize,
    cells: &[StatedCell],
    side: impl Fn(StatedCell) -> StatedCell,
) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; class_count];
    for row in cells.chunks(class_count) {
        for (least, &cell) in least.iter_mut().zip(row) {
            if let StatedCell::Inside(probability) = side(cell) {
                *least = least.min(probability.ln());
            }
        }
    }
    let of_all = least.iter().copied().fold(f64::INFINITY, f64::min);
    let half = |ln: f64| ln - std::f64::consts::LN_2;
    let usual = if of_all.is_finite() {
        half(of_all)
    } else {
        LN_NOTHING_ELSE
    };
    let of_class = |&ln: &f64| if ln.is_finite() { half(ln) } else { usual };
    least.iter().map(of_class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settled(task: Task, class_count: usize, stated: &[f64]) -> StatedTable {
        let cells: Vec<StatedCell> = stated
            .iter()
            .map(|&p| StatedCell::of_number(p).unwrap())
            .collect();
        StatedTable::settle(task, class_count, &cells)
    }

    fn values(table: &StatedTable) -> Vec<f64> {
        table.probabilities.iter().map(|p| p.value()).collect()
    }

    #[test]
    fn what_is_stated_comes_out_as_it_was_stated() {
        let stated = [0.63, 0.2, 0.1, 0.05, 0.02];
        let found = settled(Task::SingleLabel, 5, &stated);
        for (found, stated) in values(&found).iter().zip(stated) {
            assert!((found - stated).abs() < 1e-15, "{found} {stated}");
        }
        assert_eq!((found.ends.zeros, found.ends.rows_rescaled), (0, 0));
    }

    #[test] // By hand: the class's least is 0.2, half of it 0.1; the other class gives that up.
    fn one_column_and_two_columns_say_the_same() {
        let column = [0.0, 1.0, 0.2, 0.7];
        let both: Vec<f64> = column.iter().flat_map(|&p| [1.0 - p, p]).collect();
        let two = settled(Task::SingleLabel, 2, &both);
        let one = settled(Task::MultiLabel, 1, &column);
        for (row, p) in one.probabilities.iter().enumerate() {
            let other = two.probabilities[2 * row + 1];
            assert!((p.log_odds() - other.log_odds()).abs() < 1e-12, "{row}");
        }
        assert!((one.probabilities[0].value() - 0.1).abs() < 1e-12);
        assert!((one.probabilities[1].value() - 0.85).abs() < 1e-12);
    }

    #[test] // By hand: 0.5/1.25 and so on; the zero counts as half of the least of its class, 0.05.
    fn rows_that_do_not_sum_to_one_are_divided_by_their_sum() {
        let table = settled(
            Task::SingleLabel,
            3,
            &[0.5, 0.5, 0.25, 0.6, 0.4, 0.0, 0.1, 0.8, 0.1],
        );
        let found = values(&table);
        for (found, expected) in found.iter().zip([0.4, 0.4, 0.2, 0.57, 0.38, 0.05]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!((table.ends.zeros, table.ends.rows_rescaled), (1, 1));
        let (row, sum) = table.ends.farthest_row.unwrap();
        assert!(row == 0 && (sum - 1.25).abs() < 1e-12);
    }

    #[test]
    fn nothing_but_decisions_stays_finite() {
        for (task, classes) in [(Task::SingleLabel, 2), (Task::MultiLabel, 2)] {
            let table = settled(task, classes, &[0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
            assert!(
                table
                    .probabilities
                    .iter()
                    .all(|p| p.log_odds().abs() < 40.0)
            );
        }
        for bad in [f64::NAN, 1.1, -0.1, f64::INFINITY] {
            assert_eq!(StatedCell::of_number(bad), None);
        }
        assert_eq!(StatedCell::of_number(1.0 + 1e-7), Some(StatedCell::One));
    }

    proptest! {
        #[test]
        fn exclusive_rows_sum_to_one_and_keep_their_order(
            rows in prop::collection::vec(prop::collection::vec(prop_oneof![2 => 0.0f64..=1.0, 1 => Just(0.0), 1 => Just(1.0)], 3), 1..20),
        ) {
            let stated = rows.concat();
            let table = settled(Task::SingleLabel, 3, &stated);
            for (row, found) in rows.iter().zip(table.probabilities.chunks(3)) {
                let sum: f64 = found.iter().map(|p| p.value()).sum();
                prop_assert!((sum - 1.0).abs() < 1e-9);
                for (a, b) in [(0, 1), (1, 2), (0, 2)] {
                    if row[a] > 0.0 && row[b] > 0.0 && row[a] < row[b] {
                        prop_assert!(found[a] <= found[b]);
                    }
                }
            }
        }
    }
}
