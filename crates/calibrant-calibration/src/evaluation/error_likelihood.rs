//! Do as many decisions turn out wrong as the probabilities say?

use super::forecasts::{Forecasts, Row};
use super::units::{FEWEST_UNITS, Units};
use crate::numeric::{StableSum, student_as_normal};
use crate::{Probability, Task};
use serde::{Deserialize, Serialize};

/// The wrong decisions beside what the stated probabilities lead one to expect. All sums are weighted, in units of a mean weight of 1
/// a document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ErrorLikelihood {
    /// Wrong decisions.
    pub observed: f64,
    /// Wrong decisions to be expected.
    pub expected: f64,
    /// The standard deviation of their number.
    pub deviation: f64,
    /// How many standard deviations more were wrong than expected. Of groups it is the normal number that is as
    /// surprising as Student's `t` with one degree of freedom less than groups of equal weight. `None` where nothing is
    /// open, and where fewer than three groups cannot tell.
    pub z: Option<f64>,
    /// The log-likelihood (nats) of exactly these decisions being wrong and the others right.
    pub ln_likelihood: f64,
    /// Its mean if the stated probabilities are right.
    pub expected_ln_likelihood: f64,
    /// Its standard deviation if they are.
    pub ln_likelihood_deviation: f64,
}

impl Forecasts {
    /// Compares the errors with the stated chances of error.
    ///
    /// # Formula
    /// ```text
    /// e = 1 - p of the most probable class     single label
    /// e = min(p, 1-p) of each decision         several labels
    /// expected = Σ w e     deviation = √ Σ w² e (1-e)
    /// ln likelihood = Σ w (ln e if wrong, else ln(1-e))
    /// ```
    /// Copies with the same outcome are one decision with their weights added. Of what else belongs together the variance
    /// is the one seen between units, or that of independent decisions where it is larger:
    /// ```text
    /// (G-1)/G Σ_u ((g_u - d W_u) / (1 - W_u/W))²,     g_u = Σ w (wrong - e),     d = Σ g_u / W
    /// ```
    /// with `W_u` the weight of one of `G` units and `W` that of all. What all units have in common, more or fewer errors
    /// than stated, is not taken for a difference between them. No variance is larger than that of units whose decisions
    /// are all right or all wrong together.
    ///
    /// # When it misleads
    /// Decisions of different units, and those on different classes, are taken as independent. Too sure here and too timid there cancel in the count (less
    /// so in the likelihood).
    pub(super) fn error_likelihood(
        &self,
        rows: &[Row<'_>],
        units: &Units,
        copies: &[Option<u64>],
    ) -> ErrorLikelihood {
        let decisions = self.decisions_of(rows, copies);
        let mut sums = Sums::default();
        for decision in &decisions {
            sums.add(decision.error, decision.wrong, decision.weight);
        }
        let between = (!units.all_alone() && !rows.is_empty()).then(|| {
            let of_row = decisions.len() / rows.len();
            Between::of(&decisions, of_row, units, || {
                units.worth(|row| rows[row].weight)
            })
        });
        sums.finish(between)
    }

    /// One per row, or one per row and class.
    fn decisions_of(&self, rows: &[Row<'_>], copies: &[Option<u64>]) -> Vec<Decision> {
        let copy_of = |row: &Row<'_>| copies.get(row.document).copied().flatten();
        match self.task {
            Task::SingleLabel => rows
                .iter()
                .map(|row| {
                    let top = row.top_class();
                    let right = row.labels.first().is_some_and(|&l| l as usize == top);
                    Decision {
                        class: 0,
                        copy: copy_of(row),
                        error: row.probabilities[top].complement(),
                        wrong: !right,
                        weight: row.weight,
                    }
                })
                .collect(),
            Task::MultiLabel => self
                .points_of(rows)
                .into_iter()
                .enumerate()
                .map(|(place, (probability, happened, weight))| Decision {
                    class: place % self.class_names.len(),
                    copy: copy_of(&rows[place / self.class_names.len()]),
                    error: Probability::from_log_odds(-probability.log_odds().abs()),
                    wrong: happened != (probability.log_odds() > 0.0),
                    weight,
                })
                .collect(),
        }
    }
}

#[derive(Clone, Copy)]
struct Decision {
    class: usize,
    /// What it shares with copies of its document.
    copy: Option<u64>,
    /// The stated chance that it is wrong.
    error: Probability,
    wrong: bool,
    weight: f64,
}

impl Decision {
    /// By how much more, by weight, is wrong than was stated.
    fn gap(&self) -> f64 {
        match self.wrong {
            true => self.weight * self.error.complement().value(),
            false => -self.weight * self.error.value(),
        }
    }
}

/// What is known of the number of wrong decisions where some belong together.
#[derive(Clone, Copy)]
struct Between {
    variance: f64,
    /// How many units of equal weight the variance was seen between; `None` where it follows from the stated
    /// probabilities, because there are copies and nothing else belongs together.
    units: Option<f64>,
}

impl Between {
    fn of(
        decisions: &[Decision],
        of_row: usize,
        units: &Units,
        worth: impl FnOnce() -> f64,
    ) -> Self {
        let [least, found, most] = variances_between(decisions, of_row, units);
        let is_open = most > least * (1.0 + 1e-12);
        Self {
            variance: if is_open {
                found.min(most).max(least)
            } else {
                least
            },
            units: is_open.then(worth),
        }
    }
}

/// The variance if all but copies are independent, the one seen between units, and that of units whose decisions are
/// all right or all wrong together.
fn variances_between(decisions: &[Decision], of_row: usize, units: &Units) -> [f64; 3] {
    let mut least = StableSum::default();
    let mut found = StableSum::default();
    let mut most = StableSum::default();
    let totals = totals_of(decisions, of_row);
    let mut members: Vec<Decision> = Vec::new();
    for unit in 0..units.count() {
        members.clear();
        for &row in units.documents(unit) {
            let first = row as usize * of_row;
            members.extend_from_slice(&decisions[first..first + of_row]);
        }
        // Sums must not depend on the order of rows.
        members.sort_by(|a, b| {
            let key = |d: &Decision| (d.class, d.copy, d.wrong);
            let by_error = a.error.log_odds().total_cmp(&b.error.log_odds());
            let by_weight = a.weight.total_cmp(&b.weight);
            key(a).cmp(&key(b)).then(by_error).then(by_weight)
        });
        for of_class in members.chunk_by(|a, b| a.class == b.class) {
            let [all_weight, all_gap] = totals[of_class[0].class];
            let (mut weight, mut gap, mut deviations) = (0.0, 0.0, 0.0);
            let is_copy = |a: &Decision, b: &Decision| {
                a.copy.is_some() && (a.copy, a.wrong) == (b.copy, b.wrong)
            };
            for copies in of_class.chunk_by(is_copy) {
                let of_copies: f64 = copies.iter().map(|copy| copy.weight).sum();
                let error = copies[0].error;
                let variance = error.value() * error.complement().value();
                weight += of_copies;
                gap += copies.iter().map(Decision::gap).sum::<f64>();
                deviations += of_copies * variance.sqrt();
                least.add(of_copies * of_copies * variance);
            }
            let others = 1.0 - weight / all_weight;
            if others > 0.0 {
                let apart = (gap - all_gap / all_weight * weight) / others;
                found.add(apart * apart);
            }
            most.add(deviations * deviations);
        }
    }
    let count = units.count() as f64;
    let found = found.total() * (count - 1.0) / count;
    [least.total(), found, most.total()]
}

/// By class: the weight of all decisions, and by how much more was wrong than stated.
fn totals_of(decisions: &[Decision], of_row: usize) -> Vec<[f64; 2]> {
    let mut sums = vec![<[StableSum; 2]>::default(); of_row];
    for decision in decisions {
        let [weight, gap] = &mut sums[decision.class];
        weight.add(decision.weight);
        gap.add(decision.gap());
    }
    let totals = sums.iter();
    totals
        .map(|[weight, gap]| [weight.total(), gap.total()])
        .collect()
}

#[derive(Default)]
struct Sums {
    observed: StableSum,
    expected: StableSum,
    variance: StableSum,
    ln_likelihood: StableSum,
    expected_ln_likelihood: StableSum,
    ln_likelihood_variance: StableSum,
}

impl Sums {
    #[inline]
    fn add(&mut self, error: Probability, wrong: bool, weight: f64) {
        let (e, right) = (error.value(), error.complement().value());
        let variance = weight * weight * e * right;
        if wrong {
            self.observed.add(weight);
        }
        self.expected.add(weight * e);
        self.variance.add(variance);
        self.ln_likelihood.add(-weight * error.log_loss(wrong));
        self.expected_ln_likelihood
            .add(weight * (e * error.ln() + right * error.complement().ln()));
        self.ln_likelihood_variance
            .add(variance * error.log_odds() * error.log_odds());
    }

    /// `between` is for decisions that are not independent; the variance of the likelihood is taken to be larger by as
    /// much as that of the number of errors.
    fn finish(self, between: Option<Between>) -> ErrorLikelihood {
        let independent = self.variance.total();
        let inflated = between.map_or(1.0, |between| between.variance / independent);
        let inflated = if inflated.is_finite() { inflated } else { 1.0 };
        let scaled = |sum: StableSum| sum.total().abs().min(f64::MAX);
        let root = |sum: StableSum| (inflated * sum.total().max(0.0)).sqrt().min(f64::MAX);
        let gap = self.observed.total() - self.expected.total();
        let t = gap / (inflated * independent).sqrt();
        let z = match between.and_then(|between| between.units) {
            Some(units) if units < FEWEST_UNITS => f64::NAN,
            Some(units) => student_as_normal(t, units - 1.0),
            None => t,
        };
        ErrorLikelihood {
            observed: scaled(self.observed),
            expected: scaled(self.expected),
            deviation: root(self.variance),
            z: z.is_finite().then_some(z),
            ln_likelihood: -scaled(self.ln_likelihood),
            expected_ln_likelihood: -scaled(self.expected_ln_likelihood),
            ln_likelihood_deviation: root(self.ln_likelihood_variance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn forecasts(task: Task, table: &[[f64; 3]], labels: &[&[u32]]) -> Forecasts {
        Forecasts {
            task,
            class_names: ["a", "b", "c"].map(String::from).to_vec(),
            probabilities: table
                .iter()
                .flatten()
                .map(|p| Probability::from_log_odds((p / (1.0 - p)).ln()))
                .collect(),
            labels: labels.iter().map(|labels| labels.to_vec()).collect(),
            weights: Some(vec![2.0; labels.len()]),
        }
    }

    fn alone(rows: usize) -> Units {
        Units::of((0..rows).map(|_| None))
    }

    #[test]
    fn copies_are_one_decision_with_more_weight() {
        let table = [[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.5, 0.2, 0.3]];
        let labels: [&[u32]; 3] = [&[0], &[2], &[0]];
        for task in [Task::SingleLabel, Task::MultiLabel] {
            let once = forecasts(task, &table, &labels);
            let thrice = forecasts(task, &table.repeat(3), &labels.repeat(3));
            let copied: Vec<Option<u64>> = (0..9).map(|row| Some(row % 3)).collect();
            let of = |forecasts: &Forecasts, units: Units| {
                forecasts.error_likelihood(&forecasts.rows(), &units, &copied)
            };
            let expected = of(&once, alone(3));
            let found = of(&thrice, Units::of(copied.iter().copied()));
            assert!(
                (found.z.unwrap() - expected.z.unwrap()).abs() < 1e-12,
                "{task:?}"
            );
            assert!((found.deviation - 3.0 * expected.deviation).abs() < 1e-12);
            let ratio = found.ln_likelihood_deviation / expected.ln_likelihood_deviation;
            assert!((ratio - 3.0).abs() < 1e-12, "{ratio}");
            // Were the copies independent, z would be √3 times as large.
            let apart = of(&thrice, alone(9));
            let ratio = apart.z.unwrap() / expected.z.unwrap();
            assert!((ratio - 3f64.sqrt()).abs() < 1e-12, "{ratio}");
        }
    }

    /// The `z` of rows in groups of equal size. Each row follows what its group has in common with probability
    /// `together`, and has an error with a probability that is `shift` above the stated one.
    fn z_of_groups(
        random: &mut Random,
        groups: usize,
        size: usize,
        together: f64,
        shift: f64,
    ) -> [f64; 2] {
        let (mut table, mut labels) = (Vec::new(), Vec::<&[u32]>::new());
        for _ in 0..groups {
            let common = random.uniform();
            for _ in 0..size {
                let e = 0.05 + 0.4 * random.uniform();
                let own = random.uniform();
                let drawn = if random.uniform() < together {
                    common
                } else {
                    own
                };
                table.push([1.0 - e, 0.6 * e, 0.4 * e]);
                labels.push(if drawn < e + shift { &[1] } else { &[0] });
            }
        }
        let rows = groups * size;
        let forecasts = forecasts(Task::SingleLabel, &table, &labels);
        let grouped = Units::of((0..rows).map(|row| Some((row / size) as u64)));
        [grouped, alone(rows)].map(|units| {
            let found = forecasts.error_likelihood(&forecasts.rows(), &units, &[]);
            found.z.unwrap()
        })
    }

    #[test] // 95 % of |z| are below 1.96, and one of 370 is above 3.
    fn the_number_of_errors_of_groups_is_as_uncertain_as_it_says() {
        for (groups, together) in [(80, 0.0), (80, 0.5), (20, 0.5), (10, 0.3), (5, 0.3)] {
            let mut random = Random::from_seed(4);
            let (mut far, mut very_far, mut far_apart) = (0, 0, 0);
            for _ in 0..400 {
                let [z, apart] = z_of_groups(&mut random, groups, 5, together, 0.0);
                far += i32::from(z.abs() > 1.96);
                very_far += i32::from(z.abs() > 3.0);
                far_apart += i32::from(apart.abs() > 1.96);
            }
            // 5 % of 400 are 20 ± 4.4.
            assert!(far <= 38, "{groups} {together}: {far}");
            assert!(very_far <= 5, "{groups} {together}: {very_far}");
            assert!(together < 0.5 || far_apart > 35, "{groups}: {far_apart}");
        }
    }

    #[test]
    fn a_plain_shift_is_noticed_the_more_the_more_rows_there_are() {
        let mut random = Random::from_seed(5);
        // By hand: 4,000 rows with variances of about 0.175 and a shift of 0.1 are 400/√700 = 15 standard deviations,
        // with 39 degrees of freedom as surprising as a normal number of about 9.
        let [grouped, apart] = z_of_groups(&mut random, 40, 100, 0.0, 0.1);
        assert!(apart > 12.0 && grouped > 7.5, "{apart} {grouped}");
        let [fewer, _] = z_of_groups(&mut random, 40, 10, 0.0, 0.1);
        assert!(fewer > 3.0 && fewer < grouped, "{fewer} {grouped}");
        // More than the square root of the number of groups, which bounds gaps that are not centred.
        assert!(grouped > 40f64.sqrt());
    }

    #[test] // Histograms and rounded tables state the same probability again and again.
    fn equal_forecasts_of_a_group_are_no_copies() {
        let mut random = Random::from_seed(6);
        let labels: Vec<&[u32]> = (0..4000)
            .map(|_| {
                if random.uniform() < 0.7 {
                    &[0][..]
                } else {
                    &[1]
                }
            })
            .collect();
        let z = |jitter: f64| {
            let table: Vec<[f64; 3]> = (0..4000)
                .map(|row| {
                    let p = 0.8 + jitter * f64::from(row % 7);
                    [p, 0.6 * (1.0 - p), 0.4 * (1.0 - p)]
                })
                .collect();
            let forecasts = forecasts(Task::SingleLabel, &table, &labels);
            let units = Units::of((0..4000).map(|row| Some(row / 100)));
            let found = forecasts.error_likelihood(&forecasts.rows(), &units, &[]);
            found.z.unwrap()
        };
        let (tied, apart) = (z(0.0), z(1e-6));
        assert!((tied - apart).abs() < 0.01, "{tied} {apart}");
        assert!(tied > 7.0, "{tied}");
    }

    #[test]
    fn two_groups_cannot_tell() {
        let table = [[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.5, 0.2, 0.3]].repeat(10);
        let labels: Vec<&[u32]> = vec![&[0]; 30];
        let forecasts = forecasts(Task::SingleLabel, &table, &labels);
        for groups in [1, 2] {
            let units = Units::of((0..30).map(|row| Some(row % groups)));
            let found = forecasts.error_likelihood(&forecasts.rows(), &units, &[]);
            assert!(found.z.is_none() && found.deviation > 0.0);
        }
    }

    #[test] // By hand: errors have chances 0.4 and 0.2, the second happened; weights of 2 each are like none.
    fn single_labels_agree_with_the_hand() {
        let forecasts = forecasts(
            Task::SingleLabel,
            &[[0.6, 0.3, 0.1], [0.1, 0.8, 0.1]],
            &[&[0], &[2]],
        );
        let found = forecasts.error_likelihood(&forecasts.rows(), &alone(2), &[]);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(found.observed, 1.0);
        near(found.expected, 0.6);
        near(found.deviation, (0.24f64 + 0.16).sqrt());
        near(found.z.unwrap(), 0.4 / 0.4f64.sqrt());
        near(found.ln_likelihood, (0.6f64 * 0.2).ln());
        let entropy = |e: f64| e * e.ln() + (1.0 - e) * (1.0 - e).ln();
        near(found.expected_ln_likelihood, entropy(0.4) + entropy(0.2));
    }

    #[test] // By hand: six decisions with chances .4 .3 .1 .1 .2 .5; only "b" of the first is wrong.
    fn several_labels_agree_with_the_hand() {
        let forecasts = forecasts(
            Task::MultiLabel,
            &[[0.6, 0.3, 0.1], [0.1, 0.8, 0.5]],
            &[&[0, 1], &[1]],
        );
        let found = forecasts.error_likelihood(&forecasts.rows(), &alone(2), &[]);
        assert!((found.observed - 1.0).abs() < 1e-12 && (found.expected - 1.6).abs() < 1e-12);
        let likelihood = 0.6f64 * 0.3 * 0.9 * 0.9 * 0.8 * 0.5;
        assert!((found.ln_likelihood - likelihood.ln()).abs() < 1e-12);
    }
}
