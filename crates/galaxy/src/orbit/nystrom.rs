//! One step of the Runge-Kutta-Nystrom pair 8(6) of Dormand, El-Mikkawy & Prince (1987).
//!
//! A star's equation x'' = a(x) has no velocity on its right-hand side. A Nystrom method exploits
//! this and carries only accelerations through its stages: nine of them give order 8 in position
//! and velocity, and the ninth is the first of the next step, so a step costs eight evaluations;
//! the 8(5,3) pair of Dormand & Prince for any equation costs twelve.
//!
//! ```text
//! X_i = x + c_i h v + h^2 sum_j a_ij A_j,   A_i = a(X_i)
//! x'  = X_9,   v' = v + h sum_i b'_i A_i
//! ```
//!
//! The embedded solution of order 6 gives the error estimate. The coefficients are fractions,
//! written as published; the tests check the order conditions and the resulting order.

use crate::potential::{Gradient, Potential};
use crate::real::{LANES, Lanes, Real};

/// Evaluations of the force in a step; the first stage is known from the previous step.
pub(super) const EVALUATIONS: usize = 8;

const STAGES: usize = 9;

/// The times of the stages, as fractions of the step.
const C: [f64; STAGES] = [0.0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.0];

/// The weights of the earlier accelerations in each stage; the last row gives the new position.
const A: [[f64; STAGES - 1]; STAGES] = [
    [0.0; 8],
    [1.0 / 800.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0 / 600.0, 1.0 / 300.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [9.0 / 200.0, -9.0 / 100.0, 9.0 / 100.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-66_701.0 / 197_352.0, 28_325.0 / 32_892.0, -2_665.0 / 5_482.0, 2_170.0 / 24_669.0, 0.0, 0.0, 0.0, 0.0],
    [
        227_015_747.0 / 304_251_000.0,
        -54_897_451.0 / 30_425_100.0,
        12_942_349.0 / 10_141_700.0,
        -9_499.0 / 304_251.0,
        539.0 / 9_250.0,
        0.0,
        0.0,
        0.0,
    ],
    [
        -1_131_891_597.0 / 901_789_000.0,
        41_964_921.0 / 12_882_700.0,
        -6_663_147.0 / 3_220_675.0,
        270_954.0 / 644_135.0,
        -108.0 / 5_875.0,
        114.0 / 1_645.0,
        0.0,
        0.0,
    ],
    [
        13_836_959.0 / 3_667_458.0,
        -17_731_450.0 / 1_833_729.0,
        1_063_919_505.0 / 156_478_208.0,
        -33_213_845.0 / 39_119_552.0,
        13_335.0 / 28_544.0,
        -705.0 / 14_272.0,
        1_645.0 / 57_088.0,
        0.0,
    ],
    [
        223.0 / 7_938.0,
        0.0,
        1_175.0 / 8_064.0,
        925.0 / 6_048.0,
        41.0 / 448.0,
        925.0 / 14_112.0,
        1_175.0 / 72_576.0,
        0.0,
    ],
];

/// The weights of the accelerations in the new velocity; the ninth has none.
const B_VELOCITY: [f64; STAGES] = [
    223.0 / 7_938.0,
    0.0,
    5_875.0 / 36_288.0,
    4_625.0 / 21_168.0,
    41.0 / 224.0,
    4_625.0 / 21_168.0,
    5_875.0 / 36_288.0,
    223.0 / 7_938.0,
    0.0,
];

/// The position weights of order 6, for the error estimate.
const B_LOW: [f64; STAGES] = [
    7_987_313.0 / 109_941_300.0,
    0.0,
    1_610_737.0 / 44_674_560.0,
    10_023_263.0 / 33_505_920.0,
    -497_221.0 / 12_409_600.0,
    10_023_263.0 / 78_180_480.0,
    1_610_737.0 / 402_071_040.0,
    0.0,
    0.0,
];
const B_VELOCITY_LOW: [f64; STAGES] = [
    7_987_313.0 / 109_941_300.0,
    0.0,
    1_610_737.0 / 40_207_104.0,
    10_023_263.0 / 23_454_144.0,
    -497_221.0 / 6_204_800.0,
    10_023_263.0 / 23_454_144.0,
    1_610_737.0 / 40_207_104.0,
    -4_251_941.0 / 54_970_650.0,
    3.0 / 20.0,
];

const ERROR: [f64; STAGES] = {
    let mut e = [0.0; STAGES];
    let mut i = 0;
    while i < STAGES {
        e[i] = if i < STAGES - 1 { A[STAGES - 1][i] - B_LOW[i] } else { -B_LOW[i] };
        i += 1;
    }
    e
};
const ERROR_VELOCITY: [f64; STAGES] = {
    let mut e = [0.0; STAGES];
    let mut i = 0;
    while i < STAGES {
        e[i] = B_VELOCITY[i] - B_VELOCITY_LOW[i];
        i += 1;
    }
    e
};

/// One star, or one per lane.
pub(super) trait Wide: Real {
    /// How many stars.
    const WIDTH: usize;
    /// The number of lane `l`.
    fn lane(&self, l: usize) -> f64;
    /// Puts a number into lane `l`.
    fn set(&mut self, l: usize, x: f64);
    /// Potential and gradient at as many points.
    fn gradient(potential: &dyn Potential, r: &Self, z: &Self) -> Gradient<Self>;
}

impl Wide for f64 {
    const WIDTH: usize = 1;
    #[inline(always)]
    fn lane(&self, _: usize) -> f64 {
        *self
    }
    #[inline(always)]
    fn set(&mut self, _: usize, x: f64) {
        *self = x;
    }
    #[inline(always)]
    fn gradient(potential: &dyn Potential, r: &Self, z: &Self) -> Gradient {
        potential.gradient(*r, *z)
    }
}

impl Wide for Lanes {
    const WIDTH: usize = LANES;
    #[inline(always)]
    fn lane(&self, l: usize) -> f64 {
        self.0[l]
    }
    #[inline(always)]
    fn set(&mut self, l: usize, x: f64) {
        self.0[l] = x;
    }
    #[inline(always)]
    fn gradient(potential: &dyn Potential, r: &Self, z: &Self) -> Gradient<Self> {
        potential.gradients(r, z)
    }
}

/// A star's position, velocity and acceleration.
#[derive(Clone, Copy, Debug)]
pub(super) struct State<T> {
    pub x: [T; 3],
    pub v: [T; 3],
    pub a: [T; 3],
    pub phi: T,
}

impl<T: Wide> State<T> {
    pub fn new(potential: &dyn Potential, x: [T; 3], v: [T; 3]) -> Self {
        let (a, phi) = acceleration(potential, &x);
        Self { x, v, a, phi }
    }

    /// Kinetic and potential energy.
    #[inline(always)]
    pub fn energy(&self) -> T {
        square(&self.v) * 0.5 + self.phi
    }

    /// This where the mask holds, else `other`.
    #[inline(always)]
    pub fn or(&self, mask: T::Mask, other: &Self) -> Self {
        let mut picked = *other;
        for c in 0..3 {
            picked.x[c] = T::select(mask, self.x[c], other.x[c]);
            picked.v[c] = T::select(mask, self.v[c], other.v[c]);
            picked.a[c] = T::select(mask, self.a[c], other.a[c]);
        }
        picked.phi = T::select(mask, self.phi, other.phi);
        picked
    }
}

#[inline(always)]
pub(super) fn square<T: Real>(u: &[T; 3]) -> T {
    u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
}

/// On the axis, where the radial direction is undefined, the force has no radial component.
#[inline(always)]
fn acceleration<T: Wide>(potential: &dyn Potential, x: &[T; 3]) -> ([T; 3], T) {
    let r = (x[0] * x[0] + x[1] * x[1]).sqrt();
    let gradient = T::gradient(potential, &r, &x[2]);
    let inward = -gradient.d_r / r.max(T::splat(1e-150));
    ([inward * x[0], inward * x[1], -gradient.d_z], gradient.phi)
}

/// A step, not yet accepted.
pub(super) struct Attempt<T> {
    pub next: State<T>,
    pub error_x: [T; 3],
    pub error_v: [T; 3],
}

/// The accelerations of the stages. Kept from step to step only to reuse the memory.
pub(super) type Stages<T> = [[T; 3]; STAGES];

pub(super) fn stages<T: Real>() -> Stages<T> {
    [[T::splat(0.0); 3]; STAGES]
}

/// Takes a step of `h` from `from`.
///
/// Uses plain loops, because `array::from_fn` and `map` are not always inlined and then lose the
/// caller's vector instructions.
#[inline(always)]
pub(super) fn step<T: Wide>(
    potential: &dyn Potential,
    from: &State<T>,
    h: T,
    stages: &mut Stages<T>,
) -> Attempt<T> {
    let h2 = h * h;
    stages[0] = from.a;
    let mut next = *from;
    for i in 1..STAGES {
        for c in 0..3 {
            let mut sum = stages[0][c] * A[i][0];
            for j in 1..i {
                sum += stages[j][c] * A[i][j];
            }
            next.x[c] = from.x[c] + (h * from.v[c] * C[i] + h2 * sum);
        }
        (stages[i], next.phi) = acceleration(potential, &next.x);
    }
    let (mut error_x, mut error_v) = (next.x, next.x);
    for c in 0..3 {
        let first = stages[0][c];
        let (mut gain, mut low, mut low_v) =
            (first * B_VELOCITY[0], first * ERROR[0], first * ERROR_VELOCITY[0]);
        for i in 2..STAGES {
            // The second stage has no weight in any of them.
            let a = stages[i][c];
            gain += a * B_VELOCITY[i];
            low += a * ERROR[i];
            low_v += a * ERROR_VELOCITY[i];
        }
        next.v[c] = from.v[c] + h * gain;
        error_x[c] = h2 * low;
        error_v[c] = h * low_v;
    }
    next.a = stages[STAGES - 1];
    Attempt { next, error_x, error_v }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::potential::Kepler;

    /// Quadrature with weights b must integrate powers of the stages' times up to the order: sum b c^k =
    /// `moment(k)`.
    fn integrates(weights: &[f64; STAGES], order: i32, moment: impl Fn(f64) -> f64) {
        for k in 0..order {
            let sum: f64 = (0..STAGES).map(|i| weights[i] * C[i].powi(k)).sum();
            assert!((sum - moment(f64::from(k))).abs() < 1e-14, "k = {k}: {sum}");
        }
    }

    #[test]
    fn coefficients_satisfy_the_conditions_of_their_order() {
        for i in 0..STAGES {
            let row: f64 = A[i].iter().sum();
            assert!((row - 0.5 * C[i] * C[i]).abs() < 2e-15, "stage {i}: {row}");
        }
        let mut b = [0.0; STAGES];
        b[..STAGES - 1].copy_from_slice(&A[STAGES - 1]);
        integrates(&b, 7, |k| 1.0 / ((k + 1.0) * (k + 2.0)));
        integrates(&B_VELOCITY, 8, |k| 1.0 / (k + 1.0));
        integrates(&B_LOW, 5, |k| 1.0 / ((k + 1.0) * (k + 2.0)));
        integrates(&B_VELOCITY_LOW, 6, |k| 1.0 / (k + 1.0));
        // sum_ij b'_i c_i^m a_ij c_j^k = 1 / ((k + 1) (k + 2) (m + k + 3)), of order m + k + 3.
        for (weights, order) in [(&B_VELOCITY, 8), (&B_VELOCITY_LOW, 6)] {
            for m in 0..=order - 3 {
                for k in 0..=order - 3 - m {
                    let mut sum = 0.0;
                    for i in 0..STAGES {
                        for j in 0..i {
                            sum += weights[i] * C[i].powi(m) * A[i][j] * C[j].powi(k);
                        }
                    }
                    let (m, k) = (f64::from(m), f64::from(k));
                    let truth = 1.0 / ((k + 1.0) * (k + 2.0) * (m + k + 3.0));
                    assert!((sum - truth).abs() < 1e-14, "order {order}, m {m}, k {k}: {sum} not {truth}");
                }
            }
        }
    }

    /// Position after one turn on an ellipse of eccentricity 0.3 in steps of equal length, less
    /// where it began; and the largest estimate of a step's error.
    fn after_a_turn(steps: usize) -> (f64, f64) {
        let potential = Kepler::new(1.0 / crate::units::G).unwrap();
        let x = [0.7, 0.0, 0.0];
        let v = [0.0, (1.3_f64 / 0.7).sqrt() * 0.6, (1.3_f64 / 0.7).sqrt() * 0.8];
        let mut state = State::<f64>::new(&potential, x, v);
        let mut estimate = 0.0_f64;
        for _ in 0..steps {
            let attempt = step(&potential, &state, std::f64::consts::TAU / steps as f64, &mut stages());
            estimate = estimate.max(square(&attempt.error_v).sqrt());
            state = attempt.next;
        }
        let miss = square(&[state.x[0] - x[0], state.x[1] - x[1], state.x[2] - x[2]]).sqrt();
        (miss, estimate)
    }

    #[test]
    fn the_error_falls_with_the_eighth_power_of_the_step_and_its_estimate_with_the_seventh() {
        let runs = [40, 80, 160].map(after_a_turn);
        for pair in runs.windows(2) {
            let order = (pair[0].0 / pair[1].0).log2();
            let estimated = (pair[0].1 / pair[1].1).log2();
            println!(
                "errors {:.2e} {:.2e}: order {order:.2}, of the estimate {estimated:.2}",
                pair[0].0, pair[1].0
            );
            assert!((7.7..9.5).contains(&order), "order {order}");
            assert!((6.5..8.0).contains(&estimated), "order of the estimate {estimated}");
        }
    }
}
