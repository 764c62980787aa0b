//! Each class against the rest, then all normalised.

use serde::{Deserialize, Serialize};

use super::lines::own_member;
use super::{ClassBuffers, tame};
use crate::calibration::few_positives::few_positives;
use crate::calibration::pooled::CrossFittedPool;
use crate::calibration::{
    Calibrator, CalibratorKind, Choice, ChoiceRules, HeldOutScores, PooledCurve, SavedCalibrator,
    Tried,
};
use crate::numeric::log_odds_against_rest;
use crate::parallel;
use crate::{CalibrationError, Probability};

/// A calibrator for each class against the rest, normalised.
///
/// # Formula
/// ```text
/// q_c = p_c(s_c) / Σ_k p_k(s_k)
/// ```
/// `p_c` is the class's own calibrator, any [`CalibratorKind`]. Computed in logarithms.
///
/// # When it misleads
/// Each `p_c` looks at its own score only. Where another class's score tells more about a class
/// than its own does, dividing by the sum uses that up only in part.
///
/// # Reference
/// Zadrozny & Elkan, KDD 2002, section 4.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct OneVsRestCalibrator {
    classes: Vec<SavedCalibrator>,
    /// Scores are log-probabilities, of which the calibrators take the log-odds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    of_log_probabilities: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    classes: Vec<SavedCalibrator>,
    #[serde(default)]
    of_log_probabilities: bool,
}

impl TryFrom<Unchecked> for OneVsRestCalibrator {
    type Error = &'static str;

    fn try_from(read: Unchecked) -> Result<Self, Self::Error> {
        let read_classes =
            Self::new(read.classes).ok_or("there must be calibrators for at least two classes")?;
        Ok(Self {
            of_log_probabilities: read.of_log_probabilities,
            ..read_classes
        })
    }
}

impl OneVsRestCalibrator {
    /// One calibrator a class; `None` for fewer than two.
    pub fn new(classes: Vec<SavedCalibrator>) -> Option<Self> {
        (classes.len() >= 2).then_some(Self {
            classes,
            of_log_probabilities: false,
        })
    }

    /// The same for scores that are log-probabilities, whose log-odds the calibrators were fitted to.
    pub fn of_log_probabilities(self) -> Self {
        Self {
            of_log_probabilities: true,
            ..self
        }
    }

    /// The calibrator of each class.
    pub fn calibrators(&self) -> &[SavedCalibrator] {
        &self.classes
    }

    pub(super) fn ln_weights_into(&self, scores: &[f64], buffer: &mut ClassBuffers) {
        let classes = self.classes.iter().zip(scores);
        buffer.fill(classes.map(|(calibrator, &score)| {
            let score = if self.of_log_probabilities {
                log_odds_of_ln(score)
            } else {
                tame(score)
            };
            calibrator.probability(score).ln()
        }));
    }
}

/// `ln(p / (1-p))` from `ln p`.
fn log_odds_of_ln(ln_p: f64) -> f64 {
    let log_odds = -(-ln_p).exp_m1().ln();
    if log_odds.is_finite() {
        log_odds
    } else {
        // Below -700 a log-probability is its log-odds; at zero it has lost all digits.
        match ln_p >= 0.0 {
            true => 700.0,
            false => tame(ln_p),
        }
    }
}

/// Normalises the one-vs-rest probabilities of the classes: `q_c = p_c / Σ p_k`,
/// in log space.
pub fn normalise_into(one_vs_rest: &[Probability], out: &mut [Probability], buffer: &mut Vec<f64>) {
    buffer.clear();
    buffer.extend(one_vs_rest.iter().map(|p| p.ln()));
    // Where all are next to impossible, their logarithms have no digits left for what sets them apart
    // from a sum of one; their differences have.
    let top = buffer.iter().copied().fold(f64::MIN, f64::max);
    buffer.iter_mut().for_each(|ln_p| *ln_p -= top);
    buffer.resize(2 * one_vs_rest.len(), 0.0);
    let (ln_weights, log_odds) = buffer.split_at_mut(one_vs_rest.len());
    log_odds_against_rest(ln_weights, log_odds);
    for (class, &log_odds) in out.iter_mut().zip(log_odds.iter()) {
        *class = Probability::from_log_odds(log_odds);
    }
}

