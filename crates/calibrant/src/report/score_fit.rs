//! Scores of one class, and what calibrators make of them.

use crate::Probability;
use crate::calibration::Calibrator;
use crate::evaluation::reliability;
use crate::numeric::order_bits;
use crate::plot::{Curve, DensityCell, DensityGroup, LogOddsPoint};

/// Columns of the counted densities.
const CELLS: usize = 40;
/// Bins of the counted log-odds.
const BINS: f64 = 24.0;
/// Examples that a bin needs.
const LEAST_COUNT: usize = 10;
/// Points of a sampled curve.
const SAMPLES: usize = 240;
/// The share of the scores of either side that may lie beyond each edge.
const BEYOND: f64 = 0.002;

/// Scores of one class, with the calibrators to be shown.
pub struct ClassScores<'a> {
    /// The class.
    pub class: String,
    /// Score, whether the example belongs to the class, and its weight.
    pub examples: Vec<(f64, bool, f64)>,
    /// Calibrators with their names: first the one in use, then others to compare it with.
    pub calibrators: Vec<(String, Box<dyn Calibrator + 'a>)>,
}

/// Counted densities and log-odds by score, with the curves of calibrators.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreFit {
    /// The class.
    pub class: String,
    /// The densities of the others (first) and of the class.
    pub densities: Vec<DensityGroup>,
    /// The log-odds that were counted.
    pub log_odds: Vec<LogOddsPoint>,
    /// The log-odds that calibrators give.
    pub curves: Vec<Curve>,
}

impl ScoreFit {
    /// Counts what there is; nothing without a finite score of positive weight on both sides.
    ///
    /// Calibrators that rest on densities show them. Any other implies densities: if its
    /// probabilities `P` were right, the positives would lie as `P(s)` times all
    /// scores do, and the negatives as `1 - P(s)` times them; these are shown instead.
    pub fn new(scores: &ClassScores<'_>) -> Option<Self> {
        let counts = |example: &&(f64, bool, f64)| {
            example.0.is_finite() && example.2.is_finite() && example.2 > 0.0
        };
        let mut examples: Vec<(f64, bool, f64)> =
            scores.examples.iter().filter(counts).copied().collect();
        let largest = examples.iter().map(|example| example.2).fold(0.0, f64::max);
        examples.iter_mut().for_each(|example| example.2 /= largest);
        examples.retain(|example| example.2 > 0.0);
        // The order of the input must leave no trace in the sums.
        examples.sort_unstable_by_key(|example| {
            (order_bits(example.0), example.1, example.2.to_bits())
        });
        let (low, high) = range(&examples)?;
        let densities = [(false, "the others"), (true, scores.class.as_str())]
            .map(|(belongs, name)| group(name, belongs, &examples, scores, (low, high)));
        let curves = scores.calibrators.iter().map(|(name, calibrator)| {
            Curve::sample(name, low, high, SAMPLES, |score| {
                calibrator.probability(score).log_odds()
            })
        });
        Some(Self {
            class: scores.class.clone(),
            densities: densities.into(),
            log_odds: log_odds_by_score(&examples, (high - low) / BINS),
            curves: curves.collect(),
        })
    }
}

/// From where to where the scores of both sides lie, but for a few far out.
fn range(sorted: &[(f64, bool, f64)]) -> Option<(f64, f64)> {
    let mut ends: Option<(f64, f64)> = None;
    for side in [false, true] {
        let scores: Vec<f64> = sorted
            .iter()
            .filter(|example| example.1 == side)
            .map(|example| example.0)
            .collect();
        let last = scores.len().checked_sub(1)?;
        let skipped = (BEYOND * last as f64) as usize;
        let (low, high) = (scores[skipped], scores[last - skipped]);
        ends = Some(ends.map_or((low, high), |(a, b)| (a.min(low), b.max(high))));
    }
    let (low, high) = ends?;
    // Widths must not overflow, and equal scores need some.
    let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
    let room = (0.01 * (high - low)).max(1e-9 * low.abs().max(high.abs()));
    // Nor may a density: one over a width.
    let room = if room > 1e-200 { room } else { 1e-9 };
    Some((low - room, high + room))
}

/// Counted and fitted densities of one side.
fn group(
    name: &str,
    belongs: bool,
    examples: &[(f64, bool, f64)],
    scores: &ClassScores<'_>,
    (low, high): (f64, f64),
) -> DensityGroup {
    let width = (high - low) / CELLS as f64;
    let shares = |weight: &dyn Fn(&(f64, bool, f64)) -> f64| -> Vec<f64> {
        let (mut cells, mut total) = (vec![0.0; CELLS], 0.0);
        for example in examples {
            let weight = weight(example);
            total += weight;
            if (low..=high).contains(&example.0) {
                let cell = ((example.0 - low) / width) as usize;
                cells[cell.min(CELLS - 1)] += weight;
            }
        }
        cells.iter().map(|cell| cell / total / width).collect()
    };
    let edge = |cell: usize| low + width * cell as f64;
    let counted = shares(&|example| if example.1 == belongs { example.2 } else { 0.0 });
    let mut curves = Vec::new();
    for (position, (name, calibrator)) in scores.calibrators.iter().enumerate() {
        if calibrator.ln_densities(low).is_some() {
            curves.push(Curve::sample(name, low, high, SAMPLES, |score| {
                let both = calibrator.ln_densities(score);
                both.map_or(f64::NAN, |(positive, negative)| {
                    if belongs { positive } else { negative }.exp()
                })
            }));
        } else if position == 0 {
            let implied = shares(&|example| {
                let probability = calibrator.probability(example.0);
                let side = if belongs {
                    probability
                } else {
                    probability.complement()
                };
                example.2 * side.value()
            });
            let middles = implied.into_iter().enumerate();
            curves.push(Curve {
                name: format!("implied by {name}"),
                points: middles
                    .map(|(cell, density)| (edge(cell) + width / 2.0, density))
                    .collect(),
            });
        }
    }
    let cells = counted.into_iter().enumerate();
    DensityGroup {
        name: name.to_owned(),
        cells: cells
            .map(|(cell, density)| DensityCell {
                from: edge(cell),
                to: edge(cell + 1),
                density,
            })
            .collect(),
        curves,
    }
}

