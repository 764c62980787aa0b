//! Numbers as the terminal and the page show them.

use super::comparison::{Comparison, Forecaster, Measures};

/// The columns of the table of measures.
pub(super) const MEASURES: [&str; 8] = [
    "",
    "accuracy",
    "log loss",
    "excess",
    "Brier",
    "ECE",
    "if perfect",
    "band",
];

/// Its rows: every forecaster, then the truth itself.
pub(super) fn measure_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let row = |name: String, measures: &Measures| {
        let numbers = [
            measures.accuracy,
            measures.log_loss,
            measures.excess,
            measures.brier,
            measures.ece,
            measures.ece_of_perfect,
            measures.ece_band,
        ];
        std::iter::once(name).chain(numbers.map(measure)).collect()
    };
    let forecasters = comparison.forecasters.iter();
    forecasters
        .map(|forecaster| row(starred_name(forecaster), &forecaster.measures))
        .chain([row("the truth itself".to_owned(), &comparison.truth)])
        .collect()
}

/// The name, with a star where what is stated is no probability.
pub(super) fn starred_name(forecaster: &Forecaster) -> String {
    let mark = match forecaster.states_probabilities {
        true => "",
        false => " *",
    };
    format!("{}{mark}", forecaster.name)
}

/// A measure: the test letters do not support more than three decimals.
pub(super) fn measure(value: f64) -> String {
    format!("{value:.3}")
}

/// A mean probability or a share, and a dash where there is none. What rounds to certainty without
/// being certain is not shown as certain.
pub(super) fn share(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 1.0 && value > 0.9995 => ">0.999".to_owned(),
        Some(value) => format!("{value:.3}"),
    }
}

/// The stated or true probability of one class, with the digits that matter at either end.
pub(super) fn probability(value: f64) -> String {
    let rest = 1.0 - value;
    if value < 5e-4 {
        format!("{value:.0e}")
    } else if rest < 5e-4 {
        // One digit that is not a nine; an `f64` has fifteen.
        let digits = (-rest.max(1e-15).log10()).ceil() as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.3}")
    }
}

/// A whole number with commas between thousands.
pub(super) fn whole(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_certainty_is_shown_as_certain() {
        assert_eq!(share(Some(1.0)), "1.000");
        assert_eq!(share(Some(0.99996)), ">0.999");
        assert_eq!(share(Some(0.9994)), "0.999");
        assert_eq!(share(None), "–");
        assert_eq!(probability(1.0 - 3e-5), "0.99997");
        assert_eq!(probability(1.0 - 1.2e-9), "0.999999999");
        assert_eq!(probability(0.9995), "0.9995");
        assert_eq!(probability(2e-9), "2e-9");
        assert_eq!(probability(0.25), "0.250");
    }

    #[test]
    fn thousands_are_grouped() {
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (4_000, "4,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(whole(value), text);
        }
    }
}
