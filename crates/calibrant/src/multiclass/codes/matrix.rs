//! A checked code matrix.

use std::collections::HashMap;

/// A code: for each class (row) and binary problem (column) the side on which the class stands.
///
/// ```
/// use calibrant::multiclass::CodeMatrix;
/// // Three classes, each against the two others.
/// let code = CodeMatrix::new(3, vec![1, -1, -1, -1, 1, -1, -1, -1, 1]).unwrap();
/// assert_eq!(code.length(), 3);
/// assert_eq!(code.separation().rows, 2.0); // by hand: two rows differ in two places
/// assert!(CodeMatrix::new(3, vec![1, 1, 1]).is_err()); // a column with one side
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeMatrix {
    class_count: usize,
    length: usize,
    /// Class after class.
    entries: Vec<i8>,
}

/// How far the rows and the columns of a code lie apart, in places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Separation {
    /// The least distance between two rows; a place where one of them is 0 counts half. A code
    /// whose rows are `d` apart decodes rightly with up to `⌊(d-1)/2⌋` hard errors.
    pub rows: f64,
    /// The least distance between a column and another or its negative.
    pub columns: f64,
}

/// Why numbers are not a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeFault {
    /// There are not enough classes or columns, or too many.
    #[error(
        "a code needs 3 classes or more and 1 to {} columns",
        CodeMatrix::MAX_LENGTH
    )]
    Shape,
    /// An entry is none of -1, 0 and 1.
    #[error("entry {position} of the code is not -1, 0 or 1")]
    Entry {
        /// Which, class after class.
        position: usize,
    },
    /// A column sets nobody against somebody.
    #[error("column {column} of the code has classes on one side only")]
    OneSided {
        /// Which.
        column: usize,
    },
    /// Two classes cannot be distinguished.
    #[error("classes {first} and {second} have the same code word")]
    SameRows {
        /// The one.
        first: usize,
        /// The other.
        second: usize,
    },
    /// Two binary problems are one and the same.
    #[error("columns {first} and {second} of the code are the same or opposite")]
    SameColumns {
        /// The one.
        first: usize,
        /// The other.
        second: usize,
    },
}

impl CodeMatrix {
    /// The most columns a code may have.
    pub const MAX_LENGTH: usize = 8192;

    /// From entries, class after class: checked for both sides in every column, for rows that are
    /// all different and for columns that are neither the same nor opposite.
    pub fn new(class_count: usize, entries: Vec<i8>) -> Result<Self, CodeFault> {
        if class_count < 3 || entries.is_empty() || !entries.len().is_multiple_of(class_count) {
            return Err(CodeFault::Shape);
        }
        let length = entries.len() / class_count;
        if length > Self::MAX_LENGTH {
            return Err(CodeFault::Shape);
        }
        if let Some(position) = entries.iter().position(|entry| !(-1..=1).contains(entry)) {
            return Err(CodeFault::Entry { position });
        }
        let code = Self {
            class_count,
            length,
            entries,
        };
        let mut rows = HashMap::new();
        for class in 0..class_count {
            if let Some(first) = rows.insert(code.row(class), class) {
                return Err(CodeFault::SameRows {
                    first,
                    second: class,
                });
            }
        }
        let mut columns = HashMap::new();
        for number in 0..length {
            let column = code.column(number);
            if !(column.contains(&1) && column.contains(&-1)) {
                return Err(CodeFault::OneSided { column: number });
            }
            if let Some(first) = columns.insert(with_positive_first(column), number) {
                return Err(CodeFault::SameColumns {
                    first,
                    second: number,
                });
            }
        }
        Ok(code)
    }

    /// From columns.
    pub(super) fn from_columns(class_count: usize, columns: &[Vec<i8>]) -> Result<Self, CodeFault> {
        let entries = (0..class_count)
            .flat_map(|class| columns.iter().map(move |column| column[class]))
            .collect();
        Self::new(class_count, entries)
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// How many binary problems there are.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The entry of a class in a column.
    #[inline]
    pub fn at(&self, class: usize, column: usize) -> i8 {
        self.entries[class * self.length + column]
    }

    /// The code word of a class.
    #[inline]
    pub fn row(&self, class: usize) -> &[i8] {
        &self.entries[class * self.length..][..self.length]
    }

    /// The sides of all classes in a binary problem.
    pub fn column(&self, column: usize) -> Vec<i8> {
        (0..self.class_count)
            .map(|class| self.at(class, column))
            .collect()
    }

    /// All entries, class after class.
    pub fn entries(&self) -> &[i8] {
        &self.entries
    }

    /// Whether every class takes part in every problem.
    pub fn is_dense(&self) -> bool {
        !self.entries.contains(&0)
    }

    /// How far its rows and columns lie apart.
    pub fn separation(&self) -> Separation {
        let mut rows = f64::INFINITY;
        for first in 0..self.class_count {
            for second in 0..first {
                let product = product(self.row(first), self.row(second));
                rows = rows.min(0.5 * (self.length as f64 - f64::from(product)));
            }
        }
        let all: Vec<Vec<i8>> = (0..self.length).map(|column| self.column(column)).collect();
        // A single column has no other: only its own negative, everywhere different.
        let mut columns = self.class_count as f64;
        for (number, first) in all.iter().enumerate() {
            for second in &all[..number] {
                let product = f64::from(product(first, second));
                columns = columns.min(0.5 * (self.class_count as f64 - product.abs()));
            }
        }
        Separation { rows, columns }
    }
}

/// `Σ u v`, twice which the distance `Σ (1 - u v) / 2` falls short of the length.
pub(super) fn product(first: &[i8], second: &[i8]) -> i32 {
    first
        .iter()
        .zip(second)
        .map(|(&a, &b)| i32::from(a) * i32::from(b))
        .sum()
}

/// The column or its negative, whichever has `+1` first: opposite columns become one.
pub(super) fn with_positive_first(mut column: Vec<i8>) -> Vec<i8> {
    if column.iter().find(|&&entry| entry != 0) == Some(&-1) {
        column.iter_mut().for_each(|entry| *entry = -*entry);
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_code_is_refused_with_the_reason() {
        let fault = |classes, entries: &[i8]| CodeMatrix::new(classes, entries.to_vec()).err();
        assert_eq!(fault(2, &[1, -1]), Some(CodeFault::Shape));
        assert_eq!(fault(3, &[1, -1]), Some(CodeFault::Shape));
        assert_eq!(fault(0, &[]), Some(CodeFault::Shape));
        assert_eq!(
            fault(3, &[1, -1, 2]),
            Some(CodeFault::Entry { position: 2 })
        );
        let same_rows = fault(3, &[1, -1, -1]);
        assert_eq!(
            same_rows,
            Some(CodeFault::SameRows {
                first: 1,
                second: 2
            })
        );
        let opposite = fault(3, &[1, -1, 1, -1, 1, 1, 1, -1, -1]);
        assert_eq!(
            opposite,
            Some(CodeFault::SameColumns {
                first: 0,
                second: 1
            })
        );
    }
}
