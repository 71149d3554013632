//! The solver: accelerated alternating minimisation (Chi & Lange 2015), that is, projected gradient on the
//! dual.
//!
//! With one dual vector `l_e` an edge `e = (a, b)` and `m_i` points at node i,
//!
//! `u_i = x_i - (sum of l_e where i = a, less those where i = b) / m_i`,
//! `l_e <- projection of l_e + s_e (u_a - u_b) onto the ball of radius gamma w_e`.
//!
//! The step of an edge is `1 / (deg_a / m_a + deg_b / m_b)`: the row sums of the dual's curvature, which
//! bound it, so the steps of quiet corners need not be as small as those of the busiest. Momentum as by
//! Nesterov, begun anew whenever it points uphill (O'Donoghue & Candes 2015). The duality gap is a sum over
//! edges of what can be read off at once:
//! `gamma w_e |u_a - u_b| - l_e . (u_a - u_b)`, none of them negative.
//!
//! The places that go with dual vectors are never exactly equal, which a large gamma makes costly; so the
//! places with every cluster gathered at its mean are tried as well, and whichever costs less is the answer
//! that the gap is for.

use crate::Points;
use crate::oracle::graph::Components;
use crate::points::squared_distance;

/// Nodes with a mass, and edges with a weight.
pub(super) struct Problem {
    nodes: Points,
    mass: Vec<f64>,
    edges: Vec<(u32, u32)>,
    weights: Vec<f64>,
    steps: Vec<f64>,
}

impl Problem {
    pub(super) fn new(nodes: Points, mass: Vec<f64>, weighted: Vec<(u32, u32, f64)>) -> Self {
        let edges: Vec<(u32, u32)> = weighted.iter().map(|e| (e.0, e.1)).collect();
        let mut degree = vec![0.0; nodes.len()];
        for &(a, b) in &edges {
            degree[a as usize] += 1.0;
            degree[b as usize] += 1.0;
        }
        let share = |i: u32| degree[i as usize] / mass[i as usize];
        let steps = edges.iter().map(|&(a, b)| 1.0 / (share(a) + share(b))).collect();
        let weights = weighted.iter().map(|e| e.2).collect();
        Self { nodes, mass, edges, weights, steps }
    }

    pub(super) fn nodes(&self) -> &Points {
        &self.nodes
    }

    /// The problem whose nodes are clusters of these: masses and weights summed, nodes at their mean. With
    /// it, for each edge the edge it is now part of and its share, negative where the direction is turned
    /// round.
    pub(super) fn collapse(&self, labels: &[u32], k: usize) -> (Problem, Vec<Option<(u32, f64)>>) {
        let q = self.nodes.features();
        let mut mass = vec![0.0; k];
        let mut sums = vec![0.0; k * q];
        for (i, row) in self.nodes.rows().enumerate() {
            let l = labels[i] as usize;
            mass[l] += self.mass[i];
            sums[l * q..(l + 1) * q].iter_mut().zip(row).for_each(|(s, x)| *s += self.mass[i] * x);
        }
        for (sum, m) in sums.chunks_exact_mut(q).zip(&mass) {
            sum.iter_mut().for_each(|s| *s /= m);
        }
        let ends = |e: usize| (labels[self.edges[e].0 as usize], labels[self.edges[e].1 as usize]);
        let mut between: Vec<(u32, u32, usize)> = (0..self.edges.len())
            .map(|e| (ends(e).0.min(ends(e).1), ends(e).0.max(ends(e).1), e))
            .filter(|(a, b, _)| a != b)
            .collect();
        between.sort_unstable();
        let mut weighted: Vec<(u32, u32, f64)> = Vec::new();
        let mut parts = vec![None; self.edges.len()];
        for &(a, b, e) in &between {
            if weighted.last().is_none_or(|last| (last.0, last.1) != (a, b)) {
                weighted.push((a, b, 0.0));
            }
            let edge = weighted.len() - 1;
            weighted[edge].2 += self.weights[e];
            let sign = if ends(e).0 == a { 1.0 } else { -1.0 };
            parts[e] = Some((edge as u32, sign * self.weights[e]));
        }
        for (edge, share) in parts.iter_mut().flatten() {
            *share /= weighted[*edge as usize].2;
        }
        (Problem::new(Points::trusted(sums, q), mass, weighted), parts)
    }

