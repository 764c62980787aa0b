//! What would a search have found without a fold, and what does that say of the fold's documents?

use super::SearchGain;
use super::kept::{FoldLosses, KeptFits};
use crate::calibration::{LogOddsPool, MemberForecasts, evidence};
use crate::corpus::Folds;
use crate::evaluation::Forecasts;
use crate::pipeline::FitSettings;
use crate::pipeline::paired_losses::{PairedLosses, loss};
use crate::pipeline::training_corpus::PreparedCorpus;
use crate::{FitError, Probability};

/// A member that counts less is not worth its time at every prediction.
const LEAST_WEIGHT: f64 = 0.05;
/// With more forecasts than these of one fit, a part of the documents decides the weights: some forty fits may have to
/// be remembered, eight bytes a forecast.
const MOST_FORECASTS: usize = 1_000_000;
/// Where fewer than one in so many documents are outside the sample, as with a few large groups, all are judges.
const FEWEST_JUDGES: usize = 4;

/// The documents that decide about pools: all, or a part of them where there are very many.
pub(super) struct HeldOut<'a> {
    corpus: &'a PreparedCorpus,
    folds: Folds,
    rows: Vec<u32>,
    /// By place in `rows`: whether it has no part in the sample that decided what was tried on all documents.
    is_judge: Vec<bool>,
}

/// What may be served: fits by their places among what was kept, and how they are pooled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) members: Vec<usize>,
    pub(super) pool: LogOddsPool,
}

/// The answer of all documents, and what to expect of it.
pub(super) struct Judged {
    pub(super) answer: Answer,
    /// Absent where the answer is the default, or where there is none to hold it against.
    pub(super) gain: Option<SearchGain>,
    /// What the answers without each fold say of the documents that decide about pools.
    pub(super) stated: Forecasts,
    /// The same, of the judges among them.
    pub(super) of_judges: Forecasts,
    /// By row of `stated`: what it belongs to.
    pub(super) units: Vec<u32>,
}

impl<'a> HeldOut<'a> {
    pub(super) fn of(corpus: &'a PreparedCorpus, settings: &FitSettings) -> Result<Self, FitError> {
        let labels = &corpus.labels;
        let folds = corpus
            .documents
            .folds(labels, settings.folds, settings.seed)?;
        let forecasts = labels.of_row.len() * labels.class_count;
        // Documents are numbered in the order of their hashes: every so many is a fair part.
        let step = forecasts.div_ceil(MOST_FORECASTS).max(1) as u32;
        let rows = (0..).zip(&corpus.documents.of_row);
        let rows = rows.filter(|(_, document)| *document % step == 0);
        let rows: Vec<u32> = rows.map(|(row, _)| row).collect();
        Ok(Self {
            corpus,
            folds,
            is_judge: vec![true; rows.len()],
            rows,
        })
    }

    pub(super) fn fold_count(&self) -> usize {
        self.folds.count()
    }

    /// Documents of a sample that decides what is tried on all of them, and what belongs to these, are no judges.
    pub(super) fn judge_outside(&mut self, sample: &[u32]) {
        let units = self.corpus.documents.units();
        let mut is_sampled = vec![false; self.corpus.documents.seen.len()];
        for &row in sample {
            is_sampled[units[row as usize] as usize] = true;
        }
        let rows = self.rows.iter();
        let outside = rows.map(|&row| !is_sampled[units[row as usize] as usize]);
        let is_judge: Vec<bool> = outside.collect();
        let count = is_judge.iter().filter(|&&judge| judge).count();
        if count * FEWEST_JUDGES >= self.rows.len() {
            self.is_judge = is_judge;
        }
    }

    /// What is needed of the forecasts of all rows.
    pub(super) fn part_of(&self, forecasts: Vec<Probability>) -> Vec<Probability> {
        let labels = &self.corpus.labels;
        if self.rows.len() == labels.of_row.len() {
            return forecasts;
        }
        let classes = |&row: &u32| {
            let first = row as usize * labels.class_count;
            forecasts[first..first + labels.class_count].iter().copied()
        };
        self.rows.iter().flat_map(classes).collect()
    }

