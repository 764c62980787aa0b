//! Held-out scores of all classes to their calibrators.

use std::sync::Arc;

use super::FitSettings;
use super::summary::MulticlassSummary;
use crate::calibration::{
    CalibratedClass, CalibratorKind, ChoiceRules, HeldOutClassScores, HeldOutScores, MOST_CURVES,
    MulticlassKind, OneVsRestCalibrator, SavedMulticlassCalibrator, Wanted, calibrate_each,
    calibrate_labels, calibrate_members, made_to_rise, normalise_into,
};
use crate::numeric::softplus;
use crate::problem::{ClassLabels, Folds};
use crate::scorers::Link;
use crate::{CalibrationError, FitError, Probability, Task};

/// What calibration is fitted to.
pub(super) struct CalibrationData<'a> {
    pub(super) settings: &'a FitSettings,
    pub(super) labels: &'a ClassLabels,
    pub(super) weights: &'a [f64],
    pub(super) folds: &'a Folds,
    pub(super) link: Link,
}

/// How outputs are calibrated, and what that says of the training documents.
pub(super) struct Calibrated {
    /// One per output; beside a joint calibrator they tell how well the best class looks, and there may be none.
    pub(super) outputs: Vec<CalibratedClass>,
    /// The calibrator of all classes together.
    pub(super) joint: Option<SavedMulticlassCalibrator>,
    pub(super) multiclass: Option<MulticlassSummary>,
    /// For each document and class, by scorers and calibrators that were fitted without its fold.
    pub(super) forecasts: Vec<Probability>,
}

