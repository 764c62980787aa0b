//! Rows of features in the two layouts that learning needs.

use std::ops::Range;

/// The features of documents, made for two operations: `w·φ` of each row and `Σ c_d φ_d` of many.
///
/// Plain features are kept as they are. Indicators `1[f > k]` of the thresholds `k` of a function are kept as
/// one small number, how many of its (rising) thresholds the value exceeds: with 50 thresholds, a fiftieth
/// of the memory. The product with the weights is then one lookup per function in a table of their sums, and a
/// sum of rows is a histogram per function whose tails are summed once.
///
/// ```
/// use calibrant::ranking::learning::FeatureRows;
/// // Two functions with two thresholds each; the document exceeds one of the first and both of the second.
/// let rows = FeatureRows::binned(vec![2, 2], vec![1, 2]).unwrap();
/// assert_eq!(rows.expanded(0), [1.0, 0.0, 1.0, 1.0]);
/// let mut scores = vec![0.0];
/// rows.scores_into(&[0.5, 9.0, 2.0, 4.0], 0..1, &mut scores);
/// assert_eq!(scores, [6.5]); // by hand: 0.5 + 2 + 4
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureRows {
    layout: Layout,
}

#[derive(Debug, Clone, PartialEq)]
enum Layout {
    Dense {
        width: usize,
        values: Vec<f32>,
    },
    Binned {
        /// How many thresholds each function has.
        threshold_counts: Vec<usize>,
        /// One a function and row.
        bins: Vec<u16>,
    },
}

impl FeatureRows {
    /// Rows of `width` values each; `None` if they do not fit or are not finite.
    pub fn dense(width: usize, values: Vec<f32>) -> Option<Self> {
        let fits = width > 0
            && values.len().is_multiple_of(width)
            && values.iter().all(|value| value.is_finite());
        fits.then_some(Self {
            layout: Layout::Dense { width, values },
        })
    }

    /// Rows of one bin a function, from 0 to the function's number of thresholds; `None` if they do not fit.
    pub fn binned(threshold_counts: Vec<usize>, bins: Vec<u16>) -> Option<Self> {
        let width = threshold_counts.len();
        let fits = width > 0
            && bins.len().is_multiple_of(width)
            && bins.chunks_exact(width).all(|row| {
                let mut with = row.iter().zip(&threshold_counts);
                with.all(|(&bin, &count)| bin as usize <= count)
            });
        fits.then_some(Self {
            layout: Layout::Binned {
                threshold_counts,
                bins,
            },
        })
    }

    /// Parts that are known to fit: values, or numbers of thresholds and bins.
    pub(super) fn of_parts(
        width: usize,
        threshold_counts: Option<Vec<usize>>,
        values: Vec<f32>,
        bins: Vec<u16>,
    ) -> Self {
        let layout = match threshold_counts {
            None => Layout::Dense { width, values },
            Some(threshold_counts) => Layout::Binned {
                threshold_counts,
                bins,
            },
        };
        Self { layout }
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        match &self.layout {
            Layout::Dense { width, values } => values.len() / width.max(&1),
            Layout::Binned {
                threshold_counts,
                bins,
            } => bins.len() / threshold_counts.len().max(1),
        }
    }

    /// How many features a row has, indicators counted one by one.
    pub fn dimension(&self) -> usize {
        match &self.layout {
            Layout::Dense { width, .. } => *width,
            Layout::Binned {
                threshold_counts, ..
            } => threshold_counts.iter().sum(),
        }
    }

    /// One row with every feature written out.
    pub fn expanded(&self, row: usize) -> Vec<f32> {
        match &self.layout {
            Layout::Dense { width, values } => values[row * width..][..*width].to_vec(),
            Layout::Binned {
                threshold_counts,
                bins,
            } => {
                let width = threshold_counts.len();
                let row = bins[row * width..][..width].iter();
                row.zip(threshold_counts)
                    .flat_map(|(&bin, &count)| {
                        (0..count).map(move |k| if k < bin as usize { 1.0 } else { 0.0 })
                    })
                    .collect()
            }
        }
    }

