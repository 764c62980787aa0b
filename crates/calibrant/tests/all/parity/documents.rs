//! Models of documents: fitted, asked, combined and laid open.

use std::error::Error;
use std::num::NonZeroUsize;

use calibrant::NoProgress;
use calibrant::corpus::{Content, Fields, LabelNeed};
use calibrant::jobs::{
    CombineReport, FitReport, Inspection, PredictError, Prediction, PredictionColumns,
    PredictionWriter, Predictor, check_rules, combine_source, explain, fit_source, open_any,
    read_row, search_source, system_names,
};
use calibrant::pipeline::{CombineSettings, Combiner, Model};
use serde_json::Value;

use super::settings::{self, number, text, texts};
use super::{Answer, Made, written};
use crate::common::parity::Step;

pub(super) fn fit(made: &Made, step: &Step) -> Answer {
    let source = made.source(step.input("documents"));
    let (settings, options) = settings::of_fit(&step.settings)?;
    let fitted = if step.settings.contains_key("search") {
        let plan = settings::of_search(&step.settings)?;
        search_source(&source, &options, &settings, &plan, &NoProgress)?
    } else {
        fit_source(&source, &options, &settings, &NoProgress)?
    };
    fitted.model.save(&made.output(step))?;
    written(FitReport::of(&fitted))
}

fn model(made: &Made, step: &Step) -> Result<Model, Box<dyn std::error::Error>> {
    Ok(Model::open(&made.path(step.input("model")))?)
}

pub(super) fn predict(made: &Made, step: &Step) -> Answer {
    let model = model(made, step)?;
    let predictor = Predictor::with_settings(&model, &settings::of_predict(&step.settings)?)?;
    let options = settings::reading(&step.settings, Fields::default())?;
    let source = made.source(step.input("documents"));
    if step.output.is_some() {
        let columns = PredictionColumns::Classes {
            scores: step.settings.contains_key("scores"),
            decisions: false,
            sets: None,
        };
        let mut writer = PredictionWriter::create(&made.output(step), columns)?;
        let sink = |prediction: Prediction<'_>| Ok::<_, Box<dyn Error>>(writer.write(&prediction)?);
        predictor.predict_source(&source, &options, &NoProgress, sink)?;
        writer.finish()?;
        return Ok(Value::Null);
    }
    let mut predictions = Vec::new();
    predictor.predict_source(
        &source,
        &options,
        &NoProgress,
        |prediction| -> Result<(), PredictError> {
            predictions.push(written(prediction).unwrap());
            Ok(())
        },
    )?;
    Ok(Value::Array(predictions))
}

pub(super) fn explained(made: &Made, step: &Step) -> Answer {
    let model = model(made, step)?;
    let content = match text(&step.settings, "file") {
        Some(file) => {
            let options = settings::reading(&step.settings, Fields::default())?;
            let row: usize = number(&step.settings, "row")?.expect("a row");
            let row = NonZeroUsize::new(row).expect("rows are counted from 1");
            read_row(&model, &made.source(file), &options, row, &NoProgress)?
        }
        None => Content::Text(step.input("text").to_owned()),
    };
    let classes = texts(step.settings.get("class"));
    written(explain(&model, &content, &classes)?)
}

pub(super) fn combine(made: &Made, step: &Step) -> Answer {
    let names = texts(step.inputs.get("models"));
    let paths: Vec<_> = names.iter().map(|name| made.path(name)).collect();
    let mut models = Vec::new();
    for (path, name) in paths.iter().zip(system_names(&paths)) {
        models.push((name, Model::open(path)?));
    }
    let combiner = Combiner::new(models)?;
    let mut options = settings::reading(&step.settings, combiner.fields().clone())?;
    options.labels_required = LabelNeed::Required;
    let mut settings = CombineSettings::default();
    settings.folds = number(&step.settings, "folds")?.unwrap_or(settings.folds);
    settings.seed = number(&step.settings, "seed")?.unwrap_or(settings.seed);
    let source = made.source(step.input("documents"));
    let combined = combine_source(combiner, &source, &options, &settings, false, &NoProgress)?;
    combined.model.save(&made.output(step))?;
    written(CombineReport::of(&combined))
}

pub(super) fn inspect(made: &Made, step: &Step) -> Answer {
    let path = made.path(step.input("model"));
    let bytes = std::fs::metadata(&path)?.len();
    let saved = open_any(&path)?;
    let terms = number(&step.settings, "terms")?;
    written(Inspection::of(&saved, bytes, terms)?)
}

pub(super) fn rules(made: &Made, step: &Step) -> Answer {
    let rules = std::fs::read_to_string(made.path(step.input("rules")))?.parse()?;
    let options = settings::reading(&step.settings, Fields::default())?;
    let source = made.source(step.input("documents"));
    let analyzer = settings::analyzer(&step.settings)?;
    let (report, _) = check_rules(&rules, &analyzer, &source, &options, &NoProgress)?;
    written(report)
}
