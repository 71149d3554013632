//! The largest eigenvalues of a large symmetric matrix that is accessed only through products.
//!
//! Block Lanczos with thick restarts (Wu & Simon 2000). Eight vectors at a time are multiplied by
//! the matrix and orthogonalised against all previous ones; when the basis is full, the best
//! combinations (Ritz vectors) are kept and the rest is rebuilt. A Krylov space of eight vectors
//! can miss copies of an eigenvalue of higher multiplicity, and near-copies are common: every tight
//! cluster gives one near 1. So when all residuals are small, the search is restarted once more
//! from fresh random vectors, and ends only if that finds nothing larger. A matrix hardly larger
//! than the basis is decomposed directly.
//!
//! Plain arithmetic in a fixed order, so the bytes are the same on any machine with any number of
//! threads. The cost per restart is O(n m^2 + m^3) and m products, `m = 3 k + 64`.

use crate::Stream;
use multiversion::multiversion;
use rand::RngExt;

use super::ql::{add_multiple, largest_first};

/// Vectors handled at once.
pub(crate) const BLOCK: usize = 8;

/// One row of a block of vectors.
pub(crate) type Lane = [f64; BLOCK];

/// Eigenvalues in descending order, and their eigenvectors.
#[derive(Clone, Debug)]
pub(crate) struct Largest {
    pub(crate) values: Vec<f64>,
    /// One vector after another, each of unit length.
    pub(crate) vectors: Vec<f64>,
    /// Restarts of the basis.
    pub(crate) restarts: usize,
    /// False if the limit on restarts was reached before the residuals were small.
    pub(crate) converged: bool,
}

/// The `k` largest eigenpairs of the symmetric matrix of size `n` given by the product `apply(x,
/// y)`, `y = A x`. If converged, the residual `|A x - theta x|` of each is at most `tolerance`. The
/// matrix should have a norm of about 1: anything below 1e-12 counts as zero.
pub(crate) fn largest(
    n: usize,
    k: usize,
    apply: impl Fn(&[Lane], &mut [Lane]),
    tolerance: f64,
    max_restarts: usize,
    stream: &mut Stream,
) -> Largest {
    let k = k.min(n);
    let room = (3 * k + 64).next_multiple_of(BLOCK);
    // The last block of a full basis needs room of its own.
    if n <= room.max(200) + BLOCK {
        return direct(n, k, apply);
    }
    let keep = k + k / 4 + BLOCK;
    let mut basis = Basis::new(n, room);
    let mut block = vec![[0.0; BLOCK]; n];
    let mut product = vec![[0.0; BLOCK]; n];
    basis.random_block(&mut block, stream);
    let mut settled: Option<f64> = None;
    let mut restart = 0;
    loop {
        restart += 1;
        while basis.len + BLOCK <= room {
            apply(&block, &mut product);
            basis.extend(&block, &mut product, stream);
            std::mem::swap(&mut block, &mut product);
        }
        let values = basis.restart(keep);
        let residual = basis.largest_residual(k, &values, &apply);
        let sum: f64 = values[..k].iter().sum();
        let small = residual <= tolerance;
        // A sum is known only up to rounding.
        let known = (tolerance * tolerance.sqrt()).max(4.0 * f64::EPSILON * sum.abs());
        let confirmed = small && settled.is_some_and(|before| sum - before <= known);
        if confirmed || restart >= max_restarts {
            return Largest {
                values: values[..k].to_vec(),
                vectors: basis.columns[..k * n].to_vec(),
                restarts: restart,
                converged: confirmed,
            };
        }
        if small {
            settled = Some(sum);
            basis.random_block(&mut block, stream);
        }
    }
}

/// All eigenpairs by the dense method; returns the largest `k`.
fn direct(n: usize, k: usize, apply: impl Fn(&[Lane], &mut [Lane])) -> Largest {
    let mut a = vec![0.0; n * n];
    let mut x = vec![[0.0; BLOCK]; n];
    let mut y = vec![[0.0; BLOCK]; n];
    for first in (0..n).step_by(BLOCK) {
        let wide = BLOCK.min(n - first);
        x.iter_mut().for_each(|row| *row = [0.0; BLOCK]);
        for l in 0..wide {
            x[first + l][l] = 1.0;
        }
        apply(&x, &mut y);
        for i in 0..n {
            a[i * n + first..i * n + first + wide].copy_from_slice(&y[i][..wide]);
        }
    }
    let (values, vectors) = largest_first(a, n);
    Largest { values: values[..k].to_vec(), vectors: vectors[..k * n].to_vec(), restarts: 0, converged: true }
}

