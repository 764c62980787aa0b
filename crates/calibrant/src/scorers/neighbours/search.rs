//! The rows most like a query, without looking at most of them.

use serde::{Deserialize, Serialize};

use super::block::COMMON;
use super::index::NeighbourIndex;
use super::nearest::Nearest;
use crate::features::RowView;

/// A row that is like the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Its number in the index.
    pub row: u32,
    /// The cosine of the angle between the two, above 0.
    pub similarity: f64,
}

/// How much of the index a search may skip at the risk of missing a neighbour.
///
/// Rows are compared by the query's rarest terms alone, as many as have this share of the entries
/// that all its terms have; then the most promising rows are compared in full. Similarities are
/// exact; a row that is like the query in its common terms only may be missed.
/// [`recall_at_k`] measures how often that happens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Approximate {
    /// The share of the entries of the query's terms that are added up, above 0 and at most 1.
    pub share: f64,
    /// How many rows are compared in full for each neighbour that is wanted.
    pub candidates: usize,
}

impl Default for Approximate {
    fn default() -> Self {
        Self {
            share: 0.05,
            candidates: 5,
        }
    }
}

/// How much a search looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchWork {
    /// Entries that all the query's terms have: what adding up everything would read.
    pub all: u64,
    /// Those of them that were added up.
    pub added: u64,
    /// Rows that were compared roughly in the commonest terms.
    pub roughly: u64,
    /// Rows that were compared in full.
    pub compared: u64,
}

/// Room for one search, reused from one to the next.
#[derive(Debug, Default)]
pub struct SearchRoom {
    /// The query by rank; zeros between searches.
    query: Vec<f32>,
    /// Its terms, the rarest first.
    terms: Vec<(u32, f32)>,
    /// What the terms so far add up to, for each row.
    sums: Vec<f32>,
    leaders: Vec<(f32, u32)>,
    candidates: Vec<(f32, u32)>,
    nearest: Nearest,
    work: SearchWork,
}

impl SearchRoom {
    /// What the last search looked at.
    pub fn work(&self) -> SearchWork {
        self.work
    }

    /// The neighbours that the last search found, the most similar first.
    pub fn neighbours(&self) -> &[Neighbour] {
        self.nearest.as_slice()
    }
}

/// What is less than this may be nothing but rounding, and makes no neighbour.
const LEAST_SIMILARITY: f64 = 1e-6;

impl NeighbourIndex {
    /// The `k` rows with the largest cosine, those above 0 alone; of equals the lower number.
    /// The answer is that of [`Self::scan`].
    ///
    /// # Method
    /// 1. The query's terms are added up, all but those of the commonest ranks, which have most of
    ///    the entries. By the inequality of Cauchy and Schwarz the commonest can add at most the product of the lengths
    ///    that query and row have in them. Rows that cannot reach what the leaders have for sure are left.
    /// 2. For the others the commonest are added in rounded numbers, 128 bytes a row. Now each
    ///    similarity is known but for a small error.
    /// 3. Rows that may still be among the `k` are compared in full.
    ///
    /// All bounds allow for rounding and hold for values of any sign, so that the answer is exact.
    pub fn search<'a>(
        &self,
        query: RowView<'_>,
        k: usize,
        room: &'a mut SearchRoom,
    ) -> &'a [Neighbour] {
        if self.prepare(query, k, room) {
            self.add_up_and_finish(room);
        }
        self.tidy(room)
    }

    /// As [`Self::search`], but from a part of the index only: see [`Approximate`].
    pub fn search_approximately<'a>(
        &self,
        query: RowView<'_>,
        k: usize,
        how: Approximate,
        room: &'a mut SearchRoom,
    ) -> &'a [Neighbour] {
        if self.prepare(query, k, room) {
            let budget = (how.share * room.work.all as f64) as u64;
            room.clear_sums(self.row_count());
            for place in 0..room.terms.len() {
                let (rank, value) = room.terms[place];
                let length = self.postings().length(rank as usize) as u64;
                // The rarest term is always within what is allowed.
                if place > 0 && room.work.added + length > budget {
                    break;
                }
                self.add_term(rank, value, room);
            }
            room.lead(k.saturating_mul(how.candidates.max(1)));
            for place in 0..room.leaders.len() {
                let row = room.leaders[place].1;
                self.compare(row, room);
            }
        }
        self.tidy(room)
    }

    /// The `k` nearest rows by comparing the query with every row: the plain way, for comparison.
    pub fn scan<'a>(
        &self,
        query: RowView<'_>,
        k: usize,
        room: &'a mut SearchRoom,
    ) -> &'a [Neighbour] {
        if self.prepare(query, k, room) {
            for row in 0..self.row_count() as u32 {
                self.compare(row, room);
            }
        }
        self.tidy(room)
    }

    /// Brings the query to unit length and its terms into order. False where nothing can be found.
    fn prepare(&self, query: RowView<'_>, k: usize, room: &mut SearchRoom) -> bool {
        room.work = SearchWork::default();
        room.terms.clear();
        room.nearest.restart(k.min(self.row_count()));
        let norm = query.squared_norm().sqrt();
        if !(norm > 0.0 && norm.is_finite()) || k == 0 {
            return false;
        }
        room.query.resize(self.rank_count(), 0.0);
        for (column, value) in query.entries() {
            if let Some(rank) = self.rank(column) {
                let value = (value / norm) as f32;
                room.terms.push((rank, value));
                room.query[rank as usize] = value;
                room.work.all += self.postings().length(rank as usize) as u64;
            }
        }
        room.terms
            .sort_unstable_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        !room.terms.is_empty()
    }

    /// Sorts what was found and leaves the room as the next search wants it.
    fn tidy<'a>(&self, room: &'a mut SearchRoom) -> &'a [Neighbour] {
        for &(rank, _) in &room.terms {
            room.query[rank as usize] = 0.0;
        }
        room.nearest.finish();
        room.nearest.as_slice()
    }

    fn add_up_and_finish(&self, room: &mut SearchRoom) {
        let k = room.nearest.wanted();
        room.clear_sums(self.row_count());
        let rare = room
            .terms
            .partition_point(|&(rank, _)| rank as usize >= COMMON);
        for place in 0..rare {
            let (rank, value) = room.terms[place];
            self.add_term(rank, value, room);
        }
        // What rounding can take off a sum of products of parts of unit vectors.
        let slack = (room.terms.len() + 16) as f32 * f32::EPSILON;
        let block = self.block();
        let common = block.query(&room.terms[rare..]);
        let error = common.error + slack;

        // What the leaders by rare terms have for sure is what it takes to be among the nearest.
        // A few more than `k` of them show it better.
        room.lead(k.saturating_mul(4));
        block.add_to(&mut room.leaders, &common);
        let least = kth_largest(&mut room.leaders, k) - error;
        room.collect(block.norms(), common.norm, least - slack);
        room.work.roughly += (room.leaders.len() + room.candidates.len()) as u64;
        block.add_to(&mut room.candidates, &common);
        let least = kth_largest(&mut room.candidates, k) - 2.0 * error;
        for place in 0..room.candidates.len() {
            let (sum, row) = room.candidates[place];
            if sum >= least && sum > -error {
                self.compare(row, room);
            }
        }
    }

    /// Adds a term's products to the sums.
    fn add_term(&self, rank: u32, value: f32, room: &mut SearchRoom) {
        let (rows, values) = self.postings().list(rank as usize);
        for (&row, &other) in rows.iter().zip(values) {
            room.sums[row as usize] += value * other;
        }
        room.work.added += rows.len() as u64;
    }

    /// Compares a row in full; it is kept if it is one of the nearest so far.
    fn compare(&self, row: u32, room: &mut SearchRoom) {
        let (ranks, values) = self.entries(row);
        let mut similarity = 0.0;
        for (&rank, &value) in ranks.iter().zip(values) {
            similarity += f64::from(room.query[rank as usize]) * f64::from(value);
        }
        room.work.compared += 1;
        if similarity > LEAST_SIMILARITY {
            room.nearest.offer(Neighbour { row, similarity });
        }
    }
}

