//! The table for people.

use std::io::{self, Write};

use super::measure::{Mark, Outcome};
use super::paper;
use crate::scored::BinaryProblem;

/// One corpus and classifier: our numbers, and the paper's where it has them.
pub(super) fn block(
    out: &mut dyn Write,
    corpus: &str,
    classifier: &str,
    problems: &[BinaryProblem],
    outcomes: &[Outcome],
) -> io::Result<()> {
    let decisions: usize = problems.iter().map(|p| p.test_scores.len()).sum();
    let beside_the_paper = corpus == "reuters-10";
    writeln!(out, "\n{corpus}, {classifier}: {decisions} decisions")?;
    write!(
        out,
        "{:<22} {:>12}   {:>12} {:>10}   {:>7}  ",
        "method", "log loss", "in bits", "squared", "errors"
    )?;
    if beside_the_paper {
        write!(out, "   {:>30}", "Bennett's Table 1")?;
    }
    writeln!(out)?;
    for outcome in outcomes {
        let marks = outcome.marks;
        write!(
            out,
            "{:<22} {:>12.2}{:<2} {:>12.2} {:>10.2}{:<2} {:>7}{:<2}",
            outcome.method,
            outcome.log_loss_nats,
            sign(marks.map(|marks| marks.log_loss)),
            outcome.log_loss_bits,
            outcome.squared_error,
            sign(marks.map(|marks| marks.squared_error)),
            outcome.errors,
            sign(marks.map(|marks| marks.errors)),
        )?;
        if beside_the_paper
            && let Some((log_loss, squared, errors)) = paper::table_1(classifier, outcome.method)
        {
            let number = |value: Option<f64>| value.map_or("-".into(), |v| format!("{v:.2}"));
            write!(
                out,
                "   {:>12} {:>9} {:>7}",
                number(log_loss),
                number(squared),
                errors
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// One star for the best of the paper's methods, two if it is significantly better than all of them.
fn sign(mark: Option<Mark>) -> &'static str {
    match mark {
        Some(Mark::SignificantlyBest) => "**",
        Some(Mark::Best) => "*",
        Some(Mark::NotBest) | None => "",
    }
}
