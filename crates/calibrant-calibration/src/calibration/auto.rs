//! Which calibrator? The one that forecasts held-out labels best.

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::{Calibrator, CalibratorKind, HeldOutScores, SavedCalibrator};
use crate::{CalibrationError, Probability, parallel};

impl CalibratorKind {
    /// Fits the method; `Auto` tries every candidate, and goes on to a later one only where it
    /// is significantly better. Either way the choice
    /// comes with forecasts for every example by curves that were fitted to the other folds.
    pub fn choose(self, held_out: &HeldOutScores) -> Result<Choice, CalibrationError> {
        self.choose_by(held_out, ChoiceRules::default())
    }

    /// As [`Self::choose`], with curves that keep to the rules. The curve holds where the examples end, see
    /// [`super::HeldCalibrator`]; one that `Auto` chose also where they support no more.
    pub fn choose_by(
        self,
        held_out: &HeldOutScores,
        rules: ChoiceRules,
    ) -> Result<Choice, CalibrationError> {
        // Sorted once, so that no method has to sort again and the order of examples cannot matter.
        let (sorted, order) = held_out.sorted();
        let mut choice = self.choose_sorted(&sorted, rules)?;
        choice.calibrator = self.hold(choice.calibrator, &sorted);
        let mut forecasts = choice.cross_validated.clone();
        for (&example, &forecast) in order.iter().zip(&choice.cross_validated) {
            forecasts[example as usize] = forecast;
        }
        choice.cross_validated = forecasts;
        Ok(choice)
    }

    /// The method that was chosen elsewhere, where this was asked for: fitted to these examples, and held where they end as
    /// [`Self::choose_by`] does.
    #[doc(hidden)] // For the crate `calibrant`, which chooses on some of very many examples.
    pub fn fit_chosen(
        self,
        chosen: Self,
        held_out: &HeldOutScores,
        rules: ChoiceRules,
    ) -> Result<SavedCalibrator, CalibrationError> {
        let fitted = chosen.fit_by(held_out, None, rules)?;
        Ok(self.hold(fitted, held_out))
    }

    fn hold(self, curve: SavedCalibrator, held_out: &HeldOutScores) -> SavedCalibrator {
        match self {
            Self::Auto => curve.held_where_supported(held_out),
            _ => curve.held(held_out),
        }
    }

    /// What `Auto` tries, in this order.
    ///
    /// The asymmetric Laplace has to lead by 2.5 nats in all: where it is the truth it leads by about
    /// three with a thousand positives and by more with more; on scores of real texts leads of up to
    /// two nats were luck that did not last.
    pub(crate) const CANDIDATES: &[Candidate] = &[
        Candidate::new(Self::Spline, 10, Lead::Nats(0.0)),
        Candidate::new(Self::Platt, 0, Lead::StandardErrors(2.0)),
        Candidate::new(Self::AsymmetricLaplace, 200, Lead::Nats(2.5)),
        Candidate::new(Self::ThreePiece, 200, Lead::StandardErrors(2.0)),
        Candidate::new(Self::CentredIsotonic, 100, Lead::StandardErrors(2.0)),
    ];

    fn choose_sorted(
        self,
        held_out: &HeldOutScores,
        rules: ChoiceRules,
    ) -> Result<Choice, CalibrationError> {
        let folds = held_out.folds();
        let positives = held_out.positives();
        let rarer = positives.min(held_out.len() - positives);
        let candidates: Vec<Candidate> = if self == Self::Auto {
            let allowed = |candidate: &&Candidate| rarer >= candidate.needed;
            Self::CANDIDATES.iter().filter(allowed).copied().collect()
        } else {
            vec![Candidate::new(self, 0, Lead::Nats(0.0))]
        };
        let many = candidates.len() > 1 && held_out.len() >= MANY;
        let ground = Ground::of_all(held_out, &folds).dropping(many);
        let digest = many.then(|| Digest::of(held_out, &folds)).flatten();
        let Some(digest) = digest else {
            return Ok(ground.hold(&candidates, rules)?.choice);
        };
        let verdict = Ground::of_digest(&digest).hold(&candidates, rules)?;
        let method = verdict.choice.chosen;
        let calibrator = method.fit_by(held_out, None, rules)?;
        let cross_validated = method.cross_validate(held_out, &folds, &calibrator, rules)?;
        let total: f64 = held_out.weights().iter().sum();
        let log_loss = ground.losses(&cross_validated).iter().sum::<f64>() / total;
        let digested = verdict.choice.log_loss_of(method);
        let is_near = digested.is_some_and(|digested| (digested - log_loss).abs() <= SAME);
        if !is_near || verdict.closest <= 2.0 * SAME {
            return Ok(ground.hold(&candidates, rules)?.choice);
        }
        Ok(Choice {
            calibrator,
            cross_validated,
            ..verdict.choice
        })
    }

