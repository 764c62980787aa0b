//! What of a score can be compared from one query to another.

use serde::{Deserialize, Serialize};

/// How the scores of a query's candidates are put into one scale for all queries.
///
/// # Formula
/// With the mean `m` and the standard deviation `d` of the scores of all the query's candidates:
///
/// ```text
/// as_is           s
/// centred         s - m
/// standardised    (s - m) / d          (0 where d = 0)
/// ```
///
/// # When it misleads
/// `centred` and `standardised` depend on which documents are candidates: a curve fitted to the union of the best 1,000 of
/// several functions does not fit a list of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreFrame {
    /// Scores mean the same for every query.
    AsIs,
    /// How far above the query's mean.
    Centred,
    /// How many standard deviations above the query's mean.
    Standardised,
}

impl ScoreFrame {
    /// All of them, the simplest first.
    pub const ALL: [Self; 3] = [Self::AsIs, Self::Centred, Self::Standardised];

    /// Its name, as in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as_is",
            Self::Centred => "centred",
            Self::Standardised => "standardised",
        }
    }

    /// Puts the scores of one query's candidates into this frame.
    ///
    /// ```
    /// use calibrant::ranking::ScoreFrame;
    /// let mut scores = [1.0, 3.0]; // mean 2, standard deviation 1
    /// ScoreFrame::Standardised.apply(&mut scores);
    /// assert_eq!(scores, [-1.0, 1.0]);
    /// ```
    pub fn apply(self, scores: &mut [f64]) {
        if self == Self::AsIs || scores.is_empty() {
            return;
        }
        let count = scores.len() as f64;
        let mean = scores.iter().map(|score| score / count).sum::<f64>();
        for score in scores.iter_mut() {
            *score -= mean;
        }
        if self == Self::Standardised {
            // Brought near one first: squares of huge numbers overflow.
            let largest = scores
                .iter()
                .fold(0.0, |most: f64, score| most.max(score.abs()));
            let square = |score: &f64| (score / largest) * (score / largest) / count;
            let deviation = largest * scores.iter().map(square).sum::<f64>().sqrt();
            for score in scores.iter_mut() {
                *score = if deviation > 0.0 {
                    *score / deviation
                } else {
                    0.0
                };
            }
        }
    }
}
