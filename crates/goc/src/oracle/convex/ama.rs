//! The solver: accelerated alternating minimisation (Chi & Lange 2015), that is, projected gradient on the
//! dual.
//!
//! With one dual vector `l_e` an edge `e = (a, b)` and `m_i` points at node i,
//!
//! `u_i = x_i - (sum of l_e where i = a, less those where i = b) / m_i`,
//! `l_e <- projection of l_e + s_e (u_a - u_b) onto the ball of radius gamma w_e`.
//!
//! The step of an edge is `1 / (deg_a / m_a + deg_b / m_b)`: the row sums of the dual's curvature,
//! which bound it, so steps in sparse regions need not be as small as those in the densest.
//! Nesterov momentum is used, restarted whenever it points uphill (O'Donoghue & Candes 2015). The
//! duality gap of any positions v is a sum of directly computable, non-negative terms: `1/2 sum m_i
//! |v_i - u_i|^2 + sum (gamma w_e |v_a - v_b| - l_e . (v_a - v_b))`.
//!
//! The positions that belong to dual vectors are never exactly equal, which is costly for a large
//! gamma. So the positions with every cluster collapsed to its mean are tried as well, and the
//! cheaper of the two is the solution for which the gap is computed.

use super::balance::balance;
use crate::Points;
use crate::oracle::graph::Components;
use crate::points::squared_distance;

/// The coarser edge that an edge belongs to and its share of it, negative if the direction is
/// reversed; `None` within a coarser node.
pub(super) type Part = Option<(u32, f64)>;

/// Nodes with a mass, and edges with a weight.
pub(super) struct Problem {
    pub(super) nodes: Points,
    pub(super) mass: Vec<f64>,
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) weights: Vec<f64>,
    steps: Vec<f64>,
    /// The cost of the points of one node not being at its position; 0 if nodes are points.
    within: f64,
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
        Self { nodes, mass, edges, weights, steps, within: 0.0 }
    }

    /// The problem whose nodes are clusters of these: masses and weights summed, nodes at their mean. With
    /// it, the part of each edge.
    pub(super) fn collapse(&self, labels: &[u32], k: usize) -> (Problem, Vec<Part>) {
        let (means, mass) = self.means(&self.nodes, labels, k);
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
        let apart =
            |(i, row): (usize, &[f64])| self.mass[i] * squared_distance(row, means.row(labels[i] as usize));
        let within = self.within + 0.5 * self.nodes.rows().enumerate().map(apart).sum::<f64>();
        (Problem { within, ..Problem::new(means, mass, weighted) }, parts)
    }

    /// The largest `sum of w_e / m` at any node: gamma times it is the farthest that a position can
    /// move.
    pub(super) fn strongest_pull(&self) -> f64 {
        let mut pull = vec![0.0; self.nodes.len()];
        for (&(a, b), w) in self.edges.iter().zip(&self.weights) {
            pull[a as usize] += w / self.mass[a as usize];
            pull[b as usize] += w / self.mass[b as usize];
        }
        pull.into_iter().fold(0.0, f64::max)
    }

    /// The positions that belong to dual vectors.
    pub(super) fn places(&self, dual: &[f64], places: &mut Points) {
        // A number of features known at compile time is worth a factor of two.
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

    /// How far the objective at `places` is above the dual value of `dual`, whose own positions are
    /// `free`; free of cancellation, however large gamma is.
    fn gap(&self, gamma: f64, dual: &[f64], free: &Points, places: &Points) -> f64 {
        let q = self.nodes.features();
        let moved = free.rows().zip(places.rows()).zip(&self.mass);
        let mut gap = 0.5 * moved.map(|((u, v), m)| m * squared_distance(u, v)).sum::<f64>();
        for (e, &(a, b)) in self.edges.iter().enumerate() {
            let (va, vb) = (places.row(a as usize), places.row(b as usize));
            let pull = gamma * self.weights[e] * squared_distance(va, vb).sqrt();
            let l = &dual[e * q..(e + 1) * q];
            gap += pull - (0..q).map(|f| l[f] * (va[f] - vb[f])).sum::<f64>();
        }
        // Rounding may make it negative. Not by `max`, which would turn NaN into 0 and accept it as
        // solved.
        if gap < 0.0 { 0.0 } else { gap }
    }

    fn objective(&self, gamma: f64, places: &Points) -> f64 {
        let moved = self.nodes.rows().zip(places.rows()).zip(&self.mass);
        let mut objective =
            self.within + 0.5 * moved.map(|((x, u), m)| m * squared_distance(x, u)).sum::<f64>();
        for (&(a, b), w) in self.edges.iter().zip(&self.weights) {
            let apart = squared_distance(places.row(a as usize), places.row(b as usize));
            objective += gamma * w * apart.sqrt();
        }
        objective
    }

    /// All positions moved to the mean of their cluster.
    fn gathered(&self, places: &Points, labels: &[u32], k: usize) -> Points {
        let rows: Vec<usize> = labels.iter().map(|&l| l as usize).collect();
        self.means(places, labels, k).0.subset(&rows)
    }

    /// The mean of some places in each cluster, and its mass.
    fn means(&self, places: &Points, labels: &[u32], k: usize) -> (Points, Vec<f64>) {
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
        (Points::trusted(means, q), mass)
    }

    /// What dual vectors amount to.
    fn look(&self, gamma: f64, dual: &[f64]) -> Look {
        let mut places = self.nodes.clone();
        self.places(dual, &mut places);
        let gap = self.gap(gamma, dual, &places, &places);
        let mut clusters = self.clusters(gamma, dual, &places);
        let gathered = self.gathered(&places, &clusters.labels(), clusters.count());
        let other = self.gap(gamma, dual, &places, &gathered);
        let (gap, places) = if other < gap { (other, gathered) } else { (gap, places) };
        Look { gap, places, clusters }
    }

    /// The nodes joined by edges whose dual vector stays within its ball after one more step.
    fn clusters(&self, gamma: f64, dual: &[f64], places: &Points) -> Components {
        let q = self.nodes.features();
        let inside = |e: usize| {
            let (a, b) = self.edges[e];
            let (ua, ub) = (places.row(a as usize), places.row(b as usize));
            let square: f64 =
                (0..q).map(|f| (dual[e * q + f] + self.steps[e] * (ua[f] - ub[f])).powi(2)).sum();
            square < (gamma * self.weights[e]).powi(2)
        };
        let mut clusters = Components::new(self.nodes.len());
        for e in (0..self.edges.len()).filter(|&e| inside(e)) {
            clusters.join(self.edges[e].0, self.edges[e].1);
        }
        clusters
    }
}

