//! The normal distribution, good to the last digits however far out.

use super::ln_gamma::HALF_LN_TAU;

/// The 97.5 % point of the standard normal distribution: half of a 95 % interval in standard errors.
pub const NORMAL_975: f64 = 1.959_963_984_540_054;

/// Below this distance from the middle a series is used, beyond it a continued fraction.
const SERIES_BELOW: f64 = 1.5;

/// How deep the continued fraction goes: at [`SERIES_BELOW`] its error is then below one bit, and
/// beyond it is smaller still.
const DEPTH: u32 = 220;

/// The chance that a standard normal number is at most `z`.
///
/// # Formula
/// ```text
/// Φ(z) = ½ + φ(z) (z + z³/3 + z⁵/(3·5) + ...)                near the middle
/// Φ(-z) = φ(z) / (z + 1/(z + 2/(z + 3/(z + ...))))           for z far from it
/// ```
/// where `φ` is the density. The lower tail has its full relative precision until it underflows
/// at -38; [`ln_normal_cdf`] goes on.
///
/// # Reference
/// Abramowitz & Stegun, Handbook of Mathematical Functions, 26.2.11 and 26.2.14.
///
/// ```
/// use calibrant_calibration::numeric::normal_cdf;
/// assert_eq!(normal_cdf(0.0), 0.5);
/// assert!((normal_cdf(-1.959963984540054) - 0.025).abs() < 1e-16); // the quantile of every table
/// ```
pub fn normal_cdf(z: f64) -> f64 {
    if z > 0.0 {
        1.0 - normal_cdf(-z)
    } else if z > -SERIES_BELOW {
        0.5 - density(-z) * odd_series(-z)
    } else if z < -40.0 {
        0.0
    } else {
        density(-z) * mills_ratio(-z)
    }
}

/// The logarithm of [`normal_cdf`], finite for every finite `z`.
///
/// ```
/// use calibrant_calibration::numeric::ln_normal_cdf;
/// assert!((ln_normal_cdf(0.0) - 0.5f64.ln()).abs() < 1e-16);
/// // By hand: far out the tail is close to φ(z)/z.
/// let z = 1e5f64;
/// let tail = -z * z / 2.0 - (z * std::f64::consts::TAU.sqrt()).ln();
/// assert!((ln_normal_cdf(-z) - tail).abs() < 1e-6);
/// ```
pub fn ln_normal_cdf(z: f64) -> f64 {
    if z > -SERIES_BELOW {
        if z > 0.0 {
            (-normal_cdf(-z)).ln_1p()
        } else {
            normal_cdf(z).ln()
        }
    } else {
        -0.5 * z * z - HALF_LN_TAU + mills_ratio(-z).ln()
    }
}

/// `φ(z)`. The square is taken in two parts: its rounding error alone would cost three digits at 30.
fn density(z: f64) -> f64 {
    let square = z * z;
    let lost = z.mul_add(z, -square);
    (-0.5 * square).exp() * (-0.5 * lost).exp() * (-HALF_LN_TAU).exp()
}

/// `z + z³/3 + z⁵/(3·5) + ...`
fn odd_series(z: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (z, z, 1.0);
    while term > 1e-18 * sum {
        odd += 2.0;
        term *= z * z / odd;
        sum += term;
    }
    sum
}

/// The upper tail over the density, for `z` from [`SERIES_BELOW`].
fn mills_ratio(z: f64) -> f64 {
    let fraction = (1..=DEPTH)
        .rev()
        .fold(z, |below, k| z + f64::from(k) / below);
    1.0 / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Worked out with 40 digits by mpmath (scipy's own tail is 6e-14 off at -30).
    fn the_values_are_those_of_many_digits() {
        let values: [(f64, f64, f64); 12] = [
            (-37.5, 4.605353009581955e-308, -707.6689893175072),
            (-30.0, 4.906713927148187e-198, -454.3212439563432),
            (-20.3, 6.429244467698346e-92, -209.97697152524202),
            (-10.0, 7.619853024160525e-24, -53.23128515051247),
            (-5.0, 2.866515718791939e-07, -15.064998393988725),
            (-2.5, 0.006209665325776135, -5.08164827727869),
            (-1.5, 0.06680720126885807, -2.7059444008238898),
            (-1.0, 0.15865525393145705, -1.8410216450092636),
            (-0.3, 0.3820885778110474, -0.9621028181688507),
            (0.7, 0.758036347776927, -0.2770239422771313),
            (3.0, 0.9986501019683699, -0.0013508099647481938),
            (8.0, 0.9999999999999993, -6.220960574271786e-16),
        ];
        for (z, cdf, ln_cdf) in values {
            let found = normal_cdf(z);
            assert!((found - cdf).abs() <= 1e-14 * cdf, "{z}: {found} {cdf}");
            let found = ln_normal_cdf(z);
            let scale = ln_cdf.abs();
            assert!(
                (found - ln_cdf).abs() <= 1e-14 * scale,
                "{z}: {found} {ln_cdf}"
            );
        }
    }

    #[test]
    fn the_two_ways_meet() {
        let (inner, outer) = (normal_cdf(-SERIES_BELOW + 1e-12), normal_cdf(-SERIES_BELOW));
        let slope = density(SERIES_BELOW) * 1e-12;
        assert!(((inner - outer - slope) / outer).abs() < 1e-14);
    }

    #[test]
    fn nothing_breaks_at_the_ends() {
        assert_eq!(normal_cdf(f64::NEG_INFINITY), 0.0);
        assert_eq!(normal_cdf(f64::INFINITY), 1.0);
        assert!(normal_cdf(f64::NAN).is_nan());
        assert!(ln_normal_cdf(-1e150).is_finite());
        assert_eq!(ln_normal_cdf(1e150), 0.0);
    }
}
