//! What is known of each row, and which rows belong together.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use super::choose::Unit;
use super::moments::{self, Moment, MomentProblem};
use super::{LABELS, SplitError, SplitSettings, SplitSide, problem};
use crate::Progress;
use crate::corpus::{
    ContentRef, Document, ReadOptions, ReadSummary, Source, field_names, read_batches_until,
};
use crate::numeric::Links;
use crate::pipeline::ContentKeys;

/// How the file is read: with the moment beside the text. Where no text is named and there is no field `text`, a document is all that its row says
/// beside label, identifier, group and moment.
pub(super) fn options_of(
    source: &Source,
    options: &ReadOptions,
    settings: &SplitSettings,
) -> Result<ReadOptions, SplitError> {
    let mut options = options.clone();
    options.labels_required = match options.fields.label {
        Some(_) => crate::corpus::LabelNeed::Required,
        None => LABELS,
    };
    options.fields.asked = settings.time.iter().cloned().collect();
    if options.fields.text.is_empty() && !options.fields.has_side_columns() {
        let names = field_names(source, &options)?;
        if !names.iter().any(|name| name == "text") {
            let fields = &options.fields;
            let label = fields.label_name().to_owned();
            let said = [&fields.id, &fields.weight, &fields.group, &settings.time];
            let mut said: Vec<&str> = said.into_iter().flatten().map(String::as_str).collect();
            said.extend(["id", &label, ""]);
            let text = names.iter().filter(|name| !said.contains(&name.as_str()));
            options.fields.text = text.cloned().collect();
        }
    }
    Ok(options)
}

/// What is known of each row, in the order of the file.
#[derive(Default)]
pub(super) struct Rows {
    keys: Vec<u128>,
    lines: Vec<u64>,
    labels: Vec<Vec<String>>,
    groups: Vec<Option<String>>,
    /// As the file writes them.
    moments: Vec<String>,
}

/// Rows that belong together, and which are in which.
pub(super) struct Units {
    pub(super) units: Vec<Unit>,
    pub(super) of_row: Vec<u32>,
    moments: Vec<f64>,
}