/// What dual vectors amount to: the better of their own places and of those gathered cluster by cluster.
struct Look {
    gap: f64,
    places: Points,
    clusters: Components,
}

/// The result of one solve.
pub(super) struct Run {
    pub(super) objective: f64,
    pub(super) gap: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
    /// The nodes that share a position.
    pub(super) clusters: Components,
}

/// The dual vectors of the last gamma, and the places they give.
pub(super) struct State {
    gamma: f64,
    dual: Vec<f64>,
    places: Points,
}

/// Computing the gap costs half a step.
const LOOK_EVERY: usize = 10;

impl State {
    pub(super) fn new(problem: &Problem) -> Self {
        let dual = vec![0.0; problem.edges.len() * problem.nodes.features()];
        Self { gamma: 0.0, dual, places: problem.nodes.clone() }
    }

    pub(super) fn places(&self) -> &Points {
        &self.places
    }

    /// Starts for `gamma` from the last solution. Scaled with gamma, an edge at the boundary of its
    /// ball stays there, and no vector leaves its ball.
    pub(super) fn rescale(&mut self, gamma: f64) {
        let scale = if self.gamma > 0.0 { gamma / self.gamma } else { 0.0 };
        self.dual.iter_mut().for_each(|l| *l *= scale);
        self.gamma = gamma;
    }

    /// As [`Self::rescale`] for edges within clusters, whose vectors are not at the rim: only a smaller gamma
    /// changes them.
    fn keep_inside(&mut self, gamma: f64) {
        if gamma < self.gamma {
            self.rescale(gamma);
        }
        self.gamma = gamma;
    }

    /// The vectors of a coarser solution, distributed.
    fn take_shares(&mut self, parts: &[Part], coarser: &State) {
        let q = self.places.features();
        for (e, part) in parts.iter().enumerate() {
            if let Some((edge, share)) = *part {
                let from = &coarser.dual[edge as usize * q..(edge as usize + 1) * q];
                self.dual[e * q..(e + 1) * q].iter_mut().zip(from).for_each(|(l, x)| *l = share * x);
            }
        }
    }

    /// Starts for `gamma` from a coarser solution for it: its vectors between clusters, and within them
    /// whatever brings every node to the place of its cluster, up to `enough` of the dual value.
    pub(super) fn refine(
        &mut self,
        problem: &Problem,
        gamma: f64,
        (coarse, solution): (&Problem, &State),
        (groups, parts): (&[u32], &[Part]),
        enough: f64,
    ) {
        self.keep_inside(gamma);
        self.take_shares(parts, solution);
        let mut targets = coarse.nodes.clone();
        coarse.places(&solution.dual, &mut targets);
        balance(problem, groups, &targets, gamma, enough, &mut self.dual);
    }

    /// The coarser solution that a finer one amounts to.
    pub(super) fn summed(problem: &Problem, parts: &[Part], finer: &State) -> Self {
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

    /// Continues from the current dual vectors to the solution for `gamma`, whose gap is at most
    /// `tolerance` times the objective.
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
                let look = problem.look(gamma, &self.dual);
                let objective = problem.objective(gamma, &look.places);
                let converged = look.gap <= tolerance * objective;
                if converged || iterations == max_iterations {
                    self.places = look.places;
                    return Run { objective, gap: look.gap, iterations, converged, clusters: look.clusters };
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
}
