//! Which labels of the training documents are probably wrong, and how many of them really are.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{DocumentKey, DocumentKeys, FitJobError, FittedModel, Trainer};
use crate::Task;
use crate::corpus::{Content, Document, ReadError, ReadOptions, Source, read_batches};
use crate::decision::{Suspects, suspect_labels};
use crate::parallel;
use crate::pipeline::{FitSettings, HeldOutForecasts, Model};
use crate::text::FIELD_BREAK;
use crate::{CalibrationError, Progress};

/// What is asked of a list of suspect labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SuspectSettings {
    /// At most so many, the most suspect first; `None` lists all labels that are less probable than another one.
    pub most: Option<usize>,
    /// At most so many words for each.
    pub words: usize,
    /// Texts are cut after so many characters; `None` keeps them whole.
    pub text: Option<usize>,
}

impl Default for SuspectSettings {
    fn default() -> Self {
        Self {
            most: None,
            words: 5,
            text: None,
        }
    }
}

/// A label that is probably wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuspectLabel {
    /// Which document.
    #[serde(flatten)]
    pub key: DocumentKey,
    /// The line of the file where it begins (the number of its row in Parquet).
    pub line: u64,
    /// Its label; with several labels per document `not LABEL` where the document lacks it.
    pub given: String,
    /// What is likelier.
    pub likely: String,
    /// The probability of what was given, by a model that did not learn from this document.
    pub given_probability: f64,
    /// That of what is likelier.
    pub likely_probability: f64,
    /// How many rows of the file say the same.
    pub copies: u32,
    /// The terms that speak for the likelier label and against the given one, the strongest first.
    pub words: Vec<String>,
    /// The text of the document.
    pub text: String,
}

/// Labels that are probably wrong, the most suspect first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuspectList {
    /// One label per document or several.
    pub task: Task,
    /// Rows that were learned from, copies included.
    pub rows: usize,
    /// Different documents among them, by content and labels.
    pub documents: usize,
    /// Labels, given or lacking, that are less probable than another one. Copies count once.
    pub doubted: usize,
    /// About how many of the listed are wrong at most, by the model's own count: the sum of what it gives to other labels. No bound, since its probabilities are calibrated to labels some of which are wrong.
    pub at_most: f64,
    /// The listed ones.
    pub suspects: Vec<SuspectLabel>,
}

/// One suspect by numbers.
struct Doubt {
    row: usize,
    given: usize,
    likely: usize,
    /// With several labels: whether the document has the label.
    has: Option<bool>,
    given_probability: f64,
    likely_probability: f64,
}

/// Fits a model and lists the labels that held-out probabilities make doubtful. The source is read twice.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::corpus::{ReadOptions, Source};
/// use calibrant::jobs::{SuspectSettings, find_suspects};
/// use calibrant::pipeline::FitSettings;
/// let mut table = String::from("label,text\n");
/// for number in 0..60 {
///     let (label, text) = [("ham", "see you at noon"), ("spam", "win big money")][number % 2];
///     let label = if number == 7 { "ham" } else { label };
///     table += &format!("{label},{text} {number}\n");
/// }
/// let mail = Source::bytes("mail.csv", table.into_bytes());
/// let (_, found) = find_suspects(
///     &mail, &ReadOptions::default(), &FitSettings::default(), &SuspectSettings::default(), &NoProgress,
/// )?;
/// let worst = &found.suspects[0];
/// assert_eq!((worst.line, worst.given.as_str(), worst.likely.as_str()), (9, "ham", "spam"));
/// assert!(worst.words.contains(&"money".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find_suspects(
    source: &Source,
    options: &ReadOptions,
    settings: &FitSettings,
    wanted: &SuspectSettings,
    progress: &dyn Progress,
) -> Result<(FittedModel, SuspectList), FitJobError> {
    if !source.can_be_read_again() {
        let file = source.name();
        return Err(ReadError::ReadBefore { file }.into());
    }
    let mut trainer = Trainer::new(settings.clone(), options.fields.clone())?;
    let read = trainer.add_source(source, options, progress)?;
    let (model, held_out) = trainer.fit_keeping_forecasts(progress)?;
    let doubts = doubts(&held_out).map_err(crate::FitError::from)?;
    let most = wanted.most.unwrap_or(usize::MAX).min(doubts.len());
    let listed = &doubts[..most];
    let documents = read_listed(source, options, listed, &held_out, progress)?;
    let describe = |doubt: &Doubt| {
        let row = held_out.rows[doubt.row];
        let (key, document) = documents.get(&row)?;
        Some(describe(&model, doubt, &held_out, key, document, wanted))
    };
    let suspects = parallel::map(listed, describe);
    let suspects = suspects.into_iter().flatten().collect();
    let list = SuspectList {
        task: model.task(),
        rows: model.summary().documents,
        documents: held_out.rows.len(),
        doubted: doubts.len(),
        at_most: listed
            .iter()
            .map(|doubt| 1.0 - doubt.given_probability)
            .sum(),
        suspects,
    };
    let fitted = FittedModel {
        model,
        read,
        search: None,
    };
    Ok((fitted, list))
}

