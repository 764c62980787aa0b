//! Models and tables of probabilities: measured, and held against each other.

use calibrant::corpus::{Fields, ReadOptions};
use calibrant::decision::CostEntry;
use calibrant::evaluation::CompareSettings;
use calibrant::jobs::{
    EvaluateSettings, Evaluated, System, SystemSettings, ask_systems, compare_systems,
    evaluate_source, open_model, parse_costs,
};
use calibrant::{NoProgress, Task};

use super::settings::{self, Settings, list, number, text, texts};
use super::{Answer, Made, written};
use crate::common::parity::Step;

fn reading(settings: &Settings) -> Result<ReadOptions, Box<dyn std::error::Error>> {
    let fields = Fields {
        group: text(settings, "group").map(str::to_owned),
        weight: text(settings, "weight").map(str::to_owned),
        ..Fields::default()
    };
    settings::reading(settings, fields)
}

/// `TRUTH,DECISION,COST;…`
fn costs(settings: &Settings) -> Vec<CostEntry> {
    let given = text(settings, "costs");
    given.map_or_else(Vec::new, |costs| parse_costs(costs).unwrap())
}

fn system_settings(settings: &Settings) -> SystemSettings {
    SystemSettings {
        classes: list(settings, "classes"),
        positive: text(settings, "positive").map(str::to_owned),
        task: text(settings, "labels").map(|labels| match labels {
            "one" => Task::SingleLabel,
            _ => Task::MultiLabel,
        }),
    }
}

pub(super) fn evaluate(made: &Made, step: &Step) -> Answer {
    let path = made.path(step.input("system"));
    let source = made.source(step.input("documents"));
    let options = reading(&step.settings)?;
    let bootstrap = number(&step.settings, "bootstrap")?;
    let Some(model) = open_model(&path)? else {
        let systems = System::open(&[path])?;
        let settings = system_settings(&step.settings);
        let answers = ask_systems(&systems, &source, &options, &settings, &NoProgress)?;
        let evaluated = Evaluated::of_table(answers, &[], bootstrap)?;
        return written(evaluated.report);
    };
    let asked = settings::of_predict(&step.settings)?;
    let settings = EvaluateSettings {
        classes: list(&step.settings, "classes"),
        prior: asked.prior,
        other: asked.other,
        costs: costs(&step.settings),
        bootstrap,
        shown_scores: 0,
        worst_mistakes: 0,
    };
    let evaluated = evaluate_source(&model, &source, &options, &settings, &NoProgress)?;
    written(evaluated.report)
}

pub(super) fn compare(made: &Made, step: &Step) -> Answer {
    let names = texts(step.inputs.get("systems"));
    let paths: Vec<_> = names.iter().map(|name| made.path(name)).collect();
    let systems = System::open(&paths)?;
    let source = made.source(step.input("documents"));
    let (options, asked) = (reading(&step.settings)?, system_settings(&step.settings));
    let answers = ask_systems(&systems, &source, &options, &asked, &NoProgress)?;
    let mut settings = CompareSettings::default();
    settings.level = number(&step.settings, "level")?.unwrap_or(settings.level);
    settings.bootstrap = number(&step.settings, "bootstrap")?.unwrap_or(settings.bootstrap);
    settings.seed = number(&step.settings, "seed")?.unwrap_or(settings.seed);
    let report = compare_systems(&systems, answers, &[], &settings)?;
    written(report)
}
