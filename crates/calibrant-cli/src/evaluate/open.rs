//! Test documents of classes that the model does not know.

use std::io::Write;

use calibrant::evaluation::OpenWorldReport;

use crate::error::CliError;
use crate::table::{decimal, table};

/// Why nothing is said of `other`.
pub(super) fn not_measured() -> String {
    "`other` is not measured: that needs documents of known and of unknown classes".to_owned()
}

pub(super) fn show(out: &mut impl Write, report: Option<&OpenWorldReport>) -> Result<(), CliError> {
    let Some(report) = report else {
        writeln!(out, "\n{}", not_measured())?;
        return Ok(());
    };
    writeln!(
        out,
        "\nnone of these: {} documents of known classes, {} of others",
        report.known, report.unknown
    )?;
    let mut rows = table(&["", "calibrant", "largest probability"], 1);
    rows.add_row(vec![
        "others caught".to_owned(),
        decimal(report.caught),
        decimal(report.caught_by_largest_probability),
    ]);
    rows.add_row(vec![
        "known lost".to_owned(),
        decimal(report.lost),
        decimal(report.lost),
    ]);
    rows.add_row(vec![
        "AUC".to_owned(),
        decimal(report.auc),
        decimal(report.auc_of_largest_probability),
    ]);
    writeln!(out, "{rows}")?;
    writeln!(
        out,
        "accuracy on known documents {} without `other`, {} on those that are kept",
        decimal(report.accuracy_without),
        decimal(report.accuracy_of_kept)
    )?;
    Ok(())
}
