//! `calibrant evaluate`

mod costs;
mod open;
mod show;

use std::collections::BTreeMap;
use std::io::Write;

use calibrant::corpus::{LabelNeed, Source, read_batches};
use calibrant::evaluation::{
    BootstrapSettings, Evaluation, EvaluationOptions, Forecasts, LedgerNote, OpenWorldReport,
    TestSetHash, evaluate_with,
};
use calibrant::features::UnknownCells;
use calibrant::pipeline::{Model, PredictBuffers};
use calibrant::{Probability, Task};

use crate::arguments::EvaluateArguments;
use crate::error::CliError;
use crate::evaluate_page::EvaluatePage;
use crate::fit::warn_bad_rows;
use crate::ledger::{Look, learner_name, record, show_note};
use crate::output::{stdout, warn};
use crate::predict::other;
use crate::progress::TerminalProgress;
use crate::side_columns::unknown_notes;

#[derive(serde::Serialize)]
struct EvaluateReport {
    #[serde(flatten)]
    evaluation: Evaluation,
    /// Labels of the test documents that the model does not know, with how many documents have them.
    unknown_labels: BTreeMap<String, usize>,
    /// Documents that could not be measured because their only label is unknown (one label a document).
    documents_left_out: usize,
    bad_rows: u64,
    /// Documents of unknown classes that `other` noticed; absent without --other.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<OpenWorldReport>,
    /// How often the test set was evaluated before; absent without a ledger.
    ledger: Option<LedgerNote>,
}

pub(crate) fn run(arguments: &EvaluateArguments) -> Result<(), CliError> {
    let model = Model::open(&arguments.model)?;
    let wanted = wanted_classes(&model, &arguments.classes)?;
    let thresholds = other::thresholds(&model, arguments.other.other)?;
    let mut open_forecasts = Vec::new();
    let mut page = EvaluatePage::wanted(arguments, &model, &wanted)?;
    let kept_outputs = page
        .as_ref()
        .map_or(Vec::new(), |page| page.outputs().to_vec());
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
    let mut unknown_cells = UnknownCells::default();
    let mut test_set = TestSetHash::default();
    let read = read_batches(
        &Source::from(arguments.file.as_str()),
        &reading,
        &progress,
        |documents| {
            let mut buffers = PredictBuffers::default();
            let mut scores = Vec::with_capacity(documents.len() * kept_outputs.len());
            let mut probabilities =
                vec![Probability::from_log_odds(0.0); documents.len() * class_count];
            let mut above = Vec::new();
            let mut unknown = UnknownCells::default();
            for (document, classes) in documents
                .iter()
                .zip(probabilities.chunks_exact_mut(class_count))
            {
                model.count_unknown_cells(&document.content, &mut unknown);
                model.predict_into(&document.content, &mut buffers, classes);
                if let Some(thresholds) = &thresholds {
                    above.push(model.above_thresholds(thresholds, &buffers));
                }
                scores.extend(kept_outputs.iter().map(|&output| buffers.scores()[output]));
            }
            let hash = TestSetHash::of(&documents);
            let truths: Vec<(Vec<String>, f64)> = documents
                .into_iter()
                .map(|document| (document.labels, document.weight))
                .collect();
            (hash, truths, probabilities, scores, above, unknown)
        },
        |(hash, truths, batch, scores, above, unknown)| {
            test_set.merge(hash);
            unknown_cells.merge(unknown);
            let rows = truths.into_iter().zip(batch.chunks_exact(class_count));
            for (document, ((names, weight), batch)) in rows.enumerate() {
                let mut known = Vec::new();
                for name in names {
                    match numbers.get(name.as_str()) {
                        Some(&class) => known.push(class),
                        None => *unknown_labels.entry(name).or_default() += 1,
                    }
                }
                if let Some(&above) = above.get(document) {
                    open_forecasts.push(open::forecast(&known, batch, above));
                }
                if model.task() == Task::SingleLabel && known.len() != 1 {
                    left_out += 1;
                    continue;
                }
                if let Some(page) = &mut page {
                    let first = document * kept_outputs.len();
                    page.keep(&scores[first..first + kept_outputs.len()]);
                }
                probabilities.extend_from_slice(batch);
                labels.push(known);
                weights.push(weight);
            }
        },
    )?;
    warn_bad_rows(&read);
    // A model that was asked for some classes only is expected not to know the others.
    if model.chose_classes() {
        unknown_labels.clear();
    }
    let mut notes = unknown_notes(&unknown_cells);
    if !unknown_labels.is_empty() {
        let names: Vec<&str> = unknown_labels.keys().take(10).map(String::as_str).collect();
        notes.push(format!(
            "{} labels are unknown to the model: {}",
            unknown_labels.len(),
            names.join(", ")
        ));
    }
    if left_out > 0 {
        notes.push(format!(
            "{left_out} documents without exactly one label that the model knows are not measured"
        ));
    }
    notes.iter().for_each(|note| warn(note));
    let class_names = model.class_names().map(str::to_owned).collect();
    let forecasts = Forecasts {
        task: model.task(),
        class_names,
        probabilities,
        labels,
        weights: Some(weights),
    };
    let forecasts = restricted(forecasts, &wanted);
    let evaluation = evaluate_with(&forecasts, &options)?;
    if let Some(page) = &page {
        let notes = notes.iter().map(|note| format!("{note}.")).collect();
        page.write(arguments, &model, &forecasts, &evaluation, notes)?;
    }
    let look = Look {
        path: &arguments.model,
        classifier: learner_name(&model),
        log_loss: evaluation.log_loss,
    };
    let ledger = record(!arguments.no_ledger, &test_set, &[look]);
    let report = EvaluateReport {
        evaluation,
        unknown_labels,
        documents_left_out: left_out,
        bad_rows: read.bad_row_count,
        other: OpenWorldReport::of(&open_forecasts),
        ledger,
    };
    let mut out = stdout();
    if arguments.json {
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
    } else {
        show::show(&mut out, &report.evaluation)?;
        if arguments.other.other.is_some() {
            open::show(&mut out, report.other.as_ref())?;
        }
        if let Some(path) = &arguments.html {
            writeln!(out, "\nThe report is in {}.", path.display())?;
        }
        show_note(&mut out, report.ledger)?;
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
