//! `exp` and `ln` that give the same bits on every machine.
//!
//! The mathematical library of one system rounds differently from that of the next, and none of them is
//! inlined, so that a loop over thousands of densities cannot use the vector units. These two
//! are plain arithmetic: every operation is rounded alike everywhere, and a loop over them becomes
//! vector code. Both are within two units in the last place, which the tests measure.

// The multiples of ln 2 below 1100 times the high part are exact: its last 11 bits are zero.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
const LN2_LOW: f64 = f64::from_bits(0x3d2e_f357_93c7_6730);

/// Adding it to a small number leaves the nearest whole number in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// `e^x` for `x <= 700`; zero below -700, where a density beside its rivals is nothing.
///
/// `x = k ln 2 + r` with `|r| <= ln 2 / 2`, then the Taylor sum to the 13th power (the first term left out
/// is below 5e-18), then `k` is added to the exponent bits.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let k = shifted - ROUNDER;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    // Summed in pairs, then pairs of pairs: shorter chains of dependent operations than Horner's.
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = (1.0 + r) + (0.5 + r * (1.0 / 6.0)) * r2;
    let middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + (1.0 / 720.0 + r * (1.0 / 5_040.0)) * r2;
    let high = (1.0 / 40_320.0 + r * (1.0 / 362_880.0)) + (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0)) * r2;
    let highest = 1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0);
    let sum = low + (middle + (high + highest * r4) * r4) * r4;
    let power = f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < -700.0 { 0.0 } else { power }
}

/// Natural logarithm of a positive finite number.
///
/// `x = 2^e m` with `m` between the roots of 1/2 and 2, then `ln m = 2 artanh((m - 1) / (m + 1))` by its
/// series (the first term left out is below 1e-18).
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    const HALF_ROOT: u64 = 0x3fe6_a09e_0000_0000;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    let (x, lift) = if x < f64::MIN_POSITIVE { (x * 18_014_398_509_481_984.0, 54.0) } else { (x, 0.0) };
    let bits = x.to_bits().wrapping_add(ONE - HALF_ROOT);
    let exponent = (bits >> 52) as i32 - 1023;
    let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) + HALF_ROOT);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let w = s * s;
    let mut sum = 1.0 / 21.0;
    sum = sum * w + 1.0 / 19.0;
    sum = sum * w + 1.0 / 17.0;
    sum = sum * w + 1.0 / 15.0;
    sum = sum * w + 1.0 / 13.0;
    sum = sum * w + 1.0 / 11.0;
    sum = sum * w + 1.0 / 9.0;
    sum = sum * w + 1.0 / 7.0;
    sum = sum * w + 1.0 / 5.0;
    sum = sum * w + 1.0 / 3.0;
    // ln m = f - s (f - 2 w sum): the large part f is exact, only the correction is rounded.
    let e = f64::from(exponent) - lift;
    e * LN2_HIGH + (f - (s * (f - 2.0 * (w * sum)) - e * LN2_LOW))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ulps(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn exp_is_within_two_units_of_the_last_place() {
        for i in 0..200_000 {
            let x = -f64::from(i) * 0.003_499;
            assert!(ulps(exp(x), x.exp()) <= 2, "exp({x}) = {} against {}", exp(x), x.exp());
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-701.0), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn ln_is_within_two_units_of_the_last_place() {
        for i in 1..200_000 {
            for x in [f64::from(i) * 1.000_01e-4, 1.0 + f64::from(i) * 1e-9, 1e300 / f64::from(i)] {
                assert!(ulps(ln(x), x.ln()) <= 2, "ln({x}) = {} against {}", ln(x), x.ln());
            }
        }
        assert_eq!(ln(1.0), 0.0);
        assert!(ulps(ln(1e-310), 1e-310_f64.ln()) <= 2);
    }
}
