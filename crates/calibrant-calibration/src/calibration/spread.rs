//! How far the log-odds of one query's documents lie from what a curve for all queries says.

mod digest;
mod estimate;
mod small;

use serde::{Deserialize, Serialize};

use crate::numeric::Random;
use digest::Digest;
use small::{Matrix2, Vector2};

/// What is not known about stated log-odds: how they should be moved and stretched for one query (or one collection of texts).
///
/// A curve that is right over all queries is wrong for each: one has many relevant documents, another none, one is ranked well,
/// another hardly. And the curve itself was learned from few queries. Both go into one distribution.
///
/// # Formula
/// With the stated log-odds `l`, those that hold in a query are
///
/// ```text
/// α + β (l - centre),   (α, β) ~ normal(mean, covariance · degrees/χ²)
/// ```
///
/// The covariance is that between queries plus that of the mean itself; the quotient (Student's, with a degree of freedom for each query) stands for what
/// is not known about the covariance.
///
/// # When it misleads
/// Queries must be like those that it was learned from. Log-odds move along a line only: a curve that is bent in some queries is not in it.
///
/// # Reference
/// A logistic regression with random intercept and slope (Agresti, Categorical Data Analysis, 3rd ed., chapter 13), fitted by the
/// expectation-maximisation algorithm with adaptive Gauss-Hermite quadrature (Pinheiro & Bates 1995).
///
/// ```
/// use calibrant_calibration::calibration::LogOddsSpread;
/// // Two kinds of queries at even odds: of ten documents nine are relevant, or one.
/// let group = |relevant: usize| (0..10).map(|place| (0.0, place < relevant)).collect::<Vec<_>>();
/// let groups: Vec<_> = (0..20).map(|number| group(if number % 2 == 0 { 9 } else { 1 })).collect();
/// let spread = LogOddsSpread::of_groups(&groups).unwrap();
/// // By hand: log-odds of ±ln 9 = ±2.2, so a variance near 4.8 (a little more for what ten documents leave open).
/// let (move_, _) = spread.standard_deviations();
/// assert!(move_ > 1.8 && move_ < 3.2, "{move_}");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogOddsSpread {
    centre: f64,
    mean: Vector2,
    covariance: Matrix2,
    /// How many groups it was learned from, less one; absent where that is of no account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    degrees: Option<f64>,
}

/// One way that log-odds may be moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MovedLogOdds {
    centre: f64,
    at_centre: f64,
    slope: f64,
}

/// Groups with fewer cases that came true say too little together.
const LEAST_GROUPS: usize = 5;

impl LogOddsSpread {
    /// Nothing is moved: what is stated holds in every group.
    pub fn none() -> Self {
        Self {
            centre: 0.0,
            mean: [0.0, 1.0],
            covariance: [[0.0; 2]; 2],
            degrees: None,
        }
    }

    /// For forecasts of unknown origin: learned from held-out forecasts of learned rankings, at most 100 queries each of Cranfield, MED, OHSUMED and
    /// MQ2007-agg (`calibrant-experiments outlook --default` prints it).
    pub fn usual() -> Self {
        Self {
            centre: -0.955,
            mean: [-1.112, 1.266],
            covariance: [[1.436, 0.045], [0.045, 0.335]],
            degrees: Some(328.0),
        }
    }

    /// From groups of forecasts, stated by something that has not seen the group, with what came true. None where fewer than five groups have a
    /// case that came true.
    pub fn of_groups(groups: &[Vec<(f64, bool)>]) -> Option<Self> {
        let digests: Vec<Digest> = groups.iter().map(|group| Digest::of(group)).collect();
        let with_cases = digests.iter().filter(|digest| digest.has_cases()).count();
        let found =
            (with_cases >= LEAST_GROUPS).then(|| estimate::between_groups(&digests, with_cases));
        found.filter(Self::is_sound)
    }

    /// From one group alone, each case with a weight: how well its forecasts tell where the line lies. What comes next is taken for more of the
    /// same group. None where nothing, or everything, came true, or where forecasts are so sure and so wrong that no line fits them.
    pub fn of_one_group(cases: impl Iterator<Item = (f64, bool, f64)>) -> Option<Self> {
        let digest = Digest::of_weighted(cases);
        let told = digest.has_cases() && digest.has_others();
        let found = told.then(|| estimate::of_one(&digest));
        found.filter(Self::is_sound)
    }

    /// Whether it is made of numbers: forecasts that are sure beyond all measure, and wrong, leave none.
    fn is_sound(&self) -> bool {
        let covariance = self.covariance.iter().flatten();
        let all = self.mean.iter().chain(covariance).chain([&self.centre]);
        all.copied().all(f64::is_finite)
            && self.covariance[0][0] >= 0.0
            && self.covariance[1][1] >= 0.0
    }

    /// The standard deviations of the move at the centre and of the slope.
    pub fn standard_deviations(&self) -> (f64, f64) {
        (self.covariance[0][0].sqrt(), self.covariance[1][1].sqrt())
    }

    /// The move at the centre and the slope that are expected.
    pub fn expected(&self) -> (f64, f64) {
        (self.mean[0] - self.centre, self.mean[1])
    }

    /// The log-odds around which lines turn.
    pub fn centre(&self) -> f64 {
        self.centre
    }

    /// Draws a line.
    #[doc(hidden)] // For the crate `calibrant`.
    pub fn draw(&self, random: &mut Random) -> MovedLogOdds {
        let normal = [random.normal(), random.normal()];
        // Wilson and Hilferty: the cube root of a chi-square variable is nearly normal.
        let third = random.normal();
        let scale = self.degrees.map_or(1.0, |degrees| {
            let part = 2.0 / (9.0 * degrees);
            let ratio = (1.0 - part + third * part.sqrt()).powi(3);
            ratio.max(0.05).sqrt().recip()
        });
        let [at_centre, slope] = small::drawn(self.mean, self.covariance, normal, scale);
        MovedLogOdds {
            centre: self.centre,
            at_centre,
            slope,
        }
    }
}

impl MovedLogOdds {
    /// The log-odds that hold where these were stated.
    pub fn of(&self, stated: f64) -> f64 {
        self.at_centre + self.slope * (digest::within(stated) - self.centre)
    }
}

#[cfg(test)]
mod tests;
