//! Softmax regression with many parameters, by Newton's method without a Hessian in memory.

use super::cholesky::{Factor, dot};
use super::parts::{part_size, sum_in_parts};
use crate::CalibrationError;
use crate::parallel;

/// Rows with a label, and how parameters make a log-weight for each class of a row.
///
/// Each class has [`Self::width`] parameters, one per feature; where a parameter stands is the
/// implementor's choice. Log-weights are linear in the parameters.
pub trait SoftmaxRows: Sync {
    /// How many classes there are.
    fn class_count(&self) -> usize;
    /// How many rows there are.
    fn row_count(&self) -> usize;
    /// How many parameters a class has.
    fn width(&self) -> usize;
    /// Where the parameter of a class for a feature stands.
    fn place(&self, class: usize, feature: usize) -> usize;
    /// The right class and the weight of a row; `None` for one that is left out.
    fn example(&self, row: usize) -> Option<(usize, f64)>;
    /// The features that a class sees of a row.
    fn features_into(&self, row: usize, class: usize, out: &mut [f64]);
    /// Fills `out` with the log-weight of each class.
    fn ln_weights_into(&self, row: usize, parameters: &[f64], out: &mut [f64]);
    /// Adds to `out` what pulls on the log-weights are as pulls on the parameters.
    fn add_pulls(&self, row: usize, pulls: &[f64], out: &mut [f64]);
}

/// `½ Σ λ_i (θ_i - m_i)²`, where some parameters may share a mean that is freer than they are.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadraticPenalty {
    /// `λ`, for each parameter.
    pub strengths: Vec<f64>,
    /// `m`, for each parameter.
    pub centres: Vec<f64>,
    /// Parameters of one strength whose common mean is held by less.
    pub shared: Vec<usize>,
    /// How much less.
    pub relief: f64,
}

impl QuadraticPenalty {
    /// The penalty's gradient for a departure from the centres (it is linear in that).
    fn apply_into(&self, departure: &[f64], out: &mut [f64]) {
        for ((out, strength), departure) in out.iter_mut().zip(&self.strengths).zip(departure) {
            *out = strength * departure;
        }
        if !self.shared.is_empty() {
            let sum: f64 = self.shared.iter().map(|&place| departure[place]).sum();
            let relief = self.relief * sum / self.shared.len() as f64;
            self.shared.iter().for_each(|&place| out[place] -= relief);
        }
    }
}

/// Minimises the weighted log loss of softmax probabilities plus a quadratic penalty.
///
/// # Formula
/// ```text
/// Σ_i w_i (ln Σ_k e^{z_ik} - z_i,y_i) + penalty(θ),     z_ik = θ_k·φ_ik
/// ```
/// Newton's method; each step is found by conjugate gradients, for which a product with the Hessian
/// needs one pass over the rows and no matrix. The diagonal block of each class, factorised,
/// brings the blocks to unit size, after which a handful of products suffice. Steps are halved
/// until the value falls. Ends when the gradient is below `tolerance` of the total weight, or
/// when rounding hides what further steps promise; else an error says where it stopped.
///
/// Sums run over fixed parts of the rows, so that threads do not change a bit of the answer.
pub fn newton_softmax(
    method: &'static str,
    rows: &impl SoftmaxRows,
    penalty: &QuadraticPenalty,
    start: Vec<f64>,
    tolerance: f64,
) -> Result<SoftmaxSolution, CalibrationError> {
    let mut problem = Problem::new(rows, penalty);
    let mut parameters = start;
    let mut here = problem.expand(&parameters);
    let (mut blocks, mut products) = (Vec::new(), 0);
    let most = 100;
    for iteration in 0..most {
        let size = norm(&here.gradient);
        let stopped = CalibrationError::NotConverged {
            method,
            iterations: iteration,
            gradient: size,
        };
        if !size.is_finite() {
            return Err(stopped);
        }
        // Near the answer the blocks hardly change any more; where they do, the products tell.
        if iteration == 0 || size > 1e-3 * problem.weight || products > 20 {
            blocks = problem.blocks();
        }
        if size <= tolerance * problem.weight {
            return Ok(SoftmaxSolution { parameters, blocks });
        }
        let step;
        (step, products) = problem.step(&here.gradient, &blocks, tolerance);
        let slope = -dot(&here.gradient, &step);
        let mut length = 1.0;
        loop {
            let moved = parameters.iter().zip(&step);
            let tried: Vec<f64> = moved.map(|(p, step)| p - length * step).collect();
            let there = problem.expand(&tried);
            // Near the answer the value's gain drowns in rounding; the gradient still tells.
            let level = there.value <= here.value + 1e-12 * (1.0 + here.value.abs());
            let flatter = level && norm(&there.gradient) < 0.5 * size;
            if there.value < here.value + 1e-4 * length * slope || flatter {
                (parameters, here) = (tried, there);
                break;
            }
            length *= 0.5;
            if length < 1e-10 {
                // What the step promises is less than the value's rounding.
                let hidden = -slope <= 1e-10 * (1.0 + here.value.abs());
                if !(hidden || size <= 1e-5 * problem.weight) {
                    return Err(stopped);
                }
                return Ok(SoftmaxSolution { parameters, blocks });
            }
        }
    }
    Err(CalibrationError::NotConverged {
        method,
        iterations: most,
        gradient: norm(&here.gradient),
    })
}

