//! What stands beside the texts of many documents, before anything is learned from it.

use std::collections::HashMap;

/// The code of a category that is missing.
const MISSING: u32 = u32::MAX;

/// The cells of one document.
pub trait Cells {
    /// The number in this numeric column; `None` if it is missing or no finite number.
    fn number(&self, column: usize) -> Option<f64>;
    /// The value in this categorical column; `None` if it is missing.
    fn category(&self, column: usize) -> Option<&str>;
    /// The vector in this column; `None` if it is missing.
    fn vector(&self, column: usize) -> Option<&[f32]>;
    /// The strength of this rule; 0 if it does not match.
    fn strength(&self, rule: usize) -> f32;
}

/// Cells as slices; what lies behind their ends is missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowCells<'a> {
    /// Numbers, one a numeric column.
    pub numbers: &'a [Option<f64>],
    /// Values, one a categorical column.
    pub categories: &'a [Option<String>],
    /// Vectors, one a column of them.
    pub vectors: &'a [Option<Vec<f32>>],
    /// Strengths, one a rule.
    pub strengths: &'a [f32],
}

impl Cells for RowCells<'_> {
    fn number(&self, column: usize) -> Option<f64> {
        let number = self.numbers.get(column).copied().flatten();
        number.filter(|number| number.is_finite())
    }

    fn category(&self, column: usize) -> Option<&str> {
        self.categories.get(column)?.as_deref()
    }

    fn vector(&self, column: usize) -> Option<&[f32]> {
        self.vectors.get(column)?.as_deref()
    }

    fn strength(&self, rule: usize) -> f32 {
        self.strengths.get(rule).copied().unwrap_or(0.0)
    }
}

/// The cells of many documents, column by column.
///
/// ```
/// use calibrant::features::{Cells, RowCells, SideTable};
/// let mut table = SideTable::default();
/// table.push(RowCells { numbers: &[Some(1.5)], ..RowCells::default() });
/// table.push(RowCells::default());
/// assert_eq!((table.row(0).number(0), table.row(1).number(0)), (Some(1.5), None));
/// ```
#[derive(Debug, Clone, Default)]
pub struct SideTable {
    row_count: usize,
    /// Not a number where it is missing.
    numbers: Vec<Vec<f64>>,
    categories: Vec<Categories>,
    vectors: Vec<Vectors>,
    strengths: Vec<Vec<f32>>,
}

/// Vectors of one field, one behind the other.
#[derive(Debug, Clone, Default)]
struct Vectors {
    /// How many numbers each has; 0 as long as all are missing.
    length: usize,
    /// Zeros for a vector that is missing: it has no direction, as a vector of zeros has none.
    numbers: Vec<f32>,
    /// Another length that came.
    ragged: Option<usize>,
}

impl Vectors {
    /// Adds the vector of the row with this number.
    fn push(&mut self, row: usize, vector: Option<&[f32]>) {
        let vector = vector.unwrap_or_default();
        self.settle(row, vector.len());
        match vector.len() == self.length {
            true => self.numbers.extend_from_slice(vector),
            false => self.fill(row + 1),
        }
    }

    /// Takes the length where it is the first, and remembers another.
    fn settle(&mut self, rows: usize, length: usize) {
        if self.length == 0 {
            self.length = length;
            self.fill(rows);
        } else if length != 0 && length != self.length {
            self.ragged.get_or_insert(length);
        }
    }

    /// Vectors up to this row are missing.
    fn fill(&mut self, rows: usize) {
        self.numbers.resize(rows * self.length, 0.0);
    }

    /// Puts those of later rows below these.
    fn append(&mut self, rows: usize, more: usize, later: &Self) {
        self.settle(rows, later.length);
        self.ragged = self.ragged.or(later.ragged);
        if later.length == self.length {
            self.numbers.extend_from_slice(&later.numbers);
        }
        self.fill(rows + more);
    }

    fn rearranged(&self, row_order: &[u32]) -> Self {
        let mut numbers = Vec::with_capacity(row_order.len() * self.length);
        for &row in row_order {
            let first = row as usize * self.length;
            numbers.extend_from_slice(&self.numbers[first..first + self.length]);
        }
        Self { numbers, ..*self }
    }
}

/// One categorical column, its values numbered in order of arrival.
#[derive(Debug, Clone, Default)]
struct Categories {
    names: Vec<String>,
    codes: HashMap<String, u32>,
    /// The number of each row's value.
    of_row: Vec<u32>,
}

impl Categories {
    fn code(&mut self, name: &str) -> u32 {
        if let Some(&code) = self.codes.get(name) {
            return code;
        }
        let code = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.codes.insert(name.to_owned(), code);
        code
    }
}

