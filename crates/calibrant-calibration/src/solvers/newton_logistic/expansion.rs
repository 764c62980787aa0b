//! Value, gradient and curvature of a logistic loss, many examples at a time.

use super::dot;
use crate::numeric::exp_of_negative;

/// Examples that are looked at together: their numbers lie in plain arrays, over which loops become
/// vector instructions.
const BLOCK: usize = 64;
/// Running sums that are kept side by side, so that no addition waits for the one before.
const LANES: usize = 8;

/// Value, gradient and Hessian (its lower half) at a point.
pub(super) struct Expansion<const D: usize> {
    pub(super) value: f64,
    pub(super) weight: f64,
    pub(super) gradient: [f64; D],
    pub(super) hessian: [[f64; D]; D],
}

impl<const D: usize> Default for Expansion<D> {
    fn default() -> Self {
        Self {
            value: 0.0,
            weight: 0.0,
            gradient: [0.0; D],
            hessian: [[0.0; D]; D],
        }
    }
}

impl<const D: usize> Expansion<D> {
    /// That of both their examples.
    pub(super) fn plus(mut self, other: Self) -> Self {
        self.value += other.value;
        self.weight += other.weight;
        for i in 0..D {
            self.gradient[i] += other.gradient[i];
            for j in 0..D {
                self.hessian[i][j] += other.hessian[i][j];
            }
        }
        self
    }

    pub(super) fn gradient_size(&self) -> f64 {
        dot(&self.gradient, &self.gradient).sqrt()
    }

    /// The step that takes a parabola of this gradient and curvature to its least value, to be
    /// subtracted; with a share of another curvature added where one is given. `None` where the
    /// curvature is not positive.
    pub(super) fn newton_step(&self, added: Option<(f64, &[[f64; D]; D])>) -> Option<[f64; D]> {
        let mut hessian = self.hessian;
        if let Some((share, other)) = added {
            for (row, other) in hessian.iter_mut().zip(other) {
                for (entry, other) in row.iter_mut().zip(other) {
                    *entry += share * other;
                }
            }
        }
        let trace = (0..D).map(|i| hessian[i][i]).sum::<f64>();
        [1e-14, 1e-10].into_iter().find_map(|share| {
            solve_positive(hessian, self.gradient, share * trace + f64::MIN_POSITIVE)
        })
    }

    pub(super) fn at(
        theta: &[f64; D],
        mut examples: impl Iterator<Item = ([f64; D], f64, f64)>,
    ) -> Self {
        let mut sum = Self::default();
        let mut block = Block {
            features: [[0.0; BLOCK]; D],
            targets: [0.0; BLOCK],
            weights: [0.0; BLOCK],
        };
        loop {
            let mut filled = 0;
            for (features, target, weight) in examples.by_ref().take(BLOCK) {
                for (column, feature) in block.features.iter_mut().zip(features) {
                    column[filled] = feature;
                }
                block.targets[filled] = target;
                block.weights[filled] = weight;
                filled += 1;
            }
            // What is left from the block before counts nothing.
            block.weights[filled..].fill(0.0);
            sum.add(theta, &block);
            if filled < BLOCK {
                return sum;
            }
        }
    }

    #[allow(clippy::needless_range_loop)] // rows and columns are clearer by number here
    fn add(&mut self, theta: &[f64; D], block: &Block<D>) {
        let Block {
            features,
            targets,
            weights,
        } = block;
        let mut z = [0.0; BLOCK];
        for i in 0..D {
            for k in 0..BLOCK {
                z[k] += theta[i] * features[i][k];
            }
        }
        // One exponential serves the value, the probability and its slope.
        let mut e = [0.0; BLOCK];
        for k in 0..BLOCK {
            e[k] = exp_of_negative(-z[k].abs());
        }
        let (mut pull, mut curve, mut linear) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for k in 0..BLOCK {
            let inverse = 1.0 / (1.0 + e[k]);
            let p = if z[k] >= 0.0 { inverse } else { e[k] * inverse };
            pull[k] = weights[k] * (p - targets[k]);
            curve[k] = weights[k] * (e[k] * inverse * inverse);
            linear[k] = 0.5 * (z[k] + z[k].abs()) - targets[k] * z[k];
        }
        self.weight += sum_of(weights);
        self.value += sum_of_products(weights, &linear) + sum_of_softplus(weights, &e);
        for i in 0..D {
            self.gradient[i] += sum_of_products(&pull, &features[i]);
            let mut bent = [0.0; BLOCK];
            for k in 0..BLOCK {
                bent[k] = curve[k] * features[i][k];
            }
            for j in 0..=i {
                self.hessian[i][j] += sum_of_products(&bent, &features[j]);
            }
        }
    }
}

