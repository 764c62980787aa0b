//! Rows to a scorer of all classes, with a score for each row from a model that never saw it.

use rayon::prelude::*;

use super::distinct::Documents;
use super::fold_rows::{FoldRows, SideRows};
use super::rule_scorer::rule_scorer;
use super::{Classifier, FitSettings};
use crate::features::{
    FittedWeighting, Selected, Selection, SelectionScope, SparseMatrix, TermCounts, Vocabulary,
    Weighting,
};
use crate::problem::Folds;
use crate::problem::{ClassFactors, ClassLabels};
use crate::progress::{Stage, Unshown, check, step};
use crate::scorers::{
    LinearClassScorer, Link, NaiveBayes, NaiveBayesHeldOut, OneVsRest, OneVsRestFit, SavedScorer,
    ScorerRoom, Storage, WeightMatrix,
};
use crate::solvers::Convergence;
use crate::{FitError, Progress, Task};

/// What fitting the scorers gave.
pub(super) struct ScorerFit {
    pub(super) scorer: SavedScorer,
    pub(super) weighting: FittedWeighting,
    pub(super) vocabulary: Option<Vocabulary>,
    /// For each output, the score of each row from a model that did not learn from it.
    pub(super) out_of_fold: Vec<Vec<f64>>,
    /// For each output, how its solver ended; empty for learners that compute in closed form.
    pub(super) convergence: Vec<Convergence>,
}

/// A scorer of all rows with what cross-fitting gave.
struct CrossFit {
    scorer: SavedScorer,
    out_of_fold: Vec<Vec<f64>>,
    convergence: Vec<Convergence>,
}

impl From<OneVsRestFit> for CrossFit {
    fn from(fit: OneVsRestFit) -> Self {
        Self {
            scorer: fit.scorer.into(),
            out_of_fold: fit.out_of_fold,
            convergence: fit.convergence,
        }
    }
}

/// Folds divided further, where a fold costs next to nothing: a model without a twentieth of the documents is nearer to the one that is
/// served.
#[derive(Clone, Copy)]
pub(super) struct FinerFolds<'a> {
    pub(super) folds: &'a Folds,
    pub(super) documents: &'a Documents,
}

/// Everything that is learned from.
pub(super) struct Training<'a> {
    pub(super) settings: &'a FitSettings,
    pub(super) labels: &'a ClassLabels,
    pub(super) weights: &'a [f64],
    pub(super) factors: &'a ClassFactors,
    pub(super) folds: &'a Folds,
    /// For naive Bayes of whole classes alone.
    pub(super) finer: Option<FinerFolds<'a>>,
    /// For each row, whether it is the first of its document.
    pub(super) is_first: &'a [bool],
    /// What stands beside the text.
    pub(super) side: Option<SideRows<'a>>,
    /// For each class, the column of its rule; empty unless the classifier is `rules`.
    pub(super) rule_columns: &'a [Option<u32>],
    pub(super) progress: &'a dyn Progress,
}

