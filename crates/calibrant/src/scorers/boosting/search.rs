//! The best threshold of a round: one pass over the stored entries, several outputs at once.

use super::sorted_columns::SortedColumns;
use crate::parallel;

/// Weights of positive and of negative rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sides {
    pub(super) plus: f64,
    pub(super) minus: f64,
}

impl Sides {
    /// What is left of a total; rounding must not make it negative.
    #[inline]
    pub(super) fn without(self, part: Self) -> Self {
        let rest = |total: f64, part: f64| if total > part { total - part } else { 0.0 };
        Self {
            plus: rest(self.plus, part.plus),
            minus: rest(self.minus, part.minus),
        }
    }
}

/// What a round makes least.
pub(super) trait Criterion: Sync {
    /// Its value for rows in two parts.
    fn value(part: Sides, rest: Sides) -> f64;

    /// A form of the best value so far that [`Criterion::may_beat`] compares with quickly.
    fn limit(best: f64) -> f64;

    /// False only where the value is not below the best one. Runs for every threshold of every round: no
    /// branches, roots or divisions, so that several outputs go through it in one register.
    fn may_beat(part: Sides, total: Sides, limit: f64) -> bool;

    /// What the two parts answer, and whether the committee is complete: without this stump, or with it.
    fn verdict(part: Sides, rest: Sides, row_count: usize) -> Verdict;
}

/// What a round's best stump amounts to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// No stump is better than none.
    Useless,
    /// A stump with these answers, and more may follow.
    Useful {
        /// For the part's rows.
        part: f64,
        /// For the others.
        rest: f64,
    },
    /// A stump that makes no error.
    Perfect {
        /// For the part's rows.
        part: f64,
        /// For the others.
        rest: f64,
    },
}

/// Sums of weights that should be zero or one half are off by this much at most.
const ROUNDING: f64 = 1e-12;

/// Discrete boosting: the weighted error of answering each side by its majority.
#[derive(Debug)]
pub(super) struct LeastError;

impl Criterion for LeastError {
    fn value(part: Sides, rest: Sides) -> f64 {
        part.plus.min(part.minus) + rest.plus.min(rest.minus)
    }

    fn limit(best: f64) -> f64 {
        best + ROUNDING
    }

    // Sides with the same answer are one answer for all rows, which stands for election by itself.
    #[inline]
    fn may_beat(part: Sides, total: Sides, limit: f64) -> bool {
        let balance = part.plus - part.minus;
        (total.minus + balance < limit) | (total.plus - balance < limit)
    }

    fn verdict(part: Sides, rest: Sides, row_count: usize) -> Verdict {
        let error = Self::value(part, rest);
        if error >= 0.5 - ROUNDING {
            return Verdict::Useless;
        }
        let perfect = error <= ROUNDING;
        let error = if perfect {
            1.0 / (row_count as f64 + 2.0)
        } else {
            error
        };
        let alpha = 0.5 * ((1.0 - error) / error).ln();
        let answer = |side: Sides| {
            if side.plus > side.minus {
                alpha
            } else {
                -alpha
            }
        };
        verdict(perfect, answer(part), answer(rest))
    }
}

/// Real boosting: half the factor `Z` by which the bound on the training error falls.
#[derive(Debug)]
pub(super) struct LeastNormalizer;

impl Criterion for LeastNormalizer {
    fn value(part: Sides, rest: Sides) -> f64 {
        (part.plus * part.minus).sqrt() + (rest.plus * rest.minus).sqrt()
    }

    // Squared, and a little more, so that rounding in `may_beat` loses nothing.
    fn limit(best: f64) -> f64 {
        best * best * (1.0 + 1e-9)
    }

    /// `√u + √v < b` if and only if `u + v < b²` and `4uv < (b² - u - v)²`.
    #[inline]
    fn may_beat(part: Sides, total: Sides, limit: f64) -> bool {
        let u = part.plus * part.minus;
        let v = (total.plus - part.plus) * (total.minus - part.minus);
        let gap = limit - u - v;
        (gap > 0.0) & (4.0 * u * v < gap * gap)
    }

