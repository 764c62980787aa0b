//! How far a class's stated log-odds may be off.

use crate::calibration::LogOddsSpread;
use crate::evaluation::Forecasts;
use crate::parallel;

/// Beyond so many forecasts of all classes it is not looked at: it would take longer than it is worth.
const MOST_FORECASTS: usize = 20_000_000;

/// For each class, from held-out forecasts of it; the members are the rows that have it, rising.
///
/// Rows of one unit (a document, or a group of them) tell no more together than one does, and rows of great weight not as much as
/// they weigh: a class counts for as many cases as there are units, by their weights, on the side that has fewer for its weight.
pub(super) fn spreads_of_classes(
    forecasts: &Forecasts,
    members: &[Vec<u32>],
    unit_of_row: &[u32],
) -> Vec<Option<LogOddsSpread>> {
    if forecasts.probabilities.len() > MOST_FORECASTS {
        return vec![None; members.len()];
    }
    let rows = Rows::new(forecasts, unit_of_row);
    parallel::map_indices(members.len(), |class| rows.spread(class, &members[class]))
}

/// What all classes have in common.
struct Rows<'a> {
    forecasts: &'a Forecasts,
    unit_of_row: &'a [u32],
    /// The weight of each unit.
    units: Vec<f64>,
    total: f64,
    squares: f64,
}

impl<'a> Rows<'a> {
    fn new(forecasts: &'a Forecasts, unit_of_row: &'a [u32]) -> Self {
        let count = unit_of_row
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1);
        let mut rows = Self {
            forecasts,
            unit_of_row,
            units: vec![0.0; count],
            total: 0.0,
            squares: 0.0,
        };
        for (row, &unit) in unit_of_row.iter().enumerate() {
            let weight = rows.weight(row);
            rows.units[unit as usize] += weight;
        }
        rows.total = rows.units.iter().sum();
        rows.squares = rows.units.iter().map(|weight| weight * weight).sum();
        rows
    }

    fn weight(&self, row: usize) -> f64 {
        let weights = self.forecasts.weights.as_ref();
        weights.map_or(1.0, |weights| weights[row])
    }

    fn spread(&self, class: usize, members: &[u32]) -> Option<LogOddsSpread> {
        let scale = self.scale(members);
        let width = self.forecasts.class_names.len().max(1);
        let rows = self.forecasts.probabilities.chunks_exact(width);
        let mut next = members.iter().peekable();
        let cases = rows.enumerate().map(|(row, stated)| {
            let has = next.next_if(|&&member| member as usize == row).is_some();
            (stated[class].log_odds(), has, scale * self.weight(row))
        });
        LogOddsSpread::of_one_group(cases)
    }

    /// How many cases a weight of one stands for.
    fn scale(&self, members: &[u32]) -> f64 {
        let mut of_class: Vec<(u32, f64)> = members
            .iter()
            .map(|&row| (self.unit_of_row[row as usize], self.weight(row as usize)))
            .collect();
        of_class.sort_by_key(|&(unit, _)| unit);
        let (mut sum, mut squares, mut others) = (0.0, 0.0, self.squares);
        for unit in of_class.chunk_by(|a, b| a.0 == b.0) {
            let own: f64 = unit.iter().map(|(_, weight)| weight).sum();
            let whole = self.units[unit[0].0 as usize];
            sum += own;
            squares += own * own;
            others += (whole - own) * (whole - own) - whole * whole;
        }
        // Kish's number of cases is sum²/squares; a weight of one is so many of them.
        let per_weight = |sum: f64, squares: f64| match squares > 0.0 {
            true => sum / squares,
            false => f64::INFINITY,
        };
        let scale = per_weight(sum, squares).min(per_weight(self.total - sum, others));
        if scale.is_finite() { scale } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use crate::{Probability, Task};

    fn forecasts(rows: &[(f64, bool)], weights: Vec<f64>) -> (Forecasts, Vec<Vec<u32>>) {
        let stated = rows.iter().flat_map(|&(log_odds, _)| {
            let stated = Probability::from_log_odds(log_odds);
            [stated.complement(), stated]
        });
        let label = |has: bool| u32::from(has);
        let members = |wanted: bool| {
            let rows = (0..).zip(rows).filter(|(_, (_, has))| *has == wanted);
            rows.map(|(row, _)| row).collect::<Vec<u32>>()
        };
        let forecasts = Forecasts {
            task: Task::SingleLabel,
            class_names: vec!["no".into(), "yes".into()],
            probabilities: stated.collect(),
            labels: rows.iter().map(|&(_, has)| vec![label(has)]).collect(),
            weights: Some(weights),
        };
        (forecasts, vec![members(false), members(true)])
    }

    fn draw(count: usize) -> Vec<(f64, bool)> {
        let mut random = Random::from_seed(5);
        let mut one = || {
            let log_odds = 1.5 * random.normal() - 1.0;
            let has = random.uniform() < Probability::from_log_odds(log_odds).value();
            (log_odds, has)
        };
        (0..count).map(|_| one()).collect()
    }

    fn width(spread: Option<LogOddsSpread>) -> f64 {
        spread.unwrap().standard_deviations().0
    }

    #[test]
    fn rows_that_belong_together_tell_no_more_than_one_of_them() {
        let once = draw(200);
        let (alone, members) = forecasts(&once, vec![1.0; 200]);
        let units: Vec<u32> = (0..200).collect();
        let of_once = spreads_of_classes(&alone, &members, &units);
        // Five times the same, as groups of five: by hand the same cases, each once.
        let five: Vec<(f64, bool)> = once.iter().flat_map(|&row| [row; 5]).collect();
        let (fivefold, members) = forecasts(&five, vec![1.0; 1000]);
        let groups: Vec<u32> = (0..1000).map(|row| row / 5).collect();
        let of_groups = spreads_of_classes(&fivefold, &members, &groups);
        assert!((width(of_groups[1]) / width(of_once[1]) - 1.0).abs() < 1e-9);
        // As rows that stand for themselves they would tell more.
        let rows: Vec<u32> = (0..1000).collect();
        let of_rows = spreads_of_classes(&fivefold, &members, &rows);
        assert!(width(of_rows[1]) < 0.98 * width(of_once[1]));
    }

    #[test] // Four rows of weight 1 and one of 4, of one label: by hand (8)²/20 = 3.2 cases of 8.
    fn a_row_of_great_weight_is_one_case() {
        let rows = [
            (0.0, true),
            (0.1, true),
            (0.2, true),
            (0.3, true),
            (0.4, true),
            (-1.0, false),
        ];
        let (forecasts, members) = forecasts(&rows, vec![1.0, 1.0, 1.0, 1.0, 4.0, 0.1]);
        let rows = Rows::new(&forecasts, &[0, 1, 2, 3, 4, 5]);
        assert!((rows.scale(&members[1]) - 3.2 / 8.0).abs() < 1e-12);
    }
}
