//! What is still to be found below a rank.

use crate::numeric::normal_cdf;

/// What probabilities of relevance say of a ranking: how much has been found at a rank, how much is left,
/// and where to stop.
///
/// # Formula
/// With the probabilities `p_1, p_2, …` in the order of the ranking:
///
/// ```text
/// expected relevant below rank k       Σ_{i>k} p_i
/// expected recall at rank k            Σ_{i≤k} p_i / Σ_i p_i
/// P(recall at k >= r)                  Φ(((1-r) Σ_{i≤k} p_i - r Σ_{i>k} p_i) / √v_k)
///                                      v_k = (1-r)² Σ_{i≤k} p_i(1-p_i) + r² Σ_{i>k} p_i(1-p_i)
/// ```
///
/// since recall reaches `r` where `(1-r)` times what was found is at least `r` times what is left.
///
/// # When it misleads
/// Documents count as independent, and the list as everything there is: relevant documents that are no
/// candidates are not expected. The expected recall is the ratio of two expectations. With probabilities near zero throughout the normal
/// curve is a rough stand-in.
///
/// ```
/// use calibrant::ranking::Outlook;
/// let outlook = Outlook::new([0.5; 10]);
/// assert_eq!(outlook.expected(), 5.0);
/// assert_eq!(outlook.expected_below(4), 3.0);
/// assert_eq!(outlook.stop_for_recall(0.75), 8); // four of five are expected there; at 7 only 3.5
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// Expected numbers of relevant documents among the first 0, 1, 2, …
    found: Vec<f64>,
    /// Their variances.
    variances: Vec<f64>,
}

impl Outlook {
    /// Takes the probabilities of a ranking's documents, from 0 to 1, the first first.
    pub fn new(probabilities: impl IntoIterator<Item = f64>) -> Self {
        let mut found = vec![0.0];
        let mut variances = vec![0.0];
        let (mut sum, mut variance) = (0.0, 0.0);
        for probability in probabilities {
            // What is no probability counts as the nearest one, and NaN as 0.
            let probability = match probability {
                value if value.is_nan() => 0.0,
                value => value.clamp(0.0, 1.0),
            };
            sum += probability;
            variance += probability * (1.0 - probability);
            found.push(sum);
            variances.push(variance);
        }
        Self { found, variances }
    }

    /// How many documents there are.
    pub fn document_count(&self) -> usize {
        self.found.len() - 1
    }

    /// How many relevant documents are expected in all.
    pub fn expected(&self) -> f64 {
        self.found[self.document_count()]
    }

    /// How many more are expected below a rank (0: below none).
    pub fn expected_below(&self, rank: usize) -> f64 {
        (self.expected() - self.found[rank.min(self.document_count())]).max(0.0)
    }

    /// The recall that is expected at a rank; 1 where nothing is expected at all.
    pub fn expected_recall(&self, rank: usize) -> f64 {
        let all = self.expected();
        if all > 0.0 {
            self.found[rank.min(self.document_count())] / all
        } else {
            1.0
        }
    }

    /// The first rank where the expected recall reaches this one.
    pub fn stop_for_recall(&self, recall: f64) -> usize {
        self.first_rank(|rank| self.expected_recall(rank) >= recall)
    }

    /// How probable it is that the recall at a rank is at least this one.
    pub fn certainty_of_recall(&self, rank: usize, recall: f64) -> f64 {
        let rank = rank.min(self.document_count());
        let all = self.variances[self.document_count()];
        let (found, left) = (self.found[rank], self.expected_below(rank));
        let (own, other) = (self.variances[rank], (all - self.variances[rank]).max(0.0));
        let excess = (1.0 - recall) * found - recall * left;
        let variance = (1.0 - recall).powi(2) * own + recall * recall * other;
        if rank == self.document_count() {
            1.0 // All has been read.
        } else if variance > 0.0 {
            normal_cdf(excess / variance.sqrt())
        } else {
            f64::from(u8::from(excess >= 0.0))
        }
    }

    /// The first rank where the recall is at least this one with the wanted certainty.
    pub fn sure_stop_for_recall(&self, recall: f64, certainty: f64) -> usize {
        self.first_rank(|rank| self.certainty_of_recall(rank, recall) >= certainty)
    }

    fn first_rank(&self, enough: impl Fn(usize) -> bool) -> usize {
        let last = self.document_count();
        (0..last).find(|&rank| enough(rank)).unwrap_or(last)
    }
}
