//! The same problem at several scales, where each provides the start for the next finer one.
//!
//! Far along the path the slow part is the flow between large clusters through few edges: steps on
//! the points carry it one edge at a time. So whenever a solution has joined the nodes to a third
//! or fewer, the clusters become the nodes of a coarser problem, with their mass at their mean, and
//! all edges between two of them merged into one of the summed weight. The next gamma is solved at
//! the coarsest scale first. Its dual vectors, distributed by weight, together with the
//! corresponding flow within clusters (`balance`), are the start for the finer scale: nearly a
//! solution, unless a cluster separates again.
//!
//! This only determines starts. The finest problem, the points themselves, is always solved to its
//! own duality gap, so clusters that ought to separate again do.

use super::ama::{Part, Problem, Run, State};
use crate::oracle::graph::Components;

/// A scale: its problem, its last solution, and where it came from.
struct Level {
    problem: Problem,
    state: State,
    /// The gamma at which its nodes had been joined.
    born: f64,
    /// For each node of the finer level: the node it is part of.
    groups: Vec<u32>,
    /// For each edge of the finer level: its part here.
    parts: Vec<Part>,
}

/// All scales, the finest first.
pub(super) struct Levels {
    levels: Vec<Level>,
}

impl Levels {
    pub(super) fn new(problem: Problem) -> Self {
        let state = State::new(&problem);
        Self { levels: vec![Level { problem, state, born: 0.0, groups: Vec::new(), parts: Vec::new() }] }
    }

    pub(super) fn problem(&self) -> &Problem {
        &self.levels[0].problem
    }

    pub(super) fn state(&self) -> &State {
        &self.levels[0].state
    }

    /// Solves for `gamma` from the solutions before it.
    pub(super) fn solve(&mut self, gamma: f64, tolerance: f64, max_iterations: usize) -> Run {
        // Nodes that were joined later on the path may not be joined here.
        while self.levels.len() > 1 && self.levels[self.levels.len() - 1].born > gamma {
            self.levels.pop();
        }
        let mut coarsest = None;
        for at in (1..self.levels.len()).rev() {
            let coarser_is_last = at + 1 == self.levels.len();
            let (finer, coarser) = self.levels.split_at_mut(at);
            let (below, level) = (&mut finer[at - 1], &mut coarser[0]);
            if coarser_is_last {
                level.state.rescale(gamma);
            }
            // A coarse error remains in the finer solution until steps there remove it, so it has
            // to be smaller.
            let allowed = tolerance * 0.5_f64.powi(at as i32 + 1);
            let run = level.state.solve(&level.problem, gamma, allowed, max_iterations);
            below.state.refine(
                &below.problem,
                gamma,
                (&level.problem, &level.state),
                (&level.groups, &level.parts),
                0.1 * allowed * run.objective,
            );
            coarsest.get_or_insert(run.clusters);
        }
        let single = self.levels.len() == 1;
        let finest = &mut self.levels[0];
        if single {
            finest.state.rescale(gamma);
        }
        let run = finest.state.solve(&finest.problem, gamma, tolerance, max_iterations);
        if run.converged {
            self.coarsen(gamma, coarsest.unwrap_or_else(|| run.clusters.clone()));
        }
        run
    }

    /// Adds a scale where the coarsest one has joined enough; `clusters` are of its nodes.
    fn coarsen(&mut self, gamma: f64, mut clusters: Components) {
        let top = &self.levels[self.levels.len() - 1];
        let nodes = top.problem.nodes.len();
        if clusters.count() < 2 || clusters.count() > nodes / 3 {
            return;
        }
        let groups = clusters.labels();
        let (problem, parts) = top.problem.collapse(&groups, clusters.count());
        let state = State::summed(&problem, &parts, &top.state);
        self.levels.push(Level { problem, state, born: gamma, groups, parts });
    }
}
