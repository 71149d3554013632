//! The action finder: a potential and its table of focal distances, applied to many stars at a
//! time.

use std::fmt;
use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;

use super::angles::{Motion, motion};
use super::circular::FARTHEST;
use super::focal::FocalDistances;
use super::fudge::{Orbit, Place, Rule};
use super::lockstep::Lockstep;
use super::quadrature::Nodes;
use super::{ActionError, Actions, Extent, Outcome, Reason, Variant};
use crate::frames::Galactocentric;
use crate::potential::{McMillan17, Potential};
use crate::real::{LANES, Lanes};

/// Number of stars that a thread takes at a time.
const BLOCK: usize = 8 * LANES;

/// Relative tolerance of turning points when they are the result.
const EXTENT_TOLERANCE: f64 = 1e-9;

/// Finds actions in one potential.
///
/// Construction takes a few tenths of a second (it tabulates shell orbits); the finder can then be
/// used for any number of stars. The result for a star is bitwise identical whether it is computed
/// alone or among others, and with any number of threads.
pub struct ActionFinder {
    potential: Arc<dyn Potential>,
    variant: Variant,
    focal: FocalDistances,
    nodes: Nodes,
    rule: Rule,
    tolerance: f64,
}

impl ActionFinder {
    /// For any axisymmetric potential that increases outwards to 0.
    pub fn new(potential: Arc<dyn Potential>, variant: Variant) -> Result<Self, ActionError> {
        let focal = FocalDistances::new(&*potential, variant)?;
        let rule = match variant {
            Variant::Converged => Rule::Logarithmic,
            Variant::Authors | Variant::Agama => Rule::Linear,
        };
        let nodes = Nodes::two_turning_points();
        Ok(Self { potential, variant, focal, nodes, rule, tolerance: 1e-6 })
    }

    /// For the Milky Way of McMillan (2017), built as the variant requires.
    pub fn milky_way(variant: Variant) -> Result<Self, ActionError> {
        Self::new(Arc::new(McMillan17::new(variant.build())), variant)
    }

    /// The potential.
    pub fn potential(&self) -> &Arc<dyn Potential> {
        &self.potential
    }

    /// The variant requested.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The table of focal distances.
    pub fn focal_distances(&self) -> &FocalDistances {
        &self.focal
    }

    /// The actions of one star.
    pub fn actions(&self, star: &Galactocentric) -> Outcome {
        let mut out = [Outcome::Undefined(Reason::NotFinite)];
        self.fill::<f64>(std::slice::from_ref(star), &mut out);
        out[0]
    }

    /// The actions of many stars in the order of the input, computed eight at a time on every
    /// thread of the pool.
    pub fn many(&self, stars: &[Galactocentric]) -> Vec<Outcome> {
        let mut out = vec![Outcome::Undefined(Reason::NotFinite); stars.len()];
        out.par_chunks_mut(BLOCK).zip(stars.par_chunks(BLOCK)).for_each(|(out, stars)| {
            for (out, stars) in out.chunks_mut(LANES).zip(stars.chunks(LANES)) {
                if stars.len() == 1 {
                    self.fill::<f64>(stars, out);
                } else {
                    eight(self, stars, out);
                }
            }
        });
        out
    }

    /// The orbital extents of many stars, eight at a time like [`Self::many`].
    pub fn extents(&self, stars: &[Galactocentric]) -> Vec<Outcome<Extent>> {
        let mut out = vec![Outcome::Undefined(Reason::NotFinite); stars.len()];
        out.par_chunks_mut(BLOCK).zip(stars.par_chunks(BLOCK)).for_each(|(out, stars)| {
            for (out, stars) in out.chunks_mut(LANES).zip(stars.chunks(LANES)) {
                if stars.len() == 1 {
                    self.fill_extents::<f64>(stars, out);
                } else {
                    eight_extents(self, stars, out);
                }
            }
        });
        out
    }

    /// The actions of one star, with its angles and frequencies.
    ///
    /// Angles and frequencies belong to the fudge's own torus, so that they share its error of a percent or
    /// two.
    pub fn with_angles(&self, star: &Galactocentric) -> Outcome<Motion> {
        let actions = match self.actions(star) {
            Outcome::Bound(actions) => actions,
            Outcome::Unbound { energy } => return Outcome::Unbound { energy },
            Outcome::Undefined(reason) => return Outcome::Undefined(reason),
        };
        let [r2, z, r_vr, vz, v2, tilt, lz] = place(star);
        let place = Place { r2, z, r_vr, vz, v2, tilt, lz };
        let gradient = self.potential.gradient(r2.sqrt(), z);
        let orbit = Orbit::new(&*self.potential, &self.focal, &place, &gradient);
        // The inverse of the momentum needs more accurate turning points than the momentum itself.
        let turns = orbit.turns(&*self.potential, 1e-9);
        let below = star.z() < 0.0;
        let found = motion(&*self.potential, (&place, &orbit, &turns), actions, star.azimuth(), below);
        let finite = found.angles.iter().chain(&found.frequencies).all(|x| x.is_finite());
        if finite { Outcome::Bound(found) } else { Outcome::Undefined(Reason::NoPeriod) }
    }

    /// Computes at most as many stars as `T` holds.
    #[inline(always)]
    fn fill<T: Pack>(&self, stars: &[Galactocentric], out: &mut [Outcome]) {
        let (orbit, energy, lz) = self.orbit::<T>(stars);
        let turns = orbit.turns(&*self.potential, self.tolerance);
        let (jr, jz) = orbit.actions(&*self.potential, &turns, self.rule, &self.nodes);
        self.tell(stars, energy, out, |lane| {
            let actions = Actions {
                jr: jr.lane(lane),
                jz: jz.lane(lane),
                jphi: lz.lane(lane),
                energy: energy.lane(lane),
            };
            let finite = actions.jr.is_finite() && actions.jz.is_finite() && actions.energy.is_finite();
            finite.then_some(actions)
        });
    }

