//! Histogram binning: the share of positives among examples with similar scores.

use serde::{Deserialize, Serialize};

use super::distinct_scores::{DistinctScore, class_weights, distinct_scores, edge_between};
use super::steps::Steps;
use super::{CalibrationMethod, Calibrator, HeldOutScores, Turning};
use crate::{CalibrationError, Probability};

/// Cuts the scores into bins and counts positives in each.
///
/// # Formula
/// ```text
/// P = (positives of the bin + 2 b) / (examples of the bin + 2),   b = share of positives among all
/// ```
/// with weights for counts. The two examples that are added lean to the base rate, so that no bin
/// says 0 or 1. Examples with one score are never in two bins.
///
/// The number of bins, where it is left open, grows with the cube root of the number of
/// examples: with `B` bins the error from levelling the curve within a bin falls as `1/B²` and the
/// error from counting few grows as `B/n`, and their sum is least where `B³` is like `n`. Bins of
/// equal mass number `4 n^⅓`: with a rare class all that matters happens in the last few of them.
/// Bins of equal width number `2 (2r)^⅓` with `r` examples of the rarer class.
///
/// # When it misleads
/// The curve jumps between bins and need not rise. [`Isotonic`](super::Isotonic) chooses its bins
/// itself and nearly always forecasts better; this is the simple thing to compare with.
///
/// # Reference
/// Zadrozny & Elkan, ICML 2001.
///
/// ```
/// use calibrant_calibration::calibration::{Binning, CalibrationMethod, Calibrator, HeldOutScores, Histogram};
/// let held_out = HeldOutScores::assume(
///     vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
///     vec![false, false, false, true, false, true],
/// )?;
/// let histogram = Histogram { binning: Binning::EqualMass, bins: Some(2) };
/// let steps = histogram.fit(&held_out)?;
/// // By hand: none of three and two of three, and two more with the base rate of 1/3.
/// assert!((steps.probability(-7.0).value() - (0.0 + 2.0 / 3.0) / 5.0).abs() < 1e-12);
/// assert!((steps.probability(4.4).value() - (2.0 + 2.0 / 3.0) / 5.0).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Histogram {
    /// How the scores are cut.
    pub binning: Binning,
    /// How many bins there are at most; `None` lets the number of examples decide.
    pub bins: Option<usize>,
}

/// How scores are cut into bins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binning {
    /// Bins of about equal weight.
    #[default]
    EqualMass,
    /// Bins of equal width, between the score that a twentieth of one class lies below (of the
    /// class with the lower one) and the score that a twentieth of one class lies above. The outer
    /// bins hold all that lies beyond, so that a few stray scores do not crowd the rest into one
    /// bin. Bins that would be empty are shared out among their neighbours.
    EqualWidth,
}

/// How many examples with the base rate each bin is given.
const PSEUDO_COUNT: f64 = 2.0;

/// One probability a bin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistogramCalibrator {
    steps: Steps,
}

impl Turning for HistogramCalibrator {
    fn turns(&self) -> Vec<f64> {
        self.steps.edges().to_vec()
    }
}

impl HistogramCalibrator {
    /// How many different stretches of scores there are.
    pub fn step_count(&self) -> usize {
        self.steps.len()
    }
}

impl Calibrator for HistogramCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        Probability::from_log_odds(self.steps.right_at_edges(score))
    }
}

impl CalibrationMethod for Histogram {
    type Calibrator = HistogramCalibrator;

    fn fit(&self, held_out: &HeldOutScores) -> Result<HistogramCalibrator, CalibrationError> {
        let distinct = distinct_scores(held_out, "histogram binning")?;
        // By weight, so that a weight of two is the example twice.
        let (negative, positive) = class_weights(&distinct);
        let rarer = positive.min(negative);
        let bin_count = match (self.bins, self.binning) {
            (Some(0), _) => {
                return Err(CalibrationError::BadSetting {
                    setting: "the number of bins",
                    requirement: "at least 1",
                    value: "0".into(),
                });
            }
            (Some(bins), _) => bins as f64,
            (None, Binning::EqualMass) => (4.0 * (positive + negative).cbrt()).round().max(1.0),
            (None, Binning::EqualWidth) => (2.0 * (2.0 * rarer).cbrt()).round().max(1.0),
        };
        let cuts = match self.binning {
            Binning::EqualMass => equal_mass(&distinct, bin_count),
            Binning::EqualWidth => equal_width(&distinct, bin_count),
        };
        let total = negative + positive;
        let (edges, ends): (Vec<f64>, Vec<usize>) = cuts.into_iter().unzip();
        let mut log_odds = Vec::with_capacity(ends.len() + 1);
        let mut start = 0;
        for end in ends.into_iter().chain([distinct.len()]) {
            let bin = class_weights(&distinct[start..end]);
            let odds = (bin.1 + PSEUDO_COUNT * (positive / total))
                / (bin.0 + PSEUDO_COUNT * (negative / total));
            log_odds.push(Probability::from_log_odds(odds.ln()).log_odds());
            start = end;
        }
        let steps = Steps::new(edges, log_odds).ok_or(CalibrationError::Overflow)?;
        Ok(HistogramCalibrator { steps })
    }
}

