//! Measures that take what nobody judged for unknown rather than for not relevant.

use super::{JudgedList, Mark};

/// Keeps inferred precisions away from 0/0.
const INFERRED_EPSILON: f64 = 0.00001;

impl JudgedList {
    /// bpref: the share of pairs of a relevant document and one of the first `R` judged not to be, that stand in the right order.
    ///
    /// # Formula
    /// ```text
    /// bpref = 1/R · Σ_relevant listed  1 - min(n, R) / min(N, R)
    /// ```
    /// `n` documents judged not relevant stand above the relevant one, `N` there are in all, `R` are relevant.
    ///
    /// # When it misleads
    /// With few documents judged not relevant it is coarse, and with none it only says which relevant ones are listed.
    ///
    /// # Reference
    /// Buckley & Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004, in the form of trec_eval 8 and later.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// let list = JudgedList::new(vec![Unknown, Grade(1), Grade(0), Grade(1)], &[1, 0, 1, 0], 1);
    /// assert_eq!(list.bpref(), (1.0 + (1.0 - 1.0 / 2.0)) / 2.0);
    /// ```
    pub fn bpref(&self) -> f64 {
        let relevant = self.relevant();
        if relevant == 0 {
            return 0.0;
        }
        let levels = self.levels().iter();
        let not_relevant: usize = levels
            .filter(|(grade, _)| *grade < self.relevant_from())
            .map(|(_, count)| count)
            .sum();
        // At least one, even if the list shows documents that the judgements do not.
        let pairs = not_relevant.min(relevant).max(1) as f64;
        let mut above = 0usize;
        let mut sum = 0.0;
        for grade in self.marks().iter().filter_map(|mark| mark.grade()) {
            if grade < self.relevant_from() {
                above += 1;
            } else if above == 0 {
                sum += 1.0;
            } else {
                sum += 1.0 - above.min(relevant) as f64 / pairs;
            }
        }
        sum / relevant as f64
    }

    /// infAP: average precision, estimated where only a random part of the pool was judged.
    ///
    /// # Formula
    /// The precision at a relevant document of rank `k` is estimated as
    /// ```text
    /// 1/k + (k-1)/k · (pooled above)/(k-1) · (relevant above + ε)/(judged above + 2ε),   ε = 0.00001
    /// ```
    /// A document with a grade below 0 is in the pool and not judged; one without a line is outside of it.
    ///
    /// # When it misleads
    /// The judged part must be a random one. With a pool that is judged in full it is average precision.
    ///
    /// # Reference
    /// Yilmaz & Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006.
    ///
    /// ```
    /// # use calibrant::evaluation::ranking::{JudgedList, Mark::*};
    /// // By hand: 1 at rank 1; at rank 3: 1/3 + 2/3 · 2/2 · (1 + ε)/(1 + 2ε), the pooled one being passed over.
    /// let list = JudgedList::new(vec![Grade(1), NotJudged, Grade(1)], &[1, -1, 1], 1);
    /// let third = 1.0 / 3.0 + 2.0 / 3.0 * 1.00001 / 1.00002;
    /// assert!((list.inferred_average_precision() - (1.0 + third) / 2.0).abs() < 1e-15);
    /// ```
    pub fn inferred_average_precision(&self) -> f64 {
        let relevant = self.relevant();
        if relevant == 0 {
            return 0.0;
        }
        let (mut found, mut vain, mut waiting) = (0.0f64, 0.0f64, 0.0f64);
        let mut sum = 0.0;
        for (rank, mark) in self.marks().iter().enumerate() {
            match mark {
                Mark::Unknown => {}
                Mark::NotJudged => waiting += 1.0,
                Mark::Grade(grade) if *grade < self.relevant_from() => vain += 1.0,
                Mark::Grade(_) => {
                    let above = rank as f64;
                    sum += match rank {
                        0 => 1.0,
                        _ => {
                            1.0 / (above + 1.0)
                                + (above / (above + 1.0))
                                    * ((found + vain + waiting) / above)
                                    * ((found + INFERRED_EPSILON)
                                        / (found + vain + 2.0 * INFERRED_EPSILON))
                        }
                    };
                    found += 1.0;
                }
            }
        }
        sum / relevant as f64
    }
}
