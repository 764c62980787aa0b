//! The unit and the centre of scores, and where a curve may bend.

use super::cells::{Cells, Link, ScoreRows, Standard};
use super::newton::Solution;
use crate::CalibrationError;
use crate::numeric::sigmoid;

/// Rows that the unit of scores is found with.
const ROWS: usize = 2000;
/// Scores that the knots are found with.
const SCORES: usize = 200_000;
/// Inner knots of a curve.
const INNER_KNOTS: usize = 10;
/// Knots are at least this share of the range apart.
const LEAST_GAP: f64 = 1e-3;

/// The unit in which the best straight line for all classes has a slope of one, and where its information
/// lies.
pub(super) fn standard_of(rows: &ScoreRows<'_>) -> Result<Standard, CalibrationError> {
    let sample = rows.sample(ROWS);
    let weights = sample.clone().map(|row| rows.weights[row]);
    let total = weights.sum::<f64>() * rows.class_count as f64;
    let each = || {
        sample.clone().flat_map(|row| {
            let share = rows.weights[row] / total;
            rows.row(row).iter().map(move |&score| (score, share))
        })
    };
    let mean: f64 = each().map(|(score, share)| share * score).sum();
    let spread: f64 = each()
        .map(|(score, share)| share * (score - mean).abs())
        .sum();
    if spread <= 1e-280 {
        // Constant scores tell nothing, whatever they are multiplied with.
        return Ok(Standard {
            factor: 1.0,
            centre: mean,
        });
    }
    let rough = Standard {
        factor: spread.recip(),
        centre: mean,
    };
    let (low, high) = range(rows, rough, sample.clone());
    let knots = [low, high.max(low + 1e-6)];
    let cells = Cells::of(rows, sample.clone(), rough, &knots);
    let line = Solution::rough_line(&knots, rows.class_count).solve(&cells, &knots, 1e-6)?;
    let line = line.centred(&knots);
    let [first, last] = [line[0], line[1]];
    // Scores that mislead on the whole still get a unit that slopes can work with.
    let slope = ((last - first) / (knots[1] - knots[0])).max(0.1);
    let factor = slope * rough.factor;
    let intercept = first - slope * low;
    let centre = match rows.link {
        Link::Sigmoid => mean - intercept / factor,
        Link::Softmax => {
            let informed = Standard {
                factor,
                centre: mean,
            };
            let (mut total, mut sum) = (0.0, 0.0);
            each_information(rows, informed, sample, |score, information, _, _| {
                total += information;
                sum += information * (score - mean);
            });
            if total > 0.0 {
                mean + sum / total
            } else {
                mean
            }
        }
    };
    Ok(Standard { factor, centre })
}

/// The lowest and the highest standardised score of some rows.
fn range(
    rows: &ScoreRows<'_>,
    standard: Standard,
    chosen: impl Iterator<Item = usize>,
) -> (f64, f64) {
    let scores = chosen.flat_map(|row| rows.row(row).iter());
    let (low, high) = scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &score| {
        (low.min(score), high.max(score))
    });
    (standard.apply(low), standard.apply(high))
}

/// Hands on every score of some rows with the information `p (1-p)` of the line, whether its class is
/// right, and the weight of its row.
fn each_information(
    rows: &ScoreRows<'_>,
    standard: Standard,
    chosen: impl Iterator<Item = usize>,
    mut take: impl FnMut(f64, f64, bool, f64),
) {
    let mut p = vec![0.0; rows.class_count];
    for row in chosen {
        let scores = rows.row(row);
        match rows.link {
            Link::Sigmoid => {
                for (p, &score) in p.iter_mut().zip(scores) {
                    *p = sigmoid(standard.apply(score));
                }
            }
            Link::Softmax => {
                let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let mut total = 0.0;
                for (p, &score) in p.iter_mut().zip(scores) {
                    *p = (standard.apply(score) - standard.apply(top)).exp();
                    total += *p;
                }
                p.iter_mut().for_each(|p| *p /= total);
            }
        }
        let labels = rows.labels.of(row);
        let weight = rows.weights[row];
        for (class, (&score, &p)) in scores.iter().zip(&p).enumerate() {
            let right = labels.binary_search(&(class as u32)).is_ok();
            take(score, weight * p * (1.0 - p), right, weight);
        }
    }
}

/// Where the curve may bend, in standardised scores, from the lowest to the highest.
pub(super) fn knots_of(rows: &ScoreRows<'_>, standard: Standard, bends: bool) -> Vec<f64> {
    let (low, high) = range(rows, standard, 0..rows.row_count());
    let high = high.max(low + 1e-6 * (1.0 + low.abs()));
    if !bends {
        return vec![low, high];
    }
    let sample = rows.sample((SCORES / rows.class_count).max(200));
    let mut right = Vec::new();
    let mut informed = Vec::new();
    let (mut all_right, mut all_informed) = (0.0, 0.0);
    each_information(
        rows,
        standard,
        sample,
        |score, information, is_right, weight| {
            let x = standard.apply(score);
            if is_right {
                right.push((x, weight));
                all_right += weight;
            }
            all_informed += information;
            if information > 1e-5 * weight {
                informed.push((x, information));
            }
        },
    );
    let shares =
        |of: Vec<(f64, f64)>, all: f64| of.into_iter().map(move |(x, mass)| (x, 0.5 * mass / all));
    let mut masses: Vec<(f64, f64)> = shares(informed, all_informed)
        .chain(shares(right, all_right))
        .collect();
    masses.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let total: f64 = masses.iter().map(|(_, mass)| mass).sum();
    let least = LEAST_GAP * (high - low);
    let mut knots = vec![low];
    let (mut mass, mut wanted) = (0.0, 0);
    for (x, more) in masses {
        mass += more / total;
        let due = (wanted as f64 + 0.5) / INNER_KNOTS as f64;
        if mass >= due {
            wanted = ((mass * INNER_KNOTS as f64 - 0.5).floor() as usize) + 1;
            let last = knots[knots.len() - 1];
            if x - last > least && high - x > least {
                knots.push(x);
            }
        }
    }
    knots.push(high);
    knots
}
