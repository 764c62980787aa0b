//! How surprising is a mean, measured by its own spread? The tails of Student's distribution.

use super::incomplete_beta::incomplete_beta;

/// The probability that a variable with Student's distribution lies at least as far from zero as `t`, on either side.
///
/// # Formula
/// ```text
/// I_x(ν/2, 1/2),   x = ν / (ν + t²),   the regularised incomplete beta function
/// ```
/// by its continued fraction, on the side where it converges quickly; small tails keep their relative precision.
/// What is not a number, and no degree of freedom, give one: nothing surprising was seen.
///
/// ```
/// use calibrant_calibration::numeric::student_tails;
/// // By hand: with one degree of freedom the distribution is Cauchy's, and half lies beyond 1.
/// assert!((student_tails(1.0, 1.0) - 0.5).abs() < 1e-14);
/// // With two: 1 - t/√(t² + 2).
/// assert!((student_tails(-3.0, 2.0) - (1.0 - 3.0 / 11f64.sqrt())).abs() < 1e-14);
/// assert_eq!(student_tails(0.0, 5.0), 1.0);
/// ```
pub fn student_tails(t: f64, degrees_of_freedom: f64) -> f64 {
    let nu = degrees_of_freedom;
    if t.is_nan() || nu.is_nan() || nu <= 0.0 || t == 0.0 {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    // Divided by the larger of the two, so that squares do not overflow.
    let ratio = t.abs() / nu.sqrt();
    let (x, y) = match ratio > 1.0 {
        true => {
            let inverse = 1.0 / (ratio * ratio);
            (inverse / (1.0 + inverse), 1.0 / (1.0 + inverse))
        }
        false => {
            let square = ratio * ratio;
            (1.0 / (1.0 + square), square / (1.0 + square))
        }
    };
    incomplete_beta(nu / 2.0, 0.5, x, y).clamp(0.0, 1.0)
}

/// How far from zero a variable with Student's distribution lies with this probability at most, on either side: half
/// of an interval that holds the truth with that probability, in estimated standard errors.
///
/// Found by halving; infinite without a degree of freedom.
///
/// ```
/// use calibrant_calibration::numeric::student_reach;
/// assert!((student_reach(0.95, 4.0) - 2.776445).abs() < 1e-6); // from any table
/// assert!((student_reach(0.5, 1.0) - 1.0).abs() < 1e-9); // by hand: Cauchy's quartiles
/// assert!((student_reach(0.95, 1e9) - 1.959964).abs() < 1e-6); // the normal curve's
/// ```
pub fn student_reach(probability: f64, degrees_of_freedom: f64) -> f64 {
    let beyond = |t: f64| student_tails(t, degrees_of_freedom) > 1.0 - probability;
    let mut high = 1.0;
    while beyond(high) {
        high *= 2.0;
        if high > 1e300 {
            return f64::INFINITY;
        }
    }
    let mut low = 0.0;
    while high - low > 1e-13 * high {
        let middle = 0.5 * (low + high);
        match beyond(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The normal number that is about as surprising as `t` is with so many degrees of freedom, however far out.
///
/// # Formula
/// ```text
/// z = ±(8ν + 1)/(8ν + 3) √(ν ln(1 + t²/ν))
/// ```
///
/// # Reference
/// Wallace, Annals of Mathematical Statistics 30 (1959).
///
/// ```
/// use calibrant_calibration::numeric::{student_as_normal, student_reach};
/// let t = student_reach(0.95, 9.0);
/// assert!((student_as_normal(t, 9.0) - 1.96).abs() < 0.003);
/// ```
pub fn student_as_normal(t: f64, degrees_of_freedom: f64) -> f64 {
    let nu = degrees_of_freedom;
    let root = (nu * (t * t / nu).ln_1p()).sqrt();
    ((8.0 * nu + 1.0) / (8.0 * nu + 3.0) * root).copysign(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn two_and_four_degrees_have_closed_forms(t in -50.0..50.0f64) {
            let t2 = t.abs();
            let two = 1.0 - t2 / (t2 * t2 + 2.0).sqrt();
            prop_assert!((student_tails(t, 2.0) - two).abs() < 1e-13);
            let u = t2 / (4.0 + t2 * t2).sqrt();
            let four = 1.0 - 1.5 * (u - u * u * u / 3.0);
            prop_assert!((student_tails(t, 4.0) - four).abs() < 1e-13);
        }

        #[test]
        fn tails_are_shares_and_fall_with_distance(t in 0.0..1e6f64, nu in 0.5..1e5f64) {
            let (near, far) = (student_tails(t, nu), student_tails(t * 1.01 + 1e-6, nu));
            prop_assert!((0.0..=1.0).contains(&near));
            prop_assert!(far <= near + 1e-12);
        }
    }

    #[test] // The closed form beside the tails themselves.
    fn a_normal_number_is_as_surprising() {
        for nu in [2.0, 3.0, 9.0, 40.0, 1000.0] {
            for t in [-0.5, 1.0, 2.0, 4.0] {
                let z = student_as_normal(t, nu);
                assert!((z > 0.0) == (t > 0.0));
                let (found, expected) = (
                    2.0 * crate::numeric::normal_cdf(-z.abs()),
                    student_tails(t, nu),
                );
                assert!(
                    (found / expected - 1.0).abs() < 0.12,
                    "{t} {nu}: {found} {expected}"
                );
            }
        }
        assert!(student_as_normal(1e6, 1e4).is_finite());
        assert_eq!(student_reach(0.95, 0.0), f64::INFINITY);
    }

    #[test]
    fn what_is_no_number_or_infinite_has_an_answer() {
        assert_eq!(student_tails(f64::NAN, 3.0), 1.0);
        assert_eq!(student_tails(f64::INFINITY, 3.0), 0.0);
        assert_eq!(student_tails(2.0, 0.0), 1.0);
        assert!(student_tails(1e300, 3.0) >= 0.0);
    }

    #[test]
    fn many_degrees_are_the_normal_curve() {
        let normal = 2.0 * super::super::normal_cdf(-1.96);
        assert!((student_tails(1.96, 1e9) - normal).abs() < 1e-7);
    }
}
