//! The measures of calibration in one order, as the program and the page both show them.

use crate::Task;
use crate::evaluation::{
    BesidePerfect, Calibration, Decomposition, Evaluation, Further, Interval, TestResult,
};

/// What was found; how it is written is for who writes it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum CalibrationValue {
    /// An error, and that of a perfect forecaster.
    Error {
        /// The error itself.
        value: f64,
        /// What a perfect forecaster would show by chance, on average.
        of_perfect: f64,
    },
    /// The root of a squared error from which chance has been taken: of a perfect forecaster it is 0 on average.
    Debiased(f64),
    /// A number of the straight line from stated to observed log-odds, and what would be right; absent where nothing
    /// finite fits best.
    Line(Option<Interval>, &'static str),
    /// A loss taken apart.
    Parts(Decomposition),
    /// A test of whether the forecasts could be perfect.
    Test(TestResult),
}

/// One measure of calibration.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CalibrationMeasure {
    /// Its name where there is little room.
    pub short: String,
    /// Its name where there is more.
    pub name: String,
    /// What was found.
    pub value: CalibrationValue,
}

/// Every measure of calibration that was taken, in order: errors, line, losses in parts, tests. Of two classes that exclude
/// each other they are of the probability of the second, but for the ECE of the likelier class, class by class and by
/// predicted class; none where only the cheaper measures were taken.
///
/// ```
/// use calibrant::{Probability, Task, evaluation::{Forecasts, evaluate}};
/// let evaluation = evaluate(&Forecasts {
///     task: Task::MultiLabel,
///     class_names: vec!["wheat".into()],
///     probabilities: vec![Probability::from_log_odds(1.0)],
///     labels: vec![vec![0]].into(),
///     weights: None,
/// })?;
/// let measures = calibrant::report::calibration_measures(&evaluation);
/// assert_eq!(measures[0].short, "ECE");
/// # Ok::<(), calibrant::evaluation::EvaluationError>(())
/// ```
pub fn calibration_measures(evaluation: &Evaluation) -> Vec<CalibrationMeasure> {
    let Some(further) = &evaluation.further else {
        return Vec::new();
    };
    let second = further.calibration_of_second.as_ref();
    let found = second.unwrap_or(&further.calibration);
    let mut measures = errors(evaluation, further, found);
    let right = ["1 is ideal; below 1: overconfident", "0 is ideal"];
    let line = &found.line;
    for (short, name, interval, right) in [
        ("slope", "slope", line.slope, right[0]),
        ("intercept", "intercept", line.intercept, right[1]),
        (
            "in the large",
            "intercept at slope 1",
            line.intercept_in_the_large,
            "above 0: probabilities are too low",
        ),
    ] {
        measures.push(measure(
            short,
            name,
            CalibrationValue::Line(interval, right),
        ));
    }
    // With several classes these are losses of the first choice alone.
    let (of, of_what) = match (evaluation.task, second) {
        (Task::SingleLabel, None) => (
            " of the first choice",
            " of the first choice, right or wrong,",
        ),
        _ => ("", ""),
    };
    for (short, name, parts) in [
        ("log loss", "log loss", found.log_loss_parts),
        ("Brier", "Brier score", found.brier_parts),
    ] {
        measures.push(CalibrationMeasure {
            short: format!("{short}{of}, in parts"),
            name: format!("{name}{of_what} in parts"),
            value: CalibrationValue::Parts(parts),
        });
    }
    for (short, name, test) in [
        ("Spiegelhalter z", "Spiegelhalter’s z", found.spiegelhalter),
        (
            "Kolmogorov-Smirnov",
            "Kolmogorov-Smirnov",
            found.kolmogorov_smirnov,
        ),
        ("Kuiper", "Kuiper", found.kuiper),
    ] {
        measures.extend(test.map(|test| measure(short, name, CalibrationValue::Test(test))));
    }
    measures
}

fn measure(short: &str, name: &str, value: CalibrationValue) -> CalibrationMeasure {
    CalibrationMeasure {
        short: short.to_owned(),
        name: name.to_owned(),
        value,
    }
}

fn errors(
    evaluation: &Evaluation,
    further: &Further,
    found: &Calibration,
) -> Vec<CalibrationMeasure> {
    let error = |value, of_perfect| CalibrationValue::Error { value, of_perfect };
    let beside = |of: &BesidePerfect| error(of.value, of.of_perfect);
    let name = match further.calibration_of_second {
        Some(_) => "ECE of the likelier class, bins of equal weight",
        None => "ECE, bins of equal weight",
    };
    let whole = error(evaluation.ece, evaluation.ece_of_perfect);
    let mut measures = vec![measure("ECE", name, whole)];
    if further.calibration_of_second.is_some() {
        let second = evaluation.classes.get(1);
        let label = second.map_or("", |class| class.label.as_str());
        measures.push(CalibrationMeasure {
            short: format!("ECE of `{label}`"),
            name: format!("ECE of “{label}”, bins of equal weight"),
            value: beside(&found.ece_equal_mass),
        });
    }
    let smooth = &found.smooth_error;
    for (short, name, value) in [
        (
            "ECE, equal width",
            "ECE, bins of equal width",
            Some(beside(&found.ece_equal_width)),
        ),
        (
            "ECE, class-wise",
            "ECE, class by class",
            Some(beside(&further.classwise_ece)),
        ),
        (
            "ECE, top label",
            "ECE, by predicted class",
            further.top_label_ece.as_ref().map(beside),
        ),
        (
            "largest error",
            "largest error of a bin",
            Some(beside(&found.max_calibration_error)),
        ),
        (
            "smooth ECE",
            "smooth ECE",
            Some(error(smooth.value, smooth.of_perfect)),
        ),
        (
            "debiased error",
            "debiased error (root; below 0: none detectable)",
            Some(CalibrationValue::Debiased(found.debiased_error.signed_root)),
        ),
    ] {
        measures.extend(value.map(|value| measure(short, name, value)));
    }
    measures
}
