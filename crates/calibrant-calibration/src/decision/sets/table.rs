//! Calibration forecasts as a compact table, from which a rule for any coverage is read.

use super::score::{Place, score_of, set_draw};
use super::thinned::Thinned;
use super::{
    CalibrationSource, Guarantee, LastClass, Penalty, SetKind, SetRule, SetSettings, check_coverage,
};
use crate::CalibrationError;
use crate::numeric::stable_hash;
use serde::{Deserialize, Serialize};

/// What was said of documents whose class is known.
#[derive(Debug, Clone, Copy)]
pub struct CalibrationRows<'a> {
    /// Row by row, the probabilities of all classes.
    pub probabilities: &'a [f64],
    /// How many classes there are.
    pub class_count: usize,
    /// The true class of each row.
    pub labels: &'a [u32],
    /// What draws follow from: a hash of each document (see [`set_draw`]), or nothing, and then the probabilities themselves are hashed.
    pub keys: Option<&'a [u64]>,
    /// Draws themselves, from 0 to 1, in place of those that follow from keys.
    pub draws: Option<&'a [f64]>,
}

impl<'a> CalibrationRows<'a> {
    /// Rows of probabilities with their classes.
    pub fn new(probabilities: &'a [f64], class_count: usize, labels: &'a [u32]) -> Self {
        Self {
            probabilities,
            class_count,
            labels,
            keys: None,
            draws: None,
        }
    }

    /// The probabilities of one row.
    pub(super) fn row(&self, row: usize) -> &'a [f64] {
        &self.probabilities[row * self.class_count..(row + 1) * self.class_count]
    }

    fn check(&self) -> Result<(), CalibrationError> {
        let rows = self.labels.len();
        if rows == 0 || self.class_count == 0 {
            return Err(CalibrationError::NoExamples);
        }
        let mismatch = |left_name, left, right| CalibrationError::LengthMismatch {
            left_name,
            left,
            right_name: "labels",
            right,
        };
        if rows.checked_mul(self.class_count) != Some(self.probabilities.len()) {
            let left = self.probabilities.len() / self.class_count;
            return Err(mismatch("probabilities", left, rows));
        }
        if let Some(keys) = self.keys.filter(|keys| keys.len() != rows) {
            return Err(mismatch("keys", keys.len(), rows));
        }
        if let Some(draws) = self.draws.filter(|draws| draws.len() != rows) {
            return Err(mismatch("draws", draws.len(), rows));
        }
        if let Some(&label) = self
            .labels
            .iter()
            .find(|&&label| label as usize >= self.class_count)
        {
            return Err(CalibrationError::BadSetting {
                setting: "label",
                requirement: "below the number of classes",
                value: label.to_string(),
            });
        }
        let fine = |p: &f64| (0.0..=1.0).contains(p);
        match self.probabilities.iter().position(|p| !fine(p)) {
            Some(position) => Err(CalibrationError::BadScore {
                position,
                value: self.probabilities[position],
            }),
            None => Ok(()),
        }
    }
}

/// A key for a document of which nothing is known but its probabilities.
pub(super) fn row_key(probabilities: &[f64]) -> u64 {
    probabilities.iter().fold(0, |state, p| {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&u64::to_le_bytes(state));
        bytes[8..].copy_from_slice(&p.to_le_bytes());
        stable_hash(&bytes)
    })
}

/// About so many scores are kept; where there are more, they are thinned.
const MOST_SCORES: usize = 10_000;
/// So many are kept of each class at least.
const MOST_OF_RARE_CLASS: usize = 200;

