//! The documents that systems are compared on, with what models say about them.

use std::collections::BTreeSet;

use calibrant::Probability;
use calibrant::corpus::{
    Document, Fields, LabelNeed, ReadSummary, Source, field_names, read_batches,
};
use calibrant::evaluation::TestSetHash;
use calibrant::features::term_hash;
use calibrant::pipeline::{Acquaintance, Model, PredictBuffers, TestDocuments, leading_words};

use super::{Question, System};
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::progress::TerminalProgress;

/// What was read of the test set.
#[derive(Default)]
pub(super) struct TestSet {
    pub(super) labels: Vec<Vec<String>>,
    pub(super) weights: Vec<f64>,
    pub(super) ids: Vec<Option<String>>,
    /// Which documents belong together.
    pub(super) documents: TestDocuments,
    /// Whether labels came as lists.
    pub(super) any_list: bool,
    pub(super) hash: TestSetHash,
    pub(super) bad_rows: u64,
    /// By system, how many documents a model had learned from.
    pub(super) known: Vec<Acquaintance>,
    /// By system, then by document and class; empty for files of probabilities.
    pub(super) predictions: Vec<Vec<Probability>>,
}

impl TestSet {
    /// All labels that occur, in order.
    pub(super) fn label_names(&self) -> Vec<String> {
        let names: BTreeSet<&String> = self.labels.iter().flatten().collect();
        names.into_iter().cloned().collect()
    }
}

/// Reads the test set once for every way in which models read text, and predicts along the way.
pub(super) fn read(arguments: &Question<'_>, systems: &[System]) -> Result<TestSet, CliError> {
    let source = input::source(arguments.file);
    let models: Vec<(usize, &Model)> = systems
        .iter()
        .enumerate()
        .filter_map(|(number, system)| Some((number, system.model.as_ref()?)))
        .collect();
    check_labels(arguments, systems)?;
    let mut test_set = TestSet {
        predictions: vec![Vec::new(); systems.len()],
        known: vec![Acquaintance::default(); systems.len()],
        ..TestSet::default()
    };
    let remembered = models.first().map(|(_, model)| model.fields().clone());
    let common = Fields {
        group: arguments.group.map(str::to_owned),
        ..arguments.reading.fields(&remembered.unwrap_or_default())
    };
    // Tables are joined by the test set's `id` where it has one.
    let own_id = models.len() < systems.len();
    // Models that read the same fields share one pass over the file.
    let mut passes: Vec<(Fields, Vec<(usize, &Model)>)> = Vec::new();
    for &(number, model) in &models {
        let own = arguments.reading.fields(model.fields());
        let fields = Fields {
            text: own.text,
            numeric: own.numeric,
            categorical: own.categorical,
            asked: own.asked,
            ..common.clone()
        };
        match passes.iter_mut().find(|(known, _)| *known == fields) {
            Some((_, members)) => members.push((number, model)),
            None => passes.push((fields, vec![(number, model)])),
        }
    }
    if passes.is_empty() {
        let text = text_without_models(arguments, &source, &common);
        passes.push((Fields { text, ..common }, Vec::new()));
    }
    if passes.len() > 1 && !source.can_be_read_again() {
        return Err(CliError::new(
            "the models read different fields, and standard input can be read only once",
        )
        .hint("name the text fields with --text, or give the test set as a file"));
    }
    for (number, (fields, models)) in passes.into_iter().enumerate() {
        let summary = one_pass(
            arguments,
            &source,
            (fields, own_id),
            &models,
            &mut test_set,
            number == 0,
        )
        .map_err(|error| swapped_hint(arguments, error))?;
        if number == 0 {
            warn_bad_rows(&summary);
            test_set.bad_rows = summary.bad_row_count;
        } else if summary.rows != test_set.labels.len() as u64 {
            return Err(CliError::new(format!(
                "the models read different numbers of documents: {} and {}",
                test_set.labels.len(),
                summary.rows
            ))
            .hint("do without --skip-bad-rows, or name the text fields with --text"));
        }
    }
    Ok(test_set)
}