impl Rows {
    pub(super) fn read(
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<(Self, ReadSummary), SplitError> {
        let keys = ContentKeys::new()?;
        let mut rows = Self::default();
        let map = |documents: Vec<Document>| {
            let mut batch = Self::default();
            let mut buffers = Default::default();
            for document in documents {
                let content = ContentRef::from(&document);
                batch.keys.push(keys.key(content, &mut buffers));
                let asked = content.as_record().and_then(|record| record.asked.first());
                batch.moments.extend(asked.cloned());
                batch.lines.push(document.line);
                batch.labels.push(document.labels);
                batch.groups.push(document.group);
            }
            batch
        };
        let read = read_batches_until(source, options, progress, map, |batch| {
            rows.keys.extend(batch.keys);
            rows.lines.extend(batch.lines);
            rows.labels.extend(batch.labels);
            rows.groups.extend(batch.groups);
            rows.moments.extend(batch.moments);
            ControlFlow::Continue(())
        })?;
        Ok((rows, read))
    }

    /// Rows that are copies of others.
    pub(super) fn copies(&self) -> u64 {
        let different: HashSet<u128> = self.keys.iter().copied().collect();
        (self.keys.len() - different.len()) as u64
    }

    /// What belongs together: copies, and groups.
    pub(super) fn units(&self, file: &str, settings: &SplitSettings) -> Result<Units, SplitError> {
        let moments = self.moments(file, settings)?;
        let mut links = Links::new(self.keys.len());
        let (mut first_of, mut first_in) = (HashMap::new(), HashMap::new());
        for (row, key) in (0..).zip(&self.keys) {
            links.join(*first_of.entry(key).or_insert(row), row);
        }
        for (row, group) in (0..).zip(&self.groups) {
            if let Some(group) = group {
                links.join(*first_in.entry(group).or_insert(row), row);
            }
        }
        let classes = self.classes();
        let mut numbers = HashMap::new();
        let mut units: Vec<Unit> = Vec::new();
        let mut of_row = Vec::with_capacity(self.keys.len());
        for (row, &key) in self.keys.iter().enumerate() {
            let number = *numbers.entry(links.root(row as u32)).or_insert_with(|| {
                units.push(Unit {
                    key: u128::MAX,
                    newest: f64::NEG_INFINITY,
                    ..Unit::default()
                });
                units.len() - 1
            });
            let unit = &mut units[number];
            unit.key = unit.key.min(key);
            unit.rows += 1;
            unit.newest = unit.newest.max(moments.get(row).copied().unwrap_or(0.0));
            for class in &classes[row] {
                match unit.classes.iter_mut().find(|(known, _)| known == class) {
                    Some((_, rows)) => *rows += 1,
                    None => unit.classes.push((*class, 1)),
                }
            }
            of_row.push(number as u32);
        }
        Ok(Units {
            units,
            of_row,
            moments,
        })
    }

    /// The numbers of each row's labels, in the order of their names; a row without any has the last number.
    fn classes(&self) -> Vec<Vec<u32>> {
        let names: std::collections::BTreeSet<&String> = self.labels.iter().flatten().collect();
        let numbers: HashMap<&String, u32> = names.into_iter().zip(0..).collect();
        let none = numbers.len() as u32;
        let labels = self.labels.iter();
        labels
            .map(|labels| match labels.is_empty() {
                true => vec![none],
                false => labels.iter().map(|label| numbers[label]).collect(),
            })
            .collect()
    }

    fn moments(&self, file: &str, settings: &SplitSettings) -> Result<Vec<f64>, SplitError> {
        let Some(field) = &settings.time else {
            return Ok(Vec::new());
        };
        let cells: Vec<Option<Moment>> = self
            .moments
            .iter()
            .map(|cell| moments::read(cell))
            .collect();
        moments::in_order(&cells, settings.date_order).map_err(|(at, found)| {
            let (file, line, field) = (file.to_owned(), self.lines[at], field.clone());
            let cell = self.moments[at].clone();
            match found {
                MomentProblem::Ambiguous => SplitError::AmbiguousDate {
                    file,
                    line,
                    field,
                    cell,
                },
                found => SplitError::Moment {
                    file,
                    line,
                    field,
                    reason: problem(found, &cell),
                },
            }
        })
    }

    /// What one of the files has.
    pub(super) fn side(&self, test: &[bool], side: bool, file: &str) -> SplitSide {
        let rows = || (0..test.len()).filter(|&row| test[row] == side);
        let documents: HashSet<u128> = rows().map(|row| self.keys[row]).collect();
        let groups: HashSet<&String> = rows().filter_map(|row| self.groups[row].as_ref()).collect();
        let mut labels = BTreeMap::new();
        for label in rows().flat_map(|row| &self.labels[row]) {
            *labels.entry(label.clone()).or_insert(0) += 1;
        }
        let grouped = self.groups.iter().any(Option::is_some);
        SplitSide {
            file: file.to_owned(),
            rows: rows().count() as u64,
            documents: documents.len() as u64,
            groups: grouped.then_some(groups.len() as u64),
            labels,
        }
    }
}

impl Units {
    /// Where the test begins: the oldest moment of a unit's newest row.
    pub(super) fn first_moment(&self, rows: &Rows, test: &[bool]) -> Option<String> {
        let newest = |row: usize| self.units[self.of_row[row] as usize].newest;
        // Older copies of what is new are on the side of the new.
        let is_newest = |&row: &usize| test[row] && self.moments.get(row) == Some(&newest(row));
        let tested = (0..test.len()).filter(is_newest);
        let first = tested.min_by(|&a, &b| self.moments[a].total_cmp(&self.moments[b]))?;
        rows.moments.get(first).cloned()
    }
}
