//! The Stäckel fudge (Binney 2012, MNRAS 426, 1324): actions of one star, or of eight in lock-step.
//!
//! In a Stäckel potential with focal distance D (Delta = D^2), the motion separates in spheroidal
//! coordinates lambda >= Delta >= nu >= 0. In other potentials it nearly does, with D chosen for
//! the orbit. We use w = lambda - Delta and v = nu / Delta, which stay regular in the spherical
//! limit D -> 0:
//!
//! ```text
//! R^2 = w (1 - v),  z^2 = (w + Delta) v
//! I3 = lambda (Phi - P0) + (Lx^2 + Ly^2 + Delta vz^2) / 2,   P0 = Phi(sqrt(w), 0)
//! ```
//!
//! Along lambda at the star's v, and along v at the star's lambda, the momenta are
//!
//! ```text
//! p_lambda = sqrt(h / 2) / w,   h(w)   = G w / lambda - Lz^2 / 2
//!          G = (E - P0) lambda0 - I3 + E (lambda - lambda0) - [Phi (lambda - nu)]_lambda0^lambda
//! Delta p_nu = sqrt(q / 2v) (1 + tau)^(1/2),
//!                               q(tau) = I3 - lambda (Phi - P0) + Delta v (Phi - E) - Lz^2 tau / 2
//! ```
//!
//! with tau = v / (1 - v), the squared tangent of the latitude, so that
//!
//! ```text
//! Jr = 1/pi int sqrt(h / 2) d ln w,     Jz = 2/pi int_0 sqrt(2 q (1 - v)) d eta,   tau = sinh^2 eta
//! ```
//!
//! between the zeros of h and up to the zero of q. Both integrands are analytic in a strip around
//! the real axis of these two variables even where Lz is small, so they are used when converged
//! values are needed.

use super::focal::{FocalDistances, Guess};
use super::lockstep::Lockstep;
use super::quadrature::{MOST, Nodes};
use super::solve::solve;
use crate::potential::{Gradient, Potential};

/// Angular momenta below this fraction of the circular orbit's are raised to it: the error in the
/// actions is equally small, and orbits through the axis need no special case.
const LEAST_SPIN: f64 = 1e-8;

/// The combinations of position and velocity that the fudge needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<T> {
    /// R^2.
    pub(super) r2: T,
    /// |z|.
    pub(super) z: T,
    /// R vR.
    pub(super) r_vr: T,
    /// vz, positive away from the plane.
    pub(super) vz: T,
    /// v^2.
    pub(super) v2: T,
    /// Lx^2 + Ly^2.
    pub(super) tilt: T,
    /// Lz.
    pub(super) lz: T,
}

/// How the integrals are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Gauss-Legendre in lambda and nu, 10 nodes and one more for every factor of two in sqrt(w_min / w_max):
    /// AGAMA's.
    Linear,
    /// In ln w and eta, with as many nodes as the range requires.
    Logarithmic,
}

/// The quantities that are constant along the two integrals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orbit<T> {
    pub(super) energy: T,
    /// Lz^2, not below its least value.
    pub(super) spin2: T,
    pub(super) delta: T,
    pub(super) i3: T,
    /// The star's own coordinates.
    pub(super) lambda: T,
    pub(super) w: T,
    pub(super) v: T,
    /// 1 - v, stored separately because it may be far smaller than the last bit of v.
    pub(super) rest: T,
    /// The potential at the star and at (sqrt(w), 0).
    phi: T,
    p0: T,
    /// h, dh/dw and q at the star.
    h: T,
    dh: T,
    q: T,
    guess: Guess<T>,
}

/// The turning points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns<T> {
    pub(super) w_min: T,
    pub(super) w_max: T,
    pub(super) tau_max: T,
}

