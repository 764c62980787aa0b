//! Pages for a browser, made of the library's figures and tables.

use std::path::Path;

use calibrant::calibration::ScoreScale;
use calibrant::corpus::Source;
use calibrant::evaluation::StatedEnds;
use calibrant::jobs::{
    CompareReport, Evaluated, ExpectedReport, MeasuredScores, PriorReport, SuspectList,
    tried_calibrations,
};
use calibrant::pipeline::{Model, ScoreCalibrator, ScoreCurve};
use calibrant::plot::{
    Block, Figure, LogOddsPlot, ReliabilityPlot, ReliabilitySeries, Section, Table, log_odds_plot,
    page, reliability_diagram,
};
use calibrant::report::{
    ClassScores, ExpectedPage, Report, ReportInput, ScoreFit, SystemReliability,
    differences_section, reliability_section,
};
use pyo3::PyResult;

use crate::raise::Raise;

/// Mistakes that are told with their texts.
pub(crate) const SHOWN_MISTAKES: usize = 12;
/// Classes whose scores are shown: the most frequent ones of the training documents.
pub(crate) const SHOWN_CLASSES: usize = 6;

const RELIABILITY_BINS: usize = 15;
/// Texts of suspects are cut after so many characters.
const SHOWN_TEXT: usize = 400;
/// A page with more rows than this is slow to open.
const MOST_ROWS: usize = 2_000;

fn decimal(number: f64) -> String {
    format!("{number:.4}")
}

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section {
        heading: heading.to_owned(),
        blocks,
    }
}

fn table(header: &[&str], rows: Vec<Vec<String>>) -> Block {
    Block::Table(Table {
        caption: String::new(),
        header: header.iter().map(|&name| name.to_owned()).collect(),
        rows,
    })
}

/// The name of a file without its folder.
fn file_name(source: &Source) -> String {
    let name = source.name();
    let file = Path::new(&name).file_name();
    file.map_or_else(|| name.clone(), |file| file.to_string_lossy().into_owned())
}

/// What was measured, on what.
pub(crate) fn facts(model: Option<&Model>, name: &str, test: &Source) -> Vec<(String, String)> {
    let test = file_name(test);
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let Some(model) = model else {
        return vec![
            fact("probabilities", name.to_owned()),
            fact("tested on", test),
        ];
    };
    let summary = model.summary();
    let learned = format!(
        "{} documents, {} features, {}",
        summary.documents,
        summary.features,
        model.learner_name()
    );
    vec![
        fact("model", name.to_owned()),
        fact("learned from", learned),
        fact("tested on", test),
    ]
}

/// The report of a model or a table on a test set.
pub(crate) fn evaluation(
    mut evaluated: Evaluated<'_>,
    name: &str,
    facts: Vec<(String, String)>,
    made: &str,
) -> PyResult<String> {
    let scores = std::mem::take(&mut evaluated.scores);
    let ends = evaluated.report.stated_ends.iter();
    let mut notes: Vec<String> = ends.flat_map(StatedEnds::sentences).collect();
    let prior = evaluated.report.prior.as_ref();
    notes.extend(prior.and_then(PriorReport::sentence));
    let report = Report::new(ReportInput {
        title: format!("Evaluation of {name}"),
        facts,
        notes: notes.iter().map(|note| format!("{note}.")).collect(),
        forecasts: &evaluated.forecasts,
        evaluation: &evaluated.report.evaluation,
        scores,
        made: Some(made.to_owned()),
        answers: evaluated.report.answered.clone(),
        mistakes: evaluated.mistakes.clone(),
        other: evaluated.report.other.clone(),
    });
    Ok(report.map_err(Raise::raise)?.to_html())
}

/// What a model expects of documents without labels.
pub(crate) fn expected(report: &ExpectedReport, name: &str, made: &str) -> String {
    let classes: Vec<(String, usize, f64)> = report
        .classes
        .iter()
        .map(|class| (class.label.clone(), class.decided, class.expected))
        .collect();
    let notes = report.prior.iter().filter_map(|prior| prior.sentence());
    let notes: Vec<String> = notes.map(|note| format!("{note}.")).collect();
    let page = ExpectedPage {
        title: &format!("What {name} expects"),
        made,
        notes: &notes,
        documents: report.documents,
        errors: (report.expected_errors, report.deviation),
        held_out_accuracy: report.held_out_accuracy,
        answers: &report.answered,
        decision_curves: &report.decision_curves,
        classes: &classes,
    };
    page.to_html()
}

/// Several systems side by side.
pub(crate) fn comparison(report: &CompareReport, systems: &[SystemReliability]) -> String {
    let comparison = &report.comparison;
    let heading = format!(
        "{} systems on {} documents ({}). A star marks the best of a column; a difference counts as significant where p < {}.",
        comparison.systems.len(),
        comparison.documents,
        comparison.task,
        comparison.level
    );
    let marked = |loss: &calibrant::evaluation::MarkedLoss| {
        format!("{:.5}{}", loss.mean, if loss.best { " *" } else { "" })
    };
    let rows = comparison.systems.iter().map(|system| {
        vec![
            system.name.clone(),
            marked(&system.log_loss),
            marked(&system.brier),
            format!(
                "{}{}",
                system.error_count,
                if system.errors.best { " *" } else { "" }
            ),
            decimal(system.micro_f1),
            decimal(system.macro_f1),
            decimal(system.ece),
            decimal(system.ece_of_perfect),
            system.auc.map_or_else(String::new, decimal),
        ]
    });
    let header = [
        "system",
        "log loss",
        "Brier",
        "errors",
        "micro F1",
        "macro F1",
        "ECE",
        "ECE of a perfect one",
        "AUC",
    ];
    let summary = vec![Block::Paragraph(heading), table(&header, rows.collect())];
    let pairs = comparison.pairs.iter().map(|pair| {
        let interval = pair.log_loss.bootstrap.as_ref();
        vec![
            format!("{} − {}", pair.first, pair.second),
            format!("{:+.5}", pair.log_loss.difference),
            interval.map_or_else(String::new, |b| {
                format!("{:+.5} to {:+.5}", b.lower, b.upper)
            }),
            format!("{:.2e}", pair.log_loss.sign.p_value),
            format!("{:+.5}", pair.brier.difference),
            format!("{:.2e}", pair.errors.sign.p_value),
        ]
    });
    let header = [
        "pair",
        "log loss",
        "interval",
        "sign test",
        "Brier",
        "errors, McNemar",
    ];
    let pairs = vec![table(&header, pairs.collect())];
    page(
        "Systems compared",
        &[
            section("Systems", summary),
            reliability_section(comparison, systems),
            differences_section(comparison),
            section("Pairs", pairs),
        ],
    )
}

