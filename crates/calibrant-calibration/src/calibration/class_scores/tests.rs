//! What every way from scores to probabilities of many classes must keep to, and how near the truth
//! the ways come where the truth is known.

use super::*;
use crate::calibration::CalibratorKind;
use crate::numeric::{Random, log_sum_exp};

const KINDS: [MulticlassKind; 6] = MulticlassKind::WAYS;

/// Examples whose true log-probabilities are known, with scores that are those distorted.
struct World {
    held_out: HeldOutClassScores,
    truth: Vec<f64>,
}

/// True log-weights are normal numbers; a class's score is its log-weight bent by a slope and a bias
/// of the class's own: `s_c = (l_c - b_c) / a_c`, `ln a_c` and `b_c` normal with the given deviations.
fn world(seed: u64, count: usize, classes: usize, slopes: f64, biases: f64) -> World {
    let mut random = Random::from_seed(99);
    let lines: Vec<(f64, f64)> = (0..classes)
        .map(|_| ((slopes * random.normal()).exp(), biases * random.normal()))
        .collect();
    let mut random = Random::from_seed(seed);
    let (mut scores, mut truth, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let ln_weights: Vec<f64> = (0..classes).map(|_| 3.25 * random.normal()).collect();
        let total = log_sum_exp(&ln_weights);
        let mut left = random.uniform();
        let drawn = ln_weights.iter().position(|ln_weight| {
            left -= (ln_weight - total).exp();
            left < 0.0
        });
        labels.push(drawn.unwrap_or(0) as u32);
        truth.extend(ln_weights.iter().map(|ln_weight| ln_weight - total));
        scores.extend(ln_weights.iter().zip(&lines).map(|(l, (a, b))| (l - b) / a));
    }
    World {
        held_out: HeldOutClassScores::assume(scores, classes, labels).unwrap(),
        truth,
    }
}

fn fit(kind: MulticlassKind, held_out: &HeldOutClassScores) -> SavedMulticlassCalibrator {
    kind.choose(held_out, CalibratorKind::Platt)
        .unwrap_or_else(|error| panic!("{}: {error}", kind.name()))
        .calibrator
}

/// Without forecasts, which the tests of quality do not need.
fn fit_once(kind: MulticlassKind, held_out: &HeldOutClassScores) -> SavedMulticlassCalibrator {
    use SavedMulticlassCalibrator as Saved;
    match kind {
        MulticlassKind::Temperature => Saved::Temperature(Temperature.fit(held_out).unwrap()),
        MulticlassKind::Vector => Saved::Vector(VectorScaling.fit(held_out).unwrap()),
        MulticlassKind::Dirichlet => Saved::Dirichlet(Dirichlet.fit(held_out).unwrap()),
        MulticlassKind::Coupling => Saved::Coupling(PairwiseCoupling.fit(held_out).unwrap()),
        MulticlassKind::SharedCurve => {
            Saved::SharedCurve(SharedCurve::default().fit(held_out).unwrap())
        }
        MulticlassKind::OneVsRest | MulticlassKind::Auto | MulticlassKind::SecondPass => {
            fit(kind, held_out)
        }
    }
}

fn predict(calibrator: &SavedMulticlassCalibrator, scores: &[f64]) -> Vec<Probability> {
    let mut out = vec![Probability::from_log_odds(0.0); calibrator.class_count()];
    calibrator.probabilities_into(scores, &mut ClassBuffers::default(), &mut out);
    out
}

/// Mean divergence from the truth: by how much the expected log loss is above the least possible.
fn excess(calibrator: &SavedMulticlassCalibrator, test: &World) -> f64 {
    let classes = calibrator.class_count();
    let rows = test.truth.chunks_exact(classes).enumerate();
    let divergence = rows.map(|(row, truth)| {
        let said = predict(calibrator, test.held_out.row(row));
        let parts = truth.iter().zip(&said);
        parts
            .map(|(ln_p, said)| ln_p.exp() * (ln_p - said.ln()))
            .sum::<f64>()
    });
    divergence.sum::<f64>() / test.held_out.len() as f64
}

