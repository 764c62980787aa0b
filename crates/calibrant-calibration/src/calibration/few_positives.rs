//! A curve for a class with hardly any examples.

use super::platt::Standard;
use super::rising_line::{likeliest_rising, usual_slope};
use super::share::{shift_to_total, wanted_total};
use super::{CalibrationNote, HeldOutScores, PlattCalibrator};

/// A line for a class that has too few examples for a curve of its own, and no other classes to borrow one from.
///
/// # Formula
/// ```text
/// ln P/(1-P) = a (s - mean)/deviation + b,   ln a ~ Normal(ln a₀, 0.85²)
/// ```
/// The slope `a` is the most likely one given the examples and what slopes of such classes are like; the probabilities
/// of the examples add up to the number of positives. With one or two examples of the rarer label, the slope is `a₀`
/// itself: a guess.
///
/// # Where the prior comes from
/// From classes of Reuters-21578 and of Debian's packages with one to four training documents: the slope that fits
/// thousands of further documents, per mean absolute deviation of the held-out scores of a linear SVM, had a median of
/// about 0.3, 0.4 and 0.6 with one, two and three or four documents, and its logarithm a standard deviation of about 0.85.
/// Naive Bayes' slopes are steeper: beside it the guess is cautious.
pub(super) fn few_positives(held_out: &HeldOutScores) -> (PlattCalibrator, CalibrationNote) {
    let positives = held_out.positives();
    let rarer = positives.min(held_out.len() - positives);
    let constant = held_out.scores().windows(2).all(|pair| pair[0] == pair[1]);
    let scale = Standard::of(held_out);
    let total = wanted_total(held_out);
    let with_slope = |slope: f64| {
        let line = held_out
            .examples()
            .map(|(score, _, weight)| (slope * scale.apply(score), weight));
        shift_to_total(line, total)
    };
    match rarer {
        _ if constant || rarer == 0 => {
            let line = PlattCalibrator {
                slope: 0.0,
                intercept: with_slope(0.0),
            };
            (line, CalibrationNote::PriorOnly)
        }
        1 | 2 => {
            let slope = usual_slope(rarer);
            let line = scale.undo(slope, with_slope(slope));
            (line, CalibrationNote::Guess)
        }
        _ => {
            let start = usual_slope(rarer);
            let slope = most_likely(held_out, &scale, start, with_slope(start));
            let line = scale.undo(slope, with_slope(slope));
            (line, CalibrationNote::Drawn)
        }
    }
}

/// The slope that is likeliest. (At the likeliest intercept the probabilities add up.)
fn most_likely(held_out: &HeldOutScores, scale: &Standard, usual: f64, intercept: f64) -> f64 {
    let mean_weight = held_out.weights().iter().sum::<f64>() / held_out.len() as f64;
    let [ln_slope, ..] = likeliest_rising(usual, [usual.ln(), intercept, 0.0], 1e-9, || {
        held_out.examples().map(|(score, label, weight)| {
            let target = f64::from(u8::from(label));
            ([scale.apply(score), 0.0], target, weight / mean_weight)
        })
    });
    ln_slope.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Calibrator;
    use crate::calibration::rising_line::SPREAD;
    use crate::numeric::{Random, sigmoid};
    use proptest::prelude::*;

    fn draw(seed: u64, count: usize, slope: f64, intercept: f64) -> (Vec<f64>, Vec<bool>) {
        let mut random = Random::from_seed(seed);
        let scores: Vec<f64> = (0..count).map(|_| random.normal()).collect();
        let labels = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(slope * s + intercept))
            .collect();
        (scores, labels)
    }

    proptest! {
        #[test]
        fn the_curve_rises_and_adds_up_to_the_positives(
            scores in prop::collection::vec(-3.0..3.0f64, 12..60),
            positives in 1..5usize,
            upside_down in any::<bool>(),
            unit in 1e-3..1e3f64,
        ) {
            let labels = (0..scores.len()).map(|i| (i < positives) != upside_down).collect();
            let scores: Vec<f64> = scores.iter().map(|score| unit * score).collect();
            let held_out = HeldOutScores::assume(scores.clone(), labels).unwrap();
            let (line, note) = few_positives(&held_out);
            let guess = positives <= 2;
            prop_assert_eq!(note, if guess { CalibrationNote::Guess } else { CalibrationNote::Drawn });
            prop_assert!(line.slope > 0.0);
            let sum: f64 = scores.iter().map(|&score| line.probability(score).value()).sum();
            prop_assert!((sum - held_out.positives() as f64).abs() < 1e-5, "{}", sum);
        }
    }

    #[test] // Weights count in proportion to each other only.
    fn the_scale_of_weights_does_not_matter() {
        let (scores, _) = draw(1, 200, 1.0, -4.0);
        let labels: Vec<bool> = (0..200).map(|i| i % 50 == 7).collect();
        let of = |weight: f64| {
            let weights = (0..200)
                .map(|i| weight * (1.0 + f64::from(i % 3)))
                .collect();
            let scores = scores.clone();
            let held_out = HeldOutScores::assume_weighted(scores, labels.clone(), weights).unwrap();
            few_positives(&held_out).0
        };
        let (one, tiny) = (of(1.0), of(1e-3));
        assert!(
            (one.slope - tiny.slope).abs() < 1e-7 && (one.intercept - tiny.intercept).abs() < 1e-7
        );
    }

    /// Slopes as the prior has them, three or four positives: better than their share alone, and than a line without a
    /// prior.
    #[test]
    fn on_the_whole_it_is_better_than_the_share_and_than_a_line_without_prior() {
        use crate::calibration::{CalibrationMethod, LogisticCurve};
        let mut random = Random::from_seed(11);
        let (mut drawn, mut share, mut free) = (0.0, 0.0, 0.0);
        let mut cases = 0;
        for seed in 0..400 {
            // Normal scores have a mean absolute deviation of 0.8.
            let slope = 0.6 / 0.8 * (SPREAD * random.normal()).exp();
            let (scores, labels) = draw(seed, 300, slope, -4.6);
            let positives = labels.iter().filter(|&&label| label).count();
            if !(3..5).contains(&positives) {
                continue;
            }
            let held_out = HeldOutScores::assume(scores, labels).unwrap();
            let (line, _) = few_positives(&held_out);
            let without = LogisticCurve.fit(&held_out).unwrap();
            let even = PlattCalibrator {
                slope: 0.0,
                intercept: (positives as f64 / 300.0).ln(),
            };
            let (test, truths) = draw(1_000_000 + seed, 4_000, slope, -4.6);
            let loss = |line: &PlattCalibrator| -> f64 {
                let each = test.iter().zip(&truths);
                each.map(|(&s, &t)| line.probability(s).log_loss(t)).sum()
            };
            drawn += loss(&line);
            free += loss(&without);
            share += loss(&even);
            cases += 1;
        }
        assert!(cases > 60, "{cases}");
        assert!(drawn < 0.99 * free, "{drawn} {free}");
        assert!(drawn < 0.99 * share, "{drawn} {share}");
    }

    #[test]
    fn without_differences_there_is_only_the_share() {
        let held_out = HeldOutScores::assume(
            vec![2.0; 8],
            vec![true, false, false, false, false, false, false, false],
        );
        let (line, note) = few_positives(&held_out.unwrap());
        assert_eq!(note, CalibrationNote::PriorOnly);
        assert!((line.probability(9.0).value() - 0.125).abs() < 1e-9);
    }
}
