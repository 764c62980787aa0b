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
    /// What a 0 counts as, class by class. Of exclusive classes that is the most it counts as: it counts for less
    /// beside a smaller number, and beside other zeros.
    pub zero_counts_as: Vec<f64>,
    /// The least and the most that any 0 of exclusive classes counts as; absent where there is none, and where each
    /// class is on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zeros_between: Option<(f64, f64)>,
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

    /// Speaks of the second of two exclusive classes alone: the first is its complement, and nobody wrote it. A 1 then
    /// falls short by what the 0 beside it counts as.
    pub fn of_second_alone(mut self, cells: &[StatedCell]) -> Self {
        let written = || cells.iter().skip(1).step_by(2);
        let count = |end| written().filter(|&&cell| cell == end).count();
        (self.zeros, self.ones) = (count(StatedCell::Zero), count(StatedCell::One));
        self.zeros_between = None;
        self.zero_counts_as.drain(..1);
        self.one_falls_short_by.drain(..1);
        self
    }

    /// What was done, in sentences without a full stop; none where nothing was.
    pub fn sentences(&self) -> Vec<String> {
        let mut said = Vec::new();
        let number = |count: usize, end: &str| match count {
            1 => format!("1 stated probability of {end} is replaced by"),
            more => format!("{more} stated probabilities of {end} are replaced by"),
        };
        if let Some((least, most)) = self.zeros_between {
            said.push(format!(
                "{} {}, half the smallest other number of the class or of the row, divided by the number of zeros in the row",
                number(self.zeros, "0"),
                range(&[least, most])
            ));
            if self.ones > 0 {
                said.push(format!(
                    "{} 1 minus the replacements of the zeros beside it",
                    number(self.ones, "1")
                ));
            }
        } else {
            if self.zeros > 0 {
                said.push(format!(
                    "{} {}, half the smallest other number of the class",
                    number(self.zeros, "0"),
                    range(&self.zero_counts_as)
                ));
            }
            if self.ones > 0 {
                said.push(format!(
                    "{} 1 minus {}, half of the distance from 1 to the largest other number of the class",
                    number(self.ones, "1"),
                    range(&self.one_falls_short_by)
                ));
            }
        }
        if let Some((row, sum)) = self
            .farthest_row
            .filter(|row| (row.1 - 1.0).abs() > Self::WORTH_SAYING)
        {
            let rows = match self.rows_rescaled {
                1 => "1 row does not sum to one and is normalised".to_owned(),
                more => format!("{more} rows do not sum to one and are normalised"),
            };
            said.push(format!(
                "{rows}; the furthest off, row {}, sums to {sum:.4}",
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
    /// each class on its own
    ///   a 0 of class c counts as  ½ min { p : p > 0 stated of c }
    ///   a 1 of class c counts as  1 - ½ min { 1 - p : p < 1 stated of c }
    /// exclusive classes
    ///   a 0 of class c counts as  ½ min { p : p > 0 stated of c, or in the row } / (zeros of the row)
    ///   the others count as       p (1 - what the zeros of the row count as)
    /// ```
    /// Nobody means "never" by a 0: it was most likely rounded, and then stands for half a step or less. The rest of a
    /// row sums to one, but for such a step, so that all its zeros together stand for no more: they never get more than half of the
    /// least other number, and the order within a row is what it was. Rows of
    /// exclusive classes are divided by their sum. Where nothing else is stated of a class the whole table decides,
    /// and where that states nothing but zeros and ones, the least number that a double can tell from 1 does.
    /// Everything else comes out as it was stated.
    ///
    /// # When it misleads
    /// Log loss is at the mercy of this rule wherever a stated 0 comes true. The Brier score hardly is.
    ///
    /// ```
    /// use calibrant_calibration::{Task, evaluation::{StatedCell, StatedTable}};
    /// let stated = [0.7, 0.3, 0.0, 0.0, 0.1, 0.5, 0.3, 0.1].map(|p| StatedCell::of_number(p).unwrap());
    /// let table = StatedTable::settle(Task::SingleLabel, 4, &stated);
    /// let found: Vec<f64> = table.probabilities.iter().map(|p| p.value()).collect();
    /// // By hand: of the third class 0.3 is the least that is stated, and in the row too; its two zeros share that, so half of
    /// // 0.3 divided by two. Of the fourth class it is 0.1. Together 0.1, and nine tenths are left to the others.
    /// for (found, expected) in found.iter().zip([0.63, 0.27, 0.075, 0.025, 0.1, 0.5, 0.3, 0.1]) {
    ///     assert!((found - expected).abs() < 1e-12);
    /// }
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
                zeros_between: None,
                one_falls_short_by: ln_ones.iter().map(|ln| ln.exp()).collect(),
                rows_rescaled: 0,
                farthest_row: None,
            },
        };
        let mut buffer = Vec::new();
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
                Task::SingleLabel => table.push_exclusive(row, cells, &ln_zeros, &mut buffer),
            }
        }
        table
    }

    fn push_exclusive(
        &mut self,
        row: usize,
        cells: &[StatedCell],
        ln_zeros: &[f64],
        buffer: &mut Vec<f64>,
    ) {
        let first = self.probabilities.len();
        let even = Probability::from_log_odds(0.0);
        self.probabilities.resize(first + cells.len(), even);
        let sum = exclusive_into(cells, ln_zeros, buffer, &mut self.probabilities[first..]);
        for (&cell, found) in cells.iter().zip(&self.probabilities[first..]) {
            if cell == StatedCell::Zero {
                let value = found.value();
                let (least, most) = self.ends.zeros_between.unwrap_or((value, value));
                self.ends.zeros_between = Some((least.min(value), most.max(value)));
            }
        }
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

/// One row of exclusive classes: zeros get their value, and the others give way in proportion. A row that is whole
/// stays as it is. Returns what the stated numbers sum to.
pub fn exclusive_into(
    cells: &[StatedCell],
    ln_zeros: &[f64],
    buffer: &mut Vec<f64>,
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
    let zeros = RowZeros::of(cells, sum);
    let zero = |(&cell, &ln): (&StatedCell, &f64)| match cell {
        StatedCell::Zero => zeros.ln(ln).exp(),
        _ => 0.0,
    };
    let of_zeros: f64 = cells.iter().zip(ln_zeros).map(zero).sum();
    // A row of nothing but zeros has no others: its zeros are in proportion.
    let left = if sum > 0.0 {
        (-of_zeros).ln_1p() - sum.ln()
    } else {
        0.0
    };
    buffer.clear();
    buffer.extend(cells.iter().zip(ln_zeros).map(|(cell, &ln)| match cell {
        StatedCell::Zero => zeros.ln(ln),
        other => other.ln() + left,
    }));
    buffer.resize(2 * cells.len(), 0.0);
    let (ln_weights, log_odds) = buffer.split_at_mut(cells.len());
    log_odds_against_rest(ln_weights, log_odds);
    keep_ties(ln_weights, log_odds);
    for (out, &log_odds) in out.iter_mut().zip(log_odds.iter()) {
        *out = Probability::from_log_odds(log_odds);
    }
    sum
}

/// The log-odds of the largest weight come by another way than the others': rounding must not put a tied or lesser
/// one above it, for then the decision would be another than what was stated.
fn keep_ties(ln_weights: &[f64], log_odds: &mut [f64]) {
    let top = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let Some(first) = ln_weights.iter().position(|&weight| weight == top) else {
        return;
    };
    let of_top = log_odds[first];
    for (log_odds, &weight) in log_odds.iter_mut().zip(ln_weights) {
        *log_odds = if weight == top {
            of_top
        } else {
            log_odds.min(of_top)
        };
    }
}

/// What a row of exclusive classes leaves to its zeros.
#[derive(Debug, Clone, Copy)]
pub struct RowZeros {
    /// Half the least other number of the row, in logarithm; infinite where there is none.
    ln_most: f64,
    ln_count: f64,
}

impl RowZeros {
    /// Of a row whose numbers are divided by `sum`.
    pub fn of(cells: &[StatedCell], sum: f64) -> Self {
        let zeros = cells.iter().filter(|&&cell| cell == StatedCell::Zero);
        let others = cells.iter().filter(|&&cell| cell != StatedCell::Zero);
        let least = others.fold(f64::INFINITY, |least, cell| least.min(cell.ln()));
        Self {
            ln_most: if least < f64::INFINITY {
                least - sum.ln() - std::f64::consts::LN_2
            } else {
                f64::INFINITY
            },
            ln_count: (zeros.count() as f64).ln(),
        }
    }

    /// What a zero counts as that would count as `ln_zero` by what else is stated of its class; in logarithms.
    pub fn ln(self, ln_zero: f64) -> f64 {
        ln_zero.min(self.ln_most) - self.ln_count
    }
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

    #[track_caller]
    fn check_row(table: &StatedTable, row: usize, expected: &[f64]) {
        let found = values(table);
        for (found, expected) in found[row * expected.len()..].iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test] // By hand: 0.5/1.25 and so on; the zero counts as half of the least of its class, 0.05.
    fn rows_that_do_not_sum_to_one_are_divided_by_their_sum() {
        let stated = [0.5, 0.5, 0.25, 0.6, 0.4, 0.0, 0.1, 0.8, 0.1];
        let table = settled(Task::SingleLabel, 3, &stated);
        check_row(&table, 0, &[0.4, 0.4, 0.2]);
        check_row(&table, 1, &[0.57, 0.38, 0.05]);
        assert_eq!((table.ends.zeros, table.ends.rows_rescaled), (1, 1));
        let (row, sum) = table.ends.farthest_row.unwrap();
        assert!(row == 0 && (sum - 1.25).abs() < 1e-12);
    }

    /// By hand: the least of the third class is 0.4, but 0.2 stands beside its zero, which so counts as 0.1. Where two
    /// zeros share a row they count as half of 0.05 and of 0.4, divided by two, and the 1 as what they leave.
    #[test]
    fn a_zero_counts_as_less_than_what_stands_beside_it_and_several_share() {
        let stated = [0.2, 0.8, 0.0, 0.55, 0.05, 0.4, 1.0, 0.0, 0.0];
        let table = settled(Task::SingleLabel, 3, &stated);
        check_row(&table, 0, &[0.18, 0.72, 0.1]);
        check_row(&table, 1, &[0.55, 0.05, 0.4]);
        check_row(&table, 2, &[0.8875, 0.0125, 0.1]);
        let (least, most) = table.ends.zeros_between.unwrap();
        assert!((least - 0.0125).abs() < 1e-12 && (most - 0.1).abs() < 1e-12);
        assert_eq!(
            table.ends.sentences(),
            [
                "3 stated probabilities of 0 are replaced by 1.25e-2 to 1.00e-1, half the smallest other number of the class or of the row, divided by the number of zeros in the row",
                "1 stated probability of 1 is replaced by 1 minus the replacements of the zeros beside it",
            ]
        );
    }

    /// Votes of ten trees for one of twenty classes. By hand: the least of every class is 0.1, so sixteen or nineteen zeros
    /// share 0.05.
    #[test]
    fn many_zeros_take_hardly_anything_from_what_is_stated() {
        let mut stated = vec![0.0; 20];
        for (class, p) in [(0, 0.7), (3, 0.1), (5, 0.1), (9, 0.1)] {
            stated[class] = p;
        }
        stated.extend((0..20).map(|class| f64::from(class == 2)));
        for class in 0..10 {
            stated.extend((0..20).map(|other| match other / 2 {
                pair if pair == class => 0.1,
                pair if pair == (class + 1) % 10 => 0.4,
                _ => 0.0,
            }));
        }
        let table = settled(Task::SingleLabel, 20, &stated);
        let found = values(&table);
        assert!((found[0] - 0.7 * 0.95).abs() < 1e-12);
        assert!((found[3] - 0.1 * 0.95).abs() < 1e-12);
        assert!((found[1] - 0.05 / 16.0).abs() < 1e-12);
        assert!((found[22] - 0.95).abs() < 1e-12);
        assert!((found[20] - 0.05 / 19.0).abs() < 1e-12);
    }

    #[test] // Of two that are tied the decision is the first, as it would be of what was stated.
    fn ties_stay_ties() {
        let mut tied = 0;
        for left in 1..200 {
            let p = f64::from(left) / 401.0;
            for row in [[p, p, 1.0 - 2.0 * p, 0.0], [0.0, 1.0 - 2.0 * p, p, p]] {
                let found = settled(Task::SingleLabel, 4, &row).probabilities;
                for (a, b) in (0..4).flat_map(|a| (0..a).map(move |b| (a, b))) {
                    if row[a] == row[b] {
                        assert_eq!(found[a], found[b], "{row:?}");
                        tied += 1;
                    }
                }
            }
        }
        assert_eq!(tied, 398);
    }

    #[test]
    fn labels_on_their_own_say_what_zeros_and_ones_count_as() {
        let table = settled(Task::MultiLabel, 2, &[0.0, 1.0, 0.2, 0.9]);
        check_row(&table, 0, &[0.1, 0.95]);
        check_row(&table, 1, &[0.2, 0.9]);
        let said = table.ends.sentences();
        assert!(
            said[0].contains("of the class") && !said[0].contains("row"),
            "{said:?}"
        );
        assert!(said[1].contains("replaced by 1 minus"), "{said:?}");
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

    fn any_cell() -> impl Strategy<Value = f64> {
        prop_oneof![3 => 0.0f64..=1.0, 1 => 0.0f64..1e-6, 3 => Just(0.0), 1 => Just(1.0), 1 => Just(0.25)]
    }

    proptest! {
        #[test]
        fn exclusive_rows_sum_to_one_and_keep_their_order(
            rows in prop::collection::vec(prop::collection::vec(any_cell(), 6), 1..20),
        ) {
            let stated = rows.concat();
            let table = settled(Task::SingleLabel, 6, &stated);
            for (row, found) in rows.iter().zip(table.probabilities.chunks(6)) {
                let sum: f64 = found.iter().map(|p| p.value()).sum();
                prop_assert!((sum - 1.0).abs() < 2.0 * SUM_SLACK);
                let states: f64 = row.iter().sum();
                if states == 0.0 {
                    continue;
                }
                let of_zeros = row.iter().zip(found).filter(|(stated, _)| **stated == 0.0);
                let of_zeros: f64 = of_zeros.map(|(_, p)| p.value()).sum();
                let least = row.iter().copied().filter(|&p| p > 0.0).fold(1.0, f64::min) / states;
                prop_assert!(of_zeros <= 0.5 * least * (1.0 + 1e-9));
                for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                    if row[a] < row[b] {
                        prop_assert!(found[a] <= found[b], "{row:?} {found:?}");
                    }
                    if row[a] == 0.0 && row[b] > 0.0 {
                        prop_assert!(found[a] < found[b], "{row:?} {found:?}");
                    }
                    if row[a] == row[b] && row[a] > 0.0 {
                        prop_assert_eq!(found[a], found[b]);
                    }
                }
                // What stands in a row gives way in proportion.
                for (stated, found) in row.iter().zip(found).filter(|(stated, _)| **stated > 0.0) {
                    let expected = stated / states * (1.0 - of_zeros);
                    prop_assert!((found.value() / expected - 1.0).abs() < 2.0 * SUM_SLACK);
                }
            }
        }
    }
}
