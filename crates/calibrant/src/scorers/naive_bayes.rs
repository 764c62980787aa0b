//! Naive Bayes: multinomial, Bernoulli and complement.

use serde::{Deserialize, Serialize};

use super::held_out_outputs::HeldOutOutputs;
use super::learner::{ClassLearner, CrossFit, Fitted, FoldSource, Reads, Variant, positive};
use super::{LinearClassScorer, Link, WeightMatrix};
use crate::features::{RowView, SparseMatrix, Weighting, WeightingSettings};
use crate::parallel;
use crate::problem::{Folds, Problem, Targets};
use crate::progress::check;
use crate::saved::Storage;
use crate::{FitError, Task};

/// Which events naive Bayes counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NaiveBayesKind {
    /// Words drawn one after another.
    Multinomial,
    /// Each word there or not; absent words speak too. Rows must hold ones and nothing else.
    Bernoulli,
    /// Words of all other classes, against them (Rennie et al. 2003): steadier where classes differ in size.
    Complement,
}

/// What words that were never seen get.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Smoothing {
    /// Every word as if seen `alpha` times more (1 is Laplace's rule).
    Laplace {
        /// The number of extra sightings.
        alpha: f64,
    },
    /// `strength` more words, spread as in the whole corpus (a Bayesian m-estimate).
    CorpusPrior {
        /// The number of extra words in all.
        strength: f64,
    },
}

/// Naive Bayes over counts.
///
/// # Formula
/// ```text
/// multinomial  P(w|c) = (n_cw + e_w) / (n_c + e)
/// Bernoulli    P(w|c) = (d_cw + e'_w) / (d_c + e')      absent words contribute ln(1 - P(w|c))
/// complement   -ln((n_w - n_cw + e_w) / (n - n_c + e))  instead of ln P(w|c), no class prior
/// ```
/// `n` counts words, `d` documents. Laplace: `e_w = α`, `e = α V`; `e'_w = α`, `e' = 2α`. Corpus prior
/// of strength `m`: `e_w = m (n_w + 1) / (n + V)`, `e = m`; `e'_w = m (d_w + 1/2) / (d + 1)`, `e' = m`.
/// With one label per document, outputs are joint log-probabilities with the observed class shares;
/// with several, each class stands against the rest with prior `(d_c + 1) / (d + 2)`. The Bernoulli
/// kind knows presence alone, in learning and in scoring: rows with other values than 1 are refused.
///
/// # When it misleads
/// Words are not independent: a word that came once tends to come again, and each repetition is
/// counted as fresh evidence. Scores are far too extreme to be read as log-odds; calibrate them.
///
/// # Reference
/// Manning, Raghavan & Schütze, chapter 13, with the Bernoulli denominators corrected; Rennie, Shih,
/// Teevan & Karger, ICML 2003 (unnormalised).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NaiveBayes {
    /// Which events are counted.
    pub kind: NaiveBayesKind,
    /// What unseen words get.
    pub smoothing: Smoothing,
}

impl Default for NaiveBayes {
    fn default() -> Self {
        Self {
            kind: NaiveBayesKind::Multinomial,
            smoothing: Smoothing::Laplace { alpha: 1.0 },
        }
    }
}

/// Sums over documents by class, from which every kind of naive Bayes is computed, and from which
/// a fold can be taken away again.
#[derive(Debug, Clone)]
pub(crate) struct ClassCounts {
    class_count: usize,
    /// Feature-major: `by_class[feature * class_count + class]`.
    by_class: Vec<f64>,
    by_feature: Vec<f64>,
    mass_by_class: Vec<f64>,
    mass: f64,
    documents_by_class: Vec<f64>,
    documents: f64,
    /// Which columns are features; all where absent.
    is_feature: Option<Vec<bool>>,
}

impl ClassCounts {
    fn new(feature_count: usize, class_count: usize) -> Self {
        Self {
            class_count,
            by_class: vec![0.0; feature_count * class_count],
            by_feature: vec![0.0; feature_count],
            mass_by_class: vec![0.0; class_count],
            mass: 0.0,
            documents_by_class: vec![0.0; class_count],
            documents: 0.0,
            is_feature: None,
        }
    }

    /// Becomes like another, in the same memory: asking for new memory fold by fold would take as long as the counting.
    fn copy_from(&mut self, other: &Self) {
        self.by_class.clone_from(&other.by_class);
        self.by_feature.clone_from(&other.by_feature);
        self.mass_by_class.clone_from(&other.mass_by_class);
        self.mass = other.mass;
        self.documents_by_class
            .clone_from(&other.documents_by_class);
        self.documents = other.documents;
        self.is_feature.clone_from(&other.is_feature);
    }

