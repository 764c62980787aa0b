//! The report as a page for a browser.

use super::calibration_table::calibration;
use super::decisions_page::{answered, costs, decision_curves, open_world};
use super::first_screen::first_screen;
use super::mistakes::worst_mistakes;
use super::{CLASS_COLUMNS, ClassCell, Report, ScoreFit};
use crate::Task;
use crate::evaluation::{ClassEvaluation, LossUnit};
use crate::plot::{
    Block, ConfusionPlot, CostPlot, Curve, DensityPlot, Figure, LogOddsPlot, PrecisionRecallPlot,
    PrecisionRecallSeries, ReliabilityPlot, ReliabilitySeries, Section, Table, confusion_plot,
    cost_plot, density_plot, log_odds_plot, page, precision_recall_plot, reliability_diagram,
    reliability_diagram_of_log_odds, reliability_panel,
};

/// Rows of the table of classes; of more classes the most frequent are listed.
const MOST_ROWS: usize = 300;

pub(super) fn render(report: &Report) -> String {
    let further = report.evaluation.further.as_ref();
    // What to do first, then whether to believe it, then details.
    let mut sections = vec![first_screen(report), answered(&report.answers, true)];
    sections.extend(further.and_then(|f| f.costs.as_ref()).map(costs));
    sections.extend(worst_mistakes(&report.mistakes));
    sections.push(mistakes(report));
    sections.extend(report.other.as_ref().map(open_world));
    sections.push(reliability(report));
    sections.push(decisions(report));
    if !report.decision_curves.is_empty() {
        let classes = report.evaluation.classes.len();
        let of_all = report.decision_curves.len() == classes || classes == 2;
        sections.push(decision_curves(&report.decision_curves, of_all));
    }
    sections.push(details(report));
    sections.extend(calibration(report));
    if report.class_reliability.len() > 1 {
        sections.push(classes_in_small(report));
    }
    if !report.scores.is_empty() {
        sections.push(scores(report));
    }
    sections.push(class_table(report));
    sections.push(measures_explained(report));
    page(&report.title, &sections)
}

pub(super) fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section {
        heading: heading.to_owned(),
        blocks,
    }
}

pub(super) fn paragraph(text: impl Into<String>) -> Block {
    Block::Paragraph(text.into())
}

