//! What do rules, and the clauses they are made of, bring and cost?

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::{MatchBuffers, Query, RuleMatcher, RuleSet, RulesError};
use crate::corpus::Document;
use crate::text::Analyzer;

/// Measures rules on labelled documents.
///
/// A clause is what `OR` joins at the top of a rule; its parts are what `AND` joins there. The hits of a
/// rule that no other clause finds are those a clause alone brings. The documents that the rule misses
/// and that one part alone keeps away would come back if the part were dropped.
///
/// ```
/// use calibrant::corpus::Document;
/// use calibrant::rules::{RuleAudit, RuleSet};
/// use calibrant::text::Analyzer;
/// let document = |text: &str, label: &str| Document::new(text).label(label);
/// let rules: RuleSet = "oil: crude OR oil AND NOT palm".parse()?;
/// let audit = RuleAudit::new(&rules, &Analyzer::default())?;
/// let counts = audit.count(&[
///     document("crude oil", "oil"),
///     document("oil rises", "oil"),
///     document("palm oil", "food"),
///     document("crude words", "food"),
/// ]);
/// let oil = &audit.report(&counts).rules[0];
/// assert_eq!((oil.hits, oil.right, oil.documents), (3, 2, 2)); // by hand
/// assert_eq!((oil.clauses[0].alone_right, oil.clauses[0].alone_wrong), (0, 1)); // crude words
/// let not_palm = &oil.clauses[1].parts[1];
/// assert_eq!((not_palm.kept_right, not_palm.kept_wrong), (0, 1)); // palm oil
/// # Ok::<(), calibrant::rules::RulesError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RuleAudit {
    rules: RuleSet,
    /// Matches the parts of all clauses of all rules, one after the other.
    matcher: RuleMatcher,
}

/// What was counted over some documents; counts of batches can be merged in any order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditCounts {
    documents: u64,
    labels: BTreeMap<String, u64>,
    of_rule: Vec<Sides>,
    of_clause: Vec<Sides>,
    of_clause_alone: Vec<Sides>,
    of_part: Vec<Sides>,
}

/// Documents of the category, and others.
type Sides = [u64; 2];

/// What rules did on labelled documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RulesReport {
    /// Documents looked at.
    pub documents: u64,
    /// Every rule, in the order of the file.
    pub rules: Vec<RuleReport>,
    /// Labels that no rule speaks for, with their documents.
    pub labels_without_rule: Vec<(String, u64)>,
    /// Categories that no document has.
    pub categories_without_documents: Vec<String>,
}

/// How one rule did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleReport {
    /// Its category.
    pub category: String,
    /// Documents of the category.
    pub documents: u64,
    /// Documents that match.
    pub hits: u64,
    /// Documents that match and are of the category.
    pub right: u64,
    /// `right / hits`; absent without hits.
    pub precision: Option<f64>,
    /// `right / documents`; absent without documents.
    pub recall: Option<f64>,
    /// `2 right / (hits + documents)`; absent where there are neither.
    pub f1: Option<f64>,
    /// What `OR` joins at the top.
    pub clauses: Vec<ClauseReport>,
}

/// What one clause of a rule brings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClauseReport {
    /// The clause.
    pub clause: String,
    /// Documents of the category that match it.
    pub right: u64,
    /// Other documents that match it.
    pub wrong: u64,
    /// Documents of the category that no other clause finds.
    pub alone_right: u64,
    /// Other documents that no other clause finds.
    pub alone_wrong: u64,
    /// What `AND` joins, if the clause is such.
    pub parts: Vec<PartReport>,
}

/// What one part of a clause keeps away.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartReport {
    /// The part.
    pub part: String,
    /// Documents of the category that would come back without it.
    pub kept_right: u64,
    /// Other documents that would come back without it.
    pub kept_wrong: u64,
}

/// What `AND` joins in a clause; the clause itself if it is nothing such.
fn parts_of(clause: &Query) -> &[Query] {
    match clause {
        Query::And(parts) => parts,
        clause => std::slice::from_ref(clause),
    }
}

impl RuleAudit {
    /// Prepares the rules.
    pub fn new(rules: &RuleSet, analyzer: &Analyzer) -> Result<Self, RulesError> {
        // Mistakes are named by category here; the parts have the same words.
        RuleMatcher::new(rules, analyzer)?;
        let clauses = rules.rules().iter().flat_map(|rule| rule.query.clauses());
        let parts: Vec<&Query> = clauses.flat_map(parts_of).collect();
        let matcher = RuleMatcher::of_queries(&parts, &rules.fields(), analyzer)
            .map_err(|(_, error)| error)?;
        Ok(Self {
            rules: rules.clone(),
            matcher,
        })
    }