/// One row of a [`SideTable`].
#[derive(Debug, Clone, Copy)]
pub struct TableRow<'a> {
    table: &'a SideTable,
    row: usize,
}

impl Cells for TableRow<'_> {
    fn number(&self, column: usize) -> Option<f64> {
        let number = *self.table.numbers.get(column)?.get(self.row)?;
        (!number.is_nan()).then_some(number)
    }

    fn category(&self, column: usize) -> Option<&str> {
        self.table.category_of(self.row, column)
    }

    fn vector(&self, column: usize) -> Option<&[f32]> {
        let Vectors {
            length, numbers, ..
        } = self.table.vectors.get(column)?;
        let first = self.row * length;
        numbers.get(first..first + length)
    }

    fn strength(&self, rule: usize) -> f32 {
        let strengths = self.table.strengths.get(rule);
        strengths
            .and_then(|strengths| strengths.get(self.row))
            .map_or(0.0, |&strength| strength)
    }
}

impl SideTable {
    /// Adds the cells of the next document; columns that are new were missing so far.
    pub fn push(&mut self, cells: RowCells<'_>) {
        let rows = self.row_count;
        grow(&mut self.numbers, cells.numbers.len(), || {
            vec![f64::NAN; rows]
        });
        grow(&mut self.categories, cells.categories.len(), || {
            Categories {
                of_row: vec![MISSING; rows],
                ..Categories::default()
            }
        });
        grow(&mut self.vectors, cells.vectors.len(), Vectors::default);
        grow(&mut self.strengths, cells.strengths.len(), || {
            vec![0.0; rows]
        });
        for (column, numbers) in self.numbers.iter_mut().enumerate() {
            numbers.push(cells.number(column).unwrap_or(f64::NAN));
        }
        for (column, categories) in self.categories.iter_mut().enumerate() {
            let code = cells.category(column).map(|name| categories.code(name));
            categories.of_row.push(code.unwrap_or(MISSING));
        }
        for (column, vectors) in self.vectors.iter_mut().enumerate() {
            vectors.push(rows, cells.vector(column));
        }
        for (rule, strengths) in self.strengths.iter_mut().enumerate() {
            strengths.push(cells.strength(rule));
        }
        self.row_count += 1;
    }

    /// Puts the rows of `later` below these.
    pub fn append(&mut self, later: Self) {
        let (rows, more) = (self.row_count, later.row_count);
        grow(&mut self.numbers, later.numbers.len(), || {
            vec![f64::NAN; rows]
        });
        grow(&mut self.categories, later.categories.len(), || {
            Categories {
                of_row: vec![MISSING; rows],
                ..Categories::default()
            }
        });
        grow(&mut self.vectors, later.vectors.len(), Vectors::default);
        grow(&mut self.strengths, later.strengths.len(), || {
            vec![0.0; rows]
        });
        self.row_count += more;
        for (column, own) in self.vectors.iter_mut().enumerate() {
            match later.vectors.get(column) {
                Some(later) => own.append(rows, more, later),
                None => own.fill(rows + more),
            }
        }
        for (own, later) in self.numbers.iter_mut().zip(later.numbers) {
            own.extend(later);
        }
        for (own, later) in self.categories.iter_mut().zip(&later.categories) {
            let codes: Vec<u32> = later.names.iter().map(|name| own.code(name)).collect();
            let renamed = later.of_row.iter().map(|&code| match code {
                MISSING => MISSING,
                code => codes[code as usize],
            });
            own.of_row.extend(renamed);
        }
        for (own, later) in self.strengths.iter_mut().zip(later.strengths) {
            own.extend(later);
        }
        // Columns that the later rows lack.
        let rows = self.row_count;
        self.numbers
            .iter_mut()
            .for_each(|own| own.resize(rows, f64::NAN));
        self.categories
            .iter_mut()
            .for_each(|own| own.of_row.resize(rows, MISSING));
        self.strengths
            .iter_mut()
            .for_each(|own| own.resize(rows, 0.0));
    }

    /// The rows with these numbers, in this order.
    pub fn rearranged(&self, row_order: &[u32]) -> Self {
        fn pick<T: Copy>(values: &[T], row_order: &[u32]) -> Vec<T> {
            row_order.iter().map(|&row| values[row as usize]).collect()
        }
        Self {
            row_count: row_order.len(),
            numbers: self
                .numbers
                .iter()
                .map(|own| pick(own, row_order))
                .collect(),
            categories: self
                .categories
                .iter()
                .map(|own| Categories {
                    names: own.names.clone(),
                    codes: own.codes.clone(),
                    of_row: pick(&own.of_row, row_order),
                })
                .collect(),
            vectors: self
                .vectors
                .iter()
                .map(|own| own.rearranged(row_order))
                .collect(),
            strengths: self
                .strengths
                .iter()
                .map(|own| pick(own, row_order))
                .collect(),
        }
    }

