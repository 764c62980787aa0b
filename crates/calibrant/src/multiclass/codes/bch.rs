//! Code words of Bose, Chaudhuri and Hocquenghem.

use super::columns::{possible_columns, too_long, usual_length};
use super::field::Field;
use super::matrix::{CodeMatrix, Separation, with_positive_first};
use crate::FitError;
use crate::numeric::Random;

/// A narrow-sense binary BCH code of length `2^m - 1`.
///
/// # Formula
/// ```text
/// g(x) = the least polynomial over {0, 1} with the roots α, α², ..., α^(δ-1)
/// ```
/// `α` runs through the field with `2^m` elements. The code words are the multiples of `g` with
/// degree below `2^m - 1`; any two differ in at least `δ` places (the designed distance).
///
/// # Reference
/// Bose & Ray-Chaudhuri 1960, Hocquenghem 1959; for output codes Dietterich & Bakiri, JAIR 1995.
///
/// ```
/// use calibrant::multiclass::BchCode;
/// let code = BchCode::for_words(4, 100).unwrap(); // the known (15, 7) code, which corrects two errors
/// assert_eq!((code.length(), code.dimension(), code.designed_distance()), (15, 7, 5));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BchCode {
    length: usize,
    designed_distance: usize,
    /// Coefficients, the constant first.
    generator: Vec<bool>,
}

impl BchCode {
    /// The code of length `2^bits - 1` with the largest designed distance that has at least so many
    /// words; `None` if there is none, or for other lengths than those of 2 to 13 bits.
    pub fn for_words(bits: u32, words: usize) -> Option<Self> {
        let field = Field::new(bits)?;
        let length = field.order();
        let needed = words.max(2).next_power_of_two().trailing_zeros() as usize;
        // Roots are added as long as enough words are left.
        let mut is_root = vec![false; length];
        let mut root_count = 0;
        let mut designed_distance = 1;
        for exponent in 1..length {
            if !is_root[exponent] {
                let conjugates = field.conjugates(exponent);
                if length < root_count + conjugates.len() + needed {
                    break;
                }
                root_count += conjugates.len();
                conjugates.into_iter().for_each(|root| is_root[root] = true);
            }
            designed_distance = exponent + 1;
        }
        if length < root_count + needed {
            return None;
        }
        let mut generator = vec![1u32];
        for exponent in (0..length).filter(|&exponent| is_root[exponent]) {
            // Times x + α^exponent.
            let root = field.power(exponent);
            generator.insert(0, 0);
            for place in 0..generator.len() - 1 {
                generator[place] ^= field.times(root, generator[place + 1]);
            }
        }
        Some(Self {
            length,
            designed_distance,
            generator: generator
                .iter()
                .map(|&coefficient| coefficient != 0)
                .collect(),
        })
    }

    /// The number of places of a word.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Bits of a message; there are `2^dimension` words.
    pub fn dimension(&self) -> usize {
        self.length + 1 - self.generator.len()
    }

    /// Any two words differ in at least so many places.
    pub fn designed_distance(&self) -> usize {
        self.designed_distance
    }

    /// The word of a message, whose bits beyond the dimension are not used: the message as a
    /// polynomial times the generator.
    pub fn word(&self, message: u64) -> Vec<bool> {
        let mut word = vec![false; self.length];
        for shift in (0..self.dimension().min(64)).filter(|&shift| message >> shift & 1 == 1) {
            for (place, &coefficient) in self.generator.iter().enumerate() {
                word[shift + place] ^= coefficient;
            }
        }
        word
    }
}

/// How many choices of words are tried at most.
const ATTEMPTS: usize = 64;

/// Words of a BCH code as the rows of a code matrix. Columns that would be constant, or the same as
/// another or its opposite, are left out; what is longer than asked for is cut.
pub(super) fn bch_code(
    class_count: usize,
    length: Option<usize>,
    seed: u64,
) -> Result<CodeMatrix, FitError> {
    let possible = possible_columns(class_count, false);
    let wanted = length.unwrap_or_else(|| usual_length(class_count, 10.0));
    if length.is_some() && wanted > possible {
        return Err(too_long(possible, wanted));
    }
    // The smallest code that is long enough. Without a wish it is no longer than there are columns;
    // with one, a longer code may have to be cut, as its words leave more columns.
    let places = |bits: u32| (1usize << bits) - 1;
    let (shortest, longest) = (*Field::BITS.start(), *Field::BITS.end());
    let mut first = shortest;
    while first < longest
        && places(first) < wanted
        && (length.is_some() || places(first + 1) <= possible)
    {
        first += 1;
    }
    let mut most_columns = 0;
    for bits in first..=longest.min(first + 3) {
        let Some(code) = BchCode::for_words(bits, class_count) else {
            continue;
        };
        let (found, columns) = best_words(&code, class_count, length, seed);
        if let Some(found) = found {
            return Ok(found);
        }
        most_columns = most_columns.max(columns);
    }
    Err(too_long(most_columns, wanted))
}