fn bayes_loss(test: &World) -> f64 {
    let entropy: f64 = test.truth.iter().map(|ln_p| -ln_p * ln_p.exp()).sum();
    entropy / test.held_out.len() as f64
}

/// 20 classes, least possible log loss 1.14,
/// scores bent by a slope and a bias of the class's own.
#[test]
fn vector_scaling_loses_what_its_parameters_cost_and_no_more() {
    let bent = |seed, count| world(seed, count, 20, 0.2, 0.55);
    let test = bent(1000, 10_000);
    let least = bayes_loss(&test);
    assert!((least - 1.14).abs() < 0.05, "{least}");
    let mean = |count, kind: MulticlassKind| {
        let excess = |seed| excess(&fit_once(kind, &bent(seed, count).held_out), &test);
        (excess(1) + excess(2)) / 2.0
    };
    // 39 free parameters cost 39/2n on the average: 0.0098 and 0.00195.
    let (few, many) = (
        mean(2_000, MulticlassKind::Vector),
        mean(10_000, MulticlassKind::Vector),
    );
    assert!(few < 0.0118, "{few}");
    assert!(many < 0.0024, "{many}");
    // One factor cannot mend this however many examples there are.
    let factor = mean(10_000, MulticlassKind::Temperature);
    assert!(factor > 0.1, "{factor}");
    assert!(few < mean(2_000, MulticlassKind::OneVsRest));
    assert!(few < mean(2_000, MulticlassKind::Coupling));
    assert!(few < mean(2_000, MulticlassKind::Dirichlet));
}

#[test]
fn where_one_factor_is_right_more_parameters_cost_little() {
    let test = world(1000, 5_000, 10, 0.0, 0.0);
    let train = world(7, 1_000, 10, 0.0, 0.0);
    let excess = |kind| excess(&fit_once(kind, &train.held_out), &test);
    let factor = excess(MulticlassKind::Temperature);
    assert!(factor < 0.002, "{factor}");
    // Without shrinking they would cost 19/2000 = 0.0095 and 109/2000 = 0.055.
    let vector = excess(MulticlassKind::Vector);
    assert!(vector < 0.004, "{vector}");
    let matrix = excess(MulticlassKind::Dirichlet);
    assert!(matrix < 0.015, "{matrix}");
}

/// Classes 0 and 1 are distinguished by the score of class 2, which only a matrix can use.
#[test]
fn a_matrix_uses_what_another_class_tells() {
    let make = |seed: u64, count: usize| {
        let mut world = world(seed, count, 3, 0.0, 0.0);
        let mut scores = world.held_out.scores().to_vec();
        for row in scores.chunks_exact_mut(3) {
            row[2] += 0.5 * row[0] - 0.5 * row[1];
        }
        let labels = world.held_out.labels().to_vec();
        world.held_out = HeldOutClassScores::assume(scores, 3, labels).unwrap();
        world
    };
    let (train, test) = (make(1, 4_000), make(2, 4_000));
    let excess = |kind| excess(&fit_once(kind, &train.held_out), &test);
    let (matrix, vector) = (
        excess(MulticlassKind::Dirichlet),
        excess(MulticlassKind::Vector),
    );
    assert!(matrix < 0.01 && matrix < 0.2 * vector, "{matrix} {vector}");
    let choice = MulticlassKind::Auto.choose(&train.held_out, CalibratorKind::Platt);
    let choice = choice.unwrap();
    let weight = |kind| weight_of(&choice.tried, kind);
    let tried = &choice.tried;
    assert!(weight(MulticlassKind::Dirichlet) > 0.9, "{tried:?}");
}

fn weight_of(tried: &[Weighed], kind: MulticlassKind) -> f64 {
    let found = tried.iter().find(|way| way.kind == kind);
    found.map_or(0.0, |way| way.weight)
}

