//! An exponential that the compiler can compute for many numbers at once.

/// `e^x` for `x <= 0`, without a branch or a call, so that a loop over an array of numbers becomes
/// vector instructions; within two units in the last place.
///
/// # Formula
/// ```text
/// e^x = 2^n · e^r  with n = round(x / ln 2),  |r| <= ln 2 / 2,  e^r by its series to r¹³/13!
/// ```
/// Numbers below -708 (and not-a-number) count as -708, so that the result is never zero nor
/// less exact.
///
/// ```
/// use calibrant_calibration::numeric::exp_of_negative;
/// assert_eq!(exp_of_negative(0.0), 1.0);
/// assert!((exp_of_negative(-(2f64.ln())) - 0.5).abs() < 1e-15);
/// assert!(exp_of_negative(-1e300) > 0.0);
/// ```
#[inline]
pub fn exp_of_negative(x: f64) -> f64 {
    /// Adding it rounds a small number to a whole one, which then stands in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
    /// The logarithm of two: a part with zeros at its end, so that whole multiples are exact, and
    /// the rest.
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Written so that not-a-number, too, becomes the bound.
    let x = if x > -708.0 { x } else { -708.0 };
    let rounded = x * std::f64::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let mut series = 1.0 / 6_227_020_800.0;
    for inverse in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        series = series * r + inverse;
    }
    // `n` lies between -1022 and 0: its sum with the exponent's offset is a valid exponent.
    let two_to_n = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    series * two_to_n
}

/// `ln(1 + x)` for `x > -1`, without a call where `x` is small, as probabilities of one class of many are.
///
/// # Formula
/// ```text
/// ln(1 + x) = x - x²/2 + x³/3 - … - x⁶/6      where |x| < 1/1024, within two units in the last place
/// ```
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    if x.abs() < 1.0 / 1024.0 {
        let mut series = -1.0 / 6.0;
        for term in [1.0 / 5.0, -1.0 / 4.0, 1.0 / 3.0, -1.0 / 2.0, 1.0] {
            series = series * x + term;
        }
        series * x
    } else {
        x.ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_standard_library_agrees_on_logarithms(
            x in prop_oneof![-0.99f64..3.0, -1e-3f64..1e-3, -1e-9f64..1e-9, Just(0.0)],
        ) {
            let (ours, theirs) = (ln_1p(x), x.ln_1p());
            prop_assert!((ours - theirs).abs() <= 2.0 * f64::EPSILON * theirs.abs(), "{} {}", ours, theirs);
        }

        #[test]
        fn the_standard_library_agrees(x in prop_oneof![-708.0f64..0.0, -1.0f64..0.0, -1e-9f64..0.0]) {
            let (ours, theirs) = (exp_of_negative(x), x.exp());
            prop_assert!((ours - theirs).abs() <= 2.0 * f64::EPSILON * theirs, "{} {}", ours, theirs);
        }
    }

    #[test]
    fn numbers_beyond_the_range_count_as_its_end() {
        let least = exp_of_negative(-708.0);
        assert!(least > 0.0 && least < 1e-307);
        for x in [-709.0, -1e308, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(exp_of_negative(x), least);
        }
    }
}
