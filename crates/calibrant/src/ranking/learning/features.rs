//! From the columns of a table to the features that a ranking is learned from.

use serde::{Deserialize, Serialize};

use super::query_scale::QueryScale;
use super::rows::FeatureRows;
use super::thresholds::{even_thresholds, spread_thresholds};
use crate::corpus::RankingTable;

/// Which features are made of a table's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSettings {
    /// What is done to the values first.
    pub scale: QueryScale,
    /// How many indicators `1[f > k]` are made of each column; with none, its values themselves are the features.
    pub bins: usize,
}

/// The most indicators a column can have.
pub(crate) const BIN_LIMIT: usize = 10_000;

/// Features as they were fixed on training data: which columns, how scaled, at which thresholds cut.
///
/// # Formula
/// ```text
/// plain     φ_f(x, d) = f(d|x)
/// binned    φ_{f,k}(x, d) = 1[f(d|x) > k]   for the thresholds k of column f
/// ```
/// With bins the score `w·φ` is a step column of each `f`, which may bend or fall where `w` has both signs: scales
/// of different columns need not fit, and a column that says nothing above some value can be cut off there.
///
/// Thresholds of unscaled columns stand at quantiles of the training values, where relevant documents, all together,
/// weigh as much as all others: so they are dense where relevant documents live. Columns that are
/// scaled within a query get evenly spaced ones, `0, 1/n, …, (n-1)/n`.
///
/// A missing value exceeds no threshold. As a plain feature it is replaced by the least value that the
/// column has in its query (zero where there is none), as LETOR does.
///
/// # When it misleads
/// Thresholds are those of the training queries. A plain column whose values depend on the query (a sum over
/// its words, say) has no fixed meaning of high and low; scale it within the query first.
///
/// # Reference
/// Yue et al. 2007, section 4.2 (50 thresholds per column), section 5.2.1 for percentiles and min-max.
///
/// ```
/// use calibrant::ranking::RankingTable;
/// use calibrant::ranking::learning::{FeatureMap, FeatureSettings};
/// let table = RankingTable::new(
///     vec!["bm25".into()], &[("q".into(), 3)], &["a", "b", "c"], vec![1, 0, 0], vec![3.0, 1.0, 2.0],
/// )?;
/// let settings = FeatureSettings { bins: 3, ..FeatureSettings::default() };
/// let map = FeatureMap::fit(settings, &table, 1);
/// // Half of all weight lies on the relevant 3, a quarter on each other: the quartiles are 1, 2, 3, and
/// // nothing exceeds 3.
/// assert_eq!(map.thresholds(0), [1.0, 2.0]);
/// let rows = map.rows(&table);
/// assert_eq!(rows.expanded(0), [1.0, 1.0]);
/// assert_eq!(rows.expanded(1), [0.0, 0.0]);
/// # Ok::<(), calibrant::ranking::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureMap {
    settings: FeatureSettings,
    columns: Vec<String>,
    /// Rising, for each column; empty with plain features.
    thresholds: Vec<Vec<f32>>,
    /// Mean and inverse spread of each column, where values are standardised.
    standard: Vec<[f64; 2]>,
}

impl FeatureMap {
    /// Fixes thresholds and spreads on training data.
    pub fn fit(settings: FeatureSettings, table: &RankingTable, relevant_from: i32) -> Self {
        let columns = table.features().to_vec();
        let bins = settings.bins.min(BIN_LIMIT);
        let thresholds = (0..columns.len()).map(|column| match settings.scale {
            _ if bins == 0 => Vec::new(),
            QueryScale::Percentile | QueryScale::MinMax => even_thresholds(bins),
            QueryScale::AsGiven | QueryScale::Standard => {
                let labels = table.grades().iter();
                let values = labels.enumerate().filter_map(|(row, &label)| {
                    let value = table.row(row)[column];
                    (!value.is_nan()).then_some((value, label >= relevant_from))
                });
                spread_thresholds(values.collect(), bins)
            }
        });
        let standard = match settings.scale {
            QueryScale::Standard if bins == 0 => {
                let values =
                    |column: usize| (0..table.row_count()).map(move |row| table.row(row)[column]);
                (0..columns.len())
                    .map(|column| mean_and_inverse_spread(values(column)))
                    .collect()
            }
            _ => Vec::new(),
        };
        Self {
            settings,
            thresholds: thresholds.collect(),
            columns,
            standard,
        }
    }

