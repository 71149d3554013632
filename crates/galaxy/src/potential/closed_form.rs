//! From a formula to a [`Potential`](super::Potential).
//!
//! A potential writes its formula once, generically over [`Real`], as a [`ClosedForm`] or, if only
//! the distance from the centre matters, as a [`Spherical`]; [`potential_of_formula`] implements it
//! for single numbers and for eight lanes.
//!
//! A spherical potential is given by q = Phi'/r and e = q'/r, so that nothing is divided by r: the
//! gradient is q (R, z), and the second derivatives are q + e R^2, e R z, q + e z^2, which also
//! hold at the centre. Poisson's equation reads 4 pi G rho = 3 q + e r^2.

use super::{Curvature, Gradient};
use crate::real::Real;

/// Below this squared distance (kpc^2), the steep terms of a cusp or a point mass keep their value
/// at this distance. Multiplied by R = z = 0 they give 0, the mean over all directions, instead of
/// infinity times zero.
pub(super) const CENTRE: f64 = 1e-100;

/// An axisymmetric formula; `z` may have either sign.
pub(super) trait ClosedForm {
    fn phi<T: Real>(&self, r: T, z: T) -> T;
    fn first<T: Real>(&self, r: T, z: T) -> Gradient<T>;
    fn second(&self, r: f64, z: f64) -> Curvature;
    fn rho(&self, r: f64, z: f64) -> f64;
}

/// A formula in the squared distance from the centre.
pub(super) trait Spherical {
    /// The potential.
    fn phi_at<T: Real>(&self, square: T) -> T;
    /// The potential and q.
    fn slope<T: Real>(&self, square: T) -> (T, T);
    /// q and e.
    fn bend(&self, square: f64) -> (f64, f64);
    /// The density.
    fn rho_at(&self, square: f64) -> f64;
}

impl<S: Spherical> ClosedForm for S {
    #[inline(always)]
    fn phi<T: Real>(&self, r: T, z: T) -> T {
        self.phi_at(r * r + z * z)
    }
    #[inline(always)]
    fn first<T: Real>(&self, r: T, z: T) -> Gradient<T> {
        let (phi, q) = self.slope(r * r + z * z);
        Gradient { phi, d_r: q * r, d_z: q * z }
    }
    fn second(&self, r: f64, z: f64) -> Curvature {
        let (q, e) = self.bend(r * r + z * z);
        Curvature { d_rr: q + e * r * r, d_rz: e * r * z, d_zz: q + e * z * z }
    }
    fn rho(&self, r: f64, z: f64) -> f64 {
        self.rho_at(r * r + z * z)
    }
}

/// Makes a type with a [`ClosedForm`] a [`Potential`](super::Potential).
macro_rules! potential_of_formula {
    ($type:ty) => {
        const _: () = {
            use $crate::potential::closed_form::ClosedForm;
            use $crate::potential::{Curvature, Gradient, Potential};
            use $crate::real::Lanes;

            #[multiversion::multiversion(targets(
                "x86_64+avx512f+avx512dq+avx512vl",
                "x86_64+avx2",
                "aarch64+neon"
            ))]
            fn lane_values(potential: &$type, r: &Lanes, z: &Lanes) -> Lanes {
                potential.phi(*r, *z)
            }

            #[multiversion::multiversion(targets(
                "x86_64+avx512f+avx512dq+avx512vl",
                "x86_64+avx2",
                "aarch64+neon"
            ))]
            fn lane_gradients(potential: &$type, r: &Lanes, z: &Lanes) -> Gradient<Lanes> {
                potential.first(*r, *z)
            }

            impl Potential for $type {
                fn value(&self, r: f64, z: f64) -> f64 {
                    self.phi(r, z)
                }
                fn gradient(&self, r: f64, z: f64) -> Gradient {
                    self.first(r, z)
                }
                fn curvature(&self, r: f64, z: f64) -> Curvature {
                    self.second(r, z)
                }
                fn density(&self, r: f64, z: f64) -> f64 {
                    self.rho(r, z)
                }
                fn values(&self, r: &Lanes, z: &Lanes) -> Lanes {
                    lane_values(self, r, z)
                }
                fn gradients(&self, r: &Lanes, z: &Lanes) -> Gradient<Lanes> {
                    lane_gradients(self, r, z)
                }
            }
        };
    };
}
pub(super) use potential_of_formula;
