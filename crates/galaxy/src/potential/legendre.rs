//! Legendre polynomials and Gauss-Legendre quadrature.

/// Nodes and weights of Gauss-Legendre quadrature on [-1, 1], ascending.
///
/// Newton's method from the asymptotic position of each root. No function of the system's library
/// is involved, so the results are bitwise identical on every machine.
pub(crate) fn gauss(n: usize) -> Vec<(f64, f64)> {
    let mut nodes = vec![(0.0, 0.0); n];
    for i in 0..n.div_ceil(2) {
        let angle = std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5);
        let mut x = cosine(angle);
        if 2 * i + 1 == n {
            x = 0.0;
        }
        let mut slope = 1.0;
        for _ in 0..6 {
            let (p, d) = polynomial(n, x);
            slope = d;
            x -= p / d;
        }
        let weight = 2.0 / ((1.0 - x * x) * slope * slope);
        nodes[i] = (-x, weight);
        nodes[n - 1 - i] = (x, weight);
    }
    nodes
}

/// The cosine by its series, as a first guess; 0 <= `angle` <= pi/2.
fn cosine(angle: f64) -> f64 {
    let s = angle * angle;
    (1..=9).rev().fold(1.0, |sum, k| 1.0 - s * sum / f64::from((2 * k - 1) * 2 * k))
}

/// P_n and its derivative at x inside (-1, 1).
fn polynomial(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut p) = (0.0, 1.0);
    for k in 0..n {
        let l = k as f64;
        (before, p) = (p, ((2.0 * l + 1.0) * x * p - l * before) / (l + 1.0));
    }
    (p, n as f64 * (x * p - before) / (x * x - 1.0))
}

/// P_0, P_2, ..., P_{2(n-1)} at `x`, with first and second derivatives, into `out`.
pub(super) fn even_polynomials(x: f64, out: &mut [[f64; 3]]) {
    // The recurrence of the polynomials, differentiated once and twice; it also holds at x = 1.
    let (mut before, mut now) = ([0.0; 3], [1.0, 0.0, 0.0]);
    for k in 0..2 * out.len() {
        if k % 2 == 0 {
            out[k / 2] = now;
        }
        let l = k as f64;
        let (a, b) = ((2.0 * l + 1.0) / (l + 1.0), l / (l + 1.0));
        let next = [
            a * x * now[0] - b * before[0],
            a * (now[0] + x * now[1]) - b * before[1],
            a * (2.0 * now[1] + x * now[2]) - b * before[2],
        ];
        (before, now) = (now, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauss_integrates_powers_exactly() {
        for n in [1, 2, 5, 10, 33, 39, 201] {
            let nodes = gauss(n);
            assert!(nodes.windows(2).all(|w| w[0].0 < w[1].0), "{n} nodes ascend");
            for power in (0..2 * n).step_by(2) {
                let sum: f64 = nodes.iter().map(|&(x, w)| w * x.powi(power as i32)).sum();
                let exact = 2.0 / (power as f64 + 1.0);
                assert!((sum - exact).abs() < 1e-13, "{n} nodes, x^{power}: {sum} not {exact}");
            }
        }
    }

    #[test]
    fn even_polynomials_are_the_known_ones() {
        let mut p = [[0.0; 3]; 3];
        even_polynomials(0.3, &mut p);
        let x: f64 = 0.3;
        assert!((p[1][0] - (3.0 * x * x - 1.0) / 2.0).abs() < 1e-15);
        assert!((p[2][0] - (35.0 * x.powi(4) - 30.0 * x * x + 3.0) / 8.0).abs() < 1e-15);
        assert!((p[2][1] - (140.0 * x.powi(3) - 60.0 * x) / 8.0).abs() < 1e-14);
        assert!((p[2][2] - (420.0 * x * x - 60.0) / 8.0).abs() < 1e-14);
        let mut end = [[0.0; 3]; 20];
        even_polynomials(1.0, &mut end);
        for (n, at_one) in end.iter().enumerate() {
            let l = 2.0 * n as f64;
            assert!(
                (at_one[0] - 1.0).abs() < 1e-13
                    && (at_one[1] / (l * (l + 1.0) / 2.0 + 1e-300) - 1.0).abs() < 1e-12
                    || n == 0
            );
        }
    }
}
