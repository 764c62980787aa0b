//! Which calibrator? The one that forecasts held-out labels best.

use serde::{Deserialize, Serialize};

use super::digest::{Digest, LossParts};
use super::{Calibrator, CalibratorKind, HeldOutScores, SavedCalibrator};
use crate::{FitError, Probability};

impl CalibratorKind {
    /// Fits the method; `Auto` tries every [`Candidate`], and goes on to a later one only where it
    /// is surely better. Either way the choice
    /// comes with forecasts for every example by curves that were fitted to the other folds.
    pub fn choose(self, held_out: &HeldOutScores) -> Result<Choice, FitError> {
        self.choose_by(held_out, ChoiceRules::default())
    }

    /// As [`Self::choose`], with curves that keep to the rules.
    pub fn choose_by(
        self,
        held_out: &HeldOutScores,
        rules: ChoiceRules,
    ) -> Result<Choice, FitError> {
        // Sorted once, so that no method has to sort again and the order of examples cannot matter.
        let (sorted, order) = held_out.sorted();
        let mut choice = self.choose_sorted(&sorted, rules)?;
        let mut forecasts = choice.cross_validated.clone();
        for (&example, &forecast) in order.iter().zip(&choice.cross_validated) {
            forecasts[example as usize] = forecast;
        }
        choice.cross_validated = forecasts;
        Ok(choice)
    }

    /// What `Auto` tries, in this order.
    ///
    /// The asymmetric Laplace has to lead by 2.5 nats in all: where it is the truth it leads by about
    /// three with a thousand positives and by more with more; on scores of real texts leads of up to
    /// two nats were luck that did not last.
    pub const CANDIDATES: &[Candidate] = &[
        Candidate::new(Self::Spline, 10, Lead::Nats(0.0)),
        Candidate::new(Self::Platt, 0, Lead::StandardErrors(2.0)),
        Candidate::new(Self::AsymmetricLaplace, 20, Lead::Nats(2.5)),
        Candidate::new(Self::ThreePiece, 20, Lead::StandardErrors(2.0)),
        Candidate::new(Self::CentredIsotonic, 100, Lead::StandardErrors(2.0)),
    ];

    fn choose_sorted(
        self,
        held_out: &HeldOutScores,
        rules: ChoiceRules,
    ) -> Result<Choice, FitError> {
        let folds = held_out.folds();
        if self != Self::Auto {
            let calibrator = self.fit_by(held_out, None, rules)?;
            let cross_validated = self.cross_validate(held_out, &folds, &calibrator, rules)?;
            let losses = losses(held_out, &cross_validated);
            let total: f64 = held_out.weights().iter().sum();
            let log_loss = LossParts::of(held_out).sum(&losses) / total;
            return Ok(Choice {
                chosen: self,
                calibrator,
                tried: vec![Tried {
                    method: self,
                    log_loss,
                }],
                margin: None,
                cross_validated,
            });
        }
        let positives = held_out.positives();
        let rarer = positives.min(held_out.len() - positives);
        let allowed = |candidate: &&Candidate| rarer >= candidate.needed;
        let candidates = Self::CANDIDATES.iter().filter(allowed);
        // Candidates are compared on few examples; what wins is fitted to all.
        match Digest::of(held_out, &folds) {
            None => {
                let parts = LossParts::of(held_out);
                Ok(Contest::run(candidates, held_out, &folds, &parts, rules)?.finish(&parts))
            }
            Some(Digest { examples, parts }) => {
                let few_folds = examples.folds();
                let contest = Contest::run(candidates, &examples, &few_folds, &parts, rules)?;
                let straight = contest.straight.clone();
                let choice = contest.finish(&parts);
                let calibrator = choice.chosen.fit_by(held_out, None, rules)?;
                let start = choice.chosen.start_of_folds(straight.as_ref(), &calibrator);
                let forecasts = choice
                    .chosen
                    .cross_validate(held_out, &folds, start, rules)?;
                Ok(Choice {
                    calibrator,
                    cross_validated: forecasts,
                    ..choice
                })
            }
        }
    }

