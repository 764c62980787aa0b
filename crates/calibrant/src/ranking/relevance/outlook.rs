//! What is still to be found below a rank.

use super::imagined::ImaginedTruths;
use crate::Probability;
use crate::calibration::LogOddsSpread;

/// What probabilities of relevance say of a ranking: how much has been found at a rank, how much is left,
/// and where to stop.
///
/// # Formula
/// With the probabilities `p_1, p_2, …` in the order of the ranking:
///
/// ```text
/// expected relevant below rank k       Σ_{i>k} p_i
/// expected recall at rank k            Σ_{i≤k} p_i / Σ_i p_i
/// P(recall at k >= r)                  the share of a thousand imagined truths with a relevant document in which it is so
/// ```
///
/// A truth is imagined in two steps: first how the stated log-odds are to be moved and stretched for this query (see [`LogOddsSpread`]), then,
/// with the probabilities that follow, which documents are relevant. Where hardly any truth has a relevant document, only such are drawn; where
/// even these rest on fewer than fifty ways to move the log-odds, nothing is sure before the end of the list. Draws have a fixed seed: equal lists
/// give equal answers.
///
/// # When it misleads
/// The list counts as everything there is: relevant documents that are not candidates are not expected. The expected recall is the ratio of
/// two expectations, of probabilities as they are stated. A spread that was learned on other queries, or for other documents, promises what it cannot keep.
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
    truths: ImaginedTruths,
}

impl Outlook {
    /// Takes the probabilities of a ranking's documents, from 0 to 1, the first first. How far they may be off in one query is what is
    /// [usual](LogOddsSpread::usual).
    pub fn new(probabilities: impl IntoIterator<Item = f64>) -> Self {
        Self::with_spread(probabilities, &LogOddsSpread::usual())
    }

    /// The same, knowing how far they may be off.
    pub fn with_spread(
        probabilities: impl IntoIterator<Item = f64>,
        spread: &LogOddsSpread,
    ) -> Self {
        let mut found = vec![0.0];
        let mut sum = 0.0;
        let mut log_odds = Vec::new();
        for probability in probabilities {
            // What is not a probability counts as the nearest one, and NaN as 0.
            let probability = match probability {
                value if value.is_nan() => 0.0,
                value => value.clamp(0.0, 1.0),
            };
            sum += probability;
            found.push(sum);
            log_odds
                .push(Probability::from_ln(probability.ln(), (-probability).ln_1p()).log_odds());
        }
        Self {
            found,
            truths: ImaginedTruths::new(&log_odds, spread),
        }
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
        let last = self.document_count();
        let enough = |&rank: &usize| self.expected_recall(rank) >= recall;
        (0..last).find(enough).unwrap_or(last)
    }

    /// How probable it is that the recall at a rank is at least this one, if there is anything to find.
    pub fn certainty_of_recall(&self, rank: usize, recall: f64) -> f64 {
        if rank >= self.document_count() {
            return 1.0; // All has been read.
        }
        let stops = self.truths.stops(recall);
        let reached = stops.iter().filter(|&&stop| stop <= rank).count();
        match stops.len() {
            0 => 0.0, // Nothing is known.
            all => reached as f64 / all as f64,
        }
    }

    /// The first rank where the recall is at least this one with the wanted certainty; the end of the list where too little is
    /// known to be sure.
    pub fn sure_stop_for_recall(&self, recall: f64, certainty: f64) -> usize {
        let stops = self.truths.stops(recall);
        if stops.is_empty() {
            return self.document_count();
        }
        let wanted = (certainty * stops.len() as f64).ceil() as usize;
        match wanted {
            0 => 0,
            wanted => stops[wanted.min(stops.len()) - 1],
        }
    }
}
