//! Perceptrons beside ones that keep every stage of their weights.

use super::*;
use crate::Task;
use crate::features::{RowView, SparseMatrix};
use crate::numeric::Random;
use crate::problem::{ClassFactors, ClassLabels, Targets};
use crate::scorers::{SavedScorer, ScorerBuffers};

struct Sample {
    rows: SparseMatrix,
    labels: ClassLabels,
    weights: Vec<f64>,
    factors: ClassFactors,
    members: Vec<u32>,
}

impl Sample {
    fn new(seed: u64, class_count: usize, task: Task) -> Self {
        let mut random = Random::from_seed(seed);
        let count = 60;
        let mut of_row: Vec<Vec<u32>> = Vec::new();
        let rows: Vec<Vec<(u32, f32)>> = (0..count)
            .map(|_| {
                let class = random.below(class_count);
                of_row.push(vec![class as u32]);
                (0..25u32)
                    .filter_map(|column| {
                        let own = column as usize % class_count == class;
                        let often = if own { 0.4 } else { 0.2 };
                        let value = random.normal() as f32 + 1.0;
                        (random.uniform() < often).then_some((column, value))
                    })
                    .collect()
            })
            .collect();
        let labels = ClassLabels {
            task,
            class_count,
            of_row: of_row.into(),
        };
        Self {
            rows: SparseMatrix::from_rows(25, rows),
            factors: ClassFactors {
                by_output: vec![(1.5, 1.0); labels.output_count()],
            },
            labels,
            weights: (0..count).map(|_| 1.0 + random.below(3) as f64).collect(),
            members: (0..count as u32).filter(|row| row % 7 != 0).collect(),
        }
    }

    /// The weights (the last of them the bias) after each visit of an output's perceptron.
    fn stages(&self, output: usize, epochs: usize, seed: u64) -> Vec<Vec<f64>> {
        let class = self.labels.class_of_output(output) as u32;
        let sum: f64 = self
            .members
            .iter()
            .map(|&row| self.weights[row as usize])
            .sum();
        let mean = sum / self.members.len() as f64;
        let mut random = Random::from_seed(seed);
        let mut order = self.members.clone();
        let mut weights = vec![0.0; 26];
        let mut stages = Vec::new();
        for _ in 0..epochs {
            random.shuffle(&mut order);
            let mut mistakes = 0;
            for &row in &order {
                let sign = if self.labels.of_row[row as usize].contains(&class) {
                    1.0
                } else {
                    -1.0
                };
                let view = self.rows.row(row as usize);
                if sign * margin(&weights, view) <= 0.0 {
                    mistakes += 1;
                    let factor = if sign > 0.0 { 1.5 } else { 1.0 };
                    let step = sign * factor * self.weights[row as usize] / mean;
                    view.entries()
                        .for_each(|(column, value)| weights[column] += step * value);
                    weights[25] += step;
                }
                stages.push(weights.clone());
            }
            if mistakes == 0 {
                break;
            }
        }
        stages
    }
}

fn margin(weights: &[f64], row: RowView<'_>) -> f64 {
    weights[25]
        + row
            .entries()
            .map(|(column, value)| weights[column] * value)
            .sum::<f64>()
}

impl Sample {
    fn fit(&self, settings: Perceptron) -> SavedScorer {
        let targets = Targets::new(&self.labels, &self.weights, &self.factors);
        let problem = targets.among(&self.rows, &self.members);
        settings.fit(&problem).unwrap().scorer
    }
}

fn samples() -> impl Iterator<Item = Sample> {
    [
        (2, Task::SingleLabel),
        (5, Task::SingleLabel),
        (3, Task::MultiLabel),
    ]
    .into_iter()
    .enumerate()
    .map(|(seed, (classes, task))| Sample::new(seed as u64, classes, task))
}

const SETTINGS: Perceptron = Perceptron {
    epochs: 6,
    voted: false,
    seed: 11,
};

const VOTED: Perceptron = Perceptron {
    voted: true,
    ..SETTINGS
};

