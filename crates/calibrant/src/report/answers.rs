//! How much can be answered without a person, how often are the answers right, and what is acting on probabilities worth?

use std::collections::HashMap;

use serde::Serialize;

use crate::Task;
use crate::evaluation::{Forecasts, decision_curve, expected_decision_curve};

use super::points::{decisions_of_class, documents, stated_of_class};

/// Shares of documents that are shown.
const SHARES: [f64; 8] = [0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0];
/// Accuracies that somebody may want.
const TARGETS: [f64; 6] = [0.999, 0.995, 0.99, 0.98, 0.95, 0.9];
/// Points of the curve in a figure.
const CURVE_POINTS: usize = 120;
/// Fewer answers show no accuracy.
const FEWEST: f64 = 30.0;

/// What follows if the surest documents are answered by machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AnsweredShare {
    /// The share of documents that is answered.
    pub answered: f64,
    /// The least probability that is answered.
    pub threshold: f64,
    /// The share of the answers that is right; null where the truth is not known.
    pub accuracy: Option<f64>,
    /// The lower end of the 95 % interval of the accuracy: from counts, or, where the truth is not known, of what will be seen if the
    /// probabilities are right.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The accuracy that the probabilities state.
    pub stated: f64,
}

/// How many documents can be answered at a wanted accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AnsweredTarget {
    /// The accuracy.
    pub accuracy: f64,
    /// The largest share that reaches it on these documents (by their stated probabilities where the truth is not known); null where
    /// no share of thirty documents or more does.
    pub answered: Option<f64>,
    /// The least probability that is then answered.
    pub threshold: Option<f64>,
    /// The lower end of the 95 % interval of these answers' accuracy, as if the threshold had not been chosen on the same documents.
    pub lower: Option<f64>,
}

/// The share answered against accuracy. With several labels a document is right where all of them are, and as sure as the
/// product of its labels' probabilities.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnsweredShares {
    /// At round shares.
    pub shares: Vec<AnsweredShare>,
    /// At round accuracies.
    pub targets: Vec<AnsweredTarget>,
    /// How many of the documents have a label that the model does not know: whatever is answered to them is wrong.
    pub of_unknown_labels: usize,
    /// All shares, for a figure.
    #[serde(skip)]
    pub curve: Vec<AnsweredShare>,
}

/// What acting from a probability on is worth, in true positives per document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BenefitPoint {
    /// The probability from which on one acts.
    pub threshold: f64,
    /// The net benefit; null where the truth is not known.
    pub benefit: Option<f64>,
    /// The net benefit that the probabilities promise.
    pub expected: f64,
    /// That of acting always; by the probabilities where the truth is not known. Acting never has none.
    pub accept_all: f64,
}

/// The decision curve of one class against the rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecisionCurve {
    /// The class.
    pub label: String,
    /// At round thresholds.
    pub points: Vec<BenefitPoint>,
}

/// One document: how sure its answer is, whether that is right, its weight, and what it belongs with.
struct Answer {
    confidence: f64,
    right: Option<bool>,
    weight: f64,
    unit: u64,
}

/// How sure the answer to a document is, and whether it has exactly these labels. Of several labels: as sure as all decisions together would be if labels were
/// independent.
fn answer(task: Task, row: &[crate::Probability], labels: &[u32]) -> (f64, bool) {
    match task {
        Task::SingleLabel => {
            let mut top = 0;
            for (class, probability) in row.iter().enumerate() {
                if probability.log_odds() > row[top].log_odds() {
                    top = class;
                }
            }
            (row[top].value(), labels.contains(&(top as u32)))
        }
        Task::MultiLabel => {
            let (mut ln, mut right) = (0.0, true);
            for (class, probability) in row.iter().enumerate() {
                let yes = probability.log_odds() > 0.0;
                let side = if yes {
                    *probability
                } else {
                    probability.complement()
                };
                ln += side.ln();
                right &= yes == labels.contains(&(class as u32));
            }
            (ln.exp(), right)
        }
    }
}

