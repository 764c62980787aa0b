//! What if the classes are no longer as common as in training?

use crate::numeric::log_odds_against_rest;
use crate::{CalibrationError, Probability, Task};

/// Moves probabilities from the shares that the classes had in training to other shares.
///
/// # Formula
/// ```text
/// exclusive classes   q_c ∝ p_c · π'_c / π_c
/// each on its own     ln q_c/(1-q_c) = ln p_c/(1-p_c) + ln π'_c/(1-π'_c) - ln π_c/(1-π_c)
/// ```
/// `π` are the shares in training, `π'` those to come. With two classes both are the same shift of
/// the log-odds.
///
/// # When it misleads
/// It takes for granted that documents *of one class* look as they did in training and only the
/// classes' shares changed. If spam itself has changed, no shift of priors puts that right.
///
/// # Reference
/// Saerens, Latinne & Decaestecker, Neural Computation 14 (2002), equation 2.4; Elkan, IJCAI 2001, theorem 2.
///
/// ```
/// use calibrant_calibration::{Probability, Task, calibration::PriorShift};
/// let shift = PriorShift::between(Task::MultiLabel, &[0.5], &[0.2])?;
/// let mut classes = [Probability::from_log_odds(0.0)];
/// shift.apply(&mut classes, &mut Vec::new());
/// assert!((classes[0].value() - 0.2).abs() < 1e-15); // by hand: even odds times (0.2/0.8)/(0.5/0.5)
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PriorShift {
    task: Task,
    /// `ln π'/π`, or the difference of log-odds where classes stand each on their own.
    offsets: Vec<f64>,
}

impl PriorShift {
    /// The shift from the shares `old` to the shares `new`. All lie strictly between 0 and 1, and
    /// those of exclusive classes sum to one.
    pub fn between(task: Task, old: &[f64], new: &[f64]) -> Result<Self, CalibrationError> {
        if old.len() != new.len() {
            return Err(CalibrationError::LengthMismatch {
                left_name: "the old priors",
                left: old.len(),
                right_name: "the new priors",
                right: new.len(),
            });
        }
        check_priors(task, old)?;
        check_priors(task, new)?;
        let offset = |(&old, &new): (&f64, &f64)| match task {
            Task::SingleLabel => new.ln() - old.ln(),
            Task::MultiLabel => log_odds(new) - log_odds(old),
        };
        Ok(Self {
            task,
            offsets: old.iter().zip(new).map(offset).collect(),
        })
    }

    /// Shifts the probabilities of one document's classes. `buffer` is reused from call to call.
    ///
    /// # Panics
    /// If there are not as many classes as priors.
    pub fn apply(&self, classes: &mut [Probability], buffer: &mut Vec<f64>) {
        assert_eq!(classes.len(), self.offsets.len());
        match (self.task, self.offsets.as_slice()) {
            (Task::SingleLabel, &[first, second]) => {
                classes[1] = shifted(classes[1], second - first);
                classes[0] = classes[1].complement();
            }
            (Task::SingleLabel, offsets) => {
                buffer.clear();
                buffer.extend(
                    classes
                        .iter()
                        .zip(offsets)
                        .map(|(p, offset)| p.ln() + offset),
                );
                buffer.resize(2 * classes.len(), 0.0);
                let (weights, log_odds) = buffer.split_at_mut(classes.len());
                log_odds_against_rest(weights, log_odds);
                for (class, &log_odds) in classes.iter_mut().zip(log_odds.iter()) {
                    *class = Probability::from_log_odds(log_odds);
                }
            }
            (Task::MultiLabel, offsets) => {
                for (class, &offset) in classes.iter_mut().zip(offsets) {
                    *class = shifted(*class, offset);
                }
            }
        }
    }
}

fn shifted(probability: Probability, offset: f64) -> Probability {
    Probability::from_log_odds(probability.log_odds() + offset)
}

fn log_odds(share: f64) -> f64 {
    share.ln() - (-share).ln_1p()
}

/// How far the shares of exclusive classes may be from summing to one.
const SUM_TOLERANCE: f64 = 1e-6;

pub(super) fn check_priors(task: Task, priors: &[f64]) -> Result<(), CalibrationError> {
    let bad = |requirement, value: f64| {
        Err(CalibrationError::BadSetting {
            setting: "a class prior",
            requirement,
            value: value.to_string(),
        })
    };
    if let Some(&prior) = priors.iter().find(|&&prior| !(prior > 0.0 && prior < 1.0)) {
        return bad("above 0 and below 1", prior);
    }
    let sum: f64 = priors.iter().sum();
    if task == Task::SingleLabel && (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(CalibrationError::BadSetting {
            setting: "the sum of the class priors",
            requirement: "1",
            value: sum.to_string(),
        });
    }
    Ok(())
}

