//! Roots of eight functions in lock-step: Chandrupatla's method.
//!
//! A bracket is maintained; the next point comes from inverse quadratic interpolation through the
//! last three points where that is safe (T. R. Chandrupatla 1997, Adv. Eng. Software 28, 145),
//! otherwise from bisection. The first point is that of the chord, since the functions of the fudge
//! are nearly linear in the variables chosen for them. The last step is not checked: once steps are
//! as short as the tolerance, the interpolation is far more accurate than that.

use super::lockstep::Lockstep;

/// Maximum number of steps: more than bisection needs from the widest bracket to the last bit.
const MOST_STEPS: usize = 80;

/// Finds where `f` crosses zero between `a` and `b`; `tolerance` is the relative length of a step
/// not worth checking.
///
/// If the values at both ends have the same sign, returns the end with the smaller magnitude.
#[inline(always)]
pub(super) fn solve<T: Lockstep>(
    (a, at_a): (T, T),
    (b, at_b): (T, T),
    tolerance: f64,
    mut f: impl FnMut(T) -> T,
) -> T {
    let zero = T::splat(0.0);
    let (mut x1, mut f1, mut x2, mut f2) = (b, at_b, a, at_a);
    let mut root = T::select(at_a.abs().less(at_b.abs()), a, b);
    let mut active = (at_a * at_b).less(zero);
    let mut step = (x2 - x1) * (f1 / T::select(active, f1 - f2, T::splat(1.0)));
    for count in 0..MOST_STEPS {
        let x = x1 + step;
        let best = T::select(f1.abs().less(f2.abs()), x1, x2);
        root = T::select(active, x, root);
        if count > 1 {
            let far = (x.abs() * tolerance).less((x - best).abs());
            active = T::both(active, far);
        }
        if !T::any(active) {
            break;
        }
        let value = f(root);
        // An exact zero ends the search.
        active = T::both(active, T::either(value.less(zero), zero.less(value)));
        let same = zero.less(value * f1);
        let (x3, f3) = (T::select(same, x1, x2), T::select(same, f1, f2));
        (x2, f2) = (T::select(same, x2, x1), T::select(same, f2, f1));
        (x1, f1) = (x, value);
        let (span, spread) = (x3 - x2, f3 - f2);
        let xi = (x1 - x2) / span;
        let phi = (f1 - f2) / spread;
        let (xi_rest, phi_rest) = (-xi + 1.0, -phi + 1.0);
        let smooth = T::both((phi * phi).less(xi), (phi_rest * phi_rest).less(xi_rest));
        let middle = (x2 - x1) * 0.5;
        // The interpolation's fraction of the bracket, measured from x1.
        let t = (f1 / (f2 - f1)) * (f3 / (f2 - f3))
            + ((x3 - x1) / (x2 - x1)) * (f1 / (f3 - f1)) * (f2 / (f3 - f2));
        let inside = T::both(smooth, T::both(zero.less(t), t.less(T::splat(1.0))));
        step = T::select(inside, (x2 - x1) * t, middle);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::{LANES, Lanes, Real};

    #[test]
    fn few_evaluations_reach_twelve_digits() {
        let mut count = 0;
        let f = |x: f64| x * x * x - 2.0 * x - 5.0;
        let root = solve((1.0, f(1.0)), (4.0, f(4.0)), 1e-7, |x: f64| {
            count += 1;
            f(x)
        });
        assert!((root - 2.094_551_481_542_326_6).abs() < 1e-12, "{root}");
        assert!(count <= 9, "{count} evaluations");
    }

    #[test]
    fn lanes_give_the_bytes_of_single_roots_whatever_their_neighbours() {
        let c = Lanes(std::array::from_fn(|l| 0.3 + (l * l) as f64 * 7.0));
        let lanes = solve((Lanes::splat(0.0), -c), (c + 1.0, (c + 1.0) * (c + 1.0) - c), 1e-7, |x| x * x - c);
        for l in 0..LANES {
            let c = c.0[l];
            let one = solve((0.0, -c), (c + 1.0, (c + 1.0) * (c + 1.0) - c), 1e-7, |x: f64| x * x - c);
            assert_eq!(one.to_bits(), lanes.0[l].to_bits());
            assert!((one - c.sqrt()).abs() < 1e-12 * one);
        }
    }

    #[test]
    fn a_zero_at_an_end_is_the_root() {
        assert_eq!(solve((0.0, 0.0), (4.0, 3.0), 1e-7, |x: f64| x), 0.0);
        assert_eq!(solve((0.0, -1.0), (4.0, 0.0), 1e-7, |x: f64| x), 4.0);
    }

    #[test]
    fn a_root_far_smaller_than_the_bracket_keeps_its_relative_accuracy() {
        let f = |x: f64| (1.0 - 0.1 * x) * x - 1e-14;
        let root = solve((0.0, f(0.0)), (1.0, f(1.0)), 1e-7, f);
        assert!((root / 1e-14 - 1.0).abs() < 1e-9, "{root}");
    }
}
