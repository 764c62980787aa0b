//! The classes of many rows, in one piece of memory.

use std::ops::Index;

/// The classes of each of many rows: one, several or none.
///
/// They lie one after the other, so that a row costs four bytes as long as every row has one class, and twelve from then on; a
/// list of its own would cost five times as much.
///
/// ```
/// use calibrant_calibration::RowLabels;
/// let labels = RowLabels::from([vec![2], vec![], vec![0, 1]]);
/// assert_eq!(labels.len(), 3);
/// assert_eq!(&labels[2], [0, 1]);
/// assert_eq!(labels.iter().map(<[u32]>::len).sum::<usize>(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowLabels {
    classes: Vec<u32>,
    /// Where the classes of each row end; `None` as long as every row has one.
    ends: Option<Vec<usize>>,
}

impl RowLabels {
    /// No rows yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// No rows yet, and memory for so many of one class each.
    pub fn with_capacity(rows: usize) -> Self {
        Self {
            classes: Vec::with_capacity(rows),
            ends: None,
        }
    }

    /// Adds a row.
    pub fn push(&mut self, classes: impl IntoIterator<Item = u32>) {
        let rows = self.len();
        self.classes.extend(classes);
        if self.ends.is_none() && self.classes.len() != rows + 1 {
            self.ends = Some((1..=rows).collect());
        }
        if let Some(ends) = &mut self.ends {
            ends.push(self.classes.len());
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match &self.ends {
            None => self.classes.len(),
            Some(ends) => ends.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The classes of one row after those of another.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u32]> + ExactSizeIterator + Clone {
        (0..self.len()).map(|row| &self[row])
    }

    /// Some of the rows, in this order.
    pub fn of_rows(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        rows.into_iter().map(|row| &self[row]).collect()
    }
}

impl Index<usize> for RowLabels {
    type Output = [u32];

    /// The classes of a row.
    fn index(&self, row: usize) -> &[u32] {
        let Some(ends) = &self.ends else {
            return std::slice::from_ref(&self.classes[row]);
        };
        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
        &self.classes[start..ends[row]]
    }
}

impl<R: AsRef<[u32]>> FromIterator<R> for RowLabels {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut labels = Self::new();
        labels.extend(rows);
        labels
    }
}

impl<R: AsRef<[u32]>> Extend<R> for RowLabels {
    fn extend<I: IntoIterator<Item = R>>(&mut self, rows: I) {
        for row in rows {
            self.push(row.as_ref().iter().copied());
        }
    }
}

impl From<Vec<Vec<u32>>> for RowLabels {
    fn from(rows: Vec<Vec<u32>>) -> Self {
        rows.into_iter().collect()
    }
}

impl<const N: usize> From<[Vec<u32>; N]> for RowLabels {
    fn from(rows: [Vec<u32>; N]) -> Self {
        rows.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_they_were_put_in() {
        let rows = vec![vec![], vec![4, 1], vec![7], vec![]];
        let labels = RowLabels::from(rows.clone());
        assert!(labels.iter().eq(rows.iter().map(Vec::as_slice)));
        assert_eq!(labels.of_rows([2, 1]), [vec![7], vec![4, 1]].into());
        let backwards: RowLabels = labels.iter().rev().collect();
        assert_eq!(backwards.of_rows((0..4).rev()), labels);
        assert!(RowLabels::new().is_empty() && !labels.is_empty());
    }

    #[test]
    fn one_class_per_row_needs_no_ends_until_a_row_differs() {
        let mut labels: RowLabels = (0..5).map(|row| vec![row]).collect();
        assert!(labels.ends.is_none());
        assert_eq!(&labels[3], [3]);
        labels.push([]);
        labels.push([7]);
        let found: Vec<&[u32]> = labels.iter().collect();
        assert_eq!(found, [&[0][..], &[1], &[2], &[3], &[4], &[], &[7]]);
        // Two classes of one row and none of another are not one of each.
        let mut two = RowLabels::from([vec![1, 2]]);
        two.push([]);
        assert_eq!(two.len(), 2);
        assert_ne!(two, RowLabels::from([vec![1], vec![2]]));
    }
}