#[test]
fn the_average_is_the_mean_of_the_weights_over_all_visits() {
    for sample in samples() {
        let scorer = sample.fit(SETTINGS);
        let scorer = scorer.as_linear().unwrap();
        for output in 0..scorer.output_count() {
            let stages = sample.stages(output, SETTINGS.epochs, SETTINGS.seed);
            let mean = |column: usize| {
                stages.iter().map(|stage| stage[column]).sum::<f64>() / stages.len() as f64
            };
            for column in 0..25 {
                assert!((scorer.weight(column, output) - mean(column)).abs() < 1e-5);
            }
            assert!((scorer.biases()[output] - mean(25)).abs() < 1e-9);
        }
    }
}

#[test]
fn the_votes_are_those_of_stages_that_are_kept() {
    let mut sure = 0;
    let mut buffer = ScorerBuffers::default();
    for sample in samples() {
        let rows = &sample.rows;
        let scorer = sample.fit(VOTED);
        let mut outputs = vec![0.0; scorer.output_count()];
        for row in rows.rows() {
            scorer.outputs_into(row, &mut buffer, &mut outputs);
            for (output, score) in outputs.iter().enumerate() {
                // A margin within rounding of 0 may be a vote for either side.
                let (mut ahead, mut against, mut unsure) = (0.5, 0.5, 0.0);
                for stage in sample.stages(output, SETTINGS.epochs, SETTINGS.seed) {
                    match margin(&stage, row) {
                        margin if margin.abs() < 1e-9 => unsure += 1.0,
                        margin if margin > 0.0 => ahead += 1.0,
                        _ => against += 1.0,
                    }
                }
                let lowest = f64::ln(ahead / (against + unsure)) - 1e-9;
                let highest = f64::ln((ahead + unsure) / against) + 1e-9;
                assert!((lowest..=highest).contains(score));
                sure += usize::from(unsure == 0.0);
            }
        }
    }
    assert!(sure > 400);
}

#[test]
fn the_parts_of_a_voted_score_add_up() {
    let mut buffer = ScorerBuffers::default();
    let empty = SparseMatrix::from_rows(25, [vec![]]);
    for sample in samples() {
        let rows = &sample.rows;
        let scorer = sample.fit(VOTED);
        let mut outputs = vec![0.0; scorer.output_count()];
        let mut bases = outputs.clone();
        scorer.outputs_into(empty.row(0), &mut buffer, &mut bases);
        for row in rows.rows() {
            scorer.outputs_into(row, &mut buffer, &mut outputs);
            let mut parts = vec![f64::NAN; row.columns().len()];
            for output in 0..outputs.len() {
                scorer.parts_into(row, output, &mut buffer, &mut parts);
                let sum = bases[output] + parts.iter().sum::<f64>();
                assert!(
                    (sum - outputs[output]).abs() < 1e-9,
                    "{sum} {}",
                    outputs[output]
                );
            }
        }
    }
}

#[test]
fn an_epoch_without_a_mistake_is_the_last() {
    // One column tells the classes apart.
    let rows = SparseMatrix::from_rows(2, (0..10).map(|row| vec![(row % 2, 1.0)]));
    let labels = ClassLabels {
        task: Task::SingleLabel,
        class_count: 2,
        of_row: (0..10).map(|row| vec![row % 2]).collect(),
    };
    let factors = ClassFactors {
        by_output: vec![(1.0, 1.0)],
    };
    let members: Vec<u32> = (0..10).collect();
    let targets = Targets::new(&labels, &[1.0; 10], &factors);
    let problem = targets.among(&rows, &members);
    let fit = |epochs| {
        let scorer = |settings: Perceptron| {
            let fitted = Perceptron { epochs, ..settings }.fit(&problem);
            fitted.unwrap().scorer
        };
        let weight = scorer(SETTINGS).as_linear().unwrap().weight(0, 0);
        (weight, scorer(VOTED).output_scores(rows.row(1))[0])
    };
    assert_eq!(fit(20), fit(10_000));
    let (weight, score) = fit(20);
    assert!(weight < 0.0 && score > 0.0);
}

#[test]
fn numbers_of_epochs_that_make_no_sense_are_refused() {
    for epochs in [0, 10_001] {
        assert!(Perceptron { epochs, ..SETTINGS }.check().is_err());
    }
}