/// All labels that are less probable than another one, the most suspect first.
fn doubts(held_out: &HeldOutForecasts) -> Result<Vec<Doubt>, CalibrationError> {
    let forecasts = &held_out.forecasts;
    let probabilities: Vec<f64> = forecasts.probabilities.iter().map(|p| p.value()).collect();
    let classes = forecasts.class_names.len();
    if forecasts.task == Task::MultiLabel {
        let found = suspect_labels(&probabilities, classes, &forecasts.labels)?;
        return Ok(found
            .into_iter()
            .map(|suspect| Doubt {
                row: suspect.row,
                given: suspect.label as usize,
                likely: suspect.label as usize,
                has: Some(suspect.given),
                given_probability: suspect.given_probability,
                likely_probability: 1.0 - suspect.given_probability,
            })
            .collect());
    }
    let labels = forecasts.labels.iter();
    let labels: Vec<u32> = labels.filter_map(|row| row.first().copied()).collect();
    let found = Suspects::find(&probabilities, classes, &labels)?;
    let doubted = found
        .ranked()
        .iter()
        .filter(|suspect| suspect.other_probability > suspect.given_probability);
    Ok(doubted
        .map(|suspect| Doubt {
            row: suspect.row,
            given: suspect.given as usize,
            likely: suspect.other as usize,
            has: None,
            given_probability: suspect.given_probability,
            likely_probability: suspect.other_probability,
        })
        .collect())
}

/// The documents behind the listed labels, by the number of their row.
fn read_listed(
    source: &Source,
    options: &ReadOptions,
    listed: &[Doubt],
    held_out: &HeldOutForecasts,
    progress: &dyn Progress,
) -> Result<HashMap<u32, (DocumentKey, Document)>, ReadError> {
    let wanted: std::collections::HashSet<u32> = listed
        .iter()
        .map(|doubt| held_out.rows[doubt.row])
        .collect();
    let options = ReadOptions {
        own_id: true,
        ..options.clone()
    };
    let mut keys = DocumentKeys::new(options.fields.asks_for_id());
    let mut found = HashMap::new();
    let mut row = 0;
    read_batches(
        source,
        &options,
        progress,
        |documents| documents,
        |documents: Vec<Document>| {
            for mut document in documents {
                let key = keys.next(document.id.take(), document.row);
                if wanted.contains(&row) {
                    found.insert(row, (key, document));
                }
                row += 1;
            }
        },
    )?;
    Ok(found)
}

fn describe(
    model: &Model,
    doubt: &Doubt,
    held_out: &HeldOutForecasts,
    key: &DocumentKey,
    document: &Document,
    wanted: &SuspectSettings,
) -> SuspectLabel {
    let names = &held_out.forecasts.class_names;
    let own = |class: usize| names[class].clone();
    let lacking = |class: usize| format!("not {}", names[class]);
    let (given, likely) = match doubt.has {
        None => (own(doubt.given), own(doubt.likely)),
        Some(true) => (own(doubt.given), lacking(doubt.given)),
        Some(false) => (lacking(doubt.given), own(doubt.given)),
    };
    SuspectLabel {
        key: key.clone(),
        line: document.line,
        given,
        likely,
        given_probability: doubt.given_probability,
        likely_probability: doubt.likely_probability,
        copies: held_out.copies[doubt.row],
        words: words_for(model, &document.content, doubt, wanted.words),
        text: shown(&document.content, wanted.text),
    }
}

/// The terms that speak for the likelier label and against the given one, by the model of all documents.
fn words_for(model: &Model, content: &Content, doubt: &Doubt, most: usize) -> Vec<String> {
    let mut parts: HashMap<String, f64> = HashMap::new();
    let mut add = |class: usize, sign: f64| {
        for term in model.explain(content, class).terms {
            *parts.entry(term.term).or_default() += sign * term.log_odds;
        }
    };
    match doubt.has {
        Some(true) => add(doubt.given, -1.0),
        Some(false) => add(doubt.given, 1.0),
        None => {
            add(doubt.likely, 1.0);
            add(doubt.given, -1.0);
        }
    }
    let mut parts: Vec<(String, f64)> = parts.into_iter().filter(|part| part.1 > 0.0).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    parts.truncate(most);
    parts.into_iter().map(|(term, _)| term).collect()
}

/// The text in one line, cut where it is too long.
fn shown(content: &Content, most: Option<usize>) -> String {
    let text = content.as_text().unwrap_or_default();
    let mut line = String::with_capacity(text.len());
    for part in text.split(FIELD_BREAK) {
        let words: Vec<&str> = part.split_whitespace().collect();
        if !words.is_empty() {
            line += if line.is_empty() { "" } else { " | " };
            line += &words.join(" ");
        }
    }
    match most {
        Some(most) if line.chars().count() > most => {
            let kept: String = line.chars().take(most).collect();
            format!("{}…", kept.trim_end())
        }
        _ => line,
    }
}
