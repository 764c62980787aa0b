//! The report of a calibration as a page.

use calibrant::calibration::ScoreScale;
use calibrant::jobs::{MeasuredScores, tried_calibrations};
use calibrant::pipeline::{ScoreCurve, TriedMethod};
use calibrant::plot::{
    Block, Figure, LogOddsPlot, ReliabilityPlot, ReliabilitySeries, Section, Table, log_odds_plot,
    page, reliability_diagram,
};
use calibrant::report::{ClassScores, ScoreFit};

use super::report::{Report, heading, measures, shown_loss, shown_margin};
use crate::error::CliError;
use crate::table::decimal;

const RELIABILITY_BINS: usize = 15;

pub(super) fn render(report: &Report<'_>, measured: &MeasuredScores) -> Result<String, CliError> {
    let calibrator = report.calibrator;
    let summary = calibrator.summary();
    let mut figures = vec![reliability(report, measured)?];
    figures.extend(curve(report, measured));
    let whose = match calibrator.outputs() {
        [positive] => format!("the probability of “{positive}”"),
        _ => format!(
            "the probability of each of {} classes",
            calibrator.classes().len()
        ),
    };
    let notes = report.notes.iter();
    let notes = notes.map(|note| Block::Paragraph(format!("Note: {note}.")));
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
                Block::Paragraph(sentence(&heading(calibrator, measured))),
                Block::Paragraph(sentence(&format!("the scores state {whose}"))),
            ]
            .into_iter()
            .chain(notes)
            .collect(),
        },
        Section {
            heading: "Before and after".into(),
            blocks: vec![
                Block::Table(Table {
                    caption: String::new(),
                    header: ["", "before", "after", ""].map(str::to_owned).to_vec(),
                    rows: measures(calibrator, measured)
                        .into_iter()
                        .map(|(name, before, after, remark)| vec![name, before, after, remark])
                        .collect(),
                }),
                Block::Figures(figures),
            ],
        },
        Section {
            heading: "Which method".into(),
            blocks: vec![Block::Table(Table {
                caption: match calibrator.is_identity() {
                    true => "Nothing was fitted.".to_owned(),
                    false => format!("Fitted to {} examples.{}", summary.examples, choice(report)),
                },
                header: ["method", "cross-validated log loss", "margin"]
                    .map(str::to_owned)
                    .to_vec(),
                rows: tried_calibrations(calibrator)
                    .iter()
                    .map(|tried| {
                        vec![
                            tried.method.to_owned(),
                            shown_loss(tried),
                            shown_margin(tried),
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

/// Stated and observed, before and after.
fn reliability(report: &Report<'_>, measured: &MeasuredScores) -> Result<Figure, CliError> {
    let calibrator = report.calibrator;
    let [before, after] = &measured.forecasts;
    let series = [("before", before), ("after", after)]
        .into_iter()
        .map(|(name, forecasts)| {
            let points = match calibrator.is_binary() {
                true => forecasts.class_points(1)?,
                false => forecasts.calibration_points()?,
            };
            Ok(ReliabilitySeries::new(name, &points, RELIABILITY_BINS))
        })
        .collect::<Result<Vec<_>, CliError>>()?;
    let stated = if calibrator.is_binary() {
        format!("the probability of `{}`", calibrator.classes()[1])
    } else {
        "the probability of the most probable class".to_owned()
    };
    Ok(Figure {
        svg: reliability_diagram(&ReliabilityPlot {
            title: "Stated and observed".into(),
            description: format!(
                "For groups of examples, {stated} as stated against the observed share, before and after calibration."
            ),
            series,
        }),
        caption: format!(
            "Across: {stated}, in groups of equal size. Up: the observed share. Calibrated forecasts lie on the diagonal up to chance: 95 of 100 perfect forecasters stay inside the band, and points outside it are hollow."
        ),
    })
}

/// What the table of methods shows, and why the choice is what it is.
fn choice(report: &Report<'_>) -> String {
    let tried = &report.calibrator.summary().tried;
    let [first, _, ..] = &tried[..] else {
        return " No other method was tried.".to_owned();
    };
    if tried.iter().any(|tried| tried.weight.is_some()) {
        return " The methods are pooled with the weights of least cross-validated log loss; a method with a weight below 5 % is left out."
            .to_owned();
    }
    let chosen = &report.calibrator.summary().method;
    let least = tried
        .iter()
        .filter_map(|tried| Some((&tried.method, tried.log_loss?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(chosen, |(method, _)| method);
    let kept = if *chosen == first.method {
        "comes first"
    } else {
        "took the lead"
    };
    let outcome = if least == chosen {
        "has the least loss".to_owned()
    } else {
        format!("keeps the lead: {least} has a smaller loss, but not significantly")
    };
    format!(
        " The chosen method is listed first. Methods are tried in the order {}, and one takes the lead only if it is significantly better than the current leader: by two standard errors of the difference, or, for two densities, by 2.5 nats over all examples. Here {chosen} {kept} and {outcome}.",
        names(tried)
    )
}

fn names(tried: &[TriedMethod]) -> String {
    let names: Vec<&str> = tried.iter().map(|tried| tried.method.as_str()).collect();
    names.join(", ")
}

/// The curve itself over what was counted, where there is one score.
fn curve(report: &Report<'_>, measured: &MeasuredScores) -> Option<Figure> {
    let calibrator = report.calibrator;
    let ScoreCurve::OneScore(curve) = calibrator.curve() else {
        return None;
    };
    let forecasts = &measured.forecasts[1];
    let weights = forecasts.weights.as_deref().unwrap_or_default();
    let examples = measured
        .scores
        .iter()
        .zip(forecasts.labels.iter())
        .zip(weights)
        .map(|((&score, labels), &weight)| {
            (calibrator.scale().apply(score), labels.contains(&1), weight)
        });
    let method = calibrator.summary().method.replace('_', " ");
    let class = &calibrator.classes()[1];
    let fit = ScoreFit::new(&ClassScores {
        class: class.clone(),
        examples: examples.collect(),
        calibrators: vec![(method.clone(), Box::new(curve))],
    })?;
    let x_label = match calibrator.scale() {
        ScoreScale::Number => "score",
        _ => "log-odds of the stated probability",
    };
    Some(Figure {
        svg: log_odds_plot(&LogOddsPlot {
            title: "The curve".into(),
            description: format!(
                "Log-odds of {class} for each score as counted in bins, and the curve of {method}."
            ),
            x_label: x_label.into(),
            points: fit.log_odds,
            curves: fit.curves,
        }),
        caption: format!(
            "The curve from score to log-odds of “{class}” ({method}), as it is saved, over log-odds counted in bins of \
             the measured examples with their 95 % intervals. Arrows are bins where nothing, or everything, belongs."
        ),
    })
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