    /// Makes weights ready for scoring many rows.
    pub fn with_weights(&self, weights: &[f64]) -> WeightedRows<'_> {
        let sums = match &self.layout {
            Layout::Dense { .. } => weights.to_vec(),
            Layout::Binned {
                threshold_counts, ..
            } => sums_below(threshold_counts, weights),
        };
        WeightedRows {
            rows: self,
            starts: self.starts(),
            sums,
        }
    }

    /// `w·φ` of each row of a range.
    pub fn scores_into(&self, weights: &[f64], rows: Range<usize>, scores: &mut [f64]) {
        self.with_weights(weights).scores_into(rows, scores);
    }

    /// A sum of rows that begins with zero.
    pub fn sum(&self) -> RowSum<'_> {
        let starts = self.starts();
        let length = match &self.layout {
            Layout::Dense { width, .. } => *width,
            Layout::Binned { .. } => starts.last().copied().unwrap_or(0),
        };
        RowSum {
            rows: self,
            starts,
            sums: vec![0.0; length],
        }
    }

    /// Where each function's bins start in a table of all; one more bin than thresholds.
    fn starts(&self) -> Vec<usize> {
        let Layout::Binned {
            threshold_counts, ..
        } = &self.layout
        else {
            return Vec::new();
        };
        let mut start = 0;
        let ends = threshold_counts.iter().map(|count| {
            start += count + 1;
            start
        });
        [0].into_iter().chain(ends).collect()
    }
}

/// Rows with weights made ready, from [`FeatureRows::with_weights`].
#[derive(Debug)]
pub struct WeightedRows<'a> {
    rows: &'a FeatureRows,
    starts: Vec<usize>,
    /// The weights; of bins, for each function the sums of the weights of the thresholds below each bin.
    sums: Vec<f64>,
}

impl WeightedRows<'_> {
    /// `w·φ` of each row of a range.
    pub fn scores_into(&self, rows: Range<usize>, scores: &mut [f64]) {
        match &self.rows.layout {
            Layout::Dense { width, values } => {
                let rows =
                    values[rows.start * width..rows.end * width].chunks_exact((*width).max(1));
                for (row, score) in rows.zip(scores) {
                    *score = mixed_dot(&self.sums, row);
                }
            }
            Layout::Binned {
                threshold_counts,
                bins,
            } => {
                let width = threshold_counts.len();
                let rows = bins[rows.start * width..rows.end * width].chunks_exact(width.max(1));
                for (row, score) in rows.zip(scores) {
                    let places = row.iter().zip(&self.starts);
                    *score = places
                        .map(|(&bin, &start)| self.sums[start + bin as usize])
                        .sum();
                }
            }
        }
    }
}

/// A sum of rows with a number each, from [`FeatureRows::sum`].
#[derive(Debug)]
pub struct RowSum<'a> {
    rows: &'a FeatureRows,
    starts: Vec<usize>,
    /// The sum; of bins, a histogram for each function.
    sums: Vec<f64>,
}

impl RowSum<'_> {
    /// Adds `Σ c_d φ_d` over the rows of a range.
    pub fn add(&mut self, coefficients: &[f64], rows: Range<usize>) {
        match &self.rows.layout {
            Layout::Dense { width, values } => {
                let rows =
                    values[rows.start * width..rows.end * width].chunks_exact((*width).max(1));
                for (row, &coefficient) in rows.zip(coefficients) {
                    if coefficient != 0.0 {
                        for (sum, &value) in self.sums.iter_mut().zip(row) {
                            *sum += coefficient * f64::from(value);
                        }
                    }
                }
            }
            Layout::Binned {
                threshold_counts,
                bins,
            } => {
                let width = threshold_counts.len();
                let rows = bins[rows.start * width..rows.end * width].chunks_exact(width.max(1));
                for (row, &coefficient) in rows.zip(coefficients) {
                    if coefficient != 0.0 {
                        for (&bin, &start) in row.iter().zip(&self.starts) {
                            self.sums[start + bin as usize] += coefficient;
                        }
                    }
                }
            }
        }
    }

    /// Adds what was summed up to `sum`, feature by feature.
    pub fn add_to(&self, sum: &mut [f64]) {
        match &self.rows.layout {
            Layout::Dense { .. } => {
                let own = self.sums.iter();
                sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            Layout::Binned {
                threshold_counts, ..
            } => {
                let mut feature = 0;
                for (function, &count) in threshold_counts.iter().enumerate() {
                    let bins = &self.sums[self.starts[function]..self.starts[function + 1]];
                    // Threshold `k` is exceeded in all bins above it.
                    let mut tail = 0.0;
                    for k in (0..count).rev() {
                        tail += bins[k + 1];
                        sum[feature + k] += tail;
                    }
                    feature += count;
                }
            }
        }
    }
}

