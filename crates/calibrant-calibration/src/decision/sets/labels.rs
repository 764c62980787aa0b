//! Sets for documents with several labels: few of the true ones are missed.

use super::super::stated::check_stated;
use super::thinned::rounded_up;
use super::{CalibrationSource, Guarantee, check_coverage};
use crate::numeric::rising_order;
use crate::{CalibrationError, RowLabels};
use serde::{Deserialize, Serialize};

/// About so many probabilities of true labels are kept.
const MOST_KEPT: usize = 10_000;

/// What was said of true labels, from which a threshold for any allowed share of missed ones is read.
///
/// # Formula
/// A set holds the labels of at least probability `t`; its loss is the share of the document's true labels that it misses.
/// With `R(t)` the mean loss of the `n` calibration documents that have a label, the threshold is
/// ```text
/// the largest t with   n/(n+1) · R(t) + 1/(n+1)  ≤  1 - coverage
/// ```
/// and a further document that has a label then has a loss of at most `1 - coverage` on average. Documents without any take no part: nothing of
/// them can be missed, and to count them as held would let more be missed of the others.
///
/// # When it misleads
/// It is a mean over documents (and over calibration sets): one with twenty labels counts as one with a single label, and
/// some may miss all. It says nothing of labels that are in the set and should not be.
///
/// # Reference
/// Angelopoulos, Bates, Fisch, Lei and Schuster, Conformal risk control, ICLR 2024, theorem 1.
///
/// ```
/// use calibrant_calibration::{RowLabels, decision::{CalibrationSource, LabelSetTable}};
/// let labels = RowLabels::from([vec![0, 1], vec![0], vec![1], vec![]]);
/// let probabilities = [0.9, 0.4, 0.8, 0.1, 0.3, 0.7, 0.2, 0.2];
/// let table = LabelSetTable::fit(&probabilities, 2, &labels, CalibrationSource::Unseen)?;
/// // By hand, at 60 %: losses of the three with a label may sum to 0.4 · 4 - 1 = 0.6. Above 0.4 half a document is missed, above 0.7 one and a half.
/// let rule = table.at(0.6)?;
/// assert_eq!(rule.threshold(), 0.7);
/// assert_eq!(rule.set(&[0.75, 0.6]), [0]);
/// // Nothing can be promised at 90 % with three documents: all labels are in.
/// assert_eq!(table.at(0.9)?.set(&[0.75, 0.6]), [0, 1]);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedLabels")]
pub struct LabelSetTable {
    label_count: usize,
    documents: u64,
    source: CalibrationSource,
    /// Probabilities of true labels, rising.
    probabilities: Vec<f64>,
    /// What part of its document each is; where many are thinned, of all that the lowest of them stands for.
    masses: Vec<f64>,
}

/// A table as it stands in a file, before it is checked.
#[derive(Deserialize)]
struct SavedLabels {
    label_count: usize,
    documents: u64,
    source: CalibrationSource,
    probabilities: Vec<f64>,
    masses: Vec<f64>,
}

impl TryFrom<SavedLabels> for LabelSetTable {
    type Error = CalibrationError;

    fn try_from(saved: SavedLabels) -> Result<Self, CalibrationError> {
        let fine = saved.probabilities.is_sorted()
            && saved.probabilities.iter().all(|p| (0.0..=1.0).contains(p))
            && saved
                .masses
                .iter()
                .all(|mass| mass.is_finite() && *mass >= 0.0)
            && saved.masses.len() == saved.probabilities.len()
            && saved.documents > 0;
        if !fine {
            return Err(CalibrationError::BadSetting {
                setting: "table of labels",
                requirement: "sorted, with a mass for each probability",
                value: "otherwise".to_owned(),
            });
        }
        // Tables of before counted documents without a label, too. The masses sum to those with one.
        let labelled = saved.masses.iter().sum::<f64>().round() as u64;
        Ok(Self {
            label_count: saved.label_count,
            documents: saved.documents.min(labelled).max(1),
            source: saved.source,
            probabilities: saved.probabilities,
            masses: saved.masses,
        })
    }
}

