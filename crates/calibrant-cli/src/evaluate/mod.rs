//! `calibrant evaluate`

mod costs;
mod show;

use std::collections::BTreeMap;
use std::io::Write;

use calibrant::corpus::{LabelNeed, Source, read_batches};
use calibrant::evaluation::{
    BootstrapSettings, Evaluation, EvaluationOptions, Forecasts, evaluate_with,
};
use calibrant::pipeline::{Model, PredictBuffers};
use calibrant::{Probability, Task};

use crate::arguments::EvaluateArguments;
use crate::error::CliError;
use crate::fit::warn_bad_rows;
use crate::output::{stdout, warn};
use crate::progress::TerminalProgress;

#[derive(serde::Serialize)]
struct EvaluateReport {
    #[serde(flatten)]
    evaluation: Evaluation,
    /// Labels of the test documents that the model does not know, with how many documents have them.
    unknown_labels: BTreeMap<String, usize>,
    /// Documents that could not be measured because their only label is unknown (one label a document).
    documents_left_out: usize,
    bad_rows: u64,
}

pub(crate) fn run(arguments: &EvaluateArguments) -> Result<(), CliError> {
    let model = Model::open(&arguments.model)?;
    let wanted = wanted_classes(&model, &arguments.classes)?;
    let options = EvaluationOptions {
        costs: arguments
            .costs
            .as_deref()
            .map(|given| costs::read(given, model.task(), model.class_names()))
            .transpose()?,
        bootstrap: (arguments.bootstrap != Some(0)).then(|| BootstrapSettings {
            replicates: arguments.bootstrap,
            ..BootstrapSettings::default()
        }),
    };
    let fields = arguments.reading.fields(model.fields());
    let reading = arguments.reading.options(fields, LabelNeed::Required);
    let numbers: BTreeMap<&str, u32> = model.class_names().zip(0..).collect();
    let progress = TerminalProgress::default();
    let class_count = model.class_count();
    let mut probabilities = Vec::new();
    let mut labels = Vec::new();
    let mut weights = Vec::new();
    let mut unknown_labels: BTreeMap<String, usize> = BTreeMap::new();
    let mut left_out = 0;
    let read = read_batches(
        &Source::from(arguments.file.as_str()),
        &reading,
        &progress,
        |documents| {
            let mut buffers = PredictBuffers::default();
            let mut probabilities =
                vec![Probability::from_log_odds(0.0); documents.len() * class_count];
            for (document, classes) in documents
                .iter()
                .zip(probabilities.chunks_exact_mut(class_count))
            {
                model.predict_into(&document.content, &mut buffers, classes);
            }
            let truths: Vec<(Vec<String>, f64)> = documents
                .into_iter()
                .map(|document| (document.labels, document.weight))
                .collect();
            (truths, probabilities)
        },
        |(truths, batch)| {
            for ((names, weight), batch) in truths.into_iter().zip(batch.chunks_exact(class_count))
            {
                let mut known = Vec::new();
                for name in names {
                    match numbers.get(name.as_str()) {
                        Some(&class) => known.push(class),
                        None => *unknown_labels.entry(name).or_default() += 1,
                    }
                }
                if model.task() == Task::SingleLabel && known.len() != 1 {
                    left_out += 1;
                    continue;
                }
                probabilities.extend_from_slice(batch);
                labels.push(known);
                weights.push(weight);
            }
        },
    )?;
    warn_bad_rows(&read);
    // A model that was asked for some classes only is expected not to know the others.
    if model.settings().classes.is_some() {
        unknown_labels.clear();
    }
    if !unknown_labels.is_empty() {
        let names: Vec<&str> = unknown_labels.keys().take(10).map(String::as_str).collect();
        warn(&format!(
            "{} labels are unknown to the model: {}",
            unknown_labels.len(),
            names.join(", ")
        ));
    }
    if left_out > 0 {
        warn(&format!(
            "{left_out} documents without exactly one label that the model knows are not measured"
        ));
    }
    let class_names = model.class_names().map(str::to_owned).collect();
    let forecasts = Forecasts {
        task: model.task(),
        class_names,
        probabilities,
        labels,
        weights: Some(weights),
    };
    let evaluation = evaluate_with(&restricted(forecasts, &wanted), &options)?;
    let report = EvaluateReport {
        evaluation,
        unknown_labels,
        documents_left_out: left_out,
        bad_rows: read.bad_row_count,
    };
    let mut out = stdout();
    if arguments.json {
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
    } else {
        show::show(&mut out, &report.evaluation)?;
    }
    Ok(out.flush()?)
}

fn wanted_classes(model: &Model, names: &[String]) -> Result<Vec<usize>, CliError> {
    if names.is_empty() {
        return Ok((0..model.class_count()).collect());
    }
    if model.task() == Task::SingleLabel {
        return Err(CliError::new(
            "--classes needs a multi-label model: the classes of this one exclude each other",
        )
        .hint("use --where to choose documents"));
    }
    names
        .iter()
        .map(|name| {
            model
                .class_names()
                .position(|class| class == name)
                .ok_or_else(|| {
                    CliError::new(format!("the model has no class `{name}`"))
                        .hint("`calibrant inspect MODEL` lists its classes")
                })
        })
        .collect()
}

fn restricted(forecasts: Forecasts, wanted: &[usize]) -> Forecasts {
    let class_count = forecasts.class_names.len();
    if wanted.len() == class_count {
        return forecasts;
    }
    Forecasts {
        class_names: wanted
            .iter()
            .map(|&class| forecasts.class_names[class].clone())
            .collect(),
        probabilities: forecasts
            .probabilities
            .chunks_exact(class_count)
            .flat_map(|row| wanted.iter().map(|&class| row[class]))
            .collect(),
        labels: forecasts
            .labels
            .iter()
            .map(|labels| {
                let numbers = labels
                    .iter()
                    .filter_map(|&label| wanted.iter().position(|&class| class == label as usize));
                numbers.map(|number| number as u32).collect()
            })
            .collect(),
        ..forecasts
    }
}
