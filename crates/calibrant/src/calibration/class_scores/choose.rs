//! Which way for many classes? The one that forecasts held-out labels best.

use serde::{Deserialize, Serialize};

use super::held_out::Part;
use super::one_vs_rest::{CalibratedClass, calibrate_each, normalise_into};
use super::{
    ClassRoom, Dirichlet, HeldOutClassScores, OneVsRestCalibrator, PairwiseCoupling,
    SavedMulticlassCalibrator as Saved, Temperature, VectorScaling,
};
use crate::calibration::CalibratorKind;
use crate::calibration::auto::surely_better;
use crate::{FitError, Probability};

/// A way from the scores of many classes to probabilities that sum to one, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MulticlassKind {
    /// The way with the least cross-validated log loss; a simpler one unless another is surely better.
    Auto,
    /// A calibrator for each class against the rest, brought to a sum of one.
    #[default]
    OneVsRest,
    /// One factor for all scores.
    Temperature,
    /// A slope and an intercept for each class.
    Vector,
    /// A matrix over log-probabilities.
    Dirichlet,
    /// A curve for each pair of classes.
    Coupling,
}

impl MulticlassKind {
    /// The ways that [`MulticlassKind::Auto`] chooses from, the simplest first.
    pub const CANDIDATES: [Self; 5] = [
        Self::Temperature,
        Self::OneVsRest,
        Self::Vector,
        Self::Coupling,
        Self::Dirichlet,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::OneVsRest => "one_vs_rest",
            Self::Temperature => "temperature",
            Self::Vector => "vector",
            Self::Dirichlet => "dirichlet",
            Self::Coupling => "coupling",
        }
    }

    /// Fits the way; `Auto` tries every candidate, the simplest first, and goes on to a later one only
    /// where its cross-validated log loss is less by more than the standard error of the difference.
    /// `binary` is the calibrator of each class where the way is one against the rest.
    pub fn choose(
        self,
        held_out: &HeldOutClassScores,
        binary: CalibratorKind,
    ) -> Result<MulticlassChoice, FitError> {
        let (arranged, order) = held_out.arranged();
        let mut classes = Vec::new();
        let contest = self.hold_contest(&arranged, || {
            let each: Vec<_> = (0..arranged.class_count())
                .map(|class| arranged.of_class(class))
                .collect();
            classes = calibrate_each(&each, binary, arranged.fold_count())?;
            Ok(combined(&classes, arranged.len()))
        })?;
        let calibrator = match contest.calibrator {
            Some(calibrator) => calibrator,
            None => {
                let calibrators = classes.into_iter().map(|class| class.calibrator);
                let calibrator = OneVsRestCalibrator::new(calibrators.collect());
                Saved::OneVsRest(calibrator.ok_or(FitError::NoDocuments)?)
            }
        };
        Ok(MulticlassChoice {
            chosen: contest.chosen,
            calibrator,
            tried: contest.tried,
            cross_validated: put_back(&contest.forecasts, &order, held_out.class_count()),
        })
    }

    /// As [`Self::choose`], where the caller has calibrated the classes one against the rest and brings
    /// what curves fitted to the other folds say. `None` in place of a calibrator stands for that.
    pub(crate) fn choose_beside(
        self,
        held_out: &HeldOutClassScores,
        one_vs_rest: impl FnOnce() -> Result<Vec<Probability>, FitError>,
    ) -> Result<Contest, FitError> {
        let class_count = held_out.class_count();
        let (arranged, order) = held_out.arranged();
        let contest = self.hold_contest(&arranged, || {
            let forecasts = one_vs_rest()?;
            let rows = order.iter().flat_map(|&example| {
                let first = example as usize * class_count;
                forecasts[first..first + class_count].iter().copied()
            });
            Ok(rows.collect())
        })?;
        Ok(Contest {
            forecasts: put_back(&contest.forecasts, &order, class_count),
            ..contest
        })
    }

    fn hold_contest(
        self,
        held_out: &HeldOutClassScores,
        one_vs_rest: impl FnOnce() -> Result<Vec<Probability>, FitError>,
    ) -> Result<Contest, FitError> {
        if held_out.is_empty() {
            return Err(FitError::NoDocuments);
        }
        let candidates: Vec<Self> = if self == Self::Auto {
            let sensible = |kind: &Self| kind.suits(held_out);
            Self::CANDIDATES.into_iter().filter(sensible).collect()
        } else {
            vec![self]
        };
        let total: f64 = held_out.weights().iter().sum();
        let mut one_vs_rest = Some(one_vs_rest);
        let mut tried = Vec::new();
        let mut best: Option<(Contest, Vec<f64>)> = None;
        let mut failure = None;
        for kind in candidates {
            let tested = match (kind, one_vs_rest.take_if(|_| kind == Self::OneVsRest)) {
                (_, Some(one_vs_rest)) => one_vs_rest().map(|forecasts| (None, forecasts)),
                _ => kind.cross_validate(held_out),
            };
            let (calibrator, forecasts) = match tested {
                Ok(tested) => tested,
                Err(error) => {
                    failure = Some(error);
                    continue;
                }
            };
            let losses = losses(held_out, &forecasts);
            tried.push((kind, losses.iter().sum::<f64>() / total));
            if best
                .as_ref()
                .is_none_or(|(_, others)| surely_better(&losses, others))
            {
                let contest = Contest {
                    chosen: kind,
                    calibrator,
                    tried: Vec::new(),
                    forecasts,
                };
                best = Some((contest, losses));
            }
        }
        match (best, failure) {
            (Some((contest, _)), _) => Ok(Contest { tried, ..contest }),
            (None, Some(error)) => Err(error),
            (None, None) => Err(FitError::NoDocuments),
        }
    }

    /// Whether there are enough examples for the way to be worth a try.
    fn suits(self, held_out: &HeldOutClassScores) -> bool {
        let classes = held_out.class_count();
        match self {
            Self::Dirichlet => held_out.len() / 10 >= classes * classes,
            Self::Coupling => classes <= 100,
            _ => true,
        }
    }

    /// Fits a joint way to all examples, and to all but each fold to forecast that.
    fn cross_validate(
        self,
        held_out: &HeldOutClassScores,
    ) -> Result<(Option<Saved>, Vec<Probability>), FitError> {
        let (whole, forecasts) = match self {
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
            // One against the rest is no joint way and does not come here.
            Self::Temperature | Self::Auto | Self::OneVsRest => {
                cross_validate(held_out, |part, _: Option<&(_, ())>| {
                    Ok((Temperature.fit_part(part)?, ()))
                })
            }
        }?;
        Ok((Some(whole), forecasts))
    }
}

