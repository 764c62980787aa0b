//! Rows of many queries, put together by query.

use std::collections::HashMap;
use std::ops::Range;

/// Notes the query of every row.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    ids: Vec<String>,
    numbers: HashMap<String, u32, foldhash::fast::FixedState>,
    rows: Vec<u32>,
    last: u32,
}

impl Grouping {
    pub(super) fn push(&mut self, id: &str) {
        // Rows of a query nearly always stand together.
        let same = self
            .ids
            .get(self.last as usize)
            .is_some_and(|last| last == id);
        if !same {
            self.last = match self.numbers.get(id) {
                Some(&number) => number,
                None => {
                    let number = self.ids.len() as u32;
                    self.ids.push(id.to_owned());
                    self.numbers.insert(id.to_owned(), number);
                    number
                }
            };
        }
        self.rows.push(self.last);
    }

    /// The queries in the order of their bytes, each with its places in the second answer: the numbers of the
    /// rows, query by query, in the order in which they came.
    pub(super) fn finish(self) -> (Vec<(String, Range<usize>)>, Vec<usize>) {
        let mut by_id: Vec<usize> = (0..self.ids.len()).collect();
        by_id.sort_by(|&a, &b| self.ids[a].cmp(&self.ids[b]));
        let mut counts = vec![0usize; self.ids.len()];
        for &query in &self.rows {
            counts[query as usize] += 1;
        }
        let mut next = vec![0usize; self.ids.len()];
        let mut queries = Vec::with_capacity(self.ids.len());
        let mut start = 0;
        let mut ids = self.ids;
        for query in by_id {
            next[query] = start;
            let end = start + counts[query];
            queries.push((std::mem::take(&mut ids[query]), start..end));
            start = end;
        }
        let mut order = vec![0usize; self.rows.len()];
        for (row, &query) in self.rows.iter().enumerate() {
            let place = &mut next[query as usize];
            order[*place] = row;
            *place += 1;
        }
        (queries, order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_sorted_as_text_and_keep_their_rows_in_order() {
        let mut grouping = Grouping::default();
        for id in ["9", "10", "9", "10", "10"] {
            grouping.push(id);
        }
        let (queries, order) = grouping.finish();
        assert_eq!(queries, [("10".to_owned(), 0..3), ("9".to_owned(), 3..5)]);
        assert_eq!(order, [1, 3, 4, 0, 2]);
    }
}
