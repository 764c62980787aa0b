//! How much a calibrator of all classes together makes of each output.

use super::SingleModel;
use super::calibrate_classes::joint_scores_into;
use crate::Probability;
use crate::calibration::{ClassBuffers, SavedMulticlassCalibrator};
use crate::numeric::log_odds_against_rest;
use crate::scorers::Link;

/// The log-odds of a class at both ends of a straight line between outputs, and the mean slope
/// in each output along it.
pub(super) struct PathSlopes {
    pub(super) base: f64,
    pub(super) total: f64,
    /// `Σ slope · (to - from) = total - base`, but for rounding.
    pub(super) slopes: Vec<f64>,
}

/// Points of the line at which slopes are taken; fewer where each costs more.
const POINTS: usize = 32;
const POINTS_WITH_MANY_CLASSES: usize = 8;

impl SingleModel {
    /// # Formula
    /// ```text
    /// slope_o = ∫₀¹ ∂L/∂o (from + λ (to - from)) dλ
    /// ```
    /// by the midpoint rule, derivatives by differences; what these leave open of `total - base` is
    /// added along the line, so that the parts add up.
    ///
    /// # Reference
    /// Sundararajan, Taly & Yan, ICML 2017 (integrated gradients).
    pub(super) fn path_slopes(
        &self,
        joint: &SavedMulticlassCalibrator,
        class: usize,
        from: &[f64],
        to: &[f64],
    ) -> PathSlopes {
        let mut asked = JointLogOdds {
            link: self.scorer.link(),
            joint,
            class,
            against_rest: Vec::new(),
            scores: vec![0.0; self.class_count()],
            classes: vec![Probability::from_log_odds(0.0); self.class_count()],
            buffer: ClassBuffers::default(),
        };
        let (base, total) = (asked.at(from), asked.at(to));
        let way: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
        let length = way.iter().map(|part| part * part).sum::<f64>().sqrt();
        let mut slopes = vec![0.0; way.len()];
        if !(length > 1e-12 && length.is_finite()) {
            return PathSlopes {
                base,
                total,
                slopes,
            };
        }
        let points = if way.len() > 32 {
            POINTS_WITH_MANY_CLASSES
        } else {
            POINTS
        };
        let small = 1e-4 * length;
        let mut here = from.to_vec();
        for point in 0..points {
            let share = (point as f64 + 0.5) / points as f64;
            for output in 0..way.len() {
                here[output] = from[output] + share * way[output];
            }
            for output in 0..way.len() {
                let middle = here[output];
                here[output] = middle + small;
                let above = asked.at(&here);
                here[output] = middle - small;
                let below = asked.at(&here);
                here[output] = middle;
                slopes[output] += (above - below) / (2.0 * small * points as f64);
            }
        }
        let explained: f64 = slopes
            .iter()
            .zip(&way)
            .map(|(slope, way)| slope * way)
            .sum();
        let open = (total - base - explained) / (length * length);
        for (slope, way) in slopes.iter_mut().zip(&way) {
            *slope += open * way;
        }
        PathSlopes {
            base,
            total,
            slopes,
        }
    }
}

/// The log-odds of a class as a function of the outputs.
struct JointLogOdds<'a> {
    link: Link,
    joint: &'a SavedMulticlassCalibrator,
    class: usize,
    against_rest: Vec<f64>,
    scores: Vec<f64>,
    classes: Vec<Probability>,
    buffer: ClassBuffers,
}

impl JointLogOdds<'_> {
    fn at(&mut self, outputs: &[f64]) -> f64 {
        let outputs = if self.link == Link::AgainstRest {
            self.against_rest.resize(outputs.len(), 0.0);
            log_odds_against_rest(outputs, &mut self.against_rest);
            &self.against_rest
        } else {
            outputs
        };
        joint_scores_into(self.link, outputs, &mut self.scores);
        self.joint
            .probabilities_into(&self.scores, &mut self.buffer, &mut self.classes);
        self.classes[self.class].log_odds()
    }
}
