//! Which labels are most likely wrong?

mod labels;

use std::cmp::Ordering;

pub use labels::{LabelSuspect, suspect_labels};

use super::stated::check_stated;
use crate::CalibrationError;
use crate::numeric::{least_marked, most_marked, rising_order};
use serde::{Deserialize, Serialize};

/// A label that may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    /// Which example, from 0.
    pub row: usize,
    /// Its label.
    pub given: u32,
    /// The most probable of the other classes.
    pub other: u32,
    /// The probability of its label.
    pub given_probability: f64,
    /// That of the other class.
    pub other_probability: f64,
    /// How suspect the label is: larger is worse.
    pub score: f64,
}

/// Examples from the most suspect label to the least, by probabilities of a model that did not learn from them.
///
/// # Formula
/// ```text
/// score = e ln t_given - ln p_given        t_k = mean of p_k over examples labelled k,  e = (K - 2) / (2 (K - 1))
/// ```
/// A small `p_given` says less where the class mostly has small ones (a hard class), hence `t`; about its root rather than the whole, because a class may
/// be hard exactly because its labels are wrong. Of two classes (`K = 2`) none is harder than the other: the score is `-ln p_given`.
///
/// # When it misleads
/// The probabilities must be held out: a model that learned a wrong label states it. What is listed is what the *model* doubts. A
/// reader sees more than words, so that many suspects are right; [`Self::at_most`] is therefore a bound, and the honest yield
/// comes from reading a random sample of the list ([`wrong_among`]).
///
/// # Reference
/// Own. The exponent, one half where there are many classes, was chosen with 5 % of labels flipped (at random, or to what the class is confused with)
/// by precision at the number flipped, against the label quality scores and the filter of cleanlab; other corpora were kept for the verdict.
/// Thresholds and joint counts: Northcutt, Jiang and Chuang, Confident learning, JAIR 2021.
///
/// ```
/// use calibrant_calibration::decision::Suspects;
/// let probabilities = [0.9, 0.1, 0.0, 0.8, 0.2, 0.0, 0.1, 0.9, 0.0, 0.2, 0.8, 0.0];
/// let suspects = Suspects::find(&probabilities, 3, &[0, 0, 0, 1])?;
/// // By hand: class 0 has t = (0.9 + 0.8 + 0.1) / 3 = 0.6, and e = 1/4, so that the third scores ¼ ln 0.6 - ln 0.1.
/// let worst = suspects.ranked()[0];
/// assert_eq!((worst.row, worst.given, worst.other), (2, 0, 1));
/// assert!((worst.score - (0.25 * 0.6f64.ln() - 0.1f64.ln())).abs() < 1e-12);
/// // 0.9 of it is wrong by the model's own count.
/// assert!((suspects.at_most(1) - 0.9).abs() < 1e-12);
/// // It is likelier class 1 than that class's examples mostly are (0.9 ≥ 0.8).
/// assert_eq!(suspects.joint().count(0, 1), 1);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Suspects {
    ranked: Vec<Suspect>,
    joint: ConfidentJoint,
}

/// How many examples with each label look, with confidence, as if they belonged to each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfidentJoint {
    class_count: usize,
    /// Mean probability of each class over the examples labelled so; 1 where there are none.
    thresholds: Vec<f64>,
    labelled: Vec<u64>,
    counts: Vec<u64>,
}

impl ConfidentJoint {
    /// Examples with the label `given` whose probability of `likely` reaches that class's threshold (where several do, the
    /// most probable counts).
    pub fn count(&self, given: usize, likely: usize) -> u64 {
        self.counts[given * self.class_count + likely]
    }

    /// The mean probability of each class over the examples labelled so.
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// As [`Self::count`], scaled so that each label has as many as examples carry it.
    pub fn estimated(&self, given: usize, likely: usize) -> f64 {
        let own = &self.counts[given * self.class_count..(given + 1) * self.class_count];
        let (all, labelled) = (own.iter().sum::<u64>(), self.labelled[given]);
        match all {
            0 => f64::from(u8::from(given == likely)) * labelled as f64,
            all => own[likely] as f64 / all as f64 * labelled as f64,
        }
    }

    /// How many labels are wrong by these counts, over all classes. Rough, and too many where classes overlap: documents of
    /// two minds are counted with the wrong ones, and no interval goes with it.
    pub fn estimated_wrong(&self) -> f64 {
        let classes = 0..self.class_count;
        let pairs = classes
            .clone()
            .flat_map(|given| classes.clone().map(move |likely| (given, likely)));
        let wrong = pairs.filter(|(given, likely)| given != likely);
        wrong
            .map(|(given, likely)| self.estimated(given, likely))
            .sum()
    }
}

