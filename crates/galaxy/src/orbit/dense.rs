//! Dense output: the orbit within a step.
//!
//! A step of half the length from the same start gives the middle to order 8. Position, velocity and
//! acceleration at both ends and in the middle are nine conditions: one polynomial of degree 8 satisfies
//! them, with an error that falls with the ninth power of the step in position and the eighth in
//! velocity. It costs eight evaluations for a step in which output is requested, however many times
//! are requested in it, and nothing in other steps.

use super::nystrom::State;

/// The polynomial of a step, in u from -1 (start) to 1 (end).
pub(super) struct Between {
    /// Half the step.
    half: f64,
    /// Coefficients of u^0 .. u^8 for x, y, z.
    powers: [[f64; 9]; 3],
}

impl Between {
    pub fn new(begin: &State<f64>, middle: &State<f64>, end: &State<f64>, step: f64) -> Self {
        let half = 0.5 * step;
        let h2 = half * half;
        let powers = std::array::from_fn(|c| {
            let (x0, v0, a0) = (begin.x[c], begin.v[c] * half, begin.a[c] * h2);
            let (x1, v1, a1) = (middle.x[c], middle.v[c] * half, middle.a[c] * h2);
            let (x2, v2, a2) = (end.x[c], end.v[c] * half, end.a[c] * h2);
            let second = 0.5 * a1;
            // Even powers 4, 6, 8 from the even part at u = 1, odd powers 3, 5, 7 from the odd part.
            let e0 = 0.5 * (x0 + x2) - x1 - second;
            let e1 = 0.5 * (v2 - v0) - a1;
            let e2 = 0.5 * (a2 + a0) - a1;
            let c8 = (e2 - 9.0 * e1 + 24.0 * e0) / 8.0;
            let c6 = 0.5 * (e1 - 4.0 * e0) - 2.0 * c8;
            let o0 = 0.5 * (x2 - x0) - v1;
            let o1 = 0.5 * (v2 + v0) - v1;
            let o2 = 0.5 * (a2 - a0);
            let c7 = (o2 - 7.0 * o1 + 15.0 * o0) / 8.0;
            let c5 = 0.5 * (o1 - 3.0 * o0) - 2.0 * c7;
            [x1, v1, second, o0 - c5 - c7, e0 - c6 - c8, c5, c6, c7, c8]
        });
        Self { half, powers }
    }

    /// Position and velocity at the time `t` after the start of the step.
    pub fn at(&self, t: f64) -> ([f64; 3], [f64; 3]) {
        let u = t / self.half - 1.0;
        let (mut x, mut v) = ([0.0; 3], [0.0; 3]);
        for c in 0..3 {
            for k in (0..9).rev() {
                v[c] = v[c] * u + x[c];
                x[c] = x[c] * u + self.powers[c][k];
            }
        }
        (x, v.map(|v| v / self.half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orbit::nystrom;
    use crate::potential::Kepler;

    #[test]
    fn a_motion_of_degree_eight_is_met_exactly() {
        // x(t) = sum k t^k / 10^k and its derivatives, at 0, 1, 2 for a step of 2.
        let motion = |t: f64| {
            let (mut x, mut v, mut a) = (0.0, 0.0, 0.0);
            for k in 0..9i32 {
                let (f, weight) = (f64::from(k), f64::from(k) / 10f64.powi(k));
                x += weight * t.powi(k);
                if k >= 1 {
                    v += weight * f * t.powi(k - 1);
                }
                if k >= 2 {
                    a += weight * f * (f - 1.0) * t.powi(k - 2);
                }
            }
            State { x: [x, -x, 0.0], v: [v, -v, 0.0], a: [a, -a, 0.0], phi: 0.0 }
        };
        let between = Between::new(&motion(0.0), &motion(1.0), &motion(2.0), 2.0);
        for t in [0.0, 0.3, 1.0, 1.7, 2.0] {
            let (x, v) = between.at(t);
            let truth = motion(t);
            assert!((x[0] - truth.x[0]).abs() < 1e-14 && (x[1] - truth.x[1]).abs() < 1e-14);
            assert!((v[0] - truth.v[0]).abs() < 1e-14, "{t}: {v:?} not {:?}", truth.v);
        }
    }

    #[test]
    fn the_error_between_steps_falls_with_the_ninth_power_of_the_step() {
        let potential = Kepler::new(1.0 / crate::units::G).unwrap();
        let begin = State::<f64>::new(&potential, [1.0, 0.0, 0.0], [0.0, 0.9, 0.3]);
        let step =
            |from: &State<f64>, h: f64| nystrom::step(&potential, from, h, &mut nystrom::stages()).next;
        // Largest error at eight places of a step; the truth is made of a hundred small steps.
        let error = |h: f64| {
            let (middle, end) = (step(&begin, 0.5 * h), step(&begin, h));
            let between = Between::new(&begin, &middle, &end, h);
            let mut worst = [0.0_f64; 2];
            for place in 1..=8 {
                let t = h * f64::from(place) / 8.5;
                let truth = (0..100).fold(begin, |state, _| step(&state, t / 100.0));
                let (x, v) = between.at(t);
                for c in 0..3 {
                    worst[0] = worst[0].max((x[c] - truth.x[c]).abs());
                    worst[1] = worst[1].max((v[c] - truth.v[c]).abs());
                }
            }
            worst
        };
        let (long, short) = (error(0.8), error(0.4));
        let orders = [(long[0] / short[0]).log2(), (long[1] / short[1]).log2()];
        println!("orders of position {:.2} and velocity {:.2}", orders[0], orders[1]);
        assert!(orders[0] > 8.5 && orders[1] > 7.5, "{orders:?}");
    }
}
