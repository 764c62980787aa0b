//! What every learner is asked: one trait, whose required methods are few and whose provided ones are facts that
//! differ from learner to learner.

use std::fmt::Debug;

use super::held_out_outputs::HeldOutOutputs;
use super::length_damping::LengthDamping;
use super::saved::{SavedScorer, ScorerBuffers};
use crate::features::{SparseMatrix, Weighting, WeightingSettings};
use crate::parallel;
use crate::problem::{Folds, Problem, Targets};
use crate::progress::{check, step};
use crate::solvers::Convergence;
use crate::{FitError, Progress};

/// A learner of all classes: settings that become a scorer.
///
/// A new learner is a type with this trait in a file of its own and one line in the registry
/// ([`Classifier`](super::Classifier)). Fitting, held-out scores, output codes, saving, explaining, `fit --search` and the
/// name on the command line follow.
pub trait ClassLearner: Debug + Send + Sync {
    /// Learns from the members of a problem.
    fn fit(&self, problem: &Problem<'_>) -> Result<Fitted, FitError>;

    /// Learns from all rows, and scores each row by a scorer that did not learn from its fold.
    ///
    /// Provided: learns again without each fold. Learners override it where a fold can start from the solution of the
    /// whole, or be taken off the whole's counts. The rows are given away, so that whoever needs them no more can let them go.
    fn cross_fit(
        &self,
        rows: SparseMatrix,
        targets: &Targets<'_>,
        source: &dyn FoldSource,
    ) -> Result<CrossFit, FitError> {
        cross_fit_anew(|problem| self.fit(problem), rows, targets, source)
    }

    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// The settings that are asked for by name or tried by a search, the usual ones first.
    fn variants() -> Vec<Variant<Self>>
    where
        Self: Sized;

    /// Finds settings that make no sense.
    fn check(&self) -> Result<(), FitError> {
        Ok(())
    }

    /// What of a row it looks at.
    fn reads(&self) -> Reads {
        Reads::Values
    }

    /// The weighting of terms that suits it: `(1 + ln tf) idf` of unit length for most.
    fn usual_weighting(&self) -> WeightingSettings {
        WeightingSettings {
            weighting: Weighting::LogTfIdf,
            l2_norm: true,
        }
    }

    /// Whether its scores can be read as log-odds of the class before any calibration (they may be poor ones).
    fn states_log_odds(&self) -> bool {
        false
    }

    /// Whether a class's score is a weighted sum of the row's values.
    fn is_linear(&self) -> bool {
        false
    }

    /// Whether it finds a weight for each column, whatever the scale of the values; its scores are margins then.
    fn weighs_columns(&self) -> bool {
        false
    }

    /// Whether it compares rows as wholes, so that a column without meaning hides those that have one.
    fn by_similarity(&self) -> bool {
        false
    }

    /// Whether leaving out a fold costs next to nothing, so that there may be many.
    fn has_cheap_folds(&self) -> bool {
        false
    }

    /// Whether a class must have another to be against: a yes without a no teaches it nothing.
    fn needs_both_sides(&self) -> bool {
        false
    }

    /// Whether its scorer holds all training rows.
    fn keeps_rows(&self) -> bool {
        false
    }

    /// Whether of two classes it says no more than another variant of the same learner.
    fn needs_three_classes(&self) -> bool {
        false
    }

    /// Why classes cannot count differently in training, where they cannot.
    fn refuses_class_weights(&self) -> Option<&'static str> {
        None
    }

    /// The cost of errors, for learners that have one.
    fn cost(&self) -> Option<Cost> {
        None
    }

    /// The setting that a search turns, and its name: the larger, the closer the training rows are fitted, or the other way round.
    fn tuned(&mut self) -> Option<(&'static str, &mut f64)> {
        None
    }

    /// Takes the seed of the fit, if it draws anything.
    fn set_seed(&mut self, _seed: u64) {}

    /// About how many times as long as a linear SVM it takes, to guess by before it was tried.
    fn times_as_long(&self) -> f64 {
        1.0
    }
}

/// What of a row a learner looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Any numbers.
    Values,
    /// How often something comes; numbers of another kind mean nothing to it.
    Counts,
    /// Whether something is there.
    Presence,
    /// How often terms come, and nothing beside them.
    TermCounts,
    /// The strengths of rules, and no terms.
    Rules,
}

/// The cost of errors in training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// What was asked for.
    pub asked: Option<f64>,
    /// What is usual.
    pub usual: f64,
}

/// A learner with settings that have a name, or that a search tries.
#[derive(Debug, Clone, Copy)]
pub struct Variant<L> {
    pub(super) name: Option<(&'static str, &'static str)>,
    pub(super) aliases: &'static [&'static str],
    pub(super) place: Option<u32>,
    pub(super) learner: L,
}

