//! Nodes and weights for integrals between turning points.
//!
//! The integrands vanish like a square root at the turning points. The substitution s^2 (3 - 2 s), s in [0,
//! 1], makes them smooth there, and Gauss-Legendre nodes in s then converge exponentially. A table
//! holds all node counts up to [`MOST`], so each of eight stars can have its own count: beyond its
//! last node the weight is 0.

use std::f64::consts::PI;

use super::lockstep::Lockstep;

/// The largest node count.
pub(super) const MOST: usize = 64;

/// Nodes on [0, 1], already substituted, and their weights.
#[derive(Debug)]
pub(super) struct Nodes {
    /// Row `count * MOST + k`: position and weight of node k among `count`.
    rows: Vec<[f64; 2]>,
}

impl Nodes {
    /// Both ends are turning points: m(s) = s^2 (3 - 2 s).
    pub(super) fn two_turning_points() -> Self {
        Self::new(|s| [s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s)])
    }

    /// `map` gives m(s) and m'(s).
    fn new(map: impl Fn(f64) -> [f64; 2]) -> Self {
        let mut rows = vec![[0.5, 0.0]; (MOST + 1) * MOST];
        for count in 1..=MOST {
            for (k, (s, weight)) in gauss_legendre(count).into_iter().enumerate() {
                let [place, slope] = map(s);
                rows[count * MOST + k] = [place, slope * weight];
            }
        }
        Self { rows }
    }

    /// Position and weight of node `k` for each star's own `count`.
    #[inline(always)]
    pub(super) fn node<T: Lockstep>(&self, count: T, k: usize) -> [T; 2] {
        T::rows(count * MOST as f64 + k as f64, &self.rows)
    }
}

/// Gauss-Legendre nodes and weights on [0, 1], by Newton's method on the Legendre polynomial.
pub(super) fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    let n = count as f64;
    (0..count)
        .map(|k| {
            let mut x = libm::cos(PI * (k as f64 + 0.75) / (n + 0.5));
            let mut slope = 1.0;
            // Newton's method from Tricomi's estimate converges to the last bit in a few steps for
            // all counts used.
            for _ in 0..8 {
                let (mut before, mut here) = (1.0, x);
                for j in 2..=count {
                    let j = j as f64;
                    (before, here) = (here, ((2.0 * j - 1.0) * x * here - (j - 1.0) * before) / j);
                }
                slope = n * (x * here - before) / (x * x - 1.0);
                x -= here / slope;
            }
            ((1.0 - x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n_nodes_integrate_powers_below_2n_exactly() {
        for count in 1..=MOST {
            let nodes = gauss_legendre(count);
            for power in 0..2 * count {
                let sum: f64 = nodes.iter().map(|(s, w)| w * s.powi(power as i32)).sum();
                let exact = 1.0 / (power as f64 + 1.0);
                assert!((sum - exact).abs() < 2e-14, "{count} nodes, power {power}: {sum} not {exact}");
            }
        }
    }

    #[test]
    fn half_a_circle_is_found_by_ten_nodes() {
        let nodes = Nodes::two_turning_points();
        let sum: f64 = (0..10)
            .map(|k| {
                let [m, w] = nodes.node(10.0, k);
                w * (m * (1.0 - m)).sqrt()
            })
            .sum();
        assert!((sum - PI / 8.0).abs() < 1e-10, "{sum}");
    }
}