/// The best of some choices of words, and the most columns that any left.
fn best_words(
    code: &BchCode,
    class_count: usize,
    length: Option<usize>,
    seed: u64,
) -> (Option<CodeMatrix>, usize) {
    let mut random = Random::from_seed(seed);
    let cost = class_count * code.length() * (class_count + code.length());
    let attempts = (100_000_000 / cost.max(1)).clamp(1, ATTEMPTS);
    let mut best: Option<(CodeMatrix, Separation)> = None;
    let mut most_columns = 0;
    for _ in 0..attempts {
        let words: Vec<Vec<bool>> = distinct_messages(code.dimension(), class_count, &mut random)
            .into_iter()
            .map(|message| code.word(message))
            .collect();
        let mut seen = std::collections::HashSet::new();
        let mut columns: Vec<Vec<i8>> = (0..code.length())
            .map(|place| {
                let side = |word: &Vec<bool>| if word[place] { 1 } else { -1 };
                words.iter().map(side).collect::<Vec<i8>>()
            })
            .filter(|column| column.contains(&1) && column.contains(&-1))
            .filter(|column| seen.insert(with_positive_first(column.clone())))
            .collect();
        most_columns = most_columns.max(columns.len());
        if let Some(length) = length {
            if columns.len() < length {
                continue;
            }
            if columns.len() > length {
                random.shuffle(&mut columns);
                columns.truncate(length);
            }
        }
        let Ok(found) = CodeMatrix::from_columns(class_count, &columns) else {
            continue;
        };
        let separation = found.separation();
        let is_better = best.as_ref().is_none_or(|(_, best)| {
            (separation.rows, separation.columns) > (best.rows, best.columns)
        });
        if is_better {
            best = Some((found, separation));
        }
    }
    (best.map(|(code, _)| code), most_columns)
}

/// So many different messages of so many bits, in random order.
fn distinct_messages(bits: usize, count: usize, random: &mut Random) -> Vec<u64> {
    let bits = bits.min(63);
    let all = 1u64 << bits;
    if all <= 4 * count as u64 {
        let mut messages: Vec<u64> = (0..all).collect();
        random.shuffle(&mut messages);
        messages.truncate(count);
        return messages;
    }
    let mut seen = std::collections::HashSet::new();
    let mut messages = Vec::with_capacity(count);
    while messages.len() < count {
        let message = random.next_u64() & (all - 1);
        if seen.insert(message) {
            messages.push(message);
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test] // Dimensions and distances as tables of BCH codes have them.
    fn known_codes_come_out() {
        let known = [
            (3, 2, 4, 3),
            (4, 1 << 11, 11, 3),
            (4, 1 << 7, 7, 5),
            (4, 1 << 5, 5, 7),
            (5, 1 << 21, 21, 5),
            (5, 1 << 16, 16, 7),
            (5, 1 << 11, 11, 11),
            (5, 1 << 6, 6, 15),
            (6, 1 << 30, 30, 13),
            (6, 1 << 7, 7, 31),
        ];
        for (bits, words, dimension, distance) in known {
            let words = if bits == 3 { 5 } else { words };
            let code = BchCode::for_words(bits, words).unwrap();
            assert_eq!(
                (code.dimension(), code.designed_distance()),
                (dimension, distance),
                "{bits} bits, {words} words"
            );
        }
        assert!(BchCode::for_words(2, 9).is_none());
    }

    proptest! {
        #[test]
        fn words_differ_in_at_least_the_designed_number_of_places(
            bits in 2u32..9, words in 2usize..300, first in any::<u64>(), second in any::<u64>(),
        ) {
            let Some(code) = BchCode::for_words(bits, words) else { return Ok(()) };
            prop_assert!(1usize.checked_shl(code.dimension() as u32).is_none_or(|all| all >= words));
            let used = if code.dimension() >= 64 { u64::MAX } else { (1 << code.dimension()) - 1 };
            prop_assume!(first & used != second & used);
            let (a, b) = (code.word(first), code.word(second));
            let distance = a.iter().zip(&b).filter(|(a, b)| a != b).count();
            prop_assert!(distance >= code.designed_distance(), "{} {:?}", distance, code);
        }
    }
}
