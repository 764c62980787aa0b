//! How much measures would vary with other documents.

use super::forecasts::{EvaluationError, Forecasts, Row};
use super::measures::ECE_BINS;
use super::{Interval, SortedForecasts};
use crate::Task;
use crate::numeric::{Random, rising_order};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How to draw replicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Percentile 95 % intervals of measures over replicates drawn by document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// Replicates that were drawn.
    pub replicates: usize,
    /// Mean log loss in nats.
    pub log_loss: Interval,
    /// Brier score.
    pub brier: Interval,
    /// The weighted share of wrong decisions.
    pub error_rate: Interval,
    /// Accuracy; single-label only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Interval>,
    /// F1 of all classes together.
    pub micro_f1: Interval,
    /// Mean F1 of classes.
    pub macro_f1: Interval,
    /// Expected calibration error, over the bins of the whole.
    pub ece: Interval,
    /// Mean area under the ROC curve of classes against the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub macro_auc: Option<Interval>,
    /// Mean average precision of classes against the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub macro_average_precision: Option<Interval>,
}

/// Draws as many documents as there are, with replacement, again and again, and measures each draw.
/// All decisions of a document stay together, because they are not independent.
///
/// Everything that can be is summed by document beforehand and ranks are sorted once, so a replicate is
/// one pass over the decisions. Bins are those of the whole set.
///
/// # When it misleads
/// With a dozen documents the intervals are too short. A calibration error is never negative, so a
/// replicate's is larger than the original's on average: its interval lies too high, and its lower
/// end proves no miscalibration; compare with a perfect forecaster's instead. Where every document was
/// classified rightly, no replicate can show an error.
///
/// # Reference
/// Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
///
/// ```
/// use calibrant::{Probability, Task, evaluation::{BootstrapSettings, Forecasts, bootstrap}};
/// let p = Probability::from_log_odds(0.0);
/// let forecasts = Forecasts {
///     task: Task::MultiLabel,
///     class_names: vec!["wheat".into()],
///     probabilities: vec![p; 40],
///     labels: (0..40).map(|i| if i % 4 == 0 { vec![0] } else { vec![] }).collect(),
///     weights: None,
/// };
/// let found = bootstrap(&forecasts, &BootstrapSettings::default())?;
/// assert!((found.log_loss.upper - 2f64.ln()).abs() < 1e-12); // ln 2 whatever is drawn
/// // One of four decisions is wrong; by hand, √(0.25 · 0.75 / 40) = 0.068 is the standard error.
/// assert!((found.error_rate.upper - found.error_rate.lower - 3.92 * 0.068).abs() < 0.05);
/// # Ok::<(), calibrant::evaluation::EvaluationError>(())
/// ```
pub fn bootstrap(
    forecasts: &Forecasts,
    settings: &BootstrapSettings,
) -> Result<Bootstrap, EvaluationError> {
    forecasts.check()?;
    Ok(bootstrap_rows(forecasts, &forecasts.rows(), settings))
}

pub(super) fn bootstrap_rows(
    forecasts: &Forecasts,
    rows: &[Row<'_>],
    settings: &BootstrapSettings,
) -> Bootstrap {
    let rows = &in_order(rows);
    let data = Resampled::new(forecasts, rows);
    let work = rows.len() * (forecasts.class_names.len() + 1);
    let usual = (AFFORDED / work.max(1)).clamp(100, 1_000);
    let replicates = settings.replicates.unwrap_or(usual).max(1);
    let values = data.measure(&vec![1; rows.len()]);
    let drawn: Vec<[f64; MEASURES]> = (0..replicates as u64)
        .into_par_iter()
        .map_init(
            || vec![0u16; rows.len()],
            |counts, replicate| {
                // Far apart seeds: a replicate's draws follow from its number alone.
                let seed = settings.seed ^ (replicate + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut random = Random::from_seed(seed);
                counts.fill(0);
                for _ in 0..counts.len() {
                    let document = random.below(counts.len());
                    counts[document] = counts[document].saturating_add(1);
                }
                data.measure(counts)
            },
        )
        .collect();
    let interval = |measure: usize| {
        let defined = drawn.iter().map(|replicate| replicate[measure]);
        let mut sorted: Vec<f64> = defined.filter(|value| value.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Interval::percentile(values[measure], &sorted).filter(|_| values[measure].is_finite())
    };
    let always = |measure: usize| {
        interval(measure).unwrap_or(Interval {
            value: 0.0,
            lower: 0.0,
            upper: 0.0,
        })
    };
    let error_rate = always(2);
    Bootstrap {
        replicates,
        log_loss: always(0),
        brier: always(1),
        error_rate,
        accuracy: (forecasts.task == Task::SingleLabel).then_some(Interval {
            value: 1.0 - error_rate.value,
            lower: 1.0 - error_rate.upper,
            upper: 1.0 - error_rate.lower,
        }),
        micro_f1: always(3),
        macro_f1: always(4),
        ece: always(5),
        macro_auc: interval(6),
        macro_average_precision: interval(7),
    }
}

/// The documents in an order that follows from what they are, so that the order in which they were
/// given leaves no trace in the draws.
fn in_order<'a>(rows: &[Row<'a>]) -> Vec<Row<'a>> {
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
    });
    rows
}

