//! What rows have in the commonest columns, small enough to be compared all at once.

use crate::features::SparseMatrix;
use crate::saved::Storage;
use crate::saved::{NamedTensor, TensorReader};
use crate::scorers::postings::prefetch;

/// How many of the commonest ranks have a place in the block.
pub(super) const COMMON: usize = 128;
/// The largest rounded number of a row and of a query. Products of all places add up below `2^31`.
const ROW_STEPS: f32 = 127.0;
const QUERY_STEPS: f32 = 32_000.0;
/// How many rows ahead the next is fetched.
const AHEAD: usize = 8;

/// For every row its values in the [`COMMON`] commonest ranks, as whole multiples of a step that each rank has
/// of its own: two cache lines per row, instead of dozens of entries all over the query.
#[derive(Debug, Clone)]
pub(super) struct CommonBlock {
    rows: Storage<i8>,
    /// The step of each rank.
    scales: Storage<f32>,
    /// The length of every row's part in these ranks.
    norms: Storage<f32>,
}

/// A query's part in the commonest ranks.
#[derive(Debug, Clone)]
pub(super) struct CommonQuery {
    steps: [i16; COMMON],
    step: f32,
    /// No dot product is further off than this.
    pub(super) error: f32,
    /// The length of this part.
    pub(super) norm: f32,
}

impl CommonBlock {
    /// Rounds the beginning of every row of unit length.
    pub(super) fn of(ranked: &SparseMatrix) -> Self {
        let common = |columns: &[u32]| columns.partition_point(|&rank| (rank as usize) < COMMON);
        let mut scales = vec![0f32; COMMON];
        for row in ranked.rows() {
            for place in 0..common(row.columns()) {
                let scale = &mut scales[row.columns()[place] as usize];
                *scale = scale.max(row.values()[place].abs() / ROW_STEPS);
            }
        }
        let mut rows = vec![0i8; COMMON * ranked.row_count()];
        let mut norms = vec![0f32; ranked.row_count()];
        for (number, row) in ranked.rows().enumerate() {
            let mut squares = 0.0;
            for place in 0..common(row.columns()) {
                let (rank, value) = (row.columns()[place] as usize, row.values()[place]);
                squares += f64::from(value) * f64::from(value);
                if scales[rank] > 0.0 {
                    rows[COMMON * number + rank] = (value / scales[rank]).round() as i8;
                }
            }
            norms[number] = rounded_up(squares);
        }
        Self {
            rows: Storage::Owned(rows),
            scales: Storage::Owned(scales),
            norms: Storage::Owned(norms),
        }
    }

    /// The numbers that a model file keeps.
    pub(super) fn tensors(&self) -> [NamedTensor<'_>; 3] {
        let shape = vec![self.norms.len(), COMMON];
        [
            NamedTensor::shaped("block_rows", shape, &self.rows),
            NamedTensor::vector("block_scales", &self.scales),
            NamedTensor::vector("block_norms", &self.norms),
        ]
    }

    /// From a model file; `None` unless its arrays fit together.
    pub(super) fn from_tensors(reader: &TensorReader<'_>, row_count: usize) -> Option<Self> {
        let (rows, height, width) = reader.stored_matrix::<i8>("block_rows")?;
        let scales = reader.stored_vector::<f32>("block_scales")?;
        let norms = reader.stored_vector::<f32>("block_norms")?;
        let fits = (height, width) == (row_count, COMMON)
            && scales.len() == COMMON
            && norms.len() == row_count
            && scales.iter().all(|scale| *scale >= 0.0 && *scale <= 1.0)
            && norms.iter().all(|norm| *norm >= 0.0 && *norm <= 2.0);
        fits.then_some(Self {
            rows,
            scales,
            norms,
        })
    }

    /// The length of every row's part in the commonest ranks.
    pub(super) fn norms(&self) -> &[f32] {
        &self.norms
    }

    /// Rounds a query's terms, of which those of common ranks are given.
    ///
    /// # Formula
    /// With `x_t` in the query, `y_t = s_t (n_t + e)` in a row, where `n_t` is whole and `|e| <= ½`, and
    /// `x_t s_t = u (m_t + f)`, where `m_t` is whole and `|f| <= ½`:
    ///
    /// ```text
    /// |Σ x_t y_t - u Σ m_t n_t| <= ½ Σ |x_t| s_t + ½ u Σ |n_t|      and |n_t| <= 127
    /// ```
    pub(super) fn query(&self, terms: &[(u32, f32)]) -> CommonQuery {
        let weight = |&(rank, value): &(u32, f32)| value * self.scales[rank as usize];
        let largest = terms
            .iter()
            .fold(0f32, |largest, term| largest.max(weight(term).abs()));
        let step = largest / QUERY_STEPS;
        let mut query = CommonQuery {
            steps: [0; COMMON],
            step,
            error: 0.0,
            norm: 0.0,
        };
        let mut squares = 0.0;
        for term in terms {
            squares += f64::from(term.1) * f64::from(term.1);
            query.error += 0.5 * (weight(term).abs() + step * ROW_STEPS);
            if step > 0.0 {
                query.steps[term.0 as usize] = (weight(term) / step).round() as i16;
            }
        }
        query.norm = rounded_up(squares);
        // The rounding of the bound itself, and of the divisions above.
        query.error *= 1.001;
        query
    }

