//! The focal distance for an energy and Lz: a table over shell orbits.
//!
//! The fudge needs a focal distance D for every star. D is that of the [shell orbit](super::shell)
//! with the star's energy and Lz, tabulated over xi = ln(1/Phi(0) - 1/E) and chi, where Lz /
//! Lcirc(E) = chi^2 (3 - 2 chi), which concentrates the nodes where D changes most. The
//! [variant](super::Variant) determines the nodes and the interpolation between them: AGAMA's nodes
//! are few and interpolated bilinearly, so its actions carry the table's error (4e-4 in the median,
//! 1e-2 at most); the converged table is finer and bicubic in D^2.

use rayon::prelude::*;

use super::circular::{Circular, CircularOrbits, Profile};
use super::lockstep::Lockstep;
use super::shell::{Shell, shell_orbit};
use super::{ActionError, Variant, energy_nodes};
use crate::potential::Potential;
use crate::real::{LANES, Lanes, Real};

/// Nodes in chi.
const SPINS: usize = 25;
/// Nodes in energy of the converged table, evenly in the logarithm of the radius.
const FINE_ENERGIES: usize = 128;
/// The radial range of the converged table, kpc; beyond it, D keeps its value at the end.
const FINE_RADII: [f64; 2] = [1e-3, 1e3];

/// What the fudge needs to know about an orbit before it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess<T> {
    /// D^2, not negative.
    pub(super) delta: T,
    /// The radius at which the shell orbit of this energy and Lz crosses the plane.
    pub(super) shell: T,
    /// The radius of zero velocity in the plane.
    pub(super) reach: T,
    /// The circular orbit's angular momentum.
    pub(super) spin: T,
}

/// The table D(E, Lz).
#[derive(Debug)]
pub struct FocalDistances {
    circular: CircularOrbits,
    /// xi of the energy nodes (planes) or ln of their radii (cubics), ascending.
    nodes: Vec<f64>,
    energies: Vec<f64>,
    /// Per node, D^2 and the shell orbit's radius as a fraction of the reach; chi varies fastest.
    values: Vec<[f64; 2]>,
    between: Between,
    chi: [f64; SPINS],
}

#[derive(Debug)]
enum Between {
    /// Bilinear in D over (xi, chi).
    Planes,
    /// Bicubic in D^2 over (ln reach, chi): the corner's D^2 with its slopes along both and their product,
    /// four corners.
    Cubics(Vec<[f64; 16]>),
}

impl FocalDistances {
    /// Computes the shell orbits at all nodes, on all threads of the pool.
    pub fn new(potential: &dyn Potential, variant: Variant) -> Result<Self, ActionError> {
        let profile = Profile::new(potential)?;
        let circular = CircularOrbits::new(&profile)?;
        let ln_radii: Vec<f64> = match variant {
            Variant::Authors => energy_nodes::AUTHORS.to_vec(),
            Variant::Agama => energy_nodes::AGAMA.to_vec(),
            Variant::Converged => {
                let [from, to] = FINE_RADII.map(Real::ln);
                let step = (to - from) / (FINE_ENERGIES - 1) as f64;
                (0..FINE_ENERGIES).map(|i| from + step * i as f64).collect()
            }
        };
        let chi: [f64; SPINS] = std::array::from_fn(|j| ease(j as f64 / (SPINS - 1) as f64));
        let reach: Vec<f64> = ln_radii.iter().map(|x| Real::exp(*x)).collect();
        let energies: Vec<f64> = reach.iter().map(|r| potential.value(*r, 0.0)).collect();
        // Eight energies at a time: the groups are the same at any number of threads.
        let starts: Vec<usize> = (0..energies.len()).step_by(LANES).collect();
        let groups: Vec<Vec<[Shell<f64>; SPINS]>> = starts
            .par_iter()
            .map(|&start| {
                let pick =
                    |from: &[f64]| Lanes(std::array::from_fn(|l| from[(start + l).min(from.len() - 1)]));
                let (energy, reach) = (pick(&energies), pick(&reach));
                let round = Lanes(energy.0.map(|e| profile.circular_radius(e)));
                let shells = shells_of(potential, energy, round, reach, &chi);
                let count = LANES.min(energies.len() - start);
                (0..count)
                    .map(|l| {
                        std::array::from_fn(|j| Shell {
                            radius: shells[j].radius.0[l],
                            delta: shells[j].delta.0[l],
                        })
                    })
                    .collect()
            })
            .collect();
        let values: Vec<[f64; 2]> = groups
            .iter()
            .flatten()
            .zip(&reach)
            .flat_map(|(row, reach)| row.iter().map(move |s| [s.delta, s.radius / reach]))
            .collect();
        let (nodes, between) = match variant {
            Variant::Converged => {
                let cells = bicubic_cells(&values, ln_radii.len(), &chi);
                (ln_radii, Between::Cubics(cells))
            }
            _ => (energies.iter().map(|e| circular.xi(*e)).collect(), Between::Planes),
        };
        Ok(Self { circular, nodes, energies, values, between, chi })
    }

