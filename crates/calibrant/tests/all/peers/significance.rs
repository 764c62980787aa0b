//! Tests of significance beside scipy's.

use calibrant::evaluation::{
    CompareSettings, Forecasts, McNemarTest, SignTest, compare, wilcoxon_signed_rank,
};
use calibrant::numeric::{Random, ln_gamma, ln_normal_cdf};
use calibrant::{Probability, Task};
use serde_json::json;

use super::data::{check_near, numbers};
use super::python::ask;

/// Differences of pairs: `coarse` ones have ties and zeros.
fn differences(random: &mut Random, count: usize, shift: f64, coarse: bool) -> Vec<f64> {
    (0..count)
        .map(|_| {
            let difference = shift + random.normal();
            if coarse {
                (3.0 * difference).round() / 3.0
            } else {
                difference
            }
        })
        .collect()
}

#[test]
fn p_values_are_those_of_scipy() {
    let mut random = Random::from_seed(12);
    let mut cases = Vec::new();
    for count in [1, 2, 7, 13, 30, 50, 51, 200, 5_000] {
        for shift in [0.0, 0.4, -1.5] {
            cases.push(differences(&mut random, count, shift, false));
            // Between fourteen and fifty tied differences scipy has nothing exact to offer.
            if !(14..=150).contains(&count) {
                cases.push(differences(&mut random, count, shift, true));
            }
        }
    }
    cases.retain(|case| case.iter().any(|&difference| difference != 0.0));
    let counts: Vec<(u64, u64)> = vec![
        (1, 0),
        (3, 3),
        (9, 1),
        (40, 61),
        (500, 600),
        (16_000, 16_990),
        (500_000, 501_000),
        (4_000_000, 4_010_000),
    ];
    let z: Vec<f64> = (-80..=80).map(|step| f64::from(step) / 4.0).collect();
    let x: Vec<f64> = (-20..=60).map(|step| 1.7f64.powi(step)).collect();
    let forecasts = multi_label(&mut random);
    let truth: Vec<Vec<u8>> = forecasts
        .labels
        .iter()
        .map(|labels| {
            (0..3)
                .map(|class| u8::from(labels.contains(&class)))
                .collect()
        })
        .collect();
    let stated: Vec<Vec<f64>> = forecasts
        .probabilities
        .chunks(3)
        .map(|row| row.iter().map(|p| p.log_odds()).collect())
        .collect();
    let asked = json!({
        "differences": cases, "counts": counts, "z": z, "x": x,
        "auc": [{"truth": truth, "stated": stated, "weights": forecasts.weights}],
    });
    let Some(answer) = ask("significance.py", &asked) else {
        return;
    };
    for (number, case) in cases.iter().enumerate() {
        let (ours, theirs) = (wilcoxon_signed_rank(case), &answer["wilcoxon"][number]);
        let what = format!("Wilcoxon of {} differences", case.len());
        assert_eq!(
            ours.positive_ranks,
            theirs["plus"].as_f64().unwrap(),
            "{what}"
        );
        let p = theirs["p"].as_f64().unwrap();
        if p < 1e-300 {
            // Where scipy has run out of numbers, ours may have a few digits left.
            assert!(ours.p_value < 1e-300, "{what}");
        } else {
            check_near(&what, ours.p_value / p, 1.0, 1e-10, 1.0);
        }
    }
    let mut corrected = numbers(&answer["mcnemar"]).into_iter();
    for (&(wins, losses), theirs) in counts.iter().zip(numbers(&answer["sign"])) {
        let what = format!("{wins} against {losses}");
        let ours = SignTest::of_counts(wins, losses, 5).p_value;
        check_near(&what, ours / theirs, 1.0, 1e-8, 1.0);
        let ours = McNemarTest::of_counts(wins, losses);
        assert_eq!(ours.p_value, SignTest::of_counts(wins, losses, 0).p_value);
        if wins != losses {
            let theirs = corrected.next().unwrap();
            check_near(&what, ours.chi_squared_p_value / theirs, 1.0, 1e-11, 1.0);
        }
    }
    for (&z, theirs) in z.iter().zip(numbers(&answer["ln_normal"])) {
        check_near(
            &format!("ln Φ({z})"),
            ln_normal_cdf(z),
            theirs,
            1e-13,
            theirs.abs(),
        );
    }
    for (&x, theirs) in x.iter().zip(numbers(&answer["ln_gamma"])) {
        let scale = theirs.abs().max(1.0);
        check_near(&format!("ln Γ({x})"), ln_gamma(x), theirs, 1e-14, scale);
    }
    let comparison = compare(
        &[("a", &forecasts), ("b", &forecasts)],
        &CompareSettings::default(),
    )
    .unwrap();
    let theirs = numbers(&answer["auc"])[0];
    check_near(
        "AUC",
        comparison.systems[0].auc.unwrap(),
        theirs,
        1e-12,
        1.0,
    );
}

fn multi_label(random: &mut Random) -> Forecasts {
    let labels: Vec<Vec<u32>> = (0..300)
        .map(|_| (0..3).filter(|_| random.below(3) == 0).collect())
        .collect();
    let probabilities = labels
        .iter()
        .flat_map(|labels| {
            let said: Vec<Probability> = (0..3)
                .map(|class| {
                    let lean = if labels.contains(&class) { 1.0 } else { -1.0 };
                    // Coarse, so that there are ties.
                    Probability::from_log_odds((2.0 * (lean + random.normal())).round())
                })
                .collect();
            said
        })
        .collect();
    Forecasts {
        task: Task::MultiLabel,
        class_names: ["x", "y", "z"].map(str::to_owned).to_vec(),
        probabilities,
        weights: Some(labels.iter().map(|_| 0.5 + random.uniform()).collect()),
        labels: labels.into(),
    }
}
