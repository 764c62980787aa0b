//! Two by two.

pub(super) type Vector2 = [f64; 2];
/// Symmetric.
pub(super) type Matrix2 = [[f64; 2]; 2];

pub(super) fn inverse(m: Matrix2) -> Matrix2 {
    let determinant = (m[0][0] * m[1][1] - m[0][1] * m[1][0]).max(f64::MIN_POSITIVE);
    [
        [m[1][1] / determinant, -m[0][1] / determinant],
        [-m[1][0] / determinant, m[0][0] / determinant],
    ]
}

pub(super) fn add(a: Matrix2, b: Matrix2) -> Matrix2 {
    [
        [a[0][0] + b[0][0], a[0][1] + b[0][1]],
        [a[1][0] + b[1][0], a[1][1] + b[1][1]],
    ]
}

pub(super) fn times(m: Matrix2, factor: f64) -> Matrix2 {
    m.map(|row| row.map(|value| value * factor))
}

pub(super) fn product(a: Matrix2, b: Matrix2) -> Matrix2 {
    let cell = |i: usize, j: usize| a[i][0] * b[0][j] + a[i][1] * b[1][j];
    [[cell(0, 0), cell(0, 1)], [cell(1, 0), cell(1, 1)]]
}

pub(super) fn apply(m: Matrix2, v: Vector2) -> Vector2 {
    [
        m[0][0] * v[0] + m[0][1] * v[1],
        m[1][0] * v[0] + m[1][1] * v[1],
    ]
}

pub(super) fn outer(v: Vector2) -> Matrix2 {
    [[v[0] * v[0], v[0] * v[1]], [v[1] * v[0], v[1] * v[1]]]
}

/// `v·m·v`.
pub(super) fn square(m: Matrix2, v: Vector2) -> f64 {
    let mv = apply(m, v);
    v[0] * mv[0] + v[1] * mv[1]
}

/// Lower triangle `L` with `LLᵀ = m`.
pub(super) fn root(m: Matrix2) -> Matrix2 {
    let first = m[0][0].max(0.0).sqrt();
    let below = if first > 0.0 { m[1][0] / first } else { 0.0 };
    [
        [first, 0.0],
        [below, (m[1][1] - below * below).max(0.0).sqrt()],
    ]
}

/// A normal draw around a mean.
pub(super) fn drawn(mean: Vector2, covariance: Matrix2, normal: Vector2, scale: f64) -> Vector2 {
    let moved = apply(root(covariance), normal);
    [mean[0] + scale * moved[0], mean[1] + scale * moved[1]]
}