#[test]
fn auto_weighs_the_ways_and_is_as_good_as_the_best() {
    for (slopes, biases) in [(0.0, 0.0), (0.2, 0.55)] {
        let train = world(3, 2_000, 15, slopes, biases);
        let test = world(4, 3_000, 15, slopes, biases);
        let choice = MulticlassKind::Auto.choose(&train.held_out, CalibratorKind::Platt);
        let choice = choice.unwrap();
        assert_eq!(choice.cross_validated.len(), train.held_out.scores().len());
        let total: f64 = choice.tried.iter().map(|way| way.weight).sum();
        assert!((total - 1.0).abs() < 1e-9);
        // 2,000 examples are not many against 15² weights.
        assert!(
            choice
                .tried
                .iter()
                .all(|way| way.kind != MulticlassKind::Dirichlet)
        );
        let pooled = excess(&choice.calibrator, &test);
        for kind in [MulticlassKind::SharedCurve, MulticlassKind::OneVsRest] {
            let alone = excess(&fit_once(kind, &train.held_out), &test);
            assert!(pooled < alone + 1e-3, "{}: {pooled} {alone}", kind.name());
        }
    }
}

/// The weights of two forecasters against a search over a fine grid.
#[test]
fn the_weights_of_a_pool_are_those_of_least_loss() {
    let held_out = world(31, 600, 4, 0.3, 0.8).held_out;
    let (arranged, _) = held_out.arranged();
    let forecasts: Vec<Vec<Probability>> = [MulticlassKind::Temperature, MulticlassKind::OneVsRest]
        .into_iter()
        .map(|kind| {
            let calibrator = fit_once(kind, &held_out);
            (0..arranged.len())
                .flat_map(|row| predict(&calibrator, arranged.row(row)))
                .collect()
        })
        .collect();
    let loss = |share: f64| -> f64 {
        let rows = 0..arranged.len();
        rows.map(|row| {
            let said: Vec<f64> = (0..4)
                .map(|class| {
                    let ln = |member: usize| forecasts[member][row * 4 + class].ln();
                    (1.0 - share) * ln(0) + share * ln(1)
                })
                .collect();
            let own = arranged.labels()[row] as usize;
            let first = |class: usize| forecasts[0][row * 4 + class].log_odds();
            let second = (0..4).filter(|&class| class != own);
            let second = second.max_by(|&a, &b| first(a).total_cmp(&first(b)));
            // One example of 600 counts as one of the best wrong class.
            let slip = (said[own] - said[second.unwrap()]) / 602.0;
            log_sum_exp(&said) - said[own] + slip
        })
        .sum()
    };
    let best = (0..=1000)
        .map(|step| f64::from(step) / 1000.0)
        .min_by(|a, b| loss(*a).total_cmp(&loss(*b)))
        .unwrap();
    let rivals = pool::Rivals {
        held_out: &arranged,
        forecasts: forecasts.clone(),
    };
    let (found, _) = rivals.weights();
    let expected = if best < pool::LEAST_WEIGHT { 0.0 } else { best };
    assert!((found[1] - expected).abs() < 2e-3, "{found:?} {best}");
    assert!((found[0] + found[1] - 1.0).abs() < 1e-9);
}

#[test]
fn cross_validated_forecasts_come_from_curves_that_did_not_see_the_example() {
    let held_out = world(5, 300, 4, 0.2, 0.5).held_out;
    for kind in KINDS {
        let choice = kind.choose(&held_out, CalibratorKind::Platt).unwrap();
        let mut without_itself = 0;
        for (row, said) in choice.cross_validated.chunks_exact(4).enumerate() {
            let whole = predict(&choice.calibrator, held_out.row(row));
            without_itself += usize::from(whole[0] != said[0]);
            // Yet they are much the same.
            assert!((whole[0].value() - said[0].value()).abs() < 0.2);
        }
        assert!(without_itself > 290, "{}: {without_itself}", kind.name());
    }
}

#[test]
fn the_order_of_examples_and_the_number_of_threads_change_no_bit() {
    let held_out = world(11, 700, 5, 0.2, 0.5).held_out;
    let reversed = HeldOutClassScores::assume(
        (0..700)
            .rev()
            .flat_map(|i| held_out.row(i).to_vec())
            .collect(),
        5,
        held_out.labels().iter().rev().copied().collect(),
    )
    .unwrap();
    for kind in KINDS {
        let with = |threads, held_out: &HeldOutClassScores| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| fit(kind, held_out))
        };
        let one = with(1, &held_out);
        assert_eq!(one, with(3, &held_out), "{}", kind.name());
        assert_eq!(one, with(2, &reversed), "{}", kind.name());
    }
}