impl Training<'_> {
    pub(super) fn fit(
        &self,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<ScorerFit, FitError> {
        if let Some(code) = &self.settings.code {
            return self.fit_coded(code, counts, vocabulary);
        }
        match self.settings.selection {
            None => self.fit_plain(counts, vocabulary),
            Some(selection) if selection.scope == SelectionScope::Global => {
                self.fit_selected(counts, vocabulary, selection)
            }
            Some(selection) => self.fit_per_class(counts, vocabulary, selection),
        }
    }

    fn fit_plain(
        &self,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<ScorerFit, FitError> {
        let source = self.rows_of(counts);
        let (weighting, rows) = source.whole();
        let problem = OneVsRest {
            labels: self.labels,
            weights: self.weights,
            factors: self.factors,
        };
        let solutions = self.labels.output_count() * (1 + self.folds.count());
        let stage = Stage::begin(self.progress, "fitting", Some(solutions as u64));
        let without = |fold| source.revalued_without(fold);
        let fit = match &self.settings.classifier {
            Classifier::NaiveBayes(learner) => {
                let (scorer, out_of_fold) = self.cross_fit_naive_bayes(learner, &source, &rows)?;
                CrossFit {
                    scorer: scorer.into(),
                    out_of_fold,
                    convergence: Vec::new(),
                }
            }
            Classifier::LinearSvm(learner) => problem
                .cross_fit(learner, rows, without, self.folds, self.progress)?
                .into(),
            Classifier::LogisticRegression(learner) => problem
                .cross_fit(learner, rows, without, self.folds, self.progress)?
                .into(),
            // Learners without a faster way learn anew without each fold.
            _ => self.cross_fit(&source, &rows)?,
        };
        drop(stage);
        Ok(ScorerFit {
            scorer: fit.scorer,
            weighting,
            vocabulary: vocabulary.cloned(),
            out_of_fold: fit.out_of_fold,
            convergence: fit.convergence,
        })
    }

    fn cross_fit(&self, source: &FoldRows<'_>, rows: &SparseMatrix) -> Result<CrossFit, FitError> {
        let steps = self.labels.output_count() as u64;
        let (everyone, _) = self.split(None);
        let (scorer, convergence) = self.fit_members(rows, self.labels, self.factors, &everyone)?;
        step(self.progress, steps)?;
        let mut out_of_fold = vec![vec![0.0; rows.row_count()]; scorer.output_count()];
        for fold in 0..self.folds.count() {
            let rows = source.without(fold);
            let (members, held_out) = self.split(Some(fold));
            let (scorer, _) = self.fit_members(&rows, self.labels, self.factors, &members)?;
            fill(&mut out_of_fold, &scorer, &rows, &held_out);
            step(self.progress, steps)?;
        }
        Ok(CrossFit {
            scorer,
            out_of_fold,
            convergence,
        })
    }

    /// Folds are totals minus the fold's counts where a row's values depend on the row alone, and may be fine; else
    /// they have to be counted anew.
    fn cross_fit_naive_bayes(
        &self,
        learner: &NaiveBayes,
        source: &FoldRows<'_>,
        rows: &SparseMatrix,
    ) -> Result<(LinearClassScorer, Vec<Vec<f64>>), FitError> {
        let weighting = source.settings;
        let row_alone = matches!(
            weighting.weighting,
            Weighting::Binary | Weighting::Tf | Weighting::LogTf
        );
        // Side columns follow means and values of the documents that are learned from.
        if row_alone && !weighting.l2_norm && self.side.is_none() {
            let folds = self.finer.map_or(self.folds, |finer| finer.folds);
            let source = FoldRows { folds, ..*source };
            let features = |fold| source.features_without(fold);
            let (scorer, said) =
                learner.cross_fit_classes(rows, self.labels, self.weights, folds, features)?;
            return Ok(self.damped(scorer, said, folds));
        }
        let (everyone, _) = self.split(None);
        let scorer = learner.fit_classes(rows, self.labels, self.weights, &everyone)?;
        let mut said = NaiveBayesHeldOut::new(scorer.output_count(), rows.row_count());
        for fold in 0..self.folds.count() {
            check(self.progress)?;
            let rows = source.without(fold);
            let (members, held_out) = self.split(Some(fold));
            let scorer = learner.fit_classes(&rows, self.labels, self.weights, &members)?;
            let held_out: Vec<usize> = held_out.into_iter().map(|row| row as usize).collect();
            // Terms that are no features without the fold have no entries.
            said.add_fold(&scorer, &rows, &held_out, |_| true);
        }
        Ok(self.damped(scorer, said, self.folds))
    }

    pub(super) fn rows_of<'b>(&'b self, counts: &'b TermCounts) -> FoldRows<'b> {
        // A hashed space has no vocabulary that a rare term could be missing from.
        let min_documents = if self.settings.hash_bits.is_some() {
            0
        } else {
            let limits = self.settings.limits;
            limits.least(self.weights.len())
        };
        FoldRows {
            counts,
            settings: self.settings.effective_weighting(),
            min_documents,
            folds: self.folds,
            is_first: self.is_first,
            side: self.side,
        }
    }

    pub(super) fn fit_members(
        &self,
        rows: &SparseMatrix,
        labels: &ClassLabels,
        factors: &ClassFactors,
        members: &[u32],
    ) -> Result<(SavedScorer, Vec<Convergence>), FitError> {
        check(self.progress)?;
        let unshown = Unshown(self.progress);
        let weights = self.weights;
        let problem = OneVsRest {
            labels,
            weights: self.weights,
            factors,
        };
        let linear = |(scorer, ends): (LinearClassScorer, _)| (scorer.into(), ends);
        Ok(match &self.settings.classifier {
            Classifier::Rules => {
                let scorer = rule_scorer(self.rule_columns, labels, rows.column_count());
                (scorer.into(), Vec::new())
            }
            Classifier::NaiveBayes(learner) => {
                let scorer = learner.fit_classes(rows, labels, weights, members)?;
                (scorer.into(), Vec::new())
            }
            Classifier::LinearSvm(learner) => {
                linear(problem.fit_members(learner, rows, members, &unshown)?)
            }
            Classifier::LogisticRegression(learner) => {
                linear(problem.fit_members(learner, rows, members, &unshown)?)
            }
            Classifier::Rocchio(learner) => {
                let scorer = learner.fit_classes(rows, labels, weights, factors, members)?;
                (SavedScorer::Centroids(scorer), Vec::new())
            }
            Classifier::AdaBoost(learner) => {
                let scorer = learner.fit_classes(rows, labels, weights, factors, members)?;
                (SavedScorer::Stumps(scorer), Vec::new())
            }
            Classifier::NearestNeighbours(learner) => {
                let scorer = learner.fit_classes(rows, labels, weights, factors, members)?;
                (SavedScorer::Neighbours(Box::new(scorer)), Vec::new())
            }
            Classifier::Perceptron(learner) => {
                let scorer = learner.fit_classes(rows, labels, weights, factors, members)?;
                (scorer, Vec::new())
            }
        })
    }

    /// The rows that stay when a fold is held out, and those of the fold.
    pub(super) fn split(&self, fold: Option<usize>) -> (Vec<u32>, Vec<u32>) {
        (0..self.weights.len() as u32).partition(|&row| Some(self.folds.of(row as usize)) != fold)
    }

    /// The whole first, then without each fold.
    pub(super) fn parts(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        std::iter::once(None).chain((0..self.folds.count()).map(Some))
    }

    /// One list of terms for all classes, chosen anew without each fold.
    fn fit_selected(
        &self,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
        selection: Selection,
    ) -> Result<ScorerFit, FitError> {
        let members_of_class = self.labels.members();
        let all_terms = counts.to_rows();
        let mut out_of_fold = vec![vec![0.0; counts.row_count()]; self.labels.output_count()];
        let mut whole = None;
        let stage = Stage::begin(
            self.progress,
            "fitting",
            Some(1 + self.folds.count() as u64),
        );
        for fold in self.parts() {
            let (members, held_out) = self.split(fold);
            let takes_part = |row: usize| Some(self.folds.of(row)) != fold;
            let kept = match selection.choose(&all_terms, &members_of_class, takes_part) {
                Selected::Global(kept) => kept,
                Selected::PerClass(lists) => lists.into_iter().flatten().collect(),
            };
            // A fold may hold all documents of the only other class: without it nothing tells the
            // classes apart, and a scorer without terms has to do for its documents.
            if kept.is_empty() && fold.is_none() && self.side.is_none() {
                return Err(FitError::NoFeatures);
            }
            let chosen = counts.with_columns(&kept);
            let source = self.rows_of(&chosen);
            let (weighting, rows) = match fold {
                None => {
                    let (weighting, rows) = source.whole();
                    (Some(weighting), rows)
                }
                Some(fold) => (None, source.without(fold)),
            };
            let (scorer, convergence) =
                self.fit_members(&rows, self.labels, self.factors, &members)?;
            fill(&mut out_of_fold, &scorer, &rows, &held_out);
            if let Some(weighting) = weighting {
                let terms = vocabulary.map(|vocabulary| {
                    Vocabulary::from_terms(kept.iter().map(|&column| vocabulary.term(column)))
                });
                whole = Some((scorer, weighting, terms, convergence));
            }
            stage.step(1)?;
        }
        drop(stage);
        let (scorer, weighting, vocabulary, convergence) = whole.ok_or(FitError::NoFeatures)?;
        Ok(ScorerFit {
            scorer,
            weighting,
            vocabulary,
            out_of_fold,
            convergence,
        })
    }

    /// A list of terms for each class, whose scorer sees no others. Rows are weighted (and brought
    /// to unit length) over all terms first, so that one row serves every class.
    fn fit_per_class(
        &self,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
        selection: Selection,
    ) -> Result<ScorerFit, FitError> {
        let members_of_class = self.labels.members();
        let source = self.rows_of(counts);
        let (weighting, whole) = source.whole();
        let output_count = self.labels.output_count();
        let mut out_of_fold = vec![vec![0.0; counts.row_count()]; output_count];
        let mut weights = vec![0f64; whole.column_count() * output_count];
        let mut biases = vec![0.0; output_count];
        let mut ends: Vec<Convergence> = Vec::new();
        let stage = Stage::begin(
            self.progress,
            "fitting",
            Some(1 + self.folds.count() as u64),
        );
        for fold in self.parts() {
            let (members, held_out) = self.split(fold);
            let takes_part = |row: usize| Some(self.folds.of(row)) != fold;
            let held_out_rows = fold.map(|fold| source.without(fold));
            let rows = held_out_rows.as_ref().unwrap_or(&whole);
            let text = source.text_of(rows);
            let text = text.as_ref().unwrap_or(rows);
            let mut lists = match selection.choose(text, &members_of_class, takes_part) {
                Selected::PerClass(lists) => lists,
                Selected::Global(list) => vec![list; self.labels.class_count],
            };
            // Only terms are chosen; what was put beside the text on purpose stays.
            lists
                .iter_mut()
                .for_each(|list| list.extend(source.side_columns()));
            let fits = (0..output_count)
                .into_par_iter()
                .map(|output| {
                    let class = self.labels.class_of_output(output);
                    let chosen = rows.with_columns(&lists[class]);
                    let labels = ClassLabels {
                        task: Task::MultiLabel,
                        class_count: 1,
                        of_row: self
                            .labels
                            .membership(class)
                            .iter()
                            .map(|&on| if on { &[0][..] } else { &[] })
                            .collect(),
                    };
                    let factors = ClassFactors {
                        by_output: vec![self.factors.by_output[output]],
                    };
                    let (scorer, convergence) =
                        self.fit_members(&chosen, &labels, &factors, &members)?;
                    let scores: Vec<f64> = held_out
                        .iter()
                        .map(|&row| scorer.output_scores(chosen.row(row as usize))[0])
                        .collect();
                    Ok((scorer, convergence, scores))
                })
                .collect::<Result<Vec<_>, FitError>>()?;
            for (output, (scorer, convergence, scores)) in fits.into_iter().enumerate() {
                held_out
                    .iter()
                    .zip(scores)
                    .for_each(|(&row, score)| out_of_fold[output][row as usize] = score);
                if fold.is_none() {
                    let scorer = scorer.as_linear().ok_or_else(unselectable)?;
                    biases[output] = scorer.biases()[0];
                    let class = self.labels.class_of_output(output);
                    for (feature, &column) in lists[class].iter().enumerate() {
                        weights[column as usize * output_count + output] =
                            scorer.weight(feature, 0);
                    }
                    ends.extend(convergence);
                }
            }
            stage.step(1)?;
        }
        drop(stage);
        let link = if output_count < self.labels.class_count {
            Link::Mirror
        } else {
            Link::Independent
        };
        let weights = WeightMatrix::Double(Storage::Owned(weights));
        let scorer = LinearClassScorer::from_parts(weights, biases, link);
        Ok(ScorerFit {
            scorer: scorer.into(),
            weighting,
            vocabulary: vocabulary.cloned(),
            out_of_fold,
            convergence: ends,
        })
    }
}

/// A list of terms for each class takes weights that can be put together afterwards.
pub(super) fn unselectable() -> FitError {
    FitError::BadSetting {
        setting: "the selection of terms",
        requirement: "one list for all classes unless the classifier is linear",
        value: "a list for each class".into(),
    }
}

/// Puts the scores of held-out rows where they belong.
fn fill(out_of_fold: &mut [Vec<f64>], scorer: &SavedScorer, rows: &SparseMatrix, held_out: &[u32]) {
    let score = |room: &mut ScorerRoom, &row: &u32| {
        let mut scores = vec![0.0; scorer.output_count()];
        scorer.scores_into(rows.row(row as usize), room, &mut scores);
        scores
    };
    let scores: Vec<Vec<f64>> = held_out
        .par_iter()
        .map_init(ScorerRoom::default, score)
        .collect();
    for (&row, scores) in held_out.iter().zip(scores) {
        out_of_fold
            .iter_mut()
            .zip(scores)
            .for_each(|(column, score)| column[row as usize] = score);
    }
}