/// Decisions times replicates that are afforded unless more are asked for.
const AFFORDED: usize = 300_000_000;
const MEASURES: usize = 8;

/// What a replicate needs, in the order in which it passes through it.
struct Resampled {
    class_count: usize,
    /// Weight, log loss, squared error and wrong decisions of each document (the last three weighted and
    /// a mean over its decisions).
    documents: Vec<[f64; 4]>,
    /// The classes that each document has or is given, with whether it has and is given them.
    events: Vec<(u32, bool, bool)>,
    event_ends: Vec<usize>,
    /// `w (y - p)` of each document's forecasts and the bin of each.
    gaps: Vec<(f64, u8)>,
    gaps_a_document: usize,
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
        let points = forecasts.points_of(rows);
        let edges = edges(&SortedForecasts::new(&points));
        let gaps_a_document = if single { 1 } else { class_count };
        let gaps = points
            .iter()
            .map(|&(probability, happened, weight)| {
                let bin = edges.partition_point(|&edge| edge < probability.log_odds());
                let gap = if happened {
                    probability.complement().value()
                } else {
                    -probability.value()
                };
                (weight * gap, bin.min(ECE_BINS - 1) as u8)
            })
            .collect();
        let mut data = Self {
            class_count,
            documents: Vec::with_capacity(rows.len()),
            events: Vec::new(),
            event_ends: Vec::with_capacity(rows.len()),
            gaps,
            gaps_a_document,
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
        data.ranks = (0..class_count)
            .into_par_iter()
            .map(|class| ranked(rows, class))
            .collect();
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

    /// All measures if document `i` were there `counts[i]` times; not a number where undefined.
    fn measure(&self, counts: &[u16]) -> [f64; MEASURES] {
        let mut sums = [0.0; 4];
        let mut tallies = vec![[0.0; 3]; self.class_count];
        let mut bins = [0.0; ECE_BINS];
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
                let from = document * self.gaps_a_document;
                for &(gap, bin) in &self.gaps[from..from + self.gaps_a_document] {
                    bins[usize::from(bin)] += count * gap;
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
        let gaps: f64 = bins.iter().map(|gap: &f64| gap.abs()).sum();
        let (auc, average_precision) = self.ranking(counts);
        [
            sums[1] / total,
            sums[2] / total,
            sums[3] / total,
            f1(&all),
            super::per_class::ratio(f1_sum, seen),
            gaps / (total * self.gaps_a_document as f64),
            auc,
            average_precision,
        ]
    }

    /// Means over classes of the area under the ROC curve and of average precision.
    fn ranking(&self, counts: &[u16]) -> (f64, f64) {
        let weights: Vec<f64> = counts
            .iter()
            .zip(&self.documents)
            .map(|(&count, document)| f64::from(count) * document[0])
            .collect();
        let (mut auc, mut with_auc, mut precision, mut with_precision) = (0.0, 0.0, 0.0, 0.0);
        for ranks in &self.ranks {
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
                precision += sum / yes;
                with_precision += 1.0;
                if no > 0.0 {
                    auc += 1.0 - lost / (yes * no);
                    with_auc += 1.0;
                }
            }
        }
        (auc / with_auc, precision / with_precision)
    }
}

/// The highest log-odds of every bin but the last.
fn edges(sorted: &SortedForecasts) -> Vec<f64> {
    let bins = sorted.equal_mass(ECE_BINS);
    let inner = bins.len().saturating_sub(1);
    bins[..inner]
        .iter()
        .map(|bin| sorted.log_odds[bin.end - 1])
        .collect()
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
            labels,
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
                (found.log_loss, whole.log_loss),
                (found.brier, whole.brier),
                (found.micro_f1, whole.micro_f1),
                (found.macro_f1, whole.macro_f1),
                (found.ece, whole.ece),
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
            (6, whole.further.as_ref().unwrap().macro_auc.unwrap()),
            (
                7,
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
        backwards.labels.reverse();
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

    #[test] // The spread of a mean is known: the standard error of the log loss.
    fn the_interval_of_a_mean_has_the_textbook_width() {
        let mut forecasts = drawn(Task::SingleLabel, 2, 400);
        forecasts.weights = None;
        let found = bootstrap(&forecasts, &BootstrapSettings::default())
            .unwrap()
            .log_loss;
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
}
