//! `calibrant evaluate`

mod costs;
mod open;
mod show;
mod table;

use std::collections::BTreeMap;
use std::io::Write;

use calibrant::corpus::{Fields, LabelNeed, read_batches};
use calibrant::evaluation::{
    BootstrapSettings, Evaluation, EvaluationOptions, Forecasts, LedgerNote, OpenWorldReport,
    StatedEnds, TestSetHash, evaluate_with,
};
use calibrant::features::{UnknownCells, term_hash};
use calibrant::jobs::{PredictError, PriorPlan, PriorReport, TrainedShares};
use calibrant::pipeline::{Acquaintance, Model, PredictBuffers, TestDocuments, leading_words};
use calibrant::{Probability, Task};

use crate::arguments::EvaluateArguments;
use crate::compare::{copies_sentence, open_model, show_copies};
use crate::error::CliError;
use crate::evaluate_page::EvaluatePage;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::ledger::{Look, learner_name, record, show_note};
use crate::output::{WRITE_ALIKE, stdout, unknown_label_notes, warn, written_otherwise};
use crate::prior::{choice, show_prior};
use crate::progress::TerminalProgress;
use crate::side_columns::unknown_notes;
use crate::training::warn_known;

/// What counts copies once here, and what counts rows.
const COPIES: &str = "intervals and the spread of the number of errors count them once; the measures themselves, the tests of calibration by \
     Spiegelhalter, Kolmogorov-Smirnov and Kuiper, and a perfect forecaster's errors count rows";

#[derive(serde::Serialize)]
struct EvaluateReport {
    #[serde(flatten)]
    evaluation: Evaluation,
    /// Labels of the test documents that the model does not know, with how many documents have them.
    unknown_labels: BTreeMap<String, usize>,
    /// Documents that could not be measured because their only label is unknown (one label a document).
    documents_left_out: usize,
    bad_rows: u64,
    /// What was done about stated zeros and ones; absent for models.
    #[serde(skip_serializing_if = "Option::is_none")]
    stated_ends: Option<StatedEnds>,
    /// What was done about the classes' shares; absent without --prior and --adapt-prior.
    #[serde(skip_serializing_if = "Option::is_none")]
    prior: Option<PriorReport>,
    /// How many of the documents are copies of others; absent for tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<usize>,
    /// About how many of the documents the model had learned from; null where there is no sign of any.
    learned_from: Option<usize>,
    /// Documents of unknown classes that `other` noticed; absent without --other.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<OpenWorldReport>,
    /// How often the test set was evaluated before; absent without a ledger.
    ledger: Option<LedgerNote>,
}

