//! Mean and covariance of the lines of many groups.

use super::LogOddsSpread;
use super::digest::Digest;
use super::small::{Matrix2, Vector2, add, apply, inverse, outer, product, root, square, times};
use crate::parallel;

/// Rounds of expectation and maximisation.
const MOST_ROUNDS: usize = 60;
/// It ends when nothing moves by more than this.
const STILL: f64 = 1e-3;
/// Points and weights of Gauss-Hermite quadrature against the standard normal density, five of them.
const POINTS: [(f64, f64); 5] = [
    (-2.856_970_013_872_806, 0.011_257_411_327_720_69),
    (-1.355_626_179_974_266, 0.222_075_922_005_612_6),
    (0.0, 0.533_333_333_333_333_3),
    (1.355_626_179_974_266, 0.222_075_922_005_612_6),
    (2.856_970_013_872_806, 0.011_257_411_327_720_69),
];
/// The covariance that few groups are held to, and for how many groups it counts. Round numbers, set by hand: with thirty queries they weigh a tenth.
const PRIOR: (Matrix2, f64) = ([[1.0, 0.0], [0.0, 0.1]], 3.0);
/// For one group: how far the line may lie from what is stated, before anything is seen. Set by hand.
const PRIOR_OF_ONE: Matrix2 = [[2.25, 0.0], [0.0, 0.25]];
/// What a straight line leaves out where there is one group alone: added to its covariance. Set by hand, on the careful side.
const MISFIT_OF_ONE: Matrix2 = [[0.1, 0.0], [0.0, 0.02]];

/// What one group says, given the distribution of lines.
struct Posterior {
    mode: Vector2,
    mean: Vector2,
    /// Second moments around the origin.
    square: Matrix2,
    /// What the group adds to the information about the mean of lines.
    information: Matrix2,
}

pub(super) fn between_groups(digests: &[Digest], with_cases: usize) -> LogOddsSpread {
    let sums = digests.iter().map(Digest::cases);
    let (weight, sum) = sums.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    let centre = sum / weight;
    let digests: Vec<Digest> = digests
        .iter()
        .map(|digest| digest.clone().centred(centre))
        .collect();
    let mut mean = [centre, 1.0];
    let mut covariance = PRIOR.0;
    let mut modes = vec![mean; digests.len()];
    let mut of_mean = [[0.0; 2]; 2];
    for _ in 0..MOST_ROUNDS {
        let precision = inverse(covariance);
        let found: Vec<Posterior> = parallel::map_indices(digests.len(), |group| {
            posterior(&digests[group], modes[group], mean, precision)
        });
        let count = found.len() as f64;
        let mut next = [0.0; 2];
        let (mut squares, mut information) = ([[0.0; 2]; 2], [[0.0; 2]; 2]);
        for (posterior, mode) in found.iter().zip(&mut modes) {
            *mode = posterior.mode;
            next[0] += posterior.mean[0] / count;
            next[1] += posterior.mean[1] / count;
            squares = add(squares, posterior.square);
            information = add(information, posterior.information);
        }
        of_mean = inverse(information);
        let spread = add(squares, times(outer(next), -count));
        let held = add(spread, times(PRIOR.0, PRIOR.1));
        let held = times(held, (count + PRIOR.1).recip());
        let moved = [next[0] - mean[0], next[1] - mean[1]];
        let change = moved
            .into_iter()
            .chain([0, 1].map(|i| held[i][i] - covariance[i][i]));
        let still = change.into_iter().all(|change| change.abs() < STILL);
        (mean, covariance) = (next, held);
        if still {
            break;
        }
    }
    LogOddsSpread {
        centre,
        mean,
        covariance: add(covariance, of_mean),
        degrees: Some((with_cases - 1) as f64),
    }
}

pub(super) fn of_one(digest: &Digest) -> LogOddsSpread {
    let (weight, sum) = digest.cases();
    let centre = sum / weight;
    let digest = digest.clone().centred(centre);
    let prior = [centre, 1.0];
    let found = posterior(&digest, prior, prior, inverse(PRIOR_OF_ONE));
    let around = add(found.square, times(outer(found.mean), -1.0));
    LogOddsSpread {
        centre,
        mean: found.mean,
        covariance: add(around, MISFIT_OF_ONE),
        degrees: Some(weight),
    }
}

/// Mode by Newton's method from a start, then moments by quadrature around it.
fn posterior(digest: &Digest, start: Vector2, mean: Vector2, precision: Matrix2) -> Posterior {
    let mut mode = start;
    let mut bent = precision;
    for _ in 0..50 {
        let fit = digest.line_fit(mode);
        bent = add(fit.information, precision);
        let pull = apply(precision, [mode[0] - mean[0], mode[1] - mean[1]]);
        let step = apply(
            inverse(bent),
            [fit.slope[0] - pull[0], fit.slope[1] - pull[1]],
        );
        // Far from the mode a whole step may overshoot.
        let step = step.map(|step| step.clamp(-2.0, 2.0));
        mode = [mode[0] + step[0], mode[1] + step[1]];
        if step.iter().all(|step| step.abs() < 1e-6) {
            break;
        }
    }
    let wide = inverse(bent);
    let root = root(wide);
    let ln_density = |line: Vector2| {
        let off = [line[0] - mean[0], line[1] - mean[1]];
        digest.ln_likelihood(line) - 0.5 * square(precision, off)
    };
    let top = ln_density(mode);
    let (mut total, mut first, mut second) = (0.0, [0.0; 2], [[0.0; 2]; 2]);
    for (x, by_x) in POINTS {
        for (y, by_y) in POINTS {
            let moved = apply(root, [x, y]);
            let line = [mode[0] + moved[0], mode[1] + moved[1]];
            let weight = by_x * by_y * (ln_density(line) - top + 0.5 * (x * x + y * y)).exp();
            total += weight;
            first = [first[0] + weight * line[0], first[1] + weight * line[1]];
            second = add(second, times(outer(line), weight));
        }
    }
    let inner = product(product(precision, wide), precision);
    Posterior {
        mode,
        mean: first.map(|sum| sum / total),
        square: times(second, 1.0 / total),
        information: add(precision, times(inner, -1.0)),
    }
}
