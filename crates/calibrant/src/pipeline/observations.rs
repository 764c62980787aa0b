//! Are rows that look alike copies of one document, or observations of one pattern?

use std::collections::{BTreeMap, HashSet};

use super::document_key::has_words;
use crate::corpus::ContentRef;
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
/// use calibrant::pipeline::leading_words;
/// assert_eq!(leading_words("Very good!"), 2);
/// assert_eq!(leading_words(&"so ".repeat(50)), 10);
/// ```
pub fn leading_words<'a>(content: impl Into<ContentRef<'a>>) -> u8 {
    let text = content.into().as_text().unwrap_or_default();
    text.unicode_words().take(MOST_WORDS).count() as u8
}

/// Which rows are observations of their own, though others look like them. `fit`, `combine`, `evaluate` and `compare`
/// all ask here.
///
/// Rows with words and rows without are judged apart. Where every row comes `k` times, or a multiple of it, one of `k` is judged, and the
/// others are its copies whatever is said of it: a file of 50 rows or more three times over is the file.
///
/// * Rows with words: where they are answers from a small set (fewer than 50 patterns with ten rows or more on average, and at most two
///   words a row on average) and disagree about the class. Where most texts come once, one that comes often and got different labels
///   is a standard text ("see attachment"), and its rows are observations, too. All other equal texts are one text, however many labels they got: labels by
///   several people say much about that text and nothing about others.
/// * Rows without: where there are fewer than 50 patterns with ten rows or more on average; else patterns of ten rows or more, and those of fewer,
///   where those rows disagree about the class (of `k` rows to a pattern by `1/k` of what rows drawn at random do, or a tenth). With fewer patterns
///   than folds nothing could be held out, and they are observations however few there are.
#[derive(Debug, Clone)]
pub(super) struct Observations {
    with_words: bool,
    without_words: bool,
    /// Patterns that are judged apart from the others.
    keys: HashSet<u128>,
    /// How many rows of the file stand for one.
    times: usize,
}

/// Rows that look alike: how many there are, and of which classes.
struct Pattern<C> {
    key: u128,
    of_class: Vec<(C, usize)>,
}

impl<C: Ord> Pattern<C> {
    fn of(run: &[u32], keys: &[u128], class_of: &impl Fn(u32) -> Option<C>) -> Self {
        let mut classes: Vec<C> = run.iter().filter_map(|&row| class_of(row)).collect();
        classes.sort_unstable();
        let mut of_class: Vec<(C, usize)> = Vec::new();
        for class in classes {
            match of_class.last_mut() {
                Some((last, count)) if *last == class => *count += 1,
                _ => of_class.push((class, 1)),
            }
        }
        Self {
            key: keys[run[0] as usize],
            of_class,
        }
    }

    fn rows(&self) -> usize {
        self.of_class.iter().map(|(_, count)| count).sum()
    }

    fn disagreement(&self) -> f64 {
        disagreement(self.of_class.iter().map(|(_, count)| *count))
    }
}

impl Observations {
    /// Judges rows. Each of `runs` has the rows of one key and is asked for several times; `class_of` is `None` for rows that take no part.
    pub(super) fn among<'a, C: Ord, R: Iterator<Item = &'a [u32]>>(
        runs: impl Fn() -> R,
        keys: &[u128],
        words_of: impl Fn(u32) -> u8,
        class_of: impl Fn(u32) -> Option<C>,
        folds: usize,
    ) -> Self {
        let repeated = runs().filter(|run| run.len() > 1);
        let mut repeated: Vec<Pattern<C>> = repeated
            .map(|run| Pattern::of(run, keys, &class_of))
            .collect();
        let (run_count, rows) =
            runs().fold((0, 0), |(runs, rows), run| (runs + 1, rows + run.len()));
        let once = run_count - repeated.len();
        let times = match once {
            0 => times(&repeated),
            _ => 1,
        };
        // A handful of rows that all come as often is rather a small example than a file many times over.
        let times = if rows / times < FEW_PATTERNS {
            1
        } else {
            times
        };
        for (_, count) in repeated
            .iter_mut()
            .flat_map(|pattern| &mut pattern.of_class)
        {
            *count /= times;
        }
        repeated.retain(|pattern| pattern.rows() > 1);
        let (with, without): (Vec<Pattern<C>>, Vec<Pattern<C>>) = repeated
            .into_iter()
            .partition(|pattern| has_words(pattern.key));
        let is_worded = |run: &&[u32]| has_words(keys[run[0] as usize]);
        let (patterns_with, rows_with, words) =
            runs()
                .filter(is_worded)
                .fold((0, 0, 0), |(patterns, rows, words), run| {
                    let of_run = run.iter().map(|&row| usize::from(words_of(row)));
                    (
                        patterns + 1,
                        rows + run.len(),
                        words + of_run.sum::<usize>(),
                    )
                });
        let are_many = |patterns: usize, rows: usize| {
            patterns < FEW_PATTERNS && rows / times >= patterns * ROWS_TO_A_PATTERN
        };
        let are_answers = words <= WORDS_OF_AN_ANSWER * rows_with;
        let with_words = are_many(patterns_with, rows_with)
            && are_answers
            && disagreement_of(&with) > MUCH_DISAGREEMENT;
        let nothing_to_hold_out = run_count < folds;
        let without_words =
            nothing_to_hold_out || are_many(run_count - patterns_with, rows - rows_with);
        let mut found = HashSet::new();
        if !with_words {
            found.extend(standard_texts(&with, patterns_with, rows_with / times));
        }
        if !without_words {
            let (large, small): (Vec<_>, Vec<_>) =
                (without.into_iter()).partition(|pattern| pattern.rows() >= ROWS_TO_A_PATTERN);
            for patterns in [large, small] {
                if look_alike_by_chance(&patterns) {
                    found.extend(patterns.iter().map(|pattern| pattern.key));
                }
            }
        }
        Self {
            with_words,
            without_words,
            keys: found,
            times,
        }
    }

