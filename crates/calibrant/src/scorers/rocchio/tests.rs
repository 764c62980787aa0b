use proptest::prelude::*;

use super::*;
use crate::features::SparseMatrix;
use crate::problem::{ClassFactors, ClassLabels, Targets};
use crate::scorers::SavedScorer;

const WIDTH: usize = 5;

fn labels(task: Task, classes: &[u32], class_count: usize) -> ClassLabels {
    ClassLabels {
        task,
        class_count,
        of_row: classes.iter().map(|&class| vec![class]).collect(),
    }
}

fn fit(
    nearness: Nearness,
    task: Task,
    rows: &SparseMatrix,
    classes: &[u32],
    class_count: usize,
) -> CentroidScorer {
    let labels = labels(task, classes, class_count);
    let factors = ClassFactors::equal(labels.output_count());
    let everyone: Vec<u32> = (0..rows.row_count() as u32).collect();
    let weights = vec![1.0; rows.row_count()];
    let problem = Targets::new(&labels, &weights, &factors).among(rows, &everyone);
    match (Rocchio { nearness }).fit(&problem).unwrap().scorer {
        SavedScorer::Centroids(scorer) => scorer,
        other => panic!("centres, not {other:?}"),
    }
}

fn outputs(scorer: &CentroidScorer, row: RowView<'_>) -> Vec<f64> {
    let mut outputs = vec![0.0; scorer.output_count()];
    scorer.outputs_into(row, &mut ScorerBuffers::default(), &mut outputs);
    outputs
}

#[test]
fn distances_are_those_worked_by_hand() {
    // Centres (2, 0) and (0, 3); the row (2, 3) is 3 away from the first and 2 from the second.
    let rows = SparseMatrix::from_rows(
        2,
        [
            vec![(0, 1.0)],
            vec![(0, 3.0)],
            vec![(1, 3.0)],
            vec![(0, 2.0), (1, 3.0)],
        ],
    );
    let training = SparseMatrix::from_rows(2, [vec![(0, 1.0)], vec![(0, 3.0)], vec![(1, 3.0)]]);
    let scorer = fit(
        Nearness::Euclidean,
        Task::SingleLabel,
        &training,
        &[0, 0, 1],
        2,
    );
    assert_eq!(outputs(&scorer, rows.row(3)), [3.0 - 2.0]);
    let scorer = fit(Nearness::Cosine, Task::MultiLabel, &training, &[0, 0, 1], 2);
    let root = 13f64.sqrt();
    let found = outputs(&scorer, rows.row(3));
    assert!((found[0] - 2.0 / root).abs() < 1e-12 && (found[1] - 3.0 / root).abs() < 1e-12);
}

fn dense(rows: &[Vec<f32>]) -> SparseMatrix {
    SparseMatrix::from_rows(
        WIDTH,
        rows.iter().map(|row| {
            let entries = row.iter().enumerate();
            entries
                .filter(|(_, value)| **value != 0.0)
                .map(|(column, &value)| (column as u32, value))
                .collect()
        }),
    )
}

proptest! {
    #[test]
    fn the_largest_score_is_that_of_the_nearest_mean(
        rows in prop::collection::vec(prop::collection::vec(-2.0f32..3.0, WIDTH), 6..20),
        asked in prop::collection::vec(-2.0f32..3.0, WIDTH),
    ) {
        let classes: Vec<u32> = (0..rows.len() as u32).map(|row| row % 3).collect();
        let scorer = fit(Nearness::Euclidean, Task::SingleLabel, &dense(&rows), &classes, 3);
        let found = outputs(&scorer, dense(std::slice::from_ref(&asked)).row(0));
        // By brute force over plain vectors.
        let distance = |class: u32| {
            let own: Vec<&Vec<f32>> = rows.iter().zip(&classes)
                .filter(|(_, c)| **c == class).map(|(row, _)| row).collect();
            (0..WIDTH).map(|column| {
                let mean = own.iter().map(|row| f64::from(row[column])).sum::<f64>() / own.len() as f64;
                (f64::from(asked[column]) - mean).powi(2)
            }).sum::<f64>().sqrt()
        };
        let distances = [distance(0), distance(1), distance(2)];
        for class in 0..3 {
            let other = (0..3).filter(|&k| k != class).map(|k| distances[k]).fold(f64::INFINITY, f64::min);
            prop_assert!((found[class] - (other - distances[class])).abs() < 1e-5, "{found:?} {distances:?}");
        }
    }

    #[test]
    fn the_parts_and_a_base_that_the_row_does_not_move_add_up(
        rows in prop::collection::vec(prop::collection::vec(0.0f32..3.0, WIDTH), 6..12),
        asked in prop::collection::vec(0.1f32..3.0, WIDTH),
        cosine in any::<bool>(), exclusive in any::<bool>(),
    ) {
        let nearness = if cosine { Nearness::Cosine } else { Nearness::Euclidean };
        let task = if exclusive { Task::SingleLabel } else { Task::MultiLabel };
        let classes: Vec<u32> = (0..rows.len() as u32).map(|row| row % 3).collect();
        let scorer = fit(nearness, task, &dense(&rows), &classes, 3);
        let asked = dense(&[asked]);
        let found = outputs(&scorer, asked.row(0));
        for (output, score) in found.iter().enumerate() {
            let mut parts = vec![0.0; WIDTH];
            scorer.parts_into(asked.row(0), output, &mut ScorerBuffers::default(), &mut parts);
            let base = score - parts.iter().sum::<f64>();
            if cosine {
                prop_assert!(base.abs() < 1e-9, "{base}");
            } else {
                // -|m|² / d, or the difference of two such over the sum of the distances: bounded by
                // what the centres alone allow.
                prop_assert!(base.is_finite());
            }
        }
    }
}