    /// Where the fits without a fold start: a spline bends Platt's curve, others begin with the whole's.
    fn start_of_folds<'a>(
        self,
        straight: Option<&'a SavedCalibrator>,
        whole: &'a SavedCalibrator,
    ) -> &'a SavedCalibrator {
        match (self, straight) {
            (Self::Spline, Some(straight)) => straight,
            _ => whole,
        }
    }

    /// What curves fitted to the other folds say of each fold; they start from one that is near, as the
    /// whole's is.
    fn cross_validate(
        self,
        held_out: &HeldOutScores,
        folds: &[u8],
        near: &SavedCalibrator,
        rules: ChoiceRules,
    ) -> Result<Vec<Probability>, FitError> {
        let mut forecasts = vec![Probability::from_log_odds(0.0); held_out.len()];
        for fold in 0..=folds.iter().copied().max().unwrap_or(0) {
            let rest = held_out.filtered(|example| folds[example] != fold);
            let calibrator = self.fit_by(&rest, Some(near), rules)?;
            for (example, &score) in held_out.scores().iter().enumerate() {
                if folds[example] == fold {
                    forecasts[example] = calibrator.probability(score);
                }
            }
        }
        Ok(forecasts)
    }
}

/// A method that `Auto` tries.
///
/// The smooth curve comes first: its penalty makes it a straight line where the examples ask for
/// nothing more, so that it is the safest on scores of every kind. With fewer than ten examples of
/// the rarer label even that is too much, and Platt's curve is all there is. Two densities have few
/// parameters, none of them fitted to the labels' order: they take the lead where all examples
/// together speak for them by a nat. Other curves must be better by two standard errors; one that
/// follows the scores freely is asked only where each label has a hundred examples, since folds that
/// are as small cannot tell luck from shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The method.
    pub method: CalibratorKind,
    /// How many examples of the rarer label it asks for.
    pub needed: usize,
    /// How much less its cross-validated log loss must be than that of the best before it.
    pub lead: Lead,
}

/// How much better is enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lead {
    /// So many nats over all examples together.
    Nats(f64),
    /// So many standard errors of the difference.
    StandardErrors(f64),
}

impl Lead {
    fn is_reached_by(self, parts: &LossParts, losses: &[f64], others: &[f64]) -> bool {
        let (gain, standard_error) = parts.mean_gain(losses, others);
        match self {
            Self::Nats(nats) => gain * parts.count() > nats,
            Self::StandardErrors(errors) => gain > errors * standard_error,
        }
    }
}

impl Candidate {
    const fn new(method: CalibratorKind, needed: usize, lead: Lead) -> Self {
        Self {
            method,
            needed,
            lead,
        }
    }
}

/// A candidate and what curves of its kind, fitted to the other folds, say of each example.
struct Contestant {
    method: CalibratorKind,
    calibrator: SavedCalibrator,
    cross_validated: Vec<Probability>,
    /// What each forecast loses, for a weight of one.
    losses: Vec<f64>,
}

/// Candidates and which of them leads.
struct Contest {
    contestants: Vec<Contestant>,
    chosen: usize,
    /// Platt's curve of all examples, from which others can be bent.
    straight: Option<SavedCalibrator>,
}

