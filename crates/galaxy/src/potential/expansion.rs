//! Discs and spheroids together: the discs' ansatz plus one multipole expansion of all that remains.
//!
//! This is how GalPot (Dehnen & Binney 1998) and AGAMA compute the Milky Way of McMillan (2017). Here the sum is
//! computed once, by [`Direct`], and put into one fused [`Table`] that holds discs and multipoles alike.
//! What the table cannot resolve stays outside of it: a disc too thin for its cells, and radii beyond its ends.

use super::direct::{Direct, Matter};
use super::disc::Disc;
use super::legendre::even_polynomials;
use super::multipole::Resolution;
use super::spheroid::Spheroid;
use super::table::{Block, Grid, Table};
use super::{Curvature, Potential, Pull};
use crate::real::{LANES, Lanes, Real};
use crate::units::G;

/// Discs and spheroids as one potential.
///
/// ```
/// use goc_galaxy::potential::{Disc, Expansion, Layer, Potential, Spheroid};
/// let disc = Disc::new(1e9, 2.5, 0.0, Layer::Exponential(0.3))?;
/// let halo = Spheroid::new(1e7, 20.0, 1.0, 3.0)?.axis_ratio(0.9)?;
/// let galaxy = Expansion::new(vec![disc], vec![halo]);
/// assert!(galaxy.value(8.0, 0.0) > galaxy.phi0());
/// # Ok::<(), goc_galaxy::potential::PotentialError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expansion {
    direct: Direct,
    table: Table,
    /// Discs too thin for the table.
    thin: Vec<Disc>,
}

/// What the table may differ from the direct sum by, relative to the potential. Farther, and the thinnest disc in it
/// is taken out.
const TOLERANCE: f64 = 2e-8;

impl Expansion {
    /// The potential of all parts together, converged: more multipoles, angles or radii would change it by less than
    /// 3e-8 of itself. Without any part it is 0.
    pub fn new(discs: Vec<Disc>, spheroids: Vec<Spheroid>) -> Self {
        let lengths = discs
            .iter()
            .flat_map(|disc| [disc.scale_height(), disc.scale_radius()])
            .chain(spheroids.iter().map(Spheroid::scale_radius));
        let (small, large) = lengths.fold((f64::INFINITY, 0.0), |(s, l), a| (s.min(a), l.max(a)));
        let (small, large) = if large > 0.0 { (small, large) } else { (1.0, 1.0) };
        let radii = (small / 5e3, large * 5e4);
        // A step of 1/8 in ln r: finer ones change the potential by less than 1e-9.
        let count = ((Real::ln(radii.1) - Real::ln(radii.0)) * 8.0) as usize + 1;
        let resolution =
            Resolution { degree: 96, angles: Resolution::angles_to_plane(192), radii, count, between: 4 };
        Self::with_resolution(discs, spheroids, G, &resolution)
    }

    /// As `resolution` says, with Newton's constant `g`.
    pub(super) fn with_resolution(
        discs: Vec<Disc>,
        spheroids: Vec<Spheroid>,
        g: f64,
        resolution: &Resolution,
    ) -> Self {
        // The splines rest on samples beyond their ends, which the multipoles' grid should cover.
        let grid = Grid { radii: (resolution.radii.0 * 5.0, resolution.radii.1 / 50.0) };
        let mut direct = Direct::new(Matter { discs, spheroids }, g, resolution);
        let mut folded = direct.matter.discs.clone();
        folded.sort_by(|a, b| b.scale_height().total_cmp(&a.scale_height()));
        let mut thin = Vec::new();
        loop {
            let table = tabulate(&direct, &folded, &grid);
            let whole = Self { direct, table, thin };
            if folded.is_empty() || whole.worst_error() <= TOLERANCE {
                return whole;
            }
            (direct, thin) = (whole.direct, whole.thin);
            thin.extend(folded.pop());
        }
    }

    /// The largest relative error of the table at a few hundred places where a disc would show: midway between columns,
    /// mostly near the plane, out to where discs end.
    fn worst_error(&self) -> f64 {
        let radii = |disc: &Disc| (disc.scale_height(), 15.0 * disc.scale_radius());
        let (low, high) = self
            .direct
            .matter
            .discs
            .iter()
            .map(radii)
            .fold((f64::INFINITY, 0.0), |(l, h): (f64, f64), (a, b)| (l.min(a), h.max(b)));
        let mut worst = 0.0;
        for k in 0..40 {
            let radius =
                Real::exp(Real::ln(low) + (Real::ln(high) - Real::ln(low)) * (f64::from(k) + 0.5) / 40.0);
            for sine in Table::sines_between_columns() {
                let (r, z) = (radius * (1.0 - sine * sine).sqrt(), radius * sine);
                let exact = self.direct.pull(r, z).phi;
                let error = ((self.value(r, z) - exact) / exact).abs();
                worst = if error > worst { error } else { worst };
            }
        }
        worst
    }