/// Where a class's calibrator comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationNote {
    /// Fitted to the class's own held-out scores.
    Own,
    /// The label's own curve, averaged with one curve for all labels.
    Weighed,
    /// One curve for all labels, with a line for this one.
    Common,
    /// The class has fewer positives than folds: borrowed from other classes.
    Pooled,
    /// Fewer positives than folds and nothing to borrow: a line whose slope is drawn to what such slopes are like.
    Drawn,
    /// One or two positives and nothing to borrow: a line whose slope is a guess.
    Guess,
    /// Held-out scores run backwards, which a learner's own scores do by chance alone: a line that rises, its slope drawn to what is usual.
    MadeToRise,
    /// The scores tell nothing: the class's share, whatever the score.
    PriorOnly,
    /// One calibrator for all classes together.
    Joint,
}

/// The calibrator of one class and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibratedClass {
    /// The fitted calibrator.
    pub calibrator: SavedCalibrator,
    /// Its method.
    pub kind: CalibratorKind,
    /// Where it comes from.
    pub note: CalibrationNote,
    /// All candidates with their losses.
    pub tried: Vec<Tried>,
    /// What is said of each example by curves that were fitted without its fold.
    pub forecasts: Vec<Probability>,
}

/// Calibrates every class on its own. One with fewer positives than folds borrows the curve of the
/// rarer classes together; where there is none to borrow, it gets a line whose slope is drawn to what such
/// slopes are like. All classes speak of the same examples, in the same folds.
pub fn calibrate_each(
    held_out: &[HeldOutScores],
    kind: CalibratorKind,
    rules: ChoiceRules,
    fold_count: usize,
) -> Result<Vec<CalibratedClass>, CalibrationError> {
    each_by(held_out, kind, fold_count, |scores| {
        Ok(CalibratedClass::own(kind.choose_by(scores, rules)?))
    })
}

/// As [`calibrate_each`], for a member of a pool. `order` names the examples in one that does not depend on how they came.
pub fn calibrate_members(
    held_out: &[HeldOutScores],
    kind: CalibratorKind,
    fold_count: usize,
    order: &[u32],
) -> Result<Vec<CalibratedClass>, CalibrationError> {
    each_by(held_out, kind, fold_count, |scores| {
        own_member(scores, kind, order)
    })
}

fn each_by(
    held_out: &[HeldOutScores],
    kind: CalibratorKind,
    fold_count: usize,
    own: impl Fn(&HeldOutScores) -> Result<CalibratedClass, CalibrationError> + Sync,
) -> Result<Vec<CalibratedClass>, CalibrationError> {
    let rare = |scores: &HeldOutScores| kind != CalibratorKind::None && is_rare(scores, fold_count);
    let folds = held_out.first().map(HeldOutScores::folds);
    let folds = folds.unwrap_or_default();
    let pool = if held_out.len() > 1 && held_out.iter().any(rare) {
        CrossFittedPool::fit(held_out, &folds)
    } else {
        CrossFittedPool::default()
    };
    parallel::try_map(held_out, |scores| {
        if rare(scores) {
            return Ok(of_rare(scores, &pool, &folds));
        }
        own(scores)
    })
}

/// As many as there are where nothing is said of folds.
const USUAL_FOLDS: usize = 5;

/// Calibrates one class that stands alone. A method that was asked for by name is fitted as it is, however few examples there
/// are; a choice among methods is left to classes with enough of them.
pub fn calibrate_one(
    held_out: &HeldOutScores,
    kind: CalibratorKind,
    rules: ChoiceRules,
) -> Result<CalibratedClass, CalibrationError> {
    let given = held_out.given_folds().unwrap_or_default();
    let fold_count = 1 + usize::from(given.iter().copied().max().unwrap_or(0));
    // Where both sides are small there are fewer folds, which makes nothing less rare.
    let fold_count = fold_count.max(USUAL_FOLDS);
    if kind == CalibratorKind::Auto && is_rare(held_out, fold_count) {
        let folds = held_out.folds();
        return Ok(of_rare(held_out, &CrossFittedPool::default(), &folds));
    }
    Ok(CalibratedClass::own(kind.choose_by(held_out, rules)?))
}

/// Whether one side of a class has too few examples for a curve of its own, or all of them in one fold, so that without it
/// there would be none.
pub(super) fn is_rare(scores: &HeldOutScores, fold_count: usize) -> bool {
    let positives = scores.positives();
    if positives.min(scores.len() - positives) < fold_count {
        return true;
    }
    let Some(folds) = scores.given_folds() else {
        // Dealt out to folds in turn, two are never together.
        return positives.min(scores.len() - positives) < 2;
    };
    let in_one_fold = |side: bool| {
        let of_side = scores.labels().iter().zip(folds);
        let mut of_side = of_side
            .filter(|(label, _)| **label == side)
            .map(|(_, fold)| fold);
        let first = of_side.next();
        of_side.all(|fold| Some(fold) == first)
    };
    in_one_fold(true) || in_one_fold(false)
}

