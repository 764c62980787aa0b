//! Cells of new documents that a model can make nothing of, or less than they say.

use std::collections::BTreeMap;

use super::{Cells, FittedSideColumns};

/// How many cells of each field hold nothing that a model has learned from: a value that no training
/// document had, or no value where all of them had one.
///
/// One or the other such cell is nothing to worry about. A field where most are was probably written in
/// another way when the model was fitted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnknownCells {
    documents: u64,
    fields: BTreeMap<String, Unknown>,
    beyond: BTreeMap<String, BeyondTraining>,
}

/// Numbers of a field that lie far outside those of the training documents, and count as lying less far.
#[derive(Debug, Clone, PartialEq)]
pub struct BeyondTraining {
    /// The field.
    pub field: String,
    /// How many cells.
    pub cells: u64,
    /// The one that is farthest out.
    pub farthest: f64,
    /// The least and the greatest number that a cell can count as.
    pub counts_as: (f64, f64),
}

impl BeyondTraining {
    /// Takes the other's cells in; of two equally far the lower is kept, whatever their order.
    fn merge(&mut self, other: Self) {
        self.cells += other.cells;
        let (low, high) = self.counts_as;
        let far = |x: f64| (low - x).max(x - high);
        let (ours, theirs) = (far(self.farthest), far(other.farthest));
        if theirs > ours || theirs == ours && other.farthest < self.farthest {
            self.farthest = other.farthest;
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Unknown {
    cells: u64,
    /// A value that no training document had.
    example: Option<String>,
}

/// A field most of whose cells are unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct MostlyUnknown {
    /// The field.
    pub field: String,
    /// The share of its cells that are unknown.
    pub share: f64,
    /// A value that no training document had; `None` where cells are empty.
    pub example: Option<String>,
}

impl UnknownCells {
    /// Counts a document.
    pub(crate) fn begin_document(&mut self) {
        self.documents += 1;
    }

    /// Adds those of later documents.
    pub fn merge(&mut self, later: Self) {
        self.documents += later.documents;
        for (field, unknown) in later.fields {
            let own = self.fields.entry(field).or_default();
            own.cells += unknown.cells;
            own.example = own.example.take().or(unknown.example);
        }
        for (_, beyond) in later.beyond {
            self.add_beyond(beyond);
        }
    }

    /// The fields with numbers far outside those of the training documents.
    pub fn beyond(&self) -> impl Iterator<Item = &BeyondTraining> {
        self.beyond.values()
    }

    fn add_beyond(&mut self, beyond: BeyondTraining) {
        match self.beyond.get_mut(&beyond.field) {
            Some(own) => own.merge(beyond),
            None => {
                self.beyond.insert(beyond.field.clone(), beyond);
            }
        }
    }

    /// The fields of which more than half of the cells are unknown.
    pub fn mostly(&self) -> Vec<MostlyUnknown> {
        let share = |unknown: &Unknown| unknown.cells as f64 / self.documents.max(1) as f64;
        let fields = self.fields.iter();
        fields
            .filter(|(_, unknown)| share(unknown) > 0.5)
            .map(|(field, unknown)| MostlyUnknown {
                field: field.clone(),
                share: share(unknown),
                example: unknown.example.clone(),
            })
            .collect()
    }

    fn add(&mut self, field: &str, example: Option<&str>) {
        if !self.fields.contains_key(field) {
            self.fields.insert(field.to_owned(), Unknown::default());
        }
        if let Some(own) = self.fields.get_mut(field) {
            own.cells += 1;
            if own.example.is_none() {
                own.example = example.map(str::to_owned);
            }
        }
    }
}

impl FittedSideColumns {
    /// Adds the unknown cells of a document. A field without any column is of no interest.
    pub fn add_unknown(&self, cells: &impl Cells, to: &mut UnknownCells) {
        for (column, numeric) in self.numeric.iter().enumerate() {
            let is_used = numeric.deviation.is_some() && !numeric.missing;
            if is_used && cells.number(column).is_none() {
                to.add(&numeric.field, None);
            }
            let far = |x: &f64| numeric.deviation.is_some() && numeric.held(*x) != *x;
            if let (Some(x), Some(bounds)) = (cells.number(column).filter(far), numeric.bounds()) {
                to.add_beyond(BeyondTraining {
                    field: numeric.field.clone(),
                    cells: 1,
                    farthest: x,
                    counts_as: bounds,
                });
            }
        }
        for (column, vectors) in self.vectors.iter().enumerate() {
            if vectors.length > 0 && cells.vector(column).is_none_or(<[f32]>::is_empty) {
                to.add(&vectors.field, None);
            }
        }
        for (column, categorical) in self.categorical.iter().enumerate() {
            match cells.category(column) {
                _ if categorical.values.is_empty() => {}
                None if !categorical.missing => to.add(&categorical.field, None),
                Some(value) if categorical.find(&self.spelling_of(value)).is_err() => {
                    to.add(&categorical.field, Some(value));
                }
                _ => {}
            }
        }
    }
}
