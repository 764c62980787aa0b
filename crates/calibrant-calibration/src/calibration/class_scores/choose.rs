//! Which way for many classes? Several, weighed by how well they forecast held-out labels.

use serde::{Deserialize, Serialize};

use super::held_out::Part;
use super::one_vs_rest::{CalibratedClass, calibrate_each, calibrate_members, normalise_into};
use super::pool::Rivals;
use super::shared_curve::ScoreRows;
use super::two_passes::{TwoPasses, said_again};
use super::{
    ClassBuffers, Dirichlet, HeldOutClassScores, OneVsRestCalibrator, PairwiseCoupling,
    PoolCalibrator, PoolMember, SavedMulticlassCalibrator as Saved, SharedCurve, Temperature,
    VectorScaling,
};
use crate::calibration::auto::mean_gain;
use crate::calibration::held::supported;
use crate::calibration::{CalibratorKind, ChoiceRules};
use crate::parallel;
use crate::{CalibrationError, Probability};

/// A way from the scores of many classes to probabilities that sum to one, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MulticlassKind {
    /// Several ways, weighed by cross-validated log loss.
    #[default]
    Auto,
    /// A calibrator for each class against the rest, normalised.
    OneVsRest,
    /// One factor for all scores.
    Temperature,
    /// A slope and an intercept for each class.
    Vector,
    /// A matrix over log-probabilities.
    Dirichlet,
    /// A curve for each pair of classes.
    Coupling,
    /// One curve for all classes, with a line for each.
    SharedCurve,
    /// One curve over what others have said: no way of its own, and refused where it is asked for. It stands among the ways
    /// that were tried.
    SecondPass,
}

/// Examples times squared classes that a matrix may take in a pool: a second or so.
const MOST_MATRIX_WORK: usize = 1_000_000;
/// Classes that have curves of their own beside one for all.
pub const MOST_CURVES: usize = 64;

crate::named! {
    MulticlassKind, "a method for several classes";
    Auto = "auto", "A pool of several methods, weighted by held-out log loss";
    OneVsRest = "one_vs_rest", "Each class separately, then normalised";
    SharedCurve = "shared_curve", "One monotone curve for all classes, with a line for each";
    Temperature = "temperature", "One factor for all scores";
    Vector = "vector", "A slope and an intercept per class";
    Dirichlet = "dirichlet", "A matrix over the log-probabilities of all classes";
    Coupling = "coupling", "A curve per pair of classes";
    ; unlisted
    SecondPass = "second_pass", "A second pass over the pool of `auto`";
}

impl MulticlassKind {
    /// All ways that can be asked for but [`MulticlassKind::Auto`].
    pub const WAYS: [Self; 6] = [
        Self::OneVsRest,
        Self::SharedCurve,
        Self::Temperature,
        Self::Vector,
        Self::Dirichlet,
        Self::Coupling,
    ];

    /// The ways that [`MulticlassKind::Auto`] weighs.
    pub const POOLED: [Self; 3] = [Self::SharedCurve, Self::OneVsRest, Self::Dirichlet];

    /// Refuses what is no way of its own.
    pub fn check(self) -> Result<(), CalibrationError> {
        match self {
            Self::SecondPass => Err(CalibrationError::BadSetting {
                setting: "calibration of many classes",
                requirement: "another method: a second pass is added automatically by `auto`",
                value: self.name().into(),
            }),
            _ => Ok(()),
        }
    }

    /// Fits the way; `Auto` weighs several, see [`PoolCalibrator`]. `binary` is the calibrator of each class
    /// where classes are calibrated one against the rest.
    pub fn choose(
        self,
        held_out: &HeldOutClassScores,
        binary: CalibratorKind,
    ) -> Result<MulticlassChoice, CalibrationError> {
        let (arranged, order) = held_out.arranged();
        let wanted = Wanted {
            second_pass: true,
            rising: false,
        };
        let contest = self.hold_contest(&arranged, wanted, || {
            let each: Vec<_> = (0..arranged.class_count())
                .map(|class| arranged.of_class(class))
                .collect();
            // With very many classes, and a curve for all beside, lines have to do.
            let binary = match binary {
                CalibratorKind::Auto if self == Self::Auto && each.len() > MOST_CURVES => {
                    CalibratorKind::Platt
                }
                binary => binary,
            };
            let folds = arranged.fold_count();
            let classes = if self == Self::Auto {
                let order: Vec<u32> = (0..arranged.len() as u32).collect();
                calibrate_members(&each, binary, folds, &order)?
            } else {
                calibrate_each(&each, binary, ChoiceRules::default(), folds)?
            };
            let forecasts = combined(&classes, arranged.len());
            let calibrators = classes.into_iter().map(|class| class.calibrator);
            let calibrator = OneVsRestCalibrator::new(calibrators.collect());
            Ok((calibrator.ok_or(CalibrationError::NoExamples)?, forecasts))
        })?;
        Ok(MulticlassChoice {
            chosen: self,
            calibrator: contest.calibrator,
            tried: contest.tried,
            failed: contest.failed,
            cross_validated: put_back(&contest.forecasts, &order, held_out.class_count()),
        })
    }

