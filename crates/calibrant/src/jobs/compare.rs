//! Which of several systems is better, and is the difference more than luck?

use std::collections::BTreeMap;

use serde::Serialize;

use super::systems::{Answers, System};
use crate::decision::{CostEntry, DecisionCosts};
use crate::evaluation::{
    CompareSettings, Comparison, CostsOfDocuments, EvaluationError, Forecasts, LedgerNote,
    StatedEnds, compare_groups, compare_with_costs,
};

/// What was found; as JSON what `compare --json` prints.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CompareReport {
    /// Measures and tests.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Labels of the test documents that the systems do not know, with how many documents have them.
    pub unknown_labels: BTreeMap<String, usize>,
    /// Documents that could not be measured because their only label is unknown (one label per document).
    pub documents_left_out: usize,
    /// Malformed rows that were skipped.
    pub bad_rows: u64,
    /// What was done about stated zeros and ones, by the name of the system; models state none.
    pub stated_ends: BTreeMap<String, StatedEnds>,
    /// How many of the documents are copies of others; zero where no model reads them.
    pub copies: usize,
    /// Whether documents are in groups that were asked for.
    #[serde(skip)]
    pub grouped: bool,
    /// About how many of the documents models had learned from, where there is a sign of any.
    pub learned_from: BTreeMap<String, usize>,
    /// How often the test set was evaluated before; null without a ledger.
    pub ledger: Option<LedgerNote>,
}

/// Holds systems against each other by what [`ask_systems`](super::ask_systems) found, and by what their decisions cost where
/// `costs` are written.
pub fn compare_systems(
    systems: &[System],
    answers: Answers,
    costs: &[CostEntry],
    settings: &CompareSettings,
) -> Result<CompareReport, EvaluationError> {
    let names = systems.iter().map(|system| system.name.as_str());
    let named: Vec<(&str, &Forecasts)> = names.clone().zip(&answers.forecasts).collect();
    let documents = &answers.documents;
    let groups = documents.together();
    let comparison = match (costs.is_empty(), named.first()) {
        (false, Some((_, first))) => {
            let names = first.class_names.iter().map(String::as_str);
            let costs = DecisionCosts::new(costs, first.task, names)?;
            let costs = CostsOfDocuments {
                costs: &costs,
                amounts: &answers.amounts,
            };
            compare_with_costs(&named, &groups, costs, settings)?
        }
        _ => compare_groups(&named, &groups, settings)?,
    };
    let owned = names.map(str::to_owned);
    let learned = owned.clone().zip(&answers.known);
    let learned = learned.filter_map(|(name, known)| Some((name, known.learned_from()?)));
    let ends = owned.zip(answers.ends);
    Ok(CompareReport {
        comparison,
        documents_left_out: answers.left_out,
        bad_rows: answers.read.bad_row_count,
        stated_ends: ends
            .filter_map(|(name, ends)| Some((name, ends?)))
            .collect(),
        copies: documents.copies(),
        grouped: !documents.groups.is_empty(),
        learned_from: learned.collect(),
        unknown_labels: answers.unknown_labels,
        ledger: None,
    })
}
