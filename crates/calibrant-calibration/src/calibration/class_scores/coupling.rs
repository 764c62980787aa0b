//! A curve for each pair of classes, and the probabilities that agree with all of them best.

use serde::{Deserialize, Serialize};

use super::held_out::Part;
use super::{ClassBuffers, HeldOutClassScores, tame};
use crate::CalibrationError;
use crate::calibration::{Calibrator, HeldOutScores, Platt, PlattCalibrator};
use crate::numeric::sigmoid;
use crate::parallel;
use crate::solvers::Factor;

/// Fits Platt's curve to the difference of two scores for every pair of classes, on the examples of
/// these two, and brings the pairs' probabilities together.
///
/// # Formula
/// ```text
/// r_ij = P(i | i or j) from s_i - s_j
/// p    minimises  Σ_i Σ_{j≠i} (r_ji p_i - r_ij p_j)²   with  Σ p = 1
/// ```
/// The answer is never negative. It is `p ∝ (Q + 11ᵀ)⁻¹ 1` with `Q_ii = Σ r_ji²`, `Q_ij = -r_ij r_ji`,
/// by Cholesky's method; then the smallest probabilities, which its rounding swallows, are set right by
/// sweeps of `Q_tt p_t = Σ_{j≠t} r_tj r_jt p_j + pᵀQp`, where nothing is subtracted. Where the pairs agree,
/// `r_ij = p_i/(p_i+p_j)`, that `p` comes back.
///
/// # When it misleads
/// A pair's curve never saw an example of a third class, yet is asked about them all. Rare classes
/// have few examples in each of their pairs.
///
/// # Reference
/// Wu, Lin & Weng, JMLR 5 (2004), section 4 ("our second approach").
///
/// ```
/// use calibrant_calibration::calibration::couple;
/// // By hand: three probabilities 0.5, 0.3, 0.2 as the log-odds of the pairs (0,1), (0,2), (1,2).
/// let pairs = [(0.5f64 / 0.3).ln(), (0.5f64 / 0.2).ln(), (0.3f64 / 0.2).ln()];
/// let p = couple(3, &pairs);
/// assert!((p[0] - 0.5).abs() < 1e-12 && (p[2] - 0.2).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairwiseCoupling;

/// A curve for each pair of classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct CouplingCalibrator {
    class_count: usize,
    /// The pairs (0,1), (0,2), …, (1,2), …; a curve speaks for the first class of its pair.
    curves: Vec<PlattCalibrator>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    class_count: usize,
    curves: Vec<PlattCalibrator>,
}

impl TryFrom<Unchecked> for CouplingCalibrator {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        let classes = read.class_count;
        let doubled = classes.checked_mul(classes.saturating_sub(1));
        let finite = read
            .curves
            .iter()
            .all(|curve| curve.slope.is_finite() && curve.intercept.is_finite());
        if classes < 2 || doubled != Some(2 * read.curves.len()) || !finite {
            return Err("there must be a curve for each pair of at least two classes");
        }
        Ok(Self {
            class_count: classes,
            curves: read.curves,
        })
    }
}

impl CouplingCalibrator {
    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// The curves of the pairs (0,1), (0,2), …, (1,2), …, over the first score minus the second.
    pub fn curves(&self) -> &[PlattCalibrator] {
        &self.curves
    }

    pub(super) fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        let mut pairs = std::mem::take(&mut buffer.more);
        pairs.clear();
        pairs.extend(
            pairs_of(self.class_count)
                .zip(&self.curves)
                .map(|((i, j), curve)| {
                    let difference = tame(scores[i]) - tame(scores[j]);
                    curve.probability(difference).log_odds()
                }),
        );
        buffer.fill(couple(self.class_count, &pairs).into_iter().map(f64::ln));
        buffer.more = pairs;
    }
}

fn pairs_of(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |i| (i + 1..classes).map(move |j| (i, j)))
}

impl PairwiseCoupling {
    /// Fits a curve for every pair.
    pub fn fit(
        &self,
        held_out: &HeldOutClassScores,
    ) -> Result<CouplingCalibrator, CalibrationError> {
        let (arranged, _) = held_out.arranged();
        self.fit_part(&arranged.whole(), None)
    }

    pub(super) fn fit_part(
        &self,
        part: &Part<'_>,
        start: Option<&CouplingCalibrator>,
    ) -> Result<CouplingCalibrator, CalibrationError> {
        let class_count = part.class_count();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); class_count];
        for place in 0..part.places() {
            if let Some((label, _)) = part.example(place) {
                members[label].push(place as u32);
            }
        }
        let start = start.filter(|near| near.class_count == class_count);
        let pairs: Vec<(usize, usize)> = pairs_of(class_count).collect();
        let curves = parallel::try_map_indices(pairs.len(), |number| {
            let (i, j) = pairs[number];
            let near = start.map(|near| &near.curves[number]);
            curve_of_pair(part, &members, i, j, near)
        })?;
        Ok(CouplingCalibrator {
            class_count,
            curves,
        })
    }
}

fn curve_of_pair(
    part: &Part<'_>,
    members: &[Vec<u32>],
    i: usize,
    j: usize,
    near: Option<&PlattCalibrator>,
) -> Result<PlattCalibrator, CalibrationError> {
    let both = members[i].iter().chain(&members[j]);
    let (mut scores, mut weights) = (Vec::new(), Vec::new());
    for &place in both {
        let row = part.held_out.row(place as usize);
        scores.push(row[i] - row[j]);
        weights.push(part.held_out.weights()[place as usize]);
    }
    let mut labels = vec![true; members[i].len()];
    labels.resize(scores.len(), false);
    let pair = HeldOutScores::from_checked_parts(scores, labels, weights, None);
    if members[i].is_empty() || members[j].is_empty() {
        // Nothing tells the two apart but how often they occur.
        return Ok(PlattCalibrator {
            slope: 0.0,
            intercept: pair.ln_prior_odds(),
        });
    }
    Platt.fit_from(&pair, near)
}

