//! The most confidently wrong answers, as texts.

use super::html::{measure, paragraph, section};
use crate::plot::{Block, Section};

/// A document whose answer is wrong although the model was sure.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WorstMistake {
    /// The identifier, where the file has one.
    pub id: Option<String>,
    /// Where the row starts in its file, counting from 1.
    pub line: u64,
    /// Which row of its file it is, as predictions number them; 0 for a document of no file.
    pub row: u64,
    /// What was stated: a class, or `not` and a class that the document has.
    pub stated: String,
    /// The probability that was stated for that.
    pub probability: f64,
    /// The true labels.
    pub truth: Vec<String>,
    /// The beginning of the text; empty where it is left out, and where there is none.
    pub text: String,
    /// The terms that spoke for what was stated, the strongest first.
    pub words: Vec<String>,
}

impl WorstMistake {
    /// A mistake without its text.
    pub fn new(stated: String, probability: f64, truth: Vec<String>) -> Self {
        Self {
            id: None,
            line: 1,
            row: 0,
            stated,
            probability,
            truth,
            text: String::new(),
            words: Vec::new(),
        }
    }
}

/// A stated probability: 0.9997 is not 1.
fn stated(probability: f64) -> String {
    match probability {
        p if p > 0.9999 => "above 0.9999".to_owned(),
        p => measure(p),
    }
}

pub(super) fn worst_mistakes(mistakes: &[WorstMistake]) -> Option<Section> {
    if mistakes.is_empty() {
        return None;
    }
    let mut blocks = vec![paragraph(
        "The wrong answers of which the model was surest. Look at them first: often the label is wrong, or the text is of a kind that the \
         training documents did not have.",
    )];
    for mistake in mistakes {
        let which = match (&mistake.id, mistake.row) {
            (Some(id), _) if !id.trim().is_empty() => id.clone(),
            (_, 0) => format!("line {}", mistake.line),
            (_, row) => format!("row {row} (line {})", mistake.line),
        };
        let truth = match mistake.truth.as_slice() {
            [] => "none of the labels".to_owned(),
            labels => labels.join(", "),
        };
        let mut said = format!(
            "{which}: stated “{}” with probability {}; true: “{truth}”.",
            mistake.stated,
            stated(mistake.probability)
        );
        if !mistake.words.is_empty() {
            said.push_str(&format!(" For it spoke: {}.", mistake.words.join(", ")));
        }
        blocks.push(paragraph(said));
        if !mistake.text.is_empty() {
            blocks.push(Block::Quotation(mistake.text.clone()));
        }
    }
    Some(section("The surest mistakes", blocks))
}