/// Edges between bins and the number of distinct scores below each.
type Cuts = Vec<(f64, usize)>;

/// Cuts wherever neighbouring scores lie in different bins, at an edge that the two bins (whole
/// numbers) decide if it lies between the scores.
fn cuts(
    distinct: &[DistinctScore],
    mut bin_of: impl FnMut(&DistinctScore) -> f64,
    edge: impl Fn(f64, f64) -> Option<f64>,
) -> Cuts {
    let mut cuts = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    for (position, point) in distinct.iter().enumerate() {
        let bin = bin_of(point);
        if let Some((last_score, last_bin)) = before
            && last_bin < bin
        {
            let edge = edge(last_bin, bin)
                .filter(|&edge| last_score < edge && edge <= point.score)
                .unwrap_or_else(|| edge_between(last_score, point.score));
            cuts.push((edge, position));
        }
        before = Some((point.score, bin));
    }
    cuts
}

/// A score belongs to the bin in which the middle of its weight lies.
fn equal_mass(distinct: &[DistinctScore], bin_count: f64) -> Cuts {
    let total: f64 = distinct.iter().map(DistinctScore::weight).sum();
    let mut before = 0.0;
    let bin_of = |point: &DistinctScore| {
        let middle = (before + point.weight() / 2.0) / total;
        before += point.weight();
        mass_bin(middle, bin_count)
    };
    cuts(distinct, bin_of, |_, _| None)
}

/// The bin of a place between 0 and 1 in the mass. The nudge keeps rounding from deciding where a
/// middle lies on an edge.
fn mass_bin(middle: f64, bin_count: f64) -> f64 {
    (middle * bin_count + 1e-9).floor().min(bin_count - 1.0)
}

