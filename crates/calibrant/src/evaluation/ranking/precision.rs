//! Measures of relevant or not: precision, recall and what is made of them.

use super::JudgedList;

impl JudgedList {
    /// The share of relevant documents among the first `cut`: `P_k`. A shorter list is filled up with documents that are not relevant.
    ///
    /// # When it misleads
    /// With fewer than `cut` relevant documents to be found even a perfect list stays below 1; see [`JudgedList::relative_precision`].
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(0), Grade(1)], &[1, 0, 1], 1);
    /// assert_eq!((list.precision(2), list.precision(4)), (0.5, 0.5)); // 1/2 and 2/4
    /// ```
    pub fn precision(&self, cut: usize) -> f64 {
        share(self.relevant_up_to(cut), cut)
    }

    /// The share of all relevant documents that are among the first `cut`; 0 where there are none.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(0), Grade(1)], &[1, 0, 1, 1], 1);
    /// assert_eq!(list.recall(2), 1.0 / 3.0);
    /// ```
    pub fn recall(&self, cut: usize) -> f64 {
        share(self.relevant_up_to(cut), self.relevant())
    }

    /// [`JudgedList::precision`] by the best that could be reached: `min(cut, relevant)` instead of `cut`.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(0), Grade(1)], &[1, 0, 1], 1);
    /// assert_eq!(list.relative_precision(10), 1.0); // both that there are
    /// ```
    pub fn relative_precision(&self, cut: usize) -> f64 {
        share(self.relevant_up_to(cut), cut.min(self.relevant()))
    }

    /// 1 if a relevant document is among the first `cut`, otherwise 0.
    pub fn success(&self, cut: usize) -> f64 {
        f64::from(u8::from(self.relevant_up_to(cut) > 0))
    }

    /// The share of the first `cut` places held by documents that nobody judged: a red flag for measures that take
    /// them for not relevant. Places beyond the end of the list count as judged.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Unknown, Grade(1)], &[1], 1);
    /// assert_eq!(list.unjudged(5), 0.2);
    /// ```
    pub fn unjudged(&self, cut: usize) -> f64 {
        let first = self.marks().iter().take(cut);
        share(first.filter(|mark| mark.grade().is_none()).count(), cut)
    }

    /// One by the rank of the first relevant document; 0 where there is none.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(0), Unknown, Grade(1)], &[0, 1], 1);
    /// assert_eq!(list.reciprocal_rank(), 1.0 / 3.0);
    /// ```
    pub fn reciprocal_rank(&self) -> f64 {
        let first = self.relevant_at().first();
        first.map_or(0.0, |&rank| 1.0 / (rank as f64 + 1.0))
    }

    /// Average precision: the mean, over all relevant documents, of the precision at their rank; 0 for those not listed.
    ///
    /// # Formula
    /// ```text
    /// AP = 1/R · Σ_k k / r_k        R relevant documents, r_k the rank of the k-th that is listed
    /// ```
    /// Its mean over queries is MAP.
    ///
    /// # When it misleads
    /// A query without relevant documents has 0 whatever is listed, and pulls the mean down for all systems alike.
    ///
    /// # Reference
    /// Buckley & Voorhees, SIGIR 2000.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(0), Grade(1)], &[1, 0, 1, 1], 1);
    /// assert_eq!(list.average_precision(), (1.0 + 2.0 / 3.0) / 3.0);
    /// ```
    pub fn average_precision(&self) -> f64 {
        self.average_precision_up_to(usize::MAX)
    }

    /// Average precision of the first `cut` documents, still by all relevant ones: `map_cut_k`.
    pub fn average_precision_up_to(&self, cut: usize) -> f64 {
        let found = &self.relevant_at()[..self.relevant_up_to(cut)];
        average_precision_at(found.iter().copied(), self.relevant())
    }

    /// Precision after as many documents as there are relevant ones: `Rprec`.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(1), Grade(0), Grade(1)], &[1, 0, 1], 1);
    /// assert_eq!(list.r_precision(), 0.5); // two relevant, one of them among the first two
    /// ```
    pub fn r_precision(&self) -> f64 {
        self.precision(self.relevant())
    }

    /// Precision after `multiple` times as many documents as there are relevant ones (the number is rounded up if its fraction is at least a
    /// tenth): `Rprec_mult`.
    pub fn r_precision_multiple(&self, multiple: f64) -> f64 {
        self.precision((multiple * self.relevant() as f64 + 0.9) as usize)
    }

    /// The best precision at this recall or any above: `iprec_at_recall`.
    ///
    /// # Formula
    /// ```text
    /// max { k / r_k : k >= c },   c = round(recall · R), at least 1
    /// ```
    /// 0 where fewer than `c` relevant documents are listed.
    ///
    /// # When it misleads
    /// At recall 0 it is the best precision anywhere in the list. Versions of trec_eval before 10 rounded `c` in another way, and a few
    /// values differ from theirs and from pytrec_eval's, which has the older code.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Grade(0), Grade(1), Grade(1)], &[0, 1, 1], 1);
    /// assert_eq!(list.interpolated_precision(0.5), 2.0 / 3.0); // 1/2 at rank 2, better at rank 3
    /// ```
    pub fn interpolated_precision(&self, recall: f64) -> f64 {
        let needed = (recall * self.relevant() as f64).round();
        if needed > self.relevant_retrieved() as f64 {
            return 0.0;
        }
        let from = (needed as usize).max(1);
        let found = self.relevant_at().iter().enumerate().skip(from - 1);
        found
            .map(|(before, &rank)| (before + 1) as f64 / (rank + 1) as f64)
            .fold(0.0, f64::max)
    }

    /// The mean of [`JudgedList::interpolated_precision`] over these recalls: `11pt_avg`.
    pub fn mean_interpolated_precision(&self, recalls: &[f64]) -> f64 {
        if recalls.is_empty() {
            return 0.0;
        }
        // From the largest down, as trec_eval adds: the last digit may depend on it.
        let values = recalls.iter().rev();
        let sum = total(values.map(|&recall| self.interpolated_precision(recall)));
        sum / recalls.len() as f64
    }
}

/// A share, 0 of nothing.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}

/// Average precision, given the ranks (from 0, rising) at which relevant documents are found, and how many relevant documents there are in all;
/// 0 where there are none. Without ties and weights, unlike that of forecasts.
pub(crate) fn average_precision_at(ranks: impl Iterator<Item = usize>, relevant: usize) -> f64 {
    let precisions = ranks.enumerate();
    let sum = total(precisions.map(|(before, rank)| (before + 1) as f64 / (rank + 1) as f64));
    match relevant {
        0 => 0.0,
        relevant => sum / relevant as f64,
    }
}

/// A sum in the order given. (The sum of nothing is -0 in the standard library, and would be printed so.)
pub(super) fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}
