//! Which units of a file become the test set? Units are rows that belong together and are not divided.

use crate::numeric::stable_hash;

/// Rows that stay on one side.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Unit {
    /// What its documents say; no other unit says the same.
    pub(super) key: u128,
    pub(super) rows: usize,
    /// Classes with how many rows have them.
    pub(super) classes: Vec<(u32, usize)>,
    /// When the newest of them was.
    pub(super) newest: f64,
}

/// How many times single units are moved to come nearer to the size that is asked for.
const MOST_MOVES: usize = 200;

/// Whether each unit is for testing: classes as common on both sides as can be, every class of several units on both, and so many rows
/// as whole units allow. What the units say decides, and the seed; their order does not.
///
/// Classes are taken from the rarest on. Their units, in the order of a hash, go where most of the class's rows are still wanted.
/// Then single units change sides as long as that brings the number of rows nearer to the wanted one.
pub(super) fn by_class(units: &[Unit], share: f64, seed: u64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    let hash = |unit: usize| {
        let mut bytes = seed.to_le_bytes().to_vec();
        bytes.extend(units[unit].key.to_le_bytes());
        stable_hash(&bytes)
    };
    order.sort_by_cached_key(|&unit| (hash(unit), units[unit].key));
    let mut sides = Sides::new(units, share);
    let mut classes: Vec<usize> = (0..sides.totals.len()).collect();
    classes.sort_by_key(|&class| (sides.totals[class], class));
    let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); sides.totals.len()];
    for &unit in &order {
        for &(class, _) in &units[unit].classes {
            of_class[class as usize].push(unit);
        }
    }
    for class in classes {
        for &unit in &of_class[class] {
            if sides.placed[unit].is_none() {
                let test = sides.wanted[class] - sides.tested[class];
                let train = sides.totals[class] as f64 - sides.wanted[class] - sides.trained[class];
                sides.place(unit, test > train);
            }
        }
    }
    for &unit in order.iter() {
        if sides.placed[unit].is_none() {
            let (test, train) = sides.rows_wanted();
            sides.place(unit, test > train);
        }
    }
    sides.approach(&order);
    sides
        .placed
        .iter()
        .map(|side| *side == Some(true))
        .collect()
}

/// Where units are, and what is wanted.
struct Sides<'u> {
    units: &'u [Unit],
    placed: Vec<Option<bool>>,
    /// Rows of each class.
    totals: Vec<usize>,
    /// Rows of each class that are wanted for testing.
    wanted: Vec<f64>,
    tested: Vec<f64>,
    trained: Vec<f64>,
    /// Units of each class, on either side.
    spread: Vec<[usize; 2]>,
    rows: f64,
    test_rows: f64,
    wanted_rows: f64,
}

impl<'u> Sides<'u> {
    fn new(units: &'u [Unit], share: f64) -> Self {
        let classes = units.iter().flat_map(|unit| &unit.classes);
        let count = classes
            .clone()
            .map(|&(class, _)| class as usize + 1)
            .max()
            .unwrap_or(0);
        let (mut totals, mut in_units) = (vec![0; count], vec![0; count]);
        for &(class, rows) in classes {
            totals[class as usize] += rows;
            in_units[class as usize] += 1;
        }
        let rows: usize = units.iter().map(|unit| unit.rows).sum();
        Self {
            wanted: wanted(&totals, &in_units, share),
            units,
            placed: vec![None; units.len()],
            tested: vec![0.0; count],
            trained: vec![0.0; count],
            spread: vec![[0, 0]; count],
            totals,
            rows: rows as f64,
            test_rows: 0.0,
            wanted_rows: rows as f64 * share,
        }
    }

    fn place(&mut self, unit: usize, test: bool) {
        let from = self.placed[unit].replace(test);
        let moved = &self.units[unit];
        let sign = |side: bool| if side { 1.0 } else { -1.0 };
        for &(class, rows) in &moved.classes {
            let class = class as usize;
            if let Some(from) = from {
                self.spread[class][usize::from(from)] -= 1;
                let side = if from {
                    &mut self.tested
                } else {
                    &mut self.trained
                };
                side[class] -= rows as f64;
            }
            self.spread[class][usize::from(test)] += 1;
            let side = if test {
                &mut self.tested
            } else {
                &mut self.trained
            };
            side[class] += rows as f64;
        }
        match from {
            None if !test => {}
            _ => self.test_rows += sign(test) * moved.rows as f64,
        }
    }