impl<T: Lockstep> Orbit<T> {
    /// The orbit of a star with energy below 0; `gradient` is that of the potential at the star.
    #[inline(always)]
    pub(super) fn new(
        potential: &dyn Potential,
        focal: &FocalDistances,
        place: &Place<T>,
        gradient: &Gradient<T>,
    ) -> Self {
        let zero = T::splat(0.0);
        let r = place.r2.sqrt();
        let energy = place.v2 * 0.5 + gradient.phi;
        let guess = focal.lookup(energy, place.lz.abs());
        let delta = guess.delta;
        let z2 = place.z * place.z;
        // lambda - Delta is the larger root of w^2 - a w - Delta R^2 = 0; without cancellation for either
        // sign of a.
        let a = place.r2 + z2 - delta;
        let s = (a * a + delta * place.r2 * 4.0).sqrt();
        let outside = zero.less(a);
        let w_outside = (a + s) * 0.5;
        let bottom = T::select(outside, T::splat(1.0), (s - a).max(T::splat(f64::MIN_POSITIVE)));
        let w = T::select(outside, w_outside, delta * place.r2 * 2.0 / bottom);
        let w = w.max(T::splat(1e-30));
        let lambda = w + delta;
        let v = (z2 / lambda).min(T::splat(1.0));
        let twice_delta = T::select(outside, T::splat(1.0), (delta * 2.0).max(T::splat(f64::MIN_POSITIVE)));
        let rest = T::select(outside, place.r2 / w, (s - a) / twice_delta);
        let rest = T::select(v.less(T::splat(0.5)), -v + 1.0, rest.min(T::splat(1.0)).max(T::splat(1e-20)));
        let p0 = T::phi(potential, w.sqrt(), zero);
        let i3 = lambda * (gradient.phi - p0) + (place.tilt + delta * place.vz * place.vz) * 0.5;
        let lz2 = place.lz * place.lz;
        let least = guess.spin * LEAST_SPIN;
        let spin2 = lz2.max(least * least);
        let floor = (spin2 - lz2) * 0.5;
        // The momenta at the star follow from its velocity, free of the cancellation in I3.
        let along_lambda = place.r_vr + place.z * place.vz * w / lambda;
        let h = along_lambda * along_lambda * 0.5 - floor;
        let along_nu = rest * lambda.sqrt() * place.vz - v.sqrt() * place.r_vr;
        let q = along_nu * along_nu * 0.5 / rest - floor * v / rest;
        // dh/dw at the star.
        let nu = delta * v;
        let g = (energy - p0) * lambda - i3;
        let d_phi = gradient.d_r * r / (w * 2.0) + gradient.d_z * place.z / (lambda * 2.0);
        let d_g = energy - gradient.phi - (lambda - nu) * d_phi;
        let dh = d_g * w / lambda + g * delta / (lambda * lambda);
        Self { energy, spin2, delta, i3, lambda, w, v, rest, phi: gradient.phi, p0, h, dh, q, guess }
    }

    /// h at the star's v.
    #[inline(always)]
    pub(super) fn radial(&self, potential: &dyn Potential, w: T) -> T {
        let lambda = w + self.delta;
        let nu = self.delta * self.v;
        let phi = T::phi(potential, (w * self.rest).sqrt(), (lambda * self.v).sqrt());
        let g = (self.energy - self.p0) * self.lambda - self.i3
            + (lambda - self.lambda) * (self.energy - self.phi)
            - (phi - self.phi) * (lambda - nu);
        g * w / lambda - self.spin2 * 0.5
    }

    /// q at the star's lambda.
    #[inline(always)]
    pub(super) fn vertical(&self, potential: &dyn Potential, tau: T) -> T {
        let cos2 = T::splat(1.0) / (tau + 1.0);
        let v = tau * cos2;
        let phi = T::phi(potential, (self.w * cos2).sqrt(), (self.lambda * v).sqrt());
        self.i3 - self.lambda * (phi - self.p0) + self.delta * v * (phi - self.energy)
            - self.spin2 * tau * 0.5
    }

    /// The zeros of h around the star and of q above it, to a relative tolerance of `tolerance`.
    #[inline(always)]
    pub(super) fn turns(&self, potential: &dyn Potential, tolerance: f64) -> Turns<T> {
        let (w_min, w_max) = self.radial_turns(potential, tolerance);
        Turns { w_min, w_max, tau_max: self.vertical_turn(potential, tolerance) }
    }

    /// The least and the largest distance from the centre and the largest height between these
    /// turning points. R^2 + z^2 = w + Delta v is least in the plane at w_min, and largest, as z
    /// is, where both coordinates are.
    #[inline(always)]
    pub(super) fn extent(&self, turns: &Turns<T>) -> [T; 3] {
        let v = turns.tau_max / (turns.tau_max + 1.0);
        let far = turns.w_max + self.delta * v;
        [turns.w_min.sqrt(), far.sqrt(), ((turns.w_max + self.delta) * v).sqrt()]
    }

    /// The angular momentum of the circular orbit of this energy.
    #[inline(always)]
    pub(super) fn circular_spin(&self) -> T {
        self.guess.spin
    }

