//! Numbers, categories and rules beside the text to columns of a row.

mod category;
mod unknown;
mod vector;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Cells, SideTable, SparseMatrix};
use crate::parallel;
pub use category::one_spelling;
pub use unknown::{BeyondTraining, MostlyUnknown, UnknownCells};
use vector::VectorColumns;

/// A number that lies further from the mean counts as lying there: so many standard deviations.
const FARTHEST: f64 = 1e6;
/// The same for learners by similarity, to whom one far number would be all there is to a document.
const FARTHEST_BY_SIMILARITY: f64 = 3.0;
/// A number beyond those of the training documents counts as lying this share of their range outside them.
const MARGIN: f64 = 0.1;
/// What a rule of strength one comes to beside text of unit length: about as much as one of its words.
const RULE_BESIDE_TEXT: f64 = 0.1;
/// Vectors of more numbers are none that a model can have learned from.
const LONGEST_VECTOR: usize = 1 << 24;
/// A spread below this share of the mean is rounding.
const LEAST_SPREAD: f64 = 1e-12;

/// Which columns stand beside the text, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SideColumns {
    /// Fields that hold numbers.
    pub numeric: Vec<String>,
    /// Fields that hold one of a set of values.
    pub categorical: Vec<String>,
    /// Categories that have a rule.
    pub rules: Vec<String>,
    /// Fields that hold vectors.
    pub vector: Vec<String>,
}

/// What the columns stand beside, and who learns from them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// Rows of text have unit length.
    pub unit_length: bool,
    /// What the columns count beside such rows, above 0 and at most 1.
    pub factor: f64,
    /// The length of vectors.
    pub vector_factor: f64,
    /// The learner compares rows as wholes and gives no column a weight of its own.
    pub by_similarity: bool,
    /// The learner looks at what is there or not, so a rule matches or does not.
    pub presence_only: bool,
    /// Rules are scores as they are, also those with the same strength in all training documents.
    pub rules_are_scores: bool,
}

impl Default for Beside {
    fn default() -> Self {
        Self {
            unit_length: false,
            factor: 1.0,
            vector_factor: 1.0,
            by_similarity: false,
            presence_only: false,
            rules_are_scores: false,
        }
    }
}

