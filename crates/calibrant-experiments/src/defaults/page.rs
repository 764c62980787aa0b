//! The results as a page of Markdown.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::acceptance::{Draws, Row, RowKey, rows, statements};
use super::cell::Outcome;
use super::corpus::{About, Half};

const INTRODUCTION: &str = "\
# What the defaults give

Made by `bench/run defaults`; see [README.md](README.md#defaults) for how. Means over draws of training and test documents; log loss in nats per
document, or per decision if documents may have several labels. *ratio* is the default SVM's log loss over that of the scikit-learn
pipeline that is best in the row, with the standard error of the paired difference in per cent of it: below 1 favours calibrant. *ECE* is shown beside that of a perfect
forecaster of the same probabilities. *z* is the number of standard deviations by which errors exceed the expected number, in the
worst draw. *logistic*, *bayes* and *search* are the log losses of these options over the default SVM's. *CPU* is ours beside the peer's, fit and predictions, in seconds.
A dash means that it has not been run, and *draws* counts those completed by both sides.
";

/// The page for one program's outcomes.
pub(super) fn page(corpora: &[About], outcomes: &[Outcome], key: &str) -> String {
    let rows = rows(outcomes, key);
    let mut page = INTRODUCTION.to_owned();
    for (half, title, words) in [
        (
            Half::Reporting,
            "Corpora that report",
            "No constant was chosen on these. (SpamAssassin was behind here, which suggested choosing the cost of errors if classes are easy to separate; the method was then settled on questions made from the corpora that choose. The texts of debtags_b also occur in debian_sections, with other labels.)",
        ),
        (
            Half::Choosing,
            "Corpora that choose",
            "Constants were chosen on these, so their figures are optimistic.",
        ),
        (
            Half::Beside,
            "Beside",
            "20 Newsgroups as its authors split it, by date: the test posts are later, about other things. It is shown and chooses nothing.",
        ),
    ] {
        let names: Vec<&About> = corpora.iter().filter(|about| about.half == half).collect();
        let own: BTreeMap<&RowKey, &Row> = rows
            .iter()
            .filter(|((corpus, _, _), _)| names.iter().any(|about| about.name == *corpus))
            .collect();
        if own.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n## {title}\n\n{words}\n\n{}\n", described(&names));
        if half != Half::Beside {
            for statement in statements(&own) {
                let mark = match statement.holds {
                    Some(true) => "holds",
                    Some(false) => "**does not hold**",
                    None => "nothing to see yet",
                };
                let _ = writeln!(page, "- {} {mark}", statement.text);
            }
            page.push('\n');
        }
        table(&mut page, &own);
    }
    page
}

fn described(names: &[&About]) -> String {
    let each = names.iter().map(|about| {
        let several = if about.several {
            ", several a document"
        } else {
            ""
        };
        let (name, rows, classes) = (&about.name, about.rows, about.classes);
        format!("{name} ({rows} documents, {classes} classes{several})")
    });
    format!("{}.", each.collect::<Vec<String>>().join("; "))
}

fn table(page: &mut String, rows: &BTreeMap<&RowKey, &Row>) {
    page.push_str("| corpus | training | copies | draws | default SVM | best pipeline | | ratio | ± % | Brier | theirs | ECE | perfect | z | logistic | bayes | search | CPU | theirs |\n");
    page.push_str(
        "|---|---:|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for ((corpus, size, copies), row) in rows {
        let Some(svm) = row.ours.get("svm") else {
            continue;
        };
        let best = row.beside_best("svm");
        let of_best = |text: &dyn Fn(&super::acceptance::Pair) -> String| {
            best.as_ref().map_or("–".to_owned(), text)
        };
        let over_svm = |way: &str| {
            let pair = row.beside_own(way, "svm");
            pair.map_or("–".to_owned(), |pair| format!("{:.3}", pair.ratio()))
        };
        let cells = [
            corpus.clone(),
            size.to_string(),
            if *copies { "10 %" } else { "" }.to_owned(),
            of_best(&|pair| pair.draws.to_string()),
            best.as_ref().map_or_else(
                || format!("{:.4}", mean(svm, |m| m.0.log_loss)),
                |pair| format!("{:.4}", pair.ours),
            ),
            of_best(&|pair| pair.name.replace('_', " ")),
            of_best(&|pair| format!("{:.4}", pair.theirs)),
            of_best(&|pair| format!("{:.3}", pair.ratio())),
            of_best(&|pair| match pair.standard_error {
                Some(error) => format!("{:.1}", 100.0 * error / pair.theirs),
                None => "–".to_owned(),
            }),
            format!("{:.4}", mean(svm, |m| m.0.brier)),
            of_best(&|pair| format!("{:.4}", pair.brier.1)),
            format!("{:.4}", mean(svm, |m| m.0.ece)),
            format!("{:.4}", mean(svm, |m| m.0.ece_of_perfect)),
            format!("{:+.1}", worst_z(svm)),
            over_svm("logistic"),
            over_svm("naive_bayes"),
            over_svm("search"),
            format!("{:.2}", mean(svm, |m| m.1)),
            of_best(&|pair| format!("{:.2}", pair.cpu.1)),
        ];
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
}

fn mean(draws: &Draws, of: impl Fn(&(super::cell::Measures, f64)) -> f64) -> f64 {
    draws.values().map(of).sum::<f64>() / draws.len() as f64
}

fn worst_z(draws: &Draws) -> f64 {
    let z = draws.values().map(|(measures, _)| measures.z);
    z.fold(
        0.0,
        |worst: f64, z| if z.abs() > worst.abs() { z } else { worst },
    )
}
