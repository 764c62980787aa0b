//! Measures of grades: gains, discounted by rank.

use super::JudgedList;
use super::precision::total;

/// What a document of a grade is worth. Unless said otherwise a grade is worth itself.
///
/// # When it misleads
/// The best list has the largest gains first. trec_eval compares gains by the whole part of their difference, and with gains less than 1 apart its
/// best list may not be the best; there our figures differ from its.
///
/// ```
/// use calibrant::evaluation::ranking::Gains;
/// let gains = Gains::new(&[(1, 3.0), (2, 9.0)]);
/// assert_eq!((gains.of(1), gains.of(2), gains.of(3)), (3.0, 9.0, 3.0));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gains {
    set: Vec<(i32, f64)>,
}

impl Gains {
    /// Gains of these grades; of a grade that is given twice the first counts.
    pub fn new(set: &[(i32, f64)]) -> Self {
        Self { set: set.to_vec() }
    }

    /// The gain of a grade.
    pub fn of(&self, grade: i32) -> f64 {
        let set = self.set.iter().find(|(other, _)| *other == grade);
        set.map_or(f64::from(grade), |(_, gain)| *gain)
    }

    /// Gains above zero of all documents of these grades, falling, with the number of documents of each.
    fn ideal(&self, levels: &[(i32, usize)]) -> Vec<(f64, usize)> {
        let valued = levels.iter().map(|&(grade, count)| (self.of(grade), count));
        let mut ideal: Vec<(f64, usize)> = valued.filter(|(gain, _)| *gain > 0.0).collect();
        ideal.sort_by(|a, b| b.0.total_cmp(&a.0));
        ideal
    }
}

/// `1/log2(rank + 2)`, the rank counted from 0, is what a place is worth.
fn discount(rank: usize) -> f64 {
    ((rank + 2) as f64).log2()
}

impl JudgedList {
    /// Discounted cumulative gain by that of the best list there could be: NDCG of the whole list.
    ///
    /// # Formula
    /// ```text
    /// DCG = Σ_i gain(i) / log2(i + 1)        i = 1, 2, …
    /// ```
    /// divided by the DCG of **all** judged documents in the best order, however short the list is. Documents nobody judged gain nothing.
    ///
    /// # When it misleads
    /// A long list gains more than a short one, and a grade is worth itself here where others (see [`LetorCounting`](super::LetorCounting))
    /// give it `2^grade - 1`: two values of "NDCG" can be compared only if gain, discount and cut are the same.
    ///
    /// # Reference
    /// Järvelin & Kekäläinen, ACM Transactions on Information Systems 20, 2002.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{Gains, JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(0), Grade(2)], &[0, 2, 1], 1);
    /// // By hand: 2/log2(3) of 2/log2(2) + 1/log2(3).
    /// let log3 = 3f64.log2();
    /// assert!((list.ndcg(&Gains::default()) - (2.0 / log3) / (2.0 + 1.0 / log3)).abs() < 1e-15);
    /// ```
    pub fn ndcg(&self, gains: &Gains) -> f64 {
        ratio(
            self.dcg(gains, usize::MAX),
            ideal_dcg(&gains.ideal(self.levels()), usize::MAX),
        )
    }

    /// NDCG of the first `cut` documents: `ndcg_cut_k`. The best list is cut there, too. A grade is worth itself.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(2)], &[1, 2], 1);
    /// assert_eq!(list.ndcg_cut(1), 0.5); // 1 where 2 was to be had
    /// ```
    pub fn ndcg_cut(&self, cut: usize) -> f64 {
        let gains = Gains::default();
        ratio(
            self.dcg(&gains, cut),
            ideal_dcg(&gains.ideal(self.levels()), cut),
        )
    }

    /// NDCG at every document that gains something, averaged: `ndcg_rel`. For those that are not listed, NDCG of the whole list.
    ///
    /// # When it misleads
    /// An experimental measure of trec_eval, here so that its figures can be compared.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{Gains, JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(0)], &[1, 0, 1], 1);
    /// // By hand: 1/1 at the first; for the second, not listed, 1/(1 + 1/log2(3)).
    /// let whole = 1.0 / (1.0 + 1.0 / 3f64.log2());
    /// assert!((list.ndcg_at_relevant(&Gains::default()) - (1.0 + whole) / 2.0).abs() < 1e-15);
    /// ```
    pub fn ndcg_at_relevant(&self, gains: &Gains) -> f64 {
        let ideal = gains.ideal(self.levels());
        let valued: usize = ideal.iter().map(|(_, count)| count).sum();
        let mut best = ideal_gains(&ideal);
        let (mut dcg, mut ideal_so_far, mut sum, mut seen) = (0.0, 0.0, 0.0, 0usize);
        for (rank, mark) in self.marks().iter().enumerate() {
            let gain = mark.grade().map_or(0.0, |grade| gains.of(grade));
            // A logarithm costs more than all the rest, and most places need none.
            if gain != 0.0 {
                dcg += gain / discount(rank);
            }
            if let Some(best) = best.next() {
                ideal_so_far += best / discount(rank);
            }
            if gain > 0.0 {
                sum += ratio(dcg, ideal_so_far);
                seen += 1;
            }
        }
        let missed = valued.saturating_sub(seen) as f64;
        sum += missed * ratio(dcg, ideal_dcg(&ideal, usize::MAX));
        match valued == 0 || sum <= 0.0 {
            true => 0.0,
            false => sum / valued as f64,
        }
    }

