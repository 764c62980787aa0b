//! The comparison for a terminal of 100 columns.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use super::comparison::{Comparison, Forecaster};
use super::numbers::{MEASURES, measure_rows, probability, share, whole};
use super::samples::Sample;
use super::stated::{BIN_COUNT, StatedBin};
use crate::error::CliError;
use crate::table::table;

/// Columns for the text of a letter.
const WIDTH: usize = 88;
/// Classes of a letter that are shown.
const CLASSES_SHOWN: usize = 3;

pub(super) fn show(
    out: &mut impl Write,
    comparison: &Comparison,
    report: &Path,
) -> Result<(), CliError> {
    writeln!(
        out,
        "A simulated helpdesk inbox: {} messages to learn from, {} others to test on, {} classes.\n\
         The simulation knows the true probability of every class of every message.\n",
        whole(comparison.train_letters),
        whole(comparison.test_letters),
        comparison.classes.len()
    )?;
    show_measures(out, comparison)?;
    if let [raw, calibrated, ..] = comparison.forecasters.as_slice() {
        show_bins(out, raw, calibrated)?;
    }
    if let Some(sample) = comparison.samples.first() {
        show_sample(out, sample, &comparison.forecasters)?;
    }
    writeln!(
        out,
        "\nwrote {} (diagrams: open it in a browser)\n\
         next: calibrant fit letters.csv -o letters.calibrant   (columns `text` and `label`)",
        report.display()
    )?;
    Ok(())
}

fn show_measures(out: &mut impl Write, comparison: &Comparison) -> Result<(), CliError> {
    let mut rows = table(&MEASURES, 1);
    for row in measure_rows(comparison) {
        rows.add_row(row);
    }
    write_table(out, &rows)?;
    writeln!(
        out,
        "excess: nats per message lost by not stating the true probabilities (mean divergence)\n\
         if perfect, band: the ECE of a perfect forecaster of the same probabilities: its mean, and the\n\
         value that it stays below in 95 of 100 cases\n\
         * margins are not probabilities; they are read as log-odds here for comparison only"
    )?;
    Ok(())
}

fn show_bins(
    out: &mut impl Write,
    raw: &Forecaster,
    calibrated: &Forecaster,
) -> Result<(), CliError> {
    writeln!(
        out,
        "\nStated against true: the probability that naive Bayes stated for its predicted class, the true\n\
         probability, and how often it was right\n"
    )?;
    let header = [
        "\nstated",
        "raw:\nmessages",
        "\nmean",
        "\ntrue",
        "\nright",
        "calibrated:\nmessages",
        "\nmean",
        "\ntrue",
        "\nright",
    ];
    let mut rows = table(&header, 1);
    for number in 0..BIN_COUNT {
        let mut cells = vec![StatedBin::name(number)];
        for forecaster in [raw, calibrated] {
            if let Some(bin) = forecaster.stated_against_true.get(number) {
                cells.extend([
                    whole(bin.letters),
                    share(bin.stated),
                    share(bin.truth),
                    share(bin.right),
                ]);
            }
        }
        rows.add_row(cells);
    }
    write_table(out, &rows)
}

/// A letter with what is true of it and what is stated by those who state probabilities.
fn show_sample(
    out: &mut impl Write,
    sample: &Sample,
    forecasters: &[Forecaster],
) -> Result<(), CliError> {
    writeln!(out, "\n{} (it is `{}`):\n", sample.why, sample.label)?;
    for line in wrapped(&sample.text, WIDTH) {
        writeln!(out, "  | {line}")?;
    }
    writeln!(out)?;
    let shown = || {
        forecasters
            .iter()
            .enumerate()
            .filter(|(_, forecaster)| forecaster.states_probabilities)
    };
    let mut header = vec!["", "true"];
    header.extend(shown().map(|(_, forecaster)| forecaster.name));
    let mut rows = table(&header, 1);
    for class in sample.probabilities.iter().take(CLASSES_SHOWN) {
        let mut cells = vec![class.class.clone(), probability(class.truth)];
        cells.extend(
            shown().filter_map(|(number, _)| class.stated.get(number).copied().map(probability)),
        );
        rows.add_row(cells);
    }
    write_table(out, &rows)
}

/// A table without the blanks that pad its last column.
fn write_table(out: &mut impl Write, table: &impl Display) -> Result<(), CliError> {
    for line in table.to_string().lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Lines of at most `width` characters, broken between words; empty lines are dropped.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let length = line.chars().count() + 1 + word.chars().count();
            if !line.is_empty() && length > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(
            wrapped("Hello,\n\nthe goat ate it", 10),
            ["Hello,", "the goat", "ate it"]
        );
        assert_eq!(wrapped("unbreakable word", 4), ["unbreakable", "word"]);
        assert!(wrapped(" \n", 4).is_empty());
    }
}