    /// The focal distance D in kpc for an energy below 0 ((km/s)^2) and an angular momentum (kpc km/s).
    pub fn focal_distance(&self, energy: f64, lz: f64) -> f64 {
        self.lookup(energy, lz.abs()).delta.sqrt()
    }

    /// The nodes: energy, Lz / Lcirc and D in kpc.
    pub fn nodes(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        self.values.iter().enumerate().map(|(i, value)| {
            let (energy, chi) = (self.energies[i / SPINS], self.chi[i % SPINS]);
            [energy, ease(chi), value[0].max(0.0).sqrt()]
        })
    }

    #[inline(always)]
    pub(super) fn lookup<T: Lockstep>(&self, energy: T, lz: T) -> Guess<T> {
        let circular = self.circular.at(energy);
        let chi = ease_back((lz / circular.spin).min(T::splat(1.0)));
        let reach = circular.ln_reach.exp();
        let (delta, shell) = match &self.between {
            Between::Planes => self.planes(&circular, chi),
            Between::Cubics(cells) => self.cubics(cells, &circular, chi),
        };
        Guess { delta, shell: shell * reach, reach, spin: circular.spin }
    }

    /// Where chi lies among its nodes: the cell and the fraction within.
    #[inline(always)]
    fn chi_cell<T: Lockstep>(&self, chi: T) -> (T, T, T) {
        // The nodes are eased from even steps, so the cell is found by inverting the easing.
        let guess = (ease_back(chi) * (SPINS - 1) as f64).floor().min(T::splat((SPINS - 2) as f64));
        let low = ease(guess / (SPINS - 1) as f64);
        let high = ease((guess + 1.0) / (SPINS - 1) as f64);
        let t = ((chi - low) / (high - low)).max(T::splat(0.0)).min(T::splat(1.0));
        (guess, t, high - low)
    }

    #[inline(always)]
    fn planes<T: Lockstep>(&self, circular: &Circular<T>, chi: T) -> (T, T) {
        let rows = self.nodes.len();
        let row =
            circular.xi.each(|xi| (self.nodes.partition_point(|x| *x <= xi).clamp(1, rows - 1) - 1) as f64);
        let [from, to] = [row, row + 1.0].map(|r| r.each(|r| self.nodes[r as usize]));
        let s = ((circular.xi - from) / (to - from)).max(T::splat(0.0)).min(T::splat(1.0));
        let (column, t, _) = self.chi_cell(chi);
        let corner =
            |i: f64, j: f64| -> [T; 2] { T::rows((row + i) * SPINS as f64 + column + j, &self.values) };
        let corners = [corner(0.0, 0.0), corner(0.0, 1.0), corner(1.0, 0.0), corner(1.0, 1.0)];
        let mix = |v: [T; 4]| {
            let near = v[0] + (v[1] - v[0]) * t;
            let far = v[2] + (v[3] - v[2]) * t;
            near + (far - near) * s
        };
        let d = mix(corners.map(|c| c[0].max(T::splat(0.0)).sqrt()));
        (d * d, mix(corners.map(|c| c[1])))
    }

    #[inline(always)]
    fn cubics<T: Lockstep>(&self, cells: &[[f64; 16]], circular: &Circular<T>, chi: T) -> (T, T) {
        let rows = self.nodes.len();
        let place = (circular.ln_reach - self.nodes[0]) / (self.nodes[1] - self.nodes[0]);
        let place = place.max(T::splat(0.0)).min(T::splat((rows - 1) as f64));
        let row = place.floor().min(T::splat((rows - 2) as f64));
        let s = place - row;
        let (column, t, _) = self.chi_cell(chi);
        let c: [T; 16] = T::rows(row * (SPINS - 1) as f64 + column, cells);
        let (fs, ft) = (hermite(s), hermite(t));
        let mut delta = T::splat(0.0);
        for i in 0..4 {
            let along = c[4 * i] * ft[0] + c[4 * i + 1] * ft[1] + c[4 * i + 2] * ft[2] + c[4 * i + 3] * ft[3];
            delta += along * fs[i];
        }
        let corner = |i: f64, j: f64| -> T {
            let [_, shell]: [T; 2] = T::rows((row + i) * SPINS as f64 + column + j, &self.values);
            shell
        };
        let near = corner(0.0, 0.0) + (corner(0.0, 1.0) - corner(0.0, 0.0)) * t;
        let far = corner(1.0, 0.0) + (corner(1.0, 1.0) - corner(1.0, 0.0)) * t;
        (delta.max(T::splat(0.0)), near + (far - near) * s)
    }
}

