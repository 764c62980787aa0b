//! What a ranking model is to be good at.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The loss that a ranking model minimises, as `--loss` names it.
///
/// ```
/// use calibrant::ranking::learning::RankLoss;
/// assert_eq!("ndcg@5".parse(), Ok(RankLoss::Ndcg { cutoff: Some(5) }));
/// assert_eq!("ndcg".parse(), Ok(RankLoss::Ndcg { cutoff: None }));
/// assert_eq!(RankLoss::AveragePrecision.to_string(), "map");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum RankLoss {
    /// `map`: one minus average precision (SVM-MAP).
    #[default]
    AveragePrecision,
    /// `roc`: one minus the area under the ROC curve of each query.
    RocArea,
    /// `ndcg`, `ndcg@k`: one minus normalised discounted cumulative gain; all grades count.
    Ndcg {
        /// The last rank that counts; without one, all do.
        cutoff: Option<usize>,
    },
    /// `rr`: one minus the reciprocal rank of the first relevant document.
    ReciprocalRank,
    /// `acc`: a linear support vector machine that tells relevant documents from others.
    Accuracy,
    /// `acc2`: the same, where missing a relevant document costs as many times more as there are others.
    BalancedAccuracy,
    /// `acc3`: `acc` on the percentile of each value among the query's.
    PercentileAccuracy,
    /// `acc4`: `acc` on values stretched from the query's least (0) to its greatest (1).
    MinMaxAccuracy,
    /// `pairs`: the ranking support vector machine, hinge loss of all pairs of unequal grade.
    Pairs,
}

impl RankLoss {
    /// One of each, as they are listed to people.
    pub const ALL: [Self; 9] = [
        Self::AveragePrecision,
        Self::RocArea,
        Self::Ndcg { cutoff: None },
        Self::ReciprocalRank,
        Self::Accuracy,
        Self::BalancedAccuracy,
        Self::PercentileAccuracy,
        Self::MinMaxAccuracy,
        Self::Pairs,
    ];

    /// Whether it looks at documents one by one and needs a bias.
    pub fn is_accuracy(self) -> bool {
        matches!(
            self,
            Self::Accuracy
                | Self::BalancedAccuracy
                | Self::PercentileAccuracy
                | Self::MinMaxAccuracy
        )
    }

    /// Whether grades matter to it, and not only which documents are relevant.
    pub fn is_graded(self) -> bool {
        matches!(self, Self::Ndcg { .. } | Self::Pairs)
    }
}

impl fmt::Display for RankLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AveragePrecision => f.write_str("map"),
            Self::RocArea => f.write_str("roc"),
            Self::Ndcg { cutoff: None } => f.write_str("ndcg"),
            Self::Ndcg {
                cutoff: Some(cutoff),
            } => write!(f, "ndcg@{cutoff}"),
            Self::ReciprocalRank => f.write_str("rr"),
            Self::Accuracy => f.write_str("acc"),
            Self::BalancedAccuracy => f.write_str("acc2"),
            Self::PercentileAccuracy => f.write_str("acc3"),
            Self::MinMaxAccuracy => f.write_str("acc4"),
            Self::Pairs => f.write_str("pairs"),
        }
    }
}

/// A name that is not a loss.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a loss; choose map, roc, ndcg, ndcg@K (K from 1), rr, acc, acc2, acc3, acc4 or pairs"
)]
pub struct UnknownLoss(pub String);

impl FromStr for RankLoss {
    type Err = UnknownLoss;

    fn from_str(name: &str) -> Result<Self, UnknownLoss> {
        let unknown = || UnknownLoss(name.to_owned());
        Ok(match name {
            "map" => Self::AveragePrecision,
            "roc" => Self::RocArea,
            "ndcg" => Self::Ndcg { cutoff: None },
            "rr" => Self::ReciprocalRank,
            "acc" => Self::Accuracy,
            "acc2" => Self::BalancedAccuracy,
            "acc3" => Self::PercentileAccuracy,
            "acc4" => Self::MinMaxAccuracy,
            "pairs" => Self::Pairs,
            other => {
                let cutoff = other.strip_prefix("ndcg@").ok_or_else(unknown)?;
                match cutoff.parse() {
                    Ok(cutoff) if cutoff > 0 => Self::Ndcg {
                        cutoff: Some(cutoff),
                    },
                    _ => return Err(unknown()),
                }
            }
        })
    }
}

impl TryFrom<String> for RankLoss {
    type Error = UnknownLoss;

    fn try_from(name: String) -> Result<Self, UnknownLoss> {
        name.parse()
    }
}

impl From<RankLoss> for String {
    fn from(loss: RankLoss) -> Self {
        loss.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_went() {
        for loss in RankLoss::ALL {
            assert_eq!(loss.to_string().parse(), Ok(loss));
        }
        for bad in ["", "mrr", "ndcg@", "ndcg@0", "ndcg@-1", "MAP"] {
            assert!(bad.parse::<RankLoss>().is_err(), "{bad}");
        }
    }
}
