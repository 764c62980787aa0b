//! From a bag of words to something that reads like a letter.
//!
//! Which sentences are chosen, who greets and who signs depends on the words' parts
//! of speech and on chance, never on the class. The letter therefore tells no more
//! about the class than its bag of words does, and the probabilities computed from
//! the bag stay exact.

use super::words::PartOfSpeech;
use crate::numeric::Random;

/// A word of the letter and what it may be used as.
pub(super) type Word<'a> = (&'a str, PartOfSpeech);

const GREETINGS: [&str; 8] = [
    "Hello,",
    "Hi there,",
    "Ahoy,",
    "Dear people of the helpdesk,",
    "Greetings,",
    "To whom it may concern,",
    "Hi again,",
    "Dear all,",
];

const CLOSINGS: [&str; 7] = [
    "Kind regards,",
    "All the best,",
    "Yours sincerely,",
    "Warm wishes,",
    "Cheers,",
    "Yours, from the sofa,",
    "Respectfully,",
];

const SIGNATURES: [&str; 16] = [
    "Amara",
    "Bogdan",
    "Chiara",
    "Dmitri",
    "Esperanza",
    "Farid",
    "Greta",
    "Hiroshi",
    "Ingrid",
    "Jamal",
    "Katarzyna",
    "Lorenzo",
    "Mbali",
    "Niamh",
    "Otto",
    "Priya",
];

/// Sentences with room for nouns `{n}`, verbs `{v}` and adjectives `{a}`. They are
/// neutral in tone: praise and complaint use the same ones.
const SENTENCES: [&str; 46] = [
    "I just wanted to {v} the {n} and the {n}.",
    "The {n} is {a}, and so is my {n}.",
    "Could you {v} the {n} for me?",
    "First came the {n}, then the {n}, and now the {n}.",
    "My aunt says that the {n} looks {a}.",
    "As you know, the {n} and the {n} go together like {n} and {n}.",
    "I would {v} the {n} myself, were it not for the {a} {n}.",
    "Please {v} my {n}.",
    "This is about my {n}, my {n} and my {n}.",
    "Whenever I {v}, the {n} becomes {a}.",
    "It is about the {a} {n} again.",
    "The {n} told the {n} to {v}.",
    "On Tuesday the {n} was {a}; today the {n} is {a} as well.",
    "I have seen many a {n}, but never one beside the {n}.",
    "Does your {n} always {v} like that?",
    "For the record: {n}, {n}, {n}, {n} and {n}.",
    "The {n} in the {n} on the {n} is {a}.",
    "Let us {v} and {v} until the {n} is {a}.",
    "Who knew that {n} could be so {a}?",
    "I showed the {n} to my parrot, who said \"{n}\".",
    "There is some {n} on my {n}.",
    "I {v}, therefore I am {a}.",
    "Somewhere between {n} and {n} there must be {a} {n}.",
    "Did anyone {v} the {a} {n}?",
    "Without {n} there is no {n}, as my uncle used to say.",
    "The {a} {n} and the {a} {n} are both mine.",
    "Now my {n} wants to {v} too.",
    "Perhaps the {n} has to do with the {n}.",
    "I dreamt of {n} and woke up with {n}.",
    "If the {n} could {v}, the {n} would too.",
    "We named it the {n} of {n}.",
    "My {n}? Rather {a}.",
    "Half of it is {n}, the rest is {n} with {n}.",
    "Regarding {n}: I did {v} it twice.",
    "And yes, {n} means {n} here.",
    "Behind the {a} {n} sits {a} {n}.",
    "Shall we {v}, {v} or {v}?",
    "One may {v} or {v}, but not both.",
    "I feel {a}, {a} and a bit {a}.",
    "To {v} or not to {v}, that is the {n}.",
    "You {v}, we {v}, and everybody is {a}.",
    "Just {v} it, they told me; just {v} the {n}.",
    "The manual says to {v}, then to {v}, then to {v} the {n}.",
    "Nobody can {v} so {a} a {n}.",
    "It took two of us to {v} and three to {v}.",
    "{n}, {n}, {n}: it rhymes if you hum it.",
];

/// What is left when no sentence fits any more, one word each.
const LAST_NOUN: &str = "Also: {n}.";
const LAST_VERB: &str = "Shall we {v}?";
const LAST_ADJECTIVE: &str = "All very {a}.";

/// Writes letters: the sentences above, cut at their gaps once and for all.
pub(super) struct LetterWriter {
    /// The last three take one word each, so that one of them always fits.
    sentences: Vec<Sentence>,
}

struct Sentence {
    pieces: Vec<Piece>,
    /// How many words of each part of speech it takes.
    needs: [usize; 3],
}

enum Piece {
    Text(&'static str),
    Gap(PartOfSpeech),
}

impl LetterWriter {
    pub(super) fn new() -> Self {
        let last = [LAST_NOUN, LAST_VERB, LAST_ADJECTIVE];
        Self {
            sentences: SENTENCES
                .iter()
                .chain(&last)
                .map(|text| Sentence::new(text))
                .collect(),
        }
    }