    fn feature_count(&self) -> usize {
        match &self.is_feature {
            Some(is_feature) => is_feature.iter().filter(|&&is_feature| is_feature).count(),
            None => self.by_feature.len(),
        }
    }

    /// Forgets every column but these, as if they had never been counted.
    fn keep_only(&mut self, is_feature: Vec<bool>) {
        for feature in (0..is_feature.len()).filter(|&feature| !is_feature[feature]) {
            self.mass -= std::mem::take(&mut self.by_feature[feature]);
            let counts = &mut self.by_class[feature * self.class_count..][..self.class_count];
            for (count, mass) in counts.iter_mut().zip(&mut self.mass_by_class) {
                *mass -= std::mem::take(count);
            }
        }
        self.is_feature = Some(is_feature);
    }

    /// Adds a document (or takes it away, with a negative weight).
    fn add(&mut self, row: RowView<'_>, classes: &[u32], weight: f64, presence_only: bool) {
        self.documents += weight;
        classes
            .iter()
            .for_each(|&class| self.documents_by_class[class as usize] += weight);
        let mut row_mass = 0.0;
        for (feature, value) in row.entries() {
            let present = if value == 0.0 { 0.0 } else { 1.0 };
            let amount = weight * if presence_only { present } else { value };
            row_mass += amount;
            self.by_feature[feature] += amount;
            let counts = &mut self.by_class[feature * self.class_count..][..self.class_count];
            classes
                .iter()
                .for_each(|&class| counts[class as usize] += amount);
        }
        self.mass += row_mass;
        classes
            .iter()
            .for_each(|&class| self.mass_by_class[class as usize] += row_mass);
    }
}

impl NaiveBayes {
    /// Whether it is a matter of terms that are there or not, however often.
    pub fn presence_only(&self) -> bool {
        self.kind == NaiveBayesKind::Bernoulli
    }

    fn check_rows(&self, rows: &SparseMatrix) -> Result<(), FitError> {
        for row in rows.rows() {
            if let Some((feature, value)) = row.entries().find(|&(_, value)| value < 0.0) {
                return Err(FitError::NegativeFeature { feature, value });
            }
            // Scores are weighted sums: a 2 would count as if the word were there twice over.
            let is_presence = |value: f64| value == 0.0 || value == 1.0;
            if self.presence_only()
                && let Some((_, value)) = row.entries().find(|&(_, value)| !is_presence(value))
            {
                return Err(not_presence(value.to_string()));
            }
        }
        Ok(())
    }

    fn counts(&self, problem: &Problem<'_>) -> Result<ClassCounts, FitError> {
        self.check()?;
        let Problem {
            rows,
            labels,
            weights,
            members,
            ..
        } = *problem;
        self.check_rows(rows)?;
        let mut counts = ClassCounts::new(rows.column_count(), labels.class_count);
        for &row in members {
            let row = row as usize;
            counts.add(
                rows.row(row),
                &labels.of_row[row],
                weights[row],
                self.presence_only(),
            );
        }
        Ok(counts)
    }

    /// The scorer of the members of a problem.
    fn scorer(&self, problem: &Problem<'_>) -> Result<LinearClassScorer, FitError> {
        let counts = self.counts(problem)?;
        Ok(self.model(&counts, problem.labels.task, |_| true))
    }

