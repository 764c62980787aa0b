//! What every method that counts examples promises, tested for all of them.

use std::fmt::Debug;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    Bbq, Binning, CalibrationMethod, Calibrator, CentredIsotonic, CrossVennAbers, HeldOutScores,
    Histogram, Isotonic, VennAbers,
};
use crate::numeric::Random;

type Example = (f64, bool, f64);

/// Something to be checked with every method; the flag says whether its curve promises to rise.
trait Check {
    fn run<M>(&mut self, method: M, rises: bool)
    where
        M: CalibrationMethod,
        M::Calibrator: Serialize + DeserializeOwned + PartialEq + Debug;
}

fn with_every_method(check: &mut impl Check) {
    check.run(Isotonic, true);
    check.run(CentredIsotonic, true);
    check.run(VennAbers, true);
    check.run(CrossVennAbers, true);
    check.run(Bbq, false);
    for binning in [Binning::EqualMass, Binning::EqualWidth] {
        for bins in [None, Some(3)] {
            check.run(Histogram { binning, bins }, false);
        }
    }
}

fn held_out(examples: &[Example]) -> HeldOutScores {
    HeldOutScores::assume_weighted(
        examples.iter().map(|example| example.0).collect(),
        examples.iter().map(|example| example.1).collect(),
        examples.iter().map(|example| example.2).collect(),
    )
    .unwrap()
}

/// Scores in and around the examples, rising.
fn scores_to_ask(examples: &[Example]) -> Vec<f64> {
    let mut scores: Vec<f64> = examples.iter().map(|example| example.0).collect();
    scores.sort_by(f64::total_cmp);
    let between: Vec<f64> = scores
        .windows(2)
        .flat_map(|pair| [0.01, 0.5, 0.99].map(|t| pair[0] * (1.0 - t) + pair[1] * t))
        .collect();
    scores.extend(between);
    scores.extend([
        f64::NEG_INFINITY,
        f64::MIN,
        -1.0,
        0.0,
        5e-324,
        1.0,
        f64::MAX,
    ]);
    scores.push(f64::INFINITY);
    scores.sort_by(f64::total_cmp);
    scores
}

/// All that holds for any examples with both labels.
struct Promises<'a>(&'a [Example]);

impl Check for Promises<'_> {
    fn run<M>(&mut self, method: M, rises: bool)
    where
        M: CalibrationMethod,
        M::Calibrator: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        let examples = self.0;
        let fitted = method.fit(&held_out(examples)).unwrap();

        let asked = scores_to_ask(examples);
        let forecasts: Vec<_> = asked.iter().map(|&s| fitted.probability(s)).collect();
        for forecast in &forecasts {
            assert!(forecast.log_odds().abs() < 1e3, "{forecast:?} {fitted:?}");
        }
        if rises {
            assert!(forecasts.is_sorted(), "{fitted:?}");
        }
        assert!(fitted.probability(f64::NAN).log_odds().abs() < 1e3);

        // The order of the examples leaves no trace.
        let mut shuffled = examples.to_vec();
        Random::from_seed(3).shuffle(&mut shuffled);
        assert_eq!(method.fit(&held_out(&shuffled)).unwrap(), fitted);
        shuffled.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(method.fit(&held_out(&shuffled)).unwrap(), fitted);

        // Saved and loaded it is the same.
        let text = serde_json::to_string(&fitted).unwrap();
        let loaded: M::Calibrator = serde_json::from_str(&text).unwrap();
        assert_eq!(loaded, fitted);
    }
}

/// An increasing map of the scores changes nothing.
struct Rescaled<'a>(&'a [Example]);

impl Check for Rescaled<'_> {
    fn run<M>(&mut self, method: M, _: bool)
    where
        M: CalibrationMethod,
        M::Calibrator: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        let map = |score: f64| 8.0 * score - 5.0;
        let mapped: Vec<Example> = self.0.iter().map(|&(s, y, w)| (map(s), y, w)).collect();
        let plain = method.fit(&held_out(self.0)).unwrap();
        let scaled = method.fit(&held_out(&mapped)).unwrap();
        for &(score, _, _) in self.0 {
            let (a, b) = (plain.probability(score), scaled.probability(map(score)));
            assert!((a.log_odds() - b.log_odds()).abs() < 1e-9, "{a:?} {b:?}");
        }
    }
}

/// What was damaged is refused, or is harmless.
struct Damaged<'a>(&'a [Example]);

