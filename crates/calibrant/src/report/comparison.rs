//! The figures of several systems side by side.

use super::html::{panels, paragraph, section, told};
use crate::Task;
use crate::evaluation::{
    ComparedPair, Comparison, EvaluationError, Forecasts, LossDifference, LossUnit,
};
use crate::plot::{
    Block, Figure, ForestPlot, ForestRow, ReliabilityPlot, ReliabilitySeries, Scale, Section,
    forest_plot, reliability_diagram, reliability_diagram_of_log_odds,
};

/// So many systems share one diagram; of more, each has its own in small.
const MOST_TOGETHER: usize = 3;
/// Systems whose diagrams are shown.
const MOST_PANELS: usize = 12;
/// More pairs than this are too many to read; then the best system is held against the others.
const MOST_PAIRS: usize = 45;

/// Stated against observed, of one of several systems: for the decisions that calibration is judged by.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SystemReliability {
    /// Along the probabilities.
    pub linear: ReliabilitySeries,
    /// In bins along the log-odds.
    pub log_odds: ReliabilitySeries,
}

impl SystemReliability {
    /// Gathers the forecasts of a system into bins, in `O(n log n)` of the decisions.
    ///
    /// ```
    /// use calibrant::{Probability, Task, evaluation::Forecasts, report::SystemReliability};
    /// let forecasts = Forecasts {
    ///     task: Task::MultiLabel,
    ///     class_names: vec!["wheat".into()],
    ///     probabilities: vec![Probability::from_log_odds(0.0); 2],
    ///     labels: vec![vec![0], vec![]].into(),
    ///     weights: None,
    /// };
    /// let coin = SystemReliability::new("coin", &forecasts)?;
    /// assert_eq!((coin.linear.points[0].stated, coin.linear.points[0].observed), (0.5, 0.5));
    /// # Ok::<(), calibrant::evaluation::EvaluationError>(())
    /// ```
    pub fn new(name: &str, forecasts: &Forecasts) -> Result<Self, EvaluationError> {
        let judged = forecasts.calibration_points()?;
        Ok(Self {
            linear: ReliabilitySeries::along(name, &judged, Scale::Linear),
            log_odds: ReliabilitySeries::along(name, &judged, Scale::LogOdds),
        })
    }
}

/// The pairs that are few enough to read: all, or, where there are too many, those of the system with the least log loss.
pub fn telling_pairs(comparison: &Comparison) -> Vec<&ComparedPair> {
    let best = comparison
        .systems
        .iter()
        .find(|system| system.log_loss.best);
    let of_best = |pair: &&ComparedPair| {
        best.is_some_and(|best| pair.first == best.name || pair.second == best.name)
    };
    let few = comparison.pairs.len() <= MOST_PAIRS;
    comparison
        .pairs
        .iter()
        .filter(|pair| few || of_best(pair))
        .collect()
}

/// Stated and observed of every system: up to three in one diagram, more in one each. Takes the systems in the order of the
/// comparison.
pub fn reliability_section(comparison: &Comparison, systems: &[SystemReliability]) -> Section {
    let what = match comparison.task {
        Task::SingleLabel => "the probability of each document's first choice",
        Task::MultiLabel => "the probability of every class for every document",
    };
    let text = format!(
        "Each point gathers forecasts of about the same probability ({what}): across what was stated, upwards how often \
         it came true. On the dashed diagonal both agree. 95 of 100 perfect forecasters stay inside the band of a system; \
         its points outside are hollow."
    );
    let mut blocks = vec![paragraph(text)];
    if systems.len() <= MOST_TOGETHER {
        blocks.push(together(what, systems));
    } else {
        let (shown, which) = least_loss(comparison, systems);
        blocks.push(paragraph(format!("A diagram for {which}.")));
        blocks.push(panels(&shown));
    }
    section("Stated and observed", blocks)
}

/// All systems in one diagram, laid out evenly and by log-odds.
fn together(what: &str, systems: &[SystemReliability]) -> Block {
    let figure = |by_log_odds: bool| {
        let series: Vec<ReliabilitySeries> = systems
            .iter()
            .map(|system| match by_log_odds {
                true => system.log_odds.clone(),
                false => system.linear.clone(),
            })
            .collect();
        let points: Vec<String> = series
            .iter()
            .map(|series| format!("{}: {}", series.name, told(series)))
            .collect();
        let description = format!(
            "Reliability diagram of {what}: stated probability across, share that came true upwards. {}",
            points.join(" ")
        );
        let (title, caption) = match by_log_odds {
            true => (
                "Stated and observed, by log-odds",
                "The same forecasts laid out by log-odds, which gives the small and the almost certain probabilities as \
                 much room as those in between.",
            ),
            false => (
                "Stated and observed",
                "Probabilities laid out evenly. The bars, a row for each system, show how often which probability was \
                 stated; their heights are square roots, so that rare ones can be seen.",
            ),
        };
        let plot = ReliabilityPlot {
            title: title.to_owned(),
            description,
            series,
        };
        Figure {
            svg: match by_log_odds {
                true => reliability_diagram_of_log_odds(&plot),
                false => reliability_diagram(&plot),
            },
            caption: caption.to_owned(),
        }
    };
    Block::Figures(vec![figure(false), figure(true)])
}