    /// Like [`Self::fill`], for the extents of the orbits.
    #[inline(always)]
    fn fill_extents<T: Pack>(&self, stars: &[Galactocentric], out: &mut [Outcome<Extent>]) {
        let (orbit, energy, lz) = self.orbit::<T>(stars);
        // The radii themselves are needed, not integrals between them.
        let turns = orbit.turns(&*self.potential, EXTENT_TOLERANCE);
        let [pericentre, apocentre, z_max] = orbit.extent(&turns);
        let circular = orbit.circular_spin();
        self.tell(stars, energy, out, |lane| {
            let extent = Extent {
                energy: energy.lane(lane),
                lz: lz.lane(lane),
                circularity: (lz.lane(lane) / circular.lane(lane)).clamp(-1.0, 1.0),
                pericentre: pericentre.lane(lane),
                apocentre: apocentre.lane(lane),
                z_max: z_max.lane(lane),
            };
            extent.is_finite().then_some(extent)
        });
    }

    /// The orbits of the fudge, energies and Lz.
    #[inline(always)]
    fn orbit<T: Pack>(&self, stars: &[Galactocentric]) -> (Orbit<T>, T, T) {
        let columns = T::columns(|lane| {
            // Empty lanes repeat the last star; an unusable star is replaced by a usable one.
            let star = &stars[lane.min(stars.len() - 1)];
            if usable(star) { place(star) } else { [1.0, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0] }
        });
        let [r2, z, r_vr, vz, v2, tilt, lz] = columns;
        let gradient = T::gradient(&*self.potential, r2.sqrt(), z);
        let energy = v2 * 0.5 + gradient.phi;
        // An unbound star is brought to rest where it is, so that its lane does something harmless.
        let zero = T::splat(0.0);
        let bound = energy.less(zero);
        let or_rest = |x: T| T::select(bound, x, zero);
        let halted = Place {
            r2,
            z,
            r_vr: or_rest(r_vr),
            vz: or_rest(vz),
            v2: or_rest(v2),
            tilt: or_rest(tilt),
            lz: or_rest(lz),
        };
        (Orbit::new(&*self.potential, &self.focal, &halted, &gradient), energy, lz)
    }

    /// The result for each star; `found` is called for the bound ones, and returns `None` if a
    /// number is not finite.
    #[inline(always)]
    fn tell<T: Pack, A>(
        &self,
        stars: &[Galactocentric],
        energy: T,
        out: &mut [Outcome<A>],
        found: impl Fn(usize) -> Option<A>,
    ) {
        for (lane, (star, out)) in stars.iter().zip(out).enumerate() {
            *out = if !usable(star) {
                self.unusable(star)
            } else if energy.lane(lane) >= 0.0 {
                Outcome::Unbound { energy: energy.lane(lane) }
            } else {
                found(lane).map_or(Outcome::Undefined(Reason::NotFinite), Outcome::Bound)
            };
        }
    }

    fn unusable<A>(&self, star: &Galactocentric) -> Outcome<A> {
        let [_, z, _, _, v2, _, _] = place(star);
        let energy = 0.5 * v2 + self.potential.value(star.radius(), z);
        match energy {
            e if e >= 0.0 && e.is_finite() => Outcome::Unbound { energy },
            e if e < 0.0 && e.is_finite() => Outcome::Undefined(Reason::TooFar),
            _ => Outcome::Undefined(Reason::NotFinite),
        }
    }
}

impl fmt::Debug for ActionFinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionFinder").field("variant", &self.variant).finish_non_exhaustive()
    }
}

/// Eight stars with the widest vectors this machine has.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn eight(finder: &ActionFinder, stars: &[Galactocentric], out: &mut [Outcome]) {
    finder.fill::<Lanes>(stars, out);
}

/// The same for the extents of their orbits.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn eight_extents(finder: &ActionFinder, stars: &[Galactocentric], out: &mut [Outcome<Extent>]) {
    finder.fill_extents::<Lanes>(stars, out);
}

/// Whether the fudge can be applied to the star.
fn usable(star: &Galactocentric) -> bool {
    star.is_finite() && star.position.iter().all(|x| x.abs() <= FARTHEST)
}

/// R^2, |z|, R vR, vz away from the plane, v^2, Lx^2 + Ly^2, Lz.
fn place(star: &Galactocentric) -> [f64; 7] {
    let ([x, y, z], [vx, vy, vz]) = (star.position, star.velocity);
    let [lx, ly, lz] = star.angular_momentum();
    let away = if z < 0.0 { -vz } else { vz };
    [x * x + y * y, z.abs(), x * vx + y * vy, away, vx * vx + vy * vy + vz * vz, lx * lx + ly * ly, lz]
}

/// Numbers that stars are packed into.
trait Pack: Lockstep {
    /// Seven numbers of each star, turned into seven packs.
    fn columns(rows: impl Fn(usize) -> [f64; 7]) -> [Self; 7];
    fn lane(self, lane: usize) -> f64;
}

impl Pack for f64 {
    #[inline(always)]
    fn columns(rows: impl Fn(usize) -> [f64; 7]) -> [f64; 7] {
        rows(0)
    }
    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self
    }
}

impl Pack for Lanes {
    #[inline(always)]
    fn columns(rows: impl Fn(usize) -> [f64; 7]) -> [Lanes; 7] {
        let rows: [[f64; 7]; LANES] = std::array::from_fn(rows);
        std::array::from_fn(|c| Lanes(std::array::from_fn(|l| rows[l][c])))
    }
    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        self.0[lane]
    }
}
