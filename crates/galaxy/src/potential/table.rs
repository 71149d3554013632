//! A tabulated potential: the fast path.
//!
//! The table is even in x = ln r and in t, an angle that is cheap to compute and narrow near the
//! plane,
//!
//! t = (1 + d) |z| / (|z| + d (r + R)), from 0 in the plane to 1 on the axis,
//!
//! and holds the coefficients of a quintic B-spline in both. So the cell is found by arithmetic, a
//! value takes 6 x 6 numbers, the force is the exact gradient of the interpolated potential, and
//! both are smooth across cells (four continuous derivatives), which a high-order orbit integrator
//! needs.
//!
//! The samples continue beyond both ends in t: past the axis the angle comes back down on the other
//! side, and past the plane the formulas of the upper half are continued, so the spline does not
//! see the kink of an exponential disc in the plane.
//!
//! Measured on McMillan's Milky Way (`benches/potential.rs`; AVX2, points per second of CPU time,
//! random positions): 3.8e7 for potential and force, 5.4e7 for the potential alone, with a
//! difference of 2e-10 from the direct sum. What did not help:
//! - Discs as formulas beside a table of the multipoles: 1.5e7, since ten exponentials and
//!   logarithms per point cost more than all the rest.
//! - Turning the 36 numbers of each of the eight stars into 36 vectors of eight: 2.6e7. The numbers
//!   are stored one by one and loaded by the vector, which stalls. Instead the rows are summed star
//!   by star, as vectors along t, and only the 12 sums are turned.
//! - Unrolling the eight stars by hand instead of a loop: 2.9e7, since the compiler then
//!   interleaves them.
//! - Coarser or finer tables: half the radii or twice the angles change the speed by less than 5 %.

use super::Gradient;
use crate::real::{LANES, Lanes, Real};

/// The domain of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Smallest and largest radius, kpc.
    pub radii: (f64, f64),
}

/// Cells per factor of two in radius.
const PER_OCTAVE: usize = 16;
/// Cells from the plane to the axis. A constant, so that the offsets of a block's rows are known at
/// compile time.
const ANGLES: usize = 256;
/// The d of t: how narrow the cells near the plane are.
const NARROW: f64 = 0.25;

/// A function of (ln r, t) as quintic B-splines.
#[derive(Clone, Debug)]
pub(super) struct Table {
    first: f64,
    per_x: f64,
    /// Squared radii between which the table is valid.
    squares: (f64, f64),
    control: Vec<f64>,
}

/// Samples beyond each end, so that the effect of the boundary assumption dies out: 0.43^26 = 3e-10
/// of a slope there.
const MARGIN: usize = 26;
/// Control points beyond each end that a cell at the end needs.
const OVERLAP: usize = 3;

/// Length of a row of control points.
const STRIDE: usize = ANGLES + 8;
/// From the first control point of a block to its last: six rows, and eight of each for whole vectors.
const SPAN: usize = 5 * STRIDE + 8;

/// A number that can look up its own block of 6 x 6 control points.
pub(super) trait Block: Real {
    /// The sums over the block's rows, weighted by `a` and by `b`; `start` is the index of the
    /// block's first element.
    fn weigh_rows(start: Self, control: &[f64], a: &[Self; 6], b: &[Self; 6]) -> [[Self; 6]; 2];
}

impl Block for f64 {
    #[inline(always)]
    fn weigh_rows(start: f64, control: &[f64], a: &[f64; 6], b: &[f64; 6]) -> [[f64; 6]; 2] {
        let (x, y) = weigh(place(start), control, |m| (a[m], b[m]));
        [std::array::from_fn(|n| x[n]), std::array::from_fn(|n| y[n])]
    }
}

impl Block for Lanes {
    #[inline(always)]
    fn weigh_rows(start: Lanes, control: &[f64], a: &[Lanes; 6], b: &[Lanes; 6]) -> [[Lanes; 6]; 2] {
        let mut places = [0; LANES];
        for l in 0..LANES {
            places[l] = place(start.0[l]);
        }
        let mut lines = [([0.0; 8], [0.0; 8]); LANES];
        for l in 0..LANES {
            lines[l] = weigh(places[l], control, |m| (a[m].0[l], b[m].0[l]));
        }
        let mut sums = [[Lanes([0.0; LANES]); 6]; 2];
        for n in 0..6 {
            for l in 0..LANES {
                sums[0][n].0[l] = lines[l].0[n];
                sums[1][n].0[l] = lines[l].1[n];
            }
        }
        sums
    }
}

/// A whole number below 2^32 as an index, by its bits: one addition in all lanes at once.
#[inline(always)]
fn place(start: f64) -> usize {
    const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52: the whole number then stands in the low bits
    ((start + ROUNDER).to_bits() & 0xffff_ffff) as usize
}

