//! Least squares over probabilities.

use super::Factor;
use super::cholesky::dot;

/// The probabilities that fit linear equations best, for many right-hand sides of one matrix.
///
/// # Formula
/// ```text
/// min over z of |A z - p|² + ε |z - 1/C|²   subject to   z >= 0,  Σ z = 1
/// ```
/// `A` has one row an equation. `ε` is a ten-millionth of the mean diagonal entry of `A'A`: it
/// decides only between solutions that fit equally well, in favour of the most even one.
///
/// Everything that depends on `A` alone is computed once. With `H = (A'A + εI)⁻¹` and
/// `P = H - H11'H / 1'H1`, the solution without the signs is `e = H1/1'H1 + P A'p`; the conditions of
/// optimality with them are
/// ```text
/// z = e + P μ >= 0,   μ >= 0,   μ_i z_i = 0
/// ```
/// which an active-set method solves exactly in finitely many steps: classes that would be negative
/// are held at zero, the multipliers `μ` of those are computed, and classes whose multiplier would be
/// negative are let go again, as Lawson and Hanson do for least squares with signs. Most right-hand
/// sides need no step or two.
///
/// # Reference
/// Kong & Dietterich 1997 set up these equations for output codes; Lawson & Hanson 1974, chapter 23.
#[derive(Debug, Clone)]
pub struct SimplexLeastSquares {
    width: usize,
    equations: usize,
    /// `A`, equation after equation.
    matrix: Vec<f64>,
    /// `A'A + εI`.
    gram: Vec<f64>,
    /// `H1 / 1'H1`.
    centre: Vec<f64>,
    /// `P`.
    projection: Vec<f64>,
    /// `P A'`, unknown after unknown.
    to_solution: Vec<f64>,
}

/// Buffers for one solution, reused between calls.
#[derive(Debug, Clone, Default)]
pub struct SimplexBuffers {
    free: Vec<f64>,
    multipliers: Vec<f64>,
    trial: Vec<f64>,
    held: Vec<usize>,
    factor: Vec<f64>,
}

/// Values above this count as not negative.
const SLACK: f64 = 1e-10;

impl SimplexLeastSquares {
    /// Prepares a matrix given equation after equation; `None` if it has no unknown or its shape does
    /// not fit, or holds numbers that are not finite.
    pub fn new(width: usize, matrix: Vec<f64>) -> Option<Self> {
        let fits = width > 0
            && matrix.len().is_multiple_of(width)
            && !matrix.is_empty()
            && matrix.iter().all(|value| value.is_finite());
        if !fits {
            return None;
        }
        let equations = matrix.len() / width;
        let mut gram = vec![0.0; width * width];
        for equation in matrix.chunks_exact(width) {
            for (row, &a) in equation.iter().enumerate() {
                for (column, &b) in equation.iter().enumerate() {
                    gram[row * width + column] += a * b;
                }
            }
        }
        let trace: f64 = (0..width).map(|i| gram[i * width + i]).sum();
        // Equations that say nothing leave the even answer.
        let mean = trace / width as f64;
        let ridge = 1e-7 * if mean > 0.0 { mean } else { 1.0 };
        for i in 0..width {
            gram[i * width + i] += ridge;
        }
        let factor = Factor::of(gram.clone(), &vec![0.0; width]);
        let mut projection = vec![0.0; width * width];
        for (i, column) in projection.chunks_exact_mut(width).enumerate() {
            column[i] = 1.0;
            factor.solve(column);
        }
        // So far the inverse; it is symmetric.
        let sums: Vec<f64> = projection
            .chunks_exact(width)
            .map(|row| row.iter().sum())
            .collect();
        let total: f64 = sums.iter().sum();
        let centre: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
        for (row, &share) in projection.chunks_exact_mut(width).zip(&centre) {
            for (value, sum) in row.iter_mut().zip(&sums) {
                *value -= share * sum;
            }
        }
        let to_solution: Vec<f64> = projection
            .chunks_exact(width)
            .flat_map(|row| {
                matrix
                    .chunks_exact(width)
                    .map(|equation| dot(row, equation))
            })
            .collect();
        let usable = to_solution
            .iter()
            .chain(&centre)
            .all(|value| value.is_finite());
        usable.then_some(Self {
            width,
            equations,
            matrix,
            gram,
            centre,
            projection,
            to_solution,
        })
    }

    /// How many unknowns there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many equations there are.
    pub fn equations(&self) -> usize {
        self.equations
    }

