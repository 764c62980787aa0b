//! The comparison for a terminal of 100 columns.

use std::io::Write;
use std::path::Path;

use super::comparison::{Comparison, Forecaster, Measures};
use super::samples::Sample;
use super::stated::{BIN_COUNT, StatedBin};
use crate::error::CliError;
use crate::table::{decimal, probability, table};

/// Columns for running text.
const WIDTH: usize = 92;
/// Classes of a letter that are shown.
const CLASSES_SHOWN: usize = 3;

pub(super) fn show(
    out: &mut impl Write,
    comparison: &Comparison,
    report: &Path,
) -> Result<(), CliError> {
    writeln!(
        out,
        "A simulated inbox: {} letters to learn from, {} others to test on, {} classes.",
        comparison.train_letters,
        comparison.test_letters,
        comparison.classes.len()
    )?;
    writeln!(
        out,
        "The simulation knows the true probability of every class of every letter.\n"
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
        "\nwrote {}: open it in a browser to see all this drawn",
        report.display()
    )?;
    writeln!(
        out,
        "next:  calibrant fit YOUR.csv -o model.calibrant   (with columns `text` and `label`)"
    )?;
    Ok(())
}

fn show_measures(out: &mut impl Write, comparison: &Comparison) -> Result<(), CliError> {
    let header = [
        "", "accuracy", "log loss", "excess", "Brier", "ECE", "by chance",
    ];
    let mut rows = table(&header, 1);
    let mut add = |name: &str, measures: &Measures| {
        rows.add_row(vec![
            name.to_owned(),
            decimal(measures.accuracy),
            decimal(measures.log_loss),
            decimal(measures.excess),
            decimal(measures.brier),
            decimal(measures.ece),
            decimal(measures.ece_of_perfect),
        ]);
    };
    for forecaster in &comparison.forecasters {
        let mark = if forecaster.states_probabilities {
            ""
        } else {
            " *"
        };
        add(
            &format!("{}{mark}", forecaster.name),
            &forecaster.measures,
        );
    }
    add("the truth itself", &comparison.truth);
    writeln!(out, "{rows}")?;
    writeln!(
        out,
        "excess: nats a letter lost against stating the truth; by chance: the ECE of a perfect forecaster"
    )?;
    writeln!(
        out,
        "* margins are no probabilities; they are read as log-odds for comparison only"
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
        "\nStated against true: letters by what naive Bayes said of its first choice\n"
    )?;
    writeln!(out, "{:15}{:^32}{:^32}", "", "raw", "calibrated")?;
    let header = [
        "stated", "letters", "said", "true", "right", "letters", "said", "true", "right",
    ];
    let mut rows = table(&header, 1);
    for number in 0..BIN_COUNT {
        let mut cells = vec![StatedBin::name(number)];
        for forecaster in [raw, calibrated] {
            let bin = &forecaster.stated_against_true[number];
            let mean = |value: Option<f64>| {
                value.map_or("–".to_owned(), |value| format!("{value:.3}"))
            };
            cells.extend([
                bin.letters.to_string(),
                mean(bin.stated),
                mean(bin.truth),
                mean(bin.right),
            ]);
        }
        rows.add_row(cells);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}

fn show_sample(
    out: &mut impl Write,
    sample: &Sample,
    forecasters: &[Forecaster],
) -> Result<(), CliError> {
    writeln!(out, "\n{}:\n", sample.why)?;
    for line in wrapped(&sample.text, WIDTH) {
        writeln!(out, "    {line}")?;
    }
    let mut header = vec!["", "true"];
    header.extend(forecasters.iter().map(|forecaster| forecaster.name));
    let mut rows = table(&header, 1);
    for class in sample.probabilities.iter().take(CLASSES_SHOWN) {
        let mut cells = vec![class.class.clone(), probability(class.truth)];
        cells.extend(class.stated.iter().map(|&stated| probability(stated)));
        rows.add_row(cells);
    }
    writeln!(out, "\n{rows}")?;
    writeln!(out, "It was drawn from `{}`.", sample.label)?;
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
