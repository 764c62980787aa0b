//! How many documents of unknown classes are noticed, and what that costs in known ones?

use serde::Serialize;

/// What became of one test document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenForecast {
    /// Whether its class is none of the model's.
    pub unknown: bool,
    /// Whether the model said so.
    pub called_other: bool,
    /// How likely the model's best class looks, before classes share a sum of one; any rising scale.
    pub best: f64,
    /// The largest probability once all classes are normalised: what is thresholded where
    /// nothing better is at hand.
    pub largest_probability: f64,
    /// Whether the most probable class is the right one.
    pub right: bool,
}

/// Unknown documents noticed and known documents lost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpenWorldReport {
    /// Documents of known classes.
    pub known: usize,
    /// Documents of unknown classes.
    pub unknown: usize,
    /// Share of the unknown that were called `other`.
    pub caught: f64,
    /// Share of the known that were called `other`.
    pub lost: f64,
    /// Share of the known, not called `other`, whose class is right.
    pub accuracy_of_kept: f64,
    /// Share of the known whose class is right, were nothing called `other`.
    pub accuracy_without: f64,
    /// Share of the unknown that a threshold on the largest probability catches at the same loss.
    pub caught_by_largest_probability: f64,
    /// The chance that a known document looks better than an unknown one.
    pub auc: f64,
    /// The same by the largest probability.
    pub auc_of_largest_probability: f64,
}

impl OpenWorldReport {
    /// Counts; `None` unless there are documents of both kinds.
    pub fn of(forecasts: &[OpenForecast]) -> Option<Self> {
        let (unknown, known): (Vec<OpenForecast>, Vec<OpenForecast>) =
            forecasts.iter().partition(|forecast| forecast.unknown);
        if unknown.is_empty() || known.is_empty() {
            return None;
        }
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let lost = known.iter().filter(|known| known.called_other).count();
        let kept_right = known
            .iter()
            .filter(|known| !known.called_other && known.right)
            .count();
        let caught = unknown
            .iter()
            .filter(|unknown| unknown.called_other)
            .count();
        let right = known.iter().filter(|known| known.right).count();
        let best = |forecast: &OpenForecast| forecast.best;
        let largest = |forecast: &OpenForecast| forecast.largest_probability;
        Some(Self {
            known: known.len(),
            unknown: unknown.len(),
            caught: share(caught, unknown.len()),
            lost: share(lost, known.len()),
            accuracy_of_kept: share(kept_right, known.len() - lost),
            accuracy_without: share(right, known.len()),
            caught_by_largest_probability: caught_at_loss(&known, &unknown, lost, largest),
            auc: chance_of_order(&known, &unknown, best),
            auc_of_largest_probability: chance_of_order(&known, &unknown, largest),
        })
    }
}

/// The share of the unknown below the threshold that loses `lost` of the known.
fn caught_at_loss(
    known: &[OpenForecast],
    unknown: &[OpenForecast],
    lost: usize,
    value: impl Fn(&OpenForecast) -> f64,
) -> f64 {
    let mut values: Vec<f64> = known.iter().map(&value).collect();
    values.sort_by(f64::total_cmp);
    let threshold = values.get(lost).copied().unwrap_or(f64::INFINITY);
    let caught = unknown.iter().filter(|unknown| value(unknown) < threshold);
    caught.count() as f64 / unknown.len() as f64
}

/// How often a known document has the larger value of a pair; equal ones count half.
fn chance_of_order(
    known: &[OpenForecast],
    unknown: &[OpenForecast],
    value: impl Fn(&OpenForecast) -> f64,
) -> f64 {
    let mut values: Vec<f64> = unknown.iter().map(&value).collect();
    values.sort_by(f64::total_cmp);
    let below: f64 = known
        .iter()
        .map(|known| {
            let own = value(known);
            let less = values.partition_point(|&other| other < own);
            let up_to = values.partition_point(|&other| other <= own);
            0.5 * (less + up_to) as f64
        })
        .sum();
    below / (known.len() as f64 * unknown.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_case_is_counted_as_by_hand() {
        let forecast = |unknown, called_other, best, largest_probability, right| OpenForecast {
            unknown,
            called_other,
            best,
            largest_probability,
            right,
        };
        let forecasts = [
            forecast(false, false, 3.0, 0.9, true),
            forecast(false, false, 2.0, 0.8, false),
            forecast(false, true, 0.0, 0.4, true),
            forecast(true, true, -1.0, 0.5, false),
            forecast(true, false, 2.5, 0.3, false),
        ];
        let found = OpenWorldReport::of(&forecasts).unwrap();
        assert_eq!((found.known, found.unknown), (3, 2));
        assert_eq!((found.caught, found.lost), (0.5, 1.0 / 3.0));
        assert_eq!(
            (found.accuracy_of_kept, found.accuracy_without),
            (0.5, 2.0 / 3.0)
        );
        // At the loss of one known document (0.4) the threshold is 0.8: both unknown are below.
        assert_eq!(found.caught_by_largest_probability, 1.0);
        // Pairs by best: 3 beats both, 2 beats one, 0 beats one: 4 of 6.
        assert!((found.auc - 4.0 / 6.0).abs() < 1e-12);
        assert!((found.auc_of_largest_probability - 5.0 / 6.0).abs() < 1e-12);
        assert!(OpenWorldReport::of(&forecasts[..3]).is_none());
    }
}
