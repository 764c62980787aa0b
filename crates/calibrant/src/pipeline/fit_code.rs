//! The binary problems of an output code, and the decoding of their answers.

use rayon::prelude::*;

use super::fit_scorer::{ScorerFit, Training};
use super::{ClassWeights, Classifier, FitSettings};
use crate::features::{FittedWeighting, SparseMatrix, TermCounts, Vocabulary};
use crate::multiclass::{CodeMatrix, CodeSettings, Decode, Decoder, DecoderFit};
use crate::problem::{ClassFactors, ClassLabels};
use crate::progress::Stage;
use crate::scorers::{LinearClassScorer, OutputCodeScorer, SavedScorer};
use crate::solvers::Convergence;
use crate::{FitError, Task};

/// The binary scorers of all columns with what cross-fitting gave.
struct BinaryFit {
    base: Vec<SavedScorer>,
    weighting: FittedWeighting,
    vocabulary: Option<Vocabulary>,
    out_of_fold: Vec<Vec<f64>>,
    convergence: Vec<Convergence>,
}

impl Training<'_> {
    /// Learns the code's binary problems from all rows and without each fold. What decoding has to
    /// know of the columns comes from their held-out scores, without the row's own fold for the
    /// scores that calibration sees.
    pub(super) fn fit_coded(
        &self,
        settings: &CodeSettings,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<ScorerFit, FitError> {
        if self.labels.task != Task::SingleLabel {
            return Err(FitError::BadSetting {
                setting: "the labels",
                requirement: "one a document with an output code",
                value: "several".into(),
            });
        }
        if settings.decode == Decode::LeastSquares
            && self.labels.class_count > Decoder::MOST_LEAST_SQUARES
        {
            return Err(FitError::BadSetting {
                setting: "the number of classes",
                requirement: "at most 1024 for least squares (decode by margin)",
                value: self.labels.class_count.to_string(),
            });
        }
        let code =
            settings
                .design
                .build(self.labels.class_count, settings.length, self.settings.seed)?;
        // A centre has no side to be against unless the other side has one too.
        let at_once =
            code.is_dense() && !matches!(self.settings.classifier, Classifier::Rocchio(_));
        let fit = if at_once {
            self.fit_columns_at_once(&code, counts, vocabulary)?
        } else {
            self.fit_columns_one_by_one(&code, counts, vocabulary)?
        };
        let decoding = DecoderFit {
            code: &code,
            settings,
            labels: self.labels,
            weights: self.weights,
        };
        let (decoder, out_of_fold) = decoding.cross_fit(&fit.out_of_fold, self.folds)?;
        let scorer = OutputCodeScorer::new(decoder, fit.base).ok_or(FitError::Overflow)?;
        // A class's score hangs on all columns: it has ended no better than the worst of them.
        let worst = fit
            .convergence
            .iter()
            .max_by(|a, b| a.relative_gap.total_cmp(&b.relative_gap));
        let convergence = worst.map_or_else(Vec::new, |&worst| vec![worst; code.class_count()]);
        Ok(ScorerFit {
            scorer: SavedScorer::OutputCodes(Box::new(scorer)),
            weighting: fit.weighting,
            vocabulary: fit.vocabulary,
            out_of_fold,
            convergence,
        })
    }

    /// The side of a column on which each row stands.
    fn sides<'a>(&'a self, code: &'a CodeMatrix, column: usize) -> impl Iterator<Item = i8> + 'a {
        self.labels.of_row.iter().map(move |classes| {
            classes
                .first()
                .map_or(0, |&class| code.at(class as usize, column))
        })
    }

    /// How much the sides of a column's problem count.
    fn factors(&self, code: &CodeMatrix, column: usize) -> (f64, f64) {
        if self.settings.class_weights != ClassWeights::Balanced {
            return (1.0, 1.0);
        }
        let (mut positive, mut negative) = (0.0, 0.0);
        for (side, weight) in self.sides(code, column).zip(self.weights) {
            match side {
                1 => positive += weight,
                -1 => negative += weight,
                _ => {}
            }
        }
        let total = positive + negative;
        let share = |side: f64| {
            if side > 0.0 {
                total / (2.0 * side)
            } else {
                1.0
            }
        };
        (share(positive), share(negative))
    }

    /// Where every class takes part in every column, columns are labels that a row has or has not.
    fn fit_columns_at_once(
        &self,
        code: &CodeMatrix,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<BinaryFit, FitError> {
        let columns_of: Vec<Vec<u32>> = (0..code.class_count())
            .map(|class| {
                let row = code.row(class).iter().zip(0u32..);
                row.filter(|&(&side, _)| side == 1)
                    .map(|(_, t)| t)
                    .collect()
            })
            .collect();
        let of_row = self.labels.of_row.iter().map(|classes| {
            let class = classes.first().map(|&class| class as usize);
            class.map_or(&[][..], |class| &columns_of[class])
        });
        let labels = ClassLabels {
            task: Task::MultiLabel,
            class_count: code.length(),
            of_row: of_row.collect(),
        };
        let factors = ClassFactors {
            by_output: (0..code.length())
                .map(|column| self.factors(code, column))
                .collect(),
        };
        let settings = FitSettings {
            code: None,
            ..self.settings.clone()
        };
        let columns = Training {
            settings: &settings,
            labels: &labels,
            factors: &factors,
            finer: None,
            ..*self
        };
        let fit = columns.fit(counts, vocabulary)?;
        Ok(BinaryFit {
            base: vec![fit.scorer],
            weighting: fit.weighting,
            vocabulary: fit.vocabulary,
            out_of_fold: fit.out_of_fold,
            convergence: fit.convergence,
        })
    }

    /// Each column as a problem of two classes, learned from the rows that take part; all rows are
    /// scored, as new ones will be.
    fn fit_columns_one_by_one(
        &self,
        code: &CodeMatrix,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<BinaryFit, FitError> {
        if self.settings.selection.is_some() {
            return Err(FitError::BadSetting {
                setting: "the selection of terms",
                requirement: "absent with Rocchio under a code, or with a code that leaves classes out (all_pairs, random_sparse)",
                value: "given".into(),
            });
        }
        let source = self.rows_of(counts);
        let (weighting, whole) = source.whole();
        let mut out_of_fold = vec![vec![0.0; counts.row_count()]; code.length()];
        let mut base = Vec::new();
        let mut convergence = Vec::new();
        let steps = code.length() * (1 + self.folds.count());
        let stage = Stage::begin(self.progress, "fitting", Some(steps as u64));
        for fold in self.parts() {
            let (members, held_out) = self.split(fold);
            let without = fold.map(|fold| source.without(fold));
            let rows = without.as_ref().unwrap_or(&whole);
            let fits = (0..code.length())
                .into_par_iter()
                .map(|column| self.fit_column(code, column, rows, &members, &held_out))
                .collect::<Result<Vec<_>, FitError>>()?;
            for (column, fit) in fits.into_iter().enumerate() {
                stage.step(1)?;
                let Some((scorer, ends, scores)) = fit else {
                    continue;
                };
                for (&row, score) in held_out.iter().zip(scores) {
                    out_of_fold[column][row as usize] = score;
                }
                if fold.is_none() {
                    base.push(scorer);
                    convergence.extend(ends);
                }
            }
        }
        drop(stage);
        let linear: Option<Vec<&LinearClassScorer>> =
            base.iter().map(SavedScorer::as_linear).collect();
        if let Some(beside) = linear.and_then(|scorers| LinearClassScorer::beside(&scorers)) {
            base = vec![beside.into()];
        }
        Ok(BinaryFit {
            base,
            weighting,
            vocabulary: vocabulary.cloned(),
            out_of_fold,
            convergence,
        })
    }

    /// One column's scorer with its scores of the held-out rows; `None` where a fold holds all rows
    /// that take part.
    #[allow(clippy::type_complexity)]
    fn fit_column(
        &self,
        code: &CodeMatrix,
        column: usize,
        rows: &SparseMatrix,
        members: &[u32],
        held_out: &[u32],
    ) -> Result<Option<(SavedScorer, Vec<Convergence>, Vec<f64>)>, FitError> {
        let sides: Vec<i8> = self.sides(code, column).collect();
        let members: Vec<u32> = members
            .iter()
            .copied()
            .filter(|&row| sides[row as usize] != 0)
            .collect();
        if members.is_empty() {
            return Ok(None);
        }
        let labels = ClassLabels {
            task: Task::SingleLabel,
            class_count: 2,
            of_row: sides.iter().map(|&side| [u32::from(side == 1)]).collect(),
        };
        let factors = ClassFactors {
            by_output: vec![self.factors(code, column)],
        };
        let (scorer, ends) = self.fit_members(rows, &labels, &factors, &members)?;
        let score = |&row: &u32| scorer.output_scores(rows.row(row as usize))[0];
        let scores = held_out.iter().map(score).collect();
        Ok(Some((scorer, ends, scores)))
    }
}