/// Side columns with what was learned from the training documents.
///
/// # Formula
/// ```text
/// number x           (x - mean) / sd · f     mean and sd over the documents that have x; 0 if missing
/// `FIELD is missing` f                       where some training documents lack the cell, not all
/// `FIELD=value`      f                       for each value that some training documents have, not all
/// rule strength s    s · g                   0 where it is the same in all training documents
/// vector v           v / ‖v‖ · h             0 if it is missing; h = vector factor / √(vector fields)
/// f = g = 1          unless rows of text are brought to unit length; then
/// f = factor / √(numeric + categorical fields),  g = 1/10
/// ```
/// What all training documents share would be a second intercept, one that is gone as soon as a new
/// document lacks it: such a column is none. Integral numbers have one spelling as categories (see
/// [`one_spelling`]). To learners by similarity a number lies three standard deviations from the mean
/// at most: one far cell would be all they see of a document. To everybody a number beyond those of the training
/// documents lies a tenth of their range outside them at most, as calibration curves hold there: a mistyped cell
/// makes nothing certain.
///
/// The standard deviation divides by the number of documents. A numeric field has a mean square of
/// one, and so has a categorical field in every row; with `f` they have together about the length of
/// the text, so that one cost of errors suits both. A rule stands for a few words, and a word of a
/// text of a hundred has about the value 1/10: were it much larger, a learner with few documents
/// would find it cheaper to believe the rules than to look at the words. Values that the training documents
/// lack give nothing.
///
/// The numbers of a vector mean something together and are not standardised one by one: a vector is
/// brought to one length, as a text is, and each of its numbers is a column. It learns nothing from the training documents.
///
/// # When it misleads
/// Mean and deviation follow outliers. Documents count once whatever their weight.
///
/// ```
/// use calibrant::features::{
///     Beside, FittedSideColumns, RowCells, SideColumns, SideTable, SparseMatrix,
/// };
/// let mut table = SideTable::default();
/// for x in [Some(1.0), Some(3.0), None] {
///     table.push(RowCells { numbers: &[x], ..RowCells::default() });
/// }
/// let names = SideColumns { numeric: vec!["size".into()], ..SideColumns::default() };
/// let fitted = FittedSideColumns::fit(&names, &table, Beside::default());
/// assert_eq!(fitted.column_names(), ["size", "size is missing"]);
/// let rows = fitted.append_to(&SparseMatrix::from_rows(0, vec![vec![]; 3]), &table);
/// assert_eq!(rows.row(0).values(), [-1.0]); // by hand: mean 2, deviation 1
/// assert_eq!((rows.row(2).columns(), rows.row(2).values()), (&[1u32][..], &[1.0f32][..]));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedSideColumns {
    numeric: Vec<NumericColumn>,
    categorical: Vec<CategoricalColumn>,
    rules: Vec<String>,
    /// The factor `f`.
    factor: f64,
    /// The factor `g`.
    rule_factor: f64,
    /// Whether integral numbers have one spelling; models of before took cells as they were written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    one_spelling: bool,
    /// Whether numbers are kept near the mean, for learners by similarity.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    by_similarity: bool,
    /// Whether a rule matches or not, however strongly.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    presence_only: bool,
    /// Rules with the same strength in all training documents; empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    idle_rules: Vec<bool>,
    #[serde(skip)]
    rules_are_scores: bool,
    /// Fields of vectors, whose columns come last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    vectors: Vec<VectorColumns>,
    /// The factor `h`; nothing where there are no vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vector_factor: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumericColumn {
    field: String,
    mean: f64,
    /// No column without it. Zero only while a fold is held out whose documents alone vary.
    deviation: Option<f64>,
    /// The least and the greatest number of the training documents; absent in models of before, and where there are
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<(f64, f64)>,
    /// Whether there is a column for missing cells.
    missing: bool,
    /// A column for missing cells that only the fold left out would fill.
    #[serde(skip)]
    missing_unseen: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CategoricalColumn {
    field: String,
    /// Rising.
    values: Vec<String>,
    /// Values that only the fold left out has; empty if there are none.
    #[serde(skip)]
    unseen: Vec<bool>,
    missing: bool,
    #[serde(skip)]
    missing_unseen: bool,
}

