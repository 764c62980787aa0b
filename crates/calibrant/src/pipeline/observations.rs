//! Are rows that look alike copies of one document, or observations of one pattern?

use std::collections::HashSet;

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
/// lot on, they are no copies where there are many to a pattern.
const MUCH_DISAGREEMENT: f64 = 0.1;
/// A text that comes at least so often, and is this share of all rows, where most texts come once, is a standard one that
/// will come again.
const STANDARD_ROWS: usize = 20;
const STANDARD_SHARE: f64 = 0.01;

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
/// Rows with words and rows without are judged apart.
///
/// * Rows with words: where they are answers from a small set (fewer than 50 patterns with ten rows or more on average, and at most two
///   words a row on average) and disagree about the class. Where most texts come once, one that comes often and got different labels
///   is a standard text ("see attachment"), and its rows are observations, too. All other equal texts are one text, however many labels they got: labels by
///   several people say much about that text and nothing about others.
/// * Rows without: where there are fewer than 50 patterns with ten rows or more on average, or where those that look alike disagree about the
///   class (of `k` rows to a pattern by `1/k` of what rows drawn by lot do, or a tenth). With fewer patterns
///   than folds nothing could be held out, and they are observations however few there are.
#[derive(Debug, Clone)]
pub(super) struct Observations {
    with_words: bool,
    without_words: bool,
    standard_texts: HashSet<u128>,
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
        let with_words = are_many(&with)
            && are_answers(&with)
            && disagreement_of(&with, &class_of) > MUCH_DISAGREEMENT;
        Self {
            standard_texts: match with_words {
                true => HashSet::new(),
                false => standard_texts(&with, keys, &class_of),
            },
            with_words,
            without_words: nothing_to_hold_out
                || (are_many(&without) && without.len() < FEW_PATTERNS)
                || look_alike_by_chance(&without, &class_of),
        }
    }

    /// Whether the rows with this key are observations.
    pub(super) fn has(&self, key: u128) -> bool {
        match has_words(key) {
            true => self.with_words || self.standard_texts.contains(&key),
            false => self.without_words,
        }
    }
}

/// Whether rows that look alike disagree too much for copies.
fn look_alike_by_chance<C: Ord>(runs: &[&[u32]], class_of: &impl Fn(u32) -> Option<C>) -> bool {
    let repeated = runs.iter().filter(|run| run.len() > 1);
    let (patterns, rows) = repeated.fold((0, 0), |(patterns, rows), run| {
        (patterns + 1, rows + run.len())
    });
    // Where there are few rows to a pattern, a slip or two are a large share: half with two of them.
    let limit = patterns as f64 / rows.max(1) as f64;
    disagreement_of(runs, class_of) > limit.max(MUCH_DISAGREEMENT)
}

/// Texts that come often where most come once, with different labels.
fn standard_texts<C: Ord>(
    runs: &[&[u32]],
    keys: &[u128],
    class_of: &impl Fn(u32) -> Option<C>,
) -> HashSet<u128> {
    let rows: usize = runs.iter().map(|run| run.len()).sum();
    let once = runs.iter().filter(|run| run.len() == 1).count();
    let often = (STANDARD_SHARE * rows as f64).max(STANDARD_ROWS as f64);
    let is_standard = |run: &&&[u32]| {
        run.len() as f64 >= often && {
            let mut classes: Vec<C> = run.iter().filter_map(|&row| class_of(row)).collect();
            // Two classes by lot disagree half the time.
            disagreement(&mut classes) > MUCH_DISAGREEMENT * 0.5 * classes.len() as f64
        }
    };
    let standard = runs.iter().filter(|_| 2 * once > runs.len());
    let standard = standard.filter(is_standard);
    standard.map(|run| keys[run[0] as usize]).collect()
}

/// How much rows that look alike disagree about their classes, as a share of what rows drawn by lot do. A row that
/// comes once has nobody to disagree with, and no vote.
fn disagreement_of<C: Ord>(runs: &[&[u32]], class_of: &impl Fn(u32) -> Option<C>) -> f64 {
    let classes = |run: &&[u32]| run.iter().filter_map(|&row| class_of(row)).collect();
    let classes = runs.iter().map(classes);
    let mut runs: Vec<Vec<C>> = classes.filter(|run: &Vec<C>| run.len() > 1).collect();
    let within: f64 = runs.iter_mut().map(|run| disagreement(run)).sum();
    let mut all: Vec<C> = runs.into_iter().flatten().collect();
    let by_lot = disagreement(&mut all);
    if by_lot > 0.0 { within / by_lot } else { 0.0 }
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

    #[test] // With fewer than ten rows to a pattern all of them were copies, and what a category tells was lost.
    fn rows_without_words_that_disagree_are_observations_however_few() {
        let of = |yes: fn(u32) -> bool| -> Vec<(u32, u32)> {
            (0..240).map(|n| (n % 60, u32::from(yes(n)))).collect()
        };
        // Four rows to a category: half the time each, or three of four.
        assert!(are_observations(&of(|n| n / 60 % 2 == 0), 0));
        assert!(are_observations(&of(|n| (n / 60 == 0) != (n % 2 == 0)), 0));
        // Copies with a slip in one pattern of five.
        assert!(!are_observations(
            &of(|n| (n % 2 == 0) != (n / 60 == 0 && n % 5 == 0)),
            0
        ));
        // One pattern of many rows among rows that come once: cells that are all missing.
        let mut rows: Vec<(u32, u32)> = (0..300).map(|n| (0, u32::from(n % 7 == 0))).collect();
        rows.extend((0..700).map(|n| (1 + n, n % 2)));
        assert!(are_observations(&rows, 0));
        // Equal ones that all say the same are copies.
        rows.iter_mut()
            .for_each(|row| row.1 *= u32::from(row.0 > 0));
        assert!(!are_observations(&rows, 0));
    }

    #[test] // Hundreds of tickets say "see attachment", with different labels, and none of them is another's copy.
    fn a_standard_text_among_texts_that_come_once_is_an_observation_each_time() {
        let with = |standard: u32, others: u32, each: u32| -> Vec<(u32, u32)> {
            let standard = (0..standard).map(|n| (0, u32::from(n % 6 == 0)));
            let others = (0..others * each).map(|n| (1 + n / each, n % 2));
            standard.chain(others).collect()
        };
        assert!(are_observations(&with(300, 700, 1), 10));
        // Not among texts that come several times each, nor where it hardly comes.
        assert!(!are_observations(&with(300, 70, 10), 10));
        assert!(!are_observations(&with(19, 700, 1), 10));
        assert!(!are_observations(&with(60, 7_000, 1), 10));
        // Only it: texts that come twice stay one text.
        let mut rows = with(300, 700, 1);
        rows.extend([(800, 0), (800, 1)]);
        rows.rotate_left(300);
        rows.reverse();
        let twice = rows.iter().position(|row| row.0 == 800).unwrap();
        rows.swap(0, twice);
        assert!(!are_observations(&rows, 10));
    }

    #[test] // By hand: of two a's and two b's, a pair differs in four cases of six.
    fn disagreement_is_that_of_pairs() {
        assert!((disagreement(&mut ["a", "b", "a", "b"]) - 4.0 * 4.0 / 6.0).abs() < 1e-12);
        assert_eq!(disagreement(&mut ["a", "a"]), 0.0);
        assert_eq!(disagreement(&mut ["a", "b"]), 2.0);
    }
}