/// Orthonormal vectors `V` and the projected matrix `V^T A V`.
struct Basis {
    n: usize,
    room: usize,
    len: usize,
    /// Vector after vector.
    columns: Vec<f64>,
    /// `room` by `room`.
    projected: Vec<f64>,
}

impl Basis {
    fn new(n: usize, room: usize) -> Self {
        Self { n, room, len: 0, columns: vec![0.0; n * room], projected: vec![0.0; room * room] }
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.n..(j + 1) * self.n]
    }

    /// Adds `block` to the basis and turns `product`, which is `A block`, into the next block.
    fn extend(&mut self, block: &[Lane], product: &mut [Lane], stream: &mut Stream) {
        let first = self.len;
        for l in 0..BLOCK {
            let column = &mut self.columns[(first + l) * self.n..(first + l + 1) * self.n];
            for (c, row) in column.iter_mut().zip(block) {
                *c = row[l];
            }
        }
        self.len += BLOCK;
        for j in 0..self.len {
            let h = take_out(self.column(j), product);
            for l in 0..BLOCK {
                self.projected[j * self.room + first + l] = h[l];
                self.projected[(first + l) * self.room + j] = h[l];
            }
        }
        // A second pass: the first leaves rounding errors behind.
        self.clear(product);
        self.orthonormalise(product, stream);
    }

    /// Removes the component along the basis from every vector of `block`.
    fn clear(&self, block: &mut [Lane]) {
        for j in 0..self.len {
            take_out(self.column(j), block);
        }
    }

    fn random_block(&self, block: &mut [Lane], stream: &mut Stream) {
        for row in block.iter_mut() {
            *row = std::array::from_fn(|_| stream.random_range(-1.0..1.0));
        }
        self.clear(block);
        self.clear(block);
        self.orthonormalise(block, stream);
    }

    /// Gram-Schmidt within a block that is orthogonal to the basis. A vector that depends on those
    /// before it, for example because the space is exhausted, is redrawn.
    fn orthonormalise(&self, block: &mut [Lane], stream: &mut Stream) {
        for l in 0..BLOCK {
            loop {
                let before = norm(block, l);
                for _ in 0..2 {
                    for earlier in 0..l {
                        let dot: f64 = block.iter().map(|row| row[earlier] * row[l]).sum();
                        block.iter_mut().for_each(|row| row[l] -= dot * row[earlier]);
                    }
                }
                let length = norm(block, l);
                // Below the first bound nothing but rounding is left of A x; below the second, of this
                // vector.
                if length > 1e-12 && length > 1e-8 * before {
                    block.iter_mut().for_each(|row| row[l] /= length);
                    break;
                }
                let mut fresh: Vec<f64> = (0..self.n).map(|_| stream.random_range(-1.0..1.0)).collect();
                for _ in 0..2 {
                    for j in 0..self.len {
                        let column = self.column(j);
                        let dot: f64 = column.iter().zip(&fresh).map(|(c, x)| c * x).sum();
                        fresh.iter_mut().zip(column).for_each(|(x, c)| *x -= dot * c);
                    }
                }
                block.iter_mut().zip(fresh).for_each(|(row, x)| row[l] = x);
            }
        }
    }

    /// Replaces the basis by its `keep` best Ritz vectors and returns all Ritz values.
    fn restart(&mut self, keep: usize) -> Vec<f64> {
        let m = self.len;
        let mut small = Vec::with_capacity(m * m);
        for j in 0..m {
            small.extend_from_slice(&self.projected[j * self.room..j * self.room + m]);
        }
        let (values, combinations) = largest_first(small, m);
        let mut columns = vec![0.0; self.n * self.room];
        for (kept, weights) in combinations.chunks_exact(m).take(keep).enumerate() {
            let new = &mut columns[kept * self.n..(kept + 1) * self.n];
            for (j, &w) in weights.iter().enumerate() {
                add_multiple(new, w, self.column(j));
            }
        }
        self.columns = columns;
        self.len = keep;
        self.projected.fill(0.0);
        for j in 0..keep {
            self.projected[j * self.room + j] = values[j];
        }
        values
    }

    /// `max |A x - theta x|` over the first `k` vectors.
    fn largest_residual(&self, k: usize, values: &[f64], apply: &impl Fn(&[Lane], &mut [Lane])) -> f64 {
        let mut x = vec![[0.0; BLOCK]; self.n];
        let mut y = vec![[0.0; BLOCK]; self.n];
        let mut worst: f64 = 0.0;
        for first in (0..k).step_by(BLOCK) {
            let wide = BLOCK.min(k - first);
            for l in 0..wide {
                for (row, c) in x.iter_mut().zip(self.column(first + l)) {
                    row[l] = *c;
                }
            }
            apply(&x, &mut y);
            for l in 0..wide {
                let theta = values[first + l];
                let square: f64 = x.iter().zip(&y).map(|(x, y)| (y[l] - theta * x[l]).powi(2)).sum();
                worst = worst.max(square.sqrt());
            }
        }
        worst
    }
}

