//! Which probabilities and ratios to write along an axis of logarithms.

use std::f64::consts::LN_10;

/// The least distance between two numbers, in units of the drawing.
const LEAST_ROOM: f64 = 42.0;
/// Probabilities for an axis too short for powers of ten.
const FINE: [f64; 17] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99,
];

/// Log-odds from `low` to `high` with the probabilities that belong to them: one half, and
/// powers of ten towards both ends.
pub(super) fn probability_ticks(low: f64, high: f64, length: f64) -> Vec<(f64, String)> {
    let decades = decades(low, high);
    let stride = stride(low, high, length);
    let mut ticks = Vec::new();
    for power in (1..=decades).rev().filter(|power| power % stride == 0) {
        ticks.push((-log_odds_of_power(power), small(power)));
    }
    ticks.push((0.0, "0.5".to_owned()));
    for power in (1..=decades).filter(|power| power % stride == 0) {
        ticks.push((log_odds_of_power(power), large(power)));
    }
    ticks.retain(|tick| (low..=high).contains(&tick.0));
    if ticks.len() < 3 {
        let fine = FINE
            .iter()
            .map(|p| ((p / (1.0 - p)).ln(), p.to_string()))
            .filter(|tick| (low..=high).contains(&tick.0));
        ticks = spaced(fine, low, high, length);
    }
    ticks
}

/// Logarithms from `low` to `high` with the ratios that belong to them: powers of ten.
pub(super) fn ratio_ticks(low: f64, high: f64, length: f64) -> Vec<(f64, String)> {
    let decades = decades(low, high);
    let stride = stride(low, high, length);
    let mut ticks = Vec::new();
    for power in -decades..=decades {
        let name = match power {
            0 => "1".to_owned(),
            1..=3 => 10i64.pow(power.unsigned_abs()).to_string(),
            -3..=-1 => format!("1/{}", 10i64.pow(power.unsigned_abs())),
            _ => format!("10{}", superscript(power)),
        };
        if power % stride == 0 {
            ticks.push((f64::from(power) * LN_10, name));
        }
    }
    ticks.retain(|tick| (low..=high).contains(&tick.0));
    ticks
}

/// How many powers of ten there may be on one side, within reason.
fn decades(low: f64, high: f64) -> i32 {
    (low.abs().max(high.abs()) / LN_10).min(300.0) as i32 + 1
}

/// Every how many powers of ten a number fits.
fn stride(low: f64, high: f64, length: f64) -> i32 {
    let room = length * LN_10 / (high - low);
    ((LEAST_ROOM / room).ceil().min(300.0) as i32).max(1)
}

/// The log-odds of `1 - 10^-power`.
fn log_odds_of_power(power: i32) -> f64 {
    // (1 - q) / q with q = 10^-power is 10^power - 1.
    10f64.powi(power).ln() + (-(10f64.powi(-power))).ln_1p()
}

fn small(power: i32) -> String {
    match power {
        1..=3 => format!("{:.*}", power as usize, 10f64.powi(-power)),
        _ => format!("10{}", superscript(-power)),
    }
}

fn large(power: i32) -> String {
    match power {
        1..=3 => format!("{:.*}", power as usize, 1.0 - 10f64.powi(-power)),
        _ => format!("1−10{}", superscript(-power)),
    }
}

fn superscript(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number
        .to_string()
        .chars()
        .map(|c| {
            c.to_digit(10)
                .map_or('⁻', |digit| DIGITS[digit as usize % 10])
        })
        .collect()
}

/// Drops what would stand too close to the one before.
fn spaced(
    ticks: impl Iterator<Item = (f64, String)>,
    low: f64,
    high: f64,
    length: f64,
) -> Vec<(f64, String)> {
    let mut kept: Vec<(f64, String)> = Vec::new();
    for tick in ticks {
        let far = kept
            .last()
            .is_none_or(|last| (tick.0 - last.0) / (high - low) * length >= LEAST_ROOM / 1.5);
        if far {
            kept.push(tick);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn probabilities_stand_at_their_log_odds() {
        let ticks = probability_ticks(-5.0, 5.0, 400.0);
        assert!((ticks[1].0 - (0.1f64 / 0.9).ln()).abs() < 1e-12);
        assert_eq!(labels(ticks), ["0.01", "0.1", "0.5", "0.9", "0.99"]);
        assert_eq!(
            labels(probability_ticks(-12.0, 3.0, 300.0)),
            ["10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1", "0.5", "0.9"]
        );
        assert_eq!(
            labels(probability_ticks(-0.6, 0.6, 400.0)),
            ["0.4", "0.45", "0.5", "0.55", "0.6"]
        );
    }

    #[test]
    fn ratios_are_powers_of_ten() {
        assert_eq!(
            labels(ratio_ticks(-5.0, 5.0, 400.0)),
            ["1/100", "1/10", "1", "10", "100"]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn there_are_never_many_and_all_are_inside(low in -800.0f64..800.0, width in 1e-9f64..1600.0) {
            let high = low + width;
            for ticks in [probability_ticks(low, high, 400.0), ratio_ticks(low, high, 400.0)] {
                prop_assert!(ticks.len() <= 24, "{}", ticks.len());
                prop_assert!(ticks.iter().all(|tick| low <= tick.0 && tick.0 <= high));
            }
        }
    }
}
