//! What held-out binary scores say of a code's columns.

use super::decoder::{DecodeBuffers, Decoder};
use super::settings::{CodeSettings, ColumnWeights};
use crate::FitError;
use crate::calibration::{CalibrationMethod, HeldOutScores, Platt, PlattCalibrator};
use crate::multiclass::CodeMatrix;
use crate::parallel;
use crate::problem::{ClassLabels, Folds};

/// Learns how far each column of a code can be trusted, from binary scores of rows that the binary
/// scorers had not learned from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecoderFit<'a> {
    /// The code.
    pub code: &'a CodeMatrix,
    /// How to decode.
    pub settings: &'a CodeSettings,
    /// The class of each row (the first, if it has several).
    pub labels: &'a ClassLabels,
    /// How much each row counts.
    pub weights: &'a [f64],
}

/// Columns that answer no better than chance keep this weight.
const LEAST_WEIGHT: f64 = 1e-3;

impl DecoderFit<'_> {
    /// From out-of-fold binary scores, one list a column: the decoder of all rows, and for each
    /// class the score of each row by a decoder that was fitted without the row's fold.
    pub(crate) fn cross_fit(
        &self,
        binary: &[Vec<f64>],
        folds: &Folds,
    ) -> Result<(Decoder, Vec<Vec<f64>>), FitError> {
        let rows = self.weights.len();
        let mut scores = vec![vec![0.0; rows]; self.code.class_count()];
        for fold in 0..folds.count() {
            let decoder = self.fit(binary, |row| folds.of(row) != fold)?;
            let held_out: Vec<usize> = (0..rows).filter(|&row| folds.of(row) == fold).collect();
            let decoded = parallel::map_indices_with(
                held_out.len(),
                || (DecodeBuffers::default(), Vec::new()),
                |(buffer, answers), place| {
                    let row = held_out[place];
                    answers.clear();
                    answers.extend(binary.iter().map(|column| column[row]));
                    let mut scores = vec![0.0; self.code.class_count()];
                    decoder.scores_into(answers, buffer, &mut scores);
                    scores
                },
            );
            for (row, decoded) in held_out.into_iter().zip(decoded) {
                for (column, score) in scores.iter_mut().zip(decoded) {
                    column[row] = score;
                }
            }
        }
        Ok((self.fit(binary, |_| true)?, scores))
    }

    /// From held-out binary scores of the rows that take part.
    pub(crate) fn fit(
        &self,
        binary: &[Vec<f64>],
        takes_part: impl Fn(usize) -> bool + Sync,
    ) -> Result<Decoder, FitError> {
        let rows = self.weights.len();
        let mismatch = |left_name, left| FitError::LengthMismatch {
            left_name,
            left,
            right_name: "weights",
            right: rows,
        };
        if binary.len() != self.code.length() {
            return Err(FitError::LengthMismatch {
                left_name: "binary scores",
                left: binary.len(),
                right_name: "columns of the code",
                right: self.code.length(),
            });
        }
        if let Some(column) = binary.iter().find(|column| column.len() != rows) {
            return Err(mismatch("binary scores", column.len()));
        }
        if self.labels.of_row.len() != rows {
            return Err(mismatch("labels", self.labels.of_row.len()));
        }
        let columns = parallel::try_map_indices(self.code.length(), |column| {
            self.fit_column(column, &binary[column], &takes_part)
        })?;
        let (weights, curves): (Vec<f64>, Vec<Option<PlattCalibrator>>) =
            columns.into_iter().unzip();
        let curves = curves.into_iter().flatten().collect();
        let total: f64 = weights.iter().sum();
        let weights = weights.iter().map(|weight| weight / total).collect();
        Decoder::new(self.code.clone(), *self.settings, weights, curves).ok_or(FitError::Overflow)
    }

    /// The weight of a column and, where needed, its curve.
    fn fit_column(
        &self,
        column: usize,
        scores: &[f64],
        takes_part: &impl Fn(usize) -> bool,
    ) -> Result<(f64, Option<PlattCalibrator>), FitError> {
        let sides = self.code.column(column);
        let (mut kept, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (row, classes) in self.labels.of_row.iter().enumerate() {
            let side = classes
                .first()
                .and_then(|&class| sides.get(class as usize))
                .copied()
                .unwrap_or(0);
            if side != 0 && takes_part(row) {
                kept.push(scores[row]);
                labels.push(side == 1);
                weights.push(self.weights[row]);
            }
        }
        let curve = if self.settings.needs_curves() {
            Some(curve(kept.clone(), labels.clone(), weights.clone())?)
        } else {
            None
        };
        let weight = match self.settings.weights {
            ColumnWeights::Equal => 1.0,
            ColumnWeights::Accuracy => accuracy_weight(&kept, &labels, &weights, curve.as_ref()),
        };
        Ok((weight, curve))
    }
}

/// `½ ln((1-e)/e)` with half an example added to both sides, so that it stays finite.
fn accuracy_weight(
    scores: &[f64],
    labels: &[bool],
    weights: &[f64],
    curve: Option<&PlattCalibrator>,
) -> f64 {
    let (mut right, mut wrong) = (0.0, 0.0);
    let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    for ((&score, &label), &weight) in scores.iter().zip(labels).zip(weights) {
        let log_odds = curve.map_or(score, |curve| curve.slope * score + curve.intercept);
        if (log_odds > 0.0) == label {
            right += weight / largest;
        } else {
            wrong += weight / largest;
        }
    }
    (0.5 * ((right + 0.5) / (wrong + 0.5)).ln()).max(LEAST_WEIGHT)
}

