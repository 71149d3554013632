//! The flow within clusters, by conjugate gradients.
//!
//! The dual vectors are a flow: the outflow of node i is `m_i (x_i - u_i)`. A coarser solution
//! gives the position of every cluster and the flow between clusters. Within a cluster, any flow is
//! valid that brings each node to the position of its cluster and respects the balls. Steps of the
//! solver find it one edge at a time; far along the path, where whole clusters move a long way,
//! this took a thousand steps for every gamma. Here the missing flow is that of a network of
//! resistors with conductance `w_e`,
//!
//! `l_e += w_e (p_a - p_b)`, `sum over the edges of i of w_e (p_i - p_j) = m_i (u_i - u_cluster)`:
//!
//! of all valid flows, the one with the smallest `sum |l_e|^2 / w_e`. The iteration stops
//! when the remainder costs the dual little: a remainder r lowers it by `1/2 sum |r_i|^2 / m_i`,
//! because the edges within clusters have no slope. Vectors that leave their ball are clipped to
//! its boundary; the solver continues from there, and the gap shows how good the result is.
//!
//! Cost: O(edges q) per iteration, some ten of them.

use super::ama::Problem;
use crate::Points;

/// After this many iterations the rest is left to the steps of the solver.
const MOST_ITERATIONS: usize = 200;

/// Adds to `dual` the flow within the groups that brings each node to the position of its group.
pub(super) fn balance(
    problem: &Problem,
    groups: &[u32],
    targets: &Points,
    gamma: f64,
    enough: f64,
    dual: &mut [f64],
) {
    let q = problem.nodes.features();
    let within: Vec<usize> = (0..problem.edges.len())
        .filter(|&e| groups[problem.edges[e].0 as usize] == groups[problem.edges[e].1 as usize])
        .collect();
    let missing = missing(problem, groups, targets, dual);
    let potential = match q {
        1 => potential::<1>(problem, &within, missing, enough),
        2 => potential::<2>(problem, &within, missing, enough),
        3 => potential::<3>(problem, &within, missing, enough),
        4 => potential::<4>(problem, &within, missing, enough),
        _ => potential::<0>(problem, &within, missing, enough),
    };
    for &e in &within {
        let (a, b) = (problem.edges[e].0 as usize, problem.edges[e].1 as usize);
        let (pa, pb) = (&potential[a * q..(a + 1) * q], &potential[b * q..(b + 1) * q]);
        let l = &mut dual[e * q..(e + 1) * q];
        for f in 0..q {
            l[f] += problem.weights[e] * (pa[f] - pb[f]);
        }
        let (length, radius) = (l.iter().map(|x| x * x).sum::<f64>().sqrt(), gamma * problem.weights[e]);
        if length > radius {
            l.iter_mut().for_each(|x| *x *= radius / length);
        }
    }
}

/// The flow that still has to leave each node.
fn missing(problem: &Problem, groups: &[u32], targets: &Points, dual: &[f64]) -> Vec<f64> {
    let mut places = problem.nodes.clone();
    problem.places(dual, &mut places);
    let mut missing = Vec::with_capacity(dual.len());
    for (i, row) in places.rows().enumerate() {
        let target = targets.row(groups[i] as usize);
        missing.extend(row.iter().zip(target).map(|(u, t)| problem.mass[i] * (u - t)));
    }
    missing
}