    /// As [`Self::choose`], where the caller calibrates the classes one against the rest and brings what
    /// curves fitted to the other folds say. The caller is given the examples in an order that does not depend on how they came.
    #[doc(hidden)] // For the crate `calibrant`.
    pub fn choose_beside(
        self,
        held_out: HeldOutClassScores,
        wanted: Wanted,
        one_vs_rest: impl FnOnce(
            &[u32],
        )
            -> Result<(OneVsRestCalibrator, Vec<Probability>), CalibrationError>,
    ) -> Result<Contest, CalibrationError> {
        let class_count = held_out.class_count();
        let (arranged, order) = held_out.into_arranged();
        let contest = self.hold_contest(&arranged, wanted, || {
            let (calibrator, forecasts) = one_vs_rest(&order)?;
            let rows = order.iter().flat_map(|&example| {
                let first = example as usize * class_count;
                forecasts[first..first + class_count].iter().copied()
            });
            Ok((calibrator, rows.collect()))
        })?;
        drop(arranged);
        Ok(Contest {
            forecasts: put_back(&contest.forecasts, &order, class_count),
            ..contest
        })
    }

    fn hold_contest(
        self,
        held_out: &HeldOutClassScores,
        wanted: Wanted,
        one_vs_rest: impl FnOnce() -> Result<(OneVsRestCalibrator, Vec<Probability>), CalibrationError>,
    ) -> Result<Contest, CalibrationError> {
        self.check()?;
        if held_out.is_empty() {
            return Err(CalibrationError::NoExamples);
        }
        let total: f64 = held_out.weights().iter().sum();
        let mut one_vs_rest = Some(one_vs_rest);
        let mut fit = |kind: Self| match one_vs_rest.take_if(|_| kind == Self::OneVsRest) {
            Some(one_vs_rest) => one_vs_rest().map(|(one, said)| (Saved::OneVsRest(one), said)),
            None => kind.cross_validate(held_out),
        };
        let mean_loss =
            |forecasts: &[Probability]| losses(held_out, forecasts).sum::<f64>() / total;
        if self != Self::Auto {
            let (calibrator, forecasts) = fit(self)?;
            let log_loss = mean_loss(&forecasts);
            let calibrator = calibrator.held(held_out).within_examples(held_out);
            return Ok(Contest::of_one(self, calibrator, log_loss, forecasts));
        }
        let mut members = Vec::new();
        let mut rivals = Rivals {
            held_out,
            forecasts: Vec::new(),
        };
        let mut failed = Vec::new();
        for kind in Self::POOLED {
            if !kind.suits(held_out) || (wanted.rising && !kind.rises()) {
                continue;
            }
            match fit(kind) {
                Ok((calibrator, forecasts)) => {
                    members.push((kind, calibrator.held(held_out)));
                    rivals.forecasts.push(forecasts);
                }
                Err(error) => failed.push((kind, error)),
            }
        }
        if members.is_empty() {
            return Err(failed
                .pop()
                .map_or(CalibrationError::NoExamples, |(_, error)| error));
        }
        let (weights, without) = rivals.weights();
        let losses = rivals.forecasts.iter().map(|said| mean_loss(said));
        let tried = members
            .iter()
            .zip(losses)
            .zip(&weights)
            .map(|(((kind, _), log_loss), &weight)| Weighed {
                kind: *kind,
                log_loss,
                weight,
                curves: None,
            })
            .collect();
        let forecasts = rivals.pooled(&without);
        let failed = failed
            .iter()
            .map(|(kind, error)| FailedWay::new(*kind, error));
        let contest = Contest {
            calibrator: pool_of(members, weights)?,
            tried,
            failed: failed.collect(),
            forecasts,
        };
        Ok(contest.finished(held_out, wanted, total))
    }

