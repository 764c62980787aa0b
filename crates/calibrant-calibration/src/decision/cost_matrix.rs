//! What each action costs for each truth, and which one is cheapest.

use serde::{Deserialize, Serialize};

use super::CostError;

/// What each action costs for each truth; a benefit is a cost below zero.
///
/// For single-label forecasts the truths are the classes, for multi-label ones "no" and "yes". Actions are the same, in the same
/// order, and behind them whatever else can be done: to hand a document over, to refund, to wait.
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
/// // A person who looks at it costs 0.5, whatever it is.
/// let costs = CostMatrix::rectangular(3, vec![0.0, 20.0, 0.5, 1.0, 0.0, 0.5])?;
/// assert_eq!(costs.cheapest(&[0.2, 0.8], 1), (2, 0.5));
/// assert!(CostMatrix::new(2, vec![0.0, f64::NAN, 1.0, 0.0]).is_err());
/// # Ok::<(), calibrant_calibration::decision::CostError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<Vec<f64>>", try_from = "Vec<Vec<f64>>")]
pub struct CostMatrix {
    actions: usize,
    /// Truth by truth.
    costs: Vec<f64>,
}

/// The action of least expected cost, and the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decided {
    /// Which action.
    pub action: usize,
    /// What it costs on average, by the stated probabilities.
    pub expected_cost: f64,
    /// The cheapest of the others with its expected cost; `None` where there is no other.
    pub runner_up: Option<(usize, f64)>,
}

impl CostMatrix {
    /// Costs beyond this are refused: sums of them must stay finite.
    pub const LARGEST: f64 = 1e100;

    /// As many actions as truths, truth by truth: the cost of `action` for `truth` is at `truth * size + action`.
    pub fn new(size: usize, costs: Vec<f64>) -> Result<Self, CostError> {
        if size == 0 || size.checked_mul(size) != Some(costs.len()) {
            let found = costs.len();
            return Err(CostError::Count { size, found });
        }
        Self::rectangular(size, costs)
    }

    /// Rows of `actions` costs, one row for each truth.
    pub fn rectangular(actions: usize, costs: Vec<f64>) -> Result<Self, CostError> {
        let found = costs.len();
        if actions == 0 || found == 0 || !found.is_multiple_of(actions) {
            return Err(CostError::Rows { actions, found });
        }
        let fine = |cost: &f64| cost.abs() <= Self::LARGEST;
        match costs.iter().copied().find(|cost| !fine(cost)) {
            Some(cost) => Err(CostError::Bad {
                cost,
                at: String::new(),
            }),
            None => Ok(Self { actions, costs }),
        }
    }

    /// Nothing for what is right and 1 for what is wrong, to be changed by [`Self::with_cost`].
    pub fn zero_one(size: usize) -> Self {
        let costs = (0..size * size)
            .map(|cell| f64::from(u8::from(cell / size.max(1) != cell % size.max(1))))
            .collect();
        Self {
            actions: size,
            costs,
        }
    }

    /// Changes one cost.
    pub fn with_cost(mut self, truth: usize, action: usize, cost: f64) -> Result<Self, CostError> {
        if truth >= self.truths() || action >= self.actions {
            let (size, found) = (self.truths(), truth.max(action));
            return Err(CostError::Count { size, found });
        }
        self.costs[truth * self.actions + action] = cost;
        Self::rectangular(self.actions, self.costs)
    }

    /// How many truths there are.
    pub fn truths(&self) -> usize {
        self.costs.len() / self.actions.max(1)
    }

    /// How many actions there are.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// What `action` costs if `truth` is true.
    pub fn cost(&self, truth: usize, action: usize) -> f64 {
        self.costs[truth * self.actions + action]
    }

