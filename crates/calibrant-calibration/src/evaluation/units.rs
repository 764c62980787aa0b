//! Documents that are one piece of evidence.

use std::collections::HashMap;

use super::forecasts::Row;
use crate::numeric::{NORMAL_975, StableSum, student_reach};

/// With fewer groups than this, or a few that outweigh all others as much, the variance between them cannot be told.
pub(super) const FEWEST_UNITS: f64 = 3.0;

/// Documents that are drawn, and counted, as one: copies, and those of a group.
pub(super) struct Units {
    documents: Vec<u32>,
    /// Where the documents of each end; empty where each document stands for itself.
    ends: Vec<u32>,
}

impl Units {
    /// Units are numbered in the order of their first documents.
    pub(super) fn of(groups: impl Iterator<Item = Option<u64>>) -> Self {
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut next = 0;
        let unit_of: Vec<u32> = groups
            .map(|group| {
                let number = group.map_or(next, |group| *numbers.entry(group).or_insert(next));
                next = next.max(number + 1);
                number
            })
            .collect();
        let mut documents: Vec<u32> = (0..unit_of.len() as u32).collect();
        if next as usize == documents.len() {
            let ends = Vec::new();
            return Self { documents, ends };
        }
        documents.sort_by_key(|&document| unit_of[document as usize]);
        let mut ends = vec![0; next as usize];
        for (place, &document) in (1..).zip(&documents) {
            ends[unit_of[document as usize] as usize] = place;
        }
        Self { documents, ends }
    }

