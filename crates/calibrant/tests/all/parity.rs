//! The cases of `testdata/parity` through the library's jobs: what they answer is what the program prints.

mod settings;

use std::collections::BTreeMap;
use std::error::Error;

use calibrant::NoProgress;
use calibrant::corpus::{Source, read_batches};
use calibrant::jobs::{PredictError, Predictor};
use calibrant::pipeline::{
    DocumentCounter, Model, SearchCounter, TrainingCorpus, TrainingSummary, fit, search,
};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::common::parity::{Case, Step, cases, folder};

/// Jobs of the cases that are not run here: they must become calls of the library, and go.
const STILL_THE_PROGRAMS: [&str; 14] = [
    "apply",
    "calibrate",
    "combine",
    "compare",
    "evaluate",
    "explain",
    "index",
    "inspect",
    "rank evaluate",
    "rank fit",
    "rank outlook",
    "rank predict",
    "rules check",
    "search",
];

type Answer = Result<Value, Box<dyn Error>>;

/// What earlier steps of a case made.
#[derive(Default)]
struct Made {
    models: BTreeMap<String, Model>,
}

fn source(name: &str) -> Source {
    Source::Path(folder().join("data").join(name))
}

impl Made {
    fn model(&self, name: &str) -> &Model {
        &self.models[name]
    }

    fn keep(&mut self, step: &Step, model: Model) {
        let name = step
            .output
            .as_ref()
            .expect("a fit has a name to be kept by");
        self.models.insert(name.clone(), model);
    }

    /// The answer to a step; `None` where it cannot be run yet.
    fn run(&mut self, step: &Step) -> Option<Answer> {
        match step.job.as_str() {
            "fit" => Some(self.fit(step)),
            // What a prediction is written to is the program's.
            "predict" if step.output.is_some() => None,
            "predict" => Some(self.predict(step)),
            job if STILL_THE_PROGRAMS.contains(&job) => None,
            other => panic!("`{other}` is not a job of the parity cases"),
        }
    }

    fn fit(&mut self, step: &Step) -> Answer {
        let documents = source(step.input("documents"));
        let (settings, fields, options) = settings::of_fit(&step.settings)?;
        let (model, read, trials) = if step.settings.contains_key("search") {
            let plan = settings::of_search(&step.settings)?;
            let counter = SearchCounter::new(&settings)?.within(plan.time_budget);
            let mut corpus = counter.corpus(&settings);
            let read = read_batches(
                &documents,
                &options,
                &NoProgress,
                |batch| counter.count(batch),
                |batch| corpus.add(batch),
            )?;
            let found = search(corpus, &fields, &settings, &plan, &NoProgress)?;
            (found.model, read, Some(found.trials))
        } else {
            let counter = DocumentCounter::new(&settings)?;
            let mut corpus = TrainingCorpus::new(settings.column_space());
            let read = read_batches(
                &documents,
                &options,
                &NoProgress,
                |batch| counter.count(batch),
                |batch| corpus.add(batch),
            )?;
            (fit(corpus, fields, &settings, &NoProgress)?, read, None)
        };
        let summary = TrainingSummary {
            search: Vec::new(),
            ..model.summary().clone()
        };
        let mut answer = serde_json::to_value(summary)?;
        answer["rows"] = json!(read.rows);
        answer["bad_rows"] = json!(read.bad_row_count);
        answer["filtered_rows"] = json!(read.filtered);
        if let Some(trials) = trials {
            answer["search"] = serde_json::to_value(trials)?;
        }
        self.keep(step, model);
        Ok(answer)
    }

    fn predict(&self, step: &Step) -> Answer {
        let model = self.model(step.input("model"));
        let predictor = Predictor::with_settings(model, &settings::of_predict(&step.settings)?)?;
        let options = settings::reading(&step.settings, predictor.fields())?;
        let mut predictions = Vec::new();
        predictor.predict_source(
            &source(step.input("documents")),
            &options,
            &NoProgress,
            |prediction| -> Result<(), PredictError> {
                predictions.push(serde_json::to_value(prediction).unwrap());
                Ok(())
            },
        )?;
        Ok(Value::Array(predictions))
    }
}

/// What differs, and how many steps were compared. A step on something that was not made is passed over.
fn check(case: &Case) -> (Vec<String>, usize) {
    let mut made = Made::default();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (number, step) in (1..).zip(&case.steps) {
        let unknown = step.job == "predict" && !made.models.contains_key(step.input("model"));
        let Some(answer) = (if unknown { None } else { made.run(step) }) else {
            continue;
        };
        compared += 1;
        match answer {
            Ok(answer) => {
                let differences = step.differences(answer);
                let said = differences.iter().take(5);
                wrong.extend(said.map(|said| format!("step {number}, {}: {said}", step.job)));
            }
            Err(error) => wrong.push(format!("step {number}, {}: {error}", step.job)),
        }
    }
    (wrong, compared)
}

/// All cases of a family; returns how many steps were compared.
fn run(family: &str) -> usize {
    let answers: Vec<(String, usize)> = cases(family)
        .par_iter()
        .map(|(path, case)| {
            let name = path.file_stem().unwrap().to_string_lossy();
            let (wrong, compared) = check(case);
            let lines = wrong
                .iter()
                .map(|said| format!("{family}/{name}, {said}\n"));
            (lines.collect(), compared)
        })
        .collect();
    let wrong: String = answers.iter().map(|(wrong, _)| wrong.as_str()).collect();
    assert!(wrong.is_empty(), "other than the program:\n{wrong}");
    answers.iter().map(|(_, compared)| compared).sum()
}

#[test]
fn classify() {
    let compared = run("classify");
    assert!(compared > 150, "only {compared} steps");
}

#[test]
fn evaluate() {
    let compared = run("evaluate");
    assert!(compared > 5, "only {compared} steps");
}