    /// Fills `solution` with the best probabilities for a right-hand side.
    ///
    /// # Panics
    /// If the lengths are not those of the matrix.
    pub fn solve_into(&self, target: &[f64], buffer: &mut SimplexBuffers, solution: &mut [f64]) {
        assert_eq!((target.len(), solution.len()), (self.equations, self.width));
        buffer.free.clear();
        for (row, &centre) in self
            .to_solution
            .chunks_exact(self.equations)
            .zip(&self.centre)
        {
            buffer.free.push(centre + dot(row, target));
        }
        solution.copy_from_slice(&buffer.free);
        buffer.held.clear();
        buffer.multipliers.clear();
        // Each round lowers the dual objective, so no set of held unknowns comes twice; the bound is
        // for rounding alone.
        for _ in 0..10 * self.width + 10 {
            let before = buffer.held.len();
            for (unknown, &value) in solution.iter().enumerate() {
                if value < -SLACK && !buffer.held[..before].contains(&unknown) {
                    buffer.held.push(unknown);
                    buffer.multipliers.push(0.0);
                }
            }
            if buffer.held.len() == before || buffer.held.len() >= self.width {
                break;
            }
            self.hold(buffer);
            solution.copy_from_slice(&buffer.free);
            for (&unknown, &multiplier) in buffer.held.iter().zip(&buffer.multipliers) {
                let column = &self.projection[unknown * self.width..][..self.width];
                for (value, entry) in solution.iter_mut().zip(column) {
                    *value += multiplier * entry;
                }
            }
            buffer
                .held
                .iter()
                .for_each(|&unknown| solution[unknown] = 0.0);
        }
        solution
            .iter_mut()
            .for_each(|value| *value = value.max(0.0));
        let sum: f64 = solution.iter().sum();
        if sum > 0.0 && sum.is_finite() {
            solution.iter_mut().for_each(|value| *value /= sum);
        } else {
            solution.fill(1.0 / self.width as f64);
        }
    }

    /// The multipliers that bring the held unknowns to zero; those that would need a negative one
    /// are let go, the others having moved towards theirs as far as their signs allow.
    fn hold(&self, buffer: &mut SimplexBuffers) {
        loop {
            self.solve_held(buffer);
            let mut step = 1.0f64;
            for (&now, &wanted) in buffer.multipliers.iter().zip(&buffer.trial) {
                if wanted <= 0.0 {
                    step = step.min(now / (now - wanted).max(f64::MIN_POSITIVE));
                }
            }
            let all_positive = buffer.trial.iter().all(|&wanted| wanted > 0.0);
            if all_positive {
                std::mem::swap(&mut buffer.multipliers, &mut buffer.trial);
                return;
            }
            for (now, &wanted) in buffer.multipliers.iter_mut().zip(&buffer.trial) {
                *now += step * (wanted - *now);
            }
            let mut kept = 0;
            for place in 0..buffer.held.len() {
                let leaves = buffer.trial[place] <= 0.0 && buffer.multipliers[place] <= 1e-15;
                if !leaves {
                    buffer.held[kept] = buffer.held[place];
                    buffer.multipliers[kept] = buffer.multipliers[place].max(0.0);
                    kept += 1;
                }
            }
            if kept == buffer.held.len() || kept == 0 {
                // Rounding only: the step always brings one of them to zero.
                buffer.held.truncate(kept);
                buffer.multipliers.truncate(kept);
                return;
            }
            buffer.held.truncate(kept);
            buffer.multipliers.truncate(kept);
        }
    }

    /// `P_hh μ = -e_h` into `trial`, by Cholesky's method.
    fn solve_held(&self, buffer: &mut SimplexBuffers) {
        let count = buffer.held.len();
        buffer.factor.clear();
        buffer.trial.clear();
        for (row, &i) in buffer.held.iter().enumerate() {
            let projection = &self.projection[i * self.width..][..self.width];
            buffer
                .factor
                .extend(buffer.held.iter().map(|&j| projection[j]));
            let (above, own) = buffer.factor.split_at_mut(row * count);
            for column in 0..row {
                let other = &above[column * count..][..count];
                own[column] = (own[column] - dot(&own[..column], &other[..column])) / other[column];
            }
            let diagonal = own[row];
            let left = diagonal - dot(&own[..row], &own[..row]);
            own[row] = left
                .max(1e-14 * diagonal.abs())
                .max(f64::MIN_POSITIVE)
                .sqrt();
            let value = -buffer.free[i] - dot(&own[..row], &buffer.trial);
            buffer.trial.push(value / own[row]);
        }
        for row in (0..count).rev() {
            buffer.trial[row] /= buffer.factor[row * count + row];
            let value = buffer.trial[row];
            for column in 0..row {
                buffer.trial[column] -= buffer.factor[row * count + column] * value;
            }
        }
    }

