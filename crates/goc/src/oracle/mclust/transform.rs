//! The data as the hierarchy sees them: the scaled SVD of Scrucca & Raftery (2015).
//!
//! Merges by determinants are misled by features of different spread and by correlation. Scrucca and
//! Raftery therefore standardise the features (centre, `n - 1` deviation), decompose `Z = U D V'`
//! and cluster the scores `Z V D^(-1/2) = U D^(1/2)`.
//!
//! Rotating the columns of `Z` in pairs until all are orthogonal (one-sided Jacobi; Hestenes 1958) turns
//! `Z` into `U D` without ever forming `V` or `Z'Z`, to full relative accuracy. Signs and order of the
//! columns are arbitrary; the criterion does not see them.
//!
//! Features that are constant, and directions in which the data have no width, carry nothing
//! about the groups: they are left out, so fewer columns than features may come back.

/// Columns of `U D^(1/2)` for `columns` (each of equal length); empty when all points are equal.
pub(super) fn scaled_svd(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut scores: Vec<Vec<f64>> = columns.iter().filter_map(|c| standardised(c)).collect();
    orthogonalise(&mut scores);
    let lengths: Vec<f64> = scores.iter().map(|c| dot(c, c).sqrt()).collect();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let n = columns.first().map_or(0, Vec::len);
    let noise = longest * f64::EPSILON * n.max(columns.len()) as f64;
    scores
        .into_iter()
        .zip(lengths)
        .filter(|(_, length)| *length > noise)
        .map(|(mut column, length)| {
            let root = length.sqrt();
            column.iter_mut().for_each(|v| *v /= root);
            column
        })
        .collect()
}

/// Mean 0 and deviation 1 (`n - 1`), or nothing for a constant column.
fn standardised(column: &[f64]) -> Option<Vec<f64>> {
    let first = *column.first()?;
    if column.iter().all(|v| *v == first) {
        return None;
    }
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    let mut centred: Vec<f64> = column.iter().map(|v| v - mean).collect();
    let deviation = (dot(&centred, &centred) / (n - 1.0)).sqrt();
    if !(deviation > 0.0 && deviation.is_finite()) {
        return None;
    }
    centred.iter_mut().for_each(|v| *v /= deviation);
    Some(centred)
}

/// Rotates pairs of columns until each pair is orthogonal to rounding.
fn orthogonalise(columns: &mut [Vec<f64>]) {
    // Convergence is quadratic: six to ten sweeps in practice. The cap only guards against a pair
    // that rounding keeps swinging about the threshold.
    const SWEEPS: usize = 60;
    for _ in 0..SWEEPS {
        let mut turned = false;
        for a in 0..columns.len() {
            let (left, right) = columns.split_at_mut(a + 1);
            let first = &mut left[a];
            for second in right {
                turned |= rotate(first, second);
            }
        }
        if !turned {
            break;
        }
    }
}

/// Makes two columns orthogonal; false when they were already.
fn rotate(a: &mut [f64], b: &mut [f64]) -> bool {
    let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
    if ab == 0.0 || ab.abs() <= 4.0 * f64::EPSILON * (aa * bb).sqrt() {
        return false;
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = cosine * tangent;
    for (x, y) in a.iter_mut().zip(b) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
    true
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For two standardised features of correlation r the singular values are known:
    /// D^2 = (n - 1)(1 +- r), with the sum and the difference of the features as directions.
    #[test]
    fn two_features_have_the_closed_form_scores() {
        let x = vec![0.3, 1.9, -2.0, 0.5, 4.0, -1.0];
        let y = vec![1.0, 2.5, -1.0, -0.5, 3.0, 0.25];
        let (a, b) = (standardised(&x).unwrap(), standardised(&y).unwrap());
        let r = dot(&a, &b) / 5.0;
        let mut scores = scaled_svd(&[x, y]);
        scores.sort_by(|p, q| dot(q, q).total_cmp(&dot(p, p)));
        for (column, sign) in scores.iter().zip([1.0, -1.0]) {
            let d = (5.0 * (1.0 + sign * r)).sqrt();
            let expected: Vec<f64> =
                a.iter().zip(&b).map(|(p, q)| (p + sign * q) / (2.0 * d).sqrt()).collect();
            let flip = (column[0] * expected[0]).signum();
            for (got, want) in column.iter().zip(&expected) {
                assert!((flip * got - want).abs() < 1e-14, "{got} {want}");
            }
        }
    }

    #[test]
    fn constant_and_repeated_features_are_left_out() {
        let x = vec![1.0, 2.0, 4.0, 8.0];
        let doubled = x.iter().map(|v| 3.0 - 2.0 * v).collect();
        assert_eq!(scaled_svd(&[x, vec![7.0; 4], doubled]).len(), 1);
        assert!(scaled_svd(&[vec![7.0; 4]]).is_empty());
    }
}
