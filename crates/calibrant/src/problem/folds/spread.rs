//! Deals documents out, or groups of them, so that all folds look alike.

use std::borrow::Cow;

use super::Folds;
use crate::RowLabels;

const UNASSIGNED: u8 = u8::MAX;

/// Documents that are dealt out as one.
pub(super) struct Units<'a> {
    labels: &'a RowLabels,
    /// The least key of each.
    keys: Cow<'a, [u128]>,
    /// The documents of one after those of another.
    documents: Vec<u32>,
    /// Where those of each end; `None` where every document is one.
    ends: Option<Vec<u32>>,
}

impl<'a> Units<'a> {
    /// Every document for itself.
    pub(super) fn singles(keys: &'a [u128], labels: &'a RowLabels) -> Self {
        Self {
            labels,
            keys: Cow::Borrowed(keys),
            documents: (0..keys.len() as u32).collect(),
            ends: None,
        }
    }

    pub(super) fn of(keys: &[u128], labels: &'a RowLabels, together: &[u32]) -> Self {
        let content = |document: u32| (keys[document as usize], &labels[document as usize]);
        let mut documents: Vec<u32> = (0..keys.len() as u32).collect();
        documents.sort_by(|&a, &b| {
            let unit = |document: u32| together[document as usize];
            unit(a)
                .cmp(&unit(b))
                .then_with(|| content(a).cmp(&content(b)))
        });
        let (mut first_keys, mut ends) = (Vec::new(), Vec::new());
        let mut end = 0;
        for unit in documents.chunk_by(|&a, &b| together[a as usize] == together[b as usize]) {
            end += unit.len() as u32;
            first_keys.push(keys[unit[0] as usize]);
            ends.push(end);
        }
        Self {
            labels,
            keys: first_keys.into(),
            documents,
            ends: Some(ends),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.keys.len()
    }

    fn documents(&self, unit: u32) -> &[u32] {
        let unit = unit as usize;
        let Some(ends) = &self.ends else {
            return std::slice::from_ref(&self.documents[unit]);
        };
        let start = unit.checked_sub(1).map_or(0, |before| ends[before]);
        &self.documents[start as usize..ends[unit] as usize]
    }

    /// Every label of every document; a label that a document lists twice is one label.
    fn for_each_label(&self, unit: u32, mut visit: impl FnMut(usize)) {
        for &document in self.documents(unit) {
            let own = &self.labels[document as usize];
            for (at, &label) in own.iter().enumerate() {
                if !own[..at].contains(&label) {
                    visit(label as usize);
                }
            }
        }
    }

    /// The largest first, else in an order that the seed and their content decide. Only units with equal keys
    /// and equal labels, which are interchangeable, keep the order they came in.
    fn drawn_order(&self, seed: u64) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.count() as u32).collect();
        let drawn = |unit: u32| hash(seed, self.keys[unit as usize]);
        let size = |unit: u32| self.documents(unit).len();
        let content = |unit: u32| {
            let first = self.documents(unit)[0];
            (self.keys[unit as usize], &self.labels[first as usize])
        };
        order.sort_unstable_by(|&a, &b| {
            size(b)
                .cmp(&size(a))
                .then_with(|| drawn(a).cmp(&drawn(b)))
                .then_with(|| content(a).cmp(&content(b)))
                .then(a.cmp(&b))
        });
        order
    }
}

/// The folds as they fill.
pub(super) struct Spread<'a> {
    seed: u64,
    units: &'a Units<'a>,
    assignment: Vec<u8>,
    sizes: Vec<usize>,
    /// Documents of class `c` in fold `f`, at `c · folds + f`.
    of_class: Vec<u32>,
}

impl<'a> Spread<'a> {
    pub(super) fn over(
        units: &'a Units<'a>,
        class_count: usize,
        fold_count: usize,
        seed: u64,
    ) -> Folds {
        let order = units.drawn_order(seed);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); class_count];
        let mut documents = vec![0usize; class_count];
        for &unit in &order {
            units.for_each_label(unit, |label| {
                documents[label] += 1;
                if members[label].last() != Some(&unit) {
                    members[label].push(unit);
                }
            });
        }
        let mut classes: Vec<usize> = (0..class_count).collect();
        classes.sort_by_key(|&class| documents[class]);
        let mut spread = Self {
            seed,
            units,
            assignment: vec![UNASSIGNED; units.documents.len()],
            sizes: vec![0; fold_count],
            of_class: vec![0; class_count * fold_count],
        };
        for class in classes {
            for &unit in &members[class] {
                spread.assign(unit, Some(class));
            }
        }
        for &unit in &order {
            spread.assign(unit, None);
        }
        Folds {
            count: fold_count,
            assignment: spread.assignment,
        }
    }

    fn assign(&mut self, unit: u32, class: Option<usize>) {
        let documents = self.units.documents(unit);
        if self.assignment[documents[0] as usize] != UNASSIGNED {
            return;
        }
        let fold_count = self.sizes.len();
        let draw = hash(self.seed, self.units.keys[unit as usize]);
        let fold = (0..fold_count)
            .min_by_key(|&fold| {
                let already = class.map_or(0, |class| self.of_class[class * fold_count + fold]);
                (already, self.sizes[fold], mix(draw ^ (fold as u64 + 1)))
            })
            .unwrap_or(0);
        for &document in documents {
            // At most 255 folds, numbered from 0, so 255 itself stays free for "unassigned".
            self.assignment[document as usize] = fold as u8;
        }
        self.sizes[fold] += documents.len();
        let of_class = &mut self.of_class;
        self.units
            .for_each_label(unit, |label| of_class[label * fold_count + fold] += 1);
    }
}

/// Spreads a seed and a key over 64 bits. Fixed for all time: saved folds depend on it.
fn hash(seed: u64, key: u128) -> u64 {
    let low = mix(seed ^ mix(key as u64));
    mix(low ^ mix((key >> 64) as u64).rotate_left(32))
}

/// The output step of the splitmix64 generator: every input bit reaches every output bit.
pub(super) fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
