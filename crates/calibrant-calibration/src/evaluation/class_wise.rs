//! Each class against the rest.

use super::calibration_error::{error_of, error_of_perfect};
use super::forecasts::Row;
use super::measures::ECE_BINS;
use super::sorted_forecasts::Point;
use super::{BesidePerfect, SortedForecasts};
use crate::numeric::StableSum;
use crate::parallel;

/// What is measured of one class against the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassRanking {
    pub(super) auc: Option<f64>,
    pub(super) average_precision: Option<f64>,
    pub(super) ece: BesidePerfect,
}

/// Measures every class on its own, one after the other or at once.
pub(super) fn class_rankings(rows: &[Row<'_>], class_count: usize) -> Vec<ClassRanking> {
    parallel::map_indices(class_count, |class| {
        let sorted = against_rest(rows, class);
        let bins = sorted.equal_mass(ECE_BINS);
        ClassRanking {
            auc: sorted.auc(),
            average_precision: sorted.average_precision(),
            ece: BesidePerfect {
                value: error_of(&sorted, &bins),
                of_perfect: error_of_perfect(&sorted, &bins),
            },
        }
    })
}

/// The forecasts of one class.
pub(super) fn against_rest(rows: &[Row<'_>], class: usize) -> SortedForecasts {
    SortedForecasts::gather(points_of_class(rows, class))
}

/// The same row by row.
pub(super) fn points_of_class(
    rows: &[Row<'_>],
    class: usize,
) -> impl Iterator<Item = Point> + Clone {
    rows.iter().map(move |row| {
        let belongs = row.labels.contains(&(class as u32));
        (row.probabilities[class], belongs, row.weight)
    })
}

/// The top-label calibration error: that of the most probable class's probability, on its own for the
/// documents of each decision, and then averaged by their weight. Calibrated overall is less than
/// calibrated whatever was decided.
///
/// # Reference
/// Gupta & Ramdas, ICLR 2022.
pub(super) fn top_label_error(rows: &[Row<'_>], class_count: usize) -> BesidePerfect {
    let mut by_decision: Vec<Vec<(crate::Probability, bool, f64)>> = vec![Vec::new(); class_count];
    for row in rows {
        let top = row.top_class();
        let happened = row
            .labels
            .first()
            .is_some_and(|&label| label as usize == top);
        by_decision[top].push((row.probabilities[top], happened, row.weight));
    }
    // Weights of a decision's documents are scaled by their own largest, so they are brought back.
    let parts: Vec<(f64, BesidePerfect)> = parallel::map(&by_decision, |points| {
        let sorted = SortedForecasts::new(points);
        let bins = sorted.equal_mass(ECE_BINS);
        let weight = sorted.weight();
        let found = BesidePerfect {
            value: error_of(&sorted, &bins),
            of_perfect: error_of_perfect(&sorted, &bins),
        };
        (weight, found)
    });
    let sum = |of: &dyn Fn(&(f64, BesidePerfect)) -> f64| -> f64 {
        parts.iter().map(of).collect::<StableSum>().total()
    };
    let total = sum(&|part| part.0);
    BesidePerfect {
        value: sum(&|part| part.0 * part.1.value) / total,
        of_perfect: sum(&|part| part.0 * part.1.of_perfect) / total,
    }
}

/// The plain mean of what is defined; `None` if nothing is.
pub(super) fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (StableSum::default(), 0.0);
    for value in values {
        sum.add(value);
        count += 1.0;
    }
    (count > 0.0).then(|| sum.total() / count)
}
