//! Terms and their numbers.

use hashbrown::HashTable;

use super::term_hash;

/// A list of distinct terms: bytes in one arena, numbered in order of arrival.
///
/// ```
/// use calibrant::features::Vocabulary;
/// let mut vocabulary = Vocabulary::default();
/// assert_eq!(vocabulary.insert("wheat"), 0);
/// assert_eq!(vocabulary.insert("corn"), 1);
/// assert_eq!(vocabulary.insert("wheat"), 0);
/// assert_eq!(vocabulary.get("corn"), Some(1));
/// assert_eq!(vocabulary.get("ship"), None);
/// ```
#[derive(Debug, Clone)]
pub struct Vocabulary {
    bytes: String,
    ends: Vec<u32>,
    // Only the number is in the table; the low half of the hash stays beside the end so that
    // growing the table or comparing candidates does not touch the arena.
    hashes: Vec<u32>,
    table: HashTable<u32>,
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self {
            bytes: String::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            table: HashTable::new(),
        }
    }
}

impl PartialEq for Vocabulary {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.ends == other.ends
    }
}

impl Vocabulary {
    /// From terms in the order of their numbers.
    pub fn from_terms<'a>(terms: impl IntoIterator<Item = &'a str>) -> Self {
        let mut vocabulary = Self::default();
        for term in terms {
            vocabulary.insert(term);
        }
        vocabulary
    }

    /// From an arena and the end of each term in it, as saved; `None` unless they fit together
    /// (ends rise, lie on character boundaries and reach the end of the arena, terms differ).
    pub fn from_parts(bytes: String, ends: Vec<u32>) -> Option<Self> {
        if ends.last().map_or(0, |&end| end as usize) != bytes.len()
            || u32::try_from(bytes.len()).is_err()
        {
            return None;
        }
        let mut vocabulary = Self {
            bytes: String::new(),
            ends: Vec::with_capacity(ends.len()),
            hashes: Vec::with_capacity(ends.len()),
            table: HashTable::with_capacity(ends.len()),
        };
        let mut start = 0;
        for &end in &ends {
            let term = bytes.get(start as usize..end as usize)?;
            let hash = term_hash(term.as_bytes());
            let number = vocabulary.ends.len() as u32;
            let taken = vocabulary.table.find(hash, |&other| {
                vocabulary.hashes[other as usize] == hash as u32 && {
                    let from = if other == 0 {
                        0
                    } else {
                        ends[other as usize - 1] as usize
                    };
                    &bytes[from..ends[other as usize] as usize] == term
                }
            });
            if taken.is_some() {
                return None;
            }
            vocabulary.ends.push(end);
            vocabulary.hashes.push(hash as u32);
            let rehash = |&number: &u32| term_hash(span(&bytes, &ends, number).as_bytes());
            vocabulary.table.insert_unique(hash, number, rehash);
            start = end;
        }
        vocabulary.bytes = bytes;
        Some(vocabulary)
    }

    /// The arena of all terms, and the end of each.
    pub fn parts(&self) -> (&str, &[u32]) {
        (&self.bytes, &self.ends)
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no term at all.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The term with this number.
    #[inline]
    pub fn term(&self, number: u32) -> &str {
        span(&self.bytes, &self.ends, number)
    }

    /// All terms in the order of their numbers.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.term(number))
    }

    /// The number of a term, if it is here.
    #[inline]
    pub fn get(&self, term: &str) -> Option<u32> {
        self.find(term_hash(term.as_bytes()), term)
    }

    #[inline]
    fn find(&self, hash: u64, term: &str) -> Option<u32> {
        self.table
            .find(hash, |&number| {
                self.hashes[number as usize] == hash as u32 && self.term(number) == term
            })
            .copied()
    }

    /// The number of a term, which is added if it is new.
    #[inline]
    pub fn insert(&mut self, term: &str) -> u32 {
        let hash = term_hash(term.as_bytes());
        if let Some(number) = self.find(hash, term) {
            return number;
        }
        let number = self.ends.len() as u32;
        self.bytes.push_str(term);
        self.ends.push(self.bytes.len() as u32);
        self.hashes.push(hash as u32);
        let (bytes, ends) = (&self.bytes, &self.ends);
        self.table.insert_unique(hash, number, |&number| {
            term_hash(span(bytes, ends, number).as_bytes())
        });
        number
    }
}

#[inline]
fn span<'a>(bytes: &'a str, ends: &[u32], number: u32) -> &'a str {
    let number = number as usize;
    let start = if number == 0 {
        0
    } else {
        ends[number - 1] as usize
    };
    &bytes[start..ends[number] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_and_terms_are_inverse(terms in prop::collection::vec("[a-zé ]{0,6}", 0..200)) {
            let vocabulary = Vocabulary::from_terms(terms.iter().map(String::as_str));
            let distinct: std::collections::BTreeSet<&String> = terms.iter().collect();
            prop_assert_eq!(vocabulary.len(), distinct.len());
            for term in &terms {
                let number = vocabulary.get(term).unwrap();
                prop_assert_eq!(vocabulary.term(number), term.as_str());
            }
            let (bytes, ends) = vocabulary.parts();
            let again = Vocabulary::from_parts(bytes.to_owned(), ends.to_vec()).unwrap();
            prop_assert!(again == vocabulary);
            for term in &terms {
                prop_assert_eq!(again.get(term), vocabulary.get(term));
            }
        }

        #[test]
        fn damaged_parts_are_refused_not_believed(bytes in "[aé]{0,8}", ends in prop::collection::vec(0u32..12, 0..6)) {
            if let Some(vocabulary) = Vocabulary::from_parts(bytes, ends) {
                let all: Vec<&str> = vocabulary.terms().collect();
                for (number, term) in all.iter().enumerate() {
                    prop_assert_eq!(vocabulary.get(term), Some(number as u32));
                }
            }
        }
    }

    #[test]
    fn a_repeated_term_is_damage() {
        assert!(Vocabulary::from_parts("aa".into(), vec![1, 2]).is_none());
        assert!(Vocabulary::from_parts("ab".into(), vec![1, 2]).is_some());
        assert!(Vocabulary::from_parts("ab".into(), vec![1]).is_none());
        assert!(Vocabulary::from_parts(String::new(), vec![]).is_some());
    }
}
