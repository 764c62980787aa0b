//! Are rows that look alike copies of one document, or observations of one pattern?

use super::document_key::has_words;
use crate::corpus::Content;
use unicode_segmentation::UnicodeSegmentation;

/// Tables of a few categories, and answers of a word or two, are full of rows that agree by chance: only with this
/// many rows to a pattern or more may a row be an observation of its own.
const ROWS_TO_A_PATTERN: usize = 10;
/// So many patterns are a small set, which may well have no others.
const FEW_PATTERNS: usize = 50;
/// Texts of so many words on average are answers; longer ones that are equal are one text.
const WORDS_OF_AN_ANSWER: usize = 2;
/// More words than this are many: nothing is gained by counting them.
const MOST_WORDS: usize = 10;
/// Copies say the same of a document's class, but for a slip; from this share of the disagreement of rows drawn by
/// lot on, they are no copies.
const MUCH_DISAGREEMENT: f64 = 0.1;

/// How many words a document's text begins with; counting stops at ten.
///
/// ```
/// use calibrant::{corpus::Content, pipeline::leading_words};
/// assert_eq!(leading_words(&Content::Text("Very good!".into())), 2);
/// assert_eq!(leading_words(&Content::Text("so ".repeat(50))), 10);
/// ```
pub fn leading_words(content: &Content) -> u8 {
    let text = content.as_text().unwrap_or_default();
    text.unicode_words().take(MOST_WORDS).count() as u8
}

/// Which rows are observations of their own, though others look like them. `fit`, `combine`, `evaluate` and `compare`
/// all ask here.
///
/// Rows with words and rows without are judged apart. Either are observations only where there are ten or more to a
/// pattern on average.
///
/// * Rows with words: where they are answers from a small set (fewer than 50 patterns, and at most two words a row on
///   average) and disagree about the class. All other equal texts are one text, however many labels they got: labels by
///   several people say much about that text and nothing about others.
/// * Rows without: where there are fewer than 50 patterns, or where they disagree about the class. With fewer patterns
///   than folds nothing could be held out, and they are observations however few there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observations {
    with_words: bool,
    without_words: bool,
}

impl Observations {
    /// Judges rows. Each of `runs` has the rows of one key; `class_of` is `None` for rows that take no part.
    pub(super) fn among<C: Ord>(
        runs: &[&[u32]],
        keys: &[u128],
        words_of: impl Fn(u32) -> u8,
        class_of: impl Fn(u32) -> Option<C>,
        folds: usize,
    ) -> Self {
        let (with, without): (Vec<&[u32]>, Vec<&[u32]>) = runs
            .iter()
            .partition(|run| has_words(keys[run[0] as usize]));
        let are_many = |runs: &[&[u32]]| {
            let rows: usize = runs.iter().map(|run| run.len()).sum();
            rows >= runs.len() * ROWS_TO_A_PATTERN
        };
        let are_answers = |runs: &[&[u32]]| {
            let rows = runs.iter().flat_map(|run| run.iter());
            let (words, rows) = rows.fold((0, 0), |(words, rows), &row| {
                (words + usize::from(words_of(row)), rows + 1)
            });
            runs.len() < FEW_PATTERNS && words <= WORDS_OF_AN_ANSWER * rows
        };
        let nothing_to_hold_out = runs.len() < folds;
        Self {
            with_words: are_many(&with) && are_answers(&with) && disagree(&with, &class_of),
            without_words: nothing_to_hold_out
                || (are_many(&without)
                    && (without.len() < FEW_PATTERNS || disagree(&without, &class_of))),
        }
    }

    /// Whether the rows with this key are observations.
    pub(super) fn has(self, key: u128) -> bool {
        match has_words(key) {
            true => self.with_words,
            false => self.without_words,
        }
    }
}

/// Whether rows that look alike disagree about their classes by much, compared with rows drawn by lot. A row that
/// comes once has nobody to disagree with, and no vote.
fn disagree<C: Ord>(runs: &[&[u32]], class_of: &impl Fn(u32) -> Option<C>) -> bool {
    let classes = |run: &&[u32]| run.iter().filter_map(|&row| class_of(row)).collect();
    let classes = runs.iter().map(classes);
    let mut runs: Vec<Vec<C>> = classes.filter(|run: &Vec<C>| run.len() > 1).collect();
    let within: f64 = runs.iter_mut().map(|run| disagreement(run)).sum();
    let mut all: Vec<C> = runs.into_iter().flatten().collect();
    within > MUCH_DISAGREEMENT * disagreement(&mut all)
}

/// How much rows, two or more, disagree about their classes: their number times the probability that two of them, drawn
/// by lot without putting back, have not the same.
fn disagreement<C: Ord>(classes: &mut [C]) -> f64 {
    let count = classes.len() as f64;
    classes.sort_unstable();
    let alike = classes
        .chunk_by(|a, b| a == b)
        .map(|same| same.len() as f64);
    let pairs: f64 = alike.map(|same| same * (same - 1.0)).sum();
    count - pairs / (count - 1.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether rows, given as pattern and class, are observations.
    fn are_observations(rows: &[(u32, u32)], words: u8) -> bool {
        let keys: Vec<u128> = rows
            .iter()
            .map(|row| u128::from(row.0) << 1 | u128::from(words > 0))
            .collect();
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|&row| keys[row as usize]);
        let same = |a: &u32, b: &u32| keys[*a as usize] == keys[*b as usize];
        let runs: Vec<&[u32]> = order.chunk_by(same).collect();
        let class_of = |row: u32| Some(rows[row as usize].1);
        let found = Observations::among(&runs, &keys, |_| words, class_of, 2);
        found.has(keys[0])
    }

    #[test]
    fn equal_texts_are_one_text_however_many_labels_they_got() {
        // Twenty labels each of which a third differs.
        let rated = |texts: u32| -> Vec<(u32, u32)> {
            (0..20 * texts)
                .map(|n| (n % texts, u32::from((n / texts).is_multiple_of(3))))
                .collect()
        };
        assert!(!are_observations(&rated(600), 10));
        assert!(!are_observations(&rated(30), 10));
        assert!(!are_observations(&rated(30), 3));
        // Answers of a word or two are observations as long as they come from a small set.
        assert!(are_observations(&rated(30), 2));
        assert!(!are_observations(&rated(600), 1));
        // What is no text may be a pattern of any number.
        assert!(are_observations(&rated(600), 0));
    }

    #[test]
    fn rows_that_come_once_have_no_vote() {
        let mut rows: Vec<(u32, u32)> = (0..1000).map(|n| (n % 10, n % 10 % 2)).collect();
        rows.extend((0..80).map(|n| (100 + n, n % 2)));
        assert!(!are_observations(&rows, 0));
        assert!(!are_observations(&rows, 1));
        // By hand: of each thousand copies a fifth disagrees, where rows drawn by lot do so half the time.
        for row in &mut rows[..200] {
            row.1 = 1 - row.1;
        }
        assert!(are_observations(&rows, 0));
    }

    #[test] // By hand: of two a's and two b's, a pair differs in four cases of six.
    fn disagreement_is_that_of_pairs() {
        assert!((disagreement(&mut ["a", "b", "a", "b"]) - 4.0 * 4.0 / 6.0).abs() < 1e-12);
        assert_eq!(disagreement(&mut ["a", "a"]), 0.0);
        assert_eq!(disagreement(&mut ["a", "b"]), 2.0);
    }
}
