//! Probabilities of some documents, and the predictions that they become.

use std::num::NonZeroUsize;

use super::{PredictError, Predictor, UnknownDocuments};
use crate::Probability;
use crate::corpus::{ContentRef, KeptRow};
use crate::decision::{PriorPlan, PriorReport};
use crate::features::UnknownCells;
use crate::jobs::decide::AskReport;
use crate::jobs::prediction::{DocumentKeys, Prediction};
use crate::jobs::promises::{BestDecisions, SetRoom};
use crate::numeric::StableSum;
use crate::parallel;
use crate::pipeline::PredictBuffers;

/// Probabilities of some documents before the most probable are chosen.
#[derive(Default)]
pub(super) struct Rows {
    /// The identifier of each document, and the number of its row.
    pub(super) ids: Vec<(Option<String>, u64)>,
    /// The rows as they stand in the file, where they are kept.
    pub(super) kept: Vec<Option<KeptRow>>,
    /// Document by document, class by class.
    pub(super) probabilities: Vec<Probability>,
    /// The same of the learner's scores; empty where they are not wanted.
    pub(super) scores: Vec<f64>,
    /// The numbers of the fields that costs are read from.
    pub(super) amounts: Vec<f64>,
    /// Document by document, the classes in its set; empty where sets are not wanted.
    pub(super) sets: Vec<Vec<u32>>,
    pub(super) unknown: UnknownCells,
    pub(super) unknown_documents: Option<UnknownDocuments>,
}

/// One document of them.
#[derive(Clone, Copy, Default)]
pub(super) struct Row<'r> {
    pub(super) probabilities: &'r [Probability],
    pub(super) scores: &'r [f64],
    pub(super) amounts: &'r [f64],
    /// Whether a person is asked about it; `None` leaves that to the costs.
    pub(super) asked: Option<bool>,
    /// The classes in its set, where sets are wanted.
    pub(super) set: Option<&'r [u32]>,
    /// What is decided about labels by the best F.
    pub(super) best: Option<&'r BestDecisions>,
}

impl Rows {
    /// Counts the document of the last prediction if the model knew nothing of it.
    pub(super) fn count_unknown(&mut self, buffers: &Buffers, line: u64) {
        let one = UnknownDocuments {
            documents: 1,
            first_line: line,
        };
        let unknown = buffers.predict.knew_nothing().then_some(one);
        UnknownDocuments::add(&mut self.unknown_documents, unknown);
    }

    /// Adds the rows of later documents.
    pub(super) fn append(&mut self, later: Self) {
        self.ids.extend(later.ids);
        self.kept.extend(later.kept);
        self.probabilities.extend(later.probabilities);
        self.scores.extend(later.scores);
        self.amounts.extend(later.amounts);
        self.sets.extend(later.sets);
        self.unknown.merge(later.unknown);
    }
}

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Buffers {
    predict: PredictBuffers,
    shift: Vec<f64>,
    sets: SetRoom,
}

impl<'m> Predictor<'m> {
    /// Which documents a person is asked about, and what that saves; nothing where that is left to the costs.
    pub(super) fn choose_asked(&self, rows: &Rows) -> (Vec<bool>, Option<AskReport>) {
        let (Some(budget), Some(decider)) = (self.ask, &self.decider) else {
            return (Vec::new(), None);
        };
        let all: Vec<Row<'_>> = self.rows(rows).collect();
        let costs = parallel::map(&all, |row| {
            decider.without_and_with(row.probabilities, row.amounts)
        });
        let worth: Vec<f64> = costs.iter().map(|(without, with)| without - with).collect();
        let chosen = budget.choose(&worth);
        let without: StableSum = costs.iter().map(|(without, _)| *without).collect();
        let paid = costs.iter().zip(&chosen);
        let paid = paid.map(|((without, with), &asked)| if asked { *with } else { *without });
        let report = AskReport {
            asked: chosen.iter().filter(|&&asked| asked).count(),
            expected_cost: paid.collect::<StableSum>().total(),
            expected_cost_without: without.total(),
            by_costs: !decider.entries().is_empty(),
        };
        (chosen, Some(report))
    }

