//! The smallest circle around points, to show a cluster's extent.
//!
//! The incremental algorithm of Welzl (1991) in its iterative form: a point outside the current
//! circle lies on the border of the next one. Points are taken in the given order, which is fast
//! enough for the few hundred members of a cluster; the worst case is n^3.

/// A circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// Its centre.
    pub centre: [f64; 2],
    /// Its radius.
    pub radius: f64,
}

impl Circle {
    /// Whether a point is inside or on the border, up to rounding.
    pub fn holds(&self, point: [f64; 2]) -> bool {
        distance(self.centre, point) <= self.radius * (1.0 + 1e-9) + f64::MIN_POSITIVE
    }

    fn of_two(a: [f64; 2], b: [f64; 2]) -> Self {
        let centre = [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
        Self { centre, radius: distance(centre, a).max(distance(centre, b)) }
    }

    /// The circle through three points; `None` if they are collinear.
    fn of_three(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> Option<Self> {
        let (bx, by, cx, cy) = (b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]);
        let d = 2.0 * (bx * cy - by * cx);
        let (bb, cc) = (bx * bx + by * by, cx * cx + cy * cy);
        let centre = [a[0] + (cy * bb - by * cc) / d, a[1] + (bx * cc - cx * bb) / d];
        let radius = distance(centre, a).max(distance(centre, b)).max(distance(centre, c));
        (d != 0.0 && radius.is_finite()).then_some(Self { centre, radius })
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}

/// The smallest circle that contains all points; `None` without points.
///
/// ```
/// use goc_report::figures::enclosing_circle;
/// let circle = enclosing_circle(&[[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]).unwrap();
/// assert_eq!((circle.centre, circle.radius), ([1.0, 0.0], 1.0));
/// ```
pub fn enclosing_circle(points: &[[f64; 2]]) -> Option<Circle> {
    let mut circle = Circle { centre: *points.first()?, radius: 0.0 };
    for i in 1..points.len() {
        if circle.holds(points[i]) {
            continue;
        }
        circle = Circle { centre: points[i], radius: 0.0 };
        for j in 0..i {
            if circle.holds(points[j]) {
                continue;
            }
            circle = Circle::of_two(points[i], points[j]);
            for k in 0..j {
                if !circle.holds(points[k]) {
                    // On a line, the circle of the two farthest points contains the third.
                    circle = Circle::of_three(points[i], points[j], points[k]).unwrap_or_else(|| {
                        [(i, j), (i, k), (j, k)]
                            .map(|(a, b)| Circle::of_two(points[a], points[b]))
                            .into_iter()
                            .fold(circle, |most, c| if c.radius > most.radius { c } else { most })
                    });
                }
            }
        }
    }
    Some(circle)
}

#[cfg(test)]
mod tests {
    use super::super::tests::congruential;
    use super::*;

    #[test]
    fn it_holds_all_and_none_smaller_does() {
        let mut draw = congruential(7);
        for n in [1, 2, 3, 4, 7, 12] {
            for _ in 0..50 {
                let points: Vec<[f64; 2]> = (0..n).map(|_| [draw(), draw()]).collect();
                let circle = enclosing_circle(&points).unwrap();
                assert!(points.iter().all(|p| circle.holds(*p)));
                // By brute force: the least of all circles by two or three of the points that hold all.
                let mut least = if n == 1 { 0.0 } else { f64::INFINITY };
                for i in 0..n {
                    for j in 0..i {
                        let mut tried = vec![Some(Circle::of_two(points[i], points[j]))];
                        tried.extend((0..j).map(|k| Circle::of_three(points[i], points[j], points[k])));
                        for c in tried.into_iter().flatten() {
                            if points.iter().all(|p| c.holds(*p)) {
                                least = least.min(c.radius);
                            }
                        }
                    }
                }
                assert!((circle.radius - least).abs() < 1e-9, "{} {least}", circle.radius);
            }
        }
    }

    #[test]
    fn points_on_a_line_and_equal_points_have_a_circle() {
        let line: Vec<[f64; 2]> = [3.0, 1.0, 2.0, 0.0, 4.0].map(|t| [t, 2.0 * t]).to_vec();
        let circle = enclosing_circle(&line).unwrap();
        assert_eq!(circle.centre, [2.0, 4.0]);
        assert!(line.iter().all(|p| circle.holds(*p)));
        assert_eq!(enclosing_circle(&[[1.0, 1.0]; 5]), Some(Circle { centre: [1.0, 1.0], radius: 0.0 }));
        assert_eq!(enclosing_circle(&[]), None);
    }
}