#[inline(always)]
fn weigh(first: usize, control: &[f64], weights: impl Fn(usize) -> (f64, f64)) -> ([f64; 8], [f64; 8]) {
    let (mut x, mut y) = ([0.0; 8], [0.0; 8]);
    let first = first.min(control.len() - SPAN);
    let block = &control[first..first + SPAN];
    for m in 0..6 {
        let (a, b) = weights(m);
        for n in 0..8 {
            x[n] += a * block[m * STRIDE + n];
            y[n] += b * block[m * STRIDE + n];
        }
    }
    (x, y)
}

/// Value and derivatives along x and t, in units of cells.
struct Spline<T> {
    value: T,
    d_x: T,
    d_t: T,
}

/// The sine of the latitude at t.
fn sine(t: f64) -> f64 {
    let tau = NARROW * t / (1.0 + NARROW - t);
    2.0 * tau / (1.0 + tau * tau)
}

impl Grid {
    /// The sines of the latitudes to sample, including negative ones and ones past the axis.
    pub fn sines(&self) -> Vec<Lanes> {
        let columns = ANGLES + 1 + 2 * MARGIN;
        (0..columns.div_ceil(LANES))
            .map(|run| {
                Lanes(std::array::from_fn(|l| {
                    sine(((run * LANES + l) as f64 - MARGIN as f64) / ANGLES as f64)
                }))
            })
            .collect()
    }
}

impl Table {
    /// Tabulates `row`, which receives ln r and fills in the potential at the grid's
    /// [`sines`](Grid::sines).
    pub fn new(grid: &Grid, mut row: impl FnMut(f64, &mut [Lanes])) -> Self {
        let first = Real::ln(grid.radii.0);
        let octaves = (Real::ln(grid.radii.1) - first) * std::f64::consts::LOG2_E;
        let cells = (octaves * PER_OCTAVE as f64) as usize + 1;
        let step = std::f64::consts::LN_2 / PER_OCTAVE as f64;
        let (rows, columns) = (cells + 1 + 2 * MARGIN, ANGLES + 1 + 2 * MARGIN);
        // Row by row the samples, turned into coefficients along t at once; then along x.
        let mut coefficients = vec![vec![0.0; rows]; columns];
        let mut samples = vec![Lanes([0.0; LANES]); columns.div_ceil(LANES)];
        let mut line = vec![0.0; columns];
        for k in 0..rows {
            row(first + step * (k as f64 - MARGIN as f64), &mut samples);
            for (c, number) in line.iter_mut().enumerate() {
                *number = samples[c / LANES].0[c % LANES];
            }
            coefficients_of_samples(&mut line);
            for (column, &number) in coefficients.iter_mut().zip(&line) {
                column[k] = number;
            }
        }
        let (kept_rows, kept) = (cells + 2 * OVERLAP, ANGLES + 2 * OVERLAP);
        let mut control = vec![0.0; kept_rows * STRIDE];
        let drop = MARGIN + 1 - OVERLAP;
        for (c, column) in coefficients.iter_mut().enumerate() {
            coefficients_of_samples(column);
            if (drop..drop + kept).contains(&c) {
                for k in 0..kept_rows {
                    // The weights below lack their factors of 1/120.
                    control[k * STRIDE + c - drop] = column[k + drop] / 14_400.0;
                }
            }
        }
        let last = Real::exp(first + step * cells as f64);
        Self { first, per_x: 1.0 / step, squares: (grid.radii.0 * grid.radii.0, last * last), control }
    }

    /// Sines of latitudes where the table is least accurate, most of them near the plane.
    pub fn sines_between_columns() -> impl Iterator<Item = f64> {
        [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]
            .into_iter()
            .map(|column| sine((f64::from(column) + 0.5) / ANGLES as f64))
    }

    /// The smallest and the largest radius.
    #[cfg(test)]
    pub fn ends(&self) -> [f64; 2] {
        [self.squares.0.sqrt(), self.squares.1.sqrt()]
    }

    /// Whether the table is valid at a squared radius.
    #[inline(always)]
    pub fn holds(&self, square: f64) -> bool {
        square >= self.squares.0 && square < self.squares.1
    }

    /// The potential; `z` >= 0.
    #[inline(always)]
    pub fn value<T: Block>(&self, r: T, z: T) -> T {
        let square = r * r + z * z;
        let sum = square.sqrt() + r;
        let below = T::splat(1.0) / (z + sum * NARROW);
        let t = z * below * (1.0 + NARROW);
        let (start, u, v) = self.cell(square, t);
        let (wx, wt) = (weights(u), weights(v));
        let [line, _] = T::weigh_rows(start, &self.control, &wx, &wx);
        dot(&wt, &line)
    }

