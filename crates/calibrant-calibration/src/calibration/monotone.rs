//! The nearest curve that never falls.

use serde::{Deserialize, Serialize};

use super::{CalibrationMethod, Calibrator, HeldOutScores, PlattCalibrator, ThreePieceCalibrator};
use crate::solvers::pool_adjacent_violators;
use crate::{CalibrationError, Probability};

/// A calibrator whose log-odds rise or fall throughout between a few scores.
pub trait Turning: Calibrator {
    /// Every score where the log-odds may turn from rising to falling or back, in any order.
    fn turns(&self) -> Vec<f64>;
}

impl Turning for PlattCalibrator {
    fn turns(&self) -> Vec<f64> {
        Vec::new()
    }
}

impl Turning for ThreePieceCalibrator {
    fn turns(&self) -> Vec<f64> {
        self.bends.iter().map(|&(at, _)| at).collect()
    }
}

/// Fits a method and makes its curve rise, so that probabilities rank as scores do.
///
/// # Formula
/// ```text
/// minimise Σ w_i (f(s_i) - g(s_i))²   subject to g never falling
/// ```
/// over the held-out scores `s_i` with weights `w_i`, where `f` are the fitted log-odds. The best
/// `g` is constant on a few stretches, each at the mean of `f` over its scores, and is `f` itself
/// between them; beyond the scores it goes on as `f` while that rises, up to a million times their
/// range, and is constant from there on.
///
/// # When it misleads
/// Densities may say with good reason that extreme scores are less sure: a rising curve hides it.
///
/// # Reference
/// Ayer, Brunk, Ewing, Reid & Silverman, Annals of Mathematical Statistics 26 (1955), for the means.
///
/// ```
/// use calibrant_calibration::calibration::{CalibrationMethod, Calibrator, DensityMethod, Gauss, HeldOutScores, Monotone};
/// // The positives are wider spread: far to the left they are likelier than the negatives again.
/// let scores = vec![-1.0, -0.5, 0.0, 0.5, 1.0, -3.0, 0.0, 3.0, 6.0];
/// let labels = [false; 5].into_iter().chain([true; 4]).collect();
/// let held_out = HeldOutScores::assume(scores, labels)?;
/// let falling = DensityMethod::<Gauss>::new().fit(&held_out)?;
/// assert!(falling.probability(-9.0) > falling.probability(0.0));
/// let rising = Monotone(DensityMethod::<Gauss>::new()).fit(&held_out)?;
/// assert!(rising.probability(-9.0) <= rising.probability(0.0));
/// assert_eq!(rising.probability(2.5), falling.probability(2.5)); // where the curve rises, it stays
/// # Ok::<(), calibrant_calibration::CalibrationError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Monotone<M>(
    /// The method whose curve may fall.
    pub M,
);

impl<M> CalibrationMethod for Monotone<M>
where
    M: CalibrationMethod,
    M::Calibrator: Turning,
{
    type Calibrator = MonotoneCalibrator<M::Calibrator>;

    fn fit(&self, held_out: &HeldOutScores) -> Result<Self::Calibrator, CalibrationError> {
        Ok(MonotoneCalibrator::of(self.0.fit(held_out)?, held_out))
    }
}

/// A curve with flat stretches where it would fall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonotoneCalibrator<C> {
    /// The curve between the flat stretches.
    pub inner: C,
    flats: Flats,
}

/// Scores that share one probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flat {
    /// The least of them; none where it goes on without end.
    pub from: Option<f64>,
    /// The greatest of them; none where it goes on without end.
    pub to: Option<f64>,
    /// Their log-odds.
    pub log_odds: f64,
}

impl Flat {
    fn start(&self) -> f64 {
        self.from.unwrap_or(f64::NEG_INFINITY)
    }

    fn end(&self) -> f64 {
        self.to.unwrap_or(f64::INFINITY)
    }
}

/// Flat stretches by rising score, with rising log-odds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Flat>", into = "Vec<Flat>")]
struct Flats(Vec<Flat>);

impl TryFrom<Vec<Flat>> for Flats {
    type Error = CalibrationError;

    fn try_from(flats: Vec<Flat>) -> Result<Self, CalibrationError> {
        let right = flats
            .iter()
            .all(|flat| flat.start() <= flat.end() && flat.log_odds.is_finite())
            && flats.windows(2).all(|pair| {
                pair[0].end() < pair[1].start() && pair[0].log_odds <= pair[1].log_odds
            });
        if right {
            Ok(Self(flats))
        } else {
            Err(CalibrationError::BadSetting {
                setting: "the flat stretches of a rising curve",
                requirement: "apart from each other and rising",
                value: format!("{} stretches that are not", flats.len()),
            })
        }
    }
}