    /// The objective where all are in one cluster: half the sum of squares about the mean.
    pub(super) fn one_cluster_cost(&self) -> f64 {
        let total: f64 = self.mass.iter().sum();
        let mut mean = vec![0.0; self.nodes.features()];
        for (row, m) in self.nodes.rows().zip(&self.mass) {
            mean.iter_mut().zip(row).for_each(|(s, x)| *s += m * x / total);
        }
        0.5 * self.nodes.rows().zip(&self.mass).map(|(row, m)| m * squared_distance(row, &mean)).sum::<f64>()
    }

    /// The largest `sum of w_e / m` at any node: gamma times it is the farthest that a place can move.
    pub(super) fn strongest_pull(&self) -> f64 {
        let mut pull = vec![0.0; self.nodes.len()];
        for (&(a, b), w) in self.edges.iter().zip(&self.weights) {
            pull[a as usize] += w / self.mass[a as usize];
            pull[b as usize] += w / self.mass[b as usize];
        }
        pull.into_iter().fold(0.0, f64::max)
    }

    /// The places that go with dual vectors.
    fn places(&self, dual: &[f64], places: &mut Points) {
        // The number of features known to the compiler is worth a factor of two.
        match self.nodes.features() {
            1 => self.places_of::<1>(dual, places),
            2 => self.places_of::<2>(dual, places),
            3 => self.places_of::<3>(dual, places),
            4 => self.places_of::<4>(dual, places),
            _ => self.places_of::<0>(dual, places),
        }
    }

    /// `Q` features, or any number where it is 0.
    #[inline(always)]
    fn places_of<const Q: usize>(&self, dual: &[f64], places: &mut Points) {
        let q = if Q == 0 { self.nodes.features() } else { Q };
        for i in 0..self.nodes.len() {
            places.row_mut(i).fill(0.0);
        }
        for (e, &(a, b)) in self.edges.iter().enumerate() {
            let l = &dual[e * q..(e + 1) * q];
            let row = places.row_mut(a as usize);
            for f in 0..q {
                row[f] -= l[f];
            }
            let row = places.row_mut(b as usize);
            for f in 0..q {
                row[f] += l[f];
            }
        }
        for i in 0..self.nodes.len() {
            let m = self.mass[i];
            let row = places.row_mut(i);
            for f in 0..q {
                row[f] = self.nodes.row(i)[f] + row[f] / m;
            }
        }
    }

    /// One projected step from `ahead` (whose places are given) into `next`. Returns the momentum's slope:
    /// positive when the way from `dual` to `next` goes against the step.
    fn step(&self, gamma: f64, dual: &[f64], ahead: &[f64], places: &Points, next: &mut [f64]) -> f64 {
        match self.nodes.features() {
            1 => self.step_of::<1>(gamma, dual, ahead, places, next),
            2 => self.step_of::<2>(gamma, dual, ahead, places, next),
            3 => self.step_of::<3>(gamma, dual, ahead, places, next),
            4 => self.step_of::<4>(gamma, dual, ahead, places, next),
            _ => self.step_of::<0>(gamma, dual, ahead, places, next),
        }
    }