impl CalibratedClass {
    pub(super) fn own(choice: Choice) -> Self {
        Self {
            calibrator: choice.calibrator,
            kind: choice.chosen,
            note: CalibrationNote::Own,
            tried: choice.tried,
            forecasts: choice.cross_validated,
        }
    }
}

/// In place of a curve that falls from the lower to the upper scores, a line that rises, its slope drawn to what is usual.
///
/// A learner's score speaks for the class. Where few documents are alike, a model that has not seen a document knows little
/// more than how common the classes are among the others, of which the document's own is a little rarer: held-out scores run backwards,
/// and a curve that follows them would turn every answer round.
pub fn made_to_rise(class: CalibratedClass, scores: &HeldOutScores) -> CalibratedClass {
    if !falls(&class.calibrator, scores) {
        return class;
    }
    CalibratedClass {
        note: CalibrationNote::MadeToRise,
        ..of_rare(scores, &CrossFittedPool::default(), &scores.folds())
    }
}

/// Whether the probability at the upper tenth of the scores is below that at the lower tenth.
fn falls(calibrator: &SavedCalibrator, scores: &HeldOutScores) -> bool {
    let falls = |low: f64, high: f64| {
        low < high
            && calibrator.probability(high).log_odds() < calibrator.probability(low).log_odds()
    };
    if scores.is_empty() {
        return false;
    }
    let mut all = scores.scores().to_vec();
    let tenth = all.len() / 10;
    let upper = all.len() - 1 - tenth;
    let low = *all.select_nth_unstable_by(tenth, f64::total_cmp).1;
    let high = *all.select_nth_unstable_by(upper, f64::total_cmp).1;
    falls(low, high)
}

