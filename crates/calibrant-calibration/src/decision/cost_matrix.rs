//! What each decision costs for each truth, and which one is cheapest.

use serde::{Deserialize, Serialize};

use crate::Task;

/// What each decision costs for each truth; a benefit is a cost below zero.
///
/// For single-label forecasts rows and columns are the classes; for multi-label ones they are "no" and
/// "yes", and the same costs hold for every decision.
///
/// ```
/// use calibrant_calibration::decision::CostMatrix;
/// // To miss spam costs 1, to lose a letter costs 20.
/// let costs = CostMatrix::new(2, vec![0.0, 20.0, 1.0, 0.0])?;
/// assert_eq!(costs.cost(0, 1), 20.0); // truth "ham", decision "spam"
/// // By hand: "spam" would cost 0.2 · 20 = 4 on average, "ham" 0.8 · 1.
/// let (decision, expected) = costs.cheapest(&[0.2, 0.8], 1);
/// assert_eq!(decision, 0);
/// assert!((expected - 0.8).abs() < 1e-15);
/// assert!(CostMatrix::new(2, vec![0.0, f64::NAN, 1.0, 0.0]).is_err());
/// # Ok::<(), calibrant_calibration::decision::CostError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<Vec<f64>>", try_from = "Vec<Vec<f64>>")]
pub struct CostMatrix {
    size: usize,
    /// Truth by truth.
    costs: Vec<f64>,
}

/// One cost as people write it: the names of a truth and of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostEntry {
    /// What is true.
    pub truth: String,
    /// What was decided.
    pub decision: String,
    /// What that costs.
    pub cost: f64,
}

/// Why costs cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// There are not as many costs as pairs of truth and decision.
    #[error("{size} classes need {size} x {size} costs, found {found}")]
    Count {
        /// Rows of the cost matrix.
        size: usize,
        /// Costs given, or the position that is beyond the matrix.
        found: usize,
    },
    /// A cost is not a number, or beyond all bounds.
    #[error("{cost} is not a cost; costs must be numbers between -1e100 and 1e100")]
    Bad {
        /// The cost.
        cost: f64,
    },
    /// A cost is named for what is not a class.
    #[error("a cost names `{name}`, which is not a class")]
    NoClass {
        /// What was named.
        name: String,
    },
    /// Where documents may have several labels, every decision is about one class.
    #[error(
        "a cost names `{name}`; where documents may have several labels, truth and decision are yes or no"
    )]
    NotYesOrNo {
        /// What was named.
        name: String,
    },
}

impl CostMatrix {
    /// Costs beyond this are refused: sums of them must stay finite.
    pub const LARGEST: f64 = 1e100;

    /// From costs truth by truth: that of `decision` for `truth` is at `truth * size + decision`.
    pub fn new(size: usize, costs: Vec<f64>) -> Result<Self, CostError> {
        if size == 0 || size.checked_mul(size) != Some(costs.len()) {
            let found = costs.len();
            return Err(CostError::Count { size, found });
        }
        let fine = |cost: &f64| cost.abs() <= Self::LARGEST;
        match costs.iter().copied().find(|cost| !fine(cost)) {
            Some(cost) => Err(CostError::Bad { cost }),
            None => Ok(Self { size, costs }),
        }
    }

    /// Nothing for what is right and 1 for what is wrong, to be changed by [`Self::with_cost`].
    pub fn zero_one(size: usize) -> Self {
        let costs = (0..size * size)
            .map(|cell| f64::from(u8::from(cell / size.max(1) != cell % size.max(1))))
            .collect();
        Self { size, costs }
    }

    /// From costs by name: those that are not written are nothing for what is right and 1 for what is wrong. With several labels
    /// per document the names are `no` and `yes`, whatever the classes are called.
    ///
    /// ```
    /// use calibrant_calibration::{Task, decision::{CostEntry, CostMatrix}};
    /// let lost = CostEntry { truth: "ham".into(), decision: "spam".into(), cost: 20.0 };
    /// let costs = CostMatrix::of_entries(&[lost], Task::SingleLabel, ["ham", "spam"])?;
    /// assert_eq!((costs.cost(0, 1), costs.cost(1, 0)), (20.0, 1.0));
    /// # Ok::<(), calibrant_calibration::decision::CostError>(())
    /// ```
    pub fn of_entries<'a>(
        entries: &[CostEntry],
        task: Task,
        class_names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, CostError> {
        let names: Vec<&str> = match task {
            Task::SingleLabel => class_names.into_iter().collect(),
            Task::MultiLabel => vec!["no", "yes"],
        };
        let position = |name: &String| {
            let found = names.iter().position(|known| known == name);
            found.ok_or_else(|| match task {
                Task::SingleLabel => CostError::NoClass { name: name.clone() },
                Task::MultiLabel => CostError::NotYesOrNo { name: name.clone() },
            })
        };
        let mut costs = Self::zero_one(names.len());
        for entry in entries {
            let (truth, decision) = (position(&entry.truth)?, position(&entry.decision)?);
            costs.costs[truth * names.len() + decision] = entry.cost;
        }
        Self::new(costs.size, costs.costs)
    }