#[test]
fn a_weight_of_two_is_the_example_twice() {
    let held_out = world(13, 200, 4, 0.2, 0.5).held_out;
    let twice = |i: usize| i.is_multiple_of(3);
    let weights = (0..200).map(|i| if twice(i) { 2.0 } else { 1.0 }).collect();
    let (scores, labels) = (held_out.scores().to_vec(), held_out.labels().to_vec());
    let weighted =
        HeldOutClassScores::assume_weighted(scores.clone(), 4, labels.clone(), weights).unwrap();
    let again: Vec<usize> = (0..200).chain((0..200).filter(|&i| twice(i))).collect();
    let repeated = HeldOutClassScores::assume(
        again
            .iter()
            .flat_map(|&i| held_out.row(i).to_vec())
            .collect(),
        4,
        again.iter().map(|&i| labels[i]).collect(),
    )
    .unwrap();
    for kind in KINDS {
        let (one, other) = (fit_once(kind, &weighted), fit_once(kind, &repeated));
        for row in 0..20 {
            let said = predict(&one, held_out.row(row));
            for (a, b) in said.iter().zip(predict(&other, held_out.row(row))) {
                let difference = (a.log_odds() - b.log_odds()).abs();
                assert!(difference < 1e-5, "{}: {difference}", kind.name());
            }
        }
    }
}

#[test]
fn other_units_of_the_scores_say_the_same() {
    let held_out = world(17, 400, 4, 0.2, 0.5).held_out;
    for unit in [1e-100, 1e-3, 1e5, 1e200] {
        let scores = held_out.scores().iter().map(|score| unit * score).collect();
        let other = HeldOutClassScores::assume(scores, 4, held_out.labels().to_vec()).unwrap();
        for kind in KINDS {
            let (plain, scaled) = (fit_once(kind, &held_out), fit_once(kind, &other));
            for row in 0..10 {
                let said = predict(&plain, held_out.row(row));
                for (a, b) in said.iter().zip(predict(&scaled, other.row(row))) {
                    let difference = (a.log_odds() - b.log_odds()).abs();
                    assert!(difference < 1e-5, "{} {unit}: {difference}", kind.name());
                }
            }
        }
    }
}

#[test]
fn every_way_survives_a_file_and_forgeries_are_refused() {
    let held_out = world(19, 200, 3, 0.2, 0.5).held_out;
    for kind in KINDS {
        let calibrator = fit(kind, &held_out);
        let json = serde_json::to_string(&calibrator).unwrap();
        let read: SavedMulticlassCalibrator = serde_json::from_str(&json).unwrap();
        assert_eq!(read, calibrator);
        assert_eq!(read.kind(), kind);
        // A list that is one entry short, anything that is not a number, and a strange field.
        let shorter = json.replacen("[", "[null,", 1);
        let stranger = json.replacen('{', "{\"stranger\":1,", 1);
        for forged in [shorter, stranger, json.replace("0.", "1e999")] {
            if forged != json {
                let read = serde_json::from_str::<SavedMulticlassCalibrator>(&forged);
                assert!(read.is_err(), "{forged}");
            }
        }
    }
    for forged in [
        r#"{"method":"one_vs_rest","classes":[]}"#,
        r#"{"method":"vector","inverse_temperature":1,"centre":0,"slopes":[1,1],"intercepts":[0]}"#,
        r#"{"method":"dirichlet","inverse_temperature":1,"matrix":[1,0,0],"intercepts":[0,0]}"#,
        r#"{"method":"coupling","class_count":18446744073709551615,"curves":[]}"#,
        r#"{"method":"coupling","class_count":3,"curves":[{"slope":1,"intercept":0}]}"#,
    ] {
        assert!(serde_json::from_str::<SavedMulticlassCalibrator>(forged).is_err());
    }
}