    /// The parts of a saved map; `None` if they do not fit together.
    pub(crate) fn from_parts(
        settings: FeatureSettings,
        columns: Vec<String>,
        thresholds: Vec<Vec<f32>>,
        standard: Vec<[f64; 2]>,
    ) -> Option<Self> {
        let rising = |list: &Vec<f32>| {
            list.len() <= BIN_LIMIT
                && list.iter().all(|value| value.is_finite())
                && list.windows(2).all(|pair| pair[0] < pair[1])
        };
        let mut names: Vec<&String> = columns.iter().collect();
        names.sort_unstable();
        names.dedup();
        let standardised = settings.scale == QueryScale::Standard && settings.bins == 0;
        let fits = !columns.is_empty()
            && names.len() == columns.len()
            && thresholds.len() == columns.len()
            && thresholds.iter().all(rising)
            && (settings.bins > 0 || thresholds.iter().all(Vec::is_empty))
            && standard.len() == if standardised { columns.len() } else { 0 }
            && standard.iter().flatten().all(|value| value.is_finite());
        fits.then_some(Self {
            settings,
            columns,
            thresholds,
            standard,
        })
    }

    /// How the features are made.
    pub fn settings(&self) -> FeatureSettings {
        self.settings
    }

    /// The columns that the features are made of.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The thresholds of a column, rising; none with plain features.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn thresholds(&self, column: usize) -> &[f32] {
        &self.thresholds[column]
    }

    pub(crate) fn standard(&self) -> &[[f64; 2]] {
        &self.standard
    }

    /// How many features there are.
    pub fn dimension(&self) -> usize {
        if self.settings.bins == 0 {
            self.columns.len()
        } else {
            self.thresholds.iter().map(Vec::len).sum()
        }
    }

    /// Where the features of a column lie.
    pub fn features_of(&self, column: usize) -> std::ops::Range<usize> {
        if self.settings.bins == 0 {
            return column..column + 1;
        }
        let start = self.thresholds[..column].iter().map(Vec::len).sum();
        start..start + self.thresholds[column].len()
    }

    /// Columns of a table that the features do not know.
    pub fn unknown_features<'t>(&self, table: &'t RankingTable) -> Vec<&'t str> {
        let known: std::collections::HashSet<&str> =
            self.columns.iter().map(String::as_str).collect();
        let names = table.features().iter().map(String::as_str);
        names.filter(|name| !known.contains(name)).collect()
    }

    /// The features of every row of a table. Columns are found by name: those that the features do not know are
    /// passed over, those that the table lacks are missing in every row.
    #[doc(hidden)] // For tests.
    pub fn rows(&self, table: &RankingTable) -> FeatureRows {
        let places: std::collections::HashMap<&str, usize> = table
            .features()
            .iter()
            .enumerate()
            .map(|(place, name)| (name.as_str(), place))
            .collect();
        let columns: Vec<Option<usize>> = self
            .columns
            .iter()
            .map(|name| places.get(name.as_str()).copied())
            .collect();
        let width = self.columns.len();
        let mut values = vec![f32::NAN; width * table.row_count()];
        for (row, values) in values.chunks_exact_mut(width.max(1)).enumerate() {
            let found = table.row(row);
            for (value, column) in values.iter_mut().zip(&columns) {
                *value = column.map_or(f32::NAN, |column| found[column]);
            }
        }
        for query in table.queries() {
            let rows = query.rows.clone();
            let values = &mut values[rows.start * width..rows.end * width];
            self.settings.scale.apply(values, width);
        }
        if self.settings.bins == 0 {
            self.plain_rows(table, values)
        } else {
            self.binned_rows(&values)
        }
    }

    fn plain_rows(&self, table: &RankingTable, mut values: Vec<f32>) -> FeatureRows {
        let width = self.columns.len();
        for query in table.queries() {
            let rows = query.rows.clone();
            fill_with_least(&mut values[rows.start * width..rows.end * width], width);
        }
        for row in values.chunks_exact_mut(width.max(1)) {
            for (value, [mean, inverse]) in row.iter_mut().zip(&self.standard) {
                let scaled = (f64::from(*value) - mean) * inverse;
                *value = scaled.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
            }
        }
        FeatureRows::of_parts(width, None, values, Vec::new())
    }

    fn binned_rows(&self, values: &[f32]) -> FeatureRows {
        let width = self.columns.len();
        let bins = values
            .chunks_exact(width.max(1))
            .flat_map(|row| row.iter().zip(&self.thresholds))
            // Nothing is below NaN, so a missing value is in the lowest bin.
            .map(|(&value, thresholds)| thresholds.partition_point(|&k| k < value) as u16)
            .collect();
        let counts = self.thresholds.iter().map(Vec::len).collect();
        FeatureRows::of_parts(width, Some(counts), Vec::new(), bins)
    }
}