pub(crate) fn run(arguments: &EvaluateArguments) -> Result<(), CliError> {
    let Some(model) = open_model(&arguments.model)? else {
        return table::run(arguments);
    };
    if arguments.positive.is_some() || arguments.labels.is_some() {
        return Err(CliError::new(
            "--positive and --labels are for files of probabilities; a model knows its classes",
        ));
    }
    let wanted = wanted_classes(&model, &arguments.classes)?;
    let plan = PriorPlan::new(&choice(&arguments.prior)?, TrainedShares::of(&model))?;
    if arguments.other.other.is_some() && arguments.prior.is_given() {
        return Err(PredictError::OtherWithPrior.into());
    }
    let rule = arguments.other.other;
    let thresholds = rule.map(|rule| model.other_thresholds(rule));
    let thresholds = thresholds.transpose().map_err(PredictError::from)?;
    let mut open_forecasts = Vec::new();
    let mut page = EvaluatePage::wanted(arguments, Some((&model, &wanted[..])))?;
    let kept_outputs = page
        .as_ref()
        .map_or(Vec::new(), |page| page.outputs().to_vec());
    let mut options = options(arguments, model.task(), model.class_names())?;
    let fields = Fields {
        group: arguments.group.clone(),
        ..arguments.reading.fields(model.fields())
    };
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
    let mut known = Acquaintance::default();
    let mut measured = TestDocuments::default();
    let read = read_batches(
        &input::source(&arguments.file),
        &reading,
        &progress,
        |documents| {
            let mut buffers = PredictBuffers::default();
            let mut scores = Vec::with_capacity(documents.len() * kept_outputs.len());
            let mut probabilities =
                vec![Probability::from_log_odds(0.0); documents.len() * class_count];
            let mut above = Vec::new();
            let mut unknown = UnknownCells::default();
            let mut known = Acquaintance::default();
            let mut keys = Vec::with_capacity(documents.len());
            for (document, classes) in documents
                .iter()
                .zip(probabilities.chunks_exact_mut(class_count))
            {
                model.count_unknown_cells(&document.content, &mut unknown);
                let said = model.predict_into(&document.content, &mut buffers, classes);
                if let Some(thresholds) = &thresholds {
                    above.push(said.above_thresholds(thresholds).1);
                }
                scores.extend(kept_outputs.iter().map(|&output| said.outputs()[output]));
                keys.push(model.count_known(&document.content, &mut buffers, &mut known));
            }
            let hash = TestSetHash::of(&documents);
            let truths: Vec<_> = documents
                .into_iter()
                .zip(keys)
                .map(|(document, key)| {
                    let group = document.group.map(|group| term_hash(group.as_bytes()));
                    let words = leading_words(&document.content);
                    (document.labels, document.weight, (group, key, words))
                })
                .collect();
            (hash, truths, probabilities, scores, above, (unknown, known))
        },
        |(hash, truths, batch, scores, above, (unknown, seen))| {
            test_set.merge(hash);
            unknown_cells.merge(unknown);
            known.merge(&seen);
            let rows = truths.into_iter().zip(batch.chunks_exact(class_count));
            for (document, ((names, weight, (group, key, words)), batch)) in rows.enumerate() {
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
                measured.see(labels.len(), key, words);
                measured.push_labels(known.iter().map(|class| class.to_le_bytes()));
                labels.push(known);
                weights.push(weight);
                if arguments.group.is_some() {
                    measured.groups.push(group);
                }
            }
        },
    )?;
    warn_bad_rows(&read);
    // A model that was asked for some classes only is expected not to know the others.
    if model.chose_classes() {
        unknown_labels.clear();
    }
    let mut notes = unknown_notes(&unknown_cells);
    let fate = ["is not measured", "are not measured"];
    notes.extend(unknown_label_notes(
        &unknown_labels,
        left_out,
        "model",
        fate,
    ));
    let otherwise = written_otherwise(&unknown_labels, model.class_names());
    if let Some(said) = &otherwise
        && labels.is_empty()
    {
        return Err(CliError::new(said).hint(WRITE_ALIKE));
    }
    notes.extend(otherwise.map(|said| format!("{said}; {WRITE_ALIKE}")));
    notes.iter().for_each(|note| warn(note));
    notes.extend(warn_known("the model", &known));
    let decided = plan.decide(&probabilities, Some(&weights[..]))?;
    if let Some(report) = &decided.report {
        show_prior(&arguments.file, report);
    }
    decided.apply(class_count, &mut probabilities);
    notes.extend(decided.report.as_ref().and_then(PriorReport::sentence));
    let class_names = model.class_names().map(str::to_owned).collect();
    let forecasts = Forecasts {
        task: model.task(),
        class_names,
        probabilities,
        labels: labels.into(),
        weights: Some(weights),
    };
    let forecasts = restricted(forecasts, &wanted);
    options.groups = measured.together();
    options.copies = measured.copied();
    let evaluation = evaluate_with(&forecasts, &options)?;
    if let Some(page) = &page {
        let notes = notes.iter().map(|note| format!("{note}."));
        let notes = notes
            .chain(copies_sentence(measured.copies(), COPIES))
            .collect();
        page.write(arguments, Some(&model), &forecasts, &evaluation, notes)?;
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
        stated_ends: None,
        prior: decided.report,
        copies: Some(measured.copies()),
        learned_from: known.learned_from(),
        other: OpenWorldReport::of(&open_forecasts),
        ledger,
    };
    write(arguments, &report)
}

fn options<'a>(
    arguments: &EvaluateArguments,
    task: Task,
    class_names: impl Iterator<Item = &'a str>,
) -> Result<EvaluationOptions, CliError> {
    Ok(EvaluationOptions {
        costs: arguments
            .costs
            .as_deref()
            .map(|given| costs::read(given, task, class_names))
            .transpose()?,
        bootstrap: (arguments.bootstrap != Some(0)).then(|| BootstrapSettings {
            replicates: arguments.bootstrap,
            ..BootstrapSettings::default()
        }),
        ..EvaluationOptions::default()
    })
}

fn write(arguments: &EvaluateArguments, report: &EvaluateReport) -> Result<(), CliError> {
    let mut out = stdout();
    if arguments.json {
        serde_json::to_writer(&mut out, report)?;
        writeln!(out)?;
    } else {
        show::show(&mut out, &report.evaluation, arguments.group.is_some())?;
        if let Some(said) = report.prior.as_ref().and_then(PriorReport::sentence) {
            writeln!(out, "\nMeasured as shifted: {said}.")?;
        }
        let further = report.evaluation.further.as_ref();
        let intervals = further.and_then(|further| further.bootstrap.as_ref());
        if arguments.bootstrap != Some(0) && intervals.is_none() {
            writeln!(
                out,
                "\nNo intervals: fewer than three groups, or groups of such different sizes, do not tell how much other ones would differ."
            )?;
        }
        if arguments.other.other.is_some() {
            open::show(&mut out, report.other.as_ref())?;
        }
        show_copies(&mut out, report.copies.unwrap_or(0), COPIES)?;
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
                numbers.map(|number| number as u32).collect::<Vec<u32>>()
            })
            .collect(),
        ..forecasts
    }
}