impl Suspects {
    /// Ranks examples by held-out probabilities, row by row, and their labels.
    pub fn find(
        probabilities: &[f64],
        class_count: usize,
        labels: &[u32],
    ) -> Result<Self, CalibrationError> {
        check(probabilities, class_count, labels)?;
        let rows = || probabilities.chunks_exact(class_count).zip(labels);
        let thresholds = thresholds(rows(), class_count);
        let mut labelled = vec![0; class_count];
        let mut counts = vec![0; class_count * class_count];
        let mut found: Vec<Suspect> = Vec::with_capacity(labels.len());
        for (row, (own, &given)) in rows().enumerate() {
            labelled[given as usize] += 1;
            let likely = first_most(own, |class| own[class] >= thresholds.1[class]);
            if let Some(likely) = likely {
                counts[given as usize * class_count + likely] += 1;
            }
            let other = first_most(own, |class| class != given as usize);
            let other = other.unwrap_or(given as usize);
            let given_probability = own[given as usize];
            let typical = thresholds.0[given as usize];
            let score = score(typical, given_probability, class_count);
            found.push(Suspect {
                row,
                given,
                other: other as u32,
                given_probability,
                other_probability: own[other],
                score,
            });
        }
        let scores: Vec<f64> = found.iter().map(|suspect| -suspect.score).collect();
        let order = rising_order(&scores);
        Ok(Self {
            ranked: order.iter().map(|&row| found[row as usize]).collect(),
            joint: ConfidentJoint {
                class_count,
                thresholds: thresholds.0,
                labelled,
                counts,
            },
        })
    }

    /// All examples, the most suspect first.
    pub fn ranked(&self) -> &[Suspect] {
        &self.ranked
    }

    /// About how many of the first so many labels are wrong at most, by the model's own count: the sum of what it gives to other classes. No bound, since
    /// probabilities are calibrated to labels some of which are wrong.
    pub fn at_most(&self, first: usize) -> f64 {
        let listed = self.ranked.iter().take(first);
        listed.map(|suspect| 1.0 - suspect.given_probability).sum()
    }

    /// How labels and confident forecasts go together.
    pub fn joint(&self) -> &ConfidentJoint {
        &self.joint
    }
}

fn check(
    probabilities: &[f64],
    class_count: usize,
    labels: &[u32],
) -> Result<(), CalibrationError> {
    check_stated(probabilities, class_count, labels.len())?;
    match labels.iter().find(|&&label| label as usize >= class_count) {
        Some(&label) => Err(unknown_label(label)),
        None => Ok(()),
    }
}

/// How suspect a label is that has this probability, where labels of its class have this one on average.
fn score(typical: f64, given: f64, classes: usize) -> f64 {
    let ln = |p: f64| p.max(f64::MIN_POSITIVE).ln();
    let others = classes.saturating_sub(1).max(1) as f64;
    0.5 * (1.0 - 1.0 / others) * ln(typical) - ln(given)
}

/// The more suspect first; of equals the earlier row.
fn first_doubted(a: f64, b: f64, row: usize, other: usize) -> Ordering {
    b.total_cmp(&a).then(row.cmp(&other))
}

fn unknown_label(label: u32) -> CalibrationError {
    CalibrationError::BadSetting {
        setting: "label",
        requirement: "below the number of classes",
        value: label.to_string(),
    }
}

/// The mean probability of each class over its examples; and the same, with room for rounding, to be reached.
fn thresholds<'a>(
    rows: impl Iterator<Item = (&'a [f64], &'a u32)>,
    class_count: usize,
) -> (Vec<f64>, Vec<f64>) {
    let mut sums = vec![(0.0, 0u64); class_count];
    for (own, &given) in rows {
        let sum = &mut sums[given as usize];
        sum.0 += own[given as usize];
        sum.1 += 1;
    }
    let mean = |&(sum, count): &(f64, u64)| if count > 0 { sum / count as f64 } else { 1.0 };
    let means: Vec<f64> = sums.iter().map(mean).collect();
    // Equal probabilities have a mean that rounding may have carried above them.
    let reached = means.iter().map(|mean| mean * (1.0 - 1e-12)).collect();
    (means, reached)
}

/// The first of the most probable classes among those that are allowed.
fn first_most(own: &[f64], allowed: impl Fn(usize) -> bool) -> Option<usize> {
    let classes = (0..own.len()).filter(|&class| allowed(class));
    classes.reduce(|best, class| if own[class] > own[best] { class } else { best })
}

/// How many of a list are really wrong, after a random sample of it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Yield {
    /// Fewest.
    pub lower: u64,
    /// Most.
    pub upper: u64,
}

