//! Where the parameters stand, and what holds them.

/// Values of the curve at its knots first, then a slope and an intercept for each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) knots: usize,
    pub(super) classes: usize,
}

impl Shape {
    /// Where the slope of a class stands; its intercept is next.
    #[inline]
    pub(super) fn class(self, class: usize) -> usize {
        self.knots + 2 * class
    }

    pub(super) fn len(self) -> usize {
        self.knots + 2 * self.classes
    }
}

/// How far parameters of a kind are from each other, as standard deviations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spreads {
    /// By how much the slope of the curve changes at a knot.
    pub(super) bends: f64,
    /// How much the slopes of classes differ from the curve's.
    pub(super) slopes: f64,
    /// How much the intercepts of classes differ from zero.
    pub(super) intercepts: f64,
}

/// What holds the parameters.
///
/// # Formula
/// ```text
/// ½ Σ (bend / τ)² + ½ Σ ((slope - μ) / τ)² + ½ Σ (intercept / τ)² + ½ ((rise + μ - wanted) / τ)²
/// ```
/// and next to nothing for the values of the curve with a line of slope `μ`. `μ` is whatever makes it least: slopes of classes are held to each other, not to zero, so that it does not matter how much
/// of what all have in common is theirs and how much is the curve's. `rise` is the slope of the curve from end to end, `wanted`
/// that of the [`Tilt`].
pub(super) struct Penalty {
    pub(super) shape: Shape,
    pub(super) spreads: Spreads,
    /// Row after row: what a change of values does to the bends.
    bends: Vec<[(usize, f64); 3]>,
    /// The curvature between knots, where `μ` stays as it is.
    knots: Vec<f64>,
    /// The gradient between knots where all values are zero.
    pull: Vec<f64>,
    tilt: Tilt,
    /// What pulls on `μ`: the slope of the curve from end to end and, next to nothing, its values.
    of_curve: Vec<f64>,
    /// How firmly `μ` is held by them.
    curve_strength: f64,
}

/// What the slope of the curve from end to end is drawn to, and how far it may well be from that. It matters only
/// where the examples are few, or where scores tell classes apart without a mistake and any slope would do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tilt {
    pub(super) slope: f64,
    pub(super) spread: f64,
}

/// Holds values at knots that the data leave open; too little to matter elsewhere.
const LEAST: f64 = 1e-6;

impl Penalty {
    pub(super) fn new(knots: &[f64], classes: usize, spreads: Spreads, tilt: Tilt) -> Self {
        let count = knots.len();
        let bends: Vec<[(usize, f64); 3]> = (2..count)
            .map(|last| {
                let before = 1.0 / (knots[last - 1] - knots[last - 2]);
                let after = 1.0 / (knots[last] - knots[last - 1]);
                [
                    (last - 2, before),
                    (last - 1, -before - after),
                    (last, after),
                ]
            })
            .collect();
        let mut matrix = vec![0.0; count * count];
        for i in 0..count {
            matrix[i * count + i] = LEAST;
        }
        let strength = (spreads.bends * spreads.bends).recip();
        for row in &bends {
            for &(i, a) in row {
                for &(j, b) in row {
                    matrix[i * count + j] += strength * a * b;
                }
            }
        }
        let last = count - 1;
        let (range, strength) = (knots[last] - knots[0], (tilt.spread * tilt.spread).recip());
        let ends = [(0, -1.0 / range), (last, 1.0 / range)];
        let mut pull = vec![0.0; count];
        for (i, a) in ends {
            for (j, b) in ends {
                matrix[i * count + j] += strength * a * b;
            }
            pull[i] -= strength * tilt.slope * a;
        }
        let mut of_curve: Vec<f64> = knots.iter().map(|knot| LEAST * knot).collect();
        for (knot, factor) in ends {
            of_curve[knot] += strength * factor;
        }
        let squares: f64 = knots.iter().map(|knot| knot * knot).sum();
        Self {
            shape: Shape {
                knots: count,
                classes,
            },
            spreads,
            bends,
            knots: matrix,
            pull,
            tilt,
            of_curve,
            curve_strength: strength + LEAST * squares,
        }
    }