    /// NDCG where the best list goes over to the next smaller gain, averaged over these places and the end of the list: `Rndcg`.
    ///
    /// # When it misleads
    /// An experimental measure of trec_eval, here so that its figures can be compared. The end of the list counts only if it lies more
    /// than one place behind the last document that gains something in the best list.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{Gains, JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(2)], &[1, 2], 1);
    /// let log3 = 3f64.log2();
    /// // By hand: after one place 1/2; after two (1 + 2/log2(3)) / (2 + 1/log2(3)).
    /// let second = (1.0 + 2.0 / log3) / (2.0 + 1.0 / log3);
    /// assert!((list.ndcg_at_levels(&Gains::default()) - (0.5 + second) / 2.0).abs() < 1e-15);
    /// ```
    pub fn ndcg_at_levels(&self, gains: &Gains) -> f64 {
        let ideal = gains.ideal(self.levels());
        if self.relevant() == 0 || ideal.is_empty() {
            return 0.0;
        }
        let (mut sum, mut places, mut end) = (0.0, 0usize, 0usize);
        for equal in ideal.chunk_by(|a, b| a.0 == b.0) {
            end += equal.iter().map(|(_, count)| count).sum::<usize>();
            sum += ratio(self.dcg(gains, end), ideal_dcg(&ideal, end));
            places += 1;
        }
        if self.retrieved() > end + 1 {
            sum += ratio(self.dcg(gains, usize::MAX), ideal_dcg(&ideal, end));
            places += 1;
        }
        sum / places as f64
    }

    /// Normalised gain: a document gains the less, the more could have been gained before it: `G`.
    ///
    /// # Formula
    /// ```text
    /// G = Σ_i gain(i) / log2(2 + best(i) - found(i))  /  Σ gains
    /// ```
    /// `found(i)` is gained up to and with place `i`, and `best(i)` in the best list, whose places count at least 1 each.
    ///
    /// # When it misleads
    /// An experimental measure of trec_eval, here so that its figures can be compared.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{Gains, JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(0), Grade(1)], &[0, 1], 1);
    /// assert_eq!(list.normalised_gain(&Gains::default()), 1.0 / 3f64.log2()); // best 1 + 1, found 1
    /// ```
    pub fn normalised_gain(&self, gains: &Gains) -> f64 {
        let ideal = gains.ideal(self.levels());
        let possible_in_all = total(ideal.iter().map(|(gain, count)| gain * *count as f64));
        let mut best = ideal_gains(&ideal);
        let (mut found, mut possible, mut sum) = (0.0, 0.0, 0.0);
        for mark in self.marks() {
            let gain = mark.grade().map_or(0.0, |grade| gains.of(grade));
            found += gain;
            possible += best.next().unwrap_or(0.0).max(1.0);
            if gain != 0.0 {
                // Gains below zero can make the best list fall behind.
                let behind: f64 = 2.0 + possible - found;
                sum += gain / behind.max(2.0).log2();
            }
        }
        ratio(sum, possible_in_all)
    }

    /// [`JudgedList::normalised_gain`] of relevant or not: the mean of `1/log2(2 + others above)` over relevant documents: `binG`.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(0), Grade(2)], &[0, 2], 1);
    /// assert_eq!(list.binary_normalised_gain(), 1.0 / 3f64.log2());
    /// ```
    pub fn binary_normalised_gain(&self) -> f64 {
        let found = self.relevant_at().iter().enumerate();
        let sum = total(found.map(|(before, &rank)| 1.0 / ((2 + rank - before) as f64).log2()));
        ratio(sum, self.relevant() as f64)
    }

    fn dcg(&self, gains: &Gains, cut: usize) -> f64 {
        let marks = self.marks().iter().take(cut).enumerate();
        let valued = marks
            .filter_map(|(rank, mark)| mark.grade().map(|grade| (rank, gains.of(grade))))
            .filter(|(_, gain)| *gain != 0.0);
        total(valued.map(|(rank, gain)| gain / discount(rank)))
    }
}

fn ideal_gains(ideal: &[(f64, usize)]) -> impl Iterator<Item = f64> {
    ideal
        .iter()
        .flat_map(|&(gain, count)| std::iter::repeat_n(gain, count))
}

fn ideal_dcg(ideal: &[(f64, usize)], cut: usize) -> f64 {
    let places = ideal_gains(ideal).take(cut).enumerate();
    total(places.map(|(rank, gain)| gain / discount(rank)))
}

/// A ratio, 0 where there is nothing to divide by.
fn ratio(part: f64, whole: f64) -> f64 {
    match whole > 0.0 {
        true => part / whole,
        false => 0.0,
    }
}
