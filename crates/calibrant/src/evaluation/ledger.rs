//! How often has this test set been looked at?
//!
//! Every look at a test set that is followed by a choice makes the chosen numbers a little too good. A
//! ledger is a file of JSON lines beside a model, one for every evaluation; a test set is known by
//! its contents, whatever its file is called.

use std::collections::BTreeSet;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use crate::corpus::{ContentRef, Document};

/// What a ledger is called in the folder of the models that it speaks of.
pub(crate) const LEDGER_FILE_NAME: &str = "calibrant-ledger.jsonl";

/// One evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// When, in UTC as ISO 8601 has it; see [`utc_time`].
    pub time: String,
    /// The test set, by [`TestSetHash`].
    pub test_set: String,
    /// Documents in the test set.
    pub rows: u64,
    /// The file name of the model, or of the probabilities.
    pub model: String,
    /// The contents of that file, as 32 hexadecimal digits of a hash.
    pub model_hash: String,
    /// What kind of model it is.
    pub classifier: String,
    /// The mean log loss that was measured.
    pub log_loss: f64,
}

impl LedgerEntry {
    /// The line that is added to the file, with its line break.
    pub fn line(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

/// How often a test set has been evaluated before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerNote {
    /// Evaluations before this one.
    pub times_before: u64,
    /// Different models in those.
    pub models_before: u64,
}

impl LedgerNote {
    /// In a sentence; `None` for a test set that was not looked at before.
    ///
    /// ```
    /// use calibrant::evaluation::LedgerNote;
    /// let note = LedgerNote { times_before: 3, models_before: 2 };
    /// assert_eq!(note.sentence().as_deref(), Some(
    ///     "this test set has been evaluated 3 times before, by 2 models of this project; \
    ///      choosing by these numbers makes them optimistic"
    /// ));
    /// assert_eq!(LedgerNote { times_before: 0, models_before: 0 }.sentence(), None);
    /// ```
    pub fn sentence(&self) -> Option<String> {
        let times = match self.times_before {
            0 => return None,
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            times => format!("{times} times"),
        };
        let models = match self.models_before {
            1 => "one model".to_owned(),
            models => format!("{models} models"),
        };
        Some(format!(
            "this test set has been evaluated {times} before, by {models} of this project; choosing by \
             these numbers makes them optimistic"
        ))
    }
}

/// What has been written down so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
}

impl Ledger {
    /// No more than this much of a ledger is read: some sixty thousand evaluations.
    pub const MOST_BYTES: u64 = 16 << 20;

    /// Reads at most [`Self::MOST_BYTES`]. Lines that make no sense are passed over: a
    /// ledger is a courtesy, and nothing shall fail because of it.
    ///
    /// ```
    /// use calibrant::evaluation::Ledger;
    /// let damaged = b"{\"time\":\"2026\n\n\xFF\xFE\n[1]\n";
    /// assert_eq!(Ledger::read(&damaged[..])?, Ledger::default());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read(reader: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        reader.take(Self::MOST_BYTES).read_to_end(&mut bytes)?;
        let lines = bytes.split(|&byte| byte == b'\n');
        Ok(Self {
            entries: lines
                .filter_map(|line| serde_json::from_slice(line).ok())
                .collect(),
        })
    }

    /// Adds what another ledger says.
    pub fn merge(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    /// What was evaluated, in the order it was written.
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// How often this test set was evaluated.
    pub fn note(&self, test_set: &str) -> LedgerNote {
        let looks = self
            .entries
            .iter()
            .filter(|entry| entry.test_set == test_set);
        let models: BTreeSet<&str> = looks
            .clone()
            .map(|entry| entry.model_hash.as_str())
            .collect();
        LedgerNote {
            times_before: looks.count() as u64,
            models_before: models.len() as u64,
        }
    }
}

/// Knows a test set by its texts and labels: the order of the rows, the name of the file, its format
/// and its compression do not matter, nor do weights and identifiers.
///
/// # Formula
/// Every document is hashed by BLAKE3 to 128 bits, text and labels with their lengths; these are
/// added up modulo `2^128`, and the sum is hashed once more together with the number of documents.
///
/// # When it misleads
/// Texts count as they were read: the same rows read from another field are another test set.
///
/// ```
/// use calibrant::corpus::Document;
/// use calibrant::evaluation::TestSetHash;
/// let document = |text: &str, label: &str| Document::new(text).label(label);
/// let (mut one, mut other) = (TestSetHash::default(), TestSetHash::default());
/// one.add(&document("win big", "spam"));
/// one.add(&document("see you", "ham"));
/// other.add(&document("see you", "ham"));
/// assert_ne!(one.to_hex(), other.to_hex());
/// other.add(&document("win big", "spam"));
/// assert_eq!(one.to_hex(), other.to_hex()); // the order leaves no trace
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TestSetHash {
    sum: u128,
    count: u64,
}

impl TestSetHash {
    /// Of a batch of documents; batches can be hashed in parallel and merged in any order.
    pub fn of(documents: &[Document]) -> Self {
        let mut hash = Self::default();
        documents.iter().for_each(|document| hash.add(document));
        hash
    }

