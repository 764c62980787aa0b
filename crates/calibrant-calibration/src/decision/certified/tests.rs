use super::*;
use crate::numeric::{Random, sigmoid};
use proptest::prelude::*;

/// A calibrated model: log-odds of being right, and whether it is.
fn draw(random: &mut Random, count: usize, mean: f64, spread: f64) -> (Vec<f64>, Vec<bool>) {
    let drawn = (0..count).map(|_| {
        let p = sigmoid((mean + spread * random.normal()).abs());
        (p, random.uniform() < p)
    });
    drawn.unzip()
}

/// The largest share that can be answered, and the true share of errors from a probability on.
fn truth(mean: f64, spread: f64) -> Vec<f64> {
    let (mut said, _) = draw(&mut Random::from_seed(1), 200_000, mean, spread);
    said.sort_by(|a, b| b.total_cmp(a));
    said
}

struct Found {
    /// How often too many answers were wrong in truth.
    failures: u64,
    /// What was answered, as a share of what could have been.
    of_oracle: f64,
}

fn simulate(mean: f64, spread: f64, examples: usize, asked: Certify, runs: u64) -> Found {
    let truth = truth(mean, spread);
    let mut sums = vec![0.0];
    for p in &truth {
        sums.push(sums[sums.len() - 1] + 1.0 - p);
    }
    let error = |count: usize| sums[count] / count.max(1) as f64;
    let oracle = (1..=truth.len())
        .rev()
        .find(|&count| error(count) <= asked.max_error);
    let oracle = oracle.unwrap_or(0) as f64 / truth.len() as f64;
    let mut random = Random::from_seed(2);
    let (mut failures, mut answered) = (0, 0.0);
    let plan = asked.plan(examples as u64).unwrap();
    for _ in 0..runs {
        let (said, right) = draw(&mut random, examples, mean, spread);
        if let Certified::Granted(found) = plan.threshold(&said, &right).unwrap() {
            let count = truth.partition_point(|&p| found.answers(p));
            failures += u64::from(error(count) > asked.max_error);
            answered += count as f64 / truth.len() as f64;
        }
    }
    Found {
        failures,
        of_oracle: answered / runs as f64 / oracle,
    }
}

/// Failures that a share of 5 % would exceed in 1 % of cases only.
fn most_failures(runs: u64) -> u64 {
    (0..runs)
        .find(|&count| 1.0 - binomial_at_most(count, runs, 0.05) < 0.01)
        .unwrap()
}

#[track_caller]
fn check(mean: f64, spread: f64, examples: usize, max_error: f64, least: f64, runs: u64) {
    let asked = Certify {
        max_error,
        certainty: 0.95,
    };
    let found = simulate(mean, spread, examples, asked, runs);
    assert!(
        found.failures <= most_failures(runs),
        "{} of {runs}",
        found.failures
    );
    assert!(found.of_oracle >= least, "{}", found.of_oracle);
}

#[test]
fn statements_hold_and_much_is_answered() {
    for (mean, spread, examples, max_error, least) in [
        (4.0, 2.5, 2_000, 0.02, 0.8),
        (2.5, 2.5, 2_000, 0.02, 0.6),
        (3.0, 2.0, 2_000, 0.02, 0.6),
        (2.0, 3.0, 2_000, 0.02, 0.6),
        (2.5, 2.5, 500, 0.05, 0.6),
        (3.0, 2.0, 10_000, 0.01, 0.6),
    ] {
        check(mean, spread, examples, max_error, least, 1_000);
    }
}

#[test] // Where all documents are alike and just too often wrong, answers are given in at most 5 % of cases.
fn the_worst_case_is_within_the_level() {
    let mut random = Random::from_seed(9);
    let asked = Certify {
        max_error: 0.05,
        certainty: 0.95,
    };
    let runs = 600;
    let plan = asked.plan(600).unwrap();
    let granted = (0..runs).filter(|_| {
        let said: Vec<f64> = (0..600).map(|_| random.uniform()).collect();
        let right: Vec<bool> = said.iter().map(|_| random.uniform() >= 0.0501).collect();
        matches!(
            plan.threshold(&said, &right).unwrap(),
            Certified::Granted(_)
        )
    });
    let granted = granted.count() as u64;
    assert!(granted <= most_failures(runs), "{granted}");
}

#[test] // A table that was kept says what all examples would have said, or a little less.
fn kept_tables_grant_nearly_as_much() {
    let mut random = Random::from_seed(17);
    let (said, right) = draw(&mut random, 5_000, 3.0, 2.5);
    let table = AnswerTable::new(&said, &right).unwrap();
    let text = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<AnswerTable>(&text).unwrap(), table);
    assert!(table.parts().0.len() < 600);
    for max_error in [0.01, 0.02, 0.05] {
        let asked = Certify {
            max_error,
            certainty: 0.95,
        };
        let (all, kept) = (
            asked.threshold(&said, &right).unwrap(),
            asked.threshold_from(&table).unwrap(),
        );
        let (Certified::Granted(all), Certified::Granted(kept)) = (all, kept) else {
            panic!("refused")
        };
        assert!(
            kept.answered as f64 > 0.95 * all.answered as f64,
            "{kept:?} {all:?}"
        );
        let above = said.iter().filter(|p| kept.answers(**p)).count();
        assert_eq!(above as u64, kept.answered);
    }
    let broken = text.replacen("\"counts\":[", "\"counts\":[99999,", 1);
    assert!(serde_json::from_str::<AnswerTable>(&broken).is_err());
}