    /// What curves fitted to the other folds say of each fold; they start from the whole's curve.
    fn cross_validate(
        self,
        held_out: &HeldOutScores,
        folds: &[u8],
        whole: &SavedCalibrator,
        rules: ChoiceRules,
    ) -> Result<Vec<Probability>, CalibrationError> {
        let fold_count = 1 + usize::from(folds.iter().copied().max().unwrap_or(0));
        let curves = parallel::try_map_indices(fold_count, |fold| {
            let rest = held_out.filtered(|example| usize::from(folds[example]) != fold);
            self.fit_by(&rest, Some(whole), rules)
        })?;
        let scores = held_out.scores();
        Ok(parallel::map_indices(scores.len(), |example| {
            curves[usize::from(folds[example])].probability(scores[example])
        }))
    }
}

/// Examples from which on candidates are compared on a [`Digest`] of them, and those that cannot win are dropped before they are
/// cross-validated. What is chosen is fitted to all examples.
const MANY: usize = 10_000;
/// Nats an example that the winner's loss on a digest may be off. Where it is more, or a verdict closer than twice this, all examples
/// decide. That is a check, no proof: the losses of the others are not worked out on all examples.
const SAME: f64 = 1e-6;

/// Where candidates are compared.
struct Ground<'a> {
    /// By rising score.
    held_out: &'a HeldOutScores,
    folds: &'a [u8],
    /// What each stands for; itself if absent.
    digest: Option<&'a Digest>,
    /// Whether those that cannot win are not cross-validated.
    drops: bool,
}

/// How a contest ended.
struct Verdict {
    choice: Choice,
    /// The least distance of a gain from the lead that was asked for, in nats per example.
    closest: f64,
}

impl<'a> Ground<'a> {
    fn of_all(held_out: &'a HeldOutScores, folds: &'a [u8]) -> Self {
        Self {
            held_out,
            folds,
            digest: None,
            drops: false,
        }
    }

    fn of_digest(digest: &'a Digest) -> Self {
        Self {
            held_out: &digest.held_out,
            folds: digest.held_out.given_folds().unwrap_or_default(),
            digest: Some(digest),
            drops: true,
        }
    }

    fn dropping(self, drops: bool) -> Self {
        Self { drops, ..self }
    }

    /// Tries each candidate in turn.
    fn hold(
        &self,
        candidates: &[Candidate],
        rules: ChoiceRules,
    ) -> Result<Verdict, CalibrationError> {
        let held_out = self.held_out;
        let total: f64 = held_out.weights().iter().sum();
        let mut contestants: Vec<Contestant> = Vec::new();
        let mut tried: Vec<Tried> = Vec::new();
        let mut chosen = 0;
        let mut straight = None;
        let mut failure = None;
        let mut closest = f64::INFINITY;
        for &Candidate { method, lead, .. } in candidates {
            let calibrator = match method.fit_by(held_out, straight.as_ref(), rules) {
                Ok(calibrator) => calibrator,
                Err(error) => {
                    failure = Some(error);
                    continue;
                }
            };
            if method == CalibratorKind::Platt {
                straight = Some(calibrator.clone());
            }
            if let Some(best) = contestants.get(chosen).filter(|_| self.drops) {
                let short = lead.excess(&self.gain_where_fitted(&calibrator, best));
                if short <= 0.0 {
                    closest = closest.min(-short);
                    tried.push(Tried {
                        method,
                        log_loss: None,
                    });
                    continue;
                }
            }
            let said = match method.cross_validate(held_out, self.folds, &calibrator, rules) {
                Ok(said) => said,
                Err(error) => {
                    failure = Some(error);
                    continue;
                }
            };
            let losses = self.losses(&said);
            if let Some(best) = contestants.get(chosen) {
                let excess = lead.excess(&self.gain(&losses, &best.losses));
                closest = closest.min(excess.abs());
                if excess > 0.0 {
                    chosen = contestants.len();
                }
            }
            tried.push(Tried {
                method,
                log_loss: Some(losses.iter().sum::<f64>() / total),
            });
            contestants.push(Contestant {
                method,
                calibrator,
                cross_validated: said,
                losses,
            });
        }
        if contestants.is_empty() {
            return Err(failure.unwrap_or(CalibrationError::NoExamples));
        }
        let winner = contestants.swap_remove(chosen);
        let choice = Choice {
            margin: self.least_margin(&winner, &contestants, total),
            chosen: winner.method,
            calibrator: winner.calibrator,
            tried,
            cross_validated: winner.cross_validated,
        };
        Ok(Verdict { choice, closest })
    }