/// As many systems as can be shown, in their order, and which they are.
fn least_loss(
    comparison: &Comparison,
    systems: &[SystemReliability],
) -> (Vec<ReliabilitySeries>, String) {
    let all = || systems.iter().map(|system| system.linear.clone());
    if systems.len() <= MOST_PANELS {
        return (all().collect(), "every system".to_owned());
    }
    let loss = |number: usize| {
        let system = comparison.systems.get(number);
        system.map_or(f64::INFINITY, |system| system.log_loss.mean)
    };
    let mut order: Vec<usize> = (0..systems.len()).collect();
    order.sort_by(|&a, &b| loss(a).total_cmp(&loss(b)));
    order.truncate(MOST_PANELS);
    let shown = all().enumerate();
    let shown = shown.filter(|(number, _)| order.contains(number));
    (
        shown.map(|(_, series)| series).collect(),
        format!(
            "each of the {MOST_PANELS} systems with the least log loss, of {}",
            systems.len()
        ),
    )
}

/// How far any two systems are apart by each loss, with intervals.
pub fn differences_section(comparison: &Comparison) -> Section {
    let pairs = telling_pairs(comparison);
    let drawn = pairs.iter().find_map(|pair| pair.log_loss.bootstrap);
    let whose = match pairs.len() {
        all if all == comparison.pairs.len() => String::new(),
        some => format!(
            " {some} of {} pairs are shown, those of the system with the least log loss.",
            comparison.pairs.len()
        ),
    };
    let sure = match drawn {
        Some(found) => format!(
            "The lines are intervals that hold the difference with {} % confidence; a marker is filled where the \
             interval leaves out zero.",
            100.0 * found.confidence
        ),
        None => {
            "There are no intervals, so that nothing says whether a difference is luck.".to_owned()
        }
    };
    let text = format!(
        "Each row is the mean loss of the first system less that of the second: below zero the first is better. \
         {sure}{whose}"
    );
    let unit = match comparison.losses_over {
        LossUnit::Documents => "document",
        LossUnit::Decisions => "decision",
    };
    type Of = fn(&ComparedPair) -> &LossDifference;
    let losses: [(&str, String, Of); 3] = [
        ("log loss", format!("log loss, nats per {unit}"), |pair| {
            &pair.log_loss
        }),
        ("Brier score", format!("Brier score per {unit}"), |pair| {
            &pair.brier
        }),
        ("errors", format!("errors per {unit}"), |pair| &pair.errors),
    ];
    let figures = losses
        .into_iter()
        .map(|(name, measured, of)| difference(name, measured, &pairs, of));
    section(
        "Who is better, and by how much?",
        vec![paragraph(text), Block::Figures(figures.collect())],
    )
}