impl<L> Variant<L> {
    /// Settings that are asked for by this name, with a sentence that says what they are.
    pub fn named(name: &'static str, help: &'static str, learner: L) -> Self {
        Self {
            name: Some((name, help)),
            ..Self::unnamed(learner)
        }
    }

    /// Settings for a search alone.
    pub fn unnamed(learner: L) -> Self {
        Self {
            name: None,
            aliases: &[],
            place: None,
            learner,
        }
    }

    /// Other names for the same.
    pub fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// A search tries it, those with low places first: the cheap and promising have the lowest.
    pub fn searched(self, place: u32) -> Self {
        let place = Some(place);
        Self { place, ..self }
    }
}

/// What a learner makes of a problem.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The scorer.
    pub scorer: SavedScorer,
    /// For each output, how its solver ended; empty for learners that compute in closed form.
    pub convergence: Vec<Convergence>,
}

impl<S: Into<SavedScorer>> From<S> for Fitted {
    fn from(scorer: S) -> Self {
        Self {
            scorer: scorer.into(),
            convergence: Vec::new(),
        }
    }
}

/// A scorer of all rows with what cross-fitting gave.
#[derive(Debug, Clone)]
pub struct CrossFit<S = SavedScorer> {
    /// What was learned from all rows.
    pub scorer: S,
    /// For each output, the score of each row from a scorer that did not learn from it.
    pub out_of_fold: Vec<Vec<f64>>,
    /// For each output, the worst end of a solver; empty for learners that compute in closed form.
    pub convergence: Vec<Convergence>,
}

/// Rows as scorers without a fold would see them, and what else cross-fitting may ask for.
pub trait FoldSource: Sync {
    /// Which rows are held out together.
    fn folds(&self) -> &Folds;

    /// All rows over what the others than this fold give. The number of columns is the caller's business.
    fn without(&self, fold: usize) -> SparseMatrix;

    /// As [`Self::without`], for learners to whom an entry of zero is none.
    fn revalued_without(&self, fold: usize) -> SparseMatrix {
        self.without(fold)
    }

    /// Folds to leave out where that is cheap and a row's values depend on the row alone, so that
    /// [`Self::features_without`] says all that changes; `None` where they depend on other rows.
    fn cheap_folds(&self) -> Option<&Folds> {
        None
    }

    /// Which columns are features without one of [`Self::cheap_folds`].
    fn features_without(&self, _fold: usize) -> Vec<bool> {
        Vec::new()
    }

    /// How much less terms should say in long documents, by what was said of rows that were held out.
    fn length_damping(&self, _said: &HeldOutOutputs<'_>) -> Option<LengthDamping> {
        None
    }

    /// Is told about one unit per output and fit.
    fn progress(&self) -> &dyn Progress;
}

/// Learns from all rows, and again without each fold, whose rows it then scores.
pub(crate) fn cross_fit_anew(
    fit: impl Fn(&Problem<'_>) -> Result<Fitted, FitError>,
    rows: SparseMatrix,
    targets: &Targets<'_>,
    source: &dyn FoldSource,
) -> Result<CrossFit, FitError> {
    let steps = targets.labels.output_count() as u64;
    let row_count = rows.row_count();
    let everyone: Vec<u32> = (0..row_count as u32).collect();
    check(source.progress())?;
    let whole = fit(&targets.among(&rows, &everyone))?;
    drop(rows);
    step(source.progress(), steps)?;
    let mut out_of_fold = vec![vec![0.0; row_count]; whole.scorer.output_count()];
    for fold in 0..source.folds().count() {
        let rows = source.without(fold);
        let (members, held_out) = source.folds().split(fold);
        let without = fit(&targets.among(&rows, &members))?;
        score_into(&mut out_of_fold, &without.scorer, &rows, &held_out);
        step(source.progress(), steps)?;
    }
    Ok(CrossFit {
        scorer: whole.scorer,
        out_of_fold,
        convergence: whole.convergence,
    })
}

/// Puts the scores of held-out rows where they belong.
fn score_into(
    out_of_fold: &mut [Vec<f64>],
    scorer: &SavedScorer,
    rows: &SparseMatrix,
    held_out: &[u32],
) {
    let score = |buffer: &mut ScorerBuffers, place: usize| {
        let mut scores = vec![0.0; scorer.output_count()];
        scorer.scores_into(rows.row(held_out[place] as usize), buffer, &mut scores);
        scores
    };
    let scores = parallel::map_indices_with(held_out.len(), ScorerBuffers::default, score);
    for (&row, scores) in held_out.iter().zip(scores) {
        out_of_fold
            .iter_mut()
            .zip(scores)
            .for_each(|(column, score)| column[row as usize] = score);
    }
}

/// Refuses what is not a positive number.
pub(super) fn positive(setting: &'static str, value: f64) -> Result<(), FitError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(FitError::BadSetting {
        setting,
        requirement: "a positive number",
        value: value.to_string(),
    })
}
