//! Labels that do not exclude each other: one curve for all, weighed with each label's own.

use super::one_vs_rest::{CalibratedClass, CalibrationNote, is_rare};
use super::shared_curve::{CrossFitted, Labels, Link, ScoreRows, SharedCurve};
use crate::calibration::few_positives::few_positives;
use crate::calibration::held::ends_of;
use crate::calibration::share::{shift_to_total, wanted_total};
use crate::calibration::{
    BlendCalibrator, Calibrator, CalibratorKind, ChoiceRules, HeldOutScores, PiecesCalibrator,
    SavedCalibrator,
};
use crate::parallel;
use crate::{CalibrationError, Probability};

/// The own curve of a label with `n` examples of its rarer side weighs `n / (n + k)`; one of these `k` is taken.
const STRENGTHS: [f64; 9] = [0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 1e9];
/// A curve that would weigh less is left out.
const LEAST_WEIGHT: f64 = 0.05;
/// A curve that rises by less over all examples tells nothing apart.
const LEVEL: f64 = 1e-3;
/// Examples that the strength is chosen with; more would tell nothing.
const EXAMPLES: usize = 4000;
/// The most scores that the common curve is shown.
const MOST_SCORES: usize = 1 << 23;

/// Calibrates labels of which a document may have any number: each label's own curve is weighed with one curve for all
/// labels (with a slope and an intercept for each, as firmly held as the examples ask for).
///
/// # Formula
/// ```text
/// ln P_c/(1-P_c) = w_c own_c(s_c) + (1 - w_c) (g(s_c) + a_c (s_c - m) + b_c),     w_c = n_c / (n_c + k)
/// ```
/// `n_c` counts the examples of the label's rarer side. The strength `k` has the least log loss on held-out examples, all
/// forecast by curves that were fitted without their fold. A label with fewer positives than folds has no own curve, its
/// `a_c` is not below zero, and its probabilities are made to add up to its positives; where the curve for all is level, it gets
/// a line whose slope is drawn to what such slopes are like.
pub fn calibrate_labels(
    held_out: &[HeldOutScores],
    fold_count: usize,
) -> Result<Vec<CalibratedClass>, CalibrationError> {
    let folds = held_out
        .first()
        .ok_or(CalibrationError::NoExamples)?
        .folds();
    let common = common_curve(held_out, &folds)?;
    let labels: Vec<Label> = parallel::try_map_indices(held_out.len(), |label| {
        Label::fit(label, &held_out[label], &common, &folds, fold_count)
    })?;
    let losses = losses(&labels, &folds, common.without.len());
    let strength = STRENGTHS[best(&losses, None)];
    let of_fold: Vec<f64> = (0..common.without.len())
        .map(|fold| STRENGTHS[best(&losses, Some(fold))])
        .collect();
    Ok(parallel::map_owned(labels, |label| {
        label.finished(strength, &of_fold, &folds)
    }))
}

/// One curve for the scores of all labels, and the same without each fold.
fn common_curve(held_out: &[HeldOutScores], folds: &[u8]) -> Result<CrossFitted, CalibrationError> {
    let label_count = held_out.len();
    let every = (folds.len() * label_count).div_ceil(MOST_SCORES).max(1);
    let chosen: Vec<usize> = (0..folds.len()).step_by(every).collect();
    let mut scores = vec![0.0; chosen.len() * label_count];
    let mut labels = vec![Vec::new(); chosen.len()];
    for (label, of_label) in held_out.iter().enumerate() {
        for (place, &row) in chosen.iter().enumerate() {
            scores[place * label_count + label] = super::tame(of_label.scores()[row]);
            if of_label.labels()[row] {
                labels[place].push(label as u32);
            }
        }
    }
    let weights: Vec<f64> = chosen
        .iter()
        .map(|&row| held_out[0].weights()[row])
        .collect();
    let folds: Vec<u8> = chosen.iter().map(|&row| folds[row]).collect();
    let rows = ScoreRows {
        link: Link::Sigmoid,
        class_count: label_count,
        scores: &scores,
        labels: Labels::Several(&labels),
        weights: &weights,
        folds: &folds,
    };
    SharedCurve::default().cross_fit(&rows, true)
}

/// A label with both curves.
struct Label<'a> {
    held_out: &'a HeldOutScores,
    /// Its own curve, unless it has too few examples.
    own: Option<CalibratedClass>,
    common: PiecesCalibrator,
    /// Where the common curve comes from, for a label without one of its own.
    note: CalibrationNote,
    /// What the common curve says of each example when it is fitted without the example's fold.
    said: Vec<Probability>,
}