    /// Rows that are still wanted for testing, and for learning.
    fn rows_wanted(&self) -> (f64, f64) {
        let trained: usize = (self.units.iter().zip(&self.placed))
            .filter(|(_, side)| **side == Some(false))
            .map(|(unit, _)| unit.rows)
            .sum();
        let train = self.rows - self.wanted_rows;
        (self.wanted_rows - self.test_rows, train - trained as f64)
    }

    /// Moves single units while that brings the number of rows nearer to the wanted one.
    fn approach(&mut self, order: &[usize]) {
        for _ in 0..MOST_MOVES {
            let lacking = self.wanted_rows - self.test_rows;
            let to_test = lacking > 0.0;
            let off = |unit: usize| (lacking.abs() - self.units[unit].rows as f64).abs();
            // A side without any rows takes what changes least.
            let empty = self.test_rows == 0.0 || self.test_rows == self.rows;
            let helps = |&unit: &usize| {
                self.placed[unit] == Some(!to_test)
                    && (empty || (off(unit) < lacking.abs() && self.leaves_classes(unit)))
            };
            let needs = |unit: usize| -> f64 {
                let classes = self.units[unit].classes.iter();
                let lacks = classes.map(|&(class, _)| {
                    let class = class as usize;
                    self.wanted[class] - self.tested[class]
                });
                lacks.sum::<f64>() * if to_test { 1.0 } else { -1.0 }
            };
            let candidates = order.iter().copied().filter(helps);
            let best = candidates.min_by(|&a, &b| {
                let nearer = off(a).total_cmp(&off(b));
                nearer.then_with(|| needs(b).total_cmp(&needs(a)))
            });
            match best {
                Some(unit) => self.place(unit, to_test),
                None => return,
            }
        }
    }

    /// Whether every class of the unit stays on its side without it.
    fn leaves_classes(&self, unit: usize) -> bool {
        let side = usize::from(self.placed[unit] == Some(true));
        let mut classes = self.units[unit].classes.iter();
        classes.all(|&(class, _)| {
            let spread = self.spread[class as usize];
            spread[side] > 1 || spread[1 - side] == 0
        })
    }
}

/// How many rows of each class are wanted for testing. A class of several units has at least one on either side; what rare classes
/// have too many common ones give.
fn wanted(totals: &[usize], units: &[usize], share: f64) -> Vec<f64> {
    let fair: Vec<f64> = totals.iter().map(|&rows| rows as f64 * share).collect();
    let mut wanted: Vec<f64> = (fair.iter().zip(totals).zip(units))
        .map(|((&fair, &rows), &units)| match units {
            0 | 1 => fair,
            _ => fair.clamp(1.0, rows as f64 - 1.0),
        })
        .collect();
    let excess: f64 = wanted
        .iter()
        .zip(&fair)
        .map(|(wanted, fair)| wanted - fair)
        .sum();
    let common = |class: usize| wanted[class] == fair[class] && fair[class] > 1.0;
    let giving: Vec<usize> = (0..totals.len()).filter(|&class| common(class)).collect();
    let all: f64 = giving.iter().map(|&class| fair[class]).sum();
    for class in giving {
        let rest = totals[class] as f64 - 1.0;
        wanted[class] = (wanted[class] - excess * fair[class] / all).clamp(1.0, rest.max(1.0));
    }
    wanted
}

/// Whether each unit is for testing: the newest, with all that are as new, so many rows as come nearest to the share.
pub(super) fn by_time(units: &[Unit], share: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by(|&a, &b| units[b].newest.total_cmp(&units[a].newest));
    let rows: usize = units.iter().map(|unit| unit.rows).sum();
    let wanted = rows as f64 * share;
    let (mut taken, mut best) = (0, None);
    let mut end = 0;
    for equal in order.chunk_by(|&a, &b| units[a].newest == units[b].newest) {
        end += equal.len();
        taken += equal.iter().map(|&unit| units[unit].rows).sum::<usize>();
        if end == order.len() {
            break;
        }
        let off = (taken as f64 - wanted).abs();
        if best.is_none_or(|(least, _)| off < least) {
            best = Some((off, end));
        }
    }
    let mut test = vec![false; units.len()];
    for &unit in &order[..best.map_or(0, |(_, end)| end)] {
        test[unit] = true;
    }
    test
}