    /// How many numbers the vectors of a column have; 0 if all are missing.
    pub fn vector_length(&self, column: usize) -> usize {
        self.vectors.get(column).map_or(0, |vectors| vectors.length)
    }

    /// The first column whose vectors have several lengths, with two of these.
    pub fn ragged_vectors(&self) -> Option<(usize, usize, usize)> {
        let mut columns = self.vectors.iter().enumerate();
        columns.find_map(|(column, vectors)| Some((column, vectors.length, vectors.ragged?)))
    }

    /// How many rules the documents were matched with.
    pub fn rule_count(&self) -> usize {
        self.strengths.len()
    }

    /// How many documents there are.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// The value of a document in a categorical column.
    pub(super) fn category_of(&self, row: usize, column: usize) -> Option<&str> {
        let categories = self.categories.get(column)?;
        let code = *categories.of_row.get(row)?;
        (code != MISSING).then(|| categories.names[code as usize].as_str())
    }

    /// How many documents have each value of a categorical column; of some values none may.
    pub(super) fn category_counts(&self, column: usize) -> Vec<(&str, usize)> {
        let Some(categories) = self.categories.get(column) else {
            return Vec::new();
        };
        let names = categories.names.iter();
        let mut counts: Vec<(&str, usize)> = names.map(|name| (name.as_str(), 0)).collect();
        for &code in categories.of_row.iter().filter(|&&code| code != MISSING) {
            counts[code as usize].1 += 1;
        }
        counts
    }

    /// The cells of a document.
    pub fn row(&self, row: usize) -> TableRow<'_> {
        TableRow { table: self, row }
    }
}

fn grow<T>(columns: &mut Vec<T>, count: usize, new: impl Fn() -> T) {
    while columns.len() < count {
        columns.push(new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Row = (
        Vec<Option<f64>>,
        Vec<Option<String>>,
        Vec<f32>,
        Vec<Option<Vec<f32>>>,
    );

    fn any_row() -> impl Strategy<Value = Row> {
        (
            prop::collection::vec(prop::option::of(-9.0..9.0f64), 0..4),
            prop::collection::vec(prop::option::of("[a-c]"), 0..3),
            prop::collection::vec(0.0..3.0f32, 0..3),
            prop::collection::vec(
                prop::option::of(prop::collection::vec(-1.0..1.0f32, 3)),
                0..3,
            ),
        )
    }

    fn cells(row: &Row) -> RowCells<'_> {
        RowCells {
            numbers: &row.0,
            categories: &row.1,
            strengths: &row.2,
            vectors: &row.3,
        }
    }

    proptest! {
        #[test]
        fn a_table_gives_back_what_was_put_in_however_it_was_cut(
            rows in prop::collection::vec(any_row(), 1..12),
            cut in 0usize..12,
            turn in 0usize..12,
        ) {
            let (before, after) = rows.split_at(cut.min(rows.len()));
            let mut table = SideTable::default();
            before.iter().for_each(|row| table.push(cells(row)));
            let mut later = SideTable::default();
            after.iter().for_each(|row| later.push(cells(row)));
            table.append(later);
            prop_assert_eq!(table.row_count(), rows.len());
            let mut order: Vec<u32> = (0..rows.len() as u32).collect();
            order.rotate_left(turn % rows.len());
            let turned = table.rearranged(&order);
            for (new, &old) in order.iter().enumerate() {
                let (put, got) = (cells(&rows[old as usize]), turned.row(new));
                for column in 0..5 {
                    prop_assert_eq!(put.number(column), got.number(column));
                    prop_assert_eq!(put.category(column), got.category(column));
                    prop_assert_eq!(put.strength(column), got.strength(column));
                    // A vector that is missing is one of zeros, or of no length where all are.
                    let zeros = vec![0.0; table.vector_length(column)];
                    let got = got.vector(column).unwrap_or_default();
                    prop_assert_eq!(put.vector(column).unwrap_or(&zeros), got);
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_none_are_missing() {
        let mut table = SideTable::default();
        table.push(RowCells {
            numbers: &[Some(f64::INFINITY), Some(f64::NAN)],
            ..RowCells::default()
        });
        assert_eq!(
            (table.row(0).number(0), table.row(0).number(1)),
            (None, None)
        );
        assert_eq!(table.row(7).number(0), None);
    }
}
