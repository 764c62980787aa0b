//! Documents that are one piece of evidence.

use std::collections::HashMap;

use super::forecasts::Row;

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

    /// As many independent documents of equal weight as these are worth to the share of a thing that each has or
    /// has not, given as weight and weighted share of each document.
    ///
    /// # Formula
    /// ```text
    /// each alone   (Σw)² / Σw²
    /// else         p(1-p) (Σw)² / (G/(G-1) Σ_u (E_u - p W_u)²),     p = Σ E_u / Σ W_u
    /// ```
    /// with `W_u` the weight of a unit and `E_u` what of it has the thing: the variance of the share between the `G`
    /// units. It is taken for no more than all documents and for no less than one a unit would be worth, which is
    /// also the answer where all documents are alike.
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
            spread += (with - share * weight) * (with - share * weight);
        }
        let as_units = total * total / unit_squares;
        let count = self.count() as f64;
        let spread = spread * count / (count - 1.0);
        let found = share * (1.0 - share) * total * total / spread;
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

    #[test] // 95 % of 1,000 are 950 ± 6.9.
    fn wilsons_interval_of_grouped_documents_covers_what_it_says() {
        let coverage = |group_size: usize, together: f64| {
            let mut random = Random::from_seed(11);
            let mut covered = 0;
            for _ in 0..1_000 {
                let mut documents = Vec::new();
                let groups = 100;
                for _ in 0..groups {
                    let common = random.uniform() < 0.2;
                    for _ in 0..group_size {
                        let alone = random.uniform() < 0.2;
                        let wrong = if random.uniform() < together {
                            common
                        } else {
                            alone
                        };
                        documents.push([1.0, f64::from(u8::from(wrong))]);
                    }
                }
                let units = Units::of((0..documents.len()).map(|d| Some((d / group_size) as u64)));
                let share = documents.iter().map(|d| d[1]).sum::<f64>() / documents.len() as f64;
                let found = Interval::wilson(share, units.worth_of_share(&documents));
                covered += usize::from(found.lower <= 0.2 && 0.2 <= found.upper);
            }
            covered
        };
        for (group_size, together) in [(4, 1.0), (4, 0.5), (4, 0.0), (10, 0.3)] {
            let covered = coverage(group_size, together);
            assert!(
                (925..=985).contains(&covered),
                "{group_size} {together}: {covered}"
            );
        }
    }
}
