//! Positive matrices of any width, factorised.

/// The lower factor of Cholesky's method, row after row.
#[derive(Debug, Clone)]
pub struct Factor {
    width: usize,
    lower: Vec<f64>,
}

impl Factor {
    /// Of a matrix (its lower half is read) with something added to its diagonal. A ridge of 1e-12
    /// of the largest diagonal entry keeps what has no curvature from stopping it.
    pub fn of(mut matrix: Vec<f64>, diagonal: &[f64]) -> Self {
        let width = diagonal.len();
        let mut largest = f64::MIN_POSITIVE;
        for i in 0..width {
            matrix[i * width + i] += diagonal[i];
            largest = largest.max(matrix[i * width + i]);
        }
        let ridge = 1e-12 * largest;
        for i in 0..width {
            let (above, rest) = matrix.split_at_mut(i * width);
            let row = &mut rest[..width];
            for j in 0..i {
                let other = &above[j * width..][..width];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let left = row[i] - dot(&row[..i], &row[..i]);
            row[i] = if left > ridge { left } else { ridge }.sqrt();
        }
        Self {
            width,
            lower: matrix,
        }
    }

    /// Solves the system in place.
    pub fn solve(&self, x: &mut [f64]) {
        self.solve_lower(x, 0);
        for i in (0..self.width).rev() {
            x[i] /= self.lower[i * self.width + i];
            let value = x[i];
            for (x, lower) in x[..i].iter_mut().zip(&self.lower[i * self.width..]) {
                *x -= lower * value;
            }
        }
    }

    /// The first half of solving, for a right side that is zero before `first`.
    fn solve_lower(&self, x: &mut [f64], first: usize) {
        for i in first..self.width {
            let row = &self.lower[i * self.width..][..=i];
            x[i] = (x[i] - dot(&row[first..i], &x[first..i])) / row[i];
        }
    }

    /// The diagonal of the inverse: squared lengths of the columns of the lower factor's inverse.
    pub(super) fn inverse_diagonal(&self) -> Vec<f64> {
        let mut column = vec![0.0; self.width];
        (0..self.width)
            .map(|i| {
                column.fill(0.0);
                column[i] = 1.0;
                self.solve_lower(&mut column, i);
                dot(&column[i..], &column[i..])
            })
            .collect()
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // [[4, 2], [2, 5]] has the inverse [[5, -2], [-2, 4]] / 16.
    fn the_factor_solves_and_inverts() {
        let factor = Factor::of(vec![3.0, 0.0, 2.0, 4.0], &[1.0, 1.0]);
        let mut x = [8.0, 9.0];
        factor.solve(&mut x);
        assert!((x[0] - 22.0 / 16.0).abs() < 1e-12 && (x[1] - 20.0 / 16.0).abs() < 1e-12);
        let inverse = factor.inverse_diagonal();
        assert!((inverse[0] - 5.0 / 16.0).abs() < 1e-12 && (inverse[1] - 0.25).abs() < 1e-12);
    }
}