    fn verdict(part: Sides, rest: Sides, row_count: usize) -> Verdict {
        let value = Self::value(part, rest);
        if value >= 0.5 - ROUNDING {
            return Verdict::Useless;
        }
        let epsilon = 1.0 / row_count.max(1) as f64;
        let answer = |side: Sides| 0.5 * ((side.plus + epsilon) / (side.minus + epsilon)).ln();
        // The root of a sum that should be zero.
        verdict(value * value <= ROUNDING, answer(part), answer(rest))
    }
}

fn verdict(perfect: bool, part: f64, rest: f64) -> Verdict {
    if perfect {
        Verdict::Perfect { part, rest }
    } else {
        Verdict::Useful { part, rest }
    }
}

/// A threshold, and the weights beyond it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    pub(super) wing: usize,
    pub(super) cut: usize,
    pub(super) part: Sides,
    value: f64,
}

/// For each lane the best threshold, where one has a value below the lane's `to_beat`.
///
/// `weights` holds for each row one signed weight a lane, positive for positive rows.
pub(super) fn best_cuts<C: Criterion, const L: usize>(
    columns: &SortedColumns,
    weights: &[[f64; L]],
    totals: &[Sides; L],
    to_beat: &[f64; L],
) -> [Option<Cut>; L] {
    let blocks: Vec<[Option<Cut>; L]> = parallel::map(columns.blocks(), |block| {
        let mut scan = Scan::<C, L>::new(columns, weights, totals, to_beat);
        block.clone().for_each(|wing| scan.wing(wing));
        scan.best
    });
    // In the order of the columns; only a better one replaces an earlier one.
    blocks.into_iter().fold([None; L], |mut best, found| {
        for (best, found) in best.iter_mut().zip(found) {
            let better = match (&best, &found) {
                (Some(best), Some(found)) => found.value < best.value,
                (None, found) => found.is_some(),
                (Some(_), None) => false,
            };
            if better {
                *best = found;
            }
        }
        best
    })
}

struct Scan<'a, C, const L: usize> {
    columns: &'a SortedColumns,
    weights: &'a [[f64; L]],
    totals: &'a [Sides; L],
    values: [f64; L],
    limits: [f64; L],
    best: [Option<Cut>; L],
    criterion: std::marker::PhantomData<C>,
}

impl<'a, C: Criterion, const L: usize> Scan<'a, C, L> {
    fn new(
        columns: &'a SortedColumns,
        weights: &'a [[f64; L]],
        totals: &'a [Sides; L],
        to_beat: &[f64; L],
    ) -> Self {
        Self {
            columns,
            weights,
            totals,
            values: *to_beat,
            limits: to_beat.map(C::limit),
            best: [None; L],
            criterion: std::marker::PhantomData,
        }
    }

    fn wing(&mut self, number: usize) {
        let wing = self.columns.wing(number);
        let (rows, cuts) = self.columns.rows_and_cuts(wing);
        let before = self.values;
        let (mut plus, mut minus) = ([0.0; L], [0.0; L]);
        let mut first = 0;
        for (cut, &end) in cuts.iter().enumerate() {
            for &row in &rows[first..end as usize] {
                let weights = &self.weights[row as usize];
                for lane in 0..L {
                    let weight = weights[lane];
                    plus[lane] += if weight > 0.0 { weight } else { 0.0 };
                    minus[lane] -= if weight < 0.0 { weight } else { 0.0 };
                }
            }
            first = end as usize;
            let mut any = false;
            for lane in 0..L {
                let part = Sides {
                    plus: plus[lane],
                    minus: minus[lane],
                };
                any |= C::may_beat(part, self.totals[lane], self.limits[lane]);
            }
            if any {
                // Positive values are read downwards: among equals the later threshold is the lower one.
                self.consider(number, cut, &plus, &minus, &before, !wing.part_is_below);
            }
        }
    }

    #[cold]
    fn consider(
        &mut self,
        wing: usize,
        cut: usize,
        plus: &[f64; L],
        minus: &[f64; L],
        before: &[f64; L],
        equal_will_do: bool,
    ) {
        for lane in 0..L {
            let part = Sides {
                plus: plus[lane],
                minus: minus[lane],
            };
            let value = C::value(part, self.totals[lane].without(part));
            let best = self.values[lane];
            if value < before[lane] && (value < best || (equal_will_do && value == best)) {
                self.values[lane] = value;
                self.limits[lane] = C::limit(value);
                self.best[lane] = Some(Cut {
                    wing,
                    cut,
                    part,
                    value,
                });
            }
        }
    }
}
