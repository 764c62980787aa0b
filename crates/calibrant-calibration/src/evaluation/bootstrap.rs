//! How much measures would vary with other documents.

use super::Interval;
use super::forecasts::{EvaluationError, Forecasts, Row};
use super::units::Units;
use crate::Task;
use crate::numeric::{Random, rising_order};
use crate::parallel;
use serde::{Deserialize, Serialize};

/// How to draw replicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BootstrapSettings {
    /// How many; `None` means 1000, or fewer (at least 100) where documents times classes are so many
    /// that it would take long. The result says how many there were.
    pub replicates: Option<usize>,
    /// The seed. The same seed gives the same intervals, whatever the number of threads.
    pub seed: u64,
}

impl Default for BootstrapSettings {
    fn default() -> Self {
        Self {
            replicates: None,
            seed: 1,
        }
    }
}

/// 95 % intervals of measures from replicates drawn by document: by the logarithm of losses and the log-odds of shares,
/// where the spread of the replicates is close to that of the measure. Where groups are drawn, Student's distribution
/// makes them wider, with one degree of freedom less than groups of equal weight (`(ΣW)² / ΣW²`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// Replicates that were drawn.
    pub replicates: usize,
    /// What was drawn each time: groups, and documents that stand for themselves.
    #[serde(default)]
    pub units: usize,
    /// Mean log loss in nats; absent where fewer than three documents (or groups) have a wrong decision: most of the loss is in those, and
    /// replicates of one or two say nothing of the others that might have come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<Interval>,
    /// Brier score; absent as above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brier: Option<Interval>,
    /// The weighted share of wrong decisions.
    pub error_rate: Interval,
    /// Accuracy; single-label only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Interval>,
    /// F1 of all classes together; absent where no replicate shows anything else than the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_f1: Option<Interval>,
    /// Mean F1 of classes; absent as above, and where a class has fewer than ten documents (or groups) or predictions: simulated,
    /// the interval is then too short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub macro_f1: Option<Interval>,
    /// Mean area under the ROC curve of classes against the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub macro_auc: Option<Interval>,
    /// Mean average precision of classes against the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub macro_average_precision: Option<Interval>,
    /// With two exclusive classes: average precision of the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_precision_of_second: Option<Interval>,
}

/// Draws as many documents as there are, with replacement, again and again, and measures each draw.
/// All decisions of a document stay together, because they are not independent; and so do the documents of a
/// group, where [`EvaluationOptions::groups`](super::EvaluationOptions::groups) says what belongs together: then
/// groups are drawn, as many as there are.
///
/// Everything that can be is summed by document beforehand and ranks are sorted once, so a replicate is
/// one pass over the decisions.
///
/// # When it misleads
/// With a dozen documents the intervals are too short, and so they are where nearly all errors lie in very few of the
/// groups: those that were not drawn into the test set cannot be seen. Where every document was
/// classified rightly, no replicate can show an error. A calibration error has no interval here: it is never
/// negative, so a replicate's is larger than the original's on average, and of 120 test sets of 200 documents not one
/// interval held the truth; it stands beside a perfect forecaster's instead.
///
/// # Reference
/// Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
///
/// ```
/// use calibrant_calibration::{Probability, Task, evaluation::{BootstrapSettings, Forecasts, bootstrap}};
/// let p = Probability::from_log_odds(0.0);
/// let forecasts = Forecasts {
///     task: Task::MultiLabel,
///     class_names: vec!["wheat".into()],
///     probabilities: vec![p; 40],
///     labels: (0..40).map(|i| if i % 4 == 0 { vec![0] } else { vec![] }).collect(),
///     weights: None,
/// };
/// let found = bootstrap(&forecasts, &BootstrapSettings::default())?;
/// assert!((found.log_loss.unwrap().upper - 2f64.ln()).abs() < 1e-12); // ln 2 whatever is drawn
/// // One of four decisions is wrong; by hand, √(0.25 · 0.75 / 40) = 0.068 is the standard error.
/// assert!((found.error_rate.upper - found.error_rate.lower - 3.92 * 0.068).abs() < 0.05);
/// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
/// ```
pub fn bootstrap(
    forecasts: &Forecasts,
    settings: &BootstrapSettings,
) -> Result<Bootstrap, EvaluationError> {
    forecasts.check()?;
    Ok(bootstrap_rows(forecasts, &forecasts.rows(), &[], settings))
}

