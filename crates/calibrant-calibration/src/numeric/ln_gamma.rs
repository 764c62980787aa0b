//! Logarithms of factorials and of what is made of them.

/// From here on Stirling's series, cut after seven terms, is exact to the last bit.
const SERIES_FROM: f64 = 9.0;

/// Half the logarithm of 2π.
pub(crate) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// `ln Γ(x)` for `x > 0`; infinite at zero, not a number below it.
///
/// # Formula
/// ```text
/// ln Γ(x) = (x - ½) ln x - x + ½ ln 2π + 1/12x - 1/360x³ + 1/1260x⁵ - ...
/// ```
/// for large `x`; a small one is first moved up by `Γ(x) = Γ(x + 1) / x`.
///
/// # When it misleads
/// Near its zeros 1 and 2 the error is about `1e-15` in absolute terms, not in relative ones.
///
/// ```
/// use calibrant_calibration::numeric::ln_gamma;
/// assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14); // by hand: Γ(5) = 4! = 24
/// assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14); // Γ(½) = √π
/// ```
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 || x == f64::INFINITY {
        return f64::INFINITY;
    }
    let (mut moved, mut product) = (x, 1.0);
    while moved < SERIES_FROM {
        product *= moved;
        moved += 1.0;
    }
    let stirling = (moved - 0.5) * moved.ln() - moved + HALF_LN_TAU + stirling_series(moved);
    stirling - product.ln()
}

/// What Stirling's formula `(x - ½) ln x - x + ½ ln 2π` leaves of `ln Γ(x)`, for `x` from [`SERIES_FROM`].
fn stirling_series(x: f64) -> f64 {
    let y = 1.0 / (x * x);
    let coefficients = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1_260.0,
        -1.0 / 1_680.0,
        1.0 / 1_188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let sum = coefficients.iter().rev().fold(0.0, |sum, c| sum * y + c);
    sum / x
}

/// What Stirling's formula `(n + ½) ln n - n + ½ ln 2π` leaves of `ln n!`: small, and therefore
/// known far better than as a difference of the two. Zero for zero.
pub(crate) fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n == 0 {
        0.0
    } else if x < SERIES_FROM {
        ln_gamma(x + 1.0) - ((x + 0.5) * x.ln() - x + HALF_LN_TAU)
    } else {
        stirling_series(x)
    }
}

/// `ln (n over k)`, negative infinity where `k > n`.
///
/// # Formula
/// With `q = k/n` and `δ` what Stirling's formula leaves of a factorial's logarithm,
/// ```text
/// ln (n over k) = -n (q ln q + (1-q) ln (1-q)) - ½ ln (2π n q (1-q)) + δ(n) - δ(k) - δ(n-k)
/// ```
/// which, unlike a difference of three large logarithms, is good to the last digits for every `n`.
///
/// ```
/// use calibrant_calibration::numeric::ln_binomial;
/// assert!((ln_binomial(5, 2) - 10f64.ln()).abs() < 1e-14); // by hand: 5·4/2
/// assert_eq!(ln_binomial(7, 0), 0.0);
/// ```
pub fn ln_binomial(n: u64, k: u64) -> f64 {
    if k > n {
        return f64::NEG_INFINITY;
    }
    let rest = n - k;
    if k == 0 || rest == 0 {
        return 0.0;
    }
    let (nf, kf, rf) = (n as f64, k as f64, rest as f64);
    // n/k is 1 + (n-k)/k, of which nothing is rounded away where it is close to one.
    let entropy = kf * (rf / kf).ln_1p() + rf * (kf / rf).ln_1p();
    entropy + 0.5 * (nf / kf / rf).ln() - HALF_LN_TAU + stirling_error(n)
        - stirling_error(k)
        - stirling_error(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Values by scipy.special.gammaln, and by mpmath where they differ in the last digit.
    fn ln_gamma_gives_the_values_of_scipy() {
        for (x, expected) in [
            (1e-300, 690.775_527_898_213_7),
            (1e-5, 11.512_919_692_895_826),
            (0.1, 2.252_712_651_734_206),
            (1.0, 0.0),
            (1.5, -0.120_782_237_635_245_22),
            (2.0, 0.0),
            (3.25, 0.935_801_931_108_725_3),
            (8.999, 10.602_462_320_025_602),
            (9.0, 10.604_602_902_745_25),
            (100.0, 359.134_205_369_575_4),
            (1e7, 151_180_949.369_473_9),
            (1e300, 6.897_755_278_982_137e302),
        ] {
            let found = ln_gamma(x);
            let scale = f64::max(1.0, expected);
            assert!((found - expected).abs() < 4e-15 * scale, "{x}: {found}");
        }
        assert!(ln_gamma(-0.5).is_nan());
        assert_eq!(ln_gamma(0.0), f64::INFINITY);
    }

    #[test]
    fn binomials_equal_the_triangle_of_pascal() {
        let mut row = vec![1.0f64];
        for n in 1..=60u64 {
            let mut next = vec![1.0];
            next.extend(row.windows(2).map(|pair| pair[0] + pair[1]));
            next.push(1.0);
            row = next;
            for (k, &exact) in row.iter().enumerate() {
                let found = ln_binomial(n, k as u64);
                assert!((found - exact.ln()).abs() < 2e-14, "{n} over {k}: {found}");
            }
        }
        assert_eq!(ln_binomial(3, 4), f64::NEG_INFINITY);
    }

    #[test] // By hand: (n over 2) = n(n-1)/2, also where factorials have billions of digits.
    fn binomials_of_huge_numbers_stay_exact() {
        let n = 4_000_000_000u64;
        let exact = (n as f64 * (n - 1) as f64 / 2.0).ln();
        assert!((ln_binomial(n, 2) - exact).abs() < 1e-13);
        assert!((ln_binomial(n, n - 2) - exact).abs() < 1e-13);
    }
}