/// For each function the sums of the weights of the thresholds below each bin.
fn sums_below(threshold_counts: &[usize], weights: &[f64]) -> Vec<f64> {
    let mut sums = Vec::with_capacity(weights.len() + threshold_counts.len());
    let mut weights = weights.iter();
    for &count in threshold_counts {
        let mut sum = 0.0;
        sums.push(sum);
        for weight in weights.by_ref().take(count) {
            sum += weight;
            sums.push(sum);
        }
    }
    sums
}

fn mixed_dot(weights: &[f64], row: &[f32]) -> f64 {
    let (a_blocks, a_rest) = weights.as_chunks::<4>();
    let (b_blocks, b_rest) = row.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..4 {
            sums[lane] += x[lane] * f64::from(y[lane]);
        }
    }
    let rest = a_rest.iter().zip(b_rest);
    let rest: f64 = rest.map(|(x, &y)| x * f64::from(y)).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bins_do_what_their_indicators_written_out_do(
            counts in prop::collection::vec(0usize..6, 1..5),
            seeds in prop::collection::vec((0u16..1000, -1.0f64..1.0), 1..60),
            weights in prop::collection::vec(-1.0f64..1.0, 30),
            cut in 0usize..5,
        ) {
            let width = counts.len();
            let bins: Vec<u16> = seeds
                .chunks_exact(width)
                .flat_map(|row| row.iter().zip(&counts).map(|(seed, &count)| seed.0 % (count as u16 + 1)).collect::<Vec<_>>())
                .collect();
            let rows = FeatureRows::binned(counts, bins).unwrap();
            let count = rows.row_count();
            let dimension = rows.dimension();
            prop_assume!(dimension > 0 && count > 0);
            let expanded: Vec<f32> = (0..count).flat_map(|row| rows.expanded(row)).collect();
            let dense = FeatureRows::dense(dimension, expanded).unwrap();
            let range = cut.min(count)..count;
            let mut scores = [vec![0.0; range.len()], vec![0.0; range.len()]];
            rows.scores_into(&weights[..dimension], range.clone(), &mut scores[0]);
            dense.scores_into(&weights[..dimension], range.clone(), &mut scores[1]);
            for (a, b) in scores[0].iter().zip(&scores[1]) {
                prop_assert!((a - b).abs() < 1e-12);
            }
            let coefficients: Vec<f64> = seeds[..range.len()].iter().map(|seed| seed.1).collect();
            let mut sums = [vec![0.5; dimension], vec![0.5; dimension]];
            for (rows, total) in [&rows, &dense].into_iter().zip(&mut sums) {
                let mut sum = rows.sum();
                sum.add(&coefficients, range.clone());
                sum.add_to(total);
            }
            for (a, b) in sums[0].iter().zip(&sums[1]) {
                prop_assert!((a - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(FeatureRows::dense(2, vec![1.0; 3]).is_none());
        assert!(FeatureRows::dense(1, vec![f32::NAN]).is_none());
        assert!(FeatureRows::binned(vec![1], vec![2]).is_none());
        assert!(FeatureRows::binned(vec![], vec![]).is_none());
    }
}
