//! The calibration methods by name.

use serde::{Deserialize, Serialize};

use super::{
    AsymmetricLaplaceMethod, Bbq, Beta, BetaKind, Binning, CalibrationMethod, CentredIsotonic,
    ChoiceRules, CrossVennAbers, DensityCalibrator, HeldOutScores, Histogram, Isotonic,
    LogisticCurve, MonotoneCalibrator, Platt, SavedCalibrator, Spline, Squash, ThreePiece,
    ThreePieceAtModes, VennAbers,
};
use crate::CalibrationError;

/// A calibration method by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibratorKind {
    /// The method with the least cross-validated log loss, class by class.
    Auto,
    /// Logistic regression on the score, "LogReg" in Bennett's tables.
    #[serde(rename = "logreg")]
    LogReg,
    /// Platt's curve, "LR+Noise" in Bennett's tables.
    Platt,
    /// Beta calibration of a score that is log-odds: two slopes and an intercept.
    Beta,
    /// The same without an intercept.
    BetaAb,
    /// The same with one slope.
    BetaAm,
    /// A smooth curve that rises.
    Spline,
    /// Two Gaussian densities.
    Gauss,
    /// Two asymmetric Gaussian densities.
    AsymmetricGauss,
    /// Two Laplace densities.
    Laplace,
    /// Two asymmetric Laplace densities.
    AsymmetricLaplace,
    /// Two densities that are exponential on the side that faces the other, Gaussian on the other side.
    Hybrid,
    /// A line with two bends.
    ThreePiece,
    /// A line with bends at the modes of two asymmetric Laplace densities.
    ThreePieceModes,
    /// The most likely rising curve.
    Isotonic,
    /// The same through the middle of its blocks, so that different scores stay different.
    CentredIsotonic,
    /// One probability for each of several bins of equal mass.
    Histogram,
    /// One probability for each of several bins of equal width.
    HistogramWidth,
    /// Histograms of many sizes, averaged by how well they explain the labels.
    Bbq,
    /// Two rising curves, one for each answer: an interval, and a value between.
    VennAbers,
    /// The same by folds, merged.
    CrossVennAbers,
    /// The score itself, read as log-odds.
    None,
}

crate::named! {
    CalibratorKind, "a calibration method";
    Auto = "auto", "The method with the least cross-validated log loss";
    Gauss = "gauss", "Two Gaussian densities";
    AsymmetricGauss = "asymmetric_gauss", "Two asymmetric Gaussian densities";
    Laplace = "laplace", "Two Laplace densities";
    AsymmetricLaplace = "asymmetric_laplace", "Two asymmetric Laplace densities";
    Hybrid = "hybrid", "Two densities, exponential towards each other and Gaussian on the outer side";
    LogReg = "logreg", "Logistic regression on the score";
    Platt = "platt" | "lr_noise", "Platt's curve: logistic regression with smoothed targets";
    Beta = "beta", "Beta calibration: two slopes and an intercept";
    BetaAb = "beta_ab", "Beta calibration without an intercept";
    BetaAm = "beta_am", "Beta calibration with one slope";
    Spline = "spline", "A smooth monotone curve";
    ThreePiece = "three_piece", "A line with two bends";
    ThreePieceModes = "three_piece_modes", "A line with bends at the modes of two asymmetric Laplace densities";
    Isotonic = "isotonic", "The most likely monotone step curve";
    CentredIsotonic = "centred_isotonic", "Isotonic through the centres of its blocks, so that different scores stay different";
    Histogram = "histogram", "One probability per bin of equal mass";
    HistogramWidth = "histogram_width", "One probability per bin of equal width";
    Bbq = "bbq", "Histograms of many sizes, averaged by how well they explain the labels";
    VennAbers = "venn_abers", "Two isotonic curves, one for each answer: an interval, and a value between";
    CrossVennAbers = "cross_venn_abers", "Venn-Abers by folds, merged";
    None = "none", "The score itself, read as log-odds";
}

impl CalibratorKind {
    /// Every method that fits something and is no choice among others.
    pub const METHODS: &[Self] = &[
        Self::Gauss,
        Self::AsymmetricGauss,
        Self::Laplace,
        Self::AsymmetricLaplace,
        Self::Hybrid,
        Self::LogReg,
        Self::Platt,
        Self::Beta,
        Self::BetaAb,
        Self::BetaAm,
        Self::Spline,
        Self::ThreePiece,
        Self::ThreePieceModes,
        Self::Isotonic,
        Self::CentredIsotonic,
        Self::Histogram,
        Self::HistogramWidth,
        Self::Bbq,
        Self::VennAbers,
        Self::CrossVennAbers,
    ];