/// Bins of about equal width, widened where there are too few examples.
fn log_odds_by_score(sorted: &[(f64, bool, f64)], width: f64) -> Vec<LogOddsPoint> {
    let mut points = Vec::new();
    let mut start = 0;
    for end in 1..=sorted.len() {
        let next = sorted.get(end);
        let wide = next.is_none_or(|next| {
            // Equal scores stay together.
            next.0 > sorted[end - 1].0 && next.0 - sorted[start].0 >= width
        });
        let enough = end - start >= LEAST_COUNT && sorted.len() - end >= LEAST_COUNT;
        if wide && (enough || next.is_none()) {
            points.extend(counted_log_odds(&sorted[start..end]));
            start = end;
        }
    }
    points
}

fn counted_log_odds(bin: &[(f64, bool, f64)]) -> Option<LogOddsPoint> {
    let even = Probability::from_log_odds(0.0);
    let outcomes: Vec<(Probability, bool, f64)> = bin
        .iter()
        .map(|&(_, belongs, weight)| (even, belongs, weight))
        .collect();
    let share = *reliability(&outcomes, 1).first()?;
    let (mut score, mut weight) = (0.0, 0.0);
    for example in bin {
        weight += example.2;
        // A running mean, which no large score overflows.
        score += (example.0 - score) * (example.2 / weight);
    }
    let log_odds = |p: f64| (p / (1.0 - p)).ln();
    Some(LogOddsPoint {
        score,
        log_odds: log_odds(share.observed),
        lower: log_odds(share.lower),
        upper: log_odds(share.upper),
        count: bin.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{AsymmetricLaplaceMethod, CalibrationMethod, HeldOutScores, Platt};
    use crate::numeric::{Random, sigmoid};
    use proptest::prelude::*;

    fn sample(count: usize) -> Vec<(f64, bool, f64)> {
        let mut random = Random::from_seed(3);
        (0..count)
            .map(|_| {
                let score = 2.0 * random.normal();
                (score, random.uniform() < sigmoid(1.5 * score - 1.0), 1.0)
            })
            .collect()
    }

    #[test]
    fn counted_and_fitted_agree_where_the_calibrator_is_right() {
        let examples = sample(20_000);
        let (scores, labels) = examples.iter().map(|e| (e.0, e.1)).unzip();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        let (platt, laplace) = (
            Platt.fit(&held_out).unwrap(),
            AsymmetricLaplaceMethod.fit(&held_out).unwrap(),
        );
        let fit = ScoreFit::new(&ClassScores {
            class: "wheat".into(),
            examples,
            calibrators: vec![
                ("platt".into(), Box::new(&platt)),
                ("asymmetric laplace".into(), Box::new(&laplace)),
            ],
        })
        .unwrap();
        for group in &fit.densities {
            let width = group.cells[0].to - group.cells[0].from;
            let area: f64 = group.cells.iter().map(|cell| cell.density * width).sum();
            assert!((0.99..=1.0 + 1e-9).contains(&area), "{area}");
            let names: Vec<&str> = group.curves.iter().map(|c| c.name.as_str()).collect();
            assert_eq!(names, ["implied by platt", "asymmetric laplace"]);
            // The truth is logistic, so what Platt's curve implies is what was counted.
            for (cell, point) in group.cells.iter().zip(&group.curves[0].points) {
                assert!((cell.density - point.1).abs() < 0.03, "{cell:?} {point:?}");
            }
        }
        for point in fit
            .log_odds
            .iter()
            .filter(|p| p.count > 200 && p.log_odds.is_finite())
        {
            let expected = platt.probability(point.score).log_odds();
            assert!(
                point.lower - 0.3 < expected && expected < point.upper + 0.3,
                "{point:?}"
            );
        }
        assert_eq!(fit.log_odds.iter().map(|p| p.count).sum::<usize>(), 20_000);
        assert!(fit.log_odds.len() <= 26);
    }

    #[test]
    fn one_side_alone_shows_nothing() {
        let of = |examples| ClassScores {
            class: "x".into(),
            examples,
            calibrators: vec![],
        };
        assert!(ScoreFit::new(&of(vec![])).is_none());
        assert!(ScoreFit::new(&of(vec![(1.0, true, 1.0), (f64::NAN, false, 1.0)])).is_none());
        let equal = vec![(1.0, true, 1.0), (1.0, false, 1.0)];
        assert!(ScoreFit::new(&of(equal)).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_scores_give_finite_cells(
            examples in prop::collection::vec((any::<f64>(), any::<bool>(), any::<f64>()), 0..60)
        ) {
            let scores = ClassScores { class: "x".into(), examples, calibrators: vec![] };
            if let Some(fit) = ScoreFit::new(&scores) {
                for cell in fit.densities.iter().flat_map(|group| &group.cells) {
                    prop_assert!(cell.from.is_finite() && cell.to.is_finite() && cell.density >= 0.0);
                }
                prop_assert!(fit.log_odds.iter().all(|point| point.score.is_finite()));
            }
        }
    }
}