    /// The potential and its gradient; `z` >= 0.
    #[inline(always)]
    pub fn gradient<T: Block>(&self, r: T, z: T) -> Gradient<T> {
        let square = r * r + z * z;
        let radius = square.sqrt();
        let sum = radius + r;
        let below = T::splat(1.0) / (z + sum * NARROW);
        let inverse = T::splat(1.0) / radius;
        let t = z * below * (1.0 + NARROW);
        let s = self.spline(square, t);
        // t_R = -k z / r, t_z = k R / r.
        let k = sum * below * below * (NARROW * (1.0 + NARROW) * ANGLES as f64);
        let (along, across) = (s.d_x * inverse * self.per_x, s.d_t * k);
        Gradient {
            phi: s.value,
            d_r: (along * r - across * z) * inverse,
            d_z: (along * z + across * r) * inverse,
        }
    }

    #[inline(always)]
    fn spline<T: Block>(&self, square: T, t: T) -> Spline<T> {
        let (start, u, v) = self.cell(square, t);
        let (wx, wt) = (weights(u), weights(v));
        let (dx, dt) = (slopes(u), slopes(v));
        let [line, slope] = T::weigh_rows(start, &self.control, &wx, &dx);
        Spline { value: dot(&wt, &line), d_x: dot(&wt, &slope), d_t: dot(&dt, &line) }
    }

    /// The start of a point's block, and the point's position in its cell, from -1/2 to 1/2.
    #[inline(always)]
    fn cell<T: Block>(&self, square: T, t: T) -> (T, T, T) {
        let x = (square.ln() * 0.5 - self.first) * self.per_x;
        let y = t * ANGLES as f64;
        // The cell on the axis ends at the axis itself; rounding may leave the first radius just
        // below the table.
        let (i, j) = (x.floor().max(T::splat(0.0)), y.floor().min(T::splat(ANGLES as f64 - 1.0)));
        (i * STRIDE as f64 + j, x - i - 0.5, y - j - 0.5)
    }
}

#[inline(always)]
fn dot<T: Real>(a: &[T; 6], b: &[T; 6]) -> T {
    ((a[0] * b[0] + a[5] * b[5]) + (a[1] * b[1] + a[4] * b[4])) + (a[2] * b[2] + a[3] * b[3])
}

/// The six quintic B-splines, times 120, at `v` from the middle of a cell; they are mirror images
/// in pairs.
#[inline(always)]
fn weights<T: Real>(v: T) -> [T; 6] {
    let s = v * v;
    let far = ((s * 2.5 + 1.25) * s + 0.03125, ((s + 2.5) * s + 0.3125) * v);
    let mid = ((s * -7.5 + 26.25) * s + 7.40625, ((s * -5.0 + 7.5) * s + 23.4375) * v);
    let near = ((s * 5.0 - 27.5) * s + 52.5625, ((s * 10.0 - 35.0) * s + 48.125) * v);
    [far.0 - far.1, mid.0 - mid.1, near.0 - near.1, near.0 + near.1, mid.0 + mid.1, far.0 + far.1]
}

/// Derivatives of [`weights`].
#[inline(always)]
fn slopes<T: Real>(v: T) -> [T; 6] {
    let s = v * v;
    let far = ((s * 10.0 + 2.5) * v, (s * 5.0 + 7.5) * s + 0.3125);
    let mid = ((s * -30.0 + 52.5) * v, (s * -25.0 + 22.5) * s + 23.4375);
    let near = ((s * 20.0 - 55.0) * v, (s * 50.0 - 105.0) * s + 48.125);
    [far.0 - far.1, mid.0 - mid.1, near.0 - near.1, near.0 + near.1, mid.0 + mid.1, far.0 + far.1]
}

/// Turns samples into the coefficients of the quintic B-spline through them, as recursive filters with the
/// two poles of that spline (Unser, Aldroubi & Eden 1993); past the ends the samples are mirrored.
fn coefficients_of_samples(line: &mut [f64]) {
    const POLES: [f64; 2] = [-0.430_575_347_099_973_8, -0.043_096_288_203_264_65];
    let n = line.len();
    for pole in POLES {
        let gain = (1.0 - pole) * (1.0 - 1.0 / pole);
        let mut power = 1.0;
        let mut start = 0.0;
        for &sample in line.iter().take(44) {
            start += power * sample;
            power *= pole;
        }
        let mut before = start * gain;
        line[0] = before;
        for number in line[1..].iter_mut() {
            before = *number * gain + pole * before;
            *number = before;
        }
        let mut after = pole / (pole * pole - 1.0) * (line[n - 1] + pole * line[n - 2]);
        line[n - 1] = after;
        for number in line[..n - 1].iter_mut().rev() {
            after = pole * (after - *number);
            *number = after;
        }
    }
}
