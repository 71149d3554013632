//! AGAMA's interpolation between radii: one spline through the sum of all multipoles.
//!
//! AGAMA has 50 radii for the Milky Way, half a unit of ln r apart, so its interpolation matters:
//! 1e-6 of the potential, 1e-5 of the force. Along each direction mu = z/r it interpolates X =
//! ln(1/Phi(0) - 1/Phi), where Phi is the sum of all multipoles, by a spline of fifth degree in x =
//! ln r from the exact values and slopes at the radii; the second derivatives there follow from
//! continuity of the third ones,
//!
//! h^2 (-3 s[i-1] + 18 s[i] - 3 s[i+1]) = 60 (X[i+1] - 2 X[i] + X[i-1]) - 24 h (X'[i+1] - X'[i-1]).
//!
//! In the plane this gives AGAMA's potential to the last digits a file holds (see the tests).

use super::multipole::Multipole;
use crate::real::Real;

/// The splines of X and its first two derivatives along mu, in one direction.
pub(super) struct Column {
    inverse_centre: f64,
    first: f64,
    step: f64,
    /// For X, X_mu, X_mumu at each radius: value, slope and second derivative along ln r, in units of the
    /// step.
    nodes: [Vec<[f64; 3]>; 3],
}

impl Column {
    /// `at_nodes` gives Phi, Phi_mu, Phi_mumu and their derivatives along ln r at each radius.
    pub fn new(multipole: &Multipole, at_nodes: impl Iterator<Item = [[f64; 2]; 3]>) -> Self {
        let inverse_centre = 1.0 / multipole.centre();
        let (first, step) = multipole.radii();
        let mut nodes = [Vec::new(), Vec::new(), Vec::new()];
        for [[f, f_x], [f_m, f_xm], [f_mm, f_xmm]] in at_nodes {
            let lift = inverse_centre - 1.0 / f;
            // The derivatives of X along Phi.
            let g1 = 1.0 / (f * f * lift);
            let g2 = -g1 * (2.0 / f + g1);
            let g3 = 2.0 * (g1 / (f * f) - g2 / f - g1 * g2);
            let x_xmm = g3 * f_x * f_m * f_m + g2 * (2.0 * f_m * f_xm + f_x * f_mm) + g1 * f_xmm;
            nodes[0].push([Real::ln(lift), g1 * f_x * step, 0.0]);
            nodes[1].push([g1 * f_m, (g2 * f_x * f_m + g1 * f_xm) * step, 0.0]);
            nodes[2].push([g2 * f_m * f_m + g1 * f_mm, x_xmm * step, 0.0]);
        }
        for nodes in &mut nodes {
            fill_second_derivatives(nodes);
        }
        Self { inverse_centre, first, step, nodes }
    }

    /// The potential alone.
    pub fn value(&self, ln_r: f64) -> f64 {
        let [x, ..] = quintic(&self.nodes[0], (ln_r - self.first) / self.step);
        1.0 / (self.inverse_centre - Real::exp(x))
    }

    /// [Phi, Phi_x, Phi_mu, Phi_xx, Phi_xmu, Phi_mumu].
    pub fn at(&self, ln_r: f64) -> [f64; 6] {
        let place = (ln_r - self.first) / self.step;
        let [[x, x_x, x_xx], [x_m, x_xm, _], [x_mm, ..]] = [0, 1, 2].map(|k| quintic(&self.nodes[k], place));
        let (x_x, x_xx, x_xm) = (x_x / self.step, x_xx / (self.step * self.step), x_xm / self.step);
        let lift = Real::exp(x);
        let phi = 1.0 / (self.inverse_centre - lift);
        let f1 = phi * phi * lift;
        let f2 = f1 * (1.0 + 2.0 * phi * lift);
        [
            phi,
            f1 * x_x,
            f1 * x_m,
            f2 * x_x * x_x + f1 * x_xx,
            f2 * x_x * x_m + f1 * x_xm,
            f2 * x_m * x_m + f1 * x_mm,
        ]
    }
}

/// Solves for the second derivatives (the third entries), which are 0 at both ends.
fn fill_second_derivatives(nodes: &mut [[f64; 3]]) {
    let count = nodes.len();
    // Elimination from below: (-3, 18, -3) s = right.
    let (mut diagonal, mut right) = (vec![1.0; count], vec![0.0; count]);
    for i in 1..count - 1 {
        let wanted = 60.0 * (nodes[i + 1][0] - 2.0 * nodes[i][0] + nodes[i - 1][0])
            - 24.0 * (nodes[i + 1][1] - nodes[i - 1][1]);
        // The row before the first inner one has no neighbour to eliminate.
        let (share, upper) = (-3.0 / diagonal[i - 1], if i == 1 { 0.0 } else { -3.0 });
        diagonal[i] = 18.0 - share * upper;
        right[i] = wanted - share * right[i - 1];
    }
    for i in (1..count - 1).rev() {
        nodes[i][2] = (right[i] + 3.0 * nodes[i + 1][2]) / diagonal[i];
    }
}

/// The spline and its first two derivatives at the position `place` among the nodes, in units of
/// the step.
pub(super) fn quintic(nodes: &[[f64; 3]], place: f64) -> [f64; 3] {
    let k = (place.max(0.0) as usize).min(nodes.len() - 2);
    let t = place - k as f64;
    let ([f0, d0, s0], [f1, d1, s1]) = (nodes[k], nodes[k + 1]);
    let (rise, turn, bend) = (f1 - f0 - d0 - 0.5 * s0, d1 - d0 - s0, s1 - s0);
    let a3 = 10.0 * rise - 4.0 * turn + 0.5 * bend;
    let a4 = -15.0 * rise + 7.0 * turn - bend;
    let a5 = 6.0 * rise - 3.0 * turn + 0.5 * bend;
    [
        f0 + t * (d0 + t * (0.5 * s0 + t * (a3 + t * (a4 + t * a5)))),
        d0 + t * (s0 + t * (3.0 * a3 + t * (4.0 * a4 + t * 5.0 * a5))),
        s0 + t * (6.0 * a3 + t * (12.0 * a4 + t * 20.0 * a5)),
    ]
}
