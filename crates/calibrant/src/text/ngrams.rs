//! Terms of several neighbouring words, and of characters inside a word.

use super::analyzer::NgramRange;

/// Beyond this length the words that no n-gram will need again are removed.
const WINDOW_BYTES: usize = 16 << 10;

/// The latest words, joined by single spaces, so that an n-gram is a slice.
#[derive(Debug, Default, Clone)]
pub(super) struct WordWindow {
    text: String,
    /// Where the latest words begin in `text`: word number `w` at index `w % LONGEST`.
    starts: [usize; NgramRange::LONGEST],
    word_count: usize,
}

impl WordWindow {
    /// Begins a new text.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.word_count = 0;
    }

    /// Takes the next word and visits the n-grams that end with it, shortest first.
    #[inline]
    pub(super) fn push(&mut self, word: &str, range: NgramRange, mut visit: impl FnMut(&str)) {
        if self.text.len() > WINDOW_BYTES {
            self.forget_old_words();
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.starts[self.word_count % NgramRange::LONGEST] = self.text.len();
        self.text.push_str(word);
        self.word_count += 1;
        for length in range.min..=range.max.min(self.word_count) {
            let start = self.starts[(self.word_count - length) % NgramRange::LONGEST];
            visit(&self.text[start..]);
        }
    }

    #[cold]
    fn forget_old_words(&mut self) {
        let kept = self.word_count.min(NgramRange::LONGEST - 1);
        let oldest = self.starts[(self.word_count - kept) % NgramRange::LONGEST];
        self.text.drain(..oldest);
        for start in &mut self.starts {
            *start = start.saturating_sub(oldest);
        }
    }
}

/// Buffers for one padded word.
#[derive(Debug, Default, Clone)]
pub(super) struct CharacterWindow {
    padded: String,
    /// Where the characters begin, and where the last one ends.
    bounds: Vec<usize>,
}

impl CharacterWindow {
    /// Visits the runs of characters of ` word `, all of the shortest length first. A word too
    /// short for a length is visited whole, once.
    pub(super) fn visit(&mut self, word: &str, range: NgramRange, mut visit: impl FnMut(&str)) {
        self.padded.clear();
        self.padded.push(' ');
        self.padded.push_str(word);
        self.padded.push(' ');
        self.bounds.clear();
        self.bounds
            .extend(self.padded.char_indices().map(|(at, _)| at));
        let character_count = self.bounds.len();
        self.bounds.push(self.padded.len());
        for length in range.min..=range.max {
            if length >= character_count {
                visit(&self.padded);
                break;
            }
            for first in 0..=character_count - length {
                visit(&self.padded[self.bounds[first]..self.bounds[first + length]]);
            }
        }
    }

    /// Begins a text whose words run on into each other.
    pub(super) fn begin(&mut self) {
        self.padded.clear();
        self.padded.push(' ');
        self.bounds.clear();
        self.bounds.extend([0, 1]);
    }

