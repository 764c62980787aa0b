//! What decisions cost, for every ratio of the two costs.

use super::SortedForecasts;
use crate::Probability;
use crate::numeric::sigmoid;

/// The mean cost of a decision at one ratio of costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostPoint {
    /// `ln` of how many times as dear a miss is as a false alarm.
    pub ln_cost_ratio: f64,
    /// From this probability on "yes" is the cheaper decision.
    pub threshold: f64,
    /// The cost of deciding by the stated probabilities.
    pub cost: f64,
    /// The cost of the threshold that turns out cheapest in hindsight.
    pub least: f64,
    /// The cost of always deciding "yes".
    pub always_yes: f64,
    /// The cost of always deciding "no".
    pub always_no: f64,
}

/// The mean cost of decisions over a range of cost ratios, `steps` on each side of equal costs.
///
/// # Formula
/// A false alarm and a miss together cost 1: a false alarm `t`, a miss `1 - t`. "Yes" is the cheaper
/// decision from the probability `t` on, so that
/// ```text
/// cost(t) = t · share(p >= t, but no)  +  (1 - t) · share(p < t, but yes)
/// ```
/// Always deciding "yes" costs `t (1 - π)` and always deciding "no" `(1 - t) π`, where `π` is the
/// share of positives. Twice the area under `cost` over `t` from 0 to 1 is the Brier score.
///
/// # When it misleads
/// The best threshold in hindsight was chosen after seeing the truth, and is a little too good.
///
/// # Reference
/// Drummond and Holte, Machine Learning 2006 (cost curves); Hernández-Orallo, Flach and Ferri,
/// ICML 2011 (their area for decisions by the stated probability).
///
/// ```
/// use calibrant_calibration::{Probability, evaluation::cost_curve};
/// let p = Probability::from_log_odds(0.0);
/// let curve = cost_curve(&[(p, true, 1.0), (p, false, 1.0)], 2.0, 2);
/// assert_eq!(curve.len(), 5);
/// // By hand: at equal costs one half is decided "yes", which is wrong every other time.
/// assert_eq!((curve[2].threshold, curve[2].cost), (0.5, 0.25));
/// ```
pub fn cost_curve(
    points: &[(Probability, bool, f64)],
    largest_ln_ratio: f64,
    steps: usize,
) -> Vec<CostPoint> {
    let sorted = SortedForecasts::new(points);
    if sorted.is_empty() {
        return Vec::new();
    }
    // Decisions change at these places: false alarms and misses when all before are "no".
    let (_, against) = sorted.outcomes(0..sorted.len());
    let (mut alarms, mut misses) = (against / sorted.total, 0.0);
    let (all_alarms, mut states) = (alarms, vec![(f64::NEG_INFINITY, alarms, 0.0)]);
    for tied in sorted.blocks() {
        let log_odds = sorted.log_odds[tied.start];
        let (yes, no) = sorted.outcomes(tied);
        misses += yes / sorted.total;
        alarms -= no / sorted.total;
        states.push((log_odds, alarms.max(0.0), misses));
    }
    let share = misses;
    let hull = lower_hull(&states);
    let steps = steps.max(1) as i64;
    (-steps..=steps)
        .map(|step| {
            let ln_cost_ratio = largest_ln_ratio * step as f64 / steps as f64;
            let (alarm, miss) = (sigmoid(-ln_cost_ratio), sigmoid(ln_cost_ratio));
            let price = |&(_, alarms, misses): &(f64, f64, f64)| alarm * alarms + miss * misses;
            // "No" below the threshold, whose log-odds are those of the costs turned round.
            let below = states.partition_point(|state| state.0 < -ln_cost_ratio);
            let cheapest = hull.iter().map(price).fold(f64::INFINITY, f64::min);
            let cost = price(&states[below.saturating_sub(1)]);
            CostPoint {
                ln_cost_ratio,
                threshold: alarm,
                cost,
                least: cheapest.min(cost),
                always_yes: alarm * all_alarms,
                always_no: miss * share,
            }
        })
        .collect()
}

/// Of states with ever fewer alarms and more misses, those that are cheapest at some ratio.
fn lower_hull(states: &[(f64, f64, f64)]) -> Vec<(f64, f64, f64)> {
    let mut hull: Vec<(f64, f64, f64)> = Vec::new();
    for &state in states {
        while let [.., first, second] = hull.as_slice() {
            let turn = (second.1 - first.1) * (state.2 - first.2)
                - (second.2 - first.2) * (state.1 - first.1);
            if turn < 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(state);
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn sample(count: usize) -> Vec<(Probability, bool, f64)> {
        let mut random = Random::from_seed(6);
        (0..count)
            .map(|_| {
                let x = (6.0 * random.normal()).round() / 4.0;
                let happened = random.uniform() < Probability::from_log_odds(0.5 * x - 1.0).value();
                (
                    Probability::from_log_odds(x),
                    happened,
                    0.5 + random.uniform(),
                )
            })
            .collect()
    }

    #[test]
    fn every_point_agrees_with_counting() {
        let points = sample(200);
        let total: f64 = points.iter().map(|p| p.2).sum();
        let cost_at = |cut: f64, t: f64| -> f64 {
            let costs =
                points
                    .iter()
                    .map(|&(p, happened, w)| match (p.log_odds() >= cut, happened) {
                        (true, false) => w * t,
                        (false, true) => w * (1.0 - t),
                        _ => 0.0,
                    });
            costs.sum::<f64>() / total
        };
        for point in cost_curve(&points, 4.1, 30) {
            let t = point.threshold;
            let cut = -point.ln_cost_ratio;
            assert!((point.cost - cost_at(cut, t)).abs() < 1e-12, "{point:?}");
            let all = points.iter().map(|p| cost_at(p.0.log_odds(), t));
            let least = all.fold(cost_at(f64::INFINITY, t), f64::min);
            assert!((point.least - least).abs() < 1e-12, "{point:?} {least}");
            assert!((point.always_no - cost_at(f64::INFINITY, t)).abs() < 1e-12);
            assert!((point.always_yes - cost_at(f64::NEG_INFINITY, t)).abs() < 1e-12);
        }
    }

    #[test]
    fn twice_the_area_is_the_brier_score() {
        let points = sample(300);
        let (mut brier, mut weight) = (0.0, 0.0);
        for &(p, happened, w) in &points {
            brier += w * (p.value() - f64::from(u8::from(happened))).powi(2);
            weight += w;
        }
        // By the trapezoid rule over t; the curve jumps, so the grid must be fine.
        let curve = cost_curve(&points, 12.0, 60_000);
        let area: f64 = curve
            .windows(2)
            .map(|pair| {
                (pair[0].threshold - pair[1].threshold) * (pair[0].cost + pair[1].cost) / 2.0
            })
            .sum();
        assert!((2.0 * area - brier / weight).abs() < 1e-4, "{area} {brier}");
    }

    #[test]
    fn no_forecasts_have_no_costs() {
        assert!(cost_curve(&[], 5.0, 10).is_empty());
    }
}
