//! Very many rows of two classes: the curve is fitted to all, everything else is found out on some of them.

use super::super::fit::{WeightShares, in_one_fold};
use super::super::training_corpus::PreparedCorpus;
use super::super::{Model, SingleModel};
use super::{Chosen, Held, Learned, calibrate};
use crate::calibration::{CalibrationNote, CalibratorKind, ChoiceRules, HeldOutScores};
use crate::corpus::Fields;
use crate::problem::{ClassLabels, Folds};
use crate::scorers::CrossFit;
use crate::{FitError, Progress};

/// From so many rows on, what is known from a part of them hardly changes: the standard error of a log loss is below a
/// thousandth of a nat, and curves that differ by less are equally good.
const MANY: usize = 200_000;
/// About so many are looked at.
const SAMPLE: usize = 100_000;
/// Of rows that weigh so much more than the mean some are not like all: one that stands for thousands of copies is among them or is not.
const MOST_WEIGHT: f64 = 10.0;
/// Each class must have as many rows among those.
const LEAST: usize = 2_000;

/// Rows that are looked at: spread evenly along the score, and by it all of them.
pub(super) struct Sample {
    /// The places of the rows, rising.
    rows: Vec<u32>,
    /// All rows by rising score.
    all: HeldOutScores,
}

impl Sample {
    /// `None` where there are not very many rows, where some weigh far more than others, or too few of one class are among some of them.
    pub(super) fn of(
        corpus: &PreparedCorpus,
        kind: CalibratorKind,
        fit: &mut CrossFit,
    ) -> Result<Option<Self>, FitError> {
        let labels = &corpus.labels;
        let is_large = labels.of_row.len() >= MANY && kind != CalibratorKind::None;
        let weights = &corpus.documents.weights;
        let is_large = is_large && weights.iter().all(|&weight| weight <= MOST_WEIGHT);
        let ([scores], true) = (
            &mut fit.out_of_fold[..],
            is_large && labels.class_count == 2,
        ) else {
            return Ok(None);
        };
        let scores = std::mem::take(scores);
        let truths = labels.membership(1);
        let weights = corpus.documents.weights.clone();
        let held_out = HeldOutScores::assume_weighted(scores, truths, weights)?;
        let (all, order) = held_out.sorted();
        let every = all.len() / SAMPLE;
        let places = (every / 2..all.len()).step_by(every);
        let positives = places.clone().filter(|&place| all.labels()[place]);
        let (positives, count) = (positives.count(), places.len());
        if positives.min(count - positives) < LEAST {
            fit.out_of_fold = vec![held_out.scores().to_vec()];
            return Ok(None);
        }
        drop(held_out);
        let mut sampled: Vec<(u32, f64)> = places
            .map(|place| (order[place], all.scores()[place]))
            .collect();
        sampled.sort_unstable_by_key(|&(row, _)| row);
        fit.out_of_fold = vec![sampled.iter().map(|&(_, score)| score).collect()];
        Ok(Some(Self {
            rows: sampled.into_iter().map(|(row, _)| row).collect(),
            all,
        }))
    }

    /// Chooses the method, cross-validates and measures it on these rows, and fits it to all. Forecasts are held out as ever: those of the
    /// rows that are looked at come from the other folds.
    pub(super) fn calibrate(
        self,
        chosen: Chosen<'_>,
        learned: Learned,
        progress: &dyn Progress,
    ) -> Result<Model, FitError> {
        let Self { rows, all } = self;
        let whole = Whole::of(&chosen.corpus, &learned.folds);
        let asked = chosen.settings.calibrator;
        let rules = ChoiceRules {
            monotone: chosen.settings.monotone,
        };
        let chosen = Chosen {
            corpus: Held::Given(Box::new(chosen.corpus.part(&rows))),
            ..chosen
        };
        let folds = rows.iter().map(|&row| learned.folds.of(row as usize) as u8);
        let learned = Learned {
            folds: Folds::from_assignment(learned.folds.count(), folds.collect()),
            ..learned
        };
        let fitted = calibrate(chosen, learned, Fields::default(), progress, false)?;
        let Model::Single(mut model) = fitted.model else {
            return Ok(fitted.model);
        };
        let (note, kind) = {
            let class = &model.summary.classes[1];
            (class.calibration, class.calibrator)
        };
        // What is made of scores that tell nothing is not a method that could be fitted again.
        if note == CalibrationNote::Own {
            model.calibrators.of_outputs = vec![asked.fit_chosen(kind, &all, rules)?];
        }
        model.summary.measured = Some(rows.len());
        whole.tell(&mut model);
        Ok(Model::Single(model))
    }
}

/// What a summary says of all rows.
struct Whole {
    documents: usize,
    copies: usize,
    groups: Option<usize>,
    /// For each class: how many rows of the file there are, its share where they do not weigh alike, and whether all are in one fold.
    classes: Vec<(usize, Option<f64>, bool)>,
}