/// Where the minimum is, and how sharp.
#[derive(Debug, Clone)]
pub struct SoftmaxSolution {
    /// The parameters.
    pub parameters: Vec<f64>,
    blocks: Vec<Factor>,
}

impl SoftmaxSolution {
    /// About how uncertain each parameter is: the diagonal of the inverse of its class's block of the
    /// Hessian (what the classes' blocks have to do with each other is left out of account).
    pub fn variances(&self, rows: &impl SoftmaxRows) -> Vec<f64> {
        let mut variances = vec![0.0; self.parameters.len()];
        for (class, block) in self.blocks.iter().enumerate() {
            for (feature, variance) in block.inverse_diagonal().into_iter().enumerate() {
                variances[rows.place(class, feature)] = variance;
            }
        }
        variances
    }
}

/// At most about `enough` rows that stand for all: those that add much to the sum of `curve · |φ|²` all of
/// them, of the others one in several with its curve raised accordingly. Rows of wide features are
/// very unequal, and one in so many of all alike would miss those that matter.
fn sampled(
    rows: &impl SoftmaxRows,
    class: usize,
    curves: Vec<(usize, f64)>,
    enough: usize,
) -> Vec<(usize, f64)> {
    if curves.len() <= enough {
        return curves;
    }
    let mut features = vec![0.0; rows.width()];
    let sizes: Vec<f64> = curves
        .iter()
        .map(|&(row, curve)| {
            rows.features_into(row, class, &mut features);
            curve * dot(&features, &features)
        })
        .collect();
    let pace = sizes.iter().sum::<f64>() / enough as f64;
    let mut passed = 0.5 * pace;
    let mut chosen = Vec::with_capacity(2 * enough);
    for ((row, curve), size) in curves.into_iter().zip(sizes) {
        if size >= pace {
            chosen.push((row, curve));
            continue;
        }
        passed += size;
        if passed >= pace {
            passed -= pace;
            chosen.push((row, curve * pace / size));
        }
    }
    chosen
}

struct Expansion {
    value: f64,
    gradient: Vec<f64>,
}

struct Problem<'a, R> {
    rows: &'a R,
    penalty: &'a QuadraticPenalty,
    weight: f64,
    /// The probabilities of all classes, row after row, at the point that was expanded last.
    probabilities: Vec<f64>,
}

impl<'a, R: SoftmaxRows> Problem<'a, R> {
    fn new(rows: &'a R, penalty: &'a QuadraticPenalty) -> Self {
        let weights = (0..rows.row_count()).filter_map(|row| rows.example(row));
        Self {
            rows,
            penalty,
            weight: weights.map(|(_, weight)| weight).sum(),
            probabilities: vec![0.0; rows.row_count() * rows.class_count()],
        }
    }