impl Check for Damaged<'_> {
    fn run<M>(&mut self, method: M, _: bool)
    where
        M: CalibrationMethod,
        M::Calibrator: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        let fitted = method.fit(&held_out(self.0)).unwrap();
        let whole = serde_json::to_value(&fitted).unwrap();
        let mut unknown = whole.clone();
        unknown["surprise"] = 1.into();
        assert!(serde_json::from_value::<M::Calibrator>(unknown).is_err());
        let mut lists = Vec::new();
        find_lists(&whole, "", &mut lists);
        assert!(!lists.is_empty());
        for list in lists {
            for damage in 0..8 {
                let mut damaged = whole.clone();
                let Some(Value::Array(items)) = damaged.pointer_mut(&list) else {
                    panic!("{list}");
                };
                let must_fail = match damage {
                    0 => items.pop().is_some() && items.first().is_none_or(Value::is_number),
                    1 => {
                        items.push(Value::Null);
                        true
                    }
                    2 => {
                        items.insert(0, 1e300.into());
                        true
                    }
                    3 => {
                        items.reverse();
                        false
                    }
                    4 => {
                        items.clear();
                        false
                    }
                    5 => {
                        let first = items.first().cloned();
                        items.extend(first);
                        false
                    }
                    6 => {
                        items.iter_mut().for_each(|item| *item = 1e308.into());
                        false
                    }
                    _ => {
                        items.iter_mut().for_each(|item| *item = (-1e15).into());
                        false
                    }
                };
                match serde_json::from_value::<M::Calibrator>(damaged) {
                    Err(_) => {}
                    Ok(loaded) => {
                        assert!(!must_fail, "{list} {damage} {loaded:?}");
                        for score in scores_to_ask(self.0) {
                            let value = loaded.probability(score).value();
                            assert!(value > 0.0 && value < 1.0);
                        }
                    }
                }
            }
        }
        let text = serde_json::to_string(&fitted).unwrap();
        assert!(serde_json::from_str::<M::Calibrator>(&text[..text.len() / 2]).is_err());
    }
}

fn find_lists(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            found.push(path.into());
            for (number, item) in items.iter().enumerate() {
                find_lists(item, &format!("{path}/{number}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                find_lists(field, &format!("{path}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// One label is an error, not a curve.
struct OneLabel;

impl Check for OneLabel {
    fn run<M>(&mut self, method: M, _: bool)
    where
        M: CalibrationMethod,
        M::Calibrator: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        for examples in [
            vec![],
            vec![(1.0, true, 1.0)],
            vec![(1.0, false, 1.0), (2.0, false, 1.0)],
        ] {
            assert!(method.fit(&held_out(&examples)).is_err());
        }
    }
}

#[test]
fn one_label_is_refused() {
    with_every_method(&mut OneLabel);
}

#[test]
fn degenerate_scores_keep_every_promise() {
    let alternating = |count: u32| (0..count).map(|i| i % 2 == 0);
    let cases: Vec<Vec<Example>> = vec![
        // All equal, two values, two examples.
        alternating(30).map(|label| (3.0, label, 1.0)).collect(),
        (0..40)
            .map(|i| (f64::from(i % 2), i % 3 == 0, 1.0))
            .collect(),
        vec![(0.0, false, 1.0), (1.0, true, 1.0)],
        vec![(0.0, true, 1.0), (1.0, false, 1.0)],
        // One positive, one negative.
        (0..50).map(|i| (f64::from(i), i == 30, 1.0)).collect(),
        (0..50).map(|i| (f64::from(i), i != 30, 1.0)).collect(),
        // Perfectly separated, and the wrong way round.
        (0..50).map(|i| (f64::from(i), i >= 25, 1.0)).collect(),
        (0..50).map(|i| (f64::from(i), i < 25, 1.0)).collect(),
        // As large and as small as floats go.
        (0..30)
            .map(|i| (f64::from(i - 15) / 15.0 * f64::MAX, i * 7 % 30 > 12, 1.0))
            .collect(),
        (0..30)
            .map(|i| (f64::from_bits(i), i * 7 % 30 > 12, 1.0))
            .collect(),
        (0..30)
            .map(|i| {
                let score = if i == 7 { 1e308 } else { f64::from(i) };
                (score, i * 7 % 30 > 12, 1.0)
            })
            .collect(),
        // Weights far apart.
        (0..30)
            .map(|i| (f64::from(i), i * 7 % 30 > 12, 10f64.powi(i % 13 - 6)))
            .collect(),
        (0..30)
            .map(|i| (f64::from(i % 5), i * 7 % 30 > 12, 1e-9))
            .collect(),
        (0..30)
            .map(|i| (f64::from(i % 5), i * 7 % 30 > 12, 1e30))
            .collect(),
    ];
    for examples in &cases {
        with_every_method(&mut Promises(examples));
    }
}

#[test]
fn damaged_files_are_refused_or_harmless() {
    let mut random = Random::from_seed(6);
    let examples: Vec<Example> = (0..200)
        .map(|_| {
            let score = random.normal();
            (score, random.normal() < 2.0 * score, 1.0)
        })
        .collect();
    with_every_method(&mut Damaged(&examples));
}

fn examples() -> impl Strategy<Value = Vec<Example>> {
    let example = (-40i8..40, any::<bool>(), 0.1f64..3.0);
    prop::collection::vec(example, 2..80)
        .prop_map(|examples| {
            let scaled = examples.into_iter();
            scaled
                .map(|(score, label, weight)| (f64::from(score) / 4.0, label, weight))
                .collect::<Vec<Example>>()
        })
        .prop_filter("both labels", |examples| {
            examples.iter().any(|example| example.1) && examples.iter().any(|example| !example.1)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn random_scores_keep_every_promise(examples in examples()) {
        with_every_method(&mut Promises(&examples));
        with_every_method(&mut Rescaled(&examples));
    }
}