    #[inline(always)]
    fn radial_turns(&self, potential: &dyn Potential, tolerance: f64) -> (T, T) {
        let zero = T::splat(0.0);
        // h is positive on one interval. The star lies in it, perhaps at its very edge; the shell
        // orbit's radius is near its middle, which gives each root a bracket whose inner end is
        // safely positive.
        let mid = self.guess.shell * self.guess.shell;
        let h_mid = self.radial(potential, mid);
        let positive = zero.less(h_mid);
        // Rounding, or the minimum angular momentum, may leave the star itself just outside.
        let outside = T::both(positive, self.h.less(zero));
        let mid_below = mid.less(self.w);
        let to_mid = T::either(outside, T::both(positive, mid_below));
        let (mut inner, mut h_inner) = (T::select(to_mid, mid, self.w), T::select(to_mid, h_mid, self.h));
        let to_mid = T::either(outside, T::both(positive, T::not(mid_below)));
        let (mut outer, mut h_outer) = (T::select(to_mid, mid, self.w), T::select(to_mid, h_mid, self.h));
        // h extrapolated linearly from the star to w = 0: only a hint for the first chord.
        let h_lowest = -(self.spin2 * 0.5 + self.i3.max(zero) * self.w / self.lambda);
        let below = T::both(T::not(positive), mid_below);
        let above = T::both(T::not(positive), T::not(mid_below));
        let (mut low, mut h_low) = (T::select(below, mid, zero), T::select(below, h_mid, h_lowest));
        let highest = (self.guess.reach * self.guess.reach).max(outer * 1.000_1);
        let mut high = T::select(above, mid, highest);
        if T::any(T::not(positive)) {
            // A nearly circular orbit that the guess missed: climb to the top of h from the star.
            let (mut known, mut h_known) = (mid, h_mid);
            for _ in 0..3 {
                let gap = known - self.w;
                let bend = (h_known - self.h - self.dh * gap) / (gap * gap);
                let top = self.w - self.dh / (bend * 2.0);
                let usable = T::both(T::not(positive), T::both(bend.less(zero), zero.less(top)));
                let top = T::select(usable, top, self.w);
                let h_top = T::select(usable, self.radial(potential, top), self.h);
                let better = T::both(usable, zero.less(h_top));
                let under = T::both(better, top.less(inner));
                (inner, h_inner) = (T::select(under, top, inner), T::select(under, h_top, h_inner));
                let over = T::both(better, outer.less(top));
                (outer, h_outer) = (T::select(over, top, outer), T::select(over, h_top, h_outer));
                let worse = T::both(usable, T::not(zero.less(h_top)));
                let lower = T::both(worse, T::both(top.less(self.w), low.less(top)));
                (low, h_low) = (T::select(lower, top, low), T::select(lower, h_top, h_low));
                let upper = T::both(worse, T::both(self.w.less(top), top.less(high)));
                high = T::select(upper, top, high);
                known = T::select(worse, top, known);
                h_known = T::select(worse, h_top, h_known);
            }
        }
        let w_min = solve((low, h_low), (inner, h_inner), tolerance, |w| {
            self.radial(potential, w.max(T::splat(1e-30)))
        });
        // The apocentre: h / w is nearly linear in sqrt(w).
        let over_w = |root: T| {
            let w = root * root;
            self.radial(potential, w) / w
        };
        let mut far = high.sqrt();
        let mut at_far = over_w(far);
        for _ in 0..200 {
            let inside = zero.less(at_far);
            if !T::any(inside) {
                break;
            }
            far = T::select(inside, far * 1.5, far);
            at_far = T::select(inside, over_w(far), at_far);
        }
        let root = solve((outer.sqrt(), h_outer / outer), (far, at_far), tolerance, over_w);
        (w_min, root * root)
    }

    #[inline(always)]
    fn vertical_turn(&self, potential: &dyn Potential, tolerance: f64) -> T {
        let zero = T::splat(0.0);
        let tau = self.v / self.rest;
        let inside = T::not(self.q.less(zero));
        let (low, q_low) = (T::select(inside, tau, zero), T::select(inside, self.q, self.i3));
        // The root if I3 were balanced by the centrifugal term alone, as in a sphere.
        let mut high = (self.i3 * 2.0 / self.spin2).max(low) * 1.000_1 + 1e-20;
        let mut q_high = self.vertical(potential, high);
        for _ in 0..40 {
            let short = T::both(zero.less(q_high), high.less(T::splat(1e18)));
            if !T::any(short) {
                break;
            }
            high = T::select(short, high * 4.0, high);
            q_high = T::select(short, self.vertical(potential, high), q_high);
        }
        solve((low, q_low), (high, q_high), tolerance, |tau| self.vertical(potential, tau))
    }