impl<'a> Label<'a> {
    fn fit(
        label: usize,
        held_out: &'a HeldOutScores,
        common: &CrossFitted,
        folds: &[u8],
        fold_count: usize,
    ) -> Result<Self, CalibrationError> {
        let rare = is_rare(held_out, fold_count);
        let own = if rare {
            None
        } else {
            let choice = CalibratorKind::Auto.choose_by(held_out, ChoiceRules::default())?;
            Some(CalibratedClass::own(choice))
        };
        let curve = |of: &super::SharedCurveCalibrator, left_out: Option<usize>| {
            if !rare {
                return (of.pieces(label), CalibrationNote::Common);
            }
            let kept = |example: usize| Some(usize::from(folds[example])) != left_out;
            of_rare(of.pieces(label), &held_out.filtered(kept))
        };
        let without: Vec<PiecesCalibrator> = common
            .without
            .iter()
            .enumerate()
            .map(|(fold, of)| curve(of, Some(fold)).0)
            .collect();
        let said = held_out.scores().iter().zip(folds);
        let said = said.map(|(&score, &fold)| without[usize::from(fold)].probability(score));
        let said = said.collect();
        let (common, note) = curve(&common.whole, None);
        Ok(Self {
            held_out,
            own,
            common,
            note,
            said,
        })
    }

    /// How much the own curve counts.
    fn weight(&self, strength: f64) -> f64 {
        let positives = self.held_out.positives();
        let rarer = positives.min(self.held_out.len() - positives) as f64;
        let weight = rarer / (rarer + strength);
        match weight {
            _ if self.own.is_none() || weight < LEAST_WEIGHT => 0.0,
            _ if weight > 1.0 - LEAST_WEIGHT => 1.0,
            _ => weight,
        }
    }

    fn finished(self, strength: f64, of_fold: &[f64], folds: &[u8]) -> CalibratedClass {
        let weight = self.weight(strength);
        let weights: Vec<f64> = of_fold.iter().map(|&of| self.weight(of)).collect();
        let Some(own) = self.own else {
            return CalibratedClass {
                calibrator: SavedCalibrator::Pieces(self.common),
                kind: CalibratorKind::None,
                note: self.note,
                tried: Vec::new(),
                forecasts: self.said,
            };
        };
        let each = own.forecasts.iter().zip(&self.said).zip(folds);
        let forecasts = each
            .map(|((own, common), &fold)| weighed(weights[usize::from(fold)], *own, *common))
            .collect();
        let (calibrator, note) = match weight {
            1.0 => (own.calibrator, CalibrationNote::Own),
            0.0 => (
                SavedCalibrator::Pieces(self.common),
                CalibrationNote::Common,
            ),
            _ => match BlendCalibrator::new(own.calibrator.clone(), self.common, weight) {
                Some(blend) => (
                    SavedCalibrator::Blend(Box::new(blend)),
                    CalibrationNote::Weighed,
                ),
                None => (own.calibrator, CalibrationNote::Own),
            },
        };
        CalibratedClass {
            calibrator,
            note,
            forecasts,
            ..own
        }
    }
}

/// A curve for all labels as one for a label with hardly any positives: its probabilities add up to them.
fn of_rare(
    pieces: PiecesCalibrator,
    held_out: &HeldOutScores,
) -> (PiecesCalibrator, CalibrationNote) {
    let (low, high) = ends_of(held_out.scores().iter().copied());
    if pieces.log_odds(high) - pieces.log_odds(low) < LEVEL {
        let (line, note) = few_positives(held_out);
        let at = |score: f64| line.slope * score + line.intercept;
        // Scores that are all alike leave no line.
        if let Some(line) = PiecesCalibrator::new(vec![low, high], vec![at(low), at(high)]) {
            return (line, note);
        }
    }
    let said = held_out
        .examples()
        .map(|(score, _, weight)| (pieces.log_odds(score), weight));
    let shift = shift_to_total(said, wanted_total(held_out));
    (pieces.shifted(shift), CalibrationNote::Pooled)
}

fn weighed(weight: f64, own: Probability, common: Probability) -> Probability {
    match weight {
        0.0 => common,
        1.0 => own,
        _ => {
            Probability::from_log_odds(weight * own.log_odds() + (1.0 - weight) * common.log_odds())
        }
    }
}

