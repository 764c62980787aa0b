//! `calibrant predict`

pub(crate) mod other;
mod parquet_rows;
pub(crate) mod writer;

use std::ops::ControlFlow;

use calibrant::Probability;
use calibrant::corpus::{LabelNeed, read_batches_until};
use calibrant::features::UnknownCells;
use calibrant::pipeline::{Model, PredictBuffers, SingleModel};

use crate::arguments::PredictArguments;
use crate::error::CliError;
use crate::fit::warn_bad_rows;
use crate::input;
use crate::output::{check_target, warn};
use crate::prior::PriorPlan;
use crate::progress::TerminalProgress;
use crate::side_columns::unknown_notes;
use writer::{Keys, Layout, Prediction, PredictionWriter};

pub(crate) fn run(arguments: &PredictArguments) -> Result<(), CliError> {
    let model = Model::open(&arguments.model)?;
    // Labels and weights have no part in predicting: the file need not have them.
    let mut fields = arguments.reading.fields(model.fields());
    fields.label = arguments.reading.label.clone();
    fields.weight = None;
    let mut keys = Keys::new(fields.id.is_some());
    let mut options = arguments.reading.options(fields, LabelNeed::Ignored);
    options.own_id = true;
    let progress = TerminalProgress::default();
    let thresholds = other::thresholds(&model, arguments.other.other)?;
    if thresholds.is_some() && arguments.prior.is_given() {
        return Err(
            CliError::new("--other cannot go with --prior or --adapt-prior").hint(
                "shifted priors say how common the known classes are, not whether there are others",
            ),
        );
    }
    let mut class_names: Vec<&str> = model.class_names().collect();
    class_names.extend(thresholds.is_some().then_some(other::NAME));
    let most = arguments
        .top
        .map_or(class_names.len(), |top| top.get().min(class_names.len()));
    if let Some(path) = &arguments.output {
        check_target(path, &arguments.file)?;
    }
    let plan = PriorPlan::new(
        &arguments.prior,
        model.task(),
        &class_names[..model.class_count()],
        None,
        (
            model.priors(),
            model.summary().different_documents(),
            model.summary().held_out_shape.as_ref(),
        ),
    )?;
    let scorer = scorer_of(&model, arguments.scores)?;
    let layout = Layout::Classes {
        scores: arguments.scores,
    };
    let mut writer = PredictionWriter::create(arguments.output.as_deref(), arguments.json, layout)?;
    let mut held = Held::default();
    let mut unknown = UnknownCells::default();
    let mut failure = None;
    let mut write = |id: Option<String>, classes: &[(usize, Probability)], scores: &[f64]| {
        let of_class = |&(class, _): &(usize, Probability)| scores.get(class).copied();
        let scores = classes.iter().filter_map(of_class).collect();
        let classes = classes
            .iter()
            .map(|&(class, probability)| (class_names[class], probability))
            .collect();
        writer.write(&Prediction {
            key: keys.next(id),
            classes,
            scores,
        })
    };
    let read = read_batches_until(
        &input::source(&arguments.file),
        &options,
        &progress,
        |documents| {
            let mut buffers = PredictBuffers::default();
            let mut room = Vec::new();
            let mut classes = vec![Probability::from_log_odds(0.0); class_names.len()];
            let mut unknown = UnknownCells::default();
            let rows: Vec<_> = documents
                .into_iter()
                .map(|document| {
                    let content = &document.content;
                    model.count_unknown_cells(content, &mut unknown);
                    match &thresholds {
                        None => model.predict_into(content, &mut buffers, &mut classes),
                        Some(thresholds) => {
                            model.predict_open_into(
                                content,
                                thresholds,
                                &mut buffers,
                                &mut classes,
                            );
                        }
                    }
                    if let Some(shift) = plan.known_shift() {
                        shift.apply(&mut classes, &mut room);
                    }
                    let row = if plan.must_see_all() {
                        classes.iter().copied().enumerate().collect()
                    } else {
                        best(&classes, most)
                    };
                    let scores = scorer.map(|model| model.class_scores(&buffers).collect());
                    let scores: Vec<f64> = scores.unwrap_or_default();
                    (document.id, row, scores)
                })
                .collect();
            (rows, unknown)
        },
        |(batch, found)| {
            unknown.merge(found);
            for (id, row, scores) in batch {
                if plan.must_see_all() {
                    held.ids.push(id);
                    held.probabilities.extend(row.iter().map(|class| class.1));
                    held.scores.push(scores);
                } else if let Err(error) = write(id, &row, &scores) {
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
    if plan.must_see_all() {
        let all = &mut held.probabilities;
        let decided = plan.decide(&arguments.file, model.task(), &class_names, all, None)?;
        decided.apply(class_names.len(), all);
        let rows = all.chunks_exact(class_names.len()).zip(&held.scores);
        for (id, (row, scores)) in held.ids.into_iter().zip(rows) {
            write(id, &best(row, most), scores)?;
        }
    }
    writer.finish()?;
    warn_bad_rows(&read);
    keys.warn(&arguments.file);
    unknown_notes(&unknown).iter().for_each(|note| warn(note));
    Ok(())
}

/// Documents that wait for the priors to be known.
#[derive(Default)]
struct Held {
    ids: Vec<Option<String>>,
    probabilities: Vec<Probability>,
    /// The learner's scores, if they were asked for.
    scores: Vec<Vec<f64>>,
}

/// The model whose scores are asked for.
fn scorer_of(model: &Model, wanted: bool) -> Result<Option<&SingleModel>, CliError> {
    match (wanted, model.as_single()) {
        (false, _) => Ok(None),
        (true, Some(single)) => Ok(Some(single)),
        (true, None) => Err(
            CliError::new("a combination of models has no scores of its own")
                .hint("leave out --scores, or predict with its members one by one"),
        ),
    }
}

/// The most probable classes, the first of equals first.
pub(crate) fn best(classes: &[Probability], most: usize) -> Vec<(usize, Probability)> {
    let mut order: Vec<(usize, Probability)> = classes.iter().copied().enumerate().collect();
    order.sort_by(|a, b| b.1.log_odds().total_cmp(&a.1.log_odds()));
    order.truncate(most);
    order
}