pub(super) fn bootstrap_rows(
    forecasts: &Forecasts,
    rows: &[Row<'_>],
    groups: &[Option<u64>],
    settings: &BootstrapSettings,
) -> Bootstrap {
    let group_of = |row: &Row<'_>| groups.get(row.document).copied().flatten();
    let rows = &in_order(rows, group_of);
    let units = Units::of(rows.iter().map(group_of));
    let data = Resampled::new(forecasts, rows);
    let work = rows.len() * (forecasts.class_names.len() + 1);
    let usual = (AFFORDED / work.max(1)).clamp(100, 1_000);
    let replicates = settings.replicates.unwrap_or(usual).max(1);
    let values = data.measure(&vec![1; rows.len()]);
    let reach = reach(&units, |document| data.documents[document][0]);
    let drawn = draw_replicates(&data, &units, rows.len(), replicates, settings.seed);
    let defined = |measure: usize| -> Vec<f64> {
        let values = drawn.iter().map(|replicate| replicate[measure]);
        values.filter(|value| value.is_finite()).collect()
    };
    let share = |measure: usize| {
        let value = values[measure];
        Interval::of_share(value, &defined(measure), reach, units.count())
            .filter(|_| value.is_finite())
    };
    let is_wrong = |&document: &u32| data.documents[document as usize][3] > 0.0;
    let wrong = (0..units.count()).filter(|&unit| units.documents(unit).iter().any(is_wrong));
    let enough = wrong.count() >= FEWEST_ERRORS;
    let loss = |measure: usize| {
        let value = values[measure];
        let found = Interval::of_loss(value, &defined(measure), reach).unwrap_or(Interval {
            value,
            lower: value,
            upper: value,
        });
        enough.then_some(found)
    };
    // One decision a document is a coin; several hang together.
    let errors: Vec<[f64; 2]> = data.documents.iter().map(|d| [d[0], d[3]]).collect();
    let coin = Interval::wilson(
        values[2],
        units.worth_of_share(&errors),
        units.reach(|document| errors[document][0]),
    );
    let sizes = data.class_sizes(&units);
    let error_rate = match forecasts.task {
        Task::SingleLabel => coin,
        Task::MultiLabel => share(2).unwrap_or(coin),
    };
    let accuracy = Interval {
        value: 1.0 - error_rate.value,
        lower: 1.0 - error_rate.upper,
        upper: 1.0 - error_rate.lower,
    };
    Bootstrap {
        replicates,
        units: units.count(),
        log_loss: loss(0),
        brier: loss(1),
        error_rate,
        accuracy: (forecasts.task == Task::SingleLabel).then_some(accuracy),
        // Of one label per document this is the accuracy.
        micro_f1: match forecasts.task {
            Task::SingleLabel => Some(Interval {
                value: values[3],
                ..accuracy
            }),
            Task::MultiLabel => share(3),
        },
        macro_f1: share(4).filter(|_| sizes.iter().all(is_filled_or_empty)),
        macro_auc: share(5),
        macro_average_precision: share(6),
        average_precision_of_second: share(7)
            .filter(|_| sizes.get(1).is_some_and(|size| size.0 >= FILLED)),
    }
}

/// The measures of each replicate: as many units as there are, drawn with replacement.
fn draw_replicates(
    data: &Resampled,
    units: &Units,
    row_count: usize,
    replicates: usize,
    seed: u64,
) -> Vec<[f64; MEASURES]> {
    parallel::map_indices_with(
        replicates,
        || vec![0u16; row_count],
        |counts, replicate| {
            // Far apart seeds: a replicate's draws follow from its number alone.
            let seed = seed ^ (replicate as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut random = Random::from_seed(seed);
            counts.fill(0);
            for _ in 0..units.count() {
                for &document in units.documents(random.below(units.count())) {
                    let count = &mut counts[document as usize];
                    *count = count.saturating_add(1);
                }
            }
            data.measure(counts)
        },
    )
}

/// Units with a wrong decision that losses must have to get an interval. Simulated on calibrated forecasts of which 0.2 to 9 % are
/// wrong, 100 to 3,000 documents: 91 to 99 % of such intervals hold the truth, of all only 14 to 95 %.
const FEWEST_ERRORS: usize = 3;

/// Half an interval in deviations of replicates. Replicates of `n` units vary too little by `√((n-1)/n)`, which few
/// units show; documents that stand for themselves are many.
fn reach(units: &Units, weight_of: impl Fn(usize) -> f64) -> f64 {
    if units.all_alone() {
        return units.reach(weight_of);
    }
    let worth = units.worth(&weight_of);
    units.reach(weight_of) * (worth / (worth - 1.0).max(1.0)).sqrt()
}

/// Whether a class has enough documents and predictions for an interval of its F1, or neither.
fn is_filled_or_empty(&(documents, predicted): &(usize, usize)) -> bool {
    documents + predicted == 0 || documents.min(predicted) >= FILLED
}

/// The documents in an order that follows from what they are, so that the order in which they were
/// given leaves no trace in the draws.
fn in_order<'a>(rows: &[Row<'a>], group_of: impl Fn(&Row<'_>) -> Option<u64>) -> Vec<Row<'a>> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| {
        let log_odds = |row: &Row<'a>| row.probabilities.iter().map(|p| p.log_odds());
        a.weight
            .total_cmp(&b.weight)
            .then_with(|| a.labels.cmp(b.labels))
            .then_with(|| {
                log_odds(a)
                    .partial_cmp(log_odds(b))
                    .unwrap_or(std::cmp::Ordering::Equal)
            })
            .then_with(|| group_of(a).cmp(&group_of(b)))
    });
    rows
}

