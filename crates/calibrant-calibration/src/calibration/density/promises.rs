//! What every density promises.

use proptest::prelude::*;

use super::*;
use crate::numeric::Random;

/// Parameters near a fitted density's, for it to be compared with.
trait Nearby: Density {
    /// With the mode moved and each side's width changed.
    fn changed(&self, moved: f64, left: f64, right: f64) -> Self;
}

impl Nearby for Gauss {
    fn changed(&self, moved: f64, left: f64, _: f64) -> Self {
        Self::new(self.mean() + moved, self.deviation() * left).unwrap()
    }
}

impl Nearby for Laplace {
    fn changed(&self, moved: f64, left: f64, _: f64) -> Self {
        Self::new(self.median() + moved, self.deviation() * left).unwrap()
    }
}

impl Nearby for AsymmetricLaplace {
    fn changed(&self, moved: f64, left: f64, right: f64) -> Self {
        let rates = self.rates();
        Self::new(self.mode() + moved, rates.0 / left, rates.1 / right).unwrap()
    }
}

impl Nearby for AsymmetricGauss {
    fn changed(&self, moved: f64, left: f64, right: f64) -> Self {
        let widths = self.deviations();
        Self::new(self.mode() + moved, widths.0 * left, widths.1 * right).unwrap()
    }
}

impl Nearby for Hybrid {
    fn changed(&self, moved: f64, left: f64, right: f64) -> Self {
        Self::new(
            self.mode() + moved,
            self.inner(),
            self.inner_rate() / left,
            self.outer_deviation() * right,
        )
        .unwrap()
    }
}

fn ln_likelihood(density: &impl Density, class: &ClassScores) -> f64 {
    class
        .examples()
        .map(|(score, weight)| weight * density.ln_pdf(score))
        .sum()
}

/// Steps near and far: a fit that is only locally best would be found out.
const MOVES: [f64; 13] = [
    -9.0, -4.0, -2.0, -1.0, -0.3, -0.03, 0.0, 0.03, 0.3, 1.0, 2.0, 4.0, 9.0,
];
const WIDTHS: [f64; 9] = [0.1, 0.3, 0.6, 0.9, 1.0, 1.1, 1.7, 3.0, 10.0];

fn nothing_near_is_likelier<D: Nearby>(class: &ClassScores) {
    let fitted = D::fit(class).unwrap();
    let best = ln_likelihood(&fitted, class);
    for moved in MOVES {
        for left in WIDTHS {
            for right in WIDTHS {
                let other = fitted.changed(moved, left, right);
                let likelihood = ln_likelihood(&other, class);
                assert!(
                    likelihood <= best + 1e-7 * (1.0 + best.abs()),
                    "{}: {likelihood} moved by {moved} with widths times {left}, {right}, but {best}",
                    D::NAME
                );
            }
        }
    }
}

fn integrates_to_one(density: &impl Density) {
    // On each side of the mode, Simpson's rule in steps of its own width, far into the tail.
    let side = |side: Side, sign: f64| {
        let width = match density.decay(side) {
            Decay::Exponential { rate } => 1.0 / rate,
            Decay::Gaussian { deviation } => deviation,
        };
        let steps = 8000;
        let step = 40.0 / f64::from(steps);
        let at = |i: i32| {
            let distances = f64::from(i) * step;
            (density.ln_peak() - density.decay(side).loss(sign * distances * width)).exp() * width
        };
        (0..steps / 2)
            .map(|i| (at(2 * i) + 4.0 * at(2 * i + 1) + at(2 * i + 2)) * step / 3.0)
            .sum::<f64>()
    };
    let area = side(Side::Left, -1.0) + side(Side::Right, 1.0);
    assert!((area - 1.0).abs() < 1e-8, "{area}");
}

fn scales_and_shifts<D: Density>(scores: &[f64], labels: &[bool], factor: f64, shift: f64) {
    let fit = |factor: f64, shift: f64| {
        let scores = scores.iter().map(|score| score * factor + shift).collect();
        DensityCalibrator::<D>::fit(&HeldOutScores::assume(scores, labels.to_vec()).unwrap())
            .unwrap()
    };
    let (plain, moved) = (fit(1.0, 0.0), fit(factor, shift));
    for score in [-7.0, -1.0, 0.3, 2.0, 9.0] {
        let (a, b) = (
            plain.probability(score).log_odds(),
            moved.probability(score * factor + shift).log_odds(),
        );
        assert!(
            (a - b).abs() < 1e-4 * (1.0 + a.abs()),
            "{}: {a} {b} at {score}",
            D::NAME
        );
    }
}

