//! A list of terms for each class, whose scorer sees no others.

use super::fit_scorer::{TermFit, Training, unselectable};
use super::fold_rows::FoldRows;
use crate::FitError;
use crate::features::{Selected, Selection, SparseMatrix, TermCounts, Vocabulary};
use crate::parallel;
use crate::problem::{ClassFactors, ClassLabels, Targets};
use crate::progress::{Stage, check};
use crate::scorers::{CrossFit, Fitted, LinearClassScorer, Link, Storage, WeightMatrix};
use crate::solvers::Convergence;

/// Weights of all columns, of which each output has those of its own terms.
struct Gathered {
    weights: Vec<f64>,
    biases: Vec<f64>,
    convergence: Vec<Convergence>,
}

impl Training<'_> {
    /// Rows are weighted (and brought to unit length) over all terms first, so that one row serves every class.
    pub(super) fn fit_per_class(
        &self,
        counts: &TermCounts,
        vocabulary: Option<&Vocabulary>,
        selection: Selection,
    ) -> Result<TermFit, FitError> {
        let labels = self.targets.labels;
        let members_of_class = labels.members();
        let source = self.rows_of(counts);
        let (weighting, whole) = source.whole();
        let output_count = labels.output_count();
        let mut out_of_fold = vec![vec![0.0; counts.row_count()]; output_count];
        let mut gathered = Gathered {
            weights: vec![0f64; whole.column_count() * output_count],
            biases: vec![0.0; output_count],
            convergence: Vec::new(),
        };
        let steps = 1 + self.folds.count() as u64;
        let stage = Stage::begin(self.progress, "fitting", Some(steps));
        for fold in self.parts() {
            let (members, held_out) = self.split(fold);
            let without = fold.map(|fold| source.without(fold));
            let rows = without.as_ref().unwrap_or(&whole);
            let takes_part = |row: usize| Some(self.folds.of(row)) != fold;
            let lists = self.lists(&source, rows, selection, &members_of_class, takes_part);
            let fits = parallel::try_map_indices(output_count, |output| {
                let chosen = rows.with_columns(&lists[labels.class_of_output(output)]);
                self.fit_output(output, &chosen, &members, &held_out)
            })?;
            for (output, (fitted, scores)) in fits.into_iter().enumerate() {
                for (&row, score) in held_out.iter().zip(scores) {
                    out_of_fold[output][row as usize] = score;
                }
                if fold.is_none() {
                    let list = &lists[labels.class_of_output(output)];
                    gathered.take(output, fitted, list)?;
                }
            }
            stage.step(1)?;
        }
        drop(stage);
        let weights = WeightMatrix::Double(Storage::Owned(gathered.weights));
        let scorer = LinearClassScorer::from_parts(weights, gathered.biases, Link::of(labels));
        Ok(TermFit {
            fit: CrossFit {
                scorer: scorer.into(),
                out_of_fold,
                convergence: gathered.convergence,
            },
            weighting,
            vocabulary: vocabulary.cloned(),
        })
    }

    /// For each class the columns that its scorer sees. Only terms are chosen; what was put beside the text on purpose
    /// stays.
    fn lists(
        &self,
        source: &FoldRows<'_>,
        rows: &SparseMatrix,
        selection: Selection,
        members_of_class: &[Vec<u32>],
        takes_part: impl Fn(usize) -> bool + Sync,
    ) -> Vec<Vec<u32>> {
        let text = source.text_of(rows);
        let text = text.as_ref().unwrap_or(rows);
        let mut lists = match selection.choose(text, members_of_class, takes_part) {
            Selected::PerClass(lists) => lists,
            Selected::Global(list) => vec![list; self.targets.labels.class_count],
        };
        lists
            .iter_mut()
            .for_each(|list| list.extend(source.side_columns()));
        lists
    }

    /// One output's scorer with its scores of the held-out rows.
    fn fit_output(
        &self,
        output: usize,
        rows: &SparseMatrix,
        members: &[u32],
        held_out: &[u32],
    ) -> Result<(Fitted, Vec<f64>), FitError> {
        let all = self.targets.labels;
        let labels = ClassLabels::of_one_class(&all.membership(all.class_of_output(output)));
        let factors = ClassFactors {
            by_output: vec![self.targets.factors.by_output[output]],
        };
        let targets = Targets::new(&labels, self.targets.weights, &factors);
        check(self.progress)?;
        let fitted = self.learner().fit(&targets.among(rows, members))?;
        let scores = held_out
            .iter()
            .map(|&row| fitted.scorer.output_scores(rows.row(row as usize))[0])
            .collect();
        Ok((fitted, scores))
    }
}

impl Gathered {
    /// Puts the weights of an output where its columns are.
    fn take(&mut self, output: usize, fitted: Fitted, columns: &[u32]) -> Result<(), FitError> {
        let scorer = fitted.scorer.as_linear().ok_or_else(unselectable)?;
        let width = self.biases.len();
        self.biases[output] = scorer.biases()[0];
        for (feature, &column) in columns.iter().enumerate() {
            self.weights[column as usize * width + output] = scorer.weight(feature, 0);
        }
        self.convergence.extend(fitted.convergence);
        Ok(())
    }
}
