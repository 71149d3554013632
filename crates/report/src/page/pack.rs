//! Packs numbers for the page: little-endian bytes in base64.
//!
//! The values that are shown and saved for a star stay 64-bit numbers. The candidates are only
//! drawn, and there are about a hundred per star: each is quantised to a 16-bit step within the
//! range of its feature, so 5000 stars of 101 candidates in three features take 3 MB instead of 12.
//! A screen has fewer than 65 536 pixels: the step, which the page states, is invisible. `value =
//! least + step * code`, so the error is at most half a step.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use goc::Candidates;

/// Codes run from 0 to this.
const TOP: f64 = 65535.0;

/// One feature of all candidates, packed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantised {
    pub least: f64,
    pub step: f64,
    pub codes: Vec<u16>,
}

/// Feature `f` of the candidates of these objects, one object after another.
pub(super) fn quantise(candidates: &Candidates, objects: &[usize], f: usize) -> Quantised {
    let values = || objects.iter().flat_map(|&i| candidates.feature(i, f).iter().copied());
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    // Halved before the difference, which might overflow; a constant feature has no step.
    let step = (most / 2.0 - least / 2.0).max(0.0) / TOP * 2.0;
    let code = |value: f64| match step > 0.0 {
        true => ((value / 2.0 - least / 2.0) / (step / 2.0)).round().clamp(0.0, TOP) as u16,
        false => 0,
    };
    Quantised { least, step, codes: values().map(code).collect() }
}

/// 16-bit numbers in base64.
pub(super) fn of_u16(values: &[u16]) -> String {
    STANDARD.encode(values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

/// 32-bit numbers in base64.
pub(super) fn of_u32(values: &[u32]) -> String {
    STANDARD.encode(values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

/// Signed 32-bit numbers in base64.
pub(super) fn of_i32(values: &[i32]) -> String {
    STANDARD.encode(values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

/// 64-bit numbers in base64. Any NaN is written as one and the same, so that the bytes are the same
/// everywhere.
pub(super) fn of_f64<'a>(values: impl IntoIterator<Item = &'a f64>) -> String {
    let bytes = |v: &f64| if v.is_nan() { 0x7ff8_0000_0000_0000_u64 } else { v.to_bits() }.to_le_bytes();
    STANDARD.encode(values.into_iter().flat_map(bytes).collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use goc::candidates::CandidatesBuilder;
    use proptest::prelude::*;

    fn one_feature(values: &[f64]) -> Candidates {
        let mut builder = CandidatesBuilder::new(1);
        builder.push(values, &[]).unwrap();
        builder.build().unwrap()
    }

    proptest! {
        #[test]
        fn a_candidate_is_at_most_half_a_step_off(values in prop::collection::vec(-1e9..1e9_f64, 1..60)) {
            let packed = quantise(&one_feature(&values), &[0], 0);
            for (value, code) in values.iter().zip(&packed.codes) {
                let back = packed.least + packed.step * f64::from(*code);
                // Rounding of numbers up to 1e9 comes on top.
                prop_assert!((back - value).abs() <= packed.step / 2.0 + 1e-6, "{value} {back}");
            }
        }

        #[test]
        fn what_is_packed_comes_back(values in prop::collection::vec(any::<f64>(), 0..40)) {
            let bytes = STANDARD.decode(of_f64(&values)).unwrap();
            let back: Vec<f64> =
                bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
            prop_assert_eq!(back.len(), values.len());
            for (a, b) in back.iter().zip(&values) {
                prop_assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()));
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_are_the_first_and_the_last_code() {
        let packed = quantise(&one_feature(&[2.0, -1.0, 0.5]), &[0], 0);
        assert_eq!((packed.codes[0], packed.codes[1]), (65535, 0));
        assert_eq!(packed.codes[2], 32768); // the middle, 32767.5, rounds away from 0
    }

    #[test]
    fn a_feature_that_is_one_number_has_no_step() {
        let packed = quantise(&one_feature(&[7.5, 7.5]), &[0], 0);
        assert_eq!(packed, Quantised { least: 7.5, step: 0.0, codes: vec![0, 0] });
    }

    #[test]
    fn the_widest_numbers_do_not_overflow() {
        let packed = quantise(&one_feature(&[f64::MAX, -f64::MAX, 0.0]), &[0], 0);
        assert!(packed.step.is_finite());
        assert_eq!(packed.codes[..2], [65535, 0]);
    }

    #[test]
    fn integers_are_little_endian() {
        assert_eq!(STANDARD.decode(of_u16(&[1, 258])).unwrap(), [1, 0, 2, 1]);
        assert_eq!(STANDARD.decode(of_u32(&[1])).unwrap(), [1, 0, 0, 0]);
        assert_eq!(STANDARD.decode(of_i32(&[-2])).unwrap(), [254, 255, 255, 255]);
    }
}
