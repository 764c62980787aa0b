//! What the user of a calibrator should know.

use serde::{Deserialize, Serialize};

use crate::calibration::CalibrationNote;
use crate::evaluation::Evaluation;
use crate::numeric::rising_order;

/// Fewer examples of a class than this make any curve little more than a guess.
const FEW: usize = 10;
/// How many standard errors below one half an area must lie to be called backwards.
const SURE: f64 = 2.5;
/// From how many times a perfect forecaster's calibration error on one is told so.
const FAR_OFF: f64 = 4.0;

/// Something about scores or examples that makes the probabilities less than they seem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "note", deny_unknown_fields)]
pub enum ScoreNote {
    /// Examples of the class score lower than the others: the score speaks for the opposite.
    Backwards {
        /// The class.
        class: String,
        /// How often an example of the class scores above another one.
        auc: f64,
        /// Whether its probability rises with the score all the same, as that of a class with hardly any examples does.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        rises: bool,
        /// Whether scores are left as they are, so that the probability says the opposite of what comes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_stated: bool,
    },
    /// All examples have one score.
    ConstantScore {
        /// The class whose score it is.
        class: String,
        /// The score.
        score: f64,
    },
    /// There are too few examples of a class for a curve that can be trusted.
    FewExamples {
        /// The class.
        class: String,
        /// Its examples.
        examples: usize,
    },
    /// There are too few examples of a class for a slope of its own.
    UsualSlope {
        /// The class.
        class: String,
        /// Its examples.
        examples: usize,
        /// Whether the slope is nothing but a guess; else it is drawn to what such slopes are like.
        guess: bool,
    },
    /// All examples of a class were left out together, so that no curve was tried on examples of a class that it knew.
    OneFold {
        /// The class.
        class: String,
        /// Its examples, copies counted once.
        examples: usize,
    },
    /// One of several ways could not be fitted, and was not weighed with the others.
    NotFitted {
        /// The way.
        method: String,
        /// Why, in a sentence without a full stop.
        reason: String,
    },
    /// Even what was fitted is far from calibrated: no curve that was tried follows a score that rises and falls again.
    FarOff {
        /// The method.
        method: String,
        /// The calibration error of the cross-validated forecasts.
        ece: f64,
        /// What a perfect forecaster's would seem to be.
        ece_of_perfect: f64,
    },
}

impl ScoreNote {
    /// All that is to be said of scores as they came: one per row, for the second class, or one per class.
    pub(super) fn of(
        scores: &[f64],
        labels: &[u32],
        class_counts: &[usize],
        classes: &[String],
    ) -> Vec<Self> {
        let width = scores.len() / labels.len().max(1);
        let first = classes.len() - width.min(classes.len());
        let mut notes = Vec::new();
        for (column, class) in (first..classes.len()).enumerate() {
            let of_class = scores.iter().skip(column).step_by(width.max(1)).copied();
            let column: Vec<f64> = of_class.collect();
            let name = || classes[class].clone();
            if let Some(&score) = column.first()
                && column.len() > 1
                && column.iter().all(|other| *other == score)
            {
                notes.push(Self::ConstantScore {
                    class: name(),
                    score,
                });
                continue;
            }
            let members: Vec<bool> = labels
                .iter()
                .map(|&label| label as usize == class)
                .collect();
            if let Some(auc) = backwards(&column, &members) {
                notes.push(Self::Backwards {
                    class: name(),
                    auc,
                    rises: false,
                    as_stated: false,
                });
            }
        }
        for (class, &examples) in classes.iter().zip(class_counts) {
            if (1..FEW).contains(&examples) {
                notes.push(Self::FewExamples {
                    class: class.clone(),
                    examples,
                });
            }
        }
        notes
    }