fn of_rare(scores: &HeldOutScores, pool: &CrossFittedPool, folds: &[u8]) -> CalibratedClass {
    let fit = |scores: &HeldOutScores, pool: Option<&PooledCurve>| match pool {
        Some(pool) => (pool.for_class(scores), CalibrationNote::Pooled),
        None => few_positives(scores),
    };
    let (curve, note) = fit(scores, pool.whole.as_ref());
    let mut forecasts = vec![Probability::from_log_odds(0.0); scores.len()];
    for fold in 0..=folds.iter().copied().max().unwrap_or(0) {
        let rest = scores.filtered(|example| folds[example] != fold);
        let pool = pool.without.get(usize::from(fold)).and_then(Option::as_ref);
        let (curve, _) = fit(&rest, pool);
        for (example, forecast) in forecasts.iter_mut().enumerate() {
            if folds[example] == fold {
                *forecast = curve.probability(scores.scores()[example]);
            }
        }
    }
    CalibratedClass {
        calibrator: SavedCalibrator::Platt(curve).held(scores),
        kind: CalibratorKind::Platt,
        note,
        tried: Vec::new(),
        forecasts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_odds_come_back_from_log_probabilities() {
        for log_odds in [-1e5, -800.0, -3.0, 0.0, 2.5, 30.0, 600.0] {
            let back = log_odds_of_ln(-crate::numeric::softplus(-log_odds));
            assert!(
                (back - log_odds).abs() <= 1e-9 * (1.0 + log_odds.abs()),
                "{log_odds} {back}"
            );
        }
        assert_eq!(log_odds_of_ln(0.0), 700.0);
    }

    #[test] // By hand: 0.6 : 0.3 : 0.6 is 0.4 : 0.2 : 0.4.
    fn exclusive_classes_are_brought_to_a_sum_of_one() {
        let of = |p: f64| Probability::from_log_odds((p / (1.0 - p)).ln());
        let mut classes = [of(0.5); 3];
        normalise_into(&[of(0.6), of(0.3), of(0.6)], &mut classes, &mut Vec::new());
        let values: Vec<f64> = classes.iter().map(|p| p.value()).collect();
        assert!((values[0] - 0.4).abs() < 1e-12 && (values[1] - 0.2).abs() < 1e-12);
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // All three next to impossible: still a third each.
        let even = [Probability::from_log_odds(-7e14); 3];
        normalise_into(&even, &mut classes, &mut Vec::new());
        assert!(
            classes
                .iter()
                .all(|p| (p.value() - 1.0 / 3.0).abs() < 1e-12)
        );
    }

    /// Labels by whether the score is among the least: borrowed curves see nothing that rises.
    fn backwards(positives: &[usize]) -> Vec<HeldOutScores> {
        let mut random = crate::numeric::Random::from_seed(3);
        let folds: Vec<u8> = (0..80).map(|row| (row % 5) as u8).collect();
        let of_class = |&positives: &usize| {
            let scores: Vec<f64> = (0..80)
                .map(|row| f64::from(row) / 40.0 + 0.2 * random.normal())
                .collect();
            let labels = (0..80).map(|row| row < positives).collect();
            let held_out = HeldOutScores::assume(scores, labels).unwrap();
            held_out.with_folds(folds.clone()).unwrap()
        };
        positives.iter().map(of_class).collect()
    }

    #[test]
    fn borrowed_curves_rise_even_where_scores_run_backwards() {
        let classes = backwards(&[1, 2, 3, 4, 3, 2]);
        let rules = ChoiceRules::default();
        for class in calibrate_each(&classes, CalibratorKind::Auto, rules, 5).unwrap() {
            assert_eq!(class.note, CalibrationNote::Pooled);
            let said = [-5.0, 0.0, 1.0, 2.0, 5.0].map(|s| class.calibrator.probability(s));
            assert!(said.is_sorted() && said[1] < said[3], "{said:?}");
        }
    }

    #[test]
    fn a_falling_curve_is_made_to_rise_and_a_rising_one_stays() {
        let rules = ChoiceRules::default();
        for (positives, is_backwards) in [(40, true), (40, false)] {
            let held_out = &backwards(&[positives])[0];
            let held_out = match is_backwards {
                true => held_out.clone(),
                false => {
                    let labels = held_out.labels().iter().map(|label| !label).collect();
                    let turned = HeldOutScores::assume(held_out.scores().to_vec(), labels).unwrap();
                    turned.with_folds(held_out.folds()).unwrap()
                }
            };
            let own = calibrate_each(
                std::slice::from_ref(&held_out),
                CalibratorKind::Platt,
                rules,
                5,
            )
            .unwrap();
            let own = own.into_iter().next().unwrap();
            let risen = made_to_rise(own.clone(), &held_out);
            if is_backwards {
                assert_eq!(risen.note, CalibrationNote::MadeToRise);
                let at =
                    |class: &CalibratedClass, s: f64| class.calibrator.probability(s).log_odds();
                assert!(at(&own, 0.0) > at(&own, 2.0) && at(&risen, 0.0) < at(&risen, 2.0));
                // It adds up to the positives, and hardly tells anything apart.
                let sum: f64 = held_out
                    .scores()
                    .iter()
                    .map(|&s| risen.calibrator.probability(s).value())
                    .sum();
                assert!((sum - 40.0).abs() < 1e-3, "{sum}");
                assert!(at(&risen, 2.0) - at(&risen, 0.0) < 0.5);
            } else {
                assert_eq!(risen, own);
            }
        }
    }

    /// A row's label must not reach what is said of the row: not through its own class, nor through the others'.
    #[test]
    fn what_is_said_of_a_fold_of_a_borrowed_class_does_not_know_the_fold() {
        let classes = backwards(&[4, 4, 4, 4, 4]);
        let turned: Vec<HeldOutScores> = classes
            .iter()
            .map(|class| {
                let folds = class.folds();
                let turn = |row: usize| folds[row] == 2 && row < 20;
                let labels = class.labels().iter().enumerate();
                let labels = labels.map(|(row, &label)| if turn(row) { !label } else { label });
                let held_out = HeldOutScores::assume(class.scores().to_vec(), labels.collect());
                held_out.unwrap().with_folds(folds).unwrap()
            })
            .collect();
        let rules = ChoiceRules::default();
        let of = |classes: &[HeldOutScores]| {
            // Rare in both, so that only labels differ.
            calibrate_each(classes, CalibratorKind::Platt, rules, 20).unwrap()
        };
        for (one, other) in of(&classes).iter().zip(&of(&turned)) {
            for row in (2..80).step_by(5) {
                let (one, other) = (
                    one.forecasts[row].log_odds(),
                    other.forecasts[row].log_odds(),
                );
                assert!((one - other).abs() < 1e-3, "{row}: {one} {other}");
            }
        }
    }
}
