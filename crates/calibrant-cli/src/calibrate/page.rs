//! The report of a calibration as a page.

use calibrant::plot::{
    Block, Figure, ReliabilityPlot, ReliabilitySeries, Section, Table, page, reliability_diagram,
};

use super::report::{Measured, Report, heading, measures, tried};
use crate::error::CliError;
use crate::table::decimal;

const RELIABILITY_BINS: usize = 15;

pub(super) fn render(report: &Report<'_>, measured: &Measured) -> Result<String, CliError> {
    let calibrator = report.calibrator;
    let summary = calibrator.summary();
    let [before, after] = &measured.forecasts;
    let series = [("before", before), ("after", after)]
        .into_iter()
        .map(|(name, forecasts)| {
            let points = forecasts.calibration_points()?;
            Ok(ReliabilitySeries::new(name, &points, RELIABILITY_BINS))
        })
        .collect::<Result<Vec<_>, CliError>>()?;
    let stated = if calibrator.is_binary() {
        format!("the probability of `{}`", calibrator.classes()[1])
    } else {
        "the probability of the likeliest class".to_owned()
    };
    let figure = Figure {
        svg: reliability_diagram(&ReliabilityPlot {
            title: "Stated and observed".into(),
            description: format!(
                "For groups of examples, {stated} as it was stated against the share that came true, before and after calibration."
            ),
            series,
        }),
        caption: format!(
            "Across: {stated}, in groups of equal size. Up: how often it came true, with its 95 % interval. \
             Calibrated forecasts lie on the diagonal."
        ),
    };
    let sections = [
        Section {
            heading: "In short".into(),
            blocks: vec![
                Block::Numbers(vec![
                    ("log loss before".into(), decimal(measured.before.log_loss)),
                    ("log loss after".into(), decimal(measured.after.log_loss)),
                    ("ECE before".into(), decimal(measured.before.ece)),
                    ("ECE after".into(), decimal(measured.after.ece)),
                ]),
                Block::Paragraph(sentence(&heading(measured))),
            ],
        },
        Section {
            heading: "Before and after".into(),
            blocks: vec![
                Block::Table(Table {
                    caption: String::new(),
                    header: ["", "before", "after", ""].map(str::to_owned).to_vec(),
                    rows: measures(calibrator, measured)
                        .into_iter()
                        .map(|(name, before, after, remark)| {
                            vec![name.to_owned(), before, after, remark]
                        })
                        .collect(),
                }),
                Block::Figures(vec![figure]),
            ],
        },
        Section {
            heading: "Which method".into(),
            blocks: vec![Block::Table(Table {
                caption: format!(
                    "Fitted to {} examples. A flexible method is chosen only where it is better by more than the \
                     standard error of the difference.",
                    summary.examples
                ),
                header: ["method", "cross-validated log loss", "margin"]
                    .map(str::to_owned)
                    .to_vec(),
                rows: tried(calibrator)
                    .iter()
                    .map(|tried| {
                        vec![
                            tried.method.to_owned(),
                            format!("{:.5}", tried.log_loss),
                            tried.shown_margin(),
                        ]
                    })
                    .collect(),
            })],
        },
    ];
    Ok(page(
        &format!("Calibration by {}", summary.method),
        &sections,
    ))
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
