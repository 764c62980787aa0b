//! Strata put together so that the interval holds whatever the truth is.

use crate::numeric::{hypergeometric_at_most, most_marked};

use super::Stratum;

/// The larger part of the golden section.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// An interval that holds the share of these documents with at least this confidence, whatever the truth is.
///
/// # Formula
/// With `x_h` of the class among `n_h` labelled of the `N_h` documents of stratum `h`, and `P_h(K) = P(X ≤ x_h; N_h, K, n_h)` of the
/// hypergeometric distribution, there are at most
/// ```text
/// max Σ K_h  with  Σ -ln P_h(K_h) ≤ c,   P(Gamma(H, 1) > c) = α/2      (all strata together, after Fisher)
/// Σ max { K : P_h(K) > α/(2H) }                                         (each stratum by itself, after Bonferroni)
/// ```
/// and at least as many as are left when the same is said of those that are not of the class. At the true `K_h` the `-ln P_h` are
/// independent and, but for steps, exponential, so their sum is above `c` with probability `α/2` at most. Which of the
/// two is taken depends on which would be narrower if stated probabilities were right, and never on labels. Several
/// strata that matter alike are much narrower together (two with nothing found: 5.6 N/n rather than 8.8 N/n).
///
/// The largest sum is found through its dual, `min over t of Σ max_K (K + t ln P_h(K)) + t c`, which is never below it. `ln P_h` is
/// concave: `X ≤ x` says that the `x + 1`-th of the sample's places in the list lies behind the `K` marked ones, and the
/// distribution of that place, `C(k-1, x) C(N-k, n-x-1)`, is log-concave.
///
/// # When it misleads
/// It does not, but it is wider than [`stratified_interval`](super::stratified_interval).
///
/// # Reference
/// Fisher, Statistical Methods for Research Workers (1932), section 21.1, for the sum of logarithms.
///
/// ```
/// use calibrant_calibration::decision::{Stratum, stratified_exact_interval};
/// use calibrant_calibration::numeric::most_marked;
/// let stratum = |documents, labelled, found| Stratum { from: None, documents, labelled, found, mean_stated: 0.0 };
/// let one = stratified_exact_interval(&[stratum(900, 100, 0)], 0.95);
/// assert_eq!(one, (0.0, most_marked(0, 900, 100, 0.025) as f64 / 900.0));
/// // By hand: e^-c (1 + c) = 0.025 for c = 5.5716, and every marked document is missed with probability 0.99.
/// let (_, high) = stratified_exact_interval(&[stratum(100_000, 1_000, 0); 2], 0.95);
/// let most = 5.5716 / -0.99f64.ln();
/// assert!((high * 200_000.0 - most).abs() < 4.0);
/// ```
pub fn stratified_exact_interval(strata: &[Stratum], confidence: f64) -> (f64, f64) {
    let documents = strata.iter().map(|s| s.documents).sum::<u64>().max(1) as f64;
    let miss = 0.5 * (1.0 - confidence);
    let expected: Vec<Stratum> = strata.iter().map(as_stated).collect();
    let width = |ends: (u64, u64)| ends.1 - ends.0;
    let together = match strata.len() {
        0 | 1 => false,
        _ => width(ends(&expected, miss, most_together)) < width(ends(&expected, miss, most_apart)),
    };
    let (low, high) = match together {
        true => ends(strata, miss, most_together),
        false => ends(strata, miss, most_apart),
    };
    (low as f64 / documents, high as f64 / documents)
}

/// The stratum if as many had been found as were stated.
fn as_stated(stratum: &Stratum) -> Stratum {
    let found = (stratum.labelled as f64 * stratum.mean_stated).round() as u64;
    Stratum {
        found: found.min(stratum.labelled),
        ..*stratum
    }
}