    /// Takes the next word of the text and a space, and visits the runs of characters that end there. The whole text has
    /// a space at either end.
    pub(super) fn push(&mut self, word: &str, range: NgramRange, mut visit: impl FnMut(&str)) {
        let old = self.bounds.len();
        for character in word.chars().chain([' ']) {
            self.padded.push(character);
            self.bounds.push(self.padded.len());
        }
        for end in old..self.bounds.len() {
            for length in range.min..=range.max.min(end) {
                visit(&self.padded[self.bounds[end - length]..self.bounds[end]]);
            }
        }
        // What the runs to come can reach back to.
        let dropped = self.bounds.len().saturating_sub(range.max);
        let first = self.bounds[dropped];
        self.padded.drain(..first);
        self.bounds.drain(..dropped);
        self.bounds.iter_mut().for_each(|bound| *bound -= first);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word_terms(window: &mut WordWindow, words: &[String], range: NgramRange) -> Vec<String> {
        let mut terms = Vec::new();
        window.clear();
        for word in words {
            window.push(word, range, |term| terms.push(term.to_owned()));
        }
        terms
    }

    fn character_terms(word: &str, min: usize, max: usize) -> Vec<String> {
        let mut terms = Vec::new();
        let range = NgramRange { min, max };
        CharacterWindow::default().visit(word, range, |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn long_texts_leave_the_window_short() {
        let words = vec!["word".repeat(40); 10_000];
        let mut window = WordWindow::default();
        let range = NgramRange { min: 8, max: 8 };
        let terms = word_terms(&mut window, &words, range);
        assert_eq!(terms.len(), 10_000 - 7);
        assert!(terms.iter().all(|term| *term == words[..8].join(" ")));
        assert!(window.text.capacity() < 4 * WINDOW_BYTES);
    }

    #[test]
    fn character_runs_match_hand_worked_cases() {
        // The same lists as scikit-learn 1.9.1 gives with analyzer="char_wb".
        assert_eq!(
            character_terms("jam", 2, 3),
            [" j", "ja", "am", "m ", " ja", "jam", "am "]
        );
        assert_eq!(character_terms("a", 1, 1), [" ", "a", " "]);
        assert_eq!(character_terms("a", 2, 5), [" a", "a ", " a "]);
        assert_eq!(character_terms("ab", 5, 8), [" ab "]);
        assert_eq!(character_terms("日本", 3, 3), [" 日本", "日本 "]);
    }

    #[test]
    fn runs_across_words_match_a_hand_worked_case() {
        let mut terms = Vec::new();
        let mut window = CharacterWindow::default();
        window.begin();
        for word in ["an", "é"] {
            let range = NgramRange { min: 2, max: 3 };
            window.push(word, range, |term| terms.push(term.to_owned()));
        }
        let expected = [" a", "an", " an", "n ", "an ", " é", "n é", "é ", " é "];
        assert_eq!(terms, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn runs_across_words_are_those_of_brute_force(
            words in proptest::collection::vec("[a-zé]{1,20}", 0..40),
            min in 2usize..=8,
            extra in 0usize..8,
        ) {
            let range = NgramRange { min, max: (min + extra).min(8) };
            let mut window = CharacterWindow::default();
            window.visit("left over", range, |_| ());
            window.begin();
            let mut found = Vec::new();
            for word in &words {
                window.push(word, range, |term| found.push(term.to_owned()));
            }
            let text: Vec<char> = format!(" {} ", words.join(" ")).chars().collect();
            let mut expected: Vec<String> = Vec::new();
            for length in range.min..=range.max {
                let runs = text.windows(length).filter(|_| !words.is_empty());
                expected.extend(runs.map(|run| run.iter().collect::<String>()));
            }
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn word_ngrams_are_those_of_brute_force(
            words in proptest::collection::vec("[a-zé]{1,200}", 0..200),
            min in 1usize..=8,
            extra in 0usize..8,
        ) {
            let range = NgramRange { min, max: (min + extra).min(8) };
            let mut window = WordWindow::default();
            window.push("left over from another text", range, |_| ());
            let mut expected = Vec::new();
            for end in 1..=words.len() {
                for length in range.min..=range.max {
                    if length <= end {
                        expected.push(words[end - length..end].join(" "));
                    }
                }
            }
            prop_assert_eq!(word_terms(&mut window, &words, range), expected);
        }

        #[test]
        fn character_ngrams_are_those_of_brute_force(
            word in "[a-zé日]{1,12}",
            min in 1usize..=8,
            extra in 0usize..8,
        ) {
            let max = (min + extra).min(8);
            let padded: Vec<char> = format!(" {word} ").chars().collect();
            let mut expected: Vec<String> = Vec::new();
            for length in min..=max {
                expected.extend(padded.windows(length).map(|run| run.iter().collect::<String>()));
            }
            if padded.len() < max && padded.len() < min {
                expected.push(padded.iter().collect());
            }
            prop_assert_eq!(character_terms(&word, min, max), expected);
        }
    }
}