/// `fit` gives a calibrator and whatever else helps to fit one that is near.
fn cross_validate<C: Into<Saved>, N>(
    held_out: &HeldOutClassScores,
    fit: impl Fn(&Part<'_>, Option<&(C, N)>) -> Result<(C, N), FitError>,
) -> Result<(Saved, Vec<Probability>), FitError> {
    let whole = fit(&held_out.whole(), None)?;
    let class_count = held_out.class_count();
    let mut forecasts = vec![Probability::from_log_odds(0.0); held_out.scores().len()];
    let mut room = ClassRoom::default();
    for fold in 0..held_out.fold_count() {
        let calibrator: Saved = fit(&held_out.without(fold), Some(&whole))?.0.into();
        for (example, out) in forecasts.chunks_exact_mut(class_count).enumerate() {
            if held_out.fold_of(example) == fold {
                calibrator.probabilities_into(held_out.row(example), &mut room, out);
            }
        }
    }
    Ok((whole.0.into(), forecasts))
}

/// The loss of each example by the forecast of its class.
fn losses(held_out: &HeldOutClassScores, forecasts: &[Probability]) -> Vec<f64> {
    let labels = held_out.labels().iter().zip(held_out.weights());
    forecasts
        .chunks_exact(held_out.class_count())
        .zip(labels)
        .map(|(row, (&label, weight))| weight * row[label as usize].log_loss(true))
        .collect()
}

/// What calibrators of classes against the rest say of all classes together.
fn combined(classes: &[CalibratedClass], count: usize) -> Vec<Probability> {
    let mut forecasts = vec![Probability::from_log_odds(0.0); count * classes.len()];
    let (mut row, mut room) = (Vec::new(), Vec::new());
    for (example, out) in forecasts.chunks_exact_mut(classes.len()).enumerate() {
        row.clear();
        row.extend(classes.iter().map(|class| class.forecasts[example]));
        normalise_into(&row, out, &mut room);
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

/// How the ways did.
pub(crate) struct Contest {
    pub(crate) chosen: MulticlassKind,
    /// `None` where one against the rest was chosen.
    pub(crate) calibrator: Option<Saved>,
    pub(crate) tried: Vec<(MulticlassKind, f64)>,
    pub(crate) forecasts: Vec<Probability>,
}

/// What was chosen, and against what.
#[derive(Debug, Clone, PartialEq)]
pub struct MulticlassChoice {
    /// The way.
    pub chosen: MulticlassKind,
    /// The fitted calibrator.
    pub calibrator: Saved,
    /// All candidates with their cross-validated log losses, in nats an example.
    pub tried: Vec<(MulticlassKind, f64)>,
    /// For each example, class after class, what a calibrator fitted to the other folds says of it.
    pub cross_validated: Vec<Probability>,
}
