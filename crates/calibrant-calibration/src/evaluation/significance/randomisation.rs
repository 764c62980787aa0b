//! Fisher's randomisation test: what if the two systems had been swapped by chance?

use serde::{Deserialize, Serialize};

use crate::numeric::Random;
use crate::parallel;

/// What [`randomisation_test`] found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomisationTest {
    /// Differences that are not zero; swapping the others changes nothing.
    pub pairs: u64,
    /// Whether every way of swapping was counted, rather than drawn.
    pub exact: bool,
    /// How many ways of swapping were looked at.
    pub swaps: u64,
    /// The share of swaps with a mean difference at least as far from zero.
    pub p_value: f64,
}

/// Up to this many differences every way of swapping is counted.
const EXACT_UP_TO: usize = 20;
/// Swaps are drawn in pieces of this many, each with a seed of its own: the threads leave no trace.
const PIECE: u64 = 2_000;

/// Could a mean difference be luck? Assumes only that, without a real difference, each pair might as well have been swapped.
///
/// # Formula
/// ```text
/// p = #{ signs : |Σ ±d| >= |Σ d| } / 2^n
/// ```
/// counted in full up to 20 differences that are not zero; beyond, `draws` random signs are drawn, and the measured
/// one is counted among them: `(1 + hits) / (1 + draws)`. Differences that are not finite are left out.
///
/// # When it misleads
/// A p-value below `1/(draws + 1)` cannot come out. Drawn p-values of about 0.05 are off by 0.0014 with 100,000 draws.
///
/// # Reference
/// Fisher, The Design of Experiments, 1935; Smucker, Allan & Carterette, CIKM 2007, recommend it for rankings.
///
/// ```
/// use calibrant_calibration::evaluation::randomisation_test;
/// // By hand: of 16 ways to sign 1, 2, 3 and 4, only all up and all down reach 10.
/// let test = randomisation_test(&[1.0, 2.0, 3.0, 4.0, 0.0], 100_000, 1);
/// assert_eq!((test.p_value, test.exact, test.swaps), (0.125, true, 16));
/// ```
pub fn randomisation_test(differences: &[f64], draws: u64, seed: u64) -> RandomisationTest {
    let kept: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|difference| *difference != 0.0 && difference.is_finite())
        .collect();
    // Scaled, so that sums stay finite and the tolerance below is relative to the largest.
    let largest = kept
        .iter()
        .fold(0.0f64, |most, value| most.max(value.abs()));
    let kept: Vec<f64> = kept.iter().map(|value| value / largest).collect();
    let measured = kept.iter().sum::<f64>().abs();
    // Sums of the same numbers in other signs are rounded differently: nearly equal is equal.
    let reached = |sum: f64| sum.abs() >= measured - 1e-12 * kept.len() as f64;
    let pairs = kept.len() as u64;
    if kept.len() <= EXACT_UP_TO {
        let swaps = 1u64 << kept.len();
        let hits = parallel::map_ranges(swaps as usize, PIECE as usize, |range| {
            range
                .filter(|&signs| reached(signed_sum(&kept, &[signs as u64])))
                .count()
        });
        return RandomisationTest {
            pairs,
            exact: true,
            swaps,
            p_value: hits.into_iter().sum::<usize>() as f64 / swaps as f64,
        };
    }
    let pieces = draws.div_ceil(PIECE);
    let hits = parallel::map_indices(pieces as usize, |piece| {
        let piece = piece as u64;
        let mut random = Random::from_seed(seed ^ piece.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let here = PIECE.min(draws - piece * PIECE);
        let mut signs = vec![0u64; kept.len().div_ceil(64)];
        let mut hits = 0;
        for _ in 0..here {
            signs.iter_mut().for_each(|word| *word = random.next_u64());
            hits += u64::from(reached(signed_sum(&kept, &signs)));
        }
        hits
    });
    let hits: u64 = hits.into_iter().sum();
    RandomisationTest {
        pairs,
        exact: false,
        swaps: draws,
        p_value: (1 + hits) as f64 / (1 + draws) as f64,
    }
}

/// The sum of the numbers, each with the sign of its bit.
fn signed_sum(numbers: &[f64], signs: &[u64]) -> f64 {
    let mut sum = 0.0;
    for (chunk, word) in numbers.chunks(64).zip(signs) {
        let mut word = *word;
        for number in chunk {
            // The lowest bit becomes the sign bit.
            sum += f64::from_bits(number.to_bits() ^ (word << 63));
            word >>= 1;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_swap_is_no_surprise() {
        for none in [&[][..], &[0.0, 0.0], &[f64::NAN]] {
            let test = randomisation_test(none, 1000, 1);
            assert_eq!((test.p_value, test.pairs, test.swaps), (1.0, 0, 1));
        }
    }

    #[test]
    fn drawn_and_counted_values_agree() {
        let mut random = Random::from_seed(5);
        let mut differences: Vec<f64> = (0..20).map(|_| random.normal() + 0.4).collect();
        let counted = randomisation_test(&differences, 0, 1);
        assert!(counted.exact);
        // A tiny difference more changes nothing, and is one too many to count.
        differences.push(1e-9);
        let drawn = randomisation_test(&differences, 100_000, 1);
        assert!(!drawn.exact);
        assert!((counted.p_value - drawn.p_value).abs() < 0.005);
        assert_eq!(drawn, randomisation_test(&differences, 100_000, 1));
    }

    #[test]
    fn signs_are_taken_from_bits_beyond_the_first_word() {
        let numbers = vec![1.0; 70];
        assert_eq!(signed_sum(&numbers, &[u64::MAX, 0]), -64.0 + 6.0);
    }
}
