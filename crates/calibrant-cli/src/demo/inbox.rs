//! Simulated mail as training documents and as a test with its truth.

use calibrant::corpus::{Content, Document};
use calibrant::evaluation::Forecasts;
use calibrant::inbox::{InboxSettings, SimulatedInbox};
use calibrant::numeric::log_odds_against_rest;
use calibrant::{Probability, RowLabels, Task};

use crate::error::CliError;

/// Letters to learn from: few enough for an answer within some seconds, and four times as many as are tested on, so that what is seen
/// in the test is how good the probabilities are rather than which letters the curves were drawn from.
pub(super) const TRAINING_LETTERS: usize = 12_000;
/// Others to test on: enough for every bin of the tables.
pub(super) const TEST_LETTERS: usize = 3_000;

/// Draws letters. They are longer and their words come in stronger bursts than usual, so that naive
/// Bayes deceives itself about as much as on newswire.
fn draw(message_count: usize, seed: u64) -> Result<SimulatedInbox, CliError> {
    let settings = InboxSettings {
        message_count,
        concentration: 25.0,
        median_words: 80.0,
    };
    SimulatedInbox::new(&settings, seed).map_err(|error| CliError::new(error.to_string()))
}

/// Labelled letters, as a file would give them.
pub(super) fn training_documents(seed: u64) -> Result<Vec<Document>, CliError> {
    let SimulatedInbox {
        class_names,
        messages,
    } = draw(TRAINING_LETTERS, seed)?;
    Ok(messages
        .into_iter()
        .zip(1..)
        .map(|(message, line)| Document {
            line,
            ..Document::new(message.text).label(class_names[message.label].clone())
        })
        .collect())
}

/// Letters that no model has seen, with their true probabilities as forecasts.
pub(super) struct TestInbox {
    pub(super) letters: Vec<Content>,
    pub(super) truth: Forecasts,
}

impl TestInbox {
    /// Drawn with another seed than the training letters of the same `seed`. Classes come in the
    /// order of their names, as in a fitted model.
    pub(super) fn new(seed: u64) -> Result<Self, CliError> {
        let SimulatedInbox {
            class_names,
            messages,
        } = draw(TEST_LETTERS, !seed)?;
        let mut order: Vec<usize> = (0..class_names.len()).collect();
        order.sort_by(|&a, &b| class_names[a].cmp(&class_names[b]));
        let mut letters = Vec::with_capacity(messages.len());
        let mut labels = RowLabels::new();
        let mut probabilities = Vec::with_capacity(messages.len() * order.len());
        let mut log_odds = vec![0.0; order.len()];
        for message in messages {
            letters.push(Content::Text(message.text));
            let place = order.iter().position(|&class| class == message.label);
            labels.push(place.map(|place| place as u32));
            log_odds_against_rest(&message.true_log_probabilities, &mut log_odds);
            let of_class = |&class: &usize| Probability::from_log_odds(log_odds[class]);
            probabilities.extend(order.iter().map(of_class));
        }
        Ok(Self {
            letters,
            truth: Forecasts {
                task: Task::SingleLabel,
                class_names: order
                    .iter()
                    .map(|&class| class_names[class].clone())
                    .collect(),
                probabilities,
                labels,
                weights: None,
            },
        })
    }

    /// The true probabilities of one letter.
    pub(super) fn truth_of(&self, letter: usize) -> &[Probability] {
        row(&self.truth, letter)
    }

    /// The class that one letter was drawn from.
    pub(super) fn label_of(&self, letter: usize) -> usize {
        self.truth.labels[letter]
            .first()
            .map_or(0, |&label| label as usize)
    }
}

/// The probabilities of one document.
pub(super) fn row(forecasts: &Forecasts, document: usize) -> &[Probability] {
    let class_count = forecasts.class_names.len();
    &forecasts.probabilities[document * class_count..(document + 1) * class_count]
}

/// The class with the largest probability, the first of equals.
pub(super) fn top_class(probabilities: &[Probability]) -> usize {
    (0..probabilities.len()).fold(0, |top, class| {
        if probabilities[class].log_odds() > probabilities[top].log_odds() {
            class
        } else {
            top
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_follows_its_class_when_classes_are_sorted() {
        let inbox = TestInbox::new(5).unwrap();
        assert!(inbox.truth.class_names.is_sorted());
        let drawn = draw(TEST_LETTERS, !5).unwrap();
        for (letter, message) in drawn.messages.iter().enumerate() {
            for (class, name) in inbox.truth.class_names.iter().enumerate() {
                let there = drawn.class_names.iter().position(|other| other == name);
                let expected = message.true_log_probabilities[there.unwrap()];
                let found = inbox.truth_of(letter)[class].ln();
                assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()));
            }
            let label = &inbox.truth.class_names[inbox.label_of(letter)];
            assert_eq!(label, &drawn.class_names[message.label]);
        }
    }

    #[test]
    fn no_letter_is_in_both_inboxes() {
        let seen: std::collections::HashSet<String> = training_documents(3)
            .unwrap()
            .into_iter()
            .filter_map(|document| document.content.as_text().map(str::to_owned))
            .collect();
        let test = TestInbox::new(3).unwrap();
        let texts = test.letters.iter().filter_map(Content::as_text);
        assert_eq!(texts.filter(|text| seen.contains(*text)).count(), 0);
    }
}