/// Models that learned from different label fields have no truth in common until one is named.
fn check_labels(arguments: &Question<'_>, systems: &[System]) -> Result<(), CliError> {
    if arguments.reading.label.is_some() {
        return Ok(());
    }
    let mut fields = systems
        .iter()
        .filter_map(|system| Some((&system.name, system.model.as_ref()?.fields().label_name())));
    let Some((first, label)) = fields.next() else {
        return Ok(());
    };
    match fields.find(|(_, other)| *other != label) {
        Some((second, other)) => Err(CliError::new(format!(
            "`{first}` learned the field `{label}` and `{second}` the field `{other}`"
        ))
        .hint("name the field with the truth by --label")),
        None => Ok(()),
    }
}

/// Without models nobody reads the text, but it tells this test set from others. Where the file has
/// no such field, the labels alone must do.
fn text_without_models(arguments: &Question<'_>, source: &Source, common: &Fields) -> Vec<String> {
    if !common.text.is_empty() || !source.can_be_read_again() {
        return common.text.clone();
    }
    match field_names(source, arguments.reading.format) {
        Ok(names) if !names.is_empty() && !names.iter().any(|name| name == "text") => {
            vec![common.label_name().to_owned()]
        }
        _ => Vec::new(),
    }
}

fn one_pass(
    arguments: &Question<'_>,
    source: &Source,
    (fields, own_id): (Fields, bool),
    models: &[(usize, &Model)],
    test_set: &mut TestSet,
    first: bool,
) -> Result<ReadSummary, CliError> {
    let mut options = arguments.reading.options(fields, LabelNeed::Required);
    options.own_id = own_id;
    let predict = |documents: Vec<Document>| {
        let predictions: Vec<(Vec<Probability>, Acquaintance, Vec<u128>)> = models
            .iter()
            .map(|(_, model)| {
                let mut buffers = PredictBuffers::default();
                let class_count = model.class_count();
                let even = Probability::from_log_odds(0.0);
                let mut predictions = vec![even; documents.len() * class_count];
                let rows = predictions.chunks_exact_mut(class_count.max(1));
                let mut known = Acquaintance::default();
                let mut keys = Vec::with_capacity(documents.len());
                for (document, classes) in documents.iter().zip(rows) {
                    model.predict_into(&document.content, &mut buffers, classes);
                    keys.push(model.count_known(&document.content, &mut buffers, &mut known));
                }
                (predictions, known, keys)
            })
            .collect();
        let hash = TestSetHash::of(&documents);
        let words: Vec<u8> = documents
            .iter()
            .map(|d| leading_words(&d.content))
            .collect();
        // The text is not kept.
        let truths: Vec<_> = documents
            .into_iter()
            .map(|d| {
                let group = d.group.map(|group| term_hash(group.as_bytes()));
                (d.labels, d.labels_were_list, d.weight, d.id, group)
            })
            .collect();
        (predictions, hash, truths, words)
    };
    let mut before = 0;
    let summary = read_batches(
        source,
        &options,
        &TerminalProgress::default(),
        predict,
        |(predictions, hash, truths, words)| {
            for ((number, _), (predictions, known, keys)) in models.iter().zip(predictions) {
                test_set.predictions[*number].extend(predictions);
                test_set.known[*number].merge(&known);
                for (document, (key, &words)) in (before..).zip(keys.into_iter().zip(&words)) {
                    test_set.documents.see(document, key, words);
                }
            }
            before += truths.len();
            if first {
                test_set.hash.merge(hash);
                for (labels, is_list, weight, id, group) in truths {
                    if arguments.group.is_some() {
                        test_set.documents.groups.push(group);
                    }
                    test_set.any_list |= is_list;
                    test_set.documents.push_labels(&labels);
                    test_set.labels.push(labels);
                    test_set.weights.push(weight);
                    test_set.ids.push(id.filter(|id| !id.is_empty()));
                }
            }
        },
    )?;
    Ok(summary)
}

/// `evaluate` takes the model first, so that this mistake is a likely one.
fn swapped_hint(arguments: &Question<'_>, error: CliError) -> CliError {
    if Model::open(std::path::Path::new(arguments.file)).is_ok() {
        CliError::new(format!("`{}` is a model, not a test set", arguments.file))
            .hint(arguments.order)
    } else {
        error
    }
}