/// Potentials whose currents leave `missing` at each node, but for a remainder that costs at most `enough`;
/// `Q` features, or any number where it is 0.
fn potential<const Q: usize>(
    problem: &Problem,
    within: &[usize],
    mut missing: Vec<f64>,
    enough: f64,
) -> Vec<f64> {
    let q = if Q == 0 { problem.nodes.features() } else { Q };
    let n = problem.nodes.len();
    let mut degree = vec![0.0; n];
    for &e in within {
        degree[problem.edges[e].0 as usize] += problem.weights[e];
        degree[problem.edges[e].1 as usize] += problem.weights[e];
    }
    // A node alone in its group lacks nothing but rounding, and no edge could supply it.
    for (row, d) in missing.chunks_exact_mut(q).zip(&degree) {
        if *d == 0.0 {
            row.fill(0.0);
        }
    }
    let scaled = |residual: &[f64], out: &mut [f64]| {
        let mut product = 0.0;
        for i in (0..n).filter(|&i| degree[i] > 0.0) {
            for f in i * q..(i + 1) * q {
                out[f] = residual[f] / degree[i];
                product += out[f] * residual[f];
            }
        }
        product
    };
    let cost = |residual: &[f64]| -> f64 {
        let squares = residual.chunks_exact(q).map(|row| row.iter().map(|r| r * r).sum::<f64>());
        0.5 * squares.zip(&problem.mass).map(|(s, m)| s / m).sum::<f64>()
    };
    let mut potential = vec![0.0; n * q];
    let mut preconditioned = vec![0.0; n * q];
    let mut product = scaled(&missing, &mut preconditioned);
    let mut direction = preconditioned.clone();
    let mut currents = vec![0.0; n * q];
    for _ in 0..MOST_ITERATIONS {
        if cost(&missing) <= enough {
            break;
        }
        currents.fill(0.0);
        for &e in within {
            let (a, b) = (problem.edges[e].0 as usize * q, problem.edges[e].1 as usize * q);
            for f in 0..q {
                let current = problem.weights[e] * (direction[a + f] - direction[b + f]);
                currents[a + f] += current;
                currents[b + f] -= current;
            }
        }
        let power: f64 = direction.iter().zip(&currents).map(|(d, c)| d * c).sum();
        let length = product / power;
        // Nothing but rounding is left, or the numbers are beyond what can be squared.
        if !(power > 0.0 && length.is_finite()) {
            break;
        }
        potential.iter_mut().zip(&direction).for_each(|(p, d)| *p += length * d);
        missing.iter_mut().zip(&currents).for_each(|(r, c)| *r -= length * c);
        let before = std::mem::replace(&mut product, scaled(&missing, &mut preconditioned));
        let keep = product / before;
        direction.iter_mut().zip(&preconditioned).for_each(|(d, z)| *d = z + keep * *d);
    }
    potential
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congruential;
    use crate::oracle::graph::tests::blobs;
    use crate::points::squared_distance;

    #[test]
    fn currents_divide_as_in_a_network_of_resistors() {
        // From node 0 to node 2 there are a conductance of 3 and, by node 1, two of 1 in a row: 1 / 2.
        let nodes = Points::new(vec![3.5, 0.0, -3.5], 1).unwrap();
        let problem = Problem::new(nodes, vec![1.0; 3], vec![(0, 1, 1.0), (0, 2, 3.0), (1, 2, 1.0)]);
        let mut dual = vec![0.0; 3];
        balance(&problem, &[0; 3], &Points::new(vec![0.0], 1).unwrap(), 9.0, 1e-30, &mut dual);
        for (got, want) in dual.iter().zip([0.5, 3.0, 0.5]) {
            assert!((got - want).abs() < 1e-12, "{dual:?}");
        }
    }

    /// Twenty-four points in four groups, with edges within and between them and some flow already.
    fn grouped() -> (Problem, Vec<u32>, Vec<f64>) {
        let mut uniform = congruential::uniform(5);
        let nodes = blobs(2, 24, 2, 4);
        let mass: Vec<f64> = (0..24).map(|i| f64::from(1 + i % 3)).collect();
        let edges: Vec<(u32, u32, f64)> = (0..24_u32)
            .flat_map(|i| [4, 8, 9].map(|step| (i, i + step)))
            .filter(|e| e.1 < 24)
            .map(|(a, b)| (a, b, 0.1 + uniform()))
            .collect();
        let dual = (0..2 * edges.len()).map(|_| uniform() - 0.5).collect();
        (Problem::new(nodes, mass, edges), (0..24).map(|i| i % 4).collect(), dual)
    }

    /// Where the groups lie by the flow between them.
    fn targets(problem: &Problem, groups: &[u32], dual: &[f64]) -> Points {
        let mut places = problem.nodes.clone();
        problem.places(dual, &mut places);
        let mut means = vec![0.0; 8];
        for group in 0..4 {
            let members = || (0..24).filter(|&i| groups[i] == group);
            let total: f64 = members().map(|i| problem.mass[i]).sum();
            for f in 0..2 {
                let sum: f64 = members().map(|i| problem.mass[i] * places.row(i)[f]).sum();
                means[2 * group as usize + f] = sum / total;
            }
        }
        Points::new(means, 2).unwrap()
    }

    #[test]
    fn every_node_comes_to_the_place_of_its_group_and_the_flow_between_groups_stays() {
        let (problem, groups, mut dual) = grouped();
        let (before, targets) = (dual.clone(), targets(&problem, &groups, &dual));
        balance(&problem, &groups, &targets, 1e6, 1e-24, &mut dual);
        let mut places = problem.nodes.clone();
        problem.places(&dual, &mut places);
        for (i, row) in places.rows().enumerate() {
            assert!(squared_distance(row, targets.row(groups[i] as usize)) < 1e-20, "{i} {row:?}");
        }
        for (e, &(a, b)) in problem.edges.iter().enumerate() {
            let same = dual[2 * e..2 * e + 2] == before[2 * e..2 * e + 2];
            assert_eq!(same, groups[a as usize] != groups[b as usize], "{e}");
        }
    }

    #[test]
    fn no_vector_leaves_its_ball() {
        let (problem, groups, mut dual) = grouped();
        dual.iter_mut().for_each(|l| *l *= 0.01);
        let (gamma, targets) = (0.1, targets(&problem, &groups, &dual));
        balance(&problem, &groups, &targets, gamma, 1e-24, &mut dual);
        let at_rim = |e: usize| {
            let of_radius = dual[2 * e].hypot(dual[2 * e + 1]) / (gamma * problem.weights[e]);
            assert!(of_radius < 1.0 + 1e-12, "{e} {of_radius}");
            of_radius > 1.0 - 1e-12
        };
        assert!((0..problem.edges.len()).filter(|&e| at_rim(e)).count() > 5);
    }
}