/// Decisions times replicates that are afforded unless more are asked for.
const AFFORDED: usize = 300_000_000;
const MEASURES: usize = 8;
/// Documents, and predictions, that a class needs for an interval of its own.
const FILLED: usize = 10;

/// What a replicate needs, in the order in which it passes through it.
struct Resampled {
    class_count: usize,
    /// Weight, log loss, squared error and wrong decisions of each document (the last three weighted and
    /// a mean over its decisions).
    documents: Vec<[f64; 4]>,
    /// The classes that each document has or is given, with whether it has and is given them.
    events: Vec<(u32, bool, bool)>,
    event_ends: Vec<usize>,
    /// Whether there are two exclusive classes.
    two: bool,
    ranks: Vec<Vec<Ranked>>,
}

/// A document in the order of a class's probability, from the highest.
#[derive(Clone, Copy)]
struct Ranked {
    /// The document, shifted by two: bit 0 says that it has the class, bit 1 that the next
    /// document's probability is another.
    bits: u64,
}

impl Resampled {
    fn new(forecasts: &Forecasts, rows: &[Row<'_>]) -> Self {
        let class_count = forecasts.class_names.len();
        let single = forecasts.task == Task::SingleLabel;
        let mut data = Self {
            class_count,
            documents: Vec::with_capacity(rows.len()),
            events: Vec::new(),
            event_ends: Vec::with_capacity(rows.len()),
            two: single && class_count == 2,
            ranks: Vec::new(),
        };
        let mut is_label = vec![false; class_count];
        for row in rows {
            let mark = |is_label: &mut [bool], value| {
                row.labels
                    .iter()
                    .for_each(|&label| is_label[label as usize] = value);
            };
            mark(&mut is_label, true);
            data.add_document(row, &is_label, single);
            mark(&mut is_label, false);
        }
        data.ranks = parallel::map_indices(class_count, |class| ranked(rows, class));
        data
    }

    fn add_document(&mut self, row: &Row<'_>, is_label: &[bool], single: bool) {
        let top = row.top_class();
        let (mut loss, mut brier, mut errors) = (0.0, 0.0, 0.0);
        for (class, probability) in row.probabilities.iter().enumerate() {
            let belongs = is_label[class];
            let given = if single {
                class == top
            } else {
                probability.log_odds() > 0.0
            };
            if belongs || given {
                self.events.push((class as u32, belongs, given));
            }
            let missed_by = if belongs {
                probability.complement().value()
            } else {
                probability.value()
            };
            brier += missed_by * missed_by;
            if !single || belongs {
                loss += probability.log_loss(belongs);
            }
            if !single && belongs != given {
                errors += 1.0;
            }
        }
        let decisions = self.class_count as f64;
        let (loss, brier, errors) = match (single, self.class_count) {
            (true, 2) => (loss, brier / 2.0, f64::from(u8::from(!is_label[top]))),
            (true, _) => (loss, brier, f64::from(u8::from(!is_label[top]))),
            (false, _) => (loss / decisions, brier / decisions, errors / decisions),
        };
        let weight = row.weight;
        self.documents
            .push([weight, weight * loss, weight * brier, weight * errors]);
        self.event_ends.push(self.events.len());
    }

    /// How many units each class has, and how many were taken for it.
    fn class_sizes(&self, units: &Units) -> Vec<(usize, usize)> {
        let mut sizes = vec![(0, 0); self.class_count];
        // The last unit that was counted, from 1.
        let mut counted = vec![(0, 0); self.class_count];
        for unit in 0..units.count() {
            for &document in units.documents(unit) {
                let document = document as usize;
                let start = document.checked_sub(1).map_or(0, |d| self.event_ends[d]);
                for &(class, belongs, given) in &self.events[start..self.event_ends[document]] {
                    let class = class as usize;
                    let (size, counted) = (&mut sizes[class], &mut counted[class]);
                    if belongs && counted.0 != unit + 1 {
                        (size.0, counted.0) = (size.0 + 1, unit + 1);
                    }
                    if given && counted.1 != unit + 1 {
                        (size.1, counted.1) = (size.1 + 1, unit + 1);
                    }
                }
            }
        }
        sizes
    }

    /// All measures if document `i` were there `counts[i]` times; not a number where undefined.
    fn measure(&self, counts: &[u16]) -> [f64; MEASURES] {
        let mut sums = [0.0; 4];
        let mut tallies = vec![[0.0; 3]; self.class_count];
        let mut start = 0;
        for (document, &count) in counts.iter().enumerate() {
            let end = self.event_ends[document];
            if count > 0 {
                let count = f64::from(count);
                let of_document = &self.documents[document];
                for (sum, value) in sums.iter_mut().zip(of_document) {
                    *sum += count * value;
                }
                let weight = count * of_document[0];
                for &(class, belongs, given) in &self.events[start..end] {
                    let tally = &mut tallies[class as usize];
                    tally[0] += if belongs { weight } else { 0.0 };
                    tally[1] += if given { weight } else { 0.0 };
                    tally[2] += if belongs && given { weight } else { 0.0 };
                }
            }
            start = end;
        }
        let f1 = |tally: &[f64; 3]| super::per_class::ratio(2.0 * tally[2], tally[0] + tally[1]);
        let (mut all, mut f1_sum, mut seen) = ([0.0; 3], 0.0, 0.0);
        for tally in &tallies {
            (0..3).for_each(|i| all[i] += tally[i]);
            if tally[0] + tally[1] > 0.0 {
                f1_sum += f1(tally);
                seen += 1.0;
            }
        }
        let total = sums[0];
        let [auc, average_precision, of_second] = self.ranking(counts);
        [
            sums[1] / total,
            sums[2] / total,
            sums[3] / total,
            f1(&all),
            super::per_class::ratio(f1_sum, seen),
            auc,
            average_precision,
            of_second,
        ]
    }

    /// Means over classes of the area under the ROC curve and of average precision, and that of the second of
    /// two classes.
    fn ranking(&self, counts: &[u16]) -> [f64; 3] {
        let weights: Vec<f64> = counts
            .iter()
            .zip(&self.documents)
            .map(|(&count, document)| f64::from(count) * document[0])
            .collect();
        let (mut auc, mut with_auc, mut precision, mut with_precision) = (0.0, 0.0, 0.0, 0.0);
        let mut of_second = f64::NAN;
        for (class, ranks) in self.ranks.iter().enumerate() {
            // `yes` and `no` are those above; `tied` those within equal probabilities.
            let (mut yes, mut no, mut tied_yes, mut tied_no) = (0.0, 0.0, 0.0, 0.0);
            let (mut lost, mut sum) = (0.0, 0.0);
            for ranked in ranks {
                let weight = weights[(ranked.bits >> 2) as usize];
                let has = (ranked.bits & 1) as f64;
                tied_yes += weight * has;
                tied_no += weight * (1.0 - has);
                if ranked.bits & 2 != 0 {
                    lost += tied_yes * (no + 0.5 * tied_no);
                    yes += tied_yes;
                    no += tied_no;
                    if tied_yes > 0.0 {
                        sum += tied_yes * yes / (yes + no);
                    }
                    (tied_yes, tied_no) = (0.0, 0.0);
                }
            }
            if yes > 0.0 {
                if self.two && class == 1 {
                    of_second = sum / yes;
                }
                precision += sum / yes;
                with_precision += 1.0;
                if no > 0.0 {
                    auc += 1.0 - lost / (yes * no);
                    with_auc += 1.0;
                }
            }
        }
        [auc / with_auc, precision / with_precision, of_second]
    }
}

fn ranked(rows: &[Row<'_>], class: usize) -> Vec<Ranked> {
    let falling: Vec<f64> = rows
        .iter()
        .map(|row| -row.probabilities[class].log_odds())
        .collect();
    let order = rising_order(&falling);
    let ranked = order.iter().enumerate().map(|(place, &document)| {
        let value = falling[document as usize];
        let next = order.get(place + 1).map(|&next| falling[next as usize]);
        let has = rows[document as usize].labels.contains(&(class as u32));
        let bits = u64::from(document) << 2 | u64::from(next != Some(value)) << 1 | u64::from(has);
        Ranked { bits }
    });
    ranked.collect()
}

#[cfg(test)]
mod tests {
    use super::super::evaluate;
    use super::*;
    use crate::Probability;
    use crate::numeric::log_odds_against_rest;

    fn drawn(task: Task, classes: usize, count: usize) -> Forecasts {
        let mut random = Random::from_seed(5);
        let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let label = random.below(classes);
            let scores: Vec<f64> = (0..classes)
                .map(|class| (random.normal() + if class == label { 1.5 } else { 0.0 }).round())
                .collect();
            let mut log_odds = scores.clone();
            if task == Task::SingleLabel {
                log_odds_against_rest(&scores, &mut log_odds);
            }
            probabilities.extend(log_odds.into_iter().map(Probability::from_log_odds));
            labels.push(vec![label as u32]);
        }
        Forecasts {
            task,
            class_names: (0..classes).map(|class| class.to_string()).collect(),
            probabilities,
            labels: labels.into(),
            weights: Some((0..count).map(|_| 0.5 + random.uniform()).collect()),
        }
    }

    #[test]
    fn the_estimates_are_those_of_the_evaluation() {
        for (task, classes) in [
            (Task::SingleLabel, 2),
            (Task::SingleLabel, 4),
            (Task::MultiLabel, 3),
        ] {
            let forecasts = drawn(task, classes, 150);
            let settings = BootstrapSettings {
                replicates: Some(50),
                seed: 3,
            };
            let found = bootstrap(&forecasts, &settings).unwrap();
            let whole = evaluate(&forecasts).unwrap();
            assert_eq!(found.accuracy.is_some(), task == Task::SingleLabel);
            let mut pairs = vec![
                (found.log_loss.unwrap(), whole.log_loss),
                (found.brier.unwrap(), whole.brier),
                (found.micro_f1.unwrap(), whole.micro_f1),
                (found.macro_f1.unwrap(), whole.macro_f1),
                (
                    found.macro_auc.unwrap(),
                    whole.further.as_ref().unwrap().macro_auc.unwrap(),
                ),
                (
                    found.macro_average_precision.unwrap(),
                    whole
                        .further
                        .as_ref()
                        .unwrap()
                        .macro_average_precision
                        .unwrap(),
                ),
            ];
            pairs.extend(found.accuracy.zip(whole.accuracy));
            let second = whole
                .further
                .as_ref()
                .unwrap()
                .calibration_of_second
                .as_ref();
            assert_eq!(found.average_precision_of_second.is_some(), classes == 2);
            let of_second = second.and_then(|second| second.average_precision);
            pairs.extend(found.average_precision_of_second.zip(of_second));
            for (place, (interval, expected)) in pairs.into_iter().enumerate() {
                assert!(
                    (interval.value - expected).abs() < 1e-12,
                    "{place} {interval:?} {expected}"
                );
                assert!(interval.lower <= interval.upper);
            }
        }
    }

    #[test]
    fn a_replicate_is_the_evaluation_of_repeated_documents() {
        let forecasts = drawn(Task::MultiLabel, 3, 60);
        let data = Resampled::new(&forecasts, &forecasts.rows()); // in the order given
        let counts: Vec<u16> = (0..60).map(|i| i % 3).collect();
        let found = data.measure(&counts);
        let mut repeated = forecasts.clone();
        let weights = repeated.weights.as_mut().unwrap();
        for (weight, &count) in weights.iter_mut().zip(&counts) {
            *weight *= f64::from(count);
        }
        let whole = evaluate(&repeated).unwrap();
        for (measure, expected) in [
            (0, whole.log_loss),
            (1, whole.brier),
            (3, whole.micro_f1),
            (4, whole.macro_f1),
            (5, whole.further.as_ref().unwrap().macro_auc.unwrap()),
            (
                6,
                whole
                    .further
                    .as_ref()
                    .unwrap()
                    .macro_average_precision
                    .unwrap(),
            ),
        ] {
            assert!((found[measure] - expected).abs() < 1e-12, "{measure}");
        }
    }

    #[test]
    fn neither_threads_nor_the_order_of_documents_change_anything() {
        let forecasts = drawn(Task::SingleLabel, 3, 80);
        let mut backwards = forecasts.clone();
        backwards.labels = backwards.labels.iter().rev().collect();
        backwards.weights.as_mut().unwrap().reverse();
        let rows: Vec<_> = forecasts.probabilities.chunks(3).rev().collect();
        backwards.probabilities = rows.concat();
        let settings = BootstrapSettings::default();
        let (a, b) = (
            bootstrap(&forecasts, &settings),
            bootstrap(&backwards, &settings),
        );
        assert_eq!(a.unwrap(), b.unwrap());
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| bootstrap(&forecasts, &BootstrapSettings::default()).unwrap())
        };
        assert_eq!(run(1), run(3));
        assert_eq!(run(1).replicates, 1_000);
    }

    #[test] // [0.0040, 0.0040] was printed of sixty documents without an error.
    fn losses_that_have_hardly_seen_an_error_have_no_interval() {
        let sure = |wrong: u32| {
            let p = Probability::from_log_odds(5.5);
            let of = |row: u32| {
                if row.is_multiple_of(2) {
                    [p, p.complement()]
                } else {
                    [p.complement(), p]
                }
            };
            let label = |row: u32| vec![(row + u32::from(row < wrong)) % 2];
            let forecasts = Forecasts {
                task: Task::SingleLabel,
                class_names: vec!["no".into(), "yes".into()],
                probabilities: (0..60).flat_map(of).collect(),
                labels: (0..60).map(label).collect(),
                weights: None,
            };
            bootstrap(&forecasts, &BootstrapSettings::default()).unwrap()
        };
        for wrong in [0, 2] {
            let found = sure(wrong);
            assert_eq!((found.log_loss, found.brier), (None, None));
        }
        let found = sure(3);
        let width = found
            .log_loss
            .map(|interval| interval.upper - interval.lower);
        assert!(width.is_some_and(|width| width > 0.1), "{found:?}");
    }

    #[test] // The spread of a mean is known: the standard error of the log loss.
    fn the_interval_of_a_mean_has_the_textbook_width() {
        let mut forecasts = drawn(Task::SingleLabel, 2, 400);
        forecasts.weights = None;
        let found = bootstrap(&forecasts, &BootstrapSettings::default())
            .unwrap()
            .log_loss
            .unwrap();
        let losses: Vec<f64> = forecasts
            .labels
            .iter()
            .zip(forecasts.probabilities.chunks(2))
            .map(|(labels, row)| row[labels[0] as usize].log_loss(true))
            .collect();
        let mean = losses.iter().sum::<f64>() / 400.0;
        let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / 400.0;
        let width = 2.0 * 1.96 * (variance / 400.0).sqrt();
        assert!(((found.upper - found.lower) / width - 1.0).abs() < 0.12);
    }

    /// Every document so many times, one copy after the other.
    fn copied(forecasts: &Forecasts, times: usize) -> (Forecasts, Vec<Option<u64>>) {
        let count = forecasts.labels.len();
        let copied = Forecasts {
            task: forecasts.task,
            class_names: forecasts.class_names.clone(),
            probabilities: forecasts.probabilities.repeat(times),
            labels: std::iter::repeat_n(&forecasts.labels, times)
                .flat_map(crate::RowLabels::iter)
                .collect(),
            weights: forecasts
                .weights
                .as_ref()
                .map(|weights| weights.repeat(times)),
        };
        let groups = (0..times * count).map(|row| Some((row % count) as u64));
        (copied, groups.collect())
    }

    #[test]
    fn copies_that_are_drawn_together_make_no_interval_shorter() {
        let forecasts = drawn(Task::SingleLabel, 3, 200);
        let (copies, groups) = copied(&forecasts, 4);
        let settings = BootstrapSettings::default();
        let width = |forecasts: &Forecasts, groups: &[Option<u64>]| {
            let found = bootstrap_rows(forecasts, &forecasts.rows(), groups, &settings).log_loss;
            let found = found.unwrap();
            found.upper - found.lower
        };
        let once = width(&forecasts, &[]);
        assert!((width(&copies, &groups) / once - 1.0).abs() < 0.1);
        assert!((width(&copies, &[]) / once - 0.5).abs() < 0.1); // By hand: 1/√4.
        // Groups of one document are documents.
        let alone: Vec<Option<u64>> = (0..200).map(Some).collect();
        assert_eq!(width(&forecasts, &alone), once);
    }

    #[test]
    fn the_order_of_groups_leaves_no_trace() {
        let (copies, groups) = copied(&drawn(Task::MultiLabel, 2, 40), 3);
        let mut backwards = copies.clone();
        backwards.labels = backwards.labels.iter().rev().collect();
        backwards.probabilities.reverse();
        for row in backwards.probabilities.chunks_exact_mut(2) {
            row.reverse();
        }
        backwards
            .weights
            .iter_mut()
            .for_each(|weights| weights.reverse());
        let mut turned = groups.clone();
        turned.reverse();
        let settings = BootstrapSettings::default();
        let of = |forecasts: &Forecasts, groups: &[Option<u64>]| {
            bootstrap_rows(forecasts, &forecasts.rows(), groups, &settings)
        };
        assert_eq!(of(&copies, &groups), of(&backwards, &turned));
    }
}
