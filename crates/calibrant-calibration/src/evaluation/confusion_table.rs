//! Which classes are taken for which.

use std::collections::BTreeMap;

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
    /// Weights by truth (row) and decision (column). What never happened is left out, so that thousands of classes take no
    /// more memory than there are documents.
    pub cells: BTreeMap<(u32, u32), f64>,
}

impl ConfusionTable {
    /// The weight of a cell.
    pub fn at(&self, truth: usize, decision: usize) -> f64 {
        let cell = (truth as u32, decision as u32);
        self.cells.get(&cell).copied().unwrap_or(0.0)
    }

    /// All that was true of a class.
    pub fn row_total(&self, truth: usize) -> f64 {
        let truth = truth as u32;
        let row = self.cells.range((truth, 0)..=(truth, u32::MAX));
        row.map(|(_, count)| count).sum()
    }

    /// Every cell, row after row.
    ///
    /// # When it misleads
    /// It takes the square of the number of classes: see [`Self::most_confused`] for many.
    pub fn dense(&self) -> Vec<f64> {
        let size = self.names.len();
        let mut counts = vec![0.0; size * size];
        for (&(row, column), &count) in &self.cells {
            counts[row as usize * size + column as usize] = count;
        }
        counts
    }

    /// The classes with the most mistakes, in their old order, and the others as one, `most` in all.
    pub fn most_confused(&self, most: usize) -> Self {
        let size = self.names.len();
        if size <= most || most == 0 {
            return self.clone();
        }
        let mut mistakes = vec![0.0; size];
        for (&(row, column), count) in self.cells.iter().filter(|((row, column), _)| row != column)
        {
            mistakes[row as usize] += count;
            mistakes[column as usize] += count;
        }
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|&a, &b| mistakes[b].total_cmp(&mistakes[a]).then(a.cmp(&b)));
        let mut place = vec![most as u32 - 1; size];
        let mut kept: Vec<usize> = order.into_iter().take(most - 1).collect();
        kept.sort_unstable();
        for (new, &old) in (0..).zip(&kept) {
            place[old] = new;
        }
        let mut cells = BTreeMap::new();
        for (&(row, column), count) in &self.cells {
            let cell = (place[row as usize], place[column as usize]);
            *cells.entry(cell).or_insert(0.0) += count;
        }
        let mut names: Vec<String> = kept.iter().map(|&old| self.names[old].clone()).collect();
        names.push(format!("({} others)", size - kept.len()));
        Self { names, cells }
    }
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
/// assert_eq!(table.dense(), [1.0, 0.0, 1.0, 0.0]); // ham was said both times
/// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
/// ```
pub fn confusion_table(forecasts: &Forecasts) -> Result<ConfusionTable, EvaluationError> {
    forecasts.check()?;
    let mut names = forecasts.class_names.clone();
    if forecasts.task == Task::MultiLabel {
        names.push("(nothing)".to_owned());
    }
    let size = names.len();
    let mut cells = BTreeMap::new();
    let mut add = |row: usize, column: usize, weight: f64| {
        *cells.entry((row as u32, column as u32)).or_insert(0.0) += weight;
    };
    let mut is_label = vec![false; size];
    for row in forecasts.rows() {
        if forecasts.task == Task::SingleLabel {
            let truth = row.labels.first().map_or(0, |&label| label as usize);
            add(truth, row.top_class(), row.weight);
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
                add(label, label, row.weight);
                continue;
            }
            missed_any = true;
            if wrong.is_empty() {
                add(label, size - 1, row.weight);
            }
            for &class in &wrong {
                add(label, class, row.weight / wrong.len() as f64);
            }
        }
        if !missed_any {
            for &class in &wrong {
                add(size - 1, class, row.weight);
            }
        }
        row.labels
            .iter()
            .for_each(|&label| is_label[label as usize] = false);
    }
    Ok(ConfusionTable { names, cells })
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
        for (found, expected) in table.dense().iter().zip(expected.concat()) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn many_classes_take_memory_for_what_happened_and_are_cut_down_to_the_most_confused() {
        let size = 20_000;
        let mut table = ConfusionTable {
            names: (0..size).map(|class| format!("class {class}")).collect(),
            cells: (0..size as u32)
                .map(|class| ((class, class), 10.0))
                .collect(),
        };
        table.cells.insert((7, 19_000), 5.0);
        assert_eq!((table.at(7, 19_000), table.row_total(7)), (5.0, 15.0));
        let small = table.most_confused(30);
        assert_eq!(small.names.len(), 30);
        let of = |name: &str| small.names.iter().position(|n| n == name).unwrap();
        assert_eq!(small.at(of("class 7"), of("class 19000")), 5.0);
        // By hand: 29 classes stay, the others were right ten times each.
        assert_eq!(small.names[29], "(19971 others)");
        assert_eq!(small.at(29, 29), 199_710.0);
        assert_eq!(small.dense().len(), 900);
        assert_eq!(table.most_confused(size), table);
    }
}
