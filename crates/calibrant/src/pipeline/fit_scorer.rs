//! Rows to a scorer of all classes, with a score for each row from a model that never saw it.

use super::FitSettings;
use super::choose_damping::DampingTrial;
use super::distinct::Documents;
use super::fold_rows::{FoldRows, SideRows};
use crate::calibration::CalibratorKind;
use crate::features::{
    FittedWeighting, Selected, Selection, SelectionScope, SparseMatrix, TermCounts, Vocabulary,
};
use crate::problem::{Folds, Targets};
use crate::progress::Stage;
use crate::scorers::{
    ClassLearner, CrossFit, FoldSource, HeldOutOutputs, LengthDamping, SavedScorer, cross_fit_anew,
};
use crate::{FitError, Progress};

/// Scorers with the terms that they are about.
pub(super) struct TermFit<S = SavedScorer> {
    pub(super) fit: CrossFit<S>,
    pub(super) weighting: FittedWeighting,
    pub(super) vocabulary: Option<Vocabulary>,
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
    pub(super) targets: Targets<'a>,
    pub(super) folds: &'a Folds,
    /// For learners with cheap folds, of whole classes alone.
    pub(super) finer: Option<FinerFolds<'a>>,
    /// For each row, whether it is the first of its document.
    pub(super) is_first: &'a [bool],
    /// What stands beside the text.
    pub(super) side: Option<SideRows<'a>>,
    pub(super) progress: &'a dyn Progress,
}

impl Training<'_> {
    pub(super) fn learner(&self) -> &dyn ClassLearner {
        self.settings.classifier.learner()
    }

    pub(super) fn fit(
        &self,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<TermFit, FitError> {
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
    ) -> Result<TermFit, FitError> {
        let rows = self.rows_of(counts);
        let (weighting, whole) = rows.whole();
        let source = PlainFolds {
            training: self,
            rows,
        };
        let stage = self.begin_fitting();
        let fit = self.learner().cross_fit(whole, &self.targets, &source)?;
        drop(stage);
        Ok(TermFit {
            fit,
            weighting,
            vocabulary: vocabulary.cloned(),
        })
    }

    /// One list of terms for all classes, chosen again without each fold.
    fn fit_selected(
        &self,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
        selection: Selection,
    ) -> Result<TermFit, FitError> {
        let source = SelectedFolds {
            training: self,
            counts,
            all_terms: counts.to_rows(),
            selection,
            members_of_class: self.targets.labels.members(),
        };
        let kept = source.terms(None);
        if kept.is_empty() && self.side.is_none() {
            return Err(FitError::NoFeatures);
        }
        let chosen = counts.with_columns(&kept);
        let (weighting, whole) = self.rows_of(&chosen).whole();
        drop(chosen);
        let stage = self.begin_fitting();
        let learner = self.learner();
        // A solution over other terms is no start: every fold learns again.
        let fit = cross_fit_anew(
            |problem| learner.fit(problem),
            whole,
            &self.targets,
            &source,
        )?;
        drop(stage);
        let terms = |vocabulary: &Vocabulary| {
            Vocabulary::from_terms(kept.iter().map(|&column| vocabulary.term(column)))
        };
        Ok(TermFit {
            fit,
            weighting,
            vocabulary: vocabulary.map(terms),
        })
    }

    fn begin_fitting(&self) -> Stage<'_> {
        let solutions = self.targets.labels.output_count() * (1 + self.folds.count());
        Stage::begin(self.progress, "fitting", Some(solutions as u64))
    }

    pub(super) fn rows_of<'b>(&'b self, counts: &'b TermCounts) -> FoldRows<'b> {
        // A hashed space has no vocabulary that a rare term could be missing from.
        let min_documents = if self.settings.hash_bits.is_some() {
            0
        } else {
            let limits = self.settings.limits;
            limits.least(self.targets.weights.len())
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

    /// The rows that stay when a fold is held out, and those of the fold.
    pub(super) fn split(&self, fold: Option<usize>) -> (Vec<u32>, Vec<u32>) {
        match fold {
            Some(fold) => self.folds.split(fold),
            None => ((0..self.targets.weights.len() as u32).collect(), Vec::new()),
        }
    }

    /// The whole first, then without each fold.
    pub(super) fn parts(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        std::iter::once(None).chain((0..self.folds.count()).map(Some))
    }
}

/// All terms, weighted again without each fold.
struct PlainFolds<'a> {
    training: &'a Training<'a>,
    rows: FoldRows<'a>,
}

impl FoldSource for PlainFolds<'_> {
    fn folds(&self) -> &Folds {
        self.training.folds
    }

    fn without(&self, fold: usize) -> SparseMatrix {
        self.rows.without(fold)
    }

    fn revalued_without(&self, fold: usize) -> SparseMatrix {
        self.rows.revalued_without(fold)
    }

    fn cheap_folds(&self) -> Option<&Folds> {
        // Side columns follow means and values of the documents that are learned from.
        let row_alone = self.rows.settings.is_of_row_alone() && self.training.side.is_none();
        let finer = self.training.finer.map(|finer| finer.folds);
        row_alone.then(|| finer.unwrap_or(self.training.folds))
    }

    fn features_without(&self, fold: usize) -> Vec<bool> {
        let folds = self.cheap_folds().unwrap_or(self.training.folds);
        FoldRows { folds, ..self.rows }.features_without(fold)
    }

    /// Who names a calibrator, or wants none, wants the learner's own scores.
    fn length_damping(&self, said: &HeldOutOutputs<'_>) -> Option<LengthDamping> {
        let finer = self.training.finer?;
        if self.training.settings.calibrator != CalibratorKind::Auto {
            return None;
        }
        let trial = DampingTrial {
            targets: &self.training.targets,
            folds: self.training.folds,
            documents: finer.documents,
        };
        trial.choose(said)
    }

    fn progress(&self) -> &dyn Progress {
        self.training.progress
    }
}

/// The most discriminative terms, chosen again without each fold.
struct SelectedFolds<'a> {
    training: &'a Training<'a>,
    counts: &'a TermCounts,
    all_terms: SparseMatrix,
    selection: Selection,
    members_of_class: Vec<Vec<u32>>,
}

impl SelectedFolds<'_> {
    /// The terms that are chosen without a fold. There may be none: it may hold all documents of the only other class,
    /// and then its documents get a scorer without terms.
    fn terms(&self, without: Option<usize>) -> Vec<u32> {
        let folds = self.training.folds;
        let takes_part = |row: usize| Some(folds.of(row)) != without;
        let chosen = self
            .selection
            .choose(&self.all_terms, &self.members_of_class, takes_part);
        match chosen {
            Selected::Global(kept) => kept,
            Selected::PerClass(lists) => lists.into_iter().flatten().collect(),
        }
    }
}

impl FoldSource for SelectedFolds<'_> {
    fn folds(&self) -> &Folds {
        self.training.folds
    }

    fn without(&self, fold: usize) -> SparseMatrix {
        let chosen = self.counts.with_columns(&self.terms(Some(fold)));
        self.training.rows_of(&chosen).without(fold)
    }

    fn progress(&self) -> &dyn Progress {
        self.training.progress
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