    /// The documents one by one.
    fn rows<'r>(&self, rows: &'r Rows) -> impl Iterator<Item = Row<'r>> + use<'r, 'm> {
        let width = self.names.len();
        let fields = self
            .decider
            .as_ref()
            .map_or(0, |decider| decider.fields().len());
        let mut scores = rows.scores.chunks_exact(width);
        let stated = rows.probabilities.chunks_exact(width).enumerate();
        stated.map(move |(number, probabilities)| Row {
            probabilities,
            scores: scores.next().unwrap_or_default(),
            amounts: &rows.amounts[number * fields..(number + 1) * fields],
            asked: None,
            set: rows.sets.get(number).map(Vec::as_slice),
            best: None,
        })
    }

    /// The decisions of the best F for these documents, where they are asked for.
    pub(super) fn best_decisions(&self, rows: &Rows) -> Option<BestDecisions> {
        let asked = self.f_beta?;
        Some(asked.decide(&rows.probabilities, self.names.len()))
    }

    /// Adds what the model says of one document, shifted where the shares are known.
    pub(super) fn add_row(&self, content: ContentRef<'_>, buffers: &mut Buffers, rows: &mut Rows) {
        let first = rows.probabilities.len();
        let even = Probability::from_log_odds(0.0);
        rows.probabilities.resize(first + self.names.len(), even);
        let classes = &mut rows.probabilities[first..];
        if let Some(thresholds) = &self.thresholds {
            let model = self.model;
            model.predict_open_into(content, thresholds, &mut buffers.predict, classes);
            return;
        }
        let scores = self
            .model
            .predict_into(content, &mut buffers.predict, classes);
        if self.scores {
            rows.scores.extend(scores.of_classes());
        }
        if let Some(maker) = &self.sets {
            // By what calibration examples were judged by: the probabilities before any shift.
            let (model, room) = (self.model, &mut buffers.sets);
            let set = maker.set(model, content, classes, &mut buffers.predict, room);
            rows.sets.push(set.to_vec());
        }
        if let Some(shift) = self.plan.as_ref().and_then(PriorPlan::known_shift) {
            shift.apply(classes, &mut buffers.shift);
        }
    }

    /// Shifts all rows where that had to wait for them.
    pub(super) fn shift_all(&self, rows: &mut Rows) -> Result<Option<PriorReport>, PredictError> {
        let Some(plan) = &self.plan else {
            return Ok(None);
        };
        let decided = plan.decide(&rows.probabilities, None)?;
        if plan.must_see_all() {
            decided.apply(self.names.len(), &mut rows.probabilities);
        }
        Ok(decided.report)
    }

    /// The most probable classes of one document.
    pub(super) fn chosen(&self, row: Row<'_>) -> Prediction<'m> {
        let most = self.top.map_or(self.names.len(), NonZeroUsize::get);
        let mut said = Prediction::best_first(&self.names, row.probabilities, row.scores, most);
        if let Some(decider) = &self.decider {
            decider.decide(row.probabilities, row.amounts, row.asked, &mut said);
        }
        if let Some(answerer) = &self.answerer {
            said.decision = Some(answerer.decide(&self.names, row.probabilities));
        }
        if let Some(best) = row.best {
            best.decide(&self.names, row.probabilities, &mut said);
        }
        if let Some(set) = row.set {
            let labels = set.iter().map(|&class| self.names[class as usize].into());
            said.set = Some(labels.collect());
        }
        said
    }

    pub(super) fn all_chosen(&self, rows: &Rows) -> Vec<Prediction<'m>> {
        self.rows(rows).map(|row| self.chosen(row)).collect()
    }

    pub(super) fn predictions<'r>(
        &'r self,
        rows: &'r Rows,
        asked: &'r [bool],
        ids: impl Iterator<Item = (Option<String>, u64)> + 'r,
        keys: &'r mut DocumentKeys,
        best: Option<&'r BestDecisions>,
    ) -> impl Iterator<Item = Prediction<'m>> + 'r {
        let mut asked = asked.iter().copied();
        self.rows(rows).zip(ids).map(move |(row, (id, number))| {
            let asked = asked.next();
            let prediction = self.chosen(Row { asked, best, ..row });
            prediction.with_key(keys.next(id, number))
        })
    }
}