    /// How far a point is from the conditions of optimality: with the gradient `g` of half the
    /// objective and its mean `λ = Σ z_i g_i`, the largest `|g_i - λ|` where `z_i > 0` and the
    /// largest `λ - g_i` where `z_i = 0`. Zero at the solution and nowhere else.
    pub fn optimality_gap(&self, target: &[f64], point: &[f64]) -> f64 {
        let gradient: Vec<f64> = (0..self.width)
            .map(|i| {
                let equations = self.matrix.chunks_exact(self.width).zip(target);
                let right: f64 = equations.map(|(equation, &p)| equation[i] * p).sum();
                dot(&self.gram[i * self.width..][..self.width], point) - right
            })
            .collect();
        let mean = dot(&gradient, point);
        let violation = |(&g, &z): (&f64, &f64)| if z > 0.0 { (g - mean).abs() } else { mean - g };
        gradient
            .iter()
            .zip(point)
            .map(violation)
            .fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn solve(width: usize, matrix: &[f64], target: &[f64]) -> (Vec<f64>, f64) {
        let prepared = SimplexLeastSquares::new(width, matrix.to_vec()).unwrap();
        let mut solution = vec![0.0; width];
        prepared.solve_into(target, &mut SimplexBuffers::default(), &mut solution);
        let gap = prepared.optimality_gap(target, &solution);
        (solution, gap)
    }

    /// The best of a fine grid of probabilities of three classes.
    fn by_grid(matrix: &[f64], target: &[f64], steps: usize) -> f64 {
        let mut best = f64::INFINITY;
        for i in 0..=steps {
            for j in 0..=steps - i {
                let share = |n: usize| n as f64 / steps as f64;
                best = best.min(error(
                    matrix,
                    target,
                    &[share(i), share(j), share(steps - i - j)],
                ));
            }
        }
        best
    }

    fn error(matrix: &[f64], target: &[f64], z: &[f64]) -> f64 {
        let equations = matrix.chunks_exact(z.len()).zip(target);
        equations
            .map(|(equation, p)| (dot(equation, z) - p).powi(2))
            .sum()
    }

    #[test] // By hand: the projection of (0.9, 0.8, -0.5) onto the simplex is (0.55, 0.45, 0).
    fn one_equation_an_unknown_is_the_projection_onto_the_simplex() {
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let (solution, _) = solve(3, &identity, &[0.9, 0.8, -0.5]);
        for (found, expected) in solution.iter().zip([0.55, 0.45, 0.0]) {
            assert!((found - expected).abs() < 1e-6, "{solution:?}");
        }
    }

    #[test]
    fn equations_that_leave_a_choice_get_the_most_even_answer() {
        // The first class has one half; nothing is said of the two others.
        let (solution, _) = solve(3, &[1.0, 0.0, 0.0], &[0.5]);
        assert!((solution[1] - 0.25).abs() < 1e-5 && (solution[2] - 0.25).abs() < 1e-5);
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        assert!(SimplexLeastSquares::new(0, vec![]).is_none());
        assert!(SimplexLeastSquares::new(3, vec![1.0; 4]).is_none());
        assert!(SimplexLeastSquares::new(1, vec![f64::NAN]).is_none());
    }

    proptest! {
        #[test]
        fn no_point_of_a_fine_grid_is_better(
            matrix in prop::collection::vec(prop::sample::select(vec![0.0, 1.0]), 12),
            target in prop::collection::vec(-0.3f64..1.3, 4),
        ) {
            let (solution, _) = solve(3, &matrix, &target);
            let found = error(&matrix, &target, &solution);
            let grid = by_grid(&matrix, &target, 120);
            prop_assert!(found <= grid + 1e-6, "{} {}", found, grid);
            prop_assert!((solution.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }

        #[test]
        fn the_answer_meets_the_conditions_of_optimality(
            width in 2usize..12,
            bits in prop::collection::vec(any::<bool>(), 12 * 40),
            targets in prop::collection::vec(0.0f64..1.0, 40),
            equations in 1usize..40,
        ) {
            let matrix: Vec<f64> = bits[..width * equations].iter().map(|&bit| f64::from(u8::from(bit))).collect();
            let target = &targets[..equations];
            let (solution, gap) = solve(width, &matrix, target);
            prop_assert!(solution.iter().all(|&z| z >= 0.0));
            prop_assert!(gap < 1e-6 * equations as f64, "{} {:?}", gap, solution);
        }
    }
}