/// The weights of value and slope at 0, value and slope at 1.
#[inline(always)]
fn hermite<T: Lockstep>(t: T) -> [T; 4] {
    let u = -t + 1.0;
    [u * u * (t * 2.0 + 1.0), u * u * t, t * t * (u * 2.0 + 1.0), -(t * t * u)]
}

/// u(s) = s^2 (3 - 2 s).
#[inline(always)]
fn ease<T: Real>(s: T) -> T {
    s * s * (s * -2.0 + 3.0)
}

/// The s in [0, 1] with s^2 (3 - 2 s) = y, by Halley's method.
#[inline(always)]
fn ease_back<T: Real>(y: T) -> T {
    // Symmetric about (1/2, 1/2): solve in the lower half, where s is about sqrt(y / 3).
    let upper = T::splat(0.5).less(y);
    let y = T::select(upper, -y + 1.0, y).max(T::splat(0.0));
    let root = (y / 3.0).sqrt();
    let mut s = root * (root * 0.38 + 1.0);
    for _ in 0..3 {
        let f = ease(s) - y;
        let slope = s * (-s + 1.0) * 6.0;
        let bend = s * -12.0 + 6.0;
        let bottom = slope * slope * 2.0 - f * bend;
        s -= f * slope * 2.0 / bottom.max(T::splat(f64::MIN_POSITIVE));
    }
    T::select(upper, -s + 1.0, s)
}

/// The shell orbits of eight energies at all chi, from the circular one inwards: each starts from
/// an extrapolation of the last two.
fn shells_of(
    potential: &dyn Potential,
    energy: Lanes,
    round: Lanes,
    reach: Lanes,
    chi: &[f64; SPINS],
) -> [Shell<Lanes>; SPINS] {
    let force = Lanes::gradient(potential, round, Lanes::splat(0.0)).d_r;
    let spin = round * (round * force).sqrt();
    let mut shells = [Shell { radius: round, delta: Lanes::splat(0.0) }; SPINS];
    for j in (1..SPINS - 1).rev() {
        let guess = if j + 2 < SPINS {
            let slope = (shells[j + 1].radius - shells[j + 2].radius) / (chi[j + 1] - chi[j + 2]);
            shells[j + 1].radius + slope * (chi[j] - chi[j + 1])
        } else {
            round
        };
        shells[j] = shell_orbit(potential, [energy, spin * ease(chi[j])], [round, reach], guess);
    }
    // On the axis and for the circular orbit itself there is no shell to search for.
    shells[0] = shells[1];
    shells[SPINS - 1].delta = shells[SPINS - 2].delta;
    shells
}

/// Bicubic cells of D^2 over even ln reach and the nodes of chi, slopes by differences.
fn bicubic_cells(values: &[[f64; 2]], rows: usize, chi: &[f64; SPINS]) -> Vec<[f64; 16]> {
    let at = |i: usize, j: usize| values[i * SPINS + j][0];
    // Per step in ln reach, to fourth order except at the ends.
    let along_energy = |f: &dyn Fn(usize, usize) -> f64, i: usize, j: usize| match i {
        0 => f(1, j) - f(0, j),
        i if i + 1 == rows => f(i, j) - f(i - 1, j),
        i if i == 1 || i + 2 == rows => (f(i + 1, j) - f(i - 1, j)) / 2.0,
        _ => ((f(i - 2, j) - f(i + 2, j)) + 8.0 * (f(i + 1, j) - f(i - 1, j))) / 12.0,
    };
    // Per unit of chi. The first and last column are copies of their neighbours: D is even there.
    let along_chi = |i: usize, j: usize| {
        if j == 0 || j + 1 == SPINS {
            return 0.0;
        }
        let (h0, h1) = (chi[j] - chi[j - 1], chi[j + 1] - chi[j]);
        let (s0, s1) = ((at(i, j) - at(i, j - 1)) / h0, (at(i, j + 1) - at(i, j)) / h1);
        (s0 * h1 + s1 * h0) / (h0 + h1)
    };
    let mut cells = Vec::with_capacity((rows - 1) * (SPINS - 1));
    for i in 0..rows - 1 {
        for j in 0..SPINS - 1 {
            let h = chi[j + 1] - chi[j];
            let corner = |i: usize, j: usize| {
                [
                    [at(i, j), along_chi(i, j) * h],
                    [along_energy(&at, i, j), along_energy(&along_chi, i, j) * h],
                ]
            };
            let mut cell = [0.0; 16];
            for (di, dj) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let c = corner(i + di, j + dj);
                for along in 0..2 {
                    for across in 0..2 {
                        cell[4 * (2 * di + along) + 2 * dj + across] = c[along][across];
                    }
                }
            }
            cells.push(cell);
        }
    }
    cells
}