/// Replaces missing values by the least of their column.
fn fill_with_least(values: &mut [f32], width: usize) {
    for column in 0..width {
        let places = || (column..values.len()).step_by(width);
        if !places().any(|at| values[at].is_nan()) {
            continue;
        }
        let least = places().map(|at| values[at]).fold(f32::INFINITY, f32::min);
        let least = if least.is_finite() { least } else { 0.0 };
        for at in (column..values.len()).step_by(width) {
            if values[at].is_nan() {
                values[at] = least;
            }
        }
    }
}

/// Mean and inverse standard deviation of what is not missing; a constant column has inverse zero.
fn mean_and_inverse_spread(values: impl Iterator<Item = f32> + Clone) -> [f64; 2] {
    let present = values.filter(|value| !value.is_nan()).map(f64::from);
    let count = present.clone().count().max(1) as f64;
    let mean = present.clone().sum::<f64>() / count;
    let spread = (present.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    let varies = spread > 1e-12 * mean.abs() && spread > 0.0;
    [mean, if varies { 1.0 / spread } else { 0.0 }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize, values: Vec<f32>) -> RankingTable {
        let width = values.len() / rows;
        let names = (1..=width).map(|i| i.to_string()).collect();
        let documents = vec![""; rows];
        let labels = (0..rows).map(|row| i32::from(row == 0)).collect();
        let queries = [("a".to_owned(), rows - 1), ("b".to_owned(), 1)];
        RankingTable::new(names, &queries, &documents, labels, values).unwrap()
    }

    #[test]
    fn missing_values_are_the_least_of_their_query_or_below_every_threshold() {
        let nan = f32::NAN;
        let table = table(4, vec![2.0, nan, nan, 5.0, 1.0, 7.0, nan, nan]);
        let plain = FeatureMap::fit(FeatureSettings::default(), &table, 1);
        let rows = plain.rows(&table);
        assert_eq!(rows.expanded(0), [2.0, 5.0]);
        assert_eq!(rows.expanded(1), [1.0, 5.0]);
        assert_eq!(rows.expanded(3), [0.0, 0.0]);
        let settings = FeatureSettings {
            bins: 4,
            ..FeatureSettings::default()
        };
        let binned = FeatureMap::fit(settings, &table, 1).rows(&table);
        assert!(binned.expanded(3).iter().all(|&value| value == 0.0));
    }

    #[test]
    fn columns_are_found_by_name() {
        let train = table(3, vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
        let map = FeatureMap::fit(FeatureSettings::default(), &train, 1);
        let names = vec!["2".into(), "x".into()];
        let other = RankingTable::new(names, &[("q".into(), 1)], &[""], vec![0], vec![7.0, 8.0]);
        let other = other.unwrap();
        assert_eq!(map.rows(&other).expanded(0), [0.0, 7.0]);
        assert_eq!(map.unknown_features(&other), ["x"]);
    }

    #[test] // By hand: mean 2, spread sqrt(2/3).
    fn standard_values_have_mean_zero_and_spread_one() {
        let table = table(3, vec![1.0, 2.0, 3.0]);
        let settings = FeatureSettings {
            scale: QueryScale::Standard,
            bins: 0,
        };
        let rows = FeatureMap::fit(settings, &table, 1).rows(&table);
        assert!((rows.expanded(0)[0] + 1.5f32.sqrt()).abs() < 1e-6);
        assert_eq!(rows.expanded(1), [0.0]);
    }
}
