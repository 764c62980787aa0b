//! Net benefit beside that of dcurves.

use calibrant::Probability;
use calibrant::evaluation::decision_curve;
use calibrant::numeric::Random;
use serde_json::json;

use super::python::ask;

#[test]
fn net_benefit_is_that_of_dcurves() {
    let mut random = Random::from_seed(11);
    let points: Vec<(Probability, bool, f64)> = (0..700)
        .map(|_| {
            let p = Probability::from_log_odds(1.5 * random.normal() - 1.0);
            (p, random.uniform() < p.value(), 1.0)
        })
        .collect();
    let thresholds: Vec<f64> = (0..100).map(|step| f64::from(step) / 100.0).collect();
    let question = json!({
        "stated": points.iter().map(|point| point.0.value()).collect::<Vec<_>>(),
        "truth": points.iter().map(|point| point.1).collect::<Vec<_>>(),
        "thresholds": thresholds,
    });
    let Some(theirs) = ask("decision_curves.py", &question) else {
        return;
    };
    let ours = decision_curve(&points, &thresholds);
    assert_eq!(ours.len(), 100);
    for (place, ours) in ours.iter().enumerate() {
        for (ours, key) in [(ours.benefit, "benefit"), (ours.accept_all, "all")] {
            let theirs = theirs[key][place].as_f64().unwrap();
            assert!(
                (ours - theirs).abs() < 1e-12,
                "{key} at {place}: {ours} {theirs}"
            );
        }
    }
}