/// Fits what is hard to fit, and checks that nothing infinite comes of it and that it survives being saved.
fn survives<D>(scores: &[f64], labels: &[bool])
where
    D: Density + PartialEq + std::fmt::Debug + Serialize + serde::de::DeserializeOwned,
{
    let held_out = HeldOutScores::assume(scores.to_vec(), labels.to_vec()).unwrap();
    let fitted = DensityCalibrator::<D>::fit(&held_out).unwrap();
    let mut asked = scores.to_vec();
    asked.extend([0.0, 1.0, -1e30, 1e200, f64::MAX, f64::MIN, 5e-324]);
    for &score in &asked {
        for density in [&fitted.positive, &fitted.negative] {
            assert!(density.ln_pdf(score).is_finite(), "{density:?} at {score}");
        }
        assert!(fitted.probability(score).log_odds().is_finite());
    }
    let saved = serde_json::to_string(&fitted).unwrap();
    let read: DensityCalibrator<D> = serde_json::from_str(&saved).unwrap();
    assert_eq!(read, fitted, "{saved}");
    // The order of examples changes nothing, to the last digit.
    let reversed = HeldOutScores::assume(
        scores.iter().rev().copied().collect(),
        labels.iter().rev().copied().collect(),
    );
    let again = DensityCalibrator::<D>::fit(&reversed.unwrap()).unwrap();
    assert_eq!(again, fitted);
}

macro_rules! every_density {
    ($check:ident($($argument:expr),*)) => {
        $check::<Gauss>($($argument),*);
        $check::<Laplace>($($argument),*);
        $check::<AsymmetricLaplace>($($argument),*);
        $check::<AsymmetricGauss>($($argument),*);
        $check::<Hybrid>($($argument),*);
    };
}

proptest! {
    #[test]
    fn no_parameters_on_a_grid_are_likelier(
        examples in prop::collection::vec((-5.0f64..5.0, 0.2f64..3.0), 4..25),
        left in any::<bool>(),
    ) {
        let inner = if left { Side::Left } else { Side::Right };
        // Floors so low that they hardly cost any likelihood.
        let class = ClassScores::new(&examples, inner, 1e-40).unwrap();
        every_density!(nothing_near_is_likelier(&class));
    }

    #[test]
    fn every_density_integrates_to_one(
        mode in -3.0f64..3.0, left in 0.01f64..40.0, right in 0.01f64..40.0,
    ) {
        integrates_to_one(&Gauss::new(mode, left).unwrap());
        integrates_to_one(&Laplace::new(mode, left).unwrap());
        integrates_to_one(&AsymmetricLaplace::new(mode, left, right).unwrap());
        integrates_to_one(&AsymmetricGauss::new(mode, left, right).unwrap());
        integrates_to_one(&Hybrid::new(mode, Side::Left, left, right).unwrap());
        integrates_to_one(&Hybrid::new(mode, Side::Right, left, right).unwrap());
    }

    #[test]
    fn scaling_and_shifting_the_scores_scales_and_shifts_the_fit(
        seed in any::<u64>(), count in 6usize..40, factor in 0.01f64..1e3, shift in -50.0f64..50.0,
    ) {
        let mut random = Random::from_seed(seed);
        let scores: Vec<f64> = (0..count).map(|_| 3.0 * random.normal()).collect();
        let labels: Vec<bool> = (0..count).map(|i| i % 3 == 0).collect();
        every_density!(scales_and_shifts(&scores, &labels, factor, shift));
    }
}