    /// The value and gradient at a point; leaves the probabilities there.
    fn expand(&mut self, parameters: &[f64]) -> Expansion {
        let (rows, classes) = (self.rows, self.rows.class_count());
        let size = part_size(rows.row_count());
        let of_part = |part: usize, probabilities: &mut [f64]| {
            let mut sum = Expansion {
                value: 0.0,
                gradient: vec![0.0; parameters.len()],
            };
            let mut pulls = vec![0.0; classes];
            for (offset, p) in probabilities.chunks_exact_mut(classes).enumerate() {
                let row = part * size + offset;
                let Some((label, weight)) = rows.example(row) else {
                    continue;
                };
                rows.ln_weights_into(row, parameters, p);
                let own = p[label];
                let top = p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let mut total = 0.0;
                for p in p.iter_mut() {
                    *p = (*p - top).exp();
                    total += *p;
                }
                sum.value += weight * (total.ln() + top - own);
                for (pull, p) in pulls.iter_mut().zip(p.iter_mut()) {
                    *p /= total;
                    *pull = weight * *p;
                }
                // From the others' side, which does not cancel.
                let others = p[..label].iter().chain(&p[label + 1..]);
                pulls[label] = -weight * others.sum::<f64>();
                rows.add_pulls(row, &pulls, &mut sum.gradient);
            }
            sum
        };
        let parts = parallel::map_chunks_mut(&mut self.probabilities, size * classes, of_part);
        let departure: Vec<f64> = parameters
            .iter()
            .zip(&self.penalty.centres)
            .map(|(parameter, centre)| parameter - centre)
            .collect();
        let mut total = Expansion {
            value: 0.0,
            gradient: vec![0.0; parameters.len()],
        };
        self.penalty.apply_into(&departure, &mut total.gradient);
        total.value = 0.5 * dot(&departure, &total.gradient);
        for part in parts {
            total.value += part.value;
            add(&mut total.gradient, &part.gradient);
        }
        total
    }

    /// The Hessian times a direction.
    fn curve(&self, direction: &[f64]) -> Vec<f64> {
        let (rows, classes) = (self.rows, self.rows.class_count());
        let zero = || (vec![0.0; direction.len()], vec![0.0; classes]);
        let (sum, _) = sum_in_parts(
            rows.row_count(),
            zero,
            |(sum, pulls), places| {
                for row in places {
                    let Some((_, weight)) = rows.example(row) else {
                        continue;
                    };
                    let p = &self.probabilities[row * classes..][..classes];
                    rows.ln_weights_into(row, direction, pulls);
                    let mean = dot(p, pulls);
                    for (pull, p) in pulls.iter_mut().zip(p) {
                        *pull = weight * p * (*pull - mean);
                    }
                    rows.add_pulls(row, pulls, sum);
                }
            },
            |total, part| add(&mut total.0, &part.0),
        );
        let mut product = vec![0.0; direction.len()];
        self.penalty.apply_into(direction, &mut product);
        add(&mut product, &sum);
        product
    }

    /// The Hessian's block of each class, factorised. With many features a sample of the rows has to
    /// do: the blocks only guide the search.
    fn blocks(&self) -> Vec<Factor> {
        let (rows, classes) = (self.rows, self.rows.class_count());
        let width = rows.width();
        let enough = if width > 8 { 100 * width } else { usize::MAX };
        parallel::map_indices(classes, |class| {
            let mut block = vec![0.0; width * width];
            let mut features = vec![0.0; width];
            let curves = self.curves(class);
            for (row, curve) in sampled(rows, class, curves, enough) {
                rows.features_into(row, class, &mut features);
                for (i, block) in block.chunks_exact_mut(width).enumerate() {
                    let factor = curve * features[i];
                    for (entry, feature) in block[..=i].iter_mut().zip(&features) {
                        *entry += factor * feature;
                    }
                }
            }
            let strengths: Vec<f64> = (0..width)
                .map(|feature| self.penalty.strengths[rows.place(class, feature)])
                .collect();
            Factor::of(block, &strengths)
        })
    }

