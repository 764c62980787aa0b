//! Logistic curves with a handful of parameters.

use crate::FitError;
use crate::numeric::{sigmoid, softplus};

/// Minimises `Σ w_i (softplus(z_i) - t_i z_i)` with `z_i = θ·f_i` by Newton's method with
/// backtracking, where `t_i` in [0, 1] is a (soft) target.
///
/// `visit` is called with a closure that it must hand every `(f, t, w)` to, as often as needed.
/// The Hessian gets a ridge of 1e-10 of its trace so that a direction without data stays put.
/// Ends when the gradient is below `1e-9` of the total weight, or when no step improves the value
/// any more and the gradient is below `1e-5` of it; else an error says where it stopped.
///
/// # Reference
/// The backtracking scheme for Platt's curve: Lin, Lin & Weng, Machine Learning 68 (2007).
pub fn newton_logistic<const D: usize>(
    method: &'static str,
    start: [f64; D],
    visit: impl Fn(&mut dyn FnMut([f64; D], f64, f64)),
) -> Result<[f64; D], FitError> {
    let value_at = |theta: &[f64; D]| {
        let mut value = 0.0;
        visit(&mut |features, target, weight| {
            let z = dot(theta, &features);
            value += weight * (softplus(z) - target * z);
        });
        value
    };
    let mut theta = start;
    let mut value = value_at(&theta);
    let most = 100;
    for iteration in 0..most {
        let mut gradient = [0.0; D];
        let mut hessian = [[0.0; D]; D];
        let mut total = 0.0;
        visit(&mut |features, target, weight| {
            let p = sigmoid(dot(&theta, &features));
            let (pull, curve) = (weight * (p - target), weight * p * (1.0 - p));
            total += weight;
            for i in 0..D {
                gradient[i] += pull * features[i];
                for j in 0..=i {
                    hessian[i][j] += curve * features[i] * features[j];
                }
            }
        });
        let size = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        if size <= 1e-9 * total {
            return Ok(theta);
        }
        let ridge = 1e-10 * (0..D).map(|i| hessian[i][i]).sum::<f64>() + f64::MIN_POSITIVE;
        let Some(step) = solve_positive(hessian, gradient, ridge) else {
            return Err(FitError::NotConverged {
                method,
                iterations: iteration,
                gradient: size,
            });
        };
        let slope = -dot(&gradient, &step);
        let mut length = 1.0;
        let improved = loop {
            let mut tried = theta;
            (0..D).for_each(|i| tried[i] -= length * step[i]);
            let tried_value = value_at(&tried);
            if tried_value < value + 1e-4 * length * slope {
                theta = tried;
                value = tried_value;
                break true;
            }
            length *= 0.5;
            if length < 1e-10 {
                break false;
            }
        };
        if !improved {
            // The value cannot be told from its neighbours any more.
            return if size <= 1e-5 * total {
                Ok(theta)
            } else {
                Err(FitError::NotConverged {
                    method,
                    iterations: iteration + 1,
                    gradient: size,
                })
            };
        }
    }
    Err(FitError::NotConverged {
        method,
        iterations: most,
        gradient: f64::NAN,
    })
}

fn dot<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves `(H + ridge I) x = g` by Cholesky's method; `None` if H is not positive.
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

    #[test] // One parameter, targets all 3/4: the curve must pass through ln 3 there.
    fn a_constant_target_gives_its_log_odds() {
        let [theta] = newton_logistic("test", [0.0], |add| {
            (0..10).for_each(|_| add([1.0], 0.75, 2.0))
        })
        .unwrap();
        assert!((theta - 3f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn the_gradient_vanishes_at_the_answer() {
        let points: Vec<([f64; 3], f64)> = (0..40)
            .map(|i| {
                (
                    [1.0, i as f64 / 10.0 - 2.0, ((i * 7) % 5) as f64],
                    f64::from(u8::from(i % 3 != 0)),
                )
            })
            .collect();
        let theta = newton_logistic("test", [0.0; 3], |add| {
            points.iter().for_each(|&(f, t)| add(f, t, 1.0))
        })
        .unwrap();
        for axis in 0..3 {
            let gradient: f64 = points
                .iter()
                .map(|(f, t)| (sigmoid(dot(&theta, f)) - t) * f[axis])
                .sum();
            assert!(gradient.abs() < 1e-7, "{gradient}");
        }
    }
}