    /// Whether what it says of a class never falls with the class's own score. Curves of single classes are made to rise by who
    /// fits them; a line of a class, a matrix, or a curve for a pair of classes may fall.
    pub fn rises(self) -> bool {
        !matches!(self, Self::Vector | Self::Dirichlet | Self::Coupling)
    }

    /// Whether the way is worth a try: a matrix needs many examples, and takes long with many classes.
    fn suits(self, held_out: &HeldOutClassScores) -> bool {
        let squared = held_out.class_count() * held_out.class_count();
        match self {
            Self::Dirichlet => {
                held_out.len() >= 10 * squared && held_out.len() * squared <= MOST_MATRIX_WORK
            }
            _ => true,
        }
    }

    /// Fits a joint way to all examples, and to all but each fold to forecast that.
    fn cross_validate(
        self,
        held_out: &HeldOutClassScores,
    ) -> Result<(Saved, Vec<Probability>), CalibrationError> {
        match self {
            Self::SharedCurve => {
                let fitted = SharedCurve::default().cross_fit(&held_out.score_rows(), true)?;
                let without = fitted.without.into_iter().map(Saved::from).collect();
                let forecasts = forecast_folds(held_out, without);
                Ok((fitted.whole.into(), forecasts))
            }
            Self::Vector => {
                cross_validate(held_out, |part, start| VectorScaling.fit_part(part, start))
            }
            Self::Dirichlet => {
                cross_validate(held_out, |part, start| Dirichlet.fit_part(part, start))
            }
            Self::Coupling => cross_validate(held_out, |part, start: Option<&(_, ())>| {
                let start = start.map(|(near, ())| near);
                Ok((PairwiseCoupling.fit_part(part, start)?, ()))
            }),
            // One against the rest and a second pass are no joint ways and do not come here.
            Self::Temperature | Self::Auto | Self::OneVsRest | Self::SecondPass => {
                cross_validate(held_out, |part, _: Option<&(_, ())>| {
                    Ok((Temperature.fit_part(part)?, ()))
                })
            }
        }
    }
}

/// `fit` gives a calibrator and whatever else helps to fit one that is near.
fn cross_validate<C: Into<Saved>, N>(
    held_out: &HeldOutClassScores,
    fit: impl Fn(&Part<'_>, Option<&(C, N)>) -> Result<(C, N), CalibrationError>,
) -> Result<(Saved, Vec<Probability>), CalibrationError> {
    let whole = fit(&held_out.whole(), None)?;
    let without = (0..held_out.fold_count())
        .map(|fold| Ok(fit(&held_out.without(fold), Some(&whole))?.0.into()))
        .collect::<Result<Vec<Saved>, CalibrationError>>()?;
    let forecasts = forecast_folds(held_out, without);
    Ok((whole.0.into(), forecasts))
}

/// What the calibrator that was fitted without its fold says of each example.
fn forecast_folds(held_out: &HeldOutClassScores, without: Vec<Saved>) -> Vec<Probability> {
    let class_count = held_out.class_count();
    let mut forecasts = vec![Probability::from_log_odds(0.0); held_out.scores().len()];
    parallel::for_each_row_mut(
        &mut forecasts,
        class_count,
        ClassBuffers::default,
        |buffer, example, out| {
            let calibrator = &without[held_out.fold_of(example)];
            calibrator.probabilities_into(held_out.row(example), buffer, out);
        },
    );
    forecasts
}

/// The log loss of each example, by its weight.
fn losses(held_out: &HeldOutClassScores, forecasts: &[Probability]) -> impl Iterator<Item = f64> {
    let labels = held_out.labels().iter().zip(held_out.weights());
    forecasts
        .chunks_exact(held_out.class_count())
        .zip(labels)
        .map(|(row, (&label, weight))| weight * row[label as usize].log_loss(true))
}

/// What calibrators of classes against the rest say of all classes together.
fn combined(classes: &[CalibratedClass], count: usize) -> Vec<Probability> {
    let mut forecasts = vec![Probability::from_log_odds(0.0); count * classes.len()];
    let (mut row, mut buffer) = (Vec::new(), Vec::new());
    for (example, out) in forecasts.chunks_exact_mut(classes.len()).enumerate() {
        row.clear();
        row.extend(classes.iter().map(|class| class.forecasts[example]));
        normalise_into(&row, out, &mut buffer);
    }
    forecasts
}

/// Rows of arranged examples in the order that the examples came in.
fn put_back(rows: &[Probability], order: &[u32], class_count: usize) -> Vec<Probability> {
    let mut back = rows.to_vec();
    for (row, &example) in rows.chunks_exact(class_count).zip(order) {
        back[example as usize * class_count..][..class_count].copy_from_slice(row);
    }
    back
}

/// The ways that count, as one.
fn pool_of(
    members: Vec<(MulticlassKind, Saved)>,
    weights: Vec<f64>,
) -> Result<Saved, CalibrationError> {
    let mut kept: Vec<PoolMember> = members
        .into_iter()
        .zip(weights)
        .filter(|(_, weight)| *weight > 0.0)
        .map(|((_, calibrator), weight)| PoolMember { weight, calibrator })
        .collect();
    if kept.len() == 1 {
        return Ok(kept.swap_remove(0).calibrator);
    }
    Ok(Saved::Pool(
        PoolCalibrator::new(kept).ok_or(CalibrationError::Overflow)?,
    ))
}

/// What a contest is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Whether a second pass may be of use.
    pub second_pass: bool,
    /// Whether no class may fall with its own score.
    pub rising: bool,
}

