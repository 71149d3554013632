//! Discs and spheroids together: the discs' ansatz plus one multipole expansion of the remainder.
//!
//! This is how GalPot (Dehnen & Binney 1998) and AGAMA compute the Milky Way of McMillan (2017).
//! Here the sum is computed once, by [`Direct`], and stored in one [`Table`] that combines discs
//! and multipoles. The table excludes what it cannot resolve: discs too thin for its cells, and
//! radii beyond its ends.

use super::direct::{Direct, Matter};
use super::disc::Disc;
use super::legendre::even_polynomials;
use super::multipole::{Joined, Resolution};
use super::radial_spline::Column;
use super::spheroid::Spheroid;
use super::table::{Block, Grid, Table};
use super::{Curvature, Gradient, Potential};
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

/// Maximum difference between the table and the direct sum, relative to the potential. If it is
/// exceeded, the thinnest disc is taken out of the table.
const TOLERANCE: f64 = 2e-8;

impl Expansion {
    /// The potential of all parts together. Without any part it is 0.
    ///
    /// Multipoles go to degree 96: for discs as thin as the Milky Way's, higher degrees would
    /// change the potential by a relative 2e-8; thinner discs need more.
    pub fn new(discs: Vec<Disc>, spheroids: Vec<Spheroid>) -> Self {
        let lengths = discs
            .iter()
            .flat_map(|disc| [disc.scale_height(), disc.scale_radius()])
            .chain(spheroids.iter().map(Spheroid::scale_radius));
        let (small, large) = lengths.fold((f64::INFINITY, 0.0), |(s, l), a| (s.min(a), l.max(a)));
        let (small, large) = if large > 0.0 { (small, large) } else { (1.0, 1.0) };
        // Far enough in that the innermost cusp has become a power law, and likewise far enough
        // out.
        let radii = (small / 5e4, large * 5e4);
        // A step of 1/8 in ln r: finer ones change the potential by less than 1e-9.
        let count = ((Real::ln(radii.1) - Real::ln(radii.0)) * 8.0) as usize + 1;
        let resolution = Resolution {
            degree: 96,
            angles: Resolution::angles_to_plane(192),
            radii,
            count,
            between: 4,
            joined: Joined::TermByTerm,
        };
        Self::with_resolution(discs, spheroids, G, &resolution, &Grid { radii: (small / 1e3, large * 1e3) })
    }

    /// With this `resolution`, Newton's constant `g` and a table over `grid`.
    pub(super) fn with_resolution(
        discs: Vec<Disc>,
        spheroids: Vec<Spheroid>,
        g: f64,
        resolution: &Resolution,
        grid: &Grid,
    ) -> Self {
        let mut direct = Direct::new(Matter { discs, spheroids }, g, resolution);
        let mut folded = direct.matter.discs.clone();
        folded.sort_by(|a, b| b.scale_height().total_cmp(&a.scale_height()));
        let mut thin = Vec::new();
        loop {
            let table = tabulate(&direct, &folded, grid);
            let whole = Self { direct, table, thin };
            if folded.is_empty() || whole.worst_error() <= TOLERANCE {
                return whole;
            }
            (direct, thin) = (whole.direct, whole.thin);
            thin.extend(folded.pop());
        }
    }