    /// Matches a batch of documents.
    pub fn count(&self, documents: &[Document]) -> AuditCounts {
        let rules = self.rules.rules();
        let clause_count = rules.iter().map(|rule| rule.query.clauses().len()).sum();
        let mut counts = AuditCounts {
            of_rule: vec![[0; 2]; rules.len()],
            of_clause: vec![[0; 2]; clause_count],
            of_clause_alone: vec![[0; 2]; clause_count],
            of_part: vec![[0; 2]; self.matcher.rule_count()],
            ..AuditCounts::default()
        };
        let rule_of: HashMap<&str, usize> = self.rules.categories().zip(0..).collect();
        let mut buffers = MatchBuffers::default();
        let mut strengths = vec![0.0; self.matcher.rule_count()];
        let mut is_of = vec![false; rules.len()];
        for document in documents {
            counts.documents += 1;
            is_of.fill(false);
            for label in &document.labels {
                *counts.labels.entry(label.clone()).or_default() += 1;
                if let Some(&rule) = rule_of.get(label.as_str()) {
                    is_of[rule] = true;
                }
            }
            let text = document.content.as_text().unwrap_or_default();
            let record = document.content.as_record();
            let asked = record.map_or(&[][..], |record| &record.asked);
            self.matcher
                .strengths_into(text, asked, &mut buffers, &mut strengths);
            let (mut clause, mut part) = (0, 0);
            for (number, rule) in rules.iter().enumerate() {
                let side = usize::from(!is_of[number]);
                let first_part = part;
                let mut hits = Vec::new();
                for written in rule.query.clauses() {
                    let end = part + parts_of(written).len();
                    if strengths[part..end].iter().all(|&strength| strength > 0.0) {
                        hits.push(clause);
                    }
                    (clause, part) = (clause + 1, end);
                }
                for &hit in &hits {
                    counts.of_clause[hit][side] += 1;
                }
                match hits.as_slice() {
                    [] => for_each_keeper(rule.query.clauses(), first_part, &strengths, |part| {
                        counts.of_part[part][side] += 1;
                    }),
                    [alone] => counts.of_clause_alone[*alone][side] += 1,
                    _ => {}
                }
                counts.of_rule[number][side] += u64::from(!hits.is_empty());
            }
        }
        counts
    }

    /// Puts counts in words.
    pub fn report(&self, counts: &AuditCounts) -> RulesReport {
        let documents_of = |label: &str| counts.labels.get(label).copied().unwrap_or(0);
        let at = |list: &[Sides], number: usize| list.get(number).copied().unwrap_or_default();
        let (mut clause_number, mut part_number) = (0, 0);
        let mut clause_report = |clause: &Query| {
            let [right, wrong] = at(&counts.of_clause, clause_number);
            let [alone_right, alone_wrong] = at(&counts.of_clause_alone, clause_number);
            let first = part_number;
            let parts = parts_of(clause);
            (clause_number, part_number) = (clause_number + 1, first + parts.len());
            let parts = parts.iter().zip(first..).map(|(part, number)| {
                let [kept_right, kept_wrong] = at(&counts.of_part, number);
                PartReport {
                    part: part.to_string(),
                    kept_right,
                    kept_wrong,
                }
            });
            ClauseReport {
                clause: clause.to_string(),
                right,
                wrong,
                alone_right,
                alone_wrong,
                // A clause that is no AND has nothing to drop but itself.
                parts: match clause {
                    Query::And(_) => parts.collect(),
                    _ => Vec::new(),
                },
            }
        };
        let mut rules = Vec::with_capacity(self.rules.rules().len());
        for (number, rule) in self.rules.rules().iter().enumerate() {
            let [right, wrong] = at(&counts.of_rule, number);
            let (documents, hits) = (documents_of(&rule.category), right + wrong);
            rules.push(RuleReport {
                category: rule.category.clone(),
                documents,
                hits,
                right,
                precision: share(right, hits),
                recall: share(right, documents),
                f1: share(2 * right, hits + documents),
                clauses: rule
                    .query
                    .clauses()
                    .iter()
                    .map(&mut clause_report)
                    .collect(),
            });
        }
        let has_rule: HashSet<&str> = self.rules.categories().collect();
        RulesReport {
            documents: counts.documents,
            labels_without_rule: counts
                .labels
                .iter()
                .filter(|(label, _)| !has_rule.contains(label.as_str()))
                .map(|(label, &documents)| (label.clone(), documents))
                .collect(),
            categories_without_documents: rules
                .iter()
                .filter(|rule| rule.documents == 0)
                .map(|rule| rule.category.clone())
                .collect(),
            rules,
        }
    }
}

