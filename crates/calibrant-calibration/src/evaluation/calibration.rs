//! Every measure of yes-or-no forecasts in one value.

use super::calibration_line::CalibrationLine;
use super::measures::ECE_BINS;
use super::{
    BesidePerfect, Binning, CurvePoint, DebiasedError, Decomposition, Losses, RankingPoint,
    ReliabilityBin, SmoothError, SortedForecasts, TestResult,
};
use serde::{Deserialize, Serialize};

/// All that is measured of yes-or-no forecasts. Bins number [`ECE_BINS`] unless a name says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Forecasts with a weight above zero.
    pub count: usize,
    /// The sum of their weights.
    pub weight: f64,
    /// The weighted share that came true.
    pub positive_share: f64,
    /// Log loss, Brier score and errors of the forecasts as answers of yes or no.
    #[serde(rename = "yes_no")]
    pub losses: Losses,
    /// The Brier score in parts.
    pub brier_parts: Decomposition,
    /// The log loss in parts, nats.
    pub log_loss_parts: Decomposition,
    /// Expected calibration error over bins of equal mass.
    pub ece_equal_mass: BesidePerfect,
    /// Expected calibration error over 15 bins of equal width.
    pub ece_equal_width: BesidePerfect,
    /// Expected calibration error over 10 bins of equal width, as many libraries report it.
    pub ece_equal_width_10: BesidePerfect,
    /// Largest distance in a bin of equal mass.
    pub max_calibration_error: BesidePerfect,
    /// Squared calibration error over bins of equal mass, without what chance adds.
    pub debiased_error: DebiasedError,
    /// Calibration error without bins.
    pub smooth_error: SmoothError,
    /// Slope and intercept.
    pub line: CalibrationLine,
    /// Spiegelhalter's test.
    pub spiegelhalter: Option<TestResult>,
    /// Kolmogorov and Smirnov's test of cumulative differences.
    pub kolmogorov_smirnov: Option<TestResult>,
    /// Kuiper's test of cumulative differences.
    pub kuiper: Option<TestResult>,
    /// Area under the ROC curve of the forecasts as answers of yes or no.
    #[serde(rename = "yes_no_auc")]
    pub auc: Option<f64>,
    /// Average precision of the forecasts as answers of yes or no.
    #[serde(rename = "yes_no_average_precision")]
    pub average_precision: Option<f64>,
    /// Bins of a reliability diagram.
    pub reliability: Vec<ReliabilityBin>,
    /// The isotonic reliability curve, thinned for plotting.
    pub reliability_curve: Vec<CurvePoint>,
    /// ROC and precision-recall curves, thinned for plotting.
    pub ranking_curve: Vec<RankingPoint>,
}

/// Points of a thinned curve.
const CURVE_POINTS: usize = 100;

impl SortedForecasts {
    /// Every measure at once.
    ///
    /// ```
    /// use calibrant_calibration::{Probability, evaluation::SortedForecasts};
    /// let p = Probability::from_log_odds(3f64.ln()); // 0.75, and half came true
    /// let found = SortedForecasts::new(&[(p, true, 1.0), (p, false, 1.0)]).calibration();
    /// assert!((found.brier_parts.miscalibration - 0.0625).abs() < 1e-12); // by hand: (0.75 - 0.5)²
    /// assert_eq!(found.auc, Some(0.5));
    /// ```
    pub fn calibration(&self) -> Calibration {
        let losses = self.losses();
        let pools = self.isotonic_pools();
        let (brier_parts, log_loss_parts) =
            self.decompositions_with(&pools, losses.brier, losses.log_loss);
        let (kolmogorov_smirnov, kuiper) = self.cumulative_tests().unzip();
        Calibration {
            count: self.len(),
            weight: self.weight(),
            positive_share: self.positive_share(),
            losses,
            brier_parts,
            log_loss_parts,
            ece_equal_mass: self.calibration_error(Binning::EqualMass, ECE_BINS),
            ece_equal_width: self.calibration_error(Binning::EqualWidth, ECE_BINS),
            ece_equal_width_10: self.calibration_error(Binning::EqualWidth, 10),
            max_calibration_error: self.max_calibration_error(ECE_BINS),
            debiased_error: self.debiased_error(ECE_BINS),
            smooth_error: self.smooth_error(),
            line: self.calibration_line(),
            spiegelhalter: self.spiegelhalter(),
            kolmogorov_smirnov,
            kuiper,
            auc: self.auc(),
            average_precision: self.average_precision(),
            reliability: self.reliability(ECE_BINS),
            reliability_curve: self.reliability_curve_with(&pools, CURVE_POINTS),
            ranking_curve: self.ranking_curve(CURVE_POINTS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sorted_forecasts::testing::*;
    use super::*;
    use proptest::prelude::*;

    /// Every number of a value as JSON.
    fn numbers(value: &serde_json::Value, into: &mut Vec<f64>) {
        match value {
            serde_json::Value::Number(number) => into.push(number.as_f64().unwrap()),
            serde_json::Value::Array(values) => values.iter().for_each(|v| numbers(v, into)),
            serde_json::Value::Object(fields) => fields.values().for_each(|v| numbers(v, into)),
            _ => {}
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn everything_can_be_written_and_read_back_whatever_comes(points in any_points()) {
            let found = SortedForecasts::new(&points).calibration();
            // A number that is not finite would be written as null and refused.
            let text = serde_json::to_string(&found).unwrap();
            let back: Calibration = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &found);
            let mut all = Vec::new();
            numbers(&serde_json::to_value(&found).unwrap(), &mut all);
            prop_assert!(all.iter().all(|number| number.is_finite()));
        }

        #[test]
        fn the_order_of_rows_leaves_no_trace(points in any_points(), seed in any::<u64>()) {
            let mut shuffled = points.clone();
            crate::numeric::Random::from_seed(seed).shuffle(&mut shuffled);
            prop_assert_eq!(SortedForecasts::new(&points).calibration(), SortedForecasts::new(&shuffled).calibration());
        }
    }
}
