//! How often the 95 % intervals that are printed hold the truth: simulated test sets of forecasts whose distribution
//! is known.

use std::error::Error;
use std::io::Write;

use calibrant::evaluation::{
    BootstrapSettings, CalibrationLine, CompareSettings, Evaluation, EvaluationError,
    EvaluationOptions, Forecasts, Interval, compare_groups, evaluate_with,
};
use calibrant::numeric::Random;
use calibrant::{Probability, Task};
use rayon::prelude::*;

/// Where true log-odds lie, and by how much stated ones are too large.
#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    centre: f64,
    spread: f64,
    slope: f64,
}

const WORLDS: [World; 5] = [
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
    World {
        name: "nearly sure",
        centre: -4.5,
        spread: 1.0,
        slope: 1.0,
    },
];

const TRUTH: usize = 400_000;

/// How many documents a test set has, and in how many groups; without groups each stands for itself.
#[derive(Clone, Copy, serde::Serialize)]
struct Shape {
    documents: usize,
    groups: Option<usize>,
    /// Whether sizes of groups are log-normal (with a deviation of 1) instead of equal.
    uneven: bool,
}

/// The deviation of what the documents of a group have in common, in log-odds, which no forecast knows.
const COMMON: f64 = 0.8;

impl Shape {
    /// Documents that stand for themselves.
    const fn alone(documents: usize) -> Self {
        Self {
            documents,
            groups: None,
            uneven: false,
        }
    }

    /// Groups of 20 documents, or of about as many.
    const fn groups(groups: usize, uneven: bool) -> Self {
        Self {
            documents: 20 * groups,
            groups: Some(groups),
            uneven,
        }
    }

    /// Many documents of the same kind, which tell what is true of them all.
    const fn of_truth(documents: usize, grouped: bool) -> Self {
        Self {
            documents,
            groups: if grouped { Some(documents / 5) } else { None },
            uneven: false,
        }
    }

    /// How many documents each group has.
    fn sizes(self, random: &mut Random) -> Vec<usize> {
        let groups = self.groups.unwrap_or(self.documents);
        let mean = self.documents as f64 / groups as f64;
        let size = |_| match self.uneven {
            true => (mean * (random.normal() - 0.5).exp()).ceil() as usize,
            false => mean as usize,
        };
        (0..groups).map(size).collect()
    }

    fn name(self) -> String {
        let kind = if self.uneven { " uneven" } else { "" };
        match self.groups {
            Some(groups) => format!("{} documents in {groups}{kind} groups", self.documents),
            None => format!("{} documents", self.documents),
        }
    }
}

/// What two systems say of one test set, and what belongs together there.
struct TestSet {
    forecasts: [Forecasts; 2],
    groups: Vec<Option<u64>>,
}