#[test]
fn losses_between_are_held_below_their_bound() {
    let mut random = Random::from_seed(12);
    let asked = Certify {
        max_error: 0.1,
        certainty: 0.9,
    };
    let confidences: Vec<f64> = (0..3_000).map(|_| random.uniform()).collect();
    let losses: Vec<f64> = confidences
        .iter()
        .map(|c| (1.0 - c) * random.uniform())
        .collect();
    let Certified::Granted(found) = asked.loss_threshold(&confidences, &losses).unwrap() else {
        panic!("refused");
    };
    // The mean loss above t is (1 - t) / 4: up to 0.4 may be in truth answered below 0.6.
    assert!(found.threshold > 0.6 && found.threshold < 0.75, "{found:?}");
    assert_eq!(found.upper_bound, 0.1);
    assert!(asked.loss_threshold(&[1.0], &[1.5]).is_err());
}

#[test]
fn ties_are_answered_together_or_not_at_all() {
    let confidences: Vec<f64> = (0..1_000).map(|i| f64::from(i / 500)).collect();
    let right: Vec<bool> = (0..1_000).map(|i| i >= 500 || i % 2 == 0).collect();
    let asked = Certify {
        max_error: 0.05,
        certainty: 0.95,
    };
    let Certified::Granted(found) = asked.threshold(&confidences, &right).unwrap() else {
        panic!("refused");
    };
    assert_eq!(
        (found.threshold, found.answered, found.errors),
        (0.0, 500, 0)
    );
    let again: CertifiedThreshold =
        serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
    assert_eq!(again, found);
}

#[test]
fn all_are_answered_where_all_are_right() {
    let asked = Certify {
        max_error: 0.05,
        certainty: 0.95,
    };
    let Certified::Granted(found) = asked.threshold(&[0.5; 300], &[true; 300]).unwrap() else {
        panic!("refused");
    };
    assert_eq!(
        (found.threshold, found.answered_share),
        (f64::NEG_INFINITY, 1.0)
    );
    let text = serde_json::to_string(&found).unwrap();
    let again: CertifiedThreshold = serde_json::from_str(&text).unwrap();
    assert_eq!(again, found);
    assert!(again.answers(f64::NEG_INFINITY));
}

#[test]
fn what_is_hopeless_needs_no_number_of_examples() {
    let asked = Certify {
        max_error: 0.02,
        certainty: 0.95,
    };
    let confidences: Vec<f64> = (0..1_000).map(f64::from).collect();
    let right: Vec<bool> = (0..1_000).map(|i| i % 3 > 0).collect();
    let found = asked.threshold(&confidences, &right).unwrap();
    assert_eq!(
        found,
        Certified::Refused {
            examples_needed: None
        }
    );
    let found = asked.threshold(&[], &[]).unwrap();
    assert_eq!(
        found,
        Certified::Refused {
            examples_needed: None
        }
    );
    assert!(asked.threshold(&[1.0], &[]).is_err());
    assert!(asked.threshold(&[f64::NAN], &[true]).is_err());
    assert!(
        Certify {
            max_error: 0.0,
            certainty: 0.95
        }
        .threshold(&[1.0], &[true])
        .is_err()
    );
}

proptest! {
    #[test] // By enumeration: for losses of 0 and 1 the bound is below r in at most that share of cases.
    fn p_values_are_not_too_small(count in 1u64..60, risk in 0.02..0.9f64, level in 0.001..0.5f64) {
        let mass = |k: u64| binomial_at_most(k, count, risk) - if k > 0 { binomial_at_most(k - 1, count, risk) } else { 0.0 };
        let small = (0..=count).filter(|&k| bounded_risk_p_value(k as f64 / count as f64, count, risk) <= level);
        prop_assert!(small.map(mass).sum::<f64>() <= level + 1e-9);
    }

    #[test]
    fn what_is_granted_passes_its_own_test(seed in any::<u64>(), max_error in 0.02..0.3f64) {
        let mut random = Random::from_seed(seed);
        let (said, right) = draw(&mut random, 400, 2.0, 2.0);
        if let Certified::Granted(found) = (Certify { max_error, certainty: 0.9 }).threshold(&said, &right).unwrap() {
            let pairs = said.iter().zip(&right).filter(|(p, _)| found.answers(**p));
            prop_assert_eq!(pairs.clone().count() as u64, found.answered);
            prop_assert_eq!(pairs.filter(|(_, right)| !**right).count() as u64, found.errors);
            prop_assert!(found.upper_bound <= max_error);
            prop_assert!(binomial_at_most(found.errors, found.answered, max_error) <= 0.1);
        }
    }
}

#[test] // The same where confidences tie in lumps of any size: what is tested has the level of what is tested.
fn ties_do_not_break_the_level() {
    let mut random = Random::from_seed(10);
    let asked = Certify {
        max_error: 0.05,
        certainty: 0.95,
    };
    let (runs, plan) = (300, asked.plan(600).unwrap());
    let granted = (0..runs).filter(|run| {
        let lumps = [3, 7, 20][run % 3];
        let said: Vec<f64> = (0..600).map(|_| random.below(lumps) as f64).collect();
        let right: Vec<bool> = said.iter().map(|_| random.uniform() >= 0.0501).collect();
        let found = asked.threshold(&said, &right).unwrap();
        if *run < 3 {
            assert_eq!(found, plan.threshold(&said, &right).unwrap());
        }
        matches!(found, Certified::Granted(_))
    });
    let granted = granted.count() as u64;
    assert!(granted <= most_failures(runs as u64), "{granted}");
}
