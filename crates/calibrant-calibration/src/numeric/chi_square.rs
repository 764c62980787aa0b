//! How surprising is a sum of squares? The upper tail of the chi-square distribution.

/// The probability that a chi-square variable with this many degrees of freedom is at least
/// `statistic`; the p-value of a likelihood-ratio test.
///
/// # Formula
/// ```text
/// Q(k/2, x/2) = Γ(k/2, x/2) / Γ(k/2),   the regularised upper incomplete gamma function
/// ```
/// By its power series left of the bulk and by its continued fraction right of it, where the
/// tail keeps its full relative precision however small it is. `Γ(k/2)` needs no approximation:
/// `Γ(a) = (a-1) Γ(a-1)` leads down to `Γ(1) = 1` or `Γ(1/2) = √π`.
///
/// Without a degree of freedom the variable is zero. A statistic below zero counts as zero, and
/// what is not a number gives one: nothing surprising was seen.
///
/// ```
/// use calibrant_calibration::numeric::chi_square_tail;
/// // By hand: with two degrees of freedom the tail is e^(-x/2).
/// assert!((chi_square_tail(3.0, 2) - (-1.5f64).exp()).abs() < 1e-15);
/// assert!((chi_square_tail(3.841_458_820_694_124, 1) - 0.05).abs() < 1e-12); // 1.96²
/// assert_eq!(chi_square_tail(0.0, 7), 1.0);
/// ```
pub fn chi_square_tail(statistic: f64, degrees_of_freedom: usize) -> f64 {
    if statistic.is_nan() || statistic <= 0.0 {
        return 1.0;
    }
    if degrees_of_freedom == 0 || statistic == f64::INFINITY {
        return 0.0;
    }
    let (a, x) = (degrees_of_freedom as f64 / 2.0, statistic / 2.0);
    // x^a e^-x / Γ(a), which both expansions share.
    let front = (a * x.ln() - x - ln_gamma_of_half(degrees_of_freedom)).exp();
    let tail = if x < a + 1.0 {
        1.0 - front * lower_series(a, x)
    } else {
        front * upper_fraction(a, x)
    };
    tail.clamp(0.0, 1.0)
}

/// `ln Γ(k/2)`.
fn ln_gamma_of_half(k: usize) -> f64 {
    let start = if k.is_multiple_of(2) {
        0.0
    } else {
        0.5 * std::f64::consts::PI.ln()
    };
    // The factors a-1, a-2, … down to 1 or 1/2, multiplied in groups to take few logarithms.
    let mut sum = start;
    let mut product = 1.0;
    let mut twice = k;
    while twice > 2 {
        twice -= 2;
        product *= twice as f64 / 2.0;
        if product > 1e280 {
            sum += product.ln();
            product = 1.0;
        }
    }
    sum + product.ln()
}

/// `Σ_n x^n / (a (a+1) … (a+n))`; its terms fall from the start, since `x < a + 1`.
fn lower_series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    let mut n = 1.0;
    while term > sum * f64::EPSILON {
        term *= x / (a + n);
        sum += term;
        n += 1.0;
    }
    sum
}

/// The continued fraction `1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - …)))`, from the top by
/// Lentz's method. It needs about `√a` steps right of `a + 1`.
fn upper_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST_STEPS: usize = 1_000_000;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / away(b);
    let mut value = d;
    for step in 1..MOST_STEPS {
        let step = step as f64;
        let coefficient = -step * (step - a);
        b += 2.0;
        d = 1.0 / away(coefficient * d + b);
        c = away(b + coefficient / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(statistic: f64, degrees_of_freedom: usize, expected: f64) {
        let found = chi_square_tail(statistic, degrees_of_freedom);
        assert!(
            (found / expected - 1.0).abs() < 1e-11,
            "{statistic} {degrees_of_freedom}: {found} {expected}"
        );
    }

    #[test] // Values of scipy.stats.chi2.sf, version 1.17.1.
    fn values_of_another_library_are_met() {
        check(0.01, 1, 0.920344325445942);
        check(1.0, 1, 0.31731050786291115);
        check(3.5, 1, 0.0613688291394023);
        check(50.0, 1, 1.537459794428033e-12);
        check(700.0, 1, 2.990226975124623e-154);
        check(2.0, 3, 0.5724067044708798);
        check(20.0, 3, 0.00016974243555282632);
        check(5.0, 19, 0.9994309626474822);
        check(19.0, 19, 0.45683612559196224);
        check(60.0, 19, 3.869826300664181e-06);
        check(300.0, 19, 2.0005232442947767e-52);
        check(90.0, 114, 0.952744636804055);
        check(200.0, 114, 1.158514411658608e-06);
        check(1000.0, 999, 0.48513148927490146);
        check(1200.0, 999, 1.112935044825893e-05);
    }

    #[test]
    fn odd_input_gives_a_probability() {
        for k in [0, 1, 2, 3, 1000] {
            for x in [f64::NAN, -1.0, 0.0, 1e-300, 1.0, 1e300, f64::INFINITY] {
                let tail = chi_square_tail(x, k);
                assert!((0.0..=1.0).contains(&tail), "{x} {k}: {tail}");
            }
        }
    }

    proptest! {
        #[test] // Even degrees of freedom have a closed form: e^(-x/2) Σ_{j<k/2} (x/2)^j / j!.
        fn even_degrees_of_freedom_equal_the_poisson_sum(half in 1usize..60, x in 0.0f64..300.0) {
            let mut term = (-x / 2.0).exp();
            let mut sum = term;
            for j in 1..half {
                term *= x / 2.0 / j as f64;
                sum += term;
            }
            let found = chi_square_tail(x, 2 * half);
            prop_assert!((found - sum).abs() <= 1e-11 * sum + 1e-14, "{} {}", found, sum);
        }

        #[test]
        fn it_falls_with_the_statistic(k in 1usize..200, x in 0.0f64..400.0, more in 0.0f64..10.0) {
            prop_assert!(chi_square_tail(x + more, k) <= chi_square_tail(x, k) + 1e-13);
        }
    }
}