/// Least and most documents of the class, by a way to find the most.
fn ends(strata: &[Stratum], miss: f64, most: fn(&[Stratum], f64) -> u64) -> (u64, u64) {
    let opposite = |stratum: &Stratum| Stratum {
        found: stratum.labelled.saturating_sub(stratum.found),
        ..*stratum
    };
    let others: Vec<Stratum> = strata.iter().map(opposite).collect();
    let documents: u64 = strata.iter().map(|stratum| stratum.documents).sum();
    let (high, low) = (
        most(strata, miss),
        documents - most(&others, miss).min(documents),
    );
    (low.min(high), high)
}

/// Every stratum's own most, at its part of the chance of a miss.
fn most_apart(strata: &[Stratum], miss: f64) -> u64 {
    let part = miss / strata.len().max(1) as f64;
    let most = strata.iter().map(|stratum| match stratum.labelled {
        0 => stratum.documents,
        labelled => most_marked(stratum.found, stratum.documents, labelled, part),
    });
    most.sum()
}

/// The most that all strata together leave possible.
fn most_together(strata: &[Stratum], miss: f64) -> u64 {
    let blind = strata.iter().filter(|stratum| stratum.labelled == 0);
    let blind: u64 = blind.map(|stratum| stratum.documents).sum();
    let seen: Vec<&Stratum> = strata.iter().filter(|s| s.labelled > 0).collect();
    if seen.is_empty() {
        return blind;
    }
    let budget = gamma_reach(seen.len(), miss);
    let dual = |ln_price: f64| -> f64 {
        let price = ln_price.exp();
        let best = seen.iter().map(|stratum| dearest(stratum, price));
        best.sum::<f64>() + price * budget
    };
    // The dual is convex in the price, so it falls and rises once in its logarithm (golden section); any price gives a
    // bound.
    let (mut low, mut high) = (-10.0, 45.0);
    let at = |low: f64, high: f64, part: f64| low + part * (high - low);
    let (mut left, mut right) = (at(low, high, 1.0 - GOLDEN), at(low, high, GOLDEN));
    let (mut of_left, mut of_right) = (dual(left), dual(right));
    for _ in 0..30 {
        if of_left < of_right {
            (high, right, of_right) = (right, left, of_left);
            left = at(low, high, 1.0 - GOLDEN);
            of_left = dual(left);
        } else {
            (low, left, of_left) = (left, right, of_right);
            right = at(low, high, GOLDEN);
            of_right = dual(right);
        }
    }
    let most: u64 = seen
        .iter()
        .map(|s| {
            s.documents
                .saturating_sub(s.labelled.saturating_sub(s.found))
        })
        .sum();
    let bound = of_left.min(of_right) + 1e-6;
    blind + (bound.max(0.0) as u64).min(most)
}

