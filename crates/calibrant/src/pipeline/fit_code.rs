//! The binary problems of an output code, and the decoding of their answers.

use super::fit_scorer::{TermFit, Training};
use super::{ClassWeights, FitSettings};
use crate::features::{SparseMatrix, TermCounts, Vocabulary};
use crate::multiclass::{CodeMatrix, CodeSettings, Decode, Decoder, DecoderFit};
use crate::parallel;
use crate::problem::{ClassFactors, ClassLabels, Targets};
use crate::progress::{Stage, check};
use crate::scorers::{CrossFit, Fitted, LinearClassScorer, OutputCodeScorer, SavedScorer};
use crate::{FitError, Task};

/// The binary scorers of all columns: one with an output per column, or one per column.
type ColumnFit = TermFit<Vec<SavedScorer>>;

impl Training<'_> {
    /// Learns the code's binary problems from all rows and without each fold. What decoding has to
    /// know of the columns comes from their held-out scores, without the row's own fold for the
    /// scores that calibration sees.
    pub(super) fn fit_coded(
        &self,
        settings: &CodeSettings,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<TermFit, FitError> {
        if self.targets.labels.task != Task::SingleLabel {
            return Err(FitError::BadSetting {
                setting: "the labels",
                requirement: "one per document with an output code",
                value: "several".into(),
            });
        }
        if settings.decode == Decode::LeastSquares
            && self.targets.labels.class_count > Decoder::MOST_LEAST_SQUARES
        {
            return Err(FitError::BadSetting {
                setting: "the number of classes",
                requirement: "at most 1024 for least squares (decode by margin)",
                value: self.targets.labels.class_count.to_string(),
            });
        }
        let code = settings.design.build(
            self.targets.labels.class_count,
            settings.length,
            self.settings.seed,
        )?;
        let at_once = code.is_dense() && !self.learner().needs_both_sides();
        let columns = if at_once {
            self.fit_columns_at_once(&code, counts, vocabulary)?
        } else {
            self.fit_columns_one_by_one(&code, counts, vocabulary)?
        };
        let decoding = DecoderFit {
            code: &code,
            settings,
            labels: self.targets.labels,
            weights: self.targets.weights,
        };
        let CrossFit {
            scorer: base,
            out_of_fold,
            convergence,
        } = columns.fit;
        let (decoder, out_of_fold) = decoding.cross_fit(&out_of_fold, self.folds)?;
        let scorer = OutputCodeScorer::new(decoder, base).ok_or(FitError::Overflow)?;
        // A class's score hangs on all columns: it has ended no better than the worst of them.
        let worst = convergence
            .iter()
            .max_by(|a, b| a.relative_gap.total_cmp(&b.relative_gap));
        let convergence = worst.map_or_else(Vec::new, |&worst| vec![worst; code.class_count()]);
        Ok(TermFit {
            fit: CrossFit {
                scorer: scorer.into(),
                out_of_fold,
                convergence,
            },
            weighting: columns.weighting,
            vocabulary: columns.vocabulary,
        })
    }

    /// The side of a column on which each row stands.
    fn sides<'a>(&'a self, code: &'a CodeMatrix, column: usize) -> impl Iterator<Item = i8> + 'a {
        self.targets.labels.of_row.iter().map(move |classes| {
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
        for (side, weight) in self.sides(code, column).zip(self.targets.weights) {
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
    ) -> Result<ColumnFit, FitError> {
        let columns_of: Vec<Vec<u32>> = (0..code.class_count())
            .map(|class| {
                let row = code.row(class).iter().zip(0u32..);
                row.filter(|&(&side, _)| side == 1)
                    .map(|(_, t)| t)
                    .collect()
            })
            .collect();
        let of_row = self.targets.labels.of_row.iter().map(|classes| {
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
            targets: Targets::new(&labels, self.targets.weights, &factors),
            finer: None,
            ..*self
        };
        let fitted = columns.fit(counts, vocabulary)?;
        let CrossFit {
            scorer,
            out_of_fold,
            convergence,
        } = fitted.fit;
        Ok(ColumnFit {
            fit: CrossFit {
                scorer: vec![scorer],
                out_of_fold,
                convergence,
            },
            weighting: fitted.weighting,
            vocabulary: fitted.vocabulary,
        })
    }

    /// Each column as a problem of two classes, learned from the rows that take part; all rows are
    /// scored, as new ones will be.
    fn fit_columns_one_by_one(
        &self,
        code: &CodeMatrix,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<ColumnFit, FitError> {
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
            let fits = parallel::try_map_indices(code.length(), |column| {
                self.fit_column(code, column, rows, &members, &held_out)
            })?;
            for (column, fit) in fits.into_iter().enumerate() {
                stage.step(1)?;
                let Some((fitted, scores)) = fit else {
                    continue;
                };
                for (&row, score) in held_out.iter().zip(scores) {
                    out_of_fold[column][row as usize] = score;
                }
                if fold.is_none() {
                    base.push(fitted.scorer);
                    convergence.extend(fitted.convergence);
                }
            }
        }
        drop(stage);
        let linear: Option<Vec<&LinearClassScorer>> =
            base.iter().map(SavedScorer::as_linear).collect();
        if let Some(beside) = linear.and_then(|scorers| LinearClassScorer::beside(&scorers)) {
            base = vec![beside.into()];
        }
        Ok(ColumnFit {
            fit: CrossFit {
                scorer: base,
                out_of_fold,
                convergence,
            },
            weighting,
            vocabulary: vocabulary.cloned(),
        })
    }

    /// One column's scorer with its scores of the held-out rows; `None` where a fold holds all rows
    /// that take part.
    fn fit_column(
        &self,
        code: &CodeMatrix,
        column: usize,
        rows: &SparseMatrix,
        members: &[u32],
        held_out: &[u32],
    ) -> Result<Option<(Fitted, Vec<f64>)>, FitError> {
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
        let targets = Targets::new(&labels, self.targets.weights, &factors);
        check(self.progress)?;
        let fitted = self.learner().fit(&targets.among(rows, &members))?;
        let score = |&row: &u32| fitted.scorer.output_scores(rows.row(row as usize))[0];
        let scores = held_out.iter().map(score).collect();
        Ok(Some((fitted, scores)))
    }
}