    /// The losses of forecasts of all rows.
    pub(super) fn losses_of_all(&self, forecasts: &[Probability]) -> FoldLosses {
        self.losses(0..self.corpus.labels.of_row.len(), forecasts)
    }

    /// The losses of forecasts of some rows.
    fn losses(&self, rows: impl Iterator<Item = usize>, forecasts: &[Probability]) -> FoldLosses {
        let labels = &self.corpus.labels;
        let mut of_folds = vec![0.0; self.folds.count()];
        for (row, stated) in rows.zip(forecasts.chunks_exact(labels.class_count)) {
            let loss = loss(labels.task, stated, &labels.of_row[row]);
            of_folds[self.folds.of(row)] += self.corpus.documents.weights[row] * loss;
        }
        FoldLosses::new(of_folds)
    }

    fn rows(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().map(|&row| row as usize)
    }

    /// Chooses and weighs by all documents, and by those outside each fold to see what that is worth.
    pub(super) fn judge(&self, kept: &KeptFits) -> Judged {
        let singles = self.without_folds(|fold| Ok(alone(kept.best(Some(fold)))), kept);
        let pools = self.without_folds(|fold| self.weigh(kept, Some(fold)), kept);
        // Where weights cannot be found, there is the best alone.
        let pool = self.weigh(kept, None);
        let single = || alone(kept.best(None));
        let (answer, stated) = match (pool, pools, singles) {
            (Ok(pool), Ok(pools), Ok(singles)) => {
                let losses = [&pools, &singles].map(|stated| self.losses(self.rows(), stated));
                let pool_is_better = |fold| losses[0].without(fold) < losses[1].without(fold);
                let answer = match pool_is_better(None) {
                    true => pool,
                    false => single(),
                };
                (
                    answer,
                    self.mixed(&pools, &singles, |fold| pool_is_better(Some(fold))),
                )
            }
            (_, _, singles) => (single(), singles.unwrap_or_default()),
        };
        self.judged(kept, answer, stated)
    }

    fn judged(&self, kept: &KeptFits, answer: Answer, stated: Vec<Probability>) -> Judged {
        let default = kept
            .default()
            .filter(|&default| answer.members != [default]);
        let gain = default.map(|default| self.gain(&stated, &kept.get(default).forecasts));
        let units = self.corpus.documents.units();
        Judged {
            answer,
            gain: gain.filter(|gain| gain.default_log_loss.is_finite()),
            of_judges: self.forecasts_of(&stated, &self.is_judge),
            stated: self.forecasts_of(&stated, &vec![true; self.rows.len()]),
            units: self.rows().map(|row| units[row]).collect(),
        }
    }

    /// The candidates with weights of least log loss, by all documents or by those outside a fold; those that hardly
    /// count are left out until none is left that hardly counts.
    fn weigh(&self, kept: &KeptFits, without: Option<usize>) -> Result<Answer, FitError> {
        let mut members = kept.candidates(without);
        loop {
            if members.len() == 1 {
                return Ok(alone(members[0]));
            }
            let forecasts = self.member_forecasts(kept, &members)?;
            let takes_part = |place: usize| Some(self.fold_of(place)) != without;
            let pool = LogOddsPool::fit(&forecasts, takes_part)?;
            let weighed = members.iter().zip(pool.weights());
            let counting = weighed.filter(|(_, weight)| **weight >= LEAST_WEIGHT);
            let counting: Vec<usize> = counting.map(|(member, _)| *member).collect();
            if counting.len() == members.len() {
                return Ok(Answer { members, pool });
            }
            members = match counting.is_empty() {
                true => vec![kept.best(without)],
                false => counting,
            };
        }
    }

    fn fold_of(&self, place: usize) -> usize {
        self.folds.of(self.rows[place] as usize)
    }

    fn member_forecasts(
        &self,
        kept: &KeptFits,
        members: &[usize],
    ) -> Result<MemberForecasts, FitError> {
        let labels = &self.corpus.labels;
        let mut forecasts = MemberForecasts::new(labels.task, members.len(), labels.class_count);
        for (place, row) in self.rows().enumerate() {
            let classes = self.classes(place);
            let stated = members.iter();
            let stated: Vec<&[Probability]> = stated
                .map(|&member| &kept.get(member).forecasts[classes.clone()])
                .collect();
            let weight = self.corpus.documents.weights[row];
            forecasts.push(&stated, &labels.of_row[row], weight)?;
        }
        Ok(forecasts)
    }

