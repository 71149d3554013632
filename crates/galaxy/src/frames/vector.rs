//! Three-vectors and rotations as plain arrays.

pub(super) type Vector = [f64; 3];
/// Three rows.
pub(super) type Matrix = [[f64; 3]; 3];

pub(super) fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn turned(m: &Matrix, v: &Vector) -> Vector {
    [dot(&m[0], v), dot(&m[1], v), dot(&m[2], v)]
}

/// Applies the inverse of a rotation, which is its transpose.
pub(super) fn turned_back(m: &Matrix, v: &Vector) -> Vector {
    std::array::from_fn(|c| m[0][c] * v[0] + m[1][c] * v[1] + m[2][c] * v[2])
}

pub(super) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|r| {
        std::array::from_fn(|c| a[r][0] * b[0][c] + a[r][1] * b[1][c] + a[r][2] * b[2][c])
    })
}
