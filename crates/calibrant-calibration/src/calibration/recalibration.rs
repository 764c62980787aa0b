//! Probabilities that were calibrated once, corrected by a few new labels.

use serde::{Deserialize, Serialize};

use super::log_odds_pool::{MemberForecasts, Strengths, evidence, solve};
use crate::numeric::{StableSum, log_odds_against_rest, log_sum_exp, softplus};
use crate::{CalibrationError, Probability, Task};

/// A straight line over calibrated log-odds, near the identity: what a few new labels say about old curves.
///
/// # Formula
/// ```text
/// one label        P'(c) ∝ exp(a ln P(c) + b_c)
/// several labels   log-odds'(c) = a · log-odds(c) + b_c
/// ```
/// with one slope `a ≥ 0` for all classes. Slope and intercepts minimise
/// ```text
/// Σ_i v_i (log loss of example i) + ½ S (a - 1)² + ½ T Σ_c b_c²,   S = 16, T = 4
/// ```
/// over examples whose weights `v_i` have a mean of one: as if the slope were known to within 0.25 of 1 and each
/// intercept to within 0.5 of 0 before the first label. With few labels only what these clearly contradict moves, the
/// intercepts first; a class without a new label keeps nearly what it had. The constants were chosen on two corpora, IMDb and
/// tweets by emoji (`calibrant-experiments recalibrate --choose`), and are reported on four others.
///
/// # When it misleads
/// It moves log-odds along a line: where documents of a new kind are scored wrongly it can only make them less sure. The
/// labels must be of documents drawn as those to come; labels of the hard cases alone bend every probability.
///
/// # Reference
/// Cox, Biometrika 45 (1958), on the line; Steyerberg et al., Statistics in Medicine 23 (2004), on updating a model by it,
/// and on shrinking the update.
///
/// ```
/// use calibrant_calibration::calibration::{MemberForecasts, Recalibration};
/// use calibrant_calibration::{Probability, Task};
/// let mut stated = MemberForecasts::new(Task::MultiLabel, 1, 1);
/// for truth in [true, true, true, false] {
///     let labels: &[u32] = if truth { &[0] } else { &[] };
///     stated.push(&[&[Probability::from_log_odds(0.0)]], labels, 1.0)?;
/// }
/// let found = Recalibration::fit(&stated, |_| true)?;
/// // By hand: log-odds of 0 say nothing of the slope; the intercept solves 4 σ(b) - 3 + 4 b = 0.
/// assert_eq!(found.slope(), 1.0);
/// let b = found.intercepts()[0];
/// assert!((4.0 / (1.0 + (-b).exp()) - 3.0 + 4.0 * b).abs() < 1e-6);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recalibration {
    slope: f64,
    intercepts: Vec<f64>,
}

/// How firmly slope and intercepts are held.
const STRENGTHS: Strengths = Strengths {
    weight: 16.0,
    intercept: 4.0,
};
/// Standard errors by which held-out log loss must fall before old curves are given up.
const CLEAR: f64 = 1.0;
/// Nothing that a fit gives is nearly as large.
const LARGEST: f64 = 1e9;

impl Recalibration {
    /// What changes nothing.
    pub fn identity(class_count: usize) -> Self {
        Self {
            slope: 1.0,
            intercepts: vec![0.0; class_count],
        }
    }

    /// From the examples that take part; `stated` has the old forecasts as its only member.
    pub fn fit(
        stated: &MemberForecasts,
        takes_part: impl Fn(usize) -> bool,
    ) -> Result<Self, CalibrationError> {
        Self::fit_held(stated, takes_part, STRENGTHS.weight, STRENGTHS.intercept)
    }

    /// As [`Self::fit`], with other constants.
    #[doc(hidden)] // For the experiment that chose them.
    pub fn fit_held(
        stated: &MemberForecasts,
        takes_part: impl Fn(usize) -> bool,
        weight: f64,
        intercept: f64,
    ) -> Result<Self, CalibrationError> {
        if stated.member_count() != 1 {
            return Err(CalibrationError::BadSetting {
                setting: "the number of forecasters",
                requirement: "one",
                value: stated.member_count().to_string(),
            });
        }
        let rows: Vec<u32> = (0..stated.len() as u32)
            .filter(|&row| takes_part(row as usize))
            .collect();
        if rows.is_empty() {
            return Err(CalibrationError::NoExamples);
        }
        let mut found = solve(stated, &rows, Strengths { weight, intercept })?;
        let intercepts = found.split_off(1);
        Ok(Self {
            slope: found[0],
            intercepts,
        })
    }

    /// How much surer (above 1) or less sure (below 1) forecasts become.
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// What each class gets besides.
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// This and then another, as one.
    ///
    /// ```
    /// use calibrant_calibration::{Probability, Task, calibration::Recalibration};
    /// let both = Recalibration::identity(2).then(&Recalibration::identity(2));
    /// assert_eq!(both, Recalibration::identity(2));
    /// ```
    pub fn then(&self, later: &Self) -> Self {
        let intercepts = self.intercepts.iter().zip(&later.intercepts);
        Self {
            slope: self.slope * later.slope,
            intercepts: intercepts
                .map(|(first, second)| later.slope * first + second)
                .collect(),
        }
    }