#[test]
fn odd_examples_never_give_what_is_no_probability() {
    let separated: Vec<f64> = (0..60)
        .flat_map(|i| (0..3).map(move |c| if i % 3 == c { 1.0 + i as f64 } else { -1.0 }))
        .collect();
    let thirds: Vec<u32> = (0..60).map(|i| i % 3).collect();
    let mixed: Vec<f64> = (0..180).map(|i| f64::from(i * 7919 % 101) / 10.0).collect();
    let huge = mixed
        .iter()
        .map(|x| if *x > 9.0 { 1e308 } else { -1e308 })
        .collect();
    let tiny = mixed.iter().map(|x| x * 1e-310).collect();
    let lonely = (0..180)
        .map(|i| if i == 100 { 1e308 } else { 0.1 * f64::from(i) })
        .collect();
    let cases = [
        ("separated", separated.clone(), thirds.clone()),
        (
            "upside down",
            separated.iter().map(|x| -x).collect(),
            thirds.clone(),
        ),
        ("constant", vec![2.0; 180], thirds.clone()),
        (
            "two values",
            mixed
                .iter()
                .map(|x| f64::from(u8::from(*x > 5.0)))
                .collect(),
            thirds.clone(),
        ),
        ("huge", huge, thirds.clone()),
        ("tiny", tiny, thirds.clone()),
        ("one huge", lonely, thirds.clone()),
        (
            "a class without examples",
            mixed.clone(),
            (0..60).map(|i| i % 2).collect(),
        ),
        ("only one class", mixed.clone(), vec![1; 60]),
        (
            "one example of a class",
            mixed,
            (0..60).map(|i| u32::from(i == 30)).collect(),
        ),
        (
            "two examples",
            vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            vec![0, 2],
        ),
    ];
    for (what, scores, labels) in cases {
        let held_out = HeldOutClassScores::assume(scores, 3, labels).unwrap();
        for kind in KINDS.into_iter().chain([MulticlassKind::Auto]) {
            let choice = match kind.choose(&held_out, CalibratorKind::Auto) {
                Ok(choice) => choice,
                // Only where there is next to nothing to learn from.
                Err(_) if what == "two examples" => continue,
                Err(error) => panic!("{what}, {}: {error}", kind.name()),
            };
            let json = serde_json::to_string(&choice.calibrator).unwrap();
            assert!(
                serde_json::from_str::<SavedMulticlassCalibrator>(&json).is_ok(),
                "{json}"
            );
            for scores in [
                held_out.row(0),
                &[0.0; 3],
                &[f64::MAX, f64::MIN, 0.0],
                &[f64::INFINITY, f64::NAN, f64::NEG_INFINITY],
                &[1e-320, -1e-320, 0.0],
            ] {
                let said = predict(&choice.calibrator, scores);
                let sum: f64 = said.iter().map(|p| p.value()).sum();
                let fine = said.iter().all(|p| p.value() > 0.0 && p.value() < 1.0);
                assert!(
                    fine && (sum - 1.0).abs() < 1e-9,
                    "{what} {}: {said:?}",
                    kind.name()
                );
            }
        }
    }
}

#[test]
fn two_classes_are_calibrated_as_well() {
    let train = world(23, 3_000, 2, 0.0, 0.8);
    let test = world(24, 3_000, 2, 0.0, 0.8);
    for kind in [
        MulticlassKind::Vector,
        MulticlassKind::Coupling,
        MulticlassKind::Dirichlet,
    ] {
        let excess = excess(&fit(kind, &train.held_out), &test);
        assert!(excess < 0.01, "{}: {excess}", kind.name());
    }
}

/// Scores as naive Bayes gives them, some a hundred times as far apart as others.
#[test]
fn scores_of_very_unequal_size_are_fitted_too() {
    let mut random = Random::from_seed(29);
    let plain = world(29, 1_500, 6, 0.2, 0.5).held_out;
    let scores = plain.scores().chunks_exact(6).flat_map(|row| {
        let unit = (1.2 * random.normal() + 3.0).exp();
        row.iter().map(move |score| unit * score)
    });
    let labels = plain.labels().to_vec();
    let heavy = HeldOutClassScores::assume(scores.collect(), 6, labels).unwrap();
    let loss = |kind: MulticlassKind| {
        let choice = kind.choose(&heavy, CalibratorKind::Platt).unwrap();
        choice.tried[0].log_loss
    };
    let temperature = loss(MulticlassKind::Temperature);
    assert!(loss(MulticlassKind::Vector) < temperature);
    assert!(loss(MulticlassKind::Dirichlet) < temperature);
}