impl AuditCounts {
    /// Adds what was counted over other documents by the same audit.
    pub fn merge(&mut self, other: &Self) {
        self.documents += other.documents;
        for (label, documents) in &other.labels {
            *self.labels.entry(label.clone()).or_default() += documents;
        }
        add(&mut self.of_rule, &other.of_rule);
        add(&mut self.of_clause, &other.of_clause);
        add(&mut self.of_clause_alone, &other.of_clause_alone);
        add(&mut self.of_part, &other.of_part);
    }
}

/// Calls `visit` with each part that alone keeps its clause from matching.
fn for_each_keeper(
    clauses: &[Query],
    first_part: usize,
    strengths: &[f32],
    mut visit: impl FnMut(usize),
) {
    let mut start = first_part;
    for clause in clauses {
        let end = start + parts_of(clause).len();
        let mut missing = (start..end).filter(|&part| strengths[part] == 0.0);
        if let (Some(part), None) = (missing.next(), missing.next()) {
            visit(part);
        }
        start = end;
    }
}

fn add(own: &mut Vec<Sides>, other: &[Sides]) {
    if own.len() < other.len() {
        own.resize(other.len(), [0; 2]);
    }
    for (own, other) in own.iter_mut().zip(other) {
        own[0] += other[0];
        own[1] += other[1];
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Content;

    fn documents(rows: &[(&str, &[&str])]) -> Vec<Document> {
        rows.iter()
            .map(|(text, labels)| Document {
                id: None,
                content: Content::Text((*text).to_owned()),
                labels: labels.iter().map(|&label| label.to_owned()).collect(),
                labels_were_list: true,
                weight: 1.0,
                group: None,
                amounts: Vec::new(),
                line: 1,
                row: 0,
            })
            .collect()
    }

    const ROWS: [(&str, &[&str]); 7] = [
        ("crude oil", &["oil"]),
        ("oil barrel", &["oil", "ship"]),
        ("palm oil", &["food"]),
        ("olive oil", &["food"]),
        ("palm oil barrel", &["oil"]),
        ("crude", &[]),
        ("gas", &["oil"]),
    ];

    fn report(rules: &str, cut: usize) -> RulesReport {
        let rules: RuleSet = rules.parse().unwrap();
        let audit = RuleAudit::new(&rules, &Analyzer::default()).unwrap();
        let all = documents(&ROWS);
        let mut counts = audit.count(&all[..cut]);
        counts.merge(&audit.count(&all[cut..]));
        audit.report(&counts)
    }

    #[test] // Counted by hand over the seven rows.
    fn clauses_and_parts_are_charged_with_what_they_do() {
        let report = report(
            "oil: oil AND NOT palm AND NOT olive OR crude\nmoon: cheese",
            3,
        );
        assert_eq!(report.documents, 7);
        let oil = &report.rules[0];
        // Hits: crude oil, oil barrel, crude.
        assert_eq!((oil.documents, oil.hits, oil.right), (4, 3, 2));
        assert_eq!((oil.precision, oil.recall), (Some(2.0 / 3.0), Some(0.5)));
        assert_eq!(oil.f1, Some(4.0 / 7.0));
        let clause = &oil.clauses[0];
        assert_eq!(clause.clause, "oil AND NOT palm AND NOT olive");
        assert_eq!((clause.right, clause.wrong), (2, 0));
        assert_eq!((clause.alone_right, clause.alone_wrong), (1, 0));
        let kept: Vec<(u64, u64)> = clause
            .parts
            .iter()
            .map(|part| (part.kept_right, part.kept_wrong))
            .collect();
        // Without `oil`: gas. Without `NOT palm`: palm oil and palm oil barrel. Without `NOT olive`: olive oil.
        assert_eq!(kept, [(1, 0), (1, 1), (0, 1)]);
        let crude = &oil.clauses[1];
        assert_eq!((crude.alone_right, crude.alone_wrong), (0, 1));
        assert!(crude.parts.is_empty());
        let moon = &report.rules[1];
        assert_eq!((moon.precision, moon.recall, moon.f1), (None, None, None));
        assert_eq!(report.categories_without_documents, ["moon"]);
        assert_eq!(
            report.labels_without_rule,
            [("food".to_owned(), 2), ("ship".to_owned(), 1)]
        );
    }

    #[test]
    fn how_documents_are_divided_into_batches_leaves_no_trace() {
        let rules = "oil: oil AND barrel OR crude\nfood: palm OR olive AND oil";
        for cut in 0..=ROWS.len() {
            assert_eq!(report(rules, cut), report(rules, 0));
        }
    }

    #[test]
    fn a_rule_of_one_clause_alone_brings_all_its_hits() {
        let report = report("oil: oil", 0);
        let clause = &report.rules[0].clauses[0];
        assert_eq!((clause.right, clause.wrong), (3, 2));
        assert_eq!((clause.alone_right, clause.alone_wrong), (3, 2));
    }
}