fn norm(block: &[Lane], l: usize) -> f64 {
    block.iter().map(|row| row[l] * row[l]).sum::<f64>().sqrt()
}

/// Removes the component along the unit vector `column` from each vector of `block`, and returns
/// the components.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn take_out(column: &[f64], block: &mut [Lane]) -> Lane {
    let mut dot = [0.0; BLOCK];
    for (c, row) in column.iter().zip(block.iter()) {
        for l in 0..BLOCK {
            dot[l] += c * row[l];
        }
    }
    for (c, row) in column.iter().zip(block.iter_mut()) {
        for l in 0..BLOCK {
            row[l] -= c * dot[l];
        }
    }
    dot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::tests::{random_symmetric, worst_overlap, worst_residual};
    use crate::random::stream;

    fn apply_dense(a: &[f64], m: usize) -> impl Fn(&[Lane], &mut [Lane]) {
        move |x, y| {
            for (i, row) in y.iter_mut().enumerate() {
                *row = std::array::from_fn(|l| (0..m).map(|j| a[i * m + j] * x[j][l]).sum());
            }
        }
    }

    #[test]
    fn the_iteration_finds_what_the_dense_method_finds() {
        let (m, k) = (300, 7);
        let a = random_symmetric(5, m);
        let all = largest_first(a.clone(), m).0;
        let found = largest(m, k, apply_dense(&a, m), 1e-7, 200, &mut stream(1, 1));
        assert!(found.converged && found.restarts > 1);
        assert!(found.values.iter().zip(&all).all(|(x, y)| (x - y).abs() < 1e-9));
        assert!(worst_residual(&a, m, &found.values, &found.vectors) < 1e-7);
        assert!(worst_overlap(&found.vectors, m) < 1e-10);
    }

    #[test]
    fn all_copies_of_an_eigenvalue_are_found() {
        // Thirty copies of 1, more than a block holds; the rest between 0 and 1/2.
        let (m, k) = (400, 35);
        let value = |i: usize| if i.is_multiple_of(13) && i < 390 { 1.0 } else { 0.5 * (i as f64) / 400.0 };
        let apply = |x: &[Lane], y: &mut [Lane]| {
            for i in 0..m {
                y[i] = x[i].map(|v| v * value(i));
            }
        };
        let found = largest(m, k, apply, 1e-7, 200, &mut stream(1, 1));
        assert!(found.converged);
        assert!(found.values[..30].iter().all(|v| (v - 1.0).abs() < 1e-12), "{:?}", found.values);
        assert!((found.values[30] - value(399)).abs() < 1e-10, "{:?}", found.values);
    }

    #[test]
    fn a_limit_of_one_restart_is_said() {
        let (m, k) = (300, 7);
        let a = random_symmetric(5, m);
        let found = largest(m, k, apply_dense(&a, m), 1e-7, 1, &mut stream(1, 1));
        assert!(!found.converged && found.restarts == 1 && found.vectors.len() == k * m);
    }
}
