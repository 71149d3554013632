//! The first two principal components of the stars' locations, for a view that no feature
//! dominates.
//!
//! Each feature is in units of its own standard deviation; otherwise the one with the largest
//! numbers would be the first component. The directions are eigenvectors of the correlation matrix,
//! the same on any machine ([`goc::eigen`]). A direction's sign is fixed by its largest entry,
//! which is positive. Cost: O(n q^2 + q^3).

use goc::eigen::symmetric;

/// The projection of a location onto its first two components.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Principal {
    pub mean: Vec<f64>,
    /// Standard deviations, 1 for a feature that does not vary.
    pub scale: Vec<f64>,
    /// Two directions of length 1.
    pub axes: [Vec<f64>; 2],
    /// Fractions of the variance.
    pub share: [f64; 2],
}

/// `None` if fewer than two features vary, or if a number is too large to be squared.
pub(super) fn principal(features: &[&[f64]]) -> Option<Principal> {
    let (q, n) = (features.len(), features.first()?.len() as f64);
    let mean: Vec<f64> = features.iter().map(|values| values.iter().sum::<f64>() / n).collect();
    let off = |f: usize, i: usize| features[f][i] - mean[f];
    let rows = features[0].len();
    let deviation: Vec<f64> = (0..q)
        .map(|f| ((0..rows).map(|i| off(f, i) * off(f, i)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt())
        .collect();
    if deviation.iter().any(|d| !d.is_finite()) || deviation.iter().filter(|d| **d > 0.0).count() < 2 {
        return None;
    }
    let scale: Vec<f64> = deviation.iter().map(|&d| if d > 0.0 { d } else { 1.0 }).collect();
    let mut matrix = vec![0.0; q * q];
    for f in 0..q {
        for g in 0..=f {
            let sum: f64 = (0..rows).map(|i| off(f, i) / scale[f] * (off(g, i) / scale[g])).sum();
            matrix[f * q + g] = sum / (n - 1.0).max(1.0);
            matrix[g * q + f] = matrix[f * q + g];
        }
    }
    let pairs = symmetric(matrix, q);
    let order = pairs.largest_first();
    let total: f64 = pairs.values.iter().sum();
    let axis = |k: usize| {
        let mut direction = pairs.vector(k).to_vec();
        let largest = direction.iter().fold(0.0_f64, |most, v| if v.abs() > most.abs() { *v } else { most });
        direction.iter_mut().for_each(|v| *v *= largest.signum());
        direction
    };
    Some(Principal {
        mean,
        scale,
        axes: [axis(order[0]), axis(order[1])],
        share: [pairs.values[order[0]] / total, pairs.values[order[1]] / total],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use goc::Points;
    use goc::uncertainty::transform::Pca;

    #[test]
    fn components_are_those_of_a_singular_value_decomposition() {
        let features: Vec<Vec<f64>> = (0..4)
            .map(|f| {
                (0..50)
                    .map(|i| ((i * (2 * f + 3) + f) as f64 * 0.37).sin() * 10_f64.powi(f) + i as f64)
                    .collect()
            })
            .collect();
        let slices: Vec<&[f64]> = features.iter().map(Vec::as_slice).collect();
        let found = principal(&slices).unwrap();
        let scaled: Vec<Vec<f64>> =
            (0..50).map(|i| (0..4).map(|f| features[f][i] / found.scale[f]).collect()).collect();
        let pca = Pca::fit(&Points::from_rows(&scaled).unwrap(), 4).unwrap();
        let total: f64 = pca.variances().iter().sum();
        for k in 0..2 {
            assert!((found.share[k] - pca.variances()[k] / total).abs() < 1e-12);
            for (a, b) in found.axes[k].iter().zip(pca.component(k)) {
                assert!((a - b).abs() < 1e-10, "{a} {b}");
            }
        }
    }

    #[test]
    fn without_two_features_that_vary_there_are_no_components() {
        assert!(principal(&[]).is_none());
        assert!(principal(&[&[1.0, 2.0]]).is_none());
        assert!(principal(&[&[1.0, 2.0], &[3.0, 3.0]]).is_none());
        assert!(principal(&[&[1.0], &[2.0]]).is_none());
        assert!(principal(&[&[1e300, -1e300], &[1.0, 2.0]]).is_none());
    }

    #[test]
    fn a_feature_that_does_not_vary_has_no_part_in_them() {
        let found = principal(&[&[1.0, 2.0, 4.0], &[5.0, 5.0, 5.0], &[0.0, 7.0, 1.0]]).unwrap();
        assert_eq!((found.axes[0][1], found.axes[1][1]), (0.0, 0.0));
        assert!((found.share[0] + found.share[1] - 1.0).abs() < 1e-15);
    }
}
