//! What a loop over eight stars needs beyond arithmetic: the potential, and tests on masks.
//!
//! The fudge, its roots and its quadratures are written once over [`Lockstep`] and run on one star
//! or on eight. A star that is finished keeps its result while the others continue, so its result
//! never depends on its neighbours.

use crate::potential::{Gradient, Potential};
use crate::real::{LANES, Lanes, Real};

pub(super) trait Lockstep: Real {
    fn phi(potential: &dyn Potential, r: Self, z: Self) -> Self;
    fn gradient(potential: &dyn Potential, r: Self, z: Self) -> Gradient<Self>;

    fn any(mask: Self::Mask) -> bool;
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn either(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn not(mask: Self::Mask) -> Self::Mask;
    /// The largest of the numbers.
    fn largest(self) -> f64;
    /// Applies a function without a lane-wise form, star by star.
    fn each(self, f: impl Fn(f64) -> f64) -> Self;
}

impl Lockstep for f64 {
    #[inline(always)]
    fn phi(potential: &dyn Potential, r: f64, z: f64) -> f64 {
        potential.value(r, z)
    }
    #[inline(always)]
    fn gradient(potential: &dyn Potential, r: f64, z: f64) -> Gradient {
        potential.gradient(r, z)
    }
    #[inline(always)]
    fn any(mask: bool) -> bool {
        mask
    }
    #[inline(always)]
    fn both(a: bool, b: bool) -> bool {
        a && b
    }
    #[inline(always)]
    fn either(a: bool, b: bool) -> bool {
        a || b
    }
    #[inline(always)]
    fn not(mask: bool) -> bool {
        !mask
    }
    #[inline(always)]
    fn largest(self) -> f64 {
        self
    }
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> f64 {
        f(self)
    }
}

impl Lockstep for Lanes {
    #[inline(always)]
    fn phi(potential: &dyn Potential, r: Lanes, z: Lanes) -> Lanes {
        potential.values(&r, &z)
    }
    #[inline(always)]
    fn gradient(potential: &dyn Potential, r: Lanes, z: Lanes) -> Gradient<Lanes> {
        potential.gradients(&r, &z)
    }
    #[inline(always)]
    fn any(mask: [bool; LANES]) -> bool {
        mask.iter().any(|m| *m)
    }
    #[inline(always)]
    fn both(a: [bool; LANES], b: [bool; LANES]) -> [bool; LANES] {
        std::array::from_fn(|l| a[l] & b[l])
    }
    #[inline(always)]
    fn either(a: [bool; LANES], b: [bool; LANES]) -> [bool; LANES] {
        std::array::from_fn(|l| a[l] | b[l])
    }
    #[inline(always)]
    fn not(mask: [bool; LANES]) -> [bool; LANES] {
        std::array::from_fn(|l| !mask[l])
    }
    #[inline(always)]
    fn largest(self) -> f64 {
        self.0.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> Lanes {
        Lanes(self.0.map(f))
    }
}
