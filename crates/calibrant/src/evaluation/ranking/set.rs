//! Measures of the whole list as a set, without its order.

use super::JudgedList;
use super::precision::share;

impl JudgedList {
    /// The share of relevant documents in the whole list.
    pub fn set_precision(&self) -> f64 {
        share(self.relevant_retrieved(), self.retrieved())
    }

    /// The share of all relevant documents that are listed.
    pub fn set_recall(&self) -> f64 {
        share(self.relevant_retrieved(), self.relevant())
    }

    /// [`JudgedList::set_precision`] by the best that a list of this length could reach.
    pub fn set_relative_precision(&self) -> f64 {
        let best = self.retrieved().min(self.relevant());
        share(self.relevant_retrieved(), best)
    }

    /// Precision times recall of the set: average precision if the list were in no order.
    pub fn set_average_precision(&self) -> f64 {
        self.set_precision() * self.set_recall()
    }

    /// The harmonic mean of precision and recall of the set, recall weighing `weight` times as much.
    ///
    /// # Formula
    /// ```text
    /// F = (x + 1) · P · R / (R + x · P)
    /// ```
    ///
    /// # Reference
    /// van Rijsbergen, Information Retrieval, 1979.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(0)], &[1, 0], 1);
    /// assert_eq!(list.set_f(1.0), 2.0 / 3.0); // P = 1/2, R = 1
    /// ```
    pub fn set_f(&self, weight: f64) -> f64 {
        let (precision, recall) = (self.set_precision(), self.set_recall());
        let below = recall + weight * precision;
        match below == 0.0 {
            true => 0.0,
            false => (weight + 1.0) * precision * recall / below,
        }
    }

    /// What the set is worth, if every document has a price.
    ///
    /// # Formula
    /// `p1 · a + p2 · b + p3 · c + p4 · d` with `a` relevant documents listed, `b` others listed, `c` relevant ones not listed, and `d`
    /// others of a collection of `collection_size` documents not listed.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(0), Unknown], &[1, 0], 1);
    /// assert_eq!(list.utility([1.0, -1.0, 0.0, 0.0], 0), -1.0); // one found, two in vain
    /// ```
    pub fn utility(&self, prices: [f64; 4], collection_size: u64) -> f64 {
        let found = self.relevant_retrieved() as f64;
        let retrieved = self.retrieved() as f64;
        let relevant = self.relevant() as f64;
        let rest = collection_size as f64 + found - retrieved - relevant;
        prices[0] * found
            + prices[1] * (retrieved - found)
            + prices[2] * (relevant - found)
            + prices[3] * rest
    }

    /// The number of listed documents that were judged not to be relevant.
    pub fn judged_not_relevant_retrieved(&self) -> usize {
        let grades = self.marks().iter().filter_map(|mark| mark.grade());
        grades.filter(|&grade| grade < self.relevant_from()).count()
    }
}