    /// Whether it can belong to so many classes, whatever a file may say.
    pub fn is_sound(&self, class_count: usize) -> bool {
        self.intercepts.len() == class_count
            && (0.0..=LARGEST).contains(&self.slope)
            && self.intercepts.iter().all(|b| b.abs() <= LARGEST)
    }

    /// Corrects the probabilities of one document.
    pub fn apply(&self, task: Task, buffer: &mut Vec<f64>, classes: &mut [Probability]) {
        buffer.clear();
        let moved = classes.iter().zip(&self.intercepts);
        buffer.extend(moved.map(|(&p, b)| self.slope * evidence(task, p) + b));
        state(task, buffer, classes);
    }

    /// As [`Self::apply`], from the [`evidence`] of old forecasts.
    #[doc(hidden)] // For our own crates, which keep forecasts so.
    pub fn state_evidence(
        &self,
        task: Task,
        stated: &[f64],
        buffer: &mut Vec<f64>,
        classes: &mut [Probability],
    ) {
        buffer.clear();
        let moved = stated.iter().zip(&self.intercepts);
        buffer.extend(moved.map(|(e, b)| self.slope * e + b));
        state(task, buffer, classes);
    }

    /// The log loss of an example in nats, over its classes where a document may have several.
    fn loss(&self, stated: &MemberForecasts, row: usize) -> f64 {
        let moved = stated.evidence(row).iter().zip(&self.intercepts);
        let sums: Vec<f64> = moved.map(|(e, b)| self.slope * e + b).collect();
        let labels = &stated.labels()[row];
        let own: f64 = labels.iter().map(|&label| sums[label as usize]).sum();
        match stated.task() {
            Task::SingleLabel => log_sum_exp(&sums) - own,
            Task::MultiLabel => sums.iter().map(|&z| softplus(z)).sum::<f64>() - own,
        }
    }
}

/// Evidence to probabilities.
fn state(task: Task, sums: &mut Vec<f64>, classes: &mut [Probability]) {
    if task == Task::SingleLabel {
        sums.resize(2 * classes.len(), 0.0);
        let (ln_weights, log_odds) = sums.split_at_mut(classes.len());
        log_odds_against_rest(ln_weights, log_odds);
        ln_weights.copy_from_slice(log_odds);
    }
    for (class, &log_odds) in classes.iter_mut().zip(sums.iter()) {
        *class = Probability::from_log_odds(log_odds);
    }
}

/// What new labels came to, and what that is worth on labels that took no part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecalibrationTrial {
    /// From all examples.
    pub found: Recalibration,
    /// The mean log loss of the old forecasts, in nats per document or decision.
    pub log_loss_before: f64,
    /// That of corrections that were fitted without the example's fold.
    pub log_loss_after: f64,
    /// The standard error of the difference, over examples or what belongs together.
    pub standard_error: f64,
}

impl RecalibrationTrial {
    /// Fits to all examples, and to all but each fold. `unit_of` says what belongs together: such examples must be in one fold.
    ///
    /// # Formula
    /// The old curves are given up where the held-out log loss falls by more than one standard error of the difference,
    /// which chance alone does about one time in six; the correction is shrunk besides, so that little is lost then.
    pub fn new(
        stated: &MemberForecasts,
        fold_count: usize,
        fold_of: impl Fn(usize) -> usize,
        unit_of: impl Fn(usize) -> usize,
    ) -> Result<Self, CalibrationError> {
        let found = Recalibration::fit(stated, |_| true)?;
        let without: Vec<Recalibration> = (0..fold_count)
            .map(|fold| Recalibration::fit(stated, |row| fold_of(row) != fold))
            .collect::<Result<_, _>>()?;
        let old = Recalibration::identity(stated.class_count());
        let largest = stated.weights().iter().copied().fold(0.0, f64::max);
        let mut units = std::collections::BTreeMap::<usize, (f64, f64)>::new();
        let mut sums = [StableSum::default(), StableSum::default()];
        let mut total = StableSum::default();
        for row in 0..stated.len() {
            let weight = stated.weights()[row] / largest;
            let (before, after) = (
                old.loss(stated, row),
                without[fold_of(row)].loss(stated, row),
            );
            total.add(weight);
            sums[0].add(weight * before);
            sums[1].add(weight * after);
            let unit = units.entry(unit_of(row)).or_default();
            unit.0 += weight;
            unit.1 += weight * (before - after);
        }
        let total = total.total();
        let [before, after] = sums.map(|sum| sum.total() / total);
        let gain = before - after;
        let squares: f64 = units
            .values()
            .map(|(weight, gained)| (gained - weight * gain).powi(2))
            .sum();
        let count = units.len() as f64;
        let decisions = match stated.task() {
            Task::SingleLabel => 1.0,
            Task::MultiLabel => stated.class_count().max(1) as f64,
        };
        Ok(Self {
            found,
            log_loss_before: before / decisions,
            log_loss_after: after / decisions,
            standard_error: (squares * count / (count - 1.0).max(1.0)).sqrt() / total / decisions,
        })
    }

    /// Whether new curves are clearly better than the old ones on labels that took no part.
    pub fn is_better(&self) -> bool {
        self.log_loss_before - self.log_loss_after > CLEAR * self.standard_error
    }
}

#[cfg(test)]
mod tests;