    /// The least cost of a truth, whatever is done.
    pub fn least(&self, truth: usize) -> f64 {
        let row = &self.costs[truth * self.actions..(truth + 1) * self.actions];
        row.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// What an action costs on average if the truths have the stated probabilities.
    pub fn expected(&self, stated: &[f64], action: usize) -> f64 {
        let costs = || self.costs[action..].iter().step_by(self.actions);
        let first = self.costs[action];
        // What is the same for every truth is not a sum of rounded parts.
        if costs().all(|&cost| cost == first) {
            return first;
        }
        stated.iter().zip(costs()).map(|(p, cost)| p * cost).sum()
    }

    /// The action of least expected cost and that cost; ties, and what differs by rounding only, go to
    /// `usual`, the decision taken otherwise.
    ///
    /// # Formula
    /// ```text
    /// argmin over a of  Σ_t P(t) cost(t, a)
    /// ```
    pub fn cheapest(&self, stated: &[f64], usual: usize) -> (usize, f64) {
        let decided = self.decide(stated, usual);
        (decided.action, decided.expected_cost)
    }

    /// As [`Self::cheapest`], with the cheapest of the other actions. Of equal ones that is `usual`, or else the first.
    pub fn decide(&self, stated: &[f64], usual: usize) -> Decided {
        self.decide_without(stated, usual, None)
    }

    /// As [`Self::decide`], where one action, which is not `usual`, cannot be taken.
    pub fn decide_without(&self, stated: &[f64], usual: usize, left_out: Option<usize>) -> Decided {
        let usual_cost = self.expected(stated, usual);
        let (mut action, mut least) = (usual, usual_cost);
        let mut second: Option<(usize, f64)> = None;
        let others = |&other: &usize| other != usual && Some(other) != left_out;
        for other in (0..self.actions).filter(others) {
            let cost = self.expected(stated, other);
            if cost < least - 1e-12 * least.abs() {
                second = Some((action, least));
                (action, least) = (other, cost);
            } else if second.is_none_or(|(_, found)| cost < found) {
                second = Some((other, cost));
            }
        }
        // What was passed over as nearly equal may come first among the others; the usual one goes before it.
        if let Some(found) = &mut second
            && action != usual
            && usual_cost <= found.1 + 1e-12 * found.1.abs()
        {
            *found = (usual, usual_cost);
        }
        Decided {
            action,
            expected_cost: least,
            runner_up: second,
        }
    }

    /// Changes costs in place; they have been checked.
    pub(super) fn set(&mut self, truth: usize, action: usize, cost: f64) {
        self.costs[truth * self.actions + action] = cost;
    }
}

/// Rows of costs, truth by truth.
impl From<CostMatrix> for Vec<Vec<f64>> {
    fn from(matrix: CostMatrix) -> Self {
        let rows = matrix.costs.chunks(matrix.actions.max(1));
        rows.map(<[f64]>::to_vec).collect()
    }
}

impl TryFrom<Vec<Vec<f64>>> for CostMatrix {
    type Error = CostError;

    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self, CostError> {
        let actions = rows.first().map_or(0, Vec::len);
        if let Some(row) = rows.iter().find(|row| row.len() != actions) {
            let found = row.len();
            return Err(CostError::Rows { actions, found });
        }
        Self::rectangular(actions, rows.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_written_truth_by_truth() {
        let costs = CostMatrix::rectangular(2, vec![0.0, 20.0, 1.0, -0.5]).unwrap();
        let written = serde_json::to_string(&costs).unwrap();
        assert_eq!(written, "[[0.0,20.0],[1.0,-0.5]]");
        assert_eq!(serde_json::from_str::<CostMatrix>(&written).unwrap(), costs);
        for wrong in ["[]", "[[]]", "[[0, 1, 2], [1]]", "[[0, 1e200], [1, 0]]"] {
            assert!(
                serde_json::from_str::<CostMatrix>(wrong).is_err(),
                "{wrong}"
            );
        }
        let wide: CostMatrix = serde_json::from_str("[[0, 1, 2], [1, 0, 2]]").unwrap();
        assert_eq!(
            (wide.truths(), wide.actions(), wide.cost(1, 2)),
            (2, 3, 2.0)
        );
    }

    #[test]
    fn costs_that_do_not_fit_are_refused() {
        assert!(CostMatrix::new(2, vec![0.0; 3]).is_err());
        assert!(CostMatrix::new(0, vec![]).is_err());
        assert!(CostMatrix::rectangular(2, vec![0.0; 3]).is_err());
        assert!(CostMatrix::zero_one(2).with_cost(2, 0, 1.0).is_err());
        let infinite = CostMatrix::zero_one(2).with_cost(1, 0, f64::INFINITY);
        assert!(infinite.is_err());
    }

    #[test] // By hand: 0.5 · 2 = 0.5 · 2, so nothing is gained by leaving the usual decision.
    fn ties_go_to_the_usual_decision() {
        let costs = CostMatrix::new(2, vec![0.0, 2.0, 2.0, 0.0]).unwrap();
        assert_eq!(costs.cheapest(&[0.5, 0.5], 1), (1, 1.0));
        assert_eq!(costs.cheapest(&[0.5, 0.5], 0), (0, 1.0));
        assert_eq!((costs.least(0), costs.truths()), (0.0, 2));
        assert_eq!(costs.decide(&[0.5, 0.5], 1).runner_up, Some((0, 1.0)));
    }

    #[test] // By hand: 0.9, 0.6, 0.5 and 0.6.
    fn the_runner_up_is_the_cheapest_of_the_others() {
        let costs = CostMatrix::rectangular(4, vec![0.0, 6.0, 0.5, 0.6, 1.0, 0.0, 0.5, 0.6]);
        let decided = costs.unwrap().decide(&[0.1, 0.9], 1);
        assert_eq!((decided.action, decided.expected_cost), (2, 0.5));
        let (second, cost) = decided.runner_up.unwrap();
        assert_eq!(second, 1, "the usual one before an equal");
        assert!((cost - 0.6).abs() < 1e-12);
        let one = CostMatrix::rectangular(1, vec![1.0, 2.0]).unwrap();
        assert_eq!(one.decide(&[0.5, 0.5], 0).runner_up, None);
    }
}