impl Contest {
    /// Fits one candidate after the other, to all examples and without each fold.
    fn run<'a>(
        candidates: impl Iterator<Item = &'a Candidate>,
        held_out: &HeldOutScores,
        folds: &[u8],
        parts: &LossParts,
        rules: ChoiceRules,
    ) -> Result<Self, FitError> {
        let straight = CalibratorKind::Platt.fit_by(held_out, None, rules).ok();
        let mut contest = Self {
            contestants: Vec::new(),
            chosen: 0,
            straight,
        };
        let mut failure = None;
        for &Candidate { method, lead, .. } in candidates {
            match Contestant::test(method, held_out, folds, contest.straight.as_ref(), rules) {
                Ok(tested) => contest.enter(tested, lead, parts),
                Err(error) => failure = Some(error),
            }
        }
        if contest.contestants.is_empty() {
            return Err(failure.unwrap_or(FitError::NoDocuments));
        }
        Ok(contest)
    }

    fn enter(&mut self, tested: Contestant, lead: Lead, parts: &LossParts) {
        let best = self.contestants.get(self.chosen);
        if best.is_some_and(|best| lead.is_reached_by(parts, &tested.losses, &best.losses)) {
            self.chosen = self.contestants.len();
        }
        self.contestants.push(tested);
    }

    fn finish(mut self, parts: &LossParts) -> Choice {
        let chosen = self.chosen;
        let total = parts.total();
        let tried: Vec<Tried> = self
            .contestants
            .iter()
            .map(|contestant| Tried {
                method: contestant.method,
                log_loss: parts.sum(&contestant.losses) / total,
            })
            .collect();
        let next = (0..tried.len())
            .filter(|&other| other != chosen)
            .min_by(|&a, &b| tried[a].log_loss.total_cmp(&tried[b].log_loss));
        let margin = next.map(|next| {
            let [own, other] = [chosen, next].map(|place| &self.contestants[place].losses);
            let (gain, standard_error) = parts.mean_gain(own, other);
            Margin {
                over: tried[next].method,
                log_loss: gain * parts.count() / total,
                standard_error: standard_error * parts.count() / total,
            }
        });
        let winner = self.contestants.swap_remove(chosen);
        Choice {
            chosen: winner.method,
            calibrator: winner.calibrator,
            tried,
            margin,
            cross_validated: winner.cross_validated,
        }
    }
}

impl Contestant {
    fn test(
        method: CalibratorKind,
        held_out: &HeldOutScores,
        folds: &[u8],
        straight: Option<&SavedCalibrator>,
        rules: ChoiceRules,
    ) -> Result<Self, FitError> {
        let calibrator = match (method, straight) {
            (CalibratorKind::Platt, Some(straight)) => straight.clone(),
            (CalibratorKind::Spline, _) => method.fit_by(held_out, None, rules)?,
            _ => method.fit_by(held_out, straight, rules)?,
        };
        let start = method.start_of_folds(straight, &calibrator);
        let cross_validated = method.cross_validate(held_out, folds, start, rules)?;
        let losses = losses(held_out, &cross_validated);
        Ok(Self {
            method,
            calibrator,
            cross_validated,
            losses,
        })
    }
}

/// What each forecast loses, for a weight of one.
fn losses(held_out: &HeldOutScores, forecasts: &[Probability]) -> Vec<f64> {
    let labels = held_out.labels().iter();
    let lost = labels.zip(forecasts);
    lost.map(|(&label, forecast)| forecast.log_loss(label))
        .collect()
}

/// What a choice must keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoiceRules {
    /// Probabilities never fall as the score grows: a curve that would is made to rise.
    pub monotone: bool,
}

/// A method and how well it forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// The method.
    pub method: CalibratorKind,
    /// Its cross-validated log loss, in nats an example.
    pub log_loss: f64,
}

/// What was chosen, and against what.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The method.
    pub chosen: CalibratorKind,
    /// The fitted calibrator.
    pub calibrator: SavedCalibrator,
    /// All candidates with their losses.
    pub tried: Vec<Tried>,
    /// How far ahead it is, where there was another.
    pub margin: Option<Margin>,
    /// For each example, what a curve fitted to the other folds says of it.
    pub cross_validated: Vec<Probability>,
}

