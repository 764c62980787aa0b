//! A calibrator of all classes that is no surer than held-out examples allow.

use serde::{Deserialize, Serialize};

use super::{ClassBuffers, HeldOutClassScores, SavedMulticlassCalibrator as Saved};
use crate::Probability;
use crate::calibration::held::{enough, supported, with_margin};
use crate::numeric::{first_largest, softplus};
use crate::parallel;

/// A calibrator of all classes whose answers stay within what held-out examples support, whatever the scores: one mistyped
/// number, or a text that repeats itself a thousand times, must not make a certainty.
///
/// # Formula
/// ```text
/// P(top) -> at most σ(most)                 the other classes keep their shares of the rest
/// P(c)   -> at least σ(-least)              then all are normalised
/// ```
/// `most` and `least` are log-odds. Where calibrant weighs several ways, they are the lesser of two: what was said of at least one
/// in a hundred (or ten) held-out examples, by curves that did not know them, of the right class and of the least likely wrong one, with a
/// margin of a tenth or half a nat; and `ln(n + 1) + 1` for `n` examples (or wrong classes of examples), since as many without a
/// single error support no more. A way that was asked for by name says what it says wherever the held-out examples
/// were, and goes beyond that by the margin alone.
///
/// ```
/// use calibrant_calibration::calibration::{CalibratorKind, ClassBuffers, HeldOutClassScores, MulticlassKind};
/// use calibrant_calibration::Probability;
/// // Ninety-nine examples without an error.
/// let labels: Vec<u32> = (0..99).map(|row| row % 3).collect();
/// let scores = labels.iter().flat_map(|&label| (0..3).map(move |class| if class == label { 9.0 } else { 0.0 }));
/// let held_out = HeldOutClassScores::assume(scores.collect(), 3, labels.clone())?;
/// let calibrator = MulticlassKind::Auto.choose(&held_out, CalibratorKind::Auto)?.calibrator;
/// let mut said = [Probability::from_log_odds(0.0); 3];
/// calibrator.probabilities_into(&[1e6, 0.0, 0.0], &mut ClassBuffers::default(), &mut said);
/// assert!(said[0].log_odds() <= 100f64.ln() + 1.0); // by hand: 99 examples and one
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct BoundedClasses {
    inner: Saved,
    most: f64,
    least: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    inner: Saved,
    most: f64,
    least: f64,
}

impl TryFrom<Unchecked> for BoundedClasses {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked { inner, most, least } = read;
        let sound = 0.0 <= most && most <= least && least.is_finite();
        if !sound || matches!(inner, Saved::Bounded(_)) {
            return Err(
                "bounds of log-odds must not be negative, nor the lower one closer to zero",
            );
        }
        Ok(Self { inner, most, least })
    }
}

impl BoundedClasses {
    /// The calibrator, which would be surer.
    pub fn inner(&self) -> &Saved {
        &self.inner
    }

    /// The largest log-odds that any class is given.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// No class is given less than the log-odds that are as far below zero, except for what normalisation takes.
    pub fn least(&self) -> f64 {
        self.least
    }

    /// Leaves the log-odds of the classes.
    pub(super) fn log_odds_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        self.inner.ln_weights_into(scores, buffer);
        buffer.fill_log_odds();
        let top = first_largest(&buffer.log_odds);
        let Some(&most) = buffer.log_odds.get(top) else {
            return;
        };
        let surplus = most - self.most;
        if surplus > 0.0 {
            buffer.ln_weights[top] -= surplus;
            buffer.fill_log_odds();
        }
        if buffer
            .log_odds
            .iter()
            .any(|log_odds| *log_odds < -self.least)
        {
            // ln σ(-least), in units in which the largest weight is one.
            let ln_total = buffer.ln_weights[top] + softplus(-buffer.log_odds[top]);
            let least = ln_total - softplus(self.least);
            for weight in &mut buffer.ln_weights {
                *weight = weight.max(least);
            }
            buffer.fill_log_odds();
        }
    }
}