/// The held-out log loss of each fold's examples at each strength, over labels with own curves.
fn losses(labels: &[Label<'_>], folds: &[u8], fold_count: usize) -> Vec<[f64; STRENGTHS.len()]> {
    let every = folds.len().div_ceil(EXAMPLES).max(1);
    let of_labels: Vec<Vec<[f64; STRENGTHS.len()]>> = parallel::map(labels, |label| {
        let mut losses = vec![[0.0; STRENGTHS.len()]; fold_count];
        let Some(own) = &label.own else {
            return losses;
        };
        let weights = STRENGTHS.map(|strength| label.weight(strength));
        for row in (0..folds.len()).step_by(every) {
            let losses = &mut losses[usize::from(folds[row])];
            let (truth, counts) = (label.held_out.labels()[row], label.held_out.weights()[row]);
            for (loss, &weight) in losses.iter_mut().zip(&weights) {
                let forecast = weighed(weight, own.forecasts[row], label.said[row]);
                *loss += counts * forecast.log_loss(truth);
            }
        }
        losses
    });
    let mut total = vec![[0.0; STRENGTHS.len()]; fold_count];
    for of_label in of_labels {
        for (total, losses) in total.iter_mut().zip(of_label) {
            for (total, loss) in total.iter_mut().zip(losses) {
                *total += loss;
            }
        }
    }
    total
}

/// Which strength has the least loss over all folds, or all but one.
fn best(losses: &[[f64; STRENGTHS.len()]], left_out: Option<usize>) -> usize {
    let total = |strength: usize| -> f64 {
        let folds = losses.iter().enumerate();
        folds
            .filter(|(fold, _)| Some(*fold) != left_out)
            .map(|(_, losses)| losses[strength])
            .sum()
    };
    (0..STRENGTHS.len())
        .min_by(|&a, &b| total(a).total_cmp(&total(b)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::calibrate_each;
    use crate::numeric::{Random, sigmoid};

    /// Labels whose log-odds are one bent curve of the score and an intercept: some common, most of them rare.
    fn draw(seed: u64, rows: usize, labels: usize) -> Vec<HeldOutScores> {
        let mut random = Random::from_seed(seed);
        let folds: Vec<u8> = (0..rows).map(|row| (row % 5) as u8).collect();
        (0..labels)
            .map(|label| {
                let intercept = -2.0 - 4.0 * label as f64 / labels as f64;
                let scores: Vec<f64> = (0..rows).map(|_| 1.5 * random.normal()).collect();
                let truths = scores
                    .iter()
                    .map(|&s| {
                        let log_odds = 2.5 * s.min(1.0) + 0.3 * (s - 1.0).max(0.0) + intercept;
                        random.uniform() < sigmoid(log_odds)
                    })
                    .collect();
                let held_out = HeldOutScores::assume(scores, truths).unwrap();
                held_out.with_folds(folds.clone()).unwrap()
            })
            .collect()
    }

    fn loss(calibrated: &[CalibratedClass], test: &[HeldOutScores]) -> f64 {
        let labels = calibrated.iter().zip(test);
        let each = labels.flat_map(|(class, test)| {
            test.examples()
                .map(|(score, truth, _)| class.calibrator.probability(score).log_loss(truth))
        });
        each.sum::<f64>() / (test.len() * test[0].len()) as f64
    }

    #[test]
    fn labels_that_share_a_curve_help_each_other() {
        let (training, test) = (draw(1, 300, 24), draw(2, 4000, 24));
        let together = calibrate_labels(&training, 5).unwrap();
        let rules = ChoiceRules::default();
        let each = calibrate_each(&training, CalibratorKind::Auto, rules, 5).unwrap();
        let (together_loss, each_loss) = (loss(&together, &test), loss(&each, &test));
        assert!(
            together_loss < 0.985 * each_loss,
            "{together_loss} {each_loss}"
        );
        // What the held-out forecasts promise comes true, to a few per cent.
        let promised: f64 = together
            .iter()
            .zip(&training)
            .flat_map(|(class, held_out)| class.forecasts.iter().zip(held_out.labels()))
            .map(|(forecast, &truth)| forecast.log_loss(truth))
            .sum::<f64>()
            / (24.0 * 300.0);
        assert!(
            (promised / together_loss - 1.0).abs() < 0.15,
            "{promised} {together_loss}"
        );
    }

    /// Every other label's scores run the other way: a common curve is of less help, and counts for less, than where all
    /// run the same way.
    #[test]
    fn labels_that_have_nothing_in_common_keep_their_own() {
        let turned = |seed: u64| {
            let mut drawn = draw(seed, 3000, 8);
            for held_out in drawn.iter_mut().step_by(2) {
                let scores = held_out.scores().iter().map(|score| -score).collect();
                let turned = HeldOutScores::assume(scores, held_out.labels().to_vec()).unwrap();
                *held_out = turned.with_folds(held_out.folds()).unwrap();
            }
            drawn
        };
        let (training, test) = (turned(3), turned(13));
        let together = calibrate_labels(&training, 5).unwrap();
        let own = |class: &CalibratedClass| match class.note {
            CalibrationNote::Own => 1.0,
            _ => class.calibrator.own_weight().unwrap_or(0.0),
        };
        let alike = calibrate_labels(&draw(3, 3000, 8), 5).unwrap();
        for (class, alike) in together.iter().zip(&alike) {
            let (own, among_like) = (own(class), own(alike));
            assert!(own > 0.5 && own > among_like, "{own} {among_like}");
        }
        let rules = ChoiceRules::default();
        let each = calibrate_each(&training, CalibratorKind::Auto, rules, 5).unwrap();
        let (together, each) = (loss(&together, &test), loss(&each, &test));
        assert!(together < 1.01 * each, "{together} {each}");
    }

    /// The positives of rare labels have the least scores, those of common ones mostly too: neither the labels' own slopes nor a
    /// common curve rise.
    #[test]
    fn curves_of_rare_labels_rise_even_where_scores_run_backwards() {
        for seed in 0..4 {
            let mut random = Random::from_seed(seed);
            let folds: Vec<u8> = (0..120).map(|row| (row % 5) as u8).collect();
            let labels: Vec<HeldOutScores> = (0..10)
                .map(|label| {
                    let scores: Vec<f64> = (0..120)
                        .map(|row| f64::from(row) / 30.0 + 0.3 * random.normal())
                        .collect();
                    let positives = if label < 8 { 1 + label % 4 } else { 40 };
                    let truths = (0..120).map(|row| row < positives).collect();
                    let held_out = HeldOutScores::assume(scores, truths).unwrap();
                    held_out.with_folds(folds.clone()).unwrap()
                })
                .collect();
            for (class, held_out) in calibrate_labels(&labels, 5).unwrap().iter().zip(&labels) {
                if !is_rare(held_out, 5) {
                    continue;
                }
                let said = [-1.0, 0.5, 2.0, 3.5, 5.0].map(|s| class.calibrator.probability(s));
                assert!(
                    said.is_sorted() && said[1] < said[3],
                    "{:?} {said:?}",
                    class.note
                );
                let stated: f64 = held_out
                    .scores()
                    .iter()
                    .map(|&s| class.calibrator.probability(s).value())
                    .sum();
                assert!(
                    (stated - held_out.positives() as f64).abs() < 1e-5,
                    "{stated}"
                );
            }
        }
    }

    #[test]
    fn probabilities_of_rare_labels_add_up_to_their_positives() {
        let training = draw(4, 120, 40);
        let mut rare = 0;
        for (class, held_out) in calibrate_labels(&training, 5)
            .unwrap()
            .iter()
            .zip(&training)
        {
            if !is_rare(held_out, 5) || held_out.positives() == 0 {
                continue;
            }
            rare += 1;
            assert_eq!(class.note, CalibrationNote::Pooled);
            let scores = held_out.scores().iter();
            let stated: f64 = scores
                .map(|&s| class.calibrator.probability(s).value())
                .sum();
            assert!(
                (stated - held_out.positives() as f64).abs() < 1e-6,
                "{stated}"
            );
        }
        assert!(rare >= 5, "{rare}");
    }

    #[test]
    fn the_weight_of_the_own_curve_grows_with_the_examples() {
        let held_out = draw(5, 400, 3);
        let common = common_curve(&held_out, &held_out[0].folds()).unwrap();
        let label = Label::fit(0, &held_out[0], &common, &held_out[0].folds(), 5).unwrap();
        let rarer = held_out[0].positives() as f64;
        assert!((label.weight(rarer) - 0.5).abs() < 1e-12);
        assert_eq!((label.weight(0.0), label.weight(1e9)), (1.0, 0.0));
    }

    #[test]
    fn weighed_curves_come_back_from_a_file() {
        let training = draw(6, 600, 12);
        let calibrated = calibrate_labels(&training, 5).unwrap();
        assert!(
            calibrated
                .iter()
                .any(|class| class.note == CalibrationNote::Weighed)
        );
        for class in calibrated {
            let json = serde_json::to_string(&class.calibrator).unwrap();
            let back: SavedCalibrator = serde_json::from_str(&json).unwrap();
            assert_eq!(back, class.calibrator);
        }
        let heavy = r#"{"method":"blend","own":{"method":"identity"},"common":{"knots":[0,1],"values":[0,1]},"weight":2}"#;
        assert!(serde_json::from_str::<SavedCalibrator>(heavy).is_err());
        let falling = r#"{"method":"pieces","knots":[1,0],"values":[0,1]}"#;
        assert!(serde_json::from_str::<SavedCalibrator>(falling).is_err());
    }
}
