//! Which answers are wrong although the model was sure?

use crate::corpus::{ContentRef, Document};
use crate::evaluation::Forecasts;
use crate::pipeline::Model;
use crate::report::WorstMistake;
use crate::{Probability, Task};

/// Characters of a text that are shown.
const SHOWN_CHARACTERS: usize = 320;
/// Terms that are shown.
const SHOWN_WORDS: usize = 6;

/// The decision about a document that is wrong with the most confidence: the class, and the log-odds of what was decided. `None` where
/// everything is right.
pub(in crate::jobs) fn surest_mistake(
    task: Task,
    classes: &[Probability],
    labels: &[u32],
) -> Option<(usize, f64)> {
    let has = |class: usize| labels.contains(&(class as u32));
    let stated = classes.iter().map(|p| p.log_odds()).enumerate();
    match task {
        Task::SingleLabel => {
            let top = stated.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
            (!has(top.0)).then_some(top)
        }
        Task::MultiLabel => {
            let wrong = stated.filter(|(class, log_odds)| (*log_odds > 0.0) != has(*class));
            let wrong = wrong.map(|(class, log_odds)| (class, log_odds.abs()));
            wrong.reduce(|best, next| if next.1 > best.1 { next } else { best })
        }
    }
}

/// The surest mistakes of the forecasts, of these documents by their places, the surest first.
pub(super) fn worst_mistakes(
    model: &Model,
    forecasts: &Forecasts,
    wanted: &[usize],
    documents: &[(usize, Document)],
    most: usize,
) -> Vec<WorstMistake> {
    let width = forecasts.class_names.len();
    let mut found: Vec<(f64, &Document, usize, usize)> = Vec::new();
    for (place, document) in documents {
        let row = &forecasts.probabilities[place * width..][..width];
        let labels = &forecasts.labels[*place];
        if let Some((class, log_odds)) = surest_mistake(forecasts.task, row, labels) {
            found.push((log_odds, document, *place, class));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
    found.truncate(most);
    let told = found.into_iter().map(|(log_odds, document, place, class)| {
        let labels = &forecasts.labels[place];
        let names = labels
            .iter()
            .map(|&label| &forecasts.class_names[label as usize]);
        let missed = labels.contains(&(class as u32));
        let name = &forecasts.class_names[class];
        let stated = match missed {
            true => format!("not {name}"),
            false => name.clone(),
        };
        let probability = Probability::from_log_odds(log_odds).value();
        WorstMistake {
            id: document.id.clone(),
            line: document.line,
            row: document.row,
            text: beginning(document),
            words: words(model, document, wanted[class], missed),
            ..WorstMistake::new(stated, probability, names.cloned().collect())
        }
    });
    told.collect()
}

/// The first characters of a text, in one piece.
fn beginning(document: &Document) -> String {
    let content = ContentRef::from(document);
    let text = content.as_text().unwrap_or_default();
    let is_space = |c: char| c.is_whitespace() || c.is_control();
    let mut shown = String::new();
    let mut count = 0;
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if count > 0 {
            shown.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= SHOWN_CHARACTERS {
                shown.push('…');
                return shown;
            }
            shown.push(character);
            count += 1;
        }
    }
    shown
}

/// The terms that spoke for a class, or against one that was missed.
fn words(model: &Model, document: &Document, class: usize, missed: bool) -> Vec<String> {
    let told = model.explain(document, class);
    let spoke = told.terms.into_iter().filter(|term| match missed {
        true => term.log_odds < 0.0,
        false => term.log_odds > 0.0,
    });
    spoke.take(SHOWN_WORDS).map(|term| term.term).collect()
}