fn equal_width(distinct: &[DistinctScore], bin_count: f64) -> Cuts {
    let of_positives = inner_range(distinct, |point| point.positive);
    let of_negatives = inner_range(distinct, |point| point.negative);
    let low = of_positives.0.min(of_negatives.0);
    let high = of_positives.1.max(of_negatives.1);
    let bin_of = |point: &DistinctScore| {
        // By halves, so that the width does not overflow.
        let t = (point.score / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        // Not a number where all scores of the range are equal: that is one bin.
        (t.max(0.0) * bin_count).floor().min(bin_count - 1.0)
    };
    // The edge between neighbours, and the middle of the empty bins between others.
    let edge = |left: f64, right: f64| {
        let t = (left + 1.0 + right) / 2.0 / bin_count;
        Some(low * (1.0 - t) + high * t)
    };
    cuts(distinct, bin_of, edge)
}

/// The scores between which a class lies but for a twentieth (of its weight) on each side, and but
/// for one example where there are fewer.
fn inner_range(distinct: &[DistinctScore], weight: impl Fn(&DistinctScore) -> f64) -> (f64, f64) {
    let total: f64 = distinct.iter().map(&weight).sum();
    let left_out = total * (1.5 / total).clamp(0.05, 0.49);
    let beyond = |sum: &mut f64, point: &DistinctScore| {
        *sum += weight(point);
        *sum > left_out
    };
    let (mut below, mut above) = (0.0, 0.0);
    let low = distinct.iter().find(|point| beyond(&mut below, point));
    let high = distinct.iter().rfind(|point| beyond(&mut above, point));
    // There is at least one example, so both are there.
    let score = |found: Option<&DistinctScore>| found.map_or(0.0, |point| point.score);
    (score(low), score(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fit(binning: Binning, bins: usize, scores: &[f64], labels: &[bool]) -> HistogramCalibrator {
        let held_out = HeldOutScores::assume(scores.to_vec(), labels.to_vec()).unwrap();
        let histogram = Histogram {
            binning,
            bins: Some(bins),
        };
        histogram.fit(&held_out).unwrap()
    }

    #[test]
    fn stray_scores_do_not_crowd_the_rest_into_one_bin() {
        let mut scores: Vec<f64> = (0..100).map(f64::from).collect();
        let mut labels: Vec<bool> = (0..100).map(|i| i >= 50).collect();
        scores.extend([1e308, -1e308]);
        labels.extend([true, false]);
        let steps = fit(Binning::EqualWidth, 10, &scores, &labels);
        assert!(steps.probability(10.0).value() < 0.1);
        assert!(steps.probability(90.0).value() > 0.9);
        assert_eq!(steps.probability(1e308), steps.probability(97.0));
    }

    #[test]
    fn empty_bins_go_to_their_neighbours() {
        // Bins of width 1 from 0 to 10; those from 2 to 8 are empty, their middle is 5.
        let scores = [0.0, 0.0, 0.5, 1.5, 8.5, 9.5, 10.0, 10.0];
        let labels = [false, false, false, true, false, true, true, true];
        let steps = fit(Binning::EqualWidth, 10, &scores, &labels);
        assert_eq!(steps.probability(4.9), steps.probability(1.5));
        assert_eq!(steps.probability(5.1), steps.probability(8.5));
        assert_ne!(steps.probability(4.9), steps.probability(5.1));
    }

    #[test]
    fn any_number_of_bins_is_taken_but_none() {
        for binning in [Binning::EqualMass, Binning::EqualWidth] {
            let steps = fit(binning, usize::MAX, &[1.0, 2.0, 3.0], &[false, true, true]);
            assert!(steps.probability(1.0) < steps.probability(3.0));
            let one = fit(binning, 1, &[1.0, 2.0, 3.0], &[false, true, true]);
            assert!((one.probability(0.0).value() - 2.0 / 3.0).abs() < 1e-12);
        }
        let none = Histogram {
            bins: Some(0),
            ..Histogram::default()
        };
        let held_out = HeldOutScores::assume(vec![1.0, 2.0], vec![true, false]).unwrap();
        assert!(none.fit(&held_out).is_err());
    }

    proptest! {
        #[test]
        fn a_weight_of_two_is_the_example_twice(
            examples in prop::collection::vec((-20i8..20, any::<bool>(), 1usize..4), 2..60), mass in any::<bool>()
        ) {
            let labels: Vec<bool> = examples.iter().map(|e| e.1).collect();
            prop_assume!(labels.contains(&true) && labels.contains(&false));
            let scores: Vec<f64> = examples.iter().map(|e| f64::from(e.0)).collect();
            let weights: Vec<f64> = examples.iter().map(|e| e.2 as f64).collect();
            let weighted = HeldOutScores::assume_weighted(scores.clone(), labels, weights).unwrap();
            let repeated: Vec<_> = examples.iter().flat_map(|e| std::iter::repeat_n((f64::from(e.0), e.1), e.2)).collect();
            let (again, labels) = repeated.into_iter().unzip();
            let repeated = HeldOutScores::assume(again, labels).unwrap();
            let binning = if mass { Binning::EqualMass } else { Binning::EqualWidth };
            let method = Histogram { binning, bins: None };
            let (a, b) = (method.fit(&weighted).unwrap(), method.fit(&repeated).unwrap());
            for score in scores {
                let gap = a.probability(score).log_odds() - b.probability(score).log_odds();
                prop_assert!(gap.abs() < 1e-9, "{}", gap);
            }
        }

        /// Counted directly: the examples whose probability is the same are those of one bin.
        #[test]
        fn every_bin_has_its_share_of_positives(
            examples in prop::collection::vec((-20i8..20, any::<bool>(), 1u8..4), 2..60), bins in 1usize..12, mass in any::<bool>()
        ) {
            let scores: Vec<f64> = examples.iter().map(|e| f64::from(e.0)).collect();
            let labels: Vec<bool> = examples.iter().map(|e| e.1).collect();
            let weights: Vec<f64> = examples.iter().map(|e| f64::from(e.2)).collect();
            let held_out = HeldOutScores::assume_weighted(scores.clone(), labels.clone(), weights.clone()).unwrap();
            let binning = if mass { Binning::EqualMass } else { Binning::EqualWidth };
            let Ok(steps) = (Histogram { binning, bins: Some(bins) }).fit(&held_out) else { return Ok(()) };
            prop_assert!(steps.step_count() <= bins);
            let (positive, negative) = held_out.class_weights();
            let base = positive / (positive + negative);
            for &score in &scores {
                let found = steps.probability(score);
                // Neighbouring bins of one height are one stretch; each then has this mean alone.
                let bin: Vec<usize> = (0..scores.len()).filter(|&i| steps.probability(scores[i]) == found).collect();
                let weight: f64 = bin.iter().map(|&i| weights[i]).sum();
                let positive: f64 = bin.iter().filter(|&&i| labels[i]).map(|&i| weights[i]).sum();
                let (low, high) = ((positive + 2.0 * base) / (weight + 2.0), positive / weight);
                let value = found.value();
                prop_assert!(value >= low.min(high).min(base) - 1e-12 && value <= low.max(high).max(base) + 1e-12);
            }
        }
    }
}