    /// How far the winner is ahead of the one that comes nearest to it.
    fn least_margin(
        &self,
        winner: &Contestant,
        others: &[Contestant],
        total: f64,
    ) -> Option<Margin> {
        let margins = others.iter().map(|other| {
            let gain = self.gain(&winner.losses, &other.losses);
            Margin {
                over: other.method,
                log_loss: gain.mean * gain.count / total,
                standard_error: gain.standard_error * gain.count / total,
            }
        });
        margins.min_by(|a, b| a.log_loss.total_cmp(&b.log_loss))
    }

    /// How far a curve is ahead of the best on the very examples that it was fitted to: on others it will hardly do better, so that it need
    /// not be cross-validated where this is not enough. Among few examples it is all the same, for people to see.
    fn gain_where_fitted(&self, calibrator: &SavedCalibrator, best: &Contestant) -> Gain {
        let said = parallel::map(self.held_out.scores(), |&s| calibrator.probability(s));
        self.gain(&self.losses(&said), &best.losses)
    }

    /// The log loss of each example, by its weight.
    fn losses(&self, said: &[Probability]) -> Vec<f64> {
        let (labels, weights) = (self.held_out.labels(), self.held_out.weights());
        parallel::map_indices(said.len(), |i| weights[i] * said[i].log_loss(labels[i]))
    }

    /// How much less losses are than others.
    fn gain(&self, losses: &[f64], others: &[f64]) -> Gain {
        let Some(digest) = self.digest else {
            let (mean, standard_error) = mean_gain(losses, others);
            return Gain {
                mean,
                standard_error,
                count: losses.len() as f64,
            };
        };
        // Examples that are taken together have the same gain for a weight of one, g: Σ (w g - mean)² is g² Σw² - 2 mean g Σw + count mean².
        let count: f64 = digest.counts.iter().sum();
        let gains = || others.iter().zip(losses).map(|(other, loss)| other - loss);
        let mean = gains().sum::<f64>() / count;
        let squares = gains()
            .zip(self.held_out.weights())
            .zip(digest.squares.iter().zip(&digest.counts))
            .map(|((gain, weight), (square, count))| {
                (gain / weight).powi(2) * square - 2.0 * mean * gain + count * mean * mean
            });
        Gain {
            mean,
            standard_error: squares.sum::<f64>().max(0.0).sqrt() / count,
            count,
        }
    }
}

/// A difference of losses, an example.
struct Gain {
    mean: f64,
    standard_error: f64,
    /// How many examples there are.
    count: f64,
}

/// A method that `Auto` tries.
///
/// The smooth curve comes first: its penalty makes it a straight line where the examples ask for
/// nothing more, so that it is the safest on scores of every kind. With fewer than ten examples of
/// the rarer label even that is too much, and Platt's curve is all there is. Two densities have few
/// parameters, none of them fitted to the labels' order: they take the lead where all examples
/// together speak for them by 2.5 nats. Other curves must be better by two standard errors. Densities and three
/// pieces are asked only where each label has two hundred examples, and one that follows the scores freely where it
/// has a hundred: smaller folds cannot tell luck from shape. (Of 300 film reviews three pieces once led by two
/// standard errors, and had a test log loss of 0.486 where the smooth curve had 0.458.)
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// The method.
    pub method: CalibratorKind,
    /// How many examples of the rarer label it asks for.
    pub needed: usize,
    /// How much less its cross-validated log loss must be than that of the best before it.
    pub lead: Lead,
}

/// How much better is enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lead {
    /// So many nats over all examples together.
    Nats(f64),
    /// So many standard errors of the difference.
    StandardErrors(f64),
}