impl CalibrationData<'_> {
    /// Calibrates all outputs on their scores of documents that were not learned from.
    pub(super) fn calibrate(&self, out_of_fold: Vec<Vec<f64>>) -> Result<Calibrated, FitError> {
        let kind = self.way();
        if kind == MulticlassKind::OneVsRest {
            let kind = self.settings.calibrator;
            let (outputs, forecasts) = self.one_by_one(out_of_fold, kind, None)?;
            return Ok(Calibrated {
                outputs,
                joint: None,
                multiclass: None,
                forecasts,
            });
        }
        if self.settings.monotone && !kind.rises() {
            return Err(FitError::BadSetting {
                setting: "calibration of many classes",
                requirement: "auto, one_vs_rest, shared_curve or temperature with monotone curves",
                value: kind.name().into(),
            });
        }
        if self.labels.task == Task::MultiLabel {
            return Err(FitError::BadSetting {
                setting: "calibration of many classes",
                requirement: "one_vs_rest or auto if documents may have several labels",
                value: kind.name().into(),
            });
        }
        let held_out = self.class_scores(&out_of_fold)?;
        let mut outputs = Vec::new();
        let wanted = Wanted {
            second_pass: !self.margins(),
            rising: self.settings.monotone,
        };
        let contest = kind.choose_beside(held_out, wanted, |order| {
            let each = self.beside_a_curve();
            // Members of a pool may fall here and there.
            let member = (!self.settings.monotone).then_some(order);
            let (calibrated, forecasts) = self.one_by_one(out_of_fold, each, member)?;
            outputs = calibrated;
            let calibrators = outputs.iter().map(|output| output.calibrator.clone());
            let each = OneVsRestCalibrator::new(calibrators.collect());
            let each = each.ok_or(CalibrationError::NoExamples)?;
            Ok(match self.link {
                Link::AgainstRest => (each.of_log_probabilities(), forecasts),
                Link::Independent | Link::Mirror => (each, forecasts),
            })
        })?;
        let mut tried = contest.tried;
        let curves = Some(self.beside_a_curve()).filter(|curves| *curves != CalibratorKind::Auto);
        for way in &mut tried {
            way.curves = curves.filter(|_| way.kind == MulticlassKind::OneVsRest);
        }
        Ok(Calibrated {
            outputs,
            joint: Some(contest.calibrator),
            multiclass: Some(MulticlassSummary {
                chosen: kind,
                tried,
            }),
            forecasts: contest.forecasts,
        })
    }

    /// What `auto` means here. Two classes share a score, labels that do not exclude each other have nothing to
    /// share out, and who names a calibrator wants it for each class.
    fn way(&self) -> MulticlassKind {
        let settings = self.settings;
        let each = self.labels.task == Task::MultiLabel
            || self.labels.output_count() < self.labels.class_count
            || settings.calibrator != CalibratorKind::Auto;
        match settings.multiclass {
            MulticlassKind::Auto if each => MulticlassKind::OneVsRest,
            kind => kind,
        }
    }

    /// Whether a curve for all labels stands beside each label's own: where there are several, and nobody asked for
    /// each alone.
    fn labels_help_each_other(&self) -> bool {
        self.labels.task == Task::MultiLabel
            && self.labels.output_count() > 1
            && self.settings.multiclass == MulticlassKind::Auto
            && !self.settings.monotone
    }

    /// Whether scores are margins of weighted sums: one curve sets them right, and a second pass brought nothing.
    fn margins(&self) -> bool {
        self.settings.classifier.learner().weighs_columns()
    }

    /// The calibrator of single classes where a curve for all stands beside: margins need no more than a line,
    /// and with very many classes there is no time for more.
    fn beside_a_curve(&self) -> CalibratorKind {
        if self.margins() || self.labels.class_count > MOST_CURVES {
            CalibratorKind::Platt
        } else {
            CalibratorKind::Auto
        }
    }

    /// The scores of each output with the truth.
    pub(super) fn held_out(
        &self,
        out_of_fold: Vec<Vec<f64>>,
    ) -> Result<Vec<HeldOutScores>, CalibrationError> {
        let weights: Arc<[f64]> = self.weights.into();
        let folds: Arc<[u8]> = self.folds.assignment().into();
        out_of_fold
            .into_iter()
            .enumerate()
            .map(|(output, scores)| {
                let class = self.labels.class_of_output(output);
                let membership = self.labels.membership(class);
                HeldOutScores::sharing(scores, membership, &weights, &folds)
            })
            .collect()
    }

    /// Each output on its own, then combined; as a member of a pool where an order of the examples is given.
    fn one_by_one(
        &self,
        out_of_fold: Vec<Vec<f64>>,
        kind: CalibratorKind,
        member: Option<&[u32]>,
    ) -> Result<(Vec<CalibratedClass>, Vec<Probability>), CalibrationError> {
        let held_out = self.held_out(out_of_fold)?;
        let rules = ChoiceRules {
            monotone: self.settings.monotone,
        };
        let folds = self.settings.folds;
        let outputs = match member {
            Some(order) => calibrate_members(&held_out, kind, folds, order)?,
            None if kind == CalibratorKind::Auto && self.labels_help_each_other() => {
                calibrate_labels(&held_out, folds)?
            }
            None => calibrate_each(&held_out, kind, rules, folds)?,
        };
        let outputs = match self.settings.calibrator {
            CalibratorKind::Auto => {
                let each = outputs.into_iter().zip(&held_out);
                each.map(|(class, scores)| made_to_rise(class, scores))
                    .collect()
            }
            _ => outputs,
        };
        let class_count = self.labels.class_count;
        let even = Probability::from_log_odds(0.0);
        let mut forecasts = vec![even; self.weights.len() * class_count];
        let (mut row_outputs, mut buffer) = (Vec::new(), Vec::new());
        for (row, classes) in forecasts.chunks_exact_mut(class_count).enumerate() {
            row_outputs.clear();
            row_outputs.extend(outputs.iter().map(|output| output.forecasts[row]));
            combine(self.labels.task, &row_outputs, classes, &mut buffer);
        }
        Ok((outputs, forecasts))
    }

    fn class_scores(&self, out_of_fold: &[Vec<f64>]) -> Result<HeldOutClassScores, FitError> {
        let class_count = self.labels.class_count;
        let mut scores = vec![0.0; self.weights.len() * class_count];
        let mut outputs = Vec::new();
        for (row, classes) in scores.chunks_exact_mut(class_count).enumerate() {
            outputs.clear();
            outputs.extend(out_of_fold.iter().map(|scores| scores[row]));
            joint_scores_into(self.link, &outputs, classes);
        }
        let of_row = self.labels.of_row.iter();
        let labels = of_row.map(|classes| classes.first().copied().unwrap_or(0));
        let held_out = HeldOutClassScores::assume_weighted(
            scores,
            class_count,
            labels.collect(),
            self.weights.to_vec(),
        )?;
        Ok(held_out.with_folds(self.folds.assignment().to_vec())?)
    }
}

/// One score per class, for a calibrator of all classes together, from one per output. Log-odds against
/// the rest become log-probabilities, whose differences are the log-odds of one class against another.
pub(super) fn joint_scores_into(link: Link, outputs: &[f64], classes: &mut [f64]) {
    match link {
        Link::Independent => classes.copy_from_slice(outputs),
        Link::Mirror => {
            classes[0] = -outputs[0];
            classes[1] = outputs[0];
        }
        Link::AgainstRest => {
            for (class, log_odds) in classes.iter_mut().zip(outputs) {
                *class = -softplus(-log_odds);
            }
        }
    }
}

/// Turns the probabilities of outputs into probabilities of classes.
///
/// With several labels per document each stands for itself. With one label, two classes share an
/// output, and more are normalised: `q_c = p_c / Σ p_k`, in log space.
pub(super) fn combine(
    task: Task,
    outputs: &[Probability],
    classes: &mut [Probability],
    buffer: &mut Vec<f64>,
) {
    match (task, outputs) {
        (Task::SingleLabel, &[second]) if classes.len() == 2 => {
            classes[0] = second.complement();
            classes[1] = second;
        }
        (Task::SingleLabel, _) => normalise_into(outputs, classes, buffer),
        (Task::MultiLabel, _) => classes.copy_from_slice(outputs),
    }
}