struct Block<const D: usize> {
    features: [[f64; BLOCK]; D],
    targets: [f64; BLOCK],
    weights: [f64; BLOCK],
}

fn sum_of(terms: &[f64; BLOCK]) -> f64 {
    let mut sums = [0.0; LANES];
    for terms in terms.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            sums[lane] += terms[lane];
        }
    }
    total(sums)
}

fn sum_of_products(a: &[f64; BLOCK], b: &[f64; BLOCK]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks().0) {
        let b: &[f64; LANES] = b;
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    total(sums)
}

fn total(sums: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// `Σ w ln(1 + e)` for `e` from 0 to 1.
fn sum_of_softplus(weights: &[f64; BLOCK], e: &[f64; BLOCK]) -> f64 {
    if weights.iter().all(|&weight| weight == 1.0) {
        // The logarithm of a product, which is far cheaper; it is at most 2^64.
        let mut products = [1.0; LANES];
        for e in e.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                products[lane] *= 1.0 + e[lane];
            }
        }
        return f64::ln(products.iter().product());
    }
    // ln(1 + e) = 2 artanh y with y = e / (2 + e), at most one third: 17 terms reach rounding.
    let mut logs = [0.0; BLOCK];
    for k in 0..BLOCK {
        let y = e[k] / (2.0 + e[k]);
        let square = y * y;
        let mut series = 1.0 / 33.0;
        for odd in [
            31.0, 29.0, 27.0, 25.0, 23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0,
            1.0,
        ] {
            series = series * square + 1.0 / odd;
        }
        logs[k] = 2.0 * y * series;
    }
    sum_of_products(weights, &logs)
}

/// Solves `(H + ridge I) x = g` by Cholesky's method; `None` if H is not positive.
#[allow(clippy::needless_range_loop)] // rows and columns are clearer by number here
fn solve_positive<const D: usize>(
    mut h: [[f64; D]; D],
    g: [f64; D],
    ridge: f64,
) -> Option<[f64; D]> {
    for i in 0..D {
        h[i][i] += ridge;
        for j in 0..=i {
            let mut sum = h[i][j];
            for k in 0..j {
                sum -= h[i][k] * h[j][k];
            }
            if i == j {
                if !(sum > 0.0 && sum.is_finite()) {
                    return None;
                }
                h[i][i] = sum.sqrt();
            } else {
                h[i][j] = sum / h[j][j];
            }
        }
    }
    let mut x = g;
    for i in 0..D {
        for k in 0..i {
            x[i] -= h[i][k] * x[k];
        }
        x[i] /= h[i][i];
    }
    for i in (0..D).rev() {
        for k in i + 1..D {
            x[i] -= h[k][i] * x[k];
        }
        x[i] /= h[i][i];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, sigmoid, softplus};

    #[test]
    fn blocks_give_the_sums_of_the_definition() {
        let mut random = Random::from_seed(8);
        for (count, weighted) in [
            (1, false),
            (63, true),
            (64, false),
            (200, false),
            (130, true),
        ] {
            let examples: Vec<([f64; 2], f64, f64)> = (0..count)
                .map(|_| {
                    let weight = if weighted {
                        3.0 * random.uniform()
                    } else {
                        1.0
                    };
                    ([1.0, 40.0 * random.normal()], random.uniform(), weight)
                })
                .collect();
            let theta = [0.3, -0.7];
            let found = Expansion::at(&theta, examples.iter().copied());
            let sum = |term: &dyn Fn(&[f64; 2], f64, f64) -> f64| -> f64 {
                examples
                    .iter()
                    .map(|&(f, t, w)| w * term(&f, dot(&theta, &f), t))
                    .sum()
            };
            let slope = |z: f64| sigmoid(z) * sigmoid(-z);
            for (found, expected) in [
                (found.weight, sum(&|_, _, _| 1.0)),
                (found.value, sum(&|_, z, t| softplus(z) - t * z)),
                (found.gradient[0], sum(&|_, z, t| sigmoid(z) - t)),
                (found.gradient[1], sum(&|f, z, t| (sigmoid(z) - t) * f[1])),
                (found.hessian[0][0], sum(&|_, z, _| slope(z))),
                (found.hessian[1][0], sum(&|f, z, _| slope(z) * f[1])),
                (found.hessian[1][1], sum(&|f, z, _| slope(z) * f[1] * f[1])),
            ] {
                assert!(
                    (found - expected).abs() < 1e-11 * (1.0 + expected.abs()),
                    "{found} {expected}"
                );
            }
        }
    }
}