/// The probabilities of classes that agree best with the log-odds of their pairs, (0,1), (0,2), …,
/// (1,2), …; see [`PairwiseCoupling`]. Log-odds beyond ±300 count as ±300, so that no answer is zero.
///
/// # Panics
/// If there is not one number per pair, or no class.
pub fn couple(class_count: usize, pairs: &[f64]) -> Vec<f64> {
    assert!(class_count > 0 && 2 * pairs.len() == class_count * (class_count - 1));
    // r[i * K + j] is the probability of i among i and j.
    let mut r = vec![0.0; class_count * class_count];
    for ((i, j), &log_odds) in pairs_of(class_count).zip(pairs) {
        let log_odds = if log_odds.is_nan() { 0.0 } else { log_odds }.clamp(-300.0, 300.0);
        r[i * class_count + j] = sigmoid(log_odds);
        r[j * class_count + i] = sigmoid(-log_odds);
    }
    let mut q = vec![0.0; class_count * class_count];
    for i in 0..class_count {
        for j in 0..i {
            let (own, other) = (r[i * class_count + j], r[j * class_count + i]);
            q[i * class_count + j] = -own * other;
            q[i * class_count + i] += other * other;
            q[j * class_count + j] += own * own;
        }
    }
    let diagonal: Vec<f64> = (0..class_count).map(|i| q[i * class_count + i]).collect();
    // On Σ p = 1 adding 11ᵀ changes nothing but makes the matrix positive.
    q.iter_mut().for_each(|entry| *entry += 1.0);
    let mut p = vec![1.0; class_count];
    Factor::of(q, &vec![0.0; class_count]).solve(&mut p);
    let sum: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p = (*p / sum).max(1e-200));
    polish(&mut p, &r, &diagonal);
    p
}

/// Sweeps until no probability moves by more than a rounding or two of itself.
fn polish(p: &mut [f64], r: &[f64], diagonal: &[f64]) {
    let classes = p.len();
    for _ in 0..100 {
        let mut misfit = 0.0;
        for i in 0..classes {
            for j in 0..i {
                let (own, other) = (r[i * classes + j], r[j * classes + i]);
                misfit += (other * p[i] - own * p[j]).powi(2);
            }
        }
        let mut moved = 0f64;
        for t in 0..classes {
            let others = (0..classes).filter(|&j| j != t);
            let pull: f64 = others
                .map(|j| r[t * classes + j] * r[j * classes + t] * p[j])
                .sum();
            let next = (pull + misfit) / diagonal[t].max(f64::MIN_POSITIVE);
            if next > 0.0 && next.is_finite() {
                moved = moved.max((next / p[t] - 1.0).abs());
                p[t] = next;
            }
        }
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
        if moved < 1e-13 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use proptest::prelude::*;

    #[test]
    fn pairs_that_agree_give_back_the_probabilities() {
        let mut random = Random::from_seed(2);
        for classes in [2, 3, 7, 40, 100] {
            // From e^-40 to 1: nothing is rounded away.
            let ln_p: Vec<f64> = (0..classes).map(|_| -40.0 * random.uniform()).collect();
            let total = crate::numeric::log_sum_exp(&ln_p);
            let pairs: Vec<f64> = pairs_of(classes).map(|(i, j)| ln_p[i] - ln_p[j]).collect();
            for (p, ln_p) in couple(classes, &pairs).iter().zip(&ln_p) {
                assert!((p.ln() - (ln_p - total)).abs() < 1e-8, "{p} {ln_p}");
            }
        }
    }

    /// The sum of squares, by its definition.
    fn misfit(p: &[f64], pairs: &[f64]) -> f64 {
        pairs_of(p.len())
            .zip(pairs)
            .map(|((i, j), &log_odds)| {
                2.0 * (sigmoid(-log_odds) * p[i] - sigmoid(log_odds) * p[j]).powi(2)
            })
            .sum()
    }

    proptest! {
        #[test]
        fn no_other_probabilities_agree_better(
            pairs in prop::collection::vec(-6.0f64..6.0, 6),
            others in prop::collection::vec((0usize..4, 0usize..4, 1e-6f64..0.1), 40),
        ) {
            let p = couple(4, &pairs);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(p.iter().all(|&p| p > 0.0));
            let least = misfit(&p, &pairs);
            // Moving probability from any class to any other, by a lot or a little.
            for (from, to, amount) in others {
                let mut other = p.clone();
                let amount = amount.min(other[from]);
                other[from] -= amount;
                other[to] += amount;
                prop_assert!(misfit(&other, &pairs) >= least - 1e-14);
            }
        }

        #[test]
        fn nothing_is_ever_zero(pairs in prop::collection::vec(-1e3f64..1e3, 10)) {
            let p = couple(5, &pairs);
            prop_assert!(p.iter().all(|&p| p > 0.0 && p <= 1.0), "{:?}", p);
        }
    }

    #[test]
    fn contradictions_and_the_ends_of_the_scale_stay_finite() {
        // Each beats the next in a circle: by symmetry a third each.
        let p = couple(3, &[800.0, -800.0, 800.0]);
        p.iter()
            .for_each(|p| assert!((p - 1.0 / 3.0).abs() < 1e-9, "{p}"));
        let p = couple(3, &[f64::INFINITY, f64::NAN, f64::NEG_INFINITY]);
        assert!(p.iter().all(|p| *p > 0.0 && p.is_finite()));
    }
}