    /// Adds to the sum of each of these rows what the common ranks add to its dot product with the query,
    /// give or take the query's error.
    pub(super) fn add_to(&self, rows: &mut [(f32, u32)], query: &CommonQuery) {
        let blocks = self.rows.as_chunks::<COMMON>().0;
        for place in 0..rows.len() {
            if let Some(&(_, later)) = rows.get(place + AHEAD) {
                prefetch(&self.rows, COMMON * later as usize);
                prefetch(&self.rows, COMMON * later as usize + COMMON / 2);
            }
            let (sum, row) = &mut rows[place];
            if let Some(block) = blocks.get(*row as usize) {
                *sum += dot(block, &query.steps) as f32 * query.step;
            }
        }
    }
}

/// Sixteen places at a time. Left to itself the compiler reads four, and takes twice as long.
#[cfg(target_arch = "x86_64")]
#[inline]
fn dot(row: &[i8; COMMON], query: &[i16; COMMON]) -> i32 {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_cmpgt_epi8, _mm_madd_epi16, _mm_setzero_si128,
        _mm_unpackhi_epi8, _mm_unpacklo_epi8,
    };
    let (rows, queries) = (row.as_chunks::<16>().0, query.as_chunks::<8>().0);
    // SAFETY: these are SSE2 instructions, which every x86-64 processor has.
    let sums: [i32; 4] = unsafe {
        let zero = _mm_setzero_si128();
        let mut sums = [zero; 2];
        for (row, query) in rows.iter().zip(queries.as_chunks::<2>().0) {
            let bytes: __m128i = bytemuck::cast(*row);
            let signs = _mm_cmpgt_epi8(zero, bytes);
            let wide = [
                _mm_unpacklo_epi8(bytes, signs),
                _mm_unpackhi_epi8(bytes, signs),
            ];
            for half in 0..2 {
                let products = _mm_madd_epi16(wide[half], bytemuck::cast(query[half]));
                sums[half] = _mm_add_epi32(sums[half], products);
            }
        }
        bytemuck::cast(_mm_add_epi32(sums[0], sums[1]))
    };
    sums.iter().sum()
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn dot(row: &[i8; COMMON], query: &[i16; COMMON]) -> i32 {
    let products = row.iter().zip(query);
    products
        .map(|(&number, &step)| i32::from(number) * i32::from(step))
        .sum()
}

/// A length from its square, no less than it is: a bound must not be rounded down.
fn rounded_up(square: f64) -> f32 {
    (square.sqrt() * (1.0 + 1e-6)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    #[test]
    fn rounded_dot_products_are_within_the_stated_error() {
        let mut random = Random::from_seed(4);
        for _ in 0..200 {
            let mut draw = |share: f64| -> Vec<(u32, f32)> {
                (0..COMMON as u32 + 20)
                    .filter_map(|rank| {
                        let value = random.normal() as f32;
                        (random.uniform() < share).then_some((rank, 0.1 * value))
                    })
                    .collect()
            };
            let rows = SparseMatrix::from_rows(COMMON + 20, (0..5).map(|_| draw(0.4)));
            let query = draw(0.3);
            let block = CommonBlock::of(&rows);
            let end = query.partition_point(|&(rank, _)| (rank as usize) < COMMON);
            let rounded = block.query(&query[..end]);
            assert!(rounded.error < 0.02);
            for (number, row) in rows.rows().enumerate() {
                let exact: f64 = row
                    .entries()
                    .filter(|&(rank, _)| rank < COMMON)
                    .filter_map(|(rank, value)| {
                        let term = query.iter().find(|term| term.0 as usize == rank)?;
                        Some(value * f64::from(term.1))
                    })
                    .sum();
                let mut sum = [(0.0, number as u32)];
                block.add_to(&mut sum, &rounded);
                let off = (f64::from(sum[0].0) - exact).abs();
                assert!(off <= f64::from(rounded.error), "{off} > {}", rounded.error);
                let most = f64::from(rounded.norm * block.norms()[number]);
                assert!(exact.abs() <= most);
            }
        }
    }
}
