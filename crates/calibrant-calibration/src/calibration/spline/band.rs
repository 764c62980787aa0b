//! Symmetric matrices with few entries beside the diagonal, and small full ones.

/// A symmetric matrix with three entries on either side of the diagonal: number `k` of row `j`
/// stands in column `j - k`.
#[derive(Debug, Clone)]
pub(super) struct Band {
    rows: Vec<[f64; 4]>,
}

impl Band {
    pub(super) fn zeros(size: usize) -> Self {
        Self {
            rows: vec![[0.0; 4]; size],
        }
    }

    /// Adds `scale · v vᵀ`, where `v` is zero but for neighbouring entries from `start` on.
    #[inline]
    pub(super) fn add_outer<const N: usize>(&mut self, start: usize, v: &[f64; N], scale: f64) {
        for (i, row) in self.rows[start..start + N].iter_mut().enumerate() {
            for j in 0..=i {
                row[i - j] += scale * v[i] * v[j];
            }
        }
    }

    pub(super) fn add(&mut self, other: &Self, scale: f64) {
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            for (entry, other) in row.iter_mut().zip(other) {
                *entry += scale * other;
            }
        }
    }

    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; x.len()];
        for (j, row) in self.rows.iter().enumerate() {
            product[j] += row[0] * x[j];
            for k in 1..=j.min(3) {
                product[j] += row[k] * x[j - k];
                product[j - k] += row[k] * x[j];
            }
        }
        product
    }

    /// All entries, row by row.
    pub(super) fn full(&self) -> Vec<Vec<f64>> {
        let size = self.rows.len();
        let mut full = vec![vec![0.0; size]; size];
        for (j, row) in self.rows.iter().enumerate() {
            for k in 0..=j.min(3) {
                full[j][j - k] = row[k];
                full[j - k][j] = row[k];
            }
        }
        full
    }

    /// Cholesky's factor, with so much added to the diagonal that rounding cannot hinder it; `None`
    /// where the matrix is not positive.
    pub(super) fn factor(&self) -> Option<Factor> {
        let largest = self.rows.iter().map(|row| row[0]).fold(0.0, f64::max);
        [0.0, 1e-13, 1e-10]
            .into_iter()
            .find_map(|share| self.factor_with(share * largest))
    }

    fn factor_with(&self, ridge: f64) -> Option<Factor> {
        let mut l = self.rows.clone();
        for j in 0..l.len() {
            l[j][0] += ridge;
            for k in (0..=j.min(3)).rev() {
                let mut sum = l[j][k];
                for q in k + 1..=j.min(3) {
                    sum -= l[j][q] * l[j - k][q - k];
                }
                if k > 0 {
                    l[j][k] = sum / l[j - k][0];
                } else if sum > 0.0 && sum.is_finite() {
                    l[j][0] = sum.sqrt();
                } else {
                    return None;
                }
            }
        }
        Some(Factor { rows: l })
    }
}

/// A band's factor `L`, with `L Lᵀ` the band.
pub(super) struct Factor {
    rows: Vec<[f64; 4]>,
}

impl Factor {
    /// The logarithm of the band's determinant.
    pub(super) fn ln_determinant(&self) -> f64 {
        self.rows.iter().map(|row| 2.0 * row[0].ln()).sum()
    }

    /// `x` with band times `x` equal to `right`.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for (j, row) in self.rows.iter().enumerate() {
            for k in 1..=j.min(3) {
                x[j] -= row[k] * x[j - k];
            }
            x[j] /= row[0];
        }
        for (j, row) in self.rows.iter().enumerate().rev() {
            x[j] /= row[0];
            for k in 1..=j.min(3) {
                x[j - k] -= row[k] * x[j];
            }
        }
        x
    }
}

/// `x` with `matrix` times `x` equal to `right`; `None` where the matrix is not positive.
pub(super) fn solve_full(mut matrix: Vec<Vec<f64>>, right: &[f64]) -> Option<Vec<f64>> {
    let size = right.len();
    let largest = (0..size).map(|i| matrix[i][i]).fold(0.0, f64::max);
    for i in 0..size {
        matrix[i][i] += 1e-12 * largest;
        for j in 0..=i {
            let (before, rest) = matrix.split_at(i);
            let other = if j < i { &before[j] } else { &rest[0] };
            let known: f64 = (0..j).map(|k| rest[0][k] * other[k]).sum();
            let (sum, pivot) = (rest[0][j] - known, other[j]);
            matrix[i][j] = if j < i {
                sum / pivot
            } else if sum > 0.0 && sum.is_finite() {
                sum.sqrt()
            } else {
                return None;
            };
        }
    }
    let mut x = right.to_vec();
    for i in 0..size {
        let known: f64 = (0..i).map(|k| matrix[i][k] * x[k]).sum();
        x[i] = (x[i] - known) / matrix[i][i];
    }
    for i in (0..size).rev() {
        let known: f64 = (i + 1..size).map(|k| matrix[k][i] * x[k]).sum();
        x[i] = (x[i] - known) / matrix[i][i];
    }
    Some(x)
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn positive_band(size: usize) -> Band {
        let mut random = Random::from_seed(size as u64);
        let mut band = Band::zeros(size);
        for start in 0..size - 3 {
            band.add_outer(
                start,
                &std::array::from_fn::<f64, 4, _>(|_| random.normal()),
                1.5,
            );
        }
        for j in 0..size {
            band.add_outer(j, &[1.0], 0.1);
        }
        band
    }

    #[test]
    fn solutions_solve() {
        for size in [4, 5, 9, 18] {
            let band = positive_band(size);
            let right: Vec<f64> = (0..size).map(|i| (i as f64).sin()).collect();
            let factor = band.factor().unwrap();
            for x in [
                factor.solve(&right),
                solve_full(band.full(), &right).unwrap(),
            ] {
                for (found, wanted) in band.times(&x).iter().zip(&right) {
                    assert!((found - wanted).abs() < 1e-8, "{found} {wanted}");
                }
            }
        }
    }

    #[test]
    fn the_determinant_is_that_of_the_definition() {
        // By hand: |4 1; 1 3| = 11, and 2 beside it.
        let mut band = Band::zeros(3);
        band.add_outer(0, &[1.0, 1.0], 1.0);
        band.add_outer(0, &[1.0], 3.0);
        band.add_outer(1, &[1.0], 2.0);
        band.add_outer(2, &[1.0], 2.0);
        let found = band.factor().unwrap().ln_determinant();
        assert!((found - 22f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn what_is_not_positive_has_no_factor() {
        let mut band = Band::zeros(2);
        band.add_outer(0, &[1.0, 2.0], -1.0);
        assert!(band.factor().is_none());
        assert!(solve_full(band.full(), &[1.0, 1.0]).is_none());
    }
}
