//! Calibration diagrams of single classes, as the paper shows them for abalone.

use calibrant::Probability;
use calibrant::evaluation::Forecasts;
use calibrant::plot::{Block, Figure, ReliabilitySeries, Section, Table, page, reliability_panel};

use super::measure::Outcome;

/// Classes that are shown, the most frequent.
const SHOWN: usize = 8;
const BINS: usize = 10;

/// One table with all its ways, for the page.
pub(super) fn section(name: &str, outcomes: &[(&'static str, Outcome)]) -> Section {
    let row = |(way, outcome): &(&'static str, Outcome)| {
        let measures = &outcome.measures;
        let mut cells = vec![(*way).to_owned()];
        cells.extend(
            [
                measures.log_loss,
                measures.brier,
                measures.classwise_ece,
                measures.classwise_ece_of_perfect,
                measures.classwise_ece_raw.unwrap_or(measures.classwise_ece),
                measures.accuracy,
            ]
            .map(|value| format!("{value:.4}")),
        );
        cells.push(format!("{:.2}", measures.microseconds_per_row));
        let decode = measures.decode_microseconds_per_row;
        cells.push(decode.map_or_else(String::new, |decode| format!("{decode:.2}")));
        cells
    };
    let header = [
        "way",
        "log loss",
        "Brier",
        "classwise ECE",
        "of a perfect forecaster",
        "before normalisation",
        "accuracy",
        "µs a row",
        "of these decoding",
    ];
    let mut blocks = vec![Block::Table(Table {
        caption: String::new(),
        header: header.map(str::to_owned).to_vec(),
        rows: outcomes.iter().map(row).collect(),
    })];
    for wanted in ["least_squares", "margin"] {
        let Some((_, outcome)) = outcomes.iter().find(|(way, _)| *way == wanted) else {
            continue;
        };
        let title = match wanted {
            "margin" => "Sigmoid of the margin",
            _ => "Least squares, as they are",
        };
        let description = format!(
            "{name}: stated probability of a class and the share of rows that belong to it, for the most frequent classes"
        );
        blocks.push(Block::Paragraph(format!("{title}. {description}.")));
        let panel = |series: &ReliabilitySeries| Figure {
            svg: reliability_panel(series, &description),
            caption: String::new(),
        };
        let series = series(&outcome.forecasts);
        blocks.push(Block::Panels(series.iter().map(panel).collect()));
    }
    Section {
        heading: name.to_owned(),
        blocks,
    }
}

/// The most frequent classes, each against the rest.
fn series(forecasts: &Forecasts) -> Vec<ReliabilitySeries> {
    let class_count = forecasts.class_names.len();
    let mut counts = vec![0usize; class_count];
    for labels in forecasts.labels.iter() {
        labels.iter().for_each(|&class| counts[class as usize] += 1);
    }
    let mut classes: Vec<usize> = (0..class_count).collect();
    classes.sort_by_key(|&class| std::cmp::Reverse(counts[class]));
    classes
        .into_iter()
        .take(SHOWN)
        .map(|class| {
            let rows = forecasts.probabilities.chunks_exact(class_count);
            let points: Vec<(Probability, bool, f64)> = rows
                .zip(forecasts.labels.iter())
                .map(|(row, labels)| (row[class], labels.contains(&(class as u32)), 1.0))
                .collect();
            ReliabilitySeries::new(&forecasts.class_names[class], &points, BINS)
        })
        .collect()
}

/// The whole page.
pub(super) fn whole(learner: &str, sections: Vec<Section>) -> String {
    let text = format!(
        "Probabilities of classes from error-correcting output codes over {learner}: a sigmoid of the margin, \
         as Sobolev, Vezhnevets & Vezhnevets propose, beside the least squares of Kong & Dietterich. \
         Every code has ten columns for each doubling of the classes; curves are fitted on three folds. Points on the \
         diagonal are calibrated; the band shows where nine of ten perfect forecasters would lie."
    );
    let mut all = vec![Section {
        heading: String::new(),
        blocks: vec![Block::Paragraph(text)],
    }];
    all.extend(sections);
    page("Probabilities from output codes", &all)
}
