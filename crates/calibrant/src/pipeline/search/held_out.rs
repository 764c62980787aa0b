//! Weights of a pool, and what it is worth in the eyes of documents that had no say in it.

use std::ops::Range;

use super::SearchGain;
use super::kept::{Kept, KeptFits};
use crate::calibration::{LogOddsPool, MemberForecasts, evidence};
use crate::evaluation::Forecasts;
use crate::pipeline::FitSettings;
use crate::pipeline::distinct::Documents;
use crate::pipeline::paired_losses::PairedLosses;
use crate::pipeline::pooled::{pooled, pools_without_folds};
use crate::pipeline::training_corpus::PreparedCorpus;
use crate::problem::Folds;
use crate::{FitError, Probability};

/// A member that counts less is not worth its time at every prediction.
const LEAST_WEIGHT: f64 = 0.05;
/// With more forecasts than these of one fit, a part of the documents decides the weights: some thirty fits may have to
/// be remembered, eight bytes a forecast.
const MOST_FORECASTS: usize = 1_000_000;
/// Where fewer than one in so many documents had no say, they cannot judge for all.
const FEWEST_JUDGES: usize = 4;

/// Documents with their folds: all, or a part of them where there are very many.
pub(super) struct HeldOut<'a> {
    corpus: &'a PreparedCorpus,
    folds: Folds,
    rows: Vec<u32>,
}

/// What may be served: fits by their places among what was kept, and how they are pooled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) members: Vec<usize>,
    pub(super) pool: LogOddsPool,
}

/// An answer, and what it says of the documents, each by weights that were fitted without its fold.
pub(super) struct Stated {
    pub(super) answer: Answer,
    pub(super) probabilities: Vec<Probability>,
}

/// What the judges were told by answers that they had no say in.
pub(super) struct Judgement {
    /// Places among the documents that decide about pools.
    places: Vec<usize>,
    probabilities: Vec<Probability>,
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
        let rows = (0..).zip(corpus.documents.numbers());
        let rows = rows.filter(|(_, document)| *document % step == 0);
        Ok(Self {
            corpus,
            folds,
            rows: rows.map(|(row, _)| row).collect(),
        })
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

    /// The pool of the best where it forecasts better than the best alone, else that; of those fits that may take part.
    pub(super) fn answer(
        &self,
        kept: &KeptFits,
        may_take_part: impl Fn(&Kept) -> bool,
    ) -> Option<Stated> {
        let mut candidates = kept.candidates();
        candidates.retain(|&place| may_take_part(kept.get(place)));
        let best = kept.best_of(&candidates)?;
        let single = &kept.get(best).forecasts;
        // Where weights cannot be found, there is the best alone.
        let pool = self.pool(kept, candidates, best).ok();
        let pool = pool.filter(|pool| {
            let pair = PairedLosses::of(self.corpus, self.rows(), &pool.probabilities, single);
            pool.answer.members.len() > 1 && pair.log_loss < pair.other
        });
        Some(pool.unwrap_or_else(|| Stated {
            answer: alone(best),
            probabilities: single.clone(),
        }))
    }

    fn rows(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().map(|&row| row as usize)
    }