    /// Greeting, sentences that use every word exactly once, closing, signature.
    pub(super) fn write(&self, words: &[Word<'_>], random: &mut Random) -> String {
        let mut text = String::with_capacity(words.len() * 20 + 64);
        text.push_str(GREETINGS[random.below(GREETINGS.len())]);
        text.push_str("\n\n");
        // Every sentence is used once before any is used again, except the last three.
        let mut order: Vec<usize> = (0..SENTENCES.len()).collect();
        random.shuffle(&mut order);
        order.extend(SENTENCES.len()..self.sentences.len());
        let mut waiting = Waiting::new(words);
        let mut in_paragraph = 0;
        while let Some(place) = order
            .iter()
            .position(|&index| waiting.can_fill(&self.sentences[index]))
        {
            if in_paragraph > 0 {
                let break_here = in_paragraph >= 3 && random.below(2) == 0;
                text.push_str(if break_here { "\n\n" } else { " " });
                in_paragraph = if break_here { 0 } else { in_paragraph };
            }
            waiting.fill_into(&self.sentences[order[place]], &mut text);
            if place < SENTENCES.len() {
                order[place..SENTENCES.len()].rotate_left(1);
            }
            in_paragraph += 1;
        }
        text.push_str(if words.is_empty() { "" } else { "\n\n" });
        text.push_str(CLOSINGS[random.below(CLOSINGS.len())]);
        text.push('\n');
        text.push_str(SIGNATURES[random.below(SIGNATURES.len())]);
        text.push('\n');
        text
    }
}

impl Sentence {
    fn new(text: &'static str) -> Self {
        let mut sentence = Self {
            pieces: Vec::new(),
            needs: [0; 3],
        };
        for part in text.split_inclusive('}') {
            let Some((before, gap)) = part.split_once('{') else {
                sentence.pieces.push(Piece::Text(part));
                continue;
            };
            let part = match gap {
                "v}" => PartOfSpeech::Verb,
                "a}" => PartOfSpeech::Adjective,
                _ => PartOfSpeech::Noun,
            };
            sentence.needs[part as usize] += 1;
            sentence
                .pieces
                .extend([Piece::Text(before), Piece::Gap(part)]);
        }
        sentence
    }
}

/// The words that are still to be placed, by part of speech, first ones last.
struct Waiting<'a> {
    words: [Vec<&'a str>; 3],
}

impl<'a> Waiting<'a> {
    fn new(words: &[Word<'a>]) -> Self {
        let mut waiting = Self {
            words: [Vec::new(), Vec::new(), Vec::new()],
        };
        for &(word, part) in words.iter().rev() {
            waiting.words[part as usize].push(word);
        }
        waiting
    }

    fn can_fill(&self, sentence: &Sentence) -> bool {
        sentence
            .needs
            .iter()
            .zip(&self.words)
            .all(|(&needed, words)| needed <= words.len())
    }

    fn fill_into(&mut self, sentence: &Sentence, text: &mut String) {
        let start = text.len();
        for piece in &sentence.pieces {
            text.push_str(match piece {
                Piece::Text(piece) => piece,
                Piece::Gap(part) => self.words[*part as usize].pop().unwrap_or_default(),
            });
        }
        if let Some(first) = text.get_mut(start..start + 1) {
            first.make_ascii_uppercase();
        }
    }
}

/// All words of the fixed parts of letters, in lower case.
pub(super) fn fixed_words() -> impl Iterator<Item = String> {
    let fixed = GREETINGS
        .iter()
        .chain(&CLOSINGS)
        .chain(&SIGNATURES)
        .chain(&SENTENCES);
    fixed
        .chain(&[LAST_NOUN, LAST_VERB, LAST_ADJECTIVE])
        .flat_map(|text| Sentence::new(text).pieces)
        .filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Gap(_) => None,
        })
        .flat_map(|text| text.split(|character: char| !character.is_alphabetic()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sentences_are_cut_at_their_gaps() {
        let kinds: Vec<String> = Sentence::new("The {n} is {a}.")
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.to_string(),
                Piece::Gap(part) => format!("{part:?}"),
            })
            .collect();
        assert_eq!(kinds, ["The ", "Noun", " is ", "Adjective", "."]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_word_is_used_exactly_once(kinds in proptest::collection::vec(0usize..3, 0..60), seed in any::<u64>()) {
            use PartOfSpeech::{Adjective, Noun, Verb};
            let names: Vec<String> = (0..kinds.len()).map(|number| format!("w{number}w")).collect();
            let words: Vec<Word<'_>> = names.iter().zip(&kinds)
                .map(|(name, &kind)| (name.as_str(), [Noun, Verb, Adjective][kind])).collect();
            let text = LetterWriter::new().write(&words, &mut Random::from_seed(seed)).to_lowercase();
            for name in &names {
                prop_assert_eq!(text.matches(name.as_str()).count(), 1);
            }
            prop_assert!(!text.contains(['{', '}']), "{}", text);
        }
    }
}
