//! Makes the rows and columns of a code lie further apart, one entry at a time.

use super::matrix::product;
use crate::numeric::Random;

/// A code in the making, with the products of all its rows and columns kept up to date.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    columns: Vec<Vec<i8>>,
    class_count: usize,
    /// `Σ_t M(a,t) M(b,t)`, classes by classes.
    row_products: Vec<i32>,
    /// `Σ_c M(c,s) M(c,t)`, columns by columns.
    column_products: Vec<i32>,
}

/// How good a code is, larger better: the least distance between rows (doubled), how few pairs of
/// rows have it, and the least distance between columns and columns or their negatives (doubled).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Quality {
    rows: i32,
    few_closest: i64,
    columns: i32,
}

impl Draft {
    pub(super) fn new(class_count: usize, columns: Vec<Vec<i8>>) -> Self {
        let length = columns.len();
        let rows: Vec<Vec<i8>> = (0..class_count)
            .map(|class| columns.iter().map(|column| column[class]).collect())
            .collect();
        let products = |vectors: &[Vec<i8>]| -> Vec<i32> {
            let pairs = vectors
                .iter()
                .flat_map(|a| vectors.iter().map(move |b| product(a, b)));
            pairs.collect()
        };
        debug_assert!(columns.iter().all(|column| column.len() == class_count) && length > 0);
        Self {
            row_products: products(&rows),
            column_products: products(&columns),
            columns,
            class_count,
        }
    }

    pub(super) fn columns(self) -> Vec<Vec<i8>> {
        self.columns
    }

    /// The quality, and the two classes whose rows are closest; `None` for what is no code.
    pub(super) fn quality(&self) -> Option<(Quality, (usize, usize))> {
        let (classes, length) = (self.class_count, self.columns.len());
        let mut closest = (0, 0);
        let (mut rows, mut pairs) = (i32::MAX, 0i64);
        for first in 0..classes {
            for second in 0..first {
                let distance = length as i32 - self.row_products[first * classes + second];
                if distance < rows {
                    (rows, pairs, closest) = (distance, 1, (first, second));
                } else if distance == rows {
                    pairs += 1;
                }
            }
        }
        let mut columns = 2 * classes as i32;
        for first in 0..length {
            // Zeros make a column shorter than the classes are many: the same columns are those whose
            // product is as large as both can have.
            let own = self.column_products[first * length + first];
            for second in 0..first {
                let product = self.column_products[first * length + second].abs();
                let other = self.column_products[second * length + second];
                if product == own && product == other {
                    return None;
                }
                columns = columns.min(classes as i32 - product);
            }
        }
        let both_sides = |column: &Vec<i8>| column.contains(&1) && column.contains(&-1);
        let same_rows = {
            let (a, b) = closest;
            let at = |a: usize, b: usize| self.row_products[a * classes + b];
            at(a, b) == at(a, a) && at(a, b) == at(b, b)
        };
        if same_rows || !self.columns.iter().all(both_sides) {
            return None;
        }
        let quality = Quality {
            rows,
            few_closest: -pairs,
            columns,
        };
        Some((quality, closest))
    }

    /// Puts a class on the other side of a column.
    fn flip(&mut self, class: usize, column: usize) {
        let (classes, length) = (self.class_count, self.columns.len());
        let change = -2 * i32::from(self.columns[column][class]);
        self.columns[column][class] = -self.columns[column][class];
        for other in (0..classes).filter(|&other| other != class) {
            let change = change * i32::from(self.columns[column][other]);
            self.row_products[class * classes + other] += change;
            self.row_products[other * classes + class] += change;
        }
        for other in (0..length).filter(|&other| other != column) {
            let change = change * i32::from(self.columns[other][class]);
            self.column_products[column * length + other] += change;
            self.column_products[other * length + column] += change;
        }
    }

    /// Moves one of the two closest classes to the other side of a column on which they agree,
    /// as long as that helps; so many trials.
    ///
    /// # Reference
    /// After the randomised hill climbing of Dietterich & Bakiri, JAIR 1995.
    pub(super) fn climb(mut self, trials: usize, random: &mut Random) -> Self {
        let Some((mut quality, mut closest)) = self.quality() else {
            return self;
        };
        for _ in 0..trials {
            let (first, second) = closest;
            let column = random.below(self.columns.len());
            let class = if random.below(2) == 0 { first } else { second };
            let sides = &self.columns[column];
            if sides[first] == 0 || sides[first] != sides[second] {
                continue;
            }
            self.flip(class, column);
            match self.quality() {
                Some((found, pair)) if found > quality => (quality, closest) = (found, pair),
                _ => self.flip(class, column),
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiclass::codes::matrix::CodeMatrix;

    #[test]
    fn products_that_are_kept_up_to_date_are_those_of_the_flipped_code() {
        let columns = vec![vec![1, -1, 1, 0], vec![1, 1, -1, -1], vec![0, 1, -1, 1]];
        let mut draft = Draft::new(4, columns);
        draft.flip(2, 1);
        draft.flip(0, 0);
        let anew = Draft::new(4, draft.columns.clone());
        assert_eq!(draft.row_products, anew.row_products);
        assert_eq!(draft.column_products, anew.column_products);
    }

    #[test]
    fn climbing_never_makes_rows_come_closer_and_the_quality_is_the_separation() {
        for seed in 0..20 {
            let mut random = Random::from_seed(seed);
            let columns: Vec<Vec<i8>> = (0..12)
                .map(|_| {
                    (0..8)
                        .map(|_| if random.below(2) == 0 { 1 } else { -1 })
                        .collect()
                })
                .collect();
            let draft = Draft::new(8, columns);
            let Some((before, _)) = draft.quality() else {
                continue;
            };
            let after = draft.climb(500, &mut random);
            let (quality, _) = after.quality().unwrap();
            assert!(quality >= before);
            let code = CodeMatrix::from_columns(8, &after.columns()).unwrap();
            let separation = code.separation();
            assert_eq!(2.0 * separation.rows, f64::from(quality.rows));
            assert_eq!(2.0 * separation.columns, f64::from(quality.columns));
        }
    }
}