impl From<Flats> for Vec<Flat> {
    fn from(flats: Flats) -> Self {
        flats.0
    }
}

impl<C: Calibrator> Calibrator for MonotoneCalibrator<C> {
    #[inline]
    fn probability(&self, score: f64) -> Probability {
        let flats = &self.flats.0;
        let next = flats.partition_point(|flat| flat.end() < score);
        let mut log_odds = None;
        if let Some(flat) = flats.get(next)
            && flat.start() <= score
        {
            log_odds = Some(flat.log_odds);
        }
        // Not beyond its neighbours: the curve goes through their levels on its way.
        let log_odds = log_odds.unwrap_or_else(|| {
            let least = match next {
                0 => f64::NEG_INFINITY,
                next => flats[next - 1].log_odds,
            };
            let greatest = flats.get(next).map_or(f64::INFINITY, |flat| flat.log_odds);
            let inner = self.inner.probability(score).log_odds();
            inner.max(least).min(greatest)
        });
        Probability::from_log_odds(log_odds)
    }
}

impl<C> MonotoneCalibrator<C> {
    /// The flat stretches, by rising score.
    pub fn flats(&self) -> &[Flat] {
        &self.flats.0
    }
}

impl<C: Turning> MonotoneCalibrator<C> {
    /// Makes a curve rise; what it is to stay near to are its log-odds at these scores.
    pub fn of(inner: C, held_out: &HeldOutScores) -> Self {
        let mut turns = inner.turns();
        turns.retain(|turn| turn.is_finite());
        turns.sort_by(f64::total_cmp);
        let points = points(&inner, &turns, held_out);
        let pools =
            pool_adjacent_violators(points.iter().map(|point| (point.log_odds, point.weight)));
        let mut flats = Vec::new();
        let mut start = 0;
        for pool in &pools {
            let (from, to) = (points[start].score, points[pool.end - 1].score);
            // Both ends are flats even where they are a single score: the tails join them.
            if pool.end - start > 1 || start == 0 || pool.end == points.len() {
                flats.push(Flat {
                    from: Some(from),
                    to: Some(to),
                    log_odds: pool.mean(),
                });
            }
            start = pool.end;
        }
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            let range = (last.score - first.score).min(f64::MAX);
            let lower = turns
                .iter()
                .rev()
                .copied()
                .filter(|&turn| turn < first.score);
            let reached = tail(&inner, first.score, lower, -far(range, first.score));
            open_below(&mut flats, &inner, first.score, reached);
            let upper = turns.iter().copied().filter(|&turn| turn > last.score);
            let reached = tail(&inner, last.score, upper, far(range, last.score));
            open_above(&mut flats, &inner, last.score, reached);
        }
        Self {
            inner,
            flats: Flats(flats),
        }
    }
}

/// A score and the curve there.
struct Point {
    score: f64,
    log_odds: f64,
    weight: f64,
}

/// The curve at every held-out score, and at the turns between them. These weigh next to nothing:
/// they only see to it that the curve rises or falls throughout between neighbouring points.
fn points(inner: &impl Calibrator, turns: &[f64], held_out: &HeldOutScores) -> Vec<Point> {
    let held_out = held_out.rising();
    let total: f64 = held_out.weights().iter().sum();
    let little = 1e-12 * total / held_out.len().max(1) as f64;
    let mut points: Vec<Point> = Vec::with_capacity(held_out.len() + turns.len());
    let mut push = |score: f64, weight: f64| match points.last_mut() {
        Some(last) if last.score == score => last.weight += weight,
        _ => points.push(Point {
            score,
            log_odds: inner.probability(score).log_odds(),
            weight,
        }),
    };
    let first = held_out.scores().first().copied().unwrap_or(0.0);
    let mut turns = turns.iter().skip_while(|&&turn| turn <= first).peekable();
    for (score, _, weight) in held_out.examples() {
        while let Some(&turn) = turns.next_if(|&&turn| turn < score) {
            push(turn, little);
        }
        push(score, weight);
    }
    points
}

/// How far beyond the scores a curve is followed.
fn far(range: f64, end: f64) -> f64 {
    let unit = if range > 0.0 {
        range
    } else {
        end.abs().max(1.0)
    };
    (1e6 * unit).min(f64::MAX)
}

/// How far beyond an end the curve goes on rising, seen in the direction of scores: over some of the
/// turns, given from the end outwards, and at most so far.
fn tail(inner: &impl Calibrator, end: f64, turns: impl Iterator<Item = f64>, farthest: f64) -> f64 {
    let log_odds = |score: f64| inner.probability(score).log_odds();
    let limit = (end + farthest).clamp(f64::MIN, f64::MAX);
    let mut reached = end;
    let within = turns.take_while(|turn| (turn - limit) * farthest.signum() < 0.0);
    for next in within.chain(std::iter::once(limit)) {
        let rise = (log_odds(next) - log_odds(reached)) * farthest.signum();
        // Less is rounding, which may as well fall further on.
        if rise <= 1e-9 * (1.0 + log_odds(reached).abs()) {
            break;
        }
        reached = next;
    }
    reached
}