/// How badly the true classes of calibration examples fared, class by class: all that sets of any coverage need.
///
/// # Formula
/// The score of a class is, by [`SetKind`],
/// ```text
/// lac    1 - p_y
/// aps    Σ_{p_k > p_y} p_k  +  (1 - u) Σ_{p_k = p_y} p_k                 u drawn from the document's hash
/// raps   the same  +  weight · max(0, rank(y) - free)
/// ```
/// and a set of coverage `c` holds the classes whose score is at most the `⌈(n + 1) c⌉`-th smallest score of a true class
/// (all classes if that is beyond `n`). Class by class, the true classes are those of the class in question. With other shares of classes, by ratios
/// `w_y` of new to old shares, the threshold of `y` is the least score up to which the examples have the mass `c (Σ_i w_{y_i} + w_y)`.
///
/// # When it misleads
/// See [`Guarantee`]. Up to 10,000 scores are kept as they are; of more, some stand for those just below them, which can only
/// enlarge sets.
///
/// # Reference
/// Vovk, Gammerman and Shafer, 2005; Sadinle, Lei and Wasserman, JASA 2019 (`lac`); Romano, Sesia and Candès, NeurIPS 2020 (`aps`);
/// Angelopoulos et al., ICLR 2021 (`raps`); Podkopaev and Ramdas, UAI 2021 (other shares of classes).
///
/// ```
/// use calibrant_calibration::decision::{CalibrationRows, CalibrationSource, SetSettings, SetTable};
/// let probabilities = [0.9, 0.1, 0.8, 0.2, 0.3, 0.7, 0.6, 0.4];
/// let rows = CalibrationRows::new(&probabilities, 2, &[0, 0, 1, 1]);
/// let table = SetTable::fit(SetSettings::default(), &rows, CalibrationSource::Unseen)?;
/// // By hand: true classes had 0.9, 0.8, 0.7, 0.4; ⌈5 · 0.8⌉ = 4, so that all of at least 0.4 are in.
/// let rule = table.at(0.8)?;
/// assert_eq!(rule.set(&[0.55, 0.45], 0), [0, 1]);
/// assert_eq!(rule.set(&[0.35, 0.65], 0), [1]);
/// // ⌈5 · 0.6⌉ = 3: at least 0.7. No class of the first document fits; the most probable is kept.
/// assert_eq!(table.at(0.6)?.set(&[0.55, 0.45], 0), [0]);
/// // Four examples cannot promise 90 %: all classes are in.
/// assert_eq!(table.at(0.9)?.set(&[0.99, 0.01], 0), [0, 1]);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedTable")]
pub struct SetTable {
    settings: SetSettings,
    source: CalibrationSource,
    /// Scores of the true class, by the true class.
    scores: Vec<Thinned>,
    /// Whether no two examples have the same score, and each is there.
    distinct: bool,
}

/// A table as it stands in a file, before it is checked.
#[derive(Deserialize)]
struct SavedTable {
    settings: SetSettings,
    source: CalibrationSource,
    scores: Vec<Thinned>,
    distinct: bool,
}

impl TryFrom<SavedTable> for SetTable {
    type Error = CalibrationError;

    fn try_from(saved: SavedTable) -> Result<Self, CalibrationError> {
        saved.scores.iter().try_for_each(Thinned::check)?;
        saved.settings.penalty.map_or(Ok(()), Penalty::check)?;
        if saved.scores.iter().all(|scores| scores.len() == 0) {
            return Err(CalibrationError::NoExamples);
        }
        Ok(Self {
            settings: saved.settings,
            source: saved.source,
            scores: saved.scores,
            distinct: saved.distinct,
        })
    }
}

impl SetTable {
    /// From forecasts of examples whose class is known.
    pub fn fit(
        mut settings: SetSettings,
        rows: &CalibrationRows<'_>,
        source: CalibrationSource,
    ) -> Result<Self, CalibrationError> {
        rows.check()?;
        check_coverage(settings.penalty_coverage)?;
        let mut used: Vec<usize> = (0..rows.labels.len()).collect();
        if settings.kind == SetKind::Raps && settings.penalty.is_none() {
            let (penalty, rest) = Penalty::choose(rows, settings.penalty_coverage);
            (settings.penalty, used) = (Some(penalty), rest);
        }
        settings.penalty.map_or(Ok(()), Penalty::check)?;
        let mut of_class: Vec<Vec<f64>> = vec![Vec::new(); rows.class_count];
        let mut above = Vec::new();
        for &row in &used {
            let (probabilities, label) = (rows.row(row), rows.labels[row]);
            let key = || {
                rows.keys
                    .map_or_else(|| row_key(probabilities), |keys| keys[row])
            };
            let draw = match (settings.last_class, rows.draws) {
                (LastClass::Whole, _) => 0.0,
                (_, Some(draws)) => draws[row],
                (_, None) => set_draw(key(), settings.model_key),
            };
            let place = Place::of(probabilities, label, &mut above);
            let score = score_of(settings.kind, settings.penalty, place, draw);
            of_class[label as usize].push(score);
        }
        let mut all: Vec<f64> = of_class.iter().flatten().copied().collect();
        all.sort_unstable_by(f64::total_cmp);
        let distinct = all.len() <= MOST_SCORES && all.windows(2).all(|pair| pair[0] < pair[1]);
        let most = |own: usize| match all.len() <= MOST_SCORES {
            true => own,
            false => (MOST_SCORES * own / all.len()).max(MOST_OF_RARE_CLASS),
        };
        let thin = |scores: Vec<f64>| {
            let most = most(scores.len());
            Thinned::new(scores, most)
        };
        Ok(Self {
            settings,
            source,
            scores: of_class.into_iter().map(thin).collect(),
            distinct,
        })
    }