    /// Changes one cost.
    pub fn with_cost(
        mut self,
        truth: usize,
        decision: usize,
        cost: f64,
    ) -> Result<Self, CostError> {
        if truth >= self.size || decision >= self.size {
            let (size, found) = (self.size, truth.max(decision));
            return Err(CostError::Count { size, found });
        }
        self.costs[truth * self.size + decision] = cost;
        Self::new(self.size, self.costs)
    }

    /// How many truths, and decisions, there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What `decision` costs if `truth` is true.
    pub fn cost(&self, truth: usize, decision: usize) -> f64 {
        self.costs[truth * self.size + decision]
    }

    /// The least cost of a truth, whatever is decided.
    pub fn least(&self, truth: usize) -> f64 {
        let row = &self.costs[truth * self.size..(truth + 1) * self.size];
        row.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// What a decision costs on average if the truths have the stated probabilities.
    pub fn expected(&self, stated: &[f64], decision: usize) -> f64 {
        let costs = self.costs[decision..].iter().step_by(self.size);
        stated.iter().zip(costs).map(|(p, cost)| p * cost).sum()
    }

    /// The decision of least expected cost and that cost; ties, and what differs by rounding only, go to
    /// `usual`, the decision taken otherwise.
    ///
    /// # Formula
    /// ```text
    /// argmin over d of  Σ_t P(t) cost(t, d)
    /// ```
    pub fn cheapest(&self, stated: &[f64], usual: usize) -> (usize, f64) {
        let (mut best, mut least) = (usual, self.expected(stated, usual));
        for decision in 0..self.size {
            let cost = self.expected(stated, decision);
            if cost < least - 1e-12 * least.abs() {
                (best, least) = (decision, cost);
            }
        }
        (best, least)
    }
}

/// Rows of costs, truth by truth.
impl From<CostMatrix> for Vec<Vec<f64>> {
    fn from(matrix: CostMatrix) -> Self {
        let rows = matrix.costs.chunks(matrix.size.max(1));
        rows.map(<[f64]>::to_vec).collect()
    }
}

impl TryFrom<Vec<Vec<f64>>> for CostMatrix {
    type Error = CostError;

    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self, CostError> {
        let size = rows.len();
        if let Some(row) = rows.iter().find(|row| row.len() != size) {
            let found = row.len();
            return Err(CostError::Count { size, found });
        }
        Self::new(size, rows.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_written_truth_by_truth() {
        let costs = CostMatrix::new(2, vec![0.0, 20.0, 1.0, -0.5]).unwrap();
        let written = serde_json::to_string(&costs).unwrap();
        assert_eq!(written, "[[0.0,20.0],[1.0,-0.5]]");
        assert_eq!(serde_json::from_str::<CostMatrix>(&written).unwrap(), costs);
        for wrong in ["[]", "[[0, 1]]", "[[0, 1, 2], [1]]", "[[0, 1e200], [1, 0]]"] {
            assert!(
                serde_json::from_str::<CostMatrix>(wrong).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn names_that_are_no_classes_are_refused() {
        let entry = CostEntry {
            truth: "ham".into(),
            decision: "eggs".into(),
            cost: 1.0,
        };
        let of = |task| CostMatrix::of_entries(std::slice::from_ref(&entry), task, ["ham", "spam"]);
        let name = "eggs".to_owned();
        assert_eq!(of(Task::SingleLabel), Err(CostError::NoClass { name }));
        let name = "ham".to_owned();
        assert_eq!(of(Task::MultiLabel), Err(CostError::NotYesOrNo { name }));
    }

    #[test]
    fn costs_that_do_not_fit_are_refused() {
        assert!(CostMatrix::new(2, vec![0.0; 3]).is_err());
        assert!(CostMatrix::new(0, vec![]).is_err());
        assert!(CostMatrix::zero_one(2).with_cost(2, 0, 1.0).is_err());
        let infinite = CostMatrix::zero_one(2).with_cost(1, 0, f64::INFINITY);
        assert!(infinite.is_err());
    }

    #[test] // By hand: 0.5 · 2 = 0.5 · 2, so nothing is gained by leaving the usual decision.
    fn ties_go_to_the_usual_decision() {
        let costs = CostMatrix::new(2, vec![0.0, 2.0, 2.0, 0.0]).unwrap();
        assert_eq!(costs.cheapest(&[0.5, 0.5], 1), (1, 1.0));
        assert_eq!(costs.cheapest(&[0.5, 0.5], 0), (0, 1.0));
        assert_eq!((costs.least(0), costs.size()), (0.0, 2));
    }
}