    /// Adds a document.
    pub fn add(&mut self, document: &Document) {
        let mut hasher = blake3::Hasher::new();
        // Lengths come first, so that nothing can move between text and labels.
        let mut part = |kind: u8, bytes: &[u8]| {
            hasher.update(&[kind]);
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        ContentRef::from(document).for_each_part(&mut part);
        for label in &document.labels {
            part(b'l', label.as_bytes());
        }
        self.sum = self.sum.wrapping_add(first_half(&hasher));
        self.count += 1;
    }

    /// Adds what another has seen.
    pub fn merge(&mut self, other: Self) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.count += other.count;
    }

    /// How many documents were added.
    pub fn rows(&self) -> u64 {
        self.count
    }

    /// 32 hexadecimal digits.
    pub fn to_hex(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"calibrant test set 1");
        hasher.update(&self.count.to_le_bytes());
        hasher.update(&self.sum.to_le_bytes());
        format!("{:032x}", first_half(&hasher))
    }
}

/// The contents of a file as 32 hexadecimal digits.
pub(crate) fn content_hash(mut reader: impl Read) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(format!("{:032x}", first_half(&hasher))),
            Ok(count) => {
                hasher.update(&buffer[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn first_half(hasher: &blake3::Hasher) -> u128 {
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    u128::from_be_bytes(key)
}

/// Seconds since the start of 1970 as a time in UTC.
///
/// ```
/// use calibrant::evaluation::utc_time;
/// assert_eq!(utc_time(0), "1970-01-01T00:00:00Z");
/// assert_eq!(utc_time(951_782_400), "2000-02-29T00:00:00Z"); // by hand: 11,016 days
/// ```
pub fn utc_time(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years are taken to begin in March, so that a leap day is the last of its year. Days from
    // the first of March of the year 0; 400 years are 146,097 days.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // March to January have 31 and 30 days in a pattern that repeats every 153.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Content;

    fn entry(test_set: &str, model_hash: &str) -> LedgerEntry {
        LedgerEntry {
            time: utc_time(1_700_000_000),
            test_set: test_set.into(),
            rows: 3,
            model: "a.calibrant".into(),
            model_hash: model_hash.into(),
            classifier: "linear_svm".into(),
            log_loss: 0.25,
        }
    }

    #[test] // Values by Python's datetime.
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (1_709_164_799, "2024-02-28T23:59:59Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc_time(seconds), expected);
        }
        utc_time(u64::MAX);
    }

    #[test]
    fn entries_are_counted_by_test_set_and_model() {
        let lines: String = [
            entry("x", "1"),
            entry("y", "1"),
            entry("x", "1"),
            entry("x", "2"),
        ]
        .iter()
        .map(|entry| entry.line().unwrap())
        .collect();
        let ledger = Ledger::read(lines.as_bytes()).unwrap();
        assert_eq!(ledger.entries().len(), 4);
        let note = ledger.note("x");
        assert_eq!((note.times_before, note.models_before), (3, 2));
        assert_eq!(ledger.note("z").sentence(), None);
        assert!(
            ledger
                .note("y")
                .sentence()
                .unwrap()
                .contains("once before, by one model")
        );
    }

    #[test]
    fn damaged_lines_are_passed_over_and_new_fields_are_no_damage() {
        let good = entry("x", "1").line().unwrap();
        let more = good.replace("\"rows\"", "\"added_later\":[1],\"rows\"");
        let text = format!(
            "{}\n{{\"time\":3}}\n{good}{more}not json\n{}",
            &good[..40],
            &good[..90]
        );
        let ledger = Ledger::read(text.as_bytes()).unwrap();
        assert_eq!(ledger.note("x").times_before, 2);
    }

    #[test]
    fn a_ledger_without_end_is_read_up_to_the_limit() {
        let ledger = Ledger::read(io::repeat(b'\n')).unwrap();
        assert_eq!(ledger, Ledger::default());
        assert_eq!(Ledger::read(io::repeat(b'{')).unwrap(), Ledger::default());
    }

    #[test]
    fn labels_and_texts_are_told_apart() {
        let hash = |text: &str, labels: &[&str]| {
            let mut hash = TestSetHash::default();
            hash.add(&Document {
                id: Some("7".into()),
                content: Content::Text(text.into()),
                labels: labels.iter().map(|&label| label.to_owned()).collect(),
                labels_were_list: false,
                weight: 2.0,
                group: None,
                amounts: Vec::new(),
                line: 9,
                row: 0,
            });
            hash.to_hex()
        };
        let all = [
            hash("a", &["b", "c"]),
            hash("a", &["bc"]),
            hash("ab", &["c"]),
            hash("a", &[]),
            hash("", &["a"]),
        ];
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert_eq!(all[0].len(), 32);
    }

    #[test] // The first half of the published BLAKE3 hash of nothing.
    fn contents_are_hashed_by_blake3() {
        assert_eq!(
            content_hash(io::empty()).unwrap(),
            "af1349b9f5f9a1a6a0404dea36dcc949"
        );
    }
}
