//! Do as many decisions turn out wrong as the probabilities say?

use super::forecasts::{Forecasts, Row};
use super::losses::sum_of_mean;
use super::units::Units;
use crate::numeric::StableSum;
use crate::{Probability, Task};
use serde::{Deserialize, Serialize};

/// The wrong decisions beside what the stated probabilities lead one to expect. All sums are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ErrorLikelihood {
    /// Wrong decisions.
    pub observed: f64,
    /// Wrong decisions to be expected.
    pub expected: f64,
    /// The standard deviation of their number.
    pub deviation: f64,
    /// How many standard deviations more were wrong than expected; `None` where nothing is open.
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
    /// Copies in a unit (equal chances and outcomes of one class) are one decision with their weights added. Of what
    /// else belongs together the deviation is the one seen between units, `√ Σ_u (Σ w (wrong - e))²`, but neither less
    /// than that of independent decisions nor more than that of decisions that are all right or all wrong together.
    ///
    /// # When it misleads
    /// Decisions of different units, and those on different classes, are taken as independent. Too sure here and too timid there cancel in the count (less
    /// so in the likelihood).
    pub(super) fn error_likelihood(&self, rows: &[Row<'_>], units: &Units) -> ErrorLikelihood {
        let decisions = self.decisions_of(rows);
        let mut sums = Sums::default();
        for decision in &decisions {
            sums.add(decision.error, decision.wrong, decision.weight);
        }
        let between = (!units.all_alone() && !rows.is_empty()).then(|| {
            let of_row = decisions.len() / rows.len();
            variance_between(&decisions, of_row, units)
        });
        sums.finish(self.largest_weight(), between)
    }

    /// One a row, or one a row and class.
    fn decisions_of(&self, rows: &[Row<'_>]) -> Vec<Decision> {
        let decision = |class: usize, error: Probability, wrong: bool, weight: f64| Decision {
            class,
            error,
            wrong,
            weight,
        };
        match self.task {
            Task::SingleLabel => rows
                .iter()
                .map(|row| {
                    let top = row.top_class();
                    let right = row.labels.first().is_some_and(|&l| l as usize == top);
                    decision(0, row.probabilities[top].complement(), !right, row.weight)
                })
                .collect(),
            Task::MultiLabel => self
                .points_of(rows)
                .into_iter()
                .enumerate()
                .map(|(place, (probability, happened, weight))| {
                    let error = Probability::from_log_odds(-probability.log_odds().abs());
                    let wrong = happened != (probability.log_odds() > 0.0);
                    decision(place % self.class_names.len(), error, wrong, weight)
                })
                .collect(),
        }
    }
}

#[derive(Clone, Copy)]
struct Decision {
    class: usize,
    /// The stated chance that it is wrong.
    error: Probability,
    wrong: bool,
    weight: f64,
}

/// The variance of the number of wrong decisions where some belong together.
fn variance_between(decisions: &[Decision], of_row: usize, units: &Units) -> f64 {
    let mut least = StableSum::default();
    let mut found = StableSum::default();
    let mut most = StableSum::default();
    let mut members: Vec<Decision> = Vec::new();
    for unit in 0..units.count() {
        members.clear();
        for &row in units.documents(unit) {
            let first = row as usize * of_row;
            members.extend_from_slice(&decisions[first..first + of_row]);
        }
        let key = |d: &Decision| (d.class, d.error.log_odds(), d.wrong);
        members.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            let by_class = a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
            by_class.then(a.2.cmp(&b.2))
        });
        for of_class in members.chunk_by(|a, b| a.class == b.class) {
            let (mut gap, mut deviations) = (0.0, 0.0);
            for copies in of_class.chunk_by(|a, b| key(a) == key(b)) {
                let weight: f64 = copies.iter().map(|copy| copy.weight).sum();
                let error = copies[0].error;
                let (e, right) = (error.value(), error.complement().value());
                gap += weight * if copies[0].wrong { right } else { -e };
                deviations += weight * (e * right).sqrt();
                least.add(weight * weight * e * right);
            }
            found.add(gap * gap);
            most.add(deviations * deviations);
        }
    }
    found.total().min(most.total()).max(least.total())
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

    /// `between` is the variance of the number of errors where decisions are not independent; that of the
    /// likelihood is taken to be larger by as much.
    fn finish(self, scale: f64, between: Option<f64>) -> ErrorLikelihood {
        let independent = self.variance.total();
        let inflated = between.map_or(1.0, |between| between / independent);
        let inflated = if inflated.is_finite() { inflated } else { 1.0 };
        let scaled = |sum: StableSum| sum_of_mean(sum.total().abs(), scale);
        let root = |sum: StableSum| sum_of_mean((inflated * sum.total().max(0.0)).sqrt(), scale);
        let z = (self.observed.total() - self.expected.total()) / (inflated * independent).sqrt();
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
            let of = |forecasts: &Forecasts, units: Units| {
                forecasts.error_likelihood(&forecasts.rows(), &units)
            };
            let expected = of(&once, alone(3));
            let found = of(&thrice, Units::of((0..9).map(|row| Some(row % 3))));
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

    #[test] // Groups of five that are right or wrong by half together; 95 % of |z| are below 1.96.
    fn the_number_of_errors_of_groups_is_as_uncertain_as_it_says() {
        let mut random = crate::numeric::Random::from_seed(4);
        let (mut far, mut far_apart) = (0, 0);
        for _ in 0..400 {
            let (mut table, mut labels) = (Vec::new(), Vec::<&[u32]>::new());
            for _ in 0..80 {
                let common = random.uniform();
                for _ in 0..5 {
                    let e = 0.05 + 0.4 * random.uniform();
                    let own = random.uniform();
                    let drawn = if random.uniform() < 0.5 { common } else { own };
                    table.push([1.0 - e, 0.6 * e, 0.4 * e]);
                    labels.push(if drawn < e { &[1] } else { &[0] });
                }
            }
            let forecasts = forecasts(Task::SingleLabel, &table, &labels);
            let z = |units: &Units| {
                let found = forecasts.error_likelihood(&forecasts.rows(), units);
                found.z.unwrap().abs() > 1.96
            };
            far += i32::from(z(&Units::of((0..400).map(|row| Some(row / 5)))));
            far_apart += i32::from(z(&alone(400)));
        }
        // 5 % of 400 are 20 ± 4.4.
        assert!(far <= 38, "{far}");
        assert!(far_apart > 45, "{far_apart}");
    }

    #[test] // By hand: errors have chances 0.4 and 0.2, the second happened; everything counts twice.
    fn single_labels_agree_with_the_hand() {
        let forecasts = forecasts(
            Task::SingleLabel,
            &[[0.6, 0.3, 0.1], [0.1, 0.8, 0.1]],
            &[&[0], &[2]],
        );
        let found = forecasts.error_likelihood(&forecasts.rows(), &alone(2));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(found.observed, 2.0);
        near(found.expected, 1.2);
        near(found.deviation, 2.0 * (0.24f64 + 0.16).sqrt());
        near(found.z.unwrap(), 0.4 / 0.4f64.sqrt());
        near(found.ln_likelihood, 2.0 * (0.6f64 * 0.2).ln());
        let entropy = |e: f64| e * e.ln() + (1.0 - e) * (1.0 - e).ln();
        near(
            found.expected_ln_likelihood,
            2.0 * (entropy(0.4) + entropy(0.2)),
        );
    }

    #[test] // By hand: six decisions with chances .4 .3 .1 .1 .2 .5; only "b" of the first is wrong.
    fn several_labels_agree_with_the_hand() {
        let forecasts = forecasts(
            Task::MultiLabel,
            &[[0.6, 0.3, 0.1], [0.1, 0.8, 0.5]],
            &[&[0, 1], &[1]],
        );
        let found = forecasts.error_likelihood(&forecasts.rows(), &alone(2));
        assert!((found.observed - 2.0).abs() < 1e-12 && (found.expected - 3.2).abs() < 1e-12);
        let likelihood = 0.6f64 * 0.3 * 0.9 * 0.9 * 0.8 * 0.5;
        assert!((found.ln_likelihood - 2.0 * likelihood.ln()).abs() < 1e-12);
    }
}
