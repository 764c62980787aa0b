//! Fits that may be served, alone or in a pool.

use super::trials::Choice;
use crate::Probability;
use crate::pipeline::SingleModel;

/// Which trial it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject {
    /// Among the trials.
    pub(super) place: usize,
    pub(super) choice: Choice,
    pub(super) is_default: bool,
}

/// A fit to all documents, or to a part of them that chooses for the others.
pub(super) struct Kept {
    pub(super) subject: Subject,
    pub(super) name: String,
    pub(super) log_loss: f64,
    /// Nothing where it cannot be served.
    pub(super) model: Option<SingleModel>,
    /// For the documents that decide about pools, what they were given by scorers and curves that had not seen their
    /// folds.
    pub(super) forecasts: Vec<Probability>,
}

impl Kept {
    /// Whether another is fitted to other documents with the same settings; what is the default stays so whatever
    /// weighting it chose there.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let (own, other) = (&self.subject, &other.subject);
        (own.is_default && other.is_default) || own.choice == other.choice
    }
}

/// The default, and the best of each kind: what is not the best of its kind now will not be so later.
pub(super) struct KeptFits {
    /// In the order in which they were tried.
    all: Vec<Kept>,
    /// How many of different kinds there may be beside the default.
    most: usize,
}

/// Forecasts whose log-odds are nowhere further apart say the same.
const TWINS: f64 = 1e-9;

impl KeptFits {
    pub(super) fn new(most: usize) -> Self {
        Self {
            all: Vec::new(),
            most: most.max(1),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn get(&self, place: usize) -> &Kept {
        &self.all[place]
    }

    /// Takes a fit up, unless an earlier one says the same of every document, and lets go of what it supersedes, but
    /// for the forecasts of those that are wanted elsewhere.
    pub(super) fn add(&mut self, new: Kept, is_wanted: impl Fn(&Kept) -> bool) {
        if self.all.iter().any(|kept| are_twins(kept, &new)) {
            return;
        }
        self.all.push(new);
        let candidates = self.candidates();
        let mut place = 0..;
        self.all.retain_mut(|kept| {
            let is_candidate = place.next().is_some_and(|at| candidates.contains(&at));
            if !is_candidate {
                kept.model = None;
            }
            is_candidate || is_wanted(kept)
        });
    }

    /// Where the fit with the same settings is.
    pub(super) fn place_of(&self, other: &Kept) -> Option<usize> {
        self.all.iter().position(|kept| kept.is_alike(other))
    }

    /// Whether one of the candidates has the same settings.
    pub(super) fn wants(&self, other: &Kept) -> bool {
        let candidates = self.candidates();
        let mut candidates = candidates.iter().map(|&place| &self.all[place]);
        candidates.any(|kept| kept.is_alike(other))
    }

    /// The default, whatever it says.
    pub(super) fn default(&self) -> Option<usize> {
        self.all.iter().position(|kept| kept.subject.is_default)
    }

    /// The default and the best few kinds, each at its best, in the order in which they were tried.
    pub(super) fn candidates(&self) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        let mut others = 0;
        for place in self.ranking() {
            let own = &self.all[place].subject;
            let is_kin = |&better: &usize| self.all[better].subject.choice.is_kin(&own.choice);
            if others < self.most && !chosen.iter().any(is_kin) {
                chosen.push(place);
                others += usize::from(!own.is_default);
            }
        }
        let default = self.default().filter(|default| !chosen.contains(default));
        chosen.extend(default);
        chosen.sort_unstable();
        chosen
    }

    /// The best of some.
    pub(super) fn best_of(&self, some: &[usize]) -> Option<usize> {
        self.ranking()
            .into_iter()
            .find(|place| some.contains(place))
    }

    /// The best first, of equals the first that was tried.
    fn ranking(&self) -> Vec<usize> {
        let loss = |place: &usize| self.all[*place].log_loss;
        let mut ranked: Vec<usize> = (0..self.all.len()).collect();
        ranked.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
        ranked
    }

    /// All of them, in the order in which they were tried.
    pub(super) fn into_inner(self) -> Vec<Kept> {
        self.all
    }
}

/// Whether two fits say the same, as words and their pairs do where texts have one word.
fn are_twins(a: &Kept, b: &Kept) -> bool {
    let pairs = a.forecasts.iter().zip(&b.forecasts);
    let mut apart = pairs.map(|(a, b)| (a.log_odds() - b.log_odds()).abs());
    a.forecasts.len() == b.forecasts.len() && apart.all(|apart| apart <= TWINS)
}
