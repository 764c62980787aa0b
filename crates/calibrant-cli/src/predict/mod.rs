//! `calibrant predict`

mod writer;

use std::ops::ControlFlow;

use calibrant::Probability;
use calibrant::corpus::{LabelNeed, Source, read_batches_until};
use calibrant::pipeline::{Model, PredictBuffers};

use crate::arguments::PredictArguments;
use crate::error::CliError;
use crate::fit::warn_bad_rows;
use crate::output::check_target;
use crate::progress::TerminalProgress;
use writer::{Prediction, PredictionWriter};

pub(crate) fn run(arguments: &PredictArguments) -> Result<(), CliError> {
    let model = Model::open(&arguments.model)?;
    // Labels and weights have no part in predicting: the file need not have them.
    let mut fields = arguments.reading.fields(model.fields());
    fields.label = arguments.reading.label.clone();
    fields.weight = None;
    let options = arguments.reading.options(fields, LabelNeed::Ignored);
    let progress = TerminalProgress::default();
    let class_names: Vec<&str> = model.class_names().collect();
    let most = arguments
        .top
        .map_or(class_names.len(), |top| top.get().min(class_names.len()));
    if let Some(path) = &arguments.output {
        check_target(path, &arguments.file)?;
    }
    let mut writer = PredictionWriter::create(arguments.output.as_deref(), arguments.json)?;
    let mut failure = None;
    let mut number = 0u64;
    let read = read_batches_until(
        &Source::from(arguments.file.as_str()),
        &options,
        &progress,
        |documents| {
            let mut buffers = PredictBuffers::default();
            let mut classes = vec![Probability::from_log_odds(0.0); class_names.len()];
            documents
                .into_iter()
                .map(|document| {
                    model.predict_into(&document.content, &mut buffers, &mut classes);
                    (document.id, best(&classes, most))
                })
                .collect::<Vec<_>>()
        },
        |batch| {
            for (id, classes) in batch {
                number += 1;
                let id = id.unwrap_or_else(|| number.to_string());
                let classes = classes
                    .iter()
                    .map(|&(class, probability)| (class_names[class], probability))
                    .collect();
                if let Err(error) = writer.write(&Prediction { id, classes }) {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        },
    )?;
    if let Some(error) = failure {
        return Err(error);
    }
    writer.finish()?;
    warn_bad_rows(&read);
    Ok(())
}

/// The most probable classes, the first of equals first.
fn best(classes: &[Probability], most: usize) -> Vec<(usize, Probability)> {
    let mut order: Vec<(usize, Probability)> = classes.iter().copied().enumerate().collect();
    order.sort_by(|a, b| b.1.log_odds().total_cmp(&a.1.log_odds()));
    order.truncate(most);
    order
}