/// `max over K of K + t ln P(K)`; concave, so the last step that gains is found by halving.
fn dearest(stratum: &Stratum, price: f64) -> f64 {
    let Stratum {
        documents,
        labelled,
        found,
        ..
    } = *stratum;
    let value = |marked: u64| {
        let tail = hypergeometric_at_most(found, documents, marked, labelled);
        marked as f64 + price * tail.ln()
    };
    let not_found = labelled.saturating_sub(found);
    let (mut low, mut high) = (found, documents.saturating_sub(not_found));
    while low < high {
        let middle = low + (high - low) / 2;
        match value(middle + 1) > value(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    value(low)
}

/// The `c` that a sum of so many independent exponential numbers exceeds with this probability.
fn gamma_reach(count: usize, miss: f64) -> f64 {
    // P(sum > c) = e^-c Σ_{k < count} c^k / k!
    let tail = |c: f64| {
        let (mut term, mut sum) = (1.0, 1.0);
        for k in 1..count {
            term *= c / k as f64;
            sum += term;
        }
        (-c).exp() * sum
    };
    let (mut low, mut high) = (0.0, 1.0);
    while tail(high) > miss && high < 700.0 {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        match tail(middle) > miss {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of so many marked ones in a sample.
    fn probability(count: u64, all: u64, marked: u64, sample: u64) -> f64 {
        let below = match count {
            0 => 0.0,
            _ => hypergeometric_at_most(count - 1, all, marked, sample),
        };
        hypergeometric_at_most(count, all, marked, sample) - below
    }

    #[test] // Every truth and every sample of two small strata.
    fn the_interval_holds_whatever_the_truth_is() {
        let sizes = [(9u64, 4u64), (12, 6)];
        let stratum = |place: usize, found, mean_stated| Stratum {
            from: None,
            documents: sizes[place].0,
            labelled: sizes[place].1,
            found,
            mean_stated,
        };
        for (confidence, stated) in [(0.8, [0.1, 0.5]), (0.95, [0.5, 0.5]), (0.8, [0.02, 0.9])] {
            let found = |x: u64, y: u64| {
                let strata = [stratum(0, x, stated[0]), stratum(1, y, stated[1])];
                let ends = stratified_exact_interval(&strata, confidence);
                // Both ways, whichever is taken.
                let miss = 0.5 * (1.0 - confidence);
                [
                    ends_as_shares(&strata, miss, most_together),
                    ends_as_shares(&strata, miss, most_apart),
                    ends,
                ]
            };
            let table: Vec<Vec<[(f64, f64); 3]>> = (0..=4)
                .map(|x| (0..=6).map(|y| found(x, y)).collect())
                .collect();
            for first in 0..=9 {
                for second in 0..=12 {
                    let share = (first + second) as f64 / 21.0;
                    let mut held = [0.0; 3];
                    for (x, row) in table.iter().enumerate() {
                        for (y, ways) in row.iter().enumerate() {
                            let p = probability(x as u64, 9, first, 4)
                                * probability(y as u64, 12, second, 6);
                            for (held, ends) in held.iter_mut().zip(ways) {
                                let inside = ends.0 - 1e-12 <= share && share <= ends.1 + 1e-12;
                                *held += if inside { p } else { 0.0 };
                            }
                        }
                    }
                    assert!(
                        held.iter().all(|&held| held >= confidence - 1e-9),
                        "{first} {second} {held:?}"
                    );
                }
            }
        }
    }

    fn ends_as_shares(
        strata: &[Stratum],
        miss: f64,
        most: fn(&[Stratum], f64) -> u64,
    ) -> (f64, f64) {
        let (low, high) = ends(strata, miss, most);
        let documents: u64 = strata.iter().map(|stratum| stratum.documents).sum();
        (
            low as f64 / documents as f64,
            high as f64 / documents as f64,
        )
    }

    #[test] // The largest sum, by trying all.
    fn the_dual_is_the_largest_sum_and_never_below_it() {
        for (x, y) in [(0, 0), (1, 0), (2, 5), (4, 6), (0, 3)] {
            let strata =
                [(40u64, 10u64, x), (60, 12, y)].map(|(documents, labelled, found)| Stratum {
                    from: None,
                    documents,
                    labelled,
                    found,
                    mean_stated: 0.0,
                });
            let budget = gamma_reach(2, 0.025);
            let ln_tail = |s: &Stratum, marked| {
                hypergeometric_at_most(s.found, s.documents, marked, s.labelled).ln()
            };
            let mut largest = 0;
            for first in strata[0].found..=40 - (10 - strata[0].found) {
                for second in strata[1].found..=60 - (12 - strata[1].found) {
                    if -ln_tail(&strata[0], first) - ln_tail(&strata[1], second) <= budget {
                        largest = largest.max(first + second);
                    }
                }
            }
            let found = most_together(&strata, 0.025);
            assert!(
                found >= largest && found <= largest + 1,
                "{found} {largest}"
            );
        }
    }

    #[test]
    fn strata_without_labels_count_whole() {
        let stratum = |labelled| Stratum {
            from: None,
            documents: 50,
            labelled,
            found: 0,
            mean_stated: 0.1,
        };
        let (low, high) = stratified_exact_interval(&[stratum(50), stratum(0)], 0.95);
        assert_eq!((low, high), (0.0, 0.5));
        assert_eq!(
            stratified_exact_interval(&[stratum(0); 2], 0.95),
            (0.0, 1.0)
        );
        assert_eq!(stratified_exact_interval(&[], 0.95), (0.0, 0.0));
    }
}