/// A calibrator of scores, before and after.
pub(crate) fn calibration(
    calibrator: &ScoreCalibrator,
    measured: &MeasuredScores,
    notes: &[String],
) -> PyResult<String> {
    let summary = calibrator.summary();
    let mut short = vec![Block::Numbers(vec![
        ("log loss before".into(), decimal(measured.before.log_loss)),
        ("log loss after".into(), decimal(measured.after.log_loss)),
        ("ECE before".into(), decimal(measured.before.ece)),
        ("ECE after".into(), decimal(measured.after.ece)),
    ])];
    let notes = notes.iter();
    short.extend(notes.map(|note| Block::Paragraph(format!("Note: {note}."))));
    let before_after = [
        (
            "log loss",
            measured.before.log_loss,
            measured.after.log_loss,
        ),
        ("Brier score", measured.before.brier, measured.after.brier),
        ("ECE", measured.before.ece, measured.after.ece),
    ];
    let rows = before_after.map(|(name, before, after)| {
        vec![
            name.to_owned(),
            format!("{before:.5}"),
            format!("{after:.5}"),
        ]
    });
    let mut figures = vec![reliability(calibrator, measured)?];
    figures.extend(curve(calibrator, measured));
    let tried = tried_calibrations(calibrator);
    let tried = tried.iter().map(|tried| {
        let shown = |number: Option<f64>| number.map_or("–".to_owned(), |n| format!("{n:.5}"));
        let chosen = if tried.chosen { "chosen" } else { "" };
        vec![
            tried.method.to_owned(),
            shown(tried.log_loss),
            tried
                .weight
                .map_or_else(|| chosen.to_owned(), |weight| format!("weight {weight:.2}")),
        ]
    });
    let header = ["method", "cross-validated log loss", ""];
    let sections = [
        section("In short", short),
        section(
            "Before and after",
            vec![
                table(&["", "before", "after"], rows.to_vec()),
                Block::Figures(figures),
            ],
        ),
        section("Which method", vec![table(&header, tried.collect())]),
    ];
    Ok(page(
        &format!("Calibration by {}", summary.method),
        &sections,
    ))
}

/// Stated and observed, before and after.
fn reliability(calibrator: &ScoreCalibrator, measured: &MeasuredScores) -> PyResult<Figure> {
    let [before, after] = &measured.forecasts;
    let mut series = Vec::new();
    for (name, forecasts) in [("before", before), ("after", after)] {
        let points = match calibrator.is_binary() {
            true => forecasts.class_points(1),
            false => forecasts.calibration_points(),
        };
        let points = points.map_err(Raise::raise)?;
        series.push(ReliabilitySeries::new(name, &points, RELIABILITY_BINS));
    }
    let stated = match calibrator.is_binary() {
        true => format!("the probability of `{}`", calibrator.classes()[1]),
        false => "the probability of the most probable class".to_owned(),
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

/// The curve itself over what was counted, where there is one score.
fn curve(calibrator: &ScoreCalibrator, measured: &MeasuredScores) -> Option<Figure> {
    let ScoreCurve::OneScore(curve) = calibrator.curve() else {
        return None;
    };
    let forecasts = &measured.forecasts[1];
    let weights = forecasts.weights.as_deref().unwrap_or_default();
    let labelled = measured.scores.iter().zip(forecasts.labels.iter());
    let examples = labelled.zip(weights).map(|((&score, labels), &weight)| {
        let score = calibrator.scale().apply(score);
        (score, labels.contains(&1), weight)
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
            "The curve from score to log-odds of “{class}” ({method}), over log-odds counted in bins of the measured examples with their 95 % intervals."
        ),
    })
}

/// Labels that are probably wrong.
pub(crate) fn suspects(name: &str, list: &SuspectList) -> String {
    let about = format!(
        "{} suspect labels in {} distinct documents; at most about {:.0} of these are wrong by the model's own count (read a sample again to know).",
        list.suspects.len(),
        list.documents,
        list.at_most
    );
    let key = list.suspects.first();
    let key = key.map_or("row", |first| first.key.column());
    let rows = list.suspects.iter().take(MOST_ROWS).map(|suspect| {
        let text: String = suspect.text.chars().take(SHOWN_TEXT).collect();
        vec![
            suspect.key.text().into_owned(),
            format!("{} → {}", suspect.given, suspect.likely),
            format!(
                "{:.3} → {:.3}",
                suspect.given_probability, suspect.likely_probability
            ),
            suspect.words.join(", "),
            text,
        ]
    });
    let header = [
        key,
        "given → likelier",
        "probabilities",
        "words for it",
        "text",
    ];
    page(
        &format!("Suspect labels in {name}"),
        &[
            section("", vec![Block::Paragraph(about)]),
            section("The list", vec![table(&header, rows.collect())]),
        ],
    )
}