    /// The same in less room, for files: about `most` scores, but `most_of_class` of each class at least, rounded to six digits. Sets are no
    /// smaller than before.
    pub fn compact(&self, most: usize, most_of_class: usize) -> Self {
        let all: u64 = self.scores.iter().map(Thinned::len).sum();
        let own = |scores: &Thinned| {
            let share = (most as u64 * scores.len() / all.max(1)) as usize;
            scores.compact(share.max(most_of_class))
        };
        Self {
            settings: self.settings,
            source: self.source,
            scores: self.scores.iter().map(own).collect(),
            distinct: false,
        }
    }

    /// The same scores for sets class by class, or not, and of documents that no class fits: neither takes part in
    /// fitting.
    #[must_use]
    pub fn with(mut self, class_by_class: bool, keep_top: bool) -> Self {
        self.settings.class_by_class = class_by_class;
        self.settings.keep_top = keep_top;
        self
    }

    /// How many examples it takes to promise this coverage: `⌈coverage / (1 - coverage)⌉`, of each class where classes are treated one by one.
    ///
    /// ```
    /// use calibrant_calibration::decision::SetTable;
    /// assert_eq!(SetTable::least_examples(0.9), 9);
    /// assert_eq!(SetTable::least_examples(0.99), 99);
    /// assert_eq!(SetTable::least_examples(0.99999), 99_999);
    /// ```
    pub fn least_examples(coverage: f64) -> u64 {
        // The k-th smallest of n with k = ⌈(n + 1) c⌉ ≤ n.
        (coverage / (1.0 - coverage) * (1.0 - 1e-9)).ceil() as u64
    }

    /// How the sets are made, with the penalty that was chosen.
    pub fn settings(&self) -> &SetSettings {
        &self.settings
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.scores.len()
    }

    /// How many calibration examples each class has.
    pub fn class_examples(&self) -> Vec<u64> {
        self.scores.iter().map(Thinned::len).collect()
    }

    /// The rule for sets that hold the true class with probability `coverage`.
    pub fn at(&self, coverage: f64) -> Result<SetRule, CalibrationError> {
        self.at_shares(coverage, None)
    }