impl SearchRoom {
    fn clear_sums(&mut self, rows: usize) {
        self.sums.clear();
        self.sums.resize(rows, 0.0);
    }

    /// Finds the `count` rows with the largest sums above 0, in no order.
    fn lead(&mut self, count: usize) {
        self.leaders.clear();
        let room = 2 * count + 16;
        let mut least = 0.0;
        let (chunks, rest) = self.sums.as_chunks::<16>();
        for (number, chunk) in chunks.iter().enumerate() {
            if !chunk.iter().any(|&sum| sum > least) {
                continue;
            }
            for (place, &sum) in chunk.iter().enumerate() {
                if sum > least {
                    self.leaders.push((sum, (16 * number + place) as u32));
                }
            }
            if self.leaders.len() >= room {
                least = keep_largest(&mut self.leaders, count);
            }
        }
        let first = self.sums.len() - rest.len();
        for (place, &sum) in rest.iter().enumerate() {
            if sum > least {
                self.leaders.push((sum, (first + place) as u32));
            }
        }
        if self.leaders.len() > count {
            keep_largest(&mut self.leaders, count);
        }
    }

    /// Collects the rows whose sum, with all that the commonest terms can add, reaches `least`.
    fn collect(&mut self, norms: &[f32], norm: f32, least: f32) {
        // Every row is written down, and the next over it unless it is a candidate: no branch to guess.
        self.candidates.clear();
        self.candidates.resize(self.sums.len() + 1, (0.0, 0));
        let mut count = 0;
        for (row, (&sum, own)) in self.sums.iter().zip(norms).enumerate() {
            self.candidates[count] = (sum, row as u32);
            count += usize::from(sum + norm * own >= least);
        }
        self.candidates.truncate(count);
    }
}

/// The `k`-th largest number; less than all where there are fewer.
fn kth_largest(numbers: &mut [(f32, u32)], k: usize) -> f32 {
    if k == 0 || numbers.len() < k {
        return f32::NEG_INFINITY;
    }
    numbers
        .select_nth_unstable_by(k - 1, |a, b| b.0.total_cmp(&a.0))
        .1
        .0
}

/// Keeps the largest `count`, and tells the least of them.
fn keep_largest(leaders: &mut Vec<(f32, u32)>, count: usize) -> f32 {
    if count == 0 || leaders.len() < count {
        return 0.0;
    }
    leaders.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    leaders.truncate(count);
    leaders[count - 1].0
}

/// The share of the exact neighbours that an approximate search found; 1 where there are none.
///
/// ```
/// use calibrant::scorers::{Neighbour, recall_at_k};
/// let list = |rows: &[u32]| -> Vec<Neighbour> {
///     rows.iter().map(|&row| Neighbour { row, similarity: 0.5 }).collect()
/// };
/// assert_eq!(recall_at_k(&list(&[4, 1, 7, 2]), &list(&[1, 4, 9])), 0.5);
/// ```
pub fn recall_at_k(exact: &[Neighbour], found: &[Neighbour]) -> f64 {
    if exact.is_empty() {
        return 1.0;
    }
    let hits = exact
        .iter()
        .filter(|one| found.iter().any(|other| other.row == one.row));
    hits.count() as f64 / exact.len() as f64
}
