//! Every 95 % interval that is printed holds the truth about 95 times in 100: simulated test sets of forecasts whose
//! distribution is known. `cargo test --test interval_coverage -- --ignored --nocapture` prints the whole table.

use calibrant::evaluation::{
    BootstrapSettings, CompareSettings, Evaluation, EvaluationOptions, Forecasts, Interval,
    compare, evaluate_with,
};
use calibrant::numeric::Random;
use calibrant::{Probability, Task};

/// Where true log-odds lie, and by how much stated ones are too large.
#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    centre: f64,
    spread: f64,
    slope: f64,
}

const WORLDS: [World; 4] = [
    World {
        name: "calibrated",
        centre: 0.0,
        spread: 1.5,
        slope: 1.0,
    },
    World {
        name: "too sure",
        centre: 0.0,
        spread: 1.5,
        slope: 2.5,
    },
    World {
        name: "rare",
        centre: -3.0,
        spread: 1.5,
        slope: 1.0,
    },
    World {
        name: "rare, too sure",
        centre: -3.0,
        spread: 1.5,
        slope: 2.5,
    },
];

const TRUTH: usize = 400_000;

/// Forecasts of two classes, and those of a second system whose log-odds are halved, of the same documents.
fn drawn(world: World, count: usize, seed: u64) -> [Forecasts; 2] {
    let mut random = Random::from_seed(seed);
    let (mut stated, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let truth = world.centre + world.spread * random.normal();
        labels.push(vec![u32::from(
            random.uniform() < Probability::from_log_odds(truth).value(),
        )]);
        stated.push(world.slope * truth);
    }
    [1.0, 0.5].map(|factor| Forecasts {
        task: Task::SingleLabel,
        class_names: vec!["no".into(), "yes".into()],
        probabilities: stated
            .iter()
            .map(|log_odds| Probability::from_log_odds(factor * log_odds))
            .flat_map(|p| [p.complement(), p])
            .collect(),
        labels: labels.clone(),
        weights: None,
    })
}

/// Every measure that has an interval, by name.
fn measures(evaluation: &Evaluation) -> Vec<(&'static str, f64)> {
    let further = evaluation.further.as_ref().unwrap();
    let second = further.calibration_of_second.as_ref().unwrap();
    let line = second.line;
    let value = |interval: Option<Interval>| interval.map_or(f64::NAN, |found| found.value);
    vec![
        ("log loss", evaluation.log_loss),
        ("Brier", evaluation.brier),
        ("accuracy", evaluation.accuracy.unwrap()),
        ("macro-F1", evaluation.macro_f1),
        ("AUC", further.macro_auc.unwrap_or(f64::NAN)),
        (
            "average precision",
            second.average_precision.unwrap_or(f64::NAN),
        ),
        ("slope", value(line.slope)),
        ("intercept", value(line.intercept)),
        ("in the large", value(line.intercept_in_the_large)),
    ]
}

fn intervals(evaluation: &Evaluation) -> Vec<Option<Interval>> {
    let further = evaluation.further.as_ref().unwrap();
    let found = further.bootstrap.as_ref().unwrap();
    let line = further.calibration_of_second.as_ref().unwrap().line;
    vec![
        Some(found.log_loss),
        Some(found.brier),
        found.accuracy,
        found.macro_f1,
        found.macro_auc,
        found.average_precision_of_second,
        line.slope,
        line.intercept,
        line.intercept_in_the_large,
    ]
}

struct Coverage {
    name: &'static str,
    held: usize,
    shown: usize,
}

/// How often each interval holds the truth over so many test sets.
fn coverages(world: World, documents: usize, sets: usize, replicates: usize) -> Vec<Coverage> {
    let plain = EvaluationOptions::default();
    let large = drawn(world, TRUTH, 1);
    let wholes = large.each_ref().map(|f| evaluate_with(f, &plain).unwrap());
    let truths = measures(&wholes[0]);
    let difference = wholes[0].log_loss - wholes[1].log_loss;
    let of_brier = wholes[0].brier - wholes[1].brier;
    let mut found: Vec<Coverage> = truths
        .iter()
        .map(|truth| truth.0)
        .chain(["difference in log loss", "difference in Brier"])
        .map(|name| Coverage {
            name,
            held: 0,
            shown: 0,
        })
        .collect();
    let options = EvaluationOptions {
        bootstrap: Some(BootstrapSettings {
            replicates: Some(replicates),
            seed: 1,
        }),
        ..EvaluationOptions::default()
    };
    let settings = CompareSettings {
        bootstrap: replicates,
        ..CompareSettings::default()
    };
    for set in 0..sets {
        let forecasts = drawn(world, documents, 1_000 + set as u64);
        let evaluation = evaluate_with(&forecasts[0], &options).unwrap();
        let mut count = |place: usize, interval: Option<(f64, f64)>, truth: f64| {
            if let Some((lower, upper)) = interval {
                found[place].shown += 1;
                found[place].held += usize::from(lower <= truth && truth <= upper);
            }
        };
        for (place, (interval, truth)) in intervals(&evaluation).iter().zip(&truths).enumerate() {
            count(place, interval.map(|i| (i.lower, i.upper)), truth.1);
        }
        let systems = [("first", &forecasts[0]), ("second", &forecasts[1])];
        let pair = compare(&systems, &settings).unwrap().pairs.remove(0);
        let ends = |loss: &calibrant::evaluation::LossDifference| {
            loss.bootstrap.map(|found| (found.lower, found.upper))
        };
        count(truths.len(), ends(&pair.log_loss), difference);
        count(truths.len() + 1, ends(&pair.brier), of_brier);
    }
    found
}

#[test] // 150 sets: 95 % of them less 3.4 standard errors is 0.89.
fn intervals_of_small_test_sets_hold_the_truth() {
    for world in [WORLDS[0], WORLDS[1]] {
        for coverage in coverages(world, 200, 150, 150) {
            let share = coverage.held as f64 / coverage.shown as f64;
            assert!(
                share >= 0.89 && coverage.shown >= 140,
                "{}, {}: {share} of {}",
                world.name,
                coverage.name,
                coverage.shown
            );
        }
    }
}

#[test]
#[ignore = "takes minutes; prints the table of coverages"]
#[allow(clippy::print_stdout)]
fn the_table_of_coverages() {
    for world in WORLDS {
        for (documents, sets) in [(200, 1_000), (1_000, 500), (5_000, 200)] {
            println!("{} ({documents} documents, {sets} sets)", world.name);
            for coverage in coverages(world, documents, sets, 400) {
                let share = coverage.held as f64 / coverage.shown.max(1) as f64;
                println!("  {:24} {share:.3} of {}", coverage.name, coverage.shown);
            }
        }
    }
}
