//! The rows most like a query, without looking at most of them.

use serde::{Deserialize, Serialize};

use super::block::COMMON;
use super::index::NeighbourIndex;
use super::lists::{PIECE, RoundedLists, pieces};
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

/// Buffers for one search, reused between calls.
#[derive(Debug, Default)]
pub struct SearchBuffers {
    /// The query by rank; zeros between searches.
    query: Vec<f32>,
    /// Its terms, the rarest first.
    terms: Vec<(u32, f32)>,
    /// What the terms so far add up to, for each row.
    sums: Vec<f32>,
    row_count: usize,
    /// The largest sum of every sixteen rows, and the same in another order.
    largest: [Vec<f32>; 2],
    leaders: Vec<(f32, u32)>,
    candidates: Vec<(f32, u32)>,
    nearest: Nearest,
    work: SearchWork,
}

impl SearchBuffers {
    /// What the last search looked at.
    pub fn work(&self) -> SearchWork {
        self.work
    }

    /// The neighbours that the last search found, the most similar first.
    pub fn neighbours(&self) -> &[Neighbour] {
        self.nearest.as_slice()
    }
}

/// How many lists ahead the next is fetched.
const AHEAD: usize = 3;

/// Rows that are looked at together.
const GROUP: usize = 16;

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
    /// 2. For the others the commonest are added in rounded numbers, 128 bytes per row. Now each
    ///    similarity is known but for a small error.
    /// 3. Rows that may still be among the `k` are compared in full.
    ///
    /// All bounds allow for rounding and hold for values of any sign, so that the answer is exact.
    pub fn search<'a>(
        &self,
        query: RowView<'_>,
        k: usize,
        buffer: &'a mut SearchBuffers,
    ) -> &'a [Neighbour] {
        if self.prepare(query, k, buffer) {
            self.add_up_and_finish(buffer);
        }
        self.tidy(buffer)
    }

    /// As [`Self::search`], but from a part of the index only: see [`Approximate`].
    pub fn search_approximately<'a>(
        &self,
        query: RowView<'_>,
        k: usize,
        how: Approximate,
        buffer: &'a mut SearchBuffers,
    ) -> &'a [Neighbour] {
        if self.prepare(query, k, buffer) {
            let mut left = (how.share * buffer.work.all as f64) as usize;
            let mut affordable = 0;
            for &(rank, _) in &buffer.terms {
                let length = self.lists().length(rank as usize);
                // The rarest term is always within what is allowed.
                if affordable > 0 && length > left {
                    break;
                }
                left = left.saturating_sub(length);
                affordable += 1;
            }
            self.add_up(affordable, buffer);
            buffer.lead(k.saturating_mul(how.candidates.max(1)));
            for place in 0..buffer.leaders.len() {
                let row = buffer.leaders[place].1;
                self.compare(row, buffer);
            }
        }
        self.tidy(buffer)
    }

    /// The `k` nearest rows by comparing the query with every row: the plain way, for comparison.
    pub fn scan<'a>(
        &self,
        query: RowView<'_>,
        k: usize,
        buffer: &'a mut SearchBuffers,
    ) -> &'a [Neighbour] {
        if self.prepare(query, k, buffer) {
            for row in 0..self.row_count() as u32 {
                self.compare(row, buffer);
            }
        }
        self.tidy(buffer)
    }

    /// Brings the query to unit length and its terms into order. False where nothing can be found.
    fn prepare(&self, query: RowView<'_>, k: usize, buffer: &mut SearchBuffers) -> bool {
        buffer.work = SearchWork::default();
        buffer.terms.clear();
        buffer.nearest.restart(k.min(self.row_count()));
        let norm = query.squared_norm().sqrt();
        if !(norm > 0.0 && norm.is_finite()) || k == 0 {
            return false;
        }
        buffer.query.resize(self.rank_count(), 0.0);
        for (column, value) in query.entries() {
            if let Some(rank) = self.rank(column) {
                let value = (value / norm) as f32;
                buffer.terms.push((rank, value));
                buffer.query[rank as usize] = value;
                buffer.work.all += self.lists().length(rank as usize) as u64;
            }
        }
        buffer
            .terms
            .sort_unstable_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        !buffer.terms.is_empty()
    }

    /// Sorts what was found and leaves the buffers as the next search expects them.
    fn tidy<'a>(&self, buffer: &'a mut SearchBuffers) -> &'a [Neighbour] {
        for &(rank, _) in &buffer.terms {
            buffer.query[rank as usize] = 0.0;
        }
        buffer.nearest.finish();
        buffer.nearest.as_slice()
    }

    fn add_up_and_finish(&self, buffer: &mut SearchBuffers) {
        let k = buffer.nearest.wanted();
        let rare = buffer
            .terms
            .partition_point(|&(rank, _)| rank as usize >= COMMON);
        self.add_up(rare, buffer);
        // What rounding can take off a sum of products of parts of unit vectors, and off the lists' values.
        let slack = (buffer.terms.len() + 16) as f32 * f32::EPSILON;
        let size: f32 = buffer.terms[..rare].iter().map(|term| term.1.abs()).sum();
        let rounding = 1.001 * size * RoundedLists::ERROR + slack;
        let block = self.block();
        let common = block.query(&buffer.terms[rare..]);
        let error = common.error + rounding;

        // What the leaders by rare terms have for sure is what it takes to be among the nearest.
        // A few more than `k` of them show it better.
        buffer.lead(k.saturating_mul(4));
        block.add_to(&mut buffer.leaders, &common);
        let least = kth_largest(&mut buffer.leaders, k) - error;
        buffer.collect(block.norms(), common.norm, least - rounding);
        buffer.work.roughly += (buffer.leaders.len() + buffer.candidates.len()) as u64;
        block.add_to(&mut buffer.candidates, &common);
        let least = kth_largest(&mut buffer.candidates, k) - 2.0 * error;
        buffer
            .candidates
            .retain(|&(sum, _)| sum >= least && sum > -error);
        for place in 0..buffer.candidates.len() {
            if let Some(&(_, next)) = buffer.candidates.get(place + 1) {
                self.prefetch(next);
            }
            self.compare(buffer.candidates[place].1, buffer);
        }
    }

    /// Adds up what the first terms have in common with every row.
    fn add_up(&self, term_count: usize, buffer: &mut SearchBuffers) {
        let row_count = self.row_count();
        buffer.sums.resize(pieces(row_count) * PIECE, 0.0);
        buffer.row_count = row_count;
        let sums_of_pieces = buffer.sums.as_chunks_mut::<PIECE>().0;
        for (piece, sums) in sums_of_pieces.iter_mut().enumerate() {
            let rows = PIECE.min(row_count - piece * PIECE);
            sums[..rows].fill(0.0);
            for (place, &(rank, value)) in buffer.terms[..term_count].iter().enumerate() {
                // Lists are short and all over the index: the next is fetched while this one is added up.
                if let Some(&(next, _)) = buffer.terms.get(place + AHEAD) {
                    self.lists().prefetch(piece, next);
                }
                buffer.work.added += self.lists().add(piece, rank, value, sums) as u64;
            }
        }
    }

    /// Compares a row in full; it is kept if it is one of the nearest so far.
    fn compare(&self, row: u32, buffer: &mut SearchBuffers) {
        let (ranks, values) = self.entries(row);
        let product =
            |rank: u32, value: f32| f64::from(buffer.query[rank as usize]) * f64::from(value);
        // Four sums side by side: one alone would wait for itself.
        let mut sums = [0.0; 4];
        let (ranks, last_ranks) = ranks.as_chunks::<4>();
        let (values, last_values) = values.as_chunks::<4>();
        for (ranks, values) in ranks.iter().zip(values) {
            for place in 0..4 {
                sums[place] += product(ranks[place], values[place]);
            }
        }
        for (&rank, &value) in last_ranks.iter().zip(last_values) {
            sums[0] += product(rank, value);
        }
        let similarity = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        buffer.work.compared += 1;
        if similarity > LEAST_SIMILARITY {
            buffer.nearest.offer(Neighbour { row, similarity });
        }
    }
}

