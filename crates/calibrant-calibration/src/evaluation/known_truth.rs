//! Forecasts against the true probabilities themselves, where a simulation knows them.

use serde::Serialize;

use super::forecasts::{EvaluationError, Forecasts};
use crate::{Probability, Task};

/// Documents whose most probable class was stated with about the same probability. Means are absent where there are none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TruthBin {
    /// The least stated probability that belongs here.
    pub from: f64,
    /// Where the next bin begins.
    pub to: f64,
    /// How many documents.
    pub documents: usize,
    /// The mean stated probability of the most probable class.
    pub stated: Option<f64>,
    /// The mean true probability of the same class.
    #[serde(rename = "true")]
    pub truth: Option<f64>,
    /// The share of documents that were of that class.
    pub right: Option<f64>,
}

impl Forecasts {
    /// What stating these probabilities costs beyond stating the true ones, in expected nats per document. `truth` has
    /// as many probabilities, in the same order; weights do not count.
    ///
    /// # Formula
    /// ```text
    /// 1/n · Σ_i Σ_c t_ic ln(t_ic / s_ic)
    /// ```
    /// the mean Kullback-Leibler divergence of the stated probabilities `s` from the true ones `t`; where documents may have several
    /// labels, each class adds the divergence of both its sides.
    ///
    /// # When it misleads
    /// Truths that were estimated are no truths: their own error is taken for that of the forecasts.
    ///
    /// # Reference
    /// Kullback and Leibler, On information and sufficiency, 1951.
    ///
    /// ```
    /// use calibrant_calibration::{Probability, Task, evaluation::Forecasts};
    /// let of = |p: f64| Probability::from_log_odds((p / (1.0 - p)).ln());
    /// let stated = Forecasts {
    ///     task: Task::SingleLabel,
    ///     class_names: vec!["ham".into(), "spam".into()],
    ///     probabilities: vec![of(0.8), of(0.2)],
    ///     labels: [vec![1]].into(),
    ///     weights: None,
    /// };
    /// // By hand: 0.5 ln(0.5/0.8) + 0.5 ln(0.5/0.2) = 0.5 ln(0.25/0.16).
    /// let excess = stated.divergence_from(&[of(0.5), of(0.5)])?;
    /// assert!((excess - 0.5 * (0.25f64 / 0.16).ln()).abs() < 1e-12);
    /// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
    /// ```
    pub fn divergence_from(&self, truth: &[Probability]) -> Result<f64, EvaluationError> {
        self.check_truth(truth)?;
        let classes = self.class_names.len();
        let side =
            |truth: Probability, stated: Probability| truth.value() * (truth.ln() - stated.ln());
        let of_class = |(&truth, &stated): (&Probability, &Probability)| match self.task {
            Task::SingleLabel => side(truth, stated),
            Task::MultiLabel => side(truth, stated) + side(truth.complement(), stated.complement()),
        };
        let rows = truth.chunks_exact(classes);
        let rows = rows.zip(self.probabilities.chunks_exact(classes));
        let sum: f64 = rows
            .map(|(truth, stated)| truth.iter().zip(stated).map(of_class).sum::<f64>())
            .sum();
        Ok(sum / self.labels.len() as f64)
    }

    /// Documents of one label in bins by what is stated of their most probable class, beside the true probability of that class.
    /// `ends` are the rising upper ends of all bins but the last.
    ///
    /// ```
    /// use calibrant_calibration::{Probability, Task, evaluation::Forecasts};
    /// let of = |p: f64| Probability::from_log_odds((p / (1.0 - p)).ln());
    /// let stated = Forecasts {
    ///     task: Task::SingleLabel,
    ///     class_names: vec!["ham".into(), "spam".into()],
    ///     probabilities: vec![of(0.8), of(0.2)],
    ///     labels: [vec![1]].into(),
    ///     weights: None,
    /// };
    /// let bins = stated.beside_truth(&[of(0.5), of(0.5)], &[0.7, 0.9])?;
    /// assert_eq!((bins[0].documents, bins[1].documents, bins[2].documents), (0, 1, 0));
    /// assert_eq!((bins[1].truth, bins[1].right), (Some(0.5), Some(0.0))); // ham was stated, spam was true
    /// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
    /// ```
    pub fn beside_truth(
        &self,
        truth: &[Probability],
        ends: &[f64],
    ) -> Result<Vec<TruthBin>, EvaluationError> {
        self.check_truth(truth)?;
        let classes = self.class_names.len();
        let mut sums = vec![(0usize, 0.0, 0.0, 0.0); ends.len() + 1];
        for row in self.rows() {
            let top = row.top_class();
            let stated = row.probabilities[top].value();
            let sum = &mut sums[ends.partition_point(|&end| end <= stated)];
            sum.0 += 1;
            sum.1 += stated;
            sum.2 += truth[row.document * classes + top].value();
            sum.3 += f64::from(u8::from(row.labels.contains(&(top as u32))));
        }
        let bins = sums.into_iter().enumerate();
        Ok(bins
            .map(|(number, (documents, stated, truth, right))| {
                let mean = |sum: f64| (documents > 0).then(|| sum / documents as f64);
                let before = number.checked_sub(1).and_then(|before| ends.get(before));
                TruthBin {
                    from: before.copied().unwrap_or(0.0),
                    to: ends.get(number).copied().unwrap_or(1.0),
                    documents,
                    stated: mean(stated),
                    truth: mean(truth),
                    right: mean(right),
                }
            })
            .collect())
    }

    fn check_truth(&self, truth: &[Probability]) -> Result<(), EvaluationError> {
        self.check()?;
        match truth.len() == self.probabilities.len() {
            true => Ok(()),
            false => Err(EvaluationError::BadSetting {
                setting: "the number of true probabilities",
                requirement: "that of the stated ones",
                value: truth.len().to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(p: f64) -> Probability {
        Probability::from_log_odds((p / (1.0 - p)).ln())
    }

    fn forecasts(task: Task, probabilities: Vec<Probability>) -> Forecasts {
        let documents = probabilities.len() / 2;
        Forecasts {
            task,
            class_names: vec!["a".into(), "b".into()],
            probabilities,
            labels: vec![vec![0]; documents].into_iter().collect(),
            weights: None,
        }
    }

    #[test]
    fn the_truth_costs_nothing_and_certainty_much_but_not_everything() {
        let truth = [of(0.3), of(0.7)];
        let honest = forecasts(Task::SingleLabel, truth.to_vec());
        assert_eq!(honest.divergence_from(&truth).unwrap(), 0.0);
        let sure = Probability::from_log_odds(900.0);
        let sure = forecasts(Task::SingleLabel, vec![sure, sure.complement()]);
        let cost = sure.divergence_from(&truth).unwrap();
        assert!(cost > 400.0 && cost.is_finite(), "{cost}");
        assert!(honest.divergence_from(&truth[..1]).is_err());
    }

    #[test] // By hand: both classes add 0.5 ln(0.5/0.8) + 0.5 ln(0.5/0.2).
    fn with_several_labels_both_sides_of_each_class_count() {
        let stated = forecasts(Task::MultiLabel, vec![of(0.8), of(0.2)]);
        let found = stated.divergence_from(&[of(0.5), of(0.5)]).unwrap();
        assert!((found - (0.25f64 / 0.16).ln()).abs() < 1e-12, "{found}");
    }
}
