//! Indexes and rankings: searched, learned, measured and looked ahead.

use calibrant::calibration::CalibratorKind;
use calibrant::corpus::{Fields, Qrels, ReadOptions, Run, TopicField, read_queries};
use calibrant::index::{DocumentOptions, IndexSettings, SearchIndex, build_index};
use calibrant::jobs::rankings::{
    OutlookSettings, QuerySpreads, RankEvaluateSettings, RankPredictSettings, RankPredictions,
    RankSource, RankTraining, evaluate_rankings, outlook,
};
use calibrant::jobs::search::{
    self as searching, RunSettings, SearchBy, SearchSettings, search_features, search_run,
};
use calibrant::ranking::Unjudged;
use calibrant::ranking::functions::BaseFunction;
use calibrant::ranking::learning::{QueryScale, RankModel, RankSettings};
use calibrant::{Named, NoProgress};
use serde_json::{Value, json};

use super::settings::{Settings, list, number, text, texts, typed};
use super::{Answer, Made, written};
use crate::common::parity::Step;

pub(super) fn index(made: &Made, step: &Step) -> Answer {
    let settings = &step.settings;
    let options = DocumentOptions {
        format: None,
        reading: ReadOptions {
            fields: Fields {
                text: list(settings, "text"),
                ..Fields::default()
            },
            ..ReadOptions::default()
        },
        title: text(settings, "title").map(str::to_owned),
        numbered: false,
    };
    let mut how = IndexSettings {
        store_text: !settings.contains_key("no-text"),
        ..IndexSettings::default()
    };
    if let Some(stemmer) = settings.get("stemmer") {
        how.stemmer = typed(stemmer.clone())?;
    }
    let sources = made.sources(step.inputs.get("documents"));
    let (summary, _) = build_index(&sources, &made.output(step), how, &options, &NoProgress)?;
    written(summary)
}

pub(super) fn search(made: &Made, step: &Step) -> Answer {
    let settings = &step.settings;
    let index = SearchIndex::open(&made.path(step.input("index")))?;
    let function = match text(settings, "function") {
        Some(name) => name.parse()?,
        None => BaseFunction::bm25_stems(),
    };
    let by = SearchBy::Function(function);
    let Some(file) = text(settings, "queries") else {
        let mut asked = SearchSettings::default();
        asked.top = number(settings, "top")?.unwrap_or(asked.top);
        asked.detail.explain = settings.contains_key("explain");
        let answer = searching::search(&index, step.input("query"), by, asked)?;
        return written(answer);
    };
    let queries = read_queries(&made.source(file), None, &[TopicField::Title])?;
    let asked = RunSettings::default();
    let mut lines = Vec::new();
    let target = if let Some(target) = text(settings, "run") {
        search_run(&index, &queries, by, &asked, &NoProgress)?.write(&mut lines)?;
        target
    } else {
        let qrels = qrels(made, settings)?;
        let judgements = qrels.as_ref().map(|qrels| (qrels, Unjudged::default()));
        let functions = BaseFunction::paper();
        let found = search_features(&index, &queries, &functions, asked.top, judgements)?;
        found.table.write_letor(&mut lines)?;
        text(settings, "features").expect("queries have a run or features")
    };
    std::fs::write(made.target(target), lines)?;
    Ok(Value::Null)
}

fn qrels(made: &Made, settings: &Settings) -> Result<Option<Qrels>, Box<dyn std::error::Error>> {
    let file = text(settings, "qrels");
    Ok(file
        .map(|file| Qrels::read(&made.source(file)))
        .transpose()?)
}

/// LETOR files, or runs where there are any.
fn rows(made: &Made, step: &Step) -> RankSource {
    let runs = made.sources(step.settings.get("from-run"));
    match runs.is_empty() {
        true => RankSource::Letor(made.sources(step.inputs.get("tables"))),
        false => RankSource::Runs {
            runs,
            qrels: text(&step.settings, "qrels").map(|file| made.source(file)),
        },
    }
}

fn of_fit(settings: &Settings) -> Result<RankSettings, Box<dyn std::error::Error>> {
    let mut asked = RankSettings::default();
    for (name, value) in settings {
        let word = match value {
            Value::String(word) => word.clone(),
            other => other.to_string(),
        };
        match name.as_str() {
            "loss" => asked.loss = word.parse()?,
            "c" => asked.c = word.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "bins" => asked.bins = word.parse()?,
            "scale" => asked.scale = QueryScale::from_word(&word)?,
            "grades" => asked.grades = word.parse()?,
            "relevant-from" => asked.relevant_from = word.parse()?,
            "folds" => asked.folds = Some(word.parse()?),
            "unjudged" => asked.unjudged = word.parse()?,
            "calibrator" => asked.calibrator = CalibratorKind::from_word(&word)?,
            "calibration-folds" => asked.calibration_folds = word.parse()?,
            "from-run" | "qrels" | "validation" => {}
            other => panic!("`{other}` is not a setting of `rank fit` here"),
        }
    }
    Ok(asked)
}

pub(super) fn fit(made: &Made, step: &Step) -> Answer {
    let settings = of_fit(&step.settings)?;
    let validation = text(&step.settings, "validation").map(|file| made.source(file));
    let training = RankTraining::read(&rows(made, step), validation.as_ref(), &settings)?;
    let fit = training.fit(&settings, &NoProgress)?;
    fit.model.save(&made.output(step))?;
    written(fit.summary())
}

pub(super) fn predict(made: &Made, step: &Step) -> Answer {
    let model = RankModel::open(&made.path(step.input("model")))?;
    let settings = RankPredictSettings::default();
    let found = RankPredictions::read(&model, &rows(made, step), settings)?;
    let ranked: Vec<_> = found.ranked().collect();
    written(ranked)
}

pub(super) fn evaluate(made: &Made, step: &Step) -> Answer {
    let mut asked = json!({});
    for (name, value) in &step.settings {
        match name.as_str() {
            "measure" => asked["measures"] = json!(texts(Some(value))),
            other => asked[other.replace('-', "_")] = value.clone(),
        }
    }
    let settings: RankEvaluateSettings = typed(asked)?;
    let truth = made.source(step.input("judgements"));
    let rankings = made.sources(step.inputs.get("rankings"));
    let measured = evaluate_rankings(&truth, &rankings, &settings)?;
    written(measured)
}

pub(super) fn look_ahead(made: &Made, step: &Step) -> Answer {
    let run = Run::read(&made.source(step.input("run")))?;
    let qrels = qrels(made, &step.settings)?;
    let spreads = match text(&step.settings, "model") {
        Some(name) => QuerySpreads::open(&made.path(name))?,
        None => QuerySpreads::Usual,
    };
    let mut settings = OutlookSettings::default();
    settings.recall = number(&step.settings, "recall")?.unwrap_or(settings.recall);
    if let Some(at) = text(&step.settings, "at") {
        settings.at = at.split(',').map(str::parse).collect::<Result<_, _>>()?;
    }
    let found = outlook(&run, qrels.as_ref(), &spreads, &settings)?;
    written(found)
}