    /// Folds as totals minus the fold's counts, never a second pass over the other folds: for rows whose values depend on
    /// the row alone.
    fn subtract_folds<'f>(
        &self,
        rows: &SparseMatrix,
        targets: &Targets<'_>,
        folds: &'f Folds,
        features_without: impl Fn(usize) -> Vec<bool>,
    ) -> Result<(LinearClassScorer, HeldOutOutputs<'f>), FitError> {
        let everyone: Vec<u32> = (0..rows.row_count() as u32).collect();
        let counts = self.counts(&targets.among(rows, &everyone))?;
        let task = targets.labels.task;
        let model = self.model(&counts, task, |_| true);
        let mut said = HeldOutOutputs::new(&model, folds, rows.row_count());
        let mut rest = counts.clone();
        for fold in 0..folds.count() {
            let (_, held_out) = folds.split(fold);
            rest.copy_from(&counts);
            for row in held_out.iter().map(|&row| row as usize) {
                rest.add(
                    rows.row(row),
                    &targets.labels.of_row[row],
                    -targets.weights[row],
                    self.presence_only(),
                );
            }
            let is_feature = features_without(fold);
            rest.keep_only(is_feature.clone());
            // Most features are in no document of a small fold; Bernoulli's absent words speak too.
            let mut asked = vec![self.presence_only(); rows.column_count()];
            for &row in &held_out {
                let entries = rows.row(row as usize).entries();
                entries.for_each(|(column, _)| asked[column] = true);
            }
            let model = self.model(&rest, task, |feature| asked[feature]);
            said.add_fold(&model, rows, &held_out, |column| is_feature[column]);
        }
        Ok((model, said))
    }

    /// Folds that have to be counted again.
    fn recount_folds<'f>(
        &self,
        rows: &SparseMatrix,
        targets: &Targets<'_>,
        source: &'f dyn FoldSource,
    ) -> Result<(LinearClassScorer, HeldOutOutputs<'f>), FitError> {
        let everyone: Vec<u32> = (0..rows.row_count() as u32).collect();
        let model = self.scorer(&targets.among(rows, &everyone))?;
        let folds = source.folds();
        let mut said = HeldOutOutputs::new(&model, folds, rows.row_count());
        for fold in 0..folds.count() {
            check(source.progress())?;
            let rows = source.without(fold);
            let (members, held_out) = folds.split(fold);
            let model = self.scorer(&targets.among(&rows, &members))?;
            // Terms that are not features without the fold have no entries.
            said.add_fold(&model, &rows, &held_out, |_| true);
        }
        Ok((model, said))
    }

    /// The linear model that the counts amount to, with weights for those features that will be asked for.
    fn model(
        &self,
        counts: &ClassCounts,
        task: Task,
        is_asked: impl Fn(usize) -> bool + Sync,
    ) -> LinearClassScorer {
        let joint = task == Task::SingleLabel;
        let width = if joint && counts.class_count == 2 {
            1
        } else {
            counts.class_count
        };
        let feature_count = counts.by_feature.len();
        let mut weights = vec![0.0; feature_count * width];
        let estimate = Estimate::new(self, counts);
        let chunk = 4096;
        // Absent words of the Bernoulli kind add to the biases: summed by fixed chunks, in order,
        // so that the result does not depend on the number of threads.
        let absent = parallel::map_chunks_mut(&mut weights, chunk * width, |number, weights| {
            let mut absent = vec![0.0; width];
            let mut positive = vec![(0.0, 0.0); counts.class_count];
            for (offset, weights) in weights.chunks_exact_mut(width).enumerate() {
                let feature = number * chunk + offset;
                if !is_asked(feature) {
                    continue;
                }
                estimate.presence_and_absence(feature, !joint, &mut positive);
                if width == counts.class_count {
                    for (class, &(weight, bias)) in positive.iter().enumerate() {
                        weights[class] = weight;
                        absent[class] += bias;
                    }
                } else {
                    weights[0] = positive[1].0 - positive[0].0;
                    absent[0] += positive[1].1 - positive[0].1;
                }
            }
            absent
        });
        let mut biases = self.prior_biases(counts, joint);
        if width < biases.len() {
            biases = vec![biases[1] - biases[0]];
        }
        for part in absent {
            biases
                .iter_mut()
                .zip(part)
                .for_each(|(bias, part)| *bias += part);
        }
        let link = match (joint, width) {
            (true, 1) => Link::Mirror,
            (true, _) => Link::AgainstRest,
            (false, _) => Link::Independent,
        };
        LinearClassScorer::from_parts(WeightMatrix::Double(Storage::Owned(weights)), biases, link)
    }

    fn prior_biases(&self, counts: &ClassCounts, joint: bool) -> Vec<f64> {
        counts
            .documents_by_class
            .iter()
            .map(|&documents| match (self.kind, joint) {
                (NaiveBayesKind::Complement, true) => 0.0,
                // A fold may hold all documents of a class; half a document keeps its logarithm finite.
                (_, true) => (documents.max(0.5) / counts.documents.max(1.0)).ln(),
                (_, false) => ((documents.max(0.0) + 1.0)
                    / ((counts.documents - documents).max(0.0) + 1.0))
                    .ln(),
            })
            .collect()
    }
}

/// What says more of a term than that it is there.
pub(crate) fn not_presence(value: String) -> FitError {
    FitError::BadSetting {
        setting: "the weighting",
        requirement: "`binary` and without unit length for Bernoulli naive Bayes, which looks only at whether a term occurs",
        value,
    }
}