/// All classes' shares, where those of some are given: the others keep theirs (each on its own),
/// or share what is left in their old proportions (exclusive classes).
///
/// ```
/// use calibrant_calibration::{Task, calibration::complete_priors};
/// let old = [0.6, 0.3, 0.1];
/// let new = complete_priors(Task::SingleLabel, &old, &[(0, 0.2)])?;
/// // By hand: 0.8 is left for classes that stood 3 to 1.
/// assert!((new[1] - 0.6).abs() < 1e-12 && (new[2] - 0.2).abs() < 1e-12);
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
pub fn complete_priors(
    task: Task,
    old: &[f64],
    given: &[(usize, f64)],
) -> Result<Vec<f64>, CalibrationError> {
    let mut new = old.to_vec();
    let mut is_given = vec![false; old.len()];
    for &(class, prior) in given {
        let Some(place) = new.get_mut(class).filter(|_| !is_given[class]) else {
            return Err(CalibrationError::BadSetting {
                setting: "the class of a given prior",
                requirement: "one of the classes, once",
                value: class.to_string(),
            });
        };
        *place = prior;
        is_given[class] = true;
    }
    if task == Task::SingleLabel {
        let given_sum: f64 = given.iter().map(|&(_, prior)| prior).sum();
        let others = || new.iter().zip(&is_given).filter(|&(_, given)| !given);
        let old_sum: f64 = others().map(|(prior, _)| prior).sum();
        if others().next().is_some() {
            if given_sum.is_nan() || given_sum >= 1.0 {
                return Err(CalibrationError::BadSetting {
                    setting: "the sum of the given class priors",
                    requirement: "below 1, since other classes are left",
                    value: given_sum.to_string(),
                });
            }
            let scale = (1.0 - given_sum) / old_sum;
            for (prior, _) in new.iter_mut().zip(&is_given).filter(|(_, given)| !**given) {
                *prior *= scale;
            }
        }
    }
    check_priors(task, &new)?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(p: f64) -> Probability {
        Probability::from_log_odds(log_odds(p))
    }

    #[test] // By hand: 0.5·(0.1/0.2) : 0.3·(0.6/0.3) : 0.2·(0.3/0.5) = 0.25 : 0.6 : 0.12.
    fn exclusive_classes_are_weighed_and_brought_to_a_sum_of_one() {
        let shift =
            PriorShift::between(Task::SingleLabel, &[0.2, 0.3, 0.5], &[0.1, 0.6, 0.3]).unwrap();
        let mut classes = [of(0.5), of(0.3), of(0.2)];
        shift.apply(&mut classes, &mut Vec::new());
        for (class, expected) in classes.iter().zip([0.25 / 0.97, 0.6 / 0.97, 0.12 / 0.97]) {
            assert!((class.value() - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn priors_that_are_none_are_refused() {
        for (task, old, new) in [
            (Task::MultiLabel, vec![0.5], vec![0.0]),
            (Task::MultiLabel, vec![1.0], vec![0.5]),
            (Task::MultiLabel, vec![0.5], vec![f64::NAN]),
            (Task::SingleLabel, vec![0.5, 0.5], vec![0.5, 0.6]),
            (Task::SingleLabel, vec![0.5, 0.5], vec![0.5]),
        ] {
            assert!(PriorShift::between(task, &old, &new).is_err(), "{new:?}");
        }
        let old = [0.5, 0.5];
        assert!(complete_priors(Task::SingleLabel, &old, &[(0, 1.0)]).is_err());
        assert!(complete_priors(Task::SingleLabel, &old, &[(2, 0.1)]).is_err());
        assert!(complete_priors(Task::SingleLabel, &old, &[(0, 0.1), (0, 0.2)]).is_err());
        assert!(complete_priors(Task::SingleLabel, &old, &[(0, 0.1), (1, 0.2)]).is_err());
        let each = complete_priors(Task::MultiLabel, &old, &[(0, 0.9)]).unwrap();
        assert_eq!(each, [0.9, 0.5]);
    }

    proptest! {
        #[test]
        fn a_shift_there_and_back_changes_nothing(
            log_odds in prop::collection::vec(-600.0f64..600.0, 2..6),
            raw in prop::collection::vec(0.01f64..1.0, 12),
        ) {
            let count = log_odds.len();
            let shares = |from: &[f64]| -> Vec<f64> {
                let sum: f64 = from.iter().sum();
                from.iter().map(|share| share / sum).collect()
            };
            let (old, new) = (shares(&raw[..count]), shares(&raw[6..6 + count]));
            let mut buffer = vec![0.0; count];
            log_odds_against_rest(&log_odds, &mut buffer);
            let before: Vec<Probability> = buffer.iter().map(|&l| Probability::from_log_odds(l)).collect();
            for task in [Task::SingleLabel, Task::MultiLabel] {
                let mut classes = before.clone();
                PriorShift::between(task, &old, &new).unwrap().apply(&mut classes, &mut Vec::new());
                if task == Task::SingleLabel {
                    let sum: f64 = classes.iter().map(|p| p.value()).sum();
                    prop_assert!((sum - 1.0).abs() < 1e-9);
                }
                PriorShift::between(task, &new, &old).unwrap().apply(&mut classes, &mut Vec::new());
                for (a, b) in classes.iter().zip(&before) {
                    prop_assert!((a.log_odds() - b.log_odds()).abs() < 1e-9 * (1.0 + b.log_odds().abs()), "{:?} {:?}", a, b);
                }
            }
        }
    }
}
