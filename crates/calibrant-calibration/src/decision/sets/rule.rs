//! Which classes are in the set of a document.

use super::score::{Ranked, score_before, score_of, set_draw};
use super::table::row_key;
use super::{Guarantee, LastClass, SetKind, SetSettings};
use crate::RowLabels;

/// A rule that gives every document a set of classes, for one coverage. See [`SetTable`](super::SetTable).
#[derive(Debug, Clone, PartialEq)]
pub struct SetRule {
    settings: SetSettings,
    /// Class by class, the largest score that is in.
    thresholds: Vec<f64>,
    guarantee: Guarantee,
}

/// Room to work in, so that nothing is allocated for each document.
#[derive(Debug, Clone, Default)]
pub struct SetBuffers {
    ranked: Ranked,
}

impl SetRule {
    pub(super) fn new(settings: SetSettings, thresholds: Vec<f64>, guarantee: Guarantee) -> Self {
        Self {
            settings,
            thresholds,
            guarantee,
        }
    }

    /// What is promised.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.thresholds.len()
    }

    /// Classes that are in every set, because there are too few examples to leave them out.
    ///
    /// To promise `c` takes at least `⌈1 / (1 - c)⌉ - 1` examples: of all classes together, or of each where classes are treated
    /// one by one.
    pub fn always(&self) -> Vec<u32> {
        let classes = (0..).zip(&self.thresholds);
        let always = classes.filter(|(_, threshold)| **threshold == f64::INFINITY);
        always.map(|(class, _)| class).collect()
    }

    /// The set of a document, most probable first. `key` is a hash of the document, from which draws follow (see
    /// [`set_draw`]); it counts for sets whose last class is drawn only.
    pub fn set(&self, probabilities: &[f64], key: u64) -> Vec<u32> {
        let mut set = Vec::new();
        self.set_into(probabilities, key, &mut SetBuffers::default(), &mut set);
        set
    }

    /// As [`Self::set`], into `set`, whose former content is lost.
    pub fn set_into(
        &self,
        probabilities: &[f64],
        key: u64,
        buffers: &mut SetBuffers,
        set: &mut Vec<u32>,
    ) {
        let drawn =
            self.settings.kind != SetKind::Lac && self.settings.last_class == LastClass::Drawn;
        let draw = if drawn {
            set_draw(key, self.settings.model_key)
        } else {
            0.0
        };
        self.set_drawn_into(probabilities, draw, buffers, set);
    }

    /// As [`Self::set_into`], with a draw from 0 to 1 in place of a key.
    pub fn set_drawn_into(
        &self,
        probabilities: &[f64],
        draw: f64,
        buffers: &mut SetBuffers,
        set: &mut Vec<u32>,
    ) {
        set.clear();
        let (kind, penalty) = (self.settings.kind, self.settings.penalty);
        let ranked = &mut buffers.ranked;
        ranked.rank(probabilities);
        let added = kind != SetKind::Lac && self.settings.last_class == LastClass::Added;
        let holds = |class: u32| {
            let (place, threshold) = (ranked.place(class), self.thresholds[class as usize]);
            // Of the classes that are added, the sum just before them counts.
            score_of(kind, penalty, place, draw) <= threshold
                || (added && score_before(kind, penalty, place) < threshold)
        };
        set.extend(ranked.order.iter().copied().filter(|&class| holds(class)));
        if set.is_empty() && self.settings.keep_top {
            set.extend(ranked.order.first());
        }
    }

    /// The sets of many documents, row by row. Without keys, draws follow from the probabilities.
    pub fn sets(&self, probabilities: &[f64], keys: Option<&[u64]>) -> RowLabels {
        let (mut sets, mut buffers, mut set) =
            (RowLabels::new(), SetBuffers::default(), Vec::new());
        for (row, own) in probabilities
            .chunks_exact(self.thresholds.len().max(1))
            .enumerate()
        {
            let key = keys.and_then(|keys| keys.get(row).copied());
            let key = key.unwrap_or_else(|| row_key(own));
            self.set_into(own, key, &mut buffers, &mut set);
            sets.push(set.iter().copied());
        }
        sets
    }
}