impl LabelSetTable {
    /// From the probabilities of all labels, document by document, and the true labels.
    pub fn fit(
        probabilities: &[f64],
        label_count: usize,
        labels: &RowLabels,
        source: CalibrationSource,
    ) -> Result<Self, CalibrationError> {
        check_stated(probabilities, label_count, labels.len())?;
        let (mut said, mut parts, mut own) = (Vec::new(), Vec::new(), Vec::new());
        let mut documents = 0;
        for (truth, row) in labels.iter().zip(probabilities.chunks_exact(label_count)) {
            own.clear();
            own.extend_from_slice(truth);
            own.sort_unstable();
            own.dedup();
            documents += u64::from(!own.is_empty());
            for &label in &own {
                let Some(&p) = row.get(label as usize) else {
                    return Err(CalibrationError::BadSetting {
                        setting: "label",
                        requirement: "below the number of labels",
                        value: label.to_string(),
                    });
                };
                said.push(p);
                parts.push(1.0 / own.len() as f64);
            }
        }
        if documents == 0 {
            return Err(CalibrationError::BadSetting {
                setting: "calibration documents",
                requirement: "such that some have a label",
                value: "without any".to_owned(),
            });
        }
        let order = rising_order(&said);
        let step = order.len().div_ceil(MOST_KEPT).max(1);
        // The lowest stands for those just above it: what is missed is never counted too low.
        let chunks = || order.chunks(step);
        let lowest = chunks().map(|chunk| said[chunk[0] as usize]);
        let mass = |chunk: &[u32]| {
            chunk
                .iter()
                .map(|&place| parts[place as usize])
                .sum::<f64>()
        };
        Ok(Self {
            label_count,
            documents,
            source,
            probabilities: lowest.collect(),
            masses: chunks().map(mass).collect(),
        })
    }

    /// The rule for sets that hold, on average, at least the share `coverage` of a document's true labels.
    pub fn at(&self, coverage: f64) -> Result<LabelSetRule, CalibrationError> {
        check_coverage(coverage)?;
        let documents = self.documents as f64;
        let allowed = (1.0 - coverage) * (documents + 1.0) - 1.0;
        let allowed = allowed + 1e-12 * (documents + 1.0);
        let threshold = if allowed < 0.0 {
            f64::NEG_INFINITY
        } else {
            self.threshold(allowed)
        };
        let guarantee = Guarantee {
            coverage,
            at_most: None,
            examples: self.documents,
            source: self.source,
            class_by_class: false,
            shifted: false,
            several_labels: true,
        };
        Ok(LabelSetRule {
            threshold,
            guarantee,
        })
    }

    /// The first probability that may not be missed, once so much is: with it the allowed mass would be exceeded.
    fn threshold(&self, allowed: f64) -> f64 {
        let mut missed = 0.0;
        let mut begin = 0;
        while begin < self.probabilities.len() {
            let own = self.probabilities[begin];
            let same = self.probabilities[begin..]
                .iter()
                .take_while(|&&p| p == own)
                .count();
            missed += self.masses[begin..begin + same].iter().sum::<f64>();
            if missed > allowed {
                return own;
            }
            begin += same.max(1);
        }
        f64::INFINITY
    }

    /// The same in less room, for files: at most `most` probabilities. Sets are no smaller than before.
    pub fn compact(&self, most: usize) -> Self {
        let step = self.probabilities.len().div_ceil(most.max(1)).max(1);
        let lowest = self.probabilities.chunks(step);
        let masses = self.masses.chunks(step);
        Self {
            label_count: self.label_count,
            documents: self.documents,
            source: self.source,
            probabilities: lowest.map(|chunk| -rounded_up(-chunk[0])).collect(),
            masses: masses.map(|chunk| rounded_up(chunk.iter().sum())).collect(),
        }
    }

    /// How many documents it rests on: those with a label.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// How many labels there are.
    pub fn label_count(&self) -> usize {
        self.label_count
    }
}

/// A rule that gives every document a set of labels. See [`LabelSetTable`].
#[derive(Debug, Clone, PartialEq)]
pub struct LabelSetRule {
    threshold: f64,
    guarantee: Guarantee,
}

impl LabelSetRule {
    /// Labels of at least this probability are in; infinite where none is, or all are.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// What is promised.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// The labels of a document, in the order of the probabilities.
    pub fn set(&self, probabilities: &[f64]) -> Vec<u32> {
        let mut set = Vec::new();
        self.set_into(probabilities, &mut set);
        set
    }

    /// As [`Self::set`], into `set`, whose former content is lost.
    pub fn set_into(&self, probabilities: &[f64], set: &mut Vec<u32>) {
        set.clear();
        let labels = (0..).zip(probabilities);
        let in_set = labels.filter(|(_, p)| **p >= self.threshold);
        set.extend(in_set.map(|(label, _)| label));
    }
}
