//! Cells of new documents that a model can make nothing of.

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
    pub fn begin_document(&mut self) {
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
