//! `calibrant rules`, and rules files for `calibrant fit`

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use calibrant::corpus::{Fields, LabelNeed};
use calibrant::jobs::{CheckRulesError, check_rules};
use calibrant::rules::{RuleReport, RuleSet, RulesError, RulesReport};

use crate::arguments::{RulesArguments, RulesCheckArguments, RulesCommand};
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::output::{print_json, stdout};
use crate::progress::TerminalProgress;
use crate::table::{decimal, table};

/// No rules file is longer; see [`RuleSet`].
const LONGEST: u64 = (1 << 20) + 1;

/// A rules file that could be read.
pub(crate) struct RulesFile {
    pub(crate) text: String,
    pub(crate) set: RuleSet,
}

/// Reads a rules file.
pub(crate) fn read(path: &Path) -> Result<RulesFile, CliError> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    read.map_err(|error| {
        CliError::new(format!("cannot read the rules file `{shown}`: {error}"))
            .hint("it holds lines like `wheat: wheat OR \"winter crop\"`")
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        CliError::new(format!(
            "{shown}: not valid UTF-8 after byte {}",
            error.utf8_error().valid_up_to()
        ))
        .hint("convert the file, for example with iconv")
    })?;
    match text.parse() {
        Ok(set) => Ok(RulesFile { text, set }),
        Err(error) => Err(mistake(Some(path), &error)),
    }
}

/// A mistake in a rules file.
pub(crate) fn mistake(path: Option<&Path>, error: &RulesError) -> CliError {
    match path {
        Some(path) => CliError::new(format!("{}, {error}", path.display())),
        None => CliError::new(format!("the rules, {error}")),
    }
}

pub(crate) fn run(arguments: &RulesArguments) -> Result<(), CliError> {
    match &arguments.command {
        RulesCommand::Check(arguments) => check(arguments),
    }
}

fn check(arguments: &RulesCheckArguments) -> Result<(), CliError> {
    let RulesFile { set, .. } = read(&arguments.rules)?;
    let fields = arguments.reading.fields(&Fields::default());
    let options = arguments.reading.options(fields, LabelNeed::Required);
    let source = input::source(&arguments.file);
    let progress = TerminalProgress::default();
    let checked = check_rules(
        &set,
        &arguments.spelling.analyzer(),
        &source,
        &options,
        &progress,
    );
    let (report, read) = checked.map_err(|error| match error {
        CheckRulesError::Rules(error) => mistake(Some(&arguments.rules), &error),
        CheckRulesError::Read(error) => error.into(),
        error => CliError::new(error.to_string()),
    })?;
    warn_bad_rows(&read);
    if arguments.json {
        return print_json(&report);
    }
    let mut out = stdout();
    show(&mut out, &report)?;
    Ok(out.flush()?)
}

fn show(out: &mut impl Write, report: &RulesReport) -> Result<(), CliError> {
    writeln!(
        out,
        "{} rules on {} documents",
        report.rules.len(),
        report.documents
    )?;
    let headings = [
        "category",
        "documents",
        "hits",
        "right",
        "wrong",
        "precision",
        "recall",
        "F1",
    ];
    let mut rows = table(&headings, 1);
    let measure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), decimal);
    for rule in &report.rules {
        rows.add_row(vec![
            rule.category.clone(),
            rule.documents.to_string(),
            rule.hits.to_string(),
            rule.right.to_string(),
            (rule.hits - rule.right).to_string(),
            measure(rule.precision),
            measure(rule.recall),
            measure(rule.f1),
        ]);
    }
    writeln!(out, "\n{rows}")?;
    for rule in &report.rules {
        show_clauses(out, rule)?;
    }
    if !report.categories_without_documents.is_empty() {
        writeln!(
            out,
            "\nno document has the label: {}",
            report.categories_without_documents.join(", ")
        )?;
    }
    if !report.labels_without_rule.is_empty() {
        let labels: Vec<String> = report
            .labels_without_rule
            .iter()
            .map(|(label, documents)| format!("{label} ({documents})"))
            .collect();
        writeln!(out, "\nlabels without a rule: {}", labels.join(", "))?;
    }
    Ok(())
}

/// What each clause brings, and what its parts keep away.
fn show_clauses(out: &mut impl Write, rule: &RuleReport) -> Result<(), CliError> {
    writeln!(out, "\n{}", rule.category)?;
    let headings = ["clause", "right", "wrong", "alone right", "alone wrong"];
    let mut rows = table(&headings, 1);
    for clause in &rule.clauses {
        let numbers = [
            clause.right,
            clause.wrong,
            clause.alone_right,
            clause.alone_wrong,
        ];
        let cells = numbers.iter().map(u64::to_string);
        rows.add_row(std::iter::once(clause.clause.clone()).chain(cells));
        for part in &clause.parts {
            rows.add_row(vec![
                format!("  without `{}` come back", part.part),
                format!("+{}", part.kept_right),
                format!("+{}", part.kept_wrong),
                String::new(),
                String::new(),
            ]);
        }
    }
    writeln!(out, "{rows}")?;
    Ok(())
}