impl Saved {
    /// The same, no surer than examples support of which it, fitted without their folds, says this.
    pub(super) fn supported_by(
        self,
        held_out: &HeldOutClassScores,
        forecasts: &[Probability],
    ) -> Self {
        let classes = held_out.class_count();
        let rows = forecasts.chunks_exact(classes).zip(held_out.labels());
        let (mut right, mut wrong) = (Vec::new(), Vec::new());
        for (row, &label) in rows {
            right.push(row[label as usize].log_odds());
            let others = row.iter().enumerate();
            let others = others.filter(|(class, _)| *class != label as usize);
            let others = others.map(|(_, said)| -said.log_odds());
            wrong.push(others.fold(f64::NEG_INFINITY, f64::max));
        }
        let total: f64 = held_out.weights().iter().sum();
        let most = with_margin(enough(&mut right)).min(supported(total));
        let of_wrong = supported(total * (classes - 1) as f64);
        self.bounded(most, with_margin(enough(&mut wrong)).min(of_wrong))
    }

    /// The same, no surer than it is of these examples.
    pub(super) fn within_examples(self, held_out: &HeldOutClassScores) -> Self {
        /// Rows of a piece of work; results do not depend on it.
        const ROWS: usize = 256;
        let classes = held_out.class_count();
        let said_at_most = parallel::map_chunks(held_out.scores(), ROWS * classes, |rows| {
            let (mut most, mut least) = (0.0f64, 0.0f64);
            let mut buffer = ClassBuffers::default();
            for row in rows.chunks_exact(classes) {
                self.ln_weights_into(row, &mut buffer);
                buffer.fill_log_odds();
                for l in &buffer.log_odds {
                    (most, least) = (most.max(*l), least.max(-l));
                }
            }
            (most, least)
        });
        let (most, least) = said_at_most
            .into_iter()
            .fold((0.0f64, 0.0f64), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        self.bounded(with_margin(most), with_margin(least))
    }

    fn bounded(self, most: f64, least: f64) -> Self {
        let most = most.max(0.0);
        let least = least.max(most);
        Self::Bounded(Box::new(BoundedClasses {
            inner: self,
            most,
            least,
        }))
    }

    /// The calibrator itself, whether or not its answers are kept within bounds.
    #[cfg(test)]
    pub(crate) fn unbounded(&self) -> &Self {
        match self {
            Self::Bounded(bounded) => bounded.inner(),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{CalibratorKind, MulticlassKind};
    use crate::numeric::Random;
    use proptest::prelude::*;

    /// Three classes, of which the first lies far off from the other two, which are hard to distinguish.
    fn draw(seed: u64, count: usize) -> HeldOutClassScores {
        let mut random = Random::from_seed(seed);
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for row in 0..count {
            let label = row % 3;
            let (near, far) = (0.5 * random.normal(), 30.0 + random.normal());
            let says = if label == 1 { near + 0.4 } else { near - 0.4 };
            let row = match label {
                0 => [far, -far, -far],
                _ => [-far, says, -says],
            };
            scores.extend(row);
            labels.push(label as u32);
        }
        HeldOutClassScores::assume(scores, 3, labels).unwrap()
    }

    fn said(calibrator: &Saved, scores: &[f64]) -> Vec<f64> {
        let mut out = vec![Probability::from_log_odds(0.0); scores.len()];
        calibrator.probabilities_into(scores, &mut ClassBuffers::default(), &mut out);
        out.iter().map(|p| p.log_odds()).collect()
    }

    fn surest<'a>(calibrator: &Saved, rows: impl Iterator<Item = &'a [f64]>) -> f64 {
        rows.flat_map(|row| said(calibrator, row))
            .fold(0.0, f64::max)
    }

    #[test] // By hand: odds of e^2 : 1 for the first; the others have 3 : 1 of the rest, but at least σ(-3) of all.
    fn the_likeliest_is_held_down_and_the_least_likely_up() {
        let inner = r#"{"method":"temperature","inverse_temperature":1,"class_count":3}"#;
        let json = format!(r#"{{"method":"bounded","inner":{inner},"most":2,"least":3}}"#);
        let bounded: Saved = serde_json::from_str(&json).unwrap();
        let said = |scores: [f64; 3]| {
            said(&bounded, &scores)
                .into_iter()
                .map(crate::numeric::sigmoid)
        };
        let p: Vec<f64> = said([50.0, 3f64.ln(), 0.0]).collect();
        let rest = 1.0 / (1.0 + 2f64.exp());
        let least = 1.0 / (1.0 + 3f64.exp());
        let total = 1.0 - rest + 0.75 * rest + least;
        for (p, by_hand) in p.iter().zip([1.0 - rest, 0.75 * rest, least]) {
            assert!((p - by_hand / total).abs() < 1e-12, "{p} {by_hand}");
        }
        // Within the bounds nothing changes, to the last digit.
        let plain: Saved = serde_json::from_str(inner).unwrap();
        let near = [0.3, 0.1, -0.2];
        assert_eq!(
            super::tests::said(&bounded, &near),
            super::tests::said(&plain, &near)
        );
    }

    #[test]
    fn a_file_cannot_turn_the_bounds_around() {
        let inner = r#"{"method":"temperature","inverse_temperature":1,"class_count":2}"#;
        let of = |inner: &str, most: &str, least: &str| {
            let json =
                format!(r#"{{"method":"bounded","inner":{inner},"most":{most},"least":{least}}}"#);
            serde_json::from_str::<Saved>(&json)
        };
        assert!(of(inner, "1", "2").is_ok());
        assert!(of(inner, "-1", "2").is_err());
        assert!(of(inner, "3", "2").is_err());
        assert!(of(inner, "3", "1e999").is_err());
        let twice = format!(r#"{{"method":"bounded","inner":{inner},"most":1,"least":2}}"#);
        assert!(of(&twice, "1", "2").is_err());
    }

    /// A class that lies far off must not let the other two become certain.
    #[test]
    fn beyond_the_examples_no_way_is_surer_than_within_them() {
        let held_out = draw(1, 300);
        let rows = || (0..held_out.len()).map(|row| held_out.row(row));
        for kind in MulticlassKind::WAYS
            .into_iter()
            .chain([MulticlassKind::Auto])
        {
            let choice = kind.choose(&held_out, CalibratorKind::Auto).unwrap();
            let within = surest(&choice.calibrator, rows());
            if kind != MulticlassKind::Auto {
                for row in rows() {
                    let plain = said(choice.calibrator.unbounded(), row);
                    assert_eq!(said(&choice.calibrator, row), plain, "{}", kind.name());
                }
            }
            for far in [10.0, 100.0, 1e4, 1e9] {
                for row in [
                    [-30.0, far, 0.0],
                    [-30.0, 0.0, far],
                    [far, far, -far],
                    [0.0, far, far],
                ] {
                    let found = surest(&choice.calibrator, [&row[..]].into_iter());
                    let most = with_margin(within) + 1e-9;
                    assert!(found <= most, "{} {row:?}: {found} {most}", kind.name());
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn whatever_the_scores_nothing_is_surer_than_the_examples_support(
            seed in 0..1000u64,
            count in 20..200usize,
            rows in prop::collection::vec(prop::array::uniform3(-1e6..1e6f64), 20),
        ) {
            let choice = MulticlassKind::Auto.choose(&draw(seed, count), CalibratorKind::Auto).unwrap();
            let most = (count as f64 + 1.0).ln() + 1.0;
            let least = (2.0 * count as f64 + 1.0).ln() + 1.0;
            for row in rows {
                for log_odds in said(&choice.calibrator, &row) {
                    prop_assert!((-least - 0.1..=most + 1e-9).contains(&log_odds), "{}", log_odds);
                }
            }
        }
    }
}
