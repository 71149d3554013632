//! Arithmetic on one number, or on eight at once.
//!
//! Everything hot in this crate (potential, fudge, orbit steps) is written once, generically over
//! [`Real`], and runs either on one `f64` or on [`Lanes`], eight stars side by side. Both give
//! bitwise identical results: the operations are the same IEEE ones, and `exp` and `ln` come from
//! [`goc::elementary`] rather than from the system's library, whose last digit may differ between
//! machines. Fused multiply-add is avoided for the same reason.
//!
//! The functions are `#[inline(always)]`, so that they take on the vector instructions of a caller
//! compiled by `#[multiversion]`. Branches become [`Real::select`].

use goc::elementary::{exp, ln_normal};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// How many numbers [`Lanes`] holds: one AVX-512 register, two of AVX2.
pub const LANES: usize = 8;

/// Eight numbers processed in lock-step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub struct Lanes(pub [f64; LANES]);

/// The operations that the formulas of this crate need.
pub trait Real:
    Copy
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// The result of a comparison.
    type Mask: Copy;

    /// The same number in every lane.
    fn splat(x: f64) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// The larger one; the other where one is NaN.
    fn max(self, other: Self) -> Self;
    /// The smaller one; the other where one is NaN.
    fn min(self, other: Self) -> Self;
    /// The exponential; 0 below -700, infinity above 709. Within 1 unit in the last place.
    fn exp(self) -> Self;
    /// The natural logarithm of a positive normal number. Within 1 unit in the last place.
    fn ln(self) -> Self;
    /// Where this is smaller.
    fn less(self, than: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Each lane's own row of a table: `cell` holds whole numbers below `rows.len()`; others are clamped.
    fn rows<const N: usize>(cell: Self, rows: &[[f64; N]]) -> [Self; N];
    /// The largest integer not above this, for magnitudes below 2^51.
    fn floor(self) -> Self;
}

impl Real for f64 {
    type Mask = bool;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn exp(self) -> Self {
        exp(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        ln_normal(self)
    }
    #[inline(always)]
    fn less(self, than: Self) -> bool {
        self < than
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn rows<const N: usize>(cell: Self, rows: &[[f64; N]]) -> [Self; N] {
        rows[(cell as usize).min(rows.len() - 1)]
    }
    #[inline(always)]
    fn floor(self) -> Self {
        floor(self)
    }
}

/// Applies a scalar function to each lane; the loop becomes vector instructions once inlined.
macro_rules! lanewise {
    (|$($x:ident),+| $body:expr) => {{
        let mut out = [0.0; LANES];
        for l in 0..LANES {
            $(let $x = $x.0[l];)+
            out[l] = $body;
        }
        Lanes(out)
    }};
}

/// Methods that do the same in each lane.
macro_rules! in_each_lane {
    ($($name:ident($x:ident $(, $other:ident)?) $body:expr;)+) => {$(
        #[inline(always)]
        fn $name(self $(, $other: Self)?) -> Self {
            let $x = self;
            lanewise!(|$x $(, $other)?| $body)
        }
    )+};
}

impl Real for Lanes {
    type Mask = [bool; LANES];

    in_each_lane! {
        sqrt(x) x.sqrt();
        abs(x) x.abs();
        max(x, other) Real::max(x, other);
        min(x, other) Real::min(x, other);
        exp(x) exp(x);
        ln(x) ln_normal(x);
        floor(x) floor(x);
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Lanes([x; LANES])
    }
    #[inline(always)]
    fn less(self, than: Self) -> Self::Mask {
        let mut mask = [false; LANES];
        for l in 0..LANES {
            mask[l] = self.0[l] < than.0[l];
        }
        mask
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        let mut out = [0.0; LANES];
        for l in 0..LANES {
            out[l] = if mask[l] { yes.0[l] } else { no.0[l] };
        }
        Lanes(out)
    }
    #[inline(always)]
    fn rows<const N: usize>(cell: Self, rows: &[[f64; N]]) -> [Self; N] {
        let mut out = [Lanes([0.0; LANES]); N];
        for l in 0..LANES {
            let row = &rows[(cell.0[l] as usize).min(rows.len() - 1)];
            for n in 0..N {
                out[n].0[l] = row[n];
            }
        }
        out
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $op:tt;)+) => {$(
        impl $trait for Lanes {
            type Output = Lanes;
            #[inline(always)]
            fn $method(self, other: Lanes) -> Lanes {
                let x = self;
                lanewise!(|x, other| x $op other)
            }
        }
        impl $trait<f64> for Lanes {
            type Output = Lanes;
            #[inline(always)]
            fn $method(self, other: f64) -> Lanes {
                let x = self;
                lanewise!(|x| x $op other)
            }
        }
        impl $assign for Lanes {
            #[inline(always)]
            fn $assign_method(&mut self, other: Lanes) {
                for l in 0..LANES {
                    self.0[l] = self.0[l] $op other.0[l];
                }
            }
        }
    )+};
}

use std::ops::DivAssign;
operators! {
    Add add AddAssign add_assign +;
    Sub sub SubAssign sub_assign -;
    Mul mul MulAssign mul_assign *;
    Div div DivAssign div_assign /;
}

impl Neg for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn neg(self) -> Lanes {
        let x = self;
        lanewise!(|x| -x)
    }
}

/// Adding this rounds a small number to an integer, which is then in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// The largest integer not above `x`, without the instruction that old machines lack.
#[inline(always)]
fn floor(x: f64) -> f64 {
    let near = (x + ROUNDER) - ROUNDER;
    if near > x { near - 1.0 } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_give_the_bytes_of_single_numbers() {
        let x = Lanes(std::array::from_fn(|l| 0.1 + 1.7 * l as f64));
        for l in 0..LANES {
            let one = x.0[l];
            assert_eq!(x.exp().0[l], Real::exp(one));
            assert_eq!(x.ln().0[l], Real::ln(one));
            assert_eq!((x * x - x / 3.0).0[l], one * one - one / 3.0);
            assert_eq!((-x).floor().0[l], (-one).floor());
        }
        let rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let cells = Lanes([0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, -1.0]);
        assert_eq!(Lanes::rows(cells, &rows)[1].0, [2.0, 4.0, 6.0, 6.0, 2.0, 4.0, 6.0, 2.0]);
    }

    #[test]
    fn floor_is_the_systems() {
        for i in -4000..4000 {
            let x = f64::from(i) * 0.25;
            assert_eq!(floor(x), x.floor());
        }
    }
}
