//! Every calibration method by name, and what each fits: the one list of them all.

use serde::{Deserialize, Serialize};

use super::{
    AsymmetricGauss, AsymmetricLaplace, AsymmetricLaplaceMethod, Bbq, BbqCalibrator, Beta,
    BetaCalibrator, BetaKind, Binning, BlendCalibrator, CalibrationMethod, Calibrator,
    CentredIsotonic, CentredIsotonicCalibrator, ChoiceRules, CrossVennAbers,
    CrossVennAbersCalibrator, DensityCalibrator, Gauss, HeldCalibrator, HeldOutScores, Histogram,
    HistogramCalibrator, Hybrid, IntervalCalibrator, Isotonic, IsotonicCalibrator, Laplace,
    LogisticCurve, MonotoneCalibrator, PiecesCalibrator, Platt, PlattCalibrator, Spline,
    SplineCalibrator, Squash, ThreePiece, ThreePieceAtModes, ThreePieceCalibrator, Turning,
    VennAbers, VennAbersCalibrator,
};
use crate::{CalibrationError, Probability};

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
    /// Every method that fits something and is not a choice among others: all but the first, `auto`, and the last, `none`.
    pub const METHODS: &[Self] = Self::ALL.split_at(Self::ALL.len() - 1).0.split_at(1).1;

    /// Fits the method to held-out scores.
    pub fn fit(self, held_out: &HeldOutScores) -> Result<SavedCalibrator, CalibrationError> {
        self.fit_from(held_out, None)
    }

    /// As [`Self::fit`], by the rules of a choice.
    pub fn fit_within(
        self,
        held_out: &HeldOutScores,
        rules: ChoiceRules,
    ) -> Result<SavedCalibrator, CalibrationError> {
        self.fit_by(held_out, None, rules)
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

/// A fitted calibrator as a model file keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "method")]
pub enum SavedCalibrator {
    /// The score itself is the log-odds.
    Identity,
    /// A line: Platt's curve or plain logistic regression.
    Platt(PlattCalibrator),
    /// Two Gaussian densities.
    Gauss(DensityCalibrator<Gauss>),
    /// Two asymmetric Gaussian densities.
    AsymmetricGauss(DensityCalibrator<AsymmetricGauss>),
    /// Two Laplace densities.
    Laplace(DensityCalibrator<Laplace>),
    /// Two densities that are exponential on the side that faces the other, Gaussian on the other side.
    Hybrid(DensityCalibrator<Hybrid>),
    /// Two asymmetric Laplace densities.
    AsymmetricLaplace(DensityCalibrator<AsymmetricLaplace>),
    /// Two slopes over log-odds.
    Beta(BetaCalibrator),
    /// A smooth curve.
    Spline(SplineCalibrator),
    /// A line with two bends.
    ThreePiece(ThreePieceCalibrator),
    /// The most likely rising curve.
    Isotonic(IsotonicCalibrator),
    /// The same through the middle of its blocks.
    CentredIsotonic(CentredIsotonicCalibrator),
    /// One probability a bin.
    Histogram(HistogramCalibrator),
    /// Many histograms, averaged.
    Bbq(BbqCalibrator),
    /// Two rising curves, one for each answer.
    VennAbers(VennAbersCalibrator),
    /// The same by folds.
    CrossVennAbers(CrossVennAbersCalibrator),
    /// Straight pieces.
    Pieces(PiecesCalibrator),
    /// A class's own curve, weighed with one for all.
    Blend(Box<BlendCalibrator<SavedCalibrator>>),
    /// A curve that holds where the examples end.
    Held(Box<HeldCalibrator<SavedCalibrator>>),
    /// A curve that would fall here and there, made to rise.
    Monotone(Box<MonotoneCalibrator<SavedCalibrator>>),
}

/// Runs the same expression on the calibrator inside.
macro_rules! inside {
    ($saved:expr, $calibrator:ident => $found:expr, $identity:expr) => {
        match $saved {
            SavedCalibrator::Identity => $identity,
            SavedCalibrator::Platt($calibrator) => $found,
            SavedCalibrator::Gauss($calibrator) => $found,
            SavedCalibrator::AsymmetricGauss($calibrator) => $found,
            SavedCalibrator::Laplace($calibrator) => $found,
            SavedCalibrator::Hybrid($calibrator) => $found,
            SavedCalibrator::AsymmetricLaplace($calibrator) => $found,
            SavedCalibrator::Beta($calibrator) => $found,
            SavedCalibrator::Spline($calibrator) => $found,
            SavedCalibrator::ThreePiece($calibrator) => $found,
            SavedCalibrator::Isotonic($calibrator) => $found,
            SavedCalibrator::CentredIsotonic($calibrator) => $found,
            SavedCalibrator::Histogram($calibrator) => $found,
            SavedCalibrator::Bbq($calibrator) => $found,
            SavedCalibrator::VennAbers($calibrator) => $found,
            SavedCalibrator::CrossVennAbers($calibrator) => $found,
            SavedCalibrator::Pieces($calibrator) => $found,
            SavedCalibrator::Blend($calibrator) => $found,
            SavedCalibrator::Held($calibrator) => $found,
            SavedCalibrator::Monotone($calibrator) => $found,
        }
    };
}

impl Calibrator for SavedCalibrator {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        inside!(self, calibrator => calibrator.probability(score), Probability::from_log_odds(score))
    }

    fn ln_densities(&self, score: f64) -> Option<(f64, f64)> {
        inside!(self, calibrator => calibrator.ln_densities(score), None)
    }
}

