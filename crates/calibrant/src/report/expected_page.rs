//! What probabilities promise of documents without labels, as a page for a browser.

use super::answers::{AnsweredShares, DecisionCurve};
use super::decisions_page::{answered, decision_curves};
use super::first_screen::accuracy;
use super::html::{measure, paragraph, per_cent, section, whole};
use crate::plot::{Block, Section, Table, page};

/// Classes with a decision curve, the most expected ones.
const MOST_CURVES: usize = 4;
/// Rows of the table of classes.
const MOST_ROWS: usize = 300;

/// What a page about documents without labels shows.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedPage<'a> {
    /// The heading.
    pub title: &'a str,
    /// What was read, when and by which version, in a sentence.
    pub made: &'a str,
    /// What the reader should not miss.
    pub notes: &'a [String],
    /// How many documents there are.
    pub documents: usize,
    /// How many wrong decisions are expected, and the standard deviation of their number.
    pub errors: (f64, f64),
    /// The accuracy on held-out documents of the fit, where it is known.
    pub held_out_accuracy: Option<f64>,
    /// How often the surest answers are expected to be right.
    pub answers: &'a AnsweredShares,
    /// What acting on each class is expected to be worth.
    pub decision_curves: &'a [DecisionCurve],
    /// Each class with how many documents are given it, and how many are expected to have it.
    pub classes: &'a [(String, usize, f64)],
}

/// Why all of this may be wrong, and what to do about it.
const HOLDS: &str = "All of this is what the probabilities promise; no label was read. It holds as long as the model is calibrated for these documents: where their kind has \
     changed, it may not be. Label some of them, drawn at random, and measure; where the promise is not kept, recalibrate the model with those labels.";

impl ExpectedPage<'_> {
    /// The page. Equal promises give equal pages.
    pub fn to_html(&self) -> String {
        let mut sections = vec![self.in_short(), answered(self.answers, false)];
        let mut order: Vec<usize> =
            (0..self.classes.len().min(self.decision_curves.len())).collect();
        order.sort_by(|&a, &b| self.classes[b].2.total_cmp(&self.classes[a].2));
        let curves = order.iter().take(MOST_CURVES);
        let curves: Vec<DecisionCurve> = curves
            .map(|&class| self.decision_curves[class].clone())
            .collect();
        let of_all = curves.len() == self.classes.len();
        sections.push(decision_curves(&curves, of_all));
        sections.push(self.class_table(&order));
        page(self.title, &sections)
    }

    fn in_short(&self) -> Section {
        let mut numbers = vec![("documents".to_owned(), whole(self.documents))];
        let mut blocks = vec![paragraph(self.made)];
        if let Some(all) = self.answers.whole() {
            numbers.push((
                "answers expected to be right".to_owned(),
                per_cent(all.stated),
            ));
        }
        let errors = format!("{:.0} ± {:.0}", self.errors.0, self.errors.1);
        numbers.push(("mistakes expected".to_owned(), errors));
        let advice = self.answers.advice();
        let advice = advice.and_then(|advice| Some((advice, advice.answered?, advice.threshold?)));
        if let Some((target, share, _)) = advice {
            let name = format!(
                "can be answered by machine at {}",
                accuracy(target.accuracy)
            );
            numbers.push((name, per_cent(share)));
        }
        blocks.push(Block::Numbers(numbers));
        if let (Some(all), Some(before)) = (self.answers.whole(), self.held_out_accuracy) {
            let beside = match all.stated - before {
                less if less < -0.03 => {
                    "These documents look harder than those that the model learned from"
                }
                more if more > 0.03 => {
                    "These documents look easier than those that the model learned from"
                }
                _ => "These documents look about as hard as those that the model learned from",
            };
            blocks.push(paragraph(format!(
                "{beside}: {} of the answers are expected to be right, {} were on the held-out documents of the fit.",
                per_cent(all.stated),
                per_cent(before)
            )));
        }
        if let Some((target, share, threshold)) = advice {
            let left = ((1.0 - share) * self.documents as f64).round() as usize;
            blocks.push(paragraph(format!(
                "Answer {} of the documents by machine, those with a probability of {} or more: {} of these answers can be expected to be right. The other {} deserve a \
                 look by a person.",
                per_cent(share),
                measure(threshold),
                accuracy(target.accuracy),
                whole(left)
            )));
        }
        blocks.push(paragraph(HOLDS));
        blocks.extend(self.notes.iter().map(paragraph));
        section("In short", blocks)
    }

    fn class_table(&self, order: &[usize]) -> Section {
        let row = |&class: &usize| {
            let (name, decided, expected) = &self.classes[class];
            vec![name.clone(), whole(*decided), format!("{expected:.1}")]
        };
        let header = [
            "class",
            "documents given it",
            "documents expected to have it",
        ];
        section(
            "Class by class",
            vec![Block::Table(Table {
                caption: "By the probabilities alone.".to_owned(),
                header: header.map(str::to_owned).to_vec(),
                rows: order.iter().take(MOST_ROWS).map(row).collect(),
            })],
        )
    }
}