    /// The strengths that hold slopes and intercepts of classes.
    pub(super) fn class_strengths(&self) -> [f64; 2] {
        let Spreads {
            slopes, intercepts, ..
        } = self.spreads;
        [slopes, intercepts].map(|spread| (spread * spread).recip())
    }

    /// The curvature between knots, row after row, where `μ` stays as it is.
    pub(super) fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// What the wanted slope pulls on `μ`.
    fn tilt_pull(&self) -> f64 {
        self.tilt.slope / (self.tilt.spread * self.tilt.spread)
    }

    /// How firmly `μ` is held by slopes and curve together.
    pub(super) fn mean_strength(&self) -> f64 {
        self.shape.classes as f64 * self.class_strengths()[0] + self.curve_strength
    }

    /// What parameters pull on `μ`: along this the penalty is less than with a `μ` that stays, by half the square over
    /// [`Self::mean_strength`].
    pub(super) fn mean_pull(&self) -> Vec<f64> {
        let mut pull: Vec<f64> = self.of_curve.iter().map(|pull| -pull).collect();
        pull.resize(self.shape.len(), 0.0);
        let of_slope = self.class_strengths()[0];
        let slopes = pull[self.shape.knots..].iter_mut().step_by(2);
        slopes.for_each(|pull| *pull = of_slope);
        pull
    }

    /// By how much a direction moves `μ`.
    fn mean_along(&self, direction: &[f64]) -> f64 {
        let (curve, classes) = direction.split_at(self.shape.knots);
        let slopes: f64 = classes.iter().step_by(2).sum();
        let of_curve = self.of_curve.iter().zip(curve);
        let of_curve: f64 = of_curve.map(|(pull, value)| pull * value).sum();
        (self.class_strengths()[0] * slopes - of_curve) / self.mean_strength()
    }

    /// What the slopes of classes are held to.
    pub(super) fn mean(&self, parameters: &[f64]) -> f64 {
        self.mean_along(parameters) + self.tilt_pull() / self.mean_strength()
    }

    /// The penalty's gradient.
    pub(super) fn gradient(&self, parameters: &[f64]) -> Vec<f64> {
        let mut gradient = self.with_mean(parameters, self.mean(parameters));
        let knots = gradient.iter_mut().zip(&self.pull);
        knots.for_each(|(gradient, pull)| *gradient += pull);
        gradient
    }

    /// The penalty's curvature times a direction.
    pub(super) fn times(&self, direction: &[f64]) -> Vec<f64> {
        self.with_mean(direction, self.mean_along(direction))
    }

    /// The curvature with a `μ` that stays, times parameters, less what a `μ` of this size takes off.
    fn with_mean(&self, parameters: &[f64], mean: f64) -> Vec<f64> {
        let count = self.shape.knots;
        let mut out = vec![0.0; parameters.len()];
        for (out, row) in out.iter_mut().zip(self.knots.chunks_exact(count)) {
            *out = row.iter().zip(parameters).map(|(a, b)| a * b).sum();
        }
        for (out, pull) in out.iter_mut().zip(&self.of_curve) {
            *out += pull * mean;
        }
        let strengths = self.class_strengths();
        let classes = out[count..].chunks_exact_mut(2);
        for (out, class) in classes.zip(parameters[count..].chunks_exact(2)) {
            out[0] = strengths[0] * (class[0] - mean);
            out[1] = strengths[1] * class[1];
        }
        out
    }

    /// The penalty, but for what is the same everywhere.
    pub(super) fn value(&self, parameters: &[f64]) -> f64 {
        let along = |sides: &[f64]| -> f64 {
            let parts = sides.iter().zip(parameters);
            parts.map(|(side, parameter)| side * parameter).sum()
        };
        let mean = 0.5 * self.mean_along(parameters) * self.tilt_pull();
        let gradient = self.gradient(parameters);
        0.5 * (along(&gradient) + along(&self.pull)) - mean
    }

    /// By how much the slope changes at each inner knot.
    pub(super) fn bends<'a>(&'a self, values: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.bends.iter().map(|row| {
            row.iter()
                .map(|&(knot, factor)| factor * values[knot])
                .sum()
        })
    }

    /// What a bend looks at: knots and factors.
    pub(super) fn bend_rows(&self) -> &[[(usize, f64); 3]] {
        &self.bends
    }
}
