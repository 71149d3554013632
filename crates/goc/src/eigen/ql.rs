//! All eigenpairs of a symmetric matrix through a tridiagonal one.
//!
//! Householder reflections bring the matrix to tridiagonal form, then QL steps with implicit shifts
//! diagonalise it (Golub & Van Loan, *Matrix Computations*, section 8.3). Plain arithmetic in a
//! fixed order.
//!
//! Cost: O(m^3), most of it for applying the plane rotations to the vectors.

use multiversion::multiversion;

use super::Eigenpairs;

/// All eigenpairs of the symmetric matrix `a` of size `m`.
pub(crate) fn symmetric(mut a: Vec<f64>, m: usize) -> Eigenpairs {
    let (mut values, mut beside, mut vectors) = tridiagonal(&mut a, m);
    implicit_ql(&mut values, &mut beside, &mut vectors, m);
    Eigenpairs { values, vectors }
}

/// The same, with values in descending order and vectors one after another in their order.
pub(crate) fn largest_first(a: Vec<f64>, m: usize) -> (Vec<f64>, Vec<f64>) {
    let pairs = symmetric(a, m);
    let order = pairs.largest_first();
    let values = order.iter().map(|&i| pairs.values[i]).collect();
    let vectors = order.iter().flat_map(|&i| pairs.vector(i).iter().copied()).collect();
    (values, vectors)
}

/// Householder's reduction `A = Q T Q^T`: the diagonal of T, its off-diagonal, and the columns of Q
/// one after another.
fn tridiagonal(a: &mut [f64], m: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut beside = vec![0.0; m];
    // The reflections: a normal vector each, and 2 over its squared length (0 for no reflection).
    let mut mirrors: Vec<(Vec<f64>, f64)> = Vec::with_capacity(m);
    for k in 0..m.saturating_sub(1) {
        let mut v: Vec<f64> = a[k * m + k + 1..(k + 1) * m].to_vec();
        let below: f64 = v[1..].iter().map(|x| x * x).sum();
        if below == 0.0 {
            beside[k] = v[0];
            mirrors.push((v, 0.0));
            continue;
        }
        let length = (v[0] * v[0] + below).sqrt();
        let target = if v[0] > 0.0 { -length } else { length };
        beside[k] = target;
        v[0] -= target;
        let scale = 2.0 / (v[0] * v[0] + below);
        let rest = |i: usize| (k + 1 + i) * m + k + 1..(k + 2 + i) * m;
        let mut w: Vec<f64> = (0..v.len())
            .map(|i| scale * a[rest(i)].iter().zip(&v).map(|(x, y)| x * y).sum::<f64>())
            .collect();
        let along = 0.5 * scale * w.iter().zip(&v).map(|(x, y)| x * y).sum::<f64>();
        w.iter_mut().zip(&v).for_each(|(w, v)| *w -= along * v);
        for i in 0..v.len() {
            let row = &mut a[rest(i)];
            add_multiple(row, -v[i], &w);
            add_multiple(row, -w[i], &v);
        }
        mirrors.push((v, scale));
    }
    let diagonal = (0..m).map(|k| a[k * m + k]).collect();
    // Q = H_0 H_1 ...; its columns are stored as rows, where a reflection acts on the right.
    let mut q = vec![0.0; m * m];
    (0..m).for_each(|k| q[k * m + k] = 1.0);
    for (k, (v, scale)) in mirrors.iter().enumerate().rev().filter(|(_, (_, scale))| *scale > 0.0) {
        for row in q.chunks_exact_mut(m).skip(k + 1) {
            let tail = &mut row[k + 1..];
            let along = scale * tail.iter().zip(v).map(|(x, y)| x * y).sum::<f64>();
            add_multiple(tail, -along, v);
        }
    }
    (diagonal, beside, q)
}

/// Diagonalises the tridiagonal matrix by QL steps, each a sequence of plane rotations that is also
/// applied to the vectors (rows).
fn implicit_ql(d: &mut [f64], e: &mut [f64], vectors: &mut [f64], m: usize) {
    for low in 0..m {
        // Three steps per value are usual; only non-finite matrices reach the limit.
        for _ in 0..100 {
            let negligible = |i: &usize| e[*i].abs() <= f64::EPSILON * (d[*i].abs() + d[*i + 1].abs());
            let high = (low..m - 1).find(negligible).unwrap_or(m - 1);
            if high == low {
                break;
            }
            let half = (d[low + 1] - d[low]) / (2.0 * e[low]);
            let root = (half * half + 1.0).sqrt();
            let mut bulge = d[high] - d[low] + e[low] / (half + if half < 0.0 { -root } else { root });
            let (mut s, mut c, mut shift) = (1.0, 1.0, 0.0);
            let mut split = false;
            for i in (low..high).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = (f * f + bulge * bulge).sqrt();
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= shift;
                    e[high] = 0.0;
                    split = true;
                    break;
                }
                s = f / r;
                c = bulge / r;
                let g = d[i + 1] - shift;
                let t = (d[i] - g) * s + 2.0 * c * b;
                shift = s * t;
                d[i + 1] = g + shift;
                bulge = c * t - b;
                let (upper, lower) = vectors[i * m..(i + 2) * m].split_at_mut(m);
                turn(upper, lower, c, s);
            }
            if !split {
                d[low] -= shift;
                e[low] = bulge;
                e[high] = 0.0;
            }
        }
    }
}

/// Rotates two vectors by the angle with cosine `c` and sine `s`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn turn(x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    for (x, y) in x.iter_mut().zip(y.iter_mut()) {
        let (a, b) = (*x, *y);
        *x = c * a - s * b;
        *y = s * a + c * b;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn add_multiple(to: &mut [f64], factor: f64, from: &[f64]) {
    for (t, f) in to.iter_mut().zip(from) {
        *t += factor * f;
    }
}