    /// Whether the rows with this key are observations.
    pub(super) fn has(&self, key: u128) -> bool {
        let all = match has_words(key) {
            true => self.with_words,
            false => self.without_words,
        };
        all || self.keys.contains(&key)
    }

    /// How many rows of one pattern and class stand for one observation: the others are its copies.
    pub(super) fn times(&self) -> usize {
        self.times
    }
}

/// The largest number that the rows of every pattern and class are a multiple of.
fn times<C: Ord>(patterns: &[Pattern<C>]) -> usize {
    let mut common = 0;
    for (_, count) in patterns.iter().flat_map(|pattern| &pattern.of_class) {
        let (mut a, mut b) = (common, *count);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        common = a;
        if common == 1 {
            break;
        }
    }
    common.max(1)
}

/// Whether rows that look alike disagree too much for copies.
fn look_alike_by_chance<C: Ord>(patterns: &[Pattern<C>]) -> bool {
    let rows: usize = patterns.iter().map(Pattern::rows).sum();
    // Where there are few rows to a pattern, a slip or two are a large share: half with two of them.
    let limit = patterns.len() as f64 / rows.max(1) as f64;
    disagreement_of(patterns) > limit.max(MUCH_DISAGREEMENT)
}

/// Texts that come often, with different labels, where most of so many come once.
fn standard_texts<C: Ord>(
    repeated: &[Pattern<C>],
    patterns: usize,
    rows: usize,
) -> impl Iterator<Item = u128> {
    let most_come_once = 2 * repeated.len() < patterns;
    let often = (STANDARD_SHARE * rows as f64).max(STANDARD_ROWS as f64);
    let is_standard = move |pattern: &&Pattern<C>| {
        let rows = pattern.rows() as f64;
        // Two classes at random disagree half the time.
        most_come_once && rows >= often && pattern.disagreement() > MUCH_DISAGREEMENT * 0.5 * rows
    };
    let standard = repeated.iter().filter(is_standard);
    standard
        .map(|pattern| pattern.key)
        .collect::<Vec<_>>()
        .into_iter()
}

/// How much rows that look alike disagree about their classes, as a share of what rows drawn at random do.
fn disagreement_of<C: Ord>(patterns: &[Pattern<C>]) -> f64 {
    let within: f64 = patterns.iter().map(Pattern::disagreement).sum();
    let mut of_class: BTreeMap<&C, usize> = BTreeMap::new();
    for (class, count) in patterns.iter().flat_map(|pattern| &pattern.of_class) {
        *of_class.entry(class).or_default() += count;
    }
    let by_lot = disagreement(of_class.into_values());
    if by_lot > 0.0 { within / by_lot } else { 0.0 }
}

/// How much rows, so many of each class, disagree: their number times the probability that two of them, drawn
/// at random without putting back, have not the same. One has nobody to disagree with.
fn disagreement(of_class: impl Iterator<Item = usize>) -> f64 {
    let (rows, pairs) = of_class.fold((0.0, 0.0), |(rows, pairs), count| {
        let count = count as f64;
        (rows + count, pairs + count * (count - 1.0))
    });
    if rows < 2.0 {
        0.0
    } else {
        rows - pairs / (rows - 1.0)
    }
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
        let runs = || order.chunk_by(same);
        let class_of = |row: u32| Some(rows[row as usize].1);
        let found = Observations::among(runs, &keys, |_| words, class_of, 2);
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
        // By hand: of each thousand copies a fifth disagrees, where rows drawn at random do so half the time.
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

    #[test] // One pattern that disagrees made observations of every copy.
    fn a_large_pattern_says_nothing_of_small_ones_and_a_file_three_times_over_is_the_file() {
        let mut rows: Vec<(u32, u32)> = (0..100).map(|n| (0, u32::from(n % 3 == 0))).collect();
        rows.extend((0..200).map(|n| (1 + n, n % 2)));
        rows.extend((0..40).map(|n| (1 + n, n % 2)));
        assert!(are_observations(&rows, 0));
        // Now a row that comes twice, with one class, in front.
        rows.rotate_left(100);
        assert!(!are_observations(&rows, 0));
        for words in [0, 10] {
            for rows in [
                (0..120)
                    .map(|n| (n % 60, u32::from(n < 60 || n % 5 > 0)))
                    .collect::<Vec<_>>(),
                (0..300).map(|n| (u32::from(n >= 100) * n, n % 2)).collect(),
            ] {
                let thrice: Vec<(u32, u32)> = rows.iter().flat_map(|&row| [row; 3]).collect();
                assert_eq!(
                    are_observations(&rows, words),
                    are_observations(&thrice, words)
                );
            }
        }
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
        let of = |counts: &[usize]| disagreement(counts.iter().copied());
        assert!((of(&[2, 2]) - 4.0 * 4.0 / 6.0).abs() < 1e-12);
        assert_eq!((of(&[2]), of(&[1, 1]), of(&[1])), (0.0, 2.0, 0.0));
    }
}
