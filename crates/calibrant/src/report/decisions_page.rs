//! Sections about acting: how much can be answered, what costs come to, what acting is worth, and documents of no class.

use super::answers::{AnsweredShare, AnsweredShares, DecisionCurve};
use super::first_screen::accuracy;
use super::html::{measure, paragraph, per_cent, section};
use crate::evaluation::{ActionCost, CostReport, OpenWorldReport};
use crate::plot::{
    AnsweredPlot, AnsweredPlotPoint, Block, Figure, LineChart, LineSeries, Section, Table,
    answered_plot, line_chart,
};

fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// How often the surest answers are right. `known` says that the truth is known.
pub(super) fn answered(answers: &AnsweredShares, known: bool) -> Section {
    let point = |share: &AnsweredShare| AnsweredPlotPoint {
        answered: share.answered,
        accuracy: share.accuracy.unwrap_or(f64::NAN),
        band: (share.lower, share.upper),
        stated: share.stated,
    };
    let caption = match known {
        true => {
            "The surest documents are answered first. The line is how often these answers are right here, the band what more documents like these \
             may show (95 %, for each share by itself); the dashed line what the probabilities promise."
        }
        false => {
            "The surest documents are answered first. The dashed line is how often these answers are right if the probabilities are, the band \
             what will then be seen in 95 of 100 such files."
        }
    };
    let figure = Figure {
        svg: answered_plot(&AnsweredPlot {
            title: "Right answers, by the share answered".to_owned(),
            description: caption.to_owned(),
            points: answers.curve.iter().map(point).collect(),
            band: match known {
                true => "95 % band".to_owned(),
                false => "95 % of such files".to_owned(),
            },
            accuracy: match known {
                true => "right here".to_owned(),
                false => String::new(),
            },
        }),
        caption: caption.to_owned(),
    };
    let [targets, shares] = answered_tables(answers, known);
    let mut blocks = vec![
        Block::Figures(vec![figure]),
        Block::Table(targets),
        Block::Table(shares),
    ];
    blocks.extend(answers.unknown_labels_sentence().map(paragraph));
    blocks.push(paragraph(
        "A threshold that was read off these documents looks a little better on them than it will be: the more so, the fewer there are.",
    ));
    section("How much can be answered by machine?", blocks)
}

/// At wanted accuracies, and at shares.
fn answered_tables(answers: &AnsweredShares, known: bool) -> [Table; 2] {
    let row = |share: &AnsweredShare| {
        let mut cells = vec![per_cent(share.answered)];
        cells.extend(share.accuracy.map(per_cent));
        let band = format!("{} to {}", per_cent(share.lower), per_cent(share.upper));
        cells.extend([band, per_cent(share.stated), measure(share.threshold)]);
        cells
    };
    let names: &[&str] = match known {
        true => &[
            "answered",
            "right",
            "95 % interval",
            "promised",
            "from probability",
        ],
        false => &[
            "answered",
            "95 % of such files",
            "promised",
            "from probability",
        ],
    };
    let shares = Table {
        caption: "If this share is answered by machine".to_owned(),
        header: header(names),
        rows: answers.shares.iter().map(row).collect(),
    };
    let targets = Table {
        caption: "If this accuracy is wanted".to_owned(),
        header: header(&["right", "can be answered", "from probability"]),
        rows: answers
            .targets
            .iter()
            .map(|target| {
                vec![
                    accuracy(target.accuracy),
                    target.answered.map_or_else(|| "–".to_owned(), per_cent),
                    target.threshold.map_or_else(|| "–".to_owned(), measure),
                ]
            })
            .collect(),
    };
    [targets, shares]
}

/// What the user's costs come to.
pub(super) fn costs(costs: &CostReport) -> Section {
    let row = |name: &str, cost: f64| vec![name.to_owned(), measure(cost)];
    let mut rows = vec![
        row("decide by expected cost", costs.mean_cost),
        row(
            "what the probabilities promised for that",
            costs.stated_mean_cost,
        ),
        row(
            "always the likeliest answer",
            costs.mean_cost_of_most_probable,
        ),
        vec![
            format!("always “{}”, the best single decision", costs.constant),
            measure(costs.mean_cost_of_constant),
        ],
        row("if the truth were known", costs.mean_cost_of_perfect),
    ];
    let place = rows.len() - 1;
    if let Some(best) = &costs.best_threshold {
        let name = format!(
            "the best threshold in hindsight, {}",
            measure(best.threshold)
        );
        rows.insert(place, vec![name, measure(best.mean_cost)]);
    }
    if let Some(asking) = costs.mean_cost_of_asking {
        rows.insert(place, row("never answer: always ask a person", asking));
    }
    let changed = match costs.changed {
        1 => "1 decision differs from the likeliest answer.".to_owned(),
        more => format!("{more} decisions differ from the likeliest answer."),
    };
    section(
        "What do decisions cost, with the costs that were given?",
        vec![
            Block::Table(Table {
                caption: "Mean cost".to_owned(),
                header: header(&["way to decide", "cost"]),
                rows,
            }),
            paragraph(changed),
            actions(costs),
        ],
    )
}