    /// As [`Self::at`], where classes have other shares than among the calibration examples: `ratios` holds, class by class,
    /// the new share divided by the old one. Class by class, coverage does not depend on shares, and ratios change nothing.
    ///
    /// ```
    /// use calibrant_calibration::decision::{CalibrationRows, CalibrationSource, SetSettings, SetTable};
    /// let probabilities = [0.9, 0.1, 0.8, 0.2, 0.3, 0.7, 0.6, 0.4];
    /// let rows = CalibrationRows::new(&probabilities, 2, &[0, 0, 1, 1]);
    /// let table = SetTable::fit(SetSettings::default(), &rows, CalibrationSource::Unseen)?;
    /// // By hand, class 1 three times as frequent, relative to class 0: masses 1, 1 (at 0.9, 0.8) and 3, 3 (at 0.7, 0.4).
    /// // Class 0 needs 0.5 (8 + 1) = 4.5, which 0.7 reaches with 5; class 1 needs 0.5 (8 + 3) = 5.5, which takes 0.4.
    /// let rule = table.at_shares(0.5, Some(&[1.0, 3.0]))?;
    /// assert_eq!(rule.set(&[0.6, 0.4], 0), [1]);
    /// assert_eq!(rule.set(&[0.7, 0.3], 0), [0]);
    /// # Ok::<(), calibrant_calibration::CalibrationError>(())
    /// ```
    pub fn at_shares(
        &self,
        coverage: f64,
        ratios: Option<&[f64]>,
    ) -> Result<SetRule, CalibrationError> {
        check_coverage(coverage)?;
        let even = vec![1.0; self.scores.len()];
        let ratios_or_even = ratios.unwrap_or(&even);
        self.check_ratios(ratios_or_even)?;
        let thresholds = match self.settings.class_by_class {
            true => self.own_thresholds(coverage),
            false => self.shared_thresholds(coverage, ratios_or_even),
        };
        let examples: u64 = self.scores.iter().map(Thinned::len).sum();
        let tight = self.distinct
            && ratios.is_none()
            && !self.settings.class_by_class
            && !self.settings.keep_top
            && self.settings.last_class != LastClass::Added
            && self.source == CalibrationSource::Unseen;
        let guarantee = Guarantee {
            coverage,
            at_most: tight.then(|| (coverage + 1.0 / (examples + 1) as f64).min(1.0)),
            examples,
            source: self.source,
            class_by_class: self.settings.class_by_class,
            shifted: ratios.is_some() && !self.settings.class_by_class,
            several_labels: false,
        };
        Ok(SetRule::new(self.settings, thresholds, guarantee))
    }

    fn check_ratios(&self, ratios: &[f64]) -> Result<(), CalibrationError> {
        if ratios.len() != self.scores.len() {
            return Err(CalibrationError::LengthMismatch {
                left_name: "ratios of shares",
                left: ratios.len(),
                right_name: "classes",
                right: self.scores.len(),
            });
        }
        let fine = |ratio: &&f64| !(ratio.is_finite() && **ratio >= 0.0 && **ratio <= 1e100);
        match ratios.iter().find(fine) {
            Some(ratio) => Err(CalibrationError::BadSetting {
                setting: "ratio of shares",
                requirement: "a number from 0 to 1e100",
                value: ratio.to_string(),
            }),
            None => Ok(()),
        }
    }

    /// One threshold a class, from examples of that class alone.
    fn own_thresholds(&self, coverage: f64) -> Vec<f64> {
        let one = |scores: &Thinned| {
            let masses = running(scores.iter().map(|(score, count)| (score, count as f64)));
            threshold(&masses, coverage, scores.len() as f64 + 1.0)
        };
        self.scores.iter().map(one).collect()
    }

    /// One threshold a class, from all examples; all alike where the shares of classes are.
    fn shared_thresholds(&self, coverage: f64, ratios: &[f64]) -> Vec<f64> {
        let weighed = |(scores, &ratio): (&Thinned, &f64)| {
            let weighed = scores
                .iter()
                .map(|(score, count)| (score, count as f64 * ratio));
            weighed.collect::<Vec<_>>()
        };
        let mut masses: Vec<(f64, f64)> =
            self.scores.iter().zip(ratios).flat_map(weighed).collect();
        masses.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let masses = running(masses.into_iter());
        let total = masses.last().map_or(0.0, |last| last.1);
        let one = |&ratio: &f64| threshold(&masses, coverage, total + ratio);
        ratios.iter().map(one).collect()
    }
}

/// Each score with the mass of all up to it.
fn running(masses: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let sum = masses.scan(0.0, |sum, (score, mass)| {
        *sum += mass;
        Some((score, *sum))
    });
    sum.collect()
}

/// The least score up to which there is the wanted share of `total`; beyond all numbers if there is none.
fn threshold(masses: &[(f64, f64)], coverage: f64, total: f64) -> f64 {
    // 0.55 · 20 is a little more than 11 in binary: rounding shall not cost an example.
    let wanted = coverage * total - 1e-12 * total;
    let place = masses.partition_point(|&(_, mass)| mass < wanted);
    masses.get(place).map_or(f64::INFINITY, |&(score, _)| score)
}
