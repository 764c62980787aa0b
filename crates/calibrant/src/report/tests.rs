use super::*;
use crate::calibration::PlattCalibrator;
use crate::evaluation::evaluate;
use crate::numeric::Random;
use crate::plot::well_formed::check_markup;
use crate::{Probability, Task};

/// Forecasts that are right about their chances.
fn forecasts(task: Task, classes: usize, documents: usize) -> Forecasts {
    let mut random = Random::from_seed(12);
    let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..documents {
        let odds: Vec<f64> = (0..classes).map(|_| 2.0 * random.normal() - 2.0).collect();
        let row: Vec<f64> = match task {
            Task::MultiLabel => odds,
            Task::SingleLabel => {
                let mut against = vec![0.0; classes];
                crate::numeric::log_odds_against_rest(&odds, &mut against);
                against
            }
        };
        let row: Vec<Probability> = row.into_iter().map(Probability::from_log_odds).collect();
        let truth = match task {
            Task::MultiLabel => (0..classes as u32)
                .filter(|&class| random.uniform() < row[class as usize].value())
                .collect(),
            Task::SingleLabel => {
                let mut left = random.uniform();
                let drawn = row.iter().position(|p| {
                    left -= p.value();
                    left < 0.0
                });
                vec![drawn.unwrap_or(classes - 1) as u32]
            }
        };
        probabilities.extend(row);
        labels.push(truth);
    }
    Forecasts {
        task,
        class_names: (0..classes)
            .map(|class| format!("class <{class}>"))
            .collect(),
        probabilities,
        labels: labels.into(),
        weights: None,
    }
}

fn report_of(forecasts: &Forecasts, scores: Vec<ClassScores<'_>>) -> Report {
    let evaluation = evaluate(forecasts).unwrap();
    Report::new(ReportInput {
        title: "Report & more".into(),
        facts: vec![("model".into(), "<m>".into())],
        notes: vec!["A note.".into()],
        forecasts,
        evaluation: &evaluation,
        scores,
        made: Some("Made on a day.".into()),
        answers: AnsweredShares::of(forecasts, &[]),
        mistakes: vec![WorstMistake {
            text: "<b>bold</b> words".into(),
            words: vec!["<w>".into()],
            ..WorstMistake::new("class <0>".into(), 0.999_99, vec!["class <1>".into()])
        }],
        other: None,
    })
    .unwrap()
}

#[test]
fn reports_of_both_tasks_are_whole_pages() {
    let platt = PlattCalibrator {
        slope: 1.0,
        intercept: 0.0,
    };
    for task in [Task::SingleLabel, Task::MultiLabel] {
        let forecasts = forecasts(task, 4, 900);
        let examples = (0..900).map(|document| {
            let probability = forecasts.probabilities[4 * document + 1];
            (
                probability.log_odds(),
                forecasts.labels[document].contains(&1),
                1.0,
            )
        });
        let scores = vec![ClassScores {
            class: "class <1>".into(),
            examples: examples.collect(),
            calibrators: vec![("platt".into(), Box::new(&platt))],
        }];
        let report = report_of(&forecasts, scores);
        assert_eq!(report.class_reliability.len(), 4);
        assert_eq!(report.scores.len(), 1);
        let html = report.to_html();
        check_markup(&html, &[]);
        // Answered, reliability twice, a panel and a decision curve for each class, densities, log-odds, precision, costs, confusion.
        assert_eq!(html.matches("<svg ").count(), 1 + 2 + 4 + 4 + 5);
        // What to do stands before what it rests on.
        let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
        assert!(place("In short") < place("How much can be answered by machine?"));
        assert!(place("The surest mistakes") < place("All measures"));
        assert!(html.contains("Made on a day.") && html.contains("above 0.9999"));
        assert!(html.contains("&lt;b&gt;bold&lt;/b&gt;") && !html.contains("<b>bold"));
        for column in CLASS_COLUMNS {
            assert!(
                html.contains(&format!(">{}</th>", column.name)),
                "{}",
                column.name
            );
        }
        assert!(html.contains("class &lt;1&gt;: log-odds by score"));
        for measure in [
            "smooth ECE",
            "slope",
            "miscalibration",
            "Spiegelhalter",
            "Kuiper",
        ] {
            assert!(html.contains(measure), "{measure}");
        }
        assert_eq!(html, report.to_html());
    }
}

#[test]
fn many_documents_and_classes_give_no_larger_a_page() {
    let small = report_of(&forecasts(Task::MultiLabel, 40, 500), vec![]).to_html();
    let large = report_of(&forecasts(Task::MultiLabel, 40, 20_000), vec![]).to_html();
    assert!(
        large.len() < 2 * small.len(),
        "{} {}",
        small.len(),
        large.len()
    );
}

#[test]
fn degenerate_forecasts_give_a_report_too() {
    let even = Probability::from_log_odds(0.0);
    for (class_names, probabilities, labels) in [
        (vec!["a".to_owned()], vec![even], vec![vec![]]),
        (
            vec!["a".to_owned()],
            vec![even, even],
            vec![vec![0], vec![0]],
        ),
        (
            vec!["a".to_owned(), "b".to_owned()],
            vec![
                Probability::from_log_odds(1e15),
                Probability::from_log_odds(-1e15),
            ],
            vec![vec![1]],
        ),
    ] {
        let forecasts = Forecasts {
            task: Task::MultiLabel,
            class_names,
            probabilities,
            labels: labels.into(),
            weights: None,
        };
        check_markup(&report_of(&forecasts, vec![]).to_html(), &[]);
    }
}

#[test]
fn the_order_of_documents_leaves_no_trace() {
    let forward = forecasts(Task::MultiLabel, 3, 400);
    let mut backward = forward.clone();
    backward.labels = forward.labels.iter().rev().collect();
    backward.probabilities = forward
        .probabilities
        .chunks_exact(3)
        .rev()
        .flatten()
        .copied()
        .collect();
    let (a, b) = (report_of(&forward, vec![]), report_of(&backward, vec![]));
    assert_eq!(a.reliability, b.reliability);
    assert_eq!(a.reliability_by_log_odds, b.reliability_by_log_odds);
    assert_eq!(a.confusion, b.confusion);
    assert_eq!(a.precision_recall, b.precision_recall);
}