impl SearchBuffers {
    /// Finds the `count` rows with the largest sums above 0, in no order.
    fn lead(&mut self, count: usize) {
        self.leaders.clear();
        let sums = &self.sums[..self.row_count];
        let [largest, sorted] = &mut self.largest;
        largest.clear();
        largest.extend(sums.chunks(GROUP).map(largest_of));
        // So many groups have a row that reaches this, so it is no more than what the last of the leaders has.
        sorted.clone_from(largest);
        let least = match count.checked_sub(1) {
            Some(last) if last < sorted.len() => {
                *sorted.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1
            }
            Some(_) => 0.0,
            None => return,
        };
        for (number, group) in sums.chunks(GROUP).enumerate() {
            if largest[number] < least {
                continue;
            }
            for (row, &sum) in (GROUP * number..).zip(group) {
                if sum >= least && sum > 0.0 {
                    self.leaders.push((sum, row as u32));
                }
            }
        }
        if self.leaders.len() > count {
            self.leaders
                .select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            self.leaders.truncate(count);
        }
    }

    /// Collects the rows whose sum, with all that the commonest terms can add, reaches `least`.
    fn collect(&mut self, norms: &[f32], norm: f32, least: f32) {
        self.candidates.clear();
        let sums = &self.sums[..self.row_count];
        for (number, (sums, owns)) in sums.chunks(GROUP).zip(norms.chunks(GROUP)).enumerate() {
            // One bit per row, and then the rows that have it: nothing to guess for the many that have not.
            let mut reached = reaching(sums, owns, norm, least);
            while reached != 0 {
                let place = reached.trailing_zeros() as usize;
                reached &= reached - 1;
                self.candidates
                    .push((sums[place], (GROUP * number + place) as u32));
            }
        }
    }
}