    fn classes(&self, place: usize) -> std::ops::Range<usize> {
        let count = self.corpus.labels.class_count;
        place * count..(place + 1) * count
    }

    /// What is said of every document by the answer without its fold.
    fn without_folds(
        &self,
        answer_without: impl Fn(usize) -> Result<Answer, FitError>,
        kept: &KeptFits,
    ) -> Result<Vec<Probability>, FitError> {
        let task = self.corpus.labels.task;
        let even = Probability::from_log_odds(0.0);
        let mut stated = vec![even; self.rows.len() * self.corpus.labels.class_count];
        let (mut said, mut room) = (Vec::new(), Vec::new());
        for fold in 0..self.folds.count() {
            let Answer { members, pool } = answer_without(fold)?;
            for place in (0..self.rows.len()).filter(|&place| self.fold_of(place) == fold) {
                let classes = self.classes(place);
                let of_member = |&member: &usize| &kept.get(member).forecasts[classes.clone()];
                if let [only] = members.as_slice() {
                    stated[classes.clone()].copy_from_slice(of_member(only));
                    continue;
                }
                said.clear();
                let all = members.iter().flat_map(of_member);
                said.extend(all.map(|&probability| evidence(task, probability)));
                pool.pool_into(task, &said, &mut room, &mut stated[classes.clone()]);
            }
        }
        Ok(stated)
    }

    /// Of each document the one or the other, as its fold has it.
    fn mixed(
        &self,
        first: &[Probability],
        second: &[Probability],
        takes_first: impl Fn(usize) -> bool,
    ) -> Vec<Probability> {
        let of_folds: Vec<bool> = (0..self.folds.count()).map(takes_first).collect();
        let places = 0..self.rows.len();
        let stated = places.flat_map(|place| {
            let from = match of_folds[self.fold_of(place)] {
                true => first,
                false => second,
            };
            from[self.classes(place)].iter().copied()
        });
        stated.collect()
    }

    /// What is gained by stating this in place of what the default states, in the eyes of the judges.
    pub(super) fn gain(&self, stated: &[Probability], default: &[Probability]) -> SearchGain {
        let judges = self.rows().zip(&self.is_judge);
        let judges = judges.filter(|(_, judge)| **judge).map(|(row, _)| row);
        let stated = self.of_some(stated, &self.is_judge);
        let default = self.of_some(default, &self.is_judge);
        let pair = PairedLosses::of(self.corpus, judges, &stated, &default);
        SearchGain {
            log_loss: pair.log_loss,
            default_log_loss: pair.other,
            standard_error: pair.standard_error,
        }
    }

    /// Forecasts of those documents alone that are wanted.
    fn of_some(&self, stated: &[Probability], is_wanted: &[bool]) -> Vec<Probability> {
        let rows = stated.chunks_exact(self.corpus.labels.class_count);
        let wanted = rows.zip(is_wanted).filter(|(_, wanted)| **wanted);
        wanted.flat_map(|(row, _)| row.iter().copied()).collect()
    }

    fn forecasts_of(&self, stated: &[Probability], is_wanted: &[bool]) -> Forecasts {
        let (labels, weights) = (&self.corpus.labels, &self.corpus.documents.weights);
        let wanted = self.rows().zip(is_wanted).filter(|(_, wanted)| **wanted);
        let wanted: Vec<usize> = wanted.map(|(row, _)| row).collect();
        Forecasts {
            task: labels.task,
            class_names: self.corpus.class_names.clone(),
            probabilities: self.of_some(stated, is_wanted),
            labels: wanted
                .iter()
                .map(|&row| labels.of_row[row].clone())
                .collect(),
            weights: Some(wanted.iter().map(|&row| weights[row]).collect()),
        }
    }
}

/// One fit as it is.
fn alone(place: usize) -> Answer {
    Answer {
        members: vec![place],
        pool: LogOddsPool::of_one(0, 1, 0),
    }
}
