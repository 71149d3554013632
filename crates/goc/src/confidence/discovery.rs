//! From many tests to discoveries: empirical p-values and the false-discovery rate.
//!
//! A p-value is the share of null values at least as large, with one added to both counts (Phipson
//! & Smyth 2010): under the null, the value itself belongs to the distribution it is compared with,
//! so a p-value is never 0 and a test of level `a` has level at most `a`.
//!
//! The q-value of Benjamini & Hochberg (1995) is the lowest false-discovery rate at which a test
//! would be called a discovery: `q_(r) = min over s >= r of p_(s) n / s`, with p in ascending
//! order. It is valid for independent tests and for positively dependent ones, such as clusters of
//! one data set.
//!
//! Cost: O(n log n).

/// `(1 + null values >= value) / (1 + null values)`.
///
/// ```
/// use goc::confidence::discovery::p_value;
/// assert_eq!(p_value(2.5, &[1.0, 2.0, 3.0]), 0.5);
/// assert_eq!(p_value(9.0, &[]), 1.0);
/// ```
pub fn p_value(value: f64, null: &[f64]) -> f64 {
    let as_large = null.iter().filter(|v| **v >= value).count();
    (1 + as_large) as f64 / (1 + null.len()) as f64
}

/// The q-value of each p-value. NaN marks a missing test: it stays NaN and is not counted.
///
/// ```
/// use goc::confidence::discovery::q_values;
/// assert_eq!(q_values(&[0.01, 0.04, 0.03]), [0.03, 0.04, 0.04]);
/// ```
pub fn q_values(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| !p[i].is_nan()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]).then(a.cmp(&b)));
    let mut q = vec![f64::NAN; p.len()];
    let mut least = 1.0_f64;
    for (rank, &i) in order.iter().enumerate().rev() {
        least = least.min(p[i] * order.len() as f64 / (rank + 1) as f64);
        q[i] = least;
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_values_are_those_of_r() {
        // The 15 p-values of Benjamini & Hochberg (1995), section 4. Expected: p n / rank and its
        // minimum from the right, computed by hand, as in R's p.adjust(p, "BH").
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        let want = [
            0.0015,
            0.003,
            0.0095,
            0.035625,
            0.0603,
            0.063857142857,
            0.063857142857,
            0.0645,
            0.0765,
            0.486,
            0.581181818182,
            0.714875,
            0.753230769231,
            0.813214285714,
            1.0,
        ];
        for (q, want) in q_values(&p).iter().zip(want) {
            assert!((q - want).abs() < 1e-11, "{q} {want}");
        }
        // Four are discoveries at 0.05, as in the paper.
        assert_eq!(q_values(&p).iter().filter(|q| **q <= 0.05).count(), 4);
    }

    #[test]
    fn order_and_missing_tests_do_not_matter() {
        let q = q_values(&[0.04, f64::NAN, 0.01, 0.03]);
        assert_eq!((q[0], q[2], q[3]), (0.04, 0.03, 0.04));
        assert!(q[1].is_nan());
        assert!(q_values(&[]).is_empty());
        assert_eq!(q_values(&[0.9, 0.9]), [0.9, 0.9]);
    }

    #[test]
    fn p_values_count_ties_against_the_value_and_are_never_zero() {
        let null = [1.0, 2.0, 2.0, 5.0];
        assert_eq!(p_value(2.0, &null), 0.8);
        assert_eq!(p_value(6.0, &null), 0.2);
        assert_eq!(p_value(0.0, &null), 1.0);
    }
}