/// How the ways did.
pub struct Contest {
    pub calibrator: Saved,
    pub tried: Vec<Weighed>,
    pub failed: Vec<FailedWay>,
    pub forecasts: Vec<Probability>,
}

/// A second pass may, by a standard error, cost this share of the log loss.
const MOST_COST: f64 = 0.001;

impl Contest {
    /// Of a way that was asked for by name.
    fn of_one(
        kind: MulticlassKind,
        calibrator: Saved,
        log_loss: f64,
        forecasts: Vec<Probability>,
    ) -> Self {
        Self {
            calibrator,
            tried: vec![Weighed {
                kind,
                log_loss,
                weight: 1.0,
                curves: None,
            }],
            failed: Vec::new(),
            forecasts,
        }
    }

    /// With a second pass where that is wanted and helps, and no surer than the examples support.
    fn finished(self, held_out: &HeldOutClassScores, wanted: Wanted, total: f64) -> Self {
        let contest = if wanted.second_pass {
            self.with_second_pass(held_out, total)
        } else {
            self
        };
        let calibrator = contest.calibrator;
        Self {
            calibrator: calibrator.supported_by(held_out, &contest.forecasts),
            ..contest
        }
    }

    /// Lays one curve over what was said, where that is of use: a matrix over scores cannot bend, and says too much in some places
    /// and too little in others.
    ///
    /// The log loss must become less, and a standard error worse must not cost more than a thousandth of it. To ask for more would
    /// leave misfit that everybody sees: a probability of 0.7 that is off by 0.02 costs a thousandth of a nat. The gain is a little too good: the second curve is fitted to what first passes
    /// without each example's own fold say, and those have seen the labels of the fold that it forecasts.
    fn with_second_pass(mut self, held_out: &HeldOutClassScores, total: f64) -> Self {
        // What is said beyond what the examples support has nothing to tell: a few forecasts that are wrong by thirty nats would
        // make the curve level for all.
        let most = supported(total * (held_out.class_count() - 1) as f64);
        let said = self.forecasts.iter();
        let said: Vec<f64> = said.map(|&p| said_again(p).clamp(-most, most)).collect();
        let rows = ScoreRows {
            scores: &said,
            ..held_out.score_rows()
        };
        // What cannot be set right stays as it was said first.
        let Ok(fitted) = SharedCurve::default().cross_fit(&rows, true) else {
            return self;
        };
        let without: Vec<Saved> = fitted.without.into_iter().map(Saved::from).collect();
        let mut forecasts = self.forecasts.clone();
        let class_count = held_out.class_count();
        parallel::for_each_row_mut(
            &mut forecasts,
            class_count,
            ClassBuffers::default,
            |buffer, example, out| {
                let calibrator = &without[held_out.fold_of(example)];
                calibrator.probabilities_into(rows.row(example), buffer, out);
            },
        );
        let before: Vec<f64> = losses(held_out, &self.forecasts).collect();
        let after: Vec<f64> = losses(held_out, &forecasts).collect();
        if is_worth_it(&before, &after) {
            self.tried.push(Weighed {
                kind: MulticlassKind::SecondPass,
                log_loss: after.iter().sum::<f64>() / total,
                weight: 1.0,
                curves: None,
            });
            self.calibrator = Saved::TwoPasses(Box::new(TwoPasses {
                first: self.calibrator,
                second: fitted.whole,
            }));
            self.forecasts = forecasts;
        }
        self
    }
}

