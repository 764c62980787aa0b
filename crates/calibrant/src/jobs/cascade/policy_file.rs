//! A policy as a file, and how it is followed.

use std::collections::HashMap;
use std::sync::Arc;

use calibrant_calibration::named;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use super::{CascadeJobError, SourceAnswers};
use crate::decision::{CascadeReport, CascadeStep};
use crate::pipeline::Model;
use crate::saved::{
    self, Saveable, SavedFileError, SavedKind, SavedProblem, read_text, saved_in_files,
    text_to_bytes,
};

/// What kind of source it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A model of texts.
    Model,
    /// A table of answers.
    Table,
    /// A person.
    Person,
}

named! {
    SourceKind, "a kind of source";
    Model = "model", "A model of texts";
    Table = "table", "A table of answers";
    Person = "person", "A person";
}

/// A source of answers, as a policy remembers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySource {
    /// Its name.
    pub name: String,
    /// What it costs to ask it about one document.
    pub cost: f64,
    /// What it is.
    pub kind: SourceKind,
    /// Of a model: a hash (BLAKE3) of all that it is made of, as it was when the policy was certified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// About how many of the documents a model had learned from: a few at most. Absent for other sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<usize>,
}

/// What names a model in policies: any change to it gives another.
pub(super) fn fingerprint(model: &Model) -> Result<String, SavedFileError> {
    Ok(blake3::hash(&model.to_bytes()?).to_hex().to_string())
}

/// Who answers what, with what was certified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// The sources, in the order in which they are asked.
    pub sources: Vec<PolicySource>,
    /// The policy, and what is known of it.
    pub report: CascadeReport,
    /// The version of calibrant that made it.
    pub calibrant_version: String,
}

saved_in_files!(PolicyFile, "policy");

impl Saveable for PolicyFile {
    const KIND: SavedKind = SavedKind::Policy;

    fn write(&self) -> Result<Vec<u8>, SavedProblem> {
        Ok(text_to_bytes(Self::KIND, &saved::describe(self)?))
    }

    fn read(map: &Arc<Mmap>) -> Result<Self, SavedProblem> {
        let policy: Self =
            serde_json::from_str(read_text(Self::KIND, map)?).map_err(saved::unreadable)?;
        let rules = &policy.report.policy;
        let fits = policy.sources.len() == rules.rules.len()
            && rules.tiers.len() == rules.rules.len()
            && !rules.rules.is_empty();
        match fits {
            true => Ok(policy),
            false => Err(SavedProblem::damaged(
                "sources and rules do not belong together",
            )),
        }
    }
}

/// A policy that is followed for one document after another.
#[derive(Debug, Clone)]
pub struct PolicyInUse<'p> {
    policy: &'p PolicyFile,
    /// The source that the model is.
    model: usize,
    answers: HashMap<usize, SourceAnswers>,
}

impl PolicyFile {
    /// With a model that plays the part of the source of this name; without one, that of the only model among the sources, else of the first source.
    pub fn with_model(&self, name: Option<&str>) -> Result<PolicyInUse<'_>, CascadeJobError> {
        let model = match name {
            Some(name) => self.number(name)?,
            None => {
                let kind = |source: &PolicySource| source.kind == SourceKind::Model;
                self.sources.iter().position(kind).unwrap_or(0)
            }
        };
        Ok(PolicyInUse {
            policy: self,
            model,
            answers: HashMap::new(),
        })
    }

    fn number(&self, name: &str) -> Result<usize, CascadeJobError> {
        let found = self.sources.iter().position(|source| source.name == name);
        found.ok_or_else(|| {
            let sources: Vec<&str> = self.sources.iter().map(|s| s.name.as_str()).collect();
            CascadeJobError::NoSource {
                name: name.to_owned(),
                sources: sources.join(", "),
            }
        })
    }
}

