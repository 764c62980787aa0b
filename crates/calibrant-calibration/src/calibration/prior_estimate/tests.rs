use super::*;
use crate::calibration::PriorShift;
use crate::numeric::{Random, log_odds_against_rest};
use proptest::prelude::*;

/// Documents of normal scores around their class's number, forecast by the posterior under the
/// shares `old` while the classes come as `new` says.
fn simulated(old: &[f64], new: &[f64], count: usize, seed: u64) -> (Vec<Probability>, Vec<usize>) {
    let mut random = Random::from_seed(seed);
    let (mut forecasts, mut truths) = (Vec::new(), Vec::new());
    let mut log_odds = vec![0.0; old.len()];
    for _ in 0..count {
        let mut draw = random.uniform();
        let truth = new.iter().position(|share| {
            draw -= share;
            draw < 0.0
        });
        let truth = truth.unwrap_or(new.len() - 1);
        let score = 2.0 * truth as f64 + random.normal();
        let ln_weights: Vec<f64> = old
            .iter()
            .enumerate()
            .map(|(class, share)| share.ln() - 0.5 * (score - 2.0 * class as f64).powi(2))
            .collect();
        log_odds_against_rest(&ln_weights, &mut log_odds);
        forecasts.extend(log_odds.iter().map(|&l| Probability::from_log_odds(l)));
        truths.push(truth);
    }
    (forecasts, truths)
}

#[test]
fn shares_that_changed_are_found_and_the_shift_forecasts_better() {
    let (old, new) = ([0.6, 0.3, 0.1], [0.2, 0.2, 0.6]);
    let (mut forecasts, truths) = simulated(&old, &new, 5000, 1);
    let estimate = estimate_priors(&old, &forecasts, None).unwrap();
    assert!(estimate.converged && estimate.is_shifted(1e-9));
    for (found, truth) in estimate.new.iter().zip(new) {
        assert!((found - truth).abs() < 0.03, "{:?}", estimate.new);
    }
    let loss = |forecasts: &[Probability]| -> f64 {
        let rows = forecasts.chunks(3).zip(&truths);
        rows.map(|(row, &truth)| row[truth].log_loss(true)).sum()
    };
    let before = loss(&forecasts);
    let shift = PriorShift::between(Task::SingleLabel, &old, &estimate.new).unwrap();
    let mut buffer = Vec::new();
    forecasts
        .chunks_mut(3)
        .for_each(|row| shift.apply(row, &mut buffer));
    assert!(loss(&forecasts) < before - 500.0);
}

#[test]
fn without_a_shift_the_test_rejects_as_often_as_its_level_says() {
    let old = [0.7, 0.3];
    let rejected = (0..400)
        .filter(|&seed| {
            let (forecasts, _) = simulated(&old, &old, 500, seed);
            let estimate = estimate_priors(&old, &forecasts, None).unwrap();
            assert!(estimate.converged);
            estimate.is_shifted(0.05)
        })
        .count();
    // By hand: 400 · 0.05 = 20 with a standard deviation of 4.4.
    assert!((5..=36).contains(&rejected), "{rejected}");
}

#[test]
fn three_classes_equal_a_search_over_all_shares() {
    let old = [0.5, 0.3, 0.2];
    let (forecasts, _) = simulated(&old, &[0.3, 0.3, 0.4], 200, 9);
    let estimate = estimate_priors(&old, &forecasts, None).unwrap();
    let log_likelihood = |priors: [f64; 3]| -> f64 {
        let rows = forecasts.chunks(3);
        rows.map(|row| {
            let terms = row.iter().zip(priors).zip(old);
            terms
                .map(|((p, new), old)| p.value() * new / old)
                .sum::<f64>()
                .ln()
        })
        .sum()
    };
    let mut best = f64::NEG_INFINITY;
    for a in 1..200 {
        for b in 1..200 - a {
            let priors = [a, b, 200 - a - b].map(|share| f64::from(share) / 200.0);
            best = best.max(log_likelihood(priors));
        }
    }
    let found = estimate.statistic / 2.0;
    assert!(
        found >= best - 1e-9 && found < best + 0.05,
        "{found} {best}"
    );
}

#[test]
fn each_class_on_its_own_equals_two_exclusive_ones() {
    let (forecasts, _) = simulated(&[0.5, 0.5], &[0.8, 0.2], 300, 3);
    let together = estimate_priors(&[0.4, 0.6], &forecasts, None).unwrap();
    let alone: Vec<Probability> = forecasts.chunks(2).map(|row| row[1]).collect();
    let each = estimate_priors_of_each(&[0.6], &alone, None).unwrap();
    assert_eq!(each.len(), 1);
    assert!((each[0].new[1] - together.new[1]).abs() < 1e-12);
    assert_eq!(each[0].degrees_of_freedom, 1);
}

