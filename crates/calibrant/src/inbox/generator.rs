//! The inbox itself.

use super::letter::LetterWriter;
use super::urn::count;
use super::world::World;
use crate::numeric::Random;
use serde::{Deserialize, Serialize};

/// What kind of inbox to simulate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxSettings {
    /// How many messages to draw.
    pub message_count: usize,
    /// How little words come in bursts: with 10 a word that was used once is very
    /// likely to be used again, with 10,000 words are nearly independent.
    pub concentration: f64,
    /// The median number of words per message that depend on its class.
    pub median_words: f64,
}

impl Default for InboxSettings {
    fn default() -> Self {
        Self {
            message_count: 6_000,
            concentration: 30.0,
            median_words: 40.0,
        }
    }
}

/// The largest numbers of messages and of words per message: a simulation beyond them
/// is a slip of the keyboard.
const MOST_MESSAGES: usize = 1_000_000;
const MOST_WORDS: f64 = 1_000.0;

/// Why an inbox cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// Too many messages.
    #[error("{message_count} messages are too many to simulate; ask for at most {most}")]
    TooManyMessages {
        /// Messages asked for.
        message_count: usize,
        /// The largest number allowed.
        most: usize,
    },
    /// A setting is out of its range.
    #[error("{setting} is {value}; choose a number from {least} to {most}")]
    OutOfRange {
        /// The name of the setting.
        setting: &'static str,
        /// Its value.
        value: f64,
        /// The smallest value allowed.
        least: f64,
        /// The largest value allowed.
        most: f64,
    },
}

/// One simulated message and the truth about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulatedMessage {
    /// The letter.
    pub text: String,
    /// The class it was drawn from.
    pub label: usize,
    /// The natural logarithm of every class's true probability given the letter.
    pub true_log_probabilities: Vec<f64>,
}

/// A simulated inbox of support mail: see [the module](super).
///
/// Classes, vocabulary and word frequencies are the same for every seed; the seed
/// decides which messages are drawn. Equal settings and seeds give equal inboxes.
///
/// ```
/// use calibrant::inbox::{InboxSettings, SimulatedInbox};
/// let settings = InboxSettings { message_count: 10, ..InboxSettings::default() };
/// let inbox = SimulatedInbox::new(&settings, 1)?;
/// let message = &inbox.messages[0];
/// let total: f64 = message.true_log_probabilities.iter().map(|ln_p| ln_p.exp()).sum();
/// assert!((total - 1.0).abs() < 1e-12);
/// assert!(message.label < inbox.class_names.len());
/// # Ok::<(), calibrant::inbox::SimulateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulatedInbox {
    /// The classes, in the order of the true probabilities.
    pub class_names: Vec<String>,
    /// The messages, in the order they came in.
    pub messages: Vec<SimulatedMessage>,
}

impl SimulatedInbox {
    /// Draws an inbox.
    pub fn new(settings: &InboxSettings, seed: u64) -> Result<Self, SimulateError> {
        check(settings)?;
        let world = World::new(settings.concentration);
        let writer = LetterWriter::new();
        let mut random = Random::from_seed(seed);
        let messages = (0..settings.message_count)
            .map(|_| draw_message(&world, &writer, settings, &mut random))
            .collect();
        Ok(Self {
            class_names: world.class_names,
            messages,
        })
    }
}

fn check(settings: &InboxSettings) -> Result<(), SimulateError> {
    if settings.message_count > MOST_MESSAGES {
        return Err(SimulateError::TooManyMessages {
            message_count: settings.message_count,
            most: MOST_MESSAGES,
        });
    }
    let in_range = |setting, value: f64, least: f64, most: f64| {
        if (least..=most).contains(&value) {
            Ok(())
        } else {
            Err(SimulateError::OutOfRange {
                setting,
                value,
                least,
                most,
            })
        }
    };
    in_range("concentration", settings.concentration, 0.01, 1e9)?;
    in_range("median_words", settings.median_words, 1.0, MOST_WORDS / 4.0)
}

fn draw_message(
    world: &World,
    writer: &LetterWriter,
    settings: &InboxSettings,
    random: &mut Random,
) -> SimulatedMessage {
    let label = world.draw_class(random);
    // The length is drawn without looking at the class, so it tells nothing about it.
    let length = settings.median_words * (0.5 * random.normal()).exp();
    let length = length.round().clamp(3.0, MOST_WORDS) as usize;
    let drawn = world.urns[label].draw(length, random);
    let words: Vec<_> = drawn
        .iter()
        .map(|&word| {
            let (text, part) = &world.words[word as usize];
            (text.as_str(), *part)
        })
        .collect();
    SimulatedMessage {
        text: writer.write(&words, random),
        label,
        true_log_probabilities: world.ln_posterior(&count(&drawn)),
    }
}

#[cfg(test)]
mod tests;
