//! Where the log-odds of two densities turn.

use super::{Decay, Density, DensityCalibrator, Side};
use crate::calibration::Turning;

impl<D: Density> Turning for DensityCalibrator<D> {
    /// The modes, and the places where the slopes of the two log-densities are equal; each of these
    /// slopes is a straight line on either side of its mode.
    fn turns(&self) -> Vec<f64> {
        let modes = [self.positive.mode(), self.negative.mode()];
        let mut turns = modes.to_vec();
        for positive_side in [Side::Left, Side::Right] {
            for negative_side in [Side::Left, Side::Right] {
                let positive = self.positive.decay(positive_side);
                let negative = self.negative.decay(negative_side);
                // In units of the greater width from the positives' mode, so that the squares of
                // widths neither overflow nor vanish.
                let unit = positive.width().max(negative.width());
                let apart = modes[1] / unit - modes[0] / unit;
                let (at_mode, slope) = positive.slope(positive_side, unit, 0.0);
                let (other_at_mode, other_slope) = negative.slope(negative_side, unit, apart);
                let equal = (other_at_mode - at_mode) / (slope - other_slope);
                turns.push(modes[0] + unit * equal);
            }
        }
        turns.retain(|turn| turn.is_finite());
        turns
    }
}

impl Decay {
    /// The distance over which the density falls.
    fn width(self) -> f64 {
        match self {
            Self::Exponential { rate } => rate.recip().min(f64::MAX),
            Self::Gaussian { deviation } => deviation,
        }
    }

    /// The slope of the log-density as a straight line, by its value at zero and its own slope,
    /// where the mode is so many units from zero.
    fn slope(self, side: Side, unit: f64, mode: f64) -> (f64, f64) {
        match (self, side) {
            (Self::Exponential { rate }, Side::Left) => (rate * unit, 0.0),
            (Self::Exponential { rate }, Side::Right) => (-rate * unit, 0.0),
            (Self::Gaussian { deviation }, _) => {
                let ratio = unit / deviation;
                (mode * ratio * ratio, -ratio * ratio)
            }
        }
    }
}