impl FittedSideColumns {
    /// Learns from all rows.
    pub fn fit(names: &SideColumns, table: &SideTable, beside: Beside) -> Self {
        let everyone: Vec<usize> = (0..table.row_count()).collect();
        let numeric = names.numeric.iter().enumerate().map(|(column, field)| {
            let moments = Moments::of(table, column, &everyone);
            NumericColumn {
                field: field.clone(),
                mean: moments.mean,
                deviation: moments.deviation(),
                range: moments.range,
                missing: moments.missing_in_some,
                missing_unseen: false,
            }
        });
        let categorical = names.categorical.iter().enumerate().map(|(column, field)| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for (value, count) in table.category_counts(column) {
                *counts.entry(one_spelling(value).into_owned()).or_default() += count;
            }
            let present: usize = counts.values().sum();
            let in_some = |count: usize| count > 0 && count < everyone.len();
            counts.retain(|_, count| in_some(*count));
            CategoricalColumn {
                field: field.clone(),
                values: counts.into_keys().collect(),
                unseen: Vec::new(),
                missing: in_some(everyone.len() - present),
                missing_unseen: false,
            }
        });
        let fields = names.numeric.len() + names.categorical.len();
        let (factor, rule_factor) = if beside.unit_length {
            let all = (fields.max(1) as f64).sqrt();
            (beside.factor / all, RULE_BESIDE_TEXT)
        } else {
            (1.0, 1.0)
        };
        let vectors = names.vector.iter().enumerate().map(|(column, field)| {
            let (field, length) = (field.clone(), table.vector_length(column));
            VectorColumns { field, length }
        });
        let vectors: Vec<VectorColumns> = vectors.collect();
        let mut fitted = Self {
            numeric: numeric.collect(),
            categorical: categorical.collect(),
            rules: names.rules.clone(),
            factor,
            rule_factor,
            one_spelling: true,
            by_similarity: beside.by_similarity && beside.unit_length,
            presence_only: beside.presence_only,
            idle_rules: Vec::new(),
            rules_are_scores: beside.rules_are_scores,
            vector_factor: (!vectors.is_empty())
                .then(|| beside.vector_factor / (vectors.len() as f64).sqrt()),
            vectors,
        };
        fitted.idle_rules = fitted.idle_rules_among(table, &everyone);
        fitted
    }

    /// The same columns with means and deviations of the rows that `takes_part`. What only other rows
    /// have (a value, a missing cell, any spread), and what only other rows lack, gives nothing, as it
    /// would to a model that never saw them.
    pub fn relearned(&self, table: &SideTable, takes_part: impl Fn(usize) -> bool) -> Self {
        let members: Vec<usize> = (0..table.row_count())
            .filter(|&row| takes_part(row))
            .collect();
        let mut new = self.clone();
        for (column, numeric) in new.numeric.iter_mut().enumerate() {
            let moments = Moments::of(table, column, &members);
            numeric.mean = moments.mean;
            numeric.range = moments.range;
            numeric.deviation = numeric
                .deviation
                .map(|_| moments.deviation().unwrap_or(0.0));
            numeric.missing_unseen = !moments.missing_in_some;
        }
        for (column, categorical) in new.categorical.iter_mut().enumerate() {
            let mut counts = vec![0; categorical.values.len()];
            let mut missing = 0;
            for &row in &members {
                match table.category_of(row, column) {
                    None => missing += 1,
                    Some(value) => {
                        if let Ok(at) = categorical.find(&self.spelling_of(value)) {
                            counts[at] += 1;
                        }
                    }
                }
            }
            let tells_nothing = |count: usize| count == 0 || count == members.len();
            categorical.unseen = counts.into_iter().map(tells_nothing).collect();
            categorical.missing_unseen = tells_nothing(missing);
        }
        new.idle_rules = self.idle_rules_among(table, &members);
        new
    }

    /// Which rules have one strength in all of these rows; empty if none has.
    fn idle_rules_among(&self, table: &SideTable, rows: &[usize]) -> Vec<bool> {
        let is_idle = |rule: usize| {
            let mut strengths = rows.iter().map(|&row| table.row(row).strength(rule));
            let first = strengths.next();
            strengths.all(|strength| Some(strength) == first)
        };
        if self.rules_are_scores {
            return Vec::new();
        }
        let idle: Vec<bool> = (0..self.rules.len()).map(is_idle).collect();
        if idle.contains(&true) {
            idle
        } else {
            Vec::new()
        }
    }

    /// A category as it is looked up.
    fn spelling_of<'v>(&self, value: &'v str) -> Cow<'v, str> {
        if self.one_spelling {
            one_spelling(value)
        } else {
            Cow::Borrowed(value)
        }
    }

    /// How many columns there are.
    pub fn column_count(&self) -> usize {
        let numeric = self.numeric.iter().map(NumericColumn::column_count);
        let categorical = self.categorical.iter().map(CategoricalColumn::column_count);
        numeric.chain(categorical).sum::<usize>() + self.rules.len() + self.vector_column_count()
    }

    /// The name of each column.
    pub fn column_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.column_count());
        for NumericColumn {
            field,
            deviation,
            missing,
            ..
        } in &self.numeric
        {
            names.extend(deviation.map(|_| field.clone()));
            names.extend(missing.then(|| format!("{field} is missing")));
        }
        for CategoricalColumn {
            field,
            values,
            missing,
            ..
        } in &self.categorical
        {
            names.extend(values.iter().map(|value| format!("{field}={value}")));
            names.extend(missing.then(|| format!("{field} is missing")));
        }
        names.extend(
            self.rules
                .iter()
                .map(|category| format!("rule for {category}")),
        );
        names.extend(self.vectors.iter().flat_map(VectorColumns::names));
        names
    }

    /// How many columns are numbers of vectors; they come last.
    pub fn vector_column_count(&self) -> usize {
        self.vectors.iter().map(|vectors| vectors.length).sum()
    }

    /// How many numbers the vectors of each field have.
    pub fn vector_lengths(&self) -> Vec<usize> {
        self.vectors.iter().map(|vectors| vectors.length).collect()
    }

    /// Each field of vectors with its columns.
    pub fn vector_columns(&self) -> impl Iterator<Item = (&str, std::ops::Range<usize>)> {
        let mut next = self.column_count() - self.vector_column_count();
        self.vectors.iter().map(move |vectors| {
            let first = next;
            next += vectors.length;
            (vectors.field.as_str(), first..next)
        })
    }

    /// The categories that have a rule; only vectors come behind their columns.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// The columns that hold numbers, each with the place of its field among the numeric ones.
    pub fn numeric_columns(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut next = 0;
        for (field, column) in self.numeric.iter().enumerate() {
            found.extend(column.deviation.map(|_| (next, field)));
            next += column.column_count();
        }
        found
    }

    /// The rising columns of one document that are not zero, from 0, with their values.
    pub fn for_each_entry(&self, cells: &impl Cells, mut visit: impl FnMut(u32, f32)) {
        let mut next = 0u32;
        let one = self.factor as f32;
        let farthest = if self.by_similarity {
            FARTHEST_BY_SIMILARITY
        } else {
            FARTHEST
        };
        for (column, numeric) in self.numeric.iter().enumerate() {
            let cell = cells.number(column);
            if let Some(deviation) = numeric.deviation {
                let standardised =
                    cell.map_or(0.0, |x| (numeric.held(x) - numeric.mean) / deviation);
                if deviation > 0.0 && standardised != 0.0 {
                    let value = standardised.clamp(-farthest, farthest) * self.factor;
                    visit(next, value as f32);
                }
                next += 1;
            }
            if numeric.missing {
                if cell.is_none() && !numeric.missing_unseen {
                    visit(next, one);
                }
                next += 1;
            }
        }
        for (column, categorical) in self.categorical.iter().enumerate() {
            let cell = cells.category(column);
            if let Some(Ok(at)) = cell.map(|value| categorical.find(&self.spelling_of(value)))
                && !categorical.unseen.get(at).is_some_and(|&unseen| unseen)
            {
                visit(next + at as u32, one);
            }
            next += categorical.values.len() as u32;
            if categorical.missing {
                if cell.is_none() && !categorical.missing_unseen {
                    visit(next, one);
                }
                next += 1;
            }
        }
        for rule in 0..self.rules.len() {
            let strength = f64::from(cells.strength(rule));
            let idle = self.idle_rules.get(rule).is_some_and(|&idle| idle);
            if strength > 0.0 && !idle {
                let strength = if self.presence_only { 1.0 } else { strength };
                visit(next, (strength * self.rule_factor) as f32);
            }
            next += 1;
        }
        self.for_each_number(cells, next, visit);
    }

    /// The numbers of the vectors, whose columns begin with `next`.
    fn for_each_number(&self, cells: &impl Cells, mut next: u32, mut visit: impl FnMut(u32, f32)) {
        let wanted = self.vector_factor.unwrap_or(1.0);
        for (column, vectors) in self.vectors.iter().enumerate() {
            let vector = cells.vector(column).unwrap_or_default();
            if let Some(scale) = vectors.scale(vector, wanted) {
                let numbers = (next..).zip(vector).filter(|(_, x)| **x != 0.0);
                numbers.for_each(|(at, &x)| visit(at, (f64::from(x) * scale) as f32));
            }
            next += vectors.length as u32;
        }
    }

    /// Rows of text with these columns behind the text's.
    ///
    /// # Panics
    /// If the table has fewer rows than `text`.
    pub fn append_to(&self, text: &SparseMatrix, table: &SideTable) -> SparseMatrix {
        assert!(
            table.row_count() >= text.row_count(),
            "a row of the table for each text"
        );
        let first = text.column_count() as u32;
        let column_count = text.column_count() + self.column_count();
        let parts = parallel::map_ranges(text.row_count(), 1024, |numbers| {
            let mut part = SparseMatrix::new(column_count);
            let mut entries = Vec::new();
            for number in numbers {
                let row = text.row(number);
                entries.clear();
                entries.extend(
                    row.columns()
                        .iter()
                        .copied()
                        .zip(row.values().iter().copied()),
                );
                self.for_each_entry(&table.row(number), |column, value| {
                    entries.push((first + column, value));
                });
                part.push_row(entries.iter().copied());
            }
            part
        });
        SparseMatrix::concatenated(column_count, parts)
    }

    /// Whether it is what [`FittedSideColumns::fit`] could have given; a file may claim anything.
    pub fn is_sound(&self) -> bool {
        let numeric = self.numeric.iter().all(|column| {
            let spread = column.deviation.is_none_or(|sd| sd.is_finite() && sd > 0.0);
            let finite =
                |(low, high): (f64, f64)| low.is_finite() && low <= high && high.is_finite();
            column.mean.is_finite() && spread && column.range.is_none_or(finite)
        });
        let categorical = self
            .categorical
            .iter()
            .all(|column| column.values.is_sorted_by(|a, b| a < b));
        let is_share = |factor: f64| factor > 0.0 && factor <= 1.0;
        let rules = self.idle_rules.is_empty() || self.idle_rules.len() == self.rules.len();
        let vectors = self
            .vector_factor
            .is_none_or(|factor| factor.is_finite() && factor > 0.0)
            && self.vector_factor.is_some() != self.vectors.is_empty()
            && (self.vectors.iter()).all(|vectors| vectors.length <= LONGEST_VECTOR);
        numeric
            && categorical
            && rules
            && vectors
            && is_share(self.factor)
            && is_share(self.rule_factor)
    }
}

