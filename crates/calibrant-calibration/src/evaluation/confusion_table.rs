//! Which classes are taken for which.

use super::forecasts::{EvaluationError, Forecasts};
use crate::Task;

/// How much of each true class was decided to be which.
///
/// # Formula
/// Of single-label documents each adds its weight to the cell of its label (row) and
/// its most probable class (column). Of multi-label documents every label `t` adds to the
/// row of `t`: to the diagonal where it was decided; else, shared evenly, to the classes that were
/// decided wrongly, or to the column of nothing where there are none. Classes
/// decided wrongly where no label was missed stand in the row of nothing. So the rows of
/// classes add up to the documents with that label.
///
/// # When it misleads
/// Which of several missed labels a wrong decision stands for is unknown; sharing evenly is a
/// convention.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfusionTable {
    /// The classes; for multi-label forecasts "(nothing)" is the last.
    pub names: Vec<String>,
    /// Weights, row after row: the truth in rows, decisions in columns.
    pub counts: Vec<f64>,
}

/// Counts which classes are taken for which.
///
/// ```
/// use calibrant_calibration::{Probability, Task, evaluation::{Forecasts, confusion_table}};
/// let p = Probability::from_log_odds(2.0);
/// let table = confusion_table(&Forecasts {
///     task: Task::SingleLabel,
///     class_names: vec!["ham".into(), "spam".into()],
///     probabilities: vec![p, p.complement(), p, p.complement()],
///     labels: vec![vec![0], vec![1]].into(),
///     weights: None,
/// })?;
/// assert_eq!(table.counts, [1.0, 0.0, 1.0, 0.0]); // ham was said both times
/// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
/// ```
pub fn confusion_table(forecasts: &Forecasts) -> Result<ConfusionTable, EvaluationError> {
    forecasts.check()?;
    let mut names = forecasts.class_names.clone();
    if forecasts.task == Task::MultiLabel {
        names.push("(nothing)".to_owned());
    }
    let size = names.len();
    let mut counts = vec![0.0; size * size];
    let mut is_label = vec![false; size];
    for row in forecasts.rows() {
        if forecasts.task == Task::SingleLabel {
            let truth = row.labels.first().map_or(0, |&label| label as usize);
            counts[truth * size + row.top_class()] += row.weight;
            continue;
        }
        row.labels
            .iter()
            .for_each(|&label| is_label[label as usize] = true);
        let decided = |class: usize| row.probabilities[class].log_odds() > 0.0;
        let classes = 0..size - 1;
        let wrong: Vec<usize> = classes
            .clone()
            .filter(|&class| decided(class) && !is_label[class])
            .collect();
        let mut missed_any = false;
        for label in classes.filter(|&class| is_label[class]) {
            if decided(label) {
                counts[label * size + label] += row.weight;
                continue;
            }
            missed_any = true;
            if wrong.is_empty() {
                counts[label * size + size - 1] += row.weight;
            }
            for &class in &wrong {
                counts[label * size + class] += row.weight / wrong.len() as f64;
            }
        }
        if !missed_any {
            for &class in &wrong {
                counts[(size - 1) * size + class] += row.weight;
            }
        }
        row.labels
            .iter()
            .for_each(|&label| is_label[label as usize] = false);
    }
    Ok(ConfusionTable { names, counts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probability;

    #[test] // By hand: grain found, wheat missed for corn; then corn for nothing; then all missed.
    fn several_labels_are_paired_with_wrong_decisions() {
        let yes = Probability::from_log_odds(1.0);
        let no = yes.complement();
        let table = confusion_table(&Forecasts {
            task: Task::MultiLabel,
            class_names: vec!["grain".into(), "wheat".into(), "corn".into()],
            probabilities: vec![yes, no, yes, no, no, yes, no, no, no],
            labels: [vec![0, 1, 1], vec![], vec![2]].into(),
            weights: Some(vec![2.0, 2.0, 4.0]),
        })
        .unwrap();
        // In documents: weights of 2, 2 and 4 are 3/4, 3/4 and 3/2 of their mean.
        let expected = [
            [0.75, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.75, 0.0],
            [0.0, 0.0, 0.0, 1.5],
            [0.0, 0.0, 0.75, 0.0],
        ];
        for (found, expected) in table.counts.iter().zip(expected.concat()) {
            assert!((found - expected).abs() < 1e-12);
        }
    }
}
