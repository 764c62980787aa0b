//! Measures of yes-or-no forecasts beside scikit-learn's, model-diagnostics', MAPIE's and relplot's.

use calibrant::Probability;
use calibrant::evaluation::{Decomposition, SortedForecasts};
use calibrant::numeric::Random;
use serde_json::{Value, json};

use super::data::check_near;
use super::python::ask;

type Points = Vec<(Probability, bool, f64)>;

/// Forecasts around `centre`, `slope` times too sure; `step` rounds log-odds, so that there are ties.
fn forecasts(
    seed: u64,
    count: usize,
    (centre, spread): (f64, f64),
    slope: f64,
    step: f64,
    weighted: bool,
) -> Points {
    let mut random = Random::from_seed(seed);
    (0..count)
        .map(|_| {
            let drawn = centre + spread * random.normal();
            let log_odds = if step > 0.0 {
                (drawn / step).round() * step
            } else {
                drawn
            };
            let truth = Probability::from_log_odds(log_odds / slope).value();
            let weight = if weighted {
                0.2 + 2.0 * random.uniform()
            } else {
                1.0
            };
            let happened = random.uniform() < truth;
            (Probability::from_log_odds(log_odds), happened, weight)
        })
        .collect()
}

fn question_of(points: &Points) -> Value {
    json!({
        "stated": points.iter().map(|point| point.0.value()).collect::<Vec<_>>(),
        "log_odds": points.iter().map(|point| point.0.log_odds()).collect::<Vec<_>>(),
        "happened": points.iter().map(|point| u8::from(point.1)).collect::<Vec<_>>(),
        "weights": points.iter().map(|point| point.2).collect::<Vec<_>>(),
    })
}

#[track_caller]
fn near(what: &str, ours: f64, theirs: &Value, tolerance: f64) {
    let theirs = theirs.as_f64().unwrap();
    check_near(what, ours, theirs, tolerance, theirs.abs().max(1e-3));
}

#[track_caller]
fn check_parts(what: &str, ours: &Decomposition, theirs: &Value) {
    near(&format!("{what} loss"), ours.loss, &theirs["score"], 1e-9);
    for (name, ours) in [
        ("miscalibration", ours.miscalibration),
        ("discrimination", ours.discrimination),
        ("uncertainty", ours.uncertainty),
    ] {
        near(&format!("{what} {name}"), ours, &theirs[name], 1e-8);
    }
}

#[track_caller]
fn check(cases: &[(&str, Points)]) {
    let asked: Vec<Value> = cases
        .iter()
        .map(|(_, points)| question_of(points))
        .collect();
    let Some(answers) = ask("calibration_measures.py", &json!({"cases": asked})) else {
        return;
    };
    for (number, (what, points)) in cases.iter().enumerate() {
        let theirs = &answers[number];
        let ours = SortedForecasts::new(points).calibration();
        let near = |name: &str, ours: f64, theirs: &Value, tolerance: f64| {
            near(&format!("{name}, {what}"), ours, theirs, tolerance);
        };
        near("log loss", ours.losses.log_loss, &theirs["log_loss"], 1e-9);
        near("Brier", ours.losses.brier, &theirs["brier"], 1e-9);
        near("AUC", ours.auc.unwrap(), &theirs["auc"], 1e-9);
        near(
            "AP",
            ours.average_precision.unwrap(),
            &theirs["average_precision"],
            1e-9,
        );
        check_parts(
            &format!("Brier, {what}"),
            &ours.brier_parts,
            &theirs["brier_parts"],
        );
        check_parts(
            &format!("log loss, {what}"),
            &ours.log_loss_parts,
            &theirs["log_loss_parts"],
        );
        near(
            "ECE of 10",
            ours.ece_equal_width_10.value,
            &theirs["ece_10"],
            1e-9,
        );
        near(
            "ECE of 15",
            ours.ece_equal_width.value,
            &theirs["ece_15"],
            1e-9,
        );
        let (slope, intercept) = (ours.line.slope.unwrap(), ours.line.intercept.unwrap());
        let large = ours.line.intercept_in_the_large.unwrap();
        // Their solver stops when a gradient is small; the intercept is then good to six digits.
        near("slope", slope.value, &theirs["slope"], 1e-5);
        check_near(
            "intercept",
            intercept.value,
            theirs["intercept"].as_f64().unwrap(),
            1e-5,
            1.0,
        );
        check_near(
            "in the large",
            large.value,
            theirs["in_the_large"].as_f64().unwrap(),
            1e-9,
            1.0,
        );
        let error = |interval: calibrant::evaluation::Interval| {
            (interval.upper - interval.lower) / 2.0 / 1.959_963_984_540_054
        };
        near(
            "error of the slope",
            error(slope),
            &theirs["slope_error"],
            1e-4,
        );
        near(
            "error of the intercept",
            error(intercept),
            &theirs["intercept_error"],
            1e-4,
        );
        if theirs["smooth"].is_null() {
            continue;
        }
        // MAPIE adds a noise of 1e-8 of each forecast, and leaves out the start at zero.
        if theirs["straddles"].as_bool().unwrap() {
            let kuiper = ours.kuiper.unwrap();
            near("Kuiper", kuiper.statistic, &theirs["kuiper"][0], 1e-6);
            near("Kuiper p", kuiper.p_value, &theirs["kuiper"][1], 1e-5);
        }
        let smirnov = ours.kolmogorov_smirnov.unwrap();
        near(
            "Kolmogorov-Smirnov",
            smirnov.statistic,
            &theirs["smirnov"][0],
            1e-6,
        );
        near(
            "Kolmogorov-Smirnov p",
            smirnov.p_value,
            &theirs["smirnov"][1],
            1e-5,
        );
        let spiegelhalter = ours.spiegelhalter.unwrap();
        near(
            "Spiegelhalter",
            spiegelhalter.statistic,
            &theirs["spiegelhalter"][0],
            1e-9,
        );
        near(
            "Spiegelhalter p",
            spiegelhalter.p_value,
            &theirs["spiegelhalter"][1],
            1e-7,
        );
        near("smooth", ours.smooth_error.value, &theirs["smooth"], 2e-2);
        near(
            "smooth, fine mesh",
            ours.smooth_error.value,
            &theirs["smooth_fine"],
            2e-3,
        );
    }
}

#[test]
fn plain_forecasts_measure_as_in_other_libraries() {
    check(&[
        ("calibrated", forecasts(1, 600, (0.0, 1.5), 1.0, 0.0, false)),
        ("too sure", forecasts(2, 2_000, (0.3, 2.0), 2.0, 0.0, false)),
        (
            "too timid",
            forecasts(3, 1_500, (-0.5, 0.8), 0.4, 0.0, false),
        ),
        ("rare", forecasts(4, 4_000, (-2.5, 1.0), 1.2, 0.0, false)),
    ]);
}

#[test]
fn weighted_and_tied_forecasts_measure_as_in_other_libraries() {
    check(&[
        ("weighted", forecasts(5, 900, (0.0, 1.5), 1.3, 0.0, true)),
        (
            "tied and weighted",
            forecasts(6, 900, (-0.4, 1.5), 1.3, 0.3, true),
        ),
    ]);
}