    /// Classes whose examples are all in one fold, by the fold of each example where folds were given.
    pub(super) fn of_folds(folds: Option<&[u8]>, labels: &[u32], classes: &[String]) -> Vec<Self> {
        let folds = folds.unwrap_or_default();
        let of_class = |(class, name): (u32, &String)| {
            let own = labels
                .iter()
                .zip(folds)
                .filter(|(label, _)| **label == class);
            let mut own = own.map(|(_, fold)| *fold);
            let (first, mut examples) = (own.next()?, 1);
            let together = own.all(|fold| {
                examples += 1;
                fold == first
            });
            (together && examples > 1).then(|| Self::OneFold {
                class: name.clone(),
                examples,
            })
        };
        (0..).zip(classes).filter_map(of_class).collect()
    }

    /// The same, knowing where the curve of a single score comes from.
    pub(super) fn with_calibration(
        mut notes: Vec<Self>,
        calibration: CalibrationNote,
        class_counts: &[usize],
        classes: &[String],
    ) -> Vec<Self> {
        let guess = match calibration {
            CalibrationNote::Guess => true,
            CalibrationNote::Drawn => false,
            _ => return notes,
        };
        for note in &mut notes {
            if let Self::Backwards { rises, .. } = note {
                *rises = true;
            }
        }
        if notes
            .iter()
            .any(|note| matches!(note, Self::OneFold { .. }))
        {
            return notes;
        }
        let rarest = (0..classes.len()).min_by_key(|&class| class_counts[class]);
        if let Some(rarest) = rarest {
            notes.retain(
                |note| !matches!(note, Self::FewExamples { class, .. } if *class == classes[rarest]),
            );
            notes.push(Self::UsualSlope {
                class: classes[rarest].clone(),
                examples: class_counts[rarest],
                guess,
            });
        }
        notes
    }

    /// The same where scores are left as they are: there is no curve that few examples would make a guess of, or one score
    /// a constant.
    pub(super) fn without_curve(mut notes: Vec<Self>) -> Vec<Self> {
        notes.retain(|note| {
            !matches!(
                note,
                Self::ConstantScore { .. } | Self::FewExamples { .. } | Self::OneFold { .. }
            )
        });
        for note in &mut notes {
            if let Self::Backwards { as_stated, .. } = note {
                *as_stated = true;
            }
        }
        notes
    }

    /// What is to be said of forecasts by curves that were fitted to other examples.
    pub(super) fn of_errors(method: &str, evaluation: &Evaluation) -> Option<Self> {
        let (ece, ece_of_perfect) = (evaluation.ece, evaluation.ece_of_perfect);
        (ece > FAR_OFF * ece_of_perfect).then(|| Self::FarOff {
            method: method.to_owned(),
            ece,
            ece_of_perfect,
        })
    }

    /// It in a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Backwards {
                class,
                auc,
                as_stated: true,
                ..
            } => format!(
                "the scores run backwards: examples of `{class}` score lower than the others (AUC {auc:.3}), and are kept as stated; check which class the score is for"
            ),
            Self::Backwards {
                class,
                auc,
                rises: true,
                ..
            } => format!(
                "the scores run backwards: examples of `{class}` score lower than the others (AUC {auc:.3}), but are too few to make its probability fall as the score rises; check which class the score is for"
            ),
            Self::Backwards { class, auc, .. } => format!(
                "the scores run backwards: examples of `{class}` score lower than the others (AUC {auc:.3}), so its probability falls, or stays constant, as the score rises; check which class the score is for"
            ),
            Self::ConstantScore { class, score } => format!(
                "every example has the same score {score} for `{class}`: it carries no information, and only the class prior is left"
            ),
            Self::FewExamples { class, examples: 1 } => format!(
                "only one example of `{class}`: whatever the method, its curve is little more than a guess"
            ),
            Self::FewExamples { class, examples } => format!(
                "only {examples} examples of `{class}`: whatever the method, its curve is little more than a guess"
            ),
            Self::UsualSlope {
                class,
                examples,
                guess,
            } => {
                let count = match examples {
                    1 => "1 example".to_owned(),
                    more => format!("{more} examples"),
                };
                let slope = match guess {
                    true => "is a guess, a typical value",
                    false => "is shrunk towards a typical value",
                };
                format!(
                    "only {count} of `{class}`: how fast its probability rises with the score {slope}"
                )
            }
            Self::NotFitted { method, reason } => {
                format!("{method} could not be fitted and is not pooled with the others: {reason}")
            }
            Self::FarOff {
                method,
                ece,
                ece_of_perfect,
            } => format!(
                "cross-validated probabilities of {method} have a calibration error of {ece:.4}, against {ece_of_perfect:.4} for a perfect forecaster: the true curve may be non-monotone or jump; look at the curve, and try bbq or histogram"
            ),
            Self::OneFold { class, examples } => format!(
                "all {examples} examples of `{class}` were held out together, as one group: its calibration is untested, and the cross-validated figures come from curves that saw none of its examples"
            ),
        }
    }
}