/// How far what was chosen is ahead of the best of the others; behind, where a simpler method was
/// kept because the gain of another was within its error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Margin {
    /// The best of the others.
    pub over: CalibratorKind,
    /// How much less the cross-validated log loss is, in nats an example.
    pub log_loss: f64,
    /// The standard error of that difference.
    pub standard_error: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, sigmoid};

    fn exponential(random: &mut Random, rate: f64) -> f64 {
        -(1.0 - random.uniform()).ln() / rate
    }

    #[test]
    fn bent_log_odds_choose_the_densities() {
        let mut random = Random::from_seed(3);
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for i in 0..20_000 {
            let positive = i % 10 == 0;
            let (mode, left, right) = if positive {
                (0.5, 1.5, 1.0)
            } else {
                (-1.0, 1.0, 3.0)
            };
            let to_the_left = random.uniform() < right / (left + right);
            scores.push(if to_the_left {
                mode - exponential(&mut random, left)
            } else {
                mode + exponential(&mut random, right)
            });
            labels.push(positive);
        }
        let choice = CalibratorKind::Auto
            .choose(&HeldOutScores::assume(scores, labels).unwrap())
            .unwrap();
        assert_eq!(choice.chosen, CalibratorKind::AsymmetricLaplace);
        let loss = |method| {
            let found = choice.tried.iter().find(|tried| tried.method == method);
            found.unwrap().log_loss
        };
        assert!(loss(CalibratorKind::AsymmetricLaplace) < loss(CalibratorKind::Platt));
        let margin = choice.margin.unwrap();
        let next = loss(margin.over);
        assert!((margin.log_loss - (next - loss(choice.chosen))).abs() < 1e-12);
    }

    #[test]
    fn what_is_chosen_on_few_examples_is_fitted_to_all() {
        let mut random = Random::from_seed(6);
        let scores: Vec<f64> = (0..30_000).map(|_| 0.4 * random.normal() - 1.0).collect();
        let labels: Vec<bool> = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(8.0 * s + 3.0 + 2.0 * s * s))
            .collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        let choice = CalibratorKind::Auto.choose(&held_out).unwrap();
        let named = choice.chosen.choose(&held_out).unwrap();
        assert_eq!(choice.calibrator, named.calibrator);
        let loss = |choice: &Choice| {
            let parts = LossParts::of(&held_out);
            parts.sum(&losses(&held_out, &choice.cross_validated)) / parts.total()
        };
        let (found, exact) = (loss(&choice), loss(&named));
        assert!((found - exact).abs() < 1e-6, "{found} {exact}");
        // The candidates' own figures are those of few examples.
        for tried in &choice.tried {
            let exact = tried.method.choose(&held_out).unwrap().tried[0].log_loss;
            assert!((tried.log_loss - exact).abs() < 3e-5, "{tried:?} {exact}");
        }
    }

    #[test]
    fn every_name_is_found_again_and_rules_are_kept() {
        for kind in CalibratorKind::all() {
            assert_eq!(CalibratorKind::from_name(kind.name()), Some(kind));
        }
        let scores: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
        let labels = (0..100).map(|i| i % 7 < i / 15).collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        let rules = ChoiceRules { monotone: true };
        for kind in CalibratorKind::all() {
            let choice = kind.choose_by(&held_out, rules).unwrap();
            let said: Vec<f64> = (-50..150)
                .map(|i| {
                    choice
                        .calibrator
                        .probability(f64::from(i) / 10.0)
                        .log_odds()
                })
                .collect();
            assert!(said.is_sorted(), "{}", kind.name());
        }
    }

    #[test]
    fn straight_log_odds_give_a_curve_that_is_nearly_straight() {
        let mut random = Random::from_seed(4);
        let scores: Vec<f64> = (0..4000).map(|_| 6.0 * random.uniform() - 3.0).collect();
        let labels = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(1.5 * s - 0.5))
            .collect();
        let choice = CalibratorKind::Auto
            .choose(&HeldOutScores::assume(scores, labels).unwrap())
            .unwrap();
        for s in [-2.0, 0.0, 1.0, 2.5] {
            let said = choice.calibrator.probability(s).log_odds();
            assert!((said - (1.5 * s - 0.5)).abs() < 0.3, "{said} at {s}");
        }
    }
}