/// Word probabilities with the smoothing worked in.
struct Estimate<'a> {
    kind: NaiveBayesKind,
    smoothing: Smoothing,
    counts: &'a ClassCounts,
    feature_count: f64,
    ln_totals: Vec<f64>,
    ln_rest_totals: Vec<f64>,
}

impl<'a> Estimate<'a> {
    fn new(settings: &NaiveBayes, counts: &'a ClassCounts) -> Self {
        let feature_count = counts.feature_count() as f64;
        let extra = match (settings.smoothing, settings.kind) {
            (Smoothing::Laplace { alpha }, NaiveBayesKind::Bernoulli) => 2.0 * alpha,
            (Smoothing::Laplace { alpha }, _) => alpha * feature_count,
            (Smoothing::CorpusPrior { strength }, _) => strength,
        };
        let (by_class, all) = match settings.kind {
            NaiveBayesKind::Bernoulli => (&counts.documents_by_class, counts.documents),
            _ => (&counts.mass_by_class, counts.mass),
        };
        Self {
            kind: settings.kind,
            smoothing: settings.smoothing,
            counts,
            feature_count,
            ln_totals: by_class
                .iter()
                .map(|&total| (total.max(0.0) + extra).ln())
                .collect(),
            ln_rest_totals: by_class
                .iter()
                .map(|&total| ((all - total).max(0.0) + extra).ln())
                .collect(),
        }
    }

    fn extra(&self, feature: usize) -> f64 {
        let seen = self.counts.by_feature[feature].max(0.0);
        match (self.smoothing, self.kind) {
            (Smoothing::Laplace { alpha }, _) => alpha,
            (Smoothing::CorpusPrior { strength }, NaiveBayesKind::Bernoulli) => {
                strength * (seen + 0.5) / (self.counts.documents + 1.0)
            }
            (Smoothing::CorpusPrior { strength }, _) => {
                strength * (seen + 1.0) / (self.counts.mass + self.feature_count)
            }
        }
    }

    /// For each class the weight of the word where it occurs, and what its absence adds to the
    /// bias; with `against_rest`, minus the same for all other documents.
    fn presence_and_absence(&self, feature: usize, against_rest: bool, into: &mut [(f64, f64)]) {
        if self
            .counts
            .is_feature
            .as_ref()
            .is_some_and(|is_feature| !is_feature[feature])
        {
            into.fill((0.0, 0.0));
            return;
        }
        let extra = self.extra(feature);
        let seen = self.counts.by_feature[feature];
        let by_class =
            &self.counts.by_class[feature * self.counts.class_count..][..self.counts.class_count];
        for (class, (&count, into)) in by_class.iter().zip(into).enumerate() {
            let ln_in = (count.max(0.0) + extra).ln() - self.ln_totals[class];
            let ln_rest = || ((seen - count).max(0.0) + extra).ln() - self.ln_rest_totals[class];
            *into = match self.kind {
                NaiveBayesKind::Multinomial if against_rest => (ln_in - ln_rest(), 0.0),
                NaiveBayesKind::Multinomial => (ln_in, 0.0),
                NaiveBayesKind::Complement if against_rest => (ln_in - ln_rest(), 0.0),
                NaiveBayesKind::Complement => (-ln_rest(), 0.0),
                NaiveBayesKind::Bernoulli => {
                    let absence = |ln_present: f64| (-ln_present.exp()).ln_1p();
                    let (mut present, mut absent) = (ln_in, absence(ln_in));
                    if against_rest {
                        present -= ln_rest();
                        absent -= absence(ln_rest());
                    }
                    (present - absent, absent)
                }
            };
        }
    }
}

impl ClassLearner for NaiveBayes {
    fn fit(&self, problem: &Problem<'_>) -> Result<Fitted, FitError> {
        Ok(self.scorer(problem)?.into())
    }

    /// Takes the fold's counts off the totals where it can, and lets terms say as much less in long documents as whoever
    /// cross-fits finds best.
    fn cross_fit(
        &self,
        rows: SparseMatrix,
        targets: &Targets<'_>,
        source: &dyn FoldSource,
    ) -> Result<CrossFit, FitError> {
        let (scorer, said) = match source.cheap_folds() {
            Some(folds) => {
                let features = |fold| source.features_without(fold);
                self.subtract_folds(&rows, targets, folds, features)?
            }
            None => self.recount_folds(&rows, targets, source)?,
        };
        let damping = source.length_damping(&said);
        Ok(CrossFit {
            out_of_fold: said.into_scores(damping),
            scorer: scorer.with_damping(damping).into(),
            convergence: Vec::new(),
        })
    }