fn difference(
    name: &str,
    measured: String,
    pairs: &[&ComparedPair],
    of: fn(&ComparedPair) -> &LossDifference,
) -> Figure {
    let rows: Vec<ForestRow> = pairs
        .iter()
        .map(|pair| {
            let found = of(pair);
            ForestRow {
                first: pair.first.clone(),
                second: pair.second.clone(),
                difference: found.difference,
                interval: found.bootstrap.map(|drawn| (drawn.lower, drawn.upper)),
            }
        })
        .collect();
    let told = match rows.iter().any(|row| row.interval.is_some()) {
        true => {
            let sure = rows.iter().filter(|row| row.leaves_out_zero()).count();
            format!("{sure} of {} intervals leave out zero.", rows.len())
        }
        false => format!("{} without intervals.", rows.len()),
    };
    Figure {
        svg: forest_plot(&ForestPlot {
            title: format!("Differences in {name}"),
            description: format!(
                "Differences in {measured}, of every pair of systems that is shown. {told} The table of pairs has the numbers."
            ),
            x_label: format!("difference in {measured}"),
            below: "first is better".to_owned(),
            above: "second is better".to_owned(),
            rows,
        }),
        caption: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probability;
    use crate::evaluation::{CompareSettings, compare};
    use crate::numeric::Random;
    use crate::plot::page;
    use crate::plot::well_formed::check_markup;

    /// What systems of different sharpness say of the same documents.
    fn systems(count: usize, task: Task, classes: usize) -> Vec<(String, Forecasts)> {
        (0..count)
            .map(|number| {
                let mut random = Random::from_seed(5);
                let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
                for _ in 0..300 {
                    let odds: Vec<f64> = (0..classes).map(|_| 2.0 * random.normal()).collect();
                    let belongs = |odds: f64, drawn: f64| drawn < crate::numeric::sigmoid(odds);
                    let truth: Vec<u32> = (0..classes as u32)
                        .filter(|&class| belongs(odds[class as usize], random.uniform()))
                        .collect();
                    let sharp = 0.5 + 0.25 * number as f64;
                    let mut row: Vec<f64> = odds.iter().map(|odds| sharp * odds).collect();
                    if task == Task::SingleLabel {
                        let plain = row.clone();
                        crate::numeric::log_odds_against_rest(&plain, &mut row);
                        labels.push(vec![truth.first().copied().unwrap_or(0)]);
                    } else {
                        labels.push(truth);
                    }
                    probabilities.extend(row.into_iter().map(Probability::from_log_odds));
                }
                let forecasts = Forecasts {
                    task,
                    class_names: (0..classes).map(|class| format!("c{class}")).collect(),
                    probabilities,
                    labels: labels.into(),
                    weights: None,
                };
                (format!("system <{number}>"), forecasts)
            })
            .collect()
    }

    fn sections(systems: &[(String, Forecasts)], bootstrap: usize) -> (Comparison, [Section; 2]) {
        let named: Vec<(&str, &Forecasts)> = systems.iter().map(|(n, f)| (n.as_str(), f)).collect();
        let settings = CompareSettings {
            bootstrap,
            ..CompareSettings::default()
        };
        let comparison = compare(&named, &settings).unwrap();
        let reliability: Vec<SystemReliability> = named
            .iter()
            .map(|(name, forecasts)| SystemReliability::new(name, forecasts).unwrap())
            .collect();
        let sections = [
            reliability_section(&comparison, &reliability),
            differences_section(&comparison),
        ];
        (comparison, sections)
    }

    #[test]
    fn few_systems_share_a_diagram_and_many_have_one_each() {
        for (count, task, classes, diagrams, pairs) in [
            (2, Task::SingleLabel, 2, 2, 1),
            (3, Task::SingleLabel, 4, 2, 3),
            (8, Task::SingleLabel, 2, 8, 28),
            (8, Task::MultiLabel, 3, 8, 28),
            (14, Task::MultiLabel, 1, 12, 13),
        ] {
            let (comparison, sections) = sections(&systems(count, task, classes), 50);
            let html = page("Systems", &sections);
            check_markup(&html, &[]);
            assert_eq!(html.matches("<svg ").count(), diagrams + 3, "{count}");
            for title in ["log loss", "Brier score", "errors"] {
                assert!(html.contains(&format!("<title>Differences in {title}</title>")));
            }
            // A row for each pair, or for each pair of the best.
            let rows = telling_pairs(&comparison).len();
            assert_eq!(rows, pairs);
            let notes = html.matches("<title>system &lt;").count();
            assert!(notes >= 3 * rows, "{notes} {rows}");
            let some = html.contains(" 13 of 91 pairs are shown");
            assert_eq!(some, count == 14);
        }
    }

    #[test] // By hand: the one that always says more of what is true is better, and surely so.
    fn the_figure_of_log_loss_says_what_is_sure() {
        let said = |log_odds: f64| Forecasts {
            task: Task::MultiLabel,
            class_names: vec!["wheat".into()],
            probabilities: vec![Probability::from_log_odds(log_odds); 10],
            labels: vec![vec![0]; 10].into(),
            weights: None,
        };
        let both = [
            ("sure".to_owned(), said(2.0)),
            ("unsure".to_owned(), said(1.0)),
        ];
        let (_, [_, differences]) = sections(&both, 50);
        let html = page("Systems", &[differences]);
        assert!(
            html.contains(
                "of every pair of systems that is shown. 1 of 1 intervals leave out zero."
            )
        );
        // ln(1 + e^-2) - ln(1 + e^-1) = 0.126928 - 0.313262
        assert!(html.contains("<title>sure − unsure: -0.1863 (-0.1863 to -0.1863)</title>"));
        let (_, [_, without]) = sections(&both, 0);
        let html = page("Systems", &[without]);
        assert!(html.contains("There are no intervals") && html.contains("1 without intervals."));
    }
}
