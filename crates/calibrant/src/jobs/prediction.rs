//! What is said of one document.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Probability;
use crate::corpus::KeptRow;

/// Which document something is said of: in JSON the key `id` or the key `row`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKey {
    /// Its identifier, empty where the document has none but others of the file have.
    Id(String),
    /// The number of its row in the file, from 1, whatever was filtered or left out before it: the file has no identifiers.
    Row(u64),
}

impl DocumentKey {
    /// The name of its column in tables, by which readers tell identifiers from numbers of rows.
    pub fn column(&self) -> &'static str {
        match self {
            Self::Id(_) => "id",
            Self::Row(_) => "row",
        }
    }

    /// The identifier, or the number as text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Id(id) => Cow::Borrowed(id),
            Self::Row(number) => Cow::Owned(number.to_string()),
        }
    }
}

/// Gives documents their keys, in the order of the file. All of a file are of one kind, that of the first.
///
/// ```
/// use calibrant::jobs::{DocumentKey, DocumentKeys};
/// let mut keys = DocumentKeys::new(false);
/// assert_eq!(keys.next(None, 1), DocumentKey::Row(1));
/// assert_eq!(keys.next(Some("late".into()), 5), DocumentKey::Row(5)); // rows 2 to 4 were left out
/// ```
#[derive(Debug, Clone, Default)]
pub struct DocumentKeys {
    /// Whether the documents have identifiers; told by the first unless a field was named.
    have_ids: Option<bool>,
    documents: u64,
    without_id: u64,
}

impl DocumentKeys {
    /// `named` says that a field with the identifier was asked for.
    pub fn new(named: bool) -> Self {
        Self {
            have_ids: named.then_some(true),
            ..Self::default()
        }
    }

    /// The key of the next document. `row` is its number in the file ([`Document::row`](crate::corpus::Document::row)); 0 numbers documents
    /// of no file in their order.
    pub fn next(&mut self, id: Option<String>, row: u64) -> DocumentKey {
        self.documents += 1;
        if !*self.have_ids.get_or_insert(id.is_some()) {
            return DocumentKey::Row(if row == 0 { self.documents } else { row });
        }
        let id = id.unwrap_or_default();
        self.without_id += u64::from(id.is_empty());
        DocumentKey::Id(id)
    }

    /// How many documents there were.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// How many of them have an empty identifier.
    pub fn without_id(&self) -> u64 {
        self.without_id
    }
}

/// The probability of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassProbability<'a> {
    /// The class.
    pub label: Cow<'a, str>,
    /// Its probability.
    pub probability: f64,
    /// The same as log-odds, which lose nothing near 0 and 1.
    pub log_odds: f64,
    /// The learner's own score, before calibration, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What is decided about this label, where documents may have several and a decision was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision<'a>>,
}

/// What to do with a document, or about one of its labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision<'a> {
    /// A class (`yes` or `no` about a label), [`ASK`](crate::decision::ASK), or another action that has a cost.
    pub action: Cow<'a, str>,
    /// What that costs on average by the stated probabilities; absent where the decision does not come from costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_cost: Option<f64>,
    /// The cheapest of the other actions; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<RunnerUp<'a>>,
}

/// The cheapest of the actions that were not taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunnerUp<'a> {
    /// The action.
    pub action: Cow<'a, str>,
    /// What it costs on average.
    pub expected_cost: f64,
}

impl<'a> Decision<'a> {
    /// An action that does not come from costs.
    pub fn new(action: impl Into<Cow<'a, str>>) -> Self {
        Self {
            action: action.into(),
            expected_cost: None,
            runner_up: None,
        }
    }

    fn into_owned(self) -> Decision<'static> {
        let owned = |name: Cow<'_, str>| Cow::Owned(name.into_owned());
        Decision {
            action: owned(self.action),
            expected_cost: self.expected_cost,
            runner_up: self.runner_up.map(|other| RunnerUp {
                action: owned(other.action),
                expected_cost: other.expected_cost,
            }),
        }
    }
}

impl<'a> ClassProbability<'a> {
    /// Without a score.
    pub fn new(label: impl Into<Cow<'a, str>>, probability: Probability) -> Self {
        Self {
            label: label.into(),
            probability: probability.value(),
            log_odds: probability.log_odds(),
            score: None,
            decision: None,
        }
    }
}

/// The classes of one document, the most probable first. Its JSON is the same from every front end:
/// `{"id": …, "classes": [{"label": …, "probability": …, "log_odds": …}, …]}`, with `row` instead of `id` where
/// documents have no identifiers, and with neither for a document that came from no file; where a decision was asked for also
/// `"decision": {"action": …, "expected_cost": …, "runner_up": {"action": …, "expected_cost": …}}`, which with several labels
/// stands in every class; where sets were asked for, `"set": [label, …]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prediction<'a> {
    /// Which document it is.
    #[serde(flatten)]
    pub key: Option<DocumentKey>,
    /// The classes, the most probable first; of equals the first in the order of the model.
    pub classes: Vec<ClassProbability<'a>>,
    /// What to do with the document, where that was asked for and documents have one label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision<'a>>,
    /// The classes that may be the true one, the most probable first, where a set was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<Vec<Cow<'a, str>>>,
    /// The row of the file that it is of, where [`ReadOptions::keep`](crate::corpus::ReadOptions::keep) asks for it; no part of its JSON.
    #[serde(skip)]
    pub kept: Option<Box<KeptRow>>,
}