    /// Fits the method to held-out scores.
    pub fn fit(self, held_out: &HeldOutScores) -> Result<SavedCalibrator, CalibrationError> {
        self.fit_from(held_out, None)
    }

    /// As [`Self::fit_from`], made to rise where the rules ask for it and the method does not
    /// promise it.
    pub(super) fn fit_by(
        self,
        held_out: &HeldOutScores,
        start: Option<&SavedCalibrator>,
        rules: ChoiceRules,
    ) -> Result<SavedCalibrator, CalibrationError> {
        let start = start.map(|start| match start {
            SavedCalibrator::Monotone(rising) => &rising.inner,
            other => other,
        });
        let inner = self.fit_from(held_out, start)?;
        if !rules.monotone || inner.never_falls() {
            return Ok(inner);
        }
        let rising = MonotoneCalibrator::of(inner, held_out);
        Ok(SavedCalibrator::Monotone(Box::new(rising)))
    }

    /// Fits the method to held-out scores, from a calibrator that is near if there is one.
    pub(super) fn fit_from(
        self,
        held_out: &HeldOutScores,
        start: Option<&SavedCalibrator>,
    ) -> Result<SavedCalibrator, CalibrationError> {
        use SavedCalibrator as Saved;
        Ok(match (self, start) {
            (Self::Auto, _) => self.choose(held_out)?.calibrator.curve().clone(),
            (Self::None, _) => Saved::Identity,
            (Self::LogReg, _) => Saved::Platt(LogisticCurve.fit(held_out)?),
            (Self::Beta | Self::BetaAb | Self::BetaAm, _) => {
                let kind = match self {
                    Self::BetaAb => BetaKind::Ab,
                    Self::BetaAm => BetaKind::Am,
                    _ => BetaKind::Abm,
                };
                let squash = Squash::AsGiven;
                Saved::Beta(Beta { kind, squash }.fit(held_out)?)
            }
            (Self::Spline, _) => Saved::Spline(Spline::default().fit(held_out)?),
            (Self::Platt, Some(Saved::Platt(start))) => {
                Saved::Platt(Platt.fit_from(held_out, Some(start))?)
            }
            (Self::Platt, _) => Saved::Platt(Platt.fit(held_out)?),
            (Self::ThreePiece, Some(Saved::ThreePiece(start))) => {
                Saved::ThreePiece(ThreePiece.fit_from(held_out, start)?)
            }
            (Self::ThreePiece, Some(Saved::Platt(start))) => {
                Saved::ThreePiece(ThreePiece.fit_bending(held_out, *start)?)
            }
            (Self::ThreePiece, _) => Saved::ThreePiece(ThreePiece.fit(held_out)?),
            (Self::Gauss, _) => Saved::Gauss(DensityCalibrator::fit(held_out)?),
            (Self::AsymmetricGauss, _) => Saved::AsymmetricGauss(DensityCalibrator::fit(held_out)?),
            (Self::Laplace, _) => Saved::Laplace(DensityCalibrator::fit(held_out)?),
            (Self::Hybrid, _) => Saved::Hybrid(DensityCalibrator::fit(held_out)?),
            (Self::AsymmetricLaplace, _) => {
                Saved::AsymmetricLaplace(AsymmetricLaplaceMethod.fit(held_out)?)
            }
            (Self::ThreePieceModes, _) => Saved::ThreePiece(ThreePieceAtModes.fit(held_out)?),
            (Self::Isotonic, _) => Saved::Isotonic(Isotonic.fit(held_out)?),
            (Self::CentredIsotonic, _) => Saved::CentredIsotonic(CentredIsotonic.fit(held_out)?),
            (Self::Histogram | Self::HistogramWidth, _) => {
                let binning = if self == Self::Histogram {
                    Binning::EqualMass
                } else {
                    Binning::EqualWidth
                };
                let method = Histogram {
                    binning,
                    bins: None,
                };
                Saved::Histogram(method.fit(held_out)?)
            }
            (Self::Bbq, _) => Saved::Bbq(Bbq.fit(held_out)?),
            (Self::VennAbers, _) => Saved::VennAbers(VennAbers.fit(held_out)?),
            (Self::CrossVennAbers, _) => Saved::CrossVennAbers(CrossVennAbers.fit(held_out)?),
        })
    }
}
