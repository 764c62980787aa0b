//! How good are rules by themselves?

use crate::Progress;
use crate::corpus::{LabelNeed, ReadError, ReadOptions, ReadSummary, Source, read_batches};
use crate::rules::{AuditCounts, RuleAudit, RuleSet, RulesError, RulesReport};
use crate::text::Analyzer;

/// Why rules cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckRulesError {
    /// A rule has no meaning.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The documents could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Matches rules with labelled documents: how often each rule, each of its clauses and each part of a clause is right. Fields that
/// rules ask for are read beside those that `options` name.
pub fn check_rules(
    rules: &RuleSet,
    analyzer: &Analyzer,
    source: &Source,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<(RulesReport, ReadSummary), CheckRulesError> {
    let audit = RuleAudit::new(rules, analyzer)?;
    let mut options = options.clone();
    options.fields.asked = rules.fields();
    options.labels_required = LabelNeed::Required;
    let mut counts = AuditCounts::default();
    let read = read_batches(
        source,
        &options,
        progress,
        |documents| audit.count(&documents),
        |batch| counts.merge(&batch),
    )?;
    Ok((audit.report(&counts), read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;

    #[test]
    fn hits_are_right_where_the_label_is_the_category() {
        let rules: RuleSet = "food: bread OR milk\n".parse().unwrap();
        let table = *b"label,text\nfood,bread and butter\nfood,cheese\nweather,milk-white fog\n";
        let source = Source::bytes("a.csv", table);
        let options = ReadOptions::default();
        let analyzer = Analyzer::default();
        let (report, read) =
            check_rules(&rules, &analyzer, &source, &options, &NoProgress).unwrap();
        assert_eq!((read.rows, report.documents), (3, 3));
        let rule = &report.rules[0];
        assert_eq!((rule.documents, rule.hits, rule.right), (2, 2, 1));
    }
}