    /// The potential at the centre, its deepest place.
    pub fn phi0(&self) -> f64 {
        self.direct.multipole.centre()
    }

    #[inline(always)]
    fn fast_value<T: Block>(&self, r: T, z: T) -> T {
        let z = z.abs();
        let mut phi = self.table.value(r, z);
        if !self.thin.is_empty() {
            let radius = (r * r + z * z).sqrt();
            for disc in &self.thin {
                phi += disc.ansatz(radius, z) * self.direct.four_pi_g;
            }
        }
        phi
    }

    #[inline(always)]
    fn fast_pull<T: Block>(&self, r: T, z: T) -> Pull<T> {
        let height = z.abs();
        let mut pull = self.table.pull(r, height);
        for disc in &self.thin {
            let one = disc.ansatz_pull(r, height);
            pull.phi += one.phi * self.direct.four_pi_g;
            pull.d_r += one.d_r * self.direct.four_pi_g;
            pull.d_z += one.d_z * self.direct.four_pi_g;
        }
        pull.d_z = T::select(z.less(T::splat(0.0)), -pull.d_z, pull.d_z);
        pull
    }

    #[inline(always)]
    fn holds(&self, r: f64, z: f64) -> bool {
        self.table.holds(r * r + z * z)
    }
}

/// One row of the table: the multipoles `radial` at all `sines`, whose polynomials stand in `angular` term by
/// term, and the discs' ansatz.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn fill_row(
    discs: &[Disc],
    four_pi_g: f64,
    radius: f64,
    radial: &[[f64; 3]],
    angular: &[Lanes],
    sines: &[Lanes],
    out: &mut [Lanes],
) {
    out.fill(Lanes([0.0; LANES]));
    for (term, polynomial) in radial.iter().zip(angular.chunks(sines.len())).rev() {
        for (out, &p) in out.iter_mut().zip(polynomial) {
            *out += p * term[0];
        }
    }
    for disc in discs {
        for (out, &sine) in out.iter_mut().zip(sines) {
            *out += disc.ansatz_continued(Lanes([radius; LANES]), sine * radius) * four_pi_g;
        }
    }
}

fn tabulate(direct: &Direct, discs: &[Disc], grid: &Grid) -> Table {
    let sines = grid.sines();
    let terms = direct.multipole.terms();
    let mut angular = vec![Lanes([0.0; LANES]); terms * sines.len()];
    let mut p = vec![[0.0; 3]; terms];
    for (run, sines_of_run) in sines.iter().enumerate() {
        for l in 0..LANES {
            even_polynomials(sines_of_run.0[l], &mut p);
            for (t, p) in p.iter().enumerate() {
                angular[t * sines.len() + run].0[l] = p[0];
            }
        }
    }
    Table::new(grid, |ln_r, out| {
        direct.multipole.profile(ln_r, &mut p);
        fill_row(discs, direct.four_pi_g, Real::exp(ln_r), &p, &angular, &sines, out);
    })
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn lane_values(expansion: &Expansion, r: &Lanes, z: &Lanes) -> Lanes {
    expansion.fast_value(*r, *z)
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn lane_pulls(expansion: &Expansion, r: &Lanes, z: &Lanes) -> Pull<Lanes> {
    expansion.fast_pull(*r, *z)
}

impl Potential for Expansion {
    fn value(&self, r: f64, z: f64) -> f64 {
        if self.holds(r, z) { self.fast_value(r, z) } else { self.direct.pull(r, z).phi }
    }

    fn pull(&self, r: f64, z: f64) -> Pull {
        if self.holds(r, z) { self.fast_pull(r, z) } else { self.direct.pull(r, z) }
    }

    fn curvature(&self, r: f64, z: f64) -> Curvature {
        self.direct.curvature(r, z)
    }

    fn density(&self, r: f64, z: f64) -> f64 {
        self.direct.matter.density(r, z)
    }

    fn values(&self, r: &Lanes, z: &Lanes) -> Lanes {
        let mut out = lane_values(self, r, z);
        for l in 0..LANES {
            if !self.holds(r.0[l], z.0[l]) {
                out.0[l] = self.direct.pull(r.0[l], z.0[l]).phi;
            }
        }
        out
    }

    fn pulls(&self, r: &Lanes, z: &Lanes) -> Pull<Lanes> {
        let mut out = lane_pulls(self, r, z);
        for l in 0..LANES {
            if !self.holds(r.0[l], z.0[l]) {
                let one = self.direct.pull(r.0[l], z.0[l]);
                (out.phi.0[l], out.d_r.0[l], out.d_z.0[l]) = (one.phi, one.d_r, one.d_z);
            }
        }
        out
    }
}