impl PolicyInUse<'_> {
    /// Checks that the model is the one with which the policy was certified, where the policy knows it.
    pub fn check_model(&self, model: &Model) -> Result<(), CascadeJobError> {
        let source = &self.policy.sources[self.model];
        match &source.model {
            Some(own) if *own != fingerprint(model)? => Err(CascadeJobError::OtherModel {
                name: source.name.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// With what another source said.
    pub fn answers(mut self, name: &str, answers: SourceAnswers) -> Result<Self, CascadeJobError> {
        let number = self.policy.number(name)?;
        self.answers.insert(number, answers);
        Ok(self)
    }

    /// The decision about a document: the label of the first source that is sure enough, or `ask NAME` where the next source has not been
    /// asked yet.
    pub fn decide(&self, document: &str, label: &str, confidence: f64) -> String {
        let rules = &self.policy.report.policy;
        let mut step = rules.first();
        // Each source is asked once at most.
        for _ in 0..=self.policy.sources.len() {
            let (tier, sure) = match step {
                CascadeStep::Ask(tier) => (tier, false),
                CascadeStep::Answer(tier) => (tier, true),
            };
            let said = match tier == self.model {
                true => Some((Some(label), Some(confidence))),
                false => self
                    .answers
                    .get(&tier)
                    .and_then(|answers| answers.of(document)),
            };
            let Some((answer, confidence)) = said else {
                return format!("ask {}", self.policy.sources[tier].name);
            };
            if sure {
                return answer.unwrap_or_default().to_owned();
            }
            let confidence = confidence.unwrap_or(0.0);
            step = rules.after(tier, confidence);
        }
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::corpus::{ReadOptions, Source};
    use crate::decision::{CascadeSettings, CascadeTier, certify_cascade};

    fn policy() -> PolicyFile {
        let sure = |place: usize| place.is_multiple_of(2);
        let tier = |name: &str, cost, every: usize| CascadeTier {
            name: name.to_owned(),
            cost,
            confidences: (0..600)
                .map(|place| if sure(place / every) { 0.99 } else { 0.5 })
                .collect(),
            right: (0..600).map(|place| sure(place / every)).collect(),
        };
        let tiers = [
            tier("model", 0.01, 1),
            tier("llm", 0.1, 2),
            CascadeTier::truth("person", 1.0),
        ];
        let report = certify_cascade(&tiers, &CascadeSettings::default()).unwrap();
        let source = |name: &str, kind| PolicySource {
            name: name.to_owned(),
            cost: 0.1,
            kind,
            model: None,
            learned: None,
        };
        PolicyFile {
            sources: vec![
                source("model", SourceKind::Model),
                source("llm", SourceKind::Table),
                source("person", SourceKind::Person),
            ],
            report,
            calibrant_version: "0".to_owned(),
        }
    }

    #[test]
    fn a_policy_is_saved_and_opened_and_damage_is_noticed() {
        let policy = policy();
        let bytes = policy.to_bytes().unwrap();
        assert_eq!(PolicyFile::from_bytes(&bytes).unwrap(), policy);
        let mut damaged = bytes.clone();
        let end = damaged.len() - 20;
        damaged[end] ^= 1;
        assert!(PolicyFile::from_bytes(&damaged).is_err());
        assert!(PolicyFile::from_bytes(b"{}").is_err());
        assert!(crate::pipeline::Model::from_bytes(&bytes).is_err());
        let fewer = PolicyFile {
            sources: Vec::new(),
            ..policy
        };
        assert!(PolicyFile::from_bytes(&fewer.to_bytes().unwrap()).is_err());
    }

    #[test]
    fn a_document_goes_to_the_first_that_is_sure() {
        let policy = policy();
        let alone = policy.with_model(None).unwrap();
        assert_eq!(alone.decide("a", "spam", 0.995), "spam");
        assert_eq!(alone.decide("a", "spam", 0.6), "ask llm");
        let table = Source::bytes(
            "llm.csv",
            *b"id,label,logprob\na,ham,-0.001\nb,ham,-2\nc,,\n",
        );
        let read = |sure| {
            SourceAnswers::read(&table, &ReadOptions::default(), "id", sure, &NoProgress).unwrap()
        };
        let both = policy.with_model(Some("model")).unwrap();
        let both = both.answers("llm", read(true)).unwrap();
        assert_eq!(both.decide("a", "spam", 0.6), "ham");
        assert_eq!(both.decide("b", "spam", 0.6), "ask person");
        assert_eq!(both.decide("c", "spam", 0.6), "ask person");
        assert_eq!(both.decide("d", "spam", 0.6), "ask llm");
        assert!(policy.with_model(Some("oracle")).is_err());
    }

    #[test]
    fn tables_of_answers_are_checked() {
        let read = |text: &'static str, sure| {
            let table = Source::bytes("llm.csv", text.as_bytes());
            SourceAnswers::read(&table, &ReadOptions::default(), "id", sure, &NoProgress)
        };
        let said = |text, sure| read(text, sure).unwrap_err().to_string();
        assert!(said("id,probability\na,1\n", true).contains("`label`"));
        assert!(said("id,label\na,x\n", true).contains("`probability`"));
        assert!(read("id,label\na,x\n", false).is_ok());
        assert!(
            said("id,label,probability\na,x,2\n", true).contains("line 2, field `probability`")
        );
        assert!(said("id,label,logprob\na,x,0.1\n", true).contains("`0.1`"));
        assert!(said("id,label,probability\na,x,1\na,y,0\n", true).contains("comes twice"));
        let ranked = read("id,rank,label,probability\na,1,x,0.7\na,2,y,0.3\n", true).unwrap();
        assert_eq!(ranked.of("a"), Some((Some("x"), Some(0.7))));
    }
}