/// How often a member scores above another example, if that is significantly less than half the time: by Mann and
/// Whitney's test, ties counting half.
fn backwards(scores: &[f64], members: &[bool]) -> Option<f64> {
    let order = rising_order(scores);
    let (mut above, mut others, mut yes) = (0.0, 0.0, 0.0);
    for tied in order.chunk_by(|&a, &b| scores[a as usize] == scores[b as usize]) {
        let tied_yes = tied.iter().filter(|&&row| members[row as usize]).count() as f64;
        let tied_no = tied.len() as f64 - tied_yes;
        above += tied_yes * (others + 0.5 * tied_no);
        others += tied_no;
        yes += tied_yes;
    }
    if yes == 0.0 || others == 0.0 {
        return None;
    }
    let auc = above / (yes * others);
    let error = ((yes + others + 1.0) / (12.0 * yes * others)).sqrt();
    (auc < 0.5 - SURE * error).then_some(auc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(scores: &[f64], labels: &[u32]) -> Vec<ScoreNote> {
        let counts = [0, 1].map(|class| labels.iter().filter(|&&label| label == class).count());
        ScoreNote::of(scores, labels, &counts, &["no".into(), "yes".into()])
    }

    #[test]
    fn backwards_constant_and_few_are_told_and_nothing_else_is() {
        let rising: Vec<f64> = (0..40).map(f64::from).collect();
        let falling: Vec<f64> = rising.iter().map(|score| -score).collect();
        let labels: Vec<u32> = (0..40).map(|row| u32::from(row >= 20)).collect();
        assert_eq!(notes(&rising, &labels), []);
        // By hand: every positive scores below every negative.
        let class = || "yes".to_owned();
        assert_eq!(
            notes(&falling, &labels),
            [ScoreNote::Backwards {
                class: class(),
                auc: 0.0,
                rises: false,
                as_stated: false
            }]
        );
        assert_eq!(
            notes(&[2.5; 40], &labels),
            [ScoreNote::ConstantScore {
                class: class(),
                score: 2.5
            }]
        );
        let few = notes(&[1.0, 2.0, 3.0, 4.0], &[0, 0, 1, 1]);
        assert_eq!(few.len(), 2);
        assert!(
            few.iter()
                .all(|note| matches!(note, ScoreNote::FewExamples { examples: 2, .. }))
        );
        let one = notes(&[1.0, 2.0, 3.0, 4.0], &[0, 0, 0, 1]);
        let sentences: Vec<String> = one.iter().map(ScoreNote::sentence).collect();
        assert!(
            sentences
                .iter()
                .any(|said| said.starts_with("only one example of `yes`"))
        );
        // Where scores are left as they are, none of these is true; that they run backwards is.
        assert_eq!(ScoreNote::without_curve(few), []);
        assert_eq!(ScoreNote::without_curve(notes(&[2.5; 40], &labels)), []);
        let said = ScoreNote::without_curve(notes(&falling, &labels));
        assert!(said[0].sentence().contains("are kept as stated"));
        // Five of either, all the wrong way round: by hand one chance in 252.
        assert_eq!(notes(&falling[15..25], &labels[15..25]).len(), 3);
        // Half a chance either way is nothing to speak of.
        let mixed: Vec<u32> = (0..40).map(|row| row % 2).collect();
        assert_eq!(notes(&falling, &mixed), []);
    }
}