    /// (Jr, Jz) by the requested rule.
    #[inline(always)]
    pub(super) fn actions(
        &self,
        potential: &dyn Potential,
        turns: &Turns<T>,
        rule: Rule,
        nodes: &Nodes,
    ) -> (T, T) {
        match rule {
            Rule::Linear => self.linear(potential, turns, nodes),
            Rule::Logarithmic => self.logarithmic(potential, turns, nodes),
        }
    }

    #[inline(always)]
    fn linear(&self, potential: &dyn Potential, turns: &Turns<T>, nodes: &Nodes) -> (T, T) {
        let zero = T::splat(0.0);
        let width = turns.w_max - turns.w_min;
        let eccentric = (turns.w_max * 1e-10).less(width);
        let count = (turns.w_min / turns.w_max).sqrt().each(linear_count);
        let v_max = turns.tau_max / (turns.tau_max + 1.0);
        let (mut jr, mut jz) = (zero, zero);
        for k in 0..count.largest() as usize {
            let [m, weight] = nodes.node(count, k);
            let w = turns.w_min + width * m;
            jr += (self.radial(potential, w).max(zero) * 0.5).sqrt() / w * weight;
            let v = v_max * m;
            let cos2 = -v + 1.0;
            let q = self.vertical(potential, v / cos2).max(zero);
            jz += (q / (v * cos2).max(T::splat(f64::MIN_POSITIVE)) * 0.5).sqrt() * weight;
        }
        let jr = T::select(eccentric, jr * width / std::f64::consts::PI, zero);
        (jr, jz * v_max * (2.0 / std::f64::consts::PI))
    }

    #[inline(always)]
    fn logarithmic(&self, potential: &dyn Potential, turns: &Turns<T>, nodes: &Nodes) -> (T, T) {
        let zero = T::splat(0.0);
        let least = T::splat(1e-30);
        let ratio = (turns.w_max / turns.w_min.max(least)).max(T::splat(1.0));
        let width = ratio.ln();
        // Error measured against 64 nodes in McMillan's Milky Way: 1e-9 in Jr, and 1e-7 in Jz where
        // thin discs are crossed.
        let count = (width * 1.5 + 10.0).floor().min(T::splat(MOST as f64));
        let mut jr = zero;
        for k in 0..count.largest() as usize {
            let [m, weight] = nodes.node(count, k);
            let w = turns.w_min.max(least) * (width * m).exp();
            jr += (self.radial(potential, w).max(zero) * 0.5).sqrt() * weight;
        }
        let eta_max = asinh(turns.tau_max.sqrt());
        let count = (eta_max * 3.0 + 14.0).floor().min(T::splat(MOST as f64));
        let mut jz = zero;
        for k in 0..count.largest() as usize {
            let [m, weight] = nodes.node(count, k);
            let s = sinh(eta_max * m);
            let tau = s * s;
            jz += (self.vertical(potential, tau).max(zero) * 2.0 / (tau + 1.0)).sqrt() * weight;
        }
        (jr * width / std::f64::consts::PI, jz * eta_max * (2.0 / std::f64::consts::PI))
    }
}

/// 10 nodes where the ratio is at least a half, one more for every further factor of two, at most 40.
fn linear_count(ratio: f64) -> f64 {
    let exponent = ((ratio.to_bits() >> 52) & 0x7ff) as f64 - 1022.0;
    (10.0 - exponent).clamp(1.0, 40.0)
}

/// sinh of a number not below 0, without cancellation near 0.
#[inline(always)]
pub(super) fn sinh<T: Lockstep>(x: T) -> T {
    let x2 = x * x;
    let series = x
        * (x2
            * (x2
                * (x2 * (x2 * (x2 * (1.0 / 39_916_800.0) + 1.0 / 362_880.0) + 1.0 / 5040.0) + 1.0 / 120.0)
                + 1.0 / 6.0)
            + 1.0);
    let e = x.exp();
    T::select(x.less(T::splat(0.5)), series, (e - T::splat(1.0) / e) * 0.5)
}

/// asinh of a number not below 0, without cancellation near 0.
#[inline(always)]
pub(super) fn asinh<T: Lockstep>(x: T) -> T {
    let x2 = x * x;
    // The series is short below 0.02; beyond, the logarithm has lost no more than two digits.
    let series = x * (x2 * (x2 * (x2 * (-5.0 / 112.0) + 3.0 / 40.0) - 1.0 / 6.0) + 1.0);
    T::select(x.less(T::splat(0.02)), series, (x + (x2 + 1.0).sqrt()).ln())
}