impl Whole {
    fn of(corpus: &PreparedCorpus, folds: &Folds) -> Self {
        let (documents, weights) = (&corpus.documents, &corpus.documents.weights);
        let shares = (documents.copy_count() > 0)
            .then(|| WeightShares::of(weights))
            .or_else(|| WeightShares::of_unequal(weights));
        let of_class = |members: &Vec<u32>| {
            (
                documents.rows_of(members),
                shares.map(|shares| shares.share(members, weights)),
                in_one_fold(members, folds),
            )
        };
        Self {
            documents: documents.row_count(),
            copies: documents.copy_count(),
            groups: documents.group_count(),
            classes: corpus.labels.members().iter().map(of_class).collect(),
        }
    }

    fn tell(self, model: &mut SingleModel) {
        let summary = &mut model.summary;
        summary.documents = self.documents;
        summary.copies = self.copies;
        summary.groups = self.groups;
        for (class, (positives, prior, in_one_fold)) in summary.classes.iter_mut().zip(self.classes)
        {
            class.positives = positives;
            class.prior = prior;
            class.in_one_fold = in_one_fold;
        }
    }
}

impl PreparedCorpus {
    /// Some of the rows, of which the counts are somewhere else.
    fn part(&self, rows: &[u32]) -> Self {
        let places = rows.iter().map(|&row| row as usize);
        Self {
            arranged: crate::features::ArrangedCounts {
                vocabulary: None,
                counts: crate::features::SparseMatrix::new(0).into(),
            },
            side: self.side.clone(),
            rows: places.clone().map(|row| self.rows[row]).collect(),
            documents: self.documents.part(rows),
            learned: std::sync::Arc::clone(&self.learned),
            labels: ClassLabels {
                of_row: self.labels.of_row.of_rows(places),
                ..self.labels
            },
            class_names: self.class_names.clone(),
            limits: self.limits,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{FitSettings, TrainingRows};
    use super::super::fit_in_place;
    use super::*;
    use crate::NoProgress;
    use crate::features::Csr;
    use crate::jobs::predict_rows;
    use crate::numeric::Random;

    /// Rows of two numbers whose log-odds bend in their difference, and of class 1 so rarely.
    fn with_rows<T>(count: usize, shift: f64, work: impl FnOnce(&TrainingRows<'_>) -> T) -> T {
        let mut random = Random::from_seed(8);
        let (mut values, mut classes) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (a, b) = (random.normal(), random.normal());
            values.extend([a, b]);
            let log_odds = 2.0 * (a - b).min(0.7) + shift;
            classes.push(u32::from(
                random.uniform() < crate::numeric::sigmoid(log_odds),
            ));
        }
        let columns: Vec<i32> = (0..2 * count as i32).map(|entry| entry % 2).collect();
        let starts: Vec<i64> = (0..=count as i64).map(|row| 2 * row).collect();
        let rows = Csr::new(&starts, &columns, &values).unwrap();
        work(&TrainingRows::new(&rows, &classes))
    }

    fn settings() -> FitSettings {
        let mut settings = FitSettings::default();
        if let crate::scorers::Classifier::LinearSvm(svm) = &mut settings.classifier {
            svm.c = Some(0.5);
        }
        settings
    }

    #[test]
    fn very_many_rows_are_measured_on_some_and_the_curve_is_that_of_all() {
        with_rows(MANY + 10, -0.3, |training| {
            let settings = settings();
            let model = fit_in_place(training, &settings, &NoProgress).unwrap();
            let summary = model.summary();
            assert_eq!(summary.documents, MANY + 10);
            assert_eq!(
                summary.classes.iter().map(|c| c.positives).sum::<usize>(),
                MANY + 10
            );
            assert!(
                summary
                    .measured
                    .is_some_and(|rows| (SAMPLE..2 * SAMPLE).contains(&rows))
            );
            // The way that every other table of rows goes.
            let corpus = crate::pipeline::TrainingCorpus::of_rows(&settings, training).unwrap();
            let plain = crate::pipeline::fit(corpus, Fields::default(), &settings, &NoProgress);
            let plain = plain.unwrap();
            assert_eq!(plain.summary().measured, None);
            let difference = summary.held_out.log_loss - plain.summary().held_out.log_loss;
            assert!(difference.abs() < 3e-3, "{difference}");
            let ours = predict_rows(&model, training.rows).unwrap();
            let theirs = predict_rows(&plain, training.rows).unwrap();
            for (ours, theirs) in ours.iter().zip(&theirs).step_by(997) {
                let off = (ours.value() - theirs.value()).abs();
                assert!(off < 5e-3, "{ours:?} {theirs:?}");
            }
        });
    }

    /// Some of the rows would hold it or not, and each would be wrong.
    #[test]
    fn a_row_of_great_weight_is_never_left_to_chance() {
        with_rows(MANY + 10, 0.0, |training| {
            let mut weights = vec![1.0; MANY + 10];
            weights[77] = 20_000.0;
            let weighed = TrainingRows {
                weights: Some(&weights),
                ..*training
            };
            let model = fit_in_place(&weighed, &settings(), &NoProgress).unwrap();
            assert_eq!(model.summary().measured, None);
        });
    }

    #[test]
    fn a_rare_class_and_fewer_rows_are_looked_at_whole() {
        for (count, shift) in [(MANY + 10, -6.5), (5_000, 0.0)] {
            with_rows(count, shift, |training| {
                let model = fit_in_place(training, &settings(), &NoProgress).unwrap();
                assert_eq!(model.summary().measured, None);
                assert_eq!(model.summary().documents, count);
            });
        }
    }
}
