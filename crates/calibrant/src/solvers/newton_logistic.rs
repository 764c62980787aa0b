//! Logistic curves with a handful of parameters.

use crate::FitError;

/// Minimises `Σ w_i (softplus(z_i) - t_i z_i)` with `z_i = θ·f_i` by Newton's method with
/// backtracking, where `t_i` in [0, 1] is a (soft) target.
///
/// `examples()` gives every `(f, t, w)` and is called once a step. The Hessian gets a ridge of
/// 1e-10 of its trace so that a direction without data stays put. Ends when the gradient is below
/// `tolerance` (1e-9 is a good answer, 1e-6 a fair one) of the total weight, or when no step
/// improves the value any more and the gradient is below `1e-5` of it; else an error says where it
/// stopped.
///
/// # Reference
/// The backtracking scheme for Platt's curve: Lin, Lin & Weng, Machine Learning 68 (2007).
pub fn newton_logistic<const D: usize, I>(
    method: &'static str,
    start: [f64; D],
    tolerance: f64,
    examples: impl Fn() -> I,
) -> Result<[f64; D], FitError>
where
    I: Iterator<Item = ([f64; D], f64, f64)>,
{
    let mut theta = start;
    let mut here = Expansion::at(&theta, examples());
    let most = 100;
    for iteration in 0..most {
        let size = here.gradient_size();
        if size <= tolerance * here.weight {
            return Ok(theta);
        }
        let stopped = FitError::NotConverged {
            method,
            iterations: iteration,
            gradient: size,
        };
        let trace = (0..D).map(|i| here.hessian[i][i]).sum::<f64>();
        let ridge = 1e-10 * trace + f64::MIN_POSITIVE;
        let Some(step) = solve_positive(here.hessian, here.gradient, ridge) else {
            return Err(stopped);
        };
        let slope = -dot(&here.gradient, &step);
        let mut length = 1.0;
        loop {
            let tried = std::array::from_fn(|i| theta[i] - length * step[i]);
            let there = Expansion::at(&tried, examples());
            // Near the answer the value's gain drowns in rounding; the gradient still tells.
            let level = there.value <= here.value + 1e-12 * (1.0 + here.value.abs());
            let flatter = level && there.gradient_size() < 0.5 * size;
            if there.value < here.value + 1e-4 * length * slope || flatter {
                (theta, here) = (tried, there);
                break;
            }
            length *= 0.5;
            if length < 1e-10 {
                // The value cannot be told from its neighbours any more.
                return if size <= 1e-5 * here.weight {
                    Ok(theta)
                } else {
                    Err(stopped)
                };
            }
        }
    }
    Err(FitError::NotConverged {
        method,
        iterations: most,
        gradient: f64::NAN,
    })
}

/// Value, gradient and Hessian (its lower half) at a point.
struct Expansion<const D: usize> {
    value: f64,
    weight: f64,
    gradient: [f64; D],
    hessian: [[f64; D]; D],
}

impl<const D: usize> Expansion<D> {
    fn gradient_size(&self) -> f64 {
        self.gradient.iter().map(|g| g * g).sum::<f64>().sqrt()
    }

    fn at(theta: &[f64; D], examples: impl Iterator<Item = ([f64; D], f64, f64)>) -> Self {
        let mut sum = Self {
            value: 0.0,
            weight: 0.0,
            gradient: [0.0; D],
            hessian: [[0.0; D]; D],
        };
        // `Σ ln(1 + e)` is the logarithm of a product, which is far cheaper where weights are 1;
        // each factor is at most 2, so that 512 of them stay in range.
        let (mut product, mut factors) = (1.0, 0);
        for (features, target, weight) in examples {
            let z = dot(theta, &features);
            // One exponential serves the value, the probability and its slope.
            let e = (-z.abs()).exp();
            let p = if z >= 0.0 { 1.0 } else { e } / (1.0 + e);
            sum.value += weight * (z.max(0.0) - target * z);
            if weight == 1.0 {
                product *= 1.0 + e;
                factors += 1;
                if factors == 512 {
                    sum.value += f64::ln(product);
                    (product, factors) = (1.0, 0);
                }
            } else {
                sum.value += weight * e.ln_1p();
            }
            sum.weight += weight;
            let (pull, curve) = (weight * (p - target), weight * p * (1.0 - p));
            for i in 0..D {
                sum.gradient[i] += pull * features[i];
                for j in 0..=i {
                    sum.hessian[i][j] += curve * features[i] * features[j];
                }
            }
        }
        sum.value += f64::ln(product);
        sum
    }
}

fn dot<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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
    use crate::numeric::sigmoid;

    #[test] // One parameter, targets all 3/4: the curve must pass through ln 3 there.
    fn a_constant_target_gives_its_log_odds() {
        let examples = || (0..10).map(|_| ([1.0], 0.75, 2.0));
        let [theta] = newton_logistic("test", [0.0], 1e-9, examples).unwrap();
        assert!((theta - 3f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn the_gradient_vanishes_at_the_answer() {
        let features = |i: i32| [1.0, f64::from(i) / 10.0 - 2.0, f64::from((i * 7) % 5)];
        let target = |i: i32| f64::from(u8::from(i % 3 != 0));
        let examples = || (0..40).map(|i| (features(i), target(i), 1.0));
        let theta = newton_logistic("test", [0.0; 3], 1e-9, examples).unwrap();
        for axis in 0..3 {
            let gradient: f64 = (0..40)
                .map(|i| (sigmoid(dot(&theta, &features(i))) - target(i)) * features(i)[axis])
                .sum();
            assert!(gradient.abs() < 1e-7, "{gradient}");
        }
    }
}