/// The largest of a few numbers, or 0 where none is above it.
fn largest_of(numbers: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let (fours, rest) = numbers.as_chunks::<4>();
    let mut largest = [0f32; 4];
    for four in fours {
        for place in 0..4 {
            largest[place] = larger(four[place], largest[place]);
        }
    }
    let rest = rest.iter().fold(0.0, |most, &number| larger(number, most));
    larger(
        larger(
            larger(largest[0], largest[1]),
            larger(largest[2], largest[3]),
        ),
        rest,
    )
}

/// A bit for each of up to 16 rows: whether its sum and `norm` times its own norm reach `least`.
#[cfg(target_arch = "x86_64")]
#[inline]
fn reaching(sums: &[f32], owns: &[f32], norm: f32, least: f32) -> u32 {
    use std::arch::x86_64::{_mm_add_ps, _mm_cmpge_ps, _mm_movemask_ps, _mm_mul_ps, _mm_set1_ps};
    let (Ok(sums), Ok(owns)) = (
        <&[f32; GROUP]>::try_from(sums),
        <&[f32; GROUP]>::try_from(owns),
    ) else {
        return reaching_one_by_one(sums, owns, norm, least);
    };
    let fours = sums.as_chunks::<4>().0.iter().zip(owns.as_chunks::<4>().0);
    fours
        .enumerate()
        .fold(0, |reached, (number, (sums, owns))| {
            // SAFETY: these are SSE instructions, which every x86-64 processor has.
            let four = unsafe {
                let most = _mm_mul_ps(_mm_set1_ps(norm), bytemuck::cast(*owns));
                let most = _mm_add_ps(bytemuck::cast(*sums), most);
                _mm_movemask_ps(_mm_cmpge_ps(most, _mm_set1_ps(least)))
            };
            reached | (four as u32) << (4 * number)
        })
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn reaching(sums: &[f32], owns: &[f32], norm: f32, least: f32) -> u32 {
    reaching_one_by_one(sums, owns, norm, least)
}

fn reaching_one_by_one(sums: &[f32], owns: &[f32], norm: f32, least: f32) -> u32 {
    let rows = sums.iter().zip(owns).enumerate();
    rows.fold(0, |reached, (place, (sum, own))| {
        reached | u32::from(sum + norm * own >= least) << place
    })
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