impl<'a> Prediction<'a> {
    /// Of these classes, which are in order.
    pub fn new(key: Option<DocumentKey>, classes: Vec<ClassProbability<'a>>) -> Self {
        Self {
            key,
            classes,
            decision: None,
            set: None,
            kept: None,
        }
    }

    /// The `most` probable of all classes, the first of equals first. `scores` has one per class, or is empty.
    ///
    /// ```
    /// use calibrant::{Probability, jobs::Prediction};
    /// let said = [-1.0, 2.0, 2.0].map(Probability::from_log_odds);
    /// let prediction = Prediction::best_first(&["a", "b", "c"], &said, &[], 2);
    /// let labels: Vec<&str> = prediction.classes.iter().map(|class| &*class.label).collect();
    /// assert_eq!(labels, ["b", "c"]);
    /// assert_eq!(prediction.best().unwrap().log_odds, 2.0);
    /// ```
    pub fn best_first(
        names: &[&'a str],
        probabilities: &[Probability],
        scores: &[f64],
        most: usize,
    ) -> Self {
        let classes = best_order(probabilities, most).into_iter().map(|class| {
            let said = ClassProbability::new(names[class], probabilities[class]);
            ClassProbability {
                score: scores.get(class).copied(),
                ..said
            }
        });
        Self::new(None, classes.collect())
    }

    /// With the key of its document.
    pub(crate) fn with_key(mut self, key: DocumentKey) -> Self {
        self.key = Some(key);
        self
    }

    /// With the row that it is of.
    pub(crate) fn with_row(mut self, row: Option<KeptRow>) -> Self {
        self.kept = row.map(Box::new);
        self
    }

    /// The most probable class; `None` where there are no classes.
    pub fn best(&self) -> Option<&ClassProbability<'a>> {
        self.classes.first()
    }

    /// What is said of a class, if it is among them.
    pub fn of_class(&self, label: &str) -> Option<&ClassProbability<'a>> {
        self.classes.iter().find(|class| class.label == label)
    }

    /// The same with names of its own, to be kept beyond the model.
    pub fn into_owned(self) -> Prediction<'static> {
        let classes = self.classes.into_iter().map(|class| ClassProbability {
            label: Cow::Owned(class.label.into_owned()),
            probability: class.probability,
            log_odds: class.log_odds,
            score: class.score,
            decision: class.decision.map(Decision::into_owned),
        });
        Prediction {
            decision: self.decision.map(Decision::into_owned),
            set: self.set.map(|set| {
                let owned = set.into_iter().map(|label| Cow::Owned(label.into_owned()));
                owned.collect()
            }),
            kept: self.kept,
            ..Prediction::new(self.key, classes.collect())
        }
    }

    /// The set as one text, with the class at this rank, from 0: it stands with the first.
    pub(super) fn set_at(&self, rank: usize, separator: &str) -> Option<String> {
        let set = self.set.as_ref().filter(|_| rank == 0)?;
        Some(set.join(separator))
    }

    /// What was decided with the class at this rank, from 0: the document's decision stands with the first.
    pub(super) fn decision_at(&self, rank: usize) -> Option<&Decision<'a>> {
        let of_document = self.decision.as_ref().filter(|_| rank == 0);
        of_document.or_else(|| self.classes.get(rank)?.decision.as_ref())
    }
}

/// The numbers of the `most` probable classes, the first of equals first.
pub(super) fn best_order(probabilities: &[Probability], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    let log_odds = |class: usize| probabilities[class].log_odds();
    order.sort_by(|&a, &b| log_odds(b).total_cmp(&log_odds(a)));
    order.truncate(most);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_an_identifier_a_row_or_neither() {
        let said = ClassProbability::new("ham", Probability::from_log_odds(0.0));
        let class = r#"{"label":"ham","probability":0.5,"log_odds":0.0}"#;
        for (key, begin) in [
            (Some(DocumentKey::Id("m1".into())), r#""id":"m1","#),
            (Some(DocumentKey::Row(7)), r#""row":7,"#),
            (None, ""),
        ] {
            let prediction = Prediction::new(key, vec![said.clone()]);
            let text = serde_json::to_string(&prediction).unwrap();
            assert_eq!(text, format!(r#"{{{begin}"classes":[{class}]}}"#));
            let read: Prediction<'static> = serde_json::from_str(&text).unwrap();
            assert_eq!(read, prediction);
        }
        let scored = ClassProbability {
            score: Some(-1.5),
            ..said
        };
        let text = serde_json::to_string(&scored).unwrap();
        assert!(text.ends_with(r#","score":-1.5}"#), "{text}");
    }

    #[test]
    fn decisions_are_written_and_read() {
        let said = ClassProbability::new("ham", Probability::from_log_odds(0.0));
        let mut prediction = Prediction::new(None, vec![said]);
        prediction.decision = Some(Decision {
            expected_cost: Some(2.0),
            runner_up: Some(RunnerUp {
                action: "ham".into(),
                expected_cost: 2.5,
            }),
            ..Decision::new("ask")
        });
        let text = serde_json::to_string(&prediction).unwrap();
        let end = r#""decision":{"action":"ask","expected_cost":2.0,"runner_up":{"action":"ham","expected_cost":2.5}}}"#;
        assert!(text.ends_with(end), "{text}");
        let read: Prediction<'static> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, prediction);
        assert_eq!(prediction.clone().into_owned(), prediction);
        assert_eq!(prediction.decision_at(0).unwrap().action, "ask");
        assert_eq!(prediction.decision_at(1), None);
    }
}