/// Scores as naive Bayes gives them: the truth's log-probabilities times how long the document is, which no curve of
/// single scores can undo.
fn overstated(seed: u64, rows: usize) -> (Vec<f64>, Vec<u32>) {
    const CLASSES: usize = 5;
    let mut random = Random::from_seed(seed);
    let (mut scores, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let length = (1.2 * random.normal()).exp();
        let truth: Vec<f64> = (0..CLASSES).map(|_| 2.0 * random.normal()).collect();
        let total = log_sum_exp(&truth);
        let mut left = random.uniform();
        let drawn = truth.iter().position(|weight| {
            left -= (weight - total).exp();
            left < 0.0
        });
        labels.push(drawn.unwrap_or(0) as u32);
        let said: Vec<f64> = truth.iter().map(|weight| 5.0 * length * weight).collect();
        let all = log_sum_exp(&said);
        scores.extend(said.iter().map(|weight| weight - all));
    }
    (scores, labels)
}

#[test]
fn a_second_pass_sets_right_what_was_overstated() {
    let (scores, labels) = overstated(1, 3000);
    let held_out = HeldOutClassScores::assume(scores, 5, labels).unwrap();
    let choice = MulticlassKind::Auto
        .choose(&held_out, CalibratorKind::Auto)
        .unwrap();
    let SavedMulticlassCalibrator::TwoPasses(passes) = choice.calibrator.unbounded() else {
        panic!("no second pass: {:?}", choice.tried);
    };
    let (test, truths) = overstated(2, 6000);
    let loss = |calibrator: &SavedMulticlassCalibrator| {
        let rows = test.chunks_exact(5).zip(&truths);
        let losses =
            rows.map(|(row, &truth)| predict(calibrator, row)[truth as usize].log_loss(true));
        losses.sum::<f64>() / truths.len() as f64
    };
    let (first, both) = (loss(passes.first()), loss(&choice.calibrator));
    assert!(both < 0.995 * first, "{both} {first}");
    let promised = choice.tried.last().unwrap().log_loss;
    assert!((promised / both - 1.0).abs() < 0.05, "{promised} {both}");
    let json = serde_json::to_string(&choice.calibrator).unwrap();
    let back: SavedMulticlassCalibrator = serde_json::from_str(&json).unwrap();
    assert_eq!(back, choice.calibrator);
}

/// The second curve is fitted to forecasts of first passes that saw the fold it forecasts: what is printed must be next to true all the same.
#[test]
fn what_a_second_pass_promises_comes_true_on_few_examples() {
    let (mut promised, mut came, mut fired) = (0.0, 0.0, 0);
    for seed in 0..30 {
        let (scores, labels) = overstated(100 + seed, 300);
        let held_out = HeldOutClassScores::assume(scores, 5, labels).unwrap();
        let choice = MulticlassKind::Auto
            .choose(&held_out, CalibratorKind::Platt)
            .unwrap();
        let Some(second) = choice
            .tried
            .iter()
            .find(|way| way.kind == MulticlassKind::SecondPass)
        else {
            continue;
        };
        let (test, truths) = overstated(9000 + seed, 3000);
        let rows = test.chunks_exact(5).zip(&truths);
        let losses = rows
            .map(|(row, &truth)| predict(&choice.calibrator, row)[truth as usize].log_loss(true));
        came += losses.sum::<f64>() / truths.len() as f64;
        promised += second.log_loss;
        fired += 1;
    }
    assert!(fired >= 10, "{fired}");
    assert!(
        promised > 0.97 * came,
        "{} {}",
        promised / f64::from(fired),
        came / f64::from(fired)
    );
}