/// Everything below the score that a tail reached is flat.
fn open_below(flats: &mut Vec<Flat>, inner: &impl Calibrator, end: f64, reached: f64) {
    let Some(first) = flats.first_mut() else {
        return;
    };
    if reached == end {
        first.from = None;
        return;
    }
    let log_odds = inner.probability(reached).log_odds().min(first.log_odds);
    flats.insert(
        0,
        Flat {
            from: None,
            to: Some(reached),
            log_odds,
        },
    );
}

/// Everything above the score that a tail reached is flat.
fn open_above(flats: &mut Vec<Flat>, inner: &impl Calibrator, end: f64, reached: f64) {
    let Some(last) = flats.last_mut() else {
        return;
    };
    if reached == end {
        last.to = None;
        return;
    }
    let log_odds = inner.probability(reached).log_odds().max(last.log_odds);
    flats.push(Flat {
        from: Some(reached),
        to: None,
        log_odds,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{
        AsymmetricGauss, AsymmetricLaplace, DensityCalibrator, DensityMethod, Gauss, Hybrid,
        Laplace, Platt, ThreePiece,
    };
    use crate::numeric::Random;
    use proptest::prelude::*;
    use serde::de::DeserializeOwned;

    /// A curve given by its values at 0, 1, 2, ...
    struct Steps(Vec<f64>);

    impl Calibrator for Steps {
        fn probability(&self, score: f64) -> Probability {
            let at = (score.round().max(0.0) as usize).min(self.0.len() - 1);
            Probability::from_log_odds(self.0[at])
        }
    }

    impl Turning for Steps {
        fn turns(&self) -> Vec<f64> {
            Vec::new()
        }
    }

    #[test]
    fn a_fall_becomes_flat_at_its_mean() {
        let held_out = HeldOutScores::assume_weighted(
            vec![0.0, 1.0, 2.0, 3.0],
            vec![false, true, false, true],
            vec![1.0, 3.0, 1.0, 1.0],
        )
        .unwrap();
        let curve = MonotoneCalibrator::of(Steps(vec![0.0, 2.0, -2.0, 5.0]), &held_out);
        let at = |score: f64| curve.probability(score).log_odds();
        // By hand: (3·2 - 2) / 4 = 1.
        assert_eq!([0.0, 1.0, 1.5, 2.0, 3.0].map(at), [0.0, 1.0, 1.0, 1.0, 5.0]);
        assert_eq!([-9.0, 9.0].map(at), [0.0, 5.0]);
        assert_eq!(curve.flats().len(), 3);
    }

    fn never_falls<M>(method: M, held_out: &HeldOutScores)
    where
        M: CalibrationMethod,
        M::Calibrator: Turning + Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned,
    {
        let plain = method.fit(held_out).unwrap();
        let curve = MonotoneCalibrator::of(plain.clone(), held_out);
        let lowest = held_out.scores().iter().copied().fold(f64::MAX, f64::min);
        let highest = held_out.scores().iter().copied().fold(f64::MIN, f64::max);
        let range = (0.5 * highest - 0.5 * lowest).max(1e-300);
        let mut asked = held_out.scores().to_vec();
        for step in 0..600 {
            let share = f64::from(step) / 100.0 - 2.0;
            asked.push((lowest + share * 2.0 * range).clamp(f64::MIN, f64::MAX));
        }
        for far in [1e3, 1e7, 1e300] {
            asked.push((lowest - far * range).max(f64::MIN));
            asked.push((highest + far * range).min(f64::MAX));
        }
        for flat in curve.flats() {
            asked.extend(flat.from);
            asked.extend(flat.to);
        }
        asked.sort_by(f64::total_cmp);
        let mut last = f64::NEG_INFINITY;
        for &score in &asked {
            let log_odds = curve.probability(score).log_odds();
            assert!(
                log_odds >= last - 1e-9 * (1.0 + last.abs()),
                "{log_odds} after {last} at {score} of {curve:?}"
            );
            last = last.max(log_odds);
        }
        // The levels are means: the sum over the examples stays what it was.
        let sum = |calibrator: &dyn Calibrator| {
            let values = held_out.examples();
            values
                .map(|(score, _, weight)| weight * calibrator.probability(score).log_odds())
                .sum::<f64>()
        };
        let (before, after) = (sum(&plain), sum(&curve));
        let size: f64 = held_out
            .examples()
            .map(|(score, _, weight)| weight * plain.probability(score).log_odds().abs())
            .sum();
        assert!(
            (before - after).abs() <= 1e-6 * (1.0 + size),
            "{before} {after}"
        );
        let saved = serde_json::to_string(&curve).unwrap();
        let read: MonotoneCalibrator<M::Calibrator> = serde_json::from_str(&saved).unwrap();
        assert_eq!(read, curve);
    }

    fn every_method(held_out: &HeldOutScores) {
        never_falls(DensityMethod::<Gauss>::new(), held_out);
        never_falls(DensityMethod::<Laplace>::new(), held_out);
        never_falls(DensityMethod::<AsymmetricLaplace>::new(), held_out);
        never_falls(DensityMethod::<AsymmetricGauss>::new(), held_out);
        never_falls(DensityMethod::<Hybrid>::new(), held_out);
    }

    proptest! {
        #[test]
        fn no_curve_falls(seed in any::<u64>(), count in 2usize..60, apart in -2.0f64..3.0, wide in 0.2f64..4.0) {
            let mut random = Random::from_seed(seed);
            let (mut scores, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for i in 0..count {
                let positive = i % 3 == 1;
                scores.push(if positive { apart + wide * random.normal() } else { random.normal() });
                labels.push(positive);
                weights.push(0.2 + random.uniform());
            }
            let held_out = HeldOutScores::assume_weighted(scores, labels, weights).unwrap();
            every_method(&held_out);
            // A handful of examples may be too few for these.
            if count >= 10 {
                never_falls(Platt, &held_out);
                never_falls(ThreePiece, &held_out);
            }
        }
    }

    #[test]
    fn hard_scores_give_curves_that_rise() {
        for scores in [
            vec![0.1; 6],
            vec![1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
            vec![2.0, 1.0, 2.0, 1.0, 2.0, 1.0],
            vec![1e308, -1e308, 1e307, 0.0, 5.0, 1e308],
            vec![1e-300, -1e-300, 0.0, 2e-300, 5e-301, 0.0],
        ] {
            let labels = vec![false, true, false, true, false, false];
            every_method(&HeldOutScores::assume(scores, labels).unwrap());
        }
    }

    #[test]
    fn a_rising_curve_stays_as_it_is() {
        let scores: Vec<f64> = (0..50).map(|i| f64::from(i) / 10.0).collect();
        let labels = (0..50).map(|i| i > 30 || i % 5 == 0).collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        let plain = Platt.fit(&held_out).unwrap();
        let curve = Monotone(Platt).fit(&held_out).unwrap();
        for score in [-100.0, -1.0, 0.05, 2.3, 4.95, 300.0] {
            let (a, b) = (plain.probability(score), curve.probability(score));
            assert!((a.log_odds() - b.log_odds()).abs() < 1e-12);
        }
    }

    #[test]
    fn a_file_cannot_hold_a_curve_that_falls() {
        let text = |flats: &str| {
            format!(r#"{{"inner":{{"slope":1.0,"intercept":0.0}},"flats":[{flats}]}}"#)
        };
        let read = |flats: &str| {
            serde_json::from_str::<MonotoneCalibrator<PlattCalibrator>>(&text(flats)).is_ok()
        };
        assert!(read(r#"{"from":null,"to":1.0,"log_odds":0.5}"#));
        assert!(!read(r#"{"from":2.0,"to":1.0,"log_odds":0.5}"#));
        assert!(!read(r#"{"from":0.0,"to":1.0,"log_odds":null}"#));
        let low = r#"{"from":0.0,"to":1.0,"log_odds":0.5}"#;
        assert!(!read(&format!(
            r#"{low},{{"from":0.5,"to":2.0,"log_odds":0.6}}"#
        )));
        assert!(!read(&format!(
            r#"{low},{{"from":1.5,"to":2.0,"log_odds":0.4}}"#
        )));
        assert!(read(&format!(
            r#"{low},{{"from":1.5,"to":2.0,"log_odds":0.6}}"#
        )));
    }

    #[test]
    fn the_turns_of_two_densities_are_where_the_curve_turns() {
        // Two Gaussians: ln p₊ - ln p₋ = -(s-2)²/8 + s²/2 + ..., whose slope -(s-2)/4 + s is 0 at -2/3.
        let pair = DensityCalibrator {
            positive: Gauss::new(2.0, 2.0).unwrap(),
            negative: Gauss::new(0.0, 1.0).unwrap(),
            ln_prior_odds: 0.0,
        };
        let turn = -2.0 / 3.0;
        assert!(
            pair.turns()
                .iter()
                .any(|found| (found - turn).abs() < 1e-12)
        );
    }
}
