//! Decisions between two classes beside scikit-learn's cost-sensitive threshold.

use calibrant::decision::{CostEntry, DecisionCosts};
use calibrant::evaluation::{Forecasts, cost_report};
use calibrant::numeric::Random;
use calibrant::{Probability, Task};
use serde_json::json;

use super::data::check_near;
use super::python::ask;

#[test]
fn decisions_between_two_classes_are_those_of_a_threshold() {
    let mut random = Random::from_seed(31);
    let mut cases = Vec::new();
    for (false_positive, false_negative) in [(1.0, 1.0), (20.0, 1.0), (3.0, 7.0), (0.5, 90.0)] {
        let drawn = (0..400).map(|_| {
            let log_odds = 2.0 * random.normal();
            let p = Probability::from_log_odds(log_odds);
            (p, u32::from(random.uniform() < p.value()))
        });
        let (stated, labels): (Vec<Probability>, Vec<u32>) = drawn.unzip();
        cases.push((stated, labels, false_positive, false_negative));
    }
    let asked = cases.iter().map(|(stated, labels, wrong_yes, wrong_no)| {
        let stated: Vec<f64> = stated.iter().map(|p| p.value()).collect();
        json!({"stated": stated, "labels": labels, "false_positive": wrong_yes, "false_negative": wrong_no})
    });
    let Some(answer) = ask("cost_threshold.py", &asked.collect()) else {
        return;
    };
    for (number, (stated, labels, wrong_yes, wrong_no)) in cases.into_iter().enumerate() {
        let entries = [
            CostEntry::new("no", "yes", wrong_yes),
            CostEntry::new("yes", "no", wrong_no),
        ];
        let costs = DecisionCosts::new(&entries, Task::SingleLabel, ["no", "yes"]).unwrap();
        let matrix = costs.of_document(0, &[]);
        let decide = |p: &Probability| {
            let usual = usize::from(p.log_odds() > 0.0);
            matrix
                .cheapest(&[p.complement().value(), p.value()], usual)
                .0
        };
        let ours: Vec<usize> = stated.iter().map(decide).collect();
        assert_eq!(json!(ours), answer[number]["decisions"], "case {number}");
        let forecasts = Forecasts {
            task: Task::SingleLabel,
            class_names: vec!["no".into(), "yes".into()],
            probabilities: stated.iter().flat_map(|p| [p.complement(), *p]).collect(),
            labels: labels.iter().map(|&label| vec![label]).collect(),
            weights: None,
        };
        let report = cost_report(&forecasts, &costs, &[]).unwrap();
        let best = report.best_threshold.unwrap().mean_cost;
        for (ours, key) in [(report.mean_cost, "cost"), (best, "best_cost")] {
            let theirs = answer[number][key].as_f64().unwrap();
            check_near(&format!("case {number}, {key}"), ours, theirs, 1e-12, 1.0);
        }
    }
}