/// How often each action was taken, and what it cost.
fn actions(costs: &CostReport) -> Block {
    let shown = |cost: Option<f64>| cost.map_or_else(|| "–".to_owned(), measure);
    let row = |action: &ActionCost| {
        vec![
            action.action.clone(),
            action.decisions.to_string(),
            per_cent(action.share),
            shown(action.mean_cost),
            measure(action.mean_cost_if_always),
        ]
    };
    Block::Table(Table {
        caption: "What was decided".to_owned(),
        header: header(&["action", "decisions", "share", "mean cost", "if always"]),
        rows: costs.actions.iter().map(row).collect(),
    })
}

/// Documents of classes that the model does not know.
pub(super) fn open_world(report: &OpenWorldReport) -> Section {
    let rows = [
        ("of other classes, and noticed", report.caught),
        (
            "the same by a threshold on the largest probability",
            report.caught_by_largest_probability,
        ),
        ("of known classes, and lost", report.lost),
        (
            "right, of known documents that are kept",
            report.accuracy_of_kept,
        ),
        (
            "right, of known documents without the rule",
            report.accuracy_without,
        ),
    ];
    section(
        "Documents of none of the classes",
        vec![
            paragraph(format!(
                "{} documents are of classes that the model knows, {} of others.",
                report.known, report.unknown
            )),
            Block::Table(Table {
                caption: String::new(),
                header: header(&["documents", "share"]),
                rows: rows
                    .iter()
                    .map(|(name, share)| vec![(*name).to_owned(), per_cent(*share)])
                    .collect(),
            }),
        ],
    )
}

/// What acting on the probability of a class is worth.
pub(super) fn decision_curves(curves: &[DecisionCurve], of_all: bool) -> Section {
    let known = curves
        .iter()
        .flat_map(|curve| &curve.points)
        .any(|point| point.benefit.is_some());
    let promised = match known {
        true => " “Promised” is what the probabilities say without looking at labels.",
        false => " It is what the probabilities promise: no labels were read.",
    };
    let which = if of_all {
        ""
    } else {
        " Shown are the most frequent classes."
    };
    section(
        "What is acting on a probability worth?",
        vec![
            paragraph(format!(
                "Suppose that something is done with every document whose probability of the class is at least the threshold: who acts from 0.2 on holds \
                 a false alarm to be a quarter as bad as a hit is good. Upwards stands the net benefit, in hits per document after the false alarms are \
                 paid; acting always, and acting never (zero), stand beside it. The model helps where its line is the highest.{promised}{which}"
            )),
            Block::Figures(curves.iter().map(|curve| figure(curve, known)).collect()),
        ],
    )
}

fn figure(curve: &DecisionCurve, known: bool) -> Figure {
    let highest = curve
        .points
        .iter()
        .map(|point| point.benefit.unwrap_or(point.expected).max(point.expected))
        .fold(0.0, f64::max);
    // What lies far below zero is nobody's choice, and would press the rest together.
    let floor = -0.3 * highest;
    let line = |name: &str, of: &dyn Fn(&super::BenefitPoint) -> f64| LineSeries {
        name: name.to_owned(),
        points: curve
            .points
            .iter()
            .map(|point| (point.threshold, of(point)))
            .filter(|point| point.1 >= floor)
            .collect(),
    };
    let mut series = Vec::new();
    if known {
        series.push(line("by the probabilities", &|point| {
            point.benefit.unwrap_or(f64::NAN)
        }));
        series.push(line("promised", &|point| point.expected));
    } else {
        series.push(line("by the probabilities", &|point| point.expected));
    }
    series.push(line("always", &|point| point.accept_all));
    series.push(line("never", &|_| 0.0));
    Figure {
        svg: line_chart(&LineChart {
            title: format!("{}: net benefit", curve.label),
            description: format!(
                "Net benefit of acting on the probability of {} from a threshold on, beside acting always and never.",
                curve.label
            ),
            x_label: "threshold".to_owned(),
            y_label: "hits per document, net".to_owned(),
            series,
        }),
        caption: String::new(),
    }
}