    #[inline(always)]
    fn step_of<const Q: usize>(
        &self,
        gamma: f64,
        dual: &[f64],
        ahead: &[f64],
        places: &Points,
        next: &mut [f64],
    ) -> f64 {
        let q = if Q == 0 { self.nodes.features() } else { Q };
        let mut slope = 0.0;
        for (e, &(a, b)) in self.edges.iter().enumerate() {
            let (ua, ub) = (places.row(a as usize), places.row(b as usize));
            let range = e * q..(e + 1) * q;
            let (l, y, z) = (&dual[range.clone()], &ahead[range.clone()], &mut next[range]);
            let step = self.steps[e];
            let mut square = 0.0;
            for f in 0..q {
                z[f] = y[f] + step * (ua[f] - ub[f]);
                square += z[f] * z[f];
            }
            let radius = gamma * self.weights[e];
            if square > radius * radius {
                let shrink = radius / square.sqrt();
                for f in 0..q {
                    z[f] *= shrink;
                }
            }
            let mut along = 0.0;
            for f in 0..q {
                along += (y[f] - z[f]) * (z[f] - l[f]);
            }
            slope += along / step;
        }
        slope
    }

    /// The objective at `places` and the gap to the dual value of `dual`, from which the places were made.
    fn objective_and_gap(&self, gamma: f64, dual: &[f64], places: &Points) -> (f64, f64) {
        let q = self.nodes.features();
        let mut gap = 0.0;
        for (e, &(a, b)) in self.edges.iter().enumerate() {
            let (ua, ub) = (places.row(a as usize), places.row(b as usize));
            let pull = gamma * self.weights[e] * squared_distance(ua, ub).sqrt();
            let l = &dual[e * q..(e + 1) * q];
            gap += pull - (0..q).map(|f| l[f] * (ua[f] - ub[f])).sum::<f64>();
        }
        (self.objective(gamma, places), gap)
    }

    fn objective(&self, gamma: f64, places: &Points) -> f64 {
        let moved = self.nodes.rows().zip(places.rows()).zip(&self.mass);
        let mut objective = 0.5 * moved.map(|((x, u), m)| m * squared_distance(x, u)).sum::<f64>();
        for (&(a, b), w) in self.edges.iter().zip(&self.weights) {
            let apart = squared_distance(places.row(a as usize), places.row(b as usize));
            objective += gamma * w * apart.sqrt();
        }
        objective
    }

    /// Every place moved to the mean of its cluster.
    fn gathered(&self, places: &Points, labels: &[u32], k: usize) -> Points {
        let q = places.features();
        let mut mass = vec![0.0; k];
        let mut means = vec![0.0; k * q];
        for (i, row) in places.rows().enumerate() {
            let l = labels[i] as usize;
            mass[l] += self.mass[i];
            means[l * q..(l + 1) * q].iter_mut().zip(row).for_each(|(s, u)| *s += self.mass[i] * u);
        }
        for (mean, m) in means.chunks_exact_mut(q).zip(&mass) {
            mean.iter_mut().for_each(|s| *s /= m);
        }
        let rows: Vec<usize> = labels.iter().map(|&l| l as usize).collect();
        Points::trusted(means, q).subset(&rows)
    }
}

/// How a solution came out.
pub(super) struct Run {
    pub(super) objective: f64,
    pub(super) gap: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
    /// The nodes of one place.
    pub(super) clusters: Components,
}

/// The dual vectors of the last gamma, and the places they give.
pub(super) struct State {
    gamma: f64,
    dual: Vec<f64>,
    places: Points,
}

/// Looking at the gap costs half a step.
const LOOK_EVERY: usize = 10;

impl State {
    pub(super) fn new(problem: &Problem) -> Self {
        let dual = vec![0.0; problem.edges.len() * problem.nodes.features()];
        Self { gamma: 0.0, dual, places: problem.nodes.clone() }
    }

    pub(super) fn places(&self) -> &Points {
        &self.places
    }

    /// Starts for `gamma` from the last solution. Scaled with gamma, an edge at the rim of its ball stays
    /// there, and no vector leaves its ball.
    pub(super) fn rescale(&mut self, gamma: f64) {
        let scale = if self.gamma > 0.0 { gamma / self.gamma } else { 0.0 };
        self.dual.iter_mut().for_each(|l| *l *= scale);
        self.gamma = gamma;
    }