/// Forecasts of two classes, and those of a second system whose log-odds are halved, of the same documents.
fn drawn(world: World, shape: Shape, seed: u64) -> TestSet {
    let mut random = Random::from_seed(seed);
    let (mut stated, mut labels, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for (group, size) in (0..).zip(shape.sizes(&mut random)) {
        let common = match shape.groups {
            Some(_) => COMMON * random.normal(),
            None => 0.0,
        };
        for _ in 0..size {
            let truth = world.centre + world.spread * random.normal();
            let probability = Probability::from_log_odds(truth + common).value();
            labels.push([u32::from(random.uniform() < probability)]);
            stated.push(world.slope * truth);
            groups.push(shape.groups.map(|_| group));
        }
    }
    let forecasts = [1.0, 0.5].map(|factor| Forecasts {
        task: Task::SingleLabel,
        class_names: vec!["no".into(), "yes".into()],
        probabilities: stated
            .iter()
            .map(|log_odds| Probability::from_log_odds(factor * log_odds))
            .flat_map(|p| [p.complement(), p])
            .collect(),
        labels: labels.iter().collect(),
        weights: None,
    });
    TestSet { forecasts, groups }
}

/// Every measure that has an interval, by name.
fn measures(evaluation: &Evaluation) -> Vec<(&'static str, f64)> {
    let further = evaluation.further.as_ref();
    let second = further.and_then(|further| further.calibration_of_second.as_ref());
    let line = |of: fn(&CalibrationLine) -> Option<Interval>| {
        second
            .and_then(|second| of(&second.line))
            .map(|interval| interval.value)
    };
    [
        ("log loss", Some(evaluation.log_loss)),
        ("Brier", Some(evaluation.brier)),
        ("accuracy", evaluation.accuracy),
        ("macro-F1", Some(evaluation.macro_f1)),
        ("AUC", further.and_then(|further| further.macro_auc)),
        (
            "average precision",
            second.and_then(|second| second.average_precision),
        ),
        ("slope", line(|line| line.slope)),
        ("intercept", line(|line| line.intercept)),
        ("in the large", line(|line| line.intercept_in_the_large)),
    ]
    .map(|(name, value)| (name, value.unwrap_or(f64::NAN)))
    .to_vec()
}

/// The intervals of these, in the same order.
fn intervals(evaluation: &Evaluation) -> Vec<Option<Interval>> {
    let further = evaluation.further.as_ref();
    let drawn = further.and_then(|further| further.bootstrap.as_ref());
    let second = further.and_then(|further| further.calibration_of_second.as_ref());
    let line = second.map(|second| second.line);
    vec![
        drawn.and_then(|drawn| drawn.log_loss),
        drawn.and_then(|drawn| drawn.brier),
        drawn.and_then(|drawn| drawn.accuracy),
        drawn.and_then(|drawn| drawn.macro_f1),
        drawn.and_then(|drawn| drawn.macro_auc),
        drawn.and_then(|drawn| drawn.average_precision_of_second),
        line.and_then(|line| line.slope),
        line.and_then(|line| line.intercept),
        line.and_then(|line| line.intercept_in_the_large),
    ]
}

/// How often an interval held the truth, of so many times that it was shown.
#[derive(serde::Serialize)]
struct Coverage {
    name: &'static str,
    held: usize,
    shown: usize,
}

#[derive(serde::Serialize)]
struct Cell {
    world: &'static str,
    #[serde(flatten)]
    shape: Shape,
    sets: usize,
    intervals: Vec<Coverage>,
}

/// What test sets look like, and how many of them there are.
const SHAPES: [(Shape, usize); 13] = [
    (Shape::alone(200), 1_000),
    (Shape::alone(1_000), 500),
    (Shape::alone(5_000), 200),
    (Shape::groups(5, false), 1_000),
    (Shape::groups(10, false), 1_000),
    (Shape::groups(20, false), 1_000),
    (Shape::groups(50, false), 500),
    (Shape::groups(100, false), 500),
    (Shape::groups(5, true), 1_000),
    (Shape::groups(10, true), 1_000),
    (Shape::groups(20, true), 1_000),
    (Shape::groups(50, true), 500),
    (Shape::groups(100, true), 500),
];
/// The draws of the bootstrap.
const REPLICATES: usize = 400;

pub(crate) fn run(json: bool, sets: Option<usize>) -> Result<(), Box<dyn Error>> {
    let mut cells = Vec::new();
    let mut out = std::io::stdout().lock();
    for world in WORLDS {
        let [alone, grouped] = [false, true].map(|grouped| truths(world, TRUTH, grouped));
        let (alone, grouped) = (alone?, grouped?);
        for (shape, usual) in SHAPES {
            let sets = sets.unwrap_or(usual);
            let truths = if shape.groups.is_some() {
                &grouped
            } else {
                &alone
            };
            let intervals = coverages(world, shape, truths, sets, REPLICATES)?;
            if !json {
                writeln!(out, "{} ({}, {sets} sets)", world.name, shape.name())?;
                for found in &intervals {
                    let share = found.held as f64 / found.shown.max(1) as f64;
                    writeln!(out, "  {:24} {share:.3} of {}", found.name, found.shown)?;
                }
            }
            cells.push(Cell {
                world: world.name,
                shape,
                sets,
                intervals,
            });
        }
    }
    if json {
        serde_json::to_writer(&mut out, &cells)?;
        writeln!(out)?;
    }
    Ok(())
}

/// What is true of documents, alone or in groups, whatever the test set: every measure by name.
type Truths = Vec<(&'static str, f64)>;

fn truths(world: World, documents: usize, grouped: bool) -> Result<Truths, EvaluationError> {
    let [first, second] = drawn(world, Shape::of_truth(documents, grouped), 1).forecasts;
    let plain = EvaluationOptions::default();
    let (first, second) = (
        evaluate_with(&first, &plain)?,
        evaluate_with(&second, &plain)?,
    );
    let mut truths = measures(&first);
    truths.push(("difference in log loss", first.log_loss - second.log_loss));
    truths.push(("difference in Brier", first.brier - second.brier));
    Ok(truths)
}

/// How often each interval holds the truth over so many test sets.
fn coverages(
    world: World,
    shape: Shape,
    truths: &Truths,
    sets: usize,
    replicates: usize,
) -> Result<Vec<Coverage>, EvaluationError> {
    let mut found: Vec<Coverage> = truths
        .iter()
        .map(|&(name, _)| Coverage {
            name,
            held: 0,
            shown: 0,
        })
        .collect();
    let shown: Result<Vec<_>, _> = (0..sets as u64)
        .into_par_iter()
        .map(|set| intervals_of(&drawn(world, shape, 1_000 + set), replicates))
        .collect();
    for shown in shown? {
        for ((found, interval), (_, truth)) in found.iter_mut().zip(shown).zip(truths) {
            if let Some((lower, upper)) = interval {
                found.shown += 1;
                found.held += usize::from((lower..=upper).contains(truth));
            }
        }
    }
    Ok(found)
}

/// The ends of every interval that is printed of two systems on one test set: those of the first, then those of the
/// differences.
fn intervals_of(
    set: &TestSet,
    replicates: usize,
) -> Result<Vec<Option<(f64, f64)>>, EvaluationError> {
    let [first, second] = &set.forecasts;
    let options = EvaluationOptions {
        bootstrap: Some(BootstrapSettings {
            replicates: Some(replicates),
            seed: 1,
        }),
        groups: set.groups.clone(),
        ..EvaluationOptions::default()
    };
    let evaluation = evaluate_with(first, &options)?;
    let ends = |interval: Interval| (interval.lower, interval.upper);
    let mut shown: Vec<Option<(f64, f64)>> = intervals(&evaluation)
        .into_iter()
        .map(|interval| interval.map(ends))
        .collect();
    let settings = CompareSettings {
        bootstrap: replicates,
        ..CompareSettings::default()
    };
    let compared = compare_groups(
        &[("first", first), ("second", second)],
        &set.groups,
        &settings,
    )?;
    let pair = &compared.pairs[0];
    for loss in [&pair.log_loss, &pair.brier] {
        shown.push(loss.bootstrap.map(|found| (found.lower, found.upper)));
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents that tell the truth: of a test set of 1,000 its own error is a tenth, of smaller ones less.
    const ENOUGH: usize = 100_000;

    #[test] // 150 sets: 95 % of them less 3.4 standard errors is 0.89.
    fn intervals_of_small_test_sets_hold_the_truth() {
        for world in [WORLDS[0], WORLDS[1]] {
            let truths = truths(world, TRUTH, false).unwrap();
            for coverage in coverages(world, Shape::alone(200), &truths, 150, 150).unwrap() {
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

    #[test] // 200 sets: 95 % of them less 3 standard errors is 0.90.
    fn intervals_over_groups_hold_the_truth() {
        let truths = truths(WORLDS[1], ENOUGH, true).unwrap();
        for shape in [
            Shape::groups(5, false),
            Shape::groups(20, false),
            Shape::groups(5, true),
            Shape::groups(20, true),
        ] {
            // Uneven groups of twenty documents once, the others of eight; more groups are for the whole experiment.
            let groups = shape.groups.unwrap();
            let documents = if shape.uneven && groups == 20 { 20 } else { 8 } * groups;
            let shape = Shape { documents, ..shape };
            for coverage in coverages(WORLDS[1], shape, &truths, 200, 100).unwrap() {
                let share = coverage.held as f64 / coverage.shown as f64;
                assert!(
                    share >= 0.90 || coverage.shown < 20,
                    "{}, {}: {share} of {}",
                    shape.name(),
                    coverage.name,
                    coverage.shown
                );
            }
        }
    }
}