impl SavedCalibrator {
    /// The two probabilities between which the truth lies, for methods that give such an interval.
    pub fn interval(&self, score: f64) -> Option<(Probability, Probability)> {
        match self {
            Self::VennAbers(calibrator) => Some(calibrator.interval(score)),
            Self::CrossVennAbers(calibrator) => Some(calibrator.interval(score)),
            _ => None,
        }
    }

    /// The same, held where these examples no longer support it, see [`HeldCalibrator`].
    pub(crate) fn held_where_supported(self, held_out: &HeldOutScores) -> Self {
        match self.held(held_out) {
            Self::Held(held) => Self::Held(Box::new(HeldCalibrator::where_supported(
                held.into_inner(),
                held_out,
            ))),
            other => other,
        }
    }

    /// The same, held where these examples end. What says no more beyond them anyway stays as it is, and so does a score
    /// that is taken for log-odds.
    pub fn held(self, held_out: &HeldOutScores) -> Self {
        match self {
            Self::Identity
            | Self::Isotonic(_)
            | Self::CentredIsotonic(_)
            | Self::Histogram(_)
            | Self::Bbq(_)
            | Self::VennAbers(_)
            | Self::CrossVennAbers(_)
            | Self::Pieces(_)
            | Self::Held(_) => self,
            _ => Self::Held(Box::new(HeldCalibrator::of(self, held_out))),
        }
    }

    /// The curve itself, whether it is held or goes on without end.
    pub fn curve(&self) -> &Self {
        match self {
            Self::Held(held) => held.inner(),
            other => other,
        }
    }

    /// How much a class's own curve counts, where it is weighed with one for all.
    pub fn own_weight(&self) -> Option<f64> {
        match self {
            Self::Blend(blend) => Some(blend.weight()),
            Self::Held(held) => held.inner().own_weight(),
            _ => None,
        }
    }

    /// Whether the probability never falls while the score rises.
    pub fn never_falls(&self) -> bool {
        match self {
            Self::Gauss(_)
            | Self::AsymmetricGauss(_)
            | Self::Laplace(_)
            | Self::Hybrid(_)
            | Self::AsymmetricLaplace(_)
            | Self::Histogram(_)
            | Self::Bbq(_) => false,
            Self::Platt(line) => line.slope >= 0.0,
            Self::ThreePiece(curve) => curve.rises(),
            Self::Pieces(curve) => curve.rises(),
            Self::Held(held) => held.inner().never_falls(),
            Self::Blend(blend) => blend.own().never_falls() && blend.common().rises(),
            Self::Beta(curve) => {
                curve.a * curve.line.slope >= 0.0 && curve.b * curve.line.slope >= 0.0
            }
            Self::Identity
            | Self::Spline(_)
            | Self::Isotonic(_)
            | Self::CentredIsotonic(_)
            | Self::VennAbers(_)
            | Self::CrossVennAbers(_)
            | Self::Monotone(_) => true,
        }
    }

    /// Whether [`Self::interval`] gives anything.
    pub fn has_interval(&self) -> bool {
        self.interval(0.0).is_some()
    }
}

impl Turning for SavedCalibrator {
    fn turns(&self) -> Vec<f64> {
        match self {
            Self::Gauss(calibrator) => calibrator.turns(),
            Self::AsymmetricGauss(calibrator) => calibrator.turns(),
            Self::Laplace(calibrator) => calibrator.turns(),
            Self::Hybrid(calibrator) => calibrator.turns(),
            Self::AsymmetricLaplace(calibrator) => calibrator.turns(),
            Self::ThreePiece(calibrator) => calibrator.turns(),
            Self::Histogram(calibrator) => calibrator.turns(),
            Self::Bbq(calibrator) => calibrator.turns(),
            Self::Beta(calibrator) => calibrator.turns(),
            Self::Pieces(calibrator) => calibrator.turns(),
            Self::Blend(calibrator) => calibrator.turns(),
            Self::Held(calibrator) => calibrator.turns(),
            // These rise, or fall, throughout.
            Self::Identity
            | Self::Platt(_)
            | Self::Spline(_)
            | Self::Isotonic(_)
            | Self::CentredIsotonic(_)
            | Self::VennAbers(_)
            | Self::CrossVennAbers(_)
            | Self::Monotone(_) => Vec::new(),
        }
    }
}