fn number(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

/// Four digits that say something.
pub(super) fn measure(value: f64) -> String {
    if !value.is_finite() {
        "–".to_owned()
    } else if value != 0.0 && value.abs() < 0.000_1 {
        format!("{value:.6}")
    } else {
        format!("{value:.4}")
    }
}

/// Digits in groups of three.
pub(super) fn whole(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

pub(super) fn per_cent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn details(report: &Report) -> Section {
    let evaluation = &report.evaluation;
    let unit = match evaluation.log_loss_over {
        LossUnit::Documents => "document",
        LossUnit::Decisions => "decision",
    };
    let mut numbers = Vec::new();
    if let Some(accuracy) = evaluation.accuracy {
        numbers.push(number("accuracy", per_cent(accuracy)));
    } else {
        numbers.push(number("micro-F1", measure(evaluation.micro_f1)));
    }
    numbers.push(number("macro-F1", measure(evaluation.macro_f1)));
    let name = format!("log loss, nats per {unit}");
    numbers.push((name, measure(evaluation.log_loss)));
    numbers.push(number("Brier score", measure(evaluation.brier)));
    let name = format!(
        "ECE of {}; {} if perfect",
        match evaluation.task {
            Task::SingleLabel => "the first choice",
            Task::MultiLabel => "every decision",
        },
        measure(evaluation.ece_of_perfect)
    );
    numbers.push((name, measure(evaluation.ece)));
    let mut facts = report.facts.clone();
    facts.push(number("documents", whole(evaluation.documents)));
    facts.push(number(
        "decisions",
        format!("{} ({})", whole(evaluation.decisions), evaluation.task),
    ));
    facts.push(number(
        "wrong decisions",
        format!(
            "{} ({})",
            whole(evaluation.errors),
            per_cent(evaluation.errors as f64 / evaluation.decisions.max(1) as f64)
        ),
    ));
    let mut blocks = vec![Block::Numbers(numbers), paragraph(verdict(report))];
    blocks.push(Block::Table(Table {
        caption: String::new(),
        header: vec!["what was measured".to_owned(), String::new()],
        rows: facts
            .into_iter()
            .map(|(name, value)| vec![name, value])
            .collect(),
    }));
    section("All measures", blocks)
}

/// One or two sentences on whether the probabilities can be taken at their word.
fn verdict(report: &Report) -> String {
    let evaluation = &report.evaluation;
    let points = &report.reliability_by_log_odds.points;
    let surprising: Vec<_> = points
        .iter()
        .filter(|point| point.is_surprising())
        .collect();
    let high = surprising.iter().filter(|p| p.stated > p.observed).count();
    let way = if surprising.is_empty() {
        "."
    } else if 2 * high == surprising.len() {
        ", half of them too high, half too low."
    } else if 2 * high > surprising.len() {
        ", most of them because the stated probability is too high."
    } else {
        ", most of them because the stated probability is too low."
    };
    let error = if evaluation.ece <= 1.25 * evaluation.ece_of_perfect {
        "about as much as chance alone would show"
    } else if evaluation.ece <= 2.0 * evaluation.ece_of_perfect {
        "somewhat more than chance alone would show"
    } else {
        "more than chance alone would show"
    };
    let off = format!(
        "On average the stated probabilities are off by {}, {error} ({} on average).",
        measure(evaluation.ece),
        measure(evaluation.ece_of_perfect)
    );
    // One bin says no more than that.
    if points.len() < 2 {
        return off;
    }
    format!(
        "{off} Cut into {} bins of log-odds, {} {} outside the range of 95 % of perfect forecasters, where about {} would be by chance{way}",
        points.len(),
        surprising.len(),
        if surprising.len() == 1 { "is" } else { "are" },
        (points.len() as f64 / 20.0).ceil(),
    )
}

fn reliability(report: &Report) -> Section {
    let (what, heading) = match report.evaluation.task {
        Task::SingleLabel => (
            "the probability of each document's first choice",
            "When it says 0.8, is it right 8 times in 10?",
        ),
        Task::MultiLabel => (
            "the probability of every class for every document",
            "When it says 0.8, does it come true 8 times in 10?",
        ),
    };
    let figure = |title: &str, caption: &str, series: &ReliabilitySeries, by_log_odds: bool| {
        let plot = ReliabilityPlot {
            title: title.to_owned(),
            description: format!(
                "Reliability diagram of {what}: stated probability across, share that came true \
                 upwards. {}",
                told(series)
            ),
            series: vec![series.clone()],
        };
        Figure {
            svg: if by_log_odds {
                reliability_diagram_of_log_odds(&plot)
            } else {
                reliability_diagram(&plot)
            },
            caption: caption.to_owned(),
        }
    };
    section(
        heading,
        vec![
            paragraph(format!(
                "Each point gathers forecasts of about the same probability ({what}): across what was \
                 stated, upwards how often it came true. On the dashed diagonal both agree. A perfect \
                 forecaster misses it too, by chance: 95 of 100 such forecasters stay inside the band. \
                 Hollow points are outside. The bars below show how often which probability was stated; \
                 their heights are square roots, so that rare ones can be seen."
            )),
            Block::Figures(vec![
                figure(
                    "Stated and observed",
                    "Probabilities laid out evenly: the usual view.",
                    &report.reliability,
                    false,
                ),
                figure(
                    "Stated and observed, by log-odds",
                    "The same forecasts laid out by log-odds, which gives the small and the almost \
                     certain probabilities as much room as those in between.",
                    &report.reliability_by_log_odds,
                    true,
                ),
            ]),
        ],
    )
}

/// The points of a diagram in words.
pub(super) fn told(series: &ReliabilitySeries) -> String {
    let outside = series.points.iter().filter(|point| point.is_surprising());
    format!(
        "{} of {} points lie outside the band of a perfect forecaster.",
        outside.count(),
        series.points.len()
    )
}

fn classes_in_small(report: &Report) -> Section {
    let all = report.class_reliability.len() == report.evaluation.classes.len();
    let which = if all {
        "every class"
    } else {
        "the most frequent classes"
    };
    section(
        "Stated and observed, class by class",
        vec![
            paragraph(format!(
                "Reliability of {which}, each against the rest; the most frequent comes first. Stated probability \
                 across, share that came true upwards; bands as above."
            )),
            panels(&report.class_reliability),
        ],
    )
}

/// A small diagram for each series, as many side by side as there is room for.
pub(super) fn panels(series: &[ReliabilitySeries]) -> Block {
    let panel = |series: &ReliabilitySeries| {
        let description = format!(
            "Reliability diagram of {}: stated probability across, share that came true upwards. {}",
            series.name,
            told(series)
        );
        Figure {
            svg: reliability_panel(series, &description),
            caption: String::new(),
        }
    };
    Block::Panels(series.iter().map(panel).collect())
}

fn scores(report: &Report) -> Section {
    let mut figures = Vec::new();
    for fit in &report.scores {
        figures.push(densities(fit));
        figures.push(log_odds(fit));
    }
    section(
        "From scores to probabilities",
        vec![
            paragraph(
                "The figures named “scores” show how the scores of the documents that belong to the class, and of the \
                 others, are distributed; the steps are counted here, on documents that were not learned \
                 from, and the lines are what the calibrator holds to be true. A calibrator that knows no \
                 densities implies them: the line shows where the documents of a class would lie \
                 if its probabilities were right. Both areas are one, however many documents there are.",
            ),
            paragraph(
                "The figures named “log-odds by score” show the log-odds of belonging to the class for each score. The eye finds errors \
                 more easily here than in probabilities: a curve that leaves the intervals is wrong \
                 there. Arrows are bins in which no document belongs, or every one.",
            ),
            Block::Figures(figures),
        ],
    )
}

fn densities(fit: &ScoreFit) -> Figure {
    Figure {
        svg: density_plot(&DensityPlot {
            title: format!("{}: scores", fit.class),
            description: format!(
                "Densities of the scores of documents of {} and of the others, counted and fitted.",
                fit.class
            ),
            x_label: "score".to_owned(),
            groups: fit.densities.clone(),
        }),
        caption: String::new(),
    }
}

fn log_odds(fit: &ScoreFit) -> Figure {
    let names: Vec<&str> = fit.curves.iter().map(|curve| curve.name.as_str()).collect();
    Figure {
        svg: log_odds_plot(&LogOddsPlot {
            title: format!("{}: log-odds by score", fit.class),
            description: format!(
                "Counted log-odds of belonging to {} for each score, and the curves of {}.",
                fit.class,
                names.join(", ")
            ),
            x_label: "score".to_owned(),
            points: fit.log_odds.clone(),
            curves: fit.curves.clone(),
        }),
        caption: String::new(),
    }
}

fn decisions(report: &Report) -> Section {
    let (always_yes, always_no, x_label, costs) = match report.evaluation.task {
        Task::SingleLabel => (
            "accept every first choice",
            "accept none",
            "cost of passing on a right answer / of accepting a wrong one",
            "Suppose the first choice may be accepted, or the document passed on to a person. Where the ratio is small, \
             accepting a wrong answer is dear; where it is large, passing on what would have been right.",
        ),
        Task::MultiLabel => (
            "always yes",
            "always no",
            "cost of a miss / cost of a false alarm",
            "Where the ratio is small false alarms are dear, where it is large misses. Deciding by the probabilities means to \
             say yes from the probability 1/(1 + ratio) on.",
        ),
    };
    let cost_caption = format!(
        "What decisions cost, for every ratio of the two costs, as a share of what the cheaper of two \
         simple rules would: to decide alike everywhere. {costs} Below 1 the probabilities are worth \
         having; the distance to the dotted line is what better calibration could still save."
    );
    section(
        "What are the decisions worth?",
        vec![Block::Figures(vec![
            precision_and_recall(report),
            Figure {
                svg: cost_plot(&CostPlot {
                    title: "What mistakes cost".to_owned(),
                    description: cost_caption.clone(),
                    points: report.costs.clone(),
                    always_yes: always_yes.to_owned(),
                    always_no: always_no.to_owned(),
                    x_label: x_label.to_owned(),
                }),
                caption: cost_caption,
            },
        ])],
    )
}

fn precision_and_recall(report: &Report) -> Figure {
    let series = report.precision_recall.iter().map(|named| {
        let points = named.curve.points.iter();
        PrecisionRecallSeries {
            curve: Curve {
                name: format!("{}, {:.3}", named.name, named.curve.average_precision),
                points: points
                    .map(|point| (point.recall, point.precision))
                    .collect(),
            },
            decided: Some(named.decided),
        }
    });
    let rest = if report.precision_recall.len() > 1 {
        " Beside all decisions together stand the classes that are hardest to find, of those with \
         at least ten documents."
    } else {
        ""
    };
    let caption = format!(
        "How many of the right classes are found, and how many of the found are right, as the threshold \
         is lowered. The number is the average precision; markers are the decisions as \
         they are taken.{rest}"
    );
    Figure {
        svg: precision_recall_plot(&PrecisionRecallPlot {
            title: "Precision and recall".to_owned(),
            description: caption.clone(),
            series: series.collect(),
            chance: report
                .precision_recall
                .first()
                .map(|all| all.curve.prevalence),
        }),
        caption,
    }
}

fn mistakes(report: &Report) -> Section {
    let paired = match report.evaluation.task {
        Task::SingleLabel => "",
        Task::MultiLabel => {
            " A label that was missed is paired with the classes that were wrongly given to the same \
             document, shared evenly; what has no partner stands under “(nothing)”."
        }
    };
    let shown = report.confusion.most_confused(ConfusionPlot::MOST_CLASSES);
    let plot = ConfusionPlot {
        title: "True classes in rows, decisions in columns".to_owned(),
        description: format!(
            "Confusion matrix of {} classes.",
            report.confusion.names.len()
        ),
        counts: shown.dense(),
        names: shown.names,
    };
    let figure = Figure {
        svg: confusion_plot(&plot),
        caption: format!(
            "Documents by their true class (row) and what was decided (column). The diagonal is right. The \
             darker a cell, the larger its share of the row; mistakes are darkened so that few show.{paired}"
        ),
    };
    let mut blocks = vec![if plot.is_wide() {
        Block::WideFigure(figure)
    } else {
        Block::Figures(vec![figure])
    }];
    if let Some(table) = frequent_mistakes(report) {
        blocks.push(Block::Table(table));
    }
    section("Which classes are taken for which?", blocks)
}

/// The largest cells off the diagonal.
fn frequent_mistakes(report: &Report) -> Option<Table> {
    let names = &report.confusion.names;
    let counts = &report.confusion.cells;
    // Whole numbers are counts; what is weighed may be anything.
    let weighed = counts.values().any(|count| count.fract() != 0.0);
    let mistakes = counts
        .iter()
        .filter(|((row, column), count)| row != column && **count > 0.0);
    let mut cells: Vec<(f64, usize, usize)> = mistakes
        .map(|(&(row, column), &count)| (count, row as usize, column as usize))
        .collect();
    cells.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    cells.truncate(8);
    let rows: Vec<Vec<String>> = cells
        .into_iter()
        .map(|(count, row, column)| {
            let total = report.confusion.row_total(row);
            vec![
                names[row].clone(),
                names[column].clone(),
                format!("{}", (10.0 * count).round() / 10.0),
                per_cent(count / total),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        caption: "The most frequent mistakes.".to_owned(),
        header: [
            "true",
            "decided",
            if weighed { "weight" } else { "documents" },
            "of the true",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows,
    })
}

fn class_table(report: &Report) -> Section {
    let mut classes: Vec<&ClassEvaluation> = report.evaluation.classes.iter().collect();
    let mut caption = "Each class against the rest.".to_owned();
    if classes.len() > MOST_ROWS {
        classes.sort_by_key(|class| std::cmp::Reverse(class.positives));
        classes.truncate(MOST_ROWS);
        caption = format!(
            "Each class against the rest: the {MOST_ROWS} most frequent of {}.",
            whole(report.evaluation.classes.len())
        );
    }
    let written = |cell: ClassCell<'_>| match cell {
        ClassCell::Name(name) => name.to_owned(),
        ClassCell::Count(count) => whole(count),
        ClassCell::Measure(value) => value.map_or_else(|| "–".to_owned(), measure),
    };
    let row = |class: &ClassEvaluation| {
        let cells = CLASS_COLUMNS.iter().map(|column| (column.cell)(class));
        cells.map(written).collect()
    };
    let table = Table {
        caption,
        header: CLASS_COLUMNS.map(|column| column.name.to_owned()).to_vec(),
        rows: classes.into_iter().map(row).collect(),
    };
    section("Class by class", vec![Block::Table(table)])
}

fn measures_explained(report: &Report) -> Section {
    let decided = match report.evaluation.task {
        Task::SingleLabel => {
            "A document is given its most probable class; accuracy is the share for which it is the right one."
        }
        Task::MultiLabel => {
            "A class is given to a document where its probability is above one half."
        }
    };
    section(
        "What the measures mean",
        vec![
            paragraph(format!(
                "{decided} F1 is the harmonic mean of precision and recall: micro over all decisions \
                 together, macro as the mean over classes."
            )),
            paragraph(format!(
                "Log loss, in nats, is the mean of minus the logarithm of the probability given to what came true. \
                 The Brier score is the {}. Both are least for honest probabilities; less is better.",
                report.evaluation.brier_definition
            )),
            paragraph(format!(
                "The expected calibration error is the mean distance between stated and observed in {} bins of \
                 equal weight. It is never zero on real data: the number beside it is what a perfect forecaster \
                 with the same probabilities would show by chance.",
                report.evaluation.ece_bins
            )),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(whole(1), "1");
        assert_eq!(whole(1_234_567), "1,234,567");
        assert_eq!(measure(0.5), "0.5000");
        assert_eq!(measure(0.000_812_3), "0.0008");
        assert_eq!(measure(0.000_012_34), "0.000012");
        assert_eq!(measure(f64::NAN), "–");
        assert_eq!(per_cent(0.123_4), "12.3 %");
    }
}
