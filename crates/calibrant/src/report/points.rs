//! Every decision as a forecast, whether it came true, and its weight.

use crate::evaluation::Forecasts;
use crate::{Probability, Task};

type Point = (Probability, bool, f64);

/// Each document by its number with its probabilities and labels and, unless it is zero, its weight.
pub(super) fn documents(
    forecasts: &Forecasts,
) -> impl Iterator<Item = (usize, &[Probability], &[u32], f64)> {
    let classes = forecasts.class_names.len().max(1);
    let rows = forecasts.probabilities.chunks_exact(classes);
    rows.zip(forecasts.labels.iter())
        .enumerate()
        .map(|(document, (row, labels))| {
            let weights = forecasts.weights.as_ref();
            let weight =
                weights.map_or(1.0, |weights| weights.get(document).copied().unwrap_or(0.0));
            (document, row, labels, weight)
        })
        .filter(|document| document.3 > 0.0)
}

/// "Belongs or not" of one class.
pub(super) fn decisions_of_class(forecasts: &Forecasts, class: usize) -> Vec<Point> {
    documents(forecasts)
        .map(|(_, row, labels, weight)| (row[class], labels.contains(&(class as u32)), weight))
        .collect()
}

/// What is said of one class.
pub(super) fn stated_of_class(forecasts: &Forecasts, class: usize) -> Vec<Probability> {
    documents(forecasts)
        .map(|(_, row, ..)| row[class])
        .collect()
}

/// "Belongs or not" of every class.
pub(super) fn all_decisions(forecasts: &Forecasts) -> Vec<Point> {
    let mut points = Vec::with_capacity(forecasts.probabilities.len());
    let mut belongs = vec![false; forecasts.class_names.len()];
    for (_, row, labels, weight) in documents(forecasts) {
        labels
            .iter()
            .for_each(|&label| belongs[label as usize] = true);
        points.extend(
            row.iter()
                .zip(&belongs)
                .map(|(&p, &truth)| (p, truth, weight)),
        );
        labels
            .iter()
            .for_each(|&label| belongs[label as usize] = false);
    }
    points
}

/// Recall and precision of what is decided: the first choice of single-label documents, every
/// class above one half of multi-label ones.
pub(super) fn decided(forecasts: &Forecasts) -> (f64, f64) {
    let (mut right, mut found, mut positives) = (0.0, 0.0, 0.0);
    for (_, row, labels, weight) in documents(forecasts) {
        let mut top = 0;
        for (class, probability) in row.iter().enumerate() {
            if probability.log_odds() > row[top].log_odds() {
                top = class;
            }
        }
        for (class, probability) in row.iter().enumerate() {
            let yes = match forecasts.task {
                Task::SingleLabel => class == top,
                Task::MultiLabel => probability.log_odds() > 0.0,
            };
            let truth = yes && labels.contains(&(class as u32));
            found += if yes { weight } else { 0.0 };
            right += if truth { weight } else { 0.0 };
        }
        let mut distinct = labels.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        positives += weight * distinct.len() as f64;
    }
    let share = |of: f64| if of > 0.0 { right / of } else { 0.0 };
    (share(positives), share(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // By hand: of three decisions "yes" two are right, of four labels two are found.
    fn decisions_are_counted() {
        let yes = Probability::from_log_odds(1.0);
        let no = yes.complement();
        let forecasts = Forecasts {
            task: Task::MultiLabel,
            class_names: vec!["a".into(), "b".into()],
            probabilities: vec![yes, no, yes, yes, no, no, no, no],
            labels: [vec![0, 1], vec![1, 1], vec![0], vec![0]].into(),
            weights: Some(vec![1.0, 1.0, 1.0, 0.0]),
        };
        assert_eq!(decided(&forecasts), (0.5, 2.0 / 3.0));
        assert_eq!(
            decisions_of_class(&forecasts, 1),
            [(no, true, 1.0), (yes, true, 1.0), (no, false, 1.0)]
        );
        assert_eq!(all_decisions(&forecasts).len(), 6);
    }
}