    fn name(&self) -> &'static str {
        match self.kind {
            NaiveBayesKind::Multinomial => "naive Bayes",
            NaiveBayesKind::Bernoulli => "Bernoulli naive Bayes",
            NaiveBayesKind::Complement => "complement naive Bayes",
        }
    }

    fn variants() -> Vec<Variant<Self>> {
        let of = |kind| Self {
            kind,
            ..Self::default()
        };
        let (plain, presence, complement) = (
            of(NaiveBayesKind::Multinomial),
            of(NaiveBayesKind::Bernoulli),
            of(NaiveBayesKind::Complement),
        );
        vec![
            Variant::named("naive-bayes", "Multinomial naive Bayes", plain).searched(30),
            Variant::named("bernoulli-naive-bayes", "Bernoulli naive Bayes", presence),
            Variant::named(
                "complement-naive-bayes",
                "Complement naive Bayes",
                complement,
            )
            .searched(20),
        ]
    }

    fn check(&self) -> Result<(), FitError> {
        match self.smoothing {
            Smoothing::Laplace { alpha } => positive("alpha", alpha),
            Smoothing::CorpusPrior { strength } => {
                positive("the strength of the word prior", strength)
            }
        }
    }

    fn reads(&self) -> Reads {
        if self.presence_only() {
            Reads::Presence
        } else {
            Reads::Counts
        }
    }

    /// Presence for the Bernoulli kind, counts for the others.
    fn usual_weighting(&self) -> WeightingSettings {
        let weighting = match self.presence_only() {
            true => Weighting::Binary,
            false => Weighting::Tf,
        };
        WeightingSettings {
            weighting,
            l2_norm: false,
        }
    }

    fn states_log_odds(&self) -> bool {
        true
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn has_cheap_folds(&self) -> bool {
        true
    }

    /// The complement of one of two classes is the other.
    fn needs_three_classes(&self) -> bool {
        self.kind == NaiveBayesKind::Complement
    }

    fn refuses_class_weights(&self) -> Option<&'static str> {
        Some("equal for naive Bayes (give example weights instead)")
    }

    fn tuned(&mut self) -> Option<(&'static str, &mut f64)> {
        Some(match &mut self.smoothing {
            Smoothing::Laplace { alpha } => ("alpha", alpha),
            Smoothing::CorpusPrior { strength } => ("word prior", strength),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;
    use crate::problem::{ClassFactors, ClassLabels};
    use crate::scorers::{LengthDamping, SavedScorer};

    #[test]
    fn held_out_scores_are_those_of_models_that_were_fitted_to_the_others() {
        let mut random = Random::from_seed(4);
        let rows: Vec<Vec<(u32, f32)>> = (0..60)
            .map(|_| {
                (0..12)
                    .filter_map(|column| {
                        Some((column, random.below(4) as f32)).filter(|e| e.1 > 0.0)
                    })
                    .collect()
            })
            .collect();
        let rows = SparseMatrix::from_rows(12, rows);
        let labels = ClassLabels {
            task: Task::SingleLabel,
            class_count: 3,
            of_row: (0..60).map(|row| vec![row % 3]).collect(),
        };
        let weights: Vec<f64> = (0..60).map(|row| 1.0 + f64::from(row % 2)).collect();
        let folds = Folds::from_assignment(4, (0..60).map(|row| row as u8 / 15).collect());
        let damping = LengthDamping {
            exponent: 0.5,
            usual: 9.0,
            offset: 1.0,
            least: 2.0,
        };
        let learner = NaiveBayes::default();
        let factors = ClassFactors::equal(3);
        let targets = Targets::new(&labels, &weights, &factors);
        let features = |_| vec![true; 12];
        let (_, said) = learner
            .subtract_folds(&rows, &targets, &folds, features)
            .unwrap();
        for row in 0..60 {
            let (others, _) = folds.split(folds.of(row));
            let model = learner.scorer(&targets.among(&rows, &others)).unwrap();
            for damping in [None, Some(damping)] {
                let length: f64 = rows.row(row).entries().map(|entry| entry.1).sum();
                assert_eq!(said.lengths()[row], length);
                let mut scores = [0.0; 3];
                said.scores_into(row, damping, &mut scores);
                let expected = SavedScorer::from(model.clone().with_damping(damping));
                for (score, expected) in scores.iter().zip(expected.output_scores(rows.row(row))) {
                    assert!((score - expected).abs() < 1e-9, "{score} {expected}");
                }
            }
        }
    }
}
