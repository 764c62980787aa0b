//! Sets of classes beside MAPIE's, from the same probabilities and draws.

use calibrant::decision::{
    CalibrationRows, CalibrationSource, LastClass, Penalty, SetBuffers, SetKind, SetSettings,
    SetTable,
};
use calibrant::numeric::Random;
use serde_json::{Value, json};

use super::python::ask;

struct Case {
    settings: SetSettings,
    class_count: usize,
    coverage: f64,
    calibration: Vec<f64>,
    labels: Vec<u32>,
    calibration_draws: Vec<f64>,
    test: Vec<f64>,
    test_draws: Vec<f64>,
}

/// Rows of probabilities without ties, and classes that mostly follow them.
fn rows(random: &mut Random, count: usize, class_count: usize) -> (Vec<f64>, Vec<u32>, Vec<f64>) {
    let (mut probabilities, mut labels, mut draws) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let raw: Vec<f64> = (0..class_count)
            .map(|_| (1.5 * random.normal()).exp())
            .collect();
        let sum: f64 = raw.iter().sum();
        let (mut at, mut label) = (random.uniform() * sum, 0);
        while label + 1 < class_count && at >= raw[label] {
            at -= raw[label];
            label += 1;
        }
        probabilities.extend(raw.iter().map(|p| p / sum));
        labels.push(label as u32);
        draws.push(random.uniform());
    }
    (probabilities, labels, draws)
}

fn cases() -> Vec<Case> {
    let mut random = Random::from_seed(51);
    let mut cases = Vec::new();
    // What MAPIE does with the class at the edge: drawn, left out (the first is kept), added.
    for (kind, last_class) in [
        (SetKind::Lac, LastClass::Drawn),
        (SetKind::Aps, LastClass::Drawn),
        (SetKind::Aps, LastClass::Added),
        (SetKind::Aps, LastClass::Whole),
        (SetKind::Raps, LastClass::Drawn),
        (SetKind::Raps, LastClass::Added),
        (SetKind::Raps, LastClass::Whole),
    ] {
        for (class_count, examples, coverage) in [(3, 97, 0.9), (6, 301, 0.83), (20, 250, 0.95)] {
            let (calibration, labels, calibration_draws) = rows(&mut random, examples, class_count);
            let (test, _, test_draws) = rows(&mut random, 200, class_count);
            let keep_top = last_class != LastClass::Drawn;
            let penalty = Penalty {
                weight: 0.04,
                free: 2,
            };
            let settings = SetSettings {
                kind,
                keep_top,
                last_class,
                penalty: Some(penalty),
                ..SetSettings::default()
            };
            cases.push(Case {
                settings,
                class_count,
                coverage,
                calibration,
                labels,
                calibration_draws,
                test,
                test_draws,
            });
        }
    }
    cases
}

fn question(case: &Case) -> Value {
    let penalty = case.settings.penalty.unwrap();
    json!({
        "kind": case.settings.kind.name(), "last_class": case.settings.last_class.name(),
        "weight": penalty.weight, "free": penalty.free,
        "class_count": case.class_count, "coverage": case.coverage,
        "calibration": case.calibration, "labels": case.labels,
        "calibration_draws": case.calibration_draws, "test": case.test, "test_draws": case.test_draws,
    })
}

#[test]
fn sets_are_those_of_mapie() {
    let cases = cases();
    let asked: Vec<Value> = cases.iter().map(question).collect();
    let Some(answers) = ask("sets.py", &json!({"cases": asked})) else {
        return;
    };
    // Rows of drawn RAPS that are held against MAPIE's own rule.
    let mut drawn_by_mapie = 0;
    for (number, case) in cases.iter().enumerate() {
        // MAPIE draws for calibration whatever is done at the edge later.
        let mut fitted = case.settings;
        if fitted.last_class == LastClass::Whole {
            fitted.last_class = LastClass::Drawn;
        }
        let given = CalibrationRows {
            draws: Some(&case.calibration_draws),
            ..CalibrationRows::new(&case.calibration, case.class_count, &case.labels)
        };
        let table = SetTable::fit(fitted, &given, CalibrationSource::Unseen).unwrap();
        let rule = table.at(case.coverage).unwrap();
        let (mut buffers, mut set) = (SetBuffers::default(), Vec::new());
        let rows = case.test.chunks_exact(case.class_count);
        for (row, probabilities) in rows.enumerate() {
            let draw = match case.settings.last_class {
                LastClass::Drawn => case.test_draws[row],
                _ => 0.0,
            };
            rule.set_drawn_into(probabilities, draw, &mut buffers, &mut set);
            set.sort_unstable();
            let theirs = |name: &str| -> Vec<u32> {
                serde_json::from_value(answers[number][name][row].clone()).unwrap()
            };
            // For drawn RAPS, MAPIE divides by something else than the paper where penalties have grown.
            let drawn = answers[number].get("same_rule");
            if drawn.is_some() {
                assert_eq!(set, theirs("by_the_paper"), "case {number}, row {row}");
            }
            if drawn.is_none_or(|same| same[row] == true) {
                assert_eq!(set, theirs("sets"), "case {number}, row {row}");
                drawn_by_mapie += usize::from(drawn.is_some());
            }
        }
    }
    assert!(drawn_by_mapie > 300, "{drawn_by_mapie}");
}

#[test] // A class is in by the threshold of its own examples: MAPIE is asked about each class with these alone.
fn sets_class_by_class_are_those_of_mapie_fitted_to_each_class() {
    let mut random = Random::from_seed(52);
    let class_count = 3;
    let (calibration, labels, calibration_draws) = rows(&mut random, 300, class_count);
    let (test, _, test_draws) = rows(&mut random, 100, class_count);
    for kind in [SetKind::Lac, SetKind::Aps] {
        let settings = SetSettings {
            kind,
            class_by_class: true,
            keep_top: false,
            penalty: Some(Penalty {
                weight: 0.0,
                free: 1,
            }),
            ..SetSettings::default()
        };
        let of_class = |class: u32| {
            let own = (0..labels.len()).filter(|&row| labels[row] == class);
            let own: Vec<usize> = own.collect();
            let row = |&row: &usize| &calibration[row * class_count..(row + 1) * class_count];
            Case {
                settings,
                class_count,
                coverage: 0.85,
                calibration: own.iter().flat_map(row).copied().collect(),
                labels: vec![class; own.len()],
                calibration_draws: own.iter().map(|&row| calibration_draws[row]).collect(),
                test: test.clone(),
                test_draws: test_draws.clone(),
            }
        };
        let asked: Vec<Value> = (0..3).map(|class| question(&of_class(class))).collect();
        let Some(answers) = ask("sets.py", &json!({"cases": asked})) else {
            return;
        };
        let given = CalibrationRows {
            draws: Some(&calibration_draws),
            ..CalibrationRows::new(&calibration, class_count, &labels)
        };
        let table = SetTable::fit(settings, &given, CalibrationSource::Unseen).unwrap();
        let rule = table.at(0.85).unwrap();
        let (mut buffers, mut set) = (SetBuffers::default(), Vec::new());
        for (row, probabilities) in test.chunks_exact(class_count).enumerate() {
            rule.set_drawn_into(probabilities, test_draws[row], &mut buffers, &mut set);
            for class in 0..3u32 {
                let theirs: Vec<u32> =
                    serde_json::from_value(answers[class as usize]["sets"][row].clone()).unwrap();
                assert_eq!(
                    set.contains(&class),
                    theirs.contains(&class),
                    "{kind} {row}"
                );
            }
        }
    }
}