    /// The largest relative error of the table at a few hundred places where a disc would show:
    /// midway between columns, mostly near the plane, out to where discs end.
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
                let exact = self.direct.gradient(r, z).phi;
                let error = ((self.value(r, z) - exact) / exact).abs();
                worst = if error > worst { error } else { worst };
            }
        }
        worst
    }

    /// The potential at the centre, its minimum.
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
    fn fast_gradient<T: Block>(&self, r: T, z: T) -> Gradient<T> {
        let height = z.abs();
        let mut gradient = self.table.gradient(r, height);
        for disc in &self.thin {
            let one = disc.ansatz_gradient(r, height);
            gradient.phi += one.phi * self.direct.four_pi_g;
            gradient.d_r += one.d_r * self.direct.four_pi_g;
            gradient.d_z += one.d_z * self.direct.four_pi_g;
        }
        gradient.d_z = T::select(z.less(T::splat(0.0)), -gradient.d_z, gradient.d_z);
        gradient
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
    let columns: Option<Vec<Column>> =
        sines.iter().flat_map(|run| run.0).map(|sine| direct.multipole.column(sine)).collect();
    Table::new(grid, |ln_r, out| {
        let columns = columns.as_ref().filter(|_| direct.multipole.covers(ln_r));
        direct.multipole.profile(ln_r, &mut p);
        let terms = if columns.is_some() { &p[..0] } else { &p[..] };
        fill_row(discs, direct.four_pi_g, Real::exp(ln_r), terms, &angular, &sines, out);
        for (out, columns) in out.iter_mut().zip(columns.into_iter().flat_map(|c| c.chunks(LANES))) {
            for (number, column) in out.0.iter_mut().zip(columns) {
                *number += column.value(ln_r);
            }
        }
    })
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn lane_values(expansion: &Expansion, r: &Lanes, z: &Lanes) -> Lanes {
    expansion.fast_value(*r, *z)
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn lane_gradients(expansion: &Expansion, r: &Lanes, z: &Lanes) -> Gradient<Lanes> {
    expansion.fast_gradient(*r, *z)
}

impl Potential for Expansion {
    fn value(&self, r: f64, z: f64) -> f64 {
        if self.holds(r, z) { self.fast_value(r, z) } else { self.direct.gradient(r, z).phi }
    }

    fn gradient(&self, r: f64, z: f64) -> Gradient {
        if self.holds(r, z) { self.fast_gradient(r, z) } else { self.direct.gradient(r, z) }
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
                out.0[l] = self.direct.gradient(r.0[l], z.0[l]).phi;
            }
        }
        out
    }

    fn gradients(&self, r: &Lanes, z: &Lanes) -> Gradient<Lanes> {
        let mut out = lane_gradients(self, r, z);
        for l in 0..LANES {
            if !self.holds(r.0[l], z.0[l]) {
                let one = self.direct.gradient(r.0[l], z.0[l]);
                (out.phi.0[l], out.d_r.0[l], out.d_z.0[l]) = (one.phi, one.d_r, one.d_z);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::potential::{Build, Layer, McMillan17};

    /// Places from 1 pc to 1 Mpc, half of them near the plane, by a fixed rule.
    fn places() -> impl Iterator<Item = (f64, f64)> {
        (0..3000).map(|n| {
            let n = f64::from(n);
            let (u, v) = ((n * 0.618_033_988_749_895).fract(), (n * 0.754_877_666_246_693).fract());
            let (radius, sine) = (1e-3 * Real::exp(13.8 * u), if n % 2.0 == 0.0 { v * v * v } else { v });
            (radius * (1.0 - sine * sine).sqrt(), radius * sine)
        })
    }

    /// Largest relative errors of potential and force of the table against the direct sum.
    fn table_errors(expansion: &Expansion) -> (f64, f64) {
        places().fold((0.0, 0.0), |(phi, force), (r, z)| {
            let (fast, slow) = (expansion.gradient(r, z), expansion.direct.gradient(r, z));
            let size = slow.d_r.hypot(slow.d_z);
            let error = (fast.d_r - slow.d_r).hypot(fast.d_z - slow.d_z) / size;
            (f64::max(phi, (fast.phi / slow.phi - 1.0).abs()), f64::max(force, error))
        })
    }

    #[test]
    fn table_is_the_direct_sum() {
        // AGAMA's 50 radii are so far apart that its own quintics bend at each of them; the spline
        // rounds that off.
        for (build, most_phi, most_force) in
            [(Build::Converged, 2e-9, 3e-7), (Build::Agama, 2e-8, 4e-6), (Build::Authors, 2e-8, 4e-6)]
        {
            let milky_way = McMillan17::new(build);
            let (phi, force) = table_errors(milky_way.expansion());
            println!("{build:?}: table against direct sum: potential {phi:.1e}, force {force:.1e}");
            assert!(phi < most_phi && force < most_force, "{build:?}: {phi:e}, {force:e}");
            assert!(milky_way.expansion().thin.is_empty());
        }
    }

    #[test]
    fn table_ends_without_a_step() {
        let milky_way = McMillan17::new(Build::Converged);
        for edge in milky_way.expansion().table.ends() {
            for sine in [0.0, 0.01, 0.5, 1.0] {
                let at =
                    |radius: f64| milky_way.gradient(radius * f64::sqrt(1.0 - sine * sine), radius * sine);
                let (inside, outside) = (at(edge * (1.0 - 1e-12)), at(edge * (1.0 + 1e-12)));
                assert!((inside.phi / outside.phi - 1.0).abs() < 1e-10, "{edge} kpc: {inside:?} {outside:?}");
                let size = outside.d_r.hypot(outside.d_z);
                let step = (inside.d_r - outside.d_r).hypot(inside.d_z - outside.d_z);
                assert!(step < 1e-6 * size, "{edge} kpc: {inside:?} {outside:?}");
            }
        }
    }

    #[test]
    fn disc_too_thin_for_the_table_is_kept_outside_and_exact() {
        let disc = |zd| Disc::new(9e8, 2.5, 0.0, Layer::Exponential(zd)).unwrap();
        let both = Expansion::new(vec![disc(0.004), disc(0.3)], vec![]);
        assert_eq!(both.thin, vec![disc(0.004)]);
        let (phi, force) = table_errors(&both);
        println!("thin disc outside of the table: potential {phi:.1e}, force {force:.1e}");
        assert!(phi < 2e-8 && force < 1e-6, "{phi:e} {force:e}");
    }

    #[test]
    fn more_of_everything_changes_nothing_that_matters() {
        let milky_way = McMillan17::new(Build::Converged);
        let Matter { discs, spheroids } = milky_way.expansion().direct.matter.clone();
        let finer = Resolution {
            degree: 160,
            angles: Resolution::angles_to_plane(330),
            radii: (5e-6, 2e6),
            count: 300,
            between: 6,
            joined: Joined::TermByTerm,
        };
        let finer = Direct::new(Matter { discs, spheroids }, G, &finer);
        let mut worst = (0.0, 0.0);
        for (r, z) in places() {
            let (one, other) = (milky_way.gradient(r, z), finer.gradient(r, z));
            let size = other.d_r.hypot(other.d_z);
            worst.0 = f64::max(worst.0, (one.phi / other.phi - 1.0).abs());
            worst.1 = f64::max(worst.1, (one.d_r - other.d_r).hypot(one.d_z - other.d_z) / size);
        }
        println!("converged against finer: potential {:.1e}, force {:.1e}", worst.0, worst.1);
        assert!(worst.0 < 3e-8 && worst.1 < 1e-5, "{worst:?}");
    }
}