#[test]
fn degenerate_forecasts_give_finite_shares() {
    let certain = |log_odds: f64| Probability::from_log_odds(log_odds);
    for row in [
        vec![certain(1e15), certain(-1e15)],
        vec![certain(0.0), certain(0.0)],
        vec![certain(-800.0), certain(800.0)],
        vec![certain(f64::NAN), certain(0.0)],
    ] {
        for count in [1, 50] {
            let estimate = estimate_priors(&[0.9, 0.1], &row.repeat(count), None).unwrap();
            assert!(estimate.statistic.is_finite(), "{row:?}");
            assert!(estimate.new.iter().all(|&share| share > 0.0 && share < 1.0));
            assert!((0.0..=1.0).contains(&estimate.p_value));
        }
    }
    assert!(estimate_priors(&[0.5, 0.5], &[], None).is_err());
    assert!(estimate_priors(&[0.5, 0.5], &[certain(0.0)], None).is_err());
    assert!(estimate_priors(&[0.5, 0.5], &[certain(0.0); 2], Some(&[0.0])).is_err());
    assert!(estimate_priors(&[0.5, 0.5], &[certain(0.0); 2], Some(&[1.0, 1.0])).is_err());
    assert!(estimate_priors(&[0.5, 0.6], &[certain(0.0); 2], None).is_err());
}

#[test]
fn threads_do_not_change_a_bit() {
    let (forecasts, _) = simulated(&[0.5, 0.5], &[0.3, 0.7], 20_000, 5);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let work = || estimate_priors(&[0.5, 0.5], &forecasts, None).unwrap();
        pool.build().unwrap().install(work)
    };
    assert_eq!(with(1), with(4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn equal_weights_are_no_weights(seed in any::<u64>(), weight in 1e-3f64..1e3) {
        let (forecasts, _) = simulated(&[0.3, 0.7], &[0.5, 0.5], 60, seed);
        let plain = estimate_priors(&[0.3, 0.7], &forecasts, None).unwrap();
        let weighted = estimate_priors(&[0.3, 0.7], &forecasts, Some(&[weight; 60])).unwrap();
        prop_assert!((plain.new[0] - weighted.new[0]).abs() < 1e-6);
        prop_assert!((plain.statistic - weighted.statistic).abs() < 1e-4);
    }
}

/// Forecasts of 3,000 documents by a line that was fitted to a few of the same kind.
fn by_a_fitted_line(examples: usize, share: f64, seed: u64) -> ([f64; 2], Vec<Probability>) {
    use crate::calibration::{CalibrationMethod, Calibrator, HeldOutScores, Platt};
    let mut random = Random::from_seed(seed);
    let mut draw = |count: usize, share: f64| {
        let one = |random: &mut Random| {
            let truth = random.uniform() < share;
            (2.0 * f64::from(u8::from(truth)) + random.normal(), truth)
        };
        (0..count).map(|_| one(&mut random)).unzip()
    };
    let (scores, labels): (Vec<f64>, Vec<bool>) = draw(examples, 0.3);
    let positives = labels.iter().filter(|&&label| label).count() as f64 / examples as f64;
    let line = Platt.fit(&HeldOutScores::assume(scores, labels).unwrap());
    let line = line.unwrap();
    let (new, _): (Vec<f64>, Vec<bool>) = draw(3_000, share);
    let said = new.iter().flat_map(|&score| {
        let p = line.probability(score);
        [p.complement(), p]
    });
    ([1.0 - positives, positives], said.collect())
}

#[test] // The plain test takes forecasts as known exactly.
fn what_few_examples_leave_unknown_is_no_shift_and_a_real_one_is_found() {
    let (mut plain, mut learned, mut found) = (0, 0, 0);
    for seed in 0..100 {
        let (old, same) = by_a_fitted_line(200, 0.3, seed);
        plain += usize::from(estimate_priors(&old, &same, None).unwrap().is_shifted(0.05));
        let judged = estimate_priors_learned(&old, &same, None, 200).unwrap();
        learned += usize::from(judged.is_shifted(0.05));
        let (old, other) = by_a_fitted_line(200, 0.6, 1_000 + seed);
        let judged = estimate_priors_learned(&old, &other, None, 200).unwrap();
        let near = (judged.new[1] - 0.6).abs() < 0.2;
        found += usize::from(judged.is_shifted(0.05) && near);
    }
    assert!(plain > 20, "{plain}");
    assert!(learned <= 8, "{learned} of 100 at 5 %");
    assert!(found > 90, "{found}");
}

#[test] // A likelihood that hardly knows anything runs away; pseudo-documents hold it.
fn shares_of_a_weak_model_stay_near_the_old_ones() {
    let mut random = Random::from_seed(4);
    let old = [0.5, 0.3, 0.2];
    let rows = (0..600).flat_map(|_| {
        let noise: [f64; 3] = std::array::from_fn(|_| 0.1 * random.normal());
        let ln: Vec<f64> = old
            .iter()
            .zip(noise)
            .map(|(p, n): (&f64, f64)| p.ln() + n)
            .collect();
        let mut log_odds = vec![0.0; 3];
        log_odds_against_rest(&ln, &mut log_odds);
        log_odds
            .into_iter()
            .map(Probability::from_log_odds)
            .collect::<Vec<_>>()
    });
    let forecasts: Vec<Probability> = rows.collect();
    let held = estimate_priors_learned(&old, &forecasts, None, 300).unwrap();
    assert!(held.converged && !held.is_shifted(0.05));
    for (new, old) in held.new.iter().zip(old) {
        assert!((new - old).abs() < 0.02, "{:?}", held.new);
    }
}