#[test]
fn hard_scores_give_finite_densities() {
    let labels = [false, true, false, true, false, false, false];
    for scores in [
        [0.1; 7],
        [0.0; 7],
        [1.0, 2.0, 1.0, 2.0, 1.0, 1.0, 1.0],
        [1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0],
        [f64::MAX, f64::MIN, 0.0, f64::MAX, 1.0, -1.0, f64::MIN],
        [1e308, -1e308, 1e308, 3e307, 2.0, -1e308, 1e307],
        [5e-324, 0.0, 1e-323, 0.0, 5e-324, -5e-324, 0.0],
        [1e-300, 2e-300, 3e-300, 3.5e-300, -1e-300, 0.0, 1e-310],
        [1e16, 1e16 + 2.0, 1e16 + 4.0, 1e16 + 8.0, 1e16, 1e16, 1e16],
        [1e308, 1.0, 1.0 + 1e-12, 1.0, 1.0, 1.0, 1.0],
    ] {
        every_density!(survives(&scores, &labels));
        // One positive only.
        let one = labels.map(|_| false).into_iter().skip(1);
        let one: Vec<bool> = std::iter::once(true).chain(one).collect();
        every_density!(survives(&scores, &one));
    }
}

fn says_the_prior<D: Density>(held_out: &HeldOutScores) {
    let fitted = DensityCalibrator::<D>::fit(held_out).unwrap();
    let log_odds = fitted.probability(0.1).log_odds();
    // By hand: (2+1) / (8+1).
    let expected = -3f64.ln();
    assert!(
        (log_odds - expected).abs() < 1e-9,
        "{}: {log_odds}",
        D::NAME
    );
}

#[test]
fn equal_scores_say_nothing_but_the_prior() {
    let labels: Vec<bool> = (0..10).map(|i| i < 2).collect();
    let held_out = HeldOutScores::assume(vec![0.1; 10], labels).unwrap();
    every_density!(says_the_prior(&held_out));
}

fn counts_weights<D: Density>(seed: u64) {
    let mut random = Random::from_seed(seed);
    let mut plain = (Vec::new(), Vec::new());
    let mut weighted = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..40 {
        let (score, label, times) = (random.normal(), i % 3 == 0, 1 + i % 4);
        weighted.0.push(score);
        weighted.1.push(label);
        weighted.2.push(f64::from(times));
        for _ in 0..times {
            plain.0.push(score);
            plain.1.push(label);
        }
    }
    let plain = HeldOutScores::assume(plain.0, plain.1).unwrap();
    let weighted = HeldOutScores::assume_weighted(weighted.0, weighted.1, weighted.2).unwrap();
    let [a, b] = [plain, weighted].map(|held_out| DensityCalibrator::<D>::fit(&held_out).unwrap());
    for score in [-4.0, -0.5, 0.0, 1.0, 3.0] {
        let (a, b) = (
            a.probability(score).log_odds(),
            b.probability(score).log_odds(),
        );
        assert!(
            (a - b).abs() < 1e-5 * (1.0 + a.abs()),
            "{}: {a} {b}",
            D::NAME
        );
    }
}

#[test]
fn a_weight_is_so_many_examples() {
    for seed in 0..20 {
        every_density!(counts_weights(seed));
    }
}

#[test]
fn a_file_cannot_hold_what_is_no_density() {
    for text in [
        r#"{"mode":0,"left_rate":-1,"right_rate":1}"#,
        r#"{"mode":0,"left_rate":0,"right_rate":1}"#,
        r#"{"mode":0,"left_rate":1,"right_rate":1,"more":1}"#,
        r#"{"mode":null,"left_rate":1,"right_rate":1}"#,
    ] {
        assert!(
            serde_json::from_str::<AsymmetricLaplace>(text).is_err(),
            "{text}"
        );
    }
    let text = r#"{"mode":0,"left_rate":2,"right_rate":1}"#;
    assert!(serde_json::from_str::<AsymmetricLaplace>(text).is_ok());
    assert!(serde_json::from_str::<Gauss>(r#"{"mean":0,"deviation":0}"#).is_err());
    assert!(serde_json::from_str::<Laplace>(r#"{"median":0,"deviation":-2}"#).is_err());
    let text = r#"{"mode":0,"left_deviation":1,"right_deviation":-1}"#;
    assert!(serde_json::from_str::<AsymmetricGauss>(text).is_err());
    let text = r#"{"mode":0,"inner":"left","inner_rate":1,"outer_deviation":0}"#;
    assert!(serde_json::from_str::<Hybrid>(text).is_err());
}
