//! The logarithm of the gamma function.

/// `ln Γ(x)` for positive `x`; infinite at zero, not-a-number below.
///
/// # Formula
/// ```text
/// ln Γ(x) = (x - ½) ln x - x + ½ ln 2π + 1/(12x) - 1/(360x³) + 1/(1260x⁵) - ...
/// ```
/// which is good to the last digits from ten on; below, `Γ(x) = Γ(x+1)/x` leads up there.
///
/// # Reference
/// Stirling's series, Abramowitz & Stegun 6.1.41.
///
/// ```
/// use calibrant::numeric::ln_gamma;
/// assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14); // by hand: Γ(5) = 4! = 24
/// assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14);
/// ```
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 || x.is_infinite() {
        return f64::INFINITY;
    }
    let (mut x, mut product) = (x, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = [
        -691.0 / 360_360.0,
        1.0 / 1188.0,
        -1.0 / 1680.0,
        1.0 / 1260.0,
        -1.0 / 360.0,
        1.0 / 12.0,
    ]
    .iter()
    .fold(0.0, |sum, factor| sum * y + factor)
        / x;
    let half_ln_tau = 0.5 * std::f64::consts::TAU.ln();
    let stirling = (x - 0.5) * x.ln() - x + half_ln_tau + series;
    if product == 1.0 {
        stirling
    } else {
        stirling - product.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whole_numbers_give_factorials() {
        let mut ln_factorial = 0.0;
        for n in 1..100 {
            assert!((ln_gamma(f64::from(n)) - ln_factorial).abs() < 1e-12 * (1.0 + ln_factorial));
            ln_factorial += f64::from(n).ln();
        }
    }

    #[test]
    fn the_ends_are_where_they_belong() {
        assert_eq!(ln_gamma(0.0), f64::INFINITY);
        assert_eq!(ln_gamma(f64::INFINITY), f64::INFINITY);
        assert!(ln_gamma(-1.0).is_nan() && ln_gamma(f64::NAN).is_nan());
        // Γ(x) is 1/x near zero.
        assert!((ln_gamma(1e-300) - 300.0 * 10f64.ln()).abs() < 1e-10);
        assert!(ln_gamma(1e300).is_finite());
    }

    proptest! {
        #[test] // Γ(x) Γ(x + ½) = 2^(1-2x) √π Γ(2x), Legendre's duplication formula.
        fn duplication_holds(ln_x in -20.0f64..20.0) {
            let x = ln_x.exp();
            let left = ln_gamma(x) + ln_gamma(x + 0.5);
            let right = (1.0 - 2.0 * x) * 2f64.ln() + 0.5 * std::f64::consts::PI.ln() + ln_gamma(2.0 * x);
            let size = 1.0 + x * (1.0 + ln_x.abs());
            prop_assert!((left - right).abs() < 1e-13 * size, "{} {} {}", x, left, right);
        }

        #[test]
        fn the_step_to_the_next_number_is_its_logarithm(x in 0.001f64..50.0) {
            prop_assert!((ln_gamma(x + 1.0) - ln_gamma(x) - x.ln()).abs() < 1e-12);
        }
    }
}