/// How many of `listed` labels are wrong, if `wrong` of `read` ones, drawn at random without replacement, were: an exact interval that holds
/// the true number with probability `certainty` at least.
///
/// # Formula
/// The numbers `M` with `P(X ≤ wrong)` and `P(X ≥ wrong)` both above `(1 - certainty) / 2`, `X` hypergeometric.
///
/// ```
/// use calibrant_calibration::decision::wrong_among;
/// // What was read is known.
/// let all = wrong_among(10, 10, 4, 0.95);
/// assert_eq!((all.lower, all.upper), (4, 4));
/// let some = wrong_among(1_000, 30, 20, 0.95);
/// assert!(some.lower > 450 && some.upper < 850);
/// ```
pub fn wrong_among(listed: u64, read: u64, wrong: u64, certainty: f64) -> Yield {
    let miss = (1.0 - certainty).clamp(0.0, 1.0) / 2.0;
    Yield {
        lower: least_marked(wrong, listed, read, miss),
        upper: most_marked(wrong, listed, read, miss),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    /// Documents of three classes, of which some labels are flipped; probabilities as of a fair model of the true classes.
    fn flipped(random: &mut Random, rows: usize) -> (Vec<f64>, Vec<u32>, Vec<bool>) {
        let (mut probabilities, mut labels, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rows {
            let raw: Vec<f64> = (0..3).map(|_| (3.0 * random.normal()).exp()).collect();
            let sum: f64 = raw.iter().sum();
            let (mut at, mut truth) = (random.uniform() * sum, 0);
            while truth < 2 && at >= raw[truth] {
                at -= raw[truth];
                truth += 1;
            }
            let flip = random.uniform() < 0.05;
            let given = if flip {
                (truth + 1 + random.below(2)) % 3
            } else {
                truth
            };
            probabilities.extend(raw.iter().map(|p| p / sum));
            labels.push(given as u32);
            wrong.push(flip);
        }
        (probabilities, labels, wrong)
    }

    #[test]
    fn flipped_labels_come_first() {
        let (probabilities, labels, wrong) = flipped(&mut Random::from_seed(3), 4_000);
        let suspects = Suspects::find(&probabilities, 3, &labels).unwrap();
        let flips = wrong.iter().filter(|&&wrong| wrong).count();
        let first = &suspects.ranked()[..flips];
        let hits = first.iter().filter(|suspect| wrong[suspect.row]).count();
        assert!(hits as f64 > 0.6 * flips as f64, "{hits} of {flips}");
        // The model's own count is a bound, here a close one.
        assert!(suspects.at_most(flips) >= hits as f64);
        assert_eq!(suspects.ranked().len(), 4_000);
        let estimated = suspects.joint().estimated_wrong();
        // Documents of two minds are counted, too.
        assert!(
            estimated > flips as f64 && estimated < 4.0 * flips as f64,
            "{estimated}"
        );
    }

    #[test] // The definitions, one example at a time.
    fn joint_counts_are_those_of_the_definition() {
        let (probabilities, labels, _) = flipped(&mut Random::from_seed(4), 300);
        let joint = Suspects::find(&probabilities, 3, &labels)
            .unwrap()
            .joint()
            .clone();
        let mean = |class: usize| {
            let own: Vec<f64> = (0..300)
                .filter(|&i| labels[i] as usize == class)
                .map(|i| probabilities[3 * i + class])
                .collect();
            own.iter().sum::<f64>() / own.len() as f64
        };
        let mut expected = [[0; 3]; 3];
        for row in 0..300 {
            let p = &probabilities[3 * row..3 * row + 3];
            let mut reached: Vec<usize> = (0..3).filter(|&class| p[class] >= mean(class)).collect();
            reached.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
            if let Some(&likely) = reached.first() {
                expected[labels[row] as usize][likely] += 1;
            }
        }
        for (given, row) in expected.iter().enumerate() {
            for (likely, &count) in row.iter().enumerate() {
                assert_eq!(joint.count(given, likely), count, "{given} {likely}");
            }
            let total: f64 = (0..3).map(|likely| joint.estimated(given, likely)).sum();
            let labelled = labels
                .iter()
                .filter(|&&label| label as usize == given)
                .count();
            assert!((total - labelled as f64).abs() < 1e-9);
        }
    }

    #[test] // 1,000 lists, each with a sample of 30.
    fn the_yield_lies_in_its_interval() {
        let mut random = Random::from_seed(6);
        let mut held = 0;
        for run in 0..1_000usize {
            let listed = 40 + random.below(800);
            let wrong = (listed as f64 * (run % 50) as f64 / 49.0) as usize;
            let mut list: Vec<bool> = (0..listed).map(|place| place < wrong).collect();
            random.shuffle(&mut list);
            let seen = list[..30].iter().filter(|&&wrong| wrong).count() as u64;
            let found = wrong_among(listed as u64, 30, seen, 0.95);
            held += usize::from(found.lower <= wrong as u64 && wrong as u64 <= found.upper);
        }
        assert!(held >= 950, "{held}");
    }

    #[test]
    fn odd_tables_are_refused_or_do_no_harm() {
        assert!(Suspects::find(&[], 2, &[]).is_err());
        assert!(Suspects::find(&[0.5, 0.5], 2, &[2]).is_err());
        assert!(Suspects::find(&[0.5], 2, &[0]).is_err());
        assert!(Suspects::find(&[f64::NAN, 0.5], 2, &[0]).is_err());
        let one = Suspects::find(&[1.0, 1.0], 1, &[0, 0]).unwrap();
        assert_eq!(one.ranked()[0].other, 0);
        let sure = Suspects::find(&[0.0, 1.0, 1.0, 0.0], 2, &[0, 0]).unwrap();
        assert!(sure.ranked()[0].score.is_finite() && sure.ranked()[0].row == 0);
        assert_eq!(sure.joint().count(0, 0), 1);
    }
}