/// Platt's curve, or a level where one side has no examples.
fn curve(
    scores: Vec<f64>,
    labels: Vec<bool>,
    weights: Vec<f64>,
) -> Result<PlattCalibrator, FitError> {
    let held_out = HeldOutScores::assume_weighted(scores, labels, weights)?;
    if held_out.positives() == 0 || held_out.positives() == held_out.len() {
        return Ok(PlattCalibrator {
            slope: 0.0,
            intercept: held_out.ln_prior_odds(),
        });
    }
    Ok(Platt.fit(&held_out)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;
    use crate::multiclass::{BinaryOutput, CodeDesign, Decode};
    use crate::numeric::Random;

    fn labels(of_row: Vec<Vec<u32>>) -> ClassLabels {
        ClassLabels {
            task: Task::SingleLabel,
            class_count: 3,
            of_row: of_row.into(),
        }
    }

    #[test] // Column 0 answers 9 of 10 rightly: ½ ln(9.5 / 1.5); column 1 is right always, column 2 half.
    fn columns_are_weighted_by_their_held_out_errors() {
        let code = CodeDesign::OneVsAll.build(3, None, 0).unwrap();
        let settings = CodeSettings {
            output: BinaryOutput::Sign,
            weights: ColumnWeights::Accuracy,
            ..CodeSettings::default()
        };
        let labels = labels((0..10).map(|row| vec![row % 3]).collect());
        let right = |class: u32, row: u32| if row % 3 == class { 1.0 } else { -1.0 };
        let binary = vec![
            (0..10)
                .map(|row| if row == 4 { 1.0 } else { right(0, row) })
                .collect(),
            (0..10).map(|row| right(1, row)).collect(),
            (0..10)
                .map(|row| if row < 5 { 1.0 } else { -1.0 } * right(2, row))
                .collect(),
        ];
        let fit = DecoderFit {
            code: &code,
            settings: &settings,
            labels: &labels,
            weights: &[2.0; 10],
        };
        let decoder = fit.fit(&binary, |_| true).unwrap();
        let expected = [0.5 * (9.5f64 / 1.5).ln(), 0.5 * 21f64.ln(), LEAST_WEIGHT];
        let total: f64 = expected.iter().sum();
        for (found, expected) in decoder.weights().iter().zip(expected) {
            assert!((found - expected / total).abs() < 1e-12);
        }
    }

    #[test]
    fn a_class_that_only_the_fold_has_gets_a_level_and_scores_stay_finite() {
        let code = CodeDesign::AllPairs.build(3, None, 0).unwrap();
        let of_row: Vec<Vec<u32>> = (0..30)
            .map(|row| vec![if row == 0 { 2 } else { row % 2 }])
            .collect();
        let labels = labels(of_row.clone());
        let mut random = Random::from_seed(1);
        let binary: Vec<Vec<f64>> = (0..3)
            .map(|_| (0..30).map(|_| random.normal()).collect())
            .collect();
        let keys: Vec<u128> = (0..30).collect();
        let folds = Folds::stratified(&keys, &labels.of_row, 3, 3, 0).unwrap();
        for output in BinaryOutput::ALL {
            let settings = CodeSettings {
                output,
                ..CodeSettings::default()
            };
            let fit = DecoderFit {
                code: &code,
                settings: &settings,
                labels: &labels,
                weights: &[1.0; 30],
            };
            let (_, scores) = fit.cross_fit(&binary, &folds).unwrap();
            assert!(scores.iter().flatten().all(|score| score.is_finite()));
        }
    }

    #[test]
    fn a_row_is_decoded_without_its_own_fold() {
        let code = CodeDesign::OneVsAll.build(3, None, 0).unwrap();
        let of_row: Vec<Vec<u32>> = (0..60).map(|row| vec![row % 3]).collect();
        let labels = labels(of_row.clone());
        let keys: Vec<u128> = (0..60).collect();
        let folds = Folds::stratified(&keys, &labels.of_row, 3, 3, 0).unwrap();
        let mut random = Random::from_seed(2);
        let binary: Vec<Vec<f64>> = (0..3)
            .map(|_| (0..60).map(|_| random.normal()).collect())
            .collect();
        for decode in Decode::ALL {
            let settings = CodeSettings {
                decode,
                ..CodeSettings::default()
            };
            let fit = DecoderFit {
                code: &code,
                settings: &settings,
                labels: &labels,
                weights: &[1.0; 60],
            };
            let (_, scores) = fit.cross_fit(&binary, &folds).unwrap();
            // Other labels in the row's own fold change nothing.
            let fold = folds.of(7);
            let mut other = labels.clone();
            let rows = (0..60u32).map(|row| match folds.of(row as usize) == fold {
                true => [(row + 1) % 3],
                false => [row % 3],
            });
            other.of_row = rows.collect();
            let fit = DecoderFit {
                labels: &other,
                ..fit
            };
            let (_, changed) = fit.cross_fit(&binary, &folds).unwrap();
            assert!((0..3).all(|class| scores[class][7] == changed[class][7]));
            assert!(
                (0..3).any(|class| (0..60).any(|row| scores[class][row] != changed[class][row]))
            );
        }
    }
}