    /// Of rows, by the group of each document; `None`, or nothing at all, where a document stands for itself.
    pub(super) fn of_rows(rows: &[Row<'_>], groups: &[Option<u64>]) -> Self {
        Self::of(
            rows.iter()
                .map(|row| groups.get(row.document).copied().flatten()),
        )
    }

    /// Whether each document stands for itself.
    pub(super) fn all_alone(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        if self.ends.is_empty() {
            self.documents.len()
        } else {
            self.ends.len()
        }
    }

    pub(super) fn documents(&self, unit: usize) -> &[u32] {
        if self.ends.is_empty() {
            return &self.documents[unit..=unit];
        }
        let start = unit.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.documents[start as usize..self.ends[unit] as usize]
    }

    /// As many units of equal weight as these are worth, `(ΣW)² / ΣW²`, by the weight of each document.
    pub(super) fn worth(&self, weight_of: impl Fn(usize) -> f64) -> f64 {
        let (mut total, mut squares) = (StableSum::default(), StableSum::default());
        for unit in 0..self.count() {
            let weights = self.documents(unit).iter();
            let weights = weights.map(|&document| weight_of(document as usize));
            let weight = weights.collect::<StableSum>().total();
            total.add(weight);
            squares.add(weight * weight);
        }
        total.total() * total.total() / squares.total()
    }

    /// Half of a 95 % interval in standard errors: that of the normal curve where each document stands for itself, else
    /// of Student's with one degree of freedom less than units of equal weight.
    pub(super) fn reach(&self, weight_of: impl Fn(usize) -> f64) -> f64 {
        match self.all_alone() {
            true => NORMAL_975,
            false => student_reach(0.95, (self.worth(weight_of) - 1.0).max(1.0)),
        }
    }

    /// As many independent documents of equal weight as these are worth to the share of a thing that each has or
    /// has not, given as weight and weighted share of each document.
    ///
    /// # Formula
    /// ```text
    /// each alone   (Σw)² / Σw²
    /// else         p(1-p) (Σw)² / ((G-1)/G Σ_u ((E_u - p W_u) / (1 - W_u/Σw))²),     p = Σ E_u / Σ W_u
    /// ```
    /// with `W_u` the weight of a unit and `E_u` what of it has the thing: the jackknife's variance of the share, each
    /// of the `G` units left out in turn. A unit pulls `p` towards itself, the more the larger it is, and its distance
    /// from the share of the others makes good for that. It is taken for no more than all documents and for no less than
    /// one a unit would be worth, which is also the answer where all documents are alike.
    pub(super) fn worth_of_share(&self, documents: &[[f64; 2]]) -> f64 {
        let (mut total, mut with, mut squares) = (0.0, 0.0, 0.0);
        for [weight, share] in documents {
            total += weight;
            with += share;
            squares += weight * weight;
        }
        let as_documents = total * total / squares;
        if self.all_alone() {
            return as_documents;
        }
        let share = with / total;
        let (mut unit_squares, mut spread) = (0.0, 0.0);
        for unit in 0..self.count() {
            let (mut weight, mut with) = (0.0, 0.0);
            for &document in self.documents(unit) {
                weight += documents[document as usize][0];
                with += documents[document as usize][1];
            }
            unit_squares += weight * weight;
            let gap = (with - share * weight) * total / (total - weight);
            spread += gap * gap;
        }
        let as_units = total * total / unit_squares;
        let count = self.count() as f64;
        let found = share * (1.0 - share) * total * total / (spread * (count - 1.0) / count);
        if found.is_finite() {
            found.min(as_documents).max(as_units)
        } else {
            as_units
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Interval;
    use crate::numeric::Random;

    #[test] // By hand: 40 different documents four times, ten of them wrong.
    fn copies_are_worth_one_document() {
        let documents: Vec<[f64; 2]> = (0..160)
            .map(|row| [1.0, f64::from(u8::from(row % 40 < 10))])
            .collect();
        let copies = Units::of((0..160).map(|row| Some(row % 40)));
        assert!((copies.worth_of_share(&documents) - 40.0).abs() < 1e-9);
        assert_eq!(
            Units::of((0..160).map(|_| None)).worth_of_share(&documents),
            160.0
        );
        // All are alike: what they have in common cannot be seen.
        let none: Vec<[f64; 2]> = documents.iter().map(|d| [d[0], 0.0]).collect();
        assert!((copies.worth_of_share(&none) - 40.0).abs() < 1e-9);
    }

    /// Of a thousand test sets, in how many the interval of the share of errors holds the truth. The error rates of groups
    /// lie evenly within `spread` of it.
    fn covered(sizes: impl Fn(&mut Random) -> Vec<usize>, truth: f64, spread: f64) -> usize {
        let mut random = Random::from_seed(11);
        let mut covered = 0;
        for _ in 0..1_000 {
            let (mut documents, mut groups) = (Vec::new(), Vec::new());
            for (group, size) in (0..).zip(sizes(&mut random)) {
                let rate = truth + spread * (2.0 * random.uniform() - 1.0);
                for _ in 0..size {
                    let wrong = random.uniform() < rate;
                    documents.push([1.0, f64::from(u8::from(wrong))]);
                    groups.push(Some(group));
                }
            }
            let units = Units::of(groups.into_iter());
            let share = documents.iter().map(|d| d[1]).sum::<f64>() / documents.len() as f64;
            let reach = units.reach(|document| documents[document][0]);
            let found = Interval::wilson(share, units.worth_of_share(&documents), reach);
            covered += usize::from(found.lower <= truth && truth <= found.upper);
        }
        covered
    }

    #[test] // 95 % of 1,000 are 950 ± 6.9.
    fn wilsons_interval_of_grouped_documents_covers_what_it_says() {
        for (groups, size, truth, spread) in [
            (100, 4, 0.2, 0.0),
            (100, 4, 0.5, 0.5),
            (100, 10, 0.2, 0.2),
            (5, 40, 0.2, 0.2),
            (10, 40, 0.2, 0.2),
            (20, 40, 0.5, 0.5),
        ] {
            let covered = covered(|_| vec![size; groups], truth, spread);
            assert!(
                (930..=985).contains(&covered),
                "{groups} groups of {size}, {truth} ± {spread}: {covered}"
            );
        }
    }

    #[test]
    fn groups_of_very_different_sizes_are_worth_fewer() {
        for groups in [5, 20, 50, 100] {
            let sizes = |random: &mut Random| -> Vec<usize> {
                let size = |_| (15.0 * random.normal().exp()).ceil() as usize;
                (0..groups).map(size).collect()
            };
            let covered = covered(sizes, 0.2, 0.2);
            assert!(covered >= 925, "{groups} groups: {covered}");
        }
        // By hand: weights 3, 1, 1 and 1 are worth 36/12 units.
        let units = Units::of([1, 1, 1, 2, 3, 4].map(Some).into_iter());
        assert!((units.worth(|_| 1.0) - 3.0).abs() < 1e-12);
    }
}