    /// `w p (1 - p)` of every row that has any.
    fn curves(&self, class: usize) -> Vec<(usize, f64)> {
        let classes = self.rows.class_count();
        (0..self.rows.row_count())
            .filter_map(|row| {
                let (_, weight) = self.rows.example(row)?;
                let p = self.probabilities[row * classes + class];
                let curve = weight * p * (1.0 - p);
                (curve > 1e-30).then_some((row, curve))
            })
            .collect()
    }

    /// Newton's step, near enough: conjugate gradients with the blocks as a guide. And how many
    /// products with the Hessian that took.
    fn step(&self, gradient: &[f64], blocks: &[Factor], tolerance: f64) -> (Vec<f64>, usize) {
        let guide = |residual: &[f64]| {
            let mut guided = vec![0.0; residual.len()];
            let mut part = vec![0.0; self.rows.width()];
            for (class, block) in blocks.iter().enumerate() {
                for (feature, value) in part.iter_mut().enumerate() {
                    *value = residual[self.rows.place(class, feature)];
                }
                block.solve(&mut part);
                for (feature, value) in part.iter().enumerate() {
                    guided[self.rows.place(class, feature)] = *value;
                }
            }
            guided
        };
        let size = norm(gradient);
        // The nearer to the answer, the better the step has to be; but never better than is asked for.
        let wanted = (size / self.weight).sqrt().min(0.1) * size;
        let wanted = wanted.max(0.1 * tolerance * self.weight);
        let mut step = vec![0.0; gradient.len()];
        let mut residual = gradient.to_vec();
        let mut guided = guide(&residual);
        let mut direction = guided.clone();
        let mut product = dot(&residual, &guided);
        let mut products = 0;
        while products < 500 {
            products += 1;
            let curved = self.curve(&direction);
            let curvature = dot(&direction, &curved);
            if !(curvature > 0.0 && product > 0.0) {
                break;
            }
            let length = product / curvature;
            for i in 0..step.len() {
                step[i] += length * direction[i];
                residual[i] -= length * curved[i];
            }
            if norm(&residual) <= wanted {
                break;
            }
            guided = guide(&residual);
            let next = dot(&residual, &guided);
            let keep = next / product;
            product = next;
            for (direction, guided) in direction.iter_mut().zip(&guided) {
                *direction = guided + keep * *direction;
            }
        }
        // Rounding has left nothing to go by: straight down is still down.
        let sound = step.iter().all(|step| step.is_finite()) && dot(gradient, &step) > 0.0;
        (if sound { step } else { guide(gradient) }, products)
    }
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(total: &mut [f64], part: &[f64]) {
    for (total, part) in total.iter_mut().zip(part) {
        *total += part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Random, log_sum_exp};

    /// Every class sees the same features.
    struct Same {
        features: Vec<f64>,
        labels: Vec<usize>,
    }

    const CLASSES: usize = 4;
    const WIDTH: usize = 3;

    impl SoftmaxRows for Same {
        fn class_count(&self) -> usize {
            CLASSES
        }
        fn row_count(&self) -> usize {
            self.labels.len()
        }
        fn width(&self) -> usize {
            WIDTH
        }
        fn place(&self, class: usize, feature: usize) -> usize {
            class * WIDTH + feature
        }
        fn example(&self, row: usize) -> Option<(usize, f64)> {
            (row % 7 != 3).then(|| (self.labels[row], 0.5 + (row % 3) as f64))
        }
        fn features_into(&self, row: usize, _: usize, out: &mut [f64]) {
            out.copy_from_slice(&self.features[row * WIDTH..][..WIDTH]);
        }
        fn ln_weights_into(&self, row: usize, parameters: &[f64], out: &mut [f64]) {
            let features = &self.features[row * WIDTH..][..WIDTH];
            for (out, own) in out.iter_mut().zip(parameters.chunks_exact(WIDTH)) {
                *out = dot(features, own);
            }
        }
        fn add_pulls(&self, row: usize, pulls: &[f64], out: &mut [f64]) {
            let features = &self.features[row * WIDTH..][..WIDTH];
            for (pull, own) in pulls.iter().zip(out.chunks_exact_mut(WIDTH)) {
                for (own, feature) in own.iter_mut().zip(features) {
                    *own += pull * feature;
                }
            }
        }
    }

    fn made_up() -> (Same, QuadraticPenalty) {
        let mut random = Random::from_seed(8);
        let features = (0..WIDTH * 600).map(|_| random.normal()).collect();
        let labels = (0..600).map(|_| random.below(CLASSES)).collect();
        let penalty = QuadraticPenalty {
            strengths: (0..CLASSES * WIDTH)
                .map(|i| if i % WIDTH == 1 { 20.0 } else { 2.0 })
                .collect(),
            centres: (0..CLASSES * WIDTH).map(|i| 0.1 * i as f64).collect(),
            shared: (0..CLASSES).map(|class| class * WIDTH + 1).collect(),
            relief: 19.5,
        };
        (Same { features, labels }, penalty)
    }

    /// The value by its definition.
    fn value(rows: &Same, penalty: &QuadraticPenalty, parameters: &[f64]) -> f64 {
        let mut total = 0.0;
        let mut z = [0.0; CLASSES];
        for row in 0..rows.row_count() {
            if let Some((label, weight)) = rows.example(row) {
                rows.ln_weights_into(row, parameters, &mut z);
                total += weight * (log_sum_exp(&z) - z[label]);
            }
        }
        let v: Vec<f64> = (0..parameters.len())
            .map(|i| parameters[i] - penalty.centres[i])
            .collect();
        for (v, strength) in v.iter().zip(&penalty.strengths) {
            total += 0.5 * strength * v * v;
        }
        let mean = penalty.shared.iter().map(|&i| v[i]).sum::<f64>() / penalty.shared.len() as f64;
        total - 0.5 * penalty.relief * penalty.shared.len() as f64 * mean * mean
    }

    #[test]
    fn the_slope_by_differences_vanishes_at_the_answer() {
        let (rows, penalty) = made_up();
        let start = vec![0.0; CLASSES * WIDTH];
        let solution = newton_softmax("test", &rows, &penalty, start, 1e-10).unwrap();
        for i in 0..solution.parameters.len() {
            let at = |shift: f64| {
                let mut moved = solution.parameters.clone();
                moved[i] += shift;
                value(&rows, &penalty, &moved)
            };
            let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
            assert!(slope.abs() < 1e-5, "{i}: {slope}");
        }
    }

    #[test]
    fn gradient_and_products_equal_differences() {
        let (rows, penalty) = made_up();
        let mut problem = Problem::new(&rows, &penalty);
        let at: Vec<f64> = (0..CLASSES * WIDTH).map(|i| (i as f64).sin()).collect();
        let direction: Vec<f64> = (0..CLASSES * WIDTH)
            .map(|i| (2.0 * i as f64).cos())
            .collect();
        let along = |length: f64| -> Vec<f64> {
            at.iter()
                .zip(&direction)
                .map(|(a, d)| a + length * d)
                .collect()
        };
        let here = problem.expand(&at);
        assert!((here.value - value(&rows, &penalty, &at)).abs() < 1e-9);
        let product = problem.curve(&direction);
        let (up, down) = (problem.expand(&along(1e-5)), problem.expand(&along(-1e-5)));
        let slope = (up.value - down.value) / 2e-5;
        assert!((slope - dot(&here.gradient, &direction)).abs() < 1e-4);
        for (i, product) in product.iter().enumerate() {
            let difference = (up.gradient[i] - down.gradient[i]) / 2e-5;
            assert!((difference - product).abs() < 1e-4, "{i}");
        }
    }
}
