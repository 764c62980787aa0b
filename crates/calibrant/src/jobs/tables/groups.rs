//! Tables with a row for each document and class.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::TableError;
use super::arrange::{NameKind, Names, Rows};
use crate::evaluation::StatedCell;

/// Cells as they come, each of a document and a class.
pub(super) struct Groups<'a> {
    path: &'a Path,
    classes: Vec<String>,
    numbers: HashMap<String, u32>,
    cells: Vec<Cell>,
    ids: Option<Ids>,
    kind: NameKind,
    /// Documents that began with rank 1 so far.
    begun: u32,
}

struct Cell {
    /// By the rank: a document begins with its first.
    begun: u32,
    /// By the identifier, in the order in which identifiers come up.
    id: u32,
    class: u32,
    stated: StatedCell,
}

#[derive(Default)]
struct Ids {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// The identifier of each document that began with rank 1.
    of_begun: Vec<u32>,
}

impl<'a> Groups<'a> {
    /// `kind` says what rows are named by, if they are.
    pub(super) fn new(path: &'a Path, kind: Option<NameKind>) -> Self {
        Self {
            path,
            classes: Vec::new(),
            numbers: HashMap::new(),
            cells: Vec::new(),
            ids: kind.map(|_| Ids::default()),
            kind: kind.unwrap_or(NameKind::Ids),
            begun: 0,
        }
    }

    pub(super) fn has_ids(&self) -> bool {
        self.ids.is_some()
    }

    pub(super) fn kind(&self) -> NameKind {
        self.kind
    }

    /// Adds a cell; `first` says that it is the first of its document.
    pub(super) fn push(&mut self, first: bool, id: Option<&str>, label: &str, stated: StatedCell) {
        let class = number_of(label, &mut self.numbers, &mut self.classes);
        self.begun += u32::from(first);
        let mut id_number = 0;
        if let Some(ids) = &mut self.ids {
            id_number = number_of(id.unwrap_or_default(), &mut ids.numbers, &mut ids.names);
            if first {
                ids.of_begun.push(id_number);
            }
        }
        self.cells.push(Cell {
            begun: self.begun,
            id: id_number,
            class,
            stated,
        });
    }

    /// A whole table, with the classes in order; every document must have them all. Rows may stand in any order
    /// where identifiers tell documents apart, else a document ends where the next begins.
    pub(super) fn rows(self) -> Result<Rows, TableError> {
        let file = self.path.display().to_string();
        let mut seen = HashSet::with_capacity(self.cells.len());
        let by_id = self.ids.is_some() && self.cells.iter().all(|c| seen.insert((c.id, c.class)));
        drop(seen);
        if !by_id && self.cells.first().is_some_and(|cell| cell.begun == 0) {
            return Err(TableError::FirstRank { file });
        }
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        order.sort_unstable_by_key(|&class| &self.classes[class]);
        let mut place = vec![0; order.len()];
        for (position, &class) in order.iter().enumerate() {
            place[class] = position;
        }
        let classes: Vec<String> = order
            .iter()
            .map(|&class| self.classes[class].clone())
            .collect();
        let document = |cell: &Cell| if by_id { cell.id } else { cell.begun - 1 } as usize;
        let mut cells: Vec<(usize, usize, StatedCell)> = self
            .cells
            .iter()
            .map(|cell| (document(cell), place[cell.class as usize], cell.stated))
            .collect();
        cells.sort_by_key(|&(document, class, _)| (document, class));
        let ids = self.ids.map(|ids| {
            let in_order = |&id: &u32| ids.names[id as usize].clone();
            match by_id {
                true => ids.names.clone(),
                false => ids.of_begun.iter().map(in_order).collect(),
            }
        });
        let row_count = match &ids {
            Some(ids) => ids.len(),
            None => self.begun as usize,
        };
        // Nothing larger than the cells themselves is set aside: a file that names a new class in
        // every row is refused before.
        let mut stated = Vec::with_capacity(cells.len());
        let mut cells = cells.into_iter();
        for document in 0..row_count {
            for (class, name) in classes.iter().enumerate() {
                match cells.next() {
                    Some((d, c, cell)) if (d, c) == (document, class) => stated.push(cell),
                    _ => {
                        return Err(TableError::MissingClass {
                            file,
                            document: document + 1,
                            class: name.clone(),
                        });
                    }
                }
            }
        }
        Ok(Rows {
            file,
            classes,
            cells: stated,
            names: Names::new(ids, self.kind),
            row_count,
            one_column: false,
        })
    }
}

fn number_of(name: &str, numbers: &mut HashMap<String, u32>, names: &mut Vec<String>) -> u32 {
    if let Some(&number) = numbers.get(name) {
        return number;
    }
    let number = names.len() as u32;
    numbers.insert(name.to_owned(), number);
    names.push(name.to_owned());
    number
}
