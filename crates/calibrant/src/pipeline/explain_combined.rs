//! Which terms moved a combination's log-odds?

use std::collections::{BTreeMap, BTreeSet};

use super::{CombinedModel, Explanation, PredictBuffers, TermContribution};
use crate::corpus::ContentRef;
use crate::{Probability, Task};

impl CombinedModel {
    /// The members' explanations, each times its weight, terms put together by their names.
    pub(super) fn explain(&self, content: ContentRef<'_>, class: usize) -> Explanation {
        let even = Probability::from_log_odds(0.0);
        let mut classes = vec![even; self.summary.classes.len()];
        self.predict_into(content, &mut PredictBuffers::default(), &mut classes);
        let mut base = self.intercept(class);
        let mut total = base;
        let mut terms: BTreeMap<String, TermContribution> = BTreeMap::new();
        let (mut known, mut unknown) = (BTreeSet::new(), BTreeSet::new());
        for (member, &weight) in self.members.iter().zip(self.pool.weights()) {
            let explanation = member.model.explain(content, class);
            base += weight * explanation.base_log_odds;
            total += weight * explanation.calibrated_log_odds;
            for term in explanation.terms {
                let entry = terms.entry(term.term);
                let merged = entry.or_insert_with_key(|name| TermContribution {
                    term: name.clone(),
                    count: term.count,
                    value: term.value,
                    score: 0.0,
                    log_odds: 0.0,
                });
                merged.score += weight * term.log_odds;
                merged.log_odds += weight * term.log_odds;
            }
            let (names, missing) = member.model.term_names(content);
            known.extend(names.into_values().map(|(name, _)| name));
            unknown.extend(missing);
        }
        let mut terms: Vec<TermContribution> = terms.into_values().collect();
        TermContribution::strongest_first(&mut terms);
        let mut explanation = Explanation {
            label: self.summary.classes[class].label.clone(),
            probability: classes[class].value(),
            log_odds: classes[class].log_odds(),
            score: total,
            calibrated_log_odds: total,
            base_log_odds: base,
            terms,
            unknown_terms: unknown.difference(&known).count(),
        };
        if let Some(own) = &self.recalibration {
            own.explain(self.summary.task, class, &mut explanation);
        }
        explanation
    }

    /// What the class gets besides; of two that exclude each other, what it gets more than the other.
    fn intercept(&self, class: usize) -> f64 {
        let intercepts = self.pool.intercepts();
        let two = self.summary.task == Task::SingleLabel && intercepts.len() == 2;
        let other = if two { intercepts[1 - class] } else { 0.0 };
        intercepts[class] - other
    }
}