    /// As [`Self::rescale`] for edges within clusters, whose vectors are not at the rim: only a smaller gamma
    /// changes them.
    pub(super) fn keep_inside(&mut self, gamma: f64) {
        if gamma < self.gamma {
            self.rescale(gamma);
        }
        self.gamma = gamma;
    }

    /// The vectors of a coarser solution, shared out.
    pub(super) fn take_shares(&mut self, parts: &[Option<(u32, f64)>], coarser: &State) {
        let q = self.places.features();
        for (e, part) in parts.iter().enumerate() {
            if let Some((edge, share)) = *part {
                let from = &coarser.dual[edge as usize * q..(edge as usize + 1) * q];
                self.dual[e * q..(e + 1) * q].iter_mut().zip(from).for_each(|(l, x)| *l = share * x);
            }
        }
    }

    /// The coarser solution that a finer one amounts to.
    pub(super) fn summed(problem: &Problem, parts: &[Option<(u32, f64)>], finer: &State) -> Self {
        let q = problem.nodes.features();
        let mut state = Self { gamma: finer.gamma, ..Self::new(problem) };
        for (e, part) in parts.iter().enumerate() {
            if let Some((edge, share)) = *part {
                let to = &mut state.dual[edge as usize * q..(edge as usize + 1) * q];
                to.iter_mut().zip(&finer.dual[e * q..]).for_each(|(l, x)| *l += x * share.signum());
            }
        }
        state
    }

    /// Goes on from the dual vectors at hand to the solution of `gamma`.
    pub(super) fn solve(
        &mut self,
        problem: &Problem,
        gamma: f64,
        tolerance: f64,
        max_iterations: usize,
    ) -> Run {
        let mut ahead = self.dual.clone();
        let mut next = vec![0.0; ahead.len()];
        let mut momentum = 1.0_f64;
        let mut iterations = 0;
        loop {
            if iterations % LOOK_EVERY == 0 || iterations == max_iterations {
                problem.places(&self.dual, &mut self.places);
                let (mut objective, mut gap) = problem.objective_and_gap(gamma, &self.dual, &self.places);
                let mut clusters = self.clusters(problem, gamma);
                let gathered = problem.gathered(&self.places, &clusters.labels(), clusters.count());
                let other = problem.objective(gamma, &gathered);
                if other < objective {
                    gap = (gap - (objective - other)).max(0.0);
                    objective = other;
                    self.places = gathered;
                }
                let converged = gap <= tolerance;
                if converged || iterations == max_iterations {
                    return Run { objective, gap, iterations, converged, clusters };
                }
            }
            problem.places(&ahead, &mut self.places);
            let slope = problem.step(gamma, &self.dual, &ahead, &self.places, &mut next);
            if slope > 0.0 {
                momentum = 1.0;
            }
            let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let push = (momentum - 1.0) / grown;
            momentum = grown;
            for ((y, l), z) in ahead.iter_mut().zip(&mut self.dual).zip(&next) {
                *y = z + push * (z - *l);
                *l = *z;
            }
            iterations += 1;
        }
    }

    /// The nodes joined by edges whose dual vector stays within its ball after one more step.
    fn clusters(&self, problem: &Problem, gamma: f64) -> Components {
        let q = problem.nodes.features();
        let inside = |e: usize| {
            let (a, b) = problem.edges[e];
            let (ua, ub) = (self.places.row(a as usize), self.places.row(b as usize));
            let square: f64 =
                (0..q).map(|f| (self.dual[e * q + f] + problem.steps[e] * (ua[f] - ub[f])).powi(2)).sum();
            square < (gamma * problem.weights[e]).powi(2)
        };
        let mut clusters = Components::new(problem.nodes.len());
        for e in (0..problem.edges.len()).filter(|&e| inside(e)) {
            clusters.join(problem.edges[e].0, problem.edges[e].1);
        }
        clusters
    }
}