impl NumericColumn {
    /// The number itself, or where it counts as lying if it is far from all that were learned from.
    fn held(&self, x: f64) -> f64 {
        match self.bounds() {
            Some((low, high)) => x.max(low).min(high),
            None => x,
        }
    }

    /// Between which numbers nothing is held back.
    fn bounds(&self) -> Option<(f64, f64)> {
        let (low, high) = self.range?;
        let margin = MARGIN * (high - low);
        Some((low - margin, high + margin))
    }

    fn column_count(&self) -> usize {
        usize::from(self.deviation.is_some()) + usize::from(self.missing)
    }
}

impl CategoricalColumn {
    fn column_count(&self) -> usize {
        self.values.len() + usize::from(self.missing)
    }

    fn find(&self, value: &str) -> Result<usize, usize> {
        self.values
            .binary_search_by(|known| known.as_str().cmp(value))
    }
}

/// Mean and variance of a numeric column over some rows.
struct Moments {
    mean: f64,
    variance: f64,
    /// The least and the greatest.
    range: Option<(f64, f64)>,
    /// Whether some rows lack the number and some have it.
    missing_in_some: bool,
}

impl Moments {
    fn of(table: &SideTable, column: usize, rows: &[usize]) -> Self {
        let present: Vec<f64> = rows
            .iter()
            .filter_map(|&row| table.row(row).number(column))
            .collect();
        let count = (present.len() as f64).max(1.0);
        let mean = present.iter().map(|x| x / count).sum::<f64>();
        let variance = present
            .iter()
            .map(|x| (x - mean) * (x - mean) / count)
            .sum();
        Self {
            mean,
            variance,
            range: present.iter().fold(None, |range: Option<(f64, f64)>, &x| {
                let (low, high) = range.unwrap_or((x, x));
                Some((low.min(x), high.max(x)))
            }),
            missing_in_some: !present.is_empty() && present.len() < rows.len(),
        }
    }

    fn deviation(&self) -> Option<f64> {
        let deviation = self.variance.sqrt();
        (deviation.is_finite() && deviation > LEAST_SPREAD * self.mean.abs()).then_some(deviation)
    }
}

#[cfg(test)]
mod tests;
