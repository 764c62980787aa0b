//! Fits to all documents that may be served, alone or in a pool.

use super::trials::Choice;
use crate::Probability;
use crate::pipeline::SingleModel;

/// Losses of held-out forecasts, added up fold by fold.
#[derive(Debug, Clone)]
pub(super) struct FoldLosses(Vec<f64>);

impl FoldLosses {
    pub(super) fn new(of_folds: Vec<f64>) -> Self {
        Self(of_folds)
    }

    /// The sum over all folds, or over all but one.
    pub(super) fn without(&self, fold: Option<usize>) -> f64 {
        let folds = self.0.iter().enumerate();
        let others = folds.filter(|(number, _)| Some(*number) != fold);
        others.map(|(_, loss)| loss).sum()
    }
}

/// A fit to all documents.
pub(super) struct Kept {
    /// Among the trials.
    pub(super) place: usize,
    pub(super) choice: Choice,
    pub(super) is_default: bool,
    pub(super) name: String,
    pub(super) log_loss: f64,
    /// Nothing where it would be chosen without some fold alone, and cannot be served.
    pub(super) model: Option<SingleModel>,
    /// For the documents that decide about pools, what they were given by scorers and curves that had not seen their
    /// folds.
    pub(super) forecasts: Vec<Probability>,
    /// Of the forecasts of all documents.
    pub(super) losses: FoldLosses,
}

/// The fits that would be chosen by all documents, or by those outside some fold, and no others: what is the best of
/// its kind in neither way now will not be so later.
pub(super) struct KeptFits {
    /// In the order in which they were tried.
    all: Vec<Kept>,
    /// How many of different kinds there may be beside the default.
    most: usize,
    fold_count: usize,
}

/// Forecasts whose log-odds are nowhere further apart say the same.
const TWINS: f64 = 1e-9;

impl KeptFits {
    pub(super) fn new(most: usize, fold_count: usize) -> Self {
        Self {
            all: Vec::new(),
            most: most.max(1),
            fold_count,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn get(&self, place: usize) -> &Kept {
        &self.all[place]
    }

    /// Takes a fit up, unless an earlier one says the same of every document, and lets go of what it supersedes.
    pub(super) fn add(&mut self, new: Kept) {
        if self.all.iter().any(|kept| are_twins(kept, &new)) {
            return;
        }
        self.all.push(new);
        let servable = self.candidates(None);
        let mut is_needed = vec![false; self.all.len()];
        let without = (0..self.fold_count).flat_map(|fold| self.candidates(Some(fold)));
        for place in without.chain(servable.iter().copied()) {
            is_needed[place] = true;
        }
        for (place, kept) in self.all.iter_mut().enumerate() {
            if !servable.contains(&place) {
                kept.model = None;
            }
        }
        let mut is_needed = is_needed.into_iter();
        self.all.retain(|_| is_needed.next() == Some(true));
    }

    /// The default, whatever it says.
    pub(super) fn default(&self) -> Option<usize> {
        self.all.iter().position(|kept| kept.is_default)
    }

    /// The default and the best few kinds, each at its best, by all documents or by those outside a fold.
    pub(super) fn candidates(&self, without: Option<usize>) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        let mut others = 0;
        for place in self.ranking(without) {
            let kept = &self.all[place];
            let is_kin = |&better: &usize| self.all[better].choice.is_kin(&kept.choice);
            if others < self.most && !chosen.iter().any(is_kin) {
                chosen.push(place);
                others += usize::from(!kept.is_default);
            }
        }
        let default = self.default().filter(|default| !chosen.contains(default));
        chosen.extend(default);
        chosen.sort_unstable();
        chosen
    }

    /// The best of all, by all documents or by those outside a fold.
    pub(super) fn best(&self, without: Option<usize>) -> usize {
        self.ranking(without).first().copied().unwrap_or(0)
    }

    /// The best first, of equals the first that was tried.
    fn ranking(&self, without: Option<usize>) -> Vec<usize> {
        let losses = self.all.iter().map(|kept| kept.losses.without(without));
        let mut ranked: Vec<(f64, usize)> = losses.zip(0..).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.into_iter().map(|(_, place)| place).collect()
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