impl Lead {
    /// How much more the gain is than enough, in nats per example.
    fn excess(self, gain: &Gain) -> f64 {
        gain.mean
            - match self {
                Self::Nats(nats) => nats / gain.count,
                Self::StandardErrors(errors) => errors * gain.standard_error,
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
    losses: Vec<f64>,
}

/// How much less the losses are than others, in the mean, and the standard error of that.
pub(super) fn mean_gain(losses: &[f64], others: &[f64]) -> (f64, f64) {
    let count = losses.len() as f64;
    let gains = || others.iter().zip(losses).map(|(other, loss)| other - loss);
    let mean = gains().sum::<f64>() / count;
    let squares = gains().map(|gain| (gain - mean).powi(2)).sum::<f64>();
    (mean, squares.sqrt() / count)
}

/// What a choice must keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
    /// Its cross-validated log loss, in nats per example. Absent where it was dropped before: among many examples, because it was not significantly
    /// ahead even on those that it was fitted to.
    pub log_loss: Option<f64>,
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
    /// How far ahead it is, where another was cross-validated.
    pub margin: Option<Margin>,
    /// For each example, what a curve fitted to the other folds says of it.
    pub cross_validated: Vec<Probability>,
}

impl Choice {
    /// The cross-validated log loss of a candidate, unless it was dropped or not tried.
    pub fn log_loss_of(&self, method: CalibratorKind) -> Option<f64> {
        let found = self.tried.iter().find(|tried| tried.method == method);
        found.and_then(|tried| tried.log_loss)
    }
}

/// How far what was chosen is ahead of the best of the others; behind, where a simpler method was
/// kept because the gain of another was within its error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Margin {
    /// The best of the others.
    pub over: CalibratorKind,
    /// How much less the cross-validated log loss is, in nats per example.
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
        let loss = |method| choice.log_loss_of(method).unwrap();
        let margin = choice.margin.unwrap();
        let next = loss(margin.over);
        assert!(loss(CalibratorKind::AsymmetricLaplace) < next);
        assert!((margin.log_loss - (next - loss(choice.chosen))).abs() < 1e-12);
    }

    /// Log-odds that bend, weights, and some scores that stand far from the others.
    fn bent(count: usize, seed: u64, heaviest: f64) -> HeldOutScores {
        let mut random = Random::from_seed(seed);
        let scores: Vec<f64> = (0..count)
            .map(|_| 0.1 * random.normal() * if random.below(50) == 0 { 4.0 } else { 1.0 } - 0.9)
            .collect();
        let labels = scores
            .iter()
            .map(|s| random.uniform() < sigmoid(36.0 * (s + 0.9).min(0.03) - 2.0))
            .collect();
        // As a document of many copies has it.
        let weights = (0..count).map(|_| match random.below(50) {
            0 => heaviest,
            _ => 1.0,
        });
        let weights = weights.collect();
        HeldOutScores::assume_weighted(scores, labels, weights).unwrap()
    }

    #[test]
    fn a_digest_compares_candidates_as_all_scores_do() {
        let rules = ChoiceRules::default();
        for (seed, heaviest) in [(1, 1.0), (2, 50.0), (3, 1e-6)] {
            let (sorted, _) = bent(150_000, seed, heaviest).sorted();
            let folds = sorted.folds();
            let digest = Digest::of(&sorted, &folds).unwrap();
            let on_all = Ground::of_all(&sorted, &folds);
            let on_digest = Ground::of_digest(&digest);
            // Of two curves that are given, gain and standard error are the same, whatever the weights.
            let curves = [CalibratorKind::Spline, CalibratorKind::Platt]
                .map(|method| method.fit_by(&sorted, None, rules).unwrap());
            let [of_all, of_digest] = [&on_all, &on_digest].map(|ground| {
                let [curve, line] = curves.each_ref().map(|curve| {
                    let scores = ground.held_out.scores().iter();
                    let said: Vec<_> = scores.map(|&s| curve.probability(s)).collect();
                    ground.losses(&said)
                });
                ground.gain(&curve, &line)
            });
            assert_eq!(of_all.count, of_digest.count);
            assert!((of_all.mean - of_digest.mean).abs() < SAME);
            let ratio = of_digest.standard_error / of_all.standard_error;
            assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
            let exact = on_all
                .hold(CalibratorKind::CANDIDATES, rules)
                .unwrap()
                .choice;
            let quick = on_digest.hold(CalibratorKind::CANDIDATES, rules).unwrap();
            let chosen = exact.chosen;
            assert_eq!(quick.choice.chosen, chosen);
            assert!(quick.closest > 2.0 * SAME, "{}", quick.closest);
            for exact in &exact.tried {
                if let Some(quick) = quick.choice.log_loss_of(exact.method) {
                    let off = quick - exact.log_loss.unwrap();
                    // What is chosen is near enough not to be asked again. (The smooth curve cuts its own groups, which great weights make
                    // coarser: there all scores decide below.) Freer curves, which lead nothing here, gain a little from cells.
                    let asked = exact.method == chosen && heaviest <= 1.0;
                    let near = if asked { SAME } else { 1e-4 };
                    assert!(off.abs() < near, "{heaviest} {quick} {exact:?}");
                }
            }
            assert!(quick.choice.tried.iter().any(|t| t.log_loss.is_none()));
            let choice = CalibratorKind::Auto.choose(&sorted).unwrap();
            assert_eq!(choice.chosen, exact.chosen);
            // What serves is fitted to all scores.
            let served = choice.calibrator.curve();
            for score in [-1.2, -1.0, -0.9, -0.8, -0.6] {
                let [a, b] = [served, &exact.calibrator].map(|c| c.probability(score).log_odds());
                assert!((a - b).abs() < 1e-5, "{a} {b}");
            }
            assert_eq!(choice.cross_validated.len(), sorted.len());
        }
    }

    /// Stated probabilities of two digits, as votes or people give them.
    #[test]
    fn ties_are_compared_as_all_scores_are() {
        let mut random = Random::from_seed(11);
        let stated: Vec<f64> = (0..60_000)
            .map(|_| random.below(19) as f64 / 20.0 + 0.05)
            .collect();
        // Right for every other one only: no smooth curve follows.
        let right = |p: f64| {
            if ((20.0 * p).round() as u32).is_multiple_of(2) {
                p
            } else {
                p * p
            }
        };
        let labels = stated
            .iter()
            .map(|&p| random.uniform() < right(p))
            .collect();
        let (sorted, _) = HeldOutScores::assume(stated, labels).unwrap().sorted();
        let folds = sorted.folds();
        assert!(Digest::of(&sorted, &folds).is_some());
        let rules = ChoiceRules::default();
        let exact = Ground::of_all(&sorted, &folds)
            .hold(CalibratorKind::CANDIDATES, rules)
            .unwrap()
            .choice;
        let choice = CalibratorKind::Auto.choose(&sorted).unwrap();
        assert_eq!(choice.chosen, exact.chosen);
        for exact in &exact.tried {
            let quick = choice.log_loss_of(exact.method);
            let off = quick.map_or(0.0, |quick| (quick - exact.log_loss.unwrap()).abs());
            assert!(off < SAME, "{quick:?} {exact:?}");
        }
    }

    /// One score: every curve is the same level line, and the lead of one over another is nothing.
    #[test]
    fn a_tie_of_candidates_is_decided_on_all_scores() {
        let scores = vec![1.5; 20_000];
        let labels = (0..20_000).map(|i| i % 11 == 0).collect();
        let (sorted, _) = HeldOutScores::assume(scores, labels).unwrap().sorted();
        let folds = sorted.folds();
        let digest = Digest::of(&sorted, &folds).unwrap();
        let rules = ChoiceRules::default();
        let verdict = Ground::of_digest(&digest)
            .hold(CalibratorKind::CANDIDATES, rules)
            .unwrap();
        assert!(verdict.closest <= 2.0 * SAME, "{}", verdict.closest);
        let exact = Ground::of_all(&sorted, &folds)
            .dropping(true)
            .hold(CalibratorKind::CANDIDATES, rules)
            .unwrap()
            .choice;
        let choice = CalibratorKind::Auto.choose(&sorted).unwrap();
        assert_eq!((choice.chosen, &choice.tried), (exact.chosen, &exact.tried));
    }

    #[test]
    fn a_candidate_is_dropped_only_where_it_cannot_lead() {
        let (sorted, _) = bent(60_000, 4, 1.0).sorted();
        let choice = CalibratorKind::Auto.choose(&sorted).unwrap();
        // Platt's straight line is far behind where log-odds bend; what follows the scores freely looks best where it was fitted.
        assert_eq!(choice.log_loss_of(CalibratorKind::Platt), None);
        let isotonic = choice.log_loss_of(CalibratorKind::CentredIsotonic);
        assert!(isotonic.is_some() && choice.log_loss_of(choice.chosen).is_some());
        assert!(
            choice
                .margin
                .is_some_and(|m| choice.log_loss_of(m.over).is_some())
        );
        let (few, _) = bent(MANY - 1, 4, 1.0).sorted();
        let choice = CalibratorKind::Auto.choose(&few).unwrap();
        assert!(choice.tried.iter().all(|tried| tried.log_loss.is_some()));
    }

    #[test]
    fn every_name_is_found_again_and_rules_are_kept() {
        for kind in CalibratorKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let scores: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
        let labels = (0..100).map(|i| i % 7 < i / 15).collect();
        let held_out = HeldOutScores::assume(scores, labels).unwrap();
        let rules = ChoiceRules { monotone: true };
        for kind in CalibratorKind::ALL {
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