    /// Weights of least log loss; those that hardly count are left out until none is left that hardly counts.
    fn pool(
        &self,
        kept: &KeptFits,
        mut members: Vec<usize>,
        best: usize,
    ) -> Result<Stated, FitError> {
        loop {
            let forecasts = self.member_forecasts(kept, &members)?;
            let pool = LogOddsPool::fit(&forecasts, |_| true)?;
            let weighed = members.iter().zip(pool.weights());
            let counting = weighed.filter(|(_, weight)| **weight >= LEAST_WEIGHT);
            let counting: Vec<usize> = counting.map(|(member, _)| *member).collect();
            if counting.len() == members.len() || members.len() == 1 {
                let fold_of = |place: usize| self.folds.of(self.rows[place] as usize);
                let pools = pools_without_folds(&forecasts, self.folds.count(), fold_of)?;
                let names = self.corpus.class_names.clone();
                let stated = pooled(names, &forecasts, |place| &pools[fold_of(place)]);
                return Ok(Stated {
                    answer: Answer { members, pool },
                    probabilities: stated.probabilities,
                });
            }
            members = match counting.is_empty() {
                true => vec![best],
                false => counting,
            };
        }
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

    fn classes(&self, place: usize) -> Range<usize> {
        let count = self.corpus.labels.class_count;
        place * count..(place + 1) * count
    }

    /// What each document is told by the answer of the one part that it does not belong to. Nothing where too few
    /// documents have such an answer.
    pub(super) fn judgement(
        &self,
        kept: &KeptFits,
        parts: &[(&[u32], Option<Answer>)],
    ) -> Option<Judgement> {
        let rows: Vec<&[u32]> = parts.iter().map(|(rows, _)| *rows).collect();
        let outside = outside_one_part(&self.corpus.documents, &rows);
        let (mut places, mut probabilities) = (Vec::new(), Vec::new());
        let mut buffer = Vec::new();
        for (place, row) in self.rows().enumerate() {
            let answer = outside[row].and_then(|part| parts[part].1.as_ref());
            if let Some(answer) = answer {
                places.push(place);
                self.state_into(kept, answer, place, &mut buffer, &mut probabilities);
            }
        }
        let enough = places.len() * FEWEST_JUDGES >= self.rows.len() && !places.is_empty();
        enough.then_some(Judgement {
            places,
            probabilities,
        })
    }

    /// Adds what an answer says of a document.
    fn state_into(
        &self,
        kept: &KeptFits,
        Answer { members, pool }: &Answer,
        place: usize,
        buffer: &mut Vec<f64>,
        stated: &mut Vec<Probability>,
    ) {
        let classes = self.classes(place);
        let of_member = |&member: &usize| &kept.get(member).forecasts[classes.clone()];
        if let [only] = members.as_slice() {
            stated.extend_from_slice(of_member(only));
            return;
        }
        let task = self.corpus.labels.task;
        let all = members.iter().flat_map(of_member);
        let said: Vec<f64> = all.map(|&stated| evidence(task, stated)).collect();
        let first = stated.len();
        stated.resize(first + classes.len(), Probability::from_log_odds(0.0));
        pool.pool_into(task, &said, buffer, &mut stated[first..]);
    }

    /// What is gained in the eyes of the judges by what they were told, instead of what the default states.
    pub(super) fn gain(&self, judgement: &Judgement, default: &[Probability]) -> SearchGain {
        let places = &judgement.places;
        let default = places
            .iter()
            .flat_map(|&place| &default[self.classes(place)]);
        let default: Vec<Probability> = default.copied().collect();
        let rows = places.iter().map(|&place| self.rows[place] as usize);
        let pair = PairedLosses::of(self.corpus, rows, &judgement.probabilities, &default);
        SearchGain {
            log_loss: pair.log_loss,
            default_log_loss: pair.other,
            standard_error: pair.standard_error,
        }
    }

    /// Forecasts of all documents that decide about pools, with their labels.
    pub(super) fn forecasts(&self, probabilities: Vec<Probability>) -> Forecasts {
        self.labelled(probabilities, self.rows())
    }

    /// What the judges were told, with their labels.
    pub(super) fn forecasts_of(&self, judgement: Judgement) -> Forecasts {
        let places = judgement.places.iter();
        let rows = places.map(|&place| self.rows[place] as usize);
        self.labelled(judgement.probabilities, rows)
    }

    fn labelled(
        &self,
        probabilities: Vec<Probability>,
        rows: impl Iterator<Item = usize>,
    ) -> Forecasts {
        let (labels, weights) = (&self.corpus.labels, &self.corpus.documents.weights);
        let (of_row, weights) = rows.map(|row| (&labels.of_row[row], weights[row])).unzip();
        Forecasts {
            task: labels.task,
            class_names: self.corpus.class_names.clone(),
            probabilities,
            labels: of_row,
            weights: Some(weights),
        }
    }

    /// By document that decides about pools: what it belongs to.
    pub(super) fn units(&self) -> Vec<u32> {
        let units = self.corpus.documents.units();
        self.rows().map(|row| units[row]).collect()
    }
}

/// One fit as it is.
fn alone(place: usize) -> Answer {
    Answer {
        members: vec![place],
        pool: LogOddsPool::of_one(0, 1, 0),
    }
}

/// By row: the only part of the documents that neither it nor what belongs to it is in.
fn outside_one_part(documents: &Documents, parts: &[&[u32]]) -> Vec<Option<usize>> {
    let units = documents.units();
    let is_in = |rows: &&[u32]| {
        let mut is_in = vec![false; documents.count];
        for &row in *rows {
            is_in[units[row as usize] as usize] = true;
        }
        is_in
    };
    let is_in: Vec<Vec<bool>> = parts.iter().map(is_in).collect();
    let outside = |&unit: &u32| {
        let parts = is_in.iter().enumerate();
        let mut without = parts.filter(|(_, is_in)| !is_in[unit as usize]);
        let first = without.next().map(|(part, _)| part);
        first.filter(|_| without.next().is_none())
    };
    units.iter().map(outside).collect()
}
