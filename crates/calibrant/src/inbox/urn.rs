//! Words in bursts: the Dirichlet-multinomial distribution, drawn as an urn.

use crate::numeric::Random;

/// A sequence of words in which every word that was used becomes more likely.
///
/// Drawing word shares from a Dirichlet distribution with parameters `a_w` and then
/// words from those shares gives the same sequences as Pólya's urn: the urn starts
/// with weight `a_w` of each word, and a word that is drawn goes back together with
/// one more of its kind. The urn needs no gamma draws and only looks at the words
/// that occur.
///
/// # Formula
/// With `A = Σ a_w`, a sequence of `n` words with counts `n_w` has probability
/// ```text
/// Π_w a_w (a_w + 1) ... (a_w + n_w - 1)  /  A (A + 1) ... (A + n - 1)
/// ```
/// which is the usual quotient of gamma functions written out; whole counts make the
/// products exact where differences of log-gamma values would cancel.
#[derive(Debug, Clone)]
pub(super) struct Urn {
    weights: Vec<f64>,
    /// Running sums of the weights.
    cumulative: Vec<f64>,
    concentration: f64,
}

impl Urn {
    /// `shares` are brought to sum to `concentration`; a small concentration makes
    /// strong bursts. All shares must be positive and there must be one at least.
    pub(super) fn new(shares: &[f64], concentration: f64) -> Self {
        let total: f64 = shares.iter().sum();
        let weights: Vec<f64> = shares
            .iter()
            .map(|share| share / total * concentration)
            .collect();
        let mut sum = 0.0;
        let cumulative = weights
            .iter()
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        Self {
            weights,
            cumulative,
            concentration: sum,
        }
    }

    /// Draws `length` words, in order.
    pub(super) fn draw(&self, length: usize, random: &mut Random) -> Vec<u32> {
        let mut words: Vec<u32> = Vec::with_capacity(length);
        for drawn in 0..length {
            let position = random.uniform() * (self.concentration + drawn as f64);
            let word = if position < self.concentration {
                let word = self.cumulative.partition_point(|&sum| sum <= position);
                word.min(self.weights.len() - 1) as u32
            } else {
                // One of the words that were put back, each alike.
                let earlier = (position - self.concentration) as usize;
                words[earlier.min(drawn - 1)]
            };
            words.push(word);
        }
        words
    }

    /// The logarithm of the probability of drawing exactly this sequence (or any other
    /// order of it), from its `(word, count)` pairs.
    pub(super) fn ln_probability(&self, counts: &[(u32, u32)]) -> f64 {
        let mut length = 0;
        let mut ln_probability = 0.0;
        for &(word, count) in counts {
            ln_probability += ln_rising(self.weights[word as usize], count);
            length += count;
        }
        ln_probability - ln_rising(self.concentration, length)
    }
}

/// `ln (x (x + 1) ... (x + count - 1))`.
fn ln_rising(x: f64, count: u32) -> f64 {
    let (mut ln_sum, mut product) = (0.0, 1.0);
    for step in 0..count {
        product *= x + f64::from(step);
        // Taking the logarithm of many factors at once is quicker; stop before the
        // product leaves the range of the numbers.
        if !(1e-100..1e100).contains(&product) {
            ln_sum += product.ln();
            product = 1.0;
        }
    }
    ln_sum + product.ln()
}

/// How often every word occurs, in the order of the words.
pub(super) fn count(words: &[u32]) -> Vec<(u32, u32)> {
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    sorted
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], run.len() as u32))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ln Γ(x)` by Stirling's series after shifting `x` upwards.
    fn ln_gamma(x: f64) -> f64 {
        let (mut x, mut shift) = (x, 0.0);
        while x < 15.0 {
            shift += x.ln();
            x += 1.0;
        }
        let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
        (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
    }

    #[test]
    fn the_log_gamma_of_the_tests_knows_the_textbook_values() {
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-11);
        assert!((ln_gamma(6.0) - 120f64.ln()).abs() < 1e-11);
    }

    #[test]
    fn products_of_rising_factors_equal_quotients_of_gamma_functions() {
        for x in [1e-6, 0.03, 1.0, 7.5, 300.0] {
            for count in [0, 1, 2, 5, 60, 400] {
                let by_gamma = ln_gamma(x + f64::from(count)) - ln_gamma(x);
                let found = ln_rising(x, count);
                assert!(
                    (found - by_gamma).abs() < 1e-9,
                    "{x} {count}: {found} {by_gamma}"
                );
            }
        }
    }

    /// All ways to share `length` words among `kinds`.
    fn all_counts(kinds: usize, length: u32) -> Vec<Vec<u32>> {
        if kinds == 1 {
            return vec![vec![length]];
        }
        let mut all = Vec::new();
        for first in 0..=length {
            for mut rest in all_counts(kinds - 1, length - first) {
                rest.insert(0, first);
                all.push(rest);
            }
        }
        all
    }

    /// The probability of the counts in any order.
    fn probability_of_counts(urn: &Urn, counts: &[u32]) -> f64 {
        let pairs: Vec<(u32, u32)> = (0..).zip(counts.iter().copied()).collect();
        let factorial = |n: u32| ln_gamma(f64::from(n) + 1.0);
        let orders =
            factorial(counts.iter().sum()) - counts.iter().map(|&n| factorial(n)).sum::<f64>();
        (urn.ln_probability(&pairs) + orders).exp()
    }

    #[test]
    fn probabilities_of_all_count_vectors_sum_to_one() {
        for concentration in [0.5, 4.0, 200.0] {
            let urn = Urn::new(&[0.5, 0.3, 0.15, 0.05], concentration);
            let total: f64 = all_counts(4, 7)
                .iter()
                .map(|counts| probability_of_counts(&urn, counts))
                .sum();
            assert!((total - 1.0).abs() < 1e-9, "{total}");
        }
    }

    #[test]
    fn draws_follow_the_stated_probabilities() {
        let urn = Urn::new(&[0.6, 0.3, 0.1], 2.0);
        let mut random = Random::from_seed(11);
        let repeats = 100_000;
        let mut seen = std::collections::HashMap::new();
        for _ in 0..repeats {
            *seen.entry(count(&urn.draw(4, &mut random))).or_insert(0u32) += 1;
        }
        let mut chi_square = 0.0;
        let all = all_counts(3, 4);
        for counts in &all {
            let pairs: Vec<(u32, u32)> = (0..)
                .zip(counts.iter().copied())
                .filter(|&(_, n)| n > 0)
                .collect();
            let expected = probability_of_counts(&urn, counts) * f64::from(repeats);
            let found = f64::from(*seen.get(&pairs).unwrap_or(&0));
            chi_square += (found - expected).powi(2) / expected;
        }
        // 15 cells: 14 degrees of freedom, beyond 42 only once in ten thousand.
        assert_eq!(all.len(), 15);
        assert!(chi_square < 42.0, "{chi_square}");
    }
}