impl AnsweredShares {
    /// Of forecasts whose truth is known. Documents with one number in `together` (copies, groups) are one piece of evidence for the
    /// intervals; it may be empty.
    ///
    /// ```
    /// use calibrant::{Probability, Task, evaluation::Forecasts, report::AnsweredShares};
    /// let sure = Probability::from_log_odds(3.0);
    /// let unsure = Probability::from_log_odds(0.5);
    /// let forecasts = Forecasts {
    ///     task: Task::SingleLabel,
    ///     class_names: vec!["ham".into(), "spam".into()],
    ///     probabilities: [sure, unsure].iter().flat_map(|p| [*p, p.complement()].repeat(50)).collect(),
    ///     labels: (0..100).map(|document| vec![u32::from(document >= 90)]).collect::<Vec<_>>().into(),
    ///     weights: None,
    /// };
    /// let answers = AnsweredShares::of(&forecasts, &[]);
    /// // By hand: the surer half is all right, and of all documents nine in ten are.
    /// assert_eq!((answers.shares[0].answered, answers.shares[0].accuracy), (0.5, Some(1.0)));
    /// assert_eq!(answers.shares.last().unwrap().accuracy, Some(0.9));
    /// assert_eq!(answers.targets[0].answered, Some(0.5));
    /// ```
    pub fn of(forecasts: &Forecasts, together: &[Option<u64>]) -> Self {
        Self::with_strangers(forecasts, together, &[])
    }

    /// With documents whose label is none of the classes, to which every answer is wrong: how probable the answer to each is said to be, its
    /// weight, and what it belongs with.
    pub(crate) fn with_strangers(
        forecasts: &Forecasts,
        together: &[Option<u64>],
        strangers: &[(f64, f64, Option<u64>)],
    ) -> Self {
        let rows = documents(forecasts).enumerate();
        let answers = rows.map(|(place, (document, row, labels, weight))| {
            let (confidence, right) = answer(forecasts.task, row, labels);
            Answer {
                confidence,
                right: Some(right),
                weight,
                // What stands for itself has a number of its own, away from hashes by its parity only: good enough for a sum of squares.
                unit: together
                    .get(document)
                    .copied()
                    .flatten()
                    .unwrap_or(place as u64),
            }
        });
        let mut answers: Vec<Answer> = answers.collect();
        let own = answers.len() as u64..;
        answers.extend(own.zip(strangers).map(|(place, stranger)| Answer {
            confidence: stranger.0,
            right: Some(false),
            weight: stranger.1,
            unit: stranger.2.unwrap_or(place),
        }));
        Self {
            of_unknown_labels: strangers.len(),
            ..Self::of_answers(answers)
        }
    }

    /// Of forecasts whose truth is not known: what the probabilities promise.
    pub fn expected(forecasts: &Forecasts) -> Self {
        let rows = documents(forecasts).enumerate();
        let answers = rows.map(|(place, (_, row, _, weight))| Answer {
            confidence: answer(forecasts.task, row, &[]).0,
            right: None,
            weight,
            unit: place as u64,
        });
        Self::of_answers(answers.collect())
    }

    fn of_answers(mut answers: Vec<Answer>) -> Self {
        answers.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        let total: f64 = answers.iter().map(|answer| answer.weight).sum();
        let mut sums = Sums::default();
        let mut all: Vec<(AnsweredShare, f64)> = Vec::new();
        // Documents that are equally sure are answered together, or not at all.
        for same in answers.chunk_by(|a, b| a.confidence == b.confidence) {
            same.iter().for_each(|answer| sums.add(answer));
            all.push((sums.share(same[0].confidence, total), sums.effective()));
        }
        let shares = SHARES.map(|wanted| {
            let found = all
                .iter()
                .find(|(share, _)| share.answered >= wanted - 1e-9);
            found.or(all.last()).map(|(share, _)| *share)
        });
        let mut shares: Vec<AnsweredShare> = shares.into_iter().flatten().collect();
        shares.dedup();
        let targets = TARGETS.map(|accuracy| {
            let reaches = |(share, count): &&(AnsweredShare, f64)| {
                *count >= FEWEST && share.accuracy.unwrap_or(share.stated) >= accuracy - 1e-12
            };
            let found = all.iter().rev().find(reaches);
            AnsweredTarget {
                accuracy,
                answered: found.map(|(share, _)| share.answered),
                threshold: found.map(|(share, _)| share.threshold),
                lower: found.map(|(share, _)| share.lower),
            }
        });
        let mut curve: Vec<AnsweredShare> = Vec::new();
        let last = all.len().saturating_sub(1);
        for (place, (share, count)) in all.iter().enumerate() {
            let next =
                curve.last().map_or(0.0, |before| before.answered) + 1.0 / CURVE_POINTS as f64;
            if place == last || (share.answered >= next && *count >= 20.0) {
                curve.push(*share);
            }
        }
        Self {
            shares,
            targets: targets.to_vec(),
            of_unknown_labels: 0,
            curve,
        }
    }

