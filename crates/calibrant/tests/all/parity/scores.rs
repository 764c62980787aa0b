//! The scores of others: calibrated, and made probabilities.

use calibrant::calibration::{CalibratorKind, ChoiceRules, MulticlassKind};
use calibrant::corpus::{Fields, ReadOptions};
use calibrant::jobs::{
    CalibrateError, CalibrateReport, CalibrateSettings, ClassField, MeasuredOn, PriorPlan,
    apply_scores, fit_scores, forecast_scores, measure_scores, read_examples,
};
use calibrant::pipeline::{ScoreCalibrator, ScoreIs};
use calibrant::{Named, NoProgress};
use serde_json::Value;

use super::settings::{self, Settings, list, text};
use super::{Answer, Made, written};
use crate::common::parity::Step;

fn reading(settings: &Settings) -> ReadOptions {
    let field = |name| text(settings, name).map(str::to_owned);
    ReadOptions {
        fields: Fields {
            label: field("label"),
            weight: field("weight"),
            group: field("group"),
            ..Fields::default()
        },
        ..ReadOptions::default()
    }
}

/// `FIELD` or `CLASS=FIELD`.
fn class_field(given: &str) -> ClassField {
    let (class, field) = given.split_once('=').unwrap_or((given, given));
    ClassField {
        class: class.to_owned(),
        field: field.to_owned(),
    }
}

fn of_calibrate(settings: &Settings) -> Result<CalibrateSettings, Box<dyn std::error::Error>> {
    let mut asked = CalibrateSettings {
        scores: list(settings, "score")
            .iter()
            .map(|given| class_field(given))
            .collect(),
        positive: text(settings, "positive").map(str::to_owned),
        rules: ChoiceRules {
            monotone: settings.contains_key("monotone"),
        },
        ..CalibrateSettings::default()
    };
    if let Some(word) = text(settings, "score-is") {
        asked.score_is = ScoreIs::from_word(word)?;
    }
    if let Some(word) = text(settings, "method") {
        // A method for one score is also one for each class against the rest.
        match CalibratorKind::from_word(word) {
            Ok(method) => (asked.method, asked.multiclass) = (method, MulticlassKind::OneVsRest),
            Err(_) => asked.multiclass = MulticlassKind::from_word(word)?,
        }
    }
    Ok(asked)
}

pub(super) fn calibrate(made: &Made, step: &Step) -> Answer {
    let file = step.input("scores");
    let settings = of_calibrate(&step.settings)?;
    let options = reading(&step.settings);
    let fitted = fit_scores(&made.source(file), &options, &settings, &NoProgress)?;
    let calibrator = fitted.calibrator;
    let measured = match text(&step.settings, "test") {
        None => measure_scores(
            &calibrator,
            MeasuredOn::CrossValidation,
            file,
            fitted.examples,
            fitted.cross_validated,
        )?,
        Some(file) => {
            let fields = calibrator.fields().scores.clone();
            let source = made.source(file);
            let (examples, _) = read_examples(&calibrator, &source, fields, &options, &NoProgress)?;
            let said = forecast_scores(&calibrator, &examples.scores);
            measure_scores(&calibrator, MeasuredOn::Test, file, examples, said)?
        }
    };
    calibrator.save(&made.output(step))?;
    let report = CalibrateReport::of(&calibrator, Some(&measured));
    written(report)
}

pub(super) fn apply(made: &Made, step: &Step) -> Answer {
    let calibrator = ScoreCalibrator::open(&made.path(step.input("calibrator")))?;
    let choice = settings::of_predict(&step.settings)?.prior;
    let plan = PriorPlan::new(&choice, calibrator.trained_shares())?;
    let mut predictions = Vec::new();
    apply_scores(
        &calibrator,
        &made.source(step.input("scores")),
        &reading(&step.settings),
        &plan,
        &NoProgress,
        |prediction| -> Result<(), CalibrateError> {
            predictions.push(written(prediction).unwrap());
            Ok(())
        },
    )?;
    Ok(Value::Array(predictions))
}