/// Whether losses became less, and would not be much more with a little less luck.
fn is_worth_it(before: &[f64], after: &[f64]) -> bool {
    let (gain, standard_error) = mean_gain(after, before);
    let most_cost = MOST_COST * before.iter().sum::<f64>() / before.len() as f64;
    gain > 0.0 && gain > standard_error - most_cost
}

/// A way, how well it forecast, and how much it counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weighed {
    /// The way.
    pub kind: MulticlassKind,
    /// Its cross-validated log loss, in nats per example.
    pub log_loss: f64,
    /// Its share in what is said; zero if it was left out.
    #[serde(default)]
    pub weight: f64,
    /// The method of each class's curve, where it has one by itself and that is not chosen class by class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curves: Option<CalibratorKind>,
}

/// A way that could not be fitted, and so was not weighed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedWay {
    /// The way.
    pub kind: MulticlassKind,
    /// Why, in a sentence without a full stop.
    pub reason: String,
}

impl FailedWay {
    fn new(kind: MulticlassKind, error: &CalibrationError) -> Self {
        Self {
            kind,
            reason: error.to_string(),
        }
    }
}

/// What was fitted, and how each way did.
#[derive(Debug, Clone, PartialEq)]
pub struct MulticlassChoice {
    /// The way that was asked for.
    pub chosen: MulticlassKind,
    /// The fitted calibrator.
    pub calibrator: Saved,
    /// All ways that were tried.
    pub tried: Vec<Weighed>,
    /// Those among them that could not be fitted.
    pub failed: Vec<FailedWay>,
    /// For each example, class after class, what a calibrator fitted to the other folds says of it.
    pub cross_validated: Vec<Probability>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_cannot_be_fitted_is_recorded_and_the_others_go_on() {
        let row = |row: usize| {
            (0..3).map(move |class| f64::from(u8::from(row % 3 == class)) + row as f64 / 90.0)
        };
        let scores = (0..60).flat_map(row).collect();
        let labels = (0..60)
            .map(|row| (row + u32::from(row % 7 == 0)) % 3)
            .collect();
        let held_out = HeldOutClassScores::assume(scores, 3, labels).unwrap();
        let wanted = Wanted {
            second_pass: false,
            rising: false,
        };
        let contest = MulticlassKind::Auto
            .choose_beside(held_out, wanted, |_| Err(CalibrationError::Overflow))
            .unwrap();
        let failed = FailedWay::new(MulticlassKind::OneVsRest, &CalibrationError::Overflow);
        assert_eq!(contest.failed, [failed]);
        let tried = contest.tried.iter().map(|way| way.kind);
        assert_eq!(tried.collect::<Vec<_>>(), [MulticlassKind::SharedCurve]);
    }

    #[test]
    fn a_gain_must_not_be_luck_that_could_cost_much() {
        let before = vec![1.0; 100];
        // By hand: half of the examples gain 0.3 and half lose 0.2: a mean of 0.05, and a standard error of 0.25/√100.
        let by_half = |gain: f64, cost: f64| {
            let after = (0..100).map(|i| if i % 2 == 0 { 1.0 - gain } else { 1.0 + cost });
            after.collect::<Vec<f64>>()
        };
        assert!(is_worth_it(&before, &by_half(0.3, 0.2)));
        assert!(!is_worth_it(&before, &by_half(0.3, 0.26))); // 0.02 with a standard error of 0.028
        assert!(is_worth_it(&before, &by_half(0.004, -0.004))); // small, but sure
        assert!(is_worth_it(&before, &by_half(0.010, 0.009))); // by hand: 0.0005 beside 0.00095 - 0.001
        assert!(!is_worth_it(&before, &before));
    }

    #[test]
    fn a_second_pass_is_no_way_to_ask_for() {
        let held_out = HeldOutClassScores::assume([1.0, 0.0].repeat(20), 2, [0, 1].repeat(10));
        let asked = MulticlassKind::SecondPass.choose(&held_out.unwrap(), CalibratorKind::Auto);
        assert!(
            matches!(asked, Err(CalibrationError::BadSetting { value, .. }) if value == "second_pass")
        );
    }
}