    /// What to advise, of the wanted accuracies at which at least half of the documents can be answered: the lowest whose share of wrong answers
    /// is at most half of that of all answers, else the highest. Where there is none, the accuracy with the most answers; `None` where none is reached.
    pub fn advice(&self) -> Option<AnsweredTarget> {
        let reached = || {
            self.targets
                .iter()
                .filter(|target| target.answered.is_some())
        };
        let half = || reached().filter(|target| target.answered >= Some(0.5));
        let all = self.whole()?;
        let wrong = 1.0 - all.accuracy.unwrap_or(all.stated);
        let fewer = half().rfind(|target| 1.0 - target.accuracy <= 0.5 * wrong + 1e-12);
        let most = reached().max_by(|a, b| {
            a.answered
                .partial_cmp(&b.answered)
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        fewer.or_else(|| half().next()).or(most).copied()
    }

    /// What is counted as wrong whatever is answered, as a sentence.
    pub fn unknown_labels_sentence(&self) -> Option<String> {
        match self.of_unknown_labels {
            0 => None,
            1 => Some("One document has a label that the model does not know: an answer to it counts as wrong here.".to_owned()),
            more => Some(format!(
                "{more} documents have a label that the model does not know: an answer to such a document counts as wrong here."
            )),
        }
    }

    /// All documents.
    pub fn whole(&self) -> Option<&AnsweredShare> {
        self.shares.last()
    }
}

/// Of the documents so far.
#[derive(Default)]
struct Sums {
    weight: f64,
    right: f64,
    stated: f64,
    variance: f64,
    known: bool,
    /// Weights of what belongs together, and the sum of their squares.
    units: HashMap<u64, f64>,
    squares: f64,
}

impl Sums {
    fn add(&mut self, answer: &Answer) {
        let (weight, p) = (answer.weight, answer.confidence);
        self.weight += weight;
        self.stated += weight * p;
        self.variance += weight * weight * p * (1.0 - p);
        self.known |= answer.right.is_some();
        self.right += if answer.right == Some(true) {
            weight
        } else {
            0.0
        };
        let unit = self.units.entry(answer.unit).or_default();
        self.squares += weight * (weight + 2.0 * *unit);
        *unit += weight;
    }

    /// How many documents of equal weight would be as much evidence (Kish), were all that belongs together one.
    fn effective(&self) -> f64 {
        self.weight * self.weight / self.squares
    }

    fn share(&self, threshold: f64, total: f64) -> AnsweredShare {
        let stated = self.stated / self.weight;
        let accuracy = self.known.then(|| self.right / self.weight);
        let (lower, upper) = match accuracy {
            Some(accuracy) => wilson(accuracy, self.effective()),
            None => {
                let room = 1.959_964 * self.variance.sqrt() / self.weight;
                ((stated - room).max(0.0), (stated + room).min(1.0))
            }
        };
        AnsweredShare {
            answered: self.weight / total,
            threshold,
            accuracy,
            lower,
            upper,
            stated,
        }
    }
}

/// Wilson's 95 % interval of a share.
fn wilson(share: f64, count: f64) -> (f64, f64) {
    let z = 1.959_964;
    let scale = 1.0 + z * z / count;
    let middle = share + z * z / (2.0 * count);
    let half = z * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    (
        ((middle - half) / scale).max(0.0),
        ((middle + half) / scale).min(1.0),
    )
}

impl DecisionCurve {
    /// Of a class, at these thresholds; `known` says that labels are the truth.
    pub(crate) fn at(forecasts: &Forecasts, class: usize, known: bool, thresholds: &[f64]) -> Self {
        let stated = stated_of_class(forecasts, class);
        let expected = expected_decision_curve(&stated, thresholds);
        let seen = match known {
            true => decision_curve(&decisions_of_class(forecasts, class), thresholds),
            false => Vec::new(),
        };
        let points = expected.iter().enumerate().map(|(place, expected)| {
            let seen = seen.get(place);
            BenefitPoint {
                threshold: expected.threshold,
                benefit: seen.map(|seen| seen.benefit),
                expected: expected.benefit,
                accept_all: seen.unwrap_or(expected).accept_all,
            }
        });
        Self {
            label: forecasts.class_names[class].clone(),
            points: points.collect(),
        }
    }

    /// Of every class, at twentieths; `known` says that labels are the truth.
    ///
    /// # Formula
    /// ```text
    /// benefit(t) = TP/n - FP/n · t/(1-t)        expected(t) = (1/n) Σ_{p ≥ t} (p - (1-p) · t/(1-t))
    /// ```
    /// The second needs no labels, and counts each document once whatever its weight.
    pub fn of_classes(forecasts: &Forecasts, known: bool) -> Vec<Self> {
        let thresholds: Vec<f64> = (1..20).map(|step| f64::from(step) / 20.0).collect();
        (0..forecasts.class_names.len())
            .map(|class| Self::at(forecasts, class, known, &thresholds))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probability;
    use crate::evaluation::answered_curve;
    use crate::numeric::{Random, sigmoid};
    use proptest::prelude::*;

    fn forecasts(count: usize, seed: u64) -> Forecasts {
        let mut random = Random::from_seed(seed);
        let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let odds = 2.0 * random.normal();
            let p = Probability::from_log_odds(odds);
            probabilities.extend([p.complement(), p]);
            labels.push(vec![u32::from(random.uniform() < sigmoid(odds))]);
        }
        Forecasts {
            task: Task::SingleLabel,
            class_names: vec!["ham".into(), "spam".into()],
            probabilities,
            labels: labels.into(),
            weights: None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test] // The library's own curve, which knows no weights, is the brute force.
        fn shares_are_those_of_the_risk_coverage_curve(seed in 0u64..1000, count in 1usize..200) {
            let forecasts = forecasts(count, seed);
            let rows = forecasts.probabilities.chunks_exact(2);
            let confidences: Vec<f64> = rows.map(|row| row[0].value().max(row[1].value())).collect();
            let right: Vec<bool> = forecasts.probabilities.chunks_exact(2).zip(forecasts.labels.iter())
                .map(|(row, labels)| labels.contains(&u32::from(row[1].log_odds() > row[0].log_odds()))).collect();
            let curve = answered_curve(&confidences, &right, 10_000);
            for share in AnsweredShares::of(&forecasts, &[]).shares {
                let same = curve.points.iter().find(|point| (point.answered - share.answered).abs() < 1e-12).unwrap();
                prop_assert!((same.accuracy - share.accuracy.unwrap()).abs() < 1e-12);
                prop_assert!((same.threshold - share.threshold).abs() < 1e-12);
                prop_assert!(share.lower <= same.accuracy + 1e-12 && same.accuracy <= share.upper + 1e-12);
            }
        }
    }

    #[test]
    fn weights_count_like_copies_and_groups_widen_the_band() {
        let single = forecasts(200, 4);
        let mut weighed = single.clone();
        weighed.weights = Some(vec![3.0; 200]);
        let (one, three) = (
            AnsweredShares::of(&single, &[]),
            AnsweredShares::of(&weighed, &[]),
        );
        for (one, three) in one.shares.iter().zip(&three.shares) {
            assert!((one.answered - three.answered).abs() < 1e-12);
            assert!((one.lower - three.lower).abs() < 1e-12);
        }
        let pairs: Vec<Option<u64>> = (0..200u64).map(|document| Some(document / 2)).collect();
        let (alone, paired) = (
            one.whole().unwrap().lower,
            AnsweredShares::of(&single, &pairs),
        );
        assert!(paired.whole().unwrap().lower < alone);
    }

    #[test]
    fn calibrated_probabilities_promise_what_is_seen() {
        let forecasts = forecasts(20_000, 8);
        let (seen, promised) = (
            AnsweredShares::of(&forecasts, &[]),
            AnsweredShares::expected(&forecasts),
        );
        for (seen, promised) in seen.shares.iter().zip(&promised.shares) {
            assert_eq!(promised.accuracy, None);
            let accuracy = seen.accuracy.unwrap();
            assert!(
                (accuracy - promised.stated).abs() < 0.012,
                "{seen:?} {promised:?}"
            );
        }
        let advice = promised.advice().unwrap();
        assert!(advice.answered >= Some(0.5));
        let (seen, promised) = (
            DecisionCurve::of_classes(&forecasts, true),
            DecisionCurve::of_classes(&forecasts, false),
        );
        for (seen, promised) in seen[1].points.iter().zip(&promised[1].points) {
            assert_eq!((promised.benefit, promised.expected), (None, seen.expected));
            let room = 0.02 / (1.0 - seen.threshold);
            assert!(
                (seen.benefit.unwrap() - seen.expected).abs() < room,
                "{seen:?}"
            );
        }
    }

    #[test]
    fn the_band_holds_the_true_accuracy_nineteen_times_in_twenty() {
        // All answers are right with 0.9: whatever share is answered, so is its accuracy.
        let p = Probability::from_log_odds(9f64.ln());
        let mut random = Random::from_seed(3);
        let mut held = 0;
        for _ in 0..400 {
            let labels: Vec<Vec<u32>> = (0..150)
                .map(|_| vec![u32::from(random.uniform() < 0.9)])
                .collect();
            let forecasts = Forecasts {
                task: Task::SingleLabel,
                class_names: vec!["a".into(), "b".into()],
                probabilities: [p.complement(), p].repeat(150),
                labels: labels.into(),
                weights: None,
            };
            let whole = *AnsweredShares::of(&forecasts, &[]).whole().unwrap();
            held += usize::from(whole.lower <= 0.9 && 0.9 <= whole.upper);
        }
        assert!((370..=395).contains(&held), "{held} of 400");
    }

    #[test]
    fn the_advice_halves_the_mistakes_and_asks_for_no_more() {
        let target = |accuracy: f64, answered: f64| AnsweredTarget {
            accuracy,
            answered: (answered > 0.0).then_some(answered),
            threshold: Some(0.5),
            lower: Some(0.5),
        };
        let advice = |right: f64, answered: [f64; 4]| {
            let whole = AnsweredShare {
                answered: 1.0,
                threshold: 0.0,
                accuracy: Some(right),
                lower: 0.0,
                upper: 1.0,
                stated: right,
            };
            let targets = [0.999, 0.99, 0.95, 0.9].into_iter().zip(answered);
            let answers = AnsweredShares {
                shares: vec![whole],
                targets: targets.map(|(a, share)| target(a, share)).collect(),
                of_unknown_labels: 0,
                curve: Vec::new(),
            };
            answers.advice().map(|advice| advice.accuracy)
        };
        // 97 % are right: at 95 % more than half as many answers would be wrong.
        assert_eq!(advice(0.97, [0.79, 0.98, 1.0, 1.0]), Some(0.99));
        // Exactly half, whatever floating point makes of it.
        assert_eq!(advice(0.9, [0.5, 0.6, 0.7, 1.0]), Some(0.95));
        assert_eq!(advice(0.7, [0.1, 0.2, 0.4, 0.6]), Some(0.9));
        // What halves them leaves less than half of the documents.
        assert_eq!(advice(0.97, [0.3, 0.4, 0.9, 1.0]), Some(0.95));
        assert_eq!(advice(0.5, [0.0, 0.1, 0.2, 0.4]), Some(0.9));
        assert_eq!(advice(0.5, [0.0; 4]), None);
        assert_eq!(advice(1.0, [1.0; 4]), Some(0.999));
    }

    #[test]
    fn nothing_gives_nothing() {
        let none = Forecasts {
            task: Task::MultiLabel,
            class_names: vec!["a".into()],
            probabilities: vec![],
            labels: vec![].into(),
            weights: None,
        };
        let answers = AnsweredShares::of(&none, &[]);
        assert!(
            answers.shares.is_empty() && answers.curve.is_empty() && answers.advice().is_none()
        );
    }
}
